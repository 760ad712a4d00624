// SPDX-License-Identifier: MIT
#pragma once
/// One large block of memory, taken once, out of which blocks of any size are given and taken back for as long as the
/// program runs. Both cost the same small number of steps however full or cut up the region is, and no system call.
///
///   RegionAllocator streamed;
///   if (!streamed.init({.name = "streamed", .bytes = size_t{512} << 20}).ok()) std::puts("no such memory");
///   void* const map = streamed.allocate(3'000'000, 64);
///   if (map == nullptr) std::printf("the largest that fits: %zu\n", streamed.largest_free());
///   streamed.deallocate(map, 3'000'000, 64);
///
/// For what comes and goes while a program runs, in sizes that only data know: streamed resources, contents of maps,
/// interiors. What is of one size is better in a pool (core/pool.h), what lives for a frame in an Arena, what stays
/// from start to end in the allocator it comes from. A budget is then a fact: what does not fit is refused here, and
/// malloc is not asked after the start.
///
/// How it works: free blocks hang in lists by size, 32 lists for each power of two; two masks of bits say which lists
/// have blocks, so the smallest list whose blocks are all large enough is found with two bit scans. A block that is
/// given back joins free neighbours at once, so no two free blocks touch.
///
/// What is lost: 16 bytes a block for its header, and up to 31 bytes of rounding, 79 for alignments of 64 and more. A
/// request can fail although its size is free in total. With lives and sizes at random, 256 bytes to 300 KB, a region
/// of 64 MiB was found full when 92 % of it lived, at worst 86 %; of 512 MiB, 97 % and 95 %. What is larger than a
/// hundredth of the region needs more room to spare.
///
/// Faults of callers: what is given back must have been given from here, and with the same size and alignment. A wrong
/// pointer, a second time, another size are noticed by the block's header and both neighbours' (asserted; otherwise
/// nothing happens). Not noticed is a second time after the same bytes were given to someone else with the same size.
/// AddressSanitizer sees what is free in a region.
///
/// Threads: main; an allocator is for one thread at a time, its row in a report too.
/// Memory:  the region, of an Allocator or the caller, in init(); tables of 9 KiB, inside.
/// Source:  two-level segregated fit: Masmano, Ripoll, Crespo, Real, "TLSF: a new dynamic memory allocator for
///          real-time systems", 2004.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"

namespace meridian {

struct RegionConfig {
  const char* name = "region";       ///< of the allocation class, in reports; lives as long as the allocator
  size_t bytes = 0;                  ///< how much to take from `allocator`; of no meaning with `memory` [bytes]
  Allocator* allocator = nullptr;    ///< outlives this; null: default_allocator(). With `memory`: who accounts for it
  std::span<std::byte> memory{};     ///< not empty: the region itself, which outlives this
  bool prefault = false;             ///< has all of its pages at init(): else whoever is given new ones waits for them
  MemoryTracker* tracker = nullptr;  ///< whose report has a row for it; null: default_memory_tracker()
};

class RegionAllocator final : public Allocator, public MemorySource {
 public:
  static constexpr size_t kMaxAlignment = 4096;
  static constexpr size_t kMinBytes = 128;              ///< smallest region [bytes]
  static constexpr size_t kMaxBytes = size_t{1} << 40;  ///< largest region [bytes]
  static constexpr size_t kHeaderBytes = 16;            ///< in front of each block [bytes]
  static constexpr size_t kMinBlockBytes = 32;          ///< smallest block, its header included [bytes]

  /// Without a region: gives nothing until init().
  RegionAllocator() = default;
  RegionAllocator(const RegionAllocator&) = delete;
  RegionAllocator& operator=(const RegionAllocator&) = delete;
  ~RegionAllocator() override {
    MERIDIAN_ASSERT(blocks_ == 0, "a region outlives what it gave");
    release();
    detach();
  }

