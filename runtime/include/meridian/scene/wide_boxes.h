// SPDX-License-Identifier: MIT
#pragma once
/// Sixteen boxes side by side, so that one pass without branches tests them all.
///
///   WideBoxes boxes;                                  // all lanes are empty
///   set_lane(boxes, 3, Aabb{{0, 0, 0}, {1, 1, 1}});
///   const Aabb around = union_of_lanes(boxes);        // the box that was set
///   clear_lane(boxes, 3);
///
/// An empty lane holds a box that is inside out beyond all places, so that no volume touches it. It is finite: products
/// with 0 stay numbers.
///
/// Threads: immutable. Memory: 384 bytes.

#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

inline constexpr uint32_t kWideLanes = 16;
/// Smallest corner of an empty lane; the largest is its negative. [m]
inline constexpr float kEmptyBox = 3e38f;

struct alignas(64) WideBoxes {
  float min_x[kWideLanes], min_y[kWideLanes], min_z[kWideLanes];
  float max_x[kWideLanes], max_y[kWideLanes], max_z[kWideLanes];

  constexpr WideBoxes() : min_x(), min_y(), min_z(), max_x(), max_y(), max_z() {
    for (uint32_t i = 0; i < kWideLanes; ++i) {
      min_x[i] = min_y[i] = min_z[i] = kEmptyBox;
      max_x[i] = max_y[i] = max_z[i] = -kEmptyBox;
    }
  }
};
static_assert(sizeof(WideBoxes) == 384);

constexpr void set_lane(WideBoxes& boxes, uint32_t lane, const Aabb& box) {
  boxes.min_x[lane] = box.min.x;
  boxes.min_y[lane] = box.min.y;
  boxes.min_z[lane] = box.min.z;
  boxes.max_x[lane] = box.max.x;
  boxes.max_y[lane] = box.max.y;
  boxes.max_z[lane] = box.max.z;
}

constexpr Aabb lane(const WideBoxes& boxes, uint32_t lane) {
  return {{boxes.min_x[lane], boxes.min_y[lane], boxes.min_z[lane]},
          {boxes.max_x[lane], boxes.max_y[lane], boxes.max_z[lane]}};
}

/// A box that nothing touches; min and max with it change nothing.
inline constexpr Aabb kNoBox{{kEmptyBox, kEmptyBox, kEmptyBox}, {-kEmptyBox, -kEmptyBox, -kEmptyBox}};

constexpr void clear_lane(WideBoxes& boxes, uint32_t lane) { set_lane(boxes, lane, kNoBox); }
constexpr bool is_empty_lane(const WideBoxes& boxes, uint32_t lane) { return boxes.min_x[lane] > boxes.max_x[lane]; }

constexpr Aabb united(const Aabb& a, const Aabb& b) { return {min(a.min, b.min), max(a.max, b.max)}; }

/// kNoBox if all lanes are empty.
constexpr Aabb union_of_lanes(const WideBoxes& boxes) {
  Aabb out = kNoBox;
  for (uint32_t i = 0; i < kWideLanes; ++i) out = united(out, lane(boxes, i));
  return out;
}

}  // namespace meridian
