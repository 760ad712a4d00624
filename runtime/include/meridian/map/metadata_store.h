// SPDX-License-Identifier: MIT
#pragma once
/// Metadata: resources of whatever root type the program reads, used where they lie. They are loaded by name, or by
/// where one is, for those that were given a box.
///
///   ResourceMounts mounts;
///   StreamingEngine engine;
///   const MetaDataKind kinds[] = {{.kind = kind_of("WPNS"), .schema = current_schema}};
///   MetaDataStore metadata;
///   Status ready = metadata.init({.slots = 6000, .mounts = &mounts, .engine = &engine, .kinds = kinds}, allocator);
///   ready = engine.add_module(metadata, {.slots = metadata.capacity()});
///
///   const Result<uint32_t> weapons = metadata.add(hash_name("weapons"));
///   engine.keep(metadata.index(weapons.value()), StreamKeeper::code);
///   ready = metadata.make_streamable(hash_name("harbour"), {{0, 0, 0}, {100, 100, 20}});
///   const StreamSource player{.id = 1, .position = position, .velocity = {}};
///   ready = metadata.update({&player, 1}, {}, 1 / 60.0f);                // before engine.update()
///   if (const Resource* there = metadata.get(weapons.value())) {         // null until it is loaded
///     const auto* const root = there->root<schema::MapData>();           // the generated type of the kind
///   }
///
/// A resource that was written by another layout is converted on the loader thread, if a schema of it is at hand: its
/// own, embedded one, or what the host gives. That costs memory and time, and the log names it once: compile it again.
///
/// Loose XML needs nothing here: mount what compiles it (SourceProvider).
///
/// No slot streams by position until make_streamable() says so. Its boxes are looked at one by one, so there may be
/// hundreds, not thousands.
///
/// Threads: main; checks and conversions run on loader threads, for different slots at once.
/// Memory:  about 140 bytes a slot, and what BoxStreamer takes for boxes, in init(). Conversions from an allocator of
///          their own, which budgets do not count.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/resource/resource.h"
#include "meridian/stream/asset_store.h"
#include "meridian/stream/box_streamer.h"
#include "meridian/stream/named_module.h"

namespace meridian {

class StreamingEngine;

/// What gameconfigs call the store.
inline constexpr StoreSize kMetaDataStore{"MetaDataStore", 1000};

/// A root type that the program reads.
struct MetaDataKind {
  uint32_t kind = 0;
  /// .bfbs bytes of the schema that it is read by; empty: the built-in one of the kind. Outlives the store.
  std::span<const std::byte> schema{};
};

struct MetaDataStoreConfig {
  uint32_t slots = 0;                      ///< [count]
  const ResourceMounts* mounts = nullptr;  ///< not null, like engine
  StreamingEngine* engine = nullptr;       ///< that it is, or will be, a module of
  std::span<const MetaDataKind> kinds{};   ///< a name is looked for in this order [1, kMaxKinds]; copied
  Allocator* conversion_memory = nullptr;  ///< for any thread; null: default_allocator(). Outlives the store
  /// Optional, on loader threads: the schema (.bfbs bytes) of a layout that files of this kind were written by; empty
  /// if it is not known. Asked where the file has none embedded.
  std::span<const std::byte> (*schema_of)(void* user, uint32_t kind, uint64_t layout_fingerprint) = nullptr;
  void* user = nullptr;
  uint32_t max_boxes = 256;  ///< of slots that stream by position [count]
};

class MetaDataStore final : public NamedModule, private BoxStreamerTarget {
 public:
  static constexpr uint32_t kMaxKinds = 32;
  static constexpr float kPreStreamDistance = 50;  ///< boxes so near are loaded [m]
  static constexpr float kPriorityRadius = 30;     ///< those so near come first [m]

  MetaDataStore() : NamedModule(kMetaDataStore.module) {}
  ~MetaDataStore() override { release_all(); }
  MetaDataStore(const MetaDataStore&) = delete;
  MetaDataStore& operator=(const MetaDataStore&) = delete;

