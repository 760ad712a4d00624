// SPDX-License-Identifier: MIT
// Loads that cannot succeed leave nothing behind, and the same load succeeds once there is room (CORE-11, SG-3, MAP-5).
#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr NameHash kLamp = hash_name("lamp"), kShop = hash_name("shop"), kBar = hash_name("bar");

struct MapFailure : testing::Test {
  MapFailure() {
    props.base(kLamp, {.lod = 60});
    test::InteriorItem shop{.name = kShop};
    shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0, 1}}};
    shop.portals = {{.from = 1, .to = 0, .corners = {{0, 1, 0}, {0, 1, 2}, {0, 2, 2}, {0, 2, 0}}}};
    shop.entities = {{.archetype = kLamp, .at = {1, 1, 0}}, {.archetype = kLamp, .at = {2, 2, 0}}};
    shop.sets = {{.name = kBar, .entities = {{.archetype = kLamp, .at = {3, 3, 0}}}, .locations = {1}}};
    props.interiors.push_back(shop);
    town.name = hash_name("town");
    for (int i = 0; i < 400; ++i) {
      town.add(
          {.archetype = kLamp, .at = {static_cast<float>(i), 0, 0}, .parent = i % 2 == 0 ? 1 : -1, .children = 400});
    }
    town.extensions = {{3, schema::ExtensionDef::DoorDef}, {7, schema::ExtensionDef::DoorDef}};
    plain_town = town;
    town.add_interior({.archetype = kShop, .at = {100, 0, 0}}, {kBar.value});
    town.add_interior({.archetype = kShop, .at = {200, 0, 0}});
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  /// It fails with this code, and nothing is different; as often as one likes.
  void expect_refused(const test::MapFile& bytes, StatusCode code, MapPlacement placement = {}) {
    placement.slot = 50;
    const test::Account at_first = kit.account();
    for (int round = 0; round < 3; ++round) {
      const Result<MapContents*> refused = kit.try_load(bytes, placement);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.status().code, code) << refused.status().message;
      EXPECT_EQ(kit.account(), at_first);
      EXPECT_EQ(kit.maps.find(50), nullptr);
      EXPECT_EQ(kit.record.created - kit.record.destroyed, kit.record.alive.size());
    }
  }
  /// A small map that takes one of everything.
  test::MapFile one_lamp() const {
    test::MapMaker out;
    out.add({.archetype = kLamp});
    return out.finish();
  }
  test::TypesItem props;
  test::MapMaker town, plain_town;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// Each allocation of a load, refused in turn: nothing is left, whichever it is. With and without the linker's blocks,
// and with a parent, whose list of children is as it was.
TEST_F(MapFailure, OfMemoryAtAnyPointLeavesNothing) {
  start();
  test::MapMaker lods{.name = hash_name("lods")}, near = town;
  lods.add({.archetype = kLamp, .lod = 300, .level = schema::LodLevel::LOD, .children = 400});
  near.entities[4].flags = test::kInParent;
  near.entities[4].parent = 0;
  const test::MapFile parent_file = lods.finish(), plain = near.finish(), linked = near.finish(props.traits());
  MapContents* const parent = kit.load(parent_file, 40);
  const test::Account at_first = kit.account();
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    int needed = 0;
    for (; needed < 100; ++needed) {
      SCOPED_TRACE(needed);
      kit.memory.fail_after(needed);
      MapPlacement placement{.slot = 50};
      placement.parent = parent;
      const Result<MapContents*> loaded = kit.try_load(*bytes, placement);
      kit.memory.fail_after(-1);
      EXPECT_EQ(kit.record.created - kit.record.destroyed, kit.record.alive.size());
      if (loaded.ok()) {
        EXPECT_EQ(loaded.value()->created(), 402u);
        EXPECT_EQ(kit.interior_of(*loaded.value(), 400)->created(), 3u);
        EXPECT_EQ(kit.interior_of(*loaded.value(), 401)->created(), 2u);
        kit.unload(loaded.value());
        EXPECT_EQ(kit.account(), at_first);
        break;
      }
      EXPECT_EQ(loaded.status().code, StatusCode::out_of_memory) << loaded.status().message;
      EXPECT_EQ(kit.account(), at_first);
      EXPECT_EQ(parent->entity(0)->lod().bound_children, 0);
      EXPECT_EQ(kit.record.alive.size(), parent->created());
    }
    EXPECT_GT(needed, 4) << "scratch, entities, blocks, and two interiors at least";
  }
  kit.unload(parent);
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapFailure, OfContentsLeavesNothing) {
  kit.map_config.maps = 2;
  start();
  const test::MapFile small = one_lamp(), bytes = town.finish();
  MapContents* const first = kit.load(small, 1);
  MapContents* const second = kit.load(small, 2);
  expect_refused(bytes, StatusCode::out_of_slots);
  EXPECT_LE(log.count(), 1u) << "told once: " << log.all();
  kit.unload(first);
  MapContents* const third = kit.load(bytes, 3);
  kit.unload(third);
  kit.unload(second);
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapFailure, OfNodesLeavesNothing) {
  kit.scene_capacities.streamed_nodes = 1;
  start();
  const test::MapFile small = one_lamp(), plain = town.finish(), linked = town.finish(props.traits());
  MapContents* const first = kit.load(small, 1);
  expect_refused(plain, StatusCode::out_of_slots);
  expect_refused(linked, StatusCode::out_of_slots);
  EXPECT_EQ(log.count(), 1u) << "told once: " << log.all();
  kit.unload(first);
  kit.unload(kit.load(plain, 2));
  EXPECT_EQ(kit.account(), before);
}

