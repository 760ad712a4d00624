// SPDX-License-Identifier: MIT
#include "worldc.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meridian/tools/packfile_manifest.h"
#include "meridian/tools/world_build.h"
#include "meridian/tools/world_conflicts.h"
#include "meridian/tools/world_manifest.h"
#include "meridian/tools/world_patch.h"
#include "meridian/tools/world_watch.h"

namespace meridian::tools {
namespace {

/// `patch`: null where none was asked for.
std::string totals_text(const WorldBuildTotals& t, const PackReport* patch, std::string_view form) {
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
                                                        {"pack_stored", t.packed.stored}}};
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
        top_(program_doc(
            "worldc", "build and check whole worlds", "COMMAND SOURCE...",
            "Commands: build (compile, link and pack all that is below some folders, as far as it changed), "
            "check (all the rules, nothing written), watch (build again whenever a source changes), manifest (write "
            "the packfile manifest). 'worldc COMMAND --help' tells more.",
            {{"worldc check maps/", "find what is wrong before it ships"},
             {"worldc build maps/ -o build/world", "make the files that a game loads"}})),
        build_(program_doc(
            "worldc build", "compile, link and pack a world", "SOURCE... -o DIR",
            "Finds maps, type files, manifests and game configurations below the SOURCE folders by what is "
            "in them (a SOURCE may be a world.json, or have one at its top: layers, groups, severities), compiles what "
            "changed since the last build, links all maps (LOD sets over maps, cooked "
            "descriptor blocks), checks everything, and writes DIR: a file each for maps (imap/), type files "
            "(ityp/) and configurations (gcfg/), and world.mpk with all of them. With errors nothing is "
            "written. DIR/.worldc holds what the next build needs to know; it may be deleted.",
            {{"worldc build maps/ -o build/world", "build what changed"},
             {"worldc build base/ --layer patch/ -o build/world", "with files of patch/ in place of base's"},
             {"worldc build maps/ -o build/world --explain-rebuild", "say why each output is made again"},
             {"worldc build maps/ -o build/world --patch-from release/world.mpk", "make a patch pack too"}})),
        watch_(program_doc(
            "worldc watch", "build a world whenever it changes", "SOURCE... -o DIR",
            "Builds as 'worldc build' does, then waits until a source changes, and builds again, until Ctrl-C (exit "
            "code 130). Each build ends with a line on standard output; errors are told and do not end it. A "
            "world.json is read again when it changes; folders may come and go.",
            {{"worldc watch maps/ -o build/world", "edit, save, look at the messages"}})),
        check_(
            program_doc("worldc check", "check a world", "SOURCE...",
                        "Runs all rules over the maps, type files, manifests and configurations below the SOURCE "
                        "folders, with everything linked: archetypes, LOD parents over files, child counts, extents, "
                        "flags, light twins, manifests. Nothing is written but by --fix.",
                        {{"worldc check maps/", "find what is wrong before it ships"},
                         {"worldc check maps/ --fix=preview", "show what --fix would change"},
                         {"worldc check base/ --layer patch/ --conflicts", "list what patch/ changes in base/"},
                         {"worldc check maps/ -Werror --diagnostics=sarif --diagnostics-file check.sarif", "in CI"}})),
        manifest_(program_doc(
            "worldc manifest", "write the packfile manifest of a world", "SOURCE... -o FILE",
            "Writes a _manifest.ymf.xml: for each map and each type file with interiors the type files that it needs, "
            "computed from what it uses; groups, high-detail textures and interiors' collision files as the "
            "manifests below the SOURCE folders have them, groups of a world.json in their place. A file that would "
            "not change is left alone; with errors nothing is written.",
            {{"worldc manifest maps/ -o maps/_manifest.ymf.xml", "bring a manifest up to date"},
             {"worldc manifest maps/ -o - | diff maps/_manifest.ymf.xml -", "only look"}})) {
    for (CommandLine* line : {&build_, &watch_, &check_, &manifest_}) {
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
    manifest_.group("Output");
    manifest_.text("-o,--output", "FILE", manifest_file_, "file to write ('-': standard output)", ValueHint::file);
    for (CommandLine* line : {&build_, &watch_, &check_, &manifest_}) {
      compile_.declare(*line, false);
      line->group("Checks");
      line->flag("--allow-missing-archetypes", compile_.compile.allow_missing_archetypes,
                 "an archetype that no type file defines is a warning");
      if (line != &manifest_)
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

  /// The command line of a command, or null.
  CommandLine* line_of(std::string_view command) {
    for (CommandLine* line : {&build_, &watch_, &check_, &manifest_})
      if (line->doc().name == "worldc " + std::string(command)) return line;
    return nullptr;
  }

  void main(std::span<const char* const> args) {
    const std::array<const CommandLine*, 5> lines{&top_, &build_, &watch_, &check_, &manifest_};
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
    std::unique_ptr<PackFile> base;
    if (!patch_from_.empty() && (base = open_patch_base(patch_from_, report_)) == nullptr) return;
    const WorldBuildTotals totals = build_world(options_, io_, report_);
    PackReport patch;
    if (base != nullptr && report_.exit_code() == kExitDone) patch = write_world_patch(*base, options_, io_, report_);
    if (!stats_.empty()) report_.print(totals_text(totals, base == nullptr ? nullptr : &patch, stats_));
  }

  /// Has the list written once the world is linked.
  void list_conflicts() {
    options_.inspect = [this, also = options_.inspect](const LintWorld& world) {
      const std::string text = world_conflicts_text(world, options_.layers);
      if (conflicts_ == "-") {
        report_.print(text);
      } else if (const int error = write_file(conflicts_, text, WriteMode::if_changed).error; error != 0) {
        report_.environment(conflicts_, "cannot write: " + error_text(error));
      }
      return also ? also(world) : std::vector<Diagnostic>();
    };
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
    round.build = [&] {
      WorldBuildTotals totals;
      const int code = run_program(*report, diag_, [&] {
        if (is_ready) totals = build_world(options_, io_, *report);
      });
      if (code == kExitInterrupted) return;
      std::string text = watch_summary(totals, code, report->log().errors());
      if (!stats_.empty() && code == kExitDone) text += totals_text(totals, nullptr, stats_);
      report_.print(text);
    };
    watch_world(given, how, round, io_);
    report_.raise(kExitInterrupted);
  }

  bool read_options(const CommandLine& line, std::string& error) {
    if (!compile_.read(error)) return false;
    options_.compile = compile_.compile;
    if (sources_.empty()) return error = "a source folder is needed", false;
    if ((&line == &build_ || &line == &watch_) && options_.output.empty()) return error = "-o DIR is needed", false;
    if (&line == &manifest_ && manifest_file_.empty()) return error = "-o FILE is needed", false;
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
    return true;
  }

  static constexpr const char* kCommands = "build, watch, check, manifest";

  Report report_;
  ToolIo& io_;
  CommandLine top_, build_, watch_, check_, manifest_;
  WorldBuildOptions options_;
  std::shared_ptr<const WorldManifest> world_;  // null: none
  CompileOptionsGroup compile_;
  DiagOptions diag_;
  std::vector<std::string> sources_, layers_, named_paths_;  // named_paths_: the world manifest's layers
  std::string extents_ = "keep", flags_ = "keep", fix_, stats_, manifest_file_, patch_from_, conflicts_;
  uint64_t jobs_ = 0, level_ = 9, store_below_ = 256;
  bool help_ = false, version_ = false, no_pack_ = false, poll_ = false;
};

}  // namespace

int run_worldc(std::span<const char* const> args, ToolIo& io) { return Worldc(io).run(args); }

}  // namespace meridian::tools
