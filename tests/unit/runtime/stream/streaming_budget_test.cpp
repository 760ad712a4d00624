// SPDX-License-Identifier: MIT
// Rules: STR-3 (least recently needed first), STR-9 and P068 (budgets and full pools hold back, never fail), MDS-4
// (bytes may stay when a map leaves).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/stream/streaming.h"
#include "support/captured.h"
#include "support/stream_kit.h"

namespace meridian {
namespace {

using test::StreamKit;
using test::StreamThings;

constexpr auto kCode = StreamKeeper::code;
constexpr auto kBox = StreamKeeper::box_streamer;

void load(StreamKit& kit, std::initializer_list<StreamIndex> slots) {
  for (const StreamIndex i : slots) {
    kit.engine.keep(i, kCode);
    kit.updates(3);
    kit.engine.drop(i, kCode);
  }
}
std::vector<uint32_t> loaded(StreamKit& kit) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < kit.engine.slot_count(); ++i) {
    if (kit.engine.is_loaded(i)) out.push_back(i);
  }
  return out;
}
using Slots = std::vector<uint32_t>;

// STR-3: each kind of budget evicts the one that was needed longest ago, and only as many as that takes.
TEST(StreamingBudget, EvictsTheLeastRecentlyNeeded) {
  struct Case {
    const char* name;
    StreamBudget budget;
    uint32_t max_loaded, max_resident;
  };
  const Case cases[] = {{"bytes", {.bytes = 399}, 0, 100},
                        {"entities", {.entities = 30}, 0, 100},
                        {"descriptors", {.descriptors = 3}, 0, 100},
                        {"slots", {}, 3, 100},
                        {"residents", {}, 0, 3}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StreamKit kit({.budget = c.budget, .max_resident = c.max_resident});
    StreamThings& things = kit.add("Things", {.slots = 6, .max_loaded = c.max_loaded});
    for (uint32_t i = 0; i < 6; ++i) things.at(i).cost = {.bytes = 0, .entities = 10, .descriptors = 1};
    kit.mount_all(100);
    kit.start();
    load(kit, {0, 1, 2});
    EXPECT_EQ(loaded(kit), (Slots{0, 1, 2}));
    kit.engine.request(0);  // needed just now
    load(kit, {3});
    EXPECT_EQ(loaded(kit), (Slots{0, 2, 3}));
    load(kit, {4});
    EXPECT_EQ(loaded(kit), (Slots{0, 3, 4}));
    load(kit, {5});
    EXPECT_EQ(loaded(kit), (Slots{3, 4, 5}));
    EXPECT_EQ(kit.engine.statistics(0).loaded, 3u);
    EXPECT_EQ(kit.engine.statistics(0).failures, 0u);
  }
}

// STR-9, P068: what is kept by code stays; the rest waits, is counted, and comes when there is room.
TEST(StreamingBudget, HoldsBackAndNeverFails) {
  const test::CapturedLog log;
  StreamKit kit({.budget = {.bytes = 250}});
  kit.add("Things", {.slots = 4});
  kit.mount_all(100);
  kit.start();
  for (uint32_t i = 0; i < 4; ++i) kit.engine.keep(i, kCode);
  kit.updates(10);
  EXPECT_EQ(loaded(kit), (Slots{0, 1}));
  EXPECT_EQ(kit.engine.state(3), StreamState::requested);
  EXPECT_EQ(kit.engine.why(3).reason, StreamReason::denied);
  EXPECT_EQ(kit.engine.why(3).denial, StreamDenial::bytes);
  EXPECT_EQ(kit.engine.statistics().denied, 20u);  // two requests, ten updates
  kit.engine.drop(0, kCode);
  kit.updates(3);
  EXPECT_EQ(loaded(kit), (Slots{1, 2}));
  kit.engine.set_budget({.bytes = 1000});
  kit.updates(2);
  EXPECT_EQ(loaded(kit), (Slots{1, 2, 3}));
  EXPECT_EQ(log.count(), 0u);
}

// What is not wanted goes when a budget is lowered; what is wanted stays.
TEST(StreamingBudget, MayBeLowered) {
  StreamKit kit;
  kit.add("Things", {.slots = 4});
  kit.mount_all(100);
  kit.start();
  load(kit, {0, 1, 2});
  kit.engine.keep(3, kCode);
  kit.updates(2);
  kit.engine.set_budget({.bytes = 250});
  kit.updates(3);
  EXPECT_EQ(loaded(kit), (Slots{2, 3}));
  kit.engine.set_budget({.bytes = 50});
  kit.updates(3);
  EXPECT_EQ(loaded(kit), (Slots{3}));
  EXPECT_EQ(kit.engine.resident_bytes(), 100u);
}

