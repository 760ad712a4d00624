// SPDX-License-Identifier: MIT
#pragma once
/// Reads compressed entries of packs. In a target of its own, meridian::pack_zstd, so that programs whose packs are all
/// stored need no zstd.
///
///   PackDecompressor decompressor;                       // kept
///   Status ready = decompressor.prepare(pack);           // once for each mounted pack
///   if (ready.ok()) ready = decompressor.read(pack, *entry, memory.first(entry->raw_size));
///
/// For one thread, as in tools. Several loading threads share a DecompressorSet (resource/decompressor_set.h).
///
/// Sizes come from the pack's checked table, never from a frame: a frame that claims another size is refused before
/// anything is decompressed, one without a size is bounded by the table's.
///
/// Threads: reentrant; one object serves one thread at a time.
/// Memory:  prepare() allocates through libzstd: about 160 KB for the first pack, then for each dictionary that is new
///          its size and 30 KB. read() allocates nothing.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/status.h"
#include "meridian/resource/pack.h"
#include "meridian/resource/pack_dictionaries.h"

struct ZSTD_DCtx_s;

namespace meridian {

class PackDecompressor {
 public:
  /// Dictionaries of all packs together; equal ones count once.
  static constexpr size_t kMaxDictionaries = PackDictionaries::kMaxDictionaries;

  PackDecompressor() = default;
  ~PackDecompressor();
  PackDecompressor(const PackDecompressor&) = delete;
  PackDecompressor& operator=(const PackDecompressor&) = delete;

  /// Makes the context, and copies the pack's dictionaries into the form that decompression wants. The pack may go
  /// away afterwards; what was prepared serves every pack with the same dictionary.
  /// Errors: bad_checksum or bad_value (a dictionary is damaged; `name` says which), out_of_slots, out_of_memory.
  Status prepare(const Pack& pack);

  /// Puts the whole resource into the first raw_size bytes of `to`; a stored one is copied.
  /// Checks, in this order: the stored bytes' hash, the frame's own size if it has one, decompression to exactly
  /// raw_size, the raw hash. A trusted pack skips both hashes.
  /// Requires: entry of this pack; the pack was prepared.
  /// Errors:   too_small (`to`), bad_checksum (either), bad_value (no frame, or the frame claims another size; detail =
  ///           that size), bad_structure (the frame is damaged), not_found (its dictionary was not prepared).
  ///           `name` is the entry's. What `to` holds after an error is unspecified, but nothing behind it was touched.
  Status read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to);

 private:
  ZSTD_DCtx_s* context_ = nullptr;
  PackDictionaries dictionaries_;
};

}  // namespace meridian
