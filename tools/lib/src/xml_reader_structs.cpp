// SPDX-License-Identifier: MIT
// Tables and structs. See reader.h; vectors are in xml_reader_vectors.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "meridian/base/name_hash.h"
#include "reader.h"
#include "text_values.h"

namespace meridian::tools {
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
  if (static_cast<size_t>(expected) >= plan.fields.size() ||
      std::strcmp(plan.fields[static_cast<size_t>(expected)].xml.c_str(), name) != 0)
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
  if (!read_plain_scalar(child, f, bits)) {
    sub_path_.emplace_back(f.name);
    read_scalar(child, f, bits);
    sub_path_.pop_back();
  }
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
      const FieldPlan* parent = plan.field_named("parent_index");
      const bool orphan =
          parent != nullptr && signed_value(parent->scalar, load_bits(bytes + parent->offset, parent->size)) == -1;
      for (const EnumValue& v : f.enumeration->values)
        if (v.name == (orphan ? "ORPHANHD" : "HD"))
          store_bits(bytes + f.offset, f.size, static_cast<uint64_t>(v.value));
    }
    if (f.derive == Derive::asset_name)
      if (const FieldPlan* name = plan.field_named("name")) std::memcpy(bytes + f.offset, bytes + name->offset, f.size);
    const FieldPlan* lo = plan.field_named("bb_min");
    const FieldPlan* hi = plan.field_named("bb_max");
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
  const auto is_lane = [&](size_t lane, const char* name) {
    return lane < plan.fields.size() && std::strcmp(plan.fields[lane].xml.c_str(), name) == 0;
  };
  Seen seen;
  size_t expected_lane = 0;
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    const char* const name = a->Name();
    size_t lane = expected_lane;
    if (!is_lane(lane, name))
      for (lane = 0; lane < plan.fields.size() && !is_lane(lane, name);) ++lane;
    if (lane == plan.fields.size()) {
      keep_attribute(*a);
      continue;
    }
    expected_lane = lane + 1;
    if (seen.test(lane)) {
      report(rules::malformed_xml, offset(name), std::string("attribute '") + name + "' stands twice");
      continue;
    }
    seen.set(lane);
    const FieldPlan& l = plan.fields[lane];
    uint64_t bits = load_bits(at + l.offset, l.size);
    const char* const value = a->Value();
    number_from_text(value, value, l, bits, f.xml);
    store_bits(at + l.offset, l.size, bits);
  }
  if (e.FirstChild() != nullptr) {
    // Some tools write vectors as child elements or as text.
    if (seen.none() && has_child_elements(e)) {
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

}  // namespace meridian::tools
