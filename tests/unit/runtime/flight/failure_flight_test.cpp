// SPDX-License-Identifier: MIT
// What fails in the middle of a flight is told once by name, and everything else goes on. STR-4, STR-9, P068, P082.
#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

const Vec3 kEye{125, 125, 2};  // in hd_2_2

uint32_t told(const CapturedLog& log, const std::string& name) {
  uint32_t out = 0;
  for (const Said& said : log.said()) out += said.name == hash_name(name) ? 1 : 0;
  return out;
}

/// Maps that are there at a place where nothing fails.
std::map<std::string, std::string> untroubled(const WorldPlan& plan, const Vec3& eye) {
  FlightKit kit;
  kit.start();
  kit.mount(plan, true);
  kit.settle(eye);
  return kit.picture(plan);
}

/// Round and round over the whole world, some of it 1 000 times.
void fly_around(FlightKit& kit, uint32_t frames) {
  for (uint32_t f = 0; f < frames; ++f) {
    const float angle = static_cast<float>(f) * 0.01f;
    ASSERT_TRUE(kit.frame({200 + 150 * std::sin(angle), 200 + 150 * std::cos(angle), 2}).ok());
  }
}

}  // namespace

// Else type files beyond would fail one by one, in flight, and each map that needs them.
TEST(FailureFlight, MoreTypeFilesThanArchetypesHaveRoomForAreRefusedAtOnce) {
  FlightKit kit;
  ASSERT_TRUE(kit.init().ok());
  ASSERT_TRUE(kit.mounts.init({.max_mounts = 32}).ok());
  kit.config.mounts = &kit.mounts;
  kit.config.io = kit.io;
  kit.config.maps = &kit.maps;
  kit.config.types_slots = kit.archetype_config.types + 1;
  const Status refused = kit.streaming.init(kit.config, kit.memory);
  EXPECT_EQ(refused.code, StatusCode::bad_value);
  EXPECT_EQ(refused.detail, kit.archetype_config.types + 1);
}

TEST(FailureFlight, ADamagedMapIsToldOnceAndAllElseComes) {
  const CapturedLog log;
  WorldPlan plan = grid_world({});
  const auto whole = untroubled(plan, kEye);
  plan.map("hd_2_2").is_corrupt = true;
  plan.map("hd_2_3").is_bad = true;  // the pack's own checksum differs
  FlightKit kit;
  kit.start();
  kit.mount(plan, true);
  fly_around(kit, 1500);
  kit.leave();
  kit.settle(kEye);
  EXPECT_EQ(told(log, "hd_2_2"), 1u) << log.all();
  EXPECT_EQ(told(log, "hd_2_3"), 1u) << log.all();
  EXPECT_EQ(log.count(), 2u) << log.all();
  const auto now = kit.picture(plan);
  EXPECT_EQ(now.size() + 2, whole.size());
  for (const auto& [name, text] : now) {
    if (name.substr(0, 3) == "hd_") {
      EXPECT_EQ(text, whole.at(name)) << name;
    }
  }
  EXPECT_EQ(kit.streaming.explain_map(hash_name("hd_2_2")).status.code, StatusCode::bad_checksum);
  EXPECT_FALSE(kit.streaming.maps().streamer().is_resident({kEye, kEye}));
}

TEST(FailureFlight, ATypeFileThatIsMissingFailsItsMapsOnly) {
  const CapturedLog log;
  WorldPlan plan = grid_world({});
  plan.type_file("edge_2").is_missing = true;      // in the index, in no pack
  plan.map("hd_4_4").types.push_back("no_index");  // in no index
  FlightKit kit;
  kit.start();
  kit.mount(plan, true);
  fly_around(kit, 1500);
  kit.settle(kEye);
  EXPECT_EQ(told(log, "edge_2"), 1u) << log.all();
  EXPECT_EQ(told(log, "no_index"), 1u) << log.all();
  EXPECT_FALSE(kit.has("hd_2_2"));
  EXPECT_TRUE(kit.has("hd_1_2"));
  EXPECT_TRUE(kit.has("hd_3_2"));
  EXPECT_EQ(kit.streaming.explain_map(hash_name("hd_2_2")).cause, hash_name("edge_2"));
  kit.settle({225, 225, 2});
  EXPECT_TRUE(kit.has("hd_4_4"));
}

