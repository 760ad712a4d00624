// SPDX-License-Identifier: MIT
#pragma once
/// How pools lay out their memory: where the element of a slot is, its generation, and the queue of free slots. Part of
/// core/pool.h and its relatives; not for use by itself.
///
/// Generations are odd while a slot is in use and even while it is free: one number says both, and a look-up is one
/// comparison.
///
/// The queue is a ring of slot numbers beside the elements. Links inside the free elements would save 4 bytes a slot,
/// but whoever takes the head would wait for the cache line of an element that was released long ago to learn what
/// comes next; from a ring, lines are asked for ahead of time.
///
/// Threads: as the pool. Memory: one block (FlatSlots), or a table and a block for each page (PagedSlots).

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "meridian/base/memory.h"
#include "meridian/base/poison.h"
#include "meridian/base/status.h"

namespace meridian::detail {

inline constexpr uint32_t kNoSlot = 0xFFFFFFFF;
inline constexpr size_t kCacheLine = 64;
/// Elements whose cache lines are asked for before their turn. A queue has as many entries more, so that looking ahead
/// needs no bounds; whatever is read there is a slot.
inline constexpr uint32_t kLookAhead = 8;

constexpr size_t round_up_to(size_t size, size_t multiple) { return (size + multiple - 1) / multiple * multiple; }
/// Bytes from one element to the next. Poison works on 8 bytes.
constexpr size_t slot_stride(size_t size, size_t alignment) {
  return round_up_to(size < 8 ? 8 : size, alignment < 8 ? 8 : alignment);
}

/// All slots in one block: elements, generations, queue. `kStride` 0: the stride is known only when the pool is made.
template <size_t kStride>
class FlatSlots {
 public:
  Status init(uint32_t capacity, uint32_t first_generation, size_t stride, size_t alignment, Allocator& allocator) {
    stride_ = kStride != 0 ? kStride : stride;
    alignment_ = alignment < kCacheLine ? kCacheLine : alignment;
    const size_t elements = size_t{capacity} * stride_, all = elements + tail_bytes(capacity);
    elements_ = static_cast<std::byte*>(allocator.allocate(all, alignment_));
    if (elements_ == nullptr) return {StatusCode::out_of_memory, "no memory for a pool; detail = its bytes", all};
    capacity_ = capacity;  // not before: a pool that got no memory has no slots
    generations_ = reinterpret_cast<uint32_t*>(elements_ + elements);
    queue_ = generations_ + capacity;
    for (uint32_t i = 0; i < capacity; ++i) generations_[i] = first_generation;
    for (uint32_t i = 0; i < capacity; ++i) queue_[i] = i;
    std::memset(queue_ + capacity, 0, kLookAhead * 4);
    poison(elements_, elements);
    return {};
  }
  void free(Allocator& allocator) {
    if (elements_ == nullptr) return;
    unpoison(elements_, size_t{capacity_} * stride());
    allocator.deallocate(elements_, bytes(), alignment_);
    elements_ = nullptr;
    capacity_ = 0;
  }
  /// Slots that have memory. [count]
  uint32_t count() const { return capacity_; }
  bool grow(Allocator&) { return false; }
  size_t stride() const {
    if constexpr (kStride != 0) return kStride;
    return stride_;
  }
  size_t alignment() const { return alignment_; }
  uint64_t bytes() const { return elements_ == nullptr ? 0 : capacity_ * stride() + tail_bytes(capacity_); }
  std::byte* element(uint32_t slot) const { return elements_ + size_t{slot} * stride(); }
  uint32_t& generation(uint32_t slot) const { return generations_[slot]; }
  uint32_t* queue() const { return queue_; }
  /// The slot that `pointer` is in, or kNoSlot.
  uint32_t slot_of(const void* pointer) const {
    const size_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(elements_);
    const size_t slot = offset / stride();
    return slot < capacity_ ? static_cast<uint32_t>(slot) : kNoSlot;
  }

 private:
  static size_t tail_bytes(uint32_t capacity) { return (size_t{capacity} * 2 + kLookAhead) * 4; }  // generations, queue

