// SPDX-License-Identifier: MIT
#pragma once
/// A world that streams, for tests and benchmarks: all its parts with memory from one allocator, a device whose reads
/// are done when the caller says so, and paths to fly.

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "meridian/meridian.h"

namespace meridian::test {

/// Reads wait until run(): nobody waits for a file, and runs are the same each time.
class ManualIo final : public StreamIo {
 public:
  Status submit(StreamJob& job) override {
    jobs_.push_back(&job);
    return {};
  }
  void wait() override { (void)run(1); }
  /// Does the first `most` reads. How many it did.
  size_t run(size_t most = SIZE_MAX) {
    const size_t number = std::min(most, jobs_.size());
    const std::vector<StreamJob*> jobs(jobs_.begin(), jobs_.begin() + static_cast<ptrdiff_t>(number));
    jobs_.erase(jobs_.begin(), jobs_.begin() + static_cast<ptrdiff_t>(number));
    for (StreamJob* const job : jobs) job->run();
    return number;
  }
  size_t waiting() const { return jobs_.size(); }
  void reserve(size_t jobs) { jobs_.reserve(jobs); }

 private:
  std::vector<StreamJob*> jobs_;
};

struct FlightConfig {
  SceneCapacities scene{.streamed_nodes = 1200,
                        .interior_nodes = 1000,
                        .room_nodes = 4000,
                        .portal_nodes = 8000,
                        .containers = 20000,
                        .soa_containers = 20000,
                        .descriptors = 2000000,
                        .prefault = true};
  ArchetypeStoreConfig archetypes{.types = 20000, .components = 65536};
  uint32_t maps = 1100;
  uint32_t lod_sets = 65536;
  OccluderSet* occluders = nullptr;  ///< of the maps in the world; may be null
  WorldStreamingConfig streaming{};
};

/// Requires: `allocator` outlives it.
struct Flight {
  EntityTable table;
  EntityClassRegistry classes;
  SceneGraph graph;
  SceneRepresentation scene;
  World world;
  ArchetypeStore archetypes;
  MapWorld maps;
  WorldStreaming streaming;

  Status init(ResourceMounts& mounts, StreamIo& io, const FlightConfig& config, Allocator& allocator) {
    if (const Status s = table.init({}, allocator); !s.ok()) return s;
    if (const Status s = graph.init(config.scene, allocator); !s.ok()) return s;
    if (const Status s = scene.init({.graph = &graph, .table = &table, .classes = &classes}); !s.ok()) return s;
    scene.set_search(&search_scene);
    if (const Status s = world.init({.table = &table}, allocator); !s.ok()) return s;
    if (const Status s = world.add_representation(scene); !s.ok()) return s;
    if (const Status s = archetypes.init(config.archetypes, allocator); !s.ok()) return s;
    const MapWorldConfig map_config{.world = &world,
                                    .scene = &scene,
                                    .archetypes = &archetypes,
                                    .maps = config.maps,
                                    .interiors = 1000,
                                    .lod_sets = config.lod_sets,
                                    .occluders = config.occluders};
    if (const Status s = maps.init(map_config, allocator); !s.ok()) return s;
    WorldStreamingConfig all = config.streaming;
    all.mounts = &mounts;
    all.io = &io;
    all.maps = &maps;
    return streaming.init(all, allocator);
  }
};

/// Round and round on a figure of eight over a rectangle of the ground.
class FigureOfEight {
 public:
  FigureOfEight(const Aabb& over, float height)
      : middle_((over.min + over.max) * 0.5f), half_((over.max - over.min) * 0.5f), height_(height) {}

  Vec3 at() const {
    return {middle_.x + half_.x * static_cast<float>(std::sin(angle_)),
            middle_.y + half_.y * static_cast<float>(std::sin(2 * angle_)), height_};
  }
  /// The curve has no constant speed in its angle: five metres at a time are close enough.
  void fly(double metres) {
    for (; metres > 0; metres -= 5) {
      const double x = static_cast<double>(half_.x) * std::cos(angle_),
                   y = 2 * static_cast<double>(half_.y) * std::cos(2 * angle_);
      angle_ += std::min(metres, 5.0) / std::max(1.0, std::sqrt(x * x + y * y));
    }
  }

 private:
  Vec3 middle_, half_;
  float height_;
  double angle_ = 0;
};

/// The ground that the near maps of an index cover.
inline Aabb ground_of(const WorldIndex& index) {
  Aabb all{{1e9f, 1e9f, 0}, {-1e9f, -1e9f, 0}};
  for (const MapSlot& map : index.maps()) {
    if (map.entities.min.x > map.entities.max.x || map.asset == BoxAsset::map_low) continue;
    all.min = {std::min(all.min.x, map.entities.min.x), std::min(all.min.y, map.entities.min.y), 0};
    all.max = {std::max(all.max.x, map.entities.max.x), std::max(all.max.y, map.entities.max.y), 0};
  }
  return all;
}

}  // namespace meridian::test