TEST(FailureFlight, ReadsThatFailAreTriedAgainUntilAllIsThere) {
  const CapturedLog log;
  const WorldPlan plan = grid_world({});
  const auto whole = untroubled(plan, kEye);
  FlightKit kit;
  kit.config.retry = {.io_retries = 20, .first_pause = 0.01f};
  kit.start();
  kit.mount(plan, true);
  kit.shuffled.failure_rate = 0.5f;
  kit.frames(200, kEye);
  EXPECT_GT(kit.shuffled.failed, 10u);
  kit.shuffled.failure_rate = 0;
  kit.frames(6400, kEye);
  EXPECT_EQ(kit.picture(plan), whole);
  for (const PlanMap& map : plan.maps) EXPECT_LE(told(log, map.name), 1u) << map.name;
}

TEST(FailureFlight, WhatAlwaysFailsIsGivenUpAndComesAfterARemount) {
  const CapturedLog log;
  const WorldPlan plan = grid_world({});
  FlightKit kit;
  kit.config.retry = {.io_retries = 3, .first_pause = 0.05f};
  kit.start();
  kit.mount(plan, true);
  const StreamIndex index = kit.streaming.maps().find_index(hash_name("hd_2_2"));
  kit.shuffled.broken = index;
  kit.frames(1000, kEye);
  EXPECT_EQ(kit.shuffled.failed, 4u);
  EXPECT_EQ(told(log, "hd_2_2"), 1u) << log.all();
  EXPECT_EQ(kit.streaming.explain_map(hash_name("hd_2_2")).reason, ExplainReason::failed);
  EXPECT_TRUE(kit.has("hd_2_3"));
  kit.shuffled.broken = kNoStream;
  kit.mount({.types = {{.name = "extra", .archetypes = {{"extra", 10}}}}});
  kit.settle(kEye);
  EXPECT_TRUE(kit.has("hd_2_2"));
}

// P068: each pool in turn is far too small for what the flight wants.
TEST(FailureFlight, FullPoolsHoldBackAndEmptyOnesGoOn) {
  struct Pool {
    const char* name;
    void (*shrink)(FlightKit& kit);
  };
  const Pool pools[] = {
      {"nodes", [](FlightKit& kit) { kit.scene_capacities.streamed_nodes = 12; }},
      {"containers", [](FlightKit& kit) { kit.scene_capacities.soa_containers = 12; }},
      {"descriptors", [](FlightKit& kit) { kit.scene_capacities.descriptors = 200; }},
      {"groups", [](FlightKit& kit) { kit.table_config.groups = 12; }},
      {"maps",
       [](FlightKit& kit) {
         kit.map_config.maps = 12;
         kit.config.max_maps = 200;
       }},
      {"LOD sets", [](FlightKit& kit) { kit.map_config.lod_sets = 12; }},
      {"archetypes", [](FlightKit& kit) { kit.archetype_config.slots = {.permanent = 64, .streamed = 4}; }},
      {"max_maps", [](FlightKit& kit) { kit.config.max_maps = 12; }},
      {"max_resident", [](FlightKit& kit) { kit.config.max_resident = 16; }},
      {"entities", [](FlightKit& kit) { kit.config.budget.entities = 50; }},
      {"bytes", [](FlightKit& kit) { kit.config.budget.bytes = 12000; }},
  };
  const WorldPlan plan = grid_world({});
  for (const Pool& pool : pools) {
    SCOPED_TRACE(pool.name);
    const CapturedLog log;
    FlightKit kit;
    pool.shrink(kit);
    kit.start();
    kit.mount(plan, true);
    uint32_t seen = 0;
    for (uint32_t f = 0; f < 1200; ++f) {
      const float angle = static_cast<float>(f) * 0.02f;
      ASSERT_TRUE(kit.frame({200 + 150 * std::sin(angle), 200 + 150 * std::cos(angle), 2}).ok());
      seen = std::max(seen, kit.maps.loaded_maps());
    }
    EXPECT_GT(seen, 3u);
    // What is nearest comes even so, wherever one is.
    for (const uint32_t x : {1u, 3u, 6u}) {
      for (const uint32_t y : {2u, 5u}) {
        const float at_x = static_cast<float>(x) * 50 + 25, at_y = static_cast<float>(y) * 50 + 25;
        kit.frames(300, {at_x, at_y, 2});
        const std::string name = "hd_" + std::to_string(x) + "_" + std::to_string(y);
        char line[256];
        EXPECT_TRUE(kit.has(name)) << name << ": " << to_text(kit.streaming.explain_map(hash_name(name)), line);
      }
    }
    std::set<std::string> texts;
    for (const Said& said : log.said()) EXPECT_TRUE(texts.insert(said.text).second) << "told twice: " << said.text;
    kit.streaming.shutdown();
    EXPECT_EQ(kit.maps.loaded_maps(), 0u);
    EXPECT_EQ(kit.graph.desc_pool().stats().used_bytes, 0u);
    EXPECT_EQ(kit.archetypes.streamed_used() + kit.archetypes.permanent_used(), 0u);
  }
}

