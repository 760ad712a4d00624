// SPDX-License-Identifier: MIT
#include "worldc.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "meridian/tools/file_io.h"
#include "meridian/tools/forecast.h"
#include "meridian/tools/html_report.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {
namespace {

std::string totals_text(const WorldBuildTotals& t, std::string_view form) {
  const auto rate = [&](uint64_t amount) {
    return t.total_seconds > 0 ? static_cast<uint64_t>(static_cast<double>(amount) / t.total_seconds) : 0;
  };
  const std::array<std::pair<const char*, uint64_t>, 16> counts{{{"sources", t.sources},
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
            "check (all the rules, nothing written), forecast (what pools the world needs where it needs most), "
            "report (a page about the world). 'worldc COMMAND --help' tells more.",
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
                         {"worldc check maps/ -Werror --diagnostics=sarif --diagnostics-file check.sarif", "in CI"}})),
        forecast_(program_doc(
            "worldc forecast", "tell what a world needs where it needs most", "SOURCE...",
            "Finds the place of the world at which most entities, interiors, nodes, type files and bytes are needed "
            "at once, for each pool on its own, and holds it against the game configurations among the sources. The "
            "place is exact: of all places, not of samples. Maps that stream in by name only are not counted. A pool "
            "that is too small for one map alone is an error, one that is too small at the worst place a warning "
            "(CFG001).",
            {{"worldc forecast maps/ gameconfig.xml", "which pool will overflow, and where"},
             {"worldc forecast maps/ --target build=final,platform=x64 --format=json",
              "for one platform, for a script"}})),
        page_(program_doc("worldc report", "write a page about a world", "SOURCE... -o FILE",
                          "Checks the world like 'worldc check' and writes an HTML page that needs nothing beside "
                          "it: counts, sizes, LOD trees, the maps that cost most, what the pools need where, and "
                          "what the rules found.",
                          {{"worldc report maps/ -o world.html", "look at the world as a whole"}})) {
    for (CommandLine* line : {&build_, &check_, &forecast_, &page_}) {
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
    forecast_.group("Forecast");
    forecast_.choice("--format", {"text", "json"}, format_, "form of the answer (default: text)");
    page_.group("Output");
    page_.text("-o,--output", "FILE", page_path_, "the page", ValueHint::file);
    for (CommandLine* line : {&forecast_, &page_}) {
      line->text(
          "--target", "SPEC", target_,
          "which configurations count, as in 'build=final,platform=x64,param=bigworld' (default: those for all)");
      line->number("--margin", "N", margin_, 0, 100'000,
                   "how far outside its streaming box a map is still kept [m] (default: 20)");
    }
    for (CommandLine* line : {&build_, &check_, &forecast_, &page_}) {
      compile_.declare(*line, false);
      line->group("Checks");
      line->flag("--allow-missing-archetypes", compile_.compile.allow_missing_archetypes,
                 "an archetype that no type file defines is a warning");
      if (line == &build_ || line == &check_)
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
  struct Command {
    std::string_view name;
    CommandLine* line;
  };

  void main(std::span<const char* const> args) {
    const std::array<Command, 4> commands{
        {{"build", &build_}, {"check", &check_}, {"forecast", &forecast_}, {"report", &page_}}};
    std::vector<const CommandLine*> lines{&top_};
    std::string names;
    for (const Command& c : commands) {
      lines.push_back(c.line);
      names += (names.empty() ? "" : ", ") + std::string(c.name);
    }
    if (answer_generate(args, lines, report_)) return;
    ExpandedArguments expanded;
    if (!expand_arguments(args, diag_, report_, expanded)) return;
    std::vector<std::string> rest = expanded.arguments;
    CommandLine* line = &top_;
    if (!rest.empty() && !rest[0].starts_with("-")) {
      const auto wanted =
          std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == rest[0]; });
      if (wanted == commands.end()) return report_.usage("'" + rest[0] + "' is no command; there are: " + names);
      line = wanted->line;
      rest.erase(rest.begin());
    }
    std::string error;
    const bool parsed = line->parse(rest, error);
    if (help_) return report_.print(help_text(*line));
    if (version_) return report_.print(version_text("worldc"));
    if (!parsed) return report_.usage(error);
    if (line == &top_) return report_.usage("a command is needed: " + names);
    if (!diag_.read(error)) return report_.usage(error);
    if (answer_rule_questions(diag_, report_)) return;
    if (!read_options(*line, error)) return report_.usage(error);
    if (line == &forecast_) {
      options_.only_pools = true;
      options_.then = [this](const CheckedWorld& world) { print_forecast(world); };
    } else if (line == &page_) {
      options_.then = [this](const CheckedWorld& world) { write_page(world); };
    }
    const WorldBuildTotals totals = build_world(options_, io_, report_);
    if (!stats_.empty()) report_.print(totals_text(totals, stats_));
  }

  ForecastOptions forecast_options(const CheckedWorld& world) const {
    ForecastOptions options;
    options.margin = static_cast<double>(margin_);
    if (!target_.empty()) options.target = &config_target_;
    options.resource_bytes = world.resource_bytes;
    return options;
  }

  void print_forecast(const CheckedWorld& world) {
    const Forecast forecast = forecast_world(world.world, forecast_options(world));
    report_.print(format_ == "json" ? forecast_json(forecast) : forecast_text(forecast));
  }

  void write_page(const CheckedWorld& world) {
    const WriteResult result =
        write_file(page_path_, html_report(world, forecast_options(world)), WriteMode::if_changed);
    if (result.error != 0) report_.environment(page_path_, "cannot write: " + error_text(result.error));
  }

  bool read_options(const CommandLine& line, std::string& error) {
    if (!compile_.read(error)) return false;
    options_.compile = compile_.compile;
    options_.compile.extents = repair_of(extents_);
    options_.compile.flags = repair_of(flags_);
    if (sources_.empty()) return error = "a source folder is needed", false;
    if (&line == &build_ && options_.output.empty()) return error = "-o DIR is needed", false;
    if (&line == &page_ && page_path_.empty()) return error = "-o FILE is needed", false;
    if (!target_.empty() && !parse_config_target(target_, config_target_, error))
      return error = "--target: " + error, false;
    for (const std::string& path : sources_) options_.layers.push_back({path, path, 0});
    int order = 0;
    for (const std::string& path : layers_) options_.layers.push_back({path, path, ++order});
    options_.policy = diag_.policy;
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

  Report report_;
  ToolIo& io_;
  CommandLine top_, build_, check_, forecast_, page_;
  WorldBuildOptions options_;
  CompileOptionsGroup compile_;
  DiagOptions diag_;
  std::vector<std::string> sources_, layers_;
  std::string extents_ = "keep", flags_ = "keep", fix_, stats_, target_, format_ = "text", page_path_;
  ConfigTarget config_target_;
  uint64_t jobs_ = 0, margin_ = 20, level_ = 9, store_below_ = 256;
  bool help_ = false, version_ = false, no_pack_ = false;
};

}  // namespace

int run_worldc(std::span<const char* const> args, ToolIo& io) { return Worldc(io).run(args); }

}  // namespace meridian::tools
