// SPDX-License-Identifier: MIT
// What is done with the world. What it is made of: random_scene_make.cpp; how it is compared: random_scene_check.cpp.
#include "property/random_scene.h"

namespace meridian::test {

// --- what is done --------------------------------------------------------------------------------------

void RandomScene::step() {
  if (flat.in_world.size() < 10) return add_host();
  switch (dice_.below(24)) {
    case 0:
    case 1:
    case 2:
      if (entities_.size() < 260) add_host();
      return;
    case 3:
    case 4:
      return take_out(any_in_world());
    case 5:
      if (outside_.empty()) return;
      std::swap(outside_.back(), outside_[dice_.below(static_cast<uint32_t>(outside_.size()))]);
      {
        Listed e = outside_.back();
        outside_.pop_back();
        put_in(std::move(e));
      }
      return;
    case 6:
    case 7:
    case 8:
    case 9:
      return move_one();
    case 10:
    case 11:
      return hide_one(any_in_world());
    case 12: {
      Listed& e = any_in_world();
      e.alpha = static_cast<uint8_t>(dice_.below(256));
      EXPECT_TRUE(kit.world.set_alpha(*e.entity, e.alpha).ok());
      lights_wait_ |= e.is_light;
      return;
    }
    case 13: {
      Listed& e = any_in_world();
      e.mask = static_cast<uint16_t>(dice_.below(0x2000));
      EXPECT_TRUE(kit.world.set_visibility_mask(*e.entity, e.mask).ok());
      lights_wait_ |= e.is_light;
      return;
    }
    case 14:
      kit.graph.pre_scan(64 * (1 + dice_.below(40)));
      lights_wait_ = false;
      return;
    case 15:
    case 16:
      return load_or_unload();
    case 17:
      return show_or_hide_map();
    case 18:
      return destroy_one_of_map();
    case 19:
      flat.hour = dice_.below(24);
      EXPECT_TRUE(kit.scene.set_hour(flat.hour).ok());
      lights_wait_ = false;
      return;
    case 20:
      return switch_node();
    case 21:
      if (!dice_.chance(0.1)) return;
      return rebase(dice_.chance(0.5) ? middle_ * (dice_.chance(0.5) ? -1.0f : -0.5f) - now() + middle_
                                      : dice_.vector(500));
    default:
      return while_locked();
  }
}

void RandomScene::add_host() {
  const uint32_t type = dice_.below(kTypes);
  Listed e;
  e.is_light = dice_.chance(0.2);
  e.type = e.is_light ? kLamp : kMapClasses[dice_.below(3)];
  entities_.push_back(std::make_unique<Entity>(e.type));
  e.entity = entities_.back().get();
  e.traits = types_[type].traits;
  e.hours = types_[type].hours;
  e.at = random_transform();
  e.level = static_cast<uint8_t>(dice_.below(kLodLevels));
  e.is_dynamic = !e.is_light && dice_.chance(0.4);
  e.has_spawn_points = dice_.chance(0.3);
  e.ignores_hours = dice_.chance(0.2);
  e.entity->set_archetype(kit.archetypes.find(types_[type].name));
  e.entity->lod().distance = dice_.number(2, 90'000);
  e.entity->lod().set_level(e.level);
  e.entity->set_visibility_mask(e.mask);
  e.entity->set_flags(BaseFlag::is_dynamic, e.is_dynamic);
  e.entity->set_flags(BaseFlag::spawn_points, e.has_spawn_points);
  e.entity->set_flags(BaseFlag::ignore_hours, e.ignores_hours);
  place(*e.entity, e.at);
  e.handle = kit.table.register_single(*e.entity);
  put_in(std::move(e));
}

void RandomScene::put_in(Listed e) {
  if (e.map == kHost) {
    e.where = e.is_light ? InteriorLocation() : random_location(e.is_dynamic);
    e.entity->set_interior_location(e.where);
  } else {
    e.is_added_again = true;
    e.link = {};
  }
  e.is_shown = e.is_light || is_shown_at(e.where, straddles(e));
  const Status added = kit.world.add(*e.entity);
  EXPECT_TRUE(added.ok()) << added.message << ' ' << added.detail;
  lights_wait_ |= e.is_light;
  EXPECT_EQ(kit.world.add(*e.entity).code, StatusCode::in_use) << "it is in the world already";
  flat.in_world.push_back(std::move(e));
}

void RandomScene::take_out(Listed& e) {
  const Status removed = kit.world.remove(*e.entity);
  EXPECT_TRUE(removed.ok()) << removed.message;
  EXPECT_EQ(kit.world.remove(*e.entity).code, StatusCode::not_found);
  lights_wait_ |= e.is_light;
  std::swap(e, flat.in_world.back());
  outside_.push_back(flat.in_world.back());
  flat.in_world.pop_back();
  Listed& out = outside_.back();
  if (out.map != kHost || dice_.chance(0.5)) return;
  visibility_.show(*out.entity);
  kit.table.unregister(*out.entity);
  std::erase_if(entities_, [&](const auto& owned) { return owned.get() == out.entity; });
  outside_.pop_back();
}

void RandomScene::move_one() {
  Listed& e = any_in_world();
  Transform to = random_transform();
  if (e.map != kHost) {  // the origin puts them back to where their map has them, however they are turned
    const Vec4 position = to.position;
    to = e.at;
    to.position = position;
  }
  const Status moved = kit.world.move(*e.entity, to);
  EXPECT_TRUE(moved.ok()) << moved.message;
  e.at = to;
  lights_wait_ |= e.is_light;
}

void RandomScene::hide_one(Listed& e) {
  EXPECT_TRUE(visibility_.set_visible(*e.entity, VisibilityModule::script, e.is_hidden).ok());
  e.is_hidden = !e.is_hidden;
  EXPECT_TRUE(kit.world.update(*e.entity).ok());
  lights_wait_ |= e.is_light;
}

Status RandomScene::add_of(const ArchetypeTraits& traits) {
  constexpr NameHash kName{0x4000};
  constexpr ItypSlot kSlot = 2;
  const TypeToMake type[] = {{kName, traits}};
  EXPECT_TRUE(make_types(kit.archetypes, kSlot, type).ok());
  Entity entity;
  entity.set_archetype(kit.archetypes.find(kName));
  entity.lod().distance = 50;
  place(entity, {.position = {now().x, now().y, now().z, 1}});
  (void)kit.table.register_single(entity);
  const Status added = kit.world.add(entity);
  EXPECT_TRUE(entity.container().is_none());
  kit.table.unregister(entity);
  entity.set_archetype(nullptr);
  EXPECT_TRUE(kit.archetypes.close_types(kSlot).ok());
  return added;
}

void RandomScene::rebase(const Vec3& delta) {
  ASSERT_TRUE(kit.world.rebase(delta).ok());
  const Real by[3] = {delta.x, delta.y, delta.z};
  for (int i = 0; i < 3; ++i) {
    origin_[i] += by[i];
    now_[i] += by[i];
  }
  for (std::vector<Listed>* list : {&flat.in_world, &outside_}) {
    for (Listed& e : *list) {
      Vec4& p = e.at.position;
      if (e.map == kHost) {
        p = {p.x + delta.x, p.y + delta.y, p.z + delta.z, p.w};
        if (list == &outside_) place(*e.entity, e.at);  // what is not in the world is the host's to move
      } else {
        const schema::Vec3& d = maps_[e.map].entities[e.index].position();
        p = {static_cast<float>(d.x() + origin_[0]), static_cast<float>(d.y() + origin_[1]),
             static_cast<float>(d.z() + origin_[2]), p.w};
      }
    }
  }
  lights_wait_ = false;
}

// --- maps ----------------------------------------------------------------------------------------------

void RandomScene::load_or_unload() {
  const uint32_t m = dice_.below(kMaps);
  if (maps_[m].contents == nullptr) return load(m);
  unlist(m);
  EXPECT_TRUE(unload_map_data(kit.maps, *maps_[m].contents).ok());
  maps_[m].contents = nullptr;
}

void RandomScene::load(uint32_t m) {
  const ItypSlot types[] = {kRandomTypesSlot};
  MapPlacement placement{.slot = 100 + m, .dependencies = types};
  if (m == 1) placement.parent = maps_[0].contents;
  placement.postponed = dice_.chance(0.3);
  const Result<MapContents*> loaded = load_map_data(kit.maps, maps_[m].made.resource, placement);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message << ' ' << loaded.status().detail;
  ++loads;
  maps_[m].contents = loaded.value();
  maps_[m].is_enabled = true;
  EXPECT_EQ(loaded.value()->is_shown(), !placement.postponed);
  list(m);
  if (m == 0 && maps_[1].contents != nullptr) {  // the parent comes after the child
    EXPECT_TRUE(maps_[1].contents->bind_parent(*maps_[0].contents).ok());
  }
}

/// The entities of a map, as its definitions have them.
void RandomScene::list(uint32_t m) {
  const Map& map = maps_[m];
  for (uint32_t i = 0; i < map.entities.size(); ++i) {
    const schema::EntityDef& d = map.entities[i];
    const uint32_t type = d.archetype_name() - random_type_name(0).value;
    const bool is_turned =
        d.rotation().x() != 0 || d.rotation().y() != 0 || d.rotation().z() != 0 || d.rotation().w() != 0;
    const bool can_be = type < kTypes && d.scale_xy() != 0 && d.scale_z() != 0 && is_turned;
    Entity* const entity = map.contents->entity(i);
    ASSERT_EQ(entity != nullptr, can_be) << "entity " << i;
    if (!can_be) continue;
    Listed e;
    e.entity = entity;
    e.handle = map.contents->handle(i);
    EXPECT_EQ(kit.table.get(e.handle), entity);
    e.traits = types_[type].traits;
    e.hours = types_[type].hours;
    e.at = entity->transform();
    e.level = static_cast<uint8_t>(d.lod_level());
    e.type = types_[type].traits.entity_class;
    e.has_spawn_points = type % 3 == 0;
    e.ignores_hours = (static_cast<uint32_t>(d.flags()) >> 21 & 1) != 0;
    e.is_shown = map.contents->is_shown();
    e.map = m;
    e.index = i;
    check_definition(d, e);
    flat.in_world.push_back(e);
  }
}

void RandomScene::unlist(uint32_t m) {
  for (std::vector<Listed>* list : {&flat.in_world, &outside_})
    std::erase_if(*list, [&](const Listed& e) { return e.map == m; });
}

void RandomScene::show_or_hide_map() {
  Map& map = maps_[dice_.below(kMaps)];
  if (map.contents == nullptr) return;
  EXPECT_TRUE((map.contents->is_shown() ? map.contents->hide() : map.contents->show()).ok());
  refresh_shown();
}

void RandomScene::destroy_one_of_map() {
  Map& map = maps_[dice_.below(kMaps)];
  if (map.contents == nullptr || map.contents->created() < 10) return;
  const uint32_t index = dice_.below(map.contents->entity_count());
  Entity* const entity = map.contents->entity(index);
  if (entity == nullptr) return;
  for (std::vector<Listed>* list : {&flat.in_world, &outside_}) {
    std::erase_if(*list, [&](const Listed& e) { return e.entity == entity; });
  }
  EXPECT_TRUE(map.contents->destroy_entity(index).ok());
}

void RandomScene::switch_node() {
  const uint32_t which = dice_.below(kMaps + kInteriors * 2);
  if (which < kMaps) {
    Map& map = maps_[which];
    if (map.contents == nullptr) return;
    map.is_enabled = !map.is_enabled;
    EXPECT_TRUE(kit.graph.set_enabled(*map.contents->node(), map.is_enabled).ok());
  } else {
    InteriorNode* const interior = interiors_[(which - kMaps) / 2];
    SceneNode& node = which % 2 == 0 ? static_cast<SceneNode&>(*interior) : *interior->first_child();
    EXPECT_TRUE(kit.graph.set_enabled(node, !node.is_enabled()).ok());
  }
  refresh_shown();
}

bool RandomScene::is_shown_at(InteriorLocation location, bool straddling) const {
  if (location.is_outside() || straddling) return true;
  const InteriorNode& interior = *interiors_[location.interior()];
  const bool in_first_room = !location.is_at_portal() && location.room() == 0;
  return interior.is_enabled() && (!in_first_room || interior.first_child()->is_enabled());
}

void RandomScene::refresh_shown() {
  for (Listed& e : flat.in_world) {
    if (e.is_light) continue;
    if (e.map == kHost || e.is_added_again) {
      e.is_shown = is_shown_at(e.where, straddles(e));
    } else {
      e.is_shown = maps_[e.map].contents->is_shown() && maps_[e.map].is_enabled;
    }
  }
}

// --- locked --------------------------------------------------------------------------------------------

void RandomScene::while_locked() {
  World& world = kit.world;
  world.lock();
  lights_wait_ = false;
  std::vector<std::function<void()>> later;
  for (uint32_t i = dice_.below(6); i > 0; --i) {
    const Listed& e = any_in_world();
    const auto find = [this, handle = e.handle]() -> Listed* {
      for (Listed& of : flat.in_world) {
        if (of.handle == handle) return &of;
      }
      return nullptr;
    };
    switch (dice_.below(4)) {
      case 0: {
        Transform to = e.at;
        to.position.x += dice_.number(-50, 50);
        EXPECT_TRUE(world.defer(move_change(e.handle, to)).ok());
        later.push_back([=, this] {
          if (Listed* of = find()) of->at = to, lights_wait_ |= of->is_light;
        });
        break;
      }
      case 1: {
        const auto alpha = static_cast<uint8_t>(dice_.below(256));
        EXPECT_TRUE(world.defer(alpha_change(e.handle, alpha)).ok());
        later.push_back([=, this] {
          if (Listed* of = find()) of->alpha = alpha, lights_wait_ |= of->is_light;
        });
        break;
      }
      case 2: {
        const auto mask = static_cast<uint16_t>(dice_.below(0x2000));
        EXPECT_TRUE(world.defer(mask_change(e.handle, mask)).ok());
        later.push_back([=, this] {
          if (Listed* of = find()) of->mask = mask, lights_wait_ |= of->is_light;
        });
        break;
      }
      default:
        if (e.map != kHost) break;
        EXPECT_TRUE(world.defer(remove_change(e.handle)).ok());
        later.push_back([=, this] {
          Listed* const of = find();
          if (of == nullptr) return;  // it was removed twice
          lights_wait_ |= of->is_light;
          outside_.push_back(*of);
          std::swap(*of, flat.in_world.back());
          flat.in_world.pop_back();
        });
        break;
    }
  }
  check_descriptors();
  check_bounds();
  check_searches();
  if (dice_.chance(0.3)) {  // a reader within a reader
    world.lock();
    world.unlock();
    check_searches();
  }
  world.unlock();
  for (const auto& change : later) change();
}

// --- the end -------------------------------------------------------------------------------------------

void RandomScene::end() {
  while (!flat.in_world.empty()) {
    if (flat.in_world.back().map == kHost) {
      take_out(flat.in_world.back());
    } else {
      flat.in_world.pop_back();
    }
  }
  for (uint32_t m = 0; m < kMaps; ++m) {
    if (maps_[m].contents == nullptr) continue;
    EXPECT_TRUE(unload_map_data(kit.maps, *maps_[m].contents).ok());
    maps_[m].contents = nullptr;
    unlist(m);
  }
  for (Listed& e : outside_) {
    visibility_.show(*e.entity);
    kit.table.unregister(*e.entity);
  }
  outside_.clear();
  entities_.clear();
  EXPECT_EQ(visibility_.hidden(), 0u);
  kit.graph.pre_scan();
  EXPECT_EQ(kit.graph.light_count(), 0u);
  for (InteriorNode*& interior : interiors_) {
    kit.scene.remove_interior(*interior);
    EXPECT_TRUE(kit.graph.destroy(*interior).ok());
    interior = nullptr;
  }
  // The chunk of what moves stays; nothing else does.
  EXPECT_LE(kit.graph.used_containers(), 1u);
  const DescPoolStats stats = kit.graph.desc_pool().stats();
  EXPECT_EQ(stats.used_bytes, stats.fixed_bytes);
  EXPECT_EQ(kit.table.groups() + kit.table.singles(), 0u);
  for (const TypeToMake& type : types_) EXPECT_EQ(kit.archetypes.find(type.name)->references(), 0u);
}

}  // namespace meridian::test
