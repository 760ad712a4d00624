// SPDX-License-Identifier: MIT
#pragma once
/// Random worlds to scan, with a plain list of what stands in them.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "meridian/scene/entity_init.h"
#include "support/scan_kit.h"
#include "support/search_worlds.h"
#include "unit/runtime/scene/scene_kit.h"

namespace meridian::test {

/// A LOD set, as its table has it.
struct ModelSet {
  Vec3 pivot;
  float distance = 0;
  uint8_t level = 0;
  const ModelSet* up = nullptr;  ///< in which the parent is a child, whether it is there or not
  bool is_there = false, is_ready = false;
  uint32_t ramp = 0;
};

/// An entity, with the precision that descriptors have.
struct ModelEntity {
  EntityHandle handle;
  EntityDesc desc;  ///< pivot and distance as slots hold them
  double box_min[3] = {}, box_max[3] = {};
  uint32_t node = 0;
  bool is_in_world = true;
  bool is_straddling = false;
  const ModelSet *child_of = nullptr, *parent_of = nullptr;
  SceneSlot slot;  ///< of what was put in alone
};

inline void set_box(ModelEntity& entity) {
  const Vec3 &c = entity.desc.centre, &h = entity.desc.half;
  const float centre[3] = {c.x, c.y, c.z}, half[3] = {h.x, h.y, h.z};
  for (int i = 0; i < 3; ++i) {
    entity.box_min[i] = double{centre[i]} - half[i];
    entity.box_max[i] = double{centre[i]} + half[i];
  }
}

class ScanWorld {
 public:
  ScanWorld(uint32_t seed, const Vec3& middle, float reach) : dice(seed), middle_(middle), reach_(reach) { fill(); }

  Dice dice;

 private:
  std::deque<ModelSet> sets_;
  std::deque<MapBlocks> blocks_;  // what containers refer to outlives them
  std::deque<std::vector<uint32_t>> set_ids_;
  std::map<const SceneNode*, std::vector<uint32_t>*> set_ids_of_node_;
  Vec3 middle_;
  float reach_;

 public:
  ScanKit kit;
  std::vector<ModelEntity> entities;

  const Vec3& middle() const { return middle_; }
  float reach() const { return reach_; }

  EntityDesc random_desc() {
    EntityDesc d;
    d.centre = middle_ + dice.vector(reach_);
    d.centre.z = middle_.z + dice.number(-20, 60);
    const Vec3 half = dice.vector(8);
    d.half = {std::fabs(half.x), std::fabs(half.y), std::fabs(half.z)};
    switch (dice.below(12)) {
      case 0:
        d.half = {};
        break;
      case 1:
        d.half.z = 0;
        break;
      case 2:
      case 3:  // neighbours share sides
        d.centre = {middle_.x + 16 * std::floor(dice.number(-4, 4)), middle_.y + 16 * std::floor(dice.number(-4, 4)),
                    middle_.z};
        d.half = {8, 8, 8};
        break;
      case 4:  // P073: as large as a view, or as all there is
        if (dice.chance(0.2)) d.half = {dice.number(0, 10000), dice.number(0, 10000), dice.number(0, 10000)};
        break;
      default:
        break;
    }
    d.pivot = dice.chance(0.5) ? d.centre : d.centre + dice.vector(dice.chance(0.8) ? 10.0f : 300.0f);
    static constexpr float kDistances[] = {1.5f, 3, 19.5f, 20, 20.5f, 47, 100, 1000, 65535};
    d.distance = dice.chance(0.4) ? kDistances[dice.below(9)] : dice.number(2, reach_ * 1.5f);
    d.mask = dice.chance(0.7) ? kAllPhasesMask : static_cast<uint16_t>(dice.below(128));
    d.type = dice.chance(0.2) ? EntityClass::grass_batch : static_cast<EntityClass>(dice.below(32));
    d.level = static_cast<uint8_t>(dice.below(kLodLevels));
    d.alpha = static_cast<uint8_t>(dice.chance(0.6) ? 255 : dice.below(256));
    const auto maybe = [&](double p, uint32_t flag) { d.flags |= dice.chance(p) ? flag : 0; };
    maybe(0.93, kDescActive);
    maybe(0.05, kDescHidden);
    maybe(0.5, kDescMaybeInCullBox);
    maybe(0.2, kDescAltFade);
    return d;
  }

