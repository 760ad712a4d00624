// SPDX-License-Identifier: MIT
// UTIL-1: the linear step allocator.
#include "meridian/base/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "meridian/base/assert.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

uintptr_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

TEST(Arena, StepsThroughABlockOfTheCaller) {
  alignas(64) std::array<std::byte, 64> block{};
  Arena arena(block);
  EXPECT_EQ(arena.capacity(), 64u);
  EXPECT_EQ(arena.allocate(10, 1), block.data());
  EXPECT_EQ(arena.allocate(1, 1), block.data() + 10);
  EXPECT_EQ(arena.allocate(8, 8), block.data() + 16);
  EXPECT_EQ(arena.used_bytes(), 24u);
  EXPECT_EQ(arena.allocate(0, 32), block.data() + 32);
  EXPECT_EQ(arena.allocate(32, 1), block.data() + 32);
  EXPECT_EQ(arena.used_bytes(), 64u);
  EXPECT_EQ(arena.failed(), 0u);
}

TEST(Arena, GivesNullWhenFullAndStaysAsItWas) {
  alignas(64) std::array<std::byte, 64> block{};
  Arena arena(block);
  EXPECT_EQ(arena.allocate(65, 1), nullptr);
  ASSERT_NE(arena.allocate(60, 1), nullptr);
  EXPECT_EQ(arena.allocate(1, 64), nullptr);  // the gap alone is too much
  EXPECT_EQ(arena.allocate(1, 8), nullptr);
  EXPECT_EQ(arena.allocate(std::numeric_limits<size_t>::max(), 1), nullptr);
  EXPECT_EQ(arena.failed(), 4u);
  EXPECT_EQ(arena.used_bytes(), 60u);
  EXPECT_EQ(arena.allocate(4, 4), block.data() + 60);
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
}

TEST(Arena, AlignsTheAddressOfABlockThatStartsAnywhere) {
  alignas(64) std::array<std::byte, 256> block{};
  for (size_t start = 0; start < 64; ++start) {
    Arena arena(std::span<std::byte>(block).subspan(start));
    for (const size_t alignment : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
      const void* const place = arena.allocate(1, alignment);
      ASSERT_NE(place, nullptr);
      EXPECT_EQ(address(place) % alignment, 0u);
    }
  }
}

TEST(Arena, WithoutABlockGivesNothing) {
  Arena arena(std::span<std::byte>{});
  EXPECT_EQ(arena.allocate(0, 1), nullptr);
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
  EXPECT_EQ(arena.make<int>(1), nullptr);
  arena.reset();
}

TEST(Arena, MakesValuesAndArrays) {
  struct Pair {
    int a = 1, b = 2;
  };
  alignas(64) std::array<std::byte, 128> block;
  block.fill(std::byte{0xEE});
  Arena arena(block);
  const int* const number = arena.make<int>(42);
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(*number, 42);
  const std::span<Pair> pairs = arena.make_array<Pair>(3);
  ASSERT_EQ(pairs.size(), 3u);
  for (const Pair& pair : pairs) EXPECT_EQ(pair.a + pair.b, 3);
  const std::span<double> zeros = arena.make_array<double>(2);
  ASSERT_EQ(zeros.size(), 2u);
  EXPECT_EQ(zeros[0], 0.0);
  EXPECT_EQ(zeros[1], 0.0);
  EXPECT_TRUE(arena.make_array<double>(100).empty());
  EXPECT_TRUE(arena.make_array<double>(std::numeric_limits<size_t>::max() / 8 + 2).empty());  // would wrap to 8 bytes
  EXPECT_TRUE(arena.make_array<double>(0).empty());
  EXPECT_EQ(*number, 42);
}

TEST(Arena, RewindsToAMarker) {
  alignas(64) std::array<std::byte, 64> block{};
  Arena arena(block);
  (void)arena.allocate(8, 8);
  const size_t marker = arena.marker();
  void* const first = arena.allocate(16, 8);
  {
    const ArenaScope outer(arena);
    (void)arena.allocate(8, 8);
    {
      const ArenaScope inner(arena);
      (void)arena.allocate(8, 8);
      EXPECT_EQ(arena.used_bytes(), 40u);
    }
    EXPECT_EQ(arena.used_bytes(), 32u);
  }
  EXPECT_EQ(arena.used_bytes(), 24u);
  arena.rewind(marker);
  EXPECT_EQ(arena.used_bytes(), 8u);
  EXPECT_EQ(arena.allocate(16, 8), first);
  arena.reset();
  EXPECT_EQ(arena.used_bytes(), 0u);
  EXPECT_EQ(arena.allocate(1, 1), block.data());
  EXPECT_EQ(arena.peak_bytes(), 40u);
}

