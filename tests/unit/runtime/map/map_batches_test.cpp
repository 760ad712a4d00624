// SPDX-License-Identifier: MIT
// Lists of grass and props as entities (ENTY-4): found by searches, with what a scan asks of them (SCAN-6), gone with
// their map (MAP-1, MAP-5).
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr NameHash kLamp = hash_name("lamp"), kGrass = hash_name("grass"), kFern = hash_name("fern"),
                   kNight = hash_name("night");

struct MapBatches : testing::Test {
  MapBatches() {
    props.base(kLamp, {.lod = 60}).base(kGrass, {.lod = 30}).time(kNight, 0x0000FF);
    town.name = hash_name("town");
    for (int i = 0; i < 40; ++i) town.add({.archetype = kLamp, .at = {static_cast<float>(10 * i), 0, 0}});
    town.prop_lists = 2;
    town.grass = {{.plant = kGrass, .box = {{100, 100, 0}, {120, 110, 4}}, .distance = 90, .fade_start = 25},
                  {.plant = kFern, .box = {{0, 0, 0}, {1, 1, 1}}},
                  {.plant = kGrass, .box = {{-50, -60, -7}, {-40, -20, -1}}, .distance = 0},
                  {.plant = kNight, .box = {{300, 300, 0}, {310, 310, 1}}, .distance = 70}};
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    types.emplace(props.finish("props"));
    kit.types(*types, 3);
    plain.emplace(town.finish());
    linked.emplace(town.finish(props.traits()));
    before = kit.account();
  }
  std::vector<EntityHandle> found(const Aabb& box, uint32_t classes = kAllTypes) {
    std::vector<EntityHandle> out(64);
    SearchResult result;
    EntityQuery query;
    query.volume = box_volume(box);
    query.types = classes;
    EXPECT_TRUE(kit.world.search_now(query, out, result).ok());
    out.resize(std::min<size_t>(out.size(), result.stored));
    return out;
  }
  std::vector<EntityHandle> found_at(const Vec3& at) { return found({at, at}); }
  static constexpr Aabb kEverything{{-900, -900, -900}, {900, 900, 900}};
  static constexpr uint32_t kGrassOnly = type_bit(EntityClass::grass_batch);

  test::TypesItem props;
  test::MapMaker town;
  std::optional<test::TypesFile> types;
  std::optional<test::MapFile> plain, linked;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// ENTY-4, SCAN-6, MAP-1: by hand. The third batch has no distance, so its plant's counts: 30 m.
TEST_F(MapBatches, AreEntitiesWithTheBoxOfTheirList) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    log.clear();
    kit.maps.reset_messages();
    MapContents* const map = kit.load(*file, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->used_cooked_blocks(), file == &*linked)
        << "the linker's blocks are of entities only, and still right";
    EXPECT_EQ(map->entity_count(), 40u);
    EXPECT_EQ(map->created(), 40u);
    ASSERT_EQ(map->batch_count(), 6u) << "two of props, four of grass";
    EXPECT_EQ(map->batch(3), nullptr) << "nobody defines ferns (MAP-2)";
    EXPECT_EQ(map->batch(6), nullptr);
    EXPECT_EQ(log.count(), 1u) << log.all();
    EXPECT_NE(log.all().find("grass batch 1"), std::string::npos) << log.all();
    for (uint32_t i = 0; i < 2; ++i) {
      const Entity* const list = map->batch(i);
      ASSERT_NE(list, nullptr);
      EXPECT_EQ(list->type(), EntityClass::prop_batch);
      EXPECT_EQ(batch_of(*list)->list, i);
      EXPECT_TRUE(list->container().is_none()) << "nobody knows where its props stand";
      EXPECT_EQ(list->imap(), 1u);
    }
    const Entity& grass = *map->batch(2);
    EXPECT_EQ(grass.type(), EntityClass::grass_batch);
    EXPECT_EQ(grass.archetype(), kit.archetypes.find(kGrass));
    EXPECT_EQ(grass.owner(), OwnedBy::ipl);
    EXPECT_EQ(grass.imap(), 1u);
    EXPECT_EQ(grass.lod().distance, 90);
    EXPECT_FALSE(grass.lod().has_parent());
    ASSERT_NE(batch_of(grass), nullptr);
    EXPECT_EQ(batch_of(grass)->list, 0u);
    EXPECT_EQ(batch_of(grass)->fade_start, 25);
    EXPECT_EQ(batch_box(grass, *batch_of(grass)), (Aabb{{100, 100, 0}, {120, 110, 4}}));
    EXPECT_EQ(map->parts().grass_batch(batch_of(grass)->list).archetype, kGrass);
    const EntityDesc desc = kit.desc(grass);
    EXPECT_EQ(desc.centre, (Vec3{110, 105, 2}));
    EXPECT_EQ(desc.half, (Vec3{10, 5, 2}));
    EXPECT_EQ(desc.pivot, (Vec3{110, 105, 2}));
    EXPECT_EQ(desc.distance, 90);
    EXPECT_EQ(desc.type, EntityClass::grass_batch);
    EXPECT_EQ(desc.level, static_cast<uint8_t>(schema::LodLevel::ORPHANHD));
    EXPECT_EQ(desc.lod_set, kNoLodSet);
    EXPECT_EQ(desc.mask, kAllPhasesMask);
    EXPECT_EQ(desc.alpha, 255);
    EXPECT_EQ(kit.desc(*map->batch(4)).distance, 30);
    EXPECT_EQ(batch_of(*map->batch(4))->list, 2u);
    EXPECT_EQ(batch_of(*map->entity(0)), nullptr);
    for (const uint32_t i : {2u, 4u, 5u}) {
      EXPECT_EQ(kit.entity_of_slot(*map->batch(i)), map->batch(i));
      EXPECT_EQ(kit.record.alive.count(map->batch(i)), 1u);
      EXPECT_EQ(kit.graph.node_of(map->batch(i)->container().container()), map->node());
    }
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
    EXPECT_TRUE(kit.record.alive.empty());
  }
}

