// SPDX-License-Identifier: MIT
#include "meridian/scene/scene_graph.h"

#include <gtest/gtest.h>

#include <limits>

#include "unit/runtime/scene/scene_kit.h"

// SG-5 to SG-7, DESC-1 to DESC-5: containers of a scene, what stands in them, and the bounds that follow.

namespace meridian {
namespace {

using test::broke;
using test::BrokenContracts;
using test::CapturedLog;
using test::chain_of;
using test::check_bounds;
using test::desc_at;
using test::handle_of;
using test::SceneKit;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinite = std::numeric_limits<float>::infinity(),
                kMost = std::numeric_limits<float>::max();

/// Takes the lock once, so that all is tight, and looks at everything.
void check_tight(SceneGraph& graph) {
  graph.lock();
  check_bounds(graph, true);
  graph.unlock();
}

SceneSlot insert(SceneGraph& graph, SceneNode& node, ContainerUse use, uint32_t n, const EntityDesc& desc) {
  const Result<SceneSlot> slot = graph.insert(node, use, handle_of(n), desc);
  EXPECT_TRUE(slot.ok()) << slot.status().message;
  return slot.ok() ? slot.value() : SceneSlot{};
}

// --- chains ----------------------------------------------------------------------------------------------

// SG-6: the first, a middle one, the last; seed 004 section 6 nr 3 did nothing for the first and crashed where the
// container was not there.
TEST(SceneContainers, ComeOffTheirNodeFromAnyPlace) {
  for (size_t taken = 0; taken < 3; ++taken) {
    SCOPED_TRACE(taken);
    SceneKit kit;
    SceneGraph& graph = kit.graph;
    StreamedNode &town = *graph.create_streamed(), &other = *graph.create_streamed();
    ASSERT_TRUE(graph.append(*graph.root(), town).ok());
    ASSERT_TRUE(graph.append(*graph.root(), other).ok());
    Random random(7);
    const test::MapBlocks map = test::random_map(random, 800);  // three containers
    ASSERT_TRUE(graph.add_blocks(town, map.view(handle_of(0))).ok());
    std::vector<uint32_t> rest = chain_of(graph, town);
    ASSERT_EQ(rest.size(), 3u);
    check_tight(graph);
    const uint32_t container = rest[taken];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(taken));

    ASSERT_TRUE(graph.unlink_container(town, container).ok());
    EXPECT_EQ(chain_of(graph, town), rest);
    EXPECT_EQ(graph.node_of(container), nullptr);
    EXPECT_FALSE(graph.hierarchy().contains(container));
    EXPECT_EQ(graph.containers().views[container].flags, kContainerUsed);
    check_tight(graph);

    // One that is not in the chain is an error, and nothing changes.
    const auto before = test::seen_by_readers(graph);
    EXPECT_EQ(graph.unlink_container(town, container).code, StatusCode::not_found);
    EXPECT_EQ(graph.unlink_container(other, rest[0]).code, StatusCode::not_found);
    EXPECT_EQ(graph.unlink_container(other, container).code, StatusCode::not_found);
    EXPECT_EQ(graph.unlink_container(town, kNoContainer).code, StatusCode::not_found);
    EXPECT_EQ(graph.unlink_container(town, 0).code, StatusCode::not_found);  // not in use
    EXPECT_EQ(test::seen_by_readers(graph), before);

    // Its descriptors are still there, and it may come back, elsewhere too.
    EXPECT_EQ(graph.link_container(town, rest[0]).code, StatusCode::in_use);
    EXPECT_EQ(graph.link_container(town, kNoContainer).code, StatusCode::in_use);
    EXPECT_EQ(graph.link_container(town, 0).code, StatusCode::in_use);
    EXPECT_EQ(test::seen_by_readers(graph), before);
    ASSERT_TRUE(graph.link_container(other, container).ok());
    EXPECT_EQ(chain_of(graph, other), std::vector<uint32_t>{container});
    EXPECT_EQ(graph.containers().views[container].node, other.index());
    EXPECT_TRUE(graph.hierarchy().contains(container));
    check_tight(graph);
    ASSERT_TRUE(graph.unlink_container(other, container).ok());
    ASSERT_TRUE(graph.destroy_container(container).ok());
    EXPECT_EQ(graph.destroy_container(container).code, StatusCode::not_found);
    EXPECT_EQ(graph.destroy_container(kNoContainer).code, StatusCode::not_found);
    check_tight(graph);
    for (const uint32_t left : rest) ASSERT_TRUE(graph.destroy_container(left).ok());
    EXPECT_EQ(graph.used_containers(), 0u);
    EXPECT_EQ(graph.desc_pool().stats().used_bytes, 0u);
    check_tight(graph);
  }
}

// SG-6: numbers that are none are a fault of the caller, and harmless.
TEST(SceneContainers, QuestionsAboutNoContainerAreHarmless) {
  SceneKit kit;
  for (const uint32_t none : {kNoContainer, static_cast<uint32_t>(kit.graph.containers().views.size())}) {
    BrokenContracts contracts;
    EXPECT_EQ(kit.graph.next_container(none), kNoContainer);
    EXPECT_TRUE(broke(contracts));
    EXPECT_EQ(kit.graph.node_of(none), nullptr);
    EXPECT_TRUE(broke(contracts));
    EXPECT_FALSE(kit.graph.is_used({none, 0}));
    EXPECT_EQ(kit.graph.erase({none, 0}).code, StatusCode::not_found);
    EXPECT_EQ(kit.graph.write({none, 0}, desc_at({})).code, StatusCode::not_found);
    EXPECT_EQ(kit.graph.set_alpha({none, 0}, 1).code, StatusCode::not_found);
    EXPECT_EQ(kit.graph.set_mask({none, 0}, 1).code, StatusCode::not_found);
    EXPECT_EQ(kit.graph.set_flags({none, 0}, 1, 1).code, StatusCode::not_found);
    EXPECT_EQ(kit.graph.read({none, 0}).distance, 0);
    EXPECT_EQ(kit.graph.link_at({none, 0}).lod_set, kNoLodSet);
  }
}

// SG-5: all of a chunk stands in one block; a node that took one of its containers along would free all of them.
TEST(SceneContainers, OfMovingEntitiesStayOutside) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  StreamedNode& town = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), town).ok());
  const SceneSlot car = insert(graph, *graph.root(), ContainerUse::dynamic, 1, desc_at({}));
  EXPECT_EQ(graph.destroy_container(car.container).code, StatusCode::in_use);
  ASSERT_TRUE(graph.unlink_container(*graph.root(), car.container).ok());
  EXPECT_EQ(graph.link_container(town, car.container).code, StatusCode::in_use);
  EXPECT_EQ(graph.node_of(car.container), nullptr);
  EXPECT_EQ(graph.destroy_container(car.container).code, StatusCode::in_use);
  ASSERT_TRUE(graph.link_container(*graph.root(), car.container).ok());
  ASSERT_TRUE(graph.destroy(town).ok());
  EXPECT_EQ(graph.read(car).distance, 100);
  check_tight(graph);
}

