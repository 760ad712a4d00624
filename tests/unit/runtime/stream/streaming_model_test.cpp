// SPDX-License-Identifier: MIT
// The engine against a plain model, at random: P067 (one live copy, the last call counts), P068 and STR-9 (budgets),
// STR-1 (states), STR-2 (dependencies), STR-3 (references, nothing that is needed is removed), STR-5 (cancelling),
// STR-6 (unmounting), STR-7 (statistics), REL-2 (with threads).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/stream/streaming.h"
#include "meridian/stream/thread_io.h"
#include "support/captured.h"
#include "support/stream_kit.h"

namespace meridian {
namespace {

using test::ManualIo;
using test::StreamKit;
using test::StreamThing;
using test::StreamThings;

struct Shape {
  uint32_t types = 1, maps = 2;  ///< slots; the last map is a dummy that only comes and goes
  bool has_limits = true;
};

/// What was asked of each slot, by the header's words.
struct Wish {
  std::array<bool, kStreamKeepers> keepers{};
  std::array<uint32_t, kStreamRefs> refs{};
  bool is_asked = false;      ///< for certain
  bool may_be_asked = false;  ///< it was asked for while it was leaving: it may count as loaded or not
  uint32_t placed = 0;

  bool is_kept() const { return std::find(keepers.begin(), keepers.end(), true) != keepers.end(); }
  uint32_t all_refs() const { return refs[0] + refs[1] + refs[2] + refs[3]; }
};

class RandomRun {
 public:
  RandomRun(const Shape& shape, uint64_t seed, StreamIo& io, ManualIo* manual)
      : random_(seed),
        manual_(manual),
        kit_({.io = &io,
              .max_resident = shape.has_limits ? (shape.types + shape.maps) * 2 / 3 + 1 : 1000,
              .max_in_flight = 3,
              .retry = {.io_retries = 2, .first_pause = 0.2f}}),
        types_(kit_.add("Types", {.slots = shape.types}, "types")),
        maps_(kit_.add("Maps", {.slots = shape.maps, .leaves_at_once = true}, "map")),
        has_limits_(shape.has_limits) {
    kit_.start();
    const uint32_t count = shape.types + shape.maps;
    wishes_.resize(count);
    sizes_.resize(count);
    StreamKit::Entries base, patch, copied;
    for (uint32_t i = 0; i < count; ++i) {
      StreamThing& t = thing(i);
      sizes_[i] = 32 + random_.below(200);
      t.cost = {.bytes = 0, .entities = random_.below(8), .descriptors = random_.below(4)};
      t.distance = random_.chance(0.2f) ? std::numeric_limits<float>::infinity() : random_.between(0.f, 500.f);
      t.chunks = 1 + random_.below(3);
      const bool is_map = i >= shape.types;
      t.is_dummy = i + 1 == count || (!is_map && random_.chance(0.2f));
      if (i + 1 == count) {
        t.cost = {};
        t.chunks = 1;
        break;
      }
      for (uint32_t d = is_map ? random_.below(4) : random_.below(2); d > 0; --d) {
        const uint32_t below = is_map ? shape.types : i;
        if (below > 0) t.on.push_back({random_.below(below), random_.chance(0.1f)});
      }
      if (i > shape.types && random_.chance(0.3f)) {
        t.on.push_back({shape.types + random_.below(i - shape.types), true});  // its parent
      }
      if (t.is_dummy) continue;
      t.text = StreamKit::bytes_for(t.name, sizes_[i]);
      (random_.chance(0.5f) ? base : copied).emplace_back(t.name, t.text);
      if (random_.chance(0.4f)) patch.emplace_back(t.name, t.text);
    }
    kit_.mount(base);
    kit_.mount(copied, false);
    patch_ = patch;
    patch_.emplace_back("no slot's", "x");
    patch_id_ = kit_.mount(patch_);
  }

  void steps(uint32_t number) {
    for (uint32_t i = 0; i < number && !testing::Test::HasFatalFailure() && !testing::Test::HasNonfatalFailure(); ++i) {
      SCOPED_TRACE(testing::Message() << "step " << i);
      step();
      check();
      if (i % 400 == 399) come_to_rest();
      if (i % 400 == 199) one_alone();
    }
  }
  void shut_down() {
    for (uint32_t i = 0; i < count(); ++i) thing(i).removes.clear();  // the world is not locked
    engine().shutdown();
  }

 private:
  uint32_t count() const { return static_cast<uint32_t>(wishes_.size()); }
  StreamThing& thing(uint32_t i) { return i < types_.size() ? types_.at(i) : maps_.at(i - types_.size()); }
  bool is_map(uint32_t i) const { return i >= types_.size(); }
  StreamingEngine& engine() { return kit_.engine; }
  StreamState state(uint32_t i) { return kit_.engine.state(i); }

