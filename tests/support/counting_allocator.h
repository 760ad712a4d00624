// SPDX-License-Identifier: MIT
#pragma once
/// Counts heap allocations of this program: malloc and its relatives, and operator new, which calls them. glibc only.
/// Exactly one source file of a test program defines MERIDIAN_DEFINE_COUNTING_ALLOCATOR before including this.
///
///   const uint64_t before = test::allocation_count();
///   frame();
///   EXPECT_EQ(test::allocation_count() - before, 0u);
///
/// Threads: internal; an atomic counter.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace meridian::test {

inline std::atomic<uint64_t> g_allocations{0};
/// Allocations so far, of all threads.
inline uint64_t allocation_count() { return g_allocations.load(std::memory_order_relaxed); }

}  // namespace meridian::test

#ifdef MERIDIAN_DEFINE_COUNTING_ALLOCATOR

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MERIDIAN_HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MERIDIAN_HAS_SANITIZER 1
#endif

#ifdef MERIDIAN_HAS_SANITIZER
// Sanitizers replace malloc themselves, and tell who asks.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, size_t),
                                                         void (*)(const volatile void*));
namespace meridian::test {
inline const int g_hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, size_t) { g_allocations.fetch_add(1, std::memory_order_relaxed); },
    [](const volatile void*) {});
}
#else
// glibc offers the real functions under other names. operator new calls malloc or aligned_alloc.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* pointer, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  meridian::test::g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  meridian::test::g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, size_t size) noexcept {
  meridian::test::g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  meridian::test::g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) noexcept { return aligned_alloc(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  *out = aligned_alloc(alignment, size);
  return *out != nullptr ? 0 : 12;  // ENOMEM
}
}
#endif

#endif
