// SPDX-License-Identifier: MIT
// ARC004: the hours of a time archetype.
#include "rules/checks.h"
#include "xml_reader.h"

namespace meridian::tools {

void check_hours(std::string_view text, TableValue& t, const std::string& label, std::vector<Finding>& findings) {
  uint64_t mask = 0, known = 0;
  std::string xml = "timeFlags";
  for (size_t i = 0; i < t.type->fields.size(); ++i) {
    const FieldPlan& f = t.type->fields[i];
    if (f.name != "time_flags") continue;
    xml = f.xml;
    const FieldValue* const v = t.find(static_cast<int>(i));
    mask = v != nullptr && v->present ? v->bits : f.default_bits;
    if (f.enumeration != nullptr)
      for (const EnumValue& e : f.enumeration->values) known |= static_cast<uint64_t>(e.value);
  }
  constexpr uint64_t kHours = (uint64_t{1} << 24) - 1;
  const auto say = [&](std::string message) {
    findings.push_back({&rules::empty_hours,
                        rules::empty_hours.severity,
                        locate_value(text, t.place, xml),
                        label,
                        std::move(message),
                        {}});
  };
  const std::string name(value_text(text, locate_value(text, t.place, "name")));
  if ((mask & kHours) == 0) say("'" + name + "' is visible at no hour (" + xml + " has none of bits 0 to 23)");
  std::string unknown;
  for (unsigned bit = 0; bit < 32; ++bit)
    if ((mask & ~known) >> bit & 1) unknown += (unknown.empty() ? "" : ", ") + std::to_string(bit);
  if (!unknown.empty()) say("'" + name + "': " + xml + " has bits without a known meaning: " + unknown);
}

}  // namespace meridian::tools
