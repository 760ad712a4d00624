// SPDX-License-Identifier: MIT
// Flies through a compiled world and measures what streaming costs the owner's thread, what it allocates, what it holds,
// what comes late, and whether levels of detail leave a hole. With --scan also what is seen of it each frame: a picture
// of the occluders, a scan for six phases, and reading all that it finds. Prints JSON.
//
//   fly_bench FOLDER [--speed KMH] [--seconds N] [--budget-us N] [--budget-mb N] [--latency MS] [--bandwidth MB/S]
//             [--look-ahead S] [--height M] [--span M] [--scan]  (M: half the width of what is flown over; 0: all)
//
// Costs are the processor time of the owner's thread: what others do on the machine does not count. Jobs of the scan run
// on that thread too.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <sys/resource.h>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "phases.h"
#include "support/counting_allocator.h"
#include "support/flight.h"

namespace {

using namespace meridian;        // NOLINT(google-build-using-namespace): a program
using namespace meridian::test;  // NOLINT(google-build-using-namespace)

struct Options {
  const char* folder = nullptr;
  double speed = 300, seconds = 600, latency = 0, bandwidth = 0, look_ahead = 2.5, height = 60, span = 0;
  uint32_t budget_us = 500, budget_mb = 512;
  bool scan = false;
};

bool parse(int argc, char** argv, Options& out) {
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name, double& to) {
      if (std::strcmp(argv[i], name) != 0 || i + 1 >= argc) return false;
      to = std::atof(argv[++i]);
      return true;
    };
    double budget_us = out.budget_us, budget_mb = out.budget_mb;
    if (value("--speed", out.speed) || value("--seconds", out.seconds) || value("--latency", out.latency) ||
        value("--bandwidth", out.bandwidth) || value("--look-ahead", out.look_ahead) || value("--height", out.height) ||
        value("--span", out.span) || value("--budget-us", budget_us) || value("--budget-mb", budget_mb)) {
      out.budget_us = static_cast<uint32_t>(budget_us);
      out.budget_mb = static_cast<uint32_t>(budget_mb);
      continue;
    }
    if (std::strcmp(argv[i], "--scan") == 0) {
      out.scan = true;
      continue;
    }
    if (argv[i][0] == '-' || out.folder != nullptr) return false;
    out.folder = argv[i];
  }
  return out.folder != nullptr;
}

/// Walks up from every `step`th entity that is no parent, and adds up the weights of its chain. Counts those that do
/// not come to 255 inside the range of the topmost one.
struct Holes {
  uint64_t chains = 0, holes = 0;

  void look(const Flight& flight, const Vec3& eye, uint32_t step) {
    const LodSetTable& sets = flight.maps.lod_sets();
    const float scales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};
    for (const MapContents& map : flight.maps.all_contents()) {
      if (!map.is_shown()) continue;
      for (uint32_t i = 0; i < map.entity_count(); i += step) {
        const Entity* at = map.entity(i);
        if (at == nullptr || at->lod().bound_children != 0 || !at->lod().has(LodFlag::bound)) continue;
        uint32_t sum = 0, index = i;
        const MapContents* in = &map;
        for (;;) {
          const LodPlace place = in->lod_place(index);
          sum += lod_weight(sets, place.set, place.is_parent, eye, scales);
          const Entity* const above = in->lod_parent(*at);
          if (above == nullptr) break;
          index = static_cast<uint32_t>(at->lod().parent);
          if (at->lod().has(LodFlag::parent_in_parent_map)) in = in->parent();
          at = above;
        }
        const Vec3 d = at->position() - eye;
        const float range = at->lod().distance;
        if (d.x * d.x + d.y * d.y + d.z * d.z >= range * range) continue;
        ++chains;
        holes += sum != 255 ? 1 : 0;
      }
    }
  }
};

