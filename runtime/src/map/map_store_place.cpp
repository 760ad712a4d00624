// SPDX-License-Identifier: MIT
// How maps come into the world and leave it, and how a new version takes an old one's place.
#include <algorithm>

#include "meridian/base/assert.h"
#include "meridian/map/map_store.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/kinds.h"

namespace meridian {
namespace {

constexpr uint32_t kMostTypes = 1024;  // type files of one map

/// What a failed load means to the engine.
StreamStep step_of(const Status& status) {
  switch (status.code) {
    case StatusCode::in_use:
      return {StreamStep::Kind::blocked, status};
    case StatusCode::out_of_slots:
    case StatusCode::out_of_memory:
      return {StreamStep::Kind::full, status};
    default:
      return {StreamStep::Kind::failed, status};
  }
}

}  // namespace

ResourceLocation MapStore::where(uint32_t slot) const {
  return is_used(slot) ? config_.layers->locate(detail::kMapKind, name_of(slot)) : ResourceLocation();
}

StreamCost MapStore::costs(uint32_t slot) const {
  if (!is_known(slot)) return {};
  const MapSlot& row = *maps_[slot].definition.row;
  return {.bytes = row.size, .entities = row.entity_count, .descriptors = row.entity_count + row.grass_batch_count};
}

uint32_t MapStore::needs(uint32_t slot, std::span<StreamDependency> out) const {
  uint32_t number = 0;
  const auto add_one = [&](StreamIndex on, bool soft) {
    if (number < out.size()) out[number] = {on, soft};
    ++number;
  };
  if (!is_known(slot)) return 0;
  for (const NameHash name : maps_[slot].definition.dependencies) {
    const StreamIndex on = config_.types->find_index(name);
    if (on != kNoStream) {
      add_one(on, false);
    } else if (missing_.first(name.value)) {
      log_message(LogLevel::warning, name, "map %s needs type file %s, which is in no layer: its entities are left out",
                  name_text(name_of(slot)).text, name_text(name).text);
    }
  }
  const uint32_t parent = parent_slot(slot);
  if (parent != kNoStreamSlot && maps_[parent].off == 0) add_one(index(parent), true);
  return number;
}

Status MapStore::open(uint32_t /*slot*/, StreamPayload& payload) {
  const Result<Resource> opened = open_resource(payload.bytes, {.kind = detail::kMapKind, .trusted = payload.trusted});
  if (opened.ok()) payload.resource = opened.value();
  return opened.status();
}

// --- coming --------------------------------------------------------------------------------------------

StreamStep MapStore::begin(uint32_t slot, const StreamPayload& payload) {
  Map& map = maps_[slot];
  ItypSlot types[kMostTypes];
  uint32_t number = 0;
  for (const NameHash name : map.definition.dependencies) {
    const uint32_t on = config_.types->find(name);
    if (on != kNoStreamSlot && number < kMostTypes) types[number++] = static_cast<ItypSlot>(on);
  }
  const uint32_t parent = parent_slot(slot);
  MapContents* const above = parent != kNoStreamSlot ? contents(parent) : nullptr;
  const Result<MapContents*> begun = begin_map_load(*config_.world, payload.resource,
                                                    {.slot = slot,
                                                     .dependencies = {types, number},
                                                     .parent = above,
                                                     .priority_cap = config_.priority_cap,
                                                     .postponed = true,
                                                     .aside = is_off(slot, MapOff::aside),
                                                     .name = name_of(slot)});
  if (!begun.ok()) return step_of(begun.status());
  map.contents = begun.value();
  map.is_done = false;
  return {StreamStep::Kind::more, {}};
}

StreamStep MapStore::make(uint32_t slot, const StreamPayload& payload) {
  Map& map = maps_[slot];
  if (map.contents == nullptr) {
    const StreamStep begun = begin(slot, payload);
    if (begun.kind != StreamStep::Kind::more || map.contents == nullptr) return begun;
  }
  if (map.contents->is_loading()) {
    const Result<MapLoadProgress> step = step_map_load(*config_.world, *map.contents, config_.entities_a_step);
    if (!step.ok()) {
      if (step.status().code != StatusCode::in_use) map.contents = nullptr;  // it was taken back
      return step_of(step.status());
    }
    if (!step.value().done) return {StreamStep::Kind::more, {}};
  }
  return finish(slot);
}

/// All is made: links, and the one step that shows it.
StreamStep MapStore::finish(uint32_t slot) {
  Map& map = maps_[slot];
  map.is_done = true;
  // Whoever keeps it, it is not shown while another one stands in its place.
  const bool is_hidden = map.is_postponed || is_off(slot, MapOff::swapped_out);
  Status status = bind_children(slot);
  if (status.ok() && !is_hidden) status = map.contents->show();
  if (status.code == StatusCode::in_use) return {StreamStep::Kind::blocked, status};
  if (!status.ok()) {
    (void)unload_map_data(*config_.world, *map.contents);
    map.contents = nullptr;
    map.is_done = false;
    return step_of(status);
  }
  if (!is_hidden) set_in_world(slot, true);
  return {};
}

/// Maps that were there before their parent, and the own one if it came meanwhile.
Status MapStore::bind_children(uint32_t slot) {
  MapContents& contents = *maps_[slot].contents;
  const uint32_t parent = parent_slot(slot);
  MapContents* const above = parent != kNoStreamSlot ? this->contents(parent) : nullptr;
  if (above != nullptr && contents.parent() == nullptr) {
    if (const Status s = contents.bind_parent(*above); !s.ok()) return s;
  }
  if (is_off(slot, MapOff::aside)) return {};  // they are bound to the old version
  Status status;
  for (MapContents& child : config_.world->all_contents()) {
    if (&child == &contents || child.parent() != nullptr || NameHash{child.data().parent()} != name_of(slot)) continue;
    if (const Status s = child.bind_parent(contents); !s.ok()) status = s;
  }
  return status;
}

// --- going ---------------------------------------------------------------------------------------------

StreamStep MapStore::take_away(uint32_t slot) {
  Map& map = maps_[slot];
  if (map.contents != nullptr) {
    if (const Status s = unload_map_data(*config_.world, *map.contents); !s.ok()) return step_of(s);
  }
  map.contents = nullptr;
  map.is_done = false;
  set_in_world(slot, false);
  return {};
}

// --- new versions --------------------------------------------------------------------------------------

Status MapStore::begin_reload(NameHash name) {
  const uint32_t slot = find(name);
  if (slot == kNoStreamSlot) return {StatusCode::not_found, "no layer has such a map", 0, name};
  for (uint32_t i = 0; i < reload_count_; ++i) {
    if (reloads_[i].slot == slot) return {StatusCode::in_use, "the map is read anew already", 0, name};
  }
  StreamingEngine& engine = *config_.engine;
  if (!engine.is_loaded(index(slot))) {
    engine.reload(index(slot));
    return {};
  }
  if (reload_count_ == kMaxReloads) {
    return {StatusCode::out_of_slots, "too many maps are read anew; detail = most", kMaxReloads, name};
  }
  const Result<uint32_t> aside = add_aside(name);
  if (!aside.ok()) return aside.status();
  Map& map = maps_[aside.value()];
  map = {};
  map.definition = maps_[slot].definition;
  map.off = static_cast<uint8_t>(MapOff::aside);
  map.is_postponed = true;
  streamer_.ignore(aside.value(), true);
  reloads_[reload_count_++] = {.slot = slot, .aside = aside.value()};
  engine.keep(index(aside.value()), StreamKeeper::version);  // at no distance: nothing gives way to it
  return {};
}

void MapStore::update_reloads() {
  if (config_.world->is_busy()) return;
  for (uint32_t i = 0; i < reload_count_;) {
    Reload& reload = reloads_[i];
    if (!reload.is_over) reload.is_over = go_on_reloading(reload);
    if (reload.is_over && has_left(reload)) {
      end_reload(i);
    } else {
      ++i;
    }
  }
}

/// True when it is over: the new version is in force, or given up.
bool MapStore::go_on_reloading(Reload& reload) {
  StreamingEngine& engine = *config_.engine;
  const StreamIndex live = index(reload.slot), aside = index(reload.aside);
  const bool is_the_same = is_used(reload.slot) && name_of(reload.slot) == name_of(reload.aside);
  if (!is_the_same || !engine.is_loaded(live)) {
    // It has left, or was taken away: so may the new one. When it comes back it is read anew.
    if (is_the_same) engine.reload(live);
    engine.drop(aside, StreamKeeper::version);
    return true;
  }
  const StreamWhy why = engine.why(aside);
  if (why.reason == StreamReason::failed) {
    give_up(reload, why.status);
    return true;
  }
  if (why.reason == StreamReason::denied && why.denial != StreamDenial::in_flight) {
    if (++reload.denied < kRoomUpdates) return false;
    give_up(reload, {StatusCode::out_of_slots, "there is no room for both versions", 0, name_of(reload.slot)});
    return true;
  }
  if (why.reason != StreamReason::loaded) return false;
  if (const Status s = swap_versions(reload); !s.ok()) {
    give_up(reload, s);
    return true;
  }
  ++reloads_done_;
  engine.drop(aside, StreamKeeper::version);
  return true;
}

/// What is left in the slot beside goes, with its bytes. True when it is gone.
bool MapStore::has_left(const Reload& reload) {
  StreamingEngine& engine = *config_.engine;
  const StreamIndex aside = index(reload.aside);
  const StreamState state = engine.state(aside);
  // Cached bytes go at once; so does the memory of a failure, which is not that of who has the slot next.
  if (state == StreamState::not_loaded || state == StreamState::failed) engine.reload(aside);
  return !engine.is_resident(aside) && engine.state(aside) == StreamState::not_loaded;
}

void MapStore::give_up(Reload& reload, const Status& why) {
  log_message(LogLevel::error, name_of(reload.slot), "map %s: the new version is not used: %s",
              name_text(name_of(reload.slot)).text, why.message);
  config_.engine->drop(index(reload.aside), StreamKeeper::version);
  ++reloads_failed_;
}

/// The new version takes the place of the old one, shown if that is.
Status MapStore::swap_versions(const Reload& reload) {
  Map &live = maps_[reload.slot], &aside = maps_[reload.aside];
  if (const Status s = config_.world->replace(*live.contents, *aside.contents); !s.ok()) return s;
  std::swap(live.contents, aside.contents);
  config_.engine->exchange(index(reload.slot), index(reload.aside));
  return {};
}

void MapStore::end_reload(uint32_t at) {
  const uint32_t aside = reloads_[at].aside;
  reloads_[at] = reloads_[--reload_count_];
  streamer_.ignore(aside, false);
  maps_[aside] = {};
  free_slot(aside);
}

}  // namespace meridian
