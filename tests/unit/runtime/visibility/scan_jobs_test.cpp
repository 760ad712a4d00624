// SPDX-License-Identifier: MIT
// SCAN-5, SCAN-12, REL-6: how a scan is cut into jobs, and that nothing of its results depends on who does them.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "support/scan_town.h"
#include "support/scan_views.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

using test::cube_at;
using test::phase_bit;
using test::primary_shape;
using test::run_scan;
using test::ScanKit;
using test::ScanTown;
using test::ScanView;
using test::ScanWorld;
using test::sphere_shape;
using test::start_scan;

/// Keeps what it is given, and does one piece whenever it is asked to: so whoever reads knows which piece has written
/// what comes. Says that it has as many workers as one likes.
class RecordingJobs final : public JobSystem {
 public:
  explicit RecordingJobs(uint32_t workers) : workers_(workers) {}
  void run(const Job& job, JobPriority priority, JobCounter& counter) override {
    counter.add(1);
    ready_[static_cast<size_t>(priority)].push_back({job, &counter, false});
  }
  void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority priority,
                    JobCounter& counter) override {
    for (uint32_t i = 0; i < count; i += grain) {
      run({function, context, i, std::min(count, i + grain)}, priority, counter);
      ready_[static_cast<size_t>(priority)].back().is_late = true;
    }
  }
  void wait(JobCounter& counter) override {
    while (!counter.is_done()) ASSERT_TRUE(try_run_one(counter));
  }
  bool try_run_one(JobCounter&) override {
    for (uint32_t p = 0; p < kJobPriorityCount; ++p) {
      if (ready_[p].empty()) continue;
      const Piece piece = ready_[p].front();
      ready_[p].pop_front();
      done.push_back({static_cast<JobPriority>(p), piece.is_late});
      piece.job.function(piece.job.context, piece.job.begin, piece.job.end);
      piece.counter->finish();
      return true;
    }
    return false;
  }
  uint32_t worker_count() const override { return workers_; }

  struct Done {
    JobPriority priority;
    bool is_late;  ///< one of several alike, which are started when all is found
  };
  std::vector<Done> done;

 private:
  struct Piece {
    Job job;
    JobCounter* counter;
    bool is_late;
  };
  uint32_t workers_;
  std::deque<Piece> ready_[kJobPriorityCount];
};

/// What each task of a scan has written. Those that find nodes write nothing.
struct Written {
  JobPriority priority;
  std::vector<PvsEntry> entries;
};
struct Pieces {
  std::vector<Written> early;  ///< started while nodes are found
  std::vector<Written> tasks;  ///< and after that
  size_t finding = 0;          ///< jobs that found nodes
  bool begins_early = false;   ///< something is written before the last of them is done
  size_t early_sum() const { return sum_of(early); }
  size_t sum() const { return sum_of(early) + sum_of(tasks); }

 private:
  static size_t sum_of(const std::vector<Written>& tasks) {
    size_t out = 0;
    for (const Written& task : tasks) out += task.entries.size();
    return out;
  }
};
Pieces written_by_piece(Scan& scan, std::span<const CullShape> shapes, uint32_t workers, bool ordered = false) {
  RecordingJobs jobs(workers);
  start_scan(scan, {.ordered = ordered}, shapes, jobs);
  std::vector<std::vector<PvsEntry>> entries;  // of each piece
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  while (scan.next_block(cursor, block)) {
    // All that came before was read, so it is the last piece's.
    entries.resize(jobs.done.size());
    entries.back().insert(entries.back().end(), block.begin(), block.end());
  }
  EXPECT_TRUE(scan.join().ok());
  entries.resize(jobs.done.size());
  Pieces out;
  for (size_t i = 0; i < entries.size(); ++i) {
    const RecordingJobs::Done& done = jobs.done[i];
    if (done.is_late) {
      out.tasks.push_back({done.priority, entries[i]});
    } else if (!entries[i].empty()) {
      out.early.push_back({done.priority, entries[i]});
    } else {
      EXPECT_TRUE(out.tasks.empty()) << "those tasks begin when all is found";
      out.begins_early = !out.early.empty();
      ++out.finding;
    }
  }
  return out;
}

