// SPDX-License-Identifier: MIT
#pragma once
/// World indices put together by hand, right or wrong, and everything that a reader may do with one. Written apart from
/// the tools' writer.

#include <algorithm>
#include <cstring>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/world_index_generated.h"
#include "meridian/stream/world_index.h"
#include "support/box_trees.h"

namespace meridian::test {

struct GroupParts {
  uint32_t name = 0, flags = 0, hours = 0;
  std::vector<uint32_t> weather_types, maps, bounds;
};

/// All that stands in an index, as it will be stored.
struct IndexParts {
  std::vector<MapSlot> maps;
  std::vector<TypesSlot> types;
  std::vector<ArchetypeRow> archetypes;
  std::vector<uint32_t> lists, dependencies, children;
  std::vector<GroupParts> groups;
  PlainTree entities, streaming;

  void make_trees() {
    std::vector<Aabb> boxes, ranges;
    for (const MapSlot& m : maps) {
      boxes.push_back(m.entities);
      ranges.push_back(m.streaming);
    }
    entities = plain_tree(boxes);
    streaming = plain_tree(ranges);
  }
};

/// Bytes of a resource, aligned as they must be.
class SealedIndex {
 public:
  explicit SealedIndex(const IndexParts& parts) {
    flatbuffers::FlatBufferBuilder fbb;
    const auto tree = [&](const PlainTree& t) {
      const auto bounds = fbb.CreateVector(t.bounds);
      const auto children = fbb.CreateVector(t.children), places = fbb.CreateVector(t.places),
                 outside = fbb.CreateVector(t.outside);
      return schema::CreateBoxTree(fbb, bounds, children, places, outside);
    };
    const auto entities = tree(parts.entities), streaming = tree(parts.streaming);
    std::vector<flatbuffers::Offset<schema::IndexGroup>> groups;
    for (const GroupParts& g : parts.groups) {
      const auto weather = fbb.CreateVector(g.weather_types), maps = fbb.CreateVector(g.maps),
                 bounds = fbb.CreateVector(g.bounds);
      groups.push_back(schema::CreateIndexGroup(fbb, g.name, static_cast<schema::MapDataGroupFlags>(g.flags),
                                                static_cast<schema::TimeFlags>(g.hours), weather, maps, bounds));
    }
    const auto group_vector = fbb.CreateVector(groups);
    const auto lists = fbb.CreateVector(parts.lists), dependencies = fbb.CreateVector(parts.dependencies),
               children = fbb.CreateVector(parts.children);
    const auto maps = rows<schema::IndexMap>(fbb, parts.maps);
    const auto types = rows<schema::IndexTypes>(fbb, parts.types);
    const auto archetypes = rows<schema::IndexArchetype>(fbb, parts.archetypes);
    schema::FinishWorldIndexBuffer(fbb, schema::CreateWorldIndex(fbb, maps, types, archetypes, lists, dependencies,
                                                                 children, group_vector, entities, streaming));
    size_ = sealed_size(fbb.GetSize(), 0);
    blocks_.resize(size_ / sizeof(Vec4));
    seal_resource(bytes(), std::as_bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize())), {}, kWorldIndexKind,
                  find_builtin_schema(kWorldIndexKind)->layout_fingerprint);
    payload_size_ = fbb.GetSize();
  }

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(blocks_)).first(size_); }
  std::span<std::byte> payload() { return bytes().first(payload_size_); }
  /// After a change, so that what stands behind the checksum is reached.
  void seal_again() {
    const std::vector<std::byte> copy(payload().begin(), payload().end());
    seal_resource(bytes(), copy, {}, kWorldIndexKind, find_builtin_schema(kWorldIndexKind)->layout_fingerprint);
  }

 private:
  template <class Struct, class Row>
  static flatbuffers::Offset<flatbuffers::Vector<const Struct*>> rows(flatbuffers::FlatBufferBuilder& fbb,
                                                                      const std::vector<Row>& rows) {
    Struct* to = nullptr;
    const auto vector = fbb.CreateUninitializedVectorOfStructs<Struct>(rows.size(), &to);
    if (!rows.empty()) std::memcpy(static_cast<void*>(to), rows.data(), rows.size() * sizeof(Struct));
    return vector;
  }

  std::vector<Vec4> blocks_;
  size_t size_ = 0, payload_size_ = 0;
};

