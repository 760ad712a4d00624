// SPDX-License-Identifier: MIT
#pragma once
/// A scene for tests, and what its tables must hold, found by other ways than the scene's own: bounds of a descriptor
/// in double precision, half floats by rounding a double, the hierarchy by walking all of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/scene/scene_graph.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian::test {

/// As many of everything as most tests need.
inline constexpr SceneCapacities kSmallScene{.streamed_nodes = 8,
                                             .interior_nodes = 4,
                                             .room_nodes = 8,
                                             .portal_nodes = 8,
                                             .containers = 16,
                                             .fixed_containers = 1,
                                             .soa_containers = 8,
                                             .lights = 64,
                                             .light_updates = 16,
                                             .descriptors = 16384};

struct SceneKit {
  explicit SceneKit(const SceneCapacities& capacities = kSmallScene) {
    EXPECT_TRUE(graph.init(capacities, memory, &tracker).ok());
  }
  CheckedMemory memory;
  MemoryTracker tracker;
  SceneGraph graph;
};

inline EntityHandle handle_of(uint32_t n) { return {.generation = 1, .slot = n}; }

/// A cube of 2 m about `centre`, seen from 100 m.
inline EntityDesc desc_at(const Vec3& centre) {
  EntityDesc out;
  out.centre = centre;
  out.half = {1, 1, 1};
  out.pivot = centre;
  out.distance = 100;
  out.mask = visibility_bit(VisibilityType::gbuffer);
  out.alpha = 255;
  out.flags = kDescActive;
  return out;
}

/// Coordinates on borders of cells, of the world and of float's precision, among plain ones.
inline float odd_coordinate(Random& random) {
  static constexpr float kOdd[] = {0, -0.0f, 8192, -8192, 8192.0009765625f, 16000, -16000, 65536, 0.1f, 1e-30f};
  if (random.below(4) == 0) return kOdd[random.below(std::size(kOdd))];
  return random.between(-4000.0f, 4000.0f);
}

inline EntityDesc random_desc(Random& random) {
  EntityDesc out;
  out.centre = {odd_coordinate(random), odd_coordinate(random), odd_coordinate(random)};
  const bool is_point = random.below(8) == 0;
  out.half = is_point ? Vec3{} : Vec3{random.between(0.f, 60.f), random.between(0.f, 60.f), random.between(0.f, 60.f)};
  out.pivot = random.below(3) == 0 ? out.centre
                                   : out.centre + Vec3{random.between(-300.f, 300.f), random.between(-9.f, 9.f),
                                                       random.below(20) == 0 ? 70000.0f : random.between(-1.f, 1.f)};
  static constexpr float kDistances[] = {1e-20f, 0.5f, 1, 1.5f, 65534.5f, 65535, 65536, 1e30f};
  out.distance = random.below(4) == 0 ? kDistances[random.below(std::size(kDistances))] : random.between(2.f, 900.f);
  out.mask = static_cast<uint16_t>(random.next());
  out.type = static_cast<EntityClass>(random.below(32));
  out.level = static_cast<uint8_t>(random.below(kLodLevels));
  out.alpha = static_cast<uint8_t>(random.next());
  out.flags = random.next() & 0xFFFF;
  out.lod_set = static_cast<uint16_t>(random.next());
  return out;
}

// --- what must be true of one descriptor -----------------------------------------------------------------

inline float float_below(double v) {
  auto f = static_cast<float>(v);
  return static_cast<double>(f) > v ? std::nextafterf(f, -HUGE_VALF) : f;
}
inline float float_above(double v) { return -float_below(-v); }

/// The nearest half, ties to even; 65504 at most.
inline double nearest_half(double v) {
  if (v == 0) return v;
  const int exponent = std::max(std::ilogb(v), -14);
  const double step = std::ldexp(1.0, exponent - 10);
  return std::clamp(std::nearbyint(v / step) * step, -65504.0, 65504.0);
}

/// A slot as its lanes hold it: of a host's entity, or of a map's with `links`.
struct Stored {
  EntityDesc desc;

  Stored() = default;
  Stored(const EntityDesc& from, uint32_t entity, std::span<const LodLinkRow> links = {}, bool is_map = false)
      : desc(from) {
    desc.handle = entity;
    desc.distance =
        from.distance >= 65535 ? 65535.0f : static_cast<float>(std::ceil(static_cast<double>(from.distance)));
    desc.flags &= 0xFFFF;
    if (!is_map) {
      desc.flags &= ~uint32_t{kDescLodChild | kDescSetParent};
      desc.lod_set = kNoLodSet;
    }
    const bool is_child = (desc.flags & kDescLodChild) != 0;
    const auto part = [&](float pivot, float centre) {
      return is_child ? centre : centre + static_cast<float>(nearest_half(static_cast<double>(pivot - centre)));
    };
    desc.pivot = {part(from.pivot.x, from.centre.x), part(from.pivot.y, from.centre.y),
                  part(from.pivot.z, from.centre.z)};
    if (!is_child || desc.lod_set >= links.size()) return;
    const bool is_parent = (desc.flags & kDescSetParent) != 0;
    const size_t set = is_parent ? links[desc.lod_set].up : desc.lod_set;
    if (set < links.size()) desc.pivot = links[set].pivot;
  }
};

