// SPDX-License-Identifier: MIT
#pragma once
/// Vectors of doubles for what happens between floats in and floats out. A difference of floats is exact in a double
/// unless they are 2^29 times apart, a product of two floats always is.

#include <cmath>

#include "meridian/base/math.h"

namespace meridian {

inline constexpr double kNarrow = 1.0 / (1 << 20);  ///< of its length: what is thinner is a line

struct Double3 {
  double x = 0, y = 0, z = 0;
  constexpr Double3() = default;
  constexpr Double3(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
  constexpr explicit Double3(const Vec3& v) : x(v.x), y(v.y), z(v.z) {}
  constexpr explicit Double3(const Vec4& v) : x(v.x), y(v.y), z(v.z) {}  ///< without w

  /// Rounded to nearest.
  Vec3 rounded() const { return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)}; }
};

constexpr Double3 operator+(const Double3& a, const Double3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Double3 operator-(const Double3& a, const Double3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Double3 operator*(const Double3& v, double s) { return {v.x * s, v.y * s, v.z * s}; }
constexpr double dot(const Double3& a, const Double3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/// Swapped arguments give the same bits with other signs.
constexpr Double3 cross(const Double3& a, const Double3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(const Double3& v) { return std::sqrt(dot(v, v)); }

}  // namespace meridian
