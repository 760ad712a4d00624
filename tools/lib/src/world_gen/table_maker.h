// SPDX-License-Identifier: MIT
#pragma once
/// Fills values by hand that otherwise the XML reader makes, so that build_resource() gives the very bytes that a
/// compiler would give. Fields are named by the generated constants, e.g. `schema::MapData::VT_PARENT`.

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "value.h"

namespace meridian::tools::world {

class TableMaker {
 public:
  explicit TableMaker(const TypePlan& plan) { value_.type = &plan; }
  /// A table that stands in `field` of the table `owner`, or an element of a vector of tables.
  TableMaker(const TypePlan& owner, uint16_t field) : TableMaker(*plan_of(owner, field).type) {}

  const TypePlan& plan() const { return *value_.type; }

  /// A number, enumerator, name hash or boolean.
  template <class T>
  TableMaker& number(uint16_t field, T value) {
    FieldValue& v = add(field);
    static_assert(sizeof(T) <= sizeof v.bits);
    std::memcpy(&v.bits, &value, sizeof value);  // little-endian, as resources are
    return *this;
  }
  TableMaker& text(uint16_t field, std::string value) {
    add(field).text = std::move(value);
    return *this;
  }
  template <class S>
  TableMaker& structure(uint16_t field, const S& value) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
    add(field).bytes.assign(bytes, bytes + sizeof value);
    return *this;
  }
  TableMaker& table(uint16_t field, TableMaker&& inner) {
    add(field).table = std::make_unique<TableValue>(std::move(inner).take());
    return *this;
  }
  /// Numbers or structs.
  template <class T>
  TableMaker& items(uint16_t field, const std::vector<T>& values) {
    ItemList& list = list_of(field);
    list.count = static_cast<uint32_t>(values.size());
    const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
    list.bytes.assign(bytes, bytes + values.size() * sizeof(T));
    return *this;
  }
  TableMaker& tables(uint16_t field, std::vector<TableMaker>&& values) {
    ItemList& list = list_of(field);
    list.count = static_cast<uint32_t>(values.size());
    for (TableMaker& value : values) list.tables.push_back(std::move(value).take());
    return *this;
  }
  /// What belongs to elements of the vector `host`, by element and in their order.
  TableMaker& records(uint16_t field, uint16_t host, std::vector<std::pair<uint32_t, TableMaker>>&& values) {
    const TypePlan& plan = *value_.type;
    ItemList& list = list_of(host);
    const std::vector<int>& hoisted = plan_of(plan, host).hoisted;
    if (list.hoisted.size() < hoisted.size()) list.hoisted.resize(hoisted.size());
    for (size_t h = 0; h < hoisted.size(); ++h) {
      if (plan.fields[static_cast<size_t>(hoisted[h])].offset != field) continue;
      for (auto& [owner, value] : values) {
        list.hoisted[h].push_back(std::move(value).take());
        list.hoisted[h].back().owner = owner;
      }
    }
    return *this;
  }

  /// The value, with the defaults that the reader fills in.
  TableValue take() && {
    const TypePlan& plan = *value_.type;
    for (size_t i = 0; i < plan.fields.size() && !plan.sparse; ++i) {
      const FieldPlan& f = plan.fields[i];
      if (f.kind != FieldKind::structure || value_.find(static_cast<int>(i)) != nullptr) continue;
      FieldValue& v = value_.fields.emplace_back();
      v.field = static_cast<uint16_t>(i);
      v.present = true;
      v.bytes = f.default_bytes;
    }
    return std::move(value_);
  }

  /// The plan of a field by its generated constant.
  static const FieldPlan& plan_of(const TypePlan& plan, uint16_t field) {
    return plan.fields[static_cast<size_t>(index_of(plan, field))];
  }

 private:
  friend TableMaker union_item(const TypePlan& wrapper, TableMaker&& member);

  static int index_of(const TypePlan& plan, uint16_t field) {
    for (size_t i = 0; i < plan.fields.size(); ++i)
      if (plan.fields[i].offset == field) return static_cast<int>(i);
    return 0;  // cannot happen: the constants and the plan are made from one schema
  }
  FieldValue& add(uint16_t field) {
    FieldValue& v = value_.fields.emplace_back();
    v.field = static_cast<uint16_t>(index_of(*value_.type, field));
    v.present = true;
    return v;
  }
  ItemList& list_of(uint16_t field) {
    const int index = index_of(*value_.type, field);
    if (ItemList* const list = value_.list(index)) return *list;
    FieldValue& v = add(field);
    v.parts = std::make_unique<std::vector<ListPart>>(1);
    return v.parts->front().items;
  }

  TableValue value_;
};

/// Wraps `member` into an Item of a union.
inline TableMaker union_item(const TypePlan& wrapper, TableMaker&& member) {
  TableMaker out(wrapper);
  const FieldPlan& f = wrapper.fields[static_cast<size_t>(wrapper.union_field)];
  FieldValue& v = out.value_.fields.emplace_back();
  v.field = static_cast<uint16_t>(wrapper.union_field);
  v.present = true;
  for (const EnumValue& e : f.enumeration->values)
    if (e.type == &member.plan()) v.member = &e;
  v.table = std::make_unique<TableValue>(std::move(member).take());
  return out;
}

/// The plan of a union's member, by its number in the generated enumeration.
inline const TypePlan& union_member(const TypePlan& wrapper, int64_t value) {
  return *wrapper.fields[static_cast<size_t>(wrapper.union_field)].enumeration->find(value)->type;
}

/// Hashes of all names in a value, sorted, each once; what the compilers put into the names table.
std::vector<uint32_t> names_in(const TableValue& root);

}  // namespace meridian::tools::world
