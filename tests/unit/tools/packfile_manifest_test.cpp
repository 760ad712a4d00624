// SPDX-License-Identifier: MIT
// Rules: WORLD-5; REF002 is silent about what was written.
#include "meridian/tools/packfile_manifest.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "metac.h"
#include "resinfo.h"
#include "support/temp_dir.h"
#include "support/world_files.h"
#include "tool_runner.h"
#include "world_makers.h"
#include "worldc.h"
#include "worldgen.h"

namespace meridian::tools {
namespace {

using test::map_of;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using test::types_of;
using Words = std::vector<std::string>;

std::string manifest_of(const std::string& source, Words more = {}) {
  Words words = {"manifest", source, "-o", "-"};
  words.insert(words.end(), more.begin(), more.end());
  const ToolRun run = run_tool(run_worldc, words);
  EXPECT_EQ(run.exit, kExitDone) << run.err;
  return run.out;
}

/// What manifests list: of maps, then of type files, the needed files and the flags.
struct Listed {
  std::map<uint32_t, std::pair<std::set<uint32_t>, uint32_t>> maps, types;
  std::map<uint32_t, std::set<uint32_t>> interiors;
};

Listed listed_in(const std::vector<std::string>& manifests) {
  Listed out;
  for (const std::string& path : manifests) {
    const TempDir dir;
    EXPECT_EQ(run_tool(run_metac, Words{path, "-o", dir.path("m.ymfm")}).exit, 0);
    const test::WorldFiles files(dir.path());
    const schema::PackFileMetaData& m = *files.manifests.at(0);
    if (m.imap_dependencies_2() != nullptr)
      for (const auto* d : *m.imap_dependencies_2())
        out.maps[d->imap_name()] = {{d->ityp_dep_array()->begin(), d->ityp_dep_array()->end()},
                                    static_cast<uint32_t>(d->manifest_flags())};
    if (m.ityp_dependencies_2() != nullptr)
      for (const auto* d : *m.ityp_dependencies_2())
        out.types[d->ityp_name()] = {{d->ityp_dep_array()->begin(), d->ityp_dep_array()->end()},
                                     static_cast<uint32_t>(d->manifest_flags())};
    if (m.interiors() != nullptr)
      for (const auto* i : *m.interiors()) out.interiors[i->name()] = {i->bounds()->begin(), i->bounds()->end()};
  }
  return out;
}

TEST(PackfileManifest, ListsWhatTheGeneratorSaysItUsed) {
  // worldgen knows what it placed where, and writes manifests of its own.
  const TempDir world, out;
  ASSERT_EQ(run_tool(run_worldgen, Words{"--preset", "small", "--xml", "-o", world.path()}).exit, 0);
  std::vector<std::string> theirs;
  for (const std::string& file : world.files())
    if (file.ends_with(".ymf.xml")) theirs.push_back(world.path(file));
  ASSERT_FALSE(theirs.empty());
  out.write("m.ymf.xml", manifest_of(world.path()));
  const Listed expected = listed_in(theirs), made = listed_in({out.path("m.ymf.xml")});
  EXPECT_GT(made.maps.size(), 5u);
  EXPECT_GT(made.types.size(), 0u);
  EXPECT_EQ(made.maps, expected.maps);
  EXPECT_EQ(made.types, expected.types);
  EXPECT_EQ(made.interiors, expected.interiors);
}

TEST(PackfileManifest, WhatItWritesIsReadBackAndMakesREF002Silent) {
  const TempDir world;
  ASSERT_EQ(run_tool(run_worldgen, Words{"--preset", "small", "--xml", "-o", world.path()}).exit, 0);
  for (const std::string& file : world.files())
    if (file.ends_with(".ymf.xml")) std::filesystem::remove(world.path(file));
  const std::string path = world.write("_manifest.ymf.xml", "<CPackFileMetaData/>");
  ASSERT_EQ(run_tool(run_worldc, Words{"manifest", world.path(), "-o", path}).exit, 0);
  const ToolRun check = run_tool(run_worldc, Words{"check", world.path(), "--all"});
  EXPECT_EQ(check.exit, 0);
  EXPECT_EQ(check.err.find("REF00"), std::string::npos) << check.err;
  // The text is what a dump of it would be.
  ASSERT_EQ(run_tool(run_metac, Words{path, "-o", world.path("m.ymfm")}).exit, 0);
  EXPECT_EQ(run_tool(run_resinfo, Words{"dump", "--xml", world.path("m.ymfm")}).out, world.read("_manifest.ymf.xml"));
}

TEST(PackfileManifest, AFileThatWouldNotChangeIsLeftAlone) {
  const TempDir world;
  world.write("t.ytyp.xml", types_of({"qa_bench"}));
  world.write("m.ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  const std::string path = world.path("_manifest.ymf.xml");
  ASSERT_EQ(run_tool(run_worldc, Words{"manifest", world.path(), "-o", path}).exit, 0);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  EXPECT_EQ(run_tool(run_worldc, Words{"manifest", world.path(), "-o", path}).err, "unchanged: " + path + "\n");
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

constexpr const char* kByHand = R"(<?xml version="1.0" encoding="UTF-8"?>
<CPackFileMetaData>
 <MapDataGroups>
  <Item>
   <Name>market</Name>
   <Bounds>
    <Item>market_col</Item>
    <Item>market_col_2</Item>
   </Bounds>
   <Flags>TIME_DEPENDENT, WEATHER_DEPENDENT</Flags>
   <WeatherTypes>
    <Item>rain</Item>
    <Item>clear</Item>
   </WeatherTypes>
   <HoursOnOff value="7" />
  </Item>
 </MapDataGroups>
 <HDTxdBindingArray>
  <Item>
   <assetType>AT_DRB</assetType>
   <targetAsset>qa_bench</targetAsset>
   <HDTxd>qa_bench+hi</HDTxd>
  </Item>
 </HDTxdBindingArray>
 <imapDependencies />
 <imapDependencies_2>
  <Item>
   <imapName>market</imapName>
   <manifestFlags />
   <itypDepArray>
    <Item>props</Item>
   </itypDepArray>
  </Item>
 </imapDependencies_2>
 <itypDependencies_2 />
 <Interiors>
  <Item>
   <Name>qa_room</Name>
   <Bounds>
    <Item>qa_room_col</Item>
   </Bounds>
  </Item>
 </Interiors>
</CPackFileMetaData>
)";

TEST(PackfileManifest, KeepsWhatCannotBeComputed) {
  const TempDir world;
  world.write("props.ytyp.xml", types_of({"qa_bench"}));
  world.write("market.ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  world.write("_manifest.ymf.xml", kByHand);
  EXPECT_EQ(manifest_of(world.path()), kByHand);
}

TEST(PackfileManifest, ALaterLayersManifestGoesBeforeAndListsAreJoined) {
  const TempDir base, winter;
  base.write("props.ytyp.xml", types_of({"qa_bench"}));
  base.write("market.ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  base.write("_manifest.ymf.xml", kByHand);
  winter.write("_manifest.ymf.xml",
               "<CPackFileMetaData><MapDataGroups><Item><Name>market</Name><Bounds><Item>snow_col</Item></Bounds>"
               "<Flags>TIME_DEPENDENT</Flags><HoursOnOff value=\"8\"/></Item></MapDataGroups><HDTxdBindingArray><Item>"
               "<assetType>AT_DRB</assetType><targetAsset>QA_bench</targetAsset><HDTxd>snow_hi</HDTxd></Item>"
               "</HDTxdBindingArray><Interiors><Item><Name>qa_room</Name><Bounds><Item>ice_col</Item></Bounds></Item>"
               "</Interiors></CPackFileMetaData>");
  std::string expected = kByHand;
  const auto put = [&](const std::string& old, const std::string& now) {
    ASSERT_NE(expected.find(old), std::string::npos) << old;
    expected.replace(expected.find(old), old.size(), now);
  };
  put("    <Item>market_col_2</Item>\n", "    <Item>market_col_2</Item>\n    <Item>snow_col</Item>\n");
  put("TIME_DEPENDENT, WEATHER_DEPENDENT", "TIME_DEPENDENT");
  put("<WeatherTypes>\n    <Item>rain</Item>\n    <Item>clear</Item>\n   </WeatherTypes>", "<WeatherTypes />");
  put("HoursOnOff value=\"7\"", "HoursOnOff value=\"8\"");
  put("<targetAsset>qa_bench</targetAsset>", "<targetAsset>QA_bench</targetAsset>");
  put("qa_bench+hi", "snow_hi");
  put("    <Item>qa_room_col</Item>\n", "    <Item>ice_col</Item>\n    <Item>qa_room_col</Item>\n");
  EXPECT_EQ(manifest_of(base.path(), {"--layer", winter.path()}), expected);
}

TEST(PackfileManifest, AWorldManifestSetsGroups) {
  const TempDir world;
  world.write("props.ytyp.xml", types_of({"qa_bench"}));
  world.write("market.ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  world.write("pier.ymap.xml", map_of({}));
  world.write("_manifest.ymf.xml", kByHand);
  world.write("world.json", R"({"groups": [{"name": "g", "maps": ["market", "pier"], "hours": [0, 23]}]})");
  const std::string made = manifest_of(world.path());
  EXPECT_NE(made.find("<Name>market</Name>\n   <Bounds>\n    <Item>market_col</Item>\n    <Item>market_col_2</Item>\n"
                      "   </Bounds>\n   <Flags>TIME_DEPENDENT</Flags>\n   <WeatherTypes />\n"
                      "   <HoursOnOff value=\"8388609\" />\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("<Name>pier</Name>\n   <Bounds />\n   <Flags>TIME_DEPENDENT</Flags>"), std::string::npos) << made;
}

TEST(PackfileManifest, TheOlderFormIsTurnedIntoTheNewer) {
  const TempDir world;
  world.write("props.ytyp.xml", types_of({"qa_bench"}));
  world.write("m.ymap.xml", map_of({{"qa_bench", 1, 0, 0}, {"game_lamp", 2, 0, 0}}));
  world.write("n.ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  // m uses an archetype of the game's own, so the game's type file may be right; n has no need of one.
  world.write("_manifest.ymf.xml",
              "<CPackFileMetaData><imapDependencies>"
              "<Item><imapName>m</imapName><itypName>game_props</itypName><packFileName>p</packFileName></Item>"
              "<Item><imapName>n</imapName><itypName>game_props</itypName><packFileName>p</packFileName></Item>"
              "</imapDependencies></CPackFileMetaData>");
  const std::string made = manifest_of(world.path(), {"--allow-missing-archetypes"});
  EXPECT_NE(
      made.find(" <imapDependencies />\n <imapDependencies_2>\n  <Item>\n   <imapName>m</imapName>\n"
                "   <manifestFlags />\n   <itypDepArray>\n    <Item>game_props</Item>\n    <Item>props</Item>\n"
                "   </itypDepArray>\n  </Item>\n  <Item>\n   <imapName>n</imapName>\n   <manifestFlags />\n"
                "   <itypDepArray>\n    <Item>props</Item>\n   </itypDepArray>\n  </Item>\n </imapDependencies_2>\n"),
      std::string::npos)
      << made;
}

TEST(PackfileManifest, WithErrorsNothingIsWritten) {
  const TempDir world;
  world.write("m.ymap.xml", map_of({{"qa_nothing", 1, 0, 0}}));
  const ToolRun run = run_tool(run_worldc, Words{"manifest", world.path(), "-o", world.path("x/_manifest.ymf.xml")});
  EXPECT_EQ(run.exit, kExitRejected);
  EXPECT_FALSE(world.exists("x/_manifest.ymf.xml"));
  EXPECT_EQ(run_tool(run_worldc, Words{"manifest", world.path()}).exit, kExitUsage);
}

}  // namespace
}  // namespace meridian::tools
