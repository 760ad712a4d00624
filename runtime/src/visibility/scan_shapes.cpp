// SPDX-License-Identifier: MIT
#include "visibility/scan_shapes.h"

#include <cmath>

namespace meridian {
namespace {

/// Relative to the origin, and nearer to the outside by what rounding may do.
Plane ready_plane(double x, double y, double z, double d, const Vec3& origin) {
  const Vec3 normal{static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
  const double at = (x * origin.x + y * origin.y) + (z * origin.z + d);
  // What at itself may be wrong by, where large numbers cancel.
  const double lost =
      0x1p-48 * (std::abs(x * origin.x) + std::abs(y * origin.y) + std::abs(z * origin.z) + std::abs(d));
  return {normal, round_up(at + lost + std::abs(at) * double{kSlotSlack})};
}

void add_plane(ReadyShape& ready, const Plane& plane) {
  const Vec3& n = plane.normal;
  uint16_t* const corner = ready.corners[ready.plane_count];
  corner[0] = (n.x >= 0 ? 3 : 0) * kCornerStride;
  corner[1] = (n.y >= 0 ? 4 : 1) * kCornerStride;
  corner[2] = (n.z >= 0 ? 5 : 2) * kCornerStride;
  ready.planes[ready.plane_count++] = plane;
}

void set_sphere(ReadyShape& ready, const Vec3& centre, float radius, const Vec3& origin) {
  ready.sphere = centre - origin;
  const double far = std::abs(ready.sphere.x) + std::abs(ready.sphere.y) + std::abs(ready.sphere.z);
  const double r = radius + far * double{kSlotSlack};
  ready.sphere_r2 = round_up(r * r * (1 + double{kSlotSlack}));
}

bool excludes_by_distance(const CullShape& shape) {
  for (const LodRange& range : shape.ranges)
    if (range.min > 0 || is_finite(range.max)) return true;
  for (const DistanceCap& cap : shape.caps)
    if (cap.types != 0 && is_finite(cap.distance)) return true;
  return false;
}

}  // namespace

ReadyLod ready_lod(const LodView& view) {
  ReadyLod out;
  out.camera = view.camera;
  for (uint32_t i = 0; i < kLodLevels; ++i) out.scales[i] = view.scales[i] * view.zoom;
  out.default_scale = view.default_scale * view.zoom;
  out.grass_scale = view.grass_scale;
  out.pre_stream = view.pre_stream;
  return out;
}

ReadyShape ready_shape(const CullShape& shape, const Vec3& origin) {
  ReadyShape out;
  out.shape = &shape;
  out.flags = shape.flags;
  out.bit = 1u << shape.phase;
  if ((shape.flags & kCullUseFrustum) != 0) {
    for (uint32_t i = 0; i < shape.plane_count; ++i) {
      const Plane& plane = shape.planes[i];
      add_plane(out, ready_plane(plane.normal.x, plane.normal.y, plane.normal.z, plane.d, origin));
    }
  }
  if ((shape.flags & kCullUseSphere) != 0) set_sphere(out, shape.sphere_centre, shape.sphere_radius, origin);
  out.visibility = visibility_bit(shape.visibility);
  out.types = shape.types;
  out.levels = shape.levels & kAllLevels;
  out.takes_all = out.types == kAllTypes && out.levels == kAllLevels;
  out.has_ranges = excludes_by_distance(shape);
  out.is_streaming = (shape.flags & kCullOnlyStreamEntities) != 0;
  if (out.is_streaming) out.lod = ready_lod(shape.lod);
  return out;
}

void restrict_to(ReadyShape& ready, const ScreenRect& quad, const Vec3& origin) {
  if (quad == kFullScreen || (ready.flags & kCullUseFrustum) == 0) return;
  const CullShape& shape = *ready.shape;
  const ScreenProjection& screen = shape.screen;
  // a * x + b * w >= 0, for both axes and both ends of each.
  const auto add = [&](const Vec4& row, double sign, double at) {
    double n[4] = {sign * (row.x - at * screen.w.x), sign * (row.y - at * screen.w.y), sign * (row.z - at * screen.w.z),
                   sign * (row.w - at * screen.w.w)};
    if ((shape.flags & kCullMirror) != 0) {  // the picture is of the reflected world
      const Plane& m = shape.mirror;
      const double mx = m.normal.x, my = m.normal.y, mz = m.normal.z;
      const double by = 2 * (n[0] * mx + n[1] * my + n[2] * mz) / (mx * mx + my * my + mz * mz);
      n[0] -= by * mx;
      n[1] -= by * my;
      n[2] -= by * mz;
      n[3] -= by * m.d;
    }
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) return;
    add_plane(ready, ready_plane(n[0], n[1], n[2], n[3], origin));
  };
  add(screen.x, 1, quad.min_x);
  add(screen.x, -1, quad.max_x);
  add(screen.y, 1, quad.min_y);
  add(screen.y, -1, quad.max_y);
}

void use_interior_sphere(ReadyShape& ready, const Vec3& origin) {
  const CullShape& shape = *ready.shape;
  if ((shape.flags & kCullReflections) == 0 || (shape.flags & kCullUseSphere) == 0 || shape.interior_radius <= 0)
    return;
  set_sphere(ready, shape.interior_centre, shape.interior_radius, origin);
}

}  // namespace meridian
