// SPDX-License-Identifier: MIT
#pragma once
/// How one shape looks through portals.
///
/// A walk goes in rounds. Round n looks into the rooms that are entered through n portals, and enters the rooms behind
/// theirs, which are looked into in round n + 1. A room gathers a rectangle, the smallest around all through which it
/// was entered. It is entered again only by what is not inside that, and is then looked into with all of it, so nothing
/// is lost that lies between two openings. Rectangles only shrink on the way: what comes back to a room is inside what
/// it was left with, so no way leads through a room twice, without a list of the rooms on it.
///
/// Each side of a gathered rectangle is a side of the picture or of one portal, and each entry moves one outwards. So a
/// room is entered at most 4 * portals + 1 times, in any graph. Shapes without rectangles enter a room once. Since
/// rounds count portals, a limit of depth cuts off what is behind more portals, whatever the order of lists. (Following
/// one way to its end before the next needs a stack of ways, and comes to rooms by detours first, which is wrong for
/// limits. Where it refuses a room that is on the present way, it loses what only the next way would have shown there.)
///
/// What a portal is to a shape, its distance, side and rectangle, does not depend on the way there: it is found out
/// once.
///
/// A mirror is looked into by reflecting the camera and its projection; boxes and volumes stay those of the real world.
/// The rooms that its way begins in are those of the mirrors in its plane that the primary shape sees, not that of the
/// camera, who may look in through a door. Without any, it is that of the camera.
///
/// Portals that count for LODs only are looked through as others are: NodeSight says no more than seen or not.
///
/// Source:  own. Rectangles: Luebke and Georges, "Portals and mirrors: simple, fast evaluation of potentially visible
///          sets", 1995.

#include <cstdint>
#include <span>

#include "meridian/scene/entity_desc.h"
#include "meridian/visibility/scan_explain.h"
#include "visibility/node_sight.h"
#include "visibility/portal_geometry.h"
#include "visibility/portal_table.h"
#include "visibility/scan_shapes.h"

namespace meridian {

inline constexpr double kTouchingPortal = 0.05;  ///< nearer than this, nothing of the picture is cut off [m]
inline constexpr double kClosePortal = 0.6;      ///< nearer than this, volumes are not asked [m]
inline constexpr float kExteriorMargin = 1;      ///< by which the primary shape widens portals to the outside [m]
inline constexpr double kMirrorPlane = 0.05;     ///< how far a mirror's corners may be off a shape's plane [m]

/// Where a shape that was walked came near to a node that it does not see.
struct PortalBlock {
  PortalStop stop = PortalStop::no_way;
  uint16_t portal = kNoTableIndex;  ///< which stopped it; none with no_way
  uint16_t seen_room = 0;           ///< from where it is looked at
  uint16_t portals = 0;             ///< from there to the node [count]
};

/// The walk of one shape. Made for it and thrown away.
class PortalWalk {
 public:
  PortalWalk(const PortalWalkInput& in, std::span<const CullShape> shapes, uint32_t index, NodeSight& sight,
             ScanResults& results);
  void run();

  /// After all walks of a scan: the nearest room that is seen, counted in portals, from one of `targets`, and what
  /// stopped the shape on the way there. Uses the table's scratch memory, and changes nothing else.
  PortalBlock block_before(std::span<const uint16_t> targets);

 private:
  bool has(uint32_t flags) const { return (shape_.flags & flags) != 0; }
  void start();
  void start_in(uint16_t room);
  bool start_in_mirrors();
  void look(uint16_t room, const ScreenRect& quad, uint32_t depth);
  void look_outside(const ScreenRect& quad, uint32_t depth);
  void look_through(uint16_t room, const PortalEntry& entry, const ScreenRect& quad, uint32_t depth);
  PortalStop pass(uint16_t room, const PortalEntry& entry, const ScreenRect& quad, ScreenRect& rest);
  PortalStop why_stopped(uint16_t room, const PortalEntry& entry);
  bool is_seen(uint16_t room) const;
  void look_at_mirror(uint16_t room, const PortalEntry& entry, const ScreenRect& quad);
  void note_sky(uint16_t portal);
  void enter(uint16_t room, const ScreenRect& quad);
  void flood();
  void flood_into(uint16_t room, const ScreenRect& quad, uint32_t& count);

  void mark(uint32_t node, const ScreenRect& quad);
  void mark_room(uint16_t room, const ScreenRect& quad);
  void mark_portal(const TablePortal& portal, const ScreenRect& quad);
  bool is_closed_interior(uint32_t interior) const;
  bool is_shut(const TablePortal& portal) const;
  bool can_enter(uint16_t room, uint32_t depth) const;
  bool is_near_entrance(const TableInterior& interior) const;
  bool touches_node(uint32_t node) const;
  const PortalView& view_of(uint16_t portal);
  bool touches_box(const TablePortal& portal, uint16_t from, uint16_t to) const;

  const PortalWalkInput& in_;
  std::span<const CullShape> shapes_;
  uint32_t index_;
  const CullShape& shape_;
  const PortalTable& table_;
  const PortalScratch& scratch_;
  NodeSight& sight_;
  ScanResults& results_;
  ReadyShape outside_, inside_;  // relative to the camera
  ScreenRows rows_;
  Double3 camera_;               // of a mirror its image
  bool has_quads_ = false;       // the picture is cut to portals
  bool has_sides_ = false;       // portals are seen from one side at a time
  uint32_t exterior_depth_ = 0;  // portals up to the outside, at most
  uint16_t own_interior_ = kNoTableIndex;
  uint32_t side_ = 0, queued_ = 0;  // of the two queues that which is being filled, and with how many
};

}  // namespace meridian
