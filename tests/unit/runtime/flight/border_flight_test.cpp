// SPDX-License-Identifier: MIT
// P070, P071, P068, BOX-5, STR-9: borders, speed, teleports, slow devices.
#include <cmath>
#include <map>

#include "meridian/stream/slow_io.h"
#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

/// A row of maps without LODs, each as long as it is wide, seen from `range` metres.
WorldPlan row_world(uint32_t count, float cell, float range, uint32_t entities = 2) {
  WorldPlan plan;
  plan.types.push_back({.name = "near", .archetypes = {{"house", 60}}});
  for (uint32_t i = 0; i < count; ++i) {
    PlanMap map{.name = "map_" + std::to_string(i)};
    const float at = static_cast<float>(i) * cell;
    map.box = {{at, 0, 0}, {at + cell, cell, 10}};
    map.range = grown(map.box, range);
    map.types = {"near"};
    for (uint32_t e = 0; e < entities; ++e) {
      map.entities.push_back({.archetype = "house", .at = map.box.min + Vec3{5, 5, static_cast<float>(e)}});
    }
    plan.maps.push_back(map);
  }
  return plan;
}

float distance_between(const Aabb& box, const Vec3& p) {
  const auto beyond = [](float low, float high, float at) { return std::max({low - at, at - high, 0.0f}); };
  const float x = beyond(box.min.x, box.max.x, p.x), y = beyond(box.min.y, box.max.y, p.y);
  return std::sqrt(x * x + y * y);
}

/// How often each slot was read and placed.
struct Loads {
  explicit Loads(const FlightKit& kit) : kit_(kit), was_(kit.streaming.maps().capacity()) {}
  void look() {
    for (uint32_t slot = 0; slot < was_.size(); ++slot) {
      const bool now = kit_.streaming.maps().is_in_world(slot);
      if (now && !was_[slot]) ++placed[slot];
      was_[slot] = now;
    }
  }
  std::map<uint32_t, uint32_t> placed;

 private:
  const FlightKit& kit_;
  std::vector<bool> was_;
};

}  // namespace

// P070, BOX-5, MDS-4
TEST(BorderFlight, TurningOnABorderPlacesEachMapOnce) {
  FlightKit kit;
  kit.start();
  const WorldPlan plan = grid_world({});
  kit.mount(plan, true);
  Loads loads(kit);
  // The range of hd_4_y begins at x = 160, that of hd_2_y ends at 190: both lie within the swing around 175.
  const float face = plan.map("hd_4_2").range.min.x;
  for (uint32_t f = 0; f < 10000; ++f) {
    const float swing = 5 * std::sin(static_cast<float>(f) * 0.05f);
    ASSERT_TRUE(kit.frame({face + swing, 125, 2}).ok());
    loads.look();
  }
  EXPECT_TRUE(kit.has("hd_4_2"));
  for (const auto& [slot, times] : loads.placed) {
    EXPECT_EQ(times, 1u) << name_text(kit.streaming.maps().name_of(slot)).text;
  }
  const StreamModuleStatistics& maps = kit.streaming.engine().statistics(1);
  EXPECT_EQ(maps.reads, loads.placed.size());
  EXPECT_EQ(maps.placed, loads.placed.size());
  EXPECT_EQ(maps.removed, 0u);
}

// P068, STR-9
TEST(BorderFlight, AThousandMetresASecondStayWithinAHundredMaps) {
  // Each map is seen from 600 m, so that 128 want to be there at once: more than may be.
  constexpr uint32_t kMost = 100, kBound = 8;  // updates within which the nearest one has come
  FlightKit kit;
  kit.config.max_maps = kMost;
  kit.config.map_slots = 1024;
  kit.start();
  const WorldPlan plan = row_world(600, 10, 600);
  kit.mount(plan, true);
  ASSERT_GT(kit.settle({0, 5, 2}), 0u);
  kit.max_chunks = 60;
  kit.shuffled.per_update = 40;
  Vec3 eye{0, 5, 2};
  uint32_t without = 0, worst = 0, most_loaded = 0;
  for (uint32_t f = 0; f < 500; ++f) {
    const float way = f < 180 ? 1000.0f : -1000.0f;
    eye.x += way * FlightKit::kDt;
    if (eye.x < 0 || eye.x > 5990) break;
    ASSERT_TRUE(kit.frame(eye, {way, 0, 0}).ok());
    most_loaded = std::max(most_loaded, kit.maps.loaded_maps());
    ASSERT_LE(kit.maps.loaded_maps(), kMost);
    const PlanMap* nearest = &plan.maps[0];
    for (const PlanMap& map : plan.maps) {
      if (distance_between(map.box, eye) < distance_between(nearest->box, eye)) nearest = &map;
    }
    without = kit.has(nearest->name) ? 0 : without + 1;
    worst = std::max(worst, without);
  }
  EXPECT_EQ(most_loaded, kMost);
  EXPECT_LE(worst, kBound);
  EXPECT_GT(kit.streaming.engine().statistics().denied, 0u);
}

