// SPDX-License-Identifier: MIT
#include "meridian/resource/resource.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"
#include "unit/runtime/resource/small_map.h"

// FMT-20 (trailer), FMT-21 (order and statuses), FMT-22 and P083 (alignment), P084 (2 GiB), PERF-5 (no allocation).

namespace meridian {
namespace {

using test::Bytes;
using test::kMapKind;
using test::small_map;

StatusCode code_of(std::span<const std::byte> bytes, const OpenOptions& options = {}) {
  return open_resource(bytes, options).status().code;
}

void set_trailer(Bytes& bytes, const ResourceTrailer& trailer) {
  std::memcpy(bytes.data() + bytes.size() - sizeof trailer, &trailer, sizeof trailer);
}
ResourceTrailer trailer_of(const Bytes& bytes) {
  ResourceTrailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  return trailer;
}

TEST(Resource, SealedBytesOpenAndTheTrailerIsAsDescribed) {  // FMT-20
  const Bytes bytes = small_map();
  ASSERT_EQ(bytes.size() % 16, 0u);
  const auto* raw = reinterpret_cast<const unsigned char*>(bytes.data()) + bytes.size() - 32;
  EXPECT_EQ(std::memcmp(raw, "MRDNIMAP", 8), 0);
  EXPECT_EQ(raw[8] | raw[9] | raw[10] | raw[11], 1);  // version 1, little endian
  const Result<Resource> opened = open_resource(bytes);
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  const Resource& resource = opened.value();
  EXPECT_EQ(resource.kind(), kMapKind);
  EXPECT_FALSE(resource.older_layout());
  EXPECT_EQ(resource.layout_fingerprint(), test::map_schema().layout_fingerprint);
  EXPECT_EQ(resource.payload().size(), trailer_of(bytes).payload_size);
  const size_t info_begin = (resource.payload().size() + 15) / 16 * 16;
  EXPECT_EQ(resource.info().data(), bytes.data() + info_begin);
}

TEST(Resource, PayloadIsAnOrdinaryFlatBufferWhateverFollows) {  // FMT-20
  const Bytes bytes = small_map();
  const auto payload = test::payload_of(test::map_schema().bfbs, test::small_map_json());
  EXPECT_EQ(std::memcmp(bytes.data(), payload.data(), payload.size()), 0);
}

TEST(Resource, EachCheckHasItsStatusInTheDocumentedOrder) {  // FMT-21
  const Bytes good = small_map();
  EXPECT_EQ(code_of({}), StatusCode::too_small);
  EXPECT_EQ(code_of(std::span(good).first(16)), StatusCode::too_small);

  // Each step breaks one thing more, from the last check to the first, so each must win over all before.
  Bytes bytes = small_map("lod_level:99");
  EXPECT_EQ(code_of(bytes), StatusCode::bad_value);
  bytes[trailer_of(bytes).payload_size / 2] ^= std::byte{0};
  ResourceTrailer trailer = trailer_of(bytes);
  std::memset(bytes.data(), 0x7F, 4);  // root offset far outside
  test::fix_checksum(bytes);
  EXPECT_EQ(code_of(bytes), StatusCode::bad_structure);
  trailer.layout_fingerprint ^= 1;
  set_trailer(bytes, trailer);
  test::fix_checksum(bytes);
  Result<Resource> differs = open_resource(bytes);
  EXPECT_EQ(differs.status().code, StatusCode::layout_differs);
  EXPECT_EQ(differs.status().detail, trailer.layout_fingerprint);
  bytes[100] ^= std::byte{1};
  EXPECT_EQ(code_of(bytes), StatusCode::bad_checksum);
  EXPECT_EQ(code_of(bytes, {.kind = kind_of("ITYP")}), StatusCode::wrong_kind);
  trailer = trailer_of(bytes);
  trailer.version = 2;
  set_trailer(bytes, trailer);
  EXPECT_EQ(code_of(bytes, {.kind = kind_of("ITYP")}), StatusCode::bad_version);
  trailer.magic ^= 1;
  set_trailer(bytes, trailer);
  EXPECT_EQ(code_of(bytes), StatusCode::bad_magic);
  EXPECT_EQ(code_of(std::span(bytes).subspan(1)), StatusCode::misaligned);
}

TEST(Resource, KindWithoutSchemaIsRefusedUnlessOneIsGiven) {
  const Bytes schema = test::compile_schema("table R { a:int; } root_type R; file_identifier \"TEST\";");
  const Bytes bytes = test::resource_of(schema, "{a:5}", kind_of("TEST"));
  EXPECT_EQ(code_of(bytes), StatusCode::wrong_kind);
  EXPECT_EQ(code_of(bytes, {.schema = schema}), StatusCode::ok);
  EXPECT_EQ(code_of(bytes, {.kind = kind_of("TEST"), .schema = schema}), StatusCode::ok);
  EXPECT_EQ(code_of(bytes, {.kind = kind_of("TSET"), .schema = schema}), StatusCode::wrong_kind);
}

TEST(Resource, TrailerThatClaimsMoreThanThereIsIsRefused) {
  Bytes bytes = small_map();
  ResourceTrailer trailer = trailer_of(bytes);
  for (const uint32_t size : {uint32_t(bytes.size()), uint32_t(bytes.size() - 31), 0xFFFFFFFFu, 0x80000000u}) {
    trailer.payload_size = size;
    set_trailer(bytes, trailer);
    EXPECT_EQ(code_of(bytes), StatusCode::bad_structure) << size;
    EXPECT_EQ(code_of(bytes, {.trusted = true}), StatusCode::bad_structure) << size;
  }
}

TEST(Resource, MisalignedBaseIsRefusedWithAStatus) {  // FMT-22, P083
  const Bytes good = small_map();
  std::vector<std::byte> room(good.size() + 32);
  for (const size_t shift : {1u, 2u, 4u, 8u}) {
    std::memcpy(room.data() + shift, good.data(), good.size());
    const Result<Resource> opened = open_resource({room.data() + shift, good.size()});
    EXPECT_EQ(opened.status().code, StatusCode::misaligned);
    EXPECT_EQ(opened.status().detail, shift);
  }
}

TEST(Resource, ElementsShiftedByFourAreRefusedWithTheFieldsName) {  // P083
  // Built by hand: the generated verifier looks only at the alignment of a vector's length.
  const Bytes schema =
      test::compile_schema("struct Wide { a:ulong; } table R { items:[Wide]; } root_type R; file_identifier \"TEST\";");
  alignas(16) const uint32_t words[] = {16,         kind_of("TEST"),
                                        0x00080006, 0x00000004,  // root at 16, vtable at 8
                                        8,          4,
                                        1,          0,
                                        0,          0};  // table: vtable 8 back, vector 4 on: length at 24, data at 28
  const Bytes shifted = test::seal(std::as_bytes(std::span(words)), {}, kind_of("TEST"), layout_fingerprint(schema));
  const Result<Resource> opened = open_resource(shifted, {.schema = schema});
  EXPECT_EQ(opened.status().code, StatusCode::bad_structure);
  EXPECT_EQ(opened.status().name.value, hash_type("items").value);
}

TEST(Resource, TwoGigabytesAreRefusedBeforeAnythingIsRead) {  // P084, FMT-23
  // Nothing is mapped there: a read would crash.
  const size_t size = size_t{0x80000000};
  void* nothing = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  const Result<Resource> opened = open_resource({static_cast<const std::byte*>(nothing), size});
  EXPECT_EQ(opened.status().code, StatusCode::too_large);
  EXPECT_EQ(opened.status().detail, size);
  munmap(nothing, size);
}

TEST(Resource, TrustedSkipsChecksumAndContentsOnly) {  // FMT-21
  Bytes bytes = small_map("lod_level:99");
  bytes[trailer_of(bytes).payload_size - 1] ^= std::byte{1};
  EXPECT_EQ(code_of(bytes, {.trusted = true}), StatusCode::ok);
  ResourceTrailer trailer = trailer_of(bytes);
  trailer.layout_fingerprint ^= 1;
  set_trailer(bytes, trailer);
  EXPECT_EQ(code_of(bytes, {.trusted = true}), StatusCode::layout_differs);
}

TEST(Resource, BrokenInfoSectionIsRefused) {
  Bytes info = test::small_info();
  std::memset(info.data(), 0x7F, 4);
  const Bytes bytes = test::resource_of(test::map_schema().bfbs, test::small_map_json(), kMapKind, info);
  EXPECT_EQ(code_of(bytes), StatusCode::bad_structure);
}

TEST(Resource, MissingInfoSectionIsFine) {
  EXPECT_EQ(code_of(test::resource_of(test::map_schema().bfbs, test::small_map_json(), kMapKind)), StatusCode::ok);
}

TEST(Resource, OpeningAllocatesNothing) {  // PERF-5
  const Bytes map = small_map(), broken = small_map("lod_level:99");
  const Bytes schema = test::compile_schema("table R { a:int; } root_type R; file_identifier \"TEST\";");
  const Bytes metadata = test::resource_of(schema, "{a:5}", kind_of("TEST"));
  (void)open_resource(map);  // the first use of the built-in schemas
  const uint64_t before = test::allocation_count();
  const bool ok =
      open_resource(map).ok() && !open_resource(broken).ok() && open_resource(metadata, {.schema = schema}).ok();
  const uint64_t after = test::allocation_count();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after - before, 0u);
  const std::vector<int> one(100);
  EXPECT_GT(test::allocation_count(), after) << "the counter does not count";
}

TEST(Resource, SealingPartsThatLieInPlaceGivesTheSameBytes) {
  const Bytes payload = test::payload_of(test::map_schema().bfbs, test::small_map_json()), info = test::small_info();
  const Bytes apart = test::seal(payload, info, kMapKind, 1);
  Bytes together(apart.size(), std::byte{0xEE});
  const size_t info_begin = (payload.size() + 15) / 16 * 16;
  std::memcpy(together.data(), payload.data(), payload.size());
  std::memcpy(together.data() + info_begin, info.data(), info.size());
  seal_resource(together, std::span(together).first(payload.size()),
                std::span(together).subspan(info_begin, info.size()), kMapKind, 1);
  EXPECT_EQ(together, apart);
}

}  // namespace
}  // namespace meridian
