// SPDX-License-Identifier: MIT
#include "meridian/base/portal_corners.h"

#include <algorithm>

#include "base/double3.h"
#include "meridian/base/assert.h"

namespace meridian {
namespace {

struct Corners {
  Double3 c[4];
  explicit Corners(const PortalCorners& portal) {
    for (int i = 0; i < 4; ++i) c[i] = Double3(portal.corner[i]);
  }
  /// Twice the area of a triangle, along its normal.
  Double3 first() const { return cross(c[1] - c[0], c[2] - c[0]); }
  Double3 second() const { return cross(c[2] - c[0], c[3] - c[0]); }
  Double3 normal() const { return first() + second(); }  ///< of any length
  Double3 centre() const { return (c[0] + c[1] + c[2] + c[3]) * 0.25; }
};

/// Volume between a line and the edge from p to q: on which side of the edge the line passes. An edge walked the other
/// way gives the same bits with another sign, so neighbours agree about it whatever is rounded.
double side(const Double3& origin, const Double3& direction, const Double3& p, const Double3& q) {
  return dot(direction, cross(p - origin, q - origin));
}

/// Whether the line passes the opening in the sense of `way` (1: along the normal), which the caller knows from its
/// plane. The triangles only decide about the outline, so that a bent portal has no second opinion about sides.
bool passes(const Double3 (&c)[4], const Double3& origin, const Double3& direction, double way) {
  const double diagonal = way * side(origin, direction, c[2], c[0]);
  const auto edge = [&](int p, int q) { return way * side(origin, direction, c[p], c[q]); };
  return (diagonal >= 0 && edge(0, 1) >= 0 && edge(1, 2) >= 0) || (diagonal <= 0 && edge(2, 3) >= 0 && edge(3, 0) >= 0);
}

}  // namespace

PortalCorners make_portal(std::span<const Vec3, 4> corners, uint32_t flags, uint32_t opacity) {
  PortalCorners out;
  for (size_t i = 0; i < 4; ++i) out.corner[i] = {corners[i].x, corners[i].y, corners[i].z, 0};
  out.set_flags(flags);
  out.set_opacity(opacity);
  return out;
}

const char* to_string(PortalShape shape) {
  switch (shape) {
    case PortalShape::good:
      return "good";
    case PortalShape::not_finite:
      return "not_finite";
    case PortalShape::no_area:
      return "no_area";
    case PortalShape::not_convex:
      return "not_convex";
    case PortalShape::not_planar:
      return "not_planar";
  }
  return "unknown";
}

PortalShape check_portal(const PortalCorners& portal) {
  for (int i = 0; i < 4; ++i)
    if (!is_finite(portal.point(i))) return PortalShape::not_finite;
  const Corners corners(portal);
  const auto& c = corners.c;
  double longest = 0;  // of edges and diagonals
  for (int i = 0; i < 4; ++i)
    for (int k = i + 1; k < 4; ++k) longest = std::max(longest, length(c[k] - c[i]));
  const double least = kNarrow * longest * longest;
  const Double3 one = corners.first(), two = corners.second();
  if (length(one) <= least && length(two) <= least) return PortalShape::no_area;
  // The larger triangle says which way is up; at no corner may the border then turn the other way.
  const Double3 larger = length(one) >= length(two) ? one : two;
  const Double3 up = larger * (1 / length(larger));
  for (int i = 0; i < 4; ++i) {
    const Double3 turn = cross(c[(i + 1) & 3] - c[i], c[(i + 2) & 3] - c[(i + 1) & 3]);
    if (dot(turn, up) < -least) return PortalShape::not_convex;
  }
  for (int i = 0; i < 4; ++i)
    if (std::abs(dot(c[i] - c[0], up)) > longest * 0.01) return PortalShape::not_planar;
  return PortalShape::good;
}

float area(const PortalCorners& portal) {
  const Corners corners(portal);
  return static_cast<float>((length(corners.first()) + length(corners.second())) / 2);
}

Vec3 normal(const PortalCorners& portal) {
  const Corners corners(portal);
  const Double3 sum = corners.normal();
  const double l = length(sum);
  if (!(l > 0 && l < 1e300)) return {};
  return (sum * (1 / l)).rounded();
}

Vec3 centre(const PortalCorners& portal) { return Corners(portal).centre().rounded(); }

PortalCrossing cross_segment(const PortalCorners& portal, const Vec3& from, const Vec3& to) {
  if (!is_finite(from) || !is_finite(to)) return {};
  const Corners corners(portal);
  const Double3 origin(from), end(to), normal = corners.normal(), centre = corners.centre();
  // The same expression for both ends: where one segment of a path ends on a side, the next begins there.
  const double start_height = dot(normal, origin - centre), end_height = dot(normal, end - centre);
  if (start_height <= 0 ? !(end_height > 0) : !(end_height <= 0)) return {};
  const double way = start_height <= 0 ? 1 : -1;
  if (!passes(corners.c, origin, end - origin, way)) return {};
  return {way > 0 ? PortalWay::forward : PortalWay::backward,
          static_cast<float>(start_height / (start_height - end_height))};
}

PortalCrossing cross_ray(const PortalCorners& portal, const Vec3& origin, const Vec3& direction) {
  if (!is_finite(origin) || !is_finite(direction)) return {};
  MERIDIAN_ASSERT(direction != Vec3{}, "a ray has a direction");
  const Corners corners(portal);
  const Double3 from(origin), along(direction), normal = corners.normal();
  const double height = dot(normal, from - corners.centre()), climb = dot(normal, along);
  if (height <= 0 ? !(climb > 0) : !(climb < 0)) return {};
  const double way = height <= 0 ? 1 : -1;
  if (!passes(corners.c, from, along, way)) return {};
  return {way > 0 ? PortalWay::forward : PortalWay::backward, static_cast<float>(-height / climb)};
}

}  // namespace meridian
