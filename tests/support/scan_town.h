// SPDX-License-Identifier: MIT
#pragma once
/// A scene that is large enough for many jobs, and plain enough that one knows what is seen: maps of cubes on a grid,
/// side by side along x, each in a node of its own.

#include <map>
#include <utility>
#include <vector>

#include "support/scan_kit.h"
#include "unit/runtime/scene/scene_kit.h"

namespace meridian::test {

class ScanTown {
 private:
  std::vector<MapBlocks> blocks_;  // what containers refer to outlives them

 public:
  static constexpr float kSpacing = 4, kMapSide = 128;  ///< [m]

  /// Map m stands at x in [m * kMapSide, ...), and its entities are of generation m + 1.
  explicit ScanTown(uint32_t maps = 10, uint32_t entities = 1000) : per_map(entities) {
    blocks_.reserve(maps);
    kit.next_handle = 100000;  // none of a map's
    for (uint32_t m = 0; m < maps; ++m) {
      std::vector<EntityDesc> descs;
      for (uint32_t i = 0; i < entities; ++i) {
        EntityDesc d = cube_at({static_cast<float>(m) * kMapSide + static_cast<float>(i % 32) * kSpacing,
                                static_cast<float>(i / 32) * kSpacing, 0},
                               5000);
        d.handle = i;
        descs.push_back(d);
      }
      const MapBlocks& map = blocks_.emplace_back(std::move(descs), std::vector<LodLinkRow>{});
      nodes.push_back(&kit.add_node());
      EXPECT_TRUE(kit.graph.add_blocks(*nodes.back(), map.view({.generation = m + 1, .slot = 0})).ok());
      for (uint32_t i = 0; i < entities; ++i)
        for (size_t c = 0; c < map.containers.size(); ++c) {
          const DescContainer& container = map.containers[c];
          const uint32_t slot = map.slot_of[i] - container.first_slot;
          if (map.slot_of[i] >= container.first_slot && slot < container.count) container_of_.push_back({m, c});
        }
    }
    EXPECT_EQ(container_of_.size(), size_t{maps} * entities);
  }

  /// Map and container of an entity.
  std::pair<uint32_t, size_t> container_of(EntityHandle entity) const {
    return container_of_[size_t{entity.generation - 1} * per_map + entity.slot];
  }
  uint32_t map_count() const { return static_cast<uint32_t>(nodes.size()); }
  uint32_t total() const { return map_count() * per_map; }
  /// Entities of each container.
  std::map<std::pair<uint32_t, size_t>, uint32_t> container_sizes() const {
    std::map<std::pair<uint32_t, size_t>, uint32_t> out;
    for (const auto& at : container_of_) ++out[at];
    return out;
  }
  /// Sees maps [first, last), nothing of the others.
  CullShape slab(uint8_t phase, uint32_t first, uint32_t last, uint32_t flags = 0) const {
    CullShape out;
    out.flags = kCullUseFrustum | kCullRenderExterior | flags;
    out.phase = phase;
    out.plane_count = 2;
    out.planes[0] = {{1, 0, 0}, -(static_cast<float>(first) * kMapSide - 1.5f)};
    out.planes[1] = {{-1, 0, 0}, static_cast<float>(last) * kMapSide - 1.5f};
    return out;
  }
  CullShape all(uint8_t phase = 0) const { return slab(phase, 0, map_count()); }

  uint32_t per_map;
  ScanKit kit;
  std::vector<StreamedNode*> nodes;

 private:
  std::vector<std::pair<uint32_t, size_t>> container_of_;
};

}  // namespace meridian::test
