// SPDX-License-Identifier: MIT
#pragma once
/// From handles to entities. What comes and goes together - the entities of a map, of an interior - is a *group*: it
/// takes one slot, whatever its size, and goes stale as a whole. What a host makes by itself is a *single*.
///
///   EntityTable table;
///   Status ready = table.init({.groups = 2000, .singles = 5000});
///   std::vector<Entity*> town(300);                                     // entity i of the map, or null
///   const EntityHandle first = table.add_group(town, hash_name("town"));
///   Entity lamp;
///   table.put(first, 17, &lamp);                                        // now lamp.handle() is known
///   assert(table.get(entity_of_group(first, 17)) == &lamp);
///   table.remove_group(first);                                          // all its handles are stale
///   EntityHandle car = table.register_single(lamp);
///   table.unregister(lamp);
///
/// The slot of a handle: bit 31 says single; otherwise the low `entity_bits` count within the group, and the bits
/// between are the group. An entity made anew in the place of one that was destroyed has the same handle while its
/// group lives.
///
/// Threads: main; readers (get, first_of) while nobody changes it.
/// Memory:  one block in init(): 20 bytes a group, 16 a single. The arrays of groups are their owners'.
/// Source:  own.

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/entity/entity.h"
#include "meridian/entity/entity_handle.h"

namespace meridian {

struct EntityTableConfig {
  uint32_t groups = 4096;        ///< maps and interiors that are loaded at once [<= 2^(31 - entity_bits)] [count]
  uint32_t singles = 4096;       ///< [<= 2^31 - 1] [count]
  uint32_t entity_bits = 18;     ///< a group has at most 2^entity_bits entities [1, 30]
  uint32_t max_uses = 1u << 31;  ///< how often a slot is used before its handles run out; lower in tests [1, 2^31]
};

inline constexpr uint32_t kNoEntityGroup = 0xFFFFFFFF;

class EntityTable {
 public:
  EntityTable() = default;
  EntityTable(const EntityTable&) = delete;
  EntityTable& operator=(const EntityTable&) = delete;
  ~EntityTable();

  /// Requires: called once (asserted; otherwise in_use).
  /// Errors: bad_value (config), out_of_memory.
  Status init(const EntityTableConfig& config, Allocator& allocator = default_allocator());

  // --- groups ---
  /// A group of entities: entities[i] is entity i, or null. The array stays the caller's, lives as long as the group,
  /// and is changed through put() only. Those that are there are told their handles.
  /// Returns the handle of entity 0, whether it is there or not; null if there is no room, which is told once for each
  /// `name`: too many groups, or too many entities in this one.
  /// Requires: none of them has a handle yet (asserted).
  EntityHandle add_group(std::span<Entity*> entities, NameHash name);
  /// All handles of the group are stale from now on; its entities are told. They may be destroyed afterwards.
  /// Requires: first entity of a live group (asserted; otherwise nothing).
  void remove_group(EntityHandle first);
  /// Puts an entity into its place, or null before one is destroyed alone.
  /// Requires: a live group with that many; the place is empty and `entity` has no handle, or it is null (asserted;
  ///           otherwise nothing).
  void put(EntityHandle first, uint32_t index, Entity* entity);
  /// The same for many at once: the owner has stored new entities in places [begin, end) of the group's array, which
  /// were empty; those that are there are told their handles.
  /// Requires: a live group with that many; none of them has a handle (asserted; otherwise nothing).
  void put_stored(EntityHandle first, uint32_t begin, uint32_t end);
  /// The group that a handle is of, live or not; kNoEntityGroup for singles and null.
  uint32_t group_of(EntityHandle handle) const {
    const bool is_group = handle && (handle.slot & kSingleBit) == 0;
    return is_group ? handle.slot >> entity_bits_ : kNoEntityGroup;
  }
  /// The handle of entity 0 of a group, as containers keep it; null if no such group lives.
  EntityHandle first_of(uint32_t group) const {
    const bool is_live = group < group_limit_ && (groups_[group].generation & 1) != 0;
    return is_live ? EntityHandle{groups_[group].generation, group << entity_bits_} : EntityHandle{};
  }
  /// Index of an entity within its group. Requires: a handle of a group's.
  uint32_t index_of(EntityHandle handle) const { return handle.slot & entity_mask_; }

  // --- singles ---
  /// Gives an entity a handle of its own, and tells it. Null if there is no room, which is told once.
  /// Requires: it has no handle (asserted; otherwise the one that it has).
  EntityHandle register_single(Entity& entity);
  /// Its handle is stale from now on. Requires: a registered single (asserted; otherwise nothing).
  void unregister(Entity& entity);

  // --- look-up ---
  /// The entity, or null: a handle that is null or stale, an entity that is not there.
  Entity* get(EntityHandle handle) const {
    if ((handle.slot & kSingleBit) != 0) {
      const uint32_t slot = handle.slot & ~kSingleBit;
      if (slot >= single_limit_) return nullptr;
      return singles_[slot].generation == handle.generation ? singles_[slot].entity : nullptr;
    }
    const uint32_t group = handle.slot >> entity_bits_, index = handle.slot & entity_mask_;
    if (group >= group_limit_) return nullptr;
    // A free slot counts no entities, so that its generation need not be looked at twice.
    const Group& at = groups_[group];
    return at.generation == handle.generation && index < at.count ? at.entities[index] : nullptr;
  }

  uint32_t groups() const { return group_count_; }    ///< that live [count]
  uint32_t singles() const { return single_count_; }  ///< that are registered [count]
  uint32_t retired() const { return retired_; }       ///< slots whose generations ran out [count]
  /// Groups and singles that found no room since the start. [count]
  uint64_t denied() const { return denied_; }
  /// What was said once may be said again, as at the start of a session.
  void reset_messages() { said_.clear(); }

 private:
  static constexpr uint32_t kSingleBit = 1u << 31;
  struct Group {
    Entity** entities = nullptr;
    uint32_t count = 0;  // 0 while the slot is free
    uint32_t generation = 0;
  };
  struct Single {
    Entity* entity = nullptr;  // null while the slot is free; that keeps stale handles out even when they run out
    uint32_t generation = 0;   // odd in use
    uint32_t next = 0;         // in the queue of free slots
  };
  /// Free slots, the one that was released first at the head.
  struct Queue {
    uint32_t head = kEnd, tail = kEnd;
    static constexpr uint32_t kEnd = 0xFFFFFFFF;
  };
  template <class Next>
  static uint32_t take(Queue& queue, Next next);
  template <class Next>
  static void append(Queue& queue, uint32_t slot, Next next);
  /// The live group that `first` begins, or null and a failed assert.
  Group* live_group(EntityHandle first);
  void deny(NameHash name, const char* what, uint32_t limit);
  size_t block_bytes() const;

  Group* groups_ = nullptr;
  Single* singles_ = nullptr;
  uint32_t* next_group_ = nullptr;
  uint32_t group_limit_ = 0, single_limit_ = 0;
  uint32_t entity_bits_ = 18, entity_mask_ = (1u << 18) - 1;
  Queue free_groups_, free_singles_;
  uint32_t group_count_ = 0, single_count_ = 0, retired_ = 0;
  uint64_t denied_ = 0;
  OnceSet said_;
  Allocator* allocator_ = nullptr;
};

}  // namespace meridian
