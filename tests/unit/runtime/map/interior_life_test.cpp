// SPDX-License-Identifier: MIT
// How interiors come and go: waiting for nodes (SG-3), locks (SG-4), a moved origin (SG-8), other archetypes (ARCH-7),
// memory that runs out.
#include <gtest/gtest.h>

#include <memory>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr NameHash kChair = hash_name("chair"), kHouse = hash_name("house"), kSale = hash_name("sale"),
                   kDoor = hash_name("door");
constexpr uint32_t kDynamic = 1u << 17;
constexpr Vec3 kOpening[] = {{0, 3, 0}, {0, 3, 2}, {0, 4, 2}, {0, 4, 0}};

struct InteriorLife : testing::Test {
  InteriorLife() {
    house.name = kHouse;
    house.archetype = {.lod = 200, .bb_min = {0, 0, 0}, .bb_max = {10, 8, 3}};
    house.rooms = {{}, {.min = {0, 0, 0}, .max = {5, 8, 3}, .objects = {0, 1}}, {.min = {5, 0, 0}, .max = {10, 8, 3}}};
    house.portals = {{.from = 1, .to = 0, .corners = {kOpening, kOpening + 4}, .objects = {2}},
                     {.from = 1, .to = 2, .corners = {kOpening, kOpening + 4}}};
    house.entities = {{.archetype = kChair, .at = {1, 2, 0}},
                      {.archetype = kChair, .at = {2, 2, 0}},
                      {.archetype = kDoor, .at = {0, 3, 0}}};
    house.sets = {{.name = kSale, .entities = {{.archetype = kChair, .at = {7, 7, 0}}}, .locations = {2}}};
    props.base(kChair, {.lod = 30});
    props.base(kDoor, {.lod = 50, .flags = kDynamic});
    town.name = hash_name("town");
    town.add_interior({.archetype = kHouse, .at = {100, 0, 0}});
  }
  void start() {
    props.interiors = {house};
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  void expect_furnished(const Interior& in, uint32_t entities = 3) {
    EXPECT_FALSE(in.is_waiting());
    ASSERT_NE(in.node(), nullptr);
    EXPECT_EQ(in.created(), entities);
    uint32_t there = 0;
    for (uint32_t i = 0; i < in.entity_count(); ++i) {
      if (in.entity(i) == nullptr) continue;
      ++there;
      EXPECT_TRUE(kit.is_in_world(*in.entity(i))) << i;
      EXPECT_EQ(kit.entity_of_slot(*in.entity(i)), in.entity(i));
    }
    EXPECT_EQ(there, entities);
  }
  test::InteriorItem house;
  test::TypesItem props;
  test::MapMaker town;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// SG-3: an interior without nodes waits; its map is there. Told once. It comes when something left, and only then.
TEST_F(InteriorLife, WaitsForNodes) {
  for (const int which : {0, 1, 2}) {
    SCOPED_TRACE(which);
    test::MapKit small;
    if (which == 0) small.scene_capacities.interior_nodes = 1;
    if (which == 1) small.scene_capacities.room_nodes = 5;
    if (which == 2) small.scene_capacities.portal_nodes = 3;
    props.interiors = {house};
    ASSERT_TRUE(small.init().ok());
    const test::TypesFile types = props.finish("props");
    small.types(types, 3);
    const test::Account empty = small.account();
    const test::MapFile bytes = town.finish();
    log.clear();
    MapContents* const first = small.load(bytes, 1);
    MapContents* const second = small.load(bytes, 2);
    MapContents* const third = small.load(bytes, 3);
    ASSERT_TRUE(first != nullptr && second != nullptr && third != nullptr);
    EXPECT_EQ(log.count(), 1u) << log.all();
    EXPECT_NE(log.all().find("waits"), std::string::npos) << log.all();
    Interior* const waiting = small.maps.interior(1);
    ASSERT_NE(waiting, nullptr);
    EXPECT_TRUE(waiting->is_waiting());
    EXPECT_EQ(waiting->node(), nullptr);
    EXPECT_EQ(waiting->room(0), nullptr);
    EXPECT_EQ(waiting->portal(0), nullptr);
    EXPECT_EQ(waiting->created(), 0u);
    EXPECT_EQ(waiting->entity_count(), 4u);
    EXPECT_EQ(waiting->set_portal_closed(0, true).code, StatusCode::not_found);
    EXPECT_TRUE(second->is_shown());
    EXPECT_TRUE(small.is_in_world(*second->entity(0)));
    EXPECT_EQ(small.maps.retry_waiting(), 2u);
    EXPECT_EQ(log.count(), 1u) << "still told once: " << log.all();
    // What is switched on meanwhile comes with it.
    EXPECT_TRUE(waiting->set_entity_set(kSale, true).ok());
    EXPECT_TRUE(waiting->is_set_on(kSale));
    EXPECT_TRUE(small.world.rebase({5, 0, 0}).ok());
    EXPECT_TRUE(second->hide().ok());
    small.unload(first);
    EXPECT_EQ(small.maps.retry_waiting(), 1u);
    EXPECT_FALSE(waiting->is_waiting());
    EXPECT_EQ(waiting->created(), 4u);
    EXPECT_FALSE(small.is_in_world(*waiting->entity(0))) << "its map is hidden";
    EXPECT_TRUE(second->show().ok());
    for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(small.is_in_world(*waiting->entity(i)));
    EXPECT_EQ(waiting->entity(0)->position(), (Vec3{106, 2, 0}));
    small.unload(second);
    EXPECT_EQ(small.maps.retry_waiting(), 0u);
    EXPECT_TRUE(small.is_in_world(*small.maps.interior(2)->entity(0))) << "its map is shown, and so is it";
    small.unload(third);
    EXPECT_EQ(small.account(), empty);
  }
}

// SG-3: so do those whose descriptors find no container: all or nothing of an interior is there.
TEST_F(InteriorLife, WaitsForContainers) {
  kit.scene_capacities.containers = 4;  // one house has two: room 1, and the portal
  start();
  const test::MapFile bytes = town.finish();
  MapContents* maps[3] = {};
  for (uint32_t i = 0; i < 3; ++i) maps[i] = kit.load(bytes, i);
  expect_furnished(*kit.maps.interior(0));
  expect_furnished(*kit.maps.interior(1));
  Interior* const waiting = kit.maps.interior(2);
  EXPECT_TRUE(waiting->is_waiting());
  EXPECT_EQ(waiting->created(), 0u);
  EXPECT_EQ(kit.maps.retry_waiting(), 1u);
  kit.unload(maps[0]);
  EXPECT_EQ(kit.maps.retry_waiting(), 0u);
  expect_furnished(*waiting);
  kit.unload(maps[1]);
  kit.unload(maps[2]);
  EXPECT_EQ(kit.account(), before);
}

// SG-4: nothing that waits is shown under a lock, nor lost by it.
TEST_F(InteriorLife, DoesNotComeUnderALock) {
  kit.scene_capacities.interior_nodes = 1;
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const first = kit.load(bytes, 1);
  MapContents* const second = kit.load(bytes, 2);
  kit.unload(first);
  test::BrokenContracts contracts;
  kit.world.lock();
  EXPECT_EQ(kit.maps.retry_waiting(), 1u);
  kit.world.unlock();
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(kit.maps.retry_waiting(), 0u);
  expect_furnished(*kit.maps.interior(1));
  kit.unload(second);
  EXPECT_EQ(kit.account(), before);
}

// SG-4: sets that readers may see are refused; those of a hidden map are not.
TEST_F(InteriorLife, KeepsItsSetsUnderALock) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  Interior& in = *kit.maps.interior(0);
  kit.world.lock();
  EXPECT_EQ(in.set_entity_set(kSale, true).code, StatusCode::in_use);
  EXPECT_FALSE(in.is_set_on(kSale));
  EXPECT_EQ(in.created(), 3u);
  EXPECT_TRUE(in.set_entity_set(kSale, false).ok()) << "it is off already";
  kit.world.unlock();
  EXPECT_TRUE(in.set_entity_set(kSale, true).ok());
  expect_furnished(in, 4);
  EXPECT_TRUE(map->hide().ok());
  kit.world.lock();
  EXPECT_TRUE(in.set_entity_set(kSale, false).ok());
  EXPECT_TRUE(in.set_entity_set(kSale, true).ok());
  kit.world.unlock();
  EXPECT_TRUE(map->show().ok());
  expect_furnished(in, 4);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// A set that finds no memory stays off, and nothing is left of it.
TEST_F(InteriorLife, SetsThatFindNoMemoryStayOff) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  Interior& in = *kit.maps.interior(0);
  const test::Account off = kit.account();
  int needed = 0;
  for (; needed < 10; ++needed) {
    kit.memory.fail_after(needed);
    const Status done = in.set_entity_set(kSale, true);
    kit.memory.fail_after(-1);
    if (done.ok()) break;
    EXPECT_EQ(done.code, StatusCode::out_of_memory);
    EXPECT_FALSE(in.is_set_on(kSale));
    EXPECT_EQ(kit.account(), off);
  }
  EXPECT_EQ(needed, 2) << "scratch and entities";
  expect_furnished(in, 4);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// What moves through a doorway is seen from outside too. It goes with its map all the same.
TEST_F(InteriorLife, HidesWhatStandsInItsDoorways) {
  kit.classes.add<Entity>(EntityClass::dummy_object, "Dummy", ClassFlag::is_dynamic);
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, {.slot = 1, .postponed = true});
  ASSERT_NE(map, nullptr);
  const Interior& in = *kit.maps.interior(0);
  ASSERT_TRUE(in.entity(2)->has(BaseFlag::is_dynamic));
  EXPECT_TRUE(in.location_of_entity(2).is_portal_to_exterior());
  EXPECT_EQ(kit.graph.hierarchy().count(), 0u) << "a postponed map is not seen";
  EXPECT_FALSE(kit.is_in_world(*in.entity(2)));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(map->show().ok());
    expect_furnished(in);
    const uint32_t flags = kit.graph.containers().views[in.entity(2)->container().container()].flags;
    EXPECT_NE(flags & kContainerStraddling, 0u);
    const uint32_t epoch = kit.graph.node_epoch();
    EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
    EXPECT_NE(kit.graph.node_epoch(), epoch) << "portals moved";
    EXPECT_TRUE(kit.world.rebase({-1, 0, 0}).ok());
    expect_furnished(in);
    EXPECT_TRUE(map->hide().ok());
    EXPECT_EQ(kit.graph.hierarchy().count(), 0u);
  }
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);

  test::BrokenContracts contracts;
  kit.world.lock();
  MapContents* const late = kit.load(bytes, 2);
  kit.world.unlock();
  EXPECT_TRUE(late->show().ok());
  expect_furnished(*kit.interior_of(*late, 0));
  EXPECT_EQ(contracts.count(), 0u) << "readers see nothing of what was loaded";
  kit.unload(late);
  EXPECT_EQ(kit.account(), before);
}

