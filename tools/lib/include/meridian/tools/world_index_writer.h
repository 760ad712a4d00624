// SPDX-License-Identifier: MIT
#pragma once
/// Makes world indices (.widx), which the runtime reads by stream/world_index.h: of a linked world, or of rows that
/// come from elsewhere.
///
///   WorldIndexInput in = world_index_input(world, [&](const LintUnit& unit) { return size_of_output(unit); }, {});
///   std::vector<uint8_t> bytes;
///   std::string error;
///   if (!build_world_index(std::move(in), bytes, error)) ...
///
/// Rows may come in any order; the same rows give the same bytes.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "meridian/stream/world_index.h"
#include "meridian/tools/lint.h"

namespace meridian::tools {

/// A map. Of the slot, `dependencies`, `first_child`, `child_count` and `asset` are worked out.
struct WorldIndexMap {
  MapSlot slot;
  std::vector<uint32_t> types;  ///< names of the type files whose archetypes it uses
};

/// A type file. Of the slot, `dependencies` is worked out.
struct WorldIndexTypes {
  TypesSlot slot;
  std::vector<uint32_t> types;  ///< names of the type files that it needs itself
};

/// An archetype in force. Of the row, `types` is worked out.
struct WorldIndexArchetype {
  ArchetypeRow row;
  NameHash file;  ///< the type file that defines it
};

/// A group of maps. Which maps it holds is worked out.
struct WorldIndexGroup {
  NameHash name;
  uint32_t flags = 0;  ///< schema::MapDataGroupFlags
  uint32_t hours = 0;  ///< schema::TimeFlags
  std::vector<uint32_t> weather_types, bounds;
};

struct WorldIndexInput {
  std::vector<WorldIndexMap> maps;
  std::vector<WorldIndexTypes> types;
  std::vector<WorldIndexArchetype> archetypes;
  std::vector<WorldIndexGroup> groups;
  /// Texts for the info section, of more names than occur, or none at all. Views outlive the call.
  std::vector<std::pair<uint32_t, std::string_view>> names;
};

struct WorldIndexOptions {
  bool names = true;                 ///< put the texts of names into the info section
  bool all_types_permanent = false;  ///< every type file is loaded for good
  /// Names of type files that are.
  std::unordered_set<uint32_t> permanent_types = {};
  /// In place of the manifests' groups of the same names; collision files stay those of the manifests.
  std::vector<WorldIndexGroup> groups = {};
};

/// The rows of everything that is in force in a linked world. A map needs the type files of its entities and grass; a
/// type file those of its interiors' entities, those that it names itself, and those that `itypDependencies_2` of a
/// manifest lists for it. Of groups of one name the latest layer's counts, in one layer the first.
/// `size_of`: bytes of the resource that a map or type file becomes; called from several threads.
/// Requires: world.link() was called. Names are views into the units.
WorldIndexInput world_index_input(const LintWorld& world, const std::function<uint32_t(const LintUnit&)>& size_of,
                                  const WorldIndexOptions& options);

/// One map's row, as far as the map itself tells.
MapSlot map_slot(const schema::MapData& map, NameHash name, uint32_t size);

/// Adds one type file, with its archetypes, composite entities among them, as far as they are in force.
/// `in_force(index, is_composite)`: whether the one at `index` in its array is.
void add_types(WorldIndexInput& in, const schema::MapTypes& types, NameHash name, uint32_t size, bool is_permanent,
               const std::function<bool(uint32_t, bool)>& in_force);

/// Makes the index: sorts, lists all that each map needs, finds children and groups, and builds the trees.
/// False:   `error` says why: two rows of one name, a row without name, a number that is infinite or NaN, an archetype
///          of a file that is not there, more than a resource holds.
/// Memory:  besides input and output, about 200 bytes a map and 30 an archetype for a time.
/// Threads: reentrant.
bool build_world_index(WorldIndexInput in, std::vector<uint8_t>& out, std::string& error);

}  // namespace meridian::tools
