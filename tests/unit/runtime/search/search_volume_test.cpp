// SPDX-License-Identifier: MIT
// SRCH-1, SRCH-3, SRCH-4: what is in a volume, by hand and against a plain list, in every width.
#include <gtest/gtest.h>

#include <limits>

#include "meridian/base/simd.h"
#include "support/search_worlds.h"

namespace meridian {
namespace {

using test::Answer;
using test::ContainerKit;
using test::Dice;
using test::PlacedEntity;

constexpr float kMost = std::numeric_limits<float>::max();
constexpr EntityHandle kGroup{.generation = 5, .slot = 1000};

float above(float v) { return std::nextafter(v, HUGE_VALF); }
float below(float v) { return std::nextafter(v, -HUGE_VALF); }

/// Runs a test in every width that this machine has.
class SearchVolume : public testing::TestWithParam<SimdWidth> {
 protected:
  void SetUp() override { ASSERT_TRUE(set_simd_width(GetParam())); }
  void TearDown() override { ASSERT_TRUE(set_simd_width(best_simd_width())); }

  /// Whether the only box of a world is found.
  static bool finds(const Volume& volume, const Aabb& box) {
    ContainerKit kit;
    const PlacedEntity entity{.centre = (box.min + box.max) * 0.5f, .half = (box.max - box.min) * 0.5f};
    EXPECT_EQ(test::box_of(entity), box) << "a box whose corners floats can hold";
    kit.add_map(std::span(&entity, 1), kGroup);
    kit.finish();
    return !test::search_all(kit, {.volume = volume}).empty();
  }
};

constexpr Aabb kBox{{1, 2, 4}, {3, 6, 8}};

TEST_P(SearchVolume, SphereTouchesUpToItsRadius) {
  EXPECT_TRUE(finds(sphere_volume({3 + 3, 6 + 4, 6}, 5), kBox));  // 3, 4, 5 from an edge
  EXPECT_FALSE(finds(sphere_volume({3 + 3, 6 + 4, 6}, below(5)), kBox));
  EXPECT_TRUE(finds(sphere_volume({2, 3, 5}, 0), kBox));
  EXPECT_TRUE(finds(sphere_volume({1, 6, 8}, 0), kBox));  // on a corner
  EXPECT_FALSE(finds(sphere_volume({below(1), 6, 8}, 0), kBox));
  EXPECT_TRUE(finds(sphere_volume({1e6f, 0, 0}, 1e7f), kBox));
  EXPECT_TRUE(finds(sphere_volume({0, 0, 0}, kMost), kBox));
}

TEST_P(SearchVolume, BoxTouchesSidesEdgesAndCorners) {
  EXPECT_TRUE(finds(box_volume({{3, 6, 8}, {9, 9, 9}}), kBox));
  EXPECT_FALSE(finds(box_volume({{above(3), 6, 8}, {9, 9, 9}}), kBox));
  EXPECT_FALSE(finds(box_volume({{-9, -9, -9}, {1, 2, below(4)}}), kBox));
  EXPECT_TRUE(finds(box_volume({{2, 3, 5}, {2, 3, 5}}), kBox));
  EXPECT_TRUE(finds(box_volume({{-kMost, -kMost, -kMost}, {kMost, kMost, kMost}}), kBox));
}

TEST_P(SearchVolume, SegmentTouchesWhatItGrazes) {
  EXPECT_TRUE(finds(segment_volume({0, 6, 8}, {9, 6, 8}), kBox));  // along an edge
  EXPECT_FALSE(finds(segment_volume({0, above(6), 8}, {9, above(6), 8}), kBox));
  EXPECT_TRUE(finds(segment_volume({-1, 0, 2}, {1, 2, 4}), kBox));  // ends on a corner
  EXPECT_TRUE(finds(segment_volume({1, 2, 4}, {-1, 0, 2}), kBox));
  EXPECT_TRUE(finds(segment_volume({2, 3, 5}, {2, 3, 5}), kBox));  // a point
  EXPECT_FALSE(finds(segment_volume({-5, 3, 5}, {below(1), 3, 5}), kBox));
  EXPECT_TRUE(finds(segment_volume({-5, 3, 5}, {1, 3, 5}), kBox));
  EXPECT_FALSE(finds(segment_volume({0, 4.5f, 5}, {2, 8.5f, 5}), kBox));  // past an edge, though extents meet
  EXPECT_TRUE(finds(segment_volume({0, 4, 5}, {2, 8, 5}), kBox));         // on it
  EXPECT_TRUE(finds(segment_volume({0, 3, 5}, {2, 7, 5}), kBox));
  EXPECT_TRUE(finds(segment_volume({-kMost, 3, 5}, {kMost, 3, 5}), kBox));
  EXPECT_TRUE(finds(segment_volume({3, 6, 8}, {above(3), above(6), above(8)}), kBox));
}

TEST_P(SearchVolume, SweptSphereIsRoundAtItsEndsAndAlongItsWay) {
  // Past a corner that is 3, 4 away from the way: 5.
  EXPECT_TRUE(finds(swept_sphere_volume({3 + 3, 6 + 4, -50}, {3 + 3, 6 + 4, 50}, 5), kBox));
  EXPECT_FALSE(finds(swept_sphere_volume({3 + 3, 6 + 4, -50}, {3 + 3, 6 + 4, 50}, below(5)), kBox));
  // Its end is 2, 3, 6 from a corner: 7.
  EXPECT_TRUE(finds(swept_sphere_volume({100, 200, 300}, {3 + 2, 6 + 3, 8 + 6}, 7), kBox));
  EXPECT_FALSE(finds(swept_sphere_volume({100, 200, 300}, {3 + 2, 6 + 3, 8 + 6}, below(7)), kBox));
  EXPECT_TRUE(finds(swept_sphere_volume({0, 0, 0}, {4, 8, 12}, 0), kBox));
  EXPECT_TRUE(finds(swept_sphere_volume({3 + 3, 6 + 4, 6}, {3 + 3, 6 + 4, 6}, 5), kBox));  // at rest
  EXPECT_FALSE(finds(swept_sphere_volume({3 + 3, 6 + 4, 6}, {3 + 3, 6 + 4, 6}, below(5)), kBox));
}

TEST_P(SearchVolume, OrientedBoxIsTestedAlongAllAxes) {
  const auto slab = [](const Vec3& centre, const Vec3& u, const Vec3& v, const Vec3& w) {
    Volume out;
    out.kind = VolumeKind::oriented_box;
    out.a = centre;
    out.axes[0] = u;
    out.axes[1] = v;
    out.axes[2] = w;
    return out;
  };
  const Aabb unit{{-1, -1, -1}, {1, 1, 1}};
  EXPECT_TRUE(finds(slab({2, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}), unit));  // sides touch
  EXPECT_FALSE(finds(slab({above(2), 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}), unit));
  // A square on its corner: its corner meets the side x = 1 at 3, and its side the corner (1, 1) where x + y = 2 + 2.
  EXPECT_TRUE(finds(slab({3, 0, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}), unit));
  EXPECT_FALSE(finds(slab({3.001f, 0, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}), unit));
  EXPECT_TRUE(finds(slab({2, 2, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}), unit));
  EXPECT_FALSE(finds(slab({2.001f, 2.001f, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}), unit));
  // Two sticks that pass each other: only the product of their directions tells.
  const Aabb stick{{-8, 0, 0}, {8, 0, 0}};
  EXPECT_TRUE(finds(slab({0, 0, 0}, {0, 4, 4}, {}, {}), stick));
  EXPECT_FALSE(finds(slab({0, 0.25f, 0}, {0, 4, 4}, {}, {}), stick));
  // A flat one, and a point.
  EXPECT_TRUE(finds(slab({0, 0, 1}, {4, 0, 0}, {0, 4, 0}, {}), unit));
  EXPECT_FALSE(finds(slab({0, 0, above(1)}, {4, 0, 0}, {0, 4, 0}, {}), unit));
  EXPECT_TRUE(finds(slab({1, 1, 1}, {}, {}, {}), unit));
  EXPECT_FALSE(finds(slab({1, 1, above(1)}, {}, {}, {}), unit));
}

// P073: no corner of the box is in the frustum, and all of the view goes through it.
TEST_P(SearchVolume, P073_FrustumFindsTheBoxAroundIt) {
  const Plane view[] = {{{1, -1, 0}, 0}, {{1, 1, 0}, 0}, {{1, 0, -1}, 0}, {{1, 0, 1}, 0}, {{-1, 0, 0}, 100}};
  EXPECT_TRUE(finds(frustum_volume(view, 5), {{-10240, -10240, -10240}, {10240, 10240, 10240}}));
  EXPECT_TRUE(finds(frustum_volume(view, 5), {{10, -10240, -10240}, {12, 10240, 10240}}));
  EXPECT_FALSE(finds(frustum_volume(view, 5), {{-12, -1, -1}, {-10, 1, 1}}));  // behind the camera
  EXPECT_TRUE(finds(frustum_volume(view, 5), {{100, 0, 0}, {101, 1, 1}}));     // touches the far plane
  EXPECT_FALSE(finds(frustum_volume(view, 5), {{128, 0, 0}, {129, 1, 1}}));
  EXPECT_TRUE(finds(frustum_volume(view, 0), {{-1, -1, -1}, {1, 1, 1}})) << "no plane, nothing outside";
}

// P074: a box mirrored by a scale of -2, as world_box gives it: x in [-2, 0].
TEST_P(SearchVolume, P074_MirroredEntityIsFoundByEveryKind) {
  const Aabb box{{-2, 0, 0}, {0, 1, 1}};
  EXPECT_TRUE(finds(sphere_volume({-1, 0.5f, 0.5f}, 0.1f), box));
  EXPECT_TRUE(finds(box_volume({{-1.5f, 0, 0}, {-1, 1, 1}}), box));
  EXPECT_TRUE(finds(segment_volume({-1, 0.5f, -9}, {-1, 0.5f, 9}), box));
  const Plane left{{-1, 0, 0}, -0.5f};
  EXPECT_TRUE(finds(frustum_volume(&left, 1), box));
  EXPECT_FALSE(finds(sphere_volume({1, 0.5f, 0.5f}, 0.1f), box)) << "where it would be if it was not mirrored";
}

// P088: 50 equal ones on each plane where a grid would be cut, and beyond.
TEST_P(SearchVolume, P088_NothingIsLostOnBordersOrBeyond) {
  ContainerKit kit;
  std::vector<PlacedEntity> entities;
  const float places[] = {0, 8192, -8192, above(8192), below(-8192), 60000, -60000};
  for (const float x : places)
    for (int i = 0; i < 50; ++i) entities.push_back({.centre = {x, x, 0}, .half = {}});
  kit.add_map(entities, kGroup);
  kit.finish();
  for (uint32_t i = 0; i < std::size(places); ++i) {
    const Vec3 p{places[i], places[i], 0};
    std::vector<EntityHandle> expected;
    for (uint32_t k = 0; k < 50; ++k) expected.push_back({kGroup.generation, kGroup.slot + i * 50 + k});
    EXPECT_EQ(test::search_all(kit, {.volume = sphere_volume(p, 0)}), expected);
    EXPECT_EQ(test::search_all(kit, {.volume = box_volume({p, p})}), expected);
    EXPECT_EQ(test::search_all(kit, {.volume = segment_volume(p, p)}), expected);
    EXPECT_EQ(test::search_all(kit, {.volume = swept_sphere_volume(p, p, 0)}), expected);
  }
}

// SRCH-1, SRCH-3: random worlds near the origin and far from it, against a list of all entities.
TEST_P(SearchVolume, EveryKindEqualsAPlainList) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  uint32_t found_by[6] = {};
  const Vec3 middles[] = {{0, 0, 0}, {16000, -16000, 0}, {-60000, 60000, 100}};
  for (uint32_t world = 0; world < 12; ++world) {
    const float reach = world % 2 == 0 ? 60 : 1000;
    const std::vector<PlacedEntity> entities =
        test::random_entities(dice, 1 + dice.below(world % 5 == 0 ? 4000 : 400), middles[world % 3], reach);
    ContainerKit kit;
    // Cut into maps, and what hosts add, at random.
    std::vector<EntityHandle> handles(entities.size());
    for (uint32_t first = 0; first < entities.size();) {
      const auto left = static_cast<uint32_t>(entities.size()) - first;
      const bool is_map = dice.chance(0.6);
      const uint32_t count = std::min(left, 1 + dice.below(is_map ? 1200 : 320));
      const auto part = std::span(entities).subspan(first, count);
      for (uint32_t i = 0; i < count; ++i) handles[first + i] = {first + 1, is_map ? 77 + i : 99999 - i};
      if (is_map) {
        kit.add_map(part, handles[first]);
      } else {
        kit.add_container(part, std::span(handles).subspan(first, count));
      }
      first += count;
    }
    kit.finish();
    for (const VolumeKind kind : test::kAllKinds) {
      for (int i = 0; i < 12; ++i) {
        const Volume volume = test::random_volume(dice, kind, entities, reach);
        const std::vector<EntityHandle> found = test::search_all(kit, {.volume = volume});
        ASSERT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end()) << "twice";
        size_t expected = 0;
        for (size_t e = 0; e < entities.size(); ++e) {
          const bool is_found = std::binary_search(found.begin(), found.end(), handles[e], test::by_slot);
          const Answer answer = entities[e].is_used ? test::answer(volume, test::box_of(entities[e])) : Answer::out;
          if (answer != Answer::either) {
            ASSERT_EQ(is_found, answer == Answer::in) << "kind " << static_cast<int>(kind) << ", entity " << e;
          }
          expected += is_found ? 1 : 0;
        }
        ASSERT_EQ(found.size(), expected) << "nothing else is found";
        found_by[static_cast<size_t>(kind)] += static_cast<uint32_t>(found.size());
      }
    }
  }
  for (const uint32_t found : found_by) EXPECT_GT(found, 50u) << "the volumes are where the entities are";
}

