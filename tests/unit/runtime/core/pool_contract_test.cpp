// SPDX-License-Identifier: MIT
// core/pool.h: released storage, what is not promised, contracts that are broken, memory that is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/core/pool.h"
#include "support/captured.h"
#include "support/checked_memory.h"

#ifdef MERIDIAN_POISON_FREE_SLOTS
extern "C" int __asan_address_is_poisoned(const volatile void* address);
#endif

namespace meridian {
namespace {

struct Lamp {
  explicit Lamp(int n = 0) : number(n) {}
  int number;
  char rest[60] = {};
};

// POOL-6
TEST(PoolDebug, ReleasedStorageIsFilledWhereAssertsAreOn) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 3}).ok());
  for (int i = 0; i < 3; ++i) ASSERT_NE(pool.create(i), nullptr);
  Lamp* const lamp = pool.at(1);
  pool.destroy(*lamp);
  detail::unpoison(lamp, sizeof(Lamp));
  const volatile auto* const bytes = reinterpret_cast<const volatile unsigned char*>(lamp);
  for (size_t i = 0; i < sizeof(Lamp); ++i) EXPECT_EQ(bytes[i], 0xDD) << i;
  detail::poison(lamp, sizeof(Lamp));
  EXPECT_EQ(pool.at(0)->number, 0);  // neighbours are untouched
  EXPECT_EQ(pool.at(2)->number, 2);
}

// POOL-6
TEST(PoolDebug, FreeStorageIsPoisonedUnderAddressSanitizer) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  struct Twelve {
    uint32_t a = 0, b = 0, c = 0;
  };
  test::CheckedMemory memory;
  Pool<Twelve> pool;
  ASSERT_TRUE(pool.init({.name = "Twelve", .capacity = 2}, memory).ok());
  Twelve* const twelve = pool.create();
  EXPECT_EQ(__asan_address_is_poisoned(twelve), 0);
  EXPECT_EQ(__asan_address_is_poisoned(&twelve->c), 0);
  EXPECT_NE(__asan_address_is_poisoned(twelve + 2), 0);  // a slot that was never used: 16 bytes each
  pool.destroy(*twelve);
  for (size_t i = 0; i < sizeof(Twelve); ++i) {
    EXPECT_NE(__asan_address_is_poisoned(reinterpret_cast<char*>(twelve) + i), 0) << i;
  }
  EXPECT_DEATH(twelve->b = 7, "use-after-poison");
  ASSERT_NE(pool.create(), nullptr);
  ASSERT_EQ(pool.create(), twelve);
  EXPECT_EQ(__asan_address_is_poisoned(&twelve->b), 0);
  pool.destroy(*twelve);
  pool.shutdown();  // the allocator gets memory back that may be touched
  EXPECT_EQ(memory.bytes(), 0u);
#else
  GTEST_SKIP() << "no AddressSanitizer";
#endif
}

// In every build, before init() and after shutdown().
TEST(PoolContract, APoolWithoutMemoryIsEmptyAndFull) {
  test::CapturedLog log;
  Pool<Lamp> pool;
  const auto expect_empty = [&] {
    EXPECT_EQ(pool.create(), nullptr);
    EXPECT_EQ(pool.try_create(), nullptr);
    EXPECT_EQ(pool.get({1, 0}), nullptr);
    EXPECT_EQ(pool.get_packed(1), nullptr);
    EXPECT_EQ(pool.at(0), nullptr);
    EXPECT_EQ(pool.flags(0), 0x80);
    EXPECT_FALSE(pool.destroy(Handle<Lamp>{1, 0}));
    EXPECT_EQ(pool.begin(), pool.end());
    EXPECT_EQ(pool.used(), 0u);
    EXPECT_EQ(pool.capacity(), 0u);
    pool.clear();
  };
  expect_empty();
  pool.shutdown();
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  ASSERT_NE(pool.create(), nullptr);
  pool.shutdown();
  expect_empty();
  pool.shutdown();
}

