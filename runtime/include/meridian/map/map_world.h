// SPDX-License-Identifier: MIT
#pragma once
/// Where loaded maps become entities: ties the world, the scene, archetypes and extensions together, and keeps the
/// contents of maps and the interiors that they place.
///
///   World world;
///   SceneRepresentation scene;
///   ArchetypeStore store;                              // all three initialised
///   MapWorld maps;
///   Status ready = maps.init({.world = &world, .scene = &scene, .archetypes = &store});
///   ready = load_map_types(store, props, {.slot = 3});
///   const ItypSlot types[] = {3};
///   Result<MapContents*> town = load_map_data(maps, resource, {.slot = 17, .dependencies = types});
///   if (town.ok()) std::printf("%u entities", town.value()->created());
///   ready = unload_map_data(maps, *town.value());
///
/// Threads: main.
/// Memory:  pools of contents and interiors in init(); what a map brings in one block, an interior's in one and one for
///          each entity set that is on.

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/extension.h"
#include "meridian/core/pool.h"
#include "meridian/entity/archetype_store.h"
#include "meridian/entity/entity_host.h"
#include "meridian/entity/entity_init.h"
#include "meridian/entity/model_id.h"
#include "meridian/map/interior.h"
#include "meridian/map/map_contents.h"
#include "meridian/resource/resource.h"
#include "meridian/scene/scene_representation.h"
#include "meridian/scene/world.h"

namespace meridian {

/// Reads a definition into an extension that the registry made for it.
struct ExtensionReader {
  void (*read)(void* user, Extension& extension, Entity& entity, const schema::Extension& definition) = nullptr;
  void* user = nullptr;
};

struct MapWorldConfig {
  World* world = nullptr;                   ///< not null; all that is named here outlives the MapWorld
  SceneRepresentation* scene = nullptr;     ///< not null; one of the world's
  ArchetypeStore* archetypes = nullptr;     ///< not null
  ExtensionRegistry* extensions = nullptr;  ///< of entities, from pool factories; null: they get none
  ExtensionReader read_extension{};
  EntityHost host{};
  uint32_t maps = 1000;      ///< loaded at once [MapDataLoadedNode] [count]
  uint32_t interiors = 150;  ///< placed at once [InteriorInst] [<= kMaxInteriors] [count]
  MemoryTracker* tracker = nullptr;
};

/// What load_map_data needs to know beside the resource.
struct MapPlacement {
  ImapSlot slot = kNoImap;                   ///< of the map
  std::span<const ItypSlot> dependencies{};  ///< type files that its entities may be of; need not outlive the call
  MapContents* parent = nullptr;             ///< contents of the parent map, if it is loaded
  uint8_t priority_cap = 3;                  ///< entities of a higher schema::PriorityLevel are not made
  bool postponed = false;                    ///< everything is made, and shown only by show()
  NameHash name{};                           ///< for messages; 0: the name in the file
};

/// Entities that were left out since the start, by reason. [count]
struct MapStatistics {
  uint64_t created = 0;
  uint64_t missing_archetype = 0;  ///< in none of the type files that the map depends on
  uint64_t above_cap = 0;          ///< by MapPlacement::priority_cap; not told
  uint64_t bad_definition = 0;     ///< no rotation, scale, distance or box that could be used
  uint64_t blocks_copied = 0;      ///< maps whose cooked blocks were right
  uint64_t blocks_built = 0;       ///< maps whose blocks were made at load
};

class MapWorld final : private Representation {
 public:
  MapWorld() : Representation(0, 0) {}
  ~MapWorld() override { shutdown(); }
  MapWorld(const MapWorld&) = delete;
  MapWorld& operator=(const MapWorld&) = delete;

  /// Requires: called once; what must not be null is not (asserted; otherwise bad_value).
  /// Errors: out_of_memory, and what the world says.
  Status init(const MapWorldConfig& config, Allocator& allocator = default_allocator());

  const MapWorldConfig& config() const { return config_; }
  const MapStatistics& statistics() const { return statistics_; }
  uint32_t loaded_maps() const { return contents_.used(); }
  /// The contents in a slot, or null. Walks the loaded maps.
  MapContents* find(ImapSlot slot) const;
  /// Interiors that were placed, those that wait for nodes among them. Null: no such number.
  Interior* interior(int32_t number) const;
  uint32_t interior_count() const { return interiors_.used(); }
  /// The room that a point of the world is in, of the first interior that holds it; outside if none does. Asks each.
  InteriorLocation location_of(const Vec3& point) const;
  /// Tries again to give nodes to interiors that found none free. Call it when something left. The number that wait on.
  uint32_t retry_waiting();
  /// What was said once may be said again, as at the start of a session.
  void reset_messages();

 private:
  friend class MapContents;
  friend class Interior;
  friend Result<MapContents*> load_map_data(MapWorld&, const Resource&, const MapPlacement&);
  friend Status unload_map_data(MapWorld&, MapContents&);

  // The part of a representation that concerns maps: the origin moves.
  Status add(Entity&) override { return {}; }
  Status remove(Entity&) override { return {}; }
  Status update(Entity&) override { return {}; }
  void rebase(const Vec3&, const WorldOrigin&) override { place_all_anew(); }
  Status search(const EntityQuery&, std::span<EntityHandle>, SearchResult&) override { return {}; }

  void shutdown();
  void place_all_anew();
  void refresh_archetypes();
  bool is_changed(NameHash name) const;
  void add_changed(NameHash name);
  static void meaning_changed(void* user, NameHash name, Archetype* before, Archetype* now);

  MapWorldConfig config_;
  Allocator* allocator_ = nullptr;
  Pool<MapContents> contents_;
  Pool<Interior> interiors_;
  Interior* by_number_[kMaxInteriors] = {};
  MapStatistics statistics_;
  // Names that mean another archetype than that of entities: all if there are more than fit.
  static constexpr uint32_t kMaxChanged = 64;
  NameHash changed_[kMaxChanged] = {};
  uint32_t changed_count_ = 0;
  bool is_refresh_deferred_ = false;
  EntityMessages said_;
  OnceSet missing_, bad_, waiting_, counts_, rebuilt_;
};

/// Makes everything that a map brings: entities with their extensions, LOD links inside the map and to the parent,
/// interiors, and a node with containers of descriptors, which is shown unless it is postponed. Entities that cannot be
/// made are left out and told, each archetype once; the rest is as it should be.
/// Requires: a resource of kind IMAP, whose bytes outlive the contents.
/// Errors:   wrong_kind; out_of_memory; out_of_slots (nodes, containers, descriptors, groups or contents: the map waits
///           until something left); too_large. Nothing has changed then. A locked world delays only the showing, until the
///           unlock (World::defer; where that is full, until show() is called).
/// Memory:   one block, one for LOD links where blocks are built, and scratch that is given back.
Result<MapContents*> load_map_data(MapWorld& maps, const Resource& resource, const MapPlacement& placement);

/// Takes it all away again. Children of the map lose their LOD links to it, and stay.
/// Errors: in_use (the world is locked; nothing has changed).
Status unload_map_data(MapWorld& maps, MapContents& contents);

}  // namespace meridian
