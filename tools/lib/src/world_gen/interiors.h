// SPDX-License-Identifier: MIT
#pragma once
/// Interiors: one or two rows of rooms, doors between them, doors and windows to the outside.
/// Interior space: the origin is the middle of the floor.

#include <cstdint>
#include <vector>

#include "world_gen/plan.h"
#include "world_gen/table_maker.h"

namespace meridian::tools::world {

struct Portal {
  uint32_t from = 0, to = 0;  ///< rooms; to the outside (0) always from the inside
  schema::PortalFlags flags{};
  Point foot;    ///< middle of the lower edge
  Point normal;  ///< of length 1, along x or y, from `from` to `to`
  double width = 0, height = 0;

  bool is_door() const { return (flags & schema::PortalFlags::hide_when_door_closed) != schema::PortalFlags{}; }
  /// Seen from room `from`: left bottom, left top, right top, right bottom.
  std::vector<schema::Vec3> corners() const;
};

/// Walls and openings of one interior, a function of the seed and its number.
struct InteriorShape {
  std::vector<Bounds> rooms;  ///< without limbo: rooms[0] is room 1
  std::vector<Portal> portals;
  Bounds bounds;

  uint32_t exits() const;  ///< portals to the outside
};

InteriorShape make_interior_shape(uint64_t seed, uint32_t interior);

/// Sets of an interior: how many of Words::sets it has, from the first on.
uint32_t entity_set_count(uint64_t seed, uint32_t interior);

/// More than an interior of this shape ever holds, entity sets included.
uint32_t max_interior_entities(const InteriorShape& shape);

struct InteriorCounts {
  uint64_t entities = 0, portals = 0, extensions = 0;
};

/// The record of an interior archetype: what stands in it, rooms, portals, entity sets, time-cycle spheres.
TableMaker make_interior(const Plan& plan, const Area& area, uint32_t interior, const TypePlan& record,
                         InteriorCounts& counts);

}  // namespace meridian::tools::world
