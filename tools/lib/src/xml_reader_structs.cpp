// SPDX-License-Identifier: MIT
// Tables, structs and vectors. See reader.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "meridian/base/name_hash.h"
#include "reader.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view noun_of(const FieldPlan& f) {
  if (f.type != nullptr && !f.type->noun.empty()) return f.type->noun;
  return f.xml;
}

const FieldPlan* field_named(const TypePlan& plan, std::string_view name) {
  for (const FieldPlan& f : plan.fields)
    if (f.name == name) return &f;
  return nullptr;
}

// Restores a value at the end of a scope.
template <class T>
class Restore {
 public:
  explicit Restore(T& at) : at_(at), saved_(at) {}
  ~Restore() { at_ = std::move(saved_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& at_;
  T saved_;
};

}  // namespace

// --- tables ----------------------------------------------------------------------------------------------------------

void Reader::table_attributes(const Element& e, const TypePlan& plan, TableValue& out) {
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    const std::string_view name = a->Name();
    if (name == "type") {
      const std::string_view type = a->Value();
      if (type != plan.xml && std::find(plan.aliases.begin(), plan.aliases.end(), type) == plan.aliases.end())
        keep_attribute(*a);
      continue;
    }
    const int index = plan.find_attribute(name);
    if (index < 0) {
      keep_attribute(*a);
      continue;
    }
    const FieldPlan& f = plan.fields[static_cast<size_t>(index)];
    FieldValue& v = out.fields.emplace_back();
    v.field = static_cast<uint16_t>(index);
    v.present = true;
    if (f.kind == FieldKind::string)
      v.text = a->Value();
    else
      scalar_from_text(a->Value(), a->Value(), e, f, v.bits);
  }
}

void Reader::read_table(const Element& e, const TypePlan& plan, TableValue& out) {
  const Restore<Owner> owner(owner_);
  const Restore<std::vector<PathPart>> path(sub_path_);
  owner_ = {&out.kept, 0};
  sub_path_.clear();
  out.type = &plan;
  out.place = offset(e);
  table_attributes(e, plan, out);
  keep_stray_text(e);
  Seen seen;
  each_child(e, [&](const Element& child) {
    if (!read_table_child(child, plan, out, seen)) keep_element(child, "element", &plan);
  });
  finish_table(out.place, plan, out, seen);
}

bool Reader::read_table_child(const Element& child, const TypePlan& plan, TableValue& out, Seen& seen) {
  bool alias = false;
  const int index = plan.find(child.Name(), alias);
  if (index < 0) return false;
  const FieldPlan& f = plan.fields[static_cast<size_t>(index)];
  if (alias) report(rules::unknown_name, offset(child), std::string("'") + child.Name() + "' read as '" + f.xml + "'");
  if (seen.test(static_cast<size_t>(index))) {
    report(rules::duplicate_element, offset(child), "second '" + f.xml + "'; the first one counts");
    return true;
  }
  seen.set(static_cast<size_t>(index));
  FieldValue value;
  value.field = static_cast<uint16_t>(index);
  value.present = true;
  read_field(child, plan, f, value);
  out.fields.push_back(std::move(value));
  return true;
}

void Reader::finish_table(size_t at, const TypePlan& plan, TableValue& out, const Seen& seen) {
  for (size_t i = 0; i < plan.fields.size(); ++i) {
    const FieldPlan& f = plan.fields[i];
    if (!f.in_xml || f.is_xml_attribute || seen.test(i)) continue;
    if (f.required_name) report(rules::missing_name, at, "no '" + f.xml + "'");
    if (f.derive == Derive::stem) {
      FieldValue& v = out.fields.emplace_back();
      v.field = static_cast<uint16_t>(i);
      v.present = true;
      if (!options_.stem.empty()) {
        v.bits = hash_name(options_.stem).value;
        names.add(static_cast<uint32_t>(v.bits), options_.stem, [&] { return at; });
      }
    }
    if (f.kind == FieldKind::structure && !plan.sparse) {
      FieldValue& v = out.fields.emplace_back();
      v.field = static_cast<uint16_t>(i);
      v.present = true;
      v.bytes = f.default_bytes;
    }
    if (options_.note_missing && !plan.sparse) note_missing(at, f, nullptr);
  }
}

