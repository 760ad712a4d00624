// SPDX-License-Identifier: MIT
// OCCL-1, OCCL-2, P096: pictures that can be worked out by hand. Random ones: tests/property.
#include "meridian/visibility/occlusion_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

/// A camera at the origin that looks along y, and sees from -y to y both ways.
constexpr OcclusionView kAhead{.half_width = 1, .half_height = 1, .near_distance = 0.5f};

Aabb cube(const Vec3& at, float half) { return {at - Vec3{half, half, half}, at + Vec3{half, half, half}}; }

struct OcclusionTest : testing::Test {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  OccluderSet set;
  OcclusionBuffer buffer;
  SerialJobs jobs;
  uint32_t next = 0;

  void SetUp() override {
    ASSERT_TRUE(set.init({.occluders = 256, .tracker = &tracker}, memory).ok());
    ASSERT_TRUE(buffer.init({.width = 64, .height = 64, .occluders = 128, .primitives = 128}, memory).ok());
  }
  OccluderId box(const Vec3& at, const Vec3& half) {
    const OccluderId id{.imap = 1, .index = next++};
    EXPECT_TRUE(set.add_box(id, {.centre = at, .half = half}).ok());
    return id;
  }
  void draw(const OcclusionView& view = kAhead) { ASSERT_TRUE(buffer.rasterise(set, view, jobs).ok()); }
  float at(uint32_t x, uint32_t y) const { return buffer.nearness()[y * 64 + x]; }
};

TEST_F(OcclusionTest, WhatIsBehindAWallIsHidden) {  // OCCL-1, OCCL-2
  box({0, 10, 0}, {4, 0.5f, 4});
  draw();
  EXPECT_TRUE(buffer.is_hidden(cube({0, 20, 0}, 1)));
  EXPECT_TRUE(buffer.is_hidden(cube({5, 20, -5}, 0.5f)));
  EXPECT_FALSE(buffer.is_hidden(cube({0, 5, 0}, 1))) << "before it";
  EXPECT_FALSE(buffer.is_hidden(cube({0, 10, 0}, 2))) << "it begins before the wall";
  EXPECT_FALSE(buffer.is_hidden(cube({9, 20, 0}, 2))) << "it looks past the wall's side";
  EXPECT_FALSE(buffer.is_hidden(cube({15, 20, 0}, 1))) << "beside it";
  EXPECT_FALSE(buffer.is_hidden(cube({0, -20, 0}, 1))) << "behind the camera";
  EXPECT_FALSE(buffer.is_hidden(cube({300, 20, 0}, 1))) << "outside the view";
  EXPECT_FALSE(buffer.is_hidden(cube({0, 0, 0}, 0.1f))) << "around the camera";
  EXPECT_FALSE(buffer.is_hidden({{-1, 0.4f, -1}, {1, 30, 1}})) << "through the near plane";
  EXPECT_EQ(buffer.statistics().drawn, 1u);
  EXPECT_EQ(buffer.statistics().primitives, 1u);
}

// The front is at y = 9.5, where the view is 19 wide, so 64 pixels are 19 m: the wall's 8 m are 26.95 pixels, from
// 18.53 to 45.47. Centres inside are those of pixels 19 (19.5) to 44 (44.5).
TEST_F(OcclusionTest, PixelsWhoseCentresAreInsideAreDrawn) {  // OCCL-1
  box({0, 10, 0}, {4, 0.5f, 4});
  draw();
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      const bool is_in = x >= 19 && x <= 44 && y >= 19 && y <= 44;
      ASSERT_EQ(at(x, y) != OcclusionBuffer::kNothing, is_in) << x << ' ' << y;
      if (!is_in) continue;
      EXPECT_LE(static_cast<double>(at(x, y)), 1 / 9.5);
      EXPECT_NEAR(at(x, y), 1 / 9.5, 1e-6);
    }
  }
  // As a whole: the square of pixel 19 begins at 19, after 18.53; that of 44 ends at 45, before 45.47: all stay. But
  // for a wall of 7.9 m, from 18.70 to 45.30, they stay too, and of 7.4 m, from 19.54 to 44.46, 19 and 44 go.
  ASSERT_TRUE(set.clear().ok());
  box({0, 10, 0}, {3.7f, 0.5f, 4});
  OcclusionView strict = kAhead;
  draw(strict);
  EXPECT_EQ(at(19, 32), OcclusionBuffer::kNothing) << "its centre is at 19.5, outside";
  EXPECT_NE(at(20, 32), OcclusionBuffer::kNothing);
  ASSERT_TRUE(set.clear().ok());
  box({0, 10, 0}, {3.75f, 0.5f, 4});  // from 19.37: the centre is inside, the square is not
  draw(strict);
  EXPECT_NE(at(19, 32), OcclusionBuffer::kNothing);
  strict.is_strict = true;
  draw(strict);
  EXPECT_EQ(at(19, 32), OcclusionBuffer::kNothing);
  EXPECT_NE(at(20, 32), OcclusionBuffer::kNothing);
}

