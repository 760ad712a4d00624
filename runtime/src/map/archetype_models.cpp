// SPDX-License-Identifier: MIT
#include "meridian/map/archetype_models.h"

#include <algorithm>
#include <cinttypes>
#include <new>

#include "meridian/base/assert.h"
#include "meridian/stream/streaming.h"

namespace meridian {
namespace {

/// What the model's file is called.
NameHash file_of(const Archetype& archetype) {
  return archetype.drawable_kind() == DrawableKind::drawable_dictionary ? archetype.drawable_dictionary()
                                                                        : archetype.asset_name();
}

StreamIndex index_in(const NamedModule& module, uint32_t slot) {
  return slot < module.slot_count() ? module.index(slot) : kNoStream;
}

}  // namespace

Status ArchetypeModels::init(const ArchetypeModelsConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(records_ == nullptr, "initialised once");
  if (records_ != nullptr) return {StatusCode::in_use, "models of archetypes are initialised"};
  const bool is_whole = config.store != nullptr && (config.dictionaries == nullptr || config.entries != nullptr);
  MERIDIAN_ASSERT(is_whole, "models need a store of archetypes, and entries where there are dictionaries");
  if (!is_whole) return {StatusCode::bad_value, "models need a store of archetypes, and entries of dictionaries"};
  if (config.slots == 0 || config.slots > kMaxModelSlots) {
    return {StatusCode::bad_value, "slots of archetypes; detail = how many", config.slots};
  }
  auto* const records = static_cast<Record*>(allocator.allocate(config.slots * sizeof(Record), alignof(Record)));
  if (records == nullptr) {
    return {StatusCode::out_of_memory, "no memory for models of archetypes; detail = slots", config.slots};
  }
  for (uint32_t i = 0; i < config.slots; ++i) new (&records[i]) Record;
  records_ = records;
  config_ = config;
  allocator_ = &allocator;
  return {};
}

void ArchetypeModels::release() {
  if (records_ == nullptr) return;
  allocator_->deallocate(records_, config_.slots * sizeof(Record), alignof(Record));
  records_ = nullptr;
}

void ArchetypeModels::reset_messages() {
  missing_.clear();
  textures_.clear();
}

// --- archetypes ----------------------------------------------------------------------------------------

/// As far as it is known which type file the slot's archetype is of.
Archetype* ArchetypeModels::known(uint32_t slot) const {
  if (slot >= config_.slots || records_[slot].itype == kNoItyp) return nullptr;
  return config_.store->at({.archetype = static_cast<ArchetypeSlot>(slot), .types = records_[slot].itype});
}

/// The store knows archetypes by both numbers of a model id. Files change seldom, so the one found last is tried first.
Archetype* ArchetypeModels::archetype(uint32_t slot) const {
  if (slot >= config_.slots) return nullptr;
  if (Archetype* const same = known(slot)) return same;
  const uint32_t most = std::min<uint32_t>(config_.type_slots, kNoItyp);
  for (uint32_t types = 0; types < most; ++types) {
    const ModelId id{.archetype = static_cast<ArchetypeSlot>(slot), .types = static_cast<ItypSlot>(types)};
    if (Archetype* const found = config_.store->at(id)) {
      records_[slot].itype = id.types;
      return found;
    }
  }
  return nullptr;
}

StreamIndex ArchetypeModels::index_of(const Archetype& archetype) const {
  const ModelId id = archetype.model_id();
  if (id.archetype >= slot_count() || id.archetype >= config_.slots || config_.store->at(id) != &archetype) {
    return kNoStream;
  }
  records_[id.archetype].itype = id.types;
  return index(id.archetype);
}

NameHash ArchetypeModels::name_for_messages(uint32_t slot) const {
  const Archetype* const now = known(slot);
  if (now != nullptr) return now->name();
  return slot < config_.slots ? records_[slot].name : NameHash{};
}

// --- what it needs -------------------------------------------------------------------------------------

const NamedModule* ArchetypeModels::store_of(DrawableKind kind) const {
  switch (kind) {
    case DrawableKind::fragment:
      return config_.fragments;
    case DrawableKind::drawable:
      return config_.drawables;
    case DrawableKind::drawable_dictionary:
      return config_.dictionaries;
    case DrawableKind::none:
    case DrawableKind::assetless:
      return nullptr;
  }
  return nullptr;
}

ArchetypeModels::Record ArchetypeModels::record_of(const Archetype& archetype) const {
  Record out;
  out.name = archetype.name();
  out.itype = archetype.model_id().types;
  if (config_.types != nullptr && config_.types->is_used(out.itype)) {
    out.types = index_in(*config_.types, out.itype);
  }
  if (const NamedModule* const models = store_of(archetype.drawable_kind())) {
    const uint32_t slot = models->find(file_of(archetype));
    if (slot != kNoStreamSlot) out.model = index_in(*models, slot);
    out.is_missing = out.model == kNoStream;
  }
  return out;
}

/// The model's file has one parent, whatever archetypes ask for; the first one counts.
void ArchetypeModels::adopt_textures(const Archetype& archetype, const Record& record) const {
  if (config_.adopt == nullptr || record.model == kNoStream) return;
  const DrawableKind kind = archetype.drawable_kind();
  const NameHash file = file_of(archetype);
  const NameHash wanted =
      kind == DrawableKind::drawable_dictionary ? config_.store->parent_textures(file) : archetype.texture_dictionary();
  if (wanted.value == 0) return;
  const Status adopted = config_.adopt(config_.user, kind, record.model - store_of(kind)->base(), wanted);
  if (adopted.ok() || !textures_.first(file.value)) return;
  log_message(LogLevel::warning, archetype.name(), "archetype %s wants textures %s for %s: %s, %s (%" PRIu64 ")",
              name_text(archetype.name()).text, name_text(wanted).text, name_text(file).text, adopted.message,
              name_text(adopted.name).text, adopted.detail);
}

uint32_t ArchetypeModels::needs(uint32_t slot, std::span<StreamDependency> out) const {
  if (slot >= config_.slots) return 0;
  Record& record = records_[slot];
  Record looked_at;
  if (!record.is_set) {
    // Who only looks, such as for circles, looks at what is known.
    const Archetype* const now = record.is_asked ? archetype(slot) : known(slot);
    if (now == nullptr) return 0;
    looked_at = record_of(*now);
    if (record.is_asked) {
      looked_at.is_asked = looked_at.is_set = true;
      record = looked_at;
      if (record.is_missing && missing_.first(record.name.value)) {
        log_message(LogLevel::warning, record.name, "archetype %s has no model: %s has no slot for %s",
                    name_text(record.name).text, store_of(now->drawable_kind())->name(), name_text(file_of(*now)).text);
      }
      adopt_textures(*now, record);
    }
  }
  const Record& from = record.is_set ? record : looked_at;
  uint32_t count = 0;
  for (const StreamIndex needed : {from.types, from.model}) {
    if (needed == kNoStream) continue;
    if (count < out.size()) out[count] = {.index = needed};
    ++count;
  }
  return count;
}

void ArchetypeModels::note_state(uint32_t slot, StreamState to) {
  if (slot >= config_.slots) return;
  Record& record = records_[slot];
  const bool is_failed = to == StreamState::failed;
  failed_ += (is_failed ? 1u : 0u) - (record.is_failed ? 1u : 0u);
  record.is_failed = is_failed;
  record.is_asked = !is_failed && to != StreamState::not_loaded;
  if (record.is_asked && to != StreamState::requested) return;
  record.is_set = record.is_missing = false;
  if (to == StreamState::requested) record.name = {};
}

uint32_t ArchetypeModels::forget_departed(StreamingEngine& engine) {
  uint32_t departed = 0;
  for (uint32_t i = 0; i < config_.slots && failed_ != 0; ++i) {
    if (!records_[i].is_failed) continue;
    const Archetype* const now = archetype(i);
    departed += (now != nullptr ? now->name() : NameHash{}) != records_[i].name ? 1u : 0u;
  }
  if (departed != 0) engine.retry_failed();
  return departed;
}

// --- coming and going ----------------------------------------------------------------------------------

StreamStep ArchetypeModels::show(uint32_t slot) {
  Archetype* const now = archetype(slot);
  if (now == nullptr || !records_[slot].is_set || records_[slot].name != now->name()) {
    return {
        StreamStep::Kind::failed,
        {StatusCode::not_found, "no loaded type file has the archetype that was asked for; detail = its slot", slot}};
  }
  Record& record = records_[slot];
  const DrawableKind kind = now->drawable_kind();
  const NamedModule* const models = store_of(kind);
  if (models == nullptr) return {};
  const uint32_t model = record.model != kNoStream ? record.model - models->base() : kNoStreamSlot;
  now->set_drawable(kind, std::min(model, kNoDrawableSlot));
  if (kind == DrawableKind::drawable_dictionary) {
    const auto entries = model != kNoStreamSlot ? config_.entries(config_.user, model) : std::span<const NameHash>();
    // Nothing that is missing holds up what comes behind: the archetype says that it is, and the store has said why.
    record.is_missing = !config_.store->resolve_dictionary_entry(*now, entries).ok();
  }
  return {};
}

StreamStep ArchetypeModels::hide(uint32_t slot) {
  Archetype* const now = known(slot);
  if (now == nullptr || records_[slot].name != now->name()) return {};  // its file went before: nothing is left of it
  if (store_of(now->drawable_kind()) == nullptr) return {};
  if (now->drawable_kind() == DrawableKind::drawable_dictionary) config_.store->forget_dictionary_entry(*now);
  now->set_drawable(now->drawable_kind());
  return {};
}

}  // namespace meridian
