// SPDX-License-Identifier: MIT
// Layers, slots, switches. How maps come and go: map_store_place.cpp.
#include "meridian/map/map_store.h"

#include <new>

#include "meridian/base/assert.h"
#include "resource/kinds.h"

namespace meridian {
namespace {

constexpr uint32_t kManual = 1u << 0, kIsParent = 1u << 1;  // schema::MapFlags

constexpr uint8_t bit(MapOff why) { return static_cast<uint8_t>(why); }

}  // namespace

Status MapStore::init(const MapStoreConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(maps_ == nullptr, "initialised once");
  if (maps_ != nullptr) return {StatusCode::in_use, "the store of maps is initialised"};
  if (config.layers == nullptr || config.types == nullptr || config.world == nullptr || config.engine == nullptr ||
      config.entities_a_step == 0) {
    return {StatusCode::bad_value, "a store of maps has layers, type files, a world and an engine"};
  }
  const NamedModuleConfig names{.slots = config.slots, .mounts = &config.layers->mounts(), .kind = detail::kMapKind};
  if (const Status s = init_names(names, allocator); !s.ok()) return s;
  config_ = config;
  config_.streamer.capacity = config.slots;
  if (const Status s = streamer_.init(config_.streamer, *this, allocator); !s.ok()) return s;
  maps_ = static_cast<Map*>(allocator.allocate(config.slots * sizeof(Map), alignof(Map)));
  if (maps_ == nullptr) return {StatusCode::out_of_memory, "no memory for slots of maps; detail = slots", config.slots};
  for (uint32_t i = 0; i < config.slots; ++i) new (&maps_[i]) Map;
  return {};
}

void MapStore::free_slots() {
  if (maps_ == nullptr) return;
  allocator().deallocate(maps_, config_.slots * sizeof(Map), alignof(Map));
  maps_ = nullptr;
}

// --- layers --------------------------------------------------------------------------------------------

/// Slots and the tree of one layer that has an index.
Status MapStore::add_layer(const WorldLayers::Layer& layer) {
  const std::span<const MapSlot> rows = layer.index.maps();
  if (rows.empty()) return {};
  auto* const slots = static_cast<uint32_t*>(allocator().allocate(rows.size() * sizeof(uint32_t), alignof(uint32_t)));
  if (slots == nullptr) return {StatusCode::out_of_memory, "no memory for a layer; detail = maps", rows.size()};
  Status status;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Result<uint32_t> slot = add(rows[i].name);
    slots[i] = slot.ok() ? slot.value() : kNoStreamSlot;
    if (!slot.ok()) status = slot.status();
  }
  const BoxTree content = layer.index.entities_tree();
  const Result<BoxTreeId> tree = streamer_.add_tree(
      {.range = layer.index.streaming_tree(),
       .content = &content,
       .slots = {slots, rows.size()},
       .assets = {},
       .asset_of = [](const void* user, uint32_t item) { return static_cast<const MapSlot*>(user)[item].asset; },
       .user = rows.data()});
  allocator().deallocate(slots, rows.size() * sizeof(uint32_t), alignof(uint32_t));
  if (!tree.ok()) return tree.status();
  trees_[tree_count_++] = {layer.id, tree.value()};
  return status;
}

/// Slots and boxes of maps that no index knows.
Status MapStore::add_boxes(const WorldLayers::Layer& layer) {
  Status status;
  for (const MapSlot& row : layer.loose) {
    const Result<uint32_t> slot = add(row.name);
    if (!slot.ok()) {
      status = slot.status();
      continue;
    }
    const bool has_range = row.streaming.min.x <= row.streaming.max.x && row.streaming.min.y <= row.streaming.max.y &&
                           row.streaming.min.z <= row.streaming.max.z;
    // What a layer above says counts for more, and may stand in a tree.
    if (!has_range || config_.layers->map(row.name).row != &row) continue;
    if (const Status s = streamer_.set_box(slot.value(), row.streaming, row.entities, row.asset); !s.ok()) status = s;
  }
  return status;
}

void MapStore::remove_tree(LayerId layer) {
  for (uint32_t i = 0; i < tree_count_; ++i) {
    if (trees_[i].layer != layer) continue;
    streamer_.remove_tree(trees_[i].id);
    for (uint32_t j = i; j + 1 < tree_count_; ++j) trees_[j] = trees_[j + 1];
    --tree_count_;
    return;
  }
}

void MapStore::forget_all() {
  for (uint32_t slot = 0; maps_ != nullptr && slot < config_.slots; ++slot) {
    if (!is_used(slot)) continue;
    streamer_.remove_box(slot);
    streamer_.set_in_world(slot, false);
    streamer_.ignore(slot, false);
    free_slot(slot);
    maps_[slot] = {};
  }
  reload_count_ = 0;
}

Status MapStore::refresh() {
  Status status;
  const WorldLayers& layers = *config_.layers;
  for (uint32_t at = 0; at < layers.count(); ++at) {
    const WorldLayers::Layer& layer = layers.layer(at);
    if (layer.is_leaving) continue;
    bool has_tree = false;
    for (uint32_t i = 0; i < tree_count_; ++i) has_tree = has_tree || trees_[i].layer == layer.id;
    if (has_tree) continue;
    if (const Status s = add_layer(layer); !s.ok()) status = s;
  }
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (is_used(slot)) streamer_.remove_box(slot);
  }
  for (uint32_t at = 0; at < layers.count(); ++at) {
    if (layers.layer(at).is_leaving) continue;
    if (const Status s = add_boxes(layers.layer(at)); !s.ok()) status = s;
  }
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (!is_used(slot)) continue;
    if (is_off(slot, MapOff::aside)) {
      refresh_aside(slot);
    } else {
      refresh_slot(slot);
    }
  }
  return status;
}

