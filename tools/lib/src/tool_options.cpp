// SPDX-License-Identifier: MIT
#include "meridian/tools/tool_options.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "lint/index_archetypes.h"
#include "lint/lint_compiled.h"
#include "meridian/base/version.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/tools/inputs.h"
#include "meridian/tools/json_writer.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/rule_pages.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

DiagnosticFormat format_of(std::string_view word) {
  if (word == "json") return DiagnosticFormat::json;
  return word == "sarif" ? DiagnosticFormat::sarif : DiagnosticFormat::text;
}

/// "; did you mean 'XML002'?" for a word that is no rule, or nothing.
std::string rule_suggestion(std::string_view word, std::string_view before) {
  std::vector<std::string_view> names;
  for (const Rule* rule : all_rules()) {
    names.push_back(rule->code);
    names.push_back(rule->name);
  }
  const std::string_view near = nearest(word, names);
  if (near.empty()) return "; --list-rules shows all";
  return "; did you mean '" + std::string(before) + std::string(near) + "'?";
}

}  // namespace

void InputOptions::declare(CommandLine& line) {
  line.operands(operands);
  line.group("Inputs");
  line.text("--batch", "FILE", batch, "compile the pairs in FILE, a line IN<TAB>OUT each ('-': standard input)",
            ValueHint::file);
}

bool InputOptions::read(std::string& error) {
  if (batch.empty() && operands.empty()) error = "no input; --help shows how";
  if (!batch.empty() && !operands.empty()) error = "--batch names all inputs; '" + operands.front() + "' is too many";
  return error.empty();
}

void OutputOptions::declare(CommandLine& line) {
  line.group("Outputs");
  line.text("-o,--output", "FILE", output, "write the one output to FILE ('-': standard output)", ValueHint::file);
  line.text("--out-dir", "DIR", out_dir, "write below DIR, which is made if needed; a folder input is mirrored",
            ValueHint::folder);
  line.choice("--write", {"if-changed", "always"}, write,
              "if-changed leaves an output with the same bytes and its time alone (default)");
  line.text("--depfile", "FILE", depfile, "write what was read for each output, in Makefile syntax", ValueHint::file);
  line.flag("--list-deps", list_deps, "only print the files that would be read, one a line");
}

bool OutputOptions::read(std::string& error) {
  if (!output.empty() && !out_dir.empty()) error = "-o and --out-dir exclude each other";
  mode = write == "always" ? WriteMode::always : WriteMode::if_changed;
  return error.empty();
}

void DiagOptions::declare_form(CommandLine& line) {
  line.group("Messages");
  line.choice("--diagnostics", {"text", "json", "sarif"}, form, "form of the messages on standard error");
  line.text("--diagnostics-file", "FILE", file, "write the messages to FILE instead", ValueHint::file);
  line.choice("--color", {"auto", "always", "never"}, color, "auto: on a terminal, unless NO_COLOR is set (default)");
}

void DiagOptions::declare(CommandLine& line) {
  declare_form(line);
  line.texts("-W", "RULE", warnings,
             "switch a rule on; -Wno-RULE: off; -Werror: warnings are errors; -Werror=RULE: this one is",
             ValueHint::rule);
  line.flag("--strict", strict, "unknown names and Item types (XML002, XML003) are errors");
  line.number("--max-errors", "N", max_errors, 0, UINT32_MAX, "text: stop printing after N errors (0: never)");
  line.flag("--all", show_all, "text: show each message, also where many of one kind are in one file");
  line.flag("--quiet", quiet, "no progress, no notes, no list of unchanged outputs");
  line.flag("--verbose", verbose, "a line for each input");
  line.flag("--list-rules", list_rules, "print all rules");
  line.text("--explain", "RULE", explain, "print the page of a rule, by code or name", ValueHint::rule);
}

bool DiagOptions::read(std::string& error) {
  format = format_of(form);
  policy.set_strict(strict);
  for (const std::string& spec : warnings) {
    if (policy.apply(spec)) continue;
    std::string_view word = spec;
    std::string before = "-W";
    for (const std::string_view prefix : {"no-", "error="}) {
      if (!word.starts_with(prefix)) continue;
      word.remove_prefix(prefix.size());
      before += prefix;
    }
    error = "-W" + spec + ": no such rule" + rule_suggestion(word, before);
    return false;
  }
  if (quiet && verbose) error = "--quiet and --verbose exclude each other";
  return error.empty();
}

