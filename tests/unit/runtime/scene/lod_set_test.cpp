// SPDX-License-Identifier: MIT
// LOD sets: SCAN-8. Weights by hand, the table's contract, and random forests against a plain model.
#include "meridian/scene/lod_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "meridian/scene/scene_graph.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
constexpr float kOnes[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};

LodSetRecord ready_at(float distance, uint8_t ramp = 255) {
  LodSetRecord out;
  out.distance = distance;
  out.is_ready = true;
  out.ramp = ramp;
  return out;
}

struct LodSets : testing::Test {
  void start(LodSetConfig config = {.capacity = 40, .ramp_seconds = 0}) {
    config.tracker = &tracker;
    ASSERT_TRUE(table.init(config, memory).ok());
  }
  uint32_t make(const Vec3& pivot, float distance, uint8_t level = 0, uint32_t up = kNoLodSetId) {
    const Result<uint32_t> made = table.create(pivot, distance, level);
    EXPECT_TRUE(made.ok()) << made.status().message;
    EXPECT_TRUE(table.set_up(made.value(), up).ok());
    return made.value();
  }
  uint32_t weight(uint32_t set, bool is_parent, const Vec3& camera, std::span<const float, kLodLevels> scales = kOnes) {
    return lod_weight(table, set, is_parent, camera, scales);
  }
  test::CheckedMemory memory;
  MemoryTracker tracker;
  LodSetTable table;
  test::CapturedLog log;
};

// --- arithmetic ----------------------------------------------------------------------------------------

// SCAN-8: 255 * ((D * s + 20) - d) / 20, cut off; then times the ramp, cut off again.
TEST(LodAlpha, IsAsCalculatedByHand) {
  const struct {
    float distance, scale;
    uint8_t ramp;
    uint32_t alpha;
  } rows[] = {
      {0, 1, 255, 255},      {100, 1, 255, 255},  {101, 1, 255, 242},     // 255 * 19 / 20 = 242.25
      {110, 1, 255, 127},                                                 // 127.5
      {119, 1, 255, 12},                                                  // 12.75
      {120, 1, 255, 0},      {121, 1, 255, 0},    {155, 1.5f, 255, 191},  // 255 * 15 / 20 = 191.25
      {150, 1.5f, 255, 255}, {0, 0, 255, 255},    {10, 0, 255, 127},     {20, 0, 255, 0},
      {110, 1, 128, 63},                                                // 127 * 128 / 255 = 63.7
      {50, 1, 128, 128},     {50, 1, 0, 0},       {5, -0.1f, 255, 63},  // -10 + 20 - 5 = 5: 255 * 5 / 20 = 63.75
      {kInf, 1, 255, 0},     {0, kInf, 255, 255}, {kNan, 1, 255, 0},     {0, kNan, 255, 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(child_alpha(ready_at(100, row.ramp), row.distance, row.scale), row.alpha)
        << row.distance << " * " << row.scale << ", ramp " << int{row.ramp};
  }
  EXPECT_EQ(child_alpha(ready_at(100), 100, 1, 0), 255u) << "without a fade they change places at once";
  EXPECT_EQ(child_alpha(ready_at(100), 100.001f, 1, 0), 0u);
  EXPECT_EQ(child_alpha(ready_at(100), 120, 1, 40), 127u);
  LodSetRecord unready = ready_at(100);
  unready.is_ready = false;
  EXPECT_EQ(child_alpha(unready, 0, 1), 0u) << "the parent, as if it had no children";
}

// SCAN-8: nothing at the borders, however they are rounded: never more than all, never rising with the distance.
TEST(LodAlpha, FallsWithDistance) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const LodSetRecord set =
        ready_at(std::ldexp(1.0f + static_cast<float>(random() % 8192) / 8192, int(random() % 14)));
    const float scale = 0.1f + static_cast<float>(random() % 4096) / 1024;
    const float near = set.distance * scale;
    uint32_t before = 255;
    float at = std::nextafter(near, 0.0f);
    EXPECT_EQ(child_alpha(set, at, scale), 255u);
    EXPECT_EQ(child_alpha(set, near, scale), 255u);
    for (int step = 0; step < 64; ++step) {
      at = step < 4 ? std::nextafter(at, kInf) : at + 0.4f;
      const uint32_t alpha = child_alpha(set, at, scale);
      ASSERT_LE(alpha, before) << set.distance << " * " << scale << " at " << at;
      before = alpha;
    }
    EXPECT_EQ(child_alpha(set, near + 20.0f, scale), 0u);
  }
}

