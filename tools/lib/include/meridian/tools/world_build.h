// SPDX-License-Identifier: MIT
#pragma once
/// A whole world: every source below some folders compiled, linked, checked and written, as far as anything changed.
///
///   find sources -> compile each (cache) -> link -> rules over all -> outputs that differ
///
/// The same sources and settings give the same outputs, whatever was built before, on any number of threads. Killed at
/// any time, the next run ends where a clean one would.

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "meridian/tools/compile.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/pack_writer.h"
#include "meridian/tools/progress.h"
#include "meridian/tools/tool_options.h"
#include "meridian/tools/world_index_writer.h"

namespace meridian::tools {

struct WorldLayer {
  std::string name;  ///< what messages call it
  std::string path;  ///< folder or file
  int order = 0;     ///< higher ones override lower ones
};

struct WorldBuildTotals {
  uint64_t sources = 0, maps = 0, types = 0, entities = 0, archetypes = 0;
  PackReport packed;
  uint64_t compiled = 0, from_cache = 0, written = 0, unchanged = 0, removed = 0;
  uint64_t source_bytes = 0, output_bytes = 0;
  bool nothing_to_do = false;
  double find_seconds = 0, compile_seconds = 0, link_seconds = 0, lint_seconds = 0, write_seconds = 0,
         total_seconds = 0;
};

/// A world that was compiled, linked and checked: what reports are made from. Valid during the call that gives it.
struct CheckedWorld {
  const LintWorld& world;
  std::span<const Diagnostic> diagnostics;
  const WorldBuildTotals& totals;
  /// Size of what a source becomes, links and cooked blocks with it; 0 for one that another layer replaces. [bytes]
  std::function<uint64_t(const LintUnit&)> resource_bytes;
};

struct WorldBuildOptions {
  std::vector<WorldLayer> layers;
  std::string output;  ///< folder; empty: check only
  std::string cache;   ///< folder; empty: `.worldc/cache` in the output folder, or none
  uint64_t cache_bytes = uint64_t{4} << 30;
  CompileOptions compile;  ///< names, dialect, limits; repairs of extents and flags
  DiagnosticPolicy policy;
  uint32_t jobs = 0;
  bool pack = true;  ///< write `world.mpk` too
  PackWriteOptions pack_options;
  WorldIndexOptions index;  ///< what the index says beyond the sources; its names follow `compile`
  bool explain = false;     ///< say of each rebuilt output what changed
  /// What else is to be said of the world, once all of it is linked; not called where a source has failed. What it
  /// gives is shown, and said again by a later build that finds nothing to do. Threads: main.
  std::function<std::vector<Diagnostic>(const LintWorld& world)> inspect;
  uint64_t inspect_key = 0;  ///< hash of what bears on its result besides the sources
  bool fix = false;          ///< rewrite sources where the right value is certain
  bool fix_preview = false;  ///< only show the difference
  bool only_pools = false;   ///< of the rules, only CFG001 and what reading the sources tells
  /// Called once everything is linked and checked, errors or not, but not if sources could not be read.
  std::function<void(const CheckedWorld&)> then;
  ProgressStyle progress = ProgressStyle::none;
  std::string tool = "worldc";
};

/// Builds, or only checks. Diagnostics and the exit code go to `report`; explanations and previews to standard output.
/// Threads: main; uses up to `jobs` inside.
WorldBuildTotals build_world(const WorldBuildOptions& options, ToolIo& io, Report& report);

}  // namespace meridian::tools
