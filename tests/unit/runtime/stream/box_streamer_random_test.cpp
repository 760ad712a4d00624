// SPDX-License-Identifier: MIT
// BOX-1 to BOX-5, STR-6: random worlds, sources and changes, for each vector width, against a flat list of slots that
// is looked at box by box. All numbers are whole or halves, so that both decide exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "meridian/base/simd.h"
#include "support/box_streamer_kit.h"

namespace meridian {
namespace {

using test::RecordingTarget;
using test::StreamCall;
using test::StreamTree;
using Calls = std::vector<StreamCall>;

constexpr uint32_t kSlots = 70;

struct PlainBox {
  Aabb range, content;
  BoxAsset asset = BoxAsset::map_high;
};

/// What a box streamer promises, said in the plainest way.
class Model {
 public:
  explicit Model(const BoxStreamerConfig& config) : config_(config) {
    for (Slot& slot : slots_) slot.is_ignored = config.ignores_all;
  }

  struct Slot {
    bool is_ignored = false, is_locked = false, is_in_world = false, is_held = false, is_required = false;
    double since = 0;
  };
  std::vector<const StreamTree*> trees;
  std::map<uint32_t, PlainBox> dynamic;
  std::map<uint32_t, Aabb> pins;

  Slot& slot(uint32_t index) { return slots_[index]; }

  std::optional<PlainBox> box_of(uint32_t slot) const {
    if (const auto at = dynamic.find(slot); at != dynamic.end()) return at->second;
    for (size_t t = trees.size(); t-- > 0;) {
      for (size_t i = 0; i < trees[t]->slots.size(); ++i) {
        if (trees[t]->slots[i] != slot) continue;
        if (test::inside_out(trees[t]->ranges[i])) return std::nullopt;
        return PlainBox{trees[t]->ranges[i], trees[t]->contents[i], trees[t]->assets[i]};
      }
    }
    return std::nullopt;
  }

  static const Aabb& content_of(const PlainBox& box) { return test::inside_out(box.content) ? box.range : box.content; }

  double distance(uint32_t slot) const {
    double nearest = std::numeric_limits<double>::infinity();
    if (is_held_fast(slot)) return 0;
    const std::optional<PlainBox> box = box_of(slot);
    for (size_t i = 0; box && i < sources_.size(); ++i)
      nearest = std::min(nearest, static_cast<double>(test::box_distance(content_of(*box), sources_[i].position)) /
                                      double{sources_[i].weight});
    for (size_t i = 0; box && i < searches_.size(); ++i) {
      const StreamSearch& s = searches_[i];
      if (!search_asks(s, *box, 0)) continue;
      const Vec3 from = s.shape == BoxShape::box ? (s.a + s.b) * 0.5f : s.a;
      nearest = std::min(nearest, static_cast<double>(test::box_distance(content_of(*box), from)));
    }
    return nearest;
  }

  /// Locked in or pinned.
  bool is_held_fast(uint32_t slot) const {
    if (slots_[slot].is_ignored) return false;
    const std::optional<PlainBox> box = box_of(slot);
    return slots_[slot].is_locked || (box && is_pinned(*box));
  }

  bool meets(uint32_t slot, const Aabb& area) const {
    const std::optional<PlainBox> box = box_of(slot);
    return box && !slots_[slot].is_ignored && test::boxes_touch(box->range, area);
  }

  /// What the target is told: releases in any order, then the rest in this order.
  struct Told {
    std::set<uint32_t> released;
    Calls rest;
  };
  Told update(const std::vector<StreamSource>& sources, const std::vector<StreamSearch>& searches, float seconds,
              RecordingTarget& target) {
    sources_ = sources;
    searches_ = searches;
    time_ += double{seconds};
    Told out;
    struct Entry {
      bool is_near;
      double distance;
      uint32_t slot;
      StreamCall::Kind kind;
    };
    std::vector<Entry> entries;
    for (uint32_t i = 0; i < kSlots; ++i) {
      Slot& s = slots_[i];
      const std::optional<PlainBox> box = box_of(i);
      const bool was_required = s.is_required;
      s.is_required = !s.is_ignored && (s.is_locked || (box && (is_asked(*box, 0) || is_pinned(*box))));
      if (s.is_required && !was_required) s.since = time_;
      const bool is_new = s.is_required && !s.is_held;
      if (s.is_held && !s.is_required &&
          (s.is_ignored || !box ||
           (time_ - s.since >= double{config_.min_residence} && !is_asked(*box, config_.release_margin)))) {
        s.is_held = false;
        out.released.insert(i);
      }
      if (!s.is_required) continue;
      s.is_held = true;
      const bool is_loading = s.is_in_world || !target.is_idle(i);
      if (is_loading && !is_new) continue;
      const bool is_near = is_held_fast(i) || (box && is_prior(*box));
      entries.push_back({is_near, distance(i), i,
                         is_loading ? StreamCall::keep
                         : is_near  ? StreamCall::request_first
                                    : StreamCall::request});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      if (a.is_near != b.is_near) return a.is_near;
      return a.distance != b.distance ? a.distance < b.distance : a.slot < b.slot;
    });
    for (const Entry& e : entries) out.rest.push_back({e.kind, e.slot});
    return out;
  }

