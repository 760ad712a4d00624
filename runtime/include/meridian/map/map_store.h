// SPDX-License-Identifier: MIT
#pragma once
/// The streaming module of maps: where which map is wanted (a box streamer of its own), what it needs, how its entities
/// come into the world and leave it.
///
///   MapStore maps;
///   Status ready = maps.init({.layers = &layers, .types = &types, .world = &map_world, .engine = &engine});
///   ready = engine.add_module(maps, {.slots = maps.capacity(), .max_loaded = 1000, .leaves_at_once = true});
///   ready = engine.start();
///   ready = maps.refresh();                                  // after each change of the layers
///   ready = maps.update(sources, {}, seconds);               // before engine.update()
///   const bool safe = maps.streamer().is_resident(town_square);
///
/// A slot knows its boxes, its parent and the type files that it needs from the index, without its file. A map that is
/// *manual* streams only while it is active (set_active); maps of groups follow hours, weather and swaps
/// (map/imap_group.h). The parent is asked for first, and bound whenever both are there.
///
/// Threads: main; prepare on loader threads.
/// Memory:  about 40 bytes a slot in init(), and those of the box streamer; maps as load_map_data says.

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/map/map_types_store.h"
#include "meridian/map/map_world.h"
#include "meridian/map/world_layers.h"
#include "meridian/stream/box_streamer.h"
#include "meridian/stream/named_module.h"
#include "meridian/stream/streaming.h"

namespace meridian {

/// What a slot has, before and after its file is read.
enum class MapInit : uint8_t {
  not_initialised,   ///< no layer knows it
  requires_preload,  ///< the index says where it is and what it needs; its contents are not loaded
  fully_initialised,
};

/// Why a map does not stream by position.
enum class MapOff : uint8_t {
  undefined = 1 << 0,    ///< no mount has it
  manual = 1 << 1,       ///< streams only while it is active
  group = 1 << 2,        ///< its group is off at this hour or in this weather
  swapped_out = 1 << 3,  ///< another map stands in its place
  aside = 1 << 4,        ///< a new version that is not in force yet
};

struct MapStoreConfig {
  const WorldLayers* layers = nullptr;  ///< not null, like all pointers here; all outlive the store
  MapTypesStore* types = nullptr;
  MapWorld* world = nullptr;
  StreamingEngine* engine = nullptr;
  uint32_t slots = 9000;            ///< [MapDataStore] [count]
  uint32_t entities_a_step = 1024;  ///< of one chunk [count]
  uint8_t priority_cap = 3;         ///< MapPlacement::priority_cap
  BoxStreamerConfig streamer{};     ///< capacity is set from `slots`
};

class MapStore final : public NamedModule, private BoxStreamerTarget {
 public:
  static constexpr uint32_t kMaxReloads = 8;
  static constexpr uint32_t kRoomUpdates = 60;  ///< that a new version waits for room

  MapStore() : NamedModule("MapDataStore") {}
  ~MapStore() override { free_slots(); }
  MapStore(const MapStore&) = delete;
  MapStore& operator=(const MapStore&) = delete;

  /// Requires: called once, before start() of the engine. Errors: bad_value, out_of_memory.
  Status init(const MapStoreConfig& config, Allocator& allocator = default_allocator());
  const MapStoreConfig& config() const { return config_; }

  /// The layers changed: gives new maps slots, boxes and dependencies, has those leave whose version is another now,
  /// and frees what no layer knows. Errors: out_of_slots, out_of_memory (the rest is as it should be).
  Status refresh();
  /// A layer is about to leave: its tree goes. refresh() follows.
  void remove_tree(LayerId layer);
  /// Frees all slots: no layer is left. Requires: the engine is shut down.
  void forget_all();

  /// Once a frame, before the engine's. Errors: as BoxStreamer::update.
  Status update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches, float seconds);

  // --- what is known of a slot ---

  MapInit init_state(uint32_t slot) const;
  /// What the highest layer says of it. It stays until the layers change.
  const MapDefinition& definition(uint32_t slot) const { return maps_[slot].definition; }
  uint32_t content_flags(uint32_t slot) const { return is_known(slot) ? maps_[slot].definition.row->content_flags : 0; }
  bool is_manual(uint32_t slot) const;
  bool is_parent(uint32_t slot) const;
  /// The slot of its parent, or kNoStreamSlot.
  uint32_t parent_slot(uint32_t slot) const;
  bool is_off(uint32_t slot) const { return slot < config_.slots && maps_[slot].off != 0; }
  bool is_off(uint32_t slot, MapOff why) const {
    return slot < config_.slots && (maps_[slot].off & static_cast<uint8_t>(why)) != 0;
  }
  /// Null unless it is loaded, shown or not; half loaded ones are not.
  MapContents* contents(uint32_t slot) const;
  bool is_in_world(uint32_t slot) const { return slot < config_.slots && maps_[slot].is_in_world; }

  // --- switches ---

