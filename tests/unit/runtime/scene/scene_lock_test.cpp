// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "unit/runtime/scene/scene_kit.h"

// SG-4: the lock is a count; while it holds, nothing that readers see changes.

namespace meridian {
namespace {

using test::broke;
using test::BrokenContracts;
using test::desc_at;
using test::handle_of;
using test::SceneKit;

/// A scene with one of everything in the world, and a map outside of it.
struct Furnished : SceneKit {
  StreamedNode& town = *graph.create_streamed();
  StreamedNode& outside = *graph.create_streamed();
  StreamedNode& spare = *graph.create_streamed();
  InteriorNode& house = *graph.create_interior();
  RoomNode& room = *graph.create_room();
  Random random{4};
  test::MapBlocks map = test::random_map(random, 500);
  SceneSlot lamp, car, chair;
  uint32_t loose = kNoContainer, of_map = kNoContainer;

  Furnished() {
    EXPECT_TRUE(graph.append(*graph.root(), town).ok());
    EXPECT_TRUE(graph.append(house, room).ok());
    EXPECT_TRUE(graph.append(*graph.root(), house).ok());
    EXPECT_TRUE(graph.add_blocks(town, map.view(handle_of(0))).ok());
    loose = town.first_container();
    EXPECT_TRUE(graph.unlink_container(town, loose).ok());
    of_map = town.first_container();
    lamp = graph.insert(*graph.root(), ContainerUse::placed, handle_of(1), desc_at({1, 0, 0})).value();
    car = graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(2), desc_at({2, 0, 0})).value();
    chair = graph.insert(room, ContainerUse::placed, handle_of(3), desc_at({3, 0, 0})).value();
    EXPECT_TRUE(graph.set_light(handle_of(4), desc_at({4, 0, 0})).ok());
  }
};

TEST(SceneLock, Counts) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  EXPECT_FALSE(graph.is_locked());
  graph.lock();
  graph.lock();
  EXPECT_TRUE(graph.is_locked());
  graph.unlock();
  EXPECT_TRUE(graph.is_locked());
  graph.unlock();
  EXPECT_FALSE(graph.is_locked());
  EXPECT_EQ(graph.statistics().locks, 1u);
  BrokenContracts contracts;
  graph.unlock();  // once too often
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(graph.is_locked());
  graph.lock();
  EXPECT_TRUE(graph.is_locked());
  graph.unlock();
}

TEST(SceneLock, RefusesEveryChangeOfWhatReadersSee) {
  Furnished kit;
  SceneGraph& graph = kit.graph;
  const EntityDesc desc = desc_at({9, 9, 9});
  const std::pair<const char*, std::function<Status()>> changes[] = {
      {"insert placed", [&] { return graph.insert(*graph.root(), ContainerUse::placed, handle_of(9), desc).status(); }},
      {"insert dynamic",
       [&] { return graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(9), desc).status(); }},
      {"insert straddling",
       [&] { return graph.insert(*graph.root(), ContainerUse::straddling, handle_of(9), desc).status(); }},
      {"insert in a room", [&] { return graph.insert(kit.room, ContainerUse::placed, handle_of(9), desc).status(); }},
      {"erase", [&] { return graph.erase(kit.lamp); }},
      {"erase dynamic", [&] { return graph.erase(kit.car); }},
      {"write", [&] { return graph.write(kit.chair, desc); }},
      {"flags", [&] { return graph.set_flags(kit.lamp, kDescHidden, kDescHidden); }},
      {"alpha", [&] { return graph.set_alpha(kit.car, 1); }},
      {"mask", [&] { return graph.set_mask(kit.lamp, 1); }},
      {"add blocks", [&] { return graph.add_blocks(kit.town, kit.map.view(handle_of(7))); }},
      {"append", [&] { return graph.append(kit.house, kit.spare); }},
      {"unlink", [&] { return graph.unlink(kit.town); }},
      {"unlink below", [&] { return graph.unlink(kit.room); }},
      {"destroy", [&] { return graph.destroy(kit.town); }},
      {"destroy below", [&] { return graph.destroy(kit.room); }},
      {"disable", [&] { return graph.set_enabled(kit.house, false); }},
      {"disable the root", [&] { return graph.set_enabled(*graph.root(), false); }},
      {"unlink a container", [&] { return graph.unlink_container(kit.town, kit.of_map); }},
      {"link a container", [&] { return graph.link_container(kit.town, kit.loose); }},
      {"destroy a container", [&] { return graph.destroy_container(kit.of_map); }},
      {"a node's flag",
       [&] {
         const uint8_t before = kit.town.flags();
         graph.set_node_flag(kit.town, kNodeHd, true);
         return kit.town.flags() == before ? Status{StatusCode::in_use} : Status{};
       }},
  };
  graph.lock();
  const auto before = test::seen_by_readers(graph);
  uint64_t refused = 0;
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    BrokenContracts contracts;
    EXPECT_EQ(change().code, StatusCode::in_use);
    EXPECT_TRUE(broke(contracts));
    EXPECT_EQ(test::seen_by_readers(graph), before);
    EXPECT_EQ(graph.statistics().refused, ++refused);
  }
  graph.unlock();
  EXPECT_EQ(graph.statistics().refused, refused);
  // The same changes are none that would fail otherwise, but for what another one has taken away.
  for (const size_t i : {0u, 1u, 2u, 3u, 6u, 7u, 8u, 9u, 10u, 11u, 21u}) {
    SCOPED_TRACE(changes[i].first);
    EXPECT_TRUE(changes[i].second().ok());
  }
}

