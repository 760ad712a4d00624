// SPDX-License-Identifier: MIT
#include "meridian/entity/archetype_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/runtime/entity/store_kit.h"

namespace meridian {
namespace {

using test::kBase;
using test::kBox;
using test::kLamp;
using test::kTree;
using test::lines_with;
using test::Texts;
using test::World;

TEST(ArchetypeStore, IsEmptyBeforeAndAfter) {
  test::CheckedMemory memory;
  ArchetypeStore store;
  const auto expect_empty = [&] {
    EXPECT_EQ(store.find(kLamp), nullptr);
    EXPECT_EQ(store.find(NameHash{}), nullptr);
    EXPECT_EQ(store.find_for(kLamp, {}), nullptr);
    EXPECT_EQ(store.at({0, 0}), nullptr);
    EXPECT_EQ(store.at({}), nullptr);
    EXPECT_FALSE(store.model_id(kLamp).is_valid());
    EXPECT_FALSE(store.is_loaded(0) || store.is_published(0) || store.is_protected(0));
    EXPECT_TRUE(store.archetypes(0).empty());
    EXPECT_EQ(store.parent_textures(kLamp), NameHash{});
    EXPECT_EQ(store.name_count(), 0u);
  };
  expect_empty();
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(store.init({.slots = {20, 100}, .types = 50}, memory).ok());
    expect_empty();
    const KindCount kinds[] = {{kBase, 1}};
    ASSERT_TRUE(store.open_types({.slot = 0, .permanence = Permanence::permanent}, kinds).ok());
    ASSERT_NE(store.create(0, kBase, kLamp), nullptr);
    ASSERT_TRUE(store.publish_types(0).ok());
    EXPECT_NE(store.find(kLamp), nullptr);
    store.shutdown();
    expect_empty();
    EXPECT_EQ(memory.blocks(), 0u);
  }
  store.shutdown();
}

// ARCH-3: permanent + streamed slots <= 0xFFFE.
TEST(ArchetypeStore, RefusesWhatIdsCannotName) {
  test::CheckedMemory memory;
  ArchetypeStore store;
  EXPECT_EQ(store.init({.slots = {0xFFFE, 1}}, memory).code, StatusCode::too_large);
  EXPECT_EQ(store.init({.slots = {0xFFFFFFFF, 2}}, memory).code, StatusCode::too_large);
  EXPECT_EQ(store.init({.types = 0}, memory).code, StatusCode::too_large);
  EXPECT_EQ(store.init({.types = 0x10000}, memory).code, StatusCode::too_large);
  EXPECT_EQ(memory.blocks(), 0u);
  EXPECT_TRUE(store.init({.slots = {0xFFFE, 0}, .types = 0xFFFF}, memory).ok());
  test::BrokenContracts contracts;
  EXPECT_EQ(store.init({}, memory).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
}

TEST(ArchetypeStore, InitTakesAllMemoryOrNone) {
  test::CheckedMemory memory;
  ArchetypeStore store;
  int allocations = 0;
  for (;; ++allocations) {
    ASSERT_LT(allocations, 50);
    memory.fail_after(allocations);
    const Status status = store.init({.slots = {2, 3}, .types = 5}, memory);
    if (status.ok()) break;
    EXPECT_EQ(status.code, StatusCode::out_of_memory);
    EXPECT_EQ(memory.blocks(), 0u);
    EXPECT_EQ(store.find(kLamp), nullptr);
  }
  EXPECT_GT(allocations, 1);
  memory.fail_after(-1);
}

// ARCH-3
TEST(ArchetypeStore, GivesSlotsByPermanence) {
  World world;
  ASSERT_TRUE(world.load({.slot = 7, .permanence = Permanence::permanent}, {kLamp, kBox}).ok());
  ASSERT_TRUE(world.load({.slot = 8}, {kTree}).ok());
  EXPECT_EQ(world.store.model_id(kLamp), (ModelId{.archetype = 0, .types = 7}));
  EXPECT_EQ(world.store.model_id(kBox), (ModelId{.archetype = 1, .types = 7}));
  EXPECT_EQ(world.store.model_id(kTree), (ModelId{.archetype = 20, .types = 8})) << "behind the permanent ones";
  EXPECT_EQ(world.store.permanent_used(), 2u);
  EXPECT_EQ(world.store.streamed_used(), 1u);
  Archetype* const tree = world.store.find(kTree);
  EXPECT_EQ(world.store.at({20, 8}), tree);
  EXPECT_EQ(world.store.at({20, 7}), nullptr) << "of another file";
  EXPECT_EQ(world.store.at({21, 8}), nullptr);
  EXPECT_EQ(world.store.at({0xFFFF, 8}), nullptr);

  ASSERT_TRUE(world.store.close_types(8).ok());
  EXPECT_EQ(world.store.at({20, 8}), nullptr);
  EXPECT_EQ(world.store.streamed_used(), 0u);
  ASSERT_TRUE(world.load({.slot = 8}, {kTree}).ok());
  EXPECT_EQ(world.store.model_id(kTree), (ModelId{.archetype = 21, .types = 8})) << "the slot rests as long as it can";
  EXPECT_EQ(world.store.at({20, 8}), nullptr) << "stale";
  EXPECT_EQ(world.store.model_id(kLamp), (ModelId{.archetype = 0, .types = 7})) << "for good";
}

// ARCH-3
TEST(ArchetypeStore, LeavesOutWhatHasNoSlot) {
  const Texts texts;
  World world({.slots = {1, 2}, .types = 50});
  test::CapturedLog log;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(world.load({.slot = 1}, {kLamp, kBox, kTree}).ok());
    EXPECT_NE(world.store.find(kLamp), nullptr);
    EXPECT_NE(world.store.find(kBox), nullptr);
    EXPECT_EQ(world.store.find(kTree), nullptr);
    EXPECT_EQ(world.store.archetypes(1).size(), 2u);
    ASSERT_TRUE(world.store.close_types(1).ok());
  }
  EXPECT_EQ(world.store.left_out(), 3u);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(lines_with(log, "'tree'"), 1u);
  EXPECT_EQ(lines_with(log, "2 slots for streamed archetypes"), 1u);
  EXPECT_EQ(log.said()[0].name, kTree);
  ASSERT_TRUE(world.load({.slot = 1}, {kTree}).ok());
  EXPECT_NE(world.store.find(kTree), nullptr) << "there is room now";
  log.clear();
  ASSERT_TRUE(world.load({.slot = 2, .permanence = Permanence::permanent}, {kLamp, kBox}).ok());
  EXPECT_EQ(lines_with(log, "1 slots for permanent archetypes"), 1u) << log.all();
}

TEST(ArchetypeStore, LeavesOutWhatHasNoName) {
  World world;
  test::CapturedLog log;
  ASSERT_TRUE(world.load({.slot = 1, .file = NameHash{5}}, {NameHash{}, kLamp, NameHash{}}).ok());
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(world.store.left_out(), 2u);
  EXPECT_EQ(world.store.archetypes(1).size(), 1u);
  EXPECT_EQ(world.store.find(NameHash{}), nullptr);
}

// ARCH-4
TEST(ArchetypeStore, ProtectedTypesStayUntilTheRendererIsDone) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp, kBox}).ok());
  ASSERT_TRUE(world.load({.slot = 2}, {kTree}).ok());
  const Archetype &lamp = *world.store.find(kLamp), &box = *world.store.find(kBox);
  world.store.protect(lamp);
  world.store.protect(lamp);
  world.store.protect(box);
  EXPECT_TRUE(world.store.is_protected(1));
  EXPECT_FALSE(world.store.is_protected(2));
  Status refused = world.store.close_types(1);
  EXPECT_EQ(refused.code, StatusCode::in_use);
  EXPECT_EQ(refused.detail, 3u);
  world.store.unprotect(lamp, 12);
  world.store.unprotect(box, 10);  // an earlier frame: 12 still counts
  world.store.release_fenced(12);
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use) << "one is not taken back";
  world.store.unprotect(lamp, 14);
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use) << "frame 14 may show it";
  world.store.release_fenced(13);
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  EXPECT_NE(world.store.find(kLamp), nullptr);
  world.store.release_fenced(14);
  world.store.release_fenced(3);  // frames do not go back
  EXPECT_FALSE(world.store.is_protected(1));
  EXPECT_TRUE(world.store.close_types(1).ok());

  const Archetype& tree = *world.store.find(kTree);
  world.store.protect(tree);
  world.store.unprotect(tree, 0);
  EXPECT_TRUE(world.store.close_types(2).ok()) << "the renderer never saw it";
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  EXPECT_FALSE(world.store.is_protected(1)) << "nothing is left of the types before";
  test::BrokenContracts contracts;
  world.store.unprotect(*world.store.find(kLamp), 20);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(world.store.close_types(1).ok());
}

