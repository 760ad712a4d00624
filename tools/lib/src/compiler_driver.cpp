// SPDX-License-Identifier: MIT
#include "meridian/tools/compiler_driver.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "compile_run.h"
#include "meridian/tools/binding.h"

namespace meridian::tools {
namespace {

struct SchemaOptions {
  std::string schema;
  std::vector<std::string> include_dirs;

  void declare(CommandLine& line) {
    line.group("Schema");
    line.text("--schema", "FILE", schema,
              "FlatBuffers schema (.fbs) of the sources; else the built-in one of each root", ValueHint::file);
    line.texts("-I", "DIR", include_dirs, "look for included schemas in DIR too", ValueHint::folder);
  }
};

std::string totals_text(const RunTotals& totals, std::string_view form, std::string_view tool) {
  const CompileStats& sum = totals.sum;
  const std::array<std::pair<const char*, uint64_t>, 9> counts{{{"inputs", totals.inputs},
                                                                {"written", totals.written},
                                                                {"unchanged", totals.unchanged},
                                                                {"source_bytes", sum.source_bytes},
                                                                {"resource_bytes", sum.resource_bytes},
                                                                {"elements", sum.elements},
                                                                {"items", sum.items},
                                                                {"names", sum.names},
                                                                {"kept", sum.kept}}};
  // Of the phases the sum over all threads, of the whole what the clock on the wall says.
  const std::array<std::pair<const char*, double>, 5> times{{{"scan", sum.scan_seconds},
                                                             {"read", sum.read_seconds},
                                                             {"build", sum.build_seconds},
                                                             {"write", totals.write_seconds},
                                                             {"total", totals.total_seconds}}};
  return stats_text(tool, form, 15, counts, times);
}

class Driver {
 public:
  Driver(const CompilerTool& tool, ToolIo& io) : tool_(tool), io_(io), line_(tool.doc), report_(io, tool.doc.name) {
    input_.declare(line_);
    output_.declare(line_);
    if (tool.takes_schema) schema_.declare(line_);
    compile_.declare(line_, tool.selects_configs);
    if (tool.checks_maps || tool.checks_types) lint_.declare(line_, tool.checks_maps);
    diag_.declare(line_);
    run_.declare(line_);
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
    dependencies_ = expanded.response_files;

    std::string error;
    const bool parsed = line_.parse(expanded.arguments, error);
    if (help_) return report_.print(help_text(line_));
    if (version_) return report_.print(version_text(tool_.doc.name));
    if (!parsed || !diag_.read(error)) return report_.usage(error);
    if (answer_rule_questions(diag_, report_)) return;
    if (!input_.read(error) || !output_.read(error) || !compile_.read(error)) return report_.usage(error);
    if (!load_types()) return;
    if (!load_bindings() || !find_jobs()) return;
    if (!check_outputs()) return;
    if (output_.list_deps) return list_dependencies();
    if (run_.fail_fast && report_.exit_code() != kExitDone) return;
    compile();
  }

  bool load_types() {
    std::string error, path;
    int code = kExitUsage;
    if (lint_.read(compile_.compile, diag_.policy, error, path, code)) {
      dependencies_.insert(dependencies_.end(), lint_.read_files.begin(), lint_.read_files.end());
      return true;
    }
    if (code == kExitUsage) return report_.usage(error), false;
    if (code == kExitEnvironment) return report_.environment(path, error), false;
    report_.log().add(placeless(rules::refused_resource, path, error));
    report_.log().add_failed(path);
    return report_.raise(code), false;
  }

  // ---- schema

  bool load_bindings() {
    std::vector<const Binding*> bindings;
    if (!schema_.schema.empty()) {
      if (!load_schema()) return false;
      bindings.push_back(own_binding_.get());
    } else {
      if (!schema_.include_dirs.empty()) return report_.usage("-I is of use with --schema only"), false;
      for (const uint32_t kind : tool_.kinds) {
        const Binding* binding = Binding::builtin(kind);
        if (binding == nullptr) return report_.internal("", "internal fault: a built-in schema cannot be bound"), false;
        bindings.push_back(binding);
      }
    }
    roots_ = std::make_unique<RootTable>(std::move(bindings));
    return true;
  }

  bool load_schema() {
    if (::access(schema_.schema.c_str(), R_OK) != 0)
      return report_.environment(schema_.schema, "cannot read the schema: " + error_text(errno)), false;
    std::string error;
    std::vector<std::string> read;
    std::vector<uint8_t> bfbs = compile_schema_file(schema_.schema, schema_.include_dirs, read, error);
    if (!bfbs.empty()) own_binding_ = Binding::create(std::move(bfbs), error);
    if (own_binding_ == nullptr) return report_.usage("--schema " + schema_.schema + ": " + error), false;
    dependencies_.insert(dependencies_.end(), read.begin(), read.end());
    return true;
  }

  // ---- inputs

