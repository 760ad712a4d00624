// SPDX-License-Identifier: MIT
// The visibility scan beside what other libraries need for the frusta alone, and beside a plain loop that does all of it:
// a city of 9 x 12 km in maps of 1200, looked at from streets (PERF-1).
//
// scan_bench --profile KIND ENTITIES SHAPES: one drive with nothing timed, for profilers; KIND is scan, plain,
// or moving: a scan with 2560 entities that move.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "meridian/base/simd.h"
#include "scan_city.h"
#include "worker_jobs.h"

namespace {

using namespace meridian;
using bench::kFrames;
using bench::require;
using bench::ScanCity;
using bench::View;
using bench::Way;

/// One of those that are measured side by side.
struct Contender {
  std::string name;
  std::function<uint32_t(const View&)> one;
  SimdWidth width = best_simd_width();
};

constexpr std::chrono::milliseconds kTurn{4};  ///< for a contender that is slow; at least kFewFrames
constexpr size_t kFewFrames = 8;
constexpr size_t kFirstFrames = 2;  ///< not timed: they wake threads, and bring what caches hold in a flight

/// All drive along a street in turn, and then along the next one, so that a machine whose speed drifts is the same for
/// all. A frame's shapes are made just before it, as a program makes them, and only what comes then is timed. Counters:
/// microseconds a frame.
void add_case(const std::string& name, std::vector<View> views, std::vector<Contender> contenders) {
  const auto run = [=](benchmark::State& state) {
    std::vector<double> seconds(contenders.size()), frames(contenders.size());
    size_t street = 0;
    View view;
    for (auto _ : state) {
      double all = 0;
      for (size_t c = 0; c < contenders.size(); ++c) {
        set_simd_width(contenders[c].width);
        std::chrono::duration<double> taken{};
        size_t i = 0;
        for (; i < kFirstFrames; ++i) benchmark::DoNotOptimize(contenders[c].one(view = views[street % views.size()]));
        for (i = 0; i < kFrames && (i < kFewFrames || taken < kTurn); ++i) {
          view = views[(street + i) % views.size()];
          const auto begin = std::chrono::steady_clock::now();
          benchmark::DoNotOptimize(contenders[c].one(view));
          taken += std::chrono::steady_clock::now() - begin;
        }
        seconds[c] += taken.count();
        frames[c] += static_cast<double>(i);
        all += taken.count();
      }
      set_simd_width(best_simd_width());
      street += kFrames;
      state.SetIterationTime(all);
    }
    for (size_t c = 0; c < contenders.size(); ++c) state.counters[contenders[c].name] = seconds[c] / frames[c] * 1e6;
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Iterations(2 * bench::kDriven);
}

void measure(ScanCity& city, const std::string& size, const std::string& kind, JobSystem& two, bool has_all_widths) {
  constexpr const char* kPeers[] = {"boost_rtree", "bullet_dbvt"};
  const auto scan = [&city](const View& v) { return city.scan(v, city.serial()); };
  for (const uint32_t shapes : {1u, 4u, 8u, 24u}) {
    for (const Way way : {Way::drive, Way::jump}) {
      const std::vector<View> views = city.views(shapes, way);
      city.check(views);
      std::vector<Contender> contenders = {{"scan", scan}, {"plain", [&city](const View& v) { return city.plain(v); }}};
      for (size_t p = 0; p < std::size(kPeers); ++p) {
        if (city.peer(p) == nullptr) continue;
        contenders.push_back({kPeers[p], [&city, p](const View& v) { return city.peer_frusta(p, v); }});
      }
      if (way == Way::drive) {
        contenders.push_back({"two_threads", [&city, &two](const View& v) { return city.scan(v, two); }});
        contenders.push_back({"two_scans", [&city, &two](const View& v) { return city.scan_twice(v, two); }});
        for (const SimdWidth width : {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512})
          if (has_all_widths && has_simd_width(width)) contenders.push_back({to_string(width), scan, width});
      }
      add_case("BM_frame_" + std::to_string(shapes) + "_" + size + "_" + kind + (way == Way::jump ? "_jump" : ""),
               views, contenders);
    }
  }
  const std::vector<View> views = city.views(8, Way::jump);
  benchmark::RegisterBenchmark(("BM_scan_first_block_8_" + size + "_" + kind).c_str(), [&city, views](
                                                                                           benchmark::State& state) {
    size_t view = 0;
    for (auto _ : state) {
      state.SetIterationTime(city.first_block(views[view]));
      view = view + 1 < views.size() ? view + 1 : 0;
    }
  })->UseManualTime();
}

/// Profilers collect in here alone.
__attribute__((noinline)) uint32_t profiled_frame(ScanCity& city, const View& view, bool is_scan) {
  return is_scan ? city.scan(view, city.serial()) : city.plain(view);
}

int profile(const std::string& kind, uint32_t entities, uint32_t shapes) {
  require(kind == "scan" || kind == "plain" || kind == "moving", "--profile scan, plain or moving");
  ScanCity city(entities, true, false);
  if (kind == "moving") city.add_moving(false);
  const std::vector<View> views = city.views(shapes, Way::drive);
  uint64_t found = 0;
  for (const View& view : views) found += profiled_frame(city, view, kind != "plain");
  std::printf("%zu frames, %.1f entries each\n", views.size(),
              static_cast<double>(found) / static_cast<double>(views.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--profile") == 0)
    return profile(argv[2], static_cast<uint32_t>(std::atoi(argv[3])), static_cast<uint32_t>(std::atoi(argv[4])));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  bench::WorkerJobs two(1);
  std::vector<std::unique_ptr<ScanCity>> cities;
  struct Size {
    const char* name;
    uint32_t count;
  };
  for (const Size& size : {Size{"10k", 10'000}, Size{"100k", 100'000}, Size{"1M", 1'000'000}}) {
    for (const bool is_clustered : {true, false}) {
      cities.push_back(std::make_unique<ScanCity>(size.count, is_clustered, true));
      measure(*cities.back(), size.name, is_clustered ? "clustered" : "uniform", two, is_clustered);
    }
  }
  // What moves costs what a scan takes longer with it: beside the same world without.
  ScanCity moving(100'000, true, false), moving_near(100'000, true, false);
  moving.add_moving(false);
  moving_near.add_moving(true);
  const std::vector<View> drive = moving.views(8, Way::drive);
  const std::vector<View> first(drive.begin(), drive.begin() + kFrames);
  const auto scan_of = [](ScanCity& city) { return [&city](const View& v) { return city.scan(v, city.serial()); }; };
  ScanCity& still = *cities[2];  // 100k, clustered
  add_case("BM_moving", drive, {{"still", scan_of(still)}, {"moving", scan_of(moving)}});
  add_case("BM_moving_near", first, {{"still", scan_of(still)}, {"moving", scan_of(moving_near)}});
  benchmark::AddCustomContext("vectors", to_string(best_simd_width()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
