// SPDX-License-Identifier: MIT
#include "meridian/scene/scene_representation.h"

#include <gtest/gtest.h>

#include <limits>

#include "meridian/entity/entity_visibility.h"
#include "unit/runtime/scene/world_parts.h"

// SG-1, SG-5, SG-8, DESC-1, ENTY-10: from entities to descriptors, and where they stand.

namespace meridian {
namespace {

using test::at_place;
using test::broke;
using test::BrokenContracts;
using test::check_bounds;
using test::WorldParts;

/// An interior of two rooms and one portal to the outside, in the world.
struct House {
  explicit House(WorldParts& parts, int16_t number) {
    SceneGraph& graph = parts.graph;
    interior = graph.create_interior();
    interior->interior = number;
    for (RoomNode*& room : rooms) {
      room = graph.create_room();
      EXPECT_TRUE(graph.append(*interior, *room).ok());
    }
    door = graph.create_portal();
    EXPECT_TRUE(graph.append(*interior, *door).ok());
    EXPECT_TRUE(graph.append(*graph.root(), *interior).ok());
    EXPECT_TRUE(parts.scene.add_interior(*interior).ok());
  }
  InteriorNode* interior;
  RoomNode* rooms[2];
  PortalNode* door;
};

uint32_t use_of(const WorldParts& parts, const Entity& entity) {
  return parts.view_of(entity).flags & (kContainerDynamic | kContainerStraddling | kContainerLights);
}

TEST(SceneRepresentation, PutsEntitiesWhereTheyBelong) {  // SG-5
  WorldParts parts;
  const House house(parts, 7);
  Entity &wall = parts.make(), &car = parts.make({}, test::kCarClass), &chair = parts.make(),
         &dog = parts.make({}, test::kCarClass), &frame = parts.make(), &walker = parts.make({}, test::kCarClass);
  chair.set_interior_location(InteriorLocation::in_room(7, 1));
  dog.set_interior_location(InteriorLocation::in_room(7, 0));
  frame.set_interior_location(InteriorLocation::at_portal(7, 0, true));
  walker.set_interior_location(InteriorLocation::at_portal(7, 0, true));
  for (Entity* one : {&wall, &car, &chair, &dog, &frame, &walker}) ASSERT_TRUE(parts.world.add(*one).ok());
  const uint16_t root = parts.graph.root()->index();
  const std::pair<const Entity*, std::pair<uint32_t, uint16_t>> wanted[] = {
      {&wall, {0, root}},
      {&car, {kContainerDynamic, root}},
      {&chair, {0, house.rooms[1]->index()}},
      {&dog, {kContainerDynamic, house.rooms[0]->index()}},
      {&frame, {0, house.door->index()}},
      {&walker, {kContainerStraddling | kContainerDynamic, root}}};
  for (const auto& [entity, where] : wanted) {
    EXPECT_EQ(use_of(parts, *entity), where.first);
    EXPECT_EQ(parts.view_of(*entity).node, where.second);
    EXPECT_EQ(entity_in(parts.view_of(*entity), entity->container().slot()), entity->handle());
    EXPECT_EQ((parts.view_of(*entity).flags & kContainerInterior) != 0, where.second != root);
  }
  for (Entity* one : {&wall, &car, &chair, &dog, &frame, &walker}) {
    EXPECT_EQ(parts.world.add(*one).code, StatusCode::in_use);
    ASSERT_TRUE(parts.world.remove(*one).ok());
    EXPECT_TRUE(one->container().is_none());
    EXPECT_EQ(parts.world.remove(*one).code, StatusCode::not_found);
    EXPECT_EQ(parts.world.update(*one).code, StatusCode::not_found);
  }
}

// SG-5: the 65th that moves through portals stands at its portal only.
TEST(SceneRepresentation, WhatDoesNotStraddleAnyMoreStandsAtItsPortal) {
  WorldParts parts;
  const House house(parts, 0);
  for (uint32_t i = 0; i < 65; ++i) {
    Entity& walker = parts.make({}, test::kCarClass);
    walker.set_interior_location(InteriorLocation::at_portal(0, 0, true));
    ASSERT_TRUE(parts.world.add(walker).ok());
    EXPECT_EQ(use_of(parts, walker), kContainerDynamic | (i < 64 ? uint32_t{kContainerStraddling} : 0u));
    EXPECT_EQ(parts.view_of(walker).node, i < 64 ? 0 : house.door->index());
  }
}

// SG-5: an update takes what went through a door, or began to move, to where it belongs; or leaves it where it was.
TEST(SceneRepresentation, UpdatesMoveWhatWentThroughADoor) {
  WorldParts parts;
  const House house(parts, 2);
  Entity& dog = parts.make({1, 2, 3}, test::kCarClass);
  ASSERT_TRUE(parts.world.add(dog).ok());
  const auto expect_at = [&](const SceneNode& node, uint32_t use) {
    EXPECT_EQ(parts.graph.node_of(dog.container().container()), &node);
    EXPECT_EQ(use_of(parts, dog), use);
    EXPECT_EQ(entity_in(parts.view_of(dog), dog.container().slot()), dog.handle());
    EXPECT_EQ(parts.desc_of(dog).centre, dog.position());
    uint32_t everywhere = 0;
    for (uint32_t c = 0; c < parts.graph.containers().views.size(); ++c)
      everywhere += static_cast<uint32_t>(test::used_slots(parts.graph, c).size());
    EXPECT_EQ(everywhere, 1u);
    check_bounds(parts.graph, false);
  };
  expect_at(*parts.graph.root(), kContainerDynamic);
  dog.set_interior_location(InteriorLocation::at_portal(2, 0, true));
  ASSERT_TRUE(parts.world.move(dog, at_place({4, 5, 6})).ok());
  expect_at(*parts.graph.root(), kContainerDynamic | kContainerStraddling);
  dog.set_interior_location(InteriorLocation::in_room(2, 1));
  ASSERT_TRUE(parts.world.update(dog).ok());
  expect_at(*house.rooms[1], kContainerDynamic);
  dog.set_flags(BaseFlag::is_dynamic, false);
  ASSERT_TRUE(parts.world.update(dog).ok());
  expect_at(*house.rooms[1], 0);
  dog.set_interior_location(InteriorLocation::in_room(9, 1));  // there is no such interior
  EXPECT_EQ(parts.world.update(dog).code, StatusCode::bad_value);
  expect_at(*house.rooms[1], 0);
  dog.set_interior_location({});
  ASSERT_TRUE(parts.world.update(dog).ok());
  expect_at(*parts.graph.root(), 0);
}

// What is attached follows in the scene, too, when the scene is told of it.
TEST(SceneRepresentation, DescriptorsFollowWhatTheirEntitiesAreAttachedTo) {
  WorldParts parts;
  parts.components.set_listener(parts.scene.listener());
  Entity &car = parts.make({10, 0, 0}, test::kCarClass), &box = parts.make({}, test::kCarClass);
  ASSERT_TRUE(parts.components.attach(box, car, {.offset = at_place({0, 0, 2})}).ok());
  ASSERT_TRUE(parts.world.add(car).ok());
  ASSERT_TRUE(parts.world.add(box).ok());
  ASSERT_TRUE(parts.world.move(car, at_place({20, 0, 0})).ok());
  EXPECT_EQ(parts.desc_of(box).centre, (Vec3{20, 0, 2}));
  EXPECT_EQ(parts.world.move(car, at_place({1e9f, 0, 0})).code, StatusCode::bad_value);
  EXPECT_EQ(parts.desc_of(box).centre, (Vec3{20, 0, 2}));
  EXPECT_EQ(parts.desc_of(car).centre, (Vec3{20, 0, 0}));
}

// An interior that goes leaves no entity behind that thinks it is in the world.
TEST(SceneRepresentation, AnInteriorThatGoesLetsItsEntitiesGo) {
  WorldParts parts;
  const House house(parts, 1);
  Entity &chair = parts.make(), &wall = parts.make();
  chair.set_interior_location(InteriorLocation::in_room(1, 1));
  ASSERT_TRUE(parts.world.add(chair).ok());
  ASSERT_TRUE(parts.world.add(wall).ok());
  parts.scene.remove_interior(*house.interior);
  ASSERT_TRUE(parts.graph.destroy(*house.interior).ok());
  EXPECT_TRUE(chair.container().is_none());
  EXPECT_FALSE(wall.container().is_none());
  EXPECT_EQ(parts.world.remove(chair).code, StatusCode::not_found);
  EXPECT_TRUE(parts.world.remove(wall).ok());
}

TEST(SceneRepresentation, LeavesOutWhatHasNoPlace) {  // SG-1
  WorldParts parts;
  const House house(parts, 3);
  BrokenContracts contracts;
  const auto code_of = [&parts](InteriorLocation location) {
    Entity& entity = parts.make();
    entity.set_interior_location(location);
    const StatusCode code = parts.world.add(entity).code;
    EXPECT_EQ(entity.container().is_none(), code != StatusCode::ok);
    if (code == StatusCode::ok) (void)parts.world.remove(entity);
    return code;
  };
  EXPECT_EQ(code_of(InteriorLocation::in_room(3, 1)), StatusCode::ok);
  EXPECT_EQ(code_of(InteriorLocation::in_room(3, 2)), StatusCode::bad_value);
  EXPECT_EQ(code_of(InteriorLocation::at_portal(3, 1, false)), StatusCode::bad_value);
  EXPECT_EQ(code_of(InteriorLocation::in_room(4, 0)), StatusCode::bad_value);
  EXPECT_EQ(parts.scene.node_at(InteriorLocation::in_room(3, 1)), house.rooms[1]);
  EXPECT_EQ(parts.scene.node_at(InteriorLocation::at_portal(3, 0, true)), house.door);
  EXPECT_EQ(parts.scene.node_at({}), parts.graph.root());
  EXPECT_EQ(parts.scene.interior(3), house.interior);
  EXPECT_EQ(parts.scene.interior(-1), nullptr);
  EXPECT_EQ(parts.scene.interior(static_cast<int32_t>(kMaxInteriors)), nullptr);
  EXPECT_EQ(parts.scene.add_interior(*house.interior).code, StatusCode::in_use);
  InteriorNode& other = *parts.graph.create_interior();
  for (const int32_t number : {-1, static_cast<int32_t>(kMaxInteriors), 32767, -32768}) {
    other.interior = static_cast<int16_t>(number);
    EXPECT_EQ(parts.scene.add_interior(other).code, StatusCode::bad_value);
  }
  other.interior = 3;
  parts.scene.remove_interior(other);  // another one has the number
  EXPECT_EQ(parts.scene.interior(3), house.interior);
  parts.scene.remove_interior(*house.interior);
  EXPECT_EQ(parts.scene.interior(3), nullptr);
  EXPECT_EQ(code_of(InteriorLocation::in_room(3, 1)), StatusCode::bad_value);
  EXPECT_EQ(contracts.count(), 0u);
}

TEST(SceneRepresentation, LeavesOutWhatHasNoDescriptor) {  // P078
  Archetype infinite;                                      // outlives the entities of the parts
  WorldParts parts;
  Entity &bare = parts.make(), &near = parts.make();
  bare.set_archetype(nullptr);
  near.lod().distance = 0;
  EXPECT_EQ(parts.world.add(bare).code, StatusCode::bad_value);
  EXPECT_EQ(parts.world.add(near).code, StatusCode::bad_value);
  Entity stranger;  // without a handle nobody could be told about it
  stranger.set_archetype(&parts.box);
  stranger.lod().distance = 10;
  EXPECT_EQ(parts.world.add(stranger).code, StatusCode::bad_value);
  EXPECT_EQ(parts.graph.used_containers(), 0u);
  ArchetypeTraits traits;
  traits.box = {{-1, -1, -1}, {1, 1, std::numeric_limits<float>::infinity()}};
  infinite.set_traits(traits);
  Entity& wrong = parts.make();
  wrong.set_archetype(&infinite);
  EXPECT_EQ(parts.world.add(wrong).code, StatusCode::bad_value);
  // A change that gives no descriptor leaves the one that was there.
  Entity& house = parts.make({1, 2, 3});
  ASSERT_TRUE(parts.world.add(house).ok());
  const EntityDesc before = parts.desc_of(house);
  house.set_archetype(&infinite);
  EXPECT_EQ(parts.world.update(house).code, StatusCode::bad_value);
  EXPECT_EQ(parts.world.move(house, at_place({5, 5, 5})).code, StatusCode::bad_value);
  EXPECT_EQ(house.position(), (Vec3{1, 2, 3}));
  house.set_archetype(nullptr);
  EXPECT_EQ(parts.world.update(house).code, StatusCode::bad_value);
  test::expect_same(parts.desc_of(house), before);
}

// DESC-1: jobs see what the entity is, and what the host adds for its own classes.
TEST(SceneRepresentation, DescriptorsShowTheEntity) {
  WorldParts parts;
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({.capacity = 4, .tracker = &parts.tracker}, parts.memory).ok());
  Entity& house = parts.make({10, 20, 30});
  house.lod().set_level(2);
  house.lod().distance = 123.25f;
  house.lod().alpha = 200;
  house.set_visibility_mask(0x1C);
  ASSERT_TRUE(parts.world.add(house).ok());
  EntityDesc desc = parts.desc_of(house);
  EXPECT_EQ(desc.centre, (Vec3{10, 20, 30}));
  EXPECT_EQ(desc.half, (Vec3{1, 1, 1}));
  EXPECT_EQ(desc.pivot, (Vec3{10, 20, 30}));
  EXPECT_EQ(desc.distance, 124);
  EXPECT_EQ(desc.level, 2);
  EXPECT_EQ(desc.alpha, 200);
  EXPECT_EQ(desc.mask, 0x1C);
  EXPECT_EQ(desc.type, EntityClass::building);
  EXPECT_EQ(desc.flags, uint32_t{kDescActive | kDescMaybeInCullBox});
  ASSERT_TRUE(visibility.set_visible(house, VisibilityModule::script, false).ok());
  house.set_flags(BaseFlag::spawn_points);
  EXPECT_EQ(parts.desc_of(house).flags & kDescHidden, 0u);  // not before it is told
  ASSERT_TRUE(parts.world.update(house).ok());
  EXPECT_EQ(parts.desc_of(house).flags, uint32_t{kDescActive | kDescMaybeInCullBox | kDescHidden | kDescSpawnPoints});
  visibility.show(house);
  ASSERT_TRUE(parts.world.update(house).ok());
  EXPECT_EQ(parts.desc_of(house).flags & kDescHidden, 0u);

