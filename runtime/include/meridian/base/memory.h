// SPDX-License-Identifier: MIT
#pragma once
/// Where memory comes from, and the account of it. Everything in the runtime that needs memory takes an Allocator when
/// it is made; nothing allocates behind the caller's back, and nothing allocates in the frame loop.
///
///   MemoryTracker tracker;
///   TrackedAllocator map_memory("map data", tracker);                        // an allocation class
///   void* block = map_memory.allocate(4096, 64);                             // pools and loaders do this
///   print_memory_report(tracker, [](void*, std::string_view line) {
///     std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
///   });
///   map_memory.deallocate(block, 4096, 64);
///
/// Threads: an Allocator says itself; default_allocator() and TrackedAllocator are internal (malloc; atomic counters).
///          Registering with a MemoryTracker is internal (a mutex). A report is main: it reads counts of pools that
///          belong to one thread.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "meridian/base/assert.h"
#include "meridian/base/status.h"

namespace meridian {

class MemoryTracker;

/// A source of memory. Failure is null, never an exception.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` bytes at a multiple of `alignment`, or null.
  /// Requires: alignment is a power of two; bytes may be 0.
  [[nodiscard]] virtual void* allocate(size_t bytes, size_t alignment) = 0;
  /// Gives back what allocate returned, with the same size and alignment. Null is ignored.
  virtual void deallocate(void* pointer, size_t bytes, size_t alignment) = 0;
  /// Name of the allocation class that already accounts for this memory, or null. A report adds nothing up twice by it.
  virtual const char* memory_class() const { return nullptr; }
};

/// malloc and free. Threads: internal.
Allocator& default_allocator();

enum class MemoryKind : uint8_t {
  pool,         ///< elements of one size
  allocations,  ///< an allocation class: passes on what it is asked for, and counts
  region,       ///< an allocation class with memory of its own, all of which it holds
};

/// One line of a report.
struct MemoryRow {
  const char* name = "";         ///< of the pool or allocation class; static text or its owner's
  const char* within = nullptr;  ///< the allocation class that these bytes are also part of, or null
  MemoryKind kind = MemoryKind::pool;
  uint32_t element_bytes = 0;  ///< of a pool, as stored; 0 otherwise [bytes]
  uint64_t capacity = 0;       ///< elements of a pool; bytes of a region; 0 for allocations, which have no limit here
  uint64_t used = 0;           ///< elements; bytes taken of a region; live allocations
  uint64_t peak = 0;           ///< most that were used at once
  uint64_t bytes = 0;          ///< held now, book-keeping included [bytes]
  uint64_t peak_bytes = 0;     ///< most that were held at once [bytes]
};

/// Something that a report has a row for. Registers itself while it lives; address-stable.
class MemorySource {
 public:
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;
  virtual MemoryRow memory_row() const = 0;
  virtual ~MemorySource() { MERIDIAN_ASSERT(tracker_ == nullptr, "a memory source is detached before it dies"); }

 protected:
  MemorySource() = default;
  /// Appears in reports of `tracker` from now on. Requires: not attached; the tracker outlives it or detach().
  void attach(MemoryTracker& tracker);
  void detach();

 private:
  friend class MemoryTracker;
  MemoryTracker* tracker_ = nullptr;
  MemorySource* next_ = nullptr;
  MemorySource* previous_ = nullptr;
};

/// The list of all that is reported together. Usually one for a program; a host with several worlds may have several.
class MemoryTracker {
 public:
  constexpr MemoryTracker() = default;
  MemoryTracker(const MemoryTracker&) = delete;
  MemoryTracker& operator=(const MemoryTracker&) = delete;
  ~MemoryTracker() = default;

  /// Calls `visit` for each row, in the order of registration. `visit` must not make or destroy sources.
  void for_each(void (*visit)(void* user, const MemoryRow& row), void* user) const;
  /// Copies the rows, in the order of registration. If `out` is too small, it is filled and `found` is still the full
  /// number. Errors: too_small when found > out.size().
  Status rows(std::span<MemoryRow> out, size_t& found) const;
  /// Bytes held now by all rows, each counted once: a row within a class of this tracker is part of that. [bytes]
  uint64_t total_bytes() const;

 private:
  friend class MemorySource;
  bool has_class(const char* name) const;
  mutable std::mutex mutex_;
  MemorySource* first_ = nullptr;
  MemorySource* last_ = nullptr;
};

/// The tracker that pools use unless they are given another. Never destroyed.
MemoryTracker& default_memory_tracker();

/// An allocation class: passes on to `parent` and counts. Threads: internal, as far as `parent` is.
class TrackedAllocator final : public Allocator, public MemorySource {
 public:
  /// `name` must live as long as this.
  TrackedAllocator(const char* name, MemoryTracker& tracker, Allocator& parent = default_allocator());
  TrackedAllocator(const TrackedAllocator&) = delete;
  TrackedAllocator& operator=(const TrackedAllocator&) = delete;
  // All inline: the runtime has no RTTI, and programs that have need this class's in their own objects.
  ~TrackedAllocator() override {
    MERIDIAN_ASSERT(bytes_.load(std::memory_order_relaxed) == 0, "an allocation class outlives what it gave");
    detach();
  }

  [[nodiscard]] void* allocate(size_t bytes, size_t alignment) override { return take(bytes, alignment); }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override { give_back(pointer, bytes, alignment); }
  const char* memory_class() const override { return name_; }
  MemoryRow memory_row() const override { return row(); }

 private:
  void* take(size_t bytes, size_t alignment);
  void give_back(void* pointer, size_t bytes, size_t alignment);
  MemoryRow row() const;

  Allocator& parent_;
  const char* name_;
  std::atomic<uint64_t> count_{0}, peak_count_{0}, bytes_{0}, peak_bytes_{0};
};

/// Takes the lines of a report, without newline; a line lives until the call returns.
using ReportLine = void (*)(void* user, std::string_view line);

/// The rows as a table of fixed columns, one line a row, with a heading and a total. Memory: none.
void print_memory_report(const MemoryTracker& tracker, ReportLine line, void* user = nullptr);

}  // namespace meridian
