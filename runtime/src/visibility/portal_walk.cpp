// SPDX-License-Identifier: MIT
#include "visibility/portal_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "meridian/base/assert.h"
#include "meridian/base/geometry.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

constexpr uint32_t kNoDepthLimit = std::numeric_limits<uint32_t>::max();

bool has_flag(const TableRoom& room, schema::RoomFlags flag) { return (room.flags & static_cast<uint32_t>(flag)) != 0; }

/// Portals up to the outside, from a room.
uint32_t exterior_depth_of(const TableRoom& room) {
  if (has_flag(room, schema::RoomFlags::dont_render_exterior)) return 0;
  return room.depth < 0 ? kNoDepthLimit : static_cast<uint32_t>(room.depth);
}

/// A box around others, as scan_shapes.h says.
bool touches_bound(const ReadyShape& shape, const Aabb& box, const Vec3& origin) {
  const Vec3 low = box.min - origin, high = box.max - origin;
  const auto slack = [](float a, float b) { return std::max(std::abs(a), std::abs(b)) * kBoundSlack; };
  const Vec3 e{slack(low.x, high.x), slack(low.y, high.y), slack(low.z, high.z)};
  const Vec3 lo = low - e, hi = high + e;
  if ((shape.flags & kCullUseFrustum) != 0) {
    bool is_outside = false;
    for (uint32_t i = 0; i < shape.plane_count && !is_outside; ++i) {
      const Vec3& n = shape.planes[i].normal;
      const Vec3 v{n.x >= 0 ? hi.x : lo.x, n.y >= 0 ? hi.y : lo.y, n.z >= 0 ? hi.z : lo.z};
      is_outside = ((n.x * v.x + n.y * v.y) + n.z * v.z) + shape.planes[i].d < 0;
    }
    if (!is_outside) return true;
  }
  if (shape.sphere_r2 < 0) return false;
  const Vec3 d = max(max(lo - shape.sphere, shape.sphere - hi), Vec3{});
  return (d.x * d.x + d.y * d.y) + d.z * d.z <= shape.sphere_r2;
}

double distance_to_box(const Aabb& box, const Double3& p) {
  const auto off = [](double low, double high, double v) { return std::max({low - v, v - high, 0.0}); };
  return length(
      Double3(off(box.min.x, box.max.x, p.x), off(box.min.y, box.max.y, p.y), off(box.min.z, box.max.z, p.z)));
}

}  // namespace

PortalWalk::PortalWalk(const PortalWalkInput& in, std::span<const CullShape> shapes, uint32_t index, NodeSight& sight,
                       ScanResults& results)
    : in_(in),
      shapes_(shapes),
      index_(index),
      shape_(shapes[index]),
      table_(*in.table),
      scratch_(in.table->scratch()),
      sight_(sight),
      results_(results),
      outside_(ready_shape(shape_, shape_.camera)),
      inside_(outside_),
      rows_(screen_rows(shape_)),
      camera_(shape_.camera),
      // What a sphere holds beside the picture is not seen through rectangles.
      has_quads_(has(kCullClipAndStorePortals) && has(kCullUseFrustum) && !has(kCullUseSphere)),
      has_sides_(!has(kCullUseSphere)) {
  use_interior_sphere(inside_, shape_.camera);
  if (has(kCullMirror)) camera_ = reflected(shape_.mirror, camera_);
}

void PortalWalk::run() {
  const size_t rooms = table_.rooms().size();
  std::fill_n(scratch_.gathered, rooms, ScreenRect());
  std::fill_n(scratch_.entered, rooms, 0u);
  std::fill_n(scratch_.is_queued, rooms, uint8_t{0});
  std::fill_n(scratch_.views, table_.portals().size(), PortalView());
  start();
  for (uint32_t depth = 0; queued_ != 0; ++depth) {
    if (depth > in_.depth_limit) return flood();
    const uint16_t* const queue = scratch_.queue[side_];
    const uint32_t count = std::exchange(queued_, 0);
    side_ ^= 1;
    // All as they are now: what a room of this round gathers from another one has come through one portal more.
    for (uint32_t i = 0; i < count; ++i) {
      scratch_.now[queue[i]] = scratch_.gathered[queue[i]];
      scratch_.is_queued[queue[i]] = 0;
    }
    for (uint32_t i = 0; i < count; ++i) look(queue[i], scratch_.now[queue[i]], depth);
  }
}

// --- where it begins -----------------------------------------------------------------------------------

