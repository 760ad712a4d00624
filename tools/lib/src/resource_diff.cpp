// SPDX-License-Identifier: MIT
// What differs between two resources of one kind.
#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "interior_diff.h"
#include "meridian/schemas/ityp_generated.h"
#include "pack_names.h"
#include "table_view.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

class Diff {
 public:
  // Generated accessors read our own layout only.
  Diff(const LoadedResource& a, const LoadedResource& b)
      : a_(a),
        b_(b),
        is_type_file_(a.binding->layout_fingerprint() == Binding::builtin(kind_of("ITYP"))->layout_fingerprint()) {}

  std::vector<std::string> run() {
    object(root_view(a_), root_view(b_), {});
    kept();
    return std::move(lines_);
  }

 private:
  void say(const std::string& path, const std::string& before, const std::string& after) {
    lines_.push_back((path.empty() ? "(root)" : path) + ": " + before + " -> " + after);
  }

  // Everything below an object as one line of text: the identity of array elements, and what is shown of them.
  std::string text(const LoadedResource& r, ObjectView o) const {
    std::string out = "{";
    for (const FieldPlan& f : o.type->fields) {
      if ((o.type->is_struct && !f.in_xml) || field_address(o, f) == nullptr) continue;
      if (f.kind == FieldKind::scalar && f.enumeration != nullptr && f.enumeration->is_union) continue;
      if (out.size() > 1) out += ' ';
      out += f.name + "=" + value(r, o, f);
    }
    return out + "}";
  }

  std::string value(const LoadedResource& r, ObjectView o, const FieldPlan& f) const {
    const uint8_t* const at = field_address(o, f);
    if (at == nullptr) {
      if (f.kind != FieldKind::scalar || f.optional) return "(none)";
      uint8_t bits[8];
      store_bits(bits, 8, f.default_bits);
      std::string out;
      append_scalar_text(out, r, f, bits);
      return out.empty() ? "''" : out;
    }
    switch (f.kind) {
      case FieldKind::scalar: {
        std::string out;
        append_scalar_text(out, r, f, at);
        return out.empty() ? "''" : out;
      }
      case FieldKind::string:
        return "'" + std::string(string_at(at)) + "'";
      case FieldKind::structure:
      case FieldKind::table:
        return text(r, object_field(o, f));
      case FieldKind::union_value: {
        const EnumValue* m = union_member(o, f);
        return m == nullptr ? "(none)" : m->xml + text(r, {follow(at), m->type});
      }
      default: {
        const VectorView v = vector_field(o, f);
        std::string out = "[";
        for (uint32_t i = 0; i < v.count; ++i) out += (i > 0 ? " " : "") + element_text(r, f, v, i);
        return out + "]";
      }
    }
  }

  std::string element_text(const LoadedResource& r, const FieldPlan& f, const VectorView& v, uint32_t i) const {
    const uint8_t* const at = v.data + size_t{i} * v.stride;
    if (f.kind == FieldKind::scalar_vector) {
      std::string out;
      append_scalar_text(out, r, f, at);
      return out.empty() ? "''" : out;
    }
    if (f.kind == FieldKind::string_vector) return "'" + std::string(string_at(at)) + "'";
    return text(r, element(v, f, i));
  }

  void object(ObjectView a, ObjectView b, const std::string& path, std::span<const std::string_view> without = {}) {
    InteriorDiff inside;
    const bool is_interior = is_type_file_ && a.type->full_name == "meridian.schema.MloArchetypeDef";
    if (is_interior) {
      inside = diff_interiors(*reinterpret_cast<const schema::MloArchetypeDef*>(a.data),
                              *reinterpret_cast<const schema::MloArchetypeDef*>(b.data));
      for (const std::string& line : inside.lines) lines_.push_back(path + ": " + line);
    }
    for (const FieldPlan& f : a.type->fields) {
      if (std::find(without.begin(), without.end(), f.name) != without.end()) continue;
      if (a.type->is_struct && !f.in_xml) continue;
      if (f.kind == FieldKind::scalar && f.enumeration != nullptr && f.enumeration->is_union) continue;
      const std::string here = path_join(path, f.name);
      const bool in_a = field_address(a, f) != nullptr, in_b = field_address(b, f) != nullptr;
      if (!in_a && !in_b) continue;
      if (f.cooked) {
        cooked(a, b, f, here);
        continue;
      }
      const bool vector = f.kind == FieldKind::struct_vector || f.kind == FieldKind::table_vector ||
                          f.kind == FieldKind::scalar_vector || f.kind == FieldKind::string_vector;
      if (is_interior && (f.name == "rooms" || f.name == "portals")) {
        // Positions in other arrays were told by names.
        static constexpr std::array<std::string_view, 3> kByName{"attached_objects", "room_from", "room_to"};
        for (const auto& [i, j] : f.name == "rooms" ? inside.rooms : inside.portals)
          object(element(vector_field(a, f), f, i), element(vector_field(b, f), f, j), path_index(here, i), kByName);
        continue;
      }
      if (vector) {
        elements(f, in_a ? vector_field(a, f) : VectorView{}, in_b ? vector_field(b, f) : VectorView{}, here);
        continue;
      }
      if (in_a && in_b && (f.kind == FieldKind::structure || f.kind == FieldKind::table)) {
        object(object_field(a, f), object_field(b, f), here);
        continue;
      }
      if (in_a && in_b && f.kind == FieldKind::union_value) {
        const EnumValue *ma = union_member(a, f), *mb = union_member(b, f);
        if (ma != nullptr && mb != nullptr && ma->value == mb->value) {
          object({follow(field_address(a, f)), ma->type}, {follow(field_address(b, f)), mb->type}, here);
          continue;
        }
      }
      const std::string before = value(a_, a, f), after = value(b_, b, f);
      if (before != after) say(here, before, after);
    }
  }

