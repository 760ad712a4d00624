// SPDX-License-Identifier: MIT
// core/extension.h: kinds, factories, and what data files ask for.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "meridian/core/extension.h"
#include "support/captured.h"

namespace meridian {
namespace {

struct Thing : Extensible {};
struct Ladder final : Extension {
  static constexpr ExtensionKind kKind{3};
  Ladder() : Extension(kKind) {}
};
struct Smoke final : Extension {
  static constexpr ExtensionKind kKind{200};
  Smoke() : Extension(kKind) {}
};

struct World {
  PoolFactory<Ladder, Extension> ladders;
  SiloFactory<Smoke, Extension> smoke;
  ExtensionRegistry registry;
  World() {
    EXPECT_TRUE(ladders.init({.name = "LadderExtension", .capacity = 2}).ok());
    EXPECT_TRUE(smoke.init(10).ok());
    registry.add_factory(Ladder::kKind, "LadderExtension", ladders);
    registry.add_factory(Smoke::kKind, "SmokeExtension", smoke);
    registry.associate(hash_type("CExtensionDefLadder"), Ladder::kKind);
    registry.associate(hash_type("CExtensionDefSmoke"), Smoke::kKind);
  }
};

// EXTN-3, EXTN-4
TEST(ExtensionRegistry, MakesWhatADefinitionNames) {
  World world;
  ASSERT_TRUE(world.smoke.open(7, 1).ok());
  {
    Thing thing;
    Extension* const ladder = world.registry.create(hash_type("CExtensionDefLadder"), 7);
    Extension* const smoke = world.registry.create(hash_type("CExtensionDefSmoke"), 7);
    ASSERT_TRUE(ladder != nullptr && smoke != nullptr);
    EXPECT_EQ(ladder->kind(), Ladder::kKind);
    EXPECT_EQ(smoke->kind(), Smoke::kKind);
    thing.extensions().add(*ladder);
    thing.extensions().add(*smoke);
    EXPECT_EQ(world.ladders.pool().used(), 1u);
    EXPECT_EQ(world.smoke.used(7), 1u);
  }  // the object owns them
  EXPECT_EQ(world.ladders.pool().used(), 0u);
  EXPECT_EQ(world.smoke.used(7), 0u);
  EXPECT_EQ(world.registry.left_out(), 0u);
  Extension* const by_kind = world.registry.create(Ladder::kKind, 0);
  ASSERT_NE(by_kind, nullptr);
  world.ladders.destroy(*by_kind);
}

size_t lines_with(const test::CapturedLog& log, const std::string& what) {
  size_t n = 0;
  for (const test::Said& said : log.said()) n += said.text.find(what) != std::string::npos ? 1 : 0;
  return n;
}

// EXTN-4, CORE-11: warned once, left out, and on.
TEST(ExtensionRegistry, UnknownStructuresAreNamedOnceAndLeftOut) {
  test::CapturedLog log;
  World world;
  const TypeHash unknown = hash_type("CExtensionDefUnheardOf"), other = hash_type("CExtensionDefOther");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.registry.create(unknown, 1), nullptr);
  EXPECT_EQ(log.count(), 1u);
  char number[16];
  std::snprintf(number, sizeof number, "0x%08X", unknown.value);
  EXPECT_NE(log.said()[0].text.find(number), std::string::npos) << log.all();
  EXPECT_EQ(log.said()[0].level, LogLevel::warning);
  EXPECT_EQ(world.registry.create(other, 1), nullptr);
  EXPECT_EQ(log.count(), 2u);
  EXPECT_EQ(world.registry.left_out(), 6u);
  // TypeHash takes the text as written.
  EXPECT_EQ(world.registry.create(hash_type("cextensiondefladder"), 1), nullptr);
  EXPECT_EQ(world.registry.create(TypeHash{}, 1), nullptr);
  EXPECT_EQ(world.registry.left_out(), 8u);
}

// EXTN-4, CORE-11: a full pool.
TEST(ExtensionRegistry, FullFactoriesAreNamedOnceAndTheObjectGoesWithout) {
  test::CapturedLog log;
  World world;
  Thing things[5];
  for (Thing& thing : things) {
    Extension* const made = world.registry.create(hash_type("CExtensionDefLadder"), 0);
    if (made != nullptr) thing.extensions().add(*made);
  }
  EXPECT_TRUE(things[1].extensions().has(Ladder::kKind));
  EXPECT_FALSE(things[2].extensions().has(Ladder::kKind));
  EXPECT_EQ(world.registry.left_out(), 3u);
  EXPECT_EQ(lines_with(log, "LadderExtension pool full (capacity 2): raise PoolSize 'LadderExtension' in gameconfig"),
            1u);
  EXPECT_EQ(log.count(), 1u) << log.all();
  log.clear();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(world.registry.create(Smoke::kKind, 4), nullptr);  // file 4 has no silo
  EXPECT_EQ(log.count(), 1u);
  EXPECT_EQ(lines_with(log, "no room for more SmokeExtension of the file in slot 4"), 1u);
  EXPECT_EQ(log.said()[0].name, hash_name("SmokeExtension"));
  EXPECT_EQ(world.registry.create(Smoke::kKind, 5), nullptr);  // another file is another message
  EXPECT_EQ(log.count(), 2u);
  world.registry.reset_messages();
  EXPECT_EQ(world.registry.create(Smoke::kKind, 5), nullptr);
  EXPECT_EQ(log.count(), 3u);
  things[0].extensions().clear();  // room again
  EXPECT_NE(world.registry.create(Ladder::kKind, 0), nullptr);
}

TEST(ExtensionRegistry, KindsWithoutAFactoryAreLeftOut) {
  test::CapturedLog log;
  ExtensionRegistry registry;
  EXPECT_EQ(registry.create(ExtensionKind{9}, 0), nullptr);
  EXPECT_EQ(registry.create(ExtensionKind{9}, 0), nullptr);
  EXPECT_EQ(log.count(), 1u);
  EXPECT_EQ(registry.create(ExtensionKind{kMaxExtensionKinds}, 0), nullptr);
  EXPECT_EQ(registry.create(ExtensionKind{0xFFFFFFFF}, 0), nullptr);
  EXPECT_EQ(registry.left_out(), 4u);
}

// EXTN-4: associate twice is an assert.
TEST(ExtensionRegistry, BrokenContractsDoNoHarm) {
  World world;
  test::CapturedLog log;
  test::BrokenContracts contracts;
  world.registry.associate(hash_type("CExtensionDefLadder"), Smoke::kKind);
  EXPECT_TRUE(test::broke(contracts));
  world.registry.associate(hash_type("CExtensionDefLadder"), Ladder::kKind);
  EXPECT_TRUE(test::broke(contracts));
  Extension* const made = world.registry.create(hash_type("CExtensionDefLadder"), 0);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->kind(), Ladder::kKind);  // as it was first
  world.ladders.destroy(*made);
  world.registry.associate(hash_type("CExtensionDefDoor"), ExtensionKind{77});  // no factory
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(world.registry.create(hash_type("CExtensionDefDoor"), 0), nullptr);
  world.registry.associate(hash_type("CExtensionDefFar"), ExtensionKind{5000});
  EXPECT_GE(contracts.take(), test::kAsserts ? 1u : 0u);
  EXPECT_EQ(world.registry.create(hash_type("CExtensionDefFar"), 0), nullptr);
  world.registry.add_factory(Ladder::kKind, "again", world.ladders);
  EXPECT_TRUE(test::broke(contracts));
  world.registry.add_factory(ExtensionKind{256}, "far", world.ladders);
  EXPECT_TRUE(test::broke(contracts));
}
TEST(ExtensionRegistryDeathTest, AStructureMeansOneKind) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  World world;
  EXPECT_DEATH(world.registry.associate(hash_type("CExtensionDefLadder"), Ladder::kKind),
               "contract broken: a structure means one kind of extension");
}

