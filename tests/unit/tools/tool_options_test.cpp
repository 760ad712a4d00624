// SPDX-License-Identifier: MIT
/// Messages of the compilers: their forms, places and colours, and what is refused.
#include "meridian/tools/tool_options.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver_fixture.h"
#include "imapc.h"

namespace meridian::tools {
namespace {

using namespace test;  // NOLINT: fixture and sources of the tests

TEST_F(DriverTest, P055_UnknownOptionsAreExit2) {
  const ToolRun run = run_tool(run_imapc, {"--depfle=x", "a.xml"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_EQ(run.err,
            "imapc: error: unknown option '--depfle=x'; did you mean '--depfile'? [USE001 usage-error]\n1 error\n");
}

TEST_F(DriverTest, CLI3_JsonIsOneDocumentWhateverGoesWrong) {
  dir.write("a.ymap.xml", kMap);
  for (const Words& words : std::vector<Words>{{"a.ymap.xml", "--verbose"},
                                               {"--nonsense"},
                                               {"nothing.xml"},
                                               {"@nothing"},
                                               {"a.ymap.xml", "-o", "no/x"},
                                               {}}) {
    for (const std::string form : {"--diagnostics=json", "--diagnostics=sarif"}) {
      Words all = {form};
      all.insert(all.end(), words.begin(), words.end());
      const ToolRun run = run_tool(run_imapc, all, {.terminal = true});
      EXPECT_TRUE(run.err.starts_with("{") && run.err.ends_with("}\n")) << run.err;
      EXPECT_FALSE(contains(run.err, "\x1b")) << run.err;
    }
  }
  const ToolRun wrong = run_tool(run_imapc, {"--nonsense", "--diagnostics", "json"});
  EXPECT_TRUE(contains(wrong.err, "\"rule\": \"USE001\"")) << wrong.err;
  EXPECT_TRUE(contains(run_tool(run_imapc, {"--diagnostics=json", "nothing.xml"}).err, "\"rule\": \"ENV001\""));
}

TEST_F(DriverTest, CLI3_MessagesGoToAFileInstead) {
  dir.write("bad.ymap.xml", kBad);
  const ToolRun run = run_tool(run_imapc, {"bad.ymap.xml", "--diagnostics=sarif", "--diagnostics-file", "log"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(contains(dir.read("log"), "XML005"));
}

TEST_F(DriverTest, P048_MessagesNeverOverwriteAnInput) {
  dir.write("w/a.ymap.xml", kMap);
  for (const Words& words :
       std::vector<Words>{{"w/a.ymap.xml", "--diagnostics-file", "w/a.ymap.xml"},
                          {"./w/a.ymap.xml", "--diagnostics-file=w/a.ymap.xml", "--nonsense"},
                          {"w", "--diagnostics-file", "w/a.ymap.xml"},
                          {"w", "--diagnostics-file", "w/a.ymap.xml", "--list-deps"},
                          {"w", "nothing.xml", "--fail-fast", "--diagnostics-file", "w/a.ymap.xml"}}) {
    EXPECT_EQ(run_tool(run_imapc, words).exit, 2);
    EXPECT_EQ(dir.read("w/a.ymap.xml"), kMap);
  }
}

TEST_F(DriverTest, CLI3_ColorFollowsTerminalEnvironmentAndOption) {
  dir.write("bad.ymap.xml", kBad);
  const auto colored = [&](Words words, bool terminal, bool no_color) {
    words.push_back("bad.ymap.xml");
    return contains(run_tool(run_imapc, words, {.terminal = terminal, .no_color = no_color}).err, "\x1b[");
  };
  EXPECT_FALSE(colored({}, false, false));
  EXPECT_TRUE(colored({}, true, false));
  EXPECT_FALSE(colored({}, true, true));
  EXPECT_TRUE(colored({"--color=always"}, false, true));
  EXPECT_FALSE(colored({"--color=never"}, true, false));
}

TEST_F(DriverTest, CLI3_RulesAreListedAndExplained) {
  const ToolRun list = run_tool(run_imapc, {"--list-rules"});
  EXPECT_EQ(list.exit, 0);
  EXPECT_TRUE(contains(list.out, "XML002  unknown-name ")) << list.out;
  EXPECT_FALSE(run_tool(run_imapc, {"--explain", "unknown-name"}).out.empty());
  const ToolRun unknown = run_tool(run_imapc, {"--explain", "unknwn-name"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'unknown-name'?")) << unknown.err;
}

TEST_F(DriverTest, BinariesAreNamed) {
  dir.write("a.ymap", std::string("RSC7\x02\0\0\0<", 9));
  const ToolRun run = run_tool(run_imapc, {"a.ymap"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(contains(run.err, "a.ymap:1:1: error: this is a compiled RSC7 resource")) << run.err;
  EXPECT_TRUE(contains(run.err, "XML010")) << run.err;
}

TEST_F(DriverTest, CLI4_StatsGoToStandardOutput) {
  dir.write("a.ymap.xml", kMap);
  const ToolRun text = run_tool(run_imapc, {"a.ymap.xml", "--stats"});
  EXPECT_TRUE(contains(text.out, "source_bytes ")) << text.out;
  const ToolRun json = run_tool(run_imapc, {"a.ymap.xml", "--stats=json"});
  EXPECT_TRUE(contains(json.out, "\"source_bytes\": " + std::to_string(kMap.size()))) << json.out;
  EXPECT_TRUE(contains(json.out, "\"unchanged\": 1")) << json.out;
}

TEST_F(DriverTest, CLI5_VerboseWritesALineForEachInput) {
  dir.write("a.ymap.xml", kMap);
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "--verbose"}).err, "imapc: 1/1 a.ymap.xml -> a.imap\n");
}

}  // namespace
}  // namespace meridian::tools
