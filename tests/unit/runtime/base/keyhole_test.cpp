// SPDX-License-Identifier: MIT
#include "meridian/base/keyhole.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

// UTIL-2: key-hole shapes. The model works with angles by atan2, and with samples.

namespace meridian {
namespace {

constexpr double kPiDouble = 3.14159265358979323846;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
};

/// Angle between the direction and the point as seen from `centre`, [0, pi], and how far that is.
struct Seen {
  double angle, range;
  Seen(Vec2 centre, Vec2 direction, Vec2 point) {
    const double x = double{point.x} - centre.x, y = double{point.y} - centre.y;
    range = std::hypot(x, y);
    double a = std::abs(std::atan2(y, x) - std::atan2(double{direction.y}, double{direction.x}));
    angle = std::min(a, 2 * kPiDouble - a);
  }
};

uint32_t bit(KeyholeZone zone) { return static_cast<uint32_t>(zone); }

// UTIL-2, by hand: a quarter ring from 2 to 4 that opens by 45 degrees to both sides of +y.
TEST(RingSector, ContainsByHand) {
  const RingSector sector{{10, 20}, {0, 3}, 2, 4, 0.70710678f};
  EXPECT_TRUE(contains(sector, {10, 23}));
  EXPECT_TRUE(contains(sector, {10, 22}));  // on the arcs
  EXPECT_TRUE(contains(sector, {10, 24}));
  EXPECT_FALSE(contains(sector, {10, 21.9f}));
  EXPECT_FALSE(contains(sector, {10, 24.1f}));
  EXPECT_FALSE(contains(sector, {10, 17}));  // behind
  EXPECT_TRUE(contains(sector, {12, 22.1f}));
  EXPECT_FALSE(contains(sector, {12, 21.9f}));
  EXPECT_FALSE(contains(sector, {10, 20}));
}

// UTIL-2, by hand.
TEST(RingSector, DistanceByHand) {
  const RingSector sector{{0, 0}, {0, 1}, 3, 5, 0};  // half a ring, above the x axis
  EXPECT_EQ(distance(sector, {0, 4}), 0);
  EXPECT_EQ(distance(sector, {0, 7}), 2);
  EXPECT_EQ(distance(sector, {0, 1}), 2);
  EXPECT_EQ(distance(sector, {0, 0}), 3);
  EXPECT_EQ(distance(sector, {4, -2}), 2);  // below its foot
  EXPECT_EQ(distance(sector, {8, -4}), 5);  // 3-4-5 from the outer end
  EXPECT_EQ(distance(sector, {0, -4}), 5);  // 3-4-5 from the inner end, on both sides
  EXPECT_TRUE(touches(sector, {4, -2}, 2));
  EXPECT_FALSE(touches(sector, {4, -2}, 1.99f));
}

// UTIL-2
TEST(RingSector, WholeRingAndDisc) {
  constexpr uint32_t kSeed = 20260141;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const Vec2 direction{random(-1, 1), random(-1, 1)};
    const Vec2 behind{-direction.x * 3, -direction.y * 3};
    const RingSector ring{{}, direction, 0, 1000, -1};
    EXPECT_TRUE(contains(ring, behind));  // whatever is rounded
    EXPECT_EQ(distance(ring, behind), 0);
    const Vec2 at{random(-20, 20), random(-20, 20)};
    const double range = std::hypot(double{at.x}, double{at.y});
    EXPECT_NEAR(distance({{}, direction, 5, 10, -1}, at), std::max({0.0, 5 - range, range - 10}), 1e-5);
  }
}

// UTIL-2: against samples of the sector, and against angles.
TEST(RingSector, EqualsItsSamples) {
  constexpr uint32_t kSeed = 20260142;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 150; ++round) {
    const double half = random(0.05f, 3.1f);
    const float inner = round % 5 == 0 ? 0 : random(0, 50), outer = inner + random(1, 60);
    const RingSector sector{{random(-100, 100), random(-100, 100)},
                            {random(0.1f, 1), random(-1, 1)},
                            inner,
                            outer,
                            static_cast<float>(std::cos(half))};
    const double middle = std::atan2(sector.direction.y, sector.direction.x);
    std::vector<Vec2> samples;
    constexpr int kSteps = 80;
    for (int a = 0; a <= kSteps; ++a)
      for (int r = 0; r <= kSteps / 4; ++r) {
        const double angle = middle - half + 2 * half * a / kSteps,
                     range = inner + (double{outer} - inner) * 4 * r / kSteps;
        samples.push_back({static_cast<float>(sector.centre.x + range * std::cos(angle)),
                           static_cast<float>(sector.centre.y + range * std::sin(angle))});
      }
    // Nobody in the sector is further from a sample than half a step around and half a step out.
    const double coarse = outer * half / kSteps + (double{outer} - inner) * 2 / kSteps + 1e-3;
    for (int i = 0; i < 60; ++i) {
      const Vec2 at{sector.centre.x + random(-150, 150), sector.centre.y + random(-150, 150)};
      double nearest = 1e9;
      for (const Vec2& s : samples) nearest = std::min(nearest, std::hypot(double{s.x} - at.x, double{s.y} - at.y));
      EXPECT_LE(distance(sector, at), nearest + 1e-3);
      EXPECT_GE(distance(sector, at), nearest - coarse);
      const Seen seen(sector.centre, sector.direction, at);
      if (std::abs(seen.angle - half) * seen.range > 1e-3 && std::abs(seen.range - inner) > 1e-3 &&
          std::abs(seen.range - outer) > 1e-3) {
        EXPECT_EQ(contains(sector, at), seen.angle < half && seen.range > inner && seen.range < outer);
        EXPECT_EQ(contains(sector, at), distance(sector, at) == 0);
      }
      const float radius = random(0, 60);
      EXPECT_EQ(touches(sector, at, radius), distance(sector, at) <= radius);
    }
  }
}

