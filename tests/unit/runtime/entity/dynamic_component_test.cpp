// SPDX-License-Identifier: MIT
#include "meridian/entity/dynamic_component.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "meridian/entity/entity_visibility.h"
#include "support/captured.h"
#include "support/checked_memory.h"

// ENTY-8, P092. Random sequences stand in dynamic_component_random_test.cpp.

namespace meridian {
namespace {

/// +90 degrees about z: x to y, y to -x.
Transform turned(const Vec3& at) { return {{0, 1, 0, 0}, {-1, 0, 0, 1}, {0, 0, 1, 1}, {at.x, at.y, at.z, 1}}; }
Transform moved(const Vec3& at) { return {.position = {at.x, at.y, at.z, 1}}; }

/// Who was told what.
struct Told {
  std::vector<const Entity*> moved, visibility, detached;
  EntityListener listener() {
    return {.user = this,
            .on_moved = [](void* user, Entity& e) { static_cast<Told*>(user)->moved.push_back(&e); },
            .on_visibility = [](void* user, Entity& e) { static_cast<Told*>(user)->visibility.push_back(&e); },
            .on_detach = [](void* user, Entity& e) { static_cast<Told*>(user)->detached.push_back(&e); }};
  }
};
using Entities = std::vector<const Entity*>;

class DynamicComponentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(components.init({.capacity = 8}).ok());
    ASSERT_TRUE(visibility.init({.capacity = 8}).ok());
    components.set_listener(told.listener());
  }
  void hide(Entity& entity, bool is_hidden = true) {
    ASSERT_TRUE(visibility.set_visible(entity, VisibilityModule::script, !is_hidden).ok());
  }
  Told told;
  EntityVisibility visibility;
  DynamicComponents components;
  Entity car, lamp, bulb, other;
};

// By hand: the lamp at (0, 2, 1) of a car that is turned by +90 degrees at (100, 0, 0) stands at (98, 0, 1).
TEST_F(DynamicComponentTest, PositionFollowsTheParent) {
  ASSERT_TRUE(components.attach(lamp, car, {.offset = moved({0, 2, 1})}).ok());
  EXPECT_EQ(lamp.position(), (Vec3{0, 2, 1}));
  ASSERT_TRUE(components.attach(bulb, lamp, {.offset = moved({1, 0, 0})}).ok());
  EXPECT_EQ(attached_to(bulb), &lamp);
  EXPECT_EQ(&attachment_root(bulb), &car);
  place(car, turned({100, 0, 0}));
  EXPECT_EQ(lamp.position(), (Vec3{98, 0, 1}));
  EXPECT_EQ(lamp.transform().point({1, 0, 0}), (Vec3{98, 1, 1}));
  EXPECT_EQ(bulb.position(), (Vec3{98, 1, 1})) << "two steps below";
  EXPECT_EQ(told.moved, (Entities{&lamp, &bulb})) << "parents first, and not the one that was placed";
  components.set_offset(lamp, moved({0, 0, 5}));
  EXPECT_EQ(lamp.position(), (Vec3{100, 0, 5}));
  EXPECT_EQ(bulb.position(), (Vec3{100, 1, 5}));
}

// By hand: a parent scaled by 2 and 3 neither stretches nor pushes away what hangs on it; a child keeps its own scale.
TEST_F(DynamicComponentTest, ScaleIsNotInherited) {
  place(car, {{0, 2, 0, 0}, {-2, 0, 0, 2}, {0, 0, 3, 3}, {10, 0, 0, 1}});
  const Transform offset{{4, 0, 0, 0}, {0, 4, 0, 4}, {0, 0, 5, 5}, {1, 0, 1, 1}};
  ASSERT_TRUE(components.attach(lamp, car, {.offset = offset}).ok());
  const Transform wanted{{0, 4, 0, 0}, {-4, 0, 0, 4}, {0, 0, 5, 5}, {10, 1, 1, 1}};
  EXPECT_EQ(lamp.transform(), wanted);
  EXPECT_EQ(attachment_offset(car.transform(), lamp.transform()), offset);
}

TEST_F(DynamicComponentTest, AttachingInPlaceMovesNothing) {
  place(car, turned({100, 50, 0}));
  place(lamp, moved({98, 50, 1}));
  ASSERT_TRUE(components.attach_in_place(lamp, car).ok());
  EXPECT_EQ(lamp.transform(), moved({98, 50, 1}));
  EXPECT_EQ(lamp.dynamic()->offset().position, (Vec4{0, 2, 1, 1}));
  place(car, moved({0, 0, 0}));
  EXPECT_EQ(lamp.position(), (Vec3{0, 2, 1}));
}

