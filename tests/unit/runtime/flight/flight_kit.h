// SPDX-License-Identifier: MIT
#pragma once
/// A streaming world of a test, with a device whose reads end in any order and fail now and then, and with counted
/// memory.
///
///   test::FlightKit kit;
///   kit.config.max_maps = 100;
///   kit.start();
///   const MountId base = kit.mount(test::grid_world({}), true);
///   kit.frame({100, 100, 2});
///   EXPECT_TRUE(kit.has("hd_2_2"));

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meridian/meridian.h"
#include "support/captured.h"
#include "support/small_world.h"
#include "support/world_kit.h"

namespace meridian::test {

/// Reads end in random order, some of them in each update, and fail at random. The same seed, the same flight.
class ShuffledIo final : public StreamIo {
 public:
  ShuffledIo() = default;
  void set_seed(uint64_t seed) { random_ = Random(seed); }

  Status submit(StreamJob& job) override {
    jobs_.push_back(&job);
    return {};
  }
  void pump(float /*seconds*/) override {
    for (uint32_t i = 0; i < per_update && !jobs_.empty(); ++i) end_one();
  }
  void wait() override {
    if (!jobs_.empty()) end_one();
  }
  size_t waiting() const { return jobs_.size(); }

  uint32_t per_update = 0xFFFFFFFF;
  float failure_rate = 0;
  StreamIndex broken = kNoStream;  ///< its reads fail, always
  std::set<StreamIndex> held;      ///< their reads do not end, unless they are cancelled
  uint64_t failed = 0;

 private:
  void end_one() {
    size_t at = random_.below(static_cast<uint32_t>(jobs_.size()));
    for (size_t i = 0; i < jobs_.size() && held.contains(jobs_[at]->index()) && !jobs_[at]->is_cancelled(); ++i) {
      at = (at + 1) % jobs_.size();
    }
    StreamJob& job = *jobs_[at];
    if (held.contains(job.index()) && !job.is_cancelled()) return;
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(at));
    if (job.index() == broken || random_.chance(failure_rate)) {
      ++failed;
      job.fail({StatusCode::io_error, "the test's device failed"});
      return;
    }
    job.run();
  }
  std::vector<StreamJob*> jobs_;
  Random random_{1};
};

/// All that a flight takes and gives back.
struct FlightCounts {
  uint64_t bytes = 0, blocks = 0, desc_bytes = 0;
  uint32_t maps = 0, groups = 0, containers = 0, nodes = 0, archetypes = 0, lod_sets = 0;
  uint64_t resident_bytes = 0, resident_entities = 0;
  friend bool operator==(const FlightCounts&, const FlightCounts&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const FlightCounts& c) {
  return out << c.bytes << " bytes in " << c.blocks << " blocks, " << c.desc_bytes << " of descriptors, maps " << c.maps
             << ", groups " << c.groups << ", containers " << c.containers << ", nodes " << c.nodes << ", archetypes "
             << c.archetypes << ", LOD sets " << c.lod_sets << ", resident " << c.resident_bytes << " bytes and "
             << c.resident_entities << " entities";
}

/// What stands in front of the world: it outlives it.
struct FlightParts {
  std::deque<PackBuffer> packs;
  ResourceMounts mounts;
};

struct FlightKit : FlightParts, WorldKit {
  static constexpr float kDt = 1.0f / 32;  // exact

  ShuffledIo shuffled;
  StreamIo* io = &shuffled;
  WorldStreamingConfig config{.map_slots = 512, .types_slots = 64};
  WorldStreaming streaming;
  uint32_t max_chunks = 0xFFFFFFFF;
  StreamProgress progress;

  FlightKit() {
    scene_capacities = {.streamed_nodes = 256,
                        .interior_nodes = 4,
                        .room_nodes = 4,
                        .portal_nodes = 4,
                        .containers = 16,
                        .soa_containers = 1024,
                        .descriptors = 64000};
    archetype_config.slots = {.permanent = 64, .streamed = 512};
    archetype_config.types = 64;
    archetype_config.components = 16;
    map_config.maps = 256;
    map_config.interiors = 4;
    map_config.lod_sets = 1024;
  }

  void start() {
    ASSERT_TRUE(init().ok());
    ASSERT_TRUE(mounts.init({.max_mounts = 32}).ok());
    config.mounts = &mounts;
    config.io = io;
    config.maps = &maps;
    const Status ready = streaming.init(config, memory);
    ASSERT_TRUE(ready.ok()) << ready.message;
  }

