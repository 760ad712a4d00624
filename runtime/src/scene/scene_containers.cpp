// SPDX-License-Identifier: MIT
// Containers: their storage, their slots, and the bounds that follow from what is in them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "meridian/base/assert.h"
#include "scene/desc_bounds.h"
#include "scene/scene_records.h"

namespace meridian {
namespace {

/// What counts as growth where what moves is the first in a block, or in a container: what has to grow more is left as
/// it is, and another one begun. [m]
constexpr float kFirstInBlock = 100, kFirstInContainer = 1000;

/// By how much a box grows, all three sides together, if it takes in another one. [m]
float growth(const Aabb& box, const Aabb& other) {
  const Vec3 before = box.max - box.min, after = max(box.max, other.max) - min(box.min, other.min);
  return (after.x - before.x) + (after.y - before.y) + (after.z - before.z);
}

constexpr uint32_t kUseFlags = kContainerDynamic | kContainerStraddling | kContainerLights;

uint32_t flags_of(ContainerUse use) {
  if (use == ContainerUse::dynamic) return kContainerDynamic;
  return use == ContainerUse::straddling ? kContainerStraddling | kContainerDynamic : 0;
}

/// A bit for each of the first `count` distances that is not 0. Requires: a sub-block's can be read, count of them
/// count.
uint32_t used_slots(const uint16_t* distance, uint32_t count) {
  static_assert(std::endian::native == std::endian::little && kSubBlockSlots == 32);
  uint8_t used[kSubBlockSlots];  // so that compilers take many at once
  for (uint32_t i = 0; i < kSubBlockSlots; ++i) used[i] = distance[i] != 0 ? 1 : 0;
  uint32_t out = 0;
  for (uint32_t i = 0; i < kSubBlockSlots; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, used + i, sizeof(eight));
    out |= static_cast<uint32_t>(eight * 0x0102040810204080u >> 56) << i;  // byte k ends in bit k
  }
  return count < kSubBlockSlots ? out & ((1u << count) - 1) : out;
}

/// A container's lanes are 14 KB. Copies of more than 2 KB some C libraries leave to an instruction that, by what was
/// measured, takes up to twice as long as their own loops where the places differ from one call to the next.
void copy(std::byte* to, std::span<const std::byte> from) {
  constexpr size_t kPiece = 1024;
  for (size_t done = 0; done < from.size(); done += kPiece) {
    std::memcpy(to + done, from.data() + done, std::min(kPiece, from.size() - done));
  }
}

constexpr Status kNoSuchSlot{StatusCode::not_found, "no entity is in this slot of the scene", 0};

constexpr uint32_t slots_up_to(uint32_t wanted, uint32_t least) {
  const uint32_t slots = padded_slots(wanted < least ? least : wanted);
  return slots < kContainerSlots ? slots : kContainerSlots;
}

}  // namespace

Status detail::check_desc(const EntityDesc& d) {
  const bool is_number = is_finite(CentredBox{d.centre, d.half}) && is_finite(d.pivot) && is_finite(d.distance);
  if (!is_number) return {StatusCode::bad_value, "a descriptor is made of finite numbers", 0};
  if (d.half.x < 0 || d.half.y < 0 || d.half.z < 0) {
    return {StatusCode::bad_value, "a descriptor's half extents are not negative", 0};
  }
  if (!(d.distance > 0)) return {StatusCode::bad_value, "a descriptor's distance is above 0", 0};
  if (d.level >= kLodLevels) return {StatusCode::bad_value, "no such level of detail; detail = the level", d.level};
  return {};
}

uint32_t SceneGraph::next_container(uint32_t container) const {
  MERIDIAN_ASSERT(container < container_capacity_, "no such container");
  return container < container_capacity_ && records_[container].node != nullptr ? records_[container].next
                                                                                : kNoContainer;
}
SceneNode* SceneGraph::node_of(uint32_t container) const {
  MERIDIAN_ASSERT(container < container_capacity_, "no such container");
  return container < container_capacity_ ? records_[container].node : nullptr;
}

// --- storage -------------------------------------------------------------------------------------------

