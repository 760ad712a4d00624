// SPDX-License-Identifier: MIT
#include "meridian/scene/entity_init.h"

#include <algorithm>

#include "entity/finite_transform.h"
#include "entity/placing.h"
#include "entity/schema_flags.h"
#include "meridian/entity/archetype.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/entity/transform.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian {
namespace {

using schema::EntityFlags;

constexpr uint32_t bit(EntityFlags flag) { return static_cast<uint32_t>(flag); }
constexpr uint32_t bit(BaseFlag flag) { return static_cast<uint32_t>(flag); }

// One "and" takes over what an entity keeps of its definition's flags.
static_assert(bit(BaseFlag::full_rotation) == bit(EntityFlags::allow_full_rotation));
static_assert(bit(BaseFlag::low_priority) == bit(EntityFlags::stream_low_priority));
static_assert(bit(BaseFlag::no_embedded_collision) == bit(EntityFlags::disable_embedded_collisions));
static_assert(bit(BaseFlag::is_static) == bit(EntityFlags::is_static));
static_assert(bit(BaseFlag::alt_fade) == bit(EntityFlags::lod_use_alt_fade));
static_assert(bit(BaseFlag::underwater) == bit(EntityFlags::underwater));
static_assert(bit(BaseFlag::no_water_contact) == bit(EntityFlags::does_not_touch_water));
static_assert(bit(BaseFlag::no_spawn_points) == bit(EntityFlags::does_not_spawn_peds));
static_assert(bit(BaseFlag::static_shadows) == bit(EntityFlags::cast_static_shadows));
static_assert(bit(BaseFlag::dynamic_shadows) == bit(EntityFlags::cast_dynamic_shadows));
static_assert(bit(BaseFlag::ignore_hours) == bit(EntityFlags::ignore_time_settings));
static_assert(kDefinitionBaseFlags ==
              (bit(BaseFlag::full_rotation) | bit(BaseFlag::low_priority) | bit(BaseFlag::no_embedded_collision) |
               bit(BaseFlag::is_static) | bit(BaseFlag::alt_fade) | bit(BaseFlag::underwater) |
               bit(BaseFlag::no_water_contact) | bit(BaseFlag::no_spawn_points) | bit(BaseFlag::static_shadows) |
               bit(BaseFlag::dynamic_shadows) | bit(BaseFlag::ignore_hours)));

/// All "only in X" bits: where none is set, no pair can contradict itself.
constexpr uint32_t kOnlyFlags = bit(EntityFlags::only_shadow_render) | bit(EntityFlags::only_reflection_render) |
                                bit(EntityFlags::only_water_reflection_render) |
                                bit(EntityFlags::only_mirror_reflection_render);

/// All flags of which visibility_mask() takes notice.
constexpr uint32_t kPhaseFlags = kOnlyFlags | bit(EntityFlags::no_shadow_render) |
                                 bit(EntityFlags::no_reflection_render) | bit(EntityFlags::no_water_reflection_render) |
                                 bit(EntityFlags::no_mirror_reflection_render);

constexpr uint8_t to_byte(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

LodData lod_of(const schema::EntityDef& definition, uint32_t flags, float distance) {
  LodData lod;
  lod.parent = std::max(definition.parent_index(), kNoLodParent);
  lod.distance = distance;
  const float child = definition.child_lod_dist();
  lod.child_distance = is_finite(child) && child > 0 ? child : 0;
  lod.set_level(static_cast<uint8_t>(definition.lod_level()));
  lod.set(LodFlag::parent_in_parent_map, has(flags, EntityFlags::lod_in_parent));
  lod.set(LodFlag::adopt_me, has(flags, EntityFlags::lod_adopt_me));
  lod.set(LodFlag::interior_lod, has(flags, EntityFlags::interior_lod));
  return lod;
}

/// Tells what was not taken as it is written, the first time for each archetype.
void tell(EntityMessages& said, const schema::EntityDef& definition, NameHash map, bool odd_scale) {
  const NameHash archetype{definition.archetype_name()};
  const uint32_t key = archetype.value, tint = definition.tint_value(),
                 flags = static_cast<uint32_t>(definition.flags());
  const int natural = definition.ambient_occlusion_multiplier(), artificial = definition.artificial_ambient_occlusion();
  const NameText what = name_text(archetype), where = name_text(map);
  if (odd_scale && said.scale.first(key)) {
    log_message(LogLevel::warning, archetype, "entity of %s in %s: scale %g, %g is below 0, or 4 and more", what.text,
                where.text, static_cast<double>(definition.scale_xy()), static_cast<double>(definition.scale_z()));
  }
  if (tint > kMaxTint && said.tint.first(key)) {
    log_message(LogLevel::warning, archetype, "entity of %s in %s: tint %u becomes %u, the last one", what.text,
                where.text, tint, static_cast<unsigned>(kMaxTint));
  }
  if ((to_byte(natural) != natural || to_byte(artificial) != artificial) && said.occlusion.first(key)) {
    log_message(LogLevel::warning, archetype, "entity of %s in %s: ambient occlusion %d, %d is brought into [0, 255]",
                what.text, where.text, natural, artificial);
  }
  if (contradictory_phases(flags) != 0 && said.phases.first(key)) {
    log_message(LogLevel::warning, archetype,
                "entity of %s in %s: only in a kind of picture and not in it (flags 0x%08X): it is not", what.text,
                where.text, flags);
  }
}

}  // namespace

DescStatus init_entity(Entity& entity, const schema::EntityDef& definition, const ArchetypeTraits& traits,
                       Archetype* archetype, const EntityInit& how) {
  MERIDIAN_ASSERT(entity.dynamic() == nullptr, "an entity that is attached, or has something attached, is not new");
  if (entity.dynamic() != nullptr) return DescStatus::bad_position;
  const auto flags = static_cast<uint32_t>(definition.flags());
  const schema::Vec3& at = definition.position();
  const schema::Quat& q = definition.rotation();
  const float distance = lod_distance(definition.lod_dist(), traits.lod_distance);
  const bool has_distance = distance > 0 || how.has_lod_set;
  // Made where it stays, unless something may still be wrong with it: numbers that were written one by one and are then
  // read four at a time make the processor wait.
  Transform aside;
  Transform& to = how.outer == nullptr && has_distance ? entity.transform_ : aside;
  bool heading_only = false;
  const PlaceStatus placed = detail::place_into({.position = {at.x(), at.y(), at.z()},
                                                 .rotation = {q.x(), q.y(), q.z(), q.w()},
                                                 .scale_xy = definition.scale_xy(),
                                                 .scale_z = definition.scale_z(),
                                                 .is_interior = how.is_interior,
                                                 .full_rotation = has(flags, EntityFlags::allow_full_rotation),
                                                 .animates = traits.animates,
                                                 .is_fragment = traits.is_fragment},
                                                to, heading_only);
  const auto status = static_cast<DescStatus>(placed);  // the same numbers: entity_desc.cpp asserts it
  if (!is_placed(placed)) return status;
  if (how.outer != nullptr) {
    aside = combine(*how.outer, aside);
    if (!is_finite(aside)) return DescStatus::bad_position;
  }
  if (!has_distance) return DescStatus::bad_distance;

  if (how.outer != nullptr) entity.transform_ = aside;
  entity.note_upright();
  entity.set_archetype(archetype);
  const BaseFlags given = BaseFlags::from_bits(kDefinitionBaseFlags) | BaseFlag::is_fragment;
  BaseFlags now = BaseFlags::from_bits(flags & kDefinitionBaseFlags);
  now.set(BaseFlag::is_fragment, traits.is_fragment);
  entity.set_flags(given & ~now, false);
  entity.set_flags(now);
  entity.lod() = lod_of(definition, flags, distance);
  const bool everywhere = ((flags & kPhaseFlags) | (traits.flags & kTraitFlags)) == 0;  // so are most
  entity.set_visibility_mask(everywhere ? kAllPhasesMask : visibility_mask(flags, traits.flags));
  const uint32_t tint = definition.tint_value();
  entity.set_tint(static_cast<uint8_t>(std::min<uint32_t>(tint, kMaxTint)));
  const int natural = definition.ambient_occlusion_multiplier(), artificial = definition.artificial_ambient_occlusion();
  entity.set_occlusion(to_byte(natural), to_byte(artificial));
  entity.set_imap(how.imap);
  entity.set_owner(OwnedBy::ipl);

  if (how.messages == nullptr) return status;
  const bool odd = status == DescStatus::odd_scale || tint > kMaxTint || to_byte(natural) != natural ||
                   to_byte(artificial) != artificial || ((flags & kOnlyFlags) != 0 && contradictory_phases(flags) != 0);
  if (odd) tell(*how.messages, definition, how.map, status == DescStatus::odd_scale);
  return status;
}

DescStatus init_entity(Entity& entity, const schema::EntityDef& definition, Archetype& archetype,
                       const EntityInit& how) {
  return init_entity(entity, definition, archetype.traits(), &archetype, how);
}

DescStatus init_entity(Entity& entity, Archetype& archetype, const Transform& at) {
  MERIDIAN_ASSERT(entity.dynamic() == nullptr, "an entity that is attached, or has something attached, is not new");
  if (entity.dynamic() != nullptr || !is_finite(at)) return DescStatus::bad_position;
  const ArchetypeTraits& traits = archetype.traits();
  const float distance = lod_distance(0, traits.lod_distance);
  if (distance == 0) return DescStatus::bad_distance;
  place(entity, at);
  entity.set_archetype(&archetype);
  entity.set_flags(BaseFlag::is_fragment, traits.is_fragment);
  LodData lod;
  lod.distance = distance;
  lod.set_level(static_cast<uint8_t>(schema::LodLevel::ORPHANHD));
  entity.lod() = lod;
  entity.set_visibility_mask(visibility_mask(0, traits.flags));
  return DescStatus::made;
}

DescStatus describe(const Entity& entity, const ArchetypeTraits& traits, const EntityLink& link, EntityDesc& out) {
  out = EntityDesc{};
  out.handle = desc_handle(entity.handle());
  const LodData& lod = entity.lod();
  const bool has_parent = link.parent.distance > 0;
  if (lod.distance == 0 && !has_parent) return DescStatus::bad_distance;
  const Transform& at = entity.transform();
  const CentredBox box = world_box(at, traits.box);
  const float radius = world_radius(at, traits.sphere_centre, traits.sphere_radius, box.centre);
  if (!is_finite(box) || !is_finite(radius)) return DescStatus::bad_bounds;

  out.centre = box.centre;
  out.half = box.half;
  out.radius = radius;
  out.pivot = has_parent ? link.parent.pivot : entity.position();
  out.distance = has_parent ? link.parent.distance : lod.distance;
  out.mask = entity.visibility_mask();
  out.lod_set = link.lod_set;
  out.type = entity.type();
  out.level = lod.level();
  out.alpha = lod.alpha;
  out.flags = kDescMaybeInCullBox;
  const auto set = [&out](DescFlags flag, bool on) {
    if (on) out.flags |= flag;
  };
  set(kDescSetParent, link.is_parent);
  set(kDescActive, is_active(entity, traits.is_timed));
  set(kDescTimed, is_timed(entity, traits.is_timed));
  set(kDescAltFade, entity.has(BaseFlag::alt_fade));
  set(kDescLodChild, has_parent);
  set(kDescHidden, !entity.is_visible());
  set(kDescSpawnPoints, entity.has(BaseFlag::spawn_points));
  return DescStatus::made;
}

DescStatus describe(const Entity& entity, const ArchetypeTraits& traits, EntityDesc& out) {
  return describe(entity, traits, EntityLink{}, out);
}

}  // namespace meridian