  /// A manual map streams like others from now on, or no longer. Errors: not_found (no such map), bad_value (not
  /// manual).
  Status set_active(NameHash name, bool active);
  void set_off(uint32_t slot, MapOff why, bool off);
  /// Whether its group is on, for all maps at once: marks those of groups that are off, then sets MapOff::group.
  void mark_group_off(uint32_t slot) { maps_[slot].is_marked = true; }
  void apply_group_marks();
  /// What is placed from now on is not shown until show_now(). For swaps.
  void set_postponed(uint32_t slot, bool postponed);
  bool is_postponed(uint32_t slot) const { return maps_[slot].is_postponed; }
  /// LOD sets wait for its entities: it streams, and is shown when it is there.
  bool is_counted(uint32_t slot) const {
    return slot < config_.slots && maps_[slot].off == 0 && !maps_[slot].is_postponed;
  }
  /// Shows or hides what is loaded, and tells the streamer. Errors: as MapContents::show and hide.
  Status show_now(uint32_t slot, bool shown);

  // --- new versions ---

  /// Reads a map anew, beside the old version, which stays until the new one can take its place in one update. Where
  /// that fails, the old one stays, and the log says why; so it does where there is no room for both for kRoomUpdates
  /// updates. Nothing that is wanted gives way to a new version. A map that is not loaded only forgets its bytes.
  /// Errors: not_found, in_use (its reload is under way, or the old version has not gone yet), out_of_slots.
  Status begin_reload(NameHash name);
  uint32_t reloads_under_way() const { return reload_count_; }
  uint64_t reloads_done() const { return reloads_done_; }
  uint64_t reloads_failed() const { return reloads_failed_; }
  /// Swaps versions that are ready, and tells LOD sets which maps are switched on. Once a frame, while the world is not
  /// locked.
  void update_reloads();

  BoxStreamer& streamer() { return streamer_; }
  const BoxStreamer& streamer() const { return streamer_; }
  StreamingEngine& engine() const { return *config_.engine; }

  // --- StreamModule ---

  ResourceLocation locate(uint32_t slot) const override { return where(slot); }
  StreamCost cost(uint32_t slot) const override { return costs(slot); }
  uint32_t dependencies(uint32_t slot, std::span<StreamDependency> out) const override { return needs(slot, out); }
  float distance(uint32_t slot) const override { return streamer_.distance(slot); }
  bool has_priority(uint32_t slot) const override { return streamer_.is_near(slot); }
  Status prepare(uint32_t slot, StreamPayload& payload) const override { return open(slot, payload); }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override { return make(slot, payload); }
  StreamStep remove(uint32_t slot) override { return take_away(slot); }

 private:
  struct Map {
    MapDefinition definition;
    MapContents* contents = nullptr;
    uint8_t off = 0;
    bool is_postponed = false, is_in_world = false, is_done = false;
    bool is_marked = false, needs_recount = false;
  };
  struct Tree {
    LayerId layer = 0;
    BoxTreeId id;
  };
  struct Reload {
    uint32_t slot = kNoStreamSlot, aside = kNoStreamSlot;
    uint32_t denied = 0;   // updates in which there was no room for it
    bool is_over = false;  // swapped or given up: what is left in `aside` goes
  };

  // BoxStreamerTarget
  bool is_idle(uint32_t slot) override { return config_.engine->is_idle(index(slot)); }
  void request(uint32_t slot, bool /*priority*/) override {
    config_.engine->keep(index(slot), StreamKeeper::box_streamer);  // has_priority() says how it is now
  }
  void keep(uint32_t slot) override { config_.engine->keep(index(slot), StreamKeeper::box_streamer); }
  void release(uint32_t slot) override { config_.engine->drop(index(slot), StreamKeeper::box_streamer); }

  bool is_known(uint32_t slot) const { return slot < config_.slots && bool(maps_[slot].definition); }
  Status add_layer(const WorldLayers::Layer& layer);
  Status add_boxes(const WorldLayers::Layer& layer);
  void refresh_slot(uint32_t slot);
  ResourceLocation where(uint32_t slot) const;
  StreamCost costs(uint32_t slot) const;
  uint32_t needs(uint32_t slot, std::span<StreamDependency> out) const;
  static Status open(uint32_t slot, StreamPayload& payload);
  StreamStep make(uint32_t slot, const StreamPayload& payload);
  StreamStep begin(uint32_t slot, const StreamPayload& payload);
  StreamStep finish(uint32_t slot);
  StreamStep take_away(uint32_t slot);
  void set_in_world(uint32_t slot, bool in_world);
  Status bind_children(uint32_t slot);
  void refresh_aside(uint32_t slot);
  void recount(uint32_t slot);
  bool go_on_reloading(Reload& reload);
  bool has_left(const Reload& reload);
  void give_up(Reload& reload, const Status& why);
  Status swap_versions(const Reload& reload);
  void end_reload(uint32_t at);
  void free_slots();

  MapStoreConfig config_{};
  Map* maps_ = nullptr;
  BoxStreamer streamer_;
  Tree trees_[256];
  uint32_t tree_count_ = 0;
  Reload reloads_[kMaxReloads];
  uint32_t reload_count_ = 0;
  uint64_t reloads_done_ = 0, reloads_failed_ = 0;
  bool any_recount_ = false;  // something changed under a lock
  mutable OnceSet missing_;
};

}  // namespace meridian
