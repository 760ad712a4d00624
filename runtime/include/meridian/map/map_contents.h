// SPDX-License-Identifier: MIT
#pragma once
/// What a loaded map is in the world: its entities by the index that they have in the file, its node in the scene, and
/// views of everything else that the file holds. Made by load_map_data, or step by step (map/map_world.h).
///
///   Entity* lamp = town->entity(12);                     // null: it was left out
///   const MapParts parts = town->parts();                // occluders, lights, car generators, grass ...
///   Status ready;
///   if (!town->is_shown()) ready = town->show();         // it was postponed, or the world was locked
///   for (uint32_t i = 0; i < town->batch_count(); ++i)
///     if (Entity* grass = town->batch(i)) use(*batch_of(*grass));        // entity/entity_batch.h
///
/// While it loads step by step, it is as far as the steps have come: entities are null until they are made, links and
/// descriptors are not there yet. What is changed in its interiors meanwhile may be forgotten.
///
/// Threads: main; readers while nobody changes it.

#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/entity/entity.h"
#include "meridian/entity/model_id.h"
#include "meridian/map/entity_arrays.h"
#include "meridian/map/map_parts.h"
#include "meridian/scene/desc_block.h"
#include "meridian/scene/lod_set.h"
#include "meridian/scene/scene_graph.h"

namespace meridian {

class MapLodSets;
class MapWorld;
class Resource;
struct ArchetypeTraits;
struct EntityBatch;
struct EntityInit;
struct MapLoadProgress;
struct MapPlacement;
struct MapStatistics;
struct WorldOrigin;
class Interior;

namespace detail {
struct BlockMemory;
}
namespace schema {
struct EntityDef;
struct MapData;
struct MloInstanceDef;
}  // namespace schema

class MapContents {
 public:
  MapContents() = default;
  ~MapContents() = default;
  MapContents(const MapContents&) = delete;
  MapContents& operator=(const MapContents&) = delete;

  ImapSlot slot() const { return slot_; }
  NameHash name() const { return name_; }
  /// The file itself. Never null while it is loaded.
  const schema::MapData& data() const { return *map_; }
  MapParts parts() const { return map_parts(*map_); }

  /// Steps are missing: see step_map_load.
  bool is_loading() const { return loading_ != nullptr; }

  /// Entities that the file places. [count]
  uint32_t entity_count() const { return entity_count_; }
  /// Those of them that were made and live. [count]
  uint32_t created() const { return created_; }
  /// Entity `index` of the file, or null. Requires: index < entity_count() (otherwise null).
  Entity* entity(uint32_t index) const { return index < entities_.size() ? entities_[index] : nullptr; }
  /// Its handle, whether it was made or not.
  EntityHandle handle(uint32_t index) const { return entity_of_group(group_, index); }
  /// Lists of instances that the file has, prop lists first, then grass batches. [count]
  uint32_t batch_count() const { return static_cast<uint32_t>(batches_.size()); }
  /// The entity that stands for a list; entity/entity_batch.h says which list it is. Those of grass are in the map's
  /// node like other entities, and are null where they were left out. Of prop lists no member is known: their entities
  /// have no archetype, no box and no descriptor. Requires: index < batch_count() (otherwise null).
  Entity* batch(uint32_t index) const { return index < batches_.size() ? batches_[index] : nullptr; }

  /// All entities of a class stand in one array. Those that were destroyed by themselves leave holes in it.
  std::span<std::byte> array_of(EntityClass type) const { return arrays_.array_of(type); }

  /// Null where the map places nothing.
  StreamedNode* node() const { return node_; }
  /// The blocks that the linker made were right, and were copied.
  bool used_cooked_blocks() const { return used_cooked_; }

  bool is_shown() const { return is_shown_; }
  /// Puts its node and its interiors into the world. Errors: in_use (locked; it is loading).
  Status show();
  /// Takes them out, and leaves everything as it is. Errors: in_use (locked).
  Status hide();

  /// The contents that its entities name LOD parents in, or null.
  MapContents* parent() const { return parent_; }
  /// Binds the LOD links that lead into the parent map, which came later. Descriptors follow where the parent's sets
  /// are not what they were made for. Requires: it has no parent (asserted). Errors: in_use (locked; the parent is
  /// loading), out_of_slots.
  Status bind_parent(MapContents& parent);
  /// Undoes it: the parent leaves.
  void unbind_parent();
  /// The LOD parent of an entity, or null if it has none, or that one is not there.
  Entity* lod_parent(const Entity& entity) const;
  /// Follows parents up to the last that is there; null for an entity without a parent. Ends after kMaxLodChain steps.
  Entity* lod_root(const Entity& entity) const;
  /// Rows of the link table that descriptors count.
  std::span<const LodLinkRow> links() const { return links_; }
  /// The LOD set that a row stands for (MapWorld::lod_sets), kNoLodSetId while its parent is not in the world, or this
  /// map is not: entities of such a row fade alone. Requires: row < links().size() (otherwise kNoLodSetId).
  uint32_t lod_set_id(uint32_t row) const { return row < links_.size() ? lod_ids_[row] : kNoLodSetId; }
  /// Where an entity of the file stands among the LOD sets. Requires: index < entity_count() (otherwise none).
  LodPlace lod_place(uint32_t index) const;
  /// The same by row. What readers of its containers see, too.
  std::span<const uint32_t> lod_set_ids() const { return lod_ids_.first(links_.size()); }

