// SPDX-License-Identifier: MIT
// WIDX-1, BOX-1, BOX-3, P078, P088: indices of worlds, held against the worlds' own files by brute force.
#include "meridian/tools/world_index_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lint/lint_compiled.h"
#include "lint/repair.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/world_gen.h"
#include "support/box_trees.h"
#include "support/temp_dir.h"
#include "support/world_files.h"
#include "support/world_index_maker.h"
#include "world_build/index_output.h"
#include "world_index/box_tree_builder.h"
#include "world_index/index_stats.h"

namespace meridian::tools {
namespace {

using test::TempDir;
using test::WorldFiles;
using Names = std::set<uint32_t>;

std::vector<uint8_t> build(WorldIndexInput in) {
  std::vector<uint8_t> bytes;
  std::string error;
  EXPECT_TRUE(build_world_index(std::move(in), bytes, error)) << error;
  return bytes;
}

std::string refusal(WorldIndexInput in) {
  std::vector<uint8_t> bytes;
  std::string error;
  EXPECT_FALSE(build_world_index(std::move(in), bytes, error));
  EXPECT_TRUE(bytes.empty());
  return error;
}

WorldIndex open(const std::vector<uint8_t>& bytes) {
  const Result<WorldIndex> opened = open_world_index(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(opened.ok()) << opened.status().message << " " << opened.status().detail;
  return opened.ok() ? opened.value() : WorldIndex();
}

Names set_of(std::span<const NameHash> names) {
  Names out;
  for (const NameHash name : names) out.insert(name.value);
  return out;
}

WorldIndexMap map_named(uint32_t name, uint32_t parent = 0, std::vector<uint32_t> types = {}) {
  WorldIndexMap out;
  out.slot.name = NameHash{name};
  out.slot.parent = NameHash{parent};
  out.types = std::move(types);
  return out;
}

WorldIndexTypes types_named(uint32_t name, std::vector<uint32_t> needs = {}) {
  WorldIndexTypes out;
  out.slot.name = NameHash{name};
  out.types = std::move(needs);
  return out;
}

WorldIndexArchetype archetype_named(uint32_t name, uint32_t file) {
  WorldIndexArchetype out;
  out.row.name = NameHash{name};
  out.file = NameHash{file};
  return out;
}

// --- a generated world -------------------------------------------------------------------------------

struct Generated {
  TempDir dir;
  std::unique_ptr<WorldFiles> files;
  std::unique_ptr<LoadedResource> resource = std::make_unique<LoadedResource>();
  WorldIndex index;

  explicit Generated(const WorldOptions& options) {
    EXPECT_EQ(write_world(options, {.folder = dir.path(), .compiled = true}).error, "");
    files = std::make_unique<WorldFiles>(dir.path());
    std::string error;
    int code = 0;
    EXPECT_TRUE(load_resource(files->index, {}, *resource, error, code)) << error;
    index = WorldIndex(resource->resource);
  }
};

const Generated& generated() {
  static const Generated world({.seed = 5, .maps = 1100, .entities = 40000, .archetypes = 2500, .interiors = 40});
  return world;
}

template <class T>
uint32_t count(const T* vector) {
  return vector == nullptr ? 0 : vector->size();
}

TEST(WorldIndexWriter, WIDX1_MapRowsSayWhatIsInTheMaps) {
  const Generated& w = generated();
  ASSERT_EQ(w.index.maps().size(), w.files->maps.size());
  std::map<uint32_t, uint64_t> sizes;
  for (const auto& file : w.files->files)
    if (file->resource.kind() == kind_of("IMAP"))
      sizes[file->resource.root<schema::MapData>()->name()] = file->bytes.size();
  for (const auto& [name, map] : w.files->maps) {
    const MapSlot* const slot = w.index.find_map(NameHash{name});
    ASSERT_NE(slot, nullptr) << w.files->name(name);
    EXPECT_EQ(slot->parent.value, map->parent());
    EXPECT_EQ(slot->size, sizes[name]);
    EXPECT_EQ(slot->entities.min.x, map->entities_extents_min()->x());
    EXPECT_EQ(slot->entities.max.z, map->entities_extents_max()->z());
    EXPECT_EQ(slot->streaming.min.y, map->streaming_extents_min()->y());
    EXPECT_EQ(slot->streaming.max.x, map->streaming_extents_max()->x());
    EXPECT_EQ(slot->content_flags, static_cast<uint32_t>(map->content_flags()));
    EXPECT_EQ(slot->flags, static_cast<uint32_t>(map->flags()));
    EXPECT_EQ(slot->entity_count, count(map->entities()));
    EXPECT_EQ(slot->interior_count, count(map->mlo_instances()));
    EXPECT_EQ(slot->car_generator_count, count(map->car_generators()));
    EXPECT_EQ(slot->time_cycle_box_count, count(map->time_cycle_modifiers()));
    EXPECT_EQ(slot->occluder_count, count(map->box_occluders()) + count(map->occlude_models()));
    const auto* const near = map->lod_lights_soa();
    const auto* const far = map->distant_lod_lights_soa();
    EXPECT_EQ(slot->lod_light_count,
              (near == nullptr ? 0 : count(near->hash())) + (far == nullptr ? 0 : count(far->rgbi())));
    EXPECT_EQ(slot->grass_batch_count,
              map->instanced_data() == nullptr ? 0 : count(map->instanced_data()->grass_instance_list()));
    Names children;
    for (const auto& [other, candidate] : w.files->maps)
      if (candidate->parent() == name) children.insert(other);
    Names found;
    for (const uint32_t child : w.index.children(*slot)) found.insert(w.index.maps()[child].name.value);
    EXPECT_EQ(found, children);
  }
  EXPECT_TRUE(test::use_index(w.index));
}

TEST(WorldIndexWriter, WIDX1_DependenciesAreAllTypeFilesThatAreUsedAndWhatThoseUse) {
  const Generated& w = generated();
  const auto file_of = [&](uint32_t archetype) { return w.files->archetype(archetype).file->name(); };
  std::map<uint32_t, Names> type_needs;  // by what stands in their interiors
  for (const auto& [name, types] : w.files->types)
    if (types->mlo_archetypes() != nullptr)
      for (const schema::MloArchetypeDef* mlo : *types->mlo_archetypes()) {
        if (mlo->entities() != nullptr)
          for (const schema::EntityDef* e : *mlo->entities()) type_needs[name].insert(file_of(e->archetype_name()));
        if (mlo->entity_sets() != nullptr)
          for (const schema::MloEntitySet* set : *mlo->entity_sets())
            if (set->entities() != nullptr)
              for (const schema::EntityDef* e : *set->entities()) type_needs[name].insert(file_of(e->archetype_name()));
        type_needs[name].erase(name);
      }
  size_t through_interiors = 0;
  for (const auto& [name, map] : w.files->maps) {
    Names needed;
    if (map->entities() != nullptr)
      for (const schema::EntityDef* e : *map->entities()) needed.insert(file_of(e->archetype_name()));
    if (map->instanced_data() != nullptr && map->instanced_data()->grass_instance_list() != nullptr)
      for (const schema::GrassInstanceListDef* g : *map->instanced_data()->grass_instance_list())
        needed.insert(file_of(g->archetype_name()));
    const size_t direct = needed.size();
    for (size_t before = 0; before != needed.size();) {
      before = needed.size();
      for (const uint32_t types : Names(needed)) needed.insert(type_needs[types].begin(), type_needs[types].end());
    }
    through_interiors += needed.size() - direct;
    EXPECT_EQ(set_of(w.index.dependencies(*w.index.find_map(NameHash{name}))), needed) << w.files->name(name);
  }
  EXPECT_GT(through_interiors, 0u);
  for (const auto& [name, types] : w.files->types) {
    const TypesSlot* const slot = w.index.find_types(NameHash{name});
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->archetype_count, types->archetypes()->size());
    EXPECT_EQ(set_of(w.index.dependencies(*slot)), type_needs[name]);
  }
}

TEST(WorldIndexWriter, WIDX1_ArchetypesAreThoseOfTheTypeFiles) {
  const Generated& w = generated();
  EXPECT_EQ(w.index.archetypes().size(), w.files->archetypes.size());
  std::map<ArchetypeKind, size_t> kinds;
  for (const auto& [name, defined] : w.files->archetypes) {
    const ArchetypeRow* const row = w.index.find_archetype(NameHash{name});
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(w.index.types()[row->types].name.value, defined.file->name());
    EXPECT_EQ(row->lod_distance, defined.def().lod_dist());
    EXPECT_EQ(row->box.min.x, defined.def().bb_min().x());
    EXPECT_EQ(row->box.max.y, defined.def().bb_max().y());
    EXPECT_EQ(row->sphere_centre.z, defined.def().bs_centre().z());
    EXPECT_EQ(row->sphere_radius, defined.def().bs_radius());
    EXPECT_EQ(row->flags, static_cast<uint32_t>(defined.def().flags()));
    ++kinds[row->kind];
    bool timed = false;
    if (defined.file->time_archetypes() != nullptr)
      for (const schema::TimeArchetypeDef* t : *defined.file->time_archetypes()) timed |= t->owner() == defined.index;
    EXPECT_EQ(row->kind, defined.interior() != nullptr ? ArchetypeKind::mlo
                         : timed                       ? ArchetypeKind::time
                                                       : ArchetypeKind::base);
  }
  EXPECT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[ArchetypeKind::mlo], 40u);
}

/// A linked world of the same files.
struct Linked {
  LintWorld world{{.types_are_known = true, .maps_are_known = true}};
  std::map<const LintUnit*, uint64_t> sizes;

