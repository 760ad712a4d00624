// SPDX-License-Identifier: MIT
#pragma once
/// Job systems to test, all behind one interface, and small things that tests of them share.

#include <atomic>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "meridian/jobs/queued_jobs.h"
#include "meridian/jobs/serial_jobs.h"
#if MERIDIAN_HAS_JOBS_TBB
#include "meridian/jobs/tbb_jobs.h"
#endif

namespace meridian::test {

/// Counts what it gives, and gives nothing after so many allocations.
class LimitedAllocator final : public Allocator {
 public:
  explicit LimitedAllocator(int left) : left_(left) {}
  void* allocate(size_t bytes, size_t alignment) override {
    if (left_-- <= 0) return nullptr;
    ++live_;
    live_bytes_ += bytes;
    return default_allocator().allocate(bytes, alignment);
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    if (pointer == nullptr) return;
    --live_;
    live_bytes_ -= bytes;
    default_allocator().deallocate(pointer, bytes, alignment);
  }
  int left_;
  int live_ = 0;
  size_t live_bytes_ = 0;
};

/// A started job system that shuts down with its owner.
class JobKit {
 public:
  virtual ~JobKit() = default;
  virtual JobSystem& jobs() = 0;
};

class SerialKit final : public JobKit {
 public:
  explicit SerialKit(uint32_t capacity) { is_good_ = jobs_.start({.queue_capacity = capacity}).ok(); }
  JobSystem& jobs() override { return jobs_; }
  bool is_good_ = false;
  SerialJobs jobs_;
};

/// Plain threads that sleep in work().
class ThreadJobs final : public QueuedJobs {
 public:
  ThreadJobs(uint32_t workers, uint32_t capacity) {
    if (!open(capacity, default_allocator()).ok()) return;
    for (uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadJobs() override {
    stop();
    for (std::thread& thread : threads_) thread.join();
    close();
  }
  uint32_t worker_count() const override { return static_cast<uint32_t>(threads_.size()); }

 private:
  std::vector<std::thread> threads_;
};

class ThreadKit final : public JobKit {
 public:
  ThreadKit(uint32_t workers, uint32_t capacity) : jobs_(workers, capacity) {}
  JobSystem& jobs() override { return jobs_; }
  ThreadJobs jobs_;
};

#if MERIDIAN_HAS_JOBS_TBB
class TbbKit final : public JobKit {
 public:
  TbbKit(uint32_t workers, uint32_t capacity) {
    is_good_ = jobs_.start({.worker_count = workers, .queue_capacity = capacity}).ok();
  }
  ~TbbKit() override {
    if (!jobs_.shutdown().ok()) std::abort();
  }
  JobSystem& jobs() override { return jobs_; }
  bool is_good_ = false;
  TbbJobs jobs_;
};
#endif

/// Keeps all workers of a system busy until it is released. There is one blocking job for each worker, of high
/// priority, so a worker that comes late finds one too: other jobs are taken by none but the test's own thread, as long
/// as they are of a counter of their own.
class Blockade {
 public:
  explicit Blockade(JobSystem& jobs) : jobs_(jobs) {
    for (uint32_t i = 0; i < jobs.worker_count(); ++i) {
      jobs.run({[](void* context, uint32_t, uint32_t) {
                  const Blockade& self = *static_cast<Blockade*>(context);
                  while (!self.is_released_.load()) std::this_thread::yield();
                },
                this},
               JobPriority::high, counter_);
    }
  }
  ~Blockade() { release(); }
  void release() {
    is_released_.store(true);
    jobs_.wait(counter_);
  }

 private:
  JobSystem& jobs_;
  JobCounter counter_;
  std::atomic<bool> is_released_{false};
};

/// Runs a lambda as one job. It must live until the job is done.
template <class Body>
void run(JobSystem& jobs, Body& body, JobPriority priority, JobCounter& counter) {
  jobs.run({[](void* context, uint32_t, uint32_t) { (*static_cast<Body*>(context))(); }, &body}, priority, counter);
}

/// Returns once each worker ran a job: all have come, and have allocated what a thread allocates first. Fails to return
/// if one never comes.
inline void meet_all_workers(JobSystem& jobs) {
  std::atomic<uint32_t> arrived{0};
  JobCounter counter;
  const uint32_t expected = jobs.worker_count();
  auto body = [&] {
    ++arrived;
    while (arrived.load() < expected) std::this_thread::yield();
  };
  for (uint32_t i = 0; i < expected; ++i) run(jobs, body, JobPriority::high, counter);
  while (!counter.is_done()) std::this_thread::yield();
}

}  // namespace meridian::test
