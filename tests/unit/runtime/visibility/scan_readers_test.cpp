// SPDX-License-Identifier: MIT
// SCAN-9, SCAN-14, REL-2: readers beside the jobs that write. For a thread sanitizer as much as for what is expected.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "support/scan_town.h"
#include "support/search_worlds.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

using test::by_handle_sorted;
using test::Dice;
using test::read_all;
using test::ScanTown;
using test::start_scan;

constexpr int kRounds = 20;

void expect_all(const ScanTown& town, std::vector<PvsEntry> seen) {
  ASSERT_EQ(seen.size(), town.total());
  seen = by_handle_sorted(std::move(seen));
  for (uint32_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i].entity, (EntityHandle{i / town.per_map + 1, i % town.per_map}));
    ASSERT_EQ(seen[i].visible_phases, 1u);
    ASSERT_EQ(seen[i].alpha, 255u);
  }
}

/// Reads all, and dawdles now and then.
std::vector<PvsEntry> read_slowly(Scan& scan, uint32_t every) {
  std::vector<PvsEntry> out;
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  for (uint32_t n = 1; scan.next_block(cursor, block); ++n) {
    out.insert(out.end(), block.begin(), block.end());
    if (n % every == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return out;
}

// Progress with no worker: who reads does the work, block by block.
TEST(ScanReaders, SCAN14_WithoutWorkersTheReaderDoesTheJobs) {
  ScanTown town(4, 700);
  const CullShape shape = town.all();
  for (const bool is_ordered : {false, true}) {
    start_scan(town.kit.scan, {.ordered = is_ordered}, std::span(&shape, 1), town.kit.jobs);
    expect_all(town, read_all(town.kit.scan));
    EXPECT_TRUE(town.kit.scan.join().ok());
    // And if nobody reads, join does.
    start_scan(town.kit.scan, {.ordered = is_ordered}, std::span(&shape, 1), town.kit.jobs);
    EXPECT_TRUE(town.kit.scan.join().ok());
    EXPECT_EQ(town.kit.scan.results().stored, town.total());
    expect_all(town, read_all(town.kit.scan));
  }
}

// A reader on another thread, no worker, and an owner that does not help.
TEST(ScanReaders, SCAN14_AReaderElsewhereDoesTheJobsToo) {
  ScanTown town(4, 700);
  const CullShape shape = town.all();
  start_scan(town.kit.scan, {}, std::span(&shape, 1), town.kit.jobs);
  std::vector<PvsEntry> seen;
  std::thread([&] { seen = read_all(town.kit.scan); }).join();
  expect_all(town, std::move(seen));
  EXPECT_TRUE(town.kit.scan.join().ok());
}

// Readers see entries while jobs still wait: the first block comes when one task is done, not all.
/// No workers. Who starts the `held`th job of all is kept from it until somebody else has done what there is, and sleeps
/// or should look on.
class HoldingJobs final : public JobSystem {
 public:
  explicit HoldingJobs(uint32_t held) : held_(held) {}
  void run(const Job& job, JobPriority priority, JobCounter& counter) override {
    if (++started_ == held_) {
      is_holding = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kit_.jobs().run(job, priority, counter);
  }
  void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority priority,
                    JobCounter& counter) override {
    kit_.jobs().parallel_for(count, grain, function, context, priority, counter);
  }
  void wait(JobCounter& counter) override { kit_.jobs().wait(counter); }
  bool try_run_one(JobCounter& counter) override { return kit_.jobs().try_run_one(counter); }
  uint32_t worker_count() const override { return 0; }
  std::atomic<bool> is_holding{false};

 private:
  const uint32_t held_;
  std::atomic<uint32_t> started_{0};
  test::SerialKit kit_{64};
};

// Nobody wakes a reader when jobs are started. So none sleeps before all are, also if another thread that starts them is
// slow and then turns to something else.
TEST(ScanReaders, SCAN14_NoReaderSleepsWhileJobsAreStillStarted) {
  ScanTown town(12, 1200);
  const CullShape shape = town.all();
  Scan& scan = town.kit.scan;
  for (uint32_t held = 2; held <= 4; ++held) {  // the first early task, the search for the rest, the second task
    SCOPED_TRACE(held);
    HoldingJobs jobs(held);
    start_scan(scan, {}, std::span(&shape, 1), jobs);
    std::atomic<bool> is_done{false};
    std::thread starter([&] {
      ScanCursor cursor;
      std::span<const PvsEntry> block;
      EXPECT_TRUE(scan.next_block(cursor, block));
    });
    std::vector<PvsEntry> seen;
    std::thread reader([&] {
      while (!jobs.is_holding) std::this_thread::yield();
      seen = read_all(scan);
      is_done = true;
    });
    starter.join();
    for (int i = 0; i < 10000 && !is_done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(is_done) << "it sleeps though there are jobs to do";
    EXPECT_TRUE(scan.join().ok());  // which does them
    reader.join();
    expect_all(town, seen);
  }
}

TEST(ScanReaders, SCAN14_BlocksComeWhileJobsStillRun) {
  ScanTown town(8, 1000);
  const CullShape shape = town.all();
  start_scan(town.kit.scan, {}, std::span(&shape, 1), town.kit.jobs);
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  ASSERT_TRUE(town.kit.scan.next_block(cursor, block));
  EXPECT_GT(town.kit.jobs.run_ready(), 0u) << "there was more to do";
  EXPECT_TRUE(town.kit.scan.join().ok());
}

// Several readers, each with its own cursor, fast and slow, from the start, in between, and after the join: each sees
// every block.
TEST(ScanReaders, SCAN14_EachReaderSeesEveryBlock) {
  ScanTown town(6, 700);
  const CullShape shape = town.all();
  Scan& scan = town.kit.scan;
  for (const uint32_t workers : {0u, 1u, 3u}) {
    test::ThreadKit threads(workers, 64);
    for (int round = 0; round < kRounds; ++round) {
      const bool is_ordered = round % 2 == 1;
      SCOPED_TRACE(std::to_string(workers) + (is_ordered ? " ordered" : ""));
      std::atomic<bool> is_started{false};
      std::vector<std::vector<PvsEntry>> seen(5);
      std::vector<std::thread> readers;
      for (size_t r = 0; r < 2; ++r) {
        readers.emplace_back([&, r] {  // they wait for the start
          while (!is_started.load()) std::this_thread::yield();
          seen[r] = r == 0 ? read_all(scan) : read_slowly(scan, 7);
        });
      }
      start_scan(scan, {.ordered = is_ordered}, std::span(&shape, 1), threads.jobs());
      is_started.store(true);
      readers.emplace_back([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        seen[2] = read_all(scan);
      });
      if (round % 3 == 0) seen[3] = read_all(scan);
      EXPECT_TRUE(scan.join().ok());
      EXPECT_FALSE(town.kit.graph.is_locked());
      if (seen[3].empty()) seen[3] = read_all(scan);
      seen[4] = read_slowly(scan, 20);
      for (std::thread& reader : readers) reader.join();
      for (const std::vector<PvsEntry>& one : seen) {
        expect_all(town, one);
        if (is_ordered) {
          ASSERT_EQ(one, seen[0]) << "in the same order too";
        }
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

// A reader that waits longer than it looks goes to sleep, and is woken: by the block that comes, and by the end.
TEST(ScanReaders, SCAN14_ASleepingReaderIsWoken) {
  ScanTown town(4, 700);
  const CullShape shape = town.all();
  Scan& scan = town.kit.scan;
  for (int round = 0; round < 10; ++round) {
    test::ThreadKit threads(1, 64);
    // The worker has picked up the node job, and cannot go on; what a reader could do itself is nothing.
    std::atomic<bool> may_go{false};
    struct Gate final : JobSystem {
      Gate(JobSystem& of, std::atomic<bool>& open) : inner(of), is_open(open) {}
      void run(const Job& job, JobPriority priority, JobCounter& counter) override {
        held = job;
        counter.add(1);
        of_held = &counter;
        inner.run({[](void* context, uint32_t, uint32_t) {
                     Gate& self = *static_cast<Gate*>(context);
                     while (!self.is_open.load()) std::this_thread::sleep_for(std::chrono::microseconds(50));
                     self.held.function(self.held.context, self.held.begin, self.held.end);
                     self.of_held->finish();
                   },
                   this},
                  priority, own);
      }
      void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority,
                        JobCounter& counter) override {
        counter.add(1);
        for (uint32_t i = 0; i < count; i += grain) {
          std::this_thread::sleep_for(std::chrono::microseconds(300));  // readers sleep before each
          function(context, i, std::min(count, i + grain));
        }
        counter.finish();
      }
      void wait(JobCounter& counter) override {
        inner.wait(own);
        EXPECT_TRUE(counter.is_done());
      }
      bool try_run_one(JobCounter&) override { return false; }
      uint32_t worker_count() const override { return 1; }
      JobSystem& inner;
      std::atomic<bool>& is_open;
      Job held;
      JobCounter* of_held = nullptr;
      JobCounter own;
    } gate(threads.jobs(), may_go);
    start_scan(scan, {.ordered = round % 2 == 1}, std::span(&shape, 1), gate);
    std::vector<PvsEntry> seen[3];
    std::vector<std::thread> readers;
    for (auto& of : seen) readers.emplace_back([&scan, &of] { of = read_all(scan); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    may_go.store(true);
    for (std::thread& reader : readers) reader.join();
    for (auto& of : seen) expect_all(town, std::move(of));
    EXPECT_TRUE(scan.join().ok());
  }
}

// The end comes, whatever there is to see.
TEST(ScanReaders, SCAN14_TheEndIsAlwaysSignalled) {
  ScanTown town(2, 100);
  test::ScanKit empty;
  test::ThreadKit threads(2, 64);
  const CullShape nothing = test::sphere_shape(0, {0, 0, -9000}, 1), all = town.all();
  for (int round = 0; round < kRounds; ++round) {
    for (JobSystem* jobs : {static_cast<JobSystem*>(&town.kit.jobs), &threads.jobs()}) {
      for (const bool is_ordered : {false, true}) {
        const ScanFrame frame{.ordered = is_ordered};
        const auto expect_nothing = [&](Scan& scan, std::span<const CullShape> shapes) {
          start_scan(scan, frame, shapes, *jobs);
          std::vector<PvsEntry> elsewhere;
          std::thread reader([&] { elsewhere = read_all(scan); });
          EXPECT_TRUE(read_all(scan).empty());
          EXPECT_TRUE(scan.join().ok());
          reader.join();
          EXPECT_TRUE(elsewhere.empty());
          EXPECT_TRUE(scan.results().complete);
          EXPECT_EQ(scan.results().needed, 0u);
        };
        expect_nothing(town.kit.scan, {});
        expect_nothing(town.kit.scan, std::span(&nothing, 1));
        expect_nothing(empty.scan, std::span(&all, 1));
      }
    }
  }
}

// Containers are seen whole or not at all, whenever somebody cancels; and join says so.
TEST(ScanReaders, SCAN14_CancelStopsBetweenContainers) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  ScanTown town(10, 1000);
  const CullShape shape = town.all();
  const auto sizes = town.container_sizes();
  Scan& scan = town.kit.scan;
  uint32_t cut_short = 0;
  for (const uint32_t workers : {0u, 1u, 3u}) {
    test::ThreadKit threads(workers, 64);
    for (int round = 0; round < 2 * kRounds; ++round) {
      const bool is_ordered = dice.chance(0.5), is_by_reader = dice.chance(0.5);
      const uint32_t patience = dice.below(dice.chance(0.3) ? 1 : 150);
      start_scan(scan, {.ordered = is_ordered}, std::span(&shape, 1), threads.jobs());
      std::thread other([&] {
        if (is_by_reader) return;
        for (uint32_t i = 0; i < patience; ++i) std::this_thread::yield();
        scan.cancel();
      });
      std::vector<PvsEntry> seen;
      ScanCursor cursor;
      std::span<const PvsEntry> block;
      for (uint32_t n = 0;; ++n) {
        if (is_by_reader && n == patience) scan.cancel();
        if (!scan.next_block(cursor, block)) break;
        seen.insert(seen.end(), block.begin(), block.end());
      }
      other.join();
      scan.cancel();  // again, and always before the join
      EXPECT_TRUE(scan.join().ok());
      const ScanResults& results = scan.results();
      EXPECT_TRUE(results.cancelled);
      EXPECT_FALSE(results.complete);
      EXPECT_EQ(results.stored, results.needed);
      ASSERT_EQ(results.stored, seen.size());
      std::map<std::pair<uint32_t, size_t>, uint32_t> counts;
      for (const PvsEntry& e : seen) ++counts[town.container_of(e.entity)];
      for (const auto& [container, count] : counts) ASSERT_EQ(count, sizes.at(container));
      if (seen.size() < town.total()) ++cut_short;
    }
  }
  EXPECT_GT(cut_short, 10u);
  // The next one is whole.
  start_scan(scan, {}, std::span(&shape, 1), town.kit.jobs);
  expect_all(town, read_all(scan));
  EXPECT_TRUE(scan.join().ok());
  EXPECT_TRUE(scan.results().complete);
  EXPECT_FALSE(scan.results().cancelled);
}

TEST(ScanReaders, SCAN14_CancelledBeforeItBegan) {
  ScanTown town(2, 100);
  const CullShape shape = town.all();
  for (const bool is_ordered : {false, true}) {
    start_scan(town.kit.scan, {.ordered = is_ordered}, std::span(&shape, 1), town.kit.jobs);
    town.kit.scan.cancel();
    EXPECT_TRUE(read_all(town.kit.scan).empty());
    EXPECT_TRUE(town.kit.scan.join().ok());
    EXPECT_TRUE(town.kit.scan.results().cancelled);
    EXPECT_EQ(town.kit.scan.results().needed, 0u);
  }
}

}  // namespace
}  // namespace meridian
