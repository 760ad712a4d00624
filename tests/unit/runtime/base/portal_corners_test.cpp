// SPDX-License-Identifier: MIT
#include "meridian/base/portal_corners.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

// UTIL-2: corners of portals.

namespace meridian {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
  Vec3 vec(float reach) { return {(*this)(-reach, reach), (*this)(-reach, reach), (*this)(-reach, reach)}; }
};

PortalCorners portal_of(const std::array<Vec3, 4>& corners) { return make_portal(corners, 0, 0); }

/// One wide and two high in the plane y = 0; its normal is +y: (0,0,2) x (1,0,2) = (0, 2, 0).
PortalCorners door() { return portal_of({{{0, 0, 0}, {0, 0, 2}, {1, 0, 2}, {1, 0, 0}}}); }

// UTIL-2
TEST(PortalCorners, KeepsFlagsAndOpacityBesideTheCorners) {
  const std::array<Vec3, 4> at{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}};
  PortalCorners portal = make_portal(at, 8256, 0xFFFFFFFF);
  EXPECT_EQ(portal.flags(), 8256u);
  EXPECT_EQ(portal.opacity(), 0xFFFFFFFFu);
  portal.set_flags(0x7FA00001);  // the bits of a signalling NaN come back as they are
  portal.set_opacity(0);
  EXPECT_EQ(portal.flags(), 0x7FA00001u);
  EXPECT_EQ(portal.opacity(), 0u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(portal.point(static_cast<int>(i)), at[i]);
}

// UTIL-2, by hand.
TEST(PortalCorners, AreaNormalAndCentreOfADoor) {
  EXPECT_EQ(area(door()), 2);
  EXPECT_EQ(normal(door()), (Vec3{0, 1, 0}));
  EXPECT_EQ(centre(door()), (Vec3{0.5f, 0, 1}));
  const PortalCorners floor = portal_of({{{0, 0, 5}, {3, 0, 5}, {3, 4, 5}, {0, 4, 5}}});
  EXPECT_EQ(area(floor), 12);
  EXPECT_EQ(normal(floor), (Vec3{0, 0, 1}));
}

// UTIL-2: corners turned about and moved far away keep the area.
TEST(PortalCorners, AreaStaysWhenMoved) {
  constexpr uint32_t kSeed = 20260131;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 300; ++i) {
    const Vec3 u = normalize(random.vec(1)), v = normalize(cross(u, random.vec(1)));
    if (length(u) < 0.5 || length(v) < 0.5) continue;
    const Vec3 at = random.vec(1000);
    const PortalCorners portal = portal_of({{at, at + v * 3, at + v * 3 + u * 2, at + u * 2}});
    EXPECT_NEAR(area(portal), 6, 1e-3);
    EXPECT_LT(length(normal(portal) - cross(v, u)), 1e-3);
    EXPECT_EQ(check_portal(portal), PortalShape::good);
  }
}

// UTIL-2, by hand.
TEST(CheckPortal, NamesWhatIsWrong) {
  EXPECT_EQ(check_portal(door()), PortalShape::good);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 2}, {1, 0, 2}, {1, kNan, 0}}})), PortalShape::not_finite);
  EXPECT_EQ(check_portal(portal_of({{{3, 3, 3}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}}})), PortalShape::no_area);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {9, 9, 9}}})), PortalShape::no_area);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {1, 0, 2}, {0, 0, 2}, {1, 0, 0}}})),
            PortalShape::not_convex);  // bow tie
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 2}, {0.2f, 0, 0.2f}, {2, 0, 0}}})), PortalShape::not_convex);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0.2f, 0, 0.2f}, {0, 0, 2}, {2, 0, 0}}})), PortalShape::not_convex);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 2}, {1, 0.5f, 2}, {1, 0, 0}}})), PortalShape::not_planar);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 2}, {1, 0.001f, 2}, {1, 0, 0}}})), PortalShape::good);
  // Triangles: two corners in one place, or one on the edge between its neighbours.
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 0}, {1, 0, 2}, {1, 0, 0}}})), PortalShape::good);
  EXPECT_EQ(check_portal(portal_of({{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}}})), PortalShape::good);
  EXPECT_STREQ(to_string(PortalShape::not_planar), "not_planar");
}

