// SPDX-License-Identifier: MIT
#include "meridian/base/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

std::vector<MemoryRow> rows_of(const MemoryTracker& tracker) {
  std::vector<MemoryRow> rows(64);
  size_t found = 0;
  EXPECT_TRUE(tracker.rows(rows, found).ok());
  rows.resize(found);
  return rows;
}

TEST(DefaultAllocator, GivesAlignedMemoryOfAnySize) {
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (const size_t bytes : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 5000u}) {
      void* const block = default_allocator().allocate(bytes, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
      std::memset(block, 0xAB, bytes);
      default_allocator().deallocate(block, bytes, alignment);
    }
  }
  default_allocator().deallocate(nullptr, 8, 8);
  EXPECT_EQ(default_allocator().memory_class(), nullptr);
}

TEST(DefaultAllocator, SizesThatWouldOverflowGiveNull) {
  for (const size_t less : {0u, 1u, 62u, 63u}) {
    EXPECT_EQ(default_allocator().allocate(SIZE_MAX - less, 64), nullptr);
  }
}

TEST(DefaultAllocator, AlignmentIsAPowerOfTwo) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  EXPECT_DEATH((void)default_allocator().allocate(8, 3), "contract broken: alignment is a power of two");
}

TEST(TrackedAllocator, CountsWhatPassesThrough) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  TrackedAllocator maps("map data", tracker, memory);
  EXPECT_STREQ(maps.memory_class(), "map data");
  void* const a = maps.allocate(100, 8);
  void* const b = maps.allocate(50, 64);
  maps.deallocate(a, 100, 8);
  maps.deallocate(nullptr, 1000, 8);
  void* const c = maps.allocate(20, 1);
  const MemoryRow row = maps.memory_row();
  EXPECT_STREQ(row.name, "map data");
  EXPECT_EQ(row.within, nullptr);
  EXPECT_EQ(row.kind, MemoryKind::allocations);
  EXPECT_EQ(row.element_bytes, 0u);
  EXPECT_EQ(row.capacity, 0u);
  EXPECT_EQ(row.used, 2u);
  EXPECT_EQ(row.peak, 2u);
  EXPECT_EQ(row.bytes, 70u);
  EXPECT_EQ(row.peak_bytes, 150u);
  maps.deallocate(b, 50, 64);
  maps.deallocate(c, 20, 1);
  EXPECT_EQ(maps.memory_row().bytes, 0u);
}

TEST(TrackedAllocator, WhatTheParentRefusesIsNotCounted) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  TrackedAllocator maps("map data", tracker, memory);
  memory.fail_after(0);
  EXPECT_EQ(maps.allocate(100, 8), nullptr);
  EXPECT_EQ(maps.memory_row().used, 0u);
  EXPECT_EQ(maps.memory_row().peak_bytes, 0u);
}

TEST(TrackedAllocator, OutlivesWhatItGave) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  const auto leak = [] {
    MemoryTracker tracker;
    TrackedAllocator maps("map data", tracker);
    (void)maps.allocate(100, 8);
  };
  EXPECT_DEATH(leak(), "contract broken: an allocation class outlives what it gave");
}

TEST(MemoryTracker, RowsComeInTheOrderOfRegistrationAndGoWithTheirSource) {
  MemoryTracker tracker;
  auto a = std::make_unique<TrackedAllocator>("a", tracker);
  auto b = std::make_unique<TrackedAllocator>("b", tracker);
  auto c = std::make_unique<TrackedAllocator>("c", tracker);
  const auto names = [&] {
    std::string all;
    for (const MemoryRow& row : rows_of(tracker)) all += row.name;
    return all;
  };
  EXPECT_EQ(names(), "abc");
  b.reset();
  EXPECT_EQ(names(), "ac");
  b = std::make_unique<TrackedAllocator>("b", tracker);
  EXPECT_EQ(names(), "acb");
  a.reset();
  EXPECT_EQ(names(), "cb");
  b.reset();
  EXPECT_EQ(names(), "c");
  c.reset();
  EXPECT_EQ(names(), "");
  EXPECT_EQ(tracker.total_bytes(), 0u);
}

TEST(MemoryTracker, TooFewRowsAreFilledAndTheNumberIsTold) {
  MemoryTracker tracker;
  const TrackedAllocator a("a", tracker), b("b", tracker), c("c", tracker);
  MemoryRow rows[2];
  size_t found = 0;
  const Status status = tracker.rows(rows, found);
  EXPECT_EQ(status.code, StatusCode::too_small);
  EXPECT_EQ(status.detail, 3u);
  EXPECT_EQ(found, 3u);
  EXPECT_STREQ(rows[0].name, "a");
  EXPECT_STREQ(rows[1].name, "b");
  EXPECT_EQ(tracker.rows({}, found).code, StatusCode::too_small);
  EXPECT_EQ(found, 3u);
}

