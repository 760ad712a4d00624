// SPDX-License-Identifier: MIT
// What happens to the contents of a map after they are loaded: shown and hidden, linked to a parent, placed anew, taken
// away. How they come to be: map_load.cpp.
#include "meridian/map/map_contents.h"

#include "map/loading.h"
#include "map/resolve.h"
#include "meridian/base/assert.h"
#include "meridian/map/map_world.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

/// Of an entity that somebody took out of the world, while blocks are made anew.
constexpr ContainerTag kTakenOut = ContainerTag::in_retaining_list(kLightList + 1);

}  // namespace

Status MapContents::show() {
  if (is_shown_) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (graph.is_locked()) return {StatusCode::in_use, "the scene is locked: show the map after the unlock", 0, name_};
  if (node_ != nullptr) {
    if (const Status s = graph.append(*graph.root(), *node_); !s.ok()) return s;
  }
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    if (const Status s = i->show(); !s.ok()) return s;
  }
  is_shown_ = true;
  return {};
}

Status MapContents::hide() {
  if (!is_shown_) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (graph.is_locked()) return {StatusCode::in_use, "the scene is locked: hide the map after the unlock", 0, name_};
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) (void)i->hide();
  if (node_ != nullptr) (void)graph.unlink(*node_);
  is_shown_ = false;
  return {};
}

// --- LOD links -----------------------------------------------------------------------------------------

Entity* MapContents::lod_parent(const Entity& entity) const {
  const LodData& lod = entity.lod();
  if (!lod.has_parent() || !lod.has(LodFlag::bound)) return nullptr;
  const MapContents* const in = lod.has(LodFlag::parent_in_parent_map) ? parent_ : this;
  return in != nullptr ? in->entity(static_cast<uint32_t>(lod.parent)) : nullptr;
}

Entity* MapContents::lod_root(const Entity& entity) const {
  const MapContents* in = this;
  const Entity* at = &entity;
  Entity* root = nullptr;
  for (uint32_t steps = 0; steps < kMaxLodChain && in != nullptr; ++steps) {
    Entity* const above = in->lod_parent(*at);
    if (above == nullptr) break;
    if (at->lod().has(LodFlag::parent_in_parent_map)) in = in->parent_;
    at = root = above;
  }
  return root;
}

