// SPDX-License-Identifier: MIT
/// SARIF 2.1.0 (OASIS standard): one run, whose columns count UTF-16 code units.

#include <algorithm>
#include <vector>

#include "diagnostics_render.h"
#include "meridian/tools/json_writer.h"

namespace meridian::tools {
namespace {

/// A relative path as a relative URI reference, an absolute one as a file URI (RFC 3986, RFC 8089).
/// Bytes are encoded one by one, so a path that is no UTF-8 survives as well.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";  // ':' is not plain: it would make a first folder look like a scheme
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (alphanumeric || kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15u];
  }
  return out;
}

/// For a diagnostic that was not made by resolve(): counts in the source line, as far as that goes.
uint32_t utf16_column(std::string_view line, uint32_t column) {
  if (column == 0 || column - 1 > line.size()) return column;
  uint32_t units = 0;
  for (const char c : line.substr(0, column - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0u) != 0x80u) units += byte >= 0xF0 ? 2 : 1;
  }
  return units + 1;
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  json.begin_object();
  json.member("text", text);
  json.end_object();
}

/// The member `physicalLocation`; nothing where there is no file.
void write_place(JsonWriter& json, std::string_view file, uint32_t line, uint32_t column) {
  if (file.empty()) return;
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.member("uri", uri_of(file));
  json.end_object();
  if (line > 0) {
    json.key("region");
    json.begin_object();
    json.member("startLine", line);
    if (column > 0) json.member("startColumn", column);
    json.end_object();
  }
  json.end_object();
}

void write_related(JsonWriter& json, const std::vector<RelatedPlace>& places) {
  json.key("relatedLocations");
  json.begin_array();
  for (const RelatedPlace& place : places) {
    json.begin_object();
    write_text(json, "message", place.message);
    write_place(json, place.file, place.line, place.utf16_column > 0 ? place.utf16_column : place.column);
    json.end_object();
  }
  json.end_array();
}

void write_result(JsonWriter& json, const Diagnostic& d, size_t rule_index) {
  json.begin_object();
  json.member("ruleId", d.rule->code);
  json.member("ruleIndex", static_cast<uint64_t>(rule_index));
  json.member("level", severity_word(d.severity));
  write_text(json, "message", d.object.empty() ? d.message : d.object + ": " + d.message);
  if (!d.file.empty() || !d.object.empty()) {
    json.key("locations");
    json.begin_array();
    json.begin_object();
    const uint32_t column = d.utf16_column > 0 ? d.utf16_column : utf16_column(d.source_line, d.column);
    write_place(json, d.file, d.line, column);
    if (!d.object.empty()) {
      json.key("logicalLocations");
      json.begin_array();
      json.begin_object();
      json.member("fullyQualifiedName", d.object);
      json.end_object();
      json.end_array();
    }
    json.end_object();
    json.end_array();
  }
  if (!d.related.empty()) write_related(json, d.related);
  json.end_object();
}

void write_rule(JsonWriter& json, const Rule& rule) {
  json.begin_object();
  json.member("id", rule.code);
  json.member("name", rule.name);
  write_text(json, "shortDescription", rule.summary);
  json.key("defaultConfiguration");
  json.begin_object();
  json.member("enabled", rule.on);
  json.member("level", severity_word(rule.severity));
  json.end_object();
  json.end_object();
}

/// What the other forms have in their summary; SARIF has no words for it but the property bag.
void write_summary(JsonWriter& json, const DiagnosticReport& report) {
  json.key("properties");
  json.begin_object();
  write_input_lists(json, report);
  json.end_object();
}

}  // namespace

std::string render_sarif(const DiagnosticReport& report, const DiagnosticOptions& options) {
  std::vector<const Rule*> used;
  for (const Diagnostic* diagnostic : report.diagnostics) used.push_back(diagnostic->rule);
  const auto by_code = [](const Rule* a, const Rule* b) { return a->code < b->code; };
  std::sort(used.begin(), used.end(), by_code);
  used.erase(std::unique(used.begin(), used.end()), used.end());

  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.member("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();

  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.member("name", options.tool);
  if (!options.tool_version.empty()) json.member("version", options.tool_version);
  json.key("rules");
  json.begin_array();
  for (const Rule* rule : used) write_rule(json, *rule);
  json.end_array();
  json.end_object();
  json.end_object();

  json.member("columnKind", "utf16CodeUnits");
  json.key("results");
  json.begin_array();
  for (const Diagnostic* diagnostic : report.diagnostics) {
    const auto rule = std::lower_bound(used.begin(), used.end(), diagnostic->rule, by_code);
    write_result(json, *diagnostic, static_cast<size_t>(rule - used.begin()));
  }
  json.end_array();
  write_summary(json, report);

  json.end_object();
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace meridian::tools