void SceneGraph::link_free_containers() {
  const uint32_t ends[3] = {first_fixed_, first_soa_, container_capacity_};
  uint32_t first = 0;
  for (uint32_t kind = 0; kind < 3; ++kind) {
    free_[kind] = kNoContainer;
    // Chunks of fixed containers are taken as a whole: their list is of first containers.
    const uint32_t step = kind == static_cast<uint32_t>(Kind::fixed) ? kChunkContainers : 1;
    for (uint32_t c = ends[kind]; c > first; c -= step) {
      records_[c - step].next = free_[kind];
      free_[kind] = c - step;
    }
    for (uint32_t c = first; c < ends[kind]; ++c) records_[c].kind = static_cast<Kind>(kind);
    first = ends[kind];
  }
}

uint32_t SceneGraph::take_container(Kind kind) {
  static constexpr const char* kNames[3] = {"fwEntityContainer", "fwFixedEntityContainer", "fwSoAEntityContainer"};
  uint32_t& head = free_[static_cast<uint32_t>(kind)];
  if (head == kNoContainer) {
    const NameHash name = hash_name(kNames[static_cast<uint32_t>(kind)]);
    if (said_.first(name.value)) {
      log_message(LogLevel::error, name, "%s pool full: raise PoolSize '%s' in gameconfig",
                  kNames[static_cast<uint32_t>(kind)], kNames[static_cast<uint32_t>(kind)]);
    }
    return kNoContainer;
  }
  const uint32_t container = head;
  head = records_[container].next;
  ++used_[static_cast<uint32_t>(kind)];
  return container;
}

/// Undoes take_container for one that was not used.
void SceneGraph::give_container(uint32_t container) {
  const auto kind = static_cast<uint32_t>(records_[container].kind);
  records_[container].next = free_[kind];
  free_[kind] = container;
  --used_[kind];
}

/// Not for those of chunks: the outside keeps them.
void SceneGraph::release_container(uint32_t container) {
  Record& record = records_[container];
  const Kind kind = record.kind;
  if (record.node != nullptr) unchain(container);
  if (record.is_in_hierarchy) hierarchy_.remove(container);
  const bool was_listed = record.is_listed_dirty;
  const uint32_t next_dirty = record.next_dirty;
  const DescBlockId block = record.block;
  record = {};
  record.kind = kind;
  record.is_listed_dirty = was_listed;  // the list of dirty ones is singly linked: it lets go of this one in its turn
  record.next_dirty = next_dirty;
  table_.views[container] = {};
  table_.sub_boxes[container] = {};
  table_.links[container] = {};
  table_.bounds[container] = {};
  for (uint32_t s = 0; s < kContainerSubBlocks; ++s) table_.sub_blocks[container * kContainerSubBlocks + s] = {};
  desc_pool_.free(block);
  give_container(container);
}

void SceneGraph::chain(SceneNode& node, uint32_t container) {
  Record& record = records_[container];
  record.node = &node;
  record.next = kNoContainer;
  record.previous = node.last_container_;
  (record.previous != kNoContainer ? records_[record.previous].next : node.first_container_) = container;
  node.last_container_ = container;
  ++node.container_count_;
  detail::merge(node_bounds_[node.index_], table_.bounds[container]);
  mark_node(&node);
  refresh_view(container);
}

void SceneGraph::unchain(uint32_t container) {
  Record& record = records_[container];
  SceneNode& node = *record.node;
  (record.previous != kNoContainer ? records_[record.previous].next : node.first_container_) = record.next;
  (record.next != kNoContainer ? records_[record.next].previous : node.last_container_) = record.previous;
  --node.container_count_;
  mark_node(&node);
  record.node = nullptr;
  record.next = record.previous = kNoContainer;
  refresh_view(container);
}

Status SceneGraph::unlink_container(SceneNode& node, uint32_t container) {
  if (container >= container_capacity_ || records_[container].node != &node) {
    return {StatusCode::not_found, "the container is not in this node; detail = its index", container};
  }
  if (node.is_in_world() && refuse_if_locked()) return refused();
  unchain(container);
  return {};
}

