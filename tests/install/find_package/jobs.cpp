// SPDX-License-Identifier: MIT
// Links what runs jobs on oneTBB.
#include <atomic>
#include <cstdlib>

#include "meridian/jobs/tbb_jobs.h"

int main() {
  meridian::TbbJobs jobs;
  if (!jobs.start({.worker_count = 2}).ok()) return EXIT_FAILURE;
  std::atomic<uint32_t> sum{0};
  meridian::parallel_for(jobs, 100, 7, [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) sum += i;
  });
  return jobs.shutdown().ok() && sum == 4950 ? EXIT_SUCCESS : EXIT_FAILURE;
}
