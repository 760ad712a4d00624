// SPDX-License-Identifier: MIT
#pragma once
/// An Allocator that knows what it gave. Its count of bytes is the other side of every account of memory.
///
///   test::CheckedMemory memory;
///   memory.fail_after(1);                        // one more allocation, then null
///   ...
///   EXPECT_EQ(memory.bytes(), tracker.total_bytes());
///
/// Fails the test where memory is given back with another size or alignment, twice, or not at all.
/// Threads: internal; a mutex.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "meridian/base/memory.h"

namespace meridian::test {

class CheckedMemory final : public Allocator {
 public:
  CheckedMemory() = default;
  CheckedMemory(const CheckedMemory&) = delete;
  CheckedMemory& operator=(const CheckedMemory&) = delete;
  ~CheckedMemory() override { EXPECT_EQ(blocks_.size(), 0u) << "blocks that were not given back"; }

  void* allocate(size_t bytes, size_t alignment) override {
    const std::lock_guard lock(mutex_);
    if (left_ == 0) return nullptr;
    if (left_ > 0) --left_;
    const size_t multiple = alignment < sizeof(void*) ? sizeof(void*) : alignment;
    void* const pointer = std::aligned_alloc(multiple, bytes / multiple * multiple + multiple);
    blocks_[pointer] = {bytes, alignment};
    bytes_ += bytes;
    if (bytes_ > peak_bytes_) peak_bytes_ = bytes_;
    ++calls_;
    return pointer;
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    if (pointer == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto at = blocks_.find(pointer);
    if (at == blocks_.end()) {
      ADD_FAILURE() << "given back, but not taken here";
      return;
    }
    EXPECT_EQ(at->second.bytes, bytes);
    EXPECT_EQ(at->second.alignment, alignment);
    bytes_ -= at->second.bytes;
    blocks_.erase(at);
    std::free(pointer);
  }

  /// Allocations that still succeed; negative: all.
  void fail_after(int allocations) { left_ = allocations; }
  uint64_t bytes() const { return bytes_; }            ///< held now, as asked for [bytes]
  uint64_t peak_bytes() const { return peak_bytes_; }  ///< [bytes]
  uint64_t blocks() const { return blocks_.size(); }   ///< [count]
  uint64_t calls() const { return calls_; }            ///< allocations that succeeded [count]

 private:
  struct Block {
    size_t bytes = 0, alignment = 0;
  };
  std::mutex mutex_;
  std::map<void*, Block> blocks_;
  uint64_t bytes_ = 0, peak_bytes_ = 0, calls_ = 0;
  int left_ = -1;
};

}  // namespace meridian::test
