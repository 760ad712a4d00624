// SPDX-License-Identifier: MIT
// What an interior is: rooms, portals, and the entities in them. How it comes and goes: interior_life_test.cpp.
#include "meridian/map/interior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

using schema::PortalFlags;
using test::kInParent;

constexpr NameHash kChair = hash_name("chair"), kDoor = hash_name("door"), kHouse = hash_name("house"),
                   kXmas = hash_name("xmas"), kSale = hash_name("sale");
constexpr uint32_t kAtPortal = 1u << 31;
constexpr uint32_t kMayClose = 1u << 6;  // hide_when_door_closed

/// A house 10 m wide and 8 m deep: room 1 is its left half, room 2 the right half, room 3 a closet in it.
struct InteriorTest : testing::Test {
  InteriorTest() {
    house.name = kHouse;
    house.archetype = {.lod = 200, .bb_min = {0, 0, 0}, .bb_max = {10, 8, 3}};
    house.rooms = {{.min = {0, 0, 0}, .max = {0, 0, 0}, .flags = 1},
                   {.min = {0, 0, 0}, .max = {5, 8, 3}, .flags = 0x102, .depth = 2, .objects = {0, 1}},
                   {.min = {5, 0, 0}, .max = {10, 8, 3}, .objects = {2, 4}},
                   {.min = {8, 0, 0}, .max = {10, 2, 3}, .objects = {3}}};
    house.portals = {
        {.from = 1,
         .to = 0,
         .flags = kMayClose | 1,
         .corners = {{0, 3, 0}, {0, 3, 2}, {0, 4, 2}, {0, 4, 0}},
         .objects = {4},
         .opacity = 40},
        {.from = 1, .to = 2, .corners = {{5, 3, 0}, {5, 3, 2}, {5, 5, 2}, {5, 5, 0}}, .opacity = 7, .priority = 3},
        {.from = 2, .to = 3, .flags = 4, .corners = {{8, 0, 0}, {8, 0, 2}, {8, 1, 2}, {8, 1, 0}}, .objects = {0}}};
    house.entities = {{.archetype = kChair, .at = {1, 2, 0}},
                      {.archetype = kChair, .at = {2, 2, 0}, .rotation = test::inverse(test::about_z(90))},
                      {.archetype = kChair, .at = {6, 2, 0}},
                      {.archetype = kChair, .at = {9, 1, 0}},
                      {.archetype = kDoor, .at = {0, 3, 0}},
                      {.archetype = kChair, .at = {3, 3, 0}}};
    house.sets = {{.name = kXmas,
                   .entities = {{.archetype = kChair, .at = {4, 4, 0}}, {.archetype = kDoor, .at = {5, 3, 0}}},
                   .locations = {2, kAtPortal | 1}},
                  {.name = kSale, .entities = {{.archetype = kChair, .at = {7, 7, 0}}}, .locations = {3}}};
    props.base(kChair, {.lod = 30, .bb_min = {0, 0, 0}, .bb_max = {1, 2, 1}});
    props.base(kDoor, {.lod = 50});
  }
  /// The house once, where `place` says.
  void start(const test::EntityItem& place = {.archetype = kHouse}, std::vector<uint32_t> sets = {}) {
    props.interiors = {house};
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
    test::MapMaker town{.name = hash_name("town")};
    town.add_interior(place, std::move(sets));
    town_file.emplace(town.finish());
    map = kit.load(*town_file, 1);
    ASSERT_NE(map, nullptr);
    in = kit.maps.interior(0);
    ASSERT_NE(in, nullptr);
  }
  void TearDown() override {
    if (map == nullptr) return;
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
  }
  /// The node whose container holds the descriptor of an entity.
  const SceneNode* node_of(const Entity& entity) const {
    const ContainerTag tag = entity.container();
    return tag.is_in_container() ? kit.graph.node_of(tag.container()) : nullptr;
  }
  static constexpr InteriorLocation room(uint32_t r) { return InteriorLocation::in_room(0, r); }

