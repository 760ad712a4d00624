// SPDX-License-Identifier: MIT
// BOX-1 to BOX-5, STR-6, P070, P071: by hand.
#include "meridian/stream/box_streamer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/box_streamer_kit.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

using test::kNoBox;
using test::RecordingTarget;
using test::StreamCall;
using test::StreamTree;
using Calls = std::vector<StreamCall>;

constexpr float kFrame = 1 / 60.0f;

Aabb cube(float x, float half) { return {{x - half, -half, -half}, {x + half, half, half}}; }

StreamSource at(float x, float velocity = 0) {
  StreamSource out;
  out.id = 7;
  out.position = {x, 0, 0};
  out.velocity = {velocity, 0, 0};
  return out;
}

class BoxStreamerTest : public testing::Test {
 protected:
  static constexpr uint32_t kCapacity = 100;

  void start(BoxStreamerConfig config = {}) {
    config.capacity = kCapacity;
    ASSERT_TRUE(streamer.init(config, target, memory).ok());
  }
  BoxTreeId add(StreamTree& tree) {
    const Result<BoxTreeId> id = streamer.add_tree(tree.layer());
    EXPECT_TRUE(id.ok()) << id.status().message;
    return id.value();
  }
  Calls update(const std::vector<StreamSource>& sources, const std::vector<StreamSearch>& searches = {},
               float seconds = kFrame) {
    EXPECT_TRUE(streamer.update(sources, searches, seconds).ok());
    return target.take();
  }
  Calls update(float x, float seconds = kFrame) { return update({at(x)}, {}, seconds); }

  test::CheckedMemory memory;
  RecordingTarget target{kCapacity};
  BoxStreamer streamer;
};

TEST_F(BoxStreamerTest, BOX1_MemoryIs40BytesASlot) {
  test::CheckedMemory small_memory, large_memory;
  BoxStreamer small, large;
  ASSERT_TRUE(small.init({.capacity = 1000}, target, small_memory).ok());
  ASSERT_TRUE(large.init({.capacity = 9000}, target, large_memory).ok());
  EXPECT_EQ(large_memory.bytes() - small_memory.bytes(), 8000u * 40);  // of which state and asset are 2
}

TEST_F(BoxStreamerTest, BOX2_RequestsWhatItIsInsideOfOnceAndKeepsSilent) {
  start();
  StreamTree tree;
  tree.add(3, cube(0, 100));
  tree.add(4, cube(500, 100));
  tree.add(kNoStreamSlot, cube(0, 100));
  add(tree);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 3}}));
  EXPECT_TRUE(streamer.is_required(3));
  EXPECT_FALSE(streamer.is_required(4));
  EXPECT_EQ(update(10), Calls{});  // in flight
  streamer.set_in_world(3, true);
  EXPECT_EQ(update(20), Calls{});
  EXPECT_EQ(update(100), Calls{});  // on its border
  EXPECT_EQ(streamer.stats().requested, 1u);
  EXPECT_EQ(streamer.stats().required, 1u);
}

TEST_F(BoxStreamerTest, BOX2_WhatIsThereAlreadyIsOnlyKept) {
  start();
  StreamTree tree;
  for (const uint32_t slot : {3u, 4u}) tree.add(slot, cube(0, 100));
  add(tree);
  target.set_idle(3, false);  // somebody else loads it
  streamer.set_in_world(4, true);
  target.set_idle(4, false);
  EXPECT_EQ(update(0), (Calls{{StreamCall::keep, 3}, {StreamCall::keep, 4}}));
  EXPECT_EQ(streamer.stats().kept, 2u);
  EXPECT_EQ(streamer.stats().waiting, 1u);
}

TEST_F(BoxStreamerTest, BOX2_WhatIsWantedAndIdleIsRequestedOnEveryUpdate) {
  start();
  StreamTree tree;
  tree.add(3, cube(0, 100));
  add(tree);
  EXPECT_EQ(update(0).size(), 1u);
  for (int i = 0; i < 3; ++i) {
    target.set_idle(3, true);  // it failed
    EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 3}}));
  }
  EXPECT_EQ(update(0), Calls{});
  streamer.set_in_world(3, true);
  EXPECT_EQ(update(0), Calls{});
  streamer.set_in_world(3, false);  // it was taken away
  target.set_idle(3, true);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 3}}));
  EXPECT_EQ(streamer.stats().again, 4u);
  // What only lingers is not.
  EXPECT_EQ(update(110), Calls{});
  target.set_idle(3, true);
  EXPECT_EQ(update(110), Calls{});
  EXPECT_EQ(update(100), (Calls{{StreamCall::request_first, 3}}));  // wanted again
}

