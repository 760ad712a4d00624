// SPDX-License-Identifier: MIT
#include "meridian/scene/entity_init.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "meridian/entity/archetype.h"
#include "meridian/entity/archetype_store.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/entity/entity_visibility.h"
#include "meridian/schemas/imap_generated.h"
#include "support/captured.h"

namespace meridian {
namespace {

constexpr float kRoot = 0.70710678118654752f;  // sqrt(1/2)

/// The fields of a definition, to be changed by name.
struct Fields {
  uint32_t archetype = 77, flags = 0;
  schema::Vec3 position{0, 0, 0};
  schema::Quat rotation{0, 0, 0, 1};
  float scale_xy = 1, scale_z = 1;
  int32_t parent = -1;
  float lod_dist = 100, child_lod_dist = 0;
  schema::LodLevel level = schema::LodLevel::ORPHANHD;
  uint32_t children = 0;
  int32_t occlusion = 255, artificial = 255;
  uint32_t tint = 0;

  schema::EntityDef def() const {
    return {archetype,  static_cast<schema::EntityFlags>(flags),
            0,          position,
            rotation,   scale_xy,
            scale_z,    parent,
            lod_dist,   child_lod_dist,
            level,      children,
            {},         occlusion,
            artificial, tint};
  }
};
constexpr uint32_t bit(int number) { return 1u << number; }

ArchetypeTraits arrow() {
  ArchetypeTraits traits;
  traits.box = {{0, 0, 0}, {1, 1, 1}};
  traits.sphere_centre = {0.5f, 0.5f, 0.5f};
  traits.sphere_radius = 0.9f;
  traits.lod_distance = 80;
  return traits;
}

void expect_near(const Vec3& got, const Vec3& want, float tolerance = 1e-5f) {
  EXPECT_NEAR(got.x, want.x, tolerance);
  EXPECT_NEAR(got.y, want.y, tolerance);
  EXPECT_NEAR(got.z, want.z, tolerance);
}

// P013, ENTY-2: a plain entity and an interior instance, both turned by +90 degrees about z, show the same axes; an
// arrow at (1, 0, 0) in the turned interior stands at the interior + (0, 1, 0), turned once. All by hand.
TEST(InitEntity, TurnsOfEntitiesAndInteriorsMeanTheSame) {
  const ArchetypeTraits traits = arrow();
  Fields plain, interior, inside;
  plain.rotation = schema::Quat(0, 0, -kRoot, kRoot);  // the conjugate
  interior.rotation = schema::Quat(0, 0, kRoot, kRoot);
  interior.position = schema::Vec3(100, 200, 5);
  inside.position = schema::Vec3(1, 0, 0);
  Entity arrow_outside, mlo, arrow_inside;
  EXPECT_EQ(init_entity(arrow_outside, plain.def(), traits, nullptr, {}), DescStatus::made);
  EXPECT_EQ(init_entity(mlo, interior.def(), traits, nullptr, {.is_interior = true}), DescStatus::made);
  EXPECT_EQ(init_entity(arrow_inside, inside.def(), traits, nullptr, {.outer = &mlo.transform()}), DescStatus::made);
  const auto axis = [](const Entity& entity, const Vec3& local) {
    return entity.transform().point(local) - entity.position();
  };
  for (const Entity* entity : {&arrow_outside, &mlo, &arrow_inside}) {
    expect_near(axis(*entity, {1, 0, 0}), {0, 1, 0});
    expect_near(axis(*entity, {0, 1, 0}), {-1, 0, 0});
    expect_near(axis(*entity, {0, 0, 1}), {0, 0, 1});
    EXPECT_TRUE(entity->has(BaseFlag::upright));
  }
  expect_near(arrow_inside.position(), {100, 201, 5}, 1e-4f);
  // One that is turned in there too: 180 degrees together.
  inside.rotation = schema::Quat(0, 0, -kRoot, kRoot);
  EXPECT_EQ(init_entity(arrow_inside, inside.def(), traits, nullptr, {.outer = &mlo.transform()}), DescStatus::made);
  expect_near(axis(arrow_inside, {1, 0, 0}), {-1, 0, 0});
}

// P074, ENTY-2: a negative scale is told once and kept; the world range of x is [-2, 0], by hand.
TEST(InitEntity, NegativeScaleKeepsBoxesTheRightWayRound) {
  test::CapturedLog log;
  EntityMessages said;
  Fields fields;
  fields.scale_xy = -2;
  const ArchetypeTraits traits = arrow();
  Entity entity;
  const EntityInit how{.map = hash_name("town"), .messages = &said};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(init_entity(entity, fields.def(), traits, nullptr, how), DescStatus::odd_scale);
  }
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(log.said()[0].name, NameHash{77});
  EntityDesc desc;
  EXPECT_EQ(describe(entity, traits, desc), DescStatus::made);
  EXPECT_EQ(desc.centre.x - desc.half.x, -2);
  EXPECT_EQ(desc.centre.x + desc.half.x, 0);
  EXPECT_EQ(desc.centre.z - desc.half.z, 0);
  EXPECT_EQ(desc.centre.z + desc.half.z, 1);
  fields.archetype = 78;
  fields.scale_xy = 4;
  EXPECT_EQ(init_entity(entity, fields.def(), traits, nullptr, how), DescStatus::odd_scale);
  EXPECT_EQ(log.count(), 2u) << "another archetype";
}

// ENTY-2, CORE-11: what cannot stand anywhere leaves the entity as it was.
TEST(InitEntity, BadDefinitionsChangeNothing) {
  const float inf = std::numeric_limits<float>::infinity();
  const ArchetypeTraits traits = arrow();
  Entity entity;
  Fields good;
  good.position = schema::Vec3(1, 2, 3);
  good.tint = 5;
  ASSERT_EQ(init_entity(entity, good.def(), traits, nullptr, {.imap = 9}), DescStatus::made);
  const Transform before = entity.transform();
  const auto expect = [&](const Fields& fields, DescStatus status, const EntityInit& how = {}) {
    EXPECT_EQ(init_entity(entity, fields.def(), traits, nullptr, how), status);
    EXPECT_EQ(entity.transform(), before);
    EXPECT_EQ(entity.tint(), 5);
    EXPECT_EQ(entity.imap(), 9u);
  };
  Fields bad;
  bad.position = schema::Vec3(inf, 0, 0);
  expect(bad, DescStatus::bad_position);
  bad = {};
  bad.rotation = schema::Quat(0, 0, 0, 0);
  expect(bad, DescStatus::bad_rotation);
  bad = {};
  bad.scale_z = 0;
  expect(bad, DescStatus::bad_scale);
  bad = {};
  bad.lod_dist = 1;
  expect(bad, DescStatus::bad_distance);
  bad = {};
  bad.position = schema::Vec3(3e38f, 0, 0);
  const Transform far_away{.position = {3e38f, 0, 0, 1}};
  expect(bad, DescStatus::bad_position, {.outer = &far_away});
}

// ENTY-3: the definition's distance if > 0, else the archetype's; above 1.
TEST(InitEntity, DistanceIsTheDefinitionsOrTheArchetypes) {
  ArchetypeTraits traits = arrow();
  Entity entity;
  Fields fields;
  const auto distance = [&](float own, float of_archetype, bool has_lod_set = false) {
    fields.lod_dist = own;
    traits.lod_distance = of_archetype;
    const DescStatus status = init_entity(entity, fields.def(), traits, nullptr, {.has_lod_set = has_lod_set});
    return is_made(status) ? entity.lod().distance : -1;
  };
  EXPECT_EQ(distance(50, 80), 50);
  EXPECT_EQ(distance(0, 80), 80);
  EXPECT_EQ(distance(-1, 80), 80);
  EXPECT_EQ(distance(0.5f, 80), -1) << "its own counts, and is too short";
  EXPECT_EQ(distance(0, 1), -1);
  EXPECT_EQ(distance(0, 1, true), 0) << "its LOD set says";
  EXPECT_EQ(distance(1.5f, 0), 1.5f);
}

// ENTY-1, MAP-4's flags: what is kept of a definition, by the flag numbers of the schema.
TEST(InitEntity, KeepsLodDataAndFlags) {
  const ArchetypeTraits traits = arrow();
  Entity entity;
  Fields fields;
  fields.parent = 12;
  fields.child_lod_dist = 33;
  fields.level = schema::LodLevel::SLOD4;
  fields.flags = bit(3) | bit(4) | bit(6) | bit(1) | bit(2);
  ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {.imap = 70000}), DescStatus::made);
  const LodData& lod = entity.lod();
  EXPECT_EQ(lod.parent, 12);
  EXPECT_EQ(lod.child_distance, 33);
  EXPECT_EQ(lod.level(), 6);
  EXPECT_TRUE(lod.has(LodFlag::parent_in_parent_map) && lod.has(LodFlag::adopt_me) && lod.has(LodFlag::interior_lod));
  EXPECT_FALSE(lod.has(LodFlag::bound));
  EXPECT_TRUE(entity.has(BaseFlag::low_priority) && entity.has(BaseFlag::no_embedded_collision));
  EXPECT_EQ(entity.imap(), 70000u);
  EXPECT_EQ(entity.owner(), OwnedBy::ipl);  // ENTY-7
  EXPECT_TRUE(entity.is_visible()) << "bit 3 of a definition is no flag of ours";
  // Each bit alone: kept under its own number, or not at all.
  constexpr BaseFlags kOurs = BaseFlags(BaseFlag::upright);
  for (int number = 0; number < 30; ++number) {
    fields.flags = bit(number);
    ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {}), DescStatus::made);
    const bool is_kept = number <= 2 || number == 5 || (number >= 15 && number <= 21);
    EXPECT_EQ((entity.flags() & ~kOurs).bits(), is_kept ? bit(number) : 0) << number;
  }
  fields.parent = -5;
  fields.child_lod_dist = -3;
  ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {}), DescStatus::made);
  EXPECT_EQ(entity.lod().parent, kNoLodParent);
  EXPECT_EQ(entity.lod().child_distance, 0);
}

