// SPDX-License-Identifier: MIT
#include "meridian/scene/box_hierarchy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "support/captured.h"
#include "support/checked_memory.h"

// SG-7: dense lanes with wide levels above. P078: boxes that are no boxes. P088: what is on a border or far outside.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMost = std::numeric_limits<float>::max();

using Items = std::vector<uint32_t>;
using Flat = std::map<uint32_t, Aabb>;

bool touches(const Aabb& a, const Aabb& b) {
  return a.min.x <= b.max.x && a.max.x >= b.min.x && a.min.y <= b.max.y && a.max.y >= b.min.y && a.min.z <= b.max.z &&
         a.max.z >= b.min.z;
}
bool contains(const Aabb& a, const Aabb& b) {
  return a.min.x <= b.min.x && a.max.x >= b.max.x && a.min.y <= b.min.y && a.max.y >= b.max.y && a.min.z <= b.min.z &&
         a.max.z >= b.max.z;
}
struct Sphere {
  Vec3 centre;
  float radius = 0;
};
bool touches(const Aabb& b, const Sphere& s) {
  const auto outside = [](float low, float high, float v) {
    return std::max({double{low} - v, double{v} - high, 0.0});
  };
  const double x = outside(b.min.x, b.max.x, s.centre.x), y = outside(b.min.y, b.max.y, s.centre.y),
               z = outside(b.min.z, b.max.z, s.centre.z);
  return x * x + y * y + z * z <= double{s.radius} * s.radius;
}

