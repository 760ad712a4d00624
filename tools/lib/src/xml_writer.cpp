// SPDX-License-Identifier: MIT
// Writes a resource as the XML that compiles to it again: schema order, one blank a level, `<name value="1" />`.
#include <algorithm>

#include "table_view.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

class XmlWriter {
 public:
  explicit XmlWriter(const LoadedResource& r) : r_(r) {}

  std::string run() {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    const ObjectView root = root_view(r_);
    begin(root.type->xml, xml_attributes(root) + attributes_of({}));
    table_members(root, {});
    end(root.type->xml, {});
    return std::move(out_);
  }

 private:
  using Kept = std::vector<KeptView>;

  const Kept* kept(const std::string& path) const {
    if (r_.kept.empty()) return nullptr;
    const auto it = r_.kept.find(path);
    return it == r_.kept.end() ? nullptr : &it->second;
  }

  // Attributes of an element that were kept, as they follow its name.
  std::string attributes_of(const std::string& path) const {
    std::string text;
    if (const Kept* list = kept(path))
      for (const KeptView& k : *list)
        if (k.kind == 1) {
          text.append(" ").append(k.name).append("=\"");
          append_escaped(text, k.text, true);
          text += '"';
        }
    return text;
  }

  // Elements and text that were kept, as they stand before its end tag.
  bool has_content(const std::string& path) const {
    const Kept* list = kept(path);
    return list != nullptr && std::any_of(list->begin(), list->end(), [](const KeptView& k) { return k.kind != 1; });
  }
  void content_of(const std::string& path) {
    if (const Kept* list = kept(path))
      for (const KeptView& k : *list) {
        if (k.kind == 1) continue;
        indent();
        if (k.kind == 0)
          out_ += k.text;
        else
          append_escaped(out_, k.text, false);
        out_ += '\n';
      }
  }

  // The type that the schema gives, unless the author's own was kept.
  static std::string type_attribute(const std::string& type, const std::string& kept_attributes) {
    return kept_attributes.find(" type=\"") == std::string::npos ? " type=\"" + type + "\"" : std::string();
  }

  void indent() { out_.append(level_, ' '); }
  void begin(std::string_view name, std::string_view attributes) {
    indent();
    out_.append("<").append(name).append(attributes).append(">\n");
    ++level_;
  }
  void end(std::string_view name, const std::string& path) {
    content_of(path);
    --level_;
    indent();
    out_.append("</").append(name).append(">\n");
  }
  // An element without children, unless something was kept in it.
  void leaf(std::string_view name, std::string_view attributes, std::string_view text, const std::string& path) {
    const std::string extra = attributes_of(path);
    indent();
    out_.append("<").append(name).append(attributes).append(extra);
    if (!has_content(path)) {
      if (text.empty()) {
        out_ += " />\n";
        return;
      }
      out_ += '>';
      append_escaped(out_, text, false);
      out_.append("</").append(name).append(">\n");
      return;
    }
    // On one line: layout between the text and what was kept would be taken for the text's own end.
    out_ += '>';
    append_escaped(out_, text, false);
    for (const KeptView& k : *kept(path)) {
      if (k.kind == 0) out_ += k.text;
      if (k.kind == 2) append_escaped(out_, k.text, false);
    }
    out_.append("</").append(name).append(">\n");
  }

  void scalar(std::string_view name, const FieldPlan& f, const uint8_t* at, const std::string& path) {
    std::string text;
    append_scalar_text(text, r_, f, at);
    // An attribute `value` that was kept beside the text must not be taken for it.
    if (is_text_scalar(f) && text.empty() && kept(path) != nullptr)
      text = f.converter == Converter::name ? "hash_00000000" : "0";
    if (is_text_scalar(f)) return leaf(name, {}, text, path);
    leaf(name, " value=\"" + text + "\"", {}, path);
  }

