// SPDX-License-Identifier: MIT
#include "meridian/map/world_layers.h"

#include <algorithm>
#include <new>
#include <utility>

#include "map/loose_rows.h"
#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian {
namespace {

template <class T>
void give_back(Allocator& allocator, std::span<T>& block) {
  if (block.data() != nullptr) allocator.deallocate(block.data(), block.size_bytes(), alignof(T));
  block = {};
}

template <class Row>
const Row* find_row(std::span<const Row> rows, NameHash name) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                   [](const Row& row, NameHash n) { return row.name.value < n.value; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

Status WorldLayers::init(const WorldLayersConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(layers_ == nullptr, "initialised once");
  if (layers_ != nullptr) return {StatusCode::in_use, "the layers are initialised"};
  if (config.mounts == nullptr || config.max_layers == 0 || config.max_layers > 256) {
    return {StatusCode::bad_value, "a world has mounts, and 1 to 256 layers", config.max_layers};
  }
  auto* const layers = static_cast<Layer*>(allocator.allocate(config.max_layers * sizeof(Layer), alignof(Layer)));
  if (layers == nullptr)
    return {StatusCode::out_of_memory, "no memory for layers; detail = how many", config.max_layers};
  for (uint32_t i = 0; i < config.max_layers; ++i) new (&layers[i]) Layer;
  layers_ = layers;
  config_ = config;
  allocator_ = &allocator;
  return {};
}

void WorldLayers::clear() {
  if (layers_ == nullptr) return;
  while (count_ > 0) remove(count_ - 1);
  for (uint32_t i = 0; i < config_.max_layers; ++i) layers_[i].~Layer();
  allocator_->deallocate(layers_, config_.max_layers * sizeof(Layer), alignof(Layer));
  layers_ = nullptr;
}

Result<uint32_t> WorldLayers::add(MountId mount, bool is_base) {
  if (count_ == config_.max_layers) {
    return Status{StatusCode::out_of_slots, "too many layers; detail = most", config_.max_layers};
  }
  const Result<MountInfo> info = config_.mounts->info(mount);
  if (!info.ok()) return info.status();
  Layer& layer = layers_[count_];
  layer.mount = mount;
  layer.id = next_id_;
  layer.is_base = is_base;
  Status status = open_index(layer);
  if (status.code == StatusCode::not_found) status = look_through(layer);
  if (!status.ok()) {
    free_layer(layer);
    return status;
  }
  ++next_id_;
  return count_++;
}

/// Errors: not_found: there is none.
Status WorldLayers::open_index(Layer& layer) {
  ResourceMounts& mounts = *config_.mounts;
  ResourceLocation found = mounts.find_in(layer.mount, kWorldIndexKind, hash_name("world"));
  const uint32_t entries = mounts.info(layer.mount).value().entries;
  for (uint32_t i = 0; i < entries && !found; ++i) {
    const PackKey key = mounts.key_at(layer.mount, i);
    if (key.kind == kWorldIndexKind) found = mounts.find_in(layer.mount, key.kind, key.name);
  }
  if (!found) return {StatusCode::not_found, "the mount has no index"};
  Result<PinnedResource> pinned = mounts.pin(found);
  if (!pinned.ok()) return pinned.status();
  layer.pin = std::move(pinned.value());
  std::span<const std::byte> bytes = layer.pin.bytes();
  if (!layer.pin.is_in_place()) {
    const Result<std::span<std::byte>> loaded = mounts.load(layer.pin, *allocator_);
    if (!loaded.ok()) return loaded.status();
    layer.copy = loaded.value();
    bytes = layer.copy;
  }
  const Result<WorldIndex> index = open_world_index(bytes, layer.pin.trusted());
  if (!layer.pin.is_in_place()) layer.pin.release();
  if (!index.ok()) {
    // Not found would mean that there is none.
    Status status = index.status();
    if (status.code == StatusCode::not_found) status.code = StatusCode::bad_structure;
    return status;
  }
  layer.index = index.value();
  return {};
}

Status WorldLayers::look_through(Layer& layer) {
  detail::LooseRows rows(*this, *config_.mounts, layer.mount, *allocator_);
  return rows.gather(layer);
}

void WorldLayers::free_layer(Layer& layer) {
  layer.index = {};
  layer.pin.release();
  if (layer.copy.data() != nullptr) allocator_->deallocate(layer.copy.data(), layer.copy.size(), kPackAlignment);
  layer.copy = {};
  give_back(*allocator_, layer.loose);
  give_back(*allocator_, layer.loose_dependencies);
  give_back(*allocator_, layer.loose_lists);
  give_back(*allocator_, layer.loose_types);
  layer.mount = {};
  layer.is_leaving = layer.is_base = false;
}

void WorldLayers::remove(uint32_t at) {
  MERIDIAN_ASSERT(at < count_, "a layer that is there");
  if (at >= count_) return;
  free_layer(layers_[at]);
  for (uint32_t i = at; i + 1 < count_; ++i) layers_[i] = std::move(layers_[i + 1]);
  layers_[--count_] = Layer{};
}

uint32_t WorldLayers::of_mount(MountId mount) const {
  uint32_t at = 0;
  while (at < count_ && layers_[at].mount != mount) ++at;
  return at;
}

MapDefinition WorldLayers::map_in(uint32_t at, NameHash name) const {
  const Layer& layer = layers_[at];
  if (layer.is_leaving) return {};
  if (const MapSlot* const row = layer.index.find_map(name)) return {row, at, layer.index.dependencies(*row)};
  const MapSlot* const row = find_row(std::span<const MapSlot>(layer.loose), name);
  if (row == nullptr) return {};
  const auto i = static_cast<size_t>(row - layer.loose.data());
  return {row, at,
          layer.loose_dependencies.subspan(layer.loose_lists[i], layer.loose_lists[i + 1] - layer.loose_lists[i])};
}

TypesDefinition WorldLayers::types_in(uint32_t at, NameHash name) const {
  const Layer& layer = layers_[at];
  if (layer.is_leaving) return {};
  if (const TypesSlot* const row = layer.index.find_types(name)) return {row, at, layer.index.dependencies(*row)};
  const TypesSlot* const row = find_row(std::span<const TypesSlot>(layer.loose_types), name);
  return row != nullptr ? TypesDefinition{row, at, {}} : TypesDefinition{};
}

MapDefinition WorldLayers::map(NameHash name) const {
  for (uint32_t at = count_; at-- > 0;) {
    if (const MapDefinition found = map_in(at, name)) return found;
  }
  return {};
}

TypesDefinition WorldLayers::types(NameHash name) const {
  for (uint32_t at = count_; at-- > 0;) {
    if (const TypesDefinition found = types_in(at, name)) return found;
  }
  return {};
}

NameHash WorldLayers::types_of_archetype(NameHash archetype) const {
  for (uint32_t at = count_; at-- > 0;) {
    if (layers_[at].is_leaving) continue;
    const ArchetypeRow* const row = layers_[at].index.find_archetype(archetype);
    if (row != nullptr) return layers_[at].index.types()[row->types].name;
  }
  return {};
}

ResourceLocation WorldLayers::locate(uint32_t kind, NameHash name) const {
  const ResourceMounts& mounts = *config_.mounts;
  for (uint32_t at = count_; at-- > 0;) {
    if (layers_[at].is_leaving) continue;
    const ResourceLocation found = mounts.find_in(layers_[at].mount, kind, name);
    if (found || mounts.removes(layers_[at].mount, kind, name)) return found;
  }
  return {};
}

}  // namespace meridian
