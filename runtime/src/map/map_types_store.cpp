// SPDX-License-Identifier: MIT
#include "meridian/map/map_types_store.h"

#include <algorithm>
#include <limits>
#include <new>

#include "meridian/base/assert.h"
#include "meridian/map/map_types.h"
#include "meridian/schemas/ityp_generated.h"
#include "resource/flat_vector.h"
#include "resource/kinds.h"

namespace meridian {

namespace {

/// What the file itself says, since an index may be older.
uint32_t archetypes_in(const Resource& resource) {
  const auto& types = *resource.root<schema::MapTypes>();
  return detail::size_of(types.archetypes()) + detail::size_of(types.composite_entity_types());
}

}  // namespace

Status MapTypesStore::init(const MapTypesStoreConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(slots_ == nullptr, "initialised once");
  if (slots_ != nullptr) return {StatusCode::in_use, "the store of type files is initialised"};
  if (config.layers == nullptr || config.archetypes == nullptr || config.slots > kNoItyp ||
      config.archetypes_a_step == 0) {
    return {StatusCode::bad_value, "a store of type files has layers, archetypes and at most 65535 slots",
            config.slots};
  }
  if (config.slots > config.archetypes->types_capacity()) {
    return {StatusCode::bad_value, "more slots of type files than ArchetypeStoreConfig::types; detail = slots",
            config.slots};
  }
  const NamedModuleConfig names{.slots = config.slots, .mounts = &config.layers->mounts(), .kind = detail::kTypesKind};
  if (const Status s = init_names(names, allocator); !s.ok()) return s;
  slots_ = static_cast<Slot*>(allocator.allocate(config.slots * sizeof(Slot), alignof(Slot)));
  if (slots_ == nullptr) return {StatusCode::out_of_memory, "no memory for slots of type files", config.slots};
  for (uint32_t i = 0; i < config.slots; ++i) new (&slots_[i]) Slot;
  config_ = config;
  return {};
}

void MapTypesStore::free_slots() {
  if (slots_ == nullptr) return;
  allocator().deallocate(slots_, config_.slots * sizeof(Slot), alignof(Slot));
  slots_ = nullptr;
}

// --- layers --------------------------------------------------------------------------------------------

Status MapTypesStore::refresh(StreamingEngine& engine) {
  Status status;
  const WorldLayers& layers = *config_.layers;
  for (uint32_t at = 0; at < layers.count(); ++at) {
    if (layers.layer(at).is_leaving) continue;
    for (const TypesSlot& row : layers.layer(at).index.types()) {
      const Result<uint32_t> slot = add(row.name);
      if (!slot.ok()) status = slot.status();
    }
    for (const TypesSlot& row : layers.layer(at).loose_types) {
      const Result<uint32_t> slot = add(row.name);
      if (!slot.ok()) status = slot.status();
    }
  }
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (!is_used(slot) || slots_[slot].is_aside) continue;
    const TypesDefinition now = definition(slot);
    const ResourceLocation location = locate(slot);
    const bool is_permanent = now && location && (now.row->is_permanent() || config_.archetypes->all_types_permanent());
    if (is_permanent != slots_[slot].is_permanent) {
      slots_[slot].is_permanent = is_permanent;
      if (is_permanent) {
        engine.keep(index(slot), StreamKeeper::owner);
      } else {
        engine.drop(index(slot), StreamKeeper::owner);
      }
    }
    if (now || location || engine.is_resident(index(slot)) || engine.is_kept(index(slot))) continue;
    free_slot(slot);
    slots_[slot] = {};
  }
  return status;
}

void MapTypesStore::end_permanence(StreamingEngine& engine, const WorldLayers::Layer& layer) {
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (!is_used(slot) || !slots_[slot].is_permanent || slots_[slot].layer != layer.id) continue;
    slots_[slot].is_permanent = false;
    engine.drop(index(slot), StreamKeeper::owner);
  }
  (void)config_.archetypes->close_context(layer.id);  // those in use go when what uses them has gone
}

uint32_t MapTypesStore::permanent_left(const StreamingEngine& engine) const {
  uint32_t left = 0;
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (!is_used(slot) || !slots_[slot].is_permanent) continue;
    const StreamState state = engine.state(index(slot));
    left += state != StreamState::loaded && state != StreamState::failed ? 1 : 0;
  }
  return left;
}

void MapTypesStore::forget_all() {
  for (uint32_t slot = 0; slots_ != nullptr && slot < config_.slots; ++slot) {
    if (!is_used(slot)) continue;
    free_slot(slot);
    slots_[slot] = {};
  }
}

// --- new versions --------------------------------------------------------------------------------------

Result<uint32_t> MapTypesStore::begin_aside(NameHash name) {
  const Result<uint32_t> slot = add_aside(name);
  if (slot.ok()) {
    slots_[slot.value()] = {};
    slots_[slot.value()].is_aside = true;
    slots_[slot.value()].distance = std::numeric_limits<float>::infinity();  // nothing gives way to it
  }
  return slot;
}

