// SPDX-License-Identifier: MIT
#include "meridian/tools/binding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

#include "flatbuffers/reflection_generated.h"
#include "meridian/base/name_hash.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

uint64_t hash_text(std::string_view text) {  // FNV-1a: short keys, and no seed that changes between runs
  uint64_t h = 0xCBF29CE484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

Scalar scalar_of(reflection::BaseType type) {
  switch (type) {
    case reflection::Bool:
      return Scalar::boolean;
    case reflection::Byte:
      return Scalar::i8;
    case reflection::UByte:
    case reflection::UType:
      return Scalar::u8;
    case reflection::Short:
      return Scalar::i16;
    case reflection::UShort:
      return Scalar::u16;
    case reflection::Int:
      return Scalar::i32;
    case reflection::UInt:
      return Scalar::u32;
    case reflection::Long:
      return Scalar::i64;
    case reflection::ULong:
      return Scalar::u64;
    case reflection::Float:
      return Scalar::f32;
    case reflection::Double:
      return Scalar::f64;
    default:
      return Scalar::none;
  }
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const size_t end = std::min(text.find(' ', i), text.size());
    out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string_view short_name(std::string_view full) {
  const size_t dot = full.rfind('.');
  return dot == std::string_view::npos ? full : full.substr(dot + 1);
}

}  // namespace

// The attributes of a reflection object, field or enum.
class SchemaAttributes {
 public:
  using List = flatbuffers::Vector<flatbuffers::Offset<reflection::KeyValue>>;
  explicit SchemaAttributes(const List* list) : list_(list) {}
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string get(std::string_view key) const {
    const reflection::KeyValue* kv = find(key);
    return kv != nullptr && kv->value() != nullptr ? kv->value()->str() : std::string();
  }

 private:
  const reflection::KeyValue* find(std::string_view key) const {
    if (list_ != nullptr)
      for (const reflection::KeyValue* kv : *list_)
        if (kv->key()->string_view() == key) return kv;
    return nullptr;
  }
  const List* list_;
};

const EnumValue* EnumPlan::find(std::string_view xml_name) const {
  for (const EnumValue& v : values)
    if (v.xml == xml_name) return &v;
  return nullptr;
}

const EnumValue* EnumPlan::find(int64_t value) const {
  for (const EnumValue& v : values)
    if (v.value == value) return &v;
  return nullptr;
}

int TypePlan::find(std::string_view element, bool& alias) const {
  alias = false;
  if (slots.empty()) return -1;
  const uint64_t hash = hash_text(element);
  for (uint32_t i = static_cast<uint32_t>(hash) & slot_mask;; i = (i + 1) & slot_mask) {
    const NameSlot& slot = slots[i];
    if (slot.field < 0) return -1;
    if (slot.hash == hash && slot.text == element) {
      alias = slot.alias;
      return slot.field;
    }
  }
}

bool Binding::reads_root(std::string_view element) const {
  if (root_->cooked) return false;
  return root_->xml == element ||
         std::find(root_->aliases.begin(), root_->aliases.end(), element) != root_->aliases.end();
}

int TypePlan::field_index(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == field) return static_cast<int>(i);
  return -1;
}

const FieldPlan* TypePlan::field_named(std::string_view field) const {
  const int index = field_index(field);
  return index < 0 ? nullptr : &fields[static_cast<size_t>(index)];
}

int TypePlan::find_attribute(std::string_view attribute) const {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].in_xml && (fields[i].is_xml_attribute || lanes_are_attributes) && fields[i].xml == attribute)
      return static_cast<int>(i);
  return -1;
}

void TypePlan::names(std::vector<std::string_view>& out) const {
  for (const FieldPlan& f : fields)
    if (f.in_xml && !f.is_xml_attribute) out.push_back(f.xml);
}

// Makes the plans of one schema.
class BindingMaker {
 public:
  BindingMaker(Binding& binding, std::string& error)
      : binding_(binding), error_(error), schema_(*reflection::GetSchema(binding.bfbs_.data())) {}

