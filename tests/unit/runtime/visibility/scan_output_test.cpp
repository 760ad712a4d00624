// SPDX-License-Identifier: MIT
// SCAN-9, P079: what comes out of a scan: counters, a full output, and handles that are found out when they are old.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/scan_town.h"
#include "unit/runtime/jobs/job_kit.h"
#include "unit/runtime/scene/world_parts.h"

namespace meridian {
namespace {

using test::cube_at;
using test::primary_shape;
using test::read_all;
using test::run_scan;
using test::ScanKit;
using test::ScanTown;
using test::start_scan;

TEST(ScanOutput, SCAN9_EpochsRise) {
  ScanKit kit;
  for (uint32_t i = 1; i <= 5; ++i) {
    kit.run({}, {primary_shape(0)});
    EXPECT_EQ(kit.scan.results().epoch, i);
  }
  ASSERT_TRUE(kit.scan.begin_frame({}).ok());
  ASSERT_TRUE(kit.scan.start(kit.jobs).ok());
  EXPECT_EQ(kit.scan.results().epoch, 5u) << "those of the last one that was joined";
  EXPECT_TRUE(kit.scan.join().ok());
  EXPECT_EQ(kit.scan.results().epoch, 6u);
}

// What went out where, counted by hand.
TEST(ScanOutput, SCAN9_CountersByHand) {
  ScanKit kit;
  kit.add_cube({0, 20, 0});
  kit.add_cube({0, 30, 0});
  EntityDesc desc = cube_at({0, 25, 0});
  desc.flags = kDescActive | kDescHidden;
  kit.add(desc);
  desc.flags = 0;
  kit.add(desc);
  kit.add_cube({0, 900, 0});  // too far
  desc = cube_at({1, 25, 0});
  desc.type = EntityClass{20};
  kit.add(desc);               // not asked for
  kit.add_cube({0, -20, 0});   // behind
  desc = cube_at({0, 25, 0});  // transparent
  desc.alpha = 0;
  kit.add(desc);
  CullShape shape = primary_shape(0);
  shape.types = ~(1u << 20);
  EXPECT_EQ(kit.run({}, {shape}).size(), 3u) << "the transparent one is wanted";
  const ScanCounters& c = kit.scan.results().counters;
  EXPECT_EQ(c.containers, 1u);
  EXPECT_EQ(c.containers_outside + c.containers_too_far, 0u);
  EXPECT_EQ(c.slices, 1u);
  EXPECT_EQ(c.blocks, 1u);
  EXPECT_EQ(c.blocks_outside + c.blocks_too_far, 0u);
  EXPECT_EQ(c.entities, 8u);
  EXPECT_EQ(c.entities_hidden, 2u);
  EXPECT_EQ(c.entities_too_far, 1u);
  EXPECT_EQ(c.entities_excluded, 1u);
  EXPECT_EQ(c.entities_outside, 1u);
  EXPECT_EQ(c.entities_replaced, 1u);
  EXPECT_EQ(c.entities_occluded, 0u);
}

// --- a full output -------------------------------------------------------------------------------------------

/// Fills memory with a pattern before it is used, so that bytes that nobody may write can be told.
class PaintedMemory final : public Allocator {
 public:
  static constexpr auto kPaint = std::byte{0xA5};
  void* allocate(size_t bytes, size_t alignment) override {
    void* const out = default_allocator().allocate(bytes, alignment);
    std::fill_n(static_cast<std::byte*>(out), bytes, kPaint);
    return out;
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    default_allocator().deallocate(pointer, bytes, alignment);
  }
};

TEST(ScanOutput, SCAN9_AFullOutputSaysHowMuchIsNeeded) {
  ScanTown town(2, 700);
  const CullShape shape = town.all(6);
  const std::vector<PvsEntry> all = town.kit.run({}, {shape});
  ASSERT_EQ(all.size(), 1400u);
  test::ThreadKit threads(3, 64);
  for (const uint32_t capacity : {1u, 2u, 31u, 32u, 33u, 100u, 1399u, 1400u, 1401u}) {
    for (const bool is_ordered : {false, true}) {
      for (JobSystem* jobs : {static_cast<JobSystem*>(&town.kit.jobs), &threads.jobs()}) {
        SCOPED_TRACE(std::to_string(capacity) + (is_ordered ? " ordered" : "") + std::to_string(jobs->worker_count()));
        PaintedMemory painted;
        Scan scan;
        ASSERT_TRUE(scan.init(town.kit.config(capacity), painted).ok());
        for (int round = 0; round < 2; ++round) {
          start_scan(scan, {.ordered = is_ordered}, std::span(&shape, 1), *jobs);
          ScanCursor cursor;
          std::span<const PvsEntry> block;
          std::vector<PvsEntry> seen;
          const PvsEntry* first = nullptr;
          while (scan.next_block(cursor, block)) {
            ASSERT_LE(block.size(), kPvsBlockEntries);
            seen.insert(seen.end(), block.begin(), block.end());
            if (first == nullptr || block.data() < first) first = block.data();
          }
          const Status joined = scan.join();
          const ScanResults& results = scan.results();
          const uint32_t fits = std::min(capacity, 1400u);
          EXPECT_EQ(results.needed, 1400u);
          EXPECT_EQ(results.stored, fits);
          EXPECT_EQ(results.complete, capacity >= 1400);
          EXPECT_FALSE(results.cancelled);
          EXPECT_EQ(joined.code, capacity >= 1400 ? StatusCode::ok : StatusCode::out_of_slots);
          if (!joined.ok()) {
            EXPECT_EQ(joined.detail, 1400u);
          }
          // What is stored is true, and nothing stands twice.
          ASSERT_EQ(seen.size(), fits);
          seen = test::by_handle_sorted(seen);
          EXPECT_TRUE(std::includes(all.begin(), all.end(), seen.begin(), seen.end(), test::by_handle));
          EXPECT_TRUE(std::adjacent_find(seen.begin(), seen.end(), std::equal_to<>()) == seen.end());
          for (const PvsEntry& e : seen) EXPECT_TRUE(std::find(all.begin(), all.end(), e) != all.end());
          // Behind the last entry there are bytes that nobody wrote, up to the next multiple of 64.
          const auto* const end = reinterpret_cast<const std::byte*>(first + capacity);
          const size_t rest = (64 - capacity * sizeof(PvsEntry) % 64) % 64;
          EXPECT_EQ(std::count(end, end + rest, PaintedMemory::kPaint), static_cast<std::ptrdiff_t>(rest));
        }
      }
    }
  }
}

// --- results that are old ------------------------------------------------------------------------------------

/// A car in front of the camera.
class ScanOutputOfWorld : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(parts.world.add(car).ok());
    ASSERT_TRUE(jobs.start().ok());
    ASSERT_TRUE(scan.init({.graph = &parts.graph, .tracker = &parts.tracker}, parts.memory).ok());
  }
  test::WorldParts parts{test::kScanScene};
  Entity& car = parts.make({0, 20, 0}, test::kCarClass);
  SerialJobs jobs;
  Scan scan;
  const CullShape shape = primary_shape(0);
};

