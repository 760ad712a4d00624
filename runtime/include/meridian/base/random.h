// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers that can be had again: each generator is an object with a seed, there is none behind the scenes.
///
///   Random random(/*seed=*/1234);
///   const uint32_t die = 1 + random.below(6);
///   const float height_m = random.between(1.5f, 2.0f);
///   const bool is_open = random.chance(0.25f);
///
/// The same seed and stream give the same numbers on every machine and compiler, for ever: a test, a replay and a
/// script may rely on it (for floats from a range, if built with -ffp-contract=off). Fit for games, not for keys.
///
/// A SemiShuffledSequence hands out the numbers 0 to n - 1 in random order, over and over, and never one of them twice
/// within half a cycle: voices, models and paths that don't seem to repeat.
///
///   uint32_t order[5];
///   SemiShuffledSequence voices(order, random);
///   const uint32_t voice = voices.next(random);
///
/// Threads: reentrant; a generator or sequence is for one thread, and nothing is shared between two of them.
/// Memory:  none.
/// Source:  PCG32 is M. E. O'Neill's, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for
///          Random Number Generation", HMC-CS-2014-0905, variant XSH-RR 64/32. The sequence is our own.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "meridian/base/assert.h"

namespace meridian {

/// PCG32. 16 bytes, period 2^64 in each of 2^63 streams.
class Random {
 public:
  /// Another stream with the same seed gives other numbers. The top bit of `stream` is ignored.
  explicit constexpr Random(uint64_t seed, uint64_t stream = 0) : increment_((stream << 1) | 1) {
    step();
    state_ += seed;
    step();
  }

  /// All 32 bits, each value equally likely.
  constexpr uint32_t next() {
    const uint64_t old = state_;
    step();
    const auto folded = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
    return std::rotr(folded, static_cast<int>(old >> 59));
  }

  /// [0, bound), each value equally likely: no modulo bias. Draws again for what would give one: less than twice on
  /// average, and for a small bound hardly ever.
  /// Requires: bound > 0 (otherwise 0).
  constexpr uint32_t below(uint32_t bound) {
    MERIDIAN_ASSERT(bound > 0, "there is no number below 0");
    if (bound == 0) return 0;
    // What is left of 2^32 after whole runs of `bound` is refused.
    const uint32_t refused = (0u - bound) % bound;
    for (;;) {
      const uint32_t value = next();
      if (value >= refused) return value % bound;
    }
  }

  /// [first, last), each value equally likely. Requires: first < last (otherwise `first`).
  constexpr int32_t between(int32_t first, int32_t last) {
    MERIDIAN_ASSERT(first < last, "a range has at least one number");
    if (first >= last) return first;
    // Modulo 2^32, so that a range as wide as all numbers works.
    return static_cast<int32_t>(static_cast<uint32_t>(first) +
                                below(static_cast<uint32_t>(last) - static_cast<uint32_t>(first)));
  }

  /// [0, 1) in steps of 2^-24, each equally likely.
  constexpr float unit() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  /// [low, high), never `high` itself. Requires: low < high, both finite, and so is their difference (otherwise `low`).
  constexpr float between(float low, float high) {
    MERIDIAN_ASSERT(low < high && high - low <= std::numeric_limits<float>::max(), "a range that has a finite width");
    const float value = low + (high - low) * unit();
    return value >= low && value < high ? value : low;  // rounding may reach `high`
  }

  /// True in `probability` of all cases: never for 0, always for 1. [0, 1]
  constexpr bool chance(float probability) { return unit() < probability; }

  /// Puts `values` in random order, each order equally likely as far as 64 bits of state reach.
  template <class T, size_t kExtent>
  constexpr void shuffle(std::span<T, kExtent> values) {
    MERIDIAN_ASSERT(values.size() <= std::numeric_limits<uint32_t>::max(), "at most 2^32 - 1 values");
    for (auto left = static_cast<uint32_t>(values.size()); left > 1; --left) {
      const uint32_t chosen = below(left);
      if (chosen != left - 1) std::swap(values[left - 1], values[chosen]);
    }
  }

  friend constexpr bool operator==(const Random&, const Random&) = default;

 private:
  constexpr void step() { state_ = state_ * 6364136223846793005u + increment_; }

  uint64_t state_ = 0;
  uint64_t increment_;
};

/// The numbers 0 to n - 1 in random order, again and again. Each cycle of n draws has every number once; any
/// n / 2 + 1 draws in a row (n / 2 rounded down) are of different numbers, across cycles too.
class SemiShuffledSequence {
 public:
  /// `order` is the sequence's memory, and its size is n; it outlives the sequence, and nobody else writes to it.
  constexpr SemiShuffledSequence(std::span<uint32_t> order, Random& random) : order_(order) {
    for (uint32_t i = 0; i < count(); ++i) order_[i] = i;
    random.shuffle(order_);
  }

  constexpr uint32_t count() const { return static_cast<uint32_t>(order_.size()); }

  /// The next number; O(1). Requires: count() > 0 (otherwise 0).
  constexpr uint32_t next(Random& random) {
    MERIDIAN_ASSERT(!order_.empty(), "an empty sequence has no number");
    if (order_.empty()) return 0;
    if (at_ == count()) at_ = 0;
    // Left in this cycle is [at_, n). In a cycle's first half, the numbers that came in the last n / 2 draws stand at
    // the end of the array, and are not touched: one of the n - n / 2 before them is chosen.
    const uint32_t fresh = count() - count() / 2;
    const uint32_t left = count() - at_;
    std::swap(order_[at_], order_[at_ + random.below(left < fresh ? left : fresh)]);
    return order_[at_++];
  }

 private:
  std::span<uint32_t> order_;
  uint32_t at_ = 0;  ///< draws of the present cycle [0, n]
};

}  // namespace meridian