TEST_F(BoxStreamerTest, BOX2_OrderIsPriorityThenDistanceThenSlot) {
  start();
  StreamTree tree;
  const auto content = [](float x) { return Aabb{{x, 0, 0}, {x + 1, 1, 1}}; };
  tree.add(1, cube(0, 900), content(300));
  tree.add(2, cube(0, 900), content(60));  // exactly within 60 m
  tree.add(3, cube(0, 900), content(61));
  tree.add(4, cube(0, 900), content(61));
  tree.add(5, cube(0, 900), content(35), BoxAsset::metadata);  // beyond 30 m
  tree.add(6, cube(0, 900), content(30), BoxAsset::metadata);
  tree.add(7, cube(0, 900), kNoBox);  // its range counts: distance 0
  add(tree);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 7},
                              {StreamCall::request_first, 6},
                              {StreamCall::request_first, 2},
                              {StreamCall::request, 5},
                              {StreamCall::request, 3},
                              {StreamCall::request, 4},
                              {StreamCall::request, 1}}));
  EXPECT_EQ(streamer.distance(1), 300);
  EXPECT_EQ(streamer.distance(7), 0);
  EXPECT_EQ(streamer.distance(50), std::numeric_limits<float>::infinity());
  // Twice as heavy seems half as far; the nearest source counts.
  StreamSource heavy = at(100);
  heavy.weight = 4;
  update({at(0), heavy});
  EXPECT_EQ(streamer.distance(1), 50);
  EXPECT_EQ(streamer.distance(2), 9.75f);  // (100 - 61) / 4
  update(std::vector<StreamSource>());
  EXPECT_EQ(streamer.distance(1), std::numeric_limits<float>::infinity());
}

TEST_F(BoxStreamerTest, BOX2_PreStreamDistanceIsByKindOfAsset) {
  start();
  StreamTree tree;
  tree.add(1, cube(0, 100), BoxAsset::map_high);
  tree.add(2, cube(0, 100), BoxAsset::metadata);
  add(tree);
  EXPECT_EQ(update(151), Calls{});
  EXPECT_EQ(update(150), (Calls{{StreamCall::request, 2}}));
  EXPECT_EQ(update(100), (Calls{{StreamCall::request_first, 1}}));
  StreamSource wide = at(-175);
  wide.radius = 25;
  BoxStreamer other;
  ASSERT_TRUE(other.init({.capacity = kCapacity}, target, memory).ok());
  ASSERT_TRUE(other.add_tree(tree.layer()).ok());
  ASSERT_TRUE(other.update({&wide, 1}, {}, 0).ok());
  EXPECT_FALSE(other.is_required(1));
  EXPECT_TRUE(other.is_required(2));  // 75 m = 25 + 50
}

