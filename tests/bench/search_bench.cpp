// SPDX-License-Identifier: MIT
// Searches in a scene beside what other libraries make of the same boxes: a city of 9 x 12 km in maps of 1200 (PERF-3).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "city.h"
#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/search/search.h"
#include "peers/spatial_peer.h"

namespace {

using namespace meridian;
using bench::require;
using bench::SpatialPeer;

/// In turn, one round before the clock starts. What all of them touch is more than a core's caches hold, and no round
/// is learnt by heart: so it is for a program that asks here and there. The few are the same over and over.
constexpr uint32_t kQueries = 512, kWarmQueries = 32;
constexpr float kRadius = 52, kBoxHalf = 46, kSegment = 1800;

struct Segment {
  Vec3 a, b;
};

/// All that is measured with one number of entities.
class World {
 public:
  explicit World(uint32_t count) : boxes_(bench::city(count)) {
    fill_scene();
    peers_.push_back(bench::make_boost_rtree(boxes_));
    peers_.push_back(bench::make_bullet_dbvt(boxes_));
    peers_.push_back(bench::make_embree_scene(boxes_));
    found_.resize(count);
    handles_.resize(count);
    choose_queries();
  }

  template <class Do>
  void run(benchmark::State& state, size_t queries, Do&& one) {
    size_t query = 0;
    for (size_t i = 0; i < queries; ++i) benchmark::DoNotOptimize(one(i));
    uint64_t hits = 0;
    for (auto _ : state) {
      hits += one(query);
      query = query + 1 < queries ? query + 1 : 0;
    }
    state.counters["hits"] = benchmark::Counter(static_cast<double>(hits), benchmark::Counter::kAvgIterations);
  }

  uint32_t search(const EntityQuery& query) {
    SearchResult result;
    const Status done = search_now(scene_, query, handles_, result);
    return done.ok() ? result.found : 0;
  }
  uint32_t search_sphere(size_t i) { return search({.volume = sphere_volume(centres_[i], kRadius)}); }
  uint32_t search_box(size_t i) { return search({.volume = box_volume(box_at(i))}); }
  uint32_t search_segment(size_t i) { return search({.volume = segment_volume(segments_[i].a, segments_[i].b)}); }

  SpatialPeer* peer(size_t index) { return peers_[index].get(); }
  uint32_t peer_sphere(size_t p, size_t i) { return peers_[p]->sphere(centres_[i], kRadius, found_); }
  uint32_t peer_box(size_t p, size_t i) { return peers_[p]->box(box_at(i), found_); }
  uint32_t peer_segment(size_t p, size_t i) { return peers_[p]->segment(segments_[i].a, segments_[i].b, found_); }

 private:
  Aabb box_at(size_t i) const {
    const Vec3 half{kBoxHalf, kBoxHalf, kBoxHalf};
    return {centres_[i] - half, centres_[i] + half};
  }

  void fill_scene() {
    bench::fill_scene(boxes_, entity_of_, scene_, {.descriptors = 0},
                      [](const Aabb&, EntityDesc& desc) { desc.distance = 200; });
    scene_.lock();  // tight, as while anything reads it
  }

  /// Segments that graze nothing, since libraries round differently there, and on which no inverse is infinite.
  void choose_queries() {
    Random random(7);
    const auto any_place = [&] {
      const Aabb& box = boxes_[random.below(static_cast<uint32_t>(boxes_.size()))];
      return (box.min + box.max) * 0.5f;
    };
    for (uint32_t i = 0; i < kQueries; ++i) centres_.push_back(any_place());
    while (segments_.size() < kQueries) {
      const Vec3 a = any_place();
      const float x = random.between(-1.0f, 1.0f), y = random.between(-1.0f, 1.0f), size = std::sqrt(x * x + y * y);
      if (size < 0.1f) continue;
      const Segment s{a, {a.x + x / size * kSegment, a.y + y / size * kSegment, a.z + random.between(-20.0f, 20.0f)}};
      uint32_t inner = 0, outer = 0;
      const bench::Ray ray(s.a, s.b);
      constexpr Vec3 kMargin{0.005f, 0.005f, 0.005f};
      // All that is near: half a metre of slack covers the margin.
      SearchResult near;
      require(search_now(scene_, {.volume = swept_sphere_volume(s.a, s.b, 0.5f)}, handles_, near).ok(), "no search");
      for (uint32_t i = 0; i < near.found; ++i) {
        const Aabb& box = boxes_[entity_of_[handles_[i].slot]];
        const bool is_hit = ray.touches({box.min - kMargin, box.max + kMargin});
        outer += is_hit ? 1 : 0;
        if (is_hit) inner += ray.touches({box.min + kMargin, box.max - kMargin}) ? 1 : 0;
      }
      if (inner == outer) segments_.push_back(s);
    }
    for (size_t p = 0; p < peers_.size(); ++p) {
      if (peers_[p] == nullptr) continue;
      for (size_t i = 0; i < kQueries; ++i) {
        require(search_sphere(i) == peer_sphere(p, i), "a peer finds something else in a sphere");
        require(!peers_[p]->has_boxes() || search_box(i) == peer_box(p, i), "a peer finds something else in a box");
        require(search_segment(i) == peer_segment(p, i), "a peer finds something else on a segment");
      }
    }
  }

  std::vector<Aabb> boxes_;
  std::vector<uint32_t> entity_of_;  // which box the slot of a handle is
  SceneGraph scene_;
  std::vector<std::unique_ptr<SpatialPeer>> peers_;
  std::vector<Vec3> centres_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> found_;
  std::vector<EntityHandle> handles_;
};

void measure(World& world, const std::string& size, size_t queries) {
  const auto add = [&](const std::string& name, auto one) {
    benchmark::RegisterBenchmark((name + size).c_str(),
                                 [&world, queries, one](benchmark::State& s) { world.run(s, queries, one); });
  };
  add("BM_search_sphere_", [&](size_t i) { return world.search_sphere(i); });
  add("BM_search_box_", [&](size_t i) { return world.search_box(i); });
  add("BM_search_segment_", [&](size_t i) { return world.search_segment(i); });
  const char* const names[] = {"boost_rtree", "bullet_dbvt", "embree"};
  for (size_t p = 0; p < std::size(names); ++p) {
    if (world.peer(p) == nullptr) continue;
    const std::string prefix = std::string("BM_") + names[p] + "_";
    add(prefix + "sphere_", [&world, p](size_t i) { return world.peer_sphere(p, i); });
    if (world.peer(p)->has_boxes()) add(prefix + "box_", [&world, p](size_t i) { return world.peer_box(p, i); });
    add(prefix + "segment_", [&world, p](size_t i) { return world.peer_segment(p, i); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto small = std::make_unique<World>(100'000), large = std::make_unique<World>(1'000'000);
  measure(*small, "100k", kQueries);
  measure(*large, "1M", kQueries);
  measure(*small, "100k_warm", kWarmQueries);
  measure(*large, "1M_warm", kWarmQueries);
  benchmark::AddCustomContext("vectors", to_string(simd_width()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
