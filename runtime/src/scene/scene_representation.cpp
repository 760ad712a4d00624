// SPDX-License-Identifier: MIT
#include "meridian/scene/scene_representation.h"

#include "meridian/base/assert.h"
#include "meridian/entity/archetype.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_batch.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/scene/entity_init.h"
#include "scene/scene_records.h"

namespace meridian {
namespace {

constexpr SceneSlot slot_of(ContainerTag tag) { return {tag.container(), tag.slot()}; }

/// It fills the box of its list, whatever the size of one instance.
DescStatus describe_batch(const Entity& entity, const EntityBatch& batch, ArchetypeTraits traits, EntityDesc& out) {
  traits.box = {Vec3{} - batch.half, batch.half};
  traits.sphere_centre = {};
  traits.sphere_radius = round_up(length(batch.half));
  return describe(entity, traits, out);
}

uint32_t hours_of(const Archetype& archetype) {
  const TimeArchetype* const timed = archetype.as<TimeArchetype>();
  return timed != nullptr ? timed->hours() : kAllHours;
}

}  // namespace

Status SceneRepresentation::init(const SceneRepresentationConfig& config) {
  const bool is_whole = config.graph != nullptr && config.table != nullptr && config.classes != nullptr;
  MERIDIAN_ASSERT(is_whole && config_.graph == nullptr, "a representation has a scene, a table and classes, once");
  if (!is_whole || config_.graph != nullptr) {
    return {StatusCode::bad_value, "a representation has a scene, a table and classes, once", 0};
  }
  config_ = config;
  set_types(config.types);
  config.graph->set_unlock_hook([](void* self) { static_cast<SceneRepresentation*>(self)->tell_unlocked(); }, this);
  return {};
}

// --- descriptors ---------------------------------------------------------------------------------------

Status SceneRepresentation::describe_entity_now(const Entity& entity, const EntityLink& link, EntityDesc& out) const {
  const Archetype* const archetype = entity.archetype();
  if (archetype == nullptr) return {StatusCode::bad_value, "an entity in the scene has an archetype", 0};
  const EntityBatch* const batch = batch_of(entity);
  const DescStatus made = batch != nullptr ? describe_batch(entity, *batch, archetype->traits(), out)
                                           : describe(entity, archetype->traits(), link, out);
  if (!is_made(made)) {
    return {StatusCode::bad_value, "an entity has a draw distance and a finite box", 0, archetype->name()};
  }
  if (config_.classes->info(entity.type()).desc.fill == nullptr) return {};
  config_.classes->fill_desc(entity, out);
  return detail::check_desc(out);  // what hosts fill in is looked at like all that comes from outside
}

Status SceneRepresentation::put(Entity& entity) {
  if (!entity.container().is_none()) return {StatusCode::in_use, "the entity is in the world", entity.handle().slot};
  if (!entity.handle()) return {StatusCode::bad_value, "an entity in the world has a handle", 0};
  if (const Archetype* const archetype = entity.archetype(); archetype != nullptr && archetype->traits().is_timed) {
    (void)meridian::set_hour(entity, true, hours_of(*archetype), hour_);
  }
  EntityDesc desc;
  if (const Status s = describe_entity_now(entity, {}, desc); !s.ok()) return s;
  if (config_.classes->info(entity.type()).flags.has(ClassFlag::is_light)) {
    const Status set = config_.graph->set_light(entity.handle(), desc);
    if (set.ok()) entity.set_container(ContainerTag::in_retaining_list(kLightList));
    return set;
  }
  SceneNode* const node = node_at(entity.interior_location());
  if (node == nullptr) {
    return {StatusCode::bad_value, "no such room or portal; detail = the location", entity.interior_location().bits()};
  }
  // What reaches through a portal to the outside is seen from there too, and from all that looks in.
  const bool moves = entity.has(BaseFlag::is_dynamic);
  if (moves && entity.interior_location().is_portal_to_exterior()) {
    const Result<SceneSlot> both =
        config_.graph->insert(*config_.graph->root(), ContainerUse::straddling, entity.handle(), desc);
    if (both.ok() || both.status().code != StatusCode::out_of_slots) return keep(entity, both);
  }
  const ContainerUse use = moves ? ContainerUse::dynamic : ContainerUse::placed;
  return keep(entity, config_.graph->insert(*node, use, entity.handle(), desc));
}

Status SceneRepresentation::keep(Entity& entity, const Result<SceneSlot>& slot) {
  if (!slot.ok()) return slot.status();
  entity.set_container(ContainerTag::in_container(slot.value().container, slot.value().slot));
  return {};
}

Status SceneRepresentation::take(Entity& entity) {
  const ContainerTag tag = entity.container();
  if (tag.is_none()) return {StatusCode::not_found, "the entity is not in the world", entity.handle().slot};
  const Status taken =
      tag.is_retained() ? config_.graph->remove_light(entity.handle()) : config_.graph->erase(slot_of(tag));
  if (taken.ok()) entity.set_container({});
  return taken;
}

Status SceneRepresentation::renew(Entity& entity) {
  const ContainerTag tag = entity.container();
  if (tag.is_none()) return {StatusCode::not_found, "the entity is not in the world", entity.handle().slot};
  EntityDesc desc;
  if (tag.is_retained()) {
    if (const Status s = describe_entity_now(entity, {}, desc); !s.ok()) return s;
    return config_.graph->set_light(entity.handle(), desc);
  }
  if (!stands_right(entity)) return move_over(entity);
  if (const Status s = describe_entity_now(entity, config_.graph->link_at(slot_of(tag)), desc); !s.ok()) return s;
  return config_.graph->write(slot_of(tag), desc);
}

/// In a container of the node where it says it is, among what moves if it does. What stands in a map's blocks does.
bool SceneRepresentation::stands_right(const Entity& entity) const {
  const uint32_t container = entity.container().container();
  const ContainerView& view = config_.graph->containers().views[container];
  if (view.handles == nullptr) return true;
  const bool moves = entity.has(BaseFlag::is_dynamic);
  const InteriorLocation at = entity.interior_location();
  if ((view.flags & kContainerStraddling) != 0) return moves && at.is_portal_to_exterior();
  return config_.graph->node_of(container) == node_at(at) && ((view.flags & kContainerDynamic) != 0) == moves;
}

/// It went through a door, or began to move: it is put where it belongs, then taken from where it was.
Status SceneRepresentation::move_over(Entity& entity) {
  const ContainerTag before = entity.container();
  if (config_.graph->is_locked()) return {StatusCode::in_use, "the scene is locked: defer the change", 0};
  entity.set_container({});
  const Status put_there = put(entity);
  if (!put_there.ok()) {
    entity.set_container(before);
    return put_there;
  }
  return config_.graph->erase(slot_of(before));
}

// --- interiors -----------------------------------------------------------------------------------------

Status SceneRepresentation::add_interior(InteriorNode& interior) {
  if (interior.interior < 0 || interior.interior >= static_cast<int32_t>(kMaxInteriors)) {
    return {StatusCode::bad_value, "an interior has a number below kMaxInteriors",
            static_cast<uint16_t>(interior.interior)};
  }
  InteriorNode*& place = interiors_[interior.interior];
  if (place != nullptr)
    return {StatusCode::in_use, "the interior's number is taken", static_cast<uint16_t>(interior.interior)};
  place = &interior;
  return {};
}

void SceneRepresentation::remove_interior(InteriorNode& interior) {
  for (SceneWalk walk(&interior); walk.node() != nullptr; walk.next()) {
    for (uint32_t c = walk.node()->first_container(); c != kNoContainer; c = config_.graph->next_container(c)) {
      const ContainerView& view = config_.graph->containers().views[c];
      for (uint32_t slot = 0; slot < view.slots && view.handles != nullptr; ++slot) {
        Entity* const entity = config_.table->get(view.handles[slot]);
        if (entity != nullptr) entity->set_container({});
      }
    }
  }
  if (this->interior(interior.interior) == &interior) interiors_[interior.interior] = nullptr;
}

SceneNode* SceneRepresentation::node_at(InteriorLocation location) const {
  if (location.is_outside()) return config_.graph->root();
  const InteriorNode* const in = interior(location.interior());
  if (in == nullptr) return nullptr;
  const NodeType wanted = location.is_at_portal() ? NodeType::portal : NodeType::room;
  uint32_t left = location.is_at_portal() ? location.portal() : location.room();
  for (SceneNode* child = in->first_child(); child != nullptr; child = child->next()) {
    if (child->type() != wanted) continue;
    if (left-- == 0) return child;
  }
  return nullptr;
}

// --- hours ---------------------------------------------------------------------------------------------

void SceneRepresentation::apply_hour(uint32_t container) {
  const ContainerView& view = config_.graph->containers().views[container];
  const DescLanes lanes = desc_lanes(view);
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if ((lanes.flags[slot] & kDescTimed) == 0 || lanes.distance[slot] == 0) continue;
    Entity* const entity = config_.table->get(entity_in(view, slot));
    if (entity == nullptr || entity->archetype() == nullptr) continue;
    (void)meridian::set_hour(*entity, true, hours_of(*entity->archetype()), hour_);
    const bool active = is_active(*entity, true);
    (void)config_.graph->set_flags({container, slot}, kDescActive, active ? uint16_t{kDescActive} : uint16_t{0});
  }
}

