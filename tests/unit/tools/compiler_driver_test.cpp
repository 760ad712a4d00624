// SPDX-License-Identifier: MIT
// Rules: CLI-1 to CLI-5, CLI-8, PIPE-1 to PIPE-5, P042, P044, P046, P048, P053, P057, P059.
#include "meridian/tools/compiler_driver.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_fixture.h"
#include "imapc.h"
#include "itypc.h"
#include "meridian/base/name_hash.h"
#include "metac.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using namespace test;  // NOLINT: fixture and sources of the tests

TEST_F(DriverTest, CLI1_OutputStandsBesideItsInput) {
  dir.write("maps/a.ymap.xml", kMap);
  const ToolRun run = run_tool(run_imapc, {"maps/a.ymap.xml"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.out + run.err, "");  // nothing on success
  EXPECT_EQ(dir.files(), (Files{"maps/a.imap", "maps/a.ymap.xml"}));
  EXPECT_TRUE(dir.read("maps/a.imap").substr(4, 4) == "IMAP");
}

TEST_F(DriverTest, CLI1_OutDirMirrorsFoldersAndTakesBareNamesOfFiles) {
  dir.write("w/x/a.ymap.xml", kMap);
  dir.write("w/y/b.ymap.xml", kMap);
  dir.write("w/y/b.ytyp.xml", kTypes);
  dir.write("w/y/notes.txt", "not XML");
  dir.write("v/c.xml", kMap);
  EXPECT_EQ(run_tool(run_imapc, {"w", "v/c.xml", "--out-dir", "out/deep"}).exit, 0);
  EXPECT_TRUE(dir.exists("out/deep/x/a.imap"));
  EXPECT_TRUE(dir.exists("out/deep/y/b.imap"));
  EXPECT_TRUE(dir.exists("out/deep/c.imap"));
  EXPECT_EQ(dir.files().size(), 8u);  // five sources, three outputs
}

TEST_F(DriverTest, CLI1_FilesOfAnotherRootAreSkippedInFoldersAndRefusedByName) {
  dir.write("w/b.ytyp.xml", kTypes);
  dir.write("w/a.ymap.xml", kMap);
  const ToolRun folder = run_tool(run_imapc, {"w"});
  EXPECT_EQ(folder.exit, 0);
  EXPECT_EQ(folder.err, "");
  const ToolRun named = run_tool(run_imapc, {"w/b.ytyp.xml"});
  EXPECT_EQ(named.exit, 1);
  EXPECT_TRUE(contains(named.err, "w/b.ytyp.xml:1:2: error: ")) << named.err;
  EXPECT_TRUE(contains(named.err, "'CMapTypes', which itypc compiles; imapc takes 'CMapData' [XML010 wrong-root]"))
      << named.err;
}

TEST_F(DriverTest, CLI1_AFolderWithNothingForThisToolIsExit3) {
  dir.write("w/b.ytyp.xml", kTypes);
  const ToolRun run = run_tool(run_imapc, {"w"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_TRUE(contains(run.err, "w: error: ")) << run.err;
  EXPECT_EQ(run_tool(run_imapc, {"*.xml"}).exit, 3);
}

TEST_F(DriverTest, P042_ABrokenSourceInAFolderIsNotPassedOver) {
  dir.write("w/a.ymap.xml", kMap);
  dir.write("w/b.ymap.xml", "");
  dir.write("w/c.ymap.xml", "  no root");
  const ToolRun run = run_tool(run_imapc, {"w"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(contains(run.err, "w/b.ymap.xml")) << run.err;
  EXPECT_TRUE(contains(run.err, "w/c.ymap.xml")) << run.err;
}

TEST_F(DriverTest, CLI1_StandardInputGoesToStandardOutputOrToO) {
  dir.write("qa_map.ymap.xml", kMap);
  ASSERT_EQ(run_tool(run_imapc, {"qa_map.ymap.xml"}).exit, 0);
  const ToolRun piped = run_tool(run_imapc, {"-"}, {.in = kMap});
  EXPECT_EQ(piped.exit, 0);
  EXPECT_EQ(piped.out, dir.read("qa_map.imap"));
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(run_tool(run_imapc, {"-", "-o", "o.imap"}, {.in = kMap}).exit, 0);
  EXPECT_EQ(dir.read("o.imap"), piped.out);
  EXPECT_EQ(run_tool(run_imapc, {"qa_map.ymap.xml", "-o", "-"}).out, piped.out);
  const ToolRun bad = run_tool(run_imapc, {"-"}, {.in = kBad});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_TRUE(contains(bad.err, "<stdin>:2:")) << bad.err;
}

TEST_F(DriverTest, CLI1_CombinationsThatCannotBeMeantAreExit2) {
  dir.write("a.ymap.xml", kMap);
  dir.write("b.ymap.xml", kMap);
  dir.write("s/a.ymap.xml", kMap);
  dir.write("a.xml", kMap);
  for (const Words& words : std::vector<Words>{{},
                                               {"a.ymap.xml", "b.ymap.xml", "-o", "x"},
                                               {"a.ymap.xml", "s/a.ymap.xml", "--out-dir", "out"},
                                               {"a.ymap.xml", "a.xml"},
                                               {"a.ymap.xml", "-o", "./a.ymap.xml"},
                                               {"a.ymap.xml", "b.ymap.xml", "--depfile", "b.imap"},
                                               {"a.ymap.xml", "-o", "x", "--depfile", "./x"},
                                               {"a.ymap.xml", "-o", "x", "--diagnostics-file", "a.ymap.xml"},
                                               {"a.ymap.xml", "-o", "x", "--out-dir", "out"},
                                               {"-", "--out-dir", "out"},
                                               {"-", "--depfile", "d"},
                                               {"a.ymap.xml", "-o", "-", "--stats"},
                                               {"a.ymap.xml", "--batch", "list"},
                                               {"a.ymap.xml", "-Wno-such-rule"},
                                               {"a.ymap.xml", "--quiet", "--verbose"},
                                               {"a.ymap.xml", "--max-depth", "101"},
                                               {"a.ymap.xml", "-I", "x"}}) {
    const ToolRun run = run_tool(run_imapc, words);
    std::string shown;
    for (const std::string& word : words) shown += word + " ";
    EXPECT_EQ(run.exit, 2) << shown << run.err;
    EXPECT_TRUE(contains(run.err, "USE001")) << shown << run.err;
  }
  EXPECT_EQ(dir.files(), (Files{"a.xml", "a.ymap.xml", "b.ymap.xml", "s/a.ymap.xml"}));
}

TEST_F(DriverTest, CLI1_TheSameFileTwiceIsOneInput) {
  dir.write("a.ymap.xml", kMap);
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "./a.ymap.xml", "*.ymap.xml", "-o", "x"}).exit, 0);
}

TEST_F(DriverTest, P042_EveryFailureHasItsCode) {
  dir.write("a.ymap.xml", kMap);
  dir.write("bad.ymap.xml", kBad);
  dir.write("doubtful.ymap.xml", kDoubtful);
  fs::create_directory(dir.path("folder"));
  for (const std::string form : {"--diagnostics=text", "--diagnostics=json", "--diagnostics=sarif", "--quiet"}) {
    const auto exit = [&](Words words) {
      words.push_back(form);
      return run_tool(run_imapc, words).exit;
    };
    EXPECT_EQ(exit({"a.ymap.xml", "-o", "no/such/dir/out.imap"}), 3);
    EXPECT_EQ(exit({"a.ymap.xml", "-o", "folder"}), 3);
    EXPECT_EQ(exit({"bad.ymap.xml"}), 1);
    EXPECT_EQ(exit({"doubtful.ymap.xml", "-Werror"}), 1);
    EXPECT_EQ(exit({"doubtful.ymap.xml", "-Werror=XML002"}), 1);
    EXPECT_EQ(exit({"doubtful.ymap.xml", "--strict"}), 1);
    EXPECT_EQ(exit({"nothing.ymap.xml"}), 3);
    EXPECT_EQ(exit({"@nothing"}), 3);
    EXPECT_EQ(exit({"--batch", "nothing"}), 3);
    EXPECT_EQ(exit({"bad.ymap.xml", "nothing.ymap.xml"}), 3);  // the highest
    EXPECT_EQ(exit({"a.ymap.xml", "-o", "/dev/full"}), 3);
    EXPECT_EQ(exit({"a.ymap.xml", "-o", "x", "--depfile", "no/d"}), 3);
    EXPECT_EQ(exit({"a.ymap.xml", "-o", "x", "--diagnostics-file", "no/d"}), 3);
    EXPECT_FALSE(dir.exists("doubtful.imap"));
    EXPECT_EQ(exit({"doubtful.ymap.xml"}), 0);
    fs::remove(dir.path("doubtful.imap"));
  }
}

TEST_F(DriverTest, CLI2_AFailedWriteToStandardOutputIsNever0) {
  ToolIo io;
  io.in = std::tmpfile();
  io.err = std::tmpfile();
  for (const char* const argument : {"-", "--help", "--version", "--list-rules", "--generate=man"}) {
    io.out = std::fopen("/dev/full", "w");
    std::rewind(io.in);
    std::fputs(kMap.data(), io.in);
    std::rewind(io.in);
    EXPECT_EQ(run_imapc({&argument, 1}, io), 3) << argument;
    std::fclose(io.out);
  }
  std::fclose(io.in);
  std::fclose(io.err);
}

TEST_F(DriverTest, CLI2_OneBadFileDoesNotStopTheOthers) {
  dir.write("a.ymap.xml", kBad);
  dir.write("b.ymap.xml", kMap);
  dir.write("c.ymap.xml", kBad);
  dir.write("d.ymap.xml", kMap);
  const ToolRun run = run_tool(run_imapc, {"a.ymap.xml", "b.ymap.xml", "c.ymap.xml", "d.ymap.xml"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(contains(run.err, "failed: a.ymap.xml\nfailed: c.ymap.xml\n")) << run.err;
  EXPECT_TRUE(dir.exists("b.imap") && dir.exists("d.imap"));
  EXPECT_FALSE(dir.exists("a.imap") || dir.exists("c.imap"));
}

TEST_F(DriverTest, CLI2_FailFastStopsAtTheFirst) {
  Words words = {"--fail-fast"};
  for (int i = 10; i < 40; ++i) words.push_back(dir.write(std::to_string(i) + ".ymap.xml", i == 12 ? kBad : kMap));
  for (const char* const jobs : {"-j1", "-j8"}) {
    for (const std::string& name : dir.files())
      if (name.ends_with(".imap")) fs::remove(dir.path(name));
    words.push_back(jobs);
    const ToolRun run = run_tool(run_imapc, words);
    words.pop_back();
    EXPECT_EQ(run.exit, 1);
    EXPECT_TRUE(dir.exists("10.imap") && dir.exists("11.imap"));
    EXPECT_FALSE(dir.exists("13.imap")) << jobs;
    EXPECT_FALSE(dir.exists("39.imap")) << jobs;
  }
}

TEST_F(DriverTest, P048_AFailedRunLeavesTheOldOutputAndNoStrays) {
  dir.write("bad.ymap.xml", kBad);
  dir.write("out.bin", "good old");
  EXPECT_EQ(run_tool(run_imapc, {"bad.ymap.xml", "-o", "out.bin", "--depfile", "out.d"}).exit, 1);
  EXPECT_EQ(dir.read("out.bin"), "good old");
  EXPECT_EQ(dir.files(), (Files{"bad.ymap.xml", "out.bin"}));
}

TEST_F(DriverTest, P042_AFullDiskIsExit3AndNamesTheOutput) {
  if (::geteuid() != 0) {  // then the device that is always full stands for it
    dir.write("a.ymap.xml", kMap);
    EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "-o", "/dev/full"}).exit, 3);
    return;
  }
  std::string big = "<CMapData><entities>";
  for (int i = 0; i < 2000; ++i) big += "<Item type=\"CEntityDef\"><archetypeName>qa_a</archetypeName></Item>";
  dir.write("a.ymap.xml", big + "</entities></CMapData>");
  dir.write("b.ymap.xml", kMap);
  fs::create_directory(dir.path("disk"));
  if (::mount("none", dir.path("disk").c_str(), "tmpfs", 0, "size=16k") != 0) GTEST_FAIL() << "root, but no mount";
  dir.write("disk/a.imap", "old");
  // One thread: else b may be written just while the beginning of a fills the disk.
  const ToolRun run = run_tool(run_imapc, {"a.ymap.xml", "b.ymap.xml", "--out-dir", "disk", "-j1"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_TRUE(contains(run.err, "disk/a.imap: error: cannot write: No space left on device [ENV001")) << run.err;
  EXPECT_EQ(dir.read("disk/a.imap"), "old");
  EXPECT_TRUE(dir.exists("disk/b.imap"));
  EXPECT_EQ(dir.files(), (Files{"a.ymap.xml", "b.ymap.xml", "disk/a.imap", "disk/b.imap"}));
  EXPECT_EQ(::umount(dir.path("disk").c_str()), 0);
}

TEST_F(DriverTest, P042_AnOutputThatMayNotBeReplacedIsExit3) {
  dir.write("a.ymap.xml", kMap);
  fs::create_directory(dir.path("closed"));
  dir.write("closed/a.imap", "old");
  const bool is_root = ::geteuid() == 0;
  const std::string close = is_root ? "chattr +i closed closed/a.imap" : "chmod 0555 closed";
  if (std::system((close + " 2> /dev/null").c_str()) != 0) {  // a file system without such flags
    ASSERT_EQ(::mount("none", dir.path("closed").c_str(), "tmpfs", MS_RDONLY, ""), 0);
    EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "--out-dir", "closed"}).exit, 3);
    EXPECT_EQ(::umount(dir.path("closed").c_str()), 0);
    return;
  }
  const ToolRun run = run_tool(run_imapc, {"a.ymap.xml", "--out-dir", "closed"});
  const ToolRun below = run_tool(run_imapc, {"a.ymap.xml", "--out-dir", "closed/new"});
  EXPECT_EQ(std::system(is_root ? "chattr -i closed closed/a.imap" : "chmod 0755 closed"), 0);
  EXPECT_EQ(run.exit, 3);
  EXPECT_TRUE(contains(run.err, is_root ? "Operation not permitted" : "Permission denied")) << run.err;
  EXPECT_EQ(below.exit, 3);
  EXPECT_EQ(dir.files(), (Files{"a.ymap.xml", "closed/a.imap"}));
  EXPECT_EQ(dir.read("closed/a.imap"), "old");
}