// Nodes that the picture shows come first, those that only others see later: told by the bit of the primary phase, not
// by whether any phase sees them. No task is of both.
TEST(ScanJobs, SCAN5_WhatThePictureShowsComesFirst) {
  ScanTown town(8, 600);
  const CullShape shapes[] = {town.slab(5, 2, 4, kCullPrimary), town.slab(0, 0, 8), town.slab(1, 1, 3),
                              town.slab(2, 6, 8)};
  uint32_t high = 0, normal = 0;
  const Pieces pieces = written_by_piece(town.kit.scan, shapes, 3);
  EXPECT_FALSE(pieces.early.empty()) << "what the picture shows needs nothing else";
  std::vector<Written> all = pieces.early;
  all.insert(all.end(), pieces.tasks.begin(), pieces.tasks.end());
  for (const Written& piece : all) {
    ASSERT_FALSE(piece.entries.empty());
    (piece.priority == JobPriority::high ? high : normal) += static_cast<uint32_t>(piece.entries.size());
    for (const PvsEntry& e : piece.entries) {
      const uint32_t map = e.entity.generation - 1;
      const bool is_shown = map == 2 || map == 3;
      ASSERT_EQ(piece.priority, is_shown ? JobPriority::high : JobPriority::normal) << map;
      ASSERT_EQ(e.is_visible(5), is_shown);
    }
  }
  EXPECT_EQ(high, 2u * 600);
  EXPECT_EQ(normal, 6u * 600);
}

TEST(ScanJobs, SCAN5_WithoutAPictureAllIsOfOneKind) {
  ScanTown town(4, 600);
  const CullShape shapes[] = {town.slab(0, 0, 4)};
  const Pieces pieces = written_by_piece(town.kit.scan, shapes, 3);
  EXPECT_EQ(pieces.sum(), town.total());
  for (const std::vector<Written>& tasks : {pieces.early, pieces.tasks})
    for (const Written& piece : tasks) EXPECT_EQ(piece.priority, JobPriority::normal);
}

// Four a worker at least, and of about equal work.
TEST(ScanJobs, SCAN5_LargeScansGiveEachWorkerFourTasks) {
  ScanTown town(24, 1200);
  const CullShape shapes[] = {town.slab(0, 0, 24, kCullPrimary), town.slab(1, 0, 24), town.slab(2, 0, 24),
                              town.slab(3, 0, 24)};
  for (const uint32_t workers : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    const Pieces pieces = written_by_piece(town.kit.scan, shapes, workers);
    EXPECT_GE(pieces.tasks.size(), size_t{4} * std::max(workers, 1u));
    EXPECT_GE(pieces.early.size(), size_t{workers}) << "each has something to do while nodes are found";
    size_t most = 0, in_late = 0;
    for (const Written& task : pieces.tasks) {
      most = std::max(most, task.entries.size());
      in_late += task.entries.size();
    }
    EXPECT_EQ(pieces.sum(), town.total());
    EXPECT_LT(pieces.early_sum(), in_late);
    EXPECT_LE(most, in_late / pieces.tasks.size() + kContainerSlots) << "within one container of the average";
    for (const Written& task : pieces.early)
      EXPECT_LE(task.entries.size(), 10 * kContainerSlots) << "no longer than others";
  }
}

