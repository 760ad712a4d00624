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

}  // namespace meridian