TEST_F(OcclusionTest, TheNearestOccluderCounts) {  // OCCL-1
  box({0, 40, 0}, {40, 1, 40});
  box({0, 20, 0}, {2, 0, 40});  // a wall without thickness
  box({0, 60, 0}, {60, 1, 60});
  draw();
  EXPECT_NEAR(at(32, 32), 1 / 20.0, 1e-6);
  EXPECT_NEAR(at(4, 32), 1 / 39.0, 1e-6);
  EXPECT_TRUE(buffer.is_hidden(cube({0, 25, 0}, 0.5f)));
  EXPECT_FALSE(buffer.is_hidden(cube({8, 25, 0}, 0.5f)));
  EXPECT_TRUE(buffer.is_hidden(cube({8, 50, 0}, 0.5f)));
}

// Nothing hides on the camera's own side of a wall that it goes through, inch by inch.
TEST_F(OcclusionTest, AWallAroundTheCameraHidesNothing) {  // P096
  box({0, 10, 0}, {30, 0.5f, 30});
  for (float y = 7; y < 13; y += 0.01f) {
    SCOPED_TRACE(y);
    OcclusionView view = kAhead;
    view.position.y = y;
    draw(view);
    const bool is_before = y + 0.5f < 9.5f;
    const Vec3 own{0, y + 1.0f, 0};  // on the camera's side for as long as that ends before the wall
    if (own.y + 0.2f < 9.5f) {
      EXPECT_FALSE(buffer.is_hidden(cube(own, 0.2f)));
    }
    // Near the wall it stops to hide, and never before the near plane's middle meets it.
    if (!is_before) {
      EXPECT_FALSE(buffer.is_hidden(cube({0, 30, 0}, 1)));
    }
    if (y + 0.5f * 1.8f < 9.5f) {
      EXPECT_TRUE(buffer.is_hidden(cube({0, 30, 0}, 1)));
    }
    view.forward = {0, -1, 0};
    view.right = {-1, 0, 0};
    draw(view);
    if (y < 10.5f + 0.5f) {
      EXPECT_FALSE(buffer.is_hidden(cube({0, -10, 0}, 1)));
    }
  }
  draw({.position = {0, 10, 0}});
  EXPECT_EQ(buffer.statistics().around, 1u);
}

TEST_F(OcclusionTest, AClosedMeshAroundTheCameraHidesNothing) {  // P096
  const Vec3 corners[] = {{-9, -9, -9}, {9, -9, -9}, {0, 9, -9}, {0, 0, 9}};
  const uint8_t closed[] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
  ASSERT_TRUE(set.add_mesh({1, 0}, {corners, closed}).ok());
  draw();
  EXPECT_EQ(buffer.statistics().around, 1u);
  EXPECT_FALSE(buffer.is_hidden(cube({0, 30, 0}, 0.1f)));
  // From outside it does, and an open one does from inside too: it has no inside.
  OcclusionView back = kAhead;
  back.position = {0, -30, -4};
  draw(back);
  EXPECT_TRUE(buffer.is_hidden(cube({0, 30, -4}, 0.1f)));
  ASSERT_TRUE(set.clear().ok());
  ASSERT_TRUE(set.add_mesh({1, 0}, {corners, std::span(closed).last(6)}).ok());
  draw();
  EXPECT_EQ(buffer.statistics().around, 0u);
  EXPECT_TRUE(buffer.is_hidden(cube({0.5f, 30, -0.5f}, 0.1f)));
}

