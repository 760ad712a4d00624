// SPDX-License-Identifier: MIT
#pragma once
/// A quad tree of rectangles on the ground plane: which of these things are here? For what is placed and moved at run
/// time (pick-ups, sounds, triggers); what never moves is better off in a static tree (stream/box_tree.h).
///
///   QuadTree pickups;
///   Status made = pickups.init({.bounds = {{-4000, -4000}, {4000, 4000}}, .max_items = 500}, default_allocator());
///   Result<QuadTreeHandle> added = pickups.insert({{10, 10}, {11, 11}}, /*id=*/7);
///   uint32_t found[64];
///   const uint32_t count = pickups.query_rect({{0, 0}, {50, 50}}, found);   // ids; full count, also above 64
///   pickups.remove(added.value());
///
/// Cells are loose: each takes what fits into twice its size, so a small thing on a border between cells goes down as
/// far as any other. The root takes everything, however large and wherever it is: what stands on the border of
/// `bounds`, outside or infinitely far is found like the rest, only that each query looks at it. Rectangles are closed,
/// what only touches is found, and one without size is a point.
///
/// A cell is cut up when it holds more than `split_count` things, and joined again when half of them are left. If the
/// nodes run out, cells stay as they are: queries get slower, nothing is refused. Only a full tree refuses.
///
/// Threads: main for what changes it; readers for queries between changes.
/// Memory:  one allocation in init (memory_bytes), none later; a query's stack is below 1 KiB.
/// Source:  own; loose cells after Ulrich, "Loose Octrees", Game Programming Gems, 2000.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/handle.h"

namespace meridian {

class QuadTree;
/// An item of one tree; for ever stale once it was removed.
using QuadTreeHandle = Handle<QuadTree>;

inline constexpr uint32_t kMaxQuadTreeDepth = 16;
inline constexpr uint32_t kMaxQuadTreeItems = 1u << 24;  ///< and nodes

struct QuadTreeConfig {
  Rect bounds{{-4096, -4096}, {4096, 4096}};  ///< where most things are; finite, with an area [m]
  uint32_t max_items = 1024;                  ///< [1, kMaxQuadTreeItems] [count]
  uint32_t max_nodes = 512;                   ///< cells, the root included [1, kMaxQuadTreeItems] [count]
  uint32_t max_depth = 8;                     ///< levels below the root; 8: 1/256 of its side [0, kMaxQuadTreeDepth]
  uint32_t split_count = 8;                   ///< things that a cell holds before it is cut up [1, ...] [count]
};

class QuadTree {
 public:
  QuadTree() = default;
  ~QuadTree();
  QuadTree(const QuadTree&) = delete;
  QuadTree& operator=(const QuadTree&) = delete;

  /// What init will ask the allocator for. 0 for a config out of its ranges. [bytes]
  static size_t memory_bytes(const QuadTreeConfig& config);
  /// Gets the memory. `allocator` must outlive the tree. Requires: not initialised before.
  /// Errors: bad_value for a config out of its ranges; out_of_memory. The tree then stays as it was.
  Status init(const QuadTreeConfig& config, Allocator& allocator);

  /// Adds a thing. `id` is the caller's, and need not be unique.
  /// Errors: out_of_slots at max_items; bad_value for a rectangle that is inside out or NaN. Nothing is changed then.
  /// Requires: initialised (otherwise out_of_slots).
  Result<QuadTreeHandle> insert(const Rect& rect, uint32_t id);
  /// Gives a thing another place. Cheap while it stays in its cell; needs no free slot.
  /// Errors: not_found for a stale handle; bad_value as above. Nothing is changed then.
  Status move(QuadTreeHandle handle, const Rect& rect);
  /// Takes a thing out. True once; false for a stale or null handle, however often.
  bool remove(QuadTreeHandle handle);
  /// Takes all out; all handles are stale then.
  void clear();

  /// Null for a stale handle; dies at the next change.
  const Rect* rect_of(QuadTreeHandle handle) const;
  /// Requires: the handle is not stale (otherwise 0).
  uint32_t id_of(QuadTreeHandle handle) const;

