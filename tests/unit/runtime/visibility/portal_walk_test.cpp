// SPDX-License-Identifier: MIT
#include "visibility/portal_walk.h"

#include <gtest/gtest.h>

#include "support/portal_world.h"

// SCAN-3, SCAN-4 and SCAN-15: rooms with answers worked out by hand. Cameras look along x; to their right is -y.

namespace meridian {
namespace {

using test::expect_quad;
using test::frustum_at;
using test::kAhead;
using test::kBack;
using test::picture_at;
using test::portal_flags;
using test::PortalWorld;
using test::Rooms;
using test::sphere_at;
using test::wall_x;
using test::wall_y;

/// Rooms of 10 m in a row along x, room 1 from 0 to 10, with doors of 2 m by 2 m between them.
struct Corridor {
  PortalWorld world;
  InteriorNode& house;
  std::vector<PortalNode*> doors;
  explicit Corridor(uint32_t rooms, uint32_t flags = 0) : house(world.add_interior(rooms)) {
    for (uint32_t r = 1; r < rooms; ++r)
      doors.push_back(&world.add_portal(house, r, r + 1, wall_x(10.0f * static_cast<float>(r), -1, 1, 0, 2), flags));
  }
  RoomNode& room(uint32_t number) { return world.room(house, number); }
  Rooms seen(CullShape shape, uint32_t start) {
    shape.start = &room(start);
    world.scan({shape});
    return world.rooms_seen(shape, house);
  }
};

TEST(PortalWalk, SeesARowOfRoomsThroughSmallerAndSmallerQuads) {  // SCAN-4
  Corridor c(3);
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3}));
  EXPECT_FALSE(c.world.sees_outside(picture));
  EXPECT_EQ(c.world.quad(picture, c.room(1)), kFullScreen);
  expect_quad(c.world.quad(picture, c.room(2)), -0.2f, -0.2f, 0.2f, 0.2f);                  // 1 m at 5 m
  expect_quad(c.world.quad(picture, c.room(3)), -1 / 15.f, -1 / 15.f, 1 / 15.f, 1 / 15.f);  // at 15 m
  // A door stands in both of its rooms: it is seen as the nearer one is.
  EXPECT_EQ(c.world.quad(picture, *c.doors[0]), kFullScreen);
  expect_quad(c.world.quad(picture, *c.doors[1]), -0.2f, -0.2f, 0.2f, 0.2f);
  EXPECT_EQ(c.world.results.counters.portal_limit, 0u);

  EXPECT_EQ(c.seen(picture_at({5, 0, 1}, kBack), 1), (Rooms{1}));
  EXPECT_TRUE(c.world.sees(picture, *c.doors[0])) << "a portal of a room that is seen";
  EXPECT_FALSE(c.world.sees(picture, *c.doors[1]));
  EXPECT_TRUE(c.world.quad(picture, c.room(2)).is_empty());
}

TEST(PortalWalk, StopsWhereQuadsDoNotMeet) {  // SCAN-4
  PortalWorld world;
  InteriorNode& house = world.add_interior(3);
  world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  world.add_portal(house, 2, 3, wall_x(20, 3.5f, 4.5f, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  world.scan({picture});  // at x = 20 the first door lets through what is up to 3 m aside
  EXPECT_EQ(world.rooms_seen(picture, house), (Rooms{1, 2}));
  picture = picture_at({9, 0, 1}, kAhead);  // now up to 11 m
  picture.start = &world.room(house, 1);
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, house), (Rooms{1, 2, 3}));
  expect_quad(world.quad(picture, world.room(house, 3)), -4.5f / 11, -1 / 11.f, -3.5f / 11, 1 / 11.f);
  // A shape without quads sees both: they are in its frustum.
  CullShape plain = frustum_at(1, {5, 0, 1}, kAhead);
  plain.start = &world.room(house, 1);
  world.scan({plain});
  EXPECT_EQ(world.rooms_seen(plain, house), (Rooms{1, 2, 3}));
}

