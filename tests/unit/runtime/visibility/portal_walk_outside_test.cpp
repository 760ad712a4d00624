// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/portal_world.h"
#include "visibility/portal_walk.h"

// SCAN-3, SCAN-4 and SCAN-15: in and out of houses, by hand. Cameras look along x; to their right is -y.

namespace meridian {
namespace {

using test::expect_quad;
using test::kAhead;
using test::kBack;
using test::picture_at;
using test::portal_flags;
using test::PortalWorld;
using test::Rooms;
using test::wall_x;

/// A house with a window in its east wall at x = 10; a shed across the yard, whose door at x = 20 opens west; and
/// a barn whose door is as far away, but beside what the window shows.
struct Yard {
  PortalWorld world;
  InteriorNode &house, &shed, &barn;
  PortalNode &window, &shed_door, &barn_door;
  Yard()
      : house(world.add_interior(1)),
        shed(world.add_interior(2)),
        barn(world.add_interior(1)),
        window(world.add_portal(house, 1, 0, wall_x(10, -1, 1, 0, 2))),
        shed_door(world.add_portal(shed, 1, 0, test::turned(wall_x(20, -2, 2, 0, 2)))),
        barn_door(world.add_portal(barn, 1, 0, test::turned(wall_x(20, 4, 5, 0, 2)))) {
    world.add_portal(shed, 1, 2, wall_x(25, 1, 5, 0, 2));
  }
  CullShape from_house(const Vec3& camera = {5, 0, 1}) {
    CullShape out = picture_at(camera, kAhead);
    out.start = &world.room(house, 1);
    return out;
  }
};

TEST(PortalWalkOutside, LooksOutOfAWindowIntoAnotherHouse) {  // SCAN-3, SCAN-4
  Yard yard;
  PortalWorld& world = yard.world;
  const CullShape picture = yard.from_house();
  world.scan({picture});
  EXPECT_TRUE(world.sees_outside(picture));
  expect_quad(world.quad(picture, *world.graph.root()), -0.2f, -0.2f, 0.2f, 0.2f);
  EXPECT_EQ(world.rooms_seen(picture, yard.shed), (Rooms{1, 2}));
  expect_quad(world.quad(picture, world.room(yard.shed, 1)), -2 / 15.f, -1 / 15.f, 2 / 15.f, 1 / 15.f);
  // Room 2: from 1 to 5 m on the left at 20 m, cut to the door of the shed.
  expect_quad(world.quad(picture, world.room(yard.shed, 2)), -2 / 15.f, -0.05f, -0.05f, 0.05f);
  EXPECT_EQ(world.rooms_seen(picture, yard.barn), Rooms());
  EXPECT_TRUE(world.sees(picture, world.room(yard.shed, 0))) << "limbo is the outside";
  EXPECT_EQ(world.quad(picture, world.room(yard.shed, 0)), world.quad(picture, *world.graph.root()));

  const CullShape nearer = yard.from_house({9, 0, 1});
  world.scan({nearer});
  EXPECT_EQ(world.rooms_seen(nearer, yard.barn), (Rooms{1}));
}

TEST(PortalWalkOutside, LooksIntoHousesFromOutside) {  // SCAN-3, SCAN-15, SCAN-16
  Yard yard;
  PortalWorld& world = yard.world;
  CullShape picture = picture_at({15, 0, 1}, kAhead);
  world.scan({picture});
  EXPECT_EQ(world.quad(picture, *world.graph.root()), kFullScreen);
  EXPECT_EQ(world.rooms_seen(picture, yard.shed), (Rooms{1, 2}));
  EXPECT_EQ(world.rooms_seen(picture, yard.barn), (Rooms{1}));
  EXPECT_EQ(world.rooms_seen(picture, yard.house), Rooms()) << "it is behind";
  EXPECT_FALSE(world.sees(picture, yard.window));
  expect_quad(world.quad(picture, world.room(yard.shed, 1)), -0.4f, -0.2f, 0.4f, 0.2f);

  world.closed_interiors = {yard.shed.interior};
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, yard.shed), Rooms());
  EXPECT_FALSE(world.sees(picture, yard.shed_door));
  EXPECT_EQ(world.rooms_seen(picture, yard.barn), (Rooms{1}));
  const CullShape from_house = yard.from_house();
  world.scan({from_house});
  EXPECT_EQ(world.rooms_seen(from_house, yard.shed), Rooms());
  world.closed_interiors = {yard.house.interior};
  world.scan({from_house});
  EXPECT_TRUE(world.sees_outside(from_house)) << "closed means from outside";
  EXPECT_TRUE(world.sees(from_house, world.room(yard.house, 1)));
  EXPECT_TRUE(world.sees(from_house, world.room(yard.house, 0)));
  world.closed_interiors.clear();

  for (const uint32_t missing : {kCullRenderInterior, kCullTraversePortals}) {
    CullShape less = picture;
    less.flags &= ~missing;
    world.scan({less});
    EXPECT_TRUE(world.sees_outside(less));
    EXPECT_EQ(world.rooms_seen(less, yard.shed), Rooms());
    EXPECT_EQ(world.sees(less, world.room(yard.shed, 0)), missing != kCullRenderInterior);
  }
}

TEST(PortalWalkOutside, NearADoorNothingIsClipped) {  // SCAN-4
  Yard yard;
  const CullShape near = test::frustum_at(1, {19.5f, 0, 1}, kBack), far = test::frustum_at(1, {19.3f, 0, 1}, kBack);
  yard.world.scan({near});
  EXPECT_TRUE(yard.world.sees(near, yard.world.room(yard.shed, 1)));
  yard.world.scan({far});
  EXPECT_FALSE(yard.world.sees(far, yard.world.room(yard.shed, 1)));
}

