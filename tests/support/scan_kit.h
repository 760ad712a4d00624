// SPDX-License-Identifier: MIT
#pragma once
/// A scene to scan, and scans as one call.
///
///   test::ScanKit kit;
///   kit.add_cube({0, 50, 0});
///   const std::vector<PvsEntry> seen = kit.run({}, {test::sphere_shape(0, {}, 100)});
///
/// Entries come back ordered by handle, so that sets of them compare as vectors.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "meridian/base/simd.h"
#include "meridian/jobs/serial_jobs.h"
#include "meridian/scene/lod_set.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/visibility/scan.h"
#include "support/checked_memory.h"

namespace meridian {

/// All of an entry counts: handle, distance, phases, alpha, flags. Found by argument, so not in `test`.
inline bool operator==(const PvsEntry& a, const PvsEntry& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline void PrintTo(const PvsEntry& e, std::ostream* out) {
  *out << e.entity.slot << "/" << e.entity.generation << " at " << e.distance << " m, seen by " << std::hex
       << uint32_t{e.visible_phases} << ", wanted by " << uint32_t{e.stream_phases} << std::dec << ", alpha "
       << uint32_t{e.alpha} << ", flags " << uint32_t{e.flags};
}

namespace test {

inline constexpr SceneCapacities kScanScene{.streamed_nodes = 24,
                                            .interior_nodes = 2,
                                            .room_nodes = 4,
                                            .portal_nodes = 4,
                                            .containers = 24,
                                            .fixed_containers = 1,
                                            .soa_containers = 96,
                                            .lights = 64,
                                            .light_updates = 64,
                                            .descriptors = 32768};

/// A camera: where it is, and its axes, each of length 1 and square to the others.
struct Eye {
  Vec3 at{};
  Vec3 right{1, 0, 0}, forward{0, 1, 0}, up{0, 0, 1};
};

/// What the picture itself is drawn by: all that the frustum touches outside.
inline CullShape primary_shape(uint8_t phase, const Eye& eye = {}, const ViewLens& lens = {}) {
  CullShape out;
  out.flags = kCullPrimary | kCullUseFrustum | kCullRenderExterior;
  out.phase = phase;
  out.camera = eye.at;
  set_frustum(out, eye.right, eye.forward, eye.up, lens);
  out.screen = screen_projection(eye.at, eye.right, eye.forward, eye.up, lens);
  return out;
}

/// All outside that touches a sphere.
inline CullShape sphere_shape(uint8_t phase, const Vec3& centre, float radius,
                              VisibilityType visibility = VisibilityType::gbuffer) {
  CullShape out;
  out.flags = kCullUseSphere | kCullRenderExterior;
  out.phase = phase;
  out.visibility = visibility;
  out.camera = out.sphere_centre = centre;
  out.sphere_radius = radius;
  return out;
}

/// The same one, with other flags too.
inline CullShape with_flags(CullShape shape, uint32_t flags) {
  shape.flags |= flags;
  return shape;
}

inline uint32_t phase_bit(uint8_t phase) { return 1u << phase; }

/// A cube of 2 m that all kinds of pictures show, in full up to 100 m.
inline EntityDesc cube_at(const Vec3& centre, float distance = 100) {
  EntityDesc out;
  out.centre = out.pivot = centre;
  out.half = {1, 1, 1};
  out.distance = distance;
  out.mask = kAllPhasesMask;
  out.alpha = 255;
  out.flags = kDescActive;
  return out;
}

inline bool by_handle(const PvsEntry& a, const PvsEntry& b) {
  if (a.entity.generation != b.entity.generation) return a.entity.generation < b.entity.generation;
  return a.entity.slot < b.entity.slot;
}

inline std::vector<PvsEntry> by_handle_sorted(std::vector<PvsEntry> entries) {
  std::sort(entries.begin(), entries.end(), by_handle);
  return entries;
}

/// All that a reader gets, in its order.
inline std::vector<PvsEntry> read_all(Scan& scan) {
  std::vector<PvsEntry> out;
  ScanCursor cursor;
  std::span<const PvsEntry> block;
  while (scan.next_block(cursor, block)) {
    EXPECT_GE(block.size(), 1u);
    EXPECT_LE(block.size(), kPvsBlockEntries);
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

/// Begins a frame and starts it. Fails the test where any of that is refused.
inline void start_scan(Scan& scan, const ScanFrame& frame, std::span<const CullShape> shapes, JobSystem& jobs) {
  const auto good = [](const Status& status) { EXPECT_TRUE(status.ok()) << status.message; };
  good(scan.begin_frame(frame));
  for (const CullShape& shape : shapes) good(scan.add(shape));
  good(scan.start(jobs));
}

/// A whole scan; what it sees, by handle.
inline std::vector<PvsEntry> run_scan(Scan& scan, const ScanFrame& frame, std::span<const CullShape> shapes,
                                      JobSystem& jobs) {
  start_scan(scan, frame, shapes, jobs);
  std::vector<PvsEntry> out = read_all(scan);
  const Status joined = scan.join();
  EXPECT_TRUE(joined.ok()) << joined.message;
  EXPECT_TRUE(scan.results().complete);
  EXPECT_EQ(scan.results().needed, out.size());
  EXPECT_EQ(scan.results().stored, out.size());
  std::sort(out.begin(), out.end(), by_handle);
  return out;
}

/// Scene, LOD sets, a scan, and jobs that run where they are waited for.
struct ScanKit {
  explicit ScanKit(const SceneCapacities& capacities = kScanScene, uint32_t max_entries = 32768,
                   const LodSetConfig& lod = {.capacity = 64, .ramp_seconds = 1}) {
    EXPECT_TRUE(graph.init(capacities, memory, &tracker).ok());
    LodSetConfig own = lod;
    own.graph = &graph;
    own.tracker = &tracker;
    EXPECT_TRUE(sets.init(own, memory).ok());
    EXPECT_TRUE(scan.init(config(max_entries), memory).ok());
    EXPECT_TRUE(jobs.start({.allocator = &memory}).ok());
  }
  ScanConfig config(uint32_t max_entries = 32768) {
    return {.graph = &graph, .lod_sets = &sets, .max_entries = max_entries, .tracker = &tracker};
  }

  /// The handle that add() gives next has the slot that is said here.
  uint32_t next_handle = 1;
  EntityHandle add(const EntityDesc& desc, SceneNode* node = nullptr, ContainerUse use = ContainerUse::placed) {
    const EntityHandle handle{.generation = 1, .slot = next_handle++};
    const Result<SceneSlot> slot = graph.insert(node != nullptr ? *node : *graph.root(), use, handle, desc);
    EXPECT_TRUE(slot.ok()) << slot.status().message;
    return handle;
  }
  EntityHandle add_cube(const Vec3& centre, float distance = 100) { return add(cube_at(centre, distance)); }
  /// A node of a map, in the world.
  StreamedNode& add_node() {
    StreamedNode* const node = graph.create_streamed();
    EXPECT_TRUE(graph.append(*graph.root(), *node).ok());
    return *node;
  }

  std::vector<PvsEntry> run(const ScanFrame& frame, std::span<const CullShape> shapes) {
    return run_scan(scan, frame, shapes, jobs);
  }
  std::vector<PvsEntry> run(const ScanFrame& frame, std::initializer_list<CullShape> shapes) {
    return run(frame, std::span(shapes.begin(), shapes.size()));
  }
  /// Phases that draw an entity, and those that want it, in the last of `entries`; 0 if it is not among them.
  static uint32_t drawn(std::span<const PvsEntry> entries, EntityHandle entity) {
    const PvsEntry* const at = find(entries, entity);
    return at != nullptr ? at->visible_phases : 0;
  }
  static uint32_t wanted(std::span<const PvsEntry> entries, EntityHandle entity) {
    const PvsEntry* const at = find(entries, entity);
    return at != nullptr ? at->stream_phases : 0;
  }
  static const PvsEntry* find(std::span<const PvsEntry> entries, EntityHandle entity) {
    for (const PvsEntry& entry : entries)
      if (entry.entity == entity) return &entry;
    return nullptr;
  }

  CheckedMemory memory;
  MemoryTracker tracker;
  SceneGraph graph;
  LodSetTable sets;
  SerialJobs jobs;
  Scan scan;
};

/// Counters without times, one after the other.
inline std::vector<uint64_t> counts_of(const ScanCounters& counters) {
  ScanCounters copy = counters;
  copy.node_ns = copy.entity_ns = 0;
  std::vector<uint64_t> out(sizeof copy / sizeof(uint64_t));
  std::memcpy(out.data(), &copy, sizeof copy);
  return out;
}

/// Scans in every width that this machine has: entries and counters are those of the scalar loops, bit for bit.
/// Returns how many entities, each for each shape, were compared.
inline uint64_t expect_equal_widths(ScanKit& kit, const ScanFrame& frame, std::span<const CullShape> shapes) {
  EXPECT_TRUE(set_simd_width(SimdWidth::scalar));
  const std::vector<PvsEntry> expected = kit.run(frame, shapes);
  const ScanCounters counters = kit.scan.results().counters;
  const std::span<const uint32_t> at = kit.scan.node_phases();
  const std::vector<uint32_t> nodes(at.begin(), at.end());
  uint64_t compared = 0;
  for (const SimdWidth width : {SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
    if (!set_simd_width(width)) continue;
    const std::vector<PvsEntry> seen = kit.run(frame, shapes);
    EXPECT_EQ(seen, expected) << to_string(width);
    EXPECT_EQ(counts_of(kit.scan.results().counters), counts_of(counters)) << to_string(width);
    EXPECT_TRUE(std::equal(nodes.begin(), nodes.end(), kit.scan.node_phases().begin())) << to_string(width);
    compared += counters.entities * shapes.size();
  }
  EXPECT_TRUE(set_simd_width(best_simd_width()));
  return compared;
}

}  // namespace test
}  // namespace meridian
