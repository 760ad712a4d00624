// SPDX-License-Identifier: MIT
#pragma once
/// Which of Highway's targets are built, and what they may use. To be included before any header of Highway.
///
/// Only Highway's headers are used: which target runs is decided by base/simd.h, and nothing has to be linked.
/// What is named "disable" is not needed, and so not asked of a processor. AVX2 comes with BMI2, F16C and FMA, as
/// everywhere; nothing is fused though: loops have no MulAdd, and -ffp-contract=off keeps compilers from making one.

#if defined(HWY_HIGHWAY_INCLUDED) || defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#error "base/simd_targets.h comes before Highway"
#endif

#define HWY_DISABLE_PCLMUL_AES
// What its assertions call in debug builds and with sanitizers is in its library.
#define HWY_IS_DEBUG_BUILD 0

#if defined(__x86_64__) || defined(_M_X64)
#if !defined(__SSE4_2__)
#error "Meridian is built for x86-64-v2 or better (-march=x86-64-v2)"
#endif
#define MERIDIAN_HAS_SIMD_128 1
#define MERIDIAN_HAS_SIMD_256 1
// Also those below the baseline of a build for newer processors: the dispatch names all three.
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_EMU128 | HWY_SCALAR)
#elif defined(__aarch64__) || defined(_M_ARM64)
#define MERIDIAN_HAS_SIMD_128 1
#define MERIDIAN_HAS_SIMD_256 0
// Vectors of a length that is not known when compiling can't be members.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_EMU128 | HWY_SCALAR)
#else
#define MERIDIAN_HAS_SIMD_128 0
#define MERIDIAN_HAS_SIMD_256 0
#endif

// For what comes once, behind the loops of all widths: `here()` of a width, in whose namespace it stands, or `scalar()`
// where no vectors are built. A macro, since which namespace it is can't be told otherwise.
#if MERIDIAN_HAS_SIMD_256
#define MERIDIAN_SIMD_DISPATCH(width, here, scalar) \
  ((width) == SimdWidth::bits512 ? N_AVX3::here() : (width) == SimdWidth::bits256 ? N_AVX2::here() : N_SSE4::here())
#elif MERIDIAN_HAS_SIMD_128
#define MERIDIAN_SIMD_DISPATCH(width, here, scalar) (static_cast<void>(width), N_NEON::here())
#else
#define MERIDIAN_SIMD_DISPATCH(width, here, scalar) (static_cast<void>(width), scalar())
#endif
