// SPDX-License-Identifier: MIT
// LOD sets of maps: SCAN-8 (readiness), MAP-4, P064, P092, P094.
#include <gtest/gtest.h>

#include "meridian/entity/entity_visibility.h"
#include "unit/runtime/map/lod_kit.h"

namespace meridian {
namespace {

using schema::LodLevel;
using schema::PriorityLevel;
using test::kInParent;

constexpr NameHash kHouse = hash_name("house"), kBlock = hash_name("block"), kFar = hash_name("far");
constexpr NameHash kLamp = hash_name("lamp"), kNearMap = hash_name("near"), kLodsMap = hash_name("lods");
constexpr ImapSlot kLods = 1, kNear = 2;
constexpr Vec3 kClose{10, 20, 30}, kAway{10, 20, 1030};

/// A parent map: 0 stands for the houses of `near` and for its own entity 2, up to 120 m; 1 stands for 0, up to 500 m.
struct MapLodSetsTest : testing::Test {
  MapLodSetsTest() {
    props.base(kHouse, {.lod = 60}).base(kBlock, {.lod = 300}).base(kFar, {.lod = 900});
    props.time(kLamp, 1u << 20, {.lod = 60});
    kit.map_config.lod_ramp_seconds = 0;
    lods.name = kLodsMap;
    lods.add({.archetype = kBlock, .at = kClose, .parent = 1, .child_lod = 120, .level = LodLevel::LOD, .children = 4});
    lods.add({.archetype = kFar, .at = kClose, .child_lod = 500, .level = LodLevel::SLOD1, .children = 1});
    lods.add({.archetype = kHouse, .at = {11, 20, 30}, .parent = 0, .level = LodLevel::HD});
    lods.lod_sets = {{0, 120, {row(kLodsMap, 1), row(kNearMap, 3)}}, {1, 500, {row(kLodsMap, 1)}}};
    near.name = kNearMap;
    for (int i = 0; i < 3; ++i) {
      near.add({.archetype = kHouse,
                .at = {static_cast<float>(i), 0, 0},
                .flags = kInParent,
                .parent = 0,
                .level = LodLevel::HD});
    }
  }
  static schema::LodSetChildren row(NameHash map, uint32_t required, uint32_t low = 0) {
    return {map.value, required, 0, 0, low};
  }
  void start() { kit.start(props); }
  /// Weights of root, middle, the parent map's own house.
  std::vector<uint32_t> weights(const MapContents& map, const Vec3& camera) {
    return {kit.weight(map, 1, camera), kit.weight(map, 0, camera), kit.weight(map, 2, camera)};
  }
  using Weights = std::vector<uint32_t>;
  test::TypesItem props;
  test::MapMaker near, lods;
  test::LodKit kit;
  test::CapturedLog log;
};

// P064: 4 children in another map become ready one by one, one of them never: the parent stays; then all at once.
TEST_F(MapLodSetsTest, ParentStaysUntilTheLastChildIsReady) {
  start();
  test::MapMaker far{.name = hash_name("qa_far")}, four{.name = hash_name("qa_near")};
  far.add({.archetype = kBlock, .child_lod = 150, .level = LodLevel::LOD, .children = 4});
  far.lod_sets = {{0, 150, {row(four.name, 4)}}};
  for (int i = 0; i < 4; ++i) {
    four.add({.archetype = kHouse, .flags = kInParent, .parent = 0, .level = LodLevel::HD});
    kit.lacking.insert({kNear, static_cast<uint32_t>(i)});
  }
  const test::MapFile far_file = far.finish(), four_file = four.finish();
  MapContents* const parent = kit.load(far_file, kLods);
  const auto expect_parent_only = [&](const MapContents* children) {
    EXPECT_FALSE(kit.is_ready(*parent, 0));
    EXPECT_EQ(kit.MapKit::maps.lod_sets().used(), 1u);
    EXPECT_EQ(kit.MapKit::maps.lod_sets().ready(), 0u) << "counted as not ready";
    EXPECT_EQ(kit.weight(*parent, 0, {}), 255u);
    for (uint32_t i = 0; children != nullptr && i < 4; ++i) EXPECT_EQ(kit.weight(*children, i, {}), 0u) << i;
  };
  expect_parent_only(nullptr);
  kit.update();
  expect_parent_only(nullptr);
  EXPECT_EQ(kit.asked, 0u) << "nobody is asked while something else lacks";
  MapContents* const child = kit.load(four_file, kNear, parent);
  for (uint32_t frame = 0; frame < 10; ++frame) {
    if (frame % 3 == 0 && frame < 9) kit.lacking.erase({kNear, frame / 3});
    kit.update();
    expect_parent_only(child);
  }
  kit.lacking.clear();
  kit.update();
  const uint64_t asked = kit.asked;
  const auto expect_children_only = [&] {
    EXPECT_TRUE(kit.is_ready(*parent, 0));
    EXPECT_EQ(kit.MapKit::maps.lod_sets().ready(), 1u);
    EXPECT_EQ(kit.weight(*parent, 0, {}), 0u);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(kit.weight(*child, i, {}), 255u) << i;
  };
  expect_children_only();
  kit.update();
  EXPECT_EQ(kit.asked, asked) << "what is ready is not asked for again";
  kit.lacking.insert({kNear, 2});
  EXPECT_TRUE(kit.MapKit::maps.refresh_lod_set(*child->entity(2)).ok());
  expect_parent_only(child);
  kit.lacking.clear();
  kit.update();
  expect_children_only();
  EXPECT_TRUE(kit.MapKit::maps.refresh_lod_set(*child->entity(0)).ok()) << "the answer is still yes";
  EXPECT_TRUE(kit.MapKit::maps.refresh_lod_set(*parent->entity(0)).ok()) << "it is no child";
  expect_children_only();
  kit.unload(child);
  expect_parent_only(nullptr);
  kit.unload(parent);
  EXPECT_EQ(kit.account(), kit.before);
}

// P094, MAP-4: child loaded, parent absent; parent arrives; parent leaves. Visible, swapped by the parent, visible.
TEST_F(MapLodSetsTest, ChildrenOfAnAbsentParentFadeAlone) {
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  const std::vector<LodParent> known(3, {kClose, 120});
  const test::MapFile near_linked = near.finish(props.traits(), known);
  for (const test::MapFile* const file : {&near_file, &near_linked}) {
    SCOPED_TRACE(file == &near_linked);
    MapContents* const child = kit.load(*file, kNear);
    const auto expect_alone = [&] {
      for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(kit.weight(*child, i, kAway), 255u) << i;
      for (uint32_t r = 0; r < child->links().size(); ++r) EXPECT_EQ(child->lod_set_id(r), kNoLodSetId);
    };
    expect_alone();
    MapContents* const parent = kit.load(lods_file, kLods);
    expect_alone();
    EXPECT_EQ(weights(*parent, kClose), (Weights{0, 255, 0})) << "`near` is not bound: one set of two is ready";
    ASSERT_TRUE(child->bind_parent(*parent).ok());
    EXPECT_EQ(child->used_cooked_blocks(), file == &near_linked);
    ASSERT_EQ(child->links().size(), 1u);
    EXPECT_EQ(child->lod_set_id(0), parent->lod_set_id(0)) << "both rows are the first of their tables";
    EXPECT_EQ(child->lod_set_id(1), kNoLodSetId);
    EXPECT_EQ(kit.sets().used(), 2u);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(kit.weight(*child, i, kClose), 255u);
      EXPECT_EQ(kit.weight(*child, i, {10, 20, 160}), 127u) << "130 m from the parent, not from the house";
      EXPECT_EQ(kit.weight(*child, i, kAway), 0u);
    }
    EXPECT_EQ(weights(*parent, kClose), (Weights{0, 0, 255}));
    EXPECT_EQ(weights(*parent, {10, 20, 160}), (Weights{0, 128, 127}));
    EXPECT_EQ(weights(*parent, {10, 20, 540}), (Weights{128, 127, 0}));
    EXPECT_EQ(weights(*parent, kAway), (Weights{255, 0, 0}));
    kit.unload(parent);
    EXPECT_EQ(kit.sets().used(), 0u);
    expect_alone();
    kit.unload(child);
    EXPECT_EQ(kit.account(), kit.before);
  }
}

// P092: unbinding, hiding and showing either of them in any order leaves nothing behind. A postponed map is not there.
TEST_F(MapLodSetsTest, FollowWhatIsShownAndBound) {
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  MapContents* const child = kit.load(near_file, {.slot = kNear, .parent = parent, .postponed = true});
  const auto expect = [&](bool is_swapped, bool is_child_alone, int line) {
    SCOPED_TRACE(line);
    if (parent->is_shown()) {
      EXPECT_EQ(kit.is_ready(*parent, 0), is_swapped);
      EXPECT_TRUE(kit.is_ready(*parent, 1)) << "its only child is in the same map";
      EXPECT_EQ(weights(*parent, kClose), (is_swapped ? Weights{0, 0, 255} : Weights{0, 255, 0}));
      EXPECT_EQ(kit.sets().used(), 2u);
    } else {
      EXPECT_EQ(kit.sets().used(), 0u);
    }
    if (!child->is_shown()) return;
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(kit.weight(*child, i, kClose), is_swapped || is_child_alone ? 255u : 0u);
      EXPECT_EQ(kit.weight(*child, i, kAway), is_child_alone ? 255u : 0u);
    }
  };
  expect(false, false, __LINE__);
  ASSERT_TRUE(child->show().ok());
  expect(true, false, __LINE__);
  ASSERT_TRUE(child->hide().ok());
  expect(false, false, __LINE__);
  ASSERT_TRUE(parent->hide().ok());
  ASSERT_TRUE(child->show().ok());
  expect(false, true, __LINE__);
  ASSERT_TRUE(parent->show().ok());
  expect(true, false, __LINE__);
  child->unbind_parent();
  expect(false, true, __LINE__);
  ASSERT_TRUE(child->bind_parent(*parent).ok());
  expect(true, false, __LINE__);
  ASSERT_TRUE(parent->hide().ok());
  child->unbind_parent();
  ASSERT_TRUE(parent->show().ok());
  expect(false, true, __LINE__);
  ASSERT_TRUE(child->hide().ok());
  ASSERT_TRUE(child->bind_parent(*parent).ok());
  expect(false, false, __LINE__);
  ASSERT_TRUE(child->show().ok());
  expect(true, false, __LINE__);
  kit.unload(parent);
  kit.unload(child);
  EXPECT_EQ(kit.account(), kit.before);
}