  /// Destroys one entity of the map by itself, with the interior that it stands for; nothing makes it again while the
  /// map is loaded: while it loads, also not one that was not made yet.
  /// Errors: in_use (locked), not_found.
  Status destroy_entity(uint32_t index);

 private:
  friend class MapLodSets;
  friend class MapWorld;
  friend class Interior;
  friend Result<MapContents*> load_map_data(MapWorld&, const Resource&, const MapPlacement&);
  friend Result<MapContents*> begin_map_load(MapWorld&, const Resource&, const MapPlacement&);
  friend Result<MapLoadProgress> step_map_load(MapWorld&, MapContents&, uint32_t);
  friend Status unload_map_data(MapWorld&, MapContents&);

  // Loading. Each of the passes handles what a step may, and says when it is over.
  struct Loading;
  Status begin(MapWorld& maps, const Resource& resource, const MapPlacement& placement);
  Status step(uint32_t max_entities, MapLoadProgress& out);
  Status begin_anew();
  void end_loading();
  void set_stale();
  void check_meaning(NameHash name);
  bool uses_name(NameHash name) const;
  Status find_archetypes(Loading& in);
  Status check_cooked(Loading& in);
  Status take_arrays(Loading& in);
  Status make_entities(Loading& in);
  Status make_batches(Loading& in);
  Status make_extensions(Loading& in);
  Status make_node(Loading& in);
  Status link_entities(Loading& in);
  Status describe_entities(Loading& in);
  Status build_entity_blocks(Loading& in);
  Status place_blocks(Loading& in);
  Status place_batch_blocks(Loading& in);
  Status tag_containers(Loading& in);
  Status bind_inside(Loading& in);
  Status bind_outside(Loading& in);
  Status tell_host(Loading& in);
  Status make_interiors(Loading& in);

  inline DescStatus make_entity(Entity& entity, const schema::EntityDef& definition, Archetype& archetype,
                                const EntityInit& how, bool is_moved);
  void tell_bad(uint32_t index, DescStatus why);
  MapStatistics& statistics();
  static void move_to_origin(Entity& entity, const schema::EntityDef& definition, const WorldOrigin& origin);
  Status make_links(std::span<const ArchetypeTraits* const> traits, std::span<const LodParent> parents);
  void describe(uint32_t first, uint32_t last, std::span<EntityDesc> descs);
  Status add_batch_blocks(const detail::BlockMemory& memory);
  void free_links();
  uint32_t lod_rows() const;
  void take_lod_memory(std::span<std::byte> memory, uint32_t rows);
  void tag(uint32_t container, uint32_t first, uint32_t last);
  static bool bind(Entity& child, const MapContents& in);
  bool bind_outside_links();
  void go_aside();
  void come_into_force();
  void tell_slot();
  void move_dependency(ItypSlot from, ItypSlot to);
  void join_parent(MapContents& parent);
  void leave_parent();
  void unbind_links();
  void check_children();
  Status make_interior(uint32_t index, const schema::MloInstanceDef* more);
  Status make_all_interiors();
  LodParent lod_parent_of(uint32_t entity, const MapContents* parent) const;

  std::span<Entity*> all() const { return {entities_.data(), entities_.size() + batches_.size()}; }
  uint32_t prop_list_count() const;
  schema::EntityDef definition_of_batch(uint32_t index, Vec3& half) const;
  void drop_batch(uint32_t index, const char* why);
  bool is_told_of(uint32_t index) const;
  bool is_any_told() const;

  bool is_in_blocks(const Entity& entity) const;
  Status rebuild();
  Status build_blocks_anew();
  void place_anew();
  bool take_archetypes();
  bool take_batch_archetypes(bool& waits);
  Interior* interior_of(const Entity& instance) const;
  void drop_entity(uint32_t index);
  void unbind_children(uint32_t index);
  void take_back();
  void unload();

  MapWorld* maps_ = nullptr;
  const schema::MapData* map_ = nullptr;
  ImapSlot slot_ = kNoImap;
  NameHash name_{};
  EntityHandle group_;
  std::span<Entity*> entities_;
  std::span<Entity*> batches_;         // behind entities_, in the same group
  std::span<EntityBatch> batch_data_;  // of each batch
  EntityArrays arrays_;
  std::span<LodLinkRow> own_links_;    // in the block
  std::span<const LodLinkRow> links_;  // own ones, or those in the file
  StreamedNode* node_ = nullptr;
  MapContents* parent_ = nullptr;
  MapContents *first_child_ = nullptr, *next_sibling_ = nullptr;  // of those that are bound to this as parent
  Interior* first_interior_ = nullptr;
  Loading* loading_ = nullptr;  // null: it is loaded
  uint32_t entity_count_ = 0, created_ = 0, batches_created_ = 0;
  // LOD sets: see map/lod_sets.h of the sources.
  std::span<uint32_t> lod_ids_;               // by row; longer than links_, which may grow
  std::span<uint32_t> lod_heads_, lod_next_;  // children of each row, one behind the other
  uint32_t first_lod_set_ = kNoLodSetId;      // of those whose parents are here
  uint8_t priority_cap_ = 0;
  bool lod_children_listed_ = false, lacks_lod_sets_ = false;
  bool used_cooked_ = false, is_shown_ = false;
  bool is_told_ = false;      // the host knows of the entities
  bool is_leaving_ = false;   // listeners are told that it goes
  bool is_given_up_ = false;  // they have been, though it is there yet
  bool is_aside_ = false;     // a version that is not in force: its parent is known, and knows nothing of it
};

}  // namespace meridian
