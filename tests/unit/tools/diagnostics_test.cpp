// SPDX-License-Identifier: MIT
/// Policy, waivers, places and order. How they are shown: diagnostics_forms_test.cpp.
#include "meridian/tools/diagnostics.h"

#include <gtest/gtest.h>

#include <string>

#include "diagnostic_makers.h"

namespace meridian::tools {
namespace {

/// "2:3 warning XML002 message", one a line.
std::string listed(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    const char* word = d.severity == Severity::error ? "error" : d.severity == Severity::warning ? "warning" : "note";
    out += std::to_string(d.line) + ":" + std::to_string(d.column) + " " + word + " " + std::string(d.rule->code) +
           " " + d.message + "\n";
  }
  return out;
}

/// Resolves findings under one waiver that covers [10, 20) and stands at 0.
std::string with_waiver(std::string_view text, std::vector<Finding> findings, const DiagnosticPolicy& policy = {}) {
  const auto source = text_of(std::string(40, 'x'));
  const Waiver waiver{.offset = 0, .begin = 10, .end = 20, .text = text};
  return listed(resolve(*source, std::move(findings), {&waiver, 1}, policy));
}

// ---- policy ----

TEST(DiagnosticPolicy, LeavesSeveritiesAloneByDefault) {
  const DiagnosticPolicy policy;
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::warning);
  EXPECT_EQ(policy.severity_of(rules::not_a_number, Severity::error), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::suspicious_name, Severity::note), Severity::note);
}

TEST(DiagnosticPolicy, SwitchesARuleOnByCodeOrName) {
  for (const char* spec : {"XML013", "missing-element", "xml013"}) {
    DiagnosticPolicy policy;
    EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), std::nullopt);
    EXPECT_TRUE(policy.apply(spec));
    EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), Severity::note);
  }
}

TEST(DiagnosticPolicy, SwitchesWarningsOffButNeverErrors) {
  DiagnosticPolicy policy;
  EXPECT_TRUE(policy.apply("no-XML008"));
  EXPECT_EQ(policy.severity_of(rules::not_an_integer, Severity::warning), std::nullopt);
  EXPECT_EQ(policy.severity_of(rules::not_an_integer, Severity::error), Severity::error);
}

TEST(DiagnosticPolicy, LetsTheLaterOptionWin) {
  DiagnosticPolicy policy;
  EXPECT_TRUE(policy.apply("no-unknown-name") && policy.apply("unknown-name"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::warning);
  EXPECT_TRUE(policy.apply("error=unknown-name") && policy.apply("no-unknown-name"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), std::nullopt);
}

TEST(DiagnosticPolicy, MakesErrorsOfWarningsAndNotOfNotes) {
  DiagnosticPolicy policy;
  EXPECT_TRUE(policy.apply("error"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::suspicious_name, Severity::note), Severity::note);
  EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), std::nullopt);
}

TEST(DiagnosticPolicy, MakesErrorsOfOneRule) {
  DiagnosticPolicy policy;
  EXPECT_TRUE(policy.apply("error=XML002"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::unknown_type, Severity::warning), Severity::warning);
  // Asked for by name, a rule that only notes becomes an error; the odd note of a warning rule does not.
  EXPECT_TRUE(policy.apply("error=XML013") && policy.apply("error=NAM002"));
  EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::suspicious_name, Severity::note), Severity::note);
}

// CLI-3: --strict
TEST(DiagnosticPolicy, IsStrictAboutUnknownNamesAndTypesOnly) {
  DiagnosticPolicy policy;
  policy.set_strict(true);
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::unknown_type, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::duplicate_element, Severity::warning), Severity::warning);
  EXPECT_TRUE(policy.apply("no-XML002"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), std::nullopt);
}

TEST(DiagnosticPolicy, TakesAProjectsSeveritiesWhereOptionsSayNothing) {
  DiagnosticPolicy policy;
  policy.configure(rules::not_an_integer, Severity::error);
  policy.configure(rules::duplicate_element, Severity::note);
  policy.configure(rules::unknown_name, std::nullopt);
  policy.configure(rules::missing_element, Severity::warning);  // off, and a note, by itself
  policy.configure(rules::not_a_number, std::nullopt);
  EXPECT_EQ(policy.severity_of(rules::not_an_integer, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::duplicate_element, Severity::warning), Severity::note);
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), std::nullopt);
  EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), Severity::warning);
  EXPECT_EQ(policy.severity_of(rules::not_a_number, Severity::error), Severity::error);  // never less
  EXPECT_TRUE(policy.apply("error") && policy.apply("unknown-name") && policy.apply("no-XML008"));
  EXPECT_EQ(policy.severity_of(rules::unknown_name, Severity::warning), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::missing_element, Severity::note), Severity::error);
  EXPECT_EQ(policy.severity_of(rules::duplicate_element, Severity::warning), Severity::note);
  EXPECT_EQ(policy.severity_of(rules::not_an_integer, Severity::warning), std::nullopt);
}

