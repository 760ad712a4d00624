// SPDX-License-Identifier: MIT
#pragma once
/// A JobSystem without threads: for tests, for tools that are parallel already, and for hosts that run all of Meridian
/// on one thread. A program that works with it works with 0 workers.
///
///   SerialJobs jobs;
///   if (const Status started = jobs.start({.queue_capacity = 64}); !started.ok()) return started;
///   parallel_for(jobs, 1000, 100, [&](uint32_t begin, uint32_t end) {
///     for (uint32_t i = begin; i < end; ++i) brightness[i] = 1.f / (1.f + distances[i]);
///   });
///   jobs.shutdown();
///
/// Order: nothing runs when it is started. wait() and try_run_one() run the jobs of their counter, high before normal
/// before low, first come first served within a priority, ranges by rising index. run_ready() runs those of all
/// counters by the same rule. So the order depends on nothing but the calls. Two exceptions, both from QueuedJobs:
/// if the queue is full, or start() was not called, a job runs at once.
///
/// Threads: internal, though one thread is the point. start and shutdown are main.
/// Memory:  56 bytes for each place in the queue, from start() to shutdown().

#include "meridian/jobs/queued_jobs.h"

namespace meridian {

struct SerialJobsConfig {
  uint32_t queue_capacity = 256;   ///< [1, QueuedJobs::kMaxJobs] [count]
  Allocator* allocator = nullptr;  ///< null: default_allocator(); lives until shutdown()
};

class SerialJobs final : public QueuedJobs {
 public:
  SerialJobs() = default;
  ~SerialJobs() override { shutdown(); }
  SerialJobs(const SerialJobs&) = delete;
  SerialJobs& operator=(const SerialJobs&) = delete;

  /// Requires: not started. Errors: bad_value (capacity), out_of_memory.
  Status start(const SerialJobsConfig& config = {}) {
    return open(config.queue_capacity, config.allocator != nullptr ? *config.allocator : default_allocator());
  }
  /// Runs what nobody waited for, and gives the memory back. May be called again; start() may follow.
  void shutdown() { close(); }

  uint32_t worker_count() const override { return 0; }
};

}  // namespace meridian