  explicit Linked(const WorldFiles& files) {
    for (const auto& file : files.files) {
      LintUnit unit = unit_of(file->resource, NameTexts({file->names.begin(), file->names.end()}));
      if (unit.map == nullptr && unit.types == nullptr && unit.manifest == nullptr) continue;
      unit.path = file->path;
      unit.stem = std::filesystem::path(file->path).stem().string();
      sizes[&world.add(std::move(unit))] = file->bytes.size();
    }
    world.link();
  }
  WorldIndexInput input(const WorldIndexOptions& options = {}) const {
    return world_index_input(
        world, [&](const LintUnit& unit) { return static_cast<uint32_t>(sizes.at(&unit)); }, options);
  }
};

TEST(WorldIndexWriter, OfALinkedWorldIsWhatTheGeneratorWritesByAnotherWay) {
  const Generated& w = generated();
  const Linked linked(*w.files);
  const auto* const data = reinterpret_cast<const uint8_t*>(w.resource->bytes.data());
  EXPECT_TRUE(build(linked.input()) == std::vector<uint8_t>(data, data + w.resource->bytes.size()));
}

TEST(WorldIndexWriter, SameRowsInAnyOrderGiveTheSameBytes) {
  const Linked linked(*generated().files);
  const std::vector<uint8_t> bytes = build(linked.input());
  std::mt19937 random(7);
  WorldIndexInput in = linked.input();
  std::shuffle(in.maps.begin(), in.maps.end(), random);
  std::shuffle(in.types.begin(), in.types.end(), random);
  std::shuffle(in.archetypes.begin(), in.archetypes.end(), random);
  for (WorldIndexMap& m : in.maps) std::shuffle(m.types.begin(), m.types.end(), random);
  EXPECT_TRUE(build(std::move(in)) == bytes);
}

TEST(WorldIndexWriter, NamesArePermanenceAndSizesAreOptions) {
  const Linked linked(*generated().files);
  const uint32_t one = generated().index.types()[3].name.value;
  const std::vector<uint8_t> some =
      build(linked.input({.names = false, .all_types_permanent = false, .permanent_types = {one}}));
  const std::vector<uint8_t> all =
      build(linked.input({.names = true, .all_types_permanent = true, .permanent_types = {}}));
  EXPECT_LT(some.size(), all.size());
  for (const TypesSlot& t : open(some).types()) EXPECT_EQ(t.is_permanent(), t.name.value == one);
  for (const TypesSlot& t : open(all).types()) EXPECT_TRUE(t.is_permanent());
}

TEST(WorldIndexWriter, WIDX1_SizesStayBelowTheAims) {  // PERF-9
  const auto stats = index_stats(*generated().resource);
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->maps, 1100u);
  EXPECT_EQ(stats->archetypes, 2500u);
  EXPECT_LE(stats->bytes_per_map(), 200);
  EXPECT_LE(stats->bytes_per_archetype(), 100);
  // 16 boxes of 24 bytes and a word for each, one word for the place: full nodes and no less than that.
  EXPECT_GE(stats->streaming.bytes, 1100u * (24 + 4 + 4));
  EXPECT_LE(stats->streaming.bytes, 1100u * (24 + 4 + 4) * 115 / 100);
  EXPECT_EQ(stats->streaming.depth, 3u);  // 16 * 16 < 1100 <= 16 * 16 * 16
}

