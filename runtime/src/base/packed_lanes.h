// SPDX-License-Identifier: MIT
#pragma once
/// The table of base/pack_lanes-inl.h.

#include <cstdint>

namespace meridian {

/// For each set of up to 8 lanes, which they are, from the lowest on, in 4 bits each.
struct PackedLanes {
  uint32_t of[256] = {};
  constexpr PackedLanes() {
    for (uint32_t set = 0; set < 256; ++set)
      for (uint32_t lane = 0, shift = 0; lane < 8; ++lane)
        if ((set >> lane & 1) != 0) {
          of[set] |= lane << shift;
          shift += 4;
        }
  }
};
inline constexpr PackedLanes kPackedLanes;

}  // namespace meridian