/// What a traversal of the tree finds, ascending. Fails if it finds something twice.
template <class Shape>
Items search(const BoxHierarchy& tree, const Shape& shape, size_t* looked_at = nullptr) {
  Items found, waiting(tree.roots().begin(), tree.roots().end());
  while (!waiting.empty()) {
    EXPECT_LE(waiting.size(), 15 * tree.depth() + 2);
    const BoxHierarchy::Node& node = tree.node(waiting.back());
    waiting.pop_back();
    if (looked_at != nullptr) ++*looked_at;
    for (uint32_t lane = 0; lane < kWideLanes; ++lane) {
      const uint32_t child = node.child[lane];
      if (child == BoxHierarchy::kNone || !touches(node.boxes.lane(lane), shape)) continue;
      if ((child & BoxHierarchy::kItem) != 0) {
        found.push_back(child & ~BoxHierarchy::kItem);
      } else {
        waiting.push_back(child);
      }
    }
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << "found twice";
  return found;
}
template <class Shape>
Items search(const Flat& flat, const Shape& shape) {
  Items found;
  for (const auto& [item, box] : flat)
    if (touches(box, shape)) found.push_back(item);
  return found;
}

/// Counts what is below a node. Fails where a box does not contain what is below it, or, if `is_tight`, is larger.
uint32_t check_below(const BoxHierarchy& tree, uint32_t index, const Flat& flat, bool is_tight, uint32_t level) {
  EXPECT_LT(index, tree.node_count());
  EXPECT_LT(level, tree.depth());
  uint32_t items = 0;
  const BoxHierarchy::Node& node = tree.node(index);
  for (uint32_t lane = 0; lane < kWideLanes; ++lane) {
    const uint32_t child = node.child[lane];
    const Aabb box = node.boxes.lane(lane);
    if (child == BoxHierarchy::kNone) {
      EXPECT_TRUE(node.boxes.is_empty_lane(lane));
    } else if ((child & BoxHierarchy::kItem) != 0) {
      const auto at = flat.find(child & ~BoxHierarchy::kItem);
      if (at == flat.end()) {
        ADD_FAILURE() << "an item that is not there";
        continue;
      }
      EXPECT_EQ(box, at->second);
      ++items;
    } else {
      const BoxHierarchy::Node& below = tree.node(child);
      Aabb all{{3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f}};
      for (uint32_t i = 0; i < kWideLanes; ++i) {
        const Aabb b = below.boxes.lane(i);
        if (below.boxes.is_empty_lane(i)) continue;
        EXPECT_TRUE(contains(box, b)) << "node " << index << " misses a part of node " << child;
        all = {min(all.min, b.min), max(all.max, b.max)};
      }
      EXPECT_TRUE(!is_tight || box == all) << "the box of node " << child << " is too large";
      items += check_below(tree, child, flat, is_tight, level + 1);
    }
  }
  return items;
}

void expect_like(const BoxHierarchy& tree, const Flat& flat, bool is_tight) {
  uint32_t items = 0;
  for (const uint32_t root : tree.roots()) items += check_below(tree, root, flat, is_tight, 0);
  EXPECT_EQ(items, flat.size());
  EXPECT_EQ(tree.count(), flat.size());
  for (uint32_t i = 0; i < tree.max_items(); ++i) {
    const auto at = flat.find(i);
    ASSERT_EQ(tree.contains(i), at != flat.end());
    ASSERT_TRUE(at == flat.end() || tree.box(i) == at->second);
  }
}

/// The nodes as bytes, to see that nothing changed.
std::vector<std::byte> bytes_of(const BoxHierarchy& tree) {
  std::vector<std::byte> out(tree.node_count() * sizeof(BoxHierarchy::Node));
  if (!out.empty()) std::memcpy(out.data(), &tree.node(0), out.size());
  return out;
}

Aabb cube_at(float x, float y, float z, float half = 0.5f) {
  return {{x - half, y - half, z - half}, {x + half, y + half, z + half}};
}
const Aabb kEverything{{-kMost, -kMost, -kMost}, {kMost, kMost, kMost}};

TEST(BoxHierarchy, FindsItemsAtOnce) {
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(100, default_allocator()).ok());
  EXPECT_TRUE(tree.roots().empty());
  EXPECT_EQ(tree.depth(), 0u);
  EXPECT_FALSE(tree.commit());
  EXPECT_TRUE(tree.insert(7, cube_at(10, 0, 0)));
  EXPECT_TRUE(tree.insert(99, cube_at(-10, 0, 0)));
  EXPECT_EQ(search(tree, cube_at(10, 0, 0)), Items{7});
  EXPECT_EQ(search(tree, Sphere{{-9, 0, 0}, 1}), Items{99});
  EXPECT_EQ(search(tree, Aabb{{10.5f, 0.5f, 0.5f}, {20, 20, 20}}), Items{7});  // touches a corner
  EXPECT_TRUE(tree.update(7, cube_at(0, 500, 0)));
  EXPECT_EQ(search(tree, cube_at(10, 0, 0)), Items{});
  EXPECT_EQ(search(tree, cube_at(0, 500, 0)), Items{7});
  EXPECT_TRUE(tree.remove(7));
  EXPECT_FALSE(tree.remove(7));
  EXPECT_EQ(search(tree, kEverything), Items{99});
  EXPECT_EQ(tree.box(99), cube_at(-10, 0, 0));
  tree.clear();
  EXPECT_EQ(tree.count(), 0u);
  EXPECT_TRUE(tree.roots().empty());
  EXPECT_TRUE(tree.insert(99, cube_at(1, 1, 1)));
  EXPECT_EQ(search(tree, kEverything), Items{99});
}

