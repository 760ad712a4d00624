// SPDX-License-Identifier: MIT
#include "meridian/core/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Lamp {
  explicit Lamp(int n = 0) : number(n) {}
  int number;
  char rest[60] = {};
};

// POOL-1
TEST(Pool, TakesOneBlockAndNothingAfterwards) {
  test::CheckedMemory memory;
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 100}, memory).ok());
  EXPECT_EQ(memory.calls(), 1u);
  const uint64_t before = test::allocation_count();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_NE(pool.create(i), nullptr);
    EXPECT_EQ(pool.try_create(), nullptr);
    pool.clear();
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(memory.calls(), 1u);
}

// POOL-1: a number of bytes that can be told beforehand, for elements of any size and alignment.
template <class T>
void expect_bytes(size_t each, uint32_t capacity) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  Pool<T> pool;
  ASSERT_TRUE(pool.init({.name = "T", .capacity = capacity, .tracker = &tracker}, memory).ok());
  EXPECT_EQ(memory.blocks(), 1u);
  EXPECT_EQ(memory.bytes(), capacity * (each + 8) + 32);
  EXPECT_EQ(pool.memory_row().bytes, memory.bytes());
  EXPECT_EQ(pool.memory_row().element_bytes, sizeof(T));
  for (uint32_t i = 0; i < capacity; ++i) {
    const T* const element = pool.create();
    ASSERT_NE(element, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(element) % alignof(T), 0u);
  }
}
TEST(Pool, MemoryIsAsTheHeaderSays) {
  struct Odd {
    char bytes[13];
  };
  struct alignas(128) Wide {
    char bytes[130];
  };
  expect_bytes<char>(8, 10);
  expect_bytes<Odd>(16, 7);
  expect_bytes<Wide>(256, 5);
  expect_bytes<Lamp>(64, 1);
  expect_bytes<Lamp>(64, 0);
}

TEST(Pool, ElementsAreConstructedAndDestroyedOnce) {
  static int alive = 0;
  struct Guest {
    explicit Guest(std::string n, int a) : name(std::move(n)), age(a) { ++alive; }
    ~Guest() { --alive; }
    std::string name;
    int age;
  };
  {
    Pool<Guest> pool;
    ASSERT_TRUE(pool.init({.name = "Guest", .capacity = 3}).ok());
    Guest* const a = pool.create("a longer name than fits inside", 1);
    Guest* const b = pool.try_create("b", 2);
    ASSERT_TRUE(a != nullptr && b != nullptr);
    EXPECT_EQ(a->name, "a longer name than fits inside");
    EXPECT_EQ(b->age, 2);
    EXPECT_EQ(alive, 2);
    pool.destroy(*a);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);  // the pool's end is the end of what it holds
}

// POOL-2: what was released last is used again last, through several rounds of the ring.
TEST(Pool, ReleasedSlotsAreUsedAgainInTheOrderOfRelease) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 5}).ok());
  std::vector<Lamp*> lamps;
  for (int i = 0; i < 5; ++i) lamps.push_back(pool.create(i));
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(pool.handle_of(*lamps[i]).slot, i);
  const uint32_t order[] = {3, 0, 4, 1, 2};
  for (int round = 0; round < 7; ++round) {
    for (const uint32_t slot : order) pool.destroy(*pool.at(slot));
    for (const uint32_t slot : order) EXPECT_EQ(pool.handle_of(*pool.create()).slot, slot);
  }
  // One released slot rests until all that were free before it have been used.
  pool.destroy(*pool.at(1));
  pool.destroy(*pool.at(2));
  pool.destroy(*pool.at(0));
  pool.destroy(*pool.create());  // 1 goes behind 0
  EXPECT_EQ(pool.handle_of(*pool.create()).slot, 2u);
  EXPECT_EQ(pool.handle_of(*pool.create()).slot, 0u);
  EXPECT_EQ(pool.handle_of(*pool.create()).slot, 1u);
}