TEST_F(BoxStreamerTest, BOX2_SearchesHaveShapesKindsAndViews) {
  start();
  StreamTree tree;
  tree.add(1, cube(0, 10), BoxAsset::map_high);
  tree.add(2, cube(0, 10), BoxAsset::map_low);
  tree.add(3, cube(100, 10), BoxAsset::map_high);
  tree.add(4, cube(200, 10), BoxAsset::map_low);
  add(tree);
  const auto required = [&] {
    std::vector<uint32_t> out;
    for (uint32_t slot = 0; slot < kCapacity; ++slot)
      if (streamer.is_required(slot)) out.push_back(slot);
    return out;
  };
  using Slots = std::vector<uint32_t>;
  StreamSearch high = stream_sphere({0, 0, 0}, 300);
  high.assets = box_asset_bit(BoxAsset::map_high);
  update({}, {high});
  EXPECT_EQ(required(), (Slots{1, 3}));
  update({}, {stream_box({{20, -1, -1}, {90, 1, 1}})});
  EXPECT_EQ(required(), (Slots{3}));
  update({}, {stream_segment({0, 30, 0}, {90, 30, 0}, 20)});  // beside both, grown
  EXPECT_EQ(required(), (Slots{1, 2, 3}));
  update({}, {stream_segment({0, 31, 0}, {90, 31, 0}, 20)});
  EXPECT_EQ(required(), (Slots{}));
  StreamSearch ahead = stream_sphere({50, 0, 0}, 300);
  ahead.view = {2, 0, 0};
  update({}, {ahead});
  EXPECT_EQ(required(), (Slots{3, 4}));
  ahead.a.x = 210;  // touches what is not behind
  update({}, {ahead});
  EXPECT_EQ(required(), (Slots{4}));
  ahead.view = {-1, 0, 0};
  update({}, {ahead});
  EXPECT_EQ(required(), (Slots{1, 2, 3, 4}));
  ahead = stream_box({{-50, -50, -50}, {250, 50, 50}});  // its centre is at 100
  ahead.view = {1, 0, 0};
  ahead.assets = box_asset_bit(BoxAsset::map_low);
  update({}, {ahead, high});
  EXPECT_EQ(required(), (Slots{1, 3, 4}));
  EXPECT_EQ(streamer.why(4).reason, BoxReason::search);
  EXPECT_EQ(streamer.why(4).id, 0u);
  EXPECT_EQ(streamer.why(3).id, 1u);
}

TEST_F(BoxStreamerTest, BOX3_RangeSaysWhenAndContentSaysHowFar) {
  start();
  StreamTree tree;
  tree.add(1, cube(0, 200), cube(150, 10));
  add(tree);
  EXPECT_EQ(update(-199), (Calls{{StreamCall::request, 1}}));
  EXPECT_EQ(streamer.distance(1), 339);
}

TEST_F(BoxStreamerTest, BOX4_IgnoredSlotsAreNeverWantedAndReleasedAtOnce) {
  start({.ignores_all = true});
  StreamTree tree;
  for (const uint32_t slot : {1u, 2u}) tree.add(slot, cube(0, 100));
  add(tree);
  EXPECT_EQ(update(0), Calls{});
  EXPECT_EQ(streamer.why(1).reason, BoxReason::ignored);
  streamer.ignore(1, false);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 1}}));
  streamer.ignore(1, true);
  EXPECT_EQ(update(0), (Calls{{StreamCall::release, 1}}));
  EXPECT_FALSE(streamer.is_held(1));
  EXPECT_TRUE(streamer.is_ignored(2));
}

// BOX-4
TEST_F(BoxStreamerTest, BOX4_LockedSlotsAreAlwaysWantedAlsoWithoutABox) {
  start();
  StreamTree tree;
  tree.add(1, cube(1000, 100));
  add(tree);
  streamer.lock_in(1, true);
  streamer.lock_in(2, true);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 1}, {StreamCall::request_first, 2}}));
  EXPECT_EQ(streamer.distance(2), 0);
  EXPECT_EQ(streamer.why(2).reason, BoxReason::locked);
  EXPECT_EQ(update(1000), Calls{});
  streamer.lock_in(1, false);
  streamer.lock_in(2, false);
  EXPECT_EQ(update(1000), (Calls{{StreamCall::release, 2}}));
  EXPECT_EQ(streamer.why(1).reason, BoxReason::source);
  streamer.lock_in(1, true);
  streamer.ignore(1, true);
  EXPECT_EQ(update(1000), (Calls{{StreamCall::release, 1}}));
}

