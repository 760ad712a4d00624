// SPDX-License-Identifier: MIT
// What may happen between two steps of a load (STR-4) without any difference at the end.
#include <gtest/gtest.h>

#include <functional>

#include "unit/runtime/map/map_steps_kit.h"

namespace meridian {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the town and its names

struct Event {
  const char* name;
  std::function<void(MapSteps&)> prepare, happen, undo;
  /// Of what was loaded at once, where that differs from having happened before.
  std::function<void(MapSteps&, MapContents&)> afterwards;
};

void destroy_some(MapSteps& t, MapContents& map) {
  for (const uint32_t i : {0u, 22u, 100u, 399u, 400u}) {
    const Status done = map.destroy_entity(i);
    EXPECT_TRUE(done.ok()) << done.message;
    EXPECT_EQ(map.destroy_entity(i).code, StatusCode::not_found) << "it is gone";
    EXPECT_EQ(map.entity(i), nullptr);
  }
  EXPECT_EQ(t.kit.maps.find(kTown), &map);
}

const Event kEvents[] = {
    {"an override comes", [](MapSteps&) {}, [](MapSteps& t) { t.kit.types(*t.above_file, 4, 1); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.close_types(4).ok()); }, nullptr},
    {"an override goes", [](MapSteps& t) { t.kit.types(*t.above_file, 4, 1); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.withdraw_types(4).ok()); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.close_types(4).ok()); }, nullptr},
    {"types come that were missing", [](MapSteps&) {}, [](MapSteps& t) { t.kit.types(*t.later_file, 5); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.close_types(5).ok()); }, nullptr},
    {"types go", [](MapSteps& t) { t.kit.types(*t.later_file, 5); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.withdraw_types(5).ok()); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.close_types(5).ok()); }, nullptr},
    {"the origin moves", [](MapSteps&) {},
     [](MapSteps& t) {
       EXPECT_TRUE(t.kit.world.rebase({-500, 250, 3}).ok());
     },
     [](MapSteps& t) {
       EXPECT_TRUE(t.kit.world.rebase({500, -250, -3}).ok());
     },
     nullptr},
    {"the clock strikes", [](MapSteps&) {}, [](MapSteps& t) { EXPECT_TRUE(t.kit.scene.set_hour(23).ok()); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.scene.set_hour(12).ok()); }, nullptr},
    {"the parent leaves", [](MapSteps& t) { t.kit.load(*t.lods_file, kLods); },
     [](MapSteps& t) { t.kit.unload(t.parent()); }, [](MapSteps&) {}, nullptr},
    {"a parent comes", [](MapSteps&) {},
     [](MapSteps& t) {
       t.kit.load(*t.lods_file, kLods);
       EXPECT_TRUE(t.kit.maps.find(kTown)->bind_parent(*t.parent()).ok());
     },
     [](MapSteps& t) { t.kit.unload(t.parent()); }, nullptr},
    {"the parent becomes another", [](MapSteps& t) { t.kit.load(*t.other_file, kLods); },
     [](MapSteps& t) {
       t.kit.unload(t.parent());
       t.kit.load(*t.lods_file, kLods);
       EXPECT_TRUE(t.kit.maps.find(kTown)->bind_parent(*t.parent()).ok());
     },
     [](MapSteps& t) { t.kit.unload(t.parent()); }, nullptr},
    {"entities of the parent are destroyed", [](MapSteps& t) { t.kit.load(*t.lods_file, kLods); },
     [](MapSteps& t) { EXPECT_TRUE(t.parent()->destroy_entity(1).ok()); },
     [](MapSteps& t) { t.kit.unload(t.parent()); }, nullptr},
    {"distances of the parent change", [](MapSteps& t) { t.kit.load(*t.loose_file, kLods); },
     [](MapSteps& t) { t.kit.types(*t.farther_file, 7, 1); },
     [](MapSteps& t) {
       t.kit.unload(t.parent());
       EXPECT_TRUE(t.kit.archetypes.close_types(7).ok());
     },
     nullptr},
    {"types of an interior come", [](MapSteps&) {}, [](MapSteps& t) { t.kit.types(*t.inner_file, 8); },
     [](MapSteps& t) { EXPECT_TRUE(t.kit.archetypes.close_types(8).ok()); }, nullptr},
    {"entities are destroyed", [](MapSteps&) {},
     [](MapSteps& t) {
       if (t.kit.maps.find(kTown)->is_loading()) destroy_some(t, *t.kit.maps.find(kTown));
     },
     [](MapSteps&) {}, destroy_some},
    {"other maps come and go", [](MapSteps& t) { t.kit.load(*t.other_file, kOther); },
     [](MapSteps& t) {
       t.kit.unload(t.kit.maps.find(kOther));
       t.kit.unload(t.kit.load(*t.linked, kOther + 1));
       t.kit.load(*t.lods_file, kOther + 2);
     },
     [](MapSteps& t) { t.kit.unload(t.kit.maps.find(kOther + 2)); }, nullptr},
    {"memory of descriptors is made compact", [](MapSteps& t) { t.kit.load(*t.other_file, kOther); },
     [](MapSteps& t) {
       t.kit.unload(t.kit.maps.find(kOther));
       for (int i = 0; i < 20; ++i) t.kit.world.pre_scan();
     },
     [](MapSteps&) {}, nullptr},
};

