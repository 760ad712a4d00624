// SPDX-License-Identifier: MIT
// Loading in steps (STR-4): how much a step does, what it takes, how a load is given up.
#include <gtest/gtest.h>

#include "unit/runtime/map/map_steps_kit.h"

namespace meridian {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the town and its names

// STR-4: steps of any size come to the same end as one go, which is a postponed load: nothing is seen before show().
TEST_F(MapSteps, OfAnySizeComeToTheSameEnd) {
  start();
  MapContents* const above_it = kit.load(*lods_file, kLods);
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    MapContents* const whole = at_once(*file, above_it);
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(whole->used_cooked_blocks(), file == &*linked);
    const std::string expected = test::picture(kit, *whole);
    const test::Account account = kit.account();
    kit.unload(whole);
    for (const uint32_t size : {1u, 7u, 64u, 399u, 1024u, 1000000u}) {
      SCOPED_TRACE(size);
      MapContents* const map = begin(*file, above_it);
      ASSERT_NE(map, nullptr);
      EXPECT_TRUE(map->is_loading());
      EXPECT_EQ(kit.maps.find(kTown), map);
      const uint32_t seen = kit.graph.hierarchy().count();
      ASSERT_NE(test::step_through(kit, *map, size,
                                   [&](uint32_t) {
                                     EXPECT_EQ(kit.graph.hierarchy().count(), seen) << "nothing is seen yet";
                                     EXPECT_EQ(map->show().code, StatusCode::in_use);
                                   }),
                nullptr);
      EXPECT_FALSE(map->is_shown());
      EXPECT_EQ(kit.graph.hierarchy().count(), seen);
      EXPECT_EQ(test::picture(kit, *map), expected);
      EXPECT_EQ(kit.account(), account) << "scratch was given back";
      EXPECT_TRUE(step_map_load(kit.maps, *map, size).value().done) << "it stays done";
      EXPECT_TRUE(map->show().ok());
      EXPECT_TRUE(kit.is_in_world(*map->entity(0)));
      kit.unload(map);
    }
  }
  kit.unload(above_it);
  EXPECT_EQ(kit.account(), before);
}

// STR-4: no step makes, tells of, or extends more entities than it may; what is not cut has a step to itself. Told by
// what comes to be, not by what the step says.
TEST_F(MapSteps, HandleNoMoreThanTheyMay) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    for (const uint32_t size : {5u, 50u, 320u}) {
      SCOPED_TRACE(size);
      MapContents* const map = begin(*file, nullptr);
      uint32_t made = 0, doors = 0, interiors = 0;
      uint64_t told = kit.record.created;
      for (bool done = false; !done;) {
        const Result<MapLoadProgress> step = step_map_load(kit.maps, *map, size);
        ASSERT_TRUE(step.ok());
        done = step.value().done;
        const uint32_t now = map->created(), doors_now = kit.doors.pool().used();
        const uint32_t interiors_now = kit.maps.interior_count();
        const uint32_t inside = 5;  // of a shop, itself among them
        EXPECT_LE(now - made, size);
        EXPECT_LE(doors_now - doors, size);
        EXPECT_LE(interiors_now - interiors, std::max(1u, size / inside));
        EXPECT_LE(kit.record.created - told, std::max(size, inside));
        made = now;
        doors = doors_now;
        interiors = interiors_now;
        told = kit.record.created;
      }
      EXPECT_EQ(interiors, 2u);
      EXPECT_GT(made, kEntities / 2);
      kit.unload(map);
      EXPECT_EQ(kit.account(), before);
    }
  }
}

