// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "unit/runtime/resource/small_map.h"

// FMT-21, last check: what offsets cannot say. Each case names the field and the place.

namespace meridian {
namespace {

using test::Bytes;
using test::small_map;

uint32_t name_of(const char* field) { return hash_type(field).value; }

Status status_of(const Bytes& bytes, std::span<const std::byte> schema = {}) {
  return open_resource(bytes, {.schema = schema}).status();
}

/// Opens a resource of a schema of the test's own.
Status status_of(const std::string& fbs, const std::string& json) {
  const Bytes schema = test::compile_schema(fbs + " root_type R; file_identifier \"TEST\";");
  return status_of(test::resource_of(schema, json, kind_of("TEST")), schema);
}

TEST(Semantic, UnknownValueOfAClosedEnumInAStruct) {
  const Status status = status_of(small_map("lod_level:7"));
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.name.value, name_of("lod_level"));
  EXPECT_TRUE(status_of(small_map("lod_level:6")).ok());
}

TEST(Semantic, NumbersThatAreNotFinite) {
  for (const float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    Bytes bytes = small_map("lod_dist:1234.5");
    const float marker = 1234.5f;
    size_t at = 0;
    while (std::memcmp(bytes.data() + at, &marker, 4) != 0) at += 4;
    std::memcpy(bytes.data() + at, &value, 4);
    test::fix_checksum(bytes);
    const Status status = status_of(bytes);
    EXPECT_EQ(status.code, StatusCode::bad_value);
    EXPECT_EQ(status.name.value, name_of("lod_dist"));
    EXPECT_EQ(status.detail, at);
  }
  EXPECT_TRUE(status_of(small_map("lod_dist:3.4e38")).ok());
}

TEST(Semantic, OwnersAreInsideTheirArrayAndSorted) {
  Status status = status_of(small_map({}, "2"));
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.name.value, name_of("entity_extensions"));
  EXPECT_EQ(status.detail, 1u);
  EXPECT_EQ(status_of(small_map({}, "4294967295")).code, StatusCode::bad_value);
  const std::string fbs =
      "table Item { n:int; } table Rec { owner:uint (owner); } table R { host:[Item]; recs:[Rec] "
      "(hoist_from:\"host\"); }";
  EXPECT_TRUE(status_of(fbs, "{host:[{},{}], recs:[{owner:0},{owner:0},{owner:1}]}").ok());
  status = status_of(fbs, "{host:[{},{}], recs:[{owner:1},{owner:0}]}");
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.detail, 1u);
  EXPECT_EQ(status_of(fbs, "{recs:[{owner:0}]}").code, StatusCode::bad_value) << "no host at all";
}

TEST(Semantic, ParentIndicesMayLeadAnywhere) {
  EXPECT_TRUE(status_of(small_map("parent_index:1000000")).ok());
  EXPECT_TRUE(status_of(small_map("parent_index:-77")).ok());
}

TEST(Semantic, UnionMembersAreKnown) {
  Bytes bytes = small_map();
  // DoorDef's number (7) stands in a byte of its table; find it by trying: exactly one byte makes the door unknown.
  int unknown = 0;
  for (size_t at = 0; at < read_sections(bytes).value().payload.size(); ++at) {
    if (bytes[at] != std::byte{7}) continue;
    Bytes changed = bytes;
    changed[at] = std::byte{200};
    test::fix_checksum(changed);
    const Status status = status_of(changed);
    if (status.code == StatusCode::bad_value && status.name.value == name_of("definition")) ++unknown;
  }
  EXPECT_EQ(unknown, 1);
}

TEST(Semantic, ClosedEnumsInTablesVectorsAndNestedStructs) {
  const std::string fbs =
      "enum E : short (closed) { low = -3, zero = 0, a = 1, high = 300 } enum O : ubyte { none = 0, x = 1 }"
      "struct In { e:E; o:O; p:ubyte; } struct Out { n:int; in:In; }"
      "table R { one:E = a; many:[E]; out:Out; outs:[Out]; open:[O]; }";
  EXPECT_TRUE(status_of(fbs, "{one:-3, many:[1,-3,300], out:{n:0,in:{e:1,o:9,p:0}}, open:[77]}").ok());
  EXPECT_EQ(status_of(fbs, "{one:2}").name.value, name_of("one"));
  EXPECT_EQ(status_of(fbs, "{many:[1,1,5]}").name.value, name_of("many"));
  EXPECT_EQ(status_of(fbs, "{out:{n:0,in:{e:2,o:1,p:0}}}").name.value, name_of("e"));
  std::string outs;
  for (int i = 0; i < 100; ++i) outs += "{n:0,in:{e:300,o:1,p:0}},";
  EXPECT_TRUE(status_of(fbs, "{outs:[" + outs + "{n:0,in:{e:1,o:1,p:0}}]}").ok());
  EXPECT_EQ(status_of(fbs, "{outs:[" + outs + "{n:0,in:{e:4,o:1,p:0}}]}").code, StatusCode::bad_value);
}

