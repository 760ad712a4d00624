// SPDX-License-Identifier: MIT
// SCAN-6, SCAN-7, SCAN-13, SCAN-16: each flag of a shape, and each thing that excludes, does what is said, and nothing
// without it. Flags of portals and occlusion stand with theirs.
#include <gtest/gtest.h>

#include "support/captured.h"
#include "support/scan_kit.h"

namespace meridian {
namespace {

using test::cube_at;
using test::Eye;
using test::phase_bit;
using test::primary_shape;
using test::ScanKit;
using test::sphere_shape;
using test::with_flags;

CullShape without_flags(CullShape shape, uint32_t flags) {
  shape.flags &= ~flags;
  return shape;
}
uint32_t seen_by(ScanKit& kit, EntityHandle entity, std::initializer_list<CullShape> shapes,
                 const ScanFrame& frame = {}) {
  return ScanKit::drawn(kit.run(frame, shapes), entity);
}

// Scales of levels, and distances to load ahead, hold where the primary phase sees.
TEST(ScanFlags, SCAN16_Primary) {
  ScanKit kit;
  const EntityHandle thing = kit.add_cube({0, 150, 0}, 100);
  ScanFrame frame;
  frame.lod.scales[0] = 2;
  const CullShape primary = primary_shape(3);
  EXPECT_EQ(seen_by(kit, thing, {primary}, frame), phase_bit(3));
  EXPECT_EQ(seen_by(kit, thing, {without_flags(primary, kCullPrimary)}, frame), 0u);
  frame.lod.scales[0] = 1;
  frame.lod.pre_stream = 40;
  EXPECT_EQ(ScanKit::wanted(kit.run(frame, {primary}), thing), phase_bit(3)) << "100 + 20 + 40";
  EXPECT_EQ(ScanKit::wanted(kit.run(frame, {without_flags(primary, kCullPrimary)}), thing), 0u);
  EXPECT_EQ(ScanKit::drawn(kit.run(frame, {primary}), thing), 0u) << "asked for, not drawn";
  frame.lod.default_scale = 2;
  EXPECT_EQ(seen_by(kit, thing, {without_flags(primary, kCullPrimary)}, frame), phase_bit(3));
}

// SCAN-6: one view decides for all phases, so that shadows and mirrors match the picture.
TEST(ScanFlags, SCAN6_AllPhasesTakeTheLevelsOfThePicture) {
  ScanKit kit;
  const EntityHandle thing = kit.add_cube({0, 110, 0}, 100);
  CullShape shadows = sphere_shape(1, {0, 110, 0}, 5, VisibilityType::cascade_shadows);
  shadows.camera = {0, 110, 0};
  shadows.lod.camera = {0, 110, 0};  // not looked at
  const std::vector<PvsEntry> seen = kit.run({}, {primary_shape(0), shadows});
  const PvsEntry* const at = ScanKit::find(seen, thing);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->visible_phases, 0b11u);
  EXPECT_EQ(at->alpha, 127u);
  EXPECT_EQ(at->distance, 110);
}

TEST(ScanFlags, SCAN16_CascadeShadowsComeLast) {
  ScanKit kit;
  const CullShape a = sphere_shape(1, {}, 9), b = sphere_shape(2, {}, 9);
  const auto first = [&](const CullShape& x, const CullShape& y) {
    kit.run({}, {x, y});
    return kit.scan.shape(0).phase;
  };
  EXPECT_EQ(first(a, b), 1);
  EXPECT_EQ(first(with_flags(a, kCullCascadeShadows), b), 2);
  EXPECT_EQ(first(with_flags(a, kCullCascadeShadows), with_flags(b, kCullCascadeShadows)), 1);
}

// A mirror has a plane; who is none needs none.
TEST(ScanFlags, SCAN16_MirrorNeedsItsPlane) {
  CullShape shape = primary_shape(0);
  shape.mirror.normal = {};
  EXPECT_TRUE(check(shape).ok());
  EXPECT_EQ(check(with_flags(shape, kCullMirror)).code, StatusCode::bad_value);
}

// What reaches through a portal counts as inside: reflections look there with a sphere of their own.
TEST(ScanFlags, SCAN16_ReflectionsUseTheirInteriorSphereInside) {
  ScanKit kit;
  const EntityHandle door = kit.add(cube_at({0, 30, 0}), nullptr, ContainerUse::straddling);
  const EntityHandle tree = kit.add_cube({30, 0, 0});
  CullShape shape = sphere_shape(5, {30, 0, 0}, 5, VisibilityType::paraboloid_reflection);
  shape.interior_centre = {0, 30, 0};
  shape.interior_radius = 5;
  EXPECT_EQ(seen_by(kit, door, {with_flags(shape, kCullReflections)}), phase_bit(5));
  EXPECT_EQ(seen_by(kit, tree, {with_flags(shape, kCullReflections)}), phase_bit(5)) << "outside the usual one";
  EXPECT_EQ(seen_by(kit, door, {shape}), 0u);
  EXPECT_EQ(seen_by(kit, tree, {shape}), phase_bit(5));
  shape.interior_radius = 0;
  EXPECT_EQ(seen_by(kit, door, {with_flags(shape, kCullReflections)}), 0u) << "0: the same sphere as outside";
}

// SCAN-15: seen by every shape, as if it stood in a room.
TEST(ScanFlags, SCAN15_WhatStraddlesAPortalIsSeenWhereverTheShapeLooks) {
  ScanKit kit;
  const EntityHandle door = kit.add(cube_at({0, 30, 0}), nullptr, ContainerUse::straddling);
  const CullShape inside_only = without_flags(primary_shape(2), kCullRenderExterior);
  const std::vector<PvsEntry> seen = kit.run({}, {inside_only});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].entity, door);
  EXPECT_EQ(seen[0].flags, kPvsInterior);
}