TEST(DiagnosticPolicy, RefusesWhatIsNoRule) {
  DiagnosticPolicy policy;
  for (const char* spec : {"", "no-", "error=", "XML099", "no-XML099", "error=XML099", "no-error", "all"})
    EXPECT_FALSE(policy.apply(spec)) << spec;
}

// ---- places and order ----

TEST(Resolve, GivesNothingForNothing) { EXPECT_TRUE(resolve(*text_of("<a/>"), {}, {}, {}).empty()); }

TEST(Resolve, TurnsOffsetsIntoPlacesAndCopiesTheLine) {
  const auto source = text_of("<a>\n  <lodDst/>\n</a>");
  Finding f = finding(rules::unknown_name, 7);
  f.object = "entity 0";
  f.related.push_back({0, "in this"});
  const auto result = resolve(*source, {f}, {}, {});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].file, kFile);
  EXPECT_EQ(result[0].line, 2u);
  EXPECT_EQ(result[0].column, 4u);
  EXPECT_EQ(result[0].source_line, "  <lodDst/>");
  EXPECT_EQ(result[0].object, "entity 0");
  ASSERT_EQ(result[0].related.size(), 1u);
  EXPECT_EQ(result[0].related[0].file, kFile);
  EXPECT_EQ(result[0].related[0].line, 1u);
  EXPECT_EQ(result[0].related[0].column, 1u);
}

TEST(Resolve, SortsByPlaceThenRuleThenMessageAndDropsRepeats) {
  const auto source = text_of("aaaa\nbbbb\n");
  const auto result = resolve(
      *source,
      {finding(rules::not_a_number, 6, "z"), finding(rules::not_a_number, 6, "a"), finding(rules::unknown_name, 6, "q"),
       finding(rules::wrong_root, 2), finding(rules::not_a_number, 6, "z"), finding(rules::unknown_name, 5)},
      {}, {});
  EXPECT_EQ(listed(result),
            "1:3 error XML010 m\n2:1 warning XML002 m\n2:2 warning XML002 q\n2:2 error XML005 a\n2:2 error XML005 z\n");
}

TEST(Resolve, KeepsFindingsThatDifferOnlyInTheirObject) {
  Finding a = finding(rules::not_a_number, 1), b = a;
  b.object = "entity 1";
  EXPECT_EQ(resolve(*text_of("abc"), {a, b}, {}, {}).size(), 2u);
}

TEST(Resolve, AppliesThePolicy) {
  DiagnosticPolicy policy;
  policy.apply("no-XML004");
  policy.apply("error");
  const auto result = resolve(
      *text_of("abc"),
      {finding(rules::duplicate_element, 0), finding(rules::unknown_name, 1), finding(rules::missing_element, 2)}, {},
      policy);
  EXPECT_EQ(listed(result), "1:2 error XML002 m\n");
}

// ---- waivers (CLI-3) ----

TEST(Waiver, CoversItsRangeAndNoMore) {
  EXPECT_EQ(with_waiver(" XML002: our editor's ", {finding(rules::unknown_name, 9), finding(rules::unknown_name, 10),
                                                   finding(rules::unknown_name, 19), finding(rules::unknown_name, 20)}),
            "1:10 warning XML002 m\n1:21 warning XML002 m\n");
}

TEST(Waiver, TakesSeveralRulesByCodeOrName) {
  EXPECT_EQ(with_waiver(" XML002 ,\n  unknown-type: see: the wiki ",
                        {finding(rules::unknown_name, 12), finding(rules::unknown_type, 13)}),
            "");
}

TEST(Waiver, WaivesNotes) {
  Finding note = finding(rules::suspicious_name, 12);
  note.severity = Severity::note;
  EXPECT_EQ(with_waiver(" NAM002: as shipped ", {note}), "");
}

TEST(Waiver, HoldsUnderWerrorAndStrict) {
  DiagnosticPolicy policy;
  policy.apply("error");
  policy.set_strict(true);
  EXPECT_EQ(with_waiver(" XML002: our editor's ", {finding(rules::unknown_name, 12)}, policy), "");
}

TEST(Waiver, LeavesOtherRulesAlone) {
  EXPECT_EQ(with_waiver(" XML002: r ", {finding(rules::unknown_name, 12), finding(rules::unknown_type, 12)}),
            "1:13 warning XML003 m\n");
}

