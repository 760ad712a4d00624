// SPDX-License-Identifier: MIT
#pragma once
/// What a pack's table of contents must fulfil beyond the FlatBuffers verifier.

#include <algorithm>
#include <cstdint>
#include <span>

#include "meridian/resource/pack.h"
#include "meridian/schemas/pack_generated.h"

namespace meridian::detail {

/// A FlatBuffers vector as plain rows. Row is the public struct of the same layout; empty where the vector is absent.
template <class Row, class Vector>
std::span<const Row> rows(const Vector* vector) {
  if (vector == nullptr) return {};
  return {reinterpret_cast<const Row*>(vector->Data()), vector->size()};
}

/// By binary search in sorted entries, or null.
inline const PackEntry* find_entry(std::span<const PackEntry> entries, PackKey key) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), key,
                                      [](const PackEntry& entry, PackKey k) { return entry.key() < k; });
  return found != entries.end() && found->key() == key ? &*found : nullptr;
}

/// Checks the table of a pack whose entries must end at or before `entries_end`. Linear in its size, no memory.
/// Requires: the verifier was content with it.
Status check_pack_index(const schema::PackIndex& index, uint64_t entries_end, uint64_t max_resource_bytes);

}  // namespace meridian::detail
