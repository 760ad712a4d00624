// SPDX-License-Identifier: MIT
// What each JobSystem must do, whatever its threads.
#include "meridian/jobs/job_system.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

enum class Kind { serial, threads, tbb };

struct Under {
  Kind kind;
  uint32_t workers;
  const char* name;
};
void PrintTo(const Under& under, std::ostream* out) { *out << under.name; }

constexpr uint32_t kCapacity = 64;

class JobSystemTest : public testing::TestWithParam<Under> {
 protected:
  static std::unique_ptr<test::JobKit> make(uint32_t capacity = kCapacity) {
    switch (GetParam().kind) {
      case Kind::serial:
        return std::make_unique<test::SerialKit>(capacity);
      case Kind::threads:
        return std::make_unique<test::ThreadKit>(GetParam().workers, capacity);
      case Kind::tbb:
#if MERIDIAN_HAS_JOBS_TBB
        return std::make_unique<test::TbbKit>(GetParam().workers, capacity);
#endif
        break;
    }
    return nullptr;
  }
  std::unique_ptr<test::JobKit> kit_ = make();
  JobSystem& jobs_ = kit_->jobs();
};

TEST_P(JobSystemTest, SaysHowManyWorkersItHas) { EXPECT_EQ(jobs_.worker_count(), GetParam().workers); }

TEST_P(JobSystemTest, EveryIndexOfARangeRunsExactlyOnceInPiecesOfTheGrain) {
  for (const uint32_t count : {1u, 2u, 7u, 64u, 1000u, 4097u}) {
    for (const uint32_t grain : {1u, 3u, 64u, 999u, 5000u, UINT32_MAX}) {
      SCOPED_TRACE(testing::Message() << "count " << count << ", grain " << grain);
      std::vector<std::atomic<uint32_t>> hits(count);
      std::atomic<uint32_t> wrong_pieces{0};
      parallel_for(jobs_, count, grain, [&](uint32_t begin, uint32_t end) {
        const uint64_t wanted_end = std::min<uint64_t>(count, uint64_t{begin} + grain);
        if (begin % grain != 0 || end != wanted_end) ++wrong_pieces;
        for (uint32_t i = begin; i < end && i < count; ++i) ++hits[i];
      });
      EXPECT_EQ(wrong_pieces, 0u);
      EXPECT_TRUE(std::all_of(hits.begin(), hits.end(), [](const auto& hit) { return hit == 1; }));
    }
  }
}

TEST_P(JobSystemTest, ARangeOfNothingStartsNothing) {
  JobCounter counter;
  const auto never = [](void*, uint32_t, uint32_t) { ADD_FAILURE() << "called"; };
  jobs_.parallel_for(0, 1, never, nullptr, JobPriority::high, counter);
  EXPECT_TRUE(counter.is_done());
  EXPECT_FALSE(jobs_.try_run_one(counter));
  jobs_.wait(counter);
  parallel_for(jobs_, 0, 16, [](uint32_t, uint32_t) { ADD_FAILURE() << "called"; });
}

TEST_P(JobSystemTest, AJobGetsItsContextAndRangeAsGiven) {
  struct Seen {
    uint32_t begin = 0;
    uint32_t end = 0;
  } seen;
  JobCounter counter;
  const auto note = [](void* context, uint32_t begin, uint32_t end) { *static_cast<Seen*>(context) = {begin, end}; };
  jobs_.run({note, &seen, 7, 3}, JobPriority::normal, counter);  // not a range; the caller's own two numbers
  jobs_.wait(counter);
  EXPECT_EQ(seen.begin, 7u);
  EXPECT_EQ(seen.end, 3u);
}

TEST_P(JobSystemTest, ACounterServesAgainOnceItIsDone) {
  JobCounter counter;
  std::atomic<uint32_t> ran{0};
  auto body = [&] { ++ran; };
  for (uint32_t round = 1; round <= 200; ++round) {
    test::run(jobs_, body, JobPriority::normal, counter);
    jobs_.wait(counter);
    ASSERT_TRUE(counter.is_done());
    ASSERT_EQ(ran, round);
  }
}