Status SceneGraph::link_container(SceneNode& node, uint32_t container) {
  const bool is_loose = container < container_capacity_ && (table_.views[container].flags & kContainerUsed) != 0 &&
                        records_[container].node == nullptr;
  if (!is_loose) return {StatusCode::in_use, "a container is in one node; detail = its index", container};
  if (records_[container].kind == Kind::fixed && &node != root_) {  // a node that goes would take the whole chunk along
    return {StatusCode::in_use, "containers of moving entities stay outside; detail = the index", container};
  }
  if (node.is_in_world() && refuse_if_locked()) return refused();
  chain(node, container);
  return {};
}

Status SceneGraph::destroy_container(uint32_t container) {
  if (container >= container_capacity_ || (table_.views[container].flags & kContainerUsed) == 0) {
    return {StatusCode::not_found, "no such container; detail = its index", container};
  }
  if (records_[container].kind == Kind::fixed) {
    return {StatusCode::in_use, "containers of moving entities stay; detail = the index", container};
  }
  const SceneNode* const node = records_[container].node;
  if (node != nullptr && node->is_in_world() && refuse_if_locked()) return refused();
  release_container(container);
  return {};
}

/// A container of `slots` slots whose entities are known by handles.
Status SceneGraph::make_normal(SceneNode& node, uint32_t slots, uint32_t flags, uint32_t& container) {
  // First the container: there are as many blocks as containers, and the message is to name what is missing.
  container = take_container(Kind::normal);
  if (container == kNoContainer) {
    return {StatusCode::out_of_slots, "no container is free; detail = how many there are", capacities_.containers};
  }
  const Result<DescBlockId> block = desc_pool_.allocate(slots * detail::kHostSlotBytes, !is_locked());
  if (!block.ok()) {
    give_container(container);
    return block.status();
  }
  use_block(container, block.value(), 0, slots, flags);
  chain(node, container);
  node.roomy_container_ = container;
  return {};
}

Status SceneGraph::make_chunk(SceneNode& node) {
  constexpr size_t kContainerBytes = kContainerSlots * detail::kHostSlotBytes;
  const uint32_t first = take_container(Kind::fixed);
  if (first == kNoContainer) {
    return {StatusCode::out_of_slots, "no chunk for dynamic entities is free; detail = how many there are",
            capacities_.fixed_containers};
  }
  const Result<DescBlockId> block = desc_pool_.allocate_fixed(kChunkContainers * kContainerBytes, !is_locked());
  if (!block.ok()) {
    give_container(first);
    return block.status();
  }
  for (uint32_t i = 0; i < kChunkContainers; ++i) {
    use_block(first + i, block.value(), i * kContainerBytes, kContainerSlots, kContainerDynamic);
    chain(node, first + i);
  }
  return {};
}

/// Lays empty slots and their handles out in a part of a block.
void SceneGraph::use_block(uint32_t container, DescBlockId block, size_t offset, uint32_t slots, uint32_t flags) {
  records_[container].block = block;
  block_owner_[block.value] =
      records_[container].kind == Kind::fixed ? container - (container - first_fixed_) % kChunkContainers : container;
  ContainerView& view = table_.views[container];
  view = {};
  view.lanes = desc_pool_.data(block) + offset;
  view.handles = reinterpret_cast<const EntityHandle*>(view.lanes + lane_bytes(slots));
  view.capacity = slots;
  view.flags = flags | kContainerUsed;
  const DescLanes lanes = desc_lanes(view);
  for (uint32_t i = 0; i < slots; ++i) store_never_visible(lanes, i, kNoEntity);
  std::fill_n(const_cast<EntityHandle*>(view.handles), slots, EntityHandle{});
}

void SceneGraph::on_moved(void* user, DescBlockId block, std::byte* now) {
  SceneGraph& graph = *static_cast<SceneGraph*>(user);
  ContainerView& view = graph.table_.views[graph.block_owner_[block.value]];
  if (view.handles != nullptr) view.handles = reinterpret_cast<const EntityHandle*>(now + lane_bytes(view.capacity));
  view.lanes = now;
}

// --- what maps bring -----------------------------------------------------------------------------------

