// SPDX-License-Identifier: MIT
#pragma once
// What changed inside an interior, told by names: rooms, portals and who is in them. Everything there refers to
// everything else by position, so a room that goes would change each index behind it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace meridian::schema {
struct MloArchetypeDef;
}

namespace meridian::tools {

struct InteriorDiff {
  /// The same room, or portal, before and after: by name, or by the names of the rooms it joins; of several alike, in
  /// order.
  std::vector<std::pair<uint32_t, uint32_t>> rooms, portals;
  /// "room 'hall' removed", "entity 0: room hall -> room bath".
  std::vector<std::string> lines;
};

/// Entities are the same if their guids are, where those are not 0 and not given twice; else by archetype and position.
InteriorDiff diff_interiors(const schema::MloArchetypeDef& before, const schema::MloArchetypeDef& after);

}  // namespace meridian::tools
