// SPDX-License-Identifier: MIT
// REL-6: a recorded flight takes the same decisions again, whatever reads it and however fast.
// REL-2: readers look at the world between updates while loader threads read.
#include <barrier>
#include <cmath>
#include <memory>
#include <set>
#include <thread>

#include "meridian/stream/stream_trace.h"
#include "meridian/stream/thread_io.h"
#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

WorldPlan flown_world() {
  WorldPlan plan = grid_world({});
  plan.type_file("near").archetypes.push_back({"clock", 60, 0xFFF});
  for (PlanMap& map : plan.maps) {
    if (map.content == 1) map.entities.push_back({.archetype = "clock", .at = map.box.min + Vec3{40, 10, 1}});
  }
  add_many(plan.map("hd_3_4"), 2500);
  add_many(plan.map("lod_1_1"), 1500);
  plan.map("hd_5_5").is_corrupt = true;
  plan.groups.push_back({"hd_2_2", 0x0F0F0F});
  return plan;
}

void configure(FlightKit& kit) {
  kit.config.max_maps = 40;
  kit.config.retry = {.io_retries = 3, .first_pause = 0.1f};
  kit.config.max_in_flight = 8;
}

struct Recorded {
  std::vector<uint64_t> decisions;                           ///< after each update
  std::vector<std::map<std::string, std::string>> pictures;  ///< after each 50th
};

void note(const FlightKit& kit, const WorldPlan& plan, Recorded& out) {
  out.decisions.push_back(kit.streaming.engine().decision_hash());
  if (out.decisions.size() % 50 == 0) out.pictures.push_back(kit.picture(plan));
}

/// What a flyer does in a frame.
struct Pilot {
  explicit Pilot(uint64_t seed) : random(seed) {}
  void fly(FlightKit& kit, bool with_clock) {
    if (random.chance(0.02f)) velocity = {random.between(-80.0f, 80.0f), random.between(-80.0f, 80.0f), 0};
    eye = eye + velocity * FlightKit::kDt;
    const bool is_outside = eye.x < -200 || eye.x > 600 || eye.y < -200 || eye.y > 600;
    if (is_outside || random.chance(0.01f)) eye = {random.between(0.0f, 400.0f), random.between(0.0f, 400.0f), 2};
    if (random.chance(0.02f)) {
      ASSERT_TRUE(kit.streaming.set_hour(random.below(24)).ok());
    }
    const StreamSource camera{.id = 1, .position = eye, .velocity = velocity};
    const StreamSearch volume = stream_sphere({300, 300, 0}, 5);
    WorldFrame frame{.sources = {&camera, 1}, .seconds = FlightKit::kDt, .max_chunks = 1 + random.below(6)};
    if (random.chance(0.1f)) frame.searches = {&volume, 1};
    if (with_clock) frame.max_microseconds = 200;
    ASSERT_TRUE(kit.streaming.update(frame, &kit.progress).ok());
  }
  Random random;
  Vec3 eye{200, 200, 2}, velocity{};
};

}  // namespace

TEST(ReplayFlight, AnyDeviceTakesTheSameDecisionsAgain) {
  const CapturedLog log;
  const WorldPlan plan = flown_world();
  StreamTraceWriter writer;
  Recorded recorded;
  {
    FlightKit kit;
    configure(kit);
    kit.start();
    kit.mount(plan, true);
    kit.shuffled.failure_rate = 0.05f;
    kit.streaming.set_recorder(&writer);
    Pilot pilot(77);
    for (uint32_t f = 0; f < 2000; ++f) {
      kit.shuffled.per_update = pilot.random.below(5);
      pilot.fly(kit, f % 2 == 0);
      note(kit, plan, recorded);
    }
    EXPECT_GT(kit.shuffled.failed, 10u);
    EXPECT_GT(kit.streaming.engine().statistics(1).removed, 100u);
    kit.streaming.set_recorder(nullptr);
  }
  ASSERT_TRUE(writer.is_complete());
  std::set<uint64_t> different(recorded.decisions.begin(), recorded.decisions.end());
  EXPECT_GT(different.size(), 300u);
  for (const uint32_t threads : {0u, 1u, 2u, 3u, 8u}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    SerialIo serial;
    ThreadIo many;
    FlightKit kit;
    configure(kit);
    kit.io = &serial;
    if (threads > 0) {
      ASSERT_TRUE(many.start({.threads = threads}).ok());
      kit.io = &many;
    }
    kit.start();
    kit.mount(plan, true);
    StreamTraceReader reader;
    ASSERT_TRUE(reader.open(writer.bytes()).ok());
    Recorded again;
    while (kit.streaming.replay_update(reader)) note(kit, plan, again);
    EXPECT_FALSE(reader.has_diverged()) << "after " << reader.updates();
    EXPECT_FALSE(reader.has_more());
    EXPECT_EQ(again.decisions, recorded.decisions);
    EXPECT_EQ(again.pictures, recorded.pictures);
    kit.streaming.shutdown();
  }
}

