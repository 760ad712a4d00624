// SPDX-License-Identifier: MIT
#include "meridian/base/simd.h"

#include <atomic>

#include "base/simd_targets.h"

#if MERIDIAN_HAS_SIMD_256
#include <cpuid.h>
#endif

namespace meridian {
namespace {

// Relaxed: who sets it makes sure that nobody searches meanwhile.
std::atomic<uint8_t> g_width{0xFF};  // 0xFF: not asked for yet

#if MERIDIAN_HAS_SIMD_256
/// Not among what clang 14 can be asked for.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

bool has_simd_width(SimdWidth width) {
  switch (width) {
    case SimdWidth::scalar:
      return true;
    case SimdWidth::bits128:
      return MERIDIAN_HAS_SIMD_128 != 0;  // of the baseline
#if MERIDIAN_HAS_SIMD_256
    // These ask the system too, whether it keeps the wide registers of a thread.
    case SimdWidth::bits256:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
             __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
    case SimdWidth::bits512:
      return has_simd_width(SimdWidth::bits256) && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0;
#endif
    default:
      return false;
  }
}

SimdWidth best_simd_width() {
  for (const SimdWidth width : {SimdWidth::bits512, SimdWidth::bits256, SimdWidth::bits128}) {
    if (has_simd_width(width)) return width;
  }
  return SimdWidth::scalar;
}

SimdWidth simd_width() {
  const uint8_t width = g_width.load(std::memory_order_relaxed);
  if (width != 0xFF) return static_cast<SimdWidth>(width);
  // Threads that get here at the same time all store the same.
  const SimdWidth best = best_simd_width();
  g_width.store(static_cast<uint8_t>(best), std::memory_order_relaxed);
  return best;
}

bool set_simd_width(SimdWidth width) {
  if (!has_simd_width(width)) return false;
  g_width.store(static_cast<uint8_t>(width), std::memory_order_relaxed);
  return true;
}

const char* to_string(SimdWidth width) {
  switch (width) {
    case SimdWidth::scalar:
      return "scalar";
    case SimdWidth::bits128:
#if defined(__aarch64__) || defined(_M_ARM64)
      return "NEON";
#else
      return "SSE4";
#endif
    case SimdWidth::bits256:
      return "AVX2";
    case SimdWidth::bits512:
      return "AVX-512";
  }
  return "?";
}

}  // namespace meridian
