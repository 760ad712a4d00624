// SPDX-License-Identifier: MIT
#include "meridian/entity/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

// ENTY-2: from a definition to a transform.

namespace meridian {
namespace {

constexpr float kRoot = 0.70710678118654752f;  // sqrt(1/2)
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A turn by `degrees` about `axis`, as an author stores it in a plain entity.
Quat stored(double degrees, double x, double y, double z) {
  const double half = degrees * 3.14159265358979323846 / 360;
  const double s = -std::sin(half);
  return {static_cast<float>(x * s), static_cast<float>(y * s), static_cast<float>(z * s),
          static_cast<float>(std::cos(half))};
}

void expect_near(const Vec3& got, const Vec3& want, float tolerance = 1e-6f) {
  EXPECT_NEAR(got.x, want.x, tolerance);
  EXPECT_NEAR(got.y, want.y, tolerance);
  EXPECT_NEAR(got.z, want.z, tolerance);
}

// P013, by hand: +90 degrees about z takes x to y, y to -x.
TEST(PlaceEntity, QuarterTurnOfAPlainEntity) {
  PlaceInput in;
  in.position = {10, 20, 30};
  in.rotation = {0, 0, -kRoot, kRoot};
  const Placed placed = place_entity(in);
  EXPECT_EQ(placed.status, PlaceStatus::placed);
  EXPECT_TRUE(placed.heading_only);
  expect_near(placed.transform.point({1, 0, 0}), {10, 21, 30});
  expect_near(placed.transform.point({0, 1, 0}), {9, 20, 30});
  expect_near(placed.transform.point({0, 0, 1}), {10, 20, 31});
  // An asymmetric box, all its corners by hand: (x, y, z) -> (10 - y, 20 + x, 30 + z).
  for (const float x : {-1.f, 4.f})
    for (const float y : {-2.f, 5.f})
      for (const float z : {0.f, 3.f}) expect_near(placed.transform.point({x, y, z}), {10 - y, 20 + x, 30 + z}, 1e-5f);
  const CentredBox box = world_box(placed.transform, {{-1, -2, 0}, {4, 5, 3}});
  expect_near(box.centre, {8.5f, 21.5f, 31.5f}, 1e-5f);
  expect_near(box.half, {3.5f, 2.5f, 1.5f}, 1e-5f);
}

// P013: an interior instance stores the orientation itself.
TEST(PlaceEntity, QuarterTurnOfAnInteriorInstance) {
  PlaceInput in;
  in.rotation = {0, 0, kRoot, kRoot};
  in.is_interior = true;
  expect_near(place_entity(in).transform.point({1, 0, 0}), {0, 1, 0});
}

// P013: a tilt, through the full matrix: +90 degrees about x takes y to z, about y takes z to x.
TEST(PlaceEntity, QuarterTurnsAboutTheOtherAxes) {
  PlaceInput in;
  in.rotation = stored(90, 1, 0, 0);
  EXPECT_FALSE(place_entity(in).heading_only);
  expect_near(place_entity(in).transform.point({0, 1, 0}), {0, 0, 1});
  in.rotation = stored(90, 0, 1, 0);
  expect_near(place_entity(in).transform.point({0, 0, 1}), {1, 0, 0});
  // A turn about the diagonal by 120 degrees takes x to y to z to x.
  const double third = 1 / std::sqrt(3.0);
  in.rotation = stored(120, third, third, third);
  expect_near(place_entity(in).transform.point({1, 2, 3}), {3, 1, 2}, 2e-6f);
}

// P013: what stands in a turned interior is turned once by it, and once by itself.
TEST(Combine, ChildOfATurnedInteriorComposesOnce) {
  PlaceInput interior;
  interior.position = {100, 0, 5};
  interior.rotation = {0, 0, kRoot, kRoot};
  interior.is_interior = true;
  PlaceInput chair;
  chair.position = {2, 1, 0};
  chair.rotation = stored(90, 0, 0, 1);
  chair.scale_xy = 2;
  chair.scale_z = 3;
  const Transform world = combine(place_entity(interior).transform, place_entity(chair).transform);
  // Local (2, 1, 0) -> (-1, 2, 0) from the interior; both turns together are 180 degrees.
  expect_near(world.point({0, 0, 0}), {99, 2, 5}, 1e-5f);
  expect_near(world.point({1, 0, 0}), {97, 2, 5}, 1e-5f);
  expect_near(world.point({0, 0, 1}), {99, 2, 8}, 1e-5f);
  EXPECT_EQ(world.scale_xy(), 2);
  EXPECT_EQ(world.scale_z(), 3);
}

// ENTY-2: when tilt is kept.
TEST(PlaceEntity, TiltIsKeptOnlyWhereSomethingAsksForIt) {
  PlaceInput in;
  in.rotation = {0.0499f, 0, 0, 0.998754f};  // a little below the threshold
  EXPECT_TRUE(place_entity(in).heading_only);
  in.rotation = {0.0501f, 0, 0, 0.998744f};
  EXPECT_FALSE(place_entity(in).heading_only);
  in.rotation = {0, -0.0501f, 0, 0.998744f};
  EXPECT_FALSE(place_entity(in).heading_only);
  in.rotation = {0.0499f * 3, 0, 0, 0.998754f * 3};  // the threshold counts for the unit quaternion
  EXPECT_TRUE(place_entity(in).heading_only);
  in.rotation = {0.001f, 0, 0, 1};
  EXPECT_TRUE(place_entity(in).heading_only);
  in.full_rotation = true;
  EXPECT_FALSE(place_entity(in).heading_only);
  in.rotation = {0, 0, 0.3f, 0.9f};  // nothing to keep
  EXPECT_TRUE(place_entity(in).heading_only);
  in.full_rotation = false;
  in.animates = true;
  EXPECT_FALSE(place_entity(in).heading_only);
}

// ENTY-2: 2 acos(w) sign(z), here with the trigonometry that the code avoids.
TEST(PlaceEntity, HeadingIsTwiceTheArcCosine) {
  std::mt19937 random(20);
  std::uniform_real_distribution<double> angle(-3.14159, 3.14159), tilt(-0.049, 0.049);
  for (int i = 0; i < 2000; ++i) {
    const double a = angle(random), x = tilt(random), y = tilt(random);
    const double rest = std::sqrt(1 - x * x - y * y), sign = i % 2 == 0 ? 1 : -1;
    PlaceInput in;
    in.rotation = {static_cast<float>(x), static_cast<float>(y), static_cast<float>(std::sin(a / 2) * rest * sign),
                   static_cast<float>(std::cos(a / 2) * rest * sign)};
    in.is_interior = true;
    const double length = std::hypot(std::hypot(double{in.rotation.x}, double{in.rotation.y}),
                                     std::hypot(double{in.rotation.z}, double{in.rotation.w}));
    const double w = in.rotation.w / length;
    const double heading = 2 * std::acos(w) * (in.rotation.z > 0 ? 1 : -1);
    const Placed placed = place_entity(in);
    ASSERT_TRUE(placed.heading_only);
    expect_near(placed.transform.point({1, 0, 0}),
                {static_cast<float>(std::cos(heading)), static_cast<float>(std::sin(heading)), 0});
    EXPECT_EQ(placed.transform.z, (Vec4{0, 0, 1, 1}));
  }
  PlaceInput level;
  level.rotation = {0.04f, 0.03f, 0, 0.99f};  // sign(0) is 0: no heading at all
  EXPECT_EQ(place_entity(level).transform.x, (Vec4{1, 0, 0, 0}));
}

// ENTY-2: any length is taken, nothing and what is not a number is not.
TEST(PlaceEntity, RotationsAreNormalised) {
  PlaceInput in;
  in.rotation = {0, 0, -7, 7};
  expect_near(place_entity(in).transform.point({1, 0, 0}), {0, 1, 0});
  in.rotation = {0, 0, -1e-20f, 1e-20f};
  expect_near(place_entity(in).transform.point({1, 0, 0}), {0, 1, 0});
  in.rotation = {0, 0, -3e38f, 3e38f};
  expect_near(place_entity(in).transform.point({1, 0, 0}), {0, 1, 0});
  for (const Quat bad : {Quat{0, 0, 0, 0}, Quat{kNan, 0, 0, 1}, Quat{0, 0, 0, kInf}, Quat{0, -kInf, 0, 1}}) {
    in.rotation = bad;
    EXPECT_EQ(place_entity(in).status, PlaceStatus::bad_rotation);
    EXPECT_EQ(place_entity(in).transform, Transform{});
  }
  in.rotation = {};
  in.position = {0, kNan, 0};
  EXPECT_EQ(place_entity(in).status, PlaceStatus::bad_position);
}

// ENTY-2: scale.
TEST(PlaceEntity, ScaleRules) {
  PlaceInput in;
  in.scale_xy = 2;
  in.scale_z = 0.5f;
  Placed placed = place_entity(in);
  EXPECT_EQ(placed.status, PlaceStatus::placed);
  EXPECT_EQ(placed.transform.point({1, 1, 1}), (Vec3{2, 2, 0.5f}));
  EXPECT_EQ(placed.transform.scale_xy(), 2);
  EXPECT_EQ(placed.transform.scale_z(), 0.5f);
  in.is_fragment = true;
  EXPECT_EQ(place_entity(in).transform, Transform{});
  in.is_fragment = false;
  for (const float odd : {-1.f, -0.01f, 4.f, 1000.f}) {
    in.scale_xy = odd;
    EXPECT_EQ(place_entity(in).status, PlaceStatus::odd_scale) << odd;
    EXPECT_EQ(place_entity(in).transform.scale_xy(), odd);
  }
  for (const float usual : {3.9999f, 0.001f}) {
    in.scale_xy = usual;
    EXPECT_EQ(place_entity(in).status, PlaceStatus::placed) << usual;
  }
  for (const float bad : {0.f, -0.f, kInf, -kInf, kNan}) {
    in.scale_xy = bad;
    EXPECT_EQ(place_entity(in).status, PlaceStatus::bad_scale) << bad;
    in.scale_xy = 1;
    in.scale_z = bad;
    EXPECT_EQ(place_entity(in).status, PlaceStatus::bad_scale) << bad;
    in.scale_z = 1;
  }
}

// P074: a mirrored thing has the box of the mirror image, by hand: x in [-6, 2] -> -1 * ..., z in [0, 3] -> [-6, 0].
TEST(WorldBox, NegativeScaleDoesNotTurnItInsideOut) {
  PlaceInput in;
  in.scale_xy = -1;
  in.scale_z = -2;
  const CentredBox box = world_box(place_entity(in).transform, {{-6, -1, 0}, {2, 1, 3}});
  EXPECT_EQ(box.centre, (Vec3{2, 0, -3}));
  EXPECT_EQ(box.half, (Vec3{4, 1, 3}));
}

// ENTY-2, P074: random transforms against all corners in double precision, from the authored numbers.
TEST(WorldBox, HoldsAllCorners) {
  std::mt19937 random(74);
  std::uniform_real_distribution<double> unit(-1, 1), far(-16000, 16000), size(0, 200);
  for (int i = 0; i < 5000; ++i) {
    const auto f = [](double v) { return static_cast<float>(v); };
    PlaceInput in;
    in.position = {f(far(random)), f(far(random)), f(far(random) / 10)};
    in.rotation = {f(unit(random)), f(unit(random)), f(unit(random)), f(unit(random))};
    in.scale_xy = f(unit(random) * 3);
    in.scale_z = f(unit(random) * 3);
    in.animates = true;
    in.is_interior = i % 3 == 0;
    const Aabb local{{f(-size(random)), f(-size(random)), f(-size(random))}, {f(size(random)), f(size(random)), 1}};
    const Placed placed = place_entity(in);
    const CentredBox box = world_box(placed.transform, local);
    // By hand: v + 2 w (q x v) + 2 q x (q x v).
    const double n = std::sqrt(double{in.rotation.x} * in.rotation.x + double{in.rotation.y} * in.rotation.y +
                               double{in.rotation.z} * in.rotation.z + double{in.rotation.w} * in.rotation.w);
    const double s = in.is_interior ? 1 : -1;
    const double q[4] = {s * in.rotation.x / n, s * in.rotation.y / n, s * in.rotation.z / n, in.rotation.w / n};
    double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30};
    for (int corner = 0; corner < 8; ++corner) {
      const double v[3] = {(corner & 1 ? local.max.x : local.min.x) * double{in.scale_xy},
                           (corner & 2 ? local.max.y : local.min.y) * double{in.scale_xy},
                           (corner & 4 ? local.max.z : local.min.z) * double{in.scale_z}};
      const double c[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
      const double d[3] = {q[1] * c[2] - q[2] * c[1], q[2] * c[0] - q[0] * c[2], q[0] * c[1] - q[1] * c[0]};
      const double p[3] = {in.position.x, in.position.y, in.position.z};
      for (int k = 0; k < 3; ++k) {
        const double world = v[k] + 2 * q[3] * c[k] + 2 * d[k] + p[k];
        low[k] = std::min(low[k], world);
        high[k] = std::max(high[k], world);
      }
    }
    const double centre[3] = {box.centre.x, box.centre.y, box.centre.z}, half[3] = {box.half.x, box.half.y, box.half.z};
    const double radius = world_radius(placed.transform, {1, 2, 3}, 10, box.centre);
    EXPECT_GE(radius, 10 * std::max(std::abs(in.scale_xy), std::abs(in.scale_z)));
    for (int k = 0; k < 3; ++k) {
      // Columns are floats: 600 m of box may be off by 1e-4 m. What the columns say is held exactly, see below.
      EXPECT_LE(centre[k] - half[k], low[k] + 2e-4);
      EXPECT_GE(centre[k] + half[k], high[k] - 2e-4);
      EXPECT_GE(centre[k] - half[k], low[k] - 4e-3) << "not tight";
      EXPECT_LE(centre[k] + half[k], high[k] + 4e-3) << "not tight";
    }
    for (int corner = 0; corner < 8; ++corner) {
      const double v[3] = {corner & 1 ? local.max.x : local.min.x, corner & 2 ? local.max.y : local.min.y,
                           corner & 4 ? local.max.z : local.min.z};
      const Transform& t = placed.transform;
      const double world[3] = {double{t.x.x} * v[0] + double{t.y.x} * v[1] + double{t.z.x} * v[2] + t.position.x,
                               double{t.x.y} * v[0] + double{t.y.y} * v[1] + double{t.z.y} * v[2] + t.position.y,
                               double{t.x.z} * v[0] + double{t.y.z} * v[1] + double{t.z.z} * v[2] + t.position.z};
      for (int k = 0; k < 3; ++k) {
        ASSERT_LE(centre[k] - half[k], world[k] + 1e-9);
        ASSERT_GE(centre[k] + half[k], world[k] - 1e-9);
      }
    }
  }
}

TEST(WorldRadius, ReachesOverTheShiftedSphere) {
  // The sphere about (3, 4, 0) with radius 1, seen from the origin: 5 + 1.
  EXPECT_NEAR(world_radius(Transform{}, {3, 4, 0}, 1, {0, 0, 0}), 6, 1e-5);
  EXPECT_GE(world_radius(Transform{}, {3, 4, 0}, 1, {0, 0, 0}), 6);
}

TEST(Rounding, GoesToTheNextFloat) {
  EXPECT_EQ(round_up(1.0), 1.0f);
  EXPECT_EQ(round_up(1.0 + 1e-12), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(round_down(1.0 - 1e-12), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(round_up(-1.0 + 1e-12), -std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(next_up(0.0f), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(next_up(-std::numeric_limits<float>::denorm_min()), -0.0f);
  EXPECT_EQ(next_up(kInf), kInf);
}

// PIPE-1: these bits are what IEEE arithmetic gives, worked out with exact rationals; another machine, compiler or
// contraction would show here first.
TEST(PlaceEntity, GivesTheSameBitsEverywhere) {
  PlaceInput in;
  in.rotation = {0.5f, -0.5f, 0.5f, 0.5f};
  in.is_interior = true;
  const Transform t = place_entity(in).transform;
  EXPECT_EQ(t.x, (Vec4{0, 0, 1, 0}));
  EXPECT_EQ(t.y, (Vec4{-1, 0, 0, 1}));
  EXPECT_EQ(t.z, (Vec4{0, -1, 0, 1}));
}

}  // namespace
}  // namespace meridian
