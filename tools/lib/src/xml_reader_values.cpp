// SPDX-License-Identifier: MIT
// Scalars, names, enumerations and text. See reader.h.
#include <algorithm>
#include <cstring>

#include "known_names.h"
#include "meridian/base/name_hash.h"
#include "reader.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  out.append(text.substr(0, 60));
  if (text.size() > 60) out += "...";
  return out + "'";
}

// What of a name is not as tools expect it, or empty.
std::string_view suspicion(std::string_view name, bool archetype) {
  if (is_blank(name.front()) || is_blank(name.back())) return "a blank at its begin or end";
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return "characters outside ASCII";
  if (!archetype) return {};
  if (name.find_first_of(" \t") != std::string_view::npos) return "a blank inside";
  if (name.ends_with(".model") || name.ends_with(".mesh")) return "the suffix of a modelling tool";
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && dot + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(),
                  [](char c) { return c >= '0' && c <= '9'; }))
    return "the counter of a copy";  // "qa_barrel.001"
  return {};
}

}  // namespace

// All text of an element joined; comments between are left out. `place` is where the first text stands.
std::string_view Reader::own_text(const Element& e, const char*& place, std::string& joined) {
  std::string_view text;
  bool several = false;
  text_place_ = nullptr;
  text_pieces_.clear();
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToText() == nullptr) continue;
    const char* const value = node->Value();
    text_pieces_.push_back({several ? joined.size() : text.size(), offset(value), node->ToText()->CData()});
    if (place == nullptr) {
      place = value;
      text = place;
      continue;
    }
    if (!several) joined = text;
    several = true;
    joined += value;
  }
  text = several ? std::string_view(joined) : text;
  text_size_ = text.size();
  text_place_ = place;
  return text;
}

std::string_view Reader::content(const Element& e, bool text_first, const char*& place) {
  const tinyxml2::XMLAttribute* value = nullptr;
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::strcmp(a->Name(), "value") != 0)
      keep_attribute(*a);
    else if (value != nullptr)
      report(rules::malformed_xml, offset(a->Name()), "attribute 'value' stands twice");
    else
      value = a;
  }
  std::string_view text;
  text_place_ = nullptr;
  if (e.FirstChild() != nullptr) {
    each_child(e, [&](const Element& child) { keep_element(child, "element", nullptr); });
    joined_.clear();
    text = own_text(e, place, joined_);
  }
  const bool has_text = !trim(text).empty();
  if (value == nullptr) return has_text ? text : std::string_view();
  if (text_first && has_text) {
    keep(KeptKind::attribute, "value", value->Value());
    report(rules::unknown_name, offset(value->Name()), "attribute 'value' beside text; kept as is");
    return text;
  }
  text_place_ = nullptr;
  if (has_text) keep_stray_text(e);
  place = value->Value();
  return place;
}

// The common form, <name value="..."/>, without further ado.
bool Reader::read_plain_scalar(const Element& e, const FieldPlan& f, uint64_t& bits) {
  if (f.converter != Converter::plain || f.scalar == Scalar::boolean || !e.NoChildren()) return false;
  const tinyxml2::XMLAttribute* const a = e.FirstAttribute();
  if (a == nullptr || a->Next() != nullptr || std::strcmp(a->Name(), "value") != 0) return false;
  const char* const v = a->Value();
  number_from_text(v, v, f, bits, f.xml);
  return true;
}

void Reader::read_scalar(const Element& e, const FieldPlan& f, uint64_t& bits) {
  if (read_plain_scalar(e, f, bits)) return;
  const char* place = nullptr;
  const bool text_first =
      f.converter == Converter::name || f.converter == Converter::enum_text || f.converter == Converter::flag_text;
  const std::string_view text = content(e, text_first, place);
  scalar_from_text(text, place, e, f, bits);
}

