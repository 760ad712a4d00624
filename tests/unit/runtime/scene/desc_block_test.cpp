// SPDX-License-Identifier: MIT
#include "meridian/scene/desc_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "resource/checksum.h"
#include "scene/hilbert.h"
#include "support/random_map.h"

// DESC-2 to DESC-4 and SCAN-8's data, against brute force that shares no code with them.

namespace meridian {
namespace {

using test::BuiltBlocks;
using test::RandomMap;

/// Largest float <= v, smallest float >= v.
float floor_float(double v) {
  auto f = static_cast<float>(v);
  while (double{f} > v) f = std::nextafter(f, -HUGE_VALF);
  return f;
}
float ceil_float(double v) { return -floor_float(-v); }

/// An independent union of slots.
struct Union {
  bool any = false;
  double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300};
  double pivot_low[3] = {1e300, 1e300, 1e300}, pivot_high[3] = {-1e300, -1e300, -1e300};
  int distance[7] = {};
  int masks = 0;

  void add(const DescLanes& l, uint32_t i, std::span<const LodLinkRow> links) {
    if (l.distance[i] == 0) return;
    any = true;
    const double centre[3] = {l.centre_x[i], l.centre_y[i], l.centre_z[i]};
    const double half[3] = {l.half_x[i], l.half_y[i], l.half_z[i]};
    const float offset[3] = {float_from_half(l.pivot_x[i]), float_from_half(l.pivot_y[i]),
                             float_from_half(l.pivot_z[i])};
    double pivot[3];
    for (int k = 0; k < 3; ++k) pivot[k] = static_cast<float>(static_cast<float>(centre[k]) + offset[k]);
    if ((l.flags[i] & kDescLodChild) != 0) {
      const LodLinkRow& own = links[l.lod_set[i]];
      const LodLinkRow& row = (l.flags[i] & kDescSetParent) != 0 ? links[own.up] : own;
      pivot[0] = row.pivot.x;
      pivot[1] = row.pivot.y;
      pivot[2] = row.pivot.z;
    }
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], centre[k] - half[k]);
      high[k] = std::max(high[k], centre[k] + half[k]);
      pivot_low[k] = std::min(pivot_low[k], pivot[k]);
      pivot_high[k] = std::max(pivot_high[k], pivot[k]);
    }
    int& d = distance[l.type_level[i] >> 5];
    d = std::max(d, int{l.distance[i]});
    masks |= l.mask[i];
  }

  void expect_equal(const DescBounds& b) const {
    if (!any) {
      EXPECT_EQ(b, DescBounds{});
      return;
    }
    const float* const got[4] = {&b.box_min.x, &b.box_max.x, &b.pivot_min.x, &b.pivot_max.x};
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(got[0][k], floor_float(low[k]));
      EXPECT_EQ(got[1][k], ceil_float(high[k]));
      EXPECT_EQ(got[2][k], pivot_low[k]);
      EXPECT_EQ(got[3][k], pivot_high[k]);
    }
    for (int level = 0; level < 7; ++level) EXPECT_EQ(b.distance[level], distance[level]);
    EXPECT_EQ(b.masks, masks);
  }
};

