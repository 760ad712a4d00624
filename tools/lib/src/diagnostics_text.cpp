// SPDX-License-Identifier: MIT
/// The form for people: one line for each diagnostic, in the shape that editors and CI know from compilers.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "diagnostics_render.h"

namespace meridian::tools {
namespace {

constexpr uint32_t kShownOfOneKind = 5;
constexpr size_t kExcerptBytes = 120;  ///< of a source line
constexpr std::string_view kExcerptIndent = "    ";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }

/// Text from the input must not break the line form or talk to the terminal; all else goes out byte for byte.
void append_visible(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    if (!is_control(c)) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15u];
    }
  }
}

std::string counted(uint64_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

/// Whether a line can be shown: it is not blank, and it's text (a binary file's first "line" is not).
bool is_showable(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  return !std::all_of(line.begin(), line.end(), blank) &&
         std::none_of(line.begin(), line.end(), [](char c) { return is_control(c) && c != '\t'; });
}

class TextForm {
 public:
  TextForm(const DiagnosticReport& report, const DiagnosticOptions& options) : report_(report), options_(options) {}

  std::string render() {
    for (size_t i = 0; i < report_.diagnostics.size(); ++i) {
      const Diagnostic& d = *report_.diagnostics[i];
      if (options_.max_errors != 0 && errors_shown_ == options_.max_errors) {
        // Includes what was folded away in this file before, which is why nothing is said of that apart.
        folded_.clear();
        stopped_ = true;
        break;
      }
      diagnostic(d);
      const bool last_of_file = i + 1 == report_.diagnostics.size() || report_.diagnostics[i + 1]->file != d.file;
      if (last_of_file) finish_file(d.file);
    }
    summary();
    return std::move(out_);
  }

 private:
  enum Paint : unsigned char { plain, bold, error_color, warning_color, note_color, caret_color };

  void paint(Paint paint) {
    constexpr std::array<std::string_view, 6> kCodes = {"\x1b[0m",    "\x1b[1m",    "\x1b[1;31m",
                                                        "\x1b[1;35m", "\x1b[1;36m", "\x1b[1;32m"};
    if (options_.color) out_ += kCodes[paint];
  }

  static Paint color_of(Severity severity) {
    return severity == Severity::error ? error_color : severity == Severity::warning ? warning_color : note_color;
  }

  /// "path:12:22: ", "path: ", or the tool's name where there is no file.
  void place(std::string_view file, uint32_t line, uint32_t column) {
    paint(bold);
    append_visible(out_, file.empty() ? std::string_view(options_.tool) : file);
    if (!file.empty() && line > 0) {
      out_ += ':' + std::to_string(line);
      if (column > 0) out_ += ':' + std::to_string(column);
    }
    out_ += ": ";
    paint(plain);
  }

  void diagnostic(const Diagnostic& d) {
    if (!options_.show_all) {
      // Errors and warnings of one rule are two kinds: a lone error must not vanish behind five warnings.
      uint32_t& shown = shown_[{d.rule, d.severity}];
      if (shown == kShownOfOneKind) {
        ++folded_[{d.rule->code, d.severity}].second;
        folded_[{d.rule->code, d.severity}].first = d.rule;
        return;
      }
      ++shown;
    }
    ++lines_shown_;
    if (d.severity == Severity::error) ++errors_shown_;
    place(d.file, d.line, d.column);
    severity(d.severity);
    if (!d.object.empty()) {
      append_visible(out_, d.object);
      out_ += ": ";
    }
    append_visible(out_, d.message);
    rule_label(*d.rule);
    if (d.line > 0) excerpt(d.source_line, d.column);
    for (const RelatedPlace& related : d.related) {
      place(related.file, related.line, related.column);
      severity(Severity::note);
      append_visible(out_, related.message);
      out_ += '\n';
    }
  }

  void severity(Severity severity) {
    paint(color_of(severity));
    out_ += severity_word(severity);
    out_ += ": ";
    paint(plain);
  }

  void rule_label(const Rule& rule) {
    out_ += " [";
    out_ += rule.code;
    out_ += ' ';
    out_ += rule.name;
    out_ += "]\n";
  }

  /// The source line and a caret under the column. Of a long line only the part around the column is shown.
  void excerpt(std::string_view line, uint32_t column) {
    if (column == 0 || column - 1 > line.size() || !is_showable(line)) return;
    const size_t at = column - 1;
    size_t begin = std::min(line.find_first_not_of(" \t"), at);
    if (at - begin > kExcerptBytes * 2 / 3) begin = at - kExcerptBytes / 2;
    while (begin > 0 && is_continuation(line[begin])) --begin;
    size_t end = std::min(line.size(), begin + kExcerptBytes);
    while (end < line.size() && is_continuation(line[end])) ++end;
    const bool cut = line.find_first_not_of(" \t") < begin;

    out_ += kExcerptIndent;
    if (cut) out_ += "...";
    out_ += line.substr(begin, end - begin);
    if (end < line.size()) out_ += "...";
    out_ += '\n';
    out_ += kExcerptIndent;
    if (cut) out_ += "   ";
    // A tab goes under a tab; another character takes one column however many bytes it has.
    for (const char c : line.substr(begin, at - begin))
      if (!is_continuation(c)) out_ += c == '\t' ? '\t' : ' ';
    paint(caret_color);
    out_ += '^';
    paint(plain);
    out_ += '\n';
  }

  void finish_file(std::string_view file) {
    for (const auto& [kind, folded] : folded_) {
      hidden_ += folded.second;
      place(file, 0, 0);
      severity(kind.second);
      out_ += "... and " + std::to_string(folded.second) + " more";
      rule_label(*folded.first);
    }
    folded_.clear();
    shown_.clear();
  }

  void summary() {
    if (stopped_) {
      out_ += "stopped after " + counted(errors_shown_, "error") + "; " +
              std::to_string(report_.diagnostics.size() - lines_shown_) + " more not shown (--max-errors)\n";
    }
    for (const std::string_view input : report_.failed) {
      out_ += "failed: ";
      append_visible(out_, input);
      out_ += '\n';
    }
    for (const DiagnosticReport::Skipped& skipped : report_.skipped) {
      out_ += "skipped: ";
      append_visible(out_, skipped.input);
      out_ += " (needs ";
      append_visible(out_, skipped.needs);
      out_ += ")\n";
    }
    unchanged();
    if (report_.errors == 0 && report_.warnings == 0) return;
    std::string counts;
    const auto add = [&](uint32_t count, std::string_view word) {
      if (count != 0) counts += (counts.empty() ? "" : ", ") + counted(count, word);
    };
    add(report_.errors, "error");
    add(report_.warnings, "warning");
    add(report_.notes, "note");
    if (hidden_ > 0 && !stopped_) counts += " (" + std::to_string(hidden_) + " not shown; --all shows them)";
    out_ += counts + "\n";
  }

  /// One line, since a build without changes leaves all its outputs unchanged.
  void unchanged() {
    if (report_.unchanged.empty()) return;
    out_ += "unchanged: ";
    const size_t all = report_.unchanged.size();
    const size_t shown = options_.show_all ? all : std::min<size_t>(all, kShownOfOneKind);
    for (size_t i = 0; i < shown; ++i) {
      if (i > 0) out_ += ", ";
      append_visible(out_, report_.unchanged[i]);
    }
    if (shown < all) out_ += " and " + std::to_string(all - shown) + " more";
    out_ += '\n';
  }

  const DiagnosticReport& report_;
  const DiagnosticOptions& options_;
  std::string out_;
  std::map<std::pair<const Rule*, Severity>, uint32_t> shown_;  ///< of this file
  /// By code, for a stable order: the rule and how many of it were folded away in this file.
  std::map<std::pair<std::string_view, Severity>, std::pair<const Rule*, uint32_t>> folded_;
  uint32_t errors_shown_ = 0;
  size_t lines_shown_ = 0;
  uint64_t hidden_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::string render_text(const DiagnosticReport& report, const DiagnosticOptions& options) {
  return TextForm(report, options).render();
}

}  // namespace meridian::tools
