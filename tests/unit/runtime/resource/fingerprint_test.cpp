// SPDX-License-Identifier: MIT
#include "meridian/resource/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

#include "meridian/compat/released_schemas.h"
#include "support/schema_text.h"

// FMT-30 (fingerprints), FMT-31 (the check of what reads in place), FMT-21 (schemas are checked before use).

namespace meridian {
namespace {

using test::Bytes;

Bytes schema(const std::string& types) {
  return test::compile_schema(types + " root_type R; file_identifier \"TEST\"; file_extension \"test\";");
}
const char* const kBase =
    "\n/// Doc.\nenum E : ubyte { a, b } struct S { x:float; e:E; } table M { n:int; } union U { M }"
    "table R { s:S (xml:\"ess\"); v:[S]; u:U; n:int = 5; }";

uint64_t layout(const std::string& types) { return layout_fingerprint(schema(types)); }
uint64_t full(const std::string& types) { return schema_fingerprint(schema(types)); }
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Fingerprint, IgnoresDocsFilesAndTypesThatTheRootCannotHold) {  // FMT-30
  const std::string documented = with(kBase, "/// Doc.", "/// Other words.");
  const std::string unused = std::string("table Unused { a:int; } enum AlsoUnused : int { q } ") + kBase;
  EXPECT_EQ(layout(kBase), layout(documented));
  EXPECT_EQ(full(kBase), full(documented));
  EXPECT_EQ(layout(kBase), layout(unused));
  EXPECT_EQ(full(kBase), full(unused));
}

TEST(Fingerprint, LayoutSeesWhatMovesBytes) {  // FMT-30
  std::set<uint64_t> seen{layout(kBase)};
  for (const auto& [from, to] : {std::pair{"x:float;", "x:int;"},
                                 {"x:float;", "x:float; y:float;"},
                                 {"x:float; e:E;", "e:E; x:float;"},
                                 {"n:int = 5;", "n:int = 6;"},
                                 {"n:int = 5;", "n:uint = 5;"},
                                 {"n:int = 5;", "m:int = 5;"},
                                 {"v:[S]; u:U;", "u:U; v:[S];"},
                                 {"E : ubyte", "E : ushort"},
                                 {"union U { M }", "table N { n:int; } union U { N, M }"},
                                 {"struct S {", "struct S (force_align:8) {"},
                                 {"n:int = 5;", "n:int = 5; more:int;"}}) {
    EXPECT_TRUE(seen.insert(layout(with(kBase, from, to))).second) << from << " -> " << to;
  }
}

TEST(Fingerprint, LayoutIgnoresWhatDoesNot) {  // FMT-30
  EXPECT_EQ(layout(kBase), layout(with(kBase, "xml:\"ess\"", "xml:\"es\"")));
  EXPECT_EQ(layout(kBase), layout(with(kBase, "{ a, b }", "{ a, b, c }")));
}

TEST(Fingerprint, FullSeesAttributesAndEnumerators) {  // FMT-30
  std::set<uint64_t> seen{full(kBase)};
  for (const auto& [from, to] : {std::pair{"xml:\"ess\"", "xml:\"es\""},
                                 {" (xml:\"ess\")", ""},
                                 {"{ a, b }", "{ a, c }"},
                                 {"{ a, b }", "{ a, b = 7 }"},
                                 {"enum E : ubyte", "enum E : ubyte (closed)"},
                                 {"v:[S];", "v:[S] (required);"}}) {
    EXPECT_TRUE(seen.insert(full(with(kBase, from, to))).second) << from << " -> " << to;
  }
}

TEST(Fingerprint, OnlyAdditionsReadInPlace) {  // FMT-30, FMT-31
  const auto reads = [](const std::string& newer) { return reads_in_place(schema(newer), schema(kBase)); };
  EXPECT_TRUE(reads(kBase));
  EXPECT_TRUE(reads(with(kBase, "n:int = 5;", "n:int = 5; more:[S];")));
  EXPECT_TRUE(reads(with(kBase, "{ a, b }", "{ a, b, c }")));
  EXPECT_TRUE(reads(with(kBase, "union U { M }", "table N { n:int; } union U { M, N }")));
  EXPECT_FALSE(reads(with(kBase, "n:int = 5;", "n:int = 5; more:[S] (required);")));
  EXPECT_FALSE(reads(with(kBase, "n:int = 5;", "n:int = 4;")));
  EXPECT_FALSE(reads(with(kBase, "n:int = 5;", "")));
  EXPECT_FALSE(reads(with(kBase, "n:int = 5;", "m:int = 5;")));
  EXPECT_FALSE(reads(with(kBase, "{ a, b }", "{ a }")));
  EXPECT_FALSE(reads(with(kBase, "{ a, b }", "{ b, a }")));
  EXPECT_FALSE(reads(with(kBase, "x:float;", "x:float; y:float;")));
  EXPECT_FALSE(reads(with(kBase, "e:E; }", "e:E; p:ubyte; }"))) << "same size, but the filler had no value";
  EXPECT_FALSE(reads(with(kBase, "union U { M }", "table N { n:int; } union U { N, M }")));
  EXPECT_FALSE(reads(with(kBase, "v:[S];", "more:int; v:[S];")));
}

TEST(Fingerprint, BuiltinSchemasAreValidAndConsistent) {
  EXPECT_EQ(builtin_schemas().size(), 5u);
  for (const BuiltinSchema& item : builtin_schemas()) {
    EXPECT_TRUE(verify_schema(item.bfbs).ok()) << item.name;
    EXPECT_EQ(layout_fingerprint(item.bfbs), item.layout_fingerprint) << item.name;
    EXPECT_EQ(schema_fingerprint(item.bfbs), item.schema_fingerprint) << item.name;
    EXPECT_EQ(find_builtin_schema(item.kind), &item);
    for (const uint64_t old : item.compatible) {
      const auto released = find_released_schema(item.kind, old);
      ASSERT_FALSE(released.empty()) << item.name;
      EXPECT_TRUE(reads_in_place(item.bfbs, released)) << item.name;
    }
  }
  EXPECT_EQ(find_builtin_schema(kind_of("NONE")), nullptr);
  EXPECT_TRUE(find_released_schema(kind_of("NONE"), 1).empty());
}

TEST(Fingerprint, BuiltinSchemasNameNoFiles) {  // FMT-30: the same bytes wherever they were built
  for (const BuiltinSchema& item : builtin_schemas()) {
    const std::string text(reinterpret_cast<const char*>(item.bfbs.data()), item.bfbs.size());
    EXPECT_EQ(text.find(".fbs"), std::string::npos) << item.name;
  }
}

TEST(VerifySchema, RefusesWhatLaterCodeCouldNotHandle) {  // FMT-21
  const auto refused = [](const char* types) {
    const Bytes bytes = schema(types);
    return verify_schema(bytes).code == StatusCode::bad_schema;
  };
  EXPECT_FALSE(refused(kBase));
  EXPECT_TRUE(refused("table M { n:int; } union U { M } table R { u:[U]; }")) << "vector of unions";
  EXPECT_TRUE(refused("struct S { a:[int:3]; } table R { s:S; }")) << "fixed array";
  EXPECT_TRUE(refused("struct S (force_align:32) { a:int; } table R { s:S; }"))
      << "wider than the resource's alignment";
}

TEST(VerifySchema, RefusesStructsInsideThemselves) {  // FMT-21: flatc cannot make one, so the bytes are changed
  Bytes bytes = schema("struct A { x:int; } struct B { a:A; } table R { b:B; }");
  ASSERT_TRUE(verify_schema(bytes).ok());
  // B's member is of type 0 (A): make it type 1 (B).
  auto* root = flatbuffers::GetMutableRoot<reflection::Schema>(bytes.data());
  const auto* b = root->objects()->LookupByKey("B");
  const auto* type = b->fields()->Get(0)->type();
  auto* index =
      const_cast<uint8_t*>(reinterpret_cast<const flatbuffers::Table*>(type)->GetAddressOf(reflection::Type::VT_INDEX));
  ASSERT_NE(index, nullptr);
  flatbuffers::WriteScalar<int32_t>(index, 1);
  EXPECT_EQ(verify_schema(bytes).code, StatusCode::bad_schema);
}

TEST(VerifySchema, EveryBitFlipIsRefusedOrHarmless) {  // REL-1
  const Bytes good = schema(kBase);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    if (!verify_schema(bad).ok()) continue;
    (void)layout_fingerprint(bad);
    (void)schema_fingerprint(bad);
    (void)reads_in_place(good, bad);
    (void)reads_in_place(bad, good);
  }
}

TEST(VerifySchema, MisalignedOrCutBytesAreRefused) {
  const Bytes good = schema(kBase);
  Bytes room(good.size() + 8);
  std::memcpy(room.data() + 4, good.data(), good.size());
  EXPECT_EQ(verify_schema({room.data() + 4, good.size()}).code, StatusCode::bad_schema);
  for (size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    (void)verify_schema(cut);  // may even be whole without its last bytes; must not read behind them
  }
}

}  // namespace
}  // namespace meridian