// P071, BOX-2
TEST(BorderFlight, APinSaysTheTruthAboutAPlaceBeforeATeleport) {
  FlightKit kit;
  kit.start();
  const WorldPlan plan = grid_world({.columns = 16, .rows = 4});
  kit.mount(plan, true);
  kit.settle({25, 25, 2});
  kit.shuffled.per_update = 1;
  kit.max_chunks = 2;
  const Aabb square{{700, 60, 0}, {740, 90, 5}};
  BoxStreamer& streamer = kit.streaming.maps().streamer();
  const Result<PinId> pin = streamer.pin(square);
  ASSERT_TRUE(pin.ok());
  // Here and now by brute force over the plan.
  const auto all_there = [&] {
    for (const PlanMap& map : plan.maps) {
      const bool touches = map.range.min.x <= square.max.x && map.range.max.x >= square.min.x &&
                           map.range.min.y <= square.max.y && map.range.max.y >= square.min.y;
      if (touches && !kit.has(map.name)) return false;
    }
    return true;
  };
  uint32_t turned = 0;
  bool was = streamer.is_resident(square);
  EXPECT_FALSE(was);
  for (uint32_t f = 0; f < 200; ++f) {
    const Vec3 eye = f < 3 ? Vec3{25, 25, 2} : Vec3{720, 75, 2};
    ASSERT_TRUE(kit.frame(eye).ok());
    const bool is = streamer.is_resident(square);
    EXPECT_EQ(is, all_there()) << "update " << f;
    if (f < 3) {
      EXPECT_FALSE(is);
    }
    turned += is != was ? 1 : 0;
    was = is;
  }
  EXPECT_TRUE(was);
  EXPECT_EQ(turned, 1u);
  // With the pin it stays though the camera goes back; without, it goes.
  kit.shuffled.per_update = 100;
  kit.frames(200, {25, 25, 2});
  EXPECT_TRUE(streamer.is_resident(square));
  streamer.unpin(pin.value());
  kit.frames(200, {25, 25, 2});
  EXPECT_FALSE(streamer.is_resident(square));
}

namespace {
/// Along a row at 60 m/s with a device that takes 30 ms, and bandwidth for little more than what comes.
WorldStreamingStatistics slow_flight(float look_ahead) {
  SerialIo files;
  SlowIo disk(files, {.latency = 0.030, .bytes_per_second = 200e3});
  FlightKit kit;
  kit.io = &disk;
  kit.config.streamer.look_ahead = look_ahead;
  kit.start();
  kit.mount(row_world(200, 20, 5, 150), true);
  kit.settle({0, 10, 2});
  const uint64_t at_start = kit.streaming.statistics().late;
  for (uint32_t f = 0; f < 1900; ++f) {
    const Vec3 eye{60 * FlightKit::kDt * static_cast<float>(f), 10, 2};
    EXPECT_TRUE(kit.frame(eye, {60, 0, 0}).ok());
  }
  WorldStreamingStatistics out = kit.streaming.statistics();
  out.late -= at_start;
  kit.streaming.shutdown();
  return out;
}
}  // namespace

// BOX-5
TEST(BorderFlight, LookingAheadHalvesWhatIsLateOnASlowDevice) {
  const WorldStreamingStatistics without = slow_flight(0), with = slow_flight(2.5f);
  EXPECT_GT(without.late, 100u);
  EXPECT_LE(with.late * 2, without.late);
  EXPECT_GT(without.worst_late, 0);
  EXPECT_NE(without.worst_map.value, 0u);
}

}  // namespace meridian::test