  void step() {
    const uint32_t i = random_.below(count());
    Wish& w = wishes_[i];
    const auto keeper = random_.below(kStreamKeepers);
    const auto ref = random_.below(kStreamRefs);
    switch (random_.below(24)) {
      case 0:
      case 1:
      case 2:
        engine().keep(i, static_cast<StreamKeeper>(keeper), random_.chance(0.2f));
        w.keepers[keeper] = true;
        return;
      case 3:
      case 4:
      case 5:
        engine().drop(i, static_cast<StreamKeeper>(keeper));
        w.keepers[keeper] = false;
        return;
      case 6: {
        const StreamState before = state(i);
        engine().request(i, random_.chance(0.2f));
        if (before == StreamState::leaving) w.may_be_asked = true;
        if (before != StreamState::leaving && before != StreamState::loaded) w.is_asked = true;
        return;
      }
      case 7:
        engine().cancel(i);
        w.is_asked = w.may_be_asked = false;
        return;
      case 8:
        if (state(i) != StreamState::loaded) return;
        engine().add_ref(i, static_cast<StreamRef>(ref));
        ++w.refs[ref];
        return;
      case 9:
      case 10:
        if (w.refs[ref] == 0) return;
        engine().remove_ref(i, static_cast<StreamRef>(ref));
        --w.refs[ref];
        return;
      case 11:
        if (random_.chance(0.3f)) engine().reload(i);
        return;
      case 12:
        script(i);
        return;
      case 13:
        if (has_limits_ && random_.chance(0.3f)) limit();
        return;
      case 14:
        if (random_.chance(0.1f)) swap_patch();
        return;
      case 15:
        thing(i).distance = random_.between(0.f, 500.f);
        return;
      case 16:
        if (random_.chance(0.1f)) engine().retry_failed();
        return;
      case 17:
      case 18:
      case 19:
        complete_some();
        return;
      default:
        update(random_.chance(0.5f) ? random_.below(4) : 1000);
        return;
    }
  }

  void script(uint32_t i) {
    static constexpr StreamStep::Kind kOdd[] = {StreamStep::Kind::blocked, StreamStep::Kind::full,
                                                StreamStep::Kind::failed, StreamStep::Kind::blocked};
    if (i + 1 == count()) return;
    StreamThing& t = thing(i);
    if (random_.chance(0.3f)) {
      t.removes.push_back(StreamStep::Kind::blocked);
    } else if (t.places.empty()) {
      t.places.push_back(kOdd[random_.below(4)]);
    }
    if (manual_ != nullptr && random_.chance(0.1f)) t.prepared = StatusCode::bad_structure;
  }

  void limit() {
    StreamBudget budget;
    if (random_.chance(0.7f)) budget.bytes = 200 + random_.below(4000);
    if (random_.chance(0.5f)) budget.entities = 10 + random_.below(100);
    if (random_.chance(0.5f)) budget.descriptors = 5 + random_.below(50);
    engine().set_budget(budget);
    engine().set_max_loaded(1, random_.chance(0.5f) ? 1 + random_.below(maps_.size()) : 0);
    engine().set_max_loaded(0, random_.chance(0.5f) ? 3 + random_.below(types_.size()) : 0);
  }

  /// Begins to unmount, or mounts again.
  void swap_patch() {
    if (is_unmounting_) return;
    if (patch_id_) {
      is_unmounting_ = true;
      hide(patch_id_);
    } else {
      patch_id_ = kit_.mount(patch_);
      engine().retry_failed();
    }
  }
  void hide(MountId id) {
    types_.hide(id);
    maps_.hide(id);
  }
  void unmount_if_empty() {
    if (!is_unmounting_ || !engine().evacuate(patch_id_)) return;
    const Status status = kit_.mounts.unmount(patch_id_);
    EXPECT_TRUE(status.ok()) << status.message;
    hide({});
    patch_id_ = {};
    is_unmounting_ = false;
  }

  void complete_some() {
    if (manual_ == nullptr) return;
    for (uint32_t n = random_.below(3); n > 0 && manual_->count() > 0; --n) {
      const uint32_t at = random_.below(static_cast<uint32_t>(manual_->count()));
      if (random_.chance(0.15f)) {
        manual_->fail_at(at);
      } else {
        manual_->finish_at(at);
      }
    }
  }

