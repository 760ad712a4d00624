// SPDX-License-Identifier: MIT
#pragma once
/// Storage for the descriptors of all containers: blocks of any size in one piece of memory, which is kept free of
/// holes by moving blocks. Containers come, grow and go all the time; without moving, memory that is free in sum is
/// soon too scattered to be of use.
///
///   DescPool descs;
///   const auto refresh = [](void*, DescBlockId block, std::byte* now) { std::printf("%u: %p", block.value, now); };
///   Status ready = descs.init({.on_moved = refresh}, allocator);
///   Result<DescBlockId> lanes = descs.allocate(320 * 44, /*may_compact=*/true);
///   if (!lanes.ok()) return lanes.status();            // and the map that wanted it waits
///   std::byte* data = descs.data(lanes.value());       // until the next call that may compact; then on_moved tells
///   descs.compact_round(64 * 1024);                    // twice each frame, while nobody reads descriptors
///   descs.free(lanes.value());
///
/// Everything is in units of 64 bytes. *Fixed* blocks never move: they stand at the low end, in the *fixed part*, which
/// ends behind the last of them. Holes between them are for fixed blocks only (DescPoolStats::reserved_bytes).
/// *Movable* blocks have all the rest. Taking a hole is a look-up in lists by size; blocks, holes and their order are
/// in a table beside the memory, so a stray write through a stale address harms descriptors and nothing else.
///
/// A round of compaction works on the lowest hole: it fetches a block that fits from the upper end, or else slides the
/// next block down. Either way the moved block then stands behind the lowest ones without a hole between, and is not
/// moved again before something is freed. Hence, while nothing is allocated or freed, rounds of `max_bytes` leave one
/// hole at the upper end after at most
///   2 * (bytes of movable blocks) / max_bytes + 2   rounds, and at most one for each movable block.
///
/// Threads: main. data() and size(): readers, while nobody changes the pool. on_moved is called on the owner's thread.
/// Memory:  one block in init(): the capacity and 56 bytes for each of max_blocks; none later.
/// Source:  own; lists of holes by size as in Masmano et al., "TLSF: a New Dynamic Memory Allocator for Real-Time
///          Systems", 2004.

#include <cstddef>
#include <cstdint>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"

namespace meridian {

inline constexpr size_t kDescUnit = 64;  ///< size and alignment of everything in the pool [bytes]
inline constexpr uint32_t kMaxDescBlocks = 1u << 24;

/// A block of a DescPool: below DescPoolConfig::max_blocks, so that owners may keep arrays by it. Used again soon after
/// free(): whoever frees a block forgets its id.
struct DescBlockId {
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  uint32_t value = kNone;
  explicit operator bool() const { return value != kNone; }
  friend bool operator==(DescBlockId, DescBlockId) = default;
};

struct DescPoolConfig {
  const char* name = "fwEntityDescPool";  ///< in messages and reports; lives as long as the pool
  size_t bytes = 64'000 * kDescUnit;      ///< rounded down to units [1, 2^31 - 1 units] [bytes]
  uint32_t max_blocks = 4096;             ///< at once [1, kMaxDescBlocks] [count]
  /// Called for each block that was moved, when it is at its new place `now`: owners refresh addresses that they keep.
  /// It may read the pool, and must not change it. Null: nobody keeps any.
  void (*on_moved)(void* user, DescBlockId block, std::byte* now) = nullptr;
  void* user = nullptr;
  bool prefault = false;             ///< has all of its pages at init(): else frames wait when a new one is written to
  MemoryTracker* tracker = nullptr;  ///< whose report has a row for it; null: default_memory_tracker()
};

/// capacity = used + free + reserved.
struct DescPoolStats {
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;          ///< of all blocks, in whole units
  uint64_t fixed_bytes = 0;         ///< of them, in fixed blocks
  uint64_t peak_bytes = 0;          ///< most that was used at once
  uint64_t free_bytes = 0;          ///< outside of the fixed part: what blocks can get once the pool is compact
  uint64_t reserved_bytes = 0;      ///< holes in the fixed part
  uint64_t largest_hole_bytes = 0;  ///< outside of the fixed part: what a block can get as things are
  uint32_t blocks = 0;              ///< [count]
  uint32_t holes = 0;               ///< outside of the fixed part [count]
  uint64_t moves = 0;               ///< blocks that were moved so far [count]
  uint64_t moved_bytes = 0;
  uint64_t denied = 0;             ///< requests that got nothing [count]
  uint64_t denied_fragmented = 0;  ///< of them, while enough was free and compaction not allowed [count]
};

class DescPool final : public MemorySource {
 public:
  DescPool() = default;
  // All inline: the runtime has no RTTI, and programs that have need this class's in their own objects.
  ~DescPool() override { shutdown(); }
  DescPool(const DescPool&) = delete;
  DescPool& operator=(const DescPool&) = delete;

  /// Gets the memory. `allocator` must outlive the pool. Requires: not initialised (otherwise in_use).
  /// Errors: bad_value for a config out of its ranges; out_of_memory. The pool then has no memory, and is always full.
  Status init(const DescPoolConfig& config, Allocator& allocator = default_allocator());
  /// Frees all blocks without a call, and gives the memory back. init() may follow.
  void shutdown();