void MapContents::bind_to_parent(MapContents& parent) {
  parent_ = &parent;
  next_sibling_ = parent.first_child_;
  parent.first_child_ = this;
  bool any_over = false;
  for (Entity* const entity : entities_) {
    if (entity == nullptr || !entity->lod().has_parent() || !entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    any_over |= bind(*entity, parent);
  }
  if (any_over) parent.check_children();
}

Status MapContents::bind_parent(MapContents& parent) {
  MERIDIAN_ASSERT(parent_ == nullptr && &parent != this, "a map has one parent, which is not itself");
  if (parent_ != nullptr || &parent == this) return {StatusCode::in_use, "a map has one parent", 0, name_};
  // Descriptors hold pivots and distances of the parents that were known when they were made.
  const WorldOrigin& origin = maps_->config_.world->origin();
  bool is_same = true;
  for (uint32_t i = 0; i < entities_.size() && is_same; ++i) {
    const Entity* const entity = entities_[i];
    if (entity == nullptr || !entity->lod().has_parent() || !entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    const LodParent now = lod_parent_of(i, &parent);
    const LodLinkRow* const before = find_link(links_, true, static_cast<uint32_t>(entity->lod().parent));
    is_same = before == nullptr ? now.distance == 0
                                : now.distance == before->distance && moved(now.pivot, origin) == before->pivot;
  }
  if (!is_same && maps_->config_.scene->graph().is_locked()) {
    return {StatusCode::in_use, "the scene is locked: bind the parent after the unlock", 0, name_};
  }
  bind_to_parent(parent);
  return is_same ? Status{} : rebuild();
}

void MapContents::unbind_parent() {
  if (parent_ == nullptr) return;
  for (Entity* const entity : entities_) {
    if (entity == nullptr || !entity->lod().has(LodFlag::parent_in_parent_map) || !entity->lod().has(LodFlag::bound))
      continue;
    Entity* const above = parent_->entity(static_cast<uint32_t>(entity->lod().parent));
    if (above != nullptr) {
      unbind_lod(entity->lod(), above->lod());
    } else {
      entity->lod().set(LodFlag::bound, false);
    }
  }
  MapContents** link = &parent_->first_child_;
  while (*link != this) link = &(*link)->next_sibling_;
  *link = next_sibling_;
  next_sibling_ = nullptr;
  parent_ = nullptr;
}

/// A parent that has more children than it declares was made for another map.
void MapContents::check_children() {
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    if (entities_[i] == nullptr) continue;
    const uint32_t bound = entities_[i]->lod().bound_children;
    const uint32_t declared = map_->entities()->Get(i)->num_children();
    if (bound <= declared || !maps_->counts_.first(name_.value)) continue;
    log_message(LogLevel::warning, name_, "map %s: entity %u declares %u children, and has %u", name_text(name_).text,
                i, declared, bound);
  }
}

// --- changes -------------------------------------------------------------------------------------------

/// False for entities that were taken out of the world by themselves, even if they were put back since: then they stand
/// among those of hosts.
bool MapContents::is_in_blocks(const Entity& entity) const {
  const ContainerTag tag = entity.container();
  return tag.is_in_container() && maps_->config_.scene->graph().node_of(tag.container()) == node_;
}

/// Makes all descriptors anew, but for those of entities that were taken out. Without memory there are none, which is
/// told: old ones would be wrong. Requires: not locked.
Status MapContents::rebuild() {
  if (node_ == nullptr) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (graph.is_locked()) return {StatusCode::in_use, "the scene is locked: rebuild after the unlock", 0, name_};
  const bool has_blocks = node_->first_container() != kNoContainer;  // there are none if this failed before
  for (Entity* const entity : entities_) {
    if (entity == nullptr) continue;
    if (is_in_blocks(*entity)) {
      entity->set_container({});
    } else if (has_blocks && entity->container().is_none()) {
      entity->set_container(kTakenOut);
    }
  }
  while (node_->first_container() != kNoContainer) (void)graph.destroy_container(node_->first_container());
  used_cooked_ = false;
  const Status built = build_blocks_anew();
  for (Entity* const entity : entities_) {
    if (entity == nullptr || entity->container().is_none() || is_in_blocks(*entity)) continue;
    if (entity->container() == kTakenOut) {
      entity->set_container({});
    } else {
      (void)maps_->config_.scene->update(*entity);
    }
  }
  if (!built.ok()) {
    log_message(LogLevel::error, name_, "map %s: its descriptors could not be built anew: %s", name_text(name_).text,
                built.message);
  }
  return built;
}

/// By what archetypes and parents are now. Entities that are not there still count for the distances of their sets, as
/// they did when the map was loaded.
Status MapContents::build_blocks_anew() {
  detail::TempBlock temp(*maps_->allocator_);
  const auto plan_traits = temp.plan<const ArchetypeTraits*>(entities_.size());
  const auto plan_parents = temp.plan<LodParent>(entities_.size());
  if (const Status s = temp.take(); !s.ok()) return s;
  const std::span<const ArchetypeTraits*> traits = temp.make(plan_traits);
  const std::span<LodParent> parents = temp.make(plan_parents);
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    const schema::EntityDef& e = *map_->entities()->Get(i);
    const Archetype* const archetype = entities_[i] != nullptr
                                           ? entities_[i]->archetype()
                                           : maps_->config_.archetypes->find(NameHash{e.archetype_name()});
    if (archetype != nullptr) traits[i] = &archetype->traits();
    const bool is_elsewhere = e.parent_index() >= 0 && detail::has_flag(e, schema::EntityFlags::lod_in_parent);
    if (is_elsewhere) parents[i] = lod_parent_of(i, parent_);
  }
  return build_blocks_now(traits, parents);
}

/// The world's origin moved.
void MapContents::place_anew() {
  const WorldOrigin& origin = maps_->config_.world->origin();
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    if (entities_[i] != nullptr) move_to_origin(*entities_[i], *map_->entities()->Get(i), origin);
  }
  (void)rebuild();
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) i->place_anew();
}