/// A new version goes by the layers too. Whether it may still come into force: go_on_reloading().
void MapStore::refresh_aside(uint32_t slot) {
  maps_[slot].definition = config_.layers->map(name_of(slot));
  const MountId resident = config_.engine->mount_of(index(slot));
  if (resident && resident != where(slot).mount) config_.engine->reload(index(slot));
}

void MapStore::refresh_slot(uint32_t slot) {
  Map& map = maps_[slot];
  const bool was_manual = is_manual(slot);
  map.definition = config_.layers->map(name_of(slot));
  const ResourceLocation location = where(slot);
  set_off(slot, MapOff::undefined, !map.definition || !location);
  if (is_manual(slot) != was_manual) set_off(slot, MapOff::manual, is_manual(slot));
  StreamingEngine& engine = *config_.engine;
  if (map.definition || location || engine.is_resident(index(slot)) || engine.is_kept(index(slot))) return;
  streamer_.ignore(slot, false);
  free_slot(slot);
  map = {};
}

Status MapStore::update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches, float seconds) {
  if (any_recount_ && !config_.world->config().scene->graph().is_locked()) {
    any_recount_ = false;
    for (uint32_t slot = 0; slot < config_.slots; ++slot) {
      if (maps_[slot].needs_recount) recount(slot);
    }
  }
  return streamer_.update(sources, searches, seconds);
}

// --- what is known -------------------------------------------------------------------------------------

MapInit MapStore::init_state(uint32_t slot) const {
  if (!is_known(slot)) return MapInit::not_initialised;
  return contents(slot) != nullptr ? MapInit::fully_initialised : MapInit::requires_preload;
}

bool MapStore::is_manual(uint32_t slot) const {
  return is_known(slot) && (maps_[slot].definition.row->flags & kManual) != 0;
}
bool MapStore::is_parent(uint32_t slot) const {
  return is_known(slot) && (maps_[slot].definition.row->flags & kIsParent) != 0;
}

uint32_t MapStore::parent_slot(uint32_t slot) const {
  if (!is_known(slot) || maps_[slot].definition.row->parent.value == 0) return kNoStreamSlot;
  const uint32_t parent = find(maps_[slot].definition.row->parent);
  return parent == slot ? kNoStreamSlot : parent;
}

MapContents* MapStore::contents(uint32_t slot) const {
  return slot < config_.slots && maps_[slot].is_done ? maps_[slot].contents : nullptr;
}

// --- switches ------------------------------------------------------------------------------------------

Status MapStore::set_active(NameHash name, bool active) {
  const uint32_t slot = find(name);
  if (slot == kNoStreamSlot || !is_known(slot)) return {StatusCode::not_found, "no layer has such a map", 0, name};
  if (!is_manual(slot)) return {StatusCode::bad_value, "the map streams by itself", 0, name};
  set_off(slot, MapOff::manual, !active);
  return {};
}

void MapStore::set_off(uint32_t slot, MapOff why, bool off) {
  MERIDIAN_ASSERT(slot < config_.slots, "a slot of the store");
  if (slot >= config_.slots) return;
  Map& map = maps_[slot];
  const uint8_t before = map.off;
  map.off = static_cast<uint8_t>(off ? before | bit(why) : before & ~bit(why));
  if ((before != 0) == (map.off != 0)) return;
  streamer_.ignore(slot, map.off != 0);
  if (off) config_.engine->forget_soft(index(slot));  // its children do not keep it
  recount(slot);
}

void MapStore::set_postponed(uint32_t slot, bool postponed) {
  MERIDIAN_ASSERT(slot < config_.slots, "a slot of the store");
  if (slot >= config_.slots || maps_[slot].is_postponed == postponed) return;
  maps_[slot].is_postponed = postponed;
  recount(slot);
}

void MapStore::apply_group_marks() {
  for (uint32_t slot = 0; slot < config_.slots; ++slot) {
    if (!is_used(slot) || is_off(slot, MapOff::aside)) continue;
    set_off(slot, MapOff::group, maps_[slot].is_marked);
    maps_[slot].is_marked = false;
  }
}

/// Whether LOD sets wait for it has changed. While they must not be written, the next update sees to it.
void MapStore::recount(uint32_t slot) {
  const bool is_locked = config_.world->config().scene->graph().is_locked();
  maps_[slot].needs_recount = is_locked;
  any_recount_ = any_recount_ || is_locked;
  if (!is_locked) (void)config_.world->recount(name_of(slot));
}

Status MapStore::show_now(uint32_t slot, bool shown) {
  MapContents* const in = contents(slot);
  if (in == nullptr) return {};
  if (const Status s = shown ? in->show() : in->hide(); !s.ok()) return s;
  set_in_world(slot, shown);
  return {};
}

void MapStore::set_in_world(uint32_t slot, bool in_world) {
  maps_[slot].is_in_world = in_world;
  if ((maps_[slot].off & bit(MapOff::aside)) == 0) streamer_.set_in_world(slot, in_world);
}

}  // namespace meridian
