// SPDX-License-Identifier: MIT
#include "meridian/scene/wide_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "meridian/base/random.h"

// SG-7: the lanes that scan and search read.

namespace meridian {
namespace {

constexpr Aabb kInsideOut{{3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f}};

TEST(WideBoxes, BeginEmptyAndAligned) {
  const WideBoxes boxes;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&boxes) % 64, 0u);
  for (uint32_t i = 0; i < kWideLanes; ++i) {
    EXPECT_TRUE(boxes.is_empty_lane(i));
    EXPECT_EQ(boxes.lane(i), kInsideOut);
  }
  EXPECT_EQ(boxes.union_of_lanes(), kInsideOut);
}

TEST(WideBoxes, LanesComeAndGoAlone) {
  WideBoxes boxes;
  const Aabb box{{1, 2, 3}, {4, 5, 6}};
  boxes.set_lane(7, box);
  for (uint32_t i = 0; i < kWideLanes; ++i) EXPECT_EQ(boxes.lane(i), i == 7 ? box : kInsideOut) << i;
  EXPECT_FALSE(boxes.is_empty_lane(7));
  EXPECT_EQ(boxes.min_y[7], 2);
  EXPECT_EQ(boxes.max_z[7], 6);
  EXPECT_EQ(boxes.union_of_lanes(), box);
  boxes.clear_lane(7);
  EXPECT_EQ(boxes.union_of_lanes(), kInsideOut);
  boxes.set_lane(0, {{1, 1, 1}, {1, 1, 1}});  // without size, not empty
  EXPECT_FALSE(boxes.is_empty_lane(0));
  boxes.clear();
  EXPECT_TRUE(boxes.is_empty_lane(0));
}

// No plane test makes a NaN of an empty lane, whatever its normal.
TEST(WideBoxes, EmptyLanesStayNumbersInPlaneTests) {
  const Aabb empty = WideBoxes().lane(5);
  for (const float n : {0.f, -0.f, 1.f, -1.f, 0.577f}) {
    const float sum = empty.min.x * n + empty.max.y * 0.f + empty.max.z * 0.f;
    EXPECT_TRUE(is_finite(sum)) << n;
  }
}

// Against one lane after the other.
TEST(WideBoxes, UnionIsAroundAllLanes) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    WideBoxes boxes;
    Aabb expected = kInsideOut;
    for (uint32_t i = 0; i < kWideLanes; ++i) {
      if (random.below(3) == 0) continue;
      const float x = random.between(-9e3f, 9e3f), y = random.between(-9e3f, 9e3f), z = random.between(-90.f, 900.f);
      const Aabb box{{x, y, z}, {x + random.between(0.f, 50.f), y, z + random.between(0.f, 50.f)}};
      boxes.set_lane(i, box);
      expected.min = {std::min(expected.min.x, box.min.x), std::min(expected.min.y, box.min.y),
                      std::min(expected.min.z, box.min.z)};
      expected.max = {std::max(expected.max.x, box.max.x), std::max(expected.max.y, box.max.y),
                      std::max(expected.max.z, box.max.z)};
    }
    EXPECT_EQ(boxes.union_of_lanes(), expected);
  }
}

// As far out as there are numbers, the union is never too small.
TEST(WideBoxes, UnionContainsBoxesBeyondEmptyLanes) {
  constexpr float kMost = std::numeric_limits<float>::max();
  WideBoxes boxes;
  boxes.set_lane(2, {{kMost, -kMost, 0}, {kMost, -kMost, 0}});
  const Aabb all = boxes.union_of_lanes();
  EXPECT_LE(all.min.x, kMost);
  EXPECT_EQ(all.max.x, kMost);
  EXPECT_EQ(all.min.y, -kMost);
  EXPECT_GE(all.max.y, -kMost);
  EXPECT_EQ(all.min.z, 0);
  for (uint32_t i = 0; i < kWideLanes; ++i) boxes.set_lane(i, {{kMost, -kMost, 0}, {kMost, -kMost, 0}});
  EXPECT_EQ(boxes.union_of_lanes(), boxes.lane(2));  // without empty lanes it is exact
}

}  // namespace
}  // namespace meridian
