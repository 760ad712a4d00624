// SPDX-License-Identifier: MIT
#pragma once
/// Doors of interiors in the world: which portals of an instance lead outside, and where they stand.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lint/geometry.h"
#include "meridian/tools/lint.h"

namespace meridian::schema {
struct MloPortalDef;
}

namespace meridian::tools {

struct ExitPortal {
  uint32_t entity = 0;  ///< the instance in its map
  uint32_t index = 0;   ///< of the portal in the interior
  const schema::EntityDef* instance = nullptr;
  std::string name;                ///< of the interior, quoted
  std::array<Point, 4> corners{};  ///< in the world
};

/// Touches room 0 and does not link two interiors.
bool is_exit(const schema::MloPortalDef& portal);

/// All exit portals of the interiors that stand in a map; those without four corners are left out.
std::vector<ExitPortal> exit_portals(const LintWorld& world, const LintUnit& map);

}  // namespace meridian::tools
