// SPDX-License-Identifier: MIT
// SCAN-4 and P066: graphs that are hard on whoever walks them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "meridian/base/random.h"
#include "support/captured.h"
#include "support/portal_world.h"
#include "unit/runtime/visibility/ray_model.h"

namespace meridian {
namespace {

using test::Corners;
using test::Model;
using test::picture_at;
using test::portal_flags;
using test::PortalWorld;
using test::ray_of;

TEST(PortalWalkBounds, ParallelPortalsAndOneWithoutAreaEnd) {  // P066
  const test::CapturedLog log;
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  for (uint32_t i = 0; i < 6; ++i) {
    const Corners corners = test::wall_x(10 + 0.1f * static_cast<float>(i), -1, 1, 0, 2);
    world.add_portal(house, 1, 2, i % 2 == 0 ? corners : test::turned(corners));
  }
  world.add_portal(house, 1, 2, test::wall_x(10, 0, 0, 0, 2));
  CullShape picture = picture_at({5, 0, 1}, {1, 0, 0});
  picture.start = &world.room(house, 1);
  world.scan({picture});
  EXPECT_EQ(world.rooms_seen(picture, house), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(world.entries_of(world.room(house, 1)), 1u);
  EXPECT_LE(world.entries_of(world.room(house, 2)), 4 * 7 + 1u);
  EXPECT_LE(world.results.counters.portal_steps, 6u * (1 + 4 * 7 + 1));
  test::expect_quad(world.quad(picture, world.room(house, 2)), -0.2f, -0.2f, 0.2f, 0.2f);
}

TEST(PortalWalkBounds, WhereAllLeadsToAllTheWorkIsBounded) {  // SCAN-4, P066
  // 14 rooms, an opening between any two, all in sight of each other: 10 ^ 10 ways without a room twice.
  PortalWorld world;
  constexpr uint32_t kRooms = 14;
  InteriorNode& house = world.add_interior(kRooms);
  Random random(7);
  for (uint32_t a = 1; a <= kRooms; ++a) {
    for (uint32_t b = a + 1; b <= kRooms; ++b) {
      const float x = random.between(5.f, 50.f), y = random.between(-3.f, 3.f), z = random.between(-3.f, 3.f);
      const Corners corners = test::wall_x(x, y - 5, y + 5, z - 5, z + 5);
      world.add_portal(house, a, b, random.chance(0.5f) ? corners : test::turned(corners));
    }
  }
  CullShape picture = picture_at({0, 0, 0}, {1, 0, 0});
  picture.start = &world.room(house, 1);
  world.scan({picture});
  constexpr uint32_t kPortals = kRooms * (kRooms - 1) / 2;
  for (uint32_t r = 1; r <= kRooms; ++r) EXPECT_LE(world.entries_of(world.room(house, r)), 4 * kPortals + 1);
  EXPECT_LE(world.results.counters.portal_steps, uint64_t{2 * kPortals} * (4 * kPortals + 1));
  EXPECT_EQ(world.entries_of(world.room(house, 1)), 1u) << "it was full from the start";
}

/// Fifty rooms in a ring between 20 and 30 m from its middle, 25 each of two interiors, which are linked at both ends.
/// Room n is between the openings n - 1 and n.
struct Ring {
  PortalWorld world;
  InteriorNode &first, &second;
  Model model;
  Ring() : first(world.add_interior(25)), second(world.add_interior(25)) {
    const uint32_t link = portal_flags({schema::PortalFlags::link_interiors_together});
    for (uint32_t n = 1; n <= 50; ++n) model.rooms.push_back(&world.room(n <= 25 ? first : second, (n - 1) % 25 + 1));
    for (uint32_t n = 1; n <= 50; ++n) {
      const double angle = 2 * 3.14159265358979 * n / 50;
      const auto at = [&](double r, float z) {
        return Vec3{static_cast<float>(r * std::cos(angle)), static_cast<float>(r * std::sin(angle)), z};
      };
      const Corners corners{at(20, 0), at(20, 3), at(30, 3), at(30, 0)};
      const uint32_t next = n % 50 + 1;
      model.portals.push_back({corners, n, next});
      if (n % 25 != 0) {
        world.add_portal(n < 25 ? first : second, (n - 1) % 25 + 1, n % 25 + 1, corners);
        continue;
      }
      world.add_portal(n == 25 ? first : second, 25, 0, corners, link);
      world.add_portal(n == 25 ? second : first, 1, 0, test::turned(corners), link);
    }
  }
  std::set<uint32_t> seen(const CullShape& shape) {
    world.scan({shape});
    std::set<uint32_t> out;
    for (uint32_t n = 1; n <= 50; ++n)
      if (world.sees(shape, *model.rooms[n])) out.insert(n);
    return out;
  }
};

TEST(PortalWalkBounds, ARingOfTwoLinkedInteriorsIsSeenAsRaysSeeIt) {  // P066, SCAN-4, INT-2
  Ring ring;
  ring.world.depth_limit = 32;
  Random random(66);
  for (int round = 0; round < 8; ++round) {
    const uint32_t room = 1 + random.below(50);
    const double angle = 2 * 3.14159265358979 * (room - 0.5) / 50;
    const double r = static_cast<double>(random.between(21.f, 29.f));
    const Vec3 camera{static_cast<float>(r * std::cos(angle)), static_cast<float>(r * std::sin(angle)), 1.5f};
    static constexpr Vec3 kWays[] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
    const Vec3 forward = kWays[random.below(4)];
    SCOPED_TRACE(testing::Message() << "room " << room << ", " << camera.x << ", " << camera.y);
    CullShape picture = picture_at(camera, forward);
    picture.start = ring.model.rooms[room];
    std::set<uint32_t> rooms;
    for (int i = 0; i <= 6000; ++i) {
      const float x = static_cast<float>(i) / 3000 - 1;
      rooms.merge(ring.model.reached(room, ray_of(picture, forward, x, 0), 500, nullptr));
    }
    EXPECT_EQ(ring.seen(picture), rooms);
    EXPECT_FALSE(ring.world.sees_outside(picture));
    EXPECT_EQ(ring.world.results.counters.portal_limit, 0u);
    EXPECT_LE(ring.world.results.counters.portal_steps, 200u);
  }
}

TEST(PortalWalkBounds, AllOfARingIsSeenWhateverTheLimit) {  // P066, SCAN-4
  Ring ring;
  CullShape sphere = test::sphere_at(1, {0, 0, 0}, 40);
  sphere.start = ring.model.rooms[1];
  for (const uint32_t limit : {32u, 25u, 24u, 8u, 1u}) {
    SCOPED_TRACE(limit);
    ring.world.depth_limit = limit;
    EXPECT_EQ(ring.seen(sphere).size(), 50u);
    // Both ways round, the last room is behind 25 portals.
    EXPECT_EQ(ring.world.results.counters.portal_limit, limit >= 25 ? 0u : limit == 24 ? 1u : 2u);
    EXPECT_LE(ring.world.results.counters.portal_steps, 100u);
  }
}

}  // namespace
}  // namespace meridian
