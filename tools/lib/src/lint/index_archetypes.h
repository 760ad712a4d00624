// SPDX-License-Identifier: MIT
#pragma once
/// Archetypes of a world index as rules see them: definitions with name, bounds, LOD distance and switches, and nothing
/// of what an index does not tell.

#include <memory>
#include <vector>

#include "meridian/schemas/ityp_generated.h"
#include "meridian/stream/world_index.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

class IndexArchetypes {
 public:
  /// Requires: `resource` is a world index of the built-in schema.
  explicit IndexArchetypes(std::unique_ptr<const LoadedResource> resource);

  /// Requires: this outlives the world; not linked yet.
  void add_to(LintWorld& world) const;

 private:
  std::unique_ptr<const LoadedResource> resource_;
  WorldIndex index_;
  std::vector<schema::ArchetypeDef> defs_;
};

}  // namespace meridian::tools
