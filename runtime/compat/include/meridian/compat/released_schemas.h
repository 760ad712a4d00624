// SPDX-License-Identifier: MIT
#pragma once
/// Schemas of every released layout, for converting old files that carry no schema of their own.
/// A target of its own (meridian::compat), so that programs which never convert do not carry them.
///
///   auto schema = find_released_schema(sections.trailer.kind, sections.trailer.layout_fingerprint);
///   if (!schema.empty()) convert_resource(bytes, schema, find_builtin_schema(kind)->bfbs);
///
/// Threads: immutable.

#include <cstddef>
#include <cstdint>
#include <span>

namespace meridian {

/// The reflection schema (.bfbs bytes, valid) of that layout, or an empty span.
std::span<const std::byte> find_released_schema(uint32_t kind, uint64_t layout_fingerprint);

}  // namespace meridian
