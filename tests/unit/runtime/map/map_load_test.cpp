// SPDX-License-Identifier: MIT
// What a map is once it is loaded. What is left out: map_left_out_test.cpp; links: map_links_test.cpp; blocks:
// map_blocks_test.cpp; failures: map_failure_test.cpp.
#include "meridian/map/map_world.h"

#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

using schema::EntityFlags;
using schema::ExtensionDef;
using test::flag;

constexpr NameHash kLamp = hash_name("lamp"), kTreeName = hash_name("tree"), kStall = hash_name("stall"),
                   kCrate = hash_name("crate"), kClip = hash_name("clips");
constexpr uint32_t kHasAnim = 1u << 9, kDynamic = 1u << 17;
constexpr uint32_t kNight = 0xF0003F;  // 20:00 to 06:00

struct MapLoad : testing::Test {
  MapLoad() {
    props.base(kLamp, {.lod = 60});
    props.base(kTreeName, {.lod = 80, .flags = kHasAnim, .clips = kClip.value});
    props.base(kCrate, {.lod = 40, .flags = kDynamic});
    props.time(kStall, kNight, {.lod = 50});
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  test::TypesItem props;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// MAP-1, ENTY-3, ENTY-4, ENTY-7: what the definition says, as hands have worked it out.
TEST_F(MapLoad, MakesTheEntitiesThatTheFilePlaces) {
  start();
  test::MapMaker town{.name = hash_name("town")};
  town.add({.archetype = kLamp, .at = {10, 20, 5}, .lod = 0, .tint = 7});
  town.add({.archetype = kTreeName, .at = {-3, 4, 0}, .lod = 200});
  town.add({.archetype = kCrate,
            .at = {1, 2, 3},
            .flags = flag(EntityFlags::is_static) | flag(EntityFlags::stream_low_priority) |
                     flag(EntityFlags::disable_embedded_collisions) | flag(EntityFlags::lod_adopt_me) |
                     flag(EntityFlags::interior_lod)});
  town.add({.archetype = kLamp, .at = {0, 0, 0}, .lod = 33});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 17);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->slot(), 17u);
  EXPECT_EQ(map->name(), hash_name("town"));
  EXPECT_EQ(&map->data(), &bytes.map());
  EXPECT_EQ(map->entity_count(), 4u);
  EXPECT_EQ(map->created(), 4u);
  EXPECT_EQ(map->entity(4), nullptr);
  EXPECT_EQ(kit.maps.find(17), map);
  EXPECT_EQ(kit.maps.find(18), nullptr);
  EXPECT_EQ(kit.maps.statistics().created, 4u);
  EXPECT_EQ(log.all(), "");

  const EntityClass classes[] = {EntityClass::building, EntityClass::animated_building, EntityClass::dummy_object,
                                 EntityClass::building};
  const Vec3 places[] = {{10, 20, 5}, {-3, 4, 0}, {1, 2, 3}, {0, 0, 0}};
  const float distances[] = {60, 200, 40, 33};
  const NameHash names[] = {kLamp, kTreeName, kCrate, kLamp};
  for (uint32_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    const Entity* const entity = map->entity(i);
    ASSERT_NE(entity, nullptr);
    EXPECT_EQ(entity->type(), classes[i]);
    EXPECT_EQ(entity->position(), places[i]);
    EXPECT_EQ(entity->lod().distance, distances[i]);
    EXPECT_EQ(entity->archetype(), kit.archetypes.find(names[i]));
    EXPECT_EQ(entity->imap(), 17u);
    EXPECT_EQ(entity->owner(), OwnedBy::ipl);
    EXPECT_TRUE(entity->interior_location().is_outside());
    EXPECT_EQ(entity->handle(), map->handle(i));
    EXPECT_EQ(kit.table.get(map->handle(i)), entity);
    EXPECT_TRUE(kit.is_in_world(*entity));
    EXPECT_EQ(kit.entity_of_slot(*entity), entity);
    // The model's box is (-1, -2, -3) to (4, 5, 6), and none is turned.
    const Aabb box = test::box_of(kit.desc(*entity));
    test::expect_near(box.min, places[i] + Vec3{-1, -2, -3});
    test::expect_near(box.max, places[i] + Vec3{4, 5, 6});
    EXPECT_EQ(kit.desc(*entity).distance, distances[i]);
    EXPECT_EQ(kit.desc(*entity).type, classes[i]);
  }
  EXPECT_EQ(map->entity(0)->tint(), 7);
  EXPECT_TRUE(map->entity(2)->has(BaseFlag::is_static) && map->entity(2)->has(BaseFlag::low_priority) &&
              map->entity(2)->has(BaseFlag::no_embedded_collision));
  EXPECT_TRUE(map->entity(2)->lod().has(LodFlag::adopt_me) && map->entity(2)->lod().has(LodFlag::interior_lod));
  EXPECT_FALSE(map->entity(0)->lod().has(LodFlag::adopt_me) || map->entity(0)->lod().has(LodFlag::interior_lod));
  EXPECT_EQ(kit.archetypes.find(kLamp)->references(), 2u);