TEST_F(ScanOutputOfWorld, P079_AnEntityThatIsGoneIsFoundOutByItsHandle) {
  std::vector<PvsEntry> seen = run_scan(scan, {}, std::span(&shape, 1), jobs);
  ASSERT_EQ(seen.size(), 1u);
  const EntityHandle then = seen[0].entity;
  EXPECT_EQ(parts.table.get(then), &car);
  ASSERT_TRUE(parts.world.destroy(car).ok());
  EXPECT_EQ(parts.table.get(then), nullptr);
  Entity* next = nullptr;  // in the place of the first, sooner or later
  for (int i = 0; i < 10000; ++i) {
    next = &parts.make({0, 20, 0}, test::kCarClass);
    if (next->handle().slot == then.slot) break;
    parts.forget(*next);
  }
  ASSERT_EQ(next->handle().slot, then.slot);
  Entity& other = *next;
  ASSERT_TRUE(parts.world.add(other).ok());
  EXPECT_EQ(parts.table.get(then), nullptr) << "never that of whoever came after it";
  seen = run_scan(scan, {}, std::span(&shape, 1), jobs);
  ASSERT_EQ(seen.size(), 1u) << "who came since is seen at once";
  EXPECT_EQ(parts.table.get(seen[0].entity), &other);
}

// A destruction that is put off while the scan runs leaves the entity alive until the join.
TEST_F(ScanOutputOfWorld, P079_ADeferredDestructionWaitsForTheJoin) {
  start_scan(scan, {}, std::span(&shape, 1), jobs);
  const EntityHandle handle = car.handle();
  EXPECT_TRUE(parts.world.is_locked()) << "whoever holds the lock";
  ASSERT_TRUE(parts.world.defer(destroy_change(handle)).ok());
  const std::vector<PvsEntry> seen = read_all(scan);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(parts.table.get(seen[0].entity), &car);
  ASSERT_TRUE(scan.join().ok());
  EXPECT_EQ(parts.table.get(handle), nullptr);
}

}  // namespace
}  // namespace meridian
