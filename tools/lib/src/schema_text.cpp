// SPDX-License-Identifier: MIT
// A reflection schema as a .fbs file that compiles to the same layout again, docs included.
#include <algorithm>
#include <set>

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

class SchemaText {
 public:
  explicit SchemaText(const reflection::Schema& schema) : schema_(schema) {}

  std::string run() {
    out_ = "include \"meridian/xml.fbs\";\n\n";
    if (schema_.root_table() != nullptr) {
      const std::string full = schema_.root_table()->name()->str();
      const size_t dot = full.rfind('.');
      if (dot != std::string::npos) out_ += "namespace " + full.substr(0, dot) + ";\n\n";
    }
    for (const reflection::Enum* e : *schema_.enums())
      if (!e->is_union()) enumeration(*e);
    for (const reflection::Object* o : *schema_.objects())
      if (o->is_struct()) object(*o);
    // Tables may be named before they stand there; unions may not.
    for (const reflection::Enum* e : *schema_.enums())
      if (e->is_union()) union_type(*e);
    for (const reflection::Object* o : *schema_.objects())
      if (!o->is_struct()) object(*o);
    if (schema_.root_table() != nullptr) out_ += "root_type " + short_name(schema_.root_table()->name()) + ";\n";
    if (schema_.file_ident() != nullptr && schema_.file_ident()->size() > 0)
      out_ += "file_identifier \"" + schema_.file_ident()->str() + "\";\n";
    if (schema_.file_ext() != nullptr && schema_.file_ext()->size() > 0)
      out_ += "file_extension \"" + schema_.file_ext()->str() + "\";\n";
    return std::move(out_);
  }

 private:
  static const char* base_name(reflection::BaseType type) {
    static constexpr const char* names[] = {"none",   "utype",  "bool",   "byte",   "ubyte", "short",
                                            "ushort", "int",    "uint",   "long",   "ulong", "float",
                                            "double", "string", "vector", "object", "union", "array"};
    return static_cast<size_t>(type) < std::size(names) ? names[static_cast<size_t>(type)] : "none";
  }

  template <class Docs>
  void docs(const Docs* lines, const char* indent) {
    if (lines != nullptr)
      for (const flatbuffers::String* line : *lines) out_.append(indent).append("///").append(line->str()).append("\n");
  }

  template <class List>
  void attributes(const List* list) {
    if (list == nullptr) return;
    std::string text;
    for (const reflection::KeyValue* kv : *list) {
      const std::string key = kv->key()->str();
      if (key == "id") continue;  // the order says the same, and all or none must have one
      text += (text.empty() ? " (" : ", ") + key;
      // An attribute without a value has the text "0" in a binary schema.
      if (kv->value() == nullptr || kv->value()->size() == 0 || kv->value()->str() == "0") continue;
      text += ": ";
      if (key == "force_align")
        text += kv->value()->str();
      else
        text.append("\"").append(kv->value()->str()).append("\"");
    }
    if (!text.empty()) out_ += text + ")";
  }

  void enumeration(const reflection::Enum& e) {
    docs(e.documentation(), "");
    out_ += "enum " + short_name(e.name()) + " : " + base_name(e.underlying_type()->base_type());
    attributes(e.attributes());
    out_ += " {\n";
    for (const reflection::EnumVal* v : *e.values()) {
      docs(v->documentation(), "  ");
      out_ += "  " + v->name()->str() + " = " + std::to_string(is_flags(e) ? bit_of(v->value()) : v->value()) + ",\n";
    }
    out_ += "}\n\n";
  }

  void union_type(const reflection::Enum& e) {
    docs(e.documentation(), "");
    out_ += "union " + short_name(e.name());
    attributes(e.attributes());
    out_ += " {\n";
    for (const reflection::EnumVal* v : *e.values()) {
      const reflection::Type* const type = v->union_type();
      if (type == nullptr || type->index() < 0) continue;
      docs(v->documentation(), "  ");
      const std::string member =
          short_name(schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(type->index()))->name());
      out_ += "  " + (member == v->name()->str() ? member : v->name()->str() + ":" + member) + ",\n";
    }
    out_ += "}\n\n";
  }

  // A struct must stand before the structs that hold it.
  void object(const reflection::Object& o) {
    if (!done_.insert(o.name()->str()).second) return;
    std::vector<const reflection::Field*> fields(o.fields()->begin(), o.fields()->end());
    std::sort(fields.begin(), fields.end(),
              [](const reflection::Field* a, const reflection::Field* b) { return a->offset() < b->offset(); });
    if (o.is_struct())
      for (const reflection::Field* f : fields)
        if (f->type()->base_type() == reflection::Obj)
          object(*schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(f->type()->index())));
    docs(o.documentation(), "");
    out_ += std::string(o.is_struct() ? "struct " : "table ") + short_name(o.name());
    attributes(o.attributes());
    out_ += o.is_struct() ? " {  // " + std::to_string(o.bytesize()) + " bytes\n" : " {\n";
    for (const reflection::Field* f : fields) {
      if (f->type()->base_type() == reflection::UType) continue;  // comes with its union
      docs(f->documentation(), "  ");
      out_ += "  " + f->name()->str() + ":" + type_text(*f->type());
      if (!o.is_struct()) out_ += default_text(*f);
      attributes(f->attributes());
      out_ += ";\n";
    }
    out_ += "}\n\n";
  }

  std::string type_text(const reflection::Type& t) const {
    const bool vector = t.base_type() == reflection::Vector;
    const reflection::BaseType base = vector ? t.element() : t.base_type();
    std::string text = base_name(base);
    if (t.index() >= 0)
      text = base == reflection::Obj
                 ? short_name(schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(t.index()))->name())
                 : short_name(schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(t.index()))->name());
    return vector ? "[" + text + "]" : text;
  }

  std::string default_text(const reflection::Field& f) const {
    const reflection::BaseType base = f.type()->base_type();
    if (base >= reflection::String) return {};
    if (f.optional()) return " = null";
    std::string text;
    if (base == reflection::Float || base == reflection::Double) {
      if (f.default_real() == 0.0) return {};
      const Scalar scalar = base == reflection::Float ? Scalar::f32 : Scalar::f64;
      append_number(text, scalar, float_bits(scalar, f.default_real()));
      return " = " + text;
    }
    if (f.default_integer() == 0) return {};
    if (base == reflection::Bool) return " = true";
    if (f.type()->index() >= 0)
      for (const reflection::EnumVal* v :
           *schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(f.type()->index()))->values())
        if (v->value() == f.default_integer()) return " = " + v->name()->str();
    return " = " + std::to_string(f.default_integer());
  }

  static bool is_flags(const reflection::Enum& e) {
    if (e.attributes() != nullptr)
      for (const reflection::KeyValue* kv : *e.attributes())
        if (kv->key()->string_view() == "bit_flags") return true;
    return false;
  }
  static int64_t bit_of(int64_t value) {
    int64_t bit = 0;
    while (bit < 63 && static_cast<uint64_t>(value) >> bit != 1) ++bit;
    return bit;
  }

  const reflection::Schema& schema_;
  std::string out_;
  std::set<std::string> done_;
};

}  // namespace

std::string schema_text(const LoadedResource& r) {
  return SchemaText(*reflection::GetSchema(r.binding->bfbs().data())).run();
}

}  // namespace meridian::tools
