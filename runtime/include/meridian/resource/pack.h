// SPDX-License-Identifier: MIT
#pragma once
/// A pack (.mpk): many resources in one file, found by kind and name, laid out in the order of streaming.
///
///  [header, 64 bytes][entries, stored ones at multiples of 64][table: FlatBuffer PackIndex]
///
/// open_pack() checks header and table once, and so every place that the table names. Entries that are stored as they
/// are can be used where they lie in the mapped file; compressed ones are read by resource/pack_decompressor.h.
///
///   Result<Pack> pack = open_pack(mapped_file);                       // the mapping stays the caller's
///   const PackEntry* entry = pack.value().find(kind_of("IMAP"), hash_name("town"));
///   if (entry != nullptr && entry->is_stored()) {
///     Result<std::span<const std::byte>> bytes = pack.value().in_place(*entry);
///     if (bytes.ok()) open_resource(bytes.value(), {.kind = entry->kind});
///   }
///
/// Threads: open_pack is reentrant; a Pack is immutable.
/// Memory:  no allocation.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "meridian/base/status.h"
#include "meridian/resource/resource.h"

namespace meridian {

inline constexpr uint32_t kPackMagic = kind_of("MPAK");
/// Version of header and table. A reader refuses others.
inline constexpr uint32_t kPackVersion = 1;
/// Stored entries begin at multiples of this: a cache line, and more than any element of a resource needs. [bytes]
inline constexpr size_t kPackAlignment = 64;

/// The two kinds of entries that are the pack's own; both are always stored. A dictionary is named by the low half of
/// its raw hash, a shared schema (.bfbs bytes) by the kind of the resources that it describes.
inline constexpr uint32_t kPackDictionaryKind = kind_of("ZDIC");
inline constexpr uint32_t kPackSchemaKind = kind_of("BFBS");

/// Limits on dictionaries. Readers prepare all of them, so their number and size bound that memory.
inline constexpr size_t kMaxPackDictionaries = 16;
inline constexpr uint32_t kMaxPackDictionaryBytes = 1u << 20;

/// The first 64 bytes of a pack, little endian.
struct PackHeader {
  uint32_t magic = 0;           ///< kPackMagic
  uint32_t version = 0;         ///< kPackVersion
  uint64_t file_size = 0;       ///< of the whole pack [bytes]
  uint64_t table_offset = 0;    ///< a multiple of 16 [byte]
  uint64_t table_size = 0;      ///< below 2 GiB; the table ends the file [bytes]
  uint64_t table_checksum = 0;  ///< XXH3-64 of the table
  uint64_t reserved[2] = {};    ///< 0
  uint64_t checksum = 0;        ///< XXH3-64 of the header before this field
};
static_assert(sizeof(PackHeader) == kPackAlignment);

/// Kind and name of an entry, in the order of the table.
struct PackKey {
  uint32_t kind = 0;
  NameHash name{};
  friend constexpr bool operator==(PackKey, PackKey) = default;
  friend constexpr auto operator<=>(PackKey, PackKey) = default;
};

/// A row of the table, where it lies. Rows are part of their pack; functions that take one want it, not a copy.
struct PackEntry {
  uint32_t kind = 0;         ///< file identifier of the resource, or one of the kinds above
  NameHash name{};           ///< unique within the kind
  uint64_t offset = 0;       ///< in the pack [byte]
  uint64_t stored_hash = 0;  ///< XXH3-64 of the bytes in the pack
  uint64_t raw_hash = 0;     ///< XXH3-64 of the bytes that a reader gets
  uint32_t stored_size = 0;  ///< in the pack [bytes]
  uint32_t raw_size = 0;     ///< what a reader gets [bytes]
  NameHash dictionary{};     ///< name of the dictionary that it needs, 0: none
  uint32_t flags = 0;        ///< kZstd

  static constexpr uint32_t kZstd = 1;  ///< one zstd frame; without it, stored as it is

