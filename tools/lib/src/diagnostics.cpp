// SPDX-License-Identifier: MIT
#include "meridian/tools/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "diagnostics_render.h"

namespace meridian::tools {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

auto order_of(const Finding& finding) {
  return std::tie(finding.offset, finding.rule->code, finding.message, finding.object);
}

/// Holds waivers against findings: marks what they cover, and complains of those that are no good.
/// Each waiver walks over the findings of its rule that it covers: fine for files that people write, quadratic for a
/// file of thousands of waivers that each cover it whole.
class WaiverPass {
 public:
  /// `findings` must be in order of offset.
  WaiverPass(std::span<const Finding> findings, bool whole_world)
      : findings_(findings), waived_(findings.size(), false), whole_world_(whole_world) {
    for (size_t i = 0; i < findings.size(); ++i) by_rule_[findings[i].rule].push_back(i);
    // After an error later checks did not run, so that a waiver may well have had something to hit.
    quiet_about_misses_ =
        std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
  }

  /// `own_rule`: whether to look at the names of WVR001 only, or at all others only. Complaints are WVR001 findings
  /// themselves and can be waived, so those come in a second pass over the complaints of the first.
  void run(std::span<const Waiver> waivers, bool own_rule) {
    for (const Waiver& waiver : waivers) run_one(waiver, own_rule);
  }

  bool is_waived(size_t index) const { return waived_[index]; }
  std::vector<Finding> take_complaints() { return std::move(complaints_); }

 private:
  void run_one(const Waiver& waiver, bool own_rule) {
    const size_t colon = waiver.text.find(':');
    const std::string_view names = trimmed(waiver.text.substr(0, colon));
    const bool has_reason = colon != std::string_view::npos && !trimmed(waiver.text.substr(colon + 1)).empty();
    if (names.empty() || !has_reason) {
      // A waiver without a reason waives nothing: else nobody would ever give one.
      if (own_rule) return;
      complain(waiver, names.empty() ? "this waiver names no rule; write 'lint-ok rule: reason'"
                                     : "this waiver of " + std::string(names) +
                                           " gives no reason and waives nothing; write 'lint-ok rule: reason'");
      return;
    }
    for (size_t at = 0; at <= names.size();) {
      const size_t comma = std::min(names.find(',', at), names.size());
      const std::string_view name = trimmed(names.substr(at, comma - at));
      at = comma + 1;
      const Rule* rule = find_rule(name);
      if ((rule == &rules::bad_waiver) != own_rule) continue;
      if (rule == nullptr)
        complain(waiver, "this waiver names '" + std::string(name) + "', which is no rule");
      else
        waive(waiver, *rule);
    }
  }

  void waive(const Waiver& waiver, const Rule& rule) {
    const auto found = by_rule_.find(&rule);
    const Finding* first_error = nullptr;
    bool hit = false;
    if (found != by_rule_.end()) {
      const std::vector<size_t>& indices = found->second;
      auto at = std::lower_bound(indices.begin(), indices.end(), waiver.begin,
                                 [&](size_t index, size_t offset) { return findings_[index].offset < offset; });
      for (; at != indices.end() && findings_[*at].offset < waiver.end; ++at) {
        hit = true;
        if (findings_[*at].severity != Severity::error)
          waived_[*at] = true;
        else if (first_error == nullptr)
          first_error = &findings_[*at];
      }
    }
    const std::string label = std::string(rule.code) + " " + std::string(rule.name);
    if (first_error != nullptr)
      complain(waiver, "an error can't be waived (" + label + ")").related = {{first_error->offset, "the error"}};
    else if (!hit && !quiet_about_misses_ && (whole_world_ || !rule.looks_around))
      complain(waiver, "this waiver of " + label + " hits nothing");
  }

  Finding& complain(const Waiver& waiver, std::string message) {
    Finding& finding = complaints_.emplace_back();
    finding.rule = &rules::bad_waiver;
    finding.severity = rules::bad_waiver.severity;
    finding.offset = waiver.offset;
    finding.message = std::move(message);
    return finding;
  }

