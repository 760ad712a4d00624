// SPDX-License-Identifier: MIT
// SCAN-2, SCAN-6, SCAN-7, SCAN-8, SCAN-13, P064, P073, P074, P078: what a scan sees is what a plain list of all
// entities says, looked through one by one.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <random>

#include "support/captured.h"
#include "support/scan_oracle.h"

namespace meridian {
namespace {

using test::cube_at;
using test::Eye;
using test::phase_bit;
using test::primary_shape;
using test::ScanKit;
using test::ScanTally;
using test::ScanView;
using test::ScanWorld;
using test::sphere_shape;

#ifndef MERIDIAN_SCAN_WORLDS
#define MERIDIAN_SCAN_WORLDS 120
#endif

struct Place {
  const char* name;
  Vec3 middle;
  float reach;
};
constexpr Place kPlaces[] = {{"at the origin", {}, 100},
                             {"at 16 km", {16000, -16000, 40}, 150},
                             {"wide", {-3000, 2000, 0}, 1500},
                             {"small", {0.25f, 0.125f, 1}, 12}};

TEST(ScanOracle, SCAN7_SeesWhatAPlainListSees) {
  const uint32_t seed = std::random_device()();
  ScanTally tally;
  for (uint32_t i = 0; i < MERIDIAN_SCAN_WORLDS; ++i) {
    const Place& place = kPlaces[i % std::size(kPlaces)];
    SCOPED_TRACE("seed " + std::to_string(seed + i) + ", " + place.name);
    ScanWorld world(seed + i, place.middle, place.reach);
    for (int v = 0; v < 4 && !HasFailure(); ++v) {
      SCOPED_TRACE("view " + std::to_string(v));
      ScanView view;
      random_view(world, view);
      const std::vector<PvsEntry> seen = world.kit.run(view.frame, view.shapes);
      compare(world.entities, view, world.kit.scan, seen, tally);
    }
    if (HasFailure()) return;
  }
  std::printf("%llu entities, %llu seen by a phase; of those %.4f %% beside a volume, of the alphas %.2f %% exact\n",
              static_cast<unsigned long long>(tally.entities), static_cast<unsigned long long>(tally.seen),
              100.0 * static_cast<double>(tally.false_visible) / static_cast<double>(tally.seen),
              100.0 * static_cast<double>(tally.exact_alphas) / static_cast<double>(tally.entries));
  // The test is worth nothing where nothing is seen, all is, or any answer would do.
  EXPECT_GT(tally.seen, tally.entities / 20);
  EXPECT_GT(tally.too_far, tally.entities / 20);
  EXPECT_GT(tally.exact_alphas, tally.loose_alphas * 20);
  EXPECT_GT(tally.partial_alphas, tally.entries / 50);
  EXPECT_GT(tally.in_sets, tally.entries / 20);
  EXPECT_GT(tally.drawn_nowhere, 0u);
  EXPECT_LT(tally.false_visible * 100, tally.seen);
}

// --- by hand -------------------------------------------------------------------------------------------------

// P073: 20 km on each side, the camera in the middle of it or before it, not one corner in view.
TEST(ScanOracle, P073_ABoxAroundTheViewIsSeen) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 0, 0}, 1000);
  desc.half = {10000, 10000, 10000};
  const EntityHandle around = kit.add(desc);
  desc = cube_at({0, 100, 0}, 1000);  // a wall: it crosses the view, and ends beside it
  desc.half = {5000, 0.5f, 5000};
  const EntityHandle wall = kit.add(desc);
  desc.centre.y = desc.pivot.y = -100;
  const EntityHandle behind = kit.add(desc);
  desc = cube_at({0, 30, 5000}, 6000);  // a tower of 10 km through the picture
  desc.half = {1, 1, 5000};
  const EntityHandle tower = kit.add(desc);
  const std::vector<PvsEntry> seen =
      kit.run({}, {primary_shape(4, {}, {.tan_half_width = 0.1f, .tan_half_height = 0.1f, .far_distance = 500})});
  EXPECT_EQ(ScanKit::drawn(seen, around), phase_bit(4));
  EXPECT_EQ(ScanKit::drawn(seen, wall), phase_bit(4));
  EXPECT_EQ(ScanKit::drawn(seen, tower), phase_bit(4));
  EXPECT_EQ(ScanKit::find(seen, behind), nullptr);
}

// Closed volumes: what touches a plane or sphere from outside, without any extent itself, is in.
TEST(ScanOracle, SCAN7_WhatTouchesABorderIsSeen) {
  ScanKit kit;
  const ViewLens lens{.tan_half_width = 1, .tan_half_height = 1, .near_distance = 2, .far_distance = 64};
  EntityDesc point = cube_at({32, 32, 0}, 1000);
  point.half = {};
  const EntityHandle on_the_right = kit.add(point);
  point.centre = {0, 64, 0};
  const EntityHandle far_end = kit.add(point);
  EntityDesc box = cube_at({0, 65, 0}, 1000);
  const EntityHandle touches_far_end = kit.add(box);
  box.centre = {-34, 32, 0};  // its corner (-33, 33) is on the left plane
  const EntityHandle touches_left = kit.add(box);
  box.centre = {0, 1, 0};
  const EntityHandle touches_near_end = kit.add(box);
  box.centre = {0, 70, 0};
  const EntityHandle beyond = kit.add(box);
  box.centre = {-36, 32, 0};
  const EntityHandle beside = kit.add(box);
  const std::vector<PvsEntry> seen = kit.run({}, {primary_shape(0, {}, lens)});
  for (const EntityHandle in : {on_the_right, far_end, touches_far_end, touches_left, touches_near_end})
    EXPECT_EQ(ScanKit::drawn(seen, in), 1u) << in.slot;
  EXPECT_EQ(ScanKit::find(seen, beyond), nullptr);
  EXPECT_EQ(ScanKit::find(seen, beside), nullptr);
}

