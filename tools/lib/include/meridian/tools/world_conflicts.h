// SPDX-License-Identifier: MIT
#pragma once
/// What overlays change, entity by entity: for `worldc check --conflicts`.

#include <span>
#include <string>

#include "meridian/tools/lint.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {

/// For each map that stands in more than one layer, and each two versions of it that lie next to each other, a line for
/// each entity that differs, in the order of map, layer and index:
///
///   town_0: base -> winter: entity 3 'qa_box': changed: position, lodDist
///   town_0: base -> winter: entity 5 'qa_box': removed
///
/// A removed entity has its index in the lower layer, others in the higher one. Entities are matched by guid where it
/// is theirs alone, else by archetype and position. Empty: no layer changes an entity.
/// Threads: reentrant on a linked world.
std::string world_conflicts_text(const LintWorld& world, std::span<const WorldLayer> layers);

}  // namespace meridian::tools