  bool make() {
    if (schema_.root_table() == nullptr) return fail("the schema has no root_type");
    if (schema_.file_ident() == nullptr || schema_.file_ident()->size() != 4)
      return fail("the schema has no file_identifier");
    const char* const id = schema_.file_ident()->c_str();
    binding_.kind_ = kind_of({id[0], id[1], id[2], id[3], 0});
    binding_.extension_ = schema_.file_ext() != nullptr ? schema_.file_ext()->str() : std::string();
    for (const reflection::Enum* e : *schema_.enums()) make_enum(*e);
    // All types first, so that fields can point to them.
    for (const reflection::Object* o : *schema_.objects()) {
      auto type = std::make_unique<TypePlan>();
      type->full_name = o->name()->str();
      type->name = short_name(type->full_name);
      by_name_[type->full_name] = type.get();
      binding_.types_.push_back(std::move(type));
    }
    for (flatbuffers::uoffset_t i = 0; i < schema_.objects()->size(); ++i)
      if (!make_type(*schema_.objects()->Get(i), *binding_.types_[i])) return false;
    for (flatbuffers::uoffset_t i = 0; i < schema_.enums()->size(); ++i)
      bind_union(*schema_.enums()->Get(i), *binding_.enums_[i]);
    for (flatbuffers::uoffset_t i = 0; i < schema_.objects()->size(); ++i) {
      TypePlan& type = *binding_.types_[i];
      if (!link(*schema_.objects()->Get(i), type)) return false;
      fill_slots(type);
    }
    for (const auto& type : binding_.types_)
      if (type->is_struct && !make_defaults(*type)) return false;
    for (const auto& type : binding_.types_)
      if (!type->is_struct && !struct_field_defaults(*type)) return false;
    binding_.root_ = by_name_[schema_.root_table()->name()->str()];
    return true;
  }

 private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  void make_enum(const reflection::Enum& e) {
    auto plan = std::make_unique<EnumPlan>();
    const SchemaAttributes attributes(e.attributes());
    plan->name = short_name(e.name()->string_view());
    plan->closed = attributes.has("closed");
    plan->flags = attributes.has("bit_flags");
    plan->is_union = e.is_union();
    const std::string prefix = attributes.get("prefix");
    for (const reflection::EnumVal* v : *e.values())
      plan->values.push_back({v->name()->str(), prefix + v->name()->str(), v->value(), nullptr});
    binding_.enums_.push_back(std::move(plan));
  }

  void bind_union(const reflection::Enum& e, EnumPlan& plan) {
    if (!e.is_union()) return;
    for (flatbuffers::uoffset_t i = 0; i < e.values()->size(); ++i) {
      const reflection::Type* type = e.values()->Get(i)->union_type();
      if (type == nullptr || type->index() < 0) continue;
      plan.values[i].type = binding_.types_[static_cast<size_t>(type->index())].get();
      plan.values[i].xml = plan.values[i].type->xml;
    }
  }

  bool make_type(const reflection::Object& o, TypePlan& type) {
    const SchemaAttributes attributes(o.attributes());
    type.is_struct = o.is_struct();
    type.xml = attributes.has("xml") ? attributes.get("xml") : type.name;
    type.is_typed = attributes.has("xml");
    type.aliases = words(attributes.get("alias"));
    type.noun = attributes.get("noun");
    type.sparse = attributes.has("sparse");
    type.cooked = attributes.has("cooked");
    type.lanes_are_attributes = attributes.has("xml_attrs");
    type.lanes_are_text = attributes.has("xml_text");
    type.unknown_item = attributes.has("unknown_item");
    type.checks = words(attributes.get("check"));
    type.size = static_cast<uint32_t>(o.bytesize());
    type.align = static_cast<uint32_t>(std::max(1, o.minalign()));

    std::vector<const reflection::Field*> fields(o.fields()->begin(), o.fields()->end());
    // The binary schema lists fields by name; their order in the .fbs is that of offsets or ids.
    std::sort(fields.begin(), fields.end(), [&](const reflection::Field* a, const reflection::Field* b) {
      return type.is_struct ? a->offset() < b->offset() : a->id() < b->id();
    });
    if (fields.size() > 256) return fail("'" + type.name + "' has more than 256 fields");
    for (const reflection::Field* f : fields)
      if (!f->deprecated() && !make_field(*f, type)) return false;
    return true;
  }

