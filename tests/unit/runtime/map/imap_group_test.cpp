// SPDX-License-Identifier: MIT
// Groups of maps: MDS-2 (manual maps, hours and weathers), MDS-3 (swaps), P089, P064 (LOD parents of both sides).
// Random ones: map_reload_random_test.cpp.
#include <gtest/gtest.h>

#include "unit/runtime/map/reload_kit.h"

namespace meridian {
namespace {

using test::ReloadKit;
using test::Seen;

constexpr NameHash kBridge = hash_name("bridge"), kRuins = hash_name("ruins");
constexpr uint32_t kNight = 0x3Fu | 0x3Fu << 18;  // 18:00 to 6:00

/// A bridge of two maps that may become ruins of two, each large enough for several chunks, and a town that stays.
struct ImapGroupTest : testing::Test {
  ImapGroupTest() {
    kit.types({.name = "props", .archetypes = {{"stone"}, {"tower", 400}}});
    kit.map({.name = "town", .entities = {{"stone"}}});
    for (const char* const name : {"north", "south"}) kit.map({.name = name, .entities = stones(3)});
    for (const char* const name : {"east", "west"}) {
      kit.map({.name = name, .is_manual = true, .entities = stones(4)});
    }
    kit.group({.name = "bridge", .maps = {"north", "south"}});
    kit.group({.name = "ruins", .maps = {"east", "west"}});
  }
  static std::vector<test::MapText::Item> stones(int count) {
    std::vector<test::MapText::Item> out;
    for (int i = 0; i < count; ++i) out.push_back({"stone", {static_cast<float>(i), 0, 0}});
    return out;
  }
  void start(const test::ReloadConfig& config = {}) {
    kit.start(config);
    kit.settle();
  }
  MapGroups& groups() { return kit.streaming.groups(); }
  uint32_t begin(const SwapOptions& options = {}) {
    const Result<uint32_t> swap = kit.streaming.begin_swap(kBridge, kRuins, options);
    EXPECT_TRUE(swap.ok()) << swap.status().message;
    return swap.ok() ? swap.value() : MapGroups::kMaxSwaps;
  }
  /// Whole, or in ruins; never both, neither, or in parts.
  bool is_whole() {
    const Seen seen = kit.seen();
    if (seen == kWhole) return true;
    EXPECT_EQ(seen, kRuined);
    return false;
  }
  /// Updates one by one until the swap is over. How many that took.
  int until(uint32_t swap, SwapState state) {
    int updates = 0;
    for (; updates < 200 && groups().swap_state(swap) != state; ++updates) {
      kit.update();
      EXPECT_EQ(is_whole(), groups().swap_state(swap) != SwapState::swapped) << "update " << updates;
    }
    EXPECT_EQ(groups().swap_state(swap), state);
    return updates;
  }
  /// What went wrong leaves nothing of the ruins, and they may be tried again.
  void expect_as_before() {
    kit.settle();
    EXPECT_TRUE(is_whole());
    for (const char* const name : {"east", "west"}) {
      EXPECT_TRUE(kit.is_off(name, MapOff::manual)) << name;
      EXPECT_FALSE(kit.is_off(name, MapOff::swapped_out)) << name;
      EXPECT_FALSE(kit.streaming.maps().is_postponed(kit.slot(name))) << name;
      EXPECT_FALSE(kit.streaming.engine().is_kept(kit.index(name))) << name;
      EXPECT_EQ(kit.contents(name), nullptr) << name;
    }
    EXPECT_EQ(kit.maps.loaded_maps(), 3u);
  }