void check_blocks(BuiltBlocks& built) {
  const auto n = static_cast<uint32_t>(built.descs.size());
  std::vector<int> seen(n);
  uint32_t slot = 0, sub_block = 0;
  for (const DescContainer& c : built.containers) {
    ASSERT_EQ(c.first_slot, slot);
    ASSERT_EQ(c.first_sub_block, sub_block);
    ASSERT_GE(c.count, 1);
    ASSERT_LE(c.count, 320);
    ASSERT_EQ(c.sub_block_count, (c.count + 31) / 32);
    const DescLanes lanes = built.lanes_of(c);
    const uint32_t capacity = (c.count + 15u) / 16 * 16;
    Union whole;
    for (uint32_t s = 0; s < c.sub_block_count; ++s) {
      Union part;
      for (uint32_t i = s * 32; i < std::min<uint32_t>(c.count, s * 32 + 32); ++i) {
        part.add(lanes, i, built.links);
        whole.add(lanes, i, built.links);
        const uint32_t entity = lanes.entity[i];
        ASSERT_LT(entity, n);
        ++seen[entity];
        ASSERT_EQ(built.slot_of[entity], slot + i);
        const EntityDesc& d = built.descs[entity];
        EXPECT_EQ(lanes.distance[i],
                  d.distance == 0 ? 0 : static_cast<int>(std::min(65535.0, std::ceil(double{d.distance}))));
        EXPECT_EQ(lanes.mask[i], d.mask);
        EXPECT_EQ(lanes.alpha[i], d.alpha);
        EXPECT_EQ(lanes.lod_set[i], d.lod_set);
        if (d.distance == 0) continue;
        EXPECT_EQ((Vec3{lanes.centre_x[i], lanes.centre_y[i], lanes.centre_z[i]}), d.centre);
        EXPECT_EQ((Vec3{lanes.half_x[i], lanes.half_y[i], lanes.half_z[i]}), d.half);
        EXPECT_EQ(lanes.flags[i], d.flags);
        if ((d.flags & kDescLodChild) != 0) continue;
        // f16 has 11 bits: half a unit in the last place, and the float's own.
        const float error = std::max({std::abs(d.pivot.x - d.centre.x), std::abs(d.pivot.y - d.centre.y),
                                      std::abs(d.pivot.z - d.centre.z)}) /
                                2048 +
                            1e-3f;
        EXPECT_NEAR(slot_pivot(lanes, i).x, d.pivot.x, error);
        EXPECT_NEAR(slot_pivot(lanes, i).z, d.pivot.z, error);
      }
      part.expect_equal(built.sub_blocks[sub_block + s]);
    }
    whole.expect_equal(c.bounds);
    for (uint32_t i = c.count; i < capacity; ++i) {
      EXPECT_EQ(lanes.entity[i], 0xFFFFFFFFu);
      EXPECT_EQ(lanes.distance[i] | lanes.mask[i] | lanes.alpha[i], 0);
      EXPECT_EQ(lanes.lod_set[i], 0xFFFF);
    }
    slot += capacity;
    sub_block += c.sub_block_count;
  }
  EXPECT_EQ(seen, std::vector<int>(n, 1)) << "each entity once";
  EXPECT_EQ(sub_block, built.sub_blocks.size());
  EXPECT_EQ(slot * 44u, built.lanes.size() * 4);
}

// DESC-3: sizes by hand.
TEST(BlockCounts, AreExact) {
  const auto counts = [](uint32_t n) {
    const BlockCounts c = block_counts(n);
    return std::vector<size_t>{c.containers, c.sub_blocks, c.slots, c.lane_bytes};
  };
  EXPECT_EQ(counts(0), (std::vector<size_t>{0, 0, 0, 0}));
  EXPECT_EQ(counts(1), (std::vector<size_t>{1, 1, 16, 704}));
  EXPECT_EQ(counts(32), (std::vector<size_t>{1, 1, 32, 1408}));
  EXPECT_EQ(counts(33), (std::vector<size_t>{1, 2, 48, 2112}));
  EXPECT_EQ(counts(320), (std::vector<size_t>{1, 10, 320, 14080}));
  EXPECT_EQ(counts(321), (std::vector<size_t>{2, 11, 336, 14784}));
  EXPECT_EQ(counts(65535), (std::vector<size_t>{205, 2048, 65536, 2883584}));
}

// DESC-2, DESC-3: random maps; every block is the union of what it holds, and the order is a permutation.
TEST(BuildBlocks, RandomMapsAgainstBruteForce) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomMap random = test::random_map(
        seed, {.entities = seed < 60 ? seed - 1 : 7 * seed, .slips = seed % 2 == 0, .clusters = seed % 3 == 0});
    BuiltBlocks built = test::build(random.input());
    ASSERT_NO_FATAL_FAILURE(check_blocks(built));
    if (testing::Test::HasFailure()) return;
  }
}