// UTIL-2, by hand.
TEST(CrossSegment, TellsTheWayAndThePlace) {
  const PortalCrossing forward = cross_segment(door(), {0.5f, -1, 1}, {0.5f, 3, 1});
  EXPECT_EQ(forward.way, PortalWay::forward);
  EXPECT_EQ(forward.at, 0.25f);
  const PortalCrossing backward = cross_segment(door(), {0.5f, 3, 1}, {0.5f, -1, 1});
  EXPECT_EQ(backward.way, PortalWay::backward);
  EXPECT_EQ(backward.at, 0.75f);
  EXPECT_FALSE(cross_segment(door(), {0.5f, -1, 1}, {0.5f, -0.5f, 1}));    // too short
  EXPECT_FALSE(cross_segment(door(), {0.5f, 1, 1}, {0.5f, 2, 1}));         // beyond it
  EXPECT_FALSE(cross_segment(door(), {1.5f, -1, 1}, {1.5f, 1, 1}));        // beside it
  EXPECT_FALSE(cross_segment(door(), {0.5f, -1, 2.5f}, {0.5f, 1, 2.5f}));  // above it
  EXPECT_FALSE(cross_segment(door(), {0.5f, -1, kNan}, {0.5f, 1, 1}));
  EXPECT_FALSE(cross_segment(door(), {0.5f, 0, -3}, {0.5f, 0, 3}));  // within its plane
}

// UTIL-2: a point on the plane counts as the near side, whichever way one comes.
TEST(CrossSegment, AStopInTheOpeningIsToldOnce) {
  const Vec3 near_side{0.5f, -1, 1}, in_it{0.25f, 0, 0.5f}, far_side{0.5f, 1, 1};
  EXPECT_EQ(cross_segment(door(), near_side, in_it).way, PortalWay::none);
  EXPECT_EQ(cross_segment(door(), in_it, far_side).way, PortalWay::forward);
  EXPECT_EQ(cross_segment(door(), in_it, near_side).way, PortalWay::none);
  EXPECT_EQ(cross_segment(door(), far_side, in_it).way, PortalWay::backward);
  EXPECT_EQ(cross_segment(door(), in_it, in_it).way, PortalWay::none);
}

// UTIL-2: through the diagonal, all four edges and all four corners.
TEST(CrossSegment, BorderAndDiagonalBelongToTheOpening) {
  for (const Vec3 at : {Vec3{0.5f, 0, 1}, Vec3{0.25f, 0, 0.5f}, Vec3{0, 0, 1}, Vec3{1, 0, 1}, Vec3{0.5f, 0, 0},
                        Vec3{0.5f, 0, 2}, Vec3{0, 0, 0}, Vec3{0, 0, 2}, Vec3{1, 0, 2}, Vec3{1, 0, 0}}) {
    const Vec3 tilt{0.25f, 1, -0.5f};
    EXPECT_EQ(cross_segment(door(), at - tilt, at + tilt).way, PortalWay::forward);
    EXPECT_EQ(cross_segment(door(), at + tilt, at - tilt).way, PortalWay::backward);
  }
}

