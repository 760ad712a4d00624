// SPDX-License-Identifier: MIT
// job_system_test.cpp has what holds for all job systems; here stands what only SerialJobs and QueuedJobs promise.
#include "meridian/jobs/serial_jobs.h"

#include <vector>

#include <gtest/gtest.h>

#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

using Order = std::vector<uint32_t>;
void note(void* context, uint32_t begin, uint32_t) { static_cast<Order*>(context)->push_back(begin); }

TEST(SerialJobs, NothingRunsBeforeSomebodyAsks) {
  SerialJobs jobs;
  ASSERT_TRUE(jobs.start().ok());
  Order order;
  JobCounter counter;
  jobs.run({note, &order, 1}, JobPriority::high, counter);
  jobs.parallel_for(6, 2, note, &order, JobPriority::normal, counter);
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(counter.pending(), 4u);
  jobs.wait(counter);
  EXPECT_EQ(order, (Order{1, 0, 2, 4}));
}

TEST(SerialJobs, RunsAllCountersByPriorityWhenAskedForAny) {
  SerialJobs jobs;
  ASSERT_TRUE(jobs.start().ok());
  Order order;
  JobCounter a, b;
  jobs.run({note, &order, 1}, JobPriority::low, a);
  jobs.run({note, &order, 2}, JobPriority::normal, b);
  jobs.run({note, &order, 3}, JobPriority::high, a);
  jobs.run({note, &order, 4}, JobPriority::normal, a);
  jobs.run({note, &order, 5}, JobPriority::high, b);
  EXPECT_EQ(jobs.run_ready(), 5u);
  EXPECT_EQ(order, (Order{3, 5, 2, 4, 1}));
  EXPECT_TRUE(a.is_done() && b.is_done());
}

TEST(SerialJobs, AJobStartedByAJobComesAfterTheReadyOnesOfItsPriority) {
  struct Chain {
    SerialJobs jobs;
    JobCounter counter;
    Order order;
    static void first(void* context, uint32_t id, uint32_t) {
      auto& chain = *static_cast<Chain*>(context);
      chain.order.push_back(id);
      chain.jobs.run({note, &chain.order, id + 10}, JobPriority::normal, chain.counter);
    }
  } chain;
  ASSERT_TRUE(chain.jobs.start().ok());
  chain.jobs.run({Chain::first, &chain, 1}, JobPriority::normal, chain.counter);
  chain.jobs.run({Chain::first, &chain, 2}, JobPriority::normal, chain.counter);
  chain.jobs.wait(chain.counter);
  EXPECT_EQ(chain.order, (Order{1, 2, 11, 12}));
}

TEST(SerialJobs, RunsAtOnceWhenTheQueueIsFull) {
  SerialJobs jobs;
  ASSERT_TRUE(jobs.start({.queue_capacity = 2}).ok());
  Order order;
  JobCounter counter;
  jobs.run({note, &order, 1}, JobPriority::normal, counter);
  jobs.parallel_for(4, 2, note, &order, JobPriority::normal, counter);  // one place
  jobs.parallel_for(9, 4, note, &order, JobPriority::normal, counter);  // none left
  EXPECT_EQ(order, (Order{0, 4, 8}));
  EXPECT_TRUE(jobs.try_run_one(counter));
  EXPECT_TRUE(jobs.try_run_one(counter));
  jobs.run({note, &order, 7}, JobPriority::high, counter);  // the place of the first job is free again
  EXPECT_EQ(order, (Order{0, 4, 8, 1, 0}));
  jobs.wait(counter);
  EXPECT_EQ(order, (Order{0, 4, 8, 1, 0, 7, 2}));
}

TEST(SerialJobs, RunsAtOnceBeforeStartAndAfterShutdown) {
  SerialJobs jobs;
  Order order;
  JobCounter counter;
  jobs.run({note, &order, 1}, JobPriority::low, counter);
  jobs.parallel_for(5, 2, note, &order, JobPriority::low, counter);
  EXPECT_EQ(order, (Order{1, 0, 2, 4}));
  EXPECT_TRUE(counter.is_done());
  ASSERT_TRUE(jobs.start().ok());
  jobs.run({note, &order, 2}, JobPriority::low, counter);
  EXPECT_EQ(order.size(), 4u);
  jobs.shutdown();  // what nobody waited for
  EXPECT_EQ(order.size(), 5u);
  jobs.run({note, &order, 3}, JobPriority::low, counter);
  EXPECT_EQ(order.back(), 3u);
  jobs.shutdown();
  ASSERT_TRUE(jobs.start().ok());
}

TEST(SerialJobs, TheLongestRangeTakesOnePlaceAndItsLastPieceEndsIt) {
  SerialJobs jobs;
  ASSERT_TRUE(jobs.start({.queue_capacity = 1}).ok());
  struct Ends {
    uint32_t calls = 0, last_begin = 0, last_end = 0;
  } ends;
  JobCounter counter;
  jobs.parallel_for(
      UINT32_MAX, 0x7FFFFFFF,
      [](void* context, uint32_t begin, uint32_t end) {
        auto& to = *static_cast<Ends*>(context);
        to = {to.calls + 1, begin, end};
      },
      &ends, JobPriority::normal, counter);
  EXPECT_EQ(counter.pending(), 3u);  // 2 x (2^31 - 1) and one more index
  jobs.wait(counter);
  EXPECT_EQ(ends.calls, 3u);
  EXPECT_EQ(ends.last_begin, 0xFFFFFFFEu);
  EXPECT_EQ(ends.last_end, 0xFFFFFFFFu);
}

TEST(SerialJobs, RefusesACapacityOfNothingOrTooMuch) {
  SerialJobs jobs;
  EXPECT_EQ(jobs.start({.queue_capacity = 0}).code, StatusCode::bad_value);
  const Status refused = jobs.start({.queue_capacity = QueuedJobs::kMaxJobs + 1});
  EXPECT_EQ(refused.code, StatusCode::bad_value);
  EXPECT_EQ(refused.detail, QueuedJobs::kMaxJobs + 1);
}

TEST(SerialJobs, TakesItsMemoryFromTheAllocatorAndGivesItBack) {
  test::LimitedAllocator allocator(1);
  SerialJobs jobs;
  ASSERT_TRUE(jobs.start({.queue_capacity = 100, .allocator = &allocator}).ok());
  EXPECT_EQ(allocator.live_, 1);
  EXPECT_EQ(allocator.live_bytes_, 100 * QueuedJobs::kBytesPerJob);
  jobs.shutdown();
  EXPECT_EQ(allocator.live_, 0);
  EXPECT_EQ(allocator.live_bytes_, 0u);
}

TEST(SerialJobs, SaysSoWhenThereIsNoMemoryAndStillRunsJobs) {
  test::LimitedAllocator none(0);
  SerialJobs jobs;
  EXPECT_EQ(jobs.start({.allocator = &none}).code, StatusCode::out_of_memory);
  Order order;
  JobCounter counter;
  jobs.run({note, &order, 5}, JobPriority::normal, counter);
  EXPECT_EQ(order, Order{5});
}

}  // namespace
}  // namespace meridian
