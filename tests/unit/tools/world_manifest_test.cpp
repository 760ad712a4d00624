// SPDX-License-Identifier: MIT
// Rule: WORLD-1. world.json: what it says, what is wrong with it and where.
#include "meridian/tools/world_manifest.h"

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "support/test_paths.h"
#include "tool_runner.h"
#include "world_makers.h"
#include "worldc.h"

namespace meridian::tools {
namespace {

using test::map_of;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using test::types_of;
using Words = std::vector<std::string>;

/// "line:column message", one a line, of a manifest with this text; a folder `maps` is beside it.
std::string refusal(const std::string& text, int exit = kExitUsage) {
  const TempDir dir;
  dir.write("maps/t.ytyp.xml", types_of({"qa_bench"}));
  const std::string path = dir.write("world.json", text);
  const ToolRun run = run_tool(run_worldc, Words{"check", path});
  EXPECT_EQ(run.exit, exit) << run.err;
  std::string out;
  for (size_t at = run.err.find(path + ":"); at != std::string::npos; at = run.err.find(path + ":", at + 1)) {
    const std::string line = run.err.substr(at + path.size() + 1, run.err.find('\n', at) - at - path.size() - 1);
    out += line.substr(0, line.find(" error:")) + line.substr(line.find("error:") + 6);
    out.resize(out.rfind(" ["));
    out += "\n";
  }
  return out;
}

TEST(WorldManifest, SaysWhatIsWrongWithItsPlace) {
  EXPECT_EQ(refusal("{\n \"layer\": []\n}"), "2:2: 'layer' is no key of a world manifest; did you mean 'layers'?\n");
  EXPECT_EQ(refusal("{\"zzzzzz\": 1}"),
            "1:2: 'zzzzzz' is no key of a world manifest; there are: layers, groups, "
            "permanent, rules, extents, flags\n");
  EXPECT_EQ(refusal("[]"), "1:1: a world manifest is an object, not an array\n");
  EXPECT_EQ(refusal("{\"layers\": {}}"), "1:12: layers is an array, not an object\n");
  EXPECT_EQ(refusal("{\"layers\": [{\"name\": \"a\"}]}"), "1:13: a layer needs a path\n");
  EXPECT_EQ(refusal("{\"layers\": [{\"path\": 7}]}"), "1:22: a layer's path is a string, not a number\n");
  EXPECT_EQ(refusal("{\"layers\": [{\"path\": \"maps\", \"order\": 1.5}]}"),
            "1:39: a layer's order is a whole number from -1000000 to 1000000, not 1.5\n");
  EXPECT_EQ(refusal("{\"layers\": [{\"name\": \"a\", \"path\": \"maps\"},\n{\"name\": \"a\", \"path\": \"maps/\"}]}"),
            "2:10: two layers have the name 'a'\n2:23: layer 'a' is the folder of layer 'a' once more\n");
  EXPECT_EQ(refusal("{\"groups\": [{\"maps\": []}]}"), "1:13: a group needs a name\n");
  EXPECT_EQ(refusal("{\"groups\": [{\"name\": \"g\", \"hours\": [24]}]}"),
            "1:37: an hour is a whole number from 0 to 23, not 24\n");
  EXPECT_EQ(refusal("{\"groups\": [{\"name\": \"g\", \"hours\": [3, 3]}]}"), "1:40: hour 3 stands here twice\n");
  EXPECT_EQ(refusal("{\"groups\": [{\"name\": \"g\", \"weathers\": [\"rain\", \"RAIN\"]}]}"),
            "1:48: weather 'RAIN' is given twice\n");
  EXPECT_EQ(refusal("{\"groups\": [{\"name\": \"g\", \"maps\": [\"m\"]},\n {\"name\": \"G\", \"maps\": [\"M\"]}]}"),
            "2:11: two groups have the name 'G'\n2:25: map 'M' is in group 'g' already; one group switches a map\n");
  EXPECT_EQ(refusal("{\"permanent\": [\"a\", \"A\"]}"), "1:21: 'A' stands here twice\n");
  EXPECT_EQ(refusal("{\"rules\": {\"REF02\": \"off\"}}"), "1:12: 'REF02' is no rule; did you mean 'REF002'?\n");
  EXPECT_EQ(refusal("{\"rules\": {\"REF002\": \"of\"}}"),
            "1:22: 'of' is no severity; there are: error, warning, note, off\n");
  EXPECT_EQ(refusal("{\"rules\": {\"REF002\": \"off\", \"manifest-dependency\": \"note\"}}"),
            "1:29: rule REF002 stands here twice, by code and by name\n");
  EXPECT_EQ(refusal("{\"extents\": \"unoin\"}"),
            "1:13: extents is one of keep, fix, union, not 'unoin'; did you mean 'union'?\n");
  EXPECT_EQ(refusal("{\"flags\": \"union\"}"), "1:11: flags is one of keep, fix, not 'union'\n");
  EXPECT_EQ(refusal("{\"flags\": \"fix\",}"), "1:17: a comma stands before the closing brace\n");
  // Each thing is said, not the first alone.
  EXPECT_EQ(refusal("{\"a\": 1,\n\"flags\": 2}"),
            "1:2: 'a' is no key of a world manifest; there are: layers, groups, "
            "permanent, rules, extents, flags\n2:10: flags is a string, not a number\n");
}

TEST(WorldManifest, ALayerThatIsNotThereIsAMissingFolder) {
  const std::string told = refusal("{\"layers\": [\n{\"name\": \"winter\", \"path\": \"wintr\"}]}", kExitEnvironment);
  EXPECT_EQ(told.substr(0, told.find(": cannot")), "2:28: layer 'winter'");
  EXPECT_NE(told.find("/wintr: No such file or directory"), std::string::npos) << told;
}

TEST(WorldManifest, TwoManifestsAreOneTooMany) {
  const TempDir dir;
  dir.write("a/world.json", "{}");
  dir.write("b/world.json", "{}");
  const ToolRun run = run_tool(run_worldc, Words{"check", dir.path("a"), dir.path("b")});
  EXPECT_EQ(run.exit, kExitUsage);
  EXPECT_NE(run.err.find("two world manifests: "), std::string::npos) << run.err;
}

TEST(WorldManifest, EachKeyIsInTheTableOfKeys) {
  std::ifstream file(std::string(MERIDIAN_SOURCE_DIR) + "/docs/worlds.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto look = [&](const std::string& manifest, const std::string& before) {
    const std::string told = refusal(manifest), mark = "there are: ";
    ASSERT_NE(told.find(mark), std::string::npos) << told;
    std::stringstream keys(told.substr(told.find(mark) + mark.size()));
    for (std::string key; keys >> key;) {
      if (key.ends_with(',')) key.pop_back();
      EXPECT_NE(page.find("\n| `" + before + key + "` |"), std::string::npos) << before << key;
    }
  };
  look("{\"zzzzzzzz\": 1}", "");
  look("{\"layers\": [{\"path\": \"maps\", \"zzzzzzzz\": 1}]}", "layers[].");
  look("{\"groups\": [{\"name\": \"g\", \"zzzzzzzz\": 1}]}", "groups[].");
}

TEST(WorldManifest, ReadsAllOfIt) {
  const TempDir dir;
  dir.write("maps/m.ymap.xml", "");
  dir.write("winter/m.ymap.xml", "");
  const std::string path = dir.write("world.json", R"({
    "layers": [{"name": "base", "path": "maps", "order": 3}, {"path": "winter"}],
    "groups": [{"name": "market", "maps": ["night", "day"], "hours": [0, 23], "weathers": ["rain"]}, {"name": "pier"}],
    "permanent": ["props"],
    "rules": {"REF002": "error", "lod-size": "note", "NAM002": "off"},
    "extents": "union", "flags": "fix"})");
  ToolIo io;
  Report report(io, "worldc");
  const auto world = read_world_manifest(path, report);
  ASSERT_NE(world, nullptr);
  ASSERT_EQ(world->layers.size(), 2u);
  EXPECT_EQ(world->layers[0].path, dir.path("maps"));
  EXPECT_EQ(world->layers[0].order, 3);
  EXPECT_EQ(world->layers[1].name, "winter");
  EXPECT_EQ(world->layers[1].order, 4);  // one more than the one before
  ASSERT_EQ(world->groups.size(), 2u);
  ASSERT_EQ(world->groups[0].maps.size(), 2u);
  EXPECT_EQ(world->groups[0].maps[1].text, "day");
  EXPECT_EQ(world->groups[0].hours, 1u | 1u << 23);
  EXPECT_EQ(world->groups[0].weathers, std::vector<std::string>{"rain"});
  EXPECT_EQ(world->groups[1].maps.at(0).text, "pier");
  EXPECT_FALSE(world->groups[1].hours.has_value());
  EXPECT_EQ(world->permanent.at(0).text, "props");
  EXPECT_EQ(world->extents, Repair::unite);
  EXPECT_EQ(world->flags, Repair::fix);
  WorldBuildOptions options;
  use_world_manifest(world, options);
  EXPECT_EQ(options.policy.severity_of(rules::manifest_dependency, Severity::warning), Severity::error);
  EXPECT_EQ(options.policy.severity_of(rules::lod_size, Severity::warning), Severity::note);
  EXPECT_EQ(options.policy.severity_of(rules::suspicious_name, Severity::warning), std::nullopt);
}

TEST(WorldManifest, LayersStandForTheFolderAndTheCommandLineComesLast) {
  WorldManifest world;
  world.path = "maps/world.json";
  const std::vector<std::string> sources = {"maps/", "other"}, overlays = {"patch"};
  const auto text = [&](std::span<const std::string> from) {
    std::string out;
    for (const WorldLayer& l : world_layers(&world, from, overlays))
      out += l.path + "=" + std::to_string(l.order) + " ";
    return out;
  };
  EXPECT_EQ(text(sources), "maps/=0 other=0 patch=1 ");
  const std::vector<std::string> by_name = {"maps/world.json"};
  EXPECT_EQ(text(by_name), "maps=0 patch=1 ");
  world.layers = {{"top", "maps/top", 7}, {"base", "maps/base", 2}};
  EXPECT_EQ(text(sources), "other=2 maps/base=2 maps/top=7 patch=8 ");
  EXPECT_EQ(text(by_name), "maps/base=2 maps/top=7 patch=8 ");
}

/// A world of three maps and a type file, and a manifest.
struct SmallWorld {
  SmallWorld() {
    sources.write("maps/props.ytyp.xml", types_of({"qa_bench"}));
    for (const char* name : {"one", "two", "three"})
      sources.write(std::string("maps/") + name + ".ymap.xml", map_of({{"qa_bench", 1, 0, 0}}));
  }
  ToolRun build(const std::string& manifest, Words more = {}) const {
    Words words = {"build", sources.write("world.json", manifest), "-o", output.path()};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(run_worldc, words);
  }
  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> out;
    for (const std::string& file : output.files())
      if (!file.starts_with(".worldc")) out[file] = output.read(file);
    return out;
  }
  TempDir sources, output;
};

