// SPDX-License-Identifier: MIT
#pragma once
/// Between the scan's jobs and its loops over boxes and descriptors, which exist once for each width of vectors. What
/// they compute, operation by operation, stands in scan_shapes.h, scene/lod_set.h and here.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "meridian/base/simd.h"
#include "meridian/scene/box_hierarchy.h"
#include "meridian/scene/container_table.h"
#include "meridian/scene/lod_set.h"
#include "meridian/visibility/scan.h"
#include "meridian/visibility/scan_results.h"
#include "scene/block_walk.h"
#include "visibility/scan_shapes.h"

namespace meridian {

inline constexpr float kShortFade = 5.0f;        ///< of ORPHANHD entities with small distances [m]
inline constexpr float kShortFadeDistance = 20;  ///< up to which they have it [m]
inline constexpr uint16_t kAllPlanes = 0xFFFF;
inline constexpr uint32_t kPhaseBits = 0xFFFFFF;
inline constexpr uint32_t kOrphanLevel = 5;  ///< schema::LodLevel::ORPHANHD

/// By schema::LodLevel: HD, LOD, SLOD1 to 3, ORPHANHD, SLOD4.
inline constexpr uint8_t kSortValues[8] = {5, 4, 3, 2, 1, 5, 0, 0};
/// 0 for the coarsest level, 5 for full detail.
inline uint8_t sort_value(uint32_t level) { return kSortValues[level & 7]; }

/// What is the same for all slices of a scan.
struct ScanInput {
  const ContainerTable* containers = nullptr;
  const BoxHierarchy* hierarchy = nullptr;
  const LodSetTable* sets = nullptr;  ///< may be null
  ReadyLod lod;
  ReadyLod farthest;  ///< whose scales are the larger ones of each level's and the default
  std::span<const CullWindow> windows;
  const OcclusionBuffer* occlusion[kScanOcclusionBuffers] = {};
  bool has_occlusion = false;  ///< at least one of them is there
  uint32_t level_filter = kAllLevels, stream_filter = kAllLevels;
  uint32_t primary_bit = 0;  ///< phase of the primary shape
  uint32_t streaming = 0;    ///< shapes that only stream, a bit each by their place in the order
};

/// A container that jobs look at, and for which shapes.
struct ScanSlice {
  uint32_t container = 0;
  uint32_t shapes = 0;      ///< a bit for each shape, by its place in the order
  uint32_t masked = 0;      ///< shapes that have a word in the list of plane masks, in this order
  uint32_t first_mask = 0;  ///< in that list: planes that the container crosses, a bit each
  uint16_t node = 0;
  bool is_interior = false;   ///< in a room or portal, or reaching through one: all shapes look at all planes
  bool sees_primary = false;  ///< the primary phase sees its node
  bool has_task = false;      ///< which may run already
};

/// Entries of a slice before they are written.
class PvsSink {
 public:
  PvsSink(void (*write)(void* user, const PvsEntry* entries, uint32_t count), void* user)
      : write_(write), user_(user) {}
  ~PvsSink() = default;
  PvsSink(const PvsSink&) = delete;
  PvsSink& operator=(const PvsSink&) = delete;
  void add(EntityHandle entity, float distance, uint32_t visible, uint32_t streamed, uint32_t alpha, uint8_t type_level,
           uint8_t flags) {
    // The words that PvsEntry's bit fields make, all at once: compilers set fields one by one.
    const uint32_t words[3] = {(visible & kPhaseBits) | alpha << 24,
                               (streamed & kPhaseBits) | static_cast<uint32_t>(type_level) << 24,
                               sort_value(level_of(type_level)) | static_cast<uint32_t>(flags) << 8};
    std::byte* const to = bytes_ + size_t{count_} * sizeof(PvsEntry);
    std::memcpy(to, &entity, sizeof(entity));
    std::memcpy(to + offsetof(PvsEntry, distance), &distance, sizeof(distance));
    std::memcpy(to + offsetof(PvsEntry, distance) + sizeof(distance), words, sizeof(words));
    if (++count_ == kPvsBlockEntries) flush();
  }
  void flush() {
    if (count_ != 0) write_(user_, std::launder(reinterpret_cast<const PvsEntry*>(bytes_)), count_);
    count_ = 0;
  }

