// SPDX-License-Identifier: MIT
// What happens to the contents of a map after they are loaded: shown and hidden, linked to a parent, placed anew, taken
// away. How they come to be: map_load.cpp; what becomes of their descriptors: map_blocks.cpp.
#include "meridian/map/map_contents.h"

#include "map/loading.h"
#include "map/lod_sets.h"
#include "map/resolve.h"
#include "meridian/base/assert.h"
#include "meridian/entity/entity_batch.h"
#include "meridian/map/map_world.h"
#include "resource/flat_vector.h"

namespace meridian {
Status MapContents::show() {
  if (is_shown_) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (is_loading()) return {StatusCode::in_use, "the map is loading: show it when it is done", 0, name_};
  if (maps_->is_busy()) return {StatusCode::in_use, "the scene is locked: show the map after the unlock", 0, name_};
  if (node_ != nullptr) {
    if (const Status s = graph.append(*graph.root(), *node_); !s.ok()) return s;
  }
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    if (const Status s = i->show(); !s.ok()) return s;
  }
  is_shown_ = true;
  maps_->add_occluders(*this);
  maps_->lod_->shown(*this);
  return {};
}

Status MapContents::hide() {
  if (!is_shown_) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (maps_->is_busy()) return {StatusCode::in_use, "the scene is locked: hide the map after the unlock", 0, name_};
  maps_->lod_->hiding(*this);
  maps_->remove_occluders(*this);
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

LodPlace MapContents::lod_place(uint32_t index) const {
  if (index >= entities_.size()) return {};
  const EntityLink link = link_of(*map_, links_, index);
  return meridian::lod_place(links_, lod_set_ids(), link.lod_set, link.is_parent);
}

void MapContents::join_parent(MapContents& parent) {
  parent_ = &parent;
  next_sibling_ = parent.first_child_;
  parent.first_child_ = this;
}

void MapContents::leave_parent() {
  MapContents** link = &parent_->first_child_;
  while (*link != this) link = &(*link)->next_sibling_;
  *link = next_sibling_;
  next_sibling_ = nullptr;
  parent_ = nullptr;
}

Status MapContents::bind_parent(MapContents& parent) {
  MERIDIAN_ASSERT(parent_ == nullptr && &parent != this, "a map has one parent, which is not itself");
  if (parent_ != nullptr || &parent == this) return {StatusCode::in_use, "a map has one parent", 0, name_};
  if (parent.is_loading()) {
    return {StatusCode::in_use, "the parent map is loading; detail = its slot", parent.slot(), name_};
  }
  if (is_loading()) {
    join_parent(parent);
    set_stale();
    return {};
  }
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
  join_parent(parent);
  if (!is_aside_ && bind_outside_links()) parent.check_children();
  const Status built = is_same ? Status{} : rebuild();
  if (!is_aside_) maps_->lod_->bound(*this);
  return built;
}

/// Those that lead into the parent map. True: an entity of that has more children than it declares.
bool MapContents::bind_outside_links() {
  bool any_over = false;
  for (Entity* const entity : entities_) {
    if (entity == nullptr || !entity->lod().has_parent() || !entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    any_over |= bind(*entity, *parent_);
  }
  return any_over;
}

/// Another version comes into force. Requires: hidden.
void MapContents::go_aside() {
  is_aside_ = true;
  unbind_links();
}

void MapContents::come_into_force() {
  is_aside_ = false;
  if (parent_ == nullptr) return;
  if (bind_outside_links()) parent_->check_children();
  maps_->lod_->bound(*this);
}

/// Its slot is another one.
void MapContents::tell_slot() {
  for (Entity* const entity : all()) {
    if (entity != nullptr) entity->set_imap(slot_);
  }
  for (const Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    for (Entity* const entity : i->entities_) {
      if (entity != nullptr) entity->set_imap(slot_);
    }
  }
  if (node_ != nullptr) node_->imap = slot_;
}

void MapContents::unbind_parent() {
  if (parent_ == nullptr) return;
  MapContents& parent = *parent_;
  unbind_links();
  leave_parent();
  if (is_loading()) {
    set_stale();
  } else {
    maps_->lod_->unbound(*this, parent);
  }
}

/// Those that lead into the parent map.
void MapContents::unbind_links() {
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

/// The world's origin moved.
void MapContents::place_anew() {
  if (is_loading()) return set_stale();
  const WorldOrigin& origin = maps_->config_.world->origin();
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    if (entities_[i] != nullptr) move_to_origin(*entities_[i], *map_->entities()->Get(i), origin);
  }
  for (uint32_t i = prop_list_count(); i < batch_count(); ++i) {
    Vec3 half;
    if (batches_[i] != nullptr) move_to_origin(*batches_[i], definition_of_batch(i, half), origin);
  }
  (void)rebuild();
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) i->place_anew();
  if (!is_shown_) return;
  maps_->remove_occluders(*this);
  maps_->add_occluders(*this);
}

/// Entities whose archetype is not what its name means go on with that. True: the name of some means nothing.
/// Requires: not locked. While it loads, nothing: check_meaning() has seen to it.
bool MapContents::take_archetypes() {
  if (is_loading()) return false;
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  detail::Resolver resolver(*maps_->config_.archetypes, classes, nullptr);
  detail::ByOwner<schema::MloInstanceDef> instances(map_->mlo_instances());
  bool any = false, any_interior = false, waits = false;
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    Entity* const entity = entities_[i];
    if (entity == nullptr || entity->archetype()->is_in_force()) continue;
    const detail::Resolved now = resolver.find(entity->archetype()->name().value);
    waits |= now.archetype == nullptr;
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
  any |= take_batch_archetypes(waits);
  if (any) (void)rebuild();
  if (any_interior) {
    if (const Status s = make_all_interiors(); !s.ok()) {
      log_message(LogLevel::error, name_, "map %s: not all interiors could be made: %s", name_text(name_).text,
                  s.message);
    }
  }
  for (Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    const InteriorArchetype* const interior = i->instance().archetype()->as<InteriorArchetype>();
    if (any_interior && (interior == nullptr || i->definition() != interior->definition())) i->restart();
    waits |= i->take_archetypes();
    if (is_shown_) (void)i->show();
  }
  return waits;
}

Status MapContents::destroy_entity(uint32_t index) {
  Entity* const entity = this->entity(index);
  const bool may_come = loading_ != nullptr && index < entity_count_ && !loading_->gone[index];
  if (entity == nullptr && !may_come) {
    return {StatusCode::not_found, "no such entity of the map; detail = its index", index, name_};
  }
  SceneRepresentation& scene = *maps_->config_.scene;
  if (scene.graph().is_locked()) return {StatusCode::in_use, "the scene is locked: defer the destruction", 0, name_};
  if (loading_ != nullptr) loading_->gone[index] = true;
  if (entity == nullptr) return {};
  if (!entity->container().is_none()) (void)scene.remove(*entity);
  drop_entity(index);
  maps_->lod_->left(*this, index);
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
  if (is_told_of(index)) maps_->config_.host.destroyed(entity);
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

/// From any state that passes of a load may leave. What the map is linked to stays, and that it loads.
void MapContents::take_back() {
  SceneGraph& graph = maps_->config_.scene->graph();
  unbind_links();
  while (first_interior_ != nullptr) {
    Interior* const interior = first_interior_;
    first_interior_ = interior->next_in_map_;
    interior->unload();
    maps_->interiors_.destroy(*interior);
  }
  const std::span<Entity*> entities = all();
  const size_t told = is_told_ ? entities.size() : loading_ != nullptr ? loading_->told : 0;
  for (size_t i = 0; i < entities.size(); ++i) {
    Entity* const entity = entities[i];
    if (entity == nullptr) continue;
    if (!entity->container().is_none() && !is_in_blocks(*entity)) (void)maps_->config_.scene->remove(*entity);
    entity->set_container({});
    if (i < told) maps_->config_.host.destroyed(*entity);
  }
  if (node_ != nullptr) (void)graph.destroy(*node_);
  node_ = nullptr;
  if (group_) maps_->config_.scene->table().remove_group(group_);
  group_ = {};
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  for (Entity*& entity : entities) {
    if (entity == nullptr) continue;
    classes.destroy(*entity);
    entity = nullptr;
  }
  for (EntityBatch& data : batch_data_) data.~EntityBatch();
  entities_ = batches_ = {};
  batch_data_ = {};
  created_ = batches_created_ = 0;
  used_cooked_ = is_told_ = false;
  free_links();
  links_ = {};
  lod_ids_ = lod_heads_ = lod_next_ = {};
  arrays_.free();
}

/// From any state that begin() and step() may leave.
void MapContents::unload() {
  (void)hide();
  while (first_child_ != nullptr) first_child_->unbind_parent();
  take_back();
  if (parent_ != nullptr) leave_parent();
  if (loading_ != nullptr) end_loading();
}

}  // namespace meridian
