// SPDX-License-Identifier: MIT
// MLO008, MLO009: instances of interiors against their definitions.
#include "lint/interior_placement.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

constexpr uint32_t kLinksInteriors = 1u << 1;

template <class Function>
void each_instance(const LintWorld& world, const LintUnit& unit, Function&& f) {
  const auto* const instances = unit.map->mlo_instances();
  const auto* const entities = unit.map->entities();
  if (instances == nullptr || entities == nullptr) return;
  for (const schema::MloInstanceDef* instance : *instances) {
    if (instance->owner() >= entities->size()) continue;
    const schema::EntityDef& entity = *entities->Get(instance->owner());
    f(*instance, entity, world.find_archetype(entity.archetype_name()));
  }
}

}  // namespace

bool is_exit(const schema::MloPortalDef& portal) {
  return (portal.room_from() == 0 || portal.room_to() == 0) &&
         (static_cast<uint32_t>(portal.flags()) & kLinksInteriors) == 0;
}

std::vector<ExitPortal> exit_portals(const LintWorld& world, const LintUnit& map) {
  std::vector<ExitPortal> out;
  each_instance(world, map,
                [&](const schema::MloInstanceDef& instance, const schema::EntityDef& entity, const ArchetypeRef* ref) {
                  if (ref == nullptr || ref->mlo == nullptr || ref->mlo->portals() == nullptr) return;
                  const Turn turn(entity.rotation(), false);
                  for (uint32_t p = 0; p < ref->mlo->portals()->size(); ++p) {
                    const schema::MloPortalDef& portal = *ref->mlo->portals()->Get(p);
                    if (!is_exit(portal) || portal.corners() == nullptr || portal.corners()->size() != 4) continue;
                    ExitPortal& exit = out.emplace_back();
                    exit.entity = instance.owner();
                    exit.index = p;
                    exit.instance = &entity;
                    exit.name = ref->unit->names.quoted(ref->def->name());
                    for (uint32_t k = 0; k < 4; ++k)
                      exit.corners[k] = turn(point_of(*portal.corners()->Get(k))) + point_of(entity.position());
                  }
                });
  return out;
}

void lint_interior_instances(LintContext& c) {
  each_instance(c.world, c.unit,
                [&](const schema::MloInstanceDef& instance, const schema::EntityDef& entity, const ArchetypeRef* ref) {
                  const EntityPlace place{"", "", instance.owner()};
                  if (ref == nullptr) return;  // REF001 says it
                  const std::string name = c.unit.names.quoted(entity.archetype_name());
                  if (!ref->is_interior) {
                    LintFinding& f = c.report(rules::missing_archetype, place.path(".archetypeName"), place.object(),
                                              name + " is placed as an interior, but its archetype is none");
                    f.related.push_back({ref->unit, ref->path(), "the archetype"});
                    return;
                  }
                  if (ref->mlo == nullptr) return;  // an index tells neither its entity sets nor its portals
                  const auto* const wanted = instance.default_entity_sets();
                  const auto* const sets = ref->mlo->entity_sets();
                  if (wanted != nullptr)
                    for (uint32_t i = 0; i < wanted->size(); ++i) {
                      bool found = false;
                      for (uint32_t s = 0; sets != nullptr && s < sets->size(); ++s)
                        found = found || sets->Get(s)->name() == wanted->Get(i);
                      if (found) continue;
                      LintFinding& f = c.report(rules::unknown_entity_set,
                                                place.path("." + indexed("defaultEntitySets", i)), place.object(),
                                                "default entity set " + c.unit.names.quoted(wanted->Get(i)) +
                                                    " is none of interior " + name + "'s");
                      f.related.push_back({ref->unit, ref->path() + ".entitySets", "the interior's entity sets"});
                    }
                  uint32_t exits = 0;
                  if (ref->mlo->portals() != nullptr)
                    for (const schema::MloPortalDef* portal : *ref->mlo->portals()) exits += is_exit(*portal) ? 1 : 0;
                  if (exits == instance.num_exit_portals()) return;
                  LintFinding& f = c.report(rules::exit_portal_count, place.path(".numExitPortals"), place.object(),
                                            "numExitPortals is " + std::to_string(instance.num_exit_portals()) +
                                                ", but interior " + name + " has " + std::to_string(exits));
                  f.related.push_back({ref->unit, ref->path() + ".portals", "its portals"});
                  f.fixes.push_back({place.path(".numExitPortals"), std::to_string(exits)});
                });
}

}  // namespace meridian::tools