TEST_F(DriverTest, P057_UnchangedOutputsKeepTheirTimeAndAreListed) {
  dir.write("a.ymap.xml", kMap);
  ASSERT_EQ(run_tool(run_imapc, {"a.ymap.xml", "--depfile", "a.d"}).exit, 0);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat("a.imap", &before), 0);
  fs::remove(dir.path("a.d"));
  const ToolRun run = run_tool(run_imapc, {"a.ymap.xml", "--depfile", "a.d"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.err, "unchanged: a.imap\n");
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "--quiet"}).err, "");
  ASSERT_EQ(::stat("a.imap", &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  EXPECT_TRUE(dir.exists("a.d"));
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "--write=always"}).err, "");
  ASSERT_EQ(::stat("a.imap", &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino);
}

TEST_F(DriverTest, P044_DepfileNamesAllThatWasRead) {
  dir.write("a b.ymap.xml", kMap);
  dir.write("args", "-j1\n");
  ASSERT_EQ(run_tool(run_imapc, {"@args", "a b.ymap.xml", "-o", "./x$.imap", "--depfile", "x.d"}).exit, 0);
  EXPECT_EQ(dir.read("x.d"), "./x$$.imap: \\\n  a\\ b.ymap.xml \\\n  args\n");
  dir.write("w/b.ymap.xml", kMap);
  ASSERT_EQ(run_tool(run_imapc, {"w", "--out-dir", "out", "--depfile", "w.d"}).exit, 0);
  EXPECT_EQ(dir.read("w.d"), "out/b.imap: \\\n  w/b.ymap.xml \\\n  w\n");  // a new file would change the folder
}

