// SPDX-License-Identifier: MIT
// POOL-10. Most of this is worth something under the tsan preset.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "meridian/core/paged_pool.h"
#include "meridian/core/pool.h"
#include "support/captured.h"

namespace meridian {
namespace {

constexpr uint32_t kThreads = 4;

struct Lamp {
  explicit Lamp(uint32_t n = 0) : number(n) {}
  uint32_t number;
};

template <class F>
void on_another_thread(F f) {
  std::thread(f).join();
}

// POOL-10: single-thread by default, and asserted.
TEST(PoolOwner, OneThreadCreatesAndDestroys) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  Pool<Lamp> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 4}).ok());
  Lamp* const lamp = pool.create(1u);
  const Handle<Lamp> handle = pool.handle_of(*lamp);
  test::BrokenContracts contracts;
  on_another_thread([&] { EXPECT_EQ(pool.get(handle), lamp); });  // others may look while the owner waits
  EXPECT_TRUE(test::broke(contracts, 0));
  Lamp* theirs = nullptr;
  on_another_thread([&] { theirs = pool.create(2u); });
  EXPECT_TRUE(test::broke(contracts));
  on_another_thread([&] { pool.destroy(*lamp); });
  EXPECT_TRUE(test::broke(contracts));
  on_another_thread([&] { pool.reset_peak(); });
  EXPECT_TRUE(test::broke(contracts));
  pool.destroy(*theirs);
  EXPECT_TRUE(test::broke(contracts, 0));
  EXPECT_EQ(pool.used(), 0u);
}

TEST(PoolOwner, TheThreadThatInitialisesIsTheOwner) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  Pool<Lamp> pool;
  test::BrokenContracts contracts;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 4}).ok());
  on_another_thread([&] { (void)pool.create(1u); });
  EXPECT_TRUE(test::broke(contracts));
  pool.shutdown();
  EXPECT_TRUE(test::broke(contracts, 0));
  std::atomic<int> step{0};
  std::thread other([&] {
    EXPECT_TRUE(pool.init({.name = "Lamp", .capacity = 4}).ok());
    EXPECT_NE(pool.create(1u), nullptr);
    step = 1;
    while (step == 1) std::this_thread::yield();  // its mark must live while we try
  });
  while (step == 0) std::this_thread::yield();
  EXPECT_TRUE(test::broke(contracts, 0));
  (void)pool.create(2u);
  EXPECT_TRUE(test::broke(contracts));
  pool.threading().hand_over();
  (void)pool.create(3u);  // ours from now on
  EXPECT_TRUE(test::broke(contracts, 0));
  step = 2;
  other.join();
  pool.clear();
  EXPECT_TRUE(test::broke(contracts, 0));
}

TEST(PoolOwnerDeathTest, AnotherThreadAborts) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto trespass = [] {
    Pool<Lamp> pool;
    (void)pool.init({.name = "Lamp", .capacity = 4}).ok();
    (void)pool.create(1u);
    on_another_thread([&] { (void)pool.create(2u); });
  };
  EXPECT_DEATH(trespass(), "contract broken: a pool without a lock belongs to one thread");
  GTEST_FLAG_SET(death_test_style, "fast");
}