// ENTY-4: searches find what is there, by box and class; with the map they are shown, hidden, and moved (SG-8).
TEST_F(MapBatches, AreFoundLikeOtherEntities) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    MapContents* const map = kit.load(*file, {.slot = 1, .postponed = true});
    EXPECT_TRUE(found(kEverything).empty());
    ASSERT_TRUE(map->show().ok());
    EXPECT_EQ(found(kEverything).size(), 43u);
    EXPECT_EQ(found(kEverything, kGrassOnly).size(), 3u);
    EXPECT_EQ(found_at({119, 109, 3}), std::vector<EntityHandle>{map->batch(2)->handle()});
    EXPECT_EQ(kit.table.get(found_at({119, 109, 3})[0]), map->batch(2));
    EXPECT_TRUE(found_at({121, 109, 3}).empty());
    EXPECT_EQ(found_at({-45, -21, -2}), std::vector<EntityHandle>{map->batch(4)->handle()});
    ASSERT_TRUE(kit.world.rebase({1000, 0, 50}).ok());
    EXPECT_EQ(found_at({1119, 109, 53}), std::vector<EntityHandle>{map->batch(2)->handle()});
    EXPECT_TRUE(found_at({119, 109, 3}).empty());
    EXPECT_EQ(batch_box(*map->batch(2), *batch_of(*map->batch(2))), (Aabb{{1100, 100, 50}, {1120, 110, 54}}));
    // A map that comes now stands where this one does.
    MapContents* const twin = kit.load(*file, 2);
    EXPECT_EQ(found_at({1119, 109, 53}).size(), 2u);
    kit.unload(twin);
    ASSERT_TRUE(kit.world.rebase({-1000, 0, -50}).ok());
    EXPECT_EQ(kit.desc(*map->batch(2)).centre, (Vec3{110, 105, 2}));
    ASSERT_TRUE(map->hide().ok());
    EXPECT_TRUE(found(kEverything).empty());
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
  }
}

