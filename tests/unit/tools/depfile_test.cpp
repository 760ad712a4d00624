// SPDX-License-Identifier: MIT
// Rules: CLI-4, PIPE-3, P044.
#include "meridian/tools/depfile.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

using test::TempDir;

TEST(Depfile, PIPE3_KeepsPathsAsTheyWereGiven) {
  const DepfileRule rule{"out/../a.imap", {"./a.ymap.xml", "/abs/args", "./a.ymap.xml"}};
  EXPECT_EQ(depfile_text({&rule, 1}), "out/../a.imap: \\\n  ./a.ymap.xml \\\n  /abs/args\n");
}

TEST(Depfile, CLI4_HasARuleForEachOutput) {
  const std::vector<DepfileRule> rules = {{"a", {"x"}}, {"b", {}}, {"c", {"y"}}};
  EXPECT_EQ(depfile_text(rules), "a: \\\n  x\nb:\nc: \\\n  y\n");
}

TEST(Depfile, PIPE3_EscapesWhatMakeWouldRead) {
  EXPECT_EQ(escape_depfile_path("a b"), "a\\ b");
  EXPECT_EQ(escape_depfile_path("a#b"), "a\\#b");
  EXPECT_EQ(escape_depfile_path("a$b"), "a$$b");
  EXPECT_EQ(escape_depfile_path("c:d"), "c\\:d");
  EXPECT_EQ(escape_depfile_path("a\\b"), "a\\b");        // means itself here
  EXPECT_EQ(escape_depfile_path("a\\ b"), "a\\\\\\ b");  // here it would not
  EXPECT_EQ(escape_depfile_path("a\\"), "a\\\\");
  EXPECT_EQ(escape_depfile_path("donn\xC3\xA9"
                                "es/\xE6\x9D\xB1"),
            "donn\xC3\xA9"
            "es/\xE6\x9D\xB1");
}

TEST(Depfile, CannotNameLineBreaks) {
  EXPECT_FALSE(depfile_can_name("a\nb"));
  EXPECT_TRUE(depfile_can_name("a b\\#$:"));
}

/// Lets a program read the file that we wrote, if it's there. Make is on every machine that builds this; the answer of
/// Ninja, whose reader is another one, counts where it is.
bool has_program(const char* name) {
  return std::system((std::string("command -v ") + name + " > /dev/null").c_str()) == 0;
}

TEST(Depfile, P044_MakeAndNinjaReadIt) {
  const std::vector<std::string> names = {"plain",  "two words",   "hash#tag",     "dollar$",
                                          "co:lon", "back\\slash", "\xE6\x9D\xB1", "[1]"};
  const TempDir dir;
  DepfileRule rule{"out file", {}};
  for (const std::string& name : names) {
    dir.write(name, "");
    rule.sources.push_back(name);
  }
  dir.write("out.d", depfile_text({&rule, 1}));
  dir.write("Makefile", "include out.d\nout\\ file:\n\ttouch 'out file'\n");
  dir.write("build.ninja",
            "rule r\n  command = cp out.d used.d && touch 'out file'\n  depfile = used.d\nbuild out$ file: r\n");
  const std::string in = "cd '" + dir.path() + "' && ";
  const auto quiet = [&](const std::string& command) { return std::system((in + command + " > log 2>&1").c_str()); };
  struct Builder {
    const char *program, *build, *is_current;
  };
  for (const Builder& builder : {Builder{"make", "make 'out file'", "make -q 'out file'"},
                                 Builder{"ninja", "ninja -d keepdepfile", "ninja -n | grep -q 'no work'"}}) {
    if (!has_program(builder.program)) continue;
    quiet("rm -f 'out file' .ninja_log .ninja_deps");
    ASSERT_EQ(quiet(builder.build), 0) << dir.read("log");
    EXPECT_EQ(quiet(builder.is_current), 0) << builder.program;
    for (const std::string& name : names) {
      quiet("touch -d '1 minute' '" + name + "'");
      EXPECT_NE(quiet(builder.is_current), 0) << builder.program << " does not know " << name;
      quiet("touch -d '1 hour ago' '" + name + "'");
    }
  }
}

}  // namespace
}  // namespace meridian::tools
