// SPDX-License-Identifier: MIT
#include "meridian/entity/transform.h"

#include <algorithm>

namespace meridian {
namespace {

/// Products of 24-bit numbers are exact in doubles, so what is rounded to float at the end is right but for rare ties.
struct Rotation {
  double xx = 1, xy = 0, xz = 0;  // image of the x axis
  double yx = 0, yy = 1, yz = 0;
  double zx = 0, zy = 0, zz = 1;
};

struct Unit {
  double x, y, z, w;
};

Rotation matrix_of(const Unit& q) {
  return {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.z * q.w),     2 * (q.x * q.z - q.y * q.w),
          2 * (q.x * q.y - q.z * q.w),     1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.x * q.w),
          2 * (q.x * q.z + q.y * q.w),     2 * (q.y * q.z - q.x * q.w),     1 - 2 * (q.x * q.x + q.y * q.y)};
}

/// Turns by 2 * acos(w) * sign(z) about z: the double angle of (w, sqrt(1 - w^2)).
Rotation heading_of(const Unit& q) {
  if (q.z == 0) return {};
  const double sine = std::sqrt(std::max(0.0, (1 - q.w) * (1 + q.w)));
  const double c = 2 * q.w * q.w - 1;
  const double s = (q.z > 0 ? 2 : -2) * q.w * sine;
  return {c, s, 0, -s, c, 0, 0, 0, 1};
}

Vec4 column(double x, double y, double z, double scale, float w) {
  return {static_cast<float>(x * scale), static_cast<float>(y * scale), static_cast<float>(z * scale), w};
}

bool usable_scale(float scale) { return is_finite(scale) && scale != 0; }
bool odd_scale(float scale) { return scale < 0 || scale >= kOddScale; }

}  // namespace

Placed place_entity(const PlaceInput& in) {
  Placed out;
  const auto left_out = [](PlaceStatus status) { return Placed{{}, status, false}; };
  if (!is_finite(in.position)) return left_out(PlaceStatus::bad_position);
  if (!is_finite(in.rotation)) return left_out(PlaceStatus::bad_rotation);
  if (!usable_scale(in.scale_xy) || !usable_scale(in.scale_z)) return left_out(PlaceStatus::bad_scale);
  if (odd_scale(in.scale_xy) || odd_scale(in.scale_z)) out.status = PlaceStatus::odd_scale;

  Unit q{in.rotation.x, in.rotation.y, in.rotation.z, in.rotation.w};
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (length == 0) return left_out(PlaceStatus::bad_rotation);
  const double sign = in.is_interior ? 1 : -1;
  q = {sign * q.x / length, sign * q.y / length, sign * q.z / length, q.w / length};

  const bool tilted = q.x != 0 || q.y != 0;
  const bool keep =
      in.animates || std::abs(q.x) > kTiltThreshold || std::abs(q.y) > kTiltThreshold || (in.full_rotation && tilted);
  out.heading_only = !keep;
  const Rotation r = keep ? matrix_of(q) : heading_of(q);
  const float scale_xy = in.is_fragment ? 1.0f : in.scale_xy;
  const float scale_z = in.is_fragment ? 1.0f : in.scale_z;
  out.transform.x = column(r.xx, r.xy, r.xz, scale_xy, 0);
  out.transform.y = column(r.yx, r.yy, r.yz, scale_xy, scale_xy);
  out.transform.z = column(r.zx, r.zy, r.zz, scale_z, scale_z);
  out.transform.position = {in.position.x, in.position.y, in.position.z, 1};
  return out;
}

Transform combine(const Transform& outer, const Transform& inner) {
  const auto direction = [&](const Vec4& v) {
    const double x = v.x, y = v.y, z = v.z;
    return Vec4{static_cast<float>(outer.x.x * x + outer.y.x * y + outer.z.x * z),
                static_cast<float>(outer.x.y * x + outer.y.y * y + outer.z.y * z),
                static_cast<float>(outer.x.z * x + outer.y.z * y + outer.z.z * z), v.w};
  };
  const double x = inner.position.x, y = inner.position.y, z = inner.position.z;
  return {direction(inner.x), direction(inner.y), direction(inner.z),
          Vec4{static_cast<float>(outer.x.x * x + outer.y.x * y + outer.z.x * z + outer.position.x),
               static_cast<float>(outer.x.y * x + outer.y.y * y + outer.z.y * z + outer.position.y),
               static_cast<float>(outer.x.z * x + outer.y.z * y + outer.z.z * z + outer.position.z), 1}};
}

CentredBox world_box(const Transform& at, const Aabb& box) {
  // In doubles, then rounded once: the centre to nearest, the half extents up to what covers both ends from there.
  const double cx = (double{box.min.x} + box.max.x) / 2, hx = std::abs(double{box.max.x} - box.min.x) / 2;
  const double cy = (double{box.min.y} + box.max.y) / 2, hy = std::abs(double{box.max.y} - box.min.y) / 2;
  const double cz = (double{box.min.z} + box.max.z) / 2, hz = std::abs(double{box.max.z} - box.min.z) / 2;
  const auto axis = [&](double x, double y, double z, double position, float& centre, float& half) {
    const double c = x * cx + y * cy + z * cz + position;
    const double h = std::abs(x) * hx + std::abs(y) * hy + std::abs(z) * hz;
    centre = static_cast<float>(c);
    const double shift = std::abs(c - centre);
    half = round_up(shift + h);
  };
  CentredBox out;
  axis(at.x.x, at.y.x, at.z.x, at.position.x, out.centre.x, out.half.x);
  axis(at.x.y, at.y.y, at.z.y, at.position.y, out.centre.y, out.half.y);
  axis(at.x.z, at.y.z, at.z.z, at.position.z, out.centre.z, out.half.z);
  return out;
}

float world_radius(const Transform& at, const Vec3& local_centre, float local_radius, const Vec3& centre) {
  const auto axis = [&](double x, double y, double z, double position, float from) {
    return x * local_centre.x + y * local_centre.y + z * local_centre.z + position - from;
  };
  const double dx = axis(at.x.x, at.y.x, at.z.x, at.position.x, centre.x);
  const double dy = axis(at.x.y, at.y.y, at.z.y, at.position.y, centre.y);
  const double dz = axis(at.x.z, at.y.z, at.z.z, at.position.z, centre.z);
  const double scale = std::max(std::abs(double{at.scale_xy()}), std::abs(double{at.scale_z()}));
  // Columns are rounded, so a tilted unit vector can be longer than 1 by some 2^-23.
  constexpr double kSlack = 1 + 1.0 / (1 << 22);
  return round_up(std::sqrt(dx * dx + dy * dy + dz * dz) + std::abs(double{local_radius}) * scale * kSlack);
}

}  // namespace meridian
