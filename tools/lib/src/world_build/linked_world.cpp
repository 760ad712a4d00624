// SPDX-License-Identifier: MIT
#include "world_build/linked_world.h"

#include <algorithm>
#include <set>

#include <oneapi/tbb/parallel_for.h>

#include "lint/lint_compiled.h"
#include "meridian/base/version.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "text_values.h"
#include "world_build/failed_sources.h"

namespace meridian::tools {

LinkedWorld::LinkedWorld(BuildRun& run, BuildCache& cache) : run_(run), cache_(cache) {
  const CompileOptions& compile = run_.options.compile;
  DigestBuilder hash;
  hash.add(static_cast<uint32_t>(compile.dialect));
  hash.add(uint32_t{compile.names});
  hash.add(uint32_t{compile.embed_schema});
  hash.add(uint32_t{compile.lint});
  hash.add(uint32_t{note_missing()});
  hash.add(compile.limits.max_bytes);
  hash.add(compile.limits.max_elements);
  hash.add(compile.limits.max_resource_bytes);
  hash.add(compile.limits.max_depth);
  compile_settings_ = hash.value();
}

bool LinkedWorld::note_missing() const {
  return run_.options.policy.severity_of(rules::missing_element, Severity::note).has_value();
}

bool LinkedWorld::find(const KnownSources& known, int64_t known_since) {
  std::vector<WorldRoot> roots;
  for (const WorldLayer& layer : run_.options.layers) roots.push_back({layer.path, layer.order});
  std::vector<std::string> without;
  for (const std::string& path : {run_.options.output, cache_.folder()})
    if (!path.empty()) without.push_back(file_identity(path));
  // A layer's folder inside another's is no part of that one.
  for (const WorldLayer& layer : run_.options.layers) without.push_back(file_identity(without_slashes(layer.path)));
  std::vector<InputProblem> problems;
  sources_ = find_sources(roots, without, known, known_since, problems, run_.io.cancel);
  for (InputProblem& p : problems) {
    run_.report.log().add_failed(p.path);
    run_.report.environment(std::move(p.path), std::move(p.message));
  }
  if (run_.interrupted()) return false;
  const bool any = std::any_of(sources_.begin(), sources_.end(), [](const WorldSource& s) { return s.kind != 0; });
  if (!any && problems.empty())
    run_.report.environment(run_.options.layers.front().path,
                            "no source of a map, type file, manifest or configuration is here");
  return any && problems.empty();
}

// ---- compile

void LinkedWorld::compile() {
  for (WorldSource& source : sources_) {
    if (source.kind == 0) continue;
    WorldUnit& unit = units_.emplace_back();
    unit.source = &source;
    unit.binding = Binding::builtin(source.kind);
    unit.stem = input_stem(source.path);
    unit.key = key_of(unit);
    known_.emplace(source.path, &source);
  }
  Progress progress(run_.io.err, run_.options.progress, run_.options.tool, units_.size());
  std::mutex mutex;
  tbb::parallel_for(
      size_t{0}, units_.size(),
      [&](size_t i) {
        if (run_.io.cancelled()) return;
        compile_unit(units_[i]);
        const std::lock_guard lock(mutex);
        progress.advance(units_[i].source->path);
      },
      tbb::simple_partitioner());
  progress.finish();
  for (WorldUnit& unit : units_) {
    if (unit.compiled == nullptr) continue;
    ++run_.totals.sources;
    run_.totals.source_bytes += unit.source->size;
    ++(unit.from_cache ? run_.totals.from_cache : run_.totals.compiled);
    if (unit.store_error != 0 && !cache_error_told_) {
      cache_error_told_ = true;
      run_.report.environment(cache_.folder(), "cannot write to the cache: " + error_text(unit.store_error));
    }
  }
}

Digest LinkedWorld::key_of(const WorldUnit& unit) const {
  DigestBuilder key;
  key.add_text(kVersionString);
  key.add(unit.binding->schema_fingerprint());
  key.add(compile_settings_);
  key.add_text(unit.stem);
  key.add(unit.source->hash.low);
  key.add(unit.source->hash.high);
  return key.digest();
}

void LinkedWorld::compile_unit(WorldUnit& unit) {
  unit.compiled = cache_.find_unit(unit.key);
  unit.from_cache = unit.compiled != nullptr;
  if (unit.from_cache) return;
  int error = 0;
  const auto source = SourceText::open(unit.source->path, error);
  if (source == nullptr) {
    unit.store_error = 0;
    const std::lock_guard lock(report_mutex_);
    run_.report.log().add_failed(unit.source->path);
    return run_.report.environment(unit.source->path, "cannot read: " + error_text(error));
  }
  if (const Digest hash = digest_of(source->text()); !(hash == unit.source->hash)) {
    // It changed since it was looked at. What goes into the cache must be what the key says, for ever.
    unit.source->hash = hash;
    unit.source->time = 0;  // and is looked at again by the next build
    unit.key = key_of(unit);
  }
  CompileOptions options = run_.options.compile;
  options.jobs = 1;
  options.cancel = run_.io.cancel;
  options.stem = unit.stem;
  options.note_missing = note_missing();
  options.lint_content = false;
  options.types = nullptr;
  options.extents = options.flags = Repair::keep;
  const CompileResult result = compile_xml(*source, *unit.binding, options);
  if (result.cancelled) return;
  unit.compiled = cache_.store_unit(unit.key, result, *source, unit.store_error);
}

// ---- link and check

void LinkedWorld::link() {
  LintOptions lint;
  lint.types_are_known = lint.maps_are_known = true;
  lint.allow_missing_archetypes = run_.options.compile.allow_missing_archetypes;
  lint.permanent_types = run_.options.index.permanent_types;
  lint.extents = run_.options.compile.extents;
  lint.lod_size = run_.options.policy.severity_of(rules::lod_size, Severity::warning).has_value();
  world_ = std::make_unique<LintWorld>(lint);
  for (WorldUnit& unit : units_) {
    if (unit.compiled == nullptr || unit.failed()) continue;
    LintUnit linked = unit_of(unit.compiled->resource, NameTexts(unit.compiled->names));
    linked.path = unit.source->path;
    linked.stem = unit.stem;
    linked.layer = unit.source->layer;
    run_.totals.maps += linked.map != nullptr ? 1 : 0;
    run_.totals.types += linked.types != nullptr ? 1 : 0;
    if (linked.map != nullptr && linked.map->entities() != nullptr)
      run_.totals.entities += linked.map->entities()->size();
    if (linked.types != nullptr && linked.types->archetypes() != nullptr)
      run_.totals.archetypes += linked.types->archetypes()->size();
    unit.linked = &world_->add(std::move(linked));
  }
  world_->link();
  find_skipped();
  find_collisions();
}

/// What rests on a source that failed cannot be judged: it is skipped, and says for what.
void LinkedWorld::find_skipped() {
  FailedSources failed(*world_);
  for (const WorldUnit& unit : units_) {
    if (unit.compiled == nullptr || !unit.failed()) continue;
    run_.report.log().add_failed(unit.source->path);
    run_.report.raise(kExitRejected);
    int error = 0;
    failed.add({unit.source->path, unit.stem, unit.source->layer, unit.source->kind,
                SourceText::open(unit.source->path, error)});
  }
  if (failed.empty()) return;
  for (WorldUnit& unit : units_) {
    if (unit.linked == nullptr) continue;
    unit.lacks_children = failed.may_hold_children_of(*unit.linked);
    const std::set<std::string> needs = failed.needed_by(*unit.linked);
    unit.skipped = !needs.empty();
    for (const std::string& need : needs) run_.report.log().add_skipped(unit.source->path, need);
  }
}

/// NAM001 over all sources, in their order.
void LinkedWorld::find_collisions() {
  struct First {
    const WorldUnit* unit;
    size_t index;
  };
  std::unordered_map<uint32_t, First> seen;
  for (WorldUnit& unit : units_) {
    if (unit.compiled == nullptr) continue;
    const auto& names = unit.compiled->names;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto [it, is_new] = seen.try_emplace(names[i].first, First{&unit, i});
      if (is_new || it->second.unit == &unit) continue;
      const std::string_view first = it->second.unit->compiled->names[it->second.index].second;
      if (first == names[i].second || fold(first) == fold(names[i].second)) continue;
      Finding finding;
      finding.rule = &rules::name_collision;
      finding.severity = Severity::error;
      finding.offset = unit.compiled->name_offsets[i];
      finding.message = "'" + std::string(names[i].second) + "' has the same hash as '" + std::string(first) + "'";
      Finding::Related& related = finding.related.emplace_back();
      related.message = "'" + std::string(first) + "' is first used here";
      related.file = it->second.unit->source->path;
      if (const auto source = source_of(related.file)) {
        const size_t offset = it->second.unit->compiled->name_offsets[it->second.index];
        related.place = source->place_of(offset);
        related.utf16_column = source->utf16_column_of(offset);
      }
      unit.collisions.push_back(std::move(finding));
    }
  }
}

std::shared_ptr<const SourceText> LinkedWorld::source_of(const std::string& path) {
  const std::lock_guard lock(sources_mutex_);
  const auto [it, is_new] = opened_.try_emplace(path);
  if (!is_new) return it->second;
  std::string problem;
  it->second = open_again(path, problem);
  if (it->second == nullptr) {
    const std::lock_guard report_lock(report_mutex_);
    run_.report.environment(path, problem);
  }
  return it->second;
}

std::shared_ptr<const SourceText> LinkedWorld::open_again(const std::string& path, std::string& problem) const {
  int error = 0;
  std::shared_ptr<const SourceText> source = SourceText::open(path, error);
  const auto known = known_.find(path);
  if (source == nullptr)
    problem = "cannot read: " + error_text(error);
  else if (known != known_.end() && !(digest_of(source->text()) == known->second->hash))
    problem = "changed while the world was built; build again", source = nullptr;
  return source;
}

}  // namespace meridian::tools
