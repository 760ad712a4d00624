// SPDX-License-Identifier: MIT
// WORLD-3, CFG001: what a world needs where it needs most. Worst places are found by trying all candidate places, or
// counted by hand.
#include "meridian/tools/forecast.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "forecast/peak_search.h"
#include "support/lint_kit.h"

namespace meridian::test {
namespace {

using tools::Bounds;
using tools::ForecastRow;
using tools::Point;

// --- the search
// ---------------------------------------------------------------------------------------------------------

/// All sums at all places where some box begins on each axis.
uint64_t brute_force_peak(const std::vector<Bounds>& boxes, const std::vector<uint32_t>& owners,
                          const std::vector<uint64_t>& weights) {
  uint64_t most = 0;
  for (const Bounds& bx : boxes)
    for (const Bounds& by : boxes)
      for (const Bounds& bz : boxes) {
        const Point p{bx.min.x, by.min.y, bz.min.z};
        std::set<uint32_t> there;
        for (size_t i = 0; i < boxes.size(); ++i) {
          const Bounds& b = boxes[i];
          if (p.x >= b.min.x && p.x <= b.max.x && p.y >= b.min.y && p.y <= b.max.y && p.z >= b.min.z && p.z <= b.max.z)
            there.insert(owners[i]);
        }
        uint64_t sum = 0;
        for (const uint32_t owner : there) sum += weights[owner];
        most = std::max(most, sum);
      }
  return most;
}

// WORLD-3
TEST(PeakSearch, FindsWhatTryingEveryPlaceFinds) {
  std::mt19937 random(20261130);
  const auto upto = [&](int n) { return static_cast<double>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    const int grid = 2 + round % 12;
    std::vector<Bounds> boxes;
    std::vector<uint32_t> owners;
    const uint32_t owner_count = 1 + random() % 8;
    for (uint32_t owner = 0; owner < owner_count; ++owner)
      for (uint32_t n = random() % 4; n > 0; --n) {
        const Point low{upto(grid), upto(grid), upto(3)};
        boxes.push_back({low, {low.x + upto(grid), low.y + upto(grid), low.z + upto(3)}});
        owners.push_back(owner);
      }
    std::vector<uint64_t> weights;
    for (uint32_t owner = 0; owner < owner_count; ++owner) weights.push_back(random() % 5);
    const tools::PeakSearch search(boxes, owners);
    const tools::Peak peak = search.find(weights);
    ASSERT_EQ(peak.most, brute_force_peak(boxes, owners, weights)) << "round " << round;
    EXPECT_EQ(peak.bound, peak.most);
    uint64_t there = 0;
    for (const uint32_t owner : search.owners_at(peak.place)) there += weights[owner];
    if (peak.most == 0) continue;
    EXPECT_EQ(there, peak.most) << "the place told is not one of them, round " << round;
  }
}

TEST(PeakSearch, OfNothingIsNothing) {
  const tools::PeakSearch none({}, {});
  EXPECT_EQ(none.find({}).most, 0u);
  const std::vector<Bounds> one{{{1, 2, 3}, {1, 2, 3}}};  // a point
  const std::vector<uint32_t> owner{0};
  const std::vector<uint64_t> weight{7}, nothing{0};
  const tools::PeakSearch point(one, owner);
  EXPECT_EQ(point.find(weight).most, 7u);
  EXPECT_EQ(point.find(weight).place.z, 3);
  EXPECT_EQ(point.find(nothing).most, 0u);
}

// --- worlds
// -------------------------------------------------------------------------------------------------------------

std::string corner(std::string_view name, double x, double y, double z) {
  return "<" + std::string(name) + " x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" z=\"" +
         std::to_string(z) + "\"/>";
}
/// Streams in over [x0, x1] on the x axis; 100 m around it on the others.
std::string streamed(double x0, double x1, std::string_view entities) {
  return corner("streamingExtentsMin", x0, -100, -100) + corner("streamingExtentsMax", x1, 100, 100) + list(entities);
}
std::string copies(int n, std::string_view archetype) {
  std::string out;
  for (int i = 0; i < n; ++i) out += placed(archetype);
  return out;
}
std::string archetype(std::string_view name, std::string_view flags, std::string_view more = "",
                      std::string_view type = "CBaseArchetypeDef") {
  return "<Item type=\"" + std::string(type) + "\">" + value("lodDist", "60") + value("flags", flags) +
         "<bbMin x=\"-1\" y=\"-1\" z=\"-1\"/><bbMax x=\"1\" y=\"1\" z=\"1\"/><bsRadius value=\"2\"/><name>" +
         std::string(name) + "</name><assetType>ASSET_TYPE_DRAWABLE</assetType>" + std::string(more) + "</Item>";
}
constexpr const char* kDynamic = "131072";  // bit 17
std::string pools(std::string_view entries, std::string_view build = "Any", std::string_view platforms = "Any") {
  return "<Item><Build>" + std::string(build) + "</Build><Platforms>" + std::string(platforms) +
         "</Platforms><Config type=\"CGameConfig\"><PoolSizes><Entries>" + std::string(entries) +
         "</Entries></PoolSizes></Config></Item>";
}
std::string pool(std::string_view name, int size) {
  return "<Item><PoolName>" + std::string(name) + "</PoolName><PoolSize value=\"" + std::to_string(size) +
         "\"/></Item>";
}

std::optional<ForecastRow> row(World& w, std::string_view name, const tools::ForecastOptions& options = {}) {
  for (const ForecastRow& r : tools::forecast_world(w.linked(), options).rows)
    if (r.name == name) return r;
  return std::nullopt;
}

// WORLD-3: 3 houses in [0, 100], 4 in [90, 200], 5 in [300, 400]: 7 between 90 and 100.
TEST(Forecast, WorstPlaceIsWhereMapsOverlap) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  w.map("qa_b", streamed(90, 200, copies(4, "qa_house")));
  w.map("qa_c", streamed(300, 400, copies(5, "qa_house")));
  const auto r = row(w, "Building", {.margin = 0});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->most, 7u);
  EXPECT_GE(r->place.x, 90);
  EXPECT_LE(r->place.x, 100);
  ASSERT_EQ(r->heaviest.size(), 2u);
  EXPECT_EQ(r->heaviest[0].unit->stem, "qa_b");
  EXPECT_EQ(r->heaviest[0].amount, 4u);
  EXPECT_EQ(r->largest.amount, 5u);
  EXPECT_EQ(r->largest.unit->stem, "qa_c");
  // A margin of 50 m brings b and c together: 9.
  EXPECT_EQ(row(w, "Building", {.margin = 50})->most, 9u);
  EXPECT_EQ(row(w, "MapDataLoadedNode", {.margin = 50})->most, 2u);
}

