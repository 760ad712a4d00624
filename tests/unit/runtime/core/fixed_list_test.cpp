// SPDX-License-Identifier: MIT
// UTIL-1: the fixed doubly linked list.
#include "meridian/core/fixed_list.h"
#include "support/checked_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace meridian {
namespace {

template <class T>
std::vector<T> values_of(const FixedList<T>& list) {
  std::vector<T> values;
  for (uint32_t at = list.front(); at != kNoNode; at = list.next(at)) values.push_back(list[at]);
  return values;
}
template <class T>
std::vector<T> values_from_back(const FixedList<T>& list) {
  std::vector<T> values;
  for (uint32_t at = list.back(); at != kNoNode; at = list.previous(at)) values.push_back(list[at]);
  return values;
}

TEST(FixedList, KeepsTheOrderOfInsertion) {
  FixedList<int> list;
  ASSERT_TRUE(list.init(8, default_allocator()).ok());
  const uint32_t b = list.push_back(20);
  list.push_back(40);
  list.push_front(10);
  list.insert_after(b, 30);
  const uint32_t d = list.insert_before(b, 15);
  EXPECT_EQ(values_of(list), (std::vector{10, 15, 20, 30, 40}));
  EXPECT_EQ(values_from_back(list), (std::vector{40, 30, 20, 15, 10}));
  EXPECT_EQ(list.count(), 5u);
  list.remove(b);
  EXPECT_EQ(values_of(list), (std::vector{10, 15, 30, 40}));
  list.move_to_back(d);
  EXPECT_EQ(values_of(list), (std::vector{10, 30, 40, 15}));
  list.move_to_front(d);
  list.move_to_front(d);
  EXPECT_EQ(values_of(list), (std::vector{15, 10, 30, 40}));
  EXPECT_EQ(list.front(), d);
}

TEST(FixedList, IsFullAtItsCapacityAndTakesMoreAfterARemoval) {
  FixedList<int> list;
  ASSERT_TRUE(list.init(2, default_allocator()).ok());
  const uint32_t a = list.push_back(1);
  EXPECT_NE(list.push_back(2), kNoNode);
  EXPECT_TRUE(list.is_full());
  EXPECT_EQ(list.push_back(3), kNoNode);
  EXPECT_EQ(list.push_front(3), kNoNode);
  EXPECT_EQ(list.insert_after(a, 3), kNoNode);
  EXPECT_EQ(values_of(list), (std::vector{1, 2}));
  list.remove(a);
  EXPECT_FALSE(list.contains(a));
  EXPECT_EQ(list.get(a), nullptr);
  EXPECT_NE(list.push_front(4), kNoNode);
  EXPECT_EQ(values_of(list), (std::vector{4, 2}));
}

TEST(FixedList, WithoutMemoryIsEmptyAndFull) {
  FixedList<int> list;
  EXPECT_TRUE(list.is_full());
  EXPECT_TRUE(list.is_empty());
  EXPECT_EQ(list.push_front(1), kNoNode);
  EXPECT_EQ(list.push_back(1), kNoNode);
  EXPECT_EQ(list.front(), kNoNode);
  EXPECT_EQ(list.back(), kNoNode);
  EXPECT_EQ(list.get(0), nullptr);
  list.clear();
  test::CheckedMemory empty;
  empty.fail_after(0);
  EXPECT_EQ(list.init(4, empty).code, StatusCode::out_of_memory);
  EXPECT_EQ(list.init(kMaxListNodes + 1, empty).code, StatusCode::too_large);
  EXPECT_EQ(list.push_back(1), kNoNode);
  ASSERT_TRUE(list.init(0, default_allocator()).ok());
  EXPECT_EQ(list.push_back(1), kNoNode);
  EXPECT_EQ(list.front(), kNoNode);
}

TEST(FixedList, DestroysItsValuesAndGivesMemoryBack) {
  MemoryTracker tracker;
  TrackedAllocator memory("lists", tracker);
  const auto counted = std::make_shared<int>(0);
  {
    FixedList<std::shared_ptr<int>> list;
    ASSERT_TRUE(list.init(4, memory).ok());
    EXPECT_EQ(memory.memory_row().used, 1u);
    EXPECT_EQ(memory.memory_row().bytes, 4 * sizeof(std::shared_ptr<int>) + 6 * 8);
    const uint32_t a = list.push_back(counted);
    list.push_back(counted);
    list.push_back(counted);
    EXPECT_EQ(counted.use_count(), 4);
    list.remove(a);
    EXPECT_EQ(counted.use_count(), 3);
    list.clear();
    EXPECT_EQ(counted.use_count(), 1);
    list.push_back(counted);
    EXPECT_EQ(memory.memory_row().peak, 1u);
  }
  EXPECT_EQ(counted.use_count(), 1);
  EXPECT_EQ(memory.memory_row().used, 0u);
}

TEST(FixedList, HoldsTypesOfAnySizeAndAlignment) {
  struct alignas(64) Wide {
    char c;
  };
  struct Three {
    char c[3];
  };
  FixedList<Wide> wide;
  FixedList<Three> three;
  ASSERT_TRUE(wide.init(3, default_allocator()).ok());
  ASSERT_TRUE(three.init(3, default_allocator()).ok());
  for (char i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.get(wide.push_back(Wide{i}))) % 64, 0u);
    three.push_back(Three{{i, i, i}});
  }
  EXPECT_EQ(wide[wide.back()].c, 2);
  EXPECT_EQ(three[three.back()].c[2], 2);
}

