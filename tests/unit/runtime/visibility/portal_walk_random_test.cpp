// SPDX-License-Identifier: MIT
// SCAN-4 and P066: any graph of rooms, against rays that are followed one by one in double precision, and against
// bounds on the work.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "meridian/base/random.h"
#include "support/captured.h"
#include "support/portal_world.h"
#include "unit/runtime/visibility/ray_model.h"

namespace meridian {
namespace {

using test::across;
using test::Corners;
using test::Model;
using test::ModelPortal;
using test::picture_at;
using test::Point;
using test::portal_flags;
using test::PortalWorld;
using test::Ray;
using test::ray_of;
using test::times;

Corners random_opening(Random& random) {
  const float x = random.between(-10.f, 40.f), y = random.between(-15.f, 15.f), z = random.between(-6.f, 6.f);
  const float w = random.between(1.f, 30.f), h = random.between(1.f, 25.f);
  Corners out = random.chance(0.7f) ? test::wall_x(x, y - w / 2, y + w / 2, z - h / 2, z + h / 2)
                                    : test::wall_y(y, x - w / 2, x + w / 2, z - h / 2, z + h / 2);
  if (random.chance(0.3f)) {  // off the axes
    const float by = random.between(-0.4f, 0.4f);
    for (Vec3& c : out) c = {c.x + by * (c.z - z), c.y - by * (c.x - x), c.z};
  }
  return random.chance(0.5f) ? test::turned(out) : out;
}

struct RandomGraph {
  PortalWorld world;
  Model model;

  explicit RandomGraph(Random& random) {
    std::vector<InteriorNode*> houses;
    std::vector<std::vector<uint32_t>> numbers;  // of rooms, by house and room
    const uint32_t house_count = 1 + random.below(3), rooms = 1 + random.below(random.chance(0.2f) ? 16 : 5);
    for (uint32_t h = 0; h < house_count; ++h) {
      houses.push_back(&world.add_interior(rooms));
      numbers.push_back({0});
      for (uint32_t r = 1; r <= rooms; ++r) {
        numbers[h].push_back(static_cast<uint32_t>(model.rooms.size()));
        model.rooms.push_back(&world.room(*houses[h], r));
      }
    }
    Corners last = random_opening(random);
    const uint32_t portal_count = random.below(80);
    for (uint32_t i = 0; i < portal_count; ++i) {
      const uint32_t h = random.below(house_count), from = random.below(rooms + 1), to = random.below(rooms + 1);
      Corners corners = random.chance(0.1f) ? last : random_opening(random);
      last = corners;
      if (random.chance(0.05f)) corners[1] = corners[0], corners[2] = corners[3];  // no area
      const bool is_one_way = random.chance(0.15f);
      PortalNode& portal = world.add_portal(*houses[h], from, to, corners,
                                            is_one_way ? portal_flags({schema::PortalFlags::one_way}) : 0);
      EXPECT_TRUE(world.graph.set_closed(portal, random.chance(0.05f)).ok());
      const bool is_off = random.chance(0.05f);
      EXPECT_TRUE(world.graph.set_enabled(portal, !is_off).ok());
      model.portals.push_back({corners, numbers[h][from], numbers[h][to], is_one_way, !portal.is_closed() && !is_off});
    }
    for (uint32_t i = 0; house_count > 1 && i < 4; ++i) {  // links
      const uint32_t a = random.below(house_count), b = (a + 1) % house_count;
      const uint32_t room_a = 1 + random.below(rooms), room_b = 1 + random.below(rooms);
      const Corners corners = random_opening(random);
      const uint32_t link = portal_flags({schema::PortalFlags::link_interiors_together});
      world.add_portal(*houses[a], room_a, 0, corners, link);
      world.add_portal(*houses[b], room_b, 0, test::turned(corners), link);
      model.portals.push_back({corners, numbers[a][room_a], numbers[b][room_b]});
    }
  }