  const Seen kWhole{{"north", 1}, {"south", 1}, {"town", 1}}, kRuined{{"east", 1}, {"town", 1}, {"west", 1}};
  test::CapturedLog log;
  ReloadKit kit;
};

// --- MDS-2: manual maps, hours, weathers ---------------------------------------------------------------

TEST_F(ImapGroupTest, ManualMapsStreamWhileTheyAreActive) {
  start();
  EXPECT_EQ(kit.seen(), kWhole);
  EXPECT_TRUE(groups().set_active(hash_name("east"), true).ok());
  kit.settle();
  EXPECT_TRUE(kit.sees("east"));
  EXPECT_FALSE(kit.sees("west"));
  EXPECT_TRUE(groups().set_active(kRuins, true).ok());
  kit.settle();
  EXPECT_TRUE(kit.sees("east") && kit.sees("west"));
  EXPECT_TRUE(groups().set_active(kRuins, false).ok());
  kit.settle();
  EXPECT_EQ(kit.seen(), kWhole);
  EXPECT_EQ(groups().set_active(kBridge, false).code, StatusCode::bad_value);
  EXPECT_EQ(groups().set_active(hash_name("nowhere"), true).code, StatusCode::not_found);
  // By position only while they are active; a script's wish counts always.
  kit.streaming.engine().keep(kit.index("west"), StreamKeeper::script);
  kit.settle();
  EXPECT_TRUE(kit.sees("west"));
}

TEST_F(ImapGroupTest, GroupsFollowHoursAndWeathers) {
  kit.group({.name = "night", .maps = {"north"}, .hours = kNight});
  kit.group({.name = "snow", .maps = {"south"}, .weathers = {"SNOW", "BLIZZARD"}});
  kit.group({.name = "both", .maps = {"town"}, .hours = kNight, .weathers = {"SNOW"}});
  start();
  const auto expect = [&](const Seen& what) {
    kit.settle();
    EXPECT_EQ(kit.seen(), what) << groups().hour();
  };
  expect({});  // noon, no weather
  EXPECT_TRUE(kit.streaming.set_hour(18).ok());
  expect({{"north", 1}});
  kit.streaming.set_weather(hash_name("SNOW"));
  expect(kWhole);
  EXPECT_TRUE(kit.streaming.set_hour(6).ok());
  expect({{"south", 1}});
  kit.streaming.set_weather(hash_name("BLIZZARD"));
  EXPECT_TRUE(kit.streaming.set_hour(5).ok());
  expect({{"north", 1}, {"south", 1}});
  // Off is manual-only: who asks for it by name gets it.
  EXPECT_TRUE(kit.streaming.set_hour(12).ok());
  kit.streaming.engine().keep(kit.index("north"), StreamKeeper::script);
  expect({{"north", 1}, {"south", 1}});
  kit.streaming.engine().drop(kit.index("north"), StreamKeeper::script);
  expect({{"south", 1}});
}

// MAP-4: children that stay do not keep a parent that is off; they have it again when it is on.
TEST_F(ImapGroupTest, AParentThatIsOffIsNotKeptByItsChildren) {
  kit.map({.name = "far", .entities = {{"tower", {}, -1, 1, 80}}, .sets = {{0, 80, {{"near", 1}}}}});
  kit.map({.name = "near", .parent = "far", .entities = {{"stone", {1, 0, 0}, 0}}});
  kit.group({.name = "day", .maps = {"far"}, .hours = 1u << 12});
  start();
  for (int round = 0; round < 2; ++round) {
    kit.settle();
    EXPECT_TRUE(kit.sees("far") && kit.sees("near"));
    EXPECT_EQ(kit.contents("near")->parent(), kit.contents("far"));
    (void)kit.streaming.set_hour(13);
    kit.settle();
    EXPECT_TRUE(kit.sees("near"));
    EXPECT_FALSE(kit.sees("far"));
    EXPECT_EQ(kit.contents("near")->parent(), nullptr);
    (void)kit.streaming.set_hour(12);
  }
}

// A map is on while all of its groups are, in whatever order they stand.
TEST_F(ImapGroupTest, AMapOfSeveralGroupsIsOnWhileAllAre) {
  kit.group({.name = "a", .maps = {"north", "south"}, .hours = kNight});
  kit.group({.name = "b", .maps = {"north", "south"}, .weathers = {"SNOW"}});
  start();
  const auto is_on = [&] { return std::pair(kit.is_off("north", MapOff::group), kit.is_off("south", MapOff::group)); };
  EXPECT_EQ(is_on(), std::pair(true, true));
  (void)kit.streaming.set_hour(20);
  EXPECT_EQ(is_on(), std::pair(true, true));
  kit.streaming.set_weather(hash_name("SNOW"));
  EXPECT_EQ(is_on(), std::pair(false, false));
  (void)kit.streaming.set_hour(12);
  EXPECT_EQ(is_on(), std::pair(true, true));
}

// P089: a layer's group stands for that of the same name below it, and for nothing when it leaves.
TEST_F(ImapGroupTest, GroupsOfLayersComeAndGo) {
  kit.group({.name = "night", .maps = {"north"}, .hours = kNight});
  start();
  EXPECT_FALSE(kit.sees("north"));
  test::LayerText layer;
  layer.put(kit.base.maps.at("south"));
  layer.put(kit.base.maps.at("town"));
  layer.put(kit.base.types.at("props"));
  layer.groups.push_back({.name = "night", .maps = {"south"}, .hours = kNight});
  layer.groups.push_back({.name = "rain", .maps = {"town"}, .weathers = {"RAIN"}});
  const MountId mount = kit.mount(layer);
  kit.settle();
  EXPECT_EQ(kit.seen(), (Seen{{"north", 1}}));
  kit.unmount(mount);
  kit.settle();
  EXPECT_EQ(kit.seen(), (Seen{{"south", 1}, {"town", 1}}));
}

// --- MDS-3: swaps --------------------------------------------------------------------------------------

// Chunk by chunk, with reads that take their time: one side, at each update, and back again.
TEST_F(ImapGroupTest, ExactlyOneSideAtEachUpdate) {
  start();
  kit.max_chunks = 1;
  for (int round = 0; round < 2; ++round) {
    kit.io.holds = true;
    for (const char* const name : {"east", "west"}) kit.streaming.engine().reload(kit.index(name));  // cached bytes
    const uint32_t swap = begin();
    EXPECT_EQ(groups().swap_state(swap), SwapState::preloading);
    EXPECT_EQ(groups().swap_of(kit.slot("west")), swap);
    for (int i = 0; i < 5; ++i) {
      kit.update();
      EXPECT_TRUE(is_whole());
    }
    kit.io.finish(1);
    for (int i = 0; i < 5; ++i) {
      kit.update();
      EXPECT_TRUE(is_whole());
    }
    EXPECT_EQ(groups().swap_state(swap), SwapState::preloading) << "one of two is not there";
    kit.io.holds = false;
    until(swap, SwapState::swapped);
    EXPECT_FALSE(is_whole());
    EXPECT_TRUE(groups().end_swap(swap).ok());
    EXPECT_EQ(groups().swap_state(swap), SwapState::none);
    EXPECT_EQ(groups().swap_of(kit.slot("west")), MapGroups::kMaxSwaps);
    kit.settle(30);
    EXPECT_FALSE(is_whole());
    EXPECT_EQ(kit.contents("north"), nullptr) << "what was swapped out leaves";
    // Back.
    const Result<uint32_t> back = kit.streaming.begin_swap(kRuins, kBridge);
    ASSERT_TRUE(back.ok());
    for (int i = 0; i < 100 && groups().swap_state(back.value()) != SwapState::swapped; ++i) {
      EXPECT_FALSE(is_whole());
      kit.update();
    }
    EXPECT_TRUE(is_whole());
    EXPECT_TRUE(groups().end_swap(back.value()).ok());
    kit.settle(30);
    EXPECT_TRUE(is_whole());
    EXPECT_EQ(kit.maps.loaded_maps(), 3u);
  }
}

TEST_F(ImapGroupTest, SwapsBackBeforeTheOldSideHasLeft) {
  start();
  uint32_t swap = begin();
  until(swap, SwapState::swapped);
  (void)groups().end_swap(swap);
  const Result<uint32_t> back = kit.streaming.begin_swap(kRuins, kBridge);
  ASSERT_TRUE(back.ok());
  for (int i = 0; i < 20 && groups().swap_state(back.value()) != SwapState::swapped; ++i) {
    EXPECT_FALSE(is_whole());
    kit.update();
  }
  EXPECT_TRUE(is_whole());
  kit.settle();
  EXPECT_TRUE(is_whole());
}

// What is far away falls at once, and only what is near is waited for.
TEST_F(ImapGroupTest, FarFromTheCameraItSwapsAtOnce) {
  kit.camera.position = {5000, 0, 0};
  start();
  EXPECT_EQ(kit.seen(), Seen{});
  const uint32_t swap = begin();
  kit.update();
  kit.update();
  EXPECT_EQ(groups().swap_state(swap), SwapState::swapped);
  kit.camera.position = {};
  for (int i = 0; i < 12; ++i) {
    kit.update();
    EXPECT_FALSE(kit.sees("north") || kit.sees("south")) << i;
  }
  EXPECT_FALSE(is_whole());
}

// The camera comes while the swap waits: the bridge streams as ever, then it is swapped.
TEST_F(ImapGroupTest, TheCameraArrivesMeanwhile) {
  kit.camera.position = {5000, 0, 0};
  start();
  const uint32_t swap = begin({.waits = true});
  kit.settle(4);
  EXPECT_EQ(groups().swap_state(swap), SwapState::ready);
  kit.camera.position = {};
  kit.io.holds = true;
  kit.update();
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use) << "what was ready far away is not so here";
  kit.io.holds = false;
  for (int i = 0; i < 12; ++i) {
    kit.update();
    EXPECT_FALSE(kit.sees("east") || kit.sees("west")) << i;
  }
  EXPECT_TRUE(is_whole());
  EXPECT_EQ(groups().swap_state(swap), SwapState::ready);
  EXPECT_TRUE(groups().commit_swap(swap).ok());
  EXPECT_FALSE(is_whole());
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use) << "it is over";
}

