// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "meridian/base/geometry.h"

// UTIL-2: angle limits and differences. Directions are compared as points on the circle, in long double.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const float kBelowPi = std::nextafter(kPi, 0.0f);

long double reference_wrap(long double angle) { return std::atan2(std::sin(angle), std::cos(angle)); }
/// How far apart two directions are, in [0, pi].
long double apart(long double a, long double b) { return std::abs(reference_wrap(a - b)); }

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
};

// UTIL-2
TEST(WrapAngle, IsExactAtTheBorders) {
  EXPECT_EQ(wrap_angle(kPi), kPi);
  EXPECT_EQ(wrap_angle(-kPi), kPi);
  EXPECT_EQ(wrap_angle(kBelowPi), kBelowPi);
  EXPECT_EQ(wrap_angle(-kBelowPi), -kBelowPi);
  EXPECT_EQ(wrap_angle(0), 0);
  EXPECT_EQ(wrap_angle(1.5f), 1.5f);
  // Three half turns: near the half turn, on whichever side the float is.
  EXPECT_LT(apart(wrap_angle(3 * kPi), 3 * static_cast<long double>(kPi)), 1e-6L);
  EXPECT_NEAR(wrap_angle(2 * kPi), 0, 1e-6f);
}

// UTIL-2
TEST(WrapAngle, KeepsTheDirectionOfLargeAngles) {
  constexpr uint32_t kSeed = 20260111;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (const float reach : {4.f, 30.f, 1e3f, 1e6f, 1e9f, 1e12f}) {
    for (int i = 0; i < 2000; ++i) {
      const float angle = random(-reach, reach);
      const float wrapped = wrap_angle(angle);
      EXPECT_GT(wrapped, -kPi);
      EXPECT_LE(wrapped, kPi);
      EXPECT_EQ(wrap_angle(wrapped), wrapped);
      // 2 pi as a double is off by 2.5e-16, and so many turns are taken off; floats add 1.2e-7.
      EXPECT_LT(apart(wrapped, angle), 1.5e-7L + 1e-16L * std::abs(static_cast<long double>(angle))) << angle;
    }
  }
}

// UTIL-2
TEST(WrapAngle, NanStaysAndInfinityIsNoDirection) {
  EXPECT_TRUE(std::isnan(wrap_angle(kNan)));
  EXPECT_TRUE(std::isnan(wrap_angle(kInf)));
  EXPECT_TRUE(std::isnan(wrap_angle(-kInf)));
  EXPECT_GT(wrap_angle(std::numeric_limits<float>::max()), -kPi);
  EXPECT_LE(wrap_angle(std::numeric_limits<float>::max()), kPi);
}

// UTIL-2, by hand.
TEST(AngleDifference, GoesTheShortWayWithItsSign) {
  EXPECT_EQ(angle_difference(1, 2.5f), 1.5f);
  EXPECT_EQ(angle_difference(2.5f, 1), -1.5f);
  EXPECT_NEAR(angle_difference(3, -3), 0.28318531f, 1e-6f);   // up across pi
  EXPECT_NEAR(angle_difference(-3, 3), -0.28318531f, 1e-6f);  // down across pi
  EXPECT_EQ(angle_difference(0, kPi), kPi);
  EXPECT_EQ(angle_difference(kPi, 0), kPi);  // the half turn is positive
  EXPECT_EQ(angle_difference(kPi, -kPi), 0);
  EXPECT_EQ(angle_difference(-kPi, kPi), 0);
  EXPECT_TRUE(std::isnan(angle_difference(kNan, 0)));
  EXPECT_TRUE(std::isnan(angle_difference(0, kNan)));
}

// UTIL-2
TEST(AngleDifference, TakesOneToTheOther) {
  constexpr uint32_t kSeed = 20260112;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 5000; ++i) {
    const float from = random(-20, 20), to = random(-20, 20);
    const float turn = angle_difference(from, to);
    EXPECT_GT(turn, -kPi);
    EXPECT_LE(turn, kPi);
    EXPECT_LT(apart(static_cast<long double>(from) + turn, to), 6e-7L);
  }
}