// DESC-3: what cannot be visible weighs on no block.
TEST(BuildBlocks, NothingVisibleGivesZeroBounds) {
  RandomMap random = test::random_map(5, {.entities = 100});
  for (const ArchetypeTraits*& a : random.archetypes) a = nullptr;
  BuiltBlocks built = test::build(random.input());
  ASSERT_NO_FATAL_FAILURE(check_blocks(built));
  EXPECT_EQ(built.containers[0].bounds, DescBounds{});
  for (const DescStatus s : built.status) EXPECT_EQ(s, DescStatus::unknown_archetype);
}

// SCAN-8, MAP-4: which set an entity is in, its pivot and its distance, from the rules alone.
TEST(LinkMap, RandomMapsAgainstTheRules) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomMap random = test::random_map(seed * 31, {.entities = 3 * seed, .slips = seed % 2 == 0});
    const BuiltBlocks built = test::build(random.input());
    const schema::MapData& map = random.map();
    const auto n = static_cast<int>(random.size());
    const auto own = [&](int i) {
      const float d = map.entities()->Get(static_cast<uint32_t>(i))->lod_dist();
      const ArchetypeTraits* a = random.archetypes[static_cast<size_t>(i)];
      const float out = d > 0 ? d : a != nullptr ? a->lod_distance : 0;
      return out > 1 ? out : 0;
    };
    // (in parent map, index) -> set
    std::map<std::pair<bool, int>, LodParent> sets;
    std::vector<std::pair<bool, int>> parent_of(static_cast<size_t>(n), {false, -1});
    for (int i = 0; i < n; ++i) {
      const schema::EntityDef& e = *map.entities()->Get(static_cast<uint32_t>(i));
      const bool elsewhere = (static_cast<uint32_t>(e.flags()) & 8) != 0;
      const int p = e.parent_index();
      if (p < 0 || (!elsewhere && (p >= n || p == i))) continue;
      if (elsewhere && p >= static_cast<int>(random.parent_map.size())) continue;
      parent_of[static_cast<size_t>(i)] = {elsewhere, p};
      LodParent& set = sets[{elsewhere, p}];
      if (elsewhere)
        set = random.parent_map[static_cast<size_t>(p)];
      else
        set.distance = std::max(set.distance, own(i));
    }
    for (auto& [key, set] : sets) {
      if (key.first) continue;
      const schema::EntityDef& e = *map.entities()->Get(static_cast<uint32_t>(key.second));
      if (e.child_lod_dist() > 0) set.distance = e.child_lod_dist();
    }
    for (const schema::LodSet* s : *map.lod_sets())
      sets[{false, static_cast<int>(s->parent_index())}].distance = s->distance();
    std::erase_if(sets, [](const auto& item) { return item.second.distance == 0; });
    for (auto& [key, set] : sets) {
      if (key.first) continue;
      const schema::Vec3& p = map.entities()->Get(static_cast<uint32_t>(key.second))->position();
      set.pivot = {p.x(), p.y(), p.z()};
    }
    ASSERT_EQ(built.links.size(), sets.size());
    std::map<std::pair<bool, int>, int> row_of;
    for (const auto& [key, set] : sets) {  // std::map: this map first, ascending, as promised
      const auto row = row_of.size();
      EXPECT_EQ(built.links[row].in_parent, key.first);
      EXPECT_EQ(static_cast<int>(built.links[row].parent_index), key.second);
      EXPECT_EQ(built.links[row].pivot, set.pivot);
      EXPECT_EQ(built.links[row].distance, set.distance);
      row_of[key] = static_cast<int>(row);
    }
    for (int i = 0; i < n; ++i) {
      const EntityDesc& d = built.descs[static_cast<size_t>(i)];
      EXPECT_EQ(d.handle, static_cast<uint64_t>(i));
      const auto parent = sets.find(parent_of[static_cast<size_t>(i)]);
      const bool is_parent = row_of.contains({false, i});
      if (is_parent) {
        const LodLinkRow& row = built.links[static_cast<size_t>(row_of.at({false, i}))];
        EXPECT_EQ(row.up, parent == sets.end() ? 0xFFFF : row_of.at(parent->first));
      }
      if (d.distance == 0) continue;
      EXPECT_EQ((d.flags & kDescSetParent) != 0, is_parent);
      EXPECT_EQ((d.flags & kDescLodChild) != 0, parent != sets.end());
      EXPECT_EQ(d.lod_set, is_parent              ? row_of.at({false, i})
                           : parent != sets.end() ? row_of.at(parent->first)
                                                  : 0xFFFF);
      const schema::Vec3& at = map.entities()->Get(static_cast<uint32_t>(i))->position();
      const Vec3 position{at.x(), at.y(), at.z()};
      EXPECT_EQ(d.pivot, parent != sets.end() ? parent->second.pivot : position);
      EXPECT_EQ(d.distance, parent != sets.end() ? parent->second.distance : own(i));
    }
  }
}

