// SPDX-License-Identifier: MIT
// Rule: PACK-5 (patch packs of worldc).
#include "meridian/tools/world_patch.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pack_kit.h"
#include "support/temp_dir.h"
#include "tool_runner.h"
#include "world_makers.h"
#include "worldgen.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using test::build;
using test::contents_of;
using test::map_of;
using test::open_file;
using test::PackContents;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using test::types_of;
using Words = std::vector<std::string>;

/// What a game sees that mounts a patch over its base.
PackContents mounted(const std::string& base, const std::string& patch) {
  PackContents out = contents_of(base);
  const auto file = open_file(patch);
  EXPECT_TRUE(file->pack().is_patch());
  EXPECT_EQ(file->pack().base_content(), open_file(base)->pack().content_hash());
  for (const PackKey& key : file->pack().removed()) EXPECT_EQ(out.erase({key.kind, key.name.value}), 1u);
  for (auto& [key, bytes] : contents_of(patch)) out[key] = bytes;
  return out;
}

struct Fixture {
  Fixture() {
    sources.write("props.ytyp.xml", types_of({"qa_bench"}));
    for (const char* name : {"stays", "changes", "goes"})
      sources.write(std::string(name) + ".ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
    EXPECT_EQ(build(sources, output).exit, 0);
    fs::copy_file(output.path("world.mpk"), release.path("1.mpk"));
  }
  TempDir sources, output, release;
};

TEST(WorldPatch, HoldsWhatChangedAndMountedIsTheNewWorld) {
  const Fixture f;
  f.sources.write("changes.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  f.sources.write("comes.ymap.xml", map_of({{"qa_bench", 3, 0, 0}}));
  fs::remove(f.sources.path("goes.ymap.xml"));
  const ToolRun run = build(f.sources, f.output, {"--patch-from", f.release.path("1.mpk"), "--stats"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const auto patch = open_file(f.output.path("patch.mpk"));
  std::set<std::string> names, removed;
  for (const PackEntry& e : patch->pack().entries()) names.emplace(patch->pack().text_of(e.name));
  for (const PackKey& k : patch->pack().removed()) removed.emplace(patch->pack().text_of(k.name));
  EXPECT_EQ(names, (std::set<std::string>{"changes", "comes", "world"}));
  EXPECT_EQ(removed, std::set<std::string>{"goes"});
  EXPECT_NE(run.out.find("patch_entries                3\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("patch_removed                1\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("patch_unchanged              2\n"), std::string::npos) << run.out;
  EXPECT_EQ(mounted(f.release.path("1.mpk"), f.output.path("patch.mpk")), contents_of(f.output.path("world.mpk")));
}

TEST(WorldPatch, OfAWorldThatIsBuiltAlready) {
  const Fixture f;
  f.sources.write("changes.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  ASSERT_EQ(build(f.sources, f.output).exit, 0);
  ASSERT_EQ(build(f.sources, f.output, {"--patch-from", f.release.path("1.mpk")}).exit, 0);
  EXPECT_EQ(mounted(f.release.path("1.mpk"), f.output.path("patch.mpk")), contents_of(f.output.path("world.mpk")));
  // Against the same world: nothing has changed.
  fs::copy_file(f.output.path("world.mpk"), f.release.path("2.mpk"));
  ASSERT_EQ(build(f.sources, f.output, {"--patch-from", f.release.path("2.mpk")}).exit, 0);
  const auto none = open_file(f.output.path("patch.mpk"));
  EXPECT_TRUE(none->pack().entries().empty() && none->pack().removed().empty() && none->pack().is_patch());
}

TEST(WorldPatch, HowTheReleaseWasCompressedMakesNoDifference) {
  const Fixture f;
  ASSERT_EQ(build(f.sources, f.output, {"--level=0", "--no-names"}).exit, 0);
  fs::copy_file(f.output.path("world.mpk"), f.release.path("plain.mpk"));
  ASSERT_EQ(build(f.sources, f.output, {"--level=0", "--patch-from", f.release.path("plain.mpk")}).exit, 0);
  ASSERT_EQ(build(f.sources, f.output, {"--level=19", "--patch-from", f.release.path("1.mpk")}).exit, 0);
  EXPECT_TRUE(open_file(f.output.path("patch.mpk"))->pack().entries().empty());
}

// The pack that a build replaces is no base: built twice, the second patch would be empty, and the release gone.
TEST(WorldPatch, RefusesThePackThatItReplaces) {
  const Fixture f;
  ASSERT_EQ(build(f.sources, f.output).exit, 0);
  const auto before = f.output.read("world.mpk");
  f.sources.write("changes.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  const ToolRun run = build(f.sources, f.output, {"--patch-from", f.output.path("./world.mpk")});
  EXPECT_EQ(run.exit, 2);
  EXPECT_NE(run.err.find("is what this build replaces"), std::string::npos) << run.err;
  EXPECT_EQ(f.output.read("world.mpk"), before);
  EXPECT_FALSE(fs::exists(f.output.path("patch.mpk")));
}

TEST(WorldPatch, RefusesWhatIsNoWholePack) {
  const Fixture f;
  EXPECT_EQ(build(f.sources, f.output, {"--patch-from", f.release.path("none.mpk")}).exit, kExitEnvironment);
  EXPECT_EQ(build(f.sources, f.output, {"--patch-from", f.sources.path("stays.ymap.xml")}).exit, kExitRejected);
  EXPECT_EQ(build(f.sources, f.output, {"--no-pack", "--patch-from", f.release.path("1.mpk")}).exit, kExitUsage);
  ASSERT_EQ(build(f.sources, f.output, {"--patch-from", f.release.path("1.mpk")}).exit, 0);
  const ToolRun chained = build(f.sources, f.output, {"--patch-from", f.output.path("patch.mpk")});
  EXPECT_EQ(chained.exit, kExitRejected);
  EXPECT_NE(chained.err.find("this is a patch itself"), std::string::npos) << chained.err;
}

TEST(WorldPatch, OfAGeneratedWorld) {
  const TempDir sources, output, release;
  ASSERT_EQ(run_tool(run_worldgen, Words{"--preset", "small", "--xml", "-o", sources.path()}).exit, 0);
  ASSERT_EQ(build(sources, output, {"--dictionaries"}).exit, 0);
  fs::copy_file(output.path("world.mpk"), release.path("1.mpk"));
  // Another seed: of some names other content, and other names.
  fs::remove_all(sources.path());
  fs::create_directory(sources.path());
  ASSERT_EQ(run_tool(run_worldgen, Words{"--preset", "small", "--seed", "2", "--xml", "-o", sources.path()}).exit, 0);
  ASSERT_EQ(build(sources, output, {"--dictionaries", "--patch-from", release.path("1.mpk")}).exit, 0);
  EXPECT_EQ(mounted(release.path("1.mpk"), output.path("patch.mpk")), contents_of(output.path("world.mpk")));
}

}  // namespace
}  // namespace meridian::tools