// SCAN-8: children get the floor, the parent what is left.
TEST(LodSplit, LosesNothing) {
  for (uint32_t w = 0; w <= 255; ++w) {
    for (uint32_t a = 0; a <= 255; ++a) {
      const LodShare share = split(w, a);
      ASSERT_EQ(share.children + share.parent, w);
      ASSERT_LE(share.children * 255, w * a);
      ASSERT_GT((share.children + 1) * 255, w * a);
    }
  }
}

TEST(LodSetDistance, IsEuclidean) {
  EXPECT_EQ(lod_set_distance({1, 2, 3}, {4, 6, 15}), 13);
  EXPECT_EQ(lod_set_distance({-16000, 0, 0}, {16000, 0, 0}), 32000);
}

// --- chains --------------------------------------------------------------------------------------------

// SCAN-8: three levels above each other, each with its own pivot, distance and scale.
TEST_F(LodSets, MultiplyDownAChain) {
  start();
  const uint32_t top = make({0, 0, 0}, 1000, 2), middle = make({0, 0, 0}, 300, 1, top);
  const uint32_t low = make({0, 0, 0}, 100, 0, middle);
  const auto weights = [&](float x, std::span<const float, kLodLevels> scales = kOnes) {
    const Vec3 camera{x, 0, 0};
    return std::vector<uint32_t>{weight(top, true, camera, scales), weight(middle, true, camera, scales),
                                 weight(low, true, camera, scales), weight(low, false, camera, scales)};
  };
  using Weights = std::vector<uint32_t>;
  EXPECT_EQ(weights(50), (Weights{255, 0, 0, 0})) << "nothing is ready but the root";
  EXPECT_TRUE(table.set_ready(low, true).ok());
  EXPECT_EQ(weights(50), (Weights{255, 0, 0, 0})) << "the lowest is ready, those above are not";
  EXPECT_TRUE(table.set_ready(middle, true).ok());
  EXPECT_TRUE(table.set_ready(top, true).ok());
  EXPECT_EQ(weights(50), (Weights{0, 0, 0, 255}));
  EXPECT_EQ(weights(110), (Weights{0, 0, 128, 127}));
  EXPECT_EQ(weights(310), (Weights{0, 128, 127, 0}));
  EXPECT_EQ(weights(1005), (Weights{64, 191, 0, 0}));  // 255 * 15 / 20 = 191.25
  EXPECT_EQ(weights(2000), (Weights{255, 0, 0, 0}));
  const float scales[kLodLevels] = {3, 1, 1, 1, 1, 1, 1};      // HD further than LOD: both fade over 300 to 320
  EXPECT_EQ(weights(310, scales), (Weights{0, 128, 64, 63}));  // 127 * 127 / 255 = 63.25
  EXPECT_TRUE(table.set_ready(middle, false).ok());
  EXPECT_EQ(weights(50), (Weights{0, 255, 0, 0})) << "a hole in the middle is closed by what is above it";
  EXPECT_EQ(weight(kNoLodSetId, false, {}), 255u);
  EXPECT_EQ(weight(kNoLodSetId, true, {}), 255u);
}

TEST_F(LodSets, AreAsFarAsTheirOwnPivots) {
  start();
  const uint32_t top = make({500, 0, 0}, 1000, 1), low = make({0, 0, 0}, 100, 0, top);
  for (const uint32_t id : {top, low}) EXPECT_TRUE(table.set_ready(id, true).ok());
  EXPECT_EQ(weight(low, false, {-510, 0, 0}), 0u) << "beyond its own pivot's distance";
  EXPECT_EQ(weight(low, true, {-510, 0, 0}), 127u) << "1 010 m from the root's pivot";
  EXPECT_TRUE(table.place(low, {-510, 0, 0}, 50).ok());
  EXPECT_EQ(weight(low, false, {-510, 0, 0}), 127u);
  EXPECT_EQ(weight(low, true, {-510, 0, 0}), 0u);
  EXPECT_EQ(weight(top, true, {-510, 0, 0}), 128u);
}

// --- ramps ---------------------------------------------------------------------------------------------