TEST_F(ImapGroupTest, CommittedByHandAndNotUnderALock) {
  start();
  const uint32_t swap = begin({.waits = true});
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use);
  EXPECT_EQ(groups().end_swap(swap).code, StatusCode::in_use);
  until(swap, SwapState::ready);
  kit.settle();
  EXPECT_EQ(groups().swap_state(swap), SwapState::ready) << "it waits";
  EXPECT_EQ(kit.streaming.explain_map(hash_name("east")).reason, ExplainReason::not_swapped_in);
  EXPECT_EQ(kit.streaming.explain_map(hash_name("east")).number, swap);
  kit.world.lock();
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use);
  EXPECT_EQ(groups().abort_swap(swap).code, StatusCode::in_use);
  EXPECT_TRUE(is_whole());
  kit.world.unlock();
  kit.graph.lock();
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use);
  kit.graph.unlock();
  EXPECT_EQ(groups().swap_state(swap), SwapState::ready);
  EXPECT_TRUE(groups().commit_swap(swap).ok());
  EXPECT_FALSE(is_whole());
  EXPECT_EQ(groups().abort_swap(swap).code, StatusCode::in_use);
  EXPECT_TRUE(groups().end_swap(swap).ok());
  EXPECT_EQ(groups().abort_swap(swap).code, StatusCode::not_found);
  EXPECT_EQ(groups().end_swap(swap).code, StatusCode::not_found);
  kit.settle();
  EXPECT_EQ(kit.streaming.explain_map(hash_name("north")).reason, ExplainReason::swapped_out);
}

