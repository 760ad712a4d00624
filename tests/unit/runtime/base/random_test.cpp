// SPDX-License-Identifier: MIT
// UTIL-3: random generators and the semi-shuffled sequence.
#include "meridian/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace meridian {
namespace {

// The first round of pcg32-demo, as published with O'Neill's minimal C library (pcg-c-basic), seed 42 and stream 54:
// six numbers, 65 coins, 33 rolls of a die.
TEST(Random, GivesThePublishedNumbers) {
  Random random(42, 54);
  for (const uint32_t expected : {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u, 0x83d2f293u, 0xbfa4784bu, 0xcbed606eu}) {
    EXPECT_EQ(random.next(), expected);
  }
  std::string coins, rolls;
  for (int i = 0; i < 65; ++i) coins += random.below(2) != 0 ? 'H' : 'T';
  EXPECT_EQ(coins, "HHTTTHTHHHTHTTTHHHHHTTTHHHTHTHTHTTHTTTHHHHHHTTTTHHTTTTTHTTTTTTTHT");
  for (int i = 0; i < 33; ++i) rolls += static_cast<char>('1' + random.below(6));
  EXPECT_EQ(rolls, "341122324324335231315141564662633");
}

// Usable in constants, so surely without global state.
static_assert([] {
  Random random(42, 54);
  return random.next();
}() == 0xa15c02b7u);

TEST(Random, TheSameSeedGivesTheSameNumbersAndAnotherOneOthers) {
  Random a(7), b(7), c(8), d(7, 1);
  EXPECT_EQ(a, b);
  int same_as_c = 0, same_as_d = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t value = a.next();
    ASSERT_EQ(value, b.next());
    same_as_c += value == c.next();
    same_as_d += value == d.next();
  }
  EXPECT_LE(same_as_c, 1);
  EXPECT_LE(same_as_d, 1);
}

TEST(Random, ACopyGoesOnFromWhereItWasMade) {
  Random a(3);
  a.next();
  Random copy = a;
  EXPECT_EQ(copy.next(), a.next());
}

// With 3 * 2^30 values a modulo would give those below 2^30 twice as often: half of all draws instead of a third.
TEST(Random, RangesHaveNoModuloBias) {
  Random random(99);
  constexpr int kDraws = 300'000;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(3u << 30) < (1u << 30);
  // 100 000 expected, deviation sqrt(300 000 * 1/3 * 2/3) = 258; five of them.
  EXPECT_NEAR(low, 100'000, 1291);
}

TEST(Random, EachValueOfARangeIsEquallyLikely) {
  Random random(5);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[static_cast<size_t>(random.between(-5, 5) + 5)];
  // Chi square with 9 degrees of freedom is above 33.7 once in 10 000 seeds.
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  EXPECT_LT(chi_square, 33.7);
}

TEST(Random, RangesAreHalfOpen) {
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(random.below(1), 0u);
    EXPECT_EQ(random.between(41, 42), 41);
    const int32_t any = random.between(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    EXPECT_LT(any, std::numeric_limits<int32_t>::max());
    const float f = random.between(-2.0f, 3.0f);
    EXPECT_GE(f, -2.0f);
    EXPECT_LT(f, 3.0f);
    const float next_to_each_other = random.between(1.0f, std::nextafter(1.0f, 2.0f));
    EXPECT_EQ(next_to_each_other, 1.0f);
    const float unit = random.unit();
    EXPECT_GE(unit, 0.0f);
    EXPECT_LT(unit, 1.0f);
    EXPECT_EQ(unit * 0x1p24f, std::floor(unit * 0x1p24f));
  }
}

TEST(Random, UnitFillsItsRange) {
  Random random(12);
  std::array<int, 8> eighths{};
  for (int i = 0; i < 80'000; ++i) ++eighths[static_cast<size_t>(random.unit() * 8)];
  for (const int count : eighths) EXPECT_NEAR(count, 10'000, 5 * 94);  // deviation sqrt(80 000 * 1/8 * 7/8) = 93.5
}

TEST(Random, ChanceIsNeverForZeroAndAlwaysForOne) {
  Random random(13);
  int quarters = 0;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_FALSE(random.chance(0.0f));
    ASSERT_TRUE(random.chance(1.0f));
    quarters += random.chance(0.25f);
  }
  EXPECT_NEAR(quarters, 2500, 5 * 44);  // deviation sqrt(10 000 * 1/4 * 3/4) = 43.3
}

TEST(Random, ShuffleReachesEachOrderEquallyOften) {
  Random random(14);
  std::array<int, 27> counts{};
  for (int i = 0; i < 60'000; ++i) {
    std::array<int, 3> values{0, 1, 2};
    random.shuffle(std::span(values));
    ++counts[static_cast<size_t>(values[0] * 9 + values[1] * 3 + values[2])];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    EXPECT_NEAR(count, 10'000, 5 * 92);  // deviation sqrt(60 000 * 1/6 * 5/6) = 91.3
  }
  EXPECT_EQ(orders, 6);
}

TEST(SemiShuffledSequence, NoValueRepeatsWithinHalfACycle) {
  for (uint32_t count = 1; count <= 33; ++count) {
    SCOPED_TRACE("count " + std::to_string(count) + ", seed = count");
    Random random(count);
    std::vector<uint32_t> order(count);
    SemiShuffledSequence sequence(order, random);
    std::deque<uint32_t> recent;
    for (uint32_t i = 0; i < 100 * count; ++i) {
      const uint32_t value = sequence.next(random);
      ASSERT_LT(value, count);
      ASSERT_EQ(std::count(recent.begin(), recent.end(), value), 0) << "draw " << i;
      recent.push_back(value);
      if (recent.size() > count / 2) recent.pop_front();
    }
  }
}

TEST(SemiShuffledSequence, EachCycleHasEveryValueOnce) {
  for (uint32_t count = 1; count <= 33; ++count) {
    SCOPED_TRACE("count " + std::to_string(count) + ", seed = count");
    Random random(count);
    std::vector<uint32_t> order(count), all(count);
    std::iota(all.begin(), all.end(), 0u);
    SemiShuffledSequence sequence(order, random);
    for (int cycle = 0; cycle < 50; ++cycle) {
      std::vector<uint32_t> drawn;
      for (uint32_t i = 0; i < count; ++i) drawn.push_back(sequence.next(random));
      std::sort(drawn.begin(), drawn.end());
      ASSERT_EQ(drawn, all) << "cycle " << cycle;
    }
  }
}

// With four values, one that came last in a cycle may come third at the earliest: three draws in a row differ.
TEST(SemiShuffledSequence, OrdersDifferFromCycleToCycle) {
  Random random(21);
  std::array<uint32_t, 4> order{};
  SemiShuffledSequence sequence(order, random);
  std::array<int, 256> seen{};
  for (int cycle = 0; cycle < 24'000; ++cycle) {
    size_t code = 0;
    for (int i = 0; i < 4; ++i) code = code * 4 + sequence.next(random);
    ++seen[code];
  }
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](int count) { return count > 0; }), 24);
}

}  // namespace
}  // namespace meridian
