// SPDX-License-Identifier: MIT
#include "worldc.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meridian/tools/file_io.h"
#include "meridian/tools/forecast.h"
#include "meridian/tools/html_report.h"
#include "meridian/tools/packfile_manifest.h"
#include "meridian/tools/world_build.h"
#include "meridian/tools/world_conflicts.h"
#include "meridian/tools/world_manifest.h"
#include "meridian/tools/world_patch.h"
#include "meridian/tools/world_watch.h"
#include "worldc_docs.h"

namespace meridian::tools {
namespace {

/// `patch`: null where none was asked for.
std::string totals_text(const WorldBuildTotals& t, const PackReport* patch, std::string_view form) {
  const auto rate = [&](uint64_t amount) {
    return t.total_seconds > 0 ? static_cast<uint64_t>(static_cast<double>(amount) / t.total_seconds) : 0;
  };
  std::vector<std::pair<const char*, uint64_t>> counts{{{"sources", t.sources},
                                                        {"maps", t.maps},
                                                        {"type_files", t.types},
                                                        {"entities", t.entities},
                                                        {"archetypes", t.archetypes},
                                                        {"compiled", t.compiled},
                                                        {"from_cache", t.from_cache},
                                                        {"written", t.written},
                                                        {"unchanged", t.unchanged},
                                                        {"removed", t.removed},
                                                        {"source_bytes", t.source_bytes},
                                                        {"output_bytes", t.output_bytes},
                                                        {"pack_bytes", t.packed.pack_bytes},
                                                        {"pack_stored", t.packed.stored},
                                                        {"files_per_s", rate(t.sources)},
                                                        {"mb_per_s", rate(t.source_bytes / 1'000'000)}}};
  if (patch != nullptr)
    counts.insert(counts.end(), {{"patch_entries", patch->entries},
                                 {"patch_removed", patch->removed},
                                 {"patch_unchanged", patch->unchanged},
                                 {"patch_bytes", patch->pack_bytes}});
  const std::array<std::pair<const char*, double>, 6> times{{{"find", t.find_seconds},
                                                             {"compile", t.compile_seconds},
                                                             {"link", t.link_seconds},
                                                             {"lint", t.lint_seconds},
                                                             {"write", t.write_seconds},
                                                             {"total", t.total_seconds}}};
  return stats_text("worldc", form, 15, counts, times);
}

/// One run: the command lines of all commands, of which one is parsed.
class Worldc {
 public:
  explicit Worldc(ToolIo& io)
      : report_(io, "worldc"),
        io_(io),
        top_(top_doc()),
        build_(build_doc()),
        watch_(watch_doc()),
        check_(check_doc()),
        forecast_(forecast_doc()),
        page_(report_doc()),
        manifest_(manifest_doc()) {
    for (CommandLine* line : commands()) {
      line->operands(sources_);
      line->group("World");
      line->texts("--layer", "DIR", layers_, "sources that override those before (of one name, the last one counts)",
                  ValueHint::folder);
      line->text("--cache", "DIR", options_.cache, "folder of compiled sources, which builds may share",
                 ValueHint::folder);
      line->number("--cache-size", "N", options_.cache_bytes, 0, UINT64_MAX,
                   "largest size of the cache (k, M, G: times 1024; default 4G)");
    }
    for (CommandLine* line : {&build_, &watch_}) declare_output(*line);
    build_.text("--patch-from", "PACK", patch_from_,
                "write patch.mpk too: what changed since PACK, the world.mpk of an older build", ValueHint::file);
    watch_.flag("--poll", poll_, "look for changes twice a second, where the system does not tell of them");
    forecast_.group("Forecast");
    forecast_.choice("--format", {"text", "json"}, format_, "form of the answer (default: text)");
    page_.group("Output");
    page_.text("-o,--output", "FILE", page_path_, "the page ('-': standard output)", ValueHint::file);
    for (CommandLine* line : {&forecast_, &page_}) {
      line->text(
          "--target", "SPEC", target_,
          "which configurations count, as in 'build=final,platform=x64,param=bigworld' (default: those for all)");
      line->number("--margin", "N", margin_, 0, 100'000,
                   "how far outside its streaming box a map is still kept [m] (default: 20)");
    }
    manifest_.group("Output");
    manifest_.text("-o,--output", "FILE", manifest_file_, "file to write ('-': standard output)", ValueHint::file);
    for (CommandLine* line : commands()) {
      compile_.declare(*line, false);
      line->group("Checks");
      line->flag("--allow-missing-archetypes", compile_.compile.allow_missing_archetypes,
                 "an archetype that no type file defines is a warning");
      if (line == &build_ || line == &watch_ || line == &check_)
        line->choice("--fix", {"write", "preview"}, fix_,
                     "rewrite the sources where the right value is certain, or only show the difference", true);
      if (line == &check_)
        line->optional_text("--conflicts", "FILE", "-", conflicts_,
                            "list each entity that a layer changes in a map below it (no FILE: on standard output)",
                            ValueHint::file);
      diag_.declare(*line);
      line->group("Run");
      line->number("-j,--jobs", "N", jobs_, 0, 1024, "threads (0, default: as many as the machine has)");
      line->choice("--stats", {"text", "json"}, stats_, "print counts, bytes and seconds to standard output", true);
      line->group("Help");
      line->flag("-h,--help", help_, "print this text");
      line->flag("-v,--version", version_, "print the versions of tool and formats");
    }
    top_.group("Help");
    top_.flag("-h,--help", help_, "print this text");
    top_.flag("-v,--version", version_, "print the versions of tool and formats");
  }

