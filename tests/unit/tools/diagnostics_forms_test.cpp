// SPDX-License-Identifier: MIT
/// Text, JSON and SARIF, and that all three hold the same.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "diagnostic_makers.h"
#include "json_checker.h"
#include "meridian/tools/diagnostics.h"

namespace meridian::tools {
namespace {

using test::Json;
using test::JsonReader;

std::string rendered(const DiagnosticLog& log, DiagnosticFormat format = DiagnosticFormat::text) {
  DiagnosticOptions options;
  options.format = format;
  options.tool = "imapc";
  options.tool_version = "1.0";
  return log.render(options);
}

Json parsed(const DiagnosticLog& log, DiagnosticFormat format) {
  const std::string text = rendered(log, format);
  const auto json = JsonReader::read(text);
  EXPECT_TRUE(json.has_value()) << text;
  return json.value_or(Json{});
}

// ---- text (CLI-3) ----

TEST(DiagnosticText, IsEmptyWhenThereIsNothingToSay) { EXPECT_EQ(rendered(DiagnosticLog()), ""); }

TEST(DiagnosticText, ShowsPlaceObjectRuleAndACaretUnderTheColumn) {
  const auto source = text_of("<a>\n    <lodDst value=\"50\"/>\n</a>");
  Finding f = finding(rules::unknown_name, 9, "unknown 'lodDst' (did you mean 'lodDist'?)");
  f.object = "entity 0";
  f.related.push_back({1, "in this"});
  DiagnosticLog log;
  log.add(resolve(*source, {f}, {}, {}));
  EXPECT_EQ(rendered(log),
            "qa.ymap.xml:2:6: warning: entity 0: unknown 'lodDst' (did you mean 'lodDist'?) [XML002 unknown-name]\n"
            "    <lodDst value=\"50\"/>\n"
            "     ^\n"
            "qa.ymap.xml:1:2: note: in this\n"
            "1 warning\n");
}

TEST(DiagnosticText, PutsTheCaretRightBehindTabsAndLongCharacters) {
  DiagnosticLog log;
  log.add(resolve(*text_of("\t<\xE2\x82\xAC\tx/>"), {finding(rules::unknown_name, 6)}, {}, {}));
  EXPECT_EQ(rendered(log),
            "qa.ymap.xml:1:7: warning: m [XML002 unknown-name]\n    <\xE2\x82\xAC\tx/>\n      \t^\n1 warning\n");
}

TEST(DiagnosticText, ShowsTheNeighbourhoodInALongLine) {
  DiagnosticLog log;
  log.add(resolve(*text_of(std::string(200, 'a') + "X" + std::string(199, 'b')), {finding(rules::unknown_name, 200)},
                  {}, {}));
  EXPECT_EQ(rendered(log), "qa.ymap.xml:1:201: warning: m [XML002 unknown-name]\n    ..." + std::string(60, 'a') + "X" +
                               std::string(59, 'b') + "...\n       " + std::string(60, ' ') + "^\n1 warning\n");
}

TEST(DiagnosticText, ShowsNoLineThatDoesNotHelp) {
  const std::string expected = ": error: m [XML001 malformed-xml]\n1 error\n";
  const std::string blank = "  ", binary("RSC7\0\x02z", 7), far(1000, 'x');
  for (const auto& [text, offset, place] : {std::tuple{blank, 2u, "1:3"}, {binary, 0u, "1:1"}, {far, 900u, "1:901"}}) {
    DiagnosticLog log;
    log.add(resolve(*text_of(text), {finding(rules::malformed_xml, offset)}, {}, {}));
    EXPECT_EQ(rendered(log), kFile + ":" + place + expected);
  }
}

TEST(DiagnosticText, NamesTheToolWhereThereIsNoFile) {
  DiagnosticLog log;
  log.add(diagnostic(rules::usage_error, "", 0, "unknown option '--extnets'"));
  log.add(diagnostic(rules::environment_error, "/no/qa.imap", 0, "No such file or directory"));
  EXPECT_EQ(rendered(log),
            "imapc: error: unknown option '--extnets' [USE001 usage-error]\n"
            "/no/qa.imap: error: No such file or directory [ENV001 environment-error]\n"
            "2 errors\n");
}

TEST(DiagnosticText, IsColouredOnlyOnRequest) {
  DiagnosticLog log;
  log.add(diagnostic(rules::not_a_number, kFile, 1));
  EXPECT_EQ(rendered(log).find('\x1b'), std::string::npos);
  DiagnosticOptions options;
  options.color = true;
  EXPECT_NE(log.render(options).find("\x1b[1;31merror: \x1b[0m"), std::string::npos);
}

TEST(DiagnosticText, LetsNothingFromTheInputBreakALineOrReachTheTerminal) {
  DiagnosticLog log;
  log.add(diagnostic(rules::not_a_number, "qa\n.xml", 1, "'\x1b[31m\r\n' is not a number"));
  EXPECT_EQ(rendered(log),
            "qa\\n.xml:1:1: error: '\\x1b[31m\\x0d\\n' is not a number [XML005 not-a-number]\n1 error\n");
}

TEST(DiagnosticText, SortsByFileThenLineWhateverTheOrderOfAdding) {
  DiagnosticLog a, b;
  const Diagnostic items[] = {diagnostic(rules::not_a_number, "b.xml", 1), diagnostic(rules::unknown_name, "a.xml", 9),
                              diagnostic(rules::not_a_number, "a.xml", 10)};
  for (int i = 0; i < 3; ++i) a.add(items[i]);
  for (int i = 2; i >= 0; --i) b.add(items[i]);
  EXPECT_EQ(rendered(a),
            "a.xml:9:1: warning: m [XML002 unknown-name]\na.xml:10:1: error: m [XML005 not-a-number]\n"
            "b.xml:1:1: error: m [XML005 not-a-number]\n2 errors, 1 warning\n");
  EXPECT_EQ(rendered(a), rendered(b));
}

TEST(DiagnosticText, FoldsManyOfOneKindInOneFile) {
  DiagnosticLog log;
  for (uint32_t line = 1; line <= 8; ++line) log.add(diagnostic(rules::unknown_name, "a.xml", line));
  for (uint32_t line = 1; line <= 5; ++line) log.add(diagnostic(rules::unknown_name, "b.xml", line));
  log.add(diagnostic(rules::not_a_number, "a.xml", 9));
  std::string expected;
  for (const char* line : {"1", "2", "3", "4", "5"})
    expected += "a.xml:" + std::string(line) + ":1: warning: m [XML002 unknown-name]\n";
  expected += "a.xml:9:1: error: m [XML005 not-a-number]\na.xml: warning: ... and 3 more [XML002 unknown-name]\n";
  for (const char* line : {"1", "2", "3", "4", "5"})
    expected += "b.xml:" + std::string(line) + ":1: warning: m [XML002 unknown-name]\n";
  EXPECT_EQ(rendered(log), expected + "1 error, 13 warnings (3 not shown; --all shows them)\n");
}

TEST(DiagnosticText, NeverFoldsAnErrorAmongWarningsOfItsRule) {
  DiagnosticLog log;
  for (uint32_t line = 1; line <= 7; ++line) log.add(diagnostic(rules::not_an_integer, kFile, line));
  Diagnostic error = diagnostic(rules::not_an_integer, kFile, 8, "has a fraction");
  error.severity = Severity::error;
  log.add(error);
  EXPECT_NE(rendered(log).find("qa.ymap.xml:8:1: error: has a fraction"), std::string::npos);
}

TEST(DiagnosticText, ShowsAllOnRequest) {
  DiagnosticLog log;
  for (uint32_t line = 1; line <= 8; ++line) log.add(diagnostic(rules::unknown_name, "a.xml", line));
  DiagnosticOptions options;
  options.show_all = true;
  const std::string text = log.render(options);
  EXPECT_NE(text.find("a.xml:8:1: "), std::string::npos);
  EXPECT_EQ(text.find("more"), std::string::npos);
}

TEST(DiagnosticText, StopsAfterTheGivenNumberOfErrors) {
  DiagnosticLog log;
  log.add(diagnostic(rules::unknown_name, "a.xml", 1));
  for (uint32_t line = 2; line <= 4; ++line) log.add(diagnostic(rules::not_a_number, "a.xml", line));
  log.add_failed("a.xml");
  DiagnosticOptions options;
  options.max_errors = 2;
  EXPECT_EQ(log.render(options),
            "a.xml:1:1: warning: m [XML002 unknown-name]\na.xml:2:1: error: m [XML005 not-a-number]\n"
            "a.xml:3:1: error: m [XML005 not-a-number]\nstopped after 2 errors; 1 more not shown (--max-errors)\n"
            "failed: a.xml\n3 errors, 1 warning\n");
  options.max_errors = 3;  // nothing is left out, so nothing is said
  EXPECT_EQ(log.render(options).find("stopped"), std::string::npos);
}

// P053
TEST(DiagnosticText, EndsWithWhatFailedAndWhatWasSkippedForIt) {
  DiagnosticLog log;
  log.add(diagnostic(rules::malformed_xml, "T1.ytyp.xml", 3));
  log.add_skipped("m2", "T1");
  log.add_skipped("m1", "T1");
  log.add_failed("T1");
  EXPECT_EQ(rendered(log),
            "T1.ytyp.xml:3:1: error: m [XML001 malformed-xml]\n"
            "failed: T1\nskipped: m1 (needs T1)\nskipped: m2 (needs T1)\n1 error\n");
}

TEST(DiagnosticText, NamesUnchangedOutputsInOneLine) {
  DiagnosticLog log;
  log.add_unchanged("b.imap");
  log.add_unchanged("a.imap");
  EXPECT_EQ(rendered(log), "unchanged: a.imap, b.imap\n");
  for (const char* output : {"c", "d", "e", "f", "g"}) log.add_unchanged(output);
  EXPECT_EQ(rendered(log), "unchanged: a.imap, b.imap, c, d, e and 2 more\n");
}

TEST(DiagnosticText, CountsNotesToo) {
  DiagnosticLog log;
  log.add(diagnostic(rules::not_a_number, kFile, 1));
  log.add(diagnostic(rules::missing_element, kFile, 2));
  EXPECT_NE(rendered(log).find("\n1 error, 1 note\n"), std::string::npos);
}

// ---- JSON (CLI-3, P054) ----

TEST(DiagnosticJson, IsTheWholeDocumentKeyByKey) {
  DiagnosticLog log;
  Diagnostic d = diagnostic(rules::not_a_number, kFile, 12, "'12,5' is not a number");
  d.object = "entity 1";
  d.related.push_back({"T1.ytyp.xml", 3, 6, "defined here"});
  log.add(d);
  log.add_failed(kFile);
  log.add_skipped("m1", "T1");
  log.add_unchanged("a.imap");
  EXPECT_EQ(rendered(log, DiagnosticFormat::json), R"({
  "version": 1,
  "tool": "imapc",
  "diagnostics": [
    {
      "rule": "XML005",
      "name": "not-a-number",
      "severity": "error",
      "message": "'12,5' is not a number",
      "file": "qa.ymap.xml",
      "line": 12,
      "column": 1,
      "object": "entity 1",
      "related": [
        {
          "file": "T1.ytyp.xml",
          "line": 3,
          "column": 6,
          "message": "defined here"
        }
      ]
    }
  ],
  "summary": {
    "errors": 1,
    "warnings": 0,
    "notes": 0,
    "failed": [
      "qa.ymap.xml"
    ],
    "skipped": [
      {
        "input": "m1",
        "needs": "T1"
      }
    ],
    "unchanged": [
      "a.imap"
    ]
  }
}
)");
}

TEST(DiagnosticJson, IsADocumentEvenWhenThereIsNothingToSay) {
  const Json json = parsed(DiagnosticLog(), DiagnosticFormat::json);
  EXPECT_EQ(json.keys(), "version,tool,diagnostics,summary");
  EXPECT_EQ(json["diagnostics"].size(), 0u);
  EXPECT_EQ(json["summary"].keys(), "errors,warnings,notes,failed,skipped,unchanged");
}

TEST(DiagnosticJson, NeverFoldsAndIgnoresMaxErrors) {
  DiagnosticLog log;
  for (uint32_t line = 1; line <= 100; ++line) log.add(diagnostic(rules::not_a_number, kFile, line));
  for (const DiagnosticFormat format : {DiagnosticFormat::json, DiagnosticFormat::sarif}) {
    DiagnosticOptions options;
    options.format = format;
    options.max_errors = 3;
    const auto json = JsonReader::read(log.render(options));
    ASSERT_TRUE(json.has_value());
    EXPECT_EQ(format == DiagnosticFormat::json ? (*json)["diagnostics"].size() : (*json)["runs"][0]["results"].size(),
              100u);
  }
}

TEST(DiagnosticJson, StaysValidWhenPathsAreNoUtf8) {
  DiagnosticLog log;
  log.add(diagnostic(rules::not_a_number, "qa\xFF\xC3.xml", 1));
  log.add_failed("qa\xFF\xC3.xml");
  const Json json = parsed(log, DiagnosticFormat::json);
  EXPECT_EQ(json["diagnostics"][0]["file"].text, "qa<U+fffd><U+fffd>.xml");
  const Json sarif = parsed(log, DiagnosticFormat::sarif);
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].text,
            "qa%FF%C3.xml");
}