class MapStepsBetween : public MapSteps, public testing::WithParamInterface<size_t> {};

// STR-4, ARCH-7, ENTY-10, MAP-4, SG-8: whatever happens after whichever step, the map is at the end as if it were
// loaded at once then.
TEST_P(MapStepsBetween, AnythingMayHappen) {
  start();
  const Event& event = kEvents[GetParam()];
  SCOPED_TRACE(event.name);
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    SCOPED_TRACE(file == &*linked ? "linked" : "plain");
    // Steps of 83 end in the middle of every pass, at some time.
    bool was_done = false;
    for (uint32_t when = 1; !was_done; ++when) {
      SCOPED_TRACE(when);
      ASSERT_LT(when, 2000u);
      event.prepare(*this);
      MapContents* map = begin(*file, parent());
      was_done = true;
      map = test::step_through(kit, *map, 83, [&](uint32_t step) {
        if (step != when) return;
        was_done = false;
        event.happen(*this);
      });
      ASSERT_NE(map, nullptr);
      if (was_done) event.happen(*this);  // it was over before
      const std::string in_steps = was_done ? "" : test::picture(kit, *map);
      kit.unload(map);
      if (was_done) {
        event.undo(*this);
        EXPECT_GT(when, 30u) << "there were steps in all passes";
        break;
      }
      map = at_once(*file, parent());
      ASSERT_NE(map, nullptr);
      if (event.afterwards != nullptr) event.afterwards(*this, *map);
      ASSERT_EQ(in_steps, test::picture(kit, *map));
      kit.unload(map);
      event.undo(*this);
      EXPECT_EQ(kit.account(), before);
    }
  }
  EXPECT_TRUE(kit.record.alive.empty());
}

INSTANTIATE_TEST_SUITE_P(Events, MapStepsBetween, testing::Range(size_t{0}, std::size(kEvents)));

