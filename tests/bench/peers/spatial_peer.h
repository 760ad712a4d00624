// SPDX-License-Identifier: MIT
#pragma once
/// What other libraries find in the same boxes. Each keeps the indices of what it finds, as a search keeps handles, and
/// decides about single boxes by the functions below, so that all find the same.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "meridian/base/geometry.h"
#include "meridian/base/math.h"

namespace meridian::bench {

class SpatialPeer {
 public:
  SpatialPeer() = default;
  virtual ~SpatialPeer() = default;
  SpatialPeer(const SpatialPeer&) = delete;
  SpatialPeer& operator=(const SpatialPeer&) = delete;

  virtual bool has_boxes() const { return true; }
  /// Fill `found` from its start, and give how many there are. `found` is large enough for all.
  virtual uint32_t sphere(const Vec3& centre, float radius, std::vector<uint32_t>& found) = 0;
  virtual uint32_t box(const Aabb& box, std::vector<uint32_t>& found) = 0;
  virtual uint32_t segment(const Vec3& a, const Vec3& b, std::vector<uint32_t>& found) = 0;
  virtual bool has_frusta() const { return true; }
  /// What is not wholly outside one of the planes; `bounds` is around what they enclose. 0 without frusta.
  virtual uint32_t frustum(std::span<const Plane> planes, const Aabb& bounds, std::vector<uint32_t>& found) = 0;
};

/// Null where the library was not there when this was built.
std::unique_ptr<SpatialPeer> make_boost_rtree(std::span<const Aabb> boxes);
std::unique_ptr<SpatialPeer> make_bullet_dbvt(std::span<const Aabb> boxes);
std::unique_ptr<SpatialPeer> make_embree_scene(std::span<const Aabb> boxes);

inline bool touches_sphere(const Aabb& b, const Vec3& p, float radius) {
  const auto gap = [](float lo, float hi, float at) { return at < lo ? lo - at : at > hi ? at - hi : 0.0f; };
  const float x = gap(b.min.x, b.max.x, p.x), y = gap(b.min.y, b.max.y, p.y), z = gap(b.min.z, b.max.z, p.z);
  return x * x + y * y + z * z <= radius * radius;
}

inline bool touches_box(const Aabb& a, const Aabb& b) {
  return a.min.x <= b.max.x && a.max.x >= b.min.x && a.min.y <= b.max.y && a.max.y >= b.min.y && a.min.z <= b.max.z &&
         a.max.z >= b.min.z;
}

inline bool touches_frustum(const Aabb& b, std::span<const Plane> planes) {
  for (const Plane& p : planes) {
    const Vec3& n = p.normal;
    const float x = n.x >= 0 ? b.max.x : b.min.x, y = n.y >= 0 ? b.max.y : b.min.y, z = n.z >= 0 ? b.max.z : b.min.z;
    if (n.x * x + n.y * y + n.z * z + p.d < 0) return false;
  }
  return true;
}

/// A segment whose inverse direction is known, so that each box costs no division.
struct Ray {
  Vec3 from, inverse;
  Ray(const Vec3& a, const Vec3& b) : from(a), inverse{1 / (b.x - a.x), 1 / (b.y - a.y), 1 / (b.z - a.z)} {}

  bool touches(const Aabb& b) const {
    float enter = 0, leave = 1;
    const float t[6] = {(b.min.x - from.x) * inverse.x, (b.max.x - from.x) * inverse.x, (b.min.y - from.y) * inverse.y,
                        (b.max.y - from.y) * inverse.y, (b.min.z - from.z) * inverse.z, (b.max.z - from.z) * inverse.z};
    for (int i = 0; i < 6; i += 2) {
      const float first = t[i] < t[i + 1] ? t[i] : t[i + 1], last = t[i] < t[i + 1] ? t[i + 1] : t[i];
      enter = first > enter ? first : enter;
      leave = last < leave ? last : leave;
    }
    return enter <= leave;
  }
};

}  // namespace meridian::bench