// --- storage of each use ---------------------------------------------------------------------------------

// SG-5: grows by half, at least 100; slots come in groups of 16, 320 at most.
TEST(SceneContainers, OfStandingEntitiesGrowByHalf) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  // By hand, half of what there is: 0, 56, 112, 168, 256, 384, 544.
  uint32_t inserted = 0;
  for (const uint32_t wanted : {112u, 112u, 112u, 176u, 256u, 320u, 320u}) {
    const SceneSlot first = insert(graph, *graph.root(), ContainerUse::placed, inserted++, desc_at({}));
    EXPECT_EQ(graph.containers().views[first.container].capacity, wanted);
    EXPECT_EQ(first.slot, 0u);
    for (uint32_t i = 1; i < wanted; ++i) {
      EXPECT_EQ(insert(graph, *graph.root(), ContainerUse::placed, inserted++, desc_at({})).container, first.container);
    }
  }
  EXPECT_EQ(chain_of(graph, *graph.root()).size(), 7u);
  check_tight(graph);
}

TEST(SceneContainers, OfRoomsAreSmall) {  // SG-5
  SceneKit kit;
  RoomNode& room = *kit.graph.create_room();
  const SceneSlot chair = insert(kit.graph, room, ContainerUse::placed, 1, desc_at({}));
  EXPECT_EQ(kit.graph.containers().views[chair.container].capacity, 16u);
  const SceneSlot dog = insert(kit.graph, room, ContainerUse::dynamic, 2, desc_at({}));  // no chunk for one room
  EXPECT_NE(dog.container, chair.container);
  EXPECT_EQ(kit.graph.containers().views[dog.container].capacity, 16u);
  EXPECT_EQ(kit.graph.containers().views[dog.container].flags, kContainerUsed | kContainerInterior | kContainerDynamic);
  EXPECT_EQ(kit.graph.desc_pool().stats().fixed_bytes, 0u);
  BrokenContracts contracts;
  EXPECT_EQ(kit.graph.insert(room, ContainerUse::straddling, handle_of(2), desc_at({})).status().code,
            StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(room.container_count(), 2u);
}

// SG-5: a free slot is used again, and a container that is empty goes.
TEST(SceneContainers, SlotsAreUsedAgain) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  std::vector<SceneSlot> slots;
  for (uint32_t i = 0; i < 112; ++i)
    slots.push_back(insert(graph, *graph.root(), ContainerUse::placed, i, desc_at({float(i), 0, 0})));
  ASSERT_TRUE(graph.erase(slots[40]).ok());
  ASSERT_TRUE(graph.erase(slots[17]).ok());
  EXPECT_EQ(graph.erase(slots[17]).code, StatusCode::not_found);  // once, never twice (P088)
  EXPECT_FALSE(graph.is_used(slots[17]));
  EXPECT_EQ(graph.read(slots[17]).distance, 0);
  EXPECT_EQ(insert(graph, *graph.root(), ContainerUse::placed, 1000, desc_at({})), slots[17]);
  EXPECT_EQ(insert(graph, *graph.root(), ContainerUse::placed, 1001, desc_at({})), slots[40]);
  const ContainerView& view = graph.containers().views[slots[0].container];
  EXPECT_EQ(view.handles[17], handle_of(1000));
  EXPECT_EQ(entity_in(view, 40), handle_of(1001));
  for (const SceneSlot slot : slots) ASSERT_TRUE(graph.erase(slot).ok());
  EXPECT_EQ(graph.used_containers(), 0u);
  EXPECT_EQ(view.flags, 0u);
  EXPECT_EQ(graph.root()->first_container(), kNoContainer);
  EXPECT_EQ(graph.desc_pool().stats().used_bytes, 0u);
  for (const SceneSlot slot : slots) EXPECT_EQ(graph.erase(slot).code, StatusCode::not_found);
  check_tight(graph);
}

