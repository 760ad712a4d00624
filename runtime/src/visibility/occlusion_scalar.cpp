// SPDX-License-Identifier: MIT
// The reference: one pixel, one square and one box at a time.
#include <algorithm>

#include "visibility/occlusion_kernel.h"

namespace meridian::detail {
namespace {

void draw_primitive(const OcclusionTarget& target, const OcclusionPrimitive& p, uint32_t first, uint32_t last) {
  const auto width = static_cast<int32_t>(target.width);
  const int32_t begin = std::max<int32_t>(p.y_begin, static_cast<int32_t>(first));
  const int32_t end = std::min<int32_t>(p.y_end, static_cast<int32_t>(last));
  for (int32_t y = begin; y < end; ++y) {
    const RowSpan span = row_span(p, y, width);
    const uint32_t tile_y = static_cast<uint32_t>(y) & ~(kOcclusionTileHeight - 1);
    float* const row = target.levels[0] + size_t{target.width} * static_cast<uint32_t>(y);
    TilePlane planes[kMaxOcclusionPlanes] = {};
    uint32_t tile_x = UINT32_MAX;
    for (int32_t x = span.begin; x < span.end; ++x) {
      const auto at = static_cast<uint32_t>(x);
      if (tile_x != (at & ~(kOcclusionTileWidth - 1))) {
        tile_x = at & ~(kOcclusionTileWidth - 1);
        for (uint32_t i = 0; i < p.plane_count; ++i) planes[i] = plane_of_tile(p.planes[i], tile_x, tile_y);
      }
      const float nearness = pixel_of_tile(planes, p.plane_count, at - tile_x, static_cast<uint32_t>(y) - tile_y);
      if (nearness <= p.limit && nearness > row[x]) row[x] = nearness;
    }
  }
}

void draw(const OcclusionTarget& target, uint32_t first, uint32_t last) {
  std::fill(target.levels[0] + size_t{first} * target.width, target.levels[0] + size_t{last} * target.width,
            OcclusionBuffer::kNothing);
  for (uint32_t i = 0; i < target.picked_count; ++i) {
    const OcclusionPicked& picked = target.picked[i];
    for (uint32_t j = 0; j < picked.count; ++j) {
      draw_primitive(target, target.primitives[picked.first + j], first, last);
    }
  }
  for (uint32_t level = 1; level <= kStripLevels; ++level) {
    const uint32_t from_width = target.width >> (level - 1), width = target.width >> level;
    for (uint32_t y = first >> level; y < last >> level; ++y) {
      const float* const above = target.levels[level - 1] + size_t{2} * y * from_width;
      const float* const below = above + from_width;
      float* const out = target.levels[level] + size_t{y} * width;
      for (uint32_t x = 0; x < width; ++x) {
        out[x] = std::min(std::min(above[2 * x], above[2 * x + 1]), std::min(below[2 * x], below[2 * x + 1]));
      }
    }
  }
}

// --- tests ---------------------------------------------------------------------------------------------
// The order of operations is that of the wide one.

struct Point {
  float x, y, w;
};

}  // namespace

bool test_rectangle(const OcclusionTester& t, const float (&centre)[3], const float (&half)[3], TestRectangle& out) {
  float d[3], size = 0;
  for (int i = 0; i < 3; ++i) d[i] = centre[i] - t.position[i];
  for (int i = 0; i < 3; ++i) size = size + (size_of(d[i]) + half[i]);
  if (!(size < kTestRange)) return false;
  const auto along = [&](const float(&row)[3]) { return (row[0] * d[0] + row[1] * d[1]) + row[2] * d[2]; };
  const Point c{along(t.to_x) + t.add_x, along(t.to_y) + t.add_y, along(t.to_w)};
  Point reach[3];
  for (int i = 0; i < 3; ++i) reach[i] = {t.to_x[i] * half[i], t.to_y[i] * half[i], t.to_w[i] * half[i]};
  const float error = size * kTestError;
  const float begin = ((c.w - size_of(reach[0].w)) - size_of(reach[1].w)) - size_of(reach[2].w) - error;
  if (!(begin >= t.near_distance)) return false;
  float x_min, x_max, y_min, y_max, off, nearness;
  if (t.is_orthographic) {
    const float x = size_of(reach[0].x) + size_of(reach[1].x) + size_of(reach[2].x);
    const float y = size_of(reach[0].y) + size_of(reach[1].y) + size_of(reach[2].y);
    x_min = c.x - x;
    x_max = c.x + x;
    y_min = c.y - y;
    y_max = c.y + y;
    off = error + kTestError;
    nearness = 0.0f - begin;
  } else {
    x_min = y_min = 1e30f;
    x_max = y_max = -1e30f;
    for (uint32_t corner = 0; corner < 8; ++corner) {
      Point p = c;
      for (uint32_t i = 0; i < 3; ++i) {
        const bool is_end = (corner >> i & 1) != 0;
        p.x = is_end ? p.x + reach[i].x : p.x - reach[i].x;
        p.y = is_end ? p.y + reach[i].y : p.y - reach[i].y;
        p.w = is_end ? p.w + reach[i].w : p.w - reach[i].w;
      }
      const float scale = 1.0f / p.w, x = p.x * scale, y = p.y * scale;
      x_min = x_min < x ? x_min : x;
      x_max = x_max > x ? x_max : x;
      y_min = y_min < y ? y_min : y;
      y_max = y_max > y ? y_max : y;
    }
    const float inverse = 1.0f / begin;
    off = error * inverse;
    nearness = inverse + inverse * 0x1p-22f;
  }
  x_min = x_min - off * (t.largest + size_of(x_min));
  x_max = x_max + off * (t.largest + size_of(x_max));
  y_min = y_min - off * (t.largest + size_of(y_min));
  y_max = y_max + off * (t.largest + size_of(y_max));
  const bool is_in = x_max >= 0.0f && y_max >= 0.0f && x_min < t.width && y_min < t.height;
  if (!is_in) return false;
  const auto pixel = [](float v, float size_in_pixels) {
    return static_cast<int32_t>(std::min(std::max(v, 0.0f), size_in_pixels - 1.0f));
  };
  out = {pixel(x_min, t.width), pixel(x_max, t.width), pixel(y_min, t.height), pixel(y_max, t.height), nearness};
  return true;
}

namespace {

bool test_one(const OcclusionTester& t, const float (&centre)[3], const float (&half)[3]) {
  TestRectangle r;
  if (!test_rectangle(t, centre, half, r)) return false;
  const auto x0 = static_cast<uint32_t>(r.x0), x1 = static_cast<uint32_t>(r.x1);
  const auto y0 = static_cast<uint32_t>(r.y0), y1 = static_cast<uint32_t>(r.y1);
  const uint32_t level = level_of(x0, y0, x1, y1);
  const uint32_t stride = level_size(static_cast<uint32_t>(t.width), level);
  for (uint32_t y = y0 >> level; y <= y1 >> level; ++y) {
    for (uint32_t x = x0 >> level; x <= x1 >> level; ++x) {
      if (!(r.nearness < t.levels[level][size_t{y} * stride + x])) return false;
    }
  }
  return true;
}

uint32_t test(const OcclusionTester& tester, const OcclusionBoxes& boxes, uint32_t mask) {
  uint32_t hidden = 0;
  for (uint32_t i = 0; i < 16; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const bool is_hidden = test_one(tester, {boxes.centre_x[i], boxes.centre_y[i], boxes.centre_z[i]},
                                    {boxes.half_x[i], boxes.half_y[i], boxes.half_z[i]});
    hidden |= static_cast<uint32_t>(is_hidden) << i;
  }
  return hidden;
}

constexpr OcclusionKernels kKernels{&draw, &test};

}  // namespace

const OcclusionKernels& scalar_occlusion_kernels() { return kKernels; }

void occlusion_tops(float* const* levels, uint32_t level_count, uint32_t width, uint32_t height) {
  for (uint32_t level = kStripLevels + 1; level < level_count; ++level) {
    const uint32_t from_width = level_size(width, level - 1), from_height = level_size(height, level - 1);
    const uint32_t to_width = level_size(width, level), to_height = level_size(height, level);
    for (uint32_t y = 0; y < to_height; ++y) {
      const float* const above = levels[level - 1] + size_t{2} * y * from_width;
      const float* const below = 2 * y + 1 < from_height ? above + from_width : above;
      for (uint32_t x = 0; x < to_width; ++x) {
        const uint32_t left = 2 * x, right = std::min(left + 1, from_width - 1);
        levels[level][size_t{y} * to_width + x] =
            std::min(std::min(above[left], above[right]), std::min(below[left], below[right]));
      }
    }
  }
}

}  // namespace meridian::detail
