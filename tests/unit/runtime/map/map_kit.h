// SPDX-License-Identifier: MIT
#pragma once
/// A world with maps in it, for tests of the map area: loads type files and maps in one line, counts everything that
/// comes and goes with them, and reads descriptors by entity.
///
///   test::MapKit kit;
///   ASSERT_TRUE(kit.init().ok());
///   kit.types(props, 3);
///   const test::Account before = kit.account();
///   MapContents* const town = kit.load(file, 17);
///   ...
///   EXPECT_TRUE(unload_map_data(kit.maps, *town).ok());
///   EXPECT_EQ(kit.account(), before);

#include <ostream>
#include <set>
#include <vector>

#include "support/captured.h"
#include "support/world_kit.h"
#include "unit/runtime/map/interior_maker.h"

namespace meridian::test {

/// All that maps take and give back.
struct Account {
  uint64_t bytes = 0, blocks = 0;  ///< of memory
  uint64_t desc_bytes = 0, desc_blocks = 0;
  uint32_t maps = 0, interiors = 0, groups = 0, singles = 0;
  uint32_t nodes[kNodeTypes] = {};
  uint32_t containers = 0, in_hierarchy = 0;
  uint64_t references = 0;  ///< to archetypes
  uint32_t archetypes = 0, extensions = 0;
  friend bool operator==(const Account&, const Account&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Account& a) {
  out << a.bytes << " bytes in " << a.blocks << " blocks, " << a.desc_bytes << " of descriptors in " << a.desc_blocks
      << ", maps " << a.maps << ", interiors " << a.interiors << ", groups " << a.groups << ", singles " << a.singles
      << ", nodes";
  for (const uint32_t n : a.nodes) out << ' ' << n;
  return out << ", containers " << a.containers << " (" << a.in_hierarchy << " shown), references " << a.references
             << ", archetypes " << a.archetypes << ", extensions " << a.extensions;
}

/// An extension of entities that counts itself.
inline constexpr ExtensionKind kDoorKind{40};
struct DoorExtension : Extension {
  DoorExtension() : Extension(kDoorKind) {}
  uint32_t owner = 0xFFFFFFFF;
};

/// What a host sees: each entity comes once and goes once, and has a handle meanwhile. It hangs its own objects on
/// them, and takes them off again.
struct HostRecord {
  std::set<const Entity*> alive;
  EntityTable* table = nullptr;
  uint64_t created = 0, destroyed = 0;
  static EntityHost host(HostRecord& record) {
    EntityHost out{.user = &record};
    out.on_create = [](void* user, Entity& entity) {
      auto& self = *static_cast<HostRecord*>(user);
      ++self.created;
      EXPECT_TRUE(self.alive.insert(&entity).second) << "told twice of an entity";
      EXPECT_EQ(self.table->get(entity.handle()), &entity) << "a new entity has a handle";
      EXPECT_EQ(entity.archetype() == nullptr, entity.type() == EntityClass::prop_batch);
      entity.set_physics(user);
      entity.set_draw(user);
    };
    out.on_destroy = [](void* user, Entity& entity) {
      auto& self = *static_cast<HostRecord*>(user);
      ++self.destroyed;
      EXPECT_EQ(self.alive.erase(&entity), 1u) << "an entity dies that was never told of";
      EXPECT_EQ(self.table->get(entity.handle()), &entity) << "its handle is good until then";
      EXPECT_EQ(entity.clear_physics(), user);
      EXPECT_EQ(entity.clear_draw(), user);
    };
    return out;
  }
};

/// What entities use until they die. Stands in front of the world, and so outlives it.
struct MapKitParts {
  ExtensionRegistry registry;
  PoolFactory<DoorExtension, Extension> doors;
  uint32_t door_capacity = 64;
  HostRecord record;
};

struct MapKit : MapKitParts, WorldKit {
  Status init() {
    if (const Status s = doors.init({.name = "Doors", .capacity = door_capacity}); !s.ok()) return s;
    registry.add_factory(kDoorKind, "Doors", doors);
    registry.associate(hash_type("CExtensionDefDoor"), kDoorKind);
    map_config.extensions = &registry;
    map_config.read_extension.read = [](void*, Extension& extension, Entity&, const schema::Extension& definition) {
      static_cast<DoorExtension&>(extension).owner = definition.owner();
    };
    record.table = &table;
    if (map_config.host.on_create == nullptr) map_config.host = HostRecord::host(record);
    return WorldKit::init();
  }