// --- by hand -----------------------------------------------------------------------------------------

TEST(WorldIndexWriter, WIDX1_ClosureGoesThroughCirclesAndStopsAtTypeFilesOfOtherIndices) {
  WorldIndexInput in;
  in.maps = {map_named(1, 0, {10, 10}), map_named(2, 0, {40}), map_named(3, 0, {77}), map_named(4)};
  in.types = {types_named(10, {20, 10}), types_named(20, {30, 88}), types_named(30, {20}), types_named(40)};
  const std::vector<uint8_t> bytes = build(std::move(in));
  const WorldIndex index = open(bytes);
  const auto needs = [&](uint32_t map) { return set_of(index.dependencies(*index.find_map(NameHash{map}))); };
  EXPECT_EQ(needs(1), (Names{10, 20, 30, 88}));
  EXPECT_EQ(needs(2), (Names{40}));
  EXPECT_EQ(needs(3), (Names{77}));
  EXPECT_EQ(needs(4), Names{});
  EXPECT_EQ(set_of(index.dependencies(*index.find_types(NameHash{10}))), (Names{20}));
  EXPECT_EQ(set_of(index.dependencies(*index.find_types(NameHash{20}))), (Names{30, 88}));
}

TEST(WorldIndexWriter, WIDX1_ChildrenAndGroupsFollowParents) {
  WorldIndexInput in;
  // 1 -> 2 -> 3, 4; 5 is its own parent; 6 and 7 name each other; 8's parent is elsewhere.
  in.maps = {map_named(4, 2), map_named(1),    map_named(2, 1), map_named(3, 2),
             map_named(5, 5), map_named(7, 6), map_named(6, 7), map_named(8, 99)};
  in.groups = {{NameHash{6}, 0, 0, {}, {}}, {NameHash{2}, 1, 0xF0, {9, 3, 9}, {12, 11}}, {NameHash{99}, 0, 0, {}, {}}};
  const std::vector<uint8_t> bytes = build(std::move(in));
  const WorldIndex index = open(bytes);
  const auto names = [&](std::span<const uint32_t> slots) {
    Names out;
    for (const uint32_t slot : slots) out.insert(index.maps()[slot].name.value);
    return out;
  };
  const auto children = [&](uint32_t map) { return names(index.children(*index.find_map(NameHash{map}))); };
  EXPECT_EQ(children(1), Names{2});
  EXPECT_EQ(children(2), (Names{3, 4}));
  EXPECT_EQ(children(5), Names{});
  EXPECT_EQ(children(6), Names{7});
  EXPECT_EQ(children(8), Names{});
  MapGroup group;
  ASSERT_TRUE(index.find_group(NameHash{2}, group));
  EXPECT_EQ(names(group.maps), (Names{2, 3, 4}));
  EXPECT_EQ(group.hours, 0xF0u);
  EXPECT_EQ(set_of(group.weather_types), (Names{3, 9}));
  EXPECT_EQ(set_of(group.bounds), (Names{11, 12}));
  ASSERT_TRUE(index.find_group(NameHash{6}, group));
  EXPECT_EQ(names(group.maps), (Names{6, 7}));
  ASSERT_TRUE(index.find_group(NameHash{99}, group));
  EXPECT_TRUE(group.maps.empty());
}

