// SPDX-License-Identifier: MIT
#pragma once
/// Maps and type files in a few words, as resources that may change, with an index of them that is laid out by hand.
///
///   test::LayerText layer;
///   layer.put({.name = "props", .archetypes = {{"house", 100}}});
///   layer.put({.name = "town", .entities = {{"house", {10, 20, 0}}}});
///   layer.put_index();
///   mounts.mount_source(layer.files, "layer");

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/source_provider.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "support/map_maker.h"
#include "support/world_index_maker.h"

namespace meridian::test {

/// Resources by kind and name, whatever they are now.
class ChangingFiles final : public SourceProvider {
 public:
  void put(uint32_t kind, NameHash name, std::vector<std::byte> bytes) { files_[{kind, name}] = std::move(bytes); }
  std::vector<std::byte>& at(uint32_t kind, NameHash name) { return files_.at({kind, name}); }
  void list(void (*found)(void* user, PackKey key), void* user) override {
    for (const auto& [key, bytes] : files_) found(user, key);
  }
  Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) override {
    const std::vector<std::byte>& bytes = files_.at(key);
    void* const block = memory.allocate(bytes.size(), kPackAlignment);
    std::memcpy(block, bytes.data(), bytes.size());
    out = {static_cast<std::byte*>(block), bytes.size()};
    return {};
  }

 private:
  std::map<PackKey, std::vector<std::byte>> files_;
};

template <class Builder>
std::vector<std::byte> sealed_bytes(uint32_t kind, const Builder& built) {
  const auto data = std::as_bytes(std::span(built.GetBufferPointer(), built.GetSize()));
  std::vector<std::byte> out(static_cast<size_t>(sealed_size(data.size(), 0)));
  seal_resource(out, data, {}, kind, layout_fingerprint(find_builtin_schema(kind)->bfbs));
  return out;
}

struct TypesText {
  struct Item {
    const char* name;
    float distance = 100;
    uint32_t flags = 0;
    float size = 1;
    std::vector<const char*> inside{};  ///< not empty: an interior of two rooms, with these in the second
  };
  const char* name = "";
  std::vector<Item> archetypes{};
  bool is_permanent = false;

  std::vector<std::byte> bytes() const {
    flatbuffers::FlatBufferBuilder b;
    std::vector<schema::ArchetypeDef> rows;
    std::vector<flatbuffers::Offset<schema::MloArchetypeDef>> interiors;
    for (const Item& item : archetypes) {
      if (!item.inside.empty()) interiors.push_back(interior(b, item, static_cast<uint32_t>(rows.size())));
      rows.emplace_back(item.distance, static_cast<schema::ArchetypeFlags>(item.flags), schema::SpecialAttribute::none,
                        schema::Vec3(-item.size, -item.size, -item.size), schema::Vec3(item.size, item.size, item.size),
                        schema::Vec3(0, 0, 0), item.size, 30.0f, hash_name(item.name).value, 0u, 0u, 0u, 0u,
                        schema::AssetType::DRAWABLE, 0u);
    }
    schema::FinishMapTypesBuffer(
        b, schema::CreateMapTypesDirect(b, nullptr, &rows, nullptr, &interiors, nullptr, hash_name(name).value));
    return sealed_bytes(kind_of("ITYP"), b);
  }

 private:
  static flatbuffers::Offset<schema::MloArchetypeDef> interior(flatbuffers::FlatBufferBuilder& b, const Item& item,
                                                               uint32_t owner) {
    std::vector<schema::EntityDef> rows;
    std::vector<uint32_t> objects;
    for (const char* const name : item.inside) {
      objects.push_back(static_cast<uint32_t>(rows.size()));
      rows.push_back(plain_entity(hash_name(name), {}));
    }
    const schema::Vec3 low(-5, -5, -5), high(5, 5, 5);
    std::vector<flatbuffers::Offset<schema::MloRoomDef>> rooms;
    for (const bool is_inner : {false, true}) {
      const auto attached = b.CreateVector(is_inner ? objects : std::vector<uint32_t>());
      schema::MloRoomDefBuilder room(b);
      room.add_bb_min(&low);
      room.add_bb_max(&high);
      room.add_attached_objects(attached);
      rooms.push_back(room.Finish());
    }
    const auto entities = b.CreateVectorOfStructs(rows);
    const auto room_rows = b.CreateVector(rooms);
    schema::MloArchetypeDefBuilder made(b);
    made.add_owner(owner);
    made.add_entities(entities);
    made.add_rooms(room_rows);
    return made.Finish();
  }
};