TEST(WorldManifest, NamesWhatTheWorldLacks) {
  const SmallWorld world;
  const char* const text =
      "{\"layers\": [{\"path\": \"maps\"}],\n\"groups\": [{\"name\": \"g\", \"maps\": [\"one\", \"thre\"]}],\n"
      "\"permanent\": [\"props\", \"propz\"]}";
  const ToolRun run = world.build(text);
  EXPECT_EQ(run.exit, kExitDone);  // warnings
  const std::string path = world.sources.path("world.json");
  EXPECT_NE(
      run.err.find(path + ":2:42: warning: group 'g' switches map 'thre', which is not in this world; did you mean "
                          "'three'? [REF004 unknown-file]"),
      std::string::npos)
      << run.err;
  EXPECT_NE(
      run.err.find(path + ":3:24: warning: permanent type file 'propz' is not in this world; did you mean 'props'?"),
      std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("'one'"), std::string::npos) << run.err;
  const ToolRun again = world.build(text, {"--stats"});
  EXPECT_NE(again.err.find("'thre'"), std::string::npos);  // said again though there is nothing to do
  EXPECT_NE(again.out.find("written                      0"), std::string::npos) << again.out;
  const ToolRun strict = world.build(std::string(text).insert(1, "\"rules\": {\"REF004\": \"error\"},"));
  EXPECT_EQ(strict.exit, kExitRejected);
  EXPECT_EQ(world.build(std::string(text).insert(1, "\"rules\": {\"REF004\": \"off\"},")).err, "");
}

