// SPDX-License-Identifier: MIT
#include "visibility/portal_table.h"

#include <algorithm>
#include <cmath>

#include "base/block_cutter.h"
#include "meridian/base/assert.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

constexpr uint32_t kRoomNumbers = 256;  // of RoomNode::room

bool has_flag(const TablePortal& portal, schema::PortalFlags flag) {
  return (portal.portal->corners.flags() & static_cast<uint32_t>(flag)) != 0;
}

/// Neither it nor what is above it is switched off.
bool is_shown(const SceneNode& node) {
  for (const SceneNode* at = &node; at != nullptr; at = at->parent()) {
    if (!at->is_enabled()) return false;
  }
  return true;
}

Aabb box_of(const PortalCorners& corners) {
  Aabb out{corners.point(0), corners.point(0)};
  for (int i = 1; i < 4; ++i) out = {min(out.min, corners.point(i)), max(out.max, corners.point(i))};
  return out;
}

bool is_near_a_corner(const PortalCorners& portal, const Double3& point) {
  for (const Vec4& corner : portal.corner) {
    if (length(Double3(corner) - point) <= kLinkedCorners) return true;
  }
  return false;
}

bool are_linked(const PortalCorners& a, const PortalCorners& b) {
  for (int i = 0; i < 4; ++i) {
    if (!is_near_a_corner(a, Double3(b.corner[i])) || !is_near_a_corner(b, Double3(a.corner[i]))) return false;
  }
  return true;
}

}  // namespace

PortalTable::~PortalTable() {
  if (block_ != nullptr) allocator_->deallocate(block_, block_bytes_, BlockCutter::kAlignment);
}

/// Cuts a block into arrays. Without one it only counts its bytes.
size_t PortalTable::plan(std::byte* block) {
  BlockCutter cutter(block);
  const auto take = [&]<class T>(T*& array, size_t count) { array = cutter.take<T>(count); };
  const size_t rooms = capacities_.room_nodes, portals = capacities_.portal_nodes;
  take(interiors_, capacities_.interior_nodes);
  take(rooms_, rooms + 1);
  take(portals_, portals);
  take(entries_, 2 * portals);
  take(room_of_node_, rooms);
  take(interior_of_node_, rooms);
  take(interior_of_portal_, portals);
  take(scratch_.gathered, rooms + 1);
  take(scratch_.now, rooms + 1);
  take(scratch_.entered, rooms + 1);
  take(scratch_.is_queued, rooms + 1);
  take(scratch_.queue[0], rooms + 1);
  take(scratch_.queue[1], rooms + 1);
  take(scratch_.views, portals);
  take(scratch_.is_sky, portals);
  return cutter.used();
}

Status PortalTable::init(const SceneGraph& graph, Allocator& allocator) {
  MERIDIAN_ASSERT(block_ == nullptr, "a table is initialised once");
  if (block_ != nullptr) return {StatusCode::in_use, "a table is initialised once"};
  capacities_ = graph.capacities();
  const size_t bytes = plan(nullptr);
  auto* const block = static_cast<std::byte*>(allocator.allocate(bytes, BlockCutter::kAlignment));
  if (block == nullptr) return {StatusCode::out_of_memory, "no memory for a table of portals; detail = bytes", bytes};
  allocator_ = &allocator;
  graph_ = &graph;
  block_ = block;
  block_bytes_ = bytes;
  plan(block);
  room_count_ = 1;
  rooms_[kOutsideRoom].interior = kNoTableIndex;
  return {};
}

void PortalTable::update(const SceneGraph& graph) {
  MERIDIAN_ASSERT(graph_ == &graph, "a table is of one scene");
  if (graph_ == &graph && epoch_ == graph.node_epoch()) return;
  interior_count_ = portal_count_ = 0;
  room_count_ = block_ != nullptr ? 1 : 0;
  if (room_count_ == 0) return;
  rooms_[kOutsideRoom].first = rooms_[kOutsideRoom].end = 0;
  epoch_ = 0;  // of no scene
  if (graph_ != &graph) return;
  epoch_ = graph.node_epoch();
  ++builds_;
  build(graph);
}