TEST_F(BoxStreamerTest, BOX5_ReleasesBeyondTheMarginAndAfterItsResidence) {
  start();
  StreamTree tree;
  tree.add(1, cube(0, 100));
  add(tree);
  EXPECT_EQ(update(0, 0).size(), 1u);
  EXPECT_EQ(update(121, 1), Calls{});  // 1 s of 2
  EXPECT_EQ(streamer.why(1).reason, BoxReason::lingering);
  EXPECT_EQ(streamer.why(1).seconds_left, 1);
  EXPECT_FALSE(streamer.is_required(1));
  EXPECT_TRUE(streamer.is_held(1));
  EXPECT_EQ(streamer.stats().lingering, 1u);
  EXPECT_EQ(update(121, 0.5f), Calls{});
  EXPECT_EQ(update(121, 0.5f), (Calls{{StreamCall::release, 1}}));
  EXPECT_EQ(streamer.why(1).reason, BoxReason::not_required);

  EXPECT_EQ(update(0, 0), (Calls{{StreamCall::keep, 1}}));  // it is still there
  EXPECT_EQ(update(120, 100), Calls{});                     // within 20 m for ever
  EXPECT_EQ(update(120, 100), Calls{});
  EXPECT_EQ(streamer.why(1).seconds_left, 0);
  EXPECT_EQ(update(100, 0), Calls{});  // wanted again, told nothing
  EXPECT_TRUE(streamer.is_required(1));
  EXPECT_EQ(update(500, 1), Calls{});  // counts from when it was wanted again
  EXPECT_EQ(update(500, 1), (Calls{{StreamCall::release, 1}}));
  EXPECT_EQ(streamer.stats().released, 2u);
}

TEST_F(BoxStreamerTest, BOX5_LooksAheadAlongTheVelocity) {
  start();
  StreamTree tree;
  tree.add(1, cube(200, 100));
  add(tree);
  EXPECT_EQ(update({at(0, 39)}), Calls{});  // 97.5 m
  EXPECT_EQ(update({at(0, -80)}), Calls{});
  EXPECT_EQ(update({at(0, 40)}), (Calls{{StreamCall::request, 1}}));
  EXPECT_EQ(streamer.why(1).reason, BoxReason::look_ahead);
  EXPECT_EQ(streamer.why(1).id, 7u);
  // What is no longer than 1 m is not followed.
  BoxStreamer other;
  ASSERT_TRUE(other.init({.capacity = kCapacity}, target, memory).ok());
  ASSERT_TRUE(other.add_tree(tree.layer()).ok());
  StreamSource slow = at(99.5f, 0.375f);
  ASSERT_TRUE(other.update({&slow, 1}, {}, 0).ok());
  EXPECT_FALSE(other.is_required(1));
  slow.velocity.x = 0.5f;
  ASSERT_TRUE(other.update({&slow, 1}, {}, 0).ok());
  EXPECT_TRUE(other.is_required(1));
}

TEST_F(BoxStreamerTest, P070_OscillatingAtABorderLoadsOnce) {
  start();
  StreamTree tree;
  tree.add(1, {{0, -50, -50}, {100, 50, 50}});
  add(tree);
  size_t calls = 0;
  for (int i = 0; i < 10'000; ++i) {
    const float phase = static_cast<float>(i) * 0.37f;
    StreamSource camera = at(5 * std::sin(phase), 5 * std::cos(phase));
    calls += update({camera}).size();
    if (i == 10) streamer.set_in_world(1, true);
  }
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(streamer.stats().requested, 1u);
  EXPECT_EQ(streamer.stats().released, 0u);
}

TEST_F(BoxStreamerTest, P071_ResidentMeansThatEverythingAroundIsInTheWorld) {
  start();
  StreamTree tree;
  tree.add(1, cube(0, 100), cube(0, 1));
  tree.add(2, cube(150, 100), cube(150, 1));
  tree.add(3, cube(0, 100), cube(0, 1));
  add(tree);
  const Aabb goal = cube(60, 5);
  streamer.ignore(3, true);
  EXPECT_FALSE(streamer.is_resident(goal));
  EXPECT_TRUE(streamer.is_resident(cube(-500, 5)));
  const Result<PinId> pin = streamer.pin(goal);  // before the jump
  ASSERT_TRUE(pin.ok());
  EXPECT_EQ(update(-1000).size(), 2u);
  EXPECT_EQ(streamer.why(1).reason, BoxReason::pin);
  EXPECT_FALSE(streamer.is_resident(goal));
  streamer.set_in_world(1, true);
  EXPECT_FALSE(streamer.is_resident(goal));
  std::vector<uint32_t> missing;
  const StreamSlotVisitor note = [](void* user, uint32_t slot) {
    static_cast<std::vector<uint32_t>*>(user)->push_back(slot);
    return true;
  };
  streamer.for_each_missing(goal, note, &missing);
  EXPECT_EQ(missing, std::vector<uint32_t>{2});
  target.set_idle(2, true);  // it failed: still not resident, and tried again
  EXPECT_EQ(update(-1000), (Calls{{StreamCall::request_first, 2}}));
  EXPECT_FALSE(streamer.is_resident(goal));
  streamer.set_in_world(2, true);
  EXPECT_TRUE(streamer.is_resident(goal));
  EXPECT_EQ(update(-1000, 10), Calls{});  // held by the pin
  EXPECT_TRUE(streamer.set_box(9, cube(60, 1), kNoBox, BoxAsset::map_high).ok());
  EXPECT_FALSE(streamer.is_resident(goal));  // a dynamic box counts as well
  EXPECT_EQ(update(-1000), (Calls{{StreamCall::request_first, 9}}));
  streamer.unpin(pin.value());
  EXPECT_EQ(update(-1000, 10).size(), 3u);
  EXPECT_FALSE(streamer.is_held(1));
}

