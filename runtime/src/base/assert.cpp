// SPDX-License-Identifier: MIT
#include "meridian/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace meridian {
namespace {

bool print_and_abort(const char* expression, const char* message, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: contract broken: %s (%s)\n", file, line, message, expression);
  return true;
}

// Set once at start-up, before threads exist, so a plain pointer is enough.
AssertHandler g_handler = print_and_abort;

}  // namespace

void set_assert_handler(AssertHandler handler) { g_handler = handler != nullptr ? handler : print_and_abort; }

namespace detail {

void assert_failed(const char* expression, const char* message, const char* file, int line) {
  if (g_handler(expression, message, file, line)) std::abort();
}

}  // namespace detail
}  // namespace meridian
