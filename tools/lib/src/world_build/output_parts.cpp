// SPDX-License-Identifier: MIT
#include "world_build/output_parts.h"

#include <algorithm>
#include <set>

#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

constexpr uint32_t kLodInParent = 1u << 3;

std::set<uint32_t> used_archetypes(const LintUnit& unit) {
  std::set<uint32_t> used;
  if (unit.map == nullptr) return used;
  if (unit.map->entities() != nullptr)
    for (const schema::EntityDef* e : *unit.map->entities()) used.insert(e->archetype_name());
  const auto* const grass =
      unit.map->instanced_data() == nullptr ? nullptr : unit.map->instanced_data()->grass_instance_list();
  if (grass != nullptr)
    for (const schema::GrassInstanceListDef* g : *grass) used.insert(g->archetype_name());
  return used;
}

uint64_t parents_hash(const LintWorld& world, const LintUnit& unit,
                      const std::unordered_map<uint32_t, uint64_t>& archetypes) {
  const LintUnit* const parent = world.parent_of(unit);
  if (parent == nullptr || unit.map->entities() == nullptr || parent->map->entities() == nullptr) return 0;
  std::set<uint32_t> indices;
  for (const schema::EntityDef* e : *unit.map->entities())
    if (e->parent_index() >= 0 && (static_cast<uint32_t>(e->flags()) & kLodInParent) != 0)
      indices.insert(static_cast<uint32_t>(e->parent_index()));
  DigestBuilder hash;
  for (const uint32_t i : indices) {
    if (i >= parent->map->entities()->size()) continue;
    const schema::EntityDef& e = *parent->map->entities()->Get(i);
    hash.add(i);
    hash.add_bytes(&e, sizeof e);
    const auto archetype = archetypes.find(e.archetype_name());
    hash.add(archetype == archetypes.end() ? uint64_t{0} : archetype->second);
  }
  return indices.empty() ? 0 : hash.value();
}

/// Children as the parent's map needs them: by name, how many hang on which entity, how far they are seen.
uint64_t children_hash(const LintWorld& world, const LintUnit& unit,
                       const std::unordered_map<uint32_t, uint64_t>& archetypes) {
  DigestBuilder hash;
  bool any = false;
  for (const LintUnit* child : world.children_of(unit)) {
    if (child->map->entities() == nullptr) continue;
    hash.add_text(child->stem);
    for (const schema::EntityDef* e : *child->map->entities()) {
      if (e->parent_index() < 0 || (static_cast<uint32_t>(e->flags()) & kLodInParent) == 0) continue;
      any = true;
      hash.add(e->parent_index());
      hash.add(static_cast<uint32_t>(e->priority_level()));
      hash.add(e->lod_dist());
      const auto archetype = archetypes.find(e->archetype_name());
      hash.add(archetype == archetypes.end() || e->lod_dist() > 0 ? uint64_t{0} : archetype->second);
    }
  }
  return any ? hash.value() : 0;
}

}  // namespace

std::unordered_map<uint32_t, uint64_t> archetype_hashes(const LintWorld& world) {
  std::unordered_map<uint32_t, uint64_t> out;
  for (const auto& unit : world.units()) {
    if (unit->types == nullptr || unit->types->archetypes() == nullptr) continue;
    for (const schema::ArchetypeDef* def : *unit->types->archetypes()) {
      const ArchetypeRef* const ref = world.find_archetype(def->name());
      if (ref == nullptr || ref->def != def) continue;
      DigestBuilder hash;
      hash.add_bytes(def, sizeof *def);
      hash.add(ref->time == nullptr ? 0u : static_cast<uint32_t>(ref->time->time_flags()));
      hash.add(uint32_t{ref->mlo != nullptr});
      out.emplace(def->name(), hash.value());
    }
  }
  return out;
}

OutputParts output_parts(const LintWorld& world, const LintUnit& unit, uint64_t source,
                         const std::unordered_map<uint32_t, uint64_t>& archetypes, const MapRepair& repair) {
  OutputParts parts;
  parts.source = source;
  if (unit.map == nullptr) return parts;
  DigestBuilder used;
  for (const uint32_t name : used_archetypes(unit)) {
    const auto found = archetypes.find(name);
    used.add(name);
    used.add(found == archetypes.end() ? uint64_t{0} : found->second);
  }
  parts.archetypes = used.value();
  parts.parents = parents_hash(world, unit, archetypes);
  parts.children = children_hash(world, unit, archetypes);
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
                                        const std::unordered_map<uint32_t, uint64_t>& archetypes) {
  std::vector<std::string> out;
  if (before.source != now.source) out.push_back("source " + unit.path + " changed");
  if (before.archetypes != now.archetypes) {
    for (const uint32_t name : used_archetypes(unit)) {
      const auto was = known_archetypes.find(name), is = archetypes.find(name);
      const std::string text = "archetype " + unit.names.quoted(name);
      if (was == known_archetypes.end() && is != archetypes.end()) out.push_back(text + " is new");
      if (was != known_archetypes.end() && is == archetypes.end()) out.push_back(text + " is gone");
      if (was != known_archetypes.end() && is != archetypes.end() && was->second != is->second)
        out.push_back(text + " changed");
    }
    if (out.empty()) out.push_back("the archetypes that it uses are others");
  }
  if (before.parents != now.parents)
    out.push_back("LOD parents in map " + unit.names.quoted(unit.map->parent()) + " changed");
  if (before.children != now.children) out.push_back("LOD children in child maps changed");
  if (before.repair != now.repair) out.push_back("the extents or flags to write changed");
  return out;
}

}  // namespace meridian::tools
