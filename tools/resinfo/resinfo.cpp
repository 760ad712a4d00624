// SPDX-License-Identifier: MIT
#include "resinfo.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "meridian/tools/binding.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/tool_options.h"

namespace meridian::tools {
namespace {

const std::vector<std::pair<int, std::string>> kExitCodes = {
    {0, "done; for diff: no difference"},
    {1, "a resource is damaged or cannot be read by its schema"},
    {2, "the command line is wrong"},
    {3, "something could not be read or written"},
    {4, "an internal fault"},
    {5, "diff found differences"},
    {130, "interrupted"}};

ProgramDoc doc_of(std::string name, std::string summary, std::string operands, std::string description,
                  std::vector<std::pair<std::string, std::string>> examples) {
  ProgramDoc doc;
  doc.name = std::move(name);
  doc.summary = std::move(summary);
  doc.operands = std::move(operands);
  doc.description = std::move(description);
  doc.examples = std::move(examples);
  doc.exit_codes = kExitCodes;
  return doc;
}

/// One run: the command lines of all commands, of which one is parsed.
class Resinfo {
 public:
  explicit Resinfo(ToolIo& io)
      : io_(io),
        report_(io, "resinfo"),
        top_(doc_of("resinfo", "look inside compiled resources", "COMMAND FILE...",
                    "Commands: dump (as JSON, or as the XML that it came from), diff (compare two), verify (check all "
                    "that a loader relies on), schema (print the schema that a resource is read by), stats (sizes and "
                    "counts). 'resinfo COMMAND --help' tells more. A FILE may be '-' for standard input.",
                    {{"resinfo dump town.imap", "print a map as JSON"},
                     {"resinfo diff old.imap new.imap", "print what changed; exit 5 if anything did"}})),
        dump_(doc_of("resinfo dump", "print a resource as JSON or XML", "FILE",
                     "Prints every value by the schema. XML compiles to the same bytes again.",
                     {{"resinfo dump town.imap", "print as JSON"},
                      {"resinfo dump --xml town.imap -o town.ymap.xml", "get the XML back"}})),
        diff_(doc_of("resinfo diff", "compare two resources", "FILE FILE",
                     "Prints a line for each value that differs, by path in the schema.",
                     {{"resinfo diff a.imap b.imap", "print the differences"},
                      {"resinfo diff --quiet a.imap b.imap", "only the exit code"}})),
        verify_(doc_of("resinfo verify", "check resources", "FILE...",
                       "Checks size, magic, checksum, layout, structure and values, as the loader does. Says nothing "
                       "where all is well.",
                       {{"resinfo verify build/*.imap", "check all maps"},
                        {"resinfo verify --schema weapons.fbs weapons.mmeta", "check by your own schema"}})),
        schema_(doc_of("resinfo schema", "print the schema of a resource", "FILE",
                       "Prints the schema that the resource is read by, in the FlatBuffers language.",
                       {{"resinfo schema town.imap", "print the built-in schema of maps"},
                        {"resinfo schema weapons.mmeta -o weapons.fbs", "get an embedded schema back"}})),
        stats_(doc_of("resinfo stats", "print sizes and counts", "FILE", "Prints where the bytes of a resource go.",
                      {{"resinfo stats town.imap", "as text"}, {"resinfo stats --json town.imap", "as JSON"}})) {
    for (CommandLine* line : {&dump_, &schema_, &stats_}) {
      line->group("Output");
      line->text("-o,--output", "FILE", output_, "write to FILE ('-', default: standard output)", ValueHint::file);
    }
    dump_.flag("--xml", xml_, "print XML");
    stats_.flag("--json", json_, "print JSON");
    diff_.group("Output");
    diff_.flag("--quiet", quiet_, "print nothing; the exit code tells");
    for (CommandLine* line : {&dump_, &diff_, &verify_, &schema_, &stats_}) {
      line->operands(files_);
      line->group("Schema");
      line->text("--schema", "FILE", schema_file_, "schema (.fbs) to read by; else the built-in or embedded one",
                 ValueHint::file);
      line->texts("-I", "DIR", include_dirs_, "look for included schemas in DIR too", ValueHint::folder);
      diag_.declare_form(*line);
    }
    for (CommandLine* line : {&top_, &dump_, &diff_, &verify_, &schema_, &stats_}) {
      line->group("Help");
      line->flag("-h,--help", help_, "print this text");
      if (line == &top_) line->flag("-v,--version", version_, "print the versions of tool and formats");
    }
  }

  int run(std::span<const char* const> args) {
    try {
      main(args);
    } catch (const std::bad_alloc&) {
      report_.environment("", "out of memory");
    } catch (const std::exception& e) {
      report_.internal("", std::string("internal fault: ") + e.what());
    }
    return report_.finish(diag_);
  }

