// SPDX-License-Identifier: MIT
#pragma once
// The first half of what worldc does: sources found, compiled (or taken from the cache) and linked.

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "lint/repair.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/lint.h"
#include "world_build/build_run.h"
#include "world_build/sources.h"
#include "world_build/unit_cache.h"

namespace meridian::tools {

/// One source on its way.
struct WorldUnit {
  WorldSource* source = nullptr;
  const Binding* binding = nullptr;
  std::string stem;
  Digest key;
  std::shared_ptr<const CompiledUnit> compiled;
  const LintUnit* linked = nullptr;
  std::vector<LintFinding> findings;
  std::vector<Finding> collisions;
  int store_error = 0;
  bool from_cache = false;
  bool skipped = false;         ///< rests on a source that failed
  MapRepair repair;             ///< of a map: what --extents and --flags ask for
  bool lacks_children = false;  ///< a source that failed names it: what children it has is not known

  bool failed() const { return compiled != nullptr && compiled->resource.empty(); }
};

/// Threads: main, which may hand units to others; source_of() and open_again() from any.
class LinkedWorld {
 public:
  LinkedWorld(BuildRun& run, BuildCache& cache);

  /// Looks for sources. False: there are none, or not all could be looked at; it was said.
  bool find(const KnownSources& known, int64_t known_since);
  void compile();
  void link();

  const BuildCache& cache() const { return cache_; }
  std::vector<WorldSource>& sources() { return sources_; }
  std::deque<WorldUnit>& units() { return units_; }
  const LintWorld& world() const { return *world_; }
  /// Of the options that bear on what a source is compiled to.
  uint64_t compile_settings() const { return compile_settings_; }

  /// The text that was compiled. Null, and said so, if it is no longer there: places in another would be wrong.
  std::shared_ptr<const SourceText> source_of(const std::string& path);
  std::shared_ptr<const SourceText> open_again(const std::string& path, std::string& problem) const;

 private:
  bool note_missing() const;
  Digest key_of(const WorldUnit& unit) const;
  void compile_unit(WorldUnit& unit);
  void find_skipped();
  void find_collisions();

  BuildRun& run_;
  BuildCache& cache_;
  uint64_t compile_settings_ = 0;  // hash
  bool cache_error_told_ = false;
  std::vector<WorldSource> sources_;
  std::deque<WorldUnit> units_;  // addresses stay
  std::unique_ptr<LintWorld> world_;
  std::mutex sources_mutex_, report_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const SourceText>> opened_;
  std::unordered_map<std::string, const WorldSource*> known_;  // by path
};

}  // namespace meridian::tools
