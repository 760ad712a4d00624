// SPDX-License-Identifier: MIT
// SRCH-1, SCAN-11: the loops themselves. All widths say the same, bit for bit; a box that holds one which passes
// passes.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "meridian/base/simd.h"
#include "search/search_kernel.h"
#include "support/search_worlds.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace meridian {
namespace {

using test::Dice;

const SearchKernels& kernels_of(SimdWidth width) {
  return width == SimdWidth::scalar ? scalar_search_kernels() : wide_search_kernels(width);
}

/// Numbers of all sizes: small whole ones that often are equal, places in a world, the ends of all floats.
float odd_number(Dice& dice) {
  switch (dice.below(8)) {
    case 0:
      return static_cast<float>(static_cast<int>(dice.below(9)) - 4);
    case 1:
      return dice.chance(0.5) ? -0.0f : 0.0f;
    case 2:
      return std::ldexp(dice.number(-1, 1), static_cast<int>(dice.below(250)) - 125);
    case 3:
      return dice.chance(0.5) ? std::numeric_limits<float>::denorm_min() : -1e-40f;
    case 4:
      return 16000 + dice.number(-2, 2);
    default:
      return dice.number(-20, 20);
  }
}
Vec3 odd_vector(Dice& dice) {
  Vec3 out;
  for (float* v : {&out.x, &out.y, &out.z}) *v = odd_number(dice);
  return out;
}

Volume odd_volume(Dice& dice, VolumeKind kind) {
  Volume out;
  out.kind = kind;
  out.a = odd_vector(dice);
  out.b = odd_vector(dice);
  if (kind == VolumeKind::box) {
    const Vec3 low = min(out.a, out.b);
    out.b = max(out.a, out.b);
    out.a = low;
  }
  out.radius = std::fabs(odd_number(dice));
  for (Vec3& axis : out.axes) axis = odd_vector(dice);
  out.plane_count = static_cast<uint8_t>(kind == VolumeKind::frustum ? dice.below(kMaxVolumePlanes + 1) : 0);
  for (Plane& plane : out.planes) {
    plane = {odd_vector(dice), odd_number(dice)};
    if (plane.normal == Vec3{}) plane.normal.x = 1;
  }
  return out;
}

Aabb around(const Aabb& a, const Aabb& b) { return {min(a.min, b.min), max(a.max, b.max)}; }

WideBoxes odd_boxes(Dice& dice) {
  WideBoxes out;
  for (uint32_t i = 0; i < kWideLanes; ++i) {
    if (dice.chance(0.05)) continue;  // an empty lane
    const Vec3 a = odd_vector(dice), b = dice.chance(0.3) ? a : odd_vector(dice);
    out.set_lane(i, {min(a, b), max(a, b)});
  }
  return out;
}

// 4 million boxes and volumes: not one lane differs.
TEST(SearchWidth, SCAN11_AllWidthsLetTheSameBoxesPass) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  uint64_t passed[6] = {}, tested = 0;
  for (int round = 0; round < 40000; ++round) {
    for (const VolumeKind kind : test::kAllKinds) {
      const Volume volume = odd_volume(dice, kind);
      ASSERT_TRUE(check(volume).ok());
      SearchVolume prepared;
      prepare(volume, prepared);
      const WideBoxes boxes = odd_boxes(dice);
      const auto k = static_cast<size_t>(kind);
      const uint32_t expected = kernels_of(SimdWidth::scalar).boxes[k](prepared, boxes.min_x);
      for (const SimdWidth width : {SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
        if (!has_simd_width(width)) continue;
        ASSERT_EQ(kernels_of(width).boxes[k](prepared, boxes.min_x), expected) << to_string(width) << " " << k;
      }
      passed[k] += static_cast<uint64_t>(std::popcount(expected));
      tested += kWideLanes;
    }
  }
  for (const uint64_t count : passed) {
    EXPECT_GT(count, tested / 6 / 100);
    EXPECT_LT(count, tested / 6 * 99 / 100);
  }
}

// What throws whole blocks away is sound: of a box that passes, every box around it passes.
TEST(SearchWidth, SRCH1_ABoxAroundOneThatPassesPasses) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  uint64_t checked = 0;
  for (int round = 0; round < 30000; ++round) {
    for (const VolumeKind kind : test::kAllKinds) {
      const Volume volume = odd_volume(dice, kind);
      SearchVolume prepared;
      prepare(volume, prepared);
      const WideBoxes inner = odd_boxes(dice);
      WideBoxes outer = inner;
      for (uint32_t i = 0; i < kWideLanes; ++i) {
        if (inner.is_empty_lane(i)) continue;
        Aabb box = inner.lane(i);
        if (dice.chance(0.5)) box = around(box, inner.lane(dice.below(kWideLanes)));
        if (dice.chance(0.5)) box.min.x = std::nextafter(box.min.x, -HUGE_VALF);
        if (dice.chance(0.5)) box.max.z = std::nextafter(box.max.z, HUGE_VALF);
        outer.set_lane(i, box);
      }
      const BoxesKernel boxes = search_kernels().boxes[static_cast<size_t>(kind)];
      const uint32_t in = boxes(prepared, inner.min_x);
      ASSERT_EQ(in & ~boxes(prepared, outer.min_x), 0u) << "kind " << static_cast<int>(kind);
      checked += static_cast<uint64_t>(std::popcount(in));
    }
  }
  EXPECT_GT(checked, 100000u);
}

