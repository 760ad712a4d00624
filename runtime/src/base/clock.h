// SPDX-License-Identifier: MIT
#pragma once
/// Time for statistics and waits.

#include <chrono>
#include <cstdint>

namespace meridian {

/// Only grows; from an unknown beginning. [ns]
inline uint64_t steady_now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace meridian
