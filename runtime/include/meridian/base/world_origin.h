// SPDX-License-Identifier: MIT
#pragma once
/// Where positions count from. Floats are fine near 0 and coarse far from it (8 mm at 65 km), so a world may move its
/// origin to where the camera is; what was moved so far is kept in double precision.
///
///   WorldOrigin origin{.x = -16384};
///   const Vec3 here = moved(Vec3{16390, 0, 0}, origin);    // (6, 0, 0)
///
/// Threads: immutable.

#include "meridian/base/math.h"

namespace meridian {

/// What is added to positions of map data.
struct WorldOrigin {
  double x = 0, y = 0, z = 0;  ///< [m]
  friend constexpr bool operator==(const WorldOrigin&, const WorldOrigin&) = default;
};

/// Computed in double precision, rounded once.
constexpr Vec3 moved(const Vec3& at, const WorldOrigin& origin) {
  return {static_cast<float>(at.x + origin.x), static_cast<float>(at.y + origin.y),
          static_cast<float>(at.z + origin.z)};
}
constexpr Aabb moved(const Aabb& box, const WorldOrigin& origin) {
  return {moved(box.min, origin), moved(box.max, origin)};
}

}  // namespace meridian
