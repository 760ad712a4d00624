// SPDX-License-Identifier: MIT
#include "meridian/resource/decompressor_set.h"

#include "resource/zstd_entry.h"

namespace meridian {

DecompressorSet::~DecompressorSet() {
  MERIDIAN_ASSERT(free_count_ == count_, "a decompressor set outlives what reads by it");
  free_contexts();
}

void DecompressorSet::free_contexts() {
  for (uint32_t i = 0; i < free_count_; ++i) ZSTD_freeDCtx(free_[i]);
  free_count_ = count_ = 0;
}

Status DecompressorSet::init(uint32_t contexts) {
  MERIDIAN_ASSERT(count_ == 0, "a decompressor set is made once");
  if (count_ != 0) return {StatusCode::in_use, "contexts were made before; detail = their number", count_};
  if (contexts == 0 || contexts > kMaxContexts) {
    return {StatusCode::bad_value, "a number of contexts that is not in [1, 64]; detail = it", contexts};
  }
  for (uint32_t i = 0; i < contexts; ++i) {
    ZSTD_DCtx* const context = ZSTD_createDCtx();
    if (context == nullptr) {
      free_contexts();
      return {StatusCode::out_of_memory, "no memory for a decompression context; detail = its index", i};
    }
    free_[free_count_++] = context;
  }
  count_ = contexts;
  return {};
}

Status DecompressorSet::prepare(const Pack& pack) {
  const std::lock_guard lock(mutex_);
  return dictionaries_.prepare(pack);
}

void DecompressorSet::release(const Pack& pack) {
  const std::lock_guard lock(mutex_);
  dictionaries_.release(pack);
}

Status DecompressorSet::read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) {
  bool done = false;
  // The hash of what is stored is most of the waiting for the disk: before a context is taken.
  if (const Status status = detail::begin_entry(pack, entry, to, done); !status.ok() || done) return status;
  if (count_ == 0) return {StatusCode::out_of_slots, "there are no decompression contexts yet", 0, entry.name};
  ZSTD_DCtx* context = nullptr;
  const ZSTD_DDict* dictionary = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (free_count_ == 0) waits_.fetch_add(1, std::memory_order_relaxed);
    returned_.wait(lock, [this] { return free_count_ > 0; });
    context = free_[--free_count_];
    dictionary = dictionaries_.find(pack, entry.dictionary);  // stays while the pack is prepared
  }
  const Status status = detail::decompress_entry(context, dictionary, pack, entry, to);
  {
    const std::lock_guard lock(mutex_);
    free_[free_count_++] = context;
  }
  returned_.notify_one();
  return status;
}

}  // namespace meridian
