// SPDX-License-Identifier: MIT
#include "meridian/map/interior.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "map/loading.h"
#include "map/resolve.h"
#include "meridian/base/assert.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/map/map_world.h"
#include "meridian/schemas/ityp_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

using detail::size_of;

Vec3 vec(const schema::Vec3& v) { return {v.x(), v.y(), v.z()}; }

constexpr uint32_t kPortalLocation = 1u << 31;  ///< in an entity set's locations: a portal, not a room

/// From the world to the interior's space. Interiors are turned and moved; a scale is undone along each axis.
Vec3 to_local(const Transform& at, const Vec3& point) {
  const double x = double{point.x} - at.position.x, y = double{point.y} - at.position.y,
               z = double{point.z} - at.position.z;
  const auto along = [&](const Vec4& axis) {
    const double square = double{axis.x} * axis.x + double{axis.y} * axis.y + double{axis.z} * axis.z;
    return square > 0 ? static_cast<float>((axis.x * x + axis.y * y + axis.z * z) / square) : 0.0f;
  };
  return {along(at.x), along(at.y), along(at.z)};
}

bool holds(const Vec3& min, const Vec3& max, const Vec3& p) {
  return p.x >= min.x && p.x <= max.x && p.y >= min.y && p.y <= max.y && p.z >= min.z && p.z <= max.z;
}

}  // namespace

/// Entities that come and go together: the interior's own, or those of an entity set.
struct Interior::Set {
  NameHash name{};
  uint32_t first = 0, count = 0;
  bool is_on = false;
  const flatbuffers::Vector<const schema::EntityDef*>* definitions = nullptr;
  EntityArrays arrays;
};

Status Interior::load(MapWorld& maps, MapContents& map, Entity& instance, const schema::MloInstanceDef* more) {
  const Status loaded = try_load(maps, map, instance, more);
  if (loaded.ok()) return loaded;
  unload();
  definition_ = nullptr;
  room_count_ = portal_count_ = set_count_ = 0;
  entities_ = {};
  locations_ = {};
  return loaded;
}

Status Interior::try_load(MapWorld& maps, MapContents& map, Entity& instance, const schema::MloInstanceDef* more) {
  maps_ = &maps;
  map_ = &map;
  instance_ = &instance;
  more_ = more;
  const InteriorArchetype* const archetype = instance.archetype()->as<InteriorArchetype>();
  definition_ = archetype != nullptr ? archetype->definition() : nullptr;
  number_ = static_cast<int32_t>(maps.interiors_.handle_of(*this).slot);
  maps.by_number_[number_] = this;
  room_count_ = definition_ != nullptr ? size_of(definition_->rooms()) : 0;
  portal_count_ = definition_ != nullptr ? size_of(definition_->portals()) : 0;
  const bool fits = definition_ != nullptr && room_count_ <= kMaxInteriorRooms && portal_count_ <= kMaxInteriorPortals;
  if (!fits) {
    // Without a definition the archetype was made in code, or is no interior any more.
    if (definition_ != nullptr && maps.bad_.first(instance.archetype()->name().value)) {
      log_message(LogLevel::warning, instance.archetype()->name(),
                  "interior %s: %u rooms and %u portals, of at most %u and %u: it stays empty",
                  name_text(instance.archetype()->name()).text, room_count_, portal_count_, kMaxInteriorRooms,
                  kMaxInteriorPortals);
    }
    definition_ = nullptr;
    room_count_ = portal_count_ = 0;
    return {};
  }

  set_count_ = size_of(definition_->entity_sets());
  uint32_t entities = size_of(definition_->entities());
  for (uint32_t s = 0; s < set_count_; ++s) entities += size_of(definition_->entity_sets()->Get(s)->entities());
  const size_t sets_bytes = (set_count_ + 1) * sizeof(Set), pointers = entities * sizeof(void*);
  block_bytes_ = sets_bytes + pointers + entities * sizeof(InteriorLocation);
  block_ = static_cast<std::byte*>(maps.allocator_->allocate(block_bytes_, 16));
  if (block_ == nullptr) return {StatusCode::out_of_memory, "no memory for an interior; detail = bytes", block_bytes_};
  sets_ = reinterpret_cast<Set*>(block_);
  uint32_t first = 0;
  for (uint32_t s = 0; s <= set_count_; ++s) {
    Set& set = *::new (static_cast<void*>(&sets_[s])) Set;
    const schema::MloEntitySet* const from = s > 0 ? definition_->entity_sets()->Get(s - 1) : nullptr;
    set.definitions = from != nullptr ? from->entities() : definition_->entities();
    set.name = NameHash{from != nullptr ? from->name() : 0};
    set.first = first;
    set.count = size_of(set.definitions);
    first += set.count;
  }
  entities_ = {reinterpret_cast<Entity**>(block_ + sets_bytes), entities};
  std::fill(entities_.begin(), entities_.end(), nullptr);
  locations_ = {reinterpret_cast<InteriorLocation*>(block_ + sets_bytes + pointers), entities};
  for (InteriorLocation& location : locations_) ::new (static_cast<void*>(&location)) InteriorLocation;
  find_locations();
  group_ = maps.config_.scene->table().add_group(entities_, instance.archetype()->name());
  if (!group_) return {StatusCode::out_of_slots, "no group of entities is free; detail = entities", entities};

  sets_[0].is_on = true;
  if (more_ != nullptr && more_->default_entity_sets() != nullptr) {
    for (const uint32_t name : *more_->default_entity_sets()) {
      for (uint32_t s = 1; s <= set_count_; ++s) sets_[s].is_on = sets_[s].is_on || sets_[s].name.value == name;
    }
  }
  const Status furnished = furnish();
  if (furnished.ok() || furnished.code != StatusCode::out_of_slots) return furnished;
  if (maps.waiting_.first(instance.archetype()->name().value)) {
    log_message(LogLevel::warning, instance.archetype()->name(), "interior %s waits: %s",
                name_text(instance.archetype()->name()).text, furnished.message);
  }
  return {};
}

