// SPDX-License-Identifier: MIT
#pragma once
/// Maps for tests and benchmarks, made by the generated builders, with the blocks that a linker makes if they are
/// wanted, and opened like any other; and archetypes that they place.
///
///   test::make_types(store, 1, {{hash_name("lamp"), traits}});
///   test::MapMaker maker;
///   maker.entities.push_back(test::plain_entity(hash_name("lamp"), {10, 20, 0}));
///   const test::MadeMap town = maker.finish();             // maker.finish(archetypes): with cooked blocks
///   load_map_data(maps, town.resource, {.slot = 3, .dependencies = types});

#include <memory>
#include <vector>

#include "meridian/entity/archetype_store.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "support/random_map.h"

namespace meridian::test {

/// An archetype to be made in code.
struct TypeToMake {
  NameHash name{};
  ArchetypeTraits traits;
  uint32_t hours = 0;  ///< with traits.is_timed
};

inline Status make_types(ArchetypeStore& store, ItypSlot slot, std::span<const TypeToMake> types) {
  constexpr TypeHash kBase = hash_type("CBaseArchetypeDef"), kTime = hash_type("CTimeArchetypeDef");
  KindCount kinds[] = {{kBase, 0}, {kTime, 0}};
  for (const TypeToMake& type : types) ++kinds[type.traits.is_timed ? 1 : 0].count;
  if (const Status s = store.open_types({.slot = slot}, kinds); !s.ok()) return s;
  for (const TypeToMake& type : types) {
    Archetype* const made = store.create(slot, type.traits.is_timed ? kTime : kBase, type.name);
    if (made == nullptr) return {StatusCode::out_of_slots, "an archetype was not made", type.name.value};
    made->set_traits(type.traits);
    if (TimeArchetype* const timed = made->as<TimeArchetype>()) timed->set_time_flags(type.hours);
  }
  return store.publish_types(slot);
}

/// As authoring tools make it: not turned, not scaled, without a parent.
inline schema::EntityDef plain_entity(NameHash archetype, const Vec3& at) {
  return {archetype.value,
          schema::EntityFlags{},
          0u,
          schema::Vec3(at.x, at.y, at.z),
          schema::Quat(0, 0, 0, 1),
          1.0f,
          1.0f,
          -1,
          -1.0f,
          0.0f,
          schema::LodLevel::ORPHANHD,
          0u,
          schema::PriorityLevel::REQUIRED,
          255,
          255,
          0u};
}

/// An opened map and its bytes. May be moved: vectors keep their bytes where they are.
struct MadeMap {
  std::vector<std::byte> bytes;  ///< malloc gives 16-byte alignment
  Resource resource;
  Status status;  ///< of opening it
  const schema::MapData& data() const { return *resource.root<schema::MapData>(); }
};

struct MapMaker {
  struct Set {
    uint32_t parent = 0;
    float distance = 0;  ///< [m]
  };
  NameHash name = hash_name("made");
  std::vector<schema::EntityDef> entities;
  std::vector<Set> lod_sets;
  bool trusted = false;  ///< opened without checks: definitions may be as bad as they like

  MadeMap finish() const { return open(payload(nullptr, 0)); }
  /// With blocks for these archetypes, one an entity; `parents` as in MapDescInput.
  MadeMap finish(std::span<const ArchetypeTraits* const> archetypes, std::span<const LodParent> parents = {}) const {
    const flatbuffers::DetachedBuffer plain = payload(nullptr, 0);
    const MapDescInput in{schema::GetMapData(plain.data()), archetypes, parents};
    const BuiltBlocks blocks = build(in);
    return open(payload(&blocks, descriptor_fingerprint(in)));
  }

 private:
  template <class To, class From>
  static flatbuffers::Offset<flatbuffers::Vector<const To*>> structs(flatbuffers::FlatBufferBuilder& builder,
                                                                     const std::vector<From>& rows) {
    static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
    return builder.CreateVectorOfStructs(reinterpret_cast<const To*>(rows.data()), rows.size());
  }

  flatbuffers::DetachedBuffer payload(const BuiltBlocks* blocks, uint64_t fingerprint) const {
    flatbuffers::FlatBufferBuilder builder;
    const auto entity_vector = builder.CreateVectorOfStructs(entities);
    std::vector<flatbuffers::Offset<schema::LodSet>> sets;
    for (const Set& set : lod_sets) sets.push_back(schema::CreateLodSet(builder, set.parent, set.distance));
    const auto set_vector = builder.CreateVector(sets);
    flatbuffers::Offset<schema::CookedBlocks> cooked;
    if (blocks != nullptr) {
      const auto containers = structs<schema::DescContainer>(builder, blocks->containers);
      const auto sub_blocks = structs<schema::DescBlock>(builder, blocks->sub_blocks);
      const auto lanes = builder.CreateVector(blocks->lanes);
      const auto slots = builder.CreateVector(blocks->slot_of);
      const auto links = structs<schema::LodLink>(builder, blocks->links);
      cooked = schema::CreateCookedBlocks(builder, kCookedLayoutVersion, fingerprint, containers, sub_blocks, lanes,
                                          slots, links);
    }
    schema::MapDataBuilder map(builder);
    map.add_name(name.value);
    map.add_content_flags(static_cast<schema::MapContentFlags>(1));
    map.add_entities(entity_vector);
    map.add_lod_sets(set_vector);
    if (blocks != nullptr) map.add_cooked(cooked);
    schema::FinishMapDataBuffer(builder, map.Finish());
    return builder.Release();
  }

  MadeMap open(const flatbuffers::DetachedBuffer& payload) const {
    constexpr uint32_t kKind = kind_of("IMAP");
    const auto data = std::as_bytes(std::span(payload.data(), payload.size()));
    MadeMap out;
    out.bytes.resize(static_cast<size_t>(sealed_size(data.size(), 0)));
    seal_resource(out.bytes, data, {}, kKind, find_builtin_schema(kKind)->layout_fingerprint);
    const Result<Resource> opened = open_resource(out.bytes, {.kind = kKind, .schema = {}, .trusted = trusted});
    out.status = opened.status();
    if (opened.ok()) out.resource = opened.value();
    return out;
  }
};

}  // namespace meridian::test
