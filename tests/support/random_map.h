// SPDX-License-Identifier: MIT
#pragma once
/// Seeded random maps with everything that bears on descriptors: levels with LOD links inside the map and to the parent
/// map, LOD sets, interiors, archetypes that are not known, and slips that authors make.

#include <flatbuffers/flatbuffers.h>

#include <random>
#include <vector>

#include "meridian/scene/desc_block.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::test {

struct RandomMap {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<ArchetypeTraits> pool;               ///< archetype `name` is pool[name - 1]; larger ones are not known
  std::vector<const ArchetypeTraits*> archetypes;  ///< by entity
  std::vector<LodParent> parents;                  ///< by entity
  std::vector<LodParent> parent_map;               ///< entities of the parent map that are parents

  const schema::MapData& map() const { return *schema::GetMapData(builder.GetBufferPointer()); }
  schema::MapData& mutable_map() { return *schema::GetMutableMapData(builder.GetBufferPointer()); }
  MapDescInput input() const { return {&map(), archetypes, parents}; }
  uint32_t size() const { return static_cast<uint32_t>(archetypes.size()); }
};

/// What a map is made like.
struct RandomMapOptions {
  uint32_t entities = 400;
  bool slips = true;      ///< bad scales, rotations, parents outside, archetypes that are not known
  bool clusters = false;  ///< in villages; else evenly
};

inline RandomMap random_map(uint32_t seed, const RandomMapOptions& options) {
  RandomMap out;
  // One draw after the other, never two among the arguments of one call: compilers order those as they like.
  std::mt19937 random(seed);
  const auto number = [&](double low, double high) {
    return static_cast<float>(low + (high - low) * (static_cast<double>(random()) / 4294967296.0));
  };
  const auto chance = [&](double p) { return static_cast<double>(random()) / 4294967296.0 < p; };
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };

  for (int i = 0; i < 20; ++i) {
    ArchetypeTraits t;
    const float size = number(0.2, i < 15 ? 4 : 40);
    t.box = {{-size, number(-size, 0), 0}, {number(0, size), size, number(0.1, size * 2)}};
    t.sphere_centre = {0, 0, size / 2};
    t.sphere_radius = size * 2;
    t.lod_distance = number(20, 300);
    t.flags = chance(0.2) ? 1u << 11 : chance(0.2) ? 1u << 13 | 1u << 20 : 0u;
    t.entity_class = static_cast<EntityClass>(below(3));
    t.is_fragment = chance(0.1);
    t.is_timed = chance(0.1);
    t.animates = chance(0.1);
    out.pool.push_back(t);
  }
  for (int i = 0; i < 12; ++i)
    out.parent_map.push_back({{number(-500, 500), number(-500, 500), number(0, 50)}, number(100, 600)});

  std::vector<schema::EntityDef> entities;
  std::vector<flatbuffers::Offset<schema::MloInstanceDef>> interiors;
  const uint32_t n = options.entities, lods = n - n / 3, slods = n - n / 10;  // HD, LOD, SLOD1 by index
  Vec3 village{};
  const double reach = options.clusters ? 4000 : 1000;
  for (uint32_t i = 0; i < n; ++i) {
    if (options.clusters && i % 60 == 0) village = {number(-reach, reach), number(-reach, reach), number(0, 80)};
    const double spread = options.clusters ? 60 : reach;
    const uint32_t level = i >= slods ? 2 : i >= lods ? 1 : 0;
    uint32_t flags = chance(0.3) ? below(256) << 22 : 0;
    if (chance(0.3)) flags |= 1;
    if (chance(0.2)) flags |= 1u << 15;
    if (chance(0.1)) flags |= 1u << 21;
    int32_t parent = -1;
    if (chance(0.25)) {
      flags |= 1u << 3;
      parent = static_cast<int32_t>(below(14));  // 12 and 13 are not known
    } else if (level < 2 && n > 10 && chance(0.7)) {
      const uint32_t first = level == 0 ? lods : slods, end = level == 0 ? slods : n;
      parent = static_cast<int32_t>(first + below(end - first));
    } else if (options.slips && chance(0.1)) {
      parent = chance(0.5) ? static_cast<int32_t>(i) : static_cast<int32_t>(n + below(1000));
    }
    float scale_xy = chance(0.3) ? number(0.3, 3) : 1;
    float scale_z = chance(0.3) ? number(0.3, 3) : 1;
    schema::Quat rotation{0, 0, number(-1, 1), number(-1, 1)};
    if (chance(0.4)) rotation = schema::Quat{number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)};
    if (options.slips && chance(0.03)) scale_z = 0;
    if (options.slips && chance(0.1)) scale_xy = -scale_xy;
    if (options.slips && chance(0.03)) rotation = schema::Quat(0, 0, 0, 0);
    const uint32_t name = 1 + below(options.slips ? 22 : 20);
    const float lod_dist = chance(0.4) ? number(0, 500) : -1;
    const schema::Vec3 position{village.x + number(-spread, spread), village.y + number(-spread, spread),
                                village.z + number(0, 30)};
    const float child_lod_dist = chance(0.3) ? number(50, 400) : 0;
    entities.emplace_back(name, static_cast<schema::EntityFlags>(flags), 0u, position, rotation, scale_xy, scale_z,
                          parent, lod_dist, child_lod_dist,
                          level == 0 ? (parent < 0 ? schema::LodLevel::ORPHANHD : schema::LodLevel::HD)
                                     : static_cast<schema::LodLevel>(level),
                          0u, schema::PriorityLevel::REQUIRED, 255, 255, 0u);
    out.archetypes.push_back(name <= out.pool.size() ? &out.pool[name - 1] : nullptr);
    const bool elsewhere = (flags & 8) != 0 && parent >= 0 && parent < 12;
    out.parents.push_back(elsewhere ? out.parent_map[static_cast<size_t>(parent)] : LodParent{});
    if (chance(0.05)) interiors.push_back(schema::CreateMloInstanceDef(out.builder, i));
  }
  std::vector<flatbuffers::Offset<schema::LodSet>> sets;
  for (uint32_t i = lods; i < n; ++i) {
    if (!chance(0.2)) continue;
    const std::vector<schema::LodSetChildren> rows{{0x1000 + i, below(9), below(3), below(3), below(3)}};
    const auto row_vector = out.builder.CreateVectorOfStructs(rows);
    sets.push_back(schema::CreateLodSet(out.builder, i, number(50, 800), row_vector));
  }
  const auto entity_vector = out.builder.CreateVectorOfStructs(entities);
  const auto interior_vector = out.builder.CreateVector(interiors);
  const auto set_vector = out.builder.CreateVector(sets);
  schema::MapDataBuilder map(out.builder);
  map.add_entities(entity_vector);
  map.add_mlo_instances(interior_vector);
  map.add_lod_sets(set_vector);
  schema::FinishMapDataBuffer(out.builder, map.Finish());
  return out;
}