// An archetype's own flags beside the four of its traits change nothing here: flag 9 is none of them, 11 is.
TEST(InitEntity, TakesTraitsOfALoadedArchetype) {
  ArchetypeTraits traits = arrow();
  traits.flags = bit(9);
  traits.lod_distance = 66;
  Archetype archetype, shadow;
  archetype.set_traits(traits);
  traits.flags = bit(9) | bit(11);
  shadow.set_traits(traits);
  Fields fields;
  fields.lod_dist = 0;
  Entity entity;
  ASSERT_EQ(init_entity(entity, fields.def(), archetype, {.imap = 5}), DescStatus::made);
  EXPECT_EQ(entity.archetype(), &archetype);
  EXPECT_EQ(archetype.references(), 1u);
  EXPECT_EQ(entity.lod().distance, 66);
  EXPECT_EQ(entity.visibility_mask(), bit(1) | bit(2) | bit(3) | bit(4) | bit(5) | bit(6));
  ASSERT_EQ(init_entity(entity, fields.def(), shadow, {}), DescStatus::made);
  EXPECT_EQ(entity.visibility_mask(), bit(2) | bit(3) | bit(10));
  EXPECT_EQ(archetype.references(), 0u);
}

TEST(InitEntity, KeepsWhatTheDefinitionDoesNotSay) {
  const ArchetypeTraits traits = arrow();
  Entity entity(EntityClass::dummy_object);
  entity.set_flags({BaseFlag::spawn_points, BaseFlag::is_dynamic});
  entity.set_population(PopulationType::mission);
  ASSERT_EQ(init_entity(entity, Fields().def(), traits, nullptr, {}), DescStatus::made);
  EXPECT_TRUE(entity.has(BaseFlag::spawn_points) && entity.has(BaseFlag::is_dynamic));
  EXPECT_EQ(entity.type(), EntityClass::dummy_object);
  EXPECT_EQ(entity.population(), PopulationType::mission);
}

