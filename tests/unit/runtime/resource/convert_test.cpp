// SPDX-License-Identifier: MIT
#include "meridian/resource/convert.h"

#include <gtest/gtest.h>

#include "flatbuffers/idl.h"
#include "support/traverse.h"
#include "unit/runtime/resource/small_map.h"

// FMT-30: layouts that differ are converted where no value is lost, with the differences listed; else refused.

namespace meridian {
namespace {

using test::Bytes;

Bytes schema(const std::string& types) {
  return test::compile_schema(types + " root_type R; file_identifier \"TEST\";");
}

std::string json_of(std::span<const std::byte> payload, std::span<const std::byte> bfbs) {
  flatbuffers::IDLOptions options;
  options.indent_step = -1;
  options.strict_json = false;
  options.output_default_scalars_in_json = false;
  flatbuffers::Parser parser(options);
  EXPECT_TRUE(parser.Deserialize(reinterpret_cast<const uint8_t*>(bfbs.data()), bfbs.size()));
  std::string text;
  EXPECT_TRUE(flatbuffers::GenerateText(parser, payload.data(), &text));
  return text;
}

struct Outcome {
  StatusCode code = StatusCode::ok;
  uint32_t name = 0;
  std::string json, differences;
};

/// Converts JSON of the old schema, opens the result by the new one, and gives it as JSON.
Outcome convert(const std::string& old_types, const std::string& new_types, const std::string& json) {
  const Bytes from = schema(old_types), to = schema(new_types);
  const Bytes old_bytes = test::resource_of(from, json, kind_of("TEST"));
  Result<Converted> converted = convert_resource(old_bytes, from, to);
  if (!converted.ok()) return {converted.status().code, converted.status().name.value, converted.status().message, ""};
  const Result<Resource> opened = open_resource(converted.value().bytes(), {.schema = to});
  EXPECT_TRUE(opened.ok()) << opened.status().message;
  if (!opened.ok()) return {opened.status().code, 0, "", ""};
  EXPECT_TRUE(test::Traversal(opened.value().payload(), to).run());
  return {StatusCode::ok, 0, json_of(opened.value().payload(), to), converted.value().differences()};
}

TEST(Convert, StructFieldAddedGetsItsDefaultAndIsListed) {
  const std::string before = "struct E { id:uint; size:float; } table R { e:[E]; }";
  const std::string after = "struct E { id:uint; tint:short (default:\"7\"); size:float; } table R { e:[E]; }";
  const Bytes from = schema(before), to = schema(after);
  const Bytes old_bytes = test::resource_of(from, "{e:[{id:1,size:2.5},{id:2,size:3.5}]}", kind_of("TEST"));
  EXPECT_EQ(open_resource(old_bytes, {.schema = to}).status().code, StatusCode::layout_differs);
  const Outcome out = convert(before, after, "{e:[{id:1,size:2.5},{id:2,size:3.5}]}");
  EXPECT_EQ(out.json, "{e: [{id: 1,tint: 7,size: 2.5},{id: 2,tint: 7,size: 3.5}]}");
  EXPECT_EQ(out.differences, "E.tint: added");
}

TEST(Convert, DefaultsOfStructMembersAreReadAsLanesNamesAndNumbers) {
  const Outcome out = convert("struct E { a:int; } table R { e:E; }",
                              "enum K : ubyte { none, lamp = 9 } struct Q { x:float; y:float; z:float; w:float; }"
                              "struct E { a:int; q:Q (default:\"0 0 0.5 1\"); k:K (default:\"lamp\"); b:bool "
                              "(default:\"true\"); h:ushort (default:\"0xFF\");"
                              " d:double (default:\"-2.5\"); } table R { e:E; }",
                              "{e:{a:3}}");
  EXPECT_EQ(out.json, "{e: {a: 3,q: {x: 0.0,y: 0.0,z: 0.5,w: 1.0},k: \"lamp\",b: true,h: 255,d: -2.5}}");
}

TEST(Convert, TypesAreWidenedWhereNothingIsLost) {
  const Outcome out =
      convert("struct S { b:byte; u:ushort; f:float; } table R { s:S; t:bool; v:[ubyte]; w:short = -4; }",
              "struct S { b:int; u:float; f:double; } table R { s:S; t:uint; v:[long]; w:double = -4; }",
              "{s:{b:-5,u:65535,f:0.25}, t:true, v:[0,200,255], w:-300}");
  EXPECT_EQ(out.json, "{s: {b: -5,u: 65535.0,f: 0.25},t: 1,v: [0,200,255],w: -300.0}");
  EXPECT_EQ(out.differences,
            "R.t: bool -> uint\nR.v: [ubyte] -> [long]\nR.w: short -> double\n"
            "S.b: byte -> int\nS.u: ushort -> float\nS.f: float -> double");
}

TEST(Convert, ChangesThatLoseValuesAreRefusedWithTheField) {
  const auto refused = [](const char* before, const char* after) {
    const Outcome out =
        convert(std::string("struct S { a:int; } table T { a:int; } table R { x:") + before + "; }",
                std::string("struct S { a:int; } table T { a:int; } table R { x:") + after + "; }", "{}");
    return out.code == StatusCode::no_conversion && out.name == hash_type("x").value;
  };
  EXPECT_TRUE(refused("int", "short"));
  EXPECT_TRUE(refused("int", "uint"));
  EXPECT_TRUE(refused("uint", "int"));
  EXPECT_TRUE(refused("int", "float"));
  EXPECT_TRUE(refused("long", "double"));
  EXPECT_TRUE(refused("double", "float"));
  EXPECT_TRUE(refused("float", "int"));
  EXPECT_TRUE(refused("int", "bool"));
  EXPECT_TRUE(refused("int", "string"));
  EXPECT_TRUE(refused("int", "[int]"));
  EXPECT_TRUE(refused("string", "[ubyte]"));
  EXPECT_TRUE(refused("[S]", "[string]"));
  EXPECT_FALSE(refused("uint", "long"));
  EXPECT_FALSE(refused("S", "T"));
}

TEST(Convert, FieldsAreMatchedByNameAndDroppedOnesListed) {
  const Outcome out = convert("table R { a:int; gone:string; b:string; c:[string]; }",
                              "table R { c:[string]; b:string; a:int; fresh:int = 3; }",
                              "{a:1, gone:'x', b:'text', c:['one','','three']}");
  EXPECT_EQ(out.json, "{c: [\"one\",\"\",\"three\"],b: \"text\",a: 1}");
  EXPECT_EQ(out.differences, "R.fresh: added\nR.gone: dropped");
}

TEST(Convert, AbsentFieldsKeepTheirOldMeaning) {
  EXPECT_EQ(convert("table R { a:int = 5; b:int = 1; }", "table R { a:int = 6; b:int = 1; }", "{}").json, "{a: 5}");
  EXPECT_EQ(convert("table R { a:int = null; b:int; }", "table R { b:int; a:long = null; }", "{}").json, "{}");
  EXPECT_EQ(convert("table R { a:int = null; }", "table R { a:long = null; }", "{a:0}").json, "{a: 0}");
  // In a sparse table absence itself is the value.
  EXPECT_EQ(convert("table R (sparse) { a:int = 5; }", "table R (sparse) { a:int = 6; }", "{}").json, "{}");
}

TEST(Convert, StructsAndTablesWithTheSameFieldsBecomeEachOther) {
  const std::string as_struct = "struct P { x:int; y:float; } table R { one:P; many:[P]; }";
  const std::string as_table = "table P { y:float; x:int; } table R { one:P; many:[P]; }";
  const std::string json = "{one:{x:1,y:2.5}, many:[{x:3,y:4.5},{x:5,y:0.5}]}";
  const Outcome to_table = convert(as_struct, as_table, json);
  EXPECT_EQ(to_table.json, "{one: {y: 2.5,x: 1},many: [{y: 4.5,x: 3},{y: 0.5,x: 5}]}");
  EXPECT_EQ(to_table.differences, "R.one: struct -> table\nR.many: [struct] -> [table]");
  EXPECT_EQ(convert(as_table, as_struct, json).json, "{one: {x: 1,y: 2.5},many: [{x: 3,y: 4.5},{x: 5,y: 0.5}]}");
  // A member that the table leaves out has the table's default, not the struct's.
  EXPECT_EQ(convert("table P { x:int = 9; } table R { one:P; }",
                    "struct P { x:int; z:int (default:\"2\"); } table R { one:P; }", "{one:{}}")
                .json,
            "{one: {x: 9,z: 2}}");
}

TEST(Convert, UnionMembersAreMatchedByTheirType) {
  const Outcome out = convert(
      "table A { n:int; } table B { s:string; } table C { n:int; } union U { A, B, C }"
      "table W { u:U; } table R { w:[W]; }",
      "table A { n:long; } table B { s:string; } table D { n:int; } union U { D, B, A }"
      "table W { u:U; } table R { w:[W]; }",
      "{w:[{u_type:'A',u:{n:1}},{u_type:'B',u:{s:'t'}},{u_type:'C',u:{n:2}},{}]}");
  EXPECT_EQ(out.json, "{w: [{u_type: \"A\",u: {n: 1}},{u_type: \"B\",u: {s: \"t\"}},{},{}]}");
  EXPECT_EQ(out.differences, "U.C: dropped\nU.D: added\nA.n: int -> long");
}

TEST(Convert, RequiredMembersThatTheOldDataLacksAreEmpty) {
  EXPECT_EQ(convert("table R { a:int; }",
                    "struct S { x:int (default:\"4\"); } table R { a:int; s:string (required); v:[S] (required); p:S "
                    "(required); }",
                    "{a:1}")
                .json,
            "{a: 1,s: \"\",v: [],p: {x: 4}}");
  EXPECT_EQ(convert("table R { s:string; }", "table R { s:string (required); }", "{}").json, "{s: \"\"}");
  EXPECT_EQ(convert("table T { a:int; } table R { t:T; }", "table T { a:int; } table R { t:T (required); }", "{}").code,
            StatusCode::no_conversion);
}

TEST(Convert, TypesThatContainThemselves) {
  const Outcome out =
      convert("table N { v:int; kids:[N]; } table R { n:N; }", "table N { kids:[N]; v:long; } table R { n:N; }",
              "{n:{v:1,kids:[{v:2},{v:3,kids:[{v:4}]}]}}");
  EXPECT_EQ(out.json, "{n: {kids: [{v: 2},{kids: [{v: 4}],v: 3}],v: 1}}");
}

TEST(Convert, InfoKeepsNamesAndKeptXmlAndGetsTheNewFingerprint) {
  const Bytes from(test::map_schema().bfbs.begin(), test::map_schema().bfbs.end());
  const Bytes old_bytes = test::small_map();
  Result<Converted> converted = convert_resource(old_bytes, from, test::map_schema().bfbs);
  ASSERT_TRUE(converted.ok()) << converted.status().message;
  EXPECT_STREQ(converted.value().differences(), "");
  EXPECT_EQ(converted.value().difference_count(), 0u);
  const Result<Resource> opened = open_resource(converted.value().bytes());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  EXPECT_EQ(json_of(opened.value().payload(), from), json_of(open_resource(old_bytes).value().payload(), from));
  const std::string info(reinterpret_cast<const char*>(opened.value().info().data()), opened.value().info().size());
  EXPECT_NE(info.find("lamp"), std::string::npos);
  EXPECT_NE(info.find("<x/>"), std::string::npos);
  const uint64_t fingerprint = test::map_schema().schema_fingerprint;
  EXPECT_NE(info.find(std::string(reinterpret_cast<const char*>(&fingerprint), 8)), std::string::npos);
  EXPECT_TRUE(embedded_schema(converted.value().bytes()).empty());
}

TEST(Convert, EmbeddedSchemaConvertsAndIsReplaced) {
  const Bytes from = schema("table R { a:int; }"), to = schema("table R { a:long; }");
  std::string numbers;
  for (const std::byte b : from) numbers += std::to_string(static_cast<int>(b)) + ",";
  const Bytes info_schema = test::compile_schema(
      "table N { h:uint; } table K { h:uint; } table ResourceInfo { format_version:uint; schema_fingerprint:ulong; "
      "names:[N];"
      "kept:[K]; schema:[ubyte]; } root_type ResourceInfo; file_identifier \"MINF\";");
  const Bytes info = test::payload_of(info_schema, "{format_version:1, schema:[" + numbers + "]}");
  const Bytes old_bytes = test::resource_of(from, "{a:-7}", kind_of("TEST"), info);
  const auto embedded = embedded_schema(old_bytes);
  ASSERT_EQ(Bytes(embedded.begin(), embedded.end()), from);
  // Wherever the bytes lie: embedded schemas of other writers need not be aligned.
  Result<Converted> converted = convert_resource(old_bytes, embedded, to);
  ASSERT_TRUE(converted.ok()) << converted.status().message;
  const auto now = embedded_schema(converted.value().bytes());
  EXPECT_EQ(Bytes(now.begin(), now.end()), to);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(now.data()) % 16, 0u);
  EXPECT_TRUE(verify_schema(now).ok());
  const Result<Resource> opened = open_resource(converted.value().bytes(), {.schema = to});
  EXPECT_EQ(json_of(opened.value().payload(), to), "{a: -7}");
}

TEST(Convert, BadInputsHaveTheirStatus) {
  const Bytes from = schema("table R { a:int; }"), to = schema("table R { a:long; }"),
              other = schema("table R { b:int; }");
  Bytes bytes = test::resource_of(from, "{a:5}", kind_of("TEST"));
  EXPECT_EQ(convert_resource(bytes, other, to).status().code, StatusCode::bad_schema);
  EXPECT_EQ(convert_resource(bytes, {}, to).status().code, StatusCode::bad_schema);
  EXPECT_EQ(convert_resource(bytes, std::span(from).first(40), to).status().code, StatusCode::bad_schema);
  EXPECT_EQ(convert_resource(bytes, from, test::map_schema().bfbs).status().code, StatusCode::wrong_kind);
  std::memset(bytes.data(), 0x7F, 4);
  EXPECT_EQ(convert_resource(bytes, from, to).status().code, StatusCode::bad_checksum);
  test::fix_checksum(bytes);
  EXPECT_EQ(convert_resource(bytes, from, to).status().code, StatusCode::bad_structure);
  EXPECT_EQ(convert_resource({}, from, to).status().code, StatusCode::too_small);
}

/// Fails at the n-th allocation, and sees that everything is given back with its size.
class FailingAllocator final : public Allocator {
 public:
  explicit FailingAllocator(int fail_at) : fail_at_(fail_at) {}
  ~FailingAllocator() override { EXPECT_EQ(balance_, 0); }
  void* allocate(size_t bytes, size_t) override {
    if (calls_++ == fail_at_) return nullptr;
    balance_ += static_cast<int64_t>(bytes);
    return std::malloc(bytes);
  }
  void deallocate(void* pointer, size_t bytes, size_t) override {
    balance_ -= static_cast<int64_t>(bytes);
    std::free(pointer);
  }
  int calls() const { return calls_; }