  void update(uint32_t chunks) {
    const StreamProgress progress = engine().update({.seconds = 0.1f, .max_chunks = chunks});
    EXPECT_LE(progress.chunks, chunks);  // STR-4
    unmount_if_empty();
    for (uint32_t i = 0; i < count(); ++i) {
      if (thing(i).placed != wishes_[i].placed) wishes_[i].is_asked = wishes_[i].may_be_asked = false;
      wishes_[i].placed = thing(i).placed;
    }
  }

  /// Somebody who is on the way or there depends on it.
  bool has_dependants(uint32_t index) {
    for (uint32_t i = 0; i < count(); ++i) {
      if (state(i) == StreamState::not_loaded || state(i) == StreamState::failed) continue;
      for (const StreamDependency& on : thing(i).on) {
        if (on.index == index && i != index) return true;
      }
    }
    return false;
  }

  void check() {
    struct Sum {
      uint32_t loaded = 0, requested = 0, loading = 0, failed = 0, cached = 0, counted = 0;
      uint64_t bytes = 0;
    } sums[2];
    uint64_t entities = 0, descriptors = 0, bytes = 0;
    for (uint32_t i = 0; i < count(); ++i) {
      SCOPED_TRACE(thing(i).name);
      const StreamThing& t = thing(i);
      const StreamState now = state(i);
      Sum& sum = sums[is_map(i) ? 1 : 0];
      sum.loaded += now == StreamState::loaded;
      sum.requested += now == StreamState::requested;
      sum.loading += now == StreamState::loading;
      sum.failed += now == StreamState::failed;
      EXPECT_EQ(t.told, now);
      // STR-1, P067: what is there is in one state only.
      if (now == StreamState::loaded) {
        EXPECT_TRUE(t.is_live);
      }
      if (t.is_live) {
        EXPECT_TRUE(now == StreamState::loaded || now == StreamState::leaving) << to_string(now);
      }
      if (t.half > 0) {
        EXPECT_TRUE(now == StreamState::loading || now == StreamState::leaving) << to_string(now);
      }
      // STR-2
      for (const StreamDependency& on : t.on) {
        if (!on.soft && (t.is_live || t.half > 0)) {
          EXPECT_TRUE(thing(on.index).is_live);
        }
        if (!on.soft && now == StreamState::loaded) {
          EXPECT_EQ(state(on.index), StreamState::loaded);
        }
      }
      const bool counts = now == StreamState::loading || now == StreamState::loaded || now == StreamState::leaving;
      const bool has_bytes = !engine().bytes_of(i).empty();
      if (counts) {
        entities += t.cost.entities;
        descriptors += t.cost.descriptors;
        ++sum.counted;
      }
      if (!t.is_dummy && (has_bytes || now == StreamState::loading)) sum.bytes += sizes_[i];
      if (has_bytes && now == StreamState::not_loaded) ++sum.cached;
      if (now == StreamState::loaded && !t.is_dummy) {
        EXPECT_TRUE(has_bytes);
      }
      if (now == StreamState::failed) {
        EXPECT_FALSE(has_bytes);
      }
      // Wishes.
      const Wish& w = wishes_[i];
      for (uint32_t k = 0; k < kStreamKeepers; ++k) {
        EXPECT_EQ(engine().is_kept(i, static_cast<StreamKeeper>(k)), w.keepers[k]);
      }
      for (uint32_t k = 0; k < kStreamRefs; ++k) EXPECT_EQ(engine().refs(i, static_cast<StreamRef>(k)), w.refs[k]);
      if (w.all_refs() > 0) {
        EXPECT_TRUE(t.is_live);  // STR-3
      }
      if (w.is_kept() || w.is_asked || w.all_refs() > 0) {
        EXPECT_NE(now, StreamState::not_loaded);
      }
      if (!w.is_kept() && !w.is_asked && !w.may_be_asked && w.all_refs() == 0 && !has_dependants(i)) {
        EXPECT_NE(now, StreamState::requested);
        if (is_map(i)) {
          EXPECT_NE(now, StreamState::loaded);
        }
      }
    }
    for (uint32_t m = 0; m < 2; ++m) {  // STR-7
      SCOPED_TRACE(testing::Message() << "module " << m);
      const StreamModuleStatistics& told = engine().statistics(m);
      EXPECT_EQ(told.loaded, sums[m].loaded);
      EXPECT_EQ(told.requested, sums[m].requested);
      EXPECT_EQ(told.loading, sums[m].loading);
      EXPECT_EQ(told.failed, sums[m].failed);
      EXPECT_EQ(told.cached, sums[m].cached);
      EXPECT_EQ(told.bytes, sums[m].bytes);
      bytes += sums[m].bytes;
      uint64_t placed = 0;
      for (uint32_t i = 0; i < count(); ++i) placed += is_map(i) == (m == 1) ? thing(i).placed : 0;
      EXPECT_EQ(told.placed, placed);
    }
    EXPECT_EQ(engine().resident_bytes(), bytes);
    EXPECT_EQ(engine().resident_entities(), entities);
    // STR-9: never above a budget, but for what was there before it was lowered.
    const StreamBudget& most = engine().budget();
    if (most.bytes != 0) {
      EXPECT_LE(bytes, std::max(most.bytes, bytes_before_));
    }
    if (most.entities != 0) {
      EXPECT_LE(entities, std::max(most.entities, entities_before_));
    }
    if (most.descriptors != 0) {
      EXPECT_LE(descriptors, std::max(most.descriptors, descriptors_before_));
    }
    bytes_before_ = bytes;
    entities_before_ = entities;
    descriptors_before_ = descriptors;
    if (manual_ == nullptr) return;
    EXPECT_EQ(engine().statistics().in_flight, manual_->count() + unseen());
    for (size_t a = 0; a < manual_->count(); ++a) {  // P067: nothing is read twice at once
      for (size_t b = a + 1; b < manual_->count(); ++b) EXPECT_NE(manual_->index_at(a), manual_->index_at(b));
    }
  }
  /// Reads that ended since the last update.
  uint32_t unseen() {
    uint32_t number = 0;
    for (uint32_t i = 0; i < count(); ++i) {
      if (state(i) != StreamState::loading || engine().why(i).reason != StreamReason::reading) continue;
      bool is_read = false;
      for (size_t j = 0; j < manual_->count(); ++j) is_read = is_read || manual_->index_at(j) == i;
      number += is_read ? 0 : 1;
    }
    return number;
  }

