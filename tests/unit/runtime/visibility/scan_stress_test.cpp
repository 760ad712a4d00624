// SPDX-License-Identifier: MIT
// REL-2, SG-4, SG-7, SCAN-7, SCAN-12, SCAN-14, SRCH-1: a world in which things come, move and go, maps are loaded and
// unloaded, scans and searches run beside each other on several threads, and a plain list says what they must find.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "meridian/search/search.h"
#include "support/captured.h"
#include "support/scan_oracle.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

using test::ModelEntity;
using test::ScanTally;
using test::ScanView;
using test::ScanWorld;

#ifndef MERIDIAN_SCAN_STRESS_ROUNDS
#define MERIDIAN_SCAN_STRESS_ROUNDS 150
#endif

class Stress {
 public:
  explicit Stress(uint32_t seed) : world_(seed, {}, 80), dice_(world_.dice) {
    EXPECT_TRUE(second_.init(world_.kit.config(), world_.kit.memory).ok());
  }

  /// One change, while nobody reads.
  void change() {
    SceneGraph& graph = world_.kit.graph;
    ModelEntity* const one = any_alone();
    const std::vector<SceneNode*> maps = world_.map_nodes();
    SceneNode* const map = maps.empty() ? nullptr : maps[dice_.below(static_cast<uint32_t>(maps.size()))];
    switch (dice_.below(10)) {
      case 0:
      case 1:
        if (world_.entities.size() > 3000) return;
        return world_.insert(*graph.root(), dice_.chance(0.5) ? ContainerUse::placed : ContainerUse::dynamic);
      case 2:
        if (one == nullptr) return;
        ASSERT_TRUE(graph.erase(one->slot).ok());
        world_.entities.erase(world_.entities.begin() + (one - world_.entities.data()));
        return;
      case 3:
      case 4:
        if (one != nullptr) move(*one);
        return;
      case 5: {
        if (one == nullptr) return;
        const bool is_hidden = dice_.chance(0.5);
        one->desc.alpha = static_cast<uint8_t>(dice_.below(256));
        one->desc.flags = (one->desc.flags & ~uint32_t{kDescHidden}) | (is_hidden ? uint32_t{kDescHidden} : 0u);
        ASSERT_TRUE(graph.set_alpha(one->slot, one->desc.alpha).ok());
        ASSERT_TRUE(graph.set_flags(one->slot, kDescHidden, is_hidden ? uint16_t{kDescHidden} : uint16_t{0}).ok());
        return;
      }
      case 6: {
        if (maps.size() >= 6) return;
        StreamedNode& node = *graph.create_streamed();
        world_.add_map(node, 1 + dice_.below(400));
        ASSERT_TRUE(graph.append(*graph.root(), node).ok());
        ++loads_;
        return;
      }
      case 7:
        if (map != nullptr && !is_pending(*map)) world_.unload(*map);
        return;
      case 8:
        if (map != nullptr && !is_pending(*map) && map->is_in_world()) {
          const bool is_enabled = dice_.chance(0.7);
          ASSERT_TRUE(graph.set_enabled(*map, is_enabled).ok());
          world_.set_in_world(*map, is_enabled);
        }
        return;
      default:
        return world_.change_sets();
    }
  }