  test::InteriorItem house;
  test::TypesItem props;
  std::optional<test::TypesFile> file;
  std::optional<test::MapFile> town_file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
  MapContents* map = nullptr;
  Interior* in = nullptr;
};

// INT-2: the node of an interior, its rooms and then its portals below it, with what the file says of them.
TEST_F(InteriorTest, HasANodeWithRoomsAndPortals) {
  start({.archetype = kHouse, .at = {100, 50, 10}});
  EXPECT_EQ(in->number(), 0);
  EXPECT_EQ(&in->instance(), map->entity(0));
  EXPECT_EQ(&in->map(), map);
  EXPECT_EQ(in->instance().type(), EntityClass::interior_instance);
  EXPECT_FALSE(in->is_waiting());
  ASSERT_NE(in->node(), nullptr);
  EXPECT_EQ(in->node()->interior, 0);
  EXPECT_EQ(in->node()->instance, map->handle(0));
  EXPECT_EQ(in->node()->parent(), kit.graph.root());
  EXPECT_TRUE(in->node()->is_in_world());
  EXPECT_EQ(kit.scene.interior(0), in->node());
  EXPECT_EQ(in->at(), in->instance().transform());
  EXPECT_EQ(in->node()->at, in->instance().transform());
  ASSERT_EQ(in->room_count(), 4u);
  ASSERT_EQ(in->portal_count(), 3u);
  EXPECT_EQ(in->room(4), nullptr);
  EXPECT_EQ(in->portal(3), nullptr);

  std::vector<const SceneNode*> below;
  for (const SceneNode* child = in->node()->first_child(); child != nullptr; child = child->next())
    below.push_back(child);
  ASSERT_EQ(below.size(), 7u);
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ(below[r], in->room(r));
    EXPECT_EQ(in->room(r)->room, r);
    EXPECT_EQ(in->room(r)->type(), NodeType::room);
  }
  EXPECT_EQ(in->room(0)->room_flags, 1u);
  EXPECT_EQ(in->room(1)->room_flags, 0x102u);
  EXPECT_EQ(in->room(1)->exterior_visibility_depth, 2);
  EXPECT_EQ(in->room(2)->exterior_visibility_depth, -1);
  const uint32_t from[] = {1, 1, 2}, to[] = {0, 2, 3}, opacity[] = {40, 7, 0}, flags[] = {kMayClose | 1, 0, 4};
  for (uint32_t p = 0; p < 3; ++p) {
    EXPECT_EQ(below[4 + p], in->portal(p));
    const PortalNode& portal = *in->portal(p);
    EXPECT_EQ(portal.portal, p);
    EXPECT_EQ(portal.room_from, from[p]);
    EXPECT_EQ(portal.room_to, to[p]);
    EXPECT_EQ(portal.leads_outside(), p == 0);
    EXPECT_EQ(portal.corners.flags(), flags[p]);
    EXPECT_EQ(portal.corners.opacity(), opacity[p]);
    EXPECT_EQ(portal.priority, p == 1 ? 3u : 0u);
    EXPECT_FALSE(portal.is_closed());
    for (int i = 0; i < 4; ++i)
      test::expect_near(portal.corners.point(i), house.portals[p].corners[static_cast<size_t>(i)] + Vec3{100, 50, 10});
  }
}

