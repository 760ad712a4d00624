// SPDX-License-Identifier: MIT
#include "meridian/scene/world.h"

#include <gtest/gtest.h>

#include <limits>

#include "unit/runtime/scene/world_parts.h"

// SG-1 and SG-8: what is done with the world goes to the representations that take part in it.

namespace meridian {
namespace {

using test::at_place;
using test::broke;
using test::BrokenContracts;
using test::Witness;
using test::WorldParts;
using Words = std::vector<std::string>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinite = std::numeric_limits<float>::infinity();

TEST(World, AsksTheRepresentationsThatHandleTypeAndOperation) {  // SG-1
  WorldParts parts;
  Witness houses(type_bit(EntityClass::building), kAllOperations);
  Witness counts(kAllTypes, operation_bit(WorldOperation::add) | operation_bit(WorldOperation::remove));
  ASSERT_TRUE(parts.world.add_representation(houses).ok());
  ASSERT_TRUE(parts.world.add_representation(counts).ok());
  Entity &house = parts.make({1, 2, 3}), &car = parts.make({4, 5, 6}, test::kCarClass);
  ASSERT_TRUE(parts.world.add(house).ok());
  ASSERT_TRUE(parts.world.add(car).ok());
  EXPECT_EQ(houses.take(), (Words{"add"}));
  EXPECT_EQ(counts.take(), (Words{"add", "add"}));
  EXPECT_TRUE(parts.graph.is_used(parts.slot_of(house)));
  EXPECT_TRUE(parts.graph.is_used(parts.slot_of(car)));
  ASSERT_TRUE(parts.world.move(house, at_place({7, 8, 9})).ok());
  ASSERT_TRUE(parts.world.update(car).ok());
  EXPECT_EQ(houses.take(), (Words{"update"}));
  EXPECT_EQ(houses.held.at(&house), (Vec3{7, 8, 9}));
  EXPECT_EQ(counts.take(), Words{});
  EXPECT_EQ(parts.desc_of(house).centre, (Vec3{7, 8, 9}));
  parts.world.pre_scan();
  EXPECT_EQ(houses.take(), (Words{"pre_scan"}));
  EXPECT_EQ(counts.take(), Words{});
  parts.world.lock();
  parts.world.unlock();
  EXPECT_EQ(houses.take(), (Words{"lock", "unlock"}));
  EXPECT_EQ(counts.take(), (Words{"lock", "unlock"}));
  ASSERT_TRUE(parts.world.remove(car).ok());
  EXPECT_EQ(houses.take(), Words{});
  EXPECT_EQ(counts.take(), (Words{"remove"}));
  parts.world.remove_representation(counts);
  ASSERT_TRUE(parts.world.remove(house).ok());
  EXPECT_EQ(houses.take(), (Words{"remove"}));
  EXPECT_EQ(counts.take(), Words{});
}

TEST(World, AddsToAllOrToNone) {  // SG-1
  WorldParts parts(test::kSmallScene, /*has_scene=*/false);
  Witness first, second, third;
  for (Witness* one : {&first, &second, &third}) ASSERT_TRUE(parts.world.add_representation(*one).ok());
  Entity& house = parts.make();
  third.fails = true;
  const Status failed = parts.world.add(house);
  EXPECT_EQ(failed.code, Witness::kFailed.code);
  EXPECT_EQ(failed.detail, 7u);
  EXPECT_TRUE(first.held.empty());
  EXPECT_TRUE(second.held.empty());
  EXPECT_TRUE(third.held.empty());
  EXPECT_EQ(first.take(), (Words{"add", "remove"}));
  EXPECT_EQ(third.take(), (Words{"add"}));
  third.fails = false;
  ASSERT_TRUE(parts.world.add(house).ok());
  EXPECT_EQ(parts.world.add(house).code, StatusCode::in_use);
  for (Witness* one : {&first, &second, &third}) EXPECT_EQ(one->held.size(), 1u);
  second.fails = true;  // what one cannot remove, the others do
  EXPECT_EQ(parts.world.remove(house).code, Witness::kFailed.code);
  EXPECT_TRUE(first.held.empty());
  EXPECT_TRUE(third.held.empty());
}

// A witness before the scene took it in, and gives it back when the scene has no room.
TEST(World, AFullSceneLeavesNothingBehind) {  // SG-1
  test::CapturedLog log;
  SceneCapacities none = test::kSmallScene;
  none.descriptors = 1;
  WorldParts parts(none, /*has_scene=*/false);
  Witness first;
  ASSERT_TRUE(parts.world.add_representation(first).ok());
  ASSERT_TRUE(parts.world.add_representation(parts.scene).ok());
  Entity& house = parts.make();
  EXPECT_FALSE(parts.world.add(house).ok());
  EXPECT_TRUE(first.held.empty());
  EXPECT_TRUE(house.container().is_none());
  EXPECT_EQ(parts.graph.used_containers(), 0u);
  EXPECT_EQ(parts.world.remove(house).code, StatusCode::not_found);
  EXPECT_EQ(parts.world.update(house).code, StatusCode::not_found);
}

// What failed somewhere is as it was everywhere: in the entity, and in every representation.
TEST(World, ChangesThatFailAreUndone) {  // SG-1
  WorldParts parts;
  Witness second;
  ASSERT_TRUE(parts.world.add_representation(second).ok());
  Entity& house = parts.make({1, 2, 3});
  ASSERT_TRUE(parts.world.add(house).ok());
  const EntityDesc before = parts.desc_of(house);
  second.fails = true;
  EXPECT_FALSE(parts.world.move(house, at_place({50, 0, 0})).ok());
  EXPECT_EQ(house.position(), (Vec3{1, 2, 3}));
  test::expect_same(parts.desc_of(house), before);
  EXPECT_FALSE(parts.world.set_alpha(house, 17).ok());
  EXPECT_EQ(house.lod().alpha, 255);
  test::expect_same(parts.desc_of(house), before);
  EXPECT_FALSE(parts.world.set_visibility_mask(house, 2).ok());
  EXPECT_EQ(house.visibility_mask(), kAllPhasesMask);
  test::expect_same(parts.desc_of(house), before);
  second.fails = false;
  ASSERT_TRUE(parts.world.set_alpha(house, 17).ok());
  ASSERT_TRUE(parts.world.set_visibility_mask(house, 2).ok());
  EXPECT_EQ(parts.desc_of(house).alpha, 17);
  EXPECT_EQ(parts.desc_of(house).mask, 2);
  EXPECT_EQ(second.alpha[&house], 17);
  EXPECT_EQ(second.mask[&house], 2);
}

TEST(World, RefusesWhatIsNotFiniteOrTooFarOut) {  // SG-8, P078
  WorldParts parts;
  Entity& house = parts.make({10, 20, 30});
  ASSERT_TRUE(parts.world.add(house).ok());
  parts.graph.lock();
  parts.graph.unlock();
  const auto before = test::seen_by_readers(parts.graph);
  std::vector<Transform> bad;
  for (const float v : {kNan, kInfinite, -kInfinite}) {
    for (Vec4 Transform::*const column : {&Transform::x, &Transform::y, &Transform::z, &Transform::position}) {
      for (float Vec4::*const part : {&Vec4::x, &Vec4::y, &Vec4::z, &Vec4::w}) {
        bad.push_back(at_place({10, 20, 30}));
        bad.back().*column.*part = v;
      }
    }
  }
  for (const float far : {16000.002f, -16001.0f, 3e38f, -3e38f}) {
    bad.push_back(at_place({far, 0, 0}));
    bad.push_back(at_place({0, far, 0}));
    bad.push_back(at_place({0, 0, far}));
  }
  BrokenContracts contracts;
  for (size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(parts.world.move(house, bad[i]).code, StatusCode::bad_value);
    EXPECT_EQ(house.position(), (Vec3{10, 20, 30}));
    EXPECT_EQ(parts.world.defer(move_change(house.handle(), bad[i])).code, StatusCode::bad_value);
  }
  EXPECT_EQ(contracts.count(), 0u);  // bad data, not a broken contract
  EXPECT_EQ(test::seen_by_readers(parts.graph), before);
  for (const float edge : {16000.0f, -16000.0f}) {
    EXPECT_TRUE(parts.world.move(house, at_place({edge, edge, edge})).ok());
  }
  Entity& far = parts.make({0, 16001, 0});
  EXPECT_EQ(parts.world.add(far).code, StatusCode::bad_value);
  EXPECT_TRUE(far.container().is_none());
}

TEST(World, HasNoMoreThanFourRepresentations) {  // SG-1
  WorldParts parts(test::kSmallScene, /*has_scene=*/false);
  Witness some[5];
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(parts.world.add_representation(some[i]).ok());
  EXPECT_EQ(parts.world.add_representation(some[4]).code, StatusCode::out_of_slots);
  parts.world.remove_representation(some[1]);
  EXPECT_TRUE(parts.world.add_representation(some[4]).ok());
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.add(house).ok());
  EXPECT_TRUE(some[1].held.empty());
  EXPECT_EQ(some[4].held.size(), 1u);
}

TEST(World, SearchesAllAndCountsAll) {  // SG-1
  WorldParts parts(test::kSmallScene, /*has_scene=*/false);
  Witness houses(type_bit(EntityClass::building), kAllOperations), cars(type_bit(test::kCarClass), kAllOperations);
  Witness deaf(kAllTypes, operation_bit(WorldOperation::add));
  for (Witness* one : {&houses, &cars, &deaf}) ASSERT_TRUE(parts.world.add_representation(*one).ok());
  Entity &a = parts.make(), &b = parts.make({}, test::kCarClass), &c = parts.make({}, test::kCarClass);
  for (Entity* one : {&a, &b, &c}) ASSERT_TRUE(parts.world.add(*one).ok());
  EntityQuery query{.volume = sphere_volume({0, 0, 0}, 1)};
  EntityHandle out[2];
  SearchResult result{.found = 99, .stored = 99};
  ASSERT_TRUE(parts.world.search_now(query, out, result).ok());
  EXPECT_EQ(result.found, 3u);
  EXPECT_EQ(result.stored, 2u);
  EXPECT_EQ(out[0], a.handle());
  query.volume = sphere_volume({kNan, 0, 0}, 1);
  houses.take();
  EXPECT_EQ(parts.world.search_now(query, out, result).code, StatusCode::bad_value);
  EXPECT_EQ(result.found, 0u);
  EXPECT_EQ(houses.take(), Words{});
  query.volume = sphere_volume({0, 0, 0}, 1);
  cars.fails = true;
  EXPECT_EQ(parts.world.search_now(query, out, result).code, Witness::kFailed.code);
}

TEST(World, IsLockedWhileAnybodyReads) {  // SG-4
  WorldParts parts;
  Witness other;
  ASSERT_TRUE(parts.world.add_representation(other).ok());
  Entity& house = parts.make();
  EXPECT_FALSE(parts.world.is_locked());
  BrokenContracts contracts;
  const auto expect_refused = [&] {
    EXPECT_TRUE(parts.world.is_locked());
    for (const Status& s : {parts.world.add(house), parts.world.remove(house), parts.world.update(house),
                            parts.world.move(house, {}), parts.world.destroy(house), parts.world.set_alpha(house, 1),
                            parts.world.set_visibility_mask(house, 1), parts.world.rebase({1, 0, 0})}) {
      EXPECT_EQ(s.code, StatusCode::in_use);
    }
    EXPECT_TRUE(broke(contracts, 8));
    parts.world.pre_scan();
    EXPECT_TRUE(other.take().empty());
  };
  parts.world.lock();
  parts.world.lock();
  EXPECT_TRUE(parts.graph.is_locked());
  EXPECT_EQ(other.take(), (Words{"lock"}));
  expect_refused();
  parts.world.unlock();
  expect_refused();
  parts.world.unlock();
  EXPECT_EQ(other.take(), (Words{"unlock"}));
  EXPECT_FALSE(parts.world.is_locked());
  parts.graph.lock();  // as a scan does
  expect_refused();
  parts.graph.unlock();
  other.begin_reading();
  expect_refused();
  other.end_reading();
  EXPECT_TRUE(house.container().is_none());
  EXPECT_EQ(parts.world.epoch(), 0u);
  ASSERT_TRUE(parts.world.add(house).ok());
  parts.world.lock();
  parts.world.unlock();
  parts.world.unlock();  // once too often
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(parts.world.is_locked());
}

TEST(World, DestroysThroughItsHost) {  // SG-4
  WorldParts parts;
  Entity &a = parts.make(), &b = parts.make();
  const EntityHandle of_a = a.handle(), of_b = b.handle();
  ASSERT_TRUE(parts.world.add(a).ok());
  ASSERT_TRUE(parts.world.destroy(a).ok());
  ASSERT_TRUE(parts.world.destroy(b).ok());  // was not in the world
  EXPECT_EQ(parts.destroyed, (std::vector<const Entity*>{&a, &b}));
  EXPECT_EQ(parts.table.get(of_a), nullptr);
  EXPECT_EQ(parts.table.get(of_b), nullptr);
  EXPECT_EQ(parts.graph.used_containers(), 0u);

  World plain;
  ASSERT_TRUE(plain.init({.table = &parts.table}, parts.memory).ok());
  Entity& c = parts.make();
  EXPECT_EQ(plain.destroy(c).code, StatusCode::in_use);
  EXPECT_NE(parts.table.get(c.handle()), nullptr);
}

// One that is in other representations than the scene leaves those, too.
TEST(World, DestroyingLeavesEveryRepresentation) {  // SG-1
  WorldParts parts(test::kSmallScene, /*has_scene=*/false);
  Witness only;
  ASSERT_TRUE(parts.world.add_representation(only).ok());
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.add(house).ok());
  ASSERT_TRUE(parts.world.destroy(house).ok());
  EXPECT_TRUE(only.held.empty());
  EXPECT_EQ(parts.destroyed.size(), 1u);
  Entity& stuck = parts.make();
  ASSERT_TRUE(parts.world.add(stuck).ok());
  only.fails = true;
  EXPECT_EQ(parts.world.destroy(stuck).code, Witness::kFailed.code);
  EXPECT_EQ(parts.destroyed.size(), 1u);
}

