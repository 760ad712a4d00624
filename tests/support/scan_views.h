// SPDX-License-Identifier: MIT
#pragma once
/// Random views of random worlds, that look where it matters: from inside of boxes, along their sides, just at the end
/// of what is seen.

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/scan_worlds.h"

namespace meridian::test {

/// A frame with all that it refers to.
struct ScanView {
  ScanFrame frame;
  std::vector<CullWindow> windows;
  std::vector<CullShape> shapes;

  ScanView() = default;
  ScanView(const ScanView&) = delete;
  ScanView& operator=(const ScanView&) = delete;
};

/// A place on a corner of an entity's box, a float beside one, in its middle, or anywhere.
inline Vec3 view_place(ScanWorld& world) {
  Dice& dice = world.dice;
  if (world.entities.empty() || dice.chance(0.3)) return world.middle() + dice.vector(world.reach());
  const EntityDesc& d = world.entities[dice.below(static_cast<uint32_t>(world.entities.size()))].desc;
  if (dice.chance(0.2)) return d.centre;
  if (dice.chance(0.1)) return d.pivot;
  Vec3 out{dice.chance(0.5) ? d.centre.x - d.half.x : d.centre.x + d.half.x,
           dice.chance(0.5) ? d.centre.y - d.half.y : d.centre.y + d.half.y,
           dice.chance(0.5) ? d.centre.z - d.half.z : d.centre.z + d.half.z};
  if (dice.chance(0.3)) out.x = std::nextafter(out.x, dice.chance(0.5) ? HUGE_VALF : -HUGE_VALF);
  return out;
}

inline LodView random_lod(ScanWorld& world) {
  Dice& dice = world.dice;
  LodView out;
  out.camera = dice.chance(0.7) ? world.middle() + dice.vector(world.reach() * 0.4f) : view_place(world);
  if (dice.chance(0.5))
    for (float& scale : out.scales) scale = dice.number(0.2f, 3);
  if (dice.chance(0.3)) out.default_scale = dice.number(0.2f, 3);
  if (dice.chance(0.3)) out.grass_scale = dice.number(0.2f, 3);
  if (dice.chance(0.2)) out.zoom = dice.number(0.5f, 10);
  if (dice.chance(0.4)) out.pre_stream = dice.number(0, 100);
  return out;
}

inline Eye random_eye(Dice& dice, const Vec3& at) {
  Eye out;
  out.at = at;
  if (dice.chance(0.3)) return out;
  do out.forward = normalize(dice.vector(1));
  while (std::fabs(out.forward.z) > 0.99f || length(out.forward) < 0.5);
  out.right = normalize(cross(out.forward, {0, 0, 1}));
  out.up = cross(out.right, out.forward);
  return out;
}

inline CullShape random_shape(ScanWorld& world, uint8_t phase, const Vec3& camera) {
  Dice& dice = world.dice;
  CullShape out;
  const uint32_t kind = dice.below(5);
  const float far = dice.chance(0.5) ? 1000.0f : dice.number(5, world.reach() * 2);
  if (kind <= 1) {
    out = primary_shape(phase, random_eye(dice, dice.chance(0.7) ? camera : view_place(world)),
                        {.tan_half_width = dice.number(0.1f, 2),
                         .tan_half_height = dice.number(0.1f, 2),
                         .near_distance = dice.chance(0.5) ? 0.0f : dice.number(0, 2),
                         .far_distance = far + 3});
  } else if (kind == 2) {  // planes through corners, as often square to an axis as not
    out = primary_shape(phase);
    out.camera = camera;
    out.plane_count = 1 + dice.below(kMaxCullPlanes);
    for (uint32_t i = 0; i < out.plane_count; ++i) {
      Vec3 n = dice.vector(dice.chance(0.8) ? 1.0f : 50.0f);
      if (dice.chance(0.5)) n = {0, dice.chance(0.5) ? 1.0f : -1.0f, 0};
      if (dice.chance(0.2)) n = {dice.chance(0.5) ? 1.0f : -1.0f, 0, 0};
      const Vec3 through = view_place(world);
      out.planes[i] = {n, -(n.x * through.x + n.y * through.y + n.z * through.z)};
    }
  } else {
    const Vec3 a = view_place(world), b = view_place(world);
    const float radius = dice.chance(0.1) ? 0 : dice.chance(0.3) ? std::fabs(a.x - b.x) : dice.number(1, world.reach());
    out = sphere_shape(phase, a, radius);
    if (dice.chance(0.3)) {  // either of two volumes
      const CullShape other = primary_shape(phase, random_eye(dice, camera));
      out.plane_count = other.plane_count;
      std::copy(std::begin(other.planes), std::end(other.planes), out.planes);
      out.flags |= kCullUseFrustum;
    }
    if (dice.chance(0.3)) {
      out.flags |= kCullReflections;
      out.interior_centre = view_place(world);
      out.interior_radius = dice.number(0, world.reach());
    }
  }
  out.flags &= ~uint32_t{kCullPrimary};
  if (dice.chance(0.1)) out.flags &= ~uint32_t{kCullRenderExterior};
  if (dice.chance(0.2)) out.flags |= kCullOnlyIfPrimaryRenders;
  if (dice.chance(0.2)) out.flags |= kCullCascadeShadows;
  out.visibility = dice.chance(0.5) ? VisibilityType::gbuffer : static_cast<VisibilityType>(1 + dice.below(6));
  if (dice.chance(0.3)) out.types = dice.below(0xFFFFFFFF);
  if (dice.chance(0.3)) out.levels = dice.below(128);
  if (dice.chance(0.2))
    for (LodRange& range : out.ranges) {
      range.min = dice.chance(0.5) ? 0 : dice.number(0, 100);
      if (dice.chance(0.5)) range.max = dice.number(0, 500);
    }
  if (dice.chance(0.2)) {
    DistanceCap& cap = out.caps[dice.below(3)];
    cap.types = dice.below(0x10000);
    cap.distance = dice.number(0, 300);
  }
  if (dice.chance(0.2)) {
    out.flags |= kCullOnlyStreamEntities;
    out.lod = random_lod(world);
  }
  return out;
}

inline void random_view(ScanWorld& world, ScanView& out) {
  Dice& dice = world.dice;
  out.frame.lod = random_lod(world);
  const Vec3 camera = out.frame.lod.camera;
  for (uint32_t i = dice.chance(0.4) ? dice.below(5) : 0; i > 0; --i) {
    const Vec3 a = view_place(world), b = view_place(world);
    out.windows.push_back({.box = {min(a, b), max(a, b)}, .min = dice.number(0, 60), .max = dice.number(60, 400)});
  }
  out.frame.windows = out.windows;
  if (dice.chance(0.2)) out.frame.level_filter = dice.below(128);
  if (dice.chance(0.2)) out.frame.stream_filter = dice.below(128);
  out.frame.ordered = dice.chance(0.3);
  const uint32_t count = 1 + dice.below(dice.chance(0.1) ? kMaxCullShapes : 6);
  const uint32_t first = dice.below(kMaxCullShapes);
  for (uint32_t i = 0; i < count; ++i) {
    const auto phase = static_cast<uint8_t>((first + i * 7) % kMaxCullShapes);  // 7 and 24 share nothing: all differ
    out.shapes.push_back(random_shape(world, phase, camera));
  }
  CullShape& primary = out.shapes[dice.below(count)];
  if (dice.chance(0.8) && (primary.flags & kCullOnlyStreamEntities) == 0) primary.flags |= kCullPrimary;
}

}  // namespace meridian::test