// INT-2: an interior that is turned by 90 degrees, by hand: (x, y, z) goes to (100 - y, 50 + x, 10 + z). Its own
// rotation is stored as it is, not inverted (P013).
TEST_F(InteriorTest, TurnsWithItsInstance) {
  start({.archetype = kHouse, .at = {100, 50, 10}, .rotation = test::about_z(90)});
  const Vec3 expected[4] = {{97, 50, 10}, {97, 50, 12}, {96, 50, 12}, {96, 50, 10}};
  for (int i = 0; i < 4; ++i) test::expect_near(in->portal(0)->corners.point(i), expected[i]);
  // Through its first portal, from room 1 outwards: -x inside, so -y in the world.
  test::expect_near(normal(in->portal(0)->corners), {0, -1, 0});
  test::expect_near(in->node()->at.point({1, 0, 0}), {100, 51, 10});
  // Entity 0 at (1, 2, 0), not turned itself: turned once.
  test::expect_near(in->entity(0)->position(), {98, 51, 10});
  test::expect_near(in->entity(0)->transform().point({1, 0, 0}), {98, 52, 10});
  // Entity 1 at (2, 2, 0) is turned by 90 degrees itself: by 180 in the world. Each rotation counts once.
  test::expect_near(in->entity(1)->position(), {98, 52, 10});
  test::expect_near(in->entity(1)->transform().point({1, 0, 0}), {97, 52, 10});
  // The chair (0, 0, 0) to (1, 2, 1) of entity 1 then is x 97 to 98, y 50 to 52.
  const Aabb box = test::box_of(kit.desc(*in->entity(1)));
  test::expect_near(box.min, {97, 50, 10});
  test::expect_near(box.max, {98, 52, 11});
}

// INT-2: each in the room or portal that lists it, a portal before a room; others in room 0.
TEST_F(InteriorTest, PutsEntitiesIntoTheRoomsThatListThem) {
  start({.archetype = kHouse}, {kXmas.value, kSale.value});
  EXPECT_EQ(in->entity_count(), 9u);
  EXPECT_EQ(in->created(), 9u);
  const auto portal = [](uint32_t p, bool outside) { return InteriorLocation::at_portal(0, p, outside); };
  const InteriorLocation expected[] = {portal(2, false), room(1), room(2),          room(3), portal(0, true),
                                       room(0),          room(2), portal(1, false), room(3)};
  for (uint32_t i = 0; i < 9; ++i) {
    SCOPED_TRACE(i);
    Entity* const entity = in->entity(i);
    ASSERT_NE(entity, nullptr);
    EXPECT_EQ(in->location_of_entity(i), expected[i]);
    EXPECT_EQ(entity->interior_location(), expected[i]);
    EXPECT_TRUE(entity->has(BaseFlag::in_interior));
    EXPECT_EQ(entity->owner(), OwnedBy::interior);
    EXPECT_EQ(entity->imap(), 1u);
    EXPECT_TRUE(kit.is_in_world(*entity));
    EXPECT_EQ(kit.entity_of_slot(*entity), entity);
    EXPECT_EQ(kit.table.get(entity->handle()), entity);
    const SceneNode* const node = expected[i].is_at_portal() ? static_cast<SceneNode*>(in->portal(expected[i].portal()))
                                                             : in->room(expected[i].room());
    EXPECT_EQ(node_of(*entity), node);
    EXPECT_NE(kit.graph.containers().views[entity->container().container()].flags & kContainerInterior, 0u);
  }
  EXPECT_TRUE(in->location_of_entity(9).is_outside());
  EXPECT_EQ(in->entity(9), nullptr);
  EXPECT_EQ(log.all(), "");
}

// P081: a room that is seen through two portals holds its entities once, and both portals lead to it; so the union of
// what is seen through them can be made.
TEST_F(InteriorTest, HoldsARoomsEntitiesOnceHoweverManyPortalsLeadThere) {
  house.portals.push_back({.from = 2, .to = 1, .corners = {{5, 6, 2}, {5, 6, 0}, {5, 7, 0}, {5, 7, 2}}});
  start();
  std::vector<uint32_t> to_room_2;
  for (uint32_t p = 0; p < in->portal_count(); ++p) {
    if (in->portal(p)->room_from == 2 || in->portal(p)->room_to == 2) to_room_2.push_back(p);
  }
  EXPECT_EQ(to_room_2, (std::vector<uint32_t>{1, 2, 3}));
  uint32_t descriptors = 0;
  for (uint32_t c = in->room(2)->first_container(); c != kNoContainer; c = kit.graph.next_container(c)) {
    const ContainerView& view = kit.graph.containers().views[c];
    for (uint32_t s = 0; s < view.slots; ++s) descriptors += kit.graph.is_used({c, s}) ? 1 : 0;
  }
  EXPECT_EQ(descriptors, 1u);
  EXPECT_EQ(node_of(*in->entity(2)), in->room(2));
}