// ENTY-5: "only in shadows" and "not in shadows" together: not in shadows, told once; bits 1, 4, 5, 6 by hand.
TEST(InitEntity, ContradictoryFlagsMeanNot) {
  test::CapturedLog log;
  EntityMessages said;
  const ArchetypeTraits traits = arrow();
  Entity entity;
  Fields fields;
  fields.flags = bit(22) | bit(23);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {.messages = &said}), DescStatus::made);
  }
  EXPECT_EQ(entity.visibility_mask(), bit(1) | bit(4) | bit(5) | bit(6));
  EXPECT_EQ(log.count(), 1u) << log.all();
  fields.flags = bit(29);
  ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {.messages = &said}), DescStatus::made);
  EXPECT_EQ(entity.visibility_mask(), bit(6));
  EXPECT_EQ(log.count(), 1u) << "nothing wrong with that one";
}

// ENTY-7: tint below 64, occlusion in a byte.
TEST(InitEntity, TintAndOcclusionAreBroughtIntoRange) {
  test::CapturedLog log;
  EntityMessages said;
  const ArchetypeTraits traits = arrow();
  Entity entity;
  Fields fields;
  fields.tint = 63;
  fields.occlusion = 0;
  fields.artificial = 17;
  ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {.messages = &said}), DescStatus::made);
  EXPECT_EQ(entity.tint(), 63);
  EXPECT_EQ(entity.natural_occlusion(), 0);
  EXPECT_EQ(entity.artificial_occlusion(), 17);
  EXPECT_EQ(log.count(), 0u) << log.all();
  fields.tint = 0x102;  // more than a byte: not 2
  fields.occlusion = -3;
  fields.artificial = 256;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {.messages = &said}), DescStatus::made);
  }
  EXPECT_EQ(entity.tint(), 63);
  EXPECT_EQ(entity.natural_occlusion(), 0);
  EXPECT_EQ(entity.artificial_occlusion(), 255);
  EXPECT_EQ(log.count(), 2u) << log.all();
  ASSERT_EQ(init_entity(entity, fields.def(), traits, nullptr, {}), DescStatus::made) << "silently";
  EXPECT_EQ(log.count(), 2u);
}

