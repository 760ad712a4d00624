// SPDX-License-Identifier: MIT
// A library that a program loads, uses and unloads: it brings Meridian, and through it oneTBB.
#include <atomic>

#include "meridian/jobs/tbb_jobs.h"

namespace {

meridian::TbbJobs g_jobs;

// Under the loader's lock, where waiting for a thread would hang.
[[maybe_unused]] const bool g_started = g_jobs.start({.worker_count = 3}).ok();

}  // namespace

/// The sum of [0, count), by jobs. 0 if the jobs could not be started.
extern "C" uint64_t plugin_sum(uint32_t count) {
  if (!g_started) return 0;
  std::atomic<uint64_t> sum{0};
  meridian::parallel_for(g_jobs, count, 16, [&](uint32_t begin, uint32_t end) {
    uint64_t part = 0;
    for (uint32_t i = begin; i < end; ++i) part += i;
    sum += part;
  });
  return sum;
}

/// 1 if all threads have ended.
extern "C" int plugin_shutdown() { return g_jobs.shutdown().ok() ? 1 : 0; }
