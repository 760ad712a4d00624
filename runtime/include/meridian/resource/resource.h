// SPDX-License-Identifier: MIT
#pragma once
/// A compiled resource: a FlatBuffer that is used where it lies, behind it tool data, at the end a 32-byte trailer.
///
///  [payload: FlatBuffer of the root][0..15 zero bytes][info: FlatBuffer ResourceInfo][0..15 zero bytes][trailer]
///
/// open_resource() checks everything once; afterwards reading is plain pointer arithmetic through the accessors that
/// flatc generates:
///
///   Result<Resource> r = open_resource(bytes, {.kind = kind_of("IMAP")});
///   if (r.ok()) {
///     const auto* map = r.value().root<schema::MapData>();
///     const auto* first = map->entities()->Get(0);
///   }
///
/// Threads: open_resource is reentrant; a Resource is immutable.
/// Memory:  no allocation on the in-place path.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/status.h"

namespace meridian {

/// Four letters as they stand in a FlatBuffer's file_identifier, as a number (first letter lowest).
constexpr uint32_t kind_of(const char (&text)[5]) {
  return static_cast<uint32_t>(static_cast<unsigned char>(text[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(text[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(text[2])) << 16 |
         static_cast<uint32_t>(static_cast<unsigned char>(text[3])) << 24;
}

/// The last 32 bytes of a resource, little endian.
struct ResourceTrailer {
  uint32_t magic = 0;               ///< kTrailerMagic
  uint32_t kind = 0;                ///< the payload's file_identifier
  uint32_t version = 0;             ///< kTrailerVersion
  uint32_t payload_size = 0;        ///< [bytes]; the info section begins at this rounded up to 16
  uint64_t layout_fingerprint = 0;  ///< of the schema that the payload was written by
  uint64_t checksum = 0;            ///< XXH3-64 of everything before this field
};
static_assert(sizeof(ResourceTrailer) == 32);

inline constexpr uint32_t kTrailerMagic = kind_of("MRDN");
inline constexpr size_t kResourceAlignment = 16;
/// A single resource is smaller than 2 GiB, because FlatBuffers offsets are signed 32-bit numbers.
inline constexpr uint64_t kMaxResourceBytes = 0x7FFFFFFF;

struct OpenOptions {
  /// Expected kind; 0 takes any built-in kind, and any kind where `schema` is given.
  uint32_t kind = 0;
  /// Reflection schema (.bfbs bytes) that the caller reads the payload by. Empty: the built-in schema of the kind.
  /// It must be valid (verify_schema), and is how generic metadata is checked.
  std::span<const std::byte> schema{};
  /// Bytes that were verified before (packs mounted as trusted): skips checksum, verifier and semantic pass.
  bool trusted = false;
};

/// A checked view of a resource. Bytes must outlive it.
class Resource {
 public:
  Resource() = default;
  std::span<const std::byte> payload() const { return payload_; }
  std::span<const std::byte> info() const { return info_; }  ///< ResourceInfo FlatBuffer (verified unless trusted)
  uint32_t kind() const { return kind_; }
  uint64_t layout_fingerprint() const { return layout_fingerprint_; }
  /// True if the file was written by another, compatible layout (members were added since).
  bool older_layout() const { return older_layout_; }

  /// The root table, as the type that flatc generated for `kind`.
  /// Requires: Root is that type; the resource is not empty.
  template <class Root>
  const Root* root() const {
    const auto* base = reinterpret_cast<const unsigned char*>(payload_.data());
    const uint32_t offset = static_cast<uint32_t>(base[0]) | static_cast<uint32_t>(base[1]) << 8 |
                            static_cast<uint32_t>(base[2]) << 16 | static_cast<uint32_t>(base[3]) << 24;
    return reinterpret_cast<const Root*>(base + offset);
  }

 private:
  friend Result<Resource> open_resource(std::span<const std::byte>, const OpenOptions&);
  std::span<const std::byte> payload_, info_;
  uint32_t kind_ = 0;
  uint64_t layout_fingerprint_ = 0;
  bool older_layout_ = false;
};

/// Checks bytes and gives a view, in this order: size, alignment, magic, kind, version, checksum, fingerprint,
/// FlatBuffers verifier (depth and table limits), semantic bounds (hoisted owners inside their arrays, closed enums
/// known, floats finite, element alignment; ranges of linked maps and of world indices). Never reads outside the bytes.
/// Errors:   too_small, misaligned, bad_magic, wrong_kind, bad_version, bad_checksum, layout_differs (then see
///           resource/convert.h), bad_structure, bad_value; the message says which, `detail` where (byte offset or
///           index), `name` the TypeHash value of the field.
/// Threads:  reentrant.
/// Memory:   none; stack < 16 KiB.
/// Source:   own; byte layout in docs/formats.md.
Result<Resource> open_resource(std::span<const std::byte> bytes, const OpenOptions& options = {});

/// Only the trailer and the section bounds, for tools that look at broken files: size, magic, version, section sizes.
struct ResourceSections {
  ResourceTrailer trailer;
  std::span<const std::byte> payload, info;
};
Result<ResourceSections> read_sections(std::span<const std::byte> bytes);

/// Size of the whole file for these parts.
uint64_t sealed_size(uint64_t payload_bytes, uint64_t info_bytes);

/// Lays out payload, info and trailer in `out` and computes the checksum.
/// Requires: out.size() == sealed_size(payload.size(), info.size()), which is <= kMaxResourceBytes.
void seal_resource(std::span<std::byte> out, std::span<const std::byte> payload, std::span<const std::byte> info,
                   uint32_t kind, uint64_t layout_fingerprint);

}  // namespace meridian
