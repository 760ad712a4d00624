// SPDX-License-Identifier: MIT
#include "meridian/tools/world_conflicts.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lint/map_changes.h"
#include "meridian/tools/file_io.h"

namespace meridian::tools {
namespace {

bool is_below(std::string_view path, const std::string& layer) {
  const std::string folder = without_slashes(layer);
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

/// The layer that a unit was found in; where several share its place, the innermost whose folder holds it.
std::string layer_of(const LintUnit& unit, std::span<const WorldLayer> layers) {
  const WorldLayer* found = nullptr;
  for (const WorldLayer& layer : layers)
    if (layer.order == unit.layer && is_below(unit.path, layer.path) &&
        (found == nullptr || layer.path.size() > found->path.size()))
      found = &layer;
  return found == nullptr ? std::to_string(unit.layer) : found->name;
}

}  // namespace

std::string world_conflicts_text(const LintWorld& world, std::span<const WorldLayer> layers) {
  std::vector<const LintUnit*> maps;
  for (const auto& unit : world.units())
    if (unit->map != nullptr && !unit->is_shadowed && world.versions_of(*unit).size() > 1) maps.push_back(unit.get());
  std::sort(maps.begin(), maps.end(), [](const LintUnit* a, const LintUnit* b) { return a->stem < b->stem; });
  std::string out;
  for (const LintUnit* map : maps) {
    const std::span<const LintUnit* const> versions = world.versions_of(*map);
    for (size_t i = 0; i + 1 < versions.size(); ++i) {
      const LintUnit &low = *versions[i], &high = *versions[i + 1];
      const std::string where =
          map->stem + ": " + layer_of(low, layers) + " -> " + layer_of(high, layers) + ": entity ";
      for (const EntityChange& change : entity_changes(*low.map, *high.map)) {
        const NameTexts& names = change.kind == EntityChange::Kind::removed ? low.names : high.names;
        out +=
            where + std::to_string(change.index) + " " + names.quoted(change.archetype) + ": " + change.text() + "\n";
      }
    }
  }
  return out;
}

}  // namespace meridian::tools
