// SPDX-License-Identifier: MIT
// Loading, dumping and counting resources; what is damaged is refused (REL-4, P083, FMT-30).
#include "meridian/tools/resource_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "support/compile_kit.h"
#include "unit/tools/json_checker.h"

namespace meridian::test {
namespace {

using tools::LoadedResource;

bool loads(const TempDir& dir, std::string_view bytes, std::string& error, int& exit_code) {
  LoadedResource out;
  return tools::load_resource(dir.write("r.imap", bytes), {}, out, error, exit_code);
}
std::string_view chars(const std::vector<uint8_t>& v) { return {reinterpret_cast<const char*>(v.data()), v.size()}; }

std::string sample() {
  return entities(entity("<extensions><Item type=\"CExtensionDefDoor\"><name>qa_door</name></Item><Item "
                         "type=\"QaOdd\"/></extensions><qaOdd/>") +
                  entity("<groupId value=\"1\"/>", "CMloInstanceDef"));
}

TEST(LoadResource, ReadsWhatWasCompiled) {
  const Compiled c = compile(kImap, sample());
  const auto r = load(c.result.bytes);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->resource.kind(), kImap);
  EXPECT_EQ(r->binding->kind(), kImap);
  EXPECT_GE(r->format_version, 1u);
  EXPECT_EQ(r->names.size(), 3u);
  EXPECT_EQ(r->warning, "");
  EXPECT_EQ(r->bytes.size(), c.result.bytes.size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(r->bytes.data()) % 8, 0u);
  EXPECT_EQ(r->kept.size(), 2u);
  EXPECT_EQ(r->kept.count("entities[0]"), 1u);
}

TEST(LoadResource, ExitCodesTellMissingFromRefused) {
  const TempDir dir;
  LoadedResource out;
  std::string error;
  int exit_code = 0;
  EXPECT_FALSE(tools::load_resource(dir.path("nope.imap"), {}, out, error, exit_code));
  EXPECT_EQ(exit_code, 3);
  EXPECT_FALSE(error.empty());
  EXPECT_FALSE(loads(dir, "", error, exit_code));
  EXPECT_EQ(exit_code, 1);
  EXPECT_FALSE(loads(dir, "<CMapData/>", error, exit_code));
  EXPECT_EQ(exit_code, 1);
  EXPECT_FALSE(tools::load_resource(dir.path(), {}, out, error, exit_code));  // a folder
  EXPECT_EQ(exit_code, 3);
}

TEST(LoadResource, Rel4EveryTruncationIsRefused) {
  const Compiled c = compile(kImap, sample());
  const TempDir dir;
  std::string error;
  int exit_code = 0;
  for (size_t n = 0; n < c.result.bytes.size(); ++n) {
    ASSERT_FALSE(loads(dir, chars(c.result.bytes).substr(0, n), error, exit_code)) << n;
    ASSERT_FALSE(error.empty());
  }
  std::string more(chars(c.result.bytes));
  more += '\0';
  EXPECT_FALSE(loads(dir, more, error, exit_code));
}

TEST(LoadResource, Rel4EverySingleBitFlipIsRefused) {
  const Compiled c = compile(kImap, sample());
  std::vector<uint8_t> bytes = c.result.bytes;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(open_resource(std::as_bytes(std::span(bytes))).ok()) << "byte " << i << " bit " << bit;
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ (1 << bit));
    }
}

TEST(LoadResource, P083MisalignedBytesAreRefusedByName) {
  const Compiled c = compile(kImap, sample());
  std::vector<uint64_t> room(c.result.bytes.size() / 8 + 8);
  auto* base = reinterpret_cast<uint8_t*>(room.data());
  while (reinterpret_cast<uintptr_t>(base) % 16 != 0) ++base;
  for (const size_t shift : {size_t{1}, size_t{2}, size_t{4}, size_t{8}}) {
    std::memcpy(base + shift, c.result.bytes.data(), c.result.bytes.size());
    EXPECT_EQ(open_resource(std::as_bytes(std::span(base + shift, c.result.bytes.size()))).status().code,
              StatusCode::misaligned)
        << shift;
  }
}