TEST(WorldIndexWriter, EmptyAndOneSlotWorlds) {
  const std::vector<uint8_t> none = build({});
  EXPECT_EQ(open(none).maps().size(), 0u);
  EXPECT_EQ(open(none).streaming_tree().node_count(), 0u);
  WorldIndexInput in;
  in.maps = {map_named(1)};
  const std::vector<uint8_t> one = build(std::move(in));
  uint32_t found = 9;
  EXPECT_EQ(query_sphere(open(one).streaming_tree(), {}, 1, std::span(&found, 1)), 1u);
  EXPECT_EQ(found, 0u);
}

TEST(WorldIndexWriter, WhatCannotBeIsRefusedByName) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto with_map = [](const std::function<void(WorldIndexMap&)>& change) {
    WorldIndexInput in;
    in.maps = {map_named(hash_name("town").value)};
    in.names = {{hash_name("town").value, "town"}};
    change(in.maps[0]);
    return in;
  };
  EXPECT_EQ(refusal(with_map([&](WorldIndexMap& m) { m.slot.streaming.min.y = nan; })),  // P078
            "map 'town': a box is infinite or NaN");
  EXPECT_EQ(refusal(with_map([&](WorldIndexMap& m) { m.slot.entities.max.x = inf; })),
            "map 'town': a box is infinite or NaN");
  EXPECT_EQ(refusal(with_map([](WorldIndexMap& m) { m.slot.name = NameHash{}; })), "map without a name");
  WorldIndexInput twice = with_map([](WorldIndexMap&) {});
  twice.maps.push_back(twice.maps[0]);
  EXPECT_EQ(refusal(std::move(twice)), "map 'town' is there twice");
  WorldIndexInput types;
  types.types = {types_named(0x1A2B3C4D), types_named(0x1A2B3C4D)};
  EXPECT_EQ(refusal(std::move(types)), "type file hash_1A2B3C4D is there twice");
  WorldIndexInput lost;
  lost.archetypes = {archetype_named(1, 2)};
  EXPECT_EQ(refusal(std::move(lost)), "archetype hash_00000001: its type file hash_00000002 is not in the index");
  WorldIndexInput odd;
  odd.types = {types_named(2)};
  odd.archetypes = {archetype_named(1, 2)};
  odd.archetypes[0].row.sphere_radius = nan;
  EXPECT_EQ(refusal(std::move(odd)), "archetype hash_00000001: a number is infinite or NaN");
  WorldIndexInput groups;
  groups.groups = {{NameHash{1}, 0, 0, {}, {}}, {NameHash{1}, 0, 0, {}, {}}};
  EXPECT_EQ(refusal(std::move(groups)), "map group hash_00000001 is there twice");
}