  bool make_field(const reflection::Field& f, TypePlan& type) {
    const SchemaAttributes attributes(f.attributes());
    const auto bad = [&](const std::string& why) {
      return fail("field '" + type.name + "." + f.name()->str() + "': " + why);
    };
    FieldPlan p;
    p.name = f.name()->str();
    p.xml = attributes.has("xml") ? attributes.get("xml") : p.name;
    p.aliases = words(attributes.get("alias"));
    if (attributes.has("item")) p.item = attributes.get("item");
    p.lanes_pattern = attributes.get("named_lanes");
    p.rule_code = attributes.get("rule");
    p.known_list = attributes.get("known");
    p.size_element = attributes.get("hex_bytes");
    p.is_xml_attribute = attributes.has("xml_attr");
    // An attribute that was given no value has the text "0" in a binary schema.
    if (const std::string name = attributes.get("xml_attr"); !name.empty() && name != "0") p.xml = name;
    p.required_name = attributes.has("required_name");
    p.optional = f.optional();
    p.required = f.required();
    p.id = f.id();
    p.offset = f.offset();
    p.item_type = attributes.get("item_type");
    p.index_of = attributes.get("index_of");
    if (attributes.has("max_bytes"))
      p.max_bytes = static_cast<uint32_t>(std::atoi(attributes.get("max_bytes").c_str()));
    p.cooked = attributes.has("cooked");
    if (p.cooked && type.is_struct) return bad("cooked is for fields of tables");
    p.in_xml =
        !p.cooked && !attributes.has("pad") && !attributes.has("owner") && f.type()->base_type() != reflection::UType;

    const reflection::Type& t = *f.type();
    const reflection::BaseType base = t.base_type() == reflection::Vector ? t.element() : t.base_type();
    const bool vector = t.base_type() == reflection::Vector;
    p.scalar = scalar_of(base);
    if (t.index() >= 0 && base == reflection::Obj) p.type = binding_.types_[static_cast<size_t>(t.index())].get();
    if (t.index() >= 0 && base != reflection::Obj)
      p.enumeration = binding_.enums_[static_cast<size_t>(t.index())].get();
    if (t.base_type() == reflection::Array)
      return bad("fixed arrays have no XML form (and not every language reads them)");
    if (vector && (base == reflection::Union || base == reflection::UType))
      return bad("vectors of unions have no XML form; wrap the union in a table (item_union)");
    if (p.type != nullptr) {
      const reflection::Object& o = *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(t.index()));
      p.kind = o.is_struct() ? (vector ? FieldKind::struct_vector : FieldKind::structure)
                             : (vector ? FieldKind::table_vector : FieldKind::table);
      p.size = o.is_struct() ? static_cast<uint32_t>(o.bytesize()) : 4;
      p.align = o.is_struct() ? static_cast<uint32_t>(std::max(1, o.minalign())) : 4;
    } else if (base == reflection::String) {
      p.kind = vector ? FieldKind::string_vector : FieldKind::string;
      p.size = p.align = 4;
    } else if (base == reflection::Union) {
      p.kind = FieldKind::union_value;
      p.size = p.align = 4;
    } else if (p.scalar != Scalar::none) {
      p.kind = vector ? FieldKind::scalar_vector : FieldKind::scalar;
      p.size = p.align = scalar_size(p.scalar);
    } else {
      return bad("type has no XML form");
    }
    const bool is_float = p.scalar == Scalar::f32 || p.scalar == Scalar::f64;
    if (p.scalar != Scalar::none && !is_float) {
      p.range_min = scalar_min(p.scalar);
      p.range_max = scalar_max(p.scalar);
      if (attributes.has("range")) {
        const std::vector<std::string> ends = words(attributes.get("range"));
        if (ends.size() != 2) return bad("range needs \"min max\"");
        p.range_min = std::strtoll(ends[0].c_str(), nullptr, 10);
        p.range_max = std::strtoll(ends[1].c_str(), nullptr, 10);
      }
    }
    if (p.kind == FieldKind::scalar && !type.is_struct)
      p.default_bits = is_float ? float_bits(p.scalar, f.default_real())
                                : low_bits(static_cast<uint64_t>(f.default_integer()), p.size);

