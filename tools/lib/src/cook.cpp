// SPDX-License-Identifier: MIT
#include "meridian/tools/cook.h"

#include <algorithm>
#include <cstring>

#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/resource_info_generated.h"
#include "resource_builder.h"
#include "resource_values.h"

namespace meridian::tools {
namespace {

static_assert(sizeof(LodSetChildrenRow) == sizeof(schema::LodSetChildren));

uint16_t field_of(const TypePlan& type, std::string_view name) { return static_cast<uint16_t>(type.field_index(name)); }

void remove_field(TableValue& table, std::string_view name) {
  const uint16_t field = field_of(*table.type, name);
  std::erase_if(table.fields, [&](const FieldValue& v) { return v.field == field; });
}

FieldValue& add_field(TableValue& table, std::string_view name) {
  FieldValue& v = table.fields.emplace_back();
  v.field = field_of(*table.type, name);
  v.present = true;
  return v;
}

void add_number(TableValue& table, std::string_view name, uint64_t bits) { add_field(table, name).bits = bits; }

ItemList& add_list(TableValue& table, std::string_view name) {
  FieldValue& v = add_field(table, name);
  v.parts = std::make_unique<std::vector<ListPart>>(1);
  return v.parts->front().items;
}

/// Structs or numbers whose bytes are those of the payload.
template <class T>
void add_records(TableValue& table, std::string_view name, const std::vector<T>& records) {
  ItemList& list = add_list(table, name);
  list.count = static_cast<uint32_t>(records.size());
  const auto* const bytes = reinterpret_cast<const uint8_t*>(records.data());
  list.bytes.assign(bytes, bytes + records.size() * sizeof(T));
}

bool set_lod_sets(TableValue& root, const std::vector<LodSetInput>& sets, uint32_t entities, std::string& error) {
  remove_field(root, "lod_sets");
  const TypePlan& type = *root.type->field_named("lod_sets")->type;
  ItemList& list = add_list(root, "lod_sets");
  list.count = static_cast<uint32_t>(sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    const LodSetInput& set = sets[i];
    const std::string which = "LOD set " + std::to_string(i) + ": ";
    if (set.parent_index >= entities) {
      error = which + "parent " + std::to_string(set.parent_index) + " is none of " + std::to_string(entities) +
              " entities";
      return false;
    }
    if (i > 0 && sets[i - 1].parent_index >= set.parent_index) {
      error = which + "sets do not ascend by parent";
      return false;
    }
    if (!(set.distance > 0) || !is_finite(set.distance)) {
      error = which + "the switch distance is not above 0";
      return false;
    }
    TableValue& table = list.tables.emplace_back();
    table.type = &type;
    add_number(table, "parent_index", set.parent_index);
    add_number(table, "distance", std::bit_cast<uint32_t>(set.distance));
    add_records(table, "children", set.children);
  }
  return true;
}

/// The payload of `root` as the runtime sees it. Kept in memory that is aligned as resources are.
const schema::MapData& runtime_view(const std::vector<uint8_t>& payload, std::vector<Vec4>& memory) {
  memory.resize(payload.size() / sizeof(Vec4) + 1);
  std::memcpy(memory.data(), payload.data(), payload.size());
  return *schema::GetMapData(memory.data());
}

struct Described {
  std::vector<LodLinkRow> links;
  std::vector<EntityDesc> descs;
};

bool describe(const MapDescInput& in, Described& out, CookReport& report, std::string& error) {
  out.links.resize(lod_link_bound(*in.map));
  const Result<uint32_t> linked = link_map(in, out.links);
  if (!linked.ok()) {
    error = "entities refer to " + std::to_string(linked.status().detail) + " LOD sets, more than " +
            std::to_string(kMaxLodSets) + "; split the map [FMT001]";
    return false;
  }
  out.links.resize(linked.value());
  out.descs.resize(in.archetypes.size());
  std::vector<DescStatus> status(in.archetypes.size());
  describe_map(in, out.links, out.descs, status);
  for (uint32_t i = 0; i < status.size(); ++i)
    if (status[i] != DescStatus::made) report.findings.push_back({i, status[i]});
  report.links = linked.value();
  report.fingerprint = descriptor_fingerprint(in);
  return true;
}

TableValue cooked_values(const TypePlan& type, const Described& made, CookReport& report) {
  report.blocks = block_counts(static_cast<uint32_t>(made.descs.size()));
  std::vector<DescContainer> containers(report.blocks.containers);
  std::vector<DescBounds> sub_blocks(report.blocks.sub_blocks);
  std::vector<uint32_t> lanes(report.blocks.lane_bytes / sizeof(uint32_t)), slots(made.descs.size());
  std::vector<Vec4> scratch(report.blocks.scratch_bytes / sizeof(Vec4) + 1);
  build_blocks(made.descs, std::as_writable_bytes(std::span(scratch)),
               {containers, sub_blocks, std::as_writable_bytes(std::span(lanes)), slots});
  TableValue out;
  out.type = &type;
  add_number(out, "layout_version", kCookedLayoutVersion);
  add_number(out, "fingerprint", report.fingerprint);
  add_records(out, "containers", containers);
  add_records(out, "sub_blocks", sub_blocks);
  add_records(out, "lanes", lanes);
  add_records(out, "slots", slots);
  add_records(out, "links", made.links);
  return out;
}

/// The info section as it is, but for the fingerprint of the schema, which an older file has of its own.
bool current_info(const LoadedResource& map, std::vector<uint8_t>& out, std::string& error) {
  const auto* const data = reinterpret_cast<const uint8_t*>(map.resource.info().data());
  out.assign(data, data + map.resource.info().size());
  if (out.empty()) return true;
  schema::ResourceInfo& info = *schema::GetMutableResourceInfo(out.data());
  if (info.schema_fingerprint() == map.binding->schema_fingerprint()) return true;
  if (info.schema() != nullptr) {
    error = "the schema inside the file is not that of this version; compile it again";
    return false;
  }
  info.mutate_schema_fingerprint(map.binding->schema_fingerprint());
  return true;
}

}  // namespace

bool cook_map(const LoadedResource& map, const CookInput& in, std::vector<uint8_t>& out, CookReport& report,
              std::string& error) {
  report = {};
  out.clear();
  const Binding* const builtin = Binding::builtin(kind_of("IMAP"));
  if (map.resource.kind() != builtin->kind() || map.binding->layout_fingerprint() != builtin->layout_fingerprint()) {
    error = "not a map of this version";
    return false;
  }
  TableValue root = values_of(map);
  remove_field(root, "cooked");
  const schema::MapData& before = *map.resource.root<schema::MapData>();
  report.entities = before.entities() != nullptr ? before.entities()->size() : 0;
  if (in.lod_sets && !set_lod_sets(root, *in.lod_sets, report.entities, error)) return false;

  // Links follow from the LOD sets that the result will have, so they are found in it and not in the source.
  std::vector<Vec4> memory;
  const std::vector<uint8_t> linked = build_payload(root, *builtin);
  if (linked.empty()) {
    error = "the map is too large to be linked [FMT001]";
    return false;
  }
  const schema::MapData& view = runtime_view(linked, memory);
  std::vector<const ArchetypeTraits*> archetypes;
  std::vector<LodParent> parents;
  for (uint32_t i = 0; i < report.entities; ++i) {
    const schema::EntityDef& entity = *view.entities()->Get(i);
    archetypes.push_back(in.archetype(NameHash{entity.archetype_name()}));
    const bool elsewhere =
        (static_cast<uint32_t>(entity.flags()) & static_cast<uint32_t>(schema::EntityFlags::lod_in_parent)) != 0 &&
        entity.parent_index() >= 0;
    parents.push_back(elsewhere && in.parent ? in.parent(static_cast<uint32_t>(entity.parent_index())) : LodParent{});
  }
  Described made;
  if (!describe({&view, archetypes, parents}, made, report, error)) return false;
  add_field(root, "cooked").table =
      std::make_unique<TableValue>(cooked_values(*root.type->field_named("cooked")->type, made, report));

  std::vector<uint8_t> info;
  if (!current_info(map, info, error)) return false;
  const std::vector<uint8_t> payload = build_payload(root, *builtin);
  const uint64_t size = sealed_size(payload.size(), info.size());
  if (payload.empty() || size > kMaxResourceBytes) {
    error = "the linked map would be too large [FMT001]";
    return false;
  }
  out.resize(size);
  seal_resource(std::as_writable_bytes(std::span(out)), std::as_bytes(std::span(payload)),
                std::as_bytes(std::span(info)), builtin->kind(), builtin->layout_fingerprint());
  return true;
}

}  // namespace meridian::tools
