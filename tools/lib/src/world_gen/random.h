// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers that are a function of what they are for, not of the order in which they are asked for: each thing
/// of the world has a stream of its own, named by a few numbers.
/// Threads: reentrant. Source: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

#include <cstdint>
#include <initializer_list>

namespace meridian::tools::world {

/// What a stream is for, so that two kinds of things with one index differ.
enum class Stream : uint64_t { layout, terrain, archetype, area, interior, region, pack };

class Random {
 public:
  Random(uint64_t seed, Stream stream, std::initializer_list<uint64_t> place) : state_(mix(seed)) {
    state_ = mix(state_ ^ static_cast<uint64_t>(stream));
    for (const uint64_t part : place) state_ = mix(state_ ^ part);
  }

  uint32_t next() {
    state_ += kStep;
    return static_cast<uint32_t>(mix(state_) >> 32);
  }
  /// In [0, count); 0 if count is 0.
  uint32_t below(uint32_t count) { return static_cast<uint32_t>((uint64_t{next()} * count) >> 32); }
  /// In [low, high].
  int32_t between(int32_t low, int32_t high) {
    return low + static_cast<int32_t>(below(static_cast<uint32_t>(high - low) + 1));
  }
  /// True once in `count` times.
  bool one_in(uint32_t count) { return below(count) == 0; }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15u;
  static uint64_t mix(uint64_t z) {
    z += kStep;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace meridian::tools::world
