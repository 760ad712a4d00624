// SPDX-License-Identifier: MIT
#include "meridian/scene/entity_desc.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

constexpr uint32_t bits(std::initializer_list<int> numbers) {
  uint32_t out = 0;
  for (const int n : numbers) out |= 1u << n;
  return out;
}

// DESC-6: masks are 1 << type; the numbers by the list of visibility types.
TEST(VisibilityMask, ConstantsAreMadeOfMasks) {
  EXPECT_EQ(visibility_bit(VisibilityType::gbuffer), 2);
  EXPECT_EQ(kShadowMask, bits({2, 3}));
  EXPECT_EQ(kReflectionMask, bits({4, 5, 6}));
  EXPECT_EQ(kAllPhasesMask, bits({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(kProxyMask, bits({10, 11, 12}));
}

// ENTY-5: by entity flag numbers 22 to 29, all combinations against the plain meaning of each pair.
TEST(VisibilityMask, EveryCombinationOfEntityFlags) {
  const uint32_t reach[4] = {bits({2, 3}), bits({4}), bits({5}), bits({6})};
  for (uint32_t combination = 0; combination < 256; ++combination) {
    uint32_t expected = 0;
    for (int type = 1; type <= 6; ++type) {
      bool any_only = false, in_an_only = false, in_a_no = false;
      for (int pair = 0; pair < 4; ++pair) {
        const bool no = (combination >> (2 * pair) & 1) != 0, only = (combination >> (2 * pair + 1) & 1) != 0;
        const bool reaches = (reach[pair] >> type & 1) != 0;
        in_a_no = in_a_no || (no && reaches);
        any_only = any_only || (only && !no);
        in_an_only = in_an_only || (only && !no && reaches);
      }
      if (!in_a_no && (!any_only || in_an_only)) expected |= 1u << type;
    }
    EXPECT_EQ(visibility_mask(combination << 22, 0), expected) << combination;
    EXPECT_EQ(visibility_mask(combination << 22 | 0xC03FFFFFu, 0), expected) << "other flags have no say";
    EXPECT_EQ(contradictory_phases(combination << 22) != 0, (combination & combination >> 1 & 0x55u) != 0);
  }
  // By hand: "not in shadows" and "only in shadows" together leave everything but shadows.
  EXPECT_EQ(visibility_mask(bits({22, 23}), 0), bits({1, 4, 5, 6}));
  EXPECT_EQ(contradictory_phases(bits({22, 23, 26})), bits({23}));
}

// DESC-6: what archetypes say (flags 11, 13, 20 and 21).
TEST(VisibilityMask, ArchetypeFlags) {
  EXPECT_EQ(visibility_mask(0, bits({11})), bits({2, 3, 10}));
  EXPECT_EQ(visibility_mask(0, bits({13})), bits({1, 4, 5, 6}));
  EXPECT_EQ(visibility_mask(0, bits({21})), bits({1, 2, 3, 4, 5, 6, 11}));
  EXPECT_EQ(visibility_mask(0, bits({20})), bits({1, 2, 3, 4, 5, 6, 12}));
  EXPECT_EQ(visibility_mask(bits({25}), bits({13, 20})), bits({4, 12}));
}

// DESC-2: f16, against the value of each half and the midpoints between neighbours, in doubles.
TEST(Half, EveryFiniteHalfComesBack) {
  const auto value = [](uint32_t half) {  // by the definition of the format
    const int exponent = static_cast<int>(half >> 10 & 31);
    const double fraction = half & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
  };
  for (uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7C00) == 0x7C00) continue;
    const float f = float_from_half(static_cast<uint16_t>(half));
    ASSERT_EQ(double{f}, value(half));
    ASSERT_EQ(half_from_float(f), half);
    if ((half & 0x7FFF) == 0x7BFF) continue;
    const auto middle = static_cast<float>((value(half) + value(half + 1)) / 2);  // exact in a float
    const uint32_t even = (half & 1) == 0 ? half : half + 1;
    ASSERT_EQ(half_from_float(middle), even);
    const float away = (half & 0x8000) != 0 ? -1e9f : 1e9f;
    ASSERT_EQ(half_from_float(std::nextafter(middle, away)), half + 1);
    ASSERT_EQ(half_from_float(std::nextafter(middle, 0.0f)), half);
  }
}

TEST(Half, BeyondTheRange) {
  EXPECT_EQ(half_from_float(65519.99f), 0x7BFF);
  EXPECT_EQ(half_from_float(65520.0f), 0x7BFF);
  EXPECT_EQ(half_from_float(-1e30f), 0xFBFF);
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::infinity()), 0x7BFF);
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_TRUE(std::isnan(float_from_half(half_from_float(std::numeric_limits<float>::quiet_NaN()))));
}