/// Threads create, look up, hand on and destroy. Each slot belongs to one thread at a time, or the test fails.
template <class Pool>
void hammer(Pool& pool, uint32_t seed, int operations) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  using Item = Handle<Lamp>;
  const uint32_t capacity = pool.capacity();
  const auto holder = std::make_unique<std::atomic<uint32_t>[]>(capacity);  // 0: nobody
  std::mutex shelf_mutex;
  std::vector<Item> shelf;  // handed from thread to thread
  std::atomic<uint64_t> made{0}, gone{0}, refused{0}, faults{0};
  std::atomic<bool> stop{false};
  std::thread monitor([&] {  // counts may be old, never absurd
    while (!stop) {
      if (pool.used() > capacity || pool.peak() > capacity || pool.retired() != 0) ++faults;
      std::this_thread::yield();
    }
  });
  const auto work = [&](uint32_t me) {
    std::mt19937 random(seed + me);
    std::vector<Item> own, stale;
    const auto fault_unless = [&](bool is_right) { faults += is_right ? 0 : 1; };
    const auto destroy = [&](Item item) {
      Lamp* const lamp = pool.get(item);
      fault_unless(lamp != nullptr && lamp->number == item.slot);
      if (lamp == nullptr) return;
      fault_unless(holder[item.slot].exchange(0) != 0);
      pool.destroy(*lamp);
      fault_unless(pool.get(item) == nullptr);
      ++gone;
      stale.push_back(item);
    };
    for (int i = 0; i < operations; ++i) {
      switch (random() % 8) {
        case 0:
        case 1:
        case 2: {
          Lamp* const lamp = random() % 2 == 0 ? pool.try_create() : pool.create();
          if (lamp == nullptr) {
            ++refused;
            break;
          }
          const Item item = pool.handle_of(*lamp);
          fault_unless(item && item.slot < capacity);
          fault_unless(holder[item.slot].exchange(me + 1) == 0);  // nobody else has it
          lamp->number = item.slot;
          own.push_back(item);
          ++made;
          break;
        }
        case 3:
        case 4:
          if (own.empty()) break;
          std::swap(own[random() % own.size()], own.back());
          destroy(own.back());
          own.pop_back();
          break;
        case 5: {  // give one away
          if (own.empty()) break;
          const std::lock_guard lock(shelf_mutex);
          shelf.push_back(own.back());
          own.pop_back();
          break;
        }
        case 6: {  // take one
          const std::lock_guard lock(shelf_mutex);
          if (shelf.empty()) break;
          own.push_back(shelf.back());
          shelf.pop_back();
          break;
        }
        default:
          for (const Item& item : own) fault_unless(pool.get(item) != nullptr && pool.get(item)->number == item.slot);
          for (const Item& item : stale) fault_unless(pool.get(item) == nullptr);
          (void)pool.at(static_cast<uint32_t>(random() % capacity));
          (void)pool.flags(static_cast<uint32_t>(random() % capacity));
          if (stale.size() > 50) stale.clear();
          if (random() % 64 == 0) pool.reset_peak();
      }
    }
    for (const Item& item : own) destroy(item);
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  stop = true;
  monitor.join();
  EXPECT_EQ(faults, 0u);
  EXPECT_EQ(made - gone, shelf.size());
  EXPECT_EQ(pool.used(), shelf.size());
  for (const Item& item : shelf) EXPECT_TRUE(pool.destroy(item));
  EXPECT_EQ(pool.used(), 0u);
  // The queue is whole: each slot once.
  std::vector<bool> met(capacity);
  for (uint32_t i = 0; i < capacity; ++i) {
    const Lamp* const lamp = pool.try_create();
    ASSERT_NE(lamp, nullptr);
    const uint32_t slot = pool.handle_of(*lamp).slot;
    EXPECT_FALSE(met[slot]);
    met[slot] = true;
  }
  EXPECT_EQ(pool.try_create(), nullptr);
  EXPECT_GT(made, capacity);
}

// POOL-10: a locking policy turns the check into a lock.
TEST(PoolLocked, FourThreadsShareAPool) {
  const test::CapturedLog log;
  uint32_t seed = 700;
  for (const uint32_t capacity : {3u, 40u, 500u}) {
    Pool<Lamp, Locked> pool;
    ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = capacity}).ok());
    hammer(pool, seed += 10, 5000);
  }
}

TEST(PoolLocked, FourThreadsShareAPagedPool) {
  const test::CapturedLog log;
  uint32_t seed = 800;
  for (int round = 0; round < 5; ++round) {  // pages come early in a round
    PagedPool<Lamp, Locked> pool;
    ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 300}, 16).ok());
    hammer(pool, seed += 10, 2000);
  }
}

TEST(PoolLocked, AFullPoolCountsEachRefusalAndSaysItOnce) {
  test::CapturedLog log;
  Pool<Lamp, Locked> pool;
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 1}).ok());
  ASSERT_NE(pool.create(), nullptr);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) EXPECT_EQ(pool.create(), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.denied(), 1000u * kThreads);
  EXPECT_EQ(log.count(), 1u);
}

/// Constructors and destructors run outside the lock, so they may use the pool.
struct Chain {
  Chain(Pool<Chain, Locked>& p, int length) : pool(p), next(length > 1 ? p.create(p, length - 1) : nullptr) {}
  ~Chain() {
    if (next != nullptr) pool.destroy(*next);
  }
  Pool<Chain, Locked>& pool;
  Chain* next;
};
TEST(PoolLocked, ConstructorsAndDestructorsMayUseThePool) {
  Pool<Chain, Locked> pool;
  ASSERT_TRUE(pool.init({.name = "Chain", .capacity = 100}).ok());
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        Chain* const chain = pool.create(pool, 5);
        if (chain != nullptr) pool.destroy(*chain);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_LE(pool.peak(), 5 * kThreads);
  EXPECT_EQ(pool.denied(), 0u);
}

}  // namespace
}  // namespace meridian
