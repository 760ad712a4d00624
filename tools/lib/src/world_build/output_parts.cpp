// SPDX-License-Identifier: MIT
#include "world_build/output_parts.h"

#include <algorithm>
#include <set>

#include "lint/entity_links.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

std::set<uint32_t> used_archetypes(const LintUnit& unit) {
  std::set<uint32_t> used;
  if (unit.map == nullptr || unit.map->entities() == nullptr) return used;
  for (const schema::EntityDef* e : *unit.map->entities()) used.insert(e->archetype_name());
  return used;
}

uint64_t parents_hash(const LintWorld& world, const LintUnit& unit, const LodSetTable& sets) {
  const LintUnit* const parent = world.parent_of(unit);
  if (parent == nullptr || unit.map->entities() == nullptr) return 0;
  std::set<uint32_t> indices;
  for (const schema::EntityDef* e : *unit.map->entities())
    if (e->parent_index() >= 0 && lod_in_parent(*e)) indices.insert(static_cast<uint32_t>(e->parent_index()));
  if (indices.empty()) return 0;
  DigestBuilder hash;
  for (const uint32_t i : indices) {
    const LodParent p = lod_parent(sets, *parent, i);
    hash.add(i);
    for (const float f : {p.pivot.x, p.pivot.y, p.pivot.z, p.distance}) hash.add(f);
  }
  return hash.value();
}

uint64_t children_hash(const LintUnit& unit, const LodSetTable& sets) {
  const auto found = sets.find(&unit);
  if (found == sets.end() || found->second.empty()) return 0;
  DigestBuilder hash;
  for (const LodSetInput& set : found->second) {
    hash.add(set.parent_index);
    hash.add(set.distance);
    hash.add(uint64_t{set.children.size()});
    for (const LodSetChildrenRow& row : set.children)
      for (const uint32_t n : {row.map.value, row.required, row.optional_high, row.optional_medium, row.optional_low})
        hash.add(n);
  }
  return hash.value();
}

}  // namespace

ArchetypeTable linked_archetypes(const LintWorld& world) {
  ArchetypeTable out;
  const auto add = [&](const LintUnit& unit, uint32_t name, uint32_t index, bool is_composite) {
    const ArchetypeRef* const ref = world.find_archetype(name);
    if (ref == nullptr || ref->unit != &unit || ref->index != index || ref->is_composite != is_composite) return;
    LinkedArchetype linked{archetype_traits(*ref->def, ref->form()), 0};
    linked.hash = traits_hash(linked.traits);
    out.emplace(name, linked);
  };
  for (const auto& unit : world.units()) {
    if (unit->types == nullptr) continue;
    const auto* const plain = unit->types->archetypes();
    for (uint32_t i = 0; plain != nullptr && i < plain->size(); ++i) add(*unit, plain->Get(i)->name(), i, false);
    const auto* const composites = unit->types->composite_entity_types();
    for (uint32_t i = 0; composites != nullptr && i < composites->size(); ++i) {
      const auto* const name = composites->Get(i)->name();
      if (name != nullptr) add(*unit, hash_name(name->string_view()).value, i, true);
    }
  }
  return out;
}

OutputParts output_parts(const LintWorld& world, const LintUnit& unit, uint64_t source,
                         const ArchetypeTable& archetypes, const LodSetTable& sets, const MapRepair& repair) {
  OutputParts parts;
  parts.source = source;
  if (unit.map == nullptr) return parts;
  DigestBuilder used;
  for (const uint32_t name : used_archetypes(unit)) {
    const auto found = archetypes.find(name);
    used.add(name);
    used.add(found == archetypes.end() ? uint64_t{0} : found->second.hash);
  }
  parts.archetypes = used.value();
  parts.parents = parents_hash(world, unit, sets);
  parts.children = children_hash(unit, sets);
  if (repair.any()) {
    DigestBuilder hash;
    for (const Point p : {repair.entities.min, repair.entities.max, repair.streaming.min, repair.streaming.max})
      for (int axis = 0; axis < 3; ++axis) hash.add(p[axis]);
    hash.add(uint32_t{repair.has_extents});
    hash.add(uint32_t{repair.has_content_flags});
    hash.add(repair.content_flags);
    hash.add(uint32_t{repair.has_map_flags});
    hash.add(repair.map_flags);
    parts.repair = hash.value();
  }
  return parts;
}

std::vector<std::string> explain_change(const OutputParts& before, const OutputParts& now, const LintUnit& unit,
                                        const std::unordered_map<uint32_t, uint64_t>& known_archetypes,
                                        const ArchetypeTable& archetypes) {
  std::vector<std::string> out;
  if (before.source != now.source) out.emplace_back("source " + unit.path + " changed");
  if (before.archetypes != now.archetypes) {
    for (const uint32_t name : used_archetypes(unit)) {
      const auto was = known_archetypes.find(name);
      const auto is = archetypes.find(name);
      const std::string text = "archetype " + unit.names.quoted(name);
      if (was == known_archetypes.end() && is != archetypes.end()) out.push_back(text + " is new");
      if (was != known_archetypes.end() && is == archetypes.end()) out.push_back(text + " is gone");
      if (was != known_archetypes.end() && is != archetypes.end() && was->second != is->second.hash)
        out.push_back(text + " changed");
    }
    if (out.empty()) out.emplace_back("the archetypes that it uses are others");
  }
  if (before.parents != now.parents)
    out.emplace_back("LOD parents in map " + unit.names.quoted(unit.map->parent()) + " changed");
  if (before.children != now.children) out.emplace_back("LOD children in child maps changed");
  if (before.repair != now.repair) out.emplace_back("the extents or flags to write changed");
  return out;
}

}  // namespace meridian::tools
