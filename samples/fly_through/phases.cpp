// SPDX-License-Identifier: MIT
#include "phases.h"

#include <cmath>

using namespace meridian;  // NOLINT(google-build-using-namespace): a program of one purpose

namespace {

constexpr uint32_t kAllAround = kCullRenderExterior | kCullRenderInterior;

/// What one sees in a mirror is the real world in the mirrored volume.
void reflect(CullShape& shape, const Plane& mirror) {
  for (uint32_t i = 0; i < shape.plane_count; ++i) {
    Plane& plane = shape.planes[i];
    const float by = 2 * dot(plane.normal, mirror.normal);
    plane = {plane.normal - mirror.normal * by, plane.d - by * mirror.d};
  }
}

CullShape picture_of(const Camera& camera) {
  CullShape out;
  out.flags =
      kAllAround | kCullPrimary | kCullUseFrustum | kCullTraversePortals | kCullClipAndStorePortals | kCullUseOcclusion;
  out.occlusion_buffer = 0;
  out.quad_store = 0;
  out.camera = camera.at;
  out.screen = screen_projection(camera.at, camera.right, camera.forward, camera.up, camera.lens);
  set_frustum(out, camera.right, camera.forward, camera.up, camera.lens);
  return out;
}

/// A box along the light of an afternoon sun, around what is before the camera.
CullShape cascades_of(const Camera& camera) {
  CullShape out;
  out.flags = kAllAround | kCullCascadeShadows | kCullUseFrustum | kCullTraversePortals;
  out.visibility = VisibilityType::cascade_shadows;
  out.camera = camera.at;
  const Vec3 along = normalize({0.4f, 0.3f, -0.8f});
  const Vec3 side = normalize(cross(along, {0, 0, 1})), top = cross(side, along);
  const Vec3 middle = camera.at + camera.forward * (kCascadeHalf * 0.7f);
  const auto slab = [&](const Vec3& normal, float half) {
    const float at = dot(normal, middle);
    out.planes[out.plane_count++] = {normal, half - at};
    out.planes[out.plane_count++] = {normal * -1.0f, half + at};
  };
  slab(side, kCascadeHalf);
  slab(top, kCascadeHalf);
  slab(along, 2 * kCascadeHalf);
  return out;
}

CullShape reflections_of(const Camera& camera) {
  CullShape out;
  out.flags = kAllAround | kCullReflections | kCullUseSphere | kCullTraversePortals;
  out.visibility = VisibilityType::paraboloid_reflection;
  out.camera = out.sphere_centre = out.interior_centre = camera.at;
  out.sphere_radius = kReflectionReach;
  out.interior_radius = 20;
  return out;
}

CullShape water_of(const Camera& camera) {
  CullShape out;
  out.flags = kCullRenderExterior | kCullUseFrustum;
  out.visibility = VisibilityType::water_reflection;
  out.camera = camera.at;
  set_frustum(out, camera.right, camera.forward, camera.up, camera.lens);
  const Plane surface{{0, 0, 1}, -kWaterHeight};
  reflect(out, surface);
  out.planes[out.plane_count++] = surface;  // what is below it is not reflected
  out.ranges[0].max = 100;                  // ripples hide details
  return out;
}

/// A rear-view mirror, an arm's length before the camera.
CullShape mirror_of(const Camera& camera) {
  CullShape out;
  out.flags = kAllAround | kCullMirror | kCullUseFrustum;
  out.visibility = VisibilityType::mirror_reflection;
  out.camera = camera.at;
  constexpr ViewLens kGlass{.tan_half_width = 0.3f, .tan_half_height = 0.2f, .near_distance = 1, .far_distance = 300};
  set_frustum(out, camera.right, camera.forward, camera.up, kGlass);
  out.screen = screen_projection(camera.at, camera.right, camera.forward, camera.up, kGlass);
  out.mirror = {camera.forward * -1.0f, dot(camera.forward, camera.at) + kGlass.near_distance};
  reflect(out, out.mirror);
  return out;
}

CullShape streaming_of(const Camera& camera) {
  CullShape out;
  out.flags = kAllAround | kCullOnlyStreamEntities | kCullUseSphere | kCullTraversePortals;
  out.camera = camera.at;
  out.sphere_centre = out.lod.camera = camera.at + camera.velocity * kStreamingAhead;
  out.sphere_radius = kStreamingReach;
  return out;
}

}  // namespace

Camera camera_in_flight(const Vec3& at, const Vec3& velocity) {
  Camera out;
  out.at = at;
  out.velocity = velocity;
  const float level = std::sqrt(velocity.x * velocity.x + velocity.y * velocity.y);
  if (level > 0) out.forward = normalize({velocity.x / level, velocity.y / level, -0.15f});
  out.right = normalize(cross(out.forward, {0, 0, 1}));
  out.up = cross(out.right, out.forward);
  out.lens = {.tan_half_width = 0.8f, .tan_half_height = 0.45f, .near_distance = 0.1f, .far_distance = 5000};
  return out;
}

void make_phases(const Camera& camera, CullShape (&out)[kPhases]) {
  out[kGbuffer] = picture_of(camera);
  out[kCascades] = cascades_of(camera);
  out[kReflections] = reflections_of(camera);
  out[kWater] = water_of(camera);
  out[kMirror] = mirror_of(camera);
  out[kStreaming] = streaming_of(camera);
  for (uint8_t i = 0; i < kPhases; ++i) out[i].phase = i;
}

OcclusionView occlusion_of(const Camera& camera) {
  return {.position = camera.at,
          .right = camera.right,
          .forward = camera.forward,
          .up = camera.up,
          .half_width = camera.lens.tan_half_width,
          .half_height = camera.lens.tan_half_height,
          .near_distance = camera.lens.near_distance};
}

Status start_scan(Scan& scan, const Camera& camera, const OcclusionBuffer& picture, JobSystem& jobs) {
  ScanFrame frame;
  frame.lod.camera = camera.at;
  frame.occlusion[0] = &picture;
  if (const Status s = scan.begin_frame(frame); !s.ok()) return s;
  CullShape shapes[kPhases];
  make_phases(camera, shapes);
  for (const CullShape& shape : shapes)
    if (const Status s = scan.add(shape); !s.ok()) return s;
  return scan.start(jobs);
}

PhaseCounts read_scan(Scan& scan) {
  PhaseCounts out;
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  while (scan.next_block(cursor, block)) {
    for (const PvsEntry& entry : block) {
      for (uint32_t phase = 0; phase < kStreaming; ++phase) out.seen[phase] += entry.is_visible(phase) ? 1 : 0;
      out.seen[kStreaming] += entry.stream_phases >> kStreaming & 1;
      if ((entry.flags & kPvsOccluded) != 0) ++out.occluded;
    }
  }
  return out;
}