TEST(InitEntity, AttachedEntitiesAreNotNew) {
  test::BrokenContracts contracts;
  const ArchetypeTraits traits = arrow();
  DynamicComponents components;
  ASSERT_TRUE(components.init({}).ok());
  Entity car, lamp;
  ASSERT_TRUE(components.attach(lamp, car, {.offset = {.position = {0, 0, 2, 1}}}).ok());
  Fields fields;
  fields.position = schema::Vec3(9, 9, 9);
  EXPECT_EQ(init_entity(lamp, fields.def(), traits, nullptr, {}), DescStatus::bad_position);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(lamp.position(), (Vec3{0, 0, 2}));
}

// --- descriptors ---

Fields random_fields(std::mt19937& random) {
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  Fields fields;
  fields.flags = static_cast<uint32_t>(random());
  fields.position = schema::Vec3(number(-8000, 8000), number(-8000, 8000), number(-200, 900));
  fields.rotation = schema::Quat(number(-1, 1) * (random() % 2 == 0 ? 0.01f : 1), number(-1, 1) * 0.02f, number(-1, 1),
                                 number(-1, 1));
  const bool scaled = random() % 3 == 0;
  fields.scale_xy = scaled ? number(-5, 5) : 1;
  fields.scale_z = scaled ? number(-5, 5) : 1;
  if (random() % 20 == 0) fields.scale_z = 0;
  if (random() % 20 == 0) fields.position = schema::Vec3(0, std::nanf(""), 0);
  fields.lod_dist = random() % 2 == 0 ? number(-1, 500) : 0;
  fields.level = static_cast<schema::LodLevel>(random() % 7);
  return fields;
}

