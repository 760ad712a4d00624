// SPDX-License-Identifier: MIT
// REL-5: a long flight with everything that may happen, after which all is as it was.
// MERIDIAN_SOAK_FRAMES sets how long; 2 000 000 take about ten minutes.
#include <cstdlib>
#include <cstring>

#include "meridian/stream/slow_io.h"
#include "meridian/stream/thread_io.h"
#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

constexpr uint32_t kFrames = MERIDIAN_SOAK_USUAL_FRAMES;

uint32_t frames_or(uint32_t usual) {
  const char* const text = std::getenv("MERIDIAN_SOAK_FRAMES");
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : usual;
}

WorldPlan soaked_world() {
  WorldPlan plan = grid_world({.columns = 16, .rows = 16});
  plan.type_file("near").archetypes.push_back({"clock", 60, 0xFFF});
  for (PlanMap& map : plan.maps) {
    if (map.content == 1) map.entities.push_back({.archetype = "clock", .at = map.box.min + Vec3{40, 10, 1}});
  }
  for (const char* const large : {"hd_4_4", "hd_8_3", "hd_12_12", "lod_3_5"}) add_many(plan.map(large), 2500);
  plan.map("hd_5_5").is_corrupt = true;
  plan.type_file("edge_9").is_corrupt = true;
  plan.groups.push_back({"lod_3_3", 0x0F0F0F});
  return plan;
}

WorldPlan soaked_overlay(const WorldPlan& base, Random& random) {
  WorldPlan out;
  for (int i = 0; i < 6; ++i) {
    const PlanMap& map = base.maps[random.below(256)];
    bool is_there = false;
    for (const PlanMap& has : out.maps) is_there = is_there || has.name == map.name;
    if (!is_there) out.maps.push_back(map);
  }
  if (random.chance(0.3f)) out.types.push_back(base.types[random.below(3)]);
  return out;
}

/// Away, and all that is cached gone: what is left belongs to the world itself.
FlightCounts at_rest(FlightKit& kit) {
  kit.max_chunks = 0xFFFFFFFF;
  kit.leave();
  kit.streaming.engine().set_budget({.bytes = 1});
  kit.frames(50, {1e5f, 1e5f, 0});
  kit.streaming.engine().set_budget({});
  kit.frames(50, {1e5f, 1e5f, 0});
  return kit.counts();
}

void soak(FlightKit& kit, uint64_t seed, uint32_t frames, SlowIo* slow) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const WorldPlan plan = soaked_world();
  kit.config.max_maps = 60;
  kit.config.map_slots = 512;
  kit.config.retry = {.io_retries = 2, .first_pause = 0.2f};
  kit.start();
  kit.mount(plan, true);
  const uint32_t map_slots = kit.streaming.maps().used(), type_slots = kit.streaming.types().used();
  const FlightCounts before = at_rest(kit);
  EXPECT_EQ(before.maps, 0u);
  const auto set_failures = [&](float rate) {
    kit.shuffled.failure_rate = rate;
    if (slow != nullptr) slow->set_failure_rate(static_cast<double>(rate));
  };
  Random random(seed);
  Vec3 eye{400, 400, 2}, velocity{};
  MountId over;
  set_failures(0.01f);
  for (uint32_t f = 0; f < frames && !testing::Test::HasFailure(); ++f) {
    if (random.chance(0.02f)) velocity = {random.between(-120.0f, 120.0f), random.between(-120.0f, 120.0f), 0};
    eye = eye + velocity * FlightKit::kDt;
    const bool is_outside = eye.x < -200 || eye.x > 1000 || eye.y < -200 || eye.y > 1000;
    if (is_outside || random.chance(0.005f)) eye = {random.between(0.0f, 800.0f), random.between(0.0f, 800.0f), 2};
    if (random.chance(0.01f)) {
      ASSERT_TRUE(kit.streaming.set_hour(random.below(24)).ok());
    }
    if (random.chance(0.003f) && !kit.streaming.is_unmounting()) {
      if (over) {
        ASSERT_TRUE(kit.streaming.begin_unmount(over).ok());
        over = {};
      } else {
        while (kit.packs.size() > 1) kit.packs.pop_back();
        over = kit.mount(soaked_overlay(plan, random));
      }
    }
    kit.shuffled.per_update = random.below(6);
    kit.max_chunks = 1 + random.below(8);
    ASSERT_TRUE(kit.frame(eye, velocity).ok());
    ASSERT_LE(kit.maps.loaded_maps(), 60u);
  }
  // What is wanted now comes, or has failed and says why.
  set_failures(0);
  kit.shuffled.per_update = 100;
  kit.max_chunks = 0xFFFFFFFF;
  kit.streaming.engine().retry_failed();
  (void)kit.streaming.set_hour(1);
  for (uint32_t f = 0; f < 2000 && (f < 100 || !kit.is_settled()); ++f) {
    ASSERT_TRUE(kit.frame(eye).ok());
    kit.wait_for_threads();
  }
  uint32_t wanted = 0;
  for (const PlanMap& map : plan.maps) {
    const uint32_t slot = kit.slot(map.name);
    if (!kit.streaming.maps().streamer().is_required(slot)) continue;
    ++wanted;
    const Explanation why = kit.streaming.explain_map(hash_name(map.name));
    char line[256];
    const bool is_as_it_should =
        why.reason == ExplainReason::present || (why.reason == ExplainReason::failed && !why.status.ok());
    EXPECT_TRUE(is_as_it_should) << to_text(why, line);
    const bool may_fail = map.is_corrupt || (!map.types.empty() && map.types.back() == "edge_9");
    EXPECT_EQ(why.reason == ExplainReason::failed, may_fail) << map.name << ": " << to_text(why, line);
  }
  EXPECT_GT(wanted, 3u);
  if (over) {
    ASSERT_TRUE(kit.streaming.begin_unmount(over).ok());
  }
  kit.settle(eye, 2000);
  const FlightCounts after = at_rest(kit);
  EXPECT_EQ(after, before);
  EXPECT_EQ(kit.streaming.maps().used(), map_slots);
  EXPECT_EQ(kit.streaming.types().used(), type_slots);
  EXPECT_EQ(kit.mounts.count(), 1u);
  EXPECT_GT(kit.streaming.engine().statistics(1).removed, frames / 50);
  kit.streaming.shutdown();
}

}  // namespace

TEST(SoakFlight, EverythingReturnsToTheStart) {
  const CapturedLog log;
  FlightKit kit;
  soak(kit, 1, frames_or(kFrames), nullptr);
  EXPECT_GT(kit.shuffled.failed, 10u);
}

TEST(SoakFlight, EverythingReturnsFromASlowDevice) {
  const CapturedLog log;
  SerialIo files;
  SlowIo disk(files, {.latency = 0.030, .bytes_per_second = 500e3});
  FlightKit kit;
  kit.io = &disk;
  soak(kit, 2, frames_or(kFrames / 3), &disk);
  EXPECT_GT(disk.failed(), 10u);
}

TEST(SoakFlight, EverythingReturnsFromLoaderThreads) {
  const CapturedLog log;
  ThreadIo io;
  ASSERT_TRUE(io.start({.threads = 4}).ok());
  FlightKit kit;
  kit.io = &io;
  soak(kit, 3, frames_or(kFrames / 3), nullptr);
}

}  // namespace meridian::test
