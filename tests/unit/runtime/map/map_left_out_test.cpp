// SPDX-License-Identifier: MIT
// What maps leave out, and what they refuse (CORE-11, MAP-2, MAP-3): told once by name, and all else is right.
#include <gtest/gtest.h>

#include <cmath>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

using schema::EntityFlags;
using schema::ExtensionDef;
using test::flag;

constexpr NameHash kLamp = hash_name("lamp"), kTreeName = hash_name("tree"), kCrate = hash_name("crate");
constexpr uint32_t kDynamic = 1u << 17;

struct MapLeftOut : testing::Test {
  MapLeftOut() {
    props.base(kLamp, {.lod = 60});
    props.base(kTreeName, {.lod = 80});
    props.base(kCrate, {.lod = 40, .flags = kDynamic});
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

// MAP-1: extensions hang on their entities, in whose order they stand; CORE-11: a kind that nobody knows is told once
// and left out, a full pool likewise, and everything else is right.
TEST_F(MapLeftOut, GivesEntitiesTheirExtensions) {
  kit.door_capacity = 3;
  start();
  test::MapMaker town{.name = hash_name("town")};
  for (int i = 0; i < 5; ++i) town.add({.archetype = kLamp});
  constexpr TypeHash kOdd{0xABCD1234};
  town.extensions = {{0, ExtensionDef::DoorDef},
                     {1, ExtensionDef::UnknownExtension, kOdd},
                     {1, ExtensionDef::DoorDef},
                     {3, ExtensionDef::UnknownExtension, kOdd},
                     {4, ExtensionDef::DoorDef}};
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  for (uint32_t i = 0; i < 5; ++i) {
    const auto* const door = map->entity(i)->extensions().find<test::DoorExtension>(test::kDoorKind);
    ASSERT_EQ(door != nullptr, i == 0 || i == 1 || i == 4) << i;
    if (door != nullptr) {
      EXPECT_EQ(door->owner, i) << "the reader saw the definition";
    }
  }
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("ABCD1234"), std::string::npos) << log.all();
  EXPECT_EQ(kit.registry.left_out(), 2u);

  log.clear();
  MapContents* const again = kit.load(bytes, 2);  // the three that there can be are taken
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->created(), 5u);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("Doors"), std::string::npos);
  kit.unload(map);
  EXPECT_EQ(kit.doors.pool().used(), 0u);
  kit.unload(again);
  EXPECT_EQ(kit.account(), before);
}

// MAP-2, CORE-11: an archetype of no type file that the map depends on. Told once, with its name; all others are right.
TEST_F(MapLeftOut, LeavesOutWhatItsTypeFilesLack) {
  start();
  const test::TypesFile others = test::TypesItem().base(hash_name("bench")).finish("others");
  kit.types(others, 4);
  test::MapMaker town{.name = hash_name("town")};
  for (int i = 0; i < 9; ++i) {
    town.add({.archetype = i % 3 == 0 ? kLamp : i % 3 == 1 ? hash_name("bench") : hash_name("nowhere")});
  }
  const test::MapFile bytes = town.finish();
  const ItypSlot only_props[] = {3}, both[] = {4, 3};
  MapContents* const map = kit.load(bytes, {.slot = 1, .dependencies = only_props});
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->created(), 3u);
  for (uint32_t i = 0; i < 9; ++i) EXPECT_EQ(map->entity(i) != nullptr, i % 3 == 0) << i;
  EXPECT_EQ(kit.table.get(map->handle(1)), nullptr);
  EXPECT_NE(kit.table.get(map->handle(3)), nullptr);
  EXPECT_EQ(kit.maps.statistics().missing_archetype, 6u);
  ASSERT_EQ(log.count(), 2u) << log.all();
  EXPECT_EQ(log.said()[0].name, hash_name("bench"));
  EXPECT_EQ(log.said()[1].name, hash_name("nowhere"));
  EXPECT_EQ(log.said()[0].level, LogLevel::warning);

  log.clear();
  MapContents* const more = kit.load(bytes, {.slot = 2, .dependencies = both});
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->created(), 6u);
  EXPECT_EQ(log.count(), 0u) << "each archetype is told once: " << log.all();
  kit.maps.reset_messages();
  MapContents* const last = kit.load(bytes, {.slot = 5, .dependencies = both});
  EXPECT_EQ(log.count(), 1u) << "but once more in a new session";
  for (MapContents* const contents : {map, more, last}) kit.unload(contents);
}

// MAP-2: a permanent archetype is there for all maps.
TEST_F(MapLeftOut, TakesPermanentArchetypesWithoutADependency) {
  start();
  const test::TypesFile permanent = test::TypesItem().base(hash_name("post")).finish("permanent");
  ASSERT_TRUE(load_map_types(kit.archetypes, permanent.resource(),
                             {.slot = 9, .permanence = Permanence::permanent, .file = permanent.name()})
                  .ok());
  test::MapMaker town;
  town.add({.archetype = hash_name("post")});
  town.add({.archetype = kLamp});
  const test::MapFile bytes = town.finish();
  const ItypSlot none_of_them[] = {7};
  MapContents* const map = kit.load(bytes, {.slot = 1, .dependencies = none_of_them});
  ASSERT_NE(map, nullptr);
  EXPECT_NE(map->entity(0), nullptr);
  EXPECT_EQ(map->entity(1), nullptr);
  kit.unload(map);
}

