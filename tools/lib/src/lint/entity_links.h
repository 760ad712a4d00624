// SPDX-License-Identifier: MIT
#pragma once
/// How entities say who their LOD parent is, and how far they are drawn.

#include "meridian/schemas/common_generated.h"
#include "meridian/tools/lint.h"

namespace meridian::tools {

/// Flag bit 3: the parent index counts the parent map's entities, not the own map's.
inline constexpr uint32_t kLodInParent = 1u << 3;
inline bool lod_in_parent(const schema::EntityDef& e) { return (static_cast<uint32_t>(e.flags()) & kLodInParent) != 0; }

/// The entity's own LOD distance, else its archetype's; 0 if neither is above zero. [m]
float own_lod_distance(const LintWorld& world, const schema::EntityDef& entity);

}  // namespace meridian::tools
