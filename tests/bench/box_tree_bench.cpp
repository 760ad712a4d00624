// SPDX-License-Identifier: MIT
// The static tree of streaming boxes beside what other libraries make of the same boxes: 8000 maps of a city of
// 9 x 12 km. And a box streamer on it, beside the bare queries that it makes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "city.h"
#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "meridian/stream/box_streamer.h"
#include "peers/spatial_peer.h"
#include "support/counting_allocator.h"
#include "world_index/box_tree_builder.h"

namespace {

using namespace meridian;
using bench::require;
using bench::SpatialPeer;

constexpr uint32_t kBoxes = 8000, kQueries = 512, kFrames = 4096;
constexpr float kRadius = 60, kBoxHalf = 54, kSegment = 120;
constexpr float kStep = 100 / 3.6f / 60;  // 100 km/h at 60 Hz

/// What maps hold, and from where that is seen: two thirds of them in forty quarters, most of small things, some of
/// large ones.
struct City {
  std::vector<Aabb> contents, ranges;
  std::vector<BoxAsset> assets;
  std::vector<Vec3> quarters;

  City() {
    Random random(2024);
    bench::CityPlan plan(random);
    quarters.assign(plan.quarters().begin(), plan.quarters().end());
    while (ranges.size() < kBoxes) {
      const Vec3 at = plan.place();
      const uint32_t kind = random.below(20);
      const float seen = kind < 14   ? random.between(80.0f, 190.0f)
                         : kind < 19 ? random.between(200.0f, 500.0f)
                                     : 1500.0f;
      const float size = kind < 14 ? random.between(20.0f, 70.0f) : kind < 19 ? random.between(60.0f, 200.0f) : 300.0f;
      const Vec3 half{size, size * random.between(0.5f, 1.5f), 15}, all{seen, seen, seen};
      contents.push_back({at - half, at + half});
      ranges.push_back({contents.back().min - all, contents.back().max + all});
      assets.push_back(kind < 14 ? BoxAsset::map_high : kind < 19 ? BoxAsset::map_medium : BoxAsset::map_low);
    }
  }
};

struct Segment {
  Vec3 a, b;
};

/// Loads at once.
class Store final : public BoxStreamerTarget {
 public:
  bool is_idle(uint32_t) override { return true; }
  void request(uint32_t slot, bool) override { streamer->set_in_world(slot, true); }
  void keep(uint32_t) override {}
  void release(uint32_t) override {}
  BoxStreamer* streamer = nullptr;
};

class Bench {
 public:
  Bench() : built_(tools::build_box_tree(city_.ranges)), content_(tools::build_box_tree(city_.contents)) {
    tree_ = built_.view();
    peers_.push_back(bench::make_boost_rtree(city_.ranges));
    peers_.push_back(bench::make_bullet_dbvt(city_.ranges));
    peers_.push_back(bench::make_embree_scene(city_.ranges));
    found_.resize(kBoxes);
    choose_queries();
    compare();
    start_streamer();
  }

  template <class Do>
  static void run(benchmark::State& state, Do&& one) {
    size_t query = 0;
    uint64_t hits = 0;
    for (auto _ : state) {
      hits += one(query);
      query = query + 1 < kQueries ? query + 1 : 0;
    }
    state.counters["hits"] = benchmark::Counter(static_cast<double>(hits), benchmark::Counter::kAvgIterations);
  }

  uint32_t sphere(size_t i) { return query_sphere(tree_, centres_[i], kRadius, found_); }
  uint32_t box(size_t i) { return query_box(tree_, box_at(centres_[i]), found_); }
  uint32_t segment(size_t i) { return query_segment(tree_, segments_[i].a, segments_[i].b, found_); }

  SpatialPeer* peer(size_t index) { return peers_[index].get(); }
  uint32_t peer_sphere(size_t p, size_t i) { return peers_[p]->sphere(centres_[i], kRadius, found_); }
  uint32_t peer_box(size_t p, size_t i) { return peers_[p]->box(box_at(centres_[i]), found_); }
  uint32_t peer_segment(size_t p, size_t i) { return peers_[p]->segment(segments_[i].a, segments_[i].b, found_); }

