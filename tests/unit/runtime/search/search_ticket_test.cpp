// SPDX-License-Identifier: MIT
// SRCH-2: searches beside other work, and on several threads at once.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "meridian/scene/scene_graph.h"
#include "support/captured.h"
#include "support/search_worlds.h"
#include "unit/runtime/jobs/job_kit.h"

// Last: compilers' own headers declare its functions otherwise.
#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"

namespace meridian {
namespace {

using test::ContainerKit;
using test::Dice;
using test::PlacedEntity;

constexpr uint32_t kEntities = 6000;

class SearchTicket : public testing::Test {
 protected:
  void SetUp() override {
    Dice dice(20);
    entities_ = test::random_entities(dice, kEntities, {}, 200);
    kit_.add_map(entities_, {.generation = 1, .slot = 0});
    kit_.finish();
    for (int i = 0; i < 24; ++i) {
      queries_.push_back({.volume = test::random_volume(dice, test::kAllKinds[i % 6], entities_, 200)});
      expected_.push_back(test::search_all(kit_, queries_.back()));
    }
  }
  /// As a set: search_all has sorted.
  void expect_found(size_t query, std::span<const EntityHandle> out, const SearchResult& result) const {
    ASSERT_EQ(result.found, expected_[query].size());
    ASSERT_EQ(result.stored, std::min(out.size(), expected_[query].size()));
    std::vector<EntityHandle> found(out.begin(), out.begin() + result.stored);
    std::sort(found.begin(), found.end(), test::by_slot);
    if (result.stored == result.found) {
      ASSERT_EQ(found, expected_[query]);
    }
  }