  bool find_jobs() {
    std::vector<InputFile> files;
    if (!input_.batch.empty()) {
      if (!read_batch(files)) return false;
    } else {
      InputList found = find_inputs(
          input_.operands, [&](const std::string& path) { return is_source(path); }, tool_.doc.name);
      for (InputProblem& problem : found.problems) {
        report_.log().add_failed(problem.path);
        report_.environment(std::move(problem.path), std::move(problem.message));
      }
      files = std::move(found.files);
      folders_ = std::move(found.folders);
    }
    if (std::count_if(files.begin(), files.end(), [](const InputFile& f) { return f.is_stdin(); }) > 1)
      return report_.usage("standard input can be read once only"), false;
    for (InputFile& file : files) jobs_.push_back({std::move(file), "", false});
    return true;
  }

  bool read_batch(std::vector<InputFile>& files) {
    if (!output_.output.empty() || !output_.out_dir.empty())
      return report_.usage("--batch names the outputs; -o and --out-dir are too many"), false;
    std::string text, error;
    if (input_.batch == "-") {
      int number = 0;
      const auto source = read_stdin(io_, UINT32_MAX, number);
      if (source == nullptr) return report_.environment("<stdin>", "cannot read: " + error_text(number)), false;
      text = source->text();
    } else if (const int number = read_file(input_.batch, text); number != 0) {
      return report_.environment(input_.batch, "cannot read the batch file: " + error_text(number)), false;
    } else {
      dependencies_.push_back(input_.batch);
    }
    if (!parse_batch(input_.batch, text, files, error)) return report_.usage(error), false;
    if (input_.batch == "-" && std::any_of(files.begin(), files.end(), [](const InputFile& f) { return f.is_stdin(); }))
      return report_.usage("standard input is the batch file already"), false;
    return true;
  }

  /// Whether a file in a folder is for this tool: by its root, or if none can be found, by its name, so that a broken
  /// source is reported and not passed over.
  bool is_source(const std::string& path) const {
    int error = 0;
    const auto source = SourceText::open(path, error);
    if (source == nullptr) return named_like_source(path);
    const std::string_view text = source->text();
    if (!sniff_binary(text).empty()) return false;
    const std::string_view root = sniff_root(text);
    return root.empty() ? named_like_source(path) : roots_->find(root) != nullptr;
  }

  bool named_like_source(const std::string& path) const {
    static constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {{"imap", ".ymap.xml"},
                                                                                  {"ityp", ".ytyp.xml"},
                                                                                  {"ymfm", ".ymf.xml"},
                                                                                  {"ymfm", ".ymf"},
                                                                                  {"gcfg", "gameconfig.xml"}};
    for (const auto& [extension, suffix] : kSuffixes)
      if (path.ends_with(suffix) && roots_->has_extension(extension)) return true;
    return false;
  }

  // ---- outputs

  bool check_outputs() {
    if (!output_.output.empty() && jobs_.size() > 1)
      return report_.usage("-o names one output, but there are " + std::to_string(jobs_.size()) +
                           " inputs; use --out-dir"),
             false;
    for (CompileJob& job : jobs_)
      if (!name_output(job)) return false;
    if (!check_clashes()) return false;
    for (CompileJob& job : jobs_) check_writable(job);
    return true;
  }

  bool name_output(CompileJob& job) {
    InputFile& file = job.file;
    if (!file.output.empty()) return true;  // from a batch file
    if (!output_.output.empty()) {
      file.output = output_.output;
    } else if (file.is_stdin()) {
      if (!output_.out_dir.empty()) return report_.usage("standard input has no name below --out-dir; use -o"), false;
      file.output = "-";
    } else {
      const std::string extension = extension_of(file.path);
      if (output_.out_dir.empty()) {
        file.output = output_name(file.path, extension);
      } else {
        file.output =
            output_.out_dir + (output_.out_dir.back() == '/' ? "" : "/") + output_name(file.relative, extension);
        job.make_parents = true;
      }
    }
    return true;
  }

  std::string extension_of(const std::string& path) const {
    const Binding* binding = &roots_->fallback();
    int error = 0;
    if (!roots_->single())
      if (const auto source = SourceText::open(path, error))
        if (const Binding* found = roots_->find(sniff_root(source->text()))) binding = found;
    return binding->extension().empty() ? "mmeta" : binding->extension();
  }

