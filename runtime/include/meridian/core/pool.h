// SPDX-License-Identifier: MIT
#pragma once
/// Pools: a fixed number of elements of one type in one block of memory. Creating and destroying takes a few
/// nanoseconds and never allocates; a handle of an element that is gone is known to be stale.
///
///   struct Lamp { float x = 0, y = 0; };
///   Pool<Lamp> lamps;
///   Status ready = lamps.init({.name = "Lamp", .capacity = 1000});
///   if (Lamp* lamp = lamps.create()) {                 // null, and one message, when the pool is full
///     Handle<Lamp> handle = lamps.handle_of(*lamp);
///     lamps.destroy(*lamp);
///     assert(lamps.get(handle) == nullptr);
///   }
///   for (Lamp& lamp : lamps) lamp.x += 1;              // the live ones, in the order of addresses
///
/// Free slots wait in a queue: a slot that was released is used again last of all, so that a stale pointer meets an
/// unused slot for as long as possible. Where asserts are on, released elements are filled with 0xDD; AddressSanitizer
/// builds report whoever touches them.
///
/// Threads: main with OwnerThread, internal with Locked: the last template argument (core/pool_base.h).
/// Memory:  one block in init(): capacity * (sizeof(T) rounded up to its alignment and to 8, + 8) + 32 bytes. Elements
///          that were never used are not touched.
/// Source:  own. Generations that are odd in use and even when free are an old trick; why not a byte of flags beside
///          them: docs/architecture.md#pools.

#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include "meridian/core/handle.h"
#include "meridian/core/pool_base.h"
#include "meridian/core/pool_slots.h"

namespace meridian {

/// The operations of every pool; use Pool, DerivedPool or PagedPool. `Slots` says where elements lie.
template <class T, class Slots, class Threading>
class BasicPool : public PoolBase {
 public:
  using Element = T;
  BasicPool(const BasicPool&) = delete;
  BasicPool& operator=(const BasicPool&) = delete;
  ~BasicPool() override { shutdown(); }

  /// Destroys all elements and gives the memory back. init() may follow; handles from before are then meaningless.
  void shutdown() {
    if (allocator_ == nullptr) return;
    clear();
    detach();
    slots_.free(*allocator_);
    allocator_ = nullptr;
    config_.capacity = 0;
    head_ = tail_ = end_ = nullptr;
    count_nothing();
  }

  /// Makes an element, or returns null without a word if there is no free slot.
  template <class... Arguments>
  T* try_create(Arguments&&... arguments) {
    return make<T>(std::forward<Arguments>(arguments)...);
  }
  /// As try_create. A full pool counts in denied(), and says so the first time:
  ///   "<name> pool full (capacity N): raise PoolSize '<name>' in gameconfig"
  template <class... Arguments>
  T* create(Arguments&&... arguments) {
    T* const element = make<T>(std::forward<Arguments>(arguments)...);
    if (element == nullptr) report_full();
    return element;
  }

  /// Destroys an element; its handles are stale when this returns.
  /// Requires: a live element of this pool (asserted; where asserts are on, nothing else happens).
  void destroy(T& element) {
    const uint32_t slot = slots_.slot_of(&element);
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
    const bool is_live = slot < slots_.count() && (Threading::load(slots_.generation(slot)) & 1) != 0;
    MERIDIAN_ASSERT(is_live, "only a live element of this pool can be destroyed");
    if (!is_live) return;
#endif
    element.~T();
    const typename Threading::Guard guard(threading_);
    release(slot);
  }
  /// Destroys what a handle names. False: it was stale.
  /// Requires: no other thread destroys it too, with any policy.
  bool destroy(Handle<T> handle) {
    T* const element = get(handle);
    if (element != nullptr) destroy(*element);
    return element != nullptr;
  }
  /// Destroys all elements, in the order of slots. Requires: their destructors create none in this pool (asserted).
  void clear() {
    for (uint32_t slot = 0; slot < slots_.count(); ++slot) {
      if (T* const element = at(slot)) destroy(*element);
    }
    MERIDIAN_ASSERT(used() == 0, "destructors create nothing while a pool is cleared");
  }