TEST(FailureFlight, ALockedWorldPutsTheUpdateOff) {
  const WorldPlan plan = grid_world({});
  const auto whole = untroubled(plan, kEye);
  FlightKit kit;
  kit.start();
  kit.mount(plan, true);
  kit.max_chunks = 1;
  for (uint32_t f = 0; f < 200; ++f) {
    if (f % 3 == 0) {
      const FlightCounts before = kit.counts();
      kit.world.lock();
      EXPECT_EQ(kit.frame(kEye).code, StatusCode::in_use);
      EXPECT_EQ(kit.streaming.set_hour(f % 24).code, StatusCode::in_use);
      kit.world.unlock();
      EXPECT_EQ(kit.counts(), before);
    }
    ASSERT_TRUE(kit.frame(kEye).ok());
  }
  kit.settle(kEye);
  EXPECT_EQ(kit.picture(plan), whole);
}

// P082: the end may come at any time, also twice, and with maps half placed.
TEST(FailureFlight, AShutdownInAnyStateGivesAllBack) {
  WorldPlan plan = grid_world({.columns = 4, .rows = 4});
  for (PlanMap& map : plan.maps) add_many(map, 1300);
  for (uint32_t frames = 0; frames < 60; ++frames) {
    SCOPED_TRACE(frames);
    const CapturedLog log;
    FlightKit kit;
    kit.start();
    const FlightCounts before = kit.counts();
    kit.mount(plan, true);
    kit.shuffled.set_seed(frames);
    kit.shuffled.per_update = 2;
    kit.max_chunks = 1 + frames % 3;
    for (uint32_t f = 0; f < frames; ++f) {
      // To and fro, so that some are on their way out.
      const Vec3 eye = f / 8 % 2 == 0 ? Vec3{50, 50, 2} : Vec3{2000, 50, 2};
      ASSERT_TRUE(kit.frame(eye, {}, frames % 2 == 0 ? 1.0f : FlightKit::kDt).ok());
    }
    kit.streaming.shutdown();
    kit.streaming.shutdown();
    FlightCounts after = kit.counts();
    EXPECT_EQ(after.maps, 0u);
    EXPECT_EQ(after.groups, 0u);
    EXPECT_EQ(after.nodes, before.nodes);
    EXPECT_EQ(after.containers, before.containers);
    EXPECT_EQ(after.desc_bytes, 0u);
    EXPECT_EQ(after.archetypes, 0u);
    EXPECT_EQ(after.lod_sets, 0u);
    EXPECT_LT(after.bytes, before.bytes);
    EXPECT_EQ(kit.shuffled.waiting(), 0u);
  }
}

}  // namespace meridian::test
