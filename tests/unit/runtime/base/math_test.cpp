// SPDX-License-Identifier: MIT
#include "meridian/base/math.h"

#include <gtest/gtest.h>

#include <limits>

// UTIL-2: the few operations on vectors that the rest stands on. Expected values by hand.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

static_assert(Vec3{1, 2, 3} + Vec3{10, 20, 30} == Vec3{11, 22, 33});
static_assert(Vec3{1, 2, 3} - Vec3{10, 20, 30} == Vec3{-9, -18, -27});
static_assert(Vec3{1, 2, 3} * -2.0f == Vec3{-2, -4, -6});
static_assert(dot(Vec3{1, 2, 3}, Vec3{4, -5, 6}) == 12);
static_assert(cross(Vec3{1, 0, 0}, Vec3{0, 1, 0}) == Vec3{0, 0, 1});
static_assert(cross(Vec3{1, 2, 3}, Vec3{4, 5, 6}) == Vec3{-3, 6, -3});
static_assert(min(Vec3{1, 5, 3}, Vec3{4, 2, 3}) == Vec3{1, 2, 3});
static_assert(max(Vec3{1, 5, 3}, Vec3{4, 2, 3}) == Vec3{4, 5, 3});

TEST(Math, LengthOfAPythagoreanVector) {
  EXPECT_EQ(length({2, -3, 6}), 7);
  EXPECT_EQ(length({}), 0);
}

// The squares are far beyond the largest float, and below the smallest.
TEST(Math, LengthNeitherOverflowsNorVanishes) {
  EXPECT_NEAR(length({3e30f, 4e30f, 0}) / 5e30, 1, 1e-7);
  EXPECT_NEAR(length({3e-30f, 4e-30f, 0}) / 5e-30, 1, 1e-7);
}

TEST(Math, NormalizeKeepsTheDirection) {
  EXPECT_EQ(normalize({0, 0, -4}), (Vec3{0, 0, -1}));
  const Vec3 unit = normalize({2e30f, -3e30f, 6e30f});
  EXPECT_FLOAT_EQ(unit.x, 2.0f / 7);
  EXPECT_FLOAT_EQ(unit.y, -3.0f / 7);
  EXPECT_FLOAT_EQ(unit.z, 6.0f / 7);
}

TEST(Math, NormalizeGivesZeroForWhatHasNoDirection) {
  EXPECT_EQ(normalize({}), Vec3{});
  EXPECT_EQ(normalize({kInf, 0, 0}), Vec3{});
  EXPECT_EQ(normalize({1, kNan, 0}), Vec3{});
}

TEST(Math, MinAndMaxKeepTheFirstBesideNan) {
  EXPECT_EQ(min(Vec3{1, 2, 3}, {kNan, 0, kNan}), (Vec3{1, 0, 3}));
  EXPECT_EQ(max(Vec3{1, 2, 3}, {kNan, 5, kNan}), (Vec3{1, 5, 3}));
}

TEST(Math, FiniteMeansEveryComponent) {
  EXPECT_TRUE(is_finite(Vec2{1, -2}));
  EXPECT_FALSE(is_finite(Vec2{kInf, 0}));
  EXPECT_FALSE(is_finite(Vec2{0, kNan}));
}

}  // namespace
}  // namespace meridian
