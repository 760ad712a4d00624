// SPDX-License-Identifier: MIT
// MDS-2, MDS-3, MDS-5, P064, P089, P092: swaps, new versions, hours and cameras at random, with faults, against a plain
// model of what must be seen. At each update no map is seen in two versions, no pair with both sides, and none without
// a side that had one; versions never go back. Whenever all has settled, what is seen is what the model says, and all
// that readers know is as in a world that loaded the same files once.
#include <gtest/gtest.h>

#include <random>

#include "unit/runtime/map/reload_kit.h"

namespace meridian {
namespace {

using test::MapText;
using test::ReloadKit;
using test::Seen;
using test::TypesText;

constexpr NameHash kProps = hash_name("props");
constexpr int kPairs = 3;
constexpr uint32_t kNight = 0x3F;  // 0:00 to 6:00

TypesText props(uint32_t version) {
  const auto n = static_cast<float>(version % 50);
  return {.name = "props", .archetypes = {{"stone", 100 + n, 0, 1 + n / 50}, {"tower", 400 + n, 0, 2}}};
}

/// What a file of a map says in a version.
MapText text_of(const std::string& name, uint32_t version, bool is_manual) {
  static std::set<std::string> names;  // texts point at names
  MapText out{.name = names.insert(name).first->c_str(), .version = version, .is_manual = is_manual};
  const int count = 1 + static_cast<int>(version % 5);
  const bool is_child = name[0] == 'a' || name[0] == 'b';
  if (is_child) out.parent = "far";
  if (name == "far") {
    const auto at = static_cast<float>(version);
    out.range = 900;
    out.entities = {{"tower", {at, 0, 0}, -1, 99, 60 + at}};
    // As many as the linker knew of: fewer are never waited for.
    out.sets = {{0, 60 + at, {{"a0", 1}, {"a1", 1}, {"a2", 1}, {"b0", 1}, {"b1", 1}, {"b2", 1}}}};
    return out;
  }
  for (int i = 0; i < count; ++i) out.entities.push_back({"stone", {static_cast<float>(i), 0, 0}, is_child ? 0 : -1});
  return out;
}

/// All that the model knows of a map.
struct Modelled {
  bool is_manual = false;
  uint32_t file = 1;    ///< version of the file
  uint32_t loaded = 1;  ///< version that is, or will be, in the world
};

class RandomReloads {
 public:
  explicit RandomReloads(uint32_t seed) : random_(seed) {
    for (int i = 0; i < kPairs; ++i) {
      add("a" + std::to_string(i), false);
      add("b" + std::to_string(i), true);
    }
    add("c", false);
    add("night", false);
    add("far", false);
    fill(kit_, types_loaded_);
    kit_.start();
    settle();
  }

  void run(int epochs) {
    for (int epoch = 0; epoch < epochs && !testing::Test::HasFailure(); ++epoch) {
      SCOPED_TRACE("epoch " + std::to_string(epoch));
      moves_camera_ = below(3) == 0;
      has_faults_ = !moves_camera_ && below(2) == 0;
      touched_.clear();
      are_types_touched_ = false;
      for (uint32_t ops = below(14); ops > 0; --ops) {
        act();
        for (uint32_t updates = below(4); updates > 0; --updates) update();
      }
      settle();
      check_settled(epoch % 5 == 0);
    }
  }

 private:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  void add(const std::string& name, bool is_manual) { model_[name].is_manual = is_manual; }
  void fill(ReloadKit& kit, uint32_t types) const {
    kit.types(props(types));
    for (const auto& [name, map] : model_) kit.map(text_of(name, map.loaded, map.is_manual));
    kit.group({.name = "nights", .maps = {"night"}, .hours = kNight});
  }
  MapStore& store() { return kit_.streaming.maps(); }
  MapGroups& groups() { return kit_.streaming.groups(); }

  // --- what happens ---

  void act() {
    switch (below(has_faults_ ? 10u : 8u)) {
      case 0:
      case 1:
        return begin_swap();
      case 2:
        return abort_or_commit();
      case 3:
      case 4:
        return reload(false);
      case 5:
        return reload_types(false);
      case 6:
        hour_ = below(24);
        EXPECT_TRUE(kit_.streaming.set_hour(hour_).ok());
        return;
      case 7:
        if (moves_camera_) kit_.camera.position = below(2) == 0 ? Vec3{} : Vec3{5000, 0, 0};
        kit_.io.holds = below(2) == 0;
        kit_.max_chunks = below(3) == 0 ? 0xFFFFFFFF : 1 + below(3);
        return;
      case 8:
        return below(3) == 0 ? reload_types(true) : reload(true);
      default:
        kit_.io.fail();
    }
  }

