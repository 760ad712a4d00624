// SPDX-License-Identifier: MIT
#pragma once
/// Interiors built by hand in a scene, and what shapes see of them.
///
///   test::PortalWorld world;
///   InteriorNode& house = world.add_interior(/*rooms=*/2);
///   world.add_portal(house, 1, 2, test::wall_x(10, -1, 1, 0, 2));
///   CullShape picture = test::picture_at({5, 0, 1}, {1, 0, 0});
///   picture.start = &world.room(house, 1);
///   world.scan({picture});
///   EXPECT_TRUE(world.sees(picture, world.room(house, 2)));

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "meridian/base/portal_corners.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/visibility/cull_shape.h"
#include "support/checked_memory.h"
#include "visibility/node_sight.h"
#include "visibility/portal_table.h"

namespace meridian::test {

using Corners = std::array<Vec3, 4>;

/// An opening in a wall at this x; who goes forward goes to larger x.
inline Corners wall_x(float x, float y0, float y1, float z0, float z1) {
  return {Vec3{x, y1, z0}, Vec3{x, y1, z1}, Vec3{x, y0, z1}, Vec3{x, y0, z0}};
}
/// An opening in a wall at this y; who goes forward goes to larger y.
inline Corners wall_y(float y, float x0, float x1, float z0, float z1) {
  return {Vec3{x0, y, z0}, Vec3{x0, y, z1}, Vec3{x1, y, z1}, Vec3{x1, y, z0}};
}
using Rooms = std::vector<uint32_t>;
inline constexpr Vec3 kAhead{1, 0, 0}, kBack{-1, 0, 0};  ///< where cameras look

/// The same opening, the other way.
inline Corners turned(const Corners& c) { return {c[3], c[2], c[1], c[0]}; }

inline uint32_t portal_flags(std::initializer_list<schema::PortalFlags> flags) {
  uint32_t out = 0;
  for (const schema::PortalFlags flag : flags) out |= static_cast<uint32_t>(flag);
  return out;
}

inline constexpr uint32_t kPicture = kCullPrimary | kCullUseFrustum | kCullRenderExterior | kCullRenderInterior |
                                     kCullTraversePortals | kCullClipAndStorePortals;

/// What a camera on the level sees: the primary shape, of phase 0, with quads in store 0.
inline CullShape picture_at(const Vec3& camera, const Vec3& forward, float tan_half = 1, float far = 500) {
  CullShape out;
  out.flags = kPicture;
  out.quad_store = 0;
  out.camera = camera;
  const Vec3 right{forward.y, -forward.x, 0}, up{0, 0, 1};
  const ViewLens lens{
      .tan_half_width = tan_half, .tan_half_height = tan_half, .near_distance = 0.05f, .far_distance = far};
  set_frustum(out, right, forward, up, lens);
  out.screen = screen_projection(camera, right, forward, up, lens);
  return out;
}

/// A shape that looks through portals, but keeps no quads, as phase `phase`.
inline CullShape frustum_at(uint8_t phase, const Vec3& camera, const Vec3& forward) {
  CullShape out = picture_at(camera, forward);
  out.flags = kCullUseFrustum | kCullRenderExterior | kCullRenderInterior | kCullTraversePortals;
  out.phase = phase;
  out.quad_store = kNoQuadStore;
  return out;
}

inline CullShape sphere_at(uint8_t phase, const Vec3& centre, float radius) {
  CullShape out;
  out.flags = kCullUseSphere | kCullRenderExterior | kCullRenderInterior | kCullTraversePortals;
  out.phase = phase;
  out.camera = out.sphere_centre = centre;
  out.sphere_radius = radius;
  return out;
}

/// What a mirror shows of a picture. `mirror` has a normal of length 1, towards the camera.
inline CullShape mirrored(const CullShape& picture, const Plane& mirror, uint8_t phase, uint8_t store) {
  CullShape out = picture;
  out.flags = (picture.flags & ~kCullPrimary) | kCullMirror;
  out.phase = phase;
  out.quad_store = store;
  out.visibility = VisibilityType::mirror_reflection;
  out.mirror = mirror;
  for (uint32_t i = 0; i < out.plane_count; ++i) {
    Plane& plane = out.planes[i];
    const float by = 2 * dot(plane.normal, mirror.normal);
    plane = {plane.normal - mirror.normal * by, plane.d - by * mirror.d};
  }
  return out;
}

inline constexpr SceneCapacities kPortalScene{.streamed_nodes = 4,
                                              .interior_nodes = 8,
                                              .room_nodes = 128,
                                              .portal_nodes = 256,
                                              .containers = 16,
                                              .fixed_containers = 0,
                                              .soa_containers = 0,
                                              .lights = 1,
                                              .light_updates = 1,
                                              .descriptors = 1024};

struct PortalWorld {
  CheckedMemory memory;
  MemoryTracker tracker;
  SceneGraph graph;
  PortalTable table;
  std::vector<int16_t> closed_interiors;
  uint32_t depth_limit = 24;
  ScanResults results;
  std::vector<uint32_t> phases;
  std::vector<ScreenRect> quads[kScreenQuadStores];