TEST(FixedList, MayHoldWhatCanNotBeMoved) {
  struct Fixed {
    explicit Fixed(int v) : value(v) {}
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;
    int value;
  };
  FixedList<Fixed> list;
  ASSERT_TRUE(list.init(2, default_allocator()).ok());
  const Fixed* const at = list.get(list.push_back(7));
  list.push_front(8);
  list.move_to_front(list.back());
  EXPECT_EQ(list.get(list.front()), at);
  EXPECT_EQ(at->value, 7);
}

/// Puts another into the list when it dies.
struct Phoenix {
  FixedList<Phoenix>* list = nullptr;
  int lives = 0;
  Phoenix(FixedList<Phoenix>* the_list, int the_lives) : list(the_list), lives(the_lives) {}
  Phoenix(const Phoenix&) = delete;
  Phoenix& operator=(const Phoenix&) = delete;
  ~Phoenix() {
    if (lives > 0) list->push_back(list, lives - 1);
    EXPECT_GE(lives, 0);
    lives = -1;
  }
};

TEST(FixedList, ADestructorMayUseTheList) {
  FixedList<Phoenix> list;
  ASSERT_TRUE(list.init(2, default_allocator()).ok());
  const uint32_t first = list.push_back(&list, 2);
  list.remove(first);
  ASSERT_EQ(list.count(), 1u);
  EXPECT_NE(list.front(), first);  // its slot was still in use when it died
  EXPECT_EQ(list[list.front()].lives, 1);
  list.clear();
  EXPECT_TRUE(list.is_empty());
}

TEST(FixedList, AnIdThatIsNoNodeIsAFaultAndDoesNoHarm) {
  static int asserts = 0;
  asserts = 0;
  set_assert_handler([](const char*, const char*, const char*, int) {
    ++asserts;
    return false;
  });
  FixedList<int> list;
  ASSERT_TRUE(list.init(4, default_allocator()).ok());
  list.push_back(1);
  const uint32_t gone = list.push_back(2);
  list.remove(gone);
  for (const uint32_t id : {gone, 4u, 5u, 6u, kNoNode}) {  // 4 and 5 are where sentinels stand inside
    list.remove(id);
    list.move_to_front(id);
    list.move_to_back(id);
    EXPECT_EQ(list.insert_after(id, 3), kNoNode);
    EXPECT_EQ(list.insert_before(id, 3), kNoNode);
    EXPECT_EQ(list.next(id), kNoNode);
    EXPECT_EQ(list.previous(id), kNoNode);
  }
  set_assert_handler(nullptr);
  EXPECT_EQ(values_of(list), std::vector{1});
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  EXPECT_EQ(asserts, 5 * 7);
#endif
}

