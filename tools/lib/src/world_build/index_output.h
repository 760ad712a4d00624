// SPDX-License-Identifier: MIT
#pragma once
/// The world index as one of worldc's outputs.

#include <cstdint>
#include <span>
#include <string>

#include "lint/repair.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/world_index_writer.h"
#include "world_build/build_state.h"

namespace meridian::tools {

/// Where it stands below the output folder, and its name in a pack.
inline constexpr const char *kIndexOutput = "world.widx", *kIndexName = "world";

/// A map or type file that was written.
struct IndexedUnit {
  const LintUnit* unit = nullptr;
  uint64_t size = 0;                  ///< of the output [bytes]
  const MapRepair* repair = nullptr;  ///< what was put right in it; may be null
};

/// Writes the index of `world` below `folder`, if it differs. Boxes and flags are those of the outputs. In `out` path
/// and parts are set; size and time are the caller's, who looks at the file. Errors: `error` says why no index can be
/// made (then nothing is written); else see the result. Requires: `units` are all that is in force.
WriteResult write_index_output(const std::string& folder, const LintWorld& world, std::span<const IndexedUnit> units,
                               const WorldIndexOptions& options, BuiltOutput& out, std::string& error);

}  // namespace meridian::tools