// Picked up and put down ten thousand times, one by the other: both stay as they were made.
TEST_F(DynamicComponentTest, RoundingDoesNotBuildUp) {
  place(car, {{0.8f, 0.6f, 0, 0}, {-0.48f, 0.64f, 0.6f, 1}, {0.36f, -0.48f, 0.8f, 1}, {3, 2, 1, 1}});
  place(lamp, {{1.2f, 0, -1.6f, 0}, {0, 2, 0, 2}, {0.4f, 0, 0.3f, 0.5f}, {4, 3, 2, 1}});
  for (int i = 0; i < 10000; ++i) {
    Entity& child = i % 2 == 0 ? lamp : car;
    Entity& parent = i % 2 == 0 ? car : lamp;
    ASSERT_TRUE(components.attach_in_place(child, parent).ok());
    ASSERT_TRUE(components.detach(child));
  }
  const auto along = [](const Vec4& a, const Vec4& b) { return a.x * b.x + a.y * b.y + a.z * b.z; };
  for (const Entity* entity : {&car, &lamp}) {
    const Transform& t = entity->transform();
    EXPECT_NEAR(along(t.x, t.x), t.scale_xy() * t.scale_xy(), 1e-5f);
    EXPECT_NEAR(along(t.y, t.y), t.scale_xy() * t.scale_xy(), 1e-5f);
    EXPECT_NEAR(along(t.z, t.z), t.scale_z() * t.scale_z(), 1e-5f);
    EXPECT_NEAR(along(t.x, t.y), 0, 1e-5f);
    EXPECT_NEAR(along(t.x, t.z), 0, 1e-5f);
    EXPECT_NEAR(along(t.y, t.z), 0, 1e-5f);
  }
  EXPECT_EQ(lamp.transform().scale_xy(), 2);
}

// ENTY-8: moving an attached entity directly is a fault, unless it is allowed.
TEST_F(DynamicComponentTest, AttachedEntitiesAreNotPlacedDirectly) {
  test::BrokenContracts contracts;
  ASSERT_TRUE(components.attach(lamp, car, {.offset = moved({0, 2, 1})}).ok());
  place(lamp, moved({5, 5, 5}));
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(lamp.position(), (Vec3{0, 2, 1})) << "nothing happened";
  ASSERT_TRUE(components.attach(bulb, car, {.offset = moved({1, 0, 0}), .flags = AttachFlag::allow_move}).ok());
  place(bulb, moved({5, 5, 5}));
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(bulb.position(), (Vec3{5, 5, 5}));
  place(car, moved({100, 0, 0}));
  EXPECT_EQ(bulb.position(), (Vec3{105, 5, 5})) << "it keeps to its new place";
  ASSERT_TRUE(components.detach(lamp));
  place(lamp, moved({1, 1, 1}));
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(lamp.position(), (Vec3{1, 1, 1}));
}

