// SPDX-License-Identifier: MIT
#include "meridian/scene/query.h"

#include <cstddef>
#include <cstring>

#include "meridian/base/assert.h"

namespace meridian {

Volume sphere_volume(const Vec3& centre, float radius) {
  Volume out;
  out.kind = VolumeKind::sphere;
  out.a = centre;
  out.radius = radius;
  return out;
}

Volume box_volume(const Aabb& box) {
  Volume out;
  out.kind = VolumeKind::box;
  out.a = box.min;
  out.b = box.max;
  return out;
}

Volume oriented_box_volume(const Transform& at, const Vec3& half) {
  Volume out;
  out.kind = VolumeKind::oriented_box;
  out.a = {at.position.x, at.position.y, at.position.z};
  out.axes[0] = Vec3{at.x.x, at.x.y, at.x.z} * half.x;
  out.axes[1] = Vec3{at.y.x, at.y.y, at.y.z} * half.y;
  out.axes[2] = Vec3{at.z.x, at.z.y, at.z.z} * half.z;
  return out;
}

Volume segment_volume(const Vec3& a, const Vec3& b) {
  Volume out;
  out.kind = VolumeKind::segment;
  out.a = a;
  out.b = b;
  return out;
}

Volume swept_sphere_volume(const Vec3& a, const Vec3& b, float radius) {
  Volume out = segment_volume(a, b);
  out.kind = VolumeKind::swept_sphere;
  out.radius = radius;
  return out;
}

Volume frustum_volume(const Plane* planes, uint32_t count) {
  MERIDIAN_ASSERT(count <= kMaxVolumePlanes, "a volume has at most kMaxVolumePlanes planes");
  Volume out;
  out.kind = VolumeKind::frustum;
  out.plane_count = static_cast<uint8_t>(count < kMaxVolumePlanes ? count : kMaxVolumePlanes);
  for (uint32_t i = 0; i < out.plane_count; ++i) out.planes[i] = planes[i];
  return out;
}

Volume moved(const Volume& volume, const Vec3& by) {
  Volume out = volume;
  out.a = volume.a + by;
  out.b = volume.b + by;
  for (uint32_t i = 0; i < volume.plane_count; ++i) {
    const Vec3& n = volume.planes[i].normal;
    const double shift = double{n.x} * double{by.x} + double{n.y} * double{by.y} + double{n.z} * double{by.z};
    out.planes[i].d = static_cast<float>(double{volume.planes[i].d} - shift);
  }
  return out;
}

Status check(const Volume& volume) {
  constexpr uint32_t kExponentBits = 0x7F800000;  // all of them: infinite or NaN
  constexpr Status kNotFinite{StatusCode::bad_value, "a volume is made of finite numbers", 0};
  // All but the planes in one go, which compilers turn into a few vectors: this is done for each search.
  constexpr size_t kNumbers = 16;
  static_assert(offsetof(Volume, planes) - offsetof(Volume, radius) == kNumbers * sizeof(float));
  uint32_t bits[kNumbers], odd = 0;
  std::memcpy(bits, &volume.radius, sizeof bits);
  for (const uint32_t number : bits) odd |= (number & kExponentBits) == kExponentBits ? 1u : 0u;
  if (odd != 0) return kNotFinite;
  if (volume.plane_count > kMaxVolumePlanes) {
    return {StatusCode::bad_value, "a volume has too many planes; detail = planes", volume.plane_count};
  }
  for (uint32_t i = 0; i < volume.plane_count; ++i) {
    const Plane& plane = volume.planes[i];
    if (!is_finite(plane.normal) || !is_finite(plane.d)) return kNotFinite;
    if (plane.normal == Vec3{}) return {StatusCode::bad_value, "a plane has no direction; detail = its index", i};
  }
  if (volume.radius < 0) return {StatusCode::bad_value, "a radius is not negative", 0};
  if (volume.kind != VolumeKind::box) return {};
  const bool inside_out = volume.a.x > volume.b.x || volume.a.y > volume.b.y || volume.a.z > volume.b.z;
  return inside_out ? Status{StatusCode::bad_value, "a box is inside out", 0} : Status{};
}

Status check(const EntityQuery& query) { return check(query.volume); }

}  // namespace meridian