// P064: before children die, their parent is back.
TEST_F(MapLodSetsTest, AreNotReadyWhenChildrenLeave) {
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  MapContents* const child = kit.load(near_file, kNear, parent);
  ASSERT_TRUE(kit.is_ready(*parent, 0));
  static const LodSetRecord* set = nullptr;
  static int deaths = 0;
  set = kit.set_of(*parent, 0);
  deaths = 0;
  kit.dying = [](test::LodHost&, const Entity&) {
    ++deaths;
    EXPECT_FALSE(set->is_ready);
  };
  kit.unload(child);
  EXPECT_EQ(deaths, 3);
  kit.dying = nullptr;
  kit.unload(parent);
}

// SCAN-8: children that were capped or are of an unknown archetype do not count, and maps that hold no others.
TEST_F(MapLodSetsTest, DoNotWaitForWhatIsLeftOut) {
  lods.lod_sets[0].children.push_back(row(hash_name("details"), 0, 5));
  near.entities[1].archetype = hash_name("nowhere");
  near.entities[2].priority = PriorityLevel::OPTIONAL_LOW;
  lods.lod_sets[0].children[1] = row(kNearMap, 2, 1);
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const all = kit.load(lods_file, kLods);  // at the highest cap: `details` is waited for
  MapContents* child = kit.load(near_file, kNear, all);
  EXPECT_FALSE(kit.is_ready(*all, 0));
  kit.unload(child);
  kit.unload(all);
  MapContents* const few = kit.load(lods_file, {.slot = kLods, .priority_cap = 0});
  EXPECT_FALSE(kit.is_ready(*few, 0));
  child = kit.load(near_file, {.slot = kNear, .parent = few, .priority_cap = 0});
  ASSERT_NE(child, nullptr);
  EXPECT_EQ(child->created(), 1u);
  EXPECT_TRUE(kit.is_ready(*few, 0));
  kit.unload(child);
  // A map that comes without any of its children satisfies the set; one without a child anywhere is never ready.
  near.entities[0].archetype = hash_name("nowhere");
  const test::MapFile empty_file = near.finish();
  child = kit.load(empty_file, {.slot = kNear, .parent = few, .priority_cap = 0});
  EXPECT_EQ(child->created(), 0u);
  EXPECT_TRUE(kit.is_ready(*few, 0)) << "there is the parent map's own child";
  EXPECT_TRUE(few->destroy_entity(2).ok());
  EXPECT_FALSE(kit.is_ready(*few, 0));
  EXPECT_EQ(kit.weight(*few, 0, kClose), 255u) << "a parent without children does not give way to nothing";
  kit.unload(child);
  kit.unload(few);
  EXPECT_EQ(kit.account(), kit.before);
}

