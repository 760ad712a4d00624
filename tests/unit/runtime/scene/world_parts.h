// SPDX-License-Identifier: MIT
#pragma once
/// A world with a scene and entities, without maps; and a representation that writes down what it is asked to do.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "meridian/entity/archetype.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/scene/scene_representation.h"
#include "unit/runtime/scene/scene_kit.h"

namespace meridian::test {

inline Transform at_place(const Vec3& position) {
  Transform out;
  out.position = {position.x, position.y, position.z, 1};
  return out;
}

/// Class numbers of the tests' own. [first of the host's, ...)
inline constexpr EntityClass kLampClass{kFirstHostClass};      ///< a light
inline constexpr EntityClass kCarClass{kFirstHostClass + 1};   ///< moves
inline constexpr EntityClass kWideClass{kFirstHostClass + 2};  ///< its descriptors are filled by the host

struct Lamp : Entity {};
struct Car : Entity {};
struct Wide : Entity {};

struct WorldParts {
  CheckedMemory memory;
  MemoryTracker tracker;
  EntityTable table;
  EntityClassRegistry classes;
  DynamicComponents components;
  SceneGraph graph;
  SceneRepresentation scene;
  Archetype box;        ///< a cube of 2 m
  TimeArchetype stall;  ///< the same, from 6:00 to 18:00
  std::vector<std::unique_ptr<Entity>> entities;
  std::vector<const Entity*> destroyed;
  float filled_half = 5;  ///< what the host fills into descriptors of kWideClass [m]
  WorldConfig config{.table = &table, .deferred_changes = 8};
  World world;

  explicit WorldParts(const SceneCapacities& capacities = kSmallScene, bool has_scene = true) {
    ArchetypeTraits traits;
    traits.box = {{-1, -1, -1}, {1, 1, 1}};
    traits.sphere_radius = 2;
    traits.lod_distance = 100;
    box.set_traits(traits);
    traits.is_timed = true;
    stall.set_traits(traits);
    stall.set_time_flags(0x03FFC0);
    classes.add<Lamp>(kLampClass, "Lamp", ClassFlag::is_light);
    classes.add<Car>(kCarClass, "Car", ClassFlag::is_dynamic);
    classes.add<Wide>(kWideClass, "Wide", {},
                      {[](void* user, const Entity&, EntityDesc& out) {
                         const float half = static_cast<WorldParts*>(user)->filled_half;
                         out.half = {half, half, half};
                       },
                       this});
    EXPECT_TRUE(table.init({.groups = 4, .singles = 4096}, memory).ok());
    EXPECT_TRUE(components.init({.capacity = 64, .tracker = &tracker}, memory).ok());
    EXPECT_TRUE(graph.init(capacities, memory, &tracker).ok());
    EXPECT_TRUE(scene.init({.graph = &graph, .table = &table, .classes = &classes}).ok());
    config.destroy = [](void* user, Entity& entity) {
      auto* const self = static_cast<WorldParts*>(user);
      self->destroyed.push_back(&entity);
      self->forget(entity);
    };
    config.user = this;
    EXPECT_TRUE(world.init(config, memory).ok());
    if (has_scene) {
      EXPECT_TRUE(world.add_representation(scene).ok());
    }
  }
  ~WorldParts() {
    for (const auto& entity : entities) {
      components.remove(*entity);
      entity->set_container({});
      if (entity->handle()) table.unregister(*entity);
    }
  }
  WorldParts(const WorldParts&) = delete;
  WorldParts& operator=(const WorldParts&) = delete;

  /// A live entity with a handle, outside of the world.
  Entity& make(const Vec3& position = {}, EntityClass type = EntityClass::building) {
    Entity& entity = *entities.emplace_back(std::make_unique<Entity>(type));
    entity.set_archetype(&box);
    entity.set_flags(BaseFlag::is_dynamic, type == kCarClass);
    entity.set_visibility_mask(kAllPhasesMask);
    entity.lod().distance = 100;
    table.register_single(entity);
    place(entity, at_place(position));
    return entity;
  }
  void forget(Entity& entity) {
    components.remove(entity);
    table.unregister(entity);
    std::erase_if(entities, [&entity](const auto& own) { return own.get() == &entity; });
  }
  SceneSlot slot_of(const Entity& entity) const { return {entity.container().container(), entity.container().slot()}; }
  EntityDesc desc_of(const Entity& entity) const { return graph.read(slot_of(entity)); }
  const ContainerView& view_of(const Entity& entity) const {
    return graph.containers().views[entity.container().container()];
  }
};

/// Writes down what it is asked to do, and does so unless told otherwise.
class Witness final : public Representation {
 public:
  explicit Witness(uint32_t types = kAllTypes, uint32_t operations = kAllOperations)
      : Representation(types, operations) {}

  Status add(Entity& entity) override {
    said.push_back("add");
    if (fails) return kFailed;
    if (held.count(&entity) != 0) return {StatusCode::in_use, "held already", 0};
    held[&entity] = entity.position();
    return {};
  }
  Status remove(Entity& entity) override {
    said.push_back("remove");
    if (fails) return kFailed;
    return held.erase(&entity) != 0 ? Status{} : Status{StatusCode::not_found, "not held", 0};
  }
  Status update(Entity& entity) override {
    said.push_back("update");
    if (fails) return kFailed;
    const auto at = held.find(&entity);
    if (at == held.end()) return {StatusCode::not_found, "not held", 0};
    at->second = entity.position();
    alpha[&entity] = entity.lod().alpha;
    mask[&entity] = entity.visibility_mask();
    return {};
  }
  void pre_scan() override { said.push_back("pre_scan"); }
  void lock() override {
    said.push_back("lock");
    ++locks;
  }
  void unlock() override {
    said.push_back("unlock");
    --locks;
  }
  bool is_locked() const override { return is_reading; }
  void rebase(const Vec3& delta, const WorldOrigin& origin) override {
    said.push_back("rebase");
    moved_by = delta;
    origin_then = origin;
  }
  Status search(const EntityQuery&, std::span<EntityHandle> out, SearchResult& result) override {
    said.push_back("search");
    if (fails) return kFailed;
    for (const auto& [entity, position] : held) {
      if (result.stored < out.size()) out[result.stored++] = entity->handle();
      ++result.found;
    }
    return {};
  }
  /// A reader that the world knows nothing of begins, and ends.
  void begin_reading() { is_reading = true; }
  void end_reading() {
    is_reading = false;
    tell_unlocked();
  }
  std::vector<std::string> take() { return std::exchange(said, {}); }

  static constexpr Status kFailed{StatusCode::out_of_memory, "this witness fails", 7};
  std::vector<std::string> said;
  std::map<const Entity*, Vec3> held;
  std::map<const Entity*, uint8_t> alpha;
  std::map<const Entity*, uint16_t> mask;
  Vec3 moved_by;
  WorldOrigin origin_then;
  int locks = 0;
  bool fails = false, is_reading = false;
};

}  // namespace meridian::test
