// SPDX-License-Identifier: MIT
// Rules: PACK-2 (zstd, dictionaries), P086 (sizes in compressed headers).
#include "meridian/resource/pack_decompressor.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/counting_allocator.h"
#include "support/pack_maker.h"
#include "support/zstd_frames.h"

namespace meridian {
namespace {

using namespace std::string_view_literals;
using test::PackBuffer;
using test::PackMaker;
using test::wordy_text;
using test::zstd_frame;

constexpr uint32_t kMap = kind_of("IMAP");

/// Reads "x" of a pack into memory of just its size, and looks that nothing behind it is touched.
Status read_x(const PackBuffer& made, std::string* out = nullptr) {
  const Result<Pack> pack = open_pack(made.span());
  if (!pack.ok()) return pack.status();
  PackDecompressor decompressor;
  if (Status status = decompressor.prepare(pack.value()); !status.ok()) return status;
  const PackEntry& entry = *pack.value().find(kMap, hash_name("x"));
  std::string memory(entry.raw_size + 8, '#');
  const Status status = decompressor.read(pack.value(), entry, std::as_writable_bytes(std::span(memory)));
  EXPECT_EQ(memory.substr(entry.raw_size), "########");
  if (out != nullptr) *out = memory.substr(0, entry.raw_size);
  EXPECT_TRUE(status.ok() || status.name == hash_name("x"));
  return status;
}

Status read_frame(std::string_view raw, std::string_view frame, uint32_t claimed_size) {
  PackMaker maker;
  maker.frame(kMap, "x", raw, frame).raw_size = claimed_size;
  return read_x(maker.make());
}

// PACK-2
TEST(PackDecompressor, GivesBackWhatWasCompressed) {
  const std::string raw = wordy_text(3000, 1), dictionary = test::wordy_dictionary();
  PackMaker stored, plain, with;
  stored.store(kMap, "x", raw);
  plain.frame(kMap, "x", raw, zstd_frame(raw));
  const NameHash name = with.dictionary(dictionary).name;
  with.frame(kMap, "x", raw, zstd_frame(raw, true, dictionary)).dictionary = name;
  for (const PackMaker* maker : {&stored, &plain, &with}) {
    std::string out;
    const Status status = read_x(maker->make(), &out);
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(out, raw);
  }
}

// P086: 13 bytes of header that ask for a terabyte.
TEST(PackDecompressor, FrameThatClaimsATerabyteIsRefusedWithoutMemory) {
  constexpr std::string_view kFrame = "\x28\xB5\x2F\xFD\xE0\0\0\0\0\0\1\0\0"sv;
  static_assert(kFrame.size() == 13);
  PackMaker maker;
  maker.frame(kMap, "x", "", kFrame).raw_size = 100;
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  PackDecompressor decompressor;
  ASSERT_TRUE(decompressor.prepare(pack).ok());
  std::byte memory[100];
  const uint64_t before = test::allocation_count();
  const Status status = decompressor.read(pack, pack.entries()[0], memory);
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.detail, uint64_t{1} << 40);
  EXPECT_EQ(status.name, hash_name("x"));
}

// P086: the opposite fault, refusing sound frames, is none of ours.
TEST(PackDecompressor, FrameWithoutContentSizeLoads) {
  const std::string raw = wordy_text(5000, 2), frame = zstd_frame(raw, false);
  ASSERT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), ZSTD_CONTENTSIZE_UNKNOWN);
  PackMaker maker;
  maker.frame(kMap, "x", raw, frame);
  std::string out;
  EXPECT_TRUE(read_x(maker.make(), &out).ok());
  EXPECT_EQ(out, raw);
}

// P086
TEST(PackDecompressor, TheTablesSizeDecides) {
  const std::string raw = wordy_text(5000, 3);
  for (const uint32_t lie : {0u, 1u, 4999u, 5001u, 100'000u}) {
    const Status known = read_frame(raw, zstd_frame(raw), lie), unknown = read_frame(raw, zstd_frame(raw, false), lie);
    EXPECT_EQ(known.code, StatusCode::bad_value) << lie;
    EXPECT_EQ(known.detail, 5000u);
    EXPECT_EQ(unknown.code, StatusCode::bad_structure) << lie;
  }
  EXPECT_TRUE(read_frame(raw, zstd_frame(raw, false), 5000).ok());
}

TEST(PackDecompressor, WhatIsNoFrameIsRefused) {
  const std::string raw = wordy_text(500, 4), frame = zstd_frame(raw);
  EXPECT_EQ(read_frame(raw, "", 500).code, StatusCode::bad_value);
  EXPECT_EQ(read_frame(raw, "no frame at all", 500).code, StatusCode::bad_value);
  EXPECT_EQ(read_frame(raw, frame.substr(0, frame.size() - 1), 500).code, StatusCode::bad_structure);
  EXPECT_EQ(read_frame(raw, frame + "x", 500).code, StatusCode::bad_structure);
}

TEST(PackDecompressor, StoredBytesAreCheckedBeforeAndRawOnesAfter) {
  const std::string raw = wordy_text(500, 5), frame = zstd_frame(raw);
  PackMaker changed, other;
  ++changed.frame(kMap, "x", raw, frame).stored_hash;
  ++other.frame(kMap, "x", raw, frame).raw_hash;
  EXPECT_EQ(read_x(changed.make()).message,
            std::string("checksum of an entry does not match: bytes were changed; detail = its offset"));
  EXPECT_EQ(read_x(other.make()).message,
            std::string("checksum of the decompressed bytes does not match; detail = its offset"));
}

TEST(PackDecompressor, TrustedPacksSkipTheHashes) {
  const std::string raw = wordy_text(500, 6);
  PackMaker maker;
  PackEntry& row = maker.frame(kMap, "x", raw, zstd_frame(raw));
  ++row.stored_hash;
  ++row.raw_hash;
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span(), {.trusted = true}).value();
  PackDecompressor decompressor;
  ASSERT_TRUE(decompressor.prepare(pack).ok());
  std::string out(500, '\0');
  EXPECT_TRUE(decompressor.read(pack, pack.entries()[0], std::as_writable_bytes(std::span(out))).ok());
  EXPECT_EQ(out, raw);
}

