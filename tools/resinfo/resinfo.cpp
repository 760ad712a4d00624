// SPDX-License-Identifier: MIT
#include "resinfo.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "meridian/tools/binding.h"
#include "meridian/tools/pack_view.h"
#include "meridian/tools/parsed_target.h"
#include "meridian/tools/pool_sizes.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/tool_options.h"
#include "pack_commands.h"

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
  ProgramDoc doc = program_doc(std::move(name), std::move(summary), std::move(operands), std::move(description),
                               std::move(examples));
  doc.exit_codes = kExitCodes;
  return doc;
}

/// One run: the command lines of all commands, of which one is parsed.
class Resinfo {
 public:
  explicit Resinfo(ToolIo& io)
      : io_(io),
        report_(io, "resinfo"),
        top_(doc_of("resinfo", "look inside compiled resources and packs", "COMMAND FILE...",
                    "Commands: dump (as JSON, or as the XML that it came from), diff (compare two), verify (check all "
                    "that a loader relies on), schema (print the schema that a resource is read by), stats (sizes and "
                    "counts), pools (the pool sizes that a game configuration gives), list (what is in a pack), "
                    "extract (files out of a pack). diff and verify take packs too. 'resinfo COMMAND --help' tells "
                    "more. A FILE may be '-' for standard input.",
                    {{"resinfo dump town.imap", "print a map as JSON"},
                     {"resinfo diff old.imap new.imap", "print what changed; exit 5 if anything did"}})),
        dump_(doc_of("resinfo dump", "print a resource as JSON or XML", "FILE",
                     "Prints every value by the schema. XML compiles to the same bytes again.",
                     {{"resinfo dump town.imap", "print as JSON"},
                      {"resinfo dump --xml town.imap -o town.ymap.xml", "get the XML back"}})),
        diff_(doc_of("resinfo diff", "compare two resources, or two packs", "FILE FILE",
                     "Prints a line for each value that differs, by path in the schema; of packs, one for each entry "
                     "whose content differs. How a pack is compressed and ordered makes no difference.",
                     {{"resinfo diff a.imap b.imap", "print the differences"},
                      {"resinfo diff a.mpk b.mpk", "print which resources differ"},
                      {"resinfo diff --quiet a.imap b.imap", "only the exit code"}})),
        verify_(doc_of("resinfo verify", "check resources and packs", "FILE...",
                       "Checks size, magic, checksum, layout, structure and values, as the loader does; of packs, "
                       "header and table of contents, and with --deep every entry: hashes, decompression, and what is "
                       "checked of a resource. Says nothing where all is well.",
                       {{"resinfo verify build/*.imap", "check all maps"},
                        {"resinfo verify --deep world.mpk", "check a pack with all that is in it"},
                        {"resinfo verify --schema weapons.fbs weapons.mmeta", "check by your own schema"}})),
        schema_(doc_of("resinfo schema", "print the schema of a resource", "FILE",
                       "Prints the schema that the resource is read by, in the FlatBuffers language.",
                       {{"resinfo schema town.imap", "print the built-in schema of maps"},
                        {"resinfo schema weapons.mmeta -o weapons.fbs", "get an embedded schema back"}})),
        stats_(doc_of("resinfo stats", "print sizes and counts", "FILE", "Prints where the bytes of a resource go.",
                      {{"resinfo stats town.imap", "as text"}, {"resinfo stats --json town.imap", "as JSON"}})),
        pools_(doc_of("resinfo pools", "print the pool sizes of a game configuration", "FILE",
                      "Selects the configurations for a target and merges them as the runtime does, and prints a size "
                      "for each pool that has an entry, with the place in the file of the configuration that gave it.",
                      {{"resinfo pools gameconfig.gcfg --for build=final,platform=x64", "what the PC release gets"},
                       {"resinfo pools gameconfig.gcfg --for build=beta,platform=ps4 --json", "as JSON"}})),
        list_(
            doc_of("resinfo list", "list what is in a pack", "PACK",
                   "Prints kind, name and sizes of each entry, in the order in which they lie in the file.",
                   {{"resinfo list world.mpk", "as text"}, {"resinfo list --json world.mpk", "as JSON, with hashes"}})),
        extract_(doc_of("resinfo extract", "write entries of a pack as files", "PACK [NAME...]",
                        "Writes all entries, or those called NAME: a name, hash_1A2B3C4D, or either with an extension. "
                        "What is no file name on some system is written as %XX, with a warning (NAM006).",
                        {{"resinfo extract world.mpk -o world", "write all into the folder world"},
                         {"resinfo extract world.mpk town props.ityp", "write two here"}})) {
    for (CommandLine* line : {&dump_, &schema_, &stats_, &pools_, &list_}) {
      line->group("Output");
      line->text("-o,--output", "FILE", output_, "write to FILE ('-', default: standard output)", ValueHint::file);
    }
    dump_.flag("--xml", xml_, "print XML");
    stats_.flag("--json", json_, "print JSON");
    pools_.flag("--json", json_, "print JSON");
    list_.flag("--json", json_, "print JSON");
    pools_.group("Selection");
    pools_.text("--for", "TARGET", target_text_,
                "build=B,platform=P[,param=X]... (builds: debug, beta, bankrelease, release, profile, final); needed");
    extract_.group("Output");
    extract_.text("-o,--output", "DIR", output_, "write into DIR (default: here), made if it is not there",
                  ValueHint::folder);
    verify_.group("Packs");
    verify_.flag("--deep", deep_, "read every entry of a pack");
    diff_.group("Output");
    diff_.flag("--quiet", quiet_, "print nothing; the exit code tells");
    for (CommandLine* line : {&pools_, &list_, &extract_}) {
      line->operands(files_);
      diag_.declare_form(*line);
    }
    extract_.texts("-W", "RULE", diag_.warnings, "-Wno-NAM006: no warning; -Werror: leave such entries out, exit 1",
                   ValueHint::rule);
    for (CommandLine* line : {&dump_, &diff_, &verify_, &schema_, &stats_}) {
      line->operands(files_);
      line->group("Schema");
      line->text("--schema", "FILE", schema_file_, "schema (.fbs) to read by; else the built-in or embedded one",
                 ValueHint::file);
      line->texts("-I", "DIR", include_dirs_, "look for included schemas in DIR too", ValueHint::folder);
      diag_.declare_form(*line);
    }
    for (CommandLine* line : {&top_, &dump_, &diff_, &verify_, &schema_, &stats_, &pools_, &list_, &extract_}) {
      line->group("Help");
      line->flag("-h,--help", help_, "print this text");
      if (line == &top_) line->flag("-v,--version", version_, "print the versions of tool and formats");
    }
  }

