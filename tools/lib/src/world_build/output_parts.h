// SPDX-License-Identifier: MIT
#pragma once
/// What an output is made from, as hashes: whether it must be made again, and why.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lint/repair.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/tools/lint.h"
#include "world_build/build_state.h"
#include "world_build/lod_links.h"

namespace meridian::tools {

/// What maps take from an archetype, and its hash.
struct LinkedArchetype {
  ArchetypeTraits traits;
  uint64_t hash = 0;
};
using ArchetypeTable = std::unordered_map<uint32_t, LinkedArchetype>;

/// All archetypes in force.
ArchetypeTable linked_archetypes(const LintWorld& world);

/// `source`: hash of the source and what it was compiled with.
OutputParts output_parts(const LintWorld& world, const LintUnit& unit, uint64_t source,
                         const ArchetypeTable& archetypes, const LodSetTable& sets, const MapRepair& repair);

/// One line for each thing that changed: "the source changed", "archetype 'lamp_03' changed".
std::vector<std::string> explain_change(const OutputParts& before, const OutputParts& now, const LintUnit& unit,
                                        const std::unordered_map<uint32_t, uint64_t>& known_archetypes,
                                        const ArchetypeTable& archetypes);

}  // namespace meridian::tools
