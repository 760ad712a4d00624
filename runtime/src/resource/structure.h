// SPDX-License-Identifier: MIT
#pragma once
/// A FlatBuffers verifier that works from a reflection schema, for data that no generated verifier knows: generic
/// metadata, and old layouts before conversion. (flatbuffers::Verify by reflection is not used: its vector sizes
/// overflow.) Stricter than the generated ones: tables must lie inside the buffer whole, element data must be aligned.

#include <cstddef>
#include <span>

#include "meridian/base/status.h"

namespace meridian::detail {

/// Requires: verify_schema(bfbs).ok(); bytes.size() <= kMaxResourceBytes.
/// Errors:   bad_structure; `detail` is a byte offset in `bytes`, `name` the field.
/// Memory:   none; recursion is bounded by kMaxTableDepth.
Status check_structure(std::span<const std::byte> bytes, std::span<const std::byte> bfbs);

}  // namespace meridian::detail