  Entity& wide = parts.make({1, 1, 1}, test::kWideClass);
  ASSERT_TRUE(parts.world.add(wide).ok());
  EXPECT_EQ(parts.desc_of(wide).half, (Vec3{5, 5, 5}));
  EXPECT_EQ(parts.desc_of(wide).type, test::kWideClass);
  parts.filled_half = 6;
  ASSERT_TRUE(parts.world.update(wide).ok());
  EXPECT_EQ(parts.desc_of(wide).half, (Vec3{6, 6, 6}));
  parts.filled_half = std::numeric_limits<float>::quiet_NaN();  // hosts make mistakes, too
  EXPECT_EQ(parts.world.update(wide).code, StatusCode::bad_value);
  EXPECT_EQ(parts.desc_of(wide).half, (Vec3{6, 6, 6}));
  EXPECT_EQ(parts.world.add(parts.make({}, test::kWideClass)).code, StatusCode::bad_value);
}

TEST(SceneRepresentation, LightsStandInTheirList) {  // SG-5
  WorldParts parts;
  Entity &a = parts.make({1, 0, 0}, test::kLampClass), &b = parts.make({2, 0, 0}, test::kLampClass);
  ASSERT_TRUE(parts.world.add(a).ok());
  ASSERT_TRUE(parts.world.add(b).ok());
  EXPECT_TRUE(a.container().is_retained());
  EXPECT_EQ(a.container().container(), kLightList);
  EXPECT_EQ(parts.world.add(a).code, StatusCode::in_use);
  parts.world.lock();
  EXPECT_EQ(parts.graph.light_count(), 2u);
  parts.world.unlock();
  ASSERT_TRUE(parts.world.move(a, at_place({3, 4, 5})).ok());
  ASSERT_TRUE(parts.world.remove(b).ok());
  EXPECT_TRUE(b.container().is_none());
  parts.world.lock();
  EXPECT_EQ(parts.graph.light_count(), 1u);
  for (uint32_t c = 0; c < parts.graph.containers().views.size(); ++c) {
    if ((parts.graph.containers().views[c].flags & kContainerLights) == 0) continue;
    EXPECT_EQ(parts.graph.read({c, 0}).centre, (Vec3{3, 4, 5}));
    EXPECT_EQ(entity_in(parts.graph.containers().views[c], 0), a.handle());
  }
  check_bounds(parts.graph, true);
  parts.world.unlock();
}

// SG-1: a scene for some classes leaves the others alone.
TEST(SceneRepresentation, HandlesTheTypesThatItIsGiven) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  WorldParts parts(test::kSmallScene, /*has_scene=*/false);
  SceneGraph graph;
  ASSERT_TRUE(graph.init(test::kSmallScene, memory, &tracker).ok());
  SceneRepresentation cars;
  ASSERT_TRUE(
      cars.init({.graph = &graph, .table = &parts.table, .classes = &parts.classes, .types = type_bit(test::kCarClass)})
          .ok());
  ASSERT_TRUE(parts.world.add_representation(cars).ok());
  EXPECT_FALSE(cars.handles(EntityClass::building));
  EXPECT_TRUE(cars.handles(test::kCarClass));
  Entity &house = parts.make(), &car = parts.make({}, test::kCarClass);
  ASSERT_TRUE(parts.world.add(house).ok());
  ASSERT_TRUE(parts.world.add(car).ok());
  EXPECT_TRUE(house.container().is_none());
  EXPECT_FALSE(car.container().is_none());
  ASSERT_TRUE(parts.world.remove(car).ok());
}

