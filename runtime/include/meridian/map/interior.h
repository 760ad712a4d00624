// SPDX-License-Identifier: MIT
#pragma once
/// A placed interior: a node with rooms and portals, the entities in them, and entity sets that are switched on and off
/// at run time. Made with the map that places it (map/map_world.h).
///
///   Interior* bank = maps.interior(bank_door.interior());
///   Status done = bank->set_entity_set(hash_name("vault_open"), true);
///   const InteriorLocation where = bank->location_of(camera);          // the room that a point is in
///
/// Entities are numbered as in the file: those of the interior first, then those of each entity set. Each stands in the
/// room or portal that lists it, others in room 0.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  one block, and one for each entity set that is on.

#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/entity/entity.h"
#include "meridian/entity/interior_location.h"
#include "meridian/map/entity_arrays.h"
#include "meridian/scene/scene_graph.h"

namespace meridian {

class MapWorld;
class MapContents;
class Archetype;

namespace schema {
struct MloArchetypeDef;
struct MloInstanceDef;
struct EntityDef;
}  // namespace schema

class Interior {
 public:
  Interior() = default;
  ~Interior() = default;
  Interior(const Interior&) = delete;
  Interior& operator=(const Interior&) = delete;

  /// As in InteriorLocation.
  int32_t number() const { return number_; }
  /// The entity that stands for it in its map.
  Entity& instance() const { return *instance_; }
  MapContents& map() const { return *map_; }
  /// Null: it has more rooms or portals than an InteriorLocation counts, and stays empty.
  const schema::MloArchetypeDef* definition() const { return definition_; }
  /// Null while it waits: there were no nodes or containers left when its map came.
  InteriorNode* node() const { return node_; }
  bool is_waiting() const { return definition_ != nullptr && node_ == nullptr; }

  uint32_t room_count() const { return room_count_; }
  uint32_t portal_count() const { return portal_count_; }
  /// Null while it waits, or where there is none.
  RoomNode* room(uint32_t index) const;
  PortalNode* portal(uint32_t index) const;
  /// A door shuts or opens. Nothing happens where the portal's flags do not allow closing, or there is none.
  /// Errors: not_found (no such portal), in_use (locked).
  Status set_portal_closed(uint32_t index, bool closed);

  /// Entities of the interior and of all its sets. [count]
  uint32_t entity_count() const { return static_cast<uint32_t>(entities_.size()); }
  /// Null: its set is off, or it was left out.
  Entity* entity(uint32_t index) const { return index < entities_.size() ? entities_[index] : nullptr; }
  uint32_t created() const { return created_; }
  /// Where an entity belongs. Requires: index < entity_count() (otherwise outside).
  InteriorLocation location_of_entity(uint32_t index) const;

  uint32_t set_count() const { return set_count_; }
  NameHash set_name(uint32_t index) const;
  /// False too if there is no such set.
  bool is_set_on(NameHash name) const;
  /// Makes the entities of a set, or destroys them.
  /// Errors: not_found, in_use (locked), out_of_memory, out_of_slots (containers); the set is then as it was.
  Status set_entity_set(NameHash name, bool on);

  /// The smallest room whose box holds a point of the world; room 0 if none does but the interior's own box. Outside
  /// if it is beyond that, too.
  InteriorLocation location_of(const Vec3& point) const;
  /// From the interior's space to the world.
  const Transform& at() const;

 private:
  friend class MapWorld;
  friend class MapContents;

  struct Set;
  Status load(MapWorld& maps, MapContents& map, Entity& instance, const schema::MloInstanceDef* more);
  Status try_load(MapWorld& maps, MapContents& map, Entity& instance, const schema::MloInstanceDef* more);
  /// Nodes and entities. out_of_slots: there are no nodes or containers left, it waits.
  Status furnish();
  Status furnish(uint32_t set);
  void strip();
  bool make_nodes();
  void find_locations();
  Status make_entities(uint32_t set);
  void destroy_entities(uint32_t set);
  Status add_to_scene(uint32_t set);
  void tell(const Entity& entity, const Status& added);
  bool stands_outside(const Entity& entity) const;
  uint32_t room_of(uint32_t counted) const;
  /// Tries again after it had to wait.
  bool retry();
  Status show();
  Status hide();
  void place_anew();
  void place_nodes();
  /// True: the name of some means nothing.
  bool take_archetypes();
  /// Its own archetype is another one now.
  void restart();
  void unload();
  InteriorLocation place_in(bool is_portal, uint32_t index) const;

  MapWorld* maps_ = nullptr;
  MapContents* map_ = nullptr;
  Entity* instance_ = nullptr;
  const schema::MloArchetypeDef* definition_ = nullptr;
  const schema::MloInstanceDef* more_ = nullptr;
  InteriorNode* node_ = nullptr;
  Interior* next_in_map_ = nullptr;
  std::byte* block_ = nullptr;
  size_t block_bytes_ = 0;
  std::span<Entity*> entities_;
  std::span<InteriorLocation> locations_;
  Set* sets_ = nullptr;  // the interior's own entities first, then its sets
  EntityHandle group_;
  int32_t number_ = -1;
  uint32_t room_count_ = 0, portal_count_ = 0, set_count_ = 0, created_ = 0;
  bool is_shown_ = false;
};

}  // namespace meridian
