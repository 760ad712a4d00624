// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "meridian/search/search.h"
#include "unit/runtime/scene/world_parts.h"

// SG-4: what must not wait for the unlock is deferred, and comes into effect then, in order.

namespace meridian {
namespace {

using test::at_place;
using test::broke;
using test::BrokenContracts;
using test::CapturedLog;
using test::Witness;
using test::WorldParts;

TEST(WorldDefer, AppliesAtOnceWithoutALock) {
  WorldParts parts;
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.defer(add_change(house.handle())).ok());
  EXPECT_FALSE(house.container().is_none());
  EXPECT_EQ(parts.world.defer(add_change(house.handle())).code, StatusCode::in_use);  // what the change says
  EXPECT_EQ(parts.world.defer(move_change({.generation = 77, .slot = 5}, {})).code, StatusCode::not_found);
  EXPECT_EQ(parts.world.waiting(), 0u);
  EXPECT_EQ(parts.world.statistics().deferred, 0u);
  EXPECT_EQ(parts.world.statistics().stale, 1u);
}

TEST(WorldDefer, AppliesEachKindAtTheLastUnlock) {
  WorldParts parts;
  Entity &stays = parts.make({1, 0, 0}), &comes = parts.make({2, 0, 0}), &goes = parts.make({3, 0, 0}),
         &dies = parts.make({4, 0, 0});
  for (Entity* one : {&stays, &goes, &dies}) ASSERT_TRUE(parts.world.add(*one).ok());
  const EntityHandle dead = dies.handle();
  struct Called {
    World* world = nullptr;
    uint64_t value = 0;
    bool was_locked = true;
  } called;
  parts.world.lock();
  parts.graph.lock();  // a scan
  const auto before = test::seen_by_readers(parts.graph);
  stays.set_flags(BaseFlag::spawn_points);
  for (const WorldChange& change : {add_change(comes.handle()), remove_change(goes.handle()), destroy_change(dead),
                                    update_change(stays.handle()), move_change(stays.handle(), at_place({9, 8, 7})),
                                    alpha_change(stays.handle(), 33), mask_change(stays.handle(), 6),
                                    call_change(
                                        [](World&world, void*user, uint64_t value) {
                                          *static_cast<Called*>(user) = {&world, value, world.is_locked()};
                                        },
                                        &called, 42)}) {
    ASSERT_TRUE(parts.world.defer(change).ok());
  }
  EXPECT_EQ(parts.world.waiting(), 8u);
  EXPECT_EQ(parts.table.get(dead), &dies);  // alive until then
  EXPECT_EQ(stays.position(), (Vec3{1, 0, 0}));
  parts.world.unlock();
  EXPECT_EQ(parts.world.waiting(), 8u);  // the scan still reads
  EXPECT_EQ(parts.table.get(dead), &dies);
  EXPECT_EQ(test::seen_by_readers(parts.graph), before);
  parts.graph.unlock();  // ended by itself, and not through the world
  EXPECT_EQ(parts.world.waiting(), 0u);
  EXPECT_FALSE(comes.container().is_none());
  EXPECT_TRUE(goes.container().is_none());
  EXPECT_EQ(parts.table.get(dead), nullptr);
  EXPECT_EQ(parts.destroyed.size(), 1u);
  const EntityDesc desc = parts.desc_of(stays);
  EXPECT_EQ(desc.centre, (Vec3{9, 8, 7}));
  EXPECT_EQ(desc.alpha, 33);
  EXPECT_EQ(desc.mask, 6);
  EXPECT_NE(desc.flags & kDescSpawnPoints, 0u);
  EXPECT_EQ(called.world, &parts.world);
  EXPECT_EQ(called.value, 42u);
  EXPECT_FALSE(called.was_locked);
  EXPECT_EQ(parts.world.statistics().deferred, 8u);
  EXPECT_EQ(parts.world.statistics().most_waiting, 8u);
  EXPECT_EQ(parts.world.statistics().failed, 0u);
}

TEST(WorldDefer, KeepsTheOrder) {
  WorldParts parts;
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.add(house).ok());
  const EntityHandle handle = house.handle();
  parts.world.lock();
  for (const WorldChange& change :
       {move_change(handle, at_place({1, 0, 0})), move_change(handle, at_place({2, 0, 0})), remove_change(handle),
        add_change(handle), alpha_change(handle, 5), alpha_change(handle, 6)}) {
    ASSERT_TRUE(parts.world.defer(change).ok());
  }
  parts.world.unlock();
  EXPECT_EQ(parts.desc_of(house).centre, (Vec3{2, 0, 0}));
  EXPECT_EQ(parts.desc_of(house).alpha, 6);
  // The other way round nothing is left to change.
  parts.world.lock();
  ASSERT_TRUE(parts.world.defer(destroy_change(handle)).ok());
  ASSERT_TRUE(parts.world.defer(alpha_change(handle, 7)).ok());
  ASSERT_TRUE(parts.world.defer(destroy_change(handle)).ok());
  parts.world.unlock();
  EXPECT_EQ(parts.destroyed.size(), 1u);
  EXPECT_EQ(parts.world.statistics().stale, 2u);
  EXPECT_EQ(parts.world.statistics().failed, 0u);
}