  /// A movable block of at least `bytes`. Its content is undefined. If no hole is large enough, but all of them
  /// together are, and `may_compact` (the graph is not locked), the pool is compacted: up to all movable bytes are
  /// copied, and the block is found.
  /// Requires: bytes > 0 (otherwise bad_value).
  /// Errors:   out_of_slots, and the message says why: the pool is *full* (detail = bytes), it is *fragmented*, which
  ///           happens only without `may_compact` (detail = bytes), or all blocks are in use (detail = max_blocks).
  ///           The first time that it is full or has no blocks left, a message says so too.
  ///           too_large for more than the whole pool (detail = bytes). Nothing is changed then.
  Result<DescBlockId> allocate(size_t bytes, bool may_compact);
  /// A block that never moves, as low as possible. Movable blocks in the way are moved up first, if `may_compact`:
  /// those in the way only, if the hole at the upper end can take them; otherwise all those below enough free memory.
  /// Costs a look at each fixed block. Requires and errors as allocate(); *fragmented*: blocks are in the way.
  Result<DescBlockId> allocate_fixed(size_t bytes, bool may_compact);
  /// Gives a block back. Requires: a block of this pool (asserted; otherwise nothing happens).
  void free(DescBlockId block);

  /// Where a block is now, a multiple of kDescUnit. Valid until a call that compacts.
  /// Requires: a block of this pool (asserted; otherwise null).
  std::byte* data(DescBlockId block) const;
  /// Bytes of a block, whole units: at least what was asked for. Requires: as data(); otherwise 0.
  size_t size(DescBlockId block) const;
  bool is_fixed(DescBlockId block) const { return is_live(block) && segments_[block.value].is_fixed; }

  /// One bounded round of compaction; see above for how many are enough. Copies at most `max_bytes`, or one block if it
  /// is larger. Returns the bytes that were copied: 0 if there are no holes but the one at the upper end.
  size_t compact_round(size_t max_bytes);
  /// Closes all holes. Returns the bytes that were copied.
  size_t compact_all() { return compact_round(SIZE_MAX); }

  /// Costs a look at the holes of about the largest size.
  DescPoolStats stats() const;
  const char* name() const { return config_.name; }
  /// In units: element_bytes is kDescUnit.
  MemoryRow memory_row() const override { return row(); }

 private:
  static constexpr uint32_t kNone = DescBlockId::kNone;
  static constexpr uint32_t kBins = 256;  ///< 8 for each doubling of the size
  /// A block or a hole. Entries below max_blocks are blocks, the others holes; each has its list of unused ones.
  struct Segment {
    uint32_t first = 0;                               ///< [units]
    uint32_t units = 0;                               ///< 0: not in use
    uint32_t previous = kNone, next = kNone;          ///< in the order of addresses; next: also of unused ones
    uint32_t bin_previous = kNone, bin_next = kNone;  ///< in the list of holes of about this size
    uint16_t bin = kBins;                             ///< kBins: in none
    bool is_fixed = false;
  };

  bool is_live(DescBlockId id) const { return id.value < config_.max_blocks && segments_[id.value].units != 0; }
  bool is_hole(uint32_t segment) const { return segment != kNone && segment >= config_.max_blocks; }
  std::byte* at(uint32_t unit) const { return memory_ + size_t{unit} * kDescUnit; }
  uint32_t end_of(uint32_t segment) const { return segments_[segment].first + segments_[segment].units; }
  uint32_t free_units() const { return units_ - used_ - reserved_; }
  static uint32_t bin_of(uint32_t units);

  Status check_request(size_t bytes, uint32_t& units);
  Status deny(const char* message, uint64_t detail);
  Result<DescBlockId> deny_full(size_t bytes);
  Result<DescBlockId> deny_fragmented(size_t bytes);
  void list(uint32_t hole);
  void unlist(uint32_t hole);
  uint32_t find_hole(uint32_t units) const;
  uint32_t lowest_hole();
  uint32_t hole_for_fixed(uint32_t units) const;
  uint32_t filler_for(uint32_t hole) const;

  uint32_t take_entry(uint32_t& list);
  void give_entry(uint32_t entry);
  void replace(uint32_t entry, uint32_t by);
  void unlink(uint32_t entry);
  void swap_with_next(uint32_t entry);
  void absorb_next(uint32_t hole);
  uint32_t make_hole(uint32_t block);
  void put_below(uint32_t block, uint32_t hole);
  DescBlockId place(uint32_t units, uint32_t hole, bool is_fixed);

  void vacate(uint32_t first, uint32_t last);
  void copy_units(uint32_t block, uint32_t to);
  void tell_moved(uint32_t block);
  void slide_down(uint32_t hole);
  void jump(uint32_t block, uint32_t hole);
  void open_at_low_end(uint32_t units);
  MemoryRow row() const;

  DescPoolConfig config_{.bytes = 0, .max_blocks = 0};
  Allocator* allocator_ = nullptr;
  std::byte* memory_ = nullptr;
  Segment* segments_ = nullptr;
  uint32_t units_ = 0, used_ = 0, peak_ = 0, fixed_used_ = 0;
  uint32_t reserved_ = 0;   ///< units of holes in the fixed part
  uint32_t fixed_end_ = 0;  ///< where the fixed part ends; no movable block is below [units]
  uint32_t head_ = kNone, tail_ = kNone;
  uint32_t low_ = kNone;  ///< no listed hole is below this segment
  uint32_t unused_block_ = kNone, unused_hole_ = kNone;
  uint32_t blocks_ = 0, holes_ = 0;  ///< holes_: those in lists
  bool is_telling_ = false;          ///< inside on_moved
  bool said_full_ = false, said_no_block_ = false;
  uint64_t moves_ = 0, moved_units_ = 0, denied_ = 0, denied_fragmented_ = 0;
  uint64_t bins_used_[kBins / 64] = {};
  uint32_t bins_[kBins] = {};
};

}  // namespace meridian