TEST_F(OcclusionTest, WhatHidesOnlyWaterIsForWater) {  // OCCL-1
  const Vec3 corners[] = {{-20, 10, -20}, {20, 10, -20}, {0, 10, 20}};
  const uint8_t triangle[] = {0, 1, 2};
  ASSERT_TRUE(set.add_mesh({1, 0}, {corners, triangle, true}).ok());
  draw();
  EXPECT_FALSE(buffer.is_hidden(cube({0, 20, 0}, 1)));
  EXPECT_EQ(buffer.statistics().in_view, 0u);
  OcclusionView water = kAhead;
  water.with_water_only = true;
  draw(water);
  EXPECT_TRUE(buffer.is_hidden(cube({0, 20, 0}, 1)));
}

// A triangle from before the near plane to behind the camera: what is left of it is right.
TEST_F(OcclusionTest, TrianglesAreCutAtTheNearPlane) {  // OCCL-1
  const Vec3 floor[] = {{-100, -100, -2}, {100, -100, -2}, {0, 100, -2}};
  const uint8_t triangle[] = {0, 1, 2};
  ASSERT_TRUE(set.add_mesh({1, 0}, {floor, triangle}).ok());
  OcclusionView view = kAhead;
  view.half_height = 8;  // down to -8 y: the floor comes in at y = 0.25, before the near plane at 0.5
  draw(view);
  // Row 63 looks at (63.5 / 64 * 2 - 1) * 8 = 7.875 down: it meets the floor at 2 / 7.875 = 0.254.
  EXPECT_EQ(at(32, 63), OcclusionBuffer::kNothing);
  // Row 40: 2.125 down, y = 0.941.
  EXPECT_NEAR(at(32, 40), 2.125 / 2, 1e-5);
  EXPECT_EQ(at(32, 30), OcclusionBuffer::kNothing);
  EXPECT_TRUE(buffer.is_hidden(cube({0, 20, -50}, 2)));
  EXPECT_FALSE(buffer.is_hidden(cube({0, 5, -1}, 0.5f)));
}

TEST_F(OcclusionTest, OrthographicViewsHideWhatIsBelow) {  // OCCL-1, OCCL-2
  // From above, 32 m to each side: a pixel is a metre.
  const OcclusionView sun{.position = {0, 0, 100},
                          .right = {1, 0, 0},
                          .forward = {0, 0, -1},
                          .up = {0, 1, 0},
                          .half_width = 32,
                          .half_height = 32,
                          .near_distance = 0,
                          .is_orthographic = true};
  box({0, 0, 10}, {10, 10, 1});
  box({0, 0, 120}, {20, 20, 1});  // behind the sun
  box({20, 20, 100}, {5, 5, 5});  // half behind it
  draw(sun);
  EXPECT_NEAR(at(32, 32), -89, 1e-4);
  EXPECT_LE(at(32, 32), -89);
  EXPECT_EQ(at(21, 32), OcclusionBuffer::kNothing);
  EXPECT_NE(at(22, 32), OcclusionBuffer::kNothing);
  EXPECT_EQ(at(52, 12), OcclusionBuffer::kNothing) << "its top is before the near plane";
  EXPECT_TRUE(buffer.is_hidden(cube({0, 0, 4}, 2)));
  EXPECT_TRUE(buffer.is_hidden({{-3, -3, 0}, {3, 3, 8}}));
  EXPECT_FALSE(buffer.is_hidden({{-8, -8, 0}, {12, 8, 8}}));
  EXPECT_FALSE(buffer.is_hidden(cube({0, 0, 12}, 2)));
  EXPECT_FALSE(buffer.is_hidden(cube({0, 0, 130}, 2)));
}

