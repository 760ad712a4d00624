// SPDX-License-Identifier: MIT
// SCAN-8, P064: parents and children change places as one, at each metre of a flight, and add up to one picture.
#include <gtest/gtest.h>

#include <random>

#include "support/scan_worlds.h"

namespace meridian {
namespace {

using test::Dice;
using test::MapBlocks;
using test::phase_bit;
using test::ScanKit;
using test::sphere_shape;

constexpr uint32_t kHouse = 0, kShed = 1, kBlock = 2, kTown = 3, kEntities = 4;
constexpr uint32_t kBlockSet = 0, kTownSet = 1;

/// Two houses (HD), the block that stands for them (LOD), the town that stands for blocks (SLOD1), all with pivots at
/// the origin. Houses are drawn up to 60 m, the block up to 70 m, the town up to 300 m.
struct Town {
  ScanKit kit;
  MapBlocks blocks = make_blocks();
  std::vector<uint32_t> ids = {kNoLodSetId, kNoLodSetId};
  StreamedNode* node = nullptr;

  static constexpr EntityHandle kGroup{.generation = 7, .slot = 100};

  explicit Town(bool has_block = true, bool has_town = true) {
    if (has_block) ids[kBlockSet] = kit.sets.create({}, 60, 0).value();
    if (has_town) ids[kTownSet] = kit.sets.create({}, 70, 1).value();
    if (has_block && has_town) {
      EXPECT_TRUE(kit.sets.set_up(ids[kBlockSet], ids[kTownSet]).ok());
    }
    load();
  }
  ~Town() { EXPECT_TRUE(kit.graph.destroy(*node).ok()); }
  void load() {
    SceneBlocks view = blocks.view(kGroup);
    view.set_ids = ids;
    node = &kit.add_node();
    EXPECT_TRUE(kit.graph.add_blocks(*node, view).ok());
  }
  void set_ready(uint32_t set, bool is_ready) { EXPECT_TRUE(kit.sets.set_ready(ids[set], is_ready).ok()); }
  void pass(float seconds) { EXPECT_TRUE(kit.sets.update(seconds).ok()); }

  static MapBlocks make_blocks() {
    std::vector<LodLinkRow> rows(2);
    rows[kBlockSet] = {.up = kTownSet, .pivot = {}, .distance = 60};
    rows[kTownSet] = {.pivot = {}, .distance = 70};
    std::vector<EntityDesc> descs;
    for (uint32_t i = 0; i < kEntities; ++i) {
      EntityDesc d = test::cube_at({});
      d.handle = i;
      d.level = static_cast<uint8_t>(i <= kShed ? 0 : i - 1);
      d.lod_set = i == kTown ? kTownSet : kBlockSet;
      if (i >= kBlock) d.flags |= kDescSetParent;
      if (i <= kBlock) d.flags |= kDescLodChild;
      d.distance = i <= kShed ? 60.0f : i == kBlock ? 70.0f : 300.0f;
      if (i == kShed) d.alpha = 100;
      descs.push_back(d);
    }
    return {std::move(descs), std::move(rows)};
  }