  std::string lanes(ObjectView o, std::string_view separator) const {
    std::string text;
    for (const FieldPlan& lane : o.type->fields) {
      if (!lane.in_xml || lane.kind != FieldKind::scalar) continue;
      if (!text.empty()) text += separator;
      append_number(text, lane.scalar, load_bits(o.data + lane.offset, lane.size));
    }
    return text;
  }

  void structure(std::string_view name, const FieldPlan& f, ObjectView o, const std::string& path) {
    switch (f.converter) {
      case Converter::attributes: {
        std::string attributes;
        for (const FieldPlan& lane : o.type->fields) {
          attributes.append(" ").append(lane.xml).append("=\"");
          append_number(attributes, lane.scalar, load_bits(o.data + lane.offset, lane.size));
          attributes += '"';
        }
        return leaf(name, attributes, {}, path);
      }
      case Converter::text_lanes:
        return leaf(name, {}, lanes(o, " "), path);
      case Converter::named_lanes: {
        begin(name, attributes_of(path));
        const size_t hole = f.lanes_pattern.find("{}");
        for (size_t i = 0; i < o.type->fields.size(); ++i) {
          std::string lane = f.lanes_pattern;
          if (hole != std::string::npos) lane.replace(hole, 2, std::to_string(i));
          scalar(lane, o.type->fields[i], o.data + o.type->fields[i].offset, path_join(path, o.type->fields[i].name));
        }
        return end(name, path);
      }
      default:
        begin(name, attributes_of(path));
        struct_members(o, path);
        end(name, path);
    }
  }

  void struct_members(ObjectView o, const std::string& path) {
    for (const FieldPlan& f : o.type->fields) {
      if (!f.in_xml) continue;
      const std::string here = path_join(path, f.name);
      if (f.kind == FieldKind::structure)
        structure(f.xml, f, {o.data + f.offset, f.type}, here);
      else
        scalar(f.xml, f, o.data + f.offset, here);
    }
  }

  std::string xml_attributes(ObjectView o) const {
    std::string text;
    for (const FieldPlan& f : o.type->fields) {
      if (!f.is_xml_attribute) continue;
      const uint8_t* const at = field_address(o, f);
      if (at == nullptr) continue;
      std::string value;
      if (f.kind == FieldKind::string)
        value = string_at(at);
      else
        append_scalar_text(value, r_, f, at);
      text.append(" ").append(f.xml).append("=\"");
      append_escaped(text, value, true);
      text += '"';
    }
    return text;
  }

  void table_members(ObjectView o, const std::string& path) {
    const bool sparse = o.type->sparse;
    for (const FieldPlan& f : o.type->fields) {
      if (!f.in_xml || f.is_xml_attribute) continue;
      const std::string here = path_join(path, f.name);
      const uint8_t* const at = o.data != nullptr ? field_address(o, f) : nullptr;
      switch (f.kind) {
        case FieldKind::scalar: {
          if (at == nullptr && (f.optional || sparse)) continue;
          uint8_t bits[8];
          store_bits(bits, 8, f.default_bits);
          scalar(f.xml, f, at != nullptr ? at : bits, here);
          continue;
        }
        case FieldKind::string:
          if (at == nullptr && sparse && !mentioned(here)) continue;
          leaf(f.xml, {}, at != nullptr ? string_at(at) : std::string_view(), here);
          continue;
        case FieldKind::structure:
          if (at == nullptr && sparse) continue;
          structure(f.xml, f, {at != nullptr ? at : f.default_bytes.data(), f.type}, here);
          continue;
        case FieldKind::table: {
          if (at == nullptr && (sparse || f.type->sparse)) continue;
          const ObjectView inner{at != nullptr ? follow(at) : nullptr, f.type};
          // A table that holds its own type: what is absent in an absent one goes on for ever, and says nothing.
          if (!inner && std::find(absent_.begin(), absent_.end(), f.type) != absent_.end()) {
            leaf(f.xml, {}, {}, here);
            continue;
          }
          if (!inner) absent_.push_back(f.type);
          const std::string own = attributes_of(here);
          std::string attributes = f.type->is_typed ? type_attribute(f.type->xml, own) : std::string();
          if (inner) attributes += xml_attributes(inner);
          begin(f.xml, attributes + own);
          table_members(inner, here);
          if (!inner) absent_.pop_back();
          end(f.xml, here);
          continue;
        }
        case FieldKind::union_value:
          continue;
        default: {
          const VectorView v = at != nullptr ? vector_field(o, f) : VectorView{};
          if (v.count == 0 && sparse && !mentioned(here)) continue;
          vector(o, f, v, here);
        }
      }
    }
  }

