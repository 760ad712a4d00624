// SPDX-License-Identifier: MIT
// The passes that make the entities of a map, link them and tell of them. Those that make descriptors: map_blocks.cpp.
// In what order they come: map_load.cpp.
#include <algorithm>

#include "map/extension_type.h"
#include "map/loading.h"
#include "meridian/base/assert.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_batch.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

using detail::has_flag;
using detail::size_of;
using schema::EntityFlags;

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

/// Entities that an interior brings, whatever sets are on.
uint32_t interior_size(const schema::MloArchetypeDef* definition) {
  if (definition == nullptr) return 1;
  uint32_t out = 1 + size_of(definition->entities());
  for (uint32_t s = 0; s < size_of(definition->entity_sets()); ++s) {
    out += size_of(definition->entity_sets()->Get(s)->entities());
  }
  return out;
}

}  // namespace

// --- entities ------------------------------------------------------------------------------------------

Status MapContents::find_archetypes(Loading& in) {
  const auto [first, last] = in.piece(in.count);
  for (uint32_t i = first; i < last; ++i) {
    const schema::EntityDef& e = *map_->entities()->Get(i);
    const detail::Resolved found = in.resolver.find(e.archetype_name());
    in.archetypes[i] = found.archetype;
    in.types[i] = Loading::kNotMade;
    const bool is_elsewhere = e.parent_index() >= 0 && has_flag(e, EntityFlags::lod_in_parent);
    in.parents[i] = is_elsewhere ? lod_parent_of(i, parent_) : LodParent{};
    const bool is_instance = in.instances.next(i) != nullptr;
    if (found.archetype == nullptr) {
      in.traits[i] = nullptr;
      ++in.said.missing_archetype;
      if (maps_->missing_.first(e.archetype_name())) {
        log_message(LogLevel::warning, NameHash{e.archetype_name()},
                    "map %s: archetype %s is in none of its %zu type files: entity %u is left out",
                    name_text(name_).text, name_text(NameHash{e.archetype_name()}).text, in.dependencies.size(), i);
      }
      continue;
    }
    in.traits[i] = &found.archetype->traits();
    const bool is_wanted = static_cast<uint32_t>(e.priority_level()) <= in.priority_cap ||
                           has_flag(e, EntityFlags::is_static) || is_instance ||
                           found.type == EntityClass::interior_instance;
    if (!is_wanted) {
      ++in.said.above_cap;
      continue;
    }
    in.host_fills |= found.type != found.archetype->traits().entity_class;
    if (in.gone[i]) continue;
    in.types[i] = static_cast<uint8_t>(found.type);
    ++in.counts[static_cast<unsigned>(found.type)];
    in.has_interiors |= found.archetype->form() == ArchetypeForm::interior;
  }
  return {};
}

/// Whether the linker's blocks are what would be built.
Status MapContents::check_cooked(Loading& in) {
  if (in.at == 0) {
    const EntityClassRegistry& classes = maps_->config_.scene->classes();
    for (unsigned type = 0; type < kMaxEntityClasses; ++type) {
      const bool fills = in.counts[type] > 0 && classes.info(static_cast<EntityClass>(type)).desc.fill != nullptr;
      in.host_fills = in.host_fills || fills;
    }
    in.may_use_cooked =
        in.count > 0 && map_->cooked() != nullptr && !in.host_fills && maps_->config_.world->origin() == WorldOrigin{};
  }
  in.is_over = true;
  if (!in.may_use_cooked) return {};
  const auto [first, last] = in.piece(in.count);
  in.fingerprint = descriptor_fingerprint({map_, in.traits, in.parents}, in.fingerprint, first, last);
  if (!in.is_over) return {};
  in.use_cooked = cooked_blocks_match(*map_, in.fingerprint);
  if (!in.use_cooked && maps_->rebuilt_.first(name_.value)) {
    log_message(LogLevel::info, name_,
                "map %s: archetypes or LOD parents have changed since it was linked: its blocks are built anew",
                name_text(name_).text);
  }
  return {};
}

