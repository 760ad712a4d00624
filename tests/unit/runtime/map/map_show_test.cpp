// SPDX-License-Identifier: MIT
// Maps that are there: shown and hidden, under locks, with a moved origin, losing entities (MAP-5, SG-4, SG-8).
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr NameHash kLamp = hash_name("lamp"), kShop = hash_name("shop");

struct MapShow : testing::Test {
  MapShow() {
    props.base(kLamp, {.lod = 60});
    test::InteriorItem shop{.name = kShop};
    shop.archetype.lod = 100;
    shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0}}};
    shop.portals = {{.from = 1, .to = 0, .corners = {{0, 1, 0}, {0, 1, 2}, {0, 2, 2}, {0, 2, 0}}}};
    shop.entities = {{.archetype = kLamp, .at = {1, 1, 0}}};
    props.interiors.push_back(shop);
    town.name = hash_name("town");
    for (int i = 0; i < 5; ++i) town.add({.archetype = kLamp, .at = {static_cast<float>(10 * i), 0, 0}});
    town.add_interior({.archetype = kShop, .at = {100, 0, 0}});
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  /// Entities that a search finds within a box.
  std::vector<EntityHandle> found(const Aabb& box) {
    std::vector<EntityHandle> out(64);
    SearchResult result;
    EntityQuery query;
    query.volume = box_volume(box);
    EXPECT_TRUE(kit.world.search_now(query, out, result).ok());
    out.resize(std::min<size_t>(out.size(), result.stored));
    return out;
  }
  uint32_t seen() const { return kit.graph.hierarchy().count(); }
  test::TypesItem props;
  test::MapMaker town;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// MAP-5: a postponed map is there with all that it brings, and nobody sees it until it is shown.
TEST_F(MapShow, PostponedIsThereAndNotSeen) {
  start();
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    MapContents* const map = kit.load(*bytes, {.slot = 1, .postponed = true});
    ASSERT_NE(map, nullptr);
    EXPECT_FALSE(map->is_shown());
    EXPECT_EQ(map->created(), 6u);
    EXPECT_EQ(kit.maps.interior_count(), 1u);
    EXPECT_EQ(seen(), 0u);
    EXPECT_EQ(map->node()->parent(), nullptr);
    for (uint32_t i = 0; i < 6; ++i) EXPECT_FALSE(kit.is_in_world(*map->entity(i)));
    const Interior* const shop = kit.interior_of(*map, 5);
    ASSERT_NE(shop, nullptr);
    EXPECT_FALSE(kit.is_in_world(*shop->entity(0)));
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(map->show().ok());
      EXPECT_TRUE(map->show().ok()) << "it is already";
      EXPECT_TRUE(map->is_shown());
      for (uint32_t i = 0; i < 6; ++i) EXPECT_TRUE(kit.is_in_world(*map->entity(i)));
      EXPECT_TRUE(map->node()->is_in_world());
      EXPECT_TRUE(kit.is_in_world(*shop->entity(0)));
      const test::Account shown = kit.account();
      EXPECT_EQ(shown.in_hierarchy, shown.containers);
      EXPECT_TRUE(map->hide().ok());
      EXPECT_TRUE(map->hide().ok());
      EXPECT_EQ(seen(), 0u);
      test::Account hidden = kit.account();
      hidden.in_hierarchy = shown.in_hierarchy;
      EXPECT_EQ(hidden, shown) << "hiding keeps all else";
    }
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
  }
}