TEST(PortalWalk, ARoomBehindTwoWindowsIsSeenThroughBoth) {  // SCAN-4, P081
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  world.add_portal(house, 1, 2, wall_x(10, 2, 3, 0, 2));
  world.add_portal(house, 1, 2, wall_x(10, -3, -2, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  world.scan({picture});
  // From 3 m on the left to 3 m on the right: what is seen by the second window only is inside.
  expect_quad(world.quad(picture, world.room(house, 2)), -0.6f, -0.2f, 0.6f, 0.2f);
}

TEST(PortalWalk, ARoomIsEnteredAgainByALongerWay) {  // SCAN-4, P081
  PortalWorld world;
  InteriorNode& house = world.add_interior(4);
  world.add_portal(house, 1, 2, wall_x(10, -1, 0, 0, 2));       // straight: 0.2 to 0 on the right
  world.add_portal(house, 1, 3, wall_x(10, 1, 2, 0, 2));        // by room 3
  world.add_portal(house, 3, 2, wall_x(12, 1, 3, 0, 2));        // at 7 m, cut to 0.2 to 0.4 on the left
  world.add_portal(house, 2, 4, wall_x(20, 4.5f, 5.5f, 0, 2));  // at 15 m, 0.3 to 0.3667 on the left
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, house), (Rooms{1, 2, 3, 4}));
  expect_quad(world.quad(picture, world.room(house, 2)), -0.4f, -0.2f, 0.2f, 0.2f);
  expect_quad(world.quad(picture, world.room(house, 4)), -5.5f / 15, -1 / 15.f, -4.5f / 15, 1 / 15.f);
}

TEST(PortalWalk, OneWayPortalsAreSeenThroughFromTheirFront) {  // SCAN-4, INT-2
  Corridor c(2, portal_flags({schema::PortalFlags::one_way}));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2}));
  EXPECT_EQ(c.seen(picture_at({15, 0, 1}, kBack), 2), (Rooms{2}));
  EXPECT_TRUE(c.world.sees(picture, *c.doors[0])) << "its own things are";
  EXPECT_EQ(c.seen(sphere_at(1, {15, 0, 1}, 50), 2), (Rooms{2})) << "also for spheres";
}

TEST(PortalWalk, ClosedAndDisabledPortalsAreSkippedUnlessAskedFor) {  // SCAN-4, SCAN-16
  Corridor c(3);
  CullShape picture = picture_at({5, 0, 1}, kAhead), all = picture;
  all.flags |= kCullTraverseDisabledPortals;
  ASSERT_TRUE(c.world.graph.set_closed(*c.doors[1], true).ok());
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2}));
  EXPECT_TRUE(c.world.sees(picture, *c.doors[1])) << "the door itself";
  EXPECT_EQ(c.seen(all, 1), (Rooms{1, 2, 3}));
  ASSERT_TRUE(c.world.graph.set_closed(*c.doors[1], false).ok());
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3}));
  ASSERT_TRUE(c.world.graph.set_enabled(*c.doors[0], false).ok());
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1}));
  EXPECT_EQ(c.seen(all, 1), (Rooms{1, 2, 3}));
  ASSERT_TRUE(c.world.graph.set_enabled(*c.doors[0], true).ok());
  ASSERT_TRUE(c.world.graph.set_enabled(c.room(2), false).ok());
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1}));
  EXPECT_EQ(c.seen(all, 1), (Rooms{1, 2, 3}));
  ASSERT_TRUE(c.world.graph.set_enabled(c.house, false).ok());
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1})) << "the camera's room, with all in it switched off";
}

TEST(PortalWalk, NothingIsSeenFromTheWrongSide) {  // SCAN-4
  Corridor c(2);
  // Not yet through the door, though it is said to be in room 2.
  EXPECT_EQ(c.seen(picture_at({9.7f, 0, 1}, kAhead), 2), (Rooms{2}));
  EXPECT_EQ(c.seen(picture_at({9.7f, 0, 1}, kBack), 2), (Rooms{2}));
  EXPECT_EQ(c.seen(sphere_at(1, {9.7f, 0, 1}, 5), 2), (Rooms{1, 2})) << "spheres have no side";
  EXPECT_EQ(c.seen(sphere_at(1, {5, 0, 1}, 4.9f), 1), (Rooms{1})) << "but an end";
  EXPECT_EQ(c.seen(sphere_at(1, {5, 0, 1}, 5.1f), 1), (Rooms{1, 2}));
}