// DESC-2, ENTY-2: the world box of each entity, corners turned by the authored quaternion in doubles, is inside its
// descriptor's box.
TEST(DescribeMap, BoxesHoldTheEntities) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const RandomMap random = test::random_map(seed * 17, {.entities = 200});
    const BuiltBlocks built = test::build(random.input());
    std::set<uint32_t> interiors;
    for (const schema::MloInstanceDef* m : *random.map().mlo_instances()) interiors.insert(m->owner());
    for (uint32_t i = 0; i < random.size(); ++i) {
      const EntityDesc& d = built.descs[i];
      if (d.distance == 0) continue;
      const schema::EntityDef& e = *random.map().entities()->Get(i);
      const ArchetypeTraits& a = *random.archetypes[i];
      const schema::Quat& r = e.rotation();
      const double length =
          std::sqrt(double{r.x()} * r.x() + double{r.y()} * r.y() + double{r.z()} * r.z() + double{r.w()} * r.w());
      const double sign = interiors.contains(i) ? 1 : -1;
      double q[4] = {sign * r.x() / length, sign * r.y() / length, sign * r.z() / length, r.w() / length};
      const bool tilt = a.animates || std::abs(q[0]) > 0.05 || std::abs(q[1]) > 0.05 ||
                        ((static_cast<uint32_t>(e.flags()) & 1) != 0 && (q[0] != 0 || q[1] != 0));
      if (!tilt) {
        const double half = std::acos(q[3]) * (q[2] > 0 ? 1 : q[2] < 0 ? -1 : 0);
        q[0] = q[1] = 0;
        q[2] = std::sin(half);
        q[3] = std::cos(half);
      }
      for (int corner = 0; corner < 8; ++corner) {
        const double sxy = a.is_fragment ? 1 : e.scale_xy(), sz = a.is_fragment ? 1 : e.scale_z();
        const double v[3] = {(corner & 1 ? a.box.max.x : a.box.min.x) * sxy,
                             (corner & 2 ? a.box.max.y : a.box.min.y) * sxy,
                             (corner & 4 ? a.box.max.z : a.box.min.z) * sz};
        const double c[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
        const double t[3] = {q[1] * c[2] - q[2] * c[1], q[2] * c[0] - q[0] * c[2], q[0] * c[1] - q[1] * c[0]};
        const double p[3] = {e.position().x(), e.position().y(), e.position().z()};
        const double centre[3] = {d.centre.x, d.centre.y, d.centre.z}, half[3] = {d.half.x, d.half.y, d.half.z};
        double square = 0;
        for (int k = 0; k < 3; ++k) {
          const double world = v[k] + 2 * q[3] * c[k] + 2 * t[k] + p[k];
          ASSERT_LE(std::abs(world - centre[k]), half[k] + 5e-5) << seed << " entity " << i;
          square += (world - centre[k]) * (world - centre[k]);
        }
        ASSERT_LE(std::sqrt(square), std::hypot(std::hypot(half[0], half[1]), half[2]) + 1e-3);
      }
    }
  }
}