/// The room that a portal of the file counts; limbo if there is none.
uint32_t Interior::room_of(uint32_t counted) const { return counted < room_count_ ? counted : kLimboRoom; }

InteriorLocation Interior::place_in(bool is_portal, uint32_t index) const {
  const auto number = static_cast<uint32_t>(number_);
  if (!is_portal) return InteriorLocation::in_room(number, index < room_count_ ? index : kLimboRoom);
  if (index >= portal_count_) return InteriorLocation::in_room(number, kLimboRoom);
  const schema::MloPortalDef& portal = *definition_->portals()->Get(index);
  return InteriorLocation::at_portal(number, index, room_of(portal.room_from()) == 0 || room_of(portal.room_to()) == 0);
}

/// Each entity is where a room or portal lists it. Of several the first counts, portals before rooms: a door belongs to
/// both of its rooms.
void Interior::find_locations() {
  for (InteriorLocation& location : locations_) location = place_in(false, kLimboRoom);
  const uint32_t own = sets_[0].count;
  for (uint32_t r = room_count_; r-- > 0;) {
    const auto* const list = definition_->rooms()->Get(r)->attached_objects();
    for (uint32_t i = 0; i < size_of(list); ++i) {
      if (list->Get(i) < own) locations_[list->Get(i)] = place_in(false, r);
    }
  }
  for (uint32_t p = portal_count_; p-- > 0;) {
    const auto* const list = definition_->portals()->Get(p)->attached_objects();
    for (uint32_t i = 0; i < size_of(list); ++i) {
      if (list->Get(i) < own) locations_[list->Get(i)] = place_in(true, p);
    }
  }
  for (uint32_t s = 1; s <= set_count_; ++s) {
    const auto* const list = definition_->entity_sets()->Get(s - 1)->locations();
    for (uint32_t i = 0; i < size_of(list) && i < sets_[s].count; ++i) {
      const uint32_t location = list->Get(i);
      locations_[sets_[s].first + i] = place_in((location & kPortalLocation) != 0, location & ~kPortalLocation);
    }
  }
}

// --- nodes ---------------------------------------------------------------------------------------------

