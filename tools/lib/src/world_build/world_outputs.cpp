// SPDX-License-Identifier: MIT
#include "world_build/world_outputs.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include <oneapi/tbb/parallel_for.h>

#include "meridian/base/version.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/cook.h"
#include "meridian/tools/pack_view.h"
#include "world_build/index_output.h"

namespace meridian::tools {
namespace {

constexpr double kWorldLimit = 16384;  // places beyond it are ordered as if they stood on the border [m]

int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string output_path(const WorldUnit& unit) {
  const std::string& extension = unit.binding->extension();
  return extension + "/" + unit.stem + "." + extension;
}

/// Places near each other on the map lie near each other in the pack; type files, which many maps need, come first.
uint64_t streaming_order(const WorldUnit& unit) {
  if (unit.linked->map == nullptr) return 0;
  const Bounds box = streaming_box(unit.repair, *unit.linked->map);
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

}  // namespace

WorldOutputs::WorldOutputs(BuildRun& run, LinkedWorld& linked) : run_(run), linked_(linked) {
  if (!run.options.output.empty()) state_path_ = run.options.output + "/.worldc/state";
}

// ---- before anything is read

bool WorldOutputs::prepare() {
  if (run_.options.output.empty()) return true;
  const std::string lock = run_.options.output + "/.worldc/lock";
  int error = create_parent_folders(lock);
  if (error == 0) error = lock_.take(lock, run_.io);
  if (error == EINTR) return run_.report.raise(kExitInterrupted), false;
  if (error != 0) return run_.report.environment(run_.options.output, "cannot write here: " + error_text(error)), false;
  // The lock is ours, so whoever wrote here is done or dead.
  for (const char* folder : {"", "/imap", "/ityp", "/gcfg", "/.worldc"})
    remove_stray_files(run_.options.output + folder, 0);
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
uint64_t WorldOutputs::settings_hash() const {
  DigestBuilder hash;
  hash.add_text(kVersionString);
  hash.add(kFormatVersion);
  for (const BuiltinSchema& schema : builtin_schemas()) hash.add(schema.schema_fingerprint);
  hash.add(linked_.compile_settings());
  hash.add(uint32_t{run_.options.pack});
  hash.add(run_.options.pack_options.level);
  hash.add(run_.options.pack_options.store_below);
  hash.add(uint32_t{run_.options.pack_options.train_dictionaries});
  return hash.value();
}

/// What else bears on diagnostics, or on which repairs are made: after a change all is looked at again, and what
/// comes out the same stays.
uint64_t WorldOutputs::checks_hash() const {
  DigestBuilder hash;
  hash.add(run_.options.inspect_key);
  hash.add(static_cast<uint32_t>(run_.options.compile.extents));
  hash.add(static_cast<uint32_t>(run_.options.compile.flags));
  hash.add(uint32_t{run_.options.compile.allow_missing_archetypes});
  for (const WorldLayer& layer : run_.options.layers) {
    hash.add_text(layer.path);
    hash.add(int32_t{layer.order});
  }
  for (const Rule* rule : all_rules())
    for (const Severity found : {Severity::note, Severity::warning}) {
      const std::optional<Severity> shown = run_.options.policy.severity_of(*rule, found);
      hash.add(shown ? static_cast<uint32_t>(*shown) : 3u);
    }
  return hash.value();
}

bool WorldOutputs::are_up_to_date() {
  if (!is_same_question_ || run_.options.output.empty() || linked_.sources().size() != before_.sources.size())
    return false;
  for (size_t i = 0; i < linked_.sources().size(); ++i)
    if (linked_.sources()[i].path != before_.sources[i].path || linked_.sources()[i].kind != before_.sources[i].kind ||
        (linked_.sources()[i].kind != 0 && linked_.sources()[i].hash != before_.sources[i].hash))
      return false;
  for (const BuiltOutput& output : before_.outputs)
    if (!is_in_place(output)) return false;
  for (const Diagnostic& d : before_.diagnostics) run_.report.log().add(d);
  run_.totals.nothing_to_do = true;
  run_.totals.sources = static_cast<uint64_t>(std::count_if(linked_.sources().begin(), linked_.sources().end(),
                                                            [](const WorldSource& s) { return s.kind != 0; }));
  run_.totals.unchanged = before_.outputs.size();
  if (std::any_of(linked_.sources().begin(), linked_.sources().end(),
                  [](const WorldSource& s) { return s.is_fresh && s.kind != 0; })) {
    // Read again and found the same (touched, or too young to trust): next time that need not be.
    before_.sources = linked_.sources();
    before_.started = started_;
    (void)save_state(state_path_, before_);
  }
  return true;
}

KnownSources WorldOutputs::known_sources() const {
  KnownSources known;
  for (const WorldSource& s : before_.sources) known.emplace(s.path, s);
  return known;
}

bool WorldOutputs::is_in_place(const BuiltOutput& output) const {
  BuiltOutput now{output.path, 0, 0, {}};
  return look_at(now) && now.size == output.size && now.time == output.time;
}

/// Size and time of the file as it is now. False: it is not there.
bool WorldOutputs::look_at(BuiltOutput& output) const {
  struct stat status {};
  if (::stat((run_.options.output + "/" + output.path).c_str(), &status) != 0) return false;
  output.size = static_cast<uint64_t>(status.st_size);
  output.time = time_of(status);
  return true;
}

// ---- outputs

void WorldOutputs::write(const std::vector<Diagnostic>& diagnostics) {
  std::unordered_map<uint32_t, uint64_t> known_archetypes(before_.archetypes.begin(), before_.archetypes.end());
  KnownOutputs known;
  for (const BuiltOutput& o : before_.outputs) known.emplace(o.path, &o);
  std::vector<const WorldUnit*> wanted;
  for (const WorldUnit& unit : linked_.units())
    if (unit.linked != nullptr && !unit.linked->is_shadowed && unit.linked->manifest == nullptr)
      wanted.push_back(&unit);
  if (!announce(wanted)) return;
  std::vector<BuiltOutput> outputs(wanted.size());
  std::vector<std::string> explained(wanted.size());
  std::vector<int> errors(wanted.size(), 0);
  std::vector<std::string> failures(wanted.size()), problems(wanted.size());
  std::atomic<uint64_t> written{0}, unchanged{0};
  tbb::parallel_for(size_t{0}, wanted.size(), [&](size_t i) {
    if (run_.io.cancelled()) return;
    const WorldUnit& unit = *wanted[i];
    BuiltOutput& out = outputs[i];
    out.path = output_path(unit);
    out.parts = output_parts(linked_.world(), *unit.linked, unit.key.low, archetypes_, sets_, unit.repair);
    const auto before = known.find(out.path);
    const bool is_known = before != known.end() && before->second->time != 0;
    if (is_known && before->second->parts == out.parts && is_in_place(*before->second)) {
      out = *before->second;
      ++unchanged;
      return;
    }
    if (run_.options.explain) {
      std::vector<std::string> reasons;
      if (!is_known)
        reasons.emplace_back(has_state_ ? "is new" : "no build state fits (first build, or other settings)");
      else if (before->second->parts == out.parts)
        reasons.emplace_back("the output was missing or changed by somebody else");
      else
        reasons = explain_change(before->second->parts, out.parts, *unit.linked, known_archetypes, archetypes_);
      for (const std::string& reason : reasons) explained[i] += out.path + ": " + reason + "\n";
    }
    const std::string path = run_.options.output + "/" + out.path;
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
    if (!explained[i].empty()) run_.report.print(explained[i]);
    run_.totals.output_bytes += outputs[i].size;
    if (!failures[i].empty()) refuse(*wanted[i], failures[i]);
    if (!problems[i].empty()) run_.report.environment(wanted[i]->source->path, problems[i]);
    if (errors[i] != 0)
      run_.report.environment(run_.options.output + "/" + outputs[i].path, "cannot write: " + error_text(errors[i]));
  }
  run_.totals.written = written;
  run_.totals.unchanged = unchanged;
  if (run_.interrupted() || run_.report.exit_code() != kExitDone) return;
  if (!write_index(wanted, outputs)) return;
  if (run_.options.pack && !pack(wanted, outputs, known)) return;
  remove_old(outputs);
  save(std::move(outputs), diagnostics);
}

/// Tells the next build of files that this one is about to make: killed in between, it leaves none that nobody knows.
bool WorldOutputs::announce(const std::vector<const WorldUnit*>& wanted) {
  std::set<std::string> paths;
  for (const WorldUnit* unit : wanted) paths.insert(output_path(*unit));
  paths.insert(kIndexOutput);
  if (run_.options.pack) paths.insert("world.mpk");
  for (const BuiltOutput& o : before_.outputs) paths.erase(o.path);
  if (paths.empty()) return true;
  BuildStateData state = before_;
  for (const std::string& path : paths) state.outputs.push_back({path, 0, 0, {}});
  const int error = save_state(state_path_, state);
  if (error != 0) run_.report.environment(state_path_, "cannot write the build state: " + error_text(error));
  return error == 0;
}

uint64_t WorldOutputs::linked_size(const WorldUnit& unit) const {
  std::vector<uint8_t> bytes;
  std::string error, problem;
  return linked_bytes(unit, bytes, error, problem) ? bytes.size() : 0;
}

void WorldOutputs::link() {
  archetypes_ = linked_archetypes(linked_.world());
  std::vector<const LintUnit*> maps;
  for (const WorldUnit& unit : linked_.units())
    if (unit.linked != nullptr && unit.linked->map != nullptr && !unit.linked->is_shadowed) maps.push_back(unit.linked);
  std::vector<std::vector<LodSetInput>> sets(maps.size());
  tbb::parallel_for(size_t{0}, maps.size(), [&](size_t i) { sets[i] = lod_sets_of(linked_.world(), *maps[i]); });
  for (size_t i = 0; i < maps.size(); ++i) sets_.emplace(maps[i], std::move(sets[i]));
}

void WorldOutputs::refuse(const WorldUnit& unit, std::string message) {
  Diagnostic d = placeless(rules::resource_too_large, unit.source->path, std::move(message));
  run_.report.log().add(d);
  run_.report.log().add_failed(unit.source->path);
  run_.report.raise(kExitRejected);
}

/// A map with what other files add to it; anything else as it was compiled.
/// `error`: what the source cannot become; `problem`: why it cannot be read.
bool WorldOutputs::linked_bytes(const WorldUnit& unit, std::vector<uint8_t>& out, std::string& error,
                                std::string& problem) const {
  out.assign(unit.compiled->resource.begin(), unit.compiled->resource.end());
  if (unit.repair.any()) {
    const auto source = linked_.open_again(unit.source->path, problem);
    if (source == nullptr) return false;
    CompileOptions options = run_.options.compile;
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
  const LintUnit* const parent = linked_.world().parent_of(*unit.linked);
  if (parent != nullptr) in.parent = [&, parent](uint32_t index) { return lod_parent(sets_, *parent, index); };
  in.lod_sets = sets_.at(unit.linked);
  CookReport report;
  return cook_map(map, in, out, report, error);
}

/// The index of all outputs so far, which it joins.
bool WorldOutputs::write_index(const std::vector<const WorldUnit*>& wanted, std::vector<BuiltOutput>& outputs) {
  std::vector<IndexedUnit> indexed;
  for (size_t i = 0; i < wanted.size(); ++i)
    indexed.push_back({wanted[i]->linked, outputs[i].size, &wanted[i]->repair});
  WorldIndexOptions options = run_.options.index;
  options.names = run_.options.compile.names;
  BuiltOutput index;
  std::string error;
  const WriteResult result = write_index_output(run_.options.output, linked_.world(), indexed, options, index, error);
  const std::string path = run_.options.output + "/" + kIndexOutput;
  if (!error.empty()) {
    run_.report.log().add(placeless(rules::resource_too_large, path, std::move(error)));
    return run_.report.raise(kExitRejected), false;
  }
  if (result.outcome == WriteOutcome::failed)
    return run_.report.environment(path, "cannot write: " + error_text(result.error)), false;
  ++(result.outcome == WriteOutcome::written ? run_.totals.written : run_.totals.unchanged);
  (void)look_at(index);
  run_.totals.output_bytes += index.size;
  outputs.push_back(std::move(index));
  return true;
}

bool WorldOutputs::pack(const std::vector<const WorldUnit*>& wanted, std::vector<BuiltOutput>& outputs,
                        const KnownOutputs& known) {
  BuiltOutput out;
  out.path = "world.mpk";
  DigestBuilder hash;
  for (const BuiltOutput& o : outputs) {
    hash.add_text(o.path);
    for (const uint64_t part : {o.parts.source, o.parts.archetypes, o.parts.parents, o.parts.children, o.parts.repair})
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
                                     run_.options.output + "/" + outputs[i].path, streaming_order(*wanted[i])));
  inputs.push_back(pack_file_input(kWorldIndexKind, kIndexName, run_.options.output + "/" + kIndexOutput, 0));
  PackWriteOptions pack_options = run_.options.pack_options;
  pack_options.jobs = run_.options.jobs;
  pack_options.cancel = run_.io.cancel;
  CachedDictionaries dictionaries(linked_.cache());
  pack_options.dictionary_store = &dictionaries;
  const std::string path = run_.options.output + "/" + out.path;
  const PackWriteResult result = write_pack(path, inputs, pack_options);
  if (run_.interrupted()) return false;
  if (result.outcome == WriteOutcome::failed) return run_.report.environment(path, result.message), false;
  run_.totals.packed = result.report;
  (void)look_at(out);
  outputs.push_back(std::move(out));
  return true;
}

void WorldOutputs::remove_old(const std::vector<BuiltOutput>& outputs) {
  std::set<std::string_view> wanted;
  for (const BuiltOutput& o : outputs) wanted.insert(o.path);
  for (const BuiltOutput& o : before_.outputs)
    if (!wanted.contains(o.path) && ::unlink((run_.options.output + "/" + o.path).c_str()) == 0) ++run_.totals.removed;
}

void WorldOutputs::save(std::vector<BuiltOutput> outputs, const std::vector<Diagnostic>& diagnostics) {
  BuildStateData state;
  state.settings = settings_hash();
  state.checks = checks_hash();
  state.started = started_;
  state.sources = linked_.sources();
  state.outputs = std::move(outputs);
  for (const auto& [name, linked] : archetypes_) state.archetypes.emplace_back(name, linked.hash);
  std::sort(state.archetypes.begin(), state.archetypes.end());
  state.diagnostics = diagnostics;
  if (const int error = save_state(state_path_, state); error != 0)
    run_.report.environment(state_path_, "cannot write the build state: " + error_text(error));
}

}  // namespace meridian::tools
