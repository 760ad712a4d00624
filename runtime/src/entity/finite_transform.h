// SPDX-License-Identifier: MIT
#pragma once
/// Whether a transform holds numbers only, scale included.

#include <array>
#include <bit>
#include <cstdint>

#include "meridian/base/math.h"

namespace meridian {

constexpr bool is_finite(const Transform& t) {
  bool all = true;  // without branches, so that four are looked at together
  for (const uint32_t bits : std::bit_cast<std::array<uint32_t, 16>>(t)) all &= (bits & 0x7F800000u) != 0x7F800000u;
  return all;
}

}  // namespace meridian