// PERF-1: where there is much to find, the first block can be read before all is found. Nothing comes twice, and nothing
// before it is known who sees it: what the picture shows, or all where no shape follows it.
TEST(ScanJobs, PERF1_ReadersBeginBeforeAllIsFound) {
  ScanTown town(12, 1200);  // 48 containers: more than one node of the hierarchy holds
  const auto ids = [](const Pieces& pieces) {
    std::vector<uint64_t> out;
    for (const std::vector<Written>& tasks : {pieces.early, pieces.tasks})
      for (const Written& task : tasks)
        for (const PvsEntry& e : task.entries) out.push_back(uint64_t{e.entity.generation} << 32 | e.entity.slot);
    std::sort(out.begin(), out.end());
    return out;
  };
  struct Case {
    const char* name;
    std::vector<CullShape> shapes;
    int early;  ///< 1: some are, 0: none; -1: both may be, for what the picture shows may be found late
  };
  const Case cases[] = {
      {"the picture", {town.slab(5, 0, 12, kCullPrimary), town.slab(0, 0, 12, kCullOnlyIfPrimaryRenders)}, 1},
      {"others see more", {town.slab(5, 6, 7, kCullPrimary), town.slab(0, 0, 12)}, -1},
      {"no picture", {town.slab(5, 0, 12), town.slab(0, 3, 11)}, 1},
      {"no picture to follow", {town.slab(5, 0, 12), town.slab(0, 0, 12, kCullOnlyIfPrimaryRenders)}, 0},
  };
  for (const Case& c : cases) {
    for (const uint32_t workers : {0u, 3u}) {
      SCOPED_TRACE(c.name + std::string(", workers: ") + std::to_string(workers));
      const Pieces pieces = written_by_piece(town.kit.scan, c.shapes, workers);
      const Pieces ordered = written_by_piece(town.kit.scan, c.shapes, workers, true);
      EXPECT_EQ(pieces.finding, 2u);
      if (c.early >= 0) {
        EXPECT_EQ(pieces.begins_early, c.early == 1);
        EXPECT_EQ(!pieces.early.empty(), c.early == 1);
      }
      if (workers == 0) {
        EXPECT_LT(pieces.early_sum(), pieces.sum() / 2);
      }
      for (const Written& task : pieces.early)
        for (const PvsEntry& e : task.entries) EXPECT_EQ(e.is_visible(5), true) << e.entity.generation;
      EXPECT_TRUE(ordered.early.empty()) << "in order all is known first";
      EXPECT_EQ(ordered.finding, 1u);
      EXPECT_EQ(ids(pieces), ids(ordered));
    }
  }
}

// Many containers of a few entities are one task, not as many as there are.
TEST(ScanJobs, SCAN5_SmallContainersAreBatched) {
  ScanTown town(12, 20);
  const CullShape shapes[] = {town.slab(0, 0, 12)};
  const auto tasks = [&](Scan& scan) {
    const Pieces pieces = written_by_piece(scan, shapes, 3);
    return pieces.early.size() + pieces.tasks.size();
  };
  EXPECT_EQ(tasks(town.kit.scan), 1u);
  ScanKit empty;
  EXPECT_EQ(tasks(empty.scan), 0u);
}

// More workers than one could have tasks for.
TEST(ScanJobs, SCAN5_AnyNumberOfWorkers) {
  ScanTown town(12, 1200);
  std::vector<CullShape> shapes = {town.slab(0, 0, 6, kCullPrimary)};
  for (uint8_t phase = 1; phase < 12; ++phase) shapes.push_back(town.slab(phase, 0, 12));
  for (const uint32_t workers : {7u, 63u, 64u, 1000u, 0xFFFFFFFEu}) {
    const Pieces pieces = written_by_piece(town.kit.scan, shapes, workers);
    EXPECT_GE(pieces.early.size() + pieces.tasks.size(), 12u) << workers;
    EXPECT_EQ(town.kit.scan.results().stored, town.total()) << workers;
  }
}

// --- who does it is of no matter -----------------------------------------------------------------------------

std::vector<std::unique_ptr<test::JobKit>> all_job_systems() {
  std::vector<std::unique_ptr<test::JobKit>> out;
  for (const uint32_t workers : {1u, 2u, 3u, 8u}) out.push_back(std::make_unique<test::ThreadKit>(workers, 64));
  out.push_back(std::make_unique<test::ThreadKit>(2, 2));  // a queue so short that jobs run where they are started
#if MERIDIAN_HAS_JOBS_TBB
  out.push_back(std::make_unique<test::TbbKit>(2, 64));
#endif
  return out;
}

