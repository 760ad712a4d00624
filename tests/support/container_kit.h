// SPDX-License-Identifier: MIT
#pragma once
/// A scene without a scene graph: tables of containers made from boxes, with the hierarchy above them. Maps go through
/// build_blocks, as when they are loaded; what hosts add gets a handle for each slot.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "meridian/scene/box_hierarchy.h"
#include "meridian/scene/container_table.h"

namespace meridian::test {

/// An entity, as its descriptor has it.
struct PlacedEntity {
  Vec3 centre, half;
  EntityClass type = EntityClass::building;
  uint8_t level = 0;
  uint16_t flags = kDescActive;
  bool is_used = true;  ///< else its descriptor is never visible
};

class ContainerKit {
 public:
  static constexpr uint32_t kInWorld = kContainerUsed | kContainerInWorld;

  /// A map whose entities are `group` and the ones behind it.
  void add_map(std::span<const PlacedEntity> entities, EntityHandle group, uint32_t flags = kInWorld) {
    const BlockCounts counts = block_counts(static_cast<uint32_t>(entities.size()));
    std::vector<DescContainer> containers(counts.containers);
    std::vector<DescBounds> sub_blocks(counts.sub_blocks);
    std::vector<uint32_t> slot_of(entities.size());
    struct alignas(16) Piece {
      std::byte bytes[16];
    };
    std::vector<Piece> scratch(counts.scratch_bytes / sizeof(Piece) + 1);
    std::vector<EntityDesc> descs(entities.size());
    for (uint32_t i = 0; i < entities.size(); ++i) descs[i] = desc_of(entities[i], i);
    std::vector<float>& lanes = lanes_.emplace_back(counts.lane_bytes / sizeof(float) + 1);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(lanes)).first(counts.lane_bytes);
    build_blocks(descs, std::as_writable_bytes(std::span(scratch)).first(counts.scratch_bytes),
                 {containers, sub_blocks, bytes, slot_of});
    for (const DescContainer& c : containers) {
      ContainerView view;
      view.lanes = bytes.data() + size_t{c.first_slot} * kDescLaneBytes;
      view.group = group;
      view.capacity = padded_slots(c.count);
      view.slots = c.count;
      view.flags = flags;
      add(view, c.bounds, std::span(sub_blocks).subspan(c.first_sub_block, c.sub_block_count));
    }
  }

  /// A container as hosts fill it: slot by slot, with room for more. At most kContainerSlots entities.
  void add_container(std::span<const PlacedEntity> entities, std::span<const EntityHandle> handles,
                     uint32_t flags = kInWorld) {
    ASSERT_LE(entities.size(), kContainerSlots);
    ContainerView view;
    view.slots = static_cast<uint16_t>(entities.size());
    view.capacity = padded_slots(view.slots + 20);
    std::vector<float>& lanes = lanes_.emplace_back(lane_bytes(view.capacity) / sizeof(float));
    view.lanes = std::as_writable_bytes(std::span(lanes)).data();
    view.handles = handles_.emplace_back(handles.begin(), handles.end()).data();
    view.flags = flags;
    const DescLanes arrays = desc_lanes(view);
    DescBounds whole = kEmptyBounds;
    std::vector<DescBounds> sub_blocks((entities.size() + kSubBlockSlots - 1) / kSubBlockSlots, kEmptyBounds);
    for (uint32_t i = 0; i < view.capacity; ++i) {
      if (i >= entities.size()) {
        // Beyond the slots that count stands what was there once.
        store_desc(arrays, i, desc_of({{}, {1e6f, 1e6f, 1e6f}}, 0xDEAD));
        continue;
      }
      const EntityDesc desc = desc_of(entities[i], i);
      store_desc(arrays, i, desc);
      if (!entities[i].is_used) continue;
      for (DescBounds* bounds : {&whole, &sub_blocks[i / kSubBlockSlots]}) {
        bounds->box_min = min(bounds->box_min, outwards(desc.centre, desc.half, -1));
        bounds->box_max = max(bounds->box_max, outwards(desc.centre, desc.half, 1));
        bounds->distance[0] = 1;
      }
    }
    add(view, whole, sub_blocks);
  }

  /// Makes tables and hierarchy. Once, after the last container.
  void finish() {
    table_ = {views_, sub_boxes_, bounds_, sub_blocks_, {}};
    ASSERT_TRUE(hierarchy_.init(static_cast<uint32_t>(std::max<size_t>(views_.size(), 1)), default_allocator()).ok());
    for (uint32_t i = 0; i < views_.size(); ++i) {
      if (is_empty(bounds_[i])) continue;
      ASSERT_TRUE(hierarchy_.insert(i, {bounds_[i].box_min, bounds_[i].box_max}));
    }
    hierarchy_.commit();
  }

  // As a scene.
  const ContainerTable& containers() const { return table_; }
  const BoxHierarchy& hierarchy() const { return hierarchy_; }
  void lock() { ++locks_; }
  void unlock() { --locks_; }
  int locks() const { return locks_; }

 private:
  static constexpr float kFar = kEmptyLaneMin;
  static constexpr DescBounds kEmptyBounds{{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}, {}, {}, {}, 0};

  static bool is_empty(const DescBounds& b) {
    return std::all_of(std::begin(b.distance), std::end(b.distance), [](uint16_t d) { return d == 0; });
  }
  static Vec3 outwards(const Vec3& centre, const Vec3& half, double side) {
    const auto corner = [side](float c, float h) {
      return side < 0 ? round_down(double{c} - h) : round_up(double{c} + h);
    };
    return {corner(centre.x, half.x), corner(centre.y, half.y), corner(centre.z, half.z)};
  }
  static EntityDesc desc_of(const PlacedEntity& entity, uint32_t index) {
    EntityDesc out;
    out.handle = index;
    if (!entity.is_used) return out;
    out.centre = out.pivot = entity.centre;
    out.half = entity.half;
    out.distance = 100;
    out.mask = kAllPhasesMask;
    out.type = entity.type;
    out.level = entity.level;
    out.alpha = 255;
    out.flags = entity.flags;
    return out;
  }
  void add(const ContainerView& view, const DescBounds& whole, std::span<const DescBounds> sub_blocks) {
    views_.push_back(view);
    bounds_.push_back(whole);
    WideBoxes& boxes = sub_boxes_.emplace_back();
    for (uint32_t s = 0; s < kContainerSubBlocks; ++s) {
      const bool is_there = s < sub_blocks.size() && !is_empty(sub_blocks[s]);
      sub_blocks_.push_back(is_there ? sub_blocks[s] : DescBounds{});
      if (is_there) boxes.set_lane(s, {sub_blocks[s].box_min, sub_blocks[s].box_max});
    }
  }

  std::deque<std::vector<float>> lanes_;
  std::deque<std::vector<EntityHandle>> handles_;
  std::vector<ContainerView> views_;
  std::vector<WideBoxes> sub_boxes_;
  std::vector<DescBounds> bounds_, sub_blocks_;
  ContainerTable table_;
  BoxHierarchy hierarchy_;
  int locks_ = 0;
};

}  // namespace meridian::test
