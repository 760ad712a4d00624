// SPDX-License-Identifier: MIT
#include "meridian/base/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

// UTIL-2: closest points, planes, triangles and frusta. Angles are in geometry_angle_test.cpp.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
  Vec3 vec(float reach) { return {(*this)(-reach, reach), (*this)(-reach, reach), (*this)(-reach, reach)}; }
  Vec3 direction() {
    for (;;) {
      const Vec3 v = vec(1);
      if (length(v) > 0.1 && length(v) < 1) return normalize(v);
    }
  }
};

double distance(const Vec3& a, const Vec3& b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
}

// UTIL-2, by hand.
TEST(ClosestPoint, IsThePointItselfInsideAndClampedOutside) {
  const Aabb box{{-1, -2, -3}, {1, 2, 3}};
  EXPECT_EQ(closest_point(box, {0.5f, -1, 2}), (Vec3{0.5f, -1, 2}));
  EXPECT_EQ(closest_point(box, {5, 0, 0}), (Vec3{1, 0, 0}));
  EXPECT_EQ(closest_point(box, {5, -7, 9}), (Vec3{1, -2, 3}));
  EXPECT_EQ(closest_point(box, {1, 2, 3}), (Vec3{1, 2, 3}));
  EXPECT_EQ(distance_squared(box, {0, 0, 0}), 0);
  EXPECT_EQ(distance_squared(box, {1, 2, 3}), 0);
  EXPECT_EQ(distance_squared(box, {4, -6, 3}), 9 + 16);
  EXPECT_EQ(distance_squared(box, {4, -6, 15}), 9 + 16 + 144);
}

// UTIL-2
TEST(ClosestPoint, NoSampleOfTheBoxIsNearer) {
  constexpr uint32_t kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = random.vec(50), b = random.vec(50), at = random.vec(100);
    const Aabb box{min(a, b), max(a, b)};
    const Vec3 best = closest_point(box, at);
    EXPECT_EQ(distance_squared(box, best), 0);
    const double reach = distance(best, at);
    EXPECT_NEAR(distance_squared(box, at), reach * reach, 1e-6 * reach * reach);
    for (int s = 0; s < 50; ++s) {
      const Vec3 sample{random(box.min.x, box.max.x), random(box.min.y, box.max.y), random(box.min.z, box.max.z)};
      EXPECT_GE(distance(sample, at), reach - 1e-5);
    }
  }
}

TEST(BoundsOf, HoldsExactlyThePoints) {
  const Vec3 points[] = {{1, 5, -3}, {-2, 7, 0}, {0, 6, 4}};
  EXPECT_EQ(bounds_of(points), (Aabb{{-2, 5, -3}, {1, 7, 4}}));
}

TEST(SignedDistance, IsPositiveWhereTheNormalPoints) {
  const Plane plane{{0, 0, 1}, -5};
  EXPECT_EQ(signed_distance(plane, {100, 200, 8}), 3);
  EXPECT_EQ(signed_distance(plane, {0, 0, 1}), -4);
}

