// SPDX-License-Identifier: MIT
// A reflection schema as .fbs-like text, for reading.
#include <algorithm>

#include "flatbuffers/reflection_generated.h"
#include "meridian/tools/resource_view.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string short_name(const flatbuffers::String* full) {
  const std::string name = full->str();
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string type_text(const reflection::Schema& schema, const reflection::Type& t) {
  static constexpr const char* names[] = {"none", "utype", "bool", "byte", "ubyte", "short", "ushort", "int", "uint",
                                          "long", "ulong", "float", "double", "string", "vector", "object", "union", "array"};
  const bool vector = t.base_type() == reflection::Vector;
  const reflection::BaseType base = vector ? t.element() : t.base_type();
  std::string text = names[static_cast<size_t>(base)];
  if (t.index() >= 0)
    text = base == reflection::Obj ? short_name(schema.objects()->Get(static_cast<flatbuffers::uoffset_t>(t.index()))->name())
                                   : short_name(schema.enums()->Get(static_cast<flatbuffers::uoffset_t>(t.index()))->name());
  return vector ? "[" + text + "]" : text;
}

template <class Docs>
void docs(std::string& out, const Docs* lines, const char* indent) {
  if (lines != nullptr)
    for (const flatbuffers::String* line : *lines) out.append(indent).append("///").append(line->str()).append("\n");
}

template <class List>
std::string attributes(const List* list) {
  std::string text;
  if (list == nullptr) return text;
  for (const reflection::KeyValue* kv : *list) {
    text += (text.empty() ? " (" : ", ") + kv->key()->str();
    if (kv->value() != nullptr && kv->value()->size() > 0 && kv->value()->str() != "0") text += ": \"" + kv->value()->str() + "\"";
  }
  return text.empty() ? text : text + ")";
}

void append_real(std::string& out, const reflection::Field& f) {
  const Scalar scalar = f.type()->base_type() == reflection::Float ? Scalar::f32 : Scalar::f64;
  out += " = ";
  append_number(out, scalar, float_bits(scalar, f.default_real()));
}

}  // namespace

std::string schema_text(const LoadedResource& r) {
  const reflection::Schema& schema = *reflection::GetSchema(r.binding->bfbs().data());
  std::string out;
  if (schema.root_table() != nullptr) {
    const std::string full = schema.root_table()->name()->str();
    const size_t dot = full.rfind('.');
    if (dot != std::string::npos) out += "namespace " + full.substr(0, dot) + ";\n\n";
  }
  for (const reflection::Enum* e : *schema.enums()) {
    docs(out, e->documentation(), "");
    out += std::string(e->is_union() ? "union " : "enum ") + short_name(e->name()) + attributes(e->attributes()) + " {\n";
    for (const reflection::EnumVal* v : *e->values()) {
      docs(out, v->documentation(), "  ");
      out += "  " + v->name()->str() + " = " + std::to_string(v->value()) + ",\n";
    }
    out += "}\n\n";
  }
  for (const reflection::Object* o : *schema.objects()) {
    docs(out, o->documentation(), "");
    out += std::string(o->is_struct() ? "struct " : "table ") + short_name(o->name()) + attributes(o->attributes()) + " {";
    if (o->is_struct()) out += "  // " + std::to_string(o->bytesize()) + " bytes";
    out += "\n";
    std::vector<const reflection::Field*> fields(o->fields()->begin(), o->fields()->end());
    std::sort(fields.begin(), fields.end(), [](const reflection::Field* a, const reflection::Field* b) { return a->offset() < b->offset(); });
    for (const reflection::Field* f : fields) {
      if (f->type()->base_type() == reflection::UType) continue;
      docs(out, f->documentation(), "  ");
      out += "  " + f->name()->str() + ": " + type_text(schema, *f->type());
      if (f->optional() && f->type()->base_type() < reflection::String) out += " = null";
      else if (f->default_integer() != 0) out += " = " + std::to_string(f->default_integer());
      else if (f->default_real() != 0.0) append_real(out, *f);
      out += attributes(f->attributes()) + ";\n";
    }
    out += "}\n\n";
  }
  if (schema.root_table() != nullptr) out += "root_type " + short_name(schema.root_table()->name()) + ";\n";
  if (schema.file_ident() != nullptr) out += "file_identifier \"" + schema.file_ident()->str() + "\";\n";
  return out;
}

}  // namespace meridian::tools
