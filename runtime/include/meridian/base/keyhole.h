// SPDX-License-Identifier: MIT
#pragma once
/// Key-hole shapes, seen from above: where around the camera may people and vehicles appear? Near by where the player
/// does not look, far away where he does. The key hole itself is what he may notice: a disc about him, and a wedge
/// ahead as far as he sees; things appear in a band around it.
///
///   KeyholeShape shape;                        // from the configuration of the population
///   const Keyhole around{{camera.x, camera.y}, {heading.x, heading.y}, cos_half_view, shape};
///   if (zone_of(around, {node.x, node.y}) == KeyholeZone::outer_ring) ...       // may appear here, far ahead
///   if ((zones_touched(around, {car.x, car.y}, car_radius) & kKeyholeSeen) == 0) ...  // no part of it is noticed
///
///             outer ring
///           .-----------.
///            \         /         The wedge opens by twice the half angle; to both sides of it stand the side walls,
///       wall  \ seen  /  wall    between the inner ring and the far end of the outer one.
///              \     /
///             .-'   '-.
///            ( seen o  ) inner ring
///             '-.___.-'
///
/// Borders belong to the shapes on both sides of them; zone_of takes the more noticeable one.
///
/// Threads: immutable.
/// Memory:  none.
/// Source:  own.

#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

/// A part of a ring: what is at least `inner_radius` and at most `outer_radius` from the centre, and within the half
/// angle of `direction`. An inner radius of 0 makes a wedge, a cosine of -1 the whole ring.
/// Functions require that fields are finite and in their ranges, and points finite.
struct RingSector {
  Vec2 centre;                   ///< [m]
  Vec2 direction{0, 1};          ///< of any length but 0
  float inner_radius = 0;        ///< [>= 0] [m]
  float outer_radius = 1;        ///< [>= inner_radius] [m]
  float cos_half_angle = -1.0f;  ///< [-1, 1]
};

/// Whether `point` is in the sector or on its border.
bool contains(const RingSector& sector, Vec2 point);
/// How far `point` is from the sector, 0 inside. [m]
float distance(const RingSector& sector, Vec2 point);
/// Whether a disc (the shadow of a sphere) touches the sector.
bool touches(const RingSector& sector, Vec2 centre, float radius);

/// Measures of a key hole: gameconfig's KeyholeShape fields. Thicknesses are counted outwards from the radii.
struct KeyholeShape {
  float inner_radius = 80;         ///< of the disc [>= 0] [m]
  float inner_thickness = 20;      ///< of the ring about it [>= 0] [m]
  float outer_radius = 185;        ///< of the wedge ahead [>= inner_radius] [m]
  float outer_thickness = 40;      ///< of the ring beyond it [>= 0] [m]
  float side_wall_thickness = 60;  ///< of the strips beside the wedge [>= 0] [m]
};

struct Keyhole {
  Vec2 centre;                  ///< [m]
  Vec2 direction{0, 1};         ///< ahead, of any length but 0
  float cos_half_angle = 0.5f;  ///< of the wedge, from the middle to a side [-1, 1]
  KeyholeShape shape;
};

/// Whether all of it is finite and within its ranges. Ask before using measures that come from data.
bool is_valid(const Keyhole& keyhole);

/// Bits, for zones_touched.
enum class KeyholeZone : uint32_t {
  outside = 0,
  seen_near = 1,   ///< in the disc
  seen_ahead = 2,  ///< in the wedge, beyond the disc
  outer_ring = 4,  ///< within the wedge's angle, beyond it
  inner_ring = 8,  ///< outside the wedge's angle, around the disc
  side_wall = 16,  ///< beside the wedge, beyond the inner ring
};
inline constexpr uint32_t kKeyholeSeen = 1 | 2;       ///< the key hole itself
inline constexpr uint32_t kKeyholeBand = 4 | 8 | 16;  ///< where things may appear

/// The zone that `point` is in; where several meet, the first in the order above. A point that is not
/// finite is outside.
/// Requires: is_valid(keyhole).
KeyholeZone zone_of(const Keyhole& keyhole, Vec2 point);

/// Bits of all zones that a disc (the shadow of a sphere) touches; 0: it is outside. With radius 0 at least the bit of
/// zone_of. A side wall is taken as a rectangle along the wedge, from the disc to the far end of the outer ring, so its
/// outer end is a little longer than zone_of's, and its inner end may be inside the inner ring: never too few bits.
/// Requires: is_valid(keyhole); radius >= 0.
uint32_t zones_touched(const Keyhole& keyhole, Vec2 centre, float radius);

}  // namespace meridian
