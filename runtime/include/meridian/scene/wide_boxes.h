// SPDX-License-Identifier: MIT
#pragma once
/// Sixteen boxes side by side, so that one pass without branches tests them all.
///
///   WideBoxes boxes;                                  // all lanes are empty
///   boxes.set_lane(3, room);
///   uint32_t hits = 0;                                // a bit for each lane that touches the room
///   for (uint32_t i = 0; i < kWideLanes; ++i) {
///     const bool x = boxes.min_x[i] <= room.max.x && boxes.max_x[i] >= room.min.x;
///     const bool y = boxes.min_y[i] <= room.max.y && boxes.max_y[i] >= room.min.y;
///     const bool z = boxes.min_z[i] <= room.max.z && boxes.max_z[i] >= room.min.z;
///     hits |= static_cast<uint32_t>(x && y && z) << i;
///   }
///
/// An empty lane is inside out: min is kEmptyLaneMin, max the opposite. It touches nothing that ends within that, and
/// since it is finite, no plane test makes a NaN of it (infinity times 0). Who asks with something larger must know
/// from elsewhere which lanes are in use. Boxes themselves may be of any finite size.
///
/// Threads: immutable.
/// Memory:  384 bytes, six cache lines.

#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

inline constexpr uint32_t kWideLanes = 16;
inline constexpr float kEmptyLaneMin = 3e38f;  ///< of an empty lane; its max is -kEmptyLaneMin [m]

struct alignas(64) WideBoxes {
  float min_x[kWideLanes], min_y[kWideLanes], min_z[kWideLanes];
  float max_x[kWideLanes], max_y[kWideLanes], max_z[kWideLanes];

  constexpr WideBoxes() { clear(); }
  constexpr void clear() {
    for (uint32_t i = 0; i < kWideLanes; ++i) clear_lane(i);
  }
  constexpr void clear_lane(uint32_t i) {
    set_lane(i, {{kEmptyLaneMin, kEmptyLaneMin, kEmptyLaneMin}, {-kEmptyLaneMin, -kEmptyLaneMin, -kEmptyLaneMin}});
  }
  /// Requires: i < kWideLanes, here and below.
  constexpr void set_lane(uint32_t i, const Aabb& box) {
    min_x[i] = box.min.x;
    min_y[i] = box.min.y;
    min_z[i] = box.min.z;
    max_x[i] = box.max.x;
    max_y[i] = box.max.y;
    max_z[i] = box.max.z;
  }
  /// Inside out if the lane is empty.
  constexpr Aabb lane(uint32_t i) const { return {{min_x[i], min_y[i], min_z[i]}, {max_x[i], max_y[i], max_z[i]}}; }
  constexpr bool is_empty_lane(uint32_t i) const { return min_x[i] > max_x[i]; }
  /// The smallest box around all lanes; inside out if all are empty. Beside an empty lane, a box that lies beyond
  /// kEmptyLaneMin altogether makes it reach to there.
  constexpr Aabb union_of_lanes() const {
    return {{least(min_x), least(min_y), least(min_z)},
            {-least_of_negative(max_x), -least_of_negative(max_y), -least_of_negative(max_z)}};
  }

 private:
  // Halves against halves, which compilers turn into a few instructions; lane after lane, they must keep the order.
  static constexpr float least(const float (&lanes)[kWideLanes]) {
    float half[kWideLanes] = {};
    for (uint32_t i = 0; i < kWideLanes; ++i) half[i] = lanes[i];
    return least_of(half);
  }
  static constexpr float least_of_negative(const float (&lanes)[kWideLanes]) {
    float half[kWideLanes] = {};
    for (uint32_t i = 0; i < kWideLanes; ++i) half[i] = -lanes[i];
    return least_of(half);
  }
  static constexpr float least_of(float (&v)[kWideLanes]) {
    for (uint32_t n = kWideLanes / 2; n != 0; n /= 2)
      for (uint32_t i = 0; i < n; ++i) v[i] = v[i + n] < v[i] ? v[i + n] : v[i];
    return v[0];
  }
};
static_assert(sizeof(WideBoxes) == 384);

}  // namespace meridian
