// SPDX-License-Identifier: MIT
#include "meridian/entity/entity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>

#include "meridian/core/decorator.h"
#include "meridian/entity/archetype.h"
#include "meridian/entity/entity_host.h"
#include "support/captured.h"

namespace meridian {
namespace {

// ENTY-1: at most 192 bytes, four 16-byte columns, no virtual functions.
static_assert(sizeof(Entity) <= 192);
static_assert(alignof(Entity) % 16 == 0 && sizeof(Entity) % 16 == 0);
static_assert(!std::is_polymorphic_v<Entity> && !std::is_copy_constructible_v<Entity>);

TEST(Entity, TransformIsFourAlignedColumns) {
  const Entity entity;
  const auto at = reinterpret_cast<uintptr_t>(&entity.transform());
  EXPECT_EQ(at % 16, 0u);
  EXPECT_LE(at - reinterpret_cast<uintptr_t>(&entity) + 64, sizeof(Entity));
  EXPECT_EQ(entity.transform(), Transform{});
  EXPECT_TRUE(entity.is_visible());
}

// ENTY-1: scale stands in what the columns have left over.
TEST(Entity, PlaceKeepsScaleInTheColumns) {
  Entity entity;
  place(entity, {{2, 0, 0, 0}, {0, 2, 0, 2}, {0, 0, 3, 3}, {7, 8, 9, 1}});
  EXPECT_EQ(entity.transform().y.w, 2);
  EXPECT_EQ(entity.transform().z.w, 3);
  EXPECT_EQ(entity.position(), (Vec3{7, 8, 9}));
  EXPECT_TRUE(entity.has(BaseFlag::upright));
  place(entity, {{1, 0, 0, 0}, {0, 0, 1, 1}, {0, -1, 0, 1}, {0, 0, 0, 1}});  // +90 degrees about x
  EXPECT_FALSE(entity.has(BaseFlag::upright));
  place(entity, {});
  EXPECT_TRUE(entity.has(BaseFlag::upright));
}

TEST(Entity, PlacesThatAreNotFiniteAreRefused) {
  test::BrokenContracts contracts;
  Entity entity;
  place(entity, {.position = {1, 2, 3, 1}});
  const Transform before = entity.transform();
  for (unsigned i = 0; i < 16; ++i) {
    Transform bad;
    float* const number = &bad.x.x + i;
    *number = i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
    place(entity, bad);
    EXPECT_TRUE(test::broke(contracts)) << i;
    EXPECT_EQ(entity.transform(), before) << i;
  }
}

// ENTY-1: flags, protected ones apart.
TEST(Entity, GuardedFlagsAreNotWrittenByTheWay) {
  test::BrokenContracts contracts;
  Entity entity;
  entity.set_flags({BaseFlag::spawn_points, BaseFlag::is_dynamic});
  EXPECT_TRUE(entity.has(BaseFlag::spawn_points) && entity.has(BaseFlag::is_dynamic));
  entity.set_flags(BaseFlag::spawn_points, false);
  EXPECT_FALSE(entity.has(BaseFlag::spawn_points));
  EXPECT_EQ(contracts.count(), 0u);
  entity.set_flags({BaseFlag::hidden, BaseFlag::low_priority});
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(entity.is_visible()) << "only its own part hides an entity";
  EXPECT_TRUE(entity.has(BaseFlag::low_priority));
  // The first bit of the host's is beyond all of ours.
  entity.set_flags(BaseFlags::from_bits(1u << kFirstHostBaseFlag));
  EXPECT_EQ(entity.flags().bits() >> kFirstHostBaseFlag, 1u);
  entity.set_uses_collision(true);
  entity.set_fixed_until_collision(true);
  entity.set_uses_collision(false);
  EXPECT_FALSE(entity.uses_collision());
  EXPECT_TRUE(entity.is_fixed_until_collision());
}

// ENTY-7: ranges by the rule: 22 owners, at most 16 population types, 32 bits of map slot, tint below 64.
TEST(Entity, OwnerPopulationMapAndTint) {
  EXPECT_EQ(kOwners, 22u);
  Entity entity;
  EXPECT_EQ(entity.imap(), 0xFFFFFFFFu);
  for (unsigned owner = 0; owner < 22; ++owner) {
    entity.set_owner(static_cast<OwnedBy>(owner));
    EXPECT_EQ(static_cast<unsigned>(entity.owner()), owner);
  }
  for (unsigned type = 0; type < 16; ++type) {
    entity.set_population(static_cast<PopulationType>(type));
    EXPECT_EQ(static_cast<unsigned>(entity.population()), type);
  }
  EXPECT_TRUE(is_mission(PopulationType::mission) && is_mission(PopulationType::permanent));
  EXPECT_FALSE(is_mission(PopulationType::random_permanent));
  entity.set_imap(0xFFFFFFFE);
  EXPECT_EQ(entity.imap(), 0xFFFFFFFEu);
  test::BrokenContracts contracts;
  entity.set_tint(63);
  EXPECT_EQ(entity.tint(), 63);
  EXPECT_EQ(contracts.count(), 0u);
  entity.set_tint(64);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(entity.tint(), 63);
  entity.set_occlusion(1, 254);
  EXPECT_EQ(entity.natural_occlusion(), 1);
  EXPECT_EQ(entity.artificial_occlusion(), 254);
}

// ENTY-1: a container or a retaining list, told apart by a bit.
TEST(Entity, ContainerTag) {
  EXPECT_EQ(sizeof(ContainerTag), 8u);
  const ContainerTag none, in = ContainerTag::in_container(0, 3), kept = ContainerTag::in_retaining_list(0, 3);
  EXPECT_TRUE(none.is_none());
  EXPECT_FALSE(none.is_retained() || none.is_in_container());
  EXPECT_TRUE(in.is_in_container() && !in.is_retained() && !in.is_none());
  EXPECT_TRUE(kept.is_retained() && !kept.is_in_container() && !kept.is_none());
  EXPECT_EQ(in.container(), 0u);
  EXPECT_EQ(kept.container(), 0u);
  EXPECT_EQ(kept.slot(), 3u);
  EXPECT_NE(in, kept);
  EXPECT_EQ(ContainerTag::in_retaining_list(0x7FFFFFFE).container(), 0x7FFFFFFEu);
  test::BrokenContracts contracts;
  EXPECT_TRUE(ContainerTag::in_container(0x7FFFFFFF, 0).is_none());
  EXPECT_TRUE(test::broke(contracts));
}

TEST(Entity, InteriorFlagFollowsTheLocation) {  // INT-1
  Entity entity;
  entity.set_interior_location(InteriorLocation::in_room(4, 1));
  EXPECT_TRUE(entity.has(BaseFlag::in_interior));
  EXPECT_EQ(entity.interior_location().room(), 1u);
  entity.set_interior_location({});
  EXPECT_FALSE(entity.has(BaseFlag::in_interior));
}

// ARCH-7: a resident entity is re-pointed; the archetype knows how many use it.
TEST(Entity, HoldsAReferenceToItsArchetype) {
  Archetype lower, upper;
  {
    Entity a, b;
    a.set_archetype(&lower);
    b.set_archetype(&lower);
    EXPECT_EQ(lower.references(), 2u);
    a.set_archetype(&upper);
    EXPECT_EQ(lower.references(), 1u);
    EXPECT_EQ(upper.references(), 1u);
    a.set_archetype(&upper);
    EXPECT_EQ(upper.references(), 1u);
    EXPECT_EQ(a.archetype(), &upper);
    b.set_archetype(nullptr);
    EXPECT_EQ(lower.references(), 0u);
  }
  EXPECT_EQ(upper.references(), 0u) << "an entity that dies lets go";
}

// ENTY-9: set over a non-null one asserts, switch replaces, clear before death.
TEST(Entity, PhysicsAndDrawDataAreSetOnce) {
  test::BrokenContracts contracts;
  int first = 0, second = 0;
  std::optional<Entity> entity(std::in_place);
  entity->set_physics(&first);
  entity->set_draw(&first);
  EXPECT_EQ(contracts.count(), 0u);
  entity->set_physics(&second);
  EXPECT_TRUE(test::broke(contracts));
  entity->set_draw(&second);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(entity->physics(), &first);
  EXPECT_EQ(entity->draw(), &first);
  EXPECT_EQ(entity->switch_physics(&second), &first);
  EXPECT_EQ(entity->physics(), &second);
  EXPECT_EQ(entity->switch_draw(nullptr), &first);
  EXPECT_EQ(contracts.count(), 0u);
  entity->set_draw(&second);
  EXPECT_EQ(entity->clear_physics(), &second);
  EXPECT_EQ(entity->physics(), nullptr);
  entity.reset();
  EXPECT_TRUE(test::broke(contracts)) << "draw data was not cleared";
  entity.emplace();
  entity->set_physics(&first);
  entity.reset();
  EXPECT_TRUE(test::broke(contracts)) << "physics was not cleared";
  entity.emplace();
  entity->set_container(ContainerTag::in_container(1, 2));
  entity.reset();
  EXPECT_TRUE(test::broke(contracts)) << "still in a container";
  entity.emplace();
  entity.reset();
  EXPECT_EQ(contracts.count(), 0u);
}

// ENTY-9: the host says what is ready; without one all is.
TEST(EntityHost, DefaultsAndCalls) {
  Entity entity;
  EntityHost host;
  EXPECT_TRUE(host.ready(entity));
  host.created(entity);
  host.destroyed(entity);
  struct Calls {
    int created = 0, destroyed = 0;
  } calls;
  host.user = &calls;
  host.is_ready = [](void*, const Entity& e) { return e.draw() != nullptr; };
  host.on_create = [](void* user, Entity&) { ++static_cast<Calls*>(user)->created; };
  host.on_destroy = [](void* user, Entity& e) {
    ++static_cast<Calls*>(user)->destroyed;
    e.clear_draw();
  };
  EXPECT_FALSE(host.ready(entity));
  entity.set_draw(&calls);
  EXPECT_TRUE(host.ready(entity));
  host.created(entity);
  host.destroyed(entity);
  EXPECT_EQ(calls.created, 1);
  EXPECT_EQ(calls.destroyed, 1);
  EXPECT_EQ(entity.draw(), nullptr);
}

// ENTY-1: extensions, decorators and tracked references hang on any entity.
TEST(Entity, IsExtensibleAndTracked) {
  DecoratorRegistry registry;
  Decorators decorators(registry);
  ASSERT_TRUE(decorators.begin_session({}).ok());
  ASSERT_TRUE(registry.add(hash_name("Stolen"), DecoratorKind::boolean, "test").ok());
  TrackedRef<Entity> seen;
  {
    Entity car;
    seen = &car;
    EXPECT_EQ(seen.get(), &car);
    ASSERT_TRUE(decorators.set(car, hash_name("Stolen"), DecoratorValue::of_bool(true)).ok());
    EXPECT_EQ(decorators.used(), 1u);
  }
  EXPECT_FALSE(seen);
  EXPECT_EQ(decorators.used(), 0u);
}

}  // namespace
}  // namespace meridian