// MDS-4: a map's bytes are not read a second time.
TEST(StreamingBudget, BytesOfWhatLeftStayWhileThereIsRoom) {
  for (const bool in_place : {true, false}) {
    StreamKit kit({.budget = {.bytes = 200}});
    StreamThings& things = kit.add("Things", {.slots = 3, .leaves_at_once = true});
    kit.mount_all(100, in_place);
    kit.start();
    load(kit, {0, 1});
    kit.update();
    EXPECT_EQ(things.live(), 0u);
    EXPECT_EQ(kit.engine.statistics(0).cached, 2u);
    EXPECT_EQ(kit.engine.resident_bytes(), 200u);
    load(kit, {0});
    EXPECT_EQ(things.at(0).prepares.load(), 1u);
    load(kit, {2});  // slot 1's bytes were needed longest ago
    load(kit, {0});
    EXPECT_EQ(things.at(0).prepares.load(), 1u);
    load(kit, {1});
    EXPECT_EQ(things.at(1).prepares.load(), 2u);
    EXPECT_EQ(kit.engine.statistics(0).reused, 2u);
  }
}

// STR-9: what is nearer displaces what only the box streamer keeps, and never the other way round.
TEST(StreamingBudget, TheNearerDisplacesTheFarther) {
  struct Case {
    float old_distance, new_distance;
    bool old_priority, new_priority, displaces;
    StreamKeeper keeper;
  };
  // By default one gives way at 1.1 times the distance and 5 m.
  const Case cases[] = {{100, 50, false, false, true, kBox},   {100, 86, false, false, true, kBox},
                        {100, 87, false, false, false, kBox},  {100, 99, false, false, false, kBox},
                        {100, 100, false, false, false, kBox}, {100, 50, false, false, false, kCode},
                        {100, 900, false, true, true, kBox},   {100, 1, true, false, false, kBox},
                        {100, 50, true, true, true, kBox},     {100, 99, true, true, false, kBox}};
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.old_distance << ' ' << c.new_distance << ' ' << c.old_priority
                                    << c.new_priority);
    StreamKit kit;
    StreamThings& things = kit.add("Things", {.slots = 2, .max_loaded = 1});
    things.at(0).distance = c.old_distance;
    things.at(1).distance = c.new_distance;
    kit.mount_all();
    kit.start();
    kit.engine.keep(0, c.keeper, c.old_priority);
    kit.updates(3);
    ASSERT_TRUE(things.at(0).is_live);
    kit.engine.keep(1, kBox, c.new_priority);
    for (int i = 0; i < 20; ++i) {
      kit.engine.keep(0, c.keeper, c.old_priority);  // as it is every frame
      kit.engine.keep(1, kBox, c.new_priority);
      kit.update();
    }
    EXPECT_EQ(things.at(1).is_live, c.displaces);
    EXPECT_EQ(things.at(0).is_live, !c.displaces);
    EXPECT_EQ(things.at(0).placed + things.at(1).placed, c.displaces ? 2u : 1u);  // they do not take turns
    EXPECT_EQ(kit.engine.statistics(0).displaced, c.displaces ? 1u : 0u);
  }
}

// Nobody goes for something that finds no room all the same.
TEST(StreamingBudget, NobodyGoesInVain) {
  StreamKit kit({.budget = {.bytes = 300}});
  StreamThings& things = kit.add("Things", {.slots = 4});
  kit.mount({{"thing0", StreamKit::bytes_for("thing0", 100)},
             {"thing1", StreamKit::bytes_for("thing1", 100)},
             {"thing2", StreamKit::bytes_for("thing2", 301)},
             {"thing3", StreamKit::bytes_for("thing3", 201)}});
  kit.start();
  kit.engine.keep(0, kBox);
  kit.engine.keep(1, kCode);
  things.at(0).distance = 1000;
  for (uint32_t i = 1; i < 4; ++i) things.at(i).distance = 1;
  kit.updates(2);
  kit.engine.keep(2, kCode);  // larger than the budget
  kit.engine.keep(3, kCode);  // larger than all that may go
  kit.updates(10);
  EXPECT_EQ(loaded(kit), (Slots{0, 1}));
  EXPECT_EQ(kit.engine.statistics(0).displaced, 0u);
  EXPECT_EQ(things.at(0).placed, 1u);
}

// STR-2, STR-9: two requests with halves of what they depend on would wait for each other.
TEST(StreamingBudget, ARequestGetsRoomForAllOrWaits) {
  StreamKit kit({.budget = {.bytes = 300}});
  StreamThings& things = kit.add("Things", {.slots = 6});
  things.at(4).on = {{0, false}, {1, false}};
  things.at(5).on = {{2, false}, {3, false}};
  kit.mount_all(100);
  kit.start();
  kit.engine.keep(4, kCode);
  kit.engine.keep(5, kCode);
  kit.updates(5);
  EXPECT_EQ(loaded(kit), (Slots{0, 1, 4}));
  EXPECT_EQ(kit.engine.why(5).denial, StreamDenial::bytes);
  EXPECT_TRUE(kit.engine.is_idle(2) && kit.engine.is_idle(3));
  kit.engine.drop(4, kCode);
  kit.updates(6);
  EXPECT_EQ(loaded(kit), (Slots{2, 3, 5}));
}