  int run(std::span<const char* const> args) {
    return run_program(report_, diag_, [&] { main(args); });
  }

 private:
  void main(std::span<const char* const> args) {
    const std::vector<const CommandLine*> lines = {&top_,   &dump_,  &diff_, &verify_, &schema_,
                                                   &stats_, &pools_, &list_, &extract_};
    if (answer_generate(args, lines, report_)) return;
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
    for (CommandLine* line : {&dump_, &diff_, &verify_, &schema_, &stats_, &pools_, &list_, &extract_}) {
      if (line->doc().name != "resinfo " + command) continue;
      // The form is read even where the line is wrong elsewhere, so that the complaint has it too.
      if (!diag_.peek(expanded.arguments)) return report_.usage("--diagnostics-file names a file of this command line");
      const bool parsed = line->parse(expanded.arguments, error);
      if (help_) return report_.print(help_text(*line));
      if (!parsed || !diag_.read(error)) return report_.usage(error);
      return execute(*line);
    }
    report_.usage("unknown command '" + command +
                  "'; there are dump, diff, verify, schema, stats, pools, list and extract");
  }

  void execute(const CommandLine& line) {
    const size_t wanted = &line == &diff_ ? 2 : 1;
    const bool takes_more = &line == &verify_ || &line == &extract_;
    if (files_.size() < wanted || (!takes_more && files_.size() > wanted))
      return report_.usage(line.doc().name + " takes " + line.doc().operands + ", not " +
                           std::to_string(files_.size()) + " files");
    if (std::count(files_.begin(), files_.end(), "-") > 1) return report_.usage("standard input can be read once only");
    if (!schema_file_.empty() && !load_schema()) return;
    if (&line == &pools_) return print_pools();
    if (&line == &verify_) {
      for (const std::string& file : files_) {
        if (io_.cancelled()) return report_.raise(kExitInterrupted);
        verify(file);
      }
      return;
    }
    if (&line == &diff_) return is_pack(files_[0]) || is_pack(files_[1]) ? diff_packs() : diff_resources();
    if (&line == &list_ || &line == &extract_) {
      const std::unique_ptr<PackFile> pack = open(files_[0]);
      if (!pack) return;
      if (&line == &list_) return put(json_ ? pack_list_json(pack->pack()) : pack_list_text(pack->pack()));
      return extract_pack(*pack, {files_.begin() + 1, files_.end()}, output_.empty() ? "." : output_, diag_.policy, io_,
                          report_);
    }
    LoadedResource resource;
    if (!load(files_[0], resource)) return;
    if (&line == &dump_ && xml_ && resource.binding->root().cooked)
      return refuse(files_[0], "the linker makes such files; there is no XML that they come from", kExitUsage);
    if (&line == &dump_) return put(xml_ ? dump_xml(resource) : dump_json(resource));
    if (&line == &schema_) return put(schema_text(resource));
    put(json_ ? stats_json(resource) : stats_text(resource));
  }

