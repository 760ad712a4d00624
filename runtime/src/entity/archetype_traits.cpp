// SPDX-License-Identifier: MIT
#include "meridian/entity/archetype_traits.h"

#include <array>
#include <cstddef>
#include <span>

#include "entity/schema_flags.h"
#include "meridian/schemas/ityp_generated.h"
#include "resource/checksum.h"

namespace meridian {
namespace {

static_assert(kTraitFlags == (static_cast<uint32_t>(schema::ArchetypeFlags::shadow_only) |
                              static_cast<uint32_t>(schema::ArchetypeFlags::dont_cast_shadows) |
                              static_cast<uint32_t>(schema::ArchetypeFlags::has_pre_reflected_water_proxy) |
                              static_cast<uint32_t>(schema::ArchetypeFlags::has_drawable_proxy_for_water_reflections)));

uint32_t flags_of(const schema::ArchetypeDef& definition) { return static_cast<uint32_t>(definition.flags()); }

Vec3 vec(const schema::Vec3& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

bool archetype_animates(const schema::ArchetypeDef& definition) {
  return has(flags_of(definition), schema::ArchetypeFlags::has_anim) && definition.clip_dictionary() != 0;
}

bool archetype_is_object(const schema::ArchetypeDef& definition) {
  const uint32_t flags = flags_of(definition);
  return has(flags, schema::ArchetypeFlags::dynamic) || has(flags, schema::ArchetypeFlags::enable_door_physics) ||
         definition.asset_type() == schema::AssetType::FRAGMENT;
}

EntityClass entity_class(const schema::ArchetypeDef& definition, ArchetypeForm form) {
  switch (form) {
    case ArchetypeForm::interior:
      return EntityClass::interior_instance;
    case ArchetypeForm::composite:
      return EntityClass::composite_entity;
    case ArchetypeForm::prop_list:
      return EntityClass::prop_batch;
    case ArchetypeForm::grass_list:
      return EntityClass::grass_batch;
    case ArchetypeForm::base:
    case ArchetypeForm::time:
      break;
  }
  if (archetype_animates(definition)) return EntityClass::animated_building;
  return archetype_is_object(definition) ? EntityClass::dummy_object : EntityClass::building;
}

ArchetypeTraits archetype_traits(const schema::ArchetypeDef& definition, ArchetypeForm form) {
  ArchetypeTraits out;
  out.box = {vec(definition.bb_min()), vec(definition.bb_max())};
  out.sphere_centre = vec(definition.bs_centre());
  out.sphere_radius = definition.bs_radius();
  out.lod_distance = definition.lod_dist();
  out.flags = flags_of(definition) & kTraitFlags;
  out.entity_class = entity_class(definition, form);
  out.is_fragment = definition.asset_type() == schema::AssetType::FRAGMENT;
  out.is_timed = form == ArchetypeForm::time;
  out.animates = archetype_animates(definition);
  return out;
}

uint64_t traits_hash(const ArchetypeTraits& traits) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  const uint32_t switches = static_cast<uint32_t>(traits.entity_class) | (traits.is_fragment ? 1u << 8 : 0u) |
                            (traits.is_timed ? 1u << 9 : 0u) | (traits.animates ? 1u << 10 : 0u);
  std::array<uint32_t, 9> words{bits(traits.box.min.x),    bits(traits.box.min.y),     bits(traits.box.min.z),
                                bits(traits.box.max.x),    bits(traits.box.max.y),     bits(traits.box.max.z),
                                bits(traits.lod_distance), traits.flags & kTraitFlags, switches};
  const uint64_t hash = detail::checksum(std::as_bytes(std::span(words)));
  return hash != 0 ? hash : 1;
}

}  // namespace meridian
