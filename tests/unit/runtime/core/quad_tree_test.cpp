// SPDX-License-Identifier: MIT
#include "meridian/core/quad_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

// UTIL-1: the 2D quad tree. P088: what is on the border of, or outside, the root cell is not lost.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Rect point_at(float x, float y) { return {{x, y}, {x, y}}; }

std::vector<uint32_t> query(const QuadTree& tree, const Rect& rect) {
  std::vector<uint32_t> found(tree.count() + 1);
  const uint32_t count = tree.query_rect(rect, found);
  EXPECT_LE(count, tree.count());
  found.resize(count);
  std::sort(found.begin(), found.end());
  return found;
}

using Ids = std::vector<uint32_t>;

// UTIL-1, by hand.
TEST(QuadTree, FindsWhatTouches) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.bounds = {{-100, -100}, {100, 100}}}, default_allocator()).ok());
  ASSERT_TRUE(tree.insert({{0, 0}, {10, 10}}, 1).ok());
  ASSERT_TRUE(tree.insert({{10, 10}, {20, 20}}, 2).ok());
  ASSERT_TRUE(tree.insert({{-50, -50}, {-40, 30}}, 3).ok());
  EXPECT_EQ(query(tree, {{1, 1}, {2, 2}}), Ids({1}));
  EXPECT_EQ(query(tree, {{10, 10}, {10, 10}}), Ids({1, 2}));  // closed
  EXPECT_EQ(query(tree, {{-45, 25}, {0, 40}}), Ids({3}));
  EXPECT_EQ(query(tree, {{-1000, -1000}, {1000, 1000}}), Ids({1, 2, 3}));
  EXPECT_EQ(query(tree, {{50, 50}, {60, 60}}), Ids());
  uint32_t found[4];
  EXPECT_EQ(tree.query_point({20, 15}, found), 1u);
  EXPECT_EQ(found[0], 2u);
  EXPECT_EQ(tree.query_point({20.001f, 15}, found), 0u);
}

// UTIL-1
TEST(QuadTree, FillsAShortSpanAndStillCountsAll) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({}, default_allocator()).ok());
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(tree.insert(point_at(1, 1), 7).ok());
  uint32_t found[4] = {0, 0, 0, 99};
  EXPECT_EQ(tree.query_rect(point_at(1, 1), std::span(found).first(3)), 10u);
  EXPECT_EQ(found[2], 7u);
  EXPECT_EQ(found[3], 99u);
  EXPECT_EQ(tree.query_rect(point_at(1, 1), {}), 10u);
}

// UTIL-1
TEST(QuadTree, VisitsIdAndRectangle) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({}, default_allocator()).ok());
  ASSERT_TRUE(tree.insert({{1, 2}, {3, 4}}, 5).ok());
  int visits = 0;
  tree.for_each(point_at(2, 3), [&](uint32_t id, const Rect& rect) {
    ++visits;
    EXPECT_EQ(id, 5u);
    EXPECT_EQ(rect, (Rect{{1, 2}, {3, 4}}));
  });
  EXPECT_EQ(visits, 1);
}

// UTIL-1
TEST(QuadTree, AHandleIsGoodForOneRemoval) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.max_items = 2}, default_allocator()).ok());
  const QuadTreeHandle first = tree.insert(point_at(1, 1), 1).value();
  EXPECT_EQ(tree.id_of(first), 1u);
  EXPECT_EQ(*tree.rect_of(first), point_at(1, 1));
  EXPECT_TRUE(tree.remove(first));
  EXPECT_FALSE(tree.remove(first));
  const QuadTreeHandle again = tree.insert(point_at(2, 2), 2).value();
  EXPECT_EQ(again.slot, first.slot);  // the slot is used again, the handle is not
  EXPECT_FALSE(tree.remove(first));
  EXPECT_EQ(tree.move(first, point_at(3, 3)).code, StatusCode::not_found);
  EXPECT_EQ(tree.rect_of(first), nullptr);
  EXPECT_FALSE(tree.remove({}));
  EXPECT_FALSE(tree.remove({1, 77}));
  EXPECT_EQ(query(tree, point_at(2, 2)), Ids({2}));
}

// UTIL-1
TEST(QuadTree, AFullTreeRefusesAndStaysAsItWas) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.max_items = 3}, default_allocator()).ok());
  QuadTreeHandle last;
  for (uint32_t i = 0; i < 3; ++i) last = tree.insert(point_at(static_cast<float>(i), 0), i).value();
  const Result<QuadTreeHandle> refused = tree.insert(point_at(9, 9), 9);
  EXPECT_EQ(refused.status().code, StatusCode::out_of_slots);
  EXPECT_EQ(refused.status().detail, 3u);
  EXPECT_EQ(tree.count(), 3u);
  EXPECT_EQ(query(tree, {{-10, -10}, {10, 10}}), Ids({0, 1, 2}));
  EXPECT_TRUE(tree.move(last, point_at(9, 9)).ok());  // needs no slot
  EXPECT_TRUE(tree.remove(last));
  EXPECT_TRUE(tree.insert(point_at(9, 9), 9).ok());
}

