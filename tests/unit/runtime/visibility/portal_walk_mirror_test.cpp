// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/portal_world.h"
#include "visibility/portal_walk.h"

// SCAN-4: what mirrors show, by hand. Cameras look along x; to their right is -y.

namespace meridian {
namespace {

using test::expect_quad;
using test::kAhead;
using test::picture_at;
using test::portal_flags;
using test::PortalWorld;
using test::Rooms;
using test::wall_x;
using test::wall_y;

/// A room from x = 0 to 10, y = -5 to 5, with a mirror on its east wall, which faces west. Doors: 2 in the west wall
/// opposite the mirror; 3 in the east wall beside it; 4 in the north wall near the mirror, 5 in the same wall far away.
struct Bathroom {
  PortalWorld world;
  InteriorNode& house = world.add_interior(5);
  PortalNode* mirror = nullptr;
  Bathroom() {
    const uint32_t flags = portal_flags({schema::PortalFlags::mirror});
    mirror = &world.add_portal(house, 1, 1, wall_x(10, -2, 2, 0, 3), flags);
    world.add_portal(house, 1, 2, test::turned(wall_x(0, -1, 1, 0, 2)));
    world.add_portal(house, 1, 3, wall_x(10, 3, 4, 0, 2));
    world.add_portal(house, 1, 4, wall_y(5, 7, 9, 0, 2));
    world.add_portal(house, 1, 5, wall_y(5, 1, 2, 0, 2));
    world.add_portal(house, 3, 3, test::turned(wall_x(10, -2, 2, 0, 3)), flags);  // on the back of the wall
  }
  static constexpr Plane kMirror{{-1, 0, 0}, 10};
};

TEST(PortalWalkMirror, AMirrorShowsWhatIsInFrontOfIt) {  // SCAN-4, SCAN-16
  Bathroom bath;
  PortalWorld& world = bath.world;
  CullShape picture = picture_at({4, 0, 1}, kAhead);
  picture.start = &world.room(bath.house, 1);
  const CullShape mirror = test::mirrored(picture, Bathroom::kMirror, 1, 1);
  world.scan({picture, mirror});
  EXPECT_EQ(world.rooms_seen(picture, bath.house), (Rooms{1, 3, 4}));
  // Not 3: a wall does not show itself.
  EXPECT_EQ(world.rooms_seen(mirror, bath.house), (Rooms{1, 2, 4, 5}));
  // Doors behind the mirror: 2 at x = 20, 4 at x = 11 to 13, 5 at x = 18 to 19; the camera is at x = 4.
  expect_quad(world.quad(mirror, world.room(bath.house, 2)), -1 / 16.f, -1 / 16.f, 1 / 16.f, 1 / 16.f);
  expect_quad(world.quad(mirror, world.room(bath.house, 4)), -5 / 7.f, -1 / 7.f, -5 / 9.f, 1 / 7.f);
  expect_quad(world.quad(mirror, world.room(bath.house, 5)), -5 / 14.f, -1 / 14.f, -5 / 15.f, 1 / 14.f);
  EXPECT_EQ(world.quad(mirror, world.room(bath.house, 1)), kFullScreen);

  // Through a longer lens door 4 is beside the picture.
  CullShape narrow = picture_at({4, 0, 1}, kAhead, 0.4f);
  narrow.start = picture.start;
  const CullShape in_narrow = test::mirrored(narrow, Bathroom::kMirror, 1, 1);
  world.scan({narrow, in_narrow});
  EXPECT_EQ(world.rooms_seen(in_narrow, bath.house), (Rooms{1, 2, 5}));
}

TEST(PortalWalkMirror, ACameraInThePlaneOfAMirrorLosesNothing) {  // SCAN-4
  Bathroom bath;
  PortalWorld& world = bath.world;
  for (const float x : {9.9f, 9.999f, 10.0f}) {
    SCOPED_TRACE(x);
    CullShape picture = picture_at({x, 0, 1}, kAhead);
    picture.start = &world.room(bath.house, 1);
    const CullShape mirror = test::mirrored(picture, Bathroom::kMirror, 1, 1);
    world.scan({picture, mirror});
    // From there door 2 is 10 m away; of the north wall only the far door is in the picture: 5 m aside, 8 to 9 m away.
    EXPECT_EQ(world.rooms_seen(mirror, bath.house), (Rooms{1, 2, 5}));
    EXPECT_EQ(world.quad(mirror, world.room(bath.house, 1)), kFullScreen);
  }
}

TEST(PortalWalkMirror, AMirrorIsSeenThroughADoor) {  // SCAN-4
  Bathroom bath;
  PortalWorld& world = bath.world;
  CullShape picture = picture_at({-4, 0, 1}, kAhead);
  picture.start = &world.room(bath.house, 2);
  const CullShape mirror = test::mirrored(picture, Bathroom::kMirror, 1, 1);
  world.scan({picture, mirror});
  EXPECT_TRUE(world.results.mirror.is_visible);
  // The way begins in the room of the mirror, and leads back through the door: it is at x = 20, 24 m away.
  EXPECT_EQ(world.rooms_seen(mirror, bath.house), (Rooms{1, 2, 4, 5}));
  expect_quad(world.quad(mirror, world.room(bath.house, 2)), -1 / 24.f, -1 / 24.f, 1 / 24.f, 1 / 24.f);
  // Without a picture in which a mirror is found, it begins with the camera.
  world.scan({mirror});
  EXPECT_EQ(world.quad(mirror, world.room(bath.house, 2)), kFullScreen);
}

TEST(PortalWalkMirror, MirrorsAreNoOpenings) {  // SCAN-4, INT-2
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  world.add_portal(house, 1, 2, wall_x(10, -2, 2, 0, 3), portal_flags({schema::PortalFlags::mirror}));
  world.add_portal(house, 1, 0, wall_x(10, 3, 4, 0, 3), portal_flags({schema::PortalFlags::mirror}));
  CullShape picture = picture_at({4, 0, 1}, kAhead);
  picture.start = &world.room(house, 1);
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, house), (Rooms{1}));
  EXPECT_FALSE(world.sees_outside(picture));
}

}  // namespace
}  // namespace meridian
