// SPDX-License-Identifier: MIT
#pragma once
/// Decompression for many loading threads: a fixed number of contexts that threads borrow for one entry each, and one
/// table of dictionaries for all. In target meridian::pack_zstd.
///
///   DecompressorSet decompressors;
///   Status status = decompressors.init(2);               // as many as should decompress at once
///   if (status.ok()) status = decompressors.prepare(pack);
///   if (status.ok()) status = decompressors.read(pack, *entry, memory);    // any thread
///
/// A thread that finds no free context waits for one. Contexts are few because each costs 160 KB and a core: threads
/// beyond them would wait for the processor instead.
///
/// Threads: internal (a mutex, held to borrow and return a context, not while reading or decompressing; prepare holds
///          it while it digests dictionaries). init is main.
/// Memory:  init allocates all contexts and prepare() new dictionaries, both through libzstd. read() allocates nothing.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "meridian/base/status.h"
#include "meridian/resource/entry_decompressor.h"
#include "meridian/resource/pack_dictionaries.h"

struct ZSTD_DCtx_s;

namespace meridian {

class DecompressorSet final : public EntryDecompressor {
 public:
  static constexpr uint32_t kMaxContexts = 64;

  DecompressorSet() = default;
  /// Requires: no read is under way.
  ~DecompressorSet() override;
  DecompressorSet(const DecompressorSet&) = delete;
  DecompressorSet& operator=(const DecompressorSet&) = delete;

  /// Makes the contexts. [1, kMaxContexts]
  /// Errors: bad_value (their number), out_of_memory; then there are none.
  Status init(uint32_t contexts);

  /// As PackDictionaries::prepare and release; may run beside reads of other packs.
  Status prepare(const Pack& pack) override;
  void release(const Pack& pack) override;

  /// As PackDecompressor::read, in a borrowed context. Errors: also out_of_slots before init.
  Status read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) override;

  /// How often a read found all contexts taken. [count]
  uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }
  uint32_t contexts() const { return count_; }

 private:
  void free_contexts();

  std::mutex mutex_;
  std::condition_variable returned_;
  PackDictionaries dictionaries_;         ///< under mutex_
  ZSTD_DCtx_s* free_[kMaxContexts] = {};  ///< under mutex_
  uint32_t free_count_ = 0;               ///< under mutex_
  uint32_t count_ = 0;
  std::atomic<uint64_t> waits_{0};
};

}  // namespace meridian