// INT-2: sets that are on by default are those that the instance names.
TEST_F(InteriorTest, BeginsWithItsDefaultSets) {
  start({.archetype = kHouse}, {kSale.value, hash_name("unknown").value});
  EXPECT_EQ(in->set_count(), 2u);
  EXPECT_EQ(in->set_name(0), kXmas);
  EXPECT_EQ(in->set_name(1), kSale);
  EXPECT_EQ(in->set_name(2), NameHash{});
  EXPECT_FALSE(in->is_set_on(kXmas));
  EXPECT_TRUE(in->is_set_on(kSale));
  EXPECT_FALSE(in->is_set_on(hash_name("unknown")));
  EXPECT_EQ(in->created(), 7u);
  EXPECT_EQ(in->entity(6), nullptr);
  EXPECT_EQ(in->entity(7), nullptr);
  ASSERT_NE(in->entity(8), nullptr);
  EXPECT_EQ(in->location_of_entity(6), room(2)) << "known though it is not there";
}

// INT-2: sets come and go, and memory, handles and references with them.
TEST_F(InteriorTest, SwitchesSetsOnAndOff) {
  start();
  const test::Account off = kit.account();
  ASSERT_EQ(in->created(), 6u);
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    EXPECT_TRUE(in->set_entity_set(kXmas, true).ok());
    EXPECT_TRUE(in->set_entity_set(kXmas, true).ok()) << "it is already";
    EXPECT_TRUE(in->is_set_on(kXmas));
    EXPECT_EQ(in->created(), 8u);
    ASSERT_TRUE(in->entity(6) != nullptr && in->entity(7) != nullptr);
    const EntityHandle handle = in->entity(7)->handle();
    EXPECT_EQ(kit.table.get(handle), in->entity(7));
    EXPECT_TRUE(kit.is_in_world(*in->entity(6)));
    const test::Account one = kit.account();
    EXPECT_GT(one.bytes, off.bytes);
    EXPECT_TRUE(in->set_entity_set(kSale, true).ok());
    EXPECT_EQ(in->created(), 9u);
    EXPECT_TRUE(in->set_entity_set(kSale, false).ok());
    EXPECT_EQ(kit.account(), one);
    EXPECT_TRUE(in->set_entity_set(kXmas, false).ok());
    EXPECT_EQ(kit.account(), off);
    EXPECT_EQ(kit.table.get(handle), nullptr);
    EXPECT_EQ(in->entity(6), nullptr);
    EXPECT_FALSE(in->is_set_on(kXmas));
    EXPECT_EQ(in->created(), 6u);
  }
  EXPECT_EQ(in->set_entity_set(hash_name("unknown"), true).code, StatusCode::not_found);
  // 1 instance, 6 of the house, then four times 2 and 1.
  EXPECT_EQ(kit.maps.statistics().created, 1u + 6 + 4 * 3);
}

// INT-2, MAP-1: what stands inside has its extensions, and knows of spawn points.
TEST_F(InteriorTest, GivesItsEntitiesTheirExtensions) {
  house.extensions = {{1, schema::ExtensionDef::DoorDef}, {4, schema::ExtensionDef::SpawnPointDef}};
  house.sets[0].extensions = {{1, schema::ExtensionDef::DoorDef}};
  start({.archetype = kHouse}, {kXmas.value});
  for (uint32_t i = 0; i < 8; ++i) {
    const auto* const door = in->entity(i)->extensions().find<test::DoorExtension>(test::kDoorKind);
    EXPECT_EQ(door != nullptr, i == 1 || i == 7) << i;
    if (door != nullptr) {
      EXPECT_EQ(door->owner, 1u);
    }
    EXPECT_EQ(in->entity(i)->has(BaseFlag::spawn_points), i == 4) << i;
    EXPECT_EQ((kit.desc(*in->entity(i)).flags & kDescSpawnPoints) != 0, i == 4) << i;
  }
  EXPECT_EQ(kit.doors.pool().used(), 2u);
  EXPECT_TRUE(in->set_entity_set(kXmas, false).ok());
  EXPECT_EQ(kit.doors.pool().used(), 1u);
}

