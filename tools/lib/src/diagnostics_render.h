// SPDX-License-Identifier: MIT
#pragma once
/// Private to diagnostics*.cpp: what DiagnosticLog hands to the three forms.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/diagnostics.h"

namespace meridian::tools {

class JsonWriter;

/// All that a form may show, already in its final order.
struct DiagnosticReport {
  std::span<const Diagnostic* const> diagnostics;
  struct Skipped {
    std::string_view input, needs;
  };
  std::vector<std::string_view> failed, unchanged;
  std::vector<Skipped> skipped;
  uint32_t errors = 0, warnings = 0, notes = 0;
};

/// "error", "warning" or "note": the word of all three forms.
std::string_view severity_word(Severity severity);

/// Members failed, skipped and unchanged of the object that is open: the same in JSON and SARIF.
void write_input_lists(JsonWriter& json, const DiagnosticReport& report);

std::string render_text(const DiagnosticReport& report, const DiagnosticOptions& options);
std::string render_json(const DiagnosticReport& report, const DiagnosticOptions& options);
std::string render_sarif(const DiagnosticReport& report, const DiagnosticOptions& options);

}  // namespace meridian::tools
