// SPDX-License-Identifier: MIT
#pragma once
/// The world's way to keep track of entities in a scene: it makes their descriptors, and puts them where they belong.
/// Outside: among what stays, what moves, or lights, by class. Inside: into the room or portal that the entity says it
/// is in. What maps bring as blocks comes in by itself (map/map_contents.h); this only keeps it up to date.
///
///   SceneGraph graph;
///   World world;                                              // all initialised
///   SceneRepresentation scene;
///   Status ready = scene.init({.graph = &graph, .table = &table, .classes = &classes});
///   scene.set_search(&search_scene);                          // search/search.h
///   ready = world.add_representation(scene);
///   ready = scene.set_hour(21);                               // lamps come, market stalls go
///
/// Threads: main; search: readers.
/// Memory:  9 KiB, inside.

#include <cstdint>
#include <span>

#include "meridian/entity/entity_class.h"
#include "meridian/entity/entity_host.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/scene/world.h"

namespace meridian {

/// Answers a query over tables that nobody changes meanwhile. Adds to `result`, and stores from out[result.stored] on.
/// Threads: readers.
using SceneSearch = Status (*)(const ContainerTable& containers, const BoxHierarchy& hierarchy,
                               const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result);

struct SceneRepresentationConfig {
  SceneGraph* graph = nullptr;                   ///< not null; outlives the representation, like the others
  EntityTable* table = nullptr;                  ///< not null
  const EntityClassRegistry* classes = nullptr;  ///< not null
  uint32_t types = kAllTypes;                    ///< classes that it handles: union of type_bit
};

/// List that ContainerTag names for lights: their descriptors have no fixed place.
inline constexpr uint32_t kLightList = 0;

class SceneRepresentation final : public Representation {
 public:
  SceneRepresentation() : Representation(kAllTypes, kAllOperations) {}
  SceneRepresentation(const SceneRepresentation&) = delete;
  SceneRepresentation& operator=(const SceneRepresentation&) = delete;
  ~SceneRepresentation() override {
    if (config_.graph != nullptr) config_.graph->set_unlock_hook(nullptr, nullptr);
  }

  /// Requires: called once; all three are set (asserted; otherwise bad_value).
  Status init(const SceneRepresentationConfig& config);
  void set_search(SceneSearch answer) { search_ = answer; }

  // --- Representation ---

  /// Errors: in_use (it is in the world already), bad_value (no archetype; its box is not finite; a room or portal that
  ///         is not there), out_of_slots.
  Status add(Entity& entity) override { return put(entity); }
  Status remove(Entity& entity) override { return take(entity); }
  Status update(Entity& entity) override { return renew(entity); }
  void pre_scan() override { config_.graph->pre_scan(); }
  void lock() override { config_.graph->lock(); }
  void unlock() override { config_.graph->unlock(); }
  bool is_locked() const override { return config_.graph->is_locked(); }
  void rebase(const Vec3& delta, const WorldOrigin&) override { move_all(delta); }
  Status search(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) override {
    return find(query, out, result);
  }

  // --- interiors ---

  /// From now on entities can be added to its rooms and portals, which are its children: rooms first, in order.
  /// Errors: in_use (the number is taken), bad_value (>= kMaxInteriors).
  Status add_interior(InteriorNode& interior);
  /// What still stands in it is out of the world. The nodes are the caller's to destroy.
  void remove_interior(InteriorNode& interior);
  InteriorNode* interior(int32_t number) const {
    return number >= 0 && number < static_cast<int32_t>(kMaxInteriors) ? interiors_[number] : nullptr;
  }
  /// The node that entities at this location stand in: the root outside; null if there is no such room or portal.
  SceneNode* node_at(InteriorLocation location) const;

  // --- hours ---

  /// The game's clock struck: entities with hours appear and vanish, in one pass over descriptors.
  /// Requires: hour < 24 (asserted; otherwise it wraps). Errors: in_use (locked).
  Status set_hour(uint32_t hour);
  uint32_t hour() const { return hour_; }
  /// The same for one container, which came in after the clock struck.
  void apply_hour(uint32_t container);

  /// What the entity's descriptor is to be. `link`: of one that stands in a map's blocks.
  /// Errors: bad_value (no archetype, no distance, not finite).
  Status describe_entity_now(const Entity& entity, const EntityLink& link, EntityDesc& out) const;

  /// For DynamicComponents: descriptors of what is attached follow what it is attached to. A host that listens too
  /// calls these from its own functions.
  EntityListener listener();

  SceneGraph& graph() const { return *config_.graph; }
  EntityTable& table() const { return *config_.table; }
  const EntityClassRegistry& classes() const { return *config_.classes; }

 private:
  Status put(Entity& entity);
  static Status keep(Entity& entity, const Result<SceneSlot>& slot);
  Status take(Entity& entity);
  Status renew(Entity& entity);
  bool stands_right(const Entity& entity) const;
  Status move_over(Entity& entity);
  Status find(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) const;
  void move_all(const Vec3& delta);

  SceneRepresentationConfig config_;
  SceneSearch search_ = nullptr;
  uint32_t hour_ = 12;
  InteriorNode* interiors_[kMaxInteriors] = {};
};

}  // namespace meridian
