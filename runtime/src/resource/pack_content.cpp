// SPDX-License-Identifier: MIT
#include "resource/pack_content.h"

#include <algorithm>

#include "resource/checksum.h"

namespace meridian::detail {

void ContentHash::add(const PackEntry& entry) {
  if (entry.kind == kPackDictionaryKind) return;
  const uint64_t link[4] = {hash_, entry.kind | uint64_t{entry.name.value} << 32, entry.raw_size, entry.raw_hash};
  hash_ = checksum(std::as_bytes(std::span(link)));
}

uint64_t merged_content_hash(std::span<const Pack* const> layers) {
  MERIDIAN_ASSERT(!layers.empty() && layers.size() <= kMaxPatchChain, "a chain of patches has a length");
  std::span<const PackEntry> rest[kMaxPatchChain];
  const size_t count = std::min(layers.size(), kMaxPatchChain);
  for (size_t i = 0; i < count; ++i) rest[i] = layers[i]->entries();
  ContentHash hash;
  while (true) {
    const PackEntry* next = nullptr;  // the lowest key, of the newest layer that has it
    size_t from = 0;
    for (size_t i = 0; i < count; ++i) {
      if (rest[i].empty() || (next != nullptr && next->key() <= rest[i].front().key())) continue;
      next = &rest[i].front();
      from = i;
    }
    if (next == nullptr) return hash.value();
    const PackKey key = next->key();
    bool removed = false;
    for (size_t i = 0; i < from && !removed; ++i) {
      removed = std::binary_search(layers[i]->removed().begin(), layers[i]->removed().end(), key);
    }
    if (!removed) hash.add(*next);
    for (size_t i = from; i < count; ++i) {
      if (!rest[i].empty() && rest[i].front().key() == key) rest[i] = rest[i].subspan(1);
    }
  }
}

}  // namespace meridian::detail