TEST(WorldDefer, OfTheDeadChangesNobodyElse) {  // P079
  WorldParts parts;
  Entity& old = parts.make();
  ASSERT_TRUE(parts.world.add(old).ok());
  const EntityHandle stale = old.handle();
  parts.world.lock();
  ASSERT_TRUE(parts.world.defer(destroy_change(stale)).ok());
  ASSERT_TRUE(parts.world.defer(move_change(stale, at_place({100, 0, 0}))).ok());
  // Made in its place as soon as it is gone.
  struct Made {
    WorldParts* parts;
    Entity* entity = nullptr;
  } made{&parts};
  ASSERT_TRUE(parts.world
                  .defer(call_change(
                      [](World& world, void* user, uint64_t) {
                        auto* const self = static_cast<Made*>(user);
                        self->entity = &self->parts->make({5, 5, 5});
                        (void)world.add(*self->entity);
                      },
                      &made, 0))
                  .ok());
  ASSERT_TRUE(parts.world.defer(move_change(stale, at_place({200, 0, 0}))).ok());
  ASSERT_TRUE(parts.world.defer(remove_change(stale)).ok());
  parts.world.unlock();
  ASSERT_NE(made.entity, nullptr);
  EXPECT_EQ(parts.desc_of(*made.entity).centre, (Vec3{5, 5, 5}));
  EXPECT_EQ(parts.world.statistics().stale, 3u);
}

TEST(WorldDefer, AFullQueueSaysSoOnce) {
  CapturedLog log;
  WorldParts parts;
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.add(house).ok());
  for (int round = 0; round < 2; ++round) {
    parts.world.lock();
    for (uint32_t i = 0; i < 8; ++i)
      ASSERT_TRUE(parts.world.defer(alpha_change(house.handle(), static_cast<uint8_t>(i))).ok());
    const Status full = parts.world.defer(alpha_change(house.handle(), 99));
    EXPECT_EQ(full.code, StatusCode::out_of_slots);
    EXPECT_EQ(full.detail, 8u);
    EXPECT_EQ(parts.world.defer(destroy_change(house.handle())).code, StatusCode::out_of_slots);
    parts.world.unlock();
    EXPECT_EQ(parts.desc_of(house).alpha, 7);  // what fitted is applied, the rest is not
  }
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(parts.world.statistics().deferred, 16u);
}

