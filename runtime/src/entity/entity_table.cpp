// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_table.h"

#include <cstddef>
#include <new>

namespace meridian {

// Slots of groups and singles are used in turn, the one that was released first is used first, as in pools: so a stale
// handle meets a free slot for as long as possible.
template <class Next>
uint32_t EntityTable::take(Queue& queue, Next next) {
  const uint32_t slot = queue.head;
  if (slot == Queue::kEnd) return slot;
  queue.head = next(slot);
  if (queue.head == Queue::kEnd) queue.tail = Queue::kEnd;
  return slot;
}

template <class Next>
void EntityTable::append(Queue& queue, uint32_t slot, Next next) {
  next(slot) = Queue::kEnd;
  if (queue.tail == Queue::kEnd) {
    queue.head = slot;
  } else {
    next(queue.tail) = slot;
  }
  queue.tail = slot;
}

EntityTable::~EntityTable() {
  if (allocator_ != nullptr) allocator_->deallocate(groups_, block_bytes(), alignof(Group));
}

size_t EntityTable::block_bytes() const {
  return size_t{group_limit_} * (sizeof(Group) + sizeof(uint32_t)) + size_t{single_limit_} * sizeof(Single);
}

Status EntityTable::init(const EntityTableConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "a table is initialised once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "a table is initialised once"};
  if (config.entity_bits < 1 || config.entity_bits > 30) {
    return {StatusCode::bad_value, "a group counts its entities with 1 to 30 bits; detail = bits", config.entity_bits};
  }
  if (config.groups > 1u << (31 - config.entity_bits)) {
    return {StatusCode::bad_value, "handles have no room for that many groups; detail = groups", config.groups};
  }
  if (config.singles >= kSingleBit) {
    return {StatusCode::bad_value, "handles have 31 bits for singles; detail = singles", config.singles};
  }
  if (config.max_uses < 1 || config.max_uses > 1u << 31) {
    return {StatusCode::bad_value, "a slot is used 1 to 2^31 times; detail = max_uses", config.max_uses};
  }
  group_limit_ = config.groups;
  single_limit_ = config.singles;
  void* const block = allocator.allocate(block_bytes(), alignof(Group));
  if (block == nullptr) {
    const size_t bytes = block_bytes();
    group_limit_ = single_limit_ = 0;
    return {StatusCode::out_of_memory, "no memory for a table of entities; detail = bytes", bytes};
  }
  allocator_ = &allocator;
  auto* const begin = static_cast<std::byte*>(block);
  groups_ = reinterpret_cast<Group*>(begin);
  singles_ = reinterpret_cast<Single*>(begin + size_t{group_limit_} * sizeof(Group));
  static_assert(sizeof(Group) % alignof(Single) == 0 && sizeof(Single) % alignof(uint32_t) == 0);
  next_group_ = reinterpret_cast<uint32_t*>(begin + size_t{group_limit_} * sizeof(Group) +
                                            size_t{single_limit_} * sizeof(Single));
  entity_bits_ = config.entity_bits;
  entity_mask_ = (1u << entity_bits_) - 1;
  // Even while a slot is free; used up when it comes round to 0.
  const uint32_t first_generation = 0u - 2 * config.max_uses;
  for (uint32_t i = 0; i < group_limit_; ++i) {
    ::new (&groups_[i]) Group{nullptr, 0, first_generation};
    append(free_groups_, i, [this](uint32_t slot) -> uint32_t& { return next_group_[slot]; });
  }
  for (uint32_t i = 0; i < single_limit_; ++i) {
    ::new (&singles_[i]) Single{nullptr, first_generation, 0};
    append(free_singles_, i, [this](uint32_t slot) -> uint32_t& { return singles_[slot].next; });
  }
  return {};
}

void EntityTable::deny(NameHash name, const char* what, uint32_t limit) {
  ++denied_;
  if (!said_.first(name.value)) return;
  if (name.value == 0) {
    log_message(LogLevel::warning, name, "%s (at most %u): it has no handle", what, limit);
  } else {
    log_message(LogLevel::warning, name, "entities of %s have no handles: %s (at most %u)", name_text(name).text, what,
                limit);
  }
}

EntityHandle EntityTable::add_group(std::span<Entity*> entities, NameHash name) {
  if (entities.size() > size_t{1} << entity_bits_) {
    deny(name, "too many of them", 1u << entity_bits_);
    return {};
  }
  const uint32_t slot = take(free_groups_, [this](uint32_t at) { return next_group_[at]; });
  if (slot == Queue::kEnd) {
    deny(name, "too many groups of entities", group_limit_);
    return {};
  }
  Group& group = groups_[slot];
  group = {entities.data(), static_cast<uint32_t>(entities.size()), group.generation + 1};
  ++group_count_;
  const EntityHandle first = first_of(slot);
  for (uint32_t i = 0; i < group.count; ++i) {
    if (entities[i] == nullptr) continue;
    MERIDIAN_ASSERT(!entities[i]->handle(), "an entity has one handle");
    entities[i]->set_handle(entity_of_group(first, i));
  }
  return first;
}

EntityTable::Group* EntityTable::live_group(EntityHandle first) {
  const uint32_t group = group_of(first);
  const bool is_live = first && first_of(group) == first;
  MERIDIAN_ASSERT(is_live, "the handle is that of the first entity of a live group");
  return is_live ? &groups_[group] : nullptr;
}

void EntityTable::remove_group(EntityHandle first) {
  Group* const group = live_group(first);
  if (group == nullptr) return;
  for (uint32_t i = 0; i < group->count; ++i) {
    if (group->entities[i] != nullptr) group->entities[i]->set_handle({});
  }
  *group = {nullptr, 0, group->generation + 1};
  --group_count_;
  if (group->generation == 0) {
    ++retired_;  // its next handles could equal old ones
  } else {
    append(free_groups_, group_of(first), [this](uint32_t slot) -> uint32_t& { return next_group_[slot]; });
  }
}

void EntityTable::put(EntityHandle first, uint32_t index, Entity* entity) {
  Group* const group = live_group(first);
  if (group == nullptr) return;
  const bool is_right =
      index < group->count && (entity == nullptr || (group->entities[index] == nullptr && !entity->handle()));
  MERIDIAN_ASSERT(is_right, "an entity that has no handle is put into an empty place of its group");
  if (!is_right) return;
  if (Entity* const before = group->entities[index]) before->set_handle({});
  group->entities[index] = entity;
  if (entity != nullptr) entity->set_handle(entity_of_group(first, index));
}

void EntityTable::put_stored(EntityHandle first, uint32_t begin, uint32_t end) {
  Group* const group = live_group(first);
  if (group == nullptr) return;
  const bool is_right = begin <= end && end <= group->count;
  MERIDIAN_ASSERT(is_right, "a range of the group's entities");
  if (!is_right) return;
  for (uint32_t i = begin; i < end; ++i) {
    Entity* const entity = group->entities[i];
    if (entity == nullptr) continue;
    MERIDIAN_ASSERT(!entity->handle(), "an entity has one handle");
    if (!entity->handle()) entity->set_handle(entity_of_group(first, i));
  }
}

EntityHandle EntityTable::register_single(Entity& entity) {
  MERIDIAN_ASSERT(!entity.handle(), "an entity has one handle");
  if (entity.handle()) return entity.handle();
  const uint32_t slot = take(free_singles_, [this](uint32_t at) { return singles_[at].next; });
  if (slot == Queue::kEnd) {
    deny({}, "too many entities that belong to no map", single_limit_);
    return {};
  }
  Single& single = singles_[slot];
  single.entity = &entity;
  ++single.generation;
  ++single_count_;
  entity.set_handle({single.generation, slot | kSingleBit});
  return entity.handle();
}

void EntityTable::unregister(Entity& entity) {
  const EntityHandle handle = entity.handle();
  const bool is_ours = (handle.slot & kSingleBit) != 0 && get(handle) == &entity;
  MERIDIAN_ASSERT(is_ours, "the entity is not a single of this table");
  if (!is_ours) return;
  const uint32_t slot = handle.slot & ~kSingleBit;
  Single& single = singles_[slot];
  single.entity = nullptr;
  --single_count_;
  entity.set_handle({});
  if (++single.generation == 0) {
    ++retired_;
  } else {
    append(free_singles_, slot, [this](uint32_t at) -> uint32_t& { return singles_[at].next; });
  }
}

}  // namespace meridian
