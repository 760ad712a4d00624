// SPDX-License-Identifier: MIT
// Nodes, the lock, and the memory of the scene. Containers: scene_containers.cpp; lights: scene_lights.cpp.
#include "meridian/scene/scene_graph.h"

#include <cstring>
#include <new>

#include "base/clock.h"
#include "meridian/base/assert.h"
#include "meridian/core/game_config.h"
#include "scene/desc_bounds.h"
#include "scene/scene_records.h"

namespace meridian {
namespace {

constexpr size_t kBlockAlignment = 64;

uint8_t with_flag(uint8_t flags, NodeFlags flag, bool on) {
  return static_cast<uint8_t>(on ? flags | flag : flags & ~flag);
}

/// Bytes that a pool takes, and what aligning it may cost.
template <class T>
size_t pool_bytes(uint32_t count) {
  return size_t{count} * (detail::slot_stride(sizeof(T), alignof(T)) + 8) + 32 + kBlockAlignment;
}
template <class T>
size_t array_bytes(size_t count) {
  return count * sizeof(T) + kBlockAlignment;  // NOLINT(bugprone-sizeof-expression): some are arrays of pointers
}

}  // namespace

Result<SceneCapacities> scene_capacities(const GameConfig& config) {
  SceneCapacities out;
  struct Row {
    const char* name;
    uint32_t* value;
  } const rows[] = {{"fwStreamedSceneGraphNode", &out.streamed_nodes},
                    {"fwInteriorSceneGraphNode", &out.interior_nodes},
                    {"fwRoomSceneGraphNode", &out.room_nodes},
                    {"fwPortalSceneGraphNode", &out.portal_nodes},
                    {"fwEntityContainer", &out.containers},
                    {"fwFixedEntityContainer", &out.fixed_containers},
                    {"fwSoAEntityContainer", &out.soa_containers},
                    {"fwLightEntity", &out.lights}};
  for (const Row& row : rows) {
    const Result<uint32_t> size = config.size_of_pool(hash_name(row.name), *row.value);
    if (!size.ok()) return size.status();
    *row.value = size.value();
  }
  const Result<uint32_t> descriptors =
      config.size_of_pool(hash_name("fwEntityDescPool"), static_cast<uint32_t>(out.descriptors));
  if (!descriptors.ok()) return descriptors.status();
  out.descriptors = descriptors.value();
  const uint64_t nodes = 1ull + out.streamed_nodes + out.interior_nodes + out.room_nodes + out.portal_nodes;
  if (nodes > 0xFFFF) return Status{StatusCode::too_large, "a scene has at most 65 535 nodes; detail = nodes", nodes};
  return out;
}

SceneGraph::~SceneGraph() {
  if (allocator_ == nullptr) return;
  MERIDIAN_ASSERT(locks_ == 0, "a scene is not locked when it ends");
  locks_ = 0;
  streamed_.shutdown();
  interiors_.shutdown();
  rooms_.shutdown();
  portals_.shutdown();
  memory_->deallocate(block_, block_bytes_, kBlockAlignment);
}

void* SceneGraph::take_bytes(size_t bytes, size_t alignment) {
  const size_t pad = (alignment - reinterpret_cast<uintptr_t>(next_byte_) % alignment) % alignment;
  const std::byte* const end = static_cast<std::byte*>(block_) + block_bytes_;
  if (pad + bytes > static_cast<size_t>(end - next_byte_)) return nullptr;
  std::byte* const from = next_byte_ + pad;
  next_byte_ = from + bytes;
  return from;
}

template <class T>
T* SceneGraph::take_array(size_t count) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): some are arrays of pointers
  T* const out = static_cast<T*>(take_bytes(count * sizeof(T), alignof(T) < 16 ? 16 : alignof(T)));
  MERIDIAN_ASSERT(out != nullptr, "the scene's block is as large as what stands in it");
  for (size_t i = 0; i < count; ++i) ::new (static_cast<void*>(out + i)) T();
  return out;
}

