// SPDX-License-Identifier: MIT
// job_system_test.cpp has what holds for all job systems; here stand start, shutdown and the workers' own order.
#include "meridian/jobs/tbb_jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

int64_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// The kernel lists a thread for a moment after it was joined, so a number may be right a little late.
bool has_threads(int64_t count) {
  for (int i = 0; i < 2000 && thread_count() != count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return thread_count() == count;
}

TEST(TbbJobs, P082_NoThreadIsLeftAfterShutdown) {
  std::thread([] {}).join();  // a sanitizer may start one of its own with the first
  const int64_t before = thread_count();
  for (int round = 0; round < 20; ++round) {
    TbbJobs jobs;
    ASSERT_TRUE(jobs.start({.worker_count = 4}).ok());
    if (round % 2 == 0) {
      test::meet_all_workers(jobs);
      EXPECT_TRUE(has_threads(before + 4));
    }
    ASSERT_TRUE(jobs.shutdown().ok());
    EXPECT_TRUE(has_threads(before));
  }
}

TEST(TbbJobs, P082_ShutdownRunsWhatNobodyWaitedFor) {
  for (int round = 0; round < 50; ++round) {
    JobCounter counter;
    std::atomic<uint32_t> ran{0};
    auto body = [&] { ++ran; };
    TbbJobs jobs;
    ASSERT_TRUE(jobs.start({.worker_count = 3}).ok());
    for (int i = 0; i < 20; ++i) test::run(jobs, body, JobPriority::low, counter);
    ASSERT_TRUE(jobs.shutdown().ok());
    EXPECT_EQ(ran, 20u);
    EXPECT_TRUE(counter.is_done());
  }
}

// Threads of the host never enter oneTBB through us, so those that are still there hold up nothing.
TEST(TbbJobs, P082_ShutdownNeedsNoEndOfTheThreadsThatUsedIt) {
  TbbJobs jobs;
  ASSERT_TRUE(jobs.start({.worker_count = 2}).ok());
  std::atomic<bool> has_used{false}, may_end{false};
  std::thread host([&] {
    std::atomic<uint32_t> sum{0};
    parallel_for(jobs, 100, 1, [&](uint32_t begin, uint32_t end) { sum += end - begin; });
    has_used = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!has_used) std::this_thread::yield();
  EXPECT_TRUE(jobs.shutdown().ok());
  may_end = true;
  host.join();
}

TEST(TbbJobs, ShutdownSaysWhenOthersKeepOneTbbBusy) {
  TbbJobs first, second;
  ASSERT_TRUE(first.start({.worker_count = 1}).ok());
  ASSERT_TRUE(second.start({.worker_count = 1}).ok());
  std::atomic<uint32_t> sum{0};
  parallel_for(first, 10, 1, [&](uint32_t begin, uint32_t end) { sum += end - begin; });
  parallel_for(second, 10, 1, [&](uint32_t begin, uint32_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 20u);
  EXPECT_EQ(first.shutdown().code, StatusCode::in_use);
  parallel_for(second, 10, 1, [&](uint32_t begin, uint32_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 30u);
  EXPECT_TRUE(second.shutdown().ok());
}

TEST(TbbJobs, OneWorkerTakesByPriorityAndThenInTurn) {
  TbbJobs jobs;
  ASSERT_TRUE(jobs.start({.worker_count = 1}).ok());
  std::vector<uint32_t> order;
  const auto note = [](void* context, uint32_t id, uint32_t) {
    static_cast<std::vector<uint32_t>*>(context)->push_back(id);
  };
  JobCounter a, b;
  {
    test::Blockade blockade(jobs);
    jobs.run({note, &order, 1}, JobPriority::low, a);
    jobs.run({note, &order, 2}, JobPriority::normal, b);
    jobs.parallel_for(30, 10, note, &order, JobPriority::high, b);
    jobs.run({note, &order, 4}, JobPriority::high, a);
    jobs.run({note, &order, 5}, JobPriority::normal, a);
  }
  while (!a.is_done() || !b.is_done()) std::this_thread::yield();  // nobody helps
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 10, 20, 4, 2, 5, 1}));
  EXPECT_TRUE(jobs.shutdown().ok());
}

TEST(TbbJobs, ChoosesAtLeastOneWorkerItself) {
  TbbJobs jobs;
  EXPECT_EQ(jobs.worker_count(), 0u);
  ASSERT_TRUE(jobs.start().ok());
  EXPECT_GE(jobs.worker_count(), 1u);
  EXPECT_LE(jobs.worker_count(), std::max(1u, std::thread::hardware_concurrency()));
  test::meet_all_workers(jobs);
  EXPECT_TRUE(jobs.shutdown().ok());
  EXPECT_TRUE(jobs.shutdown().ok());  // again: nothing
}

TEST(TbbJobs, RefusesWhatItCannotBe) {
  TbbJobs jobs;
  const Status refused = jobs.start({.worker_count = TbbJobs::kMaxWorkers + 1});
  EXPECT_EQ(refused.code, StatusCode::bad_value);
  EXPECT_EQ(refused.detail, 257u);
  EXPECT_EQ(jobs.start({.queue_capacity = 0}).code, StatusCode::bad_value);
  std::atomic<uint32_t> sum{0};
  parallel_for(jobs, 10, 1, [&](uint32_t begin, uint32_t end) { sum += end - begin; });  // not started: at once
  EXPECT_EQ(sum, 10u);
}

TEST(TbbJobs, SaysSoWhenThereIsNoMemory) {
  for (int left = 0; left < 2; ++left) {
    test::LimitedAllocator allocator(left);
    TbbJobs jobs;
    EXPECT_EQ(jobs.start({.worker_count = 1, .allocator = &allocator}).code, StatusCode::out_of_memory);
    EXPECT_EQ(allocator.live_, 0);
  }
  test::LimitedAllocator allocator(2);
  TbbJobs jobs;
  ASSERT_TRUE(jobs.start({.worker_count = 1, .queue_capacity = 10, .allocator = &allocator}).ok());
  EXPECT_EQ(allocator.live_, 2);
  EXPECT_TRUE(jobs.shutdown().ok());
  EXPECT_EQ(allocator.live_, 0);
}

}  // namespace
}  // namespace meridian