// SCAN-8, P064: what becomes ready fades in over time; what is no more has gone at once.
TEST_F(LodSets, RampUpAndDropAtOnce) {
  start({.capacity = 8, .ramp_seconds = 0.25f});
  const uint32_t a = make({}, 100), b = make({}, 100);
  EXPECT_TRUE(table.set_ready(a, true).ok());
  EXPECT_EQ(weight(a, false, {}), 0u);
  EXPECT_EQ(weight(a, true, {}), 255u);
  EXPECT_TRUE(table.update(0.125f).ok());
  EXPECT_EQ(weight(a, false, {}), 127u);  // half of 255
  EXPECT_TRUE(table.set_ready(b, true).ok());
  EXPECT_EQ(table.ramping(), 2u);
  EXPECT_TRUE(table.update(0.0625f).ok());
  EXPECT_EQ(table.find(a)->ramp, 191);  // 255 * 3 / 4
  EXPECT_EQ(table.find(b)->ramp, 63);
  EXPECT_TRUE(table.set_ready(a, true).ok()) << "it is";
  EXPECT_EQ(table.find(a)->ramp, 191);
  EXPECT_TRUE(table.update(0.0625f).ok());
  EXPECT_EQ(table.find(a)->ramp, 255);
  EXPECT_EQ(table.ramping(), 1u);
  EXPECT_TRUE(table.set_ready(b, false).ok());
  EXPECT_EQ(table.find(b)->ramp, 0);
  EXPECT_EQ(table.ramping(), 0u);
  EXPECT_TRUE(table.update(100).ok());
  EXPECT_EQ(weight(b, true, {}), 255u);
  EXPECT_TRUE(table.set_ready(b, true).ok());
  EXPECT_TRUE(table.release(b).ok()) << "while it is faded in";
  EXPECT_EQ(table.ramping(), 0u);
  test::BrokenContracts contracts;
  EXPECT_TRUE(table.update(-1).ok());
  EXPECT_TRUE(table.update(kNan).ok());
  EXPECT_TRUE(test::broke(contracts, 2));
  // A thousand frames a second: small steps are not lost.
  const uint32_t c = make({}, 100);
  EXPECT_TRUE(table.set_ready(c, true).ok());
  for (int frame = 0; frame < 125; ++frame) EXPECT_TRUE(table.update(0.001f).ok());
  EXPECT_NEAR(table.find(c)->ramp, 127, 1);
}

// --- contract ------------------------------------------------------------------------------------------