  void no_more_faults() {
    for (uint32_t i = 0; i < count(); ++i) {
      thing(i).places.clear();
      thing(i).removes.clear();
    }
    if (manual_ == nullptr) {
      wait_for_reads();
    } else {
      // With threads reads do not fail, see script: what is read meanwhile does not change.
      for (uint32_t i = 0; i < count(); ++i) thing(i).prepared = StatusCode::ok;
      manual_->finish_all();
    }
    update(1000);  // sees what failed before
    check();
    engine().retry_failed();
  }
  void many_updates() {
    const uint32_t spare = count() - 1;
    forget(spare);
    for (uint32_t n = 0; n < 60; ++n) {
      if (manual_ != nullptr) manual_->finish_all();
      // Something leaves, so that pools have room again.
      wishes_[spare].keepers[4] = n % 4 < 2;
      if (n % 4 < 2) {
        engine().keep(spare, StreamKeeper::owner);
      } else {
        engine().drop(spare, StreamKeeper::owner);
      }
      update(1000);
      if (manual_ == nullptr) wait_for_reads();
      check();
    }
  }
  void wait_for_reads() {
    while (engine().statistics().in_flight > 0) {
      update(1000);
      check();
    }
  }

  /// Without limits and faults: all that is wanted is loaded, and nothing is on its way.
  void come_to_rest() {
    SCOPED_TRACE("at rest");
    engine().set_budget({});
    for (uint32_t m = 0; m < 2; ++m) engine().set_max_loaded(m, 0);
    if (has_limits_) {
      for (uint32_t i = 0; i < count(); ++i) {
        if (random_.chance(0.6f)) forget(i);  // so that there are records enough
      }
    }
    for (uint32_t i = 0; i < count(); ++i) {  // what must go waits for references
      if (is_unmounting_ || state(i) == StreamState::leaving) drop_refs(i);
    }
    no_more_faults();
    many_updates();
    EXPECT_FALSE(is_unmounting_);
    if (has_limits_) return;
    for (uint32_t i = 0; i < count(); ++i) {
      SCOPED_TRACE(thing(i).name);
      const Wish& w = wishes_[i];
      const StreamState now = state(i);
      const bool is_wanted = w.is_kept() || w.is_asked || w.all_refs() > 0;
      if (is_wanted) {
        EXPECT_EQ(now, StreamState::loaded) << to_string(now) << ' ' << to_string(engine().why(i).reason);
      } else {
        EXPECT_TRUE(now == StreamState::loaded || now == StreamState::not_loaded)
            << to_string(now) << ' ' << engine().why(i).status.message;
      }
      if (is_map(i) && !is_wanted && !w.may_be_asked && !has_dependants(i)) {
        EXPECT_FALSE(thing(i).is_live);
      }
    }
  }