/// Four maps: a parent, two children of it and one whose parent is elsewhere; two of them without contents. Three type
/// files, five archetypes, two groups. All by hand.
inline IndexParts small_index() {
  IndexParts p;
  const auto map = [&](uint32_t name, uint32_t parent, float at, uint32_t list, uint32_t first, uint32_t count) {
    MapSlot m;
    m.name = NameHash{name};
    m.parent = NameHash{parent};
    m.entities = {{at, 0, 0}, {at + 10, 10, 10}};
    m.streaming = {{at - 100, -100, -100}, {at + 110, 110, 110}};
    m.content_flags = 1;
    m.size = 1000 + name;
    m.entity_count = name;
    m.dependencies = list;
    m.first_child = first;
    m.child_count = count;
    m.asset = BoxAsset::map_high;
    p.maps.push_back(m);
  };
  map(10, 30, 0, 1, 0, 0);
  map(20, 30, 500, 1, 0, 0);
  map(30, 0, 250, 2, 0, 2);
  map(40, 99, 900, 0, 2, 0);
  p.maps[3].entities = {{1, 0, 0}, {0, 0, 0}};
  p.maps[2].content_flags = 2;
  p.maps[2].asset = BoxAsset::map_medium;
  p.children = {0, 1};
  p.lists = {0, 0, 2, 3, 4};
  p.dependencies = {100, 300, 200, 300};
  p.types = {
      {NameHash{100}, TypesSlot::kPermanent, 2, 500, 3}, {NameHash{200}, 0, 1, 600, 0}, {NameHash{300}, 0, 2, 700, 0}};
  for (uint32_t i = 0; i < 5; ++i) {
    ArchetypeRow a;
    a.name = NameHash{1000 + 10 * i};
    a.types = i / 2;
    a.box = {{-1, -2, -3}, {1, 2, 3}};
    a.sphere_radius = 4;
    a.lod_distance = 100;
    a.kind = static_cast<ArchetypeKind>(i % 4);
    p.archetypes.push_back(a);
  }
  p.groups = {{10, MapGroup::kTimeDependent, 0xFF, {}, {0}, {7, 8}},
              {30, MapGroup::kWeatherDependent, 0, {1, 2, 3}, {0, 1, 2}, {}}};
  p.make_trees();
  return p;
}

/// Maps in a row, and nothing else. 40 give a root with 14 nodes below it.
inline IndexParts row_of_maps(uint32_t count) {
  IndexParts p;
  p.lists = {0, 0};
  for (uint32_t i = 0; i < count; ++i) {
    MapSlot m;
    m.name = NameHash{i + 1};
    const auto at = static_cast<float>(i);
    m.entities = {{at, 0, 0}, {at + 2, 1, 1}};
    m.streaming = {{at - 5, -5, -5}, {at + 7, 6, 6}};
    p.maps.push_back(m);
  }
  p.make_trees();
  return p;
}

/// Does everything that a reader may do, and holds queries against all boxes. False: something is not as promised.
inline bool use_index(const WorldIndex& index) {
  for (const MapSlot& m : index.maps()) {
    if (index.find_map(m.name) != &m) return false;
    const auto needs = index.dependencies(m);
    if (!std::is_sorted(needs.begin(), needs.end())) return false;
    for (const uint32_t child : index.children(m))
      if (child >= index.maps().size() || index.maps()[child].parent != m.name) return false;
  }
  for (const TypesSlot& t : index.types()) {
    if (index.find_types(t.name) != &t) return false;
    const auto needs = index.dependencies(t);
    if (!std::is_sorted(needs.begin(), needs.end())) return false;
  }
  for (const ArchetypeRow& a : index.archetypes())
    if (index.find_archetype(a.name) != &a || a.types >= index.types().size()) return false;
  for (uint32_t g = 0; g < index.group_count(); ++g) {
    MapGroup found;
    if (!index.find_group(index.group(g).name, found) || found.name != index.group(g).name) return false;
    for (const uint32_t map : found.maps)
      if (map >= index.maps().size()) return false;
  }
  const auto same = [&](const BoxTree& tree, Aabb MapSlot::*box, const auto& query, const auto& test) {
    std::vector<uint32_t> found(index.maps().size() + 1), expected;
    const uint32_t count = query(tree, std::span<uint32_t>(found));
    if (count > index.maps().size()) return false;
    found.resize(count);
    std::sort(found.begin(), found.end());
    for (uint32_t i = 0; i < index.maps().size(); ++i)
      if (!inside_out(index.maps()[i].*box) && test(index.maps()[i].*box)) expected.push_back(i);
    return found == expected;
  };
  const size_t probes = std::min<size_t>(index.maps().size(), 16);
  for (const auto& [tree, box] :
       {std::pair{&index.entities_tree(), &MapSlot::entities}, {&index.streaming_tree(), &MapSlot::streaming}}) {
    if (tree->depth() > kMaxBoxTreeDepth) return false;
    for (size_t i = 0; i < probes; ++i) {
      const Aabb probe = index.maps()[i].*box;
      if (inside_out(probe)) continue;
      const auto by_box = [&](const BoxTree& t, std::span<uint32_t> out) { return query_box(t, probe, out); };
      if (!same(*tree, box, by_box, [&](const Aabb& b) { return boxes_touch(probe, b); })) return false;
      std::vector<uint32_t> out(index.maps().size());
      if (query_sphere(*tree, probe.min, 10, out) > out.size()) return false;
      if (query_segment(*tree, probe.min, probe.max, out) > out.size()) return false;
    }
  }
  return true;
}

}  // namespace meridian::test
