// SPDX-License-Identifier: MIT
#pragma once
/// A pool of descriptors, watched: by addresses and contents alone it is known what the pool should say.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "meridian/scene/desc_pool.h"

namespace meridian::test {

inline constexpr size_t kUnit = 64;

inline size_t units_for(size_t bytes) { return (bytes + kUnit - 1) / kUnit; }

/// A pool and what is known about it without asking it: who lives, where on_moved said that it is, what is in it.
class Watched {
 public:
  struct Block {
    size_t bytes = 0;
    std::byte* address = nullptr;
    uint64_t seed = 0;
    bool is_fixed = false;
    uint32_t moves = 0;
  };

  explicit Watched(DescPoolConfig config, Allocator& allocator = default_allocator()) {
    config.user = this;
    config.on_moved = [](void* user, DescBlockId id, std::byte* now) { static_cast<Watched*>(user)->moved(id, now); };
    config.tracker = &tracker;
    units = config.bytes / kUnit;
    max_blocks = config.max_blocks;
    EXPECT_TRUE(pool.init(config, allocator).ok());
    const DescBlockId first = pool.allocate(1, false).value();  // the lowest hole is all there is
    base = pool.data(first);
    pool.free(first);
  }

  Result<DescBlockId> allocate(size_t bytes, bool may_compact, bool is_fixed = false) {
    const Result<DescBlockId> got =
        is_fixed ? pool.allocate_fixed(bytes, may_compact) : pool.allocate(bytes, may_compact);
    if (!got.ok()) return got;
    const uint32_t id = got.value().value;
    EXPECT_LT(id, max_blocks);
    EXPECT_EQ(blocks.count(id), 0u);
    blocks[id] = {bytes, pool.data(got.value()), ++next_seed, is_fixed, 0};
    write(blocks[id]);
    return got;
  }
  void free(DescBlockId id) {
    expect_intact(id.value, blocks.at(id.value));
    blocks.erase(id.value);
    pool.free(id);
  }

  /// Everything that is held up, from the addresses alone.
  struct Shape {
    size_t used = 0, fixed = 0, fixed_end = 0, reserved = 0, free = 0, largest = 0, holes = 0, first_gap = 0;
    std::vector<size_t> fixed_gaps;  ///< sizes
  };
  Shape shape() const {  // [units]
    std::vector<const Block*> order;
    for (const auto& [id, block] : blocks) order.push_back(&block);
    std::sort(order.begin(), order.end(), [](const Block* a, const Block* b) { return a->address < b->address; });
    Shape out;
    for (const Block* b : order)
      if (b->is_fixed) out.fixed_end = first(*b) + units_for(b->bytes);
    size_t at = 0;
    const auto gap = [&](size_t from, size_t to) {
      if (from == to) return;
      if (from < out.fixed_end) {
        out.reserved += to - from;
        out.fixed_gaps.push_back(to - from);
        return;
      }
      if (from == out.fixed_end) out.first_gap = to - from;
      out.free += to - from;
      out.largest = std::max(out.largest, to - from);
      ++out.holes;
    };
    for (const Block* b : order) {
      EXPECT_GE(first(*b), at) << "two blocks overlap";
      EXPECT_TRUE(b->is_fixed || first(*b) >= out.fixed_end) << "a movable block in the fixed part";
      gap(at, first(*b));
      at = first(*b) + units_for(b->bytes);
      out.used += units_for(b->bytes);
      out.fixed += b->is_fixed ? units_for(b->bytes) : 0;
    }
    EXPECT_LE(at, units);
    gap(at, units);
    peak = std::max(peak, out.used);
    return out;
  }
  void check() {
    for (const auto& [id, block] : blocks) expect_intact(id, block);
    const Shape s = shape();
    const DescPoolStats stats = pool.stats();
    ASSERT_EQ(stats.capacity_bytes, units * kUnit);
    ASSERT_EQ(stats.used_bytes, s.used * kUnit);
    ASSERT_EQ(stats.fixed_bytes, s.fixed * kUnit);
    ASSERT_EQ(stats.free_bytes, s.free * kUnit);
    ASSERT_EQ(stats.reserved_bytes, s.reserved * kUnit);
    ASSERT_EQ(stats.largest_hole_bytes, s.largest * kUnit);
    ASSERT_EQ(stats.holes, s.holes);
    ASSERT_EQ(stats.blocks, blocks.size());
    ASSERT_EQ(stats.moves, moves);
    ASSERT_EQ(stats.moved_bytes, moved_bytes);
  }

  /// Looks at each `step`-th word.
  void expect_intact(uint32_t id, const Block& b, size_t step = 1) const {
    ASSERT_EQ(pool.data({id}), b.address) << "moved without a word";
    ASSERT_EQ(pool.size({id}), units_for(b.bytes) * kUnit);
    ASSERT_EQ(pool.is_fixed({id}), b.is_fixed);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(b.address) % kUnit, 0u);
    size_t wrong = 0;
    for (size_t i = 0; i < b.bytes / 8; i += step) {
      uint64_t word;
      std::memcpy(&word, b.address + i * 8, 8);
      wrong += word != pattern(b, i) ? 1u : 0u;
    }
    ASSERT_EQ(wrong, 0u) << "the content of block " << id << " changed";
  }

  MemoryTracker tracker;
  DescPool pool;
  std::map<uint32_t, Block> blocks;
  std::byte* base = nullptr;
  size_t units = 0, max_blocks = 0;
  uint64_t moves = 0, moved_bytes = 0, next_seed = 0;
  mutable size_t peak = 0;

 private:
  size_t first(const Block& b) const { return static_cast<size_t>(b.address - base) / kUnit; }
  static uint64_t pattern(const Block& b, size_t i) { return (b.seed * 0x9E3779B97F4A7C15u) ^ i; }
  static void write(const Block& b) {
    for (size_t i = 0; i < b.bytes / 8; ++i) {
      const uint64_t word = pattern(b, i);
      std::memcpy(b.address + i * 8, &word, 8);
    }
  }
  void moved(DescBlockId id, std::byte* now) {
    const auto at = blocks.find(id.value);
    ASSERT_NE(at, blocks.end()) << "a block moved that does not live";
    Block& b = at->second;
    EXPECT_FALSE(b.is_fixed) << "a fixed block moved";
    EXPECT_NE(now, b.address);
    b.address = now;
    expect_intact(id.value, b, 61);  // all of it when it is freed
    ++b.moves;
    ++moves;
    moved_bytes += units_for(b.bytes) * kUnit;
  }
};

inline std::string text_of(const Result<DescBlockId>& result) { return result.status().message; }

}  // namespace meridian::test
