// SPDX-License-Identifier: MIT
// From an opened map to entities and blocks. What the contents do later: map_contents.cpp.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "map/extension_type.h"
#include "map/loading.h"
#include "map/resolve.h"
#include "meridian/base/assert.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/map/map_world.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

using detail::has_flag;
using schema::EntityFlags;

using Instances = detail::ByOwner<schema::MloInstanceDef>;

const char* reason(DescStatus status) {
  switch (status) {
    case DescStatus::bad_position:
      return "its position is not finite";
    case DescStatus::bad_rotation:
      return "its rotation is zero or not finite";
    case DescStatus::bad_scale:
      return "its scale is zero or not finite";
    case DescStatus::bad_distance:
      return "it has no draw distance above 1 m";
    case DescStatus::bad_bounds:
      return "its box is not finite";
    default:
      return "it cannot be made";
  }
}

}  // namespace

Status MapContents::find_archetypes(Loading& in) {
  const uint32_t n = in.count;
  detail::Resolver resolver(*maps_->config_.archetypes, maps_->config_.scene->classes(), &in.placement.dependencies);
  Instances instances(map_->mlo_instances());
  for (uint32_t i = 0; i < n; ++i) {
    const schema::EntityDef& e = *map_->entities()->Get(i);
    const detail::Resolved found = resolver.find(e.archetype_name());
    in.archetypes[i] = found.archetype;
    in.types[i] = Loading::kNotMade;
    if (e.parent_index() >= 0 && has_flag(e, EntityFlags::lod_in_parent)) {
      in.parents[i] = lod_parent_of(i, in.placement.parent);
    }
    const bool is_instance = instances.next(i) != nullptr;
    if (found.archetype == nullptr) {
      in.traits[i] = nullptr;
      ++maps_->statistics_.missing_archetype;
      if (maps_->missing_.first(e.archetype_name())) {
        log_message(LogLevel::warning, NameHash{e.archetype_name()},
                    "map %s: archetype %s is in none of its %zu type files: entity %u is left out",
                    name_text(name_).text, name_text(NameHash{e.archetype_name()}).text,
                    in.placement.dependencies.size(), i);
      }
      continue;
    }
    in.traits[i] = &found.archetype->traits();
    const bool is_wanted = static_cast<uint32_t>(e.priority_level()) <= in.placement.priority_cap ||
                           has_flag(e, EntityFlags::is_static) || is_instance ||
                           found.type == EntityClass::interior_instance;
    if (!is_wanted) {
      ++maps_->statistics_.above_cap;
      continue;
    }
    in.types[i] = static_cast<uint8_t>(found.type);
    ++in.counts[static_cast<unsigned>(found.type)];
    in.has_interiors |= found.archetype->form() == ArchetypeForm::interior;
    in.host_fills |= found.type != found.archetype->traits().entity_class;
  }
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  for (unsigned type = 0; type < kMaxEntityClasses; ++type) {
    const bool fills = in.counts[type] > 0 && classes.info(static_cast<EntityClass>(type)).desc.fill != nullptr;
    in.host_fills = in.host_fills || fills;
  }
  const MapDescInput desc_input{map_, in.traits, in.parents};
  const bool is_moved = !(maps_->config_.world->origin() == WorldOrigin{});
  in.use_cooked =
      n > 0 && !in.host_fills && !is_moved && cooked_blocks_match(*map_, descriptor_fingerprint(desc_input));
  if (n > 0 && !in.use_cooked && map_->cooked() != nullptr && !in.host_fills && !is_moved &&
      maps_->rebuilt_.first(name_.value)) {
    log_message(LogLevel::info, name_,
                "map %s: archetypes or LOD parents have changed since it was linked: its blocks are built anew",
                name_text(name_).text);
  }
  return {};
}

