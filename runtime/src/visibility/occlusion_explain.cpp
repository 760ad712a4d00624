// SPDX-License-Identifier: MIT
// Why something is hidden: occluders one at a time, by the reference's formulas.
#include <algorithm>

#include "base/float_mode.h"
#include "visibility/occlusion_kernel.h"

namespace meridian {
namespace {

using detail::OcclusionPrimitive;

/// Whether a pixel of [x0, x1] x [y0, y1] that it covers is nearer than `nearness`.
bool is_over(const OcclusionPrimitive& p, const detail::TestRectangle& r, int32_t width) {
  const int32_t begin = std::max<int32_t>(p.y_begin, r.y0), end = std::min<int32_t>(p.y_end, r.y1 + 1);
  for (int32_t y = begin; y < end; ++y) {
    const detail::RowSpan span = detail::row_span(p, y, width);
    const uint32_t top = static_cast<uint32_t>(y) & ~(kOcclusionTileHeight - 1);
    for (int32_t x = std::max(span.begin, r.x0); x < std::min(span.end, r.x1 + 1); ++x) {
      const uint32_t left = static_cast<uint32_t>(x) & ~(kOcclusionTileWidth - 1);
      detail::TilePlane planes[detail::kMaxOcclusionPlanes] = {};
      for (uint32_t i = 0; i < p.plane_count; ++i) planes[i] = detail::plane_of_tile(p.planes[i], left, top);
      const float v =
          detail::pixel_of_tile(planes, p.plane_count, static_cast<uint32_t>(x) - left, static_cast<uint32_t>(y) - top);
      if (v <= p.limit && v > r.nearness) return true;
    }
  }
  return false;
}

}  // namespace

uint32_t occluders_over(const OccluderSet& set, const OcclusionBuffer& buffer, const Aabb& box,
                        std::span<OccluderId> out) {
  MERIDIAN_ASSERT(buffer.is_ready(), "a picture is there before it is explained");
  if (!buffer.is_ready()) return 0;
  const FloatMode mode;
  const detail::OcclusionCamera& camera = *buffer.camera_;
  detail::TestRectangle rectangle;
  if (!buffer.rectangle_of(box, rectangle)) return 0;
  uint32_t count = 0;
  for (const Occluder& occluder : set.all()) {
    double distance = 0;
    if (occluder.water_only && !camera.with_water_only) continue;
    if (!detail::is_in_view(camera, occluder, distance) || detail::is_around(camera, occluder)) continue;
    const bool is_box = occluder.id.kind == OccluderKind::box;
    const uint32_t parts = is_box ? 1 : occluder.triangle_count;
    bool is_found = false;
    for (uint32_t i = 0; i < parts && !is_found; ++i) {
      OcclusionPrimitive p;
      const bool is_seen =
          is_box ? detail::set_up_box(camera, occluder.box, p) : detail::set_up_triangle(camera, occluder, i, p);
      is_found = is_seen && is_over(p, rectangle, static_cast<int32_t>(buffer.width()));
    }
    if (!is_found) continue;
    if (count < out.size()) out[count] = occluder.id;
    ++count;
  }
  return count;
}

}  // namespace meridian