// ARCH-4: any number of protections may wait for the renderer.
TEST(ArchetypeStore, NoNumberOfProtectionsIsTooLarge) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  const Archetype& lamp = *world.store.find(kLamp);
  const uint64_t before = world.memory.calls();
  for (uint64_t frame = 1; frame <= 100000; ++frame) {
    world.store.protect(lamp);
    world.store.unprotect(lamp, frame);
  }
  EXPECT_EQ(world.memory.calls(), before);
  world.store.release_fenced(99999);
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  world.store.release_fenced(100000);
  EXPECT_TRUE(world.store.close_types(1).ok());
}

// ARCH-6
TEST(ArchetypeStore, PermanentTypesStay) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1, .permanence = Permanence::permanent}, {kLamp}).ok());
  EXPECT_TRUE(world.store.find(kLamp)->is_permanent());
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  EXPECT_EQ(world.store.withdraw_types(1).code, StatusCode::in_use);
  EXPECT_EQ(world.store.placement(1).permanence, Permanence::permanent);
  EXPECT_TRUE(world.store.close_context(0).ok()) << "belongs to no context";
  EXPECT_NE(world.store.find(kLamp), nullptr);
  // One that was never published leaves: its maker changed his mind.
  const KindCount kinds[] = {{kBase, 1}};
  ASSERT_TRUE(world.store.open_types({.slot = 2, .permanence = Permanence::permanent}, kinds).ok());
  ASSERT_NE(world.store.create(2, kBase, kBox), nullptr);
  EXPECT_TRUE(world.store.close_types(2).ok());
  EXPECT_EQ(world.store.permanent_used(), 1u);
}

