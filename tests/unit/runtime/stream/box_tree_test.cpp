// SPDX-License-Identifier: MIT
// BOX-1, P078, P088: queries against brute force over all boxes.
#include "meridian/stream/box_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "support/box_trees.h"

namespace meridian {
namespace {

using test::plain_tree;
using test::PlainTree;
using test::random_boxes;
using Items = std::vector<uint32_t>;

constexpr float kMost = std::numeric_limits<float>::max();

template <class Query>
Items run(Query&& query) {
  Items out(query(std::span<uint32_t>()));
  EXPECT_EQ(query(std::span<uint32_t>(out)), out.size());
  std::sort(out.begin(), out.end());
  return out;
}

Items in_box(const BoxTree& tree, const Aabb& box) {
  return run([&](std::span<uint32_t> out) { return query_box(tree, box, out); });
}
Items in_sphere(const BoxTree& tree, const Vec3& centre, float radius) {
  return run([&](std::span<uint32_t> out) { return query_sphere(tree, centre, radius, out); });
}
Items on_segment(const BoxTree& tree, const Vec3& a, const Vec3& b) {
  return run([&](std::span<uint32_t> out) { return query_segment(tree, a, b, out); });
}

template <class Test>
Items all_that(const std::vector<Aabb>& boxes, Test&& test) {
  Items out;
  for (uint32_t i = 0; i < boxes.size(); ++i)
    if (!test::inside_out(boxes[i]) && test(boxes[i])) out.push_back(i);
  return out;
}

TEST(BoxTree, EmptyWorldFindsNothing) {
  const PlainTree tree = plain_tree({});
  EXPECT_EQ(tree.view().node_count(), 0u);
  EXPECT_EQ(tree.view().depth(), 0u);
  EXPECT_TRUE(in_box(tree.view(), {{-kMost, -kMost, -kMost}, {kMost, kMost, kMost}}).empty());
  EXPECT_TRUE(in_sphere(tree.view(), {}, kMost).empty());
  EXPECT_TRUE(on_segment(tree.view(), {}, {1, 2, 3}).empty());
}

TEST(BoxTree, OneBoxIsFoundUpToItsBorderAndNoFurther) {
  const std::vector<Aabb> boxes = {{{1, 2, 3}, {4, 5, 6}}};
  const PlainTree tree = plain_tree(boxes);
  const Items one = {0}, none;
  EXPECT_EQ(tree.view().depth(), 1u);
  EXPECT_EQ(in_box(tree.view(), {{4, 5, 6}, {7, 7, 7}}), one);  // a corner
  EXPECT_EQ(in_box(tree.view(), {{std::nextafterf(4, 5), 5, 6}, {7, 7, 7}}), none);
  EXPECT_EQ(in_sphere(tree.view(), {4 + 3, 5 + 4, 6}, 5), one);  // 3, 4, 5
  EXPECT_EQ(in_sphere(tree.view(), {4 + 3, 5 + 4, 6}, std::nextafterf(5, 0)), none);
  EXPECT_EQ(in_sphere(tree.view(), {2, 3, 4}, 0), one);
  EXPECT_EQ(on_segment(tree.view(), {0, 5, 6}, {9, 5, 6}), one);  // along an edge
  EXPECT_EQ(on_segment(tree.view(), {0, 5, std::nextafterf(6, 7)}, {9, 5, std::nextafterf(6, 7)}), none);
  EXPECT_EQ(on_segment(tree.view(), {-1, 0, 1}, {1, 2, 3}), one);  // ends on a corner
  EXPECT_EQ(on_segment(tree.view(), {2, 3, 4}, {2, 3, 4}), one);   // a point
  EXPECT_EQ(on_segment(tree.view(), {0, 3, 4}, {0.5f, 3, 4}), none);
  EXPECT_EQ(on_segment(tree.view(), {0, 0, 4}, {6, 7.5f, 4}), one);
  EXPECT_EQ(on_segment(tree.view(), {0, 4, 4}, {1, 6, 4}), none);  // past an edge
}

TEST(BoxTree, P078_BoxInsideOutIsListedAndNeverFound) {
  const std::vector<Aabb> boxes = {
      {{0, 0, 0}, {1, 1, 1}}, {{kMost, kMost, kMost}, {-kMost, -kMost, -kMost}}, {{0, 2, 0}, {1, 1, 1}}};
  const PlainTree tree = plain_tree(boxes);
  EXPECT_EQ(tree.outside, (Items{1, 2}));
  EXPECT_EQ(in_box(tree.view(), {{-kMost, -kMost, -kMost}, {kMost, kMost, kMost}}), Items{0});
  EXPECT_EQ(in_sphere(tree.view(), {}, kMost), Items{0});
  EXPECT_EQ(on_segment(tree.view(), {-kMost, 1, 1}, {kMost, 1, 1}), Items{0});
}

TEST(BoxTree, P088_NothingIsLostOnTheBorderOfTheWorldOrBeyond) {
  const float beyond = std::nextafterf(8192, 9000);
  std::vector<Aabb> boxes;
  for (const float at : {0.0f, 8192.0f, -8192.0f, beyond, -beyond, 1e30f, kMost, -kMost})
    for (int i = 0; i < 50; ++i) boxes.push_back({{at, at, at}, {at, at, at}});
  const PlainTree tree = plain_tree(boxes);
  for (uint32_t i = 0; i < boxes.size(); ++i) {
    const Vec3 p = boxes[i].min;
    const Items expected = all_that(boxes, [&](const Aabb& b) { return b.min == p; });
    EXPECT_EQ(expected.size(), 50u);
    EXPECT_EQ(in_box(tree.view(), {p, p}), expected);
    EXPECT_EQ(in_sphere(tree.view(), p, 0), expected);
    EXPECT_EQ(on_segment(tree.view(), p, p), expected);
  }
}

TEST(BoxTree, TooSmallASpanIsFilledAndTheFullNumberReturned) {
  const std::vector<Aabb> boxes(100, Aabb{{0, 0, 0}, {1, 1, 1}});
  const PlainTree tree = plain_tree(boxes);
  Items out(7, 12345), beyond;
  EXPECT_EQ(query_box(tree.view(), boxes[0], std::span(out).first(5)), 100u);
  for (size_t i = 0; i < 5; ++i) EXPECT_LT(out[i], 100u);
  EXPECT_EQ(out[5], 12345u);
  EXPECT_EQ(out[6], 12345u);
  EXPECT_EQ(query_sphere(tree.view(), {}, 1, beyond), 100u);
  EXPECT_EQ(query_segment(tree.view(), {}, {1, 1, 1}, beyond), 100u);
}

TEST(BoxTree, BOX1_QueriesEqualBruteForceInRandomWorlds) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  for (int world = 0; world < 200; ++world) {
    const std::vector<Aabb> boxes = random_boxes(random, random() % (world % 10 == 0 ? 5000 : 300));
    const PlainTree tree = plain_tree(boxes);
    const auto place = [&]() -> Vec3 {  // half of them on a corner of some box, where all is decided by one bit
      if (boxes.empty() || random() % 2 == 0) return {number(-9000, 9000), number(-9000, 9000), number(-200, 700)};
      const Aabb& b = boxes[random() % boxes.size()];
      return {random() % 2 == 0 ? b.min.x : b.max.x, random() % 2 == 0 ? b.min.y : b.max.y,
              random() % 2 == 0 ? b.min.z : b.max.z};
    };
    for (int i = 0; i < 25; ++i) {
      const Vec3 a = place(), b = place();
      const Aabb box{{std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)},
                     {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}};
      EXPECT_EQ(in_box(tree.view(), box), all_that(boxes, [&](const Aabb& c) { return test::boxes_touch(box, c); }));

      // What doubles cannot tell from touching may be found or not.
      const float radius = number(0, 1000);
      const Items found = in_sphere(tree.view(), a, radius);
      const long double slack = 1e-14L * (radius + 1);
      for (const uint32_t item : found) EXPECT_LE(test::box_distance(boxes[item], a), radius + slack);
      const Items near = all_that(boxes, [&](const Aabb& c) { return test::box_distance(c, a) <= radius - slack; });
      EXPECT_TRUE(std::includes(found.begin(), found.end(), near.begin(), near.end()));
    }
  }
}