 private:
  void (*write_)(void* user, const PvsEntry* entries, uint32_t count);
  void* user_;
  uint32_t count_ = 0;
  alignas(PvsEntry) std::byte bytes_[kPvsBlockEntries * sizeof(PvsEntry)];  // only those that count are written
};

/// Containers that shapes touch, with room for all there are.
struct SliceList {
  ScanSlice* slices = nullptr;
  uint16_t* masks = nullptr;
  uint32_t count = 0, mask_count = 0;
};

/// Slices that one job looks at with the same shapes.
struct SliceRun {
  const ScanSlice* slices = nullptr;
  const uint16_t* masks = nullptr;    ///< those of a SliceList
  std::span<const uint32_t> numbers;  ///< which slices, in this order
  /// Before and after each; `begin` returns false to stop.
  bool (*begin)(void* user, uint32_t number) = nullptr;
  void (*end)(void* user, uint32_t number) = nullptr;
  void* user = nullptr;

  /// Has what a slice is found by on its way.
  void ask_for(const ScanInput& in, uint32_t index) const {
    const uint32_t container = slices[numbers[index]].container;
    prefetch(&in.containers->sub_boxes[container], sizeof(WideBoxes));
    prefetch(&in.containers->sub_blocks[container * kContainerSubBlocks], kContainerSubBlocks * sizeof(DescBounds));
    prefetch(&in.containers->links[container], 1);
  }
};

/// Where a walk through the hierarchy goes on: nodes that are still to be looked at, the last one first.
struct HierarchyWalk {
  struct Entry {
    uint32_t node = 0, shapes = 0;         ///< shapes that touch it, a bit each by their place in the order
    uint16_t planes[kMaxCullShapes] = {};  ///< of each of these, in order: those that it crosses; not in scalar code
  };
  Entry stack[kHierarchyStack];
  uint32_t depth = 0;

  void begin(const BoxHierarchy& hierarchy, uint32_t shapes);
};

struct ScanKernels {
  /// Finds the containers outside of interiors that at least one of `shapes` touches and that are not too far away.
  /// What reaches through portals is left out. Goes on with `walk`, and adds to `out`, until it has at least `most` or
  /// nothing is left.
  void (*find)(const ScanInput& in, std::span<const ReadyShape> shapes, HierarchyWalk& walk, uint32_t most,
               SliceList& out, ScanCounters& counters);
  /// Looks at the descriptors of containers.
  void (*scan)(const ScanInput& in, std::span<const ReadyShape> shapes, const SliceRun& run, PvsSink& sink,
               ScanCounters& counters);
};

const ScanKernels& scalar_scan_kernels();
/// Requires: has_simd_width(width), and not scalar.
const ScanKernels& wide_scan_kernels(SimdWidth width);

inline const ScanKernels& scan_kernels() {
  const SimdWidth width = simd_width();
  return width == SimdWidth::scalar ? scalar_scan_kernels() : wide_scan_kernels(width);
}

// --- what the loops of all widths share, entity by entity ----------------------------------------------
// Of a slot with LOD distance D, at distance d from the camera to its pivot (both in the precision of descriptors):
//   near = D * scale, for grass (D * scale) * grass_scale; far = near + fade; reach = far + pre_stream
// The scale is that of its level, or the default one in nodes that the primary phase does not see; there is no
// pre_stream in those either. Children in LOD sets always have that of their level, so that sets change places in all
// phases as they do in the picture; so the children of a set have one level, and are no grass. It is too far if
// d * d > reach * reach.

/// Up to what distance a slot is drawn in full.
inline float near_distance(float distance, float scale, float grass_scale, bool is_grass) {
  const float near = distance * scale;
  return is_grass ? near * grass_scale : near;
}
inline float fade_of(float distance, uint32_t level) {
  return level == kOrphanLevel && distance <= kShortFadeDistance ? kShortFade : kLodFade;
}
inline float distance_squared(const Vec3& pivot, const Vec3& camera) {
  const float x = camera.x - pivot.x, y = camera.y - pivot.y, z = camera.z - pivot.z;
  return (x * x + y * y) + z * z;
}
/// What is left of 255 at a distance.
inline uint32_t fade_alpha(float distance, float near, float fade) {
  const float far = near + fade;
  if (distance <= near) return kFullWeight;
  if (!(distance < far)) return 0;
  const float part = ((far - distance) * 255.0f) / fade;
  return part < 255.0f ? static_cast<uint32_t>(part) : kFullWeight;
}

/// What LOD sets say of a slot.
struct SlotWeight {
  uint32_t weight = kFullWeight;
  uint8_t flags = 0;  ///< kPvsLodParent, kPvsLodChild
  bool fades = true;  ///< also by its own distance: nothing stands above it
};
/// Keeps what was asked for last, and what it took from sets above: those are few, and many stand below each.
class WeightCache {
 public:
  /// Requires: row is not kNoLodSet.
  SlotWeight weight(const ScanInput& in, const ContainerLinks& links, uint16_t row, uint16_t desc_flags);
  /// Has the record on its way that this will read. Requires: there are sets.
  static void ask_for(const ScanInput& in, const ContainerLinks& links, uint16_t row, uint16_t desc_flags);