// 402 entities need two containers.
TEST_F(MapFailure, OfContainersLeavesNothing) {
  kit.scene_capacities.soa_containers = 2;
  start();
  const test::MapFile small = one_lamp(), plain = town.finish(), linked = town.finish(props.traits());
  MapContents* const first = kit.load(small, 1);
  expect_refused(plain, StatusCode::out_of_slots);
  expect_refused(linked, StatusCode::out_of_slots);
  EXPECT_EQ(log.count(), 1u) << "told once: " << log.all();
  kit.unload(first);
  kit.unload(kit.load(linked, 2));
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapFailure, OfDescriptorsLeavesNothing) {
  kit.scene_capacities.descriptors = 300;  // 19 200 bytes; 402 descriptors in a map have 44 each
  start();
  const test::MapFile small = one_lamp(), plain = plain_town.finish(), linked = plain_town.finish(props.traits());
  MapContents* firsts[4] = {};
  for (uint32_t i = 0; i < 4; ++i) firsts[i] = kit.load(small, i);
  expect_refused(plain, StatusCode::out_of_slots);
  expect_refused(linked, StatusCode::out_of_slots);
  for (MapContents* const map : firsts) kit.unload(map);
  kit.unload(kit.load(plain, 2));
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapFailure, OfGroupsLeavesNothing) {
  kit.table_config.groups = 3;
  start();
  const test::MapFile small = one_lamp(), bytes = town.finish();  // needs three: its own, and two interiors'
  MapContents* const first = kit.load(small, 1);
  expect_refused(bytes, StatusCode::out_of_slots);
  MapContents* const second = kit.load(small, 2);
  MapContents* const third = kit.load(small, 3);
  expect_refused(bytes, StatusCode::out_of_slots);
  for (MapContents* const map : {first, second, third}) kit.unload(map);
  kit.unload(kit.load(bytes, 2));
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapFailure, OfInteriorsLeavesNothing) {
  kit.map_config.interiors = 2;
  start();
  test::MapMaker shop;
  shop.add_interior({.archetype = kShop});
  const test::MapFile one = shop.finish(), two = town.finish();
  MapContents* const first = kit.load(one, 1);
  expect_refused(two, StatusCode::out_of_slots);
  EXPECT_EQ(kit.maps.interior_count(), 1u);
  kit.unload(first);
  kit.unload(kit.load(two, 2));
  EXPECT_EQ(kit.account(), before);
}

// Under a lock nothing that readers see may change, also when a load fails half-way.
TEST_F(MapFailure, UnderALockLeavesNothing) {
  kit.map_config.interiors = 1;
  start();
  const test::MapFile small = one_lamp(), bytes = town.finish();
  MapContents* const first = kit.load(small, 1);
  test::BrokenContracts contracts;
  kit.world.lock();
  expect_refused(bytes, StatusCode::out_of_slots);  // the second interior
  EXPECT_TRUE(kit.is_in_world(*first->entity(0)));
  kit.world.unlock();
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(kit.graph.statistics().refused, 0u);
  kit.unload(first);
  EXPECT_EQ(kit.account(), before);
}

// What a rebuild of descriptors lacks, it says; and the map can still be unloaded.
TEST_F(MapFailure, OfMemoryWhileTheOriginMovesIsTold) {
  start();
  const test::MapFile bytes = plain_town.finish();
  for (int allowed = 0; allowed < 8; ++allowed) {
    SCOPED_TRACE(allowed);
    MapContents* const map = kit.load(bytes, 1);
    log.clear();
    kit.memory.fail_after(allowed);
    EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
    kit.memory.fail_after(-1);
    uint32_t right = 0;
    for (uint32_t i = 0; i < 400; ++i) {
      ASSERT_NE(map->entity(i), nullptr);
      // The middle of (-1, -2, -3) to (4, 5, 6), moved by i and 1.
      const EntityDesc desc = kit.desc(*map->entity(i));
      right += kit.is_in_world(*map->entity(i)) && desc.centre == Vec3{static_cast<float>(i) + 2.5f, 1.5f, 1.5f};
      EXPECT_TRUE(!kit.is_in_world(*map->entity(i)) || kit.entity_of_slot(*map->entity(i)) == map->entity(i));
    }
    EXPECT_TRUE(right == 400 ? log.count() == 0 : log.count() == 1) << right << " are right, and: " << log.all();
    EXPECT_TRUE(kit.world.rebase({-1, 0, 0}).ok());
    for (uint32_t i = 0; i < 400; ++i) EXPECT_TRUE(kit.is_in_world(*map->entity(i))) << "there is memory again";
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
  }
}

// A world that ends takes its maps along: CheckedMemory and the asserts of entities tell if not.
TEST_F(MapFailure, AtTheEndOfTheWorldNothingIsLeft) {
  start();
  const test::MapFile bytes = town.finish(), small = one_lamp();
  {
    MapWorld maps;
    ASSERT_TRUE(maps.init(kit.map_config, kit.memory).ok());
    const ItypSlot types[] = {3};
    for (uint32_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(
          load_map_data(maps, i == 1 ? bytes.resource() : small.resource(), {.slot = i, .dependencies = types}).ok());
    }
    EXPECT_EQ(kit.record.alive.size(), 402u + 5 + 2);
  }
  EXPECT_TRUE(kit.record.alive.empty());
  EXPECT_EQ(kit.account(), before);
  EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
}

}  // namespace
}  // namespace meridian
