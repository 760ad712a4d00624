// SPDX-License-Identifier: MIT
#pragma once
/// XXH3-64 of bytes, as the runtime computes it for resources and packs.

#include <cstddef>
#include <cstdint>
#include <span>

namespace meridian::tools {

uint64_t raw_hash(std::span<const std::byte> bytes);

}  // namespace meridian::tools