  /// Takes the region, and gives back the one before. All of it is free then, and the counts are 0.
  /// Requires: no block of the one before lives (asserted; otherwise in_use, and all stays as it is).
  /// Errors:   too_small, too_large (detail = the size); out_of_memory when the allocator has no such block. There is
  ///           no region then.
  Status init(const RegionConfig& config);

  /// At least `bytes` bytes at a multiple of `alignment`, or null if they do not fit. 0 bytes are a block too. What is
  /// in them is not defined.
  /// Requires: alignment is a power of two, at most kMaxAlignment (asserted; otherwise null).
  [[nodiscard]] void* allocate(size_t bytes, size_t alignment) override { return take(bytes, alignment); }
  /// Gives back. Null is ignored.
  /// Requires: the block lives, and was asked for with this size and alignment (asserted; otherwise nothing happens).
  void deallocate(void* pointer, size_t bytes, size_t alignment) override { give_back(pointer, bytes, alignment); }
  const char* memory_class() const override { return name_; }

  /// Whether an address is in the region. Says nothing about blocks.
  bool owns(const void* pointer) const;

  size_t capacity() const { return capacity_; }     ///< what used_bytes() can come to [bytes]
  size_t used_bytes() const { return used_; }       ///< in blocks, with headers and what is lost in them [bytes]
  size_t peak_bytes() const { return peak_; }       ///< most that was used at once [bytes]
  uint64_t block_count() const { return blocks_; }  ///< live blocks [count]
  uint64_t free_count() const { return free_; }     ///< free blocks; 1 when nothing lives [count]
  uint64_t failed() const { return failed_; }       ///< requests that did not fit [count]
  /// A request of this many bytes, aligned to 16, succeeds; one with more may. 0 if nothing is left. Looks at 64 blocks
  /// at most. [bytes]
  size_t largest_free() const;

  /// Walks all blocks and lists. For tests, and for the hunt after a program that writes where it must not.
  /// Errors: bad_structure with what is wrong first; detail = how far into the region.
  Status validate() const;

  MemoryRow memory_row() const override { return row(); }

 private:
  struct Block;
  /// A list of free blocks: sizes [2^k + second * 2^k / 32, 2^k + (second + 1) * 2^k / 32), with k = first + 8.
  struct List {
    uint32_t first = 0, second = 0;
  };
  struct Header {
    size_t size = 0, previous = 0;
    bool is_free = false;
  };
  static constexpr uint32_t kFirst = 33, kSecond = 32;

  static List list_of(size_t size);
  static size_t size_for(size_t bytes, size_t alignment);

  void* take(size_t bytes, size_t alignment);
  void give_back(void* pointer, size_t bytes, size_t alignment);
  Block* find(size_t size) const;
  Block* find_for(size_t size, size_t alignment) const;
  Block* find_in(List list, size_t size, size_t alignment) const;
  Block* cut(Block* block, size_t size, size_t alignment);
  void insert(Block* block);
  void remove(Block* block);
  bool is_live(const void* pointer) const;
  Block* block_at(size_t offset) const;
  Header header_at(size_t offset) const;
  size_t offset_of(const Block* block) const;
  bool lists_are_right(uint64_t blocks) const;
  void release();
  MemoryRow row() const;

  uint64_t first_mask_ = 0;            ///< bit f: second_mask_[f] is not 0
  uint32_t second_mask_[kFirst] = {};  ///< bit s: lists_[f][s] has a block
  Block* lists_[kFirst][kSecond] = {};

  std::byte* base_ = nullptr;  ///< of the first block's header
  size_t capacity_ = 0, used_ = 0, peak_ = 0;
  uint64_t blocks_ = 0, free_ = 0, failed_ = 0;

  const char* name_ = "region";
  std::span<std::byte> region_;
  Allocator* allocator_ = nullptr;  ///< who accounts for the region, or null
  bool is_taken_ = false;           ///< the region goes back to the allocator
};

}  // namespace meridian
