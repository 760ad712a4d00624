// SPDX-License-Identifier: MIT
// A program of its own, since its job system is there before main.
#include <atomic>

#include <gtest/gtest.h>

#include "meridian/jobs/tbb_jobs.h"

namespace meridian {
namespace {

// Two, so that one is shut down by the test and the other one by its destructor at exit.
TbbJobs g_jobs, g_left_alone;
const bool g_started = g_jobs.start({.worker_count = 2}).ok() && g_left_alone.start({.worker_count = 2}).ok();

uint64_t sum_of(JobSystem& jobs, uint32_t count) {
  std::atomic<uint64_t> sum{0};
  parallel_for(jobs, count, 10, [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) sum += i;
  });
  return sum;
}

const uint64_t g_sum_before_main = sum_of(g_jobs, 1000);

// P082
TEST(TbbJobs, P082_StartsAndWorksInAStaticInitialiser) {
  ASSERT_TRUE(g_started);
  EXPECT_EQ(g_sum_before_main, 499'500u);
  EXPECT_EQ(sum_of(g_jobs, 2000), 1'999'000u);
  EXPECT_EQ(sum_of(g_left_alone, 2000), 1'999'000u);
  EXPECT_EQ(g_jobs.shutdown().code, StatusCode::in_use);  // by the other one
}

}  // namespace
}  // namespace meridian