// UTIL-2
TEST(LerpAngle, GoesTheShortWayAndHitsBothEnds) {
  EXPECT_EQ(lerp_angle(1, 2, 0), 1);
  EXPECT_EQ(lerp_angle(1, 2, 1), 2);
  EXPECT_EQ(lerp_angle(1, 2, 0.25f), 1.25f);
  EXPECT_EQ(lerp_angle(1, 2, 2), 3);
  EXPECT_EQ(lerp_angle(0.1f, -kPi, 1), kPi);
  EXPECT_LT(apart(lerp_angle(3, -3, 0.5f), 3.14159265358979L), 2e-7L);  // across pi, not through 0
  EXPECT_TRUE(std::isnan(lerp_angle(kNan, 1, 1)));
  EXPECT_TRUE(std::isnan(lerp_angle(1, kNan, 0)));
  EXPECT_TRUE(std::isnan(lerp_angle(1, 2, kNan)));
  constexpr uint32_t kSeed = 20260113;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const float a = random(-10, 10), b = random(-10, 10), t = random(0, 1);
    const long double whole = apart(a, b), part = apart(lerp_angle(a, b, t), a);
    EXPECT_NEAR(static_cast<double>(part), static_cast<double>(whole * t), 2e-6);
    EXPECT_NEAR(static_cast<double>(apart(lerp_angle(a, b, t), b)), static_cast<double>(whole * (1 - t)), 2e-6);
  }
}

// UTIL-2, by hand.
TEST(ClampAngle, StaysInsideTheArc) {
  EXPECT_EQ(clamp_angle(0.2f, {-0.5f, 0.5f}), 0.2f);
  EXPECT_EQ(clamp_angle(0.5f, {-0.5f, 0.5f}), 0.5f);
  EXPECT_EQ(clamp_angle(-0.5f, {-0.5f, 0.5f}), -0.5f);
  EXPECT_EQ(clamp_angle(0.7f, {-0.5f, 0.5f}), 0.5f);
  EXPECT_EQ(clamp_angle(-3, {-0.5f, 0.5f}), -0.5f);
  EXPECT_EQ(clamp_angle(kPi, {-0.5f, 0.5f}), -0.5f);  // equally near: low
  EXPECT_EQ(clamp_angle(0, {0.25f, 0.25f}), 0.25f);   // one direction only
}

// UTIL-2, by hand.
TEST(ClampAngle, ArcsMayGoThroughPi) {
  EXPECT_EQ(clamp_angle(kPi, {3, -3}), kPi);
  EXPECT_EQ(clamp_angle(-kPi, {3, -3}), kPi);
  EXPECT_EQ(clamp_angle(-3.1f, {3, -3}), -3.1f);
  EXPECT_EQ(clamp_angle(1, {3, -3}), 3);
  EXPECT_EQ(clamp_angle(-1, {3, -3}), -3);
  EXPECT_EQ(clamp_angle(-2, {-kPi, 0}), -2);
  EXPECT_EQ(clamp_angle(1, {-kPi, 0}), 0);
  EXPECT_EQ(clamp_angle(3, {-kPi, 0}), kPi);
}

// UTIL-2
TEST(ClampAngle, AWholeTurnIsNoLimit) {
  for (const float angle : {-3.f, 0.f, 3.f, kPi}) {
    EXPECT_EQ(clamp_angle(angle, {}), angle);
    EXPECT_EQ(clamp_angle(angle, {0, 7}), angle);
    EXPECT_EQ(clamp_angle(angle, {-kInf, kInf}), angle);
  }
  EXPECT_TRUE(std::isnan(clamp_angle(kNan, {})));
  EXPECT_TRUE(std::isnan(clamp_angle(kNan, {0, 1})));
  EXPECT_TRUE(std::isnan(clamp_angle(0, {kNan, 1})));
  EXPECT_TRUE(std::isnan(clamp_angle(0, {-1, kNan})));
}

// UTIL-2: nearer than every direction that was sampled inside the arc.
TEST(ClampAngle, NoDirectionInTheArcIsNearer) {
  constexpr uint32_t kSeed = 20260114;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 500; ++i) {
    const float low = random(-10, 10), width = random(0, 6.2f), angle = random(-10, 10);
    const float got = clamp_angle(angle, {low, low + width});
    long double nearest = 4;
    for (int s = 0; s <= 1000; ++s)
      nearest = std::min(nearest, apart(static_cast<long double>(low) + width * (s / 1000.0L), angle));
    const long double reach = apart(got, angle);
    EXPECT_LE(reach, nearest + 2e-6L);
    EXPECT_GE(reach, nearest - 0.0063L);  // half a step of the samples, and rounding
  }
}

}  // namespace
}  // namespace meridian
