// SPDX-License-Identifier: MIT
#pragma once
/// Vectors, rotations and boxes: plain data, and the few operations that placing entities needs. Right-handed, +Z up.
///
///   const Transform at{.position = {10, 20, 0, 1}};
///   const Vec3 corner = at.point({1, 0, 0});   // from the entity's space to the world
///
/// Values that are stored come out the same on every machine: IEEE numbers, a fixed order of operations, nothing of
/// libm but sqrt. Code that includes this is built with -ffp-contract=off.
///
/// Threads: immutable.

#include <bit>
#include <cmath>
#include <cstdint>

namespace meridian {

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