// SCAN-8: maps that come only when asked for, or are not swapped in, do not count.
TEST_F(MapLodSetsTest, DoNotWaitForMapsThatDoNotCount) {
  static bool counted = false;
  counted = false;
  kit.map_config.is_counted_user = &kit;
  kit.map_config.is_counted = [](void* user, NameHash map) {
    EXPECT_NE(user, nullptr);
    return map != kNearMap || counted;
  };
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  counted = true;
  EXPECT_TRUE(kit.MapKit::maps.recount(hash_name("another")).ok());
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  EXPECT_TRUE(kit.MapKit::maps.recount(kNearMap).ok());
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  kit.lacking.insert({kNear, 1});
  MapContents* const child = kit.load(near_file, kNear, parent);
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  counted = false;
  EXPECT_TRUE(kit.MapKit::maps.recount(kNearMap).ok());
  EXPECT_TRUE(kit.is_ready(*parent, 0)) << "nor are its children asked for";
  kit.unload(child);
  kit.unload(parent);
}

// SCAN-8: what is hidden or out of hours counts as ready.
TEST_F(MapLodSetsTest, DoNotWaitForWhatIsNotSeen) {
  near.entities[1].archetype = kLamp;
  EntityVisibility visibility;
  start();
  ASSERT_TRUE(visibility.init({}).ok());
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  kit.lacking = {{kNear, 0}, {kNear, 1}};
  MapContents* const child = kit.load(near_file, kNear, parent);
  EXPECT_FALSE(kit.is_ready(*parent, 0)) << "the house lacks; the lamp is out of hours at midnight";
  EXPECT_TRUE(visibility.set_visible(*child->entity(0), VisibilityModule::script, false).ok());
  kit.update();
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  EXPECT_TRUE(kit.scene.set_hour(20).ok());
  kit.update();
  EXPECT_FALSE(kit.is_ready(*parent, 0)) << "now it is there, and cannot be drawn";
  kit.lacking = {{kNear, 0}};
  kit.update();
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  EXPECT_TRUE(visibility.set_visible(*child->entity(0), VisibilityModule::script, true).ok());
  EXPECT_TRUE(kit.MapKit::maps.refresh_lod_set(*child->entity(0)).ok());
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  kit.unload(child);
  kit.unload(parent);
}

