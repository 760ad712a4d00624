// SPDX-License-Identifier: MIT
#pragma once
/// Type files (ITYP): brings the archetypes of an opened resource into an ArchetypeStore, and takes them away again.
///
///   ArchetypeStore store;
///   ExtensionRegistry effects;                              // of archetypes; entities have another one
///   Status status = store.init({.effects = &effects});
///   Result<Resource> types = open_resource(bytes, {.kind = kind_of("ITYP")});
///   if (types.ok()) status = load_map_types(store, types.value(), {.slot = 3, .file = hash_name("props")});
///   for (const Archetype* archetype : store.archetypes(3)) use(archetype->name());
///   status = unload_map_types(store, 3);                    // then the bytes may go
///
/// The archetypes of a structure lie in one array; all arrays of a file are taken before the first archetype is made.
/// Interiors and composite entities point into the resource.
///
/// Threads: main.
/// Memory:  as ArchetypeStore::open_types; stack < 4 KiB.

#include "meridian/base/status.h"
#include "meridian/entity/archetype_store.h"
#include "meridian/resource/resource.h"

namespace meridian {

/// Makes all archetypes of a type file, with their extensions, and publishes them: first the archetypes, then the
/// composite entities, each in the author's order. Left out with a message, each once: archetypes without a name or a
/// free slot, extensions of unknown structures or without room. Values are taken as they are: a box whose min is above
/// its max, a draw distance of 0.
/// Requires: the bytes of the resource outlive the types; slots as ArchetypeStore::open_types.
/// Errors:   wrong_kind (not an ITYP), and those of ArchetypeStore::open_types; the store is then as before.
Status load_map_types(ArchetypeStore& store, const Resource& resource, const TypesPlacement& placement);

/// The same bit by bit, so that a large file does not hold a frame up:
///
///   Status ready = begin_map_types(store, resource, {.slot = 3});
///   for (TypesProgress at; ready.ok() && !at.done;) at = step_map_types(store, resource, 3, at.made, 512);
///   if (ready.ok()) ready = store.publish_types(3);           // from here on its names count
///
/// Nothing is in force before it is published; close_types() gives up what is half made.
struct TypesProgress {
  uint32_t made = 0;  ///< archetypes and composite entities that were looked at [count]
  bool done = false;
};
/// Errors: as load_map_types.
Status begin_map_types(ArchetypeStore& store, const Resource& resource, const TypesPlacement& placement);
/// Requires: begun, with this resource; `from` is what the last step gave, 0 at first.
TypesProgress step_map_types(ArchetypeStore& store, const Resource& resource, ItypSlot slot, uint32_t from,
                             uint32_t max_archetypes);

/// Takes them away: all extensions, components and archetypes, then the arrays. The same as
/// ArchetypeStore::close_types.
/// Errors: in_use (nothing has changed): permanent, protected, or an archetype has references; not_found.
Status unload_map_types(ArchetypeStore& store, ItypSlot types);

}  // namespace meridian