Status SceneGraph::add_blocks(SceneNode& node, const SceneBlocks& blocks) {
  if (node.is_in_world() && refuse_if_locked()) return refused();
  const uint32_t before = node.last_container_;
  const auto undo = [&](const Status& why) {  // all or none: what was added goes again
    while (node.last_container_ != before) release_container(node.last_container_);
    return why;
  };
  for (const DescContainer& from : blocks.containers) {
    const uint32_t slots = padded_slots(from.count);
    const uint32_t container = take_container(Kind::soa);
    if (container == kNoContainer) {
      return undo({StatusCode::out_of_slots, "no container for a map is free; detail = those it needs",
                   blocks.containers.size()});
    }
    const Result<DescBlockId> block = desc_pool_.allocate(lane_bytes(slots), !is_locked());
    if (!block.ok()) {
      give_container(container);
      return undo(block.status());
    }
    Record& record = records_[container];
    record.block = block.value();
    table_.links[container] = {blocks.links, blocks.set_ids};
    block_owner_[block.value().value] = container;
    std::byte* const lanes = desc_pool_.data(block.value());
    copy(lanes, blocks.lanes.subspan(lane_bytes(from.first_slot), lane_bytes(slots)));
    ContainerView& view = table_.views[container];
    view = {};
    view.lanes = lanes;
    view.group = blocks.group;
    view.capacity = slots;
    view.slots = from.count;
    view.flags = kContainerUsed;
    const DescLanes arrays = desc_lanes(view);
    for (uint32_t s = 0; s < from.sub_block_count; ++s) {
      const uint32_t first = s * kSubBlockSlots, count = std::min(from.count - first, kSubBlockSlots);
      record.used[s] = used_slots(arrays.distance + first, count);
      record.count = static_cast<uint16_t>(record.count + std::popcount(record.used[s]));
    }
    table_.bounds[container] = from.bounds;
    for (uint32_t s = 0; s < from.sub_block_count; ++s) {
      const DescBounds& bounds = blocks.sub_blocks[from.first_sub_block + s];
      table_.sub_blocks[container * kContainerSubBlocks + s] = bounds;
      if (!detail::is_empty(bounds)) table_.sub_boxes[container].set_lane(s, detail::box_of(bounds));
    }
    chain(node, container);
  }
  return {};
}

// --- slots ---------------------------------------------------------------------------------------------

/// The first container of the node for this use that has a free slot.
uint32_t SceneGraph::find_room(const SceneNode& node, uint32_t use_flags) const {
  const auto fits = [&](uint32_t c) {
    const ContainerView& view = table_.views[c];
    return (view.flags & kUseFlags) == use_flags && view.handles != nullptr && records_[c].node == &node &&
           records_[c].count < view.capacity;
  };
  // The last one that was made or got a hole is asked first: outside, the chain can be long.
  if (node.roomy_container_ != kNoContainer && fits(node.roomy_container_)) return node.roomy_container_;
  for (uint32_t c = node.first_container_; c != kNoContainer; c = records_[c].next) {
    if (fits(c)) return c;
  }
  return kNoContainer;
}

/// Of what moves outside, the block with a free slot that has to grow least for a box, its container included: so those
/// that stand together are together, and what looks for some of them leaves the others out. False: no chunk has room.
bool SceneGraph::find_near(const SceneNode& node, const Aabb& box, uint32_t& container, uint32_t& sub_block) const {
  float least = std::numeric_limits<float>::infinity();
  for (uint32_t c = first_fixed_; c < first_soa_; ++c) {
    const Record& record = records_[c];
    const ContainerView& view = table_.views[c];
    if (view.capacity == 0 || record.node != &node || record.count == view.capacity) continue;
    const DescBounds& all = table_.bounds[c];
    const float by_all = detail::is_empty(all) ? kFirstInContainer : growth(detail::box_of(all), box);
    if (!(by_all < least)) continue;
    for (uint32_t i = 0; i < kContainerSubBlocks; ++i) {
      if (record.used[i] == ~0u) continue;
      const DescBounds& block = table_.sub_blocks[c * kContainerSubBlocks + i];
      const float by = by_all + (detail::is_empty(block) ? kFirstInBlock : growth(detail::box_of(block), box));
      if (!(by < least)) continue;
      least = by;
      container = c;
      sub_block = i;
    }
  }
  return is_finite(least);
}

