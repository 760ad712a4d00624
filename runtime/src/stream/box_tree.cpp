// SPDX-License-Identifier: MIT
#include "meridian/stream/box_tree.h"

#include <bit>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "stream/box_query.h"

namespace meridian {
namespace {

/// The reference: one box at a time.
template <BoxShape kShape>
class ScalarTest {
 public:
  explicit ScalarTest(const BoxQuery& query) : query_(query) {}
  uint32_t lanes(const float* node) const { return touched_lanes(query_, node, (1u << kBoxTreeWidth) - 1); }

 private:
  const BoxQuery& query_;
};

using BoxTest = ScalarTest<BoxShape::box>;
using SphereTest = ScalarTest<BoxShape::sphere>;
using SegmentTest = ScalarTest<BoxShape::segment>;

uint32_t item_lanes(const uint32_t* children) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < kBoxTreeWidth; ++i) out |= (children[i] >> 31) << i;
  return out;
}

#include "stream/box_walk-inl.h"

uint32_t list(const BoxTree& tree, const BoxQuery& query, std::span<uint32_t> out) {
  const FloatMode mode;
  return box_kernels().list[static_cast<size_t>(query.shape)](tree, query, out);
}

}  // namespace

const BoxKernels& scalar_box_kernels() { return kKernels; }

uint32_t BoxTree::depth() const {
  // Level by level: a level ends where the last node named by the level before stands.
  uint32_t levels = 0, first = 0, last = node_count() == 0 ? 0 : 1;
  while (first < last) {
    ++levels;
    uint32_t next = last;
    for (uint32_t node = first; node < last; ++node)
      for (uint32_t lane = 0; lane < kBoxTreeWidth; ++lane)
        next += (children[size_t{node} * kBoxTreeWidth + lane] & kBoxTreeItem) == 0 ? 1 : 0;
    first = last;
    last = next;
  }
  return levels;
}

uint32_t query_box(const BoxTree& tree, const Aabb& box, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(box.min) && is_finite(box.max), "a query's box is finite");
  MERIDIAN_ASSERT(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z,
                  "a query's box is not inside out");
  return list(tree, box_query(box), out);
}

uint32_t query_sphere(const BoxTree& tree, const Vec3& centre, float radius, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(centre) && is_finite(radius) && radius >= 0, "a query's sphere is finite");
  return list(tree, sphere_query(centre, double{radius}), out);
}

uint32_t query_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(a) && is_finite(b), "a query's segment is finite");
  return list(tree, segment_query(a, b, 0), out);
}

uint32_t query_segment(const BoxTree& tree, const Vec3& a, const Vec3& b, float radius, std::span<uint32_t> out) {
  MERIDIAN_ASSERT(is_finite(a) && is_finite(b), "a query's segment is finite");
  MERIDIAN_ASSERT(is_finite(radius) && radius >= 0, "a query's radius is finite");
  return list(tree, segment_query(a, b, double{radius}), out);
}

}  // namespace meridian