// CORE-11, ENTY-2: a rotation of length 0, one that is not a number, a scale of 0, no draw distance: told once for each
// archetype and reason, that one entity is left out, all others are right.
TEST_F(MapLeftOut, LeavesOutWhatCannotBePlaced) {
  props.base(hash_name("tiny"), {.lod = 0.5f});
  start();
  const float nan = std::nanf("");
  test::MapMaker town{.name = hash_name("town")};
  town.add({.archetype = kLamp, .at = {1, 0, 0}});
  town.add({.archetype = kLamp, .rotation = {0, 0, 0, 0}});
  town.add({.archetype = kLamp, .rotation = {nan, 0, 0, 1}});
  town.add({.archetype = kCrate, .scale_z = 0});
  town.add({.archetype = kTreeName, .at = {0, INFINITY, 0}});
  town.add({.archetype = hash_name("tiny")});
  town.add({.archetype = hash_name("tiny"), .lod = 30});
  town.add({.archetype = kLamp, .at = {2, 0, 0}});
  const test::MapFile bytes = town.finish(/*trusted=*/true);
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->created(), 3u);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(map->entity(i) != nullptr, i == 0 || i >= 6) << i;
  EXPECT_EQ(kit.maps.statistics().bad_definition, 5u);
  ASSERT_EQ(log.count(), 4u) << log.all();
  for (const char* const part :
       {"entity 1 (", "rotation", "entity 3 (", "scale", "entity 4 (", "position", "entity 5 (", "draw distance"}) {
    EXPECT_NE(log.all().find(part), std::string::npos) << part << '\n' << log.all();
  }
  EXPECT_EQ(map->entity(7)->position(), (Vec3{2, 0, 0}));
  EXPECT_EQ(map->array_of(EntityClass::building).size(), 3 * sizeof(Entity)) << "no holes where one was left out";
  EXPECT_EQ(kit.archetypes.find(kLamp)->references(), 2u);
  EXPECT_EQ(kit.record.created, 3u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// MAP-3: above the cap, unless it is fixed. Nothing is said.
TEST_F(MapLeftOut, LeavesOutWhatIsAboveThePriorityCap) {
  start();
  const schema::PriorityLevel levels[] = {schema::PriorityLevel::REQUIRED, schema::PriorityLevel::OPTIONAL_HIGH,
                                          schema::PriorityLevel::OPTIONAL_MEDIUM, schema::PriorityLevel::OPTIONAL_LOW};
  test::MapMaker town;
  for (uint32_t i = 0; i < 8; ++i) {
    town.add({.archetype = kLamp, .flags = i >= 4 ? flag(EntityFlags::is_static) : 0, .priority = levels[i % 4]});
  }
  const test::MapFile bytes = town.finish();
  for (uint8_t cap = 0; cap < 4; ++cap) {
    SCOPED_TRACE(int{cap});
    MapContents* const map = kit.load(bytes, {.slot = cap, .priority_cap = cap});
    ASSERT_NE(map, nullptr);
    for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(map->entity(i) != nullptr, i >= 4 || i <= cap) << i;
    kit.unload(map);
  }
  EXPECT_EQ(kit.maps.statistics().above_cap, 3u + 2u + 1u);
  EXPECT_EQ(log.all(), "");
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapLeftOut, TakesNothingButMaps) {
  start();
  const Result<MapContents*> wrong = load_map_data(kit.maps, file->resource(), {.slot = 1});
  EXPECT_EQ(wrong.status().code, StatusCode::wrong_kind);
  EXPECT_EQ(wrong.status().detail, kind_of("ITYP"));
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapLeftOut, StartsOnceAndWhole) {
  test::BrokenContracts contracts;
  MapWorld maps;
  EXPECT_EQ(maps.init({}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  start();
  EXPECT_EQ(kit.maps.init(kit.map_config, kit.memory).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
}

// A start that fails leaves nobody who refers to what is not there.
TEST_F(MapLeftOut, DoesNotStayBehindAfterAFailedStart) {
  start();
  const ArchetypeListener nobody{.changed = [](void*, NameHash, Archetype*, Archetype*) {}, .user = nullptr};
  std::vector<ArchetypeListener> listeners;
  std::vector<char> users(ArchetypeStore::kMaxListeners);
  for (char& user : users) {
    ArchetypeListener one = nobody;
    one.user = &user;
    if (kit.archetypes.add_listener(one).ok()) listeners.push_back(one);
  }
  {
    MapWorld second;
    EXPECT_EQ(second.init(kit.map_config, kit.memory).code, StatusCode::out_of_slots);
  }
  for (const ArchetypeListener& one : listeners) kit.archetypes.remove_listener(one);
  EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok()) << "whoever is left in the world is alive";
  EXPECT_EQ(kit.account(), before);
  MapWorld representations[World::kMaxRepresentations];
  uint32_t taken = 0;
  for (MapWorld& maps : representations) taken += maps.init(kit.map_config, kit.memory).ok() ? 1 : 0;
  EXPECT_EQ(taken, World::kMaxRepresentations - 2) << "the scene, the kit's maps, and no dead one";
}

}  // namespace
}  // namespace meridian