bool Interior::make_nodes() {
  SceneGraph& graph = maps_->config_.scene->graph();
  if (!graph.has_room_for(0, 1, room_count_, portal_count_)) return false;
  node_ = graph.create_interior();
  node_->interior = static_cast<int16_t>(number_);
  node_->instance = instance_->handle();
  for (uint32_t r = 0; r < room_count_; ++r) {
    const schema::MloRoomDef& from = *definition_->rooms()->Get(r);
    RoomNode& room = *graph.create_room();
    room.room = static_cast<uint8_t>(r);
    room.room_flags = static_cast<uint32_t>(from.flags());
    room.exterior_visibility_depth = from.exterior_visibility_depth();
    (void)graph.append(*node_, room);
  }
  for (uint32_t p = 0; p < portal_count_; ++p) {
    const schema::MloPortalDef& from = *definition_->portals()->Get(p);
    PortalNode& portal = *graph.create_portal();
    portal.portal = static_cast<uint16_t>(p);
    portal.room_from = static_cast<uint8_t>(room_of(from.room_from()));
    portal.room_to = static_cast<uint8_t>(room_of(from.room_to()));
    const bool is_right = from.room_from() < room_count_ && from.room_to() < room_count_;
    if (!is_right && maps_->bad_.first(instance_->archetype()->name().value)) {
      log_message(LogLevel::warning, instance_->archetype()->name(),
                  "interior %s: portal %u leads from room %u to room %u, of %u: what is not there is the outside",
                  name_text(instance_->archetype()->name()).text, p, from.room_from(), from.room_to(), room_count_);
    }
    portal.priority = from.mirror_priority();
    (void)graph.append(*node_, portal);
  }
  place_nodes();
  (void)maps_->config_.scene->add_interior(*node_);
  return true;
}

void Interior::place_nodes() {
  node_->at = instance_->transform();
  for (uint32_t p = 0; p < portal_count_; ++p) {
    const schema::MloPortalDef& from = *definition_->portals()->Get(p);
    Vec3 corners[4] = {};
    for (uint32_t i = 0; i < 4 && i < size_of(from.corners()); ++i) {
      corners[i] = node_->at.point(vec(*from.corners()->Get(i)));
    }
    portal(p)->corners = make_portal(corners, static_cast<uint32_t>(from.flags()), from.opacity());
  }
  maps_->config_.scene->graph().note_moved_nodes();
}

/// All or nothing: what is half there would never be completed.
Status Interior::furnish() {
  if (!make_nodes()) return {StatusCode::out_of_slots, "no nodes for it are free", 0};
  for (uint32_t s = 0; s <= set_count_; ++s) {
    if (!sets_[s].is_on) continue;
    if (const Status made = furnish(s); !made.ok()) {
      strip();
      return made;
    }
  }
  return {};
}

Status Interior::furnish(uint32_t set) {
  if (const Status made = make_entities(set); !made.ok()) return made;
  const Status added = add_to_scene(set);
  if (!added.ok()) destroy_entities(set);
  return added;
}

/// Undoes furnish().
void Interior::strip() {
  if (node_ == nullptr) return;
  (void)hide();
  for (uint32_t s = 0; s <= set_count_; ++s) destroy_entities(s);
  maps_->config_.scene->remove_interior(*node_);
  (void)maps_->config_.scene->graph().destroy(*node_);
  node_ = nullptr;
}

bool Interior::retry() {
  if (definition_ == nullptr || node_ != nullptr) return true;
  if (map_->is_shown() && maps_->config_.scene->graph().is_locked()) return false;
  if (!furnish().ok()) return false;
  if (map_->is_shown()) (void)show();
  return true;
}

Status Interior::show() {
  is_shown_ = true;
  if (node_ == nullptr || node_->parent() != nullptr) return {};
  SceneGraph& graph = maps_->config_.scene->graph();
  if (const Status s = graph.append(*graph.root(), *node_); !s.ok()) return s;
  for (Entity* const entity : entities_) {
    if (entity != nullptr && stands_outside(*entity) && entity->container().is_none())
      tell(*entity, maps_->config_.scene->add(*entity));
  }
  return {};
}

