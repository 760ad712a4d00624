// SPDX-License-Identifier: MIT
#pragma once
/// Reads on threads of its own: the device that a streaming engine usually has.
///
///   ThreadIo io;
///   Status ready = io.start({.threads = 2});
///   StreamingEngine engine;
///   ready = engine.init({.mounts = &mounts, .io = &io});         // then fly
///   engine.shutdown();
///   io.stop();                            // or its destructor
///
/// Jobs begin in the order of submission. start() and stop() are explicit, so that a plugin may use it and be unloaded.
///
/// Threads: main; it has loader threads of its own between start() and stop(). They block on files, so they are not
///          those of a JobSystem.
/// Memory:  in start().

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "meridian/base/memory.h"
#include "meridian/stream/stream_io.h"

namespace meridian {

struct ThreadIoConfig {
  uint32_t threads = 2;     ///< [1, kMaxThreads] [count]
  uint32_t max_jobs = 256;  ///< that wait; at least StreamingConfig::max_in_flight [count]
};

class ThreadIo final : public StreamIo {
 public:
  static constexpr uint32_t kMaxThreads = 16;

  ThreadIo() = default;
  ~ThreadIo() override { stop(); }
  ThreadIo(const ThreadIo&) = delete;
  ThreadIo& operator=(const ThreadIo&) = delete;

  /// Requires: the system has as many threads to give (it ends the program otherwise).
  /// Errors: in_use (started), bad_value, out_of_memory.
  Status start(const ThreadIoConfig& config = {}, Allocator& allocator = default_allocator());
  /// Jobs that have not begun fail; those that run end first. Then it may be started again.
  void stop();
  bool is_running() const { return thread_count_ > 0; }

  Status submit(StreamJob& job) override { return put(job); }
  void pump(float /*seconds*/) override { note(); }
  void wait() override { wait_for_one(); }

 private:
  Status put(StreamJob& job);
  void note();
  void wait_for_one();
  void work();

  std::mutex mutex_;
  std::condition_variable has_work_, has_done_;
  std::thread threads_[kMaxThreads];
  StreamJob** jobs_ = nullptr;  // a ring
  uint32_t capacity_ = 0, first_ = 0, count_ = 0, running_ = 0, thread_count_ = 0;
  uint64_t finished_ = 0, noted_ = 0;
  bool stops_ = false;
  Allocator* allocator_ = nullptr;
};

}  // namespace meridian