TEST(ExtensionRegistry, HoldsAsManyDefinitionsAsItSays) {
  const auto registry = std::make_unique<ExtensionRegistry>();
  PoolFactory<Ladder, Extension> ladders;
  ASSERT_TRUE(ladders.init({.name = "LadderExtension", .capacity = 1}).ok());
  registry->add_factory(Ladder::kKind, "LadderExtension", ladders);
  for (uint32_t i = 0; i < ExtensionRegistry::kMaxDefinitions; ++i) {
    registry->associate(TypeHash{i * 2654435761u + 17}, Ladder::kKind);  // in no order
  }
  for (uint32_t i = 0; i < ExtensionRegistry::kMaxDefinitions; ++i) {
    Extension* const made = registry->create(TypeHash{i * 2654435761u + 17}, 0);
    ASSERT_NE(made, nullptr) << i;
    ladders.destroy(*made);
  }
  test::CapturedLog log;
  test::BrokenContracts contracts;
  registry->associate(hash_type("OneMore"), Ladder::kKind);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(registry->create(hash_type("OneMore"), 0), nullptr);
}

// EXTN-1: what is extensible can be referred to as well, and dies with extensions of its own.
TEST(Extensible, CanBeReferredTo) {
  static_assert(sizeof(Extensible) == 24);
  TrackedRef<Thing> ref;
  {
    Thing thing;
    ref = &thing;
    EXPECT_TRUE(ref);
  }
  EXPECT_FALSE(ref);
}

}  // namespace
}  // namespace meridian
