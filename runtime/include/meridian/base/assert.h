// SPDX-License-Identifier: MIT
#pragma once
/// Contract checks. A failed one is a fault in the calling program, never in data.
/// On in debug and sanitizer builds (MERIDIAN_ENABLE_ASSERTS=1), gone otherwise.
///
///   set_assert_handler([](const char*, const char* message, const char* file, int line) {
///     std::fprintf(stderr, "%s:%d: %s\n", file, line, message);
///     return true;                                                    // stop here
///   });
///   MERIDIAN_ASSERT(2 + 2 == 4, "numbers are as they were");
///
/// Threads: any; the handler is called on the thread that failed.

namespace meridian {

/// Called on a failed MERIDIAN_ASSERT. Return true to break into abort(), false to go on.
using AssertHandler = bool (*)(const char* expression, const char* message, const char* file, int line);

/// Sets the handler; null restores the default (print to standard error, abort). Threads: main, before any other use.
void set_assert_handler(AssertHandler handler);

namespace detail {
void assert_failed(const char* expression, const char* message, const char* file, int line);
}

}  // namespace meridian

#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
#define MERIDIAN_ASSERT(expression, message) \
  ((expression) ? void(0) : ::meridian::detail::assert_failed(#expression, message, __FILE__, __LINE__))
#else
#define MERIDIAN_ASSERT(expression, message) void(0)
#endif