void PortalWalk::start() {
  const uint16_t room = shape_.start != nullptr ? table_.room_of(*shape_.start) : kOutsideRoom;
  if (shape_.start != nullptr) own_interior_ = table_.interior_of(*shape_.start);
  const bool is_shut_in = has_flag(table_.rooms()[room], schema::RoomFlags::dont_render_exterior);
  if (!has(kCullMirror) || !start_in_mirrors()) start_in(room);
  if (is_shut_in) exterior_depth_ = 0;
}

void PortalWalk::start_in(uint16_t room) {
  exterior_depth_ = std::max(exterior_depth_, exterior_depth_of(table_.rooms()[room]));
  enter(room, kFullScreen);
}

bool PortalWalk::start_in_mirrors() {
  uint32_t primary = 0;
  for (const CullShape& other : shapes_.first(index_)) {
    if ((other.flags & kCullPrimary) != 0) primary = 1u << other.phase;
  }
  if (primary == 0) return false;
  bool is_found = false;
  const Double3 normal(shape_.mirror.normal);
  for (const TablePortal& portal : table_.portals()) {
    if (!portal.is_mirror || (sight_.phases[portal.node] & primary) == 0) continue;
    bool is_in_plane = dot(portal.normal, normal) < 0;  // the other way round: it shows the room that it is in
    for (int i = 0; i < 4; ++i) {
      const Double3 corner(portal.portal->corners.corner[i]);
      is_in_plane = is_in_plane && std::abs(distance_from(shape_.mirror, corner)) <= kMirrorPlane;
    }
    if (!is_in_plane) continue;
    start_in(portal.rooms[0]);
    is_found = true;
  }
  return is_found;
}

// --- a room and what is behind it ----------------------------------------------------------------------

void PortalWalk::look(uint16_t room, const ScreenRect& quad, uint32_t depth) {
  if (room == kOutsideRoom) return look_outside(quad, depth);
  for (const PortalEntry& entry : table_.entries_of(room)) {
    mark_portal(table_.portals()[entry.portal], quad);
    look_through(room, entry, quad, depth);
  }
}

void PortalWalk::look_outside(const ScreenRect& quad, uint32_t depth) {
  if (!has(kCullRenderInterior)) return;
  for (uint32_t i = 0; i < table_.interiors().size(); ++i) {
    if (is_closed_interior(i)) continue;
    const TableInterior& interior = table_.interiors()[i];
    const bool is_met = is_near_entrance(interior);
    // Limbo and doors are part of the outside: what stands there may be seen where no entrance is.
    if (interior.limbo != 0 && (is_met || touches_node(interior.limbo))) mark(interior.limbo, quad);
    for (const PortalEntry& entry : table_.entries(interior.first, interior.end)) {
      const TablePortal& portal = table_.portals()[entry.portal];
      if (is_met || touches_node(portal.node)) mark_portal(portal, quad);
      if (is_met || portal.is_mirror) look_through(kOutsideRoom, entry, quad, depth);
    }
  }
}

void PortalWalk::look_through(uint16_t room, const PortalEntry& entry, const ScreenRect& quad, uint32_t depth) {
  const TablePortal& portal = table_.portals()[entry.portal];
  if (portal.is_mirror && has(kCullPrimary)) look_at_mirror(room, entry, quad);
  if (!has(kCullTraversePortals) || !entry.is_passable || is_shut(portal) || !can_enter(entry.room, depth + 1)) return;
  ++results_.counters.portal_steps;
  ScreenRect rest;
  if (pass(room, entry, quad, rest) != PortalStop::none) return;
  if (entry.room == kOutsideRoom && has(kCullReflections)) note_sky(entry.portal);
  enter(entry.room, rest);
}

/// Whether a portal that leads somewhere shows something of what is behind it, and which part of the picture that is.
PortalStop PortalWalk::pass(uint16_t room, const PortalEntry& entry, const ScreenRect& quad, ScreenRect& rest) {
  const PortalView& view = view_of(entry.portal);
  rest = quad;
  if (view.is_touching) return PortalStop::none;
  if (has_sides_ && !(entry.is_forward ? view.from_front : view.from_back)) return PortalStop::wrong_side;
  if (!view.is_close && !touches_box(table_.portals()[entry.portal], room, entry.room)) return PortalStop::volume;
  if (has_quads_) rest = intersection(quad, view.rect);
  return rest.is_empty() ? PortalStop::rectangle : PortalStop::none;
}