// ARCH-6: something lies over permanent types.
TEST(ArchetypeStore, PermanenceMayBeEndedAndTheSlotsComeBack) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1, .permanence = Permanence::permanent}, {kLamp, kBox}).ok());
  const uint32_t free = world.store.permanent_free();
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  EXPECT_TRUE(world.store.close_types(1, true).ok());
  EXPECT_EQ(world.store.permanent_free(), free + 2);
  EXPECT_EQ(world.store.streamed_used(), 0u);
  EXPECT_EQ(world.store.close_types(1, true).code, StatusCode::not_found);
}

// ARCH-6
TEST(ArchetypeStore, ContextsEndWithTheirTypes) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1, .permanence = Permanence::in_context, .context = 3}, {kLamp}).ok());
  ASSERT_TRUE(world.load({.slot = 2, .permanence = Permanence::in_context, .context = 4}, {kBox}).ok());
  ASSERT_TRUE(world.load({.slot = 3, .context = 3}, {kTree}).ok());  // streamed: the context does not matter
  EXPECT_TRUE(world.store.find(kLamp)->is_permanent());
  EXPECT_NE(world.store.find_for(kLamp, {}), nullptr);
  EXPECT_EQ(world.store.find_for(kTree, {}), nullptr);
  EXPECT_EQ(world.store.permanent_used(), 0u) << "slots for good are for what stays for good";

  Archetype* const box = world.store.find(kBox);
  box->add_reference();
  EXPECT_TRUE(world.store.close_context(3).ok());
  EXPECT_FALSE(world.store.is_loaded(1));
  EXPECT_TRUE(world.store.is_loaded(2) && world.store.is_loaded(3));
  const Status left = world.store.close_context(4);
  EXPECT_EQ(left.code, StatusCode::in_use);
  EXPECT_EQ(left.detail, 1u);
  EXPECT_EQ(world.store.find(kBox), box) << "still there";
  EXPECT_FALSE(box->is_permanent()) << "but it streams";
  EXPECT_EQ(world.store.placement(2).permanence, Permanence::streamed);
  EXPECT_TRUE(world.store.close_context(4).ok()) << "nothing belongs to it any more";
  box->remove_reference();
  EXPECT_TRUE(world.store.close_types(2).ok());
}

// ARCH-6
TEST(ArchetypeStore, MayKeepAllTypes) {
  World world({.slots = {20, 100}, .types = 50, .all_types_permanent = true});
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  ASSERT_TRUE(world.load({.slot = 2, .permanence = Permanence::in_context, .context = 3}, {kBox}).ok());
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  EXPECT_TRUE(world.store.close_context(3).ok());
  EXPECT_NE(world.store.find(kBox), nullptr);
  EXPECT_EQ(world.store.permanent_used(), 2u);
}

