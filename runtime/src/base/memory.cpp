// SPDX-License-Identifier: MIT
#include "meridian/base/memory.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

class MallocAllocator final : public Allocator {
 public:
  constexpr MallocAllocator() = default;
  void* allocate(size_t bytes, size_t alignment) override {
    MERIDIAN_ASSERT((alignment & (alignment - 1)) == 0 && alignment != 0, "alignment is a power of two");
    if (bytes == 0) bytes = 1;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    if (bytes > SIZE_MAX - alignment) return nullptr;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  }
  void deallocate(void* pointer, size_t, size_t) override { std::free(pointer); }
};

/// Raises `peak` to `value`.
void raise(std::atomic<uint64_t>& peak, uint64_t value) {
  uint64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Allocator& default_allocator() {
  // Never destroyed: what lives in other static objects may still give memory back.
  alignas(MallocAllocator) static std::byte storage[sizeof(MallocAllocator)];
  static Allocator* const allocator = new (storage) MallocAllocator;
  return *allocator;
}

MemoryTracker& default_memory_tracker() {
  alignas(MemoryTracker) static std::byte storage[sizeof(MemoryTracker)];
  static auto* const tracker = new (storage) MemoryTracker;
  return *tracker;
}

void MemorySource::attach(MemoryTracker& tracker) {
  MERIDIAN_ASSERT(tracker_ == nullptr, "a memory source is attached once");
  if (tracker_ != nullptr) return;
  const std::lock_guard lock(tracker.mutex_);
  tracker_ = &tracker;
  previous_ = tracker.last_;
  next_ = nullptr;
  (previous_ != nullptr ? previous_->next_ : tracker.first_) = this;
  tracker.last_ = this;
}

void MemorySource::detach() {
  if (tracker_ == nullptr) return;
  const std::lock_guard lock(tracker_->mutex_);
  (previous_ != nullptr ? previous_->next_ : tracker_->first_) = next_;
  (next_ != nullptr ? next_->previous_ : tracker_->last_) = previous_;
  tracker_ = nullptr;
}

void MemoryTracker::for_each(void (*visit)(void* user, const MemoryRow& row), void* user) const {
  const std::lock_guard lock(mutex_);
  for (const MemorySource* source = first_; source != nullptr; source = source->next_) {
    visit(user, source->memory_row());
  }
}

Status MemoryTracker::rows(std::span<MemoryRow> out, size_t& found) const {
  struct Copy {
    std::span<MemoryRow> out;
    size_t found;
  } copy{out, 0};
  for_each(
      [](void* user, const MemoryRow& row) {
        Copy& to = *static_cast<Copy*>(user);
        if (to.found < to.out.size()) to.out[to.found] = row;
        ++to.found;
      },
      &copy);
  found = copy.found;
  if (found <= out.size()) return {};
  return {StatusCode::too_small, "a report has more rows than there is room for; detail = their number", found};
}

// A class of another tracker is in none of this one's rows, so what it accounts for counts here.
bool MemoryTracker::has_class(const char* name) const {
  for (const MemorySource* source = first_; source != nullptr; source = source->next_) {
    const MemoryRow row = source->memory_row();
    if (row.kind != MemoryKind::pool && row.name == name) return true;
  }
  return false;
}

uint64_t MemoryTracker::total_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t total = 0;
  for (const MemorySource* source = first_; source != nullptr; source = source->next_) {
    const MemoryRow row = source->memory_row();
    if (row.within == nullptr || !has_class(row.within)) total += row.bytes;
  }
  return total;
}

TrackedAllocator::TrackedAllocator(const char* name, MemoryTracker& tracker, Allocator& parent)
    : parent_(parent), name_(name) {
  attach(tracker);
}

void* TrackedAllocator::take(size_t bytes, size_t alignment) {
  void* const pointer = parent_.allocate(bytes, alignment);
  if (pointer == nullptr) return nullptr;
  raise(peak_count_, count_.fetch_add(1, std::memory_order_relaxed) + 1);
  raise(peak_bytes_, bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  return pointer;
}

void TrackedAllocator::give_back(void* pointer, size_t bytes, size_t alignment) {
  if (pointer == nullptr) return;
  count_.fetch_sub(1, std::memory_order_relaxed);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  parent_.deallocate(pointer, bytes, alignment);
}

MemoryRow TrackedAllocator::row() const {
  return {.name = name_,
          .within = parent_.memory_class(),
          .kind = MemoryKind::allocations,
          .used = count_.load(std::memory_order_relaxed),
          .peak = peak_count_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .peak_bytes = peak_bytes_.load(std::memory_order_relaxed)};
}

void print_memory_report(const MemoryTracker& tracker, ReportLine line, void* user) {
  struct Printer {
    ReportLine line;
    void* user;
    char text[256] = {};
    void say(int size) {
      const size_t length = size < 0 ? 0 : static_cast<size_t>(size);
      line(user, {text, length < sizeof text ? length : sizeof text - 1});
    }
  } printer{line, user};
  printer.say(std::snprintf(printer.text, sizeof printer.text, "%-36s %8s %10s %10s %10s %13s %13s  %s", "name",
                            "element", "capacity", "used", "peak", "bytes", "peak bytes", "within"));
  tracker.for_each(
      [](void* context, const MemoryRow& row) {
        Printer& to = *static_cast<Printer*>(context);
        const bool is_pool = row.kind == MemoryKind::pool, has_limit = row.kind != MemoryKind::allocations;
        char element[16] = "-", capacity[24] = "-";
        if (is_pool) std::snprintf(element, sizeof element, "%" PRIu32, row.element_bytes);
        if (has_limit) std::snprintf(capacity, sizeof capacity, "%" PRIu64, row.capacity);
        to.say(std::snprintf(to.text, sizeof to.text,
                             "%-36s %8s %10s %10" PRIu64 " %10" PRIu64 " %13" PRIu64 " %13" PRIu64 "  %s", row.name,
                             element, capacity, row.used, row.peak, row.bytes, row.peak_bytes,
                             row.within != nullptr ? row.within : ""));
      },
      &printer);
  printer.say(std::snprintf(printer.text, sizeof printer.text, "total %" PRIu64 " bytes", tracker.total_bytes()));
}

}  // namespace meridian
