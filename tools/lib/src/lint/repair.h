// SPDX-License-Identifier: MIT
#pragma once
/// `--extents` and `--flags`: what goes into the resource in place of what the author wrote.

#include "lint/extents.h"
#include "meridian/stream/world_index.h"
#include "meridian/tools/compile.h"
#include "value.h"

namespace meridian::tools {

/// What a map's values become; absent ones stay.
struct MapRepair {
  bool has_extents = false;
  Bounds entities, streaming;
  bool has_content_flags = false, has_map_flags = false;
  uint32_t content_flags = 0, map_flags = 0;

  bool any() const { return has_extents || has_content_flags || has_map_flags; }
};

/// Where an archetype is unknown, its part of the box is too: then `fix` only ever widens.
MapRepair plan_repair(const LintWorld& world, const LintUnit& unit, Repair extents, Repair flags);

/// The streaming box that the map ends up with.
Bounds streaming_box(const MapRepair& repair, const schema::MapData& map);

/// Writes it into the values that a map is built from.
void apply_repair(const MapRepair& repair, TableValue& map);
/// The same into the map's row of a world index.
void apply_repair(const MapRepair& repair, MapSlot& slot);

/// Takes back what the repair has settled: EXT and FLG findings become notes that say so.
void settle_findings(const MapRepair& repair, std::vector<LintFinding>& findings);

}  // namespace meridian::tools
