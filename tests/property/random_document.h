// SPDX-License-Identifier: MIT
#pragma once
/// Random XML of any bound schema: known members in any order, some missing, some twice; unknown elements, attributes
/// and types; comments, waivers, processing instructions, CDATA, references; CRLF; and, if wanted, errors.
/// It walks the plans only for names and types; every value is made here.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/binding.h"

namespace meridian::test {

/// The seed of this run, printed by SCOPED_TRACE; MERIDIAN_PROPERTY_SEED sets another.
inline uint64_t property_seed() {
  const char* text = std::getenv("MERIDIAN_PROPERTY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20260101;
}
/// Cases of each property: 1,000 in optimised builds.
inline int property_cases() {
  if (const char* text = std::getenv("MERIDIAN_PROPERTY_CASES")) return std::atoi(text);
#ifdef NDEBUG
  return 1000;
#else
  return 100;
#endif
}

struct DocumentOptions {
  bool errors = false;      ///< values that cannot be read, malformed tags, bad names
  bool unknown = true;      ///< what the schema lacks
  bool long_lists = false;  ///< lists of up to a few hundred Items
};

class RandomDocument {
 public:
  RandomDocument(const tools::Binding& binding, uint64_t seed, DocumentOptions options)
      : binding_(binding), random_(seed), options_(options) {}

  std::string make() {
    std::string out;
    if (chance(2)) out += "\xEF\xBB\xBF";
    if (chance(2)) out += " \n";
    if (chance(50)) out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    out += layout();
    if (chance(3)) out += "<!-- lint-ok XML002, XML003: whole file -->";
    const std::string& root = binding_.root().xml;
    out += "<" + root + attributes() + ">";
    table(binding_.root(), out, 0);
    out += "</" + root + ">" + layout();
    if (options_.errors && chance(3)) out += pick({"text", "<r/>", "</x>", "&"});
    if (options_.errors && chance(3)) out.resize(below(static_cast<uint32_t>(out.size() + 1)));
    if (options_.errors && chance(3) && !out.empty())
      out[below(static_cast<uint32_t>(out.size()))] = static_cast<char>(below(256));
    if (!chance(15)) return out;
    std::string crlf;
    for (const char c : out) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    return crlf;
  }

 private:
  uint32_t below(uint32_t n) { return n == 0 ? 0 : static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + below(static_cast<uint32_t>(words.size())));
  }

  std::string layout() {
    std::string out;
    if (chance(60)) out += "\n" + std::string(below(4), ' ');
    if (chance(3))
      out += pick({"<!-- note -->", "<!---->", "<!-- <Item> & -->", "<!-- lint-ok XML002: odd -->",
                   "<!-- lint-ok unknown-type: odd -->", "<!-- lint-ok -->", "<!-- ${NOT} -->"});
    if (chance(1)) out += "<?pi some=\"thing\" ?>";
    if (options_.unknown && chance(1)) out += pick({"stray", " two words ", "a&amp;b", "<![CDATA[cd]]>"});
    return out;
  }

  std::string attributes() {
    if (!options_.unknown || !chance(3)) return chance(3) ? " itemType=\"X\"" : "";
    return " qa" + std::to_string(below(3)) + "=\"" + pick({"1", "a b", "&lt;&quot;&amp;", "", "&#10;", "a'b"}) + "\"";
  }

  std::string odd() {  // an element that no schema has
    static const char* const names[] = {"qaOdd",          "qaOther",     "redm_loves_you_1",
                                        "Foo_0x0DC5F270", "powerGridId", "hash_1A2B3C4D"};
    const std::string name = names[below(chance(70) ? 2 : 6)];
    std::string out = "<" + name + attributes();
    if (chance(40)) return out + "/>";
    out += ">" + layout();
    for (uint32_t n = below(3); n > 0; --n)
      out += chance(50) ? "<Item>" + word() + "</Item>" : (chance(50) ? odd() : word());
    return out + layout() + "</" + name + ">";
  }

  std::string word() {
    switch (below(14)) {
      case 0:
        return "";
      case 1:
        return "hash_" + pick({"1", "1A2B3C4D", "abcdef01", "00000000"});
      case 2:
        return "QA_Name_" + std::to_string(below(20));
      case 3:
        return "\n   qa_name_" + std::to_string(below(20)) + "\n ";
      case 4:
        return pick({" lead", "trail ", "two words", "qa.001", "\xC3\xA4", "123", "0x12", "hash_123456789", "a&amp;b",
                     "&lt;x&gt;", "<![CDATA[a<b]]>", "x<!-- c -->y"});
      default:
        return "qa_name_" + std::to_string(below(40));
    }
  }

  std::string number(tools::Scalar s) {
    using tools::Scalar;
    if (options_.errors && chance(1))
      return pick({"x", "", "1,5", "nan", "1e999", "12abc", "-", "99999999999999999999", "2.5", "0.5e999", "--1"});
    if (s == Scalar::boolean) return pick({"true", "false", "1", "0", "TRUE", "False"});
    if (s == Scalar::f32 || s == Scalar::f64) {
      switch (below(6)) {
        case 0:
          return pick({"-0", "0.1", "1e-006", "1e-50", "3.4e38", "-1.5", "16777217", "1.192093E-07", "+2", " 3 "});
        case 1:
          return std::to_string(static_cast<double>(static_cast<int32_t>(random_())) / 1024.0);
        default:
          return std::to_string(static_cast<int32_t>(below(2000)) - 1000);
      }
    }
    if (chance(5)) return pick({"0x7", "+3", "1e1", "12.0", "0"});
    switch (s) {
      case Scalar::u8:
        return std::to_string(below(256));
      case Scalar::i8:
        return std::to_string(static_cast<int>(below(256)) - 128);
      case Scalar::u16:
        return std::to_string(below(65536));
      case Scalar::i16:
        return std::to_string(static_cast<int>(below(65536)) - 32768);
      case Scalar::u32:
        return std::to_string(chance(30) ? static_cast<uint32_t>(random_()) : below(300));
      case Scalar::u64:
        return std::to_string(random_());
      default:
        return std::to_string(static_cast<int32_t>(chance(20) ? random_() : below(300)) - (chance(50) ? 0 : 300));
    }
  }

  std::string value(const tools::FieldPlan& f) {
    using tools::Converter;
    switch (f.converter) {
      case Converter::name:
        return word();
      case Converter::hash_number:
        return chance(10) ? pick({"qa_sound", "hash_77", "Qa_Other"}) : number(tools::Scalar::u32);
      case Converter::color:
        return pick({"0xFF112233", "ff00ff00", "12345", "0x0"});
      case Converter::enum_text:
        if (options_.errors && chance(2)) return "QA_NOT_KNOWN";
        return chance(80) ? f.enumeration->values[below(static_cast<uint32_t>(f.enumeration->values.size()))].xml
                          : std::to_string(below(2));
      case Converter::flag_text: {
        std::string out;
        for (uint32_t n = below(3); n > 0; --n)
          out += (out.empty() ? "" : ", ") +
                 f.enumeration->values[below(static_cast<uint32_t>(f.enumeration->values.size()))].xml;
        return chance(10) ? std::to_string(below(4)) : out;
      }
      default:
        break;
    }
    if (f.enumeration != nullptr && f.enumeration->closed)
      return std::to_string(f.enumeration->values[below(static_cast<uint32_t>(f.enumeration->values.size()))].value);
    if (f.range_max != 0 && f.range_max == 2147483647 && f.range_min == 0) return std::to_string(below(100000));
    return number(f.scalar);
  }

  void scalar(std::string_view name, const tools::FieldPlan& f, std::string& out) {
    const bool text = f.converter == tools::Converter::name || f.converter == tools::Converter::enum_text ||
                      f.converter == tools::Converter::flag_text;
    const std::string v = value(f);
    out.append("<").append(name);
    const bool markup = v.find('<') != std::string::npos;
    if (text != chance(4) || markup) {
      out += attributes() + ">" + v;
      if (options_.unknown && chance(1)) out += odd();
      out.append("</").append(name).append(">");
    } else {
      out += (chance(50) ? attributes() : "") + " value=\"" + v + "\"" + (chance(50) ? attributes() : "");
      if (options_.unknown && chance(1))
        out.append(">").append(odd()).append("</").append(name).append(">");
      else
        out += chance(50) ? "/>" : " />";
    }
  }

  void structure(const tools::FieldPlan& f, std::string& out, int depth) {
    using tools::Converter;
    out += "<" + f.xml;
    switch (f.converter) {
      case Converter::attributes:
        for (const tools::FieldPlan& lane : f.type->fields)
          if (chance(96)) out += " " + lane.xml + "=\"" + number(lane.scalar) + "\"";
        out += attributes() + "/>";
        return;
      case Converter::text_lanes: {
        out += attributes() + ">";
        for (const tools::FieldPlan& lane : f.type->fields)
          out += " " + number(lane.scalar == tools::Scalar::f32 ? tools::Scalar::i16 : lane.scalar);
        out += "</" + f.xml + ">";
        return;
      }
      case Converter::named_lanes:
        out += attributes() + ">";
        for (size_t i = 0; i < f.type->fields.size(); ++i) {
          if (chance(10)) continue;
          std::string name = f.lanes_pattern;
          name.replace(name.find("{}"), 2, std::to_string(i));
          out += "<" + name + " value=\"" + number(f.type->fields[i].scalar) + "\"/>";
        }
        out += "</" + f.xml + ">";
        return;
      default:
        out += attributes() + ">";
        members(*f.type, nullptr, nullptr, out, depth + 1);
        out += "</" + f.xml + ">";
    }
  }

  void member(const tools::TypePlan& type, const tools::FieldPlan& f, std::string& out, int depth) {
    using tools::FieldKind;
    switch (f.kind) {
      case FieldKind::scalar:
        return scalar(f.xml, f, out);
      case FieldKind::string:
        out += "<" + f.xml + attributes() + ">" + word() + "</" + f.xml + ">";
        return;
      case FieldKind::structure:
        return structure(f, out, depth);
      case FieldKind::table:
        out += "<" + f.xml + (f.type->is_typed ? " type=\"" + f.type->xml + "\"" : "") + attributes() + ">";
        table(*f.type, out, depth + 1);
        out += "</" + f.xml + ">";
        return;
      case FieldKind::union_value:
        return;
      default:
        vector(type, f, out, depth);
    }
  }

  uint32_t list_size(int depth) {
    if (chance(15)) return 0;
    if (options_.long_lists && depth < 2 && chance(30)) return below(300);
    return 1 + below(depth < 2 ? 6 : 3);
  }

  void vector(const tools::TypePlan& type, const tools::FieldPlan& f, std::string& out, int depth) {
    using tools::Converter;
    using tools::FieldKind;
    uint32_t n = depth > 8 ? 0 : list_size(depth);
    if (n == 0 && chance(50)) {
      out += "<" + f.xml + attributes() + "/>";
      return;
    }
    out += "<" + f.xml + attributes() + ">";
    if (f.converter == Converter::hex_bytes) {
      for (; n > 0; --n) out += pick({"0A ", "ff", "10\n", "7F "});
    } else if (f.kind == FieldKind::scalar_vector && f.converter == Converter::plain && f.item == "Item") {
      for (; n > 0; --n)
        out += number(f.scalar == tools::Scalar::f32 ? tools::Scalar::i16 : f.scalar) + (chance(10)   ? "<!-- c -->\n"
                                                                                         : chance(30) ? "\n"
                                                                                                      : " ");
    } else if (f.converter == Converter::vectors) {
      const bool lines = chance(50);
      for (; n > 0; --n)
        out += lines ? "1 2.5 -3\n" : chance(50) ? "<Item>1, 2, 3</Item>" : "<Item>1, 2.5, 3, 4</Item>";
    } else {
      for (; n > 0; --n) {
        out += layout();
        if (options_.unknown && chance(1)) out += odd();
        item(type, f, out, depth);
      }
      out += layout();
    }
    out += "</" + f.xml + ">";
  }

  void item(const tools::TypePlan& owner, const tools::FieldPlan& f, std::string& out, int depth) {
    using tools::FieldKind;
    switch (f.kind) {
      case FieldKind::scalar_vector:
        return scalar(f.item, f, out);
      case FieldKind::string_vector:
        out += "<" + f.item + attributes() + ">" + word() + "</" + f.item + ">";
        return;
      case FieldKind::table_vector: {
        if (f.type->union_field >= 0) return union_item(f, out, depth);
        out += "<" + f.item;
        for (const tools::FieldPlan& a : f.type->fields)
          if (a.is_xml_attribute && chance(90)) out += " " + a.xml + "=\"k" + std::to_string(below(5)) + "\"";
        out += attributes() + ">";
        table(*f.type, out, depth + 1);
        out += "</" + f.item + ">";
        return;
      }
      default: {
        // Its own type, or one that has more members.
        std::string type = f.hoisted.empty() ? "" : f.type->xml;
        const tools::TypePlan* record = nullptr;
        for (const int h : f.hoisted) {
          const tools::FieldPlan& hoisted = owner.fields[static_cast<size_t>(h)];
          if (hoisted.item_type.empty() || !chance(25)) continue;
          type = hoisted.item_type;
          record = hoisted.type;
        }
        if (options_.unknown && !f.hoisted.empty() && chance(2)) type = pick({"CQaUnknown", ""});
        out += "<" + f.item + (type.empty() ? "" : " type=\"" + type + "\"") + attributes() + ">";
        members(*f.type, &owner, &f, out, depth + 1);
        if (record != nullptr) members(*record, nullptr, nullptr, out, depth + 1);
        out += "</" + f.item + ">";
      }
    }
  }

  void union_item(const tools::FieldPlan& f, std::string& out, int depth) {
    const tools::FieldPlan& u = f.type->fields[static_cast<size_t>(f.type->union_field)];
    const auto& values = u.enumeration->values;
    const tools::EnumValue& v = values[below(static_cast<uint32_t>(values.size()))];
    if (v.type == nullptr || v.type->unknown_item) {
      out += options_.unknown
                 ? "<Item type=\"QaUnknownExt\"" + attributes() + "><name>" + word() + "</name>" + odd() + "</Item>"
                 : "";
      return;
    }
    out += "<" + f.item + " type=\"" + v.type->xml + "\"" + attributes() + ">";
    table(*v.type, out, depth + 1);
    out += "</" + f.item + ">";
  }

  void table(const tools::TypePlan& type, std::string& out, int depth) { members(type, nullptr, nullptr, out, depth); }

  void members(const tools::TypePlan& type, const tools::TypePlan* owner, const tools::FieldPlan* host,
               std::string& out, int depth) {
    std::vector<size_t> order;
    for (size_t i = 0; i < type.fields.size(); ++i)
      if (type.fields[i].in_xml && !type.fields[i].is_xml_attribute) order.push_back(i);
    if (chance(20)) std::shuffle(order.begin(), order.end(), random_);
    const uint32_t keep = order.size() > 30 ? 15 : depth == 0 ? 60 : 85;
    for (const size_t i : order) {
      const tools::FieldPlan& f = type.fields[i];
      if (!f.required_name && !chance(keep)) continue;
      if (f.required_name && options_.errors && chance(1)) continue;
      out += layout();
      if (options_.unknown && chance(1)) out += odd();
      member(type, f, out, depth);
      if (chance(1)) member(type, f, out, depth);
    }
    if (host != nullptr)
      for (const int h : host->hoisted) {
        const tools::FieldPlan& hoisted = owner->fields[static_cast<size_t>(h)];
        if (!hoisted.item_type.empty() || !chance(30)) continue;
        out += layout() + "<" + hoisted.xml + attributes() + ">";
        for (uint32_t n = below(3); n > 0; --n) {
          out += layout();
          union_item(hoisted, out, depth + 1);
        }
        out += "</" + hoisted.xml + ">";
      }
    if (options_.unknown && chance(2)) out += odd();
    if (options_.errors && chance(1) && below(4) == 0)
      out += pick({"<", "</", "<a b>", "<a b=c/>", "&x;", "<!DOCTYPE a>", "${X}", "<a", "\xFF"});
    out += layout();
  }

  const tools::Binding& binding_;
  std::mt19937_64 random_;
  DocumentOptions options_;
};

}  // namespace meridian::test
