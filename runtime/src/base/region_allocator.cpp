// SPDX-License-Identifier: MIT
#include "meridian/base/region_allocator.h"

#include <algorithm>
#include <bit>

#include "base/large_pages.h"
#include "meridian/base/poison.h"

namespace meridian {
namespace {

constexpr size_t kGranule = 16;                     // of sizes and addresses of blocks [bytes]
constexpr size_t kLine = 64;                        // blocks aligned to it are as large as a number of lines [bytes]
constexpr uint32_t kSecondBits = 5;                 // log2 of the lists for each power of two
constexpr size_t kSmall = kGranule << kSecondBits;  // smaller ones have a list for each size [bytes]
constexpr uint32_t kFirstShift = 8;                 // log2(kSmall) - 1: list 1 begins at kSmall
constexpr uint32_t kMostLooks = 64;                 // blocks of one list that are looked at
constexpr size_t kFree = 1;                         // in Block::size

constexpr size_t round_up(size_t size, size_t multiple) { return (size + multiple - 1) & ~(multiple - 1); }

}  // namespace

// A header lies in front of its block's bytes. The two links overlay those bytes while the block is free.
// Blocks follow each other without gaps, from base_ to a header of size 0 at the end, which counts as live: each block
// finds both neighbours by the two sizes, and is known as a block by their agreeing with it. A header dies by joining
// and is then set to 0.
struct RegionAllocator::Block {
  size_t size;      ///< from this header to the next, with kFree [bytes]
  size_t previous;  ///< size of the block before, without kFree; 0 for the first [bytes]
  Block* next_in_list;
  Block* previous_in_list;

