// SPDX-License-Identifier: MIT
// base/region_allocator.h against a plain model: a map of what lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "meridian/base/region_allocator.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

constexpr size_t kLost = 16 + 79;  // of a block, at most: its header, and rounding [bytes]

struct Live {
  size_t bytes = 0, alignment = 0;
  uint8_t fill = 0;
};

/// Sizes whose logarithms are spread evenly, with 0 now and then.
size_t random_size(std::mt19937& random, double most) {
  if (random() % 50 == 0) return 0;
  return static_cast<size_t>(std::exp2(std::uniform_real_distribution<double>(0, std::log2(most))(random)));
}

class Model {
 public:
  explicit Model(RegionAllocator& region) : region_(region) {}

  void allocate(size_t bytes, size_t alignment, uint8_t fill) {
    auto* const data = static_cast<uint8_t*>(region_.allocate(bytes, alignment));
    if (data == nullptr) {
      ++refused_;
      // What is rounded to a list's next size, and put at the worst place, fits into no hole.
      const size_t needed = bytes + kLost + (bytes + kLost) / 32 + alignment + 32;
      EXPECT_LT(largest_hole(), needed + kLost);
      return;
    }
    const auto at = reinterpret_cast<uintptr_t>(data);
    ASSERT_EQ(at % alignment, 0u);
    ASSERT_TRUE(region_.owns(data));
    ASSERT_TRUE(bytes == 0 || region_.owns(data + bytes - 1));
    const auto [here, is_new] = live_.try_emplace(data, Live{bytes, alignment, fill});
    ASSERT_TRUE(is_new);
    if (here != live_.begin()) {
      const auto before = std::prev(here);
      ASSERT_LE(before->first + before->second.bytes, data);
    }
    if (std::next(here) != live_.end()) {
      ASSERT_LE(data + bytes, std::next(here)->first);
    }
    if (bytes != 0) std::memset(data, fill, bytes);
    sum_ += bytes;
    check_counts();
  }

  void free_one(size_t which) {
    const auto at = std::next(live_.begin(), static_cast<std::ptrdiff_t>(which % live_.size()));
    const Live block = at->second;
    ASSERT_TRUE(std::all_of(at->first, at->first + block.bytes, [&](uint8_t b) { return b == block.fill; }));
    region_.deallocate(at->first, block.bytes, block.alignment);
    sum_ -= block.bytes;
    live_.erase(at);
    check_counts();
  }

  size_t count() const { return live_.size(); }
  size_t sum() const { return sum_; }
  uint64_t refused() const { return refused_; }
  size_t peak() const { return peak_; }

 private:
  void check_counts() {
    ASSERT_EQ(region_.block_count(), live_.size());
    ASSERT_GE(region_.used_bytes(), sum_ + 16 * live_.size());
    ASSERT_LE(region_.used_bytes(), sum_ + kLost * live_.size());
    peak_ = std::max(peak_, region_.used_bytes());
  }
  /// The widest gap between two live blocks, or at an end if there are any.
  size_t largest_hole() const {
    if (live_.empty()) return region_.capacity();
    size_t largest = 0;
    const uint8_t* end = live_.begin()->first;
    for (const auto& [data, block] : live_) {
      largest = std::max(largest, static_cast<size_t>(data - end));
      end = data + block.bytes;
    }
    return largest;
  }

  RegionAllocator& region_;
  std::map<uint8_t*, Live> live_;
  size_t sum_ = 0, peak_ = 0;
  uint64_t refused_ = 0;
};

struct Case {
  size_t region, most;
  uint32_t steps, blocks;  ///< blocks: about as many live
};

