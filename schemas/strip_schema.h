// SPDX-License-Identifier: MIT
#pragma once
/// Removes what ties a binary schema to one machine: file names and declaration places. Docs and attributes stay.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace meridian {

/// The same schema without file names, the same bytes wherever it was compiled.
/// Requires: verify_schema(bfbs).ok()
std::vector<uint8_t> strip_schema(std::span<const std::byte> bfbs);

}  // namespace meridian