TEST(World, InitChecksWhatItIsGiven) {  // SG-8
  WorldParts parts;
  const auto init = [&parts](WorldConfig config) {
    World world;
    return world.init(config, parts.memory).code;
  };
  WorldConfig config{.table = &parts.table};
  EXPECT_EQ(init(config), StatusCode::ok);
  for (const float extent : {0.0f, -1.0f, kNan, kInfinite, 65536.01f}) {
    config.extent = extent;
    EXPECT_EQ(init(config), StatusCode::bad_value);
  }
  config.extent = 65536;
  EXPECT_EQ(init(config), StatusCode::ok);
  config.deferred_changes = 0;
  EXPECT_EQ(init(config), StatusCode::ok);
  config.deferred_changes = 16;
  parts.memory.fail_after(0);
  EXPECT_EQ(init(config), StatusCode::out_of_memory);
  parts.memory.fail_after(-1);
  BrokenContracts contracts;
  EXPECT_EQ(init({}), StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(parts.world.init(config, parts.memory).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
}

// A world may end before its representations, and they before their scene: what is unlocked later tells nobody.
TEST(World, MayEndBeforeItsRepresentations) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  EntityTable table;
  EntityClassRegistry classes;
  ASSERT_TRUE(table.init({.groups = 1, .singles = 1}, memory).ok());
  SceneGraph graph;
  ASSERT_TRUE(graph.init(test::kSmallScene, memory, &tracker).ok());
  {
    SceneRepresentation scene;
    ASSERT_TRUE(scene.init({.graph = &graph, .table = &table, .classes = &classes}).ok());
    {
      auto world = std::make_unique<World>();
      ASSERT_TRUE(world->init({.table = &table}, memory).ok());
      ASSERT_TRUE(world->add_representation(scene).ok());
    }
    graph.lock();
    graph.unlock();
  }
  graph.lock();
  graph.unlock();
  EXPECT_EQ(graph.statistics().locks, 2u);
}

// Or they before it: it asks nobody who is gone.
TEST(World, OutlivesItsRepresentations) {
  WorldParts parts;
  Entity& box = parts.make({10, 0, 0});
  {
    Witness first(kAllTypes, kAllOperations), second(kAllTypes, kAllOperations);
    ASSERT_TRUE(parts.world.add_representation(first).ok());
    ASSERT_TRUE(parts.world.add_representation(second).ok());
  }
  EXPECT_TRUE(parts.world.add(box).ok());
  EXPECT_TRUE(parts.world.remove(box).ok());
}

// --- the origin ------------------------------------------------------------------------------------------

TEST(World, RebaseTellsEverybodyAndCounts) {  // SG-8
  WorldParts parts;
  Witness other(0, 0);  // takes part in nothing else
  ASSERT_TRUE(parts.world.add_representation(other).ok());
  EXPECT_EQ(parts.world.epoch(), 0u);
  ASSERT_TRUE(parts.world.rebase({100, -50, 7}).ok());
  EXPECT_EQ(parts.world.epoch(), 1u);
  EXPECT_EQ(parts.world.origin(), (WorldOrigin{100, -50, 7}));
  EXPECT_EQ(other.take(), (Words{"rebase"}));
  EXPECT_EQ(other.moved_by, (Vec3{100, -50, 7}));
  EXPECT_EQ(other.origin_then, (WorldOrigin{100, -50, 7}));
  ASSERT_TRUE(parts.world.rebase({0.1f, 0, 0}).ok());
  EXPECT_EQ(parts.world.origin().x, 100 + double{0.1f});  // kept in double
  EXPECT_EQ(parts.world.epoch(), 2u);
  other.take();
  for (const Vec3& bad : {Vec3{kNan, 0, 0}, Vec3{0, kInfinite, 0}, Vec3{0, 0, -kInfinite}}) {
    EXPECT_EQ(parts.world.rebase(bad).code, StatusCode::bad_value);
  }
  EXPECT_EQ(parts.world.epoch(), 2u);
  EXPECT_EQ(parts.world.origin().x, 100 + double{0.1f});
  EXPECT_TRUE(other.take().empty());
}

TEST(World, ExtentCountsFromTheFirstOrigin) {  // SG-8
  WorldParts parts;
  ASSERT_TRUE(parts.world.rebase({1000, 0, 0}).ok());
  Entity& house = parts.make({17000, 0, 0});
  EXPECT_TRUE(parts.world.add(house).ok());  // 16 000 m on the map
  EXPECT_EQ(parts.world.move(house, at_place({17001, 0, 0})).code, StatusCode::bad_value);
  EXPECT_TRUE(parts.world.move(house, at_place({-15000, 0, 0})).ok());
  EXPECT_EQ(parts.world.move(house, at_place({-15001, 0, 0})).code, StatusCode::bad_value);
}

}  // namespace
}  // namespace meridian
