// SPDX-License-Identifier: MIT
#include "meridian/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace meridian {
namespace {

TEST(Status, DefaultIsOkWithEmptyMessage) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_STREQ(status.message, "");
}

TEST(Status, EveryCodeHasItsOwnWord) {
  std::set<std::string> words;
  for (uint16_t code = 0; code <= 17; ++code) words.insert(to_string(static_cast<StatusCode>(code)));
  EXPECT_EQ(words.size(), 18u);
  EXPECT_EQ(words.count("unknown"), 0u);
  EXPECT_STREQ(to_string(static_cast<StatusCode>(999)), "unknown");
}

// CORE-10
TEST(Result, HoldsValueOrStatus) {
  Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 7);
  const Result<int> bad = Status{StatusCode::too_small, "short", 3};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().detail, 3u);
}

TEST(Result, HoldsValuesThatOnlyMove) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result.value());
  EXPECT_EQ(*taken, 5);
}

#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
TEST(ResultDeathTest, ValueWithoutOneIsAContractFault) {
  const Result<int> bad = Status{StatusCode::too_small, "short", 3};
  EXPECT_DEATH((void)bad.value(), "Result has no value");
}
#endif

}  // namespace
}  // namespace meridian
