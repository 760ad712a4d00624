// SPDX-License-Identifier: MIT
#include "meridian/scene/desc_pool.h"

#include <bit>
#include <new>

#include "base/large_pages.h"
#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/core/pool_slots.h"

namespace meridian {
namespace {

constexpr size_t kMostUnits = (size_t{1} << 31) - 1;

constexpr const char* kNotWhileTelling = "on_moved must not change the pool";

}  // namespace

// --- memory -----------------------------------------------------------------------------------------------

Status DescPool::init(const DescPoolConfig& config, Allocator& allocator) {
  static_assert(kDescUnit % alignof(Segment) == 0 && sizeof(Segment) == 28);
  MERIDIAN_ASSERT(memory_ == nullptr, "a pool of descriptors is initialised once");
  if (memory_ != nullptr) return {StatusCode::in_use, "the pool of descriptors is initialised already"};
  const size_t units = config.bytes / kDescUnit;
  if (units == 0 || units > kMostUnits || config.max_blocks == 0 || config.max_blocks > kMaxDescBlocks) {
    return {StatusCode::bad_value, "a pool of descriptors has 64 bytes and one block at least", 0,
            hash_name(config.name)};
  }
  // Holes are one more than blocks at most: between two of them there is a block.
  const uint32_t entries = 2 * config.max_blocks + 1;
  const size_t bytes = units * kDescUnit + entries * sizeof(Segment);
  void* const memory = allocator.allocate(bytes, kDescUnit);
  if (memory == nullptr) {
    return {StatusCode::out_of_memory, "no memory for a pool of descriptors; detail = its bytes", bytes,
            hash_name(config.name)};
  }
  prefer_large_pages(memory, bytes);
  if (config.prefault) prefault(memory, bytes);
  config_ = config;
  allocator_ = &allocator;
  memory_ = static_cast<std::byte*>(memory);
  units_ = static_cast<uint32_t>(units);
  segments_ = reinterpret_cast<Segment*>(at(units_));
  for (uint32_t i = 0; i < entries; ++i) new (segments_ + i) Segment;
  unused_block_ = unused_hole_ = kNone;
  for (uint32_t i = entries; i-- > 0;) give_entry(i);
  used_ = peak_ = fixed_used_ = reserved_ = fixed_end_ = blocks_ = holes_ = 0;
  said_full_ = said_no_block_ = false;
  moves_ = moved_units_ = denied_ = denied_fragmented_ = 0;
  for (uint64_t& word : bins_used_) word = 0;
  for (uint32_t& bin : bins_) bin = kNone;

  const uint32_t hole = take_entry(unused_hole_);
  segments_[hole].units = units_;
  head_ = tail_ = low_ = hole;
  list(hole);
  detail::poison(memory_, units * kDescUnit);
  attach(config.tracker != nullptr ? *config.tracker : default_memory_tracker());
  return {};
}

void DescPool::shutdown() {
  MERIDIAN_ASSERT(!is_telling_, kNotWhileTelling);
  if (memory_ == nullptr || is_telling_) return;
  detach();
  detail::unpoison(memory_, size_t{units_} * kDescUnit);
  const size_t entries = 2 * config_.max_blocks + 1;  // plain data
  allocator_->deallocate(memory_, units_ * kDescUnit + entries * sizeof(Segment), kDescUnit);
  memory_ = nullptr;
  segments_ = nullptr;
  config_.max_blocks = units_ = used_ = fixed_used_ = reserved_ = blocks_ = holes_ = 0;
  head_ = tail_ = low_ = kNone;
  for (uint64_t& word : bins_used_) word = 0;
}

// --- blocks -----------------------------------------------------------------------------------------------

Status DescPool::check_request(size_t bytes, uint32_t& units) {
  MERIDIAN_ASSERT(memory_ != nullptr, "a pool of descriptors is initialised before use");
  MERIDIAN_ASSERT(!is_telling_, kNotWhileTelling);
  MERIDIAN_ASSERT(bytes > 0, "a block of descriptors has a size");
  if (is_telling_) return {StatusCode::in_use, kNotWhileTelling, 0, hash_name(config_.name)};
  if (bytes == 0) return {StatusCode::bad_value, "a block of descriptors has a size", 0, hash_name(config_.name)};
  const size_t whole = bytes / kDescUnit + (bytes % kDescUnit != 0 ? 1 : 0);
  if (memory_ == nullptr) return deny("the pool of descriptors has no memory; detail = bytes", bytes);
  if (whole > units_) {
    ++denied_;
    return {StatusCode::too_large, "larger than the whole pool of descriptors; detail = bytes", bytes,
            hash_name(config_.name)};
  }
  if (unused_block_ == kNone) {
    if (!said_no_block_) {
      said_no_block_ = true;
      log_message(LogLevel::warning, hash_name(config_.name), "%s: all %u blocks are in use: raise max_blocks",
                  config_.name, config_.max_blocks);
    }
    return deny("all blocks of the pool of descriptors are in use; detail = max_blocks", config_.max_blocks);
  }
  units = static_cast<uint32_t>(whole);
  return {};
}

Status DescPool::deny(const char* message, uint64_t detail) {
  ++denied_;
  return {StatusCode::out_of_slots, message, detail, hash_name(config_.name)};
}

Result<DescBlockId> DescPool::deny_full(size_t bytes) {
  if (!said_full_) {
    said_full_ = true;
    log_message(LogLevel::warning, hash_name(config_.name),
                "%s full (%llu bytes, %llu in use) for %llu bytes more: raise its size", config_.name,
                0ull + uint64_t{units_} * kDescUnit, 0ull + uint64_t{used_} * kDescUnit, 0ull + bytes);
  }
  return deny("the pool of descriptors is full; detail = bytes", bytes);
}

Result<DescBlockId> DescPool::deny_fragmented(size_t bytes) {
  ++denied_fragmented_;
  return deny("the pool of descriptors is fragmented: compaction would make room; detail = bytes", bytes);
}

/// Requires: an unused block; the hole is large enough.
DescBlockId DescPool::place(uint32_t units, uint32_t hole, bool is_fixed) {
  const uint32_t block = take_entry(unused_block_);
  segments_[block].units = units;
  segments_[block].is_fixed = is_fixed;
  put_below(block, hole);
  detail::unpoison(at(segments_[block].first), size_t{units} * kDescUnit);
  ++blocks_;
  used_ += units;
  if (used_ > peak_) peak_ = used_;
  return {block};
}

Result<DescBlockId> DescPool::allocate(size_t bytes, bool may_compact) {
  uint32_t units = 0;
  if (const Status status = check_request(bytes, units); !status.ok()) return status;
  if (units > free_units()) return deny_full(bytes);
  uint32_t hole = find_hole(units);
  if (hole == kNone) {
    if (!may_compact) return deny_fragmented(bytes);
    compact_all();
    hole = tail_;
  }
  return place(units, hole, false);
}

/// The lowest hole for a fixed block, in the fixed part or right behind it.
uint32_t DescPool::hole_for_fixed(uint32_t units) const {
  for (uint32_t s = head_; s != kNone && segments_[s].first <= fixed_end_; s = segments_[s].next)
    if (is_hole(s) && segments_[s].units >= units) return s;
  return kNone;
}

Result<DescBlockId> DescPool::allocate_fixed(size_t bytes, bool may_compact) {
  uint32_t units = 0;
  if (const Status status = check_request(bytes, units); !status.ok()) return status;
  uint32_t hole = hole_for_fixed(units);
  if (hole == kNone) {
    if (units > free_units()) return deny_full(bytes);
    if (!may_compact) return deny_fragmented(bytes);
    open_at_low_end(units);
    hole = hole_for_fixed(units);
  }
  const DescBlockId block = place(units, hole, true);
  fixed_used_ += units;
  if (const uint32_t end = end_of(block.value); end > fixed_end_) {
    fixed_end_ = end;
  } else {
    reserved_ -= units;
  }
  return block;
}

void DescPool::free(DescBlockId block) {
  MERIDIAN_ASSERT(!is_telling_, kNotWhileTelling);
  MERIDIAN_ASSERT(is_live(block), "no such block of descriptors");
  if (is_telling_ || !is_live(block)) return;
  const uint32_t first = segments_[block.value].first, end = end_of(block.value), units = end - first;
  const bool was_fixed = segments_[block.value].is_fixed;
  vacate(first, end);
  used_ -= units;
  --blocks_;
  const uint32_t hole = make_hole(block.value);
  give_entry(block.value);
  if (was_fixed) {
    fixed_used_ -= units;
    if (end == fixed_end_) {  // then the fixed part ends where the one before does
      fixed_end_ = segments_[hole].first;
      reserved_ -= first - fixed_end_;
    } else {
      reserved_ += units;
    }
  }
  list(hole);
}

std::byte* DescPool::data(DescBlockId block) const {
  MERIDIAN_ASSERT(is_live(block), "no such block of descriptors");
  return is_live(block) ? at(segments_[block.value].first) : nullptr;
}

size_t DescPool::size(DescBlockId block) const {
  MERIDIAN_ASSERT(is_live(block), "no such block of descriptors");
  return is_live(block) ? size_t{segments_[block.value].units} * kDescUnit : 0;
}

DescPoolStats DescPool::stats() const {
  uint32_t largest = 0;
  for (uint32_t word = kBins / 64; word-- > 0 && largest == 0;) {
    if (bins_used_[word] == 0) continue;
    const auto bin = word * 64 + static_cast<uint32_t>(std::bit_width(bins_used_[word])) - 1;
    for (uint32_t hole = bins_[bin]; hole != kNone; hole = segments_[hole].bin_next)
      if (segments_[hole].units > largest) largest = segments_[hole].units;
  }
  const auto bytes = [](uint64_t units) { return units * kDescUnit; };
  return {.capacity_bytes = bytes(units_),
          .used_bytes = bytes(used_),
          .fixed_bytes = bytes(fixed_used_),
          .peak_bytes = bytes(peak_),
          .free_bytes = bytes(free_units()),
          .reserved_bytes = bytes(reserved_),
          .largest_hole_bytes = bytes(largest),
          .blocks = blocks_,
          .holes = holes_,
          .moves = moves_,
          .moved_bytes = bytes(moved_units_),
          .denied = denied_,
          .denied_fragmented = denied_fragmented_};
}

MemoryRow DescPool::row() const {
  const size_t entries = memory_ != nullptr ? 2 * size_t{config_.max_blocks} + 1 : 0;
  const uint64_t bytes = units_ * kDescUnit + entries * sizeof(Segment);
  return {.name = config_.name,
          .within = allocator_ != nullptr ? allocator_->memory_class() : nullptr,
          .kind = MemoryKind::pool,
          .element_bytes = kDescUnit,
          .capacity = units_,
          .used = used_,
          .peak = peak_,
          .bytes = bytes,
          .peak_bytes = bytes};
}

}  // namespace meridian
