// SPDX-License-Identifier: MIT
// Rules: STR-1 (modules in order, states), STR-2 (dependencies first, soft ones, circles), STR-4 (chunks, time), STR-5
// (priority, distance, age), STR-8 (dummies).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "meridian/stream/streaming.h"
#include "support/captured.h"
#include "support/stream_kit.h"

namespace meridian {
namespace {

using test::ManualIo;
using test::StreamKit;
using test::StreamThings;
using Log = std::vector<std::string>;

// STR-1
TEST(StreamingOrder, ModulesOwnRangesInTheOrderInWhichTheyCame) {
  StreamKit kit;
  StreamThings& a = kit.add("A", {.slots = 3}, "a");
  StreamThings& b = kit.add("B", {.slots = 5}, "b");
  EXPECT_EQ(a.base(), 0u);
  EXPECT_EQ(b.base(), 3u);
  EXPECT_EQ(b.index(4), 7u);
  EXPECT_TRUE(b.owns(3) && b.owns(7));
  EXPECT_FALSE(b.owns(2) || b.owns(8) || a.owns(3) || a.owns(kNoStream));
  kit.start();
  EXPECT_EQ(kit.engine.slot_count(), 8u);
  EXPECT_EQ(kit.engine.module_of(2), &a);
  EXPECT_EQ(kit.engine.module_of(3), &b);
  EXPECT_EQ(kit.engine.module_of(8), nullptr);
  EXPECT_EQ(kit.engine.state(8), StreamState::not_loaded);
}

TEST(StreamingOrder, RefusesWhatIsOutOfOrder) {
  test::BrokenContracts contracts;
  StreamKit kit;
  test::StreamThings none("None", kit.mounts, kit.engine, kit.modules, 1, "none");
  EXPECT_EQ(kit.engine.add_module(none, {.slots = 0}).code, StatusCode::bad_value);
  EXPECT_EQ(kit.engine.start().code, StatusCode::bad_value);
  kit.add("A", {.slots = 1});
  EXPECT_EQ(kit.engine.add_module(none, {.slots = 0xFFFFFFFE}).code, StatusCode::too_large);
  EXPECT_EQ(kit.engine.init({}).code, StatusCode::in_use);
  kit.start();
  EXPECT_EQ(kit.engine.start().code, StatusCode::in_use);
  EXPECT_EQ(kit.engine.add_module(none, {.slots = 1}).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts, 3));
  kit.engine.keep(1, StreamKeeper::code);  // there is no such slot
  kit.engine.request(kNoStream);
  kit.engine.add_ref(0, StreamRef::entity);  // it is not loaded
  kit.engine.remove_ref(0, StreamRef::entity);
  EXPECT_TRUE(test::broke(contracts, 4));
  EXPECT_EQ(kit.engine.refs(0), 0u);
}

// STR-2, STR-8: a file on types, on a dummy that itself depends on a drawable.
TEST(StreamingOrder, WhatASlotDependsOnIsPlacedBefore) {
  Log log;
  ManualIo io;
  StreamKit kit({.io = &io});
  StreamThings& low = kit.add("Low", {.slots = 3}, "low");
  StreamThings& high = kit.add("High", {.slots = 1, .leaves_at_once = true}, "high");
  low.at(1).is_dummy = true;
  low.at(1).on = {{2, false}};
  high.at(0).on = {{0, false}, {1, false}};
  low.set_log(&log);
  high.set_log(&log);
  kit.mount_all();
  kit.start();
  kit.engine.keep(3, StreamKeeper::script);
  kit.update();
  ASSERT_EQ(io.count(), 3u);
  EXPECT_EQ(io.index_at(0), 0u);  // also read in that order
  EXPECT_EQ(io.index_at(1), 2u);
  EXPECT_EQ(io.index_at(2), 3u);
  ASSERT_TRUE(io.finish(3));
  kit.update();
  EXPECT_EQ(log, Log());
  EXPECT_EQ(kit.engine.why(3).reason, StreamReason::waits_for);
  EXPECT_EQ(kit.engine.why(3).cause, 0u);
  io.finish_all();
  kit.update();
  EXPECT_EQ(log.size(), 4u);
  EXPECT_EQ(log.back(), "+high0");
  EXPECT_LT(std::find(log.begin(), log.end(), "+low2"), std::find(log.begin(), log.end(), "+low1"));
  // And leaves the other way.
  log.clear();
  kit.engine.drop(3, StreamKeeper::script);
  kit.engine.reload(2);
  kit.updates(3);
  ASSERT_EQ(log.size(), 3u);
  EXPECT_EQ(log, (Log{"-high0", "-low1", "-low2"}));
}

// STR-2: asked for first, not waited for, may leave first.
TEST(StreamingOrder, ASoftDependencyIsAskedForAndNotWaitedFor) {
  ManualIo io;
  StreamKit kit({.io = &io});
  StreamThings& things = kit.add("Things", {.slots = 2, .leaves_at_once = true});
  things.at(1).on = {{0, true}};
  kit.mount_all();
  kit.start();
  kit.engine.keep(1, StreamKeeper::code);
  kit.update();
  ASSERT_EQ(io.count(), 2u);
  EXPECT_EQ(io.index_at(0), 0u);
  ASSERT_TRUE(io.finish(1));
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(1));
  EXPECT_FALSE(kit.engine.is_loaded(0));
  io.finish_all();
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(0));
  kit.engine.reload(0);
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(1));  // it need not leave
  EXPECT_FALSE(things.at(0).is_live);
  io.finish_all();
  kit.updates(2);
  kit.engine.drop(1, StreamKeeper::code);
  kit.updates(3);
  EXPECT_EQ(things.live(), 0u);
}

