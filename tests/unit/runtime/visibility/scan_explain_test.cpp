// SPDX-License-Identifier: MIT
// SCAN-4, SCAN-6, SCAN-7, SCAN-15, OCCL-2: what is said of one entity and one shape, by hand; and for any world, that
// it is what the scan found.
#include "meridian/visibility/scan_explain.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/jobs/serial_jobs.h"
#include "meridian/visibility/occlusion_buffer.h"
#include "support/captured.h"
#include "support/portal_world.h"
#include "unit/runtime/scene/scene_kit.h"

namespace meridian {
namespace {

using test::picture_at;
using Cause = VisibilityCause;

constexpr SceneCapacities kScene{.streamed_nodes = 8,
                                 .interior_nodes = 8,
                                 .room_nodes = 32,
                                 .portal_nodes = 64,
                                 .containers = 128,
                                 .fixed_containers = 1,
                                 .soa_containers = 32,
                                 .lights = 64,
                                 .light_updates = 64,
                                 .descriptors = 32768};

/// A camera at the origin that looks along y, 45 degrees to each side.
CullShape ahead(uint8_t phase = 0) {
  CullShape out = picture_at({}, {0, 1, 0});
  out.flags = kCullPrimary | kCullUseFrustum | kCullRenderExterior | kCullRenderInterior | kCullTraversePortals;
  out.quad_store = kNoQuadStore;
  out.phase = phase;
  return out;
}

EntityDesc cube_at(const Vec3& centre, float distance = 100) {
  EntityDesc out = test::desc_at(centre);
  out.distance = distance;
  out.mask = kAllPhasesMask;
  return out;
}

struct ExplainKit {
  test::PortalWorld world{kScene};
  LodSetTable sets;
  OccluderSet occluders;
  OcclusionBuffer picture;
  SerialJobs jobs;
  Scan scan;
  std::deque<test::MapBlocks> blocks;
  std::deque<std::vector<uint32_t>> set_ids;
  std::map<uint32_t, PvsEntry> entries;  // by slot of the handle
  uint32_t next = 1;

  ExplainKit() {
    EXPECT_TRUE(
        sets.init({.capacity = 64, .ramp_seconds = 0, .graph = &graph(), .tracker = &world.tracker}, world.memory)
            .ok());
    EXPECT_TRUE(occluders.init({.occluders = 64, .tracker = &world.tracker}, world.memory).ok());
    EXPECT_TRUE(picture.init({.width = 64, .height = 64, .occluders = 64, .primitives = 64}, world.memory).ok());
    EXPECT_TRUE(scan.init({.graph = &graph(), .lod_sets = &sets, .tracker = &world.tracker}, world.memory).ok());
    EXPECT_TRUE(jobs.start({.allocator = &world.memory}).ok());
  }
  SceneGraph& graph() { return world.graph; }

  EntityHandle next_handle() { return {.generation = 1, .slot = next++}; }
  SceneSlot add(const EntityDesc& desc, SceneNode* node = nullptr, ContainerUse use = ContainerUse::placed) {
    const Result<SceneSlot> slot = graph().insert(node != nullptr ? *node : *graph().root(), use, next_handle(), desc);
    EXPECT_TRUE(slot.ok()) << slot.status().message;
    return slot.ok() ? slot.value() : SceneSlot{};
  }
  /// Adds a map of its own node with one LOD set: entity 0 is the parent, the others are the children.
  uint32_t add_set(std::vector<EntityDesc> descs, const LodLinkRow& row, StreamedNode& node) {
    const Result<uint32_t> id = sets.create(row.pivot, row.distance, 0);
    EXPECT_TRUE(id.ok());
    for (uint32_t i = 0; i < descs.size(); ++i) {
      if (descs[i].distance == 0) descs[i] = {};  // left out
      descs[i].handle = i;
      if (descs[i].distance == 0) continue;
      descs[i].lod_set = 0;
      descs[i].flags |= i == 0 ? kDescSetParent : kDescLodChild;
      if (i == 0) continue;
      descs[i].pivot = row.pivot;
      descs[i].distance = row.distance;
    }
    const EntityHandle group{.generation = 1, .slot = next};
    next += static_cast<uint32_t>(descs.size());
    SceneBlocks view = blocks.emplace_back(std::move(descs), std::vector<LodLinkRow>{row}).view(group);
    view.set_ids = set_ids.emplace_back(1, id.value());
    EXPECT_TRUE(graph().add_blocks(node, view).ok());
    return id.value();
  }
  StreamedNode& add_node() {
    StreamedNode& node = *graph().create_streamed();
    EXPECT_TRUE(graph().append(*graph().root(), node).ok());
    return node;
  }