TEST(SceneLock, LeavesWhatIsNotInTheWorldAlone) {
  Furnished kit;
  SceneGraph& graph = kit.graph;
  BrokenContracts contracts;
  graph.lock();
  const std::set<uint32_t> shown = test::items_of(graph.hierarchy());
  StreamedNode& made = *graph.create_streamed();
  RoomNode& room = *graph.create_room();
  ASSERT_TRUE(graph.append(made, room).ok());
  ASSERT_TRUE(graph.add_blocks(made, kit.map.view(handle_of(50))).ok());
  const SceneSlot bed = graph.insert(room, ContainerUse::placed, handle_of(60), desc_at({5, 5, 5})).value();
  ASSERT_TRUE(graph.write(bed, desc_at({6, 6, 6})).ok());
  ASSERT_TRUE(graph.set_alpha(bed, 3).ok());
  ASSERT_TRUE(graph.set_mask(bed, 5).ok());
  ASSERT_TRUE(graph.set_flags(bed, kDescHidden, kDescHidden).ok());
  ASSERT_TRUE(graph.set_enabled(made, false).ok());
  ASSERT_TRUE(graph.set_enabled(made, true).ok());
  graph.set_node_flag(made, kNodeHd, true);
  const uint32_t first = made.first_container();
  ASSERT_TRUE(graph.unlink_container(made, first).ok());
  ASSERT_TRUE(graph.link_container(kit.outside, first).ok());
  ASSERT_TRUE(graph.destroy_container(first).ok());
  ASSERT_TRUE(graph.destroy(kit.outside).ok());
  ASSERT_TRUE(graph.unlink(room).ok());
  ASSERT_TRUE(graph.append(made, room).ok());
  EXPECT_EQ(test::items_of(graph.hierarchy()), shown);
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_EQ(graph.append(*graph.root(), made).code, StatusCode::in_use);  // only coming in waits
  EXPECT_TRUE(broke(contracts));
  graph.unlock();
  ASSERT_TRUE(graph.append(*graph.root(), made).ok());
  EXPECT_TRUE(graph.hierarchy().contains(bed.container));
  test::check_bounds(graph, false);
  graph.lock();
  test::check_bounds(graph, true);
  graph.unlock();
}

