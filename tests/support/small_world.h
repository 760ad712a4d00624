// SPDX-License-Identifier: MIT
#pragma once
/// Small worlds for flights: what stands in maps and type files, written down as plain data, and the packs and folders
/// that come of it, as compilers and the linker make them.
///
///   test::WorldPlan plan = test::grid_world({.columns = 8, .rows = 8});
///   plan.map("hd_0_0").entities[0].at.z = 5;
///   const test::PackBuffer pack = plan.pack();                      // files, index and trees
///   ... mounts.mount_pack(pack.span()) ...

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "support/pack_maker.h"
#include "support/temp_dir.h"
#include "support/world_index_maker.h"

namespace meridian::test {

struct PlanEntity {
  std::string archetype;
  Vec3 at{};
  schema::LodLevel level = schema::LodLevel::ORPHANHD;
  int32_t parent = -1;     ///< index in the own map, or in the parent map
  bool in_parent = false;  ///< of the parent map
  float lod = 100;         ///< [m]
  float child_lod = 0;     ///< of a parent: up to where children are drawn [m]
  uint32_t children = 0;
  schema::PriorityLevel priority = schema::PriorityLevel::REQUIRED;
  float scale = 1;
};

/// A LOD set as the linker cooks it.
struct PlanSet {
  struct Row {
    std::string map;
    uint32_t required = 0;
  };
  uint32_t parent = 0;
  float distance = 0;
  std::vector<Row> children;
};

inline constexpr uint32_t kPlanManual = 1, kPlanIsParent = 2;  // schema::MapFlags

struct PlanMap {
  std::string name{}, parent{};
  uint32_t flags = 0;
  uint32_t content = 1;
  Aabb range{}, box{};
  std::vector<std::string> types{};  ///< that it depends on
  std::vector<PlanEntity> entities{};
  std::vector<PlanSet> sets{};
  std::vector<std::string> grass{};         ///< archetypes of batches
  bool is_missing = false;                  ///< stands in the index only
  bool is_corrupt = false, is_bad = false;  ///< its bytes are damaged after sealing; its pack entry is
};

struct PlanArchetype {
  std::string name;
  float lod = 100;
  uint32_t hours = 0xFFFFFF;  ///< others than all: a time archetype
};

struct PlanTypes {
  std::string name{};
  std::vector<PlanArchetype> archetypes{};
  std::vector<std::string> needs{};
  bool is_permanent = false;
  bool is_missing = false, is_corrupt = false;
};

inline std::string sealed_file(uint32_t kind, const flatbuffers::FlatBufferBuilder& builder) {
  const auto data = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  std::string out(static_cast<size_t>(sealed_size(data.size(), 0)), '\0');
  seal_resource(std::as_writable_bytes(std::span(out)), data, {}, kind, find_builtin_schema(kind)->layout_fingerprint);
  return out;
}

inline std::string file_of(const PlanMap& map) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<schema::EntityDef> rows;
  for (const PlanEntity& e : map.entities) {
    const auto flags = e.in_parent ? schema::EntityFlags::lod_in_parent : schema::EntityFlags{};
    rows.emplace_back(hash_name(e.archetype).value, flags, 0u, schema::Vec3(e.at.x, e.at.y, e.at.z),
                      schema::Quat(0, 0, 0, 1), e.scale, e.scale, e.parent, e.lod, e.child_lod, e.level, e.children,
                      e.priority, 255, 255, 0u);
  }
  const auto entities = b.CreateVectorOfStructs(rows);
  std::vector<flatbuffers::Offset<schema::LodSet>> sets;
  for (const PlanSet& s : map.sets) {
    std::vector<schema::LodSetChildren> children;
    for (const PlanSet::Row& row : s.children) children.emplace_back(hash_name(row.map).value, row.required, 0, 0, 0);
    const auto list = b.CreateVectorOfStructs(children);
    sets.push_back(schema::CreateLodSet(b, s.parent, s.distance, list));
  }
  const auto set_list = b.CreateVector(sets);
  std::vector<flatbuffers::Offset<schema::GrassInstanceListDef>> batches;
  for (const std::string& plant : map.grass) {
    const schema::Box at(schema::Vec4(map.box.min.x, map.box.min.y, 0, 0),
                         schema::Vec4(map.box.max.x, map.box.max.y, 1, 0));
    schema::GrassInstanceListDefBuilder batch(b);
    batch.add_batch_aabb(&at);
    batch.add_archetype_name(hash_name(plant).value);
    batch.add_lod_dist(100);
    batches.push_back(batch.Finish());
  }
  const auto batch_list = b.CreateVector(batches);
  const auto instanced = schema::CreateInstancedMapData(b, 0, 0, batch_list);
  const auto vec = [](const Vec3& v) { return schema::Vec3(v.x, v.y, v.z); };
  const schema::Vec3 range[] = {vec(map.range.min), vec(map.range.max)}, box[] = {vec(map.box.min), vec(map.box.max)};
  schema::MapDataBuilder out(b);
  out.add_name(hash_name(map.name).value);
  if (!map.parent.empty()) out.add_parent(hash_name(map.parent).value);
  out.add_flags(static_cast<schema::MapFlags>(map.flags));
  out.add_content_flags(static_cast<schema::MapContentFlags>(map.content));
  out.add_streaming_extents_min(&range[0]);
  out.add_streaming_extents_max(&range[1]);
  out.add_entities_extents_min(&box[0]);
  out.add_entities_extents_max(&box[1]);
  out.add_entities(entities);
  out.add_lod_sets(set_list);
  out.add_instanced_data(instanced);
  schema::FinishMapDataBuffer(b, out.Finish());
  std::string file = sealed_file(kind_of("IMAP"), b);
  if (map.is_corrupt) std::fill(file.begin() + 4, file.begin() + 24, '\x7F');
  return file;
}

