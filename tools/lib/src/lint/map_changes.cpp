// SPDX-License-Identifier: MIT
#include "lint/map_changes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>

#include "lint/entity_links.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "table_view.h"

namespace meridian::tools {
namespace {

uint32_t entity_count(const schema::MapData& map) { return map.entities() == nullptr ? 0 : map.entities()->size(); }

/// How often each guid but 0 stands in a map, and where last.
std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> guids_of(const schema::MapData& map) {
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> out;
  for (uint32_t i = 0; i < entity_count(map); ++i)
    if (const uint32_t guid = map.entities()->Get(i)->guid(); guid != 0) {
      auto& [count, index] = out[guid];
      ++count;
      index = i;
    }
  return out;
}

/// Archetype and position, as bits.
using PlaceKey = std::array<uint32_t, 4>;
PlaceKey place_of(const schema::EntityDef& e) {
  PlaceKey key{e.archetype_name()};
  const std::array<float, 3> at{e.position().x(), e.position().y(), e.position().z()};
  std::memcpy(&key[1], at.data(), sizeof at);
  return key;
}

/// Everything below an object as bytes that are equal for equal content: texts and arrays with their lengths.
class Content {
 public:
  explicit Content(std::string& out) : out_(out) {}

  void object(ObjectView o, const FieldPlan* without) {
    if (!o) return;
    for (const FieldPlan& f : o.type->fields)
      if (&f != without) field(o, f);
  }

