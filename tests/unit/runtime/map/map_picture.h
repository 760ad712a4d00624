// SPDX-License-Identifier: MIT
#pragma once
/// All that can be seen of a map, as text: to compare one that was loaded in steps with one that was loaded at once.
///
///   const std::string in_steps = test::picture(kit, *map);
///   kit.unload(map);
///   EXPECT_EQ(in_steps, test::picture(kit, *kit.load(file, {.slot = 1, .postponed = true})));

#include <cstdarg>
#include <cstdio>
#include <string>

#include "unit/runtime/map/map_kit.h"

namespace meridian::test {

inline void add_line(std::string& out, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  out += line;
  out += '\n';
}

/// An entity, its descriptor, and whether each half finds the other. Floats to the last bit.
inline void add_entity(std::string& out, const MapKit& kit, const char* what, uint32_t index, const Entity* entity) {
  if (entity == nullptr) return add_line(out, "%s %u: none", what, index);
  const Vec3 at = entity->position();
  const Archetype* const archetype = entity->archetype();
  const LodData& lod = entity->lod();
  const InteriorLocation in = entity->interior_location();
  add_line(out, "%s %u: %08X/%08X class %u at %a %a %a flags %X mask %X imap %u owner %u room %d portal %d", what,
           index, archetype != nullptr ? archetype->name().value : 0,
           archetype != nullptr ? archetype->model_id().packed() : 0, static_cast<unsigned>(entity->type()),
           static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z), entity->flags().bits(),
           entity->visibility_mask(), entity->imap(), static_cast<unsigned>(entity->owner()),
           in.is_outside() || in.is_at_portal() ? -1 : static_cast<int>(in.room()),
           in.is_at_portal() ? static_cast<int>(in.portal()) : -1);
  uint32_t extensions = 0;
  for (const Extension* e = entity->extensions().first(); e != nullptr; e = e->next()) ++extensions;
  add_line(out, "  lod parent %d distance %a bound children %u level and flags %X; extensions %u; told %d, found %d",
           lod.parent, static_cast<double>(lod.distance), lod.bound_children, lod.level_flags, extensions,
           static_cast<int>(kit.record.alive.count(entity)), kit.table.get(entity->handle()) == entity ? 1 : 0);
  const EntityDesc d = kit.desc(*entity);
  add_line(out,
           "  desc %d %d: %a %a %a, %a %a %a, pivot %a %a %a, distance %a mask %X set %u type %u level %u flags %X",
           kit.is_in_world(*entity) ? 1 : 0, kit.entity_of_slot(*entity) == entity ? 1 : 0,
           static_cast<double>(d.centre.x), static_cast<double>(d.centre.y), static_cast<double>(d.centre.z),
           static_cast<double>(d.half.x), static_cast<double>(d.half.y), static_cast<double>(d.half.z),
           static_cast<double>(d.pivot.x), static_cast<double>(d.pivot.y), static_cast<double>(d.pivot.z),
           static_cast<double>(d.distance), d.mask, d.lod_set, static_cast<unsigned>(d.type), d.level, d.flags);
}

inline std::string picture(const MapKit& kit, const MapContents& map) {
  std::string out;
  add_line(out, "map %08X: %u of %u, %u lists, shown %d, parent %08X, hd %d", map.name().value, map.created(),
           map.entity_count(), map.batch_count(), map.is_shown() ? 1 : 0,
           map.parent() != nullptr ? map.parent()->name().value : 0,
           map.node() != nullptr ? static_cast<int>(map.node()->flags()) : -1);
  for (uint32_t i = 0; i < map.entity_count(); ++i) {
    const Entity* const entity = map.entity(i);
    add_entity(out, kit, "entity", i, entity);
    if (entity == nullptr) continue;
    const Entity* const above = map.lod_parent(*entity);
    if (above != nullptr) add_line(out, "  stands below %08X", above->archetype()->name().value);
    const Interior* const in = kit.interior_of(map, i);
    if (in == nullptr) continue;
    add_line(out, "  interior: %u of %u, waits %d, sets %u", in->created(), in->entity_count(),
             in->is_waiting() ? 1 : 0, in->set_count());
    for (uint32_t e = 0; e < in->entity_count(); ++e) add_entity(out, kit, "inside", e, in->entity(e));
  }
  for (uint32_t i = 0; i < map.batch_count(); ++i) add_entity(out, kit, "batch", i, map.batch(i));
  for (const LodLinkRow& row : map.links()) {
    add_line(out, "link %u %u %d: %a %a %a, %a", row.parent_index, row.up, row.in_parent ? 1 : 0,
             static_cast<double>(row.pivot.x), static_cast<double>(row.pivot.y), static_cast<double>(row.pivot.z),
             static_cast<double>(row.distance));
  }
  return out;
}

/// Steps until it is done; null, and a failed test, where one fails. Calls `between(step)` before each step but the
/// first.
template <class Between>
MapContents* step_through(MapKit& kit, MapContents& map, uint32_t max_entities, Between between) {
  for (uint32_t step = 0; step < 100000; ++step) {
    if (step > 0) between(step);
    const Result<MapLoadProgress> done = step_map_load(kit.maps, map, max_entities);
    EXPECT_TRUE(done.ok()) << done.status().message;
    if (!done.ok()) return nullptr;
    EXPECT_EQ(done.value().done, !map.is_loading());
    if (done.value().done) return &map;
  }
  ADD_FAILURE() << "it does not come to an end";
  return nullptr;
}

}  // namespace meridian::test
