// SPDX-License-Identifier: MIT
// Rules that look at several files: worlds of a few maps, type files and manifests, compiled from XML (LINT-2). What a
// rule must say is counted by hand in each world. Rules on single files have golden cases.
#include "meridian/tools/lint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lint/extents.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/tools/fix.h"
#include "meridian/tools/source_map.h"
#include "support/lint_kit.h"

namespace meridian::test {
namespace {

// --- LOD links
// ----------------------------------------------------------------------------------------------------------

// P002, LOD001
TEST(LintWorld, LinkBehindTheParentMapsEntitiesIsFound) {
  World w;
  w.map("qa_p", list(placed("qa_a", level("LOD")) + placed("qa_b", level("LOD"))));
  w.map("qa_c", parent("qa_p") + list(child("2") + child("1")));
  EXPECT_EQ(w.said("qa_c", "LOD001"),
            "error entities[0].parentIndex: parentIndex 2, but map 'qa_p' has 2 entities (0..1)\n");
  const LintFinding& f = w.only("qa_c", "LOD001");
  ASSERT_EQ(f.related.size(), 1u);
  EXPECT_EQ(f.related[0].unit->stem, "qa_p");
  EXPECT_EQ(f.object, "entity 0");
}

// LOD001: an index that leads outside its own map and fits the parent lacks flag bit 3.
TEST(LintWorld, LinkThatFitsTheParentMapIsFixedByItsFlag) {
  World w;
  w.map("qa_p", list(placed("qa_a", level("LOD")) + placed("qa_b", level("LOD"))));
  w.map("qa_c", parent("qa_p") + list(placed("qa_hd", value("flags", "32") + value("parentIndex", "1") + level("HD"))));
  const LintFinding f = w.only("qa_c", "LOD001");
  ASSERT_EQ(f.fixes.size(), 1u);
  tools::SourceMap places(w.source(1));
  const std::string fixed =
      tools::apply_edits(w.source(1), tools::edits_for_value(places, w.source(1), f.fixes[0].path, f.fixes[0].text));
  World again;
  again.map("qa_p", list(placed("qa_a", level("LOD")) + placed("qa_b", level("LOD"))));
  again.map("qa_c", fixed.substr(10, fixed.size() - 21));  // without <CMapData> and </CMapData>
  EXPECT_EQ(again.said("qa_c", "LOD001"), "");
  EXPECT_NE(fixed.find("<flags value=\"40\"/>"), std::string::npos) << fixed;  // 32 + 8
}

// LOD001: no fix where the parent map's entity is of another level.
TEST(LintWorld, LinkThatDoesNotFitTheParentMapIsNotFixed) {
  World w;
  w.map("qa_p", list(placed("qa_a", level("HD")) + placed("qa_b", level("HD"))));
  w.map("qa_c", parent("qa_p") + list(placed("qa_hd", value("parentIndex", "1") + level("HD"))));
  EXPECT_TRUE(w.only("qa_c", "LOD001").fixes.empty());
}

// LOD002
TEST(LintWorld, CircleOfParentMapsIsFoundInEachOfThem) {
  World w;
  w.map("qa_a", parent("qa_b")).map("qa_b", parent("qa_c")).map("qa_c", parent("qa_a")).map("qa_d", parent("qa_a"));
  for (const char* stem : {"qa_a", "qa_b", "qa_c"})
    EXPECT_EQ(w.said(stem, "LOD002"), "error parent: the maps' parents lead back to this one\n") << stem;
  EXPECT_EQ(w.said("qa_d", "LOD002"), "") << "it leads into the circle, but is not part of it";
}

// LOD003
TEST(LintWorld, LevelsAreComparedAcrossMaps) {
  World w;
  w.map("qa_p", list(placed("qa_a", level("LOD")) + placed("qa_b", level("HD")) + placed("qa_c", level("SLOD1"))));
  w.map("qa_c", parent("qa_p") + list(child("0") + child("1") + child("2")));
  EXPECT_EQ(w.said("qa_c", "LOD003"),
            "error entities[1].parentIndex: level HD under a parent of level HD, which is not coarser\n"
            "warning entities[2].parentIndex: level HD under a parent of level SLOD1 skips a level\n");
}

// LOD004: children are counted over all maps, of a parent's own map and of its child maps.
TEST(LintWorld, ChildrenAreCountedOverAllMaps) {
  World w;
  const auto lod = [](std::string_view children, std::string_view name) {
    return placed(name, level("LOD") + value("numChildren", children));
  };
  w.map("qa_p", list(lod("3", "qa_a") + lod("1", "qa_b") + lod("2", "qa_c") +
                     placed("qa_hd", value("parentIndex", "0") + level("HD"))));
  w.map("qa_c1", parent("qa_p") + list(child("0") + child("1") + child("1")));
  w.map("qa_c2", parent("qa_p") + list(child("0")));
  w.map("qa_other", parent("qa_else") + list(child("2")));
  EXPECT_EQ(w.said("qa_p", "LOD004"),
            "warning entities[1].numChildren: numChildren is 1, but the maps at hand have 2: holes while streaming\n"
            "warning entities[2].numChildren: numChildren is 2, but the maps at hand have 0: the LOD model never goes "
            "away\n");
  w.lint("qa_p");
  const std::vector<LintFinding> found = w.lint("qa_p");
  for (const LintFinding& f : found)
    if (f.rule->code == "LOD004" && f.path == "entities[1].numChildren") {
      ASSERT_EQ(f.fixes.size(), 1u);
      EXPECT_EQ(f.fixes[0].text, "2");
      ASSERT_EQ(f.related.size(), 1u) << "one child a map is enough to look at";
      EXPECT_EQ(f.related[0].unit->stem, "qa_c1");
      EXPECT_EQ(f.related[0].path, "entities[1].parentIndex");
    }
}

// LOD004: a map that a later layer replaces has no children.
TEST(LintWorld, ChildrenOfReplacedMapsDoNotCount) {
  World w;
  w.map("qa_p", list(placed("qa_a", level("LOD") + value("numChildren", "1"))));
  w.map("qa_c", parent("qa_p") + list(child("0") + child("0"))).map("qa_c", parent("qa_p") + list(child("0")), 1);
  EXPECT_EQ(w.said("qa_p", "LOD004"), "");
}

// LOD005
TEST(LintWorld, ChildIsSeenFromFartherThanItsParentInAnotherMap) {
  World w;
  w.types("qa_t", box_type("qa_hd", "200") + box_type("qa_a", "150") + box_type("qa_b", "250"));
  w.map("qa_p", list(placed("qa_a", level("LOD")) + placed("qa_b", level("LOD"))));
  w.map("qa_c", parent("qa_p") + list(child("0") + child("1")));
  EXPECT_EQ(w.said("qa_c", "LOD005"),
            "warning entities[0].lodDist: seen up to 200 m, but its LOD parent ends at 150 m: between, nothing takes "
            "over\n");
}

// --- flags
// --------------------------------------------------------------------------------------------------------------

// FLG002
TEST(LintWorld, ParentFlagFollowsFromWhoNamesTheMap) {
  World w;
  w.map("qa_p", value("flags", "0") + list(placed("qa_a", level("HD"))));
  w.map("qa_c", parent("qa_p") + value("flags", "2") + list(placed("qa_a", level("HD"))));
  w.map("qa_lod", value("flags", "2") + list(placed("qa_a", level("LOD"))));
  w.map("qa_lod0", value("flags", "0") + list(placed("qa_a", level("LOD"))));
  EXPECT_EQ(w.said("qa_p", "FLG002"),
            "warning flags: flag bit 1 (parent) is clear, but map 'qa_c' names this one as its parent\n");
  EXPECT_EQ(w.only("qa_p", "FLG002").fixes.front().text, "2");
  EXPECT_EQ(w.said("qa_c", "FLG002"),
            "warning flags: flag bit 1 (parent) is set, but no map names this one and it holds no LOD level\n");
  EXPECT_EQ(w.only("qa_c", "FLG002").fixes.front().text, "0");
  // Tools differ on maps that hold a LOD level and are nobody's parent: either is fine.
  EXPECT_EQ(w.said("qa_lod", "FLG002"), "");
  EXPECT_EQ(w.said("qa_lod0", "FLG002"), "");
}

// FLG004
TEST(LintWorld, ScriptedFlagMustAgreeWithTheParents) {
  World w;
  w.map("qa_p", value("flags", "3"));
  w.map("qa_c", parent("qa_p") + value("flags", "0")).map("qa_d", parent("qa_p") + value("flags", "1"));
  w.map("qa_e", parent("qa_d") + value("flags", "1"));
  EXPECT_EQ(w.said("qa_c", "FLG004"),
            "warning flags: flag bit 0 (scripted) is clear, but set in the parent map 'qa_p'\n");
  EXPECT_EQ(w.said("qa_d", "FLG004") + w.said("qa_e", "FLG004") + w.said("qa_p", "FLG004"), "");
}

// --- LOD lights
// ---------------------------------------------------------------------------------------------------------

std::string lod_lights(int count) {
  std::string hash, direction;
  for (int i = 0; i < count; ++i) hash += std::to_string(i + 1) + " ", direction += "<Item><x value=\"1\"/></Item>";
  const auto same = [&](std::string_view name) {
    std::string values;
    for (int i = 0; i < count; ++i) values += "1 ";
    return "<" + std::string(name) + ">" + values + "</" + std::string(name) + ">";
  };
  return "<LODLightsSOA><direction>" + direction + "</direction>" + same("falloff") + same("falloffExponent") +
         same("timeAndStateFlags") + "<hash>" + hash + "</hash>" + same("coneInnerAngle") +
         same("coneOuterAngleOrCapExt") + same("coronaIntensity") + "</LODLightsSOA>";
}
std::string distant_lights(int count) {
  std::string position, rgbi;
  for (int i = 0; i < count; ++i) position += "<Item><x value=\"1\"/></Item>", rgbi += "5 ";
  return "<DistantLODLightsSOA><position>" + position + "</position><RGBI>" + rgbi + "</RGBI></DistantLODLightsSOA>";
}

// LGT002
TEST(LintWorld, LodLightsBelongToTheParentsDistantLights) {
  World w;
  w.map("qa_p2", distant_lights(2)).map("qa_p3", distant_lights(3)).map("qa_plain", "").map("qa_alone", lod_lights(2));
  w.map("qa_good", parent("qa_p2") + lod_lights(2)).map("qa_few", parent("qa_p2") + lod_lights(1));
  w.map("qa_none", parent("qa_plain") + lod_lights(2));
  EXPECT_EQ(w.said("qa_good", "LGT002") + w.said("qa_p2", "LGT002"), "");
  EXPECT_EQ(w.said("qa_few", "LGT002"),
            "warning LODLightsSOA: 1 LOD lights, but the parent map 'qa_p2' has 2 distant LOD lights; one belongs to "
            "each\n");
  EXPECT_EQ(
      w.said("qa_none", "LGT002"),
      "warning LODLightsSOA: 2 LOD lights, but the parent map 'qa_plain' has 0 distant LOD lights; one belongs to "
      "each\n");
  EXPECT_EQ(w.said("qa_alone", "LGT002"),
            "warning LODLightsSOA: 2 LOD lights have no places: those stand in the parent map's DistantLODLightsSOA, "
            "and there is no parent map\n");
  EXPECT_EQ(w.said("qa_p3", "LGT002"),
            "note DistantLODLightsSOA: 3 distant LOD lights, but no child map has LOD lights\n");
}

// --- occluders
// ----------------------------------------------------------------------------------------------------------

// P021, OCC003: the occluder and the interior's instance stand in different maps.
TEST(LintWorld, OccluderInADoorwayIsFoundAcrossMaps) {
  World w;
  const auto vector = [](std::string_view corners) {
    return "<corners content=\"vector3_array\">" + std::string(corners) + "</corners>";
  };
  w.types("qa_t",
          "<Item type=\"CMloArchetypeDef\"><name>qa_int</name><assetType>ASSET_TYPE_ASSETLESS</assetType><rooms>"
          "<Item><name>limbo</name><portalCount value=\"1\"/></Item><Item><name>hall</name><portalCount value=\"1\"/>"
          "</Item></rooms><portals><Item><roomFrom value=\"1\"/><roomTo value=\"0\"/>" +
              vector("-1 0 0\n-1 0 2\n1 0 2\n1 0 0") + "</Item></portals></Item>");
  w.map("qa_int_map", list(placed("qa_int", value("numExitPortals", "1"), "CMloInstanceDef")));
  const auto occluder = [&](std::string_view y) {
    return "<Item>" + value("iCenterZ", "8") + value("iCenterY", y) + value("iSinZ", "16384") + value("iCosZ", "0") +
           value("iLength", "40") + value("iWidth", "4") + value("iHeight", "16") + "</Item>";
  };
  // 10 x 1 x 4 m around (0, 0, 2), and the same 10 m behind.
  w.map("qa_occl", "<boxOccluders>" + occluder("0") + occluder("40") + "</boxOccluders>");
  EXPECT_EQ(w.said("qa_occl", "OCC003"),
            "warning boxOccluders[0]: covers exit portal 0 of 'qa_int' (instance at (0, 0, 0))\n");
  EXPECT_EQ(w.only("qa_occl", "OCC003").related.front().unit->stem, "qa_int_map");
}

// --- names and references
// -----------------------------------------------------------------------------------------------

// NAM004
TEST(LintWorld, TwoMapsOfOneNameNeedLayers) {
  World w;
  w.map("qa_m", "").map("qa_m", "").types("qa_m", "").types("qa_t", "").types("QA_T", "");
  EXPECT_EQ(w.said("qa_m", "NAM004", 0), "");
  EXPECT_EQ(w.said("qa_m", "NAM004", 1),
            "error : map 'qa_m' given twice: qa_m.ymap.xml, qa_m.ymap.xml; give them to layers, or remove one\n");
  EXPECT_EQ(w.said("qa_m", "NAM004", 2), "") << "a type file of that name is another thing";
  EXPECT_EQ(w.said("QA_T", "NAM004"),
            "error : type file 'QA_T' given twice: qa_t.ytyp.xml, QA_T.ytyp.xml; give them to layers, or remove one\n");
  World layers;
  layers.map("qa_m", "").map("qa_m", "", 1);
  EXPECT_EQ(layers.said("qa_m", "NAM004", 0) + layers.said("qa_m", "NAM004", 1),
            "note : map 'qa_m' is shadowed by a later layer's\n");
}

// NAM005
TEST(LintWorld, ArchetypeDefinedTwiceDiffersOrNot) {
  World w;
  w.types("qa_1", box_type("qa_a") + box_type("qa_b") + box_type("qa_c"));
  w.types("qa_2", box_type("qa_a") + box_type("qa_b", "61"));
  w.types("qa_over", box_type("qa_c", "99"), 1);
  EXPECT_EQ(w.said("qa_1", "NAM005"), "");
  EXPECT_EQ(w.said("qa_2", "NAM005"),
            "warning archetypes[0].name: 'qa_a' is defined twice, both times the same\n"
            "error archetypes[1].name: 'qa_b' is defined twice, and differently; the first one is used\n");
  EXPECT_EQ(w.said("qa_over", "NAM005"), "") << "a later layer overrides";
}

// NAM005: within one file too.
TEST(LintWorld, ArchetypeDefinedTwiceInOneFileIsFound) {
  World w;
  w.types("qa_1", box_type("qa_a") + box_type("qa_a", "61"));
  EXPECT_EQ(w.said("qa_1", "NAM005"),
            "error archetypes[1].name: 'qa_a' is defined twice, and differently; the first one is used\n");
}

// REF003
TEST(LintWorld, ParentMapMustBeInTheWorld) {
  World w;
  w.map("qa_a", parent("qa_b")).map("qa_b", "").map("qa_c", parent("qa_nowhere"));
  EXPECT_EQ(w.said("qa_a", "REF003") + w.said("qa_b", "REF003"), "");
  EXPECT_EQ(w.said("qa_c", "REF003"),
            "warning parent: the parent map 'qa_nowhere' is not among the maps of this world\n");
  World one({.types_are_known = true, .maps_are_known = false});
  one.map("qa_c", parent("qa_nowhere"));
  EXPECT_EQ(one.said("qa_c", "REF003"), "") << "one file alone cannot know";
}

std::string dependencies(std::string_view map, std::string_view types) {
  std::string items;
  for (size_t at = 0; at < types.size();) {
    const size_t end = std::min(types.find(' ', at), types.size());
    items += "<Item>" + std::string(types.substr(at, end - at)) + "</Item>";
    at = end + 1;
  }
  return "<Item><imapName>" + std::string(map) + "</imapName><manifestFlags/><itypDepArray>" + items +
         "</itypDepArray></Item>";
}

// REF002, REF004
TEST(LintWorld, ManifestIsHeldAgainstWhatMapsUse) {
  World w;
  w.types("qa_t1", box_type("qa_a")).types("qa_t2", box_type("qa_b")).types("qa_t3", box_type("qa_c"));
  w.map("qa_m", list(placed("qa_a") + placed("qa_b"))).map("qa_n", list(placed("qa_c")));
  w.manifest("<imapDependencies_2>" + dependencies("qa_m", "qa_t1 qa_t3 qa_gone") + dependencies("qa_n", "qa_t3") +
             dependencies("qa_old", "qa_t1") + "</imapDependencies_2>");
  EXPECT_EQ(w.said("_manifest", "REF002"),
            "warning imapDependencies_2[0].itypDepArray: map 'qa_m' needs type file 'qa_t2', which is not listed\n"
            "warning imapDependencies_2[0].itypDepArray: map 'qa_m' lists type file 'qa_t3', but uses nothing of it\n");
  EXPECT_EQ(
      w.said("_manifest", "REF004"),
      "note imapDependencies_2[0].itypDepArray: map 'qa_m' lists type file 'qa_gone', which is not in this world\n"
      "note imapDependencies_2[2].imapName: map 'qa_old' is not in this world\n");
}

// REF002: what an interior's type file needs in turn may be listed with the map.
TEST(LintWorld, ManifestMayListWhatInteriorsNeed) {
  World w;
  w.types("qa_props", box_type("qa_chair"));
  w.types("qa_int_t", "<Item type=\"CMloArchetypeDef\"><name>qa_int</name><assetType>ASSET_TYPE_ASSETLESS</assetType>" +
                          list(placed("qa_chair")) +
                          "<rooms><Item><name>limbo</name><attachedObjects>0</attachedObjects></Item></rooms></Item>");
  w.map("qa_m", list(placed("qa_int", "", "CMloInstanceDef")));
  w.manifest("<imapDependencies_2>" + dependencies("qa_m", "qa_int_t qa_props") + "</imapDependencies_2>");
  EXPECT_EQ(w.said("_manifest", "REF002") + w.said("_manifest", "REF004"), "");
}

// P001, REF001: the suggestion comes from all type files, the file's own and shared ones.
TEST(LintWorld, NearestNameIsLookedForInAllTypeFiles) {
  World shared;
  shared.types("qa_t", box_type("qa_bench"));
  const LintWorld& types = shared.linked();
  EXPECT_EQ(types.nearest_archetype("qa_bench1"), "qa_bench");
  EXPECT_EQ(types.nearest_archetype("qa_bench.001"), "qa_bench");
  EXPECT_EQ(types.nearest_archetype("something_else"), "");
}

// --- boxes
// --------------------------------------------------------------------------------------------------------------

// P007, P074, EXT001: computed boxes hold every corner of every entity, by another route: corner by corner, with the
// rotation as a product of quaternions.
TEST(LintWorld, ComputedExtentsHoldEveryCorner) {
  World w;
  w.types("qa_t",
          "<Item type=\"CBaseArchetypeDef\"><lodDist value=\"30\"/><bbMin x=\"-1\" y=\"-2\" z=\"0\"/><bbMax x=\"3\" "
          "y=\"1\" z=\"5\"/><name>qa_a</name><assetType>ASSET_TYPE_DRAWABLE</assetType></Item>");
  w.map("qa_m", list(placed("qa_a",
                            "<position x=\"100\" y=\"-50\" z=\"7\"/><rotation x=\"0.5\" y=\"-0.1\" z=\"0.7\" "
                            "w=\"0.5\"/><scaleXY value=\"-2\"/><scaleZ value=\"1.5\"/>")));
  const tools::MapExtents e = tools::compute_extents(w.linked(), *w.linked().units()[1]);
  struct Q {
    double x, y, z, w;
  };
  const auto times = [](Q a, Q b) {
    return Q{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
             a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  };
  const double n = 0.25 + 0.01 + 0.49 + 0.25;                        // squared length
  const Q world{-0.5, 0.1, -0.7, 0.5}, stored{0.5, -0.1, 0.7, 0.5};  // stored inverted
  double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
  for (const double x : {-1.0, 3.0})
    for (const double y : {-2.0, 1.0})
      for (const double z : {0.0, 5.0}) {
        const Q p = times(times(world, {x * -2, y * -2, z * 1.5, 0}), stored);
        const double at[3] = {100 + p.x / n, -50 + p.y / n, 7 + p.z / n};
        for (int axis = 0; axis < 3; ++axis) {
          low[axis] = std::min(low[axis], at[axis]);
          high[axis] = std::max(high[axis], at[axis]);
        }
      }
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(e.entities.min[axis], low[axis], 1e-4) << axis;
    EXPECT_NEAR(e.entities.max[axis], high[axis], 1e-4) << axis;
    EXPECT_NEAR(e.streaming.min[axis], low[axis] - 30, 1e-4) << axis;
    EXPECT_NEAR(e.streaming.max[axis], high[axis] + 30, 1e-4) << axis;
  }
}

}  // namespace
}  // namespace meridian::test