// --- trees -------------------------------------------------------------------------------------------

TEST(BoxTreeBuilder, P088_P078_TreesOfRandomBoxesOpenAndFindWhatBruteForceFinds) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int world = 0; world < 60; ++world) {
    WorldIndexInput in;
    const size_t size = world < 40 ? random() % 40 : random() % 3000;
    const std::vector<Aabb> boxes = test::random_boxes(random, size), ranges = test::random_boxes(random, size);
    for (uint32_t i = 0; i < size; ++i) {
      WorldIndexMap& m = in.maps.emplace_back(map_named(i + 1));
      m.slot.entities = boxes[i];
      m.slot.streaming = ranges[i];
    }
    const std::vector<uint8_t> bytes = build(std::move(in));
    const WorldIndex index = open(bytes);
    ASSERT_TRUE(test::use_index(index));
    const auto out = static_cast<size_t>(std::count_if(boxes.begin(), boxes.end(), test::inside_out));
    EXPECT_EQ(index.entities_tree().outside.size(), out);
  }
}

TEST(BoxTreeBuilder, NodesAreFullButForOneOnEachPath) {
  std::mt19937 random(3);
  for (const size_t size : {1u, 16u, 17u, 256u, 257u, 4096u, 8000u}) {
    std::vector<Aabb> boxes;
    for (size_t i = 0; i < size; ++i) {
      const auto at = static_cast<float>(random() % 10000);
      boxes.push_back({{at, at / 2, 0}, {at + 10, at / 2 + 10, 5}});
    }
    const BuiltBoxTree tree = build_box_tree(boxes);
    size_t least = 0;  // nodes of a tree that is full
    for (size_t level = size; level > 1 || least == 0; level = (level + 15) / 16) least += (level + 15) / 16;
    EXPECT_LE(tree.view().node_count(), least + 3) << size;
    EXPECT_LE(tree.view().depth(), static_cast<uint32_t>(std::max(1.0, std::ceil(std::log2(size) / 4)))) << size;
  }
}