// ---- SARIF 2.1.0 (CLI-3, P054) ----

TEST(DiagnosticSarif, HasToolRulesAndResults) {
  DiagnosticLog log;
  log.add(diagnostic(rules::unknown_name, "a.xml", 2));
  Diagnostic d = diagnostic(rules::empty_hours, "a.xml", 4, "visible at no hour");
  d.object = "archetype 3";
  d.related.push_back({"b.xml", 7, 8, "like this"});
  log.add(d);
  const Json json = parsed(log, DiagnosticFormat::sarif);
  EXPECT_EQ(json["version"].text, "2.1.0");
  const Json& run = json["runs"][0];
  EXPECT_EQ(run["columnKind"].text, "utf16CodeUnits");
  const Json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"].text, "imapc");
  EXPECT_EQ(driver["version"].text, "1.0");
  ASSERT_EQ(driver["rules"].size(), 2u);  // those that are used, by code
  EXPECT_EQ(driver["rules"][0]["id"].text, "ARC004");
  EXPECT_EQ(driver["rules"][1]["id"].text, "XML002");
  EXPECT_EQ(driver["rules"][1]["name"].text, "unknown-name");
  EXPECT_EQ(driver["rules"][1]["defaultConfiguration"]["level"].text, "warning");

  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][0]["ruleId"].text, "XML002");
  EXPECT_EQ(run["results"][0]["ruleIndex"].text, "1");
  const Json& result = run["results"][1];
  EXPECT_EQ(result["ruleIndex"].text, "0");
  EXPECT_EQ(result["level"].text, "warning");
  EXPECT_EQ(result["message"]["text"].text, "archetype 3: visible at no hour");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"].text, "a.xml");
  EXPECT_EQ(place["region"].keys(), "startLine,startColumn");
  EXPECT_EQ(place["region"]["startLine"].text, "4");
  const Json& related = result["relatedLocations"][0];
  EXPECT_EQ(related["message"]["text"].text, "like this");
  EXPECT_EQ(related["physicalLocation"]["region"]["startColumn"].text, "8");
}

