// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "lint/entity_links.h"
#include "meridian/base/name_hash.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/resource_info_generated.h"
#include "meridian/tools/lint.h"
#include "text_values.h"

namespace meridian::tools {

NameTexts::NameTexts(std::vector<std::pair<uint32_t, std::string_view>> names) : names_(std::move(names)) {
  std::stable_sort(names_.begin(), names_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

NameTexts NameTexts::of_resource(std::span<const std::byte> info) {
  std::vector<std::pair<uint32_t, std::string_view>> names;
  if (info.empty()) return {};
  const auto* const root = flatbuffers::GetRoot<schema::ResourceInfo>(info.data());
  if (root->names() == nullptr) return {};
  names.reserve(root->names()->size());
  for (const schema::NameEntry* entry : *root->names())
    names.emplace_back(entry->hash(), std::string_view(entry->text()->c_str(), entry->text()->size()));
  return NameTexts(std::move(names));
}

std::string_view NameTexts::find(uint32_t hash) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), hash,
                                   [](const auto& entry, uint32_t wanted) { return entry.first < wanted; });
  return at != names_.end() && at->first == hash ? at->second : std::string_view();
}

std::string NameTexts::quoted(uint32_t hash) const {
  const std::string_view text = find(hash);
  if (!text.empty()) return "'" + std::string(text) + "'";
  std::string out;
  append_hash_literal(out, hash);
  return out;
}

LintUnit& LintWorld::add(LintUnit unit) {
  if (unit.name == 0) unit.name = hash_name(unit.stem).value;
  units_.push_back(std::make_unique<LintUnit>(std::move(unit)));
  return *units_.back();
}

void LintWorld::add_indexed(std::vector<ArchetypeRef> archetypes, uint32_t type_files) {
  indexed_.insert(indexed_.end(), archetypes.begin(), archetypes.end());
  indexed_type_files_ += type_files;
}

void LintWorld::link() {
  link_archetypes();
  for (const ArchetypeRef& ref : indexed_) archetypes_.try_emplace(ref.def->name(), ref);
  type_files_ += indexed_type_files_;
  link_maps();
  link_configs();
  if (options_.maps_are_known) count_children();
}

void LintWorld::put_in_force(std::vector<LintUnit*>& files, std::unordered_map<uint32_t, const LintUnit*>& by_name) {
  // Later layers first, so that what comes first is in force.
  std::stable_sort(files.begin(), files.end(),
                   [](const LintUnit* a, const LintUnit* b) { return a->layer > b->layer; });
  for (LintUnit* file : files) {
    const auto [it, is_new] = by_name.try_emplace(file->name, file);
    if (is_new) continue;
    if (it->second->layer == file->layer) {
      clashes_.push_back({file, it->second, 0, 0, false, false});
    } else {
      file->is_shadowed = true;
      file->shadowed_by = it->second;
    }
  }
}

void LintWorld::link_configs() {
  std::vector<LintUnit*> configs;
  for (const auto& unit : units_)
    if (unit->config != nullptr) configs.push_back(unit.get());
  std::unordered_map<uint32_t, const LintUnit*> by_name;
  put_in_force(configs, by_name);
}

void LintWorld::link_archetypes() {
  std::vector<LintUnit*> files;
  for (const auto& unit : units_)
    if (unit->types != nullptr) files.push_back(unit.get());
  type_files_ = static_cast<uint32_t>(files.size());
  put_in_force(files, types_);
  for (const LintUnit* file : files) {
    const auto* const defs = file->types->archetypes();
    if (file->is_shadowed) continue;
    if (defs == nullptr) {
      add_composites(*file);
      continue;
    }
    for (uint32_t i = 0; i < defs->size(); ++i) {
      const schema::ArchetypeDef* const def = defs->Get(i);
      if (def->name() == 0) continue;
      const auto [it, is_new] = archetypes_.try_emplace(def->name(), ArchetypeRef{file, i, false, def});
      if (is_new || it->second.unit->layer != file->layer) continue;
      // Stored bytes are what counts: -0 and 0 differ in a file too.
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      const bool identical = std::memcmp(def, it->second.def, sizeof *def) == 0;
      // Where the whole file is there twice, NAM004 has said so.
      if (identical && it->second.unit != file && it->second.unit->name == file->name) continue;
      clashes_.push_back({file, it->second.unit, i, it->second.index, true, identical});
    }
    // Records of kinds belong to the definition that is in force only.
    const auto own = [&](uint32_t owner) -> ArchetypeRef* {
      if (owner >= defs->size()) return nullptr;
      const auto found = archetypes_.find(defs->Get(owner)->name());
      return found != archetypes_.end() && found->second.unit == file && found->second.index == owner ? &found->second
                                                                                                      : nullptr;
    };
    if (const auto* const times = file->types->time_archetypes())
      for (const schema::TimeArchetypeDef* time : *times)
        if (ArchetypeRef* const ref = own(time->owner())) ref->time = time;
    if (const auto* const mlos = file->types->mlo_archetypes())
      for (const schema::MloArchetypeDef* mlo : *mlos)
        if (ArchetypeRef* const ref = own(mlo->owner())) {
          ref->mlo = mlo;
          ref->is_interior = true;
        }
    add_composites(*file);
  }
}