// MAP-4: parents that go round in a circle are cut, the same way always, and the rest stays.
TEST(LinkMap, CirclesAreCut) {
  RandomMap random = test::random_map(1, {.entities = 40, .slips = false});
  auto* const entities = random.mutable_map().mutable_entities();
  const auto set_parent = [&](uint32_t i, int32_t parent) {
    schema::EntityDef* e = entities->GetMutableObject(i);
    e->mutate_parent_index(parent);
    e->mutate_flags(schema::EntityFlags{});
  };
  for (uint32_t i = 0; i < 40; ++i) set_parent(i, -1);
  set_parent(0, 1);
  set_parent(1, 2);
  set_parent(2, 0);
  set_parent(3, 0);
  for (uint32_t i = 4; i < 39; ++i) set_parent(i, static_cast<int32_t>(i + 1));  // deeper than any world
  const BuiltBlocks built = test::build(random.input());
  for (size_t i = 0; i < built.links.size(); ++i) {
    uint32_t steps = 0;
    for (uint16_t up = built.links[i].up; up != kNoLodSet; up = built.links[up].up) {
      ASSERT_LT(up, built.links.size());
      ASSERT_LT(++steps, kMaxLodChain);
    }
  }
  EXPECT_EQ(built.links[0].parent_index, 0u);
  EXPECT_EQ(built.links[0].up, kNoLodSet) << "the circle is cut at its first row";
  EXPECT_EQ(built.links[1].up, 2) << "and nowhere else";
  EXPECT_EQ(built.links[2].up, 0);
  EXPECT_EQ(built.descs[0].flags & kDescLodChild, 0u);
  EXPECT_NE(built.descs[1].flags & kDescLodChild, 0u);
}

// DESC-2: 65 534 rows fit, one more does not.
TEST(LinkMap, RefusesMoreSetsThanTheIndexHolds) {
  for (const uint32_t sets : {65534u, 65535u}) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<schema::EntityDef> entities(
        sets, schema::EntityDef(1, static_cast<schema::EntityFlags>(8), 0, schema::Vec3(), schema::Quat(0, 0, 0, 1), 1,
                                1, 0, 100, 0, schema::LodLevel::HD, 0, schema::PriorityLevel::REQUIRED, 0, 0, 0));
    for (uint32_t i = 0; i < sets; ++i) entities[i].mutate_parent_index(static_cast<int32_t>(i));
    const auto vector = builder.CreateVectorOfStructs(entities);
    schema::MapDataBuilder map(builder);
    map.add_entities(vector);
    schema::FinishMapDataBuffer(builder, map.Finish());
    const std::vector<const ArchetypeTraits*> archetypes(sets);
    const std::vector<LodParent> parents(sets, LodParent{{1, 2, 3}, 50});
    const MapDescInput in{schema::GetMapData(builder.GetBufferPointer()), archetypes, parents};
    std::vector<LodLinkRow> rows(lod_link_bound(*in.map));
    const Result<uint32_t> linked = link_map(in, rows);
    EXPECT_EQ(linked.ok(), sets == 65534);
    if (!linked.ok()) {
      EXPECT_EQ(linked.status().code, StatusCode::too_large);
      EXPECT_EQ(linked.status().detail, sets);
    }
  }
}

// --- the curve and the cut -----------------------------------------------------------------------------

