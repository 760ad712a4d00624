// SPDX-License-Identifier: MIT
// From the entities of a map to its node and the descriptors in it: the linker's blocks, or ones that are built, when a
// map is loaded and when what they show has changed.
#include <algorithm>

#include "map/loading.h"
#include "map/lod_sets.h"
#include "meridian/base/assert.h"
#include "meridian/entity/entity_batch.h"
#include "meridian/entity/entity_hours.h"

namespace meridian {
namespace {

/// Of an entity that somebody took out of the world, while blocks are made anew.
constexpr ContainerTag kTakenOut = ContainerTag::in_retaining_list(kLightList + 1);

}  // namespace

// --- passes of a load ----------------------------------------------------------------------------------

Status MapContents::make_node(Loading& in) {
  in.is_over = true;
  if (created_ == 0 && batches_created_ == 0) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  node_ = graph.create_streamed();
  if (node_ == nullptr)
    return {StatusCode::out_of_slots, "no node for a map is free", graph.capacities().streamed_nodes};
  node_->imap = slot_;
  graph.set_node_flag(*node_, kNodeHd, (static_cast<uint32_t>(map_->content_flags()) & 1u) != 0);
  used_cooked_ = in.use_cooked && created_ > 0;
  in.builds = !used_cooked_ && created_ > 0;
  if (created_ > 0) ++(used_cooked_ ? in.said.blocks_copied : in.said.blocks_built);
  // What begin() took was enough if the linker's blocks were right, and for the lists in any case.
  if (!in.builds || in.build_most >= in.count) return {};
  detail::TempBlock temp(*maps_->allocator_);
  const auto plan = detail::BlockMemory::plan(temp, std::max(in.count, batch_count()));
  if (const Status s = temp.take(); !s.ok()) return s;
  in.build = detail::BlockMemory::of(temp, plan);
  in.build_most = std::max(in.count, batch_count());
  in.more_memory = temp.release();
  return {};
}

Status MapContents::link_entities(Loading& in) {
  in.is_over = true;
  if (used_cooked_) {
    const CookedView view = cooked_view(*map_);
    links_ = view.links;
    in.blocks = {view.containers, view.sub_blocks, view.lanes, links_, group_, lod_set_ids()};
    return {};
  }
  if (!in.builds) return {};
  in.is_over = in.may_take(in.count);
  if (!in.is_over) return {};
  in.take(in.count);
  return make_links(in.traits, in.parents);
}

Status MapContents::describe_entities(Loading& in) {
  in.is_over = true;
  if (!in.builds) return {};
  const auto [first, last] = in.piece(in.count);
  describe(first, last, in.build.descs);
  return {};
}

Status MapContents::build_entity_blocks(Loading& in) {
  in.is_over = true;
  if (!in.builds) return {};
  in.is_over = in.may_take(in.count);
  if (!in.is_over) return {};
  in.take(in.count);
  const BlockSpans blocks = in.build.blocks(in.count);
  build_blocks(in.build.descs.first(in.count), in.build.scratch, blocks);
  in.blocks = {blocks.containers, blocks.sub_blocks, blocks.lanes, links_, group_, lod_set_ids()};
  return {};
}

/// Container by container: as many as fit, but one at least.
Status MapContents::place_blocks(Loading& in) {
  const auto containers = static_cast<uint32_t>(in.blocks.containers.size());
  const uint32_t first = in.at;
  while (in.at < containers && in.may_take(in.blocks.containers[in.at].count)) {
    in.take(in.blocks.containers[in.at++].count);
  }
  in.is_over = in.at == containers;
  if (in.at == first) return {};
  SceneBlocks some = in.blocks;
  some.containers = some.containers.subspan(first, in.at - first);
  return maps_->config_.scene->graph().add_blocks(*node_, some);
}

Status MapContents::place_batch_blocks(Loading& in) {
  in.is_over = batches_created_ == 0 || in.may_take(batch_count());
  if (!in.is_over || batches_created_ == 0) return {};
  in.take(batch_count());
  return add_batch_blocks(in.build);
}

Status MapContents::tag_containers(Loading& in) {
  in.is_over = true;
  if (node_ == nullptr) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (in.at == 0) {
    in.container = node_->first_container();
    in.slot = 0;
    in.at = 1;
  }
  while (in.container != kNoContainer) {
    const uint32_t slots = graph.containers().views[in.container].slots;
    if (in.left == 0) {
      in.is_over = false;
      return {};
    }
    // Its entities may have been told different hours, before descriptors were there to be told.
    if (in.hours_differ && in.slot == 0) maps_->config_.scene->apply_hour(in.container);
    const uint32_t last = in.slot + std::min(slots - in.slot, in.left);
    in.take(last - in.slot);
    tag(in.container, in.slot, last);
    in.slot = last;
    if (in.slot < slots) continue;
    in.container = graph.next_container(in.container);
    in.slot = 0;
  }
  return {};
}

// --- descriptors ---------------------------------------------------------------------------------------

/// LOD sets of the map, by what archetypes and parents are now.
Status MapContents::make_links(std::span<const ArchetypeTraits* const> traits, std::span<const LodParent> parents) {
  free_links();
  links_ = {};
  const size_t bound = lod_link_bound(*map_);
  if (bound == 0) return {};
  Allocator& allocator = *maps_->allocator_;
  auto* const rows = static_cast<LodLinkRow*>(allocator.allocate(bound * sizeof(LodLinkRow), alignof(LodLinkRow)));
  if (rows == nullptr) return {StatusCode::out_of_memory, "no memory for LOD links; detail = rows", bound};
  own_links_ = {rows, bound};
  const Result<uint32_t> used = link_map({map_, traits, parents}, own_links_);
  if (!used.ok()) return used.status();
  const WorldOrigin& o = maps_->config_.world->origin();
  for (LodLinkRow& row : own_links_.first(used.value())) row.pivot = moved(row.pivot, o);
  links_ = own_links_.first(used.value());
  return {};
}

void MapContents::free_links() {
  if (!own_links_.empty()) {
    maps_->allocator_->deallocate(own_links_.data(), own_links_.size_bytes(), alignof(LodLinkRow));
  }
  own_links_ = {};
}

/// Descriptors of entities as they stand; of those that have none, ones that are never visible.
void MapContents::describe(uint32_t first, uint32_t last, std::span<EntityDesc> descs) {
  for (uint32_t i = first; i < last; ++i) {
    descs[i] = {};
    descs[i].handle = i;
    if (entities_[i] == nullptr || !entities_[i]->container().is_none()) continue;
    EntityDesc desc;
    const Status made = maps_->config_.scene->describe_entity_now(*entities_[i], link_of(*map_, links_, i), desc);
    if (!made.ok()) continue;  // tag() takes the entity out
    descs[i] = desc;
    descs[i].handle = i;
  }
}

/// Tells entities where their descriptors are, and descriptors what blocks do not hold: hours, spawn points, what is
/// hidden. Entities and descriptors that have no other half are taken out. For slots [first, last) of a container.
void MapContents::tag(uint32_t container, uint32_t first, uint32_t last) {
  constexpr uint32_t kAhead = 8;  // blocks are in the order of a curve, entities in that of the file
  SceneGraph& graph = maps_->config_.scene->graph();
  const std::span<Entity* const> entities = all();
  const DescLanes lanes = desc_lanes(graph.containers().views[container]);
  bool any_spawn_points = false;
  for (uint32_t slot = first; slot < last; ++slot) {
    const uint32_t index = lanes.entity[slot];
    if (index >= entities.size()) continue;
    if (slot + kAhead < last && lanes.entity[slot + kAhead] < entities.size()) {
      const Entity* const soon = entities[lanes.entity[slot + kAhead]];
      if (soon != nullptr) __builtin_prefetch(&soon->lod());
    }
    Entity* const entity = entities[index];
    if (entity == nullptr) {
      if (lanes.distance[slot] != 0) (void)graph.erase({container, slot});
      continue;
    }
    if (!entity->container().is_none()) {  // it stands elsewhere
      if (lanes.distance[slot] != 0) (void)graph.erase({container, slot});
      continue;
    }
    if (lanes.distance[slot] == 0) {
      if (index >= entities_.size()) continue;  // of a prop list
      tell_bad(index, entity->lod().distance == 0 ? DescStatus::bad_distance : DescStatus::bad_bounds);
      drop_entity(index);
      continue;
    }
    entity->set_container(ContainerTag::in_container(container, slot));
    uint16_t off = 0, on = 0;
    if ((lanes.flags[slot] & kDescTimed) != 0 && entity->has(BaseFlag::off_hours)) off |= kDescActive;
    if (entity->has(BaseFlag::spawn_points)) on |= kDescSpawnPoints;
    if (!entity->is_visible()) on |= kDescHidden;  // the host may have hidden it when it was told of it
    any_spawn_points = any_spawn_points || (on & kDescSpawnPoints) != 0;
    if ((off | on) != 0) (void)graph.set_flags({container, slot}, static_cast<uint16_t>(off | on), on);
  }
  if (any_spawn_points) graph.set_node_flag(*node_, kNodeSpawnPoints, true);
}

/// Pivot and distance of the set in which an entity of this map is a child, its parent being in `parent`.
LodParent MapContents::lod_parent_of(uint32_t entity, const MapContents* parent) const {
  const schema::EntityDef& e = *map_->entities()->Get(entity);
  const auto index = static_cast<uint32_t>(e.parent_index());
  if (parent == nullptr) {
    // Not there: what the linker saw is as good as any.
    if (map_->cooked() == nullptr || map_->cooked()->layout_version() != kCookedLayoutVersion) return {};
    const LodLinkRow* const row = find_link(cooked_view(*map_).links, true, index);
    return row != nullptr ? LodParent{row->pivot, row->distance} : LodParent{};
  }
  if (index >= parent->entities_.size()) return {};  // the set is there even where its parent was left out
  const LodLinkRow* const row = find_link(parent->links_, false, index);
  if (row == nullptr) return {};
  const schema::Vec3& at = parent->map_->entities()->Get(index)->position();
  return {{at.x(), at.y(), at.z()}, row->distance};
}

// --- anew ----------------------------------------------------------------------------------------------

/// False for entities that were taken out of the world by themselves, even if they were put back since: then they stand
/// among those of hosts.
bool MapContents::is_in_blocks(const Entity& entity) const {
  const ContainerTag tag = entity.container();
  return tag.is_in_container() && maps_->config_.scene->graph().node_of(tag.container()) == node_;
}

/// Makes all descriptors anew, but for those of entities that were taken out. Without memory there are none, which is
/// told: old ones would be wrong. Requires: not locked, not loading.
Status MapContents::rebuild() {
  // Children that are loading took distances from the links of this.
  for (MapContents* child = first_child_; child != nullptr; child = child->next_sibling_) {
    if (child->is_loading()) child->set_stale();
  }
  if (node_ == nullptr) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (graph.is_locked()) return {StatusCode::in_use, "the scene is locked: rebuild after the unlock", 0, name_};
  maps_->lod_->rebuilding();
  const bool has_blocks = node_->first_container() != kNoContainer;  // there are none if this failed before
  for (Entity* const entity : all()) {
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
  for (Entity* const entity : all()) {
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
  maps_->lod_->rebuilt(*this);
  return built;
}

/// By what archetypes and parents are now. Entities that are not there still count for the distances of their sets, as
/// they did when the map was loaded.
Status MapContents::build_blocks_anew() {
  detail::TempBlock temp(*maps_->allocator_);
  const auto plan_traits = temp.plan<const ArchetypeTraits*>(entity_count_);
  const auto plan_parents = temp.plan<LodParent>(entity_count_);
  const auto plan_build = detail::BlockMemory::plan(temp, std::max(entity_count_, batch_count()));
  if (const Status s = temp.take(); !s.ok()) return s;
  const std::span<const ArchetypeTraits*> traits = temp.make(plan_traits);
  const std::span<LodParent> parents = temp.make(plan_parents);
  const detail::BlockMemory memory = detail::BlockMemory::of(temp, plan_build);
  for (uint32_t i = 0; i < entity_count_; ++i) {
    const schema::EntityDef& e = *map_->entities()->Get(i);
    const Archetype* const archetype = entities_[i] != nullptr
                                           ? entities_[i]->archetype()
                                           : maps_->config_.archetypes->find(NameHash{e.archetype_name()});
    if (archetype != nullptr) traits[i] = &archetype->traits();
    const bool is_elsewhere = e.parent_index() >= 0 && detail::has_flag(e, schema::EntityFlags::lod_in_parent);
    if (is_elsewhere) parents[i] = lod_parent_of(i, parent_);
  }
  SceneGraph& graph = maps_->config_.scene->graph();
  if (created_ > 0) {
    if (const Status s = make_links(traits, parents); !s.ok()) return s;
    describe(0, entity_count_, memory.descs);
    const BlockSpans blocks = memory.blocks(entity_count_);
    build_blocks(memory.descs.first(entity_count_), memory.scratch, blocks);
    const Status added =
        graph.add_blocks(*node_, {blocks.containers, blocks.sub_blocks, blocks.lanes, links_, group_, lod_set_ids()});
    if (!added.ok()) return added;
  }
  Status added;
  if (batches_created_ > 0) added = add_batch_blocks(memory);
  for (uint32_t c = node_->first_container(); c != kNoContainer;) {
    const uint32_t next = graph.next_container(c);
    tag(c, 0, graph.containers().views[c].slots);
    c = next;
  }
  return added;
}

}  // namespace meridian