// SRCH-1, SRCH-4: what lies within a volume as a whole is taken without a look at each entity, and what a volume holds
// in height without one at heights. So volumes end where blocks of entities do, and a float to either side of that.
TEST_P(SearchVolume, VolumesThatEndWhereBlocksDoEqualAPlainList) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  std::vector<PlacedEntity> entities = test::random_entities(dice, 1500, {200, -300, 10}, 150);
  for (PlacedEntity& entity : entities)
    entity.type = dice.chance(0.5) ? EntityClass::building : EntityClass::grass_batch;
  ContainerKit kit;
  kit.add_map(entities, kGroup);
  kit.finish();
  uint32_t asked = 0;
  const auto expect_all = [&](const Volume& volume) {
    if (!check(volume).ok()) return;  // of a flat block
    for (const uint32_t types : {kAllTypes, type_bit(EntityClass::grass_batch)}) {
      std::vector<EntityHandle> expected;
      for (uint32_t e = 0; e < entities.size(); ++e) {
        if (!entities[e].is_used || (types & type_bit(entities[e].type)) == 0) continue;
        const Answer answer = test::answer(volume, test::box_of(entities[e]));
        if (answer == Answer::either) return;  // too close to call for the plain list
        if (answer == Answer::in) expected.push_back({kGroup.generation, kGroup.slot + e});
      }
      ASSERT_EQ(test::search_all(kit, {.volume = volume, .types = types}), expected);
      ++asked;
    }
  };
  for (uint32_t c = 0; c < kit.containers().views.size(); ++c) {
    for (uint32_t b = 0; b * kSubBlockSlots < kit.containers().views[c].slots; ++b) {
      if (kit.containers().sub_boxes[c].is_empty_lane(b)) continue;
      const Aabb box = kit.containers().sub_boxes[c].lane(b);
      expect_all(box_volume(box));
      for (float Vec3::*const axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
        Aabb cut = box;
        cut.min.*axis = above(box.min.*axis);
        expect_all(box_volume(cut));
        cut = box;
        cut.max.*axis = below(box.max.*axis);
        expect_all(box_volume(cut));
        cut.min.*axis = cut.max.*axis = (box.min.*axis + box.max.*axis) / 2;
        expect_all(box_volume(cut));
      }
      const Vec3 middle = (box.min + box.max) * 0.5f, reach = box.max - middle;
      const float radius = std::sqrt(reach.x * reach.x + reach.y * reach.y + reach.z * reach.z);
      for (const float r : {below(radius), radius, above(radius), radius * 2}) expect_all(sphere_volume(middle, r));
      const Plane sides[] = {{{1, 0, 0}, -box.min.x}, {{0, -1, 0}, box.max.y}, {{0, 0, 1}, -box.min.z}};
      expect_all(frustum_volume(sides, 3));
    }
  }
  EXPECT_GT(asked, 1000u);
}

