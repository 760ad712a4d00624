// SPDX-License-Identifier: MIT
#pragma once
/// Fingerprints and checks of reflection schemas (.bfbs), and the schemas that are built in.
///
/// A fingerprint hashes a canonical text (names, types, ids, offsets, defaults, attributes), never the bytes or docs of
/// a binary schema, which change with paths and comments.
///
///   if (verify_schema(current_schema).ok() && layout_fingerprint(current_schema) != resource.layout_fingerprint()) {
///     use(convert_resource(bytes, schema_of_file, current_schema));
///   }
///
/// Threads: reentrant. Memory: none.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/status.h"

namespace meridian {

/// Checks untrusted schema bytes: FlatBuffers verifier, indices, offsets inside struct sizes, no struct cycles, depth.
/// Refuses what resources do not use: fixed arrays, vectors of unions, union members that are no tables.
/// Errors: bad_schema; message says what. Also where the bytes are not 8-aligned.
Status verify_schema(std::span<const std::byte> bfbs);

/// Covers what decides where bytes lie and what absent ones mean: structs (fields, offsets, sizes), table field ids,
/// types and defaults, union members, enum base types. Only types that the root leads to. Requires:
/// verify_schema(bfbs).ok()
uint64_t layout_fingerprint(std::span<const std::byte> bfbs);

/// Covers also names in XML, defaults, enumerators: everything but docs and file names.
/// Requires: verify_schema(bfbs).ok()
uint64_t schema_fingerprint(std::span<const std::byte> bfbs);

/// True if a payload written by `older` may be used in place by readers of `newer`: only table fields, enumerators and
/// union members were added. Requires: both valid.
bool reads_in_place(std::span<const std::byte> newer, std::span<const std::byte> older);

struct BuiltinSchema {
  const char* name;                 ///< "imap"
  const char* extension;            ///< "imap", without dot
  uint32_t kind;                    ///< file_identifier
  std::span<const std::byte> bfbs;  ///< reflection schema, with docs, without file names
  uint64_t layout_fingerprint;
  uint64_t schema_fingerprint;
  std::span<const uint64_t> compatible;  ///< layout fingerprints of released schemas that read in place
};

/// imap, ityp, gcfg, ymfm, widx. Threads: immutable.
std::span<const BuiltinSchema> builtin_schemas();
/// By kind, or null.
const BuiltinSchema* find_builtin_schema(uint32_t kind);

}  // namespace meridian