inline std::string file_of(const PlanTypes& types) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<schema::ArchetypeDef> rows;
  std::vector<flatbuffers::Offset<schema::TimeArchetypeDef>> times;
  for (const PlanArchetype& a : types.archetypes) {
    if (a.hours != 0xFFFFFF) {
      times.push_back(schema::CreateTimeArchetypeDef(b, static_cast<uint32_t>(rows.size()),
                                                     static_cast<schema::TimeFlags>(a.hours)));
    }
    rows.emplace_back(a.lod, schema::ArchetypeFlags{}, schema::SpecialAttribute::none, schema::Vec3(-2, -2, 0),
                      schema::Vec3(2, 2, 4), schema::Vec3(0, 0, 2), 4.0f, 30.0f, hash_name(a.name).value, 0u, 0u, 0u,
                      0u, schema::AssetType::DRAWABLE, 0u);
  }
  const auto root =
      schema::CreateMapTypesDirect(b, nullptr, &rows, &times, nullptr, nullptr, hash_name(types.name).value);
  schema::FinishMapTypesBuffer(b, root);
  std::string file = sealed_file(kind_of("ITYP"), b);
  if (types.is_corrupt) std::fill(file.begin() + 4, file.begin() + 24, '\x7F');
  return file;
}

/// A map and all below it, on in some hours only.
struct PlanGroup {
  std::string map;
  uint32_t hours = 0;
};

struct WorldPlan {
  std::vector<PlanMap> maps{};
  std::vector<PlanTypes> types{};
  std::vector<std::string> removed{};  ///< maps that it takes away as a patch
  std::vector<PlanGroup> groups{};
  bool has_index = true;

  const PlanMap& map(const std::string& name) const {
    return *std::find_if(maps.begin(), maps.end(), [&](const PlanMap& m) { return m.name == name; });
  }
  PlanMap& map(const std::string& name) {
    return *std::find_if(maps.begin(), maps.end(), [&](const PlanMap& m) { return m.name == name; });
  }
  PlanTypes& type_file(const std::string& name) {
    return *std::find_if(types.begin(), types.end(), [&](const PlanTypes& t) { return t.name == name; });
  }
  const PlanMap* find(NameHash name) const {
    for (const PlanMap& m : maps) {
      if (hash_name(m.name) == name) return &m;
    }
    return nullptr;
  }

  PackBuffer pack() const {
    PackMaker maker;
    const auto name = [&](const std::string& text) { maker.names()[hash_name(text).value] = text; };
    for (const PlanMap& m : maps) {
      name(m.name);
      if (m.is_missing) continue;
      PackEntry& row = maker.store(kind_of("IMAP"), m.name, file_of(m));
      if (m.is_bad) row.raw_hash ^= 1, row.stored_hash ^= 1;
    }
    for (const PlanTypes& t : types) {
      name(t.name);
      for (const PlanArchetype& a : t.archetypes) name(a.name);
      if (!t.is_missing) maker.store(kind_of("ITYP"), t.name, file_of(t));
    }
    for (const std::string& gone : removed) maker.removed().push_back({kind_of("IMAP"), hash_name(gone)});
    if (!removed.empty()) maker.set_base(1);
    if (has_index) {
      SealedIndex index(this->index());
      maker.store(kWorldIndexKind, "world", text_of(index.bytes()));
    }
    return maker.make();
  }

  /// As loose files, without an index.
  void write(const TempDir& folder) const {
    for (const PlanMap& m : maps) {
      if (!m.is_missing) folder.write(m.name + ".imap", file_of(m));
    }
    for (const PlanTypes& t : types) {
      if (!t.is_missing) folder.write(t.name + ".ityp", file_of(t));
    }
  }