void MapContents::make_entities(Loading& in) {
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  const WorldOrigin& origin = maps_->config_.world->origin();
  const bool is_moved = !(origin == WorldOrigin{});
  const uint32_t hour = maps_->config_.scene->hour();
  Instances instances(map_->mlo_instances());
  EntityInit how{.imap = slot_, .map = name_, .messages = &maps_->said_};
  for (uint32_t i = 0; i < in.count; ++i) {
    const bool is_instance = instances.next(i) != nullptr;
    if (in.types[i] == Loading::kNotMade) continue;
    const auto type = static_cast<EntityClass>(in.types[i]);
    const schema::EntityDef& e = *map_->entities()->Get(i);
    Entity* const entity = arrays_.make(classes, type);
    how.is_interior = is_instance;
    how.has_lod_set = e.parent_index() >= 0;
    const DescStatus made = init_entity(*entity, e, *in.traits[i], in.archetypes[i], how);
    if (!is_made(made)) {
      classes.destroy(*entity);
      arrays_.unmake(type);
      in.types[i] = Loading::kNotMade;
      tell_bad(i, made);
      continue;
    }
    if (is_moved) move_to_origin(*entity, e, origin);
    if (in.traits[i]->is_timed) {
      const TimeArchetype* const timed = in.archetypes[i]->as<TimeArchetype>();
      (void)set_hour(*entity, true, timed != nullptr ? timed->hours() : kAllHours, hour);
    }
    if (in.archetypes[i]->has_spawn_points()) entity->set_flags(BaseFlag::spawn_points);
    entities_[i] = entity;
    ++created_;
  }
}

void MapContents::tell_bad(uint32_t index, DescStatus why) {
  ++maps_->statistics_.bad_definition;
  const NameHash archetype{map_->entities()->Get(index)->archetype_name()};
  if (!maps_->bad_.first(archetype.value ^ static_cast<uint32_t>(why))) return;
  log_message(LogLevel::warning, archetype, "map %s: entity %u (%s) is left out: %s", name_text(name_).text, index,
              name_text(archetype).text, reason(why));
}

/// Positions of map data count from where the origin was at first.
void MapContents::move_to_origin(Entity& entity, const schema::EntityDef& e, const WorldOrigin& origin) {
  if (attached_to(entity) != nullptr) return;  // it moves with that
  Transform to = entity.transform();
  const Vec3 at = moved(Vec3{e.position().x(), e.position().y(), e.position().z()}, origin);
  to.position = {at.x, at.y, at.z, to.position.w};
  place(entity, to);
}

// --- blocks --------------------------------------------------------------------------------------------

Status MapContents::make_blocks(Loading& in) {
  if (created_ == 0) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  node_ = graph.create_streamed();
  if (node_ == nullptr)
    return {StatusCode::out_of_slots, "no node for a map is free", graph.capacities().streamed_nodes};
  node_->imap = slot_;
  graph.set_node_flag(*node_, kNodeHd, (static_cast<uint32_t>(map_->content_flags()) & 1u) != 0);
  used_cooked_ = in.use_cooked;
  if (!in.use_cooked) {
    ++maps_->statistics_.blocks_built;
    return build_blocks_now(in.traits, in.parents);
  }
  ++maps_->statistics_.blocks_copied;
  const CookedView view = cooked_view(*map_);
  links_ = view.links;
  if (const Status s = graph.add_blocks(*node_, {view.containers, view.sub_blocks, view.lanes, links_, group_});
      !s.ok()) {
    return s;
  }
  tag_entities();
  return {};
}