  /// Ids of what touches `rect`. Order is unspecified but is the same after the same calls. If `out` is too small it is
  /// filled, and the full number is still returned. A rectangle that is inside out or NaN finds nothing.
  uint32_t query_rect(const Rect& rect, std::span<uint32_t> out) const;
  /// Ids of what `point` is in or on.
  uint32_t query_point(Vec2 point, std::span<uint32_t> out) const { return query_rect({point, point}, out); }
  /// Calls `visit(uint32_t id, const Rect&)` for what touches `rect`. `visit` must not change the tree.
  template <class Visit>
  void for_each(const Rect& rect, Visit&& visit) const;

  uint32_t count() const { return used_items_; }             ///< things in the tree [count]
  uint32_t node_count() const { return used_nodes_; }        ///< cells in use, the root included [count]
  uint64_t unsplit_count() const { return unsplit_count_; }  ///< times that there was no node for a cell [count]
  /// Things that each query looks at, because they fit nowhere below the root. [count]
  uint32_t root_item_count() const;

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  struct Node {
    Vec2 centre, half;                                 ///< of the cell itself; it takes what is within twice that
    uint32_t child[4] = {kNone, kNone, kNone, kNone};  ///< bit 0: right, bit 1: upper
    uint32_t parent = kNone;                           ///< also the list of free nodes
    uint32_t first_item = kNone;
    uint32_t total = 0;  ///< items here and below
    uint16_t depth = 0;
    bool split = false;  ///< new items go down if they fit
  };
  struct Item {
    Rect rect;
    uint32_t id = 0;
    uint32_t generation = 0;  ///< of the next handle while it's free
    uint32_t node = kNone;    ///< kNone: free
    uint32_t next = kNone;    ///< in the node's list, or of free items
    uint32_t previous = kNone;
  };

  static bool touch(const Rect& a, const Rect& b) {
    return a.min.x <= b.max.x && a.max.x >= b.min.x && a.min.y <= b.max.y && a.max.y >= b.min.y;
  }
  /// The one place where loose bounds are computed: what was put in by them is looked for by them, whatever is rounded.
  static Rect loose_bounds(const Node& node) {
    return {{node.centre.x - 2 * node.half.x, node.centre.y - 2 * node.half.y},
            {node.centre.x + 2 * node.half.x, node.centre.y + 2 * node.half.y}};
  }

  /// Not inside out, not NaN; may be infinite.
  static bool is_usable(const Rect& r) { return r.min.x <= r.max.x && r.min.y <= r.max.y; }

  bool is_live(QuadTreeHandle handle) const;
  uint32_t child_for(uint32_t parent, const Rect& rect);
  void link(uint32_t item, uint32_t node);
  void unlink(uint32_t item);
  void put(uint32_t item);
  void split(uint32_t node);
  void tidy(uint32_t node);
  void pull_up(uint32_t node, uint32_t to);
  void free_node(uint32_t node);
  void reset();

  QuadTreeConfig config_;
  Allocator* allocator_ = nullptr;
  Node* nodes_ = nullptr;
  Item* items_ = nullptr;
  uint32_t used_items_ = 0, used_nodes_ = 0;
  uint32_t fresh_items_ = 0, fresh_nodes_ = 0;  ///< from here on, none was ever used
  uint32_t free_item_ = kNone, free_node_ = kNone;
  uint64_t unsplit_count_ = 0;
};

template <class Visit>
void QuadTree::for_each(const Rect& rect, Visit&& visit) const {
  if (used_items_ == 0 || !is_usable(rect)) return;
  // A node takes itself off and puts four on: three more for each level.
  uint32_t stack[3 * kMaxQuadTreeDepth + 4];
  uint32_t waiting = 0;
  stack[waiting++] = 0;
  while (waiting != 0) {
    const Node& node = nodes_[stack[--waiting]];
    for (uint32_t i = node.first_item; i != kNone; i = items_[i].next)
      if (touch(items_[i].rect, rect)) visit(items_[i].id, static_cast<const Rect&>(items_[i].rect));
    for (const uint32_t child : node.child)
      if (child != kNone && nodes_[child].total != 0 && touch(loose_bounds(nodes_[child]), rect))
        stack[waiting++] = child;
  }
}

}  // namespace meridian