// UTIL-1
TEST(QuadTree, RefusesRectanglesThatAreNone) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({}, default_allocator()).ok());
  for (const Rect& bad : {Rect{{1, 0}, {0, 0}}, Rect{{0, 1}, {0, 0}}, Rect{{kNan, 0}, {0, 0}}, Rect{{0, 0}, {0, kNan}}})
    EXPECT_EQ(tree.insert(bad, 1).status().code, StatusCode::bad_value);
  EXPECT_EQ(tree.count(), 0u);
  const QuadTreeHandle handle = tree.insert({{-5, -5}, {5, 5}}, 1).value();
  EXPECT_EQ(tree.move(handle, {{1, 0}, {0, 0}}).code, StatusCode::bad_value);
  EXPECT_EQ(*tree.rect_of(handle), (Rect{{-5, -5}, {5, 5}}));
  EXPECT_EQ(tree.query_rect({{1, 1}, {0, 0}}, {}), 0u);  // inside out, though within the item
  EXPECT_EQ(tree.query_rect(point_at(kNan, 0), {}), 0u);
}

// UTIL-1
TEST(QuadTree, RefusesConfigurationsOutOfRange) {
  const QuadTreeConfig bad[] = {{.bounds = {{0, 0}, {0, 1}}},         {.bounds = {{0, 0}, {kInf, 1}}},
                                {.bounds = {{kNan, 0}, {1, 1}}},      {.max_items = 0},
                                {.max_items = kMaxQuadTreeItems + 1}, {.max_nodes = 0},
                                {.max_depth = kMaxQuadTreeDepth + 1}, {.split_count = 0}};
  for (const QuadTreeConfig& config : bad) {
    QuadTree tree;
    EXPECT_EQ(tree.init(config, default_allocator()).code, StatusCode::bad_value);
    EXPECT_EQ(QuadTree::memory_bytes(config), 0u);
  }
}

/// One block, or none; counts.
struct OneBlock final : Allocator {
  bool empty = false;
  int taken = 0, given = 0;
  size_t bytes = 0;
  void* allocate(size_t size, size_t alignment) override {
    if (empty) return nullptr;
    ++taken;
    bytes = size;
    EXPECT_LE(alignment, alignof(std::max_align_t));
    return std::malloc(size);
  }
  void deallocate(void* pointer, size_t size, size_t) override {
    ++given;
    EXPECT_EQ(size, bytes);
    std::free(pointer);
  }
};

// UTIL-1
TEST(QuadTree, AllocatesOnceAndGivesItBack) {
  OneBlock memory;
  const QuadTreeConfig config{.max_items = 200, .max_nodes = 50, .split_count = 2};
  {
    QuadTree tree;
    memory.empty = true;
    EXPECT_EQ(tree.init(config, memory).code, StatusCode::out_of_memory);
    EXPECT_EQ(query(tree, {{-1, -1}, {1, 1}}), Ids());
    memory.empty = false;
    ASSERT_TRUE(tree.init(config, memory).ok());
    EXPECT_EQ(memory.bytes, QuadTree::memory_bytes(config));
    for (uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(tree.insert(point_at(static_cast<float>(i * 20), 5), i).ok());
    EXPECT_EQ(memory.taken, 1);
  }
  EXPECT_EQ(memory.given, 1);
}

// P088: the input that it names: 0, +-8192, the float after 8192, 50 in one place; the root is [-8192, 8192].
TEST(QuadTree, P088BordersAndOutsideAreNotLost) {
  QuadTree tree;
  ASSERT_TRUE(
      tree.init({.bounds = {{-8192, -8192}, {8192, 8192}}, .max_depth = 16, .split_count = 2}, default_allocator())
          .ok());
  const float beyond = std::nextafter(8192.0f, kInf);
  std::vector<Rect> places;
  for (const float x : {-kInf, -1e30f, -beyond, -8192.f, -4096.f, 0.f, 4096.f, 8192.f, beyond, 1e30f, kInf})
    for (const float y : {-8192.f, 0.f, 8192.f, beyond, kInf}) places.push_back(point_at(x, y));
  for (int i = 0; i < 50; ++i) places.push_back(point_at(4096, 4096));
  places.push_back({{-8192, -8192}, {8192, 8192}});
  places.push_back({{-kInf, -kInf}, {kInf, kInf}});
  places.push_back({{-1, -1}, {1, 1}});  // across all cells
  std::vector<QuadTreeHandle> handles;
  for (uint32_t i = 0; i < places.size(); ++i) handles.push_back(tree.insert(places[i], i).value());

  const auto expect_all = [&](uint32_t from) {
    for (uint32_t i = from; i < places.size(); ++i) {
      Ids want;
      for (uint32_t k = from; k < places.size(); ++k)
        if (places[k].min.x <= places[i].max.x && places[k].max.x >= places[i].min.x &&
            places[k].min.y <= places[i].max.y && places[k].max.y >= places[i].min.y)
          want.push_back(k);
      EXPECT_EQ(query(tree, places[i]), want) << i;
    }
  };
  expect_all(0);
  for (uint32_t i = 0; i < places.size(); ++i) {
    EXPECT_TRUE(tree.remove(handles[i]));
    EXPECT_FALSE(tree.remove(handles[i]));
    if (i % 8 == 0) expect_all(i + 1);
  }
  EXPECT_EQ(tree.count(), 0u);
  EXPECT_EQ(tree.node_count(), 1u);  // all cells were joined
}

// UTIL-1: small things on the lines between cells do not pile up at the root.
TEST(QuadTree, SmallThingsOnSplitLinesGoDown) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.bounds = {{-1024, -1024}, {1024, 1024}}, .split_count = 4}, default_allocator()).ok());
  for (uint32_t i = 0; i < 100; ++i) {
    const float y = static_cast<float>(i) * 20 - 1000;
    ASSERT_TRUE(tree.insert({{-1, y - 1}, {1, y + 1}}, i).ok());
  }
  EXPECT_EQ(tree.root_item_count(), 0u);
  EXPECT_EQ(tree.unsplit_count(), 0u);
}

