// SPDX-License-Identifier: MIT
#pragma once
/// How wide the vectors are that loops over boxes and descriptors work with. The build holds those loops once for each
/// width; the widest one that the processor has is taken.
///
///   std::printf("vectors: %s", to_string(simd_width()));        // "AVX2"
///   if (set_simd_width(SimdWidth::scalar)) { /* the plain loops, to compare with */ }
///   set_simd_width(best_simd_width());
///
/// All widths give the same results, bit for bit: the same operations in the same order, nothing fused. So the width
/// matters to tests, benchmarks and reports of faults only.
///
/// Threads: readers, for what asks; main, while nobody uses it, for set_simd_width.
/// Memory:  none.

#include <cstdint>

namespace meridian {

enum class SimdWidth : uint8_t {
  scalar,   ///< one number at a time: the reference
  bits128,  ///< SSE4, NEON
  bits256,  ///< AVX2, with BMI2, F16C and FMA as usual
  bits512,  ///< AVX-512 with its F, VL, DQ and BW parts
};
inline constexpr uint32_t kSimdWidths = 4;

/// The widest one that the build holds and the processor has.
SimdWidth best_simd_width();
/// Whether the build holds it and the processor has it. `scalar` always is.
bool has_simd_width(SimdWidth width);
/// The one in use; at first the best.
SimdWidth simd_width();
/// False, and nothing changes, if this machine does not have it.
bool set_simd_width(SimdWidth width);

/// The name of its instruction set here ("scalar", "SSE4", "NEON", "AVX2", "AVX-512"). Threads: immutable.
const char* to_string(SimdWidth width);

}  // namespace meridian
