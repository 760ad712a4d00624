// SPDX-License-Identifier: MIT
#include "visibility/pvs_stream.h"

#include <algorithm>

#include "meridian/base/assert.h"

namespace meridian {

void PvsStream::init(std::span<PvsEntry> entries, std::span<Block> blocks, std::span<Slice> slices) {
  entries_ = entries;
  blocks_ = blocks;
  slices_ = slices;
}

void PvsStream::begin(uint32_t epoch, bool ordered) {
  epoch_ = epoch;
  is_ordered_ = ordered;
  needed_.store(0, std::memory_order_relaxed);
  claimed_blocks_.store(0, std::memory_order_relaxed);
  order_count_.store(0, std::memory_order_relaxed);
  sleeper_.store(0, std::memory_order_relaxed);
  signal_.store(0, std::memory_order_release);
}

void PvsStream::set_order(uint32_t slices, std::span<const uint32_t> order) {
  MERIDIAN_ASSERT(is_ordered_, "readers take blocks as they come");
  for (Slice& slice : slices_.first(slices)) slice.first = slice.last = kNoBlock;
  order_ = order.data();
  order_count_.store(static_cast<uint32_t>(order.size()), std::memory_order_release);
}

void PvsStream::write(uint32_t slice, const PvsEntry* entries, uint32_t count) {
  MERIDIAN_ASSERT(count <= kPvsBlockEntries, "a block is larger than blocks are");
  const uint32_t first = needed_.fetch_add(count, std::memory_order_relaxed);
  const auto capacity = static_cast<uint32_t>(entries_.size());
  if (first >= capacity || count == 0) return;
  const uint32_t fits = std::min(count, capacity - first);
  std::copy_n(entries, fits, entries_.data() + first);
  const uint32_t index = claimed_blocks_.fetch_add(1, std::memory_order_relaxed);
  MERIDIAN_ASSERT(index < blocks_.size(), "more blocks than there can be");
  Block& block = blocks_[index];
  block.first = first;
  block.count = fits;
  block.next = kNoBlock;
  if (is_ordered_) {  // a slice is one job's
    Slice& of = slices_[slice];
    (of.first == kNoBlock ? of.first : blocks_[of.last].next) = index;
    of.last = index;
    return;
  }
  block.ready.store(epoch_, std::memory_order_seq_cst);
  advance();
}

void PvsStream::finish_slice(uint32_t slice) {
  if (!is_ordered_) return;
  slices_[slice].done.store(epoch_, std::memory_order_seq_cst);
  wake(signal_.fetch_add(1, std::memory_order_seq_cst) + 1);
}

// Sequentially consistent, with `ready` above: of two that complete neighbours, one at least sees both done.
void PvsStream::advance() {
  uint32_t at = signal_.load(std::memory_order_seq_cst), now = 0;
  while (at < blocks_.size() && blocks_[at].ready.load(std::memory_order_seq_cst) == epoch_) {
    if (signal_.compare_exchange_weak(at, at + 1, std::memory_order_seq_cst)) {
      now = ++at;
    }
  }
  if (now != 0) wake(now);
}

void PvsStream::end() { wake(signal_.fetch_or(kEnded, std::memory_order_seq_cst) | kEnded); }

// Once until somebody sleeps again: then nobody slept on what `now` replaced, and the mark goes. A higher mark is of a
// reader that has seen `now` by itself already, and sleeps on it: the next change is to wake it, and finds its mark.
void PvsStream::wake(uint32_t now) {
  uint32_t mark = sleeper_.load(std::memory_order_seq_cst);
  if (mark == 0) return;
  if (mark <= now) sleeper_.compare_exchange_strong(mark, 0, std::memory_order_seq_cst);
  signal_.notify_all();
}

PvsStream::Next PvsStream::next(uint32_t& at, uint32_t& at_slice, std::span<const PvsEntry>& block,
                                uint32_t& seen) const {
  seen = signal_.load(std::memory_order_seq_cst);
  const bool has_ended = (seen & kEnded) != 0;
  const auto give = [&](const Block& of) {
    block = {entries_.data() + of.first, of.count};
    return Next::block;
  };
  if (!is_ordered_) {
    if (at < (seen & ~kEnded)) return give(blocks_[at++]);
    return has_ended ? Next::end : Next::wait;
  }
  // `at` is one more than the block given last of the slice, 0 before the first.
  const uint32_t count = order_count_.load(std::memory_order_acquire);
  while (at_slice < count) {
    const Slice& slice = slices_[order_[at_slice]];
    if (slice.done.load(std::memory_order_seq_cst) != epoch_) {
      if (!has_ended) return Next::wait;
      ++at_slice;  // it was cancelled
      at = 0;
      continue;
    }
    const uint32_t index = at == 0 ? slice.first : blocks_[at - 1].next;
    if (index != kNoBlock) {
      at = index + 1;
      return give(blocks_[index]);
    }
    ++at_slice;
    at = 0;
  }
  return has_ended ? Next::end : Next::wait;
}

void PvsStream::sleep(uint32_t seen) {
  // Never lower: another reader may sleep on something newer.
  uint32_t mark = sleeper_.load(std::memory_order_seq_cst);
  while (mark < seen + 1 && !sleeper_.compare_exchange_weak(mark, seen + 1, std::memory_order_seq_cst)) continue;
  if (signal_.load(std::memory_order_seq_cst) == seen) signal_.wait(seen, std::memory_order_seq_cst);
}

uint32_t PvsStream::stored() const { return std::min(needed(), static_cast<uint32_t>(entries_.size())); }

}  // namespace meridian