uint16_t PortalTable::room_of(const RoomNode& room) const {
  const uint32_t first = 1 + capacities_.streamed_nodes + capacities_.interior_nodes;
  return room.is_in_world() && block_ != nullptr ? room_of_node_[room.index() - first] : kOutsideRoom;
}

uint16_t PortalTable::interior_of(const RoomNode& room) const {
  const uint32_t first = 1 + capacities_.streamed_nodes + capacities_.interior_nodes;
  return room.is_in_world() && block_ != nullptr ? interior_of_node_[room.index() - first] : kNoTableIndex;
}

// --- making it -----------------------------------------------------------------------------------------

void PortalTable::build(const SceneGraph& graph) {
  std::fill_n(room_of_node_, capacities_.room_nodes, kOutsideRoom);
  std::fill_n(interior_of_node_, capacities_.room_nodes, kNoTableIndex);
  const uint32_t first = 1 + capacities_.streamed_nodes;
  for (uint32_t i = first; i < first + capacities_.interior_nodes; ++i) {
    const SceneNode* const node = graph.node_at(i);
    if (node != nullptr && node->is_in_world()) add_interior(static_cast<const InteriorNode&>(*node));
  }
  link_portals();
  make_entries();
}

void PortalTable::add_interior(const InteriorNode& node) {
  TableInterior& interior = interiors_[interior_count_];
  interior = {};
  interior.interior = node.interior;
  const uint32_t first_room = 1 + capacities_.streamed_nodes + capacities_.interior_nodes;
  uint16_t rooms[kRoomNumbers] = {};  // by their numbers; the outside for those that are not there
  for (const SceneNode* child = node.first_child(); child != nullptr; child = child->next()) {
    if (child->type() != NodeType::room) continue;
    const auto& room = static_cast<const RoomNode&>(*child);
    interior_of_node_[room.index() - first_room] = static_cast<uint16_t>(interior_count_);
    if (room.room == 0) {
      interior.limbo = room.index();
      continue;
    }
    rooms[room.room] = room_of_node_[room.index() - first_room] = static_cast<uint16_t>(room_count_);
    rooms_[room_count_++] = {.node = room.index(),
                             .interior = static_cast<uint16_t>(interior_count_),
                             .is_enabled = is_shown(room),
                             .flags = room.room_flags,
                             .depth = room.exterior_visibility_depth};
  }
  for (const SceneNode* child = node.first_child(); child != nullptr; child = child->next()) {
    if (child->type() != NodeType::portal) continue;
    interior_of_portal_[portal_count_] = static_cast<uint16_t>(interior_count_);
    add_portal(static_cast<const PortalNode&>(*child), rooms, is_shown(*child));
  }
  ++interior_count_;
}

void PortalTable::add_portal(const PortalNode& node, const uint16_t* rooms, bool is_enabled) {
  TablePortal& portal = portals_[portal_count_++];
  portal = {};
  portal.portal = &node;
  portal.node = node.index();
  portal.rooms[0] = rooms[node.room_from];
  portal.rooms[1] = rooms[node.room_to];
  portal.is_enabled = is_enabled;
  const PortalShape shape = check_portal(node.corners);
  if (shape == PortalShape::not_finite || shape == PortalShape::no_area) {
    const auto* const interior = static_cast<const InteriorNode*>(node.parent());
    if (said_.first(static_cast<uint32_t>(interior->interior) << 16 | node.portal)) {
      log_message(LogLevel::warning, NameHash{},
                  "interior %d: portal %u is left out of what is seen: its corners are %s", interior->interior,
                  unsigned{node.portal}, to_string(shape));
    }
    return;
  }
  portal.box = box_of(node.corners);
  const Double3 c[4] = {Double3(node.corners.corner[0]), Double3(node.corners.corner[1]),
                        Double3(node.corners.corner[2]), Double3(node.corners.corner[3])};
  const Double3 sum = cross(c[1] - c[0], c[2] - c[0]) + cross(c[2] - c[0], c[3] - c[0]);
  const double l = length(sum);
  if (l > 0) portal.normal = sum * (1 / l);
  portal.centre = (c[0] + c[1] + c[2] + c[3]) * 0.25;
  for (const Double3& corner : c) {
    portal.bend = std::max(portal.bend, std::abs(dot(portal.normal, corner - portal.centre)));
  }
  portal.is_mirror = has_flag(portal, schema::PortalFlags::mirror);
  portal.is_opening = !portal.is_mirror;
}

