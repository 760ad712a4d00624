// SPDX-License-Identifier: MIT
// What a world does in every frame allocates nothing once it is set up. SG-3, SG-4, SG-5, DESC-5
#include <gtest/gtest.h>

#include "unit/runtime/scene/world_parts.h"

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"

namespace meridian {
namespace {

using test::at_place;
using test::WorldParts;

TEST(SceneFrame, AllocatesNothing) {
  WorldParts parts;
  SceneGraph& graph = parts.graph;
  std::vector<Entity*> cars, lamps, crates;
  for (int i = 0; i < 40; ++i) {
    cars.push_back(&parts.make({float(i), 0, 0}, test::kCarClass));
    lamps.push_back(&parts.make({float(i), 1, 0}, test::kLampClass));
    crates.push_back(&parts.make({float(i), 2, 0}));
    for (Entity* one : {cars.back(), lamps.back(), crates.back()}) ASSERT_TRUE(parts.world.add(*one).ok());
  }
  lamps[0]->set_archetype(&parts.stall);
  Random random(5);
  const test::MapBlocks map = test::random_map(random, 600);
  uint64_t before = 0, failed = 0;
  const auto count = [&failed](const Status& s) { failed += s.ok() ? 0u : 1u; };
  for (uint32_t frame = 0; frame < 120; ++frame) {
    if (frame == 20) before = test::allocation_count();
    for (uint32_t i = 0; i < 40; ++i) {
      count(parts.world.move(*cars[i], at_place({float(frame), float(i), 0})));
      count(parts.world.move(*lamps[i], at_place({float(frame), float(i), 9})));
      count(parts.world.set_alpha(*crates[i], static_cast<uint8_t>(frame)));
    }
    count(parts.world.remove(*crates[frame % 40]));
    count(parts.world.add(*crates[frame % 40]));
    count(parts.world.remove(*lamps[frame % 40]));
    count(parts.world.add(*lamps[frame % 40]));
    StreamedNode* const town = graph.create_streamed();  // a map comes, and goes
    count(graph.add_blocks(*town, map.view(test::handle_of(0))));
    count(graph.append(*graph.root(), *town));
    count(parts.scene.set_hour(frame % 24));
    parts.world.pre_scan();
    parts.world.lock();
    for (uint32_t i = 0; i < 4; ++i) {
      count(parts.world.defer(move_change(cars[i]->handle(), at_place({float(i), 1, 1}))));
      count(parts.world.defer(mask_change(crates[i]->handle(), kShadowMask)));
    }
    parts.world.unlock();
    count(graph.destroy(*town));
    if (frame % 10 == 0) count(parts.world.rebase({1, 0, -1}));
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(parts.world.statistics().failed, 0u);
}

}  // namespace
}  // namespace meridian