  uint32_t portal_count() const { return static_cast<uint32_t>(world.table.portals().size()); }
  const SceneNode& node(uint32_t room) const {
    if (room == 0) return *world.graph.root();
    return *model.rooms[room];
  }
  uint32_t entries_of(uint32_t room) const {
    return room == 0 ? world.table.scratch().entered[kOutsideRoom] : world.entries_of(*model.rooms[room]);
  }
  /// Of the shape that was scanned last.
  void expect_bounded_work(uint32_t most_entries) const {
    uint64_t steps = 0;
    for (uint32_t r = 0; r < model.rooms.size(); ++r) {
      EXPECT_LE(entries_of(r), most_entries) << "room " << r;
      const uint16_t row = r == 0 ? kOutsideRoom : world.table.room_of(*model.rooms[r]);
      steps += uint64_t{entries_of(r)} * world.table.entries_of(row).size();
    }
    EXPECT_LE(world.results.counters.portal_steps, steps);
  }
};

TEST(PortalWalkRandom, EachRoomThatARayReachesIsSeenThere) {  // SCAN-4, P066, P081
  uint32_t reached_by_rays = 0;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const test::CapturedLog log;  // of portals without area
    RandomGraph graph(random);
    PortalWorld& world = graph.world;
    const float far = random.chance(0.5f) ? 500.f : 30.f;
    const Vec3 camera{random.between(-10.f, 10.f), random.between(-10.f, 10.f), random.between(-2.f, 2.f)};
    const Vec3 forward = random.chance(0.8f) ? Vec3{1, 0, 0} : Vec3{0.6f, 0.8f, 0};
    const auto start = random.below(static_cast<uint32_t>(graph.model.rooms.size()));
    CullShape picture = picture_at(camera, forward, 1, far);
    picture.start = graph.model.rooms[start];

    const Plane plane{{-1, 0, 0}, camera.x + 5};  // in front of the camera, which is on its positive side
    const CullShape mirror = test::mirrored(picture, plane, 1, 1);
    CullShape plain = test::frustum_at(2, camera, forward);
    plain.start = picture.start;
    if (far != 500.f) plain.planes[5] = picture.planes[5];

    for (const CullShape& shape : {picture, mirror, plain}) {
      SCOPED_TRACE(testing::Message() << "phase " << unsigned{shape.phase});
      world.scan({shape});
      const bool has_quads = shape.quad_store != kNoQuadStore;
      graph.expect_bounded_work(has_quads ? 4 * graph.portal_count() + 1 : 1);
      for (int i = 0; i < 100; ++i) {
        const float x = random.between(-1.f, 1.f), y = random.between(-1.f, 1.f);
        const Ray ray = ray_of(shape, forward, x, y);
        const Plane* const reflected = (shape.flags & kCullMirror) != 0 ? &plane : nullptr;
        const std::set<uint32_t> rooms = graph.model.reached(start, ray, double{far} * 0.999, reflected);
        reached_by_rays += static_cast<uint32_t>(rooms.size()) - 1;
        for (const uint32_t room : rooms) {
          ASSERT_TRUE(world.sees(shape, graph.node(room))) << "room " << room << " at " << x << ", " << y;
          if (!has_quads) continue;
          const ScreenRect& quad = world.quad(shape, graph.node(room));
          ASSERT_TRUE(quad.min_x <= x && x <= quad.max_x && quad.min_y <= y && y <= quad.max_y)
              << "room " << room << " at " << x << ", " << y;
        }
      }
    }
  }
  EXPECT_GT(reached_by_rays, 10000u) << "rays that pass nothing test nothing";
}

/// Of a box around corners, by hand.
double distance_to_box(const Corners& corners, const Vec3& p) {
  double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
  for (const Vec3& c : corners) {
    const double v[3] = {c.x, c.y, c.z};
    for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], v[i]), high[i] = std::max(high[i], v[i]);
  }
  const double at[3] = {p.x, p.y, p.z};
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double off = std::max({low[i] - at[i], at[i] - high[i], 0.0});
    sum += off * off;
  }
  return std::sqrt(sum);
}
bool has_area(const Corners& c) {
  const Point n = across(Point(c[2]) - Point(c[0]), Point(c[3]) - Point(c[1]));
  return times(n, n) > 1e-6;
}

TEST(PortalWalkRandom, SpheresSeeWhatPortalsInThemLeadTo) {  // SCAN-4
  uint32_t compared = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const test::CapturedLog log;
    RandomGraph graph(random);
    const auto start = random.below(static_cast<uint32_t>(graph.model.rooms.size()));
    CullShape sphere =
        test::sphere_at(1, {random.between(-10.f, 30.f), random.between(-10.f, 10.f), 0}, random.between(1.f, 25.f));
    sphere.start = graph.model.rooms[start];
    graph.world.scan({sphere});
    // In it for certain, and perhaps: the border is rounding's.
    std::set<uint32_t> certain{start}, perhaps{start};
    for (size_t round = 0; round < graph.model.rooms.size(); ++round) {
      for (const ModelPortal& portal : graph.model.portals) {
        if (!portal.is_open || !has_area(portal.corners)) continue;
        const double distance = distance_to_box(portal.corners, sphere.sphere_centre) - double{sphere.sphere_radius};
        const auto pass = [&](std::set<uint32_t>& seen) {
          if (seen.count(portal.from) != 0) seen.insert(portal.to);
          if (seen.count(portal.to) != 0 && !portal.is_one_way) seen.insert(portal.from);
        };
        if (distance <= 0) pass(certain);
        if (distance <= 0.01) pass(perhaps);
      }
    }
    for (uint32_t room = 0; room < graph.model.rooms.size(); ++room) {
      if (certain.count(room) != perhaps.count(room)) continue;
      ASSERT_EQ(graph.world.sees(sphere, graph.node(room)), certain.count(room) != 0) << "room " << room;
      ++compared;
    }
    graph.expect_bounded_work(1);
  }
  EXPECT_GT(compared, 2000u);
}

TEST(PortalWalkRandom, FarFromTheOriginNothingIsLost) {  // SCAN-4, SCAN-11's coordinates
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Vec3 camera{16000 + random.between(-1.f, 1.f), -16000 + random.between(-1.f, 1.f), random.between(0.f, 2.f)};
    PortalWorld world;
    InteriorNode& house = world.add_interior(2);
    const float x = camera.x + random.between(0.06f, 3.f), y = camera.y + random.between(-0.5f, 0.5f);
    const Corners corners = test::wall_x(x, y - 0.5f, y + 0.5f, 0, 2);
    world.add_portal(house, 1, 2, corners);
    Model model;
    model.rooms = {nullptr, &world.room(house, 1), &world.room(house, 2)};
    model.portals = {{corners, 1, 2}};
    CullShape picture = picture_at(camera, {1, 0, 0});
    picture.start = model.rooms[1];
    world.scan({picture});
    for (int i = 0; i < 100; ++i) {
      const float at_x = random.between(-1.f, 1.f), at_y = random.between(-1.f, 1.f);
      if (model.reached(1, ray_of(picture, {1, 0, 0}, at_x, at_y), 500, nullptr).count(2) == 0) continue;
      ASSERT_TRUE(world.sees(picture, *model.rooms[2]));
      const ScreenRect& quad = world.quad(picture, *model.rooms[2]);
      ASSERT_TRUE(quad.min_x <= at_x && at_x <= quad.max_x && quad.min_y <= at_y && at_y <= quad.max_y);
    }
  }
}

}  // namespace
}  // namespace meridian