TEST(Waiver, CannotWaiveAnError) {
  EXPECT_EQ(with_waiver(" XML005: r ", {finding(rules::not_a_number, 12)}),
            "1:1 warning WVR001 an error can't be waived (XML005 not-a-number)\n1:13 error XML005 m\n");
  // The rule's own severity is not what counts: XML008 may be either.
  Finding inexact = finding(rules::not_an_integer, 12, "inexact");
  inexact.severity = Severity::error;
  EXPECT_EQ(with_waiver(" XML008: r ", {finding(rules::not_an_integer, 11, "exact"), inexact}),
            "1:1 warning WVR001 an error can't be waived (XML008 not-an-integer)\n1:13 error XML008 inexact\n");
}

TEST(Waiver, IsBadWhenItNamesAnUnknownRuleButKeepsTheOthers) {
  EXPECT_EQ(with_waiver(" XML02, XML003: r ", {finding(rules::unknown_type, 12)}),
            "1:1 warning WVR001 this waiver names 'XML02', which is no rule\n");
}

TEST(Waiver, WaivesNothingWithoutReason) {
  for (const char* text : {" XML002 ", " XML002: ", " XML002:\n"})
    EXPECT_EQ(with_waiver(text, {finding(rules::unknown_name, 12)}),
              "1:1 warning WVR001 this waiver of XML002 gives no reason and waives nothing; write 'lint-ok rule: "
              "reason'\n1:13 warning XML002 m\n");
}

TEST(Waiver, IsBadWhenItNamesNoRule) {
  for (const char* text : {"", " : r "})
    EXPECT_EQ(with_waiver(text, {}), "1:1 warning WVR001 this waiver names no rule; write 'lint-ok rule: reason'\n");
}

TEST(Waiver, IsBadWhenItHitsNothing) {
  const std::string complaint = "1:1 warning WVR001 this waiver of XML002 unknown-name hits nothing\n";
  EXPECT_EQ(with_waiver(" XML002: r ", {}), complaint);
  DiagnosticPolicy off;
  off.apply("no-XML002");
  EXPECT_EQ(with_waiver(" XML002: r ", {}, off), complaint);
  EXPECT_EQ(with_waiver(" XML013: r ", {}),  // off by default
            "1:1 warning WVR001 this waiver of XML013 missing-element hits nothing\n");
}

TEST(Waiver, IsNotBadWhenThePolicyHidesWhatItHits) {
  DiagnosticPolicy off;
  off.apply("no-XML002");
  EXPECT_EQ(with_waiver(" XML002: r ", {finding(rules::unknown_name, 12)}, off), "");
}

TEST(Waiver, IsNotBadWhenTheFileWasNotReadToItsEnd) {
  EXPECT_EQ(with_waiver(" XML002: r ", {finding(rules::malformed_xml, 30)}), "1:31 error XML001 m\n");
}

// READ-3: with a placeholder nothing else is reported
TEST(Waiver, IsNotSpokenOfBesidePlaceholders) {
  EXPECT_EQ(with_waiver(" XML02: r ", {finding(rules::unfilled_placeholder, 30)}), "1:31 error XML011 m\n");
}

TEST(Waiver, ComplaintsFollowThePolicyAndCanBeWaivedThemselves) {
  DiagnosticPolicy policy;
  policy.apply("no-WVR001");
  EXPECT_EQ(with_waiver(" XML002: r ", {}, policy), "");

  const auto source = text_of(std::string(40, 'x'));
  const Waiver waivers[] = {{.offset = 0, .begin = 0, .end = 40, .text = " WVR001: until the next export "},
                            {.offset = 12, .begin = 20, .end = 30, .text = " XML002: r "}};
  EXPECT_EQ(listed(resolve(*source, {}, waivers, {})), "");
  EXPECT_EQ(listed(resolve(*source, {}, {waivers, 1}, {})),
            "1:1 warning WVR001 this waiver of WVR001 bad-waiver hits nothing\n");
}

TEST(Waiver, MayLieInsideAnotherForTheSameRule) {
  const auto source = text_of(std::string(40, 'x'));
  const Waiver waivers[] = {{.offset = 0, .begin = 0, .end = 40, .text = " XML002: r "},
                            {.offset = 9, .begin = 10, .end = 20, .text = " XML002: r "}};
  EXPECT_EQ(listed(resolve(*source, {finding(rules::unknown_name, 12)}, waivers, {})), "");
}

// P042: the counts are what exit codes are made from
TEST(DiagnosticLog, CountsBySeverityAfterPolicy) {
  DiagnosticPolicy policy;
  policy.apply("error=XML002");
  Finding note = finding(rules::suspicious_name, 2);
  note.severity = Severity::note;
  DiagnosticLog log;
  log.add(
      resolve(*text_of("abc"), {finding(rules::unknown_name, 0), finding(rules::unknown_type, 1), note}, {}, policy));
  EXPECT_EQ(log.errors(), 1u);
  EXPECT_EQ(log.warnings(), 1u);
  EXPECT_EQ(log.notes(), 1u);
}

}  // namespace
}  // namespace meridian::tools
