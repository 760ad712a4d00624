// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_class.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "meridian/scene/entity_desc.h"
#include "support/captured.h"

// ENTY-4: hosts register classes of their own as the runtime does.

namespace meridian {
namespace {

constexpr EntityClass kTree{kFirstHostClass}, kLast{31};

struct Tree : Entity {
  static inline int g_alive = 0;
  Tree() { ++g_alive; }
  ~Tree() { --g_alive; }
  alignas(32) float sway[3] = {1, 2, 3};
};

TEST(EntityClassRegistry, RuntimeClassesAreThere) {
  const EntityClassRegistry classes;
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(classes.has(static_cast<EntityClass>(i)), i < 7) << i;
  EXPECT_FALSE(classes.has(static_cast<EntityClass>(200)));
  EXPECT_EQ(classes.info(EntityClass::building).size, sizeof(Entity));
  EXPECT_STREQ(classes.info(EntityClass::interior_instance).name, "interior instance");
}

TEST(EntityClassRegistry, HostAddsAndReplaces) {
  EntityClassRegistry classes;
  classes.add<Tree>(kTree, "Tree", ClassFlag::is_dynamic);
  classes.add<Tree>(EntityClass::dummy_object, "HostDummy");
  classes.add<Entity>(kLast, "Light", ClassFlag::is_light);
  EXPECT_EQ(classes.info(kTree).size, sizeof(Tree));
  EXPECT_EQ(classes.info(kTree).alignment, 32u);
  EXPECT_EQ(classes.info(EntityClass::dummy_object).size, sizeof(Tree));
  EXPECT_TRUE(classes.info(kLast).flags.has(ClassFlag::is_light));
  test::BrokenContracts contracts;
  classes.add<Entity>(kTree, "Again");
  EXPECT_TRUE(test::broke(contracts));
  classes.add<Entity>(EntityClass::dummy_object, "Again");
  EXPECT_TRUE(test::broke(contracts));
  classes.add<Entity>(static_cast<EntityClass>(9), "BetweenUsAndHosts");
  EXPECT_TRUE(test::broke(contracts));
  classes.add<Entity>(static_cast<EntityClass>(32), "TooHigh");
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_STREQ(classes.info(kTree).name, "Tree");
  EXPECT_FALSE(classes.has(static_cast<EntityClass>(9)));
  EXPECT_EQ(classes.info(static_cast<EntityClass>(9)).size, sizeof(Entity));
  EXPECT_TRUE(test::broke(contracts));
}

// An array as a map makes it: contiguous, each element of its class.
TEST(EntityClassRegistry, ArraysAreContiguous) {
  EntityClassRegistry classes;
  classes.add<Tree>(kTree, "Tree", ClassFlag::is_dynamic);
  const EntityClassInfo& info = classes.info(kTree);
  constexpr size_t kCount = 5;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(info.alignment, info.size * kCount));
  ASSERT_NE(block, nullptr);
  for (size_t i = 0; i < kCount; ++i) {
    Entity& entity = classes.construct(kTree, block + i * info.size);
    EXPECT_EQ(static_cast<void*>(&entity), block + i * info.size);
    EXPECT_EQ(entity.type(), kTree);
    EXPECT_TRUE(entity.has(BaseFlag::is_dynamic));
    EXPECT_EQ(static_cast<Tree&>(entity).sway[2], 3);
  }
  EXPECT_EQ(Tree::g_alive, 5);
  for (size_t i = 0; i < kCount; ++i) classes.destroy(*reinterpret_cast<Entity*>(block + i * info.size));
  EXPECT_EQ(Tree::g_alive, 0);
  std::free(block);
  alignas(16) std::byte place[sizeof(Entity)];
  Entity& house = classes.construct(EntityClass::animated_building, place);
  EXPECT_EQ(house.type(), EntityClass::animated_building);
  EXPECT_FALSE(house.has(BaseFlag::is_dynamic));
  classes.destroy(house);
}

// ENTY-4: the rule's class, unless the host's chooser says otherwise.
TEST(EntityClassRegistry, ChooserMayOverrideTheRule) {
  EntityClassRegistry classes;
  classes.add<Tree>(kTree, "Tree");
  ClassQuery query{.by_rule = EntityClass::dummy_object, .name = hash_name("oak"), .flags = 1u << 9};
  EXPECT_EQ(classes.choose(query), EntityClass::dummy_object);
  struct Rules {
    int asked = 0;
  } rules;
  classes.set_chooser({[](void* user, const ClassQuery& q) {
                         ++static_cast<Rules*>(user)->asked;
                         if (q.name == hash_name("ghost")) return kLast;
                         const bool is_tree = (q.flags & 1u << 9) != 0 || q.structure == hash_type("CTreeArchetypeDef");
                         return is_tree ? kTree : q.by_rule;
                       },
                       &rules});
  EXPECT_EQ(classes.choose(query), kTree);
  query.flags = 0;
  EXPECT_EQ(classes.choose(query), EntityClass::dummy_object);
  query.structure = hash_type("CTreeArchetypeDef");
  EXPECT_EQ(classes.choose(query), kTree);
  EXPECT_EQ(rules.asked, 3);
  test::BrokenContracts contracts;
  query.name = hash_name("ghost");
  EXPECT_EQ(classes.choose(query), EntityClass::dummy_object) << "the class was never registered";
  EXPECT_TRUE(test::broke(contracts));
}

TEST(EntityClassRegistry, HostFillsDescriptorsOfItsClasses) {
  EntityClassRegistry classes;
  float wider = 2;
  classes.add<Tree>(kTree, "Tree", {},
                    {[](void* user, const Entity& entity, EntityDesc& out) {
                       out.half.x += *static_cast<float*>(user);
                       out.centre = entity.position();
                     },
                     &wider});
  alignas(32) std::byte place_of_tree[sizeof(Tree)];
  Entity& tree = classes.construct(kTree, place_of_tree);
  place(tree, {.position = {1, 2, 3, 1}});
  EntityDesc desc;
  desc.half = {1, 1, 1};
  classes.fill_desc(tree, desc);
  EXPECT_EQ(desc.half, (Vec3{3, 1, 1}));
  EXPECT_EQ(desc.centre, (Vec3{1, 2, 3}));
  classes.destroy(tree);
  Entity house;
  EntityDesc plain, before;
  classes.fill_desc(house, plain);
  EXPECT_EQ(std::memcmp(&plain, &before, sizeof plain), 0);
}

}  // namespace
}  // namespace meridian