inline void expect_same(const EntityDesc& is, const EntityDesc& wanted) {
  EXPECT_EQ(is.handle, wanted.handle);
  EXPECT_EQ(is.centre, wanted.centre);
  EXPECT_EQ(is.half, wanted.half);
  EXPECT_EQ(is.pivot, wanted.pivot);
  EXPECT_EQ(is.distance, wanted.distance);
  EXPECT_EQ(is.mask, wanted.mask);
  EXPECT_EQ(is.lod_set, wanted.lod_set);
  EXPECT_EQ(is.type, wanted.type);
  EXPECT_EQ(is.level, wanted.level);
  EXPECT_EQ(is.alpha, wanted.alpha);
  EXPECT_EQ(is.flags, wanted.flags);
  const Vec3& h = wanted.half;
  EXPECT_GE(static_cast<double>(is.radius), std::sqrt(double{h.x} * h.x + double{h.y} * h.y + double{h.z} * h.z));
}

/// Bounds of several, from nothing.
struct PlainBounds {
  bool is_empty = true;
  DescBounds all;

  void add(const EntityDesc& d) {
    const Vec3 low{float_below(double{d.centre.x} - d.half.x), float_below(double{d.centre.y} - d.half.y),
                   float_below(double{d.centre.z} - d.half.z)};
    const Vec3 high{float_above(double{d.centre.x} + d.half.x), float_above(double{d.centre.y} + d.half.y),
                    float_above(double{d.centre.z} + d.half.z)};
    const auto widen = [this](Vec3& min, Vec3& max, const Vec3& low_end, const Vec3& high_end) {
      min =
          is_empty ? low_end : Vec3{std::min(min.x, low_end.x), std::min(min.y, low_end.y), std::min(min.z, low_end.z)};
      max = is_empty ? high_end
                     : Vec3{std::max(max.x, high_end.x), std::max(max.y, high_end.y), std::max(max.z, high_end.z)};
    };
    widen(all.box_min, all.box_max, low, high);
    widen(all.pivot_min, all.pivot_max, d.pivot, d.pivot);
    is_empty = false;
    uint16_t& distance = all.distance[d.level];
    distance = std::max(distance, static_cast<uint16_t>(d.distance));
    all.masks = static_cast<uint16_t>(all.masks | d.mask);
  }
};

inline bool is_inside(const Vec3& low, const Vec3& high, const Vec3& around_low, const Vec3& around_high) {
  return low.x >= around_low.x && low.y >= around_low.y && low.z >= around_low.z && high.x <= around_high.x &&
         high.y <= around_high.y && high.z <= around_high.z;
}
/// Whether `outer` holds of all that `inner` holds of.
inline bool encloses(const DescBounds& outer, const DescBounds& inner) {
  for (unsigned i = 0; i < kLodLevels; ++i)
    if (inner.distance[i] > outer.distance[i]) return false;
  return (inner.masks & ~outer.masks) == 0 && is_inside(inner.box_min, inner.box_max, outer.box_min, outer.box_max) &&
         is_inside(inner.pivot_min, inner.pivot_max, outer.pivot_min, outer.pivot_max);
}

// --- what must be true of the tables ---------------------------------------------------------------------

/// All used slots of a container, as the tables show them.
inline std::vector<uint32_t> used_slots(const SceneGraph& graph, uint32_t container) {
  std::vector<uint32_t> out;
  for (uint32_t slot = 0; slot < kContainerSlots; ++slot)
    if (graph.is_used({container, slot})) out.push_back(slot);
  return out;
}

inline std::vector<uint32_t> chain_of(const SceneGraph& graph, const SceneNode& node) {
  std::vector<uint32_t> out;
  for (uint32_t c = node.first_container(); c != kNoContainer; c = graph.next_container(c)) {
    EXPECT_EQ(graph.node_of(c), &node);
    out.push_back(c);
    if (out.size() > graph.containers().views.size()) {
      ADD_FAILURE() << "the chain has no end";
      break;
    }
  }
  EXPECT_EQ(out.size(), node.container_count());
  return out;
}