// ENTY-10, SG-4: what is changed in one is seen in its descriptor; hours count as for other entities.
TEST_F(MapBatches, FollowWhatIsDoneToThem) {
  start();
  MapContents* const map = kit.load(*linked, 1);
  Entity& grass = *map->batch(2);
  grass.lod().alpha = 77;
  ASSERT_TRUE(kit.world.update(grass).ok());
  EXPECT_EQ(kit.desc(grass).alpha, 77);
  EXPECT_EQ(kit.desc(grass).half, (Vec3{10, 5, 2})) << "still the box of the list, not of one plant";
  ASSERT_TRUE(kit.world.move(grass, {.position = {500, 500, 0, 1}}).ok());
  EXPECT_EQ(found_at({509, 504, 1}), std::vector<EntityHandle>{grass.handle()});
  ASSERT_TRUE(kit.world.remove(grass).ok());
  EXPECT_TRUE(found_at({509, 504, 1}).empty());
  ASSERT_TRUE(kit.world.add(grass).ok());
  EXPECT_EQ(found_at({509, 504, 1}), std::vector<EntityHandle>{grass.handle()});
  EXPECT_EQ(kit.desc(*map->batch(5)).flags & (kDescTimed | kDescActive), kDescTimed) << "it is noon";
  ASSERT_TRUE(kit.scene.set_hour(3).ok());
  EXPECT_NE(kit.desc(*map->batch(5)).flags & kDescActive, 0);
  ASSERT_TRUE(kit.scene.set_hour(12).ok());
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// ARCH-7: another definition of the plant comes into force, and goes again.
TEST_F(MapBatches, FollowTheirPlant) {
  start();
  test::TypesItem above;
  above.base(kGrass, {.lod = 55, .flags = 1u << 11 /* shadows only */});
  const test::TypesFile above_file = above.finish("above");
  MapContents* const map = kit.load(*linked, 1);
  kit.types(above_file, 4, 1);
  EXPECT_EQ(map->batch(2)->archetype(), kit.archetypes.find(kGrass));
  EXPECT_EQ(map->batch(2)->lod().distance, 90) << "the batch says so itself";
  EXPECT_EQ(kit.desc(*map->batch(4)).distance, 55);
  EXPECT_EQ(kit.desc(*map->batch(4)).half, (Vec3{5, 20, 3}));
  EXPECT_NE(kit.desc(*map->batch(4)).mask, kAllPhasesMask);
  ASSERT_TRUE(kit.archetypes.withdraw_types(4).ok());
  ASSERT_TRUE(kit.archetypes.close_types(4).ok());
  EXPECT_EQ(kit.desc(*map->batch(4)).distance, 30);
  EXPECT_EQ(kit.desc(*map->batch(4)).mask, kAllPhasesMask);
  EXPECT_EQ(kit.archetypes.find(kGrass)->references(), 2u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// MAP-1, CORE-11: maps of grass alone, as games have them; what could not be seen is left out and told.
TEST_F(MapBatches, NeedNoOtherEntities) {
  town.entities.clear();
  town.prop_lists = 0;
  town.grass = {{.plant = kGrass, .box = {{0, 0, 0}, {9, 9, 9}}, .distance = 1},
                {.plant = kGrass, .box = {{5, 5, 5}, {-5, -5, -5}}, .distance = 60}};
  for (int i = 0; i < 700; ++i) {
    const auto x = static_cast<float>(i % 50) * 20, y = static_cast<float>(i / 50) * 20;
    town.grass.push_back({.plant = kGrass, .box = {{x, y, 0}, {x + 19, y + 19, 2}}, .distance = 60});
  }
  start();
  MapContents* const map = kit.load(*plain, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->entity_count(), 0u);
  ASSERT_EQ(map->batch_count(), 702u);
  EXPECT_EQ(map->batch(0), nullptr) << "1 m is never seen";
  EXPECT_EQ(log.count(), 1u) << log.all();
  ASSERT_NE(map->batch(1), nullptr) << "an empty box, inside out: where its middle is";
  EXPECT_EQ(kit.desc(*map->batch(1)).half, (Vec3{5, 5, 5}));
  EXPECT_EQ(kit.maps.statistics().batches, 701u);
  EXPECT_EQ(kit.maps.statistics().bad_definition, 1u);
  // Brute force: the boxes are on a grid with gaps of 1 m.
  for (int i = 0; i < 700; ++i) {
    const Vec3 at{static_cast<float>(i % 50) * 20 + 18, static_cast<float>(i / 50) * 20 + 18, 1};
    const std::vector<EntityHandle> here = found_at(at);
    ASSERT_EQ(here.size(), 1u) << i;
    EXPECT_EQ(here[0], map->batch(static_cast<uint32_t>(i) + 2)->handle()) << i;
  }
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// ENTY-4: a host's own class stands behind them, and fills in what it knows; that does not cost the linker's blocks.
struct Meadow : Entity {
  uint32_t blades = 7;
};
TEST_F(MapBatches, AreOfTheHostsClass) {
  static uint32_t fills = 0;
  fills = 0;
  kit.classes.add<Meadow>(EntityClass::grass_batch, "Meadow", {},
                          {[](void*, const Entity& entity, EntityDesc& out) {
                             ++fills;
                             out.half.z += static_cast<float>(static_cast<const Meadow&>(entity).blades);
                           },
                           nullptr});
  start();
  MapContents* const map = kit.load(*linked, 1);
  EXPECT_TRUE(map->used_cooked_blocks());
  EXPECT_EQ(static_cast<Meadow*>(map->batch(2))->blades, 7u);
  EXPECT_EQ(kit.desc(*map->batch(2)).half, (Vec3{10, 5, 9}));
  EXPECT_EQ(fills, 3u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// MAP-5: a thousand times, and nothing is left.
TEST_F(MapBatches, LeaveNothingBehind) {
  start();
  for (int i = 0; i < 1000; ++i) {
    kit.unload(kit.load(i % 2 == 0 ? *plain : *linked, 1));
    ASSERT_EQ(kit.account(), before) << i;
  }
}

// A kind of extension that is the runtime's is nobody else's.
TEST(EntityBatch, KeepsItsKind) {
  struct Mine : Extension {
    Mine() : Extension(kBatchExtension) {}
  };
  PoolFactory<Mine, Extension> mine;
  ASSERT_TRUE(mine.init({.name = "Mine", .capacity = 1}).ok());
  const auto registry = std::make_unique<ExtensionRegistry>();
  test::BrokenContracts contracts;
  registry->add_factory(kBatchExtension, "Mine", mine);
  EXPECT_EQ(contracts.count(), test::kAsserts ? 1u : 0u);
  Entity entity(EntityClass::building);
  EXPECT_EQ(batch_of(entity), nullptr);
}

}  // namespace
}  // namespace meridian