TEST(FixedList, IsMadeOnce) {
  set_assert_handler([](const char*, const char*, const char*, int) { return false; });
  FixedList<int> list;
  ASSERT_TRUE(list.init(2, default_allocator()).ok());
  list.push_back(1);
  EXPECT_EQ(list.init(3, default_allocator()).code, StatusCode::in_use);
  set_assert_handler(nullptr);
  EXPECT_EQ(values_of(list), std::vector{1});
}

// 120 000 operations against std::list. Values are objects of their own, so that ASan sees one that's lost.
TEST(FixedList, RandomOperationsBehaveAsAStdList) {
  constexpr uint32_t kSeed = 99173, kCapacity = 48;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  FixedList<std::unique_ptr<uint32_t>> list;
  ASSERT_TRUE(list.init(kCapacity, default_allocator()).ok());
  struct Node {
    uint32_t id, value;
    const void* address;
  };
  std::list<Node> model;
  const auto pick = [&] { return std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size())); };
  for (uint32_t i = 0; i < 120'000; ++i) {
    // Slow waves, so that the list is often full and often empty.
    const bool grows = (i / 500) % 2 == 0;
    const auto dice = static_cast<uint32_t>(random() % 10);
    const bool inserts = grows ? dice < 6 : dice < 2;
    if (inserts) {
      const auto where = static_cast<uint32_t>(random() % (model.empty() ? 2 : 4));
      const auto near = model.empty() ? model.begin() : pick();
      auto value = std::make_unique<uint32_t>(i);
      uint32_t id = kNoNode;
      auto at = model.begin();
      if (where == 0) id = list.push_front(std::move(value));
      if (where == 1) id = list.push_back(std::move(value)), at = model.end();
      if (where == 2) id = list.insert_before(near->id, std::move(value)), at = near;
      if (where == 3) id = list.insert_after(near->id, std::move(value)), at = std::next(near);
      ASSERT_EQ(id == kNoNode, model.size() == kCapacity) << i;
      if (id != kNoNode) model.insert(at, Node{id, i, list.get(id)});
    } else if (!model.empty()) {
      const auto node = pick();
      if (dice < 7) {
        list.remove(node->id);
        ASSERT_FALSE(list.contains(node->id));
        model.erase(node);
      } else if (dice < 9) {
        list.move_to_front(node->id);
        model.splice(model.begin(), model, node);
      } else {
        list.move_to_back(node->id);
        model.splice(model.end(), model, node);
      }
    }
    if (random() % 5000 == 0) {
      list.clear();
      model.clear();
    }
    ASSERT_EQ(list.count(), model.size()) << i;
    ASSERT_EQ(list.front(), model.empty() ? kNoNode : model.front().id) << i;
    ASSERT_EQ(list.back(), model.empty() ? kNoNode : model.back().id) << i;
    if (i % 7 != 0) continue;
    uint32_t at = list.front();
    for (const Node& node : model) {
      ASSERT_EQ(at, node.id) << i;
      ASSERT_EQ(*list[at], node.value) << i;
      ASSERT_EQ(list.get(at), node.address) << i;
      at = list.next(at);
    }
    ASSERT_EQ(at, kNoNode);
    at = list.back();
    for (auto node = model.rbegin(); node != model.rend(); ++node, at = list.previous(at)) ASSERT_EQ(at, node->id) << i;
    ASSERT_EQ(at, kNoNode);
  }
}

}  // namespace
}  // namespace meridian