/// Makes descriptors of the entities as they stand, and blocks of those.
Status MapContents::build_blocks_now(std::span<const ArchetypeTraits* const> traits,
                                     std::span<const LodParent> parents) {
  const auto n = static_cast<uint32_t>(entities_.size());
  Allocator& allocator = *maps_->allocator_;
  free_links();
  links_ = {};
  if (const size_t bound = lod_link_bound(*map_); bound > 0) {
    auto* const rows = static_cast<LodLinkRow*>(allocator.allocate(bound * sizeof(LodLinkRow), alignof(LodLinkRow)));
    if (rows == nullptr) return {StatusCode::out_of_memory, "no memory for LOD links; detail = rows", bound};
    own_links_ = {rows, bound};
    const Result<uint32_t> used = link_map({map_, traits, parents}, own_links_);
    if (!used.ok()) return used.status();
    const WorldOrigin& o = maps_->config_.world->origin();
    for (LodLinkRow& row : own_links_.first(used.value())) {
      row.pivot = moved(row.pivot, o);
    }
    links_ = own_links_.first(used.value());
  }
  const BlockCounts counts = block_counts(n);
  detail::TempBlock temp(allocator);
  const auto plan_descs = temp.plan<EntityDesc>(n);
  const auto plan_scratch = temp.plan<std::byte>(counts.scratch_bytes),
             plan_lanes = temp.plan<std::byte>(counts.lane_bytes);
  const auto plan_containers = temp.plan<DescContainer>(counts.containers);
  const auto plan_sub_blocks = temp.plan<DescBounds>(counts.sub_blocks);
  const auto plan_slots = temp.plan<uint32_t>(n);
  if (const Status s = temp.take(); !s.ok()) return s;
  const std::span<EntityDesc> descs = temp.make(plan_descs);
  for (uint32_t i = 0; i < n; ++i) {
    descs[i].handle = i;
    if (entities_[i] == nullptr || !entities_[i]->container().is_none()) continue;
    EntityDesc desc;
    const Status made = maps_->config_.scene->describe_entity_now(*entities_[i], link_of(*map_, links_, i), desc);
    if (!made.ok()) continue;  // never visible; tag_entities takes the entity out
    descs[i] = desc;
    descs[i].handle = i;
  }
  const BlockSpans blocks{temp.make(plan_containers), temp.make(plan_sub_blocks), temp.raw(plan_lanes),
                          temp.raw(plan_slots)};
  build_blocks(descs, temp.raw(plan_scratch), blocks);
  const Status added = maps_->config_.scene->graph().add_blocks(
      *node_, {blocks.containers, blocks.sub_blocks, blocks.lanes, links_, group_});
  if (added.ok()) tag_entities();
  return added;
}

void MapContents::free_links() {
  if (!own_links_.empty()) {
    maps_->allocator_->deallocate(own_links_.data(), own_links_.size_bytes(), alignof(LodLinkRow));
  }
  own_links_ = {};
}

/// Tells entities where their descriptors are, and descriptors what blocks do not hold: hours, spawn points, what is
/// hidden. Entities and descriptors that have no other half are taken out.
void MapContents::tag_entities() {
  constexpr uint32_t kAhead = 8;  // blocks are in the order of a curve, entities in that of the file
  SceneGraph& graph = maps_->config_.scene->graph();
  bool any_spawn_points = false;
  for (uint32_t c = node_->first_container(); c != kNoContainer;) {
    const uint32_t next = graph.next_container(c);
    const ContainerView& view = graph.containers().views[c];
    const DescLanes lanes = desc_lanes(view);
    const uint32_t slots = view.slots;
    for (uint32_t slot = 0; slot < slots; ++slot) {
      const uint32_t index = lanes.entity[slot];
      if (index >= entities_.size()) continue;
      if (slot + kAhead < slots && lanes.entity[slot + kAhead] < entities_.size()) {
        const Entity* const soon = entities_[lanes.entity[slot + kAhead]];
        if (soon != nullptr) __builtin_prefetch(&soon->lod());
      }
      Entity* const entity = entities_[index];
      if (entity == nullptr) {
        if (lanes.distance[slot] != 0) (void)graph.erase({c, slot});
        continue;
      }
      if (lanes.distance[slot] == 0) {
        if (!entity->container().is_none()) continue;  // it stands elsewhere
        tell_bad(index, entity->lod().distance == 0 ? DescStatus::bad_distance : DescStatus::bad_bounds);
        drop_entity(index);
        continue;
      }
      entity->set_container(ContainerTag::in_container(c, slot));
      uint16_t off = 0, on = 0;
      if ((lanes.flags[slot] & kDescTimed) != 0 && entity->has(BaseFlag::off_hours)) off |= kDescActive;
      if (entity->has(BaseFlag::spawn_points)) on |= kDescSpawnPoints;
      if (!entity->is_visible()) on |= kDescHidden;  // the host may have hidden it when it was told of it
      any_spawn_points = any_spawn_points || (on & kDescSpawnPoints) != 0;
      if ((off | on) != 0) (void)graph.set_flags({c, slot}, static_cast<uint16_t>(off | on), on);
    }
    c = next;
  }
  if (any_spawn_points) graph.set_node_flag(*node_, kNodeSpawnPoints, true);
}

