// SPDX-License-Identifier: MIT
#pragma once
/// All that a Scan has between begin_frame and join, in one block of memory.

#include <atomic>
#include <cstdint>
#include <span>

#include "meridian/visibility/scan.h"
#include "visibility/node_sight.h"
#include "visibility/portal_table.h"
#include "visibility/pvs_stream.h"
#include "visibility/scan_kernel.h"

namespace meridian {

/// Slices [first, last) of the order, for one job.
struct ScanTask {
  uint32_t first = 0, last = 0;
};
inline constexpr uint32_t kMaxEarlyTasks = 64;  ///< started while slices are still looked for
inline constexpr uint32_t kMaxLateTasks = 256;

// In the order of what a scan does with it; there is one of it for each scan.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct ScanState {
  SceneGraph* graph = nullptr;
  JobSystem* jobs = nullptr;
  JobCounter* counter = nullptr;

  // The frame, as begin_frame took it.
  ScanFrame frame;
  CullWindow windows[kMaxCullWindows];
  int16_t closed_interiors[kMaxClosedInteriors] = {};
  CullShape shapes[kMaxCullShapes];
  uint32_t shape_count = 0;
  uint32_t portal_depth = 24;
  uint32_t epoch = 0;
  bool has_frame = false;

  // The node job.
  const ScanKernels* kernels = nullptr;
  ScanInput input;
  ReadyShape outside[kMaxCullShapes];  ///< as the outside is seen
  PortalTable table;
  NodeSight sight;
  uint32_t used_stores = 0;  ///< quad stores of the shapes, a bit each
  HierarchyWalk walk;
  SliceList slices;
  uint32_t primary = kMaxCullShapes;  ///< number of the primary shape, if there is one
  uint32_t followers = 0;             ///< shapes that only see nodes that the primary phase sees, a bit each
  uint32_t* order = nullptr;          ///< numbers of slices as tasks take them: what the primary phase sees first
  uint32_t slices_with_task = 0;      ///< the first ones in `order`: they may be looked at already
  uint32_t* reading_order = nullptr;  ///< and as readers get them, if ordered
  ScanTask tasks[kMaxEarlyTasks + kMaxLateTasks];
  uint32_t task_count = 0;
  uint32_t first_late_task = 0, primary_tasks = 0;  ///< where the tasks of what the primary phase sees begin, and end
  ScanResults results;                              ///< pending

  // Entity jobs.
  PvsStream pvs;
  std::atomic<uint32_t> parts_left{0};
  std::atomic<bool> is_cancelled{false};
  std::atomic<uint32_t> starters{0};  ///< jobs that may still start others
  std::atomic<uint64_t> counters[sizeof(ScanCounters) / sizeof(uint64_t)] = {};

  void* block = nullptr;
  size_t block_bytes = 0;
};
static_assert(sizeof(ScanCounters) % sizeof(uint64_t) == 0);

/// Finds nodes, containers and slices, and starts the jobs that look at them. A job, once a scan. Where there is much to
/// find, tasks start with the first slices while another job looks for the rest.
void run_node_job(ScanState& state);
/// A shape as it looks into a room or portal, or at what reaches through one, which counts as node 0.
ReadyShape ready_in_room(const ScanState& state, uint32_t shape, uint32_t node);

}  // namespace meridian