Status Interior::hide() {
  is_shown_ = false;
  if (node_ == nullptr || node_->parent() == nullptr) return {};
  for (Entity* const entity : entities_) {
    if (entity != nullptr && stands_outside(*entity) && !entity->container().is_none())
      (void)maps_->config_.scene->remove(*entity);
  }
  return maps_->config_.scene->graph().unlink(*node_);
}

/// The scene keeps it elsewhere than below the interior's node: it has to come and go by itself.
bool Interior::stands_outside(const Entity& entity) const {
  return maps_->config_.scene->classes().info(entity.type()).flags.has(ClassFlag::is_light) ||
         (entity.has(BaseFlag::is_dynamic) && entity.interior_location().is_portal_to_exterior());
}

RoomNode* Interior::room(uint32_t index) const {
  if (node_ == nullptr || index >= room_count_) return nullptr;
  return static_cast<RoomNode*>(
      maps_->config_.scene->node_at(InteriorLocation::in_room(static_cast<uint32_t>(number_), index)));
}

PortalNode* Interior::portal(uint32_t index) const {
  if (node_ == nullptr || index >= portal_count_) return nullptr;
  SceneNode* child = node_->last_child();  // portals stand behind the rooms
  for (uint32_t back = portal_count_ - 1 - index; back > 0; --back) child = child->previous();
  return static_cast<PortalNode*>(child);
}

Status Interior::set_portal_closed(uint32_t index, bool closed) {
  PortalNode* const at = portal(index);
  if (at == nullptr) return {StatusCode::not_found, "no such portal; detail = its index", index};
  if (maps_->config_.scene->graph().is_locked()) {
    return {StatusCode::in_use, "the scene is locked: close the portal after the unlock", 0};
  }
  constexpr auto kMayClose = static_cast<uint32_t>(schema::PortalFlags::hide_when_door_closed);
  if ((at->corners.flags() & kMayClose) == 0) return {};
  return maps_->config_.scene->graph().set_closed(*at, closed);
}

// --- entities ------------------------------------------------------------------------------------------

Status Interior::make_entities(uint32_t which) {
  Set& set = sets_[which];
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  detail::TempBlock temp(*maps_->allocator_);
  const auto plan = temp.plan<detail::Resolved>(set.count);
  if (const Status s = temp.take(); !s.ok()) return s;
  const std::span<detail::Resolved> found = temp.make(plan);
  detail::Resolver resolver(*maps_->config_.archetypes, classes, nullptr);
  uint32_t counts[kMaxEntityClasses] = {};
  for (uint32_t i = 0; i < set.count; ++i) {
    const uint32_t name = set.definitions->Get(i)->archetype_name();
    found[i] = resolver.find(name);
    if (found[i].archetype != nullptr) {
      ++counts[static_cast<unsigned>(found[i].type)];
      continue;
    }
    ++maps_->statistics_.missing_archetype;
    if (maps_->missing_.first(name)) {
      log_message(LogLevel::warning, NameHash{name}, "interior %s: archetype %s is not loaded: entity %u is left out",
                  name_text(instance_->archetype()->name()).text, name_text(NameHash{name}).text, i);
    }
  }
  if (const Status s = set.arrays.init(classes, counts, 0, *maps_->allocator_); !s.ok()) return s;
  const uint32_t before = created_;
  EntityInit how{
      .outer = &instance_->transform(), .imap = map_->slot(), .map = map_->name(), .messages = &maps_->said_};
  for (uint32_t i = 0; i < set.count; ++i) {
    if (found[i].archetype == nullptr) continue;
    Entity* const entity = set.arrays.make(classes, found[i].type);
    const ArchetypeTraits& traits = found[i].archetype->traits();
    if (!is_made(init_entity(*entity, *set.definitions->Get(i), traits, found[i].archetype, how))) {
      classes.destroy(*entity);
      set.arrays.unmake(found[i].type);
      ++maps_->statistics_.bad_definition;
      const NameHash name = found[i].archetype->name();
      if (maps_->bad_.first(name.value)) {
        log_message(LogLevel::warning, name,
                    "interior %s: entity %u (%s) is left out: it has no usable place or draw distance",
                    name_text(instance_->archetype()->name()).text, i, name_text(name).text);
      }
      continue;
    }
    entity->set_owner(OwnedBy::interior);
    entity->set_interior_location(locations_[set.first + i]);
    if (found[i].archetype->has_spawn_points()) entity->set_flags(BaseFlag::spawn_points);
    maps_->config_.scene->table().put(group_, set.first + i, entity);
    ++created_;
  }
  maps_->statistics_.created += created_ - before;
  const auto* const extensions =
      which == 0 ? definition_->entity_extensions() : definition_->entity_sets()->Get(which - 1)->entity_extensions();
  detail::add_extensions(maps_->config_, map_->slot(), extensions, entities_.subspan(set.first, set.count));
  for (Entity* const entity : entities_.subspan(set.first, set.count)) {
    if (entity != nullptr) maps_->config_.host.created(*entity);
  }
  return {};
}

