// SPDX-License-Identifier: MIT
#pragma once
/// Rounding to nearest and small numbers kept as they are, while an object of this lives: what loops need whose results
/// must not depend on the thread that runs them. Hosts set other modes for threads that do audio or physics.

#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace meridian {

class FloatMode {
 public:
  FloatMode() : before_(read()) {
    if ((before_ & kModes) != 0) write(before_ & ~kModes);
  }
  ~FloatMode() {
    if ((before_ & kModes) != 0) write(before_);
  }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
#if defined(__x86_64__) || defined(_M_X64)
  using Word = uint32_t;
  static constexpr Word kModes = 0xE040;  // flush to zero, rounding, denormals are zero
  static Word read() { return _mm_getcsr(); }
  static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kModes = Word{7} << 22;  // flush to zero, rounding
  static Word read() {
    Word word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#else
  using Word = uint32_t;
  static constexpr Word kModes = 0;
  static Word read() { return 0; }
  static void write(Word) {}
#endif

  Word before_;
};

}  // namespace meridian
