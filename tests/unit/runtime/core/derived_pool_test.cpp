// SPDX-License-Identifier: MIT
#include "meridian/core/derived_pool.h"

#include <gtest/gtest.h>

#include <string>

#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"
#include "support/pool_model.h"

namespace meridian {
namespace {

using test::Item;

struct Door : Item {
  explicit Door(uint64_t v = 0) : Item(v) {}
  ~Door() override { ++g_doors_gone; }
  float angle = 90;
  static inline int g_doors_gone = 0;
};
struct Building : Item {
  explicit Building(uint64_t v = 0) : Item(v) {}
  uint64_t floors[20] = {};
};
struct alignas(32) Vehicle : Item {
  explicit Vehicle(uint64_t v = 0) : Item(v) {}
  char body[70] = {};
};

// POOL-7: one storage for a base type, as wide as the largest registered type.
TEST(DerivedPool, SlotsAreAsLargeAsTheLargestRegisteredType) {
  test::CheckedMemory memory;
  DerivedPool<Item> pool;
  EXPECT_EQ(pool.largest_bytes(), sizeof(Item));
  pool.register_type<Door>();
  pool.register_type<Building>();
  pool.register_type<Door>();
  EXPECT_EQ(pool.largest_bytes(), sizeof(Building));
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 3}, memory).ok());
  EXPECT_EQ(memory.blocks(), 1u);
  EXPECT_EQ(memory.bytes(), 3 * (sizeof(Building) + 8) + 32);
  EXPECT_EQ(pool.memory_row().element_bytes, sizeof(Building));
  Door* const door = pool.create<Door>(1u);
  Building* const building = pool.create<Building>(2u);
  Item* const plain = pool.create<Item>(3u);
  ASSERT_TRUE(door != nullptr && building != nullptr && plain != nullptr);
  building->floors[19] = ~uint64_t{0};
  EXPECT_EQ(door->angle, 90);
  EXPECT_EQ(plain->value, 3u);
  EXPECT_EQ(reinterpret_cast<char*>(building) - reinterpret_cast<char*>(door),
            static_cast<std::ptrdiff_t>(sizeof(Building)));
  EXPECT_EQ(pool.get(pool.handle_of(*door)), door);
  EXPECT_EQ(pool.try_create<Door>(), nullptr);
  const int gone = Door::g_doors_gone;
  pool.destroy(*door);  // by the virtual destructor
  EXPECT_EQ(Door::g_doors_gone, gone + 1);
  EXPECT_EQ(static_cast<Item*>(pool.create<Building>(4u)), static_cast<Item*>(door));  // the slot is anyone's
}

TEST(DerivedPool, StrictAlignmentReachesEverySlot) {
  DerivedPool<Item> pool;
  pool.register_type<Vehicle>();
  pool.register_type<Building>();
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 9}).ok());
  for (int i = 0; i < 9; ++i) {
    const Vehicle* const vehicle = pool.create<Vehicle>();
    ASSERT_NE(vehicle, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(vehicle) % 32, 0u);
  }
}

TEST(DerivedPool, TypesThatDoNotFitAreRefused) {
  test::CapturedLog log;
  DerivedPool<Item> pool;
  pool.register_type<Door>();
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 4}).ok());
  test::BrokenContracts contracts;
  EXPECT_EQ(pool.try_create<Building>(), nullptr);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.used(), 0u);
}

/// Small enough for slots of 24 bytes, and not at home in each of them.
struct alignas(16) Strict : Item {
  explicit Strict(uint64_t v = 0) : Item(v) {}
};
struct Tall : Item {
  uint64_t more[3] = {};
};
TEST(DerivedPool, StricterAlignmentThanTheSlotsHaveIsRefused) {
  static_assert(sizeof(Strict) == 16 && sizeof(Tall) == 40);
  DerivedPool<Item> pool;
  pool.register_type<Tall>();
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 4}).ok());
  test::BrokenContracts contracts;
  EXPECT_EQ(pool.try_create<Strict>(), nullptr);
  EXPECT_TRUE(test::broke(contracts));
  pool.shutdown();
  pool.register_type<Strict>();
  EXPECT_EQ(pool.largest_bytes(), 40u);
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 4}).ok());
  for (int i = 0; i < 4; ++i) {
    const Strict* const strict = pool.create<Strict>();
    ASSERT_NE(strict, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(strict) % 16, 0u);
  }
}

