// SPDX-License-Identifier: MIT
#include "meridian/base/kdop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

// UTIL-2: volumes between nine pairs of planes.

namespace meridian {
namespace {

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
  Vec3 vec(float reach) { return {(*this)(-reach, reach), (*this)(-reach, reach), (*this)(-reach, reach)}; }
};

/// Along a direction, by the published table; exact in 64 bits of mantissa for floats less than 2^40 apart.
long double along(int direction, const Vec3& p) {
  const Vec3& d = kKdopDirection[direction];
  return static_cast<long double>(d.x) * p.x + static_cast<long double>(d.y) * p.y +
         static_cast<long double>(d.z) * p.z;
}

std::vector<Vec3> cloud(Random& random, int count, const Vec3& centre, float reach) {
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) points.push_back(centre + random.vec(reach));
  return points;
}

// UTIL-2, by hand.
TEST(Kdop, OfTwoPoints) {
  const Vec3 points[] = {{1, 2, 4}, {-3, 5, 0}};
  const Kdop18 volume = kdop_of(points);
  // x, y, z, x+y, x-y, x+z, x-z, y+z, y-z
  const float low[] = {-3, 2, 0, 2, -8, -3, -3, 5, -2}, high[] = {1, 5, 4, 3, -1, 5, -3, 6, 5};
  for (int i = 0; i < kKdopDirections; ++i) {
    EXPECT_EQ(volume.min[i], low[i]) << i;
    EXPECT_EQ(volume.max[i], high[i]) << i;
  }
  EXPECT_EQ(bounds_of(volume), (Aabb{{-3, 2, 0}, {1, 5, 4}}));
}

// UTIL-2: the nine directions are those of the faces and edges of a cube, each once.
TEST(Kdop, DirectionsAreFacesAndEdgesOfACube) {
  for (int i = 0; i < kKdopDirections; ++i) {
    const double l = length(kKdopDirection[i]);
    EXPECT_NEAR(l * l, i < 3 ? 1 : 2, 1e-12);
    for (int k = 0; k < i; ++k) EXPECT_GT(length(cross(kKdopDirection[i], kKdopDirection[k])), 0.5);
  }
}

// UTIL-2
TEST(Kdop, EmptyHoldsNothingAndChangesNothing) {
  const Kdop18 empty;
  EXPECT_TRUE(empty.is_empty());
  EXPECT_EQ(kdop_of(std::span<const Vec3>()), empty);
  const Kdop18 box = kdop_of(Aabb{{-1, -1, -1}, {1, 1, 1}});
  EXPECT_FALSE(box.is_empty());
  EXPECT_FALSE(overlap(empty, box));
  EXPECT_FALSE(overlap(empty, empty));
  EXPECT_FALSE(contains(empty, Vec3{}));
  EXPECT_TRUE(contains(box, empty));
  EXPECT_FALSE(contains(empty, box));
  Kdop18 merged = box;
  merge(merged, empty);
  EXPECT_EQ(merged, box);
  merge(merged = empty, box);
  EXPECT_EQ(merged, box);
}

// UTIL-2, by hand: two masts whose boxes overlap, but which lean past each other.
TEST(Kdop, TellsApartWhatBoxesDoNot) {
  const Vec3 first[] = {{0, 0, 0}, {10, 10, 0}};
  const Vec3 second[] = {{3, 0, 0}, {13, 10, 0}};
  EXPECT_FALSE(overlap(kdop_of(first), kdop_of(second)));  // x-y is 0 for one, 3 for the other
  EXPECT_TRUE(overlap(kdop_of(bounds_of(kdop_of(first))), kdop_of(bounds_of(kdop_of(second)))));
  const Vec3 touching[] = {{0, 0, 0}, {10, 10, 0}, {10, 7, 0}};
  EXPECT_TRUE(overlap(kdop_of(touching), kdop_of(second)));  // in one point
}

// UTIL-2: a box stays the box: nothing of it is cut off, nothing is added.
TEST(Kdop, OfABoxIsTheBox) {
  constexpr uint32_t kSeed = 20260121;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = random.vec(1000), b = random.vec(1000);
    const Aabb box{min(a, b), max(a, b)};
    const Kdop18 volume = kdop_of(box);
    EXPECT_EQ(bounds_of(volume), box);
    for (int s = 0; s < 20; ++s) {
      const Vec3 at = random.vec(1000);
      const bool inside = at == min(max(at, box.min), box.max);
      EXPECT_EQ(contains(volume, at), inside);
    }
  }
}

