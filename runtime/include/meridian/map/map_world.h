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
/// A large map takes longer than a frame may. Loading by steps does the same work in pieces, and shows nothing until it
/// is all there:
///
///   Result<MapContents*> city = begin_map_load(maps, resource, {.slot = 18, .dependencies = types});
///   while (city.ok() && city.value()->is_loading()) {                                     // once a frame, say
///     const Result<MapLoadProgress> step = step_map_load(maps, *city.value(), /*max_entities=*/1024);
///     if (!step.ok() && step.status().code != StatusCode::in_use) return step.status();   // the map is gone
///   }
///   if (city.ok()) ready = city.value()->show();
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
#include "meridian/entity/model_id.h"
#include "meridian/map/interior.h"
#include "meridian/map/map_contents.h"
#include "meridian/resource/resource.h"
#include "meridian/scene/entity_init.h"
#include "meridian/scene/lod_set.h"
#include "meridian/scene/scene_representation.h"
#include "meridian/scene/world.h"
#include "meridian/visibility/occluder_set.h"

namespace meridian {

class MapLodSets;

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
  uint32_t lod_sets = 16384;       ///< LOD parents in the world at once; others' children fade alone [count]
  float lod_ramp_seconds = 0.25f;  ///< in which children are faded in; 0: at once [>= 0] [s]
  /// Whether LOD sets wait for the children in a map: not where it comes only when asked for, or is swapped for another
  /// one. Null: for all. A different answer than before is told by MapWorld::recount.
  bool (*is_counted)(void* user, NameHash map) = nullptr;
  void* is_counted_user = nullptr;
  /// Gets the occluders of maps that are shown, by slot, and loses them as they are hidden. While it is held, maps are
  /// neither shown nor hidden nor unloaded: in_use, as where the world is locked. Null: nobody needs them.
  OccluderSet* occluders = nullptr;
};

/// What load_map_data needs to know beside the resource.
struct MapPlacement {
  ImapSlot slot = kNoImap;                   ///< of the map
  std::span<const ItypSlot> dependencies{};  ///< type files that its entities may be of; need not outlive the call
  MapContents* parent = nullptr;             ///< contents of the parent map, if it is loaded
  uint8_t priority_cap = 3;                  ///< entities of a higher schema::PriorityLevel are not made
  bool postponed = false;                    ///< everything is made, and shown only by show(); as steps always do
  bool aside = false;  ///< a new version for MapWorld::replace(): until then, its LOD links bind nothing
  NameHash name{};     ///< for messages; 0: the name in the file
};

/// Entities that were left out since the start, by reason. [count]
struct MapStatistics {
  uint64_t created = 0;
  uint64_t missing_archetype = 0;  ///< in none of the type files that the map depends on
  uint64_t above_cap = 0;          ///< by MapPlacement::priority_cap; not told
  uint64_t bad_definition = 0;     ///< no rotation, scale, distance or box that could be used
  uint64_t blocks_copied = 0;      ///< maps whose cooked blocks were right
  uint64_t blocks_built = 0;       ///< maps whose blocks were made at load
  uint64_t batches = 0;            ///< entities that stand for lists of grass and props; not among `created`
  uint64_t restarts = 0;           ///< loads by steps that had to begin anew
};

/// What a step did.
struct MapLoadProgress {
  uint32_t handled = 0;  ///< entities, each as often as a pass handled it [count]
  bool done = false;     ///< the map is loaded
};

