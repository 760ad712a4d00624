// SPDX-License-Identifier: MIT
#include "select_configs.h"

#include <algorithm>

namespace meridian::tools {
namespace {

std::string_view text_of(const TableValue& t, std::string_view field) {
  const FieldValue* const v = t.find(t.type->field_index(field));
  return v == nullptr ? std::string_view() : std::string_view(v->text);
}

}  // namespace

void select_configs(TableValue& root, const ConfigTarget& target) {
  ItemList* const configs = root.list(root.type->field_index("config_array"));
  if (configs == nullptr) return;
  std::erase_if(configs->tables, [&](const TableValue& config) {
    return !config_matches({text_of(config, "build"), text_of(config, "platforms"), text_of(config, "param")}, target);
  });
  configs->count = static_cast<uint32_t>(configs->tables.size());
}

}  // namespace meridian::tools
