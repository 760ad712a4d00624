// SPDX-License-Identifier: MIT
// MAP-5: each sample map and type file, compiled and linked as a world, is loaded and unloaded a thousand times, in
// random order and overlap. All counts and bytes return to the start exactly. On the way: with everything there, maps
// use the linker's blocks (DESC-4) and find their LOD parents (MAP-4).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "support/temp_dir.h"
#include "support/test_paths.h"
#include "unit/runtime/map/map_kit.h"
#include "unit/tools/tool_runner.h"
#include "worldc.h"

namespace meridian {
namespace {

struct File {
  NameHash name{}, parent{};
  std::string path;
  std::vector<std::byte> bytes;
  Resource resource;
  MapContents* contents = nullptr;  ///< of a map that is loaded
  uint32_t loads = 0, unloads = 0;
};

std::unique_ptr<File> read_file(const std::filesystem::path& path, uint32_t kind) {
  auto file = std::make_unique<File>();
  file->path = path.filename().string();
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> raw{std::istreambuf_iterator<char>(stream), {}};
  file->bytes.resize(raw.size());
  std::memcpy(file->bytes.data(), raw.data(), raw.size());
  const Result<Resource> opened = open_resource(file->bytes, {.kind = kind});
  EXPECT_TRUE(opened.ok()) << path << ": " << opened.status().message;
  if (!opened.ok()) return file;
  file->resource = opened.value();
  if (kind == kind_of("IMAP")) {
    file->name = NameHash{file->resource.root<schema::MapData>()->name()};
    file->parent = NameHash{file->resource.root<schema::MapData>()->parent()};
  } else {
    file->name = NameHash{file->resource.root<schema::MapTypes>()->name()};
  }
  return file;
}

class SampleWorld : public testing::Test {
 protected:
  void SetUp() override {
    const test::TempDir built;
    const std::string sources = std::string(MERIDIAN_SOURCE_DIR) + "/samples/data";
    const test::ToolRun run =
        test::run_tool(tools::run_worldc, std::vector<std::string>{"build", sources, "-o", built.path()});
    ASSERT_EQ(run.exit, 0) << run.err;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(built.path())) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
      if (path.extension() == ".imap") maps.push_back(read_file(path, kind_of("IMAP")));
      if (path.extension() == ".ityp") types.push_back(read_file(path, kind_of("ITYP")));
    }
    ASSERT_GE(maps.size(), 15u);
    ASSERT_GE(types.size(), 3u);
    ASSERT_TRUE(kit.init().ok());
    for (uint32_t i = 0; i < types.size(); ++i) slots.push_back(static_cast<ItypSlot>(i));
  }

  bool load_types(uint32_t i) {
    if (kit.archetypes.is_loaded(slots[i])) return false;
    const Status s = load_map_types(kit.archetypes, types[i]->resource, {.slot = slots[i], .file = types[i]->name});
    EXPECT_TRUE(s.ok()) << s.message;
    ++types[i]->loads;
    return true;
  }
  /// False: a loaded map uses one of its archetypes.
  bool unload_types(uint32_t i) {
    if (!kit.archetypes.is_loaded(slots[i])) return true;
    const Status s = unload_map_types(kit.archetypes, slots[i]);
    EXPECT_TRUE(s.ok() || s.code == StatusCode::in_use) << s.message;
    types[i]->unloads += s.ok() ? 1 : 0;
    return s.ok();
  }
  /// Parents first or children first: links are made by whoever comes second.
  void load_map(uint32_t i) {
    File& file = *maps[i];
    if (file.contents != nullptr) return;
    MapPlacement placement{.slot = i, .dependencies = slots};
    if (File* const above = find(file.parent)) placement.parent = above->contents;
    const Result<MapContents*> loaded = load_map_data(kit.maps, file.resource, placement);
    ASSERT_TRUE(loaded.ok()) << file.path << ": " << loaded.status().message;
    file.contents = loaded.value();
    ++file.loads;
    for (const auto& child : maps) {
      if (child->parent != file.name || child->contents == nullptr || child->contents->parent() != nullptr) continue;
      EXPECT_TRUE(child->contents->bind_parent(*file.contents).ok());
    }
  }
  void unload_map(uint32_t i) {
    File& file = *maps[i];
    if (file.contents == nullptr) return;
    EXPECT_TRUE(unload_map_data(kit.maps, *file.contents).ok());
    file.contents = nullptr;
    ++file.unloads;
  }
  File* find(NameHash name) const {
    for (const auto& map : maps) {
      if (name.value != 0 && map->name == name) return map.get();
    }
    return nullptr;
  }
  std::vector<uint32_t> shuffled(size_t count) {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < count; ++i) out.push_back(i);
    for (size_t i = count; i > 1; --i) std::swap(out[i - 1], out[random() % i]);
    return out;
  }
  /// What is there holds together: handles, links, descriptors.
  void check() const {
    for (const auto& file : maps) {
      if (file->contents == nullptr) continue;
      SCOPED_TRACE(file->path);
      const MapContents& map = *file->contents;
      uint32_t created = 0;
      for (uint32_t i = 0; i < map.entity_count(); ++i) {
        const Entity* const entity = map.entity(i);
        if (entity == nullptr) continue;
        ++created;
        EXPECT_EQ(kit.table.get(map.handle(i)), entity);
        EXPECT_EQ(kit.entity_of_slot(*entity), entity);
        EXPECT_EQ(kit.archetypes.find(entity->archetype()->name()), entity->archetype());
        const Entity* const parent = map.lod_parent(*entity);
        EXPECT_EQ(parent != nullptr, entity->lod().has(LodFlag::bound));
        if (parent != nullptr) {
          EXPECT_EQ(kit.desc(*entity).pivot, parent->position());
        }
      }
      EXPECT_EQ(map.created(), created);
    }
  }

  test::MapKit kit;
  test::CapturedLog log;
  std::vector<std::unique_ptr<File>> maps, types;
  std::vector<ItypSlot> slots;
  std::mt19937 random;
};

