// SPDX-License-Identifier: MIT
#pragma once
/// What an archetype contributes to the entities that place it: class, bounds, draw distance and switches. Nothing else
/// of an archetype bears on descriptors, so the hash of these traits says whether cooked descriptors are still right.
///
///   const ArchetypeTraits lamp = archetype_traits(definition, ArchetypeForm::base);
///   const float distance = lod_distance(entity.lod_dist(), lamp.lod_distance);
///
/// Threads: immutable.
/// Memory:  none.

#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

namespace schema {
struct ArchetypeDef;
}

/// Which structure defines an archetype.
enum class ArchetypeForm : uint8_t {
  base = 0,
  time = 1,        ///< there at certain hours only
  interior = 2,    ///< rooms and portals
  composite = 3,   ///< changes from one model to another
  prop_list = 4,   ///< not an archetype: a list of props
  grass_list = 5,  ///< not an archetype: a batch of grass
};

/// What kind of entity is made. Values below 16 are ours; hosts register their own from 16 on. At most 31.
enum class EntityClass : uint8_t {
  building = 0,           ///< stands there and is drawn
  animated_building = 1,  ///< a building with a skeleton that moves
  dummy_object = 2,       ///< stands for an object until somebody is near enough to need it
  interior_instance = 3,  ///< a placed interior
  composite_entity = 4,
  prop_batch = 5,
  grass_batch = 6,
};
inline constexpr uint8_t kFirstHostClass = 16;

/// All that descriptors take from an archetype.
struct ArchetypeTraits {
  Aabb box;                 ///< of the model [m]
  Vec3 sphere_centre;       ///< of the model [m]; not in cooked descriptors, so not in the hash
  float sphere_radius = 0;  ///< [m]; likewise
  float lod_distance = 0;   ///< for entities without one of their own [m]
  uint32_t flags = 0;       ///< kTraitFlags of schema::ArchetypeFlags
  EntityClass entity_class = EntityClass::building;
  bool is_fragment = false;
  bool is_timed = false;  ///< hours apply, unless the entity ignores them
  bool animates = false;
};

/// The archetype flags that are kept in ArchetypeTraits: shadow_only, dont_cast_shadows, the two water proxies.
inline constexpr uint32_t kTraitFlags = 1u << 11 | 1u << 13 | 1u << 20 | 1u << 21;

/// Its skeleton moves: flag has_anim, and a clip dictionary to take the animation from.
bool archetype_animates(const schema::ArchetypeDef& definition);
/// It can be pushed, broken or opened: flag dynamic or enable_door_physics, or a fragment.
bool archetype_is_object(const schema::ArchetypeDef& definition);
/// Interiors, composites and lists by their form, whatever their flags say; then animated ones, objects, buildings.
EntityClass entity_class(const schema::ArchetypeDef& definition, ArchetypeForm form);

ArchetypeTraits archetype_traits(const schema::ArchetypeDef& definition, ArchetypeForm form);

/// XXH3-64 of what cooked descriptors take from the archetype; never 0. Equal bits, equal hash; -0 differs from 0.
uint64_t traits_hash(const ArchetypeTraits& traits);

/// The distance up to which an entity is drawn: its own if that is > 0, else the archetype's. 0 if what comes out is
/// not above 1 or not finite: such an entity could never be seen, and is left out.
constexpr float lod_distance(float own, float of_archetype) {
  const float distance = own > 0 ? own : of_archetype;
  return is_finite(distance) && distance > 1 ? distance : 0;
}

}  // namespace meridian
