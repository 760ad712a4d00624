// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "unit/runtime/scene/scene_kit.h"

// SG-5: lights stand ordered by handle; a batch of changes is merged in one pass before each scan and search.

namespace meridian {
namespace {

using test::broke;
using test::BrokenContracts;
using test::check_bounds;
using test::desc_at;
using test::handle_of;
using test::SceneKit;

struct Shown {
  EntityHandle handle;
  EntityDesc desc;
};

/// What readers see, in the order in which they see it.
std::vector<Shown> shown_lights(const SceneGraph& graph) {
  std::vector<Shown> out;
  for (uint32_t c = graph.root()->first_container(); c != kNoContainer; c = graph.next_container(c)) {
    const ContainerView& view = graph.containers().views[c];
    if ((view.flags & kContainerLights) == 0) continue;
    EXPECT_LE(view.slots, kContainerSlots);
    for (uint32_t slot = 0; slot < kContainerSlots; ++slot) {
      EXPECT_EQ(graph.is_used({c, slot}), slot < view.slots);
      if (slot < view.slots) out.push_back({view.handles[slot], graph.read({c, slot})});
    }
  }
  return out;
}

uint64_t order_of(EntityHandle handle) { return uint64_t{handle.slot} << 32 | handle.generation; }

using Model = std::map<uint64_t, std::pair<EntityHandle, EntityDesc>>;

void expect_shown(const SceneGraph& graph, const Model& model) {
  const std::vector<Shown> shown = shown_lights(graph);
  ASSERT_EQ(shown.size(), model.size());
  EXPECT_EQ(graph.light_count(), model.size());
  size_t i = 0;
  for (const auto& [key, light] : model) {
    EXPECT_EQ(shown[i].handle, light.first);
    test::Stored wanted(light.second, static_cast<uint32_t>(i % kContainerSlots));
    test::expect_same(shown[i].desc, wanted.desc);
    ++i;
  }
}

TEST(SceneLights, StandInTheOrderOfTheirHandles) {
  SceneKit kit;
  Model model;
  for (const uint32_t n : {40u, 7u, 23u, 1u, 0x80000001u, 8u}) {
    const EntityDesc desc = desc_at({float(n % 100), 0, 0});
    ASSERT_TRUE(kit.graph.set_light(handle_of(n), desc).ok());
    model[order_of(handle_of(n))] = {handle_of(n), desc};
  }
  EXPECT_EQ(kit.graph.light_count(), 0u);  // they wait
  EXPECT_TRUE(shown_lights(kit.graph).empty());
  kit.graph.lock();
  expect_shown(kit.graph, model);
  check_bounds(kit.graph, true);
  kit.graph.unlock();
}

TEST(SceneLights, OfOneBatchTheLastWordCounts) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  ASSERT_TRUE(graph.set_light(handle_of(1), desc_at({1, 0, 0})).ok());
  ASSERT_TRUE(graph.set_light(handle_of(2), desc_at({2, 0, 0})).ok());
  ASSERT_TRUE(graph.flush_lights().ok());
  ASSERT_TRUE(graph.set_light(handle_of(3), desc_at({3, 0, 0})).ok());  // there and gone
  ASSERT_TRUE(graph.remove_light(handle_of(3)).ok());
  ASSERT_TRUE(graph.remove_light(handle_of(1)).ok());  // gone and there again
  ASSERT_TRUE(graph.set_light(handle_of(1), desc_at({10, 0, 0})).ok());
  ASSERT_TRUE(graph.set_light(handle_of(1), desc_at({11, 0, 0})).ok());
  ASSERT_TRUE(graph.remove_light(handle_of(2)).ok());
  ASSERT_TRUE(graph.remove_light(handle_of(99)).ok());  // was never there
  ASSERT_TRUE(graph.flush_lights().ok());
  expect_shown(graph, {{order_of(handle_of(1)), {handle_of(1), desc_at({11, 0, 0})}}});
  ASSERT_TRUE(graph.remove_light(handle_of(1)).ok());
  graph.pre_scan();
  EXPECT_EQ(graph.light_count(), 0u);
  EXPECT_EQ(graph.used_containers(), 0u);
  EXPECT_EQ(graph.root()->first_container(), kNoContainer);
}

TEST(SceneLights, ANewGenerationIsAnotherLight) {  // P079
  SceneKit kit;
  const EntityHandle old{.generation = 1, .slot = 5}, now{.generation = 3, .slot = 5};
  ASSERT_TRUE(kit.graph.set_light(old, desc_at({1, 0, 0})).ok());
  ASSERT_TRUE(kit.graph.flush_lights().ok());
  ASSERT_TRUE(kit.graph.set_light(now, desc_at({2, 0, 0})).ok());
  ASSERT_TRUE(kit.graph.remove_light(old).ok());
  ASSERT_TRUE(kit.graph.flush_lights().ok());
  expect_shown(kit.graph, {{order_of(now), {now, desc_at({2, 0, 0})}}});
  EXPECT_EQ(kit.graph.set_light({}, desc_at({})).code, StatusCode::bad_value);
}

TEST(SceneLights, TooManyAreRefused) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const uint32_t most = graph.capacities().lights;
  Model model;
  for (uint32_t n = 1; n <= most; ++n) {
    ASSERT_TRUE(graph.set_light(handle_of(n), desc_at({float(n), 0, 0})).ok());
    model[order_of(handle_of(n))] = {handle_of(n), desc_at({float(n), 0, 0})};
  }
  EXPECT_EQ(graph.set_light(handle_of(most + 1), desc_at({})).code, StatusCode::out_of_slots);
  ASSERT_TRUE(graph.flush_lights().ok());
  expect_shown(graph, model);
  EXPECT_EQ(graph.set_light(handle_of(most + 1), desc_at({})).code, StatusCode::out_of_slots);
  ASSERT_TRUE(graph.set_light(handle_of(5), desc_at({0, 5, 0})).ok());  // one that is there may change
  model[order_of(handle_of(5))].second = desc_at({0, 5, 0});
  ASSERT_TRUE(graph.remove_light(handle_of(9)).ok());  // and one for another
  model.erase(order_of(handle_of(9)));
  ASSERT_TRUE(graph.set_light(handle_of(most + 1), desc_at({7, 7, 7})).ok());
  model[order_of(handle_of(most + 1))] = {handle_of(most + 1), desc_at({7, 7, 7})};
  ASSERT_TRUE(graph.flush_lights().ok());
  expect_shown(graph, model);
}

