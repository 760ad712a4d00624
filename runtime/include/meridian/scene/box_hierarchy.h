// SPDX-License-Identifier: MIT
#pragma once
/// A tree of boxes for what comes, goes and moves: containers and nodes of the scene graph. A node holds 16 boxes side
/// by side (scene/wide_boxes.h); scan and search test them all at once and never look at what the boxes stand for.
///
///   BoxHierarchy tree;
///   Status ready = tree.init(/*max_items=*/1000, allocator);
///   bool taken = tree.insert(/*item=*/7, room);
///   tree.commit();                                          // once a frame, before scans and searches
///   std::vector<uint32_t> waiting(tree.roots().begin(), tree.roots().end());
///   while (!waiting.empty()) {
///     const BoxHierarchy::Node& node = tree.node(waiting.back());
///     waiting.pop_back();
///     for (uint32_t lane = 0; lane < kWideLanes; ++lane) {
///       const uint32_t child = node.child[lane];
///       if (child == BoxHierarchy::kNone || node.boxes.min_z[lane] > room.max.z) continue;
///       if ((child & BoxHierarchy::kItem) != 0) use(child & ~BoxHierarchy::kItem);
///       else waiting.push_back(child);
///     }
///   }
///
/// There are up to two trees, each with its root. *Sorted* items fill leaves of 16 in the order of a Hilbert curve
/// through their centres, those with a side of more than 4096 m behind all others; what was inserted since stands in
/// *overflow* leaves in the order of insertion. insert(), update() and remove() act at once: no box ever misses what is
/// below it, but it may be larger than need be, until commit().
///
/// commit() makes boxes tight again where something changed, and costs nothing where nothing did. It sorts anew when
/// overflow items and unused lanes of leaves together are more than count / 8 + 32; between two sorts, more than
/// count / 16 items were inserted, removed or moved far. A *far* move leaves the bounds that the leaf had when it was
/// sorted by more than half their longest side, or 1 m if that is more; the item then goes to the overflow. Smaller
/// moves, however many, never lead to a sort. After a commit, of all lanes of leaves at most count / 8 + 32 are unused:
/// for more than 256 items, leaves are filled to 4/5 on average at least.
///
/// A sort costs about 0.3 us for each item that is new or has moved since the one before, and 0.05 us for each other.
/// It depends on the boxes alone: whatever happened before, the same boxes give the same tree.
///
/// Boxes are closed, of any finite size, and may be equal; there is no root cell that one could lie outside of. Centres
/// count as within 65 536 m of the origin for the curve, so that one outlier does not blur the order of all the others.
///
/// Threads: main for what changes it; readers between changes.
/// Memory:  one allocation in init (memory_bytes): about 120 bytes an item; none later.
/// Source:  own; packing after Kamel and Faloutsos, "On Packing R-trees", 1993.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/scene/wide_boxes.h"

namespace meridian {

inline constexpr uint32_t kMaxHierarchyItems = 1u << 24;

class BoxHierarchy {
 public:
  static constexpr uint32_t kItem = 0x80000000;  ///< in Node::child: the rest is an item, not a node
  static constexpr uint32_t kNone = 0xFFFFFFFF;  ///< in Node::child: the lane is unused, and empty

  struct Node {
    WideBoxes boxes;
    uint32_t child[kWideLanes];  ///< all of one kind in a node
  };
  static_assert(sizeof(Node) == 448);

  BoxHierarchy() { reset(); }
  ~BoxHierarchy();
  BoxHierarchy(const BoxHierarchy&) = delete;
  BoxHierarchy& operator=(const BoxHierarchy&) = delete;

  /// What init will ask the allocator for. 0 for a number out of its range. [bytes]
  static size_t memory_bytes(uint32_t max_items);
  /// Gets the memory for items [0, max_items). `allocator` must outlive the tree. Requires: not initialised before
  /// (otherwise in_use). Errors: bad_value for max_items outside of [1, kMaxHierarchyItems]; out_of_memory.
  Status init(uint32_t max_items, Allocator& allocator);