Status SceneGraph::make_room(SceneNode& node, ContainerUse use, uint32_t& container) {
  uint32_t held = 0;  // slots of this use
  for (uint32_t c = node.first_container_; c != kNoContainer; c = records_[c].next) {
    const ContainerView& view = table_.views[c];
    if ((view.flags & kUseFlags) == flags_of(use) && view.handles != nullptr) held += view.capacity;
  }
  switch (use) {
    case ContainerUse::dynamic:
      if (node.type_ != NodeType::exterior) break;
      if (Status made = make_chunk(node); !made.ok()) return made;
      container = find_room(node, kContainerDynamic);
      return {};
    case ContainerUse::straddling:
      if (held > 0) {
        return {StatusCode::out_of_slots, "too many entities reach through portals; detail = most", kStraddlingSlots};
      }
      return make_normal(node, kStraddlingSlots, flags_of(use), container);
    case ContainerUse::placed:
      break;
  }
  // Outside there are many; rooms hold few.
  return make_normal(node, slots_up_to(held / 2, node.type_ == NodeType::exterior ? kStaticGrowth : kLanes),
                     flags_of(use), container);
}

Result<SceneSlot> SceneGraph::insert(SceneNode& node, ContainerUse use, EntityHandle entity, const EntityDesc& desc) {
  const bool fits = use != ContainerUse::straddling || node.type_ == NodeType::exterior;
  MERIDIAN_ASSERT(fits, "what straddles a portal stands in the outside node");
  if (!fits) return Status{StatusCode::bad_value, "what straddles a portal stands in the outside node", 0};
  if (const Status good = detail::check_desc(desc); !good.ok()) return good;
  if (node.is_in_world() && refuse_if_locked()) return refused();
  uint32_t container = kNoContainer, word = 0;
  const bool is_near = use == ContainerUse::dynamic && node.type_ == NodeType::exterior &&
                       find_near(node, {desc.centre - desc.half, desc.centre + desc.half}, container, word);
  if (!is_near) container = find_room(node, flags_of(use));
  if (container == kNoContainer) {
    if (const Status made = make_room(node, use, container); !made.ok()) return made;
  }
  Record& record = records_[container];
  while (record.used[word] == ~0u) ++word;
  const uint32_t slot = word * kSubBlockSlots + static_cast<uint32_t>(std::countr_one(record.used[word]));
  ContainerView& view = table_.views[container];
  MERIDIAN_ASSERT(slot < view.capacity, "a container with room has a free slot");
  record.used[word] |= 1u << slot % kSubBlockSlots;
  ++record.count;
  if (slot >= view.slots) view.slots = static_cast<uint16_t>(slot + 1);
  const_cast<EntityHandle*>(view.handles)[slot] = entity;
  store(container, slot, desc);
  return SceneSlot{container, slot};
}

bool SceneGraph::is_used(SceneSlot at) const {
  if (at.container >= container_capacity_ || at.slot >= table_.views[at.container].capacity) return false;
  return (records_[at.container].used[at.slot / kSubBlockSlots] >> at.slot % kSubBlockSlots & 1) != 0;
}

Status SceneGraph::check_change(SceneSlot at) {
  if (!is_used(at)) return kNoSuchSlot;
  const SceneNode* const node = records_[at.container].node;
  if (node != nullptr && node->is_in_world() && refuse_if_locked()) return refused();
  return {};
}

Status SceneGraph::erase(SceneSlot at) {
  if (const Status good = check_change(at); !good.ok()) return good;
  Record& record = records_[at.container];
  ContainerView& view = table_.views[at.container];
  const DescLanes lanes = desc_lanes(view);
  const bool is_host = view.handles != nullptr;
  store_never_visible(lanes, at.slot, is_host ? kNoEntity : lanes.entity[at.slot]);
  if (is_host) const_cast<EntityHandle*>(view.handles)[at.slot] = {};
  record.used[at.slot / kSubBlockSlots] &= ~(1u << at.slot % kSubBlockSlots);
  --record.count;
  if (is_host && record.node != nullptr) record.node->roomy_container_ = at.container;
  if (record.count == 0 && record.kind == Kind::normal) {
    release_container(at.container);
    return {};
  }
  touch(at.container, at.slot);
  if (record.count == 0) refresh_view(at.container);
  return {};
}

