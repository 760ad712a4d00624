// SPDX-License-Identifier: MIT
// core/pool.h against a plain model. The same for its relatives stands in their own tests.
#include <gtest/gtest.h>

#include <string>

#include "meridian/core/pool.h"
#include "support/captured.h"
#include "support/pool_model.h"

namespace meridian {
namespace {

using test::Item;

// POOL-2, POOL-3, POOL-4, POOL-5
TEST(PoolRandom, DoesAsTheModel) {
  const test::CapturedLog log;
  uint32_t seed = 100;
  for (const uint32_t capacity : {1u, 2u, 7u, 64u}) {
    Pool<Item> pool;
    ASSERT_TRUE(pool.init({.name = "Item", .capacity = capacity}).ok());
    test::expect_pool_like_model(pool, 0, 1u << 31, ++seed, 30000, test::make_item<Pool<Item>>);
  }
  EXPECT_EQ(Item::g_alive, 0);
}

// POOL-3
TEST(PoolRandom, DoesAsTheModelWhileSlotsRetire) {
  const test::CapturedLog log;
  uint32_t seed = 200;
  for (const uint32_t max_uses : {1u, 2u, 126u, 127u, 128u, 400u}) {
    Pool<Item> pool;
    ASSERT_TRUE(pool.init({.name = "Item", .capacity = 40, .max_uses = max_uses}).ok());
    test::expect_pool_like_model(pool, 0, max_uses, ++seed, 20000, test::make_item<Pool<Item>>);
  }
  EXPECT_EQ(Item::g_alive, 0);
}

TEST(PoolRandom, LockedDoesAsTheModel) {
  const test::CapturedLog log;
  Pool<Item, Locked> pool;
  ASSERT_TRUE(pool.init({.name = "Item", .capacity = 50}).ok());
  test::expect_pool_like_model(pool, 0, 1u << 31, 300, 30000, test::make_item<Pool<Item, Locked>>);
}

}  // namespace
}  // namespace meridian