/// Processor time of this thread. [us]
double thread_micros() {
  struct timespec now {};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

double part_of(const std::vector<double>& sorted, double part) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

/// The rest of a frame, after streaming, with what each part of it took.
class Chain {
 public:
  enum Part : uint32_t { kStreaming, kOccluders, kStart, kRead, kFrame, kParts };
  static constexpr const char* kPartNames[kParts] = {"streaming", "occluders", "scan_start", "scan_read", "frame"};

  OccluderSet occluders;

  Status init(SceneGraph& graph, const LodSetTable& sets, uint64_t frames) {
    for (std::vector<double>& part : micros_) part.reserve(frames);
    if (const Status s = picture_.init({.width = 512, .height = 256}); !s.ok()) return s;
    if (const Status s = jobs_.start(); !s.ok()) return s;
    return scan_.init({.graph = &graph, .lod_sets = &sets, .max_entries = 1u << 18});
  }

  Status look(const Camera& camera, double streaming_us) {
    const uint64_t before = allocation_count();
    const double begin = thread_micros();
    if (const Status s = picture_.rasterise(occluders, occlusion_of(camera), jobs_); !s.ok()) return s;
    const double drawn = thread_micros();
    if (const Status s = start_scan(scan_, camera, picture_, jobs_); !s.ok()) return s;
    const double started = thread_micros();
    const PhaseCounts counts = read_scan(scan_);
    if (const Status s = scan_.join(); !s.ok()) return s;
    const double end = thread_micros();
    for (uint32_t i = 0; i < kPhases; ++i) seen_[i] += counts.seen[i];
    occluded_ += counts.occluded;
    const double took[kParts] = {streaming_us, drawn - begin, started - drawn, end - started,
                                 streaming_us + end - begin};
    for (uint32_t i = 0; i < kParts; ++i) micros_[i].push_back(took[i]);
    allocated_ += allocation_count() - before;
    return {};
  }

  /// A member of the JSON object.
  void print() {
    const auto frames = static_cast<double>(micros_[kFrame].size());
    std::printf(", \"chain\": {\"allocations\": %" PRIu64 ", \"occluded_mean\": %.1f", allocated_,
                static_cast<double>(occluded_) / frames);
    for (uint32_t i = 0; i < kPhases; ++i)
      std::printf(", \"%s_mean\": %.1f", kPhaseNames[i], static_cast<double>(seen_[i]) / frames);
    for (uint32_t i = 0; i < kParts; ++i) {
      std::vector<double>& part = micros_[i];
      std::sort(part.begin(), part.end());
      std::printf(", \"%s\": {\"p50_us\": %.3f, \"p99_us\": %.3f, \"p99_9_us\": %.3f, \"max_us\": %.3f}", kPartNames[i],
                  part_of(part, 0.5), part_of(part, 0.99), part_of(part, 0.999), part.back());
    }
    std::printf("}");
  }

 private:
  OcclusionBuffer picture_;
  Scan scan_;
  SerialJobs jobs_;
  std::vector<double> micros_[kParts];
  uint64_t seen_[kPhases] = {}, occluded_ = 0, allocated_ = 0;
};

int fail(const char* what, const Status& why) {
  std::fprintf(stderr, "fly_bench: %s: %s (%" PRIu64 ")\n", what, why.message, why.detail);
  return 1;
}

int fly(const Options& options) {
  RegionAllocator region;
  const size_t bytes = (size_t{options.budget_mb} << 20) * 2 + (size_t{512} << 20);
  if (const Status s = region.init({.name = "streamed", .bytes = bytes, .prefault = true}); !s.ok())
    return fail("memory", s);
  ResourceMounts mounts;
  if (const Status s = mounts.init({}); !s.ok()) return fail("mounts", s);
  ManualIo files;
  files.reserve(1024);
  SlowIo device(files, {.latency = options.latency / 1000, .bytes_per_second = options.bandwidth * 1e6});
  FlightConfig config;
  config.streaming.budget.bytes = uint64_t{options.budget_mb} << 20;
  config.streaming.map_slots = 120000;
  config.streaming.types_slots = 20000;
  config.streaming.streamer.look_ahead = static_cast<float>(options.look_ahead);
  const auto chain = std::make_unique<Chain>();
  if (options.scan) {
    if (const Status s = chain->occluders.init({.occluders = 32768, .mesh_bytes = 16u << 20}); !s.ok())
      return fail("occluders", s);
    config.occluders = &chain->occluders;
  }
  const auto flight = std::make_unique<Flight>();
  if (const Status s = flight->init(mounts, device, config, region); !s.ok()) return fail("the world", s);
  const Result<MountId> mounted = mounts.mount_folder(options.folder);
  if (!mounted.ok()) return fail(options.folder, mounted.status());
  if (const Status s = flight->streaming.mount(mounted.value()); !s.ok()) return fail(options.folder, s);
  const WorldIndex& index = flight->streaming.layers().layer(0).index;
  Aabb ground = ground_of(index);
  const Vec3 middle = (ground.min + ground.max) * 0.5f;
  const auto span = static_cast<float>(options.span);
  const Vec3 half = span > 0 ? Vec3{span, span, 0} : (ground.max - ground.min) * 0.45f;
  ground = {middle - half, middle + half};
  FigureOfEight path(ground, static_cast<float>(options.height));

  constexpr double kFps = 60;
  const double step = options.speed / 3.6 / kFps;
  const auto frames = static_cast<uint64_t>(options.seconds * kFps);
  std::vector<double> micros;
  micros.reserve(frames);
  if (options.scan) {
    if (const Status s = chain->init(flight->graph, flight->maps.lod_sets(), frames); !s.ok()) return fail("scan", s);
  }
  Holes holes;
  uint64_t allocated = 0, most_bytes = 0;
  double longest_chunk = 0;
  // At first nothing is there: that is a loading screen, not a flight.
  const StreamSource start{.id = 1, .position = path.at(), .velocity = {}};
  for (int i = 0; i < 6000 && (i < 10 || !flight->streaming.is_settled()); ++i) {
    const Status s = flight->streaming.update({.sources = {&start, 1}, .seconds = static_cast<float>(1 / kFps)});
    if (!s.ok()) return fail("update", s);
    files.run();
  }
  flight->streaming.reset_statistics();
  for (uint64_t frame = 0; frame < frames; ++frame) {
    const Vec3 eye = path.at();
    path.fly(step);
    const StreamSource camera{.id = 1, .position = eye, .velocity = (path.at() - eye) * static_cast<float>(kFps)};
    const uint64_t before = allocation_count();
    const double begin = thread_micros();
    StreamProgress did;
    const Status updated = flight->streaming.update(
        {.sources = {&camera, 1}, .seconds = static_cast<float>(1 / kFps), .max_microseconds = options.budget_us},
        &did);
    const double us = thread_micros() - begin;
    if (!updated.ok()) return fail("update", updated);
    allocated += allocation_count() - before;
    micros.push_back(us);
    if (did.chunks <= 1) longest_chunk = std::max(longest_chunk, us);
    most_bytes = std::max(most_bytes, flight->streaming.engine().resident_bytes());
    if (options.scan) {
      if (const Status s = chain->look(camera_in_flight(eye, camera.velocity), us); !s.ok()) return fail("scan", s);
    }
    files.run();
    if (frame % 30 == 0) holes.look(*flight, eye, 7);
  }
  std::sort(micros.begin(), micros.end());
  double sum = 0;
  for (const double us : micros) sum += us;
  const StreamingEngine& engine = flight->streaming.engine();
  const StreamModuleStatistics& maps = engine.statistics(1);
  const WorldStreamingStatistics& late = flight->streaming.statistics();
  struct rusage usage {};
  (void)getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"maps\": %zu, \"frames\": %" PRIu64
              ", \"mean_us\": %.3f, \"median_us\": %.3f, \"p99_us\": %.3f, "
              "\"p99_9_us\": %.3f, \"max_us\": %.3f, \"longest_chunk_us\": %.3f, \"budget_us\": %u, "
              "\"allocations\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", \"budget_bytes\": %" PRIu64
              ", \"placed\": %" PRIu64 ", \"removed\": %" PRIu64 ", \"reads\": %" PRIu64 ", \"denied\": %" PRIu64
              ", \"failures\": %" PRIu64 ", \"chains\": %" PRIu64 ", \"holes\": %" PRIu64 ", \"late\": %" PRIu64
              ", \"late_seconds\": %.4f, \"worst_late\": %.4f, \"resident_set_kb\": %ld",
              index.maps().size(), frames, sum / static_cast<double>(micros.size()), part_of(micros, 0.5),
              part_of(micros, 0.99), part_of(micros, 0.999), micros.back(), longest_chunk, options.budget_us, allocated,
              most_bytes, config.streaming.budget.bytes, maps.placed, maps.removed, maps.reads,
              engine.statistics().denied, maps.failures, holes.chains, holes.holes, late.late, late.late_seconds,
              late.worst_late, usage.ru_maxrss);
  if (options.scan) chain->print();
  std::printf("}\n");
  flight->streaming.shutdown();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: fly_bench FOLDER [--speed KMH] [--seconds N] [--budget-us N] [--budget-mb N]\n"
                 "         [--latency MS] [--bandwidth MB/S] [--look-ahead S] [--height M] [--span M] [--scan]\n");
    return 2;
  }
  return fly(options);
}