TEST(PortalWalk, NearAPortalNothingIsClipped) {  // SCAN-4
  Corridor c(2);
  // The door is behind the camera: 0.7 m away it is out of the frustum, at 0.5 m that is not asked.
  EXPECT_EQ(c.seen(frustum_at(1, {9.3f, 0, 1}, kBack), 1), (Rooms{1}));
  EXPECT_EQ(c.seen(frustum_at(1, {9.5f, 0, 1}, kBack), 1), (Rooms{1, 2}));
  // The distance is that to the opening, not to its plane: the door ends 1 m aside.
  EXPECT_EQ(c.seen(frustum_at(1, {9.5f, 1.5f, 1}, kBack), 1), (Rooms{1}));
  // Nor is it that to a box around it: this one goes from corner to corner of 4 m by 4 m.
  Corridor slanting(1);
  slanting.world.add_portal(slanting.house, 1, 0, {Vec3{10, 4, 0}, Vec3{10, 4, 2}, Vec3{14, 0, 2}, Vec3{14, 0, 0}});
  slanting.seen(frustum_at(1, {9.5f, 0, 1}, kBack), 1);
  EXPECT_FALSE(slanting.world.sees_outside(frustum_at(1, {}, kBack)));
  // A picture shows nothing of it, until the camera all but stands in the door.
  EXPECT_EQ(c.seen(picture_at({9.5f, 0, 1}, kBack), 1), (Rooms{1}));
  CullShape picture = picture_at({9.96f, 0, 1}, kBack);
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2}));
  EXPECT_EQ(c.world.quad(picture, c.room(2)), kFullScreen);
  EXPECT_EQ(c.seen(picture_at({10.04f, 0, 1}, kAhead), 1), (Rooms{1, 2})) << "nor is a side asked there";
  EXPECT_EQ(c.seen(picture_at({10.06f, 0, 1}, kAhead), 1), (Rooms{1}));
}

TEST(PortalWalk, WalkingThroughADoorLosesNothing) {  // SCAN-4
  Corridor c(3);
  // Where the camera is said to change rooms may be a few centimetres off.
  for (const float border : {9.96f, 10.0f, 10.04f}) {
    for (int cm = 0; cm <= 2000; ++cm) {
      const float x = 5 + static_cast<float>(cm) * 0.01f;
      SCOPED_TRACE(testing::Message() << "at " << x << ", room 2 from " << border);
      const uint32_t room = x < border ? 1 : x < 20 ? 2 : 3;
      const Vec3 camera{x, 0.3f, 1.4f};
      CullShape ahead = picture_at(camera, kAhead), back = picture_at(camera, kBack);
      const Rooms seen = c.seen(ahead, room);
      // The corridor is straight: all that is in front is seen, and the room that it is in.
      for (uint32_t r = room; r <= 3; ++r) ASSERT_TRUE(c.world.sees(ahead, c.room(r))) << r;
      ASSERT_EQ(c.world.quad(ahead, c.room(room)), kFullScreen);
      c.seen(back, room);
      for (uint32_t r = 1; r <= room; ++r) ASSERT_TRUE(c.world.sees(back, c.room(r))) << r;
    }
  }
}

TEST(PortalWalk, ReflectionsHaveTheirOwnSphereInRooms) {  // SCAN-4, SCAN-16
  Corridor c(2);
  c.world.add_portal(c.house, 1, 0, wall_x(0, -1, 1, 0, 2));
  CullShape reflection = sphere_at(1, {5, 0, 1}, 4);  // reaches no door
  reflection.flags |= kCullReflections;
  reflection.interior_centre = {7, 0, 1};
  reflection.interior_radius = 4;
  EXPECT_EQ(c.seen(reflection, 1), (Rooms{1, 2}));
  EXPECT_FALSE(c.world.sees_outside(reflection));
  reflection.flags &= ~kCullReflections;
  EXPECT_EQ(c.seen(reflection, 1), (Rooms{1}));
  // From outside the other one counts: a door at x = 0, its room behind it.
  reflection.flags |= kCullReflections;
  reflection.camera = reflection.sphere_centre = {-3.5f, 0, 1};
  c.world.scan({reflection});
  EXPECT_EQ(c.world.rooms_seen(reflection, c.house), (Rooms{1, 2}));
}

