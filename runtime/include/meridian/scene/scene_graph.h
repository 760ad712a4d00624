// SPDX-License-Identifier: MIT
#pragma once
/// The scene: nodes in a tree, containers of descriptors on the nodes, and the tables and the hierarchy through which
/// jobs read them. Everything has a fixed number, and all nodes and containers stand in one block of memory.
///
///   SceneGraph graph;
///   Status ready = graph.init({});
///   StreamedNode* town = graph.create_streamed();                    // null, and one message, when there are too many
///   ready = graph.append(*graph.root(), *town);                      // its containers are in the world from now on
///   Result<SceneSlot> lamp = graph.insert(*graph.root(), ContainerUse::placed, handle, desc);
///   graph.lock();                                                    // readers may run from here on any thread
///   graph.unlock();
///   ready = graph.erase(lamp.value());
///
/// The lock is a count that says "readers are at work". It protects by refusal: while it holds, whatever would change
/// what readers see returns in_use and changes nothing, and asserts where asserts are on. Nodes that are not in the
/// world can be made and filled meanwhile. Whoever must not wait uses World::defer.
///
/// Boxes of blocks always enclose what is in them. They are made tight again where the lock is taken first.
///
/// Threads: main, but for what says otherwise. Memory: one block in init(), and the pool of descriptors.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/pool.h"
#include "meridian/scene/box_hierarchy.h"
#include "meridian/scene/container_table.h"
#include "meridian/scene/desc_pool.h"
#include "meridian/scene/scene_node.h"

namespace meridian {

class GameConfig;

/// Capacities. The names in brackets are those of their entries in a gameconfig.
struct SceneCapacities {
  uint32_t streamed_nodes = 1000;  ///< [fwStreamedSceneGraphNode]
  uint32_t interior_nodes = 150;   ///< [fwInteriorSceneGraphNode]
  uint32_t room_nodes = 256;       ///< [fwRoomSceneGraphNode]
  uint32_t portal_nodes = 400;     ///< [fwPortalSceneGraphNode]
  uint32_t containers = 800;       ///< of entities that hosts add, of rooms and portals [fwEntityContainer]
  uint32_t fixed_containers = 2;   ///< chunks of kDynamicChunk dynamic entities [fwFixedEntityContainer]
  uint32_t soa_containers = 1000;  ///< of maps [fwSoAEntityContainer]
  uint32_t lights = 4096;          ///< [fwLightEntity]
  uint32_t light_updates = 1024;   ///< waiting to be merged
  size_t descriptors = 64000;      ///< times 64 bytes is the size of the pool [fwEntityDescPool]
  bool prefault = false;           ///< DescPoolConfig::prefault
};
/// The defaults, but for what the configuration says. Errors: too_large (more nodes than a dense index counts).
Result<SceneCapacities> scene_capacities(const GameConfig& config);

/// Dynamic entities of one chunk, whose descriptors never move. [count]
inline constexpr uint32_t kDynamicChunk = 2560;
inline constexpr uint32_t kChunkContainers = kDynamicChunk / kContainerSlots;
/// Smallest growth of what holds static entities. [count]
inline constexpr uint32_t kStaticGrowth = 100;
/// Entities outside that reach through a portal. [count]
inline constexpr uint32_t kStraddlingSlots = 64;

/// Which of a node's containers something stands in.
enum class ContainerUse : uint8_t {
  placed,      ///< stays where it is, as a rule
  dynamic,     ///< moves
  straddling,  ///< moves, and reaches through a portal; on the exterior node only
};

/// Where a descriptor is: kept by the entity, good until the entity is taken out.
struct SceneSlot {
  uint32_t container = kNoContainer;
  uint32_t slot = 0;
  explicit operator bool() const { return container != kNoContainer; }
  friend bool operator==(SceneSlot, SceneSlot) = default;
};

/// What a map brings: containers of descriptors in blocks, as build_blocks makes them or a map stores them.
struct SceneBlocks {
  std::span<const DescContainer> containers;
  std::span<const DescBounds> sub_blocks;
  std::span<const std::byte> lanes;
  std::span<const LodLinkRow> links;  ///< outlives the containers
  EntityHandle group;                 ///< entity 0 of the map
  /// Id of the LOD set of each row (scene/lod_set.h), as long as `links`, or empty. Outlives the containers; its owner
  /// writes it while the scene is not locked.
  std::span<const uint32_t> set_ids{};
};

struct SceneStatistics {
  uint64_t locks = 0;            ///< times that the lock was taken first
  uint64_t longest_hold_ns = 0;  ///< longest time that it was held
  uint64_t compacted_bytes = 0;  ///< moved by compaction
  uint64_t refused = 0;          ///< changes that came while it was locked
};

class SceneGraph {
 public:
  SceneGraph() = default;
  ~SceneGraph();
  SceneGraph(const SceneGraph&) = delete;
  SceneGraph& operator=(const SceneGraph&) = delete;