// DESC-4, MAP-1, MAP-4: with its types there, everything that a linked world places is made, and its blocks are right.
TEST_F(SampleWorld, IsLoadedAsItWasLinked) {
  uint32_t composites = 0;
  for (uint32_t i = 0; i < types.size(); ++i) EXPECT_TRUE(load_types(i));
  for (uint32_t seed = 0; seed < 5; ++seed) {
    random.seed(seed);
    for (const uint32_t i : shuffled(maps.size())) load_map(i);
    uint32_t with_entities = 0, children = 0;
    composites = 0;
    for (const auto& file : maps) {
      SCOPED_TRACE(file->path);
      const MapContents& map = *file->contents;
      EXPECT_EQ(map.created(), map.entity_count());
      bool has_composite = false;
      for (uint32_t i = 0; i < map.entity_count(); ++i) {
        has_composite = has_composite || map.entity(i)->type() == EntityClass::composite_entity;
      }
      if (map.entity_count() > 0) {
        ++with_entities;
        EXPECT_TRUE(map.used_cooked_blocks());
      }
      composites += has_composite ? 1 : 0;
      for (uint32_t i = 0; i < map.entity_count(); ++i) {
        if (!map.entity(i)->lod().has_parent()) continue;
        ++children;
        EXPECT_NE(map.lod_parent(*map.entity(i)), nullptr) << i;
      }
    }
    EXPECT_GT(with_entities, 5u);
    EXPECT_GT(children, 5u);
    EXPECT_EQ(kit.maps.statistics().missing_archetype, 0u);
    check();
    for (const uint32_t i : shuffled(maps.size())) unload_map(i);
  }
  EXPECT_GT(composites, 0u);  // they are archetypes to the linker too
  for (const test::Said& said : log.said()) {
    EXPECT_NE(said.text.find("unknown structure"), std::string::npos) << said.text;
  }
}

TEST_F(SampleWorld, ComesAndGoesWithoutATrace) {
  const test::Account before = kit.account();
  const uint64_t archetype_bytes = kit.memory.bytes();
  std::vector<test::Account> whole;
  for (uint32_t round = 0; round < MERIDIAN_SAMPLE_ROUNDS; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    random.seed(round);
    // Half of the rounds with all types first; else maps find only some of theirs.
    const auto files = static_cast<uint32_t>(maps.size() + types.size());
    std::vector<uint32_t> order = shuffled(files);
    if (round % 2 == 0) {
      std::stable_partition(order.begin(), order.end(), [&](uint32_t i) { return i >= maps.size(); });
    }
    for (const uint32_t i : order)
      i < maps.size() ? load_map(i) : (void)load_types(i - static_cast<uint32_t>(maps.size()));
    if (round % 2 == 0) whole.push_back(kit.account());
    for (int toggles = 0; toggles < 15; ++toggles) {
      const auto i = static_cast<uint32_t>(random() % files);
      const auto t = static_cast<uint32_t>(i - maps.size());
      if (i >= maps.size()) {
        if (kit.archetypes.is_loaded(slots[t])) {
          (void)unload_types(t);
        } else {
          (void)load_types(t);
        }
      } else if (maps[i]->contents != nullptr) {
        unload_map(i);
      } else {
        load_map(i);
      }
      if (toggles == 7 && round % 16 == 0) check();
      if (toggles == 11) kit.world.pre_scan();
    }
    order = shuffled(files);
    for (const uint32_t i : order)
      i < maps.size() ? unload_map(i) : (void)unload_types(i - static_cast<uint32_t>(maps.size()));
    for (uint32_t t = 0; t < types.size(); ++t) EXPECT_TRUE(unload_types(t));
    ASSERT_EQ(kit.account(), before);
    ASSERT_EQ(kit.memory.bytes(), archetype_bytes);
    ASSERT_TRUE(kit.record.alive.empty());
  }
  // The same files take the same, whatever came before. Which containers are merged is no matter of order.
  for (const test::Account& account : whole) {
    EXPECT_EQ(account.references, whole[0].references);
    EXPECT_EQ(account.containers, whole[0].containers);
    EXPECT_EQ(account.groups, whole[0].groups);
  }
  for (const auto& list : {&maps, &types}) {
    for (const auto& file : *list) {
      EXPECT_GE(file->loads, static_cast<uint32_t>(MERIDIAN_SAMPLE_ROUNDS)) << file->path;
      EXPECT_EQ(file->loads, file->unloads) << file->path;
    }
  }
  EXPECT_GT(kit.record.created, 0u);
  EXPECT_EQ(kit.record.created, kit.record.destroyed);
}

}  // namespace
}  // namespace meridian
