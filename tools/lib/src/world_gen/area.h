// SPDX-License-Identifier: MIT
#pragma once
/// The inside of one area: lots on a grid of roads, a LOD on each, buildings under it, and everything along the roads.

#include <vector>

#include "world_gen/entities.h"
#include "world_gen/plan.h"

namespace meridian::tools::world {

/// A rectangle between roads. [m]
struct Lot {
  double x0, y0, x1, y1, z;

  Point centre() const { return {(x0 + x1) / 2, (y0 + y1) / 2, z}; }
};

/// Entities of an area, before they are dealt out to maps.
struct AreaContents {
  std::vector<Lot> lots;
  std::vector<Placed> lods;       ///< LODs, then SLOD1s: the entities of the LOD map, in order
  std::vector<Placed> details;    ///< linked ones, those that are seen from afar first; then orphans
  std::vector<Placed> interiors;  ///< instances
};

AreaContents fill_area(const Plan& plan, const Area& area);

/// Deals the chosen entities out to `parts` groups of about equal number, each close together: a kd-tree in x and y.
/// The groups hold indices in rising order.
std::vector<std::vector<uint32_t>> cut_in_groups(const std::vector<Placed>& entities, std::vector<uint32_t> chosen,
                                                 uint32_t parts);

}  // namespace meridian::tools::world