// POOL-3: one slot, 10 000 uses: native handles never alias, packed ones do after 127.
TEST(Pool, NativeHandlesNeverAliasAndPackedOnesDoAfter127Uses) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 1}).ok());
  std::vector<Handle<Lamp>> handles;
  std::vector<PackedHandle> packed;
  std::set<uint32_t> generations;
  for (int use = 0; use < 10000; ++use) {
    Lamp* const lamp = pool.create(use);
    ASSERT_NE(lamp, nullptr);
    const Handle<Lamp> handle = pool.handle_of(*lamp);
    ASSERT_TRUE(generations.insert(handle.generation).second) << use;
    handles.push_back(handle);
    packed.push_back(pool.packed(handle));
    ASSERT_EQ(packed.back(), static_cast<uint32_t>(use % 127 + 1));  // slot 0; never 0, never above 127
    ASSERT_EQ(pool.get(handle), lamp);
    ASSERT_EQ(pool.get_packed(packed.back()), lamp);
    if (use % 997 == 0 || use == 9999) {
      for (int old = 0; old < use; ++old) {
        ASSERT_EQ(pool.get(handles[static_cast<size_t>(old)]), nullptr) << old;
        ASSERT_EQ(pool.packed(handles[static_cast<size_t>(old)]), 0u);
        // The classic form takes an old one for the new element, exactly each 127 uses.
        ASSERT_EQ(pool.get_packed(packed[static_cast<size_t>(old)]), (use - old) % 127 == 0 ? lamp : nullptr) << old;
      }
    }
    pool.destroy(*lamp);
    ASSERT_EQ(pool.get(handle), nullptr);
    ASSERT_EQ(pool.get_packed(packed.back()), nullptr);
  }
}

// POOL-3: (slot << 8) | flags; the top bit of the flags says free.
TEST(Pool, PackedFormIsSlotAndFlags) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 300}).ok());
  EXPECT_EQ(pool.flags(299), 0x80);
  for (int i = 0; i < 300; ++i) ASSERT_NE(pool.create(i), nullptr);
  Lamp* lamp = pool.at(259);
  EXPECT_EQ(pool.packed(pool.handle_of(*lamp)), 0x010301u);
  EXPECT_EQ(pool.get_packed(0x010301), lamp);
  EXPECT_EQ(pool.get_packed(0x010302), nullptr);
  EXPECT_EQ(pool.get_packed(0x010300), nullptr);
  EXPECT_EQ(pool.get_packed(0xFFFFFF01), nullptr);
  EXPECT_EQ(pool.get_packed(0), nullptr);
  pool.destroy(*lamp);
  EXPECT_EQ(pool.flags(259), 0x81);
  EXPECT_EQ(pool.get_packed(0x010381), nullptr);
  EXPECT_EQ(pool.get_packed(0x010301), nullptr);
  lamp = pool.create();
  EXPECT_EQ(pool.packed(pool.handle_of(*lamp)), 0x010302u);
  EXPECT_EQ(pool.packed({}), 0u);
}

// POOL-3: a slot that reaches the maximum is retired.
TEST(Pool, SlotsThatAreUsedUpAreRetired) {
  test::CapturedLog log;
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2, .max_uses = 3}).ok());
  std::set<std::pair<uint32_t, uint32_t>> handles;
  for (int i = 0; i < 6; ++i) {
    Lamp* const lamp = pool.create(i);
    ASSERT_NE(lamp, nullptr);
    const Handle<Lamp> handle = pool.handle_of(*lamp);
    EXPECT_TRUE(handle);
    EXPECT_TRUE(handles.emplace(handle.slot, handle.generation).second);
    EXPECT_EQ(pool.used(), 1u);
    pool.destroy(*lamp);
    EXPECT_EQ(pool.used(), 0u);
    EXPECT_EQ(pool.retired(), i < 4 ? 0u : static_cast<uint32_t>(i - 3));
  }
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(log.count(), 1u);
  for (const auto& [slot, generation] : handles) EXPECT_EQ(pool.get({generation, slot}), nullptr);
  EXPECT_EQ(pool.begin(), pool.end());
  pool.shutdown();
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_EQ(pool.retired(), 0u);
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  EXPECT_NE(pool.create(), nullptr);
}

