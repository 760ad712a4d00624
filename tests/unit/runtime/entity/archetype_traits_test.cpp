// SPDX-License-Identifier: MIT
#include "meridian/entity/archetype_traits.h"

#include <gtest/gtest.h>

#include <limits>

#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

using schema::ArchetypeFlags;
using schema::AssetType;

schema::ArchetypeDef definition(uint32_t flags = 0, uint32_t clips = 0, AssetType type = AssetType::DRAWABLE) {
  return {120,
          static_cast<ArchetypeFlags>(flags),
          schema::SpecialAttribute::none,
          schema::Vec3(-1, -2, -3),
          schema::Vec3(4, 5, 6),
          schema::Vec3(1.5f, 1.5f, 1.5f),
          7,
          100,
          1234,
          0,
          clips,
          0,
          0,
          type,
          0};
}

constexpr uint32_t bit(ArchetypeFlags flag) { return static_cast<uint32_t>(flag); }

// ENTY-4
TEST(EntityClass, FollowsFormThenAnimationThenObject) {
  const auto of = [](uint32_t flags, uint32_t clips, AssetType type, ArchetypeForm form = ArchetypeForm::base) {
    return entity_class(definition(flags, clips, type), form);
  };
  const uint32_t anim = bit(ArchetypeFlags::has_anim), dynamic = bit(ArchetypeFlags::dynamic);
  EXPECT_EQ(of(0, 0, AssetType::DRAWABLE), EntityClass::building);
  EXPECT_EQ(of(0, 0, AssetType::DRAWABLE, ArchetypeForm::time), EntityClass::building);
  EXPECT_EQ(of(anim, 9, AssetType::DRAWABLE), EntityClass::animated_building);
  EXPECT_EQ(of(anim | dynamic, 9, AssetType::FRAGMENT), EntityClass::animated_building);
  EXPECT_EQ(of(anim, 0, AssetType::DRAWABLE), EntityClass::building) << "nothing to play";
  EXPECT_EQ(of(0, 9, AssetType::DRAWABLE), EntityClass::building);
  EXPECT_EQ(of(dynamic, 0, AssetType::DRAWABLE), EntityClass::dummy_object);
  EXPECT_EQ(of(bit(ArchetypeFlags::enable_door_physics), 0, AssetType::DRAWABLE), EntityClass::dummy_object);
  EXPECT_EQ(of(0, 0, AssetType::FRAGMENT), EntityClass::dummy_object);
  EXPECT_EQ(of(anim | dynamic, 9, AssetType::ASSETLESS, ArchetypeForm::interior), EntityClass::interior_instance);
  EXPECT_EQ(of(anim, 9, AssetType::DRAWABLE, ArchetypeForm::composite), EntityClass::composite_entity);
  EXPECT_EQ(of(0, 0, AssetType::DRAWABLE, ArchetypeForm::prop_list), EntityClass::prop_batch);
  EXPECT_EQ(of(0, 0, AssetType::DRAWABLE, ArchetypeForm::grass_list), EntityClass::grass_batch);
}

// ENTY-3
TEST(LodDistance, OwnOneFirstAndAboveOne) {
  EXPECT_EQ(lod_distance(80, 120), 80);
  EXPECT_EQ(lod_distance(0, 120), 120);
  EXPECT_EQ(lod_distance(-1, 120), 120);
  EXPECT_EQ(lod_distance(-2, -1), 0);
  EXPECT_EQ(lod_distance(0.5f, 120), 0) << "an own one is taken even if it is too small";
  EXPECT_EQ(lod_distance(1, 120), 0);
  EXPECT_EQ(lod_distance(0, 1), 0);
  EXPECT_EQ(lod_distance(1.001f, 0), 1.001f);
  EXPECT_EQ(lod_distance(std::numeric_limits<float>::infinity(), 1), 0);
  EXPECT_EQ(lod_distance(std::numeric_limits<float>::quiet_NaN(), 5), 5);
}

TEST(ArchetypeTraits, TakesWhatEntitiesNeed) {
  const ArchetypeTraits t = archetype_traits(
      definition(bit(ArchetypeFlags::shadow_only) | bit(ArchetypeFlags::dont_fade), 0, AssetType::FRAGMENT),
      ArchetypeForm::time);
  EXPECT_EQ(t.box, (Aabb{{-1, -2, -3}, {4, 5, 6}}));
  EXPECT_EQ(t.sphere_centre, (Vec3{1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(t.sphere_radius, 7);
  EXPECT_EQ(t.lod_distance, 120);
  EXPECT_EQ(t.flags, bit(ArchetypeFlags::shadow_only)) << "dont_fade bears on nothing";
  EXPECT_TRUE(t.is_fragment);
  EXPECT_TRUE(t.is_timed);
  EXPECT_FALSE(t.animates);
}

// DESC-4: the hash changes with each relevant field, and with no other.
TEST(TraitsHash, ChangesExactlyWithWhatBearsOnDescriptors) {
  const ArchetypeTraits base;
  const uint64_t hash = traits_hash(base);
  EXPECT_EQ(traits_hash(ArchetypeTraits{}), hash);
  const auto changed = [&](auto change) {
    ArchetypeTraits t;
    change(t);
    return traits_hash(t) != hash;
  };
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.min.x = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.min.y = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.min.z = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.max.x = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.max.y = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.box.max.z = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.lod_distance = 1; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.flags = bit(ArchetypeFlags::dont_cast_shadows); }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.entity_class = EntityClass::dummy_object; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.is_fragment = true; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.is_timed = true; }));
  EXPECT_TRUE(changed([](ArchetypeTraits& t) { t.animates = true; }));
  EXPECT_FALSE(changed([](ArchetypeTraits& t) { t.sphere_centre.x = 1; }));
  EXPECT_FALSE(changed([](ArchetypeTraits& t) { t.sphere_radius = 1; }));
  EXPECT_FALSE(changed([](ArchetypeTraits& t) { t.flags = bit(ArchetypeFlags::dont_fade); }));
}

}  // namespace
}  // namespace meridian