// ENTY-4: which pool an entity comes from, by its archetype. Without an archetype there is no entity.
TEST(Forecast, EntitiesCountInThePoolOfTheirClass) {
  World w;
  w.types("qa_types", archetype("qa_house", "0") + archetype("qa_bin", kDynamic) +
                          archetype("qa_wheel", "512", "<clipDictionary>qa_clips</clipDictionary>") +
                          archetype("qa_sign", "0", value("timeFlags", "1"), "CTimeArchetypeDef"));
  w.map("qa_a", streamed(0, 100,
                         copies(2, "qa_house") + copies(3, "qa_bin") + copies(4, "qa_wheel") + copies(5, "qa_sign") +
                             copies(6, "qa_nowhere")) +
                    "<carGenerators><Item/><Item/></carGenerators><timeCycleModifiers><Item/></timeCycleModifiers>");
  EXPECT_EQ(row(w, "Building")->most, 7u);
  EXPECT_EQ(row(w, "Dummy Object")->most, 3u);
  EXPECT_EQ(row(w, "AnimatedBuilding")->most, 4u);
  EXPECT_EQ(row(w, "CCargen")->most, 2u);
  EXPECT_EQ(row(w, "tcBox")->most, 1u);
  EXPECT_FALSE(row(w, "InteriorInst")) << "what the world has none of is not told";
}

