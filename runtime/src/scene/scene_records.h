// SPDX-License-Identifier: MIT
#pragma once
/// What a SceneGraph keeps of its containers beside the tables that jobs read.

#include "meridian/scene/scene_graph.h"

namespace meridian {

struct SceneGraph::Record {
  SceneNode* node = nullptr;
  uint32_t next = kNoContainer, previous = kNoContainer;  // in the node's chain; `next` in the list of free ones
  DescBlockId block;
  uint32_t next_dirty = kNoContainer;
  uint32_t used[kContainerSubBlocks] = {};  // a bit for each slot, a word for each sub-block
  uint16_t count = 0;                       // used slots
  uint16_t dirty = 0;                       // a bit for each sub-block whose bounds may be too large
  Kind kind = Kind::normal;
  bool is_listed_dirty = false;
  bool is_in_hierarchy = false;
};
static_assert(kSubBlockSlots == 32, "a word of bits for each sub-block");

struct SceneGraph::LightChange {
  EntityDesc desc;        // handle: see light_key; distance 0: remove
  uint32_t sequence = 0;  // later ones count
};

namespace detail {

/// What lights are ordered by: slot first, so that handles of one slot are neighbours.
constexpr uint64_t light_key(EntityHandle handle) { return uint64_t{handle.slot} << 32 | handle.generation; }
constexpr EntityHandle light_handle(uint64_t key) {
  return {.generation = static_cast<uint32_t>(key), .slot = static_cast<uint32_t>(key >> 32)};
}

/// Errors: bad_value.
Status check_desc(const EntityDesc& desc);

/// Stores a descriptor that is no map's: LOD sets are those of maps.
inline void store_host_desc(const DescLanes& lanes, uint32_t slot, EntityDesc desc) {
  desc.flags &= ~uint32_t{kDescLodChild | kDescSetParent};
  desc.lod_set = kNoLodSet;
  store_desc(lanes, slot, desc);
  lanes.entity[slot] = slot;
}

constexpr size_t kHostSlotBytes = kDescLaneBytes + sizeof(EntityHandle);

}  // namespace detail
}  // namespace meridian
