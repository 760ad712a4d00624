// SPDX-License-Identifier: MIT
#pragma once
/// The streaming module of type files: loads them into an ArchetypeStore, in the layer that they come from.
///
///   MapTypesStore types;
///   Status ready = types.init({.layers = &layers, .archetypes = &store, .slots = 4000});
///   ready = engine.add_module(types, {.slots = types.capacity()});
///   ready = engine.start();
///   ready = types.refresh(engine);                          // after each change of the layers
///   engine.keep(types.find_index(hash_name("props")), StreamKeeper::code);
///
/// A slot is an ItypSlot. Permanent type files are kept loaded; those of a layer that may be unmounted are permanent in
/// the content context of that layer, and leave with it.
///
/// Threads: main; prepare on loader threads.
/// Memory:  in init(), and as ArchetypeStore.

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/entity/archetype_store.h"
#include "meridian/map/world_layers.h"
#include "meridian/stream/named_module.h"
#include "meridian/stream/streaming.h"

namespace meridian {

struct MapTypesStoreConfig {
  const WorldLayers* layers = nullptr;   ///< not null; all outlive the store
  ArchetypeStore* archetypes = nullptr;  ///< not null
  uint32_t slots = 4000;                 ///< at most ArchetypeStoreConfig::types [MapTypesStore] [count]
  uint32_t archetypes_a_step = 512;      ///< made in one chunk [count]
};

class MapTypesStore final : public NamedModule {
 public:
  MapTypesStore() : NamedModule("MapTypesStore") {}
  ~MapTypesStore() override { free_slots(); }
  MapTypesStore(const MapTypesStore&) = delete;
  MapTypesStore& operator=(const MapTypesStore&) = delete;

  /// Requires: called once; archetypes that are initialised. Errors: bad_value (also more slots than the archetypes have
  ///         for type files), out_of_memory.
  Status init(const MapTypesStoreConfig& config, Allocator& allocator = default_allocator());

  /// The layers changed: gives new type files slots, keeps permanent ones, has those leave whose version is another
  /// now, and frees what no layer knows. Errors: out_of_slots (the rest is as it should be).
  Status refresh(StreamingEngine& engine);
  /// A layer leaves: its permanent type files are so no longer.
  void end_permanence(StreamingEngine& engine, const WorldLayers::Layer& layer);
  /// Frees all slots: no layer is left. Requires: the engine is shut down.
  void forget_all();
  /// Permanent type files that are not loaded yet and have not failed. [count]
  uint32_t permanent_left(const StreamingEngine& engine) const;

  /// Makes a slot for a new version of a type file, which is loaded without coming into force.
  Result<uint32_t> begin_aside(NameHash name);
  /// Has the new version take the place of the old one: names mean its archetypes, at once and for all entities, and
  /// who wanted the old one wants this. An archetype that it lacks stays as long as entities are of it.
  /// Requires: both are loaded (asserted; otherwise bad_value). Errors: as replace_types; then all is as it was.
  Status swap(StreamingEngine& engine, uint32_t before, uint32_t aside);
  /// Frees the slot of a version that no name leads to. Requires: it is not resident.
  void end_aside(uint32_t slot);

  TypesDefinition definition(uint32_t slot) const { return config_.layers->types(name_of(slot)); }

  // --- StreamModule ---

  ResourceLocation locate(uint32_t slot) const override { return where(slot); }
  StreamCost cost(uint32_t slot) const override { return costs(slot); }
  uint32_t dependencies(uint32_t slot, std::span<StreamDependency> out) const override { return needs(slot, out); }
  float distance(uint32_t slot) const override { return slots_ != nullptr ? slots_[slot].distance : 0; }
  Status prepare(uint32_t slot, StreamPayload& payload) const override { return open(slot, payload); }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override { return make(slot, payload); }
  StreamStep remove(uint32_t slot) override { return take_away(slot); }

 private:
  struct Slot {
    float distance = 0;  // they are small, and nothing can be placed without them
    uint32_t made = 0;   // of a half placed one: archetypes
    LayerId layer = 0;
    bool is_aside = false, is_begun = false, is_permanent = false;
  };
  ResourceLocation where(uint32_t slot) const;
  StreamCost costs(uint32_t slot) const;
  uint32_t needs(uint32_t slot, std::span<StreamDependency> out) const;
  static Status open(uint32_t slot, StreamPayload& payload);
  StreamStep make(uint32_t slot, const StreamPayload& payload);
  StreamStep take_away(uint32_t slot);
  void free_slots();

  MapTypesStoreConfig config_{};
  Slot* slots_ = nullptr;
  mutable OnceSet missing_;
};

}  // namespace meridian
