// SPDX-License-Identifier: MIT
#include "meridian/scene/scene_node.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "meridian/core/game_config.h"
#include "unit/runtime/scene/scene_kit.h"

// SG-2 and SG-3: the tree of nodes, their numbers, their pools.

namespace meridian {
namespace {

using test::broke;
using test::BrokenContracts;
using test::CapturedLog;
using test::SceneKit;

std::vector<SceneNode*> children_of(const SceneNode& node) {
  std::vector<SceneNode*> out;
  const SceneNode* before = nullptr;
  for (SceneNode* child = node.first_child(); child != nullptr; child = child->next()) {
    EXPECT_EQ(child->parent(), &node);
    EXPECT_EQ(child->previous(), before);
    before = child;
    out.push_back(child);
  }
  EXPECT_EQ(node.last_child(), before);
  return out;
}

/// The order that a visitor should see, by recursion.
void visit(SceneNode& node, const std::set<const SceneNode*>& skipped, std::vector<SceneNode*>& out) {
  out.push_back(&node);
  if (skipped.count(&node) != 0) return;
  for (SceneNode* child : children_of(node)) visit(*child, skipped, out);
}
std::vector<SceneNode*> walked(SceneNode& top, const std::set<const SceneNode*>& skipped) {
  std::vector<SceneNode*> out;
  for (SceneWalk walk(&top); walk.node() != nullptr;) {
    out.push_back(walk.node());
    if (skipped.count(walk.node()) != 0) {
      walk.skip_children();
    } else {
      walk.next();
    }
  }
  return out;
}

TEST(SceneNode, NewNodesStandNowhere) {  // SG-2
  SceneKit kit;
  const SceneNode* const nodes[] = {kit.graph.create_streamed(), kit.graph.create_interior(), kit.graph.create_room(),
                                    kit.graph.create_portal()};
  const NodeType types[] = {NodeType::streamed, NodeType::interior, NodeType::room, NodeType::portal};
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_NE(nodes[i], nullptr);
    EXPECT_EQ(nodes[i]->type(), types[i]);
    EXPECT_FALSE(nodes[i]->is_in_world());
    EXPECT_TRUE(nodes[i]->is_enabled());
    EXPECT_EQ(nodes[i]->parent(), nullptr);
    EXPECT_EQ(nodes[i]->first_child(), nullptr);
    EXPECT_EQ(nodes[i]->first_container(), kNoContainer);
    EXPECT_EQ(kit.graph.node_at(nodes[i]->index()), nodes[i]);
  }
  EXPECT_EQ(kit.graph.root()->type(), NodeType::exterior);
  EXPECT_TRUE(kit.graph.root()->is_in_world());
}

TEST(SceneNode, ChildrenComeOffFromAnyPlace) {  // SG-2
  for (size_t taken = 0; taken < 3; ++taken) {
    SCOPED_TRACE(taken);
    SceneKit kit;
    SceneGraph& graph = kit.graph;
    std::vector<SceneNode*> rest;
    for (int i = 0; i < 3; ++i) {
      rest.push_back(graph.create_streamed());
      ASSERT_TRUE(graph.append(*graph.root(), *rest.back()).ok());
    }
    EXPECT_EQ(children_of(*graph.root()), rest);
    SceneNode& node = *rest[taken];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(taken));
    ASSERT_TRUE(graph.unlink(node).ok());
    EXPECT_EQ(children_of(*graph.root()), rest);
    EXPECT_EQ(node.parent(), nullptr);
    EXPECT_EQ(node.next(), nullptr);
    EXPECT_EQ(node.previous(), nullptr);
    EXPECT_FALSE(node.is_in_world());
    EXPECT_EQ(graph.unlink(node).code, StatusCode::not_found);
    EXPECT_EQ(children_of(*graph.root()), rest);
    ASSERT_TRUE(graph.append(*graph.root(), node).ok());  // again, at the end
    rest.push_back(&node);
    EXPECT_EQ(children_of(*graph.root()), rest);
  }
}