// MAP-5: a hidden map leaves as a shown one does; searches see only what is shown.
TEST_F(MapShow, SearchesFindWhatIsShown) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  const Aabb around_first{{-0.5f, -0.5f, 0}, {0.5f, 0.5f, 1}};
  EXPECT_EQ(found(around_first), std::vector<EntityHandle>{map->handle(0)});
  EXPECT_TRUE(map->hide().ok());
  EXPECT_TRUE(found(around_first).empty());
  EXPECT_TRUE(map->show().ok());
  EXPECT_EQ(found(around_first).size(), 1u);
  EXPECT_TRUE(map->hide().ok());
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// SG-4: a map can be loaded while readers are at work. It is made in full, and shown after the unlock.
TEST_F(MapShow, LoadsUnderALockAndIsShownAtTheUnlock) {
  start();
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  MapContents* const resident = kit.load(plain, 9);
  test::BrokenContracts contracts;
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    const uint32_t at_first = seen();
    kit.world.lock();
    MapContents* const map = kit.load(*bytes, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->created(), 6u);
    EXPECT_EQ(map->used_cooked_blocks(), bytes == &linked);
    EXPECT_FALSE(map->is_shown());
    EXPECT_EQ(map->show().code, StatusCode::in_use);
    EXPECT_EQ(resident->hide().code, StatusCode::in_use);
    EXPECT_EQ(unload_map_data(kit.maps, *resident).code, StatusCode::in_use);
    EXPECT_EQ(resident->destroy_entity(0).code, StatusCode::in_use);
    EXPECT_EQ(seen(), at_first);
    kit.world.unlock();
    EXPECT_TRUE(map->is_shown());
    EXPECT_GT(seen(), at_first);
    for (uint32_t i = 0; i < 6; ++i) EXPECT_TRUE(kit.is_in_world(*map->entity(i)));
    const Interior* const shop = kit.interior_of(*map, 5);
    ASSERT_NE(shop, nullptr);
    EXPECT_TRUE(kit.is_in_world(*shop->entity(0)));
    kit.unload(map);
    EXPECT_EQ(seen(), at_first);
  }
  EXPECT_EQ(contracts.count(), 0u) << "none of these is a caller's mistake";
  EXPECT_TRUE(resident->is_shown());
  kit.unload(resident);
  EXPECT_EQ(kit.account(), before);
}