// DESC-3: cells that follow each other on the curve touch, and each cell of a cube is met once.
TEST(Hilbert, StepsToANeighbour) {
  constexpr uint32_t kSide = 16;
  std::map<uint64_t, std::array<int, 3>> cells;
  for (uint32_t x = 0; x < kSide; ++x)
    for (uint32_t y = 0; y < kSide; ++y)
      for (uint32_t z = 0; z < kSide; ++z)
        cells[detail::hilbert_key(x, y, z)] = {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
  ASSERT_EQ(cells.size(), size_t{kSide * kSide * kSide});
  EXPECT_EQ(cells.rbegin()->first, uint64_t{kSide * kSide * kSide - 1});
  const std::array<int, 3>* previous = nullptr;
  for (const auto& [key, cell] : cells) {
    if (previous != nullptr) {
      EXPECT_EQ(
          std::abs(cell[0] - (*previous)[0]) + std::abs(cell[1] - (*previous)[1]) + std::abs(cell[2] - (*previous)[2]),
          1);
    }
    previous = &cell;
  }
  EXPECT_LT(detail::hilbert_key((1u << 21) - 1, (1u << 21) - 1, (1u << 21) - 1), uint64_t{1} << 63);
}

double area(const DescBounds& b) {
  const double x = double{b.box_max.x} - b.box_min.x, y = double{b.box_max.y} - b.box_min.y,
               z = double{b.box_max.z} - b.box_min.z;
  return x * y + y * z + z * x;
}

// DESC-3: as few containers as can be, and of all ways to cut the sub-blocks into that many the tightest: all are
// tried.
TEST(BuildBlocks, ContainersAreTheTightestOfTheFewest) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const RandomMap random =
        test::random_map(seed, {.entities = 330 + 15 * seed, .slips = false, .clusters = seed % 2 == 0});
    const BuiltBlocks built = test::build(random.input());
    const size_t blocks = built.sub_blocks.size();
    const auto area_of = [&](size_t from, size_t end) {
      DescBounds b = built.sub_blocks[from];
      for (size_t i = from; i < end; ++i) {
        const DescBounds& s = built.sub_blocks[i];
        b.box_min = {std::min(b.box_min.x, s.box_min.x), std::min(b.box_min.y, s.box_min.y),
                     std::min(b.box_min.z, s.box_min.z)};
        b.box_max = {std::max(b.box_max.x, s.box_max.x), std::max(b.box_max.y, s.box_max.y),
                     std::max(b.box_max.z, s.box_max.z)};
      }
      return area(b);
    };
    double best = 1e300;
    for (size_t first = 1; first < blocks; ++first) {
      if (first > 10) break;
      if (blocks <= 20) {
        if (blocks - first <= 10) best = std::min(best, area_of(0, first) + area_of(first, blocks));
        continue;
      }
      for (size_t second = first + 1; second < blocks; ++second)
        if (second - first <= 10 && blocks - second <= 10)
          best = std::min(best, area_of(0, first) + area_of(first, second) + area_of(second, blocks));
    }
    double got = 0;
    for (const DescContainer& c : built.containers) got += area(c.bounds);
    EXPECT_EQ(built.containers.size(), (blocks + 9) / 10);
    EXPECT_NEAR(got, best, best * 1e-12);
  }
}

// DESC-3: sub-blocks are far tighter than in the author's order.
TEST(BuildBlocks, CurveBeatsTheAuthorsOrder) {
  const RandomMap random = test::random_map(9, {.entities = 3200, .slips = false});
  const BuiltBlocks built = test::build(random.input());
  double curve = 0, authored = 0;
  for (const DescBounds& b : built.sub_blocks) curve += area(b);
  for (size_t first = 0; first < built.descs.size(); first += 32) {
    DescBounds b{{1e9f, 1e9f, 1e9f}, {-1e9f, -1e9f, -1e9f}, {}, {}, {}, 0};
    for (size_t i = first; i < first + 32; ++i) {
      const EntityDesc& d = built.descs[i];
      b.box_min = {std::min(b.box_min.x, d.centre.x - d.half.x), std::min(b.box_min.y, d.centre.y - d.half.y),
                   std::min(b.box_min.z, d.centre.z - d.half.z)};
      b.box_max = {std::max(b.box_max.x, d.centre.x + d.half.x), std::max(b.box_max.y, d.centre.y + d.half.y),
                   std::max(b.box_max.z, d.centre.z + d.half.z)};
    }
    authored += area(b);
  }
  EXPECT_LT(curve * 10, authored);
}