TEST(BoxTree, BOX1_SegmentsMissNothingAndFindHardlyMore) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int world = 0; world < 200; ++world) {
    // Whole numbers: touching is then exact in long double, and happens.
    std::vector<Aabb> boxes(random() % 600);
    const auto whole = [&](int range) { return static_cast<float>(static_cast<int>(random()) % range); };
    for (Aabb& b : boxes) {
      b.min = {whole(40), whole(40), whole(10)};
      b.max = {b.min.x + std::fabs(whole(9)), b.min.y + std::fabs(whole(9)), b.min.z + std::fabs(whole(4))};
    }
    const PlainTree tree = plain_tree(boxes);
    for (int i = 0; i < 25; ++i) {
      const Vec3 a{whole(50), whole(50), whole(12)};
      const Vec3 b = i % 5 == 0 ? Vec3{a.x, whole(50), a.z} : Vec3{whole(50), whole(50), whole(12)};
      const Items found = on_segment(tree.view(), a, b);
      for (const uint32_t item : found) EXPECT_TRUE(test::segment_touches(boxes[item], a, b, 1e-9L));
      const Items touched = all_that(boxes, [&](const Aabb& c) { return test::segment_touches(c, a, b, 0); });
      EXPECT_TRUE(std::includes(found.begin(), found.end(), touched.begin(), touched.end()));
    }
  }
}

TEST(BoxTree, SegmentsBetweenTheEndsOfAllFloatsAreFinite) {
  const std::vector<Aabb> boxes = {{{-1, -1, -1}, {1, 1, 1}},
                                   {{5, -1, -1}, {6, 1, 1}},
                                   {{0, 3, 0}, {0, 3, 0}},
                                   {{1e30f, -1e30f, 0}, {1e30f, -1e30f, 0}}};
  const PlainTree tree = plain_tree(boxes);
  EXPECT_EQ(on_segment(tree.view(), {-kMost, 0, 0}, {kMost, 0, 0}), (Items{0, 1}));
  // 2^-48 of so long a segment is more than the world, but not more than what is far aside.
  const Items across = on_segment(tree.view(), {-kMost, -kMost, -kMost}, {kMost, kMost, kMost});
  EXPECT_EQ(std::count(across.begin(), across.end(), 0), 1);
  EXPECT_EQ(std::count(across.begin(), across.end(), 3), 0);
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(on_segment(tree.view(), {0, 3, 0}, {least, 3, 0}), Items{2});
  EXPECT_EQ(on_segment(tree.view(), {least, 3, 0}, {2 * least, 3, 0}), Items{});
}

}  // namespace
}  // namespace meridian
