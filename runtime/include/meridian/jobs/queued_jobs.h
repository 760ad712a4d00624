// SPDX-License-Identifier: MIT
#pragma once
/// A JobSystem without its threads: a bounded queue by priority and by counter, waiting and helping. For those who
/// bring the threads. There are two ways to connect them.
///
/// A pool that runs tasks is told how many jobs became ready, and calls run_ready() from as many tasks:
///
///   class HostJobs final : public QueuedJobs {
///    public:
///     explicit HostJobs(ThreadPool& pool) : pool_(pool) {}
///     ~HostJobs() override { close(); }
///     uint32_t worker_count() const override { return pool_.thread_count(); }
///
///    private:
///     void on_ready(uint32_t count) override {
///       for (uint32_t i = 0; i < count && i < pool_.thread_count(); ++i) pool_.post([this] { run_ready(); });
///     }
///     ThreadPool& pool_;
///   };
///
/// Threads that have nothing else to do call work(), which sleeps while nothing is ready and returns after stop().
///
/// Life: open() -> use -> stop() -> the pool finishes its tasks, the threads leave work() -> close(). Before open() and
/// after stop() jobs are run at once, by who starts them.
///
/// Threads: internal (one mutex, taken twice a job, never while a job runs); open, stop and close are main.
/// Memory:  kBytesPerJob for each place in the queue, allocated by open(), given back by close(). Nothing else.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/jobs/job_system.h"

namespace meridian {

class QueuedJobs : public JobSystem {
 public:
  static constexpr size_t kBytesPerJob = 56;      ///< on 64-bit machines
  static constexpr uint32_t kMaxJobs = 1u << 20;  ///< places, which may be ranges of any length

  /// Requires: close() was called, or open() never.
  ~QueuedJobs() override { MERIDIAN_ASSERT(places_ == nullptr, "a job system is shut down before it dies"); }
  QueuedJobs(const QueuedJobs&) = delete;
  QueuedJobs& operator=(const QueuedJobs&) = delete;

  // JobSystem. A call that finds the queue full, or not open, runs its job or whole range before it returns.
  void run(const Job& job, JobPriority priority, JobCounter& counter) final { start_job(job, priority, counter); }
  void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority priority,
                    JobCounter& counter) final {
    start_range({function, context, 0, count}, grain, priority, counter);
  }
  void wait(JobCounter& counter) final { help_until_done(counter); }
  bool try_run_one(JobCounter& counter) final { return help_once(counter); }

  /// Runs ready jobs of any counter on the calling thread, by priority, until none is ready. Returns how many.
  uint32_t run_ready();

 protected:
  QueuedJobs() = default;

  /// Gets the memory for `capacity` places; a job takes one, and so does a range of any length.
  /// Requires: not open. Errors: bad_value (capacity 0 or above kMaxJobs), out_of_memory.
  Status open(uint32_t capacity, Allocator& allocator);
  /// From now on nothing new is queued, and work() returns once nothing is ready. May be called again.
  void stop();
  /// Stops, runs what is still ready on the calling thread, and gives the memory back. May be called again.
  /// Requires: no thread is in another function of this object.
  void close();

  /// Runs jobs as they become ready, until stop(). For a thread of its own.
  void work();

  /// Called when `count` more jobs are ready than before, on the thread that started them, without a lock held. The
  /// threads in work() are already awake.
  virtual void on_ready([[maybe_unused]] uint32_t count) {}

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using List = JobCounter::List;
  struct Links {
    uint32_t next;
    uint32_t previous;
  };
  struct Place;  ///< of the queue
  struct Piece;  ///< what was taken out of it
  // The virtual functions are all inline and call these. So each program has the class's type information of its own
  // making: the library is built without, and hosts may derive from it with or without RTTI.
  void start_job(const Job& job, JobPriority priority, JobCounter& counter);
  void start_range(const Job& range, uint32_t grain, JobPriority priority, JobCounter& counter);
  void help_until_done(JobCounter& counter);
  bool help_once(JobCounter& counter);
  void start(const Job& range, uint32_t grain, JobPriority priority, JobCounter& counter);
  bool queue(const Job& range, uint32_t grain, uint32_t pieces, JobPriority priority, JobCounter& counter);
  void run_unlocked(const Piece& piece, std::unique_lock<std::mutex>& lock);
  bool take(Piece& out);
  bool take_of(const JobCounter& counter, Piece& out);
  void take_from(uint32_t index, Piece& out);
  static Piece cut(Place& place);
  void append(List& list, uint32_t index, Links Place::*links);
  void remove(List& list, uint32_t index, Links Place::*links);

  std::mutex mutex_;
  std::condition_variable ready_changed_;  ///< for work()
  std::condition_variable counters_changed_;
  Allocator* allocator_ = nullptr;
  Place* places_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t free_first_ = kNone;  ///< linked by by_priority.next
  List ready_[kJobPriorityCount];
  uint32_t idle_ = 0;  ///< threads asleep in work()
  bool is_stopped_ = true;
};

}  // namespace meridian