/// 60 degrees to both sides of +y, and the default measures: 80 + 20, 185 + 40, walls of 60.
Keyhole default_hole() { return {{1000, 2000}, {0, 1}, 0.5f, {}}; }
Vec2 at(double range, double degrees) {
  const double a = degrees * kPiDouble / 180;
  return {static_cast<float>(1000 + range * std::sin(a)), static_cast<float>(2000 + range * std::cos(a))};
}

// UTIL-2, by hand: degrees are counted from straight ahead.
TEST(Keyhole, ZonesByHand) {
  const Keyhole hole = default_hole();
  EXPECT_EQ(zone_of(hole, at(0, 0)), KeyholeZone::seen_near);
  EXPECT_EQ(zone_of(hole, at(79, 180)), KeyholeZone::seen_near);
  EXPECT_EQ(zone_of(hole, at(81, 0)), KeyholeZone::seen_ahead);
  EXPECT_EQ(zone_of(hole, at(184, 59)), KeyholeZone::seen_ahead);
  EXPECT_EQ(zone_of(hole, at(186, 59)), KeyholeZone::outer_ring);
  EXPECT_EQ(zone_of(hole, at(224, -59)), KeyholeZone::outer_ring);
  EXPECT_EQ(zone_of(hole, at(226, 0)), KeyholeZone::outside);
  EXPECT_EQ(zone_of(hole, at(81, 180)), KeyholeZone::inner_ring);
  EXPECT_EQ(zone_of(hole, at(99, 61)), KeyholeZone::inner_ring);
  EXPECT_EQ(zone_of(hole, at(101, 180)), KeyholeZone::outside);
  // 17.4 degrees off the side at 200 m are 60 m away from it: asin(0.3) = 17.46.
  EXPECT_EQ(zone_of(hole, at(200, 60 + 17.3)), KeyholeZone::side_wall);
  EXPECT_EQ(zone_of(hole, at(200, -60 - 17.3)), KeyholeZone::side_wall);
  EXPECT_EQ(zone_of(hole, at(200, 60 + 17.6)), KeyholeZone::outside);
  EXPECT_EQ(zone_of(hole, at(226, 61)), KeyholeZone::outside);
  EXPECT_EQ(zone_of(hole, at(150, 60 + 179)), KeyholeZone::outside);  // on the line of the side, but behind
  EXPECT_EQ(kKeyholeSeen, bit(KeyholeZone::seen_near) | bit(KeyholeZone::seen_ahead));
  EXPECT_EQ(kKeyholeBand, bit(KeyholeZone::outer_ring) | bit(KeyholeZone::inner_ring) | bit(KeyholeZone::side_wall));
}

// UTIL-2, by hand.
TEST(Keyhole, ZonesThatADiscTouches) {
  const Keyhole hole = default_hole();
  EXPECT_EQ(zones_touched(hole, at(0, 0), 79), bit(KeyholeZone::seen_near));
  EXPECT_EQ(zones_touched(hole, at(90, 180), 5), bit(KeyholeZone::inner_ring));
  EXPECT_EQ(zones_touched(hole, at(90, 180), 11), bit(KeyholeZone::inner_ring) | bit(KeyholeZone::seen_near));
  EXPECT_EQ(zones_touched(hole, at(205, 0), 10), bit(KeyholeZone::outer_ring));
  EXPECT_EQ(zones_touched(hole, at(205, 0), 21), bit(KeyholeZone::outer_ring) | bit(KeyholeZone::seen_ahead));
  EXPECT_EQ(zones_touched(hole, at(400, 0), 170), 0u);
  EXPECT_EQ(zones_touched(hole, at(400, 0), 176), bit(KeyholeZone::outer_ring));
  EXPECT_EQ(zones_touched(hole, at(120, 180), 19), 0u);
}

