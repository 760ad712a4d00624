// SPDX-License-Identifier: MIT
// Searches in a scene beside what other libraries make of the same boxes: a city of 9 x 12 km in maps of 1200.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/search/search.h"
#include "peers/spatial_peer.h"

namespace {

using namespace meridian;
using bench::SpatialPeer;

constexpr uint32_t kMapEntities = 1200;
constexpr uint32_t kQueries = 512;
constexpr float kRadius = 52, kBoxHalf = 46, kSegment = 1800;

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "search_bench: %s\n", what);
  std::abort();
}

float bell(Random& random, float width) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += random.between(-1.0f, 1.0f);
  return sum * width / 2;
}

/// Props, lamps and houses: two thirds of them in forty quarters, the rest all over the land.
std::vector<Aabb> city(uint32_t count) {
  Random random(2024);
  constexpr float kWide = 4500, kLong = 6000;
  Vec3 quarters[40];
  for (Vec3& q : quarters) {
    q.x = random.between(-kWide, kWide);
    q.y = random.between(-kLong, kLong);
  }
  std::vector<Aabb> out;
  while (out.size() < count) {
    Vec3 at{random.between(-kWide, kWide), random.between(-kLong, kLong), 0};
    if (random.below(3) != 0) {
      const Vec3& q = quarters[random.below(40)];
      at = {q.x + bell(random, 600), q.y + bell(random, 600), 0};
    }
    if (std::fabs(at.x) > kWide || std::fabs(at.y) > kLong) continue;
    at.z = 40 * std::sin(at.x / 900) * std::cos(at.y / 1100);
    const uint32_t kind = random.below(10);
    const float size = kind < 7   ? random.between(0.2f, 2.0f)
                       : kind < 9 ? random.between(2.0f, 8.0f)
                                  : random.between(8.0f, 30.0f);
    const Vec3 half{size, size * random.between(0.4f, 1.0f), size * random.between(0.4f, 1.5f)};
    out.push_back({{at.x - half.x, at.y - half.y, at.z}, {at.x + half.x, at.y + half.y, at.z + 2 * half.z}});
  }
  return out;
}

struct Segment {
  Vec3 a, b;
};

/// All that is measured with one number of entities.
class World {
 public:
  explicit World(uint32_t count) : boxes_(city(count)) {
    fill_scene();
    peers_.push_back(bench::make_boost_rtree(boxes_));
    peers_.push_back(bench::make_bullet_dbvt(boxes_));
    peers_.push_back(bench::make_embree_scene(boxes_));
    found_.resize(count);
    handles_.resize(count);
    choose_queries();
  }

  template <class Do>
  void run(benchmark::State& state, Do&& one) {
    size_t query = 0;
    uint64_t hits = 0;
    for (auto _ : state) {
      hits += one(query);
      query = query + 1 < kQueries ? query + 1 : 0;
    }
    state.counters["hits"] = benchmark::Counter(static_cast<double>(hits), benchmark::Counter::kAvgIterations);
  }

  uint32_t search(const Volume& volume) {
    SearchResult result;
    const Status done = search_now(scene_, {.volume = volume}, handles_, result);
    return done.ok() ? result.found : 0;
  }
  uint32_t search_sphere(size_t i) { return search(sphere_volume(centres_[i], kRadius)); }
  uint32_t search_box(size_t i) { return search(box_volume(box_at(i))); }
  uint32_t search_segment(size_t i) { return search(segment_volume(segments_[i].a, segments_[i].b)); }

  SpatialPeer* peer(size_t index) { return peers_[index].get(); }
  uint32_t peer_sphere(size_t p, size_t i) { return peers_[p]->sphere(centres_[i], kRadius, found_); }
  uint32_t peer_box(size_t p, size_t i) { return peers_[p]->box(box_at(i), found_); }
  uint32_t peer_segment(size_t p, size_t i) { return peers_[p]->segment(segments_[i].a, segments_[i].b, found_); }

 private:
  Aabb box_at(size_t i) const {
    const Vec3 half{kBoxHalf, kBoxHalf, kBoxHalf};
    return {centres_[i] - half, centres_[i] + half};
  }

