// SPDX-License-Identifier: MIT
#pragma once
/// Maps for tests, made by the generated builders, as compilers make them: with or without the linker's blocks.
///
///   test::MapMaker town{.name = hash_name("town")};
///   town.add({.archetype = hash_name("lamp"), .at = {10, 20, 0}});
///   const test::MapFile file = town.finish();                         // sealed and opened
///   const test::MapFile linked = town.finish(traits_by_name);         // with blocks for these archetypes
///   ... load_map_data(maps, file.resource(), {.slot = 1}) ...

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "support/random_map.h"

namespace meridian::test {

/// Sealed, and opened like any other resource.
class MapFile {
 public:
  /// `trusted`: what is not finite gets through, as from a pack that nobody checked.
  MapFile(std::span<const uint8_t> payload, bool trusted) {
    const uint32_t kind = kind_of("IMAP");
    const auto data = std::as_bytes(payload);
    bytes_.resize(static_cast<size_t>(sealed_size(data.size(), 0)));
    seal_resource(bytes_, data, {}, kind, layout_fingerprint(find_builtin_schema(kind)->bfbs));
    const Result<Resource> opened = open_resource(bytes_, {.kind = kind, .trusted = trusted});
    EXPECT_TRUE(opened.ok()) << opened.status().message << ' ' << opened.status().detail;
    if (opened.ok()) resource_ = opened.value();
  }
  const Resource& resource() const { return resource_; }
  const schema::MapData& map() const { return *resource_.root<schema::MapData>(); }

 private:
  std::vector<std::byte> bytes_;  // moving a vector keeps its bytes where they are
  Resource resource_;
};

/// An entity of a map or an interior, with what most have.
struct EntityItem {
  NameHash archetype{};
  Vec3 at{};
  Quat rotation{};  ///< as stored: the inverse, but of interior instances
  uint32_t flags = 0;
  float scale_xy = 1, scale_z = 1;
  int32_t parent = -1;
  float lod = -1, child_lod = 0;
  schema::LodLevel level = schema::LodLevel::ORPHANHD;
  uint32_t children = 0;
  schema::PriorityLevel priority = schema::PriorityLevel::REQUIRED;
  uint32_t tint = 0;
};

inline schema::EntityDef stored(const EntityItem& e) {
  return {e.archetype.value,
          static_cast<schema::EntityFlags>(e.flags),
          0,
          schema::Vec3(e.at.x, e.at.y, e.at.z),
          schema::Quat(e.rotation.x, e.rotation.y, e.rotation.z, e.rotation.w),
          e.scale_xy,
          e.scale_z,
          e.parent,
          e.lod,
          e.child_lod,
          e.level,
          e.children,
          e.priority,
          255,
          255,
          e.tint};
}
inline std::vector<schema::EntityDef> stored(const std::vector<EntityItem>& items) {
  std::vector<schema::EntityDef> out;
  for (const EntityItem& item : items) out.push_back(stored(item));
  return out;
}

constexpr uint32_t flag(schema::EntityFlags f) { return static_cast<uint32_t>(f); }
inline constexpr uint32_t kInParent = flag(schema::EntityFlags::lod_in_parent);

/// An extension of one entity; `type` is that of one that the schema does not know.
struct ExtensionItem {
  uint32_t owner = 0;
  schema::ExtensionDef kind = schema::ExtensionDef::DoorDef;
  TypeHash type{};
};

/// Writes extensions of three kinds, and unknown ones. Requires: ascending owners.
inline flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Extension>>> write_extensions(
    flatbuffers::FlatBufferBuilder& b, const std::vector<ExtensionItem>& items) {
  std::vector<flatbuffers::Offset<schema::Extension>> out;
  for (const ExtensionItem& item : items) {
    flatbuffers::Offset<void> definition;
    if (item.kind == schema::ExtensionDef::DoorDef) {
      definition = schema::DoorDefBuilder(b).Finish().Union();
    } else if (item.kind == schema::ExtensionDef::LadderDef) {
      definition = schema::LadderDefBuilder(b).Finish().Union();
    } else if (item.kind == schema::ExtensionDef::SpawnPointDef) {
      definition = schema::SpawnPointDefBuilder(b).Finish().Union();
    } else {
      definition = schema::CreateUnknownExtension(b, item.type.value).Union();
    }
    schema::ExtensionBuilder made(b);
    made.add_owner(item.owner);
    made.add_definition_type(item.kind);
    made.add_definition(definition);
    out.push_back(made.Finish());
  }
  return b.CreateVector(out);
}

/// Traits of the archetypes that a linker knows.
using TraitsByName = std::map<uint32_t, ArchetypeTraits>;

struct MapMaker {
  struct Instance {
    uint32_t owner = 0;
    std::vector<uint32_t> sets;
  };
  struct Set {
    uint32_t parent = 0;
    float distance = 0;
    std::vector<schema::LodSetChildren> children{};
  };

  struct Grass {
    NameHash plant{};
    Aabb box{};
    uint32_t distance = 100;
    float fade_start = 20;
  };

  NameHash name{};
  schema::MapContentFlags content = schema::MapContentFlags::hd;
  std::vector<EntityItem> entities{};
  std::vector<Instance> instances{};  ///< ascending owners
  std::vector<ExtensionItem> extensions{};
  std::vector<Set> lod_sets{};
  std::vector<Grass> grass{};
  uint32_t prop_lists = 0;

