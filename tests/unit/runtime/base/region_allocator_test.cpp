// SPDX-License-Identifier: MIT
// UTIL-1 and its neighbours: memory for what streaming brings and takes; PERF-7: nothing is taken from the system then.
#include "meridian/base/region_allocator.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "meridian/base/arena.h"
#include "meridian/base/poison.h"
#include "support/captured.h"
#include "support/checked_memory.h"

#ifdef MERIDIAN_POISON_FREE_SLOTS
extern "C" int __asan_address_is_poisoned(const volatile void* address);
#endif

namespace meridian {
namespace {

uintptr_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/// A region of 64 KiB whose blocks can take up `kCapacity` bytes: a header ends it, and 48 bytes in front let the first
/// block's bytes begin with a cache line.
struct Small {
  static constexpr size_t kBytes = 65536;
  static constexpr size_t kCapacity = kBytes - 48 - 16;

  MemoryTracker tracker;
  test::CheckedMemory memory;
  RegionAllocator region;
  Small() { EXPECT_TRUE(region.init({.bytes = kBytes, .allocator = &memory, .tracker = &tracker}).ok()); }
  void expect_all_free() {
    const Status right = region.validate();
    EXPECT_TRUE(right.ok()) << right.message << " " << right.detail;
    EXPECT_EQ(region.block_count(), 0u);
    EXPECT_EQ(region.free_count(), 1u);
    EXPECT_EQ(region.used_bytes(), 0u);
    EXPECT_EQ(region.largest_free(), kCapacity - 16);
  }
};

// PERF-7: one block is taken at the start, and goes back at the end; CheckedMemory sees to size and alignment.
TEST(RegionAllocator, TakesItsMemoryOnce) {
  MemoryTracker tracker;
  test::CheckedMemory memory;
  {
    RegionAllocator region;
    EXPECT_EQ(region.allocate(1, 1), nullptr);
    EXPECT_EQ(region.capacity(), 0u);
    EXPECT_EQ(region.largest_free(), 0u);
    EXPECT_FALSE(region.owns(nullptr));
    EXPECT_TRUE(region.validate().ok());
    ASSERT_TRUE(region.init({.bytes = 100'000, .allocator = &memory, .tracker = &tracker}).ok());
    for (int i = 0; i < 1000; ++i) {
      void* const block = region.allocate(1000, 8);
      ASSERT_NE(block, nullptr);
      region.deallocate(block, 1000, 8);
    }
    EXPECT_EQ(memory.calls(), 1u);
    EXPECT_EQ(memory.bytes(), 100'000u);
    ASSERT_TRUE(region.init({.bytes = 200'000, .allocator = &memory, .tracker = &tracker}).ok());
    EXPECT_EQ(memory.bytes(), 200'000u);
    region.deallocate(nullptr, 1, 1);
  }
  EXPECT_EQ(memory.bytes(), 0u);
}

// A block of 1000 bytes is 1016 with its header, rounded to 1024; there are as many as that goes into the capacity.
TEST(RegionAllocator, IsExhaustedByWhatFillsIt) {
  Small in;
  ASSERT_EQ(in.region.capacity(), Small::kCapacity);
  std::vector<void*> blocks;
  while (void* const block = in.region.allocate(1000, 16)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), Small::kCapacity / 1024);
  EXPECT_EQ(in.region.block_count(), blocks.size());
  EXPECT_EQ(in.region.used_bytes(), blocks.size() * 1024);
  EXPECT_EQ(in.region.failed(), 1u);
  // 960 bytes are left, all of which can be had.
  EXPECT_EQ(in.region.largest_free(), Small::kCapacity % 1024 - 16);
  void* const last = in.region.allocate(Small::kCapacity % 1024 - 16, 16);
  EXPECT_NE(last, nullptr);
  EXPECT_EQ(in.region.largest_free(), 0u);
  EXPECT_EQ(in.region.free_count(), 0u);
  EXPECT_EQ(in.region.allocate(0, 1), nullptr);
  EXPECT_TRUE(in.region.validate().ok());
  in.region.deallocate(last, Small::kCapacity % 1024 - 16, 16);
  for (void* const block : blocks) in.region.deallocate(block, 1000, 16);
  EXPECT_EQ(in.region.peak_bytes(), Small::kCapacity);
  in.expect_all_free();
}

TEST(RegionAllocator, GivesAllOfItselfAsOneBlock) {
  Small in;
  for (const size_t alignment : {1u, 16u, 64u}) {
    // Blocks of lines are whole lines: 65 472 = 1023 * 64.
    void* const all = in.region.allocate(Small::kCapacity - 16, alignment);
    ASSERT_NE(all, nullptr) << alignment;
    EXPECT_EQ(address(all) % 64, 0u);
    std::memset(all, 0xA5, Small::kCapacity - 16);
    EXPECT_EQ(in.region.allocate(0, 1), nullptr);
    in.region.deallocate(all, Small::kCapacity - 16, alignment);
    in.expect_all_free();
  }
  for (const size_t bytes : {Small::kCapacity - 15, Small::kCapacity, Small::kBytes, size_t{1} << 40,
                             std::numeric_limits<size_t>::max() - 4096, std::numeric_limits<size_t>::max()}) {
    for (const size_t alignment : {1u, 4096u}) EXPECT_EQ(in.region.allocate(bytes, alignment), nullptr) << bytes;
  }
  EXPECT_EQ(in.region.failed(), 1u * 3 + 6 * 2);
  in.expect_all_free();
}

TEST(RegionAllocator, ZeroBytesAreABlockOfTheirOwn) {
  Small in;
  std::set<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.insert(in.region.allocate(0, 1));
  EXPECT_EQ(blocks.size(), 100u);
  EXPECT_FALSE(blocks.contains(nullptr));
  EXPECT_EQ(in.region.used_bytes(), 100 * RegionAllocator::kMinBlockBytes);
  for (void* const block : blocks) in.region.deallocate(block, 0, 1);
  in.expect_all_free();
}

TEST(RegionAllocator, AlignsAndLeavesTheGapFree) {
  Small in;
  for (size_t alignment = 1; alignment <= RegionAllocator::kMaxAlignment; alignment *= 2) {
    void* const before = in.region.allocate(1, 1);
    void* const block = in.region.allocate(100, alignment);
    ASSERT_NE(block, nullptr) << alignment;
    EXPECT_EQ(address(block) % alignment, 0u);
    // Nothing is used but the two: 32 bytes, and 116 rounded up to 16, 32 or 64.
    EXPECT_LE(in.region.used_bytes(), 32u + 128u);
    EXPECT_TRUE(in.region.validate().ok()) << alignment;
    in.region.deallocate(before, 1, 1);
    in.region.deallocate(block, 100, alignment);
    in.expect_all_free();
  }
}

// 1008 bytes and a header are 16 lines.
TEST(RegionAllocator, ARowOfLinesHasNoGaps) {
  Small in;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 60; ++i) blocks.push_back(static_cast<std::byte*>(in.region.allocate(1008, 64)));
  for (int i = 1; i < 60; ++i) EXPECT_EQ(blocks[static_cast<size_t>(i)] - blocks[static_cast<size_t>(i) - 1], 1024);
  for (std::byte* const block : blocks) in.region.deallocate(block, 1008, 64);
  in.expect_all_free();
}

TEST(RegionAllocator, JoinsNeighboursInAnyOrder) {
  Small in;
  std::array<size_t, 4> order{0, 1, 2, 3};
  do {
    std::array<void*, 4> blocks{};
    const std::array<size_t, 4> sizes{10'000, 20'000, 30'000, Small::kCapacity - 16 - 60'048};
    for (size_t i = 0; i < 4; ++i) blocks[i] = in.region.allocate(sizes[i], 16);
    EXPECT_EQ(in.region.free_count(), 0u);
    for (const size_t i : order) {
      in.region.deallocate(blocks[i], sizes[i], 16);
      ASSERT_TRUE(in.region.validate().ok());
    }
    in.expect_all_free();
  } while (std::next_permutation(order.begin(), order.end()));
}

// The lists of sizes from 2048 to 4095 are 64 bytes apart: a block of 2096 and a request that needs 2080 share one.
TEST(RegionAllocator, FindsTheLastBlockThatFits) {
  Small in;
  std::vector<void*> kept;
  void* const hole = in.region.allocate(2080, 16);
  kept.push_back(in.region.allocate(0, 16));
  void* const rest = in.region.allocate(in.region.largest_free(), 16);
  in.region.deallocate(hole, 2080, 16);
  EXPECT_EQ(in.region.largest_free(), 2080u);
  EXPECT_EQ(in.region.allocate(2081, 16), nullptr);
  EXPECT_EQ(in.region.allocate(2064, 16), hole);
  in.region.deallocate(hole, 2064, 16);
  EXPECT_EQ(in.region.allocate(2080, 16), hole);
  in.region.deallocate(hole, 2080, 16);
  in.region.deallocate(kept[0], 0, 16);
  in.region.deallocate(rest, Small::kCapacity - 2096 - 32 - 16, 16);
  in.expect_all_free();
}

TEST(RegionAllocator, StandsInMemoryOfTheCaller) {
  MemoryTracker tracker;
  alignas(64) std::array<std::byte, 4096> memory{};
  for (size_t start = 0; start < 65; ++start) {
    for (const size_t bytes : {size_t{128}, size_t{1001}, memory.size() - start}) {
      RegionAllocator region;
      const std::span<std::byte> part = std::span<std::byte>(memory).subspan(start, bytes);
      ASSERT_TRUE(region.init({.memory = part, .tracker = &tracker}).ok());
      EXPECT_LE(region.capacity() + 16, bytes);
      EXPECT_GE(region.capacity() + 16 + 63 + 15, bytes);
      const size_t most = region.largest_free();
      auto* const all = static_cast<std::byte*>(region.allocate(most, 16));
      ASSERT_NE(all, nullptr) << start << " " << bytes;
      EXPECT_EQ(address(all) % 64, 0u);
      EXPECT_GE(all, part.data() + 16);
      EXPECT_LE(all + most, part.data() + bytes - 16);
      EXPECT_TRUE(region.owns(all));
      EXPECT_TRUE(region.owns(all + most - 1));
      EXPECT_FALSE(region.owns(all - 1));
      EXPECT_FALSE(region.owns(part.data() + bytes));
      std::memset(all, 0xFF, most);
      EXPECT_TRUE(region.validate().ok());
      region.deallocate(all, most, 16);
      EXPECT_TRUE(region.validate().ok());
    }
  }
}

TEST(RegionAllocator, WhatCannotBeARegionIsRefused) {
  MemoryTracker tracker;
  test::CheckedMemory memory;
  RegionAllocator region;
  RegionConfig config{.bytes = 127, .allocator = &memory, .tracker = &tracker};
  EXPECT_EQ(region.init(config).code, StatusCode::too_small);
  config.bytes = (size_t{1} << 40) + 1;
  EXPECT_EQ(region.init(config).code, StatusCode::too_large);
  memory.fail_after(0);
  config.bytes = 1 << 20;
  EXPECT_EQ(region.init(config).code, StatusCode::out_of_memory);
  EXPECT_EQ(region.allocate(1, 1), nullptr);
  std::array<std::byte, 127> little{};
  EXPECT_EQ(region.init({.memory = little, .tracker = &tracker}).code, StatusCode::too_small);
  size_t rows = 1;
  EXPECT_TRUE(tracker.rows({}, rows).ok());
  EXPECT_EQ(rows, 0u);
  memory.fail_after(-1);
  EXPECT_TRUE(region.init(config).ok());
  EXPECT_GT(region.capacity(), 0u);
}

TEST(RegionAllocator, IsNotTakenFromUnderItsBlocks) {
  Small in;
  test::BrokenContracts contracts;
  void* const block = in.region.allocate(100, 8);
  EXPECT_EQ(in.region.init({.bytes = 1000, .allocator = &in.memory, .tracker = &in.tracker}).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(in.region.capacity(), Small::kCapacity);
  in.region.deallocate(block, 100, 8);
  in.expect_all_free();
}

TEST(RegionAllocator, OutlivesWhatItGave) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  const auto leak = [] {
    MemoryTracker tracker;
    RegionAllocator region;
    if (region.init({.bytes = 1000, .tracker = &tracker}).ok()) (void)region.allocate(100, 8);
  };
  EXPECT_DEATH(leak(), "contract broken: a region outlives what it gave");
}

TEST(RegionAllocator, AWrongAlignmentIsAFaultAndDoesNoHarm) {
  Small in;
  test::BrokenContracts contracts;
  for (const size_t alignment : {0u, 3u, 48u, 8192u}) {
    EXPECT_EQ(in.region.allocate(1, alignment), nullptr);
    EXPECT_TRUE(test::broke(contracts)) << alignment;
  }
  EXPECT_EQ(in.region.failed(), 0u);  // requests that did not fit
  in.expect_all_free();
}

// What is given back, and the faults that are noticed. After each, all is as it was.
TEST(RegionAllocator, NoticesWhatIsNotABlockOfItsOwn) {
  Small in, other;
  test::BrokenContracts contracts;
  std::array<std::byte*, 5> blocks{};
  for (std::byte*& block : blocks) {
    block = static_cast<std::byte*>(in.region.allocate(200, 16));
    std::memset(block, 0x20, 200);  // sizes that are multiples of 16, if they were read as such
  }
  auto* const foreign = static_cast<std::byte*>(other.region.allocate(200, 16));
  alignas(16) std::array<std::byte, 64> own{};
  const auto expect_refused = [&](std::byte* pointer, size_t bytes, size_t alignment) {
    const uint64_t count = in.region.block_count();
    in.region.deallocate(pointer, bytes, alignment);
    EXPECT_TRUE(test::broke(contracts));
    EXPECT_EQ(in.region.block_count(), count);
    EXPECT_TRUE(in.region.validate().ok());
  };
  expect_refused(foreign, 200, 16);
  expect_refused(own.data() + 16, 16, 16);
  for (const size_t offset : {1u, 8u, 16u, 32u, 64u, 192u}) expect_refused(blocks[1] + offset, 200, 16);
  expect_refused(blocks[0] - 16, 200, 16);
  expect_refused(blocks[4] + 224, 200, 16);            // the free block behind the last
  expect_refused(blocks[0] + Small::kCapacity, 0, 1);  // behind the end
  // Other sizes: a block of 200 is 224 with its header.
  expect_refused(blocks[1], 100, 16);
  expect_refused(blocks[1], 209, 16);
  expect_refused(blocks[1], 200, 64);
  expect_refused(blocks[1], std::numeric_limits<size_t>::max(), 16);
  // Twice: while it stands alone; after it joined the one before; after it joined the one behind.
  in.region.deallocate(blocks[1], 200, 16);
  expect_refused(blocks[1], 200, 16);
  in.region.deallocate(blocks[2], 200, 16);
  expect_refused(blocks[2], 200, 16);
  expect_refused(blocks[1], 200, 16);
  in.region.deallocate(blocks[0], 200, 16);
  for (const size_t i : {0u, 1u, 2u}) expect_refused(blocks[i], 200, 16);
  // And where another block covers it now.
  void* const cover = in.region.allocate(500, 16);
  EXPECT_EQ(cover, blocks[0]);
  for (const size_t i : {1u, 2u}) expect_refused(blocks[i], 200, 16);
  in.region.deallocate(cover, 500, 16);
  for (const size_t i : {3u, 4u}) in.region.deallocate(blocks[i], 200, 16);
  other.region.deallocate(foreign, 200, 16);
  EXPECT_EQ(contracts.count(), 0u);
  in.expect_all_free();
}

TEST(RegionAllocator, ValidateFindsWhoWritesWhereItMustNot) {
  Small in;
  auto* const first = static_cast<std::byte*>(in.region.allocate(16, 16));  // 32 bytes; a header follows
  auto* const second = static_cast<std::byte*>(in.region.allocate(16, 16));
  ASSERT_EQ(second, first + 32);
  ASSERT_TRUE(in.region.validate().ok());
  for (size_t at = 16; at < 32; ++at) {
    const std::byte before = first[at];
    first[at] ^= std::byte{0x40};
    const Status wrong = in.region.validate();
    EXPECT_EQ(wrong.code, StatusCode::bad_structure) << at;
    test::BrokenContracts contracts;
    in.region.deallocate(second, 16, 16);
    EXPECT_TRUE(test::broke(contracts)) << at;
    first[at] = before;
    EXPECT_TRUE(in.region.validate().ok());
  }
  in.region.deallocate(first, 16, 16);
  in.region.deallocate(second, 16, 16);
  in.expect_all_free();
}

// POOL-9: the region is held as a whole; what is made from it is part of it.
TEST(RegionAllocator, HasARowAndIsTheClassOfWhatIsInIt) {
  MemoryTracker tracker, mine;
  TrackedAllocator all("all", tracker);
  RegionAllocator region;
  ASSERT_TRUE(region.init({.name = "streamed", .bytes = 65'536, .allocator = &all, .tracker = &tracker}).ok());
  {
    const Arena arena("frame", 1000, region, tracker);  // 1016 bytes in whole lines: 1024
    void* const block = region.allocate(5000, 16);      // 5016: 5024
    MemoryRow rows[3];
    size_t found = 0;
    ASSERT_TRUE(tracker.rows(rows, found).ok());
    ASSERT_EQ(found, 3u);
    EXPECT_STREQ(rows[1].name, "streamed");
    EXPECT_STREQ(rows[1].within, "all");
    EXPECT_EQ(rows[1].kind, MemoryKind::region);
    EXPECT_EQ(rows[1].capacity, 65'472u);
    EXPECT_EQ(rows[1].used, 6048u);
    EXPECT_EQ(rows[1].bytes, 65'536u);
    EXPECT_STREQ(rows[2].within, "streamed");
    EXPECT_EQ(tracker.total_bytes(), 65'536u);
    region.deallocate(block, 5000, 16);
    EXPECT_EQ(region.memory_row().used, 1024u);
    EXPECT_EQ(region.memory_row().peak, 6048u);
  }
  std::vector<std::string> lines;
  print_memory_report(
      tracker,
      [](void* user, std::string_view line) { static_cast<std::vector<std::string>*>(user)->emplace_back(line); },
      &lines);
  ASSERT_EQ(lines.size(), 4u);
  std::istringstream words(lines[2]);
  std::vector<std::string> row;
  for (std::string word; words >> word;) row.push_back(word);
  EXPECT_EQ(row, (std::vector<std::string>{"streamed", "-", "65472", "0", "6048", "65536", "65536", "all"}));
  // Where nobody else accounts for the memory, the region's row is all that counts.
  ASSERT_TRUE(region.init({.name = "streamed", .bytes = 1000, .allocator = &all, .tracker = &mine}).ok());
  const Arena arena("frame", 100, region, mine);
  EXPECT_EQ(mine.total_bytes(), 1000u);
}

TEST(RegionAllocator, FreeMemoryIsPoisonedUnderAddressSanitizer) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  Small in;
  auto* const first = static_cast<std::byte*>(in.region.allocate(100, 16));
  auto* const second = static_cast<std::byte*>(in.region.allocate(1000, 16));
  auto* const third = static_cast<std::byte*>(in.region.allocate(100, 16));
  EXPECT_FALSE(__asan_address_is_poisoned(first));
  EXPECT_FALSE(__asan_address_is_poisoned(first + 99));
  EXPECT_TRUE(__asan_address_is_poisoned(first + 100));
  EXPECT_TRUE(__asan_address_is_poisoned(first + 111));  // a block of 128, 16 of which are its header
  EXPECT_TRUE(__asan_address_is_poisoned(third + 200));
  in.region.deallocate(second, 1000, 16);
  EXPECT_TRUE(__asan_address_is_poisoned(second + 16));  // behind the links
  EXPECT_TRUE(__asan_address_is_poisoned(second + 999));
  in.region.deallocate(first, 100, 16);
  EXPECT_TRUE(__asan_address_is_poisoned(second));
  in.region.deallocate(third, 100, 16);
  EXPECT_TRUE(__asan_address_is_poisoned(third - 16));
#else
  GTEST_SKIP() << "no AddressSanitizer";
#endif
}

// Sizes and offsets beyond 32 bits. The system gives pages when they are touched, so this needs few of them.
TEST(RegionAllocator, IsLargerThanFourGiB) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  GTEST_SKIP() << "shadow memory for all of it";
#else
  constexpr size_t kGiB = size_t{1} << 30;
  void* const mapped =
      mmap(nullptr, 20 * kGiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no address space";
  {
    MemoryTracker tracker;
    RegionAllocator region;
    ASSERT_TRUE(region.init({.memory = {static_cast<std::byte*>(mapped), 20 * kGiB}, .tracker = &tracker}).ok());
    EXPECT_GT(region.largest_free(), 20 * kGiB - 256);
    std::vector<std::byte*> blocks;
    while (auto* const block = static_cast<std::byte*>(region.allocate(5 * kGiB - 256, 4096))) {
      EXPECT_EQ(address(block) % 4096, 0u);
      for (const std::byte* const other : blocks)
        EXPECT_GE(block > other ? block - other : other - block, 5 * kGiB - 256);
      block[0] = block[5 * kGiB - 257] = std::byte(blocks.size());
      blocks.push_back(block);
    }
    ASSERT_EQ(blocks.size(), 3u);  // 20 GiB are 64 bytes and three gaps of 4 KiB short of four
    EXPECT_TRUE(region.validate().ok());
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i][0], std::byte(i));
      EXPECT_EQ(blocks[i][5 * kGiB - 257], std::byte(i));
      region.deallocate(blocks[i], 5 * kGiB - 256, 4096);
      EXPECT_TRUE(region.validate().ok());
    }
    EXPECT_EQ(region.free_count(), 1u);
    EXPECT_GE(region.peak_bytes(), 15 * kGiB - 1024);
  }
  munmap(mapped, 20 * kGiB);
#endif
}

}  // namespace
}  // namespace meridian
