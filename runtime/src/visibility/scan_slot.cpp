// SPDX-License-Identifier: MIT
// What the loops of all widths decide for one entity, block or box at a time.
#include <algorithm>
#include <bit>
#include <cmath>

#include "visibility/scan_kernel.h"

namespace meridian {
namespace {

float outside_of(float lo, float hi, float at) {
  const float d = lo - at > at - hi ? lo - at : at - hi;
  return d > 0 ? d : 0.0f;
}

}  // namespace

void HierarchyWalk::begin(const BoxHierarchy& hierarchy, uint32_t shapes) {
  depth = 0;
  for (const uint32_t root : hierarchy.roots()) {
    Entry& entry = stack[depth++];
    entry.node = root;
    entry.shapes = shapes;
    std::fill(std::begin(entry.planes), std::end(entry.planes), kAllPlanes);
  }
}

// lod_weight(), from the topmost set down, which climbs no more than kMaxLodChain sets. Null: there is no such set.
const WeightCache::Entry* WeightCache::look_up(const ScanInput& in, uint32_t set, uint32_t depth) {
  const uint64_t bit = uint64_t{1} << set % kEntries;
  Entry& entry = entries_[set % kEntries];
  if ((used_ & bit) != 0 && entry.set == set) return &entry;
  const LodSetRecord* const record = depth <= kMaxLodChain ? in.sets->find(set) : nullptr;
  if (record == nullptr) return nullptr;
  const Entry* const up = look_up(in, record->up, depth + 1);
  const float distance = lod_set_distance(record->pivot, in.lod.camera);
  const LodShare share =
      split(up == nullptr ? kFullWeight : up->children, child_alpha(*record, distance, in.lod.scales[record->level]));
  entry = {set, static_cast<uint8_t>(share.children), static_cast<uint8_t>(share.parent), record->up != kNoLodSetId};
  used_ |= bit;
  return &entry;
}

SlotWeight WeightCache::weight(const ScanInput& in, const ContainerLinks& links, uint16_t row, uint16_t desc_flags) {
  if (in.sets == nullptr) return {};
  const LodPlace place = lod_place(links.rows, links.set_ids, row, (desc_flags & kDescSetParent) != 0);
  const Entry* const of = look_up(in, place.set, 1);
  if (of == nullptr) return {};
  if (!place.is_parent) return {of->children, kPvsLodChild, false};
  return {of->parent, kPvsLodParent, !of->has_up};
}

void WeightCache::ask_for(const ScanInput& in, const ContainerLinks& links, uint16_t row, uint16_t desc_flags) {
  const LodPlace place = lod_place(links.rows, links.set_ids, row, (desc_flags & kDescSetParent) != 0);
  if (const LodSetRecord* const record = in.sets->find(place.set); record != nullptr) prefetch(record, 1);
}

bool passes_windows(std::span<const CullWindow> windows, const Aabb& box, float distance) {
  for (const CullWindow& window : windows) {
    const bool touches = box.min.x <= window.box.max.x && box.max.x >= window.box.min.x &&
                         box.min.y <= window.box.max.y && box.max.y >= window.box.min.y &&
                         box.min.z <= window.box.max.z && box.max.z >= window.box.min.z;
    if (touches && !(distance >= window.min && distance <= window.max)) return false;
  }
  return true;
}

bool is_in_range(const CullShape& shape, uint8_t type_level, float distance) {
  const LodRange& range = shape.ranges[level_of(type_level) % kLodLevels];
  if (!(distance >= range.min && distance <= range.max)) return false;
  const uint32_t type = type_bit(type_of(type_level));
  for (const DistanceCap& cap : shape.caps)
    if ((cap.types & type) != 0 && !(distance <= cap.distance)) return false;
  return true;
}

bool is_asked_near(const ReadyShape& shape, const Vec3& pivot, uint8_t type_level, float distance) {
  const ReadyLod& lod = shape.lod;
  const uint32_t level = level_of(type_level);
  const float near =
      near_distance(distance, lod.scales[level], lod.grass_scale, type_of(type_level) == EntityClass::grass_batch);
  const float reach = (near + fade_of(distance, level)) + lod.pre_stream;
  return distance_squared(pivot, lod.camera) <= reach * reach;
}

// Each step is the slot's with a number that is no smaller, or no larger for the distance: rounding keeps the order, so
// no slot inside passes what its block does not.
bool is_block_too_far(const DescBounds& bounds, const ReadyLod& lod, bool sees_primary) {
  const Vec3 &lo = bounds.pivot_min, &hi = bounds.pivot_max;
  const float x = outside_of(lo.x, hi.x, lod.camera.x), y = outside_of(lo.y, hi.y, lod.camera.y);
  const float z = outside_of(lo.z, hi.z, lod.camera.z);
  float near = 0;
  for (uint32_t i = 0; i < kLodLevels; ++i) {
    const float scale = sees_primary ? lod.scales[i] : std::max(lod.scales[i], lod.default_scale);
    near = std::max(near, static_cast<float>(bounds.distance[i]) * scale);
  }
  near *= std::max(1.0f, lod.grass_scale);
  const float far = near + kLodFade, reach = sees_primary ? far + lod.pre_stream : far;
  return (x * x + y * y) + z * z > reach * reach;
}

uint32_t asking_for_block(const DescBounds& bounds, std::span<const ReadyShape> shapes, uint32_t askers) {
  uint32_t out = 0;
  for (uint32_t left = askers; left != 0; left &= left - 1) {
    const uint32_t bit = left & (~left + 1);
    if (!is_block_too_far(bounds, shapes[static_cast<size_t>(std::countr_zero(left))].lod, true)) out |= bit;
  }
  return out;
}

void keep_container(const ScanInput& in, std::span<const ReadyShape> shapes, uint32_t container, uint32_t touched,
                    const uint16_t* planes, SliceList& out, ScanCounters& counters) {
  const ContainerView& view = in.containers->views[container];
  constexpr uint32_t kNeeded = kContainerUsed | kContainerInWorld;
  constexpr uint32_t kUnwanted = kContainerInterior | kContainerStraddling;
  if ((view.flags & (kNeeded | kUnwanted)) != kNeeded || view.slots == 0) return;
  const DescBounds& bounds = in.containers->bounds[container];
  // Whether the primary phase sees the node is not known yet: the farther of the two counts.
  const uint32_t askers = touched & in.streaming;
  uint32_t kept = is_block_too_far(bounds, in.farthest, true) ? 0 : touched & ~askers;
  if (askers != 0) kept |= asking_for_block(bounds, shapes, askers);
  for (uint32_t left = kept; left != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    if ((bounds.masks & shapes[i].visibility) == 0) kept &= ~(1u << i);
  }
  if (kept == 0) {
    ++counters.containers_too_far;
    return;
  }
  ScanSlice& slice = out.slices[out.count++];
  slice = {.container = container, .shapes = kept, .masked = touched, .first_mask = out.mask_count, .node = view.node};
  const auto count = static_cast<uint32_t>(std::popcount(touched));
  for (uint32_t i = 0; i < count; ++i) out.masks[out.mask_count++] = planes != nullptr ? planes[i] : kAllPlanes;
}

ReadyBox ready_bound(const Aabb& box, const Vec3& origin) {
  const float min[3] = {box.min.x, box.min.y, box.min.z}, max[3] = {box.max.x, box.max.y, box.max.z};
  const float at[3] = {origin.x, origin.y, origin.z};
  ReadyBox out;
  for (int i = 0; i < 3; ++i) {
    const float lo = min[i] - at[i], hi = max[i] - at[i];
    const float slack = std::max(std::abs(lo), std::abs(hi)) * kBoundSlack;
    out.lo[i] = lo - slack;
    out.hi[i] = hi + slack;
  }
  return out;
}

ReadyBox ready_slot(const Vec3& centre, const Vec3& half, const Vec3& origin) {
  const float centres[3] = {centre.x, centre.y, centre.z}, halves[3] = {half.x, half.y, half.z};
  const float at[3] = {origin.x, origin.y, origin.z};
  ReadyBox out;
  for (int i = 0; i < 3; ++i) {
    const float c = centres[i] - at[i];
    const float h = halves[i] + (std::abs(c) + halves[i]) * kSlotSlack;
    out.lo[i] = c - h;
    out.hi[i] = c + h;
  }
  return out;
}

bool touches(const ReadyShape& shape, const ReadyBox& box) {
  if ((shape.flags & kCullUseFrustum) != 0) {
    bool is_outside = false;
    for (uint32_t i = 0; i < shape.plane_count; ++i) {
      const Plane& plane = shape.planes[i];
      const Vec3& n = plane.normal;
      const float x = n.x >= 0 ? box.hi[0] : box.lo[0], y = n.y >= 0 ? box.hi[1] : box.lo[1];
      const float z = n.z >= 0 ? box.hi[2] : box.lo[2];
      if ((n.x * x + n.y * y) + n.z * z < -plane.d) is_outside = true;
    }
    if (!is_outside) return true;
  }
  if (shape.sphere_r2 < 0) return false;
  const float x = outside_of(box.lo[0], box.hi[0], shape.sphere.x),
              y = outside_of(box.lo[1], box.hi[1], shape.sphere.y);
  const float z = outside_of(box.lo[2], box.hi[2], shape.sphere.z);
  return (x * x + y * y) + z * z <= shape.sphere_r2;
}

}  // namespace meridian
