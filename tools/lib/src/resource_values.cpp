// SPDX-License-Identifier: MIT
#include "resource_values.h"

#include "table_view.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

TableValue table_values(ObjectView o);

ItemList list_values(const VectorView& v, const FieldPlan& f) {
  ItemList out;
  out.count = v.count;
  switch (f.kind) {
    case FieldKind::scalar_vector:
    case FieldKind::struct_vector:
      out.bytes.assign(v.data, v.data + size_t{v.count} * v.stride);
      break;
    case FieldKind::string_vector:
      for (uint32_t i = 0; i < v.count; ++i) out.strings.emplace_back(string_at(v.data + size_t{i} * v.stride));
      break;
    default:
      for (uint32_t i = 0; i < v.count; ++i) out.tables.push_back(table_values(element(v, f, i)));
  }
  return out;
}

TableValue table_values(ObjectView o) {
  TableValue out;
  out.type = o.type;
  out.stored = true;
  if (o.type->owner_field >= 0) out.owner = owner_of(o);
  for (size_t i = 0; i < o.type->fields.size(); ++i) {
    const FieldPlan& f = o.type->fields[i];
    const uint8_t* const at = field_address(o, f);
    const bool union_type = f.kind == FieldKind::scalar && f.enumeration != nullptr && f.enumeration->is_union;
    // Hoisted records come with their host, a union's type with its value.
    if (at == nullptr || union_type || f.hoist_from >= 0 || static_cast<int>(i) == o.type->owner_field) continue;
    FieldValue v;
    v.field = static_cast<uint16_t>(i);
    v.present = true;
    switch (f.kind) {
      case FieldKind::scalar:
        v.bits = load_bits(at, f.size);
        break;
      case FieldKind::structure:
        v.bytes.assign(at, at + f.size);
        break;
      case FieldKind::string:
        v.text = string_at(at);
        break;
      case FieldKind::table:
        v.table = std::make_unique<TableValue>(table_values(object_field(o, f)));
        break;
      case FieldKind::union_value:
        v.member = union_member(o, f);
        if (v.member == nullptr) continue;
        v.table = std::make_unique<TableValue>(table_values({follow(at), v.member->type}));
        break;
      default: {
        ListPart part;
        part.items = list_values(vector_field(o, f), f);
        for (const int hoisted : f.hoisted) {
          const FieldPlan& records = o.type->fields[static_cast<size_t>(hoisted)];
          part.items.hoisted.push_back(list_values(vector_field(o, records), records).tables);
        }
        v.parts = std::make_unique<std::vector<ListPart>>();
        v.parts->push_back(std::move(part));
      }
    }
    out.fields.push_back(std::move(v));
  }
  return out;
}

}  // namespace

TableValue values_of(const LoadedResource& resource) { return table_values(root_view(resource)); }

}  // namespace meridian::tools
