// SPDX-License-Identifier: MIT
// SCAN-1, SG-4: the calls of a frame and their order, and what is refused.
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "support/captured.h"
#include "support/scan_town.h"
#include "unit/runtime/jobs/job_kit.h"

namespace meridian {
namespace {

using test::broke;
using test::BrokenContracts;
using test::cube_at;
using test::primary_shape;
using test::read_all;
using test::ScanKit;
using test::ScanTown;
using test::sphere_shape;
using test::start_scan;
using test::with_flags;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// --- init ----------------------------------------------------------------------------------------------------

TEST(ScanProtocol, SCAN1_InitRefusesWhatItCannotDo) {
  ScanKit kit;
  BrokenContracts contracts;
  Scan scan;
  ScanConfig config = kit.config();
  config.graph = nullptr;
  EXPECT_EQ(scan.init(config, kit.memory).code, StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  config = kit.config();
  config.max_entries = 0;
  EXPECT_EQ(scan.init(config, kit.memory).code, StatusCode::bad_value);
  config.max_entries = (1u << 26) + 1;
  EXPECT_EQ(scan.init(config, kit.memory).code, StatusCode::too_large);
  config = kit.config();
  config.portal_depth = 0;
  EXPECT_EQ(scan.init(config, kit.memory).code, StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts, 0));
  EXPECT_TRUE(scan.init(kit.config(), kit.memory).ok()) << "what failed left nothing behind";
  EXPECT_EQ(scan.init(kit.config(), kit.memory).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
}

// Each allocation may fail: nothing is leaked (the kit's memory looks), and another try succeeds.
TEST(ScanProtocol, SCAN1_InitWithoutMemory) {
  ScanKit kit;
  for (int left = 0;; ++left) {
    ASSERT_LT(left, 20);
    test::CheckedMemory memory;
    memory.fail_after(left);
    Scan scan;
    const Status status = scan.init(kit.config(), memory);
    if (status.ok()) {
      EXPECT_GT(left, 0);
      break;
    }
    EXPECT_EQ(status.code, StatusCode::out_of_memory);
    EXPECT_EQ(memory.blocks(), 0u);
    memory.fail_after(-1);
    EXPECT_TRUE(scan.init(kit.config(), memory).ok());
  }
}

TEST(ScanProtocol, SCAN1_MemoryIsCountedUnderItsName) {
  ScanKit kit;
  const uint64_t before = kit.memory.bytes();
  {
    Scan scan;
    ScanConfig config = kit.config(1000);
    config.name = "Second";
    ASSERT_TRUE(scan.init(config, kit.memory).ok());
    EXPECT_GE(kit.memory.bytes() - before, 1000 * sizeof(PvsEntry));
  }
  EXPECT_EQ(kit.memory.bytes(), before);
}

// --- order of calls ------------------------------------------------------------------------------------------

TEST(ScanProtocol, SCAN1_NothingGoesBeforeItsTurn) {
  ScanKit kit;
  Scan& scan = kit.scan;
  BrokenContracts contracts;
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  EXPECT_EQ(scan.add(primary_shape(0)).code, StatusCode::bad_value) << "no frame";
  EXPECT_EQ(scan.join().code, StatusCode::not_found);
  EXPECT_TRUE(broke(contracts, 0));
  EXPECT_EQ(scan.start(kit.jobs).code, StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(scan.next_block(cursor, block));
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(scan.is_started());
  EXPECT_FALSE(kit.graph.is_locked());
  EXPECT_EQ(scan.results().epoch, 0u);
  EXPECT_EQ(scan.shape_count(), 0u);
  scan.cancel();  // of nothing

  Scan raw;
  EXPECT_EQ(raw.begin_frame({}).code, StatusCode::bad_value);
  EXPECT_TRUE(broke(contracts));
  EXPECT_TRUE(raw.node_phases().empty());
  raw.cancel();
}

TEST(ScanProtocol, SCAN1_AStartedScanTakesNothingMoreUntilItIsJoined) {
  ScanKit kit;
  Scan& scan = kit.scan;
  kit.add_cube({0, 20, 0});
  const CullShape shape = primary_shape(0);
  start_scan(scan, {}, std::span(&shape, 1), kit.jobs);
  EXPECT_TRUE(scan.is_started());
  EXPECT_TRUE(kit.graph.is_locked());
  BrokenContracts contracts;
  EXPECT_EQ(scan.begin_frame({}).code, StatusCode::in_use);
  EXPECT_EQ(scan.add(sphere_shape(1, {}, 1)).code, StatusCode::in_use);
  EXPECT_EQ(scan.start(kit.jobs).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts, 0));
  // SG-4: nothing changes under it.
  EXPECT_EQ(kit.graph.insert(*kit.graph.root(), ContainerUse::placed, {1, 99}, cube_at({})).status().code,
            StatusCode::in_use);
  EXPECT_TRUE(broke(contracts));
  EXPECT_TRUE(scan.join().ok());
  EXPECT_FALSE(scan.is_started());
  EXPECT_FALSE(kit.graph.is_locked());
  EXPECT_EQ(scan.results().stored, 1u);
  EXPECT_EQ(scan.join().code, StatusCode::not_found);
  EXPECT_EQ(scan.start(kit.jobs).code, StatusCode::bad_value) << "each start has a frame of its own";
  EXPECT_TRUE(broke(contracts));
  EXPECT_EQ(scan.add(sphere_shape(1, {}, 1)).code, StatusCode::bad_value);
}

// Blocks stay until the next frame begins.
TEST(ScanProtocol, SCAN1_BlocksLiveUntilTheNextFrame) {
  ScanKit kit;
  kit.add_cube({0, 20, 0});
  EXPECT_EQ(kit.run({}, {primary_shape(0)}).size(), 1u);
  EXPECT_EQ(read_all(kit.scan).size(), 1u) << "joined, and read by one more";
  ASSERT_TRUE(kit.scan.begin_frame({}).ok());
  BrokenContracts contracts;
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  EXPECT_FALSE(kit.scan.next_block(cursor, block));
  EXPECT_TRUE(broke(contracts));
}

TEST(ScanProtocol, SCAN1_AFrameThatIsRefusedLeavesTheLastOne) {
  ScanKit kit;
  Scan& scan = kit.scan;
  kit.add_cube({0, 20, 0});
  const auto refused = [&](const ScanFrame& frame) { return scan.begin_frame(frame).code == StatusCode::bad_value; };
  ASSERT_TRUE(scan.begin_frame({}).ok());
  ASSERT_TRUE(scan.add(primary_shape(5)).ok());
  EXPECT_TRUE(refused({.lod = {.zoom = 0}}));
  EXPECT_TRUE(refused({.lod = {.camera = {kNan, 0, 0}}}));
  std::vector<CullWindow> windows(kMaxCullWindows + 1);
  EXPECT_TRUE(refused({.windows = windows}));
  windows.resize(kMaxCullWindows);
  windows[31].min = 2;
  windows[31].max = 1;
  EXPECT_TRUE(refused({.windows = windows}));
  windows[31] = {.box = {{0, 0, 0}, {kNan, 1, 1}}};
  EXPECT_TRUE(refused({.windows = windows}));
  windows[31] = {.max = kNan};
  EXPECT_TRUE(refused({.windows = windows}));
  const std::vector<int16_t> closed(kMaxClosedInteriors + 1);
  EXPECT_TRUE(refused({.closed_interiors = closed}));
  ASSERT_EQ(scan.shape_count(), 1u);
  ASSERT_TRUE(scan.start(kit.jobs).ok());
  EXPECT_EQ(read_all(scan).size(), 1u);
  EXPECT_TRUE(scan.join().ok());
  // One that is taken forgets the shapes.
  windows[31] = {};
  ASSERT_TRUE(scan.begin_frame({.windows = windows, .closed_interiors = std::span(closed).first(16)}).ok());
  EXPECT_EQ(scan.shape_count(), 0u);
}

TEST(ScanProtocol, SCAN1_AddRefusesWhatDoesNotGoTogether) {
  ScanKit kit;
  Scan& scan = kit.scan;
  ASSERT_TRUE(scan.begin_frame({}).ok());
  ASSERT_TRUE(scan.add(primary_shape(0)).ok());
  EXPECT_EQ(scan.add(sphere_shape(0, {}, 1)).code, StatusCode::bad_value) << "the phase is taken";
  EXPECT_EQ(scan.add(primary_shape(1)).code, StatusCode::bad_value) << "a second primary one";
  EXPECT_EQ(scan.add(sphere_shape(1, {}, -1)).code, StatusCode::bad_value);
  CullShape storing = with_flags(sphere_shape(1, {}, 1), kCullClipAndStorePortals);
  storing.quad_store = 3;
  ASSERT_TRUE(scan.add(storing).ok());
  storing.phase = 2;
  EXPECT_EQ(scan.add(storing).code, StatusCode::bad_value) << "the quad store is taken";
  storing.flags &= ~uint32_t{kCullClipAndStorePortals};
  EXPECT_TRUE(scan.add(storing).ok()) << "but it does not store";
  RoomNode& room = *kit.graph.create_room();
  CullShape inside = sphere_shape(3, {}, 1);
  inside.start = &room;
  EXPECT_EQ(scan.add(inside).code, StatusCode::not_found) << "a room that is not in the world";
  for (uint8_t phase = 3; phase < kMaxCullShapes; ++phase) ASSERT_TRUE(scan.add(sphere_shape(phase, {}, 1)).ok());
  EXPECT_EQ(scan.shape_count(), kMaxCullShapes);
  EXPECT_EQ(scan.add(sphere_shape(9, {}, 1)).code, StatusCode::out_of_slots);
  EXPECT_TRUE(scan.start(kit.jobs).ok());
  EXPECT_TRUE(scan.join().ok());
}

// What a frame points to is copied.
TEST(ScanProtocol, SCAN1_AFrameIsCopied) {
  ScanKit kit;
  EntityDesc desc = cube_at({0, 20, 0});
  desc.flags |= kDescMaybeInCullBox;
  kit.add(desc);
  auto windows = std::make_unique<std::vector<CullWindow>>(1);
  windows->front() = {.box = {{-9, -9, -9}, {9, 30, 9}}, .min = 30, .max = 90};
  ASSERT_TRUE(kit.scan.begin_frame({.windows = *windows}).ok());
  windows->front().min = 0;
  windows.reset();
  ASSERT_TRUE(kit.scan.add(primary_shape(0)).ok());
  ASSERT_TRUE(kit.scan.start(kit.jobs).ok());
  EXPECT_TRUE(read_all(kit.scan).empty());
  EXPECT_TRUE(kit.scan.join().ok());
}

// SG-5: lights that wait are merged where a frame begins.
TEST(ScanProtocol, SCAN1_BeginFrameDoesWhatPreScanDoes) {
  ScanKit kit;
  constexpr EntityHandle kLamp{.generation = 3, .slot = 8};
  ASSERT_TRUE(kit.graph.set_light(kLamp, cube_at({0, 20, 0})).ok());
  EXPECT_EQ(kit.graph.light_count(), 0u);
  ASSERT_TRUE(kit.scan.begin_frame({}).ok());
  EXPECT_EQ(kit.graph.light_count(), 1u);
  const std::vector<PvsEntry> seen = kit.run({}, {primary_shape(0)});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].entity, kLamp);
}

TEST(ScanProtocol, SCAN1_AScanThatGoesWhileItRunsIsCancelledAndJoined) {
  ScanTown town;
  BrokenContracts contracts;
  test::ThreadKit threads(2, 64);
  {
    Scan scan;
    ASSERT_TRUE(scan.init(town.kit.config(), town.kit.memory).ok());
    const CullShape shape = town.all();
    start_scan(scan, {}, std::span(&shape, 1), threads.jobs());
    EXPECT_TRUE(town.kit.graph.is_locked());
  }
  EXPECT_TRUE(broke(contracts));
  EXPECT_FALSE(town.kit.graph.is_locked());
}

// --- several ------------------------------------------------------------------------------------------------

TEST(ScanProtocol, SCAN1_TwoScansAtTheSameTime) {
  ScanTown town(6, 400);
  const CullShape left = town.slab(0, 0, 2), right = town.slab(0, 1, 6), other = town.slab(9, 5, 6);
  const std::vector<PvsEntry> of_left = town.kit.run({}, {left}), of_right = town.kit.run({}, {right, other});
  ASSERT_EQ(of_left.size(), 800u);
  ASSERT_EQ(of_right.size(), 2000u);
  test::ThreadKit threads(2, 64);
  Scan second;
  ASSERT_TRUE(second.init(town.kit.config(), town.kit.memory).ok());
  const CullShape rights[] = {right, other};
  for (int round = 0; round < 30; ++round) {
    JobSystem& jobs = round % 2 == 0 ? threads.jobs() : town.kit.jobs;
    start_scan(town.kit.scan, {}, std::span(&left, 1), jobs);
    start_scan(second, {}, rights, jobs);
    std::vector<PvsEntry> seen[2];
    ScanCursor cursors[2];
    bool has_more[2] = {true, true};
    while (has_more[0] || has_more[1]) {
      for (int i = 0; i < 2; ++i) {
        std::span<const PvsEntry> block;
        has_more[i] = has_more[i] && (i == 0 ? town.kit.scan : second).next_block(cursors[i], block);
        if (has_more[i]) seen[i].insert(seen[i].end(), block.begin(), block.end());
      }
    }
    EXPECT_TRUE(town.kit.scan.join().ok());
    EXPECT_TRUE(town.kit.graph.is_locked()) << "the other one still reads";
    EXPECT_TRUE(second.join().ok());
    EXPECT_FALSE(town.kit.graph.is_locked());
    EXPECT_EQ(test::by_handle_sorted(seen[0]), of_left);
    EXPECT_EQ(test::by_handle_sorted(seen[1]), of_right);
  }
}

}  // namespace
}  // namespace meridian
