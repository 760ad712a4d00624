// SPDX-License-Identifier: MIT
#include "worldc.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meridian/tools/world_build.h"
#include "meridian/tools/world_manifest.h"

namespace meridian::tools {
namespace {

std::string totals_text(const WorldBuildTotals& t, std::string_view form) {
  const std::array<std::pair<const char*, uint64_t>, 14> counts{{{"sources", t.sources},
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
            "check (all the rules, nothing written). 'worldc COMMAND --help' tells more.",
            {{"worldc check maps/", "find what is wrong before it ships"},
             {"worldc build maps/ -o build/world", "make the files that a game loads"}})),
        build_(program_doc(
            "worldc build", "compile, link and pack a world", "SOURCE... -o DIR",
            "Finds maps, type files, manifests and game configurations below the SOURCE folders by what is "
            "in them, compiles what changed since the last build, links all maps (LOD sets over maps, cooked "
            "descriptor blocks), checks everything, and writes DIR: a file each for maps (imap/), type files "
            "(ityp/) and configurations (gcfg/), and world.mpk with all of them. With errors nothing is "
            "written. DIR/.worldc holds what the next build needs to know; it may be deleted.",
            {{"worldc build maps/ -o build/world", "build what changed"},
             {"worldc build base/ --layer patch/ -o build/world", "with files of patch/ in place of base's"},
             {"worldc build maps/ -o build/world --explain-rebuild", "say why each output is made again"}})),
        check_(
            program_doc("worldc check", "check a world", "SOURCE...",
                        "Runs all rules over the maps, type files, manifests and configurations below the SOURCE "
                        "folders, with everything linked: archetypes, LOD parents over files, child counts, extents, "
                        "flags, light twins, manifests. Nothing is written but by --fix.",
                        {{"worldc check maps/", "find what is wrong before it ships"},
                         {"worldc check maps/ --fix=preview", "show what --fix would change"},
                         {"worldc check maps/ -Werror --diagnostics=sarif --diagnostics-file check.sarif", "in CI"}})) {
    for (CommandLine* line : {&build_, &check_}) {
      line->operands(sources_);
      line->group("World");
      line->texts("--layer", "DIR", layers_, "sources that override those before (of one name, the last one counts)",
                  ValueHint::folder);
      line->text("--cache", "DIR", options_.cache, "folder of compiled sources, which builds may share",
                 ValueHint::folder);
      line->number("--cache-size", "N", options_.cache_bytes, 0, UINT64_MAX,
                   "largest size of the cache (k, M, G: times 1024; default 4G)");
    }
    build_.group("Output");
    build_.text("-o,--output", "DIR", options_.output, "folder to write to, made if needed", ValueHint::folder);
    build_.choice("--extents", {"keep", "fix", "union"}, extents_,
                  "extents in the output: as written (default), computed, or both together");
    build_.choice("--flags", {"keep", "fix"}, flags_,
                  "content and parent flags in the output: as written (default) or computed");
    build_.flag("--no-pack", no_pack_, "write no world.mpk");
    build_.number("--level", "N", level_, 0, 22, "compression of the pack: 0 (none) to 22 (default: 9)");
    build_.number("--store-below", "N", store_below_, 0, UINT32_MAX,
                  "entries smaller than N bytes are not compressed (default: 256)");
    build_.flag("--dictionaries", options_.pack_options.train_dictionaries,
                "train a dictionary for small entries of each kind");
    build_.flag("--explain-rebuild", options_.explain, "print why each output is made again");
    for (CommandLine* line : {&build_, &check_}) {
      compile_.declare(*line, false);
      line->group("Checks");
      line->flag("--allow-missing-archetypes", compile_.compile.allow_missing_archetypes,
                 "an archetype that no type file defines is a warning");
      line->choice("--fix", {"write", "preview"}, fix_,
                   "rewrite the sources where the right value is certain, or only show the difference", true);
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
  void main(std::span<const char* const> args) {
    const std::array<const CommandLine*, 3> lines{&top_, &build_, &check_};
    if (answer_generate(args, lines, report_)) return;
    ExpandedArguments expanded;
    if (!expand_arguments(args, diag_, report_, expanded)) return;
    std::vector<std::string> rest = expanded.arguments;
    CommandLine* line = &top_;
    if (!rest.empty() && (rest[0] == "build" || rest[0] == "check")) {
      line = rest[0] == "build" ? &build_ : &check_;
      rest.erase(rest.begin());
    } else if (!rest.empty() && !rest[0].starts_with("-")) {
      return report_.usage("'" + rest[0] + "' is no command; there are: build, check");
    }
    std::string error;
    const bool parsed = line->parse(rest, error);
    if (help_) return report_.print(help_text(*line));
    if (version_) return report_.print(version_text("worldc"));
    if (!parsed) return report_.usage(error);
    if (line == &top_) return report_.usage("a command is needed: build or check");
    if (!diag_.read(error)) return report_.usage(error);
    if (answer_rule_questions(diag_, report_)) return;
    if (!read_options(*line, error) || !read_world(*line, error)) {
      if (!error.empty()) report_.usage(error);
      return;
    }
    const WorldBuildTotals totals = build_world(options_, io_, report_);
    if (!stats_.empty()) report_.print(totals_text(totals, stats_));
  }

  bool read_options(const CommandLine& line, std::string& error) {
    if (!compile_.read(error)) return false;
    options_.compile = compile_.compile;
    if (sources_.empty()) return error = "a source folder is needed", false;
    if (&line == &build_ && options_.output.empty()) return error = "-o DIR is needed", false;
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
  bool read_world(const CommandLine& line, std::string& error) {
    options_.policy = diag_.policy;
    options_.compile.extents = repair_of(extents_);
    options_.compile.flags = repair_of(flags_);
    std::string path;
    if (!find_world_manifest(sources_, path, error)) return false;
    if (!path.empty()) {
      world_ = read_world_manifest(path, report_);
      if (world_ == nullptr) return false;
      if (world_->extents && !line.given("--extents")) options_.compile.extents = *world_->extents;
      if (world_->flags && !line.given("--flags")) options_.compile.flags = *world_->flags;
      use_world_manifest(world_, options_);
    }
    options_.layers = world_layers(world_.get(), sources_, layers_);
    return true;
  }

  Report report_;
  ToolIo& io_;
  CommandLine top_, build_, check_;
  WorldBuildOptions options_;
  std::shared_ptr<const WorldManifest> world_;  // null: none
  CompileOptionsGroup compile_;
  DiagOptions diag_;
  std::vector<std::string> sources_, layers_;
  std::string extents_ = "keep", flags_ = "keep", fix_, stats_;
  uint64_t jobs_ = 0, level_ = 9, store_below_ = 256;
  bool help_ = false, version_ = false, no_pack_ = false;
};

}  // namespace

int run_worldc(std::span<const char* const> args, ToolIo& io) { return Worldc(io).run(args); }

}  // namespace meridian::tools