TEST(PackDecompressor, MemoryThatIsTooSmallIsSaid) {
  PackMaker maker;
  maker.store(kMap, "x", "12345678");
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  PackDecompressor decompressor;
  std::byte memory[7];
  const Status status = decompressor.read(pack, pack.entries()[0], memory);
  EXPECT_EQ(status.code, StatusCode::too_small);
  EXPECT_EQ(status.detail, 8u);
}

// PACK-2: the frame says no word about its dictionary that the table did not say.
TEST(PackDecompressor, WrongOrAbsentDictionariesAreRefused) {
  const std::string raw = wordy_text(500, 7), dictionary = test::wordy_dictionary();
  const std::string frame = zstd_frame(raw, true, dictionary);
  PackMaker without, wrong, broken;
  without.frame(kMap, "x", raw, frame);
  const NameHash other = wrong.dictionary("other content, no trained dictionary").name;
  wrong.frame(kMap, "x", raw, frame).dictionary = other;
  EXPECT_EQ(read_x(without.make()).code, StatusCode::bad_structure);
  EXPECT_EQ(read_x(wrong.make()).code, StatusCode::bad_structure);
  // The magic of a trained dictionary and nothing behind it.
  const NameHash name = broken.dictionary("\x37\xA4\x30\xEC\1\2\3\4"sv).name;
  broken.store(kMap, "x", raw);
  const PackBuffer made = broken.make();
  const Pack pack = open_pack(made.span()).value();
  PackDecompressor decompressor;
  const Status status = decompressor.prepare(pack);
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.name, name);
}

// PACK-2
TEST(PackDecompressor, ReadsAllocateNothingOncePrepared) {
  const std::string raw = wordy_text(100'000, 8), dictionary = test::wordy_dictionary();
  PackMaker maker;
  const NameHash name = maker.dictionary(dictionary).name;
  maker.frame(kMap, "x", raw, zstd_frame(raw, true, dictionary)).dictionary = name;
  maker.frame(kMap, "y", raw, zstd_frame(raw, false));
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  PackDecompressor decompressor;
  ASSERT_TRUE(decompressor.prepare(pack).ok());
  std::string out(raw.size(), '\0');
  const uint64_t before = test::allocation_count();
  for (int round = 0; round < 3; ++round)
    for (const PackEntry& entry : pack.of_kind(kMap))
      if (!decompressor.read(pack, entry, std::as_writable_bytes(std::span(out))).ok()) ADD_FAILURE();
  EXPECT_TRUE(decompressor.prepare(pack).ok());
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

TEST(PackDecompressor, ServesSeveralPacksUntilItsSlotsAreFull) {
  PackDecompressor decompressor;
  const auto prepare = [&](int first) {
    PackMaker maker;
    for (int i = first; i < first + 16; ++i) maker.dictionary("plain dictionary " + std::to_string(i));
    const PackBuffer made = maker.make();
    return decompressor.prepare(open_pack(made.span()).value());
  };
  for (const int first : {0, 8, 0, 24, 40}) EXPECT_TRUE(prepare(first).ok()) << first;  // 56 in all
  EXPECT_TRUE(prepare(48).ok());                                                        // 64
  EXPECT_EQ(prepare(49).code, StatusCode::out_of_slots);
  EXPECT_TRUE(prepare(0).ok());
}

// A pack that was not prepared, whose entry needs a dictionary.
TEST(PackDecompressor, UnpreparedDictionaryIsNotFound) {
  const std::string raw = wordy_text(500, 9), dictionary = test::wordy_dictionary();
  PackMaker maker;
  const NameHash name = maker.dictionary(dictionary).name;
  maker.frame(kMap, "x", raw, zstd_frame(raw, true, dictionary)).dictionary = name;
  const PackBuffer made = maker.make(), empty = PackMaker().make();
  const Pack pack = open_pack(made.span()).value();
  PackDecompressor decompressor;
  ASSERT_TRUE(decompressor.prepare(open_pack(empty.span()).value()).ok());
  std::string out(500, '\0');
  EXPECT_EQ(decompressor.read(pack, *pack.find(kMap, hash_name("x")), std::as_writable_bytes(std::span(out))).code,
            StatusCode::not_found);
}

}  // namespace
}  // namespace meridian