// DESC-3: within a sub-block what is seen from far comes first, by the metres that are stored; which sub-block a
// descriptor is in is the curve's to say, as if all distances were the same.
TEST(BuildBlocks, WhatIsSeenFromFarComesFirst) {
  const RandomMap random = test::random_map(21, {.entities = 700, .slips = true});
  const BuiltBlocks built = test::build(random.input());
  BuiltBlocks level;
  level.descs = built.descs;
  for (EntityDesc& d : level.descs) d.distance = d.distance > 0 ? 10.0f : 0.0f;
  test::build_from_descs(level);
  std::vector<uint32_t> at(700), curve(700);
  for (uint32_t i = 0; i < 700; ++i) {
    at[built.slot_of[i]] = i;
    curve[i] = level.slot_of[i];
    EXPECT_EQ(built.slot_of[i] / 32, curve[i] / 32) << i;
  }
  uint32_t kinds = 0;
  for (uint32_t slot = 1; slot < 700; ++slot) {
    if (slot % 32 == 0) continue;
    const float before = std::ceil(built.descs[at[slot - 1]].distance),
                here = std::ceil(built.descs[at[slot]].distance);
    ASSERT_GE(before, here) << slot;
    if (before == here) {
      EXPECT_LT(curve[at[slot - 1]], curve[at[slot]]) << slot;
    } else {
      ++kinds;
    }
  }
  EXPECT_GT(kinds, 100u);
}

// PIPE-1: the same bytes for the same input, whatever was in the memory before, and ties by index.
TEST(BuildBlocks, OrderIsTotal) {
  BuiltBlocks built;
  built.descs.resize(100);
  for (uint32_t i = 0; i < 100; ++i) {
    built.descs[i].handle = i;
    built.descs[i].distance = 10;
    built.descs[i].mask = 2;
  }
  test::build_from_descs(built);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(built.slot_of[i], i);
  for (uint32_t i = 0; i < 100; i += 2) built.descs[i].distance = 0;
  test::build_from_descs(built);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(built.slot_of[i], i % 2 != 0 ? i / 2 : 50 + i / 2);
}

// PIPE-1: the number is what GCC 12 and Clang 14 agree on, the latter for a processor with fused multiply-add. It
// changes with the layout (then kCookedLayoutVersion rises), with the order of descriptors or with the maps of the test,
// and for no other reason.
TEST(BuildBlocks, SameBytesFromEveryCompiler) {
  uint64_t state = 0;
  const auto mix = [&](uint64_t value) {
    const uint64_t words[2] = {state, value};
    state = detail::checksum(std::as_bytes(std::span(words)));
  };
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const RandomMap random = test::random_map(seed, {.entities = seed * 11, .slips = true, .clusters = seed % 2 == 0});
    const BuiltBlocks built = test::build(random.input());
    mix(detail::checksum(std::as_bytes(std::span(built.lanes))));
    mix(detail::checksum(std::as_bytes(std::span(built.containers))));
    mix(detail::checksum(std::as_bytes(std::span(built.sub_blocks))));
    mix(detail::checksum(std::as_bytes(std::span(built.slot_of))));
    mix(detail::checksum(std::as_bytes(std::span(built.links))));
    mix(descriptor_fingerprint(random.input()));
  }
  EXPECT_EQ(state, 0x2DFDDCAB9850F33Bu);
}

// --- fingerprint ---------------------------------------------------------------------------------------