  /// Requires: called once; mounts and engine (asserted; otherwise in_use, bad_value).
  /// Errors: bad_value (slots; kinds: none, too many, one without schema that is not built in; detail = the kind),
  /// bad_schema, out_of_memory.
  Status init(const MetaDataStoreConfig& config, Allocator& allocator = default_allocator());

  /// Null unless it is loaded.
  const Resource* get(uint32_t slot) const {
    return slot < capacity() && records_[slot].is_placed ? &records_[slot].resource : nullptr;
  }
  /// The same, also where no slot has the name.
  const Resource* find_resource(NameHash name) const { return get(find(name)); }
  /// As NamedModule::free_slot; its box goes too.
  void free_slot(uint32_t slot);

  // --- by position ---

  /// From now on it is loaded where something is near. Makes a slot if the name has none; replaces its box.
  /// Errors: out_of_slots (slots, boxes), bad_value (the box is inside out or not finite).
  Status make_streamable(NameHash name, const Aabb& box);
  /// Takes that back; what is loaded for it may go after the next update. False: no slot, or it was not streamable.
  bool stop_streaming(NameHash name);
  bool is_streamable(uint32_t slot) const { return slot < capacity() && !streamer_.is_ignored(slot); }
  /// Once a frame, before the engine's update: asks for what is near, and gives up conversions that nobody uses.
  /// Errors: as BoxStreamer::update.
  Status update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches, float seconds);
  const BoxStreamer& streamer() const { return streamer_; }

  /// Conversions that are held now, those of cached resources among them. [count]
  uint32_t conversions() const { return conversions_.load(std::memory_order_relaxed); }

  ResourceLocation locate(uint32_t slot) const override { return find_version(slot); }
  float distance(uint32_t slot) const override {
    return is_streamable(slot) ? streamer_.distance(slot) : NamedModule::distance(slot);
  }
  bool has_priority(uint32_t slot) const override { return is_streamable(slot) && streamer_.is_near(slot); }
  Status prepare(uint32_t slot, StreamPayload& payload) const override { return open(slot, payload); }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override { return show(slot, payload); }
  StreamStep remove(uint32_t slot) override {
    records_[slot].resource = {};
    records_[slot].is_placed = false;
    return {};
  }
  void state_changed(uint32_t slot, StreamState to) override {
    if (slot < capacity()) streamer_.set_in_world(slot, to == StreamState::loaded);
  }

 private:
  struct Conversion;
  struct Record {
    Resource resource;
    bool is_placed = false;
    std::atomic<Conversion*> conversion{nullptr};  // of what was prepared last
  };

  // What the box streamer asks for is kept in its name, so that nobody else's wishes are touched.
  bool is_idle(uint32_t slot) override { return is_idle_slot(slot); }
  void request(uint32_t slot, bool priority) override { keep_slot(slot, priority); }
  void keep(uint32_t slot) override { keep_slot(slot, false); }
  void release(uint32_t slot) override { drop_slot(slot); }
  bool is_idle_slot(uint32_t slot) const;
  void keep_slot(uint32_t slot, bool priority);
  void drop_slot(uint32_t slot);

  const MetaDataKind* row_of(uint32_t kind) const;
  ResourceLocation find_version(uint32_t slot) const;
  Status open(uint32_t slot, StreamPayload& payload) const;
  Status convert(uint32_t slot, StreamPayload& payload, const MetaDataKind& row, const Status& why) const;
  StreamStep show(uint32_t slot, const StreamPayload& payload);
  void drop_conversion(Record& record) const;
  void trim();
  void release_all();

  MetaDataStoreConfig config_{};
  MetaDataKind kinds_[kMaxKinds] = {};
  Record* records_ = nullptr;
  BoxStreamer streamer_;
  mutable std::atomic<uint32_t> conversions_{0};
  OnceSet converted_;
};

}  // namespace meridian
