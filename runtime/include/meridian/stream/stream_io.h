// SPDX-License-Identifier: MIT
#pragma once
/// Where and when resources are read: the hook between the streaming engine and a host's threads and files.
///
///   struct OnMyThreads final : StreamIo {
///     ThreadPool* pool = nullptr;                     // a host's own
///     Status submit(StreamJob& job) override {
///       pool->post([&job] { job.run(); });            // on any thread; afterwards the job is not ours any more
///       return {};
///     }
///     void wait() override { std::this_thread::yield(); }
///   };
///
/// SerialIo (below) reads in the owner's thread, ThreadIo (stream/thread_io.h) on threads of its own, SlowIo
/// (stream/slow_io.h) as a slow device would. Where bytes come from is up to the mounts: a host with a file system of
/// its own mounts a SourceProvider.
///
/// Threads: submit, pump, wait, drain: main. StreamJob::run and fail: any thread.

#include <atomic>
#include <cstdint>
#include <span>

#include "meridian/base/status.h"
#include "meridian/resource/mount.h"
#include "meridian/stream/stream_module.h"

namespace meridian {

class StreamingEngine;

/// One resource to read: find, read or map, decompress, check, open.
class StreamJob {
 public:
  StreamJob() = default;
  ~StreamJob() = default;
  StreamJob(const StreamJob&) = delete;
  StreamJob& operator=(const StreamJob&) = delete;

  StreamIndex index() const { return index_; }
  /// To be read, as far as it is known. [bytes]
  uint32_t bytes() const { return bytes_; }
  /// Nobody wants it any more; run() is then over at once.
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  /// Does all of it on the calling thread. Locks nothing and allocates nothing, but for what a SourceProvider does.
  /// Afterwards the job must not be touched. Requires: once, for a submitted job.
  void run();
  /// Instead of run(): it could not be read.
  void fail(const Status& why);

 private:
  friend class StreamingEngine;
  void finish();
  Status read();

  StreamingEngine* engine_ = nullptr;
  StreamModule* module_ = nullptr;
  const ResourceMounts* mounts_ = nullptr;
  ResourceLocation location_;
  PinnedResource pin_;
  std::span<std::byte> buffer_;  ///< where bytes go unless they are used in place
  StreamPayload payload_;
  Status status_;
  StreamIndex index_ = kNoStream;
  uint32_t bytes_ = 0;
  bool is_from_source_ = false;  ///< the buffer is the source's, from default_allocator()
  bool was_cancelled_ = false;   ///< seen by run()
  bool needs_more_ = false;      ///< the buffer is too small for what was found: bytes_ says how much
  std::atomic<bool> cancelled_{false};
  StreamJob* next_ = nullptr;  ///< of those that are done
};

class StreamIo {
 public:
  StreamIo() = default;
  virtual ~StreamIo() = default;
  StreamIo(const StreamIo&) = delete;
  StreamIo& operator=(const StreamIo&) = delete;

  /// Has job.run() called, soon, on whatever thread, in any order. Errors: none were taken, such as after a shutdown;
  /// the slot fails.
  virtual Status submit(StreamJob& job) = 0;
  /// Once in each update: time went on. [s]
  virtual void pump(float /*seconds*/) {}
  /// Returns when a submitted job has finished that had not when pump() was called last, or none is left. May return
  /// early.
  virtual void wait() = 0;
};

/// Reads in the thread that waits for it: in pump(), which lets the owner wait for files, and in wait(). For tools,
/// tests and replays.
class SerialIo final : public StreamIo {
 public:
  static constexpr uint32_t kMaxJobs = 1024;

  SerialIo() = default;
  ~SerialIo() override = default;
  SerialIo(const SerialIo&) = delete;
  SerialIo& operator=(const SerialIo&) = delete;

  Status submit(StreamJob& job) override {
    if (count_ == kMaxJobs) return {StatusCode::out_of_slots, "too many reads wait; detail = most", kMaxJobs};
    jobs_[(first_ + count_++) % kMaxJobs] = &job;
    return {};
  }
  void pump(float /*seconds*/) override {
    while (run_one()) {
    }
  }
  void wait() override { (void)run_one(); }

 private:
  bool run_one() {
    if (count_ == 0) return false;
    StreamJob* const job = jobs_[first_];
    first_ = (first_ + 1) % kMaxJobs;
    --count_;
    job->run();
    return true;
  }

  StreamJob* jobs_[kMaxJobs] = {};
  uint32_t first_ = 0, count_ = 0;
};

}  // namespace meridian
