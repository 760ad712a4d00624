// SPDX-License-Identifier: MIT
// Vectors: Items of every kind, what is hoisted out of them, and numbers as text. See reader.h.
#include <algorithm>

#include "meridian/base/name_hash.h"
#include "reader.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string_view noun_of(const FieldPlan& f) {
  if (f.type != nullptr && !f.type->noun.empty()) return f.type->noun;
  return f.xml;
}

}  // namespace

// --- vectors ---------------------------------------------------------------------------------------------------------

void Reader::read_vector(const Element& e, const TypePlan& owner, const FieldPlan& f, FieldValue& out) {
  out.parts = std::make_unique<std::vector<ListPart>>(1);
  const Restore<std::vector<PathPart>> path(sub_path_);
  sub_path_.emplace_back(f.name);
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) keep_attribute(*a);
  ItemList& list = out.parts->front().items;
  if (!has_child_elements(e)) {
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
  const bool parallel = tasks_ != nullptr && reads_in_parallel(f);
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
      } else if (f.converter == Converter::attributes || e.FirstAttribute() != nullptr || has_child_elements(e)) {
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
  for_each_word(text, [&](std::string_view word) {
    uint64_t bits = 0;
    const char* const at = place + (word.data() - text.data());
    if (f.scalar == Scalar::boolean)
      scalar_from_text(word, at, e, f, bits);
    else
      number_from_text(word, at, f, bits, f.xml);
    list.bytes.resize(list.bytes.size() + f.size);
    store_bits(list.bytes.data() + list.bytes.size() - f.size, f.size, bits);
    ++list.count;
  });
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
