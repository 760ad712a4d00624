// SPDX-License-Identifier: MIT
#pragma once
/// What mounts (resource/mount.h) read compressed entries by. An interface, so that the runtime links no zstd; the one
/// that does is DecompressorSet (resource/decompressor_set.h, target meridian::pack_zstd).
///
///   Status status = decompressor.prepare(pack);                             // meridian::DecompressorSet, or your own
///   if (status.ok()) status = decompressor.read(pack, *entry, memory);      // mounts do both, see resource/mount.h
///
/// Threads: as the implementation says; mounts call prepare and release from their owner, read from any thread.

#include <cstddef>
#include <span>

#include "meridian/base/status.h"
#include "meridian/resource/pack.h"

namespace meridian {

class EntryDecompressor {
 public:
  virtual ~EntryDecompressor() = default;
  /// Gets ready for a pack; may allocate. Each prepare() that succeeds is undone by one release().
  virtual Status prepare(const Pack& pack) = 0;
  /// The pack is read no more.
  virtual void release(const Pack& pack) = 0;
  /// Puts the whole resource into the first raw_size bytes of `to`, checked unless the pack is trusted.
  /// Requires: entry of this pack; the pack is prepared. Memory: none.
  virtual Status read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) = 0;
};

}  // namespace meridian