  bool is_free() const { return (size & kFree) != 0; }
  size_t bytes() const { return size & ~kFree; }
  std::byte* address() { return reinterpret_cast<std::byte*>(this); }
  std::byte* payload() { return address() + kHeaderBytes; }
  Block* next() { return reinterpret_cast<Block*>(address() + bytes()); }
  Block* before() { return reinterpret_cast<Block*>(address() - previous); }
  /// What an aligned block leaves in front of itself: nothing, or enough for a block.
  size_t gap_for(size_t alignment) {
    const size_t gap = (0 - reinterpret_cast<uintptr_t>(payload())) & (alignment - 1);
    return gap != 0 && gap < kMinBlockBytes ? gap + alignment : gap;
  }
};

Status RegionAllocator::init(const RegionConfig& config) {
  MERIDIAN_ASSERT(blocks_ == 0, "a region outlives what it gave");
  if (blocks_ != 0) return {StatusCode::in_use, "blocks of the region live; detail = their number", blocks_};
  release();
  detach();
  name_ = config.name;
  allocator_ = config.allocator;
  const size_t bytes = config.memory.empty() ? config.bytes : config.memory.size();
  if (bytes < kMinBytes) return {StatusCode::too_small, "a region is at least 128 bytes; detail = its size", bytes};
  if (bytes > kMaxBytes) return {StatusCode::too_large, "a region is at most 1 TiB; detail = its size", bytes};
  region_ = config.memory;
  if (region_.empty()) {
    if (allocator_ == nullptr) allocator_ = &default_allocator();
    void* const block = allocator_->allocate(bytes, kLine);
    if (block == nullptr) return {StatusCode::out_of_memory, "no memory for a region; detail = its size", bytes};
    region_ = {static_cast<std::byte*>(block), bytes};
    is_taken_ = true;
  }
  if (config.prefault) prefault(region_.data(), bytes);
  // The first block's bytes begin with a cache line.
  const auto begin = reinterpret_cast<uintptr_t>(region_.data());
  const uintptr_t first = round_up(begin + kHeaderBytes, kLine) - kHeaderBytes;
  const uintptr_t last = (begin + bytes - kHeaderBytes) & ~(kGranule - 1);  // the header that ends the region
  base_ = region_.data() + (first - begin);
  capacity_ = last - first;
  Block* const all = block_at(0);
  all->size = capacity_;
  all->previous = 0;
  all->next()->size = 0;
  all->next()->previous = capacity_;
  insert(all);
  detail::poison(all->address() + kMinBlockBytes, capacity_ - kMinBlockBytes);
  attach(config.tracker != nullptr ? *config.tracker : default_memory_tracker());
  return {};
}

void RegionAllocator::release() {
  if (base_ != nullptr) detail::unpoison(base_, capacity_);
  if (is_taken_) allocator_->deallocate(region_.data(), region_.size(), kLine);
  first_mask_ = 0;
  std::fill_n(second_mask_, kFirst, 0u);
  std::fill_n(&lists_[0][0], size_t{kFirst} * kSecond, nullptr);
  base_ = nullptr;
  capacity_ = used_ = peak_ = 0;
  blocks_ = free_ = failed_ = 0;
  region_ = {};
  allocator_ = nullptr;
  is_taken_ = false;
}

RegionAllocator::Block* RegionAllocator::block_at(size_t offset) const {
  return reinterpret_cast<Block*>(base_ + offset);
}

/// What stands at a place that may be no header, or not accessible: hence no sanitizer here.
__attribute__((no_sanitize("address"))) RegionAllocator::Header RegionAllocator::header_at(size_t offset) const {
  const auto* const block = reinterpret_cast<const Block*>(base_ + offset);
  const size_t size = block->size;
  return {.size = size & ~kFree, .previous = block->previous, .is_free = (size & kFree) != 0};
}

size_t RegionAllocator::offset_of(const Block* block) const {
  return static_cast<size_t>(reinterpret_cast<const std::byte*>(block) - base_);
}

/// The list that a free block of this size is in.
RegionAllocator::List RegionAllocator::list_of(size_t size) {
  if (size < kSmall) return {0, static_cast<uint32_t>(size / kGranule)};
  const auto log2 = static_cast<uint32_t>(std::bit_width(size) - 1);
  return {log2 - kFirstShift, static_cast<uint32_t>(size >> (log2 - kSecondBits)) & (kSecond - 1)};
}

/// The size of a block for a request that is no larger than the region. Blocks of whole lines leave the next block at
/// the beginning of a line too, so a row of aligned ones has no gaps.
size_t RegionAllocator::size_for(size_t bytes, size_t alignment) {
  const size_t multiple = std::clamp(alignment, kGranule, kLine);
  return std::max(round_up(bytes + kHeaderBytes, multiple), kMinBlockBytes);
}

void RegionAllocator::insert(Block* block) {
  const List list = list_of(block->bytes());
  Block*& head = lists_[list.first][list.second];
  block->size |= kFree;
  block->next_in_list = head;
  block->previous_in_list = nullptr;
  if (head != nullptr) head->previous_in_list = block;
  head = block;
  second_mask_[list.first] |= 1u << list.second;
  first_mask_ |= uint64_t{1} << list.first;
  ++free_;
}

void RegionAllocator::remove(Block* block) {
  const List list = list_of(block->bytes());
  block->size &= ~kFree;
  Block* const next = block->next_in_list;
  Block* const previous = block->previous_in_list;
  if (next != nullptr) next->previous_in_list = previous;
  --free_;
  if (previous != nullptr) {
    previous->next_in_list = next;
    return;
  }
  lists_[list.first][list.second] = next;
  if (next != nullptr) return;
  second_mask_[list.first] &= ~(1u << list.second);
  if (second_mask_[list.first] == 0) first_mask_ &= ~(uint64_t{1} << list.first);
}

/// A block of the first list of which all are at least this large, or null.
RegionAllocator::Block* RegionAllocator::find(size_t size) const {
  if (size >= kSmall) size += (size_t{1} << (std::bit_width(size) - 1 - static_cast<int>(kSecondBits))) - 1;
  const List list = list_of(size);
  if (list.first >= kFirst) return nullptr;
  uint32_t first = list.first;
  uint32_t seconds = second_mask_[first] & (~0u << list.second);
  if (seconds == 0) {
    const uint64_t firsts = first_mask_ & (~uint64_t{1} << first);
    if (firsts == 0) return nullptr;
    first = static_cast<uint32_t>(std::countr_zero(firsts));
    seconds = second_mask_[first];
  }
  return lists_[first][std::countr_zero(seconds)];
}

/// A block of this list in which there is room for an aligned one of this size, or null.
RegionAllocator::Block* RegionAllocator::find_in(List list, size_t size, size_t alignment) const {
  Block* block = lists_[list.first][list.second];
  for (uint32_t looks = 0; block != nullptr && looks < kMostLooks; ++looks, block = block->next_in_list) {
    const size_t gap = block->gap_for(alignment);
    if (gap <= block->bytes() && size <= block->bytes() - gap) return block;
  }
  return nullptr;
}

/// A free block in which there is room, or null. At best one that begins right; then one that is large enough wherever
/// it begins. When neither is there, the region is nearly full and a little luck may still be had: blocks of the list
/// that this size itself belongs to may be large enough, and those of the list that was found first may begin right.
RegionAllocator::Block* RegionAllocator::find_for(size_t size, size_t alignment) const {
  Block* const near = find(size);
  if (near != nullptr) {
    const size_t gap = near->gap_for(alignment);
    if (gap <= near->bytes() && size <= near->bytes() - gap) return near;
    Block* const large = find(size + alignment + kMinBlockBytes - kGranule);
    if (large != nullptr) return large;
  }
  Block* const lucky = find_in(list_of(size), size, alignment);
  if (lucky != nullptr || near == nullptr) return lucky;
  return find_in(list_of(near->bytes()), size, alignment);
}

/// Makes a free block a live one of `size`, and leaves what is in front of it and behind it as free blocks.
RegionAllocator::Block* RegionAllocator::cut(Block* block, size_t size, size_t alignment) {
  remove(block);
  Block* const end = block->next();
  size_t left = block->bytes();
  const size_t gap = block->gap_for(alignment);
  if (gap != 0) {
    Block* const front = block;
    front->size = gap;
    block = front->next();
    left -= gap;
    detail::unpoison(block, kHeaderBytes);
    block->previous = gap;
    insert(front);
  }
  if (left - size >= kMinBlockBytes) {
    auto* const rest = reinterpret_cast<Block*>(block->address() + size);
    detail::unpoison(rest, kMinBlockBytes);
    rest->size = end->previous = left - size;
    rest->previous = size;
    insert(rest);
    left = size;
  } else {
    end->previous = left;
  }
  block->size = left;
  return block;
}

void* RegionAllocator::take(size_t bytes, size_t alignment) {
  const bool is_right = std::has_single_bit(alignment) && alignment <= kMaxAlignment;
  MERIDIAN_ASSERT(is_right, "alignment is a power of two, at most 4096");
  if (!is_right) return nullptr;
  alignment = std::max(alignment, kGranule);
  const size_t size = bytes < capacity_ ? size_for(bytes, alignment) : 0;
  Block* const found = size != 0 && size <= capacity_ ? find_for(size, alignment) : nullptr;
  if (found == nullptr) {
    ++failed_;
    return nullptr;
  }
  Block* const block = cut(found, size, alignment);
  used_ += block->size;
  peak_ = std::max(peak_, used_);
  ++blocks_;
  detail::unpoison(block->payload(), bytes);
  detail::poison(block->payload() + bytes, block->size - kHeaderBytes - bytes);
  return block->payload();
}

/// Whether the header in front of an address is a live block's. Reads nothing outside of the region.
bool RegionAllocator::is_live(const void* pointer) const {
  if (!owns(pointer)) return false;
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(pointer) - kHeaderBytes - base_);
  if (offset % kGranule != 0) return false;
  const Header here = header_at(offset);
  if (here.is_free || here.size % kGranule != 0) return false;
  if (here.size < kMinBlockBytes || here.size > capacity_ - offset) return false;
  if (here.previous % kGranule != 0 || here.previous > offset || (here.previous == 0) != (offset == 0)) return false;
  if (header_at(offset + here.size).previous != here.size) return false;
  return here.previous == 0 || header_at(offset - here.previous).size == here.previous;
}