// DESC-2
TEST(DescDistance, RoundsUpToWholeMetres) {
  EXPECT_EQ(desc_distance(0), 0);
  EXPECT_EQ(desc_distance(0.01f), 1);
  EXPECT_EQ(desc_distance(100), 100);
  EXPECT_EQ(desc_distance(100.0001f), 101);
  EXPECT_EQ(desc_distance(65534.5f), 65535);
  EXPECT_EQ(desc_distance(65535), 65535);
  EXPECT_EQ(desc_distance(1e20f), 65535);
}

schema::EntityDef entity(uint32_t flags = 0) {
  return {77,
          static_cast<schema::EntityFlags>(flags),
          0,
          schema::Vec3(10, 20, 30),
          schema::Quat(0, 0, 0, 1),
          1,
          1,
          -1,
          150.5f,
          0,
          schema::LodLevel::SLOD1,
          0,
          schema::PriorityLevel::REQUIRED,
          255,
          255,
          0};
}

ArchetypeTraits crate() {
  ArchetypeTraits t;
  t.box = {{-1, -1, 0}, {1, 1, 4}};
  t.sphere_centre = {0, 0, 2};
  t.sphere_radius = 3;
  t.lod_distance = 80;
  t.entity_class = EntityClass::dummy_object;
  return t;
}

// DESC-2, by hand.
TEST(DescribeEntity, FillsEveryMember) {
  const ArchetypeTraits traits = crate();
  EntityDesc desc;
  EXPECT_EQ(describe_entity(entity(bits({15, 22})), false, &traits, {}, desc), DescStatus::made);
  EXPECT_EQ(desc.centre, (Vec3{10, 20, 32}));
  EXPECT_EQ(desc.half, (Vec3{1, 1, 2}));
  EXPECT_NEAR(desc.radius, 3, 1e-5);
  EXPECT_EQ(desc.pivot, (Vec3{10, 20, 30}));
  EXPECT_EQ(desc.distance, 150.5f);
  EXPECT_EQ(desc.mask, bits({1, 4, 5, 6}));
  EXPECT_EQ(desc.lod_set, kNoLodSet);
  EXPECT_EQ(desc.type, EntityClass::dummy_object);
  EXPECT_EQ(desc.level, 2);
  EXPECT_EQ(desc.alpha, 255);
  EXPECT_EQ(desc.flags, uint32_t{kDescActive | kDescMaybeInCullBox | kDescAltFade});
}

// SCAN-8: an entity that names a LOD parent has the set's pivot, and its D as LOD distance.
TEST(DescribeEntity, ChildrenTakePivotAndDistanceOfTheSet) {
  const ArchetypeTraits traits = crate();
  EntityDesc desc;
  const EntityLink link{3, false, {{1, 2, 3}, 400}};
  EXPECT_EQ(describe_entity(entity(), false, &traits, link, desc), DescStatus::made);
  EXPECT_EQ(desc.pivot, (Vec3{1, 2, 3}));
  EXPECT_EQ(desc.distance, 400);
  EXPECT_EQ(desc.lod_set, 3);
  EXPECT_EQ(desc.flags & (kDescLodChild | kDescSetParent), uint32_t{kDescLodChild});
  describe_entity(entity(), false, &traits, {5, true, {}}, desc);
  EXPECT_EQ(desc.pivot, (Vec3{10, 20, 30})) << "a root has its own";
  EXPECT_EQ(desc.flags & (kDescLodChild | kDescSetParent), uint32_t{kDescSetParent});
}

TEST(DescribeEntity, HoursApplyUnlessIgnored) {
  ArchetypeTraits traits = crate();
  traits.is_timed = true;
  EntityDesc desc;
  describe_entity(entity(), false, &traits, {}, desc);
  EXPECT_NE(desc.flags & kDescTimed, 0u);
  describe_entity(entity(bits({21})), false, &traits, {}, desc);
  EXPECT_EQ(desc.flags & kDescTimed, 0u);
}

