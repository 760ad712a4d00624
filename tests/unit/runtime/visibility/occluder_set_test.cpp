// SPDX-License-Identifier: MIT
// OCCL-1: occluders come and go by the slots of their maps.
#include "meridian/visibility/occluder_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

constexpr Vec3 kCorners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr uint8_t kTetrahedron[] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
constexpr uint8_t kOpen[] = {0, 1, 2, 0, 3, 1, 1, 3, 2};

struct OccluderSetTest : testing::Test {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  test::CapturedLog log;
  OccluderSet set;
  void init(OccluderSetConfig config) {
    config.tracker = &tracker;
    ASSERT_TRUE(set.init(config, memory).ok());
  }
};

TEST_F(OccluderSetTest, KeepsWhatItIsGiven) {  // OCCL-1
  init({.occluders = 4, .imap_slots = 10});
  ASSERT_TRUE(set.add_box({.imap = 3, .index = 7}, {.centre = {1, 2, 3}, .half = {3, 4, 12}}).ok());
  ASSERT_TRUE(set.add_mesh({.imap = 3, .index = 1}, {kCorners, kTetrahedron, true}).ok());
  ASSERT_TRUE(set.add_mesh({.imap = 4, .index = 0}, {kCorners, kOpen, false}).ok());
  ASSERT_EQ(set.count(), 3u);
  EXPECT_EQ(set[0].id, (OccluderId{3, 7, OccluderKind::box}));
  EXPECT_EQ(set[0].centre, (Vec3{1, 2, 3}));
  EXPECT_GE(set[0].radius, 13.0f);  // the root of 9 + 16 + 144
  EXPECT_LE(set[0].radius, 13.001f);
  EXPECT_EQ(set[1].id, (OccluderId{3, 1, OccluderKind::mesh}));
  EXPECT_TRUE(set[1].water_only);
  EXPECT_TRUE(set[1].is_closed);
  ASSERT_EQ(set[1].vertex_count, 4u);
  ASSERT_EQ(set[1].triangle_count, 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(set[1].vertices[i], kCorners[i]);
  EXPECT_TRUE(std::equal(std::begin(kTetrahedron), std::end(kTetrahedron), set[1].triangles));
  EXPECT_FALSE(set[2].is_closed);
  EXPECT_FALSE(set[2].water_only);
  EXPECT_EQ(set.count_of(3), 2u);
  EXPECT_EQ(set.count_of(4), 1u);
  EXPECT_STREQ(to_string(set[0].id.kind), "box");
  EXPECT_STREQ(to_string(set[1].id.kind), "mesh");
}

TEST_F(OccluderSetTest, LeftHandedAxesAreTurnedRound) {  // OCCL-1
  init({.occluders = 4});
  ASSERT_TRUE(set.add_box({1, 0}, {.x_axis = {-1, 0, 0}, .half = {1, 1, 1}}).ok());
  const OccludingBox& box = set[0].box;
  EXPECT_GT(dot(box.x_axis, cross(box.y_axis, box.z_axis)), 0.0f);
}

TEST_F(OccluderSetTest, RefusesWhatIsNoOccluder) {  // OCCL-1
  init({.occluders = 8, .imap_slots = 2});
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const OccludingBox bad[] = {{.half = {-1, 1, 1}},
                              {.half = {1, inf, 1}},
                              {.centre = {0, nan, 0}, .half = {1, 1, 1}},
                              {.y_axis = {1, 0, 0}, .half = {1, 1, 1}},
                              {.z_axis = {0, 0, 0}, .half = {1, 1, 1}}};
  for (const OccludingBox& box : bad) EXPECT_EQ(set.add_box({1, 0}, box).code, StatusCode::bad_value);
  const uint8_t beyond[] = {0, 1, 4};
  const std::vector<Vec3> many(257);
  const Vec3 endless[] = {{0, 0, 0}, {1, 0, 0}, {0, inf, 0}};
  const std::span<const uint8_t> triangle(kTetrahedron, 3);
  EXPECT_EQ(set.add_mesh({1, 0}, {kCorners, beyond}).code, StatusCode::bad_value);
  EXPECT_EQ(set.add_mesh({1, 0}, {kCorners, triangle.first(2)}).code, StatusCode::bad_value);
  EXPECT_EQ(set.add_mesh({1, 0}, {many, triangle}).code, StatusCode::bad_value);
  EXPECT_EQ(set.add_mesh({1, 0}, {endless, triangle}).code, StatusCode::bad_value);
  EXPECT_EQ(set.add_box({2, 0}, {.half = {1, 1, 1}}).code, StatusCode::bad_value) << "no such slot";
  EXPECT_EQ(set.count(), 0u);
  EXPECT_TRUE(set.add_mesh({1, 0}, {}).ok()) << "an empty mesh hides nothing";
  EXPECT_TRUE(set.remove_map(99).ok());
  EXPECT_EQ(set.count_of(99), 0u);
}

TEST_F(OccluderSetTest, SaysOnceThatItIsFull) {  // OCCL-1
  init({.occluders = 2, .mesh_bytes = 128});
  const std::vector<Vec3> large(200);
  EXPECT_EQ(set.add_mesh({1, 5}, {large, {}}).code, StatusCode::out_of_slots);
  EXPECT_EQ(log.count(), 1u) << log.all();
  ASSERT_TRUE(set.add_box({1, 0}, {.half = {1, 1, 1}}).ok());
  ASSERT_TRUE(set.add_box({1, 1}, {.half = {1, 1, 1}}).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(set.add_box({1, 2}, {.half = {1, 1, 1}}).code, StatusCode::out_of_slots);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(set.left_out(), 4u);
  ASSERT_TRUE(set.clear().ok());
  EXPECT_EQ(set.count(), 0u);
  for (uint32_t i = 0; i < 3; ++i) (void)set.add_box({1, i}, {.half = {1, 1, 1}});
  EXPECT_EQ(set.count(), 2u);
  EXPECT_EQ(log.count(), 2u) << "after clear() it is said again";
}

TEST_F(OccluderSetTest, WhatIsHeldDoesNotChange) {  // OCCL-1
  init({.occluders = 4});
  ASSERT_TRUE(set.add_box({1, 0}, {.half = {1, 1, 1}}).ok());
  test::BrokenContracts contracts;
  set.hold();
  EXPECT_TRUE(set.is_held());
  EXPECT_EQ(set.add_box({1, 1}, {.half = {1, 1, 1}}).code, StatusCode::in_use);
  EXPECT_EQ(set.add_mesh({1, 1}, {kCorners, kTetrahedron}).code, StatusCode::in_use);
  EXPECT_EQ(set.remove_map(1).code, StatusCode::in_use);
  EXPECT_EQ(set.clear().code, StatusCode::in_use);
  set.let_go();
  EXPECT_EQ(contracts.count(), test::kAsserts ? 4u : 0u);
  EXPECT_EQ(set.count(), 1u);
  EXPECT_TRUE(set.remove_map(1).ok());
  EXPECT_EQ(set.init({}, memory).code, StatusCode::in_use);
}

TEST(OccluderSet, NeedsRoomAndMemory) {  // OCCL-1
  test::CheckedMemory memory;
  MemoryTracker tracker;
  OccluderSet none;
  EXPECT_EQ(none.init({.occluders = 0, .tracker = &tracker}, memory).code, StatusCode::bad_value);
  for (int given = 0; given < 2; ++given) {
    OccluderSet set;
    memory.fail_after(given);
    EXPECT_EQ(set.init({.tracker = &tracker}, memory).code, StatusCode::out_of_memory);
  }
}

// Against a plain model: a map of maps.
TEST(OccluderSet, RandomMapsComeAndGo) {  // OCCL-1
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    test::CheckedMemory memory;
    MemoryTracker tracker;
    test::CapturedLog log;
    OccluderSet set;
    ASSERT_TRUE(set.init({.occluders = 60, .mesh_bytes = 4096, .imap_slots = 12, .tracker = &tracker}, memory).ok());
    std::map<ImapSlot, std::map<std::pair<OccluderKind, uint32_t>, float>> model;
    uint32_t next = 0, total = 0;
    for (int step = 0; step < 2000; ++step) {
      const ImapSlot slot = random.below(12);
      const float mark = random.between(-100.0f, 100.0f);
      const uint32_t kind = random.below(8);
      if (kind == 0) {
        ASSERT_TRUE(set.remove_map(slot).ok());
        total -= static_cast<uint32_t>(model[slot].size());
        model.erase(slot);
      } else if (kind < 4) {
        const Status s = set.add_box({slot, next}, {.centre = {mark, 0, 0}, .half = {1, 2, 3}});
        ASSERT_EQ(s.ok(), total < 60);
        if (s.ok()) model[slot][{OccluderKind::box, next++}] = mark;
        total += s.ok() ? 1 : 0;
      } else {
        std::vector<Vec3> vertices(1 + random.below(30), Vec3{mark, 1, 1});
        const std::vector<uint8_t> triangles(3 * random.below(20));
        const Status s = set.add_mesh({slot, next}, {vertices, triangles});
        if (s.ok()) model[slot][{OccluderKind::mesh, next++}] = mark;
        total += s.ok() ? 1 : 0;
      }
      ASSERT_EQ(set.count(), total);
      ASSERT_EQ(set.count_of(slot), model[slot].size());
    }
    uint32_t seen = 0;
    for (const Occluder& o : set.all()) {
      const auto& of_map = model[o.id.imap];
      const auto at = of_map.find({o.id.kind, o.id.index});
      ASSERT_NE(at, of_map.end());
      EXPECT_EQ(o.centre.x, at->second);
      for (uint32_t i = 0; i < o.vertex_count; ++i) EXPECT_EQ(o.vertices[i], (Vec3{at->second, 1, 1}));
      ++seen;
    }
    EXPECT_EQ(seen, total);
    for (ImapSlot slot = 0; slot < 12; ++slot) ASSERT_TRUE(set.remove_map(slot).ok());
    EXPECT_EQ(set.count(), 0u);
  }
}

}  // namespace
}  // namespace meridian