  void begin_swap() {
    const int pair = static_cast<int>(below(kPairs));
    std::string from = "a" + std::to_string(pair), to = "b" + std::to_string(pair);
    if (is_b_[pair]) std::swap(from, to);
    if (swaps_.contains(pair)) return;
    const bool waits = below(3) == 0;
    if (has_faults_) {  // its bytes are no longer there, and its read may fail
      kit_.streaming.engine().reload(kit_.index(to.c_str()));
      unsure_.insert(to);
      kit_.io.holds = true;
    }
    const auto swap = kit_.streaming.begin_swap(hash_name(from), hash_name(to), {.waits = waits});
    ASSERT_TRUE(swap.ok()) << swap.status().message;
    swaps_[pair] = swap.value();
  }
  void abort_or_commit() {
    if (swaps_.empty()) return;
    const auto at = std::next(swaps_.begin(), below(static_cast<uint32_t>(swaps_.size())));
    if (below(2) == 0) {
      (void)kit_.streaming.abort_swap(at->second);
    } else {
      (void)groups().commit_swap(at->second);
    }
  }
  void reload(bool is_bad) {
    const auto at = std::next(model_.begin(), below(static_cast<uint32_t>(model_.size())));
    const auto& [name, map] = *at;
    // Of one that is not there, and is damaged, there would be nothing to see: that is another test's.
    if (!touched_.insert(name).second || (is_bad && !kit_.sees(name.c_str()))) return;
    if (map.file == 63) return;
    Modelled& m = at->second;
    kit_.map(text_of(name, ++m.file, m.is_manual));
    if (is_bad) kit_.damage_map(name.c_str());
    if (is_bad) bad_.insert(name);
    const Status s = kit_.streaming.reload_map(hash_name(name));
    if (s.ok()) {
      reloaded_.insert(name);
    } else {
      EXPECT_EQ(s.code, StatusCode::in_use);
      missed_.insert(name);  // the file is another one, and nobody reads it, unless it is not there
    }
  }
  void reload_types(bool is_bad) {
    if (are_types_touched_) return;
    are_types_touched_ = true;
    kit_.types(props(++types_file_));
    if (is_bad) kit_.damage_types("props");
    if (is_bad && !kit_.streaming.engine().is_loaded(kit_.streaming.types().find_index(kProps))) {
      kit_.types(props(types_file_));
      is_bad = false;
    }
    are_types_bad_ = is_bad;
    EXPECT_TRUE(kit_.streaming.reload_types(kProps).ok());
  }

  // --- what must be at each update ---

  void update() {
    const Seen before = kit_.seen();
    const Vec3 was_at = last_camera_;
    kit_.update();
    last_camera_ = kit_.camera.position;
    const Seen now = kit_.seen();
    for (const auto& [name, map] : model_) {
      EXPECT_LE(now.count(name), 1u) << name << " is seen twice";
      if (!now.contains(name)) continue;
      const uint32_t version = now.find(name)->second;
      EXPECT_GE(version, newest_seen_[name]) << name << " is as it was before";
      newest_seen_[name] = version;
    }
    const bool stays = was_at.x == 0 && kit_.camera.position.x == 0;
    for (int i = 0; i < kPairs; ++i) {
      const std::string a = "a" + std::to_string(i), b = "b" + std::to_string(i);
      EXPECT_FALSE(now.contains(a) && now.contains(b)) << "both sides of " << i;
      const bool had_one = before.contains(a) || before.contains(b);
      EXPECT_TRUE(!stays || !had_one || now.contains(a) || now.contains(b)) << "neither side of " << i;
    }
    for (const char* const name : {"c", "far"}) {
      EXPECT_TRUE(!stays || !before.contains(name) || now.contains(name)) << name << " is gone";
    }
  }

  // --- what must be in the end ---

  void settle() {
    kit_.io.holds = false;
    kit_.max_chunks = 0xFFFFFFFF;
    for (int i = 0; i < 30; ++i) update();
  }

