// SPDX-License-Identifier: MIT
// SRCH-5: maps that are in a volume and not resident, against a plain list.
#include "meridian/search/search_unloaded.h"

#include <gtest/gtest.h>

#include <limits>

#include "meridian/base/simd.h"
#include "support/search_worlds.h"

namespace meridian {
namespace {

using test::Answer;
using test::Dice;

struct Index {
  std::vector<Aabb> boxes;
  test::PlainTree tree;
  std::vector<uint64_t> resident;

  explicit Index(std::vector<Aabb> of) : boxes(std::move(of)), tree(test::plain_tree(boxes)) {
    resident.resize((boxes.size() + 63) / 64);
  }
  void set_resident(uint32_t slot) { resident[slot / 64] |= uint64_t{1} << slot % 64; }
  bool is_resident(uint32_t slot) const { return (resident[slot / 64] >> slot % 64 & 1) != 0; }
  IndexedMaps maps() const { return {tree.view(), resident}; }
};

std::vector<UnloadedMap> search_all(std::span<const IndexedMaps> trees, const Volume& volume,
                                    const WorldOrigin& origin = {}) {
  SearchResult counted, filled;
  EXPECT_TRUE(search_unloaded(trees, volume, origin, {}, counted).ok());
  EXPECT_EQ(counted.stored, 0u);
  std::vector<UnloadedMap> out(counted.found);
  EXPECT_TRUE(search_unloaded(trees, volume, origin, out, filled).ok());
  EXPECT_EQ(filled.found, counted.found);
  EXPECT_EQ(filled.stored, counted.found);
  std::sort(out.begin(), out.end(), [](const UnloadedMap& a, const UnloadedMap& b) {
    return a.tree != b.tree ? a.tree < b.tree : a.slot < b.slot;
  });
  return out;
}

TEST(SearchUnloaded, SRCH5_FindsWhatIsThereAndNotResident) {
  Index city(std::vector<Aabb>{{{0, 0, 0}, {10, 10, 10}}, {{10, 0, 0}, {20, 10, 10}}, {{30, 0, 0}, {40, 10, 10}}});
  Index extra(std::vector<Aabb>{{{0, 0, 0}, {1, 1, 1}}});
  const IndexedMaps trees[] = {city.maps(), extra.maps()};
  using Maps = std::vector<UnloadedMap>;
  EXPECT_EQ(search_all(trees, sphere_volume({10, 5, 5}, 1)), (Maps{{0, 0}, {0, 1}}));
  EXPECT_EQ(search_all(trees, box_volume({{0, 0, 0}, {1, 1, 1}})), (Maps{{0, 0}, {1, 0}}));
  city.set_resident(0);
  EXPECT_EQ(search_all(trees, sphere_volume({10, 5, 5}, 1)), (Maps{{0, 1}}));
  city.set_resident(1);
  EXPECT_EQ(search_all(trees, sphere_volume({10, 5, 5}, 1)), Maps{});
  EXPECT_EQ(search_all(trees, segment_volume({-5, 0.5f, 0.5f}, {50, 0.5f, 0.5f})), (Maps{{0, 2}, {1, 0}}));
  // Words that are not there are bits that are clear.
  const IndexedMaps unknown[] = {{city.tree.view(), {}}};
  EXPECT_EQ(search_all(unknown, sphere_volume({10, 5, 5}, 1)), (Maps{{0, 0}, {0, 1}}));
  EXPECT_EQ(search_all({}, sphere_volume({}, 1e6f)), Maps{});
}

TEST(SearchUnloaded, SRCH5_AMovedWorldMovesTheVolumeBack) {
  const Index city(std::vector<Aabb>{{{1000, 2000, 0}, {1010, 2010, 10}}});
  const IndexedMaps trees[] = {city.maps()};
  // The scene was moved by (-1000, -2000, 5): what was at (1000, 2000, 0) is at (0, 0, 5).
  const WorldOrigin origin{-1000, -2000, 5};
  const Plane in_front{{1, 0, 0}, -10}, behind{{1, 0, 0}, -10.25f};
  Transform turned;
  turned.position = {12, 5, 10, 1};
  const Volume hits[] = {sphere_volume({10, 10, 15}, 0),         box_volume({{10, 10, 15}, {11, 11, 16}}),
                         segment_volume({-1, -1, 5}, {1, 1, 5}), swept_sphere_volume({-3, -4, 5}, {-3, -4, -5}, 5),
                         oriented_box_volume(turned, {2, 1, 1}), frustum_volume(&in_front, 1)};
  const Volume misses[] = {sphere_volume({1005, 2005, 5}, 1),
                           box_volume({{10.25f, 10, 15}, {11, 11, 16}}),
                           segment_volume({-1, -1, 4.75f}, {1, 1, 4.75f}),
                           swept_sphere_volume({-3, -4, 5}, {-3, -4, -5}, 4.75f),
                           oriented_box_volume(turned, {1.75f, 1, 1}),
                           frustum_volume(&behind, 1)};
  for (const Volume& volume : hits)
    EXPECT_EQ(search_all(trees, volume, origin).size(), 1u) << static_cast<int>(volume.kind);
  for (const Volume& volume : misses)
    EXPECT_EQ(search_all(trees, volume, origin).size(), 0u) << static_cast<int>(volume.kind);
  // A double keeps what a float cannot: 2^30 + 1/8.
  EXPECT_EQ(search_all(trees, sphere_volume({0x1p30f, 0, 0}, 0), {0x1p30 - 1000.125, -2000, 0}).size(), 1u);
  EXPECT_EQ(search_all(trees, sphere_volume({0x1p30f, 0, 0}, 0), {0x1p30 - 999.875, -2000, 0}).size(), 0u);
}

TEST(SearchUnloaded, SRCH5_EqualsAPlainListInRandomWorlds) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  std::mt19937 random(seed);
  uint32_t found_by[6] = {};
  for (int world = 0; world < 12; ++world) {
    std::vector<Index> indices;
    std::vector<IndexedMaps> trees;
    const uint32_t count = 1 + dice.below(3);
    for (uint32_t t = 0; t < count; ++t) {
      // Maps of a city, and the boxes that no world should have.
      std::vector<Aabb> boxes = test::random_boxes(random, dice.below(40));
      const std::vector<test::PlacedEntity> entities = test::random_entities(dice, 1 + dice.below(600), {}, 300);
      for (const test::PlacedEntity& e : entities) boxes.push_back(test::box_of(e));
      indices.emplace_back(std::move(boxes));
      for (uint32_t slot = 0; slot < indices.back().boxes.size(); ++slot)
        if (dice.chance(0.4)) indices.back().set_resident(slot);
    }
    for (const Index& index : indices) trees.push_back(index.maps());
    const std::vector<test::PlacedEntity> near = test::random_entities(dice, 50, {}, 300);
    ASSERT_TRUE(set_simd_width(world % 2 == 0 ? SimdWidth::scalar : best_simd_width()));
    for (const VolumeKind kind : test::kAllKinds) {
      for (int i = 0; i < 12; ++i) {
        const Volume volume = test::random_volume(dice, kind, near, 300);
        const std::vector<UnloadedMap> found = search_all(trees, volume);
        size_t counted = 0;
        for (uint32_t t = 0; t < count; ++t) {
          for (uint32_t slot = 0; slot < indices[t].boxes.size(); ++slot) {
            const UnloadedMap map{t, slot};
            const auto hits = std::count(found.begin(), found.end(), map);
            ASSERT_LE(hits, 1);
            const Aabb& box = indices[t].boxes[slot];
            // What lies as far out as floats reach is left to the test of all widths.
            const bool is_vast = test::largest_of({box.min, box.max}) > 1e7L;
            const bool is_there = !test::inside_out(box) && !indices[t].is_resident(slot);
            const Answer answer = !is_there ? Answer::out : is_vast ? Answer::either : test::answer(volume, box);
            if (answer != Answer::either) {
              ASSERT_EQ(hits == 1, answer == Answer::in) << static_cast<int>(kind);
            }
            counted += static_cast<size_t>(hits);
          }
        }
        ASSERT_EQ(found.size(), counted);
        found_by[static_cast<size_t>(kind)] += static_cast<uint32_t>(counted);
      }
    }
  }
  ASSERT_TRUE(set_simd_width(best_simd_width()));
  for (const uint32_t found : found_by) EXPECT_GT(found, 50u);
}

// SRCH-3, SRCH-4.
TEST(SearchUnloaded, SRCH4_BadVolumesAndOriginsAreRefused) {
  const Index city(std::vector<Aabb>{{{0, 0, 0}, {10, 10, 10}}});
  const IndexedMaps trees[] = {city.maps()};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto code_of = [&](const Volume& volume, const WorldOrigin& origin) {
    UnloadedMap out[2];
    SearchResult result{7, 7};
    const Status status = search_unloaded(trees, volume, origin, out, result);
    EXPECT_EQ(result.found + result.stored, status.ok() ? 2u : 0u);
    return status.code;
  };
  EXPECT_EQ(code_of(sphere_volume({1, 1, 1}, 1), {}), StatusCode::ok);
  EXPECT_EQ(code_of(sphere_volume({nan, 1, 1}, 1), {}), StatusCode::bad_value);
  EXPECT_EQ(code_of(sphere_volume({1, 1, 1}, -1), {}), StatusCode::bad_value);
  EXPECT_EQ(code_of(sphere_volume({1, 1, 1}, 1), {0, double{nan}, 0}), StatusCode::bad_value);
  EXPECT_EQ(code_of(sphere_volume({1, 1, 1}, 1), {0, HUGE_VAL, 0}), StatusCode::bad_value);
}

TEST(SearchUnloaded, SRCH3_TooSmallASpanIsFilledAndTheFullNumberTold) {
  const Index city(std::vector<Aabb>(100, Aabb{{0, 0, 0}, {1, 1, 1}}));
  const IndexedMaps trees[] = {city.maps(), city.maps()};
  std::vector<UnloadedMap> out(8, UnloadedMap{9, 12345});
  SearchResult result;
  ASSERT_TRUE(search_unloaded(trees, sphere_volume({}, 1), {}, std::span(out).first(5), result).ok());
  EXPECT_EQ(result.found, 200u);
  EXPECT_EQ(result.stored, 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i].tree, 0u);
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(out[i], (UnloadedMap{9, 12345}));
}

}  // namespace
}  // namespace meridian
