// SPDX-License-Identifier: MIT
#include "forecast/map_needs.h"

#include <algorithm>

#include "meridian/entity/archetype_traits.h"
#include "meridian/scene/desc_block.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "vector_size.h"

namespace meridian::tools {
namespace {

constexpr SceneCapacities kScene;  // its own, where no configuration says otherwise
constexpr NeedInfo kNeeds[kNeedCount] = {
    {"Building", 0},
    {"AnimatedBuilding", 0},
    {"Dummy Object", 0},
    {"InteriorInst", 0},
    {"CompEntity", 0},
    {"EntityBatch", 0},
    {"GrassBatch", 0},
    {"CCargen", 0},
    {"tcBox", 0},
    {"MapDataLoadedNode", 0},
    {"fwStreamedSceneGraphNode", kScene.streamed_nodes},
    {"fwInteriorSceneGraphNode", kScene.interior_nodes},
    {"fwRoomSceneGraphNode", kScene.room_nodes},
    {"fwPortalSceneGraphNode", kScene.portal_nodes},
    {"fwSoAEntityContainer", kScene.soa_containers},
};

class Counter {
 public:
  Counter(const LintWorld& world, MapNeeds& needs) : world_(world), needs_(needs) {}

  /// Counts one entity, and gives its archetype. Null: it is not made.
  const ArchetypeRef* add(const schema::EntityDef& e) {
    const ArchetypeRef* const ref = world_.find_archetype(e.archetype_name());
    if (ref == nullptr) return nullptr;
    switch (entity_class(*ref->def, ref->form())) {
      case EntityClass::building:
        ++needs_[Need::buildings];
        break;
      case EntityClass::animated_building:
        ++needs_[Need::animated_buildings];
        break;
      case EntityClass::dummy_object:
        ++needs_[Need::dummy_objects];
        break;
      case EntityClass::interior_instance:
        ++needs_[Need::interiors];
        break;
      case EntityClass::composite_entity:
        ++needs_[Need::composites];
        break;
      case EntityClass::prop_batch:
      case EntityClass::grass_batch:
        break;  // are no archetypes
    }
    return ref;
  }

  void add_interior(const schema::MloArchetypeDef& mlo, const schema::MloInstanceDef* instance) {
    ++needs_[Need::interior_nodes];
    needs_[Need::room_nodes] += size_of(mlo.rooms());
    needs_[Need::portal_nodes] += size_of(mlo.portals());
    add_all(mlo.entities());
    if (instance == nullptr || instance->default_entity_sets() == nullptr || mlo.entity_sets() == nullptr) return;
    for (const schema::MloEntitySet* set : *mlo.entity_sets()) {
      const auto* const wanted = instance->default_entity_sets();
      if (std::find(wanted->begin(), wanted->end(), set->name()) != wanted->end()) add_all(set->entities());
    }
  }

 private:
  template <class Vector>
  void add_all(const Vector* entities) {
    if (entities == nullptr) return;
    for (const schema::EntityDef* e : *entities) (void)add(*e);
  }

  const LintWorld& world_;
  MapNeeds& needs_;
};

}  // namespace

const NeedInfo& need_info(Need need) { return kNeeds[static_cast<size_t>(need)]; }

uint64_t MapNeeds::entities() const {
  uint64_t sum = 0;
  for (size_t i = 0; i <= static_cast<size_t>(Need::grass_batches); ++i) sum += counts[i];
  return sum;
}

MapNeeds needs_of_map(const LintWorld& world, const LintUnit& unit) {
  MapNeeds needs;
  Counter counter(world, needs);
  const schema::MapData& map = *unit.map;
  uint32_t streamed = 0;
  if (map.entities() != nullptr) {
    const auto* const instances = map.mlo_instances();
    uint32_t next = 0;  // instances are sorted by their entities
    for (uint32_t i = 0; i < map.entities()->size(); ++i) {
      const ArchetypeRef* const ref = counter.add(*map.entities()->Get(i));
      if (ref == nullptr) continue;
      if (ref->mlo == nullptr) {
        ++streamed;
        continue;
      }
      while (next < size_of(instances) && instances->Get(next)->owner() < i) ++next;
      const bool is_there = next < size_of(instances) && instances->Get(next)->owner() == i;
      counter.add_interior(*ref->mlo, is_there ? instances->Get(next) : nullptr);
    }
  }
  if (const auto* const batches = map.instanced_data()) {
    needs[Need::prop_batches] = size_of(batches->prop_instance_list());
    needs[Need::grass_batches] = size_of(batches->grass_instance_list());
  }
  needs[Need::car_generators] = size_of(map.car_generators());
  needs[Need::time_cycle_boxes] = size_of(map.time_cycle_modifiers());
  needs[Need::loaded_maps] = 1;
  needs[Need::map_nodes] = 1;
  needs[Need::containers] = (streamed + kContainerSlots - 1) / kContainerSlots;
  return needs;
}

}  // namespace meridian::tools