  bool mentioned(const std::string& path) const { return kept(path) != nullptr; }

  void vector(ObjectView owner, const FieldPlan& f, const VectorView& v, const std::string& path) {
    if (v.count == 0) return leaf(f.xml, {}, {}, path);
    if (f.converter == Converter::hex_bytes ||
        (f.kind == FieldKind::scalar_vector && f.converter == Converter::plain && f.item == "Item"))
      return numbers(f, v, path);
    begin(f.xml, attributes_of(path));
    for (uint32_t i = 0; i < v.count; ++i) {
      const std::string here = path_index(path, i);
      const uint8_t* const at = v.data + size_t{i} * v.stride;
      if (f.kind == FieldKind::struct_vector && f.converter == Converter::vectors) {
        leaf(f.item, {}, lanes({at, f.type}, ", "), here);
      } else if (f.kind == FieldKind::struct_vector && f.converter != Converter::plain) {
        structure(f.item, f, element(v, f, i), here);
      } else if (f.kind == FieldKind::struct_vector) {
        struct_item(owner, f, element(v, f, i), i, here);
      } else if (f.kind == FieldKind::table_vector) {
        table_item(f, element(v, f, i), here);
      } else if (f.kind == FieldKind::string_vector) {
        leaf(f.item, {}, string_at(at), here);
      } else {
        scalar(f.item, f, at, here);
      }
    }
    end(f.xml, path);
  }

  void numbers(const FieldPlan& f, const VectorView& v, const std::string& path) {
    const bool hex = f.converter == Converter::hex_bytes;
    const uint32_t per_line = hex ? 32 : 10;
    std::string text;
    for (uint32_t i = 0; i < v.count; ++i) {
      if (i % per_line == 0 && v.count > per_line)
        text.append("\n").append(level_ + 1, ' ');
      else if (i > 0)
        text += ' ';
      const uint8_t* const at = v.data + size_t{i} * v.stride;
      if (hex) {
        constexpr char digits[] = "0123456789ABCDEF";
        text += digits[*at >> 4];
        text += digits[*at & 15];
      } else {
        append_number(text, f.scalar, load_bits(at, f.size));
      }
    }
    if (v.count > per_line) text.append("\n").append(level_, ' ');
    leaf(f.xml, {}, text, path);
  }

  void table_item(const FieldPlan& f, ObjectView o, const std::string& path) {
    if (f.type->union_field >= 0) return union_item(f, o, path);
    begin(f.item, xml_attributes(o) + attributes_of(path));
    table_members(o, path);
    end(f.item, path);
  }

  void union_item(const FieldPlan& f, ObjectView wrapper, const std::string& path) {
    const FieldPlan& u = wrapper.type->fields[static_cast<size_t>(wrapper.type->union_field)];
    const EnumValue* const member = union_member(wrapper, u);
    if (member == nullptr || member->type->unknown_item) {
      content_of(path);  // its text is the whole Item
      return;
    }
    const std::string here = path_join(path, u.name);
    const ObjectView o{follow(field_address(wrapper, u)), member->type};
    const std::string own = attributes_of(here);
    begin(f.item, type_attribute(member->type->xml, own) + own);
    table_members(o, here);
    end(f.item, here);
  }