struct MapText {
  struct Item {
    const char* archetype;
    Vec3 at{};
    int32_t parent = -1;  ///< in the parent map, if that has one
    uint32_t children = 0;
    float child_distance = 0;
    bool is_interior = false;
  };
  struct Set {
    uint32_t parent = 0;
    float distance = 0;
    std::vector<std::pair<const char*, uint32_t>> children{};  ///< maps, and how many of theirs
  };
  const char* name = "";
  uint32_t version = 1;  ///< [1, 63]
  const char* parent = "";
  bool is_manual = false;
  Vec3 middle{};      ///< of where it is wanted [m]
  float range = 200;  ///< half of it [m]
  std::vector<Item> entities{};
  std::vector<Set> sets{};
  std::vector<const char*> types{"props"};

  std::vector<std::byte> bytes() const {
    flatbuffers::FlatBufferBuilder b;
    std::vector<schema::EntityDef> rows;
    for (const Item& item : entities) {
      const auto level = item.parent >= 0    ? schema::LodLevel::HD
                         : item.children > 0 ? schema::LodLevel::LOD
                                             : schema::LodLevel::ORPHANHD;
      rows.emplace_back(hash_name(item.archetype).value,
                        item.parent >= 0 ? schema::EntityFlags::lod_in_parent : schema::EntityFlags{}, 0u,
                        schema::Vec3(item.at.x, item.at.y, item.at.z), schema::Quat(0, 0, 0, 1), 1.0f, 1.0f,
                        item.parent, -1.0f, item.child_distance, level, item.children, schema::PriorityLevel::REQUIRED,
                        255, 255, version);
    }
    std::vector<flatbuffers::Offset<schema::LodSet>> lod_sets;
    for (const Set& set : sets) {
      std::vector<schema::LodSetChildren> list;
      for (const auto& [map, count] : set.children) list.emplace_back(hash_name(map).value, count, 0u, 0u, 0u);
      std::sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.map() < y.map(); });
      lod_sets.push_back(schema::CreateLodSet(b, set.parent, set.distance, b.CreateVectorOfStructs(list)));
    }
    std::vector<flatbuffers::Offset<schema::MloInstanceDef>> interiors;
    for (uint32_t i = 0; i < entities.size(); ++i) {
      if (!entities[i].is_interior) continue;
      schema::MloInstanceDefBuilder made(b);
      made.add_owner(i);
      interiors.push_back(made.Finish());
    }
    const auto interior_rows = b.CreateVector(interiors);
    const auto entity_rows = b.CreateVectorOfStructs(rows);
    const auto set_rows = b.CreateVector(lod_sets);
    schema::MapDataBuilder map(b);
    map.add_name(hash_name(name).value);
    if (*parent != '\0') map.add_parent(hash_name(parent).value);
    map.add_content_flags(schema::MapContentFlags::hd);
    map.add_entities(entity_rows);
    map.add_lod_sets(set_rows);
    map.add_mlo_instances(interior_rows);
    schema::FinishMapDataBuffer(b, map.Finish());
    return sealed_bytes(kind_of("IMAP"), b);
  }
};

struct GroupText {
  const char* name = "";
  std::vector<const char*> maps{};
  uint32_t hours = 0;  ///< 0: it does not depend on them
  std::vector<const char*> weathers{};
};

/// What one mount has: files and an index of them.
struct LayerText {
  std::map<std::string, MapText> maps;
  std::map<std::string, TypesText> types;
  std::vector<GroupText> groups;
  ChangingFiles files;

  void put(const MapText& map) {
    files.put(kind_of("IMAP"), hash_name(map.name), map.bytes());
    maps[map.name] = map;
  }
  void put(const TypesText& text) {
    files.put(kind_of("ITYP"), hash_name(text.name), text.bytes());
    types[text.name] = text;
  }

