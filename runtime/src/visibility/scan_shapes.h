// SPDX-License-Identifier: MIT
#pragma once
/// Shapes as jobs use them: relative to the camera of the scan's LOD view, so that numbers are small where it matters,
/// and with what rounding may do added on the safe side.
///
/// A box [lo, hi] is tested like this, in single precision, rounded after each operation:
/// - a slot: c = centre - origin, e = (|c| + half) * kSlotSlack, h = half + e, lo = c - h, hi = c + h;
/// - a box around others: lo = min - origin, hi = max - origin, e = max(|lo|, |hi|) * kBoundSlack, lo - e, hi + e;
/// - outside of a plane: (n.x * v.x + n.y * v.y) + n.z * v.z < -d, v being hi where n is >= 0, else lo;
/// - outside of a sphere: d = max(max(lo - p, p - hi), 0); (d.x * d.x + d.y * d.y) + d.z * d.z > r2.
/// The slack is at least eight times what rounding can add up to, and that of bounds is larger than that of what is
/// inside them: so nothing is lost that exact numbers would find, and whatever passes alone passes with all around it.

#include <cstdint>

#include "meridian/visibility/cull_shape.h"

namespace meridian {

inline constexpr float kSlotSlack = 0x1p-20f;
inline constexpr float kBoundSlack = 0x1p-18f;
inline constexpr uint32_t kMaxReadyPlanes = kMaxCullPlanes + 4;  ///< and those of a quad

/// The scales of a LOD view with the zoom in them, and what else distances are compared with.
struct ReadyLod {
  Vec3 camera;
  float scales[kLodLevels + 1] = {};  ///< by level; 0 at the end
  float default_scale = 1, grass_scale = 1, pre_stream = 0;
};
ReadyLod ready_lod(const LodView& view);

inline constexpr uint32_t kCornerStride = 64;  ///< room for the widest vector [bytes]

struct ReadyShape {
  uint32_t flags = 0;  ///< CullFlags
  uint32_t bit = 0;    ///< 1u << phase
  uint32_t plane_count = 0;
  Plane planes[kMaxReadyPlanes];  ///< relative to the origin, widened
  /// Of each plane, where in {lo x, y, z, hi x, y, z} of a box the corner is that is farthest inside, times
  /// kCornerStride.
  uint16_t corners[kMaxReadyPlanes][3] = {};
  Vec3 sphere;           ///< relative to the origin
  float sphere_r2 = -1;  ///< < 0: no sphere
  // exclusion
  uint32_t visibility = 0;  ///< bit of the descriptors' mask
  uint32_t types = 0, levels = 0;
  bool takes_all = true;      ///< types and levels exclude nothing
  bool has_ranges = false;    ///< ranges or caps exclude something
  bool is_streaming = false;  ///< only asks, by a LOD view of its own
  const CullShape* shape = nullptr;
  ReadyLod lod;  ///< of one that only streams

  /// Bits of all planes.
  uint32_t all_planes() const { return (1u << plane_count) - 1; }
};

/// Without a quad, outside.
ReadyShape ready_shape(const CullShape& shape, const Vec3& origin);
/// Cuts it to a part of its picture.
void restrict_to(ReadyShape& ready, const ScreenRect& quad, const Vec3& origin);
/// Inside interiors reflections have a sphere of their own.
void use_interior_sphere(ReadyShape& ready, const Vec3& origin);

}  // namespace meridian