  /// The element, or null if it is gone or the handle is null. Pointers are good until the element is destroyed.
  T* get(Handle<T> handle) const {
    if (handle.slot >= slots_.count() || (handle.generation & 1) == 0) return nullptr;
    return Threading::load(slots_.generation(handle.slot)) == handle.generation ? pointer(handle.slot) : nullptr;
  }
  /// Requires: a live element of this pool, or one that is just being destroyed (asserted; otherwise null).
  Handle<T> handle_of(const T& element) const {
    const uint32_t slot = slots_.slot_of(&element);
    const uint32_t generation = slot != detail::kNoSlot ? Threading::load(slots_.generation(slot)) : 0;
    MERIDIAN_ASSERT((generation & 1) != 0, "only a live element of this pool has a handle");
    return (generation & 1) != 0 ? Handle<T>{generation, slot} : Handle<T>{};
  }

  /// The 32-bit form of a handle; see PackedHandle. 0 for a stale one.
  /// Requires: slot < 2^24 (asserted; otherwise 0).
  PackedHandle packed(Handle<T> handle) const {
    MERIDIAN_ASSERT(handle.slot < kMaxPackedSlots, "a packed handle has 24 bits for the slot");
    if (get(handle) == nullptr || handle.slot >= kMaxPackedSlots) return 0;
    return handle.slot << 8 | flags(handle.slot);
  }
  /// The element, or null where the flags differ. May be a newer element than the one meant, see PackedHandle.
  T* get_packed(PackedHandle handle) const {
    const uint32_t slot = handle >> 8;
    if (slot >= slots_.count() || (handle & kFree) != 0) return nullptr;
    return flags(slot) == (handle & 0xFF) ? pointer(slot) : nullptr;
  }
  /// What the low 8 bits of a packed handle must be now: kFree is set while the slot is free; the other seven bits
  /// count uses of the slot from 1 to 127, and then from 1 again. A slot that has no memory is free.
  uint8_t flags(uint32_t slot) const {
    if (slot >= slots_.count()) return kFree;
    const uint32_t generation = Threading::load(slots_.generation(slot));
    if ((generation & 1) != 0) return static_cast<uint8_t>(uses(generation));
    const uint32_t first = first_generation(config_);
    return static_cast<uint8_t>(kFree | (generation == first ? 0 : uses(generation - 1)));
  }
  static constexpr uint32_t kFree = 0x80;
  static constexpr uint32_t kMaxPackedSlots = 1u << 24;

  /// The element in a slot, or null where it is free or out of range.
  T* at(uint32_t slot) const {
    if (slot >= slots_.count()) return nullptr;
    return (Threading::load(slots_.generation(slot)) & 1) != 0 ? pointer(slot) : nullptr;
  }

  /// Walks the live elements in the order of slots. Elements may be created and destroyed on the way; those made
  /// meanwhile may or may not be met.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = T*;
    using reference = T&;
    Iterator() = default;
    T& operator*() const { return *pool_->pointer(slot_); }
    T* operator->() const { return pool_->pointer(slot_); }
    Iterator& operator++() {
      ++slot_;
      find();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.slot_ == b.slot_; }

