// SPDX-License-Identifier: MIT
// Rules: CLI-1, CLI-2, CLI-3, CLI-4, CLI-5.
#include "worldgen.h"

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver_fixture.h"
#include "gameconfigc.h"
#include "imapc.h"
#include "itypc.h"
#include "metac.h"
#include "support/temp_dir.h"
#include "tool_runner.h"
#include "world_gen/geometry.h"
#include "world_gen/lod_lights.h"
#include "world_gen/plan.h"

namespace meridian::tools {
namespace {

using test::contains;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using Words = std::vector<std::string>;

std::map<std::string, std::string> contents_of(const TempDir& dir) {
  std::map<std::string, std::string> out;
  for (const std::string& file : dir.files()) out[file] = dir.read(file);
  return out;
}

Words small(const TempDir& dir, const Words& more) {
  Words words = {"--preset", "small", "-o", dir.path()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void generate(const TempDir& dir, const Words& more) {
  const ToolRun run = run_tool(run_worldgen, small(dir, more));
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.out + run.err, "");  // CLI-3: nothing but what was asked for
}

// Several areas, so that threads have something to share.
const Words kTwoAreas = {"--maps", "70", "--entities", "4000", "--archetypes", "400", "--interiors", "5"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Worldgen, CLI4_SameOptionsGiveTheSameBytesWhateverTheThreads) {
  const TempDir one, two, again, other;
  generate(one, with(kTwoAreas, {"--compiled", "-j1"}));
  generate(two, with(kTwoAreas, {"--compiled", "-j2"}));
  generate(again, with(kTwoAreas, {"--compiled"}));
  generate(other, with(kTwoAreas, {"--compiled", "--seed", "2"}));
  const auto bytes = contents_of(one);
  EXPECT_GT(bytes.size(), 70u);
  EXPECT_TRUE(bytes == contents_of(two));
  EXPECT_TRUE(bytes == contents_of(again));
  const auto others = contents_of(other);
  size_t different = 0, maps = 0;
  for (const auto& [name, text] : bytes) {
    if (!name.ends_with(".imap")) continue;
    ++maps;
    const auto it = others.find(name);
    different += it == others.end() || it->second != text ? 1 : 0;
  }
  EXPECT_EQ(maps, 70u);
  EXPECT_GT(different, 60u);
}

TEST(Worldgen, XmlCompilesWithoutAWarningToWhatIsWrittenDirectly) {
  const TempDir xml, direct, compiled;
  for (const Words& size : {Words{}, kTwoAreas}) {
    generate(xml, with(size, {"--xml"}));
    generate(direct, with(size, {"--compiled"}));
  }
  const ToolRun run = run_tool(run_metac, {xml.path(), "--out-dir", compiled.path(), "-Werror", "-Wmissing-element"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_GT(compiled.files().size(), 80u);
  auto files = contents_of(direct);
  EXPECT_EQ(files.erase("world.widx"), 1u);  // no XML stands for the index
  EXPECT_TRUE(contents_of(compiled) == files);
}

TEST(Worldgen, EachCompilerTakesItsXmlWithoutAWarning) {
  const TempDir xml, out;
  generate(xml, {"--xml"});
  for (const test::Tool tool : {&run_imapc, &run_itypc, &run_gameconfigc}) {
    const ToolRun run = run_tool(tool, {xml.path(), "--out-dir", out.path(), "-Werror"});
    EXPECT_EQ(run.exit, 0);
    EXPECT_EQ(run.err, "");
  }
  size_t maps = 0, types = 0, configs = 0;
  for (const std::string& file : out.files()) {
    maps += file.ends_with(".imap") ? 1 : 0;
    types += file.ends_with(".ityp") ? 1 : 0;
    configs += file.ends_with(".gcfg") ? 1 : 0;
  }
  EXPECT_EQ(maps, 12u);
  EXPECT_EQ(types, 6u);
  EXPECT_EQ(configs, 1u);
}

TEST(Worldgen, CLI4_ASecondRunChangesNothing) {
  const TempDir dir;
  generate(dir, {"--compiled"});
  const ToolRun run = run_tool(run_worldgen, small(dir, {"--compiled", "--stats=json"}));
  EXPECT_EQ(run.exit, 0);
  const std::string files = std::to_string(dir.files().size());
  EXPECT_TRUE(contains(run.out, "\"files\": " + files) || contains(run.out, "\"files\":" + files)) << run.out;
  EXPECT_TRUE(contains(run.out, "\"unchanged\": " + files) || contains(run.out, "\"unchanged\":" + files)) << run.out;
  uint64_t bytes = 0;
  for (const auto& [name, text] : contents_of(dir)) bytes += text.size();
  EXPECT_TRUE(contains(run.out, std::to_string(bytes))) << run.out;
}

TEST(Worldgen, CLI2_AWrongLineIs2AndWritesNothing) {
  const TempDir dir;
  const Words to = {"-o", dir.path()};
  const std::vector<std::pair<Words, std::string>> cases = {
      {with(to, {"--xml"}), "--preset"},
      {with(to, {"--preset", "tiny", "--xml"}), "tiny"},
      {with(to, {"--preset", "small"}), "--xml or --compiled"},
      {with(to, {"--preset", "small", "--xml", "--compiled"}), "--xml or --compiled"},
      {{"--preset", "small", "--xml"}, "-o DIR"},
      {with(to, {"--preset", "huge", "--xml"}), "--compiled only"},
      {with(to, {"--preset", "small", "--xml", "--maps", "3"}), "--maps 3 is too few"},
      {with(to, {"--preset", "small", "--xml", "--entities", "20"}), "--entities 20 is too few"},
      {with(to, {"--preset", "small", "--xml", "--archetypes", "10"}), "--archetypes 10 is too few"},
      {with(to, {"--preset", "small", "--xml", "--entities", "90000"}), "does not go with --maps 12"},
      {with(to, {"--preset", "small", "--xml", "--sead", "3"}), "--seed"},  // CLI-1: suggests the near one
      {with(to, {"--preset", "small", "--xml", "more"}), "more"},
  };
  for (const auto& [words, message] : cases) {
    const ToolRun run = run_tool(run_worldgen, words);
    EXPECT_EQ(run.exit, 2) << message;
    EXPECT_TRUE(contains(run.err, message)) << run.err;
  }
  EXPECT_TRUE(dir.files().empty());
}

TEST(Worldgen, CLI2_AFolderThatCannotBeIs3) {
  const TempDir dir;
  const std::string file = dir.write("taken", "x");
  for (const std::string& path : {file, file + "/below"}) {
    const ToolRun run = run_tool(run_worldgen, {"--preset", "small", "--xml", "-o", path});
    EXPECT_EQ(run.exit, 3);
    EXPECT_TRUE(contains(run.err, "taken")) << run.err;
  }
  EXPECT_EQ(dir.read("taken"), "x");
}

TEST(Worldgen, CLI5_InterruptedIs130AndLeavesWholeFilesOnly) {
  const TempDir dir;
  const std::atomic<bool> cancel{true};
  const ToolRun run = run_tool(run_worldgen, small(dir, {"--compiled"}), {.cancel = &cancel});
  EXPECT_EQ(run.exit, 130);
  for (const std::string& file : dir.files()) EXPECT_FALSE(file.ends_with(".tmp")) << file;
}

TEST(Worldgen, CLI5_VerboseSaysALineForEachFile) {
  const TempDir dir;
  const ToolRun run = run_tool(run_worldgen, small(dir, {"--compiled", "--verbose"}));
  EXPECT_EQ(run.exit, 0);
  for (const std::string& file : dir.files()) EXPECT_TRUE(contains(run.err, file)) << file;
}

TEST(Worldgen, CLI1_HelpEndsWithExamplesAndVersionNamesFormats) {
  const ToolRun help = run_tool(run_worldgen, {"--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_TRUE(contains(help.out, "worldgen --preset city --xml -o build/city")) << help.out;
  const ToolRun version = run_tool(run_worldgen, {"--version"});
  EXPECT_EQ(version.exit, 0);
  EXPECT_TRUE(contains(version.out, ".imap")) << version.out;
}

// ---- parts of the generator that a world shows only indirectly

TEST(WorldParts, AreasTileTheWorldAndAreSmallInCities) {
  std::vector<world::Area> areas(70);
  world::lay_out(9, 2240, areas);
  double sum = 0, x0 = 0, y0 = 0, x1 = 0, y1 = 0, least = 1e18, most = 0;
  for (const world::Area& a : areas) {
    const double size = (a.x1 - a.x0) * (a.y1 - a.y0);
    sum += size;
    least = std::min(least, size);
    most = std::max(most, size);
    x0 = std::min(x0, a.x0);
    y0 = std::min(y0, a.y0);
    x1 = std::max(x1, a.x1);
    y1 = std::max(y1, a.y1);
    for (const world::Area& b : areas)
      EXPECT_FALSE(&a != &b && a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1);
  }
  EXPECT_EQ(sum, (x1 - x0) * (y1 - y0));
  EXPECT_GT(most, least * 4);  // the same number of entities: four times as dense
  // 9 x 12 km hold 8 000 maps; the area goes with their number.
  EXPECT_NEAR(sum / 1e6, 108.0 * 2240 / 8000, 0.1);
}

TEST(WorldParts, HeadingsAreUnitAndGoOnceAround) {
  double before = -1;
  for (uint32_t step = 0; step < 64; ++step) {
    const world::Rotation r = world::heading(step);
    EXPECT_NEAR(r.z * r.z + r.w * r.w, 1, 1e-6);
    const world::Point p = r.turn({1, 0, 0});
    const double angle = std::atan2(p.y, p.x) < -1e-6 ? std::atan2(p.y, p.x) + 6.283185307 : std::atan2(p.y, p.x);
    EXPECT_GT(angle, before);
    EXPECT_NEAR(angle, step * 6.283185307 / 64, 0.04);
    before = angle;
  }
  const world::Point p = world::leaning(16, 9).turn({1, 0, 0});  // leaning about x, then a quarter turn
  EXPECT_NEAR(p.x, 0, 1e-6);
  EXPECT_NEAR(p.y, 1, 1e-6);
}

// Written out from the macros of lookup3.c, for the seven words of a light.
uint32_t lookup3_of_seven(const uint32_t* k) {
  const auto rot = [](uint32_t x, int n) { return (x << n) | (x >> (32 - n)); };
  uint32_t a = 0xdeadbeef + 28, b = a, c = a;
  for (int block = 0; block < 2; ++block, k += 3) {
    a += k[0], b += k[1], c += k[2];
    a -= c, a ^= rot(c, 4), c += b;
    b -= a, b ^= rot(a, 6), a += c;
    c -= b, c ^= rot(b, 8), b += a;
    a -= c, a ^= rot(c, 16), c += b;
    b -= a, b ^= rot(a, 19), a += c;
    c -= b, c ^= rot(b, 4), b += a;
  }
  a += k[0];
  c ^= b, c -= rot(b, 14);
  a ^= c, a -= rot(c, 11);
  b ^= a, b -= rot(a, 25);
  c ^= b, c -= rot(b, 16);
  a ^= c, a -= rot(c, 4);
  b ^= a, b -= rot(a, 14);
  c ^= b, c -= rot(b, 24);
  return c;
}

TEST(WorldParts, LightHashesAreLookup3) {
  EXPECT_EQ(world::lookup3({}), 0xDEADBEEFu);  // published with lookup3.c
  const uint32_t words[2][7] = {{1, 2, 3, 4, 5, 6, 7}, {0xFFFFFFF6, 120, 31, 0xFFFFFFFB, 129, 99, 0}};
  for (const auto& w : words) EXPECT_EQ(world::lookup3(w), lookup3_of_seven(w));
}

TEST(WorldParts, ANameWhoseHashIsTakenBecomesAnother) {
  world::NameBook book;
  const uint32_t first = book.add("a0001");
  const uint32_t second = book.add("a0001");
  EXPECT_NE(first, second);
  EXPECT_EQ(book.text(first), "a0001");
  EXPECT_NE(book.text(second), "a0001");
  EXPECT_EQ(book.word("limbo"), book.word("limbo"));
}

}  // namespace
}  // namespace meridian::tools