// Either of the volumes, or both; a box in one of them is in.
TEST(ScanFlags, SCAN16_UseFrustumAndUseSphere) {
  ScanKit kit;
  const EntityHandle ahead = kit.add_cube({0, 20, 0}), beside = kit.add_cube({50, 0, 0}),
                     behind = kit.add_cube({0, -50, 0});
  CullShape both = primary_shape(1);
  both.sphere_centre = {50, 0, 0};
  both.sphere_radius = 5;
  both.flags |= kCullUseSphere;
  const CullShape frustum = without_flags(both, kCullUseSphere), sphere = without_flags(both, kCullUseFrustum);
  EXPECT_EQ(seen_by(kit, ahead, {both}), phase_bit(1));
  EXPECT_EQ(seen_by(kit, beside, {both}), phase_bit(1));
  EXPECT_EQ(seen_by(kit, ahead, {frustum}), phase_bit(1));
  EXPECT_EQ(seen_by(kit, beside, {frustum}), 0u);
  EXPECT_EQ(seen_by(kit, ahead, {sphere}), 0u);
  EXPECT_EQ(seen_by(kit, beside, {sphere}), phase_bit(1));
  for (const CullShape& shape : {both, frustum, sphere}) EXPECT_EQ(seen_by(kit, behind, {shape}), 0u);
}

// The outside node and those of maps.
TEST(ScanFlags, SCAN16_RenderExterior) {
  ScanKit kit;
  StreamedNode& map = kit.add_node();
  const EntityHandle loose = kit.add_cube({0, 20, 0}), of_map = kit.add(cube_at({5, 20, 0}), &map);
  const CullShape shape = primary_shape(0);
  EXPECT_EQ(kit.run({}, {shape}).size(), 2u);
  EXPECT_EQ(seen_by(kit, loose, {shape}), 1u);
  EXPECT_EQ(seen_by(kit, of_map, {shape}), 1u);
  EXPECT_TRUE(kit.run({}, {without_flags(shape, kCullRenderExterior)}).empty());
  EXPECT_EQ(kit.scan.node_phases()[map.index()], 0u);
}

