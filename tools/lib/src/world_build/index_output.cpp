// SPDX-License-Identifier: MIT
#include "world_build/index_output.h"

#include <unordered_map>

#include "world_build/digest.h"

namespace meridian::tools {

WriteResult write_index_output(const std::string& folder, const LintWorld& world, std::span<const IndexedUnit> units,
                               const WorldIndexOptions& options, BuiltOutput& out, std::string& error) {
  std::unordered_map<const LintUnit*, const IndexedUnit*> by_unit;
  std::unordered_map<uint32_t, const MapRepair*> repairs;
  for (const IndexedUnit& u : units) {
    by_unit.emplace(u.unit, &u);
    if (u.unit->map != nullptr && u.repair != nullptr && u.repair->any()) repairs.emplace(u.unit->name, u.repair);
  }
  const auto size_of = [&](const LintUnit& unit) {
    const auto found = by_unit.find(&unit);
    return found == by_unit.end() ? 0u : static_cast<uint32_t>(found->second->size);
  };
  WorldIndexInput in = world_index_input(world, size_of, options);
  for (WorldIndexMap& map : in.maps)
    if (const auto found = repairs.find(map.slot.name.value); found != repairs.end())
      apply_repair(*found->second, map.slot);
  out.path = kIndexOutput;
  std::vector<uint8_t> bytes;
  if (!build_world_index(std::move(in), bytes, error)) return {};
  out.parts = {};
  out.parts.source = digest_of(bytes.data(), bytes.size()).low;
  return write_file(folder + "/" + out.path, bytes, WriteMode::if_changed);
}

}  // namespace meridian::tools