// In each state: asked for, being read, half placed, one of two there, ready.
TEST_F(ImapGroupTest, AbortedInEachState) {
  start();
  const uint64_t bytes = kit.memory.bytes();
  kit.max_chunks = 1;
  for (int stage = 0; stage < 8; ++stage) {
    SCOPED_TRACE(stage);
    kit.io.holds = stage >= 1 && stage <= 2;
    const uint32_t swap = begin({.waits = true});
    for (int i = 0; i < stage; ++i) kit.update();
    if (stage == 7) until(swap, SwapState::ready);
    EXPECT_TRUE(is_whole());
    EXPECT_TRUE(kit.streaming.abort_swap(swap).ok());
    EXPECT_EQ(groups().swap_state(swap), SwapState::aborted);
    EXPECT_TRUE(is_whole()) << "at once";
    for (int i = 0; i < 3; ++i) {
      kit.update();
      EXPECT_TRUE(is_whole());
    }
    kit.io.holds = false;
    EXPECT_TRUE(groups().end_swap(swap).ok());
    expect_as_before();
    for (const char* const name : {"east", "west"}) kit.streaming.engine().reload(kit.index(name));  // cached bytes
    kit.update();
    EXPECT_EQ(kit.memory.bytes(), bytes);
  }
}

// A read that fails, and bytes that are damaged: taken back, told once, tried again when they are mended.
TEST_F(ImapGroupTest, AMapThatFailsTakesTheSwapBack) {
  const std::vector<std::byte> good = kit.base.files.at(kind_of("IMAP"), hash_name("west"));
  start();
  for (const bool is_damaged : {false, true}) {
    SCOPED_TRACE(is_damaged);
    log.clear();
    if (is_damaged) kit.damage_map("west");
    kit.io.holds = !is_damaged;
    const uint32_t swap = begin();
    for (int i = 0; i < 3; ++i) kit.update();
    if (!is_damaged) kit.io.fail();
    until(swap, SwapState::failed);
    EXPECT_FALSE(groups().swap_failure(swap).ok());
    EXPECT_EQ(test::count_said(log, "is taken back"), 1u) << log.all();
    if (is_damaged) {
      EXPECT_EQ(groups().swap_failure(swap).name, hash_name("west"));
    } else {
      EXPECT_EQ(groups().swap_failure(swap).code, StatusCode::io_error);
    }
    kit.io.holds = false;
    EXPECT_TRUE(groups().end_swap(swap).ok());
    expect_as_before();
    kit.streaming.engine().reload(kit.index("east"));  // its cached bytes
  }
  kit.base.files.put(kind_of("IMAP"), hash_name("west"), good);  // and is tried anew by the next one
  until(begin(), SwapState::swapped);
}