// INT-2: by hand. Of the rooms that hold a point the smallest counts; room 0 is what is left of the house.
TEST_F(InteriorTest, KnowsTheRoomOfAPoint) {
  house.rooms[2].min.x = 6;  // from 5 to 6 there is no room
  start({.archetype = kHouse, .at = {100, 50, 10}, .rotation = test::about_z(90)});
  struct Case {
    Vec3 inside;
    int room;  // -1: outside
  };
  const Case cases[] = {{{1, 1, 1}, 1},     {{4.9f, 7.9f, 2.9f}, 1}, {{7, 1, 1}, 2},     {{9, 1, 1}, 3},
                        {{9, 3, 1}, 2},     {{5.5f, 4, 1}, 0},       {{-1, 1, 1}, -1},   {{1, -1, 1}, -1},
                        {{1, 1, 3.1f}, -1}, {{11, 1, 1}, -1},        {{1, 1, -0.1f}, -1}};
  for (const Case& c : cases) {
    const Vec3 point{100 - c.inside.y, 50 + c.inside.x, 10 + c.inside.z};
    EXPECT_EQ(in->location_of(point), c.room < 0 ? InteriorLocation() : room(static_cast<uint32_t>(c.room)))
        << c.inside.x << ' ' << c.inside.y << ' ' << c.inside.z;
  }
  EXPECT_TRUE(in->location_of({std::nanf(""), 0, 0}).is_outside());
  EXPECT_TRUE(in->location_of({INFINITY, 51, 11}).is_outside());
}

// INT-2: a door shuts its portal only where the portal's flags allow it.
TEST_F(InteriorTest, ShutsPortalsThatMayBeShut) {
  start();
  EXPECT_TRUE(in->set_portal_closed(0, true).ok());
  EXPECT_TRUE(in->portal(0)->is_closed());
  EXPECT_TRUE(in->set_portal_closed(1, true).ok());
  EXPECT_FALSE(in->portal(1)->is_closed());
  EXPECT_EQ(in->set_portal_closed(3, true).code, StatusCode::not_found);
  kit.world.lock();
  EXPECT_EQ(in->set_portal_closed(0, false).code, StatusCode::in_use);
  EXPECT_TRUE(in->portal(0)->is_closed());
  kit.world.unlock();
  EXPECT_TRUE(in->set_portal_closed(0, false).ok());
  EXPECT_FALSE(in->portal(0)->is_closed());
}

// INT-1: 32 rooms and 256 portals are what there can be; one more, and the interior is told and stays empty.
TEST_F(InteriorTest, HasAtMostSoManyRoomsAndPortals) {
  const std::vector<Vec3> corners{{0, 3, 0}, {0, 3, 2}, {0, 4, 2}, {0, 4, 0}};
  house.rooms.resize(32);
  house.portals.assign(256, {.from = 31, .to = 1, .corners = corners});
  house.entities[5].at = {4, 4, 1};
  house.rooms[31].objects = {5};
  house.portals[255].objects = {3};
  test::InteriorItem wide = house, holed = house;
  wide.name = hash_name("wide");
  wide.rooms.resize(33);
  holed.name = hash_name("holed");
  holed.portals.resize(257);
  props.interiors = {house, wide, holed};
  ASSERT_TRUE(kit.init().ok());
  file.emplace(props.finish("props"));
  kit.types(*file, 3);
  before = kit.account();
  test::MapMaker town;
  town.add_interior({.archetype = kHouse});
  town.add_interior({.archetype = wide.name});
  town.add_interior({.archetype = holed.name});
  town.add_interior({.archetype = holed.name});
  town_file.emplace(town.finish());
  map = kit.load(*town_file, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->created(), 4u);
  in = kit.maps.interior(0);
  EXPECT_EQ(in->room_count(), 32u);
  EXPECT_EQ(in->portal_count(), 256u);
  EXPECT_EQ(in->room(31)->room, 31);
  EXPECT_EQ(in->portal(255)->portal, 255);
  EXPECT_EQ(node_of(*in->entity(5)), in->room(31));
  EXPECT_EQ(node_of(*in->entity(3)), in->portal(255));
  EXPECT_EQ(in->created(), 6u);
  EXPECT_EQ(log.count(), 2u) << "each archetype once: " << log.all();
  EXPECT_NE(log.all().find("33 rooms"), std::string::npos) << log.all();
  EXPECT_NE(log.all().find("257 portals"), std::string::npos) << log.all();
  for (int32_t i = 1; i < 4; ++i) {
    Interior* const empty = kit.maps.interior(i);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(empty->created(), 0u);
    EXPECT_EQ(empty->room_count(), 0u);
    EXPECT_EQ(empty->node(), nullptr);
    EXPECT_FALSE(empty->is_waiting()) << "there is nothing to wait for";
    EXPECT_TRUE(empty->location_of({1, 1, 1}).is_outside());
    EXPECT_EQ(empty->set_entity_set(kXmas, true).code, StatusCode::not_found);
  }
  EXPECT_EQ(kit.maps.retry_waiting(), 0u);
}

