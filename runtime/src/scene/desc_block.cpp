// SPDX-License-Identifier: MIT
#include "meridian/scene/desc_block.h"

#include <algorithm>
#include <limits>

#include "meridian/base/assert.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/flat_vector.h"
#include "scene/desc_bounds.h"
#include "scene/hilbert.h"

namespace meridian {
namespace {

using detail::merge;
using detail::records;

static_assert(kContainerSlots % kSubBlockSlots == 0 && kSubBlockSlots % kLanes == 0);

/// A descriptor and its place along the curve. Ties by index make the order total.
struct Place {
  uint64_t key;
  uint32_t index;
  uint32_t pad;
  friend bool operator<(const Place& a, const Place& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
};

/// The best way to cut the first sub-blocks into containers.
struct Cut {
  double area = 0;          ///< of all containers together
  uint32_t containers = 0;  ///< how many
  uint32_t from = 0;        ///< first sub-block of the last one
};
static_assert(sizeof(Place) == 16 && sizeof(Cut) == 16);

void grow(Vec3& min, Vec3& max, const Vec3& low, const Vec3& high) {
  min = {std::min(min.x, low.x), std::min(min.y, low.y), std::min(min.z, low.z)};
  max = {std::max(max.x, high.x), std::max(max.y, high.y), std::max(max.z, high.z)};
}

/// Bounds of one stored slot. The own pivot is what a scan decodes, not what it was before it went through f16.
DescBounds bounds_of(const DescLanes& lanes, uint32_t slot, const EntityDesc& desc) {
  return detail::bounds_of_slot(lanes, slot, (desc.flags & kDescLodChild) != 0 ? desc.pivot : slot_pivot(lanes, slot));
}

double area(const DescBounds& b) {
  const double x = double{b.box_max.x} - b.box_min.x, y = double{b.box_max.y} - b.box_min.y,
               z = double{b.box_max.z} - b.box_min.z;
  return x * y + y * z + z * x;
}

void order_along_curve(std::span<const EntityDesc> descs, std::span<Place> places) {
  constexpr float kMost = std::numeric_limits<float>::max();
  Vec3 min{kMost, kMost, kMost}, max{-kMost, -kMost, -kMost};
  for (const EntityDesc& desc : descs)
    if (desc.distance > 0) grow(min, max, desc.centre, desc.centre);
  // One cell size for all axes: a flat map then is cut in the plane.
  const double extent = std::max({double{max.x} - min.x, double{max.y} - min.y, double{max.z} - min.z, 1e-6});
  constexpr double kCells = (1u << detail::kCurveBits) - 1;
  const auto cell = [&](float value, float from) {
    return static_cast<uint32_t>((double{value} - from) / extent * kCells);
  };
  for (uint32_t i = 0; i < descs.size(); ++i) {
    MERIDIAN_ASSERT(descs[i].handle == i, "handles are indices while building");
    const Vec3& c = descs[i].centre;
    const uint64_t key = descs[i].distance > 0
                             ? detail::hilbert_key(cell(c.x, min.x), cell(c.y, min.y), cell(c.z, min.z))
                             : std::numeric_limits<uint64_t>::max();
    places[i] = {key, i, 0};
  }
  std::sort(places.begin(), places.end());
}

/// What is seen from far comes first in each sub-block: from far away only the first few are looked at then.
void order_by_distance(std::span<const EntityDesc> descs, std::span<Place> places) {
  const auto comes_before = [&](const Place& a, const Place& b) {
    const uint16_t x = desc_distance(descs[a.index].distance), y = desc_distance(descs[b.index].distance);
    return x != y ? x > y : a < b;
  };
  for (size_t first = 0; first < places.size(); first += kSubBlockSlots) {
    const std::span block = places.subspan(first, std::min<size_t>(kSubBlockSlots, places.size() - first));
    std::sort(block.begin(), block.end(), comes_before);
  }
}

/// Fewest containers first, then the least area: for each number of sub-blocks the best last container.
void cut_containers(std::span<const DescBounds> sub_blocks, std::span<Cut> cuts) {
  cuts[0] = {};
  for (uint32_t end = 1; end <= sub_blocks.size(); ++end) {
    Cut best{0, std::numeric_limits<uint32_t>::max(), 0};
    DescBounds bounds;
    for (uint32_t from = end; from-- > 0 && end - from <= kContainerSubBlocks;) {
      merge(bounds, sub_blocks[from]);
      const Cut cut{cuts[from].area + area(bounds), cuts[from].containers + 1, from};
      if (cut.containers < best.containers || (cut.containers == best.containers && cut.area < best.area)) best = cut;
    }
    cuts[end] = best;
  }
}

}  // namespace

BlockCounts block_counts(uint32_t descriptors) {
  BlockCounts out;
  out.sub_blocks = descriptors / kSubBlockSlots + (descriptors % kSubBlockSlots != 0 ? 1 : 0);
  out.containers = (out.sub_blocks + kContainerSubBlocks - 1) / kContainerSubBlocks;
  out.slots = padded_slots(descriptors);  // only the last sub-block can have filler
  out.lane_bytes = lane_bytes(out.slots);
  out.scratch_bytes = descriptors * sizeof(Place) + (size_t{out.sub_blocks} + 1) * sizeof(Cut);
  return out;
}

void build_blocks(std::span<const EntityDesc> descs, std::span<std::byte> scratch, const BlockSpans& out) {
  const auto count = static_cast<uint32_t>(descs.size());
  const BlockCounts counts = block_counts(count);
  MERIDIAN_ASSERT(scratch.size() >= counts.scratch_bytes, "scratch is too small");
  MERIDIAN_ASSERT(reinterpret_cast<uintptr_t>(scratch.data()) % 16 == 0, "scratch is misaligned");
  MERIDIAN_ASSERT(out.containers.size() == counts.containers && out.sub_blocks.size() == counts.sub_blocks &&
                      out.lanes.size() == counts.lane_bytes && out.slot_of.size() == count,
                  "spans are as long as block_counts says");
  if (count == 0) return;
  const std::span places(reinterpret_cast<Place*>(scratch.data()), count);
  const std::span cuts(reinterpret_cast<Cut*>(scratch.data() + count * sizeof(Place)), counts.sub_blocks + 1);
  order_along_curve(descs, places);
  order_by_distance(descs, places);

  // Where containers begin decides where lanes lie, but not what is in a slot: each sub-block is stored once on trial,
  // as a container of its own, for its bounds.
  for (uint32_t s = 0; s < counts.sub_blocks; ++s) {
    const uint32_t first = s * kSubBlockSlots, in_block = std::min(kSubBlockSlots, count - first);
    const DescLanes lanes = desc_lanes(out.lanes.data() + lane_bytes(first), padded_slots(in_block));
    DescBounds bounds;
    for (uint32_t i = 0; i < in_block; ++i) {
      const EntityDesc& desc = descs[places[first + i].index];
      store_desc(lanes, i, desc);
      merge(bounds, bounds_of(lanes, i, desc));
    }
    out.sub_blocks[s] = bounds;
  }
  cut_containers(out.sub_blocks, cuts);

  uint32_t end = counts.sub_blocks;
  for (uint32_t c = counts.containers; c-- > 0; end = cuts[end].from) {
    const uint32_t from = cuts[end].from, first = from * kSubBlockSlots;
    const uint32_t in_container = std::min(end * kSubBlockSlots, count) - first;
    DescContainer& container = out.containers[c];
    container = {{}, first, from, static_cast<uint16_t>(in_container), static_cast<uint16_t>(end - from)};
    for (uint32_t s = from; s < end; ++s) merge(container.bounds, out.sub_blocks[s]);
    const uint32_t capacity = padded_slots(in_container);
    const DescLanes lanes = desc_lanes(out.lanes.data() + lane_bytes(first), capacity);
    for (uint32_t i = 0; i < in_container; ++i) {
      const uint32_t index = places[first + i].index;
      store_desc(lanes, i, descs[index]);
      out.slot_of[index] = first + i;
    }
    for (uint32_t i = in_container; i < capacity; ++i) store_never_visible(lanes, i, kNoEntity);
  }
}

bool cooked_blocks_match(const schema::MapData& map, uint64_t fingerprint) {
  const schema::CookedBlocks* const cooked = map.cooked();
  return cooked != nullptr && cooked->layout_version() == kCookedLayoutVersion && cooked->fingerprint() == fingerprint;
}

CookedView cooked_view(const schema::MapData& map) {
  const schema::CookedBlocks& cooked = *map.cooked();
  CookedView out;
  out.containers = records<DescContainer>(cooked.containers());
  out.sub_blocks = records<DescBounds>(cooked.sub_blocks());
  out.links = records<LodLinkRow>(cooked.links());
  if (cooked.lanes() != nullptr) out.lanes = std::as_bytes(std::span(cooked.lanes()->data(), cooked.lanes()->size()));
  if (cooked.slots() != nullptr) out.slot_of = {cooked.slots()->data(), cooked.slots()->size()};
  return out;
}

}  // namespace meridian