// STR-4: with the linker's blocks, a step of 320 and more handles what it may and no more, by its own count too.
TEST_F(MapSteps, SayWhatTheyHandled) {
  start();
  MapContents* const map = begin(*linked, nullptr);
  uint64_t handled = 0;
  for (bool done = false; !done;) {
    const Result<MapLoadProgress> step = step_map_load(kit.maps, *map, 320);
    ASSERT_TRUE(step.ok());
    done = step.value().done;
    EXPECT_LE(step.value().handled, 320u);
    EXPECT_TRUE(done || step.value().handled > 0) << "each step comes further";
    handled += step.value().handled;
  }
  // Looked up, hashed, made, placed, tagged, bound inside, told (and two lists), asked for interiors; not bound
  // outside.
  const uint64_t once = town.entities.size();
  EXPECT_GE(handled, 8 * once);
  EXPECT_LE(handled, 10 * once);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// STR-4: scratch is taken once, at the beginning. Steps allocate what the map keeps: entities, links, interiors.
TEST_F(MapSteps, AllocateNoMoreForBeingMany) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    uint64_t calls[2] = {};
    for (const uint32_t size : {1000000u, 3u}) {
      MapContents* const map = begin(*file, nullptr);
      const uint64_t at_first = kit.memory.calls();
      ASSERT_NE(test::step_through(kit, *map, size, [](uint32_t) {}), nullptr);
      calls[size == 3 ? 1 : 0] = kit.memory.calls() - at_first;
      kit.unload(map);
    }
    EXPECT_EQ(calls[0], calls[1]);
  }
  EXPECT_EQ(kit.account(), before);
}

// STR-4, CORE-11: a load can be given up after any step; nothing is left, and the parent has no children.
TEST_F(MapSteps, CanBeGivenUpAtAnyTime) {
  start();
  MapContents* const above_it = kit.load(*lods_file, kLods);
  const test::Account at_first = kit.account();
  const std::string parent_at_first = test::picture(kit, *above_it);
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    bool was_done = false;
    for (uint32_t steps = 0; !was_done; ++steps) {
      SCOPED_TRACE(steps);
      MapContents* const map = begin(*file, above_it);
      for (uint32_t i = 0; i < steps && !was_done; ++i) was_done = step_map_load(kit.maps, *map, 29).value().done;
      kit.unload(map);
      EXPECT_EQ(kit.account(), at_first);
      EXPECT_EQ(kit.maps.find(kTown), nullptr);
      EXPECT_EQ(kit.record.alive.size(), above_it->created());
      EXPECT_EQ(test::picture(kit, *above_it), parent_at_first);
      ASSERT_LT(steps, 10000u);
    }
  }
  kit.unload(above_it);
}

// STR-4, CORE-11: whichever allocation of whichever step fails, the step says so, and the map is gone as if it had
// never begun.
TEST_F(MapSteps, ThatFailLeaveNothing) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    uint32_t refused = 0;
    for (int after = 0; after < 100; ++after) {
      SCOPED_TRACE(after);
      kit.memory.fail_after(after);
      Result<MapContents*> begun = begin_map_load(kit.maps, file->resource(), {.slot = kTown, .dependencies = kTypes});
      Status failed = begun.ok() ? Status{} : begun.status();
      while (failed.ok() && begun.value()->is_loading()) {
        const Result<MapLoadProgress> step = step_map_load(kit.maps, *begun.value(), 50);
        if (!step.ok()) failed = step.status();
      }
      kit.memory.fail_after(-1);
      if (failed.ok()) {
        kit.unload(begun.value());
        break;
      }
      ++refused;
      EXPECT_EQ(failed.code, StatusCode::out_of_memory) << failed.message;
      EXPECT_EQ(kit.account(), before);
      EXPECT_EQ(kit.maps.find(kTown), nullptr);
      EXPECT_TRUE(kit.record.alive.empty());
    }
    EXPECT_GT(refused, 3u);
    EXPECT_EQ(kit.account(), before);
  }
}

TEST_F(MapSteps, BeginOnceAndAfterTheirParent) {
  start();
  MapContents* const map = begin(*plain, nullptr);
  for (const bool in_steps : {true, false}) {
    const MapPlacement same{.slot = kTown, .dependencies = kTypes};
    const MapPlacement child{.slot = kOther, .dependencies = kTypes, .parent = map};
    for (const MapPlacement& at : {same, child}) {
      const Result<MapContents*> refused =
          in_steps ? begin_map_load(kit.maps, plain->resource(), at) : load_map_data(kit.maps, plain->resource(), at);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.status().code, StatusCode::in_use);
    }
  }
  MapContents* const other = kit.load(*other_file, kOther);
  EXPECT_EQ(other->bind_parent(*map).code, StatusCode::in_use) << "a parent has to be there";
  EXPECT_EQ(other->parent(), nullptr);
  EXPECT_EQ(begin_map_load(kit.maps, props_file->resource(), {.slot = 9}).status().code, StatusCode::wrong_kind);
  kit.unload(other);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

}  // namespace
}  // namespace meridian