TEST_F(LodSets, RefuseWhatMakesNoSense) {
  start();
  EXPECT_EQ(table.create({kNan, 0, 0}, 10, 0).status().code, StatusCode::bad_value);
  EXPECT_EQ(table.create({}, 0, 0).status().code, StatusCode::bad_value);
  EXPECT_EQ(table.create({}, -1, 0).status().code, StatusCode::bad_value);
  EXPECT_EQ(table.create({}, kInf, 0).status().code, StatusCode::bad_value);
  EXPECT_EQ(table.create({}, 10, 7).status().code, StatusCode::bad_value);
  EXPECT_EQ(table.used(), 0u);
  EXPECT_EQ(table.records(), nullptr);
  const uint32_t a = make({1, 2, 3}, 10);
  EXPECT_EQ(table.records() + a, table.find(a));
  EXPECT_EQ(table.place(a, {0, kInf, 0}, 10).code, StatusCode::bad_value);
  EXPECT_EQ(table.set_level(a, 7).code, StatusCode::bad_value);
  EXPECT_EQ(table.find(a)->pivot, (Vec3{1, 2, 3}));
  for (const uint32_t nobody : {a + 1, 40u, kNoLodSetId}) {
    EXPECT_EQ(table.find(nobody), nullptr);
    EXPECT_EQ(table.release(nobody).code, StatusCode::not_found);
    EXPECT_EQ(table.place(nobody, {}, 1).code, StatusCode::not_found);
    EXPECT_EQ(table.set_level(nobody, 0).code, StatusCode::not_found);
    EXPECT_EQ(table.set_ready(nobody, true).code, StatusCode::not_found);
    EXPECT_EQ(table.set_up(nobody, a).code, StatusCode::not_found);
  }
  EXPECT_EQ(table.set_up(a, a + 1).code, StatusCode::not_found);
  test::BrokenContracts contracts;
  const uint32_t b = make({}, 10, 0, a);
  EXPECT_EQ(table.release(a).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_NE(table.find(a), nullptr);
  EXPECT_TRUE(table.release(b).ok());
  EXPECT_TRUE(table.release(a).ok());
  EXPECT_EQ(table.init({.capacity = 1}, memory).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  LodSetTable other;
  EXPECT_EQ(other.init({.capacity = 1, .ramp_seconds = -1}, memory).code, StatusCode::bad_value);
  EXPECT_EQ(other.init({.capacity = 1, .ramp_seconds = kNan}, memory).code, StatusCode::bad_value);
}

// SCAN-8: readers climb chains that end, and are short, whatever the data says.
TEST_F(LodSets, StandAboveEachOtherWithinLimits) {
  start();
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < kMaxLodChain; ++i) chain.push_back(make({}, 10, 0, i > 0 ? chain.back() : kNoLodSetId));
  const uint32_t one_more = make({}, 10);
  EXPECT_EQ(table.set_up(one_more, chain.back()).code, StatusCode::too_large);
  EXPECT_EQ(table.set_up(chain.front(), one_more).code, StatusCode::too_large) << "from above, too";
  EXPECT_EQ(table.set_up(chain.front(), chain.back()).code, StatusCode::too_large) << "a circle";
  EXPECT_EQ(table.set_up(chain[3], chain[3]).code, StatusCode::too_large);
  EXPECT_EQ(table.find(chain[3])->up, kNoLodSetId) << "what is refused is below none";
  EXPECT_TRUE(table.set_up(chain[3], chain[2]).ok());
  EXPECT_TRUE(table.set_up(one_more, chain[14]).ok());
  for (const uint32_t id : chain) EXPECT_TRUE(table.set_ready(id, true).ok());
  EXPECT_EQ(weight(chain.back(), false, {}), 255u);
  EXPECT_EQ(weight(one_more, true, {}), 255u);
  // A chain that was taken apart can be put together in another way.
  for (const uint32_t id : chain) EXPECT_TRUE(table.set_up(id, kNoLodSetId).ok());
  for (uint32_t i = 1; i < kMaxLodChain; ++i) EXPECT_TRUE(table.set_up(chain[i - 1], chain[i]).ok());
}

TEST_F(LodSets, SayOnceThatThereAreNoMore) {
  start({.capacity = 2, .ramp_seconds = 0});
  const uint32_t a = make({}, 10);
  make({}, 10);
  EXPECT_EQ(table.create({}, 10, 0).status().code, StatusCode::out_of_slots);
  EXPECT_EQ(table.create({}, 10, 0).status().code, StatusCode::out_of_slots);
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_NE(log.all().find("LodSet pool full (capacity 2)"), std::string::npos) << log.all();
  EXPECT_TRUE(table.set_ready(a, true).ok());
  EXPECT_TRUE(table.release(a).ok());
  const uint32_t again = make({}, 20);
  EXPECT_FALSE(table.find(again)->is_ready) << "nothing is left of who was there before";
  EXPECT_EQ(table.find(again)->ramp, 0);
  EXPECT_EQ(table.find(again)->up, kNoLodSetId);
}

// SCAN-8: written outside the lock only.
TEST_F(LodSets, AreNotWrittenUnderALock) {
  SceneGraph graph;
  ASSERT_TRUE(graph.init({}, memory, &tracker).ok());
  start({.capacity = 4, .ramp_seconds = 1, .graph = &graph});
  const uint32_t a = make({}, 10), b = make({}, 20);
  EXPECT_TRUE(table.set_ready(a, true).ok());
  test::BrokenContracts contracts;
  graph.lock();
  EXPECT_EQ(table.create({}, 10, 0).status().code, StatusCode::in_use);
  EXPECT_EQ(table.release(a).code, StatusCode::in_use);
  EXPECT_EQ(table.place(a, {1, 1, 1}, 10).code, StatusCode::in_use);
  EXPECT_EQ(table.set_level(a, 3).code, StatusCode::in_use);
  EXPECT_EQ(table.set_up(a, b).code, StatusCode::in_use);
  EXPECT_EQ(table.set_ready(a, false).code, StatusCode::in_use);
  EXPECT_EQ(table.update(1).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts, 7));
  const LodSetRecord& still = *table.find(a);
  EXPECT_TRUE(still.is_ready && still.ramp == 0 && still.up == kNoLodSetId && still.level == 0 &&
              still.pivot == Vec3{});
  graph.unlock();
  EXPECT_TRUE(table.update(1).ok());
  EXPECT_EQ(still.ramp, 255);
  table.shutdown();
}

// --- random --------------------------------------------------------------------------------------------

struct ModelSet {
  Vec3 pivot;
  float distance = 0;
  uint8_t level = 0;
  bool is_ready = false;
  uint32_t up = kNoLodSetId;
};