// SG-5, DESC-5: addresses in a chunk of 2 560 never move, whatever happens around them.
TEST(SceneContainers, DescriptorsOfMovingEntitiesKeepTheirAddresses) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  Random random(11);
  StreamedNode& town = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), town).ok());
  std::vector<std::pair<SceneNode*, SceneSlot>> placed;
  for (uint32_t i = 0; i < 300; ++i)  // below, before the chunk is there
    placed.push_back({&town, insert(graph, town, ContainerUse::placed, i, test::random_desc(random))});

  std::vector<EntityDesc> descs;
  std::vector<SceneSlot> slots;
  std::vector<const void*> addresses;
  for (uint32_t i = 0; i < kDynamicChunk; ++i) {
    descs.push_back(test::random_desc(random));
    slots.push_back(insert(graph, *graph.root(), ContainerUse::dynamic, 10000 + i, descs.back()));
    addresses.push_back(&desc_lanes(graph.containers().views[slots[i].container]).centre_x[slots[i].slot]);
  }
  EXPECT_EQ(chain_of(graph, *graph.root()).size(), kChunkContainers);
  EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(1), desc_at({})).status().code,
            StatusCode::out_of_slots);  // there is one chunk

  uint64_t moved = 0;
  for (int change = 0; change < 10000; ++change) {
    const uint32_t which = random.below(8);
    if (which < 4 && !placed.empty()) {
      const uint32_t i = random.below(static_cast<uint32_t>(placed.size()));
      ASSERT_TRUE(graph.erase(placed[i].second).ok());
      placed[i] = placed.back();
      placed.pop_back();
    } else if (which < 7) {
      const Result<SceneSlot> slot = graph.insert(town, ContainerUse::placed, handle_of(1), test::random_desc(random));
      if (slot.ok()) placed.push_back({&town, slot.value()});
    } else {
      const uint32_t i = random.below(kDynamicChunk);
      descs[i] = test::random_desc(random);
      ASSERT_TRUE(graph.write(slots[i], descs[i]).ok());
    }
    if (change % 64 == 0) {
      const test::MapBlocks map = test::random_map(random, 1 + random.below(900));
      if (graph.add_blocks(town, map.view(handle_of(5))).ok()) {
        for (const uint32_t c : chain_of(graph, town)) {
          if (graph.containers().views[c].handles != nullptr || random.below(4) == 0) continue;
          ASSERT_TRUE(graph.destroy_container(c).ok());
        }
      }
      graph.pre_scan(4096);
    }
    moved = graph.statistics().compacted_bytes;
  }
  EXPECT_GT(moved, 0u) << "nothing was compacted: the test says nothing";
  for (uint32_t i = 0; i < kDynamicChunk; ++i) {
    const ContainerView& view = graph.containers().views[slots[i].container];
    ASSERT_EQ(&desc_lanes(view).centre_x[slots[i].slot], addresses[i]);
    ASSERT_EQ(view.handles[slots[i].slot], handle_of(10000 + i));
    test::expect_same(graph.read(slots[i]), test::Stored(descs[i], slots[i].slot).desc);
  }
  EXPECT_NE(graph.containers().views[slots[0].container].flags & kContainerDynamic, 0u);
  check_tight(graph);
}

