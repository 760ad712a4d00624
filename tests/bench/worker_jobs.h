// SPDX-License-Identifier: MIT
#pragma once
/// Jobs on a number of threads beside the caller's, which look for work for a while before they sleep, as those of games
/// and of oneTBB do: waking a thread takes longer than a job.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "city.h"
#include "meridian/jobs/queued_jobs.h"

namespace meridian::bench {

class WorkerJobs final : public QueuedJobs {
 public:
  explicit WorkerJobs(uint32_t workers) {
    require(open(1024, default_allocator()).ok(), "no jobs");
    for (uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this] { help(); });
  }
  ~WorkerJobs() override {
    is_stopping_ = true;
    on_ready(0);
    for (std::thread& thread : threads_) thread.join();
    close();
  }
  WorkerJobs(const WorkerJobs&) = delete;
  WorkerJobs& operator=(const WorkerJobs&) = delete;

  uint32_t worker_count() const override { return static_cast<uint32_t>(threads_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kPatience{100};

  void on_ready(uint32_t) override {
    ready_.fetch_add(1, std::memory_order_release);
    ready_.notify_all();
  }

  void help() {
    uint32_t seen = 0;
    Clock::time_point last = Clock::now();
    while (!is_stopping_) {
      const uint32_t now = ready_.load(std::memory_order_acquire);
      if (now != seen) {
        seen = now;
        run_ready();
        last = Clock::now();
      } else if (Clock::now() - last > kPatience) {
        ready_.wait(seen, std::memory_order_acquire);
      }
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<uint32_t> ready_{0};  // grows with each change
  std::atomic<bool> is_stopping_{false};
};

}  // namespace meridian::bench
