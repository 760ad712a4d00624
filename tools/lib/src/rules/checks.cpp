// SPDX-License-Identifier: MIT
#include "rules/checks.h"

#include <algorithm>
#include <string>

namespace meridian::tools {
namespace {

using Check = void (*)(std::string_view, TableValue&, const std::string&, std::vector<Finding>&);

struct NamedCheck {
  std::string_view name;
  Check run;
};
constexpr NamedCheck kChecks[] = {{"hours", check_hours}, {"pool_sizes", check_pool_sizes}};

std::string deeper(const std::string& label, std::string_view noun, size_t index) {
  return (label.empty() ? "" : label + ", ") + std::string(noun) + " " + std::to_string(index);
}

void visit(std::string_view text, TableValue& t, const std::string& label, std::vector<Finding>& findings) {
  for (const std::string& wanted : t.type->checks)
    for (const NamedCheck& check : kChecks)
      if (check.name == wanted) check.run(text, t, label, findings);
  for (FieldValue& v : t.fields) {
    const FieldPlan& f = t.type->fields[v.field];
    if (v.table) visit(text, *v.table, label, findings);
    if (!v.parts) continue;
    const std::string_view noun =
        f.type != nullptr && !f.type->noun.empty() ? std::string_view(f.type->noun) : std::string_view(f.xml);
    for (ListPart& part : *v.parts) {
      for (size_t i = 0; i < part.items.tables.size(); ++i)
        visit(text, part.items.tables[i], deeper(label, noun, i), findings);
      for (auto& records : part.items.hoisted)
        for (TableValue& record : records) visit(text, record, deeper(label, noun, record.owner), findings);
    }
  }
}

}  // namespace

std::string_view value_text(std::string_view text, size_t offset) {
  const std::string_view rest = text.substr(std::min(offset, text.size()));
  const size_t end = rest.find_first_of("<\"'\n\r");
  return rest.substr(0, std::min<size_t>(end, 80));
}

void run_checks(std::string_view text, TableValue& root, std::vector<Finding>& findings) {
  visit(text, root, {}, findings);
}

}  // namespace meridian::tools
