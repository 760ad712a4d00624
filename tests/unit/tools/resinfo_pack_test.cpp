// SPDX-License-Identifier: MIT
// Rules: PACK-5, CLI-2 (exit codes), P063 (names never leave the folder).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "imapc.h"
#include "resinfo.h"
#include "support/pack_kit.h"
#include "support/temp_dir.h"
#include "tool_runner.h"

namespace meridian::tools {
namespace {

using test::run_tool;
using test::TempDir;
using test::text_input;
using test::ToolRun;

constexpr uint32_t kMap = kind_of("IMAP");

std::string map_bytes(const TempDir& dir, const std::string& name) {
  const std::string source = dir.write("source.ymap.xml", "<CMapData><name>" + name + "</name></CMapData>");
  EXPECT_EQ(run_tool(run_imapc, {source, "-o", dir.path("made.imap")}).exit, 0);
  return dir.read("made.imap");
}

std::string make(const TempDir& dir, const std::string& name, const std::vector<PackInput>& inputs) {
  const PackWriteResult result = write_pack(dir.path(name), inputs, {});
  EXPECT_NE(result.outcome, WriteOutcome::failed) << result.message;
  return dir.path(name);
}

TEST(ResinfoPack, ListsInTheOrderOfTheFile) {
  const TempDir dir;
  const std::string pack =
      make(dir, "w.mpk", {text_input(kMap, "second", "22", 2), text_input(kind_of("WPNS"), "first", "1", 1)});
  EXPECT_EQ(run_tool(run_resinfo, {"list", pack}).out,
            "kind  name    bytes  in pack  how\n"
            "WPNS  first       1        1  stored\n"
            "IMAP  second      2        2  stored\n"
            "2 entries, 3 bytes, 3 in the pack\n");
  EXPECT_EQ(run_tool(run_resinfo, {"list", "-"}, {.in = dir.read("w.mpk")}).out,
            run_tool(run_resinfo, {"list", pack}).out);
  const ToolRun json = run_tool(run_resinfo, {"list", "--json", pack, "-o", dir.path("l.json")});
  EXPECT_EQ(json.exit, 0);
  EXPECT_NE(dir.read("l.json").find("\"name\": \"second\""), std::string::npos) << dir.read("l.json");
}

TEST(ResinfoPack, NamesDoNotTalkToTheTerminal) {
  const TempDir dir;
  const ToolRun run = run_tool(run_resinfo, {"list", make(dir, "w.mpk", {text_input(kMap, "a\x1B[2J\n", "1")})});
  EXPECT_NE(run.out.find("IMAP  a\\x1B[2J\\x0A  "), std::string::npos) << run.out;
}

// CLI-2
TEST(ResinfoPack, VerifyLooksAsDeepAsAsked) {
  const TempDir dir;
  const std::string good = make(dir, "good.mpk", {text_input(kMap, "a", map_bytes(dir, "a"))});
  const std::string inner = make(dir, "inner.mpk", {text_input(kMap, "no_map", "no resource")});
  EXPECT_EQ(run_tool(run_resinfo, {"verify", "--deep", good}).exit, 0);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", inner}).exit, 0);
  const ToolRun deep = run_tool(run_resinfo, {"verify", "--deep", inner});
  EXPECT_EQ(deep.exit, 1);
  EXPECT_NE(deep.err.find(inner + ": error: IMAP 'no_map': "), std::string::npos) << deep.err;

  std::string bytes = dir.read("good.mpk");
  bytes[70] = static_cast<char>(bytes[70] ^ 4);
  const std::string flipped = dir.write("flipped.mpk", bytes);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", flipped}).exit, 0);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", "--deep", good, flipped}).exit, 1);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", dir.write("cut.mpk", bytes.substr(0, 200))}).exit, 1);
  EXPECT_EQ(run_tool(run_resinfo, {"verify", "-"}, {.in = bytes.substr(0, 200)}).exit, 1);
  EXPECT_EQ(run_tool(run_resinfo, {"list", dir.path("gone.mpk")}).exit, 3);
  EXPECT_EQ(run_tool(run_resinfo, {"list", dir.path("made.imap")}).exit, 1);
  EXPECT_EQ(run_tool(run_resinfo, {"list", good, good}).exit, 2);
  const ToolRun dump = run_tool(run_resinfo, {"dump", good});
  EXPECT_EQ(dump.exit, 1);
  EXPECT_NE(dump.err.find("a pack, not a resource"), std::string::npos) << dump.err;
}

