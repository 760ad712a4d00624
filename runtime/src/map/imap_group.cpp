// SPDX-License-Identifier: MIT
#include "meridian/map/imap_group.h"

#include <algorithm>
#include <iterator>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian {

const char* to_string(SwapState state) {
  static constexpr const char* kWords[] = {"none", "preloading", "ready", "swapped", "aborted", "failed"};
  const auto at = static_cast<unsigned>(state);
  return at < std::size(kWords) ? kWords[at] : "?";
}

Status MapGroups::init(const MapGroupsConfig& config) {
  MERIDIAN_ASSERT(config.store != nullptr && config.layers != nullptr, "groups have a store and layers");
  if (config.store == nullptr || config.layers == nullptr) return {StatusCode::bad_value, "groups need a store"};
  config_ = config;
  return {};
}

// --- hours and weathers --------------------------------------------------------------------------------

bool MapGroups::is_on(const MapGroup& group) const {
  if ((group.flags & MapGroup::kTimeDependent) != 0 && (group.hours >> hour_ & 1) == 0) return false;
  if ((group.flags & MapGroup::kWeatherDependent) == 0) return true;
  const auto& weathers = group.weather_types;
  return std::find(weathers.begin(), weathers.end(), weather_) != weathers.end();
}

void MapGroups::set_hour(uint32_t hour) {
  MERIDIAN_ASSERT(hour < 24, "an hour of the day");
  hour_ = hour % 24;
  apply();
}

void MapGroups::set_weather(NameHash weather) {
  weather_ = weather;
  apply();
}

/// Of a name that several layers know, the highest counts.
bool MapGroups::find_group(NameHash name, MapGroup& out, uint32_t& layer) const {
  for (uint32_t at = config_.layers->count(); at-- > 0;) {
    if (config_.layers->layer(at).is_leaving || !config_.layers->layer(at).index.find_group(name, out)) continue;
    layer = at;
    return true;
  }
  return false;
}

/// A map that is in no group any more, because a layer left, is on.
void MapGroups::apply() {
  MapStore& store = *config_.store;
  const WorldLayers& layers = *config_.layers;
  for (uint32_t at = 0; at < layers.count(); ++at) {
    const WorldIndex& index = layers.layer(at).index;
    if (layers.layer(at).is_leaving) continue;
    for (uint32_t g = 0; g < index.group_count(); ++g) {
      const MapGroup group = index.group(g);
      if (is_on(group)) continue;
      MapGroup counts;
      uint32_t layer = 0;
      if (!find_group(group.name, counts, layer) || layer != at) continue;  // a higher layer has another
      for (const uint32_t row : group.maps) {
        const uint32_t slot = store.find(index.maps()[row].name);
        if (slot != kNoStreamSlot) store.mark_group_off(slot);
      }
    }
  }
  store.apply_group_marks();
}

Status MapGroups::gather(NameHash name, Side& out) const {
  const auto add = [&](NameHash map) {
    if (config_.store->find(map) == kNoStreamSlot) return true;
    if (out.count == kMaxMaps) return false;
    out.maps[out.count++] = map;
    return true;
  };
  MapGroup group;
  uint32_t layer = 0;
  if (find_group(name, group, layer)) {
    for (const uint32_t row : group.maps) {
      if (!add(config_.layers->layer(layer).index.maps()[row].name)) {
        return {StatusCode::too_large, "too many maps in a group; detail = most", kMaxMaps, name};
      }
    }
  } else {
    (void)add(name);
  }
  if (out.count == 0) return {StatusCode::not_found, "neither a group nor a map", 0, name};
  return {};
}

Status MapGroups::set_active(NameHash name, bool active) {
  Side side;
  if (const Status s = gather(name, side); !s.ok()) return s;
  for (uint32_t i = 0; i < side.count; ++i) {
    const uint32_t swap = swap_of(config_.store->find(side.maps[i]));
    if (swap != kMaxSwaps && swaps_[swap].in.has(side.maps[i])) {
      return {StatusCode::in_use, "a map comes in a swap; detail = its number", swap, side.maps[i]};
    }
  }
  bool any = false;
  for (uint32_t i = 0; i < side.count; ++i) {
    const uint32_t slot = config_.store->find(side.maps[i]);
    if (!config_.store->is_manual(slot)) continue;
    config_.store->set_off(slot, MapOff::manual, !active);
    any = true;
  }
  return any ? Status{} : Status{StatusCode::bad_value, "no map of the group is manual", 0, name};
}

// --- swaps ---------------------------------------------------------------------------------------------

bool MapGroups::Side::has(NameHash map) const { return std::find(maps, maps + count, map) != maps + count; }

bool MapGroups::is_locked() const {
  const MapWorld& maps = *config_.store->config().world;
  return maps.config().world->is_locked() || maps.is_busy();
}

