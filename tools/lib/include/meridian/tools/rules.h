// SPDX-License-Identifier: MIT
#pragma once
/// The rules that a diagnostic can name: a stable code (`XML005`) and a kebab-case name (`not-a-number`).
/// Codes are never reused. Each rule has a page in docs/rules/<CODE>.md and a golden case.

#include <span>
#include <string_view>

namespace meridian::tools {

enum class Severity : unsigned char { note, warning, error };

struct Rule {
  std::string_view code;     ///< "XML005"
  std::string_view name;     ///< "not-a-number"
  Severity severity;         ///< what it is unless options or the single finding say otherwise
  bool on;                   ///< reported without -W<rule>
  std::string_view summary;  ///< one line for --list-rules
};

namespace rules {
extern const Rule malformed_xml;         // XML001
extern const Rule unknown_name;          // XML002
extern const Rule unknown_type;          // XML003
extern const Rule duplicate_element;     // XML004
extern const Rule not_a_number;          // XML005
extern const Rule integer_range;         // XML006
extern const Rule float_range;           // XML007
extern const Rule not_an_integer;        // XML008
extern const Rule limit_exceeded;        // XML009
extern const Rule wrong_root;            // XML010
extern const Rule unfilled_placeholder;  // XML011
extern const Rule unknown_value;         // XML012
extern const Rule missing_element;       // XML013
extern const Rule name_collision;        // NAM001
extern const Rule suspicious_name;       // NAM002
extern const Rule missing_name;          // NAM003
extern const Rule illegal_file_name;     // NAM006
extern const Rule empty_hours;           // ARC004
extern const Rule unknown_pool;          // CFG002
extern const Rule duplicate_pool;        // CFG003
extern const Rule bad_pool_size;         // CFG004
extern const Rule resource_too_large;    // FMT001
extern const Rule refused_resource;      // FMT002
extern const Rule converted_resource;    // FMT003
extern const Rule bad_waiver;            // WVR001
extern const Rule usage_error;           // USE001
extern const Rule environment_error;     // ENV001
extern const Rule internal_error;        // INT001
}  // namespace rules

/// All rules, sorted by code. Threads: immutable.
std::span<const Rule* const> all_rules();

/// The rule with this code or name (case-insensitive), or null.
const Rule* find_rule(std::string_view code_or_name);

}  // namespace meridian::tools