  std::span<const Finding> findings_;
  std::vector<bool> waived_;
  std::map<const Rule*, std::vector<size_t>> by_rule_;
  std::vector<Finding> complaints_;
  bool quiet_about_misses_ = false, whole_world_ = false;
};

void remove_waived(std::vector<Finding>& findings, const WaiverPass& pass) {
  size_t kept = 0;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (pass.is_waived(i)) continue;
    if (kept != i) findings[kept] = std::move(findings[i]);
    ++kept;
  }
  findings.resize(kept);
}

void apply_waivers(std::vector<Finding>& findings, std::span<const Waiver> waivers, bool whole_world) {
  // With a placeholder left in the text nothing but placeholders is reported.
  if (std::any_of(findings.begin(), findings.end(),
                  [](const Finding& f) { return f.rule == &rules::unfilled_placeholder; }))
    return;
  WaiverPass pass(findings, whole_world);
  pass.run(waivers, /*own_rule=*/false);
  std::vector<Finding> complaints = pass.take_complaints();
  remove_waived(findings, pass);

  std::stable_sort(complaints.begin(), complaints.end(),
                   [](const Finding& a, const Finding& b) { return a.offset < b.offset; });
  WaiverPass own_pass(complaints, whole_world);
  own_pass.run(waivers, /*own_rule=*/true);
  std::vector<Finding> final_complaints = own_pass.take_complaints();
  remove_waived(complaints, own_pass);
  std::move(complaints.begin(), complaints.end(), std::back_inserter(findings));
  std::move(final_complaints.begin(), final_complaints.end(), std::back_inserter(findings));
}

/// Columns in UTF-16 code units. Remembers how far it has counted, so that many findings in one long line (a file
/// without line breaks) do not count it from its start each time.
class Utf16Column {
 public:
  explicit Utf16Column(std::string_view text) : text_(text) {}

  uint32_t at(size_t offset, LineColumn place) {
    offset = std::min(offset, text_.size());
    const size_t line_start = offset - (place.column - 1);
    if (line_start != line_start_ || offset < counted_to_) {
      line_start_ = counted_to_ = line_start;
      units_ = 0;
    }
    for (; counted_to_ < offset; ++counted_to_) {
      const auto byte = static_cast<unsigned char>(text_[counted_to_]);
      if ((byte & 0xC0u) != 0x80u) units_ += byte >= 0xF0 ? 2 : 1;
    }
    return units_ + 1;
  }

 private:
  std::string_view text_;
  size_t line_start_ = 0, counted_to_ = 0;
  uint32_t units_ = 0;
};

auto identity_of(const Diagnostic& d) { return std::tie(d.file, d.line, d.column, d.rule->code, d.message, d.object); }

bool same_related(const RelatedPlace& a, const RelatedPlace& b) {
  return std::tie(a.file, a.line, a.column, a.message) == std::tie(b.file, b.line, b.column, b.message);
}

bool same_diagnostic(const Diagnostic& a, const Diagnostic& b) {
  return identity_of(a) == identity_of(b) && a.severity == b.severity &&
         std::equal(a.related.begin(), a.related.end(), b.related.begin(), b.related.end(), same_related);
}

}  // namespace

bool DiagnosticPolicy::apply(std::string_view spec) {
  if (spec == "error") {
    all_errors_ = true;
    return true;
  }
  const bool as_error = spec.starts_with("error=");
  const bool off = spec.starts_with("no-");
  const Rule* rule = find_rule(spec.substr(as_error ? 6 : off ? 3 : 0));
  if (rule == nullptr) return false;
  switched_[rule] = !off;
  if (as_error) errors_.insert(rule);
  if (off) errors_.erase(rule);
  return true;
}

std::optional<Severity> DiagnosticPolicy::severity_of(const Rule& rule, Severity found) const {
  if (found == Severity::error) return found;
  const auto switched = switched_.find(&rule);
  const auto configured = switched == switched_.end() ? configured_.find(&rule) : configured_.end();
  const bool is_configured = configured != configured_.end();
  const bool is_on = switched != switched_.end() ? switched->second
                     : is_configured             ? configured->second.has_value()
                                                 : rule.on;
  if (!is_on) return std::nullopt;
  if (is_configured && (found == Severity::warning || rule.severity == Severity::note)) found = *configured->second;
  if (found == Severity::error) return found;
  // A note of a rule that mostly warns stays a note; a rule that only ever notes is an error where it's asked for.
  if (errors_.contains(&rule) && (found == Severity::warning || rule.severity == Severity::note))
    return Severity::error;
  if (found == Severity::note) return found;
  if (all_errors_) return Severity::error;
  if (strict_ && (&rule == &rules::unknown_name || &rule == &rules::unknown_type)) return Severity::error;
  return found;
}

