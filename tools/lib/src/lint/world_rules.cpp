// SPDX-License-Identifier: MIT
// NAM004, NAM005, REF002, REF004: files against each other.
#include <algorithm>
#include <map>
#include <set>

#include "lint/dependencies.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"

namespace meridian::tools {
namespace {

using Names = std::set<uint32_t>;

void need(const LintWorld& world, uint32_t archetype, const std::string& path,
          std::map<const LintUnit*, std::string>& out) {
  if (const ArchetypeRef* const ref = world.find_archetype(archetype)) out.try_emplace(ref->unit, path);
}

/// Holds what a manifest lists for one file against what the file uses.
void compare(LintContext& c, const std::string& list_path, const std::string& object, const std::string& who,
             const LintUnit& file, const Names& listed, const std::map<const LintUnit*, std::string>& needed) {
  for (const auto& [types, user] : needed) {
    if (types == &file || listed.contains(types->name)) continue;
    LintFinding& f = c.report(rules::manifest_dependency, list_path, object,
                              who + " needs type file '" + types->stem + "', which is not listed");
    f.related.push_back({&file, user, "needed here"});
  }
  for (const uint32_t name : listed) {
    const LintUnit* const types = c.world.find_types(name);
    if (types == nullptr) {
      c.report(rules::unknown_file, list_path, object,
               who + " lists type file " + c.unit.names.quoted(name) + ", which is not in this world");
      continue;
    }
    // What an interior needs in turn is listed with it by many tools; that is no mistake.
    bool indirect = needed.contains(types);
    for (const auto& [other, user] : needed) {
      if (indirect || other == nullptr) break;
      indirect = needed_types(c.world, *other).contains(types);
    }
    if (!indirect)
      c.report(rules::manifest_dependency, list_path, object,
               who + " lists type file '" + types->stem + "', but uses nothing of it");
  }
}

}  // namespace

std::map<const LintUnit*, std::string> needed_types(const LintWorld& world, const LintUnit& unit) {
  std::map<const LintUnit*, std::string> out;
  if (unit.map != nullptr) {
    if (unit.map->entities() != nullptr)
      for (uint32_t i = 0; i < unit.map->entities()->size(); ++i) {
        const ArchetypeRef* const ref = world.find_archetype(unit.map->entities()->Get(i)->archetype_name());
        if (ref != nullptr && !out.contains(ref->unit))
          out.emplace(ref->unit, indexed("entities", i) + ".archetypeName");
      }
    const auto* const grass =
        unit.map->instanced_data() == nullptr ? nullptr : unit.map->instanced_data()->grass_instance_list();
    if (grass != nullptr)
      for (uint32_t i = 0; i < grass->size(); ++i)
        need(world, grass->Get(i)->archetype_name(),
             "instancedData." + indexed("GrassInstanceList", i) + ".archetypeName", out);
  }
  if (unit.types != nullptr && unit.types->mlo_archetypes() != nullptr)
    for (const schema::MloArchetypeDef* mlo : *unit.types->mlo_archetypes()) {
      const std::string base = indexed("archetypes", mlo->owner()) + ".";
      const auto add = [&](const flatbuffers::Vector<const schema::EntityDef*>* entities, const std::string& where) {
        if (entities == nullptr) return;
        for (uint32_t i = 0; i < entities->size(); ++i)
          need(world, entities->Get(i)->archetype_name(), where + indexed("entities", i) + ".archetypeName", out);
      };
      add(mlo->entities(), base);
      if (mlo->entity_sets() != nullptr)
        for (uint32_t s = 0; s < mlo->entity_sets()->size(); ++s)
          add(mlo->entity_sets()->Get(s)->entities(), base + indexed("entitySets", s) + ".");
    }
  if (unit.types != nullptr) out.erase(&unit);
  return out;
}

void lint_clashes(LintContext& c) {
  const char* const kind = c.unit.map != nullptr ? "map" : c.unit.types != nullptr ? "type file" : "configuration";
  if (c.unit.map != nullptr) lint_overlay(c);
  if (c.unit.is_shadowed) return lint_shadowed(c);
  for (const LintWorld::Clash& clash : c.world.clashes()) {
    if (clash.unit != &c.unit) continue;
    if (!clash.archetype) {
      LintFinding& f = c.report(rules::duplicate_map, "", "",
                                std::string(kind) + " '" + c.unit.stem + "' given twice: " + clash.first->path + ", " +
                                    c.unit.path + "; give them to layers, or remove one");
      f.related.push_back({clash.first, "", "the first one"});
      continue;
    }
    if (c.unit.types == nullptr) continue;  // only type files have archetypes that clash
    const uint32_t name = c.unit.types->archetypes()->Get(clash.index)->name();
    LintFinding& f = c.report(
        rules::duplicate_archetype, clash.identical ? Severity::warning : rules::duplicate_archetype.severity,
        indexed("archetypes", clash.index) + ".name", "archetype " + std::to_string(clash.index),
        c.unit.names.quoted(name) + (clash.identical ? " is defined twice, both times the same"
                                                     : " is defined twice, and differently; the first one is used"));
    f.related.push_back({clash.first, indexed("archetypes", clash.first_index) + ".name", "the first one"});
  }
}

void lint_manifest(LintContext& c) {
  if (!c.world.options().types_are_known || !c.world.options().maps_are_known) return;
  const schema::PackFileMetaData& m = *c.unit.manifest;
  // Both forms say the same; what one lists the other need not.
  std::map<uint32_t, Names> pairs;
  if (m.imap_dependencies() != nullptr)
    for (const schema::ImapDependency* d : *m.imap_dependencies()) pairs[d->imap_name()].insert(d->ityp_name());
  if (m.imap_dependencies_2() != nullptr)
    for (uint32_t i = 0; i < m.imap_dependencies_2()->size(); ++i) {
      const schema::ImapDependencies& d = *m.imap_dependencies_2()->Get(i);
      const std::string path = indexed("imapDependencies_2", i), object = "map dependency " + std::to_string(i);
      const LintUnit* const map = c.world.find_map(d.imap_name());
      if (map == nullptr) {
        c.report(rules::unknown_file, path + ".imapName", object,
                 "map " + c.unit.names.quoted(d.imap_name()) + " is not in this world");
        continue;
      }
      Names listed = pairs[d.imap_name()];
      pairs.erase(d.imap_name());
      if (d.ityp_dep_array() != nullptr) listed.insert(d.ityp_dep_array()->begin(), d.ityp_dep_array()->end());
      compare(c, path + ".itypDepArray", object, "map '" + map->stem + "'", *map, listed, needed_types(c.world, *map));
    }
  if (m.imap_dependencies() != nullptr)
    for (uint32_t i = 0; i < m.imap_dependencies()->size(); ++i) {
      const uint32_t name = m.imap_dependencies()->Get(i)->imap_name();
      const auto found = pairs.find(name);
      if (found == pairs.end()) continue;
      const std::string path = indexed("imapDependencies", i), object = "map dependency " + std::to_string(i);
      if (const LintUnit* const map = c.world.find_map(name))
        compare(c, path + ".itypName", object, "map '" + map->stem + "'", *map, found->second,
                needed_types(c.world, *map));
      else
        c.report(rules::unknown_file, path + ".imapName", object,
                 "map " + c.unit.names.quoted(name) + " is not in this world");
      pairs.erase(found);
    }
  if (m.ityp_dependencies_2() != nullptr)
    for (uint32_t i = 0; i < m.ityp_dependencies_2()->size(); ++i) {
      const schema::ItypDependencies& d = *m.ityp_dependencies_2()->Get(i);
      const std::string path = indexed("itypDependencies_2", i), object = "type-file dependency " + std::to_string(i);
      const LintUnit* const types = c.world.find_types(d.ityp_name());
      if (types == nullptr) {
        c.report(rules::unknown_file, path + ".itypName", object,
                 "type file " + c.unit.names.quoted(d.ityp_name()) + " is not in this world");
        continue;
      }
      Names listed;
      if (d.ityp_dep_array() != nullptr) listed.insert(d.ityp_dep_array()->begin(), d.ityp_dep_array()->end());
      compare(c, path + ".itypDepArray", object, "type file '" + types->stem + "'", *types, listed,
              needed_types(c.world, *types));
    }
}

}  // namespace meridian::tools
