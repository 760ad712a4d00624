// SPDX-License-Identifier: MIT
#pragma once
/// Boxes and turns for checks, in double precision: a check must not fail on its own rounding.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "meridian/schemas/common_generated.h"

namespace meridian::tools {

struct Point {
  double x = 0, y = 0, z = 0;
  double operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
};

inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(Point a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point cross(Point a, Point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length(Point a) { return std::sqrt(dot(a, a)); }

template <class Vector>
Point point_of(const Vector& v) {
  return {static_cast<double>(v.x()), static_cast<double>(v.y()), static_cast<double>(v.z())};
}

struct BoxD {
  Point min{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
            std::numeric_limits<double>::infinity()};
  Point max{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
            -std::numeric_limits<double>::infinity()};

  bool is_empty() const { return min.x > max.x; }
  void add(Point p) {
    min = {std::min(min.x, p.x), std::min(min.y, p.y), std::min(min.z, p.z)};
    max = {std::max(max.x, p.x), std::max(max.y, p.y), std::max(max.z, p.z)};
  }
  void add(const BoxD& b) {
    if (b.is_empty()) return;
    add(b.min);
    add(b.max);
  }
  BoxD grown(double by) const {
    BoxD out = *this;
    out.min = min - Point{by, by, by};
    out.max = max + Point{by, by, by};
    return out;
  }
};

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
inline BoxD placed_box(Point bb_min, Point bb_max, const schema::EntityDef& e, const Turn& turn) {
  const double sxy = e.scale_xy(), sz = e.scale_z();
  const Point a{bb_min.x * sxy, bb_min.y * sxy, bb_min.z * sz}, b{bb_max.x * sxy, bb_max.y * sxy, bb_max.z * sz};
  const Point centre = turn((a + b) * 0.5) + point_of(e.position());
  const Point half{std::abs(b.x - a.x) / 2, std::abs(b.y - a.y) / 2, std::abs(b.z - a.z) / 2};
  const auto reach = [&](const Point& row) {
    return std::abs(row.x) * half.x + std::abs(row.y) * half.y + std::abs(row.z) * half.z;
  };
  const Point extent{reach(turn.rows[0]), reach(turn.rows[1]), reach(turn.rows[2])};
  BoxD out;
  out.min = centre - extent;
  out.max = centre + extent;
  return out;
}

}  // namespace meridian::tools
