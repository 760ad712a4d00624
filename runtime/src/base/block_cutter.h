// SPDX-License-Identifier: MIT
#pragma once
/// Cuts one block of memory into arrays, each at a multiple of 64 bytes. Without a block it only counts: the same code
/// says how many bytes are needed, and then takes them.

#include <cstddef>
#include <memory>

namespace meridian {

class BlockCutter {
 public:
  static constexpr size_t kAlignment = 64;  ///< of the block, too
  static constexpr size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

  explicit BlockCutter(std::byte* block) : block_(block) {}
  /// `count` new values T(), or null where it only counts.
  template <class T>
  T* take(size_t count) {
    static_assert(alignof(T) <= kAlignment);
    T* const out = block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + used_);
    used_ += aligned(count * sizeof(T));
    if (out != nullptr) std::uninitialized_value_construct_n(out, count);
    return out;
  }
  size_t used() const { return used_; }

 private:
  std::byte* block_;
  size_t used_ = 0;
};

}  // namespace meridian
