// SPDX-License-Identifier: MIT
#pragma once
/// Descriptors of a map in blocks: containers of at most 320, sub-blocks of 32. Each carries what holds of all its
/// descriptors, so that a scan takes or leaves it as a whole: by distance from the pivots, by frustum from the boxes.
///
/// The linker makes blocks ahead of time and stores them in the map; loading copies them with memcpy. Where the
/// fingerprint says that archetypes or LOD parents have changed since, the same functions make them at load:
///
///   const MapDescInput in{map, archetypes, parents};
///   std::vector<LodLinkRow> links(lod_link_bound(*map));
///   links.resize(link_map(in, links).value());
///   std::vector<EntityDesc> descs(in.archetypes.size());
///   describe_map(in, links, descs, {});
///   // scratch and blocks: spans as large as block_counts(descs.size()) says
///   build_blocks(descs, scratch, blocks);
///
/// Threads: reentrant; all memory is the caller's.
/// Source:  own; order along the curve: John Skilling, "Programming the Hilbert curve", 2004. Layout in
///          docs/cooked_blocks.md.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/status.h"
#include "meridian/scene/entity_desc.h"

namespace meridian {

namespace schema {
struct MapData;
}

/// Version of lanes, blocks and links. Cooked blocks of another version are ignored.
inline constexpr uint32_t kCookedLayoutVersion = 1;
inline constexpr uint32_t kContainerSlots = 320;  ///< most descriptors of a container
inline constexpr uint32_t kSubBlockSlots = 32;    ///< descriptors of a sub-block
inline constexpr uint32_t kContainerSubBlocks = kContainerSlots / kSubBlockSlots;
inline constexpr uint32_t kMaxLodChain = 16;  ///< sets above each other; there are 6 levels, the rest is bad data

/// What holds of all descriptors of a block; never-visible ones do not count. All zero if there are no others.
struct DescBounds {
  Vec3 box_min, box_max;               ///< around all boxes, rounded outwards [m]
  Vec3 pivot_min, pivot_max;           ///< around all points that distances are measured from [m]
  uint16_t distance[kLodLevels] = {};  ///< largest by schema::LodLevel, 0 if the level is absent [m]
  uint16_t masks = 0;                  ///< union
  friend bool operator==(const DescBounds&, const DescBounds&) = default;
};
static_assert(sizeof(DescBounds) == 64);

/// Slots [first_slot, first_slot + count); its lanes begin at byte first_slot * kDescLaneBytes and have the capacity
/// padded_slots(count).
struct DescContainer {
  DescBounds bounds;
  uint32_t first_slot = 0;
  uint32_t first_sub_block = 0;
  uint16_t count = 0;            ///< [1, kContainerSlots]
  uint16_t sub_block_count = 0;  ///< count / kSubBlockSlots, rounded up
  friend bool operator==(const DescContainer&, const DescContainer&) = default;
};
static_assert(sizeof(DescContainer) == 76);

/// A LOD set that descriptors of the map refer to: the row that EntityDesc::lod_set counts.
struct LodLinkRow {
  uint32_t parent_index = 0;
  uint16_t up = kNoLodSet;  ///< row of the set in which the parent is a child
  bool in_parent = false;   ///< the parent is an entity of the parent map
  uint8_t pad0 = 0;
  Vec3 pivot;          ///< the parent's position [m]
  float distance = 0;  ///< D, at which parent and children change places [> 0] [m]
  friend bool operator==(const LodLinkRow&, const LodLinkRow&) = default;
};
static_assert(sizeof(LodLinkRow) == 24);

/// What descriptors are made from.
struct MapDescInput {
  const schema::MapData* map = nullptr;
  std::span<const ArchetypeTraits* const> archetypes;  ///< one for each entity; null: not known
  /// One for each entity, read only for those whose parent is in the parent map; empty: none is known.
  std::span<const LodParent> parents;
};

// --- LOD sets ----------------------------------------------------------------------------------------

/// Rows that link_map needs room for, before equal ones are merged.
size_t lod_link_bound(const schema::MapData& map);

/// Finds the LOD sets that entities of the map belong to, as parent (its lod_sets, and what its own entities name) or
/// as child. Rows with parents in this map come first, each part ascends by parent index. D is that of lod_sets, else
/// the parent's child_lod_dist if > 0, else the largest distance of its children here. A parent outside the map, of a
/// cycle, or without D is no parent.
/// Requires: rows.size() >= lod_link_bound; archetypes for each entity.
/// Errors:   too_large (more than kMaxLodSets; detail = rows).
/// Memory:   none but `rows`. Gives how many are used.
Result<uint32_t> link_map(const MapDescInput& in, std::span<LodLinkRow> rows);

/// The row of the set whose parent is that entity, of the map itself or of its parent map; null if there is none.
/// Requires: `links` comes from link_map.
const LodLinkRow* find_link(std::span<const LodLinkRow> links, bool in_parent, uint32_t parent_index);

/// The place of one entity among the sets. Requires: `links` comes from link_map; entity < the map's entities.
EntityLink link_of(const schema::MapData& map, std::span<const LodLinkRow> links, uint32_t entity);

/// Fills one descriptor for each entity, `handle` being its index. `status`, if not empty, says why some are never
/// visible. Requires: out and status (unless empty) are as long as the entities; `links` comes from link_map.
void describe_map(const MapDescInput& in, std::span<const LodLinkRow> links, std::span<EntityDesc> out,
                  std::span<DescStatus> status);

/// Of all that comes from elsewhere: each entity's archetype (traits_hash), and pivot and D of each LOD parent in the
/// parent map, in entity order. It changes exactly when one of these does.
uint64_t descriptor_fingerprint(const MapDescInput& in);
/// The same piece by piece: begin with kFingerprintStart, and hand what comes out on to the next entities.
/// Requires: first <= last <= entities.
uint64_t descriptor_fingerprint(const MapDescInput& in, uint64_t state, uint32_t first, uint32_t last);
inline constexpr uint64_t kFingerprintStart = kCookedLayoutVersion;

// --- blocks ------------------------------------------------------------------------------------------

/// Sizes for a number of descriptors; exact.
struct BlockCounts {
  uint32_t containers = 0, sub_blocks = 0;
  uint32_t slots = 0;  ///< filler included
  size_t lane_bytes = 0;
  size_t scratch_bytes = 0;
};
BlockCounts block_counts(uint32_t descriptors);

/// Where blocks go. Requires: each as long as block_counts says; slot_of as many as descriptors; lanes 4-aligned.
struct BlockSpans {
  std::span<DescContainer> containers;
  std::span<DescBounds> sub_blocks;
  std::span<std::byte> lanes;
  std::span<uint32_t> slot_of;  ///< the permutation: slot of each descriptor
};

/// Orders descriptors along a Hilbert curve over their centres (never-visible ones last, ties by index), cuts the order
/// into sub-blocks, and those into the fewest containers, so that the surfaces of the containers' boxes add up to the
/// least. Within each sub-block the largest stored distances come first, ties along the curve. The same input gives the
/// same bytes.
/// Requires: descs[i].handle == i; scratch 16-aligned and as long as block_counts says.
/// Memory:   none but the caller's.
void build_blocks(std::span<const EntityDesc> descs, std::span<std::byte> scratch, const BlockSpans& out);

// --- what a map brings -------------------------------------------------------------------------------

/// The cooked blocks of a map, where they lie in the resource.
struct CookedView {
  std::span<const DescContainer> containers;
  std::span<const DescBounds> sub_blocks;
  std::span<const std::byte> lanes;  ///< 4-aligned
  std::span<const uint32_t> slot_of;
  std::span<const LodLinkRow> links;
};

/// True if the map has cooked blocks of this layout, made from what `fingerprint` stands for. Otherwise they must be
/// built at load, and that is told.
/// Requires: the map was opened by open_resource, which checks the blocks, or comes from a trusted pack.
bool cooked_blocks_match(const schema::MapData& map, uint64_t fingerprint);
/// Requires: cooked_blocks_match.
CookedView cooked_view(const schema::MapData& map);

}  // namespace meridian