// SG-5, PERF-1: entities that move stand with their neighbours, in whatever order they come, while there is room; at the
// end any free slot will do.
TEST(SceneContainers, WhatMovesStandsWithItsNeighbours) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  // Eight squares, five kilometres apart, with as many in each as a container takes.
  constexpr uint32_t kPlaces = kDynamicChunk / kContainerSlots;
  std::vector<uint32_t> order(kDynamicChunk);
  for (uint32_t i = 0; i < kDynamicChunk; ++i) order[i] = i;
  Random random(41);
  for (uint32_t i = kDynamicChunk; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<SceneSlot> slots(kDynamicChunk);
  for (const uint32_t i : order) {
    const auto place = static_cast<float>(i % kPlaces);
    const Vec3 at{place * 5000 + random.between(-20.0f, 20.0f), random.between(-20.0f, 20.0f), 3};
    slots[i] = insert(graph, *graph.root(), ContainerUse::dynamic, i, desc_at(at));
  }
  for (uint32_t i = 0; i < kDynamicChunk; ++i)
    EXPECT_EQ(slots[i].container, slots[i % kPlaces].container) << i;  // as the first one of its place
  for (uint32_t a = 0; a < kPlaces; ++a)
    for (uint32_t b = 0; b < a; ++b) EXPECT_NE(slots[a].container, slots[b].container);
  graph.lock();
  for (uint32_t place = 0; place < kPlaces; ++place) {
    const DescBounds& bounds = graph.containers().bounds[slots[place].container];
    EXPECT_LT(bounds.box_max.x - bounds.box_min.x, 50);
  }
  graph.unlock();
  // The one free slot is far from where the next one stands.
  ASSERT_TRUE(graph.erase(slots[7]).ok());
  EXPECT_EQ(insert(graph, *graph.root(), ContainerUse::dynamic, 1, desc_at({-30000, 0, 0})), slots[7]);
}

TEST(SceneContainers, SixtyFourStraddleAPortal) {  // SG-5
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  std::vector<SceneSlot> slots;
  for (uint32_t i = 0; i < 64; ++i)
    slots.push_back(insert(graph, *graph.root(), ContainerUse::straddling, i, desc_at({})));
  EXPECT_EQ(graph.root()->container_count(), 1u);
  EXPECT_EQ(graph.containers().views[slots[0].container].flags,
            kContainerUsed | kContainerInWorld | kContainerStraddling | kContainerDynamic);
  const Status full = graph.insert(*graph.root(), ContainerUse::straddling, handle_of(64), desc_at({})).status();
  EXPECT_EQ(full.code, StatusCode::out_of_slots);
  EXPECT_EQ(full.detail, 64u);
  // What stands still does not go there.
  EXPECT_NE(insert(graph, *graph.root(), ContainerUse::placed, 65, desc_at({})).container, slots[0].container);
  ASSERT_TRUE(graph.erase(slots[9]).ok());
  EXPECT_EQ(insert(graph, *graph.root(), ContainerUse::straddling, 66, desc_at({})), slots[9]);
}

// SG-3: each of the three pools says once that it is full, by its own name.
TEST(SceneContainers, FullPoolsSaySoOnceByTheirNames) {
  CapturedLog log;
  SceneKit kit({.streamed_nodes = 1,
                .interior_nodes = 1,
                .room_nodes = 4,
                .portal_nodes = 1,
                .containers = 2,
                .fixed_containers = 1,
                .soa_containers = 2,
                .lights = 1,
                .light_updates = 1,
                .descriptors = 16384});
  SceneGraph& graph = kit.graph;
  StreamedNode& town = *graph.create_streamed();
  Random random(3);
  const test::MapBlocks three = test::random_map(random, 900), two = test::random_map(random, 600);
  const Status none = graph.add_blocks(town, three.view(handle_of(0)));
  EXPECT_EQ(none.code, StatusCode::out_of_slots);
  EXPECT_EQ(none.detail, 3u);
  EXPECT_EQ(town.container_count(), 0u);  // all or none
  EXPECT_EQ(graph.used_containers(), 0u);
  EXPECT_EQ(graph.desc_pool().stats().used_bytes, 0u);
  EXPECT_EQ(graph.add_blocks(town, three.view(handle_of(0))).code, StatusCode::out_of_slots);
  ASSERT_TRUE(graph.add_blocks(town, two.view(handle_of(0))).ok());
  RoomNode* rooms[3];
  for (RoomNode*& room : rooms) room = graph.create_room();
  for (uint32_t i = 0; i < 2; ++i) insert(graph, *rooms[i], ContainerUse::placed, i, desc_at({}));
  for (uint32_t i = 0; i < kDynamicChunk; ++i) insert(graph, *graph.root(), ContainerUse::dynamic, i, desc_at({}));
  const auto before = test::seen_by_readers(graph);
  const uint64_t bytes = graph.desc_pool().stats().used_bytes;
  for (int again = 0; again < 2; ++again) {  // all three are full now, and say so each
    EXPECT_EQ(graph.insert(*rooms[2], ContainerUse::placed, handle_of(9), desc_at({})).status().code,
              StatusCode::out_of_slots);
    EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(9), desc_at({})).status().code,
              StatusCode::out_of_slots);
  }
  EXPECT_EQ(test::seen_by_readers(graph), before);
  EXPECT_EQ(graph.desc_pool().stats().used_bytes, bytes);
  ASSERT_EQ(log.count(), 3u) << log.all();
  const char* const names[] = {"fwSoAEntityContainer", "fwEntityContainer", "fwFixedEntityContainer"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(log.said()[i].name, hash_name(names[i]));
    EXPECT_NE(log.said()[i].text.find(std::string("raise PoolSize '") + names[i] + "'"), std::string::npos);
  }
}

