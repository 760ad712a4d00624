// SPDX-License-Identifier: MIT
// Why a walk did not come to a node: backwards from there to what is seen, and what the portal on that side says.
#include <algorithm>
#include <utility>

#include "visibility/portal_walk.h"

namespace meridian {

/// The walk also looked into where it began, marked or not.
bool PortalWalk::is_seen(uint16_t room) const {
  const uint16_t start = shape_.start != nullptr ? table_.room_of(*shape_.start) : kOutsideRoom;
  return room == start || (sight_.phases[table_.rooms()[room].node] & outside_.bit) != 0;
}

PortalStop PortalWalk::why_stopped(uint16_t room, const PortalEntry& entry) {
  if (!has(kCullTraversePortals)) return PortalStop::no_traversal;
  if (!entry.is_passable) return PortalStop::one_way;
  if (is_shut(table_.portals()[entry.portal])) return PortalStop::shut;
  // Whether the outside may be entered is a question of depth, which is not known any more.
  if (entry.room != kOutsideRoom && !can_enter(entry.room, 0)) return PortalStop::room_off;
  if (room == kOutsideRoom && entry.room != kOutsideRoom) {
    const uint16_t interior = table_.rooms()[entry.room].interior;
    if (is_closed_interior(interior)) return PortalStop::interior_closed;
    if (!is_near_entrance(table_.interiors()[interior])) return PortalStop::no_entrance;
  }
  const uint32_t node = table_.rooms()[room].node;
  const bool is_marked = (sight_.phases[node] & outside_.bit) != 0;
  const ScreenRect quad = has_quads_ && is_marked ? sight_.quads[shape_.quad_store][node] : kFullScreen;
  scratch_.views[entry.portal] = {};  // that of another shape
  ScreenRect rest;
  const PortalStop stop = pass(room, entry, quad, rest);
  return stop != PortalStop::none ? stop : PortalStop::depth;
}

PortalBlock PortalWalk::block_before(std::span<const uint16_t> targets) {
  if (shape_.start != nullptr) own_interior_ = table_.interior_of(*shape_.start);
  std::fill_n(scratch_.is_queued, table_.rooms().size(), uint8_t{0});
  uint16_t* const queue = scratch_.queue[0];
  uint32_t* const apart = scratch_.entered;  // portals from a room to the node
  uint32_t count = 0;
  for (const uint16_t room : targets) {
    // What is at a portal to the outside is looked at where an entrance is near.
    if (is_seen(room)) return {.stop = PortalStop::no_entrance, .seen_room = room};
    if (std::exchange(scratch_.is_queued[room], uint8_t{1}) != 0) continue;
    apart[room] = 0;
    queue[count++] = room;
  }
  for (uint32_t next = 0; next < count; ++next) {
    const uint16_t room = queue[next];
    PortalBlock best;
    for (const PortalEntry& back : table_.entries_of(room)) {
      if (!is_seen(back.room)) {
        if (std::exchange(scratch_.is_queued[back.room], uint8_t{1}) != 0) continue;
        apart[back.room] = apart[room] + 1;
        queue[count++] = back.room;
        continue;
      }
      // The same portal, from the other side. Of several the one that let the shape come furthest.
      const uint16_t partner = table_.portals()[back.portal].partner;
      for (const PortalEntry& entry : table_.entries_of(back.room)) {
        if (entry.room != room || (entry.portal != back.portal && entry.portal != partner)) continue;
        const PortalStop stop = why_stopped(back.room, entry);
        if (best.portal == kNoTableIndex || stop > best.stop)
          best = {stop, entry.portal, back.room, static_cast<uint16_t>(apart[room] + 1)};
      }
    }
    if (best.portal != kNoTableIndex) return best;
  }
  return {};
}

}  // namespace meridian
