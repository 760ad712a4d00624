// SPDX-License-Identifier: MIT
#include "meridian/stream/named_module.h"

#include <new>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian {

Status NamedModule::init_names(const NamedModuleConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(slots_ == nullptr, "initialised once");
  if (slots_ != nullptr) return {StatusCode::in_use, "the module is initialised"};
  if (config.slots == 0 || config.mounts == nullptr) return {StatusCode::bad_value, "a module has slots and mounts"};
  auto* const slots = static_cast<Slot*>(allocator.allocate(config.slots * sizeof(Slot), alignof(Slot)));
  if (slots == nullptr) return {StatusCode::out_of_memory, "no memory for the slots of a module", config.slots};
  if (const Status s = names_.init(config.slots, allocator); !s.ok()) {
    allocator.deallocate(slots, config.slots * sizeof(Slot), alignof(Slot));
    return s;
  }
  slots_ = slots;
  config_ = config;
  allocator_ = &allocator;
  free_ = kNoStreamSlot;
  for (uint32_t i = config.slots; i-- > 0;) {
    new (&slots_[i]) Slot;
    slots_[i].next_free = free_;
    free_ = i;
  }
  return {};
}

void NamedModule::free_names() {
  if (slots_ == nullptr) return;
  allocator_->deallocate(slots_, config_.slots * sizeof(Slot), alignof(Slot));
  slots_ = nullptr;
}

Result<uint32_t> NamedModule::take(NameHash name) {
  if (free_ == kNoStreamSlot) {
    if (!said_full_) {
      said_full_ = true;
      log_message(LogLevel::error, hash_name(this->name()), "%s: all %u slots are used: raise it in the gameconfig",
                  this->name(), config_.slots);
    }
    return Status{StatusCode::out_of_slots, "no slot of the module is free; detail = capacity", config_.slots, name};
  }
  const uint32_t slot = free_;
  free_ = slots_[slot].next_free;
  slots_[slot] = {.name = name, .next_free = kNoStreamSlot, .is_used = true};
  ++used_;
  return slot;
}

Result<uint32_t> NamedModule::add(NameHash name) {
  const uint32_t there = find(name);
  if (there != kNoStreamSlot) return there;
  const Result<uint32_t> slot = take(name);
  if (slot.ok()) (void)names_.insert(name, slot.value());  // there is room for as many as slots
  return slot;
}

Result<uint32_t> NamedModule::add_aside(NameHash name) { return take(name); }

void NamedModule::lead_to(uint32_t slot) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (!is_used(slot)) return;
  names_.remove(slots_[slot].name);
  (void)names_.insert(slots_[slot].name, slot);
}

void NamedModule::free_slot(uint32_t slot) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (!is_used(slot)) return;
  if (find(slots_[slot].name) == slot) names_.remove(slots_[slot].name);
  slots_[slot] = {.name = {}, .next_free = free_, .is_used = false};
  free_ = slot;
  --used_;
}

}  // namespace meridian
