// SPDX-License-Identifier: MIT
#pragma once
/// A JobSystem on threads of oneTBB. In a target of its own, meridian::jobs_tbb, so that programs with a scheduler of
/// their own need no oneTBB.
///
///   TbbJobs jobs;
///   if (const Status started = jobs.start({.worker_count = 3}); !started.ok()) return started;
///   parallel_for(jobs, 1000, 100, [&](uint32_t begin, uint32_t end) { move(begin, end); });
///   if (const Status ended = jobs.shutdown(); !ended.ok()) keep_library_loaded();
///
/// oneTBB gives the threads: workers of an arena of ours, each in one long task that takes jobs from our bounded queue
/// and sleeps when there are none. The queue is ours because oneTBB's can't be asked for a job of one counter. So a
/// worker stays with us from start() to shutdown(). To take none away from the host's own use of oneTBB, the process's
/// limit (tbb::global_control::max_allowed_parallelism) is raised by worker_count meanwhile. A limit that somebody else
/// has set and that is smaller wins, and then fewer workers come, perhaps none; whoever waits still gets all done.
///
/// Nothing happens before start(): a TbbJobs may be a static object, and may be started by a static initialiser or when
/// a library is loaded, because start() does not wait for a thread.
///
/// Threads: internal. start and shutdown are main, and on the same thread, outside of jobs and of oneTBB's tasks.
/// Memory:  the queue (56 bytes a place) and a little more come from the allocator. oneTBB takes its own
///          where it likes, in start(). After that neither allocates: no call but start and shutdown enters oneTBB.
/// Source:  own; oneTBB's task_arena, task_group and task_scheduler_handle.

#include "meridian/jobs/queued_jobs.h"

namespace meridian {

struct TbbJobsConfig {
  uint32_t worker_count = 0;       ///< 0: one for each processor but one, at least 1. [0, TbbJobs::kMaxWorkers] [count]
  uint32_t queue_capacity = 4096;  ///< jobs and ranges that are ready at once. [1, QueuedJobs::kMaxJobs] [count]
  Allocator* allocator = nullptr;  ///< null: default_allocator(); lives until shutdown()
};

class TbbJobs final : public QueuedJobs {
 public:
  static constexpr uint32_t kMaxWorkers = 256;

  TbbJobs() = default;
  /// Shuts down if that wasn't done, and can't say whether oneTBB's threads ended. Don't leave a static object to it
  /// where static destructors run under the loader's lock (libraries, Windows): threads can't end there.
  ~TbbJobs() override { static_cast<void>(shutdown()); }
  TbbJobs(const TbbJobs&) = delete;
  TbbJobs& operator=(const TbbJobs&) = delete;

  /// Asks oneTBB for workers, and returns without waiting for them. Jobs may be started at once.
  /// Requires: not started.
  /// Errors:   bad_value (worker_count, queue_capacity), out_of_memory (oneTBB's own needs too).
  Status start(const TbbJobsConfig& config = {});

  /// Runs what nobody waited for, and waits until all workers have left. After that no thread executes code of this
  /// library, and it may be unloaded. May be called again; start() may follow.
  /// Requires: no other thread uses this object.
  /// Errors:   in_use: others in this process use oneTBB, so its threads go on. They don't run our code, but then
  ///           libtbb itself must stay loaded, as it does if those others link it.
  Status shutdown();

  uint32_t worker_count() const override { return worker_count_; }

 private:
  struct Scheduler;
  Scheduler* scheduler_ = nullptr;
  Allocator* scheduler_allocator_ = nullptr;
  uint32_t worker_count_ = 0;
};

}  // namespace meridian