/// Entities whose archetype is not what its name means go on with that. Requires: not locked.
void MapContents::take_archetypes() {
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  detail::Resolver resolver(*maps_->config_.archetypes, classes, nullptr);
  detail::ByOwner<schema::MloInstanceDef> instances(map_->mlo_instances());
  bool any = false, any_interior = false;
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    Entity* const entity = entities_[i];
    if (entity == nullptr || entity->archetype()->is_in_force()) continue;
    const detail::Resolved now = resolver.find(entity->archetype()->name().value);
    if (now.archetype == nullptr) continue;
    const schema::EntityDef& e = *map_->entities()->Get(i);
    any = true;
    any_interior = any_interior || now.archetype->as<InteriorArchetype>() != nullptr || interior_of(*entity) != nullptr;
    const EntityInit how{.is_interior = instances.next(i) != nullptr,
                         .has_lod_set = e.parent_index() >= 0,
                         .imap = slot_,
                         .map = name_,
                         .messages = &maps_->said_};
    detail::take_archetype(*entity, e, *now.archetype, how, maps_->config_.scene->hour());
    move_to_origin(*entity, e, maps_->config_.world->origin());
    // Its memory is that of its class: another class only where the same C++ type stands behind it.
    if (now.type != entity->type() && classes.info(now.type).construct == classes.info(entity->type()).construct) {
      entity->set_type(now.type);
    }
  }
  if (any) (void)rebuild();
  if (any_interior) {
    if (const Status s = make_interiors(); !s.ok()) {
      log_message(LogLevel::error, name_, "map %s: not all interiors could be made: %s", name_text(name_).text,
                  s.message);
    }
  }
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    const InteriorArchetype* const interior = i->instance().archetype()->as<InteriorArchetype>();
    if (any_interior && (interior == nullptr || i->definition() != interior->definition())) i->restart();
    i->take_archetypes();
    if (is_shown_) (void)i->show();
  }
}

Status MapContents::destroy_entity(uint32_t index) {
  Entity* const entity = this->entity(index);
  if (entity == nullptr) return {StatusCode::not_found, "no such entity of the map; detail = its index", index, name_};
  SceneRepresentation& scene = *maps_->config_.scene;
  if (scene.graph().is_locked()) return {StatusCode::in_use, "the scene is locked: defer the destruction", 0, name_};
  if (!entity->container().is_none()) (void)scene.remove(*entity);
  drop_entity(index);
  return {};
}

Interior* MapContents::interior_of(const Entity& instance) const {
  Interior* at = first_interior_;
  while (at != nullptr && &at->instance() != &instance) at = at->next_in_map_;
  return at;
}

/// Destroys one entity, whose descriptor is gone. An interior goes with the entity that stands for it.
void MapContents::drop_entity(uint32_t index) {
  Entity& entity = *entities_[index];
  if (Interior* const interior = interior_of(entity)) {
    Interior** link = &first_interior_;
    while (*link != interior) link = &(*link)->next_in_map_;
    *link = interior->next_in_map_;
    interior->unload();
    maps_->interiors_.destroy(*interior);
  }
  if (is_told_) maps_->config_.host.destroyed(entity);
  if (Entity* const above = lod_parent(entity)) unbind_lod(entity.lod(), above->lod());
  if (entity.lod().bound_children > 0) unbind_children(index);
  maps_->config_.scene->table().put(group_, index, nullptr);
  maps_->config_.scene->classes().destroy(entity);
  --created_;
}

/// The entity that others here and in child maps have as LOD parent leaves.
void MapContents::unbind_children(uint32_t index) {
  Entity& parent = *entities_[index];
  const auto unbind = [&](MapContents& in, bool from_parent_map) {
    for (Entity* const entity : in.entities_) {
      if (entity == nullptr || !entity->lod().has(LodFlag::bound)) continue;
      const bool is_child = entity->lod().has(LodFlag::parent_in_parent_map) == from_parent_map &&
                            static_cast<uint32_t>(entity->lod().parent) == index;
      if (is_child) unbind_lod(entity->lod(), parent.lod());
    }
  };
  unbind(*this, false);
  for (MapContents* child = first_child_; child != nullptr; child = child->next_sibling_) unbind(*child, true);
}

/// From any state that load() may leave.
void MapContents::unload() {
  SceneGraph& graph = maps_->config_.scene->graph();
  (void)hide();
  while (first_child_ != nullptr) first_child_->unbind_parent();
  unbind_parent();
  while (first_interior_ != nullptr) {
    Interior* const interior = first_interior_;
    first_interior_ = interior->next_in_map_;
    interior->unload();
    maps_->interiors_.destroy(*interior);
  }
  for (Entity* const entity : entities_) {
    if (entity == nullptr) continue;
    if (!entity->container().is_none() && !is_in_blocks(*entity)) (void)maps_->config_.scene->remove(*entity);
    entity->set_container({});
    if (is_told_) maps_->config_.host.destroyed(*entity);
  }
  if (node_ != nullptr) (void)graph.destroy(*node_);
  node_ = nullptr;
  if (group_) maps_->config_.scene->table().remove_group(group_);
  group_ = {};
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  for (Entity*& entity : entities_) {
    if (entity == nullptr) continue;
    classes.destroy(*entity);
    entity = nullptr;
  }
  entities_ = {};
  created_ = 0;
  free_links();
  links_ = {};
  arrays_.free();
}

}  // namespace meridian