// --- limits --------------------------------------------------------------------------------------------

TEST(PortalWalk, BehindTheLimitOfDepthAllIsSeen) {  // SCAN-4
  Corridor c(10);
  // A room that nobody sees from here, off the end of the row.
  c.world.add_portal(c.house, 10, 0, wall_y(5, 91, 99, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  c.world.depth_limit = 9;
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(c.world.results.counters.portal_limit, 0u);
  EXPECT_FALSE(c.world.sees_outside(picture));
  c.world.depth_limit = 3;
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(c.world.results.counters.portal_limit, 1u);
  EXPECT_TRUE(c.world.sees_outside(picture));
  // The last quad: that of the fourth door, at 35 m.
  for (uint32_t r = 5; r <= 10; ++r)
    expect_quad(c.world.quad(picture, c.room(r)), -1 / 35.f, -1 / 35.f, 1 / 35.f, 1 / 35.f);
  ASSERT_TRUE(c.world.graph.set_closed(*c.doors[6], true).ok());  // between 7 and 8
  EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(c.world.sees_outside(picture));
}

TEST(PortalWalk, RoomsAreEnteredInTheOrderOfPortals) {  // SCAN-15
  PortalWorld world;
  InteriorNode& house = world.add_interior(3);
  world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  world.add_portal(house, 1, 3, wall_x(10, 1.5f, 2, 0, 2));
  world.add_portal(house, 2, 3, wall_x(15, -1, 1, 0, 2));
  world.add_portal(house, 3, 0, wall_x(20, -10, 10, -9, 11));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  world.scan({picture});
  expect_quad(world.quad(picture, *world.graph.root()), -0.4f, -0.2f, 0.1f, 0.2f);
  world.room(house, 1).exterior_visibility_depth = 2;  // not by room 2, which is three portals
  world.graph.note_moved_nodes();
  world.scan({picture});
  expect_quad(world.quad(picture, *world.graph.root()), -0.4f, -0.2f, -0.3f, 0.2f);
  expect_quad(world.quad(picture, world.room(house, 3)), -0.4f, -0.2f, 0.1f, 0.2f);
}

TEST(PortalWalk, TheOutsideIsSeenThroughSoManyPortals) {  // SCAN-15
  Corridor c(3);
  c.world.add_portal(c.house, 3, 0, wall_x(30, -1, 1, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  struct Case {
    int32_t depth;
    uint32_t flags;
    bool sees;
  } const cases[] = {{-1, 0, true}, {3, 0, true},
                     {2, 0, false}, {0, 0, false},
                     {40, 0, true}, {-1, static_cast<uint32_t>(schema::RoomFlags::dont_render_exterior), false}};
  for (const Case& wanted : cases) {
    SCOPED_TRACE(testing::Message() << wanted.depth << ", flags " << wanted.flags);
    c.room(1).exterior_visibility_depth = wanted.depth;
    c.room(1).room_flags = wanted.flags;
    c.world.graph.note_moved_nodes();
    EXPECT_EQ(c.seen(picture, 1), (Rooms{1, 2, 3}));
    EXPECT_EQ(c.world.sees_outside(picture), wanted.sees);
    EXPECT_EQ(c.world.results.exterior_visible, wanted.sees);
  }
  c.room(1).room_flags = 0;
  c.room(1).exterior_visibility_depth = -1;
  c.room(2).room_flags = static_cast<uint32_t>(schema::RoomFlags::dont_render_exterior);
  c.room(2).exterior_visibility_depth = 0;
  c.world.graph.note_moved_nodes();
  c.seen(picture, 1);
  EXPECT_TRUE(c.world.sees_outside(picture)) << "only the camera's room counts";
}

}  // namespace
}  // namespace meridian
