// SPDX-License-Identifier: MIT
#pragma once
/// What only moving entities have: being attached to another one, and the host's data for what moves. The component is
/// made when something asks for it, and goes when nothing is left in it.
///
///   DynamicComponents components;
///   Status ready = components.init({.capacity = 500});
///   Entity car, lamp, bulb;
///   Status attached = components.attach(lamp, car, {.offset = {.position = {0, 2, 1, 1}}});
///   attached = components.attach(bulb, lamp, {});
///   place(car, {.position = {100, 0, 0, 1}});           // lamp and bulb are at (100, 2, 1) now
///   components.remove(car);                             // and stay there when it goes
///
/// An attached entity stands at its offset from what it is attached to, its *parent*, at all times: moving, turning,
/// hiding or showing the parent does so with the whole tree below it. Its own scale stays, the parent's has no say.
/// What is attached cannot be placed by itself, unless it was attached with AttachFlag::allow_move.
///
/// The tree is linked through the components, so parent and children always know of each other: an entity that dies
/// takes itself out.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  a pool, "fwDynamicEntityComponent", in init(): about 240 bytes each.
/// Source:  own.

#include <cstdint>
#include <span>

#include "meridian/base/flags.h"
#include "meridian/base/math.h"
#include "meridian/base/status.h"
#include "meridian/core/pool.h"
#include "meridian/entity/entity.h"
#include "meridian/entity/entity_host.h"

namespace meridian {

class DynamicComponents;

enum class AttachFlag : uint8_t {
  allow_move = 1 << 0,    ///< place() moves it, and with it its offset; otherwise that is a fault
  keep_visible = 1 << 1,  ///< hiding the parent does not hide it
};

/// How an entity is attached.
struct AttachConfig {
  Transform offset{};  ///< from the parent's space, without its scale; the scale is the entity's own
  Flags<AttachFlag> flags{};
};

/// What a physics engine made to hold an attachment; the runtime only keeps it.
struct AttachConstraint {
  uint64_t id = 0;  ///< the host's
  Vec3 offset{};    ///< from the parent's origin, in its space [m]
};
inline constexpr uint32_t kMaxAttachConstraints = 4;

/// What becomes of those that are attached to an entity that is removed.
enum class RemovePolicy : uint8_t {
  detach_children,   ///< they stay where they are, and go their own ways
  destroy_children,  ///< the whole tree below it is handed to `destroy`
};
/// Destroys an entity that has just come off. It may be destroyed later as well.
struct DestroyHook {
  void (*destroy)(void* user, Entity& entity) = nullptr;
  void* user = nullptr;
};

/// The component. Its entity, parent and first child may be asked for; what changes them is DynamicComponents.
class DynamicComponent {
 public:
  Entity& entity() const { return *entity_; }
  /// What it is attached to, or null.
  Entity* parent() const { return parent_; }
  /// Where it stands from there; the identity if it is not attached.
  const Transform& offset() const { return offset_; }
  Flags<AttachFlag> flags() const { return flags_; }
  std::span<const AttachConstraint> constraints() const { return {constraints_, constraint_count_}; }
  /// The first of those that are attached to it, latest first, or null; the next one after that.
  Entity* first_child() const { return first_child_; }
  Entity* next_sibling() const { return next_; }
  void* host_data() const { return host_data_; }

 private:
  friend class DynamicComponents;
  template <class, class, class>
  friend class BasicPool;
  DynamicComponent(DynamicComponents& owner, Entity& entity) : owner_(&owner), entity_(&entity) {}

  Transform offset_;
  DynamicComponents* owner_;
  Entity* entity_;
  Entity *parent_ = nullptr, *first_child_ = nullptr, *next_ = nullptr, *previous_ = nullptr;
  void* host_data_ = nullptr;
  AttachConstraint constraints_[kMaxAttachConstraints];
  uint8_t constraint_count_ = 0;
  Flags<AttachFlag> flags_;
};

struct DynamicComponentsConfig {
  uint32_t capacity = 500;           ///< entities with a component at once, from the gameconfig [count]
  MemoryTracker* tracker = nullptr;  ///< as PoolConfig::tracker
};

class DynamicComponents {
 public:
  DynamicComponents() = default;
  DynamicComponents(const DynamicComponents&) = delete;
  DynamicComponents& operator=(const DynamicComponents&) = delete;
  /// Entities that still live lose their components: what is attached comes off.
  ~DynamicComponents();