TEST(PoolContract, RefusedMemoryLeavesAPoolThatCanBeInitialisedLater) {
  test::CapturedLog log;
  test::CheckedMemory memory;
  MemoryTracker tracker;
  Pool<Lamp> pool;
  memory.fail_after(0);
  const Status status = pool.init({.name = "Lamp", .capacity = 4, .tracker = &tracker}, memory);
  EXPECT_EQ(status.code, StatusCode::out_of_memory);
  EXPECT_EQ(status.name, hash_name("Lamp"));
  EXPECT_EQ(status.detail, 4u * 72 + 32);
  EXPECT_EQ(pool.get({1, 0}), nullptr);
  EXPECT_EQ(pool.at(3), nullptr);
  EXPECT_EQ(pool.begin(), pool.end());
  EXPECT_EQ(pool.create(), nullptr);
  EXPECT_EQ(pool.used(), 0u);
  pool.clear();
  size_t found = 9;
  EXPECT_TRUE(tracker.rows({}, found).ok());
  EXPECT_EQ(found, 0u);
  memory.fail_after(-1);
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 4, .tracker = &tracker}, memory).ok());
  for (int i = 0; i < 4; ++i) EXPECT_NE(pool.create(), nullptr);
}

TEST(PoolContract, TooLargePoolsAreRefused) {
  test::CheckedMemory memory;
  memory.fail_after(0);
  Pool<char> pool;
  const Status status = pool.init({.name = "Huge", .capacity = 1u << 31}, memory);
  EXPECT_EQ(status.code, StatusCode::too_large);
  EXPECT_EQ(status.detail, 1u << 31);
  EXPECT_EQ(status.name, hash_name("Huge"));
  EXPECT_EQ(pool.init({.name = "Large", .capacity = (1u << 31) - 1}, memory).code, StatusCode::out_of_memory);
}

TEST(PoolContract, APoolIsInitialisedOnce) {
  test::CheckedMemory memory;  // fails the test if the first block is lost
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 4}, memory).ok());
  Lamp* const lamp = pool.create(7);
  const Handle<Lamp> handle = pool.handle_of(*lamp);
  test::BrokenContracts contracts;
  EXPECT_EQ(pool.init({.name = "Lamp", .capacity = 8}, memory).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.capacity(), 4u);
  EXPECT_EQ(pool.get(handle), lamp);
  pool.shutdown();
  EXPECT_TRUE(pool.init({.name = "Lamp", .capacity = 8}, memory).ok());
}

TEST(PoolContract, OnlyLiveElementsOfThePoolAreDestroyed) {
  if (!test::kAsserts) GTEST_SKIP() << "undefined without asserts";
  Pool<Lamp> pool, other;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  ASSERT_TRUE(other.init({.name = "Other", .capacity = 2}).ok());
  Lamp* const lamp = pool.create(1);
  Lamp* const foreign = other.create(2);
  Lamp loose(3);
  test::BrokenContracts contracts;
  pool.destroy(*foreign);
  EXPECT_TRUE(test::broke(contracts));
  pool.destroy(loose);
  EXPECT_TRUE(test::broke(contracts));
  pool.destroy(*lamp);
  EXPECT_TRUE(test::broke(contracts, 0));
  pool.destroy(*lamp);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_EQ(other.used(), 1u);
  EXPECT_EQ(foreign->number, 2);
  // The queue is whole: two slots, each once.
  const Lamp *const a = pool.create(), *const b = pool.create();
  EXPECT_TRUE(a != nullptr && b != nullptr && a != b);
  EXPECT_EQ(pool.try_create(), nullptr);
}

TEST(PoolContractDeathTest, ASecondDestroyAborts) {
  if (!test::kAsserts) GTEST_SKIP() << "undefined without asserts";
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  Lamp* const lamp = pool.create();
  pool.destroy(*lamp);
  EXPECT_DEATH(pool.destroy(*lamp), "contract broken: only a live element of this pool can be destroyed");
}