TEST(SceneRepresentation, InitAsksForAllItNeeds) {
  WorldParts parts;
  BrokenContracts contracts;
  for (int missing = 0; missing < 3; ++missing) {
    SceneRepresentation scene;
    EXPECT_EQ(scene
                  .init({.graph = missing == 0 ? nullptr : &parts.graph,
                         .table = missing == 1 ? nullptr : &parts.table,
                         .classes = missing == 2 ? nullptr : &parts.classes})
                  .code,
              StatusCode::bad_value);
    EXPECT_TRUE(broke(contracts));
  }
  EXPECT_EQ(parts.scene.init({.graph = &parts.graph, .table = &parts.table, .classes = &parts.classes}).code,
            StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  // The one that is there is told of unlocks all the same.
  Entity& house = parts.make();
  parts.graph.lock();
  ASSERT_TRUE(parts.world.defer(add_change(house.handle())).ok());
  parts.graph.unlock();
  EXPECT_FALSE(house.container().is_none());
}

TEST(SceneRepresentation, WithoutASearchNothingIsFound) {  // SG-1
  WorldParts parts;
  SearchResult result;
  const EntityQuery query{.volume = sphere_volume({}, 1)};
  EXPECT_EQ(parts.world.search_now(query, {}, result).code, StatusCode::not_found);
  static const ContainerTable* asked;
  asked = nullptr;
  parts.scene.set_search([](const ContainerTable& containers, const BoxHierarchy&, const EntityQuery&,
                            std::span<EntityHandle>, SearchResult& found) {
    asked = &containers;
    found.found = 5;
    return Status{};
  });
  EXPECT_TRUE(parts.world.search_now(query, {}, result).ok());
  EXPECT_EQ(asked, &parts.graph.containers());
  EXPECT_EQ(result.found, 5u);
}

// --- hours -----------------------------------------------------------------------------------------------

bool is_active(const WorldParts& parts, const Entity& entity) {
  for (uint32_t c = 0; c < parts.graph.containers().views.size(); ++c) {
    for (const uint32_t slot : test::used_slots(parts.graph, c)) {
      if (entity_in(parts.graph.containers().views[c], slot) == entity.handle())
        return (parts.graph.read({c, slot}).flags & kDescActive) != 0;
    }
  }
  ADD_FAILURE() << "the entity is in no container";
  return false;
}

// ENTY-10: the stall is there from 6:00 to 18:00; an entity may ignore hours; what has none is always there.
TEST(SceneHours, EntitiesComeAndGoAsTheClockStrikes) {
  WorldParts parts;
  Entity &stall = parts.make(), &always = parts.make(), &house = parts.make(), &lamp = parts.make({}, test::kLampClass),
         &cart = parts.make({}, test::kCarClass);
  for (Entity* one : {&stall, &always, &lamp, &cart}) one->set_archetype(&parts.stall);
  always.set_flags(BaseFlag::ignore_hours);
  EXPECT_EQ(parts.scene.hour(), 12u);
  for (Entity* one : {&stall, &always, &house, &lamp, &cart}) ASSERT_TRUE(parts.world.add(*one).ok());
  ASSERT_TRUE(parts.graph.flush_lights().ok());
  for (uint32_t hour = 0; hour < 24; ++hour) {
    SCOPED_TRACE(hour);
    ASSERT_TRUE(parts.scene.set_hour(hour).ok());
    EXPECT_EQ(parts.scene.hour(), hour);
    const bool is_open = hour >= 6 && hour < 18;
    for (const Entity* one : {&stall, &lamp, &cart}) EXPECT_EQ(is_active(parts, *one), is_open);
    EXPECT_TRUE(is_active(parts, always));
    EXPECT_TRUE(is_active(parts, house));
    ASSERT_TRUE(parts.world.update(stall).ok());  // an update keeps the hour
    EXPECT_EQ(is_active(parts, stall), is_open);
  }
  // One that comes in the night is not there yet.
  Entity& late = parts.make();
  late.set_archetype(&parts.stall);
  ASSERT_TRUE(parts.world.add(late).ok());
  EXPECT_FALSE(is_active(parts, late));
}

// ENTY-10, SG-5: merging other lights does not bring back one whose hour has gone.
TEST(SceneHours, OfLightsOutliveTheNextMerge) {
  WorldParts parts;
  Entity &day = parts.make({}, test::kLampClass), &plain = parts.make({}, test::kLampClass);
  day.set_archetype(&parts.stall);
  ASSERT_TRUE(parts.world.add(day).ok());
  ASSERT_TRUE(parts.scene.set_hour(23).ok());
  EXPECT_FALSE(is_active(parts, day));
  ASSERT_TRUE(parts.world.add(plain).ok());
  ASSERT_TRUE(parts.graph.flush_lights().ok());
  EXPECT_FALSE(is_active(parts, day));
  EXPECT_TRUE(is_active(parts, plain));
  ASSERT_TRUE(parts.scene.set_hour(8).ok());
  EXPECT_TRUE(is_active(parts, day));
}

TEST(SceneHours, OfMapsAreThoseOfTheirEntities) {  // ENTY-10
  WorldParts parts;
  std::vector<EntityDesc> descs(40);
  std::vector<Entity*> entities;
  for (uint32_t i = 0; i < 40; ++i) {
    descs[i] = test::desc_at({float(i), 0, 0});
    descs[i].handle = i;
    if (i % 2 == 0) descs[i].flags |= kDescTimed;
    Entity& entity = *parts.entities.emplace_back(std::make_unique<Entity>());
    entity.set_archetype(i % 2 == 0 ? static_cast<Archetype*>(&parts.stall) : &parts.box);
    entities.push_back(i == 10 ? nullptr : &entity);  // one that could not be made
  }
  const EntityHandle group = parts.table.add_group(entities, hash_name("town"));
  StreamedNode& town = *parts.graph.create_streamed();
  const test::MapBlocks blocks(descs, {});
  ASSERT_TRUE(parts.graph.add_blocks(town, blocks.view(group)).ok());
  ASSERT_TRUE(parts.graph.append(*parts.graph.root(), town).ok());
  const auto check = [&](bool is_open) {
    for (uint32_t i = 0; i < 40; ++i) {
      if (i == 10) continue;
      EXPECT_EQ(is_active(parts, *parts.entities[i]), i % 2 != 0 || is_open) << i;
    }
  };
  check(true);
  ASSERT_TRUE(parts.scene.set_hour(3).ok());
  check(false);
  ASSERT_TRUE(parts.scene.set_hour(6).ok());
  check(true);
  // One container alone, which came in after the clock struck.
  ASSERT_TRUE(parts.scene.set_hour(3).ok());
  for (uint32_t slot = 0; slot < 40; ++slot)
    ASSERT_TRUE(parts.graph.set_flags({town.first_container(), slot}, kDescActive, kDescActive).ok());
  check(true);
  parts.scene.apply_hour(town.first_container());
  check(false);
  parts.table.remove_group(group);
}

TEST(SceneHours, WaitForTheUnlock) {  // SG-4, ENTY-10
  WorldParts parts;
  Entity& stall = parts.make();
  stall.set_archetype(&parts.stall);
  ASSERT_TRUE(parts.world.add(stall).ok());
  parts.world.lock();
  EXPECT_EQ(parts.scene.set_hour(3).code, StatusCode::in_use);
  EXPECT_EQ(parts.scene.hour(), 12u);
  EXPECT_TRUE(is_active(parts, stall));
  parts.world.unlock();
  BrokenContracts contracts;
  EXPECT_TRUE(parts.scene.set_hour(24 + 3).ok());  // wraps
  EXPECT_GE(contracts.take(), test::kAsserts ? 1u : 0u);
  EXPECT_EQ(parts.scene.hour(), 3u);
  EXPECT_FALSE(is_active(parts, stall));
}

// --- the origin ------------------------------------------------------------------------------------------

// SG-8: everything moves by the delta once; what is attached with what it is attached to.
TEST(SceneRebase, MovesEachEntityOnce) {
  WorldParts parts;
  const House inside(parts, 0);
  Entity &wall = parts.make({1, 2, 3}), &car = parts.make({10, 0, 0}, test::kCarClass),
         &trailer = parts.make({}, test::kCarClass), &box = parts.make({}, test::kCarClass),
         &lamp = parts.make({5, 5, 5}, test::kLampClass), &chair = parts.make({7, 7, 7}),
         &absent = parts.make({9, 9, 9});
  chair.set_interior_location(InteriorLocation::in_room(0, 1));
  ASSERT_TRUE(parts.components.attach(box, trailer, {.offset = at_place({0, 0, 1})}).ok());
  ASSERT_TRUE(parts.components.attach(trailer, car, {.offset = at_place({0, -5, 0})}).ok());
  for (Entity* one : {&box, &trailer, &wall, &car, &lamp, &chair}) ASSERT_TRUE(parts.world.add(*one).ok());
  for (const Vec3& delta : {Vec3{100, -50, 0}, Vec3{-8192, 0, 16}}) {
    std::map<const Entity*, Vec3> before;
    for (const auto& entity : parts.entities) before[entity.get()] = entity->position();
    ASSERT_TRUE(parts.world.rebase(delta).ok());
    for (Entity* one : {&box, &trailer, &wall, &car, &lamp, &chair}) {
      EXPECT_EQ(one->position(), before[one] + delta);
      if (one == &lamp) continue;
      EXPECT_EQ(parts.desc_of(*one).centre, one->position());
      EXPECT_EQ(parts.desc_of(*one).pivot, one->position());
    }
    EXPECT_EQ(absent.position(), before[&absent]);  // not in the world
    check_bounds(parts.graph, false);
    parts.world.lock();
    check_bounds(parts.graph, true);
    parts.world.unlock();
    uint32_t lights = 0;
    for (uint32_t c = 0; c < parts.graph.containers().views.size(); ++c) {
      if ((parts.graph.containers().views[c].flags & kContainerLights) == 0) continue;
      ++lights;
      EXPECT_EQ(parts.graph.read({c, 0}).centre, lamp.position());
    }
    EXPECT_EQ(lights, 1u);
  }
  EXPECT_EQ(parts.world.epoch(), 2u);
  EXPECT_EQ(car.position(), (Vec3{10 + 100 - 8192, -50, 16}));
  EXPECT_EQ(box.position(), (Vec3{10 + 100 - 8192, -55, 17}));
}

// More lights than may wait at once, and as many as there may be.
TEST(SceneRebase, MovesAllLights) {
  WorldParts parts;
  const uint32_t most = parts.graph.capacities().lights;
  for (uint32_t i = 0; i < most; ++i) ASSERT_TRUE(parts.world.add(parts.make({float(i), 0, 0}, test::kLampClass)).ok());
  ASSERT_TRUE(parts.world.rebase({0, 1000, 0}).ok());
  parts.world.lock();
  EXPECT_EQ(parts.graph.light_count(), most);
  std::set<float> seen;
  for (uint32_t c = 0; c < parts.graph.containers().views.size(); ++c) {
    for (const uint32_t slot : test::used_slots(parts.graph, c)) {
      const EntityDesc desc = parts.graph.read({c, slot});
      EXPECT_EQ(desc.centre.y, 1000);
      seen.insert(desc.centre.x);
    }
  }
  EXPECT_EQ(seen.size(), most);
  check_bounds(parts.graph, true);
  parts.world.unlock();
}

// Entities of maps are the map's to place anew, from its definitions and the origin.
TEST(SceneRebase, LeavesEntitiesOfMapsAlone) {
  WorldParts parts;
  Entity &own = parts.make({1, 0, 0}), &of_map = parts.make({2, 0, 0});
  of_map.set_imap(17);
  ASSERT_TRUE(parts.world.add(own).ok());
  ASSERT_TRUE(parts.world.add(of_map).ok());
  ASSERT_TRUE(parts.world.rebase({10, 0, 0}).ok());
  EXPECT_EQ(own.position(), (Vec3{11, 0, 0}));
  EXPECT_EQ(of_map.position(), (Vec3{2, 0, 0}));
  EXPECT_EQ(parts.desc_of(of_map).centre, (Vec3{2, 0, 0}));
}

TEST(SceneRebase, RefusesWhatIsNotFiniteAndChangesNothing) {  // P078
  WorldParts parts;
  Entity& wall = parts.make({1, 2, 3});
  ASSERT_TRUE(parts.world.add(wall).ok());
  parts.world.lock();
  parts.world.unlock();
  const auto before = test::seen_by_readers(parts.graph);
  for (const float v : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(parts.world.rebase({v, 0, 0}).code, StatusCode::bad_value);
    EXPECT_EQ(parts.world.rebase({0, 0, -v}).code, StatusCode::bad_value);
  }
  EXPECT_EQ(wall.position(), (Vec3{1, 2, 3}));
  EXPECT_EQ(parts.world.epoch(), 0u);
  EXPECT_EQ(parts.world.origin(), WorldOrigin{});
  EXPECT_EQ(test::seen_by_readers(parts.graph), before);
}

}  // namespace
}  // namespace meridian
