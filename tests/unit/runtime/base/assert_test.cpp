// SPDX-License-Identifier: MIT
#include "meridian/base/assert.h"

#include <gtest/gtest.h>

namespace meridian {
namespace {

int g_calls = 0;
bool count_and_go_on(const char*, const char* message, const char*, int line) {
  g_calls += message[0] == 'w' && line > 0 ? 1 : 100;
  return false;
}

TEST(Assert, HandlerMayGoOn) {
  set_assert_handler(count_and_go_on);
  g_calls = 0;
  detail::assert_failed("1 == 2", "wrong", __FILE__, __LINE__);
  set_assert_handler(nullptr);
  EXPECT_EQ(g_calls, 1);
}

TEST(AssertDeathTest, DefaultHandlerPrintsAndAborts) {
  EXPECT_DEATH(detail::assert_failed("1 == 2", "numbers differ", "file.cpp", 7),
               "file.cpp:7: contract broken: numbers differ \\(1 == 2\\)");
}

}  // namespace
}  // namespace meridian