void Reader::read_field(const Element& e, const TypePlan& owner, const FieldPlan& f, FieldValue& out) {
  switch (f.kind) {
    case FieldKind::scalar: {
      sub_path_.emplace_back(f.name);
      out.bits = f.default_bits;
      read_scalar(e, f, out.bits);
      sub_path_.pop_back();
      return;
    }
    case FieldKind::string:
      sub_path_.emplace_back(f.name);
      string_from_element(e, f, out.text);
      sub_path_.pop_back();
      return;
    case FieldKind::structure:
      out.bytes = f.default_bytes;
      read_struct_field(e, f, out.bytes.data());
      return;
    case FieldKind::table:
      out.table = std::make_unique<TableValue>();
      read_table(e, *f.type, *out.table);
      return;
    case FieldKind::union_value:
      return;
    default:
      read_vector(e, owner, f, out);
  }
}

// --- structs ---------------------------------------------------------------------------------------------------------

void Reader::read_struct_field(const Element& e, const FieldPlan& f, uint8_t* at) {
  sub_path_.emplace_back(f.name);
  switch (f.converter) {
    case Converter::attributes:
      read_attribute_lanes(e, f, at);
      break;
    case Converter::named_lanes:
      read_named_lanes(e, f, at);
      break;
    case Converter::text_lanes: {
      const char* place = nullptr;
      const std::string_view text = content(e, true, place);
      if (!trim(text).empty()) read_lanes(text, place, *f.type, at, false, f.xml);
      break;
    }
    default:
      read_struct(e, *f.type, at);
  }
  sub_path_.pop_back();
}

void Reader::read_struct(const Element& e, const TypePlan& plan, uint8_t* at) {
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    bool alias = false;
    const int index = plan.find(a->Name(), alias);
    if (index >= 0 && plan.fields[static_cast<size_t>(index)].kind == FieldKind::scalar) {
      const FieldPlan& f = plan.fields[static_cast<size_t>(index)];
      uint64_t bits = load_bits(at + f.offset, f.size);
      scalar_from_text(a->Value(), a->Value(), e, f, bits);
      store_bits(at + f.offset, f.size, bits);
    } else if (std::string_view(a->Name()) != "type" || a->Value() != plan.xml) {
      keep_attribute(*a);
    }
  }
  keep_stray_text(e);
  Seen seen;
  int expected = 0;
  each_child(e, [&](const Element& child) {
    if (!read_struct_child(child, plan, at, expected, seen)) keep_element(child, "element", &plan);
  });
  finish_struct(offset(e), plan, at, seen);
}

bool Reader::read_struct_child(const Element& child, const TypePlan& plan, uint8_t* at, int& expected, Seen& seen) {
  const char* const name = child.Name();
  int index = expected;
  bool alias = false;
  // Members mostly come in schema order, so the next one is the best guess; the table is asked when it is wrong.
  if (static_cast<size_t>(expected) >= plan.fields.size() || plan.fields[static_cast<size_t>(expected)].xml != name)
    index = plan.find(name, alias);
  if (index < 0) return false;
  const FieldPlan& f = plan.fields[static_cast<size_t>(index)];
  if (!f.in_xml) return false;
  expected = index + 1;
  if (alias) report(rules::unknown_name, offset(child), std::string("'") + name + "' read as '" + f.xml + "'");
  if (seen.test(static_cast<size_t>(index))) {
    report(rules::duplicate_element, offset(child), "second '" + f.xml + "'; the first one counts");
    return true;
  }
  seen.set(static_cast<size_t>(index));
  if (f.kind == FieldKind::structure) {
    read_struct_field(child, f, at + f.offset);
    return true;
  }
  uint64_t bits = load_bits(at + f.offset, f.size);
  sub_path_.emplace_back(f.name);
  read_scalar(child, f, bits);
  sub_path_.pop_back();
  store_bits(at + f.offset, f.size, bits);
  return true;
}

