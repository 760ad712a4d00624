// SPDX-License-Identifier: MIT
#pragma once
/// Which boxes of a tree a shape touches: the shape, prepared once, and the loops over nodes, which exist once for each
/// width and shape.
///
///   const BoxQuery near = sphere_query(camera, 30.0);
///   box_kernels().mark[static_cast<size_t>(near.shape)](tree, near, words);   // a bit for each place that it touches
///
/// touches() is the decision, in double precision for spheres and segments. Loops decide in floats where the error
/// cannot matter, and ask touches() where it could: `sure_in` and `sure_out` are as far apart as floats may err. So all
/// widths find the same, whatever is rounded.
///
/// Whole nodes are thrown away by the same decision. That is sound because it is monotone: a shape that touches a box
/// touches each box around it, also after rounding, which never reverses an order.
///
/// Threads: immutable.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "meridian/base/simd.h"
#include "meridian/stream/box_tree.h"

namespace meridian {

inline constexpr float kMostFloat = std::numeric_limits<float>::max();

struct BoxQuery {
  BoxShape shape = BoxShape::box;
  /// What a box must reach into on each axis: a box itself; the extent of a segment, grown by its radius. Both are
  /// compared with floats only, so that rounding them to floats, inwards, changes nothing.
  float min[3] = {}, max[3] = {};

  // Of spheres, in double precision and as floats.
  double centre[3] = {}, radius_squared = 0;
  float at[3] = {};

  // Of segments: slabs. The part of the segment, [0, 1], in which it is beyond the near and before the far plane of an
  // axis; the box is touched where all three have something in common. A segment that is grown meets planes as one that
  // begins a radius before or behind meets those of the box itself.
  double start_low[3] = {}, start_high[3] = {}, inverse[3] = {};
  bool is_extent_needed = false;  ///< some axis is flat, or floats decide nothing
  bool is_flat[3] = {};           ///< no difference along the axis: only the extent counts
  bool is_down[3] = {};           ///< the near plane is that of the box's max
  float from[3] = {}, to[3] = {}, scale[3] = {}, grown[3] = {};  ///< scale: `inverse`; grown: radius times its size

  float sure_in = 0;   ///< not above it: touched for sure
  float sure_out = 0;  ///< above it: not touched for sure
};

/// Requires, for all: finite; box.min <= box.max; radius >= 0.
BoxQuery box_query(const Aabb& box);
BoxQuery sphere_query(const Vec3& centre, double radius);
/// Touches what the segment touches when boxes are grown by `radius` on all sides.
BoxQuery segment_query(const Vec3& a, const Vec3& b, double radius);

/// Whether the query touches the box. `min_x` is the first of six numbers that are `stride` apart.
bool touches(const BoxQuery& query, const float* min_x, size_t stride);
inline bool touches(const BoxQuery& query, const Aabb& box) {
  const float lanes[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
  return touches(query, lanes, 1);
}
/// Of the lanes of a node in `mask`, those that the query touches.
uint32_t touched_lanes(const BoxQuery& query, const float* node, uint32_t mask);

/// Fills `out` as query_box does.
using ListKernel = uint32_t (*)(const BoxTree& tree, const BoxQuery& query, std::span<uint32_t> out);
/// Sets the bits of places that are touched: bit p % 64 of words[p / 64]. Unused lanes may be among them.
using MarkKernel = void (*)(const BoxTree& tree, const BoxQuery& query, uint64_t* words);
/// The same for `count` nodes that all hold items.
using FlatKernel = void (*)(const float* nodes, uint32_t count, const BoxQuery& query, uint64_t* words);

/// By BoxShape.
struct BoxKernels {
  ListKernel list[kBoxShapes];
  MarkKernel mark[kBoxShapes];
  FlatKernel mark_flat[kBoxShapes];
};

const BoxKernels& scalar_box_kernels();
/// Requires: has_simd_width(width), and not scalar.
const BoxKernels& wide_box_kernels(SimdWidth width);

inline const BoxKernels& box_kernels() {
  const SimdWidth width = simd_width();
  return width == SimdWidth::scalar ? scalar_box_kernels() : wide_box_kernels(width);
}

/// Words that hold a bit for each place of `nodes` nodes.
constexpr uint32_t mark_words(uint32_t nodes) { return (nodes * kBoxTreeWidth + 63) / 64; }

}  // namespace meridian
