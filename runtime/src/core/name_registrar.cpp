// SPDX-License-Identifier: MIT
#include "meridian/core/name_registrar.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "meridian/base/assert.h"

namespace meridian {

NameRegistrar::~NameRegistrar() {
  if (slots_ != nullptr) allocator_->deallocate(slots_, size_t{slot_count_} * sizeof(Entry), alignof(Entry));
}

Status NameRegistrar::init(uint32_t capacity, Allocator& allocator) {
  MERIDIAN_ASSERT(slots_ == nullptr, "a registrar is made once");
  if (slots_ != nullptr) return {StatusCode::in_use, "the registrar was made before"};
  if (capacity > kMaxRegisteredNames) {
    return {StatusCode::too_large, "capacity of a name registrar; detail = it", capacity};
  }
  // At least one slot in four is free, so that each search ends, and soon.
  const uint32_t slot_count = std::bit_ceil(std::max(capacity + (capacity + 2) / 3, 4u));
  const size_t bytes = size_t{slot_count} * sizeof(Entry);
  void* const block = allocator.allocate(bytes, alignof(Entry));
  if (block == nullptr) return {StatusCode::out_of_memory, "no memory for a name registrar; detail = bytes", bytes};
  allocator_ = &allocator;
  slots_ = static_cast<Entry*>(block);
  std::uninitialized_default_construct_n(slots_, slot_count);
  slot_count_ = slot_count;
  capacity_ = capacity;
  return {};
}

uint32_t NameRegistrar::home_of(NameHash name) const {
  // Spread by the golden ratio: names that are numbers (`hash_00000001`) would stand in a row otherwise.
  const uint32_t spread = name.value * 0x9E3779B1u;
  return spread >> (std::countl_zero(slot_count_) + 1);
}

uint32_t NameRegistrar::slot_of(NameHash name) const {
  uint32_t slot = home_of(name);
  while (slots_[slot].index != kNoNameIndex && slots_[slot].name != name) slot = (slot + 1) & (slot_count_ - 1);
  return slot;
}

Status NameRegistrar::insert(NameHash name, uint32_t index) {
  MERIDIAN_ASSERT(index != kNoNameIndex, "kNoNameIndex is no index");
  if (index == kNoNameIndex) return {StatusCode::bad_value, "no index for a name; detail = it", index, name};
  const Status full{StatusCode::out_of_slots, "a name registrar is full; detail = its capacity", capacity_, name};
  if (slots_ == nullptr) return full;
  Entry& entry = slots_[slot_of(name)];
  if (entry.index != kNoNameIndex) {
    return {StatusCode::in_use, "the name is registered already; detail = its index", entry.index, name};
  }
  if (count_ == capacity_) return full;
  entry = {name, index};
  ++count_;
  return {};
}

uint32_t NameRegistrar::find(NameHash name) const {
  return slots_ != nullptr ? slots_[slot_of(name)].index : kNoNameIndex;
}

bool NameRegistrar::remove(NameHash name) {
  if (slots_ == nullptr) return false;
  uint32_t hole = slot_of(name);
  if (slots_[hole].index == kNoNameIndex) return false;
  // Closes the gap instead of marking it: each entry behind it, up to the next free slot, moves into the hole if its
  // search would begin at or before the hole, and leaves a hole itself.
  const uint32_t mask = slot_count_ - 1;
  for (uint32_t at = (hole + 1) & mask; slots_[at].index != kNoNameIndex; at = (at + 1) & mask) {
    const uint32_t from_home = (at - home_of(slots_[at].name)) & mask;
    const uint32_t from_hole = (at - hole) & mask;
    if (from_home < from_hole) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --count_;
  return true;
}

void NameRegistrar::clear() {
  std::fill_n(slots_, slot_count_, Entry{});
  count_ = 0;
}

}  // namespace meridian