TEST(PortalWalkOutside, FlagsSayWhatIsMarked) {  // SCAN-3, SCAN-16
  Yard yard;
  PortalWorld& world = yard.world;
  CullShape picture = yard.from_house();
  picture.flags &= ~kCullRenderExterior;
  world.scan({picture});
  EXPECT_FALSE(world.sees_outside(picture));
  EXPECT_EQ(world.rooms_seen(picture, yard.house), (Rooms{1}));
  EXPECT_EQ(world.rooms_seen(picture, yard.shed), (Rooms{1, 2})) << "the way leads through what is not drawn";
  picture = yard.from_house();
  picture.flags &= ~kCullRenderInterior;
  world.scan({picture});
  EXPECT_TRUE(world.sees_outside(picture)) << "out of a room that is not drawn";
  EXPECT_EQ(world.rooms_seen(picture, yard.house), Rooms());
  EXPECT_FALSE(world.sees(picture, yard.window));
  picture = yard.from_house();
  picture.flags &= ~kCullTraversePortals;
  world.scan({picture});
  EXPECT_FALSE(world.sees_outside(picture));
  EXPECT_EQ(world.rooms_seen(picture, yard.house), (Rooms{1}));
}

TEST(PortalWalkOutside, LimboIsWhereTheOutsideIs) {  // SCAN-15
  Yard yard;
  PortalWorld& world = yard.world;
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(yard.house, 0);
  world.scan({picture});
  EXPECT_EQ(world.quad(picture, *world.graph.root()), kFullScreen);
  EXPECT_TRUE(world.sees(picture, world.room(yard.house, 0)));
}

TEST(PortalWalkOutside, ThingsOfAnInteriorOutsideAreSeenWithoutItsEntrance) {  // SCAN-3
  Yard yard;
  PortalWorld& world = yard.world;
  EntityDesc sign;
  sign.centre = {0, 0, 8};
  sign.half = {1, 1, 1};
  sign.pivot = sign.centre;
  sign.distance = 100;
  sign.mask = 0xFFFF;
  sign.alpha = 255;
  sign.flags = kDescActive;
  ASSERT_TRUE(
      world.graph.insert(world.room(yard.barn, 0), ContainerUse::placed, {.generation = 1, .slot = 1}, sign).ok());
  world.graph.lock();                                 // makes bounds tight
  CullShape picture = picture_at({10, 0, 4}, kBack);  // away from the door of the barn
  world.scan({picture});
  EXPECT_TRUE(world.sees(picture, world.room(yard.barn, 0)));
  EXPECT_EQ(world.rooms_seen(picture, yard.barn), Rooms());
  picture = picture_at({-10, 0, 4}, kBack);
  world.scan({picture});
  EXPECT_FALSE(world.sees(picture, world.room(yard.barn, 0)));
  world.graph.unlock();
}

TEST(PortalWalkOutside, ThePictureReachesAMetreFurtherOutside) {  // SCAN-4
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  // Both just out of the frustum of 45 degrees, which is 5 m wide at x = 10.
  world.add_portal(house, 1, 0, wall_x(10, 5.5f, 7, 0, 2));
  world.add_portal(house, 1, 2, wall_x(10, -7, -5.5f, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.flags &= ~kCullClipAndStorePortals;
  picture.start = &world.room(house, 1);
  world.scan({picture});
  EXPECT_TRUE(world.sees_outside(picture));
  EXPECT_EQ(world.rooms_seen(picture, house), (Rooms{1}));
  picture.flags &= ~kCullPrimary;
  world.scan({picture});
  EXPECT_FALSE(world.sees_outside(picture)) << "others do not";
}

TEST(PortalWalkOutside, LinkedInteriorsAreOne) {  // INT-2, SCAN-4
  const uint32_t link = portal_flags({schema::PortalFlags::link_interiors_together});
  PortalWorld world;
  InteriorNode &left = world.add_interior(1), &right = world.add_interior(2);
  PortalNode& out = world.add_portal(left, 1, 0, wall_x(10, -1, 1, 0, 2), link);
  PortalNode& in = world.add_portal(right, 1, 0, test::turned(wall_x(10.05f, -1, 1, 0, 2)), link);
  world.add_portal(right, 1, 2, wall_x(20, -1, 1, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, kAhead);
  picture.start = &world.room(left, 1);
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, right), (Rooms{1, 2}));
  EXPECT_FALSE(world.sees_outside(picture));
  EXPECT_TRUE(world.sees(picture, in)) << "it stands where its partner stands";
  CullShape back = picture_at({15, 0, 1}, kBack);
  back.start = &world.room(right, 1);
  world.scan({back});
  EXPECT_EQ(world.rooms_seen(back, left), (Rooms{1}));
  ASSERT_TRUE(world.graph.set_closed(in, true).ok());  // one door for both ways
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, right), Rooms());
  EXPECT_TRUE(world.sees(picture, in)) << "a door that is shut is there";
  world.scan({back});
  EXPECT_EQ(world.rooms_seen(back, left), Rooms());
  ASSERT_TRUE(world.graph.set_closed(in, false).ok());
  // One that is one-way out of the right one is so for both.
  in.corners.set_flags(link | portal_flags({schema::PortalFlags::one_way}));
  world.graph.note_moved_nodes();
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, right), Rooms());
  world.scan({back});
  EXPECT_EQ(world.rooms_seen(back, left), (Rooms{1}));
  // Alone it leads outside.
  ASSERT_TRUE(world.graph.unlink(right).ok());
  world.scan({picture});
  EXPECT_TRUE(world.sees_outside(picture));
  EXPECT_TRUE(world.sees(picture, out));
}

}  // namespace
}  // namespace meridian