/// Blocks with the memory that they lie in.
struct BuiltBlocks {
  std::vector<LodLinkRow> links;
  std::vector<EntityDesc> descs;
  std::vector<DescStatus> status;
  std::vector<DescContainer> containers;
  std::vector<DescBounds> sub_blocks;
  std::vector<uint32_t> lanes;  ///< words
  std::vector<uint32_t> slot_of;

  DescLanes lanes_of(const DescContainer& c) {
    return desc_lanes(reinterpret_cast<std::byte*>(lanes.data()) + lane_bytes(c.first_slot), padded_slots(c.count));
  }
};

inline void build_from_descs(BuiltBlocks& out) {
  const BlockCounts counts = block_counts(static_cast<uint32_t>(out.descs.size()));
  out.containers.resize(counts.containers);
  out.sub_blocks.resize(counts.sub_blocks);
  out.lanes.assign(counts.lane_bytes / 4, 0xABABABABu);
  out.slot_of.assign(out.descs.size(), 0xABABABABu);
  std::vector<Vec4> scratch(counts.scratch_bytes / 16 + 1);
  build_blocks(out.descs, std::as_writable_bytes(std::span(scratch)),
               {out.containers, out.sub_blocks, std::as_writable_bytes(std::span(out.lanes)), out.slot_of});
}

inline BuiltBlocks build(const MapDescInput& in) {
  BuiltBlocks out;
  out.links.resize(lod_link_bound(*in.map));
  out.links.resize(link_map(in, out.links).value());
  out.descs.resize(in.archetypes.size());
  out.status.resize(in.archetypes.size());
  describe_map(in, out.links, out.descs, out.status);
  build_from_descs(out);
  return out;
}

}  // namespace meridian::test
