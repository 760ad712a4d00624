// SPDX-License-Identifier: MIT
#pragma once
/// The world: entities come in, move and go; others ask what is where. It hands what is done to *representations*, each
/// of which handles some classes of entities and some operations. The scene is the one that games have
/// (scene/scene_representation.h); tests and tools add others.
///
///   SceneRepresentation scene;
///   World world;
///   Status ready = world.init({.table = &table});
///   ready = world.add_representation(scene);
///   ready = world.add(lamp);                                  // a live entity with a handle
///   place(lamp, at);
///   ready = world.update(lamp);                               // its descriptor follows
///   world.lock();                                             // searches and scans may run from here
///   ready = world.defer(move_change(lamp.handle(), at));      // comes into effect at the unlock
///   world.unlock();
///
/// While the world is locked, changes are refused with in_use (and asserted, where asserts are on). defer() takes them
/// instead, and applies them in order when the last lock goes. An entity of a deferred destruction lives until then.
///
/// Positions are relative to an origin that may be moved (rebase), so that floats stay fine where the camera is.
///
/// Threads: main. search_now: any number of readers while the owner holds a lock.
/// Memory:  the queue of deferred changes, in init().

#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/base/world_origin.h"
#include "meridian/entity/entity.h"
#include "meridian/entity/entity_table.h"
#include "meridian/scene/query.h"

namespace meridian {

/// Largest extent that an index may give a world. [m]
inline constexpr float kMaxWorldExtent = 65536;
/// Where no index says otherwise. [m]
inline constexpr float kDefaultWorldExtent = 16000;

/// What is done with the world; representations say which of these they take part in.
enum class WorldOperation : uint8_t { add, remove, update, pre_scan, search };
constexpr uint32_t operation_bit(WorldOperation operation) { return 1u << static_cast<unsigned>(operation); }
inline constexpr uint32_t kAllOperations = 0x1F;

class World;

/// One way to keep track of entities.
class Representation {
 public:
  /// `types`: union of type_bit; `operations`: union of operation_bit.
  Representation(uint32_t types, uint32_t operations) : types_(types), operations_(operations) {}
  virtual ~Representation() { leave_world(); }
  Representation(const Representation&) = delete;
  Representation& operator=(const Representation&) = delete;

  bool handles(EntityClass type) const { return (types_ & type_bit(type)) != 0; }
  bool handles(WorldOperation operation) const { return (operations_ & operation_bit(operation)) != 0; }

  virtual Status add(Entity& entity) = 0;
  virtual Status remove(Entity& entity) = 0;
  /// The entity moved, was hidden, or changed in another way that descriptors show.
  virtual Status update(Entity& entity) = 0;
  /// Once a frame, while nothing is locked.
  virtual void pre_scan() {}
  virtual void lock() {}
  virtual void unlock() {}
  /// Readers are at work, whoever let them.
  virtual bool is_locked() const { return false; }
  /// The origin moved: positions become larger by `delta`. A representation moves the entities that are its own.
  virtual void rebase(const Vec3& delta, const WorldOrigin& origin) {
    (void)delta;
    (void)origin;
  }
  /// Adds what it finds to `result`, and stores from out[result.stored] on.
  virtual Status search(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) = 0;

 protected:
  /// Before it is added to a world.
  void set_types(uint32_t types) { types_ = types; }
  /// Its lock went by other ways than World::unlock, such as a search that ended.
  void tell_unlocked();

