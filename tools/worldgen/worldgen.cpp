// SPDX-License-Identifier: MIT
#include "worldgen.h"

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meridian/tools/progress.h"
#include "meridian/tools/tool_options.h"
#include "meridian/tools/world_gen.h"

namespace meridian::tools {
namespace {

ProgramDoc doc() {
  ProgramDoc out;
  out.name = "worldgen";
  out.summary = "make a synthetic world";
  out.operands = "--preset SIZE --xml|--compiled -o DIR";
  out.description =
      "Makes a world of maps, archetypes, interiors, manifests and a game configuration that belong together: cities "
      "and countryside, chains of levels of detail over parent maps, occluders, lights, grass, car generators. The "
      "same "
      "options give the same bytes on every machine. --xml writes sources for the compilers, --compiled the very "
      "resources that the compilers make of them.\n"
      "Presets: small (12 maps, 1200 entities), city (300; 60000), gta (8000; 1200000), huge (100000; 20000000; "
      "--compiled only). --maps and the like change a preset; the area grows with the number of maps, so that density "
      "stays.";
  out.limits = "The world has no models, textures or collision: archetypes name files that nobody made.";
  out.examples = {{"worldgen --preset city --xml -o build/city", "write the sources of a city"},
                  {"worldgen --preset gta --seed 7 --compiled -o build/gta --stats", "write a large world, compiled"}};
  out.exit_codes = {{0, "done"},
                    {2, "the command line is wrong; nothing was written"},
                    {3, "something could not be written"},
                    {4, "an internal fault"},
                    {130, "interrupted; the files that are there are whole"}};
  return out;
}

std::string totals_text(const WorldTotals& t, std::string_view form) {
  const std::array<std::pair<const char*, uint64_t>, 16> counts{{{"areas", t.areas},
                                                                 {"maps", t.maps},
                                                                 {"type_files", t.type_files},
                                                                 {"entities", t.entities},
                                                                 {"interior_entities", t.interior_entities},
                                                                 {"archetypes", t.archetypes},
                                                                 {"interiors", t.interiors},
                                                                 {"portals", t.portals},
                                                                 {"extensions", t.extensions},
                                                                 {"car_generators", t.car_generators},
                                                                 {"lod_lights", t.lod_lights},
                                                                 {"grass_instances", t.grass_instances},
                                                                 {"occluders", t.occluders},
                                                                 {"files", t.files},
                                                                 {"unchanged", t.unchanged},
                                                                 {"bytes", t.bytes}}};
  const std::array<std::pair<const char*, double>, 2> times{{{"plan", t.plan_seconds}, {"total", t.total_seconds}}};
  return stats_text("worldgen", form, 17, counts, times);
}

/// One run of the program.
class Worldgen {
 public:
  explicit Worldgen(ToolIo& io) : io_(io), report_(io, "worldgen"), line_(doc()) {
    line_.group("World");
    std::vector<std::string> presets;
    for (const std::string_view name : world_presets()) presets.emplace_back(name);
    line_.choice("--preset", std::move(presets), preset_, "how large a world");
    line_.number("--seed", "N", options_.seed, 0, UINT64_MAX, "another world of the same size (default: 1)");
    line_.number("--maps", "N", options_.maps, 1, UINT32_MAX, "map files in place of the preset's");
    line_.number("--entities", "N", options_.entities, 1, UINT32_MAX,
                 "entities in maps; those inside interiors come on top");
    line_.number("--archetypes", "N", options_.archetypes, 1, UINT32_MAX, "archetypes, interiors among them");
    line_.number("--interiors", "N", options_.interiors, 0, UINT32_MAX, "interior archetypes, with an instance each");
    line_.group("Output");
    line_.flag("--xml", xml_, "write XML, for the compilers");
    line_.flag("--compiled", compiled_, "write compiled resources");
    line_.text("-o,--output", "DIR", folder_, "folder to write to, made if needed", ValueHint::folder);
    diag_.declare_form(line_);
    line_.group("Run");
    line_.number("-j,--jobs", "N", jobs_, 0, 1024, "threads (0, default: as many as the machine has)");
    line_.flag("--quiet", quiet_, "no progress bar");
    line_.flag("--verbose", verbose_, "a line for each file");
    line_.choice("--stats", {"text", "json"}, stats_, "print counts, bytes and seconds to standard output", true);
    line_.group("Help");
    line_.flag("-h,--help", help_, "print this text");
    line_.flag("-v,--version", version_, "print the versions of tool and formats");
  }