/// Quadratic in portals that link interiors, of which an interior has one or two.
void PortalTable::link_portals() {
  const auto may_link = [&](uint32_t i) {
    const TablePortal& portal = portals_[i];
    return portal.is_opening && portal.partner == kNoTableIndex &&
           (portal.rooms[0] == kOutsideRoom) != (portal.rooms[1] == kOutsideRoom) &&
           has_flag(portal, schema::PortalFlags::link_interiors_together);
  };
  for (uint32_t i = 0; i < portal_count_; ++i) {
    if (!may_link(i)) continue;
    for (uint32_t k = i + 1; k < portal_count_; ++k) {
      if (interior_of_portal_[k] == interior_of_portal_[i] || !may_link(k)) continue;
      TablePortal &a = portals_[i], &b = portals_[k];
      if (!are_linked(a.portal->corners, b.portal->corners)) continue;
      a.linked_side = a.rooms[0] == kOutsideRoom ? 0 : 1;
      b.linked_side = b.rooms[0] == kOutsideRoom ? 0 : 1;
      a.rooms[a.linked_side] = b.rooms[1 - b.linked_side];
      b.rooms[b.linked_side] = a.rooms[1 - a.linked_side];
      a.partner = static_cast<uint16_t>(k);
      b.partner = static_cast<uint16_t>(i);
      break;
    }
  }
}

bool PortalTable::can_pass(const TablePortal& portal, bool forward) const {
  const auto has_way = [](const TablePortal& p, bool is_forward) {
    return is_forward || !has_flag(p, schema::PortalFlags::one_way);
  };
  if (!portal.is_opening || portal.rooms[0] == portal.rooms[1] || !has_way(portal, forward)) return false;
  if (portal.partner == kNoTableIndex) return true;
  // Whoever goes out through the one comes in through the other.
  const TablePortal& other = portals_[portal.partner];
  return has_way(other, other.linked_side == 0);
}

/// Counts, then fills: rooms first, then the outside by interior.
void PortalTable::make_entries() {
  // Sides of a portal that have it: one, if it stands in one room only. Linked ones are had by their own interior.
  const auto for_each_side = [&](uint32_t i, auto&& visit) {
    const TablePortal& portal = portals_[i];
    for (uint32_t side = 0; side < 2; ++side) {
      if (side == 1 && portal.rooms[1] == portal.rooms[0]) break;
      if (portal.partner != kNoTableIndex && side == portal.linked_side) continue;
      visit(portal, side == 0);
    }
  };
  for (uint32_t i = 0; i < portal_count_; ++i) {
    for_each_side(i, [&](const TablePortal& portal, bool forward) { ++rooms_[portal.rooms[forward ? 0 : 1]].end; });
  }
  uint32_t next = 0;
  for (uint32_t r = 0; r < room_count_; ++r) {
    const uint32_t count = rooms_[r].end;
    rooms_[r].first = rooms_[r].end = next;
    next += count;
  }
  for (uint32_t i = 0; i < portal_count_; ++i) {
    TableInterior& interior = interiors_[interior_of_portal_[i]];
    const bool is_first = i == 0 || interior_of_portal_[i] != interior_of_portal_[i - 1];
    if (is_first) interior.first = interior.end = rooms_[kOutsideRoom].end;
    for_each_side(i, [&](const TablePortal& portal, bool forward) {
      TableRoom& room = rooms_[portal.rooms[forward ? 0 : 1]];
      const PortalEntry entry{static_cast<uint16_t>(i), portal.rooms[forward ? 1 : 0], forward,
                              can_pass(portal, forward)};
      entries_[room.end++] = entry;
      if (&room != &rooms_[kOutsideRoom]) return;
      interior.end = room.end;
      if (!entry.is_passable) return;
      interior.entrance = !interior.has_entrance ? portal.box
                                                 : Aabb{min(interior.entrance.min, portal.box.min),
                                                        max(interior.entrance.max, portal.box.max)};
      interior.has_entrance = true;
    });
  }
}

}  // namespace meridian
