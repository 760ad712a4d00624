// SPDX-License-Identifier: MIT
// Edits and differences: hand-made ones, and random ones against a naive reference and patch(1).
#include "meridian/tools/fix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "meridian/tools/source_map.h"
#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

std::string with_value(const std::string& source, std::string_view path, std::string_view text) {
  SourceMap places(source);
  return apply_edits(source, edits_for_value(places, source, path, text));
}

// --- edits for a value
// ------------------------------------------------------------------------------------------------

TEST(EditsForValue, ReplaceTheValueOnly) {
  EXPECT_EQ(with_value("<r><a  value = '1'  /></r>", "a", "22"), "<r><a  value = '22'  /></r>");
  EXPECT_EQ(with_value("<r><a>\n  1 <!-- c -->\n</a></r>", "a", "22"), "<r><a>\n  22 <!-- c -->\n</a></r>");
  EXPECT_EQ(with_value("<r><v><Item/><Item><a value=\"1\"/></Item></v></r>", "v[1].a", "2"),
            "<r><v><Item/><Item><a value=\"2\"/></Item></v></r>");
}

TEST(EditsForValue, ReplaceTheLanesThatDiffer) {
  const std::string source = "<r><p z=\"3\" x=\"1\" y=\"2.0\"/></r>";
  EXPECT_EQ(with_value(source, "p", "1 2 4"), "<r><p z=\"4\" x=\"1\" y=\"2\"/></r>");
  SourceMap places(source);
  EXPECT_EQ(edits_for_value(places, source, "p", "1 2.0 5").size(), 1u);
  EXPECT_TRUE(edits_for_value(places, source, "p", "1 2.0 3").empty());
}

TEST(EditsForValue, ReplaceAVectorThatStandsAsText) {
  EXPECT_EQ(with_value("<r><p> 1 2  3 </p></r>", "p", "4 5 6"), "<r><p> 4 5 6 </p></r>");
  const std::string same = "<r><p> 1 2  3 </p></r>";
  SourceMap places(same);
  EXPECT_TRUE(edits_for_value(places, same, "p", "1 2 3").empty());
}

TEST(EditsForValue, PutAMissingElementBehindItsSiblings) {
  EXPECT_EQ(with_value("<r>\n  <a/>\n  <b>\n  </b>\n</r>\n", "c", "1"),
            "<r>\n  <a/>\n  <b>\n  </b>\n  <c value=\"1\" />\n</r>\n");
  EXPECT_EQ(with_value("<r>\r\n\t<a/>\r\n</r>", "p", "1 2 3"),
            "<r>\r\n\t<a/>\r\n\t<p x=\"1\" y=\"2\" z=\"3\" />\r\n</r>");
  EXPECT_EQ(with_value("<r><a/><!-- c --></r>", "b", "1"), "<r><a/><b value=\"1\" /><!-- c --></r>");
  EXPECT_EQ(with_value("<r></r>", "b", "1"), "<r><b value=\"1\" /></r>");
  EXPECT_EQ(with_value("<r><a x=\">\"/></r>", "b", "1"), "<r><a x=\">\"/><b value=\"1\" /></r>");
}

TEST(EditsForValue, AreNoneWhereThereIsNoPlace) {
  for (const auto& [source, path] : {std::pair("<r/>", "a"), std::pair("<r><v/></r>", "v[0].a"),
                                     std::pair("<r><v/></r>", "w.a"), std::pair("<r><a></a></r>", "a")}) {
    SourceMap places(source);
    EXPECT_TRUE(edits_for_value(places, source, path, "1").empty()) << source << path;
  }
  const std::string two_lanes = "<r><p x=\"1\" y=\"2\"/></r>";
  SourceMap places(two_lanes);
  EXPECT_TRUE(edits_for_value(places, two_lanes, "p", "1 2 3").empty());
}

// --- applying
// ---------------------------------------------------------------------------------------------------------

TEST(ApplyEdits, TakesAnyOrder) {
  EXPECT_EQ(apply_edits("abcdef", {{4, 1, "E"}, {0, 2, ""}, {6, 0, "!"}}), "cdEf!");
  EXPECT_EQ(apply_edits("abc", {}), "abc");
  EXPECT_EQ(apply_edits("", {{0, 0, "x"}}), "x");
}