// P078: what is no box is refused, and nothing is changed.
TEST(BoxHierarchy, RefusesWhatIsNoBox) {
  test::BrokenContracts contracts;
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(40, default_allocator()).ok());
  Flat flat;
  for (uint32_t i = 0; i < 35; ++i) tree.insert(i, flat[i] = cube_at(static_cast<float>(i), 0, 0));
  tree.commit();
  const std::vector<std::byte> before = bytes_of(tree);
  for (int axis = 0; axis < 3; ++axis) {
    for (const auto& [low, high] : {std::pair{kNan, 1.f},
                                    {0.f, kNan},
                                    {kNan, kNan},
                                    {-kInf, 0.f},
                                    {0.f, kInf},
                                    {-kInf, kInf},
                                    {kInf, -kInf},
                                    {1.f, 0.f},
                                    {kMost, -kMost}}) {
      Aabb bad = cube_at(3, 0, 0);
      (axis == 0 ? bad.min.x : axis == 1 ? bad.min.y : bad.min.z) = low;
      (axis == 0 ? bad.max.x : axis == 1 ? bad.max.y : bad.max.z) = high;
      EXPECT_FALSE(tree.insert(36, bad));
      EXPECT_FALSE(tree.update(3, bad));
      EXPECT_TRUE(test::broke(contracts, 2));
    }
  }
  EXPECT_FALSE(tree.insert(3, cube_at(0, 0, 0)));   // is in already
  EXPECT_FALSE(tree.insert(40, cube_at(0, 0, 0)));  // there is no such item
  EXPECT_FALSE(tree.update(36, cube_at(0, 0, 0)));  // is not in
  EXPECT_FALSE(tree.update(400, cube_at(0, 0, 0)));
  EXPECT_FALSE(tree.remove(400));
  EXPECT_EQ(tree.box(36), Aabb{});
  EXPECT_TRUE(test::broke(contracts, 6));
  EXPECT_FALSE(tree.remove(36));
  EXPECT_TRUE(test::broke(contracts, 0));
  EXPECT_EQ(bytes_of(tree), before);
  expect_like(tree, flat, true);
  EXPECT_FALSE(tree.commit());
  EXPECT_EQ(bytes_of(tree), before);
}

// P088: equal boxes, boxes without size, as far out as there are numbers, across everything. Each is removed once.
TEST(BoxHierarchy, LosesNothingAtTheBorder) {
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(1000, default_allocator()).ok());
  Flat flat;
  uint32_t next = 0;
  const auto add = [&](const Aabb& box) {
    flat[next] = box;
    ASSERT_TRUE(tree.insert(next++, box));
  };
  for (int i = 0; i < 200; ++i) add(cube_at(5, 5, 5));
  for (int i = 0; i < 200; ++i) add({{-3, 8, 0}, {-3, 8, 0}});
  for (const float v : {65536.f, -65536.f, 1e6f, -1e6f, 1e30f, -1e30f, 3e38f, -3e38f, kMost, -kMost, 0.f, -0.f, 1e-40f})
    for (int axis = 0; axis < 3; ++axis)
      add({{axis == 0 ? v : 0, axis == 1 ? v : 0, axis == 2 ? v : 0},
           {axis == 0 ? v : 0, axis == 1 ? v : 0, axis == 2 ? v : 0}});
  add(kEverything);
  for (int i = -8; i < 8; ++i)
    for (int k = -8; k < 8; ++k)
      add({{static_cast<float>(i) * 16, static_cast<float>(k) * 16, 0},
           {static_cast<float>(i + 1) * 16, static_cast<float>(k + 1) * 16, 0}});
  const auto expect_all = [&] {
    EXPECT_EQ(search(tree, kEverything).size(), flat.size());
    for (const auto& [item, box] : flat) {
      const Items found = search(tree, box);
      ASSERT_EQ(found, search(flat, box));
      ASSERT_TRUE(std::binary_search(found.begin(), found.end(), item));
    }
    for (const float x : {-128.f, 0.f, 16.f, 128.f, 129.f}) {
      const Aabb plane{{x, -kMost, -kMost}, {x, kMost, kMost}};
      ASSERT_EQ(search(tree, plane), search(flat, plane));
    }
    expect_like(tree, flat, false);
  };
  expect_all();
  EXPECT_TRUE(tree.commit());
  expect_all();
  Random random(1);
  for (uint32_t i = 0; i < next; ++i) {
    if (random.chance(0.3f)) continue;
    EXPECT_TRUE(tree.remove(i));
    EXPECT_FALSE(tree.remove(i));
    flat.erase(i);
    if (i % 100 == 0) tree.commit();
  }
  expect_all();
  for (uint32_t i = 0; i < next; ++i) {
    EXPECT_EQ(tree.remove(i), flat.erase(i) == 1);
    EXPECT_FALSE(tree.remove(i));
  }
  EXPECT_TRUE(search(tree, kEverything).empty());
  tree.commit();
  EXPECT_TRUE(tree.roots().empty());
}