// STR-2: one that fails does not matter; soft ones may even form a circle.
TEST(StreamingOrder, SoftDependenciesMayFailAndFormCircles) {
  const test::CapturedLog log;
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 4});
  things.at(0).on = {{1, true}, {3, true}};
  things.at(1).on = {{2, true}};
  things.at(2).on = {{0, true}};
  things.at(3).prepared = StatusCode::bad_structure;
  kit.mount_all();
  kit.start();
  kit.engine.keep(0, StreamKeeper::code);
  kit.updates(4);
  for (const StreamIndex i : {0u, 1u, 2u}) EXPECT_TRUE(kit.engine.is_loaded(i)) << i;
  EXPECT_EQ(kit.engine.state(3), StreamState::failed);
}

// STR-2: found before anything is loaded, in order; and if somebody loads one all the same, it fails.
TEST(StreamingOrder, CirclesAreFoundInOrder) {
  struct Case {
    std::vector<std::vector<StreamDependency>> on;
    std::vector<StreamIndex> circle;
  };
  const Case cases[] = {
      {{{}, {{0, false}}, {{0, false}, {1, false}}}, {}},
      {{{{1, false}}, {{2, true}}, {{0, false}}}, {}},  // a soft one opens it
      {{{{0, false}}}, {0}},
      {{{{1, false}}, {{0, false}}}, {0, 1}},
      {{{{1, false}}, {{2, false}}, {{3, false}}, {{1, false}}}, {1, 2, 3}},
      {{{{9, false}}, {{kNoStream, false}}}, {}},  // nobody's slots
  };
  for (const Case& c : cases) {
    const test::CapturedLog log;
    StreamKit kit;
    StreamThings& things = kit.add("Things", {.slots = static_cast<uint32_t>(c.on.size())});
    for (uint32_t i = 0; i < c.on.size(); ++i) things.at(i).on = c.on[i];
    kit.mount_all();
    kit.start();
    std::vector<StreamIndex> out(8, kNoStream);
    const uint32_t length = kit.engine.find_cycle(out);
    ASSERT_EQ(length, c.circle.size());
    out.resize(length);
    EXPECT_EQ(out, c.circle);
    if (length < 2) continue;
    StreamIndex first = kNoStream;
    EXPECT_EQ(kit.engine.find_cycle({&first, 1}), length);
    EXPECT_EQ(first, c.circle[0]);
    kit.engine.keep(0, StreamKeeper::code);
    kit.updates(6);
    EXPECT_EQ(kit.engine.state(0), StreamState::failed);
    EXPECT_EQ(things.live(), 0u);
    kit.engine.drop(0, StreamKeeper::code);
    kit.updates(2);
    for (uint32_t i = 0; i < c.on.size(); ++i) EXPECT_TRUE(kit.engine.is_idle(i)) << i;
  }
}

TEST(StreamingOrder, ChainsAreSixteenDeepAtMost) {
  for (const uint32_t depth : {16u, 17u}) {  // below the first
    const test::CapturedLog log;
    StreamKit kit;
    StreamThings& things = kit.add("Things", {.slots = depth + 1});
    for (uint32_t i = 0; i < depth; ++i) things.at(i).on = {{i + 1, false}};
    kit.mount_all();
    kit.start();
    kit.engine.keep(0, StreamKeeper::code);
    kit.updates(20);
    EXPECT_EQ(kit.engine.state(0), depth == 16 ? StreamState::loaded : StreamState::failed);
  }
}

// STR-5: priority, then distance, then age, then the slot.
TEST(StreamingOrder, ReadsBeginByPriorityThenDistanceThenAge) {
  ManualIo io;
  StreamKit kit({.io = &io, .max_in_flight = 1});
  StreamThings& things = kit.add("Things", {.slots = 7});
  kit.mount_all();
  kit.start();
  const float kFar = std::numeric_limits<float>::infinity();
  const float distances[] = {kFar, 20, 10, std::numeric_limits<float>::quiet_NaN(), 500, 10, 400};
  for (uint32_t i = 0; i < 7; ++i) things.at(i).distance = distances[i];
  kit.engine.keep(0, StreamKeeper::code);
  kit.update();  // one is under way, the others wait
  for (const StreamIndex i : {1u, 3u, 4u}) kit.engine.keep(i, StreamKeeper::code, i == 4);
  kit.engine.keep(5, StreamKeeper::code);
  kit.update();
  kit.engine.keep(2, StreamKeeper::code);
  kit.engine.request(6, true);
  EXPECT_EQ(kit.engine.why(4).denial, StreamDenial::in_flight);  // the first of them, then
  EXPECT_EQ(kit.engine.why(1).reason, StreamReason::queued);
  std::vector<StreamIndex> order;
  while (io.count() > 0) {
    order.push_back(io.index_at(0));
    io.finish_at(0);
    kit.update();
  }
  EXPECT_EQ(order, (std::vector<StreamIndex>{0, 6, 4, 5, 2, 1, 3}));
  EXPECT_EQ(things.live(), 7u);
}

