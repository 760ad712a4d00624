// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_visibility.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"

// ENTY-6

namespace meridian {
namespace {

TEST(EntityVisibility, SeventeenModulesAllMustAgree) {
  EXPECT_EQ(kVisibilityModules, 17u);
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({.capacity = 2}).ok());
  Entity entity;
  for (unsigned module = 0; module < 17; ++module) {
    const auto who = static_cast<VisibilityModule>(module);
    ASSERT_TRUE(visibility.set_visible(entity, who, false).ok());
    EXPECT_EQ(visibility.hidden_by(entity), (2u << module) - 1);
    EXPECT_FALSE(visibility.is_visible_to(entity, who));
    EXPECT_FALSE(entity.is_visible());
  }
  for (unsigned module = 0; module < 17; ++module) {
    EXPECT_FALSE(entity.is_visible()) << module;
    ASSERT_TRUE(visibility.set_visible(entity, static_cast<VisibilityModule>(module), true).ok());
  }
  EXPECT_TRUE(entity.is_visible());
  EXPECT_EQ(visibility.hidden_by(entity), 0u);
}

TEST(EntityVisibility, ExtensionExistsOnlyWhileSomebodyHides) {
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({.capacity = 1}).ok());
  Entity entity;
  ASSERT_TRUE(visibility.set_visible(entity, VisibilityModule::script, true).ok());
  EXPECT_TRUE(entity.extensions().empty()) << "nothing to keep";
  ASSERT_TRUE(visibility.set_visible(entity, VisibilityModule::script, false).ok());
  EXPECT_TRUE(entity.extensions().has(kVisibilityExtension));
  EXPECT_EQ(visibility.hidden(), 1u);
  visibility.show(entity);
  EXPECT_TRUE(entity.extensions().empty());
  EXPECT_TRUE(entity.is_visible());
  EXPECT_EQ(visibility.hidden(), 0u);
  {
    Entity short_lived;
    ASSERT_TRUE(visibility.set_visible(short_lived, VisibilityModule::debug, false).ok());
  }
  EXPECT_EQ(visibility.hidden(), 0u) << "an entity that dies gives it back";
}

// CORE-11: a full pool is data: told once, the entity stays visible.
TEST(EntityVisibility, FullPoolLeavesTheEntityVisible) {
  test::CapturedLog log;
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({.capacity = 1}).ok());
  Entity first, second;
  ASSERT_TRUE(visibility.set_visible(first, VisibilityModule::vfx, false).ok());
  for (int i = 0; i < 3; ++i) {
    const Status full = visibility.set_visible(second, VisibilityModule::vfx, false);
    EXPECT_EQ(full.code, StatusCode::out_of_slots);
    EXPECT_EQ(full.detail, 1u);
    EXPECT_EQ(full.name, hash_name("EntityVisibility"));
  }
  EXPECT_TRUE(second.is_visible());
  EXPECT_TRUE(second.extensions().empty());
  ASSERT_TRUE(visibility.set_visible(first, VisibilityModule::camera, false).ok()) << "it has its extension";
  EXPECT_EQ(log.count(), 1u) << log.all();
}

TEST(EntityVisibility, UnknownModulesAndKindsAreFaults) {
  test::BrokenContracts contracts;
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({}).ok());
  Entity entity;
  EXPECT_EQ(visibility.set_visible(entity, static_cast<VisibilityModule>(17), false).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(entity.is_visible());
  // The kind is the runtime's: no factory of a program can be added for it.
  struct Mine final : Extension {
    Mine() : Extension(kVisibilityExtension) {}
  };
  PoolFactory<Mine, Extension> mine;
  auto registry = std::make_unique<ExtensionRegistry>();
  registry->add_factory(kVisibilityExtension, "Mine", mine);
  EXPECT_TRUE(test::broke(contracts));
}

TEST(EntityVisibility, RandomModulesAgainstAModel) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    test::CheckedMemory memory;
    test::CapturedLog log;
    constexpr size_t kEntities = 40, kCapacity = 25;
    EntityVisibility visibility;
    ASSERT_TRUE(visibility.init({.capacity = kCapacity}, memory).ok());
    const uint64_t calls = memory.calls();
    std::vector<std::unique_ptr<Entity>> entities(kEntities);
    for (auto& entity : entities) entity = std::make_unique<Entity>();
    std::vector<uint32_t> model(kEntities);
    for (int step = 0; step < 20000; ++step) {
      const size_t i = random() % kEntities;
      const auto module = static_cast<unsigned>(random() % 17);
      size_t hidden = 0;
      for (const uint32_t modules : model) hidden += modules != 0 ? 1 : 0;
      if (random() % 50 == 0) {
        entities[i] = std::make_unique<Entity>();
        model[i] = 0;
      } else if (random() % 40 == 0) {
        visibility.show(*entities[i]);
        model[i] = 0;
      } else if (random() % 2 == 0) {
        const bool fits = model[i] != 0 || hidden < kCapacity;
        ASSERT_EQ(visibility.set_visible(*entities[i], static_cast<VisibilityModule>(module), false).ok(), fits);
        if (fits) model[i] |= 1u << module;
      } else {
        ASSERT_TRUE(visibility.set_visible(*entities[i], static_cast<VisibilityModule>(module), true).ok());
        model[i] &= ~(1u << module);
      }
      hidden = 0;
      for (size_t e = 0; e < kEntities; ++e) {
        ASSERT_EQ(visibility.hidden_by(*entities[e]), model[e]);
        ASSERT_EQ(entities[e]->is_visible(), model[e] == 0);
        hidden += model[e] != 0 ? 1 : 0;
      }
      ASSERT_EQ(visibility.hidden(), hidden);
    }
    EXPECT_EQ(memory.calls(), calls) << "nothing is allocated but in init";
    entities.clear();
  }
}

}  // namespace
}  // namespace meridian