 private:
  void main(std::span<const char* const> args) {
    const std::vector<const CommandLine*> lines = {&top_, &dump_, &diff_, &verify_, &schema_, &stats_};
    constexpr std::string_view kGenerate = "--generate=";
    if (args.size() == 1 && std::string_view(args[0]).starts_with(kGenerate)) {
      const std::string text = generated_doc(std::string_view(args[0]).substr(kGenerate.size()), lines);
      return text.empty() ? report_.usage("--generate takes man, bash, zsh, fish or markdown") : report_.print(text);
    }
    std::string error;
    if (args.empty()) return report_.usage("no command; --help lists them");
    const std::string command = args[0];
    if (command.starts_with("-")) {
      const std::vector<std::string> arguments(args.begin(), args.end());
      const bool parsed = top_.parse(arguments, error);
      if (help_) return report_.print(help_text(top_));
      if (version_) return report_.print(version_text("resinfo"));
      return report_.usage(parsed ? "no command; --help lists them" : error);
    }
    const ExpandedArguments expanded = expand_response_files(args.subspan(1));
    if (!expanded.error.empty()) return report_.environment(expanded.error_path, expanded.error);
    for (CommandLine* line : {&dump_, &diff_, &verify_, &schema_, &stats_}) {
      if (line->doc().name != "resinfo " + command) continue;
      // The form is read even where the line is wrong elsewhere, so that the complaint has it too.
      if (!diag_.peek(expanded.arguments)) return report_.usage("--diagnostics-file names a file of this command line");
      const bool parsed = line->parse(expanded.arguments, error);
      if (help_) return report_.print(help_text(*line));
      if (!parsed || !diag_.read(error)) return report_.usage(error);
      return execute(*line);
    }
    report_.usage("unknown command '" + command + "'; there are dump, diff, verify, schema and stats");
  }

  void execute(const CommandLine& line) {
    const size_t wanted = &line == &diff_ ? 2 : 1;
    if (files_.size() < wanted || (&line != &verify_ && files_.size() > wanted))
      return report_.usage(line.doc().name + " takes " + line.doc().operands + ", not " +
                           std::to_string(files_.size()) + " files");
    if (std::count(files_.begin(), files_.end(), "-") > 1) return report_.usage("standard input can be read once only");
    if (!schema_file_.empty() && !load_schema()) return;
    if (&line == &verify_) {
      for (const std::string& file : files_) {
        if (io_.cancelled()) return report_.raise(kExitInterrupted);
        LoadedResource resource;
        load(file, resource);
      }
      return;
    }
    LoadedResource resource, other;
    const bool loaded = load(files_[0], resource);
    if (&line == &diff_) {
      if (!load(files_[1], other) || !loaded) return;
      return diff(resource, other);
    }
    if (!loaded) return;
    if (&line == &dump_) return put(xml_ ? dump_xml(resource) : dump_json(resource));
    if (&line == &schema_) return put(schema_text(resource));
    put(json_ ? stats_json(resource) : stats_text(resource));
  }

  bool load(const std::string& file, LoadedResource& out) {
    std::string error;
    int code = kExitRejected;
    const bool is_stdin = file == "-";
    const std::string shown = is_stdin ? "<stdin>" : file;
    if (is_stdin ? load_stdin(shown, out, error, code) : load_resource(file, load_, out, error, code)) {
      if (!out.warning.empty()) report_.log().add(placeless(rules::converted_resource, shown, out.warning));
      return true;
    }
    if (code == kExitEnvironment) {
      report_.environment(shown, error);
    } else if (code == kExitUsage) {
      report_.usage(error);
    } else {
      report_.log().add(placeless(rules::refused_resource, shown, error));
      report_.raise(code);
    }
    return false;
  }

  bool load_stdin(const std::string& shown, LoadedResource& out, std::string& error, int& code) {
    std::string bytes;
    const auto cancelled = [](const void* context) { return static_cast<const ToolIo*>(context)->cancelled(); };
    if (const int number = read_stream(io_.in, kMaxResourceBytes, cancelled, &io_, bytes); number != 0) {
      error = "cannot read: " + error_text(number);
      code = io_.cancelled() ? kExitInterrupted : kExitEnvironment;
      return false;
    }
    return view_resource(shown, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, load_, out, error);
  }

  bool load_schema() {
    if (::access(schema_file_.c_str(), R_OK) != 0)
      return report_.environment(schema_file_, "cannot read the schema: " + error_text(errno)), false;
    std::string error;
    std::vector<std::string> read;
    load_.schema = compile_schema_file(schema_file_, include_dirs_, read, error);
    if (load_.schema.empty()) report_.usage("--schema " + schema_file_ + ": " + error);
    return !load_.schema.empty();
  }

  void diff(const LoadedResource& a, const LoadedResource& b) {
    const std::vector<std::string> lines = diff_lines(a, b);
    if (lines.empty()) return;
    report_.raise(kExitDifferent);
    if (quiet_) return;
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    report_.print(text);
  }

  void put(const std::string& text) {
    if (output_.empty() || output_ == "-") return report_.print(text);
    const WriteResult result = write_file(output_, text, WriteMode::if_changed);
    if (result.outcome == WriteOutcome::failed)
      report_.environment(output_, "cannot write: " + error_text(result.error));
  }

  ToolIo& io_;
  Report report_;
  DiagOptions diag_;
  CommandLine top_, dump_, diff_, verify_, schema_, stats_;
  LoadOptions load_;
  std::string schema_file_;
  std::vector<std::string> include_dirs_;
  std::vector<std::string> files_;
  std::string output_;
  bool xml_ = false, json_ = false, quiet_ = false, help_ = false, version_ = false;
};

}  // namespace

int run_resinfo(std::span<const char* const> args, ToolIo& io) { return Resinfo(io).run(args); }

}  // namespace meridian::tools