  /// Two scans and a search at once, with readers on other threads; meanwhile changes are tried, and refused.
  void read(JobSystem& jobs, test::BrokenContracts& contracts) {
    Scan* const scans[2] = {&world_.kit.scan, &second_};
    ScanView views[2];
    for (ScanView& view : views) random_view(world_, view);
    const bool has_lock = dice_.chance(0.3);
    if (has_lock) world_.kit.graph.lock();
    for (int i = 0; i < 2; ++i) test::start_scan(*scans[i], views[i].frame, views[i].shapes, jobs);
    EntityQuery query;
    query.volume = sphere_volume(view_place(world_), dice_.number(1, 100));
    Search search;
    std::vector<EntityHandle> found(8192);
    ASSERT_TRUE(search.start(world_.kit.graph, query, jobs, found).ok());

    std::vector<PvsEntry> elsewhere[2];
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) readers.emplace_back([&, i] { elsewhere[i] = test::read_all(*scans[i]); });
    contracts.take();
    const std::vector<ModelEntity> then = world_.entities;
    try_changes();
    EXPECT_TRUE(broke(contracts, refusals_));
    load_beside_readers();
    std::vector<PvsEntry> here[2];
    for (int i = 1; i >= 0; --i) here[i] = test::read_all(*scans[i]);
    SearchResult result;
    ASSERT_TRUE(search.finish(result).ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(scans[i]->join().ok());
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(world_.kit.graph.is_locked(), has_lock);
    if (has_lock) world_.kit.graph.unlock();

    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(scans[i]->results().complete);
      ASSERT_EQ(test::by_handle_sorted(elsewhere[i]), test::by_handle_sorted(here[i]));
      compare(then, views[i], *scans[i], here[i], tally);
    }
    compare_search(then, query, std::span(found).first(result.stored));
    if (pending_ != nullptr) {
      ASSERT_TRUE(world_.kit.graph.append(*world_.kit.graph.root(), *pending_).ok());
      world_.set_in_world(*pending_, true);
      pending_ = nullptr;
      ++loads_;
    }
  }

  ScanTally tally;
  uint64_t searched = 0;
  uint32_t loads() const { return loads_; }

 private:
  ModelEntity* any_alone() {
    std::vector<ModelEntity*> alone;
    for (ModelEntity& e : world_.entities)
      if (e.slot) alone.push_back(&e);
    return alone.empty() ? nullptr : alone[dice_.below(static_cast<uint32_t>(alone.size()))];
  }
  bool is_pending(const SceneNode& node) const { return &node == pending_; }
  void move(ModelEntity& one) {
    EntityDesc desc = world_.random_desc();
    ASSERT_TRUE(world_.kit.graph.write(one.slot, desc).ok());
    one.desc = test::Stored(desc, one.slot.slot).desc;
    test::set_box(one);
  }

  void try_changes() {
    SceneGraph& graph = world_.kit.graph;
    refusals_ = 0;
    const auto expect_refused = [this](StatusCode code) {
      EXPECT_EQ(code, StatusCode::in_use);
      ++refusals_;
    };
    expect_refused(graph.insert(*graph.root(), ContainerUse::placed, {1, 1}, test::cube_at({})).status().code);
    // What stands outside of the world may be changed all the same, and is left alone here.
    if (const ModelEntity* const one = any_alone(); one != nullptr && one->is_in_world) {
      expect_refused(graph.erase(one->slot).code);
      expect_refused(graph.write(one->slot, test::cube_at({})).code);
      expect_refused(graph.set_alpha(one->slot, 3).code);
    }
    for (SceneNode* const map : world_.map_nodes())
      if (map->is_in_world()) expect_refused(graph.destroy(*map).code);
  }
  /// A map outside of the world may be made and filled while others read.
  void load_beside_readers() {
    if (pending_ != nullptr || world_.map_nodes().size() >= 6 || !dice_.chance(0.5)) return;
    pending_ = world_.kit.graph.create_streamed();
    world_.add_map(*pending_, 1 + dice_.below(200), /*is_in_world=*/false, /*has_sets=*/false);
  }

  void compare_search(const std::vector<ModelEntity>& then, const EntityQuery& query, std::span<EntityHandle> found) {
    std::sort(found.begin(), found.end(), test::by_slot);
    for (const ModelEntity& e : then) {
      const bool is_found = std::binary_search(found.begin(), found.end(), e.handle, test::by_slot);
      if (!e.is_in_world || e.desc.distance == 0) {
        ASSERT_FALSE(is_found);
        continue;
      }
      const EntityDesc& d = e.desc;
      const test::Answer answer = test::answer(query.volume, {d.centre - d.half, d.centre + d.half});
      if (answer != test::Answer::either) {
        ASSERT_EQ(is_found, answer == test::Answer::in) << text_of(e);
      }
      searched += is_found ? 1 : 0;
    }
    ASSERT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end());
  }

  ScanWorld world_;
  test::Dice& dice_;
  Scan second_;
  SceneNode* pending_ = nullptr;  // made while it was locked
  size_t refusals_ = 0;
  uint32_t loads_ = 0;
};

TEST(ScanStress, REL2_AnythingInAnyOrderOnAnyNumberOfThreads) {
  const uint32_t seed = std::random_device()();
  test::BrokenContracts contracts;
  for (const uint32_t workers : {0u, 1u, 3u}) {
    SCOPED_TRACE("seed " + std::to_string(seed + workers) + ", workers " + std::to_string(workers));
    test::ThreadKit threads(workers, 64);
    Stress stress(seed + workers);
    for (int round = 0; round < MERIDIAN_SCAN_STRESS_ROUNDS && !HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      for (int i = 0; i < 8; ++i) stress.change();
      stress.read(threads.jobs(), contracts);
    }
    EXPECT_GT(stress.tally.seen, stress.tally.entities / 50);
    EXPECT_GT(stress.tally.exact_alphas, stress.tally.loose_alphas * 20);
    EXPECT_GT(stress.searched, uint64_t{MERIDIAN_SCAN_STRESS_ROUNDS});
    EXPECT_GT(stress.loads(), 5u);
  }
  contracts.take();
}

}  // namespace
}  // namespace meridian
