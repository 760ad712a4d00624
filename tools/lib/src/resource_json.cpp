// SPDX-License-Identifier: MIT
// A resource as JSON, and its statistics.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "meridian/tools/json_writer.h"
#include "pack_names.h"
#include "table_view.h"
#include "text_values.h"
#include "world_index/index_stats.h"

namespace meridian::tools {
namespace {

class JsonDump {
 public:
  JsonDump(const LoadedResource& r, JsonWriter& json) : r_(r), json_(json) {}

  void object(ObjectView o, bool one_line_structs) {
    json_.begin_object();
    members(o, one_line_structs);
    json_.end_object();
  }

 private:
  void members(ObjectView o, bool one_line) {
    for (const FieldPlan& f : o.type->fields) {
      if (o.type->is_struct && !f.in_xml) continue;  // filler
      const uint8_t* const at = field_address(o, f);
      if (at == nullptr) {
        if (f.kind != FieldKind::scalar || f.optional) continue;
        uint8_t bits[8];
        store_bits(bits, 8, f.default_bits);
        json_.key(f.name);
        scalar(f, bits);
        continue;
      }
      if (f.kind == FieldKind::scalar && !f.in_xml && f.enumeration != nullptr && f.enumeration->is_union) continue;
      if (f.kind == FieldKind::union_value)  // as FlatBuffers' own JSON has it
        if (const EnumValue* const member = union_member(o, f))
          json_.member(f.name + "_type", std::string_view(member->name));
      json_.key(f.name);
      switch (f.kind) {
        case FieldKind::scalar:
          scalar(f, at);
          break;
        case FieldKind::string:
          json_.value(string_at(at));
          break;
        case FieldKind::structure:
          object({at, f.type}, one_line);
          break;
        case FieldKind::table:
          object({follow(at), f.type}, one_line);
          break;
        case FieldKind::union_value: {
          const EnumValue* const member = union_member(o, f);
          if (member == nullptr) {
            json_.null();
            break;
          }
          json_.begin_object();
          members({follow(at), member->type}, one_line);
          json_.end_object();
          break;
        }
        default:
          vector(o, f);
      }
    }
  }

  void scalar(const FieldPlan& f, const uint8_t* at) {
    const uint64_t bits = load_bits(at, f.size);
    const bool text = is_text_scalar(f) || f.converter == Converter::color;
    if (text) {
      std::string value;
      append_scalar_text(value, r_, f, at);
      json_.value(std::string_view(value));
    } else if (f.scalar == Scalar::boolean) {
      json_.value(bits != 0);
    } else if (f.scalar == Scalar::f32) {
      float v;
      std::memcpy(&v, at, sizeof v);
      json_.value(v);
    } else if (f.scalar == Scalar::f64) {
      double v;
      std::memcpy(&v, at, sizeof v);
      json_.value(v);
    } else if (f.scalar == Scalar::u64) {
      json_.value(bits);
    } else {
      json_.value(signed_value(f.scalar, bits));
    }
  }

  void vector(ObjectView o, const FieldPlan& f) {
    const VectorView v = vector_field(o, f);
    const bool plain = f.kind == FieldKind::scalar_vector && !is_text_scalar(f);
    json_.begin_array(plain);
    for (uint32_t i = 0; i < v.count; ++i) {
      const uint8_t* const at = v.data + size_t{i} * v.stride;
      if (f.kind == FieldKind::scalar_vector)
        scalar(f, at);
      else if (f.kind == FieldKind::string_vector)
        json_.value(string_at(at));
      else
        object(element(v, f, i), true);
    }
    json_.end_array();
  }