  void run(const ScanFrame& frame, const std::vector<CullShape>& shapes) {
    ASSERT_TRUE(scan.begin_frame(frame).ok());
    for (const CullShape& shape : shapes) {
      const Status added = scan.add(shape);
      ASSERT_TRUE(added.ok()) << added.message;
    }
    ASSERT_TRUE(scan.start(jobs).ok());
    entries.clear();
    ScanCursor cursor;
    std::span<const PvsEntry> block;
    while (scan.next_block(cursor, block))
      for (const PvsEntry& entry : block) entries[entry.entity.slot] = entry;
    ASSERT_TRUE(scan.join().ok());
  }
  /// What a scan of this one shape says.
  VisibilityReason ask(SceneSlot at, const CullShape& shape, const ScanFrame& frame = {}) {
    run(frame, {shape});
    return explain_visibility(scan, 0, at, &occluders);
  }
  std::string text(const VisibilityReason& why) {
    char line[256];
    return to_text(why, line);
  }
};

TEST(ScanExplain, ItIsSeen) {
  ExplainKit kit;
  const SceneSlot at = kit.add(cube_at({0, 50, 0}));
  const VisibilityReason why = kit.ask(at, ahead());
  EXPECT_EQ(why.cause, Cause::visible);
  EXPECT_TRUE(why.is_visible && why.is_wanted);
  EXPECT_EQ(why.alpha, 255);
  EXPECT_EQ(why.distance, 50);
  EXPECT_EQ(why.reach, 120);  // and the fade of 20
  EXPECT_EQ(kit.text(why), "phase 0 sees 1/1: alpha 255, 50.0 m away, seen up to 120.0 m (HD, 100 m x 1)");
}

TEST(ScanExplain, WhatIsFarAwaySaysHowFar) {  // the early reject
  ExplainKit kit;
  const SceneSlot at = kit.add(cube_at({0, 130, 0}));
  VisibilityReason why = kit.ask(at, ahead());
  EXPECT_EQ(why.cause, Cause::too_far);
  EXPECT_EQ(why.distance, 130);
  EXPECT_EQ(why.lod_distance, 100);
  EXPECT_EQ(kit.text(why), "phase 0 does not see 1/1: 130.0 m away, seen up to 120.0 m (HD, 100 m x 1)");
  ScanFrame frame;
  frame.lod.pre_stream = 30;
  why = kit.ask(at, ahead(), frame);
  EXPECT_EQ(why.cause, Cause::faded);
  EXPECT_TRUE(why.is_wanted && !why.is_visible);
  frame.lod.scales[0] = 2;
  EXPECT_EQ(kit.ask(at, ahead(), frame).cause, Cause::visible);

  // A shape that only streams goes by its own view.
  CullShape soon = ahead(3);
  soon.flags = (soon.flags & ~uint32_t{kCullPrimary}) | kCullOnlyStreamEntities;
  why = kit.ask(at, soon);
  EXPECT_EQ(why.cause, Cause::too_far);
  soon.lod.camera = {0, 100, 0};
  why = kit.ask(at, soon);
  EXPECT_EQ(why.cause, Cause::asked_for);
  EXPECT_EQ(why.distance, 30);
  EXPECT_TRUE(why.is_wanted && !why.is_visible);
}

TEST(ScanExplain, SwitchedOffOrAtTheWrongHour) {
  ExplainKit kit;
  const SceneSlot at = kit.add(cube_at({0, 50, 0}));
  ASSERT_TRUE(kit.graph().set_flags(at, kDescHidden, kDescHidden).ok());
  EXPECT_EQ(kit.ask(at, ahead()).cause, Cause::hidden);
  ASSERT_TRUE(kit.graph().set_flags(at, kDescHidden | kDescActive, 0).ok());
  EXPECT_EQ(kit.ask(at, ahead()).cause, Cause::off_hours);
  // Only maps have descriptors of what was left out.
  kit.add_set({cube_at({0, 50, 0}, 400), EntityDesc{}}, {.pivot = {0, 50, 0}, .distance = 40}, kit.add_node());
  const SceneSlot left_out = find_slot(kit.graph(), {.generation = 1, .slot = 3});
  EXPECT_EQ(kit.ask(left_out, ahead()).cause, Cause::never_visible);
}

TEST(ScanExplain, TheCullWindowIsNamed) {
  ExplainKit kit;
  EntityDesc desc = cube_at({0, 50, 0});
  desc.flags |= kDescMaybeInCullBox;
  const SceneSlot at = kit.add(desc);
  const CullWindow windows[] = {{.box = {{100, 100, 0}, {200, 200, 9}}, .min = 0, .max = 1},
                                {.box = {{-5, 45, -5}, {5, 55, 5}}, .min = 60, .max = 90}};
  ScanFrame frame;
  frame.windows = windows;
  const VisibilityReason why = kit.ask(at, ahead(), frame);
  EXPECT_EQ(why.cause, Cause::window);
  EXPECT_EQ(why.index, 1u);
  EXPECT_EQ(kit.text(why), "phase 0 does not see 1/1: cull window 1 hides it at 50.0 m");
}

TEST(ScanExplain, WhatAShapeLeavesOut) {  // types, levels, masks, ranges, caps
  ExplainKit kit;
  EntityDesc desc = cube_at({0, 50, 0});
  desc.mask = visibility_bit(VisibilityType::gbuffer);
  const SceneSlot at = kit.add(desc);
  CullShape shape = ahead();
  shape.visibility = VisibilityType::cascade_shadows;
  EXPECT_EQ(kit.ask(at, shape).cause, Cause::mask);
  shape = ahead();
  shape.types &= ~type_bit(EntityClass::building);
  EXPECT_EQ(kit.ask(at, shape).cause, Cause::type);
  shape = ahead();
  shape.levels &= ~1u;
  EXPECT_EQ(kit.ask(at, shape).cause, Cause::level);
  EXPECT_EQ(kit.ask(at, ahead(), {.level_filter = kAllLevels & ~1u}).cause, Cause::filter);
  shape = ahead();
  shape.ranges[0].max = 40;
  EXPECT_EQ(kit.ask(at, shape).cause, Cause::range);
  shape = ahead();
  shape.caps[2] = {.types = type_bit(EntityClass::building), .distance = 49};
  const VisibilityReason why = kit.ask(at, shape);
  EXPECT_EQ(why.cause, Cause::cap);
  EXPECT_EQ(why.index, 2u);
  EXPECT_EQ(kit.text(why), "phase 0 does not see 1/1: 50.0 m away, beyond distance cap 2");
}

TEST(ScanExplain, HowFarOutsideOfTheVolume) {
  ExplainKit kit;
  // Behind the camera: the nearest corners have y = -9; the near plane is at 0.05.
  const SceneSlot at = kit.add(cube_at({0, -10, 0}));
  VisibilityReason why = kit.ask(at, ahead());
  EXPECT_EQ(why.cause, Cause::plane);
  const Plane& plane = kit.scan.shape(0).planes[why.index];
  EXPECT_NEAR(why.outside, 9.05, 0.001);
  EXPECT_NEAR(plane.normal.y, 1, 1e-6);
  CullShape sphere = test::sphere_at(1, {0, 20, 0}, 10);
  why = kit.ask(at, sphere);
  EXPECT_EQ(why.cause, Cause::sphere);
  EXPECT_NEAR(why.outside, 20 + 9 - 10, 0.001);
  EXPECT_EQ(kit.text(why), "phase 1 does not see 1/1: 19.00 m outside of the sphere");
}

TEST(ScanExplain, AllThatHideItAreNamed) {  // OCCL-2
  ExplainKit kit;
  const SceneSlot at = kit.add(cube_at({0, 50, 0}));
  CullShape shape = ahead();
  shape.flags |= kCullUseOcclusion;
  shape.occlusion_buffer = 0;
  const OcclusionView view{.half_width = 1, .half_height = 1, .near_distance = 0.5f};
  ScanFrame frame;
  frame.occlusion[0] = &kit.picture;
  const auto wall = [&](uint32_t index, float y) {
    EXPECT_TRUE(kit.occluders.add_box({.imap = 17, .index = index}, {.centre = {0, y, 0}, .half = {8, 0.5f, 8}}).ok());
  };
  wall(60, 60);  // behind it
  ASSERT_TRUE(kit.picture.rasterise(kit.occluders, view, kit.jobs).ok());
  EXPECT_EQ(kit.ask(at, shape, frame).cause, Cause::visible);
  for (uint32_t i = 0; i < 10; ++i) wall(i, 20.0f + static_cast<float>(i));
  ASSERT_TRUE(kit.picture.rasterise(kit.occluders, view, kit.jobs).ok());
  const VisibilityReason why = kit.ask(at, shape, frame);
  EXPECT_EQ(why.cause, Cause::occluded);
  EXPECT_TRUE(why.is_wanted && !why.is_visible);
  EXPECT_EQ(why.occluder_count, 10u);
  for (uint32_t i = 0; i < kExplainedOccluders; ++i) EXPECT_EQ(why.occluders[i], (OccluderId{17, i}));
  EXPECT_EQ(kit.text(why),
            "phase 0 does not see 1/1: it is hidden by box 0 of map 17, box 1 of map 17, box 2 of map 17, box 3 of "
            "map 17, box 4 of map 17, box 5 of map 17, box 6 of map 17, box 7 of map 17 and 2 more");
  shape.never_occluded = kAllTypes;
  EXPECT_EQ(kit.ask(at, shape, frame).cause, Cause::visible);
}

TEST(ScanExplain, TheLodSetSaysWhichSideStandsThere) {
  ExplainKit kit;
  StreamedNode& node = kit.add_node();
  const LodLinkRow row{.pivot = {0, 50, 0}, .distance = 40};
  const uint32_t set = kit.add_set({cube_at({0, 50, 0}, 400), cube_at({0, 50, 0}), cube_at({1, 50, 0})}, row, node);
  const SceneSlot parent = find_slot(kit.graph(), {.generation = 1, .slot = 1});
  const SceneSlot child = find_slot(kit.graph(), {.generation = 1, .slot = 2});
  VisibilityReason why = kit.ask(child, ahead());
  EXPECT_EQ(why.cause, Cause::lod_set);
  EXPECT_EQ(why.set, set);
  EXPECT_FALSE(why.is_set_ready || why.is_set_parent);
  EXPECT_EQ(why.weight, 0);
  EXPECT_TRUE(why.is_wanted);
  EXPECT_EQ(kit.text(why), "phase 0 does not see 2/1: LOD set " + std::to_string(set) +
                               " is not ready, so its parent stands for the children");
  EXPECT_EQ(kit.ask(parent, ahead()).cause, Cause::visible);

  // Ready: at 50 m, with 40 m and a fade of 20, the children have half of it; nearer than 40 m all.
  ASSERT_TRUE(kit.sets.set_ready(set, true).ok());
  ASSERT_TRUE(kit.sets.update(1).ok());
  why = kit.ask(child, ahead());
  EXPECT_EQ(why.cause, Cause::visible);
  EXPECT_EQ(why.child_alpha, 127);
  EXPECT_EQ(why.alpha, 127);
  EXPECT_EQ(kit.ask(parent, ahead()).alpha, 128);
  ScanFrame frame;
  frame.lod.camera = {0, 15, 0};
  why = kit.ask(parent, ahead(), frame);
  EXPECT_EQ(why.cause, Cause::lod_set);
  EXPECT_TRUE(why.is_set_parent && why.is_set_ready);
  EXPECT_EQ(why.child_alpha, 255);
  ASSERT_TRUE(kit.graph().set_alpha(child, 0).ok());
  EXPECT_EQ(kit.ask(child, ahead()).cause, Cause::no_alpha);
}

/// Rooms 1 to 3 in a row along x, from 0 to 30; doors at 10 and 20.
struct House {
  ExplainKit kit;
  InteriorNode& house = kit.world.add_interior(3);
  PortalNode& first = kit.world.add_portal(house, 1, 2, test::wall_x(10, -1, 1, 0, 2));
  PortalNode& second = kit.world.add_portal(house, 2, 3, test::wall_x(20, -1, 1, 0, 2));
  SceneSlot thing = kit.add(cube_at({25, 0, 1}), &kit.world.room(house, 3));
  CullShape picture = picture_at({5, 0, 1}, {1, 0, 0});