  int run(std::span<const char* const> args) {
    return run_program(report_, diag_, [&] { main(args); });
  }

 private:
  void declare_output(CommandLine& line) {
    line.group("Output");
    line.text("-o,--output", "DIR", options_.output, "folder to write to, made if needed", ValueHint::folder);
    line.choice("--extents", {"keep", "fix", "union"}, extents_,
                "extents in the output: as written (default), computed, or both together");
    line.choice("--flags", {"keep", "fix"}, flags_,
                "content and parent flags in the output: as written (default) or computed");
    line.flag("--no-pack", no_pack_, "write no world.mpk");
    line.number("--level", "N", level_, 0, 22, "compression of the pack: 0 (none) to 22 (default: 9)");
    line.number("--store-below", "N", store_below_, 0, UINT32_MAX,
                "entries smaller than N bytes are not compressed (default: 256)");
    line.flag("--dictionaries", options_.pack_options.train_dictionaries,
              "train a dictionary for small entries of each kind");
    line.flag("--explain-rebuild", options_.explain, "print why each output is made again");
  }

  std::array<CommandLine*, 6> commands() { return {&build_, &watch_, &check_, &forecast_, &page_, &manifest_}; }

  /// The command line of a command, or null.
  CommandLine* line_of(std::string_view command) {
    for (CommandLine* line : commands())
      if (line->doc().name == "worldc " + std::string(command)) return line;
    return nullptr;
  }

  void main(std::span<const char* const> args) {
    std::vector<const CommandLine*> lines{&top_};
    for (const CommandLine* line : commands()) lines.push_back(line);
    if (answer_generate(args, lines, report_)) return;
    ExpandedArguments expanded;
    if (!expand_arguments(args, diag_, report_, expanded)) return;
    std::vector<std::string> rest = expanded.arguments;
    CommandLine* line = &top_;
    if (!rest.empty() && !rest[0].starts_with("-")) {
      line = line_of(rest[0]);
      if (line == nullptr) return report_.usage("'" + rest[0] + "' is no command; there are: " + kCommands);
      rest.erase(rest.begin());
    }
    std::string error;
    const bool parsed = line->parse(rest, error);
    if (help_) return report_.print(help_text(*line));
    if (version_) return report_.print(version_text("worldc"));
    if (!parsed) return report_.usage(error);
    if (line == &top_) return report_.usage(std::string("a command is needed: ") + kCommands);
    if (!diag_.read(error)) return report_.usage(error);
    if (answer_rule_questions(diag_, report_)) return;
    if (line == &watch_ && read_options(*line, error)) return watch();
    if (!read_options(*line, error) || !read_world(*line, report_, error)) {
      if (!error.empty()) report_.usage(error);
      return;
    }
    if (line == &manifest_) return write_packfile_manifest(options_, world_.get(), manifest_file_, io_, report_);
    if (!conflicts_.empty()) list_conflicts();
    if (line == &forecast_) {
      options_.only_pools = true;
      options_.then = [this](const CheckedWorld& world) { print_forecast(world); };
    } else if (line == &page_) {
      options_.then = [this](const CheckedWorld& world) { write_page(world); };
    }
    std::unique_ptr<PackFile> base;
    if (!patch_from_.empty() && (base = open_patch_base(patch_from_, options_.output, report_)) == nullptr) return;
    const WorldBuildTotals totals = build_world(options_, io_, report_);
    PackReport patch;
    if (base != nullptr && report_.exit_code() == kExitDone) patch = write_world_patch(*base, options_, io_, report_);
    if (!stats_.empty()) report_.print(totals_text(totals, base == nullptr ? nullptr : &patch, stats_));
  }

  /// Has the list written once the world is linked; of sources with errors there is nothing in it.
  void list_conflicts() {
    options_.then = [this](const CheckedWorld& world) {
      write_text(conflicts_, world_conflicts_text(world.world, options_.layers), report_);
    };
  }

  ForecastOptions forecast_options(const CheckedWorld& world) const {
    ForecastOptions options;
    options.margin = static_cast<double>(margin_);
    if (!target_.empty()) options.target = &config_target_;
    options.resource_bytes = world.resource_bytes;
    options.permanent_types = options_.index.permanent_types;
    options.extents = options_.compile.extents;
    return options;
  }

  void print_forecast(const CheckedWorld& world) {
    const Forecast forecast = forecast_world(world.world, forecast_options(world));
    report_.print(format_ == "json" ? forecast_json(forecast) : forecast_text(forecast));
  }