// ARCH-7, P089: another definition of a chair comes and goes under a furnished house.
TEST_F(InteriorLife, FollowsOtherArchetypesInside) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  Interior& in = *kit.maps.interior(0);
  EXPECT_TRUE(in.set_entity_set(kSale, true).ok());
  const test::Account at_first = kit.account();
  const auto expect_distance = [&](float distance, Vec3 box_min) {
    for (const uint32_t i : {0u, 1u, 3u}) {
      EXPECT_EQ(in.entity(i)->archetype(), kit.archetypes.find(kChair));
      EXPECT_EQ(in.entity(i)->lod().distance, distance);
      EXPECT_EQ(in.entity(i)->owner(), OwnedBy::interior);
      const EntityDesc desc = kit.desc(*in.entity(i));
      EXPECT_EQ(desc.distance, distance);
      test::expect_near(test::box_of(desc).min, in.entity(i)->position() + box_min, 1e-3f);
    }
    EXPECT_EQ(in.entity(0)->position(), (Vec3{101, 2, 0}));
    EXPECT_EQ(in.entity(0)->interior_location(), InteriorLocation::in_room(0, 1));
    expect_furnished(in, 4);
  };
  expect_distance(30, {-1, -2, -3});
  {
    const test::TypesFile patch = test::TypesItem().base(kChair, {.lod = 90, .bb_min = {-7, -8, -9}}).finish("patch");
    kit.types(patch, 5, 1);
    expect_distance(90, {-7, -8, -9});
    EXPECT_TRUE(kit.archetypes.withdraw_types(5).ok());
    EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
  }
  expect_distance(30, {-1, -2, -3});
  EXPECT_EQ(kit.account(), at_first);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// ARCH-7: another definition of the house itself. The interior is made anew, its sets as they are; the bytes of the old