// ARCH-1: the component comes on first use, from a pool.
TEST(ArchetypeStore, MakesComponentsOnFirstUse) {
  World world({.slots = {0, 10}, .types = 5, .components = 2});
  test::CapturedLog log;
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp, kBox, kTree}).ok());
  const auto all = world.store.archetypes(1);
  EXPECT_EQ(all[0]->component(), nullptr);
  ArchetypeComponent* const made = world.store.component(*all[0]);
  ASSERT_NE(made, nullptr);
  made->clip_dictionary = NameHash{5};
  EXPECT_EQ(world.store.component(*all[0]), made);
  EXPECT_EQ(all[0]->clip_dictionary(), NameHash{5});
  EXPECT_NE(world.store.component(*all[1]), nullptr);
  EXPECT_EQ(world.store.component(*all[2]), nullptr);
  EXPECT_EQ(lines_with(log, "fwDynamicArchetypeComponent pool full (capacity 2)"), 1u) << log.all();
  EXPECT_EQ(world.store.components().used(), 2u);
  ASSERT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(world.store.components().used(), 0u);
}

class Weapon : public Archetype {
 public:
  void read(const ArchetypeSource& source) {
    Archetype::read(source);
    damage = 7;
  }
  int damage = 0;
};
class HeavyWeapon final : public Weapon {};

// ARCH-2: a kind of the host's, chosen by the name of its structure; one contiguous silo for each kind.
TEST(ArchetypeStore, TakesKindsOfTheHost) {
  World world;
  SiloFactory<Weapon, Archetype> weapons;
  ASSERT_TRUE(weapons.init(50, world.memory).ok());
  constexpr TypeHash kWeapon = hash_type("CWeaponArchetypeDef"), kGun = hash_type("CGunArchetypeDef");
  const KindCount kinds[] = {{kWeapon, 2}, {kBase, 1}, {kGun, 1}, {kWeapon, 1}};
  EXPECT_EQ(world.store.open_types({.slot = 9}, kinds).code, StatusCode::not_found);
  EXPECT_FALSE(world.store.is_loaded(9));
  world.store.set_factory(kWeapon, weapons);
  world.store.set_factory(kGun, weapons);  // one factory for two structures
  ASSERT_TRUE(world.store.open_types({.slot = 9}, kinds).ok());
  ASSERT_NE(world.store.create(9, kWeapon, hash_name("knife")), nullptr);
  ASSERT_NE(world.store.create(9, kBase, kBox), nullptr);
  ASSERT_NE(world.store.create(9, kGun, hash_name("gun")), nullptr);
  ASSERT_TRUE(world.store.publish_types(9).ok());
  ASSERT_EQ(weapons.elements(9).size(), 2u);
  EXPECT_EQ(world.store.find(hash_name("knife")), &weapons.elements(9)[0]);
  EXPECT_EQ(world.store.find(hash_name("gun")), &weapons.elements(9)[1]) << "next to it";
  EXPECT_EQ(weapons.elements(9)[0].damage, 7);
  EXPECT_EQ(weapons.elements(9)[0].lod_distance(), 100) << "made in code";
  EXPECT_EQ(world.store.find(hash_name("knife"))->form(), ArchetypeForm::base);
  test::BrokenContracts contracts;
  world.store.set_factory(hash_type("CLate"), weapons);
  EXPECT_TRUE(test::broke(contracts)) << "types are loaded";
  ASSERT_TRUE(world.store.close_types(9).ok());
  EXPECT_FALSE(weapons.is_open(9));
  world.store.shutdown();  // before the factory goes
}

// ARCH-2: a larger class in place of a known kind.
TEST(ArchetypeStore, LetsTheHostReplaceKinds) {
  World world;
  SiloFactory<HeavyWeapon, Archetype> weapons;
  ASSERT_TRUE(weapons.init(50, world.memory).ok());
  world.store.set_factory(kBase, weapons);
  ASSERT_TRUE(world.load({.slot = 9}, {kBox}).ok());
  ASSERT_EQ(weapons.elements(9).size(), 1u);
  EXPECT_EQ(weapons.elements(9)[0].damage, 7) << "read() of its nearest base";
  ASSERT_TRUE(world.store.close_types(9).ok());
  test::BrokenContracts contracts;
  world.store.set_factory(hash_type("CTimeArchetypeDef"), weapons);  // no TimeArchetype
  EXPECT_TRUE(test::broke(contracts));
  const KindCount kinds[] = {{hash_type("CTimeArchetypeDef"), 1}};
  ASSERT_TRUE(world.store.open_types({.slot = 9}, kinds).ok());
  Archetype* const timed = world.store.create(9, hash_type("CTimeArchetypeDef"), kLamp);
  EXPECT_NE(timed->as<TimeArchetype>(), nullptr) << "as before";
  world.store.shutdown();
}