// ENTY-8: up to 4 constraints.
TEST_F(DynamicComponentTest, FourConstraints) {
  test::BrokenContracts contracts;
  EXPECT_EQ(components.add_constraint(lamp, {.id = 1}).code, StatusCode::bad_value) << "not attached";
  EXPECT_TRUE(test::broke(contracts));
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_TRUE(components.add_constraint(lamp, {.id = id, .offset = {static_cast<float>(id), 0, 0}}).ok());
  }
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(components.add_constraint(lamp, {.id = 5}).code, StatusCode::out_of_slots);
  EXPECT_EQ(components.add_constraint(lamp, {.id = 3}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(components.remove_constraint(lamp, 2));
  EXPECT_FALSE(components.remove_constraint(lamp, 2));
  ASSERT_EQ(lamp.dynamic()->constraints().size(), 3u);
  EXPECT_EQ(lamp.dynamic()->constraints()[1].id, 3u);
  EXPECT_EQ(lamp.dynamic()->constraints()[1].offset, (Vec3{3, 0, 0}));
  // Coming off ends them; whoever made them sees them once more.
  static size_t g_seen = 0;
  g_seen = 0;
  components.set_listener({.on_detach = [](void*, Entity& e) { g_seen = e.dynamic()->constraints().size(); }});
  ASSERT_TRUE(components.attach(lamp, other, {}).ok());
  EXPECT_EQ(g_seen, 3u);
  EXPECT_EQ(lamp.dynamic()->constraints().size(), 0u);
}

// P092: a child that changes its parent inherits from the new one only.
TEST_F(DynamicComponentTest, HiddenParentsHideWhatHangsOnThem) {
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  ASSERT_TRUE(components.attach(bulb, lamp, {}).ok());
  hide(car);
  EXPECT_FALSE(lamp.is_visible() || bulb.is_visible());
  EXPECT_EQ(told.visibility, (Entities{&lamp, &bulb}));
  ASSERT_TRUE(components.attach(lamp, other, {}).ok());
  EXPECT_TRUE(lamp.is_visible() && bulb.is_visible()) << "nothing is left of the old parent";
  hide(other);
  hide(lamp);
  hide(other, false);
  EXPECT_FALSE(lamp.is_visible() || bulb.is_visible()) << "the lamp hides itself";
  hide(lamp, false);
  EXPECT_TRUE(lamp.is_visible() && bulb.is_visible());
  // Onto one that is hidden already, and off again.
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  EXPECT_FALSE(lamp.is_visible() || bulb.is_visible());
  ASSERT_TRUE(components.detach(lamp));
  EXPECT_TRUE(lamp.is_visible() && bulb.is_visible());
  EXPECT_FALSE(components.detach(lamp)) << "it is off";
  // Some are shown while their parent is not.
  ASSERT_TRUE(components.attach(lamp, car, {.flags = AttachFlag::keep_visible}).ok());
  EXPECT_TRUE(lamp.is_visible() && bulb.is_visible());
}

// P092: what hung on an entity that goes stays where it is, visible by itself.
TEST_F(DynamicComponentTest, RemovedParentsLetGo) {
  ASSERT_TRUE(components.attach(lamp, car, {.offset = moved({1, 0, 0})}).ok());
  ASSERT_TRUE(components.attach(bulb, lamp, {.offset = moved({1, 0, 0})}).ok());
  ASSERT_TRUE(components.attach(other, car, {.offset = moved({0, 1, 0})}).ok());
  place(car, moved({10, 0, 0}));
  hide(car);
  told = {};
  components.remove(car);
  EXPECT_EQ(attached_to(lamp), nullptr);
  EXPECT_EQ(attached_to(other), nullptr);
  EXPECT_EQ(attached_to(bulb), &lamp) << "deeper trees stay together";
  EXPECT_EQ(lamp.position(), (Vec3{11, 0, 0}));
  EXPECT_EQ(bulb.position(), (Vec3{12, 0, 0}));
  EXPECT_TRUE(lamp.is_visible() && bulb.is_visible() && other.is_visible());
  EXPECT_EQ(told.visibility.size(), 3u);
  EXPECT_EQ(told.detached.size(), 2u);
  EXPECT_EQ(car.dynamic(), nullptr);
  EXPECT_EQ(other.dynamic(), nullptr) << "nothing was left in its component";
  EXPECT_EQ(components.used(), 2u);
  place(car, moved({0, 0, 0}));
  EXPECT_EQ(lamp.position(), (Vec3{11, 0, 0}));
}

TEST_F(DynamicComponentTest, RemovedParentsTakeTheirTreeAlong) {
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  ASSERT_TRUE(components.attach(bulb, lamp, {}).ok());
  ASSERT_TRUE(components.attach(other, car, {}).ok());
  Entities destroyed;
  components.remove(car, RemovePolicy::destroy_children,
                    {[](void* user, Entity& entity) {
                       EXPECT_EQ(entity.dynamic(), nullptr);
                       static_cast<Entities*>(user)->push_back(&entity);
                     },
                     &destroyed});
  EXPECT_EQ(destroyed, (Entities{&other, &bulb, &lamp})) << "those at the bottom first";
  EXPECT_EQ(components.used(), 0u);
  test::BrokenContracts contracts;
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  components.remove(car, RemovePolicy::destroy_children);
  EXPECT_TRUE(test::broke(contracts)) << "nobody destroys";
  EXPECT_EQ(attached_to(lamp), nullptr);
}

// Destroyed right away, in the hook, and more than the one that was handed over.
TEST_F(DynamicComponentTest, HookMayDestroyAtOnce) {
  std::optional<Entity> first(std::in_place), second(std::in_place);
  ASSERT_TRUE(components.attach(*first, car, {}).ok());
  ASSERT_TRUE(components.attach(*second, car, {}).ok());
  struct Both {
    std::optional<Entity>&a, &b;
    int calls = 0;
  } both{first, second};
  components.remove(car, RemovePolicy::destroy_children,
                    {[](void* user, Entity&) {
                       auto& all = *static_cast<Both*>(user);
                       ++all.calls;
                       all.a.reset();
                       all.b.reset();
                     },
                     &both});
  EXPECT_EQ(both.calls, 1);
  EXPECT_EQ(car.dynamic(), nullptr);
  EXPECT_EQ(components.used(), 0u);
}

TEST_F(DynamicComponentTest, EntitiesThatDieTakeThemselvesOut) {
  {
    Entity middle;
    ASSERT_TRUE(components.attach(middle, car, {.offset = moved({1, 0, 0})}).ok());
    ASSERT_TRUE(components.attach(lamp, middle, {.offset = moved({1, 0, 0})}).ok());
    hide(car);
  }
  EXPECT_EQ(car.dynamic(), nullptr);
  EXPECT_EQ(lamp.dynamic(), nullptr);
  EXPECT_EQ(lamp.position(), (Vec3{2, 0, 0}));
  EXPECT_TRUE(lamp.is_visible());
  EXPECT_EQ(components.used(), 0u);
}

TEST_F(DynamicComponentTest, NothingHangsOnItself) {
  ASSERT_TRUE(components.attach(lamp, car, {.offset = moved({1, 0, 0})}).ok());
  ASSERT_TRUE(components.attach(bulb, lamp, {}).ok());
  EXPECT_EQ(components.attach(car, car, {}).code, StatusCode::bad_value);
  EXPECT_EQ(components.attach(car, bulb, {}).code, StatusCode::bad_value);
  EXPECT_EQ(components.attach(lamp, bulb, {}).code, StatusCode::bad_value);
  EXPECT_EQ(attached_to(lamp), &car) << "nothing changed";
  EXPECT_EQ(lamp.position(), (Vec3{1, 0, 0}));
  EXPECT_EQ(components.attach(other, other, {}).code, StatusCode::bad_value);
  EXPECT_EQ(other.dynamic(), nullptr) << "no component for nothing";
  ASSERT_TRUE(components.attach(bulb, car, {}).ok()) << "up is no circle";
}

TEST_F(DynamicComponentTest, FaultsAreAsserted) {
  test::BrokenContracts contracts;
  Transform bad;
  bad.z.y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(components.attach(lamp, car, {.offset = bad}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(components.used(), 0u);
  components.set_offset(lamp, {});
  EXPECT_TRUE(test::broke(contracts));
  DynamicComponents others;
  ASSERT_TRUE(others.init({}).ok());
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  EXPECT_EQ(others.attach(bulb, car, {}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts)) << "the car's component is of another pool";
  EXPECT_EQ(others.used(), 0u);
}

// ENTY-1: the component is made when it is needed, and goes when nothing is left in it.
TEST_F(DynamicComponentTest, ComponentsAreLazy) {
  EXPECT_EQ(DynamicComponentsConfig().capacity, 500u);
  int skeleton = 0;
  EXPECT_EQ(car.dynamic(), nullptr);
  ASSERT_TRUE(components.set_host_data(car, nullptr).ok());
  EXPECT_EQ(car.dynamic(), nullptr);
  ASSERT_TRUE(components.set_host_data(car, &skeleton).ok());
  EXPECT_EQ(car.dynamic()->host_data(), &skeleton);
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  ASSERT_TRUE(components.detach(lamp));
  EXPECT_EQ(lamp.dynamic(), nullptr);
  EXPECT_NE(car.dynamic(), nullptr) << "the host's data stays";
  ASSERT_TRUE(components.attach(lamp, car, {}).ok());
  ASSERT_TRUE(components.set_host_data(car, nullptr).ok());
  EXPECT_NE(car.dynamic(), nullptr) << "the lamp hangs on it";
  ASSERT_TRUE(components.detach(lamp));
  EXPECT_EQ(components.used(), 0u);
}

// CORE-11: a full pool: told once, nothing changed.
TEST(DynamicComponents, FullPoolAttachesNothing) {
  test::CapturedLog log;
  DynamicComponents components;
  ASSERT_TRUE(components.init({.capacity = 3}).ok());
  Entity a, b, c, d;
  ASSERT_TRUE(components.attach(b, a, {}).ok());
  for (int i = 0; i < 3; ++i) {
    const Status full = components.attach(d, c, {.offset = moved({1, 1, 1})});
    EXPECT_EQ(full.code, StatusCode::out_of_slots);
    EXPECT_EQ(full.name, hash_name("fwDynamicEntityComponent"));
  }
  EXPECT_EQ(components.used(), 2u) << "half a pair is given back";
  EXPECT_EQ(c.dynamic(), nullptr);
  EXPECT_EQ(d.position(), (Vec3{0, 0, 0}));
  EXPECT_EQ(log.count(), 1u) << log.all();
  ASSERT_TRUE(components.attach(c, b, {}).ok());
  EXPECT_EQ(components.set_host_data(d, &log).code, StatusCode::out_of_slots);
}

TEST(DynamicComponents, EntitiesOutliveThem) {
  Entity car, lamp;
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({}).ok());
  {
    test::CheckedMemory memory;
    DynamicComponents components;
    ASSERT_TRUE(components.init({.capacity = 4}, memory).ok());
    ASSERT_TRUE(components.attach(lamp, car, {}).ok());
    ASSERT_TRUE(visibility.set_visible(car, VisibilityModule::debug, false).ok());
    EXPECT_FALSE(lamp.is_visible());
  }
  EXPECT_EQ(car.dynamic(), nullptr);
  EXPECT_EQ(lamp.dynamic(), nullptr);
  EXPECT_TRUE(lamp.is_visible());
  visibility.show(car);
}

}  // namespace
}  // namespace meridian
