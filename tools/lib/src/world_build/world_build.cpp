// SPDX-License-Identifier: MIT
#include "meridian/tools/world_build.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <unordered_map>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "lint/lint_compiled.h"
#include "meridian/tools/fix.h"
#include "meridian/tools/source_map.h"
#include "world_build/failed_sources.h"
#include "world_build/linked_world.h"
#include "world_build/world_outputs.h"

namespace meridian::tools {
namespace {

using Clock = std::chrono::steady_clock;

class WorldBuilder {
 public:
  WorldBuilder(const WorldBuildOptions& options, ToolIo& io, Report& report)
      : run_{options, io, report, {}},
        cache_(!options.cache.empty()   ? options.cache
               : options.output.empty() ? ""
                                        : options.output + "/.worldc/cache"),
        linked_(run_, cache_),
        outputs_(run_, linked_) {}

  WorldBuildTotals run() {
    const Clock::time_point start = Clock::now();
    const size_t threads =
        run_.options.jobs != 0 ? run_.options.jobs : std::max(1u, std::thread::hardware_concurrency());
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { build(); });
    if (!run_.totals.nothing_to_do) (void)cache_.trim(run_.options.cache_bytes);
    run_.totals.total_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return run_.totals;
  }

  /// Rewrites sources by the edits of what was found, or shows the differences. Gives the number of files that differ.
  uint64_t fix_sources(bool preview, Report& report) {
    std::map<std::string, std::vector<TextEdit>> edits;
    for (const Diagnostic& d : diagnostics_)
      if (!d.edits.empty()) edits[d.file].insert(edits[d.file].end(), d.edits.begin(), d.edits.end());
    uint64_t changed = 0;
    for (auto& [path, some] : edits) {
      const auto source = linked_.source_of(path);
      if (source == nullptr) continue;
      const std::string text = apply_edits(source->text(), std::move(some));
      if (text == source->text()) continue;
      ++changed;
      if (preview) {
        report.print(unified_diff(path, source->text(), text));
        continue;
      }
      std::string problem;
      if (!rewrite_source(*source, text, problem)) report.environment(path, problem);
    }
    return changed;
  }

 private:
  void build() {
    if (!outputs_.prepare()) return;
    lap_ = Clock::now();
    if (!linked_.find(outputs_.known_sources(), outputs_.known_since())) return;
    run_.totals.find_seconds = lap();
    if (outputs_.are_up_to_date()) return;
    linked_.compile();
    run_.totals.compile_seconds = lap();
    if (run_.interrupted()) return;
    linked_.link();
    run_.totals.link_seconds = lap();
    lint();
    run_.totals.lint_seconds = lap();
    if (run_.interrupted()) return;
    const bool writes = run_.report.exit_code() == kExitDone && !run_.options.output.empty();
    if (writes || run_.options.then) outputs_.link();
    tell();
    if (!writes || run_.interrupted()) return;
    outputs_.write(diagnostics_);
    run_.totals.write_seconds = lap();
  }

  void tell() {
    if (!run_.options.then) return;
    std::vector<std::pair<const LintUnit*, uint64_t>> sizes(linked_.units().size());
    tbb::parallel_for(size_t{0}, sizes.size(), [&](size_t i) {
      const WorldUnit& unit = linked_.units()[i];
      if (unit.linked != nullptr && !unit.linked->is_shadowed && !run_.io.cancelled())
        sizes[i] = {unit.linked, outputs_.linked_size(unit)};
    });
    const std::unordered_map<const LintUnit*, uint64_t> bytes(sizes.begin(), sizes.end());
    if (run_.interrupted()) return;
    run_.options.then({linked_.world(), diagnostics_, run_.totals, [&bytes](const LintUnit& unit) {
                         const auto found = bytes.find(&unit);
                         return found == bytes.end() ? uint64_t{0} : found->second;
                       }});
  }