// The loops never throw away what the exact test would keep.
TEST(SearchWidth, SRCH1_CandidatesHoldAllThatTouches) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  uint64_t touching = 0, passing = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::vector<test::PlacedEntity> entities = test::random_entities(dice, 16, {-16000, 16000, 0}, 40);
    for (const VolumeKind kind : {VolumeKind::oriented_box, VolumeKind::swept_sphere}) {
      const Volume volume = test::random_volume(dice, kind, entities, 40);
      SearchVolume prepared;
      prepare(volume, prepared);
      WideBoxes boxes;
      for (uint32_t i = 0; i < 16; ++i) boxes.set_lane(i, test::box_of(entities[i]));
      const uint32_t mask = search_kernels().boxes[static_cast<size_t>(kind)](prepared, boxes.min_x);
      for (uint32_t i = 0; i < 16; ++i) {
        if (!touches(prepared, boxes.lane(i))) continue;
        ++touching;
        ASSERT_NE(mask >> i & 1, 0u) << "kind " << static_cast<int>(kind);
      }
      passing += static_cast<uint64_t>(std::popcount(mask));
    }
  }
  EXPECT_GT(touching, 5000u);
  EXPECT_LT(passing, touching * 2) << "and hardly anything else";
}

// Whole searches: the same entities in the same order.
TEST(SearchWidth, SRCH1_AllWidthsGiveTheSameOrder) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  const std::vector<test::PlacedEntity> entities = test::random_entities(dice, 5000, {}, 300);
  test::ContainerKit kit;
  kit.add_map(std::span(entities).first(3000), {.generation = 1, .slot = 0});
  kit.add_map(std::span(entities).subspan(3000), {.generation = 2, .slot = 0});
  kit.finish();
  for (int i = 0; i < 200; ++i) {
    const EntityQuery query{.volume = test::random_volume(dice, test::kAllKinds[i % 6], entities, 300)};
    std::vector<EntityHandle> expected(5000), found(5000);
    SearchResult reference, result;
    ASSERT_TRUE(set_simd_width(SimdWidth::scalar));
    ASSERT_TRUE(search_now(kit, query, expected, reference).ok());
    for (const SimdWidth width : {SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
      if (!set_simd_width(width)) continue;
      ASSERT_TRUE(search_now(kit, query, found, result).ok());
      ASSERT_EQ(result.found, reference.found);
      ASSERT_TRUE(std::equal(found.begin(), found.begin() + result.found, expected.begin()));
    }
    ASSERT_TRUE(set_simd_width(best_simd_width()));
  }
}

#if defined(__x86_64__)
// A thread that flushes small numbers to zero or rounds otherwise finds the same, and keeps its mode.
TEST(SearchWidth, SCAN11_TheModeOfTheThreadDoesNotMatter) {
  test::ContainerKit kit;
  const std::vector<test::PlacedEntity> entities = {{.centre = {1e-20f, 0, 0}, .half = {}},
                                                    {.centre = {0.1f, 0.2f, 0.3f}, .half = {0.1f, 0.1f, 0.1f}}};
  kit.add_map(entities, {.generation = 1, .slot = 0});
  kit.finish();
  const Volume volumes[] = {sphere_volume({}, 0.99e-20f), sphere_volume({}, 1.01e-20f),
                            segment_volume({0, 0.3f, 0}, {0, 0.3f, 0.2f}), sphere_volume({0.7f, 0.2f, 0.3f}, 0.5f)};
  for (const Volume& volume : volumes) {
    const std::vector<EntityHandle> expected = test::search_all(kit, {.volume = volume});
    const uint32_t before = _mm_getcsr();
    for (const uint32_t mode : {0x8040u, 0x2000u, 0x4000u, 0x6000u}) {
      _mm_setcsr((before & ~0xE040u) | mode);
      EntityHandle out[2];
      SearchResult result;
      const Status done = search_now(kit, {.volume = volume}, out, result);
      const uint32_t after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_TRUE(done.ok());
      EXPECT_EQ(after & 0xE040u, mode);
      EXPECT_EQ(result.found, expected.size());
    }
  }
  EXPECT_EQ(test::search_all(kit, {.volume = volumes[0]}).size(), 0u) << "squares are small, but not 0";
  EXPECT_EQ(test::search_all(kit, {.volume = volumes[1]}).size(), 1u);
}
#endif

}  // namespace
}  // namespace meridian
