// SPDX-License-Identifier: MIT
#include "resinfo.h"

#include <string>

#include <gtest/gtest.h>

#include "imapc.h"
#include "support/temp_dir.h"
#include "tool_runner.h"

namespace meridian::tools {
namespace {

using test::run_tool;
using test::TempDir;
using test::ToolRun;

std::string compiled(const TempDir& dir, const std::string& name, const std::string& map_name) {
  const std::string source = dir.write(name + ".ymap.xml", "<CMapData><name>" + map_name + "</name></CMapData>");
  EXPECT_EQ(run_tool(run_imapc, {source}).exit, 0);
  return dir.path(name + ".imap");
}

TEST(Resinfo, DumpedXmlCompilesToTheSameBytes) {
  const TempDir dir;
  const std::string map = compiled(dir, "a", "qa_a");
  ASSERT_EQ(run_tool(run_resinfo, {"dump", "--xml", map, "-o", dir.path("b.ymap.xml")}).exit, 0);
  ASSERT_EQ(run_tool(run_imapc, {dir.path("b.ymap.xml")}).exit, 0);
  EXPECT_EQ(dir.read("a.imap"), dir.read("b.imap"));
}

TEST(Resinfo, DumpsJsonFromAFileAndFromStandardInput) {
  const TempDir dir;
  const ToolRun file = run_tool(run_resinfo, {"dump", compiled(dir, "a", "qa_a")});
  EXPECT_EQ(file.exit, 0);
  EXPECT_TRUE(file.out.starts_with("{") && file.out.ends_with("}\n")) << file.out;
  EXPECT_NE(file.out.find("qa_a"), std::string::npos);
  EXPECT_EQ(run_tool(run_resinfo, {"dump", "-"}, {.in = dir.read("a.imap")}).out, file.out);
}

TEST(Resinfo, CLI2_DifferencesAreExit5) {
  const TempDir dir;
  const std::string a = compiled(dir, "a", "qa_a"), b = compiled(dir, "b", "qa_b");
  EXPECT_EQ(run_tool(run_resinfo, {"diff", a, a}).exit, 0);
  const ToolRun run = run_tool(run_resinfo, {"diff", a, b});
  EXPECT_EQ(run.exit, 5);
  EXPECT_NE(run.out.find("qa_b"), std::string::npos) << run.out;
  const ToolRun quiet = run_tool(run_resinfo, {"diff", "--quiet", a, b});
  EXPECT_EQ(quiet.exit, 5);
  EXPECT_EQ(quiet.out, "");
}

TEST(Resinfo, CLI2_DamagedIs1MissingIs3WrongLineIs2) {
  const TempDir dir;
  const std::string good = compiled(dir, "a", "qa_a");
  std::string bytes = dir.read("a.imap");
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  const std::string bad = dir.write("bad.imap", bytes), text = dir.write("text.imap", "no resource");
  EXPECT_EQ(run_tool(run_resinfo, {"verify", good}).exit, 0);
  const ToolRun damaged = run_tool(run_resinfo, {"verify", good, bad, text});
  EXPECT_EQ(damaged.exit, 1);
  EXPECT_NE(damaged.err.find(bad + ": error: "), std::string::npos) << damaged.err;
  EXPECT_NE(damaged.err.find(text + ": error: "), std::string::npos) << damaged.err;
  EXPECT_EQ(run_tool(run_resinfo, {"dump", bad}).exit, 1);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", bad, dir.path("nothing")}).exit, 3);
  EXPECT_EQ(run_tool(run_resinfo, {"dump", good, "-o", dir.path("no/x")}).exit, 3);
  EXPECT_EQ(run_tool(run_resinfo, {"dump"}).exit, 2);
  EXPECT_EQ(run_tool(run_resinfo, {"diff", good}).exit, 2);
  EXPECT_EQ(run_tool(run_resinfo, {"dmup", good}).exit, 2);
  EXPECT_EQ(run_tool(run_resinfo, {}).exit, 2);
}

TEST(Resinfo, ShowsSchemaAndStatistics) {
  const TempDir dir;
  const std::string map = compiled(dir, "a", "qa_a");
  EXPECT_NE(run_tool(run_resinfo, {"schema", map}).out.find("MapData"), std::string::npos);
  EXPECT_FALSE(run_tool(run_resinfo, {"stats", map}).out.empty());
  EXPECT_TRUE(run_tool(run_resinfo, {"stats", "--json", map}).out.starts_with("{"));
}

TEST(Resinfo, CLI7_PagesNameAllCommands) {
  for (const char* const kind : {"man", "bash", "zsh", "fish", "markdown"}) {
    const ToolRun run = run_tool(run_resinfo, {std::string("--generate=") + kind});
    EXPECT_EQ(run.exit, 0);
    for (const char* const command : {"dump", "diff", "verify", "schema", "stats", "xml"})
      EXPECT_NE(run.out.find(command), std::string::npos) << kind << " lacks " << command;
  }
  EXPECT_EQ(run_tool(run_resinfo, {"dump", "--help"}).exit, 0);
  EXPECT_EQ(run_tool(run_resinfo, {"--version"}).out.find("resinfo 0."), 0u);
}

}  // namespace
}  // namespace meridian::tools
