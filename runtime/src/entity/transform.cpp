// SPDX-License-Identifier: MIT
#include "meridian/entity/transform.h"

#include <algorithm>

#include "entity/placing.h"

namespace meridian {

Placed place_entity(const PlaceInput& in) {
  Placed out;
  out.status = detail::place_into(in, out.transform, out.heading_only);
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