/// Root of the mean squared distance from the plane through `centre`, in doubles.
double error_of(const std::vector<Vec3>& points, double nx, double ny, double nz, double cx, double cy, double cz) {
  const double l = std::sqrt(nx * nx + ny * ny + nz * nz);
  double sum = 0;
  for (const Vec3& p : points) {
    const double d = ((p.x - cx) * nx + (p.y - cy) * ny + (p.z - cz) * nz) / l;
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// UTIL-2, by hand.
TEST(FitPlane, FindsALevelFloor) {
  const Vec3 points[] = {{0, 0, 5}, {10, 0, 5}, {10, 4, 5}, {0, 4, 5}};
  const Result<PlaneFit> fit = fit_plane(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.value().plane, (Plane{{0, 0, 1}, -5}));
  EXPECT_EQ(fit.value().centre, (Vec3{5, 2, 5}));
  EXPECT_EQ(fit.value().rms_error, 0);
  EXPECT_EQ(fit.value().flatness, 1);
}

// UTIL-2, by hand: two rungs 1 above and below z = 0 at each corner; by symmetry the plane is z = 0, the error 1.
TEST(FitPlane, TellsHowFarPointsAreOff) {
  std::vector<Vec3> points;
  for (const float x : {-8.f, 8.f})
    for (const float y : {-4.f, 4.f})
      for (const float z : {-1.f, 1.f}) points.push_back({x, y, z});
  const Result<PlaneFit> fit = fit_plane(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.value().plane, (Plane{{0, 0, 1}, 0}));
  EXPECT_FLOAT_EQ(fit.value().rms_error, 1);
  EXPECT_FLOAT_EQ(fit.value().flatness, 0.75f);  // 1 - 1 / 4
}

// UTIL-2: a ball has no best plane, and says so.
TEST(FitPlane, CornersOfACubeAreNotFlatAtAll) {
  std::vector<Vec3> points;
  for (const float x : {-1.f, 1.f})
    for (const float y : {-1.f, 1.f})
      for (const float z : {-1.f, 1.f}) points.push_back({x, y, z});
  const Result<PlaneFit> fit = fit_plane(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.value().flatness, 0);
}

// UTIL-2: known planes with noise, also 4 km from the origin; and no plane tilted a little from it fits better.
TEST(FitPlane, FindsKnownPlanesThroughNoise) {
  constexpr uint32_t kSeed = 20260102;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const Vec3 normal = random.direction(), centre = random.vec(round % 2 == 0 ? 10.f : 4000.f);
    const Vec3 u = normalize(cross(normal, std::abs(normal.x) < 0.5f ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
    const Vec3 v = cross(normal, u);
    const float noise = round % 4 < 2 ? 0.0f : 0.05f;
    std::vector<Vec3> points;
    for (int i = 0; i < 100; ++i)
      points.push_back(centre + u * random(-30, 30) + v * random(-20, 20) + normal * random(-noise, noise));
    const Result<PlaneFit> fit = fit_plane(points);
    ASSERT_TRUE(fit.ok());
    const Plane& plane = fit.value().plane;
    EXPECT_NEAR(length(plane.normal), 1, 1e-6);
    const double sine = length(cross(plane.normal, normal));
    EXPECT_LT(sine, noise > 0 ? 3e-3 : 5e-5) << "round " << round;
    EXPECT_GE(std::max({plane.normal.x, plane.normal.y, plane.normal.z}),
              -std::min({plane.normal.x, plane.normal.y, plane.normal.z}));
    const Vec3& c = fit.value().centre;
    EXPECT_NEAR(signed_distance(plane, c), 0, 1e-3);
    const double best = error_of(points, plane.normal.x, plane.normal.y, plane.normal.z, c.x, c.y, c.z);
    EXPECT_NEAR(fit.value().rms_error, best, 1e-3);
    for (int tilt = 0; tilt < 20; ++tilt) {
      const Vec3 other = plane.normal + random.vec(0.02f), to = c + random.vec(0.1f);
      EXPECT_GE(error_of(points, other.x, other.y, other.z, to.x, to.y, to.z), best - 1e-6);
    }
  }
}

// UTIL-2
TEST(FitPlane, RefusesSetsWithoutAPlane) {
  const Vec3 two[] = {{0, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(fit_plane(two).status().code, StatusCode::too_small);
  EXPECT_EQ(fit_plane(two).status().detail, 2u);
  EXPECT_EQ(fit_plane({}).status().code, StatusCode::too_small);
  const Vec3 same[] = {{7, 8, 9}, {7, 8, 9}, {7, 8, 9}, {7, 8, 9}};
  EXPECT_EQ(fit_plane(same).status().code, StatusCode::bad_value);
  const Vec3 line[] = {{0, 0, 0}, {1, 2, 3}, {2, 4, 6}, {-5, -10, -15}};
  EXPECT_EQ(fit_plane(line).status().code, StatusCode::bad_value);
  const Vec3 broken[] = {{0, 0, 0}, {1, 0, 0}, {0, kNan, 0}};
  EXPECT_EQ(fit_plane(broken).status().code, StatusCode::bad_value);
  EXPECT_EQ(fit_plane(broken).status().detail, 2u);
}

// UTIL-2: rounding to floats bends a line, the more so far out; it's a line all the same.
TEST(FitPlane, RefusesALineThatOnlyRoundingBends) {
  constexpr uint32_t kSeed = 20260103;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 100; ++round) {
    const Vec3 start = random.vec(4000), along = random.direction();
    std::vector<Vec3> points;
    for (int i = 0; i < 20; ++i) points.push_back(start + along * random(-100, 100));
    EXPECT_FALSE(fit_plane(points).ok()) << "round " << round;
    // A hand's breadth beside the line is a plane again.
    points.push_back(start + normalize(cross(along, {0.36f, -0.48f, 0.8f})) * 0.5f);
    EXPECT_TRUE(fit_plane(points).ok()) << "round " << round;
  }
}

// UTIL-2, by hand.
TEST(Barycentric, OfCornersEdgesAndCentre) {
  const Vec3 a{0, 0, 0}, b{4, 0, 0}, c{0, 8, 0};
  EXPECT_EQ(barycentric(a, b, c, a).value(), (Vec3{1, 0, 0}));
  EXPECT_EQ(barycentric(a, b, c, b).value(), (Vec3{0, 1, 0}));
  EXPECT_EQ(barycentric(a, b, c, c).value(), (Vec3{0, 0, 1}));
  EXPECT_EQ(barycentric(a, b, c, {2, 4, 0}).value(), (Vec3{0, 0.5f, 0.5f}));
  EXPECT_EQ(barycentric(a, b, c, {1, 2, 0}).value(), (Vec3{0.5f, 0.25f, 0.25f}));
  EXPECT_EQ(barycentric(a, b, c, {1, 2, -77}).value(), (Vec3{0.5f, 0.25f, 0.25f}));  // its foot on the plane
  EXPECT_EQ(barycentric(a, b, c, {-4, 0, 0}).value(), (Vec3{2, -1, 0}));
}

// UTIL-2
TEST(Barycentric, GivesBackTheWeightsThatMadeAPoint) {
  constexpr uint32_t kSeed = 20260104;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int tried = 0;
  while (tried < 500) {
    const Vec3 a = random.vec(100), b = random.vec(100), c = random.vec(100);
    if (length(cross(b - a, c - a)) < 500) continue;
    ++tried;
    const float v = random(-1, 2), w = random(-1, 2);
    const Result<Vec3> weights = barycentric(a, b, c, a * (1 - v - w) + b * v + c * w);
    ASSERT_TRUE(weights.ok());
    EXPECT_NEAR(weights.value().x, 1 - v - w, 2e-5);
    EXPECT_NEAR(weights.value().y, v, 2e-5);
    EXPECT_NEAR(weights.value().z, w, 2e-5);
  }
}

// UTIL-2
TEST(Barycentric, RefusesTrianglesWithoutArea) {
  EXPECT_EQ(barycentric({1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}).status().code, StatusCode::bad_value);
  EXPECT_EQ(barycentric({0, 0, 0}, {1, 2, 3}, {2, 4, 6}, {}).status().code, StatusCode::bad_value);
  EXPECT_EQ(barycentric({0, 0, 0}, {1, 0, 0}, {1000, 1e-4f, 0}, {}).status().code, StatusCode::bad_value);
  EXPECT_EQ(barycentric({0, 0, 0}, {1, 0, 0}, {0, kInf, 0}, {}).status().code, StatusCode::bad_value);
  EXPECT_TRUE(barycentric({0, 0, 0}, {1e-3f, 0, 0}, {0, 1e-3f, 0}, {}).ok());  // small isn't narrow
}

// UTIL-2, by hand: at (10, 20, 30), looking along +y, half as high as wide.
TEST(FrustumOfView, HasItsEightCorners) {
  Transform camera;
  camera.position = {10, 20, 30, 1};
  const Result<Frustum> made =
      frustum_of_view(camera, {.tan_half_width = 1, .tan_half_height = 0.5f, .near_distance = 2, .far_distance = 100});
  ASSERT_TRUE(made.ok());
  const Vec3 want[8] = {{8, 22, 29},     {12, 22, 29},    {8, 22, 31},    {12, 22, 31},
                        {-90, 120, -20}, {110, 120, -20}, {-90, 120, 80}, {110, 120, 80}};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(made.value().corners[i], want[i]) << i;
  EXPECT_EQ(made.value().bounds, (Aabb{{-90, 22, -20}, {110, 120, 80}}));
}

// UTIL-2: a quarter turn to the left looks along -x.
TEST(FrustumOfView, TurnsWithTheCamera) {
  Transform camera;
  camera.x = {0, 1, 0, 0};
  camera.y = {-1, 0, 0, 1};
  const Result<Frustum> made = frustum_of_view(camera, {.near_distance = 0, .far_distance = 10});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().bounds, (Aabb{{-10, -10, -10}, {0, 10, 10}}));
}

// UTIL-2
TEST(FrustumOfView, RefusesViewsWithoutAVolume) {
  const Transform camera;
  EXPECT_TRUE(frustum_of_view(camera, {}).ok());
  const ViewLens bad[] = {{.tan_half_width = 0},
                          {.tan_half_width = kNan},
                          {.tan_half_width = -1},
                          {.tan_half_height = 0},
                          {.tan_half_height = kInf},
                          {.near_distance = -1},
                          {.near_distance = 1000},
                          {.far_distance = kInf},
                          {.far_distance = kNan},
                          {.near_distance = kInf, .far_distance = kInf},
                          {.tan_half_width = 1e20f, .far_distance = 1e20f}};
  for (const ViewLens& lens : bad)
    EXPECT_EQ(frustum_of_view(camera, lens).status().code, StatusCode::bad_value) << &lens - bad;
  Transform flat;
  flat.z = flat.x;
  EXPECT_EQ(frustum_of_view(flat, {}).status().code, StatusCode::bad_value);
  Transform lost;
  lost.position.x = kNan;
  EXPECT_EQ(frustum_of_view(lost, {}).status().code, StatusCode::bad_value);
}

/// The plane through three corners, with `inside` on its positive side.
Plane plane_through(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& inside) {
  Vec3 n = normalize(cross(b - a, c - a));
  if (dot(n, inside - a) < 0) n = n * -1.0f;
  return {n, -dot(n, a)};
}

std::vector<Plane> planes_of(const Vec3 (&c)[8]) {
  Vec3 inside;
  for (const Vec3& corner : c) inside = inside + corner * 0.125f;
  return {plane_through(c[0], c[4], c[6], inside), plane_through(c[1], c[5], c[7], inside),
          plane_through(c[0], c[4], c[5], inside), plane_through(c[2], c[6], c[7], inside),
          plane_through(c[0], c[1], c[2], inside), plane_through(c[4], c[5], c[6], inside)};
}

Result<Frustum> from_planes(const std::vector<Plane>& planes) {
  return frustum_of_planes(std::span<const Plane, 6>(planes.data(), 6));
}

// UTIL-2: a box is a frustum too; its corners by hand, with normals of any length.
TEST(FrustumOfPlanes, FindsTheCornersOfABox) {
  const std::vector<Plane> planes = {{{1, 0, 0}, 1},  {{-2, 0, 0}, 4},      {{0, 0, 1}, 5},
                                     {{0, 0, -1}, 6}, {{0, 0.5f, 0}, 1.5f}, {{0, -1, 0}, 4}};
  const Result<Frustum> made = from_planes(planes);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().bounds, (Aabb{{-1, -3, -5}, {2, 4, 6}}));
  EXPECT_EQ(made.value().corners[0], (Vec3{-1, -3, -5}));
  EXPECT_EQ(made.value().corners[1], (Vec3{2, -3, -5}));
  EXPECT_EQ(made.value().corners[2], (Vec3{-1, -3, 6}));
  EXPECT_EQ(made.value().corners[7], (Vec3{2, 4, 6}));
}

// UTIL-2: corners -> planes (here) -> corners.
TEST(FrustumOfPlanes, FindsTheCornersThatThePlanesWereLaidThrough) {
  constexpr uint32_t kSeed = 20260105;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const Vec3 y = random.direction(), x = normalize(cross(y, {0.48f, 0.64f, 0.6f})), z = cross(x, y);
    if (length(x) < 0.5) continue;
    const Vec3 at = random.vec(2000);
    const float near_at = random(1, 5), far_at = random(100, 500), w = random(0.3f, 1.5f), h = random(0.3f, 1.5f);
    Vec3 corners[8];
    for (int i = 0; i < 8; ++i) {
      const float depth = (i & 4) != 0 ? far_at : near_at;
      corners[i] =
          at + y * depth + x * ((i & 1) != 0 ? depth * w : -depth * w) + z * ((i & 2) != 0 ? depth * h : -depth * h);
    }
    const Result<Frustum> made = from_planes(planes_of(corners));
    ASSERT_TRUE(made.ok()) << made.status().message << " round " << round;
    for (int i = 0; i < 8; ++i) {
      EXPECT_LT(distance(made.value().corners[i], corners[i]), 0.5) << i;  // planes of floats, 2 km out
      EXPECT_EQ(closest_point(made.value().bounds, made.value().corners[i]), made.value().corners[i]);
    }
  }
}

// UTIL-2
TEST(FrustumOfPlanes, TakesAPyramid) {
  // Sides at 45 degrees through the origin, near plane y >= 0, far plane y <= 10.
  const std::vector<Plane> planes = {{{1, 1, 0}, 0},  {{-1, 1, 0}, 0}, {{0, 1, 1}, 0},
                                     {{0, 1, -1}, 0}, {{0, 1, 0}, 0},  {{0, -1, 0}, 10}};
  const Result<Frustum> made = from_planes(planes);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().bounds, (Aabb{{-10, 0, -10}, {10, 10, 10}}));
}