  /// A drive through the quarters and back: a source, its look-ahead, and a box that a script holds.
  void drive_bare(benchmark::State& state) {
    size_t frame = 0;
    for (auto _ : state) {
      const StreamSource s = source_at(frame);
      const Vec3 ahead = s.position + s.velocity * BoxStreamerConfig{}.look_ahead;
      uint32_t hits = query_sphere(tree_, s.position, s.radius, found_);
      hits += query_segment(tree_, s.position, ahead, s.radius, found_);
      hits += query_box(tree_, box_at(s.position + Vec3{200, 0, 0}), found_);
      benchmark::DoNotOptimize(hits);
      frame = frame + 1 < 2 * kFrames ? frame + 1 : 0;
    }
  }
  void drive(benchmark::State& state) {
    size_t frame = 0;
    update(0);
    const BoxStreamerStats before = streamer_.stats();
    const uint64_t allocations = test::allocation_count();
    for (auto _ : state) {
      update(frame);
      frame = frame + 1 < 2 * kFrames ? frame + 1 : 0;
    }
    const auto count = [&](uint64_t what) {
      return benchmark::Counter(static_cast<double>(what), benchmark::Counter::kAvgIterations);
    };
    state.counters["allocations"] = static_cast<double>(test::allocation_count() - allocations);
    state.counters["required"] = static_cast<double>(streamer_.stats().required);
    state.counters["changes"] = count(streamer_.stats().kept + streamer_.stats().requested +
                                      streamer_.stats().released - before.kept - before.requested - before.released);
  }

 private:
  static Aabb box_at(const Vec3& centre) {
    const Vec3 half{kBoxHalf, kBoxHalf, kBoxHalf};
    return {centre - half, centre + half};
  }

  /// Frames 0 to kFrames go from one quarter to another, the rest back.
  StreamSource source_at(size_t frame) const {
    const float sign = frame < kFrames ? 1.0f : -1.0f;
    const auto along = static_cast<float>(frame < kFrames ? frame : 2 * kFrames - 1 - frame) * kStep;
    StreamSource out;
    const Vec3 way = normalize(city_.quarters[1] - city_.quarters[0]);
    out.position = city_.quarters[0] + way * along + Vec3{0, 0, 20};
    out.velocity = way * (sign * kStep * 60) + Vec3{0, 0, 0.25f};
    out.radius = kRadius;
    return out;
  }

  void update(size_t frame) {
    const StreamSource source = source_at(frame);
    const StreamSearch held = stream_box(box_at(source.position + Vec3{200, 0, 0}));
    require(streamer_.update({&source, 1}, {&held, 1}, 1 / 60.0f).ok(), "no update");
  }

  void start_streamer() {
    store_.streamer = &streamer_;
    require(streamer_.init({.capacity = kBoxes}, store_, default_allocator()).ok(), "no streamer");
    std::vector<uint32_t> slots(kBoxes);
    for (uint32_t i = 0; i < kBoxes; ++i) slots[i] = i;
    const BoxTree content = content_.view();
    BoxTreeLayer layer;
    layer.range = tree_;
    layer.content = &content;
    layer.slots = slots;
    layer.assets = city_.assets;
    require(streamer_.add_tree(layer).ok(), "no tree");
  }

  /// Queries that graze nothing, since libraries round differently there, and on which no inverse is infinite.
  void choose_queries() {
    Random random(7);
    const auto any_place = [&] {
      const Aabb& box = city_.contents[random.below(kBoxes)];
      return (box.min + box.max) * 0.5f;
    };
    constexpr Vec3 kMargin{0.005f, 0.005f, 0.005f};
    while (centres_.size() < kQueries) {
      const Vec3 centre = any_place();
      const auto near = [&](float r) {
        return std::count_if(city_.ranges.begin(), city_.ranges.end(),
                             [&](const Aabb& b) { return bench::touches_sphere(b, centre, r); });
      };
      if (near(kRadius - 0.005f) == near(kRadius + 0.005f)) centres_.push_back(centre);
    }
    while (segments_.size() < kQueries) {
      const Vec3 a = any_place();
      const float x = random.between(-1.0f, 1.0f), y = random.between(-1.0f, 1.0f), size = std::sqrt(x * x + y * y);
      if (size < 0.1f) continue;
      const Segment s{a, {a.x + x / size * kSegment, a.y + y / size * kSegment, a.z + random.between(-20.0f, 20.0f)}};
      const bench::Ray ray(s.a, s.b);
      const bool is_clear = std::all_of(city_.ranges.begin(), city_.ranges.end(), [&](const Aabb& b) {
        return ray.touches({b.min - kMargin, b.max + kMargin}) == ray.touches({b.min + kMargin, b.max - kMargin});
      });
      if (is_clear) segments_.push_back(s);
    }
  }

