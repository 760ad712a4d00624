// SPDX-License-Identifier: MIT
#include "meridian/scene/box_hierarchy.h"

#include <algorithm>
#include <new>

#include "meridian/base/assert.h"
#include "scene/hilbert.h"

namespace meridian {
namespace {

/// Overflow items and unused lanes that a tree of any size may have. Two leaves that were just begun have 30.
constexpr uint32_t kSlack = 32;
/// Centres further out count as there. The world itself ends there.
constexpr float kCurveLimit = 65536;
constexpr uint64_t kStale = uint64_t{1} << 63;  ///< in Item::key: the box has changed since
constexpr float kLeastHomeMargin = 1;           ///< [m]

bool is_inside(const Aabb& inner, const Aabb& outer) {
  return inner.min.x >= outer.min.x && inner.min.y >= outer.min.y && inner.min.z >= outer.min.z &&
         inner.max.x <= outer.max.x && inner.max.y <= outer.max.y && inner.max.z <= outer.max.z;
}

Aabb union_of(const Aabb& a, const Aabb& b) { return {min(a.min, b.min), max(a.max, b.max)}; }

/// Boxes with a longer side stand together, behind all others: one of them makes its whole leaf large. [m]
constexpr float kLargeSide = 4096;

/// Whether it is large, then the place of its centre along the curve, which fills the world: keys do not depend on what
/// else is in the tree.
uint64_t key_of(const Aabb& box) {
  constexpr double kCells = 1u << detail::kCurveBits;
  const auto cell = [](float low, float high) {
    const double middle = (double{low} + high) / 2;
    return static_cast<uint32_t>(std::clamp((middle + kCurveLimit) * (kCells / (2.0 * kCurveLimit)), 0.0, kCells - 1));
  };
  const uint64_t along =
      detail::hilbert_key(cell(box.min.x, box.max.x), cell(box.min.y, box.max.y), cell(box.min.z, box.max.z));
  const Vec3 size = box.max - box.min;
  const bool is_large = std::max({size.x, size.y, size.z}) > kLargeSide;
  return uint64_t{is_large} << 62 | along >> 1;  // bit 63 is kStale
}

/// Half the longest side on all sides. What overflows is infinite, and then everything is inside.
Aabb home_of(const Aabb& bounds) {
  const Vec3 size = bounds.max - bounds.min;
  const float margin = std::max({size.x / 2, size.y / 2, size.z / 2, kLeastHomeMargin});
  const Vec3 all{margin, margin, margin};
  return {bounds.min - all, bounds.max + all};
}

}  // namespace

BoxHierarchy::~BoxHierarchy() {
  // All of it is plain data.
  if (allocator_ != nullptr) allocator_->deallocate(nodes_, memory_bytes(max_items_), alignof(Node));
}

/// Of a tree in which only the last node of each level has unused lanes.
uint32_t BoxHierarchy::nodes_for(uint32_t items) {
  uint32_t all = 0;
  for (uint32_t level = items; level > 1 || all == 0;) {
    level = (level + kWideLanes - 1) / kWideLanes;
    all += level;
  }
  return all;
}

size_t BoxHierarchy::memory_bytes(uint32_t max_items) {
  if (max_items == 0 || max_items > kMaxHierarchyItems) return 0;
  // Both trees may have all items at some time: sorted leaves stay when the last item is taken out.
  const size_t nodes = size_t{2} * nodes_for(max_items), leaves = (size_t{max_items} + kWideLanes - 1) / kWideLanes;
  return nodes * (sizeof(Node) + sizeof(Link)) + leaves * sizeof(Aabb) + max_items * (sizeof(Place) + sizeof(Item));
}

Status BoxHierarchy::init(uint32_t max_items, Allocator& allocator) {
  MERIDIAN_ASSERT(nodes_ == nullptr, "a box hierarchy is initialised once");
  if (nodes_ != nullptr) return {StatusCode::in_use, "the box hierarchy is initialised already"};
  const size_t bytes = memory_bytes(max_items);
  if (bytes == 0) return {StatusCode::bad_value, "a box hierarchy has 1 to 2^24 items; detail = items", max_items};
  void* const memory = allocator.allocate(bytes, alignof(Node));
  if (memory == nullptr) return {StatusCode::out_of_memory, "no memory for a box hierarchy; detail = bytes", bytes};
  allocator_ = &allocator;
  max_items_ = max_items;
  max_nodes_ = 2 * nodes_for(max_items);
  nodes_ = static_cast<Node*>(memory);
  // By falling alignment, so that nothing needs padding.
  static_assert(alignof(Node) > alignof(Place) && alignof(Place) >= alignof(Item) && alignof(Item) > alignof(Link) &&
                alignof(Link) >= alignof(Aabb));
  order_ = reinterpret_cast<Place*>(nodes_ + max_nodes_);
  items_ = reinterpret_cast<Item*>(order_ + max_items);
  links_ = reinterpret_cast<Link*>(items_ + max_items);
  homes_ = reinterpret_cast<Aabb*>(links_ + max_nodes_);
  for (uint32_t i = 0; i < max_items; ++i) new (items_ + i) Item;
  reset();
  return {};
}

/// Leaves no node. Items' places are the caller's to set.
void BoxHierarchy::reset() {
  unsorted_ = used_nodes_ = sorted_leaves_ = overflow_leaves_ = root_count_ = 0;
  open_ = sorted_root_ = overflow_root_ = kNone;
  for (uint32_t& node : spine_) node = kNone;
  for (uint32_t& node : dirty_) node = kNone;
}

void BoxHierarchy::clear() {
  for (uint32_t i = 0; i < max_items_; ++i) items_[i].place = kNone;
  count_ = 0;
  reset();
}

void BoxHierarchy::set_roots() {
  root_count_ = 0;
  for (const uint32_t root : {sorted_root_, overflow_root_})
    if (root != kNone) roots_[root_count_++] = root;
}

uint32_t BoxHierarchy::depth() const {
  uint32_t out = 0;
  for (const uint32_t root : roots()) out = std::max(out, links_[root].level + 1u);
  return out;
}

Aabb BoxHierarchy::box(uint32_t item) const {
  MERIDIAN_ASSERT(contains(item), "no such item in the box hierarchy");
  return contains(item) ? items_[item].box : Aabb{};
}

bool BoxHierarchy::is_usable(const Aabb& box) {
  return is_finite(box.min) && is_finite(box.max) && box.min.x <= box.max.x && box.min.y <= box.max.y &&
         box.min.z <= box.max.z;
}

// --- nodes ------------------------------------------------------------------------------------------------

uint32_t BoxHierarchy::make_node(uint8_t level) {
  MERIDIAN_ASSERT(used_nodes_ < max_nodes_, "there are as many nodes as both trees may need");
  const uint32_t node = used_nodes_++;
  new (nodes_ + node) Node;
  for (uint32_t& child : nodes_[node].child) child = kNone;
  new (links_ + node) Link;
  links_[node].level = level;
  return node;
}

/// Requires: the lane is unused.
void BoxHierarchy::put(uint32_t node, uint32_t lane, uint32_t child, const Aabb& box) {
  nodes_[node].boxes.set_lane(lane, box);
  nodes_[node].child[lane] = child;
  ++links_[node].used;
  const uint32_t place = node * kWideLanes + lane;
  if ((child & kItem) != 0) {
    items_[child & ~kItem].place = place;
  } else {
    links_[child].parent = place;
  }
}

/// Makes an empty node the last one of its level in the overflow tree, which grows by a root if need be.
void BoxHierarchy::hang(uint32_t node, uint8_t level) {
  const uint32_t before = spine_[level];
  spine_[level] = node;
  if (before == kNone) {
    overflow_root_ = node;
    set_roots();
    return;
  }
  const auto above = static_cast<uint8_t>(level + 1);
  uint32_t parent = spine_[above];
  if (parent == kNone || links_[parent].used == kWideLanes) {
    const bool is_root = parent == kNone;
    parent = make_node(above);
    hang(parent, above);
    if (is_root) put(parent, 0, before, nodes_[before].boxes.union_of_lanes());
  }
  put(parent, links_[parent].used, node, nodes_[node].boxes.union_of_lanes());
}

void BoxHierarchy::mark_dirty(uint32_t node) {
  Link& link = links_[node];
  if (link.is_dirty || link.parent == kNone) return;
  link.is_dirty = true;
  link.next = dirty_[link.level];
  dirty_[link.level] = node;
}

/// Makes the boxes of a node and all above it contain `box`.
void BoxHierarchy::widen_above(uint32_t node, const Aabb& box) {
  for (uint32_t place = links_[node].parent; place != kNone; place = links_[place / kWideLanes].parent) {
    WideBoxes& boxes = nodes_[place / kWideLanes].boxes;
    const Aabb old = boxes.lane(place % kWideLanes);
    if (is_inside(box, old)) return;  // and so it is further up
    boxes.set_lane(place % kWideLanes, union_of(old, box));
  }
}

// --- items ------------------------------------------------------------------------------------------------

void BoxHierarchy::put_in_overflow(uint32_t item) {
  if (open_ == kNone) {
    open_ = make_node(0);
    ++overflow_leaves_;
    hang(open_, 0);
  }
  const uint32_t leaf = open_;
  uint32_t lane = 0;
  while (nodes_[leaf].child[lane] != kNone) ++lane;
  put(leaf, lane, item | kItem, items_[item].box);
  if (links_[leaf].used == kWideLanes) open_ = links_[leaf].next_open;
  ++unsorted_;
  widen_above(leaf, items_[item].box);
}

void BoxHierarchy::take_out(uint32_t item) {
  const uint32_t leaf = items_[item].place / kWideLanes, lane = items_[item].place % kWideLanes;
  items_[item].place = kNone;
  nodes_[leaf].child[lane] = kNone;
  nodes_[leaf].boxes.clear_lane(lane);
  mark_dirty(leaf);
  if (leaf >= sorted_leaves_) {
    --unsorted_;
    if (links_[leaf].used == kWideLanes) {
      links_[leaf].next_open = open_;
      open_ = leaf;
    }
  }
  --links_[leaf].used;
}

bool BoxHierarchy::insert(uint32_t item, const Aabb& box) {
  const bool is_new = item < max_items_ && items_[item].place == kNone;
  MERIDIAN_ASSERT(is_new, "an item is inserted once, and below max_items");
  MERIDIAN_ASSERT(is_usable(box), "boxes are finite and not inside out");
  if (!is_new || !is_usable(box)) return false;
  items_[item].box = box;
  ++count_;
  put_in_overflow(item);
  return true;
}

bool BoxHierarchy::update(uint32_t item, const Aabb& box) {
  MERIDIAN_ASSERT(contains(item), "no such item in the box hierarchy");
  MERIDIAN_ASSERT(is_usable(box), "boxes are finite and not inside out");
  if (!contains(item) || !is_usable(box)) return false;
  const uint32_t leaf = items_[item].place / kWideLanes, lane = items_[item].place % kWideLanes;
  const Aabb old = items_[item].box;
  items_[item].box = box;
  items_[item].key |= kStale;
  if (leaf < sorted_leaves_ && !is_inside(box, homes_[leaf])) {
    take_out(item);
    put_in_overflow(item);
    return true;
  }
  nodes_[leaf].boxes.set_lane(lane, box);
  if (!is_inside(old, box)) mark_dirty(leaf);
  widen_above(leaf, box);
  return true;
}

bool BoxHierarchy::remove(uint32_t item) {
  MERIDIAN_ASSERT(item < max_items_, "items are below max_items");
  if (!contains(item)) return false;
  take_out(item);
  --count_;
  return true;
}

// --- commit -----------------------------------------------------------------------------------------------

bool BoxHierarchy::commit() {
  const uint32_t unused = leaf_count() * kWideLanes - count_;
  if (unsorted_ + unused > count_ / 8 + kSlack) {
    sort();
    return true;
  }
  refit();
  return false;
}

void BoxHierarchy::refit() {
  for (uint32_t& dirty : dirty_) {
    while (dirty != kNone) {
      const uint32_t node = dirty;
      dirty = links_[node].next;
      links_[node].is_dirty = false;
      const uint32_t place = links_[node].parent, parent = place / kWideLanes;
      const Aabb tight = nodes_[node].boxes.union_of_lanes();
      if (tight == nodes_[parent].boxes.lane(place % kWideLanes)) continue;
      nodes_[parent].boxes.set_lane(place % kWideLanes, tight);
      mark_dirty(parent);  // a level up, so it comes later
    }
  }
}

void BoxHierarchy::sort() {
  // What stood still is in order, leaf by leaf. The rest is put in order by itself, and then both are merged: a sort
  // costs what has changed, and one pass over all.
  uint32_t still = 0, first_other = count_;
  for (uint32_t node = 0; node < used_nodes_; ++node) {
    if (links_[node].level != 0) continue;
    for (const uint32_t child : nodes_[node].child) {
      if (child == kNone) continue;
      const uint32_t item = child & ~kItem;
      Item& it = items_[item];
      if (node < sorted_leaves_ && (it.key & kStale) == 0) {
        order_[still++] = {it.key, item, 0};
      } else {
        it.key = key_of(it.box);
        order_[--first_other] = {it.key, item, 0};
      }
    }
  }
  MERIDIAN_ASSERT(still == first_other, "each item is in one leaf");
  const auto is_before = [](const Place& a, const Place& b) {
    return a.key != b.key ? a.key < b.key : a.item < b.item;  // total, so that the same boxes give the same tree
  };
  const Place *a = order_, *b = order_ + still;
  const Place *const end_a = b, *const end_b = order_ + count_;
  std::sort(order_ + still, order_ + count_, is_before);

  // Full leaves, then full nodes above them, level by level.
  reset();
  if (count_ == 0) return;
  for (uint32_t i = 0; i < count_; ++i) {
    const bool takes_a = b == end_b || (a != end_a && is_before(*a, *b));
    const uint32_t item = takes_a ? (a++)->item : (b++)->item, leaf = i / kWideLanes;
    if (i % kWideLanes == 0) make_node(0);
    put(leaf, i % kWideLanes, item | kItem, items_[item].box);
  }
  sorted_leaves_ = used_nodes_;
  for (uint32_t leaf = 0; leaf < sorted_leaves_; ++leaf) homes_[leaf] = home_of(nodes_[leaf].boxes.union_of_lanes());
  uint32_t first = 0, end = used_nodes_;
  for (uint8_t level = 1; end - first > 1; ++level) {
    for (uint32_t i = 0; i < end - first; ++i) {
      if (i % kWideLanes == 0) make_node(level);
      put(used_nodes_ - 1, i % kWideLanes, first + i, nodes_[first + i].boxes.union_of_lanes());
    }
    first = end;
    end = used_nodes_;
  }
  sorted_root_ = first;
  set_roots();
}

}  // namespace meridian