/// Items of the hierarchy, each found once, inside every box above it.
inline std::set<uint32_t> items_of(const BoxHierarchy& tree) {
  struct Waiting {
    uint32_t node;
    Aabb around;
    bool has_around;
  };
  std::vector<Waiting> waiting;
  for (const uint32_t root : tree.roots()) waiting.push_back({root, {}, false});
  std::set<uint32_t> out;
  while (!waiting.empty()) {
    const Waiting at = waiting.back();
    waiting.pop_back();
    const BoxHierarchy::Node& node = tree.node(at.node);
    for (uint32_t lane = 0; lane < kWideLanes; ++lane) {
      const uint32_t child = node.child[lane];
      if (child == BoxHierarchy::kNone) continue;
      const Aabb box = node.boxes.lane(lane);
      if (at.has_around) {
        EXPECT_TRUE(is_inside(box.min, box.max, at.around.min, at.around.max));
      }
      if ((child & BoxHierarchy::kItem) == 0) {
        waiting.push_back({child, box, true});
        continue;
      }
      const uint32_t item = child & ~BoxHierarchy::kItem;
      EXPECT_TRUE(out.insert(item).second) << "item " << item << " is in the tree twice";
      EXPECT_EQ(box, tree.box(item));
    }
  }
  EXPECT_EQ(out.size(), tree.count());
  return out;
}

/// Bounds of blocks, containers and nodes, and the hierarchy, against what is in the slots. `is_tight`: they must be
/// equal to it, as right after lock(); else they enclose it.
inline void check_bounds(const SceneGraph& graph, bool is_tight) {
  const ContainerTable& table = graph.containers();
  std::set<uint32_t> shown;
  std::map<const SceneNode*, PlainBounds> of_nodes;
  for (uint32_t c = 0; c < table.views.size(); ++c) {
    SCOPED_TRACE(testing::Message() << "container " << c);
    const ContainerView& view = table.views[c];
    PlainBounds blocks[kContainerSubBlocks], all;
    if ((view.flags & kContainerUsed) != 0) {
      for (const uint32_t slot : used_slots(graph, c)) {
        ASSERT_LT(slot, view.slots);
        const EntityDesc desc = graph.read({c, slot});
        blocks[slot / kSubBlockSlots].add(desc);
        all.add(desc);
        if (const SceneNode* const node = graph.node_of(c)) of_nodes[node].add(desc);
      }
    }
    const SceneNode* const node = (view.flags & kContainerUsed) != 0 ? graph.node_of(c) : nullptr;
    bool is_shown = node != nullptr;
    for (const SceneNode* at = node; at != nullptr; at = at->parent()) {
      is_shown = is_shown && at->is_enabled();
      if (at->parent() == nullptr) is_shown = is_shown && at == graph.root();
    }
    EXPECT_EQ((view.flags & kContainerInWorld) != 0, is_shown);
    if (is_shown && !all.is_empty) shown.insert(c);
    if (is_tight) {
      EXPECT_EQ(table.bounds[c], all.all);
      if (is_shown && !all.is_empty) {
        EXPECT_EQ(graph.hierarchy().box(c), (Aabb{all.all.box_min, all.all.box_max}));
      }
    } else if (!all.is_empty) {
      EXPECT_TRUE(encloses(table.bounds[c], all.all));
      if (is_shown) {
        const Aabb box = graph.hierarchy().box(c);
        EXPECT_TRUE(is_inside(all.all.box_min, all.all.box_max, box.min, box.max));
      }
    }
    for (uint32_t s = 0; s < kContainerSubBlocks; ++s) {
      const DescBounds& block = table.sub_blocks[c * kContainerSubBlocks + s];
      const Aabb lane = table.sub_boxes[c].lane(s);
      if (is_tight) {
        EXPECT_EQ(block, blocks[s].all) << s;
        EXPECT_EQ(table.sub_boxes[c].is_empty_lane(s), blocks[s].is_empty) << s;
      }
      if (blocks[s].is_empty) continue;
      EXPECT_TRUE(encloses(block, blocks[s].all)) << s;
      EXPECT_EQ(lane, (Aabb{block.box_min, block.box_max})) << s;
    }
    for (uint32_t s = kContainerSubBlocks; s < kWideLanes; ++s) EXPECT_TRUE(table.sub_boxes[c].is_empty_lane(s));
  }
  EXPECT_EQ(items_of(graph.hierarchy()), shown);
  for (uint32_t n = 0; n < graph.node_capacity(); ++n) {
    const SceneNode* const node = graph.node_at(n);
    const auto at = of_nodes.find(node);
    const bool is_empty = node == nullptr || at == of_nodes.end();
    if (is_tight) {
      EXPECT_EQ(graph.node_bounds()[n], is_empty ? DescBounds{} : at->second.all) << "node " << n;
    } else if (!is_empty) {
      EXPECT_TRUE(encloses(graph.node_bounds()[n], at->second.all)) << "node " << n;
    }
  }
}