/// Writes lanes and makes the blocks around large enough.
void SceneGraph::store(uint32_t container, uint32_t slot, const EntityDesc& desc) {
  ContainerView& view = table_.views[container];
  const DescLanes lanes = desc_lanes(view);
  if ((desc.flags & kDescSpawnPoints) != 0) view.flags |= kContainerSpawnPoints;
  if (view.handles != nullptr) {
    detail::store_host_desc(lanes, slot, desc);
  } else {
    const uint32_t entity = lanes.entity[slot];
    store_desc(lanes, slot, desc);
    lanes.entity[slot] = entity;
  }
  grow_bounds(container, slot);
  touch(container, slot);
}

Status SceneGraph::write(SceneSlot at, const EntityDesc& desc) {
  if (const Status good = detail::check_desc(desc); !good.ok()) return good;
  if (const Status good = check_change(at); !good.ok()) return good;
  store(at.container, at.slot, desc);
  return {};
}

EntityDesc SceneGraph::read(SceneSlot at) const {
  EntityDesc out;
  if (!is_used(at)) return out;
  const DescLanes lanes = desc_lanes(table_.views[at.container]);
  const uint32_t i = at.slot;
  out.handle = lanes.entity[i];
  out.centre = {lanes.centre_x[i], lanes.centre_y[i], lanes.centre_z[i]};
  out.half = {lanes.half_x[i], lanes.half_y[i], lanes.half_z[i]};
  out.radius = round_up(length(out.half));
  out.pivot = detail::pivot_of(lanes, i, links_of(at.container));
  out.distance = lanes.distance[i];
  out.mask = lanes.mask[i];
  out.lod_set = lanes.lod_set[i];
  out.type = type_of(lanes.type_level[i]);
  out.level = level_of(lanes.type_level[i]);
  out.alpha = lanes.alpha[i];
  out.flags = lanes.flags[i];
  return out;
}

EntityLink SceneGraph::link_at(SceneSlot at) const {
  EntityLink out;
  if (!is_used(at)) return out;
  const DescLanes lanes = desc_lanes(table_.views[at.container]);
  const std::span<const LodLinkRow> links = links_of(at.container);
  if (lanes.lod_set[at.slot] >= links.size()) return out;
  out.lod_set = lanes.lod_set[at.slot];
  out.is_parent = (lanes.flags[at.slot] & kDescSetParent) != 0;
  const uint16_t child_of = detail::child_set(lanes, at.slot, links);
  if (child_of < links.size()) out.parent = {links[child_of].pivot, links[child_of].distance};
  return out;
}

Status SceneGraph::set_flags(SceneSlot at, uint16_t mask, uint16_t value) {
  if (const Status good = check_change(at); !good.ok()) return good;
  ContainerView& view = table_.views[at.container];
  uint16_t& flags = desc_lanes(view).flags[at.slot];
  flags = static_cast<uint16_t>((flags & ~mask) | (value & mask));
  if ((mask & value & kDescSpawnPoints) != 0) view.flags |= kContainerSpawnPoints;
  if ((view.flags & kContainerLights) != 0) {  // what is laid out anew comes from the list
    if (EntityDesc* const light = find_light(view.handles[at.slot])) {
      light->flags = (light->flags & ~uint32_t{mask}) | (value & mask);
    }
  }
  return {};
}

Status SceneGraph::set_alpha(SceneSlot at, uint8_t alpha) {
  if (const Status good = check_change(at); !good.ok()) return good;
  desc_lanes(table_.views[at.container]).alpha[at.slot] = alpha;
  return {};
}