ArchetypeTraits random_traits(std::mt19937& random) {
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  ArchetypeTraits traits;
  traits.box = {{number(-9, 1), number(-9, 1), number(-9, 1)}, {number(0, 9), number(0, 9), number(0, 9)}};
  traits.sphere_centre = {number(-1, 1), number(-1, 1), number(-1, 1)};
  traits.sphere_radius = number(0, 20);
  traits.lod_distance = number(-1, 300);
  traits.flags = static_cast<uint32_t>(random()) & kTraitFlags;
  traits.entity_class = static_cast<EntityClass>(random() % 7);
  traits.is_fragment = random() % 4 == 0;
  traits.is_timed = random() % 2 == 0;
  traits.animates = random() % 4 == 0;
  return traits;
}

// A live entity's descriptor has the bits that its definition's has, which cooked blocks hold.
TEST(Describe, EqualsTheDescriptorOfTheDefinition) {
  static_assert(sizeof(EntityDesc) == 64, "no filler between its members, so that bytes can be compared");
  uint32_t made = 0, left_out = 0;
  for (uint32_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Fields fields = random_fields(random);
    const ArchetypeTraits traits = random_traits(random);
    const bool is_interior = random() % 4 == 0;
    EntityLink link;
    if (random() % 3 == 0) link = {static_cast<uint16_t>(random() % 9), random() % 2 == 0, {{1, 2, 3}, 400}};
    EntityDesc from_definition, from_entity;
    const DescStatus wanted = describe_entity(fields.def(), is_interior, &traits, link, from_definition);
    Entity entity(traits.entity_class);
    const DescStatus got = init_entity(entity, fields.def(), traits, nullptr,
                                       {.is_interior = is_interior, .has_lod_set = link.parent.distance > 0});
    ASSERT_EQ(got, wanted);
    if (!is_made(got)) {
      ++left_out;
      continue;
    }
    ++made;
    ASSERT_EQ(describe(entity, traits, link, from_entity), DescStatus::made);
    ASSERT_EQ(std::memcmp(&from_entity, &from_definition, sizeof from_entity), 0);
  }
  EXPECT_GT(made, 2000u);
  EXPECT_GT(left_out, 200u);
}

// What changes afterwards shows in the descriptor, by hand.
TEST(Describe, FollowsTheEntity) {
  ArchetypeTraits traits = arrow();
  traits.is_timed = true;
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({}).ok());
  Entity entity(EntityClass::dummy_object);
  ASSERT_EQ(init_entity(entity, Fields().def(), traits, nullptr, {}), DescStatus::made);
  EntityDesc desc;
  ASSERT_EQ(describe(entity, traits, desc), DescStatus::made);
  EXPECT_EQ(desc.flags, uint32_t{kDescActive | kDescTimed | kDescMaybeInCullBox});
  EXPECT_EQ(desc.handle, 0u);
  place(entity, {.position = {10, 20, 30, 1}});
  ASSERT_TRUE(visibility.set_visible(entity, VisibilityModule::script, false).ok());
  ASSERT_TRUE(set_hour(entity, true, 0x3F, 12));  // ENTY-10
  entity.set_flags(BaseFlag::spawn_points);
  entity.lod().alpha = 40;
  entity.lod().distance = 55;
  entity.set_handle({3, 9});
  ASSERT_EQ(describe(entity, traits, desc), DescStatus::made);
  EXPECT_EQ(desc.flags, uint32_t{kDescTimed | kDescMaybeInCullBox | kDescHidden | kDescSpawnPoints});
  EXPECT_EQ(desc.centre, (Vec3{10.5f, 20.5f, 30.5f}));
  EXPECT_EQ(desc.pivot, (Vec3{10, 20, 30}));
  EXPECT_EQ(desc.alpha, 40);
  EXPECT_EQ(desc.distance, 55);
  EXPECT_EQ(desc.handle, 3ull << 32 | 9);
  EXPECT_EQ(entity_handle(desc.handle), (EntityHandle{3, 9}));
  EXPECT_EQ(desc.type, EntityClass::dummy_object);
  entity.set_flags(BaseFlag::ignore_hours);
  ASSERT_EQ(describe(entity, traits, desc), DescStatus::made);
  EXPECT_EQ(desc.flags, uint32_t{kDescActive | kDescMaybeInCullBox | kDescHidden | kDescSpawnPoints});
  entity.set_handle({});
}

