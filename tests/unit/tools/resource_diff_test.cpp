// SPDX-License-Identifier: MIT
// Differences between two resources: nothing for equal ones, one line for each change, paths by FlatBuffers names.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/compile_kit.h"

namespace meridian::test {
namespace {

std::vector<std::string> diff(uint32_t kind, const std::string& a, const std::string& b) {
  const Compiled ca = compile(kind, a), cb = compile(kind, b);
  const auto ra = load(ca.result.bytes), rb = load(cb.result.bytes);
  return tools::diff_lines(*ra, *rb);
}
using Lines = std::vector<std::string>;

std::string named(std::string_view name, std::string_view body = "") {
  return "<Item type=\"CEntityDef\"><archetypeName>" + std::string(name) + "</archetypeName>" + std::string(body) +
         "</Item>";
}

TEST(Diff, EqualFilesHaveNone) {
  const std::string xml = entities(entity("<qaOdd/>") + entity(""));
  EXPECT_EQ(diff(kImap, xml, xml), Lines{});
  // Another order of members and other spellings of numbers are no difference.
  EXPECT_EQ(diff(kImap, one_entity("<lodDist value=\"60\"/><flags value=\"32\"/>"),
                 one_entity("<flags value=\"0x20\"/><lodDist value=\"60.0\"/>")),
            Lines{});
}

TEST(Diff, OneLineForEachChangedMember) {
  EXPECT_EQ(diff(kImap, one_entity("<lodDist value=\"60\"/>"), one_entity("<lodDist value=\"61.5\"/>")),
            (Lines{"entities[0].lod_dist: 60 -> 61.5"}));
  EXPECT_EQ(diff(kImap, map_of("<flags value=\"1\"/>"), map_of("<flags value=\"3\"/>")), (Lines{"flags: 1 -> 3"}));
  EXPECT_EQ(diff(kImap, "<CMapData><name>a</name></CMapData>", "<CMapData><name>b</name></CMapData>"),
            (Lines{"name: a -> b"}));
  EXPECT_EQ(
      diff(kImap, one_entity("<position x=\"1\" y=\"2\" z=\"3\"/>"), one_entity("<position x=\"1\" y=\"2\" z=\"4\"/>")),
      (Lines{"entities[0].position.z: 3 -> 4"}));
  EXPECT_EQ(diff(kImap, one_entity("<lodLevel>LODTYPES_DEPTH_HD</lodLevel>"),
                 one_entity("<lodLevel>LODTYPES_DEPTH_LOD</lodLevel>")),
            (Lines{"entities[0].lod_level: LODTYPES_DEPTH_HD -> LODTYPES_DEPTH_LOD"}));
}

TEST(Diff, InsertionsAndRemovalsInArraysAreSingleLines) {
  const std::string a = entities(named("a") + named("b") + named("c")),
                    b = entities(named("a") + named("x") + named("b") + named("c"));
  const Lines added = diff(kImap, a, b);
  ASSERT_EQ(added.size(), 1u) << added[0];
  EXPECT_TRUE(contains(added[0], "entities[1]")) << added[0];
  EXPECT_TRUE(contains(added[0], "(added)")) << added[0];
  EXPECT_TRUE(contains(added[0], "archetype_name=x")) << added[0];
  const Lines removed = diff(kImap, b, a);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_TRUE(contains(removed[0], "(removed)"));
  EXPECT_EQ(diff(kImap, entities(""), entities(named("a") + named("b"))).size(), 2u);
  EXPECT_EQ(diff(kImap, entities(named("a") + named("b")), entities("")).size(), 2u);
}

TEST(Diff, AChangeIsShownAsAChangeOfItsMember) {
  EXPECT_EQ(diff(kImap, entities(named("a") + named("b") + named("c")),
                 entities(named("a") + named("b", "<guid value=\"7\"/>") + named("c"))),
            (Lines{"entities[1].guid: 0 -> 7"}));
}

TEST(Diff, HoistedRecordsUnionsAndKeptXmlAreCompared) {
  const auto door = [](std::string_view body) {
    return with_extension("<Item type=\"CExtensionDefDoor\"><name>d</name>" + std::string(body) + "</Item>");
  };
  EXPECT_EQ(diff(kImap, door("<limitAngle value=\"1\"/>"), door("<limitAngle value=\"2\"/>")),
            (Lines{"entity_extensions[0].definition.limit_angle: 1 -> 2"}));
  EXPECT_FALSE(
      diff(kImap, door(""), with_extension("<Item type=\"CExtensionDefBuoyancy\"><name>d</name></Item>")).empty());
  EXPECT_FALSE(diff(kImap, one_entity("<qaOdd a=\"1\"/>"), one_entity("<qaOdd a=\"2\"/>")).empty());
  EXPECT_FALSE(diff(kImap, one_entity("<qaOdd/>"), one_entity("")).empty());
  EXPECT_FALSE(diff(kImap, with_extension("<Item type=\"QaOdd\"><a/></Item>"),
                    with_extension("<Item type=\"QaOdd\"><b/></Item>"))
                   .empty());
}

TEST(Diff, AbsentAndZeroDifferWhereThatMeansSomething) {
  EXPECT_EQ(diff(kGcfg, config_of("<ConfigStreamingEngine><ArchiveCount value=\"5\"/></ConfigStreamingEngine>"),
                 config_of("<ConfigStreamingEngine><ArchiveCount value=\"5\"/><VirtualStreamingBuffer "
                           "value=\"0\"/></ConfigStreamingEngine>")),
            (Lines{"config_array[0].config.streaming_engine.virtual_streaming_buffer: (none) -> 0"}));
}

TEST(Diff, AnAbsentTableIsOneFullOfDefaults) {
  // Both compile to the same meaning, whatever stands in the source.
  EXPECT_EQ(diff(kImap, map_of(""), map_of("<block/><instancedData><GrassInstanceList/></instancedData>")), Lines{});
}

TEST(Diff, OtherKindsAreToldApart) {
  const auto a = load(compile(kImap, "<CMapData/>").result.bytes),
             b = load(compile(kItyp, "<CMapTypes/>").result.bytes);
  EXPECT_EQ(tools::diff_lines(*a, *b).size(), 1u);
}

// Applied to random edits: no lines exactly if the bytes are equal in meaning.
TEST(Diff, IsEmptyExactlyIfNothingWasChanged) {
  std::mt19937 random(99);
  const auto world = [&](int changed) {
    std::mt19937 fixed(1);
    std::string items;
    for (int i = 0; i < 30; ++i)
      items += named("n" + std::to_string(fixed() % 5),
                     "<guid value=\"" + std::to_string(i == changed ? 777 : fixed() % 3) + "\"/>");
    return entities(items);
  };
  for (int i = 0; i < 40; ++i) {
    const int changed = static_cast<int>(random() % 31) - 1;
    EXPECT_EQ(diff(kImap, world(-1), world(changed)).empty(), changed < 0) << changed;
  }
}

TEST(Diff, ManyElementsTakeReasonableTime) {
  std::string a, b;
  for (int i = 0; i < 20000; ++i) {
    a += named("a" + std::to_string(i));
    b += named("b" + std::to_string(i));
  }
  EXPECT_EQ(diff(kImap, entities(a), entities(b)).size(), 20000u);
}

}  // namespace
}  // namespace meridian::test