void Reader::finish_struct(size_t at, const TypePlan& plan, uint8_t* bytes, const Seen& seen, bool needs_name) {
  apply_derive(plan, bytes, seen);
  for (size_t i = 0; i < plan.fields.size(); ++i) {
    const FieldPlan& f = plan.fields[i];
    if (seen.test(i) || !f.in_xml) continue;
    if (f.required_name && needs_name) report(rules::missing_name, at, "no '" + f.xml + "'");
    if (options_.note_missing) note_missing(at, f, bytes + f.offset);
  }
}

void Reader::note_missing(size_t at, const FieldPlan& f, const uint8_t* bytes) {
  std::string assumed;
  if (f.kind == FieldKind::scalar && !f.optional) {
    const uint64_t bits = bytes != nullptr ? load_bits(bytes, f.size) : f.default_bits;
    const EnumValue* v = f.enumeration != nullptr ? f.enumeration->find(signed_value(f.scalar, bits)) : nullptr;
    if (v != nullptr && f.converter == Converter::enum_text)
      assumed = v->xml;
    else
      append_number(assumed, f.scalar, bits);
  } else if (f.kind == FieldKind::structure) {
    for (const FieldPlan& lane : f.type->fields) {
      if (lane.kind != FieldKind::scalar) continue;
      if (!assumed.empty()) assumed += ' ';
      append_number(assumed, lane.scalar,
                    load_bits((bytes != nullptr ? bytes : f.default_bytes.data()) + lane.offset, lane.size));
    }
  } else {
    assumed = "empty";
  }
  report(rules::missing_element, at, "no '" + f.xml + "'; assumed " + assumed);
}

void Reader::apply_derive(const TypePlan& plan, uint8_t* bytes, const Seen& seen) {
  const auto lane = [&](const FieldPlan& f, size_t i) {
    float v = 0;
    std::memcpy(&v, bytes + f.offset + i * sizeof(float), sizeof v);
    return v;
  };
  for (size_t i = 0; i < plan.fields.size(); ++i) {
    const FieldPlan& f = plan.fields[i];
    if (f.derive == Derive::none || seen.test(i)) continue;
    if (f.derive == Derive::lod_level) {
      const FieldPlan* parent = field_named(plan, "parent_index");
      const bool orphan =
          parent != nullptr && signed_value(parent->scalar, load_bits(bytes + parent->offset, parent->size)) == -1;
      for (const EnumValue& v : f.enumeration->values)
        if (v.name == (orphan ? "ORPHANHD" : "HD"))
          store_bits(bytes + f.offset, f.size, static_cast<uint64_t>(v.value));
    }
    if (f.derive == Derive::asset_name)
      if (const FieldPlan* name = field_named(plan, "name"))
        std::memcpy(bytes + f.offset, bytes + name->offset, f.size);
    const FieldPlan* lo = field_named(plan, "bb_min");
    const FieldPlan* hi = field_named(plan, "bb_max");
    if (lo == nullptr || hi == nullptr) continue;
    if (f.derive == Derive::box_centre)
      for (size_t k = 0; k < 3; ++k) {
        const float c = static_cast<float>((static_cast<double>(lane(*lo, k)) + static_cast<double>(lane(*hi, k))) / 2);
        std::memcpy(bytes + f.offset + k * sizeof c, &c, sizeof c);
      }
    if (f.derive == Derive::box_radius) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) {
        const double d = static_cast<double>(lane(*hi, k)) - static_cast<double>(lane(*lo, k));
        sum += d * d;
      }
      const float r = static_cast<float>(std::sqrt(sum) / 2);
      std::memcpy(bytes + f.offset, &r, sizeof r);
    }
  }
}

