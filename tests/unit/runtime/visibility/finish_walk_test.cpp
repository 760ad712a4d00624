// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "meridian/base/geometry.h"
#include "support/portal_world.h"

// SCAN-10 and SCAN-15: what follows from the walks of all shapes.

namespace meridian {
namespace {

using test::kAhead;
using test::kBack;
using test::picture_at;
using test::portal_flags;
using test::PortalWorld;
using test::Rooms;
using test::sphere_at;
using test::wall_x;
using test::wall_y;

constexpr auto kNoSun = static_cast<uint32_t>(schema::RoomFlags::no_directional_light);
constexpr auto kSun = static_cast<uint32_t>(schema::RoomFlags::force_directional_light_on);

/// Room 1 from x = 0 to 10, room 2 behind a door at x = 10, a window of room 2 at x = 20.
struct House {
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  PortalNode& door = world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  PortalNode& window = world.add_portal(house, 2, 0, wall_x(20, -1, 1, 0, 2));
  CullShape picture(const Vec3& forward) {
    CullShape out = picture_at({5, 0, 1}, forward);
    out.start = &world.room(house, 1);
    return out;
  }
  void set_flags(uint32_t room, uint32_t flags) {
    world.room(house, room).room_flags = flags;
    world.graph.note_moved_nodes();
  }
};

CullShape cascade(const Vec3& centre, float radius) {
  CullShape out = sphere_at(4, centre, radius);
  out.flags |= kCullCascadeShadows;
  return out;
}

TEST(FinishWalk, TellsHowMuchOfTheOutsideIsSeen) {  // SCAN-10
  House h;
  h.world.scan({h.picture(kAhead)});
  EXPECT_TRUE(h.world.results.exterior_visible);
  test::expect_quad(h.world.results.exterior_quad, -1 / 15.f, -1 / 15.f, 1 / 15.f, 1 / 15.f);
  h.world.scan({h.picture(kBack)});
  EXPECT_FALSE(h.world.results.exterior_visible);
  EXPECT_TRUE(h.world.results.exterior_quad.is_empty());
  EXPECT_EQ(h.world.results.shadow_plane_count, 0u);
  h.world.scan({picture_at({5, 20, 1}, kAhead)});
  EXPECT_EQ(h.world.results.exterior_quad, kFullScreen);
  EXPECT_EQ(h.world.results.shadow_plane_count, 0u) << "nothing restricts it";
  h.world.scan({sphere_at(1, {5, 20, 1}, 100)});
  EXPECT_FALSE(h.world.results.exterior_visible) << "in the picture, of which there is none";
}

TEST(FinishWalk, PlanesEncloseWhatIsSeenOfTheOutside) {  // SCAN-10
  House h;
  CullShape picture = picture_at({5, 0, 1}, kAhead, 1, 100);
  picture.start = &h.world.room(h.house, 1);
  h.world.scan({picture});
  const ScanResults& results = h.world.results;
  ASSERT_EQ(results.shadow_plane_count, 6u);  // four sides, near and far
  const auto is_inside = [&](const Vec3& p) {
    for (uint32_t i = 0; i < results.shadow_plane_count; ++i)
      if (signed_distance(results.shadow_planes[i], p) < 0) return false;
    return true;
  };
  // 60 m from the camera, the window shows 4 m to each side.
  EXPECT_TRUE(is_inside({65, 0, 1}));
  EXPECT_TRUE(is_inside({65, 3.9f, 1}));
  EXPECT_TRUE(is_inside({65, 0, -2.9f}));
  EXPECT_FALSE(is_inside({65, 4.1f, 1}));
  EXPECT_FALSE(is_inside({65, -4.1f, 1}));
  EXPECT_FALSE(is_inside({65, 0, 5.1f}));
  EXPECT_FALSE(is_inside({65, 0, -3.1f}));
  EXPECT_FALSE(is_inside({106, 0, 1})) << "beyond far";
  EXPECT_FALSE(is_inside({4, 0, 1})) << "behind the camera";
}

TEST(FinishWalk, HeightMapsNeedTheOutside) {  // SCAN-15, SCAN-16
  House h;
  CullShape rain = sphere_at(3, {5, 0, 1}, 100);
  rain.flags |= kCullHeightMap;
  h.world.scan({h.picture(kAhead), rain});
  EXPECT_TRUE(h.world.sees_outside(rain));
  EXPECT_EQ(h.world.rooms_seen(rain, h.house), (Rooms{1, 2}));
  h.world.scan({h.picture(kBack), rain});
  for (const uint32_t phases : h.world.phases) EXPECT_EQ(phases >> 3 & 1, 0u);
  h.world.scan({rain});
  EXPECT_FALSE(h.world.sees_outside(rain)) << "no picture, nothing outside in it";
  rain.flags &= ~kCullHeightMap;
  h.world.scan({h.picture(kBack), rain});
  EXPECT_TRUE(h.world.sees_outside(rain));
}

TEST(FinishWalk, CascadesSeeTheCamerasRoomAndLimbos) {  // SCAN-15, SCAN-16
  House h;
  const CullShape picture = h.picture(kAhead);
  const RoomNode &one = h.world.room(h.house, 1), &limbo = h.world.room(h.house, 0);
  CullShape shadows = cascade({500, 500, 0}, 1);  // meets nothing here
  shadows.flags &= ~kCullRenderInterior;
  h.world.scan({picture, shadows});
  EXPECT_TRUE(h.world.sees(shadows, one));
  EXPECT_TRUE(h.world.sees(shadows, limbo));
  EXPECT_FALSE(h.world.sees(shadows, h.world.room(h.house, 2)));
  CullShape other = shadows;
  other.flags &= ~kCullCascadeShadows;
  h.world.scan({picture, other});
  EXPECT_FALSE(h.world.sees(other, one));
  h.world.scan({h.picture(kBack), shadows});
  EXPECT_TRUE(h.world.sees(shadows, one));
  EXPECT_FALSE(h.world.sees(shadows, limbo)) << "the picture does not see it";
  EXPECT_EQ(h.world.results.room_shadow_quad, kFullScreen) << "the camera's room is one that they see";
  h.set_flags(1, kNoSun);
  h.world.scan({h.picture(kBack), shadows});
  EXPECT_TRUE(h.world.results.everything_in_shadow);
  EXPECT_FALSE(h.world.sees(shadows, one));
}

TEST(FinishWalk, EverythingIsInShadowWhereTheSunReachesNothing) {  // SCAN-10, SCAN-15
  struct Case {
    const char* what;
    Vec3 forward;
    uint32_t first, second;  // flags of the rooms
    bool has_cascade;        // one that sees room 2
    bool light, shadow;
  } const cases[] = {{"a room with sun", kBack, 0, 0, false, true, false},
                     {"a dark room", kBack, kNoSun, 0, false, false, true},
                     {"dark, but forced", kBack, kNoSun | kSun, 0, false, true, false},
                     {"out of a dark room", kAhead, kNoSun, kNoSun, false, false, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    House h;
    h.set_flags(1, c.first);
    h.set_flags(2, c.second);
    h.world.scan({h.picture(c.forward)});
    EXPECT_EQ(h.world.results.directional_light, c.light);
    EXPECT_EQ(h.world.results.everything_in_shadow, c.shadow);
  }
  // From a dark room into one with sun, whose window is shut.
  House h;
  h.set_flags(1, kNoSun);
  ASSERT_TRUE(h.world.graph.set_closed(h.window, true).ok());
  const CullShape picture = h.picture(kAhead);
  CullShape sun = cascade({15, 0, 1}, 20);
  sun.start = &h.world.room(h.house, 2);
  h.world.scan({picture});
  EXPECT_TRUE(h.world.results.everything_in_shadow) << "no cascade sees anything";
  EXPECT_TRUE(h.world.results.room_shadow_quad.is_empty());
  h.world.scan({picture, sun});
  EXPECT_FALSE(h.world.results.exterior_visible);
  EXPECT_FALSE(h.world.results.everything_in_shadow);
  test::expect_quad(h.world.results.room_shadow_quad, -0.2f, -0.2f, 0.2f, 0.2f);  // room 2 behind its door
  h.set_flags(2, kNoSun);
  h.world.scan({picture, sun});
  EXPECT_TRUE(h.world.results.everything_in_shadow);
  CullShape outside = picture_at({5, 50, 1}, kBack);
  h.world.scan({outside});
  EXPECT_TRUE(h.world.results.directional_light);
  EXPECT_FALSE(h.world.results.everything_in_shadow);
}

TEST(FinishWalk, ChoosesOneMirror) {  // SCAN-10
  PortalWorld world;
  InteriorNode& house = world.add_interior(1);
  const uint32_t mirror = portal_flags({schema::PortalFlags::mirror});
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  const auto chosen = [&]() -> const ScanMirror& {
    world.scan({picture});
    return world.results.mirror;
  };
  EXPECT_FALSE(chosen().is_visible);
  world.add_portal(house, 1, 1, test::turned(wall_x(10, -1, 1, 0, 2)), mirror, 9);
  EXPECT_FALSE(chosen().is_visible) << "its back";
  world.add_portal(house, 1, 1, test::turned(wall_x(0, -1, 1, 0, 2)), mirror, 9);
  EXPECT_FALSE(chosen().is_visible) << "behind the camera";
  const PortalNode& far = world.add_portal(
      house, 1, 1, wall_x(12, -1, 1, 0, 2),
      mirror | portal_flags({schema::PortalFlags::mirror_floor, schema::PortalFlags::mirror_can_see_exterior_view}));
  EXPECT_EQ(chosen().node, far.index());
  EXPECT_TRUE(chosen().is_floor);
  EXPECT_TRUE(chosen().sees_exterior);
  EXPECT_FALSE(chosen().is_water);
  EXPECT_FALSE(chosen().sees_directional_light);
  EXPECT_FALSE(chosen().traverses_portals);
  const PortalNode& near = world.add_portal(
      house, 1, 1, wall_x(9, 2, 4, 1, 3),
      mirror | portal_flags({schema::PortalFlags::water_surface, schema::PortalFlags::mirror_can_see_directional_light,
                             schema::PortalFlags::mirror_using_portal_traversal}));
  const ScanMirror& best = chosen();
  EXPECT_EQ(best.node, near.index());
  EXPECT_FLOAT_EQ(best.distance, std::sqrt(20.0f));  // 4 m ahead and 2 m aside
  EXPECT_EQ(best.centre, (Vec3{9, 3, 2}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(best.corners[i], near.corners.point(i));
  EXPECT_TRUE(best.is_water);
  EXPECT_TRUE(best.sees_directional_light);
  EXPECT_TRUE(best.traverses_portals);
  EXPECT_FALSE(best.is_floor);
  PortalNode& important = world.add_portal(house, 1, 1, wall_x(14, -1, 1, 0, 2), mirror, 1);
  EXPECT_EQ(chosen().node, important.index());
  EXPECT_EQ(chosen().priority, 1u);
  ASSERT_TRUE(world.graph.set_enabled(important, false).ok());
  EXPECT_EQ(chosen().node, near.index());
  CullShape plain = picture;
  plain.flags &= ~kCullPrimary;
  world.scan({plain});
  EXPECT_FALSE(world.results.mirror.is_visible) << "only of the picture";
}

TEST(FinishWalk, MirrorsStandOutsideToo) {  // SCAN-10
  PortalWorld world;
  InteriorNode& house = world.add_interior(1);
  const uint32_t pond = portal_flags({schema::PortalFlags::mirror, schema::PortalFlags::water_surface});
  const test::Corners surface{Vec3{10, 2, 0}, Vec3{14, 2, 0}, Vec3{14, -2, 0}, Vec3{10, -2, 0}};  // its normal is down
  const PortalNode& water = world.add_portal(house, 0, 0, surface, pond);
  const CullShape picture = picture_at({5, 0, 3}, kAhead);
  world.scan({picture});
  EXPECT_TRUE(world.results.mirror.is_visible);
  EXPECT_TRUE(world.results.mirror.is_water);
  EXPECT_EQ(world.results.mirror.node, water.index());
  EXPECT_FLOAT_EQ(world.results.mirror.distance, std::sqrt(34.0f));  // 5 m ahead and 3 m below
  world.scan({picture_at({5, 0, -3}, kAhead)});
  EXPECT_FALSE(world.results.mirror.is_visible) << "from below";
}

TEST(FinishWalk, CountsPortalsToTheSky) {  // SCAN-10
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  std::vector<uint16_t> windows;
  for (uint32_t i = 0; i < 70; ++i) {
    const float x = static_cast<float>(i) * 0.1f;
    windows.push_back(world.add_portal(house, 1, 0, wall_y(5, x, x + 0.1f, 0, 1)).index());
  }
  world.add_portal(house, 1, 0, wall_y(5, 50, 51, 0, 1));  // too far away
  world.add_portal(house, 1, 2, wall_y(-5, 0, 1, 0, 1));   // not to the outside
  CullShape first = sphere_at(1, {0, 0, 0}, 20), second = sphere_at(2, {0, 0, 0}, 20);
  first.flags |= kCullReflections;
  second.flags |= kCullReflections;
  first.start = second.start = &world.room(house, 1);
  world.scan({first, second});
  EXPECT_EQ(world.results.sky_portal_count, 70u) << "each once";
  for (uint32_t i = 0; i < kSkyPortals; ++i) EXPECT_EQ(world.results.sky_portals[i], windows[i]);
  first.flags &= ~kCullReflections;
  world.scan({first});
  EXPECT_EQ(world.results.sky_portal_count, 0u);
}

}  // namespace
}  // namespace meridian