  explicit PortalWorld(const SceneCapacities& capacities = kPortalScene) {
    EXPECT_TRUE(graph.init(capacities, memory, &tracker).ok());
    EXPECT_TRUE(table.init(graph, memory).ok());
  }

  /// Rooms 1 to `rooms` and a limbo, in the world.
  InteriorNode& add_interior(uint32_t rooms) {
    InteriorNode& interior = *graph.create_interior();
    interior.interior = next_interior_++;
    for (uint32_t r = 0; r <= rooms; ++r) {
      RoomNode& room = *graph.create_room();
      room.room = static_cast<uint8_t>(r);
      EXPECT_TRUE(graph.append(interior, room).ok());
    }
    EXPECT_TRUE(graph.append(*graph.root(), interior).ok());
    return interior;
  }
  PortalNode& add_portal(InteriorNode& interior, uint32_t from, uint32_t to, const Corners& corners, uint32_t flags = 0,
                         uint32_t priority = 0) {
    PortalNode& portal = *graph.create_portal();
    portal.corners = make_portal(corners, flags, 255);
    portal.room_from = static_cast<uint8_t>(from);
    portal.room_to = static_cast<uint8_t>(to);
    portal.priority = priority;
    if (interior.last_child()->type() == NodeType::portal)
      portal.portal = static_cast<uint16_t>(static_cast<PortalNode*>(interior.last_child())->portal + 1);
    EXPECT_TRUE(graph.append(interior, portal).ok());
    return portal;
  }
  RoomNode& room(InteriorNode& interior, uint32_t number) const {
    SceneNode* child = interior.first_child();
    while (static_cast<RoomNode*>(child)->room != number) child = child->next();
    return *static_cast<RoomNode*>(child);
  }

  /// As a scan does it; shapes in the order in which they are looked at.
  void scan(std::vector<CullShape> shapes) {
    std::sort(shapes.begin(), shapes.end(), comes_before);
    for (const CullShape& shape : shapes) ASSERT_TRUE(check(shape).ok()) << check(shape).message;
    table.update(graph);
    phases.assign(graph.node_capacity(), 0);
    NodeSight sight{.phases = phases.data(), .node_count = graph.node_capacity()};
    for (uint32_t i = 0; i < kScreenQuadStores; ++i) {
      quads[i].assign(graph.node_capacity(), ScreenRect());
      sight.quads[i] = quads[i].data();
    }
    results = {};
    const PortalWalkInput in{&graph, &table, closed_interiors, depth_limit};
    for (uint32_t i = 0; i < shapes.size(); ++i) walk_portals(in, shapes, i, sight, results);
    finish_walk(in, shapes, sight, results);
  }
  bool sees(const CullShape& shape, const SceneNode& node) const {
    return (phases[node.index()] >> shape.phase & 1) != 0;
  }
  bool sees_outside(const CullShape& shape) const { return sees(shape, *graph.root()); }
  const ScreenRect& quad(const CullShape& shape, const SceneNode& node) const {
    return quads[shape.quad_store][node.index()];
  }
  /// Rooms of an interior that a shape sees, without limbo.
  std::vector<uint32_t> rooms_seen(const CullShape& shape, const InteriorNode& interior) const {
    std::vector<uint32_t> out;
    for (const SceneNode* at = interior.first_child(); at != nullptr; at = at->next()) {
      if (at->type() != NodeType::room || !sees(shape, *at)) continue;
      if (const uint8_t number = static_cast<const RoomNode*>(at)->room; number != 0) out.push_back(number);
    }
    return out;
  }
  /// How often the last shape entered a room.
  uint32_t entries_of(const RoomNode& room) const { return table.scratch().entered[table.room_of(room)]; }

 private:
  int16_t next_interior_ = 0;
};

inline void expect_quad(const ScreenRect& is, float min_x, float min_y, float max_x, float max_y) {
  constexpr float kSlack = 1e-4f;
  EXPECT_NEAR(is.min_x, min_x, kSlack);
  EXPECT_NEAR(is.min_y, min_y, kSlack);
  EXPECT_NEAR(is.max_x, max_x, kSlack);
  EXPECT_NEAR(is.max_y, max_y, kSlack);
  // Rounded outwards.
  EXPECT_LE(is.min_x, min_x);
  EXPECT_LE(is.min_y, min_y);
  EXPECT_GE(is.max_x, max_x);
  EXPECT_GE(is.max_y, max_y);
}

}  // namespace meridian::test