  /// P074: of an entity that is turned, and scaled by what may be below 0. Its box goes around all corners.
  EntityDesc turned_desc(ModelEntity& model) {
    Entity entity;
    ArchetypeTraits traits;
    const Vec3 a = dice.vector(6), b = dice.vector(6);
    traits.box = {min(a, b), max(a, b)};
    traits.lod_distance = 100;
    PlaceInput in{.full_rotation = true};
    in.position = middle_ + dice.vector(reach_);
    const Vec3 imaginary = dice.vector(1);
    in.rotation = {imaginary.x, imaginary.y, imaginary.z, dice.number(0.1f, 1)};
    for (float* scale : {&in.scale_xy, &in.scale_z}) {
      *scale = dice.number(0.3f, 2);
      if (dice.chance(0.7)) *scale = -*scale;
    }
    const Placed placed = place_entity(in);
    EXPECT_TRUE(is_placed(placed.status));
    place(entity, placed.transform);
    entity.lod().distance = dice.number(20, reach_ * 1.5f);
    entity.set_visibility_mask(kAllPhasesMask);
    EntityDesc out;
    EXPECT_EQ(describe(entity, traits, out), DescStatus::made);
    for (int corner = 0; corner < 8; ++corner) {
      const Transform& t = placed.transform;
      const double x = (corner & 1) != 0 ? traits.box.max.x : traits.box.min.x;
      const double y = (corner & 2) != 0 ? traits.box.max.y : traits.box.min.y;
      const double z = (corner & 4) != 0 ? traits.box.max.z : traits.box.min.z;
      const double at[3] = {x * t.x.x + y * t.y.x + z * t.z.x + t.position.x,
                            x * t.x.y + y * t.y.y + z * t.z.y + t.position.y,
                            x * t.x.z + y * t.y.z + z * t.z.z + t.position.z};
      for (int i = 0; i < 3; ++i) {
        model.box_min[i] = corner == 0 ? at[i] : std::min(model.box_min[i], at[i]);
        model.box_max[i] = corner == 0 ? at[i] : std::max(model.box_max[i], at[i]);
      }
    }
    return out;
  }

  /// Puts one more into a node.
  void insert(SceneNode& node, ContainerUse use, bool is_in_world = true) {
    ModelEntity model;
    const bool is_turned = dice.chance(0.2);
    const EntityDesc desc = is_turned ? turned_desc(model) : random_desc();
    model.handle = {.generation = 1, .slot = kit.next_handle++};
    const Result<SceneSlot> slot = kit.graph.insert(node, use, model.handle, desc);
    ASSERT_TRUE(slot.ok()) << slot.status().message;
    model.slot = slot.value();
    model.desc = Stored(desc, model.slot.slot).desc;
    model.node = node.index();
    model.is_in_world = is_in_world;
    model.is_straddling = use == ContainerUse::straddling;
    if (!is_turned) set_box(model);
    entities.push_back(model);
  }

  void add_light() {
    EntityDesc desc = random_desc();
    ModelEntity model;
    model.handle = {.generation = 1, .slot = kit.next_handle++};
    ASSERT_TRUE(kit.graph.set_light(model.handle, desc).ok());
    model.desc = Stored(desc, 0).desc;
    set_box(model);
    entities.push_back(model);
  }

  /// A map with LOD sets, into a node of its own. Needs room for its entities.
  void add_map(SceneNode& node, uint32_t count, bool is_in_world = true, bool has_sets = true) {
    const uint32_t set_count = has_sets ? dice.below(6) : 0;
    std::vector<LodLinkRow> rows(set_count);
    std::vector<ModelSet*> of_row(set_count);
    std::vector<uint32_t>& ids = set_ids_.emplace_back(set_count, kNoLodSetId);
    for (uint32_t r = set_count; r-- > 0;) {
      ModelSet& set = sets_.emplace_back();
      of_row[r] = &set;
      rows[r].pivot = set.pivot = middle_ + dice.vector(reach_ * 0.7f);
      rows[r].distance = set.distance = dice.chance(0.2) ? 20.0f : dice.number(5, reach_);
      set.level = static_cast<uint8_t>(dice.below(kLodLevels));
      set.is_there = dice.chance(0.75);
      set.is_ready = set.is_there && dice.chance(0.7);
      const uint32_t up = r + 1 + dice.below(2);
      if (up < set_count) {
        rows[r].up = static_cast<uint16_t>(up);
        set.up = of_row[up];
      }
      if (!set.is_there) continue;
      const Result<uint32_t> id = kit.sets.create(set.pivot, set.distance, set.level);
      ASSERT_TRUE(id.ok()) << id.status().message;
      ids[r] = id.value();
      ASSERT_TRUE(kit.sets.set_ready(ids[r], set.is_ready).ok());
    }
    for (uint32_t r = 0; r < set_count; ++r)
      if (ids[r] != kNoLodSetId && of_row[r]->up != nullptr && of_row[r]->up->is_there) {
        ASSERT_TRUE(kit.sets.set_up(ids[r], ids[rows[r].up]).ok());
      }
    if (has_sets) {
      ASSERT_TRUE(kit.sets.update(dice.chance(0.5) ? 2.0f : dice.number(0, 1)).ok());  // of earlier maps too
    }

    const auto map = static_cast<uint32_t>(blocks_.size());
    set_ids_of_node_[&node] = &ids;
    const EntityHandle group{.generation = 2 + map, .slot = 5000 * map};
    std::vector<EntityDesc> descs;
    std::vector<ModelEntity> models;
    for (uint32_t i = 0; i < count; ++i) {
      ModelEntity model;
      const bool is_turned = dice.chance(0.1);
      EntityDesc d = is_turned ? turned_desc(model) : random_desc();
      if (set_count != 0 && dice.chance(0.55)) {
        const uint32_t row = dice.below(set_count);
        const bool is_parent = dice.chance(0.3);
        d.lod_set = static_cast<uint16_t>(row);
        (is_parent ? model.parent_of : model.child_of) = of_row[row];
        if (is_parent) {
          d.flags |= kDescSetParent;
          model.child_of = of_row[row]->up;
        }
        if (model.child_of != nullptr) {
          d.flags |= kDescLodChild;
          d.pivot = model.child_of->pivot;
          d.distance = model.child_of->distance;
        }
      }
      if (dice.chance(0.05)) d = {};  // left out
      d.handle = i;
      descs.push_back(d);
      model.handle = entity_of_group(group, i);
      model.desc = Stored(d, i, rows, true).desc;
      model.node = node.index();
      model.is_in_world = is_in_world;
      if (!is_turned) set_box(model);
      models.push_back(model);
    }
    blocks_.emplace_back(std::move(descs), std::move(rows));
    SceneBlocks view = blocks_.back().view(group);
    view.set_ids = ids;
    const Status added = kit.graph.add_blocks(node, view);
    ASSERT_TRUE(added.ok()) << added.message;
    entities.insert(entities.end(), models.begin(), models.end());
    read_ramps();
  }

