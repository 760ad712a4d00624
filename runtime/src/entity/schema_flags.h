// SPDX-License-Identifier: MIT
#pragma once
/// Flags of definitions: schemas name them, and resources hold them as numbers.

#include <cstdint>
#include <type_traits>

namespace meridian {

/// Whether `flag`, of one of the schemas' enumerations of bits, is set.
template <class Flag>
requires std::is_enum_v<Flag>
constexpr bool has(uint32_t flags, Flag flag) { return (flags & static_cast<uint32_t>(flag)) != 0; }

}  // namespace meridian