 private:
  void add(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  void number(uint64_t n) { add(&n, sizeof n); }

  void field(ObjectView o, const FieldPlan& f) {
    const uint8_t* const at = field_address(o, f);
    if (f.kind == FieldKind::scalar) {
      // Absent and default are one value.
      if (at != nullptr)
        add(at, f.size);
      else
        add(&f.default_bits, f.size);
      return;
    }
    number(at == nullptr ? 0 : 1);
    if (at == nullptr) return;
    switch (f.kind) {
      case FieldKind::string: {
        const std::string_view text = string_at(at);
        number(text.size());
        add(text.data(), text.size());
        return;
      }
      case FieldKind::structure:
      case FieldKind::table:
        return object(object_field(o, f), nullptr);
      case FieldKind::union_value: {
        const EnumValue* const member = union_member(o, f);
        number(member == nullptr ? 0 : static_cast<uint64_t>(member->value));
        if (member != nullptr) object({follow(at), member->type}, nullptr);
        return;
      }
      default:
        return elements(vector_field(o, f), f);
    }
  }

  void elements(const VectorView& v, const FieldPlan& f) {
    number(v.count);
    for (uint32_t i = 0; i < v.count; ++i) {
      const uint8_t* const at = v.data + size_t{i} * v.stride;
      if (f.kind == FieldKind::scalar_vector) {
        add(at, f.size);
      } else if (f.kind == FieldKind::string_vector) {
        const std::string_view text = string_at(at);
        number(text.size());
        add(text.data(), text.size());
      } else {
        object(element(v, f, i), nullptr);
      }
    }
  }

  std::string& out_;
};

const TypePlan& map_plan() { return Binding::builtin(kind_of("IMAP"))->root(); }
ObjectView view_of(const schema::MapData& map) { return {reinterpret_cast<const uint8_t*>(&map), &map_plan()}; }

/// The records of one entity in a vector that was hoisted out of the entities.
std::string records_of(const schema::MapData& map, const FieldPlan& f, uint32_t index) {
  std::string out;
  const VectorView records = vector_field(view_of(map), f);
  for (uint32_t i = first_record(records, f, index); i < records.count; ++i) {
    const ObjectView record = element(records, f, i);
    if (owner_of(record) != index) break;
    Content(out).object(record, &record.type->fields[static_cast<size_t>(record.type->owner_field)]);
  }
  return out;
}

bool same_parent(const schema::EntityDef& a, const schema::EntityDef& b, const EntityPairs& pairs) {
  if (lod_in_parent(a) || lod_in_parent(b)) return a.parent_index() == b.parent_index();
  const auto index = static_cast<size_t>(a.parent_index());
  if (a.parent_index() < 0 || index >= pairs.after_of.size()) return a.parent_index() == b.parent_index();
  return pairs.after_of[index] == b.parent_index();
}

}  // namespace

EntityPairs pair_entities(const schema::MapData& before, const schema::MapData& after) {
  EntityPairs out;
  out.after_of.assign(entity_count(before), -1);
  out.before_of.assign(entity_count(after), -1);
  const auto pair = [&](uint32_t b, uint32_t a) {
    out.after_of[b] = a;
    out.before_of[a] = b;
  };
  const auto guids_after = guids_of(after);
  for (const auto& [guid, found] : guids_of(before)) {
    const auto there = guids_after.find(guid);
    if (found.first == 1 && there != guids_after.end() && there->second.first == 1)
      pair(found.second, there->second.second);
  }
  std::map<PlaceKey, std::deque<uint32_t>> left;
  for (uint32_t i = 0; i < out.before_of.size(); ++i)
    if (out.before_of[i] < 0) left[place_of(*after.entities()->Get(i))].push_back(i);
  for (uint32_t i = 0; i < out.after_of.size(); ++i) {
    if (out.after_of[i] >= 0) continue;
    const auto found = left.find(place_of(*before.entities()->Get(i)));
    if (found == left.end() || found->second.empty()) continue;
    pair(i, found->second.front());
    found->second.pop_front();
  }
  return out;
}

std::vector<std::string> changed_members(const schema::MapData& before, uint32_t before_index,
                                         const schema::MapData& after, uint32_t after_index, const EntityPairs& pairs) {
  std::vector<std::string> out;
  const schema::EntityDef& a = *before.entities()->Get(before_index);
  const schema::EntityDef& b = *after.entities()->Get(after_index);
  const FieldPlan& entities = *map_plan().field_named("entities");
  for (const FieldPlan& f : entities.type->fields) {
    if (!f.in_xml) continue;
    const bool is_parent = f.name == "parent_index";
    const bool same = is_parent ? same_parent(a, b, pairs)
                                : std::memcmp(reinterpret_cast<const uint8_t*>(&a) + f.offset,
                                              reinterpret_cast<const uint8_t*>(&b) + f.offset, f.size) == 0;
    if (!same) out.push_back(f.xml);
  }
  for (const int field : entities.hoisted) {
    const FieldPlan& records = map_plan().fields[static_cast<size_t>(field)];
    if (records_of(before, records, before_index) != records_of(after, records, after_index))
      out.push_back(records.item_type.empty() ? records.xml : records.item_type);
  }
  return out;
}

std::string EntityChange::text() const {
  if (kind == Kind::removed) return "removed";
  if (kind == Kind::added) return "added";
  std::string out = "changed: ";
  for (const std::string& member : members) out += (&member == &members.front() ? "" : ", ") + member;
  return out;
}

std::vector<EntityChange> entity_changes(const schema::MapData& before, const schema::MapData& after) {
  using Kind = EntityChange::Kind;
  std::vector<EntityChange> out;
  const EntityPairs pairs = pair_entities(before, after);
  for (uint32_t i = 0; i < pairs.after_of.size(); ++i)
    if (pairs.after_of[i] < 0) out.push_back({Kind::removed, i, before.entities()->Get(i)->archetype_name(), {}});
  for (uint32_t i = 0; i < pairs.before_of.size(); ++i) {
    const uint32_t archetype = after.entities()->Get(i)->archetype_name();
    if (pairs.before_of[i] < 0) {
      out.push_back({Kind::added, i, archetype, {}});
      continue;
    }
    std::vector<std::string> members =
        changed_members(before, static_cast<uint32_t>(pairs.before_of[i]), after, i, pairs);
    if (!members.empty()) out.push_back({Kind::changed, i, archetype, std::move(members)});
  }
  return out;
}

std::string summary_of(const std::vector<EntityChange>& changes) {
  std::string out;
  for (const auto& [kind, word] : {std::pair{EntityChange::Kind::removed, " removed"},
                                   {EntityChange::Kind::changed, " changed"},
                                   {EntityChange::Kind::added, " added"}}) {
    const auto count =
        std::count_if(changes.begin(), changes.end(), [wanted = kind](const auto& c) { return c.kind == wanted; });
    if (count == 0) continue;
    const bool is_first = out.empty();
    out += (is_first ? "" : ", ") + std::to_string(count) +
           (!is_first    ? ""
            : count == 1 ? " entity"
                         : " entities") +
           word;
  }
  return out;
}

}  // namespace meridian::tools
