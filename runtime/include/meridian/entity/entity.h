// SPDX-License-Identifier: MIT
#pragma once
/// A thing that stands in the world. All entities share this base, of a fixed size; what only some need hangs on them
/// as an extension (core/extension.h) or in the component of those that move (entity/dynamic_component.h).
///
///   struct Lamp : Entity {                              // a host's class: no virtual functions, Entity comes first
///     float brightness = 1;
///   };
///   Lamp lamp;
///   place(lamp, {.position = {10, 20, 0, 1}});
///   lamp.set_owner(OwnedBy::script);
///   lamp.set_tint(3);
///   TrackedRef<Entity> seen = &lamp;                    // becomes null when the lamp dies
///
/// Entities have no virtual functions: arrays of them are made, told apart and destroyed by their class
/// (entity/entity_class.h). Jobs never read them, but descriptors that the scene makes of them.
///
/// Threads: main; readers while nobody changes the entity.
/// Memory:  176 bytes, 16-aligned. The archetype, what is drawn and what collides are others'.
/// Source:  own.

#include <cstdint>

#include "meridian/base/flags.h"
#include "meridian/base/math.h"
#include "meridian/core/extension.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/entity_handle.h"
#include "meridian/entity/interior_location.h"
#include "meridian/entity/lod.h"
#include "meridian/entity/model_id.h"

namespace meridian {

class Archetype;
class DynamicComponent;
enum class DescStatus : uint8_t;
struct EntityInit;
namespace schema {
struct EntityDef;
}

/// Switches of an entity. Those that its definition gives have the bits of schema::EntityFlags.
enum class BaseFlag : uint32_t {
  full_rotation = 1u << 0,          ///< definition: pitch, roll and scale count
  low_priority = 1u << 1,           ///< definition: its model may be loaded after others
  no_embedded_collision = 1u << 2,  ///< definition: collision inside the model is not used
  hidden = 1u << 3,                 ///< a module hides it; written by EntityVisibility only
  hidden_by_parent = 1u << 4,       ///< it is attached to something that is not visible; written by attachments only
  is_static = 1u << 5,              ///< definition: never moves
  off_hours = 1u << 6,              ///< the hour is not one of its archetype's
  upright = 1u << 8,                ///< axes x and y are level, z is upright; follows the transform
  is_dynamic = 1u << 9,             ///< takes part in the update of what moves
  in_interior = 1u << 10,           ///< stands in a room or at a portal
  spawn_points = 1u << 13,          ///< has spawn points
  is_fragment = 1u << 14,           ///< breaks into parts; never scaled
  alt_fade = 1u << 15,              ///< definition: fades by the second of the two fade distances
  underwater = 1u << 16,            ///< definition
  no_water_contact = 1u << 17,      ///< definition: water around it need not be asked for
  no_spawn_points = 1u << 18,       ///< definition: its scenario points are not used
  static_shadows = 1u << 19,        ///< definition: throws shadows that are drawn rarely
  dynamic_shadows = 1u << 20,       ///< definition: throws shadows that are drawn each frame
  ignore_hours = 1u << 21,          ///< definition: the hours of its archetype do not apply
};
using BaseFlags = Flags<BaseFlag>;
/// Flags from this bit on are the host's.
inline constexpr unsigned kFirstHostBaseFlag = 22;
/// Flags that come from the definition, bit by bit.
inline constexpr uint32_t kDefinitionBaseFlags = 0x3F8027u;
/// Flags that only their part of the runtime writes.
inline constexpr BaseFlags kGuardedBaseFlags =
    BaseFlags(BaseFlag::hidden, BaseFlag::hidden_by_parent, BaseFlag::upright);
/// Flags that hide it.
inline constexpr BaseFlags kHidingBaseFlags = BaseFlags(BaseFlag::hidden, BaseFlag::hidden_by_parent);

/// Who made an entity, and looks after it.
enum class OwnedBy : uint8_t {
  random = 0,      ///< nobody in particular
  script,          ///< a script
  ipl,             ///< a map
  population,      ///< what fills streets
  interior,        ///< an interior that was placed
  comp_entity,     ///< a composite entity
  layout_manager,  ///< a layout of many things that come and go together
  mission,
  player,
  traffic,
  weapon,
  pickup,
  particles,
  sound,
  cutscene,
  camera,
  physics,
  network,
  replay,
  editor,
  debug,
  host,  ///< somebody that this list does not know
};
inline constexpr unsigned kOwners = 22;
static_assert(static_cast<unsigned>(OwnedBy::host) + 1 == kOwners);

/// Why an entity is among the population. At most 16 values.
enum class PopulationType : uint8_t {
  unknown = 0,
  random_permanent,  ///< random_...: made to fill the world, may go when nobody looks
  random_parked,
  random_patrol,
  random_scenario,
  random_ambient,
  permanent,  ///< a player
  mission,    ///< a script's
  replay,
  cache,  ///< kept for later use
  tool,
};
inline constexpr unsigned kMaxPopulationTypes = 16;
static_assert(static_cast<unsigned>(PopulationType::tool) < kMaxPopulationTypes);
/// It belongs to a script, or is a player: nobody else may take it away.
constexpr bool is_mission(PopulationType type) {
  return type == PopulationType::mission || type == PopulationType::permanent;
}

inline constexpr uint8_t kMaxTint = 63;

/// Where the descriptor of an entity is: in a container, in a list that keeps it while its place is not there, or
/// nowhere.
class ContainerTag {
 public:
  /// Nowhere.
  constexpr ContainerTag() = default;
  /// Requires: container < 2^31 - 1 (asserted; otherwise nowhere).
  static constexpr ContainerTag in_container(uint32_t container, uint32_t slot) { return make(container, slot, 0); }
  /// `slot` is the place in the list. Requires: list < 2^31 - 1 (asserted; otherwise nowhere).
  static constexpr ContainerTag in_retaining_list(uint32_t list, uint32_t slot = 0) {
    return make(list, slot, kRetained);
  }
  constexpr bool is_none() const { return id_ == kNone; }
  constexpr bool is_retained() const { return !is_none() && (id_ & kRetained) != 0; }
  constexpr bool is_in_container() const { return (id_ & kRetained) == 0; }
  /// Index of the container or list. Requires: not nowhere.
  constexpr uint32_t container() const { return id_ & ~kRetained; }
  constexpr uint32_t slot() const { return slot_; }
  friend constexpr bool operator==(ContainerTag, ContainerTag) = default;

