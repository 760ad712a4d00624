// SPDX-License-Identifier: MIT
#pragma once
/// XXH3-64 of bytes.

#include <cstddef>
#include <cstdint>
#include <span>

namespace meridian::detail {
uint64_t checksum(std::span<const std::byte> bytes);
}
