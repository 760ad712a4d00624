// SPDX-License-Identifier: MIT
#include "strip_schema.h"

#include <string>

#include "flatbuffers/reflection_generated.h"

namespace meridian {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using Tables = flatbuffers::Vector<Offset<T>>;
using Strings = Tables<flatbuffers::String>;

Offset<flatbuffers::String> copy(FlatBufferBuilder& out, const flatbuffers::String* text) {
  return text != nullptr ? out.CreateString(text) : Offset<flatbuffers::String>();
}

/// Copies a vector, or leaves it out. `each` copies one element.
template <class T, class Each>
Offset<Tables<T>> copy_all(FlatBufferBuilder& out, const Tables<T>* from, Each each) {
  if (from == nullptr) return {};
  std::vector<Offset<T>> items;
  for (const T* item : *from) items.push_back(each(item));
  return out.CreateVector(items);
}

Offset<Strings> copy_docs(FlatBufferBuilder& out, const Strings* docs) {
  if (docs == nullptr) return {};
  std::vector<Offset<flatbuffers::String>> lines;
  for (const flatbuffers::String* line : *docs) lines.push_back(out.CreateString(line));
  return out.CreateVector(lines);
}

Offset<Tables<reflection::KeyValue>> copy_attributes(FlatBufferBuilder& out, const Tables<reflection::KeyValue>* from) {
  return copy_all<reflection::KeyValue>(out, from, [&](const reflection::KeyValue* item) {
    const auto key = copy(out, item->key());
    return reflection::CreateKeyValue(out, key, copy(out, item->value()));
  });
}

Offset<reflection::Type> copy_type(FlatBufferBuilder& out, const reflection::Type* type) {
  if (type == nullptr) return {};
  return reflection::CreateType(out, type->base_type(), type->element(), type->index(), type->fixed_length(),
                                type->base_size(), type->element_size());
}

Offset<reflection::Enum> copy_enum(FlatBufferBuilder& out, const reflection::Enum* from) {
  const auto values = copy_all<reflection::EnumVal>(out, from->values(), [&](const reflection::EnumVal* value) {
    const auto name = copy(out, value->name());
    const auto type = copy_type(out, value->union_type());
    return reflection::CreateEnumVal(out, name, value->value(), type, copy_docs(out, value->documentation()));
  });
  const auto name = copy(out, from->name());
  const auto type = copy_type(out, from->underlying_type());
  const auto attributes = copy_attributes(out, from->attributes());
  return reflection::CreateEnum(out, name, values, from->is_union(), type, attributes,
                                copy_docs(out, from->documentation()));
}

Offset<reflection::Field> copy_field(FlatBufferBuilder& out, const reflection::Field* from) {
  const auto name = copy(out, from->name());
  const auto type = copy_type(out, from->type());
  const auto attributes = copy_attributes(out, from->attributes());
  const auto docs = copy_docs(out, from->documentation());
  return reflection::CreateField(out, name, type, from->id(), from->offset(), from->default_integer(),
                                 from->default_real(), from->deprecated(), from->required(), from->key(), attributes,
                                 docs, from->optional(), from->padding());
}

Offset<reflection::Object> copy_object(FlatBufferBuilder& out, const reflection::Object* from) {
  const auto fields = copy_all<reflection::Field>(
      out, from->fields(), [&](const reflection::Field* field) { return copy_field(out, field); });
  const auto name = copy(out, from->name());
  const auto attributes = copy_attributes(out, from->attributes());
  return reflection::CreateObject(out, name, fields, from->is_struct(), from->minalign(), from->bytesize(), attributes,
                                  copy_docs(out, from->documentation()));
}

}  // namespace

std::vector<uint8_t> strip_schema(std::span<const std::byte> bfbs) {
  const reflection::Schema* from = reflection::GetSchema(bfbs.data());
  FlatBufferBuilder out;
  Offset<reflection::Object> root;
  const auto objects = copy_all<reflection::Object>(out, from->objects(), [&](const reflection::Object* object) {
    const auto copied = copy_object(out, object);
    if (object == from->root_table()) root = copied;
    return copied;
  });
  const auto enums = copy_all<reflection::Enum>(out, from->enums(),
                                                [&](const reflection::Enum* item) { return copy_enum(out, item); });
  const auto ident = copy(out, from->file_ident());
  const auto extension = copy(out, from->file_ext());
  reflection::FinishSchemaBuffer(
      out, reflection::CreateSchema(out, objects, enums, ident, extension, root, 0, from->advanced_features()));
  return {out.GetBufferPointer(), out.GetBufferPointer() + out.GetSize()};
}

}  // namespace meridian
