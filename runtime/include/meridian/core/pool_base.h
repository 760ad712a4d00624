// SPDX-License-Identifier: MIT
#pragma once
/// What all pools share, whatever they hold: their configuration, their counts, and what they say when they are full.
/// The pools themselves are core/pool.h, core/derived_pool.h and core/paged_pool.h.
///
///   PoolConfig config{.name = "Decorator", .capacity = 600};
///   config.red_zone = 550;                                       // tell the host before it is too late
///   config.on_red_zone = [](void*, const PoolBase& pool) {
///     log_message(LogLevel::warning, pool.name_hash(), "only %u left", pool.capacity() - pool.used());
///   };
///
/// Threads: as the pool's threading policy says, below.

#include <cstdint>
#include <mutex>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"

namespace meridian {

class PoolBase;

/// Where the capacity of a pool can be changed; the message of a full pool says so.
enum class PoolSizeFrom : uint8_t {
  game_config,  ///< an entry PoolSize in the gameconfig: GameConfig::size_of_pool gave the capacity
  code,         ///< a number in the program
};

struct PoolConfig {
  const char* name = "Pool";  ///< as in the gameconfig; lives as long as the pool
  uint32_t capacity = 0;      ///< a pool of 0 is always full [0, 2^31) [count]
  PoolSizeFrom size_from = PoolSizeFrom::game_config;
  uint32_t red_zone = 0;  ///< call on_red_zone the first time that this many are in use; 0: never [count]
  /// Called while an element is being made, with Locked inside the lock: it must not create or destroy there.
  void (*on_red_zone)(void* user, const PoolBase& pool) = nullptr;
  void* user = nullptr;
  uint32_t max_uses = 1u << 31;      ///< how often a slot is used before its handles run out; lower in tests [1, 2^31]
  MemoryTracker* tracker = nullptr;  ///< whose report has a row for it; null: default_memory_tracker()
};

/// Threading policy: one thread uses the pool, the one that called init(), or the first after hand_over(). Creating and
/// destroying check it where asserts are on; reading does not, so that others may read while the owner waits for them.
class OwnerThread {
 public:
  /// The next thread that creates or destroys becomes the owner.
  void hand_over() { owner_ = nullptr; }

 private:
  template <class, class, class>
  friend class BasicPool;
  struct Guard {
    explicit Guard(const OwnerThread& policy) { policy.check(); }
  };
  static uint32_t load(const uint32_t& value) { return value; }
  static void store(uint32_t& value, uint32_t to) { value = to; }
  void claim() {
    hand_over();
    check();
  }
  void check() const {
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
    static thread_local char mark;
    if (owner_ == nullptr) owner_ = &mark;
    MERIDIAN_ASSERT(owner_ == &mark, "a pool without a lock belongs to one thread");
#endif
  }
  mutable const void* owner_ = nullptr;  // the address of a variable of that thread
};

/// Threading policy: any thread; a mutex around the book-keeping. Constructors and destructors run outside the lock, so
/// they may use the pool. An element is found by others once its constructor is done. Whoever uses an element sees to
/// it that no other thread destroys it meanwhile; so does whoever iterates.
class Locked {
  template <class, class, class>
  friend class BasicPool;
  struct Guard {
    explicit Guard(const Locked& policy) : lock(policy.mutex_) {}
    std::lock_guard<std::mutex> lock;
  };
  void claim() {}
  static uint32_t load(const uint32_t& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }
  static void store(uint32_t& value, uint32_t to) { __atomic_store_n(&value, to, __ATOMIC_RELEASE); }
  mutable std::mutex mutex_;
};

/// The part of a pool that knows nothing of its elements' type. Also its row in memory reports.
class PoolBase : public MemorySource {
 public:
  PoolBase(const PoolBase&) = delete;
  PoolBase& operator=(const PoolBase&) = delete;
  ~PoolBase() override { detach(); }

  const char* name() const { return config_.name; }
  NameHash name_hash() const { return hash_name(config_.name); }
  uint32_t capacity() const { return config_.capacity; }  ///< [count]
  PoolSizeFrom size_from() const { return config_.size_from; }

  /// These are exact for the owner; with Locked they may be outdated when they return.
  uint32_t used() const {  ///< elements that live [count]
    const uint32_t free = load(queued_) + load(retired_), ready = load(slots_ready_);
    return ready > free ? ready - free : 0;  // another thread may change one of them between
  }
  uint32_t peak() const { return load(peak_); }        ///< most that lived at once since reset_peak() [count]
  uint32_t retired() const { return load(retired_); }  ///< slots that were used up [count]
  uint64_t denied() const { return load(denied_); }    ///< creations that found no slot [count]

  // Virtual functions are all inline in classes that programs derive from: the runtime itself has no RTTI, they may.
  /// Counts a creation that finds no slot, and the first time says what to do about it. create() does so; a caller that
  /// knows without trying that there is no room does it itself.
  void report_full();

  MemoryRow memory_row() const override { return row(); }

 protected:
  PoolBase() = default;

  /// See BasicPool::reset_peak.
  void count_from_now();
  void register_pool(const PoolConfig& config, uint32_t element_bytes, Allocator& allocator);
  /// There are `slots` slots with memory now, `queued` of them in the queue, and `bytes` in all.
  void count_slots(uint32_t slots, uint32_t queued, uint64_t bytes);
  /// There is no memory any more.
  void count_nothing() {
    store(retired_, 0u);
    count_slots(0, 0, 0);
  }
  void count_queued() { store(queued_, queued_ + 1); }
  void count_retired() { store(retired_, retired_ + 1); }
  void count_taken() {
    const uint32_t left = queued_ - 1;
    store(queued_, left);
    if (left < watch_) count_peak();
  }

  uint32_t queued_ = 0;  ///< free slots in the queue [count]
  uint32_t watch_ = 0;   ///< a queue shorter than this means a new peak [count]
  PoolConfig config_;
  Allocator* allocator_ = nullptr;

 private:
  MemoryRow row() const;
  template <class N>
  static N load(const N& number) {
    return __atomic_load_n(&number, __ATOMIC_RELAXED);
  }
  template <class N>
  static void store(N& number, N to) {
    __atomic_store_n(&number, to, __ATOMIC_RELAXED);
  }
  /// Fewer are free than ever: a new peak, perhaps the red zone.
  void count_peak();

  uint32_t slots_ready_ = 0, retired_ = 0, peak_ = 0, element_bytes_ = 0;
  uint64_t denied_ = 0, bytes_ = 0;
  bool said_full_ = false;
};

}  // namespace meridian