  /// Rows by hand, in the order of names; each map has a list of type files of its own.
  void put_index() {
    IndexParts p;
    std::map<uint32_t, const MapText*> by_name;
    std::map<uint32_t, uint32_t> row_of;
    for (const auto& [name, map] : maps) by_name[hash_name(name).value] = &map;
    for (const auto& [name, map] : by_name) row_of.emplace(name, static_cast<uint32_t>(row_of.size()));
    p.lists = {0, 0};
    for (const auto& [name, map] : by_name) {
      MapSlot m;
      m.name = NameHash{name};
      m.parent = *map->parent != '\0' ? hash_name(map->parent) : NameHash{};
      m.entities = {map->middle - Vec3{10, 10, 10}, map->middle + Vec3{10, 10, 10}};
      const Vec3 reach{map->range, map->range, map->range};
      m.streaming = {map->middle - reach, map->middle + reach};
      m.content_flags = 1;
      m.flags = map->is_manual ? 1 : 0;
      m.size = static_cast<uint32_t>(files.at(kind_of("IMAP"), m.name).size());
      m.entity_count = static_cast<uint32_t>(map->entities.size());
      m.dependencies = static_cast<uint32_t>(p.lists.size() - 1);
      std::vector<uint32_t> needs;
      for (const char* const on : map->types) needs.push_back(hash_name(on).value);
      std::sort(needs.begin(), needs.end());
      p.dependencies.insert(p.dependencies.end(), needs.begin(), needs.end());
      p.lists.push_back(static_cast<uint32_t>(p.dependencies.size()));
      m.first_child = static_cast<uint32_t>(p.children.size());
      for (const auto& [child, text] : by_name) {
        if (*text->parent != '\0' && hash_name(text->parent).value == name) p.children.push_back(row_of.at(child));
      }
      m.child_count = static_cast<uint32_t>(p.children.size()) - m.first_child;
      p.maps.push_back(m);
    }
    std::map<uint32_t, const TypesText*> types_by_name;
    for (const auto& [name, text] : types) types_by_name[hash_name(name).value] = &text;
    std::map<uint32_t, uint32_t> archetypes;
    for (const auto& [name, text] : types_by_name) {
      for (const TypesText::Item& a : text->archetypes) {
        archetypes.emplace(hash_name(a.name).value, static_cast<uint32_t>(p.types.size()));
      }
      p.types.push_back({NameHash{name}, text->is_permanent ? TypesSlot::kPermanent : 0,
                         static_cast<uint32_t>(text->archetypes.size()),
                         static_cast<uint32_t>(files.at(kind_of("ITYP"), NameHash{name}).size()), 0});
    }
    for (const auto& [name, file] : archetypes) {
      ArchetypeRow row;
      row.name = NameHash{name};
      row.types = file;
      row.box = {{-1, -1, -1}, {1, 1, 1}};
      row.sphere_radius = 2;
      row.lod_distance = 100;
      p.archetypes.push_back(row);
    }
    std::map<uint32_t, GroupParts> group_rows;
    for (const GroupText& group : groups) {
      GroupParts g;
      g.name = hash_name(group.name).value;
      if (group.hours != 0) g.flags |= MapGroup::kTimeDependent;
      if (!group.weathers.empty()) g.flags |= MapGroup::kWeatherDependent;
      g.hours = group.hours;
      for (const char* const weather : group.weathers) g.weather_types.push_back(hash_name(weather).value);
      for (const char* const map : group.maps) g.maps.push_back(row_of.at(hash_name(map).value));
      std::sort(g.weather_types.begin(), g.weather_types.end());
      std::sort(g.maps.begin(), g.maps.end());
      group_rows[g.name] = g;
    }
    for (const auto& [name, group] : group_rows) p.groups.push_back(group);
    p.make_trees();
    SealedIndex sealed(p);
    files.put(kWorldIndexKind, hash_name("world"), {sealed.bytes().begin(), sealed.bytes().end()});
  }
};

}  // namespace meridian::test