// DESC-4: changes with each used archetype and each parent elsewhere, and with nothing else.
TEST(Fingerprint, ChangesExactlyWithWhatComesFromElsewhere) {
  RandomMap random = test::random_map(3, {.entities = 150, .slips = false});
  const uint64_t before = descriptor_fingerprint(random.input());
  EXPECT_EQ(descriptor_fingerprint(random.input()), before);
  EXPECT_EQ(descriptor_fingerprint(test::random_map(3, {.entities = 150, .slips = false}).input()), before);
  for (const uint32_t size : {1u, 7u, 64u, 149u, 1000u}) {
    uint64_t state = kFingerprintStart;
    const auto count = static_cast<uint32_t>(random.input().archetypes.size());
    for (uint32_t first = 0; first < count; first += size) {
      state = descriptor_fingerprint(random.input(), state, first, std::min(count, first + size));
    }
    EXPECT_EQ(state, before) << "in pieces of " << size;
  }

  const std::set<const ArchetypeTraits*> used(random.archetypes.begin(), random.archetypes.end());
  for (ArchetypeTraits& t : random.pool) {
    const ArchetypeTraits kept = t;
    t.box.max.z += 1;
    EXPECT_EQ(descriptor_fingerprint(random.input()) != before, used.contains(&t));
    t = kept;
    t.sphere_radius += 1;
    EXPECT_EQ(descriptor_fingerprint(random.input()), before) << "not in cooked descriptors";
    t = kept;
  }
  for (uint32_t i = 0; i < random.size(); ++i) {
    const schema::EntityDef& e = *random.map().entities()->Get(i);
    const bool elsewhere = e.parent_index() >= 0 && (static_cast<uint32_t>(e.flags()) & 8) != 0;
    const LodParent kept = random.parents[i];
    for (int change = 0; change < 2; ++change) {
      random.parents[i] = kept.distance > 0 ? kept : LodParent{{}, 1};
      if (change == 0) random.parents[i].distance += 1;
      if (change == 1) random.parents[i].pivot.y += 1;
      EXPECT_EQ(descriptor_fingerprint(random.input()) != before, elsewhere) << i;
    }
    random.parents[i] = kept;
    const ArchetypeTraits* const archetype = random.archetypes[i];
    random.archetypes[i] = nullptr;
    EXPECT_NE(descriptor_fingerprint(random.input()), before) << "an archetype that went";
    random.archetypes[i] = archetype;
  }
  EXPECT_EQ(descriptor_fingerprint(random.input()), before);
}

// DESC-4: whenever descriptors come out differently, the fingerprint says so.
TEST(Fingerprint, NoChangeOfLanesGoesUnseen) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    RandomMap random = test::random_map(seed, {.entities = 60});
    const uint64_t before = descriptor_fingerprint(random.input());
    const std::vector<uint32_t> lanes = test::build(random.input()).lanes;
    std::mt19937 dice(seed);
    ArchetypeTraits& t = random.pool[dice() % random.pool.size()];
    switch (dice() % 6) {
      case 0:
        t.lod_distance += 3;
        break;
      case 1:
        t.flags ^= 1u << 13;
        break;
      case 2:
        t.is_timed = !t.is_timed;
        break;
      case 3:
        t.animates = !t.animates;
        break;
      case 4:
        t.entity_class = EntityClass::grass_batch;
        break;
      default:
        for (LodParent& p : random.parents)
          if (p.distance > 0) p.pivot.x += 2;
    }
    if (test::build(random.input()).lanes != lanes) {
      EXPECT_NE(descriptor_fingerprint(random.input()), before);
    }
  }
}

// DESC-4: the check.
TEST(CookedBlocks, MatchByVersionAndFingerprint) {
  const auto match = [](uint32_t version, uint64_t fingerprint) {
    flatbuffers::FlatBufferBuilder builder;
    const auto cooked = schema::CreateCookedBlocks(builder, version, fingerprint);
    schema::MapDataBuilder map(builder);
    map.add_cooked(cooked);
    schema::FinishMapDataBuffer(builder, map.Finish());
    return cooked_blocks_match(*schema::GetMapData(builder.GetBufferPointer()), 42);
  };
  EXPECT_TRUE(match(kCookedLayoutVersion, 42));
  EXPECT_FALSE(match(kCookedLayoutVersion, 43));
  EXPECT_FALSE(match(kCookedLayoutVersion + 1, 42));
  EXPECT_FALSE(cooked_blocks_match(test::random_map(1, {.entities = 3}).map(), 42)) << "none at all";
}

}  // namespace
}  // namespace meridian