// INT-2: an interior comes with its rooms, portals, entities and the sets that are on.
TEST(Forecast, InteriorsComeWithTheMap) {
  World w;
  w.types("qa_props", archetype("qa_chair", kDynamic));
  w.types("qa_hall_types",
          archetype("qa_hall", "0",
                    list(copies(2, "qa_chair")) +
                        "<rooms><Item><name>limbo</name></Item><Item><name>hall</name></Item></rooms>"
                        "<portals><Item>" +
                        value("roomFrom", "0") + value("roomTo", "1") +
                        "</Item></portals>"
                        "<entitySets><Item><name>set_on</name>" +
                        list(copies(3, "qa_chair")) +
                        "<locations><Item value=\"1\"/><Item value=\"1\"/><Item value=\"1\"/></locations></Item>"
                        "<Item><name>set_off</name>" +
                        list(copies(50, "qa_chair")) + "</Item></entitySets>",
                    "CMloArchetypeDef"));
  w.map("qa_a",
        streamed(0, 100,
                 placed("qa_hall", "<defaultEntitySets><Item>set_on</Item></defaultEntitySets>", "CMloInstanceDef") +
                     placed("qa_hall", "", "CMloInstanceDef")));
  EXPECT_EQ(row(w, "InteriorInst")->most, 2u);
  EXPECT_EQ(row(w, "fwInteriorSceneGraphNode")->most, 2u);
  EXPECT_EQ(row(w, "fwRoomSceneGraphNode")->most, 4u);
  EXPECT_EQ(row(w, "fwPortalSceneGraphNode")->most, 2u);
  EXPECT_EQ(row(w, "Dummy Object")->most, 2u + 3u + 2u);
  EXPECT_EQ(row(w, "type files")->most, 2u) << "that of the props too";
  EXPECT_EQ(row(w, "InteriorProxy")->most, 2u);
}

// A child brings its parent along; a type file counts once however many maps use it.
TEST(Forecast, AncestorsAndTypeFilesAreNeededWithAMap) {
  World w;
  w.types("qa_types", archetype("qa_house", "0") + archetype("qa_other", "0"));
  w.types("qa_far_types", archetype("qa_far", "0"));
  w.map("qa_p", streamed(5000, 5100, copies(10, "qa_far")));
  w.map("qa_a", parent("qa_p") + streamed(0, 100, copies(1, "qa_house")));
  w.map("qa_b", parent("qa_p") + streamed(50, 100, copies(2, "qa_house")));
  EXPECT_EQ(row(w, "Building")->most, 13u);
  EXPECT_EQ(row(w, "type files")->most, 2u);
  EXPECT_EQ(row(w, "fwArchetypePooledMap")->most, 3u);
  const auto bytes = row(w, "resources", {.resource_bytes = [](const LintUnit& u) { return u.types ? 1000u : 10u; }});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->most, 3u * 10 + 2u * 1000);
  EXPECT_TRUE(bytes->is_bytes);
}

// ARCH-6: a permanent type file is there at every place, used or not.
TEST(Forecast, PermanentTypeFilesCountEverywhere) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.types("qa_always", archetype("qa_one", "0") + archetype("qa_two", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  EXPECT_EQ(row(w, "type files")->most, 1u);
  EXPECT_EQ(row(w, "fwArchetypePooledMap")->most, 1u);
  tools::ForecastOptions options;
  options.permanent_types = {hash_name("qa_always").value};
  EXPECT_EQ(row(w, "type files", options)->most, 2u);
  EXPECT_EQ(row(w, "fwArchetypePooledMap", options)->most, 3u);
  options.permanent_types.insert(hash_name("qa_types").value);
  EXPECT_EQ(row(w, "type files", options)->most, 2u) << "not twice";
  // CFG001 knows of them too, and does not take a type file for a map.
  World checked({.types_are_known = true, .maps_are_known = true, .permanent_types = {hash_name("qa_always").value}});
  checked.types("qa_types", archetype("qa_house", "0"));
  checked.types("qa_always", archetype("qa_one", "0") + archetype("qa_two", "0"));
  checked.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  checked.config("gameconfig", pools(pool("fwArchetypePooledMap", 2)));
  EXPECT_EQ(checked.said("gameconfig", "CFG001"),
            "warning ConfigArray[0].Config.PoolSizes.Entries[0].PoolSize: will overflow near (50, 0): 3 of 2\n");
  World small;
  small.types("qa_types", archetype("qa_house", "0") + archetype("qa_other", "0"));
  small.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  small.config("gameconfig", pools(pool("fwArchetypePooledMap", 1)));
  EXPECT_EQ(small.said("gameconfig", "CFG001"),
            "error ConfigArray[0].Config.PoolSizes.Entries[0].PoolSize: will overflow: one type file alone needs 2 of "
            "1\n");
}

// Maps that name each other as parents: everybody brings everybody along once, and the count ends.
TEST(Forecast, CirclesOfParentsEnd) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_p", parent("qa_q") + streamed(0, 100, copies(1, "qa_house")));
  w.map("qa_q", parent("qa_p") + streamed(900, 1000, copies(2, "qa_house")));
  for (int i = 0; i < 40; ++i)
    w.map("qa_child_" + std::to_string(i), parent("qa_p") + streamed(2000, 2100, copies(3, "qa_house")));
  EXPECT_EQ(row(w, "Building")->most, 40u * 3 + 1 + 2);
}

