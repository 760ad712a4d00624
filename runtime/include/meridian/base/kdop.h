// SPDX-License-Identifier: MIT
#pragma once
/// A volume between nine pairs of parallel planes (an 18-DOP): a box with its twelve edges cut off at 45 degrees. It
/// hugs slanting roofs, masts and cranes far better than a box, and testing two costs nine comparisons of intervals.
///
///   const Kdop18 crane = kdop_of(crane_points);
///   Kdop18 site = crane;
///   merge(site, kdop_of(shed_points));
///   if (overlap(site, kdop_of(view_box))) ...
///
/// Bounds are rounded outwards: whatever a volume was made of is inside it without any tolerance. Volumes are closed,
/// those that only touch overlap.
///
/// Threads: immutable.
/// Memory:  none; 72 bytes each.
/// Source:  Klosowski et al., "Efficient collision detection using bounding volume hierarchies of k-DOPs", 1998.

#include <limits>
#include <span>

#include "meridian/base/math.h"

namespace meridian {

/// Directions of a Kdop18, each good for two planes. They aren't of length 1, so that each is a sum of coordinates.
inline constexpr int kKdopDirections = 9;
inline constexpr Vec3 kKdopDirection[kKdopDirections] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                                         {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};

/// Where dot(kKdopDirection[i], p) is in [min[i], max[i]] for all i. As it is made it is empty: it holds nothing,
/// overlaps nothing, and merging it changes nothing.
struct Kdop18 {
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float min[kKdopDirections] = {kInfinity, kInfinity, kInfinity, kInfinity, kInfinity,
                                kInfinity, kInfinity, kInfinity, kInfinity};
  float max[kKdopDirections] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity,
                                -kInfinity, -kInfinity, -kInfinity, -kInfinity};

  bool is_empty() const { return !(min[0] <= max[0]); }
  friend constexpr bool operator==(const Kdop18&, const Kdop18&) = default;
};

/// The smallest volume of its kind around `points`, rounded outwards; empty for none. Requires: finite.
Kdop18 kdop_of(std::span<const Vec3> points);
/// The volume around a box: the box itself, since its edges stay. Requires: finite.
Kdop18 kdop_of(const Aabb& box);

/// Grows `into` until it also holds `other`. What both held together is held, and perhaps more between them.
void merge(Kdop18& into, const Kdop18& other);
/// Grows `into` until it also holds `point`. Requires: finite.
void merge(Kdop18& into, const Vec3& point);

/// False only if some direction tells the two apart. True is no proof that they meet: there are other directions.
bool overlap(const Kdop18& a, const Kdop18& b);
/// Whether `point` is inside or on the border, without an error of rounding. False where it isn't finite.
bool contains(const Kdop18& volume, const Vec3& point);
/// Whether all of `inner` is in `outer`; an empty one is in every other. May be false for an `inner` whose bounds reach
/// further than its volume does (after a merge); never true wrongly.
bool contains(const Kdop18& outer, const Kdop18& inner);

/// The box around a volume. Requires: not empty (asserted; otherwise the box is inside out).
Aabb bounds_of(const Kdop18& volume);

}  // namespace meridian
