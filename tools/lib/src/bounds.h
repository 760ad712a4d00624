// SPDX-License-Identifier: MIT
#pragma once
/// Points and boxes in double precision, for tools: what they compute must not fail on its own rounding. Only +, -, *,
/// / and sqrt are used, so that every machine gets the same.

#include <algorithm>
#include <cmath>
#include <limits>

namespace meridian::tools {

struct Point {
  double x = 0, y = 0, z = 0;
  double operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
};

inline Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(const Point& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(const Point& a) { return std::sqrt(dot(a, a)); }

/// Of any generated struct with x, y and z.
template <class Vector>
Point point_of(const Vector& v) {
  return {static_cast<double>(v.x()), static_cast<double>(v.y()), static_cast<double>(v.z())};
}

/// An axis-aligned box; empty until something is added.
struct Bounds {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  Point min{kNone, kNone, kNone}, max{-kNone, -kNone, -kNone};

  bool empty() const { return min.x > max.x; }
  Point centre() const { return (min + max) * 0.5; }
  void add(const Point& p) {
    min = {std::min(min.x, p.x), std::min(min.y, p.y), std::min(min.z, p.z)};
    max = {std::max(max.x, p.x), std::max(max.y, p.y), std::max(max.z, p.z)};
  }
  void add(const Bounds& b) {
    if (b.empty()) return;
    add(b.min);
    add(b.max);
  }
  Bounds grown(double by) const {
    const Point d{by, by, by};
    return {min - d, max + d};
  }
  bool meets(const Bounds& b) const {
    return min.x <= b.max.x && b.min.x <= max.x && min.y <= b.max.y && b.min.y <= max.y && min.z <= b.max.z &&
           b.min.z <= max.z;
  }
};

}  // namespace meridian::tools
