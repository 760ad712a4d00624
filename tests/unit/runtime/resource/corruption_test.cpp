// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/traverse.h"
#include "unit/runtime/resource/small_map.h"

// REL-4: every single-bit flip and every truncation of a small resource is refused or harmless.

namespace meridian {
namespace {

using test::Bytes;

TEST(Corruption, EverySingleBitFlipIsRefused) {
  const Bytes good = test::small_map();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(open_resource(bad).ok()) << "bit " << bit;
  }
}

TEST(Corruption, EveryTruncationIsRefused) {
  const Bytes good = test::small_map();
  for (size_t size = 0; size < good.size(); ++size) {
    // A copy of just that size, so that a sanitizer sees every read behind the end.
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(open_resource(cut).ok()) << "size " << size;
  }
}

/// Whoever makes a bad file also makes a good checksum: what still opens must be safe to read.
void flip_behind_checksum(const Bytes& good, std::span<const std::byte> schema, std::span<const std::byte> given) {
  size_t opened_count = 0;
  const size_t payload_bits = read_sections(good).value().payload.size() * 8;
  for (size_t bit = 0; bit < payload_bits; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    test::fix_checksum(bad);
    const Result<Resource> opened = open_resource(bad, {.schema = given});
    if (!opened.ok()) continue;
    ++opened_count;
    EXPECT_TRUE(test::Traversal(opened.value().payload(), schema).run()) << "bit " << bit;
  }
  // Most bits are values; some are structure.
  EXPECT_GT(opened_count, payload_bits / 10);
  EXPECT_LT(opened_count, payload_bits);
}

TEST(Corruption, BitFlipsBehindTheChecksumAreRefusedOrHarmless) {
  const auto bfbs = test::map_schema().bfbs;
  flip_behind_checksum(test::small_map(), bfbs, {});
}

TEST(Corruption, BitFlipsInGenericMetadataAreRefusedOrHarmless) {
  const auto bfbs = test::map_schema().bfbs;
  flip_behind_checksum(test::small_map(), bfbs, bfbs);  // the schema-driven check instead of the generated verifier
}

TEST(Corruption, BothVerifiersAgree) {
  const Bytes good = test::small_map();
  const auto bfbs = test::map_schema().bfbs;
  const size_t payload_bits = read_sections(good).value().payload.size() * 8;
  size_t stricter = 0;
  for (size_t bit = 0; bit < payload_bits; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    test::fix_checksum(bad);
    const bool generated = open_resource(bad).ok(), by_schema = open_resource(bad, {.schema = bfbs}).ok();
    EXPECT_TRUE(generated || !by_schema) << "bit " << bit;
    stricter += generated && !by_schema;
  }
  EXPECT_LT(stricter, payload_bits / 10);  // table sizes, which generated verifiers do not look at
}

}  // namespace
}  // namespace meridian