  /// Cut in halves, across the longer side, until each part is a map.
  void cut(std::span<uint32_t> part, std::vector<std::span<uint32_t>>& maps) {
    if (part.size() <= kMapEntities) {
      maps.push_back(part);
      return;
    }
    Aabb around = boxes_[part[0]];
    for (const uint32_t i : part) around = {min(around.min, boxes_[i].min), max(around.max, boxes_[i].max)};
    const bool is_wide = around.max.x - around.min.x > around.max.y - around.min.y;
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    std::nth_element(part.begin(), middle, part.end(), [&](uint32_t a, uint32_t b) {
      return is_wide ? boxes_[a].min.x < boxes_[b].min.x : boxes_[a].min.y < boxes_[b].min.y;
    });
    cut({part.begin(), middle}, maps);
    cut({middle, part.end()}, maps);
  }

  void fill_scene() {
    const auto count = static_cast<uint32_t>(boxes_.size());
    std::vector<uint32_t>& order = entity_of_;
    order.resize(count);
    for (uint32_t i = 0; i < count; ++i) order[i] = i;
    std::vector<std::span<uint32_t>> maps;
    cut(order, maps);

    SceneCapacities capacities;
    capacities.streamed_nodes = static_cast<uint32_t>(maps.size());
    capacities.soa_containers = static_cast<uint32_t>(maps.size()) * 4;
    capacities.descriptors = count;
    require(scene_.init(capacities).ok(), "no scene");
    for (const std::span<uint32_t> map : maps) {
      // What the tools store in a map, and what is copied from there.
      const BlockCounts counts = block_counts(static_cast<uint32_t>(map.size()));
      std::vector<EntityDesc> descs(map.size());
      for (uint32_t i = 0; i < map.size(); ++i) {
        Aabb& box = boxes_[map[i]];
        EntityDesc& desc = descs[i];
        desc.handle = i;
        desc.centre = desc.pivot = (box.min + box.max) * 0.5f;
        desc.half = (box.max - box.min) * 0.5f;
        desc.distance = 200;
        desc.mask = kAllPhasesMask;
        desc.flags = kDescActive;
        box = {desc.centre - desc.half, desc.centre + desc.half};  // peers get the very same
      }
      struct alignas(16) Piece {
        std::byte bytes[16];
      };
      std::vector<Piece> scratch(counts.scratch_bytes / sizeof(Piece) + 1);
      std::vector<DescContainer> containers(counts.containers);
      std::vector<DescBounds> sub_blocks(counts.sub_blocks);
      std::vector<float> lanes(counts.lane_bytes / sizeof(float));
      std::vector<uint32_t> slot_of(map.size());
      const std::span<std::byte> bytes = std::as_writable_bytes(std::span(lanes));
      build_blocks(descs, std::as_writable_bytes(std::span(scratch)).first(counts.scratch_bytes),
                   {containers, sub_blocks, bytes, slot_of});
      StreamedNode* const node = scene_.create_streamed();
      require(node != nullptr, "no node");
      const EntityHandle group{.generation = 1, .slot = static_cast<uint32_t>(map.data() - order.data())};
      require(scene_.add_blocks(*node, {containers, sub_blocks, bytes, {}, group}).ok(), "no blocks");
      require(scene_.append(*scene_.root(), *node).ok(), "no place in the world");
    }
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

void measure(World& world, const std::string& size) {
  const auto add = [](const std::string& name, auto&& body) { benchmark::RegisterBenchmark(name.c_str(), body); };
  add("BM_search_sphere_" + size,
      [&](benchmark::State& s) { world.run(s, [&](size_t i) { return world.search_sphere(i); }); });
  add("BM_search_box_" + size,
      [&](benchmark::State& s) { world.run(s, [&](size_t i) { return world.search_box(i); }); });
  add("BM_search_segment_" + size,
      [&](benchmark::State& s) { world.run(s, [&](size_t i) { return world.search_segment(i); }); });
  const char* const names[] = {"boost_rtree", "bullet_dbvt", "embree"};
  for (size_t p = 0; p < std::size(names); ++p) {
    if (world.peer(p) == nullptr) continue;
    const std::string prefix = std::string("BM_") + names[p] + "_";
    add(prefix + "sphere_" + size,
        [&world, p](benchmark::State& s) { world.run(s, [&](size_t i) { return world.peer_sphere(p, i); }); });
    if (world.peer(p)->has_boxes())
      add(prefix + "box_" + size,
          [&world, p](benchmark::State& s) { world.run(s, [&](size_t i) { return world.peer_box(p, i); }); });
    add(prefix + "segment_" + size,
        [&world, p](benchmark::State& s) { world.run(s, [&](size_t i) { return world.peer_segment(p, i); }); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto small = std::make_unique<World>(100'000), large = std::make_unique<World>(1'000'000);
  measure(*small, "100k");
  measure(*large, "1M");
  benchmark::AddCustomContext("vectors", to_string(simd_width()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
