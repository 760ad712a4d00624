// SPDX-License-Identifier: MIT
#pragma once
/// Why a shape of the last scan sees an entity, or does not: the first of a scan's stages that took it away, with the
/// numbers that this went by, or what hid it. The same formulas are done once more for the one entity, so what is said
/// here is what the scan found.
///
///   const VisibilityReason why = explain_visibility(scan, /*shape=*/0, handle, &occluders);
///   char line[256];
///   std::puts(to_text(why, line));   // "phase 0 does not see 7/1: 131.2 m away, seen up to 120.0 m (HD, 100 m x 1)"
///
/// Questions come between join() and whatever changes what the scan looked at: the next begin_frame, the scene, LOD
/// sets, pictures of occluders. What has changed is explained as it is now.
///
/// Threads: main, while the scan is not started.
/// Memory:  none; stack < 16 KiB.
/// Source:  own.

#include <cstdint>
#include <span>

#include "meridian/entity/entity_handle.h"
#include "meridian/scene/lod_set.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/visibility/occluder_set.h"
#include "meridian/visibility/scan.h"

namespace meridian {

/// In the order of the stages, but for the first two.
enum class VisibilityCause : uint8_t {
  visible,                  ///< it is drawn, with `alpha`
  asked_for,                ///< the shape only streams, and asks for it
  no_scan,                  ///< no scan was joined, or the next one was begun; or there is no such shape
  not_in_world,             ///< nothing is in that slot, or its node is not in the world or not enabled
  exterior_not_asked_for,   ///< it stands outside, and the shape has no kCullRenderExterior
  interior_not_asked_for,   ///< it stands inside, and the shape has no kCullRenderInterior
  exterior_not_in_picture,  ///< the shape is a height map, and the primary one does not see the outside
  only_if_primary_renders,  ///< and the primary phase does not see `node`
  node_not_seen,            ///< no way through portals leads to `node`; see `portal_stop`
  never_visible,            ///< its LOD distance is 0: it was left out, or its map's entity was taken out
  hidden,                   ///< by a module (EntityVisibility)
  off_hours,
  too_far,   ///< `distance` is beyond `reach`
  window,    ///< a cull window, `index`, lets it be seen from other distances only
  mask,      ///< it is not drawn for the shape's VisibilityType
  type,      ///< not one of CullShape::types
  level,     ///< its level is not one of CullShape::levels
  filter,    ///< its level is not one of the frame's filter
  plane,     ///< it is outside of the volume; by plane `index` of the shape, `outside`
  sphere,    ///< the same, of a shape that has only a sphere
  quad,      ///< beside what is seen of `node` through portals; `index`: left, right, bottom, top
  range,     ///< `distance` is not inside CullShape::ranges
  cap,       ///< `distance` is beyond CullShape::caps[index]
  faded,     ///< beyond the end of its fade, and only asked for
  lod_set,   ///< its weight is 0: see `set`
  no_alpha,  ///< its own alpha, times its weight, is 0
  occluded,  ///< by `occluders`
};
inline constexpr uint32_t kVisibilityCauses = static_cast<uint32_t>(VisibilityCause::occluded) + 1;
/// A stable word ("too_far"). Threads: immutable.
const char* to_string(VisibilityCause cause);

/// What stopped a shape at a portal.
enum class PortalStop : uint8_t {
  none,
  no_way,           ///< no row of portals leads from what is seen to the node
  no_traversal,     ///< the shape has no kCullTraversePortals
  one_way,          ///< it leads nowhere, is a mirror, or is looked at from behind
  shut,             ///< it or its partner is off, or its door is shut
  room_off,         ///< the room behind it is off
  interior_closed,  ///< the interior is one of ScanFrame::closed_interiors
  no_entrance,      ///< no entrance of the interior is in the volume
  wrong_side,       ///< the camera is on the other side of it
  volume,           ///< it is outside of the shape's volume
  rectangle,        ///< it is beside what is seen of the room in front of it
  depth,            ///< too many portals, or the room allows no look outside
};
/// A stable word ("wrong_side"). Threads: immutable.
const char* to_string(PortalStop stop);

inline constexpr uint32_t kExplainedOccluders = 8;

struct VisibilityReason {
  VisibilityCause cause = VisibilityCause::no_scan;
  bool is_visible = false;  ///< the shape's bit in PvsEntry::visible_phases
  bool is_wanted = false;   ///< the same in PvsEntry::stream_phases
  uint8_t phase = 0;
  EntityHandle entity;

  // From here on, as far as the stages were looked at.
  uint16_t node = 0;  ///< dense index of what it stands in; 0: outside, and all that reaches through portals
  EntityClass type = EntityClass::building;
  uint8_t level = 0;       ///< schema::LodLevel
  uint8_t alpha = 0;       ///< as in PvsEntry [0, 255]
  float distance = 0;      ///< from the LOD view's camera; of a shape that only streams, from its own [m]
  float lod_distance = 0;  ///< [m]
  float scale = 1;         ///< of its level, or the default one, with the zoom and that of grass
  float reach = 0;         ///< up to which it is seen or asked for, with fade and pre-stream [m]
  uint32_t index = 0;      ///< of a window, plane, cap or side
  float outside = 0;       ///< of plane, quad and sphere: distance of its nearest point from inside [m]

  // Of node_not_seen:
  PortalStop portal_stop = PortalStop::none;
  uint16_t portal = 0;         ///< dense index of the portal's node that stopped it
  uint16_t seen_node = 0;      ///< of the nearest room that is seen, or 0 for the outside
  uint16_t portals_apart = 0;  ///< from there to the node, that portal included [count]

  // Of an entity in a LOD set:
  uint32_t set = kNoLodSetId;
  bool is_set_parent = false;  ///< it stands for the children; otherwise it is one of them
  bool is_set_ready = false;   ///< all children are there
  uint8_t child_alpha = 0;     ///< of the set: what its children get of what comes from above [0, 255]
  uint8_t weight = 255;        ///< of the entity, from all sets above [0, 255]

  // Of occluded:
  uint32_t occluder_count = 0;  ///< all there are, of the set that was given
  OccluderId occluders[kExplainedOccluders];
};

/// Of what is in a slot. `occluders`: whose picture hides it; null: those that hide it are not named.
/// Requires: the scan is not started, and index < shape_count() (asserted; otherwise no_scan).
VisibilityReason explain_visibility(const Scan& scan, uint32_t shape, SceneSlot at,
                                    const OccluderSet* occluders = nullptr);
/// Of an entity, wherever it stands; looks at each descriptor of the scene, so it is for tools.
VisibilityReason explain_visibility(const Scan& scan, uint32_t shape, EntityHandle entity,
                                    const OccluderSet* occluders = nullptr);

/// Where an entity's descriptor is, lights too; empty if it is nowhere. Looks at each descriptor. Threads: readers.
SceneSlot find_slot(const SceneGraph& graph, EntityHandle entity);

/// One line for a person, cut to what fits, ended by 0. Returns text.data(). Requires: text is not empty.
/// Threads: immutable.
const char* to_text(const VisibilityReason& why, std::span<char> text);

}  // namespace meridian