  // One contiguous array for each class, in the order of the file.
  const std::span<std::byte> buildings = map->array_of(EntityClass::building);
  ASSERT_EQ(buildings.size(), 2 * sizeof(Entity));
  EXPECT_EQ(reinterpret_cast<Entity*>(buildings.data()), map->entity(0));
  EXPECT_EQ(reinterpret_cast<Entity*>(buildings.data()) + 1, map->entity(3));
  EXPECT_EQ(map->array_of(EntityClass::dummy_object).size(), sizeof(Entity));
  EXPECT_TRUE(map->array_of(EntityClass::prop_batch).empty());

  const EntityHandle old = map->handle(1);
  kit.unload(map);
  EXPECT_EQ(kit.table.get(old), nullptr);
  EXPECT_EQ(kit.maps.find(17), nullptr);
  EXPECT_EQ(kit.account(), before);
}

// MAP-1: a host's class has its own size, and stands in an array of its own.
TEST_F(MapLoad, PlacesAHostsClassContiguously) {
  struct Tree : Entity {
    float sway[30] = {};
  };
  constexpr EntityClass kTree{kFirstHostClass};
  kit.classes.add<Tree>(kTree, "Tree");
  kit.classes.set_chooser(
      {.choose = [](void*, const ClassQuery& query) { return query.name == kTreeName ? kTree : query.by_rule; }});
  start();
  test::MapMaker forest;
  for (int i = 0; i < 50; ++i) {
    forest.add({.archetype = i % 3 == 1 ? kLamp : kTreeName, .at = {static_cast<float>(i), 0, 0}});
  }
  const test::MapFile bytes = forest.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  const std::span<std::byte> trees = map->array_of(kTree);
  EXPECT_EQ(trees.size(), 33 * sizeof(Tree));
  size_t next = 0;
  for (uint32_t i = 0; i < 50; ++i) {
    if (i % 3 == 1) continue;
    EXPECT_EQ(reinterpret_cast<std::byte*>(map->entity(i)), trees.data() + sizeof(Tree) * next++);
    EXPECT_EQ(map->entity(i)->type(), kTree);
    EXPECT_EQ(kit.desc(*map->entity(i)).type, kTree);
  }
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// MAP-1: all else that the file holds can be asked for. What each view says: map_parts_test.cpp.
TEST_F(MapLoad, GivesViewsOfTheOtherParts) {
  start();
  flatbuffers::FlatBufferBuilder b;
  const std::vector<schema::BoxOccluder> boxes(3);
  const auto box_vector = b.CreateVectorOfStructs(boxes);
  const std::vector<schema::CarGen> cars(2);
  const auto car_vector = b.CreateVectorOfStructs(cars);
  const std::vector<schema::TimeCycleModifier> cycles(4);
  const auto cycle_vector = b.CreateVectorOfStructs(cycles);
  const auto physics = b.CreateVector(std::vector<uint32_t>{5, 6});
  schema::MapDataBuilder map(b);
  map.add_name(99);
  map.add_box_occluders(box_vector);
  map.add_car_generators(car_vector);
  map.add_time_cycle_modifiers(cycle_vector);
  map.add_physics_dictionaries(physics);
  schema::FinishMapDataBuffer(b, map.Finish());
  const test::MapFile bytes({b.GetBufferPointer(), b.GetSize()}, false);
  MapContents* const contents = kit.load(bytes, 2);
  ASSERT_NE(contents, nullptr);
  EXPECT_EQ(contents->parts().counts(),
            (MapPartCounts{.box_occluders = 3, .physics_dictionaries = 2, .time_cycle_boxes = 4, .car_generators = 2}));
  EXPECT_EQ(contents->parts().physics_dictionaries()[1], NameHash{6});
  // Nothing is placed, so there is no node; it can be shown and hidden all the same.
  EXPECT_EQ(contents->node(), nullptr);
  EXPECT_EQ(contents->entity_count(), 0u);
  EXPECT_TRUE(contents->is_shown());
  EXPECT_TRUE(contents->hide().ok());
  EXPECT_FALSE(contents->is_shown());
  EXPECT_TRUE(contents->show().ok());
  kit.unload(contents);
  EXPECT_EQ(kit.account(), before);
}

// ENTY-2, P013: the inverse is stored. A turn by +90 degrees about z takes (1, 0, 0) to (0, 1, 0), so the box (-1, -2)
// to (4, 5) becomes (-5, -1) to (2, 4).
TEST_F(MapLoad, TurnsEntitiesTheRightWay) {
  start();
  test::MapMaker town;
  town.add({.archetype = kLamp, .at = {100, 200, 0}, .rotation = test::inverse(test::about_z(90))});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  test::expect_near(map->entity(0)->transform().point({1, 0, 0}), {100, 201, 0});
  const Aabb box = test::box_of(kit.desc(*map->entity(0)));
  test::expect_near(box.min, {95, 199, -3});
  test::expect_near(box.max, {102, 204, 6});
  kit.unload(map);
}

// P074: a mirrored entity's box is not inside out. Scale (-2, -2, 1): x from -8 to 2, y from -10 to 4.
TEST_F(MapLoad, KeepsBoxesOfMirroredEntitiesTheRightWayOut) {
  start();
  test::MapMaker town{.name = hash_name("town")};
  town.add({.archetype = kLamp, .scale_xy = -2});
  town.add({.archetype = kLamp, .at = {50, 0, 0}, .scale_xy = 5});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  ASSERT_EQ(map->created(), 2u);
  const EntityDesc desc = kit.desc(*map->entity(0));
  EXPECT_GT(desc.half.x, 0);
  test::expect_near(test::box_of(desc).min, {-8, -10, -3});
  test::expect_near(test::box_of(desc).max, {2, 4, 6});
  EXPECT_EQ(log.count(), 1u) << "an odd scale is told once for each archetype: " << log.all();
  kit.unload(map);
}

// ENTY-5: pictures that it is drawn for; "not" wins.
TEST_F(MapLoad, KnowsThePicturesThatEntitiesAreIn) {
  start();
  test::MapMaker town;
  town.add({.archetype = kLamp});
  town.add({.archetype = kLamp, .flags = flag(EntityFlags::no_shadow_render)});
  town.add({.archetype = kLamp, .flags = flag(EntityFlags::only_mirror_reflection_render)});
  town.add({.archetype = kLamp, .flags = flag(EntityFlags::only_shadow_render) | flag(EntityFlags::no_shadow_render)});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  const uint32_t gbuffer = 1u << 1, shadows = 1u << 2 | 1u << 3, reflections = 1u << 4 | 1u << 5 | 1u << 6;
  const uint32_t masks[] = {gbuffer | shadows | reflections, gbuffer | reflections, 1u << 6, gbuffer | reflections};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(map->entity(i)->visibility_mask(), masks[i]) << i;
    EXPECT_EQ(kit.desc(*map->entity(i)).mask, masks[i]) << i;
  }
  kit.unload(map);
}

