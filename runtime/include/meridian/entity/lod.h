// SPDX-License-Identifier: MIT
#pragma once
/// What an entity knows of its place in the chain of levels of detail: how far it is drawn, who stands for it from
/// afar, how many it stands for.
///
///   LodData lod;
///   lod.parent = 17;                                    // as the definition says
///   lod.distance = 150;
///   lod.set_level(1);                                   // stands for HD entities
///   lod.set(LodFlag::parent_in_parent_map);
///   if (lod.has_parent() && !lod.has(LodFlag::bound)) use(lod.parent);   // the parent is not loaded yet
///
/// The link to the parent is a number, which holds whether the parent is loaded or not; *bound* says that it is, and
/// counts this one among its children.
///
/// Threads: main. A value of 16 bytes.

#include <cstdint>

#include "meridian/base/assert.h"

namespace meridian {

inline constexpr int32_t kNoLodParent = -1;
/// Children that one parent counts. [count]
inline constexpr uint32_t kMaxBoundChildren = 0xFFFF;

/// Bits of LodData::level_flags beside the level.
enum class LodFlag : uint8_t {
  parent_in_parent_map = 1 << 3,  ///< `parent` counts the entities of the parent map, not those of its own
  bound = 1 << 4,                 ///< the parent is there, and counts this one
  adopt_me = 1 << 6,              ///< takes children of other maps
  interior_lod = 1 << 7,          ///< stands for an interior seen from afar
};

struct LodData {
  int32_t parent = kNoLodParent;  ///< index in its map, or in the parent map; kNoLodParent: none
  float distance = 0;             ///< up to which it is drawn; 0: only its LOD set says [>= 0] [m]
  float child_distance = 0;       ///< at which it gives way to its children; 0: not given here [>= 0] [m]
  uint16_t bound_children = 0;    ///< children that are bound to it [count]
  uint8_t alpha = 255;            ///< how much of it is drawn [0, 255]
  uint8_t level_flags = 0;        ///< level in bits 0 to 2, then LodFlag

  /// schema::LodLevel.
  constexpr uint8_t level() const { return level_flags & 7; }
  /// Requires: a level, below 7 (asserted; otherwise its low three bits count).
  constexpr void set_level(uint8_t to) {
    MERIDIAN_ASSERT(to < 7, "a level of detail");
    level_flags = static_cast<uint8_t>((level_flags & ~7u) | (to & 7u));
  }
  constexpr bool has(LodFlag flag) const { return (level_flags & static_cast<uint8_t>(flag)) != 0; }
  constexpr void set(LodFlag flag, bool on = true) {
    const auto bit = static_cast<unsigned>(flag);
    level_flags = static_cast<uint8_t>(on ? level_flags | bit : level_flags & ~bit);
  }
  constexpr bool has_parent() const { return parent >= 0; }
  friend constexpr bool operator==(const LodData&, const LodData&) = default;
};
static_assert(sizeof(LodData) == 16);

/// Counts `child` among the children of `parent`. False, and nothing changed, if it is bound already or the parent has
/// kMaxBoundChildren.
constexpr bool bind_lod(LodData& child, LodData& parent) {
  if (child.has(LodFlag::bound) || parent.bound_children == kMaxBoundChildren) return false;
  child.set(LodFlag::bound);
  ++parent.bound_children;
  return true;
}
/// Undoes bind_lod. Requires: `child` is bound to `parent` (asserted as far as it can be told; otherwise nothing).
constexpr void unbind_lod(LodData& child, LodData& parent) {
  MERIDIAN_ASSERT(child.has(LodFlag::bound) && parent.bound_children > 0, "the child is bound to this parent");
  if (!child.has(LodFlag::bound) || parent.bound_children == 0) return;
  child.set(LodFlag::bound, false);
  --parent.bound_children;
}

}  // namespace meridian