/// Errors: out_of_slots. What cannot be shown for another reason is told.
Status Interior::add_to_scene(uint32_t which) {
  for (Entity* const entity : entities_.subspan(sets_[which].first, sets_[which].count)) {
    if (entity == nullptr || (!is_shown_ && stands_outside(*entity))) continue;
    const Status added = maps_->config_.scene->add(*entity);
    if (added.code == StatusCode::out_of_slots) return added;
    tell(*entity, added);
  }
  return {};
}

void Interior::tell(const Entity& entity, const Status& added) {
  const NameHash name = entity.archetype()->name();
  if (added.ok() || !maps_->bad_.first(name.value)) return;
  log_message(LogLevel::warning, name, "interior %s: an entity of %s is not shown: %s",
              name_text(instance_->archetype()->name()).text, name_text(name).text, added.message);
}

void Interior::destroy_entities(uint32_t which) {
  Set& set = sets_[which];
  for (uint32_t i = set.first; i < set.first + set.count; ++i) {
    Entity* const entity = entities_[i];
    if (entity == nullptr) continue;
    if (!entity->container().is_none()) (void)maps_->config_.scene->remove(*entity);
    entity->set_container({});
    maps_->config_.host.destroyed(*entity);
    maps_->config_.scene->table().put(group_, i, nullptr);
    maps_->config_.scene->classes().destroy(*entity);
    --created_;
  }
  set.arrays.free();
}

InteriorLocation Interior::location_of_entity(uint32_t index) const {
  return index < locations_.size() ? locations_[index] : InteriorLocation{};
}

NameHash Interior::set_name(uint32_t index) const { return index < set_count_ ? sets_[index + 1].name : NameHash{}; }

bool Interior::is_set_on(NameHash name) const {
  for (uint32_t s = 1; s <= set_count_; ++s) {
    if (sets_[s].name == name) return sets_[s].is_on;
  }
  return false;
}

Status Interior::set_entity_set(NameHash name, bool on) {
  for (uint32_t s = 1; s <= set_count_; ++s) {
    if (sets_[s].name != name) continue;
    if (sets_[s].is_on == on) return {};
    if (is_shown_ && maps_->config_.scene->graph().is_locked()) {
      return {StatusCode::in_use, "the scene is locked: switch the set after the unlock", 0, name};
    }
    if (node_ == nullptr) {  // it waits; its sets come with it
      sets_[s].is_on = on;
      return {};
    }
    if (!on) {
      destroy_entities(s);
    } else if (const Status made = furnish(s); !made.ok()) {
      return made;
    }
    sets_[s].is_on = on;
    return {};
  }
  return {StatusCode::not_found, "the interior has no such entity set", 0, name};
}

// --- places --------------------------------------------------------------------------------------------

const Transform& Interior::at() const { return instance_->transform(); }

