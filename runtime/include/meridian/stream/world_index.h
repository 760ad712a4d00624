// SPDX-License-Identifier: MIT
#pragma once
/// The world index (.widx): what a loader must know of all maps, type files and archetypes before it reads any of them.
/// It is used where it lies.
///
///   Result<WorldIndex> opened = open_world_index(bytes);
///   if (!opened.ok()) return opened.status();
///   const WorldIndex& world = opened.value();
///   if (const MapSlot* town = world.find_map(hash_name("town")))
///     for (const NameHash types : world.dependencies(*town)) request_types(types);
///
/// Rows are sorted by name; the place of a row is its *slot*. Names of other files (parents, type files) may lead
/// outside, because a layer of a world has an index of its own: look them up in the layers below.
///
/// A map's dependencies are all type files that it needs, those that its type files need in turn among them; a type
/// file's are only those that it needs itself.
///
/// Threads: open_world_index is reentrant; a WorldIndex is immutable.
/// Memory:  no allocation.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/status.h"
#include "meridian/resource/resource.h"
#include "meridian/stream/box_tree.h"

namespace meridian {

namespace schema {
struct WorldIndex;
struct IndexGroup;
}  // namespace schema

inline constexpr uint32_t kWorldIndexKind = kind_of("WIDX");

/// What a streaming box stands for.
enum class BoxAsset : uint8_t {
  bounds_mover = 0,
  bounds_weapon = 1,
  bounds_material = 2,
  map_high = 3,           ///< what is seen from near
  map_high_critical = 4,  ///< the same, marked as critical by its author
  map_medium = 5,         ///< the first levels of detail
  map_low = 6,            ///< what is seen from afar
  metadata = 7,
};

/// The asset kind of a map, by its schema::MapContentFlags. What is wanted first decides:
/// HD entities or interiors: high, critical if so marked; else LOD and SLOD1 entities, or LOD lights: medium;
/// else SLOD2 to SLOD4 entities, or distant LOD lights: low; else (grass, occluders, collision, car generators): high.
constexpr BoxAsset map_asset(uint32_t content_flags) {
  constexpr uint32_t kHd = 1u << 0, kLod = 1u << 1, kSlod2 = 1u << 2, kInterior = 1u << 3, kLodLights = 1u << 7,
                     kDistantLights = 1u << 8, kCritical = 1u << 9;
  const BoxAsset high = (content_flags & kCritical) != 0 ? BoxAsset::map_high_critical : BoxAsset::map_high;
  if ((content_flags & (kHd | kInterior)) != 0) return high;
  if ((content_flags & (kLod | kLodLights)) != 0) return BoxAsset::map_medium;
  if ((content_flags & (kSlod2 | kDistantLights)) != 0) return BoxAsset::map_low;
  return high;
}

/// One map. Members are those of schema::IndexMap.
struct MapSlot {
  NameHash name;                 ///< what the file is called, not 0
  NameHash parent;               ///< 0 none; it may be in another index
  Aabb entities;                 ///< box of the contents; may be inside out [m]
  Aabb streaming;                ///< a camera inside makes the map stream in; may be inside out [m]
  uint32_t content_flags = 0;    ///< schema::MapContentFlags
  uint32_t flags = 0;            ///< schema::MapFlags
  uint32_t size = 0;             ///< of the resource [bytes]
  uint32_t entity_count = 0;     ///< interior instances among them
  uint32_t interior_count = 0;   ///< interior instances
  uint32_t lod_light_count = 0;  ///< LOD lights and distant LOD lights
  uint32_t car_generator_count = 0;
  uint32_t time_cycle_box_count = 0;
  uint32_t occluder_count = 0;  ///< boxes and meshes
  uint32_t grass_batch_count = 0;
  uint32_t dependencies = 0;                  ///< see WorldIndex::dependencies
  uint32_t first_child = 0, child_count = 0;  ///< see WorldIndex::children
  BoxAsset asset = BoxAsset::map_high;        ///< one of the four map kinds
  uint8_t pad0 = 0;
  uint16_t pad1 = 0;
};

/// One type file. Members are those of schema::IndexTypes.
struct TypesSlot {
  NameHash name;                 ///< what the file is called, not 0
  uint32_t flags = 0;            ///< kPermanent
  uint32_t archetype_count = 0;  ///< composite entities among them
  uint32_t size = 0;             ///< of the resource [bytes]
  uint32_t dependencies = 0;     ///< see WorldIndex::dependencies

