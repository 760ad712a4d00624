// SPDX-License-Identifier: MIT
#include "meridian/stream/world_index.h"

#include <algorithm>

#include "meridian/base/assert.h"
#include "meridian/schemas/world_index_generated.h"

namespace meridian {
namespace {

// Rows are read where they lie, as the structs of the header.
static_assert(sizeof(MapSlot) == sizeof(schema::IndexMap) && alignof(MapSlot) == alignof(schema::IndexMap));
static_assert(sizeof(TypesSlot) == sizeof(schema::IndexTypes) && alignof(TypesSlot) == alignof(schema::IndexTypes));
static_assert(sizeof(ArchetypeRow) == sizeof(schema::IndexArchetype) &&
              alignof(ArchetypeRow) == alignof(schema::IndexArchetype));
static_assert(sizeof(NameHash) == sizeof(uint32_t));

/// A vector of the resource as rows of type T.
template <class T, class Vector>
std::span<const T> rows(const Vector* vector) {
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

template <class Row>
const Row* find_row(std::span<const Row> rows, NameHash name) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                   [](const Row& row, NameHash wanted) { return row.name < wanted; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

BoxTree view_of(const schema::BoxTree& tree) {
  return {rows<float>(tree.bounds()), rows<uint32_t>(tree.children()), rows<uint32_t>(tree.places()),
          rows<uint32_t>(tree.outside())};
}

}  // namespace

WorldIndex::WorldIndex(const Resource& resource) : root_(resource.root<schema::WorldIndex>()) {
  MERIDIAN_ASSERT(resource.kind() == kWorldIndexKind, "a world index is made of a resource of its kind");
  maps_ = rows<MapSlot>(root_->maps());
  types_ = rows<TypesSlot>(root_->types());
  archetypes_ = rows<ArchetypeRow>(root_->archetypes());
  lists_ = rows<uint32_t>(root_->dependency_lists());
  children_ = rows<uint32_t>(root_->children());
  dependencies_ = rows<NameHash>(root_->dependencies());
  entities_tree_ = view_of(*root_->entities_tree());
  streaming_tree_ = view_of(*root_->streaming_tree());
}

const MapSlot* WorldIndex::find_map(NameHash name) const { return find_row(maps_, name); }
const TypesSlot* WorldIndex::find_types(NameHash name) const { return find_row(types_, name); }
const ArchetypeRow* WorldIndex::find_archetype(NameHash name) const { return find_row(archetypes_, name); }

uint32_t WorldIndex::group_count() const { return root_ == nullptr ? 0 : root_->groups()->size(); }

MapGroup WorldIndex::group(uint32_t index) const {
  MERIDIAN_ASSERT(index < group_count(), "a group's index is below group_count()");
  const schema::IndexGroup& group = *root_->groups()->Get(index);
  MapGroup out;
  out.name = NameHash{group.name()};
  out.flags = static_cast<uint32_t>(group.flags());
  out.hours = static_cast<uint32_t>(group.hours());
  out.weather_types = rows<NameHash>(group.weather_types());
  out.maps = rows<uint32_t>(group.maps());
  out.bounds = rows<NameHash>(group.bounds());
  return out;
}

bool WorldIndex::find_group(NameHash name, MapGroup& out) const {
  uint32_t first = 0, last = group_count();
  while (first < last) {
    const uint32_t middle = first + (last - first) / 2;
    if (root_->groups()->Get(middle)->name() < name.value)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == group_count() || root_->groups()->Get(first)->name() != name.value) return false;
  out = group(first);
  return true;
}

Result<WorldIndex> open_world_index(std::span<const std::byte> bytes, bool trusted) {
  const Result<Resource> opened = open_resource(bytes, {.kind = kWorldIndexKind, .schema = {}, .trusted = trusted});
  if (!opened.ok()) return opened.status();
  return WorldIndex(opened.value());
}

}  // namespace meridian