  void write_page(const CheckedWorld& world) {
    write_text(page_path_, html_report(world, forecast_options(world)), report_);
  }

  void watch() {
    FolderWatchOptions how;
    how.without = {options_.output, options_.cache, diag_.file};
    how.poll = poll_;
    std::vector<std::string> given = sources_;
    given.insert(given.end(), layers_.begin(), layers_.end());
    std::unique_ptr<Report> report;
    bool is_ready = false;
    WatchRound round;
    round.prepare = [&] {
      report = std::make_unique<Report>(io_, "worldc");
      std::string error;
      is_ready = read_world(watch_, *report, error);
      if (!error.empty()) report->usage(error);
      std::vector<std::string> roots = given;
      roots.insert(roots.end(), named_paths_.begin(), named_paths_.end());
      return roots;
    };
    WorldBuildTotals totals;
    int code = kExitDone;
    round.build = [&] {
      totals = {};
      code = run_program(*report, diag_, [&] {
        if (is_ready) totals = build_world(options_, io_, *report);
      });
    };
    round.tell = [&] {
      if (code == kExitInterrupted) return;
      std::string text = watch_summary(totals, code, report->log().errors());
      if (!stats_.empty() && code == kExitDone) text += totals_text(totals, nullptr, stats_);
      report_.print(text);
    };
    watch_world(given, how, round, io_);
    report_.raise(kExitInterrupted);
    diag_ = {};  // each round has written its own
  }

  bool read_options(const CommandLine& line, std::string& error) {
    if (!compile_.read(error)) return false;
    options_.compile = compile_.compile;
    if (sources_.empty()) return error = "a source folder is needed", false;
    if ((&line == &build_ || &line == &watch_) && options_.output.empty()) return error = "-o DIR is needed", false;
    if (&line == &manifest_ && manifest_file_.empty()) return error = "-o FILE is needed", false;
    if (&line == &page_ && page_path_.empty()) return error = "-o FILE is needed", false;
    if (!target_.empty() && !parse_config_target(target_, config_target_, error))
      return error = "--target: " + error, false;
    if (!patch_from_.empty() && no_pack_) return error = "--patch-from needs the pack; leave --no-pack out", false;
    options_.jobs = static_cast<uint32_t>(jobs_);
    options_.pack = !no_pack_;
    options_.pack_options.level = static_cast<int>(level_);
    options_.pack_options.store_below = static_cast<uint32_t>(store_below_);
    options_.pack_options.names = options_.compile.names;
    options_.fix = fix_ == "write";
    options_.fix_preview = fix_ == "preview";
    if (!fix_.empty() && !options_.compile.lint) return error = "--fix needs the rules; leave --no-lint out", false;
    options_.progress = diag_.progress_style(io_);
    return true;
  }

  /// The world manifest, if there is one; the command line goes before it. False without `error`: it was reported.
  bool read_world(const CommandLine& line, Report& report, std::string& error) {
    options_.policy = diag_.policy;
    options_.compile.extents = repair_of(extents_);
    options_.compile.flags = repair_of(flags_);
    options_.inspect = nullptr;
    options_.index = {};
    options_.inspect_key = 0;
    world_ = nullptr;
    named_paths_.clear();
    std::string path;
    if (!find_world_manifest(sources_, path, error)) return false;
    if (!path.empty()) {
      world_ = read_world_manifest(path, report, &named_paths_);
      if (world_ == nullptr) return false;
      if (world_->extents && !line.given("--extents")) options_.compile.extents = *world_->extents;
      if (world_->flags && !line.given("--flags")) options_.compile.flags = *world_->flags;
      use_world_manifest(world_, options_);
    }
    options_.layers = world_layers(world_.get(), sources_, layers_);
    const auto folder = [](const WorldLayer& layer) { return file_identity(without_slashes(layer.path)); };
    for (const WorldLayer& a : options_.layers)
      for (const WorldLayer& b : options_.layers)
        if (a.order < b.order && folder(a) == folder(b))
          return error = "'" + b.path + "' is a source and a layer over itself", false;
    return true;
  }

  static constexpr const char* kCommands = "build, watch, check, forecast, report, manifest";

  Report report_;
  ToolIo& io_;
  CommandLine top_, build_, watch_, check_, forecast_, page_, manifest_;
  WorldBuildOptions options_;
  std::shared_ptr<const WorldManifest> world_;  // null: none
  CompileOptionsGroup compile_;
  DiagOptions diag_;
  std::vector<std::string> sources_, layers_, named_paths_;  // named_paths_: the world manifest's layers
  std::string extents_ = "keep", flags_ = "keep", fix_, stats_, manifest_file_, patch_from_, conflicts_;
  std::string target_, format_ = "text", page_path_;
  ParsedTarget config_target_;
  uint64_t jobs_ = 0, level_ = 9, store_below_ = 256, margin_ = 20;
  bool help_ = false, version_ = false, no_pack_ = false, poll_ = false;
};

}  // namespace

int run_worldc(std::span<const char* const> args, ToolIo& io) { return Worldc(io).run(args); }

}  // namespace meridian::tools
