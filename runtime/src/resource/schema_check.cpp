// SPDX-License-Identifier: MIT
#include <bit>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "resource/schema_view.h"

// An embedded schema comes from the same untrusted file as the data. Everything that later code takes for granted is
// proven here: indices, dense ids, struct members inside their struct and not overlapping, no struct inside itself.

namespace meridian {
namespace detail {
namespace {

constexpr size_t kMaxSchemaBytes = size_t{64} << 20;

Status bad(const char* message, const flatbuffers::String* name = nullptr, uint64_t detail = 0) {
  return {StatusCode::bad_schema, message, detail, NameHash{hash_type(short_name(name)).value}};
}

/// Names end up in messages and canonical text, so they are what flatc can produce and nothing else.
bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 256) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9') && c != '.') return false;
  }
  return true;
}

/// Base types are an enum in the accessors, and a byte in the file. Only after this may the accessors be used.
bool has_known_bases(const reflection::Type* type) {
  if (type == nullptr) return true;
  const auto* raw = reinterpret_cast<const flatbuffers::Table*>(type);
  const auto base = raw->GetField<int8_t>(reflection::Type::VT_BASE_TYPE, 0);
  const auto element = raw->GetField<int8_t>(reflection::Type::VT_ELEMENT, 0);
  return base >= 0 && base < reflection::MaxBaseType && element >= 0 && element < reflection::MaxBaseType;
}

class SchemaCheck {
 public:
  explicit SchemaCheck(const reflection::Schema& schema) : schema_(schema) {}
  Status run();

 private:
  Status check_enum(const reflection::Enum& item) const;
  Status check_object(const reflection::Object& object) const;
  Status check_type(const reflection::Object& owner, const reflection::Field& field) const;
  Status check_struct(const reflection::Object& object) const;
  Status check_table(const reflection::Object& object) const;
  Status check_nesting() const;
  bool has_object(int32_t index) const { return index >= 0 && uint32_t(index) < schema_.objects()->size(); }
  bool has_enum(int32_t index) const { return index >= 0 && uint32_t(index) < schema_.enums()->size(); }

  const reflection::Schema& schema_;
};

Status SchemaCheck::check_enum(const reflection::Enum& item) const {
  if (!is_identifier(text_of(item.name()))) return bad("an enum's name is no identifier");
  if (!has_known_bases(item.underlying_type())) return bad("an enum's underlying type is not known", item.name());
  const reflection::BaseType base = item.underlying_type()->base_type();
  if (!is_scalar(base) || is_float(base)) return bad("an enum's underlying type is no integer", item.name());
  if (item.is_union() != (base == reflection::UType)) return bad("a union's underlying type is not utype", item.name());
  if (item.values()->size() > kMaxEnumerators) return bad("too many enumerators", item.name(), item.values()->size());
  for (const reflection::EnumVal* value : *item.values()) {
    if (!is_identifier(text_of(value->name()))) return bad("an enumerator's name is no identifier", item.name());
    if (!has_known_bases(value->union_type())) return bad("a union member's type is not known", item.name());
    if (!item.is_union()) continue;
    const reflection::Type* member = value->union_type();
    if (value->value() < 0 || value->value() > 255) return bad("a union member's number does not fit", item.name());
    const reflection::BaseType kind = member != nullptr ? member->base_type() : reflection::None;
    if (kind == reflection::None && value->value() == 0) continue;
    if (kind != reflection::Obj || !has_object(member->index()) || object_at(schema_, member->index()).is_struct()) {
      return bad("a union member is no table", item.name(), static_cast<uint64_t>(value->value()));
    }
  }
  return {};
}

