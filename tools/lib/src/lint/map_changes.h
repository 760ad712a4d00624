// SPDX-License-Identifier: MIT
#pragma once
/// What one version of a map changes in another: which entities are the same ones, and in which members they differ.
/// For overlays, where a later layer's map takes the place of an earlier one's. Source: own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/lint.h"

namespace meridian::tools {

/// Which entity of one version is which of the other; -1: none.
struct EntityPairs {
  std::vector<int64_t> after_of;   ///< by index before
  std::vector<int64_t> before_of;  ///< by index after
};

/// Pairs entities by guid, where it is not 0 and stands once in each version; what is left, by archetype and position
/// to the bit, equal ones in their order. So an entity without a guid of its own that was moved is one taken away and
/// one added.
EntityPairs pair_entities(const schema::MapData& before, const schema::MapData& after);

/// XML names of the members in which two entities differ; their extensions, and what they have as interiors, count as
/// members. Parents are the same if they are paired, whatever their indices.
std::vector<std::string> changed_members(const schema::MapData& before, uint32_t before_index,
                                         const schema::MapData& after, uint32_t after_index, const EntityPairs& pairs);

struct EntityChange {
  enum class Kind : uint8_t { removed, changed, added };
  Kind kind = Kind::changed;
  uint32_t index = 0;  ///< in the version before where removed, else in the one after
  uint32_t archetype = 0;
  std::vector<std::string> members;  ///< that differ, where changed

  /// "removed", "changed: position, lodDist", "added".
  std::string text() const;
};

/// What was removed, by index; then what was changed or added, by index.
std::vector<EntityChange> entity_changes(const schema::MapData& before, const schema::MapData& after);

/// "1 entity removed, 2 changed, 3 added"; empty where nothing is.
std::string summary_of(const std::vector<EntityChange>& changes);

}  // namespace meridian::tools