  /// Errors: as Pool::init.
  Status init(const DynamicComponentsConfig& config, Allocator& allocator = default_allocator());
  /// Who learns of entities that change along with their parents. An empty one: nobody.
  void set_listener(const EntityListener& listener) { listener_ = listener; }

  // --- attaching ---
  /// Attaches `child` to `parent` and moves it, and all below it, to its place. One that is attached already comes off
  /// first. The descriptor of `child` is the caller's to renew, whatever changed in it.
  /// Requires: the offset is finite, neither has a component of another DynamicComponents (asserted; otherwise
  ///           bad_value).
  /// Errors: bad_value: it would hang on itself; out_of_slots: no room for a component, the log says so the first time.
  ///         Nothing has changed then.
  Status attach(Entity& child, Entity& parent, const AttachConfig& config);
  /// As attach(), but the entity keeps its place: the offset is what it has from `parent` now.
  Status attach_in_place(Entity& child, Entity& parent, Flags<AttachFlag> flags = {});
  /// It comes off and stays where it is; its own visibility counts from now on. False: it was not attached.
  bool detach(Entity& child);
  /// Moves an attached entity relative to its parent.
  /// Requires: attached, a finite offset (asserted; otherwise nothing).
  void set_offset(Entity& child, const Transform& offset);

  /// Keeps a constraint until the entity comes off.
  /// Requires: attached, no constraint of that id (asserted; otherwise bad_value). Errors: out_of_slots.
  Status add_constraint(Entity& child, const AttachConstraint& constraint);
  /// False: it has no such constraint.
  bool remove_constraint(Entity& child, uint64_t id);

  // --- the host's data ---
  /// Makes a component if need be. Null takes the data away. Errors: out_of_slots.
  Status set_host_data(Entity& entity, void* data);

  // --- removing ---
  /// Takes an entity out of all this, before it dies or leaves the world: it comes off its parent, its children go by
  /// `policy`, its host data is forgotten. With destroy_children, those at the bottom are handed over first; each has
  /// no component any more. Requires: `destroy` is set where it is needed (asserted; otherwise they are detached).
  void remove(Entity& entity, RemovePolicy policy = RemovePolicy::detach_children, const DestroyHook& destroy = {});

  uint32_t used() const { return pool_.used(); }  ///< components [count]

 private:
  friend class Entity;
  friend class EntityVisibility;
  friend void place(Entity& entity, const Transform& to);

  /// The entity's component, made if it has none; null if the pool is full.
  DynamicComponent* require(Entity& entity);
  /// Gives the component back if nothing is left in it.
  void release_if_empty(Entity& entity);
  static void link(DynamicComponent& child, DynamicComponent& parent);
  static void unlink(DynamicComponent& child);
  /// Takes it off without giving its component back.
  void take_off(DynamicComponent& child);
  Status attach_at(Entity& child, Entity& parent, const Transform& offset, Flags<AttachFlag> flags);
  /// Everything below `top` goes to its place. `top` has moved.
  void move_below(DynamicComponent& top);
  /// Everything below `top` inherits anew. `top` itself is right.
  void show_below(DynamicComponent& top);
  /// Sets what it inherits. True: is_visible() changed.
  static bool inherit(DynamicComponent& of);
  /// The next one below `top` after `at`, parents first; null at the end. `skip`: not what is below `at`.
  static DynamicComponent* next_below(DynamicComponent& top, DynamicComponent& at, bool skip = false);
  static void place_dynamic(Entity& entity, const Transform& to);
  static void visibility_changed(Entity& entity);
  static void forget(Entity& entity);

  Pool<DynamicComponent> pool_;
  EntityListener listener_;
};

/// What an entity is attached to, or null.
inline Entity* attached_to(const Entity& entity) {
  return entity.dynamic() != nullptr ? entity.dynamic()->parent() : nullptr;
}
/// The end of the chain of parents: the entity itself if it is not attached.
Entity& attachment_root(Entity& entity);

/// Where an entity at `offset` of `parent` stands. The parent's scale has no say. The axes come out orthogonal and as
/// long as the scale of `offset` says, so that rounding never builds up.
Transform attached_transform(const Transform& parent, const Transform& offset);
/// The offset at which an entity at `world` stands from `parent`: undoes attached_transform, up to rounding.
Transform attachment_offset(const Transform& parent, const Transform& world);

}  // namespace meridian