// The fast pass over vectors of structs against the plain meaning, at every position and for several shapes.
TEST(Semantic, EveryElementOfALongVectorIsLookedAt) {
  struct Shape {
    const char* fields;
    size_t size, bad_at;
    uint32_t word;
  };
  const Shape shapes[] = {
      {"f:float;", 4, 0, 0x7F800000},
      {"a:uint; b:ubyte; c:ubyte; d:ushort; f:float;", 12, 8, 0xFFC00000},
      {"a:uint; f:float; g:float; h:float; i:uint;", 20, 12, 0x7F800001},
      {"a:double; b:uint; c:uint;", 16, 4, 0xFFF00000},
      {"a:ulong; e:E; p:ubyte; q:ushort; f:float;", 16, 8, 0x00000009},
      {"a:uint; k:K; b:uint;", 12, 4, 0x00000003},
      {"a:uint; k:K; b:uint;", 12, 4, 0x80000000},
      {"k:K; f:float;", 8, 0, 0xFFFFFFFF},
  };
  for (const Shape& shape : shapes) {
    const Bytes schema = test::compile_schema(
        std::string("enum E : ubyte (closed) { x = 0, y = 5 } enum K : uint (closed) { x, y, z } struct S { ") +
        shape.fields + " } table R { s:[S]; } root_type R; file_identifier \"TEST\";");
    constexpr size_t kCount = 1000;
    flatbuffers::FlatBufferBuilder builder;
    builder.StartVector(kCount * shape.size / 8 + 2, 8);
    const std::vector<uint8_t> zeros(kCount * shape.size);
    builder.PushBytes(zeros.data(), zeros.size());
    const auto vector = builder.EndVector(kCount);
    const auto start = builder.StartTable();
    builder.AddOffset(4, flatbuffers::Offset<void>(vector));
    builder.Finish(flatbuffers::Offset<void>(builder.EndTable(start)), "TEST");
    Bytes payload = test::to_bytes(builder.GetBufferPointer(), builder.GetSize());
    ASSERT_TRUE(status_of(test::seal(payload, {}, kind_of("TEST"), layout_fingerprint(schema)), schema).ok());
    // Where the elements begin: the length 1000 before them.
    size_t first = 0;
    for (uint32_t length = 0; length != kCount; first += 4) std::memcpy(&length, payload.data() + first, 4);
    for (size_t i = 0; i < kCount; ++i) {
      Bytes bad = payload;
      std::memcpy(bad.data() + first + i * shape.size + shape.bad_at, &shape.word, 4);
      const Status status = status_of(test::seal(bad, {}, kind_of("TEST"), layout_fingerprint(schema)), schema);
      ASSERT_EQ(status.code, StatusCode::bad_value) << shape.fields << " element " << i;
      ASSERT_EQ(status.detail / 8, (first + i * shape.size + shape.bad_at) / 8) << shape.fields;
    }
  }
}

TEST(Semantic, DataSharedToBlowUpIsRefused) {
  // Tables that all refer to one large vector of floats: honest files never do that.
  const Bytes schema =
      test::compile_schema("table T { f:[float]; } table R { t:[T]; } root_type R; file_identifier \"TEST\";");
  flatbuffers::FlatBufferBuilder builder;
  const auto shared = builder.CreateVector(std::vector<float>(10000, 1.0f));
  std::vector<flatbuffers::Offset<void>> tables;
  for (int i = 0; i < 1000; ++i) {
    const auto start = builder.StartTable();
    builder.AddOffset(4, shared);
    tables.emplace_back(builder.EndTable(start));
  }
  const auto vector = builder.CreateVector(tables);
  const auto start = builder.StartTable();
  builder.AddOffset(4, vector);
  builder.Finish(flatbuffers::Offset<void>(builder.EndTable(start)), "TEST");
  const Bytes payload = test::to_bytes(builder.GetBufferPointer(), builder.GetSize());
  const Status status = status_of(test::seal(payload, {}, kind_of("TEST"), layout_fingerprint(schema)), schema);
  EXPECT_EQ(status.code, StatusCode::bad_structure);
  EXPECT_EQ(status.name.value, name_of("f"));
}

}  // namespace
}  // namespace meridian
