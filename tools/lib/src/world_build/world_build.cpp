// SPDX-License-Identifier: MIT
#include "meridian/tools/world_build.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "lint/lint_compiled.h"
#include "meridian/base/version.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/cook.h"
#include "meridian/tools/fix.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/source_map.h"
#include "text_values.h"
#include "world_build/build_state.h"
#include "world_build/failed_sources.h"
#include "world_build/output_parts.h"
#include "world_build/unit_cache.h"

namespace meridian::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWorldLimit = 16384;  // places beyond it are ordered as if they stood on the border [m]

int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// One build at a time in an output folder: the second waits.
class OutputLock {
 public:
  OutputLock() = default;
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  /// Returns errno's value.
  int take(const std::string& path, const ToolIo& io) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) return errno;
    while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return errno;
      if (io.cancelled()) return EINTR;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return 0;
  }

 private:
  int fd_ = -1;
};

struct Unit {
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

class WorldBuilder {
 public:
  WorldBuilder(const WorldBuildOptions& options, ToolIo& io, Report& report)
      : options_(options), io_(io), report_(report) {
    const std::string own = options.output.empty() ? "" : options.output + "/.worldc";
    cache_ = BuildCache(!options.cache.empty() ? options.cache : own.empty() ? "" : own + "/cache");
    state_path_ = own.empty() ? "" : own + "/state";
    compile_settings_ = compile_settings();
  }

  WorldBuildTotals run() {
    const Clock::time_point start = Clock::now();
    const size_t threads = options_.jobs != 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { build(); });
    if (!totals_.nothing_to_do) (void)cache_.trim(options_.cache_bytes);
    totals_.total_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return totals_;
  }

