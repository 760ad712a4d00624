// SPDX-License-Identifier: MIT
#pragma once
/// A streaming module whose slots have names: what all stores have in common. Slots come with the index of a world or
/// one by one at run time, and what is not needed any more is collected.
///
///   Status ready = types.init_names({.slots = 4000, .mounts = &mounts, .kind = kind_of("ITYP")});
///   const Result<uint32_t> slot = types.add(hash_name("props"));         // the one that it has, or a new one
///   engine.keep(types.index(types.find(hash_name("props"))), StreamKeeper::code);
///
/// Threads: main; name look-ups also by readers while nobody adds or removes.
/// Memory:  about 30 bytes a slot, in init_names().

#include <cstdint>

#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/core/game_config.h"
#include "meridian/core/name_registrar.h"
#include "meridian/resource/mount.h"
#include "meridian/stream/stream_module.h"

namespace meridian {

struct NamedModuleConfig {
  uint32_t slots = 0;                      ///< [count]
  const ResourceMounts* mounts = nullptr;  ///< where resources are looked for by name
  uint32_t kind = 0;                       ///< of its resources
};

class NamedModule : public StreamModule {
 public:
  explicit NamedModule(const char* name) : StreamModule(name) {}
  ~NamedModule() override { free_names(); }
  NamedModule(const NamedModule&) = delete;
  NamedModule& operator=(const NamedModule&) = delete;

  /// How many slots the configuration gives a module of this name. Errors: as GameConfig::size_of_pool.
  static Result<uint32_t> configured_slots(const GameConfig& config, const char* module, uint32_t otherwise) {
    return config.size_of_pool(hash_name(module), otherwise);
  }

  /// Requires: called once. Errors: bad_value (no slots, no mounts), out_of_memory, too_large.
  Status init_names(const NamedModuleConfig& config, Allocator& allocator = default_allocator());
  uint32_t capacity() const { return config_.slots; }
  uint32_t used() const { return used_; }
  uint32_t kind() const { return config_.kind; }

  /// The slot of a name, made if it has none. Errors: out_of_slots, which names the module and its capacity.
  Result<uint32_t> add(NameHash name);
  /// A slot that no name leads to, beside the one that the name has: for a new version of it, see lead_to().
  Result<uint32_t> add_aside(NameHash name);
  /// From now on the name leads to this slot. Requires: used, and of that name.
  void lead_to(uint32_t slot);
  /// Frees a slot. Requires: used; it is not resident in the engine.
  void free_slot(uint32_t slot);

  /// Or kNoStreamSlot.
  uint32_t find(NameHash name) const {
    const uint32_t slot = names_.find(name);
    return slot == kNoNameIndex ? kNoStreamSlot : slot;
  }
  /// Or kNoStream.
  StreamIndex find_index(NameHash name) const {
    const uint32_t slot = find(name);
    return slot == kNoStreamSlot ? kNoStream : index(slot);
  }
  bool is_used(uint32_t slot) const { return slot < config_.slots && slots_[slot].is_used; }
  NameHash name_of(uint32_t slot) const { return slot < config_.slots ? slots_[slot].name : NameHash{}; }

  NameHash slot_name(uint32_t slot) const override { return name_of(slot); }
  ResourceLocation locate(uint32_t slot) const override {
    return is_used(slot) ? config_.mounts->find(config_.kind, slots_[slot].name) : ResourceLocation();
  }
  const ResourceMounts& mounts() const { return *config_.mounts; }

 protected:
  Allocator& allocator() const { return *allocator_; }

 private:
  struct Slot {
    NameHash name{};
    uint32_t next_free = kNoStreamSlot;
    bool is_used = false;
  };
  void free_names();
  Result<uint32_t> take(NameHash name);

  NamedModuleConfig config_{};
  Allocator* allocator_ = nullptr;
  NameRegistrar names_;
  Slot* slots_ = nullptr;
  uint32_t free_ = kNoStreamSlot, used_ = 0;
  bool said_full_ = false;
};

}  // namespace meridian
