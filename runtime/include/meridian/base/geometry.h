// SPDX-License-Identifier: MIT
#pragma once
/// Points, planes, triangles, frusta and angles: the geometry that several systems ask for.
///
///   const Vec3 near_door = closest_point(room_box, position);
///   const Result<PlaneFit> floor = fit_plane(corners);
///   if (floor.ok() && floor.value().flatness > 0.9f) stand_on(floor.value().plane);
///   const Result<Frustum> seen = frustum_of_view(camera, {.tan_half_width = 0.8f, .tan_half_height = 0.45f});
///   const float turn = angle_difference(heading, wanted);   // the short way, with its sign
///
/// Everything is computed in double precision and rounded once, so that results near 4 km from the origin are as good
/// as floats can say. What has no answer (points on a line, a triangle without area, planes that enclose nothing) is
/// data, and comes back as a Status.
///
/// Threads: immutable.
/// Memory:  none.

#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/status.h"

namespace meridian {

/// The point of `box` that is nearest to `point`; `point` itself inside. Requires: box.min <= box.max on each axis.
Vec3 closest_point(const Aabb& box, const Vec3& point);
/// Square of the distance from `point` to `box`, 0 inside and on it. [m^2]
float distance_squared(const Aabb& box, const Vec3& point);
/// The smallest box around `points`. Requires: at least one point (asserted; otherwise the box is empty at the origin).
Aabb bounds_of(std::span<const Vec3> points);

/// Points with dot(normal, p) + d = 0; the side that `normal` points to is positive, and the inside of a volume.
struct Plane {
  Vec3 normal{0, 0, 1};  ///< length 1 where functions return it
  float d = 0;           ///< minus the distance from the origin along `normal` [m]
  friend constexpr bool operator==(const Plane&, const Plane&) = default;
};
/// Times the length of the normal. [m]
float signed_distance(const Plane& plane, const Vec3& point);

/// What fit_plane found.
struct PlaneFit {
  Plane plane;          ///< the largest component of its normal is positive
  Vec3 centre;          ///< mean of the points; lies on the plane
  float rms_error = 0;  ///< root of the mean squared distance of the points from the plane [m]
  /// 1: the points lie on the plane; 0: as far off it as they spread on it, so that another plane is as good. [0, 1]
  float flatness = 0;
};

/// The plane with the smallest sum of squared distances from `points`. Their order changes no more than the last bits.
/// Errors: too_small for fewer than 3 points; bad_value for points on one line or in one place, or not finite. As a
///         line counts what is narrower than 2^-20 of its length, or than floats can tell so far from the origin.
/// Source: Pearson, "On lines and planes of closest fit to systems of points in space", 1901; the axes of the scatter
///         matrix by Jacobi's rotations.
Result<PlaneFit> fit_plane(std::span<const Vec3> points);

/// Weights of `a`, `b` and `c` (in x, y, z; their sum is 1) that give `point`, or its foot on their plane.
/// All are >= 0 inside the triangle.
/// Errors: bad_value where the triangle is narrower than 2^-20 of its longest side, or not finite.
Result<Vec3> barycentric(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& point);

/// The lens of a view. Tangents, because tan is not the same bits everywhere; tan(fov / 2).
struct ViewLens {
  float tan_half_width = 1;   ///< [> 0]
  float tan_half_height = 1;  ///< [> 0]
  float near_distance = 0;    ///< 0: the frustum is a pyramid [>= 0] [m]
  float far_distance = 1000;  ///< [> near_distance] [m]
};

/// Corner i is on the right if bit 0 is set, at the top if bit 1 is, on the far plane if bit 2 is.
struct Frustum {
  Vec3 corners[8];
  Aabb bounds;  ///< around the corners before they are rounded, so rounded outwards
};

/// The corners of what a camera sees that stands at `camera`, with x to its right, looking along y, z up.
/// Errors: bad_value for what is not finite, out of the ranges of ViewLens, or a camera whose axes span no space.
Result<Frustum> frustum_of_view(const Transform& camera, const ViewLens& lens);

/// Planes in the order left, right, bottom, top, near, far, each with its normal inwards, of any length.
/// Errors: bad_value if they enclose no volume or an endless one: a normal of zero or not finite, sides that never
///         meet or meet outside; the detail is the plane or the corner.
Result<Frustum> frustum_of_planes(std::span<const Plane, 6> planes);

/// The float next to pi, which is above it. Angles below are in (-kPi, kPi], and both -kPi and kPi are the half turn.
inline constexpr float kPi = 3.14159265358979323846f;

/// The same direction in (-kPi, kPi]. An angle already there comes back as it is, so wrapping again changes nothing;
/// others lose whole turns of 2 pi (as a double) without an error and are rounded once. NaN stays; infinity gives NaN.
float wrap_angle(float angle);
/// The turn that takes `from` to `to`, in (-kPi, kPi]; the half turn is positive. NaN stays.
float angle_difference(float from, float to);
/// Turns from `from` the short way: at t = 0 exactly wrap_angle(from), at 1 exactly wrap_angle(to), and beyond for
/// other t. Wrapped; NaN stays.
float lerp_angle(float from, float to, float t);

/// The arc that goes from `low` upwards to `high`: {-0.5, 0.5} looks ahead, {3, -3} backwards. A whole turn or more
/// (high - low >= 2 pi) leaves everything free; {a, a} is one direction.
struct AngleLimits {
  float low = -kPi, high = kPi;
};
/// The direction inside `limits` that is nearest to `angle`, wrapped; of two equally near ones that of `low`. The
/// limits themselves are inside. NaN stays.
float clamp_angle(float angle, AngleLimits limits);

}  // namespace meridian