// SG-7, against a flat list: random items come, go and move, near and far.
TEST(BoxHierarchy, IsLikeAFlatListForRandomOperations) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    constexpr uint32_t kSizes[] = {1, 16, 17, 100, 300, 700, 1500, 3500};
    const uint32_t max_items = kSizes[seed - 1];
    test::CheckedMemory memory;
    BoxHierarchy tree;
    ASSERT_TRUE(tree.init(max_items, memory).ok());
    Flat flat;
    uint32_t sorts = 0, changes = 0;
    const auto random_box = [&]() -> Aabb {
      const float x = static_cast<float>(random.between(-500, 500)), y = static_cast<float>(random.between(-500, 500));
      const float size = random.chance(0.1f) ? 0 : random.between(0.f, random.chance(0.02f) ? 800.f : 20.f);
      return {{x, y, 0}, {x + size, y + size * 0.5f, size}};
    };
    for (int i = 0; i < 12'000; ++i) {
      const uint32_t item = random.below(max_items);
      const auto at = flat.find(item);
      const bool is_filling = i / 3000 % 2 == 0;
      bool is_change = true;
      if (at == flat.end()) {
        is_change = random.chance(is_filling ? 0.9f : 0.2f);
        if (is_change) {
          ASSERT_TRUE(tree.insert(item, flat[item] = random_box()));
        } else {
          ASSERT_FALSE(tree.remove(item));
        }
      } else if (random.chance(is_filling ? 0.05f : 0.4f)) {
        ASSERT_TRUE(tree.remove(item));
        flat.erase(at);
      } else if (random.chance(0.8f)) {  // a small move, but far for a leaf that is small
        const Vec3 by{random.between(-2.f, 2.f), random.between(-2.f, 2.f), 0};
        at->second = {at->second.min + by, at->second.max + by};
        ASSERT_TRUE(tree.update(item, at->second));
      } else {
        ASSERT_TRUE(tree.update(item, at->second = random_box()));
      }
      changes += is_change ? 1 : 0;
      const bool commits = random.chance(0.05f);
      if (commits && tree.commit()) {
        ++sorts;
        ASSERT_GT(changes, flat.size() / 16);  // what the header promises between two sorts
        changes = 0;
        ASSERT_EQ(tree.overflow_count(), 0u);
        ASSERT_EQ(tree.leaf_count(), (flat.size() + 15) / 16);
        BoxHierarchy fresh;  // has the same nodes, whatever happened before
        ASSERT_TRUE(fresh.init(max_items, default_allocator()).ok());
        for (const auto& [id, box] : flat) ASSERT_TRUE(fresh.insert(id, box));
        ASSERT_TRUE(!fresh.commit() || bytes_of(fresh) == bytes_of(tree));
      }
      if (commits) {
        ASSERT_LE(tree.leaf_count() * 16 - flat.size(), flat.size() / 8 + 32);
        ASSERT_TRUE(flat.size() <= 256 || flat.size() * 2 >= tree.leaf_count() * 16);  // half full
        expect_like(tree, flat, true);
      } else if (i % 64 == 0) {
        expect_like(tree, flat, false);
      }
      if (i % 4 == 0) {
        const Aabb box = random_box();
        ASSERT_EQ(search(tree, box), search(flat, box));
        const Sphere sphere{box.min, random.between(0.f, 100.f)};
        ASSERT_EQ(search(tree, sphere), search(flat, sphere));
      }
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_TRUE(sorts > 2 || max_items <= 32) << sorts;
    EXPECT_EQ(memory.calls(), 1u);  // SG-7, and no allocation per frame
  }
}

/// 60 x 60 boxes, 10 m apart.
Flat fill_grid(BoxHierarchy& tree) {
  Flat flat;
  for (uint32_t i = 0; i < 3600; ++i) {
    flat[i] = cube_at(static_cast<float>(i % 60) * 10, static_cast<float>(i / 60) * 10, 0);
    EXPECT_TRUE(tree.insert(i, flat[i]));
  }
  return flat;
}

