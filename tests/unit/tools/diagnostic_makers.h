// SPDX-License-Identifier: MIT
#pragma once
/// Short ways to make sources, findings and diagnostics, for the tests of diagnostics.h.

#include <string>
#include <utility>

#include "meridian/tools/diagnostics.h"

namespace meridian::tools {

inline const std::string kFile = "qa.ymap.xml";

inline std::shared_ptr<const SourceText> text_of(std::string text) {
  return SourceText::from_memory(kFile, std::move(text));
}

inline Finding finding(const Rule& rule, size_t offset, std::string message = "m") {
  Finding f;
  f.rule = &rule;
  f.severity = rule.severity;
  f.offset = offset;
  f.message = std::move(message);
  return f;
}

inline Diagnostic diagnostic(const Rule& rule, std::string file, uint32_t line, std::string message = "m") {
  Diagnostic d;
  d.rule = &rule;
  d.severity = rule.severity;
  d.file = std::move(file);
  d.line = line;
  d.column = line > 0 ? 1 : 0;
  d.message = std::move(message);
  return d;
}

}  // namespace meridian::tools
