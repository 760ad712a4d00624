// SPDX-License-Identifier: MIT
// WIDX-1 and imapc --index: the archetype table of an index serves like the type files that it was made of. The world
// is that of the samples, which was written by hand.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver_fixture.h"
#include "imapc.h"
#include "itypc.h"
#include "lint/lint_compiled.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/world_index_writer.h"
#include "metac.h"
#include "resinfo.h"
#include "support/temp_dir.h"
#include "support/test_paths.h"
#include "tool_runner.h"

namespace meridian::tools {
namespace {

using test::contains;
using test::run_tool;
using test::TempDir;
using test::ToolRun;
using test::Words;

const std::string kSamples = MERIDIAN_SOURCE_DIR "/samples/data";

/// The samples, compiled, and their index.
struct SampleWorld {
  TempDir dir;
  std::string index;
  Words types;  ///< --types FILE for each
  std::vector<std::unique_ptr<LoadedResource>> files;
  LintWorld world{{.types_are_known = true, .maps_are_known = true}};

  SampleWorld() {
    EXPECT_EQ(run_tool(run_metac, {kSamples, "--out-dir", dir.path("out"), "--quiet"}).exit, 0);
    std::vector<std::string> paths;
    for (const std::string& file : dir.files()) paths.push_back(dir.path(file));
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      if (path.ends_with(".ityp")) types.insert(types.end(), {"--types", path});
      auto& file = files.emplace_back(std::make_unique<LoadedResource>());
      std::string error;
      int code = 0;
      EXPECT_TRUE(load_resource(path, {}, *file, error, code)) << path << error;
      LintUnit unit = unit_of(file->resource, NameTexts({file->names.begin(), file->names.end()}));
      unit.path = path;
      unit.stem = path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
      if (unit.config == nullptr) world.add(std::move(unit));
    }
    world.link();
    std::vector<uint8_t> bytes;
    std::string error;
    const auto size_of = [](const LintUnit&) { return 1u; };
    EXPECT_TRUE(build_world_index(world_index_input(world, size_of, {}), bytes, error)) << error;
    index = dir.path("world.widx");
    EXPECT_EQ(write_file(index, bytes, WriteMode::always).error, 0);
  }
};

const SampleWorld& samples() {
  static const SampleWorld world;
  return world;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::map<std::string, std::string> contents_of(const TempDir& dir) {
  std::map<std::string, std::string> out;
  for (const std::string& file : dir.files()) out[file] = dir.read(file);
  return out;
}

TEST(ImapcIndex, GivesTheSameMapsAndMessagesAsTheTypeFiles) {
  const TempDir by_types, by_index;
  const Words work = {kSamples + "/maps", "--extents=fix", "--flags=fix", "-Wlod-size", "--all"};
  const ToolRun a = run_tool(run_imapc, with(with(work, samples().types), {"--out-dir", by_types.path()}));
  const ToolRun b = run_tool(run_imapc, with(work, {"--index", samples().index, "--out-dir", by_index.path()}));
  EXPECT_EQ(a.exit, 0) << a.err;
  EXPECT_EQ(b.exit, 0) << b.err;
  EXPECT_EQ(a.err, b.err);
  EXPECT_GT(by_types.files().size(), 15u);
  EXPECT_TRUE(contents_of(by_types) == contents_of(by_index));
}

TEST(ImapcIndex, REF001_NamesWhatIsMissingAndWhatMayHaveBeenMeant) {
  const TempDir dir;
  std::string text;
  ASSERT_EQ(read_file(kSamples + "/maps/hv_harbour_strm_0.ymap.xml", text), 0);
  const std::string element = "<archetypeName>";
  const size_t at = text.find(element) + element.size(), end = text.find('<', at);
  ASSERT_LT(end, text.size());
  const std::string name = text.substr(at, end - at);
  text.insert(end, "x");
  const std::string path = dir.write("town.ymap.xml", text);
  const ToolRun types = run_tool(run_imapc, with({path, "-o", "/dev/null"}, samples().types));
  const ToolRun index = run_tool(run_imapc, {path, "-o", "/dev/null", "--index", samples().index});
  EXPECT_EQ(index.exit, 1);
  EXPECT_TRUE(contains(index.err, "REF001") && contains(index.err, "did you mean '" + name + "'")) << index.err;
  EXPECT_EQ(index.err, types.err);
}

TEST(ImapcIndex, MLO008_KnowsInteriorsButNotWhatIsInThem) {
  const TempDir dir;
  std::string text;
  ASSERT_EQ(read_file(kSamples + "/maps/hv_harbour_interior_office_milo_.ymap.xml", text), 0);
  const std::string element = "<numExitPortals value=\"";
  const size_t at = text.find(element);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + element.size(), "9");
  const std::string path = dir.write("hv_harbour_interior_office_milo_.ymap.xml", text);
  const ToolRun types = run_tool(run_imapc, with({path, "-o", "/dev/null"}, samples().types));
  EXPECT_TRUE(contains(types.err, "MLO009") || contains(types.err, "MLO008")) << types.err;
  const ToolRun index = run_tool(run_imapc, {path, "-o", "/dev/null", "--index", samples().index});
  EXPECT_EQ(index.exit, 0);
  EXPECT_EQ(index.err, "");
  // Something else than an interior, placed as one.
  const size_t name = text.find("<archetypeName>") + 15;
  text.replace(name, text.find('<', name) - name, "hv_prop_barrel");
  const std::string other = dir.write("other.ymap.xml", text);
  const ToolRun wrong = run_tool(run_imapc, {other, "-o", "/dev/null", "--index", samples().index});
  EXPECT_TRUE(contains(wrong.err, "is placed as an interior, but its archetype is none")) << wrong.err;
}

TEST(ImapcIndex, TypeFilesGoBeforeTheIndex) {
  // The same name with another distance: LOD rules then see that of the type file.
  const TempDir dir;
  const std::string types = dir.write(
      "own.ytyp.xml",
      "<CMapTypes><archetypes><Item type=\"CBaseArchetypeDef\"><name>qa_own</name></Item></archetypes></CMapTypes>");
  ASSERT_EQ(run_tool(run_itypc, {types, "-o", dir.path("own.ityp"), "--quiet", "--no-lint"}).exit, 0);
  const std::string map = dir.write("m.ymap.xml",
                                    "<CMapData><entities><Item type=\"CEntityDef\"><archetypeName>qa_own"
                                    "</archetypeName></Item></entities></CMapData>");
  const ToolRun alone = run_tool(run_imapc, {map, "-o", "/dev/null", "--index", samples().index});
  EXPECT_TRUE(contains(alone.err, "REF001")) << alone.err;
  const ToolRun both =
      run_tool(run_imapc, {map, "-o", "/dev/null", "--index", samples().index, "--types", dir.path("own.ityp")});
  EXPECT_FALSE(contains(both.err, "REF001")) << both.err;
}

TEST(ImapcIndex, CLI2_BadIndexIsRefusedAsABadTypeFileIs) {
  const TempDir dir;
  const std::string map = dir.write("m.ymap.xml", test::kMap);
  std::string bytes;
  ASSERT_EQ(read_file(samples().index, bytes), 0);
  const std::string cut = dir.write("cut.widx", bytes.substr(0, bytes.size() / 2));
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  const std::string flipped = dir.write("flipped.widx", bytes);
  const struct {
    std::string path;
    int exit;
    std::string message;
  } cases[] = {{cut, 1, "cut.widx: error"},
               {flipped, 1, "checksum"},
               {samples().types[1], 1, "this is no world index (.widx)"},
               {dir.path("none.widx"), 3, "none.widx"}};
  for (const auto& c : cases) {
    const ToolRun index = run_tool(run_imapc, {map, "-o", dir.path("m.imap"), "--index", c.path});
    EXPECT_EQ(index.exit, c.exit) << index.err;
    EXPECT_TRUE(contains(index.err, c.message)) << index.err;
    const ToolRun types = run_tool(run_imapc, {map, "-o", dir.path("m.imap"), "--types", c.path});
    if (c.path != samples().types[1]) {
      EXPECT_EQ(types.exit, c.exit) << types.err;
    }
  }
  const ToolRun swapped = run_tool(run_imapc, {map, "-o", dir.path("m.imap"), "--types", samples().index});
  EXPECT_EQ(swapped.exit, 1);
  EXPECT_TRUE(contains(swapped.err, "this is no compiled type file")) << swapped.err;
}

TEST(ImapcIndex, IsADependencyOfTheOutput) {
  const TempDir dir;
  const std::string map = dir.write("m.ymap.xml", test::kMap);
  const ToolRun run = run_tool(
      run_imapc, {map, "-o", dir.path("m.imap"), "--index", samples().index, "--depfile", dir.path("m.d"), "--quiet"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(contains(dir.read("m.d"), "world.widx"));
}

TEST(SampleIndex, WIDX1_HasTheGroupsOfTheManifest) {
  LoadedResource resource;
  std::string error;
  int code = 0;
  ASSERT_TRUE(load_resource(samples().index, {}, resource, error, code)) << error;
  const WorldIndex index(resource.resource);
  MapGroup group;
  ASSERT_TRUE(index.find_group(hash_name("hv_festival_night"), group));
  ASSERT_EQ(group.maps.size(), 1u);
  EXPECT_EQ(index.maps()[group.maps[0]].name, hash_name("hv_festival_night"));
  EXPECT_EQ(group.flags, MapGroup::kTimeDependent);
  EXPECT_EQ(group.hours, 16515075u);  // as samples/data/_manifest.ymf.xml has it
  EXPECT_TRUE(group.weather_types.empty());
  ASSERT_TRUE(index.find_group(hash_name("hv_storm_debris"), group));
  EXPECT_EQ(group.flags, MapGroup::kTimeDependent | MapGroup::kWeatherDependent);
  ASSERT_EQ(group.weather_types.size(), 2u);
  for (const char* const weather : {"hv_storm", "hv_gale"})
    EXPECT_EQ(std::count(group.weather_types.begin(), group.weather_types.end(), hash_name(weather)), 1) << weather;
  ASSERT_TRUE(index.find_group(hash_name("hv_pier_before"), group));
  ASSERT_EQ(group.bounds.size(), 1u);
  EXPECT_EQ(group.bounds[0], hash_name("hv_pier_intact"));
  EXPECT_EQ(index.group_count(), 4u);
}

TEST(SampleIndex, CLI1_ResinfoShowsVerifiesAndCountsAnIndex) {
  const std::string& path = samples().index;
  EXPECT_EQ(run_tool(run_resinfo, {"verify", path}).exit, 0);
  const ToolRun stats = run_tool(run_resinfo, {"stats", path});
  EXPECT_EQ(stats.exit, 0);
  EXPECT_TRUE(contains(stats.out, "20 maps, ")) << stats.out;
  for (const char* const part :
       {" bytes a map, ", " an archetype\n", "entities tree: ", "streaming tree: ", " levels, "})
    EXPECT_TRUE(contains(stats.out, part)) << part << stats.out;
  const ToolRun json = run_tool(run_resinfo, {"stats", "--json", path});
  for (const char* const part : {"\"index\"", "\"bytes_per_map\"", "\"bytes_per_archetype\"", "\"depth\""})
    EXPECT_TRUE(contains(json.out, part)) << part << json.out;
  const ToolRun dump = run_tool(run_resinfo, {"dump", path});
  EXPECT_EQ(dump.exit, 0);
  EXPECT_TRUE(contains(dump.out, "\"name\": \"hv_harbour\"")) << dump.out.substr(0, 400);
  EXPECT_EQ(run_tool(run_resinfo, {"diff", path, path}).exit, 0);
  // The linker makes it; there is no XML of it, neither to write nor to read.
  const ToolRun xml = run_tool(run_resinfo, {"dump", "--xml", path});
  EXPECT_EQ(xml.exit, 2);
  EXPECT_TRUE(contains(xml.err, "no XML")) << xml.err;
  const TempDir dir;
  const std::string source = dir.write("a.xml", "<WorldIndex><maps/></WorldIndex>");
  const ToolRun compiled = run_tool(run_metac, {source, "-o", dir.path("a.widx")});
  EXPECT_EQ(compiled.exit, 1);
  EXPECT_TRUE(contains(compiled.err, "belongs to no built-in schema") || contains(compiled.err, "root element"))
      << compiled.err;
}

}  // namespace
}  // namespace meridian::tools