TEST(ScanFlags, SCAN16_OnlyIfPrimaryRenders) {
  ScanKit kit;
  StreamedNode &before = kit.add_node(), &behind = kit.add_node();
  const EntityHandle ahead = kit.add(cube_at({0, 50, 0}), &before), back = kit.add(cube_at({0, -50, 0}), &behind);
  const EntityHandle beside = kit.add(cube_at({200, 55, 0}, 300), &before);
  const CullShape primary = primary_shape(7);
  const CullShape shadows = sphere_shape(2, {}, 500, VisibilityType::cascade_shadows);
  const CullShape following = with_flags(shadows, kCullOnlyIfPrimaryRenders);
  std::vector<PvsEntry> seen = kit.run({}, {primary, shadows});
  EXPECT_EQ(ScanKit::drawn(seen, ahead), phase_bit(7) | phase_bit(2));
  EXPECT_EQ(ScanKit::drawn(seen, back), phase_bit(2));
  EXPECT_EQ(kit.scan.node_phases()[behind.index()], phase_bit(2));
  seen = kit.run({}, {primary, following});
  EXPECT_EQ(ScanKit::drawn(seen, ahead), phase_bit(7) | phase_bit(2));
  EXPECT_EQ(ScanKit::drawn(seen, beside), phase_bit(2)) << "a matter of nodes, not of entities";
  EXPECT_EQ(ScanKit::find(seen, back), nullptr);
  EXPECT_EQ(kit.scan.node_phases()[before.index()], phase_bit(7) | phase_bit(2));
  EXPECT_EQ(kit.scan.node_phases()[behind.index()], 0u);
  EXPECT_TRUE(kit.run({}, {following}).empty()) << "without a primary one nothing is";
}

// --- shapes that only stream ---------------------------------------------------------------------------------

// SCAN-13: by their own view, not the picture's; nothing is drawn for them.
TEST(ScanFlags, SCAN16_OnlyStreamEntities) {
  ScanKit kit;
  const EntityHandle far_off = kit.add_cube({5000, 0, 0}, 50), near_by = kit.add_cube({0, 20, 0}, 50);
  CullShape ahead = sphere_shape(4, {5000, 0, 0}, 100);
  ahead.lod.camera = {5030, 0, 0};
  EXPECT_EQ(seen_by(kit, far_off, {ahead}), 0u) << "5 km from the camera of the picture";
  const CullShape streaming = with_flags(ahead, kCullOnlyStreamEntities);
  std::vector<PvsEntry> seen = kit.run({}, {primary_shape(0), streaming});
  const PvsEntry* at = ScanKit::find(seen, far_off);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->stream_phases, phase_bit(4));
  EXPECT_EQ(at->visible_phases, 0u);
  EXPECT_EQ(at->distance, 5000) << "as the picture counts";
  at = ScanKit::find(seen, near_by);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->stream_phases, phase_bit(0));
  EXPECT_EQ(at->visible_phases, phase_bit(0));
}

// Its own range: LOD distance times its scale and zoom, and fade, and what it wants ahead.
TEST(ScanFlags, SCAN13_StreamingShapesHaveTheirOwnReach) {
  ScanKit kit;
  const EntityHandle thing = kit.add_cube({0, 0, 0}, 50);
  EntityDesc grass = cube_at({0, 0, 0}, 50);
  grass.type = EntityClass::grass_batch;
  const EntityHandle lawn = kit.add(grass);
  const auto asks = [&](float d, const LodView& lod, EntityHandle of) {
    CullShape shape = with_flags(sphere_shape(4, {}, 100), kCullOnlyStreamEntities);
    shape.lod = lod;
    shape.lod.camera = {0, d, 0};
    return ScanKit::wanted(kit.run({.lod = {.camera = {9000, 0, 0}}}, {shape}), of) == phase_bit(4);
  };
  EXPECT_TRUE(asks(70, {}, thing));
  EXPECT_FALSE(asks(70.5f, {}, thing));
  LodView lod;
  lod.pre_stream = 30;
  EXPECT_TRUE(asks(100, lod, thing));
  EXPECT_FALSE(asks(101, lod, thing));
  lod.scales[0] = 2;
  lod.zoom = 1.5f;
  EXPECT_TRUE(asks(200, lod, thing)) << "50 * 2 * 1.5 + 20 + 30";
  EXPECT_FALSE(asks(201, lod, thing));
  lod.grass_scale = 0.5f;
  EXPECT_TRUE(asks(200, lod, thing));
  EXPECT_TRUE(asks(125, lod, lawn)) << "50 * 2 * 1.5 * 0.5 + 20 + 30";
  EXPECT_FALSE(asks(126, lod, lawn));
}