 private:
  int fail_at_, calls_ = 0;
  int64_t balance_ = 0;
};

TEST(Convert, RunningOutOfMemoryAtAnyPointIsAStatus) {
  const Bytes old_bytes = test::small_map();
  const auto bfbs = test::map_schema().bfbs;
  int fail_at = 0;
  for (bool done = false; !done; ++fail_at) {
    FailingAllocator allocator(fail_at);
    {
      const Result<Converted> converted = convert_resource(old_bytes, bfbs, bfbs, allocator);
      done = converted.ok();
      const StatusCode expected = done ? StatusCode::ok : StatusCode::out_of_memory;
      EXPECT_EQ(converted.status().code, expected) << fail_at;
    }
    EXPECT_EQ(done, allocator.calls() <= fail_at);
  }
  EXPECT_GT(fail_at, 5);
}

TEST(Convert, GrowthBeyondTheLimitIsAStatus) {
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "m" + std::to_string(i) + ":ulong;";
  const Bytes from = schema("struct S { a:ubyte; } table R { s:[S]; }");
  const Bytes to = schema("struct S { a:ubyte; " + wide + "} table R { s:[S]; }");
  std::string items;
  for (int i = 0; i < 20000; ++i) items += "{a:1},";
  const Bytes old_bytes = test::resource_of(from, "{s:[" + items + "{a:2}]}", kind_of("TEST"));
  EXPECT_EQ(convert_resource(old_bytes, from, to).status().code, StatusCode::too_large);
}

TEST(Convert, BitFlipsGiveAStatusOrSomethingThatOpens) {  // REL-4
  const std::string before =
      "struct E { id:uint; f:float; } table A { n:int; } table B { s:string; } union U { A, B }"
      "table R { e:[E]; u:U; s:[string]; t:[A]; }";
  const std::string after =
      "struct E { f:double; id:ulong; x:int; } table A { n:long; } table B { s:string; } union U { B, A }"
      "table R { t:[A]; s:[string]; u:U; e:[E]; }";
  const Bytes from = schema(before), to = schema(after);
  const Bytes good = test::resource_of(
      from, "{e:[{id:1,f:2},{id:3,f:4}], u_type:'B', u:{s:'x'}, s:['a','b'], t:[{n:1},{n:2}]}", kind_of("TEST"));
  size_t converted_count = 0;
  for (size_t bit = 0; bit < read_sections(good).value().payload.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    test::fix_checksum(bad);
    const Result<Converted> converted = convert_resource(bad, from, to);
    if (!converted.ok()) continue;
    ++converted_count;
    const Result<Resource> opened = open_resource(converted.value().bytes(), {.schema = to});
    ASSERT_TRUE(opened.ok()) << "bit " << bit << ": " << opened.status().message;
    EXPECT_TRUE(test::Traversal(opened.value().payload(), to).run());
  }
  EXPECT_GT(converted_count, 100u);
}

TEST(Convert, MovedResultsOwnTheirBytesOnce) {
  const auto bfbs = test::map_schema().bfbs;
  Result<Converted> converted = convert_resource(test::small_map(), bfbs, bfbs);
  ASSERT_TRUE(converted.ok());
  Converted first = std::move(converted.value());
  Converted second;
  second = std::move(first);
  EXPECT_TRUE(open_resource(second.bytes()).ok());
}

}  // namespace
}  // namespace meridian
