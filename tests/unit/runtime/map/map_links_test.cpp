// SPDX-License-Identifier: MIT
// LOD links of maps: MAP-4, and what stays right when parents come, go and come again (P092).
#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

using schema::LodLevel;
using test::kInParent;

constexpr NameHash kHouse = hash_name("house"), kBlock = hash_name("block"), kFar = hash_name("far");

struct MapLinks : testing::Test {
  MapLinks() {
    props.base(kHouse, {.lod = 60}).base(kBlock, {.lod = 300}).base(kFar, {.lod = 900});
    near.name = hash_name("near");
    near.add({.archetype = kHouse, .at = {1, 0, 0}, .flags = kInParent, .parent = 1, .level = LodLevel::HD});
    near.add({.archetype = kHouse, .at = {2, 0, 0}, .flags = kInParent, .parent = 1, .level = LodLevel::HD});
    near.add({.archetype = kHouse, .at = {3, 0, 0}, .flags = kInParent, .parent = 1, .level = LodLevel::HD});
    near.add({.archetype = kHouse, .at = {4, 0, 0}});
    near.add({.archetype = kHouse, .at = {5, 0, 0}, .flags = kInParent, .parent = 77, .level = LodLevel::HD});
    lods.name = hash_name("lods");
    lods.add({.archetype = kHouse, .at = {40, 0, 0}});
    lods.add({.archetype = kBlock,
              .at = {10, 20, 30},
              .parent = 2,
              .child_lod = 120,
              .level = LodLevel::LOD,
              .children = 3});
    lods.add({.archetype = kFar, .at = {50, 60, 70}, .child_lod = 500, .level = LodLevel::SLOD1, .children = 1});
    // What a linker knows: the sets of a parent map, whose children are elsewhere.
    lods.lod_sets = {{1, 120}, {2, 500}};
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  static uint32_t bound(const MapContents* map, uint32_t i) { return map->entity(i)->lod().bound_children; }
  static bool is_bound(const MapContents* map, uint32_t i) { return map->entity(i)->lod().has(LodFlag::bound); }
  void expect_linked(const MapContents* child, const MapContents* parent) {
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(child->lod_parent(*child->entity(i)), parent->entity(1)) << i;
      EXPECT_EQ(child->lod_root(*child->entity(i)), parent->entity(2)) << i;
      const EntityDesc desc = kit.desc(*child->entity(i));
      EXPECT_EQ(desc.pivot, (Vec3{10, 20, 30})) << i;
      EXPECT_EQ(desc.distance, 120) << i;
      EXPECT_NE(desc.flags & kDescLodChild, 0u);
    }
    EXPECT_EQ(bound(parent, 1), 3u);
    EXPECT_EQ(bound(parent, 2), 1u);
    EXPECT_EQ(child->lod_parent(*child->entity(3)), nullptr);
    EXPECT_EQ(child->lod_root(*child->entity(3)), nullptr) << "an orphan has none";
    EXPECT_EQ(child->lod_parent(*child->entity(4)), nullptr) << "the parent map has no such entity";
  }
  /// No parent is there, and none is known.
  void expect_alone(const MapContents* child) {
    EXPECT_EQ(child->parent(), nullptr);
    for (uint32_t i = 0; i < 5; ++i) {
      EXPECT_FALSE(is_bound(child, i)) << i;
      EXPECT_EQ(child->lod_parent(*child->entity(i)), nullptr);
    }
  }
  test::TypesItem props;
  test::MapMaker near, lods;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// MAP-4, P092: links inside a map. Three children share a parent; it counts all of them, and each finds it.
TEST_F(MapLinks, InsideOfAMapAreBound) {
  start();
  test::MapMaker town{.name = hash_name("town")};
  for (int i = 0; i < 3; ++i) {
    town.add({.archetype = kHouse, .at = {static_cast<float>(i), 0, 0}, .parent = 4, .level = LodLevel::HD});
  }
  town.add({.archetype = kHouse, .at = {9, 9, 9}});
  town.add({.archetype = kBlock, .at = {1, 1, 1}, .parent = 5, .child_lod = 80, .level = LodLevel::LOD, .children = 3});
  town.add({.archetype = kFar, .at = {2, 2, 2}, .level = LodLevel::SLOD1, .children = 1});
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    MapContents* const map = kit.load(*bytes, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->used_cooked_blocks(), bytes == &linked);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(map->lod_parent(*map->entity(i)), map->entity(4));
      EXPECT_EQ(map->lod_root(*map->entity(i)), map->entity(5));
      EXPECT_EQ(kit.desc(*map->entity(i)).pivot, (Vec3{1, 1, 1}));
      EXPECT_EQ(kit.desc(*map->entity(i)).distance, 80);
    }
    EXPECT_EQ(bound(map, 4), 3u);
    EXPECT_EQ(bound(map, 5), 1u);
    EXPECT_EQ(map->lod_parent(*map->entity(3)), nullptr);
    EXPECT_EQ(map->lod_root(*map->entity(3)), nullptr);
    EXPECT_EQ(kit.desc(*map->entity(3)).pivot, (Vec3{9, 9, 9}));
    // Without a distance of its own, a set switches at the largest of its children: 300, the block's.
    EXPECT_EQ(kit.desc(*map->entity(4)).distance, 300);
    EXPECT_EQ(kit.desc(*map->entity(4)).pivot, (Vec3{2, 2, 2}));
    // One child goes; the others keep their parent.
    EXPECT_TRUE(map->destroy_entity(1).ok());
    EXPECT_EQ(bound(map, 4), 2u);
    for (const uint32_t i : {0u, 2u}) EXPECT_EQ(map->lod_parent(*map->entity(i)), map->entity(4));
    // The parent goes; the children know, and do not dangle.
    EXPECT_TRUE(map->destroy_entity(4).ok());
    EXPECT_EQ(bound(map, 5), 0u);
    for (const uint32_t i : {0u, 2u}) {
      EXPECT_FALSE(is_bound(map, i));
      EXPECT_EQ(map->lod_parent(*map->entity(i)), nullptr);
    }
    EXPECT_EQ(map->lod_root(*map->entity(5)), nullptr);
    kit.unload(map);
  }
  EXPECT_EQ(log.count(), 0u) << log.all();
  EXPECT_EQ(kit.account(), before);
}