  const LoadedResource& r_;
  JsonWriter& json_;
};

struct VectorCount {
  std::string path;
  uint64_t count = 0, bytes = 0;
};

// Vectors by their path without indices, summed over all owners.
void count_vectors(ObjectView o, const std::string& path, std::vector<VectorCount>& out) {
  for (const FieldPlan& f : o.type->fields) {
    if (o.type->is_struct || field_address(o, f) == nullptr) continue;
    const std::string here = path_join(path, f.name);
    if (f.kind == FieldKind::table) count_vectors(object_field(o, f), here, out);
    if (f.kind == FieldKind::union_value) {
      if (const EnumValue* m = union_member(o, f))
        count_vectors({follow(field_address(o, f)), m->type}, here + ":" + m->name, out);
      continue;
    }
    if (f.kind != FieldKind::scalar_vector && f.kind != FieldKind::string_vector &&
        f.kind != FieldKind::struct_vector && f.kind != FieldKind::table_vector)
      continue;
    const VectorView v = vector_field(o, f);
    auto it = std::find_if(out.begin(), out.end(), [&](const VectorCount& c) { return c.path == here; });
    if (it == out.end()) {
      out.push_back({here, 0, 0});
      it = out.end() - 1;
    }
    it->count += v.count;
    it->bytes += uint64_t{v.count} * v.stride;
    if (f.kind == FieldKind::table_vector)
      for (uint32_t i = 0; i < v.count; ++i) count_vectors(element(v, f, i), here, out);
  }
}

std::vector<VectorCount> counts(const LoadedResource& r) {
  std::vector<VectorCount> out;
  count_vectors(root_view(r), {}, out);
  return out;
}

void put_tree(JsonWriter& json, const char* name, const IndexStats::Tree& tree) {
  json.key(name);
  json.begin_object();
  json.member("nodes", uint64_t{tree.nodes});
  json.member("depth", uint64_t{tree.depth});
  json.member("outside", uint64_t{tree.outside});
  json.member("bytes", tree.bytes);
  json.end_object();
}

void put_index(JsonWriter& json, const IndexStats& s) {
  json.key("index");
  json.begin_object();
  json.member("maps", s.maps);
  json.member("type_files", s.types);
  json.member("archetypes", s.archetypes);
  json.member("groups", s.groups);
  json.member("bytes_per_map", s.bytes_per_map());
  json.member("bytes_per_archetype", s.bytes_per_archetype());
  put_tree(json, "entities_tree", s.entities);
  put_tree(json, "streaming_tree", s.streaming);
  json.end_object();
}

std::string index_text(const IndexStats& s) {
  char text[160];
  std::snprintf(text, sizeof text, "  %llu maps, %llu type files, %llu archetypes, %llu groups; %.1f bytes a map, ",
                static_cast<unsigned long long>(s.maps), static_cast<unsigned long long>(s.types),
                static_cast<unsigned long long>(s.archetypes), static_cast<unsigned long long>(s.groups),
                s.bytes_per_map());
  std::string out = text;
  std::snprintf(text, sizeof text, "%.1f an archetype\n", s.bytes_per_archetype());
  out += text;
  for (const auto& [name, tree] : {std::pair{"entities tree", &s.entities}, {"streaming tree", &s.streaming}}) {
    std::snprintf(text, sizeof text, "  %s: %u nodes in %u levels, %u maps outside, %llu bytes\n", name, tree->nodes,
                  tree->depth, tree->outside, static_cast<unsigned long long>(tree->bytes));
    out += text;
  }
  return out;
}

size_t kept_count(const LoadedResource& r) {
  size_t n = 0;
  for (const auto& [path, list] : r.kept) n += list.size();
  return n;
}

}  // namespace

std::string dump_json(const LoadedResource& r) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("kind", std::string_view(kind_text(r.resource.kind())));
  json.key("root");
  JsonDump(r, json).object(root_view(r), false);
  json.key("kept");
  json.begin_array();
  for (const auto& [path, list] : r.kept)
    for (const KeptView& k : list) {
      json.begin_object();
      json.member("path", std::string_view(path));
      json.member("kind", k.kind == 0 ? "element" : k.kind == 1 ? "attribute" : "text");
      if (k.kind == 1) json.member("name", k.name);
      json.member("text", k.text);
      json.end_object();
    }
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

std::string stats_json(const LoadedResource& r) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("path", std::string_view(r.path));
  json.member("kind", std::string_view(kind_text(r.resource.kind())));
  json.member("bytes", static_cast<uint64_t>(r.bytes.size()));
  json.member("payload_bytes", static_cast<uint64_t>(r.resource.payload().size()));
  json.member("info_bytes", static_cast<uint64_t>(r.resource.info().size()));
  json.member("names", static_cast<uint64_t>(r.names.size()));
  json.member("kept", static_cast<uint64_t>(kept_count(r)));
  json.key("vectors");
  json.begin_array();
  for (const VectorCount& c : counts(r)) {
    json.begin_object();
    json.member("path", std::string_view(c.path));
    json.member("count", c.count);
    json.member("bytes", c.bytes);
    json.end_object();
  }
  json.end_array();
  if (const auto index = index_stats(r)) put_index(json, *index);
  json.end_object();
  out += '\n';
  return out;
}

std::string stats_text(const LoadedResource& r) {
  std::string out = r.path + ": " + kind_text(r.resource.kind()) + ", " + std::to_string(r.bytes.size()) +
                    " bytes (payload " + std::to_string(r.resource.payload().size()) + ", info " +
                    std::to_string(r.resource.info().size()) + "), " + std::to_string(r.names.size()) + " names, " +
                    std::to_string(kept_count(r)) + " kept\n";
  if (const auto index = index_stats(r)) out += index_text(*index);
  for (const VectorCount& c : counts(r)) {
    std::string line = "  " + c.path;
    line.resize(std::max<size_t>(line.size() + 1, 52), ' ');
    out += line + std::to_string(c.count) + " in " + std::to_string(c.bytes) + " bytes\n";
  }
  return out;
}

}  // namespace meridian::tools
