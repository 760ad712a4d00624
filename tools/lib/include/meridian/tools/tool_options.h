// SPDX-License-Identifier: MIT
#pragma once
/// Groups of options that the tools share, so that one word means one thing everywhere, and the report that ends each
/// run. `declare` puts a group into a command line, `read` checks what was given and turns words into values.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/cli.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/diagnostics.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/progress.h"

namespace meridian::tools {

struct InputOptions {
  std::vector<std::string> operands;
  std::string batch;  ///< file of IN<TAB>OUT lines

  void declare(CommandLine& line);
  bool read(std::string& error);
};

struct OutputOptions {
  std::string output;  ///< "-": standard output
  std::string out_dir;
  std::string depfile;
  std::string write = "if-changed";
  bool list_deps = false;
  WriteMode mode = WriteMode::if_changed;

  void declare(CommandLine& line);
  bool read(std::string& error);
};

/// How much is said, and how.
struct DiagOptions {
  std::string form = "text", file, color = "auto", explain;
  std::vector<std::string> warnings;  ///< what followed -W
  bool strict = false, show_all = false, quiet = false, verbose = false, list_rules = false;
  uint64_t max_errors = 0;
  DiagnosticFormat format = DiagnosticFormat::text;
  DiagnosticPolicy policy;

  void declare(CommandLine& line);
  /// The part for programs that only fail or not: form, file, colour.
  void declare_form(CommandLine& line);
  bool read(std::string& error);
  /// Form and file of a line that may be wrong elsewhere, so that the complaint takes the right form too. False: the
  /// file is named a second time in the line; it's not used then, lest the complaint overwrites an input.
  bool peek(std::span<const std::string> arguments);

  /// How progress is shown where `io` writes.
  ProgressStyle progress_style(const ToolIo& io) const;
  /// True if standard error takes nothing but one document.
  bool owns_stderr() const { return format != DiagnosticFormat::text && file.empty(); }
};

/// What bears on the bytes of the resource, and how far the compiler goes.
struct CompileOptionsGroup {
  CompileOptions compile;
  std::string dialect = "auto";
  std::string target;  ///< what --for was given
  bool no_names = false, no_lint = false;
  uint64_t max_depth = kMaxDepth;

  void declare(CommandLine& line, bool selects_configs);
  bool read(std::string& error);
};

/// "keep", "fix" or "union", as --extents and --flags take them.
Repair repair_of(std::string_view word);

/// What rules may look at beyond the file itself, and what is done about what they find.
struct LintOptionsGroup {
  std::vector<std::string> types;  ///< compiled type files
  std::string index;               ///< a world index that serves like type files
  bool allow_missing = false;
  std::string extents = "keep", flags = "keep", fix;
  std::vector<std::string> read_files;  ///< inputs of the run, for dependency files

  void declare(CommandLine& line, bool is_map);
  /// Loads type files and index into `compile.types`. False: `error`, or `path` cannot be used and `error` says why.
  bool read(CompileOptions& compile, const DiagnosticPolicy& policy, std::string& error, std::string& path,
            int& exit_code);

 private:
  struct KnownTypes;
  bool read_types(KnownTypes& out, std::string& error, std::string& path, int& exit_code);
  bool read_index(KnownTypes& out, std::string& error, std::string& path, int& exit_code);
};

struct RunOptions {
  uint64_t jobs = 0;  ///< threads; 0: as many as the machine has
  bool fail_fast = false;
  std::string stats;  ///< "", "text" or "json"

  void declare(CommandLine& line);
};

/// Diagnostics and exit code of a run.
class Report {
 public:
  Report(ToolIo& io, std::string tool) : io_(io), tool_(std::move(tool)) {}

  DiagnosticLog& log() { return log_; }
  int exit_code() const { return exit_; }
  void raise(int exit_code) { exit_ = worse_exit(exit_, exit_code); }

  /// Adds a diagnostic without a place and raises the code that belongs to it.
  void usage(std::string message);
  void environment(std::string path, std::string message);
  void internal(std::string path, std::string message);

  /// Writes requested text to standard output; a failure counts.
  void print(std::string_view text);
  /// Renders everything once and gives the exit code. Nothing may be printed after it.
  int finish(const DiagOptions& options);

 private:
  ToolIo& io_;
  std::string tool_;
  DiagnosticLog log_;
  int exit_ = kExitDone;
};

/// Writes what a user asked for to a file, made with the folders above it and left alone if it would not change; `-` is
/// standard output. A failure goes to the report.
void write_text(const std::string& path, std::string_view text, Report& report);

/// Runs the body of a program and gives its exit code. What it throws becomes a diagnostic of its own, and whatever
/// happens, the report is written.
int run_program(Report& report, const DiagOptions& options, const std::function<void()>& body);

/// --generate=KIND as the only argument. True if it was asked for and answered (or refused). The first line is the
/// program; the others are its subcommands.
bool answer_generate(std::span<const char* const> args, std::span<const CommandLine* const> lines, Report& report);

/// Replaces response files and looks for the form of messages. False: the report says what is wrong.
bool expand_arguments(std::span<const char* const> args, DiagOptions& options, Report& report, ExpandedArguments& out);

/// What --stats prints, as lines with names `width` wide, or as JSON.
std::string stats_text(std::string_view tool, std::string_view form, int width,
                       std::span<const std::pair<const char*, uint64_t>> counts,
                       std::span<const std::pair<const char*, double>> seconds);

/// --list-rules and --explain. True if one of them was asked for and answered (or refused).
bool answer_rule_questions(const DiagOptions& options, Report& report);

/// The text of --version.
std::string version_text(std::string_view tool);

/// A diagnostic about a file as a whole, or about none.
Diagnostic placeless(const Rule& rule, std::string file, std::string message);

}  // namespace meridian::tools
