// SPDX-License-Identifier: MIT
// Rules: CLI-1, CLI-6, PIPE-2, PIPE-5, P046, P059.
#include "meridian/tools/inputs.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using Words = std::vector<std::string>;

const InputFilter kXmlOnly = [](const std::string& path) { return path.ends_with(".xml"); };

Words paths(const InputList& list) {
  Words out;
  for (const InputFile& file : list.files) out.push_back(file.path);
  return out;
}

TEST(Inputs, CLI1_FilesStandInTheOrderGivenOnceEach) {
  const TempDir dir;
  const std::string b = dir.write("b.xml", ""), a = dir.write("a.xml", "");
  const InputList list = find_inputs(Words{b, "-", a, dir.path() + "/./b.xml", "-"}, kXmlOnly, "imapc");
  EXPECT_EQ(paths(list), (Words{b, "-", a}));
  EXPECT_EQ(list.files[0].relative, "b.xml");
  EXPECT_FALSE(list.files[0].in_folder);
  EXPECT_EQ(list.files[1].shown(), "<stdin>");
  EXPECT_TRUE(list.problems.empty());
}

TEST(Inputs, CLI1_AFolderIsSearchedBelowInNameOrder) {
  const TempDir dir;
  for (const char* const name : {"m/z.xml", "m/a.xml", "m/sub/B.xml", "m/sub/a.xml", "m/note.txt", "m/A.xml"})
    dir.write(name, "");
  const std::string m = dir.path("m");
  const InputList list = find_inputs(Words{m}, kXmlOnly, "imapc");
  EXPECT_EQ(paths(list), (Words{m + "/A.xml", m + "/a.xml", m + "/sub/B.xml", m + "/sub/a.xml", m + "/z.xml"}));
  EXPECT_EQ(list.files[2].relative, "sub/B.xml");
  EXPECT_TRUE(list.files[2].in_folder);
  EXPECT_EQ(list.folders, (Words{m, m + "/sub"}));
}

TEST(Inputs, CLI1_AFolderWithoutSourcesIsAProblem) {
  const TempDir dir;
  dir.write("m/note.txt", "");
  const InputList list = find_inputs(Words{dir.path("m")}, kXmlOnly, "imapc");
  EXPECT_TRUE(list.files.empty());
  ASSERT_EQ(list.problems.size(), 1u);
  EXPECT_EQ(list.problems[0].path, dir.path("m"));
  EXPECT_NE(list.problems[0].message.find("imapc"), std::string::npos);
}

TEST(Inputs, AFolderWhoseFilesWereGivenBeforeIsNone) {
  const TempDir dir;
  const std::string a = dir.write("m/a.xml", "");
  const InputList list = find_inputs(Words{a, dir.path("m")}, kXmlOnly, "imapc");
  EXPECT_EQ(paths(list), Words{a});
  EXPECT_TRUE(list.problems.empty());
}

TEST(Inputs, LinksToFoldersAreFollowedWithoutEnd) {
  const TempDir dir;
  dir.write("m/a.xml", "");
  dir.write("far/b.xml", "");
  fs::create_directory_symlink(dir.path("m"), dir.path("m/loop"));
  fs::create_directory_symlink(dir.path("far"), dir.path("m/near"));
  fs::create_symlink(dir.path("nothing"), dir.path("m/broken.xml"));
  const InputList list = find_inputs(Words{dir.path("m")}, kXmlOnly, "imapc");
  EXPECT_EQ(paths(list), (Words{dir.path("m/a.xml"), dir.path("m/near/b.xml")}));
}

TEST(Inputs, CLI1_PatternsThatTheShellLeftAreExpanded) {
  const TempDir dir;
  for (const char* const name : {"x/b1.xml", "x/a2.xml", "x/deep/er/c3.xml", "x/.hidden.xml", "y/d4.xml"})
    dir.write(name, "");
  const auto found = [&](const std::string& pattern) {
    Words out;
    for (const InputFile& file : find_inputs(Words{dir.path(pattern)}, kXmlOnly, "imapc").files)
      out.push_back(fs::path(file.path).lexically_relative(dir.path()).string());
    return out;
  };
  EXPECT_EQ(found("x/*.xml"), (Words{"x/a2.xml", "x/b1.xml"}));
  EXPECT_EQ(found("?/[a-b]?.xml"), (Words{"x/a2.xml", "x/b1.xml"}));
  EXPECT_EQ(found("**/*.xml"), (Words{"x/a2.xml", "x/b1.xml", "x/deep/er/c3.xml", "y/d4.xml"}));
  EXPECT_EQ(found("x/**/c3.xml"), (Words{"x/deep/er/c3.xml"}));
  EXPECT_EQ(found("x/deep/**"), (Words{"x/deep/er/c3.xml"}));
}

