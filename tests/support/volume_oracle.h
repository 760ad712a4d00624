// SPDX-License-Identifier: MIT
#pragma once
/// What is in a volume, told in the plainest way and apart from the code under test: floats where the definition says
/// floats, long doubles where it says exact.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "meridian/scene/query.h"
#include "support/box_trees.h"

namespace meridian::test {

using Real = long double;
using Point = std::array<Real, 3>;

inline Point point(const Vec3& v) { return {Real{v.x}, Real{v.y}, Real{v.z}}; }
inline float at(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

inline Real length_of(const Vec3& a, const Vec3& b) {
  Real sum = 0;
  for (size_t i = 0; i < 3; ++i) sum += (point(a)[i] - point(b)[i]) * (point(a)[i] - point(b)[i]);
  return std::sqrt(sum);
}
inline Real largest_of(std::initializer_list<Vec3> all) {
  Real most = 0;
  for (const Vec3& v : all)
    for (int i = 0; i < 3; ++i) most = std::max(most, std::fabs(Real{at(v, i)}));
  return most;
}

/// Whether the parallelepiped touches the box made larger by `margin`: its faces are cut by the planes of the box, and
/// if nothing is left of them the box is inside it or outside.
inline bool oriented_touches(const Volume& volume, const Aabb& box, Real margin) {
  Point low = point(box.min), high = point(box.max);
  for (size_t i = 0; i < 3; ++i) {
    low[i] -= margin;
    high[i] += margin;
    if (low[i] > high[i]) return false;
  }
  const Point centre = point(volume.a),
              edges[3] = {point(volume.axes[0]), point(volume.axes[1]), point(volume.axes[2])};
  for (size_t face = 0; face < 6; ++face) {
    const Point &n = edges[face / 2], &u = edges[(face / 2 + 1) % 3], &v = edges[(face / 2 + 2) % 3];
    const Real side = face % 2 == 0 ? 1 : -1;
    std::vector<Point> polygon;
    for (const auto& [s, t] : {std::pair<Real, Real>{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      Point p;
      for (size_t i = 0; i < 3; ++i) p[i] = centre[i] + side * n[i] + s * u[i] + t * v[i];
      polygon.push_back(p);
    }
    for (size_t plane = 0; plane < 6; ++plane) {
      const size_t axis = plane / 2;
      const auto inside = [&](const Point& p) { return plane % 2 == 0 ? p[axis] - low[axis] : high[axis] - p[axis]; };
      std::vector<Point> rest;
      for (size_t k = 0; k < polygon.size(); ++k) {
        const Point &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
        const Real a = inside(p), b = inside(q);
        if (a >= 0) rest.push_back(p);
        if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
          Point cut;
          for (size_t i = 0; i < 3; ++i) cut[i] = p[i] + (q[i] - p[i]) * (a / (a - b));
          cut[axis] = plane % 2 == 0 ? low[axis] : high[axis];
          rest.push_back(cut);
        }
      }
      polygon = rest;
    }
    if (!polygon.empty()) return true;
  }
  // Cramer's rule for the middle of the box in the frame of the edges.
  const auto det = [](const Point& a, const Point& b, const Point& c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  };
  const Real whole = det(edges[0], edges[1], edges[2]);
  if (whole == 0) return false;
  Point p;
  for (size_t i = 0; i < 3; ++i) p[i] = (low[i] + high[i]) / 2 - centre[i];
  return std::fabs(det(p, edges[1], edges[2]) / whole) <= 1 && std::fabs(det(edges[0], p, edges[2]) / whole) <= 1 &&
         std::fabs(det(edges[0], edges[1], p) / whole) <= 1;
}

/// The smallest distance between the box and the segment: distance along it is convex, so thirds are thrown away.
inline Real swept_distance(const Volume& volume, const Aabb& box) {
  const Point a = point(volume.a), b = point(volume.b), low = point(box.min), high = point(box.max);
  const auto distance = [&](Real t) {
    Real sum = 0;
    for (size_t i = 0; i < 3; ++i) {
      const Real p = a[i] + (b[i] - a[i]) * t, gap = std::clamp(p, low[i], high[i]) - p;
      sum += gap * gap;
    }
    return std::sqrt(sum);
  };
  Real first = 0, last = 1;
  for (int i = 0; i < 120; ++i) {
    const Real third = (last - first) / 3;
    if (distance(first + third) <= distance(last - third)) {
      last -= third;
    } else {
      first += third;
    }
  }
  return std::min({distance(0), distance(1), distance((first + last) / 2)});
}

enum class Answer { out, in, either };

/// What a search has to say about a box. `either` where rounding may decide.
inline Answer answer(const Volume& volume, const Aabb& box) {
  const auto sure = [](bool in) { return in ? Answer::in : Answer::out; };
  switch (volume.kind) {
    case VolumeKind::sphere: {
      float square[3];
      for (int i = 0; i < 3; ++i) {
        const float p = at(volume.a, i), lo = at(box.min, i), hi = at(box.max, i);
        const float d = p < lo ? lo - p : p > hi ? p - hi : 0.0f;
        square[i] = d * d;
      }
      const float xy = square[0] + square[1];
      return sure(xy + square[2] <= volume.radius * volume.radius);
    }
    case VolumeKind::box:
      return sure(boxes_touch({volume.a, volume.b}, box));
    case VolumeKind::frustum: {
      bool in = true;
      for (uint32_t i = 0; i < volume.plane_count; ++i) {
        const Vec3& n = volume.planes[i].normal;
        // The best of all corners.
        float best = -HUGE_VALF;
        for (int corner = 0; corner < 8; ++corner) {
          const float x = n.x * ((corner & 1) != 0 ? box.max.x : box.min.x);
          const float y = n.y * ((corner & 2) != 0 ? box.max.y : box.min.y);
          const float z = n.z * ((corner & 4) != 0 ? box.max.z : box.min.z);
          const float xy = x + y, xyz = xy + z;
          best = std::max(best, xyz + volume.planes[i].d);
        }
        in = in && best >= 0;
      }
      return sure(in);
    }
    case VolumeKind::segment: {
      const Real length = length_of(volume.a, volume.b);
      if (segment_touches(box, volume.a, volume.b, 0)) return Answer::in;
      return segment_touches(box, volume.a, volume.b, length * 0x1p-20L) ? Answer::either : Answer::out;
    }
    case VolumeKind::swept_sphere: {
      const Real distance = swept_distance(volume, box), radius = volume.radius;
      const Real size = largest_of({volume.a, volume.b, box.min, box.max}) + radius;
      if (distance <= radius - size * 1e-17L) return Answer::in;
      return distance <= radius + size * 0x1p-40L ? Answer::either : Answer::out;
    }
    case VolumeKind::oriented_box: {
      const Real size = largest_of({volume.a, volume.axes[0], volume.axes[1], volume.axes[2], box.min, box.max});
      if (oriented_touches(volume, box, 0)) return Answer::in;
      return oriented_touches(volume, box, size * 0x1p-38L) ? Answer::either : Answer::out;
    }
  }
  return Answer::either;
}

}  // namespace meridian::test