   private:
    friend class BasicPool;
    Iterator(const BasicPool* pool, uint32_t slot) : pool_(pool), slot_(slot) { find(); }
    void find() {
      const uint32_t end = pool_->slots_.count();
      while (slot_ < end && pool_->at(slot_) == nullptr) ++slot_;
      if (slot_ >= end) slot_ = detail::kNoSlot;
    }
    const BasicPool* pool_ = nullptr;
    uint32_t slot_ = detail::kNoSlot;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, detail::kNoSlot}; }

  /// Counts from now on: peak() is used(), denied() 0; the message of a full pool is armed again, and the red zone too
  /// if fewer than it are in use.
  void reset_peak() {
    const typename Threading::Guard guard(threading_);
    count_from_now();
  }

  Threading& threading() { return threading_; }

 protected:
  BasicPool() = default;

  /// Makes a D, which is a T, in a slot of this pool.
  template <class D, class... Arguments>
  D* make(Arguments&&... arguments) {
    const uint32_t slot = take();
    if (slot == detail::kNoSlot) return nullptr;
    D* const element = ::new (static_cast<void*>(slots_.element(slot))) D(std::forward<Arguments>(arguments)...);
    MERIDIAN_ASSERT(static_cast<void*>(static_cast<T*>(element)) == static_cast<void*>(element),
                    "a pool's base type is the first base of what it holds");
    uint32_t& generation = slots_.generation(slot);
    Threading::store(generation, generation + 1);
    return element;
  }

  /// For flat slots. `size` is an element's.
  Status start(const PoolConfig& config, size_t size, size_t alignment, Allocator& allocator) {
    if (const Status status = check(config); !status.ok()) return status;
    const size_t stride = detail::slot_stride(size, alignment);
    return finish(config, size, slots_.init(config.capacity, first_generation(config), stride, alignment, allocator),
                  allocator);
  }
  Status check(const PoolConfig& config) const {
    MERIDIAN_ASSERT(allocator_ == nullptr, "a pool is initialised once, until it is shut down");
    if (allocator_ != nullptr) {
      return {StatusCode::in_use, "a pool is initialised once, until it is shut down", 0, hash_name(config.name)};
    }
    if (config.max_uses == 0 || config.max_uses > 1u << 31) {
      return {StatusCode::bad_value, "a slot is used 1 to 2^31 times; detail = max_uses", config.max_uses,
              hash_name(config.name)};
    }
    if (config.capacity < kMaxCapacity) return {};
    return {StatusCode::too_large, "a pool can't be that large; detail = its capacity", config.capacity,
            hash_name(config.name)};
  }
  Status finish(const PoolConfig& config, size_t size, Status status, Allocator& allocator) {
    status.name = hash_name(config.name);
    if (!status.ok()) return status;
    threading_.claim();
    register_pool(config, static_cast<uint32_t>(size), allocator);
    count_slots(slots_.count(), slots_.count(), slots_.bytes());
    head_ = tail_ = slots_.queue();
    end_ = head_ + config.capacity;
    return status;
  }
  static constexpr uint32_t kMaxCapacity = 1u << 31;
  /// Even; a slot is used up when its generation comes round to 0.
  static uint32_t first_generation(const PoolConfig& config) { return 0u - 2 * config.max_uses; }

  Slots slots_;
  Threading threading_;

 private:
  T* pointer(uint32_t slot) const { return std::launder(reinterpret_cast<T*>(slots_.element(slot))); }
  uint32_t uses(uint32_t odd_generation) const { return (odd_generation - first_generation(config_)) / 2 % 127 + 1; }

  /// Takes the head of the queue.
  uint32_t take() {
    const typename Threading::Guard guard(threading_);
    if (queued_ == 0 && !grow()) return detail::kNoSlot;
    uint32_t* const head = head_;
    const uint32_t slot = *head;
    // The queue has seen the whole pool since its slots were released, so that no near cache has their elements.
    __builtin_prefetch(slots_.element(head[detail::kLookAhead]), 1);
    head_ = head + 1 == end_ ? slots_.queue() : head + 1;
    count_taken();
    detail::unpoison(slots_.element(slot), slots_.stride());
    return slot;
  }
  /// Adds a page to an empty queue.
  bool grow() {
    const uint32_t first = slots_.count();
    if (allocator_ == nullptr || !slots_.grow(*allocator_)) return false;
    const uint32_t last = slots_.count();
    count_slots(last, 0, slots_.bytes());
    for (uint32_t slot = first; slot < last; ++slot) enqueue(slot);
    return true;
  }
  void enqueue(uint32_t slot) {
    uint32_t* const tail = tail_;
    *tail = slot;
    tail_ = tail + 1 == end_ ? slots_.queue() : tail + 1;
    count_queued();
  }

  void release(uint32_t slot) {
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
    std::memset(slots_.element(slot), 0xDD, slots_.stride());
#endif
    detail::poison(slots_.element(slot), slots_.stride());
    uint32_t& generation = slots_.generation(slot);
    MERIDIAN_ASSERT((generation & 1) != 0, "an element is destroyed once");
    const uint32_t next = generation + 1;
    Threading::store(generation, next);
    if (next != 0) {
      enqueue(slot);
    } else {
      count_retired();  // its next handle could equal an old one: better one slot less
    }
  }

  uint32_t *head_ = nullptr, *tail_ = nullptr, *end_ = nullptr;  // the queue of free slots, a ring
};

/// A pool of elements of one type.
template <class T, class Threading = OwnerThread>
class Pool final : public BasicPool<T, detail::FlatSlots<detail::slot_stride(sizeof(T), alignof(T))>, Threading> {
  using Base = BasicPool<T, detail::FlatSlots<detail::slot_stride(sizeof(T), alignof(T))>, Threading>;

 public:
  /// Takes the memory. Requires: not initialised, or shut down.
  /// Errors: too_large (capacity >= 2^31), bad_value (max_uses), out_of_memory; `name` is the pool's.
  Status init(const PoolConfig& config, Allocator& allocator = default_allocator()) {
    return this->start(config, sizeof(T), alignof(T), allocator);
  }
};

}  // namespace meridian