TEST(Inputs, CLI1_APatternWithoutMatchIsAProblem) {
  const TempDir dir;
  const InputList list = find_inputs(Words{dir.path("*.xml")}, kXmlOnly, "imapc");
  ASSERT_EQ(list.problems.size(), 1u);
  EXPECT_NE(list.problems[0].message.find("pattern"), std::string::npos);
}

TEST(Inputs, AnExistingNameIsNoPattern) {
  const TempDir dir;
  const std::string odd = dir.write("a[1]*.xml", "");
  dir.write("a1.xml", "");
  EXPECT_EQ(paths(find_inputs(Words{odd}, kXmlOnly, "imapc")), Words{odd});
}

TEST(Inputs, PIPE2_AMissingFileIsAProblemWithTheSystemsWords) {
  const InputList list = find_inputs(Words{"/no/such/a.xml"}, kXmlOnly, "imapc");
  ASSERT_EQ(list.problems.size(), 1u);
  EXPECT_EQ(list.problems[0].path, "/no/such/a.xml");
  EXPECT_EQ(list.problems[0].message, "cannot read: No such file or directory");
}

TEST(Inputs, P046_AnyBytesAreAName) {
  const TempDir dir;
  const std::string utf8 = dir.write(
                        "donn\xC3\xA9"
                        "es/\xE6\x9D\xB1.xml",
                        ""),
                    raw = dir.write(
                        "donn\xC3\xA9"
                        "es/\xFF\xFE.xml",
                        "");
  EXPECT_EQ(paths(find_inputs(Words{dir.path("donn\xC3\xA9"
                                             "es")},
                              kXmlOnly, "imapc")),
            (Words{utf8, raw}));
}

TEST(OutputName, CLI1_DropsXmlThenTheSourcesOwnExtension) {
  EXPECT_EQ(output_name("a.ymap.xml", "imap"), "a.imap");
  EXPECT_EQ(output_name("dir.xml/a.YMAP.XML", "imap"), "dir.xml/a.imap");
  EXPECT_EQ(output_name("gameconfig.xml", "gcfg"), "gameconfig.gcfg");
  EXPECT_EQ(output_name("_manifest.ymf", "ymfm"), "_manifest.ymfm");
  EXPECT_EQ(output_name("_manifest.ymf.xml", "ymfm"), "_manifest.ymfm");
  EXPECT_EQ(output_name("a.b.ytyp.xml", "ityp"), "a.b.ityp");
  EXPECT_EQ(output_name("a.txt", "imap"), "a.txt.imap");
  EXPECT_EQ(output_name("a", "imap"), "a.imap");
  EXPECT_EQ(output_name("dir/.xml", "imap"), "dir/.xml.imap");
  EXPECT_EQ(output_name("dir/.ymap.xml", "imap"), "dir/.ymap.imap");
  EXPECT_EQ(output_name("a.imap.xml", "imap"), "a.imap");
}

TEST(OutputName, StemIsTheSameWithoutFolders) {
  EXPECT_EQ(input_stem("maps/town.ymap.xml"), "town");
  EXPECT_EQ(input_stem("town"), "town");
}

TEST(Batch, PIPE5_HoldsPairs) {
  std::vector<InputFile> files;
  std::string error;
  ASSERT_TRUE(parse_batch("list",
                          "\xEF\xBB\xBF"
                          "a b.xml\tout/a\r\n\n-\t-\n",
                          files, error))
      << error;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "a b.xml");
  EXPECT_EQ(files[0].output, "out/a");
  EXPECT_TRUE(files[1].is_stdin());
  EXPECT_EQ(files[1].output, "-");
}

TEST(Batch, CLI8_ALineThatIsNoPairIsNamed) {
  for (const char* const text : {"a\tb\nc\n", "a\tb\n\tc\n", "a\tb\nc\t\n", "a\tb\nc\td\te\n"}) {
    std::vector<InputFile> files;
    std::string error;
    EXPECT_FALSE(parse_batch("list", text, files, error));
    EXPECT_EQ(error, "list:2: a batch line is IN<TAB>OUT");
  }
}

}  // namespace
}  // namespace meridian::tools