Status MapTypesStore::swap(StreamingEngine& engine, uint32_t before, uint32_t aside) {
  const bool may = before < config_.slots && aside < config_.slots && slots_[aside].is_aside &&
                   find(name_of(aside)) == before && engine.is_loaded(index(before)) && engine.is_loaded(index(aside));
  MERIDIAN_ASSERT(may, "a version and a new one that are loaded");
  if (!may) return {StatusCode::bad_value, "not a version and a new one that are loaded; detail = its slot", aside};
  const Status s = config_.archetypes->replace_types(static_cast<ItypSlot>(before), static_cast<ItypSlot>(aside));
  if (!s.ok()) return s;
  slots_[aside].is_aside = false;
  slots_[aside].distance = 0;
  slots_[aside].is_permanent = slots_[before].is_permanent;
  lead_to(aside);
  engine.move_wishes(index(before), index(aside));
  slots_[before].is_aside = true;  // no name leads to it; it goes when nobody refers to its archetypes
  slots_[before].is_permanent = false;
  return {};
}

void MapTypesStore::end_aside(uint32_t slot) {
  MERIDIAN_ASSERT(is_used(slot) && slots_[slot].is_aside, "a version that no name leads to");
  if (!is_used(slot) || !slots_[slot].is_aside) return;
  free_slot(slot);
  slots_[slot] = {};
}

// --- StreamModule --------------------------------------------------------------------------------------

ResourceLocation MapTypesStore::where(uint32_t slot) const {
  return is_used(slot) ? config_.layers->locate(detail::kTypesKind, name_of(slot)) : ResourceLocation();
}

StreamCost MapTypesStore::costs(uint32_t slot) const {
  const TypesDefinition now = definition(slot);
  return {.bytes = now ? now.row->size : 0};
}

uint32_t MapTypesStore::needs(uint32_t slot, std::span<StreamDependency> out) const {
  uint32_t number = 0;
  for (const NameHash name : definition(slot).dependencies) {
    const uint32_t on = find(name);
    if (on == kNoStreamSlot || on == slot) {
      if (on == kNoStreamSlot && missing_.first(name.value)) {
        log_message(LogLevel::warning, name, "type file %s needs %s, which is in no layer: it goes without",
                    name_text(name_of(slot)).text, name_text(name).text);
      }
      continue;
    }
    if (number < out.size()) out[number] = {index(on), false};
    ++number;
  }
  return number;
}

Status MapTypesStore::open(uint32_t /*slot*/, StreamPayload& payload) {
  const Result<Resource> opened =
      open_resource(payload.bytes, {.kind = detail::kTypesKind, .trusted = payload.trusted});
  if (opened.ok()) payload.resource = opened.value();
  return opened.status();
}

StreamStep MapTypesStore::make(uint32_t slot, const StreamPayload& payload) {
  Slot& own = slots_[slot];
  ArchetypeStore& store = *config_.archetypes;
  const auto types = static_cast<ItypSlot>(slot);
  if (!own.is_begun) {
    const TypesDefinition now = definition(slot);
    TypesPlacement placement{.slot = types, .file = name_of(slot)};
    // Where the bytes are from: an index may be that of a patch over them.
    const uint32_t at = config_.layers->of_mount(locate(slot).mount);
    if (now && at < config_.layers->count()) {
      const WorldLayers::Layer& layer = config_.layers->layer(at);
      placement.layer = layer.id;
      placement.context = layer.id;
      if (now.row->is_permanent()) {
        placement.permanence = layer.is_base ? Permanence::permanent : Permanence::in_context;
      }
      // Rather later than without some of its archetypes, unless it can never fit. A new version fits, or is given up.
      const bool is_for_good = placement.permanence == Permanence::permanent;
      const uint32_t wanted = archetypes_in(payload.resource);
      const uint32_t free = is_for_good ? store.permanent_free() : store.streamed_free();
      if (wanted > free && (own.is_aside || (!is_for_good && wanted <= store.streamed_capacity()))) {
        return {StreamStep::Kind::full,
                {StatusCode::out_of_slots, "no slots are free for its archetypes; detail = how many it needs", wanted,
                 name_of(slot)}};
      }
    }
    const Status begun = begin_map_types(store, payload.resource, placement);
    if (begun.code == StatusCode::out_of_memory || begun.code == StatusCode::out_of_slots) {
      return {StreamStep::Kind::full, begun};
    }
    if (!begun.ok()) return {StreamStep::Kind::failed, begun};
    own.layer = placement.layer;
    own.is_begun = true;
    own.made = 0;
  }
  const TypesProgress progress = step_map_types(store, payload.resource, types, own.made, config_.archetypes_a_step);
  own.made = progress.made;
  if (!progress.done) return {StreamStep::Kind::more, {}};
  if (own.is_aside) return {};  // swap() publishes it
  if (const Status s = store.publish_types(types); !s.ok()) {
    (void)store.close_types(types);
    own.is_begun = false;
    return {StreamStep::Kind::failed, s};
  }
  return {};
}

StreamStep MapTypesStore::take_away(uint32_t slot) {
  Slot& own = slots_[slot];
  ArchetypeStore& store = *config_.archetypes;
  const auto types = static_cast<ItypSlot>(slot);
  if (store.is_loaded(types)) {
    // A permanent one is asked to go only where another layer's file stands in its place, or at the end.
    if (const Status s = store.close_types(types, true); !s.ok()) return {StreamStep::Kind::blocked, s};
  }
  own.is_begun = false;
  own.made = 0;
  return {};
}

}  // namespace meridian
