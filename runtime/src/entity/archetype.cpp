// SPDX-License-Identifier: MIT
#include "meridian/entity/archetype.h"

#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

static_assert(static_cast<uint32_t>(schema::AssetType::ASSETLESS) == static_cast<uint32_t>(DrawableKind::assetless));
static_assert(static_cast<uint32_t>(schema::AssetType::DRAWABLEDICTIONARY) ==
              static_cast<uint32_t>(DrawableKind::drawable_dictionary));

uint16_t attribute_of(schema::SpecialAttribute attribute) {
  const auto number = static_cast<uint32_t>(attribute);
  return static_cast<uint16_t>(number <= UINT16_MAX ? number : 0);
}

schema::Vec3 point(const schema::Vec3* v) { return v != nullptr ? *v : schema::Vec3(); }

NameHash name_of(const flatbuffers::String* text) {
  return text != nullptr ? hash_name({text->c_str(), text->size()}) : NameHash{};
}

}  // namespace

void Archetype::read(const ArchetypeSource& source) {
  if (source.base == nullptr) return;
  const schema::ArchetypeDef& definition = *source.base;
  traits_ = archetype_traits(definition, form());
  traits_.flags = static_cast<uint32_t>(definition.flags());
  special_attribute_ = attribute_of(definition.special_attribute());
  hd_texture_distance_ = definition.hd_texture_dist();
  const auto kind = static_cast<uint32_t>(definition.asset_type());
  set_drawable(kind <= static_cast<uint32_t>(DrawableKind::assetless) ? static_cast<DrawableKind>(kind)
                                                                      : DrawableKind::none);
  set_model_names(NameHash{definition.asset_name() != 0 ? definition.asset_name() : definition.name()},
                  NameHash{definition.drawable_dictionary()}, NameHash{definition.texture_dictionary()});
}

void Archetype::set_drawable(DrawableKind kind, uint32_t slot) {
  MERIDIAN_ASSERT(slot <= kNoDrawableSlot, "slots of models have 24 bits");
  drawable_ = (slot <= kNoDrawableSlot ? slot : kNoDrawableSlot) | static_cast<uint32_t>(kind) << kDrawableBits;
}

void Archetype::set_model_names(NameHash asset, NameHash drawable_dictionary, NameHash texture_dictionary) {
  MERIDIAN_ASSERT(!is_published(), "the model is named before an archetype is published");
  if (is_published()) return;
  asset_name_ = asset;
  drawable_dictionary_ = drawable_dictionary;
  texture_dictionary_ = texture_dictionary;
}

void TimeArchetype::read(const ArchetypeSource& source) {
  Archetype::read(source);
  if (source.time != nullptr) hours_ = static_cast<uint32_t>(source.time->time_flags());
}

void InteriorArchetype::read(const ArchetypeSource& source) {
  Archetype::read(source);
  definition_ = source.interior;
}

void CompositeArchetype::read(const ArchetypeSource& source) {
  definition_ = source.composite;
  if (definition_ == nullptr) return;
  const schema::CompositeEntityType& composite = *definition_;
  // What composites have in common with the rest, as a definition of the rest.
  const schema::ArchetypeDef base(composite.lod_dist(), static_cast<schema::ArchetypeFlags>(0),
                                  composite.special_attribute(), point(composite.bb_min()), point(composite.bb_max()),
                                  point(composite.bs_centre()), composite.bs_radius(), 0,
                                  name_of(composite.name()).value, 0, 0, 0, 0, schema::AssetType::ASSETLESS, 0);
  Archetype::read({.base = &base});
  start_model_ = name_of(composite.start_model());
  end_model_ = name_of(composite.end_model());
  start_map_ = NameHash{composite.start_imap_file()};
  end_map_ = NameHash{composite.end_imap_file()};
}

}  // namespace meridian
