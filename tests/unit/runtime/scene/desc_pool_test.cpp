// SPDX-License-Identifier: MIT
#include "meridian/scene/desc_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/core/pool_slots.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "unit/runtime/scene/desc_pool_kit.h"

#ifdef MERIDIAN_POISON_FREE_SLOTS
extern "C" int __asan_address_is_poisoned(const volatile void* address);
#endif

// DESC-5: storage of descriptors and its compaction. POOL-8, POOL-9.

namespace meridian {
namespace {

using test::kUnit;
using test::text_of;
using test::Watched;

// DESC-5: 64 000 x 64 bytes where nothing else is said.
TEST(DescPool, HasItsDefaultCapacityAndWholeUnits) {
  DescPool pool;
  ASSERT_TRUE(pool.init({}).ok());
  EXPECT_STREQ(pool.name(), "fwEntityDescPool");
  EXPECT_EQ(pool.stats().capacity_bytes, 4'096'000u);
  const DescBlockId one = pool.allocate(1, false).value(), two = pool.allocate(64, false).value(),
                    three = pool.allocate(65, false).value();
  EXPECT_EQ(pool.size(one), 64u);
  EXPECT_EQ(pool.size(two), 64u);
  EXPECT_EQ(pool.size(three), 128u);
  EXPECT_EQ(pool.data(two) - pool.data(one), 64);
  EXPECT_EQ(pool.data(three) - pool.data(two), 64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pool.data(one)) % 64, 0u);
  EXPECT_EQ(pool.stats().used_bytes, 256u);
  EXPECT_EQ(pool.stats().blocks, 3u);
  pool.free(two);
  EXPECT_EQ(pool.stats().used_bytes, 192u);
  EXPECT_EQ(pool.stats().peak_bytes, 256u);
  EXPECT_EQ(pool.stats().largest_hole_bytes, 4'096'000u - 256);
  EXPECT_EQ(pool.stats().holes, 2u);
}

// DESC-5: full or fragmented, by hand: 8 units, every second one is freed.
TEST(DescPool, SaysWhetherItIsFullOrFragmented) {
  test::CapturedLog log;
  Watched w({.bytes = 8 * kUnit, .max_blocks = 16});
  std::vector<DescBlockId> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(w.allocate(kUnit, false).value());
  for (const size_t i : {1u, 3u, 5u}) w.free(ids[i]);

  const Result<DescBlockId> fragmented = w.allocate(3 * kUnit, false);
  EXPECT_EQ(fragmented.status().code, StatusCode::out_of_slots);
  EXPECT_NE(text_of(fragmented).find("fragmented"), std::string::npos);
  EXPECT_EQ(fragmented.status().detail, 3 * kUnit);
  EXPECT_EQ(fragmented.status().name, hash_name("fwEntityDescPool"));
  EXPECT_EQ(log.count(), 0u);
  w.check();

  EXPECT_TRUE(w.allocate(3 * kUnit, true).ok());  // compacts
  EXPECT_GT(w.moves, 0u);
  w.check();

  w.free(ids[0]);
  w.free(ids[7]);
  for (const bool may_compact : {false, true}) {
    const Result<DescBlockId> full = w.allocate(3 * kUnit, may_compact);
    EXPECT_EQ(full.status().code, StatusCode::out_of_slots);
    EXPECT_NE(text_of(full).find("full"), std::string::npos);
    EXPECT_EQ(full.status().detail, 3 * kUnit);
  }
  ASSERT_EQ(log.count(), 1u) << log.all();  // once
  EXPECT_EQ(log.said()[0].text, "fwEntityDescPool full (512 bytes, 384 in use) for 192 bytes more: raise its size");
  EXPECT_EQ(w.allocate(9 * kUnit, true).status().code, StatusCode::too_large);
  EXPECT_EQ(w.allocate(SIZE_MAX, true).status().code, StatusCode::too_large);
  EXPECT_EQ(w.pool.stats().denied, 5u);
  EXPECT_EQ(w.pool.stats().denied_fragmented, 1u);
  w.check();
}

TEST(DescPool, RunsOutOfBlocksOnce) {
  test::CapturedLog log;
  Watched w({.name = "Small", .bytes = 100 * kUnit, .max_blocks = 3});
  std::vector<DescBlockId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(w.allocate(kUnit, false).value());
  for (int i = 0; i < 2; ++i) {
    const Result<DescBlockId> none = i == 0 ? w.allocate(kUnit, true) : w.pool.allocate_fixed(kUnit, true);
    EXPECT_EQ(none.status().code, StatusCode::out_of_slots);
    EXPECT_EQ(none.status().detail, 3u);
    EXPECT_NE(text_of(none).find("blocks"), std::string::npos);
  }
  EXPECT_EQ(log.all(), "Small: all 3 blocks are in use: raise max_blocks\n");
  w.free(ids[1]);
  EXPECT_TRUE(w.allocate(kUnit, true).ok());
  w.check();
}

// DESC-5: fixed blocks take the low end. By hand, both ways of making room.
TEST(DescPool, FixedBlocksTakeTheLowEnd) {
  test::CapturedLog log;
  Watched w({.bytes = 20 * kUnit, .max_blocks = 16});
  const DescBlockId a = w.allocate(2 * kUnit, false).value(), b = w.allocate(3 * kUnit, false).value(),
                    c = w.allocate(4 * kUnit, false).value();  // aabbbcccc...........
  const Result<DescBlockId> locked = w.allocate(3 * kUnit, false, true);
  EXPECT_NE(text_of(locked).find("fragmented"), std::string::npos);
  // a and b are in the way, and go behind c.
  const DescBlockId f = w.allocate(3 * kUnit, true, true).value();  // fff..ccccaabbb......
  EXPECT_EQ(w.pool.data(f), w.base);
  EXPECT_EQ(w.pool.data(c), w.base + 5 * kUnit);
  EXPECT_EQ(w.pool.data(a), w.base + 9 * kUnit);
  EXPECT_EQ(w.pool.data(b), w.base + 11 * kUnit);
  w.check();
  // 5 units are free, but the hole at the upper end is too small for c: all move up.
  const DescBlockId d = w.allocate(3 * kUnit, false).value();       // fff..ccccaabbbddd...
  const DescBlockId g = w.allocate(5 * kUnit, true, true).value();  // fffgggggccccaabbbddd
  EXPECT_EQ(w.pool.data(g), w.base + 3 * kUnit);
  EXPECT_EQ(w.pool.data(c), w.base + 8 * kUnit);
  EXPECT_EQ(w.pool.data(a), w.base + 12 * kUnit);
  EXPECT_EQ(w.pool.data(b), w.base + 14 * kUnit);
  EXPECT_EQ(w.pool.data(d), w.base + 17 * kUnit);
  w.check();

  // A hole in the fixed part is for fixed blocks.
  w.free(f);
  EXPECT_EQ(w.pool.stats().reserved_bytes, 3 * kUnit);
  EXPECT_EQ(w.pool.stats().free_bytes, 0u);
  EXPECT_NE(text_of(w.allocate(kUnit, true)).find("full"), std::string::npos);
  const DescBlockId h = w.allocate(2 * kUnit, false, true).value();  // hh.gggggccccaabbbddd
  EXPECT_EQ(w.pool.data(h), w.base);
  EXPECT_TRUE(w.pool.is_fixed(h));
  EXPECT_FALSE(w.pool.is_fixed(a));
  w.check();
  // It ends where the last fixed block does.
  w.free(g);  // hh......ccccaabbbddd
  EXPECT_EQ(w.pool.stats().reserved_bytes, 0u);
  EXPECT_EQ(w.pool.stats().largest_hole_bytes, 6 * kUnit);
  EXPECT_EQ(w.pool.compact_all(), 6 * kUnit);  // b and d fill the hole; all the others stay
  EXPECT_EQ(w.pool.data(c), w.base + 8 * kUnit);
  EXPECT_EQ(w.pool.stats().largest_hole_bytes, 6 * kUnit);
  EXPECT_EQ(w.pool.stats().holes, 1u);
  w.check();
  EXPECT_EQ(w.pool.compact_all(), 0u);
  EXPECT_EQ(w.pool.data(h), w.base);
}

// POOL-9: the row of a report, against what the allocator gave.
TEST(DescPool, HasARowInMemoryReports) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  {
    TrackedAllocator scene("scene", tracker, memory);
    {
      DescPool pool;
      ASSERT_TRUE(
          pool.init({.name = "Descs", .bytes = 1000 * kUnit + 63, .max_blocks = 50, .tracker = &tracker}, scene).ok());
      EXPECT_EQ(memory.blocks(), 1u);
      (void)pool.allocate(10 * kUnit, false);
      const DescBlockId id = pool.allocate_fixed(5 * kUnit, true).value();
      pool.free(id);
      MemoryRow rows[4];
      size_t found = 0;
      ASSERT_TRUE(tracker.rows(rows, found).ok());
      ASSERT_EQ(found, 2u);
      EXPECT_STREQ(rows[1].name, "Descs");
      EXPECT_STREQ(rows[1].within, "scene");
      EXPECT_EQ(rows[1].kind, MemoryKind::pool);
      EXPECT_EQ(rows[1].element_bytes, 64u);
      EXPECT_EQ(rows[1].capacity, 1000u);
      EXPECT_EQ(rows[1].used, 10u);
      EXPECT_EQ(rows[1].peak, 15u);
      EXPECT_EQ(rows[1].bytes, memory.bytes());
      EXPECT_EQ(memory.calls(), 1u);
    }
    EXPECT_EQ(memory.bytes(), 0u);
  }
}