TEST(PoolContract, OnlyLiveElementsHaveHandles) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  Lamp* const lamp = pool.create();
  const Lamp loose;
  pool.destroy(*lamp);
  test::BrokenContracts contracts;
  EXPECT_EQ(pool.handle_of(*lamp), Handle<Lamp>{});
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.handle_of(loose), Handle<Lamp>{});
  EXPECT_TRUE(test::broke(contracts));
  Pool<Lamp> never;
  EXPECT_EQ(never.handle_of(loose), Handle<Lamp>{});
  EXPECT_TRUE(test::broke(contracts));
}

TEST(PoolContract, PackedHandlesHave24BitsForTheSlot) {
  const Pool<Lamp> pool;
  test::BrokenContracts contracts;
  EXPECT_EQ(pool.packed({1, (1u << 24) - 1}), 0u);
  EXPECT_TRUE(test::broke(contracts, 0));
  EXPECT_EQ(pool.packed({1, 1u << 24}), 0u);
  EXPECT_TRUE(test::broke(contracts));
}

TEST(PoolContract, WrongHandlesAreStale) {
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 2}).ok());
  Lamp* const lamp = pool.create();
  const Handle<Lamp> handle = pool.handle_of(*lamp);
  EXPECT_EQ(pool.get({}), nullptr);
  EXPECT_EQ(pool.get({handle.generation + 1, handle.slot}), nullptr);  // that of the free slot, one day
  EXPECT_EQ(pool.get({handle.generation + 2, handle.slot}), nullptr);
  EXPECT_EQ(pool.get({handle.generation, 1}), nullptr);
  EXPECT_EQ(pool.get({handle.generation, 0xFFFFFFFF}), nullptr);
  pool.destroy(*lamp);
  EXPECT_EQ(pool.get({handle.generation + 1, handle.slot}), nullptr);
}

/// Makes a child in its constructor and destroys it in its destructor, both in its own pool.
struct Parent {
  Parent(Pool<Parent>& p, int generations) : pool(p), child(generations > 0 ? p.create(p, generations - 1) : nullptr) {}
  ~Parent() {
    own = pool.handle_of(*this);
    if (child != nullptr) pool.destroy(*child);
  }
  Pool<Parent>& pool;
  Parent* child;
  static inline Handle<Parent> own;
};
TEST(PoolContract, ConstructorsAndDestructorsMayUseThePool) {
  Pool<Parent> pool;
  ASSERT_TRUE(pool.init({.name = "Parent", .capacity = 10}).ok());
  Parent* const first = pool.create(pool, 4);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(pool.used(), 5u);
  const Handle<Parent> handle = pool.handle_of(*first);
  pool.destroy(*first);
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_NE(Parent::own, handle);  // the last that died was the youngest
  EXPECT_EQ(pool.get(Parent::own), nullptr);
  Parent* const second = pool.create(pool, 9);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(pool.try_create(pool, 0), nullptr);
  pool.destroy(*second);
  EXPECT_EQ(pool.used(), 0u);
}

// POOL-2: what a queue gives after failed creations is what it would have given without.
TEST(PoolContract, AFullPoolKeepsItsOrder) {
  test::CapturedLog log;
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 3}).ok());
  for (int i = 0; i < 3; ++i) ASSERT_NE(pool.create(i), nullptr);
  pool.destroy(*pool.at(2));
  pool.destroy(*pool.at(1));
  ASSERT_EQ(pool.handle_of(*pool.create()).slot, 2u);
  ASSERT_EQ(pool.handle_of(*pool.create()).slot, 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool.create(), nullptr);
  pool.destroy(*pool.at(0));
  EXPECT_EQ(pool.handle_of(*pool.create()).slot, 0u);
}

}  // namespace
}  // namespace meridian