bool DiagOptions::peek(std::span<const std::string> arguments) {
  size_t file_at = 0;
  // The value of a long option at `i`, and where it stands.
  const auto value_of = [&](std::string_view name, size_t i, size_t& at) -> std::optional<std::string> {
    const std::string& argument = arguments[i];
    at = argument == name ? i + 1 : i;
    if (argument == name && at < arguments.size()) return arguments[at];
    if (!argument.starts_with(name) || argument.size() <= name.size() || argument[name.size()] != '=') return {};
    return argument.substr(name.size() + 1);
  };
  for (size_t i = 0, at = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (const auto word = value_of("--diagnostics", i, at)) format = format_of(*word);
    if (const auto path = value_of("--diagnostics-file", i, at)) {
      file = *path;
      file_at = at;
    }
  }
  if (file.empty()) return true;
  const std::string identity = file_identity(file);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i == file_at || file_identity(arguments[i]) != identity) continue;
    file.clear();
    return false;
  }
  return true;
}

void CompileOptionsGroup::declare(CommandLine& line, bool selects_configs) {
  line.group("Compilation");
  if (selects_configs)
    line.text("--for", "TARGET", target,
              "keep only what is for build=B,platform=P[,param=X]... (builds: debug, beta, bankrelease, release, "
              "profile, final)");
  line.choice("--dialect", {"auto", "gta5", "rdr3"}, dialect, "flavour of the XML; auto looks at its names (default)");
  line.flag("--no-names", no_names, "leave the table of names out of the resource");
  line.flag("--embed-schema", compile.embed_schema, "put the schema into the resource, for later conversion");
  line.flag("--no-lint", no_lint, "no rule checks: only what reading the XML itself finds");
  line.group("Limits");
  line.number("--max-bytes", "N", compile.limits.max_bytes, 1, UINT64_MAX, "largest source (k, M, G: times 1024)");
  line.number("--max-depth", "N", max_depth, 1, kMaxDepth, "deepest nesting of elements");
  line.number("--max-elements", "N", compile.limits.max_elements, 1, UINT64_MAX, "most elements in a source");
  line.number("--max-resource-bytes", "N", compile.limits.max_resource_bytes, 1, 0x7FFFFFFF, "largest resource");
}

bool CompileOptionsGroup::read(std::string& error) {
  if (!target.empty()) {
    auto parsed = std::make_shared<ParsedTarget>();
    if (!parse_config_target(target, *parsed, error)) {
      error = "--for: " + error;
      return false;
    }
    compile.config_target = std::move(parsed);
  }
  compile.dialect = dialect == "gta5" ? Dialect::gta5 : dialect == "rdr3" ? Dialect::rdr3 : Dialect::automatic;
  compile.names = !no_names;
  compile.lint = !no_lint;
  compile.limits.max_depth = static_cast<uint32_t>(max_depth);
  return true;
}

ProgressStyle DiagOptions::progress_style(const ToolIo& io) const {
  if (owns_stderr()) return ProgressStyle::none;
  if (verbose) return ProgressStyle::lines;
  return io.stderr_is_terminal && !quiet ? ProgressStyle::bar : ProgressStyle::none;
}

Repair repair_of(std::string_view word) {
  return word == "fix" ? Repair::fix : word == "union" ? Repair::unite : Repair::keep;
}

void LintOptionsGroup::declare(CommandLine& line, bool is_map) {
  line.group("Checks");
  line.texts("--types", "FILE", types, "compiled type file (.ityp) whose archetypes are looked up", ValueHint::file);
  line.text("--index", "FILE", index, "world index (.widx) whose archetypes are looked up where no --types has them",
            ValueHint::file);
  line.flag("--allow-missing-archetypes", allow_missing, "an archetype that no type file defines is a warning");
  if (is_map) {
    line.choice("--extents", {"keep", "fix", "union"}, extents,
                "extents in the output: as written (default), computed, or both together; needs --types or "
                "--index");
    line.choice("--flags", {"keep", "fix"}, flags, "content flags in the output: as written (default) or computed");
  }
  line.choice("--fix", {"write", "preview"}, fix,
              "rewrite the sources where the right value is certain, or only show the difference", true);
}

/// What archetypes are looked up in, with the files behind it.
struct LintOptionsGroup::KnownTypes {
  std::vector<std::unique_ptr<LoadedResource>> files;
  std::unique_ptr<IndexArchetypes> index;
  LintWorld world;
};

