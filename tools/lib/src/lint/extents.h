// SPDX-License-Identifier: MIT
#pragma once
/// Boxes of a map computed from what is in it: of the contents, and of the places from which a camera can see some of
/// it. Shared by rule EXT001, `--fix`, `--extents` and the world index.
///
/// Where the field's tools disagree on a margin (occluders, car generators, lights), the computed box takes the wider
/// one, and the rule asks only for what both agree on.

#include <string>
#include <vector>

#include "lint/geometry.h"
#include "meridian/tools/lint.h"

namespace meridian::tools {

/// The box of one part as every tool sees it.
struct PartBox {
  Bounds box, streaming;
  double slack = 0;  ///< how far off its box may be: occluders are stored in quarter metres
  const char* noun = "";
  const char* array = "";  ///< its path without the index
  uint32_t index = 0;
};

struct MapExtents {
  Bounds entities, streaming;  ///< with all margins
  std::vector<PartBox> parts;  ///< what the rule holds the declared boxes against
  uint32_t unknown_archetypes = 0;
};

MapExtents compute_extents(const LintWorld& world, const LintUnit& unit);

Bounds declared_entities_box(const schema::MapData& map);
Bounds declared_streaming_box(const schema::MapData& map);

/// The distance from which an entity is drawn: its LOD set's, its own, or its archetype's. 0 if unknown.
double draw_distance(const LintWorld& world, const LintUnit& unit, const schema::EntityDef& entity);

/// The four corners, as values to write. Numbers are rounded outwards to what a float can hold.
void add_extent_fixes(const MapExtents& computed, LintFinding& finding);

/// Outwards to the next float.
float float_below(double value);
float float_above(double value);

}  // namespace meridian::tools