Status SchemaCheck::check_type(const reflection::Object& owner, const reflection::Field& field) const {
  const reflection::Type& type = *field.type();
  const bool vector = type.base_type() == reflection::Vector;
  const reflection::BaseType base = vector ? type.element() : type.base_type();
  const auto offset = static_cast<uint64_t>(field.offset());
  if (is_scalar(base)) {
    if (type.index() < 0 && base != reflection::UType) return {};
    if (!has_enum(type.index())) return bad("a field's enum is not in the schema", field.name(), offset);
    const reflection::Enum& item = enum_at(schema_, type.index());
    if (item.underlying_type()->base_type() != base) return bad("a field and its enum differ", field.name(), offset);
    if (base == reflection::UType && (vector || owner.is_struct()))
      return bad("vectors of unions are not supported", field.name(), offset);
    return {};
  }
  if (base == reflection::Obj) {
    if (!has_object(type.index())) return bad("a field's type is not in the schema", field.name(), offset);
    if (owner.is_struct() && (vector || !object_at(schema_, type.index()).is_struct())) {
      return bad("a struct holds something that is no scalar and no struct", field.name(), offset);
    }
    return {};
  }
  if (owner.is_struct()) return bad("a struct holds something that is no scalar and no struct", field.name(), offset);
  if (base == reflection::String && type.index() < 0) return {};
  if (base == reflection::Union && !vector) {
    if (has_enum(type.index()) && enum_at(schema_, type.index()).is_union()) return {};
    return bad("a field's union is not in the schema", field.name(), offset);
  }
  return bad("a field has a type that is not supported", field.name(), offset);
}

Status SchemaCheck::check_struct(const reflection::Object& object) const {
  const int32_t size = object.bytesize(), align = object.minalign();
  if (size <= 0 || size > 0xFFFF) return bad("a struct's size is out of range", object.name());
  if (align <= 0 || uint32_t(align) > kResourceAlignment || !std::has_single_bit(uint32_t(align)) ||
      size % align != 0) {
    return bad("a struct's alignment is out of range", object.name(), static_cast<uint64_t>(align));
  }
  const FieldOrder order(object);
  uint32_t end = 0;
  for (uint32_t i = 0; i < order.size(); ++i) {
    const reflection::Field& field = order.field(object, i);
    // Sizes of structs that are checked later: a wrong one only makes this sum wrong, and is refused in its turn.
    const Extent extent = extent_of(schema_, field.type()->base_type(), field.type()->index());
    if (extent.size == 0 || extent.size > 0xFFFF || extent.align == 0 || extent.align > uint32_t(align)) {
      return bad("a struct member's size or alignment is out of range", field.name());
    }
    if (field.offset() < end || field.offset() % extent.align != 0) {
      return bad("a struct member overlaps or is misaligned", field.name(), field.offset());
    }
    end = field.offset() + extent.size;
    if (end > uint32_t(size)) return bad("a struct member lies outside its struct", field.name(), field.offset());
  }
  return {};
}

Status SchemaCheck::check_table(const reflection::Object& object) const {
  const uint32_t count = object.fields()->size();
  bool seen[kMaxFields] = {};
  uint64_t bytes = 4;
  for (const reflection::Field* field : *object.fields()) {
    if (field->id() >= count || seen[field->id()]) return bad("table field ids are not 0, 1, 2, ...", field->name());
    if (field->offset() != 4 + 2 * field->id())
      return bad("a table field's offset is not that of its id", field->name());
    seen[field->id()] = true;
    const Extent extent = extent_of(schema_, field->type()->base_type(), field->type()->index());
    bytes += uint64_t{extent.size} + extent.align;
  }
  if (bytes > 0xFF00) return bad("a table is larger than 64 KiB", object.name(), bytes);
  const FieldOrder order(object);
  for (uint32_t i = 0; i < count; ++i) {
    const reflection::Field& field = order.field(object, i);
    const reflection::BaseType base = field.type()->base_type();
    if (base == reflection::Union) {
      // The member's number stands in the field before it.
      if (i == 0) return bad("a union field has no type field", field.name());
      const reflection::Type& type = *order.field(object, i - 1).type();
      if (type.base_type() != reflection::UType || type.index() != field.type()->index()) {
        return bad("a union field has no type field", field.name());
      }
    } else if (base == reflection::UType) {
      if (i + 1 == count || order.field(object, i + 1).type()->base_type() != reflection::Union) {
        return bad("a union's type field stands alone", field.name());
      }
    }
  }
  return {};
}

