// SPDX-License-Identifier: MIT
#pragma once
/// The content hash of packs, also of a pack and patches over it.

#include <cstdint>
#include <span>

#include "meridian/resource/pack.h"

namespace meridian::detail {

/// Builds a content hash entry by entry, in the order of keys.
class ContentHash {
 public:
  void add(const PackEntry& entry);
  uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  uint64_t hash_ = 0;
};

inline constexpr size_t kMaxPatchChain = 32;

/// The content_hash() of the pack that `layers`, a pack's patches from the newest to the oldest and last the pack
/// itself, amount to. A merge of their sorted tables; no memory.
/// Requires: 1 <= layers.size() <= kMaxPatchChain.
uint64_t merged_content_hash(std::span<const Pack* const> layers);

}  // namespace meridian::detail
