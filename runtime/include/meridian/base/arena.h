// SPDX-License-Identifier: MIT
#pragma once
/// Memory for what lives as long as a frame: an allocation is a step forward in one block, and all of it is given back
/// at once. (Others call it a step or linear allocator.)
///
///   Arena frame("frame", 1 << 20, default_allocator(), default_memory_tracker());  // at start-up
///
///   frame.reset();  // each frame
///   std::span<uint32_t> visible = frame.make_array<uint32_t>(1000);
///   const bool is_full = visible.empty();
///   {
///     const ArenaScope scratch(frame);  // given back at its end
///     void* const bytes = frame.allocate(4096, 64);
///   }
///
/// Nothing is destroyed: reset forgets. So only types without a destructor may stand in it.
///
/// Threads: reentrant; an arena is for one thread. Its row in a report is read on that thread too.
/// Memory:  one block, from the caller or from an Allocator when it's made.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "meridian/base/memory.h"

namespace meridian {

class Arena final : public MemorySource {
 public:
  /// Steps through memory of the caller, which outlives it. In no report.
  explicit Arena(std::span<std::byte> block) : block_(block) {}
  /// Steps through `bytes` bytes of `allocator`, and has a row `name` in the reports of `tracker`. If there was no such
  /// block, capacity() is 0 and every allocation fails. `name` is static text.
  Arena(const char* name, size_t bytes, Allocator& allocator, MemoryTracker& tracker = default_memory_tracker());
  ~Arena() override {
    detach();
    if (allocator_ != nullptr) allocator_->deallocate(block_.data(), block_.size(), kBlockAlignment);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` bytes at a multiple of `alignment`, or null if that's more than is left. O(1). Bytes are as they were.
  /// Requires: alignment is a power of two (otherwise null).
  [[nodiscard]] void* allocate(size_t bytes, size_t alignment = alignof(std::max_align_t));
  /// A new T, or null.
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena destroys nothing");
    void* const place = allocate(sizeof(T), alignof(T));
    return place != nullptr ? new (place) T(std::forward<Args>(args)...) : nullptr;
  }
  /// `count` new values T(), or an empty span.
  template <class T>
  [[nodiscard]] std::span<T> make_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena destroys nothing");
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) return {};
    auto* const place = static_cast<std::byte*>(allocate(count * sizeof(T), alignof(T)));
    if (place == nullptr || count == 0) return {};
    for (size_t i = 0; i < count; ++i) new (place + i * sizeof(T)) T();
    return {std::launder(reinterpret_cast<T*>(place)), count};
  }

  /// A place to come back to. [bytes]
  size_t marker() const { return used_; }
  /// Gives back what was allocated since marker() returned `marker`.
  /// Requires: marker <= used_bytes() (otherwise nothing happens).
  void rewind(size_t marker);
  /// Gives back everything.
  void reset() { rewind(0); }

  size_t capacity() const { return block_.size(); }  ///< [bytes]
  size_t used_bytes() const { return used_; }        ///< gaps for alignment included [bytes]
  size_t peak_bytes() const { return peak_; }        ///< most that was used at once, since it was made [bytes]
  uint64_t failed() const { return failed_; }        ///< allocations that did not fit, since it was made [count]

  // Virtual functions are inline: the runtime itself has no RTTI, programs may.
  MemoryRow memory_row() const override { return row(); }

 private:
  static constexpr size_t kBlockAlignment = 64;  // of a cache line, so that most alignments cost no gap at the start

  MemoryRow row() const;

  std::span<std::byte> block_;
  size_t used_ = 0;
  size_t peak_ = 0;
  uint64_t failed_ = 0;
  const char* name_ = "";
  Allocator* allocator_ = nullptr;  ///< null: the block is the caller's
};

/// Gives back, at its end, what was allocated since its beginning. Scopes of an arena nest.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), marker_(arena.marker()) {}
  ~ArenaScope() { arena_.rewind(marker_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  size_t marker_;
};

}  // namespace meridian