  std::vector<PlacedEntity> entities_;
  ContainerKit kit_;
  std::vector<EntityQuery> queries_;
  std::vector<std::vector<EntityHandle>> expected_;
};

// The search is locked in, and is_finished tells the truth: with a job system that runs nothing by itself it stays
// false until somebody lets the job run.
TEST_F(SearchTicket, SRCH2_IsFinishedReallyTells) {
  test::SerialKit serial(16);
  Search search;
  EXPECT_FALSE(search.is_started());
  EXPECT_FALSE(search.is_finished());
  std::vector<EntityHandle> out(kEntities);
  ASSERT_TRUE(search.start(kit_, queries_[1], serial.jobs(), out).ok());
  EXPECT_TRUE(search.is_started());
  EXPECT_EQ(kit_.locks(), 1);
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(search.is_finished());
  EXPECT_EQ(serial.jobs_.run_ready(), 1u);
  EXPECT_TRUE(search.is_finished());
  EXPECT_EQ(kit_.locks(), 1) << "locked until finish";
  SearchResult result;
  ASSERT_TRUE(search.finish(result).ok());
  EXPECT_EQ(kit_.locks(), 0);
  EXPECT_FALSE(search.is_started());
  EXPECT_FALSE(search.is_finished());
  expect_found(1, out, result);
}

TEST_F(SearchTicket, SRCH2_FinishDoesTheSearchWhereNoThreadIs) {
  test::SerialKit serial(16);
  Search search;
  std::vector<EntityHandle> out(kEntities);
  for (size_t q = 0; q < queries_.size(); ++q) {  // the same ticket again and again
    ASSERT_TRUE(search.start(kit_, queries_[q], serial.jobs(), out).ok());
    SearchResult result;
    ASSERT_TRUE(search.finish(result).ok());
    expect_found(q, out, result);
  }
  EXPECT_EQ(kit_.locks(), 0);
}

TEST_F(SearchTicket, SRCH2_TheQueryIsCopiedAndASmallSpanFilled) {
  test::SerialKit serial(16);
  Search search;
  EntityQuery all{.volume = sphere_volume({}, 1e6f)};
  const size_t count = test::search_all(kit_, all).size();
  EntityHandle out[4] = {};
  ASSERT_TRUE(search.start(kit_, all, serial.jobs(), std::span(out).first(3)).ok());
  all = {};
  SearchResult result;
  ASSERT_TRUE(search.finish(result).ok());
  EXPECT_EQ(result.found, count);
  EXPECT_EQ(result.stored, 3u);
  EXPECT_TRUE(out[2]);
  EXPECT_FALSE(out[3]);
}

// SRCH-4: refused before anything is locked.
TEST_F(SearchTicket, SRCH4_BadVolumeIsRefusedAndLocksNothing) {
  test::SerialKit serial(16);
  Search search;
  EXPECT_EQ(search.start(kit_, {.volume = sphere_volume({HUGE_VALF, 0, 0}, 1)}, serial.jobs(), {}).code,
            StatusCode::bad_value);
  EXPECT_EQ(kit_.locks(), 0);
  EXPECT_FALSE(search.is_started());
}

TEST_F(SearchTicket, SRCH2_MisuseIsHarmless) {
  test::SerialKit serial(16);
  test::BrokenContracts contracts;
  std::vector<EntityHandle> out(kEntities);
  SearchResult result{7, 7};
  uint32_t broken = 0;
  const auto expect_broken = [&] { EXPECT_EQ(contracts.count(), test::kAsserts ? ++broken : 0u); };
  {
    Search search;
    EXPECT_EQ(search.finish(result).code, StatusCode::not_found);
    expect_broken();
    EXPECT_EQ(result.found + result.stored, 0u);
    ASSERT_TRUE(search.start(kit_, queries_[1], serial.jobs(), out).ok());
    EXPECT_EQ(search.start(kit_, queries_[2], serial.jobs(), {}).code, StatusCode::in_use);
    expect_broken();
    EXPECT_EQ(kit_.locks(), 1);
    ASSERT_TRUE(search.finish(result).ok());
    expect_found(1, out, result);  // the first went on
    EXPECT_EQ(search.finish(result).code, StatusCode::not_found);
    expect_broken();
    EXPECT_EQ(kit_.locks(), 0);
    ASSERT_TRUE(search.start(kit_, queries_[3], serial.jobs(), out).ok());
  }
  expect_broken();  // destroyed while it ran: waited for, and unlocked
  EXPECT_EQ(kit_.locks(), 0);
  const size_t counted = expected_[3].size();
  EXPECT_EQ(std::count_if(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(counted),
                          [](EntityHandle h) { return h.generation == 1; }),
            static_cast<std::ptrdiff_t>(counted));
}

// Several at the same time, with and without threads, finished in another order than started.
TEST_F(SearchTicket, SRCH2_ManyAtTheSameTime) {
  std::vector<std::unique_ptr<test::JobKit>> kits;
  kits.push_back(std::make_unique<test::SerialKit>(4));  // some run where they are started
  kits.push_back(std::make_unique<test::ThreadKit>(3, 64));
#if MERIDIAN_HAS_JOBS_TBB
  kits.push_back(std::make_unique<test::TbbKit>(2, 64));
#endif
  for (const auto& kit : kits) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::unique_ptr<Search>> searches;
      std::vector<std::vector<EntityHandle>> out(queries_.size(), std::vector<EntityHandle>(kEntities));
      for (size_t q = 0; q < queries_.size(); ++q) {
        searches.push_back(std::make_unique<Search>());
        ASSERT_TRUE(searches[q]->start(kit_, queries_[q], kit->jobs(), out[q]).ok());
      }
      EXPECT_EQ(kit_.locks(), static_cast<int>(queries_.size()));
      for (size_t i = queries_.size(); i-- > 0;) {
        const size_t q = i * 7 % queries_.size();
        SearchResult result;
        ASSERT_TRUE(searches[q]->finish(result).ok());
        expect_found(q, out[q], result);
      }
      EXPECT_EQ(kit_.locks(), 0);
    }
  }
}