// A tree of jobs that start jobs of the same counter: 2^11 - 1 nodes, more than the queue holds.
TEST_P(JobSystemTest, JobsMayStartJobsOfTheirOwnCounter) {
  struct Tree {
    JobSystem* jobs;
    JobCounter counter;
    std::atomic<uint32_t> visited{0};
    static void visit(void* context, uint32_t depth, uint32_t) {
      auto& tree = *static_cast<Tree*>(context);
      ++tree.visited;
      for (int child = 0; child < 2 && depth < 10; ++child) {
        tree.jobs->run({visit, context, depth + 1}, JobPriority::normal, tree.counter);
      }
    }
  } tree{&jobs_, {}, {}};
  jobs_.run({Tree::visit, &tree, 0}, JobPriority::normal, tree.counter);
  jobs_.wait(tree.counter);
  EXPECT_EQ(tree.visited, 2047u);
}

TEST_P(JobSystemTest, AJobMayRunAndAwaitARange) {
  std::vector<std::atomic<uint32_t>> hits(40 * 50);
  parallel_for(jobs_, 40, 1, [&](uint32_t outer, uint32_t) {
    parallel_for(jobs_, 50, 4, [&](uint32_t begin, uint32_t end) {
      for (uint32_t i = begin; i < end; ++i) ++hits[outer * 50 + i];
    });
  });
  EXPECT_TRUE(std::all_of(hits.begin(), hits.end(), [](const auto& hit) { return hit == 1; }));
}

// The 16th Fibonacci number by jobs that wait for two jobs each; 987 by hand.
TEST_P(JobSystemTest, AJobMayAwaitJobsThatAwaitJobs) {
  struct Term {
    JobSystem* jobs;
    uint32_t value;
    static void compute(void* context, uint32_t n, uint32_t) {
      auto& term = *static_cast<Term*>(context);
      term.value = n;
      if (n < 2) return;
      Term one{term.jobs, 0}, two{term.jobs, 0};
      JobCounter counter;
      term.jobs->run({compute, &one, n - 1}, JobPriority::normal, counter);
      term.jobs->run({compute, &two, n - 2}, JobPriority::low, counter);
      term.jobs->wait(counter);
      term.value = one.value + two.value;
    }
  } term{&jobs_, 0};
  JobCounter counter;
  jobs_.run({Term::compute, &term, 16}, JobPriority::normal, counter);
  jobs_.wait(counter);
  EXPECT_EQ(term.value, 987u);
}

TEST_P(JobSystemTest, HelpingRunsOneJobOfThatCounterAndNoOther) {
  test::Blockade blockade(jobs_);
  std::vector<char> order;
  const std::thread::id self = std::this_thread::get_id();
  auto job_a = [&] { order.push_back('a'); };
  auto job_b = [&] { order.push_back(std::this_thread::get_id() == self ? 'b' : '?'); };
  JobCounter a, b;
  for (int i = 0; i < 2; ++i) {
    test::run(jobs_, job_a, JobPriority::high, a);
    test::run(jobs_, job_b, JobPriority::low, b);
  }
  EXPECT_EQ(a.pending(), 2u);
  EXPECT_TRUE(order.empty());  // nobody waits, so nothing ran
  EXPECT_TRUE(jobs_.try_run_one(b));
  EXPECT_EQ(order, std::vector<char>{'b'});
  EXPECT_EQ(b.pending(), 1u);
  jobs_.wait(b);
  EXPECT_EQ(order, (std::vector<char>{'b', 'b'}));
  EXPECT_FALSE(jobs_.try_run_one(b));
  EXPECT_EQ(a.pending(), 2u);
  jobs_.wait(a);
  EXPECT_EQ(order, (std::vector<char>{'b', 'b', 'a', 'a'}));
}

TEST_P(JobSystemTest, AHelperTakesByPriorityAndThenInTurn) {
  test::Blockade blockade(jobs_);
  std::vector<uint32_t> order;
  const auto note = [](void* context, uint32_t id, uint32_t) {
    static_cast<std::vector<uint32_t>*>(context)->push_back(id);
  };
  JobCounter counter;
  jobs_.run({note, &order, 1}, JobPriority::low, counter);
  jobs_.run({note, &order, 2}, JobPriority::normal, counter);
  jobs_.parallel_for(300, 100, note, &order, JobPriority::high, counter);
  jobs_.run({note, &order, 4}, JobPriority::high, counter);
  jobs_.run({note, &order, 5}, JobPriority::low, counter);
  jobs_.run({note, &order, 6}, JobPriority::normal, counter);
  EXPECT_EQ(counter.pending(), 8u);  // a range counts by pieces
  while (jobs_.try_run_one(counter)) {
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 100, 200, 4, 2, 6, 1, 5}));
}