// Whole numbers, in which everything is exact: the same question asked of integers.
struct Whole {
  int64_t x, y, z;
  friend Whole operator-(const Whole& a, const Whole& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Whole operator+(const Whole& a, const Whole& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  Vec3 vec() const { return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)}; }
};
Whole whole_cross(const Whole& a, const Whole& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
int64_t whole_dot(const Whole& a, const Whole& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// -1, 0 or 1: where the plane is met, scaled by the common denominator, is tested against each edge.
int whole_crossing(const std::array<Whole, 4>& c, const Whole& a, const Whole& b) {
  const Whole n = whole_cross(c[1] - c[0], c[2] - c[0]);
  const int64_t start = whole_dot(n, a - c[0]), end = whole_dot(n, b - c[0]);
  const bool forward = start <= 0 && end > 0, backward = start > 0 && end <= 0;
  if (!forward && !backward) return 0;
  const int64_t scale = forward ? end - start : start - end;  // > 0
  const int64_t part = forward ? -start : start;              // a + (b - a) * part / scale is on the plane
  for (size_t i = 0; i < 4; ++i) {
    const Whole edge = c[(i + 1) & 3] - c[i];
    const Whole to_a = a - c[i], way = b - a;
    const Whole inwards = whole_cross(n, edge);
    // dot(inwards, to_a + way * part / scale) >= 0
    const int64_t where = whole_dot(inwards, to_a) * scale + whole_dot(inwards, way) * part;
    if (where < 0) return 0;
  }
  return forward ? 1 : -1;
}

// UTIL-2: parallelograms on a lattice, so that edges, corners and the diagonal are hit exactly, and often.
TEST(CrossSegment, EqualsWholeNumbersOnALattice) {
  constexpr uint32_t kSeed = 20260132;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const auto lattice = [&](int reach) {
    return Whole{random.whole(-reach, reach), random.whole(-reach, reach), random.whole(-reach, reach)};
  };
  int crossed = 0;
  for (int round = 0; round < 4000; ++round) {
    const Whole at = lattice(2), u = lattice(3), v = lattice(3);
    const Whole n = whole_cross(v, u);
    if (whole_dot(n, n) == 0) continue;
    const std::array<Whole, 4> c{at, at + v, at + v + u, at + u};
    const PortalCorners portal = portal_of({c[0].vec(), c[1].vec(), c[2].vec(), c[3].vec()});
    for (int s = 0; s < 50; ++s) {
      const Whole a = lattice(5), b = lattice(5);
      const int want = whole_crossing(c, a, b);
      const PortalCrossing got = cross_segment(portal, a.vec(), b.vec());
      ASSERT_EQ(static_cast<int>(got.way), want);
      crossed += want != 0 ? 1 : 0;
      if (a.x == b.x && a.y == b.y && a.z == b.z) continue;
      // A ray goes on: it is a segment to far away.
      const Whole far{a.x + (b.x - a.x) * 1000, a.y + (b.y - a.y) * 1000, a.z + (b.z - a.z) * 1000};
      const int want_ray = whole_crossing(c, a, far);
      const PortalCrossing ray = cross_ray(portal, a.vec(), (b - a).vec());
      // Only a ray that comes down towards the plane reaches it at its end in both cases.
      ASSERT_EQ(static_cast<int>(ray.way), want_ray);
      if (want != 0) {
        EXPECT_EQ(ray.at, got.at);
      }
    }
  }
  EXPECT_GT(crossed, 5000);
}

// UTIL-2: however portals are tilted, who aims at the diagonal gets through, and whoever aims at an edge that two
// portals share gets through one of them at least.
TEST(CrossSegment, NothingLeaksThroughDiagonalOrSharedEdge) {
  constexpr uint32_t kSeed = 20260133;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 20000; ++round) {
    const Vec3 at = random.vec(100), u = random.vec(3), v = random.vec(3);
    const Vec3 up = cross(v, u);
    if (length(up) < 1) continue;
    const PortalCorners left = portal_of({at, at + v, at + v + u, at + u});
    const PortalCorners right = portal_of({at + u, at + v + u, at + v + u + u, at + u + u});
    const Vec3 sway = random.vec(0.3f), to = normalize(up) + sway;
    const float t = random(0.01f, 0.99f);
    const Vec3 on_diagonal = at + (left.point(2) - at) * t;
    EXPECT_EQ(cross_segment(left, on_diagonal - to, on_diagonal + to).way, PortalWay::forward) << round;
    EXPECT_EQ(cross_segment(left, on_diagonal + to, on_diagonal - to).way, PortalWay::backward) << round;
    const Vec3 on_edge = left.point(3) + (left.point(2) - left.point(3)) * t;
    EXPECT_TRUE(cross_segment(left, on_edge - to, on_edge + to) || cross_segment(right, on_edge - to, on_edge + to))
        << round;
  }
}

// UTIL-2: a walk within the outline changes sides as often as it is told, also through a bent portal.
TEST(CrossSegment, AWalkIsToldEachChangeOfSides) {
  constexpr uint32_t kSeed = 20260134;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (const float bend : {0.0f, 5.0f}) {
    const PortalCorners portal = portal_of({{{-500, 0, -500}, {-500, 0, 500}, {500, bend, 500}, {500, 0, -500}}});
    Vec3 at{0, -10, 0};
    int side = 0;
    for (int step = 0; step < 20000; ++step) {
      const Vec3 next{static_cast<float>(random.whole(-3, 3)), static_cast<float>(random.whole(-3, 3)),
                      static_cast<float>(random.whole(-3, 3))};
      side += static_cast<int>(cross_segment(portal, at, next).way);
      ASSERT_TRUE(side == 0 || side == 1) << step;
      if (bend == 0) {
        ASSERT_EQ(side, next.y > 0 ? 1 : 0);
      }
      at = next;
    }
    side += static_cast<int>(cross_segment(portal, at, {0, -10, 0}).way);
    EXPECT_EQ(side, 0);
  }
}

// UTIL-2, by hand.
TEST(CrossRay, MeasuresInLengthsOfItsDirection) {
  const PortalCrossing crossing = cross_ray(door(), {0.5f, -6, 1}, {0, 2, 0});
  EXPECT_EQ(crossing.way, PortalWay::forward);
  EXPECT_EQ(crossing.at, 3);
  EXPECT_FALSE(cross_ray(door(), {0.5f, -6, 1}, {0, -2, 0}));
  EXPECT_EQ(cross_ray(door(), {0.5f, 6, 1}, {0, -2, 0}).way, PortalWay::backward);
  EXPECT_FALSE(cross_ray(door(), {0.5f, -6, 1}, {1, 0, 0}));
  EXPECT_FALSE(cross_ray(door(), {0.5f, -6, 1}, {0, kNan, 0}));
}

}  // namespace
}  // namespace meridian
