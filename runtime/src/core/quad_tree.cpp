// SPDX-License-Identifier: MIT
#include "meridian/core/quad_tree.h"

#include <new>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

bool is_inside(const Rect& inner, const Rect& outer) {
  return inner.min.x >= outer.min.x && inner.max.x <= outer.max.x && inner.min.y >= outer.min.y &&
         inner.max.y <= outer.max.y;
}

bool is_usable_config(const QuadTreeConfig& c) {
  return is_finite(c.bounds.min) && is_finite(c.bounds.max) && c.bounds.min.x < c.bounds.max.x &&
         c.bounds.min.y < c.bounds.max.y && c.max_items >= 1 && c.max_items <= kMaxQuadTreeItems && c.max_nodes >= 1 &&
         c.max_nodes <= kMaxQuadTreeItems && c.max_depth <= kMaxQuadTreeDepth && c.split_count >= 1;
}

constexpr Status kBadRect{StatusCode::bad_value, "a rectangle of the quad tree is inside out or NaN"};

}  // namespace

QuadTree::~QuadTree() {
  // Nodes and items are plain data.
  if (allocator_ != nullptr) allocator_->deallocate(nodes_, memory_bytes(config_), alignof(Node));
}

size_t QuadTree::memory_bytes(const QuadTreeConfig& config) {
  static_assert(alignof(Node) % alignof(Item) == 0 && sizeof(Node) % alignof(Item) == 0);
  if (!is_usable_config(config)) return 0;
  return size_t{config.max_nodes} * sizeof(Node) + size_t{config.max_items} * sizeof(Item);
}

Status QuadTree::init(const QuadTreeConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(nodes_ == nullptr, "a quad tree is initialised once");
  if (nodes_ != nullptr) return {StatusCode::in_use, "the quad tree is initialised already"};
  const size_t bytes = memory_bytes(config);
  if (bytes == 0) return {StatusCode::bad_value, "a quad tree's configuration is out of its ranges"};
  void* const memory = allocator.allocate(bytes, alignof(Node));
  if (memory == nullptr) return {StatusCode::out_of_memory, "no memory for a quad tree; detail = bytes", bytes};
  config_ = config;
  allocator_ = &allocator;
  nodes_ = static_cast<Node*>(memory);
  for (uint32_t i = 0; i < config.max_nodes; ++i) new (nodes_ + i) Node;
  items_ = reinterpret_cast<Item*>(nodes_ + config.max_nodes);
  for (uint32_t i = 0; i < config.max_items; ++i) new (items_ + i) Item;
  reset();
  return {};
}

/// Leaves an empty root. Items are the caller's to free.
void QuadTree::reset() {
  const Rect& b = config_.bounds;
  nodes_[0] = Node{};
  // Halves first: the sum of large floats would overflow.
  nodes_[0].centre = {b.min.x / 2 + b.max.x / 2, b.min.y / 2 + b.max.y / 2};
  nodes_[0].half = {b.max.x / 2 - b.min.x / 2, b.max.y / 2 - b.min.y / 2};
  used_nodes_ = fresh_nodes_ = 1;
  free_node_ = kNone;
}

bool QuadTree::is_live(QuadTreeHandle handle) const {
  return handle.slot < fresh_items_ && items_[handle.slot].node != kNone &&
         items_[handle.slot].generation == handle.generation;
}

/// The child that `rect` fits into, made if need be; kNone if it fits into none or there is no node left.
uint32_t QuadTree::child_for(uint32_t parent, const Rect& rect) {
  Node& node = nodes_[parent];
  // By the middle of the rectangle; for an infinite one that is no number, and no child takes it.
  const bool right = (double{rect.min.x} + rect.max.x) / 2 >= node.centre.x;
  const bool upper = (double{rect.min.y} + rect.max.y) / 2 >= node.centre.y;
  Node child;
  child.half = {node.half.x / 2, node.half.y / 2};
  child.centre = {node.centre.x + (right ? child.half.x : -child.half.x),
                  node.centre.y + (upper ? child.half.y : -child.half.y)};
  if (!is_inside(rect, loose_bounds(child))) return kNone;
  uint32_t& link = node.child[(right ? 1 : 0) + (upper ? 2 : 0)];
  if (link != kNone) return link;

  uint32_t made = free_node_;
  if (made != kNone) {
    free_node_ = nodes_[made].parent;
  } else if (fresh_nodes_ < config_.max_nodes) {
    made = fresh_nodes_++;
  } else {
    ++unsplit_count_;
    return kNone;
  }
  ++used_nodes_;
  child.parent = parent;
  child.depth = static_cast<uint16_t>(node.depth + 1);
  nodes_[made] = child;
  link = made;
  return made;
}

void QuadTree::link(uint32_t item, uint32_t node) {
  Item& it = items_[item];
  it.node = node;
  it.previous = kNone;
  it.next = nodes_[node].first_item;
  if (it.next != kNone) items_[it.next].previous = item;
  nodes_[node].first_item = item;
  for (uint32_t n = node; n != kNone; n = nodes_[n].parent) ++nodes_[n].total;
}

void QuadTree::unlink(uint32_t item) {
  const Item& it = items_[item];
  (it.previous != kNone ? items_[it.previous].next : nodes_[it.node].first_item) = it.next;
  if (it.next != kNone) items_[it.next].previous = it.previous;
  for (uint32_t n = it.node; n != kNone; n = nodes_[n].parent) --nodes_[n].total;
}