TEST(ApplyEdits, MakesOneOfEqualOnesAndLeavesOutWhatOverlaps) {
  EXPECT_EQ(apply_edits("abc", {{1, 1, "X"}, {1, 1, "X"}}), "aXc");
  EXPECT_EQ(apply_edits("abc", {{1, 0, "X"}, {1, 0, "X"}, {1, 0, "Y"}}), "aXYbc");
  EXPECT_EQ(apply_edits("abcdef", {{2, 3, "-"}, {0, 3, "+"}}), "+def");
}

// An insertion touches no bytes, so it holds whichever came first.
TEST(ApplyEdits, InsertsBeforeBytesThatAreReplaced) {
  EXPECT_EQ(apply_edits("abc", {{1, 1, "B"}, {1, 0, "<"}}), "a<Bc");
  EXPECT_EQ(apply_edits("abc", {{1, 0, "<"}, {1, 1, "B"}}), "a<Bc");
}

std::string random_lines(std::mt19937& random, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "line " + std::to_string(random() % 20) + "\n";
  if (random() % 4 == 0 && !text.empty()) text.pop_back();  // no end of the last line
  return text;
}

/// Disjoint edits, from the back to the front; `after` is the source with each done by std::string.
std::vector<TextEdit> random_edits(std::mt19937& random, const std::string& source, std::string& after) {
  std::vector<TextEdit> edits;
  after = source;
  for (size_t end = source.size();;) {
    const size_t begin = end - std::min<size_t>(end, 1 + random() % 60);
    const size_t size = std::min<size_t>(random() % 8, end - begin);
    std::string text = random() % 3 == 0 ? "" : random() % 2 == 0 ? "new" : "two\nlines\n";
    after.replace(begin, size, text);
    edits.push_back({begin, size, std::move(text)});
    if (begin <= 1) break;
    end = begin - 1;  // a byte between, so that none touches the next
  }
  std::shuffle(edits.begin(), edits.end(), random);
  return edits;
}

TEST(ApplyEdits, EqualsOneReplacementAfterTheOther) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const std::string source = random_lines(random, static_cast<int>(random() % 40));
    std::string after;
    const std::vector<TextEdit> edits = random_edits(random, source, after);
    ASSERT_EQ(apply_edits(source, edits), after) << "seed " << seed;
  }
}

// --- differences
// ------------------------------------------------------------------------------------------------------

TEST(UnifiedDiff, IsEmptyForEqualTexts) {
  EXPECT_EQ(unified_diff("f", "", ""), "");
  EXPECT_EQ(unified_diff("f", "a\nb", "a\nb"), "");
}

TEST(UnifiedDiff, ShowsThreeLinesAround) {
  EXPECT_EQ(unified_diff("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, JoinsHunksThatMeet) {
  std::string before, after;
  for (int i = 1; i <= 20; ++i) {
    before += std::to_string(i) + "\n";
    after += i == 3 || i == 10 || i == 18 ? "x\n" : std::to_string(i) + "\n";
  }
  const std::string diff = unified_diff("f", before, after);
  // Between lines 3 and 10 are 6 lines: one hunk. Between 10 and 18 are 7: two.
  EXPECT_NE(diff.find("@@ -1,13 +1,13 @@\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -15,6 +15,6 @@\n"), std::string::npos) << diff;
}

TEST(UnifiedDiff, SaysWhereTheLastLineHasNoEnd) {
  EXPECT_EQ(unified_diff("f", "a", "b"),
            "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
}

// patch(1) is the judge of what a difference means.
TEST(UnifiedDiff, IsWhatPatchTakes) {
  if (std::system("patch --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "patch is not installed";
  const test::TempDir dir;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const std::string before = random_lines(random, 1 + static_cast<int>(random() % 200));
    std::string after;
    random_edits(random, before, after);
    const std::string file = dir.write("text", before);
    const std::string diff = unified_diff("text", before, after);
    ASSERT_EQ(diff.empty(), before == after) << "seed " << seed;
    if (diff.empty()) continue;
    const std::string patch = dir.write("diff", diff);
    const std::string command =
        "patch --silent --force --fuzz=0 --no-backup-if-mismatch '" + file + "' '" + patch + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << "seed " << seed << "\n" << diff;
    std::ifstream in(file, std::ios::binary);
    const std::string patched{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    ASSERT_EQ(patched, after) << "seed " << seed << "\n" << diff;
  }
}

}  // namespace
}  // namespace meridian::tools