// Without room for both sides the swap waits and nothing is lost; with room it goes on.
TEST_F(ImapGroupTest, WithoutRoomItWaits) {
  start({.max_maps = 4});
  const uint32_t swap = begin();
  for (int i = 0; i < 20; ++i) {
    kit.update();
    EXPECT_TRUE(is_whole());
  }
  EXPECT_EQ(groups().swap_state(swap), SwapState::preloading);
  kit.streaming.engine().set_max_loaded(1, 5);
  until(swap, SwapState::swapped);
}

TEST_F(ImapGroupTest, WhatAScriptKeepsIsNotShownWhileItIsSwappedOut) {
  start();
  StreamingEngine& engine = kit.streaming.engine();
  engine.keep(kit.index("north"), StreamKeeper::script);
  const uint32_t swap = begin();
  until(swap, SwapState::swapped);
  kit.settle();
  EXPECT_FALSE(is_whole());
  EXPECT_TRUE(engine.is_loaded(kit.index("north")));
  engine.reload(kit.index("north"));  // it comes anew
  for (int i = 0; i < 10; ++i) {
    kit.update();
    EXPECT_FALSE(is_whole());
  }
  EXPECT_TRUE(engine.is_loaded(kit.index("north")));
  (void)groups().end_swap(swap);
  const Result<uint32_t> back = kit.streaming.begin_swap(kRuins, kBridge);
  ASSERT_TRUE(back.ok());
  kit.settle();
  EXPECT_TRUE(is_whole());
}

// A map that comes, but a script has it in the world already, stays there whatever becomes of the swap.
TEST_F(ImapGroupTest, WhatAScriptHasInTheWorldStays) {
  start();
  kit.streaming.engine().keep(kit.index("east"), StreamKeeper::script);
  kit.settle();
  EXPECT_TRUE(kit.sees("east"));
  const uint32_t swap = begin({.waits = true});
  kit.settle();
  EXPECT_TRUE(kit.sees("east"));
  EXPECT_FALSE(kit.sees("west"));
  EXPECT_TRUE(groups().abort_swap(swap).ok());
  kit.settle();
  EXPECT_TRUE(kit.sees("east"));
  EXPECT_TRUE(kit.is_off("east", MapOff::manual));
  // One that it asks for during the swap is shown when that is given up.
  (void)groups().end_swap(swap);
  const uint32_t other = begin({.waits = true});
  kit.streaming.engine().keep(kit.index("west"), StreamKeeper::script);
  kit.settle();
  EXPECT_FALSE(kit.sees("west"));
  EXPECT_TRUE(groups().abort_swap(other).ok());
  EXPECT_TRUE(kit.sees("west"));
}

