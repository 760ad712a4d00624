// SPDX-License-Identifier: MIT
#pragma once
/// A world in flight: mounts, layers, the streaming engine, type files, maps, groups and LOD sets as one thing that is
/// updated once a frame. Each part can be had alone; this ties them in the order that they need.
///
///   WorldStreaming streaming;
///   Status ready = streaming.init({.mounts = &mounts, .io = &io, .maps = &map_world});
///   ready = streaming.mount(base);                                      // a MountId of the mounts
///   for (bool flies = true; flies;) {
///     const StreamSource camera{.position = eye, .velocity = speed, .radius = 0};
///     ready = streaming.update({.sources = {&camera, 1}, .seconds = seconds, .max_microseconds = 500});
///     draw();
///   }
///   if (!streaming.maps().streamer().is_resident(town_square)) tell(streaming.explain_map(hash_name("town")));
///   streaming.shutdown();
///
/// Threads: main. The update must not run while the world is locked: it is refused then, and nothing is lost.
/// Memory:  in init() and mount(); with a RegionAllocator nothing calls malloc in flight.

#include <cstdint>
#include <span>

#include "meridian/map/explain.h"
#include "meridian/map/imap_group.h"
#include "meridian/map/map_store.h"
#include "meridian/map/map_types_store.h"
#include "meridian/map/map_world.h"
#include "meridian/map/world_layers.h"
#include "meridian/stream/stream_trace.h"
#include "meridian/stream/streaming.h"

namespace meridian {

struct WorldStreamingConfig {
  ResourceMounts* mounts = nullptr;  ///< not null, like io and maps; all outlive the streaming
  StreamIo* io = nullptr;
  MapWorld* maps = nullptr;  ///< initialised; brings the world, the scene and the archetypes
  StreamBudget budget{};
  uint32_t map_slots = 9000;     ///< [MapDataStore] [count]
  uint32_t types_slots = 4000;   ///< at most ArchetypeStoreConfig::types [MapTypesStore] [count]
  uint32_t max_maps = 0;         ///< loaded at once; 0: what MapWorldConfig::maps has room for [count]
  uint32_t max_layers = 32;      ///< [count]
  uint32_t max_resident = 8192;  ///< StreamingConfig::max_resident [count]
  uint32_t max_in_flight = 32;   ///< [count]
  uint8_t priority_cap = 3;
  StreamRetry retry{};
  BoxStreamerConfig streamer{};
};

struct WorldFrame {
  std::span<const StreamSource> sources{};
  std::span<const StreamSearch> searches{};
  float seconds = 0;              ///< since the last one [s]
  uint32_t max_microseconds = 0;  ///< as StreamUpdate
  uint32_t max_chunks = 0xFFFFFFFF;
};

/// How well maps keep up with the sources.
struct WorldStreamingStatistics {
  uint64_t late = 0;        ///< maps that a source was inside the range of before they were in the world [count]
  double late_seconds = 0;  ///< by how long, summed [s]
  double worst_late = 0;    ///< [s]
  NameHash worst_map{};     ///< whose
  uint32_t late_now = 0;    ///< [count]
};

class WorldStreaming {
 public:
  WorldStreaming() = default;
  ~WorldStreaming() { shutdown(); }
  WorldStreaming(const WorldStreaming&) = delete;
  WorldStreaming& operator=(const WorldStreaming&) = delete;

  /// More modules, such as drawables, are added to engine() after init() and before start(), which the first mount()
  /// calls. Requires: called once. Errors: bad_value, out_of_memory, and what the parts say.
  Status init(const WorldStreamingConfig& config, Allocator& allocator = default_allocator());
  /// Starts the engine. Errors: as StreamingEngine::start.
  Status start();
  /// All leaves, whatever is under way. Also twice, and before init(). Requires: the world is not locked.
  void shutdown();

  // --- layers ---

  /// Takes a mount's maps and type files into the world, over all others. What it overrides is read anew.
  /// `is_base`: it is never unmounted, and its permanent type files are so for good.
  /// Errors: as WorldLayers::add; bad_structure (type files need each other in a circle, which the log spells out).
  Status mount(MountId mount, bool is_base = false);
  /// Has all that came from a mount leave, then takes the mount away. It takes updates: is_unmounting().
  /// Errors: not_found, in_use (a base; another unmount is under way).
  Status begin_unmount(MountId mount);
  bool is_unmounting() const { return static_cast<bool>(unmounting_); }
  /// What the last try to unmount said: in_use while somebody else holds something of the mount.
  const Status& unmount_status() const { return unmount_status_; }
  /// Permanent type files that are still to come: a world is ready to fly through when there are none. [count]
  uint32_t permanent_left() const { return types_.permanent_left(engine_); }

  // --- frames ---

