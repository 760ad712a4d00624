// SPDX-License-Identifier: MIT
#pragma once
/// Which nodes each shape sees, and how much of them.

#include <cstdint>

#include <span>

#include "meridian/scene/scene_graph.h"
#include "meridian/visibility/cull_shape.h"
#include "meridian/visibility/scan_results.h"

namespace meridian {

class PortalTable;

/// By dense index of nodes. Node 0 is the outside.
struct NodeSight {
  uint32_t* phases = nullptr;                 ///< 1u << phase of each shape that sees it
  ScreenRect* quads[kScreenQuadStores] = {};  ///< of the shape with that store; empty: not seen
  uint32_t node_count = 0;
};

/// What the traversal of one scan goes by, and what it leaves.
struct PortalWalkInput {
  const SceneGraph* graph = nullptr;
  const PortalTable* table = nullptr;  ///< as the graph is now
  std::span<const int16_t> closed_interiors;
  uint32_t depth_limit = 24;
};

/// Finds the nodes that shape `index` of `shapes` (in their order, those before it are done) sees: the outside, rooms
/// and portals; not the nodes of maps. Sets their bits in `sight`, widens their quads, and keeps `results` up to date.
void walk_portals(const PortalWalkInput& in, std::span<const CullShape> shapes, uint32_t index, NodeSight& sight,
                  ScanResults& results);
/// After the last shape: what follows from all of them together.
void finish_walk(const PortalWalkInput& in, std::span<const CullShape> shapes, NodeSight& sight, ScanResults& results);

}  // namespace meridian