/// Memory for all entities, and handles for them.
Status MapContents::take_arrays(Loading& in) {
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  const uint32_t props = prop_list_count(), lists = props + parts().grass_batch_count();
  in.counts[static_cast<unsigned>(EntityClass::prop_batch)] += props;
  in.counts[static_cast<unsigned>(EntityClass::grass_batch)] += lists - props;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
  const size_t pointers = (size_t{in.count} + lists) * sizeof(Entity*);
  const size_t data_at = (pointers + alignof(EntityBatch) - 1) / alignof(EntityBatch) * alignof(EntityBatch);
  const size_t lod_at = lists > 0 ? data_at + lists * sizeof(EntityBatch) : pointers;
  const uint32_t rows = lod_rows();
  const size_t extra = lod_at + (size_t{rows} * 2 + in.count) * sizeof(uint32_t);
  if (const Status s = arrays_.init(classes, in.counts, extra, *maps_->allocator_); !s.ok()) return s;
  auto** const first = reinterpret_cast<Entity**>(arrays_.extra().data());
  entities_ = {first, in.count};
  batches_ = {first + in.count, lists};
  std::fill_n(first, in.count + lists, nullptr);
  if (lists > 0) batch_data_ = {reinterpret_cast<EntityBatch*>(arrays_.extra().data() + data_at), lists};
  for (EntityBatch& data : batch_data_) ::new (static_cast<void*>(&data)) EntityBatch;
  take_lod_memory(arrays_.extra().subspan(lod_at), rows);
  group_ = maps_->config_.scene->table().add_group(all(), name_);
  if (!group_) {
    return {StatusCode::out_of_slots, "no group of entities is free; detail = entities", in.count + lists, name_};
  }
  in.is_over = true;
  return {};
}

Status MapContents::make_entities(Loading& in) {
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  const bool is_moved = !(maps_->config_.world->origin() == WorldOrigin{});
  EntityInit how{.imap = slot_, .map = name_, .messages = &maps_->said_};
  const auto [first, last] = in.piece(in.count);
  for (uint32_t i = first; i < last; ++i) {
    const bool is_instance = in.instances.next(i) != nullptr;
    if (in.types[i] == Loading::kNotMade || in.gone[i]) continue;
    const auto type = static_cast<EntityClass>(in.types[i]);
    const schema::EntityDef& e = *map_->entities()->Get(i);
    Entity* const entity = arrays_.make(classes, type);
    how.is_interior = is_instance;
    how.has_lod_set = e.parent_index() >= 0;
    const DescStatus made = make_entity(*entity, e, *in.archetypes[i], how, is_moved);
    if (!is_made(made)) {
      classes.destroy(*entity);
      arrays_.unmake(type);
      tell_bad(i, made);
      continue;
    }
    entities_[i] = entity;
    ++created_;
  }
  maps_->config_.scene->table().put_stored(group_, first, last);
  return {};
}

