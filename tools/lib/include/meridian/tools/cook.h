// SPDX-License-Identifier: MIT
#pragma once
/// Links a compiled map: adds what follows from other files, so that a runtime has nothing to work out when it loads.
///
///   CookInput in;
///   in.archetype = [&](NameHash name) { return types.find(name); };
///   in.parent = [&](uint32_t index) { return sets_of_parent_map.find(index); };
///   CookReport report;
///   if (!cook_map(map, in, bytes, report, error)) ...
///
/// Threads: reentrant.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "meridian/base/name_hash.h"
#include "meridian/scene/desc_block.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

/// Children of a LOD set that one map holds, by priority. Laid out like schema::LodSetChildren.
struct LodSetChildrenRow {
  NameHash map;
  uint32_t required = 0, optional_high = 0, optional_medium = 0, optional_low = 0;
};

/// One LOD set whose parent is in the map that is linked.
struct LodSetInput {
  uint32_t parent_index = 0;
  float distance = 0;  ///< D: the parent's child_lod_dist if > 0, else the largest distance of all children [> 0] [m]
  std::vector<LodSetChildrenRow> children;
};

struct CookInput {
  /// Traits of an archetype, null if no type file has it. Pointers stay valid until cook_map returns.
  std::function<const ArchetypeTraits*(NameHash)> archetype;
  /// Pivot and D of the set whose parent is this entity of the parent map; distance 0 if it is not known. May be empty.
  std::function<LodParent(uint32_t parent_index)> parent;
  /// LOD sets for the map, ascending by parent. Not given: those that it has.
  std::optional<std::vector<LodSetInput>> lod_sets;
};

/// An entity that will never be visible, or has an odd scale, and why.
struct CookFinding {
  uint32_t entity = 0;
  DescStatus status = DescStatus::made;
};

struct CookReport {
  uint32_t entities = 0, links = 0;
  BlockCounts blocks;
  uint64_t fingerprint = 0;
  std::vector<CookFinding> findings;  ///< by entity
};

/// Makes a resource that is `map` with cooked blocks and the given LOD sets in place of its own. Payload values, names
/// and kept XML stay as they are; linking a linked map again gives the same bytes.
/// Requires: `in.archetype` is set.
/// False:    `error` says why: not a map, LOD sets that do not fit it, more than kMaxLodSets (FMT001), too large.
bool cook_map(const LoadedResource& map, const CookInput& in, std::vector<uint8_t>& out, CookReport& report,
              std::string& error);

}  // namespace meridian::tools
