// SPDX-License-Identifier: MIT
#include "meridian/jobs/queued_jobs.h"

#include <new>

namespace meridian {

// A place is in two lists at once: that of its priority, which workers take from, and that of its counter and priority,
// which those take from who wait. So both find their next job without a search.
struct QueuedJobs::Place {
  JobFunction function;
  void* context;
  JobCounter* counter;
  uint32_t next;  ///< first index that was not taken
  uint32_t end;
  uint32_t grain;
  JobPriority priority;
  Links by_priority;
  Links by_counter;
};

struct QueuedJobs::Piece {
  Job job;
  JobCounter* counter = nullptr;
  void run() const { job.function(job.context, job.begin, job.end); }
};

Status QueuedJobs::open(uint32_t capacity, Allocator& allocator) {
  static_assert(sizeof(void*) != 8 || sizeof(Place) == kBytesPerJob);
  MERIDIAN_ASSERT(places_ == nullptr, "a job system is started once");
  if (places_ != nullptr) return {StatusCode::in_use, "the job system was started before"};
  if (capacity == 0 || capacity > kMaxJobs) {
    return {StatusCode::bad_value, "a job queue has 1 to 1048576 places; detail = capacity", capacity};
  }
  const size_t bytes = sizeof(Place) * capacity;
  void* const memory = allocator.allocate(bytes, alignof(Place));
  if (memory == nullptr) return {StatusCode::out_of_memory, "no memory for the job queue; detail = bytes", bytes};
  const std::lock_guard lock(mutex_);
  allocator_ = &allocator;
  places_ = static_cast<Place*>(memory);
  capacity_ = capacity;
  for (uint32_t i = 0; i < capacity; ++i) {
    auto* const place = new (places_ + i) Place{};
    place->by_priority.next = i + 1 < capacity ? i + 1 : kNone;
  }
  free_first_ = 0;
  is_stopped_ = false;
  return {};
}

void QueuedJobs::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  ready_changed_.notify_all();
}

void QueuedJobs::close() {
  stop();
  run_ready();
  const std::lock_guard lock(mutex_);
  MERIDIAN_ASSERT(idle_ == 0, "threads leave work() before a job system closes");
  if (places_ == nullptr) return;
  allocator_->deallocate(places_, sizeof(Place) * capacity_, alignof(Place));
  places_ = nullptr;
  free_first_ = kNone;
}

void QueuedJobs::start_job(const Job& job, JobPriority priority, JobCounter& counter) {
  MERIDIAN_ASSERT(job.function != nullptr, "a job has a function");
  if (job.function != nullptr) start(job, 0, priority, counter);
}

void QueuedJobs::start_range(const Job& range, uint32_t grain, JobPriority priority, JobCounter& counter) {
  MERIDIAN_ASSERT(range.function != nullptr, "a job has a function");
  MERIDIAN_ASSERT(grain > 0, "a range is cut into pieces of 1 or more");
  if (range.end == 0 || range.function == nullptr) return;
  start(range, grain > 0 ? grain : 1, priority, counter);
}

// `grain` 0: one job, whatever its range.
void QueuedJobs::start(const Job& range, uint32_t grain, JobPriority priority, JobCounter& counter) {
  MERIDIAN_ASSERT(priority <= JobPriority::low, "a priority is one of JobPriority");
  if (priority > JobPriority::low) priority = JobPriority::low;
  const uint32_t pieces = grain == 0 ? 1 : (range.end - 1) / grain + 1;
  if (queue(range, grain, pieces, priority, counter)) {
    on_ready(pieces);
    return;
  }
  Place place{range.function, range.context, nullptr, range.begin, range.end, grain, priority, {}, {}};
  for (uint32_t i = 0; i < pieces; ++i) cut(place).run();
}

bool QueuedJobs::queue(const Job& range, uint32_t grain, uint32_t pieces, JobPriority priority, JobCounter& counter) {
  const std::lock_guard lock(mutex_);
  if (free_first_ == kNone || is_stopped_) return false;
  MERIDIAN_ASSERT(counter.is_done() || counter.owner_ == this, "a counter is used with one job system at a time");
  counter.owner_ = this;
  counter.add(pieces);
  const uint32_t index = free_first_;
  Place& place = places_[index];
  free_first_ = place.by_priority.next;
  place = {range.function, range.context, &counter, range.begin, range.end, grain, priority, {}, {}};
  append(ready_[static_cast<uint32_t>(priority)], index, &Place::by_priority);
  append(counter.ready_[static_cast<uint32_t>(priority)], index, &Place::by_counter);
  counter.places_.fetch_add(1, std::memory_order_relaxed);
  // A thread that waits for this counter may be the only one that will ever take the job.
  if (counter.waiters_ > 0) counters_changed_.notify_all();
  for (uint32_t i = 0; i < pieces && i < idle_; ++i) ready_changed_.notify_one();
  return true;
}