TEST(Describe, WithoutDistanceOrBoundsIsNeverVisible) {
  ArchetypeTraits traits = arrow();
  Entity entity;
  EntityDesc desc;
  EXPECT_EQ(describe(entity, traits, desc), DescStatus::bad_distance);
  EXPECT_EQ(desc.distance, 0);
  entity.lod().distance = 10;
  traits.box.max.x = std::numeric_limits<float>::infinity();
  EXPECT_EQ(describe(entity, traits, desc), DescStatus::bad_bounds);
  EXPECT_EQ(desc.distance, 0);
}

// ENTY-3, ENTY-5: an entity that no map defines is seen like one whose definition says nothing.
TEST(EntityInit, OfAnArchetypeAlone) {
  ArchetypeStore store;
  ASSERT_TRUE(store.init({.types = 1}).ok());
  const KindCount kinds[] = {{hash_type("CBaseArchetypeDef"), 2}};
  ASSERT_TRUE(store.open_types({.slot = 0, .file = hash_name("code")}, kinds).ok());
  Archetype* const box = store.create(0, hash_type("CBaseArchetypeDef"), hash_name("box"));
  ASSERT_NE(box, nullptr);
  box->set_traits(arrow());
  Archetype* const near = store.create(0, hash_type("CBaseArchetypeDef"), hash_name("near"));
  ASSERT_NE(near, nullptr);
  ArchetypeTraits unseen = arrow();
  unseen.lod_distance = 1;  // must be above 1
  near->set_traits(unseen);
  ASSERT_TRUE(store.publish_types(0).ok());
  {
    Entity entity;
    const Transform at{.position = {5, 6, 7, 1}};
    EXPECT_EQ(init_entity(entity, *near, at), DescStatus::bad_distance);
    EXPECT_EQ(entity.archetype(), nullptr);
    Transform bad = at;
    bad.position.y = std::numeric_limits<float>::infinity();
    EXPECT_EQ(init_entity(entity, *box, bad), DescStatus::bad_position);
    EXPECT_EQ(init_entity(entity, *box, at), DescStatus::made);
    EXPECT_EQ(entity.position(), (Vec3{5, 6, 7}));
    EXPECT_EQ(entity.archetype(), box);
    EXPECT_EQ(box->references(), 1u);
    EXPECT_EQ(entity.lod().distance, 80);
    EXPECT_EQ(entity.lod().level(), 5);         // ORPHANHD
    EXPECT_EQ(entity.visibility_mask(), 0x7E);  // types 1 to 6
    EntityDesc desc;
    EXPECT_EQ(describe(entity, box->traits(), desc), DescStatus::made);
    EXPECT_EQ(desc.centre, (Vec3{5.5f, 6.5f, 7.5f}));
  }
  EXPECT_EQ(box->references(), 0u);
}

}  // namespace
}  // namespace meridian