// UTIL-2: bounds enclose every point's exact sums, and not by more than one float.
TEST(Kdop, IsRoundedOutwardsByLessThanOneFloat) {
  constexpr uint32_t kSeed = 20260122;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 300; ++round) {
    const auto points = cloud(random, 12, random.vec(4000), round % 3 == 0 ? 1e-3f : 30.f);
    const Kdop18 volume = kdop_of(points);
    for (int i = 0; i < kKdopDirections; ++i) {
      long double low = along(i, points[0]), high = low;
      for (const Vec3& p : points) low = std::min(low, along(i, p)), high = std::max(high, along(i, p));
      EXPECT_LE(volume.min[i], low);
      EXPECT_GE(volume.max[i], high);
      EXPECT_GT(std::nextafter(volume.min[i], 1e30f), low);
      EXPECT_LT(std::nextafter(volume.max[i], -1e30f), high);
    }
    for (const Vec3& p : points) EXPECT_TRUE(contains(volume, p));
  }
}

// UTIL-2: a sum that not even doubles hold. 1 + 2^-60 is above 1, so the bound must be too.
TEST(Kdop, IsConservativeWhereDoublesRound) {
  const float tiny = std::ldexp(1.0f, -60);
  const Vec3 points[] = {{1, tiny, 0}};
  const Kdop18 volume = kdop_of(points);
  EXPECT_EQ(volume.max[3], std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(volume.min[3], 1);
  EXPECT_EQ(volume.max[4], 1);
  EXPECT_EQ(volume.min[4], std::nextafter(1.0f, 0.0f));
  EXPECT_TRUE(contains(volume, points[0]));
  Kdop18 plain = kdop_of(Aabb{{-1, -1, -1}, {2, 2, 2}});
  plain.max[3] = 1;
  EXPECT_TRUE(contains(plain, Vec3{1, 0, 0}));
  EXPECT_FALSE(contains(plain, Vec3{1, tiny, 0}));
}

// UTIL-2: contains() against the nine inequalities in long double.
TEST(Kdop, ContainsExactlyWhatItsPlanesAllow) {
  constexpr uint32_t kSeed = 20260123;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int inside_count = 0;
  for (int round = 0; round < 100; ++round) {
    const Kdop18 volume = kdop_of(cloud(random, 8, {}, 10));
    for (int s = 0; s < 200; ++s) {
      const Vec3 at = random.vec(10);
      bool inside = true;
      for (int i = 0; i < kKdopDirections; ++i)
        inside &= along(i, at) >= volume.min[i] && along(i, at) <= volume.max[i];
      EXPECT_EQ(contains(volume, at), inside);
      inside_count += inside ? 1 : 0;
    }
  }
  EXPECT_GT(inside_count, 1000);
  EXPECT_FALSE(contains(kdop_of(Aabb{{-1, -1, -1}, {1, 1, 1}}), Vec3{std::numeric_limits<float>::quiet_NaN(), 0, 0}));
}

// UTIL-2: merging is as building from all points at once, and holds both parts.
TEST(Kdop, MergedHoldsBothAndIsTheSameAsBuiltAtOnce) {
  constexpr uint32_t kSeed = 20260124;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const auto one = cloud(random, 5, random.vec(50), 20), two = cloud(random, 7, random.vec(50), 20);
    std::vector<Vec3> all = one;
    all.insert(all.end(), two.begin(), two.end());
    Kdop18 merged = kdop_of(one);
    merge(merged, kdop_of(two));
    EXPECT_EQ(merged, kdop_of(all));
    EXPECT_TRUE(contains(merged, kdop_of(one)));
    EXPECT_TRUE(contains(merged, kdop_of(two)));
    if (kdop_of(one) != merged) {
      EXPECT_FALSE(contains(kdop_of(one), merged));
    }
  }
}

// UTIL-2: what has a point in common overlaps; what doesn't overlap has none.
TEST(Kdop, OverlapMissesNothing) {
  constexpr uint32_t kSeed = 20260125;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int apart = 0;
  for (int round = 0; round < 500; ++round) {
    auto one = cloud(random, 6, random.vec(20), 8), two = cloud(random, 6, random.vec(20), 8);
    const Kdop18 a = kdop_of(one), b = kdop_of(two);
    EXPECT_EQ(overlap(a, b), overlap(b, a));
    if (!overlap(a, b)) {
      ++apart;
      for (int s = 0; s < 100; ++s) {
        const Vec3 at = random.vec(28);
        EXPECT_FALSE(contains(a, at) && contains(b, at));
      }
      bool separated = false;  // one of the nine directions shows it, from the points themselves
      for (int i = 0; i < kKdopDirections; ++i) {
        const auto less = [&](const Vec3& p, const Vec3& q) { return along(i, p) < along(i, q); };
        const auto [a_low, a_high] = std::minmax_element(one.begin(), one.end(), less);
        const auto [b_low, b_high] = std::minmax_element(two.begin(), two.end(), less);
        separated |= along(i, *a_high) < along(i, *b_low) || along(i, *b_high) < along(i, *a_low);
      }
      EXPECT_TRUE(separated);
    }
    two.push_back(one[0]);
    EXPECT_TRUE(overlap(a, kdop_of(two)));
  }
  EXPECT_GT(apart, 50);
}

}  // namespace
}  // namespace meridian
