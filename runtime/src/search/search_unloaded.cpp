// SPDX-License-Identifier: MIT
#include "meridian/search/search_unloaded.h"

#include <bit>

#include "base/double3.h"
#include "base/float_mode.h"
#include "meridian/scene/wide_boxes.h"
#include "search/search_kernel.h"

namespace meridian {
namespace {

// Nodes of both trees are laid out alike, so the same loops read them.
static_assert(kBoxTreeWidth == kWideLanes && sizeof(WideBoxes) == kBoxTreeFloats * sizeof(float));

/// The volume as the index sees it.
Volume moved_back(const Volume& volume, const Double3& origin) {
  Volume out = volume;
  out.a = (Double3(volume.a) - origin).rounded();
  out.b = (Double3(volume.b) - origin).rounded();
  for (uint32_t i = 0; i < volume.plane_count && i < kMaxVolumePlanes; ++i) {
    const Plane& plane = volume.planes[i];
    out.planes[i].d = static_cast<float>(double{plane.d} + dot(Double3(plane.normal), origin));
  }
  return out;
}

Aabb box_of(const float* node, uint32_t lane) {
  const float* const b = node + lane;
  constexpr uint32_t k = kBoxTreeWidth;
  return {{b[0], b[k], b[2 * k]}, {b[3 * k], b[4 * k], b[5 * k]}};
}

bool is_resident(std::span<const uint64_t> bits, uint32_t slot) {
  return slot / 64 < bits.size() && (bits[slot / 64] >> slot % 64 & 1) != 0;
}

}  // namespace

Status search_unloaded(std::span<const IndexedMaps> trees, const Volume& volume, const WorldOrigin& origin,
                       std::span<UnloadedMap> out, SearchResult& result) {
  result = {};
  const Status usable = check(volume);
  if (!usable.ok()) return usable;
  const Volume in_index = moved_back(volume, {origin.x, origin.y, origin.z});
  const Status moved = check(in_index);
  if (!moved.ok()) return {StatusCode::bad_value, "an origin moves a volume beyond all floats", 0};

  const FloatMode mode;
  SearchVolume prepared;
  prepare(in_index, prepared);
  const BoxesKernel passes = search_kernels().boxes[static_cast<size_t>(in_index.kind)];
  for (uint32_t t = 0; t < trees.size(); ++t) {
    const BoxTree& tree = trees[t].tree;
    // A node leaves at most 15 more than it took, on each level.
    uint32_t stack[kMaxBoxTreeDepth * kBoxTreeWidth];
    uint32_t waiting = 0;
    if (!tree.children.empty()) stack[waiting++] = 0;
    while (waiting != 0) {
      const size_t node = stack[--waiting];
      const float* const boxes = tree.bounds.data() + node * kBoxTreeFloats;
      for (uint32_t mask = passes(prepared, boxes); mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
        const uint32_t child = tree.children[node * kBoxTreeWidth + lane];
        if ((child & kBoxTreeItem) == 0) {
          stack[waiting++] = child;
          continue;
        }
        const uint32_t slot = child & ~kBoxTreeItem;
        if (child == kBoxTreeNone || is_resident(trees[t].resident, slot)) continue;
        if (needs_exact_test(in_index.kind) && !touches(prepared, box_of(boxes, lane))) continue;
        if (result.found < out.size()) out[result.stored++] = {t, slot};
        ++result.found;
      }
    }
  }
  return {};
}

}  // namespace meridian
