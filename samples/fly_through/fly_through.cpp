// SPDX-License-Identifier: MIT
// Mounts a pack, flies through its world, prints what streamed each second, and sums it up.

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "frame_picture.h"
#include "meridian/meridian.h"
#include "meridian/resource/decompressor_set.h"
#include "path.h"
#include "picture.h"
#include "sight.h"

namespace {

using namespace meridian;  // NOLINT(google-build-using-namespace): a program of one purpose
using Clock = std::chrono::steady_clock;

struct Options {
  std::string pack, json, picture, pictures;
  std::vector<float> path;                                 // x, y, z by turns
  std::vector<std::string> explained, explained_entities;  // maps; entities as MAP:INDEX
  double speed = 300, seconds = 60, latency = 0, bandwidth = 0, failures = 0;
  uint32_t fps = 60, budget_us = 500, budget_mb = 512, max_maps = 1000, threads = 0;
  float look_ahead = 2.5f, height = 60, every = 5, reach = 400;
  bool quiet = false;
};

/// The device of a simulated flight: reads are done between frames, when nobody is waiting for them, so that what a
/// frame costs is only what streaming does on its thread. A host hooks its own threads in the same way.
class BetweenFrames final : public StreamIo {
 public:
  Status submit(StreamJob& job) override {
    jobs_.push_back(&job);
    return {};
  }
  void wait() override { run(); }
  void run() {
    std::vector<StreamJob*> jobs;
    jobs.swap(jobs_);
    for (StreamJob* const job : jobs) job->run();
  }

 private:
  std::vector<StreamJob*> jobs_;
};

/// All that a world in flight needs. Memory of maps comes from one region, so that nothing calls malloc on the way.
struct Game {
  RegionAllocator memory;
  DecompressorSet decompressor;
  ResourceMounts mounts;
  EntityTable table;
  EntityClassRegistry classes;
  SceneGraph graph;
  SceneRepresentation scene;
  World world;
  ArchetypeStore archetypes;
  OccluderSet occluders;
  MapWorld maps;
  WorldStreaming streaming;
  Sight sight;