  void drop_refs(uint32_t i) {
    for (uint32_t r = 0; r < kStreamRefs; ++r) {
      for (; wishes_[i].refs[r] > 0; --wishes_[i].refs[r]) engine().remove_ref(i, static_cast<StreamRef>(r));
    }
  }
  void forget(uint32_t i) {
    for (uint32_t k = 0; k < kStreamKeepers; ++k) engine().drop(i, static_cast<StreamKeeper>(k));
    engine().cancel(i);
    drop_refs(i);
    wishes_[i].keepers = {};
    wishes_[i].is_asked = wishes_[i].may_be_asked = false;
  }

  /// Budgets that just bear one slot with what it depends on: it is loaded, whatever was there before.
  void one_alone() {
    SCOPED_TRACE("one alone");
    const uint32_t chosen = random_.below(count() - 1);
    for (uint32_t i = 0; i < count(); ++i) {
      forget(i);
      thing(i).distance = i == chosen ? 0.f : 300.f;
    }
    engine().keep(chosen, StreamKeeper::script);
    wishes_[chosen].keepers[1] = true;
    no_more_faults();
    StreamBudget exact;
    std::vector<bool> seen(count());
    std::vector<uint32_t> open{chosen};
    seen[chosen] = true;
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      if (!thing(i).is_dummy) exact.bytes += sizes_[i];
      exact.entities += thing(i).cost.entities;
      exact.descriptors += thing(i).cost.descriptors;
      for (const StreamDependency& on : thing(i).on) {
        if (on.soft || seen[on.index]) continue;
        seen[on.index] = true;
        open.push_back(on.index);
      }
    }
    if (has_limits_) engine().set_budget(exact);
    for (uint32_t m = 0; m < 2; ++m) engine().set_max_loaded(m, 0);
    many_updates();
    EXPECT_EQ(state(chosen), StreamState::loaded)
        << thing(chosen).name << ' ' << to_string(state(chosen)) << ' ' << to_string(engine().why(chosen).reason) << ' '
        << to_string(engine().why(chosen).denial) << ' ' << engine().why(chosen).status.message << '\n'
        << description();
  }

  /// Of what is not just absent.
  std::string description() {
    std::string out;
    for (uint32_t i = 0; i < count(); ++i) {
      if (state(i) == StreamState::not_loaded && engine().bytes_of(i).empty()) continue;
      out += thing(i).name + ' ' + to_string(state(i)) + ", " + std::to_string(engine().bytes_of(i).size()) + " of " +
             std::to_string(sizes_[i]) + " bytes, on";
      for (const StreamDependency& on : thing(i).on) out += (on.soft ? " ~" : " ") + thing(on.index).name;
      out += '\n';
    }
    return out + "of " + std::to_string(engine().budget().bytes);
  }

  Random random_;
  ManualIo* manual_;
  StreamKit kit_;
  StreamThings& types_;
  StreamThings& maps_;
  bool has_limits_;
  std::vector<Wish> wishes_;
  std::vector<uint32_t> sizes_;
  StreamKit::Entries patch_;
  MountId patch_id_;
  bool is_unmounting_ = false;
  uint64_t bytes_before_ = 0, entities_before_ = 0, descriptors_before_ = 0;
};

void run(const Shape& shape, uint64_t seed, uint32_t steps) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const test::CapturedLog log;
  ManualIo io;
  RandomRun run(shape, seed, io, &io);
  run.steps(steps);
  run.shut_down();  // from wherever it is; StreamKit compares the memory
  EXPECT_EQ(io.count(), 0u);
}

// P067: three slots, and one that only comes and goes.
TEST(StreamingModel, ThreeSlots) {
  for (uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    run({.types = 1, .maps = 3, .has_limits = false}, seed, 1200);
    run({.types = 2, .maps = 2, .has_limits = true}, seed + 100, 1200);
  }
}

// STR-2, STR-3, STR-5, P067
TEST(StreamingModel, FortySlots) {
  for (uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    run({.types = 16, .maps = 25, .has_limits = false}, seed, 5000);
  }
}

// STR-9, P068
TEST(StreamingModel, FortySlotsWithinBudgets) {
  for (uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    run({.types = 16, .maps = 25, .has_limits = true}, seed, 5000);
  }
}

// REL-2: the same with loader threads.
TEST(StreamingModel, WithThreads) {
  for (uint64_t seed = 1; seed <= 4 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::CapturedLog log;
    ThreadIo io;
    ASSERT_TRUE(io.start({.threads = 3}).ok());
    RandomRun run({.types = 16, .maps = 25, .has_limits = seed % 2 == 0}, seed, io, nullptr);
    run.steps(1500);
    run.shut_down();
  }
}

}  // namespace
}  // namespace meridian
