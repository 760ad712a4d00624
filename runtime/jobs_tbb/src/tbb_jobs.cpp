// SPDX-License-Identifier: MIT
#include "meridian/jobs/tbb_jobs.h"

#include <atomic>
#include <new>
#include <optional>
#include <thread>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

namespace meridian {
namespace {

/// Counts the threads inside an arena. A task has ended for oneTBB a few instructions before its thread leaves the
/// task's code, which is ours; a thread that has left the arena is out of it for certain.
class ThreadsInside final : public tbb::task_scheduler_observer {
 public:
  explicit ThreadsInside(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  ~ThreadsInside() override { observe(false); }
  ThreadsInside(const ThreadsInside&) = delete;
  ThreadsInside& operator=(const ThreadsInside&) = delete;
  void on_scheduler_entry(bool) override { count_.fetch_add(1, std::memory_order_relaxed); }
  void on_scheduler_exit(bool) override { count_.fetch_sub(1, std::memory_order_release); }

  /// Waits until all have left. One that comes later finds no task of ours; observe(false) waits for those that are in
  /// the two functions above.
  void end() {
    while (count_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
    observe(false);
  }

 private:
  std::atomic<int> count_{0};
};

}  // namespace

// The calling thread has a slot of its own in the arena, so that it can always enter.
struct TbbJobs::Scheduler {
  explicit Scheduler(uint32_t workers)
      : limit(std::in_place, tbb::global_control::max_allowed_parallelism,
              static_cast<size_t>(tbb::info::default_concurrency()) + workers),
        arena(static_cast<int>(workers) + 1, 1) {
    arena.initialize();
    inside.emplace(arena);
  }

  // Spawned from a thread in the arena, the tasks lie where both workers and a later shutdown() find them. An enqueued
  // task would be out of reach of the latter, which would have to wait for a worker that may be busy elsewhere.
  void spawn(TbbJobs& jobs, uint32_t workers) {
    arena.execute([&] {
      for (uint32_t i = 0; i < workers; ++i) group.run([&jobs] { jobs.work(); });
    });
  }

  /// Requires: the jobs were stopped. Ends the program if oneTBB has no memory to enter its arena: there is no way
  /// back. False if oneTBB's threads go on for others.
  bool end() noexcept {
    arena.execute([this] { group.wait(); });  // runs those tasks that no worker came for
    inside->end();
    inside.reset();
    arena.terminate();
    limit.reset();
    return tbb::finalize(handle, std::nothrow);
  }

  tbb::task_scheduler_handle handle{tbb::attach{}};
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
  std::optional<ThreadsInside> inside;
  tbb::task_group group;
  std::thread::id thread = std::this_thread::get_id();
};

Status TbbJobs::start(const TbbJobsConfig& config) {
  MERIDIAN_ASSERT(scheduler_ == nullptr, "a job system is started once");
  if (scheduler_ != nullptr) return {StatusCode::in_use, "the job system was started before"};
  if (config.worker_count > kMaxWorkers) {
    return {StatusCode::bad_value, "a job system has at most 256 workers; detail = worker_count", config.worker_count};
  }
  Allocator& allocator = config.allocator != nullptr ? *config.allocator : default_allocator();
  if (const Status opened = open(config.queue_capacity, allocator); !opened.ok()) return opened;
  void* const memory = allocator.allocate(sizeof(Scheduler), alignof(Scheduler));
  if (memory == nullptr) {
    close();
    return {StatusCode::out_of_memory, "no memory for the job system; detail = bytes", sizeof(Scheduler)};
  }
  // oneTBB throws if it gets no memory or no thread.
  Scheduler* scheduler = nullptr;
  try {
    const auto processors = static_cast<uint32_t>(tbb::info::default_concurrency());
    // No std::min: a reference to kMaxWorkers would make it a symbol of the kind that keeps a library from unloading.
    const uint32_t spare = processors > 1 ? processors - 1 : 1;
    const uint32_t automatic = spare < kMaxWorkers ? spare : kMaxWorkers;
    worker_count_ = config.worker_count != 0 ? config.worker_count : automatic;
    scheduler = new (memory) Scheduler(worker_count_);
    scheduler->spawn(*this, worker_count_);
  } catch (...) {
    stop();
    if (scheduler != nullptr) {
      scheduler->end();  // some workers may have come
      scheduler->~Scheduler();
    }
    close();
    allocator.deallocate(memory, sizeof(Scheduler), alignof(Scheduler));
    worker_count_ = 0;
    return {StatusCode::out_of_memory, "oneTBB got no memory or no thread"};
  }
  scheduler_ = scheduler;
  scheduler_allocator_ = &allocator;
  return {};
}

Status TbbJobs::shutdown() {
  if (scheduler_ == nullptr) return {};
  MERIDIAN_ASSERT(scheduler_->thread == std::this_thread::get_id(), "start() and shutdown() are of one thread");
  stop();
  run_ready();
  const bool is_over = scheduler_->end();
  scheduler_->~Scheduler();
  scheduler_allocator_->deallocate(scheduler_, sizeof(Scheduler), alignof(Scheduler));
  scheduler_ = nullptr;
  worker_count_ = 0;
  close();
  if (is_over) return {};
  return {StatusCode::in_use, "others in this process use oneTBB; its threads go on, and libtbb must stay loaded"};
}

}  // namespace meridian