// Each of 32 boxes has its own bit, wherever in memory the numbers are.
TEST_F(OcclusionTest, TestsThirtyTwoAtATime) {  // OCCL-2
  box({0, 10, 0}, {4, 0.5f, 4});
  draw();
  std::vector<float> numbers[6];
  for (auto& of : numbers) of.assign(50, std::numeric_limits<float>::quiet_NaN());
  uint32_t expected = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const bool is_behind = i % 3 == 0;
    numbers[0][i + 1] = 0.1f * static_cast<float>(i % 5);
    numbers[1][i + 1] = is_behind ? 20.0f : 6.0f;
    numbers[2][i + 1] = 0;
    for (size_t k = 3; k < 6; ++k) numbers[k][i + 1] = 0.5f;
    expected |= static_cast<uint32_t>(is_behind) << i;
  }
  for (const SimdWidth width : {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
    if (!set_simd_width(width)) continue;
    const OcclusionBoxes boxes{&numbers[0][1], &numbers[1][1], &numbers[2][1],
                               &numbers[3][1], &numbers[4][1], &numbers[5][1]};
    EXPECT_EQ(buffer.hidden(boxes, 0xFFFFFFFF), expected) << to_string(width);
    EXPECT_EQ(buffer.hidden(boxes, 0x0F0F00F1), expected & 0x0F0F00F1) << to_string(width);
    EXPECT_EQ(buffer.hidden(boxes, 0), 0u);
  }
  set_simd_width(best_simd_width());
}

TEST_F(OcclusionTest, WhatIsNotFiniteIsNeverHidden) {  // OCCL-2
  box({0, 10, 0}, {40, 0.5f, 40});
  draw();
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float bad[] = {inf, -inf, nan, 1e30f};
  for (const SimdWidth width : {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
    if (!set_simd_width(width)) continue;
    for (const float v : bad) {
      for (size_t k = 0; k < 6; ++k) {
        float numbers[6][16] = {};
        for (size_t i = 0; i < 6; ++i) numbers[i][0] = i == 1 ? 20.0f : i < 3 ? 0.0f : 0.5f;
        EXPECT_EQ(buffer.hidden({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]}, 1), 1u);
        numbers[k][0] = v;
        EXPECT_EQ(buffer.hidden({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]}, 1), 0u)
            << to_string(width) << ' ' << v << ' ' << k;
      }
    }
  }
  set_simd_width(best_simd_width());
}

TEST_F(OcclusionTest, BadViewsMakeNoPicture) {  // OCCL-1
  box({0, 10, 0}, {40, 0.5f, 40});
  draw();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<OcclusionView> bad(6, kAhead);
  bad[0].position.x = nan;
  bad[1].half_width = 0;
  bad[2].near_distance = 0;
  bad[3].up = {0, 1, 0};
  bad[4].half_height = -1;
  bad[5].forward = {0, 2, 0};
  for (const OcclusionView& view : bad) {
    EXPECT_EQ(buffer.rasterise(set, view, jobs).code, StatusCode::bad_value);
    EXPECT_FALSE(buffer.is_ready());
    EXPECT_FALSE(set.is_held());
    EXPECT_FALSE(buffer.is_hidden(cube({0, 20, 0}, 1)));
    EXPECT_TRUE(buffer.nearness().empty());
  }
  draw();
  EXPECT_TRUE(buffer.is_hidden(cube({0, 20, 0}, 1)));
  buffer.reset();
  EXPECT_FALSE(buffer.is_hidden(cube({0, 20, 0}, 1)));
}

TEST_F(OcclusionTest, HoldsTheSetWhileItDraws) {  // OCCL-1
  box({0, 10, 0}, {40, 0.5f, 40});
  ASSERT_TRUE(buffer.begin(set, kAhead, jobs).ok());
  EXPECT_TRUE(set.is_held());
  EXPECT_TRUE(buffer.is_begun());
  test::BrokenContracts contracts;
  EXPECT_EQ(buffer.begin(set, kAhead, jobs).code, StatusCode::in_use);
  EXPECT_FALSE(buffer.is_hidden(cube({0, 20, 0}, 1)));
  buffer.reset();
  ASSERT_TRUE(buffer.finish().ok());
  EXPECT_EQ(buffer.finish().code, StatusCode::in_use);
  EXPECT_EQ(contracts.count(), test::kAsserts ? 4u : 0u);
  EXPECT_FALSE(set.is_held());
  EXPECT_TRUE(buffer.is_hidden(cube({0, 20, 0}, 1)));
}

