// SPDX-License-Identifier: MIT
#pragma once
/// A slow device, in the time that updates tell of: how would this world stream from a disk of 50 MB/s that takes 30 ms
/// to answer, and fails now and then?
///
///   SerialIo files;
///   SlowIo disk(files, {.latency = 0.030, .bytes_per_second = 50e6, .failure_rate = 0.01});
///   Status ready = engine.init({.mounts = &mounts, .io = &disk});
///   for (int i = 0; i < 600; ++i) engine.update({.seconds = 1 / 60.0f, .max_chunks = 4});      // simulated seconds
///
/// Reads wait for each other as long as bytes flow, latencies overlap. What is due goes to the device below. Which
/// reads fail follows from the seed and their order, so that a run can be repeated.
///
/// Threads: main. Memory: none.

#include <cstdint>

#include "meridian/base/random.h"
#include "meridian/stream/stream_io.h"

namespace meridian {

struct SlowIoConfig {
  double latency = 0;           ///< from a read's submission to its first byte [s]
  double bytes_per_second = 0;  ///< 0: no limit
  double failure_rate = 0;      ///< share of reads that fail [0, 1]
  uint64_t seed = 1;
};

class SlowIo final : public StreamIo {
 public:
  static constexpr uint32_t kMaxJobs = 1024;

  SlowIo(StreamIo& below, const SlowIoConfig& config) : below_(below), config_(config), random_(config.seed) {}
  ~SlowIo() override = default;
  SlowIo(const SlowIo&) = delete;
  SlowIo& operator=(const SlowIo&) = delete;

  void set_failure_rate(double rate) { config_.failure_rate = rate; }
  double now() const { return now_; }
  uint64_t failed() const { return failed_; }  ///< [count]

  Status submit(StreamJob& job) override {
    if (count_ == kMaxJobs) return {StatusCode::out_of_slots, "too many reads wait; detail = most", kMaxJobs};
    const double begin = now_ > free_at_ ? now_ : free_at_;
    free_at_ = config_.bytes_per_second > 0 ? begin + job.bytes() / config_.bytes_per_second : begin;
    jobs_[(first_ + count_++) % kMaxJobs] = {&job, free_at_ + config_.latency};
    return {};
  }

  void pump(float seconds) override {
    now_ += static_cast<double>(seconds);
    while (count_ > 0 && jobs_[first_].due <= now_) pass_on();
    below_.pump(seconds);
  }

  /// Time jumps to when the next read is due.
  void wait() override {
    if (count_ > 0) {
      if (jobs_[first_].due > now_) now_ = jobs_[first_].due;
      while (count_ > 0 && jobs_[first_].due <= now_) pass_on();
      below_.pump(0);
      return;
    }
    below_.wait();
  }

 private:
  struct Waiting {
    StreamJob* job = nullptr;
    double due = 0;
  };

  void pass_on() {
    StreamJob& job = *jobs_[first_].job;
    first_ = (first_ + 1) % kMaxJobs;
    --count_;
    if (random_.unit() < static_cast<float>(config_.failure_rate)) {
      ++failed_;
      job.fail({StatusCode::io_error, "the simulated device failed"});
      return;
    }
    if (const Status taken = below_.submit(job); !taken.ok()) job.fail(taken);
  }

  StreamIo& below_;
  SlowIoConfig config_;
  Random random_;
  Waiting jobs_[kMaxJobs] = {};  // by due time: a later submission is never due earlier
  uint32_t first_ = 0, count_ = 0;
  double now_ = 0, free_at_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace meridian
