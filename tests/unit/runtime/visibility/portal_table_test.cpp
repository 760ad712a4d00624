// SPDX-License-Identifier: MIT
#include "visibility/portal_table.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/captured.h"
#include "support/portal_world.h"

// INT-2: what portals are, and which interiors they link. SCAN-4: the arrays that traversal goes by.

namespace meridian {
namespace {

using test::CapturedLog;
using test::PortalWorld;
using test::turned;
using test::wall_x;

const uint32_t kLink = test::portal_flags({schema::PortalFlags::link_interiors_together});

const TablePortal& row_of(const PortalWorld& world, const PortalNode& portal) {
  for (const TablePortal& row : world.table.portals())
    if (row.portal == &portal) return row;
  ADD_FAILURE() << "not in the table";
  return world.table.portals()[0];
}

TEST(PortalTable, HasRoomsAndTheirPortals) {  // INT-2
  PortalWorld world;
  InteriorNode& house = world.add_interior(3);
  const PortalNode& door = world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  const PortalNode& window = world.add_portal(house, 2, 0, wall_x(20, -2, 2, 1, 2));
  world.room(house, 2).room_flags = 4;
  world.room(house, 2).exterior_visibility_depth = 7;
  world.table.update(world.graph);

  ASSERT_EQ(world.table.interiors().size(), 1u);
  ASSERT_EQ(world.table.rooms().size(), 4u);  // the outside, and three
  const TableInterior& interior = world.table.interiors()[0];
  EXPECT_EQ(interior.limbo, world.room(house, 0).index());
  EXPECT_TRUE(interior.has_entrance);
  EXPECT_EQ(interior.entrance, (Aabb{{20, -2, 1}, {20, 2, 2}}));

  EXPECT_EQ(world.table.room_of(world.room(house, 0)), kOutsideRoom);
  const uint16_t one = world.table.room_of(world.room(house, 1)), two = world.table.room_of(world.room(house, 2));
  const uint16_t three = world.table.room_of(world.room(house, 3));
  EXPECT_EQ(world.table.rooms()[two].flags, 4u);
  EXPECT_EQ(world.table.rooms()[two].depth, 7);
  ASSERT_EQ(world.table.entries_of(one).size(), 1u);
  ASSERT_EQ(world.table.entries_of(two).size(), 2u);
  EXPECT_EQ(world.table.entries_of(three).size(), 0u);
  ASSERT_EQ(world.table.entries_of(kOutsideRoom).size(), 1u);
  const PortalEntry& way_in = world.table.entries_of(one)[0];
  EXPECT_EQ(world.table.portals()[way_in.portal].portal, &door);
  EXPECT_EQ(way_in.room, two);
  EXPECT_TRUE(way_in.is_forward);
  const PortalEntry& from_outside = world.table.entries_of(kOutsideRoom)[0];
  EXPECT_EQ(world.table.portals()[from_outside.portal].portal, &window);
  EXPECT_EQ(from_outside.room, two);
  EXPECT_FALSE(from_outside.is_forward);
}

TEST(PortalTable, IsMadeAnewOnlyWhenNodesOfInteriorsChange) {  // SCAN-4
  PortalWorld world;
  InteriorNode& house = world.add_interior(2);
  PortalNode& door = world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  uint32_t builds = 0;
  const auto is_new = [&] {
    world.table.update(world.graph);
    const bool out = world.table.builds() != builds;
    builds = world.table.builds();
    return out;
  };
  EXPECT_TRUE(is_new());
  EXPECT_FALSE(is_new());

  StreamedNode& map = *world.graph.create_streamed();
  ASSERT_TRUE(world.graph.append(*world.graph.root(), map).ok());
  EXPECT_FALSE(is_new()) << "a map came";
  ASSERT_TRUE(world.graph.set_closed(door, true).ok());
  EXPECT_FALSE(is_new()) << "doors are looked at as they are";
  ASSERT_TRUE(world.graph.set_enabled(door, false).ok());
  EXPECT_TRUE(is_new()) << "switched off";
  EXPECT_FALSE(row_of(world, door).is_enabled);
  ASSERT_TRUE(world.graph.set_enabled(door, false).ok());
  EXPECT_FALSE(is_new()) << "it was off";
  ASSERT_TRUE(world.graph.unlink(house).ok());
  EXPECT_TRUE(is_new()) << "taken out";
  EXPECT_EQ(world.table.portals().size(), 0u);
  EXPECT_EQ(world.table.rooms().size(), 1u);
  ASSERT_TRUE(world.graph.append(*world.graph.root(), house).ok());
  EXPECT_TRUE(is_new()) << "put back";
  door.corners = make_portal(wall_x(11, -1, 1, 0, 2), 0, 255);
  world.graph.note_moved_nodes();
  EXPECT_TRUE(is_new()) << "moved";
  EXPECT_EQ(row_of(world, door).box.min.x, 11);
  ASSERT_TRUE(world.graph.destroy(door).ok());
  EXPECT_TRUE(is_new()) << "destroyed";
  EXPECT_EQ(world.table.portals().size(), 0u);
}

TEST(PortalTable, AllocatesInInitOnly) {
  PortalWorld world;
  const uint64_t calls = world.memory.calls();
  for (int round = 0; round < 3; ++round) {
    InteriorNode& house = world.add_interior(5);
    for (uint32_t r = 1; r < 5; ++r) world.add_portal(house, r, r + 1, wall_x(static_cast<float>(r), 0, 1, 0, 1));
    world.scan({test::picture_at({0, 0, 1}, {1, 0, 0})});
  }
  EXPECT_EQ(world.memory.calls(), calls);
}

TEST(PortalTable, WithoutMemoryItStaysEmpty) {
  test::CheckedMemory memory, none;
  MemoryTracker tracker;
  SceneGraph graph;
  ASSERT_TRUE(graph.init(test::kPortalScene, memory, &tracker).ok());
  none.fail_after(0);
  PortalTable table;
  EXPECT_EQ(table.init(graph, none).code, StatusCode::out_of_memory);
}

TEST(PortalTable, AHouseFullOfNodesFits) {  // as many as the scene has
  PortalWorld world;
  uint32_t rooms = 0;
  for (uint32_t i = 0; i < test::kPortalScene.interior_nodes; ++i) {
    InteriorNode& house = world.add_interior(15);
    rooms += 15;
    for (uint32_t p = 0; p < 32; ++p)
      world.add_portal(house, p % 16, (p * 7 + 3) % 16, wall_x(static_cast<float>(p), 0, 1, 0, 1));
  }
  world.table.update(world.graph);
  EXPECT_EQ(world.table.rooms().size(), 1 + rooms);
  EXPECT_EQ(world.table.portals().size(), test::kPortalScene.portal_nodes);
  size_t entries = 0;
  for (uint32_t r = 0; r < world.table.rooms().size(); ++r) entries += world.table.entries_of(r).size();
  size_t sides = 0;
  for (const TablePortal& portal : world.table.portals()) sides += portal.rooms[0] == portal.rooms[1] ? 1 : 2;
  EXPECT_EQ(entries, sides);
}

TEST(PortalTable, LinksTwoInteriorsCornerOnCorner) {  // INT-2
  struct Case {
    const char* what;
    float off;
    uint32_t second_flags;
    bool same_interior, is_linked;
  } const cases[] = {{"on each other", 0, kLink, false, true},
                     {"9 cm apart", 0.09f, kLink, false, true},
                     {"11 cm apart", 0.11f, kLink, false, false},
                     {"one is no link", 0, 0, false, false},
                     {"of one interior", 0, kLink, true, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    PortalWorld world;
    InteriorNode& left = world.add_interior(2);
    InteriorNode& right = c.same_interior ? left : world.add_interior(2);
    const PortalNode& a = world.add_portal(left, 1, 0, wall_x(10, -1, 1, 0, 2), kLink);
    const PortalNode& b = world.add_portal(right, 2, 0, turned(wall_x(10 + c.off, -1, 1, 0, 2)), c.second_flags);
    world.table.update(world.graph);
    const TablePortal &row_a = row_of(world, a), &row_b = row_of(world, b);
    EXPECT_EQ(row_a.partner != kNoTableIndex, c.is_linked);
    EXPECT_EQ(row_b.partner != kNoTableIndex, c.is_linked);
    const uint16_t room_a = world.table.room_of(world.room(left, 1)),
                   room_b = world.table.room_of(world.room(right, 2));
    EXPECT_EQ(row_a.rooms[0], room_a);
    EXPECT_EQ(row_a.rooms[1], c.is_linked ? room_b : kOutsideRoom);
    EXPECT_EQ(row_b.rooms[1], c.is_linked ? room_a : kOutsideRoom);
    EXPECT_EQ(world.table.entries_of(kOutsideRoom).size(), c.is_linked ? 0u : 2u);
  }
}

TEST(PortalTable, ALinkHasOnePartner) {  // INT-2
  PortalWorld world;
  const PortalNode* portals[3] = {};
  for (const PortalNode*& portal : portals) {
    InteriorNode& house = world.add_interior(1);
    portal = &world.add_portal(house, 1, 0, wall_x(10, -1, 1, 0, 2), kLink);
  }
  world.table.update(world.graph);
  EXPECT_EQ(row_of(world, *portals[0]).partner, 1);
  EXPECT_EQ(row_of(world, *portals[1]).partner, 0);
  EXPECT_EQ(row_of(world, *portals[2]).partner, kNoTableIndex);
  EXPECT_EQ(row_of(world, *portals[2]).rooms[1], kOutsideRoom);
}

TEST(PortalTable, SaysOnceWhatIsNoOpening) {  // INT-2
  PortalWorld world;
  CapturedLog log;
  InteriorNode& house = world.add_interior(2);
  const PortalNode& flat = world.add_portal(house, 1, 2, wall_x(10, 1, 1, 0, 2));
  test::Corners endless = wall_x(10, -1, 1, 0, 2);
  endless[2].y = std::numeric_limits<float>::infinity();
  const PortalNode& far = world.add_portal(house, 1, 2, endless);
  const PortalNode& good = world.add_portal(house, 1, 2, wall_x(10, -1, 1, 0, 2));
  const PortalNode& nowhere = world.add_portal(house, 1, 99, wall_x(10, -1, 1, 0, 2));
  world.table.update(world.graph);
  EXPECT_FALSE(row_of(world, flat).is_opening);
  EXPECT_FALSE(row_of(world, far).is_opening);
  EXPECT_TRUE(row_of(world, good).is_opening);
  EXPECT_EQ(row_of(world, nowhere).rooms[1], kOutsideRoom) << "a room that is not there is the outside";
  EXPECT_EQ(log.count(), 2u) << log.all();
  world.graph.note_moved_nodes();
  world.table.update(world.graph);
  EXPECT_EQ(log.count(), 2u) << log.all();
}

}  // namespace
}  // namespace meridian