// --- links and extensions ------------------------------------------------------------------------------

void detail::add_extensions(const MapWorldConfig& config, ImapSlot slot, const ExtensionDefs* definitions,
                            std::span<Entity* const> entities) {
  if (definitions == nullptr) return;
  for (const schema::Extension* definition : *definitions) {
    Entity* const entity = definition->owner() < entities.size() ? entities[definition->owner()] : nullptr;
    if (entity == nullptr) continue;
    const auto kind = definition->definition_type();
    if (kind == schema::ExtensionDef::SpawnPointDef || kind == schema::ExtensionDef::SpawnPointOverrideDef) {
      entity->set_flags(BaseFlag::spawn_points);
    }
    if (config.extensions == nullptr) continue;
    Extension* const made = config.extensions->create(detail::extension_structure(*definition), slot);
    if (made == nullptr) continue;  // the registry said why
    if (config.read_extension.read != nullptr) {
      config.read_extension.read(config.read_extension.user, *made, *entity, *definition);
    }
    entity->extensions().add(*made);
  }
}

void MapContents::bind_inside() {
  bool any_over = false;
  for (Entity* const entity : entities_) {
    if (entity == nullptr || !entity->lod().has_parent() || entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    any_over |= bind(*entity, *this);
  }
  if (any_over) check_children();
}

/// Binds an entity to its LOD parent, if that is there. True: the parent now has more children than it declares.
bool MapContents::bind(Entity& child, const MapContents& in) {
  const auto index = static_cast<uint32_t>(child.lod().parent);
  Entity* const parent = in.entity(index);
  if (parent == nullptr || parent == &child || !bind_lod(child.lod(), parent->lod())) return false;
  return parent->lod().bound_children > in.map_->entities()->Get(index)->num_children();
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

// --- everything ----------------------------------------------------------------------------------------

Status MapContents::load(MapWorld& maps, const Resource& resource, const MapPlacement& placement) {
  maps_ = &maps;
  map_ = resource.root<schema::MapData>();
  slot_ = placement.slot;
  name_ = placement.name.value != 0 ? placement.name : NameHash{map_->name()};
  Loading in{placement, detail::size_of(map_->entities())};
  detail::TempBlock temp(*maps.allocator_);
  const auto plan_archetypes = temp.plan<Archetype*>(in.count);
  const auto plan_traits = temp.plan<const ArchetypeTraits*>(in.count);
  const auto plan_types = temp.plan<uint8_t>(in.count);
  const auto plan_parents = temp.plan<LodParent>(in.count);
  if (const Status s = temp.take(); !s.ok()) return s;
  in.archetypes = temp.raw(plan_archetypes);
  in.traits = temp.raw(plan_traits);
  in.types = temp.raw(plan_types);
  in.parents = temp.make(plan_parents);
  if (const Status s = find_archetypes(in); !s.ok()) return s;

  const EntityClassRegistry& classes = maps.config_.scene->classes();
  if (const Status s = arrays_.init(classes, in.counts, in.count * sizeof(void*), *maps.allocator_); !s.ok()) return s;
  entities_ = {reinterpret_cast<Entity**>(arrays_.extra().data()), in.count};
  std::fill(entities_.begin(), entities_.end(), nullptr);
  make_entities(in);
  group_ = maps.config_.scene->table().add_group(entities_, name_);
  if (!group_) return {StatusCode::out_of_slots, "no group of entities is free; detail = entities", in.count, name_};
  detail::add_extensions(maps.config_, slot_, map_->entity_extensions(), entities_);
  if (const Status s = make_blocks(in); !s.ok()) return s;
  is_told_ = true;
  if (maps.config_.host.on_create != nullptr) {
    for (Entity* const entity : entities_) {
      if (entity == nullptr) continue;
      maps.config_.host.created(*entity);
      if (!entity->is_visible()) (void)maps.config_.scene->update(*entity);
    }
  }
  maps.statistics_.created += created_;
  bind_inside();
  if (placement.parent != nullptr) bind_to_parent(*placement.parent);
  if (in.has_interiors) {
    if (const Status s = make_interiors(); !s.ok()) return s;
  }
  if (placement.postponed) return {};
  if (!maps.config_.world->is_locked()) return show();
  const auto show_it = [](World&, void* self, uint64_t slot) {
    MapContents* const at = static_cast<MapWorld*>(self)->find(static_cast<ImapSlot>(slot));
    if (at != nullptr) (void)at->show();
  };
  (void)maps.config_.world->defer(call_change(show_it, &maps, slot_));  // if no more fit, the log says so
  return {};
}

/// Of all entities that stand for one and have none yet.
Status MapContents::make_interiors() {
  Instances instances(map_->mlo_instances());
  Interior* last = first_interior_;
  while (last != nullptr && last->next_in_map_ != nullptr) last = last->next_in_map_;
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    const schema::MloInstanceDef* const more = instances.next(i);
    Entity* const entity = entities_[i];
    if (entity == nullptr || entity->archetype()->as<InteriorArchetype>() == nullptr) continue;
    if (interior_of(*entity) != nullptr) continue;
    Interior* const interior = maps_->interiors_.create();
    if (interior == nullptr) {
      return {StatusCode::out_of_slots, "no interior is free; detail = most", maps_->interiors_.capacity(), name_};
    }
    (last != nullptr ? last->next_in_map_ : first_interior_) = interior;
    last = interior;
    if (const Status s = interior->load(*maps_, *this, *entity, more); !s.ok()) return s;
  }
  return {};
}

Result<MapContents*> load_map_data(MapWorld& maps, const Resource& resource, const MapPlacement& placement) {
  if (resource.kind() != kind_of("IMAP")) {
    return Status{StatusCode::wrong_kind, "not a map; detail = its kind", resource.kind(), placement.name};
  }
  if (maps.find(placement.slot) != nullptr) {
    return Status{StatusCode::in_use, "a map is loaded in this slot; detail = the slot", placement.slot,
                  placement.name};
  }
  maps.refresh_archetypes();  // if there was no room to defer that
  MapContents* const contents = maps.contents_.create();
  if (contents == nullptr) {
    return Status{StatusCode::out_of_slots, "too many maps are loaded; detail = most", maps.contents_.capacity()};
  }
  const Status loaded = contents->load(maps, resource, placement);
  if (loaded.ok()) return contents;
  contents->unload();
  maps.contents_.destroy(*contents);
  return loaded;
}

Status unload_map_data(MapWorld& maps, MapContents& contents) {
  if (maps.config_.scene->graph().is_locked()) {
    return {StatusCode::in_use, "the scene is locked: unload after the unlock", 0, contents.name()};
  }
  contents.unload();
  maps.contents_.destroy(contents);
  return {};
}

}  // namespace meridian
