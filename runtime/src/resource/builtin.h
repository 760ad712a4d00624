// SPDX-License-Identifier: MIT
#pragma once
/// What schema_pack generates next to builtin_schemas(): the generated verifiers by kind, and the info section's
/// schema.

#include <cstddef>
#include <cstdint>
#include <span>

namespace flatbuffers {
class Verifier;
}

namespace meridian::detail {

/// Runs the verifier that flatc generated for a built-in kind or for the info section, identifier included.
bool verify_root(uint32_t kind, flatbuffers::Verifier& verifier);

/// Reflection schema of ResourceInfo.
std::span<const std::byte> info_schema();
/// Its file identifier.
uint32_t info_kind();

}  // namespace meridian::detail
