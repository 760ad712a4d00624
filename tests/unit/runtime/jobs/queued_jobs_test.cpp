// SPDX-License-Identifier: MIT
// job_system_test.cpp has what holds for all job systems, with threads in work() too; here stands the way of pools.
#include "meridian/jobs/queued_jobs.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace meridian {
namespace {

/// Notes what a pool would be told.
class Told final : public QueuedJobs {
 public:
  Told() { is_open_ = open(8, default_allocator()).ok(); }
  ~Told() override { close(); }
  uint32_t worker_count() const override { return 1; }
  using QueuedJobs::open;
  using QueuedJobs::stop;
  using QueuedJobs::work;
  std::vector<uint32_t> told_;
  bool is_open_ = false;

 private:
  void on_ready(uint32_t count) override { told_.push_back(count); }
};

void add(void* context, uint32_t begin, uint32_t end) { *static_cast<uint32_t*>(context) += end - begin; }

TEST(QueuedJobs, TellsThePoolHowManyJobsBecameReady) {
  Told jobs;
  ASSERT_TRUE(jobs.is_open_);
  uint32_t sum = 0;
  JobCounter counter;
  jobs.run({add, &sum}, JobPriority::low, counter);
  jobs.parallel_for(10, 4, add, &sum, JobPriority::high, counter);
  jobs.parallel_for(0, 4, add, &sum, JobPriority::high, counter);
  EXPECT_EQ(jobs.told_, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(jobs.run_ready(), 4u);
  EXPECT_EQ(sum, 11u);
  EXPECT_EQ(jobs.run_ready(), 0u);
}

TEST(QueuedJobs, TellsNothingOfWhatItRanAtOnce) {
  Told jobs;
  uint32_t sum = 0;
  JobCounter counter;
  for (int i = 0; i < 9; ++i) jobs.run({add, &sum}, JobPriority::low, counter);
  EXPECT_EQ(sum, 1u);
  EXPECT_EQ(jobs.told_.size(), 8u);
  jobs.wait(counter);
  EXPECT_EQ(sum, 9u);
}

TEST(QueuedJobs, AThreadInWorkFinishesWhatIsReadyBeforeItObeysStop) {
  Told jobs;
  uint32_t sum = 0;
  JobCounter counter;
  jobs.parallel_for(100, 7, add, &sum, JobPriority::normal, counter);
  jobs.stop();
  std::thread([&] { jobs.work(); }).join();
  EXPECT_TRUE(counter.is_done());
  EXPECT_EQ(sum, 100u);
  jobs.run({add, &sum}, JobPriority::normal, counter);  // at once
  EXPECT_EQ(sum, 101u);
}

#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
TEST(QueuedJobsDeathTest, ContractsAreAsserted) {
  Told jobs;
  uint32_t sum = 0;
  JobCounter counter;
  EXPECT_DEATH(jobs.run({}, JobPriority::normal, counter), "a job has a function");
  EXPECT_DEATH(jobs.parallel_for(1, 0, add, &sum, JobPriority::normal, counter), "pieces of 1 or more");
  EXPECT_DEATH(jobs.run({add, &sum}, static_cast<JobPriority>(3), counter), "one of JobPriority");
  EXPECT_DEATH((void)jobs.open(8, default_allocator()), "started once");
  EXPECT_DEATH(
      {
        JobCounter early;
        jobs.run({add, &sum}, JobPriority::normal, early);
      },
      "outlives its jobs");
  EXPECT_DEATH(
      {
        Told other;
        jobs.run({add, &sum}, JobPriority::normal, counter);
        other.run({add, &sum}, JobPriority::normal, counter);
      },
      "one job system at a time");
}
#endif

}  // namespace
}  // namespace meridian