  /// Adds an item, at once to be found. O(depth).
  /// Requires: item < max_items and not in the tree; box finite, min <= max on each axis (asserted; otherwise false,
  ///           and nothing is changed).
  bool insert(uint32_t item, const Aabb& box);
  /// Gives an item another box. O(depth). Requires: the item is in the tree; box as for insert().
  bool update(uint32_t item, const Aabb& box);
  /// Takes an item out; O(1). True once; false if it is not in the tree.
  bool remove(uint32_t item);
  /// Takes all out.
  void clear();

  /// Makes boxes tight, and sorts if too much has changed (above). True if it sorted: nodes have other numbers then.
  bool commit();

  bool contains(uint32_t item) const { return item < max_items_ && items_[item].place != kNone; }
  /// Requires: contains(item) (asserted; otherwise a box at the origin).
  Aabb box(uint32_t item) const;
  uint32_t count() const { return count_; }              ///< items in the tree [count]
  uint32_t max_items() const { return max_items_; }      ///< [count]
  uint32_t overflow_count() const { return unsorted_; }  ///< of them in overflow leaves [count]
  uint32_t leaf_count() const { return sorted_leaves_ + overflow_leaves_; }
  uint32_t node_count() const { return used_nodes_; }  ///< leaves included; those of a tree are below this
  /// Levels of nodes in the higher tree, 0 if there is none. A stack of 15 * depth() + 2 nodes is enough to traverse.
  uint32_t depth() const;
  /// None, one or two nodes to begin with.
  std::span<const uint32_t> roots() const { return {roots_, root_count_}; }
  /// Requires: index < node_count().
  const Node& node(uint32_t index) const { return nodes_[index]; }

 private:
  static constexpr uint32_t kMaxLevels = 7;  ///< 16^6 leaf lanes, and one more
  /// What nobody reads while traversing.
  struct Link {
    uint32_t parent = kNone;  ///< node * 16 + lane, or none
    uint32_t next = kNone;    ///< the next one that is dirty, on its level
    uint32_t next_open = kNone;
    uint8_t level = 0;  ///< 0: leaf
    uint8_t used = 0;   ///< lanes
    bool is_dirty = false;
  };
  struct Item {
    uint64_t key = 0;  ///< place along the curve when it was sorted
    Aabb box;
    uint32_t place = kNone;  ///< leaf * 16 + lane, or none
  };
  struct Place {
    uint64_t key;
    uint32_t item;
    uint32_t pad;
  };

  static bool is_usable(const Aabb& box);
  static uint32_t nodes_for(uint32_t items);
  uint32_t make_node(uint8_t level);
  void put(uint32_t node, uint32_t lane, uint32_t child, const Aabb& box);
  void hang(uint32_t node, uint8_t level);
  void mark_dirty(uint32_t node);
  void widen_above(uint32_t node, const Aabb& box);
  void put_in_overflow(uint32_t item);
  void take_out(uint32_t item);
  void set_roots();
  void reset();
  void refit();
  void sort();

  Allocator* allocator_ = nullptr;
  Node* nodes_ = nullptr;
  Link* links_ = nullptr;
  Item* items_ = nullptr;
  Place* order_ = nullptr;  ///< scratch
  Aabb* homes_ = nullptr;   ///< of sorted leaves: where items may move to and stay
  uint32_t max_items_ = 0, max_nodes_ = 0;
  uint32_t count_ = 0, unsorted_ = 0, used_nodes_ = 0;
  uint32_t sorted_leaves_ = 0, overflow_leaves_ = 0;  ///< sorted ones are nodes [0, sorted_leaves_)
  uint32_t open_ = kNone;                             ///< overflow leaves with unused lanes
  uint32_t sorted_root_ = kNone, overflow_root_ = kNone;
  uint32_t spine_[kMaxLevels];  ///< of the overflow tree: the last node of each level
  uint32_t dirty_[kMaxLevels];  ///< whose box in the parent may be too large, by level
  uint32_t roots_[2] = {};
  uint32_t root_count_ = 0;
};

}  // namespace meridian