Status SceneRepresentation::set_hour(uint32_t hour) {
  MERIDIAN_ASSERT(hour < kHours, "a day has 24 hours");
  if (config_.graph->is_locked()) return {StatusCode::in_use, "the scene is locked: set the hour after the unlock", 0};
  hour_ = hour % kHours;
  (void)config_.graph->flush_lights();
  const std::span<ContainerView> views = config_.graph->containers().views;
  for (uint32_t c = 0; c < views.size(); ++c) {
    if ((views[c].flags & kContainerUsed) != 0) apply_hour(c);
  }
  return {};
}

EntityListener SceneRepresentation::listener() {
  const auto renew_it = [](void* self, Entity& entity) {
    if (!entity.container().is_none()) (void)static_cast<SceneRepresentation*>(self)->renew(entity);
  };
  return {.user = this, .on_moved = renew_it, .on_visibility = renew_it};
}

// --- everything ----------------------------------------------------------------------------------------

Status SceneRepresentation::find(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) const {
  if (search_ == nullptr) return {StatusCode::not_found, "no search was registered with the scene", 0};
  if (!config_.graph->is_locked()) (void)config_.graph->flush_lights();  // then it is the owner who asks
  return search_(config_.graph->containers(), config_.graph->hierarchy(), query, out, result);
}

/// Moves what hosts added, first all, then their descriptors: what is attached moves with what it is attached to. Maps
/// place theirs anew, by the new origin.
void SceneRepresentation::move_all(const Vec3& delta) {
  SceneGraph& graph = *config_.graph;
  (void)graph.flush_lights();
  for (const bool moves : {true, false}) {
    for (const ContainerView& view : graph.containers().views) {
      if ((view.flags & kContainerUsed) == 0 || view.handles == nullptr) continue;
      for (uint32_t slot = 0; slot < view.slots; ++slot) {
        Entity* const entity = config_.table->get(view.handles[slot]);
        if (entity == nullptr || entity->imap() != kNoImap) continue;
        if (!moves) {
          (void)renew(*entity);
          continue;
        }
        if (entity->dynamic() != nullptr && entity->dynamic()->parent() != nullptr) continue;
        Transform to = entity->transform();
        to.position.x += delta.x;
        to.position.y += delta.y;
        to.position.z += delta.z;
        place(*entity, to);
      }
    }
  }
  (void)graph.flush_lights();
}

}  // namespace meridian