  static constexpr uint32_t kPermanent = 1;  ///< loaded once and for good
  bool is_permanent() const { return (flags & kPermanent) != 0; }
};

/// Which structure defines an archetype.
enum class ArchetypeKind : uint8_t { base = 0, time = 1, mlo = 2, composite = 3 };

/// One archetype, where it is in force. Members are those of schema::IndexArchetype.
struct ArchetypeRow {
  NameHash name;            ///< not 0
  uint32_t types = 0;       ///< slot of the type file that defines it
  Aabb box;                 ///< of the model [m]
  Vec3 sphere_centre;       ///< of the model [m]
  float sphere_radius = 0;  ///< [m]
  float lod_distance = 0;   ///< of entities that do not set their own [m]
  uint32_t flags = 0;       ///< schema::ArchetypeFlags
  ArchetypeKind kind = ArchetypeKind::base;
  uint8_t pad0 = 0;
  uint16_t pad1 = 0;
};
static_assert(sizeof(MapSlot) == 112 && sizeof(TypesSlot) == 20 && sizeof(ArchetypeRow) == 60);

/// Maps that are switched on and off together.
struct MapGroup {
  NameHash name;                            ///< and that of its topmost map
  uint32_t flags = 0;                       ///< schema::MapDataGroupFlags: kTimeDependent, kWeatherDependent
  uint32_t hours = 0;                       ///< bit h: on in [h:00, h+1:00); counts if kTimeDependent
  std::span<const NameHash> weather_types;  ///< on in these; counts if kWeatherDependent; ascending
  std::span<const uint32_t> maps;           ///< slots of the map of that name and of all below it; ascending
  std::span<const NameHash> bounds;         ///< collision files that go with it; ascending

  static constexpr uint32_t kTimeDependent = 1, kWeatherDependent = 2;
};

/// A checked view of an index. Bytes must outlive it.
class WorldIndex {
 public:
  WorldIndex() = default;
  /// Requires: opened by open_resource as kWorldIndexKind, which checks it.
  explicit WorldIndex(const Resource& resource);

  /// All sorted by name.
  std::span<const MapSlot> maps() const { return maps_; }
  std::span<const TypesSlot> types() const { return types_; }
  std::span<const ArchetypeRow> archetypes() const { return archetypes_; }

  /// By binary search; null if there is none.
  const MapSlot* find_map(NameHash name) const;
  const TypesSlot* find_types(NameHash name) const;
  const ArchetypeRow* find_archetype(NameHash name) const;

  /// Type files that a map needs, directly or through others. Ascending. Requires: a row of this index.
  std::span<const NameHash> dependencies(const MapSlot& map) const { return list(map.dependencies); }
  /// Type files that a type file needs itself. Ascending. Requires: a row of this index.
  std::span<const NameHash> dependencies(const TypesSlot& types) const { return list(types.dependencies); }
  /// Slots of the maps that name this one as parent. Ascending. Requires: a row of this index.
  std::span<const uint32_t> children(const MapSlot& map) const {
    return children_.subspan(map.first_child, map.child_count);
  }

  uint32_t group_count() const;
  /// Groups are sorted by name. Requires: index < group_count().
  MapGroup group(uint32_t index) const;
  /// Fills `out` if there is such a group. By binary search.
  bool find_group(NameHash name, MapGroup& out) const;

  /// Items are map slots. Boxes of contents, and boxes in which a camera makes maps stream in.
  const BoxTree& entities_tree() const { return entities_tree_; }
  const BoxTree& streaming_tree() const { return streaming_tree_; }

 private:
  std::span<const NameHash> list(uint32_t index) const {
    return dependencies_.subspan(lists_[index], lists_[index + 1] - lists_[index]);
  }

  std::span<const MapSlot> maps_;
  std::span<const TypesSlot> types_;
  std::span<const ArchetypeRow> archetypes_;
  std::span<const uint32_t> lists_, children_;
  std::span<const NameHash> dependencies_;
  const schema::WorldIndex* root_ = nullptr;
  BoxTree entities_tree_, streaming_tree_;
};

/// open_resource, and a view of what it opened. open_resource checks of an index that names ascend, every index and
/// range is inside its array, children name their parent, and both trees are such: each node named once by a node
/// before it, at most kMaxBoxTreeDepth levels, each map in one place or listed as outside, each box that of its map or
/// the union of what is below it. `trusted`: bytes that were verified before; see OpenOptions. Errors:   as
/// open_resource. Threads:  reentrant. Memory:   none.
Result<WorldIndex> open_world_index(std::span<const std::byte> bytes, bool trusted = false);

}  // namespace meridian