Status SceneGraph::set_mask(SceneSlot at, uint16_t mask) {
  if (const Status good = check_change(at); !good.ok()) return good;
  desc_lanes(table_.views[at.container]).mask[at.slot] = mask;
  grow_bounds(at.container, at.slot);
  touch(at.container, at.slot);
  return {};
}

// --- bounds --------------------------------------------------------------------------------------------

std::span<const LodLinkRow> SceneGraph::links_of(uint32_t container) const { return table_.links[container].rows; }

/// Sets what follows from the node, and puts the container into the hierarchy or takes it out.
void SceneGraph::refresh_view(uint32_t container) {
  Record& record = records_[container];
  ContainerView& view = table_.views[container];
  view.flags &= ~uint32_t{kContainerInWorld | kContainerInterior};
  view.node = record.node != nullptr ? record.node->index_ : uint16_t{0};
  if (record.node != nullptr) {
    if (is_shown(*record.node)) view.flags |= kContainerInWorld;
    const NodeType type = record.node->type_;
    if (type == NodeType::room || type == NodeType::portal) view.flags |= kContainerInterior;
  }
  const bool belongs = (view.flags & kContainerInWorld) != 0 && record.count > 0;
  if (belongs == record.is_in_hierarchy) return;
  record.is_in_hierarchy = belongs;
  if (belongs) {
    (void)hierarchy_.insert(container, detail::box_of(table_.bounds[container]));
  } else {
    hierarchy_.remove(container);
  }
}

/// Makes blocks, container, hierarchy and node enclose what is in a slot now.
void SceneGraph::grow_bounds(uint32_t container, uint32_t slot) {
  Record& record = records_[container];
  const DescBounds own = detail::bounds_of_slot(desc_lanes(table_.views[container]), slot, links_of(container));
  const uint32_t sub_block = slot / kSubBlockSlots;
  DescBounds& block = table_.sub_blocks[container * kContainerSubBlocks + sub_block];
  detail::merge(block, own);
  table_.sub_boxes[container].set_lane(sub_block, detail::box_of(block));
  DescBounds& all = table_.bounds[container];
  const Aabb before = detail::box_of(all);
  detail::merge(all, own);
  if (record.is_in_hierarchy) {
    if (!(detail::box_of(all) == before)) (void)hierarchy_.update(container, detail::box_of(all));
  } else if (record.node != nullptr) {
    refresh_view(container);
  }
  if (record.node != nullptr) detail::merge(node_bounds_[record.node->index_], own);
}

/// The sub-block's bounds may be larger than need be from now on.
void SceneGraph::touch(uint32_t container, uint32_t slot) {
  Record& record = records_[container];
  record.dirty = static_cast<uint16_t>(record.dirty | 1u << slot / kSubBlockSlots);
  if (record.is_listed_dirty) return;
  record.is_listed_dirty = true;
  record.next_dirty = first_dirty_;
  first_dirty_ = container;
}

void SceneGraph::tighten_container(uint32_t container) {
  Record& record = records_[container];
  const DescLanes lanes = desc_lanes(table_.views[container]);
  DescBounds all;
  for (uint32_t s = 0; s < kContainerSubBlocks; ++s) {
    DescBounds& block = table_.sub_blocks[container * kContainerSubBlocks + s];
    if ((record.dirty >> s & 1) != 0) {
      block = {};
      for (uint32_t bits = record.used[s]; bits != 0; bits &= bits - 1) {
        const uint32_t slot = s * kSubBlockSlots + static_cast<uint32_t>(std::countr_zero(bits));
        detail::merge(block, detail::bounds_of_slot(lanes, slot, links_of(container)));
      }
      if (detail::is_empty(block)) {
        table_.sub_boxes[container].clear_lane(s);
      } else {
        table_.sub_boxes[container].set_lane(s, detail::box_of(block));
      }
    }
    detail::merge(all, block);
  }
  record.dirty = 0;
  const Aabb before = detail::box_of(table_.bounds[container]);
  table_.bounds[container] = all;
  if (record.is_in_hierarchy && !(detail::box_of(all) == before))
    (void)hierarchy_.update(container, detail::box_of(all));
  mark_node(record.node);
}

}  // namespace meridian