void Reader::scalar_from_text(std::string_view text, const char* place, const Element& e, const FieldPlan& f,
                              uint64_t& bits) {
  if (place == nullptr) place = e.Name();
  if (place == text_place_ && f.converter != Converter::name) {
    // Text points at its first character that is no blank; a name keeps its blanks.
    const std::string_view t = trim(text);
    place += t.data() - text.data();
    text = t;
  }
  switch (f.converter) {
    case Converter::name: {
      const std::string_view name = trim_layout(text);
      bits = 0;
      if (name.empty()) {
        if (f.required_name)
          report(rules::missing_name, Severity::warning, offset(e), "'" + f.xml + "' is empty; kept as name 0");
        return;
      }
      bits = name_from_text(name, text.empty() ? place : place + (name.data() - text.data()), f);
      return;
    }
    case Converter::enum_text:
      return enum_from_text(text, place, f, bits);
    case Converter::flag_text:
      return flags_from_text(text, place, f, bits);
    case Converter::hash_number: {
      const std::string_view t = trim(text);
      uint32_t hash = 0;
      if (t.starts_with("hash_") && parse_hash_literal(t, hash)) {
        bits = hash;
        return;
      }
      // A word is the name itself; anything that begins like a number must be one.
      if (!t.empty() && ((t[0] >= 'a' && t[0] <= 'z') || (t[0] >= 'A' && t[0] <= 'Z') || t[0] == '_')) {
        bits = hash_name(t).value;  // the name itself is not stored: the formats write a number here
        return;
      }
      return number_from_text(text, place, f, bits, f.xml);
    }
    case Converter::color: {
      const std::string_view t = trim(text);
      const bool hex =
          t.starts_with("0x") || t.starts_with("0X") || t.find_first_of("abcdefABCDEF") != std::string_view::npos;
      if (!hex || t.size() > 10) return number_from_text(text, place, f, bits, f.xml);
      const std::string prefixed =
          t[0] == '0' && t.size() > 1 && (t[1] == 'x' || t[1] == 'X') ? std::string(t) : "0x" + std::string(t);
      const ParsedNumber n = parse_integer(prefixed, f.scalar);
      if (n.usable())
        bits = n.bits;
      else if (n.error == NumberError::out_of_range)
        report(rules::integer_range, offset(place), f.xml + ": " + quoted(t) + " has more than 8 hex digits");
      else
        report(rules::not_a_number, offset(place), f.xml + ": " + quoted(t) + " is no colour (write 0xAARRGGBB)");
      return;
    }
    default:
      break;
  }
  if (f.scalar == Scalar::boolean) {
    const int b = parse_boolean(text);
    if (b >= 0)
      bits = static_cast<uint64_t>(b);
    else
      report(rules::unknown_value, offset(place), f.xml + ": " + quoted(trim(text)) + " is neither true nor false");
    return;
  }
  number_from_text(text, place, f, bits, f.xml);
}

void Reader::number_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits,
                              std::string_view what) {
  const bool floating = is_float(f.scalar);
  const ParsedNumber n = floating ? parse_float(text, f.scalar) : parse_integer(text, f.scalar);
  const auto in_range = [&] {
    if (floating || f.scalar == Scalar::u64) return true;
    const int64_t v = signed_value(f.scalar, n.bits);
    return v >= f.range_min && v <= f.range_max;
  };
  if (n.error == NumberError::none && in_range()) {
    bits = n.bits;
    if (f.enumeration != nullptr && !f.enumeration->flags &&
        f.enumeration->find(signed_value(f.scalar, bits)) == nullptr) {
      if (f.enumeration->closed)
        report(rules::unknown_value, offset(place),
               std::string(what) + ": no value " + std::to_string(bits) + " in " + f.enumeration->name);
      else
        report(rules::unknown_value, Severity::note, offset(place),
               std::string(what) + ": value " + std::to_string(bits) + " has no known meaning; kept");
    }
    return;
  }
  const std::string name = what.empty() || what == f.xml ? f.xml : std::string(what) + "." + f.xml;
  const std::string shown = name + ": " + quoted(trim(text));
  const Rule* const own_rule = f.rule_code.empty() ? nullptr : find_rule(f.rule_code);
  const auto say = [&](const Rule& rule, Severity severity, const std::string& why) {
    report(own_rule != nullptr && severity == Severity::error ? *own_rule : rule, severity, offset(place), shown + why);
  };
  const auto range = [&] {
    return " is outside " + std::to_string(f.range_min) + " to " +
           (f.scalar == Scalar::u64 ? "18446744073709551615" : std::to_string(f.range_max));
  };
  switch (n.error) {
    case NumberError::none:
    case NumberError::out_of_range:
      // Flag words are bit patterns: some tools write them signed.
      if (f.enumeration != nullptr && f.enumeration->flags && f.scalar == Scalar::u32) {
        const ParsedNumber as_signed = parse_integer(text, Scalar::i32);
        if (as_signed.error == NumberError::none) {
          bits = as_signed.bits;
          return;
        }
      }
      return say(rules::integer_range, Severity::error, range());
    case NumberError::empty:
      report(own_rule != nullptr ? *own_rule : rules::not_a_number, Severity::error, offset(place),
             name + ": no value");
      return;
    case NumberError::not_a_number:
      return say(rules::not_a_number, Severity::error, " is not a number");
    case NumberError::decimal_comma:
      return say(rules::not_a_number, Severity::error, " is not a number (use '.' as decimal point)");
    case NumberError::not_finite:
      return say(rules::float_range, Severity::error, " is not a finite number of this size");
    case NumberError::not_an_integer:
      return say(rules::not_an_integer, Severity::error, " is not an integer");
    case NumberError::exact_float:
      if (!in_range()) return say(rules::integer_range, Severity::error, range());
      if (own_rule != nullptr) return say(*own_rule, Severity::error, " is not an integer");
      bits = n.bits;
      return say(rules::not_an_integer, Severity::warning,
                 " is written as a float; read as " + std::to_string(signed_value(f.scalar, n.bits)));
    case NumberError::underflow:
      bits = n.bits;
      return say(rules::float_range, Severity::note, " is too small for this type; read as 0");
  }
}