// search_now takes no lock: four threads, the owner's lock held.
TEST_F(SearchTicket, SRCH2_SearchNowOnFourThreads) {
  kit_.lock();
  std::vector<std::vector<size_t>> counts(4, std::vector<size_t>(queries_.size()));
  {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::vector<EntityHandle> out(kEntities);
        for (size_t i = 0; i < 20 * queries_.size(); ++i) {
          const size_t q = (i + t * 5) % queries_.size();
          SearchResult result;
          if (!search_now(kit_, queries_[q], out, result).ok()) continue;
          std::sort(out.begin(), out.begin() + result.stored, test::by_slot);
          if (std::equal(expected_[q].begin(), expected_[q].end(), out.begin(), out.begin() + result.stored)) {
            ++counts[t][q];
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const auto& of_thread : counts)
    for (const size_t count : of_thread) EXPECT_EQ(count, 20u);
  EXPECT_EQ(kit_.locks(), 1);
  kit_.unlock();
}

// SRCH-1: no memory, whatever the volume.
TEST_F(SearchTicket, SRCH1_SearchesAllocateNothing) {
  std::vector<EntityHandle> out(kEntities);
  const EntityVisitor visitor = [](void*, EntityHandle) { return true; };
  test::SerialKit serial(16);
  Search search;
  bool is_good = true;
  const auto run = [&] {
    for (const EntityQuery& query : queries_) {
      SearchResult result;
      is_good &= search_now(kit_, query, out, result).ok();
      is_good &= search_visit(kit_, query, visitor, nullptr, result).ok();
      is_good &= search.start(kit_, query, serial.jobs(), out).ok();
      is_good &= search.finish(result).ok();
    }
  };
  run();
  const uint64_t before = test::allocation_count();
  run();
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(is_good);
}

// The scene graph itself: start refuses changes, finish lets them through again; a host's entity among those of a map.
TEST(SearchSceneGraph, SRCH2_HoldsTheLockFromStartToFinish) {
  SceneGraph graph;
  ASSERT_TRUE(graph.init({}).ok());
  EntityDesc desc;
  desc.centre = desc.pivot = {5, 5, 5};
  desc.half = {1, 1, 1};
  desc.distance = 100;
  desc.mask = kAllPhasesMask;
  desc.flags = kDescActive;
  constexpr EntityHandle kPlaced{.generation = 3, .slot = 17}, kDriven{.generation = 4, .slot = 18};
  const Result<SceneSlot> placed = graph.insert(*graph.root(), ContainerUse::placed, kPlaced, desc);
  ASSERT_TRUE(placed.ok());
  desc.centre.x = 7;  // side by side
  ASSERT_TRUE(graph.insert(*graph.root(), ContainerUse::dynamic, kDriven, desc).ok());

  test::SerialKit serial(16);
  Search search;
  EntityHandle out[4] = {};
  SearchResult result;
  EntityQuery query{.volume = sphere_volume({6, 5, 5}, 0)};  // where they touch
  ASSERT_TRUE(search.start(graph, query, serial.jobs(), out).ok());
  EXPECT_TRUE(graph.is_locked());
  {
    test::BrokenContracts contracts;
    EXPECT_EQ(graph.erase(placed.value()).code, StatusCode::in_use);
  }
  ASSERT_TRUE(search.finish(result).ok());
  EXPECT_FALSE(graph.is_locked());
  ASSERT_EQ(result.found, 2u);
  std::sort(out, out + 2, test::by_slot);
  EXPECT_EQ(out[0], kPlaced);
  EXPECT_EQ(out[1], kDriven);

  query.movement = Movement::only_dynamic;
  EXPECT_EQ(test::search_all(graph, query), std::vector<EntityHandle>{kDriven});
  query.movement = Movement::any;
  ASSERT_TRUE(graph.erase(placed.value()).ok());
  EXPECT_EQ(test::search_all(graph, query), std::vector<EntityHandle>{kDriven});
}

}  // namespace
}  // namespace meridian