// SCAN-8: a map that nobody linked has sets of what its own entities name.
TEST_F(MapLodSetsTest, OfUnlinkedMapsAreTheirOwn) {
  lods.lod_sets.clear();
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  EXPECT_EQ(kit.sets().used(), 2u);
  EXPECT_TRUE(kit.is_ready(*parent, 0)) << "nothing says that others are to come";
  kit.lacking.insert({kNear, 0});
  MapContents* const child = kit.load(near_file, kNear, parent);
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  EXPECT_EQ(kit.weight(*child, 0, {10, 20, 160}), 127u) << "they change places with it all the same";
  kit.lacking.insert({kLods, 2});
  EXPECT_TRUE(kit.MapKit::maps.refresh_lod_set(*parent->entity(2)).ok());
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  kit.unload(child);
  kit.unload(parent);
}

// P092: a parent that is destroyed by itself frees its children; a child that is, is not waited for.
TEST_F(MapLodSetsTest, FollowEntitiesThatAreDestroyed) {
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  kit.lacking.insert({kNear, 1});
  MapContents* const child = kit.load(near_file, kNear, parent);
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  EXPECT_TRUE(child->destroy_entity(1).ok());
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  EXPECT_TRUE(parent->destroy_entity(0).ok());
  EXPECT_EQ(kit.sets().used(), 1u);
  EXPECT_FALSE(kit.is_ready(*parent, 1)) << "its only child is gone";
  EXPECT_EQ(kit.weight(*parent, 1, kClose), 255u);
  EXPECT_EQ(kit.weight(*parent, 2, kAway), 255u);
  for (const uint32_t i : {0u, 2u}) EXPECT_EQ(kit.weight(*child, i, kAway), 255u) << "alone";
  child->unbind_parent();
  ASSERT_TRUE(child->bind_parent(*parent).ok());
  EXPECT_EQ(kit.weight(*child, 0, kAway), 255u);
  kit.unload(parent);
  kit.unload(child);
  EXPECT_EQ(kit.account(), kit.before);
}