void QueuedJobs::help_until_done(JobCounter& counter) {
  if (counter.is_done()) return;
  std::unique_lock lock(mutex_);
  MERIDIAN_ASSERT(counter.is_done() || counter.owner_ == this, "a counter is waited for where its jobs are");
  while (!counter.is_done()) {
    Piece piece;
    if (take_of(counter, piece)) {
      run_unlocked(piece, lock);
      continue;
    }
    ++counter.waiters_;
    counters_changed_.wait(lock);
    --counter.waiters_;
  }
}

// Who has nothing else to do asks over and over: without the lock, which those who work need.
bool QueuedJobs::help_once(JobCounter& counter) {
  if (counter.is_done() || counter.places_.load(std::memory_order_relaxed) == 0) return false;
  std::unique_lock lock(mutex_);
  Piece piece;
  if (!take_of(counter, piece)) return false;
  run_unlocked(piece, lock);
  return true;
}

uint32_t QueuedJobs::run_ready() {
  uint32_t count = 0;
  std::unique_lock lock(mutex_);
  for (Piece piece; take(piece); ++count) run_unlocked(piece, lock);
  return count;
}

void QueuedJobs::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Piece piece;
    if (take(piece)) {
      run_unlocked(piece, lock);
      continue;
    }
    if (is_stopped_) return;
    ++idle_;
    ready_changed_.wait(lock);
    --idle_;
  }
}

// Runs a piece without the lock. Counting it as finished and the search for the next piece share one locking.
void QueuedJobs::run_unlocked(const Piece& piece, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  piece.run();
  lock.lock();
  // Its owner may see the counter done without the lock, and destroy it: nothing of it is read after finish().
  const bool has_waiters = piece.counter->waiters_ > 0;
  if (piece.counter->finish() && has_waiters) counters_changed_.notify_all();
}

bool QueuedJobs::take(Piece& out) {
  for (const List& list : ready_) {
    if (list.first == kNone) continue;
    take_from(list.first, out);
    return true;
  }
  return false;
}

bool QueuedJobs::take_of(const JobCounter& counter, Piece& out) {
  if (counter.owner_ != this) return false;  // indices of another queue
  for (const List& list : counter.ready_) {
    if (list.first == kNone) continue;
    take_from(list.first, out);
    return true;
  }
  return false;
}

// A range stays first in its lists until its last piece is taken, so it is worked off in order.
void QueuedJobs::take_from(uint32_t index, Piece& out) {
  Place& place = places_[index];
  const auto priority = static_cast<uint32_t>(place.priority);
  out = cut(place);
  if (place.next != place.end) return;
  remove(ready_[priority], index, &Place::by_priority);
  remove(place.counter->ready_[priority], index, &Place::by_counter);
  place.counter->places_.fetch_sub(1, std::memory_order_relaxed);
  place.by_priority.next = free_first_;
  free_first_ = index;
}

QueuedJobs::Piece QueuedJobs::cut(Place& place) {
  const uint32_t begin = place.next;
  const bool is_last = place.grain == 0 || place.end - begin <= place.grain;
  place.next = is_last ? place.end : begin + place.grain;
  return {{place.function, place.context, begin, place.next}, place.counter};
}

void QueuedJobs::append(List& list, uint32_t index, Links Place::*links) {
  places_[index].*links = {kNone, list.last};
  (list.last != kNone ? (places_[list.last].*links).next : list.first) = index;
  list.last = index;
}

void QueuedJobs::remove(List& list, uint32_t index, Links Place::*links) {
  const Links at = places_[index].*links;
  (at.previous != kNone ? (places_[at.previous].*links).next : list.first) = at.next;
  (at.next != kNone ? (places_[at.next].*links).previous : list.last) = at.previous;
}

}  // namespace meridian