// POOL-9: bytes of a class inside another are counted once.
TEST(MemoryTracker, NestedClassesAreCountedOnce) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  TrackedAllocator world("world", tracker, memory);
  TrackedAllocator maps("maps", tracker, world);
  TrackedAllocator roads("roads", tracker, maps);
  void* const a = world.allocate(1000, 8);
  void* const b = maps.allocate(100, 8);
  void* const c = roads.allocate(10, 8);
  EXPECT_EQ(world.memory_row().bytes, 1110u);
  EXPECT_EQ(maps.memory_row().bytes, 110u);
  EXPECT_EQ(roads.memory_row().bytes, 10u);
  EXPECT_STREQ(maps.memory_row().within, "world");
  EXPECT_STREQ(roads.memory_row().within, "maps");
  EXPECT_EQ(tracker.total_bytes(), 1110u);
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  roads.deallocate(c, 10, 8);
  maps.deallocate(b, 100, 8);
  world.deallocate(a, 1000, 8);
}

TEST(MemoryTracker, RandomClassesAddUpToWhatTheSourceGave) {
  for (const uint32_t seed : {11u, 12u, 13u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    test::CheckedMemory memory;
    MemoryTracker tracker;
    std::vector<std::unique_ptr<TrackedAllocator>> classes;  // each in an earlier one, or in the source itself
    for (int i = 0; i < 8; ++i) {
      Allocator& parent =
          i == 0 || random() % 3 == 0 ? static_cast<Allocator&>(memory) : *classes[random() % classes.size()];
      classes.push_back(std::make_unique<TrackedAllocator>("class", tracker, parent));
    }
    struct Block {
      Allocator* from;
      void* at;
      size_t bytes, alignment;
    };
    std::vector<Block> blocks;
    for (int i = 0; i < 20000; ++i) {
      if (blocks.empty() || random() % 100 < (i % 2000 < 1000 ? 60u : 40u)) {
        Block block{classes[random() % classes.size()].get(), nullptr, random() % 300, size_t{1} << random() % 8};
        block.at = block.from->allocate(block.bytes, block.alignment);
        ASSERT_NE(block.at, nullptr);
        blocks.push_back(block);
      } else {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        blocks.back().from->deallocate(blocks.back().at, blocks.back().bytes, blocks.back().alignment);
        blocks.pop_back();
      }
      if (i % 16 == 0) {
        ASSERT_EQ(tracker.total_bytes(), memory.bytes());
      }
    }
    for (const Block& block : blocks) block.from->deallocate(block.at, block.bytes, block.alignment);
    EXPECT_EQ(tracker.total_bytes(), 0u);
    while (!classes.empty()) classes.pop_back();
  }
}

class Source final : public MemorySource {
 public:
  explicit Source(MemoryRow row) : row_(row) {}
  ~Source() override { detach(); }
  void attach_to(MemoryTracker& tracker) { attach(tracker); }
  MemoryRow memory_row() const override { return row_; }

 private:
  MemoryRow row_;
};

TEST(MemoryTracker, ASourceIsAttachedOnce) {
  MemoryTracker tracker, other;
  Source a({.name = "a"}), b({.name = "b"});
  a.attach_to(tracker);
  b.attach_to(tracker);
  test::BrokenContracts contracts;
  a.attach_to(other);
  a.attach_to(tracker);
  if (test::kAsserts) {
    EXPECT_TRUE(test::broke(contracts, 2));
  }
  EXPECT_EQ(rows_of(tracker).size(), 2u);
  EXPECT_EQ(rows_of(other).size(), 0u);
}

// POOL-9
TEST(MemoryReport, HasAHeadingARowForEachSourceAndATotal) {
  MemoryTracker tracker;
  Source pool({.name = "Entity",
               .within = nullptr,
               .kind = MemoryKind::pool,
               .element_bytes = 192,
               .capacity = 32200,
               .used = 7,
               .peak = 4711,
               .bytes = 6440032,
               .peak_bytes = 6440032});
  Source maps(
      {.name = "map data", .kind = MemoryKind::allocations, .used = 3, .peak = 5, .bytes = 1000, .peak_bytes = 2000});
  Source inner(
      {.name = "roads", .within = "map data", .kind = MemoryKind::allocations, .bytes = 400, .peak_bytes = 400});
  for (Source* source : {&pool, &maps, &inner}) source->attach_to(tracker);
  std::vector<std::string> lines;
  print_memory_report(
      tracker,
      [](void* user, std::string_view line) { static_cast<std::vector<std::string>*>(user)->emplace_back(line); },
      &lines);
  ASSERT_EQ(lines.size(), 5u);
  const auto words = [](const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words(lines[0]),
            (Words{"name", "element", "capacity", "used", "peak", "bytes", "peak", "bytes", "within"}));
  EXPECT_EQ(words(lines[1]), (Words{"Entity", "192", "32200", "7", "4711", "6440032", "6440032"}));
  EXPECT_EQ(words(lines[2]), (Words{"map", "data", "-", "-", "3", "5", "1000", "2000"}));
  EXPECT_EQ(words(lines[3]), (Words{"roads", "-", "-", "0", "0", "400", "400", "map", "data"}));
  EXPECT_EQ(lines[4], "total 6441032 bytes");  // 6440032 + 1000; the roads are part of the map data
  for (const std::string& line : lines) EXPECT_EQ(line.find('\n'), std::string::npos);
  // Columns stand below their headings: numbers end where the heading ends.
  const auto ends_at = [&](size_t row, const std::string& heading, const std::string& number) {
    const size_t end = lines[0].find(heading) + heading.size();
    return lines[row].substr(end - number.size(), number.size()) == number;
  };
  EXPECT_TRUE(ends_at(1, "element", "192"));
  EXPECT_TRUE(ends_at(1, "capacity", "32200"));
  EXPECT_TRUE(ends_at(1, "used", "7"));
  EXPECT_TRUE(ends_at(2, "used", "3"));
  EXPECT_TRUE(ends_at(2, "peak bytes", "2000"));
  EXPECT_EQ(lines[3].find("map data"), lines[0].find("within"));
}

TEST(MemoryReport, LongNamesAndLargeNumbersDoNoHarm) {
  MemoryTracker tracker;
  const std::string name(2000, 'n');
  Source pool({.name = name.c_str(),
               .within = name.c_str(),
               .element_bytes = UINT32_MAX,
               .capacity = UINT64_MAX,
               .used = UINT64_MAX,
               .peak = UINT64_MAX,
               .bytes = UINT64_MAX,
               .peak_bytes = UINT64_MAX});
  pool.attach_to(tracker);
  int lines = 0;
  print_memory_report(
      tracker, [](void* user, std::string_view) { ++*static_cast<int*>(user); }, &lines);
  EXPECT_EQ(lines, 3);
}

TEST(MemoryThreads, ClassesCountFromManyThreadsAndSourcesComeAndGo) {
  MemoryTracker tracker;
  {
    TrackedAllocator shared("shared", tracker);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 500; ++i) {
          TrackedAllocator own("own", tracker, shared);
          const size_t bytes = 1 + random() % 100;
          void* const block = own.allocate(bytes, 8);
          static_cast<char*>(block)[bytes - 1] = 1;
          own.deallocate(block, bytes, 8);
          (void)tracker.total_bytes();  // of allocation classes: atomic counters
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const MemoryRow row = shared.memory_row();
    EXPECT_EQ(row.used, 0u);
    EXPECT_EQ(row.bytes, 0u);
    EXPECT_GE(row.peak, 1u);
    EXPECT_LE(row.peak, 4u);
    EXPECT_LE(row.peak_bytes, 400u);
    EXPECT_EQ(rows_of(tracker).size(), 1u);
  }
  EXPECT_EQ(rows_of(tracker).size(), 0u);
}

TEST(MemoryTracker, DefaultOnesAreTheSameEachTime) {
  EXPECT_EQ(&default_memory_tracker(), &default_memory_tracker());
  EXPECT_EQ(&default_allocator(), &default_allocator());
}

// POOL-9: what a class of another tracker accounts for is in this one's total.
TEST(MemoryTracker, ClassesOfOtherTrackersCountHere) {
  MemoryTracker mine, other;
  TrackedAllocator outer("outer", other);
  TrackedAllocator inner("inner", mine, outer);
  void* const block = inner.allocate(100, 16);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(mine.total_bytes(), 100u);
  EXPECT_EQ(other.total_bytes(), 100u);
  inner.deallocate(block, 100, 16);
}

}  // namespace
}  // namespace meridian