uint32_t MapGroups::swap_of(uint32_t slot) const {
  const NameHash name = config_.store->name_of(slot);
  for (uint32_t i = 0; i < kMaxSwaps; ++i) {
    const Swap& swap = swaps_[i];
    if (swap.state != SwapState::preloading && swap.state != SwapState::ready) continue;
    if (swap.in.has(name) || swap.out.has(name)) return i;
  }
  return kMaxSwaps;
}

/// It stays though the box streamer lets go of it.
bool MapGroups::is_kept_by_others(uint32_t slot) const {
  const StreamingEngine& engine = config_.store->engine();
  const StreamIndex index = config_.store->index(slot);
  bool is = engine.refs(index) > 0;
  for (const StreamKeeper keeper :
       {StreamKeeper::script, StreamKeeper::code, StreamKeeper::group, StreamKeeper::owner}) {
    is = is || engine.is_kept(index, keeper);
  }
  return is;
}

Result<uint32_t> MapGroups::begin_swap(NameHash from, NameHash to, const SwapOptions& options) {
  uint32_t number = options.is_script ? 0 : 1;
  while (number < kMaxSwaps && swaps_[number].state != SwapState::none)
    number = options.is_script ? kMaxSwaps : number + 1;
  if (number == kMaxSwaps) {
    return Status{StatusCode::out_of_slots, "too many swaps at once; detail = most", kMaxSwaps, to};
  }
  MapStore& store = *config_.store;
  Swap swap;
  if (const Status s = gather(from, swap.out); !s.ok()) return s;
  if (const Status s = gather(to, swap.in); !s.ok()) return s;
  for (const Side* side : {&swap.in, &swap.out}) {
    const Side& other = side == &swap.in ? swap.out : swap.in;
    for (uint32_t i = 0; i < side->count; ++i) {
      const NameHash map = side->maps[i];
      if (other.has(map) || swap_of(store.find(map)) != kMaxSwaps) {
        return Status{StatusCode::in_use, "the map is in another swap, or on both sides of this one", 0, map};
      }
    }
  }
  swap.state = SwapState::preloading;
  swap.waits = options.waits;
  swap.from = from;
  swap.to = to;
  for (uint32_t i = 0; i < swap.in.count; ++i) {
    const uint32_t slot = store.find(swap.in.maps[i]);
    for (const MapOff why : {MapOff::manual, MapOff::swapped_out}) {
      if (store.is_off(slot, why)) swap.in.was_off[i] |= static_cast<uint8_t>(why);
    }
    // One that is about to leave does not stay after all, but for the swap.
    const bool leaves = swap.in.was_off[i] != 0 && !is_kept_by_others(slot);
    if (store.is_in_world(slot) && leaves) (void)store.show_now(slot, false);
    if (!store.is_in_world(slot)) store.set_postponed(slot, true);
    // What failed before is tried anew.
    const StreamIndex index = store.index(slot);
    if (store.engine().state(index) == StreamState::failed) store.engine().reload(index);
    for (const MapOff why : {MapOff::manual, MapOff::swapped_out}) store.set_off(slot, why, false);
  }
  swaps_[number] = swap;
  return number;
}

/// All maps that stream here are loaded.
bool MapGroups::is_ready(const Swap& swap, Status& failure) const {
  const MapStore& store = *config_.store;
  bool all = true;
  for (uint32_t i = 0; i < swap.in.count; ++i) {
    const NameHash name = swap.in.maps[i];
    const uint32_t slot = store.find(name);
    if (slot == kNoStreamSlot || store.is_off(slot, MapOff::undefined)) {
      failure = {StatusCode::not_found, "no layer has the map any more", 0, name};
      return false;
    }
    if (store.is_off(slot, MapOff::manual) || store.is_off(slot, MapOff::swapped_out)) {
      failure = {StatusCode::in_use, "the map was switched off", 0, name};
      return false;
    }
    const StreamIndex index = store.index(slot);
    const StreamState state = store.engine().state(index);
    if (state == StreamState::failed) {
      failure = store.engine().why(index).status;
      failure.name = name;
      return false;
    }
    const bool is_awaited = store.streamer().is_required(slot) || store.engine().is_kept(index);
    if (is_awaited && state != StreamState::loaded) all = false;
  }
  return all;
}

void MapGroups::update() {
  for (Swap& swap : swaps_) {
    if (swap.state != SwapState::preloading && swap.state != SwapState::ready) continue;
    if (!swap.has_asked) {  // the streamer has not looked since
      swap.has_asked = true;
      continue;
    }
    Status failure;
    const bool ready = is_ready(swap, failure);
    if (!failure.ok()) {
      if (!is_locked()) fail(swap, failure);
      continue;
    }
    swap.state = ready ? SwapState::ready : SwapState::preloading;
    if (ready && !swap.waits) (void)commit_swap(static_cast<uint32_t>(&swap - swaps_));
  }
}