// DESC-5: where bytes run out, everything is as it was.
TEST(SceneContainers, AFullPoolOfDescriptorsChangesNothing) {
  CapturedLog log;
  SceneKit kit({.streamed_nodes = 2,
                .interior_nodes = 1,
                .room_nodes = 1,
                .portal_nodes = 1,
                .containers = 16,
                .fixed_containers = 1,
                .soa_containers = 16,
                .lights = 1,
                .light_updates = 1,
                .descriptors = 600});  // 38 400 bytes: 872 slots of maps
  SceneGraph& graph = kit.graph;
  StreamedNode& town = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), town).ok());
  Random random(5);
  const test::MapBlocks small = test::random_map(random, 100), large = test::random_map(random, 900);
  ASSERT_TRUE(graph.add_blocks(town, small.view(handle_of(0))).ok());
  check_tight(graph);
  const auto before = test::seen_by_readers(graph);
  const uint64_t bytes = graph.desc_pool().stats().used_bytes;
  EXPECT_EQ(graph.add_blocks(town, large.view(handle_of(100))).code, StatusCode::out_of_slots);
  EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(1), desc_at({})).status().code,
            StatusCode::too_large);  // a chunk is larger than the pool
  check_tight(graph);
  EXPECT_EQ(test::seen_by_readers(graph), before);
  EXPECT_EQ(graph.desc_pool().stats().used_bytes, bytes);
  EXPECT_EQ(graph.used_containers(), 1u);
  EXPECT_NE(log.all().find("fwEntityDescPool"), std::string::npos);
}

// --- what is refused -------------------------------------------------------------------------------------

// SG-7, SCAN-11, P078: what is not finite, also once rounded, never comes in; nothing changes.
TEST(SceneDescriptors, MustBeFiniteAndNotInsideOut) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const SceneSlot lamp = insert(graph, *graph.root(), ContainerUse::placed, 1, desc_at({1, 2, 3}));
  check_tight(graph);
  const auto before = test::seen_by_readers(graph);
  std::vector<EntityDesc> bad;
  const auto add = [&bad](auto set) {
    bad.push_back(desc_at({1, 2, 3}));
    set(bad.back());
  };
  for (const float v : {kNan, kInfinite, -kInfinite}) {
    add([v](EntityDesc& d) { d.centre.x = v; });
    add([v](EntityDesc& d) { d.centre.y = v; });
    add([v](EntityDesc& d) { d.centre.z = v; });
    add([v](EntityDesc& d) { d.half.x = v; });
    add([v](EntityDesc& d) { d.half.y = v; });
    add([v](EntityDesc& d) { d.half.z = v; });
    add([v](EntityDesc& d) { d.pivot.x = v; });
    add([v](EntityDesc& d) { d.pivot.y = v; });
    add([v](EntityDesc& d) { d.pivot.z = v; });
    add([v](EntityDesc& d) { d.distance = v; });
  }
  add([](EntityDesc& d) { d.half.x = -1e-30f; });
  add([](EntityDesc& d) { d.half.y = -1; });
  add([](EntityDesc& d) { d.half.z = -kMost; });
  add([](EntityDesc& d) { d.distance = 0; });
  add([](EntityDesc& d) { d.distance = -5; });
  add([](EntityDesc& d) { d.level = kLodLevels; });
  add([](EntityDesc& d) { d.level = 255; });
  add([](EntityDesc& d) { d.centre.x = d.half.x = kMost; });
  add([](EntityDesc& d) {  // the sum is the largest float if rounded to nearest, and infinite if rounded outwards
    d.centre.y = kMost;
    d.half.y = 0x1p90f;
  });
  add([](EntityDesc& d) {
    d.centre.z = -kMost;
    d.half.z = 0x1p100f;
  });
  for (size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::placed, handle_of(2), bad[i]).status().code,
              StatusCode::bad_value);
    EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::dynamic, handle_of(2), bad[i]).status().code,
              StatusCode::bad_value);
    EXPECT_EQ(graph.write(lamp, bad[i]).code, StatusCode::bad_value);
    EXPECT_EQ(graph.set_light(handle_of(3), bad[i]).code, StatusCode::bad_value);
  }
  EXPECT_TRUE(graph.flush_lights().ok());
  EXPECT_EQ(graph.light_count(), 0u);
  EXPECT_EQ(test::seen_by_readers(graph), before);
  EntityDesc huge = desc_at({});
  huge.half = {kMost, kMost, kMost};  // as large as can be
  EXPECT_TRUE(graph.write(lamp, huge).ok());
  check_tight(graph);
}