  /// Requires: called once (asserted; otherwise in_use).
  /// Errors: out_of_memory, too_large (more than 65 535 nodes, or kMaxHierarchyItems containers), bad_value (none).
  Status init(const SceneCapacities& capacities, Allocator& allocator = default_allocator(),
              MemoryTracker* tracker = nullptr);

  // --- nodes -------------------------------------------------------------------------------------------

  ExteriorNode* root() const { return root_; }
  /// A node outside of the world, or null if there are as many as there can be; the pool says so once.
  StreamedNode* create_streamed();
  InteriorNode* create_interior();
  RoomNode* create_room();
  PortalNode* create_portal();
  /// Whether so many could be created now.
  bool has_room_for(uint32_t streamed, uint32_t interiors, uint32_t rooms, uint32_t portals) const;
  /// Takes the node out of the tree, and destroys it with all below it and their containers.
  /// Requires: not the root (asserted). Errors: in_use (in the world, and locked).
  Status destroy(SceneNode& node);

  /// Appends behind the last child. Requires: child has no parent, and is not the root (asserted; otherwise in_use).
  /// Errors: in_use (the parent is in the world, and locked). Cost: O(1), and a step for each container below.
  Status append(SceneNode& parent, SceneNode& child);
  /// Takes a node out of its parent, from any place among the children. Errors: not_found (no parent), in_use (locked).
  Status unlink(SceneNode& child);
  /// Errors: in_use (locked).
  Status set_enabled(SceneNode& node, bool enabled);
  /// Shuts or opens the door of a portal, whatever its flags are: Interior::set_portal_closed asks them first.
  /// Errors: in_use (locked).
  Status set_closed(PortalNode& portal, bool closed);
  /// kNodeHd or kNodeSpawnPoints. Nothing happens to a node in the world while it is locked (asserted).
  void set_node_flag(SceneNode& node, NodeFlags flag, bool on);

  /// The node of a dense index, or null.
  SceneNode* node_at(uint32_t index) const { return index < node_capacity_ ? nodes_[index] : nullptr; }
  uint32_t node_capacity() const { return node_capacity_; }
  /// Rises whenever an interior, a room or a portal comes into the tree or leaves it, is switched on or off, or moves:
  /// so whoever keeps what follows from them sees that it is old. Nodes of maps do not count. Threads: readers.
  uint32_t node_epoch() const { return node_epoch_; }
  /// Called by whoever writes where such nodes are: PortalNode::corners, InteriorNode::at.
  void note_moved_nodes() { ++node_epoch_; }
  /// By dense index: what holds of all that stands in a node itself; see DescBounds. Threads: readers.
  std::span<const DescBounds> node_bounds() const { return {node_bounds_, node_capacity_}; }

  // --- containers --------------------------------------------------------------------------------------

  /// The one behind it in its node's chain, or kNoContainer. Requires: a container's index, here and below (asserted;
  /// otherwise kNoContainer, or null).
  uint32_t next_container(uint32_t container) const;
  /// Null: it is in no node.
  SceneNode* node_of(uint32_t container) const;
  /// Takes a container out of its node's chain, from any place. Its descriptors stay, and are in no node: destroy or
  /// link it. Errors: not_found (it is not in this node's chain; nothing changes), in_use (locked).
  Status unlink_container(SceneNode& node, uint32_t container);
  /// Appends a container that is in no node. Errors: in_use (locked; it is in a node; it is one of moving entities, and
  /// the node is not the root).
  Status link_container(SceneNode& node, uint32_t container);
  /// Frees a container and forgets its descriptors. Errors: in_use (in the world, and locked).
  Status destroy_container(uint32_t container);