Status MapGroups::commit_swap(uint32_t number) {
  Status status{StatusCode::in_use, "the swap is not ready; detail = its number", number};
  if (number >= kMaxSwaps || swaps_[number].state != SwapState::ready) return status;
  Swap& swap = swaps_[number];
  if (is_locked()) return {StatusCode::in_use, "the world is locked: swap after the unlock", 0, swap.to};
  Status failure;
  if (!is_ready(swap, failure)) {  // it was at the last update
    if (failure.ok()) return status;
    status = failure;
  } else {
    status = exchange(swap);
  }
  if (!status.ok()) fail(swap, status);
  return status;
}

/// Hides one side and shows the other, or neither.
Status MapGroups::exchange(Swap& swap) {
  MapStore& store = *config_.store;
  MapWorld& world = *store.config().world;
  bool was_out[kMaxMaps] = {}, was_in[kMaxMaps] = {};
  world.hold_lod_sets();
  for (uint32_t i = 0; i < swap.out.count; ++i) {
    const uint32_t slot = store.find(swap.out.maps[i]);
    if (slot == kNoStreamSlot) continue;  // its layer has left
    was_out[i] = store.is_in_world(slot);
    (void)store.show_now(slot, false);
  }
  Status status;
  for (uint32_t i = 0; i < swap.in.count && status.ok(); ++i) {
    const uint32_t slot = store.find(swap.in.maps[i]);
    was_in[i] = store.is_in_world(slot);
    status = store.show_now(slot, true);
    if (!status.ok()) status.name = swap.in.maps[i];
  }
  for (uint32_t i = 0; i < swap.in.count; ++i) {
    const uint32_t slot = store.find(swap.in.maps[i]);
    if (status.ok()) {
      store.set_postponed(slot, false);
    } else if (!was_in[i]) {
      (void)store.show_now(slot, false);
    }
  }
  for (uint32_t i = 0; i < swap.out.count; ++i) {
    const uint32_t slot = store.find(swap.out.maps[i]);
    if (slot == kNoStreamSlot) continue;
    if (status.ok()) {
      store.set_off(slot, MapOff::swapped_out, true);
    } else if (was_out[i]) {
      (void)store.show_now(slot, true);
    }
  }
  world.release_lod_sets();
  if (status.ok()) swap.state = SwapState::swapped;
  return status;
}

void MapGroups::fail(Swap& swap, const Status& why) {
  swap.failure = why;
  log_message(LogLevel::error, swap.to, "swap of %s for %s is taken back: %s", name_text(swap.from).text,
              name_text(swap.to).text, why.message);
  take_back(swap, SwapState::failed);
}

/// The maps that were to come are what they were. Requires: not locked.
void MapGroups::take_back(Swap& swap, SwapState state) {
  MapStore& store = *config_.store;
  swap.state = state;
  for (uint32_t i = 0; i < swap.in.count; ++i) {
    const uint32_t slot = store.find(swap.in.maps[i]);
    if (slot == kNoStreamSlot) continue;  // its layer has left
    for (const MapOff why : {MapOff::manual, MapOff::swapped_out}) {
      if ((swap.in.was_off[i] & static_cast<uint8_t>(why)) != 0) store.set_off(slot, why, true);
    }
    store.set_postponed(slot, false);
    // One that would be in the world without the swap is; what only came for it goes unseen.
    const bool stays = store.is_off(slot) ? is_kept_by_others(slot) : store.engine().is_kept(store.index(slot));
    const bool is_hidden = store.is_off(slot, MapOff::swapped_out);
    if (stays && !is_hidden && !store.is_in_world(slot)) (void)store.show_now(slot, true);
  }
}

Status MapGroups::abort_swap(uint32_t number) {
  if (number >= kMaxSwaps || swaps_[number].state == SwapState::none) {
    return {StatusCode::not_found, "no such swap; detail = its number", number};
  }
  Swap& swap = swaps_[number];
  if (swap.state != SwapState::preloading && swap.state != SwapState::ready) {
    return {StatusCode::in_use, "the swap is over already; detail = its number", number};
  }
  if (is_locked()) return {StatusCode::in_use, "the world is locked: abort after the unlock", 0, swap.to};
  take_back(swap, SwapState::aborted);
  return {};
}

Status MapGroups::end_swap(uint32_t number) {
  if (number >= kMaxSwaps || swaps_[number].state == SwapState::none) {
    return {StatusCode::not_found, "no such swap; detail = its number", number};
  }
  const SwapState state = swaps_[number].state;
  if (state == SwapState::preloading || state == SwapState::ready) {
    return {StatusCode::in_use, "the swap is under way: abort it first; detail = its number", number};
  }
  swaps_[number] = {};
  return {};
}

}  // namespace meridian