// Switched off just now, a map is about to leave: a swap that needs it does not show it early.
TEST_F(ImapGroupTest, WhatIsAboutToLeaveIsNotShownEarly) {
  start();
  ASSERT_TRUE(groups().set_active(kRuins, true).ok());
  kit.settle();
  ASSERT_TRUE(groups().set_active(kRuins, false).ok());
  const uint32_t swap = begin();
  EXPECT_TRUE(is_whole());
  until(swap, SwapState::swapped);
}

TEST_F(ImapGroupTest, SwitchedOffMeanwhileItIsTakenBack) {
  start();
  const uint32_t swap = begin({.waits = true});
  until(swap, SwapState::ready);
  EXPECT_EQ(groups().set_active(kRuins, false).code, StatusCode::in_use);
  EXPECT_TRUE(kit.streaming.maps().set_active(hash_name("west"), false).ok());
  EXPECT_EQ(groups().commit_swap(swap).code, StatusCode::in_use);
  EXPECT_EQ(groups().swap_state(swap), SwapState::failed);
  expect_as_before();
}

TEST_F(ImapGroupTest, SevenAtOnceAndNumberZeroForScripts) {
  for (int i = 0; i < 8; ++i) {
    static const char* const kFrom[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
    static const char* const kTo[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};
    kit.map({.name = kFrom[i], .entities = stones(1)});
    kit.map({.name = kTo[i], .is_manual = true, .entities = stones(1)});
  }
  start();
  const auto name = [](const char* side, int i) { return hash_name(side + std::to_string(i)); };
  const auto swap = [&](int i, bool is_script) {
    return kit.streaming.begin_swap(name("f", i), name("t", i), {.is_script = is_script, .waits = true});
  };
  for (uint32_t i = 1; i < 7; ++i) EXPECT_EQ(swap(static_cast<int>(i), false).value(), i);
  EXPECT_EQ(swap(7, false).status().code, StatusCode::out_of_slots) << "number 0 is for scripts";
  EXPECT_EQ(swap(0, true).value(), 0u);
  EXPECT_EQ(swap(7, true).status().code, StatusCode::out_of_slots);
  kit.settle();
  for (uint32_t i = 0; i < 7; ++i) {
    EXPECT_EQ(groups().swap_state(i), SwapState::ready);
    EXPECT_TRUE(groups().commit_swap(i).ok());
    EXPECT_FALSE(kit.sees(("f" + std::to_string(i)).c_str()));
    EXPECT_TRUE(kit.sees(("t" + std::to_string(i)).c_str()));
  }
  EXPECT_EQ(swap(7, false).status().code, StatusCode::out_of_slots) << "until they are ended";
  EXPECT_TRUE(groups().end_swap(3).ok());
  EXPECT_EQ(swap(7, false).value(), 3u);
  EXPECT_EQ(groups().swap_state(MapGroups::kMaxSwaps), SwapState::none);
}

TEST_F(ImapGroupTest, RefusesWhatCannotBe) {
  start();
  const auto code = [&](const char* from, const char* to) {
    return kit.streaming.begin_swap(hash_name(from), hash_name(to)).status().code;
  };
  EXPECT_EQ(code("nowhere", "ruins"), StatusCode::not_found);
  EXPECT_EQ(code("bridge", "nowhere"), StatusCode::not_found);
  EXPECT_EQ(code("bridge", "north"), StatusCode::in_use) << "on both sides";
  const uint32_t swap = begin({.waits = true});
  EXPECT_EQ(code("town", "west"), StatusCode::in_use) << "in another swap";
  EXPECT_EQ(code("south", "town"), StatusCode::in_use);
  EXPECT_EQ(groups().swap_state(swap + 1), SwapState::none) << "what was refused took no number";
  EXPECT_TRUE(kit.streaming.abort_swap(swap).ok());
  expect_as_before();
}

// P064, SCAN-8: a LOD parent over both sides stays hidden behind whichever is there.
TEST_F(ImapGroupTest, TheLodParentOfBothSidesStaysReady) {
  const std::vector<test::MapText::Item> child{{"stone", {1, 0, 0}, 0}};
  kit.map({.name = "far",
           .range = 900,
           .entities = {{"tower", {}, -1, 2, 80}},
           .sets = {{0, 80, {{"near", 1}, {"near_ruined", 1}}}}});
  kit.map({.name = "near", .parent = "far", .entities = child});
  kit.map({.name = "near_ruined", .parent = "far", .is_manual = true, .entities = child});
  start({.lod_ramp_seconds = 0.25f});
  kit.settle();
  const auto set = [&]() -> const LodSetRecord& {
    return *kit.maps.lod_sets().find(kit.contents("far")->lod_place(0).set);
  };
  const auto expect_full = [&] {
    EXPECT_TRUE(set().is_ready);
    EXPECT_EQ(set().ramp, 255u);
  };
  expect_full();
  const NameHash near = hash_name("near"), ruined = hash_name("near_ruined");
  for (int round = 0; round < 2; ++round) {
    const Result<uint32_t> swap = kit.streaming.begin_swap(round == 0 ? near : ruined, round == 0 ? ruined : near);
    ASSERT_TRUE(swap.ok());
    for (int i = 0; i < 12; ++i) {
      expect_full();
      kit.update();
      EXPECT_NE(kit.sees("near"), kit.sees("near_ruined"));
    }
    EXPECT_EQ(groups().swap_state(swap.value()), SwapState::swapped);
    expect_full();
    (void)groups().end_swap(swap.value());
  }
  // One that is taken back changes nothing either.
  const Result<uint32_t> swap = kit.streaming.begin_swap(near, ruined, {.waits = true});
  kit.settle();
  expect_full();
  EXPECT_TRUE(groups().abort_swap(swap.value()).ok());
  expect_full();
  kit.settle();
  expect_full();
}

// The ruins' layer leaves while they are awaited.
TEST_F(ImapGroupTest, ALayerThatLeavesTakesTheSwapBack) {
  start();
  test::LayerText layer;
  layer.put({.name = "crater", .is_manual = true, .entities = stones(2)});
  for (const bool is_ready : {false, true}) {
    SCOPED_TRACE(is_ready);
    const MountId mount = kit.mount(layer);
    kit.settle();
    const Result<uint32_t> swap = kit.streaming.begin_swap(kBridge, hash_name("crater"), {.waits = true});
    ASSERT_TRUE(swap.ok());
    if (is_ready) kit.settle();
    EXPECT_EQ(groups().swap_state(swap.value()), is_ready ? SwapState::ready : SwapState::preloading);
    EXPECT_TRUE(kit.streaming.begin_unmount(mount).ok());
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(is_whole());
      kit.update();
    }
    EXPECT_FALSE(kit.streaming.is_unmounting());
    EXPECT_EQ(groups().swap_state(swap.value()), SwapState::failed);
    EXPECT_EQ(groups().swap_failure(swap.value()).code, StatusCode::not_found);
    EXPECT_EQ(kit.slot("crater"), kNoStreamSlot);
    EXPECT_TRUE(groups().end_swap(swap.value()).ok());
  }
}

TEST_F(ImapGroupTest, ShutsDownInEachState) {
  for (int stage = 0; stage < 6; ++stage) {
    SCOPED_TRACE(stage);
    ReloadKit other;
    other.base.put(kit.base.types.at("props"));
    for (const auto& [name, text] : kit.base.maps) other.map(text);
    other.base.groups = kit.base.groups;
    other.start();
    other.settle();
    other.max_chunks = 1;
    ASSERT_TRUE(other.streaming.begin_swap(kBridge, kRuins, {.waits = stage == 5}).ok());
    for (int i = 0; i < stage; ++i) other.update();
    other.streaming.shutdown();
    EXPECT_EQ(other.maps.loaded_maps(), 0u);
  }  // CheckedMemory counts
}

}  // namespace
}  // namespace meridian