  void check_settled(bool compares_worlds) {
    for (auto at = swaps_.begin(); at != swaps_.end();) {
      const auto [pair, swap] = *at;
      const SwapState state = groups().swap_state(swap);
      if (state == SwapState::ready) {
        ++at;
        continue;
      }
      EXPECT_TRUE(state == SwapState::swapped || state == SwapState::aborted ||
                  (state == SwapState::failed && has_faults_))
          << to_string(state);
      if (state == SwapState::swapped) is_b_[pair] = !is_b_[pair];
      ++ended[static_cast<unsigned>(state)];
      EXPECT_TRUE(groups().end_swap(swap).ok());
      at = swaps_.erase(at);
    }
    EXPECT_EQ(store().reloads_under_way(), 0u);
    const bool is_near = kit_.camera.position.x == 0;
    Seen expected;
    const Seen seen = kit_.seen();
    for (auto& [name, map] : model_) {
      if (bad_.contains(name)) {  // mended now, but nobody said so
        kit_.map(text_of(name, map.file, map.is_manual));
      } else if (reloaded_.contains(name) && !has_faults_) {
        map.loaded = map.file;
      }
      bool is_there = is_near;
      if (name[0] == 'a' || (name[0] == 'b')) is_there = is_near && is_b_[name[1] - '0'] == (name[0] == 'b');
      if (name == "night") is_there = is_near && (kNight >> hour_ & 1) != 0;
      if (!is_there) continue;
      // Where reads failed, or nobody heard that a file changed, either version may be there.
      const auto found = seen.find(name);
      const bool either = has_faults_ || missed_.contains(name) || unsure_.contains(name);
      if (either && found != seen.end() && found->second <= map.file) map.loaded = found->second;
      if (!has_faults_) unsure_.erase(name);
      expected.emplace(name, map.loaded);
    }
    EXPECT_EQ(seen, expected);
    for (const auto& [name, map] : model_) {
      // What changed unseen is known when it is seen.
      const bool changed = bad_.contains(name) || reloaded_.contains(name) || missed_.contains(name);
      if (changed && !seen.contains(name)) unsure_.insert(name);
    }
    reloaded_.clear();
    missed_.clear();
    bad_.clear();
    if (are_types_bad_) kit_.types(props(types_file_));
    are_types_bad_ = false;
    const Archetype* const stone = kit_.archetypes.find(hash_name("stone"));
    if (stone != nullptr) {
      EXPECT_TRUE(stone->traits().lod_distance == 100 + static_cast<float>(types_file_ % 50) || has_faults_ ||
                  stone->traits().lod_distance == 100 + static_cast<float>(types_loaded_ % 50));
      for (uint32_t v = types_loaded_; v <= types_file_; ++v) {
        if (stone->traits().lod_distance == 100 + static_cast<float>(v % 50)) types_loaded_ = v;
      }
    }
    if (compares_worlds && is_near && swaps_.empty()) compare_worlds();
  }

  /// With one that loaded the same files once.
  void compare_worlds() {
    ReloadKit fresh;
    fill(fresh, types_loaded_);
    fresh.start();
    for (int i = 0; i < kPairs; ++i) {
      const std::string a = "a" + std::to_string(i), b = "b" + std::to_string(i);
      if (!is_b_[i]) continue;
      fresh.streaming.maps().set_off(fresh.slot(a.c_str()), MapOff::swapped_out, true);
      fresh.streaming.maps().set_off(fresh.slot(b.c_str()), MapOff::manual, false);
    }
    EXPECT_TRUE(fresh.streaming.set_hour(hour_).ok());
    fresh.settle(20);
    EXPECT_EQ(kit_.picture(), fresh.picture());
    EXPECT_EQ(kit_.maps.loaded_maps(), fresh.maps.loaded_maps());
    EXPECT_EQ(kit_.graph.used_containers(), fresh.graph.used_containers());
    EXPECT_EQ(kit_.maps.lod_sets().used(), fresh.maps.lod_sets().used());
    EXPECT_EQ(kit_.table.groups(), fresh.table.groups());
    EXPECT_EQ(kit_.archetypes.streamed_used(), fresh.archetypes.streamed_used());
    EXPECT_EQ(kit_.streaming.maps().used(), fresh.streaming.maps().used());
    EXPECT_EQ(kit_.streaming.types().used(), fresh.streaming.types().used());
    ++compared;
  }

  std::mt19937 random_;
  std::map<std::string, Modelled> model_;
  std::map<std::string, uint32_t> newest_seen_;
  std::map<int, uint32_t> swaps_;  // under way, by pair
  bool is_b_[kPairs] = {};         // which side stands
  std::set<std::string> touched_, reloaded_, bad_, missed_, unsure_;
  uint32_t types_file_ = 1, types_loaded_ = 1, hour_ = 12;
  bool moves_camera_ = false, has_faults_ = false, are_types_touched_ = false, are_types_bad_ = false;
  Vec3 last_camera_{};
  ReloadKit kit_;

 public:
  uint64_t done() { return store().reloads_done(); }
  uint64_t failed() { return store().reloads_failed(); }
  uint32_t types_loaded() const { return types_loaded_; }
  int compared = 0;
  int ended[6] = {};  ///< swaps, by state
};

TEST(MapReloadRandom, SwapsAndVersionsAgainstAPlainModel) {
  const test::CapturedLog log;
  uint64_t done = 0, failed = 0, types = 0;
  int compared = 0, ended[6] = {};
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomReloads run(seed);
    run.run(60);
    if (testing::Test::HasFailure()) return;
    done += run.done();
    failed += run.failed();
    types += run.types_loaded() - 1;
    compared += run.compared;
    for (int i = 0; i < 6; ++i) ended[i] += run.ended[i];
  }
  // All of it came to pass, often.
  EXPECT_GT(done, 300u);
  EXPECT_GT(failed, 30u);
  EXPECT_GT(types, 100u);
  EXPECT_GT(compared, 30);
  EXPECT_GT(ended[static_cast<unsigned>(SwapState::swapped)], 100);
  EXPECT_GT(ended[static_cast<unsigned>(SwapState::aborted)], 30);
  EXPECT_GT(ended[static_cast<unsigned>(SwapState::failed)], 5);
}

}  // namespace
}  // namespace meridian