std::vector<PvsEntry> in_order(Scan& scan, ScanFrame frame, std::span<const CullShape> shapes, JobSystem& jobs) {
  frame.ordered = true;
  start_scan(scan, frame, shapes, jobs);
  std::vector<PvsEntry> out = test::read_all(scan);
  EXPECT_TRUE(scan.join().ok());
  EXPECT_TRUE(scan.results().complete);
  return out;
}

TEST(ScanJobs, SCAN12_TheSameSetForAnyNumberOfWorkers) {
  const uint32_t seed = std::random_device()();
  const auto systems = all_job_systems();
  for (uint32_t i = 0; i < 12; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    ScanWorld world(seed + i, {}, 80);
    ScanView view;
    random_view(world, view);
    view.frame.ordered = false;
    const std::vector<PvsEntry> expected = world.kit.run(view.frame, view.shapes);
    const std::vector<uint64_t> counters = test::counts_of(world.kit.scan.results().counters);
    const std::vector<PvsEntry> ordered = in_order(world.kit.scan, view.frame, view.shapes, world.kit.jobs);
    EXPECT_EQ(test::by_handle_sorted(ordered), expected);
    for (const auto& system : systems) {
      SCOPED_TRACE(system->jobs().worker_count());
      view.frame.ordered = false;
      ASSERT_EQ(run_scan(world.kit.scan, view.frame, view.shapes, system->jobs()), expected);
      EXPECT_EQ(test::counts_of(world.kit.scan.results().counters), counters);
      ASSERT_EQ(in_order(world.kit.scan, view.frame, view.shapes, system->jobs()), ordered);
    }
  }
}

// Large enough that all workers have their part, and for nodes of both priorities.
TEST(ScanJobs, SCAN12_TheSameOrderForAnyNumberOfWorkers) {
  ScanTown town(10, 1000);
  const CullShape shapes[] = {town.slab(1, 3, 6, kCullPrimary), town.slab(0, 0, 10)};
  const std::vector<PvsEntry> ordered = in_order(town.kit.scan, {}, shapes, town.kit.jobs);
  ASSERT_EQ(ordered.size(), town.total());
  const std::vector<PvsEntry> set = test::by_handle_sorted(ordered);
  for (const auto& system : all_job_systems()) {
    SCOPED_TRACE(system->jobs().worker_count());
    for (int round = 0; round < 5; ++round) {
      ASSERT_EQ(in_order(town.kit.scan, {}, shapes, system->jobs()), ordered);
      ASSERT_EQ(run_scan(town.kit.scan, {}, shapes, system->jobs()), set);
    }
  }
}

// By node, then container, then slot: nodes here by map, slots as blocks have them.
TEST(ScanJobs, SCAN12_OrderIsByNodeThenContainerThenSlot) {
  ScanTown town(6, 900);
  const EntityHandle loose = town.kit.add_cube({1, 1, 0}, 5000);
  const CullShape shapes[] = {town.slab(1, 2, 4, kCullPrimary), town.slab(0, 0, 6)};
  std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 3>> place;  // of each entity
  const ContainerTable& table = town.kit.graph.containers();
  for (uint32_t c = 0; c < table.views.size(); ++c)
    for (uint32_t slot = 0; slot < table.views[c].slots; ++slot) {
      if (!town.kit.graph.is_used({c, slot})) continue;
      const EntityHandle entity = entity_in(table.views[c], slot);
      place[{entity.generation, entity.slot}] = {table.views[c].node, c, slot};
    }
  const std::vector<PvsEntry> ordered = in_order(town.kit.scan, {}, shapes, town.kit.jobs);
  ASSERT_EQ(ordered.size(), town.total() + 1);
  const auto place_of = [&](EntityHandle entity) { return place[{entity.generation, entity.slot}]; };
  for (size_t i = 1; i < ordered.size(); ++i)
    ASSERT_LT(place_of(ordered[i - 1].entity), place_of(ordered[i].entity)) << i;
  const auto node = [&](EntityHandle entity) { return place_of(entity)[0]; };
  EXPECT_EQ(node(loose), 0u) << "the outside comes first";
  EXPECT_EQ(node({.generation = 3, .slot = 7}), town.nodes[2]->index());
}

}  // namespace
}  // namespace meridian