  uint32_t add(const EntityItem& item) {
    entities.push_back(item);
    return static_cast<uint32_t>(entities.size() - 1);
  }
  /// An interior instance whose record says that these sets are on.
  uint32_t add_interior(const EntityItem& item, std::vector<uint32_t> sets = {}) {
    const uint32_t owner = add(item);
    instances.push_back({owner, std::move(sets)});
    return owner;
  }

  MapFile finish(bool trusted = false) const {
    flatbuffers::FlatBufferBuilder b;
    write(b, nullptr, 0);
    return MapFile({b.GetBufferPointer(), b.GetSize()}, trusted);
  }
  /// With blocks, as a linker makes them that knows these archetypes and, by entity, LOD parents in the parent map.
  MapFile finish(const TraitsByName& archetypes, const std::vector<LodParent>& parents = {}) const {
    flatbuffers::FlatBufferBuilder plain, b;
    write(plain, nullptr, 0);
    std::vector<const ArchetypeTraits*> traits;
    for (const EntityItem& e : entities) {
      const auto at = archetypes.find(e.archetype.value);
      traits.push_back(at != archetypes.end() ? &at->second : nullptr);
    }
    const MapDescInput in{schema::GetMapData(plain.GetBufferPointer()), traits, parents};
    const BuiltBlocks blocks = build(in);
    write(b, &blocks, descriptor_fingerprint(in));
    return MapFile({b.GetBufferPointer(), b.GetSize()}, false);
  }

 private:
  template <class To, class From>
  static auto structs(flatbuffers::FlatBufferBuilder& b, const std::vector<From>& from) {
    static_assert(sizeof(To) == sizeof(From));
    return b.CreateVectorOfStructs(reinterpret_cast<const To*>(from.data()), from.size());
  }
  void write(flatbuffers::FlatBufferBuilder& b, const BuiltBlocks* blocks, uint64_t fingerprint) const {
    const auto entity_vector = b.CreateVectorOfStructs(stored(entities));
    std::vector<flatbuffers::Offset<schema::MloInstanceDef>> mlos;
    for (const Instance& i : instances) {
      const auto names = b.CreateVector(i.sets);
      schema::MloInstanceDefBuilder made(b);
      made.add_owner(i.owner);
      made.add_default_entity_sets(names);
      mlos.push_back(made.Finish());
    }
    const auto mlo_vector = b.CreateVector(mlos);
    const auto extension_vector = write_extensions(b, extensions);
    std::vector<flatbuffers::Offset<schema::LodSet>> sets;
    for (const Set& s : lod_sets) {
      const auto children = b.CreateVectorOfStructs(s.children);
      sets.push_back(schema::CreateLodSet(b, s.parent, s.distance, children));
    }
    const auto set_vector = b.CreateVector(sets);
    flatbuffers::Offset<schema::CookedBlocks> cooked;
    if (blocks != nullptr) {
      const auto containers = structs<schema::DescContainer>(b, blocks->containers);
      const auto sub_blocks = structs<schema::DescBlock>(b, blocks->sub_blocks);
      const auto lanes = b.CreateVector(blocks->lanes), slots = b.CreateVector(blocks->slot_of);
      const auto links = structs<schema::LodLink>(b, blocks->links);
      cooked =
          schema::CreateCookedBlocks(b, kCookedLayoutVersion, fingerprint, containers, sub_blocks, lanes, slots, links);
    }
    std::vector<flatbuffers::Offset<schema::PropInstanceListDef>> props;
    for (uint32_t i = 0; i < prop_lists; ++i) props.push_back(schema::CreatePropInstanceListDef(b));
    std::vector<flatbuffers::Offset<schema::GrassInstanceListDef>> batches;
    for (const Grass& g : grass) {
      const schema::Box box(schema::Vec4(g.box.min.x, g.box.min.y, g.box.min.z, 0),
                            schema::Vec4(g.box.max.x, g.box.max.y, g.box.max.z, 0));
      schema::GrassInstanceListDefBuilder batch(b);
      batch.add_batch_aabb(&box);
      batch.add_archetype_name(g.plant.value);
      batch.add_lod_dist(g.distance);
      batch.add_lod_fade_start_dist(g.fade_start);
      batches.push_back(batch.Finish());
    }
    flatbuffers::Offset<schema::InstancedMapData> lists;
    if (!props.empty() || !batches.empty()) {
      const auto prop_vector = b.CreateVector(props);
      const auto batch_vector = b.CreateVector(batches);
      lists = schema::CreateInstancedMapData(b, 0, prop_vector, batch_vector);
    }
    schema::MapDataBuilder map(b);
    if (!lists.IsNull()) map.add_instanced_data(lists);
    map.add_name(name.value);
    map.add_content_flags(content);
    map.add_entities(entity_vector);
    map.add_mlo_instances(mlo_vector);
    map.add_entity_extensions(extension_vector);
    map.add_lod_sets(set_vector);
    if (blocks != nullptr) map.add_cooked(cooked);
    schema::FinishMapDataBuffer(b, map.Finish());
  }
};

}  // namespace meridian::test
