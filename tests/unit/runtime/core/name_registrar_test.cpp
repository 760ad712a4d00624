// SPDX-License-Identifier: MIT
// UTIL-1: the name registrar.
#include "meridian/core/name_registrar.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "meridian/base/assert.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

std::map<uint32_t, uint32_t> entries_of(const NameRegistrar& names) {
  std::map<uint32_t, uint32_t> entries;
  for (const NameRegistrar::Entry& entry : names) {
    EXPECT_TRUE(entries.emplace(entry.name.value, entry.index).second) << "twice: " << entry.name.value;
  }
  return entries;
}

TEST(NameRegistrar, FindsWhatWasInserted) {
  NameRegistrar names;
  ASSERT_TRUE(names.init(10, default_allocator()).ok());
  ASSERT_TRUE(names.insert(hash_name("lamp_3"), 17).ok());
  ASSERT_TRUE(names.insert(hash_name("tree"), 0).ok());
  EXPECT_EQ(names.find(hash_name("LAMP_3")), 17u);
  EXPECT_EQ(names.find(hash_name("tree")), 0u);
  EXPECT_EQ(names.find(hash_name("bush")), kNoNameIndex);
  EXPECT_TRUE(names.contains(hash_name("tree")));
  EXPECT_FALSE(names.contains(hash_name("bush")));
  EXPECT_EQ(names.count(), 2u);
  EXPECT_EQ(names.capacity(), 10u);
}

TEST(NameRegistrar, TheEmptyNameIsANameLikeAnyOther) {
  NameRegistrar names;
  ASSERT_TRUE(names.init(4, default_allocator()).ok());
  EXPECT_EQ(names.find(NameHash{}), kNoNameIndex);
  ASSERT_TRUE(names.insert(NameHash{}, 3).ok());
  EXPECT_EQ(names.find(NameHash{}), 3u);
  EXPECT_TRUE(names.remove(NameHash{}));
  EXPECT_EQ(names.find(NameHash{}), kNoNameIndex);
}

TEST(NameRegistrar, ANameKeepsItsFirstIndex) {
  NameRegistrar names;
  ASSERT_TRUE(names.init(1, default_allocator()).ok());
  ASSERT_TRUE(names.insert({5}, 1).ok());
  const Status again = names.insert({5}, 2);
  EXPECT_EQ(again.code, StatusCode::in_use);
  EXPECT_EQ(again.detail, 1u);
  EXPECT_EQ(again.name, NameHash{5});
  EXPECT_EQ(names.find({5}), 1u);
}

TEST(NameRegistrar, TakesAsManyNamesAsItsCapacity) {
  for (const uint32_t capacity : {0u, 1u, 2u, 3u, 4u, 6u, 12u, 13u, 1000u}) {
    SCOPED_TRACE(capacity);
    NameRegistrar names;
    ASSERT_TRUE(names.init(capacity, default_allocator()).ok());
    for (uint32_t i = 0; i < capacity; ++i) ASSERT_TRUE(names.insert({i}, i).ok());
    const Status full = names.insert({5000}, 1);
    EXPECT_EQ(full.code, StatusCode::out_of_slots);
    EXPECT_EQ(full.detail, capacity);
    EXPECT_EQ(full.name, NameHash{5000});
    EXPECT_EQ(names.find({5000}), kNoNameIndex);  // also: the search ends
    for (uint32_t i = 0; i < capacity; ++i) ASSERT_EQ(names.find({i}), i);
  }
}

TEST(NameRegistrar, WithoutMemoryHasNoName) {
  NameRegistrar names;
  EXPECT_EQ(names.find({1}), kNoNameIndex);
  EXPECT_FALSE(names.remove({1}));
  EXPECT_EQ(names.insert({1}, 1).code, StatusCode::out_of_slots);
  EXPECT_TRUE(entries_of(names).empty());
  names.clear();
  test::CheckedMemory empty;
  empty.fail_after(0);
  EXPECT_EQ(names.init(4, empty).code, StatusCode::out_of_memory);
  EXPECT_EQ(names.init(kMaxRegisteredNames + 1, empty).code, StatusCode::too_large);
  EXPECT_EQ(names.capacity(), 0u);
}