  // A struct with what was hoisted out of its Item.
  void struct_item(ObjectView owner, const FieldPlan& f, ObjectView o, uint32_t index, const std::string& path) {
    std::string type = f.hoisted.empty() ? std::string() : o.type->xml;
    ObjectView record;
    std::string record_path;
    for (const int h : f.hoisted) {
      const FieldPlan& hoisted = owner.type->fields[static_cast<size_t>(h)];
      if (hoisted.item_type.empty()) continue;
      const VectorView records = vector_field(owner, hoisted);
      const uint32_t i = first_record(records, hoisted, index);
      if (i >= records.count || owner_of(element(records, hoisted, i)) != index) continue;
      record = element(records, hoisted, i);
      record_path = path_index(hoisted.name, i);
      type = hoisted.item_type;
    }
    // Hoisted vectors are siblings of the host: their path is the owner's.
    const std::string parent = path.substr(0, path.size() - path_index(f.name, index).size());
    const std::string kept_attributes = attributes_of(path);
    const std::string attributes = type.empty() ? std::string() : type_attribute(type, kept_attributes);
    if (record) record_path = parent + record_path;
    begin(f.item, attributes + kept_attributes + (record ? attributes_of(record_path) : std::string()));
    struct_members(o, path);
    for (const int h : f.hoisted) {
      const FieldPlan& hoisted = owner.type->fields[static_cast<size_t>(h)];
      if (!hoisted.item_type.empty()) continue;
      const VectorView records = vector_field(owner, hoisted);
      uint32_t i = first_record(records, hoisted, index);
      const std::string array_path = path_join(path, hoisted.name);
      if (i >= records.count || owner_of(element(records, hoisted, i)) != index) {
        leaf(hoisted.xml, {}, {}, array_path);
        continue;
      }
      begin(hoisted.xml, attributes_of(array_path));
      for (; i < records.count && owner_of(element(records, hoisted, i)) == index; ++i)
        table_item(hoisted, element(records, hoisted, i), parent + path_index(hoisted.name, i));
      end(hoisted.xml, array_path);
    }
    if (record) {
      table_members(record, record_path);
      content_of(record_path);
    }
    end(f.item, path);
  }

  const LoadedResource& r_;
  std::string out_;
  size_t level_ = 0;
  std::vector<const TypePlan*> absent_;  // tables being written that are absent
};

}  // namespace

uint32_t first_record(const VectorView& records, const FieldPlan& f, uint32_t owner) {
  uint32_t low = 0, high = records.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (owner_of(element(records, f, middle)) < owner)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool is_text_scalar(const FieldPlan& f) {
  return f.converter == Converter::name || f.converter == Converter::enum_text || f.converter == Converter::flag_text;
}

void append_scalar_text(std::string& out, const LoadedResource& r, const FieldPlan& f, const uint8_t* at) {
  const uint64_t bits = load_bits(at, f.size);
  switch (f.converter) {
    case Converter::name: {
      if (bits == 0) return;
      const auto it = r.names.find(static_cast<uint32_t>(bits));
      if (it != r.names.end())
        out += it->second;
      else
        append_hash_literal(out, static_cast<uint32_t>(bits));
      return;
    }
    case Converter::enum_text:
      if (const EnumValue* v = f.enumeration->find(signed_value(f.scalar, bits))) {
        out += v->xml;
        return;
      }
      break;
    case Converter::flag_text: {
      uint64_t rest = bits;
      std::string names;
      for (const EnumValue& v : f.enumeration->values) {
        const auto value = static_cast<uint64_t>(v.value);
        if (value == 0 || (rest & value) != value) continue;
        if (!names.empty()) names += ", ";
        names += v.xml;
        rest &= ~value;
      }
      if (rest == 0) {
        out += names;
        return;
      }
      break;  // bits without a name: the number says all
    }
    case Converter::color: {
      std::string hex;
      append_hash_literal(hex, static_cast<uint32_t>(bits));
      out += "0x" + hex.substr(5);
      return;
    }
    default:
      break;
  }
  append_number(out, f.scalar, bits);
}

std::string dump_xml(const LoadedResource& r) { return XmlWriter(r).run(); }

}  // namespace meridian::tools
