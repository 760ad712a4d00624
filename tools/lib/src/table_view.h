// SPDX-License-Identifier: MIT
#pragma once
/// Reading verified FlatBuffers by plan. Private to the dump, diff and stats code.
/// Requires everywhere: the bytes went through open_resource with the plan's schema.

#include <cstdint>
#include <string>
#include <string_view>

#include "flatbuffers/flatbuffers.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

/// A table or struct in a payload.
struct ObjectView {
  const uint8_t* data = nullptr;
  const TypePlan* type = nullptr;
  explicit operator bool() const { return data != nullptr; }
};

/// A vector in a payload; elements are `stride` bytes apart.
struct VectorView {
  const uint8_t* data = nullptr;  ///< first element
  uint32_t count = 0;
  uint32_t stride = 0;
};

inline ObjectView root_view(const LoadedResource& r) {
  return {reinterpret_cast<const uint8_t*>(r.resource.root<flatbuffers::Table>()), &r.binding->root()};
}

/// Where a field's value lies, or null if it is absent (tables only).
inline const uint8_t* field_address(ObjectView o, const FieldPlan& f) {
  if (o.type->is_struct) return o.data + f.offset;
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): views are made of verified tables, never of null
  return reinterpret_cast<const flatbuffers::Table*>(o.data)->GetAddressOf(f.offset);
}

inline const uint8_t* follow(const uint8_t* at) { return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at); }

inline ObjectView object_field(ObjectView o, const FieldPlan& f) {
  const uint8_t* const at = field_address(o, f);
  if (at == nullptr) return {nullptr, f.type};
  return {f.kind == FieldKind::structure ? at : follow(at), f.type};
}

inline std::string_view string_at(const uint8_t* at) {
  const auto* s = reinterpret_cast<const flatbuffers::String*>(follow(at));
  return {s->c_str(), s->size()};
}

inline VectorView vector_field(ObjectView o, const FieldPlan& f) {
  const uint8_t* const at = field_address(o, f);
  if (at == nullptr) return {};
  const uint8_t* const v = follow(at);
  return {v + 4, flatbuffers::ReadScalar<uint32_t>(v), f.size};
}

inline ObjectView element(const VectorView& v, const FieldPlan& f, uint32_t i) {
  const uint8_t* const at = v.data + size_t{i} * v.stride;
  return {f.kind == FieldKind::struct_vector ? at : follow(at), f.type};
}

/// The member that a union field holds, or null (none, or newer than the schema).
inline const EnumValue* union_member(ObjectView o, const FieldPlan& f) {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(o.data);
  const auto type = table->GetField<uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset - 2), 0);
  const EnumValue* v = f.enumeration->find(int64_t{type});
  return v != nullptr && v->type != nullptr && field_address(o, f) != nullptr ? v : nullptr;
}

/// The owner that a hoisted record names.
inline uint32_t owner_of(ObjectView record) {
  const FieldPlan& f = record.type->fields[static_cast<size_t>(record.type->owner_field)];
  const uint8_t* const at = field_address(record, f);
  return at == nullptr ? static_cast<uint32_t>(f.default_bits) : flatbuffers::ReadScalar<uint32_t>(at);
}

/// First record of a hoisted vector whose owner is >= `owner` (records are sorted by owner).
uint32_t first_record(const VectorView& records, const FieldPlan& f, uint32_t owner);

inline std::string path_join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}
inline std::string path_index(const std::string& path, uint32_t i) { return path + "[" + std::to_string(i) + "]"; }

/// A scalar as it stands in XML: number, name, enumerator, flag names, colour.
void append_scalar_text(std::string& out, const LoadedResource& r, const FieldPlan& f, const uint8_t* at);
/// True if append_scalar_text gives words, which XML carries as text and JSON quotes.
bool is_text_scalar(const FieldPlan& f);

}  // namespace meridian::tools