TEST_F(BoxStreamerTest, PinsAreFewAndCountedByGenerations) {
  start({.max_pins = 2});
  const Result<PinId> first = streamer.pin(cube(0, 1));
  ASSERT_TRUE(first.ok() && streamer.pin(cube(5, 1)).ok());
  EXPECT_EQ(streamer.pin(cube(9, 1)).status().code, StatusCode::out_of_slots);
  streamer.unpin(first.value());
  EXPECT_EQ(streamer.pin(kNoBox).status().code, StatusCode::bad_value);
  const Result<PinId> third = streamer.pin(cube(9, 1));
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(third.value() == first.value());
  test::BrokenContracts contracts;
  streamer.unpin(first.value());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(streamer.pin(cube(9, 1)).status().code, StatusCode::out_of_slots);  // nothing was taken out
}

TEST_F(BoxStreamerTest, STR6_LaterTreesMaskEarlierOnesUntilTheyGo) {
  start();
  StreamTree base, patch, removal;
  base.add(1, cube(0, 100));
  base.add(2, cube(0, 100));
  base.add(3, cube(0, 100));
  patch.add(2, cube(1000, 100), BoxAsset::map_low);
  removal.add(3, kNoBox);  // overridden by a map without contents
  const BoxTreeId base_id = add(base), patch_id = add(patch);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 1}, {StreamCall::request_first, 3}}));
  const BoxTreeId removal_id = add(removal);
  EXPECT_EQ(update(0), (Calls{{StreamCall::release, 3}}));
  EXPECT_EQ(streamer.why(3).reason, BoxReason::no_box);
  EXPECT_EQ(streamer.distance(2), 900);
  EXPECT_TRUE(streamer.is_resident(cube(1000, 1)) == false && streamer.is_resident(cube(500, 1)));
  streamer.remove_tree(patch_id);  // not the last one
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 2}}));
  EXPECT_EQ(streamer.distance(2), 0);
  target.set_idle(3, true);
  streamer.remove_tree(removal_id);
  EXPECT_EQ(update(0), (Calls{{StreamCall::request_first, 3}}));
  const BoxTreeId again = add(patch);  // what it was held for moves, it is held for a while
  EXPECT_EQ(update(0), Calls{});
  EXPECT_EQ(streamer.why(2).reason, BoxReason::lingering);
  streamer.remove_tree(base_id);
  EXPECT_EQ(update(0), (Calls{{StreamCall::release, 1}, {StreamCall::release, 3}}));
  EXPECT_EQ(update(1000), Calls{});
  EXPECT_TRUE(streamer.is_required(2));
  streamer.remove_tree(again);
  EXPECT_EQ(update(1000), (Calls{{StreamCall::release, 2}}));
  test::BrokenContracts contracts;
  streamer.remove_tree(again);
  EXPECT_TRUE(test::broke(contracts));
}

TEST_F(BoxStreamerTest, STR6_SameBoxInALaterTreeChangesNothing) {
  start();
  StreamTree base, patch;
  base.add(1, cube(0, 100));
  patch.add(1, cube(0, 100));
  add(base);
  EXPECT_EQ(update(0).size(), 1u);
  const BoxTreeId id = add(patch);
  EXPECT_EQ(update(0), Calls{});
  streamer.remove_tree(id);
  EXPECT_EQ(update(0), Calls{});
  EXPECT_TRUE(streamer.is_required(1));
}

