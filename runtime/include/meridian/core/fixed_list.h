// SPDX-License-Identifier: MIT
#pragma once
/// A doubly linked list of fixed capacity: an order that changes often, of things that don't move. The least recently
/// used texture, the sounds by priority.
///
///   struct Texture { int size = 0; };
///   FixedList<Texture> recent;
///   if (const Status status = recent.init(64, default_allocator()); !status.ok()) return status;
///
///   if (recent.is_full()) recent.remove(recent.back());
///   const uint32_t id = recent.push_front(Texture{512});
///   recent.move_to_front(id);  // used again
///   int total = 0;
///   for (uint32_t at = recent.front(); at != kNoNode; at = recent.next(at)) total += recent[at].size;
///
/// A node's id and the address of its value stay the same until it's removed. Then the id goes to another node: the
/// list does not tell an old id from a new one, as a pool does with a Handle. All is O(1) but clear.
///
/// Threads: main; readers while nobody changes the list.
/// Memory:  one block, in init: sizeof(T) + 8 bytes for each node. Nothing later.

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "meridian/base/assert.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"

namespace meridian {

/// No node: the end of a list, a full list.
inline constexpr uint32_t kNoNode = 0xFFFFFFFF;
/// Largest capacity of a list. [count]
inline constexpr uint32_t kMaxListNodes = 0xFFFFFFFC;

template <class T>
class FixedList {
 public:
  FixedList() = default;
  ~FixedList() { release(); }
  FixedList(const FixedList&) = delete;
  FixedList& operator=(const FixedList&) = delete;

  /// Takes the memory for `capacity` nodes; until then the list has room for none. `allocator` outlives the list.
  /// Requires: not called before; capacity <= kMaxListNodes.
  /// Errors:   out_of_memory, too_large; the list is as before.
  Status init(uint32_t capacity, Allocator& allocator) {
    MERIDIAN_ASSERT(block_ == nullptr, "a list is made once");
    if (block_ != nullptr) return {StatusCode::in_use, "the list was made before"};
    if (capacity > kMaxListNodes) return {StatusCode::too_large, "capacity of a list; detail = it", capacity};
    void* const block = allocator.allocate(block_bytes(capacity), kAlignment);
    if (block == nullptr) {
      return {StatusCode::out_of_memory, "no memory for a list; detail = bytes", block_bytes(capacity)};
    }
    allocator_ = &allocator;
    block_ = static_cast<std::byte*>(block);
    links_ = new (block_ + links_at(capacity)) Link[size_t{capacity} + 2];
    capacity_ = capacity;
    reset_links();
    return {};
  }

  uint32_t capacity() const { return capacity_; }
  uint32_t count() const { return count_; }
  bool is_empty() const { return count_ == 0; }
  bool is_full() const { return count_ == capacity_; }

  /// Makes a value of `args` at that end. Returns its id, or kNoNode if the list is full.
  template <class... Args>
  uint32_t push_front(Args&&... args) {
    return capacity_ != 0 ? make_after(head(), std::forward<Args>(args)...) : kNoNode;
  }
  template <class... Args>
  uint32_t push_back(Args&&... args) {
    return capacity_ != 0 ? make_after(links_[tail()].previous, std::forward<Args>(args)...) : kNoNode;
  }
  /// Makes a value next to node `id`. Requires: contains(id) (otherwise kNoNode).
  template <class... Args>
  uint32_t insert_before(uint32_t id, Args&&... args) {
    return check(id) ? make_after(links_[id].previous, std::forward<Args>(args)...) : kNoNode;
  }
  template <class... Args>
  uint32_t insert_after(uint32_t id, Args&&... args) {
    return check(id) ? make_after(id, std::forward<Args>(args)...) : kNoNode;
  }

  /// Destroys the value. Requires: contains(id).
  void remove(uint32_t id) {
    if (!check(id)) return;
    unlink(id);
    links_[id] = {kFree, kNoNode};
    --count_;
    value(id)->~T();  // may use the list; its own slot isn't free yet
    links_[id].next = free_;
    free_ = id;
  }
  /// Destroys all values, front first. O(count).
  void clear() {
    while (count_ != 0) remove(front());
  }

