// SPDX-License-Identifier: MIT
#include "meridian/stream/asset_store.h"

#include <new>

#include "meridian/base/assert.h"
#include "meridian/stream/streaming.h"

namespace meridian {

Status AssetStoreBase::init_store(const AssetStoreConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(records_ == nullptr, "initialised once");
  if (records_ != nullptr) return {StatusCode::in_use, "the store is initialised"};
  const size_t bytes = size_t{config.slots} * sizeof(Record);
  auto* const records = static_cast<Record*>(allocator.allocate(bytes, alignof(Record)));
  if (records == nullptr) return {StatusCode::out_of_memory, "no memory for the slots of a store", config.slots};
  const NamedModuleConfig names{.slots = config.slots, .mounts = config.mounts, .kind = config.kind};
  if (const Status made = init_names(names, allocator); !made.ok()) {
    allocator.deallocate(records, bytes, alignof(Record));
    return made;
  }
  for (uint32_t i = 0; i < config.slots; ++i) new (&records[i]) Record;
  records_ = records;
  parents_ = config.parents;
  return {};
}

void AssetStoreBase::free_records() {
  if (records_ == nullptr) return;
  MERIDIAN_ASSERT(loaded_ == 0, "the engine is shut down before its stores go");
  allocator().deallocate(records_, size_t{capacity()} * sizeof(Record), alignof(Record));
  records_ = nullptr;
}

void AssetStoreBase::set_object(uint32_t slot, void* object) {
  if (slot >= capacity()) return;
  Record& record = records_[slot];
  loaded_ += (object != nullptr ? 1u : 0u) - (record.object != nullptr ? 1u : 0u);
  record.object = object;
}

// --- slots ---------------------------------------------------------------------------------------------

Result<uint32_t> AssetStoreBase::add_temporary(NameHash name) {
  const uint32_t there = find(name);
  if (there != kNoStreamSlot) return there;
  const Result<uint32_t> slot = add(name);
  if (slot.ok()) records_[slot.value()].is_temporary = true;
  return slot;
}

void AssetStoreBase::set_temporary(uint32_t slot, bool on) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (is_used(slot)) records_[slot].is_temporary = on;
}

void AssetStoreBase::free_slot(uint32_t slot) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (!is_used(slot)) return;
  Record& record = records_[slot];
  const bool is_free_to_go = record.object == nullptr && record.children == 0;
  MERIDIAN_ASSERT(is_free_to_go, "a slot that is freed has no object and no children");
  if (!is_free_to_go) return;
  leave_parent(record);
  record = {};
  NamedModule::free_slot(slot);
}

/// Of a slot that is temporary, as far as the engine need not be asked.
bool AssetStoreBase::is_useless(uint32_t slot) const {
  const Record& record = records_[slot];
  return record.is_temporary && record.object == nullptr && record.children == 0 && is_used(slot) && !locate(slot);
}

uint32_t AssetStoreBase::collect_garbage(StreamingEngine& engine) {
  const bool is_ours = engine.is_started() && engine.module_of(base()) == this;
  MERIDIAN_ASSERT(is_ours, "the store is a module of this engine, which is started");
  if (!is_ours) return 0;
  const auto is_asked_for = [&](uint32_t slot) { return engine.is_kept(index(slot)) || engine.refs(index(slot)) != 0; };

  // The engine remembers of a number that it failed. Whatever gets the number next would not be tried, and a failure
  // hides whether anything needs the slot still: forgetting failures puts what is wanted among the requests.
  bool has_failed = false;
  for (uint32_t i = 0; i < slot_count() && !has_failed; ++i) {
    has_failed = is_useless(i) && engine.state(index(i)) == StreamState::failed && !is_asked_for(i);
  }
  if (has_failed) engine.retry_failed();

  uint32_t freed = 0;
  for (bool any = true; any;) {  // again, as long as a child that went leaves a parent without any
    any = false;
    for (uint32_t i = 0; i < slot_count(); ++i) {
      if (!is_useless(i) || engine.state(index(i)) != StreamState::not_loaded) continue;
      if (engine.payload_of(index(i)) != nullptr || is_asked_for(i)) continue;
      free_slot(i);
      ++freed;
      any = true;
    }
  }
  return freed;
}

// --- parents -------------------------------------------------------------------------------------------

void AssetStoreBase::leave_parent(Record& record) {
  if (record.parent != kNoStreamSlot) --parents_->records_[record.parent].children;
  record.parent = kNoStreamSlot;
}

Status AssetStoreBase::set_parent(uint32_t slot, StreamIndex parent) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (!is_used(slot)) return {StatusCode::bad_value, "no such slot; detail = the slot", slot};
  Record& record = records_[slot];
  if (parent == kNoStream) {
    leave_parent(record);
    return {};
  }
  if (parents_ == nullptr || !parents_->owns(parent) || !parents_->is_used(parent - parents_->base())) {
    return {StatusCode::bad_value, "not a slot that can be a parent; detail = its index", parent, name_of(slot)};
  }
  const uint32_t above = parent - parents_->base();
  // There are no circles so far, so the way up ends.
  const AssetStoreBase* store = parents_;
  for (uint32_t at = above; at != kNoStreamSlot;) {
    if (store == this && at == slot) {
      return {StatusCode::bad_structure, "a circle of parents; detail = index of the parent", parent, name_of(slot)};
    }
    at = store->records_[at].parent;
    store = store->parents_;
  }
  leave_parent(record);
  record.parent = above;
  ++parents_->records_[above].children;
  return {};
}

Status AssetStoreBase::adopt(uint32_t slot, NameHash parent) {
  MERIDIAN_ASSERT(is_used(slot), "a slot that is used");
  if (!is_used(slot)) return {StatusCode::bad_value, "no such slot; detail = the slot", slot};
  const uint32_t above = records_[slot].parent;
  if (above != kNoStreamSlot) {
    const NameHash has = parents_->name_of(above);
    if (has == parent) return {};
    return {StatusCode::in_use, "it has another parent; detail = its slot", above, has};
  }
  const StreamIndex wanted = parents_ != nullptr ? parents_->find_index(parent) : kNoStream;
  if (wanted == kNoStream) return {StatusCode::not_found, "no slot has the parent's name", 0, parent};
  return set_parent(slot, wanted);
}

}  // namespace meridian