TEST(DiagnosticSarif, CountsColumnsInUtf16CodeUnits) {
  // 3 bytes and 1 unit; then 4 bytes and 2 units: the x is at byte column 8 and unit column 4.
  const std::string line = "\xE2\x82\xAC\xF0\x9F\x98\x80x";
  Finding f = finding(rules::unknown_name, 7);
  f.related.push_back({3, "emoji"});
  DiagnosticLog log;
  log.add(resolve(*text_of(line), {f, finding(rules::unknown_name, 3)}, {}, {}));
  Diagnostic by_hand = diagnostic(rules::unknown_name, "z.xml", 1);  // not from resolve(): only the line to go by
  by_hand.column = 8;
  by_hand.source_line = line;
  log.add(by_hand);
  const Json json = parsed(log, DiagnosticFormat::sarif);
  const Json& results = json["runs"][0]["results"];
  const auto column = [](const Json& location) { return location["physicalLocation"]["region"]["startColumn"].text; };
  EXPECT_EQ(column(results[0]["locations"][0]), "2");
  EXPECT_EQ(column(results[1]["locations"][0]), "4");
  EXPECT_EQ(column(results[1]["relatedLocations"][0]), "2");
  EXPECT_EQ(column(results[2]["locations"][0]), "4");
}

TEST(DiagnosticSarif, CountsUtf16ColumnsFarIntoALongLine) {
  std::string line;
  for (int i = 0; i < 1000; ++i) line += "\xC3\xA9";  // 2 bytes, 1 unit each
  DiagnosticLog log;
  log.add(resolve(*text_of("\n" + line), {finding(rules::unknown_name, 1 + 1990), finding(rules::unknown_name, 1 + 10)},
                  {}, {}));
  const Json json = parsed(log, DiagnosticFormat::sarif);
  const Json& results = json["runs"][0]["results"];
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startColumn"].text, "6");
  EXPECT_EQ(results[1]["locations"][0]["physicalLocation"]["region"]["startColumn"].text, "996");
}