TEST_F(BoxStreamerTest, BOX1_DynamicBoxReplacesTheStaticOneWhileItIsSet) {
  start({.max_dynamic_boxes = 20});
  StreamTree tree;
  tree.add(1, cube(0, 10));
  add(tree);
  EXPECT_EQ(update(0).size(), 1u);
  ASSERT_TRUE(streamer.set_box(1, cube(1000, 10), cube(1000, 5), BoxAsset::map_high).ok());
  EXPECT_EQ(update(0, 5), (Calls{{StreamCall::release, 1}}));
  EXPECT_EQ(streamer.distance(1), 995);
  for (int i = 0; i < 100; ++i) {  // it moves, and the source with it
    const float x = 1000 + 20 * static_cast<float>(i);
    ASSERT_TRUE(streamer.set_box(1, cube(x, 10), kNoBox, BoxAsset::map_high).ok());
    EXPECT_EQ(update(x).size(), i == 0 ? 1u : 0u);
    EXPECT_EQ(streamer.distance(1), 0);
  }
  StreamTree patch;
  patch.add(1, cube(-500, 10));
  add(patch);  // below what is set
  EXPECT_EQ(update(2980), Calls{});
  streamer.remove_box(1);
  streamer.remove_box(1);
  EXPECT_EQ(update(-500), Calls{});
  EXPECT_EQ(streamer.why(1).reason, BoxReason::source);
  for (uint32_t slot = 10; slot < 30; ++slot)
    EXPECT_TRUE(streamer.set_box(slot, cube(static_cast<float>(slot) * 100, 10), kNoBox, BoxAsset::map_low).ok());
  EXPECT_EQ(streamer.set_box(30, cube(0, 1), kNoBox, BoxAsset::map_low).code, StatusCode::out_of_slots);
  EXPECT_EQ(update({}, {stream_box({{1995, 0, 0}, {2215, 0, 0}})}, 0).size(), 3u);  // 20, 21, 22
  streamer.remove_box(20);
  EXPECT_EQ(update({}, {stream_box({{1995, 0, 0}, {2215, 0, 0}})}, 0), (Calls{{StreamCall::release, 20}}));
}

TEST_F(BoxStreamerTest, BadInputIsRefusedAndChangesNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(streamer.init({}, target, memory).code, StatusCode::bad_value);
  EXPECT_EQ(streamer.init({.capacity = 1, .release_margin = nan}, target, memory).code, StatusCode::bad_value);
  memory.fail_after(0);
  EXPECT_EQ(streamer.init({.capacity = 1}, target, memory).code, StatusCode::out_of_memory);
  memory.fail_after(-1);
  start({.max_trees = 1, .max_sources = 2, .max_searches = 1});
  StreamTree tree;
  tree.add(1, cube(0, 100));
  memory.fail_after(0);
  EXPECT_EQ(streamer.add_tree(tree.layer()).status().code, StatusCode::out_of_memory);
  memory.fail_after(-1);
  tree.add(1, cube(0, 100));
  EXPECT_EQ(streamer.add_tree(tree.layer()).status().detail, 1u);  // named twice
  tree.slots[1] = kCapacity;
  EXPECT_EQ(streamer.add_tree(tree.layer()).status().detail, 1u);
  tree.slots[1] = 2;
  tree.assets[1] = static_cast<BoxAsset>(8);
  EXPECT_EQ(streamer.add_tree(tree.layer()).status().detail, 1u);
  tree.assets.pop_back();
  EXPECT_EQ(streamer.add_tree(tree.layer()).status().code, StatusCode::bad_value);
  BoxTreeLayer by_call = tree.layer();
  by_call.assets = {};
  by_call.asset_of = [](const void* user, uint32_t item) {
    return item == 0 ? BoxAsset::map_high : *static_cast<const BoxAsset*>(user);
  };
  const BoxAsset second = BoxAsset::metadata;
  by_call.user = &second;
  EXPECT_TRUE(streamer.add_tree(by_call).ok());
  EXPECT_EQ(streamer.add_tree(by_call).status().code, StatusCode::out_of_slots);

  const auto refuses = [&](const std::vector<StreamSource>& sources, const std::vector<StreamSearch>& searches,
                           float seconds, StatusCode code) {
    const uint64_t updates = streamer.stats().updates;
    EXPECT_EQ(streamer.update(sources, searches, seconds).code, code);
    EXPECT_EQ(target.take(), Calls{});
    EXPECT_EQ(streamer.stats().updates, updates);
    EXPECT_EQ(streamer.distance(1), 25);  // from the source of the last good one
  };
  EXPECT_EQ(update(125).size(), 1u);  // metadata from 50 m
  StreamSource bad = at(0);
  for (float* const number : {&bad.position.y, &bad.velocity.z, &bad.radius, &bad.weight}) {
    for (const float value : {nan, infinite, -infinite}) {
      const float before = std::exchange(*number, value);
      refuses({at(0), bad}, {}, 1, StatusCode::bad_value);
      *number = before;
    }
  }
  bad.weight = 0;
  refuses({bad}, {}, 1, StatusCode::bad_value);
  refuses({at(0), at(0), at(0)}, {}, 1, StatusCode::too_large);
  refuses({at(0)}, {stream_sphere({}, 1), stream_sphere({}, 1)}, 1, StatusCode::too_large);
  refuses({at(0)}, {stream_sphere({0, nan, 0}, 1)}, 1, StatusCode::bad_value);
  refuses({at(0)}, {stream_sphere({0, 0, 0}, -1)}, 1, StatusCode::bad_value);
  refuses({at(0)}, {stream_box(kNoBox)}, 1, StatusCode::bad_value);
  refuses({at(0)}, {stream_segment({}, {infinite, 0, 0})}, 1, StatusCode::bad_value);
  refuses({at(0)}, {}, nan, StatusCode::bad_value);
  refuses({at(0)}, {}, -1, StatusCode::bad_value);
  EXPECT_EQ(streamer.set_box(1, kNoBox, kNoBox, BoxAsset::map_high).code, StatusCode::bad_value);
  EXPECT_EQ(streamer.set_box(1, cube(nan, 1), kNoBox, BoxAsset::map_high).code, StatusCode::bad_value);
  EXPECT_EQ(streamer.why(2).reason, BoxReason::source);
}