TEST_P(JobSystemTest, WhatFindsTheQueueFullRunsAtOnce) {
  kit_.reset();  // two at a time would keep each other's threads alive
  kit_ = make(16);
  JobSystem& jobs = kit_->jobs();
  std::atomic<uint32_t> ran{0};
  auto body = [&] { ++ran; };
  JobCounter counter;
  {
    test::Blockade blockade(jobs);  // at most 8 places
    for (int i = 0; i < 100; ++i) test::run(jobs, body, JobPriority::normal, counter);
    EXPECT_GE(ran, 100u - 16);
    EXPECT_LE(ran, 100u - 8);
    const uint32_t before = ran;
    jobs.parallel_for(
        10, 3, [](void* context, uint32_t, uint32_t) { ++*static_cast<std::atomic<uint32_t>*>(context); }, &ran,
        JobPriority::high, counter);
    if (jobs.worker_count() == 0) {
      EXPECT_EQ(ran, before + 4);
    }
  }
  jobs.wait(counter);
  EXPECT_EQ(ran, 104u);
}

// Plain memory: ThreadSanitizer sees whether the counter orders the accesses.
TEST_P(JobSystemTest, WhatAJobWroteIsSeenByWhoSeesItsCounterDone) {
  std::vector<uint32_t> values(1000, 1);
  for (int round = 0; round < 20; ++round) {
    JobCounter counter;
    jobs_.parallel_for(
        1000, 10,
        [](void* context, uint32_t begin, uint32_t end) {
          auto& to = *static_cast<std::vector<uint32_t>*>(context);
          for (uint32_t i = begin; i < end; ++i) to[i] *= 3;
        },
        &values, JobPriority::normal, counter);
    if (round % 2 == 0) {
      jobs_.wait(counter);
    } else {
      // Not waited for, but helped and looked at.
      while (!counter.is_done()) {
        if (!jobs_.try_run_one(counter)) std::this_thread::yield();
      }
    }
    for (uint32_t& value : values) value = value % 1000 + 1;
  }
  uint32_t expected = 1;
  for (int round = 0; round < 20; ++round) expected = expected * 3 % 1000 + 1;
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [&](uint32_t value) { return value == expected; }));
}

// REL-6: sums of floats, whose value depends on the order, by pieces: the same for each number of workers.
TEST_P(JobSystemTest, ResultsAreTheSameForEachNumberOfWorkers) {
  constexpr uint32_t kCount = 10'000, kGrain = 37, kPieces = (kCount + kGrain - 1) / kGrain;
  std::mt19937 random(20240607);
  std::vector<float> values(kCount);
  for (float& value : values) value = static_cast<float>(random() % 1'000'000) * 1e-3f;
  std::vector<float> expected(kPieces, 0.f);
  for (uint32_t i = 0; i < kCount; ++i) expected[i / kGrain] += values[i];
  for (int round = 0; round < 10; ++round) {
    std::vector<float> sums(kPieces, 0.f);
    parallel_for(jobs_, kCount, kGrain, [&](uint32_t begin, uint32_t end) {
      for (uint32_t i = begin; i < end; ++i) sums[begin / kGrain] += values[i];
    });
    ASSERT_EQ(sums, expected);
  }
}

TEST_P(JobSystemTest, SeveralThreadsStartAndWaitAtTheSameTime) {
  std::vector<std::thread> threads;
  std::atomic<uint32_t> right{0};
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t round = 0; round < 100; ++round) {
        std::atomic<uint32_t> sum{0};
        parallel_for(
            jobs_, 100, 1 + round % 7,
            [&](uint32_t begin, uint32_t end) {
              for (uint32_t i = begin; i < end; ++i) sum += i;
            },
            static_cast<JobPriority>((round + t) % 3));
        if (sum == 4950) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400u);
}