// --- reading back ----------------------------------------------------------------------------------------

TEST(SceneDescriptors, AreReadWithThePrecisionOfLanes) {  // DESC-2
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  Random random(21);
  for (const ContainerUse use : {ContainerUse::placed, ContainerUse::dynamic, ContainerUse::straddling}) {
    for (uint32_t i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      EntityDesc desc = test::random_desc(random);
      const SceneSlot slot = insert(graph, *graph.root(), use, i, desc);
      test::expect_same(graph.read(slot), test::Stored(desc, slot.slot).desc);
      desc = test::random_desc(random);
      ASSERT_TRUE(graph.write(slot, desc).ok());
      test::Stored wanted(desc, slot.slot);
      test::expect_same(graph.read(slot), wanted.desc);
      ASSERT_TRUE(graph.set_alpha(slot, 77).ok());
      ASSERT_TRUE(graph.set_mask(slot, 0x1234).ok());
      ASSERT_TRUE(graph.set_flags(slot, kDescHidden | kDescTimed, kDescHidden | kDescActive).ok());
      wanted.desc.alpha = 77;
      wanted.desc.mask = 0x1234;
      wanted.desc.flags = (wanted.desc.flags & ~uint32_t{kDescTimed}) | kDescHidden;  // kDescActive is not in the mask
      test::expect_same(graph.read(slot), wanted.desc);
      EXPECT_EQ(graph.link_at(slot).lod_set, kNoLodSet);
    }
  }
  check_bounds(graph, false);
  check_tight(graph);
}

// DESC-2, DESC-4: blocks of a map, LOD links among them.
TEST(SceneDescriptors, OfMapsComeAsTheyWereBuilt) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  StreamedNode& town = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), town).ok());
  Random random(31);
  const test::MapBlocks map = test::random_map(random, 777);
  const EntityHandle group{.generation = 9, .slot = 4096};
  ASSERT_TRUE(graph.add_blocks(town, map.view(group)).ok());
  check_tight(graph);  // the stored bounds are those of the descriptors
  const std::vector<uint32_t> chain = chain_of(graph, town);
  ASSERT_EQ(chain.size(), map.containers.size());
  std::vector<SceneSlot> where(777);
  for (uint32_t c = 0; c < chain.size(); ++c) {
    const ContainerView& view = graph.containers().views[chain[c]];
    EXPECT_EQ(view.handles, nullptr);
    EXPECT_EQ(view.slots, map.containers[c].count);
    for (uint32_t i = 0; i < 777; ++i) {
      const uint32_t first = map.containers[c].first_slot;
      if (map.slot_of[i] >= first && map.slot_of[i] < first + map.containers[c].count)
        where[i] = {chain[c], map.slot_of[i] - first};
    }
  }
  for (uint32_t i = 0; i < 777; ++i) {
    SCOPED_TRACE(i);
    const SceneSlot at = where[i];
    ASSERT_TRUE(at);
    const EntityDesc& desc = map.descs[i];
    EXPECT_EQ(entity_in(graph.containers().views[at.container], at.slot), entity_of_group(group, i));
    EXPECT_EQ(graph.is_used(at), desc.distance > 0);
    if (desc.distance == 0) {
      EXPECT_EQ(graph.write(at, desc_at({})).code, StatusCode::not_found);
      continue;
    }
    test::Stored wanted(desc, i, map.links, true);
    test::expect_same(graph.read(at), wanted.desc);
    const EntityLink link = graph.link_at(at);
    EXPECT_EQ(link.lod_set, desc.lod_set);
    EXPECT_EQ(link.is_parent, (desc.flags & kDescSetParent) != 0);
    if ((desc.flags & kDescLodChild) != 0) {
      EXPECT_EQ(link.parent.pivot, desc.pivot);
      EXPECT_EQ(link.parent.distance, desc.distance);
    } else {
      EXPECT_EQ(link.parent.distance, 0);
    }
    if (i % 3 == 0) {  // written anew, it stays the entity that it is
      EntityDesc other = test::random_desc(random);
      other.flags = desc.flags;
      other.lod_set = desc.lod_set;
      ASSERT_TRUE(graph.write(at, other).ok());
      test::expect_same(graph.read(at), test::Stored(other, i, map.links, true).desc);
    } else if (i % 3 == 1) {  // erased, its slot is not given to others
      ASSERT_TRUE(graph.erase(at).ok());
      EXPECT_EQ(graph.erase(at).code, StatusCode::not_found);
      EXPECT_EQ(entity_in(graph.containers().views[at.container], at.slot), entity_of_group(group, i));
    }
  }
  check_bounds(graph, false);
  check_tight(graph);
  // Hosts' entities do not go into containers of maps.
  const SceneSlot own = insert(graph, town, ContainerUse::placed, 1, desc_at({}));
  EXPECT_EQ(std::count(chain.begin(), chain.end(), own.container), 0);
}

