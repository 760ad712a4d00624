// SPDX-License-Identifier: MIT
#include "diagnostics_render.h"
#include "meridian/tools/json_writer.h"

namespace meridian::tools {
namespace {

void write_diagnostic(JsonWriter& json, const Diagnostic& d) {
  json.begin_object();
  json.member("rule", d.rule->code);
  json.member("name", d.rule->name);
  json.member("severity", severity_word(d.severity));
  json.member("message", d.message);
  json.member("file", d.file);
  json.member("line", d.line);
  json.member("column", d.column);
  json.member("object", d.object);
  json.key("related");
  json.begin_array();
  for (const RelatedPlace& related : d.related) {
    json.begin_object();
    json.member("file", related.file);
    json.member("line", related.line);
    json.member("column", related.column);
    json.member("message", related.message);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_list(JsonWriter& json, std::string_view name, const std::vector<std::string_view>& list) {
  json.key(name);
  json.begin_array();
  for (const std::string_view item : list) json.value(item);
  json.end_array();
}

}  // namespace

void write_input_lists(JsonWriter& json, const DiagnosticReport& report) {
  write_list(json, "failed", report.failed);
  json.key("skipped");
  json.begin_array();
  for (const DiagnosticReport::Skipped& skipped : report.skipped) {
    json.begin_object();
    json.member("input", skipped.input);
    json.member("needs", skipped.needs);
    json.end_object();
  }
  json.end_array();
  write_list(json, "unchanged", report.unchanged);
}

/// Never folded and never cut short: whoever reads it filters for himself. A new key raises no version; a change of
/// meaning does.
std::string render_json(const DiagnosticReport& report, const DiagnosticOptions& options) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("version", 1);
  json.member("tool", options.tool);
  json.key("diagnostics");
  json.begin_array();
  for (const Diagnostic* diagnostic : report.diagnostics) write_diagnostic(json, *diagnostic);
  json.end_array();
  json.key("summary");
  json.begin_object();
  json.member("errors", report.errors);
  json.member("warnings", report.warnings);
  json.member("notes", report.notes);
  write_input_lists(json, report);
  json.end_object();
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace meridian::tools