  void verify(const std::string& file) {
    if (!is_pack(file)) {
      LoadedResource resource;
      load(file, resource);
      return;
    }
    const std::unique_ptr<PackFile> pack = open(file);
    if (pack && deep_) verify_pack(*pack, load_, io_, report_);
  }

  void print_pools() {
    ParsedTarget target;
    std::string error;
    if (!parse_config_target(target_text_, target, error)) return report_.usage("--for: " + error);
    LoadedResource resource;
    if (!load(files_[0], resource)) return;
    std::string text;
    if (!pool_sizes(resource, target.target(), json_, text, error)) return refuse(files_[0], error, kExitRejected);
    put(text);
  }

  static std::string shown(const std::string& file) { return file == "-" ? "<stdin>" : file; }

  bool is_pack(const std::string& file) {
    if (file != "-") return is_pack_file(file);
    return read_stdin() && looks_like_pack(std::as_bytes(std::span(stdin_)));
  }

  std::unique_ptr<PackFile> open(const std::string& file) {
    std::string error;
    int code = kExitRejected;
    std::unique_ptr<PackFile> pack;
    if (file != "-")
      pack = PackFile::open(file, error, code);
    else if (!read_stdin())
      return nullptr;
    else
      pack = PackFile::from_bytes(shown(file), stdin_, error);
    if (!pack) refuse(file, error, code);
    return pack;
  }

  void refuse(const std::string& file, const std::string& error, int code) {
    if (code == kExitEnvironment) return report_.environment(shown(file), error);
    if (code == kExitUsage) return report_.usage(error);
    report_.log().add(placeless(rules::refused_resource, shown(file), error));
    report_.raise(code);
  }

  bool load(const std::string& file, LoadedResource& out) {
    std::string error;
    int code = kExitRejected;
    bool loaded;
    if (file != "-") {
      loaded = load_resource(file, load_, out, error, code);
    } else {
      if (!read_stdin()) return false;
      loaded = view_resource(shown(file), {reinterpret_cast<const uint8_t*>(stdin_.data()), stdin_.size()}, load_, out,
                             error);
    }
    if (loaded) {
      if (!out.warning.empty()) report_.log().add(placeless(rules::converted_resource, shown(file), out.warning));
      return true;
    }
    if (code == kExitRejected && is_pack(file)) error = "a pack, not a resource; see resinfo list and extract";
    refuse(file, error, code);
    return false;
  }

  /// Once; every later call gives the same. A failure is reported.
  bool read_stdin() {
    if (stdin_read_) return stdin_good_;
    stdin_read_ = true;
    const auto cancelled = [](const void* context) { return static_cast<const ToolIo*>(context)->cancelled(); };
    const int number = read_stream(io_.in, kMaxResourceBytes, cancelled, &io_, stdin_);
    stdin_good_ = number == 0;
    if (!stdin_good_)
      refuse("-", "cannot read: " + error_text(number), io_.cancelled() ? kExitInterrupted : kExitEnvironment);
    return stdin_good_;
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

  void diff_resources() {
    LoadedResource a, b;
    const bool loaded = load(files_[0], a);
    if (load(files_[1], b) && loaded) print_differences(diff_lines(a, b));
  }

  void diff_packs() {
    const std::unique_ptr<PackFile> a = open(files_[0]), b = open(files_[1]);
    if (a && b) print_differences(pack_diff_lines(a->pack(), b->pack()));
  }

  void print_differences(const std::vector<std::string>& lines) {
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
  CommandLine top_, dump_, diff_, verify_, schema_, stats_, pools_, list_, extract_;
  LoadOptions load_;
  std::string schema_file_;
  std::vector<std::string> include_dirs_;
  std::vector<std::string> files_;
  std::string output_, target_text_;
  std::string stdin_;
  bool stdin_read_ = false, stdin_good_ = false;
  bool xml_ = false, json_ = false, quiet_ = false, deep_ = false, help_ = false, version_ = false;
};

}  // namespace

int run_resinfo(std::span<const char* const> args, ToolIo& io) { return Resinfo(io).run(args); }

}  // namespace meridian::tools