void MapContents::tell_bad(uint32_t index, DescStatus why) {
  ++statistics().bad_definition;
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

// --- extensions ----------------------------------------------------------------------------------------

void detail::add_extensions(const MapWorldConfig& config, ImapSlot slot, const ExtensionDefs* definitions,
                            uint32_t first, uint32_t last, std::span<Entity* const> entities) {
  for (uint32_t d = first; d < last; ++d) {
    const schema::Extension* const definition = definitions->Get(d);
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

Status MapContents::make_extensions(Loading& in) {
  const auto [first, last] = in.piece(size_of(map_->entity_extensions()));
  detail::add_extensions(maps_->config_, slot_, map_->entity_extensions(), first, last, entities_);
  return {};
}

// --- links ---------------------------------------------------------------------------------------------

Status MapContents::bind_inside(Loading& in) {
  const auto [first, last] = in.piece(in.count);
  for (Entity* const entity : entities_.subspan(first, last - first)) {
    if (entity == nullptr || !entity->lod().has_parent() || entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    in.any_over |= bind(*entity, *this);
  }
  if (!in.is_over) return {};
  if (in.any_over) check_children();
  in.any_over = false;
  return {};
}

Status MapContents::bind_outside(Loading& in) {
  in.is_over = true;
  if (parent_ == nullptr || is_aside_) return {};
  const auto [first, last] = in.piece(in.count);
  for (Entity* const entity : entities_.subspan(first, last - first)) {
    if (entity == nullptr || !entity->lod().has_parent() || !entity->lod().has(LodFlag::parent_in_parent_map)) continue;
    in.any_over |= bind(*entity, *parent_);
  }
  if (in.is_over && in.any_over) parent_->check_children();
  return {};
}

/// Binds an entity to its LOD parent, if that is there. True: the parent now has more children than it declares.
bool MapContents::bind(Entity& child, const MapContents& in) {
  const auto index = static_cast<uint32_t>(child.lod().parent);
  Entity* const parent = in.entity(index);
  if (parent == nullptr || parent == &child || !bind_lod(child.lod(), parent->lod())) return false;
  return parent->lod().bound_children > in.map_->entities()->Get(index)->num_children();
}

// --- the host ------------------------------------------------------------------------------------------

Status MapContents::tell_host(Loading& in) {
  const EntityHost& host = maps_->config_.host;
  in.is_over = true;
  if (host.on_create != nullptr) {
    const auto [first, last] = in.piece(static_cast<uint32_t>(all().size()));
    for (uint32_t i = first; i < last && !in.is_stale; ++i) {
      in.told = i + 1;
      Entity* const entity = all()[i];
      if (entity == nullptr) continue;
      host.created(*entity);
      if (all()[i] == entity && !entity->is_visible()) (void)maps_->config_.scene->update(*entity);
    }
  }
  if (!in.is_over || in.is_stale) return {};
  is_told_ = true;
  maps_->statistics_.created += created_;
  maps_->statistics_.batches += batches_created_;
  return {};
}

// --- interiors -----------------------------------------------------------------------------------------

Status MapContents::make_interiors(Loading& in) {
  while (in.has_interiors && in.at < in.count) {
    Entity* const entity = entities_[in.at];
    const InteriorArchetype* const archetype =
        entity != nullptr ? entity->archetype()->as<InteriorArchetype>() : nullptr;
    const uint32_t size = archetype != nullptr ? interior_size(archetype->definition()) : 1;
    if (!in.may_take(size)) return {};
    in.take(size);
    if (const Status s = make_interior(in.at, in.instances.next(in.at)); !s.ok()) return s;
    ++in.at;
  }
  in.is_over = true;
  return {};
}

/// If the entity stands for one that is not there yet.
Status MapContents::make_interior(uint32_t index, const schema::MloInstanceDef* more) {
  Entity* const entity = entities_[index];
  if (entity == nullptr || entity->archetype()->as<InteriorArchetype>() == nullptr) return {};
  if (interior_of(*entity) != nullptr) return {};
  Interior* const interior = maps_->interiors_.create();
  if (interior == nullptr) {
    return {StatusCode::out_of_slots, "no interior is free; detail = most", maps_->interiors_.capacity(), name_};
  }
  Interior** last = &first_interior_;
  while (*last != nullptr) last = &(*last)->next_in_map_;
  *last = interior;
  return interior->load(*maps_, *this, *entity, more);
}

/// Of all entities that stand for one and have none yet.
Status MapContents::make_all_interiors() {
  Loading::Instances instances(map_->mlo_instances());
  for (uint32_t i = 0; i < entities_.size(); ++i) {
    const schema::MloInstanceDef* const more = instances.next(i);
    if (const Status s = make_interior(i, more); !s.ok()) return s;
  }
  return {};
}

}  // namespace meridian
