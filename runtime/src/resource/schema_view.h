// SPDX-License-Identifier: MIT
#pragma once
/// Small readers over a reflection schema that verify_schema() accepted: sizes, attributes, field order. Everything
/// works on the stack; the limits below are what makes that possible, and verify_schema() enforces them.
///
/// Threads: immutable.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "flatbuffers/reflection_generated.h"

namespace meridian::detail {

inline constexpr uint32_t kMaxObjects = 2048;      ///< structs and tables of a schema
inline constexpr uint32_t kMaxEnums = 2048;        ///< enums and unions of a schema
inline constexpr uint32_t kMaxFields = 1024;       ///< of one struct or table
inline constexpr uint32_t kMaxEnumerators = 4096;  ///< of one enum
inline constexpr uint32_t kMaxStructDepth = 16;    ///< structs inside structs
inline constexpr uint32_t kMaxTableDepth = 64;     ///< tables inside tables, in data

using Attributes = flatbuffers::Vector<flatbuffers::Offset<reflection::KeyValue>>;

inline const reflection::Schema& schema_of(std::span<const std::byte> bfbs) {
  return *reflection::GetSchema(bfbs.data());
}

inline std::string_view text_of(const flatbuffers::String* text) {
  return text != nullptr ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

/// "meridian.schema.EntityDef" -> "EntityDef"
inline std::string_view short_name(const flatbuffers::String* name) {
  const std::string_view full = text_of(name);
  const size_t dot = full.rfind('.');
  return dot == std::string_view::npos ? full : full.substr(dot + 1);
}

/// The attribute's entry, or null. Linear: there are a handful, and an untrusted schema may not have them sorted.
inline const reflection::KeyValue* find_attribute(const Attributes* attributes, std::string_view key) {
  if (attributes == nullptr) return nullptr;
  for (const reflection::KeyValue* entry : *attributes) {
    if (text_of(entry->key()) == key) return entry;
  }
  return nullptr;
}

inline bool is_scalar(reflection::BaseType type) { return type >= reflection::UType && type <= reflection::Double; }
inline bool is_float(reflection::BaseType type) { return type == reflection::Float || type == reflection::Double; }

/// Bytes of a scalar; 0 for everything else.
inline uint32_t scalar_size(reflection::BaseType type) {
  switch (type) {
    case reflection::UType:
    case reflection::Bool:
    case reflection::Byte:
    case reflection::UByte:
      return 1;
    case reflection::Short:
    case reflection::UShort:
      return 2;
    case reflection::Int:
    case reflection::UInt:
    case reflection::Float:
      return 4;
    case reflection::Long:
    case reflection::ULong:
    case reflection::Double:
      return 8;
    default:
      return 0;
  }
}

inline const reflection::Object& object_at(const reflection::Schema& schema, int32_t index) {
  return *schema.objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
}
inline const reflection::Enum& enum_at(const reflection::Schema& schema, int32_t index) {
  return *schema.enums()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

struct Extent {
  uint32_t size = 0, align = 1;
};

/// What a value takes inside a table, struct or vector: scalars and structs themselves, an offset for the rest.
inline Extent extent_of(const reflection::Schema& schema, reflection::BaseType base, int32_t index) {
  if (is_scalar(base)) return {scalar_size(base), scalar_size(base)};
  if (base == reflection::Obj) {
    const reflection::Object& object = object_at(schema, index);
    if (object.is_struct()) {
      return {static_cast<uint32_t>(object.bytesize()), static_cast<uint32_t>(object.minalign())};
    }
  }
  return {4, 4};
}

inline bool is_struct(const reflection::Schema& schema, reflection::BaseType base, int32_t index) {
  return base == reflection::Obj && object_at(schema, index).is_struct();
}

/// Index of the root table among the objects, or -1.
inline int32_t root_index(const reflection::Schema& schema) {
  const reflection::Object* root = schema.root_table();
  if (root == nullptr) return -1;
  for (flatbuffers::uoffset_t i = 0; i < schema.objects()->size(); ++i) {
    if (schema.objects()->Get(i) == root) return static_cast<int32_t>(i);
  }
  return -1;
}

/// The file identifier as a number, 0 if the schema has none.
inline uint32_t kind_of_schema(const reflection::Schema& schema) {
  const std::string_view text = text_of(schema.file_ident());
  if (text.size() != 4) return 0;
  uint32_t kind = 0;
  for (size_t i = 0; i < 4; ++i) kind |= static_cast<uint32_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return kind;
}

/// Field indices in the order of the layout. A binary schema lists fields by name; tables go by id, structs by offset.
class FieldOrder {
 public:
  explicit FieldOrder(const reflection::Object& object) : count_(object.fields()->size()) {
    for (uint32_t i = 0; i < count_; ++i) {
      const reflection::Field& field = *object.fields()->Get(i);
      if (!object.is_struct()) {
        index_[field.id()] = static_cast<uint16_t>(i);  // ids are dense: verify_schema
        continue;
      }
      uint32_t at = i;
      while (at > 0 && object.fields()->Get(index_[at - 1])->offset() > field.offset()) {
        index_[at] = index_[at - 1];
        --at;
      }
      index_[at] = static_cast<uint16_t>(i);
    }
  }
  uint32_t size() const { return count_; }
  const reflection::Field& field(const reflection::Object& object, uint32_t position) const {
    return *object.fields()->Get(index_[position]);
  }

 private:
  uint32_t count_;
  uint16_t index_[kMaxFields];
};

/// The structs, tables and enums that a root leads to. A schema file drags along whatever it includes; what the root
/// cannot hold must not change a fingerprint.
class Reachable {
 public:
  explicit Reachable(const reflection::Schema& schema);
  bool object(uint32_t index) const { return objects_[index] != 0; }
  bool enumeration(uint32_t index) const { return enums_[index] != 0; }

 private:
  void visit(const reflection::Schema& schema, const reflection::Type& type);
  uint8_t objects_[kMaxObjects] = {};  // 0 no, 1 found, 2 followed
  uint8_t enums_[kMaxEnums] = {};
  bool again_ = false;
};

}  // namespace meridian::detail
