// SPDX-License-Identifier: MIT
#pragma once
/// Between the occlusion buffer, what it draws, and the loops that draw and test, which exist once for each width.
///
/// The picture holds nearness: 1 / w in perspective, where w is the distance along the view, and -w in an orthographic
/// view. Both are linear in pixels for a plane, larger is nearer, and what is rounded down is rounded away from the
/// camera. Pixel (x, y) has its centre at x + 1/2, y + 1/2; y counts from the top.

#include <cmath>
#include <cstdint>

#include "base/double3.h"
#include "meridian/base/simd.h"
#include "meridian/visibility/occlusion_buffer.h"

namespace meridian::detail {

/// A view in double precision.
struct OcclusionCamera {
  Double3 position, right, forward, up;
  /// To homogeneous pixels: (x . p, y . p, w . p), p from the camera; orthographic (x . p + width / 2, ..., 1).
  Double3 to_x, to_y;
  /// The other way: the ray, or in an orthographic view the point at distance 0, of a pixel is at + x right + y down.
  Double3 ray_right, ray_down, ray_at;
  double width = 0, height = 0;     ///< [pixels]
  double largest = 0;               ///< of the components of to_x and to_y, at least 1
  double near_distance = 0;         ///< [m]
  double near_radius = 0;           ///< of the near plane's corners from the camera, in perspective [m]
  double slant_x = 0, slant_y = 0;  ///< 1 / length of the normals (1, half_width), (1, half_height)
  double half_width = 0, half_height = 0;
  bool is_orthographic = false, is_strict = false, with_water_only = false;
};

/// x = slope * y + at, in pixels.
struct OcclusionEdge {
  double slope, at;
};
/// nearness = x * right + y * down + at, in pixels.
struct OcclusionPlane {
  double right, down, at;
};

inline constexpr uint32_t kMaxOcclusionEdges = 6;
inline constexpr uint32_t kMaxOcclusionPlanes = 3;

/// A convex polygon on the screen: the pixels between its edges. They are as near as the farthest of its planes: where
/// one enters a box, one has passed all of its front sides.
struct OcclusionPrimitive {
  OcclusionEdge edges[kMaxOcclusionEdges];  ///< lefts from the front, rights from the back
  OcclusionPlane planes[kMaxOcclusionPlanes];
  float nearest;           ///< no pixel is nearer
  float limit;             ///< pixels that are nearer are not drawn
  int16_t x_begin, x_end;  ///< columns that it is inside of
  int16_t y_begin, y_end;  ///< rows
  uint8_t lefts, rights, plane_count;
  bool is_limited;
};

/// An occluder in view.
struct OcclusionPicked {
  uint32_t occluder = 0;
  uint32_t first = 0, count = 0;   ///< its primitives
  uint16_t key = 0;                ///< grows with the distance
  int16_t y_begin = 0, y_end = 0;  ///< rows of all its primitives
  bool is_around = false;          ///< it contains the camera, or nearly so
};

/// What is known of a tile's pixels while they are drawn. The picture does not depend on it: what it keeps from being
/// drawn would change nothing.
struct OcclusionTile {
  float floor;                          ///< all pixels are at least as near
  float next_floor;                     ///< those in `rows` are
  uint32_t rows[kOcclusionTileHeight];  ///< pixels drawn since the floor was raised, a bit each
};

/// What drawing writes to, and from what.
struct OcclusionTarget {
  float* const* levels = nullptr;
  OcclusionTile* tiles = nullptr;
  uint32_t width = 0, height = 0;
  const OcclusionPrimitive* primitives = nullptr;
  const OcclusionPicked* picked = nullptr;
  uint32_t picked_count = 0;
};
/// The first levels are made strip by strip. The next ones, by occlusion_tops().
inline constexpr uint32_t kStripLevels = 3;

/// Width or height of a level.
inline uint32_t level_size(uint32_t size, uint32_t level) { return (size + (1u << level) - 1) >> level; }

/// What tests of boxes need, in single precision.
struct OcclusionTester {
  const float* const* levels = nullptr;
  float position[3] = {};
  float to_x[3] = {}, to_y[3] = {}, to_w[3] = {};  ///< as OcclusionCamera, to_w is forward
  float add_x = 0, add_y = 0;                      ///< orthographic: half the size [pixels]
  float largest = 0, near_distance = 0, width = 0, height = 0;
  bool is_orthographic = false;
};
/// Part of its size by which a number of a test may be off.
inline constexpr float kTestError = 0x1p-20f;
/// Boxes farther or larger are not tested: nothing overflows below. [m]
inline constexpr float kTestRange = 1e25f;

/// What a box covers of the picture at most, the last pixels included, and how near it is at most.
struct TestRectangle {
  int32_t x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  float nearness = 0;
};
/// False: it comes nearer than the near plane, is outside the picture, or is not finite.
bool test_rectangle(const OcclusionTester& tester, const float (&centre)[3], const float (&half)[3],
                    TestRectangle& out);

/// Clears rows [first, last), draws into them, and makes their first levels. Both are multiples of the tile's height.
using OcclusionDraw = void (*)(const OcclusionTarget& target, uint32_t first, uint32_t last);
/// 16 boxes, of which those in `mask` count.
using OcclusionTest = uint32_t (*)(const OcclusionTester& tester, const OcclusionBoxes& boxes, uint32_t mask);

struct OcclusionKernels {
  OcclusionDraw draw;
  OcclusionTest test;
};
const OcclusionKernels& scalar_occlusion_kernels();
/// Requires: has_simd_width(width), and not scalar.
const OcclusionKernels& wide_occlusion_kernels(SimdWidth width);
inline const OcclusionKernels& occlusion_kernels() {
  const SimdWidth width = simd_width();
  return width == SimdWidth::scalar ? scalar_occlusion_kernels() : wide_occlusion_kernels(width);
}

/// Requires: is_sound(view).
OcclusionCamera occlusion_camera(const OcclusionView& view, uint32_t width, uint32_t height);
bool is_sound(const OcclusionView& view);
/// Whether it may touch what the view shows; `distance` is where it begins, along the view.
bool is_in_view(const OcclusionCamera& camera, const Occluder& occluder, double& distance);
/// Whether it contains the camera, or comes nearer than the near plane's corners. In perspective only.
bool is_around(const OcclusionCamera& camera, const Occluder& occluder);
/// The primitive of a box, or of a triangle of a mesh. False: it covers no pixel.
bool set_up_box(const OcclusionCamera& camera, const OccludingBox& box, OcclusionPrimitive& out);
bool set_up_triangle(const OcclusionCamera& camera, const Occluder& mesh, uint32_t triangle, OcclusionPrimitive& out);

/// A plane in single precision, for the pixels of a tile: (at + down * y) + right * x, where x and y count from the
/// tile's corner. That order holds for all widths. `at` is lowered by what rounding may add.
struct TilePlane {
  float right, down, at;
};
inline float size_of(float v) { return v < 0 ? -v : v; }
inline TilePlane plane_of_tile(const OcclusionPlane& plane, uint32_t x, uint32_t y) {
  const double at = (plane.right * (x + 0.5) + plane.down * (y + 0.5)) + plane.at;
  TilePlane out{static_cast<float>(plane.right), static_cast<float>(plane.down), static_cast<float>(at)};
  const float size = (size_of(out.at) + 8.0f * size_of(out.down)) + 32.0f * size_of(out.right);
  out.at -= size * 0x1p-21f;
  return out;
}
/// What all pixels of a tile are at least as near as: planes are lowest in a corner.
inline float floor_of_tile(const TilePlane* planes, uint32_t count) {
  float floor = 3e38f;
  for (uint32_t i = 0; i < count; ++i) {
    const TilePlane& p = planes[i];
    const float down = p.down * (kOcclusionTileHeight - 1), right = p.right * (kOcclusionTileWidth - 1);
    const float lowest = (p.at + (down < 0 ? down : 0)) + (right < 0 ? right : 0);
    const float slack = ((size_of(p.at) + size_of(down)) + size_of(right)) * 0x1p-20f;
    floor = lowest - slack < floor ? lowest - slack : floor;
  }
  return floor;
}

/// The pixels [begin, end) of a row that a primitive covers; none where begin >= end.
struct RowSpan {
  int32_t begin = 0, end = 0;
};
inline RowSpan row_span(const OcclusionPrimitive& p, int32_t row, int32_t width) {
  if (row < p.y_begin || row >= p.y_end) return {};
  const double y = row + 0.5;
  double low = 0, high = width;
  for (uint32_t i = 0; i < p.lefts; ++i) {
    const double x = p.edges[i].slope * y + p.edges[i].at;
    low = low > x ? low : x;
  }
  for (uint32_t i = kMaxOcclusionEdges - p.rights; i < kMaxOcclusionEdges; ++i) {
    const double x = p.edges[i].slope * y + p.edges[i].at;
    high = high < x ? high : x;
  }
  low = low < width ? low : width;
  high = high > 0 ? high : 0;
  // Centres between the two, as the nearest whole numbers.
  return {static_cast<int32_t>(std::ceil(low - 0.5)), static_cast<int32_t>(std::floor(high - 0.5)) + 1};
}
/// What a primitive's pixel holds; y and x count from the tile's corner.
inline float pixel_of_tile(const TilePlane* planes, uint32_t count, uint32_t x, uint32_t y) {
  float nearness = 3.4e38f;
  for (uint32_t i = 0; i < count; ++i) {
    const float row = planes[i].at + planes[i].down * static_cast<float>(y);
    const float v = row + planes[i].right * static_cast<float>(x);
    nearness = nearness < v ? nearness : v;
  }
  return nearness;
}

/// Makes the levels above kStripLevels.
void occlusion_tops(float* const* levels, uint32_t level_count, uint32_t width, uint32_t height);

/// The level where a rectangle of pixels [x0, x1] x [y0, y1] takes at most 4 x 4 squares.
inline uint32_t level_of(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
  const uint32_t wide = x1 - x0, high = y1 - y0, span = wide > high ? wide : high;
  uint32_t level = 0;
  while ((span >> level) > 2) ++level;  // at most span / 2^level + 1 borders are crossed
  if (level > 0 && (x1 >> (level - 1)) - (x0 >> (level - 1)) < 4 && (y1 >> (level - 1)) - (y0 >> (level - 1)) < 4) {
    --level;
  }
  return level;
}

}  // namespace meridian::detail
