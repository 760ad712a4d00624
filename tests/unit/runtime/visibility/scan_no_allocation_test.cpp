// SPDX-License-Identifier: MIT
// A frame with its scan allocates nothing, whatever the jobs run on: begin_frame, shapes, jobs, readers, join.
#include <gtest/gtest.h>

#include "support/scan_town.h"
#include "unit/runtime/jobs/job_kit.h"

// Last: compilers' own headers declare its functions otherwise.
#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"

namespace meridian {
namespace {

TEST(ScanMemory, SCAN9_ScansAllocateNothing) {
  test::ScanTown town(6, 700);
  const Result<SceneSlot> car = town.kit.graph.insert(*town.kit.graph.root(), ContainerUse::dynamic,
                                                      {.generation = 900, .slot = 1}, test::cube_at({0, 0, 0}, 5000));
  ASSERT_TRUE(car.ok());
  test::ThreadKit threads(3, 64);
  test::meet_all_workers(threads.jobs());
  Scan full;
  ASSERT_TRUE(full.init(town.kit.config(/*max_entries=*/100), town.kit.memory).ok());
  const CullWindow windows[] = {{.box = {{0, 0, 0}, {100, 100, 100}}, .min = 0, .max = 10000}};
  uint64_t failed = 0, read = 0;
  const auto frame = [&](Scan& scan, JobSystem& jobs, uint32_t number) {
    const auto count = [&failed](const Status& status) { failed += status.ok() ? 0u : 1u; };
    count(town.kit.graph.write(car.value(), test::cube_at({static_cast<float>(number), 0, 0}, 5000)));
    count(scan.begin_frame({.windows = windows, .ordered = number % 2 == 0}));
    count(scan.add(town.slab(0, 0, 3, kCullPrimary)));
    count(scan.add(town.slab(1, 1, 6, kCullOnlyIfPrimaryRenders)));
    count(scan.add(town.all(2)));
    count(scan.start(jobs));
    ScanCursor cursor;
    std::span<const PvsEntry> block;
    while (scan.next_block(cursor, block)) read += block.size();
    if (number % 5 == 0) scan.cancel();
    const StatusCode joined = scan.join().code;
    if (joined != StatusCode::ok && !(joined == StatusCode::out_of_slots && &scan == &full)) ++failed;
  };
  uint64_t before = 0;
  for (uint32_t i = 0; i < 60; ++i) {
    if (i == 20) before = test::allocation_count();
    frame(town.kit.scan, town.kit.jobs, i);
    frame(town.kit.scan, threads.jobs(), i);
    frame(full, threads.jobs(), i);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(failed, 0u);
  EXPECT_GT(read, 60u * 2 * 4000);
}

}  // namespace
}  // namespace meridian
