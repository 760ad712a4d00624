// SPDX-License-Identifier: MIT
// BOX-1, P078, P088: queries against brute force over all boxes, with all vector widths.
#include "meridian/stream/box_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "meridian/base/simd.h"
#include "stream/box_query.h"
#include "support/box_trees.h"

namespace meridian {
namespace {

using test::plain_tree;
using test::PlainTree;
using test::random_boxes;
using Items = std::vector<uint32_t>;

constexpr float kMost = std::numeric_limits<float>::max();

/// What the query finds, which must be the same, in the same order, for all widths.
template <class Query>
Items run(Query&& query) {
  Items first;
  for (uint32_t width = 0; width < kSimdWidths; ++width) {
    if (!set_simd_width(static_cast<SimdWidth>(width))) continue;
    Items out(query(std::span<uint32_t>()));
    EXPECT_EQ(query(std::span<uint32_t>(out)), out.size());
    if (width == 0) first = out;
    EXPECT_EQ(out, first) << to_string(simd_width());
  }
  EXPECT_TRUE(set_simd_width(best_simd_width()));
  std::sort(first.begin(), first.end());
  return first;
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
Items on_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, float radius) {
  return run([&](std::span<uint32_t> out) { return query_segment(tree, a, b, radius, out); });
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

TEST(BoxTree, SegmentWithARadiusGrowsBoxesOnAllSides) {
  const std::vector<Aabb> boxes = {{{1, 2, 3}, {4, 5, 6}}};
  const PlainTree tree = plain_tree(boxes);
  const Items one = {0}, none;
  EXPECT_EQ(on_segment(tree.view(), {6, 7, 8}, {6, 7, 8}, 2), one);  // a corner of the grown box, not within 2 m
  EXPECT_EQ(on_segment(tree.view(), {std::nextafterf(6, 7), 7, 8}, {9, 7, 8}, 2), none);
  EXPECT_EQ(on_segment(tree.view(), {6, 0, 8}, {6, 20, 8}, 2), one);  // along an edge of it
  EXPECT_EQ(on_segment(tree.view(), {6, 0, 8}, {6, 20, 8}, std::nextafterf(2, 1)), none);
  EXPECT_EQ(on_segment(tree.view(), {-9, 3, 4}, {-1.5f, 3, 4}, 2.5f), one);  // ends before it
  EXPECT_EQ(on_segment(tree.view(), {-9, 3, 4}, {-1.5f, 3, 4}, 2.25f), none);
  EXPECT_EQ(on_segment(tree.view(), {8, 3, 4}, {3, 10, 4}, 1),
            none);                                                    // past an edge: where x = 5, y = 7.2 > 6
  EXPECT_EQ(on_segment(tree.view(), {8, 3, 4}, {3, 10, 4}, 2), one);  // where x = 6, y = 5.8 <= 7
  EXPECT_EQ(on_segment(tree.view(), {0, 100, 0}, {1, 101, 1}, kMost), one);
}

TEST(BoxTree, BOX1_SegmentsWithARadiusEqualSegmentsAndGrownBoxes) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int world = 0; world < 100; ++world) {
    // Whole and half numbers, so that boxes grown by them are exact; or any.
    const bool is_exact = world % 2 == 0;
    const auto number = [&](int range) {
      if (!is_exact)
        return std::uniform_real_distribution<float>(-static_cast<float>(range), static_cast<float>(range))(random);
      return static_cast<float>(static_cast<int>(random() % (4u * static_cast<uint32_t>(range))) - 2 * range) / 2;
    };
    std::vector<Aabb> boxes(random() % 600);
    for (Aabb& b : boxes) {
      b.min = {number(400), number(400), number(40)};
      b.max = {b.min.x + std::fabs(number(30)), b.min.y + std::fabs(number(30)), b.min.z + std::fabs(number(9))};
    }
    const PlainTree tree = plain_tree(boxes);
    for (int i = 0; i < 25; ++i) {
      const Vec3 a{number(400), number(400), number(40)};
      Vec3 b{a.x + number(60), a.y + number(60), a.z + number(3)};
      if (i % 5 == 0) b.z = a.z;
      if (i % 7 == 0) b.y = a.y;
      if (i % 9 == 0) b.x = a.x + number(1) * 1e-5f;
      const float radius = std::fabs(number(50));
      const long double r = radius;
      const Items found = on_segment(tree.view(), a, b, radius);
      for (const uint32_t item : found) EXPECT_TRUE(test::segment_touches(boxes[item], a, b, r + 1e-9L));
      const Items touched =
          all_that(boxes, [&](const Aabb& c) { return test::segment_touches(c, a, b, is_exact ? r : r - 1e-9L); });
      EXPECT_TRUE(std::includes(found.begin(), found.end(), touched.begin(), touched.end()));
      if (radius == 0) {
        EXPECT_EQ(found, on_segment(tree.view(), a, b));
      }
    }
  }
}

// Boxes that are touched, or missed, by less than floats can tell: run() compares the widths.
TEST(BoxTree, BOX1_AllWidthsDecideAlikeWhereFloatsAreNotSure) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  size_t touched = 0, missed = 0;
  for (int world = 0; world < 400; ++world) {
    const Vec3 a{number(-4000, 4000), number(-4000, 4000), number(-50, 300)};
    const Vec3 b{a.x + number(-90, 90), a.y + number(-90, 90), a.z + number(-9, 9)};
    const float radius = world % 2 == 0 ? 0 : number(0, 100);
    const Vec3 way = normalize(b - a);
    std::vector<Aabb> lines, balls;
    for (int i = 0; i < 40; ++i) {
      // An upright edge of the grown box passes the segment at about the distance of a float's last bits.
      const float t = number(0.1f, 0.9f), aside = number(-1, 1) * 2e-3f;
      const Vec3 at{a.x + (b.x - a.x) * t - way.y * aside, a.y + (b.y - a.y) * t + way.x * aside, 0};
      const bool left = (way.y > 0) != (i % 2 == 0), low = (way.x > 0) == (i % 2 == 0);
      const Vec3 corner{left ? at.x - radius : at.x + radius, low ? at.y - radius : at.y + radius, 0};
      const Vec3 far{left ? corner.x - 50 : corner.x + 50, low ? corner.y - 50 : corner.y + 50, 0};
      lines.push_back({min(corner, far) - Vec3{0, 0, 400}, max(corner, far) + Vec3{0, 0, 400}});
      const Vec3 out = normalize({number(-1, 1), number(-1, 1), number(-1, 1)});
      const Vec3 near = a + out * (radius * (1 + number(-1, 1) * 1e-5f));
      const Vec3 size{out.x < 0 ? -9.0f : 9.0f, out.y < 0 ? -9.0f : 9.0f, out.z < 0 ? -9.0f : 9.0f};
      balls.push_back({min(near, near + size), max(near, near + size)});
    }
    const PlainTree line_tree = plain_tree(lines), ball_tree = plain_tree(balls);
    const Items found = on_segment(line_tree.view(), a, b, radius);
    touched += found.size();
    missed += lines.size() - found.size();
    for (uint32_t i = 0; i < lines.size(); ++i) {
      const bool is_found = std::binary_search(found.begin(), found.end(), i);
      if (test::segment_touches(lines[i], a, b, static_cast<long double>(radius) - 1e-10L)) {
        EXPECT_TRUE(is_found) << i;
      }
      if (!test::segment_touches(lines[i], a, b, static_cast<long double>(radius) + 1e-10L)) {
        EXPECT_FALSE(is_found) << i;
      }
    }
    const Items near = in_sphere(ball_tree.view(), a, radius);
    for (uint32_t i = 0; i < balls.size(); ++i) {
      const bool is_found = std::binary_search(near.begin(), near.end(), i);
      const long double over = test::box_distance(balls[i], a) - static_cast<long double>(radius);
      if (over < -1e-12L) {
        EXPECT_TRUE(is_found) << i;
      }
      if (over > 1e-12L) {
        EXPECT_FALSE(is_found) << i;
      }
    }
  }
  EXPECT_GT(touched, 2000u);
  EXPECT_GT(missed, 2000u);
}