  int run(std::span<const char* const> args) {
    return run_program(report_, diag_, [&] { main(args); });
  }

 private:
  void main(std::span<const char* const> args) {
    const CommandLine* const line = &line_;
    if (answer_generate(args, {&line, 1}, report_)) return;
    ExpandedArguments expanded;
    if (!expand_arguments(args, diag_, report_, expanded)) return;
    std::string error;
    const bool parsed = line_.parse(expanded.arguments, error);
    if (help_) return report_.print(help_text(line_));
    if (version_) return report_.print(version_text("worldgen"));
    if (!parsed || !diag_.read(error)) return report_.usage(error);
    if (!read_options(error)) return report_.usage(error);
    write();
  }

  bool read_options(std::string& error) {
    const std::optional<WorldOptions> preset = world_preset(preset_);
    if (!preset) {
      error = "--preset says how large a world is wanted: small, city, gta or huge";
      return false;
    }
    if (!line_.given("--maps")) options_.maps = preset->maps;
    if (!line_.given("--entities")) options_.entities = preset->entities;
    if (!line_.given("--archetypes")) options_.archetypes = preset->archetypes;
    if (!line_.given("--interiors")) options_.interiors = preset->interiors;
    if (xml_ == compiled_) error = "either --xml or --compiled is needed";
    if (error.empty() && xml_ && preset_ == "huge")
      error = "the preset huge is written with --compiled only; its XML would take some 20 GB";
    if (error.empty() && folder_.empty()) error = "-o DIR is needed";
    if (error.empty()) error = check_world_options(options_);
    return error.empty();
  }

  void write() {
    struct stat status {};
    if (::stat(folder_.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
      return report_.environment(folder_, "cannot write: it is no folder");
    ProgressStyle style = ProgressStyle::none;
    if (!diag_.owns_stderr())
      style = verbose_                            ? ProgressStyle::lines
              : io_.stderr_is_terminal && !quiet_ ? ProgressStyle::bar
                                                  : ProgressStyle::none;
    std::unique_ptr<Progress> progress;
    WorldRun run;
    run.folder = folder_;
    run.compiled = compiled_;
    run.jobs = static_cast<uint32_t>(jobs_);
    run.cancel = io_.cancel;
    run.on_file = [&](std::string_view path, uint64_t files) {
      if (progress == nullptr) progress = std::make_unique<Progress>(io_.err, style, "worldgen", files);
      progress->advance(path);
    };
    const WorldResult result = write_world(options_, run);
    if (progress != nullptr) progress->finish();
    if (!result.error.empty()) report_.environment(result.error_path, result.error);
    if (result.cancelled) return report_.raise(kExitInterrupted);
    if (result.error.empty() && !stats_.empty()) report_.print(totals_text(result.totals, stats_));
  }

  ToolIo& io_;
  Report report_;
  DiagOptions diag_;
  CommandLine line_;
  WorldOptions options_;
  std::string preset_, folder_, stats_;
  uint64_t jobs_ = 0;
  bool xml_ = false, compiled_ = false, quiet_ = false, verbose_ = false, help_ = false, version_ = false;
};

}  // namespace

int run_worldgen(std::span<const char* const> args, ToolIo& io) { return Worldgen(io).run(args); }

}  // namespace meridian::tools