 private:
  bool is_asked(const PlainBox& box, float margin) const {
    const long double more = margin;
    for (const StreamSource& s : sources_) {
      const long double reach = more + s.radius + config_.pre_stream_distance[static_cast<size_t>(box.asset)];
      if (test::box_distance(box.range, s.position) <= reach) return true;
      const Vec3 way = s.velocity * config_.look_ahead;
      if (length(way) > 1 && test::segment_touches(box.range, s.position, s.position + way, reach)) return true;
    }
    return std::any_of(searches_.begin(), searches_.end(),
                       [&](const StreamSearch& s) { return search_asks(s, box, margin); });
  }
  static bool search_asks(const StreamSearch& s, const PlainBox& box, float margin) {
    if ((s.assets & box_asset_bit(box.asset)) == 0) return false;
    const long double more = margin;
    const Vec3 all{margin, margin, margin};
    const bool touches = s.shape == BoxShape::sphere ? test::box_distance(box.range, s.a) <= more + s.radius
                         : s.shape == BoxShape::box  ? test::boxes_touch(box.range, {s.a - all, s.b + all})
                                                     : test::segment_touches(box.range, s.a, s.b, more + s.radius);
    return touches && !is_behind(s, content_of(box), margin);
  }
  /// Views here are along axes.
  static bool is_behind(const StreamSearch& s, const Aabb& box, float margin) {
    const Vec3 eye = s.shape == BoxShape::box ? (s.a + s.b) * 0.5f : s.a;
    if (s.view.x > 0) return box.max.x < eye.x - margin;
    if (s.view.x < 0) return box.min.x > eye.x + margin;
    if (s.view.y > 0) return box.max.y < eye.y - margin;
    return s.view.y < 0 && box.min.y > eye.y + margin;
  }
  bool is_pinned(const PlainBox& box) const {
    return std::any_of(pins.begin(), pins.end(), [&](const auto& p) { return test::boxes_touch(p.second, box.range); });
  }
  bool is_prior(const PlainBox& box) const {
    return std::any_of(sources_.begin(), sources_.end(), [&](const StreamSource& s) {
      return test::box_distance(content_of(box), s.position) <= config_.priority_radius[static_cast<size_t>(box.asset)];
    });
  }

