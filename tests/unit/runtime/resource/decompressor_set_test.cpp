// SPDX-License-Identifier: MIT
// Rules: PACK-2 (zstd, dictionaries), P086 (sizes in compressed headers).
#include "meridian/resource/decompressor_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/counting_allocator.h"
#include "support/pack_maker.h"
#include "support/zstd_frames.h"

namespace meridian {
namespace {

using test::PackBuffer;
using test::PackMaker;

constexpr uint32_t kMap = kind_of("IMAP");

/// Entries "0" to "9", the even ones with the dictionary.
PackBuffer pack_with(const std::string& dictionary) {
  PackMaker maker;
  const NameHash name = maker.dictionary(dictionary).name;
  for (uint32_t i = 0; i < 10; ++i) {
    const std::string raw = test::wordy_text(500 + i * 100, i);
    const bool with = i % 2 == 0;
    maker.frame(kMap, std::to_string(i), raw, test::zstd_frame(raw, true, with ? dictionary : "")).dictionary =
        with ? name : NameHash{};
  }
  return maker.make();
}

std::string read(DecompressorSet& set, const Pack& pack, uint32_t i) {
  const PackEntry& entry = *pack.find(kMap, hash_name(std::to_string(i)));
  std::string out(entry.raw_size, '\0');
  const Status status = set.read(pack, entry, std::as_writable_bytes(std::span(out)));
  return status.ok() ? out : std::string("!") + to_string(status.code);
}

// PACK-2: one context serves all threads, in turn.
TEST(DecompressorSet, ThreadsBeyondTheContextsWait) {
  const PackBuffer made = pack_with(test::wordy_dictionary());
  const Pack pack = open_pack(made.span()).value();
  for (const uint32_t contexts : {1u, 2u}) {
    DecompressorSet set;
    ASSERT_TRUE(set.init(contexts).ok());
    EXPECT_EQ(set.contexts(), contexts);
    ASSERT_TRUE(set.prepare(pack).ok());
    std::atomic<uint32_t> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint32_t round = 0; round < 500; ++round) {
          const uint32_t i = (round + t) % 10;
          if (read(set, pack, i) != test::wordy_text(500 + i * 100, i)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0u);
    set.release(pack);
  }
}

// PACK-2: once for all packs and contexts, and gone with the last pack.
TEST(DecompressorSet, DictionariesAreSharedAndCounted) {
  const std::string dictionary = test::wordy_dictionary();
  const PackBuffer one = pack_with(dictionary), two = pack_with(dictionary);
  const Pack a = open_pack(one.span()).value(), b = open_pack(two.span()).value();
  PackDictionaries table;
  const NameHash name = a.of_kind(kPackDictionaryKind)[0].name;
  EXPECT_EQ(table.find(a, name), nullptr);
  ASSERT_TRUE(table.prepare(a).ok());
  const ZSTD_DDict_s* const digested = table.find(a, name);
  ASSERT_NE(digested, nullptr);
  ASSERT_TRUE(table.prepare(b).ok());
  EXPECT_EQ(table.count(), 1u);
  EXPECT_EQ(table.find(b, name), digested);
  table.release(a);
  EXPECT_EQ(table.find(b, name), digested);
  table.release(b);
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.find(b, name), nullptr);
}

TEST(DecompressorSet, APackThatCannotBePreparedLeavesNothing) {
  using namespace std::string_view_literals;
  PackMaker maker;
  maker.dictionary("plain dictionary one");
  maker.dictionary("plain dictionary two");
  const NameHash broken = maker.dictionary("\x37\xA4\x30\xEC\1\2\3\4"sv).name;
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  PackDictionaries table;
  const Status status = table.prepare(pack);
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.name, broken);
  EXPECT_EQ(table.count(), 0u);
}

TEST(DecompressorSet, DictionariesThatLeaveMakeRoom) {
  PackDictionaries table;
  for (int round = 0; round < 6; ++round) {  // 96 in all; 64 fit at once
    PackMaker maker;
    for (int i = 0; i < 16; ++i) maker.dictionary("dictionary " + std::to_string(round * 16 + i));
    const PackBuffer made = maker.make();
    const Pack pack = open_pack(made.span()).value();
    ASSERT_TRUE(table.prepare(pack).ok()) << round;
    EXPECT_EQ(table.count(), 16u);
    table.release(pack);
  }
}

TEST(DecompressorSet, NumbersOfContextsAreChecked) {
  DecompressorSet none, many, some;
  EXPECT_EQ(none.init(0).code, StatusCode::bad_value);
  EXPECT_EQ(many.init(DecompressorSet::kMaxContexts + 1).code, StatusCode::bad_value);
  EXPECT_TRUE(some.init(DecompressorSet::kMaxContexts).ok());
  const PackBuffer made = pack_with(test::wordy_dictionary());
  const Pack pack = open_pack(made.span()).value();
  ASSERT_TRUE(none.prepare(pack).ok());
  EXPECT_EQ(read(none, pack, 0), "!out_of_slots");
}

// PACK-2
TEST(DecompressorSet, ReadsAllocateNothing) {
  const PackBuffer made = pack_with(test::wordy_dictionary());
  const Pack pack = open_pack(made.span()).value();
  DecompressorSet set;
  ASSERT_TRUE(set.init(2).ok());
  ASSERT_TRUE(set.prepare(pack).ok());
  std::string out(2000, '\0');
  uint32_t good = 0;
  const uint64_t before = test::allocation_count();
  for (const PackEntry& entry : pack.of_kind(kMap))
    good += set.read(pack, entry, std::as_writable_bytes(std::span(out))).ok();
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(good, 10u);
}

// P086: an error gives its context back.
TEST(DecompressorSet, FaultsAreSaidAndNoContextIsLost) {
  const std::string raw = test::wordy_text(500, 1);
  PackMaker maker;
  maker.frame(kMap, "0", raw, test::zstd_frame(raw)).raw_size = 400;
  maker.frame(kMap, "1", raw, test::zstd_frame(raw, false)).raw_size = 400;
  maker.frame(kMap, "2", raw, test::zstd_frame(raw)).stored_hash = 1;
  maker.frame(kMap, "3", raw, test::zstd_frame(raw)).raw_hash = 1;
  maker.frame(kMap, "4", raw, test::zstd_frame(raw));
  maker.store(kMap, "5", raw);
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  DecompressorSet set;
  ASSERT_TRUE(set.init(1).ok());
  ASSERT_TRUE(set.prepare(pack).ok());
  EXPECT_EQ(read(set, pack, 0), "!bad_value");
  EXPECT_EQ(read(set, pack, 1), "!bad_structure");
  EXPECT_EQ(read(set, pack, 2), "!bad_checksum");
  EXPECT_EQ(read(set, pack, 3), "!bad_checksum");
  EXPECT_EQ(read(set, pack, 4), raw);
  EXPECT_EQ(read(set, pack, 5), raw);
  std::byte small[499];
  EXPECT_EQ(set.read(pack, *pack.find(kMap, hash_name("4")), small).code, StatusCode::too_small);
}

}  // namespace
}  // namespace meridian