// SCAN-8: random operations; the table is what a plain map is, and weights on each chain add up to all of it.
TEST_F(LodSets, AreAsAModelSays) {
  constexpr uint32_t kSeed = 20240611;
  SCOPED_TRACE(kSeed);
  start({.capacity = 40, .ramp_seconds = 0.5f});
  std::mt19937 random(kSeed);
  std::map<uint32_t, ModelSet> model;
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  const auto number = [&] { return static_cast<float>(random() % 65536) / 64 - 512; };
  const auto pick = [&] { return std::next(model.begin(), below(static_cast<uint32_t>(model.size())))->first; };
  const auto depth_of = [&](uint32_t id) {
    uint32_t n = 0;
    for (; id != kNoLodSetId; id = model.at(id).up) ++n;
    return n;
  };
  for (int step = 0; step < 20000; ++step) {
    const uint32_t what = below(10);
    if (what < 3 && model.size() < 40) {
      ModelSet set{{number(), number(), number()}, 1 + std::fabs(number()), static_cast<uint8_t>(below(7))};
      const Result<uint32_t> made = table.create(set.pivot, set.distance, set.level);
      ASSERT_TRUE(made.ok());
      ASSERT_TRUE(model.emplace(made.value(), set).second) << "an id that is in use";
    } else if (what < 4 && !model.empty()) {
      const uint32_t id = pick();
      for (auto& [other, set] : model) {
        if (set.up != id) continue;
        set.up = kNoLodSetId;
        ASSERT_TRUE(table.set_up(other, kNoLodSetId).ok());
      }
      ASSERT_TRUE(table.release(id).ok());
      model.erase(id);
    } else if (what < 6 && !model.empty()) {
      const uint32_t id = pick(), up = pick();
      uint32_t at = up;
      while (at != kNoLodSetId && at != id) at = model.at(at).up;
      const bool is_circle = at == id;
      const Status s = table.set_up(id, up);
      // A limit that counts heights of before may refuse one that fits; it never lets one through that does not.
      model.at(id).up = s.ok() ? up : kNoLodSetId;
      if (is_circle) {
        ASSERT_EQ(s.code, StatusCode::too_large);
      } else {
        for (const auto& [other, set] : model) ASSERT_LE(depth_of(other), kMaxLodChain);
      }
    } else if (what < 8 && !model.empty()) {
      const uint32_t id = pick();
      model.at(id).is_ready = below(4) != 0;
      ASSERT_TRUE(table.set_ready(id, model.at(id).is_ready).ok());
    } else if (what < 9 && !model.empty()) {
      const uint32_t id = pick();
      model.at(id).pivot = {number(), number(), number()};
      ASSERT_TRUE(table.place(id, model.at(id).pivot, model.at(id).distance).ok());
    } else {
      ASSERT_TRUE(table.update(static_cast<float>(below(100)) / 400).ok());
    }
    ASSERT_EQ(table.used(), model.size());
    if (step % 16 != 0) continue;
    float scales[kLodLevels];
    for (float& s : scales) s = static_cast<float>(below(300)) / 100;
    const Vec3 camera{number(), number(), number()};
    for (const auto& [id, set] : model) {
      const LodSetRecord& record = *table.find(id);
      ASSERT_TRUE(record.pivot == set.pivot && record.distance == set.distance && record.level == set.level);
      ASSERT_TRUE(record.is_ready == set.is_ready && record.up == set.up);
      ASSERT_TRUE(set.is_ready || record.ramp == 0);
      // A leaf child of this set, and all parents above it.
      uint32_t sum = lod_weight(table, id, false, camera, scales);
      double expected = 1;  // of the leaf, without rounding
      for (uint32_t at = id; at != kNoLodSetId; at = model.at(at).up) {
        sum += lod_weight(table, at, true, camera, scales);
        const ModelSet& m = model.at(at);
        const double dx = double(camera.x) - double(m.pivot.x), dy = double(camera.y) - double(m.pivot.y),
                     dz = double(camera.z) - double(m.pivot.z);
        const double far = double(m.distance) * double(scales[m.level]) + 20;
        const double part = (far - std::sqrt(dx * dx + dy * dy + dz * dz)) / 20;
        expected *= m.is_ready ? std::min(1.0, std::max(0.0, part)) * table.find(at)->ramp / 255 : 0;
      }
      ASSERT_EQ(sum, 255u) << "set " << id << " after " << step << " steps";
      ASSERT_NEAR(lod_weight(table, id, false, camera, scales), expected * 255, 2.5 * kMaxLodChain / 8 + 2);
    }
  }
}

}  // namespace
}  // namespace meridian
