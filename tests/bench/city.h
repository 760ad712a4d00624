// SPDX-License-Identifier: MIT
#pragma once
/// A city to measure in: 9 x 12 km of props, lamps and houses, cut into maps of at most 1200 as `worldgen` cuts its own,
/// with descriptors in blocks as the tools store them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/scene/desc_block.h"
#include "meridian/scene/scene_graph.h"

namespace meridian::bench {

inline constexpr uint32_t kMapEntities = 1200;
inline constexpr float kCityWide = 4500, kCityLong = 6000;

inline void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "benchmark: %s\n", what);
  std::abort();
}

inline float bell(Random& random, float width) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += random.between(-1.0f, 1.0f);
  return sum * width / 2;
}

/// Where things stand: two thirds in forty quarters, the rest all over the land; or all over it, evenly.
class CityPlan {
 public:
  explicit CityPlan(Random& random) : random_(random) {
    for (Vec3& q : quarters_) {
      q.x = random.between(-kCityWide, kCityWide);
      q.y = random.between(-kCityLong, kCityLong);
    }
  }
  std::span<const Vec3> quarters() const { return quarters_; }
  /// On the ground.
  Vec3 place(bool is_clustered = true) {
    for (;;) {
      Vec3 at;
      at.x = random_.between(-kCityWide, kCityWide);
      at.y = random_.between(-kCityLong, kCityLong);
      if (is_clustered && random_.below(3) != 0) {
        const Vec3& q = quarters_[random_.below(40)];
        at.x = q.x + bell(random_, 600);
        at.y = q.y + bell(random_, 600);
      }
      if (std::fabs(at.x) > kCityWide || std::fabs(at.y) > kCityLong) continue;
      at.z = 40 * std::sin(at.x / 900) * std::cos(at.y / 1100);
      return at;
    }
  }

 private:
  Random& random_;
  Vec3 quarters_[40];
};

/// Boxes of props, lamps and houses.
inline std::vector<Aabb> city(uint32_t count, bool is_clustered = true) {
  Random random(2024);
  CityPlan plan(random);
  std::vector<Aabb> out;
  while (out.size() < count) {
    const Vec3 at = plan.place(is_clustered);
    const uint32_t kind = random.below(10);
    const float size = kind < 7   ? random.between(0.2f, 2.0f)
                       : kind < 9 ? random.between(2.0f, 8.0f)
                                  : random.between(8.0f, 30.0f);
    const Vec3 half{size, size * random.between(0.4f, 1.0f), size * random.between(0.4f, 1.5f)};
    out.push_back({{at.x - half.x, at.y - half.y, at.z}, {at.x + half.x, at.y + half.y, at.z + 2 * half.z}});
  }
  return out;
}

/// Cuts `part` in halves, across the longer side, until each piece is a map.
inline void cut_maps(std::span<const Aabb> boxes, std::span<uint32_t> part, std::vector<std::span<uint32_t>>& maps) {
  if (part.size() <= kMapEntities) {
    maps.push_back(part);
    return;
  }
  Aabb around = boxes[part[0]];
  for (const uint32_t i : part) around = {min(around.min, boxes[i].min), max(around.max, boxes[i].max)};
  const bool is_wide = around.max.x - around.min.x > around.max.y - around.min.y;
  const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
  std::nth_element(part.begin(), middle, part.end(), [&](uint32_t a, uint32_t b) {
    return is_wide ? boxes[a].min.x < boxes[b].min.x : boxes[a].min.y < boxes[b].min.y;
  });
  cut_maps(boxes, {part.begin(), middle}, maps);
  cut_maps(boxes, {middle, part.end()}, maps);
}

/// Fills a scene that was not initialised with maps of `boxes`, each of which becomes what its descriptor says.
/// `order[slot]` is the box of a handle. `describe(box, desc)` sets what a descriptor has beside its box.
template <class Describe>
void fill_scene(std::vector<Aabb>& boxes, std::vector<uint32_t>& order, SceneGraph& scene, SceneCapacities capacities,
                const Describe& describe) {
  const auto count = static_cast<uint32_t>(boxes.size());
  order.resize(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  std::vector<std::span<uint32_t>> maps;
  cut_maps(boxes, order, maps);
  capacities.streamed_nodes = static_cast<uint32_t>(maps.size());
  capacities.soa_containers = static_cast<uint32_t>(maps.size()) * 4;
  capacities.descriptors += count;
  require(scene.init(capacities).ok(), "no scene");
  for (const std::span<uint32_t> map : maps) {
    // What the tools store in a map, and what is copied from there.
    const BlockCounts counts = block_counts(static_cast<uint32_t>(map.size()));
    std::vector<EntityDesc> descs(map.size());
    for (uint32_t i = 0; i < map.size(); ++i) {
      Aabb& box = boxes[map[i]];
      EntityDesc& desc = descs[i];
      desc.handle = i;
      desc.centre = desc.pivot = (box.min + box.max) * 0.5f;
      desc.half = (box.max - box.min) * 0.5f;
      desc.mask = kAllPhasesMask;
      desc.flags = kDescActive;
      desc.alpha = 255;
      describe(box, desc);
      box = {desc.centre - desc.half, desc.centre + desc.half};  // peers get the very same
    }
    struct alignas(16) Piece {
      std::byte bytes[16];
    };
    std::vector<Piece> scratch(counts.scratch_bytes / sizeof(Piece) + 1);
    std::vector<DescContainer> containers(counts.containers);
    std::vector<DescBounds> sub_blocks(counts.sub_blocks);
    std::vector<float> lanes(counts.lane_bytes / sizeof(float));
    std::vector<uint32_t> slot_of(map.size());
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(lanes));
    build_blocks(descs, std::as_writable_bytes(std::span(scratch)).first(counts.scratch_bytes),
                 {containers, sub_blocks, bytes, slot_of});
    StreamedNode* const node = scene.create_streamed();
    require(node != nullptr, "no node");
    const EntityHandle group{.generation = 1, .slot = static_cast<uint32_t>(map.data() - order.data())};
    require(scene.add_blocks(*node, {containers, sub_blocks, bytes, {}, group}).ok(), "no blocks");
    require(scene.append(*scene.root(), *node).ok(), "no place in the world");
  }
}

}  // namespace meridian::bench
