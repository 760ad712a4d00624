// SPDX-License-Identifier: MIT
#pragma once
/// Synthetic worlds: maps, archetypes, interiors, manifests and a game configuration that belong together, made out of
/// a seed. They serve benchmarks, tests and samples that need a world of a certain size and may not ship anyone else's.
///
///   WorldOptions options = *world_preset("city");
///   options.seed = 7;
///   WorldRun run;
///   run.folder = "build/city";
///   const WorldResult result = write_world(options, run);
///
/// A world is cut into areas of equal work: small where the cities are, large in the countryside. Each area is made by
/// itself from its own random numbers, so memory does not grow with the world, and neither the number of threads nor
/// the order of their work has an influence on the bytes. docs/worldgen.md describes what stands in a world.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace meridian::tools {

/// How large a world is. `maps`, `entities`, `archetypes` and `interiors` are met exactly.
struct WorldOptions {
  uint64_t seed = 1;
  uint64_t maps = 12;         ///< map files [count]
  uint64_t entities = 1200;   ///< in maps; those inside interiors come on top [count]
  uint64_t archetypes = 160;  ///< interiors among them [count]
  uint64_t interiors = 2;     ///< interior archetypes, one instance each [count]
};

/// "small", "city", "gta" and "huge", from small to large.
std::span<const std::string_view> world_presets();
/// The options of a preset, or nothing for another word.
std::optional<WorldOptions> world_preset(std::string_view name);
/// Empty if a world of this size can be laid out; else why it cannot.
std::string check_world_options(const WorldOptions& options);

/// What is written, and how.
struct WorldRun {
  std::string folder{};
  bool compiled = false;  ///< resources, as the compilers make them of the XML; else XML
  uint32_t jobs = 0;      ///< threads; 0: as many as the machine has
  const std::atomic<bool>* cancel = nullptr;
  /// Called for each file that is in place, from one thread at a time, in no certain order.
  std::function<void(std::string_view path, uint64_t files_in_all)> on_file{};
};

struct WorldTotals {
  uint64_t areas = 0, maps = 0, type_files = 0, files = 0, unchanged = 0;
  uint64_t entities = 0, interior_entities = 0, archetypes = 0, interiors = 0, portals = 0, extensions = 0;
  uint64_t car_generators = 0, lod_lights = 0, grass_instances = 0, occluders = 0;
  uint64_t bytes = 0;       ///< of all files [bytes]
  double plan_seconds = 0;  ///< layout and names
  double total_seconds = 0;
};

struct WorldResult {
  WorldTotals totals;
  bool cancelled = false;
  std::string error, error_path;  ///< the first file that could not be written
};

/// Writes a world: `gameconfig`, and folders with a manifest, maps and types each, `common` and one for each region;
/// compiled, also their index, `world.widx`.
/// Files of an earlier run that have the same bytes keep their time; others in the folder are left alone.
/// Requires: check_world_options(options) is empty.
/// Threads:  main; uses `jobs` threads inside.
/// Memory:   the names and archetypes of the world (about 200 bytes an archetype, 250 a map) and an area a thread;
///           compiled, for the index another 200 bytes an archetype and 700 a map.
WorldResult write_world(const WorldOptions& options, const WorldRun& run);

}  // namespace meridian::tools
