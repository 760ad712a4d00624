// SPDX-License-Identifier: MIT
#pragma once
/// What holds of one descriptor, and of several together.

#include <algorithm>

#include "meridian/scene/desc_block.h"

namespace meridian::detail {

/// Bounds of nothing: no descriptor has a distance of 0.
inline bool is_empty(const DescBounds& bounds) {
  return std::all_of(std::begin(bounds.distance), std::end(bounds.distance), [](uint16_t d) { return d == 0; });
}

inline Aabb box_of(const DescBounds& bounds) { return {bounds.box_min, bounds.box_max}; }

/// Of `into` and `from` together.
inline void merge(DescBounds& into, const DescBounds& from) {
  if (is_empty(from)) return;
  if (is_empty(into)) {
    into = from;
    return;
  }
  into.box_min = min(into.box_min, from.box_min);
  into.box_max = max(into.box_max, from.box_max);
  into.pivot_min = min(into.pivot_min, from.pivot_min);
  into.pivot_max = max(into.pivot_max, from.pivot_max);
  for (unsigned i = 0; i < kLodLevels; ++i) into.distance[i] = std::max(into.distance[i], from.distance[i]);
  into.masks = static_cast<uint16_t>(into.masks | from.masks);
}

/// The set in which a slot's entity is a child; kNoLodSet if it is in none.
inline uint16_t child_set(const DescLanes& lanes, uint32_t slot, std::span<const LodLinkRow> links) {
  const uint16_t flags = lanes.flags[slot], set = lanes.lod_set[slot];
  if ((flags & kDescLodChild) == 0 || set >= links.size()) return kNoLodSet;
  return (flags & kDescSetParent) != 0 ? links[set].up : set;
}

/// Where a slot's distance is measured from.
inline Vec3 pivot_of(const DescLanes& lanes, uint32_t slot, std::span<const LodLinkRow> links) {
  const uint16_t set = child_set(lanes, slot, links);
  return set < links.size() ? links[set].pivot : slot_pivot(lanes, slot);
}

/// Of one slot whose distance is measured from `pivot`; empty if it can never be visible.
inline DescBounds bounds_of_slot(const DescLanes& lanes, uint32_t slot, const Vec3& pivot) {
  DescBounds out;
  if (lanes.distance[slot] == 0) return out;
  const double x = lanes.centre_x[slot], y = lanes.centre_y[slot], z = lanes.centre_z[slot];
  const double hx = lanes.half_x[slot], hy = lanes.half_y[slot], hz = lanes.half_z[slot];
  out.box_min = {round_down(x - hx), round_down(y - hy), round_down(z - hz)};
  out.box_max = {round_up(x + hx), round_up(y + hy), round_up(z + hz)};
  out.pivot_min = out.pivot_max = pivot;
  out.distance[level_of(lanes.type_level[slot])] = lanes.distance[slot];
  out.masks = lanes.mask[slot];
  return out;
}
inline DescBounds bounds_of_slot(const DescLanes& lanes, uint32_t slot, std::span<const LodLinkRow> links) {
  return bounds_of_slot(lanes, slot, pivot_of(lanes, slot, links));
}

}  // namespace meridian::detail