  /// Moves a node within the order; id and address stay. Requires: contains(id).
  void move_to_front(uint32_t id) {
    if (!check(id)) return;
    unlink(id);
    link_after(head(), id);
  }
  void move_to_back(uint32_t id) {
    if (!check(id)) return;
    unlink(id);
    link_after(links_[tail()].previous, id);
  }

  /// Whether `id` is a node of the list now.
  bool contains(uint32_t id) const { return id < capacity_ && links_[id].previous != kFree; }
  /// The value, or null if `id` is no node.
  T* get(uint32_t id) { return contains(id) ? value(id) : nullptr; }
  const T* get(uint32_t id) const { return contains(id) ? value(id) : nullptr; }
  /// The value. Requires: contains(id).
  T& operator[](uint32_t id) {
    MERIDIAN_ASSERT(contains(id), "a node of the list");
    return *value(id);
  }
  const T& operator[](uint32_t id) const {
    MERIDIAN_ASSERT(contains(id), "a node of the list");
    return *value(id);
  }

  /// First and last node; kNoNode for an empty list.
  uint32_t front() const { return capacity_ != 0 ? node_or_none(links_[head()].next) : kNoNode; }
  uint32_t back() const { return capacity_ != 0 ? node_or_none(links_[tail()].previous) : kNoNode; }
  /// The neighbours; kNoNode at the ends. Ask for them before you remove `id`. Requires: contains(id).
  uint32_t next(uint32_t id) const { return check(id) ? node_or_none(links_[id].next) : kNoNode; }
  uint32_t previous(uint32_t id) const { return check(id) ? node_or_none(links_[id].previous) : kNoNode; }

 private:
  // Two more links than nodes are sentinels, so that linking knows no ends: `head` comes before all nodes, `tail`
  // after.
  struct Link {
    uint32_t previous;  ///< kFree: the node is in no list
    uint32_t next;      ///< of a free node: the next free one
  };
  static constexpr uint32_t kFree = kNoNode;
  static constexpr size_t kAlignment = alignof(T) > alignof(Link) ? alignof(T) : alignof(Link);

  static constexpr size_t links_at(uint32_t capacity) {
    return (size_t{capacity} * sizeof(T) + alignof(Link) - 1) & ~(alignof(Link) - 1);
  }
  static constexpr size_t block_bytes(uint32_t capacity) {
    return links_at(capacity) + (size_t{capacity} + 2) * sizeof(Link);
  }

  uint32_t head() const { return capacity_; }
  uint32_t tail() const { return capacity_ + 1; }
  uint32_t node_or_none(uint32_t link) const { return link < capacity_ ? link : kNoNode; }
  bool check(uint32_t id) const {
    MERIDIAN_ASSERT(contains(id), "a node of the list");
    return contains(id);
  }
  T* value(uint32_t id) const { return std::launder(reinterpret_cast<T*>(block_ + size_t{id} * sizeof(T))); }

  void reset_links() {
    links_[head()] = {kNoNode, tail()};
    links_[tail()] = {head(), kNoNode};
    for (uint32_t i = 0; i < capacity_; ++i) links_[i] = {kFree, i + 1 < capacity_ ? i + 1 : kNoNode};
    free_ = capacity_ != 0 ? 0 : kNoNode;
  }
  void unlink(uint32_t id) {
    const Link link = links_[id];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
  }
  void link_after(uint32_t before, uint32_t id) {
    const uint32_t after = links_[before].next;
    links_[id] = {before, after};
    links_[before].next = id;
    links_[after].previous = id;
  }
  template <class... Args>
  uint32_t make_after(uint32_t before, Args&&... args) {
    const uint32_t id = free_;
    if (id == kNoNode) return kNoNode;
    free_ = links_[id].next;
    new (block_ + size_t{id} * sizeof(T)) T(std::forward<Args>(args)...);
    link_after(before, id);
    ++count_;
    return id;
  }
  void release() {
    if (block_ == nullptr) return;
    clear();
    allocator_->deallocate(block_, block_bytes(capacity_), kAlignment);
  }

  Allocator* allocator_ = nullptr;
  std::byte* block_ = nullptr;  ///< values, then links
  Link* links_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
  uint32_t free_ = kNoNode;
};

}  // namespace meridian