  void types(const TypesFile& file, ItypSlot slot, LayerId layer = 0) {
    const Status s = load_map_types(archetypes, file.resource(), {.slot = slot, .layer = layer, .file = file.name()});
    EXPECT_TRUE(s.ok()) << s.message;
    loaded_types_.insert(slot);
  }
  /// Null, and a failed test, where it does not load.
  MapContents* load(const MapFile& file, ImapSlot slot, MapContents* parent = nullptr) {
    MapPlacement placement{.slot = slot};
    placement.parent = parent;
    return load(file, placement);
  }
  MapContents* load(const MapFile& file, MapPlacement placement) {
    const Result<MapContents*> loaded = try_load(file, placement);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message;
    return loaded.ok() ? loaded.value() : nullptr;
  }
  Result<MapContents*> try_load(const MapFile& file, MapPlacement placement) {
    if (placement.dependencies.empty()) placement.dependencies = all_;
    return load_map_data(maps, file.resource(), placement);
  }
  void unload(MapContents* contents) {
    ASSERT_NE(contents, nullptr);
    const Status s = unload_map_data(maps, *contents);
    EXPECT_TRUE(s.ok()) << s.message;
  }

  Account account() const {
    Account out;
    out.bytes = memory.bytes();
    out.blocks = memory.blocks();
    const DescPoolStats descs = graph.desc_pool().stats();
    out.desc_bytes = descs.used_bytes;
    out.desc_blocks = descs.blocks;
    out.maps = maps.loaded_maps();
    out.interiors = maps.interior_count();
    out.groups = table.groups();
    out.singles = table.singles();
    for (uint32_t i = 0; i < graph.node_capacity(); ++i) {
      if (const SceneNode* const node = graph.node_at(i)) ++out.nodes[static_cast<size_t>(node->type())];
    }
    out.containers = graph.used_containers();
    out.in_hierarchy = graph.hierarchy().count();
    for (const ItypSlot slot : loaded_types_) {
      for (const Archetype* const archetype : archetypes.archetypes(slot)) out.references += archetype->references();
    }
    out.archetypes = archetypes.streamed_used() + archetypes.permanent_used();
    out.extensions = doors.pool().used();
    return out;
  }

  /// The interior that entity `index` of a map stands for, or null.
  Interior* interior_of(const MapContents& contents, uint32_t index) const {
    for (int32_t i = 0; i < static_cast<int32_t>(kMaxInteriors); ++i) {
      Interior* const in = maps.interior(i);
      if (in != nullptr && &in->instance() == contents.entity(index)) return in;
    }
    return nullptr;
  }
  /// The descriptor of an entity, as readers see it; distance 0 if it has none.
  EntityDesc desc(const Entity& entity) const {
    const ContainerTag tag = entity.container();
    if (!tag.is_in_container()) return {};
    return graph.read({tag.container(), tag.slot()});
  }
  /// It stands in a container that readers look at.
  bool is_in_world(const Entity& entity) const {
    const ContainerTag tag = entity.container();
    return tag.is_in_container() && (graph.containers().views[tag.container()].flags & kContainerInWorld) != 0;
  }
  /// The entity that a reader finds in the slot that the entity says.
  const Entity* entity_of_slot(const Entity& entity) const {
    const ContainerTag tag = entity.container();
    if (!tag.is_in_container()) return nullptr;
    return table.get(entity_in(graph.containers().views[tag.container()], tag.slot()));
  }
  const std::set<ItypSlot>& loaded_types() const { return loaded_types_; }

 private:
  std::set<ItypSlot> loaded_types_;
  static constexpr ItypSlot kAll[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::span<const ItypSlot> all_ = kAll;
};

/// Box of an entity as a reader has it.
inline Aabb box_of(const EntityDesc& d) { return {d.centre - d.half, d.centre + d.half}; }

/// a * b for quaternions; `inverse` of a unit one. For expected rotations by hand.
inline Quat about_z(float degrees) {
  const double half = static_cast<double>(degrees) / 2 * 3.14159265358979323846 / 180;
  return {0, 0, static_cast<float>(std::sin(half)), static_cast<float>(std::cos(half))};
}
inline Quat inverse(const Quat& q) { return {-q.x, -q.y, -q.z, q.w}; }

inline void expect_near(const Vec3& a, const Vec3& b, float within = 1e-4f) {
  EXPECT_NEAR(a.x, b.x, within);
  EXPECT_NEAR(a.y, b.y, within);
  EXPECT_NEAR(a.z, b.z, within);
}

}  // namespace meridian::test
