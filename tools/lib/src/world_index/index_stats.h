// SPDX-License-Identifier: MIT
#pragma once
/// What a world index costs, for `resinfo stats`.

#include <optional>

#include "meridian/stream/world_index.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

/// Bytes of the payload by what they are there for.
struct IndexStats {
  struct Tree {
    uint32_t nodes = 0, depth = 0, outside = 0;
    uint64_t bytes = 0;
  };
  uint64_t maps = 0, types = 0, archetypes = 0, groups = 0;
  uint64_t map_bytes = 0;        ///< rows, children, lists of dependencies, trees
  uint64_t archetype_bytes = 0;  ///< rows, and those of the type files
  Tree entities, streaming;

  double bytes_per_map() const { return maps == 0 ? 0 : static_cast<double>(map_bytes) / static_cast<double>(maps); }
  double bytes_per_archetype() const {
    return archetypes == 0 ? 0 : static_cast<double>(archetype_bytes) / static_cast<double>(archetypes);
  }
};

/// Nothing for another kind, or where the file was read by another schema than the built-in one.
std::optional<IndexStats> index_stats(const LoadedResource& resource);

}  // namespace meridian::tools