TEST_F(BoxStreamerTest, BrokenContractsAreHarmless) {
  start();
  test::BrokenContracts contracts;
  streamer.ignore(kCapacity, true);
  EXPECT_TRUE(test::broke(contracts));
  streamer.set_in_world(kCapacity, true);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(streamer.is_required(kCapacity));
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(streamer.distance(kCapacity), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(streamer.is_resident(kNoBox));
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(streamer.init({.capacity = 1}, target, memory).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
}

TEST_F(BoxStreamerTest, TargetMaySayDuringARequestThatItIsThere) {
  start();
  StreamTree tree;
  for (uint32_t slot = 0; slot < 50; ++slot) tree.add(slot, cube(0, 100));
  add(tree);
  target.loads_at_once = &streamer;
  EXPECT_EQ(update(0).size(), 50u);
  EXPECT_EQ(streamer.stats().waiting, 0u);
  EXPECT_TRUE(streamer.is_resident(cube(0, 1)));
  EXPECT_EQ(update(0), Calls{});
}

TEST_F(BoxStreamerTest, NothingIsAllocatedByUpdates) {  // PERF-2
  start();
  StreamTree tree;
  for (uint32_t slot = 0; slot < 90; ++slot)
    tree.add(slot, cube(static_cast<float>(slot) * 50, 60), slot % 3 == 0 ? BoxAsset::metadata : BoxAsset::map_high);
  add(tree);
  ASSERT_TRUE(streamer.set_box(95, cube(500, 300), kNoBox, BoxAsset::map_low).ok());
  const StreamSearch searches[] = {stream_sphere({3000, 0, 0}, 200), stream_segment({0, 0, 0}, {100, 0, 0}, 5)};
  target.calls.reserve(100'000);
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 1000; ++i) {
    const StreamSource source = at(4500 * std::fabs(std::sin(static_cast<float>(i))), 30);
    EXPECT_TRUE(streamer.update({&source, 1}, searches, 0.5f).ok());
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_GT(streamer.stats().released, 1000u);
}

TEST(BoxStreamer, ReasonsHaveWords) {
  EXPECT_STREQ(to_string(BoxReason::look_ahead), "look_ahead");
  EXPECT_STREQ(to_string(BoxReason::not_required), "not_required");
}

}  // namespace
}  // namespace meridian