// STR-4, SG-4: a locked world keeps no step from its work; what must begin anew waits for the unlock, and says so.
TEST_F(MapSteps, GoOnWhileTheWorldIsLocked) {
  start();
  for (const test::MapFile* const file : {&*plain, &*linked}) {
    MapContents* map = begin(*file, nullptr);
    kit.world.lock();
    ASSERT_NE(test::step_through(kit, *map, 83, [](uint32_t) {}), nullptr);
    const std::string locked = test::picture(kit, *map);
    EXPECT_EQ(unload_map_data(kit.maps, *map).code, StatusCode::in_use);
    kit.world.unlock();
    EXPECT_EQ(test::picture(kit, *map), locked);
    kit.unload(map);
    map = at_once(*file, nullptr);
    EXPECT_EQ(test::picture(kit, *map), locked);
    kit.unload(map);

    for (uint32_t when = 1; when < 60; ++when) {
      SCOPED_TRACE(when);
      map = begin(*file, nullptr);
      bool waited = false;
      for (uint32_t i = 0; i < when; ++i) ASSERT_TRUE(step_map_load(kit.maps, *map, 83).ok());
      const bool was_loading = map->is_loading();
      kit.world.lock();
      kit.types(*above_file, 4, 1);  // lamps are others now
      const test::Account at_first = kit.account();
      for (int i = 0; i < 3; ++i) {
        const Result<MapLoadProgress> step = step_map_load(kit.maps, *map, 83);
        if (step.ok()) continue;
        EXPECT_EQ(step.status().code, StatusCode::in_use);
        EXPECT_EQ(kit.account(), at_first) << "a step that is refused changes nothing";
        waited = true;
      }
      kit.world.unlock();
      EXPECT_TRUE(!was_loading || waited || when < 10);
      ASSERT_NE(test::step_through(kit, *map, 83, [](uint32_t) {}), nullptr);
      const std::string in_steps = test::picture(kit, *map);
      kit.unload(map);
      map = at_once(*file, nullptr);
      EXPECT_EQ(test::picture(kit, *map), in_steps);
      kit.unload(map);
      ASSERT_TRUE(kit.archetypes.close_types(4).ok());
      EXPECT_EQ(kit.account(), before);
    }
  }
}

// STR-4: what others publish is no reason to begin anew.
TEST_F(MapSteps, BeginAnewOnlyForNamesThatTheyUse) {
  start();
  test::TypesItem many;
  for (int i = 0; i < 900; ++i) many.base(hash_name(("strange_" + std::to_string(i)).c_str()));
  const test::TypesFile many_file = many.finish("many");
  MapContents* const map = begin(*plain, nullptr);
  bool is_there = false;
  ASSERT_NE(test::step_through(kit, *map, 83,
                               [&](uint32_t) {
                                 if (is_there) {
                                   EXPECT_TRUE(kit.archetypes.close_types(6).ok());
                                 } else {
                                   kit.types(many_file, 6);
                                 }
                                 is_there = !is_there;
                               }),
            nullptr);
  EXPECT_EQ(kit.maps.statistics().restarts, 0u);
  kit.unload(map);
  if (is_there) {
    ASSERT_TRUE(kit.archetypes.close_types(6).ok());
  }
  MapContents* const again = begin(*plain, nullptr);
  ASSERT_TRUE(step_map_load(kit.maps, *again, 83).ok());
  kit.types(*above_file, 4, 1);
  ASSERT_NE(test::step_through(kit, *again, 83, [](uint32_t) {}), nullptr);
  EXPECT_EQ(kit.maps.statistics().restarts, 1u);
  EXPECT_EQ(again->entity(0)->lod().distance, 200);
  kit.unload(again);
  ASSERT_TRUE(kit.archetypes.close_types(4).ok());
  EXPECT_EQ(kit.account(), before);
}

// A file that a map depends on defines a name that another one, which it does not depend on, has in force already: no
// name means anything else, and yet the map may use it now (ARCH-7, MAP-2).
TEST_F(MapSteps, NoticeADependencyThatIsHidden) {
  start();
  test::TypesItem over;
  over.base(kLater, {.lod = 90});
  const test::TypesFile over_file = over.finish("over");
  kit.types(over_file, 6, 2);
  MapContents* map = begin(*plain, nullptr);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step_map_load(kit.maps, *map, 83).ok());
  kit.types(*later_file, 5);
  ASSERT_NE(test::step_through(kit, *map, 83, [](uint32_t) {}), nullptr);
  ASSERT_NE(map->entity(3), nullptr) << "one of kLater";
  EXPECT_EQ(map->entity(3)->lod().distance, 90);
  const std::string in_steps = test::picture(kit, *map);
  kit.unload(map);
  map = at_once(*plain, nullptr);
  EXPECT_EQ(test::picture(kit, *map), in_steps);
  kit.unload(map);
}

}  // namespace
}  // namespace meridian
