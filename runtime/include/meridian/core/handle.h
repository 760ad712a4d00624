// SPDX-License-Identifier: MIT
#pragma once
/// A reference to an element of a pool that outlives the element: a slot, and how often the slot was used. A handle is
/// kept across calls and frames where a pointer may not be; the pool says whether it is still good (core/pool.h).
///
///   struct Entity;
///   Handle<Entity> lamp{.generation = 1, .slot = 17};        // Pool::handle_of gives such a value
///   if (lamp) lamp = {};                                     // null
///
/// Threads: immutable. A value of 8 bytes; all zero is null.

#include <cstdint>

namespace meridian {

template <class T>
struct Handle {
  uint32_t generation = 0;  ///< 0 is null; a live element's is never 0 [count]
  uint32_t slot = 0;        ///< [0, capacity of the pool) [index]

  explicit constexpr operator bool() const { return generation != 0; }
  friend constexpr bool operator==(Handle, Handle) = default;
};

/// The classic 32-bit form for scripts and logs: (slot << 8) | flags, where flags are 0x80 for a free slot, and
/// otherwise a count of uses in 1 to 127. It wraps after 127 uses of a slot, so an old one may name a new element:
/// never keep it where a Handle fits. 0 is null.
/// Limits: slots below 2^24.
using PackedHandle = uint32_t;

}  // namespace meridian
