// SPDX-License-Identifier: MIT
// The scan's loops one box at a time: what the wide ones must come out the same as, bit by bit.
#include <bit>
#include <cmath>

#include "scene/block_walk.h"
#include "scene/desc_bounds.h"
#include "visibility/scan_kernel.h"

namespace meridian {
namespace {

void find(const ScanInput& in, std::span<const ReadyShape> shapes, HierarchyWalk& walk, uint32_t most, SliceList& out,
          ScanCounters& counters) {
  while (walk.depth != 0 && out.count < most) {
    const uint32_t index = --walk.depth;
    const uint32_t number = walk.stack[index].node, active = walk.stack[index].shapes;
    const BoxHierarchy::Node& node = in.hierarchy->node(number);
    for (uint32_t lane = 0; lane < kWideLanes; ++lane) {
      const uint32_t child = node.child[lane];
      if (child == BoxHierarchy::kNone) continue;
      const ReadyBox box = ready_bound(node.boxes.lane(lane), in.lod.camera);
      uint32_t touched = 0;
      for (uint32_t left = active; left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        if (touches(shapes[i], box)) touched |= 1u << i;
      }
      if ((child & BoxHierarchy::kItem) != 0) ++counters.containers;
      if (touched == 0) {
        if ((child & BoxHierarchy::kItem) != 0) ++counters.containers_outside;
        continue;
      }
      if ((child & BoxHierarchy::kItem) == 0) {
        HierarchyWalk::Entry& entry = walk.stack[walk.depth++];
        entry.node = child;
        entry.shapes = touched;
        continue;
      }
      const uint32_t container = child & ~BoxHierarchy::kItem;
      keep_container(in, shapes, container, touched, nullptr, out, counters);
    }
  }
}

/// One entity of a slice.
void scan_slot(const ScanInput& in, std::span<const ReadyShape> shapes, uint32_t wanted, const ContainerView& view,
               const ContainerLinks& links, uint32_t slot, const ScanSlice& slice, WeightCache& weights, PvsSink& sink,
               ScanCounters& counters) {
  const DescLanes lanes = desc_lanes(view);
  const uint16_t flags = lanes.flags[slot];
  const auto distance = static_cast<float>(lanes.distance[slot]);
  ++counters.entities;
  if (distance == 0 || (flags & (kDescActive | kDescHidden)) != kDescActive) {
    ++counters.entities_hidden;
    return;
  }
  const uint8_t type_level = lanes.type_level[slot];
  const uint32_t level = level_of(type_level);
  const Vec3 pivot = detail::pivot_of(lanes, slot, links.rows);
  const bool has_level_scale = slice.sees_primary || ((flags & kDescLodChild) != 0 && !links.rows.empty());
  const float near = near_distance(distance, has_level_scale ? in.lod.scales[level] : in.lod.default_scale,
                                   in.lod.grass_scale, type_of(type_level) == EntityClass::grass_batch);
  const float fade = fade_of(distance, level), far = near + fade;
  const float reach = slice.sees_primary ? far + in.lod.pre_stream : far;
  const float squared = distance_squared(pivot, in.lod.camera), d = std::sqrt(squared);
  const Vec3 centre{lanes.centre_x[slot], lanes.centre_y[slot], lanes.centre_z[slot]};
  const Vec3 half{lanes.half_x[slot], lanes.half_y[slot], lanes.half_z[slot]};
  bool is_near = (slice.shapes & ~in.streaming) != 0 && squared <= reach * reach;
  if (is_near && !in.windows.empty() && (flags & kDescMaybeInCullBox) != 0)
    is_near = passes_windows(in.windows, {centre - half, centre + half}, d);

  const ReadyBox box = ready_slot(centre, half, in.lod.camera);
  uint32_t asking = 0;  // shapes
  for (uint32_t left = wanted & in.streaming; left != 0; left &= left - 1) {
    const auto number = static_cast<uint32_t>(std::countr_zero(left));
    if (is_asked_near(shapes[number], pivot, type_level, distance)) asking |= 1u << number;
  }
  uint32_t seen = 0, asked = 0;  // phases
  bool is_excluded = true;
  for (uint32_t left = slice.shapes; left != 0; left &= left - 1) {
    const auto number = static_cast<uint32_t>(std::countr_zero(left));
    const ReadyShape& shape = shapes[number];
    if (shape.is_streaming ? (asking >> number & 1) == 0 : !is_near) continue;
    const uint32_t filter = shape.is_streaming ? in.stream_filter : in.level_filter;
    if ((lanes.mask[slot] & shape.visibility) == 0 || (shape.types & type_bit(type_of(type_level))) == 0 ||
        (shape.levels & filter & (1u << level)) == 0) {
      continue;
    }
    is_excluded = false;
    if ((wanted >> number & 1) == 0 || !touches(shape, box)) continue;
    if (shape.is_streaming) {
      const float to_it = shape.has_ranges ? std::sqrt(distance_squared(pivot, shape.lod.camera)) : 0;
      if (!shape.has_ranges || is_in_range(*shape.shape, type_level, to_it)) asked |= shape.bit;
    } else if (!shape.has_ranges || is_in_range(*shape.shape, type_level, d)) {
      seen |= shape.bit;
    }
  }
  if ((seen | asked) == 0) {
    const bool is_too_far = !is_near && asking == 0;
    ++(!is_excluded ? counters.entities_outside : is_too_far ? counters.entities_too_far : counters.entities_excluded);
    return;
  }
  const SlotFate fate = slot_fate(in, links, lanes, slot, fade_alpha(d, near, fade), weights);
  uint32_t visible = fate.alpha != 0 ? seen : 0;
  uint8_t pvs_flags = fate.flags;
  if (visible == 0 && seen != 0) ++counters.entities_replaced;
  if (visible != 0 && in.has_occlusion && !slice.is_interior) {
    OcclusionSlots slots;
    slots.set(0, lanes, slot);
    slots.phases[0] = visible;
    if (occluded_slots(in, shapes, wanted, 1, slots) != 0) {
      pvs_flags |= kPvsOccluded;
      visible &= ~slots.hidden[0];
      if (visible == 0) ++counters.entities_occluded;
    }
  }
  if (slice.is_interior) pvs_flags |= kPvsInterior;
  sink.add(entity_in(view, slot), d, visible, seen | asked, fate.alpha, type_level, pvs_flags);
}

void scan_slice(const ScanInput& in, std::span<const ReadyShape> shapes, const ScanSlice& slice, PvsSink& sink,
                ScanCounters& counters) {
  const ContainerTable& table = *in.containers;
  const ContainerView& view = table.views[slice.container];
  const ContainerLinks& links = table.links[slice.container];
  const WideBoxes& boxes = table.sub_boxes[slice.container];
  WeightCache weights;
  ++counters.slices;
  for (uint32_t first = 0, block = 0; first < view.slots; first += kSubBlockSlots, ++block) {
    ++counters.blocks;
    const ReadyBox box = ready_bound(boxes.lane(block), in.lod.camera);
    uint32_t wanted = 0;
    if (!boxes.is_empty_lane(block)) {
      for (uint32_t left = slice.shapes; left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        if (touches(shapes[i], box)) wanted |= 1u << i;
      }
    }
    if (wanted == 0) {
      ++counters.blocks_outside;
      continue;
    }
    const DescBounds& bounds = table.sub_blocks[slice.container * kContainerSubBlocks + block];
    wanted = (wanted & ~in.streaming) | asking_for_block(bounds, shapes, wanted & in.streaming);
    const bool may_draw = (slice.shapes & ~in.streaming) != 0 && !is_block_too_far(bounds, in.lod, slice.sees_primary);
    if (!may_draw && (wanted & in.streaming) == 0) {
      ++counters.blocks_too_far;
      continue;
    }
    for (uint32_t slot = first; slot < view.slots && slot < first + kSubBlockSlots; ++slot)
      scan_slot(in, shapes, wanted, view, links, slot, slice, weights, sink, counters);
  }
}

void scan(const ScanInput& in, std::span<const ReadyShape> shapes, const SliceRun& run, PvsSink& sink,
          ScanCounters& counters) {
  for (const uint32_t number : run.numbers) {
    if (!run.begin(run.user, number)) return;
    scan_slice(in, shapes, run.slices[number], sink, counters);
    run.end(run.user, number);
  }
}

constexpr ScanKernels kKernels = {find, scan};

}  // namespace

const ScanKernels& scalar_scan_kernels() { return kKernels; }

}  // namespace meridian