  /// Into the mounts only.
  MountId add_pack(const WorldPlan& plan) {
    packs.push_back(plan.pack());
    const Result<MountId> id = mounts.mount_pack(packs.back().span(), {.any_base = true});
    EXPECT_TRUE(id.ok()) << id.status().message << ' ' << id.status().detail;
    return id.ok() ? id.value() : MountId();
  }
  MountId mount(const WorldPlan& plan, bool is_base = false) {
    const MountId id = add_pack(plan);
    const Status mounted = streaming.mount(id, is_base);
    EXPECT_TRUE(mounted.ok()) << mounted.message << ' ' << mounted.detail;
    return id;
  }

  Status frame(const Vec3& eye, const Vec3& velocity = {}, float seconds = kDt) {
    const StreamSource source{.id = 1, .position = eye, .velocity = velocity};
    return streaming.update({.sources = {&source, 1}, .seconds = seconds, .max_chunks = max_chunks}, &progress);
  }
  void frames(uint32_t number, const Vec3& eye) {
    for (uint32_t i = 0; i < number; ++i) ASSERT_TRUE(frame(eye).ok());
  }
  /// Until all that is wanted at a place is there or has failed. The number of updates; fails the test after `most`.
  uint32_t settle(const Vec3& eye, uint32_t most = 600) {
    for (uint32_t i = 1; i <= most; ++i) {
      EXPECT_TRUE(frame(eye).ok());
      if (is_settled()) return i;
      wait_for_threads();
    }
    ADD_FAILURE() << "still under way after " << most << " updates";
    return most;
  }
  bool is_settled() const {
    if (progress.left != 0 || progress.started != 0 || streaming.engine().statistics().in_flight != 0) return false;
    for (uint32_t i = 0; i < streaming.engine().slot_count(); ++i) {
      const StreamState state = streaming.engine().state(i);
      if (state != StreamState::not_loaded && state != StreamState::loaded && state != StreamState::failed) {
        return false;
      }
    }
    return !streaming.is_unmounting();
  }
  /// Away from everything, until all maps have left.
  void leave() {
    for (uint32_t i = 0; i < 400 && (maps.loaded_maps() > 0 || !is_settled()); ++i) {
      ASSERT_TRUE(frame({1e5f, 1e5f, 0}).ok());
      wait_for_threads();
    }
    EXPECT_EQ(maps.loaded_maps(), 0u);
  }
  /// Updates are faster than threads.
  void wait_for_threads() {
    if (io != &shuffled && streaming.engine().statistics().in_flight > 0) io->wait();
  }

  uint32_t slot(const std::string& map) const { return streaming.maps().find(hash_name(map)); }
  MapContents* contents(const std::string& map) const {
    const uint32_t at = slot(map);
    return at == kNoStreamSlot ? nullptr : streaming.maps().contents(at);
  }
  bool has(const std::string& map) const {
    const MapContents* const in = contents(map);
    EXPECT_EQ(in != nullptr && in->is_shown(), slot(map) != kNoStreamSlot && streaming.maps().is_in_world(slot(map)));
    return in != nullptr && in->is_shown();
  }
  FlightCounts counts() const {
    FlightCounts out;
    out.bytes = memory.bytes();
    out.blocks = memory.blocks();
    out.desc_bytes = graph.desc_pool().stats().used_bytes;
    out.maps = maps.loaded_maps();
    out.groups = table.groups();
    out.containers = graph.used_containers();
    for (uint32_t i = 0; i < graph.node_capacity(); ++i) out.nodes += graph.node_at(i) != nullptr ? 1 : 0;
    out.archetypes = archetypes.streamed_used() + archetypes.permanent_used();
    out.lod_sets = maps.lod_sets().used();
    out.resident_bytes = streaming.engine().resident_bytes();
    out.resident_entities = streaming.engine().resident_entities();
    return out;
  }

  /// Whatever order it came in: which maps are in the world, where their entities stand and how much of them is seen.
  std::map<std::string, std::string> picture(const WorldPlan& plan) const {
    std::map<std::string, std::string> out;
    for (const MapContents& map : maps.all_contents()) {
      if (!map.is_shown()) continue;
      std::string text;
      for (uint32_t i = 0; i < map.entity_count(); ++i) {
        const Entity* const e = map.entity(i);
        if (e == nullptr) {
          text += "- ";
          continue;
        }
        const Vec3 at = e->position();
        const LodPlace place = map.lod_place(i);
        const LodSetRecord* const set = maps.lod_sets().find(place.set);
        char line[160];
        std::snprintf(line, sizeof(line), "%08x %.3f %.3f %.3f lod %.1f set %d%d%d; ", e->archetype()->name().value,
                      static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z),
                      static_cast<double>(e->lod().distance), set != nullptr ? 1 : 0,
                      set != nullptr && set->is_ready ? 1 : 0, place.is_parent ? 1 : 0);
        text += line;
      }
      const PlanMap* const known = plan.find(map.name());
      out[known != nullptr ? known->name : std::to_string(map.name().value)] = text;
    }
    return out;
  }
};

}  // namespace meridian::test