TEST(ReplayFlight, ARecordEndsWithAFrameThatItCannotHold) {
  const CapturedLog log;
  const WorldPlan plan = flown_world();
  StreamTraceWriter writer;
  std::vector<StreamSource> many(65);
  FlightKit kit;
  kit.config.streamer.max_sources = 100;
  kit.start();
  kit.mount(plan, true);
  kit.streaming.set_recorder(&writer);
  kit.frames(20, {200, 200, 2});
  const size_t size = writer.bytes().size();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(kit.streaming.update({.sources = many, .seconds = FlightKit::kDt}).ok());
  }
  EXPECT_EQ(writer.bytes().size(), size);
  uint32_t told = 0;
  for (const Said& said : log.said()) told += said.text.find("the record ends") != std::string::npos ? 1 : 0;
  EXPECT_EQ(told, 1u);
}

// Another world than the recorded one is noticed.
TEST(ReplayFlight, AnotherWorldDiverges) {
  const CapturedLog log;
  WorldPlan plan = flown_world();
  StreamTraceWriter writer;
  {
    FlightKit kit;
    kit.start();
    kit.mount(plan, true);
    kit.streaming.set_recorder(&writer);
    Pilot pilot(5);
    for (uint32_t f = 0; f < 100; ++f) pilot.fly(kit, false);
    kit.streaming.set_recorder(nullptr);
  }
  plan.map("hd_4_4").is_corrupt = plan.map("hd_3_3").is_corrupt = plan.map("lod_1_1").is_corrupt = true;
  FlightKit kit;
  kit.start();
  kit.mount(plan, true);
  StreamTraceReader reader;
  ASSERT_TRUE(reader.open(writer.bytes()).ok());
  uint32_t updates = 0;
  while (kit.streaming.replay_update(reader)) ++updates;
  EXPECT_TRUE(reader.has_diverged());
  EXPECT_LT(updates, 100u);
}

namespace {

struct Readers {
  explicit Readers(const FlightKit& in) : kit(in) {
    for (auto& found : results) found.resize(4096);
    for (uint32_t i = 0; i < 2; ++i) threads.emplace_back([this, i] { run(i); });
  }
  ~Readers() {
    ends = true;
    begin.arrive_and_wait();
    for (std::thread& t : threads) t.join();
  }
  /// Requires: the world is locked.
  void look(const Aabb& at) {
    box = at;
    begin.arrive_and_wait();
    end.arrive_and_wait();
  }
  void run(uint32_t number) {
    for (;;) {
      begin.arrive_and_wait();
      if (ends) return;
      ok[number] = kit.world.search_now({.volume = box_volume(box)}, results[number], counts[number]).ok();
      weights[number] = 0;
      for (const MapContents& map : kit.maps.all_contents()) {
        for (uint32_t i = 0; map.is_shown() && i < map.entity_count(); ++i) {
          const LodPlace place = map.lod_place(i);
          constexpr float kScales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};
          weights[number] += lod_weight(kit.maps.lod_sets(), place.set, place.is_parent, box.min, kScales);
        }
      }
      end.arrive_and_wait();
    }
  }

  const FlightKit& kit;
  std::barrier<> begin{3}, end{3};
  bool ends = false;
  Aabb box;
  std::vector<EntityHandle> results[2];
  SearchResult counts[2];
  uint64_t weights[2] = {};
  bool ok[2] = {};
  std::vector<std::thread> threads;
};

}  // namespace

TEST(ReplayFlight, ReadersSeeAWholeWorldWhileLoadersRead) {
  const CapturedLog log;
  const WorldPlan plan = flown_world();
  ThreadIo io;
  ASSERT_TRUE(io.start({.threads = 3}).ok());
  FlightKit kit;
  configure(kit);
  kit.io = &io;
  kit.start();
  kit.mount(plan, true);
  Pilot pilot(9);
  uint64_t found = 0;
  {
    Readers readers(kit);
    for (uint32_t f = 0; f < 600 && !testing::Test::HasFailure(); ++f) {
      pilot.fly(kit, f % 3 == 0);
      const Vec3 half{30, 30, 30};
      const Aabb box{pilot.eye - half, pilot.eye + half};
      kit.world.lock();
      readers.look(box);
      // By brute force: all that is shown, by their boxes.
      std::multiset<uint32_t> expected;
      for (const MapContents& map : kit.maps.all_contents()) {
        for (uint32_t i = 0; map.is_shown() && i < map.entity_count(); ++i) {
          const Entity* const e = map.entity(i);
          if (e == nullptr) continue;
          const EntityDesc d = kit.graph.read({e->container().container(), e->container().slot()});
          const Vec3 low = d.centre - d.half, high = d.centre + d.half;
          const bool touches = low.x <= box.max.x && high.x >= box.min.x && low.y <= box.max.y && high.y >= box.min.y &&
                               low.z <= box.max.z && high.z >= box.min.z;
          if (touches) expected.insert(e->handle().slot);
        }
      }
      for (uint32_t r = 0; r < 2; ++r) {
        EXPECT_TRUE(readers.ok[r]);
        std::multiset<uint32_t> seen;
        for (uint32_t i = 0; i < readers.counts[r].stored; ++i) seen.insert(readers.results[r][i].slot);
        EXPECT_EQ(seen, expected);
      }
      EXPECT_EQ(readers.weights[0], readers.weights[1]);
      found += expected.size();
      kit.world.unlock();
    }
  }
  EXPECT_GT(found, 1000u);
  kit.streaming.shutdown();
}

}  // namespace meridian::test