  Status init(const Options& options, StreamIo& io) {
    const size_t bytes = (size_t{options.budget_mb} << 20) * 2 + (size_t{256} << 20);
    if (const Status s = memory.init({.name = "streamed", .bytes = bytes}); !s.ok()) return s;
    if (const Status s = decompressor.init(4); !s.ok()) return s;
    if (const Status s = mounts.init({.decompressor = &decompressor}); !s.ok()) return s;
    if (const Status s = table.init({}); !s.ok()) return s;
    const SceneCapacities scene_size{.streamed_nodes = options.max_maps + 8,
                                     .interior_nodes = 1000,
                                     .room_nodes = 4000,
                                     .portal_nodes = 8000,
                                     .containers = 20000,
                                     .soa_containers = 20000,
                                     .descriptors = 2000000,
                                     .prefault = true};
    if (const Status s = graph.init(scene_size); !s.ok()) return s;
    if (const Status s = scene.init({.graph = &graph, .table = &table, .classes = &classes}); !s.ok()) return s;
    if (const Status s = world.init({.table = &table}); !s.ok()) return s;
    if (const Status s = world.add_representation(scene); !s.ok()) return s;
    if (const Status s = archetypes.init({.types = 20000, .components = 65536}); !s.ok()) return s;
    if (const Status s = occluders.init({.occluders = 16384}); !s.ok()) return s;
    const MapWorldConfig map_config{.world = &world,
                                    .scene = &scene,
                                    .archetypes = &archetypes,
                                    .maps = options.max_maps + 8,
                                    .interiors = 1000,
                                    .lod_sets = 65536,
                                    .occluders = &occluders};
    if (const Status s = maps.init(map_config, memory); !s.ok()) return s;
    if (const Status s = sight.init(graph, maps.lod_sets(), occluders, default_allocator()); !s.ok()) return s;
    BoxStreamerConfig streamer;
    streamer.look_ahead = options.look_ahead;
    return streaming.init({.mounts = &mounts,
                           .io = &io,
                           .maps = &maps,
                           .budget = {.bytes = uint64_t{options.budget_mb} << 20},
                           .map_slots = 200000,
                           .types_slots = 20000,
                           .max_maps = options.max_maps,
                           .streamer = streamer},
                          memory);
  }
};

double part_of(std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

struct Summary {
  std::vector<double> micros;       // of each frame, on the owner's thread
  std::vector<double> scan_micros;  // likewise, of what it sees
  uint64_t seen[kPhases] = {}, occluded = 0;
  uint32_t most_seen[kPhases] = {};
  uint64_t frames = 0;
  uint32_t most_maps = 0;
  uint64_t most_bytes = 0;
};

void print_json(std::FILE* out, const Game& game, Summary& all, const Options& options) {
  const WorldStreamingStatistics& late = game.streaming.statistics();
  const StreamingEngine& engine = game.streaming.engine();
  const StreamModuleStatistics& maps = engine.statistics(1);
  std::fprintf(out,
               "{\n  \"frames\": %" PRIu64
               ",\n  \"speed_kmh\": %g,\n  \"owner_us\": {\"median\": %.1f, \"p99\": %.1f, "
               "\"p99_9\": %.1f, \"max\": %.1f},\n  \"maps\": {\"placed\": %" PRIu64 ", \"removed\": %" PRIu64
               ", \"most\": %u, \"reads\": %" PRIu64 ", \"reused\": %" PRIu64 ", \"failed\": %" PRIu64
               "},\n  \"denied\": %" PRIu64 ",\n  \"peak_bytes\": %" PRIu64 ",\n  \"late\": {\"count\": %" PRIu64
               ", \"seconds\": %.3f, \"worst_seconds\": %.3f},\n",
               all.frames, options.speed, part_of(all.micros, 0.5), part_of(all.micros, 0.99),
               part_of(all.micros, 0.999), part_of(all.micros, 1), maps.placed, maps.removed, all.most_maps, maps.reads,
               maps.reused, maps.failures, engine.statistics().denied, engine.statistics().peak_bytes, late.late,
               late.late_seconds, late.worst_late);
  std::fprintf(out, "  \"scan_us\": {\"median\": %.1f, \"p99\": %.1f, \"max\": %.1f},\n  \"visible\": {",
               part_of(all.scan_micros, 0.5), part_of(all.scan_micros, 0.99), part_of(all.scan_micros, 1));
  const auto frame_count = static_cast<double>(std::max<uint64_t>(all.frames, 1));
  for (uint32_t i = 0; i < kPhases; ++i) {
    std::fprintf(out, "%s\"%s\": {\"mean\": %.1f, \"most\": %u}", i == 0 ? "" : ", ", kPhaseNames[i],
                 static_cast<double>(all.seen[i]) / frame_count, all.most_seen[i]);
  }
  std::fprintf(out, "},\n  \"occluded_mean\": %.1f\n}\n", static_cast<double>(all.occluded) / frame_count);
}

/// Of an entity of a map, by its index in the file: whether each phase sees it, and why not.
void explain_entity(std::FILE* text, const Game& game, const std::string& asked) {
  const size_t colon = asked.rfind(':');
  const std::string map = asked.substr(0, colon);
  const uint32_t number = colon == std::string::npos ? 0 : static_cast<uint32_t>(std::atoi(asked.c_str() + colon + 1));
  char line[512];
  const MapStore& maps = game.streaming.maps();
  const uint32_t slot = maps.find(name_of_file(map));
  const MapContents* const contents = maps.is_in_world(slot) ? maps.contents(slot) : nullptr;
  if (contents == nullptr || contents->entity(number) == nullptr) {
    std::fprintf(text, "%s\n", to_text(game.streaming.explain_entity(name_of_file(map), number), line));
    return;
  }
  std::fprintf(text, "%s:%u is %u/%u\n", map.c_str(), number, contents->handle(number).slot,
               contents->handle(number).generation);
  for (uint8_t phase = 0; phase < kPhases; ++phase) {
    const VisibilityReason why = game.sight.explain(static_cast<Phase>(phase), contents->handle(number));
    std::fprintf(text, "  %-11s %s\n", kPhaseNames[phase], to_text(why, line));
  }
}

int fail(const char* what, const Status& why) {
  std::fprintf(stderr, "fly_through: %s: %s (%" PRIu64 ")\n", what, why.message, why.detail);
  return why.code == StatusCode::io_error || why.code == StatusCode::not_found ? 3 : 1;
}

int fly(const Options& options) {
  std::FILE* const text = options.json == "-" ? stderr : stdout;  // so that standard output is JSON alone
  BetweenFrames files;
  ThreadIo threads;
  if (options.threads > 0) {
    if (const Status s = threads.start({.threads = options.threads}); !s.ok()) return fail("loader threads", s);
  }
  StreamIo& device = options.threads > 0 ? static_cast<StreamIo&>(threads) : files;
  SlowIo slow(device, {.latency = options.latency / 1000,
                       .bytes_per_second = options.bandwidth * 1e6,
                       .failure_rate = options.failures});
  const auto game = std::make_unique<Game>();
  if (const Status s = game->init(options, slow); !s.ok()) return fail("the world", s);
  const char* const path_of_world = options.pack.c_str();
  const Result<MountId> pack = std::filesystem::is_directory(options.pack) ? game->mounts.mount_folder(path_of_world)
                                                                           : game->mounts.mount_pack(path_of_world);
  if (!pack.ok()) return fail(path_of_world, pack.status());
  if (const Pack* const names = game->mounts.info(pack.value()).value().pack; names != nullptr) {
    set_name_lookup({[](void* user, NameHash name) { return static_cast<const Pack*>(user)->text_of(name); },
                     const_cast<Pack*>(names)});
  }
  if (const Status s = game->streaming.mount(pack.value()); !s.ok()) return fail(options.pack.c_str(), s);
  const WorldIndex& index = game->streaming.layers().layer(0).index;

  std::vector<Vec3> points;
  for (size_t i = 0; i + 2 < options.path.size(); i += 3) {
    points.push_back({options.path[i], options.path[i + 1], options.path[i + 2]});
  }
  if (points.empty()) points = default_path(index, options.height);
  const Path path(std::move(points));

  FlightPicture picture;
  picture.title = options.pack;
  for (const MapSlot& map : index.maps()) picture.maps.push_back({map.entities, 0});
  std::vector<uint8_t> was_there(index.maps().size(), 0);

  if (!options.quiet) {
    std::fprintf(text, "%zu maps, %zu type files; %.0f km/h for %.0f s\n", index.maps().size(), index.types().size(),
                 options.speed, options.seconds);
    std::fprintf(text, "%6s %22s %6s %9s %7s %9s %7s %9s %5s", "second", "at [m]", "maps", "entities", "queued",
                 "resident", "placed", "owner", "late");
    for (const char* const name : kPhaseNames) std::fprintf(text, " %11s", name);
    std::fprintf(text, " %8s %9s\n", "occluded", "scan");
  }
  // At first nothing is there. A game shows a loading screen.
  const StreamSource start{.id = 1, .position = path.at(0), .velocity = {}};
  uint32_t waited = 0;
  for (; waited < 100 * options.fps && (waited < 2 || !game->streaming.is_settled()); ++waited) {
    const float frame_time = 1 / static_cast<float>(options.fps);
    if (const Status s = game->streaming.update({.sources = {&start, 1}, .seconds = frame_time}); !s.ok()) {
      return fail("update", s);
    }
    if (options.threads == 0) files.run();
  }
  if (!options.quiet) std::fprintf(text, "all is there at the start after %u frames\n", waited);
  game->streaming.reset_statistics();
  Summary all;
  const double dt = 1.0 / options.fps, metres_a_second = options.speed / 3.6;
  const auto frames = static_cast<uint64_t>(options.seconds * options.fps);
  all.micros.reserve(frames);
  all.scan_micros.reserve(frames);
  Sight& sight = game->sight;
  const uint64_t picture_frames =
      std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(options.every) * options.fps + 0.5));
  double worst_of_second = 0;
  uint64_t placed_before = 0;
  for (uint64_t frame = 0; frame < frames; ++frame) {
    const double along = metres_a_second * dt * static_cast<double>(frame);
    const Vec3 eye = path.at(along), soon = path.at(along + metres_a_second * dt);
    const StreamSource camera{.id = 1, .position = eye, .velocity = (soon - eye) * static_cast<float>(options.fps)};
    const Clock::time_point begin = Clock::now();
    const Status updated = game->streaming.update(
        {.sources = {&camera, 1}, .seconds = static_cast<float>(dt), .max_microseconds = options.budget_us});
    const double micros = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (!updated.ok()) return fail("update", updated);
    if (options.threads == 0) files.run();
    all.micros.push_back(micros);
    worst_of_second = std::max(worst_of_second, micros);

    if (const Status s = sight.look(camera_in_flight(eye, camera.velocity)); !s.ok()) return fail("the scan", s);
    all.scan_micros.push_back(sight.micros());
    for (uint32_t i = 0; i < kPhases; ++i) {
      const uint32_t seen = sight.count(static_cast<Phase>(i));
      all.seen[i] += seen;
      all.most_seen[i] = std::max(all.most_seen[i], seen);
    }
    all.occluded += sight.occluded();
    if (!options.pictures.empty() && frame % picture_frames == 0) {
      char name[32];
      std::snprintf(name, sizeof(name), "/frame_%06" PRIu64 ".png", frame);
      if (!write_frame_picture(sight, game->streaming, options.reach, options.pictures + name)) {
        std::fprintf(stderr, "fly_through: cannot write %s%s\n", options.pictures.c_str(), name);
        return 3;
      }
    }

    const StreamingEngine& engine = game->streaming.engine();
    const StreamModuleStatistics& maps = engine.statistics(1);
    all.most_maps = std::max(all.most_maps, maps.loaded);
    if (frame % 6 == 0) picture.way.push_back({eye, game->streaming.statistics().late_now > 0});
    for (size_t i = 0; i < was_there.size() && maps.placed != placed_before; ++i) {
      const bool is_there = game->streaming.maps().is_in_world(game->streaming.maps().find(index.maps()[i].name));
      if (is_there && was_there[i] == 0) ++picture.maps[i].loads;
      was_there[i] = is_there ? 1 : 0;
    }
    placed_before = maps.placed;
    if ((frame + 1) % options.fps != 0) continue;
    if (!options.quiet) {
      char place[64];
      std::snprintf(place, sizeof(place), "(%.0f, %.0f, %.0f)", static_cast<double>(eye.x), static_cast<double>(eye.y),
                    static_cast<double>(eye.z));
      std::fprintf(text, "%6" PRIu64 " %22s %6u %9" PRIu64 " %7u %6.1f MB %7" PRIu64 " %6.0f us %5u",
                   (frame + 1) / options.fps, place, maps.loaded, engine.resident_entities(),
                   maps.requested + maps.loading, static_cast<double>(engine.resident_bytes()) / 1e6, maps.placed,
                   worst_of_second, game->streaming.statistics().late_now);
      for (uint32_t i = 0; i < kPhases; ++i) std::fprintf(text, " %11u", sight.count(static_cast<Phase>(i)));
      std::fprintf(text, " %8u %6.0f us\n", sight.occluded(), sight.micros());
    }
    worst_of_second = 0;
  }
  all.frames = frames;
  std::sort(all.micros.begin(), all.micros.end());
  std::sort(all.scan_micros.begin(), all.scan_micros.end());