TEST_F(DriverTest, PIPE3_DepfileIsWrittenOnSuccessOnlyWithARuleForEachOutput) {
  dir.write("a.ymap.xml", kMap);
  dir.write("b.ymap.xml", kMap);
  dir.write("c.ymap.xml", kBad);
  ASSERT_EQ(run_tool(run_imapc, {"a.ymap.xml", "b.ymap.xml", "--depfile", "d"}).exit, 0);
  EXPECT_EQ(dir.read("d"), "a.imap: \\\n  a.ymap.xml\nb.imap: \\\n  b.ymap.xml\n");
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml", "c.ymap.xml", "--depfile", "e"}).exit, 1);
  EXPECT_FALSE(dir.exists("e"));
}

TEST_F(DriverTest, PIPE3_ListDepsCompilesNothing) {
  dir.write("w/a.ymap.xml", kMap);
  dir.write("w/b.ymap.xml", kBad);
  dir.write("args", "w\n");
  const ToolRun run = run_tool(run_imapc, {"@args", "--list-deps"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.out, "w/a.ymap.xml\nw/b.ymap.xml\nargs\n");
  EXPECT_EQ(dir.files().size(), 3u);
}

TEST_F(DriverTest, PIPE5_BatchCompilesPairsAndFailuresAreAlone) {
  dir.write("a.xml", kMap);
  dir.write("b.xml", kBad);
  dir.write("list",
            "a.xml\tone.imap\nb.xml\ttwo.imap\nmissing.xml\tthree.imap\na.xml\tno/four.imap\na.xml\tfive.imap\n");
  const ToolRun run = run_tool(run_imapc, {"--batch", "list", "-j2"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_EQ(dir.files(), (Files{"a.xml", "b.xml", "five.imap", "list", "one.imap"}));
  dir.write("list", "a.xml\tone.imap\na.xml\t./one.imap\n");
  EXPECT_EQ(run_tool(run_imapc, {"--batch", "list"}).exit, 2);
  EXPECT_EQ(run_tool(run_imapc, {"--batch", "-"}, {.in = "a.xml\tsix.imap\n"}).exit, 0);
  EXPECT_TRUE(dir.exists("six.imap"));
}

TEST_F(DriverTest, PIPE1_SameBytesAndMessagesForAnyThreadsAndOrder) {
  Words names;
  for (int i = 0; i < 24; ++i)
    names.push_back(dir.write("m" + std::to_string(i) + ".ymap.xml",
                              i % 5 == 4 ? std::string(kDoubtful) : map_named("qa_" + std::to_string(i))));
  Words words = names;
  words.insert(words.end(), {"--out-dir", "one", "-j1"});
  const ToolRun one = run_tool(run_imapc, words);
  ASSERT_EQ(one.exit, 0);
  std::mt19937 random(6);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(names.begin(), names.end(), random);
    words = names;
    words.insert(words.end(), {"--out-dir", "many", "-j8", "--write=always"});
    const ToolRun many = run_tool(run_imapc, words);
    EXPECT_EQ(many.err, one.err);
  }
  for (int i = 0; i < 24; ++i) {
    const std::string name = "/m" + std::to_string(i) + ".imap";
    EXPECT_EQ(dir.read("one" + name), dir.read("many" + name));
  }
}

TEST_F(DriverTest, P046_P059_UnusualPathsWork) {
  const std::string utf8 =
      "donn\xC3\xA9"
      "es/\xD0\xBA_\xE6\x9D\xB1.ymap.xml";
  dir.write(utf8, kDoubtful);
  const ToolRun run = run_tool(run_imapc, {utf8, "-o", "\xE5\x87\xBA.bin"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_TRUE(contains(run.err, utf8 + ":2:3: warning: ")) << run.err;
  const std::string raw = "\xFF\xFE.ymap.xml";
  dir.write(raw, kDoubtful);
  const ToolRun json = run_tool(run_imapc, {raw, "--diagnostics=json"});
  EXPECT_EQ(json.exit, 0);
  EXPECT_FALSE(contains(json.err, "\xFF"));
  EXPECT_TRUE(dir.exists("\xFF\xFE.imap"));
  std::string deep;
  for (int i = 0; i < 5; ++i) deep += std::string(100, 'd') + "/";
  dir.write(deep + "a.ymap.xml", kMap);
  EXPECT_EQ(run_tool(run_imapc, {deep + "a.ymap.xml"}).exit, 0);
  const ToolRun long_name = run_tool(run_imapc, {deep + "a.ymap.xml", "-o", std::string(300, 'n')});
  EXPECT_EQ(long_name.exit, 3);
  EXPECT_TRUE(contains(long_name.err, std::string(300, 'n'))) << long_name.err;
}

TEST_F(DriverTest, P063_NamesInTheContentMakeNoFileNames) {
  dir.write("in/a.ymap.xml", map_named("qa/../x:1"));
  EXPECT_EQ(run_tool(run_imapc, {"in", "--out-dir", "out"}).exit, 0);
  EXPECT_EQ(dir.files(), (Files{"in/a.ymap.xml", "out/a.imap"}));
}

/// Two texts with one hash, by birthday: 2^17 random words hold some.
std::pair<std::string, std::string> colliding_names() {
  std::unordered_map<uint32_t, std::string> seen;
  for (uint32_t i = 0;; ++i) {
    const std::string name = "qa_" + std::to_string(i * 2654435761u);
    const auto [it, is_new] = seen.emplace(hash_name(name).value, name);
    if (!is_new && it->second != name) return {it->second, name};
  }
}

// CORE-3
TEST_F(DriverTest, NAM001_NamesOfDifferentInputsAreHeldTogether) {
  const auto [first, second] = colliding_names();
  std::string shouted = first;
  std::transform(shouted.begin(), shouted.end(), shouted.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  dir.write("a.ymap.xml", map_named(first));
  dir.write("b.ymap.xml", map_named(shouted));  // the same name
  dir.write("c.ymap.xml", "<CMapData>\n <name>" + second + "</name></CMapData>");
  for (const char* const jobs : {"-j1", "-j8"}) {
    const ToolRun run = run_tool(run_imapc, {"a.ymap.xml", "b.ymap.xml", "c.ymap.xml", jobs});
    EXPECT_EQ(run.exit, 1);
    EXPECT_TRUE(contains(run.err, "c.ymap.xml:2:8: error: '" + second + "' has the same hash as '" + first)) << run.err;
    EXPECT_TRUE(contains(run.err, "a.ymap.xml:1:17: note: ")) << run.err;
    EXPECT_TRUE(dir.exists("a.imap") && dir.exists("b.imap"));
    EXPECT_FALSE(dir.exists("c.imap"));  // refused before it was written
  }
}

TEST_F(DriverTest, CLI8_OwnSchemasAreCompiledByMetac) {
  dir.write("part.fbs", "namespace qa; struct P { x:float; y:float; }\n");
  dir.write(
      "own.fbs",
      "include \"part.fbs\";\nnamespace qa; table Root { count:int; }\nroot_type Root;\nfile_identifier \"QAQA\";\n");
  dir.write("a.xml", "<Root><count value=\"3\"/></Root>");
  const ToolRun run = run_tool(run_metac, {"--schema", "own.fbs", "a.xml", "--depfile", "d"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(dir.exists("a.mmeta"));
  EXPECT_TRUE(contains(dir.read("d"), "own.fbs")) << dir.read("d");
  EXPECT_TRUE(contains(dir.read("d"), "part.fbs")) << dir.read("d");
  dir.write("rootless.fbs", "table Root { count:int; }");
  EXPECT_EQ(run_tool(run_metac, {"--schema", "rootless.fbs", "a.xml"}).exit, 2);
  dir.write("anonymous.fbs", "table Root { count:int; }\nroot_type Root;");
  EXPECT_EQ(run_tool(run_metac, {"--schema", "anonymous.fbs", "a.xml"}).exit, 2);
  EXPECT_EQ(run_tool(run_metac, {"--schema", "nothing.fbs", "a.xml"}).exit, 3);
}

TEST_F(DriverTest, CLI1_MetacTakesEveryBuiltInRoot) {
  dir.write("w/a.ymap.xml", kMap);
  dir.write("w/b.ytyp.xml", kTypes);
  dir.write("w/c.xml", "<Unknown/>");
  EXPECT_EQ(run_tool(run_metac, {"w", "--out-dir", "out"}).exit, 0);
  EXPECT_TRUE(dir.exists("out/a.imap") && dir.exists("out/b.ityp"));
  const ToolRun unknown = run_tool(run_metac, {"w/c.xml"});
  EXPECT_EQ(unknown.exit, 1);
  EXPECT_TRUE(contains(unknown.err, "XML010")) << unknown.err;
}

TEST_F(DriverTest, CLI5_CancelledRunsAre130AndWriteNothing) {
  dir.write("a.ymap.xml", kMap);
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(run_tool(run_imapc, {"a.ymap.xml"}, {.cancel = &cancel}).exit, 130);
  EXPECT_EQ(dir.files(), Files{"a.ymap.xml"});
}

/// The process's own signals, in a process of its own that waits for input that never comes.
void run_until_signal(int signal, const std::string& folder) {
  std::signal(signal, SIG_DFL);  // the tests may be a job in the background, which ignores it, and so would the program
  fs::current_path(folder);
  int ends[2];
  if (::pipe(ends) != 0) std::_Exit(99);
  ToolIo io = standard_io();
  io.in = ::fdopen(ends[0], "r");
  std::thread sender([signal] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(::getpid(), signal);
  });
  const char* const args[] = {"-", "-o", "out.bin"};
  const int exit = run_imapc(args, io);
  sender.join();
  std::_Exit(exit);
}

TEST(Signals, P048_CtrlCEndsCleanlyWith130) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The child of such a test is a new process that runs it from the start; it gets the parent's folder.
  constexpr const char* kVariable = "MERIDIAN_TEST_FOLDER";
  std::optional<TempDir> dir;
  if (std::getenv(kVariable) == nullptr) {
    dir.emplace();
    dir->write("out.bin", "good old");
    ::setenv(kVariable, dir->path().c_str(), 1);
  }
  const std::string folder = std::getenv(kVariable);
  for (const int signal : {SIGINT, SIGTERM})
    EXPECT_EXIT(run_until_signal(signal, folder), ::testing::ExitedWithCode(130), "imapc: interrupted");
  ::unsetenv(kVariable);
  ASSERT_TRUE(dir.has_value());
  EXPECT_EQ(dir->read("out.bin"), "good old");
  EXPECT_EQ(dir->files(), Files{"out.bin"});
}

}  // namespace
}  // namespace meridian::tools
