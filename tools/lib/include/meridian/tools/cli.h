// SPDX-License-Identifier: MIT
#pragma once
/// Command lines: one table of options for each program, from which parsing, --help, man pages, shell completions and
/// the option tables in docs/ are made. CLI11 takes the arguments apart; everything a user reads is ours.
///
///   CommandLine line({.name = "imapc", .summary = "compile IMAP XML"});
///   line.group("Output");
///   line.text("-o,--output", "FILE", options.output, "write to FILE", ValueHint::file);
///   std::string error;
///   if (!line.parse(arguments, error)) return usage(error);

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meridian::tools {

/// What a program returns. Where several kinds of failure meet, worse_exit() decides.
enum ExitCode : int {
  kExitDone = 0,         ///< outputs are written; warnings are allowed
  kExitRejected = 1,     ///< an input has errors
  kExitUsage = 2,        ///< the command line is wrong; nothing was read
  kExitEnvironment = 3,  ///< something could not be read or written
  kExitInternal = 4,     ///< a fault of the program
  kExitDifferent = 5,    ///< `resinfo diff` found differences
  kExitInterrupted = 130,
};

/// The code of two results together: interrupted, then the highest of 4, 3, 1. A wrong command line comes before 3 and
/// 1, because then nothing was made at all.
int worse_exit(int a, int b);

/// Where a program reads and writes, so that a test can hold all three. Does not own the streams.
struct ToolIo {
  std::FILE* in = nullptr;
  std::FILE* out = nullptr;
  std::FILE* err = nullptr;
  bool stderr_is_terminal = false;
  bool no_color = false;                      ///< NO_COLOR is set and not empty
  const std::atomic<bool>* cancel = nullptr;  ///< set by Ctrl-C; null: never

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

/// The process's own streams, with SIGINT, SIGTERM and SIGHUP turned into `cancel` and SIGPIPE ignored (a closed
/// pipe is a failed write). A second signal removes temporary files and ends the process with 130.
ToolIo standard_io();

/// What a value is, for completions.
enum class ValueHint { none, file, folder, rule };

/// One option as documentation sees it.
struct OptionDoc {
  std::string short_name;  ///< "-o", may be empty
  std::string long_name;   ///< "--output", may be empty
  std::string value;       ///< "FILE"; empty: takes no value
  std::string help;
  std::string group;
  std::vector<std::string> choices;
  ValueHint hint = ValueHint::none;
  bool repeats = false;         ///< may be given more than once
  bool optional_value = false;  ///< `--stats[=json]`
  std::string implied;          ///< the value that such an option without one has
};

/// What help and man page say beside the options.
struct ProgramDoc {
  std::string name;                                             ///< "imapc" or "resinfo dump"
  std::string summary;                                          ///< one line, no full stop
  std::string operands;                                         ///< "INPUT..."
  std::string description;                                      ///< paragraphs, '\n' between
  std::string limits;                                           ///< what it does not do
  std::vector<std::pair<std::string, std::string>> examples{};  ///< command, what it does
  std::vector<std::pair<int, std::string>> exit_codes{};        ///< empty: those of the compilers
};

/// The parts that most have; exit codes are those of the compilers.
ProgramDoc program_doc(std::string name, std::string summary, std::string operands, std::string description,
                       std::vector<std::pair<std::string, std::string>> examples);

/// The options of one program or subcommand.
/// Threads: main.
class CommandLine {
 public:
  explicit CommandLine(ProgramDoc doc);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Options that follow stand under this title.
  void group(std::string title) { group_ = std::move(title); }
  /// `names` is "-o,--output", "--output" or "-W". Targets must outlive parse().
  void flag(const char* names, bool& target, const char* help);
  void text(const char* names, const char* value, std::string& target, const char* help,
            ValueHint hint = ValueHint::none);
  /// The value may be left out, and is `implied` then; else it is given behind a `=`.
  void optional_text(const char* names, const char* value, const char* implied, std::string& target, const char* help,
                     ValueHint hint = ValueHint::none);
  void texts(const char* names, const char* value, std::vector<std::string>& target, const char* help,
             ValueHint hint = ValueHint::none);
  /// One of `choices`; the first of them is what the option without value means if `optional_value`.
  void choice(const char* names, std::vector<std::string> choices, std::string& target, const char* help,
              bool optional_value = false);
  /// A whole number in [min, max]; k, M and G stand for powers of 1024.
  void number(const char* names, const char* value, uint64_t& target, uint64_t min, uint64_t max, const char* help);
  /// What is not an option. `-` counts as one; after `--` all do.
  void operands(std::vector<std::string>& target) { operands_ = &target; }

  /// Fills the targets. False: `error` says what is wrong, with the nearest option where one was misspelt.
  /// Values keep their exact bytes. An option without `repeats` may be given once.
  bool parse(std::span<const std::string> arguments, std::string& error);
  /// True if the last parse saw this option ("--output").
  bool given(std::string_view name) const;

  const ProgramDoc& doc() const { return doc_; }
  const std::vector<OptionDoc>& options() const { return options_; }

 private:
  struct Target;
  void add(const char* names, OptionDoc option, Target target);
  bool store(size_t index, const std::vector<std::string>& values, std::string& error);
  std::string nearest_option(const std::string& unknown) const;

  ProgramDoc doc_;
  std::string group_;
  std::vector<OptionDoc> options_;
  std::vector<Target> targets_;
  std::vector<bool> given_;
  std::vector<std::string>* operands_ = nullptr;
};

/// The argument list after `@file` was replaced by the file's lines, one argument a line, as they stand. Lines are not
/// looked at again, and nothing after `--` is.
struct ExpandedArguments {
  std::vector<std::string> arguments;
  std::vector<std::string> response_files;  ///< read, in order; inputs of the run
  std::string error, error_path;            ///< set if one cannot be read
};
ExpandedArguments expand_response_files(std::span<const char* const> args);

/// The text of --help.
std::string help_text(const CommandLine& line);
/// What is generated for one program: "man", "bash", "zsh", "fish" or "markdown"; empty for another word. The first
/// line is the program; the others are its subcommands.
std::string generated_doc(std::string_view kind, std::span<const CommandLine* const> lines);

}  // namespace meridian::tools