/// Links an item as far down as it goes, and cuts the cell up that got too full.
void QuadTree::put(uint32_t item) {
  uint32_t node = 0;
  while (nodes_[node].split) {
    const uint32_t child = child_for(node, items_[item].rect);
    if (child == kNone) break;
    node = child;
  }
  link(item, node);
  if (!nodes_[node].split && nodes_[node].total > config_.split_count) split(node);
}

/// Recurses once a level.
void QuadTree::split(uint32_t node) {
  if (nodes_[node].depth >= config_.max_depth) return;
  nodes_[node].split = true;
  for (uint32_t i = nodes_[node].first_item; i != kNone;) {
    const uint32_t next = items_[i].next;
    const uint32_t child = child_for(node, items_[i].rect);
    if (child != kNone) {
      unlink(i);
      link(i, child);
    }
    i = next;
  }
  for (const uint32_t child : nodes_[node].child)
    if (child != kNone && nodes_[child].total > config_.split_count) split(child);
}

/// After something left `node`: joins the uppermost cell that holds too little to stay cut up, and gives back an empty
/// one.
void QuadTree::tidy(uint32_t node) {
  uint32_t top = kNone;
  for (uint32_t n = node; n != kNone; n = nodes_[n].parent)
    if (nodes_[n].split && nodes_[n].total <= config_.split_count / 2) top = n;
  if (top != kNone) {
    pull_up(top, top);
    node = top;
  }
  // An empty cell is not cut up any more, so it has no cells below.
  if (node == 0 || nodes_[node].total != 0) return;
  for (uint32_t& child : nodes_[nodes_[node].parent].child)
    if (child == node) child = kNone;
  free_node(node);
}

/// Moves all that is below `node` into the list of `to`, and gives the nodes back. Recurses once a level.
void QuadTree::pull_up(uint32_t node, uint32_t to) {
  for (uint32_t& child : nodes_[node].child) {
    if (child == kNone) continue;
    pull_up(child, to);
    for (uint32_t i = nodes_[child].first_item; i != kNone;) {
      Item& it = items_[i];
      const uint32_t next = it.next;
      it.node = to;
      it.previous = kNone;
      it.next = nodes_[to].first_item;
      if (it.next != kNone) items_[it.next].previous = i;
      nodes_[to].first_item = i;
      i = next;
    }
    free_node(child);
    child = kNone;
  }
  nodes_[node].split = false;
}

void QuadTree::free_node(uint32_t node) {
  nodes_[node].parent = free_node_;
  free_node_ = node;
  --used_nodes_;
}

Result<QuadTreeHandle> QuadTree::insert(const Rect& rect, uint32_t id) {
  MERIDIAN_ASSERT(items_ != nullptr, "a quad tree is initialised before use");
  if (!is_usable(rect)) return kBadRect;
  uint32_t slot = free_item_;
  if (slot != kNone) {
    free_item_ = items_[slot].next;
  } else if (items_ != nullptr && fresh_items_ < config_.max_items) {
    slot = fresh_items_++;
    items_[slot].generation = 1;
  } else {
    return Status{StatusCode::out_of_slots, "the quad tree is full; detail = items", used_items_};
  }
  items_[slot].rect = rect;
  items_[slot].id = id;
  ++used_items_;
  put(slot);
  return QuadTreeHandle{items_[slot].generation, slot};
}

Status QuadTree::move(QuadTreeHandle handle, const Rect& rect) {
  if (!is_live(handle)) return {StatusCode::not_found, "no such item in the quad tree; detail = slot", handle.slot};
  if (!is_usable(rect)) return kBadRect;
  Item& item = items_[handle.slot];
  const uint32_t from = item.node;
  const bool stays = !nodes_[from].split && (from == 0 || is_inside(rect, loose_bounds(nodes_[from])));
  item.rect = rect;
  if (stays) return {};
  unlink(handle.slot);
  put(handle.slot);
  tidy(from);
  return {};
}

bool QuadTree::remove(QuadTreeHandle handle) {
  if (!is_live(handle)) return false;
  Item& item = items_[handle.slot];
  const uint32_t from = item.node;
  unlink(handle.slot);
  item.node = kNone;
  // A slot whose count of uses is at its end is never used again, so that no old handle can name a new item.
  if (++item.generation != 0) {
    item.next = free_item_;
    free_item_ = handle.slot;
  }
  --used_items_;
  tidy(from);
  return true;
}

void QuadTree::clear() {
  if (items_ == nullptr) return;
  for (uint32_t i = 0; i < fresh_items_; ++i) {
    if (items_[i].node == kNone) continue;
    items_[i].node = kNone;
    if (++items_[i].generation == 0) continue;
    items_[i].next = free_item_;
    free_item_ = i;
  }
  used_items_ = 0;
  reset();
}

const Rect* QuadTree::rect_of(QuadTreeHandle handle) const {
  return is_live(handle) ? &items_[handle.slot].rect : nullptr;
}

uint32_t QuadTree::id_of(QuadTreeHandle handle) const {
  MERIDIAN_ASSERT(is_live(handle), "no such item in the quad tree");
  return is_live(handle) ? items_[handle.slot].id : 0;
}

uint32_t QuadTree::query_rect(const Rect& rect, std::span<uint32_t> out) const {
  uint32_t found = 0;
  for_each(rect, [&](uint32_t id, const Rect&) {
    if (found < out.size()) out[found] = id;
    ++found;
  });
  return found;
}

uint32_t QuadTree::root_item_count() const {
  uint32_t count = 0;
  if (nodes_ == nullptr) return 0;
  for (uint32_t i = nodes_[0].first_item; i != kNone; i = items_[i].next) ++count;
  return count;
}

}  // namespace meridian
