// SPDX-License-Identifier: MIT
#pragma once
/// What search_walk-inl.h needs, whatever the width.

#include <cstdint>

#include "scene/block_walk.h"

namespace meridian {

/// What a test knows of boxes around slots, a bit each.
struct SubBlocks {
  uint32_t touched;  ///< something in them may pass
  uint32_t whole;    ///< all that is in them passes
  uint32_t level;    ///< all that is in them passes if it does so in x and y
};

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