TEST_F(OcclusionTest, LeavesOutWhatThereIsNoRoomFor) {  // OCCL-1
  test::CapturedLog log;
  OcclusionBuffer small;
  ASSERT_TRUE(small.init({.width = 32, .height = 8, .occluders = 3, .primitives = 2}, memory).ok());
  box({0, 30, 0}, {9, 1, 9});
  box({0, 10, 0}, {4, 1, 4});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(small.rasterise(set, kAhead, jobs).ok());
    EXPECT_EQ(small.statistics().left_out, 0u);
  }
  EXPECT_EQ(log.count(), 0u);
  box({0, 20, 0}, {9, 1, 9});  // three, of which the nearest two are drawn
  box({0, 5, 0}, {1, 1, 1});   // nobody looks at the fourth
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(small.rasterise(set, kAhead, jobs).ok());
    EXPECT_EQ(small.statistics().in_view, 4u);
    EXPECT_EQ(small.statistics().left_out, 2u);
    EXPECT_EQ(small.statistics().primitives, 2u);
    EXPECT_NEAR(small.nearness()[4 * 32 + 16], 1 / 9.0, 1e-6);
  }
  EXPECT_EQ(log.count(), 1u) << log.all();
}

TEST(OcclusionBuffer, IsMadeOfWholeTiles) {  // OCCL-1
  test::CheckedMemory memory;
  const OcclusionConfig bad[] = {{.width = 0}, {.width = 48}, {.height = 12}, {.occluders = 0}, {.primitives = 0}};
  for (const OcclusionConfig& config : bad) {
    OcclusionBuffer buffer;
    EXPECT_EQ(buffer.init(config, memory).code, StatusCode::bad_value);
    test::BrokenContracts contracts;
    SerialJobs jobs;
    OccluderSet set;
    EXPECT_EQ(buffer.begin(set, kAhead, jobs).code, StatusCode::in_use);
    EXPECT_EQ(contracts.count(), test::kAsserts ? 1u : 0u);
  }
  OcclusionBuffer large, poor;
  EXPECT_EQ(large.init({.width = 8192}, memory).code, StatusCode::too_large);
  memory.fail_after(0);
  EXPECT_EQ(poor.init({}, memory).code, StatusCode::out_of_memory);
}

// A city seen from many places, drawn by any number of threads and asked by several at once: the same bits.
TEST_F(OcclusionTest, ThreadsChangeNothing) {  // OCCL-1
  Random random(5);
  for (int i = 0; i < 120; ++i) {
    box({random.between(-60.0f, 60.0f), random.between(5.0f, 120.0f), random.between(-5.0f, 5.0f)},
        {random.between(0.5f, 6.0f), random.between(0.5f, 6.0f), random.between(0.5f, 10.0f)});
  }
  OcclusionBuffer other;
  ASSERT_TRUE(other.init({.width = 256, .height = 136, .occluders = 256, .primitives = 256}, memory).ok());
  OcclusionBuffer same;
  ASSERT_TRUE(same.init({.width = 256, .height = 136, .occluders = 256, .primitives = 256}, memory).ok());
  for (const uint32_t workers : {1u, 2u, 3u, 8u}) {
    test::ThreadJobs threads(workers, 64);
    for (int frame = 0; frame < 10; ++frame) {
      OcclusionView view = kAhead;
      view.position = {static_cast<float>(frame) * 3 - 15, 0, 1};
      ASSERT_TRUE(other.rasterise(set, view, jobs).ok());
      ASSERT_TRUE(same.begin(set, view, threads).ok());
      ASSERT_TRUE(same.finish().ok());
      ASSERT_EQ(std::memcmp(other.nearness().data(), same.nearness().data(), other.nearness().size_bytes()), 0);
      std::vector<uint8_t> hidden(400);
      parallel_for(threads, 400, 16, [&](uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) {
          const auto far = static_cast<float>(i);
          hidden[i] = same.is_hidden(cube({far / 10 - 20, 5 + far / 2, 0}, 0.7f)) ? 1 : 0;
        }
      });
      for (uint32_t i = 0; i < 400; ++i) {
        const auto far = static_cast<float>(i);
        ASSERT_EQ(hidden[i] != 0, other.is_hidden(cube({far / 10 - 20, 5 + far / 2, 0}, 0.7f)));
      }
    }
  }
}