    const auto needs = [&](const char* attribute, bool fits, Converter converter) {
      if (!attributes.has(attribute)) return true;
      p.converter = converter;
      return fits || bad(std::string(attribute) + " does not fit the field's type");
    };
    const bool u32 = p.scalar == Scalar::u32 && (p.kind == FieldKind::scalar || p.kind == FieldKind::scalar_vector);
    if (!needs("joaat", u32, Converter::name) || !needs("hash_number", u32, Converter::hash_number) ||
        !needs("color_word", u32, Converter::color) ||
        !needs("enum_text", p.enumeration != nullptr && !p.enumeration->flags, Converter::enum_text) ||
        !needs("flag_text", p.enumeration != nullptr && p.enumeration->flags, Converter::flag_text) ||
        !needs("xml_text", p.kind == FieldKind::structure, Converter::text_lanes) ||
        !needs("named_lanes", p.kind == FieldKind::structure, Converter::named_lanes) ||
        !needs("vectors", p.kind == FieldKind::struct_vector, Converter::vectors) ||
        !needs("hex_bytes", p.kind == FieldKind::scalar_vector && p.size == 1, Converter::hex_bytes))
      return false;
    static const std::map<std::string, Derive, std::less<>> derives{{"stem", Derive::stem},
                                                                    {"lod_level", Derive::lod_level},
                                                                    {"asset_name", Derive::asset_name},
                                                                    {"box_centre", Derive::box_centre},
                                                                    {"box_radius", Derive::box_radius}};
    if (attributes.has("derive")) {
      const auto it = derives.find(attributes.get("derive"));
      if (it == derives.end()) return bad("unknown derive function '" + attributes.get("derive") + "'");
      p.derive = it->second;
    }
    if (attributes.has("owner")) type.owner_field = static_cast<int>(type.fields.size());
    type.fields.push_back(std::move(p));
    return true;
  }

  // What needs the other fields of a type to be known.
  bool link(const reflection::Object& o, TypePlan& type) {
    const std::string wrapped = SchemaAttributes(o.attributes()).get("item_union");
    for (size_t i = 0; i < type.fields.size(); ++i) {
      FieldPlan& p = type.fields[i];
      // A struct type may ask for its form everywhere; a field's own attribute comes first.
      if ((p.kind == FieldKind::structure || p.kind == FieldKind::struct_vector) && p.converter == Converter::plain) {
        if (p.type->lanes_are_attributes) p.converter = Converter::attributes;
        if (p.type->lanes_are_text) p.converter = Converter::text_lanes;
      }
      if (p.kind == FieldKind::union_value) {
        if (p.name != wrapped)
          return fail("union '" + type.name + "." + p.name + "' needs an item_union table around it");
        type.union_field = static_cast<int>(i);
        p.in_xml = false;
      }
      const reflection::Field* f = nullptr;
      for (const reflection::Field* candidate : *o.fields())
        if (candidate->name()->string_view() == p.name) f = candidate;
      const std::string host = SchemaAttributes(f->attributes()).get("hoist_from");
      if (host.empty()) continue;
      const auto it =
          std::find_if(type.fields.begin(), type.fields.end(), [&](const FieldPlan& x) { return x.name == host; });
      const std::string where = "field '" + type.name + "." + p.name + "': ";
      if (it == type.fields.end() || it->kind != FieldKind::struct_vector)
        return fail(where + "hoist_from names no vector of structs in this table");
      if (p.kind != FieldKind::table_vector || p.type->owner_field < 0)
        return fail(where + "a hoisted vector holds tables with an owner field");
      p.hoist_from = static_cast<int>(it - type.fields.begin());
      it->hoisted.push_back(static_cast<int>(i));
      p.in_xml = false;
    }
    return true;
  }

  void fill_slots(TypePlan& type) {
    size_t names = 0;
    for (const FieldPlan& p : type.fields) names += 1 + p.aliases.size();
    uint32_t capacity = 4;
    while (capacity < names * 2) capacity *= 2;
    type.slots.assign(capacity, {});
    type.slot_mask = capacity - 1;
    const auto add = [&](std::string_view text, size_t field, bool alias) {
      const uint64_t hash = hash_text(text);
      uint32_t i = static_cast<uint32_t>(hash) & type.slot_mask;
      while (type.slots[i].field >= 0) i = (i + 1) & type.slot_mask;
      type.slots[i] = {hash, static_cast<int16_t>(field), alias, text};
    };
    for (size_t i = 0; i < type.fields.size(); ++i) {
      const FieldPlan& p = type.fields[i];
      if (!p.in_xml || p.is_xml_attribute) continue;
      add(p.xml, i, false);
      for (const std::string& alias : p.aliases) add(alias, i, true);
    }
  }

  const reflection::Field& reflection_field(const TypePlan& type, const FieldPlan& p) const {
    return *schema_.objects()->LookupByKey(type.full_name.c_str())->fields()->LookupByKey(p.name.c_str());
  }

  // Fills default_struct, nested structs first.
  bool make_defaults(TypePlan& type) {
    if (!type.default_struct.empty()) return true;
    type.default_struct.assign(type.size, 0);
    for (FieldPlan& p : type.fields) {
      uint8_t* const at = type.default_struct.data() + p.offset;
      if (p.kind == FieldKind::structure) {
        if (!make_defaults(const_cast<TypePlan&>(*p.type))) return false;
        std::memcpy(at, p.type->default_struct.data(), p.size);
      }
      const std::string text = SchemaAttributes(reflection_field(type, p).attributes()).get("default");
      if (!text.empty() && !parse_default(type, p, text, at)) return false;
      p.default_bytes.assign(at, at + p.size);
      if (p.kind == FieldKind::scalar) std::memcpy(&p.default_bits, at, p.size);
    }
    return true;
  }

  bool struct_field_defaults(TypePlan& type) {
    for (FieldPlan& p : type.fields) {
      if (p.kind != FieldKind::structure) continue;
      p.default_bytes = p.type->default_struct;
      const std::string text = SchemaAttributes(reflection_field(type, p).attributes()).get("default");
      if (!text.empty() && !parse_default(type, p, text, p.default_bytes.data())) return false;
    }
    return true;
  }

  bool parse_default(const TypePlan& type, const FieldPlan& p, const std::string& text, uint8_t* at) {
    const auto bad = [&] {
      return fail("field '" + type.name + "." + p.name + "': default '" + text + "' does not fit");
    };
    std::vector<std::string> lanes = words(text);
    if (p.kind == FieldKind::scalar) {
      if (lanes.size() != 1) return bad();
      if (p.enumeration != nullptr)
        if (const EnumValue* v = p.enumeration->find(lanes[0])) lanes[0] = std::to_string(v->value);
      return store_number(lanes[0], p.scalar, at) || bad();
    }
    size_t lane = 0;
    for (const FieldPlan& f : p.type->fields) {
      if (f.kind != FieldKind::scalar || lane >= lanes.size()) return bad();
      if (!store_number(lanes[lane++], f.scalar, at + f.offset)) return bad();
    }
    return lane == lanes.size() || bad();
  }

  Binding& binding_;
  std::string& error_;
  const reflection::Schema& schema_;
  std::map<std::string, const TypePlan*, std::less<>> by_name_;
};