TEST(DescPool, MemoryThatIsRefusedLeavesAFullPool) {
  test::CapturedLog log;
  test::BrokenContracts contracts;
  test::CheckedMemory memory;
  memory.fail_after(0);
  MemoryTracker tracker;
  DescPool pool;
  EXPECT_EQ(pool.init({.tracker = &tracker}, memory).code, StatusCode::out_of_memory);
  EXPECT_EQ(pool.stats().capacity_bytes, 0u);
  EXPECT_EQ(pool.allocate(1, true).status().code, StatusCode::out_of_slots);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.compact_all(), 0u);
  memory.fail_after(-1);
  for (const DescPoolConfig& bad :
       {DescPoolConfig{.bytes = 63}, DescPoolConfig{.bytes = SIZE_MAX}, DescPoolConfig{.max_blocks = 0},
        DescPoolConfig{.max_blocks = kMaxDescBlocks + 1}}) {
    EXPECT_EQ(pool.init(bad, memory).code, StatusCode::bad_value);
  }
  EXPECT_EQ(memory.calls(), 0u);
  for (int i = 0; i < 2; ++i) {  // and again after a shutdown
    ASSERT_TRUE(pool.init({.bytes = 256, .max_blocks = 2, .tracker = &tracker}, memory).ok());
    EXPECT_TRUE(pool.allocate(256, true).ok());
    EXPECT_EQ(pool.init({.bytes = 256, .max_blocks = 2}, memory).code, StatusCode::in_use);
    EXPECT_TRUE(test::broke(contracts));
    pool.shutdown();
    EXPECT_EQ(memory.bytes(), 0u);
    EXPECT_EQ(pool.stats().used_bytes, 0u);
  }
}

