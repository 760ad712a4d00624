// SPDX-License-Identifier: MIT
#include "meridian/entity/archetype.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "meridian/core/tracked_ref.h"
#include "support/captured.h"
#include "unit/runtime/map/types_file.h"

namespace meridian {
namespace {

using test::definition_of;

constexpr uint32_t bit(schema::ArchetypeFlags flag) { return static_cast<uint32_t>(flag); }

// ARCH-1
TEST(Archetype, IsSmall) {
  static_assert(sizeof(Archetype) <= 112);
  static_assert(sizeof(ArchetypeComponent) <= 48);
  static_assert(!std::is_polymorphic_v<Archetype> && !std::is_polymorphic_v<CompositeArchetype>);
}

// ARCH-1: what code that makes one can count on.
TEST(Archetype, MadeInCodeHasDefaults) {
  const Archetype archetype;
  EXPECT_EQ(archetype.lod_distance(), 100);
  EXPECT_EQ(archetype.drawable_kind(), DrawableKind::none);
  EXPECT_EQ(archetype.drawable_slot(), kNoDrawableSlot);
  EXPECT_EQ(archetype.dictionary_entry(), 0xFF);
  EXPECT_FALSE(archetype.is_model_missing());
  EXPECT_EQ(archetype.references(), 0u);
  EXPECT_EQ(archetype.component(), nullptr);
  EXPECT_EQ(archetype.clip_dictionary(), NameHash{});
  EXPECT_EQ(archetype.physics_dictionary(), NameHash{});
  EXPECT_TRUE(archetype.extensions().empty());
  EXPECT_FALSE(archetype.model_id().is_valid());
  EXPECT_EQ(archetype.form(), ArchetypeForm::base);
}

// EXTN-5: a list of its own, but neither Extensible nor trackable.
TEST(Archetype, IsNotExtensible) {
  static_assert(!std::is_base_of_v<Extensible, Archetype>);
  static_assert(!std::is_base_of_v<Trackable, Archetype>);
  static_assert(!std::is_convertible_v<Archetype&, Extensible&>);
  static_assert(std::is_same_v<decltype(std::declval<Archetype&>().extensions()), ExtensionList&>);
}

// ARCH-1
TEST(Archetype, TakesItsDefinition) {
  const uint32_t flags = bit(schema::ArchetypeFlags::dont_fade) | bit(schema::ArchetypeFlags::shadow_only);
  const schema::ArchetypeDef definition =
      definition_of(hash_name("lamp"), {.lod = 60,
                                        .flags = flags,
                                        .attribute = schema::SpecialAttribute::street_light,
                                        .textures = 11,
                                        .dictionary = 12,
                                        .type = schema::AssetType::DRAWABLEDICTIONARY,
                                        .asset = 13});
  Archetype archetype;
  archetype.read({.base = &definition});
  EXPECT_EQ(archetype.box(), (Aabb{{-1, -2, -3}, {4, 5, 6}}));
  EXPECT_EQ(archetype.sphere_centre(), (Vec3{1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(archetype.sphere_radius(), 7);
  EXPECT_EQ(archetype.lod_distance(), 60);
  EXPECT_EQ(archetype.hd_texture_distance(), 30);
  EXPECT_EQ(archetype.flags(), flags);
  EXPECT_EQ(archetype.special_attribute(), 32u);
  EXPECT_EQ(archetype.texture_dictionary(), NameHash{11});
  EXPECT_EQ(archetype.drawable_dictionary(), NameHash{12});
  EXPECT_EQ(archetype.asset_name(), NameHash{13});
  EXPECT_EQ(archetype.drawable_kind(), DrawableKind::drawable_dictionary);
  EXPECT_EQ(archetype.drawable_slot(), kNoDrawableSlot) << "only the host knows it";
  EXPECT_EQ(traits_hash(archetype.traits()), traits_hash(archetype_traits(definition, ArchetypeForm::base)))
      << "all flags are kept, and do not change the hash of cooked descriptors";
}

TEST(Archetype, TakesEachKindOfModel) {
  const struct {
    schema::AssetType type;
    DrawableKind kind;
  } pairs[] = {{schema::AssetType::UNINITIALIZED, DrawableKind::none},
               {schema::AssetType::FRAGMENT, DrawableKind::fragment},
               {schema::AssetType::DRAWABLE, DrawableKind::drawable},
               {schema::AssetType::DRAWABLEDICTIONARY, DrawableKind::drawable_dictionary},
               {schema::AssetType::ASSETLESS, DrawableKind::assetless},
               {static_cast<schema::AssetType>(0xFFFFFF00u), DrawableKind::none}};  // trusted packs may hold anything
  for (const auto& [type, kind] : pairs) {
    const schema::ArchetypeDef definition = definition_of(NameHash{1}, {.type = type});
    Archetype archetype;
    archetype.read({.base = &definition});
    EXPECT_EQ(archetype.drawable_kind(), kind);
    EXPECT_EQ(archetype.asset_name(), NameHash{1}) << "the archetype's own, where no other is said";
  }
}

// ARCH-1: what authors wrote counts, however odd.
TEST(Archetype, KeepsOddValues) {
  const schema::ArchetypeDef definition =
      definition_of(NameHash{1}, {.lod = -1,
                                  .attribute = static_cast<schema::SpecialAttribute>(0x10000u),
                                  .bb_min = schema::Vec3(5, 5, 5),
                                  .bb_max = schema::Vec3(-5, -5, -5)});
  Archetype archetype;
  archetype.read({.base = &definition});
  EXPECT_EQ(archetype.lod_distance(), -1);
  EXPECT_EQ(archetype.box(), (Aabb{{5, 5, 5}, {-5, -5, -5}}));
  EXPECT_EQ(archetype.special_attribute(), 0u);
}

TEST(Archetype, PacksKindAndSlotOfItsModel) {
  test::BrokenContracts contracts;
  Archetype archetype;
  for (const uint32_t slot : {0u, 1u, 0x123456u, 0xFFFFFEu, kNoDrawableSlot}) {
    for (const DrawableKind kind : {DrawableKind::none, DrawableKind::fragment, DrawableKind::assetless}) {
      archetype.set_drawable(kind, slot);
      EXPECT_EQ(archetype.drawable_kind(), kind);
      EXPECT_EQ(archetype.drawable_slot(), slot);
    }
  }
  EXPECT_TRUE(test::broke(contracts, 0));
  archetype.set_drawable(DrawableKind::drawable, 0x1000000);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(archetype.drawable_kind(), DrawableKind::drawable);
  EXPECT_EQ(archetype.drawable_slot(), kNoDrawableSlot);
}

TEST(Archetype, CountsReferences) {
  test::BrokenContracts contracts;
  Archetype archetype;
  for (int i = 0; i < 70000; ++i) archetype.add_reference();  // more than 15 or 16 bits hold
  EXPECT_EQ(archetype.references(), 70000u);
  for (int i = 0; i < 70000; ++i) archetype.remove_reference();
  EXPECT_EQ(archetype.references(), 0u);
  EXPECT_TRUE(test::broke(contracts, 0));
  archetype.remove_reference();
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(archetype.references(), 0u);
}

// ARCH-2
TEST(Archetype, TimedOnesKnowTheirHours) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(schema::CreateTimeArchetypeDef(builder, 0, static_cast<schema::TimeFlags>(1u << 24 | 1u << 23 | 1u)));
  const auto* const time = flatbuffers::GetRoot<schema::TimeArchetypeDef>(builder.GetBufferPointer());
  const schema::ArchetypeDef definition = definition_of(NameHash{1}, {});
  TimeArchetype archetype;
  archetype.read({.base = &definition, .time = time});
  for (uint32_t hour = 0; hour < 40; ++hour) EXPECT_EQ(archetype.is_there_at(hour), hour == 0 || hour == 23) << hour;
  EXPECT_EQ(archetype.hours(), 1u << 23 | 1u);
  EXPECT_TRUE(archetype.may_swap_while_visible());
  EXPECT_TRUE(archetype.traits().is_timed);
  EXPECT_EQ(archetype.form(), ArchetypeForm::time);
  archetype.set_time_flags(2);
  EXPECT_TRUE(archetype.is_there_at(1));
  EXPECT_FALSE(archetype.is_there_at(0) || archetype.may_swap_while_visible());

  Archetype& base = archetype;
  EXPECT_EQ(base.as<TimeArchetype>(), &archetype);
  EXPECT_EQ(base.as<InteriorArchetype>(), nullptr);
  EXPECT_EQ(static_cast<const Archetype&>(archetype).as<CompositeArchetype>(), nullptr);
  const Archetype plain;
  EXPECT_EQ(plain.as<TimeArchetype>(), nullptr);
}

// ARCH-2
TEST(Archetype, InteriorsPointIntoTheirFile) {
  test::TypesMaker maker;
  maker.interior(hash_name("flat"), 3, {.type = schema::AssetType::ASSETLESS});
  const test::TypesFile file = maker.finish("interiors");
  InteriorArchetype archetype;
  archetype.read({.base = file.types().archetypes()->Get(0), .interior = file.types().mlo_archetypes()->Get(0)});
  ASSERT_EQ(archetype.definition(), file.types().mlo_archetypes()->Get(0));
  EXPECT_EQ(archetype.definition()->rooms()->size(), 3u);
  EXPECT_EQ(archetype.traits().entity_class, EntityClass::interior_instance);
  EXPECT_EQ(archetype.drawable_kind(), DrawableKind::assetless);
}

// ARCH-2
TEST(Archetype, CompositesNameTheirModels) {
  test::TypesMaker maker;
  maker.composite("Tower_Falls", "Tower_Whole", "Tower_Gone");
  const test::TypesFile file = maker.finish("composites");
  CompositeArchetype archetype;
  archetype.read({.composite = file.types().composite_entity_types()->Get(0)});
  EXPECT_EQ(archetype.definition(), file.types().composite_entity_types()->Get(0));
  EXPECT_EQ(archetype.start_model(), hash_name("tower_whole"));
  EXPECT_EQ(archetype.end_model(), hash_name("tower_gone"));
  EXPECT_EQ(archetype.start_map(), NameHash{71});
  EXPECT_EQ(archetype.end_map(), NameHash{72});
  EXPECT_EQ(archetype.lod_distance(), 80);
  EXPECT_EQ(archetype.box(), (Aabb{{-9, -9, 0}, {9, 9, 20}}));
  EXPECT_EQ(archetype.sphere_centre(), (Vec3{0, 0, 10}));
  EXPECT_EQ(archetype.sphere_radius(), 15);
  EXPECT_EQ(archetype.special_attribute(), 30u);
  EXPECT_EQ(archetype.traits().entity_class, EntityClass::composite_entity);
  EXPECT_EQ(archetype.drawable_kind(), DrawableKind::assetless);
  EXPECT_EQ(archetype.asset_name(), hash_name("tower_falls"));
}

// ARCH-3
TEST(ModelId, HoldsTwoSlotsIn32Bits) {
  static_assert(sizeof(ModelId) == 4);
  static_assert(kNoArchetype == 0xFFFF && kNoItyp == 0xFFFF);
  EXPECT_FALSE(ModelId{}.is_valid());
  EXPECT_EQ(ModelId{}.packed(), 0xFFFFFFFFu);
  const ModelId id{.archetype = 0x1234, .types = 0xABCD};
  EXPECT_TRUE(id.is_valid());
  EXPECT_EQ(id.packed(), 0xABCD1234u);
  EXPECT_EQ(ModelId::unpack(0xABCD1234u), id);
  EXPECT_FALSE((ModelId{.archetype = 0xFFFF, .types = 1}.is_valid()));
  EXPECT_FALSE((ModelId{.archetype = 1, .types = 0xFFFF}.is_valid()));
  EXPECT_TRUE((ModelId{.archetype = 0xFFFE, .types = 0}.is_valid()));
}

}  // namespace
}  // namespace meridian
