// SPDX-License-Identifier: MIT
// Rows of a world index out of resources.
#include <algorithm>
#include <map>
#include <set>

#include <oneapi/tbb/parallel_for.h>

#include "lint/dependencies.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/world_index_writer.h"
#include "vector_size.h"

namespace meridian::tools {
namespace {

Vec3 vec3_of(const schema::Vec3& v) { return {v.x(), v.y(), v.z()}; }
Vec3 vec3_of(const schema::Vec3* v) { return v == nullptr ? Vec3{} : vec3_of(*v); }

std::vector<uint32_t> names_of(const std::map<const LintUnit*, std::string>& types) {
  std::vector<uint32_t> out;
  out.reserve(types.size());
  for (const auto& [unit, user] : types) out.push_back(unit->name);
  std::sort(out.begin(), out.end());
  return out;
}

void append(std::vector<uint32_t>& to, const flatbuffers::Vector<uint32_t>* from) {
  if (from != nullptr) to.insert(to.end(), from->begin(), from->end());
}

/// What the manifests say, in the order of their layers, the latest first.
class Manifests {
 public:
  explicit Manifests(const LintWorld& world) {
    std::vector<const LintUnit*> units;
    for (const auto& unit : world.units())
      if (unit->manifest != nullptr) units.push_back(unit.get());
    std::stable_sort(units.begin(), units.end(),
                     [](const LintUnit* a, const LintUnit* b) { return a->layer > b->layer; });
    for (const LintUnit* unit : units) {
      const schema::PackFileMetaData& m = *unit->manifest;
      if (m.ityp_dependencies_2() != nullptr)
        for (const schema::ItypDependencies* d : *m.ityp_dependencies_2())
          append(type_needs_[d->ityp_name()], d->ityp_dep_array());
      if (m.map_data_groups() != nullptr)
        for (const schema::MapDataGroup* g : *m.map_data_groups()) add(*g);
    }
  }

  void add_needs(uint32_t types, std::vector<uint32_t>& out) const {
    if (const auto found = type_needs_.find(types); found != type_needs_.end())
      out.insert(out.end(), found->second.begin(), found->second.end());
  }

  void replace_groups(const std::vector<WorldIndexGroup>& groups) {
    for (const WorldIndexGroup& from : groups) {
      WorldIndexGroup& group = groups_[from.name.value];
      std::vector<uint32_t> bounds = std::move(group.bounds);
      group = from;
      group.bounds.insert(group.bounds.end(), bounds.begin(), bounds.end());
    }
  }
  void move_groups(WorldIndexInput& in) {
    for (auto& [name, group] : groups_) in.groups.push_back(std::move(group));
  }

 private:
  void add(const schema::MapDataGroup& g) {
    if (g.name() == 0) return;
    const auto [it, is_new] = groups_.try_emplace(g.name());
    WorldIndexGroup& group = it->second;
    append(group.bounds, g.bounds());  // whoever lists it: they go with the map
    if (!is_new) return;
    group.name = NameHash{g.name()};
    group.flags = static_cast<uint32_t>(g.flags());
    group.hours = static_cast<uint32_t>(g.hours_on_off());
    append(group.weather_types, g.weather_types());
  }