// UTIL-2
TEST(FrustumOfPlanes, RefusesWhatIsEndlessOrEmpty) {
  const std::vector<Plane> box = {{{1, 0, 0}, 1},  {{-1, 0, 0}, 1}, {{0, 0, 1}, 1},
                                  {{0, 0, -1}, 1}, {{0, 1, 0}, 1},  {{0, -1, 0}, 1}};
  ASSERT_TRUE(from_planes(box).ok());
  const auto refused = [&](size_t index, const Plane& plane) {
    std::vector<Plane> planes = box;
    planes[index] = plane;
    return from_planes(planes).status().code == StatusCode::bad_value;
  };
  EXPECT_TRUE(refused(5, {{0, 0, 0}, 1}));      // no plane
  EXPECT_TRUE(refused(5, {{0, -1, 0}, kInf}));  // infinitely far
  EXPECT_TRUE(refused(5, {{0, kNan, 0}, 1}));
  EXPECT_TRUE(refused(5, {{1, 0, 0}, 1}));    // parallel to the left one: no far end
  EXPECT_TRUE(refused(5, {{0, -1, 0}, -5}));  // beyond the near plane on the wrong side: empty
  EXPECT_TRUE(refused(5, {{0, -1, 0}, -1}));  // at the near plane: no volume
  EXPECT_TRUE(refused(1, {{-1, 0, 0}, -1}));  // no width
  EXPECT_TRUE(refused(5, {{0, 1, 0}, -5}));   // y >= 5 where an end should be: goes on for ever
  // Sides that open backwards, so that the far plane is never reached between them.
  std::vector<Plane> crossed = box;
  crossed[0] = {{1, -1, 0}, -5};
  crossed[1] = {{-1, -1, 0}, -5};
  EXPECT_FALSE(from_planes(crossed).ok());
}

}  // namespace
}  // namespace meridian
