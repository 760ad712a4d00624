// SPDX-License-Identifier: MIT
#include "world_index/index_stats.h"

#include "meridian/schemas/world_index_generated.h"

namespace meridian::tools {
namespace {

IndexStats::Tree stats_of(const BoxTree& tree) {
  return {tree.node_count(), tree.depth(), static_cast<uint32_t>(tree.outside.size()), tree.size_bytes()};
}

}  // namespace

std::optional<IndexStats> index_stats(const LoadedResource& resource) {
  // By another schema the bytes were not checked for what the view relies on.
  if (resource.resource.kind() != kWorldIndexKind || resource.binding.get() != Binding::builtin(kWorldIndexKind))
    return {};
  const WorldIndex index(resource.resource);
  const schema::WorldIndex& root = *resource.resource.root<schema::WorldIndex>();
  IndexStats out;
  out.maps = index.maps().size();
  out.types = index.types().size();
  out.archetypes = index.archetypes().size();
  out.groups = index.group_count();
  out.entities = stats_of(index.entities_tree());
  out.streaming = stats_of(index.streaming_tree());
  out.map_bytes = index.maps().size_bytes() + out.entities.bytes + out.streaming.bytes +
                  (uint64_t{root.children()->size()} + root.dependencies()->size() + root.dependency_lists()->size()) *
                      sizeof(uint32_t);
  out.archetype_bytes = index.archetypes().size_bytes() + index.types().size_bytes();
  return out;
}

}  // namespace meridian::tools