void PortalWalk::enter(uint16_t room, const ScreenRect& quad) {
  ScreenRect& gathered = scratch_.gathered[room];
  if (scratch_.entered[room] != 0 && (!has_quads_ || contains(gathered, quad))) return;
  gathered = has_quads_ ? bounds_of(gathered, quad) : kFullScreen;
  ++scratch_.entered[room];
  mark_room(room, gathered);
  if (scratch_.is_queued[room] != 0) return;
  scratch_.is_queued[room] = 1;
  scratch_.queue[side_][queued_++] = room;
}

/// Where the limit of depth ends a walk, all that can be reached from there is seen, as far as the last rectangles.
void PortalWalk::flood() {
  results_.counters.portal_limit += queued_;
  ScreenRect quad;
  const uint16_t* const queue = scratch_.queue[side_];
  for (uint32_t i = 0; i < queued_; ++i) quad = bounds_of(quad, scratch_.gathered[queue[i]]);
  // From here on is_queued says that a room was flooded; so each stands in the queue once.
  uint32_t count = queued_;
  for (uint32_t next = 0; next < count; ++next) {
    const uint16_t room = queue[next];
    mark_room(room, quad);
    if (room != kOutsideRoom) {
      for (const PortalEntry& entry : table_.entries_of(room)) {
        const TablePortal& portal = table_.portals()[entry.portal];
        mark_portal(portal, quad);
        if (entry.is_passable && !is_shut(portal)) flood_into(entry.room, quad, count);
      }
      continue;
    }
    for (uint32_t i = 0; i < table_.interiors().size() && has(kCullRenderInterior); ++i) {
      const TableInterior& interior = table_.interiors()[i];
      if (is_closed_interior(i)) continue;
      if (interior.limbo != 0) mark(interior.limbo, quad);
      const bool is_met = is_near_entrance(interior);
      for (const PortalEntry& entry : table_.entries(interior.first, interior.end)) {
        const TablePortal& portal = table_.portals()[entry.portal];
        mark_portal(portal, quad);
        if (is_met && entry.is_passable && !is_shut(portal)) flood_into(entry.room, quad, count);
      }
    }
  }
  queued_ = 0;
}

void PortalWalk::flood_into(uint16_t room, const ScreenRect& quad, uint32_t& count) {
  if (scratch_.is_queued[room] != 0 || !can_enter(room, in_.depth_limit + 2)) return;
  scratch_.is_queued[room] = 1;
  scratch_.gathered[room] = bounds_of(scratch_.gathered[room], quad);
  scratch_.queue[side_][count++] = room;
}

// --- what is met on the way ----------------------------------------------------------------------------

void PortalWalk::look_at_mirror(uint16_t room, const PortalEntry& entry, const ScreenRect& quad) {
  const TablePortal& portal = table_.portals()[entry.portal];
  if (!entry.is_forward || is_shut(portal)) return;
  const PortalView& view = view_of(entry.portal);
  if (!view.from_front) return;
  if (!view.is_close && !touches_box(portal, room, room)) return;
  if (has_quads_ && !view.is_touching && intersection(quad, view.rect).is_empty()) return;
  const PortalCorners& corners = portal.portal->corners;
  const auto distance = static_cast<float>(distance_to(corners, Double3(shape_.camera)));
  const uint32_t priority = portal.portal->priority;
  ScanMirror& best = results_.mirror;
  if (best.is_visible) {
    if (priority != best.priority ? priority < best.priority : distance > best.distance) return;
    if (priority == best.priority && distance == best.distance && portal.node >= best.node) return;
  }
  const auto has_flag = [&](schema::PortalFlags flag) { return (corners.flags() & static_cast<uint32_t>(flag)) != 0; };
  best.is_visible = true;
  best.is_floor = has_flag(schema::PortalFlags::mirror_floor);
  best.is_water = has_flag(schema::PortalFlags::water_surface);
  best.sees_exterior = has_flag(schema::PortalFlags::mirror_can_see_exterior_view);
  best.sees_directional_light = has_flag(schema::PortalFlags::mirror_can_see_directional_light);
  best.traverses_portals = has_flag(schema::PortalFlags::mirror_using_portal_traversal);
  best.priority = priority;
  best.distance = distance;
  for (int i = 0; i < 4; ++i) best.corners[i] = corners.point(i);
  best.centre = centre(corners);
  best.node = portal.node;
}