Status SceneGraph::init(const SceneCapacities& c, Allocator& allocator, MemoryTracker* tracker) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "a scene is initialised once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "a scene is initialised once", 0};
  const uint64_t nodes = 1ull + c.streamed_nodes + c.interior_nodes + c.room_nodes + c.portal_nodes;
  if (nodes > 0xFFFF) return {StatusCode::too_large, "a scene has at most 65 535 nodes; detail = nodes", nodes};
  const uint64_t all = uint64_t{c.containers} + uint64_t{c.fixed_containers} * kChunkContainers + c.soa_containers;
  if (all > kMaxHierarchyItems)
    return {StatusCode::too_large, "a scene has at most 2^24 containers; detail = containers", all};
  MemoryTracker& rows = tracker != nullptr ? *tracker : default_memory_tracker();
  capacities_ = c;
  node_capacity_ = static_cast<uint32_t>(nodes);
  first_fixed_ = c.containers;
  first_soa_ = first_fixed_ + c.fixed_containers * kChunkContainers;
  container_capacity_ = first_soa_ + c.soa_containers;
  const size_t containers = container_capacity_;
  // A block of descriptors for each container, a chunk for kChunkContainers of them.
  const uint32_t desc_blocks = c.containers + c.fixed_containers + c.soa_containers;

  memory_.emplace("SceneGraph", rows, allocator);
  block_bytes_ = pool_bytes<StreamedNode>(c.streamed_nodes) + pool_bytes<InteriorNode>(c.interior_nodes) +
                 pool_bytes<RoomNode>(c.room_nodes) + pool_bytes<PortalNode>(c.portal_nodes) +
                 array_bytes<ExteriorNode>(1) + array_bytes<SceneNode*>(nodes) + array_bytes<DescBounds>(nodes) +
                 array_bytes<uint8_t>(nodes) + array_bytes<ContainerView>(containers) +
                 array_bytes<WideBoxes>(containers) + array_bytes<ContainerLinks>(containers) +
                 array_bytes<DescBounds>(containers * (kContainerSubBlocks + 1)) + array_bytes<Record>(containers) +
                 array_bytes<uint32_t>(desc_blocks) + 2 * array_bytes<EntityDesc>(c.lights) +
                 array_bytes<LightChange>(c.light_updates) + kBlockAlignment;
  block_ = memory_->allocate(block_bytes_, kBlockAlignment);
  if (block_ == nullptr) {
    return {StatusCode::out_of_memory, "no memory for the scene; detail = its bytes", block_bytes_};
  }
  allocator_ = &allocator;
  next_byte_ = static_cast<std::byte*>(block_);
  const auto pool = [&](auto& of, const char* name, uint32_t capacity) {
    return of.init({.name = name, .capacity = capacity, .tracker = &rows}, block_allocator_);
  };
  if (Status s = pool(streamed_, "fwStreamedSceneGraphNode", c.streamed_nodes); !s.ok()) return s;
  if (Status s = pool(interiors_, "fwInteriorSceneGraphNode", c.interior_nodes); !s.ok()) return s;
  if (Status s = pool(rooms_, "fwRoomSceneGraphNode", c.room_nodes); !s.ok()) return s;
  if (Status s = pool(portals_, "fwPortalSceneGraphNode", c.portal_nodes); !s.ok()) return s;
  root_ = take_array<ExteriorNode>(1);
  root_->flags_ |= kNodeInWorld;
  nodes_ = take_array<SceneNode*>(nodes);
  nodes_[0] = root_;
  node_bounds_ = take_array<DescBounds>(nodes);
  node_dirty_ = take_array<uint8_t>(nodes);
  table_.views = {take_array<ContainerView>(containers), containers};
  table_.sub_boxes = {take_array<WideBoxes>(containers), containers};
  table_.bounds = {take_array<DescBounds>(containers), containers};
  table_.sub_blocks = {take_array<DescBounds>(containers * kContainerSubBlocks), containers * kContainerSubBlocks};
  table_.links = {take_array<ContainerLinks>(containers), containers};
  records_ = take_array<Record>(containers);
  block_owner_ = take_array<uint32_t>(desc_blocks);
  lights_ = take_array<EntityDesc>(c.lights);
  merged_ = take_array<EntityDesc>(c.lights);
  light_changes_ = take_array<LightChange>(c.light_updates);
  link_free_containers();

  const DescPoolConfig desc_config{.name = "fwEntityDescPool",
                                   .bytes = c.descriptors * sizeof(EntityDesc),
                                   .max_blocks = desc_blocks,
                                   .on_moved = &on_moved,
                                   .user = this,
                                   .prefault = c.prefault,
                                   .tracker = &rows};
  if (Status s = desc_pool_.init(desc_config, allocator); !s.ok()) return s;
  return hierarchy_.init(container_capacity_, *memory_);
}