bool LintOptionsGroup::read(CompileOptions& compile, const DiagnosticPolicy& policy, std::string& error,
                            std::string& path, int& exit_code) {
  compile.allow_missing_archetypes = allow_missing;
  compile.extents = repair_of(extents);
  compile.flags = repair_of(flags);
  compile.lod_size = policy.severity_of(rules::lod_size, Severity::warning).has_value();
  exit_code = kExitUsage;
  if (!fix.empty() && !compile.lint) return error = "--fix needs the rules; leave --no-lint out", false;
  if (types.empty() && index.empty()) {
    if (compile.extents != Repair::keep) return error = "--extents=" + extents + " needs --types or --index", false;
    return true;
  }
  auto loaded = std::make_shared<KnownTypes>();
  if (!read_types(*loaded, error, path, exit_code) || !read_index(*loaded, error, path, exit_code)) return false;
  path.clear();
  loaded->world.link();
  compile.types = std::shared_ptr<const LintWorld>(loaded, &loaded->world);
  return true;
}

bool LintOptionsGroup::read_types(KnownTypes& out, std::string& error, std::string& path, int& exit_code) {
  for (const std::string& file : types) {
    auto resource = std::make_unique<LoadedResource>();
    path = file;
    if (!load_resource(file, {}, *resource, error, exit_code)) return false;
    exit_code = kExitRejected;
    if (resource->resource.kind() != kind_of("ITYP")) return error = "this is no compiled type file (.ityp)", false;
    LintUnit unit = unit_of(resource->resource, NameTexts({resource->names.begin(), resource->names.end()}));
    unit.path = file;
    unit.stem = resource_stem(file);
    unit.is_context = true;
    out.world.add(std::move(unit));
    out.files.push_back(std::move(resource));
    read_files.push_back(file);
  }
  return true;
}

bool LintOptionsGroup::read_index(KnownTypes& out, std::string& error, std::string& path, int& exit_code) {
  if (index.empty()) return true;
  auto resource = std::make_unique<LoadedResource>();
  path = index;
  if (!load_resource(index, {}, *resource, error, exit_code)) return false;
  exit_code = kExitRejected;
  if (resource->resource.kind() != kWorldIndexKind) return error = "this is no world index (.widx)", false;
  out.index = std::make_unique<IndexArchetypes>(std::move(resource));
  out.index->add_to(out.world);
  read_files.push_back(index);
  return true;
}

void RunOptions::declare(CommandLine& line) {
  line.group("Run");
  line.number("-j,--jobs", "N", jobs, 0, 1024, "threads (0, default: as many as the machine has)");
  line.flag("--fail-fast", fail_fast, "stop at the first input that fails");
  line.choice("--stats", {"text", "json"}, stats, "print bytes, counts and seconds to standard output", true);
}

Diagnostic placeless(const Rule& rule, std::string file, std::string message) {
  Diagnostic diagnostic;
  diagnostic.rule = &rule;
  diagnostic.severity = rule.severity;
  diagnostic.message = std::move(message);
  diagnostic.file = std::move(file);
  return diagnostic;
}

void Report::usage(std::string message) {
  log_.add(placeless(rules::usage_error, "", std::move(message)));
  raise(kExitUsage);
}

void Report::environment(std::string path, std::string message) {
  log_.add(placeless(rules::environment_error, std::move(path), std::move(message)));
  raise(kExitEnvironment);
}

void Report::internal(std::string path, std::string message) {
  log_.add(placeless(rules::internal_error, std::move(path), std::move(message)));
  raise(kExitInternal);
}

void Report::print(std::string_view text) {
  if (const int error = write_stream(io_.out, text); error != 0)
    environment("", "cannot write to standard output: " + error_text(error));
}

int Report::finish(const DiagOptions& options) {
  DiagnosticOptions how;
  how.format = options.format;
  how.show_all = options.show_all;
  how.max_errors = static_cast<uint32_t>(options.max_errors);
  how.tool = tool_;
  how.tool_version = kVersionString;
  const bool to_terminal = options.file.empty() && io_.stderr_is_terminal;
  how.color = options.color == "always" || (options.color == "auto" && to_terminal && !io_.no_color);
  std::string text = log_.render(how);
  if (options.format == DiagnosticFormat::text && exit_ == kExitInterrupted) text += tool_ + ": interrupted\n";

  if (!options.file.empty()) {
    const WriteResult result = write_file(options.file, text, WriteMode::always);
    if (result.outcome != WriteOutcome::failed) return exit_;
    environment(options.file, "cannot write the messages: " + error_text(result.error));
    // They'd be lost otherwise.
    text = log_.render(how);
  }
  if (!text.empty() && write_stream(io_.err, text) != 0) raise(kExitEnvironment);
  return exit_;
}