/// Each portal once, whichever shapes see it.
void PortalWalk::note_sky(uint16_t portal) {
  if (results_.sky_portal_count == 0) std::fill_n(scratch_.is_sky, table_.portals().size(), uint8_t{0});
  if (std::exchange(scratch_.is_sky[portal], uint8_t{1}) != 0) return;
  const uint32_t at = results_.sky_portal_count++;
  if (at < kSkyPortals) results_.sky_portals[at] = table_.portals()[portal].node;
}

void PortalWalk::mark(uint32_t node, const ScreenRect& quad) {
  sight_.phases[node] |= outside_.bit;
  if (!has(kCullClipAndStorePortals)) return;
  ScreenRect& stored = sight_.quads[shape_.quad_store][node];
  stored = bounds_of(stored, quad);
}

void PortalWalk::mark_room(uint16_t room, const ScreenRect& quad) {
  if (has(room == kOutsideRoom ? kCullRenderExterior : kCullRenderInterior)) mark(table_.rooms()[room].node, quad);
}

/// Things at a portal are no part of its opening: doors stand off it. They are seen as their rooms are.
void PortalWalk::mark_portal(const TablePortal& portal, const ScreenRect& quad) {
  if (!has(kCullRenderInterior)) return;
  mark(portal.node, quad);
  if (portal.partner != kNoTableIndex) mark(table_.portals()[portal.partner].node, quad);
}

// --- what holds back -----------------------------------------------------------------------------------

bool PortalWalk::is_closed_interior(uint32_t interior) const {
  const int16_t number = table_.interiors()[interior].interior;
  return interior != own_interior_ &&
         std::find(in_.closed_interiors.begin(), in_.closed_interiors.end(), number) != in_.closed_interiors.end();
}

bool PortalWalk::is_shut(const TablePortal& portal) const {
  if (has(kCullTraverseDisabledPortals)) return false;
  if (!portal.is_enabled || portal.portal->is_closed()) return true;
  if (portal.partner == kNoTableIndex) return false;
  const TablePortal& other = table_.portals()[portal.partner];
  return !other.is_enabled || other.portal->is_closed();
}

bool PortalWalk::can_enter(uint16_t room, uint32_t depth) const {
  if (room == kOutsideRoom) return depth <= exterior_depth_;
  return table_.rooms()[room].is_enabled || has(kCullTraverseDisabledPortals);
}

bool PortalWalk::is_near_entrance(const TableInterior& interior) const {
  return interior.has_entrance && (distance_to_box(interior.entrance, camera_) <= kClosePortal ||
                                   touches_bound(outside_, interior.entrance, shape_.camera));
}

bool PortalWalk::touches_node(uint32_t node) const {
  const DescBounds& bounds = in_.graph->node_bounds()[node];
  if (bounds == DescBounds()) return false;  // nothing stands in it
  const Aabb box{bounds.box_min, bounds.box_max};
  return touches_bound(outside_, box, shape_.camera) || touches_bound(inside_, box, shape_.camera);
}

bool PortalWalk::touches_box(const TablePortal& portal, uint16_t from, uint16_t to) const {
  Aabb box = portal.box;
  if (to == kOutsideRoom && from != kOutsideRoom && has(kCullPrimary)) {
    const Vec3 margin{kExteriorMargin, kExteriorMargin, kExteriorMargin};
    box = {box.min - margin, box.max + margin};
  }
  return touches_bound(from == kOutsideRoom ? outside_ : inside_, box, shape_.camera);
}

const PortalView& PortalWalk::view_of(uint16_t index) {
  PortalView& view = scratch_.views[index];
  if (view.is_ready) return view;
  const TablePortal& portal = table_.portals()[index];
  const PortalCorners& corners = portal.portal->corners;
  view.is_ready = true;
  if (distance_to_box(portal.box, camera_) <= kClosePortal) {
    const double distance = distance_to(corners, camera_);
    view.is_close = distance <= kClosePortal;
    view.is_touching = distance <= kTouchingPortal;
  }
  const double height = dot(portal.normal, camera_ - portal.centre);
  view.from_front = height <= portal.bend;
  view.from_back = height >= -portal.bend;
  if (has_quads_) view.rect = rect_of(corners, rows_);
  return view;
}

void walk_portals(const PortalWalkInput& in, std::span<const CullShape> shapes, uint32_t index, NodeSight& sight,
                  ScanResults& results) {
  const bool is_good = in.graph != nullptr && in.table != nullptr && index < shapes.size();
  MERIDIAN_ASSERT(is_good, "a walk has a scene, a table of it, and a shape");
  if (!is_good) return;
  PortalWalk(in, shapes, index, sight, results).run();
}

}  // namespace meridian
