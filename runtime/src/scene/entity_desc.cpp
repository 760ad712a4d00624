// SPDX-License-Identifier: MIT
#include "meridian/scene/entity_desc.h"

#include <cmath>

#include "entity/schema_flags.h"
#include "meridian/base/assert.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

using schema::ArchetypeFlags;
using schema::EntityFlags;

struct PhasePair {
  EntityFlags no, only;
  uint16_t mask;
};
// "Reflections" are those that surroundings throw; water and mirrors have pairs of their own.
constexpr PhasePair kPairs[] = {
    {EntityFlags::no_shadow_render, EntityFlags::only_shadow_render, kShadowMask},
    {EntityFlags::no_reflection_render, EntityFlags::only_reflection_render,
     visibility_bit(VisibilityType::paraboloid_reflection)},
    {EntityFlags::no_water_reflection_render, EntityFlags::only_water_reflection_render,
     visibility_bit(VisibilityType::water_reflection)},
    {EntityFlags::no_mirror_reflection_render, EntityFlags::only_mirror_reflection_render,
     visibility_bit(VisibilityType::mirror_reflection)},
};

static_assert(kLodLevels == static_cast<unsigned>(schema::LodLevel::MAX) + 1);

}  // namespace

uint16_t visibility_mask(uint32_t entity_flags, uint32_t archetype_flags) {
  uint32_t removed = 0, only = 0;
  for (const PhasePair& pair : kPairs) {
    if (has(entity_flags, pair.no)) {
      removed |= pair.mask;
    } else if (has(entity_flags, pair.only)) {
      only |= pair.mask;
    }
  }
  uint32_t mask = (only != 0 ? only : kAllPhasesMask) & ~removed;
  if (has(archetype_flags, ArchetypeFlags::dont_cast_shadows)) mask &= ~uint32_t{kShadowMask};
  if (has(archetype_flags, ArchetypeFlags::shadow_only)) {
    mask &= kShadowMask;
    mask |= visibility_bit(VisibilityType::shadow_proxy);
  }
  if (has(archetype_flags, ArchetypeFlags::has_drawable_proxy_for_water_reflections))
    mask |= visibility_bit(VisibilityType::water_reflection_proxy);
  if (has(archetype_flags, ArchetypeFlags::has_pre_reflected_water_proxy))
    mask |= visibility_bit(VisibilityType::pre_reflected_proxy);
  return static_cast<uint16_t>(mask);
}

uint32_t contradictory_phases(uint32_t entity_flags) {
  uint32_t out = 0;
  for (const PhasePair& pair : kPairs)
    if (has(entity_flags, pair.no) && has(entity_flags, pair.only)) out |= static_cast<uint32_t>(pair.only);
  return out;
}

DescStatus describe_entity(const schema::EntityDef& definition, bool is_interior, const ArchetypeTraits* archetype,
                           const EntityLink& link, EntityDesc& out) {
  out = EntityDesc{};
  if (archetype == nullptr) return DescStatus::unknown_archetype;
  const auto flags = static_cast<uint32_t>(definition.flags());
  const schema::Vec3& at = definition.position();
  const schema::Quat& q = definition.rotation();
  const Placed placed = place_entity({.position = {at.x(), at.y(), at.z()},
                                      .rotation = {q.x(), q.y(), q.z(), q.w()},
                                      .scale_xy = definition.scale_xy(),
                                      .scale_z = definition.scale_z(),
                                      .is_interior = is_interior,
                                      .full_rotation = has(flags, EntityFlags::allow_full_rotation),
                                      .animates = archetype->animates,
                                      .is_fragment = archetype->is_fragment});
  static_assert(static_cast<int>(DescStatus::odd_scale) == static_cast<int>(PlaceStatus::odd_scale) &&
                static_cast<int>(DescStatus::bad_scale) == static_cast<int>(PlaceStatus::bad_scale));
  if (!is_placed(placed.status)) return static_cast<DescStatus>(placed.status);
  const bool has_parent = link.parent.distance > 0;
  const float own_distance = lod_distance(definition.lod_dist(), archetype->lod_distance);
  if (own_distance == 0 && !has_parent) return DescStatus::bad_distance;
  const CentredBox box = world_box(placed.transform, archetype->box);
  const float radius = world_radius(placed.transform, archetype->sphere_centre, archetype->sphere_radius, box.centre);
  if (!is_finite(box) || !is_finite(radius)) return DescStatus::bad_bounds;

  out.centre = box.centre;
  out.half = box.half;
  out.radius = radius;
  out.pivot = has_parent ? link.parent.pivot : Vec3{at.x(), at.y(), at.z()};
  out.distance = has_parent ? link.parent.distance : own_distance;
  out.mask = visibility_mask(flags, archetype->flags);
  out.lod_set = link.lod_set;
  out.type = archetype->entity_class;
  out.level = static_cast<uint8_t>(definition.lod_level());
  out.alpha = 255;
  out.flags = kDescActive | kDescMaybeInCullBox;
  if (link.is_parent) out.flags |= kDescSetParent;
  if (has_parent) out.flags |= kDescLodChild;
  if (archetype->is_timed && !has(flags, EntityFlags::ignore_time_settings)) out.flags |= kDescTimed;
  if (has(flags, EntityFlags::lod_use_alt_fade)) out.flags |= kDescAltFade;
  return static_cast<DescStatus>(placed.status);
}

