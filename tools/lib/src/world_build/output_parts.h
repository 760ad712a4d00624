// SPDX-License-Identifier: MIT
#pragma once
/// What an output is made from, as hashes: whether it must be made again, and why.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lint/repair.h"
#include "meridian/tools/lint.h"
#include "world_build/build_state.h"

namespace meridian::tools {

/// Of each archetype in force: everything that maps take from it.
std::unordered_map<uint32_t, uint64_t> archetype_hashes(const LintWorld& world);

/// `source`: hash of the source and what it was compiled with.
OutputParts output_parts(const LintWorld& world, const LintUnit& unit, uint64_t source,
                         const std::unordered_map<uint32_t, uint64_t>& archetypes, const MapRepair& repair);

/// One line for each thing that changed: "the source changed", "archetype 'lamp_03' changed".
std::vector<std::string> explain_change(const OutputParts& before, const OutputParts& now, const LintUnit& unit,
                                        const std::unordered_map<uint32_t, uint64_t>& known_archetypes,
                                        const std::unordered_map<uint32_t, uint64_t>& archetypes);

}  // namespace meridian::tools
