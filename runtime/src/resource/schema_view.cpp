// SPDX-License-Identifier: MIT
#include "resource/schema_view.h"

namespace meridian::detail {

void Reachable::visit(const reflection::Schema& schema, const reflection::Type& type) {
  const reflection::BaseType base = type.base_type() == reflection::Vector ? type.element() : type.base_type();
  if (type.index() < 0) return;
  const auto index = static_cast<uint32_t>(type.index());
  if (base == reflection::Obj) {
    if (objects_[index] == 0) {
      objects_[index] = 1;
      again_ = true;
    }
    return;
  }
  if (enums_[index] != 0) return;
  enums_[index] = 1;
  const reflection::Enum& found = enum_at(schema, type.index());
  if (!found.is_union()) return;
  for (const reflection::EnumVal* member : *found.values()) {
    const reflection::Type* of = member->union_type();
    if (of != nullptr && of->base_type() == reflection::Obj) visit(schema, *of);
  }
}

Reachable::Reachable(const reflection::Schema& schema) {
  objects_[root_index(schema)] = 1;
  do {
    again_ = false;
    for (uint32_t i = 0; i < schema.objects()->size(); ++i) {
      if (objects_[i] != 1) continue;
      objects_[i] = 2;
      for (const reflection::Field* field : *schema.objects()->Get(i)->fields()) visit(schema, *field->type());
    }
  } while (again_);
}

}  // namespace meridian::detail