// Grass needs the type file of its archetype, and a type file those that it names itself.
TEST(Forecast, TypeFilesOfGrassAndOfTypeFilesCount) {
  World w;
  w.types("qa_grass_types", archetype("qa_grass", "0"));
  w.types("qa_far_types", archetype("qa_far", "0"));
  w.map("qa_a", streamed(0, 100, "") +
                    "<instancedData><GrassInstanceList><Item><archetypeName>qa_grass</archetypeName></Item>"
                    "</GrassInstanceList></instancedData>");
  EXPECT_EQ(row(w, "type files")->most, 1u);
  EXPECT_EQ(row(w, "GrassBatch")->most, 1u);
  World listed;
  listed.types("qa_grass_types", archetype("qa_grass", "0"));
  listed.types("qa_far_types", archetype("qa_far", "0"));
  listed.map("qa_a", streamed(0, 100, copies(1, "qa_grass")));
  listed.manifest(
      "<itypDependencies_2><Item><itypName>qa_grass_types</itypName><itypDepArray><Item>qa_far_types</Item>"
      "</itypDepArray></Item></itypDependencies_2>");
  EXPECT_EQ(row(listed, "type files")->most, 2u);
}

// --extents: the boxes that the output has.
TEST(Forecast, ComputedBoxesCountWhereTheyAreWritten) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  w.map("qa_b", streamed(9000, 9100, copies(4, "qa_house")));  // all stand at the origin
  EXPECT_EQ(row(w, "Building")->most, 4u);
  EXPECT_EQ(row(w, "Building", {.extents = tools::Repair::fix})->most, 7u);
}

TEST(Forecast, MapsThatLoadByNameAreNotCountedByPlace) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  w.map("qa_b", value("flags", "1") + streamed(0, 100, copies(40, "qa_house")));
  w.map("qa_c",
        corner("streamingExtentsMin", 1, 1, 1) + corner("streamingExtentsMax", 0, 0, 0) + list(copies(5, "qa_house")));
  EXPECT_EQ(row(w, "Building")->most, 3u);
  EXPECT_EQ(row(w, "MapDataStore")->most, 3u);
  const tools::Forecast f = tools::forecast_world(w.linked(), {});
  EXPECT_EQ(f.maps, 1u);
  EXPECT_EQ(f.maps_by_name, 1u);
  EXPECT_EQ(f.maps_without_box, 1u);
}

// CONF-3: later configurations and later layers replace sizes by name, in any case.
TEST(Forecast, LimitsComeFromTheConfigurationsInForce) {
  World w;
  w.types("qa_types", archetype("qa_house", "0") + archetype("qa_bin", kDynamic));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house") + copies(2, "qa_bin")));
  w.config("gameconfig", pools(pool("Building", 10) + pool("dummy object", 20)) + pools(pool("building", 11)) +
                             pools(pool("Building", 5), "Any", "ps4"));
  w.config("gameconfig_more", pools(pool("Dummy Object", 21)), 1);
  EXPECT_EQ(row(w, "Building")->limit, 11u);
  EXPECT_EQ(row(w, "Dummy Object")->limit, 21u);
  tools::ParsedTarget target;
  std::string error;
  ASSERT_TRUE(tools::parse_config_target("build=final,platform=ps4", target, error)) << error;
  EXPECT_EQ(row(w, "Building", {.target = &target})->limit, 5u);
  EXPECT_EQ(row(w, "fwStreamedSceneGraphNode")->limit_from, ForecastRow::Limit::built_in);
  EXPECT_EQ(row(w, "fwStreamedSceneGraphNode")->limit, 1000u) << "SG-3";
  EXPECT_EQ(row(w, "MapDataLoadedNode")->limit_from, ForecastRow::Limit::none);
}