TEST(DiagnosticSarif, EncodesPathsAsUris) {
  const auto uri = [](const std::string& path) {
    DiagnosticLog log;
    log.add(diagnostic(rules::not_a_number, path, 1));
    const Json json = parsed(log, DiagnosticFormat::sarif);
    return json["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].text;
  };
  EXPECT_EQ(uri("maps/qa.xml"), "maps/qa.xml");
  EXPECT_EQ(uri("../a b/c:d#e%f.xml"), "../a%20b/c%3Ad%23e%25f.xml");
  EXPECT_EQ(uri("donn\xC3\xA9\x65s.xml"), "donn%C3%A9es.xml");
  EXPECT_EQ(uri("/srv/qa.xml"), "file:///srv/qa.xml");
}

TEST(DiagnosticSarif, LeavesOutPlacesThatDoNotExist) {
  DiagnosticLog log;
  log.add(diagnostic(rules::usage_error, "", 0));
  log.add(diagnostic(rules::environment_error, "qa.imap", 0));
  const Json json = parsed(log, DiagnosticFormat::sarif);
  const Json& results = json["runs"][0]["results"];
  EXPECT_FALSE(results[0].has("locations"));
  EXPECT_TRUE(results[1]["locations"][0]["physicalLocation"].has("artifactLocation"));
  EXPECT_FALSE(results[1]["locations"][0]["physicalLocation"].has("region"));
}

// ---- the same set in each form (CLI-3, P054) ----

TEST(DiagnosticForms, HoldTheSameSetInTheSameOrder) {
  DiagnosticLog log;
  log.add(diagnostic(rules::unknown_name, "b.xml", 2, "one"));
  log.add(diagnostic(rules::unknown_name, "a.xml", 3, "two"));
  log.add(diagnostic(rules::not_a_number, "a.xml", 1, "three"));
  const std::string text = rendered(log);
  const Json json = parsed(log, DiagnosticFormat::json);
  const Json sarif = parsed(log, DiagnosticFormat::sarif);
  const Json& items = json["diagnostics"];
  const Json& results = sarif["runs"][0]["results"];
  ASSERT_EQ(items.size(), 3u);
  ASSERT_EQ(results.size(), 3u);
  size_t at = 0;
  for (size_t i = 0; i < 3; ++i) {
    const std::string line = items[i]["file"].text + ":" + items[i]["line"].text + ":" + items[i]["column"].text +
                             ": " + items[i]["severity"].text + ": " + items[i]["message"].text + " [" +
                             items[i]["rule"].text + " " + items[i]["name"].text + "]\n";
    const size_t found = text.find(line, at);
    ASSERT_NE(found, std::string::npos) << line;
    at = found + line.size();
    EXPECT_EQ(results[i]["ruleId"].text, items[i]["rule"].text);
    EXPECT_EQ(results[i]["level"].text, items[i]["severity"].text);
    EXPECT_EQ(results[i]["message"]["text"].text, items[i]["message"].text);
  }
}

}  // namespace
}  // namespace meridian::tools
