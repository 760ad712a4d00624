// SPDX-License-Identifier: MIT
#pragma once
/// Builds the static box trees of a world index (meridian/stream/box_tree.h) with full nodes.

#include <cstdint>
#include <span>
#include <vector>

#include "meridian/stream/box_tree.h"

namespace meridian::tools {

/// The arrays of a tree.
struct BuiltBoxTree {
  std::vector<float> bounds;
  std::vector<uint32_t> children, places, outside;

  BoxTree view() const { return {bounds, children, places, outside}; }
};

/// Item i of the tree is boxes[i]. Boxes that are inside out on an axis stay outside, and are listed.
///
/// Top-down greedy split: a range of items is cut in two, at the place among the multiples of a full subtree and among
/// four orders (by centre along each axis, by size) that makes the two boxes' surfaces, each times the number of its
/// items, add up to the least; the halves are cut on until each is a full subtree. So all nodes but a few are full, and
/// large boxes do not blow up the nodes of small ones. The same boxes give the same bytes.
/// Requires: finite numbers; at most kMaxBoxTreeItems.
/// Source:   Garcia, Lopez, Leutenegger, "A greedy algorithm for bulk loading R-trees", 1998; the weights
///           are those of the surface area heuristic of ray tracing, the order by size is our own. What was measured:
///           docs/formats.md#world-index.
BuiltBoxTree build_box_tree(std::span<const Aabb> boxes);

}  // namespace meridian::tools
