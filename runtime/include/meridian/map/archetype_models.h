// SPDX-License-Identifier: MIT
#pragma once
/// Archetypes as things that stream: an archetype has no file of its own, it is there when its model is. Who wants an
/// entity to be drawn wants the slot of its archetype; the type file, the model's file and the textures follow.
///
///   ArchetypeStore archetypes;
///   AssetStore<int> drawables(kDrawableStore.module), textures(kTxdStore.module);   // int: whatever a model is
///   ArchetypeModels models;
///   ArchetypeModelsConfig config{.store = &archetypes, .slots = 65534, .drawables = &drawables};
///   config.adopt = [](void* user, DrawableKind, uint32_t slot, NameHash wanted) {
///     return static_cast<AssetStore<int>*>(user)->adopt(slot, wanted);                // parents: the textures
///   };
///   config.user = &drawables;
///   StreamingEngine engine;
///   Status ready = models.init(config, allocator);
///   ready = engine.add_module(textures, {.slots = textures.capacity()});
///   ready = engine.add_module(drawables, {.slots = drawables.capacity()});
///   ready = engine.add_module(models, {.slots = models.capacity(), .leaves_at_once = true});
///   if (const Archetype* lamp = archetypes.find(hash_name("lamp"))) {
///     engine.keep(models.index_of(*lamp), StreamKeeper::code);
///   }
///
/// A slot is that of the archetype in its store (ModelId::archetype). It needs, in this order: the type file, so that
/// the archetype stays, and the file of the model; archetypes without a model need the type file only. A model whose
/// name no store has a slot for is *missing*, and so is one that its dictionary does not hold: the log says so once,
/// the slot is loaded all the same, and nothing waits for it.
///
/// Register it with leaves_at_once: it has no bytes that are worth keeping, and as long as it is there, its files
/// cannot make room for others.
///
/// While it is loaded, Archetype::drawable_slot() is the slot of the model's file, and dictionary_entry() its place
/// there.
///
/// Slots of archetypes are used again when type files went. A slot that failed would stay so for the next archetype:
/// forget_departed() after types went or came sees to it.
///
/// Threads: main.
/// Memory:  20 bytes a slot, in init().

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/entity/archetype_store.h"
#include "meridian/stream/named_module.h"
#include "meridian/stream/stream_module.h"

namespace meridian {

class StreamingEngine;

/// All that is given outlives the engine's shutdown. Modules are registered in the same engine; null: what would be
/// there is not streamed, and needs nothing.
struct ArchetypeModelsConfig {
  ArchetypeStore* store = nullptr;     ///< not null
  uint32_t slots = 0;                  ///< of archetypes: permanent and streamed ones [1, kMaxModelSlots] [count]
  uint32_t type_slots = 4000;          ///< as ArchetypeStoreConfig::types [count]
  const NamedModule* types = nullptr;  ///< of type files; its slots are ItypSlots
  const NamedModule* fragments = nullptr;
  const NamedModule* drawables = nullptr;
  const NamedModule* dictionaries = nullptr;  ///< of drawables
  /// Names of the models in a dictionary that is loaded, in its order; until the call returns. Needed with
  /// `dictionaries`.
  std::span<const NameHash> (*entries)(void* user, uint32_t dictionary) = nullptr;
  /// Optional. Gives a model's file these textures for its parent, if it has none: called each time that an archetype
  /// wants it and does not have it yet, and before the file is asked for. What is not ok goes to the log, once.
  Status (*adopt)(void* user, DrawableKind kind, uint32_t slot, NameHash textures) = nullptr;
  void* user = nullptr;
};

class ArchetypeModels final : public StreamModule {
 public:
  ArchetypeModels() : StreamModule("ModelInfo") {}
  ~ArchetypeModels() override { release(); }
  ArchetypeModels(const ArchetypeModels&) = delete;
  ArchetypeModels& operator=(const ArchetypeModels&) = delete;

  /// Requires: called once; a store; entries where there are dictionaries (asserted; otherwise in_use, bad_value).
  /// Errors: bad_value (slots), out_of_memory.
  Status init(const ArchetypeModelsConfig& config, Allocator& allocator = default_allocator());
  uint32_t capacity() const { return config_.slots; }

  /// What to ask the engine for. kNoStream if the archetype is not in the store (any more), or beyond the slots.
  StreamIndex index_of(const Archetype& archetype) const;
  /// The archetype that has the slot now, or null. Looks through all type slots where it was not asked for before.
  Archetype* archetype(uint32_t slot) const;
  /// It is loaded, but there is nothing to draw.
  bool is_model_missing(uint32_t slot) const { return slot < config_.slots && records_[slot].is_missing; }
  /// Where the archetype of a failed slot went or came, has all that failed tried again, as by
  /// StreamingEngine::retry_failed. Gives how many such slots there were.
  uint32_t forget_departed(StreamingEngine& engine);
  /// What was said once may be said again, as at the start of a session.
  void reset_messages();

  NameHash slot_name(uint32_t slot) const override { return name_for_messages(slot); }
  ResourceLocation locate(uint32_t /*slot*/) const override { return {}; }
  bool is_dummy(uint32_t /*slot*/) const override { return true; }
  uint32_t dependencies(uint32_t slot, std::span<StreamDependency> out) const override { return needs(slot, out); }
  StreamStep place(uint32_t slot, const StreamPayload& /*payload*/) override { return show(slot); }
  StreamStep remove(uint32_t slot) override { return hide(slot); }
  void state_changed(uint32_t slot, StreamState to) override { note_state(slot, to); }

 private:
  /// What a slot needs, from when it is requested until it is given up: names may come to mean other slots meanwhile.
  struct Record {
    NameHash name{};
    StreamIndex types = kNoStream;
    StreamIndex model = kNoStream;
    ItypSlot itype = kNoItyp;  // of the archetype, when it was looked for last
    bool is_asked = false;     // requested, or further
    bool is_set = false;       // the members above hold
    bool is_missing = false;
    bool is_failed = false;
  };
  Archetype* known(uint32_t slot) const;
  const NamedModule* store_of(DrawableKind kind) const;
  Record record_of(const Archetype& archetype) const;
  void adopt_textures(const Archetype& archetype, const Record& record) const;
  NameHash name_for_messages(uint32_t slot) const;
  uint32_t needs(uint32_t slot, std::span<StreamDependency> out) const;
  StreamStep show(uint32_t slot);
  StreamStep hide(uint32_t slot);
  void note_state(uint32_t slot, StreamState to);
  void release();

  ArchetypeModelsConfig config_{};
  Allocator* allocator_ = nullptr;
  Record* records_ = nullptr;
  uint32_t failed_ = 0;
  mutable OnceSet missing_, textures_;
};

}  // namespace meridian
