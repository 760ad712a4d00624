// SPDX-License-Identifier: MIT
#pragma once
/// What a scan finds: a PVS (potentially visible set) of entities with the phases that see each, and what the camera's
/// surroundings mean for the picture as a whole.
///
///   std::span<const PvsEntry> block;
///   while (scan.next_block(cursor, block))
///     for (const PvsEntry& entry : block) {
///       if (entry.is_visible(gbuffer.phase)) draw(entry.entity, entry.alpha);
///       if (entry.stream_phases != 0) keep_models(entry.entity);
///     }
///
/// Entries are handles with generations: who reads them a frame later finds out that an entity is gone.
///
/// Threads: immutable.
/// Memory:  none.

#include <cstddef>
#include <cstdint>

#include "meridian/base/math.h"
#include "meridian/entity/entity_handle.h"
#include "meridian/visibility/cull_shape.h"

namespace meridian {

/// Bits of PvsEntry::flags.
enum PvsFlags : uint8_t {
  kPvsOccluded = 1 << 0,   ///< at least one phase would see it but for an occluder
  kPvsInterior = 1 << 1,   ///< in a room or portal, or reaching through one
  kPvsLodParent = 1 << 2,  ///< stands for the children of a LOD set
  kPvsLodChild = 1 << 3,   ///< a child in a LOD set whose parent is there
};

/// One entity that at least one phase sees, or would see if it were loaded, faded in or not occluded.
struct PvsEntry {
  EntityHandle entity;
  float distance = 0;            ///< from the LOD view's camera to the point that its LOD distance counts from [m]
  uint32_t visible_phases : 24;  ///< bit by CullShape::phase: draw it there
  uint32_t alpha : 8;            ///< LOD weight times the entity's own [0, 255]
  uint32_t stream_phases : 24;   ///< phases that want it loaded: those that see it, and more
  uint32_t type : 5;             ///< EntityClass
  uint32_t level : 3;            ///< schema::LodLevel
  uint8_t sort = 0;              ///< coarse levels first: 0 SLOD4 ... 5 HD and ORPHANHD
  uint8_t flags = 0;             ///< PvsFlags
  uint16_t reserved = 0;

  PvsEntry() : visible_phases(0), alpha(0), stream_phases(0), type(0), level(0) {}
  bool is_visible(uint32_t phase) const { return (visible_phases >> phase & 1) != 0; }
};
static_assert(sizeof(PvsEntry) == 24);

inline constexpr uint32_t kPvsBlockEntries = 32;  ///< most of one block
inline constexpr uint32_t kShadowPlanes = 16;
inline constexpr uint32_t kSkyPortals = 64;

/// Which containers, blocks of 32 and entities went out where. [count]
struct ScanCounters {
  uint64_t containers = 0;          ///< looked at
  uint64_t containers_outside = 0;  ///< touched no shape, with the boxes around them that did not
  uint64_t containers_too_far = 0;  ///< beyond all LOD distances
  uint64_t slices = 0;              ///< containers that entity jobs looked at
  uint64_t blocks = 0;              ///< blocks of 32 in them
  uint64_t blocks_outside = 0;
  uint64_t blocks_too_far = 0;
  uint64_t entities = 0;           ///< in blocks that were left
  uint64_t entities_hidden = 0;    ///< never visible, hidden, or out of their hours
  uint64_t entities_too_far = 0;   ///< the early reject: LOD distance, cull windows
  uint64_t entities_excluded = 0;  ///< by type, mask or level, in all phases
  uint64_t entities_outside = 0;   ///< of all shapes, or of their ranges and caps
  uint64_t entities_occluded = 0;  ///< in all phases that would see them
  uint64_t entities_replaced = 0;  ///< LOD weight 0: another level stands there
  uint64_t portal_steps = 0;       ///< portals tested
  uint64_t portal_limit = 0;       ///< times that a limit of traversal was reached
  uint64_t node_ns = 0;            ///< time of the node job
  uint64_t entity_ns = 0;          ///< time of entity jobs, all threads together
};

/// A mirror that the primary phase sees: the one of the highest priority, the nearest of several.
struct ScanMirror {
  bool is_visible = false;
  bool is_floor = false, is_water = false;
  bool sees_exterior = false, sees_directional_light = false, traverses_portals = false;
  uint32_t priority = 0;
  float distance = 0;  ///< from the camera to its nearest point [m]
  Vec3 corners[4];     ///< [m]
  Vec3 centre;         ///< [m]
  uint16_t node = 0;   ///< dense index of the portal's node
};

struct ScanResults {
  uint32_t epoch = 0;     ///< rises with each scan of this object
  bool complete = false;  ///< nothing was lost: not cancelled, and there was room for all
  bool cancelled = false;
  uint32_t stored = 0;  ///< entries in blocks [count]
  uint32_t needed = 0;  ///< entries that there are; all of them, unless it was cancelled [count]

  bool exterior_visible = false;      ///< in the primary phase
  ScreenRect exterior_quad;           ///< how much of its picture
  bool everything_in_shadow = false;  ///< the sun reaches nothing that is seen: cascades and sun need not be drawn
  bool directional_light = true;      ///< the sun reaches the room of the camera; true outside
  ScreenRect room_shadow_quad;        ///< around all rooms that cascades see
  /// The part of the world whose shadows fall into the picture, if the outside is seen only through portals: planes
  /// with normals inwards, 0 if nothing restricts it.
  uint32_t shadow_plane_count = 0;
  Plane shadow_planes[kShadowPlanes];
  ScanMirror mirror;
  /// Portals through which reflections see the sky: dense indices of their nodes.
  uint32_t sky_portal_count = 0;  ///< in all; those beyond kSkyPortals are not stored
  uint16_t sky_portals[kSkyPortals] = {};

  ScanCounters counters;
};

}  // namespace meridian
