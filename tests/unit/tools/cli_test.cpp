// SPDX-License-Identifier: MIT
// Rules: CLI-1 (suggestions, help), CLI-2, CLI-6, CLI-7 (man pages, completions), CLI-8, PIPE-5 (response files), P055.
#include "meridian/tools/cli.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gameconfigc.h"
#include "imapc.h"
#include "itypc.h"
#include "metac.h"
#include "support/temp_dir.h"
#include "tool_runner.h"

namespace meridian::tools {
namespace {

using test::run_tool;
using test::TempDir;
using test::ToolRun;
using Words = std::vector<std::string>;

/// A command line with one option of each sort.
struct Sample {
  std::string output, mode = "fast", stats, list;
  Words warnings, operands;
  bool quiet = false;
  uint64_t count = 7;
  CommandLine line{{.name = "sample", .summary = "", .operands = "", .description = "", .limits = ""}};
  std::string error;

  Sample() {
    line.operands(operands);
    line.text("-o,--output", "FILE", output, "");
    line.texts("-W", "RULE", warnings, "");
    line.choice("--mode", {"fast", "slow"}, mode, "");
    line.choice("--stats", {"text", "json"}, stats, "", true);
    line.optional_text("--list", "FILE", "-", list, "");
    line.number("-j,--jobs", "N", count, 1, 1u << 30, "");
    line.flag("--quiet", quiet, "");
  }
  bool parse(const Words& words) { return line.parse(words, error); }
};

TEST(CommandLine, CLI1_TakesOperandsAndOptionsInAnyOrder) {
  Sample s;
  ASSERT_TRUE(s.parse({"a.xml", "-o", "-", "b c.xml", "--quiet", "-", "--", "--strange", "-W"})) << s.error;
  EXPECT_EQ(s.operands, (Words{"a.xml", "b c.xml", "-", "--strange", "-W"}));
  EXPECT_EQ(s.output, "-");
  EXPECT_TRUE(s.quiet);
  EXPECT_TRUE(s.line.given("--output"));
  EXPECT_FALSE(s.line.given("--mode"));
}

TEST(CommandLine, AValueThatMayBeLeftOutIsTheImpliedOne) {
  Sample none, bare, given;
  ASSERT_TRUE(none.parse({"a.xml"}) && bare.parse({"--list", "a.xml"}) && given.parse({"--list=b=c.txt", "a.xml"}));
  EXPECT_EQ(none.list, "");
  EXPECT_EQ(bare.list, "-");
  EXPECT_EQ(bare.operands, Words{"a.xml"});
  EXPECT_EQ(given.list, "b=c.txt");
  EXPECT_NE(help_text(given.line).find("--list[=FILE]"), std::string::npos);
}

TEST(CommandLine, CLI3_WarningOptionTakesOneWordJoinedOrApart) {
  Sample s;
  ASSERT_TRUE(s.parse({"-Werror", "a.xml", "-Wno-XML002", "b.xml", "-W", "error=XML003", "c.xml"})) << s.error;
  EXPECT_EQ(s.warnings, (Words{"error", "no-XML002", "error=XML003"}));
  EXPECT_EQ(s.operands, (Words{"a.xml", "b.xml", "c.xml"}));
}

TEST(CommandLine, KeepsBracketsCommasAndEqualSigns) {
  Sample s;
  ASSERT_TRUE(s.parse({"[a].xml", "b,c.xml", "d=e", "--output=[x],y=z"})) << s.error;
  EXPECT_EQ(s.operands, (Words{"[a].xml", "b,c.xml", "d=e"}));
  EXPECT_EQ(s.output, "[x],y=z");
}

TEST(CommandLine, TakesOptionalValueOnlyJoined) {
  Sample s;
  ASSERT_TRUE(s.parse({"--stats", "a.xml"}));
  EXPECT_EQ(s.stats, "text");
  EXPECT_EQ(s.operands, Words{"a.xml"});
  Sample json;
  ASSERT_TRUE(json.parse({"--stats=json"}));
  EXPECT_EQ(json.stats, "json");
  Sample wrong;
  EXPECT_FALSE(wrong.parse({"--stats=xml"}));
}

TEST(CommandLine, P055_UnknownOptionNamesTheNearest) {
  Sample s;
  EXPECT_FALSE(s.parse({"--ouptut=x"}));
  EXPECT_EQ(s.error, "unknown option '--ouptut=x'; did you mean '--output'?");
  Sample far;
  EXPECT_FALSE(far.parse({"--zzzzzzzz"}));
  EXPECT_EQ(far.error, "unknown option '--zzzzzzzz'");
  Sample single;
  EXPECT_FALSE(single.parse({"-quiet"}));
  EXPECT_NE(single.error.find("--quiet"), std::string::npos) << single.error;
}

TEST(CommandLine, RefusesWhatCannotBeMeant) {
  for (const Words& words : std::vector<Words>{{"-o"},
                                               {"--output="},
                                               {"--output=", "x"},
                                               {"-o", "a", "-o", "b"},
                                               {""},
                                               {"--quiet=3"},
                                               {"--mode=medium"},
                                               {"-j", "0"},
                                               {"-j", "x"},
                                               {"-j", "-1"},
                                               {"-j", "3x"},
                                               {"-j", "99999999999999999999"},
                                               {"-j4G"}}) {
    Sample s;
    EXPECT_FALSE(s.parse(words)) << words[0];
    EXPECT_FALSE(s.error.empty()) << words[0];
  }
}

TEST(CommandLine, CLI8_NumbersTakePowersOf1024) {
  for (const auto& [text, number] :
       {std::pair<std::string, uint64_t>{"12", 12}, {"3k", 3072}, {"2M", 2u << 20}, {"1G", 1u << 30}}) {
    Sample s;
    ASSERT_TRUE(s.parse({"-j" + text})) << s.error;
    EXPECT_EQ(s.count, number);
  }
}

TEST(ResponseFile, PIPE5_HoldsOneArgumentALine) {
  const TempDir dir;
  const std::string file = dir.write("args", "a b.xml\r\n\n-o\n  out\n@nested\n\"quoted\"");
  const std::string at = "@" + file;
  const char* const args[] = {"first", at.c_str(), "last"};
  const ExpandedArguments out = expand_response_files(args);
  EXPECT_EQ(out.arguments, (Words{"first", "a b.xml", "-o", "  out", "@nested", "\"quoted\"", "last"}));
  EXPECT_EQ(out.response_files, Words{file});
  EXPECT_TRUE(out.error.empty());
}

TEST(ResponseFile, IsNoneAfterTwoDashesOrAlone) {
  const char* const args[] = {"@", "--", "@file"};
  EXPECT_EQ(expand_response_files(args).arguments, (Words{"@", "--", "@file"}));
}

TEST(ResponseFile, PIPE2_MissingOneIsNamed) {
  const char* const args[] = {"@/no/such/file"};
  const ExpandedArguments out = expand_response_files(args);
  EXPECT_EQ(out.error_path, "/no/such/file");
  EXPECT_NE(out.error.find("No such file"), std::string::npos);
}

TEST(ExitCode, CLI2_HighestKindWins) {
  EXPECT_EQ(worse_exit(kExitDone, kExitRejected), kExitRejected);
  EXPECT_EQ(worse_exit(kExitEnvironment, kExitRejected), kExitEnvironment);
  EXPECT_EQ(worse_exit(kExitRejected, kExitInternal), kExitInternal);
  EXPECT_EQ(worse_exit(kExitInternal, kExitEnvironment), kExitInternal);
  EXPECT_EQ(worse_exit(kExitInternal, kExitInterrupted), kExitInterrupted);
  EXPECT_EQ(worse_exit(kExitDone, kExitDone), kExitDone);
}

constexpr test::Tool kCompilers[] = {run_imapc, run_itypc, run_gameconfigc, run_metac};

TEST(Help, CLI1_HasGroupsExamplesAndExitCodes) {
  for (const test::Tool tool : kCompilers) {
    const ToolRun run = run_tool(tool, {"--help"});
    EXPECT_EQ(run.exit, 0);
    EXPECT_TRUE(run.err.empty()) << run.err;
    for (const char* const part : {"usage: ", "\nInputs:\n", "\nOutputs:\n", "\nMessages:\n", "\nLimits:\n",
                                   "\nExit codes:\n", "\n  130  ", "\nExamples:\n", "--depfile FILE", "\nIt "})
      EXPECT_NE(run.out.find(part), std::string::npos) << part;
    size_t begin = 0;
    for (size_t end; (end = run.out.find('\n', begin)) != std::string::npos; begin = end + 1)
      EXPECT_LE(end - begin, 100u) << run.out.substr(begin, end - begin);
  }
}

TEST(Help, IsGivenEvenIfTheRestIsWrong) { EXPECT_EQ(run_tool(run_imapc, {"-h", "--no-such-option"}).exit, 0); }

TEST(Version, CLI1_ShowsFormats) {
  const ToolRun run = run_tool(run_itypc, {"-v"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.out.find("itypc 0."), 0u) << run.out;
  for (const char* const part : {"format 1", "trailer 1", ".imap", ".ityp", ".gcfg", ".ymfm", "layout ", "schema "})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << "\n" << run.out;
  EXPECT_EQ(run.out, run_tool(run_itypc, {"--version"}).out);
}

TEST(GeneratedDocs, CLI7_NameEveryOption) {
  for (const test::Tool tool : kCompilers) {
    const std::string markdown = run_tool(tool, {"--generate=markdown"}).out;
    // Option names as the help has them are the measure.
    Words names;
    for (const std::string option : {"--output",    "--out-dir",      "--batch",        "--depfile",
                                     "--list-deps", "--write",        "--diagnostics",  "--diagnostics-file",
                                     "--color",     "--strict",       "--max-errors",   "--all",
                                     "--quiet",     "--verbose",      "--list-rules",   "--explain",
                                     "--no-names",  "--embed-schema", "--dialect",      "--no-lint",
                                     "--max-bytes", "--max-depth",    "--max-elements", "--max-resource-bytes",
                                     "--jobs",      "--fail-fast",    "--stats",        "--help",
                                     "--version"})
      names.push_back(option);
    for (const char* const kind : {"man", "bash", "zsh", "fish", "markdown"}) {
      const ToolRun run = run_tool(tool, {std::string("--generate=") + kind});
      EXPECT_EQ(run.exit, 0);
      for (std::string name : names) {
        if (std::string(kind) == "fish") name = " -l " + name.substr(2) + " ";
        if (std::string(kind) == "man") {
          for (size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, "\\");
        }
        EXPECT_NE(run.out.find(name), std::string::npos) << kind << " lacks " << name;
      }
    }
  }
  EXPECT_EQ(run_tool(run_imapc, {"--generate=html"}).exit, 2);
}

/// Runs the completion in bash on a line of words; the last one is being typed.
std::string complete_in_bash(const TempDir& dir, const std::string& script, const std::string& words, int count) {
  dir.write("complete.sh", script + "\nCOMP_WORDS=(" + words + ")\nCOMP_CWORD=" + std::to_string(count - 1) +
                               "\n_imapc\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const std::string command = "cd '" + dir.path() + "' && bash --norc --noprofile complete.sh > reply 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return dir.read("reply");
}

TEST(GeneratedDocs, CLI7_BashCompletesOptionsValuesAndFiles) {
  const TempDir dir;
  const std::string script = run_tool(run_imapc, {"--generate=bash"}).out;
  dir.write("town.ymap.xml", "");
  EXPECT_EQ(complete_in_bash(dir, script, "imapc --depf", 2), "--depfile\n");
  EXPECT_EQ(complete_in_bash(dir, script, "imapc --diagnostics sa", 3), "sarif\n");
  EXPECT_EQ(complete_in_bash(dir, script, "imapc --diagnostics = js", 4), "json\n");
  EXPECT_EQ(complete_in_bash(dir, script, "imapc to", 2), "town.ymap.xml\n");
  EXPECT_EQ(complete_in_bash(dir, script, "imapc --explain missing-el", 3), "missing-element\n");
}

}  // namespace
}  // namespace meridian::tools