TEST(Arena, HasARowInTheReportOfItsTracker) {
  MemoryTracker tracker;
  {
    TrackedAllocator frame_memory("frame memory", tracker);
    {
      Arena arena("frame", 1000, frame_memory, tracker);
      EXPECT_EQ(arena.capacity(), 1000u);
      ASSERT_NE(arena.allocate(100, 4), nullptr);
      arena.reset();
      ASSERT_NE(arena.allocate(10, 4), nullptr);
      MemoryRow rows[2];
      size_t found = 0;
      ASSERT_TRUE(tracker.rows(rows, found).ok());
      ASSERT_EQ(found, 2u);
      EXPECT_STREQ(rows[1].name, "frame");
      EXPECT_STREQ(rows[1].within, "frame memory");
      EXPECT_EQ(rows[1].kind, MemoryKind::pool);
      EXPECT_EQ(rows[1].element_bytes, 1u);
      EXPECT_EQ(rows[1].capacity, 1000u);
      EXPECT_EQ(rows[1].used, 10u);
      EXPECT_EQ(rows[1].peak, 100u);
      EXPECT_EQ(rows[1].bytes, 1000u);
      EXPECT_EQ(tracker.total_bytes(), 1000u);  // once, though two rows hold it
    }
    EXPECT_EQ(frame_memory.memory_row().bytes, 0u);
    EXPECT_EQ(frame_memory.memory_row().peak, 1u);
  }
  size_t found = 1;
  EXPECT_TRUE(tracker.rows({}, found).ok());
  EXPECT_EQ(found, 0u);
}

TEST(Arena, WithoutMemoryHasNoCapacity) {
  MemoryTracker tracker;
  test::CheckedMemory empty;
  empty.fail_after(0);
  Arena arena("frame", 1000, empty, tracker);
  EXPECT_EQ(arena.capacity(), 0u);
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
  EXPECT_EQ(arena.memory_row().bytes, 0u);
}

TEST(Arena, AWrongAlignmentOrMarkerIsAFaultAndDoesNoHarm) {
  static int asserts = 0;
  asserts = 0;
  set_assert_handler([](const char*, const char*, const char*, int) {
    ++asserts;
    return false;
  });
  std::array<std::byte, 64> block{};
  Arena arena(block);
  EXPECT_EQ(arena.allocate(1, 3), nullptr);
  EXPECT_EQ(arena.allocate(1, 0), nullptr);
  (void)arena.allocate(8, 1);
  arena.rewind(9);
  EXPECT_EQ(arena.used_bytes(), 8u);
  set_assert_handler(nullptr);
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  EXPECT_EQ(asserts, 3);
#endif
}

// Every live allocation keeps the byte it was filled with, so no two overlap.
TEST(Arena, RandomAllocationsNeverOverlap) {
  constexpr uint32_t kSeed = 4711;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  Arena arena("test", 4096, default_allocator());
  struct Block {
    unsigned char* data;
    size_t bytes;
    size_t marker;
    unsigned char fill;
  };
  std::vector<Block> live;
  size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 40 == 0) {
      const size_t keep = live.empty() ? 0 : random() % live.size();
      arena.rewind(live.empty() ? 0 : live[keep].marker);
      live.resize(keep);
    }
    const size_t marker = arena.marker();
    const size_t bytes = random() % 200;
    const size_t alignment = size_t{1} << random() % 8;
    auto* const data = static_cast<unsigned char*>(arena.allocate(bytes, alignment));
    if (data == nullptr) {
      ASSERT_GT(marker + bytes + alignment, 4096u) << i;
      ASSERT_EQ(arena.marker(), marker);
      continue;
    }
    ASSERT_EQ(address(data) % alignment, 0u);
    live.push_back({data, bytes, marker, static_cast<unsigned char>(random())});
    if (bytes != 0) std::memset(data, live.back().fill, bytes);
    most = std::max(most, arena.used_bytes());
    for (const Block& block : live) {
      for (size_t at = 0; at < block.bytes; ++at) ASSERT_EQ(block.data[at], block.fill) << i;
    }
  }
  EXPECT_EQ(arena.peak_bytes(), most);
}

}  // namespace
}  // namespace meridian