InteriorLocation Interior::location_of(const Vec3& point) const {
  if (definition_ == nullptr || !is_finite(point)) return {};
  const Vec3 local = to_local(at(), point);
  uint32_t best = kLimboRoom;
  double smallest = 0;
  for (uint32_t r = 1; r < room_count_; ++r) {
    const schema::MloRoomDef& room = *definition_->rooms()->Get(r);
    if (room.bb_min() == nullptr || room.bb_max() == nullptr) continue;
    const Vec3 low = vec(*room.bb_min()), high = vec(*room.bb_max());
    if (!holds(low, high, local)) continue;
    const double volume = (double{high.x} - low.x) * (double{high.y} - low.y) * (double{high.z} - low.z);
    if (best != kLimboRoom && volume >= smallest) continue;
    best = r;
    smallest = volume;
  }
  const Aabb& box = instance_->archetype()->box();
  if (best == kLimboRoom && !holds(box.min, box.max, local)) return {};
  return place_in(false, best);
}

void Interior::place_anew() {
  if (node_ == nullptr) return;
  place_nodes();
  for (uint32_t s = 0; s <= set_count_; ++s) {
    if (!sets_[s].is_on) continue;
    for (uint32_t i = 0; i < sets_[s].count; ++i) {
      Entity* const entity = entities_[sets_[s].first + i];
      if (entity == nullptr || attached_to(*entity) != nullptr) continue;
      const Vec3 at = instance_->transform().point(vec(sets_[s].definitions->Get(i)->position()));
      Transform to = entity->transform();
      to.position = {at.x, at.y, at.z, to.position.w};
      place(*entity, to);
      if (!entity->container().is_none()) (void)maps_->config_.scene->update(*entity);
    }
  }
}

/// Entities whose archetype is not what its name means go on with that.
bool Interior::take_archetypes() {
  bool waits = false;
  for (uint32_t s = 0; node_ != nullptr && s <= set_count_; ++s) {
    if (!sets_[s].is_on) continue;
    for (uint32_t i = 0; i < sets_[s].count; ++i) {
      Entity* const entity = entities_[sets_[s].first + i];
      if (entity == nullptr || entity->archetype()->is_in_force()) continue;
      Archetype* const now = maps_->config_.archetypes->find(entity->archetype()->name());
      waits |= now == nullptr;
      if (now == nullptr) continue;
      const EntityInit how{.outer = &instance_->transform(), .imap = map_->slot(), .map = map_->name()};
      detail::take_archetype(*entity, *sets_[s].definitions->Get(i), *now, how, maps_->config_.scene->hour());
      if (!entity->container().is_none()) (void)maps_->config_.scene->update(*entity);
    }
  }
  return waits;
}

void Interior::restart() {
  Interior* const next = next_in_map_;
  const bool was_shown = is_shown_;
  MapWorld& maps = *maps_;
  MapContents& map = *map_;
  Entity& instance = *instance_;
  const schema::MloInstanceDef* const more = more_;
  // Sets stay as they were switched; without memory for that they begin as in the map.
  struct Switch {
    NameHash set;
    bool is_on = false;
  };
  detail::TempBlock temp(*maps.allocator_);
  const auto plan = temp.plan<Switch>(set_count_);
  const std::span<Switch> switches = temp.take().ok() ? temp.make(plan) : std::span<Switch>();
  for (size_t s = 0; s < switches.size(); ++s) switches[s] = {sets_[s + 1].name, sets_[s + 1].is_on};
  unload();
  this->~Interior();
  ::new (static_cast<void*>(this)) Interior;
  next_in_map_ = next;
  Status loaded = load(maps, map, instance, more);
  for (const Switch& s : switches) {
    const Status switched = set_entity_set(s.set, s.is_on);
    if (loaded.ok() && switched.code != StatusCode::not_found) loaded = switched;
  }
  if (!loaded.ok()) {
    log_message(LogLevel::error, instance.archetype()->name(), "interior %s is not whole: %s",
                name_text(instance.archetype()->name()).text, loaded.message);
  }
  if (was_shown) (void)show();
}

void Interior::unload() {
  strip();
  for (uint32_t s = 0; sets_ != nullptr && s <= set_count_; ++s) sets_[s].~Set();
  if (group_) maps_->config_.scene->table().remove_group(group_);
  group_ = {};
  if (block_ != nullptr) maps_->allocator_->deallocate(block_, block_bytes_, 16);
  block_ = nullptr;
  sets_ = nullptr;
  if (number_ >= 0) maps_->by_number_[number_] = nullptr;
}

}  // namespace meridian