// STR-4: with max_chunks, never more, and every call goes on where it stopped.
TEST(StreamingOrder, PlacesInChunks) {
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 3});
  for (uint32_t i = 0; i < 3; ++i) things.at(i).chunks = 4;
  kit.mount_all();
  kit.start();
  for (uint32_t i = 0; i < 3; ++i) kit.engine.keep(i, StreamKeeper::code);
  kit.update(0);
  kit.update(0);
  EXPECT_EQ(kit.update(0).left, 3u);
  for (uint32_t update = 0; update < 6; ++update) {
    EXPECT_EQ(kit.update(2).chunks, 2u);
    const uint32_t calls = things.at(0).place_calls + things.at(1).place_calls + things.at(2).place_calls;
    EXPECT_EQ(calls, 2 * (update + 1));
    uint32_t half = 0;
    for (uint32_t i = 0; i < 3; ++i) half += things.at(i).half > 0 ? 1 : 0;
    EXPECT_LE(half, 1u);  // what has begun is ended first
  }
  EXPECT_EQ(things.live(), 3u);
  EXPECT_EQ(kit.update().left, 0u);
  EXPECT_EQ(kit.engine.statistics().chunks, 12u);
}

/// Takes its time.
class SlowThings final : public StreamModule {
 public:
  SlowThings() : StreamModule("Slow") {}
  NameHash slot_name(uint32_t) const override { return hash_name("slow"); }
  ResourceLocation locate(uint32_t) const override { return {}; }
  bool is_dummy(uint32_t) const override { return true; }
  StreamStep place(uint32_t, const StreamPayload&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return {};
  }
  StreamStep remove(uint32_t) override { return {}; }
};

// STR-4: with a time budget, one chunk more than fits at most; and one in any case.
TEST(StreamingOrder, StopsWhenTimeIsUp) {
  ResourceMounts mounts;
  ASSERT_TRUE(mounts.init({}).ok());
  SerialIo io;
  SlowThings things;
  StreamingEngine engine;
  ASSERT_TRUE(engine.init({.mounts = &mounts, .io = &io}).ok());
  ASSERT_TRUE(engine.add_module(things, {.slots = 4}).ok());
  ASSERT_TRUE(engine.start().ok());
  for (uint32_t i = 0; i < 4; ++i) engine.keep(i, StreamKeeper::code);
  EXPECT_EQ(engine.update({.max_microseconds = 1}).chunks, 1u);
  EXPECT_EQ(engine.update({.max_microseconds = 1500}).chunks, 1u);
  EXPECT_GE(engine.statistics().longest_update, 2'000'000u);
  EXPECT_EQ(engine.update({.max_microseconds = 60'000'000}).chunks, 2u);
  EXPECT_EQ(engine.statistics(0).loaded, 4u);
}

// STR-7: from the calls, by hand.
TEST(StreamingOrder, StatisticsAddUp) {
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 3, .leaves_at_once = true});
  kit.mount_all(100);
  kit.start();
  kit.engine.keep(0, StreamKeeper::code);    // a miss
  kit.engine.keep(1, StreamKeeper::code);    // a miss
  kit.engine.drop(1, StreamKeeper::code);    // cancelled
  kit.updates(2);                            // one read, placed
  kit.engine.request(0);                     // a hit
  kit.engine.keep(0, StreamKeeper::script);  // a hit
  kit.engine.keep(0, StreamKeeper::script);  // nothing new
  kit.engine.drop(0, StreamKeeper::script);
  kit.engine.drop(0, StreamKeeper::code);
  kit.update();  // removed; bytes stay
  const StreamModuleStatistics& s = kit.engine.statistics(0);
  EXPECT_EQ(s.cached, 1u);
  EXPECT_EQ(s.bytes, 100u);
  kit.engine.keep(0, StreamKeeper::code);  // a miss, of bytes that are there
  kit.updates(2);
  EXPECT_EQ(s.misses, 3u);
  EXPECT_EQ(s.hits, 2u);
  EXPECT_EQ(s.cancelled, 1u);
  EXPECT_EQ(s.reads, 1u);
  EXPECT_EQ(s.reused, 1u);
  EXPECT_EQ(s.placed, 2u);
  EXPECT_EQ(s.removed, 1u);
  EXPECT_EQ(s.loaded, 1u);
  EXPECT_EQ(things.at(0).prepares.load(), 1u);
  EXPECT_EQ(kit.engine.statistics().updates, 5u);
  EXPECT_EQ(kit.engine.statistics().chunks, 3u);
  EXPECT_EQ(kit.engine.statistics().peak_bytes, 100u);
}

}  // namespace
}  // namespace meridian