TEST(BoxTreeBuilder, LargeBoxesDoNotBlowUpTheNodesOfSmallOnes) {
  // 1000 small boxes on a grid and 24 as large as the world: a point meets all large ones and few small ones.
  std::vector<Aabb> boxes;
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<float>(i % 40) * 100, y = static_cast<float>(i / 40) * 100;
    boxes.push_back({{x, y, 0}, {x + 99, y + 99, 10}});
  }
  for (int i = 0; i < 24; ++i) boxes.insert(boxes.begin() + i * 40, Aabb{{-5000, -5000, -50}, {9000, 9000, 900}});
  const BuiltBoxTree tree = build_box_tree(boxes);
  // The nodes that hold large boxes hold nothing else: two, perhaps with one on the seam.
  std::set<uint32_t> nodes;
  for (uint32_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].max.x - boxes[i].min.x > 1000) nodes.insert(tree.places[i] / kBoxTreeWidth);
  EXPECT_LE(nodes.size(), 3u);
}

// --- worldc's output ---------------------------------------------------------------------------------

TEST(IndexOutput, HasSizesAndRepairsOfTheOutputs) {
  const Linked linked(*generated().files);
  const TempDir dir;
  const uint32_t wanted = generated().index.maps()[17].name.value;
  MapRepair repair;
  repair.has_extents = true;
  repair.entities.min = {0.1, 0.2, 0.3};
  repair.entities.max = {1.1, 1.2, 1.3};
  repair.streaming = repair.entities.grown(5);
  repair.has_content_flags = repair.has_map_flags = true;
  repair.content_flags = 2;
  repair.map_flags = 3;
  std::vector<IndexedUnit> units;
  for (const auto& [unit, size] : linked.sizes)
    if (unit->manifest == nullptr) units.push_back({unit, size + 64, unit->name == wanted ? &repair : nullptr});
  BuiltOutput out;
  std::string error;
  ASSERT_EQ(write_index_output(dir.path(), linked.world, units, {}, out, error).outcome, WriteOutcome::written);
  EXPECT_EQ(out.path, "world.widx");
  EXPECT_NE(out.parts.source, 0u);
  LoadedResource resource;
  int code = 0;
  ASSERT_TRUE(load_resource(dir.path("world.widx"), {}, resource, error, code)) << error;
  const WorldIndex index(resource.resource);
  for (uint32_t i = 0; i < index.maps().size(); ++i) {
    const MapSlot &slot = index.maps()[i], &before = generated().index.maps()[i];
    EXPECT_EQ(slot.size, before.size + 64);
    if (slot.name.value != wanted) continue;
    EXPECT_LE(static_cast<double>(slot.entities.min.x), 0.1);  // outwards, by no more than a float
    EXPECT_GE(static_cast<double>(slot.entities.max.z), 1.3);
    EXPECT_NEAR(static_cast<double>(slot.entities.max.z), 1.3, 1e-6);
    EXPECT_NEAR(static_cast<double>(slot.streaming.min.y), -4.8, 1e-5);
    EXPECT_EQ(slot.asset, BoxAsset::map_medium);
    EXPECT_EQ(slot.flags, 3u);
  }
  BuiltOutput again;
  EXPECT_EQ(write_index_output(dir.path(), linked.world, units, {}, again, error).outcome, WriteOutcome::unchanged);
  EXPECT_EQ(again.parts, out.parts);
}

}  // namespace
}  // namespace meridian::tools
