// SPDX-License-Identifier: MIT
#include "meridian/tools/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "meridian/tools/rule_pages.h"
#include "support/test_paths.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = MERIDIAN_SOURCE_DIR;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

TEST(Rules, AreSortedByCodeWithoutRepeats) {
  const auto rules = all_rules();
  ASSERT_EQ(rules.size(), 81u);
  for (size_t i = 1; i < rules.size(); ++i) EXPECT_LT(rules[i - 1]->code, rules[i]->code);
}

TEST(Rules, HaveNamesThatAreUniqueAndKebabCase) {
  std::set<std::string_view> names;
  for (const Rule* rule : all_rules()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    EXPECT_TRUE(std::all_of(rule->name.begin(), rule->name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '-';
    })) << rule->name;
    // -Wno-<rule> must not be readable as the rule no-<...>, and -Werror not as a rule.
    EXPECT_FALSE(rule->name.starts_with("no-") || rule->name.starts_with("error")) << rule->name;
  }
}

TEST(Rules, HaveCodesOfThreeLettersAndThreeDigits) {
  for (const Rule* rule : all_rules()) {
    ASSERT_EQ(rule->code.size(), 6u) << rule->code;
    EXPECT_TRUE(std::all_of(rule->code.begin(), rule->code.begin() + 3, is_upper)) << rule->code;
    EXPECT_TRUE(std::all_of(rule->code.begin() + 3, rule->code.end(), is_digit)) << rule->code;
    EXPECT_FALSE(rule->summary.empty()) << rule->code;
  }
}

TEST(Rules, AreFoundByCodeOrNameInAnyCase) {
  EXPECT_EQ(find_rule("XML005"), &rules::not_a_number);
  EXPECT_EQ(find_rule("xml005"), &rules::not_a_number);
  EXPECT_EQ(find_rule("not-a-number"), &rules::not_a_number);
  EXPECT_EQ(find_rule("Not-A-Number"), &rules::not_a_number);
  for (const Rule* rule : all_rules()) {
    EXPECT_EQ(find_rule(rule->code), rule);
    EXPECT_EQ(find_rule(rule->name), rule);
  }
}

// LINT-3: what users suffer from has a rule each.
TEST(Rules, CoverWhatUsersSufferFrom) {
  for (const char* code :
       {"XML001", "XML002", "XML003", "XML004", "XML005", "XML006", "XML007", "XML008", "XML009", "XML010",
        "XML011", "XML012", "XML013", "NAM001", "NAM002", "NAM003", "NAM004", "NAM005", "REF001", "REF002",
        "LOD001", "LOD003", "LOD006", "LOD007", "EXT001", "FLG001", "FLG002", "ENT002", "ARC001", "ARC002",
        "ARC004", "MLO001", "MLO003", "MLO004", "MLO005", "MLO008", "MLO009", "MLO010", "MLO013", "OCC001",
        "OCC002", "OCC003", "CAR001", "CFG001", "CFG002", "CFG003", "CFG004", "FMT001"})
    EXPECT_NE(find_rule(code), nullptr) << code;
}

TEST(Rules, AreNotFoundByPartOrByNothing) {
  EXPECT_EQ(find_rule(""), nullptr);
  EXPECT_EQ(find_rule("XML"), nullptr);
  EXPECT_EQ(find_rule("XML0055"), nullptr);
  EXPECT_EQ(find_rule("not-a-numbe"), nullptr);
}

TEST(Rules, AreAllOnButTwoThatSpeakOfLegalFiles) {
  for (const Rule* rule : all_rules())
    EXPECT_EQ(rule->on, rule != &rules::missing_element && rule != &rules::lod_size) << rule->code;
  EXPECT_EQ(rules::missing_element.severity, Severity::note);
}

// LINT-1
TEST(Rules, HaveAPageEachThatNamesThemAndShowsAnExample) {
  for (const Rule* rule : all_rules()) {
    const fs::path path = kSource / "docs/rules" / (std::string(rule->code) + ".md");
    const std::string page = contents_of(path);
    ASSERT_FALSE(page.empty()) << path;
    const std::string title = "# " + std::string(rule->code) + " " + std::string(rule->name) + "\n";
    EXPECT_TRUE(page.starts_with(title)) << path;
    EXPECT_NE(page.find("```"), std::string::npos) << path << ": no example";
  }
}

// LINT-1: --explain prints the page
TEST(Rules, HaveTheirPageBuiltIn) {
  for (const Rule* rule : all_rules())
    EXPECT_EQ(rule_page(*rule), contents_of(kSource / "docs/rules" / (std::string(rule->code) + ".md"))) << rule->code;
}

TEST(Rules, AreAllInTheIndexWithTheirSummary) {
  const std::string index = contents_of(kSource / "docs/rules/index.md");
  for (const Rule* rule : all_rules()) {
    const std::string link = "[" + std::string(rule->code) + "](" + std::string(rule->code) + ".md) | ";
    EXPECT_NE(index.find(link + std::string(rule->name)), std::string::npos) << rule->code;
    EXPECT_NE(index.find(rule->summary), std::string::npos) << rule->code;
  }
}

TEST(Rules, HaveNoPageLeftOver) {
  for (const auto& entry : fs::directory_iterator(kSource / "docs/rules")) {
    const std::string stem = entry.path().stem().string();
    EXPECT_TRUE(stem == "index" || find_rule(stem) != nullptr) << entry.path();
  }
}

// LINT-1
TEST(Rules, HaveAGoldenCaseEach) {
  const fs::path golden = kSource / "tests/golden";
  ASSERT_TRUE(fs::is_directory(golden)) << golden;
  std::set<std::string> cases;
  for (const auto& tool : fs::directory_iterator(golden)) {
    if (!tool.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(tool)) cases.insert(entry.path().filename().string());
  }
  for (const Rule* rule : all_rules()) {
    // These are about the command line, the machine and the tool; other tests bring them about.
    if (rule == &rules::usage_error || rule == &rules::environment_error || rule == &rules::internal_error) continue;
    // These need several maps at once, which no compiler of single files has; lint_test.cpp has them.
    static const std::set<std::string_view> kWholeWorld = {"FLG002", "FLG004", "LGT002", "LOD004", "NAM004",
                                                           "NAM005", "REF002", "REF003", "REF004"};
    if (kWholeWorld.contains(rule->code)) continue;
    std::string name = "rule_" + std::string(rule->code);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    // Triggered by rule_xml009 or by variants such as rule_xml009_depth; ..._near is the case that stays silent.
    const bool triggered = std::any_of(cases.begin(), cases.end(), [&](const std::string& found) {
      return found == name || (found.starts_with(name + "_") && !found.ends_with("_near"));
    });
    EXPECT_TRUE(triggered) << "tests/golden/<tool>/" << name;
  }
}

}  // namespace
}  // namespace meridian::tools