Binding::Binding() = default;
Binding::~Binding() = default;

std::unique_ptr<const Binding> Binding::create(std::vector<uint8_t> bfbs, std::string& error) {
  std::unique_ptr<Binding> binding(new Binding);
  binding->bfbs_ = std::move(bfbs);
  if (!BindingMaker(*binding, error).make()) return nullptr;
  const auto bytes = std::as_bytes(std::span<const uint8_t>(binding->bfbs_));
  binding->layout_fingerprint_ = meridian::layout_fingerprint(bytes);
  binding->schema_fingerprint_ = meridian::schema_fingerprint(bytes);
  return binding;
}

const Binding* Binding::builtin(uint32_t kind) {
  static std::mutex mutex;
  static std::map<uint32_t, std::unique_ptr<const Binding>> made;
  const std::lock_guard lock(mutex);
  const auto it = made.find(kind);
  if (it != made.end()) return it->second.get();
  const BuiltinSchema* schema = find_builtin_schema(kind);
  if (schema == nullptr) return nullptr;
  const auto* data = reinterpret_cast<const uint8_t*>(schema->bfbs.data());
  std::string error;
  auto binding = create(std::vector<uint8_t>(data, data + schema->bfbs.size()), error);
  if (binding == nullptr) throw std::logic_error("built-in schema '" + std::string(schema->name) + "': " + error);
  return (made[kind] = std::move(binding)).get();
}

}  // namespace meridian::tools
