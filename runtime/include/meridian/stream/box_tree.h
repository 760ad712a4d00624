// SPDX-License-Identifier: MIT
#pragma once
/// A static tree of boxes: which maps does this place concern? It is built offline, stands in a world index, and is
/// searched where it lies.
///
///   uint32_t found[256];
///   const uint32_t count = query_sphere(world.streaming_tree(), camera, 30.0f, found);
///   for (uint32_t i = 0; i < count && i < 256; ++i) request(world.maps()[found[i]]);
///
/// A node holds up to 16 boxes as six runs of 16 floats, so that one pass without branches tests them all. Nodes stand
/// level by level. Boxes are closed: what only touches is found. There is no root cell that a box could lie outside of.
///
/// Items whose box is inside out (a map without contents) are in no tree, and no query finds them; `outside` lists
/// them.
///
/// All vector widths (base/simd.h) find the same, in the same order.
///
/// Threads: immutable.
/// Memory:  none; a query's stack is below 4 KiB.
/// Source:  own; how trees are built, and why so, is in docs/formats.md#world-index.

#include <cstdint>
#include <span>

#include "meridian/base/math.h"

namespace meridian {

inline constexpr uint32_t kBoxTreeWidth = 16;                   ///< boxes of a node
inline constexpr uint32_t kBoxTreeFloats = 6 * kBoxTreeWidth;   ///< floats of a node
inline constexpr uint32_t kMaxBoxTreeDepth = 16;                ///< levels; 16^8 boxes need 8
inline constexpr uint32_t kBoxTreeItem = 0x80000000;            ///< in `children`: the rest is an item, not a node
inline constexpr uint32_t kBoxTreeNone = 0xFFFFFFFF;            ///< in `children`: unused; in `places`: outside
inline constexpr uint32_t kMaxBoxTreeItems = kBoxTreeItem - 1;  ///< so that no item looks like kBoxTreeNone

/// What a tree can be searched with.
enum class BoxShape : uint8_t { box, sphere, segment };
inline constexpr uint32_t kBoxShapes = 3;

/// A view of a tree. Requires: what it points to outlives it and was checked (open_resource) or comes from a trusted
/// pack.
struct BoxTree {
  std::span<const float> bounds;       ///< kBoxTreeFloats a node: min x, y, z, max x, y, z, 16 of each [m]
  std::span<const uint32_t> children;  ///< kBoxTreeWidth a node, used ones first
  std::span<const uint32_t> places;    ///< of each item its index in `children`, kBoxTreeNone: outside
  std::span<const uint32_t> outside;   ///< items in no node, ascending

  uint32_t item_count() const { return static_cast<uint32_t>(places.size()); }
  uint32_t node_count() const { return static_cast<uint32_t>(children.size() / kBoxTreeWidth); }
  /// Levels of nodes, 0 for an empty tree. Costs a look at every node.
  uint32_t depth() const;
  /// Bytes of the arrays.
  uint64_t size_bytes() const {
    return bounds.size_bytes() + children.size_bytes() + places.size_bytes() + outside.size_bytes();
  }
};

/// Finds the items whose box touches `box`.
/// Order is unspecified but is the same for the same tree. If `out` is too small it is filled, and the full number is
/// still returned, so that a caller can size and retry.
/// Requires: finite; box.min <= box.max on each axis.
/// Threads:  reentrant.
uint32_t query_box(const BoxTree& tree, const Aabb& box, std::span<uint32_t> out);

/// Finds the items whose box is not further than `radius` from `centre`. Otherwise as query_box.
/// Distances are computed in double precision.
/// Requires: finite; radius >= 0.
uint32_t query_sphere(const BoxTree& tree, const Vec3& centre, float radius, std::span<uint32_t> out);

/// Finds the items whose box the segment from `a` to `b` touches. Otherwise as query_box. Computed in double precision
/// and on the safe side: none is missed, and a box that is missed by less than 2^-48 of the segment may be found.
/// Requires: finite. `a` and `b` may be the same.
uint32_t query_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, std::span<uint32_t> out);
/// The same with each box grown by `radius` on all sides: what a box of that half size meets that is moved from `a` to
/// `b`. Grown borders are rounded outwards, to doubles.
/// Requires: finite; radius >= 0.
uint32_t query_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, float radius, std::span<uint32_t> out);

}  // namespace meridian
