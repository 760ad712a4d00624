// SPDX-License-Identifier: MIT
#pragma once
/// How the runtime spreads work over threads: an interface that the host implements or picks an implementation of. The
/// runtime itself starts no thread, but for those that block on files if the host starts them (stream/thread_io.h).
///
///   struct Lamps {
///     const float* distance;
///     float* brightness;
///   } lamps{distances.data(), brightness.data()};
///   JobCounter counter;
///   jobs.parallel_for(
///       1000, 256,
///       [](void* context, uint32_t begin, uint32_t end) {
///         const Lamps& to = *static_cast<const Lamps*>(context);
///         for (uint32_t i = begin; i < end; ++i) to.brightness[i] = 1.f / (1.f + to.distance[i]);
///       },
///       &lamps, JobPriority::high, counter);
///   // what stands here runs beside the jobs
///   jobs.wait(counter);                                 // helps, and then sees all that the jobs wrote
///
/// Implementations: jobs/serial_jobs.h (no threads), jobs/tbb_jobs.h (oneTBB, a target of its own), and yours; for
/// that, jobs/queued_jobs.h has all but the threads. samples/host_jobs puts Meridian's work on a host's own pool.
///
/// What jobs share, and what they may see, holds for every implementation:
/// - What a thread wrote before run() or parallel_for() is seen by the jobs of that call. What a job wrote is seen by
///   whoever saw its counter done: wait() returned, or is_done() said so. Nothing else is promised: two jobs
///   of one counter don't see each other's writes without atomics of their own.
/// - A range is cut into the same pieces whatever the number of workers, so what is computed for each piece is the
///   same too. Which thread runs a piece, and when, is open; a result that depends on it is the job's fault.
/// - A job may start jobs, and wait for them. It must not wait for a counter that it is part of.
/// - A job may run on the thread that starts it, inside run() or parallel_for(): an implementation does this when its
///   queue is full. So start jobs without holding a lock that they take.
/// - A job returns; exceptions must not leave it.
///
/// Threads: internal, for all functions of a JobSystem. A JobCounter belongs to who waits for it; see there.
/// Source:  own; the priorities and helping by counter serve the visibility scan.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "meridian/base/assert.h"

namespace meridian {

/// What ready jobs are taken by first; within a priority it's first come, first served, and low ones may starve.
/// A running job is never interrupted.
enum class JobPriority : uint8_t {
  high,    ///< somebody waits for it in this frame
  normal,  ///< should be done in this frame
  low,     ///< may take several frames, such as work for loading
};
inline constexpr uint32_t kJobPriorityCount = 3;

/// The code of a job. Works on indices [begin, end); `context` is the caller's and lives until the job is done.
using JobFunction = void (*)(void* context, uint32_t begin, uint32_t end);

/// One piece of work: a function, what it works on, and an index or range that the caller may use as it likes.
struct Job {
  JobFunction function = nullptr;  ///< not null
  void* context = nullptr;
  uint32_t begin = 0;
  uint32_t end = 1;
};

/// Counts the jobs that were started with it and aren't finished. Costs nothing to make; one for each group of jobs
/// that is waited for together. May be used again once it is done, with another JobSystem too.
/// Threads: is_done and pending from any. It must live until is_done() was seen by its owner and each wait() for it has
///          returned; jobs must not touch it otherwise.
/// Limits:  2^32 - 1 pending jobs; each piece of a range is one.
class JobCounter {
 public:
  JobCounter() = default;
  ~JobCounter() { MERIDIAN_ASSERT(is_done(), "a job counter outlives its jobs"); }
  JobCounter(const JobCounter&) = delete;
  JobCounter& operator=(const JobCounter&) = delete;

  /// True if nothing is pending; then all that its jobs wrote is visible.
  bool is_done() const { return pending() == 0; }
  /// Jobs that are ready or run. Grows and shrinks at any time.
  uint32_t pending() const { return pending_.load(std::memory_order_acquire); }

  // For implementations of JobSystem only.

  /// Counts jobs, before any of them can run.
  void add(uint32_t count) { pending_.fetch_add(count, std::memory_order_relaxed); }
  /// Counts a job as finished, and makes its writes visible to who sees the counter done. The counter may be gone right
  /// after. True if it was the last.
  bool finish() { return pending_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  friend class QueuedJobs;
  struct List {
    uint32_t first = UINT32_MAX;
    uint32_t last = UINT32_MAX;
  };
  std::atomic<uint32_t> pending_{0};
  // These belong to QueuedJobs and are guarded by its lock; but whether there are places is looked at before it is taken.
  std::atomic<uint32_t> places_{0};  // of the queue, that hold jobs which are ready
  uint32_t waiters_ = 0;
  List ready_[kJobPriorityCount];
  const void* owner_ = nullptr;
};

/// Runs jobs. See the top of this file for what holds for all implementations.
class JobSystem {
 public:
  JobSystem() = default;
  virtual ~JobSystem() = default;
  JobSystem(const JobSystem&) = delete;
  JobSystem& operator=(const JobSystem&) = delete;

  /// Makes `job` ready and counts it. Some thread runs it: a worker, or who waits for or helps `counter`. Without
  /// workers it is run only by these two.
  /// Requires: job.function is not null; `counter` is used with one JobSystem at a time.
  /// Memory:   none.
  virtual void run(const Job& job, JobPriority priority, JobCounter& counter) = 0;

  /// Makes [0, count) ready in pieces of `grain` indices: [0, grain), [grain, 2 * grain) and so on, the last one being
  /// shorter. Each piece counts as a job. Takes one place in the queue however many pieces there are. Returns at once;
  /// the free function parallel_for() below waits.
  /// Requires: function is not null; grain > 0. A count of 0 does nothing.
  /// Memory:   none.
  virtual void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority priority,
                            JobCounter& counter) = 0;

  /// Returns when `counter` is done. Until then the calling thread runs ready jobs of that counter, and sleeps if there
  /// are none. It doesn't run other jobs: so it returns soon after the last of its own, and waits that follow no circle
  /// can't block each other, with any number of workers and with none.
  virtual void wait(JobCounter& counter) = 0;

  /// Runs one ready job of `counter` on the calling thread, the one of the highest priority. False if none was ready:
  /// then all that are pending run on other threads. For a thread that has something else to look at between jobs.
  virtual bool try_run_one(JobCounter& counter) = 0;

  /// Threads that run jobs beside those that wait; 0 if there are none. To choose a grain by: pieces a worker. The
  /// number may promise more than the machine has. [count]
  virtual uint32_t worker_count() const = 0;
};

/// Calls `body(begin, end)` for the pieces of [0, count), on the calling thread and on workers, and returns when all
/// are done. `body` is used where it is, by several threads at a time.
///
///   parallel_for(jobs, node_count, 64, [&](uint32_t begin, uint32_t end) { cull(nodes, begin, end); });
///
/// Requires: grain > 0.
template <class Body>
void parallel_for(JobSystem& jobs, uint32_t count, uint32_t grain, Body&& body,
                  JobPriority priority = JobPriority::normal) {
  struct Reference {
    std::remove_reference_t<Body>& body;
  } reference{body};
  JobCounter counter;
  jobs.parallel_for(
      count, grain,
      [](void* context, uint32_t begin, uint32_t end) { static_cast<Reference*>(context)->body(begin, end); },
      &reference, priority, counter);
  jobs.wait(counter);
}

}  // namespace meridian