  IndexParts index() const {
    IndexParts p;
    const auto by_name = [](const auto* a, const auto* b) {
      return hash_name(a->name).value < hash_name(b->name).value;
    };
    std::vector<const PlanMap*> map_rows;
    for (const PlanMap& m : maps) map_rows.push_back(&m);
    std::sort(map_rows.begin(), map_rows.end(), by_name);
    std::vector<const PlanTypes*> type_rows;
    for (const PlanTypes& t : types) type_rows.push_back(&t);
    std::sort(type_rows.begin(), type_rows.end(), by_name);
    p.lists = {0};
    const auto list = [&](const std::vector<std::string>& names) {
      std::vector<uint32_t> hashes;
      for (const std::string& n : names) hashes.push_back(hash_name(n).value);
      std::sort(hashes.begin(), hashes.end());
      p.dependencies.insert(p.dependencies.end(), hashes.begin(), hashes.end());
      p.lists.push_back(static_cast<uint32_t>(p.dependencies.size()));
      return static_cast<uint32_t>(p.lists.size() - 2);
    };
    for (const PlanMap* const m : map_rows) {
      MapSlot row;
      row.name = hash_name(m->name);
      if (!m->parent.empty()) row.parent = hash_name(m->parent);
      row.entities = m->box;
      row.streaming = m->range;
      row.content_flags = m->content;
      row.flags = m->flags;
      row.size = static_cast<uint32_t>(file_of(*m).size());
      row.entity_count = static_cast<uint32_t>(m->entities.size());
      row.grass_batch_count = static_cast<uint32_t>(m->grass.size());
      row.asset = map_asset(m->content);
      row.dependencies = list(m->types);
      row.first_child = static_cast<uint32_t>(p.children.size());
      for (uint32_t c = 0; c < map_rows.size(); ++c) {
        if (map_rows[c]->parent == m->name) p.children.push_back(c);
      }
      row.child_count = static_cast<uint32_t>(p.children.size()) - row.first_child;
      p.maps.push_back(row);
    }
    std::vector<ArchetypeRow> archetypes;
    for (uint32_t t = 0; t < type_rows.size(); ++t) {
      TypesSlot row;
      row.name = hash_name(type_rows[t]->name);
      row.flags = type_rows[t]->is_permanent ? TypesSlot::kPermanent : 0;
      row.archetype_count = static_cast<uint32_t>(type_rows[t]->archetypes.size());
      row.size = static_cast<uint32_t>(file_of(*type_rows[t]).size());
      row.dependencies = list(type_rows[t]->needs);
      p.types.push_back(row);
      for (const PlanArchetype& a : type_rows[t]->archetypes) {
        ArchetypeRow archetype;
        archetype.name = hash_name(a.name);
        archetype.types = t;
        archetype.box = {{-2, -2, 0}, {2, 2, 4}};
        archetype.sphere_radius = 4;
        archetype.lod_distance = a.lod;
        archetype.kind = a.hours != 0xFFFFFF ? ArchetypeKind::time : ArchetypeKind::base;
        archetypes.push_back(archetype);
      }
    }
    std::sort(archetypes.begin(), archetypes.end(),
              [](const ArchetypeRow& a, const ArchetypeRow& b) { return a.name.value < b.name.value; });
    p.archetypes = archetypes;
    for (const PlanGroup& g : groups) {
      GroupParts group;
      group.name = hash_name(g.map).value;
      group.flags = MapGroup::kTimeDependent;
      group.hours = g.hours;
      std::vector<std::string> below{g.map};
      for (size_t i = 0; i < below.size(); ++i) {
        for (uint32_t m = 0; m < map_rows.size(); ++m) {
          if (map_rows[m]->name == below[i]) group.maps.push_back(m);
          if (map_rows[m]->parent == below[i]) below.push_back(map_rows[m]->name);
        }
      }
      std::sort(group.maps.begin(), group.maps.end());
      p.groups.push_back(group);
    }
    std::sort(p.groups.begin(), p.groups.end(),
              [](const GroupParts& a, const GroupParts& b) { return a.name < b.name; });
    p.make_trees();
    return p;
  }
};

inline Aabb grown(const Aabb& box, float by) {
  const Vec3 all{by, by, by};
  return {box.min - all, box.max + all};
}

/// So many that it takes more than one chunk to place them.
inline void add_many(PlanMap& map, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    map.entities.push_back({.archetype = "house", .at = map.box.min + Vec3{static_cast<float>(i % 40), 10, 1}});
  }
}

struct GridOptions {
  uint32_t columns = 8, rows = 8;                        ///< of HD maps [multiples of 4, count]
  float cell = 50;                                       ///< [m]
  float range = 40, lod_range = 120, slod_range = 1000;  ///< of boxes beyond contents [m]
  uint32_t entities = 3;                                 ///< of each HD map that have a LOD parent [count]
};