// POOL-4
TEST(Pool, WalksLiveElementsInTheOrderOfAddresses) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 6}).ok());
  EXPECT_EQ(pool.begin(), pool.end());
  for (int i = 0; i < 6; ++i) ASSERT_NE(pool.create(i), nullptr);
  for (const uint32_t slot : {0u, 3u, 5u}) pool.destroy(*pool.at(slot));
  std::vector<int> met;
  const Lamp* last = nullptr;
  for (const Lamp& lamp : pool) {
    met.push_back(lamp.number);
    EXPECT_LT(last, &lamp);
    last = &lamp;
  }
  EXPECT_EQ(met, (std::vector<int>{1, 2, 4}));
  auto at = pool.begin();
  EXPECT_EQ((at++)->number, 1);
  EXPECT_EQ(at->number, 2);
  for (Lamp& lamp : pool) pool.destroy(lamp);  // on the way
  EXPECT_EQ(pool.used(), 0u);
}

// POOL-4
TEST(Pool, RedZoneIsCalledOnceUntilThePeakIsReset) {
  struct Seen {
    int calls = 0;
    uint32_t used = 0;
    const PoolBase* pool = nullptr;
  } seen;
  Pool<Lamp> pool;
  PoolConfig config{.name = "Lamp", .capacity = 10, .red_zone = 3};
  config.on_red_zone = [](void* user, const PoolBase& full) {
    *static_cast<Seen*>(user) = {static_cast<Seen*>(user)->calls + 1, full.used(), &full};
  };
  config.user = &seen;
  ASSERT_TRUE(pool.init(config).ok());
  for (int i = 0; i < 2; ++i) ASSERT_NE(pool.create(), nullptr);
  EXPECT_EQ(seen.calls, 0);
  ASSERT_NE(pool.create(), nullptr);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.used, 3u);
  EXPECT_EQ(seen.pool, &pool);
  for (int round = 0; round < 3; ++round) {
    pool.clear();
    for (int i = 0; i < 5; ++i) ASSERT_NE(pool.create(), nullptr);
  }
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(pool.peak(), 5u);
  pool.clear();
  pool.reset_peak();
  EXPECT_EQ(pool.peak(), 0u);
  for (int i = 0; i < 4; ++i) ASSERT_NE(pool.create(), nullptr);
  EXPECT_EQ(seen.calls, 2);
  EXPECT_EQ(pool.peak(), 4u);
}

