// SPDX-License-Identifier: MIT
#include "meridian/stream/box_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

constexpr uint32_t kWidth = kBoxTreeWidth;

/// The six runs of a node.
struct NodeBoxes {
  const float *min_x, *min_y, *min_z, *max_x, *max_y, *max_z;
  explicit NodeBoxes(const float* node)
      : min_x(node),
        min_y(node + kWidth),
        min_z(node + 2 * kWidth),
        max_x(node + 3 * kWidth),
        max_y(node + 4 * kWidth),
        max_z(node + 5 * kWidth) {}
};

/// One word a lane, 0 or 1: the loops that fill it have neither branches nor a mask to carry, so compilers vectorise
/// them.
using Hits = uint32_t[kWidth];

/// Walks down from the root wherever `test` says so. Every test is monotonic: it hits a box that holds one which it
/// hits, also after rounding, so that nothing is lost on the way down.
template <class Test>
uint32_t find_items(const BoxTree& tree, const Test& test, std::span<uint32_t> out) {
  if (tree.children.empty()) return 0;
  // A node leaves at most 15 more than it took, on each level.
  uint32_t stack[kMaxBoxTreeDepth * kWidth];
  uint32_t waiting = 0, found = 0;
  stack[waiting++] = 0;
  while (waiting != 0) {
    const size_t node = stack[--waiting];
    Hits hits;
    test(NodeBoxes(tree.bounds.data() + node * kBoxTreeFloats), hits);
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < kWidth; ++lane) mask |= hits[lane] << lane;
    for (; mask != 0; mask &= mask - 1) {
      const uint32_t child = tree.children[node * kWidth + static_cast<uint32_t>(std::countr_zero(mask))];
      if ((child & kBoxTreeItem) == 0) {
        stack[waiting++] = child;
      } else if (child != kBoxTreeNone) {  // an unused box touches queries as large as all floats
        if (found < out.size()) out[found] = child & ~kBoxTreeItem;
        ++found;
      }
    }
  }
  return found;
}

struct TouchesBox {
  Aabb box;
  void operator()(const NodeBoxes& n, Hits& hits) const {
    for (uint32_t i = 0; i < kWidth; ++i)
      hits[i] = static_cast<uint32_t>(n.min_x[i] <= box.max.x) & static_cast<uint32_t>(n.max_x[i] >= box.min.x) &
                static_cast<uint32_t>(n.min_y[i] <= box.max.y) & static_cast<uint32_t>(n.max_y[i] >= box.min.y) &
                static_cast<uint32_t>(n.min_z[i] <= box.max.z) & static_cast<uint32_t>(n.max_z[i] >= box.min.z);
  }
};

struct TouchesSphere {
  double x, y, z, radius;

  /// How far a number is outside an interval. Of two terms at most one is above 0.
  static double gap(double low, double high, double at) {
    const double below = low - at, above = at - high;
    return (below > 0 ? below : 0) + (above > 0 ? above : 0);
  }
  void operator()(const NodeBoxes& n, Hits& hits) const {
    const double limit = radius * radius;
    for (uint32_t i = 0; i < kWidth; ++i) {
      const double dx = gap(static_cast<double>(n.min_x[i]), static_cast<double>(n.max_x[i]), x);
      const double dy = gap(static_cast<double>(n.min_y[i]), static_cast<double>(n.max_y[i]), y);
      const double dz = gap(static_cast<double>(n.min_z[i]), static_cast<double>(n.max_z[i]), z);
      hits[i] = static_cast<uint32_t>(dx * dx + dy * dy + dz * dz <= limit);
    }
  }
};

/// Slabs: the part of the segment, [0, 1], that lies between the two planes of an axis; the box is touched where all
/// three parts have something in common.
struct TouchesSegment {
  double start[3], inverse[3];
  double low[3], high[3];
  bool flat[3];  ///< so short along this axis that dividing by it would overflow

  TouchesSegment(const Vec3& a, const Vec3& b) {
    const double from[3] = {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
    const double to[3] = {static_cast<double>(b.x), static_cast<double>(b.y), static_cast<double>(b.z)};
    for (int axis = 0; axis < 3; ++axis) {
      start[axis] = from[axis];
      low[axis] = std::min(from[axis], to[axis]);
      high[axis] = std::max(from[axis], to[axis]);
      flat[axis] = high[axis] - low[axis] == 0;  // differences of floats are far above the smallest doubles
      inverse[axis] = flat[axis] ? 0 : 1 / (to[axis] - from[axis]);
    }
  }

  void operator()(const NodeBoxes& n, Hits& hits) const {
    const float* const mins[3] = {n.min_x, n.min_y, n.min_z};
    const float* const maxs[3] = {n.max_x, n.max_y, n.max_z};
    double enter[kWidth], leave[kWidth];
    for (uint32_t i = 0; i < kWidth; ++i) {
      hits[i] = 1;
      enter[i] = 0;
      leave[i] = 1;
    }
    for (int axis = 0; axis < 3; ++axis) {
      // The segment's own box first: it decides where an axis is flat, and is exact where slabs round.
      for (uint32_t i = 0; i < kWidth; ++i)
        hits[i] &= static_cast<uint32_t>(static_cast<double>(mins[axis][i]) <= high[axis]) &
                   static_cast<uint32_t>(static_cast<double>(maxs[axis][i]) >= low[axis]);
      if (flat[axis]) continue;
      for (uint32_t i = 0; i < kWidth; ++i) {
        const double t0 = (static_cast<double>(mins[axis][i]) - start[axis]) * inverse[axis];
        const double t1 = (static_cast<double>(maxs[axis][i]) - start[axis]) * inverse[axis];
        const double first = t0 < t1 ? t0 : t1, last = t0 < t1 ? t1 : t0;
        enter[i] = first > enter[i] ? first : enter[i];
        leave[i] = last < leave[i] ? last : leave[i];
      }
    }
    // Each t is three roundings, 2^-53 each, away from the truth, and none that counts is above 1.
    constexpr double kRounding = 0x1p-50;
    for (uint32_t i = 0; i < kWidth; ++i) hits[i] &= static_cast<uint32_t>(enter[i] <= leave[i] + kRounding);
  }
};

}  // namespace

uint32_t BoxTree::depth() const {
  // Level by level: a level ends where the last node named by the level before stands.
  uint32_t levels = 0, first = 0, last = node_count() == 0 ? 0 : 1;
  while (first < last) {
    ++levels;
    uint32_t next = last;
    for (uint32_t node = first; node < last; ++node)
      for (uint32_t lane = 0; lane < kWidth; ++lane)
        next += (children[size_t{node} * kWidth + lane] & kBoxTreeItem) == 0 ? 1 : 0;
    first = last;
    last = next;
  }
  return levels;
}

uint32_t query_box(const BoxTree& tree, const Aabb& box, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(box.min) && is_finite(box.max), "a query's box is finite");
  MERIDIAN_ASSERT(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z,
                  "a query's box is not inside out");
  return find_items(tree, TouchesBox{box}, out);
}

uint32_t query_sphere(const BoxTree& tree, const Vec3& centre, float radius, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(centre) && is_finite(radius) && radius >= 0, "a query's sphere is finite");
  return find_items(tree,
                    TouchesSphere{static_cast<double>(centre.x), static_cast<double>(centre.y),
                                  static_cast<double>(centre.z), static_cast<double>(radius)},
                    out);
}

uint32_t query_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(a) && is_finite(b), "a query's segment is finite");
  return find_items(tree, TouchesSegment(a, b), out);
}

}  // namespace meridian
