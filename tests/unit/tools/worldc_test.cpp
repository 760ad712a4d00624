// SPDX-License-Identifier: MIT
// Rules: WORLD-1, WORLD-2, LINT-2, REL-6, CLI-2; P005, P053. Whole worlds under edits and kills: tests/world.
#include "worldc.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "tool_runner.h"
#include "worldgen.h"

namespace meridian::tools {
namespace {

using test::run_tool;
using test::TempDir;
using test::ToolRun;
using Words = std::vector<std::string>;

/// All files below a folder but what the program keeps for itself.
std::map<std::string, std::string> outputs_of(const TempDir& dir) {
  std::map<std::string, std::string> out;
  for (const std::string& file : dir.files())
    if (!file.starts_with(".worldc")) out[file] = dir.read(file);
  return out;
}

ToolRun build(const TempDir& sources, const TempDir& output, Words more = {}) {
  Words words = {"build", sources.path(), "-o", output.path()};
  words.insert(words.end(), more.begin(), more.end());
  return run_tool(run_worldc, words);
}

void make_world(const TempDir& dir) {
  ASSERT_EQ(run_tool(run_worldgen, Words{"--preset", "small", "--xml", "-o", dir.path()}).exit, 0);
}

TEST(Worldc, SameBytesForAnyThreadsAndAgain) {  // WORLD-2, REL-6
  const TempDir sources, one, eight;
  make_world(sources);
  EXPECT_EQ(build(sources, one, {"-j1"}).exit, 0);
  EXPECT_EQ(build(sources, eight, {"-j8"}).exit, 0);
  const auto first = outputs_of(one);
  EXPECT_EQ(first.count("world.mpk"), 1u);
  EXPECT_GT(first.size(), 15u);
  EXPECT_EQ(outputs_of(eight), first);
  const ToolRun again = build(sources, one, {"--stats"});
  EXPECT_NE(again.out.find("written                      0"), std::string::npos) << again.out;
  EXPECT_EQ(outputs_of(one), first);
}

TEST(Worldc, TwoBuildsAtOnceInOneFolder) {  // WORLD-2
  const TempDir sources, together, alone;
  make_world(sources);
  int codes[2] = {-1, -1};
  std::thread other([&] { codes[1] = build(sources, together).exit; });
  codes[0] = build(sources, together).exit;
  other.join();
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 0);
  EXPECT_EQ(build(sources, alone).exit, 0);
  EXPECT_EQ(outputs_of(together), outputs_of(alone));
}

constexpr const char* kTypes =
    "<CMapTypes><archetypes><Item type=\"CBaseArchetypeDef\"><lodDist value=\"60\"/><bbMin x=\"-1\" y=\"-1\" z=\"-1\"/>"
    "<bbMax x=\"1\" y=\"1\" z=\"1\"/><name>qa_bench</name><assetType>ASSET_TYPE_DRAWABLE</assetType></Item>"
    "</archetypes></CMapTypes>\n";

std::string map_of(const std::string& archetype, const char* x) {
  return "<CMapData><contentFlags value=\"1\"/><streamingExtentsMin x=\"-500\" y=\"-500\" z=\"-500\"/>"
         "<streamingExtentsMax x=\"500\" y=\"500\" z=\"500\"/><entitiesExtentsMin x=\"-99\" y=\"-99\" z=\"-99\"/>"
         "<entitiesExtentsMax x=\"99\" y=\"99\" z=\"99\"/><entities><Item type=\"CEntityDef\"><archetypeName>" +
         archetype + "</archetypeName><position x=\"" + x + "\" y=\"0\" z=\"0\"/></Item></entities></CMapData>\n";
}

TEST(Worldc, ErrorsKeepTheOldOutputs) {  // P001, WORLD-2
  const TempDir sources, output;
  sources.write("t.ytyp.xml", kTypes);
  sources.write("m.ymap.xml", map_of("qa_bench", "1"));
  ASSERT_EQ(build(sources, output).exit, 0);
  const auto before = outputs_of(output);
  sources.write("m.ymap.xml", map_of("qa_bensh", "1"));
  const ToolRun bad = build(sources, output);
  EXPECT_EQ(bad.exit, kExitRejected);
  EXPECT_NE(bad.err.find("REF001"), std::string::npos);
  EXPECT_NE(bad.err.find("did you mean 'qa_bench'?"), std::string::npos) << bad.err;
  EXPECT_EQ(outputs_of(output), before);
}

TEST(Worldc, P005TwoMapsOfOneNameNeedALayer) {
  const TempDir base, patch, output;
  base.write("t.ytyp.xml", kTypes);
  base.write("qa_dock.ymap.xml", map_of("qa_bench", "1"));
  patch.write("qa_dock.ymap.xml", map_of("qa_bench", "2"));
  const ToolRun clash = run_tool(run_worldc, Words{"check", base.path(), patch.path()});
  EXPECT_EQ(clash.exit, kExitRejected);
  EXPECT_NE(clash.err.find("NAM004"), std::string::npos) << clash.err;
  const TempDir alone;
  EXPECT_EQ(build(base, output, {"--layer", patch.path()}).exit, 0);
  EXPECT_EQ(run_tool(run_worldc, Words{"build", base.path() + "/t.ytyp.xml", patch.path(), "-o", alone.path()}).exit,
            0);
  EXPECT_EQ(output.read("imap/qa_dock.imap"), alone.read("imap/qa_dock.imap"));
}

TEST(Worldc, P053WhatRestsOnAFailedFileIsSkipped) {
  const TempDir sources;
  sources.write("t1.ytyp.xml", std::string(kTypes).substr(0, std::string(kTypes).size() - 20));
  sources.write("t2.ytyp.xml",
                "<CMapTypes><archetypes><Item type=\"CBaseArchetypeDef\"><bbMin x=\"-1\" y=\"-1\" z=\"-1\"/>"
                "<bbMax x=\"1\" y=\"1\" z=\"1\"/><name>qa_other</name></Item></archetypes></CMapTypes>");
  sources.write("m1.ymap.xml", map_of("qa_bench", "1"));
  sources.write("m3.ymap.xml", map_of("qa_other", "1"));
  const ToolRun run = run_tool(run_worldc, Words{"check", sources.path()});
  EXPECT_EQ(run.exit, kExitRejected);
  EXPECT_NE(run.err.find("failed: " + sources.path() + "/t1.ytyp.xml"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("skipped: " + sources.path() + "/m1.ymap.xml"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("m3.ymap.xml"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("REF001"), std::string::npos) << run.err;
}

TEST(Worldc, UsageAndEmptyFolders) {  // CLI-2
  const TempDir empty;
  EXPECT_EQ(run_tool(run_worldc, Words{}).exit, kExitUsage);
  EXPECT_EQ(run_tool(run_worldc, Words{"bild", "x"}).exit, kExitUsage);
  EXPECT_EQ(run_tool(run_worldc, Words{"build", empty.path()}).exit, kExitUsage);
  EXPECT_EQ(run_tool(run_worldc, Words{"check", empty.path()}).exit, kExitEnvironment);
  EXPECT_EQ(run_tool(run_worldc, Words{"check", empty.path() + "/none"}).exit, kExitEnvironment);
  EXPECT_EQ(run_tool(run_worldc, Words{"build", "--help"}).exit, 0);
}

}  // namespace
}  // namespace meridian::tools