  /// Rewrites sources by the edits of what was found, or shows the differences. Gives the number of files that differ.
  uint64_t fix_sources(bool preview, Report& report) {
    std::map<std::string, std::vector<TextEdit>> edits;
    for (const Diagnostic& d : diagnostics_)
      if (!d.edits.empty()) edits[d.file].insert(edits[d.file].end(), d.edits.begin(), d.edits.end());
    uint64_t changed = 0;
    for (auto& [path, some] : edits) {
      const auto source = source_of(path);
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
    if (!prepare_output()) return;
    lap_ = Clock::now();
    if (!find()) return;
    totals_.find_seconds = lap();
    if (is_unchanged()) return;
    compile();
    totals_.compile_seconds = lap();
    if (interrupted()) return;
    link();
    totals_.link_seconds = lap();
    lint();
    totals_.lint_seconds = lap();
    if (interrupted()) return;
    if (report_.exit_code() != kExitDone || options_.output.empty()) return;
    write();
    totals_.write_seconds = lap();
  }

  double lap() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - lap_).count();
    lap_ = now;
    return seconds;
  }

  bool interrupted() {
    if (!io_.cancelled()) return false;
    report_.raise(kExitInterrupted);
    return true;
  }

  // ---- before anything is read

  bool prepare_output() {
    if (options_.output.empty()) return true;
    const std::string lock = options_.output + "/.worldc/lock";
    int error = create_parent_folders(lock);
    if (error == 0) error = lock_.take(lock, io_);
    if (error == EINTR) return report_.raise(kExitInterrupted), false;
    if (error != 0) return report_.environment(options_.output, "cannot write here: " + error_text(error)), false;
    // The lock is ours, so whoever wrote here is done or dead.
    for (const char* folder : {"", "/imap", "/ityp", "/gcfg", "/.worldc"})
      remove_stray_files(options_.output + folder, 0);
    started_ = now_ns();
    has_state_ = load_state(state_path_, before_) && before_.settings == settings_hash();
    is_same_question_ = has_state_ && before_.checks == checks_hash();
    if (!has_state_) {
      // Which files are ours is known from no state: what older builds left is overwritten or stays.
      const std::vector<BuiltOutput> outputs = std::move(before_.outputs);
      before_ = {};
      for (const BuiltOutput& o : outputs) before_.outputs.push_back({o.path, 0, 0, {}});
    }
    return true;
  }

  /// Everything that bears on outputs and is in no part of theirs.
  uint64_t settings_hash() const {
    DigestBuilder hash;
    hash.add_text(kVersionString);
    hash.add(kFormatVersion);
    for (const BuiltinSchema& schema : builtin_schemas()) hash.add(schema.schema_fingerprint);
    hash.add(compile_settings_);
    hash.add(uint32_t{options_.pack});
    hash.add(options_.pack_options.level);
    hash.add(options_.pack_options.store_below);
    hash.add(uint32_t{options_.pack_options.train_dictionaries});
    return hash.value();
  }

  /// What else bears on diagnostics, or on which repairs are made: after a change all is looked at again, and what
  /// comes out the same stays.
  uint64_t checks_hash() const {
    DigestBuilder hash;
    hash.add(options_.inspect_key);
    hash.add(static_cast<uint32_t>(options_.compile.extents));
    hash.add(static_cast<uint32_t>(options_.compile.flags));
    hash.add(uint32_t{options_.compile.allow_missing_archetypes});
    for (const WorldLayer& layer : options_.layers) {
      hash.add_text(layer.path);
      hash.add(int32_t{layer.order});
    }
    for (const Rule* rule : all_rules())
      for (const Severity found : {Severity::note, Severity::warning}) {
        const std::optional<Severity> shown = options_.policy.severity_of(*rule, found);
        hash.add(shown ? static_cast<uint32_t>(*shown) : 3u);
      }
    return hash.value();
  }

  uint64_t compile_settings() const {
    DigestBuilder hash;
    hash.add(static_cast<uint32_t>(options_.compile.dialect));
    hash.add(uint32_t{options_.compile.names});
    hash.add(uint32_t{options_.compile.embed_schema});
    hash.add(uint32_t{options_.compile.lint});
    hash.add(uint32_t{note_missing()});
    hash.add(options_.compile.limits.max_bytes);
    hash.add(options_.compile.limits.max_elements);
    hash.add(options_.compile.limits.max_resource_bytes);
    hash.add(options_.compile.limits.max_depth);
    return hash.value();
  }

  bool note_missing() const { return options_.policy.severity_of(rules::missing_element, Severity::note).has_value(); }

  bool find() {
    KnownSources known;
    for (const WorldSource& s : before_.sources) known.emplace(s.path, s);
    std::vector<WorldRoot> roots;
    for (const WorldLayer& layer : options_.layers) roots.push_back({layer.path, layer.order});
    std::vector<std::string> without;
    for (const std::string& path : {options_.output, cache_.folder()})
      if (!path.empty()) without.push_back(file_identity(path));
    // A layer's folder inside another's is no part of that one.
    for (const WorldLayer& layer : options_.layers)
      without.push_back(file_identity(layer.path.substr(0, layer.path.find_last_not_of('/') + 1)));
    std::vector<InputProblem> problems;
    sources_ = find_sources(roots, without, known, before_.started, problems, io_.cancel);
    for (InputProblem& p : problems) {
      report_.log().add_failed(p.path);
      report_.environment(std::move(p.path), std::move(p.message));
    }
    if (interrupted()) return false;
    const bool any = std::any_of(sources_.begin(), sources_.end(), [](const WorldSource& s) { return s.kind != 0; });
    if (!any && problems.empty())
      report_.environment(options_.layers.front().path,
                          "no source of a map, type file, manifest or configuration is here");
    return any && problems.empty();
  }

  /// Whether sources and outputs are what they were after the last build. Then what was said is said again.
  bool is_unchanged() {
    if (!is_same_question_ || options_.output.empty() || sources_.size() != before_.sources.size()) return false;
    for (size_t i = 0; i < sources_.size(); ++i)
      if (sources_[i].path != before_.sources[i].path || sources_[i].kind != before_.sources[i].kind ||
          (sources_[i].kind != 0 && sources_[i].hash != before_.sources[i].hash))
        return false;
    for (const BuiltOutput& output : before_.outputs)
      if (!is_in_place(output)) return false;
    for (const Diagnostic& d : before_.diagnostics) report_.log().add(d);
    totals_.nothing_to_do = true;
    totals_.sources = static_cast<uint64_t>(
        std::count_if(sources_.begin(), sources_.end(), [](const WorldSource& s) { return s.kind != 0; }));
    totals_.unchanged = before_.outputs.size();
    if (std::any_of(sources_.begin(), sources_.end(), [](const WorldSource& s) { return s.is_fresh && s.kind != 0; })) {
      // Read again and found the same (touched, or too young to trust): next time that need not be.
      before_.sources = sources_;
      before_.started = started_;
      (void)save_state(state_path_, before_);
    }
    return true;
  }

  bool is_in_place(const BuiltOutput& output) const {
    BuiltOutput now{output.path, 0, 0, {}};
    return look_at(now) && now.size == output.size && now.time == output.time;
  }

  /// Size and time of the file as it is now. False: it is not there.
  bool look_at(BuiltOutput& output) const {
    struct stat status {};
    if (::stat((options_.output + "/" + output.path).c_str(), &status) != 0) return false;
    output.size = static_cast<uint64_t>(status.st_size);
    output.time = time_of(status);
    return true;
  }

  // ---- compile

  void compile() {
    for (WorldSource& source : sources_) {
      if (source.kind == 0) continue;
      Unit& unit = units_.emplace_back();
      unit.source = &source;
      unit.binding = Binding::builtin(source.kind);
      unit.stem = input_stem(source.path);
      unit.key = key_of(unit);
      known_.emplace(source.path, &source);
    }
    Progress progress(io_.err, options_.progress, options_.tool, units_.size());
    std::mutex mutex;
    tbb::parallel_for(
        size_t{0}, units_.size(),
        [&](size_t i) {
          if (io_.cancelled()) return;
          compile_unit(units_[i]);
          const std::lock_guard lock(mutex);
          progress.advance(units_[i].source->path);
        },
        tbb::simple_partitioner());
    progress.finish();
    for (Unit& unit : units_) {
      if (unit.compiled == nullptr) continue;
      ++totals_.sources;
      totals_.source_bytes += unit.source->size;
      ++(unit.from_cache ? totals_.from_cache : totals_.compiled);
      if (unit.store_error != 0 && !cache_error_told_) {
        cache_error_told_ = true;
        report_.environment(cache_.folder(), "cannot write to the cache: " + error_text(unit.store_error));
      }
    }
  }

  Digest key_of(const Unit& unit) const {
    DigestBuilder key;
    key.add_text(kVersionString);
    key.add(unit.binding->schema_fingerprint());
    key.add(compile_settings_);
    key.add_text(unit.stem);
    key.add(unit.source->hash.low);
    key.add(unit.source->hash.high);
    return key.digest();
  }

  void compile_unit(Unit& unit) {
    unit.compiled = cache_.find_unit(unit.key);
    unit.from_cache = unit.compiled != nullptr;
    if (unit.from_cache) return;
    int error = 0;
    const auto source = SourceText::open(unit.source->path, error);
    if (source == nullptr) {
      unit.store_error = 0;
      const std::lock_guard lock(report_mutex_);
      report_.log().add_failed(unit.source->path);
      return report_.environment(unit.source->path, "cannot read: " + error_text(error));
    }
    if (const Digest hash = digest_of(source->text()); !(hash == unit.source->hash)) {
      // It changed since it was looked at. What goes into the cache must be what the key says, for ever.
      unit.source->hash = hash;
      unit.source->time = 0;  // and is looked at again by the next build
      unit.key = key_of(unit);
    }
    CompileOptions options = options_.compile;
    options.jobs = 1;
    options.cancel = io_.cancel;
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

  void link() {
    LintOptions lint;
    lint.types_are_known = lint.maps_are_known = true;
    lint.allow_missing_archetypes = options_.compile.allow_missing_archetypes;
    lint.lod_size = options_.policy.severity_of(rules::lod_size, Severity::warning).has_value();
    world_ = std::make_unique<LintWorld>(lint);
    for (Unit& unit : units_) {
      if (unit.compiled == nullptr || unit.failed()) continue;
      LintUnit linked = unit_of(unit.compiled->resource, NameTexts(unit.compiled->names));
      linked.path = unit.source->path;
      linked.stem = unit.stem;
      linked.layer = unit.source->layer;
      totals_.maps += linked.map != nullptr ? 1 : 0;
      totals_.types += linked.types != nullptr ? 1 : 0;
      if (linked.map != nullptr && linked.map->entities() != nullptr)
        totals_.entities += linked.map->entities()->size();
      if (linked.types != nullptr && linked.types->archetypes() != nullptr)
        totals_.archetypes += linked.types->archetypes()->size();
      unit.linked = &world_->add(std::move(linked));
    }
    world_->link();
    find_skipped();
    find_collisions();
  }

  /// What rests on a source that failed cannot be judged: it is skipped, and says for what.
  void find_skipped() {
    FailedSources failed(*world_);
    for (const Unit& unit : units_) {
      if (unit.compiled == nullptr || !unit.failed()) continue;
      report_.log().add_failed(unit.source->path);
      report_.raise(kExitRejected);
      int error = 0;
      failed.add({unit.source->path, unit.stem, unit.source->layer, unit.source->kind,
                  SourceText::open(unit.source->path, error)});
    }
    if (failed.empty()) return;
    for (Unit& unit : units_) {
      if (unit.linked == nullptr) continue;
      unit.lacks_children = failed.may_hold_children_of(*unit.linked);
      const std::set<std::string> needs = failed.needed_by(*unit.linked);
      unit.skipped = !needs.empty();
      for (const std::string& need : needs) report_.log().add_skipped(unit.source->path, need);
    }
  }

  /// NAM001 over all sources, in their order.
  void find_collisions() {
    struct First {
      const Unit* unit;
      size_t index;
    };
    std::unordered_map<uint32_t, First> seen;
    for (Unit& unit : units_) {
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

  /// The text that was compiled. Null, and said so, if it is no longer there: places in another would be wrong.
  std::shared_ptr<const SourceText> source_of(const std::string& path) {
    const std::lock_guard lock(sources_mutex_);
    const auto [it, is_new] = opened_.try_emplace(path);
    if (!is_new) return it->second;
    std::string problem;
    it->second = open_again(path, problem);
    if (it->second == nullptr) {
      const std::lock_guard report_lock(report_mutex_);
      report_.environment(path, problem);
    }
    return it->second;
  }

  std::shared_ptr<const SourceText> open_again(const std::string& path, std::string& problem) const {
    int error = 0;
    std::shared_ptr<const SourceText> source = SourceText::open(path, error);
    const auto known = known_.find(path);
    if (source == nullptr)
      problem = "cannot read: " + error_text(error);
    else if (known != known_.end() && !(digest_of(source->text()) == known->second->hash))
      problem = "changed while the world was built; build again", source = nullptr;
    return source;
  }

  void lint() {
    tbb::parallel_for(size_t{0}, units_.size(), [&](size_t i) {
      Unit& unit = units_[i];
      if (unit.linked == nullptr || io_.cancelled()) return;
      if (unit.linked->map != nullptr)
        unit.repair = plan_repair(*world_, *unit.linked, options_.compile.extents, options_.compile.flags);
      if (unit.skipped || !options_.compile.lint) return;
      unit.findings = lint_unit(*world_, *unit.linked);
      if (unit.lacks_children) std::erase_if(unit.findings, [](const LintFinding& f) { return counts_children(f); });
      settle_findings(unit.repair, unit.findings);
    });
    std::vector<std::vector<Diagnostic>> shown(units_.size());
    tbb::parallel_for(size_t{0}, units_.size(), [&](size_t i) { shown[i] = diagnostics_of(units_[i]); });
    const bool any_failed = std::any_of(units_.begin(), units_.end(), [](const Unit& u) { return u.failed(); });
    if (options_.inspect && !any_failed) shown.push_back(options_.inspect(*world_));
    for (std::vector<Diagnostic>& some : shown) {
      for (const Diagnostic& d : some)
        if (d.severity == Severity::error) report_.raise(kExitRejected);
      diagnostics_.insert(diagnostics_.end(), some.begin(), some.end());
    }
    for (const Diagnostic& d : diagnostics_) report_.log().add(d);
  }

  std::vector<Diagnostic> diagnostics_of(Unit& unit) {
    if (unit.compiled == nullptr) return {};
    if (unit.compiled->findings.empty() && unit.findings.empty() && unit.collisions.empty() &&
        unit.compiled->waivers.empty())
      return {};
    const auto source = source_of(unit.source->path);
    if (source == nullptr) return {};
    std::vector<Finding> findings = unit.compiled->findings;
    std::move(unit.collisions.begin(), unit.collisions.end(), std::back_inserter(findings));
    SourceMap places(source->text());
    const auto look_up = [](const LintUnit& other, void* self) {
      return static_cast<WorldBuilder*>(self)->source_of(other.path);
    };
    for (LintFinding& f : unit.findings)
      findings.push_back(to_finding(std::move(f), *unit.linked, source->text(), places, look_up, this));
    std::vector<Waiver> waivers = unit.compiled->waivers;
    for (size_t w = 0; w < waivers.size(); ++w) {
      const auto [begin, size] = unit.compiled->waiver_texts[w];
      if (begin <= source->text().size()) waivers[w].text = source->text().substr(begin, size);
    }
    // A skipped file was not looked at whole, nor one that a later layer replaces.
    const bool is_whole = !unit.skipped && options_.compile.lint && unit.linked != nullptr && !unit.linked->is_shadowed;
    return resolve(*source, std::move(findings), waivers, options_.policy, is_whole);
  }

  // ---- outputs

  static std::string output_path(const Unit& unit) {
    const std::string& extension = unit.binding->extension();
    return extension + "/" + unit.stem + "." + extension;
  }

  void write() {
    archetypes_ = linked_archetypes(*world_);
    link_sets();
    std::unordered_map<uint32_t, uint64_t> known_archetypes(before_.archetypes.begin(), before_.archetypes.end());
    std::unordered_map<std::string, const BuiltOutput*> known;
    for (const BuiltOutput& o : before_.outputs) known.emplace(o.path, &o);
    std::vector<const Unit*> wanted;
    for (const Unit& unit : units_)
      if (unit.linked != nullptr && !unit.linked->is_shadowed && unit.linked->manifest == nullptr)
        wanted.push_back(&unit);
    if (!announce(wanted)) return;
    std::vector<BuiltOutput> outputs(wanted.size());
    std::vector<std::string> explained(wanted.size());
    std::vector<int> errors(wanted.size(), 0);
    std::vector<std::string> failures(wanted.size()), problems(wanted.size());
    std::atomic<uint64_t> written{0}, unchanged{0};
    tbb::parallel_for(size_t{0}, wanted.size(), [&](size_t i) {
      if (io_.cancelled()) return;
      const Unit& unit = *wanted[i];
      BuiltOutput& out = outputs[i];
      out.path = output_path(unit);
      out.parts = output_parts(*world_, *unit.linked, unit.key.low, archetypes_, sets_, unit.repair);
      const auto before = known.find(out.path);
      const bool is_known = before != known.end() && before->second->time != 0;
      if (is_known && before->second->parts == out.parts && is_in_place(*before->second)) {
        out = *before->second;
        ++unchanged;
        return;
      }
      if (options_.explain) {
        std::vector<std::string> reasons;
        if (!is_known)
          reasons.emplace_back(has_state_ ? "is new" : "no build state fits (first build, or other settings)");
        else if (before->second->parts == out.parts)
          reasons.emplace_back("the output was missing or changed by somebody else");
        else
          reasons = explain_change(before->second->parts, out.parts, *unit.linked, known_archetypes, archetypes_);
        for (const std::string& reason : reasons) explained[i] += out.path + ": " + reason + "\n";
      }
      const std::string path = options_.output + "/" + out.path;
      errors[i] = create_parent_folders(path);
      if (errors[i] != 0) return;
      std::vector<uint8_t> bytes;
      if (!linked_bytes(unit, bytes, failures[i], problems[i])) return;
      const WriteResult result = write_file(path, bytes, WriteMode::if_changed);
      errors[i] = result.error;
      ++(result.outcome == WriteOutcome::written ? written : unchanged);
      if (result.outcome != WriteOutcome::failed) (void)look_at(out);
    });
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!explained[i].empty()) report_.print(explained[i]);
      totals_.output_bytes += outputs[i].size;
      if (!failures[i].empty()) refuse(*wanted[i], failures[i]);
      if (!problems[i].empty()) report_.environment(wanted[i]->source->path, problems[i]);
      if (errors[i] != 0)
        report_.environment(options_.output + "/" + outputs[i].path, "cannot write: " + error_text(errors[i]));
    }
    totals_.written = written;
    totals_.unchanged = unchanged;
    if (interrupted() || report_.exit_code() != kExitDone) return;
    if (options_.pack && !pack(wanted, outputs, known)) return;
    remove_old(outputs);
    save(std::move(outputs));
  }

  /// Tells the next build of files that this one is about to make: killed in between, it leaves none that nobody knows.
  bool announce(const std::vector<const Unit*>& wanted) {
    std::set<std::string> paths;
    for (const Unit* unit : wanted) paths.insert(output_path(*unit));
    if (options_.pack) paths.insert("world.mpk");
    for (const BuiltOutput& o : before_.outputs) paths.erase(o.path);
    if (paths.empty()) return true;
    BuildStateData state = before_;
    for (const std::string& path : paths) state.outputs.push_back({path, 0, 0, {}});
    const int error = save_state(state_path_, state);
    if (error != 0) report_.environment(state_path_, "cannot write the build state: " + error_text(error));
    return error == 0;
  }

  void link_sets() {
    std::vector<const LintUnit*> maps;
    for (const Unit& unit : units_)
      if (unit.linked != nullptr && unit.linked->map != nullptr && !unit.linked->is_shadowed)
        maps.push_back(unit.linked);
    std::vector<std::vector<LodSetInput>> sets(maps.size());
    tbb::parallel_for(size_t{0}, maps.size(), [&](size_t i) { sets[i] = lod_sets_of(*world_, *maps[i]); });
    for (size_t i = 0; i < maps.size(); ++i) sets_.emplace(maps[i], std::move(sets[i]));
  }

  void refuse(const Unit& unit, std::string message) {
    Diagnostic d = placeless(rules::resource_too_large, unit.source->path, std::move(message));
    report_.log().add(d);
    report_.log().add_failed(unit.source->path);
    report_.raise(kExitRejected);
  }

  /// A map with what other files add to it; anything else as it was compiled.
  /// `error`: what the source cannot become; `problem`: why it cannot be read.
  bool linked_bytes(const Unit& unit, std::vector<uint8_t>& out, std::string& error, std::string& problem) const {
    out.assign(unit.compiled->resource.begin(), unit.compiled->resource.end());
    if (unit.repair.any()) {
      const auto source = open_again(unit.source->path, problem);
      if (source == nullptr) return false;
      CompileOptions options = options_.compile;
      options.jobs = 1;
      options.stem = unit.stem;
      options.lint_content = false;
      options.repair = &unit.repair;
      out = compile_xml(*source, *unit.binding, options).bytes;
    }
    if (unit.linked->map == nullptr) return true;
    LoadedResource map;
    if (!view_resource(unit.source->path, out, {}, map, error)) return false;
    CookInput in;
    in.archetype = [&](NameHash name) -> const ArchetypeTraits* {
      const auto found = archetypes_.find(name.value);
      return found == archetypes_.end() ? nullptr : &found->second.traits;
    };
    const LintUnit* const parent = world_->parent_of(*unit.linked);
    if (parent != nullptr) in.parent = [&, parent](uint32_t index) { return lod_parent(sets_, *parent, index); };
    in.lod_sets = sets_.at(unit.linked);
    CookReport report;
    return cook_map(map, in, out, report, error);
  }

  /// Places near each other on the map lie near each other in the pack; type files, which many maps need, come first.
  static uint64_t streaming_order(const Unit& unit) {
    if (unit.linked->map == nullptr) return 0;
    const Bounds box = declared_streaming_box(*unit.linked->map);
    const auto step = [](double low, double high) {
      const double at = std::clamp(((low + high) / 2 + kWorldLimit) / (2 * kWorldLimit), 0.0, 1.0);
      return static_cast<uint32_t>(at * 65535);
    };
    const uint32_t x = step(box.min.x, box.max.x), y = step(box.min.y, box.max.y);
    uint64_t code = 0;
    for (unsigned bit = 0; bit < 16; ++bit)
      code |= uint64_t{x >> bit & 1u} << (2 * bit) | uint64_t{y >> bit & 1u} << (2 * bit + 1);
    return 1 + code;
  }

  bool pack(const std::vector<const Unit*>& wanted, std::vector<BuiltOutput>& outputs,
            const std::unordered_map<std::string, const BuiltOutput*>& known) {
    BuiltOutput out;
    out.path = "world.mpk";
    DigestBuilder hash;
    for (const BuiltOutput& o : outputs) {
      hash.add_text(o.path);
      for (const uint64_t part :
           {o.parts.source, o.parts.archetypes, o.parts.parents, o.parts.children, o.parts.repair})
        hash.add(part);
    }
    out.parts.source = hash.value();  // options of the pack are settings of the whole state
    const auto before = known.find(out.path);
    if (before != known.end() && before->second->parts == out.parts && is_in_place(*before->second)) {
      outputs.push_back(*before->second);
      return true;
    }
    std::vector<PackInput> inputs;
    for (size_t i = 0; i < wanted.size(); ++i)
      inputs.push_back(pack_file_input(wanted[i]->source->kind, wanted[i]->stem,
                                       options_.output + "/" + outputs[i].path, streaming_order(*wanted[i])));
    PackWriteOptions pack_options = options_.pack_options;
    pack_options.jobs = options_.jobs;
    pack_options.cancel = io_.cancel;
    CachedDictionaries dictionaries(cache_);
    pack_options.dictionary_store = &dictionaries;
    const std::string path = options_.output + "/" + out.path;
    const PackWriteResult result = write_pack(path, inputs, pack_options);
    if (interrupted()) return false;
    if (result.outcome == WriteOutcome::failed) return report_.environment(path, result.message), false;
    totals_.packed = result.report;
    (void)look_at(out);
    outputs.push_back(std::move(out));
    return true;
  }

  void remove_old(const std::vector<BuiltOutput>& outputs) {
    std::set<std::string_view> wanted;
    for (const BuiltOutput& o : outputs) wanted.insert(o.path);
    for (const BuiltOutput& o : before_.outputs)
      if (!wanted.contains(o.path) && ::unlink((options_.output + "/" + o.path).c_str()) == 0) ++totals_.removed;
  }

  void save(std::vector<BuiltOutput> outputs) {
    BuildStateData state;
    state.settings = settings_hash();
    state.checks = checks_hash();
    state.started = started_;
    state.sources = sources_;
    state.outputs = std::move(outputs);
    for (const auto& [name, linked] : archetypes_) state.archetypes.emplace_back(name, linked.hash);
    std::sort(state.archetypes.begin(), state.archetypes.end());
    state.diagnostics = diagnostics_;
    if (const int error = save_state(state_path_, state); error != 0)
      report_.environment(state_path_, "cannot write the build state: " + error_text(error));
  }

  const WorldBuildOptions& options_;
  ToolIo& io_;
  Report& report_;
  BuildCache cache_{""};
  OutputLock lock_;
  std::string state_path_;
  BuildStateData before_;
  bool has_state_ = false, is_same_question_ = false, cache_error_told_ = false;
  int64_t started_ = 0;
  uint64_t compile_settings_ = 0;  // hash
  std::vector<WorldSource> sources_;
  std::vector<Unit> units_;
  std::unique_ptr<LintWorld> world_;
  ArchetypeTable archetypes_;
  LodSetTable sets_;
  std::vector<Diagnostic> diagnostics_;
  std::mutex sources_mutex_, report_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const SourceText>> opened_;
  std::unordered_map<std::string, const WorldSource*> known_;  // by path
  WorldBuildTotals totals_;
  Clock::time_point lap_;
};

}  // namespace

WorldBuildTotals build_world(const WorldBuildOptions& options, ToolIo& io, Report& report) {
  if (options.fix || options.fix_preview) {
    // On a copy of the options that writes nothing: what is left to say is said by the real run.
    WorldBuildOptions check = options;
    check.output.clear();
    check.progress = ProgressStyle::none;
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