  BoxStreamerConfig config_;
  Slot slots_[kSlots];
  std::vector<StreamSource> sources_;
  std::vector<StreamSearch> searches_;
  double time_ = 0;
};

/// One streamer a width, which all get the same, and the model.
class Play {
 public:
  explicit Play(uint32_t seed) : random_(seed) {
    config_.capacity = kSlots;
    config_.max_trees = 4;
    config_.max_dynamic_boxes = 20;
    config_.max_pins = 3;
    config_.ignores_all = one_in(8);
    if (one_in(3)) config_.pre_stream_distance[2] = 10;
    if (one_in(4)) config_.look_ahead = 0;
    if (one_in(4)) config_.release_margin = 0;
    if (one_in(4)) config_.min_residence = 0;
    model_ = std::make_unique<Model>(config_);
    for (uint32_t width = 0; width < kSimdWidths; ++width) {
      if (!has_simd_width(static_cast<SimdWidth>(width))) continue;
      players_.push_back(std::make_unique<Player>(static_cast<SimdWidth>(width)));
      EXPECT_TRUE(players_.back()->streamer.init(config_, players_.back()->target, default_allocator()).ok());
    }
  }
  ~Play() { EXPECT_TRUE(set_simd_width(best_simd_width())); }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      for (uint32_t n = below(4); n > 0; --n) change();
      update();
      compare();
    }
  }

 private:
  struct Player {
    explicit Player(SimdWidth w) : width(w) {}
    SimdWidth width;
    RecordingTarget target{kSlots};
    BoxStreamer streamer;
  };
  struct Mounted {
    std::unique_ptr<StreamTree> tree;
    BoxTreeId id;
  };
  struct Pinned {
    PinId id;
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  float whole(int range) {
    return static_cast<float>(static_cast<int>(below(2 * static_cast<uint32_t>(range) + 1)) - range);
  }
  Vec3 place() { return {whole(250), whole(250), whole(20)}; }
  Aabb any_box(int size) {
    const Vec3 at = place();
    return {at, at + Vec3{std::fabs(whole(size)), std::fabs(whole(size)), std::fabs(whole(30))}};
  }
  PlainBox any_slot_box() {
    PlainBox out;
    out.range = any_box(120);
    out.content = one_in(4) ? test::kNoBox : any_box(60);
    out.asset = static_cast<BoxAsset>(below(kBoxAssets));
    return out;
  }
  template <class Do>
  void all(Do&& act) {
    for (const auto& p : players_) {
      ASSERT_TRUE(set_simd_width(p->width));
      act(*p);
    }
  }

  void mount() {
    auto tree = std::make_unique<StreamTree>();
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if (!one_in(2)) continue;
      if (one_in(20)) tree->add(kNoStreamSlot, any_box(100));
      const PlainBox box = any_slot_box();
      tree->add(slot, one_in(12) ? test::kNoBox : box.range, box.content, box.asset);
    }
    BoxTreeLayer layer = tree->layer();
    if (one_in(4)) {
      layer.content = nullptr;
      for (Aabb& content : tree->contents) content = test::kNoBox;
    }
    Mounted mounted{std::move(tree), {}};
    all([&](Player& p) {
      const Result<BoxTreeId> id = p.streamer.add_tree(layer);
      ASSERT_EQ(id.ok(), mounted_.size() < config_.max_trees);
      if (id.ok()) mounted.id = id.value();
    });
    if (mounted_.size() < config_.max_trees) mounted_.push_back(std::move(mounted));
    list_trees();
  }
  void unmount() {
    if (mounted_.empty()) return;
    const auto at = mounted_.begin() + below(static_cast<uint32_t>(mounted_.size()));
    all([&](Player& p) { p.streamer.remove_tree(at->id); });
    mounted_.erase(at);
    list_trees();
  }
  void list_trees() {
    model_->trees.clear();
    for (const Mounted& m : mounted_) model_->trees.push_back(m.tree.get());
  }

  void change() {
    const uint32_t slot = below(kSlots);
    Model::Slot& s = model_->slot(slot);
    switch (below(12)) {
      case 0:
        if (one_in(2)) mount();
        break;
      case 1:
        if (one_in(3)) unmount();
        break;
      case 2:
      case 3: {
        const PlainBox box = any_slot_box();
        const bool has_room = model_->dynamic.count(slot) != 0 || model_->dynamic.size() < config_.max_dynamic_boxes;
        all([&](Player& p) { EXPECT_EQ(p.streamer.set_box(slot, box.range, box.content, box.asset).ok(), has_room); });
        if (has_room) model_->dynamic[slot] = box;
        break;
      }
      case 4:
        all([&](Player& p) { p.streamer.remove_box(slot); });
        model_->dynamic.erase(slot);
        break;
      case 5:
        s.is_ignored = one_in(4);
        all([&](Player& p) { p.streamer.ignore(slot, s.is_ignored); });
        break;
      case 6:
        s.is_locked = one_in(4);
        all([&](Player& p) { p.streamer.lock_in(slot, s.is_locked); });
        break;
      case 7: {
        const Aabb box = any_box(80);
        all([&](Player& p) {
          const Result<PinId> pin = p.streamer.pin(box);
          ASSERT_EQ(pin.ok(), model_->pins.size() < config_.max_pins);
          if (pin.ok()) last_pin_ = pin.value();
        });
        if (model_->pins.size() < config_.max_pins) {
          model_->pins[last_pin_.slot] = box;
          pins_.push_back({last_pin_});
        }
        break;
      }
      case 8:
        if (!pins_.empty()) {
          const auto at = pins_.begin() + below(static_cast<uint32_t>(pins_.size()));
          all([&](Player& p) { p.streamer.unpin(at->id); });
          model_->pins.erase(at->id.slot);
          pins_.erase(at);
        }
        break;
      default:
        // Loads that finish or fail, evictions, all of it.
        for (uint32_t i = 0; i < kSlots; ++i) {
          Model::Slot& one = model_->slot(i);
          if (!one_in(3)) continue;
          const bool is_idle = one_in(3);
          one.is_in_world = !is_idle && !one_in(3);
          all([&](Player& p) {
            p.target.set_idle(i, is_idle);
            p.streamer.set_in_world(i, one.is_in_world);
          });
        }
    }
  }

  void update() {
    // Most of the time the same ones move on a little.
    if (sources_.empty() || one_in(10)) {
      sources_.assign(below(3), {});
      for (StreamSource& s : sources_) {
        s.id = below(1000);
        s.position = place();
        s.radius = one_in(2) ? std::fabs(whole(60)) : 0;
        s.weight = one_in(2) ? 1.0f : one_in(2) ? 2.0f : 0.5f;
      }
    }
    for (StreamSource& s : sources_) {
      s.position = s.position + Vec3{whole(10), whole(10), 0};
      s.velocity = one_in(2) ? Vec3{} : Vec3{2 * whole(20), 2 * whole(20), 0};
    }
    if (one_in(3)) {
      searches_.assign(below(4), {});
      for (StreamSearch& s : searches_) {
        const float radius = std::fabs(whole(60));
        s = one_in(3)   ? stream_sphere(place(), radius)
            : one_in(2) ? stream_box(any_box(100))
                        : stream_segment(place(), place(), one_in(2) ? radius : 0);
        if (one_in(2)) s.assets = static_cast<uint8_t>(below(256));
        if (one_in(3)) s.view = one_in(2) ? Vec3{one_in(2) ? 1.0f : -1.0f, 0, 0} : Vec3{0, one_in(2) ? 3.0f : -3.0f, 0};
      }
    }
    const float seconds = one_in(4) ? 0.5f : 0.25f;
    const Model::Told told = model_->update(sources_, searches_, seconds, players_[0]->target);
    Calls first;
    all([&](Player& p) {
      ASSERT_TRUE(p.streamer.update(sources_, searches_, seconds).ok());
      const Calls calls = p.target.take();
      if (&p == players_[0].get()) first = calls;
      EXPECT_EQ(calls, first) << to_string(p.width);
    });
    std::set<uint32_t> released;
    size_t at = 0;
    for (; at < first.size() && first[at].kind == StreamCall::release; ++at) released.insert(first[at].slot);
    EXPECT_EQ(at, released.size());
    EXPECT_EQ(released, told.released);
    EXPECT_EQ(Calls(first.begin() + static_cast<std::ptrdiff_t>(at), first.end()), told.rest);
  }

  void compare() {
    const BoxStreamer& streamer = players_[below(static_cast<uint32_t>(players_.size()))]->streamer;
    uint32_t required = 0, waiting = 0, lingering = 0;
    for (uint32_t i = 0; i < kSlots; ++i) {
      const Model::Slot& s = model_->slot(i);
      EXPECT_EQ(streamer.is_required(i), s.is_required) << i;
      EXPECT_EQ(streamer.is_held(i), s.is_held) << i;
      EXPECT_EQ(streamer.is_in_world(i), s.is_in_world) << i;
      required += s.is_required ? 1 : 0;
      waiting += s.is_required && !s.is_in_world ? 1 : 0;
      lingering += s.is_held && !s.is_required ? 1 : 0;
      if (const double distance = model_->distance(i); std::isinf(distance))
        EXPECT_TRUE(std::isinf(streamer.distance(i)));
      else
        EXPECT_NEAR(streamer.distance(i), distance, 1e-6 * (1 + distance));
      const BoxReason why = streamer.why(i).reason;
      const bool is_asked =
          why == BoxReason::source || why == BoxReason::look_ahead || why == BoxReason::search || why == BoxReason::pin;
      EXPECT_EQ(why == BoxReason::ignored, s.is_ignored);
      EXPECT_EQ(why == BoxReason::locked, s.is_locked && !s.is_ignored);
      if (!s.is_ignored && !s.is_locked) {
        EXPECT_EQ(is_asked, s.is_required) << i << ' ' << to_string(why);
        EXPECT_EQ(why == BoxReason::no_box, !model_->box_of(i)) << i;
        EXPECT_EQ(why == BoxReason::lingering, s.is_held && !s.is_required) << i;
      }
    }
    EXPECT_EQ(streamer.stats().required, required);
    EXPECT_EQ(streamer.stats().waiting, waiting);
    EXPECT_EQ(streamer.stats().lingering, lingering);

    const Aabb area = any_box(100);
    std::set<uint32_t> missing, expected;
    for (uint32_t i = 0; i < kSlots; ++i)
      if (model_->meets(i, area) && !model_->slot(i).is_in_world) expected.insert(i);
    streamer.for_each_missing(
        area,
        [](void* user, uint32_t slot) {
          EXPECT_TRUE(static_cast<std::set<uint32_t>*>(user)->insert(slot).second);
          return true;
        },
        &missing);
    EXPECT_EQ(missing, expected);
    EXPECT_EQ(streamer.is_resident(area), expected.empty());
  }

  std::mt19937 random_;
  BoxStreamerConfig config_;
  std::unique_ptr<Model> model_;
  std::vector<std::unique_ptr<Player>> players_;
  std::vector<Mounted> mounted_;
  std::vector<Pinned> pins_;
  PinId last_pin_;
  std::vector<StreamSource> sources_;
  std::vector<StreamSearch> searches_;
};

TEST(BoxStreamerRandom, BOX2_BOX5_STR6_TellsTheTargetWhatAFlatListOfBoxesWould) {
  const uint32_t first = std::random_device()();
  for (uint32_t world = 0; world < 60 && !HasFailure(); ++world) {
    SCOPED_TRACE("seed " + std::to_string(first + world));
    Play(first + world).run(120);
  }
}

}  // namespace
}  // namespace meridian