  bool is_stored() const { return (flags & kZstd) == 0; }
  PackKey key() const { return {kind, name}; }
};
static_assert(sizeof(PackEntry) == 48 && sizeof(PackKey) == 8);

struct PackOptions {
  /// An entry that claims more, stored or raw, is refused, whatever the file's size.
  uint64_t max_resource_bytes = kMaxResourceBytes;
  /// A pack that was verified before (`resinfo verify --deep`): only the header is checked; no hashes, no verifier.
  bool trusted = false;
};

/// A checked view of a pack. Bytes must outlive it.
class Pack {
 public:
  /// Sorted by kind, then name.
  std::span<const PackEntry> entries() const { return entries_; }
  /// Indices into entries() in the order of the file, which is the order of streaming.
  std::span<const uint32_t> order() const { return order_; }
  /// The entries of one kind, sorted by name.
  std::span<const PackEntry> of_kind(uint32_t kind) const;
  /// By binary search, or null.
  const PackEntry* find(uint32_t kind, NameHash name) const;

  /// The bytes of an entry as they lie in the pack, unchecked and perhaps compressed. Requires: entry of this pack.
  std::span<const std::byte> stored_bytes(const PackEntry& entry) const;
  /// Compares them with their hash; touches each byte, so it is I/O on a mapped file. Ok at once where trusted.
  /// Requires: entry of this pack. Errors: bad_checksum; `name` is the entry's, `detail` its offset.
  Status check_stored(const PackEntry& entry) const;
  /// The bytes of a stored entry, checked, without a copy.
  /// Requires: entry of this pack. Errors: as check_stored, or bad_value where it is compressed.
  Result<std::span<const std::byte>> in_place(const PackEntry& entry) const;

  /// The schema that the pack's resources of this kind were written by, checked by its hash; empty where there is
  /// none. It is untrusted all the same: verify_schema() comes before use.
  Result<std::span<const std::byte>> schema(uint32_t kind) const;
  /// The text of a name, or empty where the pack has none.
  std::string_view text_of(NameHash name) const;

  /// True if this pack holds only what changed since another one.
  bool is_patch() const { return base_content_ != 0; }
  /// The content_hash() of the pack that a patch changes, 0 if it's none.
  uint64_t base_content() const { return base_content_; }
  /// What a patch takes away, sorted.
  std::span<const PackKey> removed() const { return removed_; }
  /// Hash of what is in it: kind, name, raw size and raw hash of each entry but dictionaries. Neither order nor
  /// compression matters. Never 0. Costs a pass over the table.
  uint64_t content_hash() const;

  bool trusted() const { return trusted_; }

 private:
  friend struct PackAccess;
  std::span<const std::byte> bytes_;
  std::span<const PackEntry> entries_;
  std::span<const uint32_t> order_;
  std::span<const PackKey> removed_;
  const void* names_ = nullptr;  ///< a FlatBuffers vector of NameEntry
  uint64_t base_content_ = 0;
  bool trusted_ = false;
};

/// Checks bytes and gives a view, in this order: size and alignment, magic, version, header checksum, sizes in the
/// header, table checksum, FlatBuffers verifier, then what the table says: sorted without duplicates, kinds of flags
/// known, sizes within the cap and in agreement, every entry between header and table, none over another, stored ones
/// aligned, dictionaries there; names sorted and true. Entries' own bytes are not touched.
/// Requires: nothing; the table is searched where it lies, so bytes must not change.
/// Errors:   too_small, too_large, misaligned (the address, 16), bad_magic, bad_version, bad_checksum, bad_structure,
///           bad_value. `name` is the entry's where it is about one; the message says which check and what `detail` is.
/// Threads:  reentrant.
/// Memory:   none.
/// Source:   own; byte layout in docs/packs.md.
Result<Pack> open_pack(std::span<const std::byte> bytes, const PackOptions& options = {});

/// True if bytes begin as a pack does: for programs that take packs and resources.
bool looks_like_pack(std::span<const std::byte> bytes);

}  // namespace meridian