// ENTY-10: what is loaded at an hour that is not its own is inactive, and comes when its hour strikes; one that ignores
// hours is always there. The same with blocks that were made ahead of time, which hold no hours.
TEST_F(MapLoad, LoadsAtTheHourThatItIs) {
  start();
  test::MapMaker market{.name = hash_name("market")};
  market.add({.archetype = kStall});
  market.add({.archetype = kStall, .flags = flag(EntityFlags::ignore_time_settings)});
  market.add({.archetype = kLamp});
  const test::MapFile plain = market.finish(), linked = market.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    for (const uint32_t hour : {0u, 5u, 6u, 19u, 20u}) {
      SCOPED_TRACE(hour);
      const bool is_night = hour >= 20 || hour < 6;
      ASSERT_TRUE(kit.scene.set_hour(hour).ok());
      MapContents* const map = kit.load(*bytes, 1);
      ASSERT_NE(map, nullptr);
      EXPECT_EQ(map->used_cooked_blocks(), bytes == &linked);
      const auto is_active = [&](uint32_t i) { return (kit.desc(*map->entity(i)).flags & kDescActive) != 0; };
      EXPECT_EQ(is_active(0), is_night);
      EXPECT_EQ(map->entity(0)->has(BaseFlag::off_hours), !is_night);
      EXPECT_TRUE(is_active(1));
      EXPECT_TRUE(is_active(2));
      EXPECT_NE(kit.desc(*map->entity(0)).flags & kDescTimed, 0u);
      EXPECT_EQ(kit.desc(*map->entity(1)).flags & kDescTimed, 0u);
      ASSERT_TRUE(kit.scene.set_hour(is_night ? 12 : 23).ok());
      EXPECT_EQ(is_active(0), !is_night);
      EXPECT_TRUE(is_active(1) && is_active(2));
      kit.unload(map);
    }
  }
}

