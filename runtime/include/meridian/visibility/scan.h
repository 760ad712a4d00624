// SPDX-License-Identifier: MIT
#pragma once
/// The visibility scan: one pass over the scene for all render phases. It tells each phase what it can see and what
/// should be loaded, and its results can be read while it still runs.
///
///   Scan scan;
///   Status ready = scan.init({.graph = &graph, .lod_sets = &sets});
///   // each frame:
///   ready = scan.begin_frame({.lod = {.camera = camera}});
///   ready = scan.add(gbuffer);                       // visibility/cull_shape.h
///   ready = scan.add(shadows);
///   ready = scan.start(jobs);                        // locks the scene
///   ScanCursor cursor;
///   std::span<const PvsEntry> block;
///   while (scan.next_block(cursor, block)) draw(block);
///   ready = scan.join();                             // unlocks
///   if (!scan.results().complete) grow_pvs(scan.results().needed);
///
/// A frame goes: begin_frame, which also does what SceneGraph::pre_scan does; add for each shape; start. Then a *node
/// job* finds which nodes and containers each shape touches, from the outside and through portals, and *entity jobs*
/// look at the descriptors of those. They write entries in blocks of at most 32, which readers see at once. join waits
/// for all of it.
///
/// Each entity goes through the same stages, and what one of them decides no other changes:
/// 1. early reject: hidden, out of hours, beyond its LOD distance, outside a cull window;
/// 2. for each phase: exclusion (type, mask, level, ranges, caps), the volume;
/// 3. its LOD weight, the same for all phases. Who has none is not drawn but still asked for;
/// 4. occlusion, for each phase that is left. What is occluded is not drawn but still asked for.
///
/// The same scene and shapes give the same set of entries for any number of threads and any width of vectors. With
/// ScanFrame::ordered readers also get them in the same order. Neither holds when the output is full.
///
/// Several scans may run at the same time, each an object of its own.
///
/// Threads: main: all but what says otherwise. Jobs touch descriptors and nodes only, never an entity.
/// Memory:  two blocks in init (about 24 bytes an entry, 120 a container, 68 a node, and the table of portals); none
///          later.
/// Source:  own.

#include <cstdint>
#include <optional>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/jobs/job_system.h"
#include "meridian/scene/lod_set.h"
#include "meridian/scene/scene_graph.h"
#include "meridian/visibility/cull_shape.h"
#include "meridian/visibility/scan_results.h"

namespace meridian {

class OcclusionBuffer;
struct ScanState;

inline constexpr uint32_t kMaxCullWindows = 32;
inline constexpr uint32_t kMaxClosedInteriors = 16;

struct ScanConfig {
  SceneGraph* graph = nullptr;            ///< not null
  const LodSetTable* lod_sets = nullptr;  ///< null: each entity fades by its own distance
  uint32_t max_entries = 32768;           ///< of the PVS [>= 1] [count]
  uint32_t portal_depth = 24;             ///< portals behind each other [>= 1] [count]
  const char* name = "Scan";              ///< of its memory
  MemoryTracker* tracker = nullptr;       ///< null: default_memory_tracker()
};

/// Where things are seen from `min` to `max` metres away only, as a time cycle's box says.
struct CullWindow {
  Aabb box{};     ///< of entities whose box touches this [m]
  float min = 0;  ///< [m]
  float max = 0;  ///< [>= min] [m]
};

/// What holds for all shapes of a frame.
struct ScanFrame {
  LodView lod{};
  std::span<const CullWindow> windows{};        ///< at most kMaxCullWindows; an entity must pass all it touches
  std::span<const int16_t> closed_interiors{};  ///< InteriorNode::interior; not seen from outside, <= 16
  const OcclusionBuffer* occlusion[kScanOcclusionBuffers] = {};  ///< finished, and not touched until join; may be null
  uint32_t level_filter = kAllLevels;   ///< levels that are drawn at all: 1u << schema::LodLevel
  uint32_t stream_filter = kAllLevels;  ///< levels that shapes which only stream ask for
  bool ordered = false;                 ///< readers get entries by node, then container, then slot
};

/// How far a reader is. Each reader has one of its own for each scan, and sees every block.
struct ScanCursor {
  uint32_t epoch = 0;  ///< of the scan that is read; 0: none yet
  uint32_t next = 0;   ///< block
  uint32_t slice = 0;  ///< for scans that are ordered
};

class Scan {
 public:
  Scan() = default;
  /// Requires: not started (asserted; otherwise it is cancelled and joined).
  ~Scan();
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  /// Requires: called once; a graph that was initialised (asserted; otherwise in_use, bad_value).
  /// Errors: out_of_memory, bad_value (max_entries or portal_depth of 0), too_large (max_entries above 2^26).
  Status init(const ScanConfig& config, Allocator& allocator = default_allocator());

  /// Forgets the shapes and takes what the next scan goes by. Copies what `frame` points to, but for occlusion buffers.
  /// Errors: in_use (started), bad_value (a view, window or list that check() would refuse; the last frame stays).
  Status begin_frame(const ScanFrame& frame);
  /// Errors: bad_value (see check(CullShape); a phase or quad store that another shape has; a second primary shape),
  ///         out_of_slots (kMaxCullShapes), in_use (started), not_found (it starts in a room that is not in the world).
  Status add(const CullShape& shape);

  /// Locks the scene and starts the node job. Without a primary shape nodes that only show with it are not seen.
  /// Requires: begin_frame was called (asserted; otherwise bad_value). Errors: in_use (started).
  Status start(JobSystem& jobs);
  bool is_started() const { return jobs_ != nullptr; }

  /// The next block, or false if there are no more. Waits while jobs run: it does one of them, or looks for 20 us, or
  /// sleeps. The entries live until the next begin_frame.
  /// Requires: started, or joined and no new frame begun; a cursor of this scan, or a new one (asserted; otherwise
  ///           false). The JobSystem lives until all readers have been told that there are no more.
  /// Threads: any number of readers, each with its cursor, from start to the next begin_frame.
  bool next_block(ScanCursor& cursor, std::span<const PvsEntry>& block);
  /// Lets entity jobs end as soon as they can. join() is due all the same. Threads: any.
  void cancel();
  /// Waits for all jobs, unlocks the scene, and publishes results().
  /// Errors: not_found (not started), out_of_slots (the output was full; detail = entries needed).
  Status join();

  /// Of the last scan that was joined.
  const ScanResults& results() const { return results_; }
  /// Phases that see a node, by dense index; of the last scan that was joined, until the next begins.
  std::span<const uint32_t> node_phases() const;
  /// How much of its picture a phase with a quad store sees a node in: what it sees of the outside for all nodes there;
  /// empty for those that it does not see. Requires: store < kScreenQuadStores (asserted; otherwise empty).
  ScreenRect node_quad(uint32_t store, uint32_t node) const;

  const ScanConfig& config() const { return config_; }
  uint32_t shape_count() const;
  /// In the order in which they are looked at, once started. Requires: index < shape_count().
  const CullShape& shape(uint32_t index) const;

 private:
  friend class ScanExplainer;

  ScanConfig config_;
  std::optional<TrackedAllocator> memory_;
  ScanState* state_ = nullptr;
  JobSystem* jobs_ = nullptr;
  JobCounter counter_;
  ScanResults results_;
};

}  // namespace meridian