 private:
  static constexpr uint32_t kEntries = 64;
  struct Entry {  // not set before it is used: there is a cache for each task
    uint32_t set;
    uint8_t children, parent;  ///< LodShare
    bool has_up;
  };
  const Entry* look_up(const ScanInput& in, uint32_t set, uint32_t depth);
  uint64_t used_ = 0;  ///< entries that are set, a bit each
  Entry entries_[kEntries];
};

/// weight * alpha / 255
constexpr uint32_t with_alpha(uint32_t weight, uint8_t alpha) { return alpha == 255 ? weight : weight * alpha / 255; }

/// What becomes of a slot that some phase sees.
struct SlotFate {
  uint32_t alpha = 0;  ///< 0: another level stands there, or it fades in later
  uint8_t flags = 0;   ///< PvsFlags
};
/// `own_alpha`: fade_alpha() of its own LOD distance, which counts where nothing stands above it.
inline SlotFate slot_fate(const ScanInput& in, const ContainerLinks& links, const DescLanes& lanes, uint32_t slot,
                          uint32_t own_alpha, WeightCache& weights) {
  SlotWeight own;
  if (lanes.lod_set[slot] != kNoLodSet) own = weights.weight(in, links, lanes.lod_set[slot], lanes.flags[slot]);
  const uint32_t weight = own.fades ? own.weight * own_alpha / 255 : own.weight;
  return {with_alpha(weight, lanes.alpha[slot]), own.flags};
}

/// Up to 32 boxes for occluded_slots().
struct OcclusionSlots {
  float boxes[6][kSubBlockSlots];  ///< centre x, y, z, half extents x, y, z
  uint8_t type_level[kSubBlockSlots];
  uint32_t phases[kSubBlockSlots];  ///< that see it
  uint32_t hidden[kSubBlockSlots];  ///< out: those from which it is hidden, where there are any
  void set(uint32_t at, const DescLanes& lanes, uint32_t slot) {
    const float* const from[6] = {lanes.centre_x, lanes.centre_y, lanes.centre_z,
                                  lanes.half_x,   lanes.half_y,   lanes.half_z};
    for (uint32_t i = 0; i < 6; ++i) boxes[i][at] = from[i][slot];
    type_level[at] = lanes.type_level[slot];
  }
};
/// Those of the slots in `mask` that occluders hide from at least one of the `wanted` shapes that see them.
uint32_t occluded_slots(const ScanInput& in, std::span<const ReadyShape> shapes, uint32_t wanted, uint32_t mask,
                        OcclusionSlots& slots);

/// Makes a slice of a container that `touched` shapes touch, unless it is none that is looked at from outside, or is
/// too far. `planes`: by shape, in the order of `touched`, planes that it crosses; null: all.
void keep_container(const ScanInput& in, std::span<const ReadyShape> shapes, uint32_t container, uint32_t touched,
                    const uint16_t* planes, SliceList& out, ScanCounters& counters);

/// Whether the cull windows that a box touches let it be seen from this far.
bool passes_windows(std::span<const CullWindow> windows, const Aabb& box, float distance);
/// Ranges and caps of a shape, at this distance.
bool is_in_range(const CullShape& shape, uint8_t type_level, float distance);
/// Whether a slot is near enough for a shape that only streams: by its own LOD view, as in nodes that the primary phase
/// sees.
bool is_asked_near(const ReadyShape& shape, const Vec3& pivot, uint8_t type_level, float distance);
/// Whether all of a block is too far.
bool is_block_too_far(const DescBounds& bounds, const ReadyLod& lod, bool sees_primary);
/// Of `askers`, shapes that only stream, those for which it is not.
uint32_t asking_for_block(const DescBounds& bounds, std::span<const ReadyShape> shapes, uint32_t askers);
// --- boxes, one at a time ------------------------------------------------------------------------------

/// A box relative to the origin, widened; see scan_shapes.h.
struct ReadyBox {
  float lo[3], hi[3];
};
ReadyBox ready_bound(const Aabb& box, const Vec3& origin);
ReadyBox ready_slot(const Vec3& centre, const Vec3& half, const Vec3& origin);
/// Whether the shape's volume holds a part of it.
bool touches(const ReadyShape& shape, const ReadyBox& box);

}  // namespace meridian