void store_desc(const DescLanes& lanes, uint32_t slot, const EntityDesc& desc) {
  const auto entity = static_cast<uint32_t>(desc.handle);
  if (desc.distance == 0) return store_never_visible(lanes, slot, entity);
  lanes.centre_x[slot] = desc.centre.x;
  lanes.centre_y[slot] = desc.centre.y;
  lanes.centre_z[slot] = desc.centre.z;
  lanes.half_x[slot] = desc.half.x;
  lanes.half_y[slot] = desc.half.y;
  lanes.half_z[slot] = desc.half.z;
  lanes.entity[slot] = entity;
  const bool own_pivot = (desc.flags & kDescLodChild) == 0;
  lanes.pivot_x[slot] = own_pivot ? half_from_float(desc.pivot.x - desc.centre.x) : uint16_t{0};
  lanes.pivot_y[slot] = own_pivot ? half_from_float(desc.pivot.y - desc.centre.y) : uint16_t{0};
  lanes.pivot_z[slot] = own_pivot ? half_from_float(desc.pivot.z - desc.centre.z) : uint16_t{0};
  lanes.lod_set[slot] = desc.lod_set;
  lanes.distance[slot] = desc_distance(desc.distance);
  lanes.mask[slot] = desc.mask;
  lanes.flags[slot] = static_cast<uint16_t>(desc.flags);
  lanes.type_level[slot] = pack_type_level(desc.type, desc.level);
  lanes.alpha[slot] = desc.alpha;
}

void store_never_visible(const DescLanes& lanes, uint32_t slot, uint32_t entity) {
  lanes.centre_x[slot] = lanes.centre_y[slot] = lanes.centre_z[slot] = 0;
  lanes.half_x[slot] = lanes.half_y[slot] = lanes.half_z[slot] = 0;
  lanes.entity[slot] = entity;
  lanes.pivot_x[slot] = lanes.pivot_y[slot] = lanes.pivot_z[slot] = 0;
  lanes.lod_set[slot] = kNoLodSet;
  lanes.distance[slot] = lanes.mask[slot] = lanes.flags[slot] = 0;
  lanes.type_level[slot] = lanes.alpha[slot] = 0;
}

uint16_t desc_distance(float distance) {
  if (!(distance < kMaxDescDistance)) return kMaxDescDistance;
  const auto whole = static_cast<uint32_t>(distance);  // exact below 2^24
  return static_cast<uint16_t>(static_cast<float>(whole) < distance ? whole + 1 : whole);
}

Vec3 slot_pivot(const DescLanes& lanes, uint32_t slot) {
  return {lanes.centre_x[slot] + float_from_half(lanes.pivot_x[slot]),
          lanes.centre_y[slot] + float_from_half(lanes.pivot_y[slot]),
          lanes.centre_z[slot] + float_from_half(lanes.pivot_z[slot])};
}

uint16_t half_from_float(float value) {
  constexpr uint32_t kLargest = 0x7BFF;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  uint32_t half;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00;                        // NaN
  } else if (magnitude >= 0x47800000u) {  // 65536 and more
    half = kLargest;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: multiples of 2^-24, by float's own rounding at the unit 2^23
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;  // exact: a power of two
    const float rounded = (scaled + 8388608.0f) - 8388608.0f;            // to nearest, ties to even
    half = static_cast<uint32_t>(rounded);
  } else {
    const uint32_t rest = magnitude & 0x1FFFu, kept = magnitude >> 13;
    half = kept + (rest > 0x1000u || (rest == 0x1000u && (kept & 1) != 0) ? 1 : 0) - (112u << 10);
    if (half > kLargest) half = kLargest;
  }
  return static_cast<uint16_t>(sign | half);
}

float float_from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7FFFu;
  if (magnitude < 0x0400u) {  // zero and what is below 2^-14
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
  }
  if (magnitude >= 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

}  // namespace meridian
