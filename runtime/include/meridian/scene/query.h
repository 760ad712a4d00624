// SPDX-License-Identifier: MIT
#pragma once
/// What a search asks for: a volume, and which entities in it count.
///
///   EntityQuery near_camera{.volume = sphere_volume({10, 20, 5}, 30)};
///   near_camera.types = type_bit(EntityClass::building) | type_bit(EntityClass::dummy_object);
///   near_camera.levels = kHdLevels;
///   Status usable = check(near_camera);                 // bad_value if anything in it is infinite or NaN
///
/// An entity is in a volume if its world box touches it; boxes and volumes are closed, so touching a border is enough.
/// The box is that of its descriptor: [centre - half, centre + half], each corner rounded to the nearest float. For
/// frusta an entity counts unless its box lies wholly outside one of the planes. All else is exact: spheres, boxes
/// and segments in single precision and the order of operations that search/search.h gives; turned boxes and swept
/// spheres in double.
///
/// Threads: immutable.

#include <cstdint>

#include "meridian/base/geometry.h"
#include "meridian/base/math.h"
#include "meridian/base/status.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/entity_handle.h"

namespace meridian {

enum class VolumeKind : uint8_t { sphere, box, oriented_box, segment, swept_sphere, frustum };
inline constexpr uint32_t kMaxVolumePlanes = 8;

/// A closed piece of space. Make one with the functions below.
struct Volume {
  VolumeKind kind = VolumeKind::sphere;
  uint8_t plane_count = 0;  ///< of a frustum [0, kMaxVolumePlanes]
  float radius = 0;         ///< of a sphere, at rest or swept [>= 0] [m]
  Vec3 a;                   ///< centre; a box's smallest corner; where a segment or sweep begins [m]
  Vec3 b;                   ///< a box's largest corner; where a segment or sweep ends [m]
  Vec3 axes[3];             ///< of an oriented box: its half edges; need not be at right angles [m]
  Plane planes[kMaxVolumePlanes];
};

/// Requires, for all: finite numbers; check() says so. `radius` >= 0.
Volume sphere_volume(const Vec3& centre, float radius);
/// Requires: min <= max on each axis.
Volume box_volume(const Aabb& box);
/// The box [-half, half] turned by `at` and moved to its position. Scale counts.
Volume oriented_box_volume(const Transform& at, const Vec3& half);
/// `a` and `b` may be the same.
Volume segment_volume(const Vec3& a, const Vec3& b);
Volume swept_sphere_volume(const Vec3& a, const Vec3& b, float radius);
/// The planes of a camera or cascade, normals inwards, of any length but 0. Those beyond kMaxVolumePlanes are left out
/// (asserted).
Volume frustum_volume(const Plane* planes, uint32_t count);
/// The volume moved by `by`. Corners are rounded to the nearest float.
Volume moved(const Volume& volume, const Vec3& by);

/// Errors: bad_value (infinite or NaN; a negative radius; a box inside out; a plane without direction).
Status check(const Volume& volume);

constexpr uint32_t type_bit(EntityClass type) { return 1u << static_cast<unsigned>(type); }
inline constexpr uint32_t kAllTypes = 0xFFFFFFFF;

/// Bits 1 << schema::LodLevel.
inline constexpr uint8_t kHdLevels = 1 << 0 | 1 << 5;  ///< HD, ORPHANHD
inline constexpr uint8_t kAllLevels = 0x7F;
inline constexpr uint8_t kLodOnlyLevels = kAllLevels & ~kHdLevels;

enum class Movement : uint8_t {
  any,
  only_static,   ///< what maps place, and what a host added as static
  only_dynamic,  ///< what a host added as dynamic
};

/// Where an entity is, as bits.
inline constexpr uint8_t kInExterior = 1, kInInterior = 2, kAnywhere = 3;

/// Who asks; for statistics only.
enum class SearchModule : uint8_t { audio, standard, peds, portals, script, streaming, vehicles, debug, replay };
inline constexpr uint32_t kSearchModules = 9;

struct EntityQuery {
  Volume volume;
  uint32_t types = kAllTypes;    ///< union of type_bit
  uint8_t levels = kAllLevels;   ///< bits 1 << schema::LodLevel
  uint8_t location = kAnywhere;  ///< kInExterior, kInInterior or both; what straddles a portal is in both
  Movement movement = Movement::any;
  SearchModule module = SearchModule::standard;
  bool only_spawn_points = false;  ///< only entities that have spawn points
  bool only_visible = false;       ///< leave out hidden ones and those whose hour it is not
};

/// Errors: bad_value, see check(Volume).
Status check(const EntityQuery& query);

/// What came of a search into a caller's array.
struct SearchResult {
  uint32_t found = 0;   ///< entities that are in the volume [count]
  uint32_t stored = 0;  ///< of them in the array: min(found, its size) [count]
};

/// Called for each entity found. False ends the search.
using EntityVisitor = bool (*)(void* user, EntityHandle entity);

}  // namespace meridian