void write_text(const std::string& path, std::string_view text, Report& report) {
  if (path == "-") return report.print(text);
  int error = create_parent_folders(path);
  if (error == 0) {
    const WriteResult result = write_file(path, text, WriteMode::if_changed);
    error = result.error;
    if (result.outcome == WriteOutcome::unchanged) report.log().add_unchanged(path);
  }
  if (error != 0) report.environment(path, "cannot write: " + error_text(error));
}

int run_program(Report& report, const DiagOptions& options, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    report.environment("", "out of memory");
  } catch (const std::exception& e) {
    report.internal("", std::string("internal fault: ") + e.what());
  } catch (...) {
    report.internal("", "internal fault");
  }
  return report.finish(options);
}

bool answer_generate(std::span<const char* const> args, std::span<const CommandLine* const> lines, Report& report) {
  constexpr std::string_view kGenerate = "--generate=";
  if (args.size() != 1 || !std::string_view(args[0]).starts_with(kGenerate)) return false;
  const std::string text = generated_doc(std::string_view(args[0]).substr(kGenerate.size()), lines);
  if (text.empty())
    report.usage("--generate takes man, bash, zsh, fish or markdown");
  else
    report.print(text);
  return true;
}

bool expand_arguments(std::span<const char* const> args, DiagOptions& options, Report& report, ExpandedArguments& out) {
  out = expand_response_files(args);
  if (!options.peek(out.arguments))
    return report.usage("the file of --diagnostics-file has another use in this line too"), false;
  if (!out.error.empty()) return report.environment(out.error_path, out.error), false;
  return true;
}

std::string stats_text(std::string_view tool, std::string_view form, int width,
                       std::span<const std::pair<const char*, uint64_t>> counts,
                       std::span<const std::pair<const char*, double>> seconds) {
  std::string out;
  if (form == "json") {
    JsonWriter json(out);
    json.begin_object();
    json.member("version", 1);
    json.member("tool", tool);
    for (const auto& [name, count] : counts) json.member(name, count);
    json.key("seconds");
    json.begin_object();
    for (const auto& [name, value] : seconds) json.member(name, value);
    json.end_object();
    json.end_object();
    return out += '\n';
  }
  char text[64];
  for (const auto& [name, count] : counts) {
    std::snprintf(text, sizeof text, "%-*s %14llu\n", width, name, static_cast<unsigned long long>(count));
    out += text;
  }
  constexpr int kUnit = 8;  // of " seconds", which stands in the same column
  for (const auto& [name, value] : seconds) {
    std::snprintf(text, sizeof text, "%-*s seconds %14.6f\n", width - kUnit, name, value);
    out += text;
  }
  return out;
}

bool answer_rule_questions(const DiagOptions& options, Report& report) {
  if (options.list_rules) {
    size_t width = 0;
    for (const Rule* rule : all_rules()) width = std::max(width, rule->name.size());
    std::string text;
    for (const Rule* rule : all_rules()) {
      std::string_view severity = rule->severity == Severity::error     ? "error"
                                  : rule->severity == Severity::warning ? "warning"
                                                                        : "note";
      if (!rule->on) severity = "off";
      text += std::string(rule->code) + "  " + std::string(rule->name) +
              std::string(width + 2 - rule->name.size(), ' ') + std::string(severity) +
              std::string(9 - severity.size(), ' ') + std::string(rule->summary) + "\n";
    }
    report.print(text);
    return true;
  }
  if (options.explain.empty()) return false;
  if (const Rule* rule = find_rule(options.explain)) {
    report.print(rule_page(*rule));
    return true;
  }
  report.usage("--explain: no rule '" + options.explain + "'" + rule_suggestion(options.explain, ""));
  return true;
}

std::string version_text(std::string_view tool) {
  std::string out = std::string(tool) + " " + kVersionString + "\nformat " + std::to_string(kFormatVersion) +
                    ", trailer " + std::to_string(kTrailerVersion) + "\n";
  for (const BuiltinSchema& schema : builtin_schemas()) {
    char line[96];
    std::snprintf(line, sizeof line, ".%-5s layout %016llx, schema %016llx\n", schema.extension,
                  static_cast<unsigned long long>(schema.layout_fingerprint),
                  static_cast<unsigned long long>(schema.schema_fingerprint));
    out += line;
  }
  return out;
}

}  // namespace meridian::tools