TEST(BoxHierarchy, SmallMovesNeverSort) {
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(3600, default_allocator()).ok());
  Flat flat = fill_grid(tree);
  EXPECT_TRUE(tree.commit());
  Random random(3);
  for (int frame = 0; frame < 30; ++frame) {
    for (auto& [item, box] : flat) {
      const float x = static_cast<float>(item % 60) * 10, y = static_cast<float>(item / 60) * 10;
      // A leaf of 16 here is 31 m long or more, by hand: 4 x 4 boxes of 1 m, 10 m apart.
      box = cube_at(x + random.between(-7.f, 7.f), y + random.between(-7.f, 7.f), random.between(-7.f, 7.f));
      ASSERT_TRUE(tree.update(item, box));
    }
    EXPECT_FALSE(tree.commit()) << frame;
    expect_like(tree, flat, true);
  }
  EXPECT_EQ(tree.overflow_count(), 0u);
  EXPECT_EQ(tree.leaf_count(), 3600u / 16);
}

TEST(BoxHierarchy, FarMovesSortWhenThereAreManyOnly) {
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(3600, default_allocator()).ok());
  Flat flat = fill_grid(tree);
  EXPECT_TRUE(tree.commit());
  uint32_t moved = 0;
  for (;; ++moved) {
    ASSERT_LT(moved, 3600u);
    const uint32_t item = moved * 7 % 3600;
    ASSERT_TRUE(tree.update(item, flat[item] = cube_at(1000 + static_cast<float>(moved), -4000, 0)));
    if (tree.commit()) break;
    ASSERT_EQ(tree.overflow_count(), moved + 1);
    expect_like(tree, flat, true);
  }
  // By hand: a move leaves a lane unused and adds to the overflow, whose last leaf has up to 15 unused lanes.
  EXPECT_GE(moved + 1, (3600u / 8 + 32 - 15) / 2);
  EXPECT_LE(moved, (3600u / 8 + 32) / 2);
  expect_like(tree, flat, true);
}

// Near things are in few nodes, whatever the order of insertion: an outlier does not blur the order.
TEST(BoxHierarchy, ASortBringsNeighboursTogether) {
  for (const bool with_outlier : {false, true}) {
    BoxHierarchy tree;
    ASSERT_TRUE(tree.init(4097, default_allocator()).ok());
    std::vector<uint32_t> order(4096);
    for (uint32_t i = 0; i < 4096; ++i) order[i] = i;
    Random(9).shuffle(std::span(order));
    Flat flat;
    for (const uint32_t i : order) {
      const float x = static_cast<float>(i % 64) * 10, y = static_cast<float>(i / 64) * 10;
      ASSERT_TRUE(tree.insert(i, flat[i] = cube_at(x, y, 0)));
    }
    ASSERT_TRUE(!with_outlier || tree.insert(4096, flat[4096] = cube_at(1e30f, 0, 0, 0)));
    const Aabb place{{95, 95, -1}, {145, 145, 1}};  // 5 x 5 of them
    size_t before = 0, after = 0;
    EXPECT_EQ(search(tree, place, &before), search(flat, place));
    EXPECT_TRUE(tree.commit());
    const Items found = search(tree, place, &after);
    EXPECT_EQ(found, search(flat, place));
    EXPECT_EQ(found.size(), 25u);
    EXPECT_GT(before, 200u);  // nearly all of 256 leaves
    EXPECT_LE(after, 20u);    // 25 items lie in at most 9 squares of 4 x 4; three levels above
  }
}