 private:
  static constexpr uint32_t kRetained = 1u << 31, kNone = 0xFFFFFFFF;
  static constexpr ContainerTag make(uint32_t id, uint32_t slot, uint32_t bit) {
    MERIDIAN_ASSERT(id < (kNone & ~kRetained), "indices of containers and lists have 31 bits");
    ContainerTag tag;
    if (id >= (kNone & ~kRetained)) return tag;
    tag.id_ = id | bit;
    tag.slot_ = slot;
    return tag;
  }
  uint32_t id_ = kNone, slot_ = 0;
};
static_assert(sizeof(ContainerTag) == 8);

class Entity : public Extensible {
 public:
  explicit Entity(EntityClass type = EntityClass::building) : type_(type) {}
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;
  /// What is attached to it comes off and stays where it is.
  /// Requires: physics and draw data were cleared, the scene has no descriptor of it, no table a handle (asserted).
  ~Entity();

  // --- where it is ---
  const Transform& transform() const { return transform_; }
  Vec3 position() const { return {transform_.position.x, transform_.position.y, transform_.position.z}; }
  InteriorLocation interior_location() const { return interior_; }
  /// BaseFlag::in_interior follows.
  void set_interior_location(InteriorLocation location) {
    interior_ = location;
    flags_.set(BaseFlag::in_interior, !location.is_outside());
  }
  ContainerTag container() const { return container_; }
  /// For the scene.
  void set_container(ContainerTag tag) { container_ = tag; }
  /// How others refer to it; null if no table knows it.
  EntityHandle handle() const { return handle_; }
  /// For EntityTable.
  void set_handle(EntityHandle handle) { handle_ = handle; }

  // --- what it is ---
  EntityClass type() const { return type_; }
  /// For EntityClassRegistry.
  void set_type(EntityClass type) { type_ = type; }
  /// Null if it has none.
  Archetype* archetype() const { return archetype_; }
  /// Re-points it, as when another definition of the name comes into force. Null: it has none any more. The entity
  /// holds a reference to its archetype, until it has another or dies. Its descriptor is the caller's to renew.
  void set_archetype(Archetype* archetype);
  BaseFlags flags() const { return flags_; }
  bool has(BaseFlag flag) const { return flags_.has(flag); }
  /// Requires: none of kGuardedBaseFlags (asserted; otherwise those stay as they are).
  void set_flags(BaseFlags flags, bool on = true) {
    MERIDIAN_ASSERT(!flags.has_any(kGuardedBaseFlags), "these flags are written by their own part of the runtime");
    flags_.set(flags & ~kGuardedBaseFlags, on);
  }
  LodData& lod() { return lod_; }
  const LodData& lod() const { return lod_; }

  // --- whether it is seen ---
  /// Every module agrees, and so do those of what it is attached to. Hours and distance have no say here.
  bool is_visible() const { return !flags_.has_any(kHidingBaseFlags); }
  /// visibility_bit of each type of picture that it is drawn for.
  uint16_t visibility_mask() const { return mask_; }
  void set_visibility_mask(uint16_t mask) { mask_ = mask; }