// CLI-2
TEST(ResinfoPack, DiffIsOfContentAndExits5) {
  const TempDir dir;
  const std::string a = make(dir, "a.mpk", {text_input(kMap, "x", "1"), text_input(kMap, "y", "2")});
  const std::string b = make(dir, "b.mpk", {text_input(kMap, "x", "1", 9), text_input(kMap, "y", "3")});
  EXPECT_EQ(run_tool(run_resinfo, {"diff", a, a}).exit, 0);
  const ToolRun run = run_tool(run_resinfo, {"diff", a, b});
  EXPECT_EQ(run.exit, 5);
  EXPECT_EQ(run.out, "IMAP 'y': differs (1 bytes -> 1 bytes)\n");
  EXPECT_EQ(run_tool(run_resinfo, {"diff", "--quiet", a, b}).out, "");
  map_bytes(dir, "m");
  EXPECT_EQ(run_tool(run_resinfo, {"diff", a, dir.path("made.imap")}).exit, 1);
}

// P063
TEST(ResinfoPack, P063_ExtractStaysInItsFolder) {
  const TempDir dir;
  const std::string pack = make(dir, "w.mpk",
                                {text_input(kMap, "town", "1"), text_input(kMap, "../evil", "2"),
                                 text_input(kMap, "a|b:c", "3"), text_input(kind_of("ITYP"), "town", "4")});
  const ToolRun all = run_tool(run_resinfo, {"extract", pack, "-o", dir.path("out/deep")});
  EXPECT_EQ(all.exit, 0);
  EXPECT_NE(all.err.find("warning: IMAP '../evil': "), std::string::npos) << all.err;
  EXPECT_NE(all.err.find("NAM006"), std::string::npos);
  EXPECT_EQ(dir.files(), (std::set<std::string>{"out/deep/%2E.%2Fevil.imap", "out/deep/a%7Cb%3Ac.imap",
                                                "out/deep/town.imap", "out/deep/town.ityp", "w.mpk"}));
  EXPECT_EQ(dir.read("out/deep/a%7Cb%3Ac.imap"), "3");
  EXPECT_EQ(dir.read("out/deep/town.ityp"), "4");

  EXPECT_EQ(run_tool(run_resinfo, {"extract", pack, "-Wno-NAM006", "-o", dir.path("b")}).err, "");
  const ToolRun refused = run_tool(run_resinfo, {"extract", pack, "-Werror", "-o", dir.path("c")});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_FALSE(dir.exists("c/a%7Cb%3Ac.imap"));
  EXPECT_TRUE(dir.exists("c/town.imap"));
}

TEST(ResinfoPack, ExtractTakesNames) {
  const TempDir dir;
  const std::string pack =
      make(dir, "w.mpk", {text_input(kMap, "town", "1"), text_input(kMap, "hills", "2"), text_input(kMap, "sea", "3")});
  EXPECT_EQ(run_tool(run_resinfo, {"extract", pack, "Town", "hills.imap", "-o", dir.path("out")}).exit, 0);
  EXPECT_EQ(dir.files(), (std::set<std::string>{"out/hills.imap", "out/town.imap", "w.mpk"}));
  const ToolRun missing = run_tool(run_resinfo, {"extract", pack, "sea", "moon", "-o", dir.path("out")});
  EXPECT_EQ(missing.exit, 3);
  EXPECT_NE(missing.err.find("no entry is called 'moon'"), std::string::npos) << missing.err;
  EXPECT_TRUE(dir.exists("out/sea.imap"));
  EXPECT_EQ(run_tool(run_resinfo, {"extract", pack, "town", "-o", dir.write("file", "")}).exit, 3);
}

}  // namespace
}  // namespace meridian::tools