// UTIL-1: a tree that has no node left gets coarser, and refuses nothing.
TEST(QuadTree, WithoutNodesNothingIsRefused) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.max_items = 500, .max_nodes = 3, .split_count = 2}, default_allocator()).ok());
  Ids all;
  for (uint32_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(tree.insert(point_at(static_cast<float>(i * 16) - 4000, static_cast<float>(i % 7) * 500), i).ok());
    all.push_back(i);
  }
  EXPECT_LE(tree.node_count(), 3u);
  EXPECT_GT(tree.unsplit_count(), 0u);
  EXPECT_EQ(query(tree, {{-5000, -5000}, {5000, 5000}}), all);
}

// UTIL-1
TEST(QuadTree, ClearMakesHandlesStaleAndKeepsTheMemory) {
  QuadTree tree;
  ASSERT_TRUE(tree.init({.max_items = 100, .split_count = 2}, default_allocator()).ok());
  std::vector<QuadTreeHandle> handles;
  for (int round = 0; round < 3; ++round) {
    handles.clear();
    for (uint32_t i = 0; i < 100; ++i)
      handles.push_back(tree.insert(point_at(static_cast<float>(i * 30), static_cast<float>(i)), i).value());
    tree.clear();
    EXPECT_EQ(tree.count(), 0u);
    EXPECT_EQ(tree.node_count(), 1u);
    EXPECT_EQ(tree.query_rect({{-1e9f, -1e9f}, {1e9f, 1e9f}}, {}), 0u);
    for (const QuadTreeHandle& handle : handles) EXPECT_FALSE(tree.remove(handle));
  }
}

TEST(QuadTree, BeforeInitThereIsNothing) {
  QuadTree tree;
  EXPECT_EQ(tree.count(), 0u);
  EXPECT_EQ(tree.query_point({0, 0}, {}), 0u);
  EXPECT_FALSE(tree.remove({1, 0}));
  EXPECT_EQ(tree.root_item_count(), 0u);
  tree.clear();
}

/// A flat list that is asked the same.
struct FlatList {
  struct Entry {
    Rect rect;
    uint32_t id;
    QuadTreeHandle handle;
  };
  std::vector<Entry> entries;

  Ids query(const Rect& r) const {
    Ids found;
    for (const Entry& e : entries)
      if (e.rect.min.x <= r.max.x && e.rect.max.x >= r.min.x && e.rect.min.y <= r.max.y && e.rect.max.y >= r.min.y)
        found.push_back(e.id);
    std::sort(found.begin(), found.end());
    return found;
  }
};

struct Rectangles {
  std::mt19937 engine;
  float reach;  ///< half the side of the root cell