/// Everything that readers can see, as bytes, so that "nothing changed" can be said.
inline std::vector<std::byte> seen_by_readers(const SceneGraph& graph) {
  std::vector<std::byte> out;
  const auto take = [&out](const void* from, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(from);
    out.insert(out.end(), first, first + bytes);
  };
  const ContainerTable& table = graph.containers();
  for (const ContainerView& view : table.views) {
    take(&view, sizeof view);
    if (view.capacity == 0) continue;
    take(view.lanes, lane_bytes(view.capacity));
    if (view.handles != nullptr) take(view.handles, view.capacity * sizeof(EntityHandle));
  }
  take(table.sub_boxes.data(), table.sub_boxes.size_bytes());
  take(table.bounds.data(), table.bounds.size_bytes());
  take(table.sub_blocks.data(), table.sub_blocks.size_bytes());
  take(graph.node_bounds().data(), graph.node_bounds().size_bytes());
  for (uint32_t n = 0; n < graph.node_capacity(); ++n) {
    const SceneNode* const node = graph.node_at(n);
    if (node == nullptr) continue;
    for (const SceneNode* other :
         {node->parent(), node->first_child(), node->last_child(), node->next(), node->previous()})
      take(&other, sizeof other);
    const uint32_t rest[] = {node->index(), node->flags(), node->first_container(), node->container_count()};
    take(rest, sizeof rest);
  }
  const BoxHierarchy& tree = graph.hierarchy();
  for (const uint32_t item : items_of(tree)) {
    const Aabb box = tree.box(item);
    take(&item, sizeof item);
    take(&box, sizeof box);
  }
  return out;
}

/// Blocks as build_blocks makes them, with the memory that they stand in.
struct MapBlocks {
  std::vector<EntityDesc> descs;  ///< of entity i
  std::vector<LodLinkRow> links;
  std::vector<DescContainer> containers;
  std::vector<DescBounds> sub_blocks;
  std::vector<std::byte> lanes;
  std::vector<uint32_t> slot_of;

  /// Requires: descs[i].handle == i.
  MapBlocks(std::vector<EntityDesc> of, std::vector<LodLinkRow> rows) : descs(std::move(of)), links(std::move(rows)) {
    const BlockCounts counts = block_counts(static_cast<uint32_t>(descs.size()));
    containers.resize(counts.containers);
    sub_blocks.resize(counts.sub_blocks);
    lanes.resize(counts.lane_bytes);
    slot_of.resize(descs.size());
    std::vector<std::byte> scratch(counts.scratch_bytes + 16);
    void* aligned = scratch.data();
    size_t room = scratch.size();
    std::align(16, counts.scratch_bytes, aligned, room);
    build_blocks(descs, {static_cast<std::byte*>(aligned), counts.scratch_bytes},
                 {containers, sub_blocks, lanes, slot_of});
  }
  SceneBlocks view(EntityHandle group) const { return {containers, sub_blocks, lanes, links, group}; }
};

/// A map of `count` entities, some of them LOD parents, children or never visible, as the loader would describe them.
inline MapBlocks random_map(Random& random, uint32_t count) {
  std::vector<LodLinkRow> links(3);
  links[0] = {.up = 1, .pivot = {10, 20, 30}, .distance = 50};
  links[1] = {.pivot = {-100, 0, 5}, .distance = 400};
  links[2] = {.in_parent = true, .pivot = {7, 7, 7}, .distance = 90};
  std::vector<EntityDesc> descs;
  for (uint32_t i = 0; i < count; ++i) {
    EntityDesc d = random_desc(random);
    d.handle = i;
    d.flags &= ~uint32_t{kDescLodChild | kDescSetParent | kDescSpawnPoints};
    d.lod_set = kNoLodSet;
    if (random.below(3) == 0) {
      d.lod_set = static_cast<uint16_t>(random.below(3));
      const bool is_parent = random.below(2) == 0;
      const uint16_t child_of = is_parent ? links[d.lod_set].up : d.lod_set;
      if (is_parent) d.flags |= kDescSetParent;
      if (child_of != kNoLodSet) {
        d.flags |= kDescLodChild;
        d.pivot = links[child_of].pivot;
        d.distance = links[child_of].distance;
      }
    }
    if (random.below(10) == 0) {  // left out
      d = {};
      d.handle = i;
    }
    descs.push_back(d);
  }
  return {std::move(descs), std::move(links)};
}

}  // namespace meridian::test