// SRCH-3: nothing is written past the end; both counts are told.
TEST_P(SearchVolume, TooSmallASpanIsFilledAndTheFullNumberTold) {
  ContainerKit kit;
  const std::vector<PlacedEntity> entities(100, PlacedEntity{.centre = {1, 2, 3}, .half = {1, 1, 1}});
  kit.add_map(entities, kGroup);
  kit.finish();
  constexpr EntityHandle kUntouched{.generation = 9, .slot = 12345};
  std::vector<EntityHandle> out(8, kUntouched);
  SearchResult result;
  ASSERT_TRUE(search_now(kit, {.volume = sphere_volume({1, 2, 3}, 1)}, std::span(out).first(5), result).ok());
  EXPECT_EQ(result.found, 100u);
  EXPECT_EQ(result.stored, 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i].generation, kGroup.generation);
  for (size_t i = 5; i < 8; ++i) EXPECT_EQ(out[i], kUntouched);
}

// SRCH-4, P078.
TEST_P(SearchVolume, P078_InfiniteAndNanVolumesAreRefused) {
  ContainerKit kit;
  const PlacedEntity entity{.centre = {}, .half = {1, 1, 1}};
  kit.add_map(std::span(&entity, 1), kGroup);
  kit.finish();
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF};
  for (const float v : bad) {
    const Plane far{{0, 0, 1}, v}, turned{{0, v, 1}, 0};
    Transform at;
    at.y.z = v;
    const Volume volumes[] = {sphere_volume({v, 0, 0}, 1),
                              sphere_volume({}, v),
                              box_volume({{0, 0, 0}, {1, v, 1}}),
                              oriented_box_volume(at, {1, 1, 1}),
                              segment_volume({}, {0, 0, v}),
                              swept_sphere_volume({}, {1, 1, 1}, v),
                              frustum_volume(&far, 1),
                              frustum_volume(&turned, 1)};
    for (const Volume& volume : volumes) {
      EntityHandle out[4];
      SearchResult result{7, 7};
      EXPECT_EQ(search_now(kit, {.volume = volume}, out, result).code, StatusCode::bad_value);
      EXPECT_EQ(result.found + result.stored, 0u);
      result = {7, 7};
      const EntityVisitor visitor = [](void*, EntityHandle) -> bool {
        ADD_FAILURE() << "called";
        return true;
      };
      EXPECT_EQ(search_visit(kit, {.volume = volume}, visitor, nullptr, result).code, StatusCode::bad_value);
      EXPECT_EQ(result.found + result.stored, 0u);
    }
  }
}

TEST_P(SearchVolume, EmptySceneHasNothing) {
  ContainerKit kit;
  kit.finish();
  for (const VolumeKind kind : test::kAllKinds) {
    Volume volume = sphere_volume({}, 1);
    volume.kind = kind;
    EXPECT_TRUE(test::search_all(kit, {.volume = volume}).empty());
  }
}

std::string name_of(const testing::TestParamInfo<SimdWidth>& tested) {
  const char* const names[] = {"scalar", "bits128", "bits256", "bits512"};
  return names[static_cast<size_t>(tested.param)];
}
std::vector<SimdWidth> widths_here() {
  std::vector<SimdWidth> out;
  for (const SimdWidth width : {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512})
    if (has_simd_width(width)) out.push_back(width);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Width, SearchVolume, testing::ValuesIn(widths_here()), name_of);

}  // namespace
}  // namespace meridian
