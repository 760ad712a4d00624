// SPDX-License-Identifier: MIT
#pragma once
/// The four corners of a portal, an opening between two rooms, with what else a scan asks of it in the spare fourth
/// components: 64 bytes, one cache line.
///
///   const Vec3 door[4] = {{0, 0, 0}, {0, 0, 2}, {1, 0, 2}, {1, 0, 0}};   // seen from the room it leads out of
///   PortalCorners portal = make_portal(door, portal_flags, opacity);
///   if (check_portal(portal) != PortalShape::good) ...
///   if (cross_segment(portal, last_position, position).way == PortalWay::forward) room = portal_to;
///
/// Seen from the room that a portal leads out of, corners go left bottom, left top, right top, right bottom; its normal
/// then points into the room that it leads to. Whoever goes with the normal goes forward.
///
/// The opening is two triangles along the diagonal from corner 0 to corner 2; sides are those of one plane, through the
/// centre. Nothing gets lost at the diagonal or, for two portals in one plane, at an edge they share; and a path of
/// segments that passes through is told once, also where a segment ends in the opening. For that, the border belongs
/// to the opening (so two portals with a common edge may both be crossed), and a point on the plane counts as still on
/// the side that the portal leads out of.
///
/// Threads: immutable.
/// Memory:  none.
/// Source:  own; edges by signed volumes, as in Segura and Feito, "Algorithms to test ray-triangle intersection", 2001.

#include <bit>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"

namespace meridian {

struct PortalCorners {
  Vec4 corner[4];  ///< w holds bits, not numbers: flags in the first, opacity in the second, 0 in the others [m]

  Vec3 point(int i) const { return {corner[i].x, corner[i].y, corner[i].z}; }
  uint32_t flags() const { return std::bit_cast<uint32_t>(corner[0].w); }    ///< as in the portal's definition
  uint32_t opacity() const { return std::bit_cast<uint32_t>(corner[1].w); }  ///< as in the portal's definition
  void set_flags(uint32_t flags) { corner[0].w = std::bit_cast<float>(flags); }
  void set_opacity(uint32_t opacity) { corner[1].w = std::bit_cast<float>(opacity); }
};
static_assert(sizeof(PortalCorners) == 64);

PortalCorners make_portal(std::span<const Vec3, 4> corners, uint32_t flags, uint32_t opacity);

/// What is wrong with a portal, the worst first.
enum class PortalShape : uint8_t {
  good,
  not_finite,  ///< a corner is infinite or NaN
  no_area,     ///< corners in one place or on one line
  not_convex,  ///< edges cross each other or bend inwards: the diagonal may lie outside
  not_planar,  ///< a corner is further from the plane of the others than a hundredth of the portal's size
};
/// A stable word for a shape ("not_planar").
const char* to_string(PortalShape shape);
/// Three corners on a line are good as long as the fourth gives area: a triangle can be an opening.
PortalShape check_portal(const PortalCorners& portal);

/// Area of the two triangles. [m^2]
float area(const PortalCorners& portal);
/// Length 1, towards the room that the portal leads to; of a bent portal the mean by area. Zero if there is none.
Vec3 normal(const PortalCorners& portal);
/// Mean of the corners.
Vec3 centre(const PortalCorners& portal);

enum class PortalWay : int8_t {
  backward = -1,  ///< against the normal
  none = 0,
  forward = 1,  ///< along the normal
};

struct PortalCrossing {
  PortalWay way = PortalWay::none;
  float at = 0;  ///< how far along, where way isn't none: a fraction of the segment, or lengths of the direction
  explicit operator bool() const { return way != PortalWay::none; }
};

/// Whether going straight from `from` to `to` passes the portal. What isn't finite crosses nothing.
PortalCrossing cross_segment(const PortalCorners& portal, const Vec3& from, const Vec3& to);
/// The same for an endless ray from `origin`. Requires: direction is not zero; any length.
PortalCrossing cross_ray(const PortalCorners& portal, const Vec3& origin, const Vec3& direction);

}  // namespace meridian