// STR-9: what goes takes with it what only it needs.
TEST(StreamingBudget, CountsWhatOnlyVictimsNeed) {
  StreamKit kit({.budget = {.bytes = 300}});
  StreamThings& things = kit.add("Things", {.slots = 4});
  things.at(1).on = {{0, false}};
  things.at(1).distance = 500;
  things.at(3).on = {{2, false}};
  things.at(3).distance = 1;
  kit.mount({{"thing0", StreamKit::bytes_for("thing0", 200)},
             {"thing1", StreamKit::bytes_for("thing1", 50)},
             {"thing2", StreamKit::bytes_for("thing2", 200)},
             {"thing3", StreamKit::bytes_for("thing3", 50)}});
  kit.start();
  kit.engine.keep(1, kBox);
  kit.updates(3);
  ASSERT_EQ(loaded(kit), (Slots{0, 1}));
  kit.engine.keep(3, kBox);
  kit.updates(8);
  EXPECT_EQ(loaded(kit), (Slots{2, 3}));
}

// A module whose slots are all taken does not keep others from loading.
TEST(StreamingBudget, AFullModuleHoldsUpNoOther) {
  StreamKit kit;
  StreamThings& maps = kit.add("Maps", {.slots = 60, .max_loaded = 2}, "map");
  StreamThings& others = kit.add("Others", {.slots = 1}, "other");
  for (uint32_t i = 0; i < 60; ++i) maps.at(i).distance = 1;
  kit.mount_all();
  kit.start();
  for (uint32_t i = 0; i < 61; ++i) kit.engine.keep(i, kCode);
  kit.updates(3);
  EXPECT_EQ(maps.live(), 2u);
  EXPECT_EQ(others.live(), 1u);
}

// P068: a full pool is tried again when something left, also when the update's chunks were used up by that.
TEST(StreamingBudget, AFullPoolWaitsForARemoval) {
  for (const uint32_t chunks : {1u, 100u}) {
    StreamKit kit;
    StreamThings& things = kit.add("Things", {.slots = 2, .leaves_at_once = true});
    kit.mount_all();
    kit.start();
    kit.engine.keep(0, kCode);
    kit.updates(2);
    things.at(1).places = {StreamStep::Kind::full};
    kit.engine.keep(1, kCode);
    kit.updates(5);
    EXPECT_EQ(kit.engine.why(1).reason, StreamReason::denied);
    EXPECT_EQ(kit.engine.why(1).denial, StreamDenial::pool);
    EXPECT_EQ(kit.engine.why(1).status.code, StatusCode::out_of_slots);
    EXPECT_EQ(things.at(1).place_calls, 1u);  // it is not bothered meanwhile
    EXPECT_GT(kit.engine.statistics().denied, 0u);
    kit.engine.drop(0, kCode);
    for (int i = 0; i < 3; ++i) kit.update(chunks);
    EXPECT_TRUE(things.at(1).is_live);
  }
}

// P068: and where something idle is in the way, that goes, now or once it is idle.
TEST(StreamingBudget, AFullPoolEvicts) {
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 3});
  kit.mount_all();
  kit.start();
  load(kit, {0});
  kit.engine.keep(2, kCode);
  kit.updates(2);
  things.at(1).places = {StreamStep::Kind::full, StreamStep::Kind::full};
  kit.engine.keep(1, kCode);
  kit.updates(5);
  EXPECT_EQ(loaded(kit), (Slots{2}));
  kit.engine.drop(2, kCode);
  kit.updates(5);
  EXPECT_EQ(loaded(kit), (Slots{1}));
}

// STR-9: memory of the engine's allocator is short.
TEST(StreamingBudget, ShortMemoryHoldsBack) {
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 3});
  things.at(2).on = {{1, false}};
  kit.mount_all(100, /*in_place=*/false);
  kit.start();
  load(kit, {0});
  kit.memory.fail_after(0);
  kit.engine.keep(2, kCode);
  kit.updates(3);
  EXPECT_EQ(kit.engine.why(2).denial, StreamDenial::memory);
  kit.memory.fail_after(-1);
  kit.updates(4);
  EXPECT_TRUE(things.at(2).is_live);
  kit.memory.fail_after(0);
  kit.engine.drop(2, kCode);
  kit.engine.reload(1);
  kit.engine.keep(0, kCode);
  kit.engine.reload(0);
  kit.updates(5);
  EXPECT_FALSE(things.at(0).is_live);
  kit.memory.fail_after(-1);
  kit.updates(5);
  EXPECT_TRUE(things.at(0).is_live);
}

}  // namespace
}  // namespace meridian