TEST_F(OcclusionTest, TakesNoMemoryToDraw) {  // OCCL-1
  for (int i = 0; i < 50; ++i) box({static_cast<float>(i) - 25, 40, 0}, {1, 1, 5});
  draw();
  const uint64_t calls = memory.calls();
  for (int i = 0; i < 20; ++i) {
    draw();
    EXPECT_TRUE(buffer.is_hidden(cube({0, 60, 0}, 1)));
  }
  EXPECT_EQ(memory.calls(), calls);
}

TEST_F(OcclusionTest, SaysWhichOccludersHideABox) {  // OCCL-1
  const OccluderId near = box({0, 10, 0}, {4, 0.5f, 4});
  box({0, 40, 0}, {4, 0.5f, 4});  // behind what is asked for
  const OccluderId half = box({2, 15, 0}, {2, 0.5f, 4});
  box({-12, 12, 0}, {2, 0.5f, 4});  // beside it
  const Vec3 corners[] = {{-20, 12, -20}, {20, 12, -20}, {0, 12, 20}};
  const uint8_t triangle[] = {0, 1, 2};
  ASSERT_TRUE(set.add_mesh({7, 3}, {corners, triangle}).ok());
  ASSERT_TRUE(set.add_mesh({7, 4}, {corners, triangle, true}).ok());
  draw();
  const Aabb room = cube({1, 20, 0}, 1);
  EXPECT_TRUE(buffer.is_hidden(room));
  OccluderId ids[8];
  ASSERT_EQ(occluders_over(set, buffer, room, ids), 3u);
  const OccluderId mesh{7, 3, OccluderKind::mesh};
  for (const OccluderId& expected : {near, half, mesh}) EXPECT_NE(std::find(ids, ids + 3, expected), ids + 3);
  EXPECT_EQ(occluders_over(set, buffer, room, std::span(ids).first(1)), 3u) << "all are counted";
  EXPECT_EQ(occluders_over(set, buffer, cube({0, 5, 0}, 1), ids), 0u);
  EXPECT_EQ(occluders_over(set, buffer, cube({0, 0, 0}, 1), ids), 0u);
}

// Nothing is black, the farthest pixel 55, the nearest 255, evenly by 1 / distance: 1 / 20 is half way from 1 / 40
// to 3 / 40.
TEST_F(OcclusionTest, ThePictureCanBeSeen) {  // OCCL-1
  box({-20, 40, 0}, {5, 0, 5});
  box({0, 20, 0}, {2, 0, 2});
  box({40.0f / 6, 40.0f / 3, 0}, {1, 0, 1});
  draw();
  std::vector<std::byte> image(64 * 64);
  EXPECT_EQ(buffer.dump_image(std::span(image).first(100)).code, StatusCode::too_small);
  ASSERT_TRUE(buffer.dump_image(image).ok());
  const auto grey = [&](uint32_t x, uint32_t y) { return std::to_integer<int>(image[y * 64 + x]); };
  EXPECT_EQ(grey(0, 0), 0);
  EXPECT_NEAR(grey(16, 32), 55, 1);
  EXPECT_NEAR(grey(32, 32), 155, 1);
  EXPECT_NEAR(grey(48, 32), 255, 1);
  buffer.reset();
  ASSERT_TRUE(buffer.dump_image(image).ok());
  EXPECT_EQ(grey(32, 32), 0);
}

TEST(OcclusionView, IsThatOfACamera) {  // OCCL-1
  const Transform camera{{0, 1, 0, 0}, {-1, 0, 0, 1}, {0, 0, 1, 1}, {5, 6, 7, 1}};
  const OcclusionView view = occlusion_view(camera, {.tan_half_width = 2, .tan_half_height = 3, .near_distance = 4});
  EXPECT_EQ(view.position, (Vec3{5, 6, 7}));
  EXPECT_EQ(view.right, (Vec3{0, 1, 0}));
  EXPECT_EQ(view.forward, (Vec3{-1, 0, 0}));
  EXPECT_EQ(view.up, (Vec3{0, 0, 1}));
  EXPECT_EQ(view.half_width, 2);
  EXPECT_EQ(view.half_height, 3);
  EXPECT_EQ(view.near_distance, 4);
  EXPECT_FALSE(view.is_orthographic);
}

}  // namespace
}  // namespace meridian