// P092: the origin moves. Pivots follow; what is ready stays so, and what fades in goes on with it.
TEST_F(MapLodSetsTest, FollowTheOrigin) {
  kit.map_config.lod_ramp_seconds = 1;
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  MapContents* const child = kit.load(near_file, kNear, parent);
  kit.update(0.5f);
  const uint32_t id = kit.place(*parent, 0).set;
  EXPECT_EQ(kit.sets().find(id)->ramp, 127);
  ASSERT_TRUE(kit.world.rebase({100, 0, 0}).ok());
  EXPECT_EQ(kit.place(*parent, 0).set, id);
  EXPECT_EQ(kit.place(*child, 2).set, id);
  EXPECT_EQ(kit.sets().find(id)->ramp, 127);
  EXPECT_EQ(kit.sets().find(id)->pivot, kit.desc(*child->entity(0)).pivot);
  EXPECT_EQ(kit.sets().find(id)->pivot.x, parent->entity(0)->position().x);
  EXPECT_EQ(kit.sets().find(id)->up, kit.place(*parent, 1).set);
  kit.update(0.5f);
  EXPECT_EQ(kit.sets().find(id)->ramp, 255);
  kit.unload(child);
  kit.unload(parent);
  ASSERT_TRUE(kit.world.rebase({-100, 0, 0}).ok());
  EXPECT_EQ(kit.account(), kit.before);
}

// SCAN-8: without a free record children behave as without a parent, which is told once; they get one later.
TEST_F(MapLodSetsTest, DoWithoutRecordsThatAreNotThere) {
  kit.map_config.lod_sets = 1;
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  MapContents* const child = kit.load(near_file, kNear, parent);
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("LodSet pool full (capacity 1)"), std::string::npos) << log.all();
  EXPECT_EQ(weights(*parent, kAway), (Weights{255, 255, 0})) << "rows ascend: entity 1 got none, 0 has no parent";
  EXPECT_EQ(kit.place(*parent, 1).set, kNoLodSetId);
  EXPECT_TRUE(parent->destroy_entity(0).ok());
  EXPECT_EQ(kit.place(*parent, 1).set, kNoLodSetId);
  kit.update();
  EXPECT_NE(kit.place(*parent, 1).set, kNoLodSetId);
  EXPECT_EQ(log.count(), 1u) << log.all();
  kit.unload(child);
  kit.unload(parent);
}