// Capacity is enough without any commit: the sorted tree and the overflow, both with all items.
TEST(BoxHierarchy, NeedsNoCommitToGoOn) {
  constexpr uint32_t kItems = 300;
  test::CheckedMemory memory;
  BoxHierarchy tree;
  ASSERT_TRUE(tree.init(kItems, memory).ok());
  EXPECT_EQ(memory.bytes(), BoxHierarchy::memory_bytes(kItems));
  Flat flat;
  Random random(5);
  for (uint32_t i = 0; i < kItems; ++i) ASSERT_TRUE(tree.insert(i, flat[i] = cube_at(static_cast<float>(i), 0, 0)));
  EXPECT_TRUE(tree.commit());
  EXPECT_EQ(tree.node_count(), 19u + 2 + 1);  // by hand
  EXPECT_EQ(tree.depth(), 3u);
  for (int round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < kItems; ++i) {
      if (round > 0 && random.chance(0.3f)) continue;
      EXPECT_EQ(tree.remove(i), flat.erase(i) == 1);
    }
    for (uint32_t i = 0; i < kItems; ++i) {
      if (flat.count(i) != 0) continue;
      flat[i] = cube_at(random.between(-1e3f, 1e3f), random.between(-1e3f, 1e3f), 0);
      ASSERT_TRUE(tree.insert(i, flat[i]));
    }
    EXPECT_LE(tree.node_count(), 2u * (19 + 2 + 1));
    EXPECT_EQ(tree.roots().size(), 2u);
    expect_like(tree, flat, false);
    const Aabb box = cube_at(random.between(-1e3f, 1e3f), random.between(-1e3f, 1e3f), 0, 200);
    EXPECT_EQ(search(tree, box), search(flat, box));
  }
  EXPECT_TRUE(tree.commit());
  expect_like(tree, flat, true);
  EXPECT_EQ(tree.roots().size(), 1u);
  EXPECT_EQ(memory.calls(), 1u);
}

TEST(BoxHierarchy, ACommitWithoutChangesChangesNothing) {
  BoxHierarchy tree, again;
  ASSERT_TRUE(tree.init(3600, default_allocator()).ok());
  ASSERT_TRUE(again.init(3600, default_allocator()).ok());
  Flat flat = fill_grid(tree);
  EXPECT_TRUE(tree.commit());
  const std::vector<std::byte> before = bytes_of(tree);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tree.commit());
  EXPECT_EQ(bytes_of(tree), before);
  fill_grid(again);  // the same calls give the same nodes
  EXPECT_TRUE(again.commit());
  EXPECT_EQ(bytes_of(again), before);
  // A box that grew and shrank again leaves no trace after a commit.
  EXPECT_TRUE(tree.update(77, cube_at(170, 10, 0, 9)));
  EXPECT_NE(bytes_of(tree), before);
  EXPECT_TRUE(tree.update(77, flat[77]));
  EXPECT_FALSE(tree.commit());
  EXPECT_EQ(bytes_of(tree), before);
}

TEST(BoxHierarchy, RefusesWhatItHasNoMemoryFor) {
  test::BrokenContracts contracts;
  test::CheckedMemory memory;
  BoxHierarchy tree;
  EXPECT_EQ(BoxHierarchy::memory_bytes(0), 0u);
  EXPECT_EQ(BoxHierarchy::memory_bytes(kMaxHierarchyItems + 1), 0u);
  EXPECT_EQ(tree.init(0, memory).code, StatusCode::bad_value);
  EXPECT_EQ(tree.init(kMaxHierarchyItems + 1, memory).code, StatusCode::bad_value);
  memory.fail_after(0);
  const Status refused = tree.init(1000, memory);
  EXPECT_EQ(refused.code, StatusCode::out_of_memory);
  EXPECT_EQ(refused.detail, BoxHierarchy::memory_bytes(1000));
  EXPECT_FALSE(tree.commit());
  EXPECT_FALSE(tree.contains(0));
  EXPECT_FALSE(tree.insert(0, cube_at(0, 0, 0)));
  EXPECT_TRUE(test::broke(contracts));
  memory.fail_after(-1);
  ASSERT_TRUE(tree.init(1000, memory).ok());
  EXPECT_EQ(tree.init(1000, memory).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(tree.insert(0, cube_at(0, 0, 0)));
}

}  // namespace
}  // namespace meridian