TEST(LoadResource, AnEmbeddedSchemaIsEnoughForAUsersOwnKind) {
  const TempDir dir;
  std::vector<std::string> read;
  std::string error;
  const auto bfbs = tools::compile_schema_file(
      dir.write("q.fbs", "table R { a:int; }\nroot_type R; file_identifier \"QAQA\";"), {}, read, error);
  const auto binding = tools::Binding::create(bfbs, error);
  tools::CompileOptions options;
  const Compiled plain = compile_with(*binding, "<R><a value=\"5\"/></R>", options);
  options.embed_schema = true;
  const Compiled embedded = compile_with(*binding, "<R><a value=\"5\"/></R>", options);
  LoadedResource out;
  int exit_code = 0;
  EXPECT_FALSE(tools::load_resource(dir.write("p.mmeta", chars(plain.result.bytes)), {}, out, error, exit_code));
  EXPECT_EQ(exit_code, 1);
  ASSERT_TRUE(tools::load_resource(dir.write("e.mmeta", chars(embedded.result.bytes)), {}, out, error, exit_code))
      << error;
  EXPECT_TRUE(contains(tools::dump_xml(out), "<a value=\"5\" />"));
  // Moved, its views still hold.
  LoadedResource moved = std::move(out);
  EXPECT_TRUE(contains(tools::dump_xml(moved), "<a value=\"5\" />"));
}

TEST(LoadResource, AnOlderLayoutIsConvertedByItsEmbeddedSchema) {
  const TempDir dir;
  std::vector<std::string> read;
  std::string error;
  const auto old_bfbs =
      tools::compile_schema_file(dir.write("o.fbs",
                                           "include \"meridian/xml.fbs\";\nstruct S { a:int; } table R { s:[S]; n:uint "
                                           "(joaat); }\nroot_type R; file_identifier \"QAQA\";"),
                                 {}, read, error);
  const auto new_bfbs = tools::compile_schema_file(
      dir.write("n.fbs",
                "include \"meridian/xml.fbs\";\nstruct S { b:float (default:\"1.5\"); a:int; } table R { s:[S]; n:uint "
                "(joaat); }\nroot_type R; file_identifier \"QAQA\";"),
      {}, read, error);
  const auto old_binding = tools::Binding::create(old_bfbs, error);
  tools::CompileOptions options;
  options.embed_schema = true;
  const Compiled c =
      compile_with(*old_binding, "<R><s><Item><a value=\"5\"/></Item></s><n>qa_name</n><qaKept/></R>", options);
  LoadedResource out;
  int exit_code = 0;
  tools::LoadOptions by_new;
  by_new.schema = new_bfbs;
  ASSERT_TRUE(tools::load_resource(dir.write("c.mmeta", chars(c.result.bytes)), by_new, out, error, exit_code))
      << error;
  EXPECT_NE(out.warning, "");
  const std::string dump = tools::dump_xml(out);
  EXPECT_TRUE(contains(dump, "<a value=\"5\" />")) << dump;
  EXPECT_TRUE(contains(dump, "<b value=\"1.5\" />")) << dump;
}

TEST(DumpJson, IsJsonWithNamesAndKeptThings) {
  const auto r = load(compile(kImap, sample()).result.bytes);
  const std::string json = tools::dump_json(*r);
  EXPECT_TRUE(JsonReader::read(json).has_value()) << json;
  for (const char* text : {"\"kind\": \"IMAP\"", "\"archetype_name\": \"qa_box\"",
                           "\"lod_level\": \"LODTYPES_DEPTH_ORPHANHD\"", "\"kept\"", "<qaOdd/>", "qa_door", "DoorDef"})
    EXPECT_TRUE(contains(json, text)) << text << "\n" << json;
}

TEST(Stats, CountVectorsAndBytes) {
  const auto r = load(compile(kImap, sample()).result.bytes);
  const std::string text = tools::stats_text(*r);
  EXPECT_TRUE(contains(text, "entities")) << text;
  EXPECT_TRUE(contains(text, "2 in 168 bytes")) << text;  // two entities of 84 bytes
  EXPECT_TRUE(contains(text, "3 names")) << text;
  EXPECT_TRUE(contains(text, "2 kept")) << text;
  EXPECT_TRUE(JsonReader::read(tools::stats_json(*r)).has_value());
}

TEST(SchemaText, ShowsTypesAttributesAndDocs) {
  const auto r = load(compile(kImap, "<CMapData/>").result.bytes);
  const std::string text = tools::schema_text(*r);
  for (const char* part : {"struct EntityDef", "archetype_name:uint", "archetypeName\"", "joaat", "// 84 bytes",
                           "root_type MapData;", "file_identifier \"IMAP\";", "/// Draw distance"})
    EXPECT_TRUE(contains(text, part)) << part;
  EXPECT_TRUE(contains(text, "lod_fade_start_dist:float = 20")) << "defaults of floats too";
}

}  // namespace
}  // namespace meridian::test