  uint32_t whole(uint32_t below) { return std::uniform_int_distribution<uint32_t>(0, below - 1)(engine); }
  float number(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
  float coordinate() {
    switch (whole(8)) {
      case 0: {  // on a plane between cells, the root's border or what lies a float beyond it
        const float plane = (static_cast<float>(whole(33)) - 16) / 16 * reach;
        const uint32_t side = whole(3);
        return side == 0 ? plane : std::nextafter(plane, side == 1 ? kInf : -kInf);
      }
      case 1:
        return number(-1e6f, 1e6f);
      case 2:
        return static_cast<float>(whole(5)) - 2;  // many in one place
      default:
        return number(-reach, reach);
    }
  }
  Rect next() {
    const Vec2 at{coordinate(), coordinate()};
    float w = 0, h = 0;
    switch (whole(6)) {
      case 0:
        break;  // a point
      case 1:
        w = number(0, reach), h = number(0, reach);
        break;
      case 2:
        w = number(0, 4 * reach);
        break;
      default:
        w = number(0, reach / 100), h = number(0, reach / 100);
    }
    return {at, {at.x + w, at.y + h}};
  }
};

// UTIL-1, P088: 200 000 random insertions, moves, removals and queries; equal to a flat list after each.
TEST(QuadTree, P088EqualsAFlatListThroughRandomOperations) {
  struct Setting {
    uint32_t seed, max_items, max_nodes, max_depth, split_count;
  };
  const Setting settings[] = {{20260151, 150, 400, 8, 4},
                              {20260152, 150, 20, 16, 1},  // nodes run out
                              {20260153, 60, 100, 3, 2},
                              {20260154, 20, 1, 0, 1}};  // the root only
  for (const Setting& s : settings) {
    SCOPED_TRACE(s.seed);
    Rectangles random{std::mt19937(s.seed), 8192};
    QuadTree tree;
    ASSERT_TRUE(tree.init({.bounds = {{-8192, -8192}, {8192, 8192}},
                           .max_items = s.max_items,
                           .max_nodes = s.max_nodes,
                           .max_depth = s.max_depth,
                           .split_count = s.split_count},
                          default_allocator())
                    .ok());
    FlatList flat;
    std::vector<QuadTreeHandle> dead;
    uint32_t next_id = 0;
    bool filling = true;
    for (int step = 0; step < 50000; ++step) {
      if (flat.entries.size() == s.max_items) filling = false;
      if (flat.entries.empty()) filling = true;
      const uint32_t what = random.whole(10);
      if (what < (filling ? 5u : 1u)) {
        const Rect rect = random.next();
        const Result<QuadTreeHandle> added = tree.insert(rect, next_id);
        ASSERT_EQ(added.ok(), flat.entries.size() < s.max_items) << step;
        if (added.ok()) flat.entries.push_back({rect, next_id++, added.value()});
      } else if (what < 6 && !flat.entries.empty()) {
        const uint32_t which = random.whole(static_cast<uint32_t>(flat.entries.size()));
        ASSERT_TRUE(tree.remove(flat.entries[which].handle)) << step;
        dead.push_back(flat.entries[which].handle);
        flat.entries[which] = flat.entries.back();
        flat.entries.pop_back();
      } else if (what < 9 && !flat.entries.empty()) {
        FlatList::Entry& entry = flat.entries[random.whole(static_cast<uint32_t>(flat.entries.size()))];
        if (random.whole(2) == 0) {
          entry.rect = random.next();
        } else {  // a small step, mostly within a cell
          const float dx = random.number(-3, 3);
          entry.rect.min.x += dx, entry.rect.max.x += dx;
        }
        ASSERT_TRUE(tree.move(entry.handle, entry.rect).ok()) << step;
      } else if (!dead.empty()) {
        ASSERT_FALSE(tree.remove(dead[random.whole(static_cast<uint32_t>(dead.size()))])) << step;
      }
      ASSERT_EQ(tree.count(), flat.entries.size());
      ASSERT_LE(tree.node_count(), s.max_nodes);
      const Rect where = random.next();
      ASSERT_EQ(query(tree, where), flat.query(where)) << step;
      if (!flat.entries.empty()) {  // and something that is there
        const Rect& r = flat.entries[random.whole(static_cast<uint32_t>(flat.entries.size()))].rect;
        const Rect corner{r.min, r.min};
        ASSERT_EQ(query(tree, corner), flat.query(corner)) << step;
      }
      if (step % 1000 == 0) {
        const Rect all{{-kInf, -kInf}, {kInf, kInf}};
        ASSERT_EQ(query(tree, all), flat.query(all)) << step;
      }
    }
    for (const FlatList::Entry& entry : flat.entries) ASSERT_TRUE(tree.remove(entry.handle));
    EXPECT_EQ(tree.node_count(), 1u);
    if (s.max_nodes == 400) {
      EXPECT_EQ(tree.unsplit_count(), 0u);
    }
  }
}

}  // namespace
}  // namespace meridian