// A lock: binding changes nothing that readers see until the unlock; whatever would is refused.
TEST_F(MapLodSetsTest, ChangeOnlyOutsideOfTheLock) {
  start();
  const std::vector<LodParent> known(3, {kClose, 120});
  const test::MapFile lods_file = lods.finish(), near_file = near.finish(props.traits(), known);
  MapContents* const parent = kit.load(lods_file, kLods);
  MapContents* const child = kit.load(near_file, kNear);
  kit.world.lock();
  ASSERT_TRUE(child->bind_parent(*parent).ok());
  EXPECT_EQ(kit.weight(*child, 0, kAway), 255u);
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  {
    test::BrokenContracts contracts;
    EXPECT_EQ(kit.MapKit::maps.update_lod_sets(1).code, StatusCode::in_use);
    EXPECT_EQ(kit.MapKit::maps.refresh_lod_set(*child->entity(0)).code, StatusCode::in_use);
    EXPECT_EQ(kit.MapKit::maps.recount(kNearMap).code, StatusCode::in_use);
    EXPECT_TRUE(test::broke(contracts, 3));
  }
  kit.world.unlock();
  EXPECT_EQ(kit.weight(*child, 0, kAway), 0u);
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  kit.world.lock();
  child->unbind_parent();
  EXPECT_EQ(kit.weight(*child, 0, kAway), 0u);
  EXPECT_TRUE(kit.is_ready(*parent, 0));
  kit.world.unlock();
  EXPECT_EQ(kit.weight(*child, 0, kAway), 255u);
  EXPECT_FALSE(kit.is_ready(*parent, 0));
  // As before, but nobody can be told of the unlock: the next step sees to it, here the parent's leaving.
  ASSERT_TRUE(child->bind_parent(*parent).ok());
  kit.world.lock();
  for (uint32_t i = 0; i < kit.deferred_changes; ++i) {
    ASSERT_TRUE(kit.world.defer(update_change(child->handle(0))).ok());
  }
  child->unbind_parent();
  kit.world.unlock();
  EXPECT_EQ(kit.weight(*child, 0, kAway), 0u);
  kit.unload(parent);
  EXPECT_EQ(kit.weight(*child, 0, kAway), 255u);
  kit.unload(child);
  EXPECT_EQ(kit.account(), kit.before);
}

// SCAN-8: the scale that counts is that of the children's level, which only they know.
TEST_F(MapLodSetsTest, TakeTheirLevelFromTheChildren) {
  lods.entities[0].level = LodLevel::SLOD2;
  lods.entities[2].level = LodLevel::LOD;
  start();
  const test::MapFile lods_file = lods.finish(), near_file = near.finish();
  MapContents* const parent = kit.load(lods_file, kLods);
  EXPECT_EQ(kit.set_of(*parent, 0)->level, static_cast<uint8_t>(LodLevel::SLOD1)) << "one below, as long as none says";
  EXPECT_EQ(kit.set_of(*parent, 1)->level, static_cast<uint8_t>(LodLevel::SLOD2));
  MapContents* const child = kit.load(near_file, kNear, parent);
  EXPECT_EQ(kit.set_of(*parent, 0)->level, static_cast<uint8_t>(LodLevel::LOD)) << "the first that is listed";
  kit.unload(child);
  kit.unload(parent);
}

TEST_F(MapLodSetsTest, NeedTimeThatPassesForwards) {
  start();
  test::BrokenContracts contracts;
  EXPECT_TRUE(kit.MapKit::maps.update_lod_sets(-1).ok());
  EXPECT_TRUE(test::broke(contracts));
}

}  // namespace
}  // namespace meridian
