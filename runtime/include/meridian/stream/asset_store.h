// SPDX-License-Identifier: MIT
#pragma once
/// Stores of what the runtime does not look into: models, textures, collision, animations. The runtime knows their
/// names, when they are needed and what they need first; the host makes an object of their bytes, and takes it away.
///
///   struct Textures { int count = 0; };
///   AssetLoader<Textures> loader;
///   loader.load = [](void*, NameHash, std::span<const std::byte> in) {
///     return new Textures{static_cast<int>(in.size())};
///   };
///   loader.unload = [](void*, Textures& textures) { delete &textures; };
///
///   ResourceMounts mounts;
///   StreamingEngine engine;
///   AssetStore<Textures> dictionaries(kTxdStore.module);
///   Status ready = dictionaries.init(
///       {.slots = 4000, .mounts = &mounts, .kind = kind_of("TXDR"), .parents = &dictionaries}, loader, allocator);
///   ready = engine.add_module(dictionaries, {.slots = dictionaries.capacity()});
///   const Result<uint32_t> props = dictionaries.add(hash_name("props"));
///   const Result<uint32_t> shared = dictionaries.add(hash_name("shared"));
///   ready = dictionaries.set_parent(props.value(), dictionaries.index(shared.value()));  // is loaded first
///   const Textures* const there = dictionaries.get(props.value());                       // null until it is loaded
///
/// A slot may have a *parent*, whose things it uses: a dictionary of textures has another one, models have one of
/// textures. The parent is loaded first and leaves later. Parents of a store are all in one store, which may be itself.
///
/// Slots that were added for a while, such as for a mount that comes and goes, are *temporary*: collect_garbage() frees
/// those that are of no use any more.
///
/// Threads: main; AssetLoader::prepare on loader threads. Look-ups by name also by readers, as NamedModule.
/// Memory:  24 bytes a slot beside those of NamedModule, in init(). Objects are the host's.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/game_config.h"
#include "meridian/stream/named_module.h"
#include "meridian/stream/stream_module.h"

namespace meridian {

class StreamingEngine;

/// How gameconfigs call a store, and how many slots it has where none does. Worlds of some size configure all of them.
struct StoreSize {
  const char* module = "";
  uint32_t slots = 0;  ///< [count]
};
inline constexpr StoreSize kDrawableStore{"DrawableStore", 8000};          ///< models
inline constexpr StoreSize kDrawableDictionaryStore{"DwdStore", 2000};     ///< dictionaries of models
inline constexpr StoreSize kFragmentStore{"FragmentStore", 2000};          ///< models that move or break
inline constexpr StoreSize kTxdStore{"TxdStore", 8000};                    ///< dictionaries of textures
inline constexpr StoreSize kStaticBoundsStore{"StaticBounds", 2000};       ///< collision of maps
inline constexpr StoreSize kPhysicsDictionaryStore{"PhysicsBounds", 200};  ///< collision of models
inline constexpr StoreSize kClipDictionaryStore{"AnimStore", 2000};        ///< animations
inline constexpr StoreSize kStoreSizes[] = {kDrawableStore,      kDrawableDictionaryStore, kFragmentStore,
                                            kTxdStore,           kStaticBoundsStore,       kPhysicsDictionaryStore,
                                            kClipDictionaryStore};

/// The slots of a store by the configuration. Errors: as GameConfig::size_of_pool.
inline Result<uint32_t> configured_slots(const GameConfig& config, const StoreSize& store) {
  return NamedModule::configured_slots(config, store.module, store.slots);
}

class AssetStoreBase;

struct AssetStoreConfig {
  uint32_t slots = 0;                      ///< [count]
  const ResourceMounts* mounts = nullptr;  ///< as NamedModuleConfig
  uint32_t kind = 0;                       ///< of its resources
  AssetStoreBase* parents = nullptr;       ///< where parents are, which outlives this one; null: there are none
};

/// What all stores do, whatever they hold.
class AssetStoreBase : public NamedModule {
 public:
  explicit AssetStoreBase(const char* name) : NamedModule(name) {}
  ~AssetStoreBase() override { free_records(); }
  AssetStoreBase(const AssetStoreBase&) = delete;
  AssetStoreBase& operator=(const AssetStoreBase&) = delete;

  // --- slots ---

  /// As add(); a slot that is made now is temporary. Errors: as add().
  Result<uint32_t> add_temporary(NameHash name);
  bool is_temporary(uint32_t slot) const { return slot < capacity() && records_[slot].is_temporary; }
  /// Requires: used.
  void set_temporary(uint32_t slot, bool on);
  /// Frees a slot; its own parent is forgotten. Requires: used, no object, nobody's parent (asserted; otherwise
  /// nothing happens); not resident in the engine.
  void free_slot(uint32_t slot);
  /// Frees temporary slots that no mount has a resource for, and that are not resident, kept, referred to or anyone's
  /// parent. If some of them failed, all that failed is tried again, as by StreamingEngine::retry_failed. Looks at all
  /// slots. Gives how many are free now that were not. Requires: a module of the engine, which is started (asserted;
  /// otherwise 0).
  uint32_t collect_garbage(StreamingEngine& engine);

