// SPDX-License-Identifier: MIT
#include "meridian/base/arena.h"

#include <algorithm>

#include "meridian/base/assert.h"

namespace meridian {

Arena::Arena(const char* name, size_t bytes, Allocator& allocator, MemoryTracker& tracker) : name_(name) {
  auto* const block = bytes > 0 ? static_cast<std::byte*>(allocator.allocate(bytes, kBlockAlignment)) : nullptr;
  if (block != nullptr) {
    block_ = {block, bytes};
    allocator_ = &allocator;
  }
  attach(tracker);
}

void* Arena::allocate(size_t bytes, size_t alignment) {
  const bool is_power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  MERIDIAN_ASSERT(is_power_of_two, "alignment is a power of two");
  if (!is_power_of_two) return nullptr;
  // Of the address, since a caller's block may start anywhere.
  const auto address = reinterpret_cast<uintptr_t>(block_.data()) + used_;
  const size_t gap = (0 - address) & (alignment - 1);
  const size_t left = block_.size() - used_;
  if (gap > left || bytes > left - gap || block_.empty()) {
    ++failed_;
    return nullptr;
  }
  std::byte* const place = block_.data() + used_ + gap;
  used_ += gap + bytes;
  peak_ = std::max(peak_, used_);
  return place;
}

void Arena::rewind(size_t marker) {
  MERIDIAN_ASSERT(marker <= used_, "an arena rewinds to a place before");
  used_ = std::min(used_, marker);
}

MemoryRow Arena::row() const {
  return {.name = name_,
          .within = allocator_ != nullptr ? allocator_->memory_class() : nullptr,
          .kind = MemoryKind::pool,
          .element_bytes = 1,
          .capacity = block_.size(),
          .used = used_,
          .peak = peak_,
          .bytes = block_.size(),
          .peak_bytes = block_.size()};
}

}  // namespace meridian