// An entity goes by itself: its descriptor, its handle, its reference, its hook; nothing else.
TEST_F(MapShow, LosesOneEntity) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  const EntityHandle gone = map->handle(2), stays = map->handle(3);
  const SceneSlot slot{map->entity(2)->container().container(), map->entity(2)->container().slot()};
  const uint32_t references = kit.archetypes.find(kLamp)->references();
  EXPECT_TRUE(map->destroy_entity(2).ok());
  EXPECT_EQ(map->created(), 5u);
  EXPECT_EQ(map->entity(2), nullptr);
  EXPECT_EQ(kit.table.get(gone), nullptr);
  EXPECT_EQ(kit.table.get(stays), map->entity(3));
  EXPECT_FALSE(kit.graph.is_used(slot));
  EXPECT_EQ(kit.archetypes.find(kLamp)->references(), references - 1);
  EXPECT_EQ(kit.record.destroyed, 1u);
  EXPECT_EQ(map->destroy_entity(2).code, StatusCode::not_found);
  EXPECT_EQ(map->destroy_entity(600).code, StatusCode::not_found);
  EXPECT_TRUE(kit.world.rebase({5, 0, 0}).ok());
  EXPECT_EQ(map->entity(2), nullptr) << "nothing makes it again";
  EXPECT_TRUE(kit.is_in_world(*map->entity(3)));
  for (const uint32_t i : {0u, 1u, 3u, 4u}) EXPECT_TRUE(map->destroy_entity(i).ok());
  EXPECT_EQ(map->created(), 1u);
  EXPECT_TRUE(map->hide().ok());
  EXPECT_TRUE(map->show().ok());
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// The instance of an interior takes the interior with it.
TEST_F(MapShow, LosesAnInteriorWithItsInstance) {
  start();
  town.add_interior({.archetype = kShop, .at = {200, 0, 0}});
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_EQ(kit.maps.interior_count(), 2u);
  Interior* const second = kit.maps.interior(1);
  ASSERT_EQ(&second->instance(), map->entity(6));
  EXPECT_TRUE(map->destroy_entity(5).ok());
  EXPECT_EQ(kit.maps.interior_count(), 1u);
  EXPECT_EQ(kit.maps.interior(0), nullptr);
  EXPECT_EQ(kit.maps.interior(1), second);
  EXPECT_TRUE(kit.is_in_world(*second->entity(0)));
  EXPECT_TRUE(kit.world.rebase({5, 0, 0}).ok());
  EXPECT_EQ(second->at().position.x, 205);
  EXPECT_TRUE(map->hide().ok());
  EXPECT_TRUE(map->show().ok());
  EXPECT_TRUE(map->destroy_entity(6).ok());
  EXPECT_EQ(kit.maps.interior_count(), 0u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// SG-8: entities of maps are computed anew from where the author put them, in double precision: going far away and back
// in odd steps leaves no error, and so do the blocks.
TEST_F(MapShow, FollowsTheOriginWithoutDrift) {
  start();
  town.entities[1].at = {1234.567f, -765.4321f, 12.3456f};
  const test::MapFile bytes = town.finish(props.traits());
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_TRUE(map->used_cooked_blocks());
  std::vector<EntityDesc> at_first;
  std::vector<Transform> places;
  for (uint32_t i = 0; i < 6; ++i) {
    at_first.push_back(kit.desc(*map->entity(i)));
    places.push_back(map->entity(i)->transform());
  }
  const Interior& shop = *kit.maps.interior(0);
  const Vec3 inside = shop.entity(0)->position();
  double x = 0, y = 0;
  std::mt19937 random(5);
  for (int step = 0; step < 60; ++step) {
    const Vec3 delta{static_cast<float>(random() % 2000) / 7 - 140, static_cast<float>(random() % 2000) / 3 - 330, 0};
    ASSERT_TRUE(kit.world.rebase(delta).ok());
    x += delta.x;
    y += delta.y;
    const Vec3 expected{static_cast<float>(double{1234.567f} + x), static_cast<float>(double{-765.4321f} + y),
                        12.3456f};
    EXPECT_EQ(map->entity(1)->position(), expected);
    EXPECT_FALSE(map->used_cooked_blocks()) << "cooked blocks stand where the origin was";
    const EntityDesc desc = kit.desc(*map->entity(1));
    // The middle of (-1, -2, -3) to (4, 5, 6) is (1.5, 1.5, 1.5).
    test::expect_near(desc.centre, expected + Vec3{1.5f, 1.5f, 1.5f}, 1e-3f);
    test::expect_near(desc.pivot, expected, 0.02f);
    EXPECT_EQ(kit.entity_of_slot(*map->entity(1)), map->entity(1));
    test::expect_near(shop.node()->at.point({}), {static_cast<float>(100 + x), static_cast<float>(y), 0}, 1e-3f);
    test::expect_near(shop.entity(0)->position(), {static_cast<float>(101 + x), static_cast<float>(1 + y), 0}, 1e-3f);
    test::expect_near(kit.desc(*shop.entity(0)).centre,
                      {static_cast<float>(102.5 + x), static_cast<float>(2.5 + y), 1.5f}, 1e-3f);
    test::expect_near(shop.portal(0)->corners.point(2), {static_cast<float>(100 + x), static_cast<float>(2 + y), 2},
                      1e-3f);
    EXPECT_EQ(shop.location_of(shop.entity(0)->position() + Vec3{0.1f, 0.1f, 0.1f}), InteriorLocation::in_room(0, 1));
  }
  // Back to where it was: the offsets are exact in double, so everything is as at first.
  for (int guard = 0; guard < 4 && !(kit.world.origin() == WorldOrigin{}); ++guard) {
    const WorldOrigin& o = kit.world.origin();
    ASSERT_TRUE(kit.world.rebase({static_cast<float>(-o.x), static_cast<float>(-o.y), static_cast<float>(-o.z)}).ok());
  }
  ASSERT_EQ(kit.world.origin(), WorldOrigin{});
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(map->entity(i)->transform(), places[i]);
    const EntityDesc now = kit.desc(*map->entity(i));
    EXPECT_EQ(now.centre, at_first[i].centre);
    EXPECT_EQ(now.half, at_first[i].half);
    EXPECT_EQ(now.pivot, at_first[i].pivot);
    EXPECT_EQ(now.distance, at_first[i].distance);
  }
  EXPECT_EQ(shop.entity(0)->position(), inside);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// SG-8: what is loaded after a rebase stands where the origin is now, and its blocks are built; links too.
TEST_F(MapShow, LoadsAfterARebase) {
  start();
  test::MapMaker city{.name = hash_name("city")};
  city.add({.archetype = kLamp, .at = {1, 0, 0}, .parent = 1, .level = schema::LodLevel::HD});
  city.add({.archetype = kLamp,
            .at = {5, 6, 7},
            .lod = 400,
            .child_lod = 90,
            .level = schema::LodLevel::LOD,
            .children = 1});
  city.add_interior({.archetype = kShop, .at = {100, 0, 0}});
  const test::MapFile linked = city.finish(props.traits());
  ASSERT_TRUE(kit.world.rebase({1000, 2000, -50}).ok());
  MapContents* const map = kit.load(linked, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_FALSE(map->used_cooked_blocks());
  EXPECT_EQ(log.count(), 0u) << "nothing is wrong with the file: " << log.all();
  EXPECT_EQ(map->entity(0)->position(), (Vec3{1001, 2000, -50}));
  test::expect_near(kit.desc(*map->entity(0)).centre, {1002.5f, 2001.5f, -48.5f}, 1e-3f);
  EXPECT_EQ(kit.desc(*map->entity(0)).pivot, (Vec3{1005, 2006, -43}));
  EXPECT_EQ(kit.desc(*map->entity(0)).distance, 90);
  EXPECT_EQ(kit.maps.interior(0)->entity(0)->position(), (Vec3{1101, 2001, -50}));
  ASSERT_TRUE(kit.world.rebase({-1000, -2000, 50}).ok());
  EXPECT_EQ(kit.desc(*map->entity(0)).pivot, (Vec3{5, 6, 7}));
  EXPECT_EQ(map->entity(0)->position(), (Vec3{1, 0, 0}));
  kit.unload(map);
  MapContents* const again = kit.load(linked, 1);
  EXPECT_TRUE(again->used_cooked_blocks()) << "the origin is where it was";
  kit.unload(again);
  EXPECT_EQ(kit.account(), before);
}

// SG-8: parents that come after a rebase.
TEST_F(MapShow, BindsParentsAfterARebase) {
  start();
  test::MapMaker lods{.name = hash_name("lods")}, near{.name = hash_name("near")};
  lods.add({.archetype = kLamp, .at = {5, 6, 7}, .lod = 400, .level = schema::LodLevel::LOD, .children = 1});
  lods.lod_sets = {{0, 90}};
  near.add({.archetype = kLamp, .flags = test::kInParent, .parent = 0, .level = schema::LodLevel::HD});
  const test::MapFile parent_file = lods.finish(), child_file = near.finish();
  MapContents* const child = kit.load(child_file, 2);
  ASSERT_TRUE(kit.world.rebase({1000, 0, 0}).ok());
  MapContents* const parent = kit.load(parent_file, 1);
  EXPECT_TRUE(child->bind_parent(*parent).ok());
  EXPECT_EQ(kit.desc(*child->entity(0)).pivot, (Vec3{1005, 6, 7}));
  EXPECT_EQ(kit.desc(*child->entity(0)).distance, 90);
  ASSERT_TRUE(kit.world.rebase({-400, 0, 0}).ok());
  EXPECT_EQ(kit.desc(*child->entity(0)).pivot, (Vec3{605, 6, 7}));
  kit.unload(parent);
  ASSERT_TRUE(kit.world.rebase({-600, 0, 0}).ok());
  EXPECT_EQ(kit.desc(*child->entity(0)).centre, (Vec3{1.5f, 1.5f, 1.5f}));
  kit.unload(child);
  EXPECT_EQ(kit.account(), before);
}

// A hidden map follows the origin too.
TEST_F(MapShow, MovesWhileItIsHidden) {
  start();
  const test::MapFile bytes = town.finish(props.traits());
  MapContents* const map = kit.load(bytes, {.slot = 1, .postponed = true});
  ASSERT_TRUE(kit.world.rebase({7, 0, 0}).ok());
  EXPECT_EQ(seen(), 0u);
  EXPECT_TRUE(map->show().ok());
  EXPECT_EQ(map->entity(1)->position(), (Vec3{17, 0, 0}));
  const Aabb there{{6.5f, -0.5f, 0}, {7.5f, 0.5f, 1}};
  EXPECT_EQ(found(there), std::vector<EntityHandle>{map->handle(0)});
  kit.unload(map);
}

// An entity that somebody took out of the world stays out, whatever is done with its map; put back, it is there.
TEST_F(MapShow, LeavesOutWhatWasTakenOut) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  EXPECT_TRUE(kit.world.remove(*map->entity(1)).ok());
  EXPECT_TRUE(kit.world.remove(*map->entity(2)).ok());
  EXPECT_TRUE(kit.world.remove(*map->entity(3)).ok());
  EXPECT_EQ(map->created(), 6u);
  EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
  for (const uint32_t i : {1u, 2u, 3u}) {
    ASSERT_NE(map->entity(i), nullptr);
    EXPECT_TRUE(map->entity(i)->container().is_none());
    EXPECT_EQ(map->entity(i)->position(), (Vec3{static_cast<float>(10 * i + 1), 0, 0})) << "but it moves with its map";
  }
  EXPECT_TRUE(kit.is_in_world(*map->entity(0)));
  EXPECT_TRUE(kit.world.add(*map->entity(1)).ok());
  EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
  EXPECT_TRUE(kit.is_in_world(*map->entity(1)));
  EXPECT_EQ(kit.entity_of_slot(*map->entity(1)), map->entity(1));
  test::expect_near(kit.desc(*map->entity(1)).centre, {13.5f, 1.5f, 1.5f}, 1e-3f);
  EXPECT_TRUE(map->destroy_entity(2).ok());
  EXPECT_TRUE(kit.world.rebase({-2, 0, 0}).ok());
  EXPECT_EQ(map->created(), 5u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

}  // namespace
}  // namespace meridian