void RegionAllocator::give_back(void* pointer, size_t bytes, size_t alignment) {
  if (pointer == nullptr) return;
  const bool lives = is_live(pointer);
  MERIDIAN_ASSERT(lives, "a region takes back what lives in it, once");
  if (!lives) return;
  auto* block = reinterpret_cast<Block*>(static_cast<std::byte*>(pointer) - kHeaderBytes);
  size_t size = block->size;
  // What could not be split off is less than a block.
  const size_t asked = bytes < capacity_ ? size_for(bytes, alignment) : capacity_;
  const bool is_size = size >= asked && size - asked < kMinBlockBytes;
  MERIDIAN_ASSERT(is_size, "a block is given back with the size and alignment that it was asked for with");
  if (!is_size) return;
  used_ -= size;
  --blocks_;
  Block* const next = block->next();
  detail::unpoison(block, kMinBlockBytes);
  if (next->is_free()) {
    remove(next);
    size += next->size;
    next->size = next->previous = 0;
    detail::poison(next, kMinBlockBytes);
  }
  if (block->previous != 0 && block->before()->is_free()) {
    Block* const before = block->before();
    remove(before);
    const size_t joined = before->size;
    block->size = block->previous = 0;
    detail::poison(block, size);
    block = before;
    size += joined;
  } else {
    detail::poison(block->address() + kMinBlockBytes, size - kMinBlockBytes);
  }
  block->size = size;
  block->next()->previous = size;
  insert(block);
}

