// SPDX-License-Identifier: MIT
#pragma once
/// What a tool has to say about its inputs: findings with a rule and a place, filtered by -W options and waivers,
/// shown as text, JSON or SARIF. The set is the same in each form.
///
///   reader -> Finding (byte offset)  --resolve()-->  Diagnostic (line, column)  -->  DiagnosticLog -> stderr or file

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/rules.h"
#include "meridian/tools/source_text.h"

namespace meridian::tools {

/// A change to a source: the bytes [offset, offset + size) become `text`.
struct TextEdit {
  size_t offset = 0;
  size_t size = 0;
  std::string text;
};

/// Something found in a source, placed by byte offset into its SourceText.
struct Finding {
  const Rule* rule = nullptr;
  Severity severity = Severity::error;  ///< as found; the policy may change it
  size_t offset = 0;                    ///< [byte of SourceText::text()]
  std::string object;                   ///< "entity 3", "archetype 0, extension 2"; empty: none
  std::string message;                  ///< without the object; the text form puts "object: " before it
  struct Related {
    size_t offset = 0;
    std::string message;
    std::string file{};  ///< empty: the finding's own source; else another, where `place` is (line 0: unknown)
    LineColumn place{};
    uint32_t utf16_column = 0;  ///< of `place`, as in Diagnostic
  };
  std::vector<Related> related;
  std::vector<TextEdit> edits{};  ///< put it right, where one value is certain
};

/// An inline waiver `<!-- lint-ok rule[, rule]: reason -->`, as the scan found it.
struct Waiver {
  size_t offset = 0;  ///< of the comment's `<` [byte]
  size_t begin = 0;   ///< what it covers: [begin, end) [byte]
  size_t end = 0;
  std::string_view text;  ///< after "lint-ok", up to the comment's end
};

struct RelatedPlace {
  std::string file;
  uint32_t line = 0, column = 0;
  std::string message;
  uint32_t utf16_column = 0;  ///< as in Diagnostic
};

struct Diagnostic {
  const Rule* rule = nullptr;
  Severity severity = Severity::error;
  std::string message;  ///< without the object
  std::string object;
  std::string file;
  uint32_t line = 0, column = 0;  ///< 0: no place
  std::string source_line;        ///< shown under the message in text form; may be empty
  std::vector<RelatedPlace> related;
  uint32_t utf16_column = 0;  ///< the column in UTF-16 code units, for SARIF; 0: derived from source_line
  std::vector<TextEdit> edits{};
};

/// The -W options. What is said of one rule goes before what is said of all: -Wno-XML002 holds under --strict and
/// -Werror. Of two options for one rule the later wins.
class DiagnosticPolicy {
 public:
  /// `spec` is what follows -W: "XML013", "no-unknown-name", "error", "error=XML002". False: no such rule.
  bool apply(std::string_view spec);
  void set_strict(bool strict) { strict_ = strict; }  ///< XML002 and XML003 become errors
  /// What a rule is where the options say nothing of it: a project's own severities. Nothing: off. As with options,
  /// what is found as an error stays one, and a note of a rule that mostly warns stays a note.
  void configure(const Rule& rule, std::optional<Severity> severity) { configured_[&rule] = severity; }

  /// Severity to report with, or nothing where it is switched off. Errors cannot be switched off.
  std::optional<Severity> severity_of(const Rule& rule, Severity found) const;

 private:
  std::map<const Rule*, bool> switched_;
  std::map<const Rule*, std::optional<Severity>> configured_;
  std::set<const Rule*> errors_;
  bool all_errors_ = false;
  bool strict_ = false;
};

/// Turns the findings of one source into diagnostics: waivers (warnings and notes only; bad ones become WVR001),
/// then policy, then places; sorted by place, exact duplicates removed.
/// A file with errors is not told that its waivers hit nothing: what they wait for may not have been looked for. Nor,
/// without `whole_world`, of rules that look at other files too.
std::vector<Diagnostic> resolve(const SourceText& source, std::vector<Finding> findings,
                                std::span<const Waiver> waivers, const DiagnosticPolicy& policy,
                                bool whole_world = false);

enum class DiagnosticFormat { text, json, sarif };

struct DiagnosticOptions {
  DiagnosticFormat format = DiagnosticFormat::text;
  bool color = false;
  bool show_all = false;    ///< text: do not fold many of one kind in one file
  uint32_t max_errors = 0;  ///< text: stop printing after so many errors; 0: no limit
  std::string tool;         ///< "imapc"
  std::string tool_version;
};

/// Collects the diagnostics of a run and writes them, sorted by file and line, with a summary.
/// Threads: main.
class DiagnosticLog {
 public:
  void add(std::vector<Diagnostic> diagnostics);
  void add(Diagnostic diagnostic);
  void add_failed(std::string input) { failed_.push_back(std::move(input)); }
  void add_skipped(std::string input, std::string needs) { skipped_.push_back({std::move(input), std::move(needs)}); }
  void add_unchanged(std::string output) { unchanged_.push_back(std::move(output)); }

  uint32_t errors() const { return errors_; }
  uint32_t warnings() const { return warnings_; }
  uint32_t notes() const { return notes_; }

  /// The whole document: text lines and summary, one JSON object, or one SARIF log. Never fails; invalid UTF-8 in
  /// paths is escaped in JSON.
  std::string render(const DiagnosticOptions& options) const;

 private:
  struct Skipped {
    std::string input, needs;
  };
  std::vector<Diagnostic> diagnostics_;
  std::vector<std::string> failed_, unchanged_;
  std::vector<Skipped> skipped_;
  uint32_t errors_ = 0, warnings_ = 0, notes_ = 0;
};

}  // namespace meridian::tools