// CORE-11 inside: a missing archetype, one that cannot be placed; numbers of rooms and entities that are not there.
TEST_F(InteriorTest, LeavesOutWhatIsBad) {
  house.entities[1].archetype = hash_name("nowhere");
  house.entities[2].rotation = {0, 0, 0, 0};
  house.rooms[1].objects = {0, 1, 99};
  house.rooms[2].objects = {2, 4, 4000000000u};
  house.portals[1].to = 200;
  house.portals[2].from = 7;
  house.sets[0].locations = {77, kAtPortal | 500};
  start({.archetype = kHouse}, {kXmas.value});
  EXPECT_EQ(in->created(), 6u);
  EXPECT_EQ(in->entity(1), nullptr);
  EXPECT_EQ(in->entity(2), nullptr);
  EXPECT_EQ(kit.maps.statistics().missing_archetype, 1u);
  EXPECT_EQ(kit.maps.statistics().bad_definition, 1u);
  EXPECT_NE(log.all().find("entity 1"), std::string::npos) << log.all();
  EXPECT_NE(log.all().find("entity 2"), std::string::npos) << log.all();
  EXPECT_EQ(in->location_of_entity(6), room(0));
  EXPECT_EQ(in->location_of_entity(7), room(0));
  for (uint32_t p = 0; p < 3; ++p) {
    EXPECT_LT(in->portal(p)->room_from, in->room_count()) << "readers count rooms by this";
    EXPECT_LT(in->portal(p)->room_to, in->room_count());
  }
  EXPECT_EQ(log.count(), 3u) << "the portals, too: " << log.all();
}

// MAP-3: instances of interiors are always made.
TEST_F(InteriorTest, IsMadeWhateverItsPriority) {
  start();
  kit.unload(map);
  test::MapMaker town;
  town.add_interior({.archetype = kHouse, .priority = schema::PriorityLevel::OPTIONAL_LOW});
  town.add({.archetype = kChair, .priority = schema::PriorityLevel::OPTIONAL_LOW});
  const test::MapFile bytes = town.finish();
  map = kit.load(bytes, {.slot = 1, .priority_cap = 0});
  ASSERT_NE(map, nullptr);
  EXPECT_NE(map->entity(0), nullptr);
  EXPECT_EQ(map->entity(1), nullptr);
  EXPECT_NE(kit.interior_of(*map, 0), nullptr);
}

// ENTY-10 inside.
TEST_F(InteriorTest, KeepsHours) {
  props.time(hash_name("night_lamp"), 0xF0003F);
  house.entities[0].archetype = hash_name("night_lamp");
  start();
  EXPECT_EQ(kit.desc(*in->entity(0)).flags & kDescActive, 0u) << "it is noon";
  EXPECT_TRUE(kit.scene.set_hour(21).ok());
  EXPECT_NE(kit.desc(*in->entity(0)).flags & kDescActive, 0u);
}

}  // namespace
}  // namespace meridian
