// SPDX-License-Identifier: MIT
#include "visibility/portal_geometry.h"

#include <algorithm>
#include <cmath>

namespace meridian {
namespace {

/// Nothing of a portal that the camera does not touch is both in the picture and nearer to the plane of the camera than
/// this, unless the lens is wider than any that is of use. [m]
constexpr double kNearest = 0.001;
/// Eight times what a float loses.
constexpr double kRowSlack = 0x1p-21;

double distance_to_edge(const Double3& a, const Double3& b, const Double3& point) {
  const Double3 along = b - a, to = point - a;
  const double l2 = dot(along, along);
  const double t = l2 > 0 ? std::clamp(dot(to, along) / l2, 0.0, 1.0) : 0.0;
  return length(to - along * t);
}

double distance_to_triangle(const Double3& a, const Double3& b, const Double3& c, const Double3& point) {
  const Double3 n = cross(b - a, c - a);
  const double l = length(n);
  const bool is_above = l > 0 && dot(cross(b - a, point - a), n) >= 0 && dot(cross(c - b, point - b), n) >= 0 &&
                        dot(cross(a - c, point - c), n) >= 0;
  if (is_above) return std::abs(dot(n, point - a)) / l;
  return std::min({distance_to_edge(a, b, point), distance_to_edge(b, c, point), distance_to_edge(c, a, point)});
}

ScreenRows::Row row_of(const Vec4& v, const CullShape& shape) {
  ScreenRows::Row out{v.x, v.y, v.z, v.w, std::abs(double{v.w})};
  if ((shape.flags & kCullMirror) != 0) {
    const Plane& m = shape.mirror;
    const double x = m.normal.x, y = m.normal.y, z = m.normal.z;
    const double by = 2 * (out.x * x + out.y * y + out.z * z) / (x * x + y * y + z * z);
    out.x -= by * x;
    out.y -= by * y;
    out.z -= by * z;
    out.w -= by * m.d;
    out.lost += std::abs(by * m.d);
  }
  out.lost = out.lost * kRowSlack + kRowSlack;
  return out;
}

/// A value of a row, and what it may be wrong by.
struct Reached {
  double at = 0, lost = 0;
};
Reached reach(const ScreenRows::Row& row, const Double3& p) {
  const double x = row.x * p.x, y = row.y * p.y, z = row.z * p.z;
  return {x + y + z + row.w, row.lost + kRowSlack * (std::abs(x) + std::abs(y) + std::abs(z))};
}
Reached between(const Reached& a, const Reached& b, double t) {
  return {a.at + (b.at - a.at) * t, std::max(a.lost, b.lost)};
}

struct ScreenPoint {
  Reached x, y, w;
};

/// From below to above: the smallest and the largest that a place can be.
void widen(const Reached& v, const Reached& w, double& low, double& high) {
  const double nearest = std::max(w.at - w.lost, kNearest / 2), farthest = w.at + w.lost;
  const double least = v.at - v.lost, most = v.at + v.lost;
  low = std::min(low, least / (least < 0 ? nearest : farthest));
  high = std::max(high, most / (most > 0 ? nearest : farthest));
}

}  // namespace

double distance_to(const PortalCorners& portal, const Double3& point) {
  const Double3 c[4] = {Double3(portal.corner[0]), Double3(portal.corner[1]), Double3(portal.corner[2]),
                        Double3(portal.corner[3])};
  return std::min(distance_to_triangle(c[0], c[1], c[2], point), distance_to_triangle(c[0], c[2], c[3], point));
}

double distance_from(const Plane& plane, const Double3& point) {
  const Double3 n(plane.normal);
  return (dot(n, point) + plane.d) / length(n);
}

Double3 reflected(const Plane& mirror, const Double3& point) {
  const Double3 n(mirror.normal);
  return point - n * (2 * (dot(n, point) + mirror.d) / dot(n, n));
}

ScreenRows screen_rows(const CullShape& shape) {
  return {row_of(shape.screen.x, shape), row_of(shape.screen.y, shape), row_of(shape.screen.w, shape)};
}

ScreenRect rect_of(const PortalCorners& portal, const ScreenRows& rows) {
  ScreenPoint c[4];
  for (int i = 0; i < 4; ++i) {
    const Double3 p(portal.corner[i]);
    c[i] = {reach(rows.x, p), reach(rows.y, p), reach(rows.w, p)};
  }
  double low_x = 2, low_y = 2, high_x = -2, high_y = -2;
  const auto add = [&](const ScreenPoint& p) {
    widen(p.x, p.w, low_x, high_x);
    widen(p.y, p.w, low_y, high_y);
  };
  // Corners in front, and where edges or diagonals come out in front: so a bent portal has all of its two triangles in.
  for (int i = 0; i < 4; ++i) {
    if (c[i].w.at >= kNearest) add(c[i]);
    for (int k = i + 1; k < 4; ++k) {
      if ((c[i].w.at >= kNearest) == (c[k].w.at >= kNearest)) continue;
      const double t = (kNearest - c[i].w.at) / (c[k].w.at - c[i].w.at);
      add({between(c[i].x, c[k].x, t), between(c[i].y, c[k].y, t), {kNearest, std::max(c[i].w.lost, c[k].w.lost)}});
    }
  }
  if (low_x > high_x) return {};  // all behind
  const auto low = [](double v) { return round_down(std::clamp(v, -1.0, 2.0)); };
  const auto high = [](double v) { return round_up(std::clamp(v, -2.0, 1.0)); };
  return {low(low_x), low(low_y), high(high_x), high(high_y)};
}

}  // namespace meridian