void Reader::read_attribute_lanes(const Element& e, const FieldPlan& f, uint8_t* at) {
  const TypePlan& plan = *f.type;
  Seen seen;
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    const char* const name = a->Name();
    size_t lane = 0;
    while (lane < plan.fields.size() && plan.fields[lane].xml != name) ++lane;
    if (lane == plan.fields.size()) {
      keep_attribute(*a);
      continue;
    }
    if (seen.test(lane)) {
      report(rules::malformed_xml, offset(name), std::string("attribute '") + name + "' stands twice");
      continue;
    }
    seen.set(lane);
    const FieldPlan& l = plan.fields[lane];
    uint64_t bits = load_bits(at + l.offset, l.size);
    number_from_text(a->Value(), a->Value(), l, bits, f.xml);
    store_bits(at + l.offset, l.size, bits);
  }
  if (e.FirstChild() != nullptr) {
    // Some tools write vectors as child elements or as text.
    if (seen.none() && e.FirstChildElement() != nullptr) {
      int expected = 0;
      each_child(e, [&](const Element& child) {
        if (!read_struct_child(child, plan, at, expected, seen)) keep_element(child, "element", &plan);
      });
    } else if (seen.none()) {
      const char* place = nullptr;
      const std::string_view text = content(e, true, place);
      if (!trim(text).empty()) return read_lanes(text, place, plan, at, false, f.xml);
    } else {
      keep_stray_text(e);
      each_child(e, [&](const Element& child) { keep_element(child, "element", nullptr); });
    }
  }
  if (options_.note_missing)
    for (size_t i = 0; i < plan.fields.size(); ++i)
      if (!seen.test(i)) note_missing(offset(e), plan.fields[i], at + plan.fields[i].offset);
}

void Reader::read_lanes(std::string_view text, const char* place, const TypePlan& plan, uint8_t* at, bool extra_allowed,
                        std::string_view what) {
  // place belongs to text.data(): tokens keep their own places.
  size_t lane = 0;
  for (size_t i = 0; i < text.size();) {
    if (is_blank(text[i]) || text[i] == ',') {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && !is_blank(text[end]) && text[end] != ',') ++end;
    const size_t token_place = offset(place) + i;
    if (lane >= plan.fields.size()) {
      if (!extra_allowed || lane > plan.fields.size())
        report(rules::not_a_number, Severity::error, token_place,
               std::string(what) + ": more than " + std::to_string(plan.fields.size()) + " numbers");
      if (!extra_allowed) return;
      ++lane;
      i = end;
      continue;
    }
    const FieldPlan& f = plan.fields[lane++];
    uint64_t bits = 0;
    number_from_text(text.substr(i, end - i), place + i, f, bits, what);
    store_bits(at + f.offset, f.size, bits);
    i = end;
  }
  if (lane < plan.fields.size())
    report(rules::not_a_number, Severity::error, offset(place),
           std::string(what) + ": " + std::to_string(plan.fields.size()) + " numbers are needed, " +
               std::to_string(lane) + " given");
}

void Reader::read_named_lanes(const Element& e, const FieldPlan& f, uint8_t* at) {
  const std::string& pattern = f.lanes_pattern;
  const size_t hole = pattern.find("{}");
  const std::string_view prefix = std::string_view(pattern).substr(0, hole);
  const std::string_view suffix =
      hole == std::string::npos ? std::string_view() : std::string_view(pattern).substr(hole + 2);
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) keep_attribute(*a);
  keep_stray_text(e);
  Seen seen;
  each_child(e, [&](const Element& child) {
    const std::string_view name = child.Name();
    size_t lane = f.type->fields.size();
    for (size_t i = 0; i < f.type->fields.size(); ++i)
      if (name == std::string(prefix) + std::to_string(i) + std::string(suffix)) lane = i;
    if (lane == f.type->fields.size()) return keep_element(child, "element", nullptr);
    if (seen.test(lane))
      return report(rules::duplicate_element, offset(child),
                    "second '" + std::string(name) + "'; the first one counts");
    seen.set(lane);
    const FieldPlan& l = f.type->fields[lane];
    uint64_t bits = load_bits(at + l.offset, l.size);
    sub_path_.emplace_back(l.name);
    read_scalar(child, l, bits);
    sub_path_.pop_back();
    store_bits(at + l.offset, l.size, bits);
  });
}

// --- vectors ---------------------------------------------------------------------------------------------------------