  /// Copies a map's blocks into containers of a node, all or none.
  /// Errors: out_of_slots (containers, or room for descriptors; detail = containers or bytes), in_use (locked).
  Status add_blocks(SceneNode& node, const SceneBlocks& blocks);

  /// Puts one descriptor into a container of the node that has a free slot, making one if there is none.
  /// Errors: bad_value (NaN, infinite, negative extents), out_of_slots, in_use (locked).
  Result<SceneSlot> insert(SceneNode& node, ContainerUse use, EntityHandle entity, const EntityDesc& desc);
  /// Requires: a slot that insert gave, or one of a map. Errors: in_use (locked), not_found (the slot is empty).
  Status erase(SceneSlot slot);
  /// Replaces a descriptor. Errors: bad_value (as insert; nothing changes), in_use (locked), not_found.
  Status write(SceneSlot slot, const EntityDesc& desc);
  /// What is in a slot, with the precision that lanes have. `handle` is the index in its map, or the slot.
  EntityDesc read(SceneSlot slot) const;
  /// Sets bits of a descriptor's flags: (flags & ~mask) | value. Errors: in_use (locked), not_found.
  Status set_flags(SceneSlot slot, uint16_t mask, uint16_t value);
  Status set_alpha(SceneSlot slot, uint8_t alpha);
  Status set_mask(SceneSlot slot, uint16_t mask);
  bool is_used(SceneSlot slot) const;
  /// Place of a map's entity among LOD sets; empty for others.
  EntityLink link_at(SceneSlot slot) const;

  // --- lights ------------------------------------------------------------------------------------------

  /// Lights stand in one list, ordered by handle. Changes wait, and are merged in one pass by flush_lights, or where
  /// the lock is taken first. Setting one that is there replaces it.
  /// Errors: bad_value, in_use (too many wait, and the scene is locked), out_of_slots (too many lights; while locked,
  ///         those that wait count as new ones).
  Status set_light(EntityHandle light, const EntityDesc& desc);
  Status remove_light(EntityHandle light);
  /// Errors: in_use (locked), out_of_slots (no container for all of them: those that have none are not seen, and the
  ///         next flush tries again).
  Status flush_lights();
  uint32_t light_count() const { return light_count_; }

  // --- readers -----------------------------------------------------------------------------------------

  /// Counts; the first makes all tight and merges lights. Requires: owner thread (asserted).
  void lock();
  void unlock();
  bool is_locked() const { return locks_ > 0; }
  /// Called whenever the last lock went. One at a time; null: nobody.
  void set_unlock_hook(void (*unlocked)(void* user), void* user) {
    unlocked_ = unlocked;
    unlocked_user_ = user;
  }
  /// What a frame does before its scan: merges lights, two bounded rounds of compaction, tight bounds. Does nothing
  /// while locked.
  void pre_scan(size_t bytes_a_round = 64 * 1024);

  /// Threads: readers.
  const ContainerTable& containers() const { return table_; }
  const BoxHierarchy& hierarchy() const { return hierarchy_; }
  const SceneStatistics& statistics() const { return statistics_; }
  const DescPool& desc_pool() const { return desc_pool_; }
  const SceneCapacities& capacities() const { return capacities_; }
  /// Containers in use, by the three kinds of their pools. [count]
  uint32_t used_containers() const { return used_[0] + used_[1] + used_[2]; }

 private:
  struct Record;
  enum class Kind : uint8_t { normal, fixed, soa };

  bool refuse_if_locked();
  Status refused() const;
  template <class Node>
  Node* create(Pool<Node>& pool, uint32_t first_index);
  void forget(SceneNode& node);
  void detach(SceneNode& child);
  void check_owner() const;
  void link_free_containers();
  void refresh_below(SceneNode& node, bool in_world);
  bool is_shown(const SceneNode& node) const;