// One thread waits asleep for a job that another one holds; that job then starts the last one, which without workers
// only the sleeper can take.
TEST_P(JobSystemTest, AWaiterWakesForAJobThatIsStartedLate) {
  std::atomic<bool> is_running{false}, go_on{false};
  std::atomic<std::thread::id> ran_last{};
  JobCounter counter;
  auto last = [&] { ran_last = std::this_thread::get_id(); };
  auto first = [&] {
    is_running = true;
    while (!go_on) std::this_thread::yield();
    test::run(jobs_, last, JobPriority::normal, counter);
  };
  test::run(jobs_, first, JobPriority::normal, counter);
  std::thread helper([&] { jobs_.try_run_one(counter); });
  while (!is_running) std::this_thread::yield();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    go_on = true;
  });
  jobs_.wait(counter);
  EXPECT_TRUE(counter.is_done());
  EXPECT_NE(ran_last.load(), std::thread::id());
  if (jobs_.worker_count() == 0) {
    EXPECT_EQ(ran_last.load(), std::this_thread::get_id());
  }
  helper.join();
  opener.join();
}

// Random trees of jobs and ranges of all priorities, some waited for inside; each node is counted by hand before.
TEST_P(JobSystemTest, RandomTreesRunCompletely) {
  struct Node {
    std::vector<uint32_t> children;
    uint32_t range = 0;
    bool waits = false;
    JobPriority priority{};
  };
  struct Forest {
    JobSystem* jobs;
    std::vector<Node> nodes;
    JobCounter counter;
    std::atomic<uint64_t> ran{0};
    static void piece(void* context, uint32_t begin, uint32_t end) {
      static_cast<Forest*>(context)->ran += end - begin;
    }
    static void visit(void* context, uint32_t index, uint32_t) {
      auto& forest = *static_cast<Forest*>(context);
      const Node& node = forest.nodes[index];
      ++forest.ran;
      JobCounter own;
      JobCounter& counter = node.waits ? own : forest.counter;
      for (const uint32_t child : node.children) forest.jobs->run({visit, context, child}, node.priority, counter);
      forest.jobs->parallel_for(node.range, 5, piece, context, node.priority, counter);
      forest.jobs->wait(own);
    }
  };
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Forest forest{&jobs_, std::vector<Node>(300), {}, {}};
    uint64_t expected = forest.nodes.size();
    for (uint32_t i = 0; i < forest.nodes.size(); ++i) {
      Node& node = forest.nodes[i];
      node.range = random() % 4 == 0 ? static_cast<uint32_t>(random() % 60) : 0;
      node.waits = random() % 3 == 0;
      node.priority = static_cast<JobPriority>(random() % 3);
      expected += node.range;
      if (i > 0) forest.nodes[random() % i].children.push_back(i);
    }
    jobs_.run({Forest::visit, &forest, 0}, JobPriority::normal, forest.counter);
    jobs_.wait(forest.counter);
    EXPECT_EQ(forest.ran, expected);
  }
}

// The whole program counts, oneTBB's threads too.
TEST_P(JobSystemTest, NothingIsAllocatedOnceAllWorkersHaveCome) {
  test::meet_all_workers(jobs_);
  std::atomic<uint32_t> ran{0};
  auto body = [&] { ++ran; };
  const auto frame = [&] {
    JobCounter counter;
    for (int i = 0; i < 100; ++i) test::run(jobs_, body, static_cast<JobPriority>(i % 3), counter);
    while (jobs_.try_run_one(counter)) {
    }
    jobs_.wait(counter);
    parallel_for(jobs_, 1000, 10, [&](uint32_t begin, uint32_t end) { ran += end - begin; });
  };
  frame();
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) frame();
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(ran, 101u * 1100);
}

std::string name_of(const testing::TestParamInfo<Under>& under) { return under.param.name; }
INSTANTIATE_TEST_SUITE_P(Plain, JobSystemTest,
                         testing::Values(Under{Kind::serial, 0, "Serial"}, Under{Kind::threads, 3, "Threads3"}),
                         name_of);
#if MERIDIAN_HAS_JOBS_TBB
INSTANTIATE_TEST_SUITE_P(Tbb, JobSystemTest,
                         testing::Values(Under{Kind::tbb, 1, "Tbb1"}, Under{Kind::tbb, 2, "Tbb2"},
                                         Under{Kind::tbb, 3, "Tbb3"}, Under{Kind::tbb, 8, "Tbb8"}),
                         name_of);
#endif

}  // namespace
}  // namespace meridian