void Reader::read_vector(const Element& e, const TypePlan& owner, const FieldPlan& f, FieldValue& out) {
  out.parts = std::make_unique<std::vector<ListPart>>(1);
  const Restore<std::vector<PathPart>> path(sub_path_);
  sub_path_.emplace_back(f.name);
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) keep_attribute(*a);
  ItemList& list = out.parts->front().items;
  bool has_items = e.FirstChildElement() != nullptr;
  for (const tinyxml2::XMLNode* n = e.FirstChild(); n != nullptr && !has_items; n = n->NextSibling())
    has_items = window_of(*n) >= 0;
  if (!has_items) {
    if (f.converter == Converter::hex_bytes) return read_hex(e, f, list);
    if (f.converter == Converter::vectors) return read_vector_lines(e, f, list);
    if (f.kind == FieldKind::scalar_vector && f.converter == Converter::plain) return read_number_text(e, f, list);
    return keep_stray_text(e);
  }
  keep_stray_text(e);
  uint32_t index = 0;
  const auto one = [&](const Element& child) {
    if (f.item != child.Name()) return keep_element(child, "element", nullptr);
    const Restore<Owner> restore(owner_);
    read_item(child, owner, f, out.parts->back().items, index++);
  };
  // Windows of structs and tables may be read by other threads; their places are known, so indices and labels are too.
  const bool parallel = tasks_ != nullptr && f.item == "Item" &&
                        (f.kind == FieldKind::struct_vector || f.kind == FieldKind::table_vector) &&
                        f.converter != Converter::vectors;
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (const Element* child = node->ToElement()) {
      one(*child);
      continue;
    }
    const int window = window_of(*node);
    if (window < 0) continue;
    if (!parallel) {
      each_in_window(window, one);
      continue;
    }
    WindowTask task{window, &owner, &f, index, label(), out.parts.get(), out.parts->size()};
    out.parts->emplace_back().window = window;
    out.parts->emplace_back();  // for Items behind it
    tasks_->push_back(std::move(task));
    index += scan_.windows[static_cast<size_t>(window)].items;
  }
}

void Reader::read_item(const Element& e, const TypePlan& owner, const FieldPlan& f, ItemList& list, uint32_t index) {
  ++items;
  steps_.push_back({noun_of(f), index});
  const Restore<std::vector<PathPart>> path(sub_path_);
  if (f.kind == FieldKind::struct_vector) {
    sub_path_.clear();
    owner_ = {&list.kept, list.count};
    if (f.converter != Converter::plain) {
      list.bytes.insert(list.bytes.end(), f.type->default_struct.begin(), f.type->default_struct.end());
      uint8_t* const at = list.bytes.data() + list.bytes.size() - f.size;
      ++list.count;
      list.places.push_back(offset(e));
      if (f.converter == Converter::text_lanes) {
        const char* place = nullptr;
        const std::string_view text = content(e, true, place);
        if (!trim(text).empty()) read_lanes(text, place, *f.type, at, false, f.xml);
      } else if (f.converter == Converter::attributes || e.FirstAttribute() != nullptr ||
                 e.FirstChildElement() != nullptr) {
        read_attribute_lanes(e, f, at);
      } else {
        const char* place = nullptr;
        const std::string_view text = content(e, true, place);
        if (place != nullptr) read_lanes(text, place, *f.type, at, true, f.xml);
      }
    } else {
      read_struct_item(e, owner, f, list);
    }
  } else if (f.kind == FieldKind::table_vector) {
    TableValue& value = list.tables.emplace_back();
    ++list.count;
    if (f.type->union_field >= 0)
      read_union_item(e, *f.type, value);
    else
      read_table(e, *f.type, value);
  } else if (f.kind == FieldKind::string_vector) {
    sub_path_.back().index = index;
    string_from_element(e, f, list.strings.emplace_back());
    ++list.count;
  } else {
    sub_path_.back().index = index;
    uint64_t bits = 0;
    read_scalar(e, f, bits);
    list.bytes.resize(list.bytes.size() + f.size);
    store_bits(list.bytes.data() + list.bytes.size() - f.size, f.size, bits);
    ++list.count;
  }
  steps_.pop_back();
}

