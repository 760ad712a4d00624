// SPDX-License-Identifier: MIT
#pragma once
/// How entities place boxes, for checks.

#include <array>
#include <cmath>

#include "bounds.h"
#include "meridian/schemas/common_generated.h"

namespace meridian::tools {

/// Rows of the rotation matrix of a quaternion, which is normalised first. Not finite or zero: the identity.
struct Turn {
  std::array<Point, 3> rows{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};

  Turn() = default;
  explicit Turn(const schema::Quat& q, bool conjugate) {
    double x = q.x(), y = q.y(), z = q.z(), w = q.w();
    const double norm = std::sqrt(x * x + y * y + z * z + w * w);
    if (!(norm > 0) || !std::isfinite(norm)) return;
    x /= norm, y /= norm, z /= norm, w /= norm;
    if (conjugate) x = -x, y = -y, z = -z;
    rows[0] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)};
    rows[1] = {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)};
    rows[2] = {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
  }
  Point operator()(Point p) const { return {dot(rows[0], p), dot(rows[1], p), dot(rows[2], p)}; }
};

/// World box of a model box placed by an entity: the centre turned, the half extents by the absolute matrix, so that
/// any sign of scale is right.
inline Bounds placed_box(Point bb_min, Point bb_max, const schema::EntityDef& e, const Turn& turn) {
  const double sxy = e.scale_xy(), sz = e.scale_z();
  const Point a{bb_min.x * sxy, bb_min.y * sxy, bb_min.z * sz}, b{bb_max.x * sxy, bb_max.y * sxy, bb_max.z * sz};
  const Point centre = turn((a + b) * 0.5) + point_of(e.position());
  const Point half{std::abs(b.x - a.x) / 2, std::abs(b.y - a.y) / 2, std::abs(b.z - a.z) / 2};
  const auto reach = [&](const Point& row) {
    return std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
  };
  const Point extent{reach(turn.rows[0]), reach(turn.rows[1]), reach(turn.rows[2])};
  return {centre - extent, centre + extent};
}

}  // namespace meridian::tools