// CORE-11: what cannot be placed is left out, and why is said.
TEST(DescribeEntity, BadDataIsNeverVisible) {
  const ArchetypeTraits traits = crate();
  const auto status = [](const schema::EntityDef& e, const ArchetypeTraits* t) {
    EntityDesc desc;
    const DescStatus out = describe_entity(e, false, t, {}, desc);
    EXPECT_EQ(desc.distance == 0 && desc.mask == 0 && desc.alpha == 0, !is_made(out));
    return out;
  };
  EXPECT_EQ(status(entity(), nullptr), DescStatus::unknown_archetype);
  schema::EntityDef e = entity();
  e.mutable_rotation() = schema::Quat(0, 0, 0, 0);
  EXPECT_EQ(status(e, &traits), DescStatus::bad_rotation);
  e = entity();
  e.mutate_scale_z(0);
  EXPECT_EQ(status(e, &traits), DescStatus::bad_scale);
  e.mutate_scale_z(-1);
  EXPECT_EQ(status(e, &traits), DescStatus::odd_scale);
  e = entity();
  e.mutate_lod_dist(1);
  EXPECT_EQ(status(e, &traits), DescStatus::bad_distance);
  ArchetypeTraits endless = traits;
  endless.box.max.x = std::numeric_limits<float>::max();
  e = entity();
  e.mutate_scale_xy(3);
  EXPECT_EQ(status(e, &endless), DescStatus::bad_bounds);
}

// DESC-2: 44 bytes a slot, arrays at multiples of 16, each member where it belongs.
TEST(DescLanes, HoldWhatWasStored) {
  constexpr uint32_t kCapacity = 48;
  std::vector<uint32_t> memory(lane_bytes(kCapacity) / 4, 0xDEADBEEF);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  EXPECT_EQ(lane_bytes(kCapacity), 44u * 48u);
  const DescLanes lanes = desc_lanes(bytes, kCapacity);
  const auto at = [&](const void* lane) { return static_cast<const std::byte*>(lane) - bytes; };
  const ptrdiff_t expected[] = {0, 4, 8, 12, 16, 20, 24, 28, 30, 32, 34, 36, 38, 40, 42, 43};
  const void* const all[] = {lanes.centre_x, lanes.centre_y, lanes.centre_z,   lanes.half_x,
                             lanes.half_y,   lanes.half_z,   lanes.entity,     lanes.pivot_x,
                             lanes.pivot_y,  lanes.pivot_z,  lanes.lod_set,    lanes.distance,
                             lanes.mask,     lanes.flags,    lanes.type_level, lanes.alpha};
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(at(all[i]), expected[i] * ptrdiff_t{kCapacity});
    EXPECT_EQ(at(all[i]) % 16, 0);
  }

  const ArchetypeTraits traits = crate();
  EntityDesc desc;
  describe_entity(entity(), false, &traits, {}, desc);
  desc.handle = 9;
  store_desc(lanes, 47, desc);
  EXPECT_EQ(lanes.centre_z[47], 32);
  EXPECT_EQ(lanes.half_z[47], 2);
  EXPECT_EQ(lanes.entity[47], 9u);
  EXPECT_EQ(lanes.pivot_z[47], 0xC000) << "-2 in f16";
  EXPECT_EQ(slot_pivot(lanes, 47), (Vec3{10, 20, 30}));
  EXPECT_EQ(lanes.lod_set[47], kNoLodSet);
  EXPECT_EQ(lanes.distance[47], 151);
  EXPECT_EQ(lanes.mask[47], kAllPhasesMask);
  EXPECT_EQ(lanes.flags[47], kDescActive | kDescMaybeInCullBox);
  EXPECT_EQ(lanes.type_level[47], 2 | 2 << 5);
  EXPECT_EQ(type_of(lanes.type_level[47]), EntityClass::dummy_object);
  EXPECT_EQ(level_of(lanes.type_level[47]), 2);
  EXPECT_EQ(lanes.alpha[47], 255);

  store_never_visible(lanes, 47, 9);
  EXPECT_EQ(lanes.entity[47], 9u);
  EXPECT_EQ(lanes.distance[47] | lanes.mask[47] | lanes.alpha[47], 0);
  EXPECT_EQ(lanes.lod_set[47], kNoLodSet);
}

}  // namespace
}  // namespace meridian