/// HD maps on a grid from the origin on, each with entities below one of the LOD map of its 2 x 2 cells and one that
/// stands alone; LOD maps below SLOD maps of 4 x 4 cells. In each LOD map there is also a parent whose only child is in
/// the same map. Type files: "near" with "house", "far" (permanent) with "block" and "quarter", and "edge_N" with
/// "fence_N" for each column.
inline WorldPlan grid_world(const GridOptions& o) {
  WorldPlan plan;
  const auto text = [](const char* what, uint32_t x, uint32_t y) {
    return std::string(what) + "_" + std::to_string(x) + "_" + std::to_string(y);
  };
  plan.types.push_back({.name = "near", .archetypes = {{"house", 60}}});
  plan.types.push_back({.name = "far", .archetypes = {{"block", 300}, {"quarter", 2000}}, .is_permanent = true});
  for (uint32_t x = 0; x < o.columns; ++x) {
    const std::string n = std::to_string(x);
    plan.types.push_back({.name = "edge_" + n, .archetypes = {{"fence_" + n, 40}}, .needs = {"near"}});
  }
  const auto box_of = [&](uint32_t x, uint32_t y, uint32_t cells) {
    const auto at = [&](uint32_t i) { return static_cast<float>(i) * o.cell; };
    return Aabb{{at(x), at(y), 0}, {at(x + cells), at(y + cells), 10}};
  };
  for (uint32_t y = 0; y < o.rows; ++y) {
    for (uint32_t x = 0; x < o.columns; ++x) {
      PlanMap hd{.name = text("hd", x, y), .parent = text("lod", x / 2, y / 2), .content = 1};
      hd.box = box_of(x, y, 1);
      hd.range = grown(hd.box, o.range);
      hd.types = {"near", "edge_" + std::to_string(x)};
      const auto parent = static_cast<int32_t>(x % 2 + y % 2 * 2);
      for (uint32_t e = 0; e < o.entities; ++e) {
        const Vec3 at = hd.box.min + Vec3{5 + 10 * static_cast<float>(e), 20, 1};
        hd.entities.push_back({.archetype = e % 2 == 0 ? "house" : "fence_" + std::to_string(x),
                               .at = at,
                               .level = schema::LodLevel::HD,
                               .parent = parent,
                               .in_parent = true,
                               .lod = 60});
      }
      hd.entities.push_back({.archetype = "house", .at = hd.box.min + Vec3{30, 40, 1}});
      plan.maps.push_back(hd);
    }
  }
  for (uint32_t y = 0; y < o.rows / 2; ++y) {
    for (uint32_t x = 0; x < o.columns / 2; ++x) {
      PlanMap lod{
          .name = text("lod", x, y), .parent = text("slod", x / 2, y / 2), .flags = kPlanIsParent, .content = 2};
      lod.box = box_of(2 * x, 2 * y, 2);
      lod.range = grown(lod.box, o.lod_range);
      lod.types = {"near", "far"};
      const auto parent = static_cast<int32_t>(x % 2 + y % 2 * 2);
      for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t cx = 2 * x + i % 2, cy = 2 * y + i / 2 % 2;
        lod.entities.push_back({.archetype = "block",
                                .at = box_of(cx, cy, 1).min + Vec3{25, i == 4 ? 30.0f : 25.0f, 1},
                                .level = schema::LodLevel::LOD,
                                .parent = parent,
                                .in_parent = true,
                                .lod = 300,
                                .child_lod = 60,
                                .children = i == 4 ? 1 : o.entities});
        lod.sets.push_back({i, 60, {{i == 4 ? lod.name : text("hd", cx, cy), i == 4 ? 1 : o.entities}}});
      }
      lod.entities.push_back({.archetype = "house",
                              .at = lod.box.min + Vec3{35, 35, 1},
                              .level = schema::LodLevel::HD,
                              .parent = 4,
                              .lod = 60});
      plan.maps.push_back(lod);
    }
  }
  for (uint32_t y = 0; y < o.rows / 4; ++y) {
    for (uint32_t x = 0; x < o.columns / 4; ++x) {
      PlanMap slod{.name = text("slod", x, y), .flags = kPlanIsParent, .content = 2};
      slod.box = box_of(4 * x, 4 * y, 4);
      slod.range = grown(slod.box, o.slod_range);
      slod.types = {"far"};
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t lx = 2 * x + i % 2, ly = 2 * y + i / 2;
        slod.entities.push_back({.archetype = "quarter",
                                 .at = box_of(2 * lx, 2 * ly, 2).min + Vec3{50, 50, 1},
                                 .level = schema::LodLevel::SLOD1,
                                 .lod = 2000,
                                 .child_lod = 250,
                                 .children = 5});
        slod.sets.push_back({i, 250, {{text("lod", lx, ly), 5}}});
      }
      plan.maps.push_back(slod);
    }
  }
  return plan;
}

}  // namespace meridian::test