Status SchemaCheck::check_object(const reflection::Object& object) const {
  if (!is_identifier(text_of(object.name()))) return bad("a type's name is no identifier");
  if (object.fields()->size() > kMaxFields) return bad("too many fields", object.name(), object.fields()->size());
  for (const reflection::Field* field : *object.fields()) {
    if (!is_identifier(text_of(field->name()))) return bad("a field's name is no identifier", object.name());
    if (Status status = check_type(object, *field); !status.ok()) return status;
  }
  return object.is_struct() ? check_struct(object) : check_table(object);
}

/// Depth of each struct is one more than its deepest member. In a cycle the depths grow in every round, so both cycles
/// and depth are found by counting rounds, without recursion on untrusted data.
Status SchemaCheck::check_nesting() const {
  uint8_t depth[kMaxObjects] = {};
  bool changed = true;
  for (uint32_t round = 0; changed; ++round) {
    if (round > kMaxStructDepth) return bad("structs are nested too deep or inside themselves");
    changed = false;
    for (uint32_t i = 0; i < schema_.objects()->size(); ++i) {
      const reflection::Object& object = *schema_.objects()->Get(i);
      if (!object.is_struct()) continue;
      for (const reflection::Field* field : *object.fields()) {
        if (field->type()->base_type() != reflection::Obj) continue;
        const auto deeper = static_cast<uint8_t>(depth[field->type()->index()] + 1);
        if (deeper > kMaxStructDepth) return bad("structs are nested too deep or inside themselves", object.name());
        if (deeper > depth[i]) {
          depth[i] = deeper;
          changed = true;
        }
      }
    }
  }
  return {};
}

Status SchemaCheck::run() {
  if (schema_.objects()->size() > kMaxObjects) return bad("too many types", nullptr, schema_.objects()->size());
  if (schema_.enums()->size() > kMaxEnums) return bad("too many enums", nullptr, schema_.enums()->size());
  const int32_t root = root_index(schema_);
  if (root < 0 || object_at(schema_, root).is_struct()) return bad("the schema has no root table");
  if (schema_.file_ident() != nullptr && schema_.file_ident()->size() != 4 && schema_.file_ident()->size() != 0) {
    return bad("the file identifier has not four letters");
  }
  for (const reflection::Enum* item : *schema_.enums()) {
    if (Status status = check_enum(*item); !status.ok()) return status;
  }
  // Types refer to each other, so this comes before anything that follows them.
  for (const reflection::Object* object : *schema_.objects()) {
    for (const reflection::Field* field : *object->fields()) {
      if (!has_known_bases(field->type())) return bad("a field's type is not known", field->name());
    }
  }
  for (const reflection::Object* object : *schema_.objects()) {
    if (Status status = check_object(*object); !status.ok()) return status;
  }
  return check_nesting();
}

}  // namespace
}  // namespace detail

Status verify_schema(std::span<const std::byte> bfbs) {
  if (bfbs.size() < 16) return detail::bad("schema is shorter than any schema; detail = size", nullptr, bfbs.size());
  if (bfbs.size() > detail::kMaxSchemaBytes)
    return detail::bad("schema is too large; detail = size", nullptr, bfbs.size());
  if (reinterpret_cast<uintptr_t>(bfbs.data()) % 8 != 0)
    return detail::bad("schema bytes are not 8-aligned; copy them");
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bfbs.size() / 4);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bfbs.data()), bfbs.size(), options);
  if (!reflection::VerifySchemaBuffer(verifier)) return detail::bad("bytes are no reflection schema (.bfbs)");
  return detail::SchemaCheck(detail::schema_of(bfbs)).run();
}

}  // namespace meridian