// --- nodes ---------------------------------------------------------------------------------------------

template <class Node>
Node* SceneGraph::create(Pool<Node>& pool, uint32_t first_index) {
  Node* const node = pool.create();
  if (node == nullptr) return nullptr;
  node->index_ = static_cast<uint16_t>(first_index + pool.handle_of(*node).slot);
  nodes_[node->index_] = node;
  node_bounds_[node->index_] = {};
  node_dirty_[node->index_] = 0;
  return node;
}

StreamedNode* SceneGraph::create_streamed() { return create(streamed_, 1); }
InteriorNode* SceneGraph::create_interior() { return create(interiors_, 1 + capacities_.streamed_nodes); }
RoomNode* SceneGraph::create_room() {
  return create(rooms_, 1 + capacities_.streamed_nodes + capacities_.interior_nodes);
}
PortalNode* SceneGraph::create_portal() {
  return create(portals_, 1 + capacities_.streamed_nodes + capacities_.interior_nodes + capacities_.room_nodes);
}

bool SceneGraph::has_room_for(uint32_t streamed, uint32_t interiors, uint32_t rooms, uint32_t portals) const {
  const auto fits = [](const auto& pool, uint32_t more) { return more <= pool.capacity() - pool.used(); };
  return fits(streamed_, streamed) && fits(interiors_, interiors) && fits(rooms_, rooms) && fits(portals_, portals);
}

void SceneGraph::forget(SceneNode& node) {
  while (node.first_child_ != nullptr) {
    SceneNode& child = *node.first_child_;
    detach(child);
    forget(child);
  }
  while (node.first_container_ != kNoContainer) release_container(node.first_container_);
  nodes_[node.index_] = nullptr;
  node_bounds_[node.index_] = {};
  node_dirty_[node.index_] = 0;
  switch (node.type_) {
    case NodeType::streamed:
      return streamed_.destroy(static_cast<StreamedNode&>(node));
    case NodeType::interior:
      return interiors_.destroy(static_cast<InteriorNode&>(node));
    case NodeType::room:
      return rooms_.destroy(static_cast<RoomNode&>(node));
    case NodeType::portal:
      return portals_.destroy(static_cast<PortalNode&>(node));
    case NodeType::exterior:
      return;
  }
}

Status SceneGraph::destroy(SceneNode& node) {
  MERIDIAN_ASSERT(&node != root_, "the outside stays as long as its scene");
  if (&node == root_) return {StatusCode::in_use, "the outside stays as long as its scene", 0};
  if (node.is_in_world() && refuse_if_locked()) return refused();
  if (node.parent_ != nullptr) detach(node);
  forget(node);
  return {};
}

Status SceneGraph::append(SceneNode& parent, SceneNode& child) {
  const bool is_free = child.parent_ == nullptr && &child != root_ && &child != &parent;
  MERIDIAN_ASSERT(is_free, "a node has one parent; the root has none");
  if (!is_free) return {StatusCode::in_use, "a node has one parent; the root has none", child.index_};
  for (const SceneNode* above = parent.parent_; above != nullptr; above = above->parent_) {
    if (above == &child) return {StatusCode::in_use, "a node can't stand below itself", child.index_};
  }
  if (parent.is_in_world() && refuse_if_locked()) return refused();
  child.parent_ = &parent;
  child.previous_ = parent.last_child_;
  (parent.last_child_ != nullptr ? parent.last_child_->next_ : parent.first_child_) = &child;
  parent.last_child_ = &child;
  refresh_below(child, parent.is_in_world());
  return {};
}

void SceneGraph::detach(SceneNode& child) {
  SceneNode& parent = *child.parent_;
  (child.previous_ != nullptr ? child.previous_->next_ : parent.first_child_) = child.next_;
  (child.next_ != nullptr ? child.next_->previous_ : parent.last_child_) = child.previous_;
  child.parent_ = child.next_ = child.previous_ = nullptr;
  refresh_below(child, false);
}

Status SceneGraph::unlink(SceneNode& child) {
  if (child.parent_ == nullptr)
    return {StatusCode::not_found, "the node has no parent; detail = its index", child.index_};
  if (child.is_in_world() && refuse_if_locked()) return refused();
  detach(child);
  return {};
}

Status SceneGraph::set_enabled(SceneNode& node, bool enabled) {
  if (node.is_enabled() == enabled) return {};
  if (node.is_in_world() && refuse_if_locked()) return refused();
  node.flags_ = with_flag(node.flags_, kNodeEnabled, enabled);
  refresh_below(node, node.is_in_world());
  return {};
}

