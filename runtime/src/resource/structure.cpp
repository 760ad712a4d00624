// SPDX-License-Identifier: MIT
#include "resource/structure.h"

#include "resource/data_view.h"

namespace meridian::detail {
namespace {

class StructureCheck {
 public:
  StructureCheck(std::span<const std::byte> bytes, const reflection::Schema& schema)
      : view_(bytes), size_(bytes.size()), budget_(4 * bytes.size() + 1024), schema_(schema) {}

  Status run();

 private:
  Status bad(const char* message, uint64_t at, const reflection::Field* field = nullptr) const {
    const uint32_t name = field != nullptr ? hash_type(text_of(field->name())).value : 0;
    return {StatusCode::bad_structure, message, at, NameHash{name}};
  }
  bool inside(uint64_t at, uint64_t bytes) const { return bytes <= size_ && at <= size_ - bytes; }
  bool spend(uint64_t bytes) {
    // Each byte of an honest file is looked at once. Offsets that share tables could make it exponential.
    if (bytes > budget_) return false;
    budget_ -= bytes;
    return true;
  }
  /// Follows the offset at `at` to something that begins with a 32-bit number; 0 if it leads outside.
  uint32_t target(uint32_t at) const {
    const uint64_t to = uint64_t{at} + view_.load<uint32_t>(at);
    return to != at && to % 4 == 0 && inside(to, 4) ? static_cast<uint32_t>(to) : 0;
  }

  Status check_table(uint32_t at, const reflection::Object& object, uint32_t depth, const reflection::Field* from);
  Status check_field(uint32_t table, uint32_t at, const reflection::Field& field, uint32_t depth);
  Status check_string(uint32_t at, const reflection::Field& field) const;
  Status check_vector(uint32_t at, const reflection::Field& field, uint32_t depth);

  DataView view_;
  uint64_t size_;
  uint64_t budget_;
  const reflection::Schema& schema_;
};

Status StructureCheck::run() {
  if (size_ < 8) return bad("payload is shorter than any FlatBuffer; detail = size", size_);
  const uint32_t kind = kind_of_schema(schema_);
  if (kind != 0 && view_.load<uint32_t>(4) != kind) return bad("payload has another file identifier", 4);
  const uint32_t root = target(0);
  if (root == 0) return bad("root offset leads outside", 0);
  return check_table(root, *schema_.root_table(), 1, nullptr);
}

Status StructureCheck::check_table(uint32_t at, const reflection::Object& object, uint32_t depth,
                                   const reflection::Field* from) {
  if (depth > kMaxTableDepth) return bad("tables are nested too deep; detail = byte offset", at, from);
  const int64_t vtable = int64_t{at} - view_.load<int32_t>(at);
  if (vtable < 0 || vtable % 2 != 0 || !inside(static_cast<uint64_t>(vtable), 4)) {
    return bad("table's field list lies outside; detail = byte offset", at, from);
  }
  const auto list = static_cast<uint32_t>(vtable);
  const uint32_t list_size = view_.load<uint16_t>(list), table_size = view_.load<uint16_t>(list + 2);
  if (list_size < 4 || list_size % 2 != 0 || !inside(list, list_size) || table_size < 4 || !inside(at, table_size)) {
    return bad("table or its field list does not fit; detail = byte offset", at, from);
  }
  if (!spend(8)) return bad("tables are shared too often; detail = byte offset", at, from);
  for (const reflection::Field* field : *object.fields()) {
    const uint32_t slot = field->offset();
    const uint32_t offset = slot + 2 <= list_size ? view_.load<uint16_t>(list + slot) : 0;
    if (offset == 0) {
      if (field->required() && !field->deprecated())
        return bad("required field is missing; detail = byte offset of its table", at, field);
      continue;
    }
    if (field->deprecated()) continue;  // nobody reads it
    const Extent extent = extent_of(schema_, field->type()->base_type(), field->type()->index());
    if (offset < 4 || offset + extent.size > table_size || (at + offset) % extent.align != 0) {
      return bad("field lies outside its table or is misaligned; detail = byte offset", at + offset, field);
    }
    if (Status status = check_field(at, at + offset, *field, depth); !status.ok()) return status;
  }
  return {};
}

Status StructureCheck::check_field(uint32_t table, uint32_t at, const reflection::Field& field, uint32_t depth) {
  const reflection::Type& type = *field.type();
  switch (type.base_type()) {
    case reflection::String:
      return check_string(at, field);
    case reflection::Vector:
      return check_vector(at, field, depth);
    case reflection::Obj: {
      const reflection::Object& object = object_at(schema_, type.index());
      if (object.is_struct()) return {};
      const uint32_t to = target(at);
      if (to == 0) return bad("offset of a table leads outside; detail = byte offset", at, &field);
      return check_table(to, object, depth + 1, &field);
    }
    case reflection::Union: {
      const uint32_t to = target(at);
      if (to == 0) return bad("offset of a union leads outside; detail = byte offset", at, &field);
      const uint32_t tag = view_.field(table, field.offset() - 2u);  // its type field has the id before
      // Fields come in the order of their names, so the type field may not have been looked at yet.
      if (tag != 0 && !inside(tag, 1))
        return bad("union's member number lies outside; detail = byte offset", tag, &field);
      const uint8_t member = tag != 0 ? view_.load<uint8_t>(tag) : uint8_t{0};
      for (const reflection::EnumVal* value : *enum_at(schema_, type.index()).values()) {
        if (value->value() != member || member == 0) continue;
        return check_table(to, object_at(schema_, value->union_type()->index()), depth + 1, &field);
      }
      return {};  // an unknown member is the semantic pass's business; nothing follows the offset
    }
    default:
      return {};
  }
}

Status StructureCheck::check_string(uint32_t at, const reflection::Field& field) const {
  const uint32_t to = target(at);
  if (to == 0) return bad("offset of a text leads outside; detail = byte offset", at, &field);
  const uint64_t length = view_.load<uint32_t>(to);
  if (!inside(to, 4 + length + 1) || view_.load<uint8_t>(to + 4 + static_cast<uint32_t>(length)) != 0) {
    return bad("text does not fit or does not end with 0; detail = byte offset", to, &field);
  }
  return {};
}

Status StructureCheck::check_vector(uint32_t at, const reflection::Field& field, uint32_t depth) {
  const reflection::Type& type = *field.type();
  const uint32_t to = target(at);
  if (to == 0) return bad("offset of a vector leads outside; detail = byte offset", at, &field);
  const Extent element = extent_of(schema_, type.element(), type.index());
  const uint64_t count = view_.load<uint32_t>(to);
  if (!inside(to, 4 + count * element.size)) return bad("vector does not fit; detail = byte offset", to, &field);
  if ((to + 4) % element.align != 0) return bad("vector's elements are misaligned; detail = byte offset", to, &field);
  const bool strings = type.element() == reflection::String;
  const bool tables = type.element() == reflection::Obj && !object_at(schema_, type.index()).is_struct();
  if (!strings && !tables) return {};
  if (!spend(count * 4)) return bad("vectors are shared too often; detail = byte offset", to, &field);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = to + 4 + 4 * i;
    Status status;
    if (strings) {
      status = check_string(slot, field);
    } else {
      const uint32_t table = target(slot);
      status = table == 0 ? bad("offset of a table leads outside; detail = byte offset", slot, &field)
                          : check_table(table, object_at(schema_, type.index()), depth + 1, &field);
    }
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status check_structure(std::span<const std::byte> bytes, std::span<const std::byte> bfbs) {
  return StructureCheck(bytes, schema_of(bfbs)).run();
}

}  // namespace meridian::detail
