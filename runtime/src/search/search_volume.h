// SPDX-License-Identifier: MIT
#pragma once
/// A volume, prepared once for a search: what the loops over boxes need as floats, and what the exact tests behind them
/// need as doubles. The formulas that loops work by stand here; search_wide.cpp and search_scalar.cpp are two
/// renderings of them.
///
/// With lo and hi, the corners of a box, for each axis:
///   sphere     d = max(max(lo - p, p - hi), 0);        in if (dx*dx + dy*dy) + dz*dz <= r*r
///   box        in if lo <= max and hi >= min on each axis
///   planes     v = hi where the normal is >= 0, else lo; in unless ((nx*vx + ny*vy) + nz*vz) + d < 0 for one of them
///   segment    in if lo <= max and hi >= min on each axis, and enter + back <= kSegmentLimit, where
///              enter = max(0, (near - from) * inverse), back = max(0, (to - far) * inverse) over the axes,
///              near, far = lo, hi where the segment runs upwards, else hi, lo
///
/// Whole blocks are thrown away by the same formulas that decide about entities. That is sound because the formulas are
/// monotone: if a box passes, so does each box around it. Rounding to nearest never reverses an order, so that of two
/// operands one of which is not larger neither is the result: a lo that is lower makes lo - p not higher, hence d, its
/// square and the sums not higher. The same with lo - from, and with products by a constant of a known sign (planes,
/// inverse). Nothing here relies on a margin for that. NaN comes only from infinite corners, and counts as in.
///
/// The other way round, blocks that lie within a volume are taken whole, by the same formulas with near and far
/// corners changed about: what a sphere's d is for the farthest corner, and the sum of a plane for the corner that is
/// farthest out, bounds what they are for all boxes in the block, by the same monotony. For a box it is min <= lo and
/// hi <= max on each axis. Blocks' boxes are rounded outwards, so they hold the corners of slots as those are rounded.
///
/// kSegmentLimit is above 1 by more than all roundings in `enter` and `back` add up to: each is (a difference, the
/// inverse of a difference, a product) within 2^-22 of the truth, and together they are at most 1 where it matters. So
/// a segment misses nothing that it touches, and may take in what it misses by less than 2^-20 of its length.

#include <cstdint>

#include "meridian/scene/query.h"

namespace meridian {

inline constexpr float kSegmentLimit = 1 + 0x1p-21f;

/// One axis of a segment or sweep.
struct SegmentAxis {
  float from = 0;     ///< where the near side is entered at t = 0
  float to = 0;       ///< where the far side is left at t = 1
  float inverse = 0;  ///< 1 / (to - from); 0 where it would not be finite: then only the extent counts
  bool is_down = false;
};

struct SearchVolume {
  const Volume* source = nullptr;
  float radius_squared = 0;  ///< of a sphere [m^2]
  /// A box; the extent of a segment or sweep, rounded outwards; what an oriented box lies in, likewise.
  Vec3 min, max;
  SegmentAxis axes[3];
  uint32_t plane_count = 0;
  Plane planes[kMaxVolumePlanes];  ///< of a frustum as given; the faces of an oriented box, moved outwards by rounding
};

/// Requires: check(volume) is ok; it outlives `out`, which is as constructed.
void prepare(const Volume& volume, SearchVolume& out);

/// Whether loops only sort out candidates, which touches() then decides about.
constexpr bool needs_exact_test(VolumeKind kind) {
  return kind == VolumeKind::oriented_box || kind == VolumeKind::swept_sphere;
}

/// The decision in double precision, on the safe side: what is missed by less than 2^-44 of the numbers that it is made
/// of counts as in. Requires: needs_exact_test(volume.source->kind); box.min <= box.max.
bool touches(const SearchVolume& volume, const Aabb& box);

}  // namespace meridian