Status SceneGraph::set_closed(PortalNode& portal, bool closed) {
  if (portal.is_closed() == closed) return {};
  if (portal.is_in_world() && refuse_if_locked()) return refused();
  portal.flags_ = with_flag(portal.flags_, kNodeClosed, closed);
  return {};
}

void SceneGraph::set_node_flag(SceneNode& node, NodeFlags flag, bool on) {
  MERIDIAN_ASSERT(flag == kNodeHd || flag == kNodeSpawnPoints, "the others follow from what is done with the node");
  if (flag != kNodeHd && flag != kNodeSpawnPoints) return;
  if (node.is_in_world() && refuse_if_locked()) return;
  node.flags_ = with_flag(node.flags_, flag, on);
}

/// In the world, and neither it nor what is above it is switched off.
bool SceneGraph::is_shown(const SceneNode& node) const {
  if (!node.is_in_world()) return false;
  for (const SceneNode* at = &node; at != nullptr; at = at->parent_) {
    if (!at->is_enabled()) return false;
  }
  return true;
}

void SceneGraph::refresh_below(SceneNode& top, bool in_world) {
  for (SceneWalk walk(&top); walk.node() != nullptr; walk.next()) {
    SceneNode& node = *walk.node();
    node.flags_ = with_flag(node.flags_, kNodeInWorld, in_world);
    if (node.type_ >= NodeType::interior) ++node_epoch_;
    for (uint32_t c = node.first_container_; c != kNoContainer; c = records_[c].next) refresh_view(c);
  }
}

// --- the lock ------------------------------------------------------------------------------------------

bool SceneGraph::refuse_if_locked() {
  if (locks_ == 0) return false;
  MERIDIAN_ASSERT(false, "the scene is locked; World::defer puts changes off");
  ++statistics_.refused;
  return true;
}

Status SceneGraph::refused() const {
  return {StatusCode::in_use, "the scene is locked: defer the change; detail = locks", locks_};
}

void SceneGraph::check_owner() const {
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  static thread_local char mark;
  if (owner_ == nullptr) owner_ = &mark;
  MERIDIAN_ASSERT(owner_ == &mark, "a scene is locked by the thread that owns it");
#endif
}

void SceneGraph::lock() {
  check_owner();
  if (locks_ == 0) {
    (void)flush_lights();
    tighten();
    ++statistics_.locks;
    locked_at_ns_ = steady_now_ns();
  }
  ++locks_;
}

void SceneGraph::unlock() {
  check_owner();
  MERIDIAN_ASSERT(locks_ > 0, "a scene is unlocked as often as it was locked");
  if (locks_ == 0) return;
  if (--locks_ > 0) return;
  const uint64_t held = steady_now_ns() - locked_at_ns_;
  if (held > statistics_.longest_hold_ns) statistics_.longest_hold_ns = held;
  if (unlocked_ != nullptr) unlocked_(unlocked_user_);
}

void SceneGraph::pre_scan(size_t bytes_a_round) {
  check_owner();
  if (locks_ > 0) return;
  (void)flush_lights();
  for (int round = 0; round < 2; ++round) statistics_.compacted_bytes += desc_pool_.compact_round(bytes_a_round);
  tighten();
}

// --- bounds of nodes -----------------------------------------------------------------------------------

void SceneGraph::mark_node(const SceneNode* node) {
  if (node == nullptr) return;
  node_dirty_[node->index_] = 1;
  any_node_dirty_ = true;
}

void SceneGraph::tighten() {
  while (first_dirty_ != kNoContainer) {
    const uint32_t container = first_dirty_;
    Record& record = records_[container];
    first_dirty_ = record.next_dirty;
    record.is_listed_dirty = false;
    if (record.dirty != 0) tighten_container(container);
  }
  if (any_node_dirty_) {
    for (uint32_t i = 0; i < node_capacity_; ++i) {
      if (node_dirty_[i] == 0) continue;
      node_dirty_[i] = 0;
      DescBounds all;
      for (uint32_t c = nodes_[i]->first_container_; c != kNoContainer; c = records_[c].next) {
        detail::merge(all, table_.bounds[c]);
      }
      node_bounds_[i] = all;
    }
    any_node_dirty_ = false;
  }
  hierarchy_.commit();
}

}  // namespace meridian