TEST(NameRegistrar, TakesOneBlockAndGivesItBack) {
  MemoryTracker tracker;
  TrackedAllocator memory("names", tracker);
  {
    NameRegistrar names;
    ASSERT_TRUE(names.init(1000, memory).ok());
    for (uint32_t i = 0; i < 1000; ++i) ASSERT_TRUE(names.insert({i * 77}, i).ok());
    EXPECT_EQ(memory.memory_row().peak, 1u);
    EXPECT_EQ(memory.memory_row().bytes, 2048u * 8);  // 1334 slots are needed
  }
  EXPECT_EQ(memory.memory_row().used, 0u);
}

TEST(NameRegistrar, IterationVisitsEachNameOnce) {
  NameRegistrar names;
  ASSERT_TRUE(names.init(20, default_allocator()).ok());
  EXPECT_TRUE(entries_of(names).empty());
  std::map<uint32_t, uint32_t> expected;
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(names.insert({i * i}, i).ok());
    expected[i * i] = i;
  }
  EXPECT_EQ(entries_of(names), expected);
  names.clear();
  EXPECT_EQ(names.count(), 0u);
  EXPECT_TRUE(entries_of(names).empty());
  EXPECT_TRUE(names.insert({4}, 4).ok());
}

TEST(NameRegistrar, ContractFaultsDoNoHarm) {
  static int asserts = 0;
  asserts = 0;
  set_assert_handler([](const char*, const char*, const char*, int) {
    ++asserts;
    return false;
  });
  NameRegistrar names;
  ASSERT_TRUE(names.init(2, default_allocator()).ok());
  EXPECT_EQ(names.insert({1}, kNoNameIndex).code, StatusCode::bad_value);
  EXPECT_EQ(names.count(), 0u);
  EXPECT_EQ(names.init(2, default_allocator()).code, StatusCode::in_use);
  set_assert_handler(nullptr);
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  EXPECT_EQ(asserts, 2);
#endif
}

/// Operations against std::map. Few keys, so that each is inserted and erased many times, and a full table, so that
/// runs of entries are long and wrap around the end.
void run_random(uint32_t seed, uint32_t capacity, const std::vector<uint32_t>& keys, uint32_t operations) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", capacity " + std::to_string(capacity));
  std::mt19937 random(seed);
  NameRegistrar names;
  ASSERT_TRUE(names.init(capacity, default_allocator()).ok());
  std::map<uint32_t, uint32_t> model;
  for (uint32_t i = 0; i < operations; ++i) {
    const uint32_t key = keys[random() % keys.size()];
    const auto known = model.find(key);
    const auto dice = static_cast<uint32_t>(random() % 8);
    const bool grows = (i / 1000) % 2 == 0;
    if (dice < (grows ? 4u : 2u)) {
      const Status status = names.insert({key}, i);
      const StatusCode expected = known != model.end()       ? StatusCode::in_use
                                  : model.size() == capacity ? StatusCode::out_of_slots
                                                             : StatusCode::ok;
      ASSERT_EQ(status.code, expected) << i;
      if (expected == StatusCode::ok) model[key] = i;
    } else if (dice < 6) {
      ASSERT_EQ(names.remove({key}), known != model.end()) << i;
      if (known != model.end()) model.erase(known);
    } else {
      ASSERT_EQ(names.find({key}), known != model.end() ? known->second : kNoNameIndex) << i;
    }
    ASSERT_EQ(names.count(), model.size()) << i;
    if (i % 97 != 0) continue;
    for (const uint32_t each : keys) {
      const auto at = model.find(each);
      ASSERT_EQ(names.find({each}), at != model.end() ? at->second : kNoNameIndex) << i;
    }
    ASSERT_EQ(entries_of(names), model) << i;
  }
}

TEST(NameRegistrar, RandomOperationsBehaveAsAMap) {
  std::mt19937 random(5);
  std::vector<uint32_t> any, in_a_row;
  for (uint32_t i = 0; i < 200; ++i) any.push_back(static_cast<uint32_t>(random()));
  for (uint32_t i = 0; i < 60; ++i) in_a_row.push_back(i);
  run_random(1, 96, any, 60'000);  // 128 slots, three quarters full
  run_random(2, 48, in_a_row, 60'000);
  run_random(3, 3, {0, 1, 2, 3, 4, 5, 6}, 20'000);  // 4 slots: every run wraps around
}

}  // namespace
}  // namespace meridian
