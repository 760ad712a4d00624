// SPDX-License-Identifier: MIT
// OCCL-1, SG-8, MDS-5: occluders of maps stand in the set for as long as the map is shown, and where it is.
#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"
#include "unit/runtime/map/opened_map.h"

namespace meridian {
namespace {

struct MapOccluders : testing::Test {
  // Before the world, which empties it.
  test::CheckedMemory memory;
  MemoryTracker tracker;
  OccluderSet set;
  test::MapKit kit;
  test::CapturedLog log;

  void start(uint32_t capacity = 32) {
    ASSERT_TRUE(set.init({.occluders = capacity, .imap_slots = 100, .tracker = &tracker}, memory).ok());
    kit.map_config.occluders = &set;
    ASSERT_TRUE(kit.init().ok());
  }
  /// So many boxes of 2 x 4 x 6 m, 10 m apart from `x` on, and two meshes, one of them for water.
  static test::MapFile file(int boxes, int x, bool has_bad_ones = false) {
    test::Builder b;
    std::vector<schema::BoxOccluder> rows;
    for (int i = 0; i < boxes; ++i) {
      rows.emplace_back(static_cast<int16_t>(4 * (x + 10 * i)), int16_t{0}, int16_t{12}, int16_t{16384}, int16_t{16},
                        int16_t{8}, int16_t{24}, int16_t{0});
    }
    if (has_bad_ones) {
      rows.emplace_back(int16_t{0}, int16_t{0}, int16_t{0}, int16_t{0}, int16_t{4}, int16_t{4}, int16_t{4}, int16_t{0});
    }
    test::Mesh water = test::mesh_of(test::kQuad, {0, 1, 2, 0, 2, 3});
    water.flags = 1;
    std::vector meshes = {test::add_mesh(b, test::mesh_of(test::kQuad, {0, 1, 2})), test::add_mesh(b, water)};
    if (has_bad_ones) meshes.push_back(test::add_mesh(b, test::mesh_of(test::kQuad, {0, 1, 9})));
    const auto row_vector = b.CreateVectorOfStructs(rows);
    const auto mesh_vector = b.CreateVector(meshes);
    schema::MapDataBuilder map(b);
    map.add_name(hash_name("town").value);
    map.add_box_occluders(row_vector);
    map.add_occlude_models(mesh_vector);
    schema::FinishMapDataBuffer(b, map.Finish());
    return {{b.GetBufferPointer(), b.GetSize()}, false};
  }
  const Occluder* find(OccluderId id) const {
    for (const Occluder& o : set.all()) {
      if (o.id == id) return &o;
    }
    return nullptr;
  }
};

TEST_F(MapOccluders, ComeAndGoWithTheirMap) {  // OCCL-1
  start();
  const test::MapFile town = file(2, 100);
  MapContents* const map = kit.load(town, 17);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(set.count(), 4u);
  EXPECT_EQ(set.count_of(17), 4u);
  const Occluder* const box = find({17, 1, OccluderKind::box});
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->box.centre, (Vec3{110, 0, 3}));
  EXPECT_EQ(box->box.half, (Vec3{1, 2, 3}));
  EXPECT_EQ(box->box.y_axis, (Vec3{0, 1, 0}));
  const Occluder *const mesh = find({17, 0, OccluderKind::mesh}), *const water = find({17, 1, OccluderKind::mesh});
  ASSERT_TRUE(mesh != nullptr && water != nullptr);
  EXPECT_FALSE(mesh->water_only);
  EXPECT_TRUE(water->water_only);
  ASSERT_EQ(mesh->vertex_count, 4u);
  EXPECT_EQ(mesh->triangle_count, 1u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(mesh->vertices[i], test::kQuad[i]);
  ASSERT_TRUE(map->hide().ok());
  EXPECT_EQ(set.count(), 0u);
  ASSERT_TRUE(map->show().ok());
  EXPECT_EQ(set.count(), 4u);
  kit.unload(map);
  EXPECT_EQ(set.count(), 0u);
  MapContents* const later = kit.load(town, {.slot = 18, .postponed = true});
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(set.count(), 0u);
  ASSERT_TRUE(later->show().ok());
  EXPECT_EQ(set.count_of(18), 4u);  // and the world takes them away with it
}

TEST_F(MapOccluders, FollowTheOrigin) {  // SG-8
  start();
  const test::MapFile town = file(1, 8000);
  MapContents* const map = kit.load(town, 3);
  ASSERT_NE(map, nullptr);
  ASSERT_TRUE(kit.world.rebase({-7999.5f, 0.125f, 0}).ok());
  ASSERT_EQ(set.count(), 3u);
  EXPECT_EQ(find({3, 0, OccluderKind::box})->box.centre, (Vec3{0.5f, 0.125f, 3}));
  EXPECT_EQ(find({3, 0, OccluderKind::mesh})->vertices[1], (Vec3{5 - 7999.5f, 2.125f, 3}));
  ASSERT_TRUE(map->hide().ok());
  ASSERT_TRUE(kit.world.rebase({7999.5f, -0.125f, 0}).ok());
  EXPECT_EQ(set.count(), 0u);
  ASSERT_TRUE(map->show().ok());
  EXPECT_EQ(find({3, 0, OccluderKind::box})->box.centre, (Vec3{8000, 0, 3}));
}

TEST_F(MapOccluders, ANewVersionTakesThePlaceOfTheOld) {  // MDS-5
  start();
  const test::MapFile before = file(2, 100), after = file(5, 200);
  MapContents *const old = kit.load(before, 3), *const now =
                                                    kit.load(after, {.slot = 4, .postponed = true, .aside = true});
  ASSERT_TRUE(old != nullptr && now != nullptr);
  EXPECT_EQ(set.count(), 4u);
  ASSERT_TRUE(kit.maps.replace(*old, *now).ok());
  EXPECT_EQ(set.count(), 7u);
  EXPECT_EQ(set.count_of(3), 7u);
  EXPECT_EQ(find({3, 0, OccluderKind::box})->box.centre.x, 200);
  kit.unload(old);
  EXPECT_EQ(set.count_of(3), 7u);
  kit.unload(now);
  EXPECT_EQ(set.count(), 0u);
}

TEST_F(MapOccluders, StayWhileAPictureIsDrawn) {  // OCCL-1
  start();
  const test::MapFile town = file(1, 0);
  MapContents* const map = kit.load(town, 3);
  ASSERT_NE(map, nullptr);
  set.hold();
  EXPECT_TRUE(kit.maps.is_busy());
  EXPECT_EQ(map->hide().code, StatusCode::in_use);
  EXPECT_EQ(unload_map_data(kit.maps, *map).code, StatusCode::in_use);
  EXPECT_EQ(kit.try_load(town, {.slot = 4}).status().code, StatusCode::in_use);
  EXPECT_EQ(set.count(), 3u);
  set.let_go();
  EXPECT_FALSE(kit.maps.is_busy());
  EXPECT_TRUE(map->hide().ok());
  EXPECT_EQ(set.count(), 0u);
}

TEST_F(MapOccluders, BadOnesAreLeftOutAndToldOnce) {  // OCCL-1
  start();
  const test::MapFile town = file(1, 0, true);
  MapContents* const map = kit.load(town, 3);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(set.count(), 3u);
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("box 1"), std::string::npos) << log.all();
  ASSERT_TRUE(map->hide().ok());
  ASSERT_TRUE(map->show().ok());
  EXPECT_EQ(log.count(), 1u);
}

TEST_F(MapOccluders, AFullSetLeavesTheRestOut) {  // OCCL-1
  start(3);
  const test::MapFile town = file(4, 0);
  ASSERT_NE(kit.load(town, 3), nullptr);
  EXPECT_EQ(set.count(), 3u);
  EXPECT_EQ(set.left_out(), 3u);
  EXPECT_EQ(log.count(), 1u) << log.all();
}

TEST(MapWithoutOccluders, NothingHappens) {  // OCCL-1
  test::MapKit kit;
  ASSERT_TRUE(kit.init().ok());
  const test::MapFile town = MapOccluders::file(2, 0);
  MapContents* const map = kit.load(town, 3);
  ASSERT_NE(map, nullptr);
  EXPECT_FALSE(kit.maps.is_busy());
  kit.unload(map);
}

}  // namespace
}  // namespace meridian
