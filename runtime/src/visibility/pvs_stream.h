// SPDX-License-Identifier: MIT
#pragma once
/// Blocks of PVS entries on their way from jobs to readers, without locks. Jobs claim places in one array; a block is
/// seen once all before it are written. Readers count on their own, so each of them sees every block.
///
/// Plain: blocks come as they are done. `signal_` counts those that readers may look at; whoever completes the next one
/// moves it on, over others that were done before. Ordered: each slice has a chain of blocks, which readers see when
/// the slice is done; `signal_` then only says that something happened.
///
/// Threads: internal between begin and end; begin is the owner's, while there are no readers.

#include <atomic>
#include <cstdint>
#include <span>

#include "meridian/visibility/scan_results.h"

namespace meridian {

// What jobs and what readers write stand on lines of their own.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class PvsStream {
 public:
  static constexpr uint32_t kNoBlock = 0xFFFFFFFF;
  struct Block {
    std::atomic<uint32_t> ready{0};  ///< epoch in which it was written
    uint32_t first = 0, count = 0;
    uint32_t next = kNoBlock;  ///< of its slice
  };
  struct Slice {
    std::atomic<uint32_t> done{0};  ///< epoch
    uint32_t first = kNoBlock, last = kNoBlock;
  };

  /// Blocks for so many entries and slices: each slice ends with one that may not be full.
  static constexpr uint32_t block_count(uint32_t entries, uint32_t slices) {
    return slices + entries / kPvsBlockEntries + 1;
  }

  void init(std::span<PvsEntry> entries, std::span<Block> blocks, std::span<Slice> slices);
  void begin(uint32_t epoch, bool ordered);
  /// If ordered, before the first block is written: how many slices there are, and the numbers of those that are
  /// written in the order in which readers get them; the array lives as long as the stream is read.
  void set_order(uint32_t slices, std::span<const uint32_t> order);

  // --- jobs ----------------------------------------------------------------------------------------------

  /// At most kPvsBlockEntries of one slice.
  void write(uint32_t slice, const PvsEntry* entries, uint32_t count);
  /// Nothing more comes of this slice.
  void finish_slice(uint32_t slice);
  /// Nothing more comes at all.
  void end();

  // --- readers -------------------------------------------------------------------------------------------

  enum class Next : uint8_t { block, wait, end };
  /// `seen` is what to sleep on if it says wait.
  Next next(uint32_t& at, uint32_t& at_slice, std::span<const PvsEntry>& block, uint32_t& seen) const;
  /// Sleeps until something happened since `seen`.
  void sleep(uint32_t seen);

  uint32_t needed() const { return needed_.load(std::memory_order_acquire); }
  uint32_t stored() const;

 private:
  static constexpr uint32_t kEnded = 0x80000000;

  void advance();
  void wake(uint32_t now);

  std::span<PvsEntry> entries_;
  std::span<Block> blocks_;
  std::span<Slice> slices_;
  const uint32_t* order_ = nullptr;
  uint32_t epoch_ = 0;
  bool is_ordered_ = false;
  alignas(64) std::atomic<uint32_t> needed_{0};  // entries claimed, also beyond the end
  std::atomic<uint32_t> claimed_blocks_{0};
  alignas(64) std::atomic<uint32_t> signal_{0};
  std::atomic<uint32_t> sleeper_{0};  // 1 + the newest signal that a reader sleeps on; 0: nobody sleeps
  std::atomic<uint32_t> order_count_{0};
};

}  // namespace meridian
