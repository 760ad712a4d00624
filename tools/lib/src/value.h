// SPDX-License-Identifier: MIT
#pragma once
/// What the reader makes of a source: tables as short lists of fields, vectors of structs as the bytes that the
/// resource will hold. Kept XML hangs on the table or vector that owns it, so that its final path is known only when
/// everything has been put together.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meridian/tools/binding.h"

namespace meridian::tools {

enum class KeptKind : uint8_t { element, attribute, text };

/// Something that the schema lacks.
struct Kept {
  KeptKind kind = KeptKind::element;
  uint32_t item = 0;     ///< in a vector of structs: which one
  std::string sub_path;  ///< below the owner: "position", "axis.x"; empty: the owner itself
  std::string name;      ///< attribute name
  std::string text;      ///< canonical XML, attribute value, or text
};

struct TableValue;

/// The elements of one vector.
struct ItemList {
  uint32_t count = 0;
  std::vector<uint8_t> bytes;  ///< scalars or structs
  std::vector<std::string> strings;
  std::vector<TableValue> tables;
  std::vector<std::vector<TableValue>> hoisted;  ///< parallel to FieldPlan::hoisted; owner is an index into this list
  std::vector<Kept> kept;                        ///< of structs
  std::vector<size_t> places;                    ///< source offset of each element, where a check wants them

  /// Puts `next` behind this list.
  void append(ItemList&& next);
};

/// A piece of a vector: read already, or a window still to be read.
struct ListPart {
  ItemList items;
  int window = -1;
};

struct FieldValue {
  uint16_t field = 0;  ///< index into TypePlan::fields
  bool present = false;
  uint64_t bits = 0;                             ///< scalar
  std::string text;                              ///< string
  std::vector<uint8_t> bytes;                    ///< struct
  std::unique_ptr<TableValue> table;             ///< table or union member
  std::unique_ptr<std::vector<ListPart>> parts;  ///< vector; one part once everything is read
  const EnumValue* member = nullptr;             ///< union
};

struct TableValue {
  const TypePlan* type = nullptr;
  uint32_t owner = 0;              ///< hoisted records
  size_t place = 0;                ///< source offset of the element's name
  bool stored = false;             ///< is built even if it is empty
  std::vector<FieldValue> fields;  ///< in the order read
  std::vector<Kept> kept;

  FieldValue* find(int field) {
    for (FieldValue& v : fields)
      if (v.field == field) return &v;
    return nullptr;
  }
  const FieldValue* find(int field) const { return const_cast<TableValue*>(this)->find(field); }
  /// The list of a vector field, or null.
  ItemList* list(int field) {
    FieldValue* v = find(field);
    return v != nullptr && v->parts && !v->parts->empty() ? &v->parts->front().items : nullptr;
  }
};

}  // namespace meridian::tools