// --- CFG001
// -------------------------------------------------------------------------------------------------------------

TEST(Forecast, Cfg001OfTheWorstPlaceIsAWarningAndOfOneMapAnError) {
  const auto said = [](int size) {
    World w;
    w.types("qa_types", archetype("qa_house", "0"));
    w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
    w.map("qa_b", streamed(90, 200, copies(4, "qa_house")));
    w.config("gameconfig", pools(pool("PedProps", 1) + pool("Building", size)));
    return w.said("gameconfig", "CFG001");
  };
  EXPECT_EQ(said(7), "") << "as many as there are";
  EXPECT_EQ(said(6),
            "warning ConfigArray[0].Config.PoolSizes.Entries[1].PoolSize: will overflow near (95, 0): 7 "
            "of 6\n");
  EXPECT_EQ(said(4).substr(0, 8), "warning ");
  EXPECT_EQ(said(3),
            "error ConfigArray[0].Config.PoolSizes.Entries[1].PoolSize: will overflow: one map alone "
            "needs 4 of 3\n");
}

TEST(Forecast, Cfg001NamesTheMapsAndStoresAreCounted) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  w.map("qa_b", streamed(900, 1000, copies(4, "qa_house")));
  w.config("gameconfig", pools(pool("Building", 3) + pool("MapDataStore", 1)));
  w.lint("gameconfig");
  const auto found = w.lint("gameconfig");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message, "will overflow: one map alone needs 4 of 3");
  ASSERT_EQ(found[0].related.size(), 1u);
  EXPECT_EQ(found[0].related[0].unit->stem, "qa_b");
  EXPECT_EQ(found[1].message, "will overflow: the world needs 2 of 1");
  EXPECT_EQ(found[1].severity, tools::Severity::error);
}

TEST(Forecast, Cfg001LooksOnlyAtWhatIsInForce) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  // Replaced in its own file, replaced by a later layer; an override for one platform stands on its own.
  w.config("gameconfig", pools(pool("Building", 1)) + pools(pool("Building", 9)));
  EXPECT_EQ(w.said("gameconfig", "CFG001"), "");
  World layered;
  layered.types("qa_types", archetype("qa_house", "0"));
  layered.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  layered.config("gameconfig", pools(pool("Building", 1)));
  layered.config("gameconfig_more", pools(pool("Building", 3)), 1);
  EXPECT_EQ(layered.said("gameconfig", "CFG001"), "");
  EXPECT_EQ(layered.said("gameconfig_more", "CFG001"), "");
  World ps4;
  ps4.types("qa_types", archetype("qa_house", "0"));
  ps4.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  ps4.config("gameconfig", pools(pool("Building", 9)) + pools(pool("Building", 2), "Any", "ps4"));
  EXPECT_NE(ps4.said("gameconfig", "CFG001"), "");
}

// --- the grid
// -----------------------------------------------------------------------------------------------------------

TEST(Forecast, GridHoldsWhatIsNeededAtTheMiddleOfEachCell) {
  World w;
  w.types("qa_types", archetype("qa_house", "0"));
  w.map("qa_a", streamed(0, 100, copies(3, "qa_house")));
  w.map("qa_b", streamed(50, 200, copies(4, "qa_house")));
  const tools::ForecastGrid grid = tools::forecast_world(w.linked(), {.margin = 0, .grid_side = 4}).grid;
  ASSERT_EQ(grid.columns, 4u);  // 200 m of x in cells of 50 m
  ASSERT_EQ(grid.rows, 4u);     // 200 m of y
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ(grid.entities[r * 4 + 0], 3u);
    EXPECT_EQ(grid.entities[r * 4 + 1], 7u);
    EXPECT_EQ(grid.entities[r * 4 + 2], 4u);
    EXPECT_EQ(grid.entities[r * 4 + 3], 4u);
  }
}

}  // namespace
}  // namespace meridian::test