// PERF-7: whatever comes and goes, blocks never overlap, keep what is in them, and leave one free block at the end.
TEST(RegionAllocatorRandom, DoesAsTheModel) {
  uint32_t seed = 1000;
  for (const Case& c : {Case{4096, 512, 60'000, 20}, Case{65'536, 8192, 60'000, 60}, Case{1 << 20, 20'000, 60'000, 300},
                        Case{8 << 20, 2 << 20, 3'000, 40}}) {
    SCOPED_TRACE("seed " + std::to_string(++seed));
    std::mt19937 random(seed);
    MemoryTracker tracker;
    test::CheckedMemory memory;
    RegionAllocator region;
    ASSERT_TRUE(region.init({.bytes = c.region, .allocator = &memory, .tracker = &tracker}).ok());
    Model model(region);
    bool grows = true;
    for (uint32_t i = 0; i < c.steps && !HasFatalFailure(); ++i) {
      // Fills up and empties by turns, so that both a full and a nearly empty region are met.
      if (i % 500 == 0) grows = random() % 2 == 0;
      if (model.count() == 0 || random() % 100 < (grows ? 60u : 40u)) {
        const size_t alignment = size_t{1} << (random() % 4 == 0 ? random() % 13 : random() % 7);
        model.allocate(random_size(random, static_cast<double>(c.most)), alignment, static_cast<uint8_t>(random()));
      } else {
        model.free_one(random());
      }
      while (model.count() > c.blocks * 2u && !HasFatalFailure()) model.free_one(random());
      if (i % 500 == 0) {
        const Status right = region.validate();
        ASSERT_TRUE(right.ok()) << right.message << " " << right.detail << " step " << i;
      }
    }
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_EQ(region.peak_bytes(), model.peak());
    EXPECT_EQ(region.failed(), model.refused());
    EXPECT_GT(model.refused(), 0u) << "a full region was not met";
    while (model.count() != 0 && !HasFatalFailure()) model.free_one(random());
    EXPECT_TRUE(region.validate().ok());
    EXPECT_EQ(region.free_count(), 1u);
    EXPECT_EQ(region.used_bytes(), 0u);
    EXPECT_EQ(region.largest_free(), region.capacity() - 16);
    EXPECT_EQ(memory.calls(), 1u);
  }
}

// What largest_free() promises, in regions that are cut up in many ways.
TEST(RegionAllocatorRandom, TheLargestFreeCanBeHad) {
  constexpr uint32_t kSeed = 77;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  MemoryTracker tracker;
  RegionAllocator region;
  ASSERT_TRUE(region.init({.bytes = 1 << 18, .tracker = &tracker}).ok());
  Model model(region);
  for (int i = 0; i < 20'000 && !HasFatalFailure(); ++i) {
    if (random() % 2 == 0 || model.count() == 0) {
      model.allocate(random_size(random, 6000), 16, 1);
    } else {
      model.free_one(random());
    }
    if (region.free_count() == 0) continue;
    const size_t most = region.largest_free();
    void* const block = region.allocate(most, 16);
    ASSERT_NE(block, nullptr) << i << " " << most;
    region.deallocate(block, most, 16);
  }
  while (model.count() != 0 && !HasFatalFailure()) model.free_one(random());
}

// Sizes as maps have them. A region that refuses is nearly full: at least 80 % are bytes that someone asked for.
TEST(RegionAllocatorRandom, LittleIsLostToFragments) {
  constexpr size_t kBytes = 32 << 20;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    MemoryTracker tracker;
    RegionAllocator region;
    ASSERT_TRUE(region.init({.bytes = kBytes, .tracker = &tracker}).ok());
    struct Block {
      void* data;
      size_t bytes, alignment;
    };
    std::vector<Block> live;
    size_t sum = 0;
    double worst = 1;
    uint32_t refused = 0;
    while (refused < 20'000) {
      const size_t bytes = 256 + random_size(random, 150'000), alignment = random() % 3 == 0 ? 64 : 16;
      void* const data = region.allocate(bytes, alignment);
      if (data != nullptr) {
        live.push_back({data, bytes, alignment});
        sum += bytes;
        continue;
      }
      ++refused;
      worst = std::min(worst, static_cast<double>(sum) / kBytes);
      for (uint32_t frees = 1 + random() % 8; frees > 0 && !live.empty(); --frees) {
        std::swap(live[random() % live.size()], live.back());
        region.deallocate(live.back().data, live.back().bytes, live.back().alignment);
        sum -= live.back().bytes;
        live.pop_back();
      }
    }
    EXPECT_GT(worst, 0.8);
    for (const Block& block : live) region.deallocate(block.data, block.bytes, block.alignment);
    EXPECT_TRUE(region.validate().ok());
    EXPECT_EQ(region.free_count(), 1u);
  }
}

}  // namespace
}  // namespace meridian