TEST(ScanOracle, SCAN7_ASphereIsExact) {
  ScanKit kit;
  EntityDesc box = cube_at({4, 5, 0}, 1000);  // from its corner (3, 4, .) to the origin: 5 m
  const EntityHandle touched = kit.add(box);
  box.centre = {-4.01f, 5, 0};
  const EntityHandle beside = kit.add(box);  // 5.006 m; boxes of 6 m around the sphere would touch
  const std::vector<PvsEntry> seen = kit.run({}, {sphere_shape(0, {}, 5)});
  EXPECT_EQ(ScanKit::drawn(seen, touched), 1u);
  EXPECT_EQ(ScanKit::find(seen, beside), nullptr);
}

// P078: what is not a number never comes in, and what is there stays as it is.
TEST(ScanOracle, P078_NumbersThatAreNoneAreRefusedAtTheDoor) {
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()};
  ScanKit kit;
  const Result<SceneSlot> good =
      kit.graph.insert(*kit.graph.root(), ContainerUse::placed, {.generation = 1, .slot = 1}, cube_at({0, 10, 0}));
  ASSERT_TRUE(good.ok());
  const std::vector<PvsEntry> before = kit.run({}, {primary_shape(0), sphere_shape(1, {}, 50)});
  ASSERT_EQ(before.size(), 1u);
  for (const float bad : kBad) {
    for (int number = 0; number < 10; ++number) {
      EntityDesc desc = cube_at({0, 10, 0});
      float* const field[] = {&desc.centre.x, &desc.centre.y, &desc.centre.z, &desc.half.x,  &desc.half.y,
                              &desc.half.z,   &desc.pivot.x,  &desc.pivot.y,  &desc.pivot.z, &desc.distance};
      *field[number] = bad;
      const EntityHandle other{.generation = 1, .slot = 2};
      for (const ContainerUse use : {ContainerUse::placed, ContainerUse::dynamic, ContainerUse::straddling})
        EXPECT_EQ(kit.graph.insert(*kit.graph.root(), use, other, desc).status().code, StatusCode::bad_value);
      EXPECT_EQ(kit.graph.set_light(other, desc).code, StatusCode::bad_value);
      EXPECT_EQ(kit.graph.write(good.value(), desc).code, StatusCode::bad_value);
    }
  }
  EXPECT_EQ(kit.run({}, {primary_shape(0), sphere_shape(1, {}, 50)}), before);
}

// Hours are a matter of the descriptor: without its bit it is not there, for those that stream neither.
TEST(ScanOracle, SCAN6_HiddenAndOutOfHoursAreNotAskedForEither) {
  ScanKit kit;
  CullShape streaming = test::with_flags(sphere_shape(1, {}, 100), kCullOnlyStreamEntities);
  const Result<SceneSlot> slot =
      kit.graph.insert(*kit.graph.root(), ContainerUse::placed, {.generation = 1, .slot = 1}, cube_at({0, 10, 0}));
  ASSERT_TRUE(slot.ok());
  const auto seen = [&] {
    const std::vector<PvsEntry> all = kit.run({}, {primary_shape(0), streaming});
    return all.empty() ? 0u : uint32_t{all[0].stream_phases};
  };
  EXPECT_EQ(seen(), 0b11u);
  ASSERT_TRUE(kit.graph.set_flags(slot.value(), kDescActive, 0).ok());
  EXPECT_EQ(seen(), 0u);
  ASSERT_TRUE(kit.graph.set_flags(slot.value(), kDescActive | kDescHidden, kDescActive | kDescHidden).ok());
  EXPECT_EQ(seen(), 0u);
  ASSERT_TRUE(kit.graph.set_flags(slot.value(), kDescHidden, 0).ok());
  EXPECT_EQ(seen(), 0b11u);
}

// An entity must pass all windows that it touches; those that it does not touch, or cannot be in, have no say.
TEST(ScanOracle, SCAN6_CullWindows) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 50, 0});
  desc.flags |= kDescMaybeInCullBox;
  const EntityHandle inside = kit.add(desc);
  desc.flags &= ~uint32_t{kDescMaybeInCullBox};
  const EntityHandle never = kit.add(desc);
  const auto drawn = [&](std::vector<CullWindow> windows) {
    ScanFrame frame;
    frame.windows = windows;
    const std::vector<PvsEntry> seen = kit.run(frame, {primary_shape(0)});
    EXPECT_EQ(ScanKit::drawn(seen, never), 1u);
    return ScanKit::drawn(seen, inside) != 0;
  };
  const Aabb touching{{1, 51, 1}, {5, 60, 5}}, beside{{2, 51, 1}, {5, 60, 5}};
  EXPECT_TRUE(drawn({}));
  EXPECT_TRUE(drawn({{.box = touching, .min = 50, .max = 50}})) << "both ends are included";
  EXPECT_FALSE(drawn({{.box = touching, .min = 50.5f, .max = 90}})) << "too near";
  EXPECT_FALSE(drawn({{.box = touching, .min = 0, .max = 49.5f}})) << "too far";
  EXPECT_TRUE(drawn({{.box = beside, .min = 0, .max = 1}}));
  EXPECT_FALSE(drawn({{.box = touching, .min = 0, .max = 90}, {.box = touching, .min = 60, .max = 90}}));
  EXPECT_TRUE(drawn({{.box = touching, .min = 0, .max = 90}, {.box = beside, .min = 60, .max = 90}}));
}

}  // namespace
}  // namespace meridian