  /// No output may be another's, an input, or a file that this run reads or writes itself.
  bool check_clashes() {
    std::unordered_map<std::string, std::string> inputs, outputs;
    for (const CompileJob& job : jobs_)
      if (!job.file.is_stdin()) inputs.emplace(file_identity(job.file.path), job.file.path);
    for (const std::string& path : dependencies_) inputs.emplace(file_identity(path), path);
    const auto claim = [&](const std::string& path, const std::string& owner) {
      const std::string identity = path == "-" ? path : file_identity(path);
      if (const auto input = inputs.find(identity); input != inputs.end())
        return report_.usage("'" + path + "' would be overwritten, but it is an input"), false;
      const auto [it, is_new] = outputs.emplace(identity, owner);
      if (is_new || is_device(path)) return true;
      return report_.usage(it->second + " and " + owner + " would both be written to '" + path + "'"), false;
    };
    for (const CompileJob& job : jobs_) {
      const std::string& path = job.file.output;
      if (!claim(path, job.file.shown())) return false;
      if (output_.depfile.empty()) continue;
      if (path == "-") return report_.usage("--depfile needs an output with a name; use -o"), false;
      if (!depfile_can_name(path) || !depfile_can_name(job.file.path))
        return report_.usage("--depfile cannot name a path with a line break"), false;
    }
    if (outputs.contains("-") && lint_.fix == "preview")
      return report_.usage("--fix=preview and an output cannot both go to standard output; use -o FILE"), false;
    if (outputs.contains("-") && !run_.stats.empty())
      return report_.usage("--stats and an output cannot both go to standard output; use -o FILE"), false;
    if (!output_.depfile.empty() && !claim(output_.depfile, "the dependency file")) return false;
    if (diag_.file.empty() || claim(diag_.file, "the messages")) return true;
    diag_.file.clear();  // or this very complaint would overwrite it
    return false;
  }

  static bool is_device(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  }

  /// What can be known about the output before the work is done.
  void check_writable(CompileJob& job) {
    const std::string& output = job.file.output;
    struct stat status {};
    if (output == "-") return;
    if (::stat(output.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) job.blocked = "cannot write '" + output + "': it is a folder (--out-dir takes one)";
    } else if (!job.make_parents && ::stat(parent_folder(output).c_str(), &status) != 0) {
      job.blocked = "cannot write '" + output + "': " + error_text(errno) + " (its folder)";
    }
  }

  // ---- work

  void list_dependencies() {
    std::string text;
    std::set<std::string_view> seen;
    const auto list = [&](const std::string& path) {
      if (seen.insert(path).second) text += path + "\n";
    };
    for (const CompileJob& job : jobs_)
      if (!job.file.is_stdin()) list(job.file.path);
    for (const std::string& path : dependencies_) list(path);
    report_.print(text);
  }

  void compile() {
    RunSettings settings;
    settings.roots = roots_.get();
    settings.compile = &compile_;
    settings.diag = &diag_;
    settings.write = output_.mode;
    settings.jobs = static_cast<uint32_t>(run_.jobs);
    settings.fail_fast = run_.fail_fast;
    settings.tool = tool_.doc.name;
    settings.fix = lint_.fix == "write" ? FixMode::write : lint_.fix == "preview" ? FixMode::preview : FixMode::none;
    settings.progress = diag_.progress_style(io_);
    std::vector<DepfileRule> rules;
    const RunTotals totals = run_jobs(jobs_, settings, io_, report_, rules);
    if (io_.cancelled()) return report_.raise(kExitInterrupted);
    if (report_.exit_code() == kExitDone && !output_.depfile.empty()) write_depfile(rules);
    if (!run_.stats.empty()) report_.print(totals_text(totals, run_.stats, tool_.doc.name));
  }

  void write_depfile(std::vector<DepfileRule>& rules) {
    std::vector<std::string> common = dependencies_;
    // A new file in a searched folder changes the folder. Where outputs lie in it too, that would never come to rest.
    std::set<std::string> output_folders;
    for (const DepfileRule& rule : rules) output_folders.insert(parent_folder(file_identity(rule.target)));
    for (const std::string& folder : folders_)
      if (!output_folders.contains(parent_folder(file_identity(folder + "/x")))) common.push_back(folder);
    for (DepfileRule& rule : rules) rule.sources.insert(rule.sources.end(), common.begin(), common.end());
    const WriteResult result = write_file(output_.depfile, depfile_text(rules), WriteMode::always);
    if (result.outcome == WriteOutcome::failed)
      report_.environment(output_.depfile, "cannot write the dependency file: " + error_text(result.error));
  }

  const CompilerTool& tool_;
  ToolIo& io_;
  CommandLine line_;
  Report report_;
  InputOptions input_;
  OutputOptions output_;
  SchemaOptions schema_;
  CompileOptionsGroup compile_;
  LintOptionsGroup lint_;
  DiagOptions diag_;
  RunOptions run_;
  bool help_ = false, version_ = false;

  std::unique_ptr<const Binding> own_binding_;
  std::unique_ptr<RootTable> roots_;
  std::vector<std::string> dependencies_;  ///< read for each output: response files, batch file, schema
  std::vector<std::string> folders_;
  std::vector<CompileJob> jobs_;
};

}  // namespace

int run_compiler(const CompilerTool& tool, std::span<const char* const> args, ToolIo& io) {
  return Driver(tool, io).run(args);
}

}  // namespace meridian::tools
