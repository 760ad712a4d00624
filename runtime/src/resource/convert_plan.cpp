// SPDX-License-Identifier: MIT
#include "resource/convert_plan.h"

#include <bit>

namespace meridian::detail {
namespace {

// Types meet in pairs; an honest schema makes about as many as it has types, an evil one could make the square.
constexpr uint32_t kMaxPairs = 4096;

constexpr const char* kBaseNames[] = {"none",   "union",  "bool",   "byte",   "ubyte", "short",
                                      "ushort", "int",    "uint",   "long",   "ulong", "float",
                                      "double", "string", "vector", "object", "union", "array"};

const reflection::Field* find_field(const reflection::Object& object, std::string_view name) {
  for (const reflection::Field* field : *object.fields()) {
    if (text_of(field->name()) == name && !field->deprecated()) return field;
  }
  return nullptr;
}

uint64_t default_bits(const reflection::Field& field) {
  switch (field.type()->base_type()) {
    case reflection::Float:
      return std::bit_cast<uint32_t>(static_cast<float>(field.default_real()));
    case reflection::Double:
      return std::bit_cast<uint64_t>(field.default_real());
    default: {
      const uint32_t size = scalar_size(field.type()->base_type());
      const auto bits = static_cast<uint64_t>(field.default_integer());
      return size < 8 ? bits & ((uint64_t{1} << (8 * size)) - 1) : bits;
    }
  }
}

reflection::BaseType value_base(const reflection::Type& type) {
  return type.base_type() == reflection::Vector ? type.element() : type.base_type();
}

std::string_view type_word(const reflection::Schema& schema, const reflection::Type& type) {
  const reflection::BaseType base = value_base(type);
  if (base == reflection::Obj) return object_at(schema, type.index()).is_struct() ? "struct" : "table";
  return kBaseNames[base];
}

}  // namespace

Status ConvertPlan::make() {
  listed_unions_ = arena_.make<bool>(to_.enums()->size());
  if (listed_unions_ == nullptr) fail(StatusCode::out_of_memory, "no memory for a conversion");
  if (status_.ok()) pair_of(root_index(from_), root_index(to_));
  // A worklist and not recursion: types may contain themselves, and the chain is as long as an untrusted schema likes.
  for (TypePair* pair = first_; pair != nullptr && status_.ok(); pair = pair->next) fill(*pair);
  const char end = 0;
  if (status_.ok() && !lines_.append(&end, 1)) fail(StatusCode::out_of_memory, "no memory for a conversion");
  return status_;
}

TypePair* ConvertPlan::pair_of(int32_t from, int32_t to) {
  const reflection::Object &old_type = object_at(from_, from), &new_type = object_at(to_, to);
  for (TypePair* pair = first_; pair != nullptr; pair = pair->next) {
    if (pair->from == &old_type && pair->to == &new_type) return pair;
  }
  TypePair* pair = pair_count_ < kMaxPairs ? arena_.make<TypePair>(1) : nullptr;
  if (pair == nullptr) {
    fail(pair_count_ < kMaxPairs ? StatusCode::out_of_memory : StatusCode::too_large,
         "too many types for a conversion");
    return nullptr;
  }
  ++pair_count_;
  pair->from = &old_type;
  pair->to = &new_type;
  pair->from_is_struct = old_type.is_struct();
  pair->to_is_struct = new_type.is_struct();
  pair->sparse = find_attribute(new_type.attributes(), "sparse") != nullptr;
  (last_ != nullptr ? last_->next : first_) = pair;
  last_ = pair;
  return pair;
}

void ConvertPlan::fill(TypePair& pair) {
  const reflection::Object& to = *pair.to;
  const uint32_t lines_before = line_count_;
  pair.table_fields = pair.to_is_struct ? 0 : to.fields()->size();
  pair.fields = arena_.make<FieldPlan>(to.fields()->size());
  if (pair.to_is_struct) {
    pair.image = arena_.make<std::byte>(static_cast<size_t>(to.bytesize()));
    if (pair.image != nullptr) fill_image(to, pair.image, nullptr);
  }
  if (pair.fields == nullptr || (pair.to_is_struct && pair.image == nullptr)) {
    return fail(StatusCode::out_of_memory, "no memory for a conversion");
  }
  pair.identical = pair.from_is_struct && pair.to_is_struct && same_struct(*pair.from, to);
  const FieldOrder order(to);
  for (uint32_t i = 0; i < order.size() && status_.ok(); ++i) {
    const reflection::Field& field = order.field(to, i);
    if (field.deprecated() || field.type()->base_type() == reflection::UType) continue;  // unions write their number
    FieldPlan plan;
    const Extent extent = extent_of(to_, field.type()->base_type(), field.type()->index());
    plan.id = field.id();
    plan.to_slot = field.offset();
    plan.size = extent.size;
    plan.align = extent.align;
    plan.required = field.required();
    if (!plan_field(pair, find_field(*pair.from, text_of(field.name())), field, plan)) continue;
    if (plan.required && plan.action == FieldAction::structure && !pair.to_is_struct) {
      std::byte* image = arena_.make<std::byte>(plan.size);
      if (image == nullptr) return fail(StatusCode::out_of_memory, "no memory for a conversion");
      fill_image(object_at(to_, field.type()->index()), image, nullptr);
      plan.bytes = {image, plan.size};
    }
    // Largest alignment first: less filling between the fields of a table.
    const uint32_t key = plan.action == FieldAction::scalar || plan.action == FieldAction::structure ? plan.align : 4;
    uint32_t at = pair.field_count++;
    for (; at > 0; --at) {
      const FieldPlan& before = pair.fields[at - 1];
      const bool in_line = before.action == FieldAction::scalar || before.action == FieldAction::structure;
      if ((in_line ? before.align : 4) >= key) break;
      pair.fields[at] = before;
    }
    pair.fields[at] = plan;
  }
  list_dropped(pair);
  if (line_count_ == lines_before && pair.from_is_struct && pair.to_is_struct && !pair.identical) {
    line({short_name(to.name()), ": layout differs"});
  }
}

bool ConvertPlan::plan_field(const TypePair& pair, const reflection::Field* from, const reflection::Field& to,
                             FieldPlan& out) {
  if (from == nullptr) return plan_missing(pair, to, out);
  const reflection::Type &old_type = *from->type(), &new_type = *to.type();
  out.from_slot = from->offset();
  out.from_base = value_base(old_type);
  out.to_base = value_base(new_type);
  const bool both_vectors = old_type.base_type() == reflection::Vector && new_type.base_type() == reflection::Vector;
  list_type_change(pair, *from, to);
  if (both_vectors) return plan_vector(*from, to, out);
  if (is_scalar(old_type.base_type()) && is_scalar(new_type.base_type())) return plan_scalar(pair, *from, to, out);
  if (old_type.base_type() == reflection::Obj && new_type.base_type() == reflection::Obj) {
    out.from_is_table = !object_at(from_, old_type.index()).is_struct();
    out.action = object_at(to_, new_type.index()).is_struct() ? FieldAction::structure : FieldAction::table;
    out.pair = pair_of(old_type.index(), new_type.index());
    return out.pair != nullptr;
  }
  if (old_type.base_type() == reflection::String && new_type.base_type() == reflection::String) {
    out.action = FieldAction::string;
    return true;
  }
  if (old_type.base_type() == reflection::Union && new_type.base_type() == reflection::Union) {
    return plan_union(*from, to, out);
  }
  return no_conversion(to);
}

bool ConvertPlan::plan_missing(const TypePair& pair, const reflection::Field& to, FieldPlan& out) {
  if (find_attribute(to.attributes(), "pad") == nullptr) {
    line({short_name(pair.to->name()), ".", text_of(to.name()), ": added"});
  }
  if (pair.to_is_struct || !to.required()) return false;  // the image, or absence, has the default
  out.missing = true;
  const reflection::BaseType base = to.type()->base_type();
  if (base == reflection::String) {
    out.action = FieldAction::string;
  } else if (base == reflection::Vector) {
    out.action = FieldAction::scalar_vector;  // will be empty, whatever its elements are
    const Extent element = extent_of(to_, to.type()->element(), to.type()->index());
    out.size = element.size;
    out.align = element.align;
  } else if (is_struct(to_, base, to.type()->index())) {
    out.action = FieldAction::structure;
  } else {
    return no_conversion(to);
  }
  return true;
}

bool ConvertPlan::plan_scalar(const TypePair& pair, const reflection::Field& from, const reflection::Field& to,
                              FieldPlan& out) {
  if (!widens(out.from_base, out.to_base)) return no_conversion(to);
  out.action = FieldAction::scalar;
  if (pair.from_is_struct) return true;  // never absent
  out.optional = from.optional();
  out.absent_bits = widen(out.from_base, out.to_base, default_bits(from));
  const bool same_default = !pair.to_is_struct && !to.optional() && out.absent_bits == default_bits(to);
  out.absent_is_same = from.optional() || pair.sparse || same_default;
  if (!pair.to_is_struct && !from.optional() && !to.optional() && !same_default) {
    line({short_name(pair.to->name()), ".", text_of(to.name()), ": default differs"});
  }
  return true;
}

bool ConvertPlan::plan_vector(const reflection::Field& from, const reflection::Field& to, FieldPlan& out) {
  const reflection::Type &old_type = *from.type(), &new_type = *to.type();
  const Extent old_element = extent_of(from_, out.from_base, old_type.index());
  const Extent new_element = extent_of(to_, out.to_base, new_type.index());
  out.from_size = old_element.size;
  out.size = new_element.size;
  out.align = new_element.align;
  if (is_scalar(out.from_base) && is_scalar(out.to_base)) {
    out.action = FieldAction::scalar_vector;
    return widens(out.from_base, out.to_base) || no_conversion(to);
  }
  if (out.from_base == reflection::String && out.to_base == reflection::String) {
    out.action = FieldAction::string_vector;
    return true;
  }
  if (out.from_base != reflection::Obj || out.to_base != reflection::Obj) return no_conversion(to);
  out.from_is_table = !object_at(from_, old_type.index()).is_struct();
  out.action = object_at(to_, new_type.index()).is_struct() ? FieldAction::struct_vector : FieldAction::table_vector;
  out.pair = pair_of(old_type.index(), new_type.index());
  return out.pair != nullptr;
}

bool ConvertPlan::plan_union(const reflection::Field& from, const reflection::Field& to, FieldPlan& out) {
  const reflection::Enum &old_union = enum_at(from_, from.type()->index()),
                         &new_union = enum_at(to_, to.type()->index());
  out.action = FieldAction::union_value;
  out.members = arena_.make<UnionMember>(256);
  if (out.members == nullptr) {
    fail(StatusCode::out_of_memory, "no memory for a conversion");
    return false;
  }
  bool& listed = listed_unions_[to.type()->index()];
  const auto member_type = [](const reflection::Schema& schema, const reflection::EnumVal& value) {
    const bool table = value.value() != 0 && value.union_type() != nullptr;
    return table ? short_name(object_at(schema, value.union_type()->index()).name()) : std::string_view();
  };
  for (const reflection::EnumVal* old_value : *old_union.values()) {
    const std::string_view name = member_type(from_, *old_value);
    if (name.empty()) continue;
    UnionMember& member = out.members[old_value->value()];
    for (const reflection::EnumVal* new_value : *new_union.values()) {
      if (member_type(to_, *new_value) != name) continue;
      member.pair = pair_of(old_value->union_type()->index(), new_value->union_type()->index());
      member.number = static_cast<uint8_t>(new_value->value());
      if (member.pair == nullptr) return false;
    }
    if (member.pair == nullptr && !listed) line({short_name(old_union.name()), ".", name, ": dropped"});
  }
  for (const reflection::EnumVal* new_value : *new_union.values()) {
    const std::string_view name = member_type(to_, *new_value);
    bool known = name.empty();
    for (const reflection::EnumVal* old_value : *old_union.values()) known |= member_type(from_, *old_value) == name;
    if (!known && !listed) line({short_name(new_union.name()), ".", name, ": added"});
  }
  listed = true;
  return true;
}

void ConvertPlan::list_dropped(const TypePair& pair) {
  for (const reflection::Field* field : *pair.from->fields()) {
    if (field->deprecated() || field->type()->base_type() == reflection::UType) continue;
    if (find_field(*pair.to, text_of(field->name())) != nullptr) continue;
    if (find_attribute(field->attributes(), "pad") != nullptr) continue;
    line({short_name(pair.from->name()), ".", text_of(field->name()), ": dropped"});
  }
}

void ConvertPlan::list_type_change(const TypePair& pair, const reflection::Field& from, const reflection::Field& to) {
  const std::string_view before = type_word(from_, *from.type()), after = type_word(to_, *to.type());
  const bool was_vector = from.type()->base_type() == reflection::Vector;
  const bool is_vector = to.type()->base_type() == reflection::Vector;
  if (before == after && was_vector == is_vector) return;
  line({short_name(pair.to->name()), ".", text_of(to.name()), ": ", was_vector ? "[" : "", before,
        was_vector ? "]" : "", " -> ", is_vector ? "[" : "", after, is_vector ? "]" : ""});
}

bool ConvertPlan::same_struct(const reflection::Object& a, const reflection::Object& b) const {
  if (a.bytesize() != b.bytesize() || a.fields()->size() != b.fields()->size()) return false;
  const FieldOrder order_a(a), order_b(b);
  for (uint32_t i = 0; i < order_a.size(); ++i) {
    const reflection::Field &x = order_a.field(a, i), &y = order_b.field(b, i);
    if (x.offset() != y.offset() || x.type()->base_type() != y.type()->base_type()) return false;
    if (text_of(x.name()) != text_of(y.name())) return false;
    if (x.type()->base_type() == reflection::Obj &&
        !same_struct(object_at(from_, x.type()->index()), object_at(to_, y.type()->index()))) {
      return false;
    }
  }
  return true;
}

void ConvertPlan::line(std::initializer_list<std::string_view> parts) {
  bool stored = line_count_ == 0 || lines_.append("\n", 1);
  for (const std::string_view part : parts) stored = stored && lines_.append(part.data(), part.size());
  if (!stored) fail(StatusCode::out_of_memory, "no memory for a conversion");
  ++line_count_;
}

void ConvertPlan::fail(StatusCode code, const char* message, const reflection::Field* field) {
  if (!status_.ok()) return;
  const uint32_t name = field != nullptr ? hash_type(text_of(field->name())).value : 0;
  status_ = {code, message, 0, NameHash{name}};
}

bool ConvertPlan::no_conversion(const reflection::Field& field) {
  fail(StatusCode::no_conversion, "a field's type changed in a way that loses values; name = the field", &field);
  return false;
}

}  // namespace meridian::detail