uint32_t Reader::name_from_text(std::string_view name, const char* place, const FieldPlan& f) {
  uint32_t hash = 0;
  if (parse_hash_literal(name, hash)) return hash;
  hash = hash_name(name).value;
  names.add(hash, name, [&] { return offset(place); });
  check_known(name, place, f);
  if (!options_.lint) return hash;
  if (name.starts_with("hash_") || name.starts_with("0x"))
    report(rules::suspicious_name, offset(place),
           "name " + quoted(name) + " looks like a hash but is none (1 to 8 hex digits); taken as text");
  else if (const std::string_view why = suspicion(name, f.required_name); !why.empty())
    report(rules::suspicious_name, offset(place),
           "name " + quoted(name) + " has " + std::string(why) +
               (why == "the counter of a copy" ? "; it looks like a copy of " + quoted(name.substr(0, name.rfind('.')))
                                               : ""));
  else if (f.required_name && std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    report(rules::suspicious_name, Severity::note, offset(place),
           "name " + quoted(name) + " has capitals; names are hashed in lower case");
  return hash;
}

void Reader::check_known(std::string_view text, const char* place, const FieldPlan& f) {
  if (f.known_list.empty()) return;
  const KnownNames* const list = find_known_names(f.known_list);
  if (list == nullptr) return;
  const std::string wanted = list->folded ? fold(text) : std::string(text);
  for (const std::string_view known : list->names)
    if ((list->folded ? fold(known) : std::string(known)) == wanted) return;
  const std::string_view near = nearest(text, {list->names.begin(), list->names.end()});
  report(*list->rule, offset(place),
         "unknown " + std::string(list->noun) + " " + quoted(text) +
             (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"));
}

void Reader::enum_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits) {
  const std::string_view t = trim(text);
  if (t.empty()) return;  // an empty element is a missing one
  const size_t at = offset(place + (t.data() - text.data()));
  if (const EnumValue* v = f.enumeration->find(t)) {
    bits = static_cast<uint64_t>(v->value);
    return;
  }
  const ParsedNumber n = parse_integer(t, f.scalar);
  if (n.error == NumberError::none) {
    if (f.enumeration->find(signed_value(f.scalar, n.bits)) != nullptr) {
      bits = n.bits;
    } else if (f.enumeration->closed) {
      report(rules::unknown_value, at, f.xml + ": no value " + std::string(t) + " in " + f.enumeration->name);
    } else {
      bits = n.bits;
      report(rules::unknown_value, Severity::note, at,
             f.xml + ": value " + std::string(t) + " has no known meaning; kept");
    }
    return;
  }
  std::vector<std::string_view> known;
  std::string all;
  for (const EnumValue& v : f.enumeration->values) {
    known.push_back(v.xml);
    all += (all.empty() ? "" : ", ") + v.xml;
  }
  const std::string_view near = nearest(t, known);
  report(rules::unknown_value, at,
         f.xml + ": unknown " + quoted(t) + (near.empty() ? "" : "; did you mean " + std::string(near) + "?") +
             " (known: " + all + ")");
}

void Reader::flags_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits) {
  const std::string_view whole = trim(text);
  bits = 0;
  if (whole.empty()) return;
  const ParsedNumber n = parse_integer(whole, f.scalar);
  if (n.error == NumberError::none) {
    bits = n.bits;
    return;
  }
  for (size_t i = 0; i <= text.size();) {
    const size_t end = std::min(text.find(',', i), text.size());
    const std::string_view t = trim(text.substr(i, end - i));
    i = end + 1;
    if (t.empty()) continue;
    if (const EnumValue* v = f.enumeration->find(t)) {
      bits |= static_cast<uint64_t>(v->value);
      continue;
    }
    std::vector<std::string_view> known;
    for (const EnumValue& v : f.enumeration->values) known.push_back(v.xml);
    const std::string_view near = nearest(t, known);
    report(rules::unknown_value, offset(place + (t.data() - text.data())),
           f.xml + ": unknown flag " + quoted(t) + (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
  }
}

void Reader::string_from_element(const Element& e, const FieldPlan& f, std::string& out) {
  const char* place = nullptr;
  const std::string_view text = content(e, true, place);
  const std::string_view t = trim_layout(text);
  out = t;
  if (t.empty()) return;
  const char* const at = place + (t.data() - text.data());
  if (f.max_bytes != 0 && t.size() > f.max_bytes)
    report(rules::limit_exceeded, offset(at),
           f.xml + ": " + std::to_string(t.size()) + " bytes, at most " + std::to_string(f.max_bytes) + " fit");
  check_known(t, at, f);
}

void Reader::read_hex(const Element& e, const FieldPlan& f, ItemList& list) {
  const char* place = nullptr;
  std::string joined;
  const std::string_view text = own_text(e, place, joined);
  std::vector<std::string_view> tokens;
  for_each_word(text, [&](std::string_view word) { tokens.push_back(word); });
  const tinyxml2::XMLAttribute* const kind = e.FindAttribute("content");
  if (kind != nullptr && std::string_view(kind->Value()) == "char_array" && !f.size_element.empty()) {
    // Decimal if the count then is what the sibling says; the digits alone cannot tell.
    const Element* const sibling = e.Parent()->FirstChildElement(f.size_element.c_str());
    const char* size_text = sibling != nullptr ? sibling->Attribute("value") : nullptr;
    if (sibling != nullptr && size_text == nullptr) size_text = sibling->GetText();
    const ParsedNumber size = parse_integer(size_text != nullptr ? size_text : "", Scalar::u32);
    std::vector<uint8_t> bytes;
    for (const std::string_view t : tokens) {
      const ParsedNumber n = parse_integer(t, Scalar::u8);
      if (n.error != NumberError::none) break;
      bytes.push_back(static_cast<uint8_t>(n.bits));
    }
    if (size.error == NumberError::none && bytes.size() == tokens.size() && bytes.size() == size.bits) {
      list.count = static_cast<uint32_t>(bytes.size());
      list.bytes = std::move(bytes);
      return;
    }
  }
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (const std::string_view t : tokens) {
    bool good = t.size() % 2 == 0;
    for (size_t i = 0; i + 1 < t.size() && good; i += 2) {
      const int high = digit(t[i]), low = digit(t[i + 1]);
      good = high >= 0 && low >= 0;
      if (good) list.bytes.push_back(static_cast<uint8_t>(high * 16 + low));
    }
    if (good) continue;
    report(rules::not_a_number, offset(place + (t.data() - text.data())),
           f.xml + ": " + quoted(t) + " is no pair of hex digits");
    break;
  }
  list.count = static_cast<uint32_t>(list.bytes.size());
}

}  // namespace meridian::tools
