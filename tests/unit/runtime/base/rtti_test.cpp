// SPDX-License-Identifier: MIT
// UTIL-4: light RTTI.
#include "meridian/base/rtti.h"

#include <gtest/gtest.h>

namespace meridian {
namespace {

class Entity : public Rtti {
  MERIDIAN_RTTI(Entity, Rtti)
 public:
  int id = 1;
};
class Building : public Entity {
  MERIDIAN_RTTI(Building, Entity)
};
class Door : public Building {
  MERIDIAN_RTTI(Door, Building)
 public:
  int angle = 30;
};
class GarageDoor final : public Door {
  MERIDIAN_RTTI(GarageDoor, Door)
};
/// Another base stands in front, so that a pointer to it has another address.
struct Listener {
  virtual ~Listener() = default;
  int calls = 7;
};
class Vehicle final : public Listener, public Entity {
  MERIDIAN_RTTI(Vehicle, Entity)
 public:
  int wheels = 4;
};
class Unnamed : public Door {};  // no macro: a Door that can't be asked for

static_assert(detail::HasOwnRtti<Door> && !detail::HasOwnRtti<Unnamed>, "is<Unnamed>() does not compile");
static_assert(std::is_same_v<decltype(std::declval<const Entity&>().as<Door>()), const Door*>);
static_assert(std::is_same_v<decltype(std::declval<Entity&>().as<Door>()), Door*>);

TEST(Rtti, AnObjectIsItsClassAndAllBasesOfIt) {
  GarageDoor garage;
  const Entity& entity = garage;
  EXPECT_TRUE(entity.is<Entity>());
  EXPECT_TRUE(entity.is<Building>());
  EXPECT_TRUE(entity.is<Door>());
  EXPECT_TRUE(entity.is<GarageDoor>());
  EXPECT_FALSE(entity.is<Vehicle>());
}

TEST(Rtti, AnObjectIsNothingThatDerivesFromItsClass) {
  const Entity plain;
  const Building building;
  EXPECT_TRUE(plain.is<Entity>());
  EXPECT_FALSE(plain.is<Building>());
  EXPECT_FALSE(static_cast<const Entity&>(building).is<Door>());
}

TEST(Rtti, AsGivesTheObjectOrNull) {
  Door door;
  Entity& entity = door;
  EXPECT_EQ(entity.as<Door>(), &door);
  EXPECT_EQ(entity.as<Building>(), &door);
  EXPECT_EQ(entity.as<GarageDoor>(), nullptr);
  EXPECT_EQ(entity.as<Vehicle>(), nullptr);
  entity.as<Door>()->angle = 90;
  EXPECT_EQ(door.angle, 90);
  const Entity& constant = door;
  EXPECT_EQ(constant.as<Door>(), &door);
}

TEST(Rtti, AsFindsAnObjectWhoseBaseIsNotAtItsStart) {
  Vehicle vehicle;
  Entity& entity = vehicle;
  ASSERT_NE(static_cast<void*>(&entity), static_cast<void*>(&vehicle));
  ASSERT_EQ(entity.as<Vehicle>(), &vehicle);
  EXPECT_EQ(entity.as<Vehicle>()->wheels, 4);
  EXPECT_EQ(entity.as<Vehicle>()->calls, 7);
}

TEST(Rtti, TypeHashIsThatOfTheClassName) {
  const GarageDoor garage;
  const Entity& entity = garage;
  EXPECT_EQ(entity.type_hash(), hash_type("GarageDoor"));
  EXPECT_TRUE(entity.is_a(hash_type("Building")));
  EXPECT_FALSE(entity.is_a(hash_type("Vehicle")));
  EXPECT_FALSE(entity.is_a(TypeHash{}));
}

TEST(Rtti, AClassWithoutTheMacroCountsAsItsBase) {
  const Unnamed unnamed;
  const Entity& entity = unnamed;
  EXPECT_TRUE(entity.is<Door>());
  EXPECT_EQ(entity.type_hash(), hash_type("Door"));
}

TEST(Rtti, ClassesInsideOfFunctionsWork) {
  class Local final : public Building {
    MERIDIAN_RTTI(Local, Building)
  };
  Local local;
  Entity& entity = local;
  EXPECT_EQ(entity.as<Local>(), &local);
  EXPECT_FALSE(entity.is<Door>());
}

}  // namespace
}  // namespace meridian