  const WorldStreamingStatistics& late = game->streaming.statistics();
  const StreamModuleStatistics& maps = game->streaming.engine().statistics(1);
  std::fprintf(text,
               "\n%" PRIu64
               " frames. Streaming on the owner's thread: median %.0f us, 99 %% %.0f us, 99.9 %% %.0f us, "
               "longest %.0f us\n",
               all.frames, part_of(all.micros, 0.5), part_of(all.micros, 0.99), part_of(all.micros, 0.999),
               part_of(all.micros, 1));
  std::fprintf(text, "Scans of %u phases on the owner's thread: median %.0f us, 99 %% %.0f us, longest %.0f us\n",
               kPhases, part_of(all.scan_micros, 0.5), part_of(all.scan_micros, 0.99), part_of(all.scan_micros, 1));
  std::fprintf(text,
               "Maps: %" PRIu64 " came, %" PRIu64 " went, %u at most at once; %" PRIu64 " read, %" PRIu64
               " from what was still cached, %" PRIu64 " failed reads\n",
               maps.placed, maps.removed, all.most_maps, maps.reads, maps.reused, maps.failures);
  if (late.late > 0) {
    std::fprintf(text, "Late: %" PRIu64 " maps, %.0f ms on average, %s by %.0f ms at worst\n", late.late,
                 1000 * late.late_seconds / static_cast<double>(late.late), name_text(late.worst_map).text,
                 1000 * late.worst_late);
  } else {
    std::fprintf(text, "Late: nothing. Each map was there before the camera was inside its range.\n");
  }
  for (const std::string& name : options.explained) {
    char line[512];
    std::fprintf(text, "%s\n", to_text(game->streaming.explain_map(name_of_file(name)), line));
  }
  for (const std::string& asked : options.explained_entities) explain_entity(text, *game, asked);
  int result = 0;
  if (!options.json.empty()) {
    std::FILE* const out = options.json == "-" ? stdout : std::fopen(options.json.c_str(), "w");
    if (out == nullptr) {
      std::fprintf(stderr, "fly_through: cannot write %s: %s\n", options.json.c_str(), std::strerror(errno));
      result = 3;
    } else {
      print_json(out, *game, all, options);
      if (out != stdout && std::fclose(out) != 0) result = 3;
    }
  }
  if (!options.picture.empty() && !write_picture(picture, options.picture)) {
    std::fprintf(stderr, "fly_through: cannot write %s: %s\n", options.picture.c_str(), std::strerror(errno));
    result = 3;
  }
  game->streaming.shutdown();
  set_name_lookup({});
  if (game->maps.loaded_maps() != 0 || game->archetypes.streamed_used() != 0) {
    std::fprintf(stderr, "fly_through: something stayed behind\n");
    result = 1;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Flies through the world in a pack, and prints what streams in and out.", "fly_through");
  app.add_option("pack", options.pack, "a pack that worldc built, or a folder of resources, with its index")
      ->required();
  app.add_option("--speed", options.speed, "km/h")->capture_default_str()->check(CLI::Range(0.0, 100000.0));
  app.add_option("--seconds", options.seconds, "simulated")->capture_default_str()->check(CLI::Range(0.02, 86400.0));
  app.add_option("--fps", options.fps, "frames a second")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--path", options.path, "points of a closed curve: x y z by turns [m]; without it, a figure of eight");
  app.add_option("--height", options.height, "of the figure of eight [m]")->capture_default_str();
  app.add_option("--budget-us", options.budget_us, "of an update; 0: none")->capture_default_str();
  app.add_option("--budget-mb", options.budget_mb, "of resident maps")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  app.add_option("--max-maps", options.max_maps, "loaded at once")->capture_default_str()->check(CLI::Range(1, 100000));
  app.add_option("--look-ahead", options.look_ahead, "along the velocity [s]")->capture_default_str();
  app.add_option("--threads", options.threads, "loader threads; 0: reads between frames")
      ->capture_default_str()
      ->check(CLI::Range(0, 16));
  app.add_option("--latency", options.latency, "of a simulated device [ms]")->capture_default_str();
  app.add_option("--bandwidth", options.bandwidth, "of a simulated device [MB/s]; 0: no limit")->capture_default_str();
  app.add_option("--failures", options.failures, "share of reads that fail")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--json", options.json, "write the summary there; - for standard output");
  app.add_option("--picture", options.picture, "draw the flight there, as SVG");
  app.add_option("--explain", options.explained, "say at the end why these maps are there, or not");
  app.add_option("--explain-visibility", options.explained_entities,
                 "say at the end, for each phase, why it sees these entities, or not: MAP:INDEX");
  app.add_option("--pictures", options.pictures, "draw frames from above into this folder, as PNG")
      ->check(CLI::ExistingDirectory);
  app.add_option("--every", options.every, "between pictures [s]")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--picture-reach", options.reach, "from the camera to the sides of a picture [m]")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 100000.0));
  app.add_flag("--quiet", options.quiet, "only the summary");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!options.pictures.empty() && !has_frame_pictures()) {
    std::fprintf(stderr, "fly_through: built without libpng, so there are no --pictures\n");
    return 2;
  }
  return fly(options);
}