// SG-7: a search for spawn points passes over containers that say that they have none.
TEST(SceneDescriptors, WithSpawnPointsMarkTheirContainer) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  EntityDesc desc = desc_at({});
  const auto flags = [&graph](SceneSlot slot) { return graph.containers().views[slot.container].flags; };
  const SceneSlot plain = insert(graph, *graph.root(), ContainerUse::placed, 1, desc);
  EXPECT_EQ(flags(plain) & kContainerSpawnPoints, 0u);
  desc.flags |= kDescSpawnPoints;
  const SceneSlot bench = insert(graph, *graph.root(), ContainerUse::dynamic, 2, desc);
  EXPECT_NE(flags(bench) & kContainerSpawnPoints, 0u);
  ASSERT_TRUE(graph.write(plain, desc).ok());
  EXPECT_NE(flags(plain) & kContainerSpawnPoints, 0u);
  RoomNode& room = *graph.create_room();
  const SceneSlot chair = insert(graph, room, ContainerUse::placed, 3, desc_at({}));
  ASSERT_TRUE(graph.set_flags(chair, kDescSpawnPoints, kDescSpawnPoints).ok());
  EXPECT_NE(flags(chair) & kContainerSpawnPoints, 0u);
  ASSERT_TRUE(graph.set_light(handle_of(4), desc).ok());
  ASSERT_TRUE(graph.flush_lights().ok());
  bool is_marked = false;
  for (const ContainerView& view : graph.containers().views) {
    if ((view.flags & kContainerLights) != 0) is_marked = (view.flags & kContainerSpawnPoints) != 0;
  }
  EXPECT_TRUE(is_marked);
}

// --- bounds ----------------------------------------------------------------------------------------------

// DESC-3, DESC-6, seed 004 section 6 nr 2: a block's mask is the union of masks, so that asking for any reflection
// finds a block with any of the three.
TEST(SceneBounds, MasksAreUnionsOfMasks) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const unsigned types[] = {4, 5, 6};  // the three reflections, by hand
  for (const unsigned type : types) {
    EntityDesc desc = desc_at({});
    desc.mask = static_cast<uint16_t>(1u << type);
    const SceneSlot slot = insert(graph, *graph.root(), ContainerUse::placed, type, desc);
    graph.lock();
    EXPECT_EQ(graph.containers().bounds[slot.container].masks, 1u << type);
    EXPECT_EQ(graph.node_bounds()[0].masks, 1u << type);
    EXPECT_NE(graph.node_bounds()[0].masks & kReflectionMask, 0);
    graph.unlock();
    ASSERT_TRUE(graph.erase(slot).ok());
  }
  EXPECT_EQ(kReflectionMask, (1u << 4) + (1u << 5) + (1u << 6));
  EntityDesc shadow = desc_at({});
  shadow.mask = (1u << 2) | (1u << 3);  // bits that the numbers 4, 5 and 6 are made of
  insert(graph, *graph.root(), ContainerUse::placed, 9, shadow);
  graph.lock();
  EXPECT_EQ(graph.node_bounds()[0].masks & kReflectionMask, 0);
  graph.unlock();
}

// SG-7: at once, without a lock in between.
TEST(SceneBounds, EncloseEachChangeAtOnceAndAreTightAfterTheLock) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const SceneSlot a = insert(graph, *graph.root(), ContainerUse::placed, 1, desc_at({0, 0, 0}));
  const SceneSlot b = insert(graph, *graph.root(), ContainerUse::placed, 2, desc_at({500, 0, 0}));
  check_bounds(graph, false);
  EXPECT_EQ(graph.containers().bounds[a.container].box_max, (Vec3{501, 1, 1}));
  ASSERT_TRUE(graph.erase(b).ok());
  ASSERT_TRUE(graph.write(a, desc_at({0, -700, 0})).ok());
  check_bounds(graph, false);
  check_tight(graph);
  EXPECT_EQ(graph.containers().bounds[a.container].box_max, (Vec3{1, -699, 1}));
  ASSERT_TRUE(graph.set_light(handle_of(3), desc_at({0, 0, 900})).ok());
  ASSERT_TRUE(graph.flush_lights().ok());
  check_bounds(graph, false);
  ASSERT_TRUE(graph.set_light(handle_of(3), desc_at({0, 0, -900})).ok());
  ASSERT_TRUE(graph.flush_lights().ok());
  check_bounds(graph, false);
  StreamedNode& town = *graph.create_streamed();
  ASSERT_TRUE(graph.append(*graph.root(), town).ok());
  Random random(3);
  const test::MapBlocks map = test::random_map(random, 400);
  ASSERT_TRUE(graph.add_blocks(town, map.view(handle_of(0))).ok());
  check_bounds(graph, false);
  check_tight(graph);
  const uint32_t container = town.first_container();
  ASSERT_TRUE(graph.unlink_container(town, container).ok());
  check_bounds(graph, false);
  StreamedNode& other = *graph.create_streamed();
  ASSERT_TRUE(graph.link_container(other, container).ok());
  ASSERT_TRUE(graph.append(town, other).ok());
  check_bounds(graph, false);
  check_tight(graph);
}

