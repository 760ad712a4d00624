// SPDX-License-Identifier: MIT
// The parts of a world in flight, tied together. Records of it: world_streaming_trace.cpp; questions:
// world_explain.cpp.
#include "meridian/map/world_streaming.h"

#include <algorithm>
#include <cmath>

#include "meridian/base/assert.h"
#include "meridian/base/geometry.h"
#include "meridian/base/log.h"

namespace meridian {

// --- setting up ----------------------------------------------------------------------------------------

Status WorldStreaming::init(const WorldStreamingConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "initialised once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "the streaming is initialised"};
  if (config.mounts == nullptr || config.io == nullptr || config.maps == nullptr) {
    return {StatusCode::bad_value, "streaming needs mounts, io and a map world"};
  }
  config_ = config;
  config_.streamer.max_trees = std::max(config.streamer.max_trees, config.max_layers);  // each layer may have one
  if (config_.max_maps == 0) config_.max_maps = config.maps->config().maps;
  allocator_ = &allocator;
  if (const Status s = layers_.init({.mounts = config.mounts, .max_layers = config.max_layers}, allocator); !s.ok()) {
    return s;
  }
  const StreamingConfig engine{.mounts = config.mounts,
                               .io = config.io,
                               .budget = config.budget,
                               .max_resident = config.max_resident,
                               .max_in_flight = config.max_in_flight,
                               .retry = config.retry};
  if (const Status s = engine_.init(engine, allocator); !s.ok()) return s;
  const MapTypesStoreConfig types{
      .layers = &layers_, .archetypes = config.maps->config().archetypes, .slots = config.types_slots};
  if (const Status s = types_.init(types, allocator); !s.ok()) return s;
  const MapStoreConfig maps{.layers = &layers_,
                            .types = &types_,
                            .world = config.maps,
                            .engine = &engine_,
                            .slots = config.map_slots,
                            .priority_cap = config.priority_cap,
                            .streamer = config_.streamer};
  if (const Status s = maps_.init(maps, allocator); !s.ok()) return s;
  if (const Status s = groups_.init({.store = &maps_, .layers = &layers_}); !s.ok()) return s;
  late_since_ = static_cast<float*>(allocator.allocate(config.map_slots * sizeof(float), alignof(float)));
  late_ = static_cast<uint32_t*>(allocator.allocate(config.map_slots * sizeof(uint32_t), alignof(uint32_t)));
  if (late_since_ == nullptr || late_ == nullptr) {
    return {StatusCode::out_of_memory, "no memory for the streaming; detail = maps", config.map_slots};
  }
  std::fill_n(late_since_, config.map_slots, -1.0f);
  if (const Status s = engine_.add_module(types_, {.slots = config.types_slots}); !s.ok()) return s;
  return engine_.add_module(maps_, {.slots = config.map_slots, .max_loaded = config_.max_maps, .leaves_at_once = true});
}

Status WorldStreaming::start() {
  MERIDIAN_ASSERT(allocator_ != nullptr, "streaming is initialised, and not shut down");
  if (allocator_ == nullptr) return {StatusCode::bad_value, "streaming is not initialised, or was shut down"};
  if (engine_.is_started()) return {};
  // Children of maps that are switched off do not keep their parents waiting.
  config_.maps->set_map_filter(
      [](void* user, NameHash map) {
        const MapStore& maps = *static_cast<const MapStore*>(user);
        const uint32_t slot = maps.find(map);
        return slot != kNoStreamSlot && maps.is_counted(slot);
      },
      &maps_);
  return engine_.start();
}

void WorldStreaming::shutdown() {
  if (allocator_ == nullptr) return;
  if (engine_.is_started()) {
    for (uint32_t at = 0; at < layers_.count(); ++at) {
      (void)config_.maps->config().archetypes->close_context(layers_.layer(at).id);
    }
    config_.maps->set_map_filter(nullptr, nullptr);
  }
  engine_.shutdown();
  for (uint32_t at = 0; at < layers_.count(); ++at) maps_.remove_tree(layers_.layer(at).id);
  maps_.forget_all();
  types_.forget_all();
  types_reload_count_ = 0;
  while (layers_.count() > 0) layers_.remove(layers_.count() - 1);
  if (late_since_ != nullptr) allocator_->deallocate(late_since_, config_.map_slots * sizeof(float), alignof(float));
  if (late_ != nullptr) allocator_->deallocate(late_, config_.map_slots * sizeof(uint32_t), alignof(uint32_t));
  late_since_ = nullptr;
  late_ = nullptr;
  late_count_ = 0;
  unmounting_ = {};
  allocator_ = nullptr;
}

// --- layers --------------------------------------------------------------------------------------------

Status WorldStreaming::refresh() {
  const Status types = types_.refresh(engine_);
  const Status maps = maps_.refresh();
  groups_.refresh();
  engine_.reload_moved();
  engine_.retry_failed();
  return types.ok() ? maps : types;
}

Status WorldStreaming::check_circles() {
  StreamIndex circle[16];
  const uint32_t length = engine_.find_cycle(circle);
  if (length == 0) return {};
  char text[kMaxLogText];
  size_t at = 0;
  for (uint32_t i = 0; i <= std::min<uint32_t>(length, 15); ++i) {
    const StreamIndex slot = circle[i == length ? 0 : i];
    const StreamModule& module = *engine_.module_of(slot);
    const int more = std::snprintf(text + at, sizeof(text) - at, "%s%s", i == 0 ? "" : " -> ",
                                   name_text(module.slot_name(slot - module.base())).text);
    if (more < 0 || at + static_cast<size_t>(more) >= sizeof(text)) break;
    at += static_cast<size_t>(more);
  }
  const StreamModule& module = *engine_.module_of(circle[0]);
  const NameHash name = module.slot_name(circle[0] - module.base());
  log_message(LogLevel::error, name, "these need each other in a circle: %s", text);
  return {StatusCode::bad_structure, "type files need each other in a circle; detail = how many", length, name};
}

Status WorldStreaming::mount(MountId mount, bool is_base) {
  if (const Status s = start(); !s.ok()) return s;
  const Result<uint32_t> layer = layers_.add(mount, is_base);
  if (!layer.ok()) return layer.status();
  Status status = refresh();
  if (status.ok()) status = check_circles();
  if (status.ok()) return {};
  // As if it had never been. Its rows go last: slots know them until they are told otherwise.
  layers_.begin_leaving(layer.value());
  maps_.remove_tree(layers_.layer(layer.value()).id);
  (void)refresh();
  layers_.remove(layer.value());
  (void)refresh();
  return status;
}

Status WorldStreaming::begin_unmount(MountId mount) {
  const uint32_t at = layers_.of_mount(mount);
  if (at == layers_.count()) return {StatusCode::not_found, "no layer of this mount; detail = slot", mount.slot};
  if (unmounting_) return {StatusCode::in_use, "another mount is leaving; detail = slot", unmounting_.slot};
  if (layers_.layer(at).is_base) return {StatusCode::in_use, "the base stays mounted; detail = slot", mount.slot};
  record_number(kTagUnmount, mount.slot);
  unmounting_ = mount;
  layers_.begin_leaving(at);
  (void)config_.mounts->begin_leaving(mount);
  types_.end_permanence(engine_, layers_.layer(at));
  maps_.remove_tree(layers_.layer(at).id);
  (void)refresh();
  (void)engine_.evacuate(mount);
  return {};
}

void WorldStreaming::go_on_unmounting() {
  if (!unmounting_ || !engine_.evacuate(unmounting_)) return;
  const uint32_t at = layers_.of_mount(unmounting_);
  if (at < layers_.count()) layers_.remove(at);  // its index was pinned, too
  if (const Status s = config_.mounts->unmount(unmounting_); !s.ok()) {
    if (unmount_status_.ok()) {
      log_message(LogLevel::warning, s.name, "a mount waits for somebody who holds %s: %s", name_text(s.name).text,
                  s.message);
    }
    unmount_status_ = s;
    return;
  }
  unmount_status_ = {};
  unmounting_ = {};
  (void)refresh();
}

// --- frames --------------------------------------------------------------------------------------------

Status WorldStreaming::update(const WorldFrame& frame, StreamProgress* progress) {
  if (!engine_.is_started()) return {StatusCode::not_found, "nothing is mounted"};
  if (config_.maps->config().world->is_locked() || config_.maps->is_busy()) {
    return {StatusCode::in_use, "the world is locked: stream after the unlock"};
  }
  record_frame(frame);
  if (const Status s = maps_.update(frame.sources, frame.searches, frame.seconds); !s.ok()) return s;
  const StreamProgress did = engine_.update(
      {.seconds = frame.seconds, .max_microseconds = frame.max_microseconds, .max_chunks = frame.max_chunks});
  if (progress != nullptr) *progress = did;
  groups_.update();
  maps_.update_reloads();
  update_types_reloads();
  go_on_unmounting();
  (void)config_.maps->update_lod_sets(frame.seconds);
  (void)config_.maps->retry_waiting();
  count_late(frame.sources, frame.seconds);
  return {};
}

/// Counts maps that are not there though a source is inside their range. Looks only at what is not in the world.
void WorldStreaming::count_late(std::span<const StreamSource> sources, float seconds) {
  const BoxStreamer& streamer = maps_.streamer();
  const auto touches = [&](uint32_t slot) {
    if (!streamer.has_box(slot)) return false;
    const Aabb range = streamer.range_box(slot);
    const auto asset = static_cast<unsigned>(streamer.asset(slot));
    for (const StreamSource& source : sources) {
      const float reach = source.radius + maps_.config().streamer.pre_stream_distance[asset];
      if (std::sqrt(distance_squared(range, source.position)) <= reach) return true;
    }
    return false;
  };
  for (uint32_t i = 0; i < late_count_;) {
    const uint32_t slot = late_[i];
    if (!maps_.is_in_world(slot) && streamer.is_required(slot) && touches(slot)) {
      late_since_[slot] += seconds;
      ++i;
      continue;
    }
    const auto waited = static_cast<double>(late_since_[slot]);
    ++statistics_.late;
    statistics_.late_seconds += waited;
    if (waited > statistics_.worst_late) {
      statistics_.worst_late = waited;
      statistics_.worst_map = maps_.name_of(slot);
    }
    late_since_[slot] = -1;
    late_[i] = late_[--late_count_];
  }
  for (const uint32_t slot : streamer.waiting()) {
    if (late_since_[slot] >= 0 || maps_.is_in_world(slot) || maps_.is_off(slot) || !touches(slot)) continue;
    late_since_[slot] = seconds;
    late_[late_count_++] = slot;
  }
  statistics_.late_now = late_count_;
}

bool WorldStreaming::is_settled() const {
  if (types_.permanent_left(engine_) > 0) return false;
  for (const uint32_t slot : maps_.streamer().waiting()) {
    const StreamState state = engine_.state(maps_.index(slot));
    const bool is_over = maps_.is_in_world(slot) || maps_.is_off(slot) || state == StreamState::failed;
    if (!is_over && !maps_.is_postponed(slot)) return false;
  }
  return true;
}

void WorldStreaming::reset_statistics() {
  for (uint32_t i = 0; i < late_count_; ++i) late_since_[late_[i]] = -1;
  late_count_ = 0;
  statistics_ = {};
}

Status WorldStreaming::set_hour(uint32_t hour) {
  if (const Status s = config_.maps->config().scene->set_hour(hour); !s.ok()) return s;
  record_number(kTagHour, hour);
  groups_.set_hour(hour);
  return {};
}

void WorldStreaming::set_weather(NameHash weather) {
  record_number(kTagWeather, weather.value);
  groups_.set_weather(weather);
}

// --- new versions --------------------------------------------------------------------------------------

Status WorldStreaming::reload_map(NameHash name) {
  record_number(kTagReloadMap, name.value);
  return maps_.begin_reload(name);
}

Status WorldStreaming::reload_types(NameHash name) {
  record_number(kTagReloadTypes, name.value);
  const uint32_t slot = types_.find(name);
  if (slot == kNoStreamSlot) return {StatusCode::not_found, "no layer has such a type file", 0, name};
  if (!engine_.is_loaded(types_.index(slot))) {
    engine_.reload(types_.index(slot));
    return {};
  }
  for (uint32_t i = 0; i < types_reload_count_; ++i) {
    if (types_reloads_[i].name == name) return {StatusCode::in_use, "the type file is read anew already", 0, name};
  }
  if (types_reload_count_ == kMaxTypesReloads) {
    return {StatusCode::out_of_slots, "too many type files are read anew; detail = most", kMaxTypesReloads, name};
  }
  const Result<uint32_t> aside = types_.begin_aside(name);
  if (!aside.ok()) return aside.status();
  types_reloads_[types_reload_count_++] = {name, aside.value(), slot};
  engine_.keep(types_.index(aside.value()), StreamKeeper::version);
  return {};
}

void WorldStreaming::update_types_reloads() {
  for (uint32_t i = 0; i < types_reload_count_;) {
    TypesReload& reload = types_reloads_[i];
    if (reload.aside != kNoStreamSlot && !go_on_reloading(reload)) {
      ++i;
      continue;
    }
    // Once swapped or given up, what is left of it goes, and then its slot.
    if (has_left(reload.before)) {
      types_.end_aside(reload.before);
      reload = types_reloads_[--types_reload_count_];
    } else {
      ++i;
    }
  }
}

/// True when it is over.
bool WorldStreaming::go_on_reloading(TypesReload& reload) {
  const StreamIndex aside = types_.index(reload.aside);
  const StreamWhy why = engine_.why(aside);
  Status status;
  if (why.reason == StreamReason::failed) {
    status = why.status;
  } else if (types_.find(reload.name) != reload.before || !engine_.is_loaded(types_.index(reload.before))) {
    status = {StatusCode::not_found, "the old version has left meanwhile"};
    if (types_.find(reload.name) == reload.before) engine_.reload(types_.index(reload.before));  // not to come back
  } else if (why.reason == StreamReason::denied && why.denial != StreamDenial::in_flight) {
    if (++reload.denied < MapStore::kRoomUpdates) return false;
    status = {StatusCode::out_of_slots, "there is no room for both versions"};
  } else if (why.reason != StreamReason::loaded) {
    return false;
  } else if (engine_.mount_of(aside) != types_.locate(reload.aside).mount) {
    status = {StatusCode::not_found, "another mount has the file meanwhile"};
  } else {
    status = types_.swap(engine_, reload.before, reload.aside);
    if (status.ok()) {
      config_.maps->move_dependencies(static_cast<ItypSlot>(reload.before), static_cast<ItypSlot>(reload.aside));
    }
  }
  engine_.drop(aside, StreamKeeper::version);
  if (!status.ok()) {
    log_message(LogLevel::error, reload.name, "type file %s: the new version is not used: %s",
                name_text(reload.name).text, status.message);
    reload.before = reload.aside;
  }
  reload.aside = kNoStreamSlot;
  return true;
}

/// A version that no name leads to goes when nobody refers to it. True when it is gone.
bool WorldStreaming::has_left(uint32_t types) {
  const StreamIndex index = types_.index(types);
  if (engine_.state(index) != StreamState::leaving) engine_.reload(index);  // also what failed is forgotten
  return !engine_.is_resident(index) && engine_.state(index) == StreamState::not_loaded;
}

}  // namespace meridian