// Levels that are drawn, and those that are asked for, are filtered each by their own.
TEST(ScanFlags, SCAN13_FiltersOfLevels) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 20, 0});
  desc.level = 2;
  const EntityHandle thing = kit.add(desc);
  const CullShape streaming = with_flags(sphere_shape(1, {}, 100), kCullOnlyStreamEntities);
  const auto phases = [&](uint32_t level_filter, uint32_t stream_filter) {
    ScanFrame frame;
    frame.level_filter = level_filter;
    frame.stream_filter = stream_filter;
    return ScanKit::wanted(kit.run(frame, {primary_shape(0), streaming}), thing);
  };
  EXPECT_EQ(phases(1 << 2, 1 << 2), 0b11u);
  EXPECT_EQ(phases(~(1u << 2), 1 << 2), 0b10u);
  EXPECT_EQ(phases(1 << 2, ~(1u << 2)), 0b01u);
  EXPECT_EQ(phases(~(1u << 2), ~(1u << 2)), 0u);
}

// --- what excludes -------------------------------------------------------------------------------------------

TEST(ScanFlags, SCAN7_TypesLevelsAndMasksExclude) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 20, 0});
  desc.type = EntityClass{31};
  desc.level = 6;
  desc.mask = visibility_bit(VisibilityType::water_reflection_proxy);
  const EntityHandle thing = kit.add(desc);
  CullShape shape = primary_shape(0);
  shape.visibility = VisibilityType::water_reflection_proxy;
  EXPECT_EQ(seen_by(kit, thing, {shape}), 1u);
  shape.types = 1u << 31;
  shape.levels = 1u << 6;
  EXPECT_EQ(seen_by(kit, thing, {shape}), 1u);
  shape.types = ~(1u << 31);
  EXPECT_EQ(seen_by(kit, thing, {shape}), 0u);
  shape.types = kAllTypes;
  shape.levels = ~(1u << 6);
  EXPECT_EQ(seen_by(kit, thing, {shape}), 0u);
  shape.levels = kAllLevels;
  shape.visibility = VisibilityType::gbuffer;
  EXPECT_EQ(seen_by(kit, thing, {shape}), 0u);
}

// Both ends of a range are included; a cap holds for its types only.
TEST(ScanFlags, SCAN7_RangesAndCapsExclude) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 50, 0});
  desc.type = EntityClass{17};
  desc.level = 3;
  const EntityHandle thing = kit.add(desc);
  const auto in_range = [&](float min, float max, uint32_t level = 3) {
    CullShape shape = primary_shape(0);
    shape.ranges[level] = {min, max};
    return seen_by(kit, thing, {shape}) != 0;
  };
  EXPECT_TRUE(in_range(50, 50));
  EXPECT_TRUE(in_range(0, 1, 2)) << "of another level";
  EXPECT_FALSE(in_range(50.01f, 100));
  EXPECT_FALSE(in_range(0, 49.99f));
  const auto within = [&](uint32_t types, float distance, uint32_t cap) {
    CullShape shape = primary_shape(0);
    shape.caps[cap] = {types, distance};
    return seen_by(kit, thing, {shape}) != 0;
  };
  for (const uint32_t cap : {0u, 1u, 2u}) {
    EXPECT_TRUE(within(1u << 17, 50, cap));
    EXPECT_FALSE(within(1u << 17, 49.99f, cap));
    EXPECT_TRUE(within(~(1u << 17), 0, cap));
  }
}

// Each phase decides alone: what one excludes the others see all the same.
TEST(ScanFlags, SCAN7_PhasesDoNotTouchEachOther) {
  ScanKit kit;
  const EntityHandle thing = kit.add_cube({0, 50, 0});
  CullShape shapes[24];
  uint32_t expected = 0;
  for (uint8_t i = 0; i < 24; ++i) {
    shapes[i] = sphere_shape(i, {0, 50, 0}, 10);
    switch (i % 6) {
      case 0:
        shapes[i].types = 0;
        break;
      case 1:
        shapes[i].ranges[0].max = 10;
        break;
      case 2:
        shapes[i].sphere_centre.x = 100;
        break;
      case 3:
        shapes[i].visibility = VisibilityType::shadow_proxy;
        break;
      default:
        expected |= phase_bit(i);
    }
  }
  const std::vector<PvsEntry> seen = kit.run({}, shapes);
  EXPECT_EQ(ScanKit::drawn(seen, thing), expected);
  EXPECT_EQ(ScanKit::wanted(seen, thing), expected);
}

}  // namespace
}  // namespace meridian
