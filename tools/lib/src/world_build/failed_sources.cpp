// SPDX-License-Identifier: MIT
#include "world_build/failed_sources.h"

#include <algorithm>

#include "meridian/base/name_hash.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/rules.h"

namespace meridian::tools {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// Whether a name stands in a text by itself, in any case: `lamp_1` is not in `lamp_10`.
bool stands_in(const SourceText* source, std::string_view name) {
  if (source == nullptr || name.empty()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const std::string_view text = source->text();
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), name.begin(), name.end(), same);
    if (at == text.end()) return false;
    const auto behind = at + static_cast<ptrdiff_t>(name.size());
    if ((at == text.begin() || !is_word(lower(at[-1]))) && (behind == text.end() || !is_word(lower(*behind))))
      return true;
  }
}

template <class Entities>
void for_archetypes(const Entities* entities, std::set<uint32_t>& out) {
  if (entities == nullptr) return;
  for (const auto* e : *entities) out.insert(e->archetype_name());
}

}  // namespace

void FailedSources::need_archetype(const LintUnit& user, uint32_t name, std::set<std::string>& out) const {
  if (world_.find_archetype(name) != nullptr) return;
  for (const FailedSource& s : sources_)
    if (s.kind == kind_of("ITYP") && stands_in(s.text.get(), user.names.find(name))) out.insert(s.path);
}

void FailedSources::need_named(uint32_t kind, uint32_t name, std::set<std::string>& out) const {
  for (const FailedSource& s : sources_) {
    if (s.kind != kind || hash_name(s.stem).value != name) continue;
    // A later layer's may stand in for it.
    const LintUnit* const other = kind == kind_of("IMAP") ? world_.find_map(name) : world_.find_types(name);
    if (other == nullptr || other->layer <= s.layer) out.insert(s.path);
  }
}

void FailedSources::needs_of_manifest(const LintUnit& unit, std::set<std::string>& out) const {
  const schema::PackFileMetaData& m = *unit.manifest;
  const uint32_t map_kind = kind_of("IMAP"), type_kind = kind_of("ITYP");
  const auto map_named = [&](uint32_t name) {
    need_named(map_kind, name, out);
    if (const LintUnit* const map = world_.find_map(name)) out.merge(needed_by(*map));
  };
  const auto types_named = [&](uint32_t name) {
    need_named(type_kind, name, out);
    if (const LintUnit* const types = world_.find_types(name)) out.merge(needed_by(*types));
  };
  if (m.imap_dependencies() != nullptr)
    for (const schema::ImapDependency* d : *m.imap_dependencies()) {
      map_named(d->imap_name());
      types_named(d->ityp_name());
    }
  if (m.imap_dependencies_2() != nullptr)
    for (const schema::ImapDependencies* d : *m.imap_dependencies_2()) {
      map_named(d->imap_name());
      if (d->ityp_dep_array() != nullptr)
        for (const uint32_t name : *d->ityp_dep_array()) types_named(name);
    }
  if (m.ityp_dependencies_2() != nullptr)
    for (const schema::ItypDependencies* d : *m.ityp_dependencies_2()) {
      types_named(d->ityp_name());
      if (d->ityp_dep_array() != nullptr)
        for (const uint32_t name : *d->ityp_dep_array()) types_named(name);
    }
}

std::set<std::string> FailedSources::needed_by(const LintUnit& unit) const {
  std::set<std::string> out;
  std::set<uint32_t> archetypes;
  if (unit.map != nullptr) {
    if (unit.map->parent() != 0) need_named(kind_of("IMAP"), unit.map->parent(), out);
    for_archetypes(unit.map->entities(), archetypes);
    if (unit.map->instanced_data() != nullptr)
      for_archetypes(unit.map->instanced_data()->grass_instance_list(), archetypes);
  }
  if (unit.types != nullptr && unit.types->mlo_archetypes() != nullptr)
    for (const schema::MloArchetypeDef* mlo : *unit.types->mlo_archetypes()) {
      for_archetypes(mlo->entities(), archetypes);
      if (mlo->entity_sets() != nullptr)
        for (const schema::MloEntitySet* set : *mlo->entity_sets()) for_archetypes(set->entities(), archetypes);
    }
  for (const uint32_t name : archetypes) need_archetype(unit, name, out);
  if (unit.manifest != nullptr) needs_of_manifest(unit, out);
  return out;
}

bool FailedSources::may_hold_children_of(const LintUnit& unit) const {
  if (unit.map == nullptr) return false;
  for (const FailedSource& s : sources_)
    if (s.kind == kind_of("IMAP") && stands_in(s.text.get(), unit.stem)) return true;
  return false;
}

bool counts_children(const LintFinding& finding) {
  for (const Rule* rule : {&rules::child_count, &rules::map_flags, &rules::light_pairing})
    if (finding.rule == rule) return true;
  return false;
}

}  // namespace meridian::tools