  /// Takes a map's node away with all that stands in it, and then its LOD sets.
  void unload(SceneNode& node) {
    std::erase_if(entities, [&node](const ModelEntity& e) { return e.node == node.index(); });
    std::vector<uint32_t>& ids = *set_ids_of_node_.at(&node);
    set_ids_of_node_.erase(&node);
    ASSERT_TRUE(kit.graph.destroy(node).ok());
    for (uint32_t& id : ids) {  // those below others first
      if (id == kNoLodSetId) continue;
      ASSERT_TRUE(kit.sets.release(id).ok());
      id = kNoLodSetId;
    }
  }
  std::vector<SceneNode*> map_nodes() const {
    std::vector<SceneNode*> out;
    for (uint32_t n = 1; n < kit.graph.node_capacity(); ++n) {  // in an order that does not depend on addresses
      SceneNode* const node = kit.graph.node_at(n);
      if (node != nullptr && set_ids_of_node_.count(node) != 0) out.push_back(node);
    }
    return out;
  }
  /// Whether what stands in a node is in the world, from now on.
  void set_in_world(const SceneNode& node, bool is_in_world) {
    for (ModelEntity& e : entities)
      if (e.node == node.index()) e.is_in_world = is_in_world;
  }
  /// Makes sets ready or not, and lets time pass.
  void change_sets() {
    uint32_t next = 0;
    for (const std::vector<uint32_t>& ids : set_ids_) {
      for (size_t r = ids.size(); r-- > 0; ++next) {
        if (ids[r] == kNoLodSetId || !dice.chance(0.3)) continue;
        sets_[next].is_ready = dice.chance(0.7);
        ASSERT_TRUE(kit.sets.set_ready(ids[r], sets_[next].is_ready).ok());
      }
    }
    ASSERT_TRUE(kit.sets.update(dice.number(0, 0.6f)).ok());
    read_ramps();
  }

  /// How far sets are faded in is their table's affair.
  void read_ramps() {
    uint32_t next = 0;
    for (const std::vector<uint32_t>& ids : set_ids_) {
      for (size_t r = ids.size(); r-- > 0; ++next)  // as they were made
        if (ids[r] != kNoLodSetId) sets_[next].ramp = kit.sets.find(ids[r])->ramp;
    }
  }

 private:
  void fill() {
    ExteriorNode& root = *kit.graph.root();
    const uint32_t alone = dice.below(120);
    for (uint32_t i = 0; i < alone; ++i) insert(root, dice.chance(0.5) ? ContainerUse::placed : ContainerUse::dynamic);
    for (uint32_t i = dice.below(8); i > 0; --i) insert(root, ContainerUse::straddling);
    for (uint32_t i = dice.below(20); i > 0; --i) add_light();
    const uint32_t nodes = 1 + dice.below(4);
    for (uint32_t n = 0; n < nodes; ++n) {
      StreamedNode& node = *kit.graph.create_streamed();
      const bool is_linked = dice.chance(0.9), is_enabled = dice.chance(0.9);
      add_map(node, 1 + dice.below(dice.chance(0.3) ? 700 : 60), is_linked && is_enabled);
      for (uint32_t i = dice.below(10); i > 0; --i) insert(node, ContainerUse::placed, is_linked && is_enabled);
      if (is_linked) {
        ASSERT_TRUE(kit.graph.append(root, node).ok());
      }
      if (!is_enabled) {
        ASSERT_TRUE(kit.graph.set_enabled(node, false).ok());
      }
    }
    // Holes, where somebody stood once.
    for (size_t i = entities.size(); i-- > 0;) {
      if (!entities[i].slot || !dice.chance(0.15)) continue;
      ASSERT_TRUE(kit.graph.erase(entities[i].slot).ok());
      entities.erase(entities.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
};

}  // namespace meridian::test
