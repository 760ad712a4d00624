// SPDX-License-Identifier: MIT
// CFG003: one pool given twice in one configuration. (Across configurations it is an override.)
#include <map>

#include "rules/checks.h"
#include "text_values.h"
#include "xml_reader.h"

namespace meridian::tools {

void check_pool_sizes(std::string_view text, TableValue& t, const std::string& label, std::vector<Finding>& findings) {
  for (size_t i = 0; i < t.type->fields.size(); ++i) {
    const FieldPlan& f = t.type->fields[i];
    ItemList* const list = t.list(static_cast<int>(i));
    if (f.kind != FieldKind::struct_vector || list == nullptr || f.type->fields.size() < 2) continue;
    const FieldPlan& name = f.type->fields[0];
    const FieldPlan& size = f.type->fields[1];
    struct First {
      int64_t size;
      size_t place;
    };
    std::map<uint64_t, First> seen;
    for (uint32_t n = 0; n < list->count; ++n) {
      const uint8_t* const at = list->bytes.data() + size_t{n} * f.size;
      const uint64_t hash = load_bits(at + name.offset, name.size);
      const int64_t value = signed_value(size.scalar, load_bits(at + size.offset, size.size));
      const auto [it, is_new] = seen.try_emplace(hash, First{value, list->places[n]});
      if (is_new || it->second.size == value) continue;
      Finding finding{
          &rules::duplicate_pool,
          rules::duplicate_pool.severity,
          locate_value(text, list->places[n], size.xml),
          (label.empty() ? "" : label + ", ") + (f.type->noun.empty() ? f.xml : f.type->noun) + " " + std::to_string(n),
          "pool '" + std::string(value_text(text, locate_value(text, list->places[n], name.xml))) +
              "' given again with " + std::to_string(value) + "; it was " + std::to_string(it->second.size),
          {}};
      finding.related.push_back({locate_value(text, it->second.place, size.xml), "given here first"});
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace meridian::tools
