// SPDX-License-Identifier: MIT
#include "meridian/visibility/cull_shape.h"

#include <algorithm>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

Status bad(const char* message) { return {StatusCode::bad_value, message}; }

bool is_distance(float v) { return is_finite(v) && v >= 0; }
/// Also infinity: no limit.
bool is_limit(float v) { return v >= 0; }

/// One after the other without a branch: a scan checks some forty numbers of each shape.
bool is_usable(const Plane& plane) {
  const uint32_t is_finite_all =
      uint32_t{is_finite(plane.normal.x)} & is_finite(plane.normal.y) & is_finite(plane.normal.z) & is_finite(plane.d);
  return is_finite_all != 0 && !(plane.normal == Vec3{});
}

bool is_finite_row(const Vec4& v) { return is_finite(Vec3{v.x, v.y, v.z}) && is_finite(v.w); }

Plane plane_through(const Vec3& point, const Vec3& normal) { return {normal, -dot(normal, point)}; }

/// A row that gives dot(axis, p - camera).
Vec4 row_of(const Vec3& axis, const Vec3& camera) { return {axis.x, axis.y, axis.z, -dot(axis, camera)}; }

uint32_t rank_of(const CullShape& shape) {
  const uint32_t kind = (shape.flags & kCullClipAndStorePortals) != 0 ? 0
                        : (shape.flags & kCullTraversePortals) != 0   ? 1
                                                                      : 2;
  const uint32_t order = (shape.flags & kCullPrimary) != 0 ? 0 : (shape.flags & kCullCascadeShadows) != 0 ? 2 : 1;
  return (kind * 3 + order) << 8 | shape.phase;
}

}  // namespace

float lod_zoom(float usual_tan_half_fov, float tan_half_fov) { return usual_tan_half_fov / tan_half_fov; }

ScreenProjection screen_projection(const Vec3& camera, const Vec3& right, const Vec3& forward, const Vec3& up,
                                   const ViewLens& lens) {
  return {row_of(right * (1 / lens.tan_half_width), camera), row_of(up * (1 / lens.tan_half_height), camera),
          row_of(forward, camera)};
}

void set_frustum(CullShape& shape, const Vec3& right, const Vec3& forward, const Vec3& up, const ViewLens& lens) {
  MERIDIAN_ASSERT(lens.tan_half_width > 0 && lens.tan_half_height > 0 && lens.near_distance >= 0 &&
                      lens.far_distance > lens.near_distance,
                  "not a lens");
  const Vec3 &w = forward, &at = shape.camera;
  shape.plane_count = 6;
  shape.planes[0] = plane_through(at, right + w * lens.tan_half_width);
  shape.planes[1] = plane_through(at, w * lens.tan_half_width - right);
  shape.planes[2] = plane_through(at, up + w * lens.tan_half_height);
  shape.planes[3] = plane_through(at, w * lens.tan_half_height - up);
  shape.planes[4] = plane_through(at + w * lens.near_distance, w);
  shape.planes[5] = plane_through(at + w * lens.far_distance, w * -1.0f);
}

Status check(const LodView& lod) {
  if (!is_finite(lod.camera)) return bad("the camera of a LOD view is not finite");
  for (const float scale : lod.scales)
    if (!is_distance(scale)) return bad("a LOD scale is negative or not finite");
  if (!is_distance(lod.default_scale) || !is_distance(lod.grass_scale))
    return bad("a LOD scale is negative or not finite");
  if (!(is_finite(lod.zoom) && lod.zoom > 0)) return bad("the zoom of a LOD view is not above 0");
  if (!is_distance(lod.pre_stream)) return bad("a distance of a LOD view is negative or not finite");
  return {};
}

Status check(const CullShape& shape) {
  if (shape.phase >= kMaxCullShapes) return bad("a phase is not below 24");
  if (static_cast<unsigned>(shape.visibility) >= 16) return bad("there is no such type of picture");  // bits of a mask
  if ((shape.flags & (kCullUseFrustum | kCullUseSphere)) == 0) return bad("a shape has neither frustum nor sphere");
  if (shape.plane_count > kMaxCullPlanes) return bad("a shape has too many planes");
  if ((shape.flags & kCullUseFrustum) != 0 && shape.plane_count == 0) return bad("a frustum has no planes");
  for (uint32_t i = 0; i < shape.plane_count; ++i)
    if (!is_usable(shape.planes[i])) return bad("a plane has no direction or is not finite");
  if (!is_finite(shape.sphere_centre) || !is_distance(shape.sphere_radius) || !is_finite(shape.interior_centre) ||
      !is_distance(shape.interior_radius)) {
    return bad("a sphere has a negative radius or is not finite");
  }
  if (!is_finite(shape.camera)) return bad("the camera of a shape is not finite");
  if (!is_finite_row(shape.screen.x) || !is_finite_row(shape.screen.y) || !is_finite_row(shape.screen.w))
    return bad("the projection of a shape is not finite");
  if ((shape.flags & kCullMirror) != 0 && !is_usable(shape.mirror))
    return bad("a mirror has no direction or is not finite");
  if ((shape.flags & kCullClipAndStorePortals) != 0 && shape.quad_store >= kScreenQuadStores)
    return bad("a shape that clips and stores portals has no quad store");
  if ((shape.flags & kCullUseOcclusion) != 0 && shape.occlusion_buffer >= kScanOcclusionBuffers)
    return bad("a shape that uses occlusion has no such buffer");
  if ((shape.flags & kCullPrimary) != 0 && (shape.flags & kCullOnlyStreamEntities) != 0)
    return bad("the primary shape only streams");
  for (const LodRange& range : shape.ranges)
    if (!is_limit(range.min) || !is_limit(range.max)) return bad("a LOD range is negative or NaN");
  for (const DistanceCap& cap : shape.caps)
    if (!is_limit(cap.distance)) return bad("a distance cap is negative or NaN");
  return check(shape.lod);
}

bool comes_before(const CullShape& a, const CullShape& b) { return rank_of(a) < rank_of(b); }

}  // namespace meridian