bool RegionAllocator::owns(const void* pointer) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer), base = reinterpret_cast<uintptr_t>(base_);
  return address >= base + kHeaderBytes && address - base < capacity_;
}

size_t RegionAllocator::largest_free() const {
  if (first_mask_ == 0) return 0;
  const auto first = static_cast<uint32_t>(std::bit_width(first_mask_) - 1);
  const auto second = static_cast<uint32_t>(std::bit_width(second_mask_[first]) - 1);
  size_t largest = 0;
  const Block* block = lists_[first][second];
  for (uint32_t looks = 0; block != nullptr && looks < kMostLooks; ++looks, block = block->next_in_list) {
    largest = std::max(largest, block->bytes());
  }
  return largest - kHeaderBytes;
}

Status RegionAllocator::validate() const {
  const auto wrong = [](const char* what, size_t offset) { return Status{StatusCode::bad_structure, what, offset}; };
  size_t previous = 0, used = 0, offset = 0;
  uint64_t live = 0, free = 0;
  for (bool was_free = false; offset < capacity_; offset += previous) {
    const Header here = header_at(offset);
    if (here.size % kGranule != 0 || here.size < kMinBlockBytes || here.size > capacity_ - offset) {
      return wrong("a block's size is none; detail = its offset", offset);
    }
    if (here.previous != previous) return wrong("a block does not know the one before; detail = its offset", offset);
    if (here.is_free && was_free) return wrong("two free blocks touch; detail = the second's offset", offset);
    was_free = here.is_free;
    previous = here.size;
    ++(was_free ? free : live);
    used += was_free ? 0 : here.size;
  }
  if (capacity_ != 0) {
    const Header end = header_at(capacity_);
    if (end.size != 0 || end.is_free || end.previous != previous) {
      return wrong("the end of the region was written to; detail = its offset", capacity_);
    }
  }
  if (live != blocks_ || free != free_ || used != used_) {
    return wrong("counts are not those of the blocks; detail = bytes of live ones", used);
  }
  if (!lists_are_right(free)) return wrong("lists are not those of the free blocks; detail = their number", free);
  return {};
}

/// Whether the lists hold this many blocks, each free, in its own list, and known to the masks.
bool RegionAllocator::lists_are_right(uint64_t blocks) const {
  uint64_t found = 0;
  for (uint32_t first = 0; first < kFirst; ++first) {
    if (((first_mask_ >> first & 1) != 0) != (second_mask_[first] != 0)) return false;
    for (uint32_t second = 0; second < kSecond; ++second) {
      const Block* previous = nullptr;
      const Block* block = lists_[first][second];
      if ((block != nullptr) != ((second_mask_[first] >> second & 1) != 0)) return false;
      for (; block != nullptr; previous = block, block = block->next_in_list) {
        const bool is_inside = owns(reinterpret_cast<const std::byte*>(block) + kHeaderBytes);
        if (++found > blocks || !is_inside || offset_of(block) % kGranule != 0) return false;
        const Header here = header_at(offset_of(block));
        if (!here.is_free || here.size > capacity_ || block->previous_in_list != previous) return false;
        const List list = list_of(here.size);
        if (list.first != first || list.second != second) return false;
      }
    }
  }
  return found == blocks;
}

MemoryRow RegionAllocator::row() const {
  return {.name = name_,
          .within = allocator_ != nullptr ? allocator_->memory_class() : nullptr,
          .kind = MemoryKind::region,
          .capacity = capacity_,
          .used = used_,
          .peak = peak_,
          .bytes = region_.size(),
          .peak_bytes = region_.size()};
}

}  // namespace meridian