TEST(SceneNode, BeingInTheWorldFollowsTheWholeBranch) {  // SG-2
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  InteriorNode& house = *graph.create_interior();
  RoomNode& limbo = *graph.create_room();
  PortalNode& door = *graph.create_portal();
  ASSERT_TRUE(graph.append(house, limbo).ok());
  ASSERT_TRUE(graph.append(house, door).ok());
  EXPECT_FALSE(limbo.is_in_world());
  ASSERT_TRUE(graph.append(*graph.root(), house).ok());
  EXPECT_TRUE(house.is_in_world() && limbo.is_in_world() && door.is_in_world());
  ASSERT_TRUE(graph.unlink(house).ok());
  EXPECT_FALSE(house.is_in_world() || limbo.is_in_world() || door.is_in_world());
  EXPECT_EQ(limbo.parent(), &house);
}

TEST(SceneNode, WrongAppendsAreRefused) {  // SG-2
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  StreamedNode &a = *graph.create_streamed(), &b = *graph.create_streamed(), &c = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), a).ok());
  ASSERT_TRUE(graph.append(b, c).ok());
  const auto before = test::seen_by_readers(graph);
  BrokenContracts contracts;
  EXPECT_EQ(graph.append(b, a).code, StatusCode::in_use);  // has a parent
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(graph.append(a, *graph.root()).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(graph.append(b, b).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(graph.append(c, b).code, StatusCode::in_use);  // below itself
  contracts.take();
  EXPECT_EQ(graph.destroy(*graph.root()).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(graph.unlink(*graph.root()).code, StatusCode::not_found);
  EXPECT_EQ(test::seen_by_readers(graph), before);
}

TEST(SceneNode, WalksLikeRecursionAndCanSkip) {  // SG-2
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    SceneKit kit({.streamed_nodes = 40,
                  .interior_nodes = 1,
                  .room_nodes = 1,
                  .portal_nodes = 1,
                  .containers = 1,
                  .fixed_containers = 1,
                  .soa_containers = 1,
                  .lights = 1,
                  .light_updates = 1,
                  .descriptors = 64});
    std::vector<SceneNode*> nodes{kit.graph.root()};
    const uint32_t count = random.below(40);
    const bool is_deep = random.below(2) == 0;
    for (uint32_t i = 0; i < count; ++i) {
      SceneNode* const node = kit.graph.create_streamed();
      const auto all = static_cast<uint32_t>(nodes.size());
      SceneNode& parent = *nodes[is_deep && random.below(4) != 0 ? all - 1 : random.below(all)];
      ASSERT_TRUE(kit.graph.append(parent, *node).ok());
      nodes.push_back(node);
    }
    std::set<const SceneNode*> skipped;
    for (const SceneNode* node : nodes)
      if (random.below(4) == 0) skipped.insert(node);
    for (SceneNode* top : nodes) {
      std::vector<SceneNode*> all, some;
      visit(*top, {}, all);
      visit(*top, skipped, some);
      EXPECT_EQ(walked(*top, {}), all);
      EXPECT_EQ(walked(*top, skipped), some);
    }
  }
  SceneWalk none(nullptr);
  EXPECT_EQ(none.node(), nullptr);
  none.next();
  none.skip_children();
  EXPECT_EQ(none.node(), nullptr);
}

TEST(SceneNode, NumbersAreDenseAndInTheOrderOfTypes) {  // SG-3
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const SceneCapacities& c = graph.capacities();
  EXPECT_EQ(graph.node_capacity(), 1 + c.streamed_nodes + c.interior_nodes + c.room_nodes + c.portal_nodes);
  EXPECT_EQ(graph.root()->index(), 0);
  std::set<uint32_t> seen{0};
  const auto check = [&](const SceneNode* node, uint32_t first, uint32_t count) {
    ASSERT_NE(node, nullptr);
    EXPECT_GE(node->index(), first);
    EXPECT_LT(node->index(), first + count);
    EXPECT_TRUE(seen.insert(node->index()).second);
    EXPECT_EQ(graph.node_at(node->index()), node);
  };
  uint32_t first = 1;
  for (uint32_t i = 0; i < c.streamed_nodes; ++i) check(graph.create_streamed(), first, c.streamed_nodes);
  first += c.streamed_nodes;
  for (uint32_t i = 0; i < c.interior_nodes; ++i) check(graph.create_interior(), first, c.interior_nodes);
  first += c.interior_nodes;
  for (uint32_t i = 0; i < c.room_nodes; ++i) check(graph.create_room(), first, c.room_nodes);
  first += c.room_nodes;
  for (uint32_t i = 0; i < c.portal_nodes; ++i) check(graph.create_portal(), first, c.portal_nodes);
  EXPECT_EQ(seen.size(), graph.node_capacity());
  EXPECT_EQ(graph.node_at(graph.node_capacity()), nullptr);
  EXPECT_EQ(graph.node_at(0xFFFFFFFF), nullptr);
  EXPECT_EQ(graph.node_bounds().size(), graph.node_capacity());
}

TEST(SceneNode, FullPoolsSaySoOnceByTheirNames) {  // SG-3
  CapturedLog log;
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const SceneCapacities& c = graph.capacities();
  EXPECT_TRUE(graph.has_room_for(c.streamed_nodes, c.interior_nodes, c.room_nodes, c.portal_nodes));
  EXPECT_FALSE(graph.has_room_for(c.streamed_nodes + 1, 0, 0, 0));
  EXPECT_FALSE(graph.has_room_for(0, 0xFFFFFFFF, 0, 0));
  SceneNode* last = nullptr;
  while (SceneNode* const node = graph.create_streamed()) last = node;
  EXPECT_EQ(graph.create_streamed(), nullptr);
  while (graph.create_interior() != nullptr) {
  }
  while (graph.create_room() != nullptr) {
  }
  while (graph.create_portal() != nullptr) {
  }
  EXPECT_EQ(graph.create_portal(), nullptr);
  ASSERT_EQ(log.count(), 4u) << log.all();
  const char* const names[] = {"fwStreamedSceneGraphNode", "fwInteriorSceneGraphNode", "fwRoomSceneGraphNode",
                               "fwPortalSceneGraphNode"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(log.said()[i].name, hash_name(names[i]));
    EXPECT_NE(log.said()[i].text.find(std::string("raise PoolSize '") + names[i] + "'"), std::string::npos);
  }
  EXPECT_TRUE(graph.has_room_for(0, 0, 0, 0));
  EXPECT_FALSE(graph.has_room_for(1, 0, 0, 0));
  EXPECT_FALSE(graph.has_room_for(0, 0, 1, 0));
  EXPECT_FALSE(graph.has_room_for(0, 0, 0, 1));
  ASSERT_TRUE(graph.destroy(*last).ok());  // the map that waits gets its turn
  EXPECT_TRUE(graph.has_room_for(1, 0, 0, 0));
  EXPECT_FALSE(graph.has_room_for(1, 1, 0, 0));
  EXPECT_NE(graph.create_streamed(), nullptr);
}

TEST(SceneNode, DestroyingTakesTheWholeBranchAndItsContainers) {  // SG-2, SG-3
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  InteriorNode& house = *graph.create_interior();
  RoomNode* const rooms[] = {graph.create_room(), graph.create_room()};
  for (RoomNode* room : rooms) {
    ASSERT_TRUE(graph.append(house, *room).ok());
    ASSERT_TRUE(graph.insert(*room, ContainerUse::placed, test::handle_of(1), test::desc_at({})).ok());
  }
  ASSERT_TRUE(graph.append(*graph.root(), house).ok());
  EXPECT_EQ(graph.used_containers(), 2u);
  EXPECT_GT(graph.desc_pool().stats().used_bytes, 0u);
  const uint16_t index = rooms[1]->index();
  ASSERT_TRUE(graph.destroy(house).ok());
  EXPECT_EQ(graph.node_at(index), nullptr);
  EXPECT_EQ(graph.used_containers(), 0u);
  EXPECT_EQ(graph.desc_pool().stats().used_bytes, 0u);
  EXPECT_EQ(graph.root()->first_child(), nullptr);
  const SceneCapacities& c = graph.capacities();
  EXPECT_TRUE(graph.has_room_for(c.streamed_nodes, c.interior_nodes, c.room_nodes, c.portal_nodes));
  graph.lock();
  test::check_bounds(graph, true);
  graph.unlock();
}

TEST(SceneNode, DisabledNodesHideWhatIsBelow) {  // SG-2
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  InteriorNode& house = *graph.create_interior();
  RoomNode& room = *graph.create_room();
  ASSERT_TRUE(graph.append(house, room).ok());
  ASSERT_TRUE(graph.append(*graph.root(), house).ok());
  const SceneSlot slot = graph.insert(room, ContainerUse::placed, test::handle_of(1), test::desc_at({})).value();
  const ContainerView& view = graph.containers().views[slot.container];
  EXPECT_EQ(view.flags & (kContainerInWorld | kContainerInterior), kContainerInWorld | kContainerInterior);
  EXPECT_EQ(view.node, room.index());
  EXPECT_TRUE(graph.hierarchy().contains(slot.container));
  ASSERT_TRUE(graph.set_enabled(house, false).ok());
  EXPECT_FALSE(house.is_enabled());
  EXPECT_TRUE(room.is_enabled());
  EXPECT_EQ(view.flags & kContainerInWorld, 0u);
  EXPECT_FALSE(graph.hierarchy().contains(slot.container));
  ASSERT_TRUE(graph.set_enabled(room, false).ok());
  ASSERT_TRUE(graph.set_enabled(house, true).ok());
  EXPECT_FALSE(graph.hierarchy().contains(slot.container));
  ASSERT_TRUE(graph.set_enabled(room, true).ok());
  EXPECT_TRUE(graph.hierarchy().contains(slot.container));
}

TEST(SceneNode, FlagsOfMapsAreSetAndTakenAway) {  // SG-2
  SceneKit kit;
  StreamedNode& town = *kit.graph.create_streamed();
  kit.graph.set_node_flag(town, kNodeSpawnPoints, true);
  kit.graph.set_node_flag(town, kNodeHd, true);
  EXPECT_EQ(town.flags(), kNodeEnabled | kNodeSpawnPoints | kNodeHd);
  kit.graph.set_node_flag(town, kNodeSpawnPoints, false);
  EXPECT_EQ(town.flags(), kNodeEnabled | kNodeHd);
  BrokenContracts contracts;
  kit.graph.set_node_flag(town, kNodeInWorld, true);  // follows from the tree
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(town.is_in_world());
}

// SG-3: nodes and containers in one block, which the report shows as one class.
TEST(SceneGraph, MemoryIsAccountedForToTheByte) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  {
    SceneGraph graph;
    ASSERT_TRUE(graph.init(test::kSmallScene, memory, &tracker).ok());
    EXPECT_EQ(tracker.total_bytes(), memory.bytes());
    MemoryRow rows[16];
    size_t found = 0;
    ASSERT_TRUE(tracker.rows(rows, found).ok());
    size_t pools = 0, classes = 0;
    uint64_t in_class = 0, class_bytes = 0;
    for (const MemoryRow& row : std::span(rows, found)) {
      if (std::strcmp(row.name, "SceneGraph") == 0) {
        ++classes;
        class_bytes = row.bytes;
        EXPECT_LE(row.used, 2u);  // the block, and the hierarchy
      }
      if (row.within == nullptr) continue;
      EXPECT_STREQ(row.within, "SceneGraph");
      in_class += row.bytes;
      ++pools;
    }
    EXPECT_EQ(classes, 1u);
    EXPECT_EQ(pools, 4u);
    EXPECT_LE(in_class, class_bytes);
    // Nodes of all kinds, and the tables, lie between two addresses of one block.
    const auto address = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
    const uintptr_t places[] = {address(graph.root()),
                                address(graph.create_streamed()),
                                address(graph.create_interior()),
                                address(graph.create_room()),
                                address(graph.create_portal()),
                                address(graph.containers().views.data()),
                                address(graph.containers().bounds.data()),
                                address(graph.containers().sub_blocks.data()),
                                address(graph.containers().sub_boxes.data()),
                                address(graph.node_bounds().data())};
    const auto [low, high] = std::minmax_element(std::begin(places), std::end(places));
    EXPECT_LT(*high - *low, class_bytes);
    EXPECT_EQ(memory.blocks(), 3u);  // and the pool of descriptors
  }
  EXPECT_EQ(tracker.total_bytes(), 0u);
}