// Marks are what lists are, as bits of places.
TEST(BoxTree, BOX1_MarksEqualLists) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  for (int world = 0; world < 60; ++world) {
    const std::vector<Aabb> boxes = random_boxes(random, 1 + random() % 400);
    const PlainTree plain = plain_tree(boxes);
    const BoxTree tree = plain.view();
    // The same boxes as nodes without anything above them.
    std::vector<float> flat((boxes.size() + 15) / 16 * kBoxTreeFloats, kMost);
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Aabb& b = boxes[i];
      const float lanes[] = {b.min.x, b.min.y, b.min.z, b.max.x, b.max.y, b.max.z};
      for (size_t k = 0; k < 6; ++k) flat[i / 16 * kBoxTreeFloats + k * 16 + i % 16] = lanes[k];
    }
    for (int i = 0; i < 20; ++i) {
      const Vec3 a{number(-9000, 9000), number(-9000, 9000), number(-200, 700)};
      const Vec3 b{number(-9000, 9000), number(-9000, 9000), number(-200, 700)};
      const BoxQuery queries[] = {box_query({min(a, b), max(a, b)}), sphere_query(a, double{number(0, 3000)}),
                                  segment_query(a, b, 0), segment_query(a, b, double{number(0, 500)})};
      const BoxQuery& query = queries[i % 4];
      const auto shape = static_cast<size_t>(query.shape);
      const Items found = run([&](std::span<uint32_t> out) { return box_kernels().list[shape](tree, query, out); });
      std::vector<uint64_t> expected(mark_words(tree.node_count())),
          expected_flat(mark_words(static_cast<uint32_t>(flat.size() / kBoxTreeFloats)));
      for (const uint32_t item : found) {
        expected[tree.places[item] / 64] |= uint64_t{1} << tree.places[item] % 64;
        expected_flat[item / 64] |= uint64_t{1} << item % 64;
      }
      for (uint32_t width = 0; width < kSimdWidths; ++width) {
        if (!set_simd_width(static_cast<SimdWidth>(width))) continue;
        std::vector<uint64_t> marks(expected.size()), flat_marks(expected_flat.size());
        box_kernels().mark[shape](tree, query, marks.data());
        for (size_t place = 0; place < tree.children.size(); ++place)  // unused lanes may be marked
          if (tree.children[place] == kBoxTreeNone) marks[place / 64] &= ~(uint64_t{1} << place % 64);
        EXPECT_EQ(marks, expected) << to_string(simd_width());
        box_kernels().mark_flat[shape](flat.data(), static_cast<uint32_t>(flat.size() / kBoxTreeFloats), query,
                                       flat_marks.data());
        for (size_t item = 0; item < boxes.size(); ++item)  // those inside out are in no tree, but here
          if (test::inside_out(boxes[item])) flat_marks[item / 64] &= ~(uint64_t{1} << item % 64);
        flat_marks.back() &= boxes.size() % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << boxes.size() % 64) - 1;
        EXPECT_EQ(flat_marks, expected_flat) << to_string(simd_width());
      }
      ASSERT_TRUE(set_simd_width(best_simd_width()));
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
