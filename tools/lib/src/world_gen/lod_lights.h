// SPDX-License-Identifier: MIT
#pragma once
/// Lights that stand for the lamps of an area from afar, in two maps: how they shine, and in the parent where they are.

#include <cstdint>
#include <span>
#include <vector>

#include "meridian/schemas/imap_generated.h"
#include "world_gen/entities.h"
#include "world_gen/plan.h"
#include "world_gen/table_maker.h"

namespace meridian::tools::world {

struct LodLight {
  Point position;
  uint32_t hash = 0;  ///< pairs it with the lamp's light
  bool is_street_light = true;
};

/// A light's place counts with this much around it. [m]
inline constexpr double kLightBox = 20;

/// Which lights an area has: mostly medium ones, here and there a few large or many small ones.
schema::LodLightCategory category_of(const Area& area);
/// How far from the lights' places the two maps are wanted. [m]
double lod_light_margin(schema::LodLightCategory category);
double distant_light_margin(schema::LodLightCategory category);

/// The lights of all lamps, up to as many as a map of the category takes; street lights first, then by hash.
std::vector<LodLight> lod_lights(const Plan& plan, const Area& area, const std::vector<Placed>& entities);
Bounds light_bounds(const std::vector<LodLight>& lights);
TableMaker lod_lights_table(const TypePlan& map, const std::vector<LodLight>& lights);
TableMaker distant_lights_table(const TypePlan& map, const std::vector<LodLight>& lights,
                                schema::LodLightCategory category);

/// Jenkins' lookup3 over words, with initial value 0. Source: Bob Jenkins, lookup3.c, hashword(), 2006.
uint32_t lookup3(std::span<const uint32_t> words);

}  // namespace meridian::tools::world