TEST(WorldManifest, TheCommandLineGoesBeforeIt) {
  const SmallWorld world;
  world.sources.write("maps/far.ymap.xml", map_of({{"qa_bench", 5000, 0, 0}}));  // outside its extents
  EXPECT_NE(world.build("{}").err.find("EXT001"), std::string::npos);
  EXPECT_EQ(world.build("{\"rules\": {\"EXT001\": \"off\"}}").err.find("EXT001"), std::string::npos);
  EXPECT_NE(world.build("{\"rules\": {\"EXT001\": \"off\"}}", {"-WEXT001"}).err.find("EXT001"), std::string::npos);
  EXPECT_EQ(world.build("{\"rules\": {\"EXT001\": \"error\"}}").exit, kExitRejected);
  EXPECT_EQ(world.build("{\"rules\": {\"EXT001\": \"error\"}}", {"-Wno-EXT001"}).exit, kExitDone);
  const std::string kept = world.output.read("imap/far.imap");
  EXPECT_EQ(world.build("{\"extents\": \"fix\"}").exit, kExitDone);
  EXPECT_NE(world.output.read("imap/far.imap"), kept);
  EXPECT_EQ(world.build("{\"extents\": \"fix\"}", {"--extents=keep"}).exit, kExitDone);
  EXPECT_EQ(world.output.read("imap/far.imap"), kept);
}

