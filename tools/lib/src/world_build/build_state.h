// SPDX-License-Identifier: MIT
#pragma once
/// What a build leaves beside its outputs for the next one: what the sources were, what each output was made from, what
/// was said. A state that is missing, damaged or of other settings costs a look at everything, never a wrong output.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "meridian/tools/diagnostics.h"
#include "world_build/sources.h"

namespace meridian::tools {

/// Hashes of what an output was made from, one for each kind of input.
struct OutputParts {
  uint64_t source = 0;      ///< the source and what it was compiled with
  uint64_t archetypes = 0;  ///< those that it uses
  uint64_t parents = 0;     ///< LOD parents in other maps
  uint64_t children = 0;    ///< children in other maps
  uint64_t repair = 0;      ///< extents and flags that were put right
  bool operator==(const OutputParts&) const = default;
};

struct BuiltOutput {
  std::string path;  ///< below the output folder
  uint64_t size = 0;
  int64_t time = 0;  ///< time_of
  OutputParts parts;
};

struct BuildStateData {
  uint64_t settings = 0;  ///< of what bears on outputs
  uint64_t checks = 0;    ///< of what bears on diagnostics only, or is in the outputs' parts too
  int64_t started = 0;    ///< [ns]
  std::vector<WorldSource> sources;
  std::vector<BuiltOutput> outputs;
  std::vector<std::pair<uint32_t, uint64_t>> archetypes;  ///< name to hash, sorted
  std::vector<Diagnostic> diagnostics;
};

/// False: there is none that can be used.
bool load_state(const std::string& path, BuildStateData& out);
/// Returns errno's value.
int save_state(const std::string& path, const BuildStateData& state);

}  // namespace meridian::tools
