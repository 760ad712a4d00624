// SPDX-License-Identifier: MIT
#pragma once
/// What looking through a portal asks of its corners: how far away it is, and which part of a picture it takes up.
///
/// Distances are in double precision and as good as the corners. Rectangles are rounded outwards: by what the rows of a
/// projection lose as floats far from the origin, and once more as floats.
///
/// A mirrored picture needs no mirrored corners: reflecting the projection once for all of them comes to the same.

#include "base/double3.h"
#include "meridian/base/portal_corners.h"
#include "meridian/visibility/cull_shape.h"

namespace meridian {

/// Shortest distance from a point to the opening, its border included. [m]
double distance_to(const PortalCorners& portal, const Double3& point);
/// Of a plane whose normal has any length. [m]
double distance_from(const Plane& plane, const Double3& point);
/// The point on the other side of a mirror.
Double3 reflected(const Plane& mirror, const Double3& point);

/// A ScreenProjection in double precision.
struct ScreenRows {
  struct Row {
    double x = 0, y = 0, z = 0, w = 0;
    double lost = 0;  ///< what w may be wrong by
  };
  Row x, y, w;
};
/// Of a mirror: what takes points of the real world to its picture.
ScreenRows screen_rows(const CullShape& shape);

/// Part of the picture that a portal takes up, which is empty for what lies behind the camera or beside the picture.
/// What is nearer to the plane of the camera than a millimetre is left out: ask distance_to() about that.
ScreenRect rect_of(const PortalCorners& portal, const ScreenRows& rows);

constexpr bool contains(const ScreenRect& outer, const ScreenRect& inner) {
  return outer.min_x <= inner.min_x && outer.min_y <= inner.min_y && outer.max_x >= inner.max_x &&
         outer.max_y >= inner.max_y;
}
/// May be inside out, which is empty.
constexpr ScreenRect intersection(const ScreenRect& a, const ScreenRect& b) {
  return {a.min_x > b.min_x ? a.min_x : b.min_x, a.min_y > b.min_y ? a.min_y : b.min_y,
          a.max_x < b.max_x ? a.max_x : b.max_x, a.max_y < b.max_y ? a.max_y : b.max_y};
}
/// The smallest rectangle around both; an empty one adds nothing.
inline ScreenRect bounds_of(const ScreenRect& a, const ScreenRect& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {a.min_x < b.min_x ? a.min_x : b.min_x, a.min_y < b.min_y ? a.min_y : b.min_y,
          a.max_x > b.max_x ? a.max_x : b.max_x, a.max_y > b.max_y ? a.max_y : b.max_y};
}

}  // namespace meridian
