// SPDX-License-Identifier: MIT
#pragma once
/// Vectors, rotations and boxes: plain data, and the few operations that placing entities needs. Right-handed, +Z up.
///
///   const Transform at{.position = {10, 20, 0, 1}};
///   const Vec3 corner = at.point({1, 0, 0});   // from the entity's space to the world
///
/// Values that are stored come out the same on every machine: IEEE numbers, a fixed order of operations, nothing of
/// libm but sqrt. Code that includes this is built with -ffp-contract=off. That is why no maths library stands behind
/// it: theirs may differ in the last bit from one processor to the next. Where SIMD pays, it goes through Highway.
///
/// Threads: immutable.

#include <bit>
#include <cmath>
#include <cstdint>

namespace meridian {

/// A point, direction or size on the ground plane.
struct Vec2 {
  float x = 0, y = 0;
  friend constexpr bool operator==(const Vec2&, const Vec2&) = default;
};

/// A point, direction or size.
struct Vec3 {
  float x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

/// 16 bytes, for columns and SIMD loads.
struct alignas(16) Vec4 {
  float x = 0, y = 0, z = 0, w = 0;
  friend constexpr bool operator==(const Vec4&, const Vec4&) = default;
};

/// A rotation, imaginary part first.
struct Quat {
  float x = 0, y = 0, z = 0, w = 1;
  friend constexpr bool operator==(const Quat&, const Quat&) = default;
};

/// An axis-aligned box. Valid: min <= max on each axis.
struct Aabb {
  Vec3 min, max;
  friend constexpr bool operator==(const Aabb&, const Aabb&) = default;
};

/// An axis-aligned rectangle on the ground plane. Valid: min <= max on each axis.
struct Rect {
  Vec2 min, max;
  friend constexpr bool operator==(const Rect&, const Rect&) = default;
};

constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator*(const Vec3& v, float scale) { return {v.x * scale, v.y * scale, v.z * scale}; }

constexpr float dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/// Swapped arguments give the same bits with other signs.
constexpr Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// In double precision, where the squares of no finite vector overflow.
inline double length(const Vec3& v) {
  const double x = v.x, y = v.y, z = v.z;
  return std::sqrt(x * x + y * y + z * z);
}
/// The same direction with length 1; zero for what has none (zero, infinite, NaN).
inline Vec3 normalize(const Vec3& v) {
  const double l = length(v);
  if (!(l > 0 && l < 1e300)) return {};
  return {static_cast<float>(v.x / l), static_cast<float>(v.y / l), static_cast<float>(v.z / l)};
}
/// Component by component; `a` where `b` is NaN.
constexpr Vec3 min(const Vec3& a, const Vec3& b) {
  return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z};
}
constexpr Vec3 max(const Vec3& a, const Vec3& b) {
  return {b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z};
}

/// Where an entity is: `x`, `y` and `z` are the images of its axes, scale included, `position` that of its origin.
/// What is left over in the columns holds the scale, so that the rotation can be had back: x and y in y.w, z in z.w.
struct Transform {
  Vec4 x{1, 0, 0, 0}, y{0, 1, 0, 1}, z{0, 0, 1, 1}, position{0, 0, 0, 1};

  float scale_xy() const { return y.w; }
  float scale_z() const { return z.w; }
  /// From the entity's space to the one around it.
  Vec3 point(const Vec3& p) const {
    return {x.x * p.x + y.x * p.y + z.x * p.z + position.x, x.y * p.x + y.y * p.y + z.y * p.z + position.y,
            x.z * p.x + y.z * p.y + z.z * p.z + position.z};
  }
  friend constexpr bool operator==(const Transform&, const Transform&) = default;
};
static_assert(sizeof(Transform) == 64);

/// By its bits, so that no compiler option can assume it away.
constexpr bool is_finite(float v) { return (std::bit_cast<uint32_t>(v) & 0x7F800000u) != 0x7F800000u; }
constexpr bool is_finite(const Vec2& v) { return is_finite(v.x) && is_finite(v.y); }
constexpr bool is_finite(const Vec3& v) { return is_finite(v.x) && is_finite(v.y) && is_finite(v.z); }
constexpr bool is_finite(const Quat& q) { return is_finite(q.x) && is_finite(q.y) && is_finite(q.z) && is_finite(q.w); }

/// The next float above; infinity stays. Requires: not NaN.
constexpr float next_up(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  if (bits == 0x7F800000u) return v;
  if ((bits & 0x7FFFFFFFu) == 0) return std::bit_cast<float>(uint32_t{1});
  return std::bit_cast<float>((bits & 0x80000000u) == 0 ? bits + 1 : bits - 1);
}

/// The smallest float that is not below `v`.
constexpr float round_up(double v) {
  const auto f = static_cast<float>(v);
  return static_cast<double>(f) < v ? next_up(f) : f;
}
/// The largest float that is not above `v`.
constexpr float round_down(double v) { return -round_up(-v); }

}  // namespace meridian
