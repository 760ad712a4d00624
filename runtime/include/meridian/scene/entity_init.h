// SPDX-License-Identifier: MIT
#pragma once
/// From a definition in a map to a live entity, and from a live entity to its descriptor.
///
///   Entity lamp;
///   EntityMessages said;
///   const ArchetypeTraits traits = archetype_traits(definition, ArchetypeForm::base);
///   const DescStatus made = init_entity(lamp, entity, traits, /*archetype=*/nullptr, {.imap = 17, .messages = &said});
///   if (!is_made(made)) { /* leave it out */ }
///   EntityDesc desc;
///   describe(lamp, traits, desc);                       // what describe_entity() makes of the definition, bit by bit
///
/// Threads: main.
/// Memory:  none.

#include <cstdint>

#include "meridian/base/log.h"
#include "meridian/base/math.h"
#include "meridian/base/name_hash.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/entity.h"
#include "meridian/scene/entity_desc.h"

namespace meridian {

/// What init_entity said already, by archetype, so that each is said once. Memory: 4 KiB, inside.
struct EntityMessages {
  OnceSet scale, tint, occlusion, phases;
  void clear() { *this = EntityMessages(); }
};

/// What a definition does not say.
struct EntityInit {
  bool is_interior = false;            ///< an interior instance: its rotation is the orientation itself
  bool has_lod_set = false;            ///< a child in a LOD set, which gives the distance if the entity has none
  const Transform* outer = nullptr;    ///< of the interior that it stands in; null: it stands in the world
  ImapSlot imap = kNoImap;             ///< slot of the map
  NameHash map{};                      ///< name of the map, for messages
  EntityMessages* messages = nullptr;  ///< null: nothing is said
};

/// Sets all of an entity that its definition gives: place, distances, flags, where it is visible, tint, ambient
/// occlusion; owned by OwnedBy::ipl. Class, handle, container, visibility by modules, the host's objects stay as they
/// are. `archetype` may be null: the traits say all that is needed here. What is out of range is brought into it, and
/// told once for each archetype: a tint of 64 and more, occlusion beyond a byte, a scale of 4 and more or below 0,
/// "only in" and "not in" the same picture, where "not" wins.
///
/// Returns made, odd_scale, or why there can be no such entity: bad_position, bad_rotation, bad_scale, bad_distance;
/// the entity is then as it was, and telling is the caller's. The place of one inside an interior may become too large
/// for a float: bad_position.
/// Requires: the entity is attached to nothing, and nothing to it (asserted; otherwise bad_position).
DescStatus init_entity(Entity& entity, const schema::EntityDef& definition, const ArchetypeTraits& traits,
                       Archetype* archetype, const EntityInit& how);
/// The same with the traits of a loaded archetype.
DescStatus init_entity(Entity& entity, const schema::EntityDef& definition, Archetype& archetype,
                       const EntityInit& how);

/// For an entity that no map defines: of this archetype, here, seen in all pictures that the archetype allows, at the
/// archetype's draw distance, without a LOD parent. Class, handle, owner and hidings stay as they are.
/// Returns made, bad_position (not finite) or bad_distance; the entity is then as it was.
/// Requires: as init_entity.
DescStatus init_entity(Entity& entity, Archetype& archetype, const Transform& at);

/// The descriptor of an entity as it stands now. `link` is its place among LOD sets.
/// Returns made; bad_distance without a distance of its own or a set's, bad_bounds where its box is not finite: `out`
/// is then never visible.
DescStatus describe(const Entity& entity, const ArchetypeTraits& traits, const EntityLink& link, EntityDesc& out);
/// The same for one without a LOD set.
DescStatus describe(const Entity& entity, const ArchetypeTraits& traits, EntityDesc& out);

/// A handle as EntityDesc::handle holds it, and back. 0 is null.
constexpr uint64_t desc_handle(EntityHandle handle) { return uint64_t{handle.generation} << 32 | handle.slot; }
constexpr EntityHandle entity_handle(uint64_t handle) {
  return {static_cast<uint32_t>(handle >> 32), static_cast<uint32_t>(handle)};
}

}  // namespace meridian