  // --- collision ---
  bool uses_collision() const { return uses_collision_; }
  void set_uses_collision(bool on) { uses_collision_ = on; }
  /// It hangs in place until the collision below it is loaded.
  bool is_fixed_until_collision() const { return fixed_until_collision_; }
  void set_fixed_until_collision(bool on) { fixed_until_collision_ = on; }

  // --- whose it is ---
  OwnedBy owner() const { return owner_; }
  void set_owner(OwnedBy owner) { owner_ = owner; }
  PopulationType population() const { return population_; }
  void set_population(PopulationType type) { population_ = type; }
  /// Slot of the map that it came from, or kNoImap.
  ImapSlot imap() const { return imap_; }
  void set_imap(ImapSlot slot) { imap_ = slot; }

  // --- how it is drawn ---
  uint8_t tint() const { return tint_; }
  /// Requires: tint <= kMaxTint (asserted; otherwise kMaxTint).
  void set_tint(uint8_t tint) {
    MERIDIAN_ASSERT(tint <= kMaxTint, "a model has at most 64 tints");
    tint_ = tint <= kMaxTint ? tint : kMaxTint;
  }
  /// Strength of ambient occlusion by the sky, and by lamps. [0, 255]
  uint8_t natural_occlusion() const { return natural_occlusion_; }
  uint8_t artificial_occlusion() const { return artificial_occlusion_; }
  void set_occlusion(uint8_t natural, uint8_t artificial) {
    natural_occlusion_ = natural;
    artificial_occlusion_ = artificial;
  }

  // --- the host's objects. Both are cleared before the entity dies ---
  void* physics() const { return physics_; }
  /// Requires: it has none (asserted; otherwise the old one stays), `physics` is not null.
  void set_physics(void* physics) { set_once(physics_, physics); }
  /// Puts another in place, null too; returns the old one.
  void* switch_physics(void* physics) { return exchange(physics_, physics); }
  /// Returns the old one.
  void* clear_physics() { return exchange(physics_, nullptr); }
  void* draw() const { return draw_; }
  /// As those of physics.
  void set_draw(void* draw) { set_once(draw_, draw); }
  void* switch_draw(void* draw) { return exchange(draw_, draw); }
  void* clear_draw() { return exchange(draw_, nullptr); }

  /// What moving entities have, or null.
  DynamicComponent* dynamic() const { return dynamic_; }

 private:
  friend class DynamicComponents;
  friend class EntityVisibility;
  friend void place(Entity& entity, const Transform& to);
  friend DescStatus init_entity(Entity& entity, const schema::EntityDef& definition, const ArchetypeTraits& traits,
                                Archetype* archetype, const EntityInit& how);

  void set_transform(const Transform& to) {
    transform_ = to;
    note_upright();
  }
  void note_upright() {
    const Transform& t = transform_;
    flags_.set(BaseFlag::upright, t.x.z == 0 && t.y.z == 0 && t.z.x == 0 && t.z.y == 0);
  }
  static void set_once(void*& held, void* value) {
    MERIDIAN_ASSERT(held == nullptr, "it has one already: switch_... replaces it");
    MERIDIAN_ASSERT(value != nullptr, "clear_... takes it away");
    if (held == nullptr) held = value;
  }
  static void* exchange(void*& held, void* value) {
    void* const before = held;
    held = value;
    return before;
  }

  DynamicComponent* dynamic_ = nullptr;  // stands here so that the transform is aligned without a gap
  Transform transform_;
  Archetype* archetype_ = nullptr;
  void* draw_ = nullptr;
  void* physics_ = nullptr;
  EntityHandle handle_;
  ContainerTag container_;
  LodData lod_;
  BaseFlags flags_;
  ImapSlot imap_ = kNoImap;
  InteriorLocation interior_;
  uint16_t mask_ = 0;
  EntityClass type_;
  OwnedBy owner_ = OwnedBy::random;
  PopulationType population_ = PopulationType::unknown;
  uint8_t tint_ = 0;
  uint8_t natural_occlusion_ = 255, artificial_occlusion_ = 255;
  bool uses_collision_ = false, fixed_until_collision_ = false;
};
static_assert(sizeof(Entity) <= 192 && alignof(Entity) == 16);

/// Moves an entity, and all that is attached to it. The descriptor of `entity` is the caller's to renew; for what moved
/// along, the listener of DynamicComponents is called.
/// An attached entity that may be moved keeps to its new place relative to what it is attached to.
/// Requires: finite; not attached, or with AttachFlag::allow_move (asserted; otherwise nothing happens).
void place(Entity& entity, const Transform& to);

}  // namespace meridian