TEST(SceneGraph, WithoutMemoryThereIsNoSceneAndNothingLeaks) {  // SG-3
  for (int allocations = 0; allocations < 3; ++allocations) {
    SCOPED_TRACE(allocations);
    test::CheckedMemory memory;
    MemoryTracker tracker;
    {
      SceneGraph graph;
      memory.fail_after(allocations);
      EXPECT_EQ(graph.init(test::kSmallScene, memory, &tracker).code, StatusCode::out_of_memory);
    }
    EXPECT_EQ(tracker.total_bytes(), 0u);
    EXPECT_EQ(memory.bytes(), 0u);
  }
}

TEST(SceneGraph, InitChecksWhatItIsGiven) {  // SG-3
  test::CheckedMemory memory;
  MemoryTracker tracker;
  const auto init = [&](SceneCapacities capacities) {
    SceneGraph graph;
    return graph.init(capacities, memory, &tracker).code;
  };
  SceneCapacities small = test::kSmallScene;
  small.streamed_nodes = 65535 - 1 - small.interior_nodes - small.room_nodes - small.portal_nodes;
  EXPECT_EQ(init(small), StatusCode::ok);  // 65 535 nodes
  ++small.streamed_nodes;
  EXPECT_EQ(init(small), StatusCode::too_large);
  small.streamed_nodes = 0xFFFFFFFF;
  EXPECT_EQ(init(small), StatusCode::too_large);
  for (uint32_t SceneCapacities::*const kind :
       {&SceneCapacities::containers, &SceneCapacities::fixed_containers, &SceneCapacities::soa_containers}) {
    SceneCapacities many = test::kSmallScene;
    many.*kind = 0xFFFFFFFF;  // sums of 32 bits would wrap
    EXPECT_EQ(init(many), StatusCode::too_large);
    many.*kind = 0x20000000;
    EXPECT_EQ(init(many), StatusCode::too_large);
  }
  SceneKit twice;
  BrokenContracts contracts;
  EXPECT_EQ(twice.graph.init(test::kSmallScene, memory, &tracker).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
}

TEST(SceneGraph, CapacitiesComeFromTheGameConfig) {  // SG-3
  GameConfig config;
  const SceneCapacities defaults = scene_capacities(config).value();
  EXPECT_EQ(defaults.streamed_nodes, 1000u);
  EXPECT_EQ(defaults.interior_nodes, 150u);
  EXPECT_EQ(defaults.room_nodes, 256u);
  EXPECT_EQ(defaults.portal_nodes, 400u);
  EXPECT_EQ(defaults.containers, 800u);
  EXPECT_EQ(defaults.fixed_containers, 2u);
  EXPECT_EQ(defaults.soa_containers, 1000u);
  EXPECT_EQ(defaults.descriptors, 64000u);

  const PoolSizeRow rows[] = {
      {hash_name("fwStreamedSceneGraphNode"), 2001}, {hash_name("fwInteriorSceneGraphNode"), 2002},
      {hash_name("fwRoomSceneGraphNode"), 2003},     {hash_name("fwPortalSceneGraphNode"), 2004},
      {hash_name("fwEntityContainer"), 2005},        {hash_name("fwFixedEntityContainer"), 2006},
      {hash_name("fwSoAEntityContainer"), 2007},     {hash_name("fwLightEntity"), 20008},
      {hash_name("fwEntityDescPool"), 200009}};
  const ConfigSource source[] = {{.pools = rows}};
  ASSERT_TRUE(config.load(source, {}).ok());
  const SceneCapacities own = scene_capacities(config).value();
  EXPECT_EQ(own.streamed_nodes, 2001u);
  EXPECT_EQ(own.interior_nodes, 2002u);
  EXPECT_EQ(own.room_nodes, 2003u);
  EXPECT_EQ(own.portal_nodes, 2004u);
  EXPECT_EQ(own.containers, 2005u);
  EXPECT_EQ(own.fixed_containers, 2006u);
  EXPECT_EQ(own.soa_containers, 2007u);
  EXPECT_EQ(own.lights, 20008u);
  EXPECT_EQ(own.descriptors, 200009u);

  GameConfig huge;
  const PoolSizeRow too_many[] = {{hash_name("fwRoomSceneGraphNode"), 70000}};
  const ConfigSource huge_source[] = {{.pools = too_many}};
  ASSERT_TRUE(huge.load(huge_source, {}).ok());
  EXPECT_EQ(scene_capacities(huge).status().code, StatusCode::too_large);
}

}  // namespace
}  // namespace meridian