void LintWorld::add_composites(const LintUnit& file) {
  const auto* const types = file.types->composite_entity_types();
  if (types == nullptr) return;
  for (uint32_t i = 0; i < types->size(); ++i) {
    const schema::CompositeEntityType& c = *types->Get(i);
    if (c.name() == nullptr || c.name()->size() == 0) continue;
    const uint32_t name = hash_name(c.name()->string_view()).value;
    const auto point = [](const schema::Vec3* p) { return p == nullptr ? schema::Vec3() : *p; };
    auto def = std::make_shared<schema::ArchetypeDef>(c.lod_dist(), static_cast<schema::ArchetypeFlags>(0),
                                                      schema::SpecialAttribute::none, point(c.bb_min()),
                                                      point(c.bb_max()), point(c.bs_centre()), c.bs_radius(), 0.0f,
                                                      name, 0u, 0u, 0u, 0u, schema::AssetType::ASSETLESS, 0u);
    archetypes_.try_emplace(name, ArchetypeRef{&file, i, true, def.get()});
    composites_.push_back(std::move(def));
  }
}

void LintWorld::link_maps() {
  std::vector<LintUnit*> maps;
  for (const auto& unit : units_)
    if (unit->map != nullptr) maps.push_back(unit.get());
  put_in_force(maps, maps_);
  for (const LintUnit* map : maps)
    if (map->is_shadowed) versions_.try_emplace(map->name);
  // Now the latest layer stands first, and within a layer what counts.
  for (auto map = maps.rbegin(); map != maps.rend() && !versions_.empty(); ++map) {
    const auto found = versions_.find((*map)->name);
    if (found == versions_.end()) continue;
    std::vector<const LintUnit*>& versions = found->second;
    if (!versions.empty() && versions.back()->layer == (*map)->layer) versions.pop_back();
    versions.push_back(*map);
  }
  for (const LintUnit* map : maps) {
    if (find_map(map->name) != map) continue;
    if (const LintUnit* const parent = parent_of(*map); parent != nullptr && parent != map)
      children_[parent].push_back(map);
  }
  for (auto& [parent, children] : children_)
    std::sort(children.begin(), children.end(), [](const LintUnit* a, const LintUnit* b) {
      return a->stem != b->stem ? a->stem < b->stem : a->path < b->path;
    });
}

void LintWorld::count_children() {
  for (const auto& unit : units_)
    if (unit->map != nullptr && !unit->is_shadowed && unit->map->entities() != nullptr)
      child_counts_[unit.get()].assign(unit->map->entities()->size(), 0);
  for (const auto& unit : units_) {
    if (unit->map == nullptr || unit->is_shadowed || unit->map->entities() == nullptr) continue;
    // Of two maps of one name in one layer the first counts; NAM004 says that there are two.
    const LintUnit* const parent = find_map(unit->name) == unit.get() ? parent_of(*unit) : nullptr;
    const auto own = child_counts_.find(unit.get());
    const auto up = parent == nullptr ? child_counts_.end() : child_counts_.find(parent);
    for (const schema::EntityDef* entity : *unit->map->entities()) {
      if (entity->parent_index() < 0) continue;
      const bool in_parent = lod_in_parent(*entity);
      const auto counts = in_parent ? up : own;
      const auto index = static_cast<size_t>(entity->parent_index());
      if (counts != child_counts_.end() && index < counts->second.size()) ++counts->second[index];
    }
  }
}

const ArchetypeRef* LintWorld::find_archetype(uint32_t name) const {
  const auto found = archetypes_.find(name);
  if (found != archetypes_.end()) return &found->second;
  return shared_ == nullptr ? nullptr : shared_->find_archetype(name);
}

std::string_view LintWorld::nearest_archetype(std::string_view text) const {
  // A tool's copy counter or suffix: what stands before it is what was meant.
  if (const size_t dot = text.rfind('.'); dot != std::string_view::npos) {
    const uint32_t base = hash_name(text.substr(0, dot)).value;
    if (const ArchetypeRef* const ref = find_archetype(base)) return ref->unit->names.find(base);
  }
  std::vector<std::string_view> candidates;
  for (const LintWorld* world = this; world != nullptr; world = world->shared_)
    for (const auto& [hash, ref] : world->archetypes_) {
      const std::string_view name = ref.unit->names.find(hash);
      const size_t longer = std::max(name.size(), text.size()), shorter = std::min(name.size(), text.size());
      if (!name.empty() && longer - shorter <= 3) candidates.push_back(name);
    }
  std::sort(candidates.begin(), candidates.end());  // which of two equally near ones is said must not hang on hashing
  return nearest(text, candidates);
}

float own_lod_distance(const LintWorld& world, const schema::EntityDef& e) {
  if (e.lod_dist() > 0) return e.lod_dist();
  const ArchetypeRef* const ref = world.find_archetype(e.archetype_name());
  return ref != nullptr && ref->def->lod_dist() > 0 ? ref->def->lod_dist() : 0;
}

const LintUnit* LintWorld::find_map(uint32_t name) const {
  const auto found = maps_.find(name);
  return found == maps_.end() ? nullptr : found->second;
}

const LintUnit* LintWorld::find_types(uint32_t name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

const LintUnit* LintWorld::parent_of(const LintUnit& map) const {
  return map.map->parent() == 0 ? nullptr : find_map(map.map->parent());
}

std::span<const LintUnit* const> LintWorld::children_of(const LintUnit& map) const {
  const auto found = children_.find(&map);
  if (found == children_.end()) return {};
  return found->second;
}

std::span<const LintUnit* const> LintWorld::versions_of(const LintUnit& map) const {
  const auto found = map.map == nullptr ? versions_.end() : versions_.find(map.name);
  if (found == versions_.end()) return {};
  return found->second;
}

std::span<const uint32_t> LintWorld::child_counts(const LintUnit& map) const {
  const auto found = child_counts_.find(&map);
  if (found == child_counts_.end()) return {};
  return found->second;
}

}  // namespace meridian::tools