// MAP-4: bad links are links to nothing: to itself, in a circle, beyond the end.
TEST_F(MapLinks, ThatLeadNowhereEnd) {
  start();
  test::MapMaker town;
  town.add({.archetype = kHouse, .parent = 0, .level = LodLevel::HD});
  town.add({.archetype = kHouse, .parent = 2, .level = LodLevel::HD, .children = 1});
  town.add({.archetype = kHouse, .parent = 1, .level = LodLevel::LOD, .children = 1});
  town.add({.archetype = kHouse, .parent = 400, .level = LodLevel::HD});
  town.add({.archetype = kHouse, .flags = kInParent, .parent = 0x7FFFFFFF, .level = LodLevel::HD});
  for (int i = 5; i < 40; ++i) {
    town.add({.archetype = kHouse, .parent = i + 1, .level = LodLevel::LOD, .children = 1});  // a long chain
  }
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->created(), 40u);
  EXPECT_EQ(map->lod_parent(*map->entity(0)), nullptr);
  EXPECT_EQ(map->lod_parent(*map->entity(3)), nullptr);
  EXPECT_EQ(map->lod_parent(*map->entity(4)), nullptr);
  EXPECT_NE(map->lod_root(*map->entity(1)), nullptr) << "a circle has no end, but the walk ends";
  EXPECT_EQ(map->lod_root(*map->entity(30)), map->entity(39));
  EXPECT_EQ(map->lod_root(*map->entity(5)), map->entity(5 + kMaxLodChain)) << "as many steps as there can be levels";
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// MAP-4: parent and child in either order, loaded and unloaded, with and without the linker's blocks: always the same.
TEST_F(MapLinks, ToAParentMapHoldInEitherOrder) {
  start();
  const std::vector<LodParent> known{{{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {}, {}};
  const test::MapFile near_plain = near.finish(), lods_plain = lods.finish();
  const test::MapFile near_linked = near.finish(props.traits(), known), lods_linked = lods.finish(props.traits());
  for (int how = 0; how < 16; ++how) {
    SCOPED_TRACE(how);
    const test::MapFile& child_file = (how & 1) != 0 ? near_linked : near_plain;
    const test::MapFile& parent_file = (how & 2) != 0 ? lods_linked : lods_plain;
    const bool is_parent_first = (how & 4) != 0, parent_leaves_first = (how & 8) != 0;
    MapContents *child = nullptr, *parent = nullptr;
    if (is_parent_first) {
      parent = kit.load(parent_file, 1);
      child = kit.load(child_file, 2, parent);
    } else {
      child = kit.load(child_file, 2);
      expect_alone(child);
      parent = kit.load(parent_file, 1);
      EXPECT_EQ(bound(parent, 1), 0u) << "nobody said yet that it is a parent";
      EXPECT_TRUE(child->bind_parent(*parent).ok());
    }
    ASSERT_TRUE(child != nullptr && parent != nullptr);
    EXPECT_EQ(child->parent(), parent);
    expect_linked(child, parent);
    // Blocks were kept where the linker had it right.
    EXPECT_EQ(child->used_cooked_blocks(), (how & 1) != 0);
    if (parent_leaves_first) {
      kit.unload(parent);
      expect_alone(child);
      EXPECT_EQ(child->created(), 5u) << "children stay";
      kit.unload(child);
    } else {
      kit.unload(child);
      EXPECT_EQ(bound(parent, 1), 0u);
      kit.unload(parent);
    }
    EXPECT_EQ(kit.account(), before);
  }
}

// P092: whoever was a parent before leaves nothing behind. Here the first parent map lacks the entity that the children
// name (its archetype is not loaded), the second has it elsewhere, the third is the one that was linked.
TEST_F(MapLinks, FollowEachParentThatComes) {
  start();
  const std::vector<LodParent> known{{{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {}, {}};
  test::MapMaker lacking = lods, moved_away = lods;
  lacking.entities[1].archetype = hash_name("nowhere");
  moved_away.entities[1].at = {-10, -20, -30};
  moved_away.lod_sets[0].distance = 77;
  const test::MapFile first = lacking.finish(), second = moved_away.finish(), third = lods.finish();
  const test::MapFile plain = near.finish(), linked = near.finish(props.traits(), known);
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    MapContents* parent = kit.load(first, 1);
    MapContents* const child = kit.load(*bytes, 2, parent);
    ASSERT_TRUE(child != nullptr && parent != nullptr);
    EXPECT_EQ(child->used_cooked_blocks(), bytes == &linked) << "the set is there, though its parent is not";
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_FALSE(is_bound(child, i));
      EXPECT_EQ(kit.desc(*child->entity(i)).pivot, (Vec3{10, 20, 30}));
      EXPECT_EQ(kit.desc(*child->entity(i)).distance, 120);
    }
    kit.unload(parent);
    parent = kit.load(second, 1);
    ASSERT_TRUE(child->bind_parent(*parent).ok());
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(child->lod_parent(*child->entity(i)), parent->entity(1));
      EXPECT_EQ(kit.desc(*child->entity(i)).pivot, (Vec3{-10, -20, -30}));
      EXPECT_EQ(kit.desc(*child->entity(i)).distance, 77);
    }
    kit.unload(parent);
    parent = kit.load(third, 1);
    ASSERT_TRUE(child->bind_parent(*parent).ok());
    expect_linked(child, parent);
    kit.unload(child);
    kit.unload(parent);
    EXPECT_EQ(kit.account(), before);
  }
}

// MAP-4: more children than declared are told, once for each map; fewer are elsewhere.
TEST_F(MapLinks, CountsAgainstWhatParentsDeclare) {
  start();
  lods.entities[1].children = 2;
  const test::MapFile parent_file = lods.finish(), child_file = near.finish();
  MapContents* const parent = kit.load(parent_file, 1);
  EXPECT_EQ(log.count(), 0u) << "its children may come yet: " << log.all();
  MapContents* const child = kit.load(child_file, 2, parent);
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("entity 1 declares 2 children, and has 3"), std::string::npos) << log.all();
  child->unbind_parent();
  EXPECT_TRUE(child->bind_parent(*parent).ok());
  EXPECT_EQ(log.count(), 1u);
  kit.unload(child);
  kit.unload(parent);
}