  uint32_t take_container(Kind kind);
  void give_container(uint32_t container);
  void release_container(uint32_t container);
  void chain(SceneNode& node, uint32_t container);
  void unchain(uint32_t container);
  void use_block(uint32_t container, DescBlockId block, size_t offset, uint32_t slots, uint32_t flags);
  Status make_normal(SceneNode& node, uint32_t slots, uint32_t flags, uint32_t& container);
  Status make_chunk(SceneNode& node);
  uint32_t find_room(const SceneNode& node, uint32_t use_flags) const;
  bool find_near(const SceneNode& node, const Aabb& box, uint32_t& container, uint32_t& sub_block) const;
  Status make_room(SceneNode& node, ContainerUse use, uint32_t& container);
  Status check_change(SceneSlot at);
  void store(uint32_t container, uint32_t slot, const EntityDesc& desc);
  std::span<const LodLinkRow> links_of(uint32_t container) const;
  void refresh_view(uint32_t container);
  void grow_bounds(uint32_t container, uint32_t slot);
  void touch(uint32_t container, uint32_t slot);
  void tighten();
  void tighten_container(uint32_t container);
  void mark_node(const SceneNode* node);
  Status change_light(EntityHandle light, const EntityDesc& desc);
  EntityDesc* find_light(EntityHandle light) const;
  Status rewrite_lights();
  static void on_moved(void* user, DescBlockId block, std::byte* now);

  SceneCapacities capacities_;
  Allocator* allocator_ = nullptr;
  void* block_ = nullptr;
  size_t block_bytes_ = 0;
  std::byte* next_byte_ = nullptr;  // where pools take their part of the block, in init()

  /// Gives pools their parts of the block.
  class BlockAllocator final : public Allocator {
   public:
    explicit BlockAllocator(SceneGraph& graph) : graph_(graph) {}
    void* allocate(size_t bytes, size_t alignment) override { return graph_.take_bytes(bytes, alignment); }
    void deallocate(void*, size_t, size_t) override {}
    const char* memory_class() const override { return graph_.memory_->memory_class(); }

   private:
    SceneGraph& graph_;
  };
  void* take_bytes(size_t bytes, size_t alignment);
  template <class T>
  T* take_array(size_t count);

  std::optional<TrackedAllocator> memory_;
  BlockAllocator block_allocator_{*this};
  Pool<StreamedNode> streamed_;
  Pool<InteriorNode> interiors_;
  Pool<RoomNode> rooms_;
  Pool<PortalNode> portals_;
  ExteriorNode* root_ = nullptr;
  SceneNode** nodes_ = nullptr;
  DescBounds* node_bounds_ = nullptr;
  uint8_t* node_dirty_ = nullptr;
  uint32_t node_capacity_ = 0;
  uint32_t node_epoch_ = 1;

  ContainerTable table_;
  Record* records_ = nullptr;
  uint32_t* block_owner_ = nullptr;  // by DescBlockId: the first container in it
  uint32_t container_capacity_ = 0, first_fixed_ = 0, first_soa_ = 0;
  uint32_t free_[3] = {};  // heads of the lists of free containers, by Kind
  uint32_t used_[3] = {};
  uint32_t first_dirty_ = kNoContainer;
  bool any_node_dirty_ = false;

  EntityDesc *lights_ = nullptr, *merged_ = nullptr;
  struct LightChange;
  LightChange* light_changes_ = nullptr;
  uint32_t light_count_ = 0, light_change_count_ = 0;
  bool lights_lack_room_ = false;  // some did not find a container when they were written

  DescPool desc_pool_;
  BoxHierarchy hierarchy_;
  SceneStatistics statistics_;
  uint32_t locks_ = 0;
  void (*unlocked_)(void* user) = nullptr;
  void* unlocked_user_ = nullptr;
  uint64_t locked_at_ns_ = 0;
  mutable const void* owner_ = nullptr;
  OnceSet said_;
};

}  // namespace meridian