void Reader::read_struct_item(const Element& e, const TypePlan& owner, const FieldPlan& f, ItemList& list) {
  const TypePlan& plan = *f.type;
  const uint32_t self = list.count++;
  list.places.push_back(offset(e));
  const size_t start = list.bytes.size();
  list.bytes.insert(list.bytes.end(), plan.default_struct.begin(), plan.default_struct.end());
  uint8_t* const at = list.bytes.data() + start;
  if (list.hoisted.size() < f.hoisted.size()) list.hoisted.resize(f.hoisted.size());

  TableValue* record = nullptr;
  bool unknown = false;
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::string_view(a->Name()) != "type") {
      keep_attribute(*a);
      continue;
    }
    const std::string_view type = a->Value();
    if (type == plan.xml) continue;
    for (size_t h = 0; h < f.hoisted.size() && record == nullptr; ++h) {
      const FieldPlan& hoisted = owner.fields[static_cast<size_t>(f.hoisted[h])];
      if (hoisted.item_type != type || type.empty()) continue;
      record = &list.hoisted[h].emplace_back();
      record->type = hoisted.type;
      record->owner = self;
      record->place = offset(e);
    }
    if (record != nullptr) continue;
    report_foreign(rules::unknown_type, offset(a->Value()),
                   "unknown type '" + std::string(type) + "': read as '" + plan.xml + "', all else kept as is", type);
    keep(KeptKind::attribute, "type", std::string(type));
    unknown = true;
  }

  keep_stray_text(e);
  Seen seen, record_seen, hoisted_seen;
  int expected = 0;
  each_child(e, [&](const Element& child) {
    if (read_struct_child(child, plan, at, expected, seen)) return;
    for (size_t h = 0; h < f.hoisted.size(); ++h) {
      const FieldPlan& hoisted = owner.fields[static_cast<size_t>(f.hoisted[h])];
      if (!hoisted.item_type.empty() || hoisted.xml != child.Name()) continue;
      if (hoisted_seen.test(h))
        return report(rules::duplicate_element, offset(child), "second '" + hoisted.xml + "'; the first one counts");
      hoisted_seen.set(h);
      if (child.NoChildren() && child.FirstAttribute() == nullptr) return;
      return read_hoisted_items(child, hoisted, list.hoisted[h], self);
    }
    if (record != nullptr) {
      const Restore<Owner> restore(owner_);
      owner_ = {&record->kept, 0};
      if (read_table_child(child, *record->type, *record, record_seen)) return;
    }
    // Of a type that nobody knows, the members are not known either: one warning says it all.
    if (!unknown) return keep_element(child, "element", &plan);
    std::string text;
    canonical(child, text);
    keep(KeptKind::element, {}, std::move(text));
  });
  finish_struct(list.places.back(), plan, at, seen, !unknown);
  if (record != nullptr) finish_table(record->place, *record->type, *record, record_seen);
}

void Reader::read_hoisted_items(const Element& e, const FieldPlan& hoisted, std::vector<TableValue>& records,
                                uint32_t owner) {
  sub_path_.emplace_back(hoisted.name);
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) keep_attribute(*a);
  keep_stray_text(e);
  uint32_t index = 0;
  each_child(e, [&](const Element& child) {
    if (hoisted.item != child.Name()) return keep_element(child, "element", nullptr);
    ++items;
    steps_.push_back({noun_of(hoisted), index++});
    TableValue& record = records.emplace_back();
    if (hoisted.type->union_field >= 0)
      read_union_item(child, *hoisted.type, record);
    else
      read_table(child, *hoisted.type, record);
    record.owner = owner;
    steps_.pop_back();
  });
  sub_path_.pop_back();
}