/// The zone by angles; `margin` is how far the nearest border is, at least.
KeyholeZone model_zone(const Keyhole& hole, Vec2 point, double& margin) {
  const KeyholeShape& s = hole.shape;
  const double half = std::acos(double{hole.cos_half_angle});
  const Seen seen(hole.centre, hole.direction, point);
  const double off = seen.angle - half;
  const double away = seen.range * std::sin(off), along = seen.range * std::cos(off);
  const double inner_end = double{s.inner_radius} + s.inner_thickness,
               outer_end = double{s.outer_radius} + s.outer_thickness;
  margin =
      std::min({std::abs(seen.range - s.inner_radius), std::abs(seen.range - inner_end),
                std::abs(seen.range - s.outer_radius), std::abs(seen.range - outer_end), std::abs(off) * seen.range,
                std::abs(away - s.side_wall_thickness), std::abs(along - s.inner_radius)});
  if (seen.range < s.inner_radius) return KeyholeZone::seen_near;
  if (off < 0)
    return seen.range < s.outer_radius ? KeyholeZone::seen_ahead
           : seen.range < outer_end    ? KeyholeZone::outer_ring
                                       : KeyholeZone::outside;
  if (seen.range < inner_end) return KeyholeZone::inner_ring;
  const bool wall =
      off < kPiDouble / 2 && along > s.inner_radius && away < s.side_wall_thickness && seen.range < outer_end;
  return wall ? KeyholeZone::side_wall : KeyholeZone::outside;
}

// UTIL-2: zones of points against the model; zones of discs against points sampled in them.
TEST(Keyhole, EqualsAModelWithAngles) {
  constexpr uint32_t kSeed = 20260143;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int counts[6] = {};
  for (int round = 0; round < 300; ++round) {
    Keyhole hole;
    hole.centre = {random(-3000, 3000), random(-3000, 3000)};
    hole.direction = {random(-1, 1), random(0.01f, 1)};
    hole.cos_half_angle = random(-0.99f, 0.99f);
    hole.shape.inner_radius = random(0, 100);
    hole.shape.inner_thickness = random(0, 50);
    hole.shape.outer_radius = hole.shape.inner_radius + random(0, 200);
    hole.shape.outer_thickness = random(0, 60);
    hole.shape.side_wall_thickness = random(0, 80);
    ASSERT_TRUE(is_valid(hole));
    for (int i = 0; i < 200; ++i) {
      const Vec2 point{hole.centre.x + random(-400, 400), hole.centre.y + random(-400, 400)};
      double margin = 0;
      const KeyholeZone want = model_zone(hole, point, margin);
      const uint32_t at_point = zones_touched(hole, point, 0);
      EXPECT_EQ(at_point & bit(zone_of(hole, point)), bit(zone_of(hole, point)));
      if (margin < 1e-3) continue;
      ASSERT_EQ(zone_of(hole, point), want);
      ++counts[want == KeyholeZone::outside ? 0 : std::countr_zero(bit(want)) + 1];
      const float radius = random(0, 50);
      const uint32_t touched = zones_touched(hole, point, radius);
      EXPECT_EQ(touched & at_point, at_point);  // a larger disc touches no less
      for (int s = 0; s < 20; ++s) {
        const double a = random(0, 6.2831f), r = radius * 0.999 * std::sqrt(random(0, 1));
        const Vec2 in_disc{static_cast<float>(point.x + r * std::cos(a)),
                           static_cast<float>(point.y + r * std::sin(a))};
        double in_margin = 0;
        const KeyholeZone zone = model_zone(hole, in_disc, in_margin);
        if (in_margin > 1e-2) {
          EXPECT_EQ(touched & bit(zone), bit(zone)) << bit(zone);
        }
      }
    }
  }
  for (const int count : counts) EXPECT_GT(count, 200);
}

// UTIL-2
TEST(Keyhole, WhatIsNotFiniteIsOutside) {
  Keyhole hole = default_hole();
  for (const float cosine : {-1.0f, 0.5f, 1.0f}) {
    hole.cos_half_angle = cosine;
    for (const Vec2 lost : {Vec2{kNan, 0}, Vec2{1000, kNan}, Vec2{std::numeric_limits<float>::infinity(), 2000}}) {
      EXPECT_EQ(zone_of(hole, lost), KeyholeZone::outside);
      EXPECT_EQ(zones_touched(hole, lost, 10), 0u);
    }
  }
}

// UTIL-2
TEST(Keyhole, SaysWhatIsNoKeyhole) {
  EXPECT_TRUE(is_valid(default_hole()));
  const auto broken = [](auto&& change) {
    Keyhole hole = default_hole();
    change(hole);
    return !is_valid(hole);
  };
  EXPECT_TRUE(broken([](Keyhole& h) { h.centre.x = kNan; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.direction = {}; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.direction.y = kNan; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.cos_half_angle = 1.1f; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.shape.inner_radius = -1; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.shape.outer_radius = 79; }));  // inside the disc
  EXPECT_TRUE(broken([](Keyhole& h) { h.shape.outer_thickness = kNan; }));
  EXPECT_TRUE(broken([](Keyhole& h) { h.shape.side_wall_thickness = -1; }));
}

}  // namespace
}  // namespace meridian
