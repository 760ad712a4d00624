// SPDX-License-Identifier: MIT
#pragma once
/// Memory of one conversion, all from its Allocator: an arena for plans, a stack of offsets, and text. Failure
/// is null or false, and stays so.
///
/// Threads: reentrant.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "meridian/resource/convert.h"
#include "meridian/resource/resource.h"

namespace meridian::detail {

/// Hands out zeroed memory and frees it all at once. For trivially destructible types only.
class ConvertArena {
 public:
  explicit ConvertArena(Allocator& allocator) : allocator_(allocator) {}
  ConvertArena(const ConvertArena&) = delete;
  ConvertArena& operator=(const ConvertArena&) = delete;
  ~ConvertArena() {
    while (chunk_ != nullptr) {
      Chunk* next = chunk_->next;
      allocator_.deallocate(chunk_, chunk_->size, alignof(Chunk));
      chunk_ = next;
    }
  }

  /// `count` zeroed elements, or null. `count` may be 0.
  template <class T>
  T* make(size_t count) {
    void* memory = allocate(count * sizeof(T));
    return memory != nullptr ? new (memory) T[count == 0 ? 1 : count]() : nullptr;
  }

 private:
  struct alignas(16) Chunk {
    Chunk* next;
    size_t size;
  };
  static constexpr size_t kChunk = 16 * 1024;

  void* allocate(size_t bytes) {
    bytes = (bytes + 16 + 15) & ~size_t{15};  // never empty
    if (bytes > left_) {
      const size_t size = bytes + sizeof(Chunk) > kChunk ? bytes + sizeof(Chunk) : kChunk;
      void* memory = allocator_.allocate(size, alignof(Chunk));
      if (memory == nullptr) return nullptr;
      chunk_ = new (memory) Chunk{chunk_, size};
      next_ = static_cast<std::byte*>(memory) + sizeof(Chunk);
      left_ = size - sizeof(Chunk);
    }
    void* out = next_;
    next_ += bytes;
    left_ -= bytes;
    return out;
  }

  Allocator& allocator_;
  Chunk* chunk_ = nullptr;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// An array that grows by doubling, of trivially copyable elements.
template <class T>
class ConvertArray {
 public:
  explicit ConvertArray(Allocator& allocator) : allocator_(allocator) {}
  ConvertArray(const ConvertArray&) = delete;
  ConvertArray& operator=(const ConvertArray&) = delete;
  ~ConvertArray() {
    if (data_ != nullptr) allocator_.deallocate(data_, capacity_ * sizeof(T), kResourceAlignment);
  }

  size_t size() const { return size_; }
  T& operator[](size_t index) { return data_[index]; }
  const T* data() const { return data_; }

  bool grow(size_t count) {
    if (count > capacity_ - size_) {
      const size_t capacity = 2 * capacity_ + count + 64;
      auto* data = static_cast<T*>(allocator_.allocate(capacity * sizeof(T), kResourceAlignment));
      if (data == nullptr) return false;
      if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
      if (data_ != nullptr) allocator_.deallocate(data_, capacity_ * sizeof(T), kResourceAlignment);
      data_ = data;
      capacity_ = capacity;
    }
    size_ += count;
    return true;
  }
  bool append(const T* items, size_t count) {
    if (!grow(count)) return false;
    if (count != 0) std::memcpy(data_ + size_ - count, items, count * sizeof(T));
    return true;
  }
  void shrink(size_t size) { size_ = size; }

  /// Gives the memory away: the caller deallocates capacity * sizeof(T) bytes.
  T* release(size_t& capacity) {
    T* out = data_;
    capacity = capacity_;
    data_ = nullptr;
    size_ = capacity_ = 0;
    return out;
  }

 private:
  Allocator& allocator_;
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace meridian::detail
