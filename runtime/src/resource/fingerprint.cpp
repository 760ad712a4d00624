// SPDX-License-Identifier: MIT
#include "meridian/resource/fingerprint.h"

#include <bit>
#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "resource/schema_view.h"

// The canonical text, one line for each thing, types in name order (as flatc sorts them), fields in layout order:
//
//   root meridian.schema.MapData
//   struct meridian.schema.EntityDef 80 16
//    position 16 struct meridian.schema.Vec3
//   table meridian.schema.MapData
//    entities 6 [struct meridian.schema.EntityDef]
//   enum meridian.schema.LodLevel ubyte
//   union meridian.schema.Definition utype
//    1 meridian.schema.ParticleEffect
//
// Defaults of table fields belong to the layout too: a field equal to its default is not stored, so another default
// would silently give old files another value. The schema fingerprint adds attributes, enumerators and flags.

namespace meridian {
namespace detail {
namespace {

constexpr const char* kCanonicalNames[] = {"none",   "utype",  "bool",   "byte", "ubyte", "short",
                                           "ushort", "int",    "uint",   "long", "ulong", "float",
                                           "double", "string", "vector", "obj",  "union", "array"};

class CanonicalText {
 public:
  CanonicalText() { XXH3_64bits_reset(&state_); }
  CanonicalText& put(std::string_view text) {
    XXH3_64bits_update(&state_, text.data(), text.size());
    return *this;
  }
  CanonicalText& put(int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number);
    return put(" ").put(std::string_view(digits, static_cast<size_t>(end.ptr - digits)));
  }
  uint64_t hash() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

void put_attributes(CanonicalText& out, const Attributes* attributes) {
  if (attributes == nullptr) return;
  for (const reflection::KeyValue* entry : *attributes) {
    // These four are told by the field itself; flatc adds them as attributes only with --bfbs-builtins.
    const std::string_view key = text_of(entry->key());
    if (key == "id" || key == "deprecated" || key == "required" || key == "key") continue;
    // A length before each value: texts with spaces cannot be taken for something else.
    out.put("  (").put(key).put(static_cast<int64_t>(text_of(entry->value()).size())).put(" ");
    out.put(text_of(entry->value())).put(")\n");
  }
}

void put_type(CanonicalText& out, const reflection::Schema& schema, const reflection::Type& type) {
  const bool vector = type.base_type() == reflection::Vector;
  const reflection::BaseType base = vector ? type.element() : type.base_type();
  out.put(vector ? " [" : " ");
  if (base == reflection::Obj) {
    const reflection::Object& object = object_at(schema, type.index());
    out.put(object.is_struct() ? "struct " : "table ").put(text_of(object.name()));
  } else {
    out.put(kCanonicalNames[base]);
    if (type.index() >= 0) out.put(" ").put(text_of(enum_at(schema, type.index()).name()));
  }
  if (vector) out.put("]");
}

void put_object(CanonicalText& out, const reflection::Schema& schema, const reflection::Object& object, bool full) {
  out.put(object.is_struct() ? "struct " : "table ").put(text_of(object.name()));
  if (object.is_struct()) out.put(object.bytesize()).put(object.minalign());
  out.put("\n");
  if (full) put_attributes(out, object.attributes());
  const FieldOrder order(object);
  for (uint32_t i = 0; i < order.size(); ++i) {
    const reflection::Field& field = order.field(object, i);
    out.put(" ").put(text_of(field.name())).put(object.is_struct() ? field.offset() : field.id());
    put_type(out, schema, *field.type());
    if (!object.is_struct()) {
      out.put(field.default_integer()).put(std::bit_cast<int64_t>(field.default_real())).put(field.optional() ? 1 : 0);
    }
    if (full) out.put(field.deprecated() ? 1 : 0).put(field.required() ? 1 : 0).put(field.key() ? 1 : 0);
    out.put("\n");
    if (full) put_attributes(out, field.attributes());
  }
}

void put_enum(CanonicalText& out, const reflection::Schema& schema, const reflection::Enum& object, bool full) {
  out.put(object.is_union() ? "union " : "enum ").put(text_of(object.name())).put(" ");
  out.put(kCanonicalNames[object.underlying_type()->base_type()]).put("\n");
  if (full) put_attributes(out, object.attributes());
  if (!full && !object.is_union()) return;
  for (const reflection::EnumVal* value : *object.values()) {
    out.put(" ").put(value->value());
    if (full) out.put(" ").put(text_of(value->name()));
    const reflection::Type* member = value->union_type();
    if (object.is_union() && member != nullptr && member->base_type() == reflection::Obj) {
      out.put(" ").put(text_of(object_at(schema, member->index()).name()));
    }
    out.put("\n");
  }
}

uint64_t fingerprint(std::span<const std::byte> bfbs, bool full) {
  const reflection::Schema& schema = schema_of(bfbs);
  const Reachable reachable(schema);
  CanonicalText out;
  out.put("root ").put(text_of(schema.root_table()->name())).put("\n");
  if (full) out.put("file ").put(text_of(schema.file_ident())).put(" ").put(text_of(schema.file_ext())).put("\n");
  for (uint32_t i = 0; i < schema.objects()->size(); ++i) {
    if (reachable.object(i)) put_object(out, schema, *schema.objects()->Get(i), full);
  }
  for (uint32_t i = 0; i < schema.enums()->size(); ++i) {
    if (reachable.enumeration(i)) put_enum(out, schema, *schema.enums()->Get(i), full);
  }
  return out.hash();
}

}  // namespace
}  // namespace detail

uint64_t layout_fingerprint(std::span<const std::byte> bfbs) { return detail::fingerprint(bfbs, false); }
uint64_t schema_fingerprint(std::span<const std::byte> bfbs) { return detail::fingerprint(bfbs, true); }

}  // namespace meridian
