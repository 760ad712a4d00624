// SPDX-License-Identifier: MIT
#pragma once
/// Which maps are there, but not loaded? A search of a scene finds what is in memory. Whoever must know whether that is
/// all asks here: maps whose box in a world index is in a volume, and which are not resident.
///
///   const IndexedMaps trees[] = {{world.entities_tree(), resident_bits}};
///   UnloadedMap missing[32];
///   SearchResult result;
///   const Status done = search_unloaded(trees, sphere_volume(camera, 30.0f), WorldOrigin{}, missing, result);
///   for (uint32_t i = 0; i < result.stored; ++i) request(world.maps()[missing[i].slot]);
///
/// "In" means the same as in search/search.h, with a map's box for an entity's.
///
/// A world that was moved (World::rebase) leaves its indices where they are: the volume is moved back instead, by the
/// world's origin, in double precision, and its corners are rounded to the nearest float.
///
/// Threads: reentrant.
/// Memory:  none; stack < 3 KiB.
/// Source:  own.

#include <cstdint>
#include <span>

#include "meridian/base/status.h"
#include "meridian/base/world_origin.h"
#include "meridian/scene/query.h"
#include "meridian/stream/box_tree.h"

namespace meridian {

/// The maps of one index, and which of them are resident.
struct IndexedMaps {
  BoxTree tree;                        ///< items are map slots
  std::span<const uint64_t> resident;  ///< bit slot % 64 of word slot / 64; what lies beyond is not resident
};

/// A map that is not resident.
struct UnloadedMap {
  uint32_t tree = 0;  ///< index of its IndexedMaps
  uint32_t slot = 0;  ///< in its index
  friend bool operator==(const UnloadedMap&, const UnloadedMap&) = default;
};

/// Finds the maps that are in `volume`, a volume of the world as it is now, and whose bit is clear. Tree by tree;
/// within one the order is open, but is the same for the same tree. Otherwise as search_scene.
/// Errors: bad_value (see check(Volume); `origin` is infinite or NaN, or moves the volume beyond all floats).
Status search_unloaded(std::span<const IndexedMaps> trees, const Volume& volume, const WorldOrigin& origin,
                       std::span<UnloadedMap> out, SearchResult& result);

}  // namespace meridian