TEST(DescPool, BrokenContractsDoNoHarm) {
  test::BrokenContracts contracts;
  Watched w({.bytes = 16 * kUnit, .max_blocks = 4});
  const DescBlockId a = w.allocate(kUnit, false).value();
  for (const DescBlockId bad : {DescBlockId{}, DescBlockId{3}, DescBlockId{4}, DescBlockId{8}}) {
    w.pool.free(bad);
    EXPECT_EQ(w.pool.data(bad), nullptr);
    EXPECT_EQ(w.pool.size(bad), 0u);
    EXPECT_FALSE(w.pool.is_fixed(bad));
    EXPECT_TRUE(test::broke(contracts, 3));
  }
  EXPECT_EQ(w.pool.allocate(0, true).status().code, StatusCode::bad_value);
  EXPECT_EQ(w.pool.allocate_fixed(0, true).status().code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts, 2));
  w.check();
  w.free(a);
  w.pool.free(a);
  EXPECT_TRUE(test::broke(contracts));
  w.check();
}

TEST(DescPool, OnMovedCanReadButNotChangeThePool) {
  test::BrokenContracts contracts;
  struct Meddler {
    DescPool pool;
    uint32_t calls = 0;
  } meddler;
  const auto meddle = [](void* user, DescBlockId id, std::byte* now) {
    auto& m = *static_cast<Meddler*>(user);
    ++m.calls;
    EXPECT_EQ(m.pool.data(id), now);
    EXPECT_EQ(m.pool.size(id), 2 * kUnit);
    m.pool.free(id);
    EXPECT_EQ(m.pool.allocate(kUnit, true).status().code, StatusCode::in_use);
    EXPECT_EQ(m.pool.allocate_fixed(kUnit, true).status().code, StatusCode::in_use);
    EXPECT_EQ(m.pool.compact_all(), 0u);
  };
  ASSERT_TRUE(meddler.pool.init({.bytes = 8 * kUnit, .max_blocks = 8, .on_moved = meddle, .user = &meddler}).ok());
  const DescBlockId a = meddler.pool.allocate(3 * kUnit, false).value();
  const DescBlockId b = meddler.pool.allocate(2 * kUnit, false).value();
  meddler.pool.free(a);
  EXPECT_EQ(meddler.pool.compact_all(), 2 * kUnit);
  EXPECT_EQ(meddler.calls, 1u);
  EXPECT_TRUE(test::broke(contracts, 4));
  EXPECT_EQ(meddler.pool.size(b), 2 * kUnit);
  EXPECT_EQ(meddler.pool.stats().blocks, 1u);
}

TEST(DescPool, FreeSpaceIsPoisonedUnderAddressSanitizer) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  const auto count_poisoned = [](const Watched& w) {
    size_t out = 0;
    for (size_t i = 0; i < w.units; ++i) out += __asan_address_is_poisoned(w.base + i * kUnit) != 0 ? 1u : 0u;
    return out;
  };
  Watched w({.bytes = 64 * kUnit, .max_blocks = 64});
  EXPECT_EQ(count_poisoned(w), 64u);
  std::vector<DescBlockId> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(w.allocate(3 * kUnit, false).value());
  EXPECT_EQ(count_poisoned(w), 4u);
  for (size_t i = 0; i < 20; i += 3) w.free(ids[i]);
  EXPECT_EQ(count_poisoned(w), 4u + 21);
  std::byte* const last = w.pool.data(ids[19]);
  w.pool.compact_all();
  EXPECT_EQ(count_poisoned(w), 4u + 21);
  EXPECT_NE(__asan_address_is_poisoned(last), 0);
  ASSERT_TRUE(w.allocate(7 * kUnit, true, true).ok());
  EXPECT_EQ(count_poisoned(w), 4u + 14);
  w.check();
#else
  GTEST_SKIP() << "no AddressSanitizer";
#endif
}

}  // namespace
}  // namespace meridian