void Reader::read_union_item(const Element& e, const TypePlan& wrapper, TableValue& out) {
  out.type = &wrapper;
  out.place = offset(e);
  const FieldPlan& f = wrapper.fields[static_cast<size_t>(wrapper.union_field)];
  const tinyxml2::XMLAttribute* const a = e.FindAttribute("type");
  const std::string_view type = a != nullptr ? a->Value() : "";
  FieldValue value;
  value.field = static_cast<uint16_t>(wrapper.union_field);
  value.present = true;
  value.table = std::make_unique<TableValue>();
  for (const EnumValue& v : f.enumeration->values) {
    if (v.type == nullptr || v.type->unknown_item || type.empty()) continue;
    const bool alias = std::find(v.type->aliases.begin(), v.type->aliases.end(), type) != v.type->aliases.end();
    if (v.type->xml != type && !alias) continue;
    if (alias)
      report(rules::unknown_name, offset(a->Value()), "'" + std::string(type) + "' read as '" + v.type->xml + "'");
    value.member = &v;
    read_table(e, *v.type, *value.table);
    out.fields.push_back(std::move(value));
    return;
  }
  std::vector<std::string_view> known;
  for (const EnumValue& v : f.enumeration->values) {
    if (v.type == nullptr) continue;
    if (v.type->unknown_item)
      value.member = &v;
    else
      known.push_back(v.type->xml);
  }
  const std::string_view near = nearest(type, known);
  std::string message =
      type.empty() ? "an Item without a type, kept as is" : "unknown type '" + std::string(type) + "' kept as is";
  if (!near.empty()) message += "; did you mean '" + std::string(near) + "'?";
  report_foreign(rules::unknown_type, a != nullptr ? offset(a->Value()) : offset(e), std::move(message), type);
  if (value.member != nullptr) {
    value.table->type = value.member->type;
    for (size_t i = 0; i < value.member->type->fields.size(); ++i) {
      FieldValue& hash = value.table->fields.emplace_back();
      hash.field = static_cast<uint16_t>(i);
      hash.present = true;
      hash.bits = hash_type(type).value;
    }
    out.fields.push_back(std::move(value));
  }
  std::string text;
  canonical(e, text);
  out.kept.push_back({KeptKind::element, 0, {}, {}, std::move(text)});
}

void Reader::read_number_text(const Element& e, const FieldPlan& f, ItemList& list) {
  const char* place = nullptr;
  std::string joined;
  const std::string_view text = own_text(e, place, joined);
  for (size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && !is_blank(text[end])) ++end;
    uint64_t bits = 0;
    const std::string_view token = text.substr(i, end - i);
    if (f.scalar == Scalar::boolean)
      scalar_from_text(token, place + i, e, f, bits);
    else
      number_from_text(token, place + i, f, bits, f.xml);
    list.bytes.resize(list.bytes.size() + f.size);
    store_bits(list.bytes.data() + list.bytes.size() - f.size, f.size, bits);
    ++list.count;
    i = end;
  }
}

void Reader::read_vector_lines(const Element& e, const FieldPlan& f, ItemList& list) {
  const char* place = nullptr;
  std::string joined;
  const std::string_view text = own_text(e, place, joined);
  const size_t lanes = f.type->fields.size();
  const auto add = [&](std::string_view line) {
    list.bytes.resize(list.bytes.size() + f.size);
    read_lanes(line, place + (line.data() - text.data()), *f.type, list.bytes.data() + list.bytes.size() - f.size, true,
               f.xml);
    ++list.count;
  };
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find_first_of("\n\r", i), text.size());
    std::string_view line = text.substr(i, end - i);
    i = end + 1;
    // A line holds one vector, or several if a tool broke none; a number more than the lanes is padding.
    size_t tokens = 0;
    for (size_t k = 0; k < line.size(); ++k)
      if (!is_blank(line[k]) && (k == 0 || is_blank(line[k - 1]))) ++tokens;
    if (tokens == 0) continue;
    if (tokens <= lanes + 1 || tokens % lanes != 0) {
      add(line);
      continue;
    }
    for (size_t first = 0, k = 0, seen = 0; k <= line.size(); ++k) {
      const bool boundary = k == line.size() || (is_blank(line[k]) && k > 0 && !is_blank(line[k - 1]));
      if (!boundary) continue;
      if (++seen % lanes == 0) {
        add(line.substr(first, k - first));
        first = k;
      }
    }
  }
}

}  // namespace meridian::tools
