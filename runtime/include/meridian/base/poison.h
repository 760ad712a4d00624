// SPDX-License-Identifier: MIT
#pragma once
/// Free memory that its owner keeps, hidden from the program by AddressSanitizer; without it, nothing is done. Part of
/// pools and of base/region_allocator.h; not for use by itself.
///
/// MERIDIAN_POISON_FREE_SLOTS is defined where poison works. It works on groups of 8 bytes: one can be hidden as a
/// whole, or from somewhere to its end.
///
/// Threads: reentrant.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define MERIDIAN_POISON_FREE_SLOTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MERIDIAN_POISON_FREE_SLOTS 1
#endif
#endif
#ifdef MERIDIAN_POISON_FREE_SLOTS
extern "C" void __asan_poison_memory_region(const volatile void* address, size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* address, size_t size);
#endif

namespace meridian::detail {

/// Nobody may touch these bytes from now on, as far as AddressSanitizer can see to it.
inline void poison([[maybe_unused]] const void* address, [[maybe_unused]] size_t bytes) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  __asan_poison_memory_region(address, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* address, [[maybe_unused]] size_t bytes) {
#ifdef MERIDIAN_POISON_FREE_SLOTS
  __asan_unpoison_memory_region(address, bytes);
#endif
}

}  // namespace meridian::detail
