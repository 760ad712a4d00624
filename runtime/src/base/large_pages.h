// SPDX-License-Identifier: MIT
#pragma once
/// Pages of the system. Large ones are for memory that is read here and there: with pages of 4 KiB, most looks at it are
/// also a miss of the TLB, which costs more than the one of the cache.

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace meridian {

inline constexpr size_t kLargePage = size_t{2} << 20;          ///< [bytes]
inline constexpr size_t kLeastForLargePages = 2 * kLargePage;  ///< smaller blocks stay as they are [bytes]

/// Asks the system to use large pages for what of a block they can hold. Nothing but a hint: the content stays, and
/// where there are none, or for a small block, nothing happens. Most useful before the first write. Large pages are
/// resident as a whole, so that up to one more is than was written to.
inline void prefer_large_pages(void* block, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (block == nullptr || bytes < kLeastForLargePages) return;
  const size_t skipped = (0 - reinterpret_cast<uintptr_t>(block)) % kLargePage;
  const size_t inside = (bytes - skipped) / kLargePage * kLargePage;
  static_cast<void>(madvise(static_cast<char*>(block) + skipped, inside, MADV_HUGEPAGE));
#else
  static_cast<void>(block);
  static_cast<void>(bytes);
#endif
}

/// Has the system give all pages of a block now, not when they are written to: a large page can take milliseconds. The
/// content stays.
inline void prefault(void* block, size_t bytes) {
  constexpr size_t kSmallestPage = 4096;
  auto* const at = static_cast<volatile unsigned char*>(block);
  for (size_t i = 0; i < bytes; i += kSmallestPage) at[i] = at[i];
  if (bytes != 0) at[bytes - 1] = at[bytes - 1];
}

}  // namespace meridian