TEST(SceneLock, RemembersTheLongestHold) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const auto hold = [&graph](int ms) {
    const auto from = std::chrono::steady_clock::now();
    graph.lock();
    graph.lock();
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    graph.unlock();
    graph.unlock();
    const auto held = std::chrono::steady_clock::now() - from;
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(held).count());
  };
  EXPECT_EQ(graph.statistics().longest_hold_ns, 0u);
  uint64_t at_most = hold(20);
  const uint64_t longest = graph.statistics().longest_hold_ns;
  EXPECT_GE(longest, 20'000'000u);
  EXPECT_LE(longest, at_most);
  hold(0);
  EXPECT_GE(graph.statistics().longest_hold_ns, longest);
  at_most = std::max(at_most, hold(40));
  EXPECT_GE(graph.statistics().longest_hold_ns, 40'000'000u);
  EXPECT_EQ(graph.statistics().locks, 3u);
}

TEST(SceneLock, TellsWhenTheLastOneWent) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  struct Told {
    SceneGraph* graph;
    int times = 0;
    bool was_locked = false;
  } told{&graph};
  graph.set_unlock_hook(
      [](void* user) {
        auto* const self = static_cast<Told*>(user);
        ++self->times;
        self->was_locked = self->was_locked || self->graph->is_locked();
        (void)self->graph->insert(*self->graph->root(), ContainerUse::placed, handle_of(1), desc_at({}));
      },
      &told);
  graph.lock();
  graph.lock();
  graph.unlock();
  EXPECT_EQ(told.times, 0);
  graph.unlock();
  EXPECT_EQ(told.times, 1);
  EXPECT_FALSE(told.was_locked);
  EXPECT_EQ(graph.root()->container_count(), 1u);
  graph.set_unlock_hook(nullptr, nullptr);
  graph.lock();
  graph.unlock();
  EXPECT_EQ(told.times, 1);
}

// Readers on four threads, while the owner makes what is not in the world yet. For ThreadSanitizer above all.
TEST(SceneLock, ReadersAndTheOwnerDoNotMeet) {
  Furnished kit;
  SceneGraph& graph = kit.graph;
  uint64_t sum_before = 0;
  for (int round = 0; round < 20; ++round) {
    graph.lock();
    std::atomic<uint64_t> sums[4] = {};
    std::vector<std::thread> readers;
    for (auto& sum : sums) {
      readers.emplace_back([&graph, &sum] {
        uint64_t all = 0;
        std::vector<uint32_t> nodes(graph.hierarchy().roots().begin(), graph.hierarchy().roots().end());
        while (!nodes.empty()) {
          const BoxHierarchy::Node& node = graph.hierarchy().node(nodes.back());
          nodes.pop_back();
          for (const uint32_t child : node.child) {
            if (child == BoxHierarchy::kNone) continue;
            if ((child & BoxHierarchy::kItem) == 0) {
              nodes.push_back(child);
              continue;
            }
            const uint32_t c = child & ~BoxHierarchy::kItem;
            const ContainerView& view = graph.containers().views[c];
            const DescLanes lanes = desc_lanes(view);
            all += graph.containers().bounds[c].masks + graph.containers().sub_blocks[c * kContainerSubBlocks].masks;
            all += graph.node_bounds()[view.node].masks + graph.node_at(view.node)->flags();
            for (uint32_t slot = 0; slot < view.slots; ++slot)
              all += lanes.mask[slot] + lanes.distance[slot] + entity_in(view, slot).slot;
          }
        }
        sum = all;
      });
    }
    StreamedNode& made = *graph.create_streamed();
    EXPECT_TRUE(graph.add_blocks(made, kit.map.view(handle_of(50))).ok());
    for (uint32_t i = 0; i < 40; ++i)
      EXPECT_TRUE(graph.insert(made, ContainerUse::placed, handle_of(i), desc_at({})).ok());
    EXPECT_TRUE(graph.set_light(handle_of(4), desc_at({4, float(round), 0})).ok());
    EXPECT_TRUE(graph.destroy(made).ok());
    for (std::thread& reader : readers) reader.join();
    if (round == 0) sum_before = sums[0];
    for (const auto& sum : sums) EXPECT_EQ(sum, sum_before);
    graph.unlock();
  }
}

}  // namespace
}  // namespace meridian
