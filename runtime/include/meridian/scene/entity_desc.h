// SPDX-License-Identifier: MIT
#pragma once
/// Descriptors: what jobs read of an entity, so that they never touch the entity itself. Two forms of the same content:
/// EntityDesc, one structure each, for things that move; lanes, structures of arrays of 16, for what maps place.
///
///   const uint16_t mask = visibility_mask(entity_flags, archetype_flags);
///   const bool is_reflected = (mask & kReflectionMask) != 0;   // drawn into at least one kind of reflection
///
/// A descriptor whose distance is 0 can never be visible: filler, and entities that were left out.
///
/// Threads: immutable.
/// Memory:  none.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "meridian/base/assert.h"
#include "meridian/base/math.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/transform.h"

namespace meridian {

namespace schema {
struct EntityDef;
}

// --- where things are visible ------------------------------------------------------------------------

/// What a picture is drawn for: bit numbers of a descriptor's mask. Not a phase id, which is unique for each shape of a
/// scan.
enum class VisibilityType : uint8_t {
  gbuffer = 1,
  cascade_shadows = 2,
  paraboloid_shadows = 3,
  paraboloid_reflection = 4,
  water_reflection = 5,
  mirror_reflection = 6,
  shadow_proxy = 10,            ///< throws shadows in place of something else
  water_reflection_proxy = 11,  ///< has a simpler model for reflections on water
  pre_reflected_proxy = 12,     ///< has an upside-down model for water
};

constexpr uint16_t visibility_bit(VisibilityType type) {
  return static_cast<uint16_t>(1u << static_cast<unsigned>(type));
}

inline constexpr uint16_t kShadowMask =
    visibility_bit(VisibilityType::cascade_shadows) | visibility_bit(VisibilityType::paraboloid_shadows);
/// All reflections: made of masks, not of the bit numbers themselves.
inline constexpr uint16_t kReflectionMask = visibility_bit(VisibilityType::paraboloid_reflection) |
                                            visibility_bit(VisibilityType::water_reflection) |
                                            visibility_bit(VisibilityType::mirror_reflection);
inline constexpr uint16_t kAllPhasesMask = visibility_bit(VisibilityType::gbuffer) | kShadowMask | kReflectionMask;
inline constexpr uint16_t kProxyMask = visibility_bit(VisibilityType::shadow_proxy) |
                                       visibility_bit(VisibilityType::water_reflection_proxy) |
                                       visibility_bit(VisibilityType::pre_reflected_proxy);

/// From the load flags of an entity (schema::EntityFlags) and its archetype (schema::ArchetypeFlags). "Only in X"
/// leaves nothing but X, several of them leave all that they name; "not in X" takes X away. Of a pair that contradicts
/// itself "not" wins, as if "only" were not there.
uint16_t visibility_mask(uint32_t entity_flags, uint32_t archetype_flags);
/// The "only in X" bits of pairs that contradict themselves, 0 if none does. For messages.
uint32_t contradictory_phases(uint32_t entity_flags);

// --- the structure -----------------------------------------------------------------------------------

inline constexpr uint16_t kNoLodSet = 0xFFFF;
/// Rows of a link table; one more is FMT001.
inline constexpr uint32_t kMaxLodSets = 0xFFFE;
/// Longest distance that a descriptor holds. [m]
inline constexpr uint16_t kMaxDescDistance = 0xFFFF;
inline constexpr unsigned kLodLevels = 7;  ///< values of schema::LodLevel

/// Bits of a descriptor's flags.
enum DescFlags : uint16_t {
  kDescSetParent = 1 << 0,       ///< the entity is the parent of its LOD set; else one of the children
  kDescActive = 1 << 1,          ///< the hour is right; cooked as set, cleared by the hour's pass
  kDescTimed = 1 << 2,           ///< hours apply
  kDescMaybeInCullBox = 1 << 3,  ///< may be inside a time-cycle cull window; cooked as set, which is always right
  kDescAltFade = 1 << 4,         ///< fades by the second of the two fade distances
  kDescLodChild = 1 << 5,        ///< has a LOD parent: pivot and distance are those of the set in which it is a child
  kDescHidden = 1 << 6,          ///< some module hides it; clear in cooked blocks
  kDescSpawnPoints = 1 << 7,     ///< has spawn points; clear in cooked blocks, set where a map is loaded
};

/// One descriptor.
struct EntityDesc {
  uint64_t handle = 0;           ///< the live entity; while cooking its index in the map
  Vec3 centre;                   ///< of the world box [m]
  Vec3 half;                     ///< half extents, rounded outwards [>= 0] [m]
  float radius = 0;              ///< sphere about `centre` that holds the archetype's sphere [m]
  Vec3 pivot;                    ///< where its LOD distance is measured from [m]
  float distance = 0;            ///< LOD distance; 0: can never be visible [m]
  uint16_t mask = 0;             ///< visibility_bit of each type that it is drawn for
  uint16_t lod_set = kNoLodSet;  ///< row of the link table
  EntityClass type = EntityClass::building;
  uint8_t level = 0;  ///< schema::LodLevel
  uint8_t alpha = 0;  ///< [0, 255]
  uint8_t reserved = 0;
  uint32_t flags = 0;  ///< DescFlags
};
static_assert(sizeof(EntityDesc) <= 64);

/// Why an entity has a never-visible descriptor.
enum class DescStatus : uint8_t {
  made = 0,
  odd_scale = 1,  ///< made, but see PlaceStatus
  bad_position = 2,
  bad_rotation = 3,
  bad_scale = 4,
  unknown_archetype = 5,
  bad_distance = 6,  ///< lod_distance gave 0
  bad_bounds = 7,    ///< the world box is not finite
};
constexpr bool is_made(DescStatus status) { return status <= DescStatus::odd_scale; }

/// A set's pivot and switch distance, as children see them. distance 0: not known.
struct LodParent {
  Vec3 pivot;          ///< [m]
  float distance = 0;  ///< [m]
};

/// The link of one entity. One that is both a child and a parent goes by the set of which it is the parent; from there
/// the link table leads up.
struct EntityLink {
  uint16_t lod_set = kNoLodSet;
  bool is_parent = false;  ///< of `lod_set`
  LodParent parent;        ///< of the set in which it is a child; distance 0: it is a child of none
};

/// Fills `out` from a definition. `archetype` is null if it is not known. An entity with a LOD parent takes the set's
/// pivot and distance. On failure `out` is never visible.
DescStatus describe_entity(const schema::EntityDef& definition, bool is_interior, const ArchetypeTraits* archetype,
                           const EntityLink& link, EntityDesc& out);

// --- lanes -------------------------------------------------------------------------------------------

inline constexpr uint32_t kLanes = 16;          ///< slots come in groups of this many
inline constexpr uint32_t kDescLaneBytes = 44;  ///< of one slot
inline constexpr uint32_t kNoEntity = 0xFFFFFFFF;

/// The arrays of one container, one behind the other in this order; each is `capacity` long. Capacities are multiples
/// of kLanes, so each array begins at a multiple of 16 bytes from the first.
struct DescLanes {
  float *centre_x, *centre_y, *centre_z;
  float *half_x, *half_y, *half_z;
  uint32_t* entity;                       ///< index in the map; kNoEntity: filler
  uint16_t *pivot_x, *pivot_y, *pivot_z;  ///< f16: pivot - centre; 0 with a LOD parent
  uint16_t* lod_set;                      ///< row of the link table, or kNoLodSet
  uint16_t* distance;                     ///< rounded up; 0: never visible [m]
  uint16_t* mask;
  uint16_t* flags;      ///< DescFlags
  uint8_t* type_level;  ///< EntityClass in bits 0 to 4, level in bits 5 to 7
  uint8_t* alpha;
};
inline constexpr uint32_t kLaneSizes =
    6 * sizeof(float) + sizeof(uint32_t) + 7 * sizeof(uint16_t) + 2 * sizeof(uint8_t);
static_assert(kLaneSizes == kDescLaneBytes && kDescLaneBytes <= 44);

constexpr uint8_t pack_type_level(EntityClass type, uint8_t level) {
  return static_cast<uint8_t>((static_cast<unsigned>(type) & 31u) | static_cast<unsigned>(level) << 5);
}
constexpr EntityClass type_of(uint8_t type_level) { return static_cast<EntityClass>(type_level & 31u); }
constexpr uint8_t level_of(uint8_t type_level) { return static_cast<uint8_t>(type_level >> 5); }

/// Bytes of the lanes of one container.
constexpr size_t lane_bytes(uint32_t capacity) { return size_t{capacity} * kDescLaneBytes; }
/// `slots` rounded up to whole groups.
constexpr uint32_t padded_slots(uint32_t slots) { return (slots + kLanes - 1) / kLanes * kLanes; }

/// The arrays in `bytes`. Requires: 4-aligned, lane_bytes(capacity) long, capacity a multiple of kLanes.
inline DescLanes desc_lanes(std::byte* bytes, uint32_t capacity) {
  MERIDIAN_ASSERT(capacity % kLanes == 0, "capacity is not a multiple of kLanes");
  MERIDIAN_ASSERT(reinterpret_cast<uintptr_t>(bytes) % alignof(float) == 0, "lanes are misaligned");
  DescLanes out{};
  const auto take = [&](auto*& lane) {
    using T = std::remove_reference_t<decltype(*lane)>;
    lane = reinterpret_cast<T*>(bytes);
    bytes += size_t{capacity} * sizeof(T);
  };
  take(out.centre_x);
  take(out.centre_y);
  take(out.centre_z);
  take(out.half_x);
  take(out.half_y);
  take(out.half_z);
  take(out.entity);
  take(out.pivot_x);
  take(out.pivot_y);
  take(out.pivot_z);
  take(out.lod_set);
  take(out.distance);
  take(out.mask);
  take(out.flags);
  take(out.type_level);
  take(out.alpha);
  return out;
}

/// Writes one slot. Distances round up, pivots to the nearest f16.
void store_desc(const DescLanes& lanes, uint32_t slot, const EntityDesc& desc);
/// Turns a slot into one that is never visible; keeps whose it is, or makes filler of it (kNoEntity).
void store_never_visible(const DescLanes& lanes, uint32_t slot, uint32_t entity);

/// An LOD distance as a descriptor holds it: whole metres, rounded up, at most kMaxDescDistance. Requires: >= 0.
uint16_t desc_distance(float distance);
/// Where distances of a slot without a LOD parent are measured from.
Vec3 slot_pivot(const DescLanes& lanes, uint32_t slot);

/// IEEE 754 half precision: rounds to nearest, ties to even; too large becomes the largest finite one.
uint16_t half_from_float(float value);
float float_from_half(uint16_t half);

}  // namespace meridian
