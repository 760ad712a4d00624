// SPDX-License-Identifier: MIT
#pragma once
/// Jobs on a number of threads beside the caller's.

#include <thread>
#include <vector>

#include "city.h"
#include "meridian/jobs/queued_jobs.h"

namespace meridian::bench {

class WorkerJobs final : public QueuedJobs {
 public:
  explicit WorkerJobs(uint32_t workers) {
    require(open(1024, default_allocator()).ok(), "no jobs");
    for (uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~WorkerJobs() override {
    stop();
    for (std::thread& thread : threads_) thread.join();
    close();
  }
  WorkerJobs(const WorkerJobs&) = delete;
  WorkerJobs& operator=(const WorkerJobs&) = delete;

  uint32_t worker_count() const override { return static_cast<uint32_t>(threads_.size()); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace meridian::bench