/// Is told before the entities of a map go, while all of them are there: to take what belongs to somebody else out of
/// them. It may look up, hide and destroy entities, and must not unload the map.
struct MapUnloadListener {
  void (*function)(void* user, MapContents& contents) = nullptr;
  void* user = nullptr;
  ImapSlot slot = kNoImap;  ///< the map that it waits for; kNoImap: any
  friend bool operator==(const MapUnloadListener&, const MapUnloadListener&) = default;
};
inline constexpr uint32_t kMaxUnloadListeners = 32;

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
  /// All that are loaded or load. In no order.
  Pool<MapContents>& all_contents() { return contents_; }
  const Pool<MapContents>& all_contents() const { return contents_; }
  /// A new version of a map, loaded with MapPlacement::aside, takes the place of the old one: its slot, its children,
  /// its LOD links, and its place in the world if that is shown. Listeners are told that the old one's entities go; it
  /// is hidden and aside then, in the other's slot, and its unloading is told to nobody any more.
  /// LOD sets of children stay as ready as they were; those whose parents are in the map itself are new, and fade in.
  /// Errors: in_use (locked; one of them loads): nothing has changed.
  Status replace(MapContents& old, MapContents& now);
  /// A type file has another slot now: maps that load go on with it.
  void move_dependencies(ItypSlot from, ItypSlot to);
  /// MapWorldConfig::is_counted from now on; recount() tells what changed.
  void set_map_filter(bool (*is_counted)(void* user, NameHash map), void* user) {
    config_.is_counted = is_counted;
    config_.is_counted_user = user;
  }
  /// Maps can neither come into the world nor leave it: the scene is locked, or MapWorldConfig::occluders are held.
  bool is_busy() const;
  /// The contents in a slot, or null. Walks the loaded maps.
  MapContents* find(ImapSlot slot) const;
  /// Interiors that were placed, those that wait for nodes among them. Null: no such number.
  Interior* interior(int32_t number) const;
  uint32_t interior_count() const { return interiors_.used(); }
  /// The room that a point of the world is in, of the first interior that holds it; outside if none does. Asks each.
  InteriorLocation location_of(const Vec3& point) const;
  // --- LOD sets ----------------------------------------------------------------------------------------
  // A set is ready when its children are there and can be drawn: those in the maps that the parent map lists, each
  // shown and bound to it, without those that were left out, hidden, or out of hours. A set of a map that nobody linked
  // has the children that the map itself holds. A set without any child is never ready.

  /// Records of all LOD sets whose parents are in the world. Threads: readers.
  const LodSetTable& lod_sets() const { return lod_sets_; }
  /// Once a frame, outside the lock: fades children in, and asks EntityHost::is_ready for sets that lack nothing else.
  /// Requires: seconds >= 0 (asserted; otherwise nothing). Errors: in_use (locked, which is asserted).
  Status update_lod_sets(float seconds);
  /// The host's answer for an entity turned to no, or one that it is not ready for is not hidden any more: its parent
  /// comes back at once. Nothing happens for entities without a parent. Errors: as above.
  Status refresh_lod_set(const Entity& entity);
  /// The answer of MapWorldConfig::is_counted for a map is another one now. Errors: as above.
  Status recount(NameHash map);
  /// From now on nobody looks whether sets are ready, until release: maps that change places at once leave a set that
  /// is ready before and after as it is. Counted. Requires: no update_lod_sets() in between.
  void hold_lod_sets();
  void release_lod_sets();

  /// Tries again to give nodes to interiors that found none free. Call it when something left. The number that wait on.
  uint32_t retry_waiting();
  /// Listeners are told in the order in which they came: where a map is unloaded, and where a load that the host was
  /// told of fails, is given up, or begins anew; not for maps whose entities nobody was told of.
  /// Requires: a function (asserted; otherwise bad_value).
  /// Errors: out_of_slots after kMaxUnloadListeners, in_use if it is one already.
  Status add_unload_listener(const MapUnloadListener& listener);
  /// Also from inside a listener. Requires: it was added (asserted).
  void remove_unload_listener(const MapUnloadListener& listener);
  /// What was said once may be said again, as at the start of a session.
  void reset_messages();

 private:
  friend class MapLodSets;
  friend class MapContents;
  friend class Interior;
  friend Result<MapContents*> load_map_data(MapWorld&, const Resource&, const MapPlacement&);
  friend Result<MapContents*> begin_map_load(MapWorld&, const Resource&, const MapPlacement&);
  friend Result<MapLoadProgress> step_map_load(MapWorld&, MapContents&, uint32_t);
  friend Status unload_map_data(MapWorld&, MapContents&);

  // The part of a representation that concerns maps: the origin moves.
  Status add(Entity&) override { return {}; }
  Status remove(Entity&) override { return {}; }
  Status update(Entity&) override { return {}; }
  void rebase(const Vec3&, const WorldOrigin&) override { place_all_anew(); }
  Status search(const EntityQuery&, std::span<EntityHandle>, SearchResult&) override { return {}; }

  void shutdown();
  void add_occluders(const MapContents& contents);
  void remove_occluders(const MapContents& contents);
  void place_all_anew();
  void refresh_archetypes();
  bool is_changed(NameHash name) const;
  void add_changed(NameHash name);
  Status check_lod_sets() const;
  void tell_leaving(MapContents& contents);
  void destroy(MapContents& contents);
  static void meaning_changed(void* user, NameHash name, Archetype* before, Archetype* now);
  static void meanings_settled(void* user);

  MapWorldConfig config_;
  Allocator* allocator_ = nullptr;
  Pool<MapContents> contents_;
  Pool<Interior> interiors_;
  LodSetTable lod_sets_;
  MapLodSets* lod_ = nullptr;
  Interior* by_number_[kMaxInteriors] = {};
  MapContents* first_loading_ = nullptr;  // of those that load step by step
  MapUnloadListener unload_listeners_[kMaxUnloadListeners];
  uint32_t unload_listener_count_ = 0;
  MapStatistics statistics_;
  // Names that mean another archetype than that of entities: all if there are more than fit.
  static constexpr uint32_t kMaxChanged = 64;
  NameHash changed_[kMaxChanged] = {};
  uint32_t changed_count_ = 0;
  bool is_refresh_due_ = false;  // one of them means something
  bool is_refresh_deferred_ = false;
  EntityMessages said_;
  OnceSet missing_, bad_, waiting_, counts_, rebuilt_, occluders_;
};

