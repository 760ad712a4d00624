// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "world_gen/table_maker.h"

namespace meridian::tools::world {
namespace {

void add(std::vector<uint32_t>& out, const uint8_t* at) {
  uint32_t hash = 0;
  std::memcpy(&hash, at, sizeof hash);
  if (hash != 0) out.push_back(hash);
}

void collect(std::vector<uint32_t>& out, const TableValue& t);

void collect(std::vector<uint32_t>& out, const FieldPlan& f, const ItemList& list) {
  if (f.kind == FieldKind::scalar_vector && f.converter == Converter::name)
    for (uint32_t i = 0; i < list.count; ++i) add(out, list.bytes.data() + size_t{i} * f.size);
  // No struct of the formats has names deeper than its own members.
  if (f.kind == FieldKind::struct_vector)
    for (const FieldPlan& member : f.type->fields)
      if (member.converter == Converter::name)
        for (uint32_t i = 0; i < list.count; ++i) add(out, list.bytes.data() + size_t{i} * f.size + member.offset);
  for (const TableValue& t : list.tables) collect(out, t);
  for (const auto& records : list.hoisted)
    for (const TableValue& t : records) collect(out, t);
}

void collect(std::vector<uint32_t>& out, const TableValue& t) {
  for (const FieldValue& v : t.fields) {
    const FieldPlan& f = t.type->fields[v.field];
    if (f.kind == FieldKind::scalar && f.converter == Converter::name && v.bits != 0)
      out.push_back(static_cast<uint32_t>(v.bits));
    if (v.table) collect(out, *v.table);
    if (v.parts)
      for (const ListPart& part : *v.parts) collect(out, f, part.items);
  }
}

}  // namespace

std::vector<uint32_t> names_in(const TableValue& root) {
  std::vector<uint32_t> out;
  collect(out, root);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace meridian::tools::world