  /// Groups, new versions, what streams, LOD sets. Errors: in_use (the world is locked), bad_value (sources).
  Status update(const WorldFrame& frame, StreamProgress* progress = nullptr);
  /// All that the sources of the last update ask for is in the world, or has failed: a loading screen may go. What is
  /// asked for around other places is said by BoxStreamer::is_resident.
  bool is_settled() const;
  /// Hours for groups and for the scene. Errors: in_use (locked).
  Status set_hour(uint32_t hour);
  void set_weather(NameHash weather);

  /// Reads a map or a type file anew without a gap: the old version stays until the new one takes its place.
  /// Where that fails, or there is no room for both for MapStore::kRoomUpdates updates, the old one stays, and the log
  /// says why. Of a type file the new version has another slot: who knows the old one's index looks it up again.
  /// Errors: not_found, in_use (as MapStore::begin_reload), out_of_slots.
  Status reload_map(NameHash name);
  Status reload_types(NameHash name);

  // --- why is it not there? ---

  Explanation explain_map(NameHash name) const;
  Explanation explain_types(NameHash name) const;
  Explanation explain_archetype(NameHash name) const;
  /// Of an entity of a map, by its index in the file.
  Explanation explain_entity(NameHash map, uint32_t entity) const;
  /// Of any slot of the engine.
  Explanation explain(StreamIndex index) const;

  // --- records ---

  /// Writes down what goes through this object - updates, hours, weathers, reloads, swaps, pins, switches and unmounts
  /// - and what the engine sees. What is done to the parts directly is not in it. Null: stops. A frame with more than
  /// 64 sources or searches ends it, with a message.
  void set_recorder(StreamTraceWriter* writer);
  /// Replays a record until its end, or for one update. Requires: a world in the state in which recording began.
  /// False: nothing is left, or it has diverged.
  bool replay_update(StreamTraceReader& reader);

  // --- what records hold beside updates ---

  /// As MapGroups.
  Result<uint32_t> begin_swap(NameHash from, NameHash to, const SwapOptions& options = {});
  Status commit_swap(uint32_t swap);
  Status abort_swap(uint32_t swap);
  Status end_swap(uint32_t swap);
  Status set_active(NameHash name, bool active);
  /// As BoxStreamer: keeps an area wanted, until unpin().
  Result<PinId> pin(const Aabb& box);
  void unpin(PinId pin);

  StreamingEngine& engine() { return engine_; }
  const StreamingEngine& engine() const { return engine_; }
  MapStore& maps() { return maps_; }
  const MapStore& maps() const { return maps_; }
  MapTypesStore& types() { return types_; }
  MapGroups& groups() { return groups_; }
  const WorldLayers& layers() const { return layers_; }
  MapWorld& map_world() const { return *config_.maps; }
  const WorldStreamingStatistics& statistics() const { return statistics_; }
  /// What is late counts from now on.
  void reset_statistics();

 private:
  struct TypesReload {
    NameHash name{};
    uint32_t aside = kNoStreamSlot, before = kNoStreamSlot;  // once it is over: none, and what is to go
    uint32_t denied = 0;                                     // updates in which there was no room for it
  };
  static constexpr uint32_t kMaxTypesReloads = 4;
  // Tags of inputs in records.
  static constexpr uint32_t kTagFrame = 1, kTagHour = 2, kTagWeather = 3, kTagSwap = 4, kTagAbort = 5,
                            kTagReloadMap = 6, kTagReloadTypes = 7, kTagCommit = 8, kTagEnd = 9, kTagActive = 10,
                            kTagPin = 11, kTagUnpin = 12, kTagUnmount = 13;

  Status refresh();
  Status check_circles();
  void go_on_unmounting();
  void update_types_reloads();
  bool go_on_reloading(TypesReload& reload);
  bool has_left(uint32_t types);
  void count_late(std::span<const StreamSource> sources, float seconds);
  bool apply_input(uint32_t tag, std::span<const std::byte> data, bool& was_update);
  void record_frame(const WorldFrame& frame);
  void record_number(uint32_t tag, uint32_t value);
  void record_words(uint32_t tag, std::span<const uint32_t> words);

  WorldStreamingConfig config_{};
  Allocator* allocator_ = nullptr;
  WorldLayers layers_;
  StreamingEngine engine_;
  MapTypesStore types_;
  MapStore maps_;
  MapGroups groups_;
  MountId unmounting_;
  Status unmount_status_{};
  TypesReload types_reloads_[kMaxTypesReloads];
  uint32_t types_reload_count_ = 0;
  float* late_since_ = nullptr;  // by slot: how long a source waits for it; < 0: it does not
  uint32_t* late_ = nullptr;     // slots that a source waits for
  uint32_t late_count_ = 0;
  WorldStreamingStatistics statistics_{};
  StreamTraceWriter* recorder_ = nullptr;
};

}  // namespace meridian