// ARCH-4: all or nothing, whichever allocation fails.
TEST(ArchetypeStore, OpeningFailsWithoutATrace) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  const KindCount kinds[] = {{kBase, 3}, {hash_type("CTimeArchetypeDef"), 2}, {hash_type("CMloArchetypeDef"), 1}};
  const uint64_t before = world.memory.bytes();
  int failures = 0;
  for (;; ++failures) {
    world.memory.fail_after(failures);
    const Status status = world.store.open_types({.slot = 2, .file = kBox}, kinds);
    if (status.ok()) break;
    EXPECT_EQ(status.code, StatusCode::out_of_memory);
    EXPECT_EQ(status.name, kBox);
    EXPECT_EQ(world.memory.bytes(), before);
    EXPECT_FALSE(world.store.is_loaded(2));
    EXPECT_NE(world.store.find(kLamp), nullptr);
  }
  EXPECT_EQ(failures, 4) << "the list, and an array for each kind";
  world.memory.fail_after(-1);
  EXPECT_TRUE(world.store.close_types(2).ok());
  EXPECT_EQ(world.memory.bytes(), before);
  const KindCount huge[] = {{kBase, 0xFFFFFFFF}, {kBase, 0xFFFFFFFF}};
  EXPECT_EQ(world.store.open_types({.slot = 2}, huge).code, StatusCode::too_large);
}

TEST(ArchetypeStore, EmptyTypesAreTypes) {
  World world;
  const uint64_t before = world.memory.blocks();
  ASSERT_TRUE(world.load({.slot = 0}, {}).ok());
  EXPECT_TRUE(world.store.is_published(0));
  EXPECT_EQ(world.memory.blocks(), before) << "nothing to take memory for";
  EXPECT_TRUE(world.store.close_types(0).ok());
}

TEST(ArchetypeStore, BrokenContractsDoNoHarm) {
  World world;
  test::BrokenContracts contracts;
  const KindCount kinds[] = {{kBase, 1}};
  EXPECT_EQ(world.store.open_types({.slot = 50}, kinds).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.open_types({}, kinds).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  EXPECT_EQ(world.store.open_types({.slot = 1}, kinds).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.create(1, kBase, kBox), nullptr) << "published";
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.create(2, kBase, kBox), nullptr) << "not open";
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.publish_types(1).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.publish_types(2).code, StatusCode::not_found);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.placement(2).slot, kNoItyp);
  EXPECT_TRUE(test::broke(contracts));
  ASSERT_TRUE(world.store.open_types({.slot = 2}, kinds).ok());
  ASSERT_NE(world.store.create(2, kBase, kBox), nullptr);
  EXPECT_EQ(world.store.create(2, kBase, kTree), nullptr) << "one was announced";
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.store.create(2, hash_type("CNobodys"), kTree), nullptr);
  EXPECT_TRUE(test::broke(contracts));
  Archetype& lamp = *world.store.find(kLamp);
  lamp.set_traits({});
  lamp.set_model_names(kBox, kBox, kBox);
  EXPECT_TRUE(test::broke(contracts, 2));
  EXPECT_EQ(lamp.lod_distance(), 100);
  EXPECT_EQ(lamp.drawable_dictionary(), NameHash{});

  // A listener that loads and unloads.
  const ArchetypeListener meddler{[](void* user, NameHash, Archetype*, Archetype*) {
                                    auto& store = *static_cast<ArchetypeStore*>(user);
                                    EXPECT_EQ(store.close_types(1).code, StatusCode::in_use);
                                    EXPECT_EQ(store.open_types({.slot = 30}, {}).code, StatusCode::in_use);
                                    EXPECT_EQ(store.withdraw_types(1).code, StatusCode::in_use);
                                    EXPECT_EQ(store.close_context(1).code, StatusCode::in_use);
                                  },
                                  &world.store};
  ASSERT_TRUE(world.store.add_listener(meddler).ok());
  ASSERT_TRUE(world.store.publish_types(2).ok());
  EXPECT_TRUE(test::broke(contracts, 4));
  EXPECT_NE(world.store.find(kLamp), nullptr);
}

TEST(ArchetypeStore, QuestionsAllocateNothing) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  const ItypSlot needs[] = {1};
  const uint64_t before = world.memory.calls();
  for (int frame = 0; frame < 100; ++frame) {
    Archetype* const lamp = world.store.find_for(kLamp, needs);
    lamp->add_reference();
    world.store.protect(*lamp);
    world.store.unprotect(*lamp, static_cast<uint64_t>(frame));
    world.store.release_fenced(static_cast<uint64_t>(frame));
    EXPECT_EQ(world.store.at(world.store.model_id(kLamp)), lamp);
    lamp->remove_reference();
  }
  EXPECT_EQ(world.memory.calls(), before);
}

}  // namespace
}  // namespace meridian
