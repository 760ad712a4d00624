// SPDX-License-Identifier: MIT
#pragma once
/// What loops from the hierarchy down to slots need, whatever they look for.

#include <cstddef>
#include <cstdint>

#include "meridian/scene/box_hierarchy.h"

namespace meridian {

/// Enough for what BoxHierarchy says of its depth.
inline constexpr uint32_t kHierarchyStack = 128;
static_assert(kMaxHierarchyItems <= 1u << 24);  // 7 levels: 15 * 7 + 2

inline constexpr uint32_t kAllSlots = 0xFFFFFFFF;  ///< of a sub-block

/// Asks for all lines of an object.
inline void prefetch(const void* at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(at) + i);
}

}  // namespace meridian