TEST(WorldManifest, AChangeRebuildsWhatItBearsOn) {
  const SmallWorld world;
  world.sources.write("maps/far.ymap.xml", map_of({{"qa_bench", 5000, 0, 0}}));
  world.sources.write("winter/two.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  const std::string layers = "{\"layers\": [{\"path\": \"maps\"}]";
  ASSERT_EQ(world.build(layers + "}").exit, kExitDone);
  // Severities and groups are in no output.
  EXPECT_EQ(world
                .build(layers + ", \"rules\": {\"EXT001\": \"off\"}, \"groups\": [{\"name\": \"one\"}]}",
                       {"--explain-rebuild"})
                .out,
            "");
  // What is repaired is; where that makes no difference, the file stays.
  const auto before = world.outputs();
  const std::string extents = world.build(layers + ", \"extents\": \"union\"}", {"--explain-rebuild"}).out;
  EXPECT_TRUE(extents.starts_with("imap/far.imap: ")) << extents;
  EXPECT_NE(world.output.read("imap/far.imap"), before.at("imap/far.imap"));
  EXPECT_EQ(world.output.read("imap/one.imap"), before.at("imap/one.imap"));
  // A layer bears on the maps that it replaces.
  const std::string winter = "{\"layers\": [{\"path\": \"maps\"}, {\"path\": \"winter\"}], \"extents\": \"union\"}";
  const ToolRun layered = world.build(winter, {"--explain-rebuild"});
  EXPECT_EQ(layered.exit, kExitDone) << layered.err;
  EXPECT_TRUE(layered.out.starts_with("imap/two.imap: ")) << layered.out;
  EXPECT_EQ(layered.out.find("imap/one"), std::string::npos) << layered.out;
  const auto after = world.outputs();
  const SmallWorld clean;
  clean.sources.write("maps/far.ymap.xml", map_of({{"qa_bench", 5000, 0, 0}}));
  clean.sources.write("winter/two.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  ASSERT_EQ(clean.build(winter).exit, kExitDone);
  EXPECT_EQ(after, clean.outputs());
}

TEST(WorldManifest, ALayerInsideAnotherIsNoPartOfIt) {
  const SmallWorld world;
  world.sources.write("maps/winter/two.ymap.xml", map_of({{"qa_bench", 2, 0, 0}}));
  const ToolRun run = world.build("{\"layers\": [{\"path\": \"maps\"}, {\"path\": \"maps/winter/\"}]}");
  EXPECT_EQ(run.exit, kExitDone) << run.err;
  EXPECT_EQ(run.err.find("maps/winter/two.ymap.xml:1:2: note: map"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("maps/two.ymap.xml"), std::string::npos) << run.err;  // the one that is shadowed
}

}  // namespace
}  // namespace meridian::tools