// P088: points on cell planes, duplicates, far outliers; each is found where it is, and removed once.
TEST(SceneBounds, HoldWhereverThingsStand) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  const float ulp = 8192.0009765625f;
  std::vector<EntityDesc> descs;
  for (const float x : {0.0f, -0.0f, 8192.0f, -8192.0f, ulp, 65536.0f, -65536.0f, 3e38f}) {
    EntityDesc desc = desc_at({x, -x, x});
    desc.half = {};
    descs.push_back(desc);
  }
  for (int i = 0; i < 50; ++i) descs.push_back(descs[2]);
  std::vector<SceneSlot> slots;
  for (uint32_t i = 0; i < descs.size(); ++i) {
    slots.push_back(insert(graph, *graph.root(), ContainerUse::placed, i, descs[i]));
    check_bounds(graph, false);
  }
  check_tight(graph);
  Random random(88);
  while (!slots.empty()) {
    const uint32_t i = random.below(static_cast<uint32_t>(slots.size()));
    ASSERT_TRUE(graph.erase(slots[i]).ok());
    EXPECT_EQ(graph.erase(slots[i]).code, StatusCode::not_found);
    slots[i] = slots.back();
    slots.pop_back();
    check_tight(graph);
  }
  EXPECT_EQ(graph.hierarchy().count(), 0u);
}

// --- compaction ------------------------------------------------------------------------------------------

// DESC-5, SG-4: pre_scan moves blocks; views follow, and contents are what they were.
TEST(SceneCompaction, RefreshesAddressesAndKeepsContents) {
  SceneKit kit;
  SceneGraph& graph = kit.graph;
  Random random(41);
  std::map<uint32_t, std::vector<std::pair<SceneSlot, EntityDesc>>> rooms;
  std::vector<RoomNode*> nodes;
  for (uint32_t r = 0; r < 8; ++r) {
    nodes.push_back(graph.create_room());
    ASSERT_TRUE(graph.append(*graph.root(), *nodes.back()).ok());
    for (uint32_t i = 0; i < 16; ++i) {
      const EntityDesc desc = test::random_desc(random);
      rooms[r].push_back({insert(graph, *nodes[r], ContainerUse::placed, r * 100 + i, desc), desc});
    }
  }
  for (const uint32_t r : {0u, 2u, 4u}) {
    ASSERT_TRUE(graph.destroy(*nodes[r]).ok());
    rooms.erase(r);
  }
  EXPECT_GT(graph.desc_pool().stats().holes, 1u);
  std::map<uint32_t, const std::byte*> before;
  for (auto& [r, slots] : rooms) before[r] = graph.containers().views[slots[0].first.container].lanes;
  graph.lock();
  graph.pre_scan();  // not while locked
  EXPECT_EQ(graph.statistics().compacted_bytes, 0u);
  graph.unlock();
  graph.pre_scan(64);  // two rounds, a block each
  EXPECT_GT(graph.statistics().compacted_bytes, 0u);
  EXPECT_LE(graph.statistics().compacted_bytes, 2u * 16 * (44 + 8));
  for (int frame = 0; frame < 20; ++frame) graph.pre_scan();
  EXPECT_EQ(graph.desc_pool().stats().holes, 1u);
  EXPECT_EQ(graph.statistics().compacted_bytes, graph.desc_pool().stats().moved_bytes);
  uint32_t moved = 0;
  for (auto& [r, slots] : rooms) {
    const ContainerView& view = graph.containers().views[slots[0].first.container];
    moved += view.lanes != before[r] ? 1 : 0;
    EXPECT_EQ(static_cast<const void*>(view.handles), view.lanes + lane_bytes(view.capacity));
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(entity_in(view, slots[i].first.slot), handle_of(r * 100 + i));
      test::expect_same(graph.read(slots[i].first), test::Stored(slots[i].second, slots[i].first.slot).desc);
    }
  }
  EXPECT_GT(moved, 0u);
  check_tight(graph);
}

}  // namespace
}  // namespace meridian
