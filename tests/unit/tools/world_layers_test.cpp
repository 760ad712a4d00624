// SPDX-License-Identifier: MIT
// Rules: NAM004 (what a layer changes), NAM007, WORLD-1; P005.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "tool_runner.h"
#include "world_makers.h"
#include "worldc.h"

namespace meridian::tools {
namespace {

using test::map_of;
using test::Placed;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using test::types_of;
using Words = std::vector<std::string>;

/// A base and overlays, each with a version of the map `m`.
struct Layers {
  explicit Layers(const std::vector<std::vector<Placed>>& versions) {
    dir.write("base/t.ytyp.xml", types_of({"qa_bench", "qa_lamp"}));
    std::string json = "{\"layers\": [";
    for (size_t i = 0; i < versions.size(); ++i) {
      const std::string name = i == 0 ? "base" : "over" + std::to_string(i);
      dir.write(name + "/m.ymap.xml", map_of(versions[i]));
      json += (i == 0 ? "{\"path\": \"" : ", {\"path\": \"") + name + "\"}";
    }
    dir.write("world.json", json + "]}");
  }
  ToolRun check(Words more = {}) const {
    Words words = {"check", dir.path("world.json"), "--all"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(run_worldc, words);
  }
  std::string conflicts() const {
    const ToolRun run = check({"--conflicts"});
    EXPECT_EQ(run.exit, 0) << run.err;
    return run.out;
  }
  TempDir dir;
};

TEST(Layers, WhatOneChangesIsListedEntityByEntity) {
  const Layers layers(
      {{{"qa_bench", 1, 0, 0, 11}, {"qa_bench", 2, 0, 0}, {"qa_lamp", 3, 0, 0}, {"qa_lamp", 4, 0, 0}},
       // moved (known by its guid); the second is gone; the third changed; the fourth as it was; one more
       {{"qa_bench", 9, 0, 0, 11},
        {"qa_lamp", 3, 0, 0, 0, "<lodDist value=\"70\"/><flags value=\"32\"/>"},
        {"qa_lamp", 4, 0, 0},
        {"qa_lamp", 5, 0, 0}}});
  EXPECT_EQ(layers.conflicts(),
            "m: base -> over1: entity 1 'qa_bench': removed\n"
            "m: base -> over1: entity 0 'qa_bench': changed: position\n"
            "m: base -> over1: entity 1 'qa_lamp': changed: flags, lodDist\n"
            "m: base -> over1: entity 3 'qa_lamp': added\n");
  const std::string err = layers.check().err;
  EXPECT_NE(err.find("note: map 'm' is shadowed by a later layer's: 1 entity removed, 2 changed, 1 added [NAM004"),
            std::string::npos)
      << err;
  const std::string base = layers.dir.path("base/m.ymap.xml"), over = layers.dir.path("over1/m.ymap.xml");
  EXPECT_NE(err.find(base + ":3:2: note: entity 1, 'qa_bench', removed\n"), std::string::npos) << err;
  EXPECT_NE(err.find(over + ":3:2: note: entity 1, 'qa_lamp', changed: flags, lodDist\n"), std::string::npos) << err;
}

TEST(Layers, SameVersionsSayNothingMore) {
  const Layers layers({{{"qa_bench", 1, 0, 0}}, {{"qa_bench", 1, 0, 0}}});
  EXPECT_EQ(layers.conflicts(), "");
  EXPECT_NE(layers.check().err.find("is shadowed by a later layer's [NAM004"), std::string::npos);
}

TEST(Layers, ParentsAreTheSameWhateverTheirIndices) {
  const std::string child = "<parentIndex value=\"";
  const Layers layers({{{"qa_lamp", 7, 0, 0},
                        {"qa_bench", 1, 0, 0, 0, "<lodLevel>LODTYPES_DEPTH_LOD</lodLevel>"},
                        {"qa_bench", 2, 0, 0, 0, child + "1\"/>"}},
                       {{"qa_bench", 1, 0, 0, 0, "<lodLevel>LODTYPES_DEPTH_LOD</lodLevel>"},
                        {"qa_bench", 2, 0, 0, 0, child + "0\"/>"}}});
  const std::string out = layers.check({"--conflicts"}).out;
  EXPECT_EQ(out, "m: base -> over1: entity 0 'qa_lamp': removed\n");
}

TEST(Layers, ExtensionsAreMembers) {
  const std::string extension =
      "<extensions><Item type=\"CExtensionDefParticleEffect\"><name>n</name><fxName>fire</fxName><scale value=\"";
  const Layers layers({{{"qa_bench", 1, 0, 0, 0, extension + "1\"/></Item></extensions>"}},
                       {{"qa_bench", 1, 0, 0, 0, extension + "2\"/></Item></extensions>"}}});
  EXPECT_EQ(layers.conflicts(), "m: base -> over1: entity 0 'qa_bench': changed: extensions\n");
}

TEST(Layers, TwinsAreMatchedInTheirOrder) {
  // Two of one guid have none; of three in one place one is gone.
  const Layers layers({{{"qa_bench", 1, 0, 0, 5}, {"qa_bench", 1, 0, 0, 5}, {"qa_bench", 1, 0, 0, 5}},
                       {{"qa_bench", 1, 0, 0, 5}, {"qa_bench", 1, 0, 0, 5}}});
  EXPECT_EQ(layers.check({"--conflicts"}).out, "m: base -> over1: entity 2 'qa_bench': removed\n");
}

TEST(Layers, TenAreShownAndTheRestCounted) {
  std::vector<Placed> many;
  for (int i = 0; i < 14; ++i) many.push_back({"qa_bench", double(i), 0, 0});
  const Layers layers({{}, many});
  const std::string err = layers.check().err;
  EXPECT_NE(err.find(": 14 entities added [NAM004"), std::string::npos) << err;
  EXPECT_NE(err.find("note: entity 9, 'qa_bench', added"), std::string::npos) << err;
  EXPECT_EQ(err.find("note: entity 10, 'qa_bench', added"), std::string::npos) << err;
  EXPECT_NE(err.find("note: and 4 more; 'worldc check --conflicts' lists all"), std::string::npos) << err;
  const std::string list = layers.dir.path("list.txt");
  EXPECT_EQ(layers.check({"--conflicts=" + list}).out, "");
  EXPECT_EQ(layers.dir.read("list.txt"), layers.conflicts());
}

TEST(Layers, NAM007TwoOverlaysChangeOneEntityDifferently) {
  const std::vector<Placed> base = {{"qa_bench", 1, 0, 0, 11}, {"qa_bench", 2, 0, 0, 12}, {"qa_bench", 3, 0, 0, 13}};
  std::vector<Placed> one = base, two = base;
  one[0].x = 5;  // differently
  two[0].x = 6;
  one[1].x = two[1].x = 7;                  // the same
  two[2].more = "<lodDist value=\"70\"/>";  // only here
  const Layers layers({base, one, two});
  const std::string err = layers.check().err;
  const std::string path = layers.dir.path();
  EXPECT_NE(err.find(path + "/over2/m.ymap.xml:2:2: warning: entity 0: 'qa_bench' is changed (position) here, and "
                            "changed (position) by a layer between; the later one counts [NAM007"),
            std::string::npos)
      << err;
  EXPECT_NE(err.find(path + "/over1/m.ymap.xml:2:2: note: changed (position) here"), std::string::npos) << err;
  EXPECT_NE(err.find(path + "/base/m.ymap.xml:2:2: note: the entity that both start from"), std::string::npos) << err;
  EXPECT_EQ(err.find("NAM007", err.find("NAM007") + 1), std::string::npos) << err;
}

TEST(Layers, NAM007TakenAwayByOneAndChangedByTheOther) {
  const std::vector<Placed> base = {{"qa_bench", 1, 0, 0, 11}, {"qa_bench", 2, 0, 0, 12}};
  std::vector<Placed> moved = base;
  moved[1].x = 5;
  const std::vector<Placed> less = {base[0]};
  EXPECT_NE(
      Layers({base, moved, less})
          .check()
          .err.find(
              "warning: entity 1 of the lowest layer, 'qa_bench' is taken away here, and changed (position) by a "),
      std::string::npos);
  EXPECT_NE(
      Layers({base, less, moved})
          .check()
          .err.find("warning: entity 1: 'qa_bench' is changed (position) here, and taken away by a layer between"),
      std::string::npos);
  EXPECT_EQ(Layers({base, less, less}).check().err.find("NAM007"), std::string::npos);
}

TEST(Layers, NAM007ALayerThatLeavesItAloneIsNoConflict) {
  const std::vector<Placed> base = {{"qa_bench", 1, 0, 0, 11}};
  std::vector<Placed> moved = base;
  moved[0].x = 5;
  EXPECT_EQ(Layers({base, moved, base}).check().err.find("NAM007"), std::string::npos);
  EXPECT_EQ(Layers({base, base, moved}).check().err.find("NAM007"), std::string::npos);
  // Over four layers: the third conflicts with the second, the fourth with neither.
  std::vector<Placed> other = base;
  other[0].x = 6;
  const std::string err = Layers({base, moved, other, base}).check().err;
  EXPECT_NE(err.find("NAM007"), std::string::npos);
  EXPECT_NE(err.find("over2/m.ymap.xml:2:2: warning"), std::string::npos) << err;
}

// Folders whose names begin alike are not taken for each other, and no folder lies over itself.
TEST(Layers, AreCalledByTheFolderThatHoldsTheFile) {
  const TempDir dir;
  dir.write("base2/t.ytyp.xml", types_of({"qa_bench"}));
  dir.write("base2/m.ymap.xml", map_of({{"qa_bench", 1, 0, 0, 11}}));
  dir.write("base/x.ymap.xml", map_of({{"qa_bench", 5, 0, 0, 12}}));
  dir.write("over/m.ymap.xml", map_of({{"qa_bench", 2, 0, 0, 11}}));
  const std::string base2 = dir.path("base2"), base = dir.path("base"), over = dir.path("over");
  for (const Words& sources : {Words{base2, base}, Words{base, base2}}) {
    const ToolRun run = run_tool(run_worldc, Words{"check", sources[0], sources[1], "--layer", over, "--conflicts"});
    EXPECT_EQ(run.out, "m: " + base2 + " -> " + over + ": entity 0 'qa_bench': changed: position\n") << run.err;
  }
  const ToolRun twice = run_tool(run_worldc, Words{"check", base2, "--layer", dir.path("./base2/")});
  EXPECT_EQ(twice.exit, 2);
  EXPECT_NE(twice.err.find("is a source and a layer over itself"), std::string::npos) << twice.err;
  const ToolRun fixed =
      run_tool(run_worldc, Words{"check", base2, base, "--layer", over, "--conflicts", "--fix=preview"});
  EXPECT_EQ(fixed.out.find("m: "), fixed.out.rfind("m: ")) << "told once a run, not once a round of fixes";
}

}  // namespace
}  // namespace meridian::tools
