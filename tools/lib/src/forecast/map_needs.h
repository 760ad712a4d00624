// SPDX-License-Identifier: MIT
#pragma once
// What one map asks of the runtime's pools once it is in the world.

#include <array>
#include <cstdint>
#include <string_view>

#include "meridian/tools/lint.h"

namespace meridian::tools {

enum class Need : uint8_t {
  buildings,
  animated_buildings,
  dummy_objects,
  interiors,
  composites,
  prop_batches,
  grass_batches,
  car_generators,
  time_cycle_boxes,
  loaded_maps,
  map_nodes,
  interior_nodes,
  room_nodes,
  portal_nodes,
  containers,
};
inline constexpr size_t kNeedCount = 15;

struct NeedInfo {
  std::string_view pool;    ///< as game configurations spell it
  uint64_t built_in_limit;  ///< 0: none
};
const NeedInfo& need_info(Need need);

struct MapNeeds {
  std::array<uint32_t, kNeedCount> counts{};

  uint32_t& operator[](Need n) { return counts[static_cast<size_t>(n)]; }
  uint32_t operator[](Need n) const { return counts[static_cast<size_t>(n)]; }
  uint64_t entities() const;
};

/// Entities without a known archetype are not made, so they need nothing.
MapNeeds needs_of_map(const LintWorld& world, const LintUnit& map);

}  // namespace meridian::tools
