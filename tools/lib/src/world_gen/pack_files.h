// SPDX-License-Identifier: MIT
#pragma once
/// Files beside the maps: types, manifests, the game configuration.

#include <cstdint>
#include <vector>

#include "world_gen/interiors.h"
#include "world_gen/map_maker.h"
#include "world_gen/plan.h"
#include "world_gen/table_maker.h"

namespace meridian::tools::world {

TableMaker make_type_file(const Plan& plan, uint32_t file, InteriorCounts& counts);
/// Type files that the maps and interiors of a pack need. Requires: `maps` holds all maps by number.
TableMaker make_manifest(const Plan& plan, uint32_t pack, const std::vector<MapSummary>& maps);

/// The most that is wanted at once anywhere: of all maps whose streaming boxes meet one cell of a grid.
struct Peak {
  uint64_t maps = 0, entities = 0, interiors = 0, portals = 0, extensions = 0, car_generators = 0, lod_lights = 0,
           grass_batches = 0, time_boxes = 0, occluders = 0;
};
Peak find_peak(const std::vector<MapSummary>& maps);
/// Pools that take the whole world's files and the peak of its contents, and a quarter more.
TableMaker make_game_config(const Plan& plan, const Peak& peak);

}  // namespace meridian::tools::world