  /// All find the very same boxes, with all widths.
  void compare() {
    std::vector<uint32_t> theirs(kBoxes);
    const auto same = [&](uint32_t ours, uint32_t count, const char* what) {
      require(ours == count, what);
      std::sort(found_.begin(), found_.begin() + ours);
      std::sort(theirs.begin(), theirs.begin() + count);
      require(std::equal(found_.begin(), found_.begin() + ours, theirs.begin()), what);
    };
    for (uint32_t width = 0; width < kSimdWidths; ++width) {
      if (!set_simd_width(static_cast<SimdWidth>(width))) continue;
      for (const auto& p : peers_) {
        if (p == nullptr) continue;
        for (size_t i = 0; i < kQueries; ++i) {
          same(sphere(i), p->sphere(centres_[i], kRadius, theirs), "a peer finds something else in a sphere");
          if (p->has_boxes()) same(box(i), p->box(box_at(centres_[i]), theirs), "a peer finds something else in a box");
          same(segment(i), p->segment(segments_[i].a, segments_[i].b, theirs),
               "a peer finds something else on a segment");
        }
      }
    }
    require(set_simd_width(best_simd_width()), "no vectors");
  }

  City city_;
  tools::BuiltBoxTree built_, content_;
  BoxTree tree_;
  std::vector<std::unique_ptr<SpatialPeer>> peers_;
  std::vector<Vec3> centres_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> found_;
  Store store_;
  BoxStreamer streamer_;
};

template <class Body>
void add(const std::string& name, Body&& body) {
  benchmark::RegisterBenchmark(name.c_str(), body);
}

/// The same with vectors of that width.
template <class Body>
auto with_width(SimdWidth width, Body&& body) {
  return [=](benchmark::State& s) {
    require(set_simd_width(width), "no such width");
    body(s);
    require(set_simd_width(best_simd_width()), "no vectors");
  };
}

void measure(Bench& b) {
  const auto add = [](const std::string& name, auto&& body) { benchmark::RegisterBenchmark(name.c_str(), body); };
  const char* const widths[kSimdWidths] = {"scalar", "128", "256", "512"};
  for (uint32_t i = 0; i < kSimdWidths; ++i) {
    const auto width = static_cast<SimdWidth>(i);
    if (!has_simd_width(width)) continue;
    const auto add_ours = [&](const char* what, auto&& body) {
      add(std::string("BM_box_tree_") + widths[i] + "_" + what, [body, width](benchmark::State& s) {
        require(set_simd_width(width), "no such width");
        body(s);
        require(set_simd_width(best_simd_width()), "no vectors");
      });
    };
    add_ours("sphere", [&b](benchmark::State& s) { b.run(s, [&](size_t q) { return b.sphere(q); }); });
    add_ours("box", [&b](benchmark::State& s) { b.run(s, [&](size_t q) { return b.box(q); }); });
    add_ours("segment", [&b](benchmark::State& s) { b.run(s, [&](size_t q) { return b.segment(q); }); });
    add_ours("update", [&b](benchmark::State& s) { b.drive(s); });
    add_ours("bare_queries", [&b](benchmark::State& s) { b.drive_bare(s); });
  }
  const char* const names[] = {"boost_rtree", "bullet_dbvt", "embree"};
  for (size_t p = 0; p < std::size(names); ++p) {
    if (b.peer(p) == nullptr) continue;
    const std::string prefix = std::string("BM_") + names[p] + "_";
    add(prefix + "sphere", [&b, p](benchmark::State& s) { b.run(s, [&](size_t q) { return b.peer_sphere(p, q); }); });
    if (b.peer(p)->has_boxes())
      add(prefix + "box", [&b, p](benchmark::State& s) { b.run(s, [&](size_t q) { return b.peer_box(p, q); }); });
    add(prefix + "segment", [&b, p](benchmark::State& s) { b.run(s, [&](size_t q) { return b.peer_segment(p, q); }); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto all = std::make_unique<Bench>();
  measure(*all);
  benchmark::AddCustomContext("vectors", to_string(simd_width()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