  double lap() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - lap_).count();
    lap_ = now;
    return seconds;
  }

  void lint() {
    tbb::parallel_for(size_t{0}, linked_.units().size(), [&](size_t i) {
      WorldUnit& unit = linked_.units()[i];
      if (unit.linked == nullptr || run_.io.cancelled()) return;
      if (unit.linked->map != nullptr)
        unit.repair =
            plan_repair(linked_.world(), *unit.linked, run_.options.compile.extents, run_.options.compile.flags);
      if (unit.skipped || !run_.options.compile.lint) return;
      if (run_.options.only_pools && unit.linked->config == nullptr) return;
      unit.findings = lint_unit(linked_.world(), *unit.linked);
      if (unit.lacks_children) std::erase_if(unit.findings, [](const LintFinding& f) { return counts_children(f); });
      settle_findings(unit.repair, unit.findings);
    });
    std::vector<std::vector<Diagnostic>> shown(linked_.units().size());
    tbb::parallel_for(size_t{0}, linked_.units().size(),
                      [&](size_t i) { shown[i] = diagnostics_of(linked_.units()[i]); });
    const bool any_failed =
        std::any_of(linked_.units().begin(), linked_.units().end(), [](const WorldUnit& u) { return u.failed(); });
    if (run_.options.inspect && !any_failed) shown.push_back(run_.options.inspect(linked_.world()));
    for (std::vector<Diagnostic>& some : shown) {
      for (const Diagnostic& d : some)
        if (d.severity == Severity::error) run_.report.raise(kExitRejected);
      diagnostics_.insert(diagnostics_.end(), some.begin(), some.end());
    }
    for (const Diagnostic& d : diagnostics_) run_.report.log().add(d);
  }

  std::vector<Diagnostic> diagnostics_of(WorldUnit& unit) {
    if (unit.compiled == nullptr) return {};
    if (unit.compiled->findings.empty() && unit.findings.empty() && unit.collisions.empty() &&
        unit.compiled->waivers.empty())
      return {};
    const auto source = linked_.source_of(unit.source->path);
    if (source == nullptr) return {};
    std::vector<Finding> findings = unit.compiled->findings;
    std::move(unit.collisions.begin(), unit.collisions.end(), std::back_inserter(findings));
    SourceMap places(source->text());
    RelatedSources others([this](const LintUnit& other) { return linked_.source_of(other.path); });
    for (LintFinding& f : unit.findings)
      findings.push_back(to_finding(std::move(f), *unit.linked, source->text(), places, &others));
    std::vector<Waiver> waivers = unit.compiled->waivers;
    for (size_t w = 0; w < waivers.size(); ++w) {
      const auto [begin, size] = unit.compiled->waiver_texts[w];
      if (begin <= source->text().size()) waivers[w].text = source->text().substr(begin, size);
    }
    // A skipped file was not looked at whole, nor one that a later layer replaces.
    const bool is_whole = !unit.skipped && !run_.options.only_pools && run_.options.compile.lint &&
                          unit.linked != nullptr && !unit.linked->is_shadowed;
    return resolve(*source, std::move(findings), waivers, run_.options.policy, is_whole);
  }

  BuildRun run_;
  BuildCache cache_;
  LinkedWorld linked_;
  WorldOutputs outputs_;
  std::vector<Diagnostic> diagnostics_;
  Clock::time_point lap_;
};

}  // namespace

WorldBuildTotals build_world(const WorldBuildOptions& options, ToolIo& io, Report& report) {
  if (options.fix || options.fix_preview) {
    // On a copy of the options that writes nothing: what is left to say is said by the real run.
    WorldBuildOptions check = options;
    check.output.clear();
    check.progress = ProgressStyle::none;
    check.then = nullptr;
    constexpr int kRounds = 8;  // one fix may uncover the next
    for (int round = 0; round < kRounds && !io.cancelled(); ++round) {
      Report unheard(io, options.tool);
      WorldBuilder builder(check, io, unheard);
      (void)builder.run();
      if (builder.fix_sources(options.fix_preview, report) == 0 || options.fix_preview) break;
    }
  }
  return WorldBuilder(options, io, report).run();
}

}  // namespace meridian::tools
