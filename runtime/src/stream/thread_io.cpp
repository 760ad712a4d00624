// SPDX-License-Identifier: MIT
#include "meridian/stream/thread_io.h"

#include "meridian/base/assert.h"

namespace meridian {

Status ThreadIo::start(const ThreadIoConfig& config, Allocator& allocator) {
  if (is_running()) return {StatusCode::in_use, "loader threads run already"};
  if (config.threads == 0 || config.threads > kMaxThreads || config.max_jobs == 0) {
    return {StatusCode::bad_value, "loader threads: 1 to 16, and jobs; detail = threads", config.threads};
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
  jobs_ = static_cast<StreamJob**>(allocator.allocate(config.max_jobs * sizeof(StreamJob*), alignof(StreamJob*)));
  if (jobs_ == nullptr) return {StatusCode::out_of_memory, "no memory for the queue of reads"};
  allocator_ = &allocator;
  capacity_ = config.max_jobs;
  first_ = count_ = running_ = 0;
  stops_ = false;
  for (uint32_t i = 0; i < config.threads; ++i) {
    threads_[i] = std::thread([this] { work(); });
    ++thread_count_;
  }
  return {};
}

void ThreadIo::stop() {
  if (!is_running()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  has_work_.notify_all();
  for (uint32_t i = 0; i < thread_count_; ++i) threads_[i].join();
  thread_count_ = 0;
  for (; count_ > 0; --count_, first_ = (first_ + 1) % capacity_) {
    jobs_[first_]->fail({StatusCode::io_error, "loader threads were stopped"});
    ++finished_;
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
  allocator_->deallocate(jobs_, capacity_ * sizeof(StreamJob*), alignof(StreamJob*));
  jobs_ = nullptr;
}

Status ThreadIo::put(StreamJob& job) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_running() || stops_) return {StatusCode::io_error, "loader threads do not run"};
    if (count_ == capacity_) return {StatusCode::out_of_slots, "too many reads wait; detail = most", capacity_};
    jobs_[(first_ + count_++) % capacity_] = &job;
  }
  has_work_.notify_one();
  return {};
}

void ThreadIo::note() {
  const std::lock_guard lock(mutex_);
  noted_ = finished_;
}

void ThreadIo::wait_for_one() {
  std::unique_lock lock(mutex_);
  has_done_.wait(lock, [this] { return finished_ != noted_ || (count_ == 0 && running_ == 0); });
  noted_ = finished_;
}

void ThreadIo::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [this] { return stops_ || count_ > 0; });
    if (stops_) return;
    StreamJob* const job = jobs_[first_];
    first_ = (first_ + 1) % capacity_;
    --count_;
    ++running_;
    lock.unlock();
    job->run();
    lock.lock();
    --running_;
    ++finished_;
    has_done_.notify_one();
  }
}

}  // namespace meridian