// one may go.
TEST_F(InteriorLife, IsMadeAnewWhenItsArchetypeIsAnother) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_EQ(kit.maps.interior_count(), 1u);
  const auto only = [&] { return kit.interior_of(*map, 0); };
  EXPECT_TRUE(only()->set_entity_set(kSale, true).ok());
  const test::Account at_first = kit.account();
  {
    test::TypesItem above;
    test::InteriorItem other = house;
    other.rooms.push_back({.min = {0, 0, 3}, .max = {10, 8, 6}});
    other.entities.push_back({.archetype = kChair, .at = {3, 3, 0}});
    other.archetype.bb_max = {10, 8, 6};
    above.interiors = {other};
    auto patch = std::make_unique<test::TypesFile>(above.finish("patch"));
    kit.types(*patch, 5, 1);
    ASSERT_NE(only(), nullptr);
    EXPECT_EQ(only()->room_count(), 4u);
    EXPECT_EQ(only()->definition(), kit.archetypes.find(kHouse)->as<InteriorArchetype>()->definition());
    EXPECT_TRUE(only()->is_set_on(kSale));
    expect_furnished(*only(), 5);
    EXPECT_TRUE(kit.archetypes.withdraw_types(5).ok());
    EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
  }  // and its bytes
  ASSERT_NE(only(), nullptr);
  EXPECT_EQ(only()->room_count(), 3u);
  EXPECT_TRUE(only()->is_set_on(kSale));
  expect_furnished(*only(), 4);
  EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
  EXPECT_TRUE(kit.world.rebase({-1, 0, 0}).ok());
  EXPECT_EQ(only()->location_of({101, 1, 1}).room(), 1u);
  EXPECT_TRUE(only()->location_of({101, 1, 4}).is_outside());
  EXPECT_EQ(kit.account(), at_first);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// An instance that becomes something else has no interior any more; back, it has.
