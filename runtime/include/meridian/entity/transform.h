// SPDX-License-Identifier: MIT
#pragma once
/// From what an author wrote to where an entity stands. Runtime and tools share these functions, so cooked values and
/// values made at load are the same bits.
///
/// Two conventions meet here: a plain entity stores the inverse of its orientation, an interior instance the
/// orientation itself. A turn by +90 degrees about z takes the entity's (1, 0, 0) to the world's (0, 1, 0):
///
///   Placed a = place_entity({.rotation = {0, 0, -0.70710678f, 0.70710678f}});                      // plain entity
///   Placed b = place_entity({.rotation = {0, 0, 0.70710678f, 0.70710678f}, .is_interior = true});  // in an MLO
///
/// Most things stand upright: unless something asks for more, only the heading of a rotation is kept.
///
/// Threads: immutable.
/// Memory:  none.

#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

/// What a definition and its archetype say about a place.
struct PlaceInput {
  Vec3 position{};             ///< [m]
  Quat rotation{};             ///< as authored; any length
  float scale_xy = 1;          ///< along x and y
  float scale_z = 1;           ///< along z
  bool is_interior = false;    ///< rotation is the orientation itself, not its inverse
  bool full_rotation = false;  ///< the entity's flag allow_full_rotation
  bool animates = false;       ///< the archetype is animated: tilt is always kept
  bool is_fragment = false;    ///< fragments are never scaled
};

/// What came of it. Everything from `bad_position` on: the entity is left out.
enum class PlaceStatus : uint8_t {
  placed = 0,
  odd_scale = 1,     ///< placed, but a scale is negative or 4 and more: probably a slip, told once
  bad_position = 2,  ///< infinite or NaN
  bad_rotation = 3,  ///< infinite, NaN or zero
  bad_scale = 4,     ///< infinite, NaN or zero
};
constexpr bool is_placed(PlaceStatus status) { return status <= PlaceStatus::odd_scale; }

/// A transform and how it came about. `transform` is the identity if the entity is left out.
struct Placed {
  Transform transform;
  PlaceStatus status = PlaceStatus::placed;
  bool heading_only = false;  ///< tilt was not kept: columns x and y are level, z is upright
};

/// Beyond this, one of the imaginary parts x and y is a tilt that an author meant. [of a unit quaternion]
inline constexpr double kTiltThreshold = 0.05;
/// Scales from here on are told.
inline constexpr float kOddScale = 4;

/// Makes the transform of a definition. The full rotation is kept if the archetype animates, if |x| or |y| of the unit
/// quaternion is above kTiltThreshold, or if `full_rotation` is set and one of them is not 0. Otherwise the entity is
/// turned by its heading, 2 * acos(w) * sign(z), only.
Placed place_entity(const PlaceInput& in);

/// The transform of what stands in a space that is itself placed: an entity inside an interior. Each rotation counts
/// once. The scale kept is that of `inner`: interiors have none.
Transform combine(const Transform& outer, const Transform& inner);

/// A box as centre and half extents; the real box centre +- half encloses what it was made of.
struct CentredBox {
  Vec3 centre, half;
};

/// Its corners, rounded outwards, are floats: beside a coordinate near the largest float they may not be.
constexpr bool is_finite(const CentredBox& box) {
  const auto fits = [](float centre, float half) {
    return is_finite(round_down(double{centre} - half)) && is_finite(round_up(double{centre} + half));
  };
  return is_finite(box.centre) && is_finite(box.half) && fits(box.centre.x, box.half.x) &&
         fits(box.centre.y, box.half.y) && fits(box.centre.z, box.half.z);
}

/// The box around `box` after `at`, rounded outwards. Extents go by |rotation * scale|, so a negative scale cannot turn
/// the box inside out; a box given inside out is taken as it was meant.
/// Requires: all is finite.
CentredBox world_box(const Transform& at, const Aabb& box);

/// Radius of a sphere about `centre` (in the space around) that holds the sphere `local_centre`, `local_radius` of the
/// entity's space, rounded up.
float world_radius(const Transform& at, const Vec3& local_centre, float local_radius, const Vec3& centre);

}  // namespace meridian