 private:
  friend class World;
  /// The destructor is here, and not in the library, which has no RTTI: whoever derives from this may have it.
  void leave_world();
  uint32_t types_, operations_;
  World* world_ = nullptr;
};

/// A change that waits for the unlock.
struct WorldChange {
  enum class Kind : uint8_t { add, remove, update, destroy, move, alpha, mask, call };
  Kind kind = Kind::update;
  uint8_t alpha = 255;
  uint16_t mask = 0;
  EntityHandle entity;
  Transform to;                                                          ///< of a move
  void (*function)(World& world, void* user, uint64_t value) = nullptr;  ///< of a call
  void* user = nullptr;
  uint64_t value = 0;
};
WorldChange add_change(EntityHandle entity);
WorldChange remove_change(EntityHandle entity);
WorldChange update_change(EntityHandle entity);
/// Takes it out of the world, and has WorldConfig::destroy destroy it.
WorldChange destroy_change(EntityHandle entity);
WorldChange move_change(EntityHandle entity, const Transform& to);
WorldChange alpha_change(EntityHandle entity, uint8_t alpha);
WorldChange mask_change(EntityHandle entity, uint16_t mask);
/// Anything else, such as hiding by a module.
WorldChange call_change(void (*function)(World& world, void* user, uint64_t value), void* user, uint64_t value);

struct WorldConfig {
  EntityTable* table = nullptr;        ///< not null; turns the handles of deferred changes into entities
  uint32_t deferred_changes = 1024;    ///< that may wait [count]
  float extent = kDefaultWorldExtent;  ///< positions are within [-extent, extent] on each axis [0, kMaxWorldExtent] [m]
  /// Destroys an entity that was taken out of the world; null: destroy() is refused.
  void (*destroy)(void* user, Entity& entity) = nullptr;
  void* user = nullptr;
};

struct WorldStatistics {
  uint64_t deferred = 0;      ///< changes that waited [count]
  uint64_t stale = 0;         ///< whose entity was gone when their turn came [count]
  uint64_t failed = 0;        ///< that were refused then; the log says why [count]
  uint32_t most_waiting = 0;  ///< at once [count]
};

class World {
 public:
  static constexpr uint32_t kMaxRepresentations = 4;

  World() = default;
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Requires: called once; a table (asserted; otherwise in_use, bad_value). Errors: out_of_memory, bad_value (extent).
  Status init(const WorldConfig& config, Allocator& allocator = default_allocator());
  /// Representations are asked in the order in which they came. Either may end first.
  /// Errors: out_of_slots (kMaxRepresentations).
  Status add_representation(Representation& representation);
  /// Forgets one, and does nothing to what it holds.
  void remove_representation(Representation& representation);

  /// Puts an entity into each representation that handles its class; all or none.
  /// Errors: in_use (locked; or it is in the world already), bad_value (not finite, outside the world's extent), and
  ///         what a representation says.
  Status add(Entity& entity);
  /// Errors: in_use (locked), not_found (it is not in the world).
  Status remove(Entity& entity);
  /// Has descriptors follow what was changed in the entity. Errors: as add; on failure they are as before.
  Status update(Entity& entity);
  /// place(), and update(). On failure the entity is where it was. Errors: as update.
  Status move(Entity& entity, const Transform& to);
  /// Takes it out of the world if it is there, and has it destroyed. Errors: in_use (locked; no WorldConfig::destroy).
  Status destroy(Entity& entity);
  Status set_alpha(Entity& entity, uint8_t alpha);
  Status set_visibility_mask(Entity& entity, uint16_t mask);

  /// Puts a change off until the unlock; applies it at once if the world is not locked.
  /// Errors: out_of_slots (too many wait; the log says so once), and when applied at once, what the change itself says.
  Status defer(const WorldChange& change);
  uint32_t waiting() const { return waiting_; }

  /// Counts. The first makes representations ready for readers; the last unlock applies deferred changes.
  void lock();
  void unlock();
  /// Also while a representation is: by a scan or a search that has not ended.
  bool is_locked() const;
  /// Once a frame, before scans.
  void pre_scan();

  /// Every representation that handles searches, one after the other. Takes no lock: the owner holds one, or is who
  /// asks. Errors: bad_value (see check(EntityQuery)).
  Status search_now(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) const;

  /// Moves the origin: positions become larger by `delta`. Map data that comes later is moved by origin(). Queries and
  /// cameras of the caller are the caller's to move.
  /// Errors: in_use (locked), bad_value (not finite).
  Status rebase(const Vec3& delta);
  const WorldOrigin& origin() const { return origin_; }
  /// Rises with each rebase, so that who keeps positions sees that they are old.
  uint32_t epoch() const { return epoch_; }
  float extent() const { return config_.extent; }

  const WorldStatistics& statistics() const { return statistics_; }
  EntityTable& table() const { return *config_.table; }

 private:
  Status refuse() const;
  Status check(const Entity& entity) const;
  friend class Representation;
  Status apply(const WorldChange& change);
  void apply_waiting();

  WorldConfig config_;
  Representation* representations_[kMaxRepresentations] = {};
  uint32_t representation_count_ = 0, locks_ = 0;
  WorldChange* queue_ = nullptr;
  uint32_t waiting_ = 0;
  uint32_t epoch_ = 0;
  bool said_full_ = false, is_applying_ = false;
  WorldOrigin origin_;
  WorldStatistics statistics_;
  Allocator* allocator_ = nullptr;
};

}  // namespace meridian