// Spawn points of an entity are known to its flags, its descriptor, its container and its node.
TEST_F(MapLoad, MarksWhatHasSpawnPoints) {
  props.base(hash_name("bus_stop"));
  props.extensions = {{4, ExtensionDef::SpawnPointDef}};
  start();
  ASSERT_TRUE(kit.archetypes.find(hash_name("bus_stop"))->has_spawn_points());
  for (const bool by_archetype : {false, true}) {
    test::MapMaker town;
    for (int i = 0; i < 3; ++i) town.add({.archetype = kLamp});
    town.add({.archetype = by_archetype ? hash_name("bus_stop") : kLamp});
    if (!by_archetype) town.extensions = {{3, ExtensionDef::SpawnPointDef}};
    test::MapMaker dull;
    dull.add({.archetype = kLamp});
    const test::MapFile plain = town.finish(), linked = town.finish(props.traits()), none = dull.finish();
    MapContents* const other = kit.load(none, 9);
    EXPECT_EQ(other->node()->flags() & kNodeSpawnPoints, 0);
    for (const test::MapFile* const bytes : {&plain, &linked}) {
      SCOPED_TRACE(bytes == &linked);
      MapContents* const map = kit.load(*bytes, 1);
      ASSERT_NE(map, nullptr);
      EXPECT_EQ(map->used_cooked_blocks(), bytes == &linked);
      for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(map->entity(i)->has(BaseFlag::spawn_points), i == 3);
        EXPECT_EQ((kit.desc(*map->entity(i)).flags & kDescSpawnPoints) != 0, i == 3);
      }
      EXPECT_NE(kit.graph.containers().views[map->entity(3)->container().container()].flags & kContainerSpawnPoints,
                0u);
      EXPECT_NE(map->node()->flags() & kNodeSpawnPoints, 0);
      kit.unload(map);
    }
    kit.unload(other);
  }
}

// MAP-5: the node is HD where the map says so.
TEST_F(MapLoad, SaysWhetherItsNodeIsHd) {
  start();
  for (const bool is_hd : {false, true}) {
    test::MapMaker town{.content = is_hd ? schema::MapContentFlags::hd : schema::MapContentFlags::lod};
    town.add({.archetype = kLamp});
    const test::MapFile bytes = town.finish();
    MapContents* const map = kit.load(bytes, 31);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ((map->node()->flags() & kNodeHd) != 0, is_hd);
    EXPECT_EQ(map->node()->imap, 31u);
    kit.unload(map);
  }
}

// MAP-6, ENTY-9: hooks come in pairs, each with a live handle (HostRecord says so); nothing is made anew meanwhile.
TEST_F(MapLoad, TellsTheHostOfEachEntityOnceAndOnce) {
  start();
  test::MapMaker town;
  for (int i = 0; i < 700; ++i) town.add({.archetype = kLamp, .at = {static_cast<float>(i), 0, 0}});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(kit.record.alive.size(), 700u);
  EXPECT_TRUE(map->destroy_entity(345).ok());
  EXPECT_EQ(kit.record.destroyed, 1u);
  EXPECT_TRUE(kit.world.rebase({100, 0, 0}).ok());
  EXPECT_EQ(kit.record.created, 700u);
  kit.unload(map);
  EXPECT_EQ(kit.record.destroyed, 700u);
  EXPECT_TRUE(kit.record.alive.empty());
}

}  // namespace
}  // namespace meridian