  std::byte* elements_ = nullptr;
  uint32_t* generations_ = nullptr;
  uint32_t* queue_ = nullptr;
  uint32_t capacity_ = 0;
  size_t stride_ = kStride != 0 ? kStride : 8, alignment_ = kCacheLine;
};

/// Slots in pages that never move. Before each element stand its generation and its slot.
/// The queue has room for all slots that there may be.
template <size_t kSize, size_t kAlignment>
class PagedSlots {
 public:
  static constexpr size_t kHeader = round_up_to(8, kAlignment < 8 ? 8 : kAlignment);
  static constexpr size_t kStride = kHeader + slot_stride(kSize, kAlignment);
  static constexpr size_t kPageAlignment = kAlignment < kCacheLine ? kCacheLine : kAlignment;

  /// `page` slots a page, a power of two; at most `limit` slots.
  Status init(uint32_t limit, uint32_t page, uint32_t first_generation, Allocator& allocator) {
    first_generation_ = first_generation;
    shift_ = 0;
    while ((uint32_t{1} << shift_) < page) ++shift_;
    most_pages_ = limit / page + (limit % page != 0 ? 1 : 0);
    limit_ = limit;
    pages_ = static_cast<std::byte**>(allocator.allocate(table_bytes(), alignof(std::byte*)));
    if (pages_ == nullptr) {
      return {StatusCode::out_of_memory, "no memory for a pool's table of pages; detail = its bytes", table_bytes()};
    }
    queue_ = reinterpret_cast<uint32_t*>(pages_ + most_pages_);
    std::memset(queue_, 0, (size_t{limit} + kLookAhead) * 4);  // what is looked at ahead of the queue's end
    return {};
  }
  void free(Allocator& allocator) {
    if (pages_ == nullptr) return;
    for (uint32_t i = 0; i < page_count_; ++i) {
      unpoison(pages_[i], page_bytes());
      allocator.deallocate(pages_[i], page_bytes(), kPageAlignment);
    }
    allocator.deallocate(pages_, table_bytes(), alignof(std::byte*));
    pages_ = nullptr;
    page_count_ = 0;
  }
  uint32_t count() const {
    const uint64_t slots = uint64_t{__atomic_load_n(&page_count_, __ATOMIC_ACQUIRE)} << shift_;
    return slots < limit_ ? static_cast<uint32_t>(slots) : limit_;
  }
  /// Adds a page. False: the limit is reached, or there was no memory.
  bool grow(Allocator& allocator) {
    if (page_count_ == most_pages_) return false;
    auto* const page = static_cast<std::byte*>(allocator.allocate(page_bytes(), kPageAlignment));
    if (page == nullptr) return false;
    for (uint32_t i = 0; i < (uint32_t{1} << shift_); ++i) {
      const uint32_t head[2] = {first_generation_, (page_count_ << shift_) + i};
      std::memcpy(page + i * kStride + kHeader - sizeof head, head, sizeof head);
      poison(page + i * kStride + kHeader, kStride - kHeader);
    }
    pages_[page_count_] = page;
    __atomic_store_n(&page_count_, page_count_ + 1, __ATOMIC_RELEASE);  // a locked pool's readers take no lock
    return true;
  }
  uint32_t* queue() const { return queue_; }
  size_t stride() const { return kStride - kHeader; }
  uint64_t bytes() const { return table_bytes() + page_count_ * page_bytes(); }
  std::byte* element(uint32_t slot) const {
    return pages_[slot >> shift_] + (slot & ((uint32_t{1} << shift_) - 1)) * kStride + kHeader;
  }
  uint32_t& generation(uint32_t slot) const { return *reinterpret_cast<uint32_t*>(element(slot) - 8); }
  /// Requires: `pointer` is an element of these pages.
  uint32_t slot_of(const void* pointer) const {
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
    if (!is_in_a_page(pointer)) return kNoSlot;
#endif
    uint32_t slot;
    std::memcpy(&slot, static_cast<const std::byte*>(pointer) - 4, sizeof slot);
    return slot < count() && element(slot) == pointer ? slot : kNoSlot;
  }

 private:
  size_t table_bytes() const { return size_t{most_pages_} * sizeof(std::byte*) + (size_t{limit_} + kLookAhead) * 4; }
  size_t page_bytes() const { return kStride << shift_; }
  bool is_in_a_page(const void* pointer) const {
    const uint32_t pages = __atomic_load_n(&page_count_, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < pages; ++i) {
      const size_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(pages_[i]);
      if (offset >= kHeader && offset < page_bytes()) return true;
    }
    return false;
  }

  std::byte** pages_ = nullptr;
  uint32_t* queue_ = nullptr;
  uint32_t page_count_ = 0, most_pages_ = 0, shift_ = 0, limit_ = 0, first_generation_ = 0;
};

}  // namespace meridian::detail
