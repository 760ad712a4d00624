// SPDX-License-Identifier: MIT
#include "meridian/core/pool.h"

#include <gtest/gtest.h>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
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
  Pool<Lamp> pool;
  const uint64_t before = test::allocation_count();
  ASSERT_TRUE(pool.init({.name = "Lamp", .capacity = 100}).ok());
  EXPECT_EQ(test::allocation_count() - before, 1u);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_NE(pool.create(i), nullptr);
    EXPECT_EQ(pool.try_create(), nullptr);
    pool.clear();
  }
  EXPECT_EQ(test::allocation_count() - before, 1u);
}

}  // namespace
}  // namespace meridian