  struct Drawn {
    uint32_t alpha[kEntities] = {}, visible[kEntities] = {}, streamed[kEntities] = {}, flags[kEntities] = {};
  };
  Drawn look(const Vec3& camera, LodView lod = {}) {
    lod.camera = camera;
    Drawn out;
    for (const PvsEntry& e : kit.run({.lod = lod}, {sphere_shape(3, {}, 10)})) {
      const uint32_t i = e.entity.slot - kGroup.slot;
      EXPECT_EQ(e.entity, entity_of_group(kGroup, i));
      out.alpha[i] = e.alpha;
      out.visible[i] = e.visible_phases;
      out.streamed[i] = e.stream_phases;
      out.flags[i] = e.flags;
    }
    return out;
  }
};

// --- a flight away from it -----------------------------------------------------------------------------------

struct Weights {
  int metres;
  uint32_t house, block, town;
};

// Computed apart from the runtime, from the rule: children get floor(W a / 255) of a parent's weight W, where
// a = floor(255 (D + 20 - d) / 20) times the ramp / 255; the parent keeps the rest. All sets ready and faded in:
constexpr Weights kReady[] = {
    {58, 255, 0, 0},   {59, 255, 0, 0},    {60, 255, 0, 0},    {61, 242, 13, 0},  {62, 229, 26, 0},  {63, 216, 39, 0},
    {64, 204, 51, 0},  {65, 191, 64, 0},   {66, 178, 77, 0},   {67, 165, 90, 0},  {68, 153, 102, 0}, {69, 140, 115, 0},
    {70, 127, 128, 0}, {71, 108, 134, 13}, {72, 91, 138, 26},  {73, 75, 141, 39}, {74, 60, 144, 51}, {75, 47, 144, 64},
    {76, 35, 143, 77}, {77, 24, 141, 90},  {78, 15, 138, 102}, {79, 6, 134, 115}, {80, 0, 127, 128}, {81, 0, 114, 141},
    {82, 0, 102, 153}, {83, 0, 89, 166},   {84, 0, 76, 179},   {85, 0, 63, 192},  {86, 0, 51, 204},  {87, 0, 38, 217},
    {88, 0, 25, 230},  {89, 0, 12, 243},   {90, 0, 0, 255},    {91, 0, 0, 255},   {92, 0, 0, 255}};

// The houses half faded in, at 127 of 255.
constexpr Weights kHalfRamp[] = {
    {58, 127, 128, 0}, {59, 127, 128, 0}, {60, 127, 128, 0}, {61, 120, 135, 0}, {62, 114, 141, 0}, {63, 107, 148, 0},
    {64, 101, 154, 0}, {65, 95, 160, 0},  {66, 88, 167, 0},  {67, 82, 173, 0},  {68, 76, 179, 0},  {69, 69, 186, 0},
    {70, 63, 192, 0},  {71, 53, 189, 13}, {72, 44, 185, 26}, {73, 37, 179, 39}, {74, 29, 175, 51}, {75, 23, 168, 64},
    {76, 17, 161, 77}, {77, 11, 154, 90}, {78, 7, 146, 102}, {79, 2, 138, 115}, {80, 0, 127, 128}, {81, 0, 114, 141},
    {82, 0, 102, 153}, {83, 0, 89, 166},  {84, 0, 76, 179},  {85, 0, 63, 192},  {86, 0, 51, 204},  {87, 0, 38, 217},
    {88, 0, 25, 230},  {89, 0, 12, 243},  {90, 0, 0, 255},   {91, 0, 0, 255},   {92, 0, 0, 255}};

// And the block at 63.
constexpr Weights kBothRamp[] = {
    {58, 31, 32, 192}, {59, 31, 32, 192}, {60, 31, 32, 192}, {61, 29, 34, 192}, {62, 28, 35, 192}, {63, 26, 37, 192},
    {64, 24, 39, 192}, {65, 23, 40, 192}, {66, 21, 42, 192}, {67, 20, 43, 192}, {68, 18, 45, 192}, {69, 17, 46, 192},
    {70, 15, 48, 192}, {71, 12, 47, 196}, {72, 10, 46, 199}, {73, 9, 44, 202},  {74, 7, 43, 205},  {75, 5, 42, 208},
    {76, 4, 39, 212},  {77, 2, 38, 215},  {78, 1, 36, 218},  {79, 0, 34, 221},  {80, 0, 31, 224},  {81, 0, 28, 227},
    {82, 0, 25, 230},  {83, 0, 21, 234},  {84, 0, 18, 237},  {85, 0, 15, 240},  {86, 0, 12, 243},  {87, 0, 9, 246},
    {88, 0, 6, 249},   {89, 0, 2, 253},   {90, 0, 0, 255},   {91, 0, 0, 255},   {92, 0, 0, 255}};

void expect_flight(Town& town, std::span<const Weights> table) {
  for (const Weights& at : table) {
    const Town::Drawn drawn = town.look({0, static_cast<float>(at.metres), 0});
    EXPECT_EQ(drawn.alpha[kHouse], at.house) << at.metres;
    EXPECT_EQ(drawn.alpha[kShed], at.house * 100 / 255) << at.metres << ": times its own alpha";
    EXPECT_EQ(drawn.alpha[kBlock], at.block) << at.metres;
    EXPECT_EQ(drawn.alpha[kTown], at.town) << at.metres;
    EXPECT_EQ(at.house + at.block + at.town, 255u) << at.metres;
    for (uint32_t i = 0; i < kEntities; ++i)
      EXPECT_EQ(drawn.visible[i], drawn.alpha[i] != 0 ? phase_bit(3) : 0u) << at.metres << " " << i;
  }
}

TEST(ScanLod, SCAN8_CrossFadeAtEachMetre) {
  Town town;
  town.set_ready(kBlockSet, true);
  town.set_ready(kTownSet, true);
  town.pass(2);
  expect_flight(town, kReady);
}

TEST(ScanLod, SCAN8_ARampFadesChildrenIn) {
  Town town;
  town.set_ready(kTownSet, true);
  town.pass(2);
  town.set_ready(kBlockSet, true);
  town.pass(0.5f);
  expect_flight(town, kHalfRamp);
}

TEST(ScanLod, SCAN8_RampsOfAChainMultiply) {
  Town town;
  town.set_ready(kBlockSet, true);
  town.pass(0.25f);
  town.set_ready(kTownSet, true);
  town.pass(0.25f);
  expect_flight(town, kBothRamp);
}

// Past it at 36 m to the side: distances are roots, so alphas are of numbers that floats do not hold.
TEST(ScanLod, SCAN8_CrossFadeOfAPassingFlight) {
  constexpr uint32_t kHouseAlpha[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 244, 234, 224,
                                      213, 203, 192, 181, 171, 160, 149, 138, 127, 116, 105, 94,
                                      83,  72,  61,  50,  38,  27,  16,  5,   0,   0,   0,   0};
  Town town;
  town.set_ready(kBlockSet, true);
  town.set_ready(kTownSet, true);
  town.pass(2);
  for (size_t i = 0; i < std::size(kHouseAlpha); ++i) {
    const auto y = static_cast<float>(40 + i);
    const Town::Drawn drawn = town.look({-36, y, 0});
    if (y * y + 36 * 36 > 70 * 70) break;  // from there on the town has a part
    EXPECT_EQ(drawn.alpha[kHouse], kHouseAlpha[i]) << y;
    EXPECT_EQ(drawn.alpha[kBlock], 255 - kHouseAlpha[i]) << y;
  }
  // Without the town above: the same houses, and the block keeps all the rest.
  Town alone(true, false);
  alone.set_ready(kBlockSet, true);
  alone.pass(2);
  for (size_t i = 0; i < std::size(kHouseAlpha); ++i) {
    const Town::Drawn drawn = alone.look({-36, static_cast<float>(40 + i), 0});
    EXPECT_EQ(drawn.alpha[kHouse], kHouseAlpha[i]) << 40 + i;
  }
}

// --- ready or not --------------------------------------------------------------------------------------------

TEST(ScanLod, SCAN8_WhatIsNotReadyIsAskedForAndItsParentDrawn) {
  Town town;
  town.set_ready(kTownSet, true);
  town.pass(2);
  const Town::Drawn drawn = town.look({0, 30, 0});
  EXPECT_EQ(drawn.alpha[kBlock], 255u) << "as if it had no children";
  EXPECT_EQ(drawn.visible[kBlock], phase_bit(3));
  for (const uint32_t child : {kHouse, kShed}) {
    EXPECT_EQ(drawn.alpha[child], 0u);
    EXPECT_EQ(drawn.visible[child], 0u);
    EXPECT_EQ(drawn.streamed[child], phase_bit(3)) << "asked for";
    EXPECT_EQ(drawn.flags[child], kPvsLodChild);
  }
  EXPECT_EQ(drawn.alpha[kTown], 0u);
  EXPECT_EQ(drawn.streamed[kTown], phase_bit(3));
  EXPECT_EQ(drawn.flags[kBlock], kPvsLodParent);
  EXPECT_EQ(drawn.flags[kTown], kPvsLodParent);
}

// The swap is of the set: the moment that it is no longer ready, all children go and the parent stands.
TEST(ScanLod, P064_ASetSwapsAsOne) {
  Town town;
  town.set_ready(kBlockSet, true);
  town.set_ready(kTownSet, true);
  EXPECT_EQ(town.look({0, 10, 0}).alpha[kTown], 255u) << "ready, and not a bit faded in";
  town.pass(2);
  Town::Drawn drawn = town.look({0, 10, 0});
  EXPECT_EQ(drawn.alpha[kHouse], 255u);
  EXPECT_EQ(drawn.alpha[kBlock] + drawn.alpha[kTown], 0u);
  town.set_ready(kBlockSet, false);
  drawn = town.look({0, 10, 0});
  EXPECT_EQ(drawn.alpha[kHouse] + drawn.alpha[kShed], 0u);
  EXPECT_EQ(drawn.alpha[kBlock], 255u);
  town.set_ready(kTownSet, false);
  drawn = town.look({0, 10, 0});
  EXPECT_EQ(drawn.alpha[kBlock], 0u) << "a set above that is not ready takes all below it";
  EXPECT_EQ(drawn.alpha[kTown], 255u);
}

// --- who stands alone ----------------------------------------------------------------------------------------

// No parent there: it fades by its own distance, which is the set's.
TEST(ScanLod, SCAN8_WithoutAParentAnEntityFadesAlone) {
  Town town(false, false);
  for (const Weights& at : kReady) {
    const Town::Drawn drawn = town.look({0, static_cast<float>(at.metres), 0});
    const int left = std::clamp(80 - at.metres, 0, 20);
    EXPECT_EQ(drawn.alpha[kHouse], static_cast<uint32_t>(255 * left / 20)) << at.metres;
    EXPECT_EQ(drawn.flags[kHouse], 0u);
    EXPECT_EQ(drawn.alpha[kBlock], static_cast<uint32_t>(255 * std::clamp(90 - at.metres, 0, 20) / 20)) << at.metres;
    EXPECT_EQ(drawn.alpha[kTown], 255u);
  }
}

// The block is a child of the town still, though its own set is not there.
TEST(ScanLod, SCAN8_AParentWithoutItsOwnSetIsAChildStill) {
  Town town(false, true);
  town.set_ready(kTownSet, true);
  town.pass(2);
  const Town::Drawn drawn = town.look({0, 80, 0});
  EXPECT_EQ(drawn.alpha[kBlock], 127u);
  EXPECT_EQ(drawn.alpha[kTown], 128u);
  EXPECT_EQ(drawn.flags[kBlock], kPvsLodChild);
  EXPECT_EQ(town.look({0, 70, 0}).alpha[kHouse], 127u) << "which it fades by: alone";
}

// The uppermost one fades by its own distance: 300 m and 20 m of fading.
TEST(ScanLod, SCAN8_TheRootFadesByItsOwnDistance) {
  Town town;
  town.set_ready(kTownSet, true);
  town.pass(2);
  EXPECT_EQ(town.look({0, 300, 0}).alpha[kTown], 255u);
  EXPECT_EQ(town.look({0, 305, 0}).alpha[kTown], 191u) << "floor(255 * 15 / 20)";
  EXPECT_EQ(town.look({0, 319, 0}).alpha[kTown], 12u);
  EXPECT_EQ(town.look({0, 321, 0}).streamed[kTown], 0u);
}

// ORPHANHD of 20 m and less fades within 5 m, all else within 20.
TEST(ScanLod, SCAN6_SmallOrphansFadeFast) {
  ScanKit kit;
  const auto add = [&](float distance, uint8_t level) {
    EntityDesc d = test::cube_at({}, distance);
    d.level = level;
    return kit.add(d);
  };
  const EntityHandle orphan = add(20, 5), longer = add(21, 5), hd = add(20, 0);
  const auto alpha = [&](EntityHandle of, float d) {
    const std::vector<PvsEntry> seen = kit.run({.lod = {.camera = {0, d, 0}}}, {sphere_shape(0, {}, 9)});
    const PvsEntry* const at = ScanKit::find(seen, of);
    return at != nullptr ? uint32_t{at->alpha} : 0;
  };
  EXPECT_EQ(alpha(orphan, 22), 153u) << "floor(255 * 3 / 5)";
  EXPECT_EQ(alpha(orphan, 25.5f), 0u);
  EXPECT_EQ(alpha(longer, 26), 191u) << "floor(255 * 15 / 20)";
  EXPECT_EQ(alpha(hd, 25), 191u);
  EXPECT_EQ(alpha(hd, 39), 12u);
}

// The scale is that of the children's level: of the houses' 0, of the block's 1.
TEST(ScanLod, SCAN8_TheScaleIsThatOfTheChildrensLevel) {
  Town town;
  town.set_ready(kBlockSet, true);
  town.set_ready(kTownSet, true);
  town.pass(2);
  LodView lod;
  lod.scales[0] = 0.5f;  // houses up to 30 m
  lod.scales[1] = 2;     // blocks up to 140 m
  Town::Drawn drawn = town.look({0, 40, 0}, lod);
  EXPECT_EQ(drawn.alpha[kHouse], 127u);
  EXPECT_EQ(drawn.alpha[kBlock], 128u);
  drawn = town.look({0, 145, 0}, lod);
  EXPECT_EQ(drawn.alpha[kBlock], 191u) << "floor(255 * 15 / 20)";
  EXPECT_EQ(drawn.alpha[kTown], 64u);
}

// P064: whatever is ready, wherever the camera is, each chain adds up to one picture within the root's range.
TEST(ScanLod, P064_ChainsAlwaysAddUpTo255) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  Town town;
  uint32_t mixed = 0;
  for (int i = 0; i < 3000; ++i) {
    town.set_ready(kBlockSet, dice.chance(0.8));
    town.set_ready(kTownSet, dice.chance(0.8));
    if (dice.chance(0.8)) town.pass(dice.number(0, 1));
    LodView lod;
    lod.scales[0] = dice.number(0.1f, 3);
    lod.scales[1] = dice.number(0.1f, 3);
    lod.zoom = dice.chance(0.5) ? 1.0f : dice.number(0.5f, 2);
    lod.default_scale = 2 / lod.zoom;  // the town's: 600 m
    const Town::Drawn drawn = town.look({0, dice.number(0, 300), 0}, lod);
    ASSERT_EQ(drawn.alpha[kHouse] + drawn.alpha[kBlock] + drawn.alpha[kTown], 255u) << i;
    if (drawn.alpha[kHouse] % 255 != 0 || drawn.alpha[kBlock] % 255 != 0) ++mixed;
  }
  EXPECT_GT(mixed, 300u);
}

}  // namespace
}  // namespace meridian
