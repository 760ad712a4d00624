// SPDX-License-Identifier: MIT
#pragma once
/// What jobs read of a scene: its containers, as dense arrays by container index. A container is at most 320
/// descriptors that lie near each other, in sub-blocks of 32. Scans and searches go from the hierarchy to containers,
/// from there to sub-blocks, from there to descriptors, and never touch a node or an entity.
///
///   const ContainerTable& table = scene.containers();
///   const ContainerView& view = table.views[17];
///   if ((view.flags & kContainerInterior) == 0 && view.slots > 0) { /* read desc_lanes(view) */ }
///
/// Threads: readers; the scene's owner writes while the scene is not locked.
/// Memory:  the scene's.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/entity/entity_handle.h"
#include "meridian/scene/desc_block.h"
#include "meridian/scene/entity_desc.h"
#include "meridian/scene/wide_boxes.h"

namespace meridian {

static_assert(kContainerSubBlocks <= kWideLanes);

/// Bits of ContainerView::flags.
enum ContainerFlags : uint32_t {
  kContainerUsed = 1 << 0,         ///< the index stands for a container
  kContainerInWorld = 1 << 1,      ///< its node is in the world, and enabled
  kContainerInterior = 1 << 2,     ///< of a room or portal
  kContainerDynamic = 1 << 3,      ///< what stands in it moves
  kContainerStraddling = 1 << 4,   ///< what stands in it reaches through a portal to the outside
  kContainerLights = 1 << 5,       ///< lights only
  kContainerSpawnPoints = 1 << 6,  ///< one at least has spawn points
};

/// One container, as jobs see it. The lanes are those of a block of `capacity` slots.
struct ContainerView {
  std::byte* lanes = nullptr;             ///< slot 0 of its first array; see desc_lanes
  const EntityHandle* handles = nullptr;  ///< one a slot; null: entities are those of `group`, by index
  EntityHandle group;                     ///< the first entity of the map that the descriptors count
  uint32_t capacity = 0;                  ///< slots of the arrays, a multiple of 16 [count]
  uint16_t slots = 0;                     ///< slots [0, slots) are looked at; used ones among them [<= kContainerSlots]
  uint16_t node = 0;                      ///< dense index of its node
  uint32_t flags = 0;                     ///< ContainerFlags
  uint32_t reserved = 0;
};
static_assert(sizeof(ContainerView) == 40);

inline DescLanes desc_lanes(const ContainerView& view) { return desc_lanes(view.lanes, view.capacity); }

/// What DescLanes::lod_set of a container counts; both empty but for what maps bring.
struct ContainerLinks {
  std::span<const LodLinkRow> rows;
  std::span<const uint32_t> set_ids;  ///< by row: id of the LOD set (scene/lod_set.h), or kNoLodSetId
};

/// Dense arrays, all as long as there are container indices.
struct ContainerTable {
  std::span<ContainerView> views;
  std::span<WideBoxes> sub_boxes;    ///< boxes of each container's sub-blocks, lane by sub-block
  std::span<DescBounds> bounds;      ///< of the whole container
  std::span<DescBounds> sub_blocks;  ///< kContainerSubBlocks for each container
  std::span<ContainerLinks> links;   ///< LOD sets that descriptors refer to
};

/// The entity in a slot. Requires: a used slot.
inline EntityHandle entity_in(const ContainerView& view, uint32_t slot) {
  if (view.handles != nullptr) return view.handles[slot];
  return entity_of_group(view.group, desc_lanes(view).entity[slot]);
}

}  // namespace meridian