  // --- parents ---

  /// From its next load on, the slot needs `parent` first; kNoStream: nothing any more. Replaces what was set.
  /// Requires: used. Errors: bad_value (not a used slot of the store of parents), bad_structure (a circle: `name` is
  /// the slot's, detail = the parent). On errors all stays.
  Status set_parent(uint32_t slot, StreamIndex parent);
  /// Gives it the parent of this name, if it has none. Errors: in_use (it has another one; `name` is that one's),
  /// not_found (no slot of that name), and as set_parent.
  Status adopt(uint32_t slot, NameHash parent);
  /// Or kNoStream.
  StreamIndex parent(uint32_t slot) const {
    const uint32_t at = slot < capacity() ? records_[slot].parent : kNoStreamSlot;
    return at != kNoStreamSlot ? parents_->index(at) : kNoStream;
  }
  /// Slots that have this one as their parent. [count]
  uint32_t children(uint32_t slot) const { return slot < capacity() ? records_[slot].children : 0; }

  /// How many objects there are. [count]
  uint32_t loaded() const { return loaded_; }

  uint32_t dependencies(uint32_t slot, std::span<StreamDependency> out) const override {
    const StreamIndex needed = parent(slot);
    if (needed == kNoStream) return 0;
    if (!out.empty()) out[0] = {.index = needed};
    return 1;
  }

 protected:
  Status init_store(const AssetStoreConfig& config, Allocator& allocator);
  void* object(uint32_t slot) const { return slot < capacity() ? records_[slot].object : nullptr; }
  /// Null: it is gone.
  void set_object(uint32_t slot, void* object);

 private:
  struct Record {
    void* object = nullptr;
    uint32_t parent = kNoStreamSlot;  // in parents_
    uint32_t children = 0;            // of slots of any store
    bool is_temporary = false;
  };
  void free_records();
  void leave_parent(Record& record);
  bool is_useless(uint32_t slot) const;

  AssetStoreBase* parents_ = nullptr;
  Record* records_ = nullptr;
  uint32_t loaded_ = 0;
};

/// What a host knows of its assets. `user` comes back in each call.
template <class T>
struct AssetLoader {
  /// Makes an object of a resource's bytes, which stay until after unload(). Null: it cannot; the slot fails.
  T* (*load)(void* user, NameHash name, std::span<const std::byte> bytes) = nullptr;
  /// Takes it away. The same bytes may be loaded again.
  void (*unload)(void* user, T& object) = nullptr;
  /// Optional. Checks the bytes before load(). On a loader thread, for different names at once.
  Status (*prepare)(void* user, NameHash name, std::span<const std::byte> bytes) = nullptr;
  /// Optional. As StreamModule::cost.
  StreamCost (*cost)(void* user, NameHash name) = nullptr;
  void* user = nullptr;
};

template <class T>
class AssetStore final : public AssetStoreBase {
 public:
  /// `name` is static text, such as kTxdStore.module.
  explicit AssetStore(const char* name) : AssetStoreBase(name) {}
  ~AssetStore() override = default;
  AssetStore(const AssetStore&) = delete;
  AssetStore& operator=(const AssetStore&) = delete;

  /// Requires: called once; load and unload (asserted; otherwise bad_value). Errors: as NamedModule::init_names.
  Status init(const AssetStoreConfig& config, const AssetLoader<T>& loader,
              Allocator& allocator = default_allocator()) {
    MERIDIAN_ASSERT(loader.load != nullptr && loader.unload != nullptr, "a store loads and unloads");
    if (loader.load == nullptr || loader.unload == nullptr) {
      return {StatusCode::bad_value, "a store needs a loader that loads and unloads"};
    }
    const Status made = init_store(config, allocator);
    if (made.ok()) loader_ = loader;
    return made;
  }

  /// Null unless it is loaded.
  T* get(uint32_t slot) const { return static_cast<T*>(object(slot)); }
  /// Null unless it is loaded, also where no slot has the name.
  T* find_object(NameHash name) const { return get(find(name)); }

  StreamCost cost(uint32_t slot) const override {
    return loader_.cost != nullptr ? loader_.cost(loader_.user, name_of(slot)) : StreamCost{};
  }
  Status prepare(uint32_t /*slot*/, StreamPayload& payload) const override {
    return loader_.prepare != nullptr ? loader_.prepare(loader_.user, payload.name, payload.bytes) : Status{};
  }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override {
    T* const made = loader_.load(loader_.user, payload.name, payload.bytes);
    if (made == nullptr) {
      return {StreamStep::Kind::failed, {StatusCode::bad_value, "the host's loader refused it", 0, payload.name}};
    }
    set_object(slot, made);
    return {};
  }
  StreamStep remove(uint32_t slot) override {
    T* const gone = get(slot);
    set_object(slot, nullptr);
    if (gone != nullptr) loader_.unload(loader_.user, *gone);
    return {};
  }

 private:
  AssetLoader<T> loader_{};
};

}  // namespace meridian
