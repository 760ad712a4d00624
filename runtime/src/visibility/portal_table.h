// SPDX-License-Identifier: MIT
#pragma once
/// Rooms and portals of a scene as flat arrays, so that looking through portals follows no lists of nodes.
///
///   PortalTable table;
///   Status ready = table.init(graph, allocator);
///   table.update(graph);                               // before each scan; does nothing if no such node changed
///   for (const PortalEntry& entry : table.entries_of(table.room_of(*start))) ...
///
/// Room 0 of the table is the outside, and so is the limbo of each interior: a portal between a room and a limbo leads
/// outside. Portals that link interiors stand in pairs, one in each of the two, corner on corner. Each of a pair leads
/// to the room behind the other one, past the outside; one whose partner is not there leads outside.
///
/// A portal that has no area or corners that are not finite is said once and is no opening.
///
/// Threads: main writes while the scene is locked or nobody reads; then readers. The scratch memory is for one walk.
/// Memory:  one block in init, by the capacities of the scene; none later.
/// Source:  own.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/double3.h"
#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/visibility/cull_shape.h"

namespace meridian {

inline constexpr uint16_t kOutsideRoom = 0;  ///< in the table
inline constexpr uint16_t kNoTableIndex = 0xFFFF;
inline constexpr double kLinkedCorners = 0.1;  ///< so near are corners of linked portals [m]

struct TableInterior {
  int16_t interior = -1;        ///< InteriorNode::interior
  uint16_t limbo = 0;           ///< dense index of its room 0; 0: it has none
  bool has_entrance = false;    ///< a portal at least leads outside
  Aabb entrance;                ///< around all of those [m]
  uint32_t first = 0, end = 0;  ///< entries of the outside that are its own
};

struct TableRoom {
  uint16_t node = 0;      ///< dense index
  uint16_t interior = 0;  ///< in the table; kNoTableIndex outside
  bool is_enabled = true;
  uint32_t flags = 0;           ///< schema::RoomFlags
  int32_t depth = -1;           ///< RoomNode::exterior_visibility_depth
  uint32_t first = 0, end = 0;  ///< entries
};

struct TablePortal {
  const PortalNode* portal = nullptr;  ///< whose is_closed is read as it is
  Aabb box;                            ///< around its corners [m]
  Double3 normal, centre;              ///< length 1, towards the room that it leads to; zero without area
  double bend = 0;                     ///< furthest that a corner is off its plane [m]
  uint16_t node = 0;                   ///< dense index
  uint16_t partner = kNoTableIndex;    ///< the one of the other interior that it is linked with
  uint16_t rooms[2] = {};              ///< it leads out of and to
  uint8_t linked_side = 0;             ///< with a partner: which of them is the partner's
  bool is_enabled = true;
  bool is_opening = false;  ///< something may be seen through it; not of mirrors
  bool is_mirror = false;
};

/// A portal as one of its rooms has it.
struct PortalEntry {
  uint16_t portal = 0;
  uint16_t room = 0;         ///< behind it
  bool is_forward = false;   ///< it is looked at from the room that it leads out of
  bool is_passable = false;  ///< it is an opening, and not one-way from behind
};

/// A portal as one shape sees it, whichever room it is looked at from.
struct PortalView {
  bool is_ready = false;
  bool is_touching = false;                    ///< the camera stands in the opening
  bool is_close = false;                       ///< too near to the camera for a frustum
  bool from_front = false, from_back = false;  ///< the camera is on the side of the room that it leads out of, or to
  ScreenRect rect;
};

/// What a walk writes, for the rooms and portals of the table. Left as it was after a walk, for tests.
struct PortalScratch {
  ScreenRect* gathered = nullptr;  ///< by room: how much of it is seen
  ScreenRect* now = nullptr;       ///< by room: the same, when its turn came
  uint32_t* entered = nullptr;     ///< by room: how often
  uint8_t* is_queued = nullptr;    ///< by room
  uint16_t* queue[2] = {};         ///< rooms
  PortalView* views = nullptr;     ///< by portal
  uint8_t* is_sky = nullptr;       ///< by portal: it is counted already
};

class PortalTable {
 public:
  PortalTable() = default;
  ~PortalTable();
  PortalTable(const PortalTable&) = delete;
  PortalTable& operator=(const PortalTable&) = delete;

  /// Requires: called once (asserted; otherwise in_use). The allocator outlives the table. Errors: out_of_memory.
  Status init(const SceneGraph& graph, Allocator& allocator);
  /// Cost: one comparison if no node of an interior has changed; otherwise a step for each of them, and for links
  /// pairs of them. Requires: the scene of init() (asserted; otherwise the table is empty).
  void update(const SceneGraph& graph);

  std::span<const TableInterior> interiors() const { return {interiors_, interior_count_}; }
  /// The outside first.
  std::span<const TableRoom> rooms() const { return {rooms_, room_count_}; }
  /// By interior.
  std::span<const TablePortal> portals() const { return {portals_, portal_count_}; }
  /// By portal. Those of the outside: by interior first.
  std::span<const PortalEntry> entries_of(uint32_t room) const { return entries(rooms_[room].first, rooms_[room].end); }
  std::span<const PortalEntry> entries(uint32_t first, uint32_t end) const { return {entries_ + first, end - first}; }
  /// Of a room's node. kOutsideRoom: limbo, or not in the world.
  uint16_t room_of(const RoomNode& room) const;
  /// Of the interior that a room's node is part of, limbo or not; kNoTableIndex: not in the world.
  uint16_t interior_of(const RoomNode& room) const;
  const PortalScratch& scratch() const { return scratch_; }
  /// Times that it was made anew. [count]
  uint32_t builds() const { return builds_; }

 private:
  size_t plan(std::byte* block);
  void build(const SceneGraph& graph);
  void add_interior(const InteriorNode& node);
  void add_portal(const PortalNode& node, const uint16_t* rooms, bool is_enabled);
  void link_portals();
  void make_entries();
  bool can_pass(const TablePortal& portal, bool forward) const;

  Allocator* allocator_ = nullptr;
  const SceneGraph* graph_ = nullptr;
  std::byte* block_ = nullptr;
  size_t block_bytes_ = 0;
  SceneCapacities capacities_;
  uint32_t epoch_ = 0;
  uint32_t builds_ = 0;
  TableInterior* interiors_ = nullptr;
  TableRoom* rooms_ = nullptr;
  TablePortal* portals_ = nullptr;
  PortalEntry* entries_ = nullptr;
  uint16_t* room_of_node_ = nullptr;      // by dense index, from the first room on
  uint16_t* interior_of_node_ = nullptr;  // the same
  uint16_t* interior_of_portal_ = nullptr;
  uint32_t interior_count_ = 0, room_count_ = 0, portal_count_ = 0;
  PortalScratch scratch_;
  OnceSet said_;
};

}  // namespace meridian
