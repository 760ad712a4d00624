// SPDX-License-Identifier: MIT
#pragma once
/// LOD sets over all maps: which entities have children, how many in which map, and at which distance they change
/// places. Linked into the maps that hold the parents; children take pivot and distance from there.

#include <unordered_map>
#include <vector>

#include "meridian/tools/cook.h"
#include "meridian/tools/lint.h"

namespace meridian::tools {

using LodSetTable = std::unordered_map<const LintUnit*, std::vector<LodSetInput>>;

/// The sets whose parents stand in this map, ascending by parent. Sets without a distance above zero are left out:
/// their children are drawn by their own.
std::vector<LodSetInput> lod_sets_of(const LintWorld& world, const LintUnit& map);

/// Pivot and distance of the set of an entity; distance 0: it has none.
LodParent lod_parent(const LodSetTable& sets, const LintUnit& map, uint32_t parent_index);

}  // namespace meridian::tools
