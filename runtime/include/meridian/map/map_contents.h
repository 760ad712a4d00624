// SPDX-License-Identifier: MIT
#pragma once
/// What a loaded map is in the world: its entities by the index that they have in the file, its node in the scene, and
/// views of everything else that the file holds. Made by load_map_data (map/map_world.h).
///
///   Entity* lamp = town->entity(12);                     // null: it was left out
///   const MapParts parts = town->parts();                // occluders, lights, car generators, grass ...
///   Status ready;
///   if (!town->is_shown()) ready = town->show();         // it was postponed, or the world was locked
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
#include "meridian/scene/scene_graph.h"

namespace meridian {

class MapWorld;
class Resource;
struct MapPlacement;
struct WorldOrigin;
class Interior;

namespace schema {
struct EntityDef;
struct MapData;
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

  /// Entities that the file places. [count]
  uint32_t entity_count() const { return static_cast<uint32_t>(entities_.size()); }
  /// Those of them that were made and live. [count]
  uint32_t created() const { return created_; }
  /// Entity `index` of the file, or null. Requires: index < entity_count() (otherwise null).
  Entity* entity(uint32_t index) const { return index < entities_.size() ? entities_[index] : nullptr; }
  /// Its handle, whether it was made or not.
  EntityHandle handle(uint32_t index) const { return entity_of_group(group_, index); }
  /// All entities of a class stand in one array. Those that were destroyed by themselves leave holes in it.
  std::span<std::byte> array_of(EntityClass type) const { return arrays_.array_of(type); }

  /// Null where the map places nothing.
  StreamedNode* node() const { return node_; }
  /// The blocks that the linker made were right, and were copied.
  bool used_cooked_blocks() const { return used_cooked_; }

  bool is_shown() const { return is_shown_; }
  /// Puts its node and its interiors into the world. Errors: in_use (locked).
  Status show();
  /// Takes them out, and leaves everything as it is. Errors: in_use (locked).
  Status hide();

  /// The contents that its entities name LOD parents in, or null.
  MapContents* parent() const { return parent_; }
  /// Binds the LOD links that lead into the parent map, which came later. Descriptors follow where the parent's sets are
  /// not what they were made for. Requires: it has no parent (asserted). Errors: in_use (locked), out_of_slots.
  Status bind_parent(MapContents& parent);
  /// Undoes it: the parent leaves.
  void unbind_parent();
  /// The LOD parent of an entity, or null if it has none, or that one is not there.
  Entity* lod_parent(const Entity& entity) const;
  /// Follows parents up to the last that is there; null for an entity without a parent. Ends after kMaxLodChain steps.
  Entity* lod_root(const Entity& entity) const;
  /// Rows of the link table that descriptors count.
  std::span<const LodLinkRow> links() const { return links_; }

  /// Destroys one entity of the map by itself, with the interior that it stands for; nothing makes it again while the
  /// map is loaded.
  /// Errors: in_use (locked), not_found.
  Status destroy_entity(uint32_t index);

 private:
  friend class MapWorld;
  friend class Interior;
  friend Result<MapContents*> load_map_data(MapWorld&, const Resource&, const MapPlacement&);
  friend Status unload_map_data(MapWorld&, MapContents&);

  struct Loading;
  Status load(MapWorld& maps, const Resource& resource, const MapPlacement& placement);
  Status find_archetypes(Loading& loading);
  void make_entities(Loading& loading);
  void tell_bad(uint32_t index, DescStatus why);
  static void move_to_origin(Entity& entity, const schema::EntityDef& definition, const WorldOrigin& origin);
  Status make_blocks(Loading& loading);
  Status build_blocks_now(std::span<const ArchetypeTraits* const> traits, std::span<const LodParent> parents);
  void free_links();
  void tag_entities();
  void bind_inside();
  static bool bind(Entity& child, const MapContents& in);
  void bind_to_parent(MapContents& parent);
  void check_children();
  Status make_interiors();
  LodParent lod_parent_of(uint32_t entity, const MapContents* parent) const;

  bool is_in_blocks(const Entity& entity) const;
  Status rebuild();
  Status build_blocks_anew();
  void place_anew();
  void take_archetypes();
  Interior* interior_of(const Entity& instance) const;
  void drop_entity(uint32_t index);
  void unbind_children(uint32_t index);
  void unload();

  MapWorld* maps_ = nullptr;
  const schema::MapData* map_ = nullptr;
  ImapSlot slot_ = kNoImap;
  NameHash name_{};
  EntityHandle group_;
  std::span<Entity*> entities_;
  EntityArrays arrays_;
  std::span<LodLinkRow> own_links_;    // in the block
  std::span<const LodLinkRow> links_;  // own ones, or those in the file
  StreamedNode* node_ = nullptr;
  MapContents* parent_ = nullptr;
  MapContents *first_child_ = nullptr, *next_sibling_ = nullptr;  // of those that are bound to this as parent
  Interior* first_interior_ = nullptr;
  uint32_t created_ = 0;
  bool used_cooked_ = false, is_shown_ = false;
  bool is_told_ = false;  // the host knows of the entities
};

}  // namespace meridian