TEST(DerivedPool, TypesAreRegisteredBeforeThePoolIsMade) {
  DerivedPool<Item> pool;
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 4}).ok());
  test::BrokenContracts contracts;
  pool.register_type<Building>();
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(pool.try_create<Building>(), nullptr);  // its slots are what they were
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_NE(pool.create<Item>(), nullptr);
}

TEST(DerivedPool, RefusedMemoryLeavesAPoolThatTypesCanBeRegisteredWith) {
  test::CheckedMemory memory;
  memory.fail_after(0);
  DerivedPool<Item> pool;
  EXPECT_EQ(pool.init({.name = "Entity", .capacity = 4}, memory).code, StatusCode::out_of_memory);
  EXPECT_EQ(pool.at(0), nullptr);
  memory.fail_after(-1);
  test::BrokenContracts contracts;
  pool.register_type<Building>();
  EXPECT_TRUE(test::broke(contracts, 0));
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 4}, memory).ok());
  EXPECT_NE(pool.create<Building>(), nullptr);
}

/// The base is not first: a vtable stands before it.
struct Plain {
  virtual ~Plain() = default;
  int n = 0;
};
struct Other {
  virtual ~Other() = default;
  int m = 0;
};
struct Twice : Other, Plain {};
TEST(DerivedPoolDeathTest, TheBaseComesFirst) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  DerivedPool<Plain> pool;
  pool.register_type<Twice>();
  ASSERT_TRUE(pool.init({.name = "Plain", .capacity = 1}).ok());
  EXPECT_DEATH((void)pool.create<Twice>(), "contract broken: a pool's base type is the first base");
}

// POOL-5
TEST(DerivedPool, AFullPoolSaysSoOnce) {
  test::CapturedLog log;
  DerivedPool<Item> pool;
  pool.register_type<Door>();
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 1}).ok());
  ASSERT_NE(pool.create<Door>(), nullptr);
  EXPECT_EQ(pool.try_create<Door>(), nullptr);
  EXPECT_EQ(pool.create<Door>(), nullptr);
  EXPECT_EQ(pool.create<Item>(), nullptr);
  EXPECT_EQ(log.all(), "Entity pool full (capacity 1): raise PoolSize 'Entity' in gameconfig\n");
  EXPECT_EQ(pool.denied(), 2u);
}

// POOL-2, POOL-3, POOL-4, POOL-7
TEST(DerivedPool, DoesAsTheModelWithSeveralTypes) {
  const test::CapturedLog log;
  uint32_t seed = 500;
  for (const uint32_t max_uses : {1u << 31, 1u << 31, 300u}) {
    DerivedPool<Item> pool;
    pool.register_type<Door>();
    pool.register_type<Building>();
    pool.register_type<Vehicle>();
    ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 60, .max_uses = max_uses}).ok());
    const auto make = [](DerivedPool<Item>& from, uint64_t value, bool quietly) -> Item* {
      switch (value % 4) {
        case 0:
          return quietly ? from.try_create<Item>(value) : from.create<Item>(value);
        case 1:
          return quietly ? from.try_create<Door>(value) : from.create<Door>(value);
        case 2:
          return quietly ? from.try_create<Building>(value) : from.create<Building>(value);
        default:
          return quietly ? from.try_create<Vehicle>(value) : from.create<Vehicle>(value);
      }
    };
    test::expect_pool_like_model(pool, 0, max_uses, ++seed, 35000, make);
  }
  EXPECT_EQ(Item::g_alive, 0);
}

TEST(DerivedPool, OperationsOfAFrameDoNotAllocate) {
  DerivedPool<Item> pool;
  pool.register_type<Building>();
  ASSERT_TRUE(pool.init({.name = "Entity", .capacity = 16}).ok());
  const uint64_t before = test::allocation_count();
  for (int round = 0; round < 50; ++round) {
    for (uint64_t i = 0; i < 17; ++i) (void)pool.try_create<Building>(i);
    pool.clear();
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace meridian
