// SPDX-License-Identifier: MIT
#include "meridian/core/paged_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"
#include "support/pool_model.h"

namespace meridian {
namespace {

using test::Item;

struct Note {
  explicit Note(int t = 0) : text(t) {}
  int text;
};

// POOL-8: pages of N, stable addresses, grows to a limit.
TEST(PagedPool, GrowsByPagesToItsLimitAndNothingMoves) {
  test::CapturedLog log;
  test::CheckedMemory memory;
  PagedPool<Note> pool;
  ASSERT_TRUE(pool.init({.name = "Note", .capacity = 10}, 4, memory).ok());
  EXPECT_EQ(pool.capacity(), 10u);
  EXPECT_EQ(pool.paged_in(), 0u);
  EXPECT_EQ(memory.calls(), 1u);  // the table
  std::vector<Note*> notes;
  for (int i = 0; i < 10; ++i) {
    notes.push_back(pool.create(i));
    ASSERT_NE(notes.back(), nullptr);
    EXPECT_EQ(memory.calls(), 2u + static_cast<uint32_t>(i) / 4);
    EXPECT_EQ(pool.paged_in(), i < 4 ? 4u : i < 8 ? 8u : 10u);
    EXPECT_EQ(pool.handle_of(*notes.back()).slot, static_cast<uint32_t>(i));
    EXPECT_EQ(pool.used(), static_cast<uint32_t>(i) + 1);
  }
  EXPECT_EQ(pool.try_create(), nullptr);
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(log.all(), "Note pool full (capacity 10): raise PoolSize 'Note' in gameconfig\n");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(notes[static_cast<size_t>(i)]->text, i);
    EXPECT_EQ(pool.at(static_cast<uint32_t>(i)), notes[static_cast<size_t>(i)]);
  }
  pool.clear();
  EXPECT_EQ(pool.paged_in(), 10u);  // pages stay
  EXPECT_EQ(memory.calls(), 4u);
  pool.shutdown();
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(PagedPool, SlotsWithoutAPageAreFree) {
  PagedPool<Note> pool;
  ASSERT_TRUE(pool.init({.name = "Note", .capacity = 100}, 8).ok());
  ASSERT_NE(pool.create(), nullptr);
  EXPECT_EQ(pool.flags(7), 0x80);
  EXPECT_EQ(pool.flags(8), 0x80);
  EXPECT_EQ(pool.flags(99), 0x80);
  EXPECT_EQ(pool.at(8), nullptr);
  EXPECT_EQ(pool.get({1, 8}), nullptr);
  EXPECT_EQ(pool.get_packed(8u << 8 | 1), nullptr);
}

TEST(PagedPool, NoMemoryForAPageIsAFullPoolUntilThereIsSome) {
  test::CapturedLog log;
  test::CheckedMemory memory;
  PagedPool<Note> pool;
  memory.fail_after(0);
  EXPECT_EQ(pool.init({.name = "Note", .capacity = 10}, 4, memory).code, StatusCode::out_of_memory);
  EXPECT_EQ(pool.begin(), pool.end());
  EXPECT_EQ(pool.create(), nullptr);
  memory.fail_after(2);
  ASSERT_TRUE(pool.init({.name = "Note", .capacity = 10}, 4, memory).ok());
  log.clear();
  for (int i = 0; i < 4; ++i) ASSERT_NE(pool.create(i), nullptr);
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(pool.used(), 4u);
  EXPECT_EQ(pool.denied(), 1u);
  EXPECT_EQ(log.count(), 1u);
  memory.fail_after(-1);
  for (int i = 4; i < 10; ++i) ASSERT_NE(pool.create(i), nullptr);
  EXPECT_EQ(pool.try_create(), nullptr);
}

TEST(PagedPool, APageHoldsAPowerOfTwo) {
  PagedPool<Note> pool;
  for (const uint32_t page : {0u, 3u, 12u, 0x80000001u, 0xFFFFFFFFu}) {
    test::BrokenContracts contracts;
    const Status status = pool.init({.name = "Note", .capacity = 10}, page);
    EXPECT_TRUE(test::broke(contracts));
    EXPECT_EQ(status.code, StatusCode::bad_value);
    EXPECT_EQ(status.detail, page);
    EXPECT_EQ(pool.try_create(), nullptr);
  }
  EXPECT_TRUE(pool.init({.name = "Note", .capacity = 3}, 1).ok());
  for (int i = 0; i < 3; ++i) EXPECT_NE(pool.create(), nullptr);
  EXPECT_EQ(pool.try_create(), nullptr);
}

// POOL-1: alignment; POOL-9: bytes, against what was allocated.
TEST(PagedPool, AlignmentAndBytesAreRight) {
  struct alignas(128) Wide {
    char bytes[130] = {};
  };
  test::CheckedMemory memory;
  MemoryTracker tracker;
  PagedPool<Wide> wide;
  PagedPool<char> narrow;
  ASSERT_TRUE(wide.init({.name = "Wide", .capacity = 100, .tracker = &tracker}, 8, memory).ok());
  ASSERT_TRUE(narrow.init({.name = "Narrow", .capacity = 100, .tracker = &tracker}, 16, memory).ok());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(tracker.total_bytes(), memory.bytes());
    const Wide* const element = wide.create();
    ASSERT_NE(element, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(element) % 128, 0u);
    ASSERT_NE(narrow.create(), nullptr);
  }
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  EXPECT_EQ(wide.memory_row().bytes + narrow.memory_row().bytes, memory.bytes());
  wide.shutdown();
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
}

// POOL-2, POOL-3, POOL-4, POOL-8
TEST(PagedPool, DoesAsTheModel) {
  const test::CapturedLog log;
  uint32_t seed = 400;
  for (const uint32_t page : {1u, 4u, 16u, 128u}) {
    PagedPool<Item> pool;
    ASSERT_TRUE(pool.init({.name = "Item", .capacity = 70}, page).ok());
    test::expect_pool_like_model(pool, page, 1u << 31, ++seed, 20000, test::make_item<PagedPool<Item>>);
  }
  for (const uint32_t max_uses : {1u, 5u, 130u}) {
    PagedPool<Item> pool;
    ASSERT_TRUE(pool.init({.name = "Item", .capacity = 70, .max_uses = max_uses}, 8).ok());
    test::expect_pool_like_model(pool, 8, max_uses, ++seed, 10000, test::make_item<PagedPool<Item>>);
  }
  EXPECT_EQ(Item::g_alive, 0);
}

TEST(PagedPool, OperationsOfAFrameDoNotAllocateWhenPagesAreThere) {
  PagedPool<Note> pool;
  ASSERT_TRUE(pool.init({.name = "Note", .capacity = 64}, 16).ok());
  for (int i = 0; i < 64; ++i) ASSERT_NE(pool.create(i), nullptr);
  pool.clear();
  const uint64_t before = test::allocation_count();
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 65; ++i) (void)pool.try_create(i);
    for (const Note& note : pool) (void)pool.get(pool.handle_of(note));
    pool.clear();
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace meridian