/// Makes everything that a map brings: entities with their extensions, LOD links inside the map and to the parent,
/// interiors, and a node with containers of descriptors, which is shown unless it is postponed. Entities that cannot be
/// made are left out and told, each archetype once; the rest is as it should be.
/// Requires: a resource of kind IMAP, whose bytes outlive the contents.
/// Errors:   wrong_kind; out_of_memory; out_of_slots (nodes, containers, descriptors, groups or contents: the map waits
///           until something left); too_large. Nothing has changed then. A locked world delays only the showing, until
///           the unlock (World::defer; where that is full, until show() is called).
/// Memory:   one block, one for LOD links where blocks are built, and scratch that is given back.
Result<MapContents*> load_map_data(MapWorld& maps, const Resource& resource, const MapPlacement& placement);

/// The same in steps. Takes memory for it, and makes nothing yet; find() knows the contents from now on. It is never
/// shown before show(): `postponed` has no say. The parent may leave meanwhile, and come by bind_parent.
/// Requires: as load_map_data. Errors: wrong_kind, in_use (a map is in the slot; the parent is loading itself),
///           out_of_memory, out_of_slots (contents).
/// Memory:   one block of scratch until it is done: 6 KiB, 34 bytes an entity, and 131 more where blocks are built.
///           Where the linker's blocks turn out not to be right, one more.
Result<MapContents*> begin_map_load(MapWorld& maps, const Resource& resource, const MapPlacement& placement);

/// Goes on with a load. When it is done, the contents are as load_map_data makes them in one go for placements that are
/// postponed. Meanwhile anything may happen: what has come to nothing by it - archetypes that names mean, the world's
/// origin, the LOD parent - is made again from the beginning, and the host is told so of entities that it knew.
///
/// A step handles `max_entities` entities in all its passes together. What cannot be cut, and so may be more, has a
/// step to itself then: one interior, one container of the linker's blocks (kContainerSlots descriptors are copied),
/// and where blocks are built, finding the LOD sets (0.1 us an entity) and ordering the descriptors (0.3 us) of the
/// whole map.
/// A map that is loaded is done, and stays as it is.
/// Requires: max_entities > 0 (asserted; otherwise 1); not from inside another step of the map (asserted; otherwise
///           in_use).
/// Errors:   in_use (the world is locked, and the load must begin anew): nothing has changed, try again after the
///           unlock. Otherwise out_of_memory, out_of_slots, too_large, bad_value as load_map_data: the map is taken
///           back, and `contents` is no more.
Result<MapLoadProgress> step_map_load(MapWorld& maps, MapContents& contents, uint32_t max_entities);

/// Takes it all away again, also what is loaded by half. Children of the map lose their LOD links to it, and stay.
/// Requires: not from inside a step of the map or a listener that is told of it (asserted; otherwise in_use).
/// Errors: in_use (the world is locked; nothing has changed).
Status unload_map_data(MapWorld& maps, MapContents& contents);

}  // namespace meridian