TEST_F(InteriorLife, EndsWhenItsArchetypeIsNoInterior) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  const test::Account at_first = kit.account();
  {
    const test::TypesFile patch = test::TypesItem().base(kHouse, {.lod = 150}).finish("patch");
    kit.types(patch, 5, 1);
    for (int32_t i = 0; i < 3; ++i) {
      const Interior* const in = kit.maps.interior(i);
      EXPECT_TRUE(in == nullptr || (in->created() == 0 && in->node() == nullptr && in->definition() == nullptr));
    }
    EXPECT_EQ(kit.desc(*map->entity(0)).distance, 150);
    EXPECT_TRUE(kit.archetypes.withdraw_types(5).ok());
    EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
  }
  const Interior* const again = kit.interior_of(*map, 0);
  ASSERT_NE(again, nullptr);
  expect_furnished(*again);
  EXPECT_EQ(kit.account(), at_first);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// And the other way round: what becomes an interior has one.
TEST_F(InteriorLife, BeginsWhenItsArchetypeIsAnInterior) {
  props.base(kHouse, {.lod = 150});
  ASSERT_TRUE(kit.init().ok());
  file.emplace(props.finish("props"));
  kit.types(*file, 3);
  before = kit.account();
  town.add_interior({.archetype = kHouse, .at = {200, 0, 0}}, {kSale.value});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  EXPECT_EQ(kit.maps.interior_count(), 0u);
  test::TypesItem above;
  above.interiors = {house};
  const test::TypesFile patch = above.finish("patch");
  kit.types(patch, 5, 1);
  EXPECT_EQ(kit.maps.interior_count(), 2u);
  ASSERT_TRUE(kit.interior_of(*map, 0) != nullptr && kit.interior_of(*map, 1) != nullptr);
  expect_furnished(*kit.interior_of(*map, 0), 3);
  expect_furnished(*kit.interior_of(*map, 1), 4);
  kit.unload(map);
  EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
  EXPECT_EQ(kit.account(), before);
}

}  // namespace
}  // namespace meridian