TEST_F(MapLinks, OfSeveralMapsShareAParent) {
  start();
  const test::MapFile parent_file = lods.finish(), child_file = near.finish();
  MapContents* const parent = kit.load(parent_file, 1);
  MapContents* children[4] = {};
  for (uint32_t i = 0; i < 4; ++i) children[i] = kit.load(child_file, 10 + i, parent);
  EXPECT_EQ(bound(parent, 1), 12u);
  kit.unload(children[1]);  // from the middle, the end and the begin of the list
  EXPECT_EQ(bound(parent, 1), 9u);
  kit.unload(children[0]);
  kit.unload(children[3]);
  EXPECT_EQ(bound(parent, 1), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(children[2]->lod_parent(*children[2]->entity(i)), parent->entity(1));
  EXPECT_TRUE(parent->destroy_entity(1).ok());
  for (uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(is_bound(children[2], i)) << "a parent of another map that goes";
  kit.unload(parent);
  kit.unload(children[2]);
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapLinks, KeepAContract) {
  start();
  const test::MapFile parent_file = lods.finish(), child_file = near.finish();
  MapContents* const parent = kit.load(parent_file, 1);
  MapContents* const child = kit.load(child_file, 2, parent);
  test::BrokenContracts contracts;
  EXPECT_EQ(child->bind_parent(*parent).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(parent->bind_parent(*parent).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  expect_linked(child, parent);
  parent->unbind_parent();  // it has none
  child->unbind_parent();
  child->unbind_parent();
  expect_alone(child);
  kit.unload(parent);
  kit.unload(child);
}

// A lock refuses a bind that would change what readers see, and only such a one.
TEST_F(MapLinks, WaitForTheUnlockWhereReadersWouldSee) {
  start();
  const std::vector<LodParent> known{{{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {{10, 20, 30}, 120}, {}, {}};
  const test::MapFile parent_file = lods.finish(), plain = near.finish(), linked = near.finish(props.traits(), known);
  MapContents* const parent = kit.load(parent_file, 1);
  MapContents* const ready = kit.load(linked, 2);
  MapContents* const other = kit.load(plain, 3);
  kit.world.lock();
  EXPECT_TRUE(ready->bind_parent(*parent).ok());
  EXPECT_EQ(other->bind_parent(*parent).code, StatusCode::in_use);
  EXPECT_EQ(other->parent(), nullptr);
  EXPECT_EQ(bound(parent, 1), 3u);
  kit.world.unlock();
  EXPECT_TRUE(other->bind_parent(*parent).ok());
  EXPECT_EQ(bound(parent, 1), 6u);
  for (const MapContents* const map : {ready, other}) {
    EXPECT_EQ(map->lod_parent(*map->entity(0)), parent->entity(1));
    EXPECT_EQ(kit.desc(*map->entity(0)).pivot, (Vec3{10, 20, 30}));
  }
  for (MapContents* const map : {parent, ready, other}) kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

}  // namespace
}  // namespace meridian
