// SPDX-License-Identifier: MIT
#include "map/loose_rows.h"

#include <algorithm>
#include <new>

#include "meridian/base/log.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "resource/flat_vector.h"

namespace meridian::detail {
namespace {

constexpr uint32_t kMaps = kind_of("IMAP"), kTypes = kind_of("ITYP");

constexpr Aabb kNowhere{{1, 1, 1}, {-1, -1, -1}};

/// Inside out where one is missing.
Aabb box_of(const schema::Vec3* min, const schema::Vec3* max) {
  if (min == nullptr || max == nullptr) return kNowhere;
  return {{min->x(), min->y(), min->z()}, {max->x(), max->y(), max->z()}};
}

template <class T>
bool take(Allocator& allocator, size_t count, std::span<T>& out) {
  if (count == 0) return true;
  auto* const block = static_cast<T*>(allocator.allocate(count * sizeof(T), alignof(T)));
  if (block == nullptr) return false;
  for (size_t i = 0; i < count; ++i) new (block + i) T{};
  out = {block, count};
  return true;
}

const Status kNoMemory{StatusCode::out_of_memory, "no memory for what loose files say of themselves"};

}  // namespace

/// An open file, until the end of the scope.
struct LooseRows::Opened {
  explicit Opened(Allocator& from) : allocator(from) {}
  ~Opened() {
    if (copy.data() != nullptr) allocator.deallocate(copy.data(), copy.size(), kPackAlignment);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  Allocator& allocator;
  PinnedResource pin;
  std::span<std::byte> copy;
  Resource resource;
  uint32_t size = 0;
};

bool LooseRows::open(PackKey key, Opened& out) {
  const auto tell = [&](const Status& why) {
    log_message(LogLevel::warning, key.name, "loose file %s is left out: %s", name_text(key.name).text, why.message);
    return false;
  };
  Result<PinnedResource> pinned = mounts_.pin(mounts_.find_in(mount_, key.kind, key.name));
  if (!pinned.ok()) return tell(pinned.status());
  out.pin = std::move(pinned.value());
  std::span<const std::byte> bytes = out.pin.bytes();
  if (!out.pin.is_in_place()) {
    const Result<std::span<std::byte>> loaded = mounts_.load(out.pin, allocator_);
    if (!loaded.ok()) return tell(loaded.status());
    out.copy = loaded.value();
    bytes = out.copy;
  }
  const Result<Resource> opened = open_resource(bytes, {.kind = key.kind, .trusted = out.pin.trusted()});
  if (!opened.ok()) return tell(opened.status());
  out.resource = opened.value();
  out.size = static_cast<uint32_t>(bytes.size());
  return true;
}

Status LooseRows::gather(WorldLayers::Layer& layer) {
  const uint32_t entries = mounts_.info(mount_).value().entries;
  uint32_t maps = 0, types = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    const uint32_t kind = mounts_.key_at(mount_, i).kind;
    maps += kind == kMaps ? 1 : 0;
    types += kind == kTypes ? 1 : 0;
  }
  if (const Status s = gather_types(layer, types); !s.ok()) return s;
  return gather_maps(layer, maps);
}

Status LooseRows::gather_types(WorldLayers::Layer& layer, uint32_t count) {
  std::span<TypesSlot> rows;
  if (!take(allocator_, count, rows)) return kNoMemory;
  layer.loose_types = rows;
  uint32_t used = 0;
  for (uint32_t i = 0; i < mounts_.info(mount_).value().entries; ++i) {
    const PackKey key = mounts_.key_at(mount_, i);
    if (key.kind != kTypes) continue;
    TypesSlot& row = rows[used++];  // keys are sorted, so rows are
    row.name = key.name;
    Opened file(allocator_);
    if (!open(key, file)) continue;  // loading it will fail, and say so
    const auto& root = *file.resource.root<schema::MapTypes>();
    row.archetype_count = size_of(root.archetypes()) + size_of(root.composite_entity_types());
    row.size = file.size;
  }
  return {};
}

Status LooseRows::gather_maps(WorldLayers::Layer& layer, uint32_t count) {
  if (!take(allocator_, count, layer.loose) || !take(allocator_, count + 1, layer.loose_lists)) return kNoMemory;
  // Dependencies of all maps go to one list, which grows by doubling.
  std::span<NameHash> list;
  uint32_t used = 0, total = 0;
  const auto add = [&](NameHash types, uint32_t from) {
    if (types.value == 0) return true;
    const auto begin = list.data() + from, end = list.data() + total;
    if (std::find(begin, end, types) != end) return true;
    if (total == list.size()) {
      std::span<NameHash> more;
      if (!take(allocator_, std::max<size_t>(64, list.size() * 2), more)) return false;
      std::copy(list.begin(), list.end(), more.begin());
      if (list.data() != nullptr) allocator_.deallocate(list.data(), list.size_bytes(), alignof(NameHash));
      list = more;
    }
    list[total++] = types;
    return true;
  };
  bool fits = true;
  for (uint32_t i = 0; i < mounts_.info(mount_).value().entries && fits; ++i) {
    const PackKey key = mounts_.key_at(mount_, i);
    if (key.kind != kMaps) continue;
    MapSlot& row = layer.loose[used];
    row.name = key.name;
    layer.loose_lists[used++] = total;
    const uint32_t from = total;
    row.entities = row.streaming = kNowhere;
    Opened file(allocator_);
    if (!open(key, file)) continue;
    const auto& map = *file.resource.root<schema::MapData>();
    row.parent = NameHash{map.parent()};
    row.entities = box_of(map.entities_extents_min(), map.entities_extents_max());
    row.streaming = box_of(map.streaming_extents_min(), map.streaming_extents_max());
    row.content_flags = static_cast<uint32_t>(map.content_flags());
    row.flags = static_cast<uint32_t>(map.flags());
    row.size = file.size;
    row.entity_count = size_of(map.entities());
    row.interior_count = size_of(map.mlo_instances());
    row.asset = map_asset(row.content_flags);
    for (uint32_t e = 0; e < row.entity_count && fits; ++e) {
      const NameHash archetype{map.entities()->Get(e)->archetype_name()};
      NameHash types = layers_.types_of_archetype(archetype);
      fits = add(types, from);
    }
    const auto* const lists = map.instanced_data();
    const auto* const grass = lists != nullptr ? lists->grass_instance_list() : nullptr;
    row.grass_batch_count = size_of(grass);
    for (uint32_t g = 0; g < row.grass_batch_count && fits; ++g) {
      fits = add(layers_.types_of_archetype(NameHash{grass->Get(g)->archetype_name()}), from);
    }
    // Type files of the same mount, and those of the version that this one covers: the archetypes may be new.
    for (const TypesSlot& own : layer.loose_types) fits = fits && add(own.name, from);
    if (const MapDefinition below = layers_.map(key.name)) {
      for (const NameHash types : below.dependencies) fits = fits && add(types, from);
    }
    // And what those need, as an index has it; the list grows meanwhile.
    for (uint32_t at = from; at < total && fits; ++at) {
      for (const NameHash more : layers_.types(list[at]).dependencies) fits = fits && add(more, from);
    }
  }
  layer.loose_lists[used] = total;
  layer.loose_dependencies = list;
  return fits ? Status{} : kNoMemory;
}

}  // namespace meridian::detail
