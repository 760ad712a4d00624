// SPDX-License-Identifier: MIT
#pragma once
/// Rooms and portals in double precision, and rays that are followed through them one by one.

#include <cstdint>
#include <set>
#include <vector>

#include "support/portal_world.h"

namespace meridian::test {

struct Point {
  double x = 0, y = 0, z = 0;
  Point() = default;
  Point(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
  explicit Point(const Vec3& v) : x(v.x), y(v.y), z(v.z) {}
};
inline Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator*(const Point& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double times(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point across(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Ray {
  Point from, along;
};

/// By Moeller and Trumbore: whether a ray hits a triangle, and from which side: 1 along its normal.
inline int hits(const Ray& ray, const Point& a, const Point& b, const Point& c, double nearest, double farthest) {
  const Point e1 = b - a, e2 = c - a, p = across(ray.along, e2);
  const double det = times(e1, p);
  if (det == 0) return 0;
  const Point s = ray.from - a;
  const double u = times(s, p) / det;
  const Point q = across(s, e1);
  const double v = times(ray.along, q) / det, t = times(e2, q) / det;
  if (u < 0 || v < 0 || u + v > 1 || t < nearest || t > farthest) return 0;
  return times(across(e1, e2), ray.along) > 0 ? 1 : -1;
}

/// A portal as the model has it: rooms by number, 0 being the outside.
struct ModelPortal {
  Corners corners;
  uint32_t from = 0, to = 0;
  bool is_one_way = false, is_open = true;
};

struct Model {
  std::vector<ModelPortal> portals;
  std::vector<RoomNode*> rooms{nullptr};  // by number

  /// Rooms that a ray gets to, passing portals in any order.
  std::set<uint32_t> reached(uint32_t start, const Ray& ray, double farthest, const Plane* mirror) const {
    std::vector<int> ways;
    for (const ModelPortal& portal : portals) {
      Point c[4];
      for (int i = 0; i < 4; ++i) c[i] = Point(portal.corners[static_cast<size_t>(i)]);
      if (mirror != nullptr) {  // reflected, and turned round so that the front stays the front
        const Point n(mirror->normal);
        Point m[4];
        for (int i = 0; i < 4; ++i) m[3 - i] = c[i] - n * (2 * (times(n, c[i]) + mirror->d) / times(n, n));
        for (int i = 0; i < 4; ++i) c[i] = m[i];
      }
      int way = hits(ray, c[0], c[1], c[2], 0.06, farthest);
      if (way == 0) way = hits(ray, c[0], c[2], c[3], 0.06, farthest);
      ways.push_back(portal.is_open ? way : 0);
    }
    std::set<uint32_t> out{start};
    for (bool grows = true; grows;) {
      grows = false;
      for (size_t i = 0; i < portals.size(); ++i) {
        const ModelPortal& portal = portals[i];
        if (ways[i] == 1 && out.count(portal.from) != 0) grows |= out.insert(portal.to).second;
        if (ways[i] == -1 && !portal.is_one_way && out.count(portal.to) != 0) grows |= out.insert(portal.from).second;
      }
    }
    return out;
  }
};

inline Ray ray_of(const CullShape& picture, const Vec3& forward, float x, float y) {
  const Point ahead(forward), right(forward.y, -forward.x, 0), up(0, 0, 1);
  return {Point(picture.camera), ahead + right * double{x} + up * double{y}};
}

}  // namespace meridian::test
