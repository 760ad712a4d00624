// SPDX-License-Identifier: MIT
#pragma once
/// What a mount is inside: one slot of ResourceMounts.

#include <atomic>
#include <cstdint>
#include <span>

#include "meridian/resource/file_mapping.h"
#include "meridian/resource/mount.h"
#include "resource/loose_folder.h"

namespace meridian::detail {

/// High bit of an entry's word: its stored bytes were compared with their hash. The rest counts pins.
inline constexpr uint32_t kEntryChecked = 1u << 31;

struct Mount {
  uint32_t generation = 0;  ///< of the last use; 0: never used
  bool used = false;
  MountKind kind = MountKind::pack;
  PackCheck check = PackCheck::at_first_use;
  bool prepared = false;  ///< the decompressor knows the pack
  bool leaving = false;   ///< not found any more
  FileMapping file;       ///< empty where the caller keeps the bytes
  Pack pack;
  LooseFolder folder;
  GrowingBlock<PackKey> keys;  ///< of a source, sorted
  SourceProvider* source = nullptr;
  uint64_t content = 0;  ///< hash of what a pack and all below it in its chain amount to; 0: not known
  MountId base;          ///< of a patch; null for all others, and where the base is not known
  std::atomic<uint32_t>* words = nullptr;  ///< one for each entry
  uint32_t entries = 0;
  std::atomic<uint64_t> pins{0};
  char* path = nullptr;
  size_t path_bytes = 0;  ///< with the 0 at its end

  PackKey key_at(uint32_t index) const {
    switch (kind) {
      case MountKind::pack:
        return pack.entries()[index].key();
      case MountKind::folder:
        return folder.files.data[index].key;
      case MountKind::source:
        break;
    }
    return keys.data[index];
  }
  /// The entry first and the mount last: whoever sees a mount without pins sees no pinned entry, and may free both.
  void unpin(uint32_t index) {
    words[index].fetch_sub(1, std::memory_order_relaxed);
    pins.fetch_sub(1, std::memory_order_release);
  }
};

}  // namespace meridian::detail
