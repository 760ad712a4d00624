// SPDX-License-Identifier: MIT
#pragma once
/// A loader for asset stores that makes nothing of the bytes but a count: for tools that have no renderer, and for
/// tests.
///
///   CountingLoader counter;
///   Status ready = counter.init(1000, allocator);
///   ResourceMounts mounts;
///   AssetStore<CountedAsset> drawables(kDrawableStore.module);
///   ready = drawables.init({.slots = 8000, .mounts = &mounts, .kind = kind_of("DRWB")}, counter.loader(), allocator);
///   std::printf("%u models, %llu bytes", counter.live(), 0ull + counter.bytes());
///
/// Threads: main; prepared() is an atomic count.
/// Memory:  40 bytes for each asset of the capacity, in init().

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/core/fixed_list.h"
#include "meridian/stream/asset_store.h"

namespace meridian {

/// What is known of a resource that nobody looks into.
struct CountedAsset {
  NameHash name{};
  uint32_t bytes = 0;     ///< [bytes]
  uint64_t checksum = 0;  ///< XXH3-64 of the bytes
  uint32_t id = 0;        ///< of the loader
};

class CountingLoader {
 public:
  CountingLoader() = default;
  ~CountingLoader() = default;
  CountingLoader(const CountingLoader&) = delete;
  CountingLoader& operator=(const CountingLoader&) = delete;

  /// Requires: called once. Errors: as FixedList::init.
  Status init(uint32_t capacity, Allocator& allocator) { return live_.init(capacity, allocator); }
  /// May serve several stores. Requires: this outlives them.
  AssetLoader<CountedAsset> loader();

  uint32_t live() const { return live_.count(); }  ///< objects now [count]
  uint64_t bytes() const { return bytes_; }        ///< of their resources [bytes]
  uint64_t loads() const { return loads_; }        ///< [count]
  uint64_t unloads() const { return unloads_; }    ///< [count]
  uint64_t refused() const { return refused_; }    ///< loads beyond the capacity; their slots failed [count]
  /// Resources that loader threads were done with. [count]
  uint64_t prepared() const { return prepared_.load(std::memory_order_relaxed); }

 private:
  CountedAsset* load(NameHash name, std::span<const std::byte> bytes);
  void unload(CountedAsset& asset);

  FixedList<CountedAsset> live_;
  uint64_t bytes_ = 0, loads_ = 0, unloads_ = 0, refused_ = 0;
  std::atomic<uint64_t> prepared_{0};
};

}  // namespace meridian