// POOL-5, CORE-11: null, one message with the pool's name, and the program goes on.
TEST(Pool, FullPoolSaysOnceWhatToDo) {
  test::CapturedLog log;
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Streetlamp", .capacity = 2}).ok());
  EXPECT_EQ(pool.size_from(), PoolSizeFrom::game_config);
  ASSERT_TRUE(pool.create() != nullptr && pool.create() != nullptr);
  EXPECT_EQ(pool.try_create(), nullptr);
  EXPECT_EQ(log.count(), 0u);
  EXPECT_EQ(pool.denied(), 0u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(log.all(), "Streetlamp pool full (capacity 2): raise PoolSize 'Streetlamp' in gameconfig\n");
  EXPECT_EQ(log.said()[0].level, LogLevel::warning);
  EXPECT_EQ(log.said()[0].name, hash_name("Streetlamp"));
  EXPECT_EQ(pool.denied(), 4u);
  EXPECT_EQ(pool.used(), 2u);
  pool.reset_peak();  // armed again
  EXPECT_EQ(pool.denied(), 0u);
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(log.count(), 2u);
  pool.clear();
  EXPECT_NE(pool.create(), nullptr);
}
TEST(Pool, FullPoolOfAFixedSizeSaysSo) {
  test::CapturedLog log;
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Fixed", .capacity = 0, .size_from = PoolSizeFrom::code}).ok());
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(log.all(), "Fixed pool full (capacity 0): its size is fixed in code\n");
}

// POOL-9
TEST(Pool, HasARowWhileItIsInitialised) {
  MemoryTracker tracker;
  test::CheckedMemory memory;
  Pool<Lamp> pool;
  MemoryRow row;
  size_t found = 9;
  ASSERT_TRUE(tracker.rows({&row, 1}, found).ok());
  EXPECT_EQ(found, 0u);
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 10, .tracker = &tracker}, memory).ok());
  for (int i = 0; i < 4; ++i) ASSERT_NE(pool.create(), nullptr);
  pool.destroy(*pool.at(2));
  ASSERT_TRUE(tracker.rows({&row, 1}, found).ok());
  ASSERT_EQ(found, 1u);
  EXPECT_STREQ(row.name, "Lamp");
  EXPECT_EQ(row.within, nullptr);
  EXPECT_EQ(row.kind, MemoryKind::pool);
  EXPECT_EQ(row.element_bytes, 64u);
  EXPECT_EQ(row.capacity, 10u);
  EXPECT_EQ(row.used, 3u);
  EXPECT_EQ(row.peak, 4u);
  EXPECT_EQ(row.bytes, 10u * 72 + 32);
  EXPECT_EQ(row.peak_bytes, 10u * 72 + 32);
  std::string report;
  print_memory_report(
      tracker, [](void* user, std::string_view line) { (*static_cast<std::string*>(user) += line) += '\n'; }, &report);
  EXPECT_NE(report.find("Lamp "), std::string::npos);
  EXPECT_NE(report.find("total 752 bytes\n"), std::string::npos) << report;
  pool.shutdown();
  ASSERT_TRUE(tracker.rows({&row, 1}, found).ok());
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(tracker.total_bytes(), 0u);
}

// POOL-9: "the sum is checked against a counting allocator".
TEST(Pool, SumOfPoolsAndClassesIsWhatWasAllocated) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  TrackedAllocator world("world", tracker, memory);
  TrackedAllocator maps("maps", tracker, world);
  Pool<Lamp> in_maps, in_world, plain;
  Pool<Lamp, Locked> locked;
  ASSERT_TRUE(in_maps.init({.name = "a", .capacity = 10, .tracker = &tracker}, maps).ok());
  ASSERT_TRUE(in_world.init({.name = "b", .capacity = 20, .tracker = &tracker}, world).ok());
  ASSERT_TRUE(plain.init({.name = "c", .capacity = 30, .tracker = &tracker}, memory).ok());
  ASSERT_TRUE(locked.init({.name = "d", .capacity = 40, .tracker = &tracker}, memory).ok());
  void* const loose = maps.allocate(123, 8);
  EXPECT_STREQ(in_maps.memory_row().within, "maps");
  EXPECT_EQ(memory.bytes(), (10 + 20 + 30 + 40) * 72 + 4 * 32 + 123u);  // by hand
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  in_maps.shutdown();
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  ASSERT_TRUE(in_maps.init({.name = "a", .capacity = 5, .tracker = &tracker}, world).ok());
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  maps.deallocate(loose, 123, 8);
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
}

// No allocation in what happens each frame, and none to report that a pool is full.
TEST(Pool, OperationsOfAFrameDoNotAllocate) {
  set_log_sink({[](void*, const LogMessage&) {}, nullptr});
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 8}).ok());
  const uint64_t before = test::allocation_count();
  int sum = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10; ++i) {
      if (const Lamp* const lamp = pool.create(i)) sum += pool.get(pool.handle_of(*lamp))->number;
    }
    for (const Lamp& lamp : pool) sum += pool.get_packed(pool.packed(pool.handle_of(lamp))) == &lamp ? 1 : 0;
    for (uint32_t slot = 0; slot < 8; slot += 2) pool.destroy(*pool.at(slot));
    pool.reset_peak();
    sum += static_cast<int>(pool.memory_row().used);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_GT(sum, 0);
  set_log_sink({});
}

}  // namespace
}  // namespace meridian
