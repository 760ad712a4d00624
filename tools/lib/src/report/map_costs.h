// SPDX-License-Identifier: MIT
#pragma once
// What each map costs, and which one thing makes its streaming box so large.

#include <cstdint>
#include <string>
#include <vector>

#include "meridian/tools/lint.h"

namespace meridian::tools {

struct MapCost {
  const LintUnit* unit = nullptr;
  uint64_t entities = 0, bytes = 0;
  double streamed_area = 0;  ///< of the declared streaming box [m2]
  /// The part without which the computed streaming box would lose most of its area.
  std::string widest_part;  ///< "entity 12 (prop_lamp), drawn to 400 m"; empty: no part stands out
  double area_saved = 0;    ///< by doing without it [m2]
};

/// In order of names. `bytes` are left 0.
std::vector<MapCost> map_costs(const LintWorld& world);

}  // namespace meridian::tools