// The list is full, and all of it moves each frame: that is still one pass, not one for each light.
TEST(SceneLights, AFullListIsUpdatedInOnePass) {
  SceneCapacities capacities = test::kSmallScene;
  capacities.light_updates = capacities.lights;
  SceneKit kit(capacities);
  SceneGraph& graph = kit.graph;
  for (uint32_t n = 1; n <= capacities.lights; ++n) ASSERT_TRUE(graph.set_light(handle_of(n), desc_at({})).ok());
  ASSERT_TRUE(graph.flush_lights().ok());
  for (uint32_t n = 1; n <= capacities.lights; ++n) {
    ASSERT_TRUE(graph.set_light(handle_of(n), desc_at({1, 1, 1})).ok());
    for (const Shown& light : shown_lights(graph)) ASSERT_EQ(light.desc.centre, Vec3{}) << "merged before it is time";
  }
  ASSERT_TRUE(graph.flush_lights().ok());
  for (const Shown& light : shown_lights(graph)) EXPECT_EQ(light.desc.centre, (Vec3{1, 1, 1}));
}

TEST(SceneLights, ChangesWaitWhileTheSceneIsLocked) {  // SG-4
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  ASSERT_TRUE(graph.set_light(handle_of(1), desc_at({1, 0, 0})).ok());
  graph.lock();
  const auto before = test::seen_by_readers(graph);
  for (uint32_t n = 2; n < 2 + graph.capacities().light_updates; ++n)
    ASSERT_TRUE(graph.set_light(handle_of(n), desc_at({float(n), 0, 0})).ok());
  EXPECT_EQ(graph.set_light(handle_of(50), desc_at({})).code, StatusCode::in_use);
  EXPECT_EQ(graph.remove_light(handle_of(1)).code, StatusCode::in_use);
  BrokenContracts contracts;
  EXPECT_EQ(graph.flush_lights().code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(test::seen_by_readers(graph), before);
  graph.lock();  // a second lock merges nothing
  EXPECT_EQ(graph.light_count(), 1u);
  graph.unlock();
  graph.unlock();
  EXPECT_EQ(graph.light_count(), 1u);
  graph.lock();
  EXPECT_EQ(graph.light_count(), 1 + graph.capacities().light_updates);
  graph.unlock();
}

// Where there is no container for them they are not shown, and come as soon as there is one.
TEST(SceneLights, ComeWhenThereIsRoomAgain) {
  test::CapturedLog log;
  SceneCapacities capacities = test::kSmallScene;
  capacities.containers = 1;
  SceneKit kit(capacities);
  SceneGraph& graph = kit.graph;
  const SceneSlot other = graph.insert(*graph.root(), ContainerUse::placed, handle_of(9), desc_at({})).value();
  ASSERT_TRUE(graph.set_light(handle_of(1), desc_at({1, 0, 0})).ok());
  EXPECT_EQ(graph.flush_lights().code, StatusCode::out_of_slots);
  EXPECT_TRUE(shown_lights(graph).empty());
  EXPECT_EQ(log.count(), 1u);
  ASSERT_TRUE(graph.erase(other).ok());
  graph.lock();
  expect_shown(graph, {{order_of(handle_of(1)), {handle_of(1), desc_at({1, 0, 0})}}});
  check_bounds(graph, true);
  graph.unlock();
}

TEST(SceneLights, AreMergedLikeAMap) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    SceneCapacities capacities = test::kSmallScene;
    capacities.lights = 20 + random.below(800);
    capacities.light_updates = 1 + random.below(100);
    SceneKit kit(capacities);
    SceneGraph& graph = kit.graph;
    Model model;
    for (int step = 0; step < 2000; ++step) {
      const EntityHandle light{.generation = 1 + 2 * random.below(2), .slot = random.below(900)};
      const bool is_there = model.count(order_of(light)) != 0;
      if (random.below(3) != 0) {
        const EntityDesc desc = test::random_desc(random);
        const Status set = graph.set_light(light, desc);
        ASSERT_EQ(set.ok(), is_there || model.size() < capacities.lights) << set.message;
        if (set.ok()) model[order_of(light)] = {light, desc};
      } else {
        ASSERT_TRUE(graph.remove_light(light).ok());
        model.erase(order_of(light));
      }
      if (random.below(200) != 0) continue;
      ASSERT_TRUE(graph.flush_lights().ok());
      expect_shown(graph, model);
      check_bounds(graph, false);
      if (testing::Test::HasFailure()) return;
    }
    graph.lock();
    expect_shown(graph, model);
    check_bounds(graph, true);
    graph.unlock();
  }
}

}  // namespace
}  // namespace meridian
