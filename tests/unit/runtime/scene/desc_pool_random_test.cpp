// SPDX-License-Identifier: MIT
// scene/desc_pool.h against a plain model, and at the size of a game. DESC-5, POOL-8.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/core/pool_slots.h"
#include "support/captured.h"
#include "unit/runtime/scene/desc_pool_kit.h"

namespace meridian {
namespace {

using test::kUnit;
using test::text_of;
using test::units_for;
using test::Watched;

// DESC-5: rounds are bounded, and so is their number. No block moves twice.
TEST(DescPool, RoundsCloseAllHolesInAsManyAsPromised) {
  test::CapturedLog log;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Watched w({.bytes = 4000 * kUnit, .max_blocks = 800});
    std::vector<DescBlockId> ids;
    for (;;) {
      const size_t bytes = 1 + random.next() % (random.next() % 8 == 0 ? 6000 : 600);
      const Result<DescBlockId> got = w.allocate(bytes, true, random.next() % 20 == 0 && seed % 2 == 0);
      if (!got.ok()) break;
      ids.push_back(got.value());
    }
    const uint32_t freed = 5 + random.next() % 90;  // percent
    for (const DescBlockId id : ids)
      if (random.next() % 100 < freed) w.free(id);
    w.check();
    const Watched::Shape before = w.shape();
    size_t largest = 0, movable = 0;
    for (auto& [id, block] : w.blocks) {
      block.moves = 0;
      if (block.is_fixed) continue;
      ++movable;
      largest = std::max(largest, units_for(block.bytes) * kUnit);
    }
    constexpr size_t kRounds[] = {1, 64, 1000, 5000, 20000, SIZE_MAX};
    const size_t max_bytes = kRounds[random.next() % 6];
    const size_t bytes = (before.used - before.fixed) * kUnit;
    size_t rounds = 0;
    for (;;) {
      const size_t moved = w.pool.compact_round(max_bytes);
      if (moved == 0) break;
      ASSERT_LE(moved, std::max(max_bytes, largest));
      ++rounds;
      ASSERT_LE(rounds, 2 * bytes / max_bytes + 2);
      ASSERT_LE(rounds, movable);
    }
    w.check();
    const Watched::Shape after = w.shape();
    EXPECT_LE(after.holes, 1u);
    EXPECT_EQ(after.largest, before.free);
    for (const auto& [id, block] : w.blocks) EXPECT_LE(block.moves, 1u);
  }
}

// DESC-5, against a plain model that says for each request whether it is granted, and if not, why.
TEST(DescPool, IsLikeAModelForRandomOperations) {
  test::CapturedLog log;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const uint32_t max_blocks = 1 + random.next() % 60;
    Watched w({.bytes = (20 + random.next() % 300) * kUnit + random.next() % kUnit, .max_blocks = max_blocks});
    uint64_t denied = 0, denied_fragmented = 0;
    for (int i = 0; i < 4000; ++i) {
      const uint32_t what = random.next() % 100;
      if (what < 50) {
        const size_t bytes = 1 + random.next() % (random.next() % 4 == 0 ? 40 * kUnit : 8 * kUnit);
        const bool may_compact = random.next() % 2 == 0, is_fixed = random.next() % 5 == 0;
        const Watched::Shape s = w.shape();
        const size_t n = units_for(bytes);
        const bool fits_fixed =
            is_fixed && std::any_of(s.fixed_gaps.begin(), s.fixed_gaps.end(), [&](size_t gap) { return gap >= n; });
        const bool fits = is_fixed ? fits_fixed || s.first_gap >= n : s.largest >= n;
        const uint64_t moves = w.moves;
        const Result<DescBlockId> got = w.allocate(bytes, may_compact, is_fixed);
        if (n > w.units) {
          ASSERT_EQ(got.status().code, StatusCode::too_large);
        } else if (w.blocks.size() - (got.ok() ? 1 : 0) == max_blocks) {
          ASSERT_NE(text_of(got).find("blocks"), std::string::npos);
        } else if (fits || (may_compact && s.free >= n)) {
          ASSERT_TRUE(got.ok()) << text_of(got);
          ASSERT_TRUE(!fits || w.moves == moves) << "moved without need";
          const std::byte* const end = w.base + s.fixed_end * kUnit;
          ASSERT_TRUE(!fits_fixed || w.pool.data(got.value()) < end);
          ASSERT_TRUE(!is_fixed || fits_fixed || w.pool.data(got.value()) == end);
        } else if (s.free >= n) {
          ASSERT_NE(text_of(got).find("fragmented"), std::string::npos);
          ++denied_fragmented;
        } else {
          ASSERT_NE(text_of(got).find("full"), std::string::npos);
        }
        denied += got.ok() ? 0 : 1;
      } else if (what < 95) {
        if (w.blocks.empty()) continue;
        auto at = w.blocks.begin();
        std::advance(at, random.next() % w.blocks.size());
        w.free({at->first});
      } else if (what < 99) {
        w.pool.compact_round(random.next() % (10 * kUnit));
      } else {
        w.pool.compact_all();
        ASSERT_LE(w.shape().holes, 1u);
      }
      ASSERT_EQ(w.pool.stats().denied, denied);
      ASSERT_EQ(w.pool.stats().denied_fragmented, denied_fragmented);
      w.check();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(denied_fragmented, 0u);
    EXPECT_EQ(w.pool.stats().peak_bytes, w.peak * kUnit);
  }
}

/// Containers that grow and shrink, in frames with two rounds each.
void run_containers(uint32_t seed, int operations, double fill, size_t round_bytes, uint64_t least_waits) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  Watched w({});  // 4 MB
  const size_t budget = static_cast<size_t>(static_cast<double>(w.units) * fill);
  constexpr size_t kMost = 44 * 320 / kUnit;
  const auto container = [&] { return 44 * 16 * (1 + random.next() % 20); };        // SoA of 16 to 320 descriptors
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(w.allocate(2560 * 64, true, true).ok());  // chunks of dynamic ones
  std::vector<DescBlockId> ids;
  size_t used = 4 * 2560;
  uint64_t waits = 0, most_rounds = 0;
  for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
    // One container grows or shrinks, or a new one comes while there is room; at the fill, others go first.
    const size_t bytes = container();
    const auto free_one = [&](size_t at) {
      used -= units_for(w.blocks.at(ids[at].value).bytes);
      w.free(ids[at]);
      ids[at] = ids.back();
      ids.pop_back();
    };
    const bool is_new = used + 2 * kMost <= budget;
    while (used + units_for(bytes) > budget) free_one(random.below(static_cast<uint32_t>(ids.size())));
    const bool may_compact = random.next() % 64 == 0;  // the rest of the time the graph is locked
    const size_t free = w.pool.stats().free_bytes;
    Result<DescBlockId> got = w.allocate(bytes, may_compact);
    if (!got.ok()) {
      // What the free space could serve is served within the rounds that the header promises.
      ASSERT_FALSE(may_compact);
      ASSERT_GE(free, bytes);
      ASSERT_NE(text_of(got).find("fragmented"), std::string::npos);
      ++waits;
      uint64_t rounds = 0;
      for (; !got.ok(); got = w.allocate(bytes, false)) {
        w.pool.compact_round(round_bytes);
        w.pool.compact_round(round_bytes);
        rounds += 2;
        ASSERT_LE(rounds, 2 * (used - 4 * 2560) * kUnit / round_bytes + 2);
      }
      most_rounds = std::max(most_rounds, rounds);
    }
    if (!is_new) free_one(random.below(static_cast<uint32_t>(ids.size())));  // what it was before
    ids.push_back(got.value());
    used += units_for(bytes);
    if (i % 10 == 9) {
      ASSERT_LE(w.pool.compact_round(round_bytes), std::max<size_t>(round_bytes, 44 * 320));
      ASSERT_LE(w.pool.compact_round(round_bytes), std::max<size_t>(round_bytes, 44 * 320));
    }
    if (i % 50'000 == 0) w.check();
  }
  w.check();
  EXPECT_GE(waits, least_waits);
  testing::Test::RecordProperty("waits", std::to_string(waits));
  testing::Test::RecordProperty("most_rounds", std::to_string(most_rounds));
  testing::Test::RecordProperty("moved_bytes", std::to_string(w.moved_bytes));
}

// DESC-5 at 90 % fill.
TEST(DescPool, AMillionGrowsAndShrinksAtNinetyPercent) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  constexpr int kOperations = 100'000;  // each marks its bytes for AddressSanitizer
#else
  constexpr int kOperations = 1'000'000;
#endif
  run_containers(7, kOperations, 0.9, 64 * 1024, 1);
}
// So tight, and with so small rounds, that requests do have to wait.
TEST(DescPool, TightPoolsServeWithinTheRounds) { run_containers(8, 20'000, 0.99, 4 * 1024, 100); }

}  // namespace
}  // namespace meridian
