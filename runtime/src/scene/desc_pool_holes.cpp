// SPDX-License-Identifier: MIT
// The inner half of the pool of descriptors: its table of blocks and holes, and how holes are closed.
#include <bit>
#include <cstring>

#include "meridian/base/assert.h"
#include "meridian/core/pool_slots.h"
#include "meridian/scene/desc_pool.h"

namespace meridian {
namespace {

/// Blocks at the upper end that are looked at for one that fits into the lowest hole.
constexpr uint32_t kFillersTried = 8;

}  // namespace

// --- the table: entries, the order of addresses, lists of holes -------------------------------------------

uint32_t DescPool::take_entry(uint32_t& list) {
  const uint32_t entry = list;
  list = segments_[entry].next;
  segments_[entry] = {};
  return entry;
}

void DescPool::give_entry(uint32_t entry) {
  uint32_t& list = is_hole(entry) ? unused_hole_ : unused_block_;
  segments_[entry] = {.next = list};
  list = entry;
}

/// Puts `by` into the place of `entry` in the order of addresses.
void DescPool::replace(uint32_t entry, uint32_t by) {
  const Segment& old = segments_[entry];
  segments_[by].previous = old.previous;
  segments_[by].next = old.next;
  (old.previous != kNone ? segments_[old.previous].next : head_) = by;
  (old.next != kNone ? segments_[old.next].previous : tail_) = by;
  if (low_ == entry) low_ = by;
}

void DescPool::unlink(uint32_t entry) {
  const Segment& s = segments_[entry];
  (s.previous != kNone ? segments_[s.previous].next : head_) = s.next;
  (s.next != kNone ? segments_[s.next].previous : tail_) = s.previous;
  if (low_ == entry) low_ = s.previous != kNone ? s.previous : s.next;
}

/// Requires: there is a next.
void DescPool::swap_with_next(uint32_t entry) {
  Segment& a = segments_[entry];
  const uint32_t other = a.next;
  Segment& b = segments_[other];
  (a.previous != kNone ? segments_[a.previous].next : head_) = other;
  (b.next != kNone ? segments_[b.next].previous : tail_) = entry;
  b.previous = a.previous;
  a.next = b.next;
  a.previous = other;
  b.next = entry;
  if (low_ == entry) low_ = other;
}

/// Sizes below 8 have a bin each; above, a bin has an eighth of a doubling.
uint32_t DescPool::bin_of(uint32_t units) {
  if (units < 8) return units;
  const auto exponent = static_cast<uint32_t>(std::bit_width(units)) - 1;
  return (exponent - 2) * 8 + (units >> (exponent - 3) & 7u);
}

/// Offers a hole. Those in the fixed part are not offered.
void DescPool::list(uint32_t hole) {
  Segment& s = segments_[hole];
  if (s.first < fixed_end_) return;
  const uint32_t bin = bin_of(s.units);
  s.bin = static_cast<uint16_t>(bin);
  s.bin_previous = kNone;
  s.bin_next = bins_[bin];
  if (s.bin_next != kNone) segments_[s.bin_next].bin_previous = hole;
  bins_[bin] = hole;
  bins_used_[bin / 64] |= uint64_t{1} << (bin % 64);
  ++holes_;
  if (s.first < segments_[low_].first) low_ = hole;
}

void DescPool::unlist(uint32_t hole) {
  Segment& s = segments_[hole];
  if (s.bin == kBins) return;
  (s.bin_previous != kNone ? segments_[s.bin_previous].bin_next : bins_[s.bin]) = s.bin_next;
  if (s.bin_next != kNone) segments_[s.bin_next].bin_previous = s.bin_previous;
  if (bins_[s.bin] == kNone) bins_used_[s.bin / 64] &= ~(uint64_t{1} << (s.bin % 64));
  s.bin = kBins;
  --holes_;
}

uint32_t DescPool::find_hole(uint32_t units) const {
  // In the bins from the next size on, each hole is large enough.
  const uint32_t step = units < 8 ? 1 : uint32_t{1} << (std::bit_width(units) - 4);
  const uint32_t from = bin_of(units + step - 1);
  for (uint32_t word = from / 64; word < kBins / 64; ++word) {
    uint64_t bins = bins_used_[word];
    if (word == from / 64) bins &= ~uint64_t{0} << (from % 64);
    if (bins != 0) return bins_[word * 64 + static_cast<uint32_t>(std::countr_zero(bins))];
  }
  // In its own bin, some are.
  for (uint32_t hole = bins_[bin_of(units)]; hole != kNone; hole = segments_[hole].bin_next)
    if (segments_[hole].units >= units) return hole;
  return kNone;
}

/// In the order of addresses, among those outside of the fixed part.
uint32_t DescPool::lowest_hole() {
  for (; low_ != kNone; low_ = segments_[low_].next) {
    if (segments_[low_].bin != kBins) return low_;
    if (segments_[low_].next == kNone) break;
  }
  return kNone;
}

/// Makes one of a hole and the one behind it, if there is one. Requires: `hole` is in no list.
void DescPool::absorb_next(uint32_t hole) {
  const uint32_t next = segments_[hole].next;
  if (!is_hole(next)) return;
  unlist(next);
  segments_[hole].units += segments_[next].units;
  unlink(next);
  give_entry(next);
}

/// Turns a block's place into a hole, one with those beside it. The block is then nowhere, and the hole in no list.
uint32_t DescPool::make_hole(uint32_t block) {
  Segment& b = segments_[block];
  uint32_t hole = b.previous;
  if (is_hole(hole)) {
    unlist(hole);
    segments_[hole].units += b.units;
    unlink(block);
  } else {
    hole = take_entry(unused_hole_);
    segments_[hole].first = b.first;
    segments_[hole].units = b.units;
    replace(block, hole);
  }
  absorb_next(hole);
  return hole;
}

/// Gives the low end of a hole to a block that is nowhere. Offers what is left.
void DescPool::put_below(uint32_t block, uint32_t hole) {
  unlist(hole);
  Segment &b = segments_[block], &h = segments_[hole];
  b.first = h.first;
  if (h.units == b.units) {
    replace(hole, block);
    give_entry(hole);
    return;
  }
  h.first += b.units;
  h.units -= b.units;
  b.next = hole;
  b.previous = h.previous;
  (h.previous != kNone ? segments_[h.previous].next : head_) = block;
  h.previous = block;
  list(hole);
}

// --- compaction -------------------------------------------------------------------------------------------

/// Nobody may touch units [first, last) any more.
void DescPool::vacate(uint32_t first, uint32_t last) {
  if (first >= last) return;
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  std::memset(at(first), 0xDD, size_t{last - first} * kDescUnit);
#endif
  detail::poison(at(first), size_t{last - first} * kDescUnit);
}

/// Only the bytes: the block's entry still says where they were.
void DescPool::copy_units(uint32_t block, uint32_t to) {
  const uint32_t from = segments_[block].first, units = segments_[block].units;
  detail::unpoison(at(to), size_t{units} * kDescUnit);
  std::memmove(at(to), at(from), size_t{units} * kDescUnit);
  if (to < from) {
    vacate(to + units > from ? to + units : from, from + units);
  } else {
    vacate(from, from + units < to ? from + units : to);
  }
  ++moves_;
  moved_units_ += units;
}

void DescPool::tell_moved(uint32_t block) {
  if (config_.on_moved == nullptr) return;
  is_telling_ = true;
  config_.on_moved(config_.user, {block}, at(segments_[block].first));
  is_telling_ = false;
}

/// The largest block that fits into the lowest hole, among the last few; kNone if none does, or the next one is it.
uint32_t DescPool::filler_for(uint32_t hole) const {
  uint32_t best = kNone, tried = 0;
  const uint32_t room = segments_[hole].units, next = segments_[hole].next;
  for (uint32_t s = tail_; s != next && tried < kFillersTried; s = segments_[s].previous) {
    if (is_hole(s)) continue;
    ++tried;
    const uint32_t units = segments_[s].units;
    if (units <= room && (best == kNone || units > segments_[best].units)) best = s;
  }
  return best;
}

/// Exchanges a hole and the block above it.
void DescPool::slide_down(uint32_t hole) {
  unlist(hole);
  const uint32_t block = segments_[hole].next;
  copy_units(block, segments_[hole].first);
  segments_[block].first = segments_[hole].first;
  segments_[hole].first += segments_[block].units;
  swap_with_next(hole);
  absorb_next(hole);
  list(hole);
  tell_moved(block);
}

/// Moves a block into the low end of a hole that is not beside it.
void DescPool::jump(uint32_t block, uint32_t hole) {
  copy_units(block, segments_[hole].first);
  list(make_hole(block));
  put_below(block, hole);
  tell_moved(block);
}

size_t DescPool::compact_round(size_t max_bytes) {
  MERIDIAN_ASSERT(!is_telling_, "on_moved must not change the pool");
  if (is_telling_) return 0;
  size_t moved = 0;
  for (uint32_t hole = lowest_hole(); hole != kNone && hole != tail_; hole = lowest_hole()) {
    const uint32_t filler = filler_for(hole);
    const uint32_t block = filler != kNone ? filler : segments_[hole].next;
    const size_t bytes = size_t{segments_[block].units} * kDescUnit;
    if (moved != 0 && moved + bytes > max_bytes) break;
    if (filler != kNone) {
      jump(block, hole);
    } else {
      slide_down(hole);
    }
    moved += bytes;
  }
  return moved;
}

/// Leaves a hole of at least `units` where the fixed part ends. Requires: so many are free outside of it.
void DescPool::open_at_low_end(uint32_t units) {
  const uint32_t end = fixed_end_ + units;
  uint32_t first = head_;
  while (segments_[first].first < fixed_end_) first = segments_[first].next;

  // Those in the way go into the hole at the upper end, if it is not beside them and takes all. Where they were becomes
  // one hole, step by step, so the next one is always the first block.
  uint32_t in_the_way = 0, above = first;
  for (; above != kNone && segments_[above].first < end; above = segments_[above].next)
    if (!is_hole(above)) in_the_way += segments_[above].units;
  if (above != kNone && above != tail_ && is_hole(tail_) && segments_[tail_].units >= in_the_way) {
    const uint32_t last_fixed = segments_[first].previous;
    for (;;) {
      uint32_t block = last_fixed != kNone ? segments_[last_fixed].next : head_;
      if (is_hole(block)) block = segments_[block].next;
      if (segments_[block].first >= end) return;
      jump(block, tail_);
    }
  }

  // Otherwise the holes up to where they are enough come down to the low end, one with the other.
  uint32_t hole = first, found = 0;
  for (uint32_t s = first; found < units; s = segments_[s].next) {
    if (!is_hole(s)) continue;
    found += segments_[s].units;
    hole = s;
  }
  unlist(hole);
  while (segments_[hole].first > fixed_end_) {
    const uint32_t below = segments_[hole].previous;
    if (is_hole(below)) {
      unlist(below);
      absorb_next(below);
      hole = below;
      continue;
    }
    const uint32_t from = segments_[below].first;
    copy_units(below, end_of(hole) - segments_[below].units);
    segments_[below].first = end_of(hole) - segments_[below].units;
    segments_[hole].first = from;
    swap_with_next(below);
    tell_moved(below);
  }
  list(hole);
}

}  // namespace meridian