  // What a linker made follows from the rest: a line for each array that differs, not for each number.
  void cooked(ObjectView a, ObjectView b, const FieldPlan& f, const std::string& path) {
    if (value(a_, a, f) == value(b_, b, f)) return;
    const bool in_a = field_address(a, f) != nullptr, in_b = field_address(b, f) != nullptr;
    if (in_a && in_b && f.kind == FieldKind::table) {
      const ObjectView ta = object_field(a, f), tb = object_field(b, f);
      for (const FieldPlan& member : f.type->fields) cooked(ta, tb, member, path_join(path, member.name));
      return;
    }
    say(path, cooked_text(a_, a, f), cooked_text(b_, b, f));
  }
  std::string cooked_text(const LoadedResource& r, ObjectView o, const FieldPlan& f) const {
    if (f.kind == FieldKind::scalar) return value(r, o, f);
    if (field_address(o, f) == nullptr) return "(none)";
    if (f.kind == FieldKind::table) return "(made)";
    return "(" + std::to_string(vector_field(o, f).count) + " elements)";
  }

  // Equal elements are paired first, in order (longest common run at both ends, then by content); what is left is
  // paired by position between them. So an insertion shows as one added element, not as a change of all that follow.
  void elements(const FieldPlan& f, const VectorView& a, const VectorView& b, const std::string& path) {
    std::vector<std::string> ta(a.count), tb(b.count);
    for (uint32_t i = 0; i < a.count; ++i) ta[i] = element_text(a_, f, a, i);
    for (uint32_t i = 0; i < b.count; ++i) tb[i] = element_text(b_, f, b, i);
    uint32_t first = 0, end_a = a.count, end_b = b.count;
    while (first < end_a && first < end_b && ta[first] == tb[first]) ++first;
    while (end_a > first && end_b > first && ta[end_a - 1] == tb[end_b - 1]) --end_a, --end_b;
    // Anchors between: elements of the new array that the old one has further on.
    uint32_t i = first, j = first;
    std::unordered_map<std::string_view, std::vector<uint32_t>> where;
    for (uint32_t k = first; k < end_a; ++k) where[ta[k]].push_back(k);
    while (j < end_b || i < end_a) {
      uint32_t anchor_a = end_a, anchor_b = end_b;
      for (uint32_t k = j; k < end_b && anchor_b == end_b; ++k) {
        const auto it = where.find(tb[k]);
        if (it == where.end()) continue;
        const auto at = std::lower_bound(it->second.begin(), it->second.end(), i);
        if (at == it->second.end()) continue;
        anchor_a = *at;
        anchor_b = k;
      }
      changed(f, a, b, path, i, anchor_a, j, anchor_b, ta, tb);
      i = anchor_a + 1;
      j = anchor_b + 1;
    }
  }

  void changed(const FieldPlan& f, const VectorView& a, const VectorView& b, const std::string& path, uint32_t i,
               uint32_t end_a, uint32_t j, uint32_t end_b, const std::vector<std::string>& ta,
               const std::vector<std::string>& tb) {
    for (; i < end_a && j < end_b; ++i, ++j) {
      const std::string here = i == j ? path_index(path, i) : path_index(path, i) + "=>[" + std::to_string(j) + "]";
      if (f.kind == FieldKind::struct_vector || f.kind == FieldKind::table_vector)
        object(element(a, f, i), element(b, f, j), here);
      else
        say(here, ta[i], tb[j]);
    }
    for (; i < end_a; ++i) say(path_index(path, i), ta[i], "(removed)");
    for (; j < end_b; ++j) say(path_index(path, j), "(added)", tb[j]);
  }

  void kept() {
    std::vector<std::string> paths;
    for (const auto& [path, list] : a_.kept) paths.push_back(path);
    for (const auto& [path, list] : b_.kept)
      if (a_.kept.find(path) == a_.kept.end()) paths.push_back(path);
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const std::string before = kept_text(a_, path), after = kept_text(b_, path);
      if (before != after) say(path + " (kept XML)", before, after);
    }
  }

  static std::string kept_text(const LoadedResource& r, const std::string& path) {
    const auto it = r.kept.find(path);
    if (it == r.kept.end()) return "(none)";
    std::string out;
    for (const KeptView& k : it->second) {
      if (!out.empty()) out += ' ';
      if (k.kind == 1) out.append(k.name).append("=");
      out += k.text;
    }
    return out;
  }

  const LoadedResource &a_, &b_;
  const bool is_type_file_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> diff_lines(const LoadedResource& a, const LoadedResource& b) {
  if (a.resource.kind() != b.resource.kind())
    return {"kind: " + kind_text(a.resource.kind()) + " -> " + kind_text(b.resource.kind())};
  if (a.binding->layout_fingerprint() != b.binding->layout_fingerprint())
    return {"schema: the files are read by different schemas"};
  return Diff(a, b).run();
}

}  // namespace meridian::tools
