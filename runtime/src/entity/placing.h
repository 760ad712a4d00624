// SPDX-License-Identifier: MIT
#pragma once
/// How a definition becomes a transform, for the two that need it: place_entity(), and init_entity(), which makes
/// millions of entities a second and so has the columns made where they stay.

#include <algorithm>
#include <cmath>

#include "meridian/entity/transform.h"

namespace meridian::detail {

/// Products of 24-bit numbers are exact in doubles, so what is rounded to float at the end is right but for rare ties.
struct Rotation {
  double xx = 1, xy = 0, xz = 0;  // image of the x axis
  double yx = 0, yy = 1, yz = 0;
  double zx = 0, zy = 0, zz = 1;
};

struct Unit {
  double x, y, z, w;
};

inline Rotation matrix_of(const Unit& q) {
  return {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.z * q.w),     2 * (q.x * q.z - q.y * q.w),
          2 * (q.x * q.y - q.z * q.w),     1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.x * q.w),
          2 * (q.x * q.z + q.y * q.w),     2 * (q.y * q.z - q.x * q.w),     1 - 2 * (q.x * q.x + q.y * q.y)};
}

/// Columns of what is turned by 2 * acos(w) * sign(z) about z: the double angle of (w, sqrt(1 - w^2)). Zeros have the
/// signs that a whole matrix times the scales would give them.
inline void heading_columns(const Unit& q, float scale_xy, float scale_z, Transform& out) {
  const float none_xy = 0 * scale_xy, none_z = 0 * scale_z;
  float c = scale_xy, s = none_xy, minus_s = none_xy;
  if (q.z != 0) {
    const double sine = std::sqrt(std::max(0.0, (1 - q.w) * (1 + q.w)));
    c = static_cast<float>((2 * q.w * q.w - 1) * scale_xy);
    s = static_cast<float>((q.z > 0 ? 2 : -2) * q.w * sine * scale_xy);
    minus_s = -s;
  }
  out.x = {c, s, none_xy, 0};
  out.y = {minus_s, c, none_xy, scale_xy};
  out.z = {none_z, none_z, scale_z, scale_z};
}

inline Vec4 column(double x, double y, double z, double scale, float w) {
  return {static_cast<float>(x * scale), static_cast<float>(y * scale), static_cast<float>(z * scale), w};
}

inline bool usable_scale(float scale) { return is_finite(scale) && scale != 0; }
inline bool odd_scale(float scale) { return scale < 0 || scale >= kOddScale; }

/// As place_entity. `out` and `heading_only` are as they were if the entity is left out.
inline PlaceStatus place_into(const PlaceInput& in, Transform& out, bool& heading_only) {
  if (!is_finite(in.position)) return PlaceStatus::bad_position;
  if (!is_finite(in.rotation)) return PlaceStatus::bad_rotation;
  if (!usable_scale(in.scale_xy) || !usable_scale(in.scale_z)) return PlaceStatus::bad_scale;

  Unit q{in.rotation.x, in.rotation.y, in.rotation.z, in.rotation.w};
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (length == 0) return PlaceStatus::bad_rotation;
  const double sign = in.is_interior ? 1 : -1;
  const bool tilted = q.x != 0 || q.y != 0;
  bool keep = in.animates || (in.full_rotation && tilted);
  if (keep || tilted) {
    q = {sign * q.x / length, sign * q.y / length, sign * q.z / length, q.w / length};
    keep = keep || std::abs(q.x) > kTiltThreshold || std::abs(q.y) > kTiltThreshold;
  } else {  // upright, as most are: of the axis only the sign counts
    q = {0, 0, sign * q.z, q.w / length};
  }
  heading_only = !keep;
  const float scale_xy = in.is_fragment ? 1.0f : in.scale_xy;
  const float scale_z = in.is_fragment ? 1.0f : in.scale_z;
  if (keep) {
    const Rotation r = matrix_of(q);
    out.x = column(r.xx, r.xy, r.xz, scale_xy, 0);
    out.y = column(r.yx, r.yy, r.yz, scale_xy, scale_xy);
    out.z = column(r.zx, r.zy, r.zz, scale_z, scale_z);
  } else {
    heading_columns(q, scale_xy, scale_z, out);
  }
  out.position = {in.position.x, in.position.y, in.position.z, 1};
  return odd_scale(in.scale_xy) || odd_scale(in.scale_z) ? PlaceStatus::odd_scale : PlaceStatus::placed;
}

}  // namespace meridian::detail