TEST(WorldDefer, ChangesMayDeferChanges) {
  WorldParts parts;
  struct Chain {
    WorldParts* parts;
    std::vector<uint64_t> seen;
    Status last;
  } chain{&parts, {}, {}};
  constexpr auto kNext = [](World& world, void* user, uint64_t value) {
    auto* const self = static_cast<Chain*>(user);
    self->seen.push_back(value);
    if (value >= 3) return;
    // Behind what waits already, never in between.
    self->last = world.defer(call_change(
        [](World&, void* to, uint64_t v) { static_cast<Chain*>(to)->seen.push_back(v); }, user, value + 100));
  };
  parts.world.lock();
  for (uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(parts.world.defer(call_change(kNext, &chain, i)).ok());
  parts.world.unlock();
  EXPECT_EQ(chain.seen, (std::vector<uint64_t>{1, 2, 3, 101, 102}));
  EXPECT_EQ(parts.world.waiting(), 0u);
}

TEST(WorldDefer, OneThatDefersItselfForEverComesToAnEnd) {
  CapturedLog log;
  WorldParts parts;
  static uint32_t calls;
  calls = 0;
  struct Again {
    static void call(World& world, void* user, uint64_t value) {
      ++calls;
      (void)world.defer(call_change(&Again::call, user, value));
    }
  };
  parts.world.lock();
  ASSERT_TRUE(parts.world.defer(call_change(&Again::call, nullptr, 0)).ok());
  parts.world.unlock();
  EXPECT_EQ(calls, 8u);  // as many as fit
  EXPECT_EQ(parts.world.waiting(), 0u);
}

// A change may start a search: what comes behind it waits for the end of that.
TEST(WorldDefer, WhatIsBehindALockWaitsAgain) {
  WorldParts parts;
  Entity& house = parts.make();
  ASSERT_TRUE(parts.world.add(house).ok());
  BrokenContracts contracts;
  for (const bool by_world : {true, false}) {
    parts.world.lock();
    ASSERT_TRUE(parts.world.defer(alpha_change(house.handle(), 1)).ok());
    ASSERT_TRUE(parts.world
                    .defer(call_change(
                        [](World& world, void* user, uint64_t is_world) {
                          is_world != 0 ? world.lock() : static_cast<SceneGraph*>(user)->lock();
                        },
                        &parts.graph, by_world))
                    .ok());
    ASSERT_TRUE(parts.world.defer(alpha_change(house.handle(), 2)).ok());
    ASSERT_TRUE(parts.world.defer(move_change(house.handle(), at_place({3, 0, 0}))).ok());
    parts.world.unlock();
    EXPECT_TRUE(parts.world.is_locked());
    EXPECT_EQ(parts.desc_of(house).alpha, 1);
    EXPECT_EQ(parts.world.waiting(), 2u);
    ASSERT_TRUE(parts.world.defer(alpha_change(house.handle(), 3)).ok());  // behind them
    by_world ? parts.world.unlock() : parts.graph.unlock();
    EXPECT_FALSE(parts.world.is_locked());
    EXPECT_EQ(parts.desc_of(house).alpha, 3);
    EXPECT_EQ(parts.desc_of(house).centre, (Vec3{3, 0, 0}));
    EXPECT_EQ(parts.world.waiting(), 0u);
    ASSERT_TRUE(parts.world.move(house, {}).ok());
  }
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(parts.world.statistics().failed, 0u);
}

TEST(WorldDefer, FailuresAreCountedAndToldAndTheRestGoesOn) {
  CapturedLog log;
  WorldParts parts;
  Entity& house = parts.make({1, 0, 0});
  ASSERT_TRUE(parts.world.add(house).ok());
  parts.world.lock();
  ASSERT_TRUE(parts.world.defer(move_change(house.handle(), at_place({1e9f, 0, 0}))).ok());
  ASSERT_TRUE(parts.world.defer(alpha_change(house.handle(), 9)).ok());
  parts.world.unlock();
  EXPECT_EQ(parts.world.statistics().failed, 1u);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(parts.desc_of(house).centre, (Vec3{1, 0, 0}));
  EXPECT_EQ(parts.desc_of(house).alpha, 9);
}

// With several representations, changes wait until the last of them is unlocked.
TEST(WorldDefer, WaitsForAllRepresentations) {
  WorldParts parts;
  Witness second;
  ASSERT_TRUE(parts.world.add_representation(second).ok());
  Entity& house = parts.make();
  parts.world.lock();
  ASSERT_TRUE(parts.world.defer(add_change(house.handle())).ok());
  second.take();
  parts.world.unlock();
  EXPECT_EQ(second.take(), (std::vector<std::string>{"unlock", "add"}));
  second.begin_reading();
  ASSERT_TRUE(parts.world.defer(remove_change(house.handle())).ok());
  EXPECT_EQ(parts.world.waiting(), 1u);
  parts.world.lock();
  parts.world.unlock();
  EXPECT_EQ(parts.world.waiting(), 1u);
  second.end_reading();
  EXPECT_EQ(parts.world.waiting(), 0u);
  EXPECT_TRUE(house.container().is_none());
}

TEST(WorldDefer, WithoutAQueueNothingWaits) {
  CapturedLog log;
  WorldParts parts;
  World world;
  ASSERT_TRUE(world.init({.table = &parts.table, .deferred_changes = 0}, parts.memory).ok());
  Entity& house = parts.make();
  world.lock();
  EXPECT_EQ(world.defer(add_change(house.handle())).code, StatusCode::out_of_slots);
  world.unlock();
  EXPECT_TRUE(world.defer(add_change(house.handle())).ok());
}

// SG-4, SRCH-2: four threads search under the owner's lock, while the owner defers. For ThreadSanitizer above all.
TEST(WorldDefer, ReadersDoNotMeetWhoDefers) {
  SceneCapacities capacities = test::kSmallScene;
  WorldParts parts(capacities);
  parts.scene.set_search(&search_scene);
  std::vector<EntityHandle> cars;
  for (int i = 0; i < 100; ++i) {
    Entity& car = parts.make({float(i), 0, 0}, test::kCarClass);
    ASSERT_TRUE(parts.world.add(car).ok());
    cars.push_back(car.handle());
  }
  Random random(12);
  for (int round = 0; round < 20; ++round) {
    parts.world.lock();
    std::atomic<uint32_t> seen[4] = {};
    std::vector<std::thread> readers;
    for (auto& count : seen) {
      readers.emplace_back([&parts, &count] {
        const ContainerTable& table = parts.graph.containers();
        uint32_t found = 0;
        for (const uint32_t c : test::items_of(parts.graph.hierarchy())) {
          const DescLanes lanes = desc_lanes(table.views[c]);
          for (uint32_t slot = 0; slot < table.views[c].slots; ++slot)
            found += lanes.distance[slot] > 0 && parts.table.get(entity_in(table.views[c], slot)) != nullptr ? 1 : 0;
        }
        EntityHandle out[128];
        SearchResult result;
        const EntityQuery all{.volume = sphere_volume({50, 0, 0}, 1000)};
        const Status asked = parts.world.search_now(all, out, result);
        count = asked.ok() && result.found == found ? found : 0;
      });
    }
    for (int i = 0; i < 7; ++i) {
      const EntityHandle car = cars[random.below(static_cast<uint32_t>(cars.size()))];
      EXPECT_TRUE(parts.world.defer(move_change(car, at_place({random.between(-9.f, 9.f), 0, 0}))).ok());
    }
    EXPECT_TRUE(parts.world.defer(destroy_change(cars.back())).ok());
    for (std::thread& reader : readers) reader.join();
    for (const auto& count : seen) EXPECT_EQ(count, cars.size());
    parts.world.unlock();
    cars.pop_back();
  }
  EXPECT_EQ(parts.destroyed.size(), 20u);
}

}  // namespace
}  // namespace meridian