  House() { picture.start = &kit.world.room(house, 1); }
  uint32_t node(uint32_t room) { return kit.world.room(house, room).index(); }
};

TEST(ScanExplain, ThePortalThatStopsItIsNamed) {  // SCAN-4
  House at;
  EXPECT_EQ(at.kit.ask(at.thing, at.picture).cause, Cause::visible);
  ASSERT_TRUE(at.kit.world.graph.set_closed(at.second, true).ok());
  VisibilityReason why = at.kit.ask(at.thing, at.picture);
  EXPECT_EQ(why.cause, Cause::node_not_seen);
  EXPECT_EQ(why.portal_stop, PortalStop::shut);
  EXPECT_EQ(why.node, at.node(3));
  EXPECT_EQ(why.seen_node, at.node(2));
  EXPECT_EQ(why.portal, at.second.index());
  EXPECT_EQ(why.portals_apart, 1);
  EXPECT_EQ(at.kit.text(why), "phase 0 does not see 1/1: node " + std::to_string(at.node(3)) +
                                  " is not seen: 1 portal away, from node " + std::to_string(at.node(2)) + ", portal " +
                                  std::to_string(at.second.index()) + " stops it: it is shut or off");
  ASSERT_TRUE(at.kit.world.graph.set_closed(at.first, true).ok());
  why = at.kit.ask(at.thing, at.picture);
  EXPECT_EQ(why.portal, at.first.index());
  EXPECT_EQ(why.portals_apart, 2);
  for (PortalNode* portal : {&at.first, &at.second}) ASSERT_TRUE(at.kit.world.graph.set_closed(*portal, false).ok());

  // Looks the other way; looks past the door; looks from the wrong side.
  CullShape away = picture_at({5, 0, 1}, {-1, 0, 0});
  away.start = at.picture.start;
  EXPECT_EQ(at.kit.ask(at.thing, away).portal_stop, PortalStop::volume);
  // From y = 9 one sees the strip through the first door that goes on to y = -9 and below; the second is beside it.
  CullShape aside = picture_at({5, 9, 1}, {0.6f, -0.8f, 0});
  aside.start = at.picture.start;
  why = at.kit.ask(at.thing, aside);
  EXPECT_EQ(why.portal_stop, PortalStop::rectangle);
  EXPECT_EQ(why.seen_node, at.node(2));
  CullShape beyond = picture_at({15, 0, 1}, {1, 0, 0});
  beyond.start = at.picture.start;
  EXPECT_EQ(at.kit.ask(at.thing, beyond).portal_stop, PortalStop::wrong_side);
  CullShape blind = at.picture;
  blind.flags &= ~uint32_t{kCullTraversePortals};
  blind.flags &= ~uint32_t{kCullClipAndStorePortals};
  blind.quad_store = kNoQuadStore;
  EXPECT_EQ(at.kit.ask(at.thing, blind).portal_stop, PortalStop::no_traversal);
  blind.flags &= ~uint32_t{kCullRenderInterior};
  EXPECT_EQ(at.kit.ask(at.thing, blind).cause, Cause::interior_not_asked_for);
}

TEST(ScanExplain, BesideWhatADoorShowsOfARoom) {
  House at;
  // Through the first door, from 5 m before it, one sees 1 m to each side there, so 3 m at x = 20.
  const SceneSlot in_room = at.kit.add(cube_at({19, 6, 1}), &at.kit.world.room(at.house, 2));
  const VisibilityReason why = at.kit.ask(in_room, at.picture);
  EXPECT_EQ(why.cause, Cause::quad);
  EXPECT_EQ(why.index, 0u);  // left
  // Its nearest corner is (20, 5): of the side y = (x - 5) / 5 it is 2 m off, times cos of the slope.
  EXPECT_NEAR(why.outside, 2 * 5 / std::sqrt(26.0), 0.01);
}

TEST(ScanExplain, InteriorsFromOutside) {
  House at;
  at.kit.world.add_portal(at.house, 0, 1, test::wall_x(0, -1, 1, 0, 2));
  const SceneSlot in_room = at.kit.add(cube_at({5, 0, 1}), &at.kit.world.room(at.house, 1));
  CullShape street = picture_at({-20, 0, 1}, {1, 0, 0});
  EXPECT_EQ(at.kit.ask(in_room, street).cause, Cause::visible);
  const int16_t closed[] = {at.house.interior};
  ScanFrame frame;
  frame.closed_interiors = closed;
  EXPECT_EQ(at.kit.ask(in_room, street, frame).portal_stop, PortalStop::interior_closed);
  EXPECT_EQ(at.kit.ask(in_room, picture_at({-20, 0, 1}, {-1, 0, 0})).portal_stop, PortalStop::no_entrance);
  ASSERT_TRUE(at.kit.graph().set_enabled(at.kit.world.room(at.house, 1), false).ok());
  EXPECT_EQ(at.kit.ask(in_room, street).cause, Cause::not_in_world);
  EXPECT_EQ(at.kit.ask(at.thing, street).portal_stop, PortalStop::room_off);

  // The outside, from a room without a way out: what stands there, and a height map of it.
  House shut;
  const SceneSlot tree = shut.kit.add(cube_at({5, 40, 0}));
  VisibilityReason why = shut.kit.ask(tree, shut.picture);
  EXPECT_EQ(why.cause, Cause::node_not_seen);
  EXPECT_EQ(why.portal_stop, PortalStop::no_way);
  EXPECT_EQ(why.node, 0);
  CullShape map = test::sphere_at(4, {5, 40, 0}, 10);
  map.flags |= kCullHeightMap;
  shut.kit.run({}, {shut.picture, map});
  EXPECT_EQ(explain_visibility(shut.kit.scan, 1, tree).cause, Cause::exterior_not_in_picture);
  CullShape follower = test::sphere_at(4, {5, 40, 0}, 10);
  follower.flags |= kCullOnlyIfPrimaryRenders;
  shut.kit.run({}, {shut.picture, follower});
  EXPECT_EQ(explain_visibility(shut.kit.scan, 1, tree).cause, Cause::only_if_primary_renders);
  follower.flags &= ~uint32_t{kCullOnlyIfPrimaryRenders | kCullRenderExterior};
  shut.kit.run({}, {shut.picture, follower});
  EXPECT_EQ(explain_visibility(shut.kit.scan, 1, tree).cause, Cause::exterior_not_asked_for);
}

TEST(ScanExplain, AskedTooEarlyOrOfNothing) {
  ExplainKit kit;
  const SceneSlot at = kit.add(cube_at({0, 50, 0}));
  test::BrokenContracts contracts;
  EXPECT_EQ(explain_visibility(kit.scan, 0, at).cause, Cause::no_scan);
  EXPECT_TRUE(test::broke(contracts));
  kit.run({}, {ahead()});
  EXPECT_EQ(explain_visibility(kit.scan, 1, at).cause, Cause::no_scan);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(explain_visibility(kit.scan, 0, at).cause, Cause::visible);
  EXPECT_EQ(explain_visibility(kit.scan, 0, SceneSlot{}).cause, Cause::not_in_world);
  EXPECT_EQ(explain_visibility(kit.scan, 0, EntityHandle{.generation = 9, .slot = 9}).cause, Cause::not_in_world);
  EXPECT_EQ(explain_visibility(kit.scan, 0, EntityHandle{.generation = 1, .slot = 1}).cause, Cause::visible);
  ASSERT_TRUE(kit.scan.begin_frame({}).ok());
  EXPECT_EQ(explain_visibility(kit.scan, 0, at).cause, Cause::no_scan);
  EXPECT_TRUE(test::broke(contracts));
}

TEST(ScanExplain, TextIsCutToWhatFits) {
  VisibilityReason why;
  why.cause = Cause::occluded;
  why.occluder_count = 100;
  char line[256];
  const std::string whole = to_text(why, line);
  for (size_t room = 1; room < whole.size() + 2; ++room) {
    std::vector<char> text(room, 'x');
    EXPECT_EQ(to_text(why, text), whole.substr(0, room - 1)) << room;
  }
  std::map<std::string, uint32_t> words;
  for (uint32_t i = 0; i < kVisibilityCauses; ++i) ++words[to_string(static_cast<Cause>(i))];
  EXPECT_EQ(words.size(), kVisibilityCauses);
  EXPECT_STREQ(to_string(Cause::occluded), "occluded");
  EXPECT_STREQ(to_string(PortalStop::depth), "depth");
}

// --- any world -------------------------------------------------------------------------------------------

Vec3 place(Random& random, float reach) {
  return {random.between(-reach, reach), random.between(-reach, reach), random.between(-6.f, 12.f)};
}

EntityDesc random_entity(Random& random) {
  EntityDesc d = cube_at(place(random, 90));
  d.half = {random.between(0.f, 4.f), random.between(0.f, 4.f), random.between(0.f, 4.f)};
  d.pivot = d.centre + (random.chance(0.7f) ? Vec3{} : place(random, 20));
  d.distance = random.chance(0.3f) ? random.between(1.f, 40.f) : random.between(40.f, 300.f);
  if (random.chance(0.2f)) d.mask = static_cast<uint16_t>(random.below(128));
  d.type = random.chance(0.2f) ? EntityClass::grass_batch : static_cast<EntityClass>(random.below(8));
  d.level = static_cast<uint8_t>(random.below(kLodLevels));
  d.alpha = static_cast<uint8_t>(random.chance(0.8f) ? 255 : random.below(3));
  if (random.chance(0.1f)) d.flags &= ~uint32_t{kDescActive};
  if (random.chance(0.1f)) d.flags |= kDescHidden;
  if (random.chance(0.5f)) d.flags |= kDescMaybeInCullBox;
  return d;
}

void fill(ExplainKit& kit, Random& random, std::vector<RoomNode*>& rooms) {
  SceneGraph& graph = kit.graph();
  for (int i = 0; i < 30; ++i)
    kit.add(random_entity(random), nullptr, random.chance(0.5f) ? ContainerUse::placed : ContainerUse::dynamic);
  for (int i = 0; i < 4; ++i) kit.add(random_entity(random), nullptr, ContainerUse::straddling);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(graph.set_light(kit.next_handle(), random_entity(random)).ok());
  for (int n = 0; n < 3; ++n) {
    StreamedNode& node = kit.add_node();
    std::vector<EntityDesc> set(1 + random.below(5));
    for (EntityDesc& desc : set)
      if (random.chance(0.9f)) desc = random_entity(random);
    const LodLinkRow row{.pivot = place(random, 60), .distance = random.between(5.f, 120.f)};
    const uint32_t id = kit.add_set(std::move(set), row, node);
    ASSERT_TRUE(kit.sets.set_ready(id, random.chance(0.6f)).ok());
    for (int i = 0; i < 15; ++i) kit.add(random_entity(random), &node);
    ASSERT_TRUE(graph.set_enabled(node, random.chance(0.9f)).ok());
  }
  ASSERT_TRUE(kit.sets.update(1).ok());
  for (int h = 0; h < 2; ++h) {
    InteriorNode& house = kit.world.add_interior(4);
    for (uint32_t r = 0; r <= 4; ++r) {
      RoomNode& room = kit.world.room(house, r);
      if (random.chance(0.1f)) room.room_flags = static_cast<uint32_t>(schema::RoomFlags::dont_render_exterior);
      if (random.chance(0.2f)) room.exterior_visibility_depth = static_cast<int32_t>(random.below(2));
      for (int i = 0; i < 4; ++i) kit.add(random_entity(random), &room);
      if (r != 0) rooms.push_back(&room);
    }
    for (int p = 0; p < 6; ++p) {
      const float x = random.between(-60.f, 60.f), y = random.between(-60.f, 60.f), w = random.between(2.f, 25.f);
      const test::Corners door = random.chance(0.5f) ? test::wall_x(x, y - w, y + w, -6, random.between(2.f, 12.f))
                                                     : test::wall_y(y, x - w, x + w, -6, random.between(2.f, 12.f));
      const uint32_t flags = random.chance(0.1f) ? test::portal_flags({schema::PortalFlags::one_way}) : 0;
      PortalNode& portal = kit.world.add_portal(house, random.below(5), random.below(5),
                                                random.chance(0.5f) ? test::turned(door) : door, flags);
      ASSERT_TRUE(graph.set_closed(portal, random.chance(0.1f)).ok());
      for (int i = 0; i < 2; ++i) kit.add(random_entity(random), &portal);
      ASSERT_TRUE(graph.set_enabled(portal, random.chance(0.9f)).ok());
    }
    if (random.chance(0.2f)) {
      ASSERT_TRUE(graph.set_enabled(kit.world.room(house, 1 + random.below(4)), false).ok());
    }
  }
  for (uint32_t i = 0; i < 12; ++i) {
    const OccludingBox box{.centre = place(random, 60),
                           .half = {random.between(1.f, 15.f), random.between(0.1f, 2.f), random.between(2.f, 15.f)}};
    ASSERT_TRUE(kit.occluders.add_box({.imap = 3, .index = i}, box).ok());
  }
}

CullShape random_shape(Random& random, uint8_t phase, const Vec3& camera, const Vec3& forward) {
  CullShape out = random.chance(0.6f) ? test::frustum_at(phase, camera, forward)
                                      : test::sphere_at(phase, place(random, 40), random.between(5.f, 80.f));
  if ((out.flags & kCullUseSphere) != 0 && random.chance(0.3f)) {  // either of two volumes
    const CullShape other = test::frustum_at(phase, camera, forward);
    std::copy(std::begin(other.planes), std::end(other.planes), out.planes);
    out.plane_count = other.plane_count;
    out.flags |= kCullUseFrustum;
  }
  if ((out.flags & kCullUseSphere) != 0 && random.chance(0.4f)) {
    out.flags |= kCullReflections;
    out.interior_centre = place(random, 30);
    out.interior_radius = random.between(0.f, 60.f);
  }
  const auto maybe = [&](float part, uint32_t flag) { out.flags ^= random.chance(part) ? flag : 0; };
  maybe(0.1f, kCullRenderExterior);
  maybe(0.1f, kCullRenderInterior);
  maybe(0.2f, kCullTraversePortals);
  maybe(0.1f, kCullTraverseDisabledPortals);
  maybe(0.2f, kCullOnlyIfPrimaryRenders);
  maybe(0.2f, kCullCascadeShadows);
  maybe(0.1f, kCullHeightMap);
  if (random.chance(0.3f)) out.visibility = static_cast<VisibilityType>(1 + random.below(6));
  if (random.chance(0.2f)) out.types = random.next();
  if (random.chance(0.2f)) out.levels = random.below(128);
  if (random.chance(0.2f)) out.ranges[random.below(kLodLevels)] = {random.between(0.f, 30.f), 60};
  if (random.chance(0.2f)) out.caps[random.below(3)] = {random.below(256), random.between(5.f, 80.f)};
  if (random.chance(0.2f)) {
    out.flags |= kCullOnlyStreamEntities;
    out.lod.camera = place(random, 60);
    out.lod.pre_stream = random.between(0.f, 20.f);
  }
  return out;
}

TEST(ScanExplainRandom, ItSaysWhatTheScanFound) {  // SCAN-6, SCAN-7
  std::map<Cause, uint32_t> causes;
  std::map<PortalStop, uint32_t> stops;
  uint64_t pairs = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    ExplainKit kit;
    std::vector<RoomNode*> rooms;
    fill(kit, random, rooms);
    for (int view = 0; view < 3 && !testing::Test::HasFailure(); ++view) {
      const Vec3 camera = place(random, 40);
      const Vec3 forward = random.chance(0.5f) ? Vec3{0.6f, 0.8f, 0} : Vec3{-1, 0, 0};
      const Vec3 right{forward.y, -forward.x, 0};
      const RoomNode* start = random.chance(0.6f) ? rooms[random.below(static_cast<uint32_t>(rooms.size()))] : nullptr;
      if (start != nullptr && !start->is_in_world()) start = nullptr;
      const OcclusionView seen{.position = camera, .right = right, .forward = forward, .near_distance = 0.1f};
      ASSERT_TRUE(kit.picture.rasterise(kit.occluders, seen, kit.jobs).ok());

      std::vector<CullShape> shapes;
      CullShape primary = picture_at(camera, forward);
      primary.start = start;
      if (random.chance(0.9f)) shapes.push_back(primary);
      CullShape mirror = test::mirrored(primary, {{0, 0, 1}, 20}, 1, 1);
      if (random.chance(0.5f)) shapes.push_back(mirror);
      for (uint8_t phase = 2; phase < 6; ++phase) {
        CullShape shape = random_shape(random, phase, camera, forward);
        if (random.chance(0.7f)) shape.start = start;
        shapes.push_back(shape);
      }
      for (CullShape& shape : shapes) {
        if (random.chance(0.4f)) continue;
        shape.flags |= kCullUseOcclusion;
        shape.occlusion_buffer = 0;
        if (random.chance(0.2f)) shape.never_occluded = random.below(256);
      }
      const CullWindow windows[] = {
          {.box = {{-30, -30, -30}, {10, 10, 30}}, .min = random.between(0.f, 30.f), .max = 60},
          {.box = {{0, 0, -30}, {50, 50, 30}}, .min = 0, .max = random.between(20.f, 60.f)}};
      const int16_t closed[] = {static_cast<int16_t>(random.below(3))};
      ScanFrame frame;
      frame.lod.camera = random.chance(0.7f) ? camera : place(random, 60);
      for (float& scale : frame.lod.scales) scale = random.between(0.5f, 1.5f);
      frame.lod.default_scale = random.between(0.5f, 1.5f);
      frame.lod.grass_scale = random.between(0.5f, 1.5f);
      frame.lod.pre_stream = random.between(0.f, 40.f);
      if (random.chance(0.5f)) frame.windows = windows;
      if (random.chance(0.3f)) frame.closed_interiors = closed;
      if (random.chance(0.8f)) frame.occlusion[0] = &kit.picture;
      if (random.chance(0.2f)) frame.level_filter = random.below(128);
      if (random.chance(0.2f)) frame.stream_filter = random.below(128);
      kit.run(frame, shapes);

      const ContainerTable& table = kit.graph().containers();
      for (uint32_t c = 0; c < table.views.size(); ++c) {
        for (uint32_t slot = 0; slot < table.views[c].slots; ++slot) {
          const bool is_map = table.views[c].handles == nullptr;
          if (is_map ? desc_lanes(table.views[c]).entity[slot] == kNoEntity : !kit.graph().is_used({c, slot})) continue;
          const EntityHandle entity = entity_in(table.views[c], slot);
          const auto entry = kit.entries.find(entity.slot);
          for (uint32_t s = 0; s < kit.scan.shape_count(); ++s) {
            const CullShape& shape = kit.scan.shape(s);
            const VisibilityReason why = explain_visibility(kit.scan, s, SceneSlot{c, slot}, &kit.occluders);
            const bool has_entry = entry != kit.entries.end();
            const bool is_visible = has_entry && (entry->second.visible_phases >> shape.phase & 1) != 0;
            const bool is_wanted = has_entry && (entry->second.stream_phases >> shape.phase & 1) != 0;
            ASSERT_EQ(why.is_visible, is_visible) << "view " << view << ": " << kit.text(why);
            ASSERT_EQ(why.is_wanted, is_wanted) << "view " << view << ": " << kit.text(why);
            ASSERT_EQ(why.entity, entity);
            if (is_wanted && (shape.flags & kCullOnlyStreamEntities) == 0) {
              ASSERT_EQ(why.distance, entry->second.distance);
              ASSERT_EQ(why.alpha, entry->second.alpha);
            }
            if (why.cause == Cause::occluded) {
              ASSERT_GT(why.occluder_count, 0u);
            }
            ++causes[why.cause];
            if (why.cause == Cause::node_not_seen) ++stops[why.portal_stop];
            ++pairs;
          }
        }
      }
    }
  }
  EXPECT_GT(pairs, 100000u);
  for (uint32_t i = 0; i < kVisibilityCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (cause == Cause::no_scan) continue;
    EXPECT_GT(causes[cause], 0u) << to_string(cause) << " was never the reason: the worlds are too plain";
  }
  for (uint32_t i = static_cast<uint32_t>(PortalStop::no_way); i <= static_cast<uint32_t>(PortalStop::depth); ++i)
    EXPECT_GT(stops[static_cast<PortalStop>(i)], 0u) << to_string(static_cast<PortalStop>(i));
}

}  // namespace
}  // namespace meridian
