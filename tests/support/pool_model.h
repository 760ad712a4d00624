// SPDX-License-Identifier: MIT
#pragma once
/// Pools against a plain model: a std::deque of free slots, and a count of uses for each. The model says which slot
/// comes next, how it is counted and which handles are stale, for Pool, DerivedPool and PagedPool.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "meridian/core/pool.h"

namespace meridian::test {

/// What pools in model tests hold. Counts who is alive.
struct Item {
  explicit Item(uint64_t v = 0) : value(v) { ++g_alive; }
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  virtual ~Item() {
    value = ~uint64_t{0};
    --g_alive;
  }
  uint64_t value;
  static inline int g_alive = 0;
};

/// Makes an Item as pools of one type do; see below.
template <class Pool>
Item* make_item(Pool& pool, uint64_t value, bool quietly) {
  return quietly ? pool.try_create(value) : pool.create(value);
}

/// Runs random operations. `pool` is initialised and empty; `page` is its page, or 0 if all slots are there from the
/// start. `make(pool, value, quietly)` makes an Item, or returns null, by try_create if `quietly`.
template <class Pool, class Make>
void expect_pool_like_model(Pool& pool, uint32_t page, uint32_t max_uses, uint32_t seed, int operations, Make make) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " page " + std::to_string(page) + " uses " + std::to_string(max_uses));
  using Element = typename Pool::Element;
  struct Slot {
    uint32_t uses = 0;
    bool is_live = false;
    uint64_t value = 0;
    Handle<Element> handle;
    const Element* element = nullptr;
  };
  std::mt19937 random(seed);
  const uint32_t capacity = pool.capacity();
  std::vector<Slot> slots;     // those that have memory
  std::deque<uint32_t> queue;  // free ones
  std::vector<uint32_t> live;  // used ones, in any order
  std::vector<Handle<Element>> stale;
  uint32_t peak = 0, retired = 0;
  uint64_t denied = 0, next_value = 1;
  const auto grow = [&](uint32_t to) {
    while (slots.size() < std::min(to, capacity)) {
      queue.push_back(static_cast<uint32_t>(slots.size()));
      slots.emplace_back();
    }
  };
  if (page == 0) grow(capacity);

  const auto released = [&](uint32_t slot) {
    Slot& s = slots[slot];
    s.is_live = false;
    stale.push_back(s.handle);
    if (s.uses < max_uses) {
      queue.push_back(slot);
    } else {
      ++retired;
    }
  };
  const auto look_at_all = [&] {
    std::vector<const Element*> expected, met;
    for (uint32_t i = 0; i < slots.size(); ++i) {
      const Slot& s = slots[i];
      const uint32_t count = s.uses == 0 ? 0 : (s.uses - 1) % 127 + 1;
      ASSERT_EQ(pool.flags(i), s.is_live ? count : count | 0x80) << i;  // POOL-3, in the seed's terms
      ASSERT_EQ(pool.at(i), s.is_live ? s.element : nullptr) << i;
      if (!s.is_live) continue;
      expected.push_back(s.element);
      ASSERT_EQ(pool.get(s.handle), s.element);
      ASSERT_EQ(s.element->value, s.value);
      ASSERT_EQ(pool.packed(s.handle), i << 8 | count);
      ASSERT_EQ(pool.get_packed(i << 8 | count), s.element);
    }
    for (const Element& element : pool) met.push_back(&element);
    ASSERT_EQ(met, expected);  // POOL-4: the order of addresses, where a page is a run of them
    for (const Handle<Element>& handle : stale) ASSERT_EQ(pool.get(handle), nullptr);
    if (stale.size() > 200) stale.erase(stale.begin(), stale.begin() + 100);
    ASSERT_EQ(pool.at(static_cast<uint32_t>(slots.size())), nullptr);
    ASSERT_EQ(pool.get({1, capacity}), nullptr);
    ASSERT_EQ(Element::g_alive, static_cast<int>(live.size()));
  };

  for (int i = 0; i < operations; ++i) {
    const bool is_filling = i / 400 % 3 != 1;
    if (live.empty() || random() % 100 < (is_filling ? 58u : 42u)) {
      const bool quietly = random() % 2 == 0;
      Element* const element = make(pool, next_value, quietly);
      if (queue.empty() && page != 0) grow(static_cast<uint32_t>(slots.size()) + page);
      if (queue.empty()) {
        ASSERT_EQ(element, nullptr);
        denied += quietly ? 0 : 1;
      } else {
        ASSERT_NE(element, nullptr);
        const uint32_t slot = queue.front();  // POOL-2
        queue.pop_front();
        Slot& s = slots[slot];
        ASSERT_FALSE(s.is_live);
        s = {s.uses + 1, true, next_value, pool.handle_of(*element), element};
        ASSERT_EQ(s.handle.slot, slot);
        ASSERT_TRUE(s.handle);
        live.push_back(slot);
        peak = std::max(peak, static_cast<uint32_t>(live.size()));
      }
      ++next_value;
    } else {
      std::swap(live[random() % live.size()], live.back());
      Slot& s = slots[live.back()];
      if (random() % 2 == 0) {
        ASSERT_TRUE(pool.destroy(s.handle));
      } else {
        pool.destroy(*pool.at(live.back()));
      }
      ASSERT_EQ(pool.get(s.handle), nullptr);
      ASSERT_FALSE(pool.destroy(s.handle));
      released(live.back());
      live.pop_back();
    }
    if (random() % 8192 == 0) {
      pool.clear();
      std::sort(live.begin(), live.end());
      for (const uint32_t slot : live) released(slot);
      live.clear();
    }
    if (random() % 4096 == 0) {
      pool.reset_peak();
      peak = static_cast<uint32_t>(live.size());
      denied = 0;
    }
    ASSERT_EQ(pool.used(), live.size());
    ASSERT_EQ(pool.peak(), peak);
    ASSERT_EQ(pool.retired(), retired);
    ASSERT_EQ(pool.denied(), denied);
    if (i % 251 == 0) {
      look_at_all();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  look_at_all();
}

}  // namespace meridian::test
