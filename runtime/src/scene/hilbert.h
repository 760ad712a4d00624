// SPDX-License-Identifier: MIT
#pragma once
/// Place of a point along a Hilbert curve through a cube. Neighbours on the curve are neighbours in space.

#include <cstdint>

namespace meridian::detail {

inline constexpr unsigned kCurveBits = 21;  ///< an axis; three fit into 63 bits

/// Requires: x, y and z < 1 << kCurveBits. Below 1 << 63.
/// Source:   John Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004 (AxestoTranspose).
constexpr uint64_t hilbert_key(uint32_t x, uint32_t y, uint32_t z) {
  uint32_t axis[3] = {x, y, z};
  for (uint32_t q = 1u << (kCurveBits - 1); q > 1; q >>= 1) {
    const uint32_t low = q - 1;
    for (uint32_t& a : axis) {
      if ((a & q) != 0) {
        axis[0] ^= low;
      } else {
        const uint32_t swap = (axis[0] ^ a) & low;
        axis[0] ^= swap;
        a ^= swap;
      }
    }
  }
  axis[1] ^= axis[0];
  axis[2] ^= axis[1];
  uint32_t flip = 0;
  for (uint32_t q = 1u << (kCurveBits - 1); q > 1; q >>= 1)
    if ((axis[2] & q) != 0) flip ^= q - 1;
  uint64_t key = 0;
  for (unsigned bit = kCurveBits; bit-- > 0;)
    for (const uint32_t a : axis) key = key << 1 | (((a ^ flip) >> bit) & 1u);
  return key;
}

}  // namespace meridian::detail