std::vector<Diagnostic> resolve(const SourceText& source, std::vector<Finding> findings,
                                std::span<const Waiver> waivers, const DiagnosticPolicy& policy, bool whole_world) {
  if (findings.empty() && waivers.empty()) return {};  // the usual case builds no line table
  const auto in_order = [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); };
  std::stable_sort(findings.begin(), findings.end(), in_order);
  if (!waivers.empty()) {
    apply_waivers(findings, waivers, whole_world);
    std::stable_sort(findings.begin(), findings.end(), in_order);
  }

  std::vector<Diagnostic> diagnostics;
  Utf16Column columns(source.text()), related_columns(source.text());
  for (Finding& finding : findings) {
    const std::optional<Severity> severity = policy.severity_of(*finding.rule, finding.severity);
    if (!severity) continue;
    const LineColumn place = source.place_of(finding.offset);
    Diagnostic& d = diagnostics.emplace_back();
    d.rule = finding.rule;
    d.severity = *severity;
    d.message = std::move(finding.message);
    d.object = std::move(finding.object);
    d.file = source.path();
    d.line = place.line;
    d.column = place.column;
    d.source_line = source.line_text(place.line);
    d.utf16_column = columns.at(finding.offset, place);
    d.edits = std::move(finding.edits);
    for (Finding::Related& related : finding.related) {
      if (!related.file.empty()) {
        d.related.push_back({std::move(related.file), related.place.line, related.place.column,
                             std::move(related.message), related.utf16_column});
        continue;
      }
      const LineColumn where = source.place_of(related.offset);
      d.related.push_back({source.path(), where.line, where.column, std::move(related.message),
                           related_columns.at(related.offset, where)});
    }
    if (diagnostics.size() > 1 && same_diagnostic(diagnostics[diagnostics.size() - 2], d)) diagnostics.pop_back();
  }
  return diagnostics;
}

void DiagnosticLog::add(std::vector<Diagnostic> diagnostics) {
  diagnostics_.reserve(diagnostics_.size() + diagnostics.size());
  for (Diagnostic& diagnostic : diagnostics) add(std::move(diagnostic));
}

void DiagnosticLog::add(Diagnostic diagnostic) {
  switch (diagnostic.severity) {
    case Severity::error:
      ++errors_;
      break;
    case Severity::warning:
      ++warnings_;
      break;
    case Severity::note:
      ++notes_;
      break;
  }
  diagnostics_.push_back(std::move(diagnostic));
}

std::string DiagnosticLog::render(const DiagnosticOptions& options) const {
  std::vector<const Diagnostic*> sorted;
  sorted.reserve(diagnostics_.size());
  for (const Diagnostic& diagnostic : diagnostics_) sorted.push_back(&diagnostic);
  // A full order, so that the order of adding (threads) never shows.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagnostic* a, const Diagnostic* b) { return identity_of(*a) < identity_of(*b); });

  DiagnosticReport report;
  report.diagnostics = sorted;
  report.failed.assign(failed_.begin(), failed_.end());
  report.unchanged.assign(unchanged_.begin(), unchanged_.end());
  for (const Skipped& skipped : skipped_) report.skipped.push_back({skipped.input, skipped.needs});
  std::sort(report.failed.begin(), report.failed.end());
  std::sort(report.unchanged.begin(), report.unchanged.end());
  std::sort(report.skipped.begin(), report.skipped.end(),
            [](const auto& a, const auto& b) { return std::tie(a.input, a.needs) < std::tie(b.input, b.needs); });
  report.errors = errors_;
  report.warnings = warnings_;
  report.notes = notes_;

  switch (options.format) {
    case DiagnosticFormat::json:
      return render_json(report, options);
    case DiagnosticFormat::sarif:
      return render_sarif(report, options);
    case DiagnosticFormat::text:
      break;
  }
  return render_text(report, options);
}

std::string_view severity_word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

}  // namespace meridian::tools