  std::map<uint32_t, std::vector<uint32_t>> type_needs_;
  std::map<uint32_t, WorldIndexGroup> groups_;
};

/// Texts of all that an index may name. The first spelling of a name wins, and a file's own name comes first.
void add_names(WorldIndexInput& in, const LintWorld& world) {
  for (const auto& unit : world.units())
    if (unit->map != nullptr || unit->types != nullptr) in.names.emplace_back(unit->name, unit->stem);
  for (const auto& unit : world.units()) {
    if (unit->types != nullptr || unit->manifest != nullptr)
      in.names.insert(in.names.end(), unit->names.all().begin(), unit->names.all().end());
    if (unit->map == nullptr) continue;
    if (const std::string_view parent = unit->names.find(unit->map->parent()); !parent.empty())
      in.names.emplace_back(unit->map->parent(), parent);
  }
}

void add_type_unit(WorldIndexInput& in, const LintWorld& world, const LintUnit& unit, const Manifests& manifests,
                   uint32_t size, const WorldIndexOptions& options) {
  const bool is_permanent = options.all_types_permanent || options.permanent_types.contains(unit.name);
  const auto in_force = [&](uint32_t index, bool is_composite) {
    const uint32_t name = is_composite
                              ? hash_name(unit.types->composite_entity_types()->Get(index)->name()->string_view()).value
                              : unit.types->archetypes()->Get(index)->name();
    const ArchetypeRef* const ref = world.find_archetype(name);
    return ref != nullptr && ref->unit == &unit && ref->index == index && ref->is_composite == is_composite;
  };
  add_types(in, *unit.types, NameHash{unit.name}, size, is_permanent, in_force);
  std::vector<uint32_t>& needs = in.types.back().types;
  needs = names_of(needed_types(world, unit));
  append(needs, unit.types->dependencies());
  manifests.add_needs(unit.name, needs);
}

}  // namespace

MapSlot map_slot(const schema::MapData& map, NameHash name, uint32_t size) {
  MapSlot out;
  out.name = name;
  out.parent = NameHash{map.parent()};
  out.entities = {vec3_of(map.entities_extents_min()), vec3_of(map.entities_extents_max())};
  out.streaming = {vec3_of(map.streaming_extents_min()), vec3_of(map.streaming_extents_max())};
  out.content_flags = static_cast<uint32_t>(map.content_flags());
  out.flags = static_cast<uint32_t>(map.flags());
  out.size = size;
  out.entity_count = size_of(map.entities());
  out.interior_count = size_of(map.mlo_instances());
  if (map.lod_lights_soa() != nullptr) out.lod_light_count += size_of(map.lod_lights_soa()->direction());
  if (map.distant_lod_lights_soa() != nullptr) out.lod_light_count += size_of(map.distant_lod_lights_soa()->position());
  out.car_generator_count = size_of(map.car_generators());
  out.time_cycle_box_count = size_of(map.time_cycle_modifiers());
  out.occluder_count = size_of(map.box_occluders()) + size_of(map.occlude_models());
  if (map.instanced_data() != nullptr) out.grass_batch_count = size_of(map.instanced_data()->grass_instance_list());
  return out;
}

void add_types(WorldIndexInput& in, const schema::MapTypes& types, NameHash name, uint32_t size, bool is_permanent,
               const std::function<bool(uint32_t, bool)>& in_force) {
  WorldIndexTypes& file = in.types.emplace_back();
  file.slot.name = name;
  file.slot.flags = is_permanent ? TypesSlot::kPermanent : 0;
  file.slot.archetype_count = size_of(types.archetypes()) + size_of(types.composite_entity_types());
  file.slot.size = size;
  const uint32_t count = size_of(types.archetypes());
  std::vector<ArchetypeKind> kinds(count, ArchetypeKind::base);
  if (types.time_archetypes() != nullptr)
    for (const schema::TimeArchetypeDef* time : *types.time_archetypes()) kinds[time->owner()] = ArchetypeKind::time;
  if (types.mlo_archetypes() != nullptr)
    for (const schema::MloArchetypeDef* mlo : *types.mlo_archetypes()) kinds[mlo->owner()] = ArchetypeKind::mlo;
  for (uint32_t i = 0; i < count; ++i) {
    const schema::ArchetypeDef& def = *types.archetypes()->Get(i);
    if (def.name() == 0 || !in_force(i, false)) continue;
    ArchetypeRow row;
    row.name = NameHash{def.name()};
    row.box = {vec3_of(def.bb_min()), vec3_of(def.bb_max())};
    row.sphere_centre = vec3_of(def.bs_centre());
    row.sphere_radius = def.bs_radius();
    row.lod_distance = def.lod_dist();
    row.flags = static_cast<uint32_t>(def.flags());
    row.kind = kinds[i];
    in.archetypes.push_back({row, name});
  }
  for (uint32_t i = 0; i < size_of(types.composite_entity_types()); ++i) {
    const schema::CompositeEntityType& c = *types.composite_entity_types()->Get(i);
    if (c.name() == nullptr || c.name()->size() == 0 || !in_force(i, true)) continue;
    ArchetypeRow row;
    row.name = hash_name(c.name()->string_view());
    row.box = {vec3_of(c.bb_min()), vec3_of(c.bb_max())};
    row.sphere_centre = vec3_of(c.bs_centre());
    row.sphere_radius = c.bs_radius();
    row.lod_distance = c.lod_dist();
    row.kind = ArchetypeKind::composite;
    in.archetypes.push_back({row, name});
    in.names.emplace_back(row.name.value, c.name()->string_view());  // a text there, so in no table of names
  }
}

WorldIndexInput world_index_input(const LintWorld& world, const std::function<uint32_t(const LintUnit&)>& size_of,
                                  const WorldIndexOptions& options) {
  std::vector<const LintUnit*> maps, types;
  for (const auto& unit : world.units()) {
    if (unit->map != nullptr && world.find_map(unit->name) == unit.get()) maps.push_back(unit.get());
    if (unit->types != nullptr && world.find_types(unit->name) == unit.get()) types.push_back(unit.get());
  }
  WorldIndexInput in;
  Manifests manifests(world);
  in.maps.resize(maps.size());
  tbb::parallel_for(size_t{0}, maps.size(), [&](size_t i) {
    const LintUnit& unit = *maps[i];
    in.maps[i].slot = map_slot(*unit.map, NameHash{unit.name}, size_of(unit));
    in.maps[i].types = names_of(needed_types(world, unit));
  });
  for (const LintUnit* unit : types) add_type_unit(in, world, *unit, manifests, size_of(*unit), options);
  manifests.replace_groups(options.groups);
  manifests.move_groups(in);
  if (options.names)
    add_names(in, world);
  else
    in.names.clear();
  return in;
}

}  // namespace meridian::tools
