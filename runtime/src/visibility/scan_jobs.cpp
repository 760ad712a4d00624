// SPDX-License-Identifier: MIT
// The jobs of a scan: one that finds nodes and containers and cuts them into tasks, and those that do the tasks.
#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "base/float_mode.h"
#include "visibility/scan_state.h"

namespace meridian {
namespace {

/// What a task is worth starting for, see work_of(): four or five containers, so many microseconds.
constexpr uint64_t kSmallestTask = 16384;
constexpr uint64_t kTasksPerThread = 4;
constexpr uint64_t kMostThreads = kMaxLateTasks / kTasksPerThread - 1;  // each of the two parts may have one more

/// So many slices are enough for readers to begin with. While others are looked for, larger tasks will do.
constexpr uint32_t kEarlySlices = 8;
constexpr uint32_t kMostEarlySlices = kEarlySlices + kWideLanes;  ///< found at a time
constexpr uint64_t kEarlyTask = 2 * kSmallestTask;
constexpr uint32_t kAllSlices = 0xFFFFFFFF;

uint32_t find_primary(const ScanState& state) {
  for (uint32_t i = 0; i < state.shape_count; ++i)
    if ((state.shapes[i].flags & kCullPrimary) != 0) return i;
  return kMaxCullShapes;
}

/// Shapes that only see nodes that the primary phase sees, a bit each.
uint32_t followers_of(const ScanState& state) {
  uint32_t followers = 0;
  for (uint32_t i = 0; i < state.shape_count; ++i)
    if ((state.shapes[i].flags & kCullOnlyIfPrimaryRenders) != 0) followers |= 1u << i;
  return followers;
}

bool stores_quads(const CullShape& shape) { return (shape.flags & kCullClipAndStorePortals) != 0; }

void clear_sight(ScanState& state) {
  NodeSight& sight = state.sight;
  std::fill_n(sight.phases, sight.node_count, 0u);
  const uint32_t used_before = state.used_stores;
  state.used_stores = 0;
  for (uint32_t i = 0; i < state.shape_count; ++i)
    if (stores_quads(state.shapes[i])) state.used_stores |= 1u << state.shapes[i].quad_store;
  for (uint32_t store = 0; store < kScreenQuadStores; ++store)
    if (((state.used_stores | used_before) >> store & 1) != 0)
      std::fill_n(sight.quads[store], sight.node_count, ScreenRect());
}

/// Shapes that see the outside, cut to what they see of it.
uint32_t ready_outside(ScanState& state) {
  uint32_t active = 0;
  const Vec3& origin = state.input.lod.camera;
  for (uint32_t i = 0; i < state.shape_count; ++i) {
    const CullShape& shape = state.shapes[i];
    ReadyShape& ready = state.outside[i];
    ready = ready_shape(shape, origin);
    if (ready.is_streaming) state.input.streaming |= 1u << i;
    if ((shape.flags & kCullRenderExterior) == 0 || (state.sight.phases[0] & ready.bit) == 0) continue;
    active |= 1u << i;
    if (stores_quads(shape) && shape.start != nullptr)
      restrict_to(ready, state.sight.quads[shape.quad_store][0], origin);
  }
  return active;
}

void add_whole(ScanState& state, uint32_t container, uint32_t node, uint32_t shapes) {
  const ContainerView& view = state.input.containers->views[container];
  if (shapes == 0 || view.slots == 0 || (view.flags & kContainerInWorld) == 0) return;
  SliceList& list = state.slices;
  list.slices[list.count++] = {
      .container = container, .shapes = shapes, .node = static_cast<uint16_t>(node), .is_interior = true};
}

uint32_t shapes_of_phases(const ScanState& state, uint32_t phases) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < state.shape_count; ++i)
    if ((phases >> state.shapes[i].phase & 1) != 0) out |= 1u << i;
  return out;
}

/// The first node from `node` on that a phase sees, or the number of nodes: there are thousands, and few are seen.
uint32_t next_seen(const NodeSight& sight, uint32_t node) {
  constexpr uint32_t kStep = 16;
  for (; node + kStep <= sight.node_count; node += kStep) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < kStep; ++i) any |= sight.phases[node + i];
    if (any != 0) break;
  }
  while (node < sight.node_count && sight.phases[node] == 0) ++node;
  return node;
}

/// What stands in rooms and portals that are seen.
void add_interiors(ScanState& state) {
  const SceneCapacities& capacities = state.graph->capacities();
  const uint32_t first = 1 + capacities.streamed_nodes + capacities.interior_nodes;
  for (uint32_t node = next_seen(state.sight, first); node < state.sight.node_count;
       node = next_seen(state.sight, node + 1)) {
    const uint32_t phases = state.sight.phases[node];
    const SceneNode* const at = state.graph->node_at(node);
    if (at == nullptr) continue;
    const uint32_t shapes = shapes_of_phases(state, phases);
    for (uint32_t c = at->first_container(); c != kNoContainer; c = state.graph->next_container(c))
      add_whole(state, c, node, shapes);
  }
}

/// What reaches through portals is seen by every shape, as if it stood in a room that fills the picture.
void add_straddling(ScanState& state) {
  uint32_t all = (1u << state.shape_count) - 1;
  for (uint32_t i = 0; i < state.shape_count; ++i)  // height maps stop where the picture shows nothing of the outside
    if ((state.shapes[i].flags & kCullHeightMap) != 0 && !state.results.exterior_visible) all &= ~(1u << i);
  const ContainerTable& table = *state.input.containers;
  for (uint32_t c = state.graph->root()->first_container(); c != kNoContainer; c = state.graph->next_container(c))
    if ((table.views[c].flags & kContainerStraddling) != 0) add_whole(state, c, 0, all);
}

/// Nodes outside of interiors are seen by the shapes that touch one of their containers, which are slices from `first`
/// on.
void mark_nodes(ScanState& state, uint32_t first) {
  for (uint32_t i = first; i < state.slices.count; ++i) {
    const ScanSlice& slice = state.slices.slices[i];
    for (uint32_t left = slice.shapes; left != 0; left &= left - 1) {
      const auto shape = static_cast<uint32_t>(std::countr_zero(left));
      state.sight.phases[slice.node] |= state.outside[shape].bit;
      if (!stores_quads(state.shapes[shape])) continue;
      ScreenRect* const quads = state.sight.quads[state.shapes[shape].quad_store];
      quads[slice.node] = quads[0];
    }
  }
}

/// Whether it is known who sees a slice as soon as it is found: what the primary phase sees is also for those that
/// follow it.
bool is_sure(const ScanState& state, const ScanSlice& slice) {
  if (state.primary < kMaxCullShapes) return (slice.shapes >> state.primary & 1) != 0;
  return (slice.shapes & state.followers) == 0;
}

/// Takes away shapes that follow the primary one, where that sees nothing. Slices that have no task yet may lose all of
/// their shapes.
void follow_primary(ScanState& state) {
  const uint32_t followers = state.followers;
  uint32_t phases = 0;
  for (uint32_t left = followers; left != 0; left &= left - 1) phases |= state.outside[std::countr_zero(left)].bit;
  const uint32_t primary = state.input.primary_bit;
  for (uint32_t i = 0; i < state.slices.count; ++i) {
    ScanSlice& slice = state.slices.slices[i];
    if (slice.has_task) continue;
    const bool straddles = slice.is_interior && slice.node == 0;  // which every shape sees
    slice.sees_primary = straddles ? primary != 0 : (state.sight.phases[slice.node] & primary) != 0;
    if (!slice.sees_primary) slice.shapes &= ~followers;
  }
  if (phases == 0) return;
  for (uint32_t node = 0; node < state.sight.node_count; ++node) {
    uint32_t& seen = state.sight.phases[node];
    if ((seen & primary) != 0 || (seen & phases) == 0) continue;
    seen &= ~phases;
    for (uint32_t left = followers; left != 0; left &= left - 1) {
      const CullShape& shape = state.shapes[std::countr_zero(left)];
      if (stores_quads(shape)) state.sight.quads[shape.quad_store][node] = {};
    }
  }
}

/// In descriptors times shapes: finding out how far they are costs as much as eight shapes.
uint64_t work_of(const ScanState& state, const ScanSlice& slice) {
  const auto shapes = static_cast<uint64_t>(std::popcount(slice.shapes));
  return uint64_t{state.input.containers->views[slice.container].slots} * (8 + shapes);
}

/// Cuts order[first, last) into tasks of about equal work. What one task has too much is the next one's to save: else
/// each would be half a container too large, and there would be fewer.
void cut_tasks(ScanState& state, uint32_t first, uint32_t last, uint64_t work) {
  uint64_t in_task = 0;
  uint32_t begin = first;
  for (uint32_t i = first; i < last; ++i) {
    in_task += work_of(state, state.slices.slices[state.order[i]]);
    if (i + 1 != last && in_task < work) continue;
    state.tasks[state.task_count++] = {begin, i + 1};
    begin = i + 1;
    in_task -= std::min(in_task, work);
  }
}

/// Of the slices that have no task yet.
void make_tasks(ScanState& state) {
  const SliceList& list = state.slices;
  const auto ordered_before = [&](uint32_t a, uint32_t b) {
    const ScanSlice &x = list.slices[a], &y = list.slices[b];
    if (x.node != y.node) return x.node < y.node;
    return x.container < y.container;
  };
  const uint32_t begin = state.slices_with_task, end = list.count;
  uint32_t first = begin, last = end;
  uint64_t total = 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    const ScanSlice& slice = list.slices[i];
    if (slice.shapes == 0 || slice.has_task) continue;
    state.order[slice.sees_primary ? first++ : --last] = i;
    total += work_of(state, slice);
  }
  if (state.frame.ordered) {  // then there are no early tasks
    std::sort(state.order, state.order + first, ordered_before);
    std::sort(state.order + last, state.order + end, ordered_before);
    uint32_t* const to = std::copy(state.order, state.order + first, state.reading_order);
    uint32_t* const readable = std::copy(state.order + last, state.order + end, to);
    std::sort(state.reading_order, readable, ordered_before);
    state.pvs.set_order(list.count, {state.reading_order, readable});
  }
  const uint64_t threads = std::min<uint64_t>(uint64_t{state.jobs->worker_count()} + 1, kMostThreads);
  const uint64_t work = std::max(kSmallestTask, total / (kTasksPerThread * threads) + 1);
  cut_tasks(state, begin, first, work);
  state.primary_tasks = state.task_count;
  cut_tasks(state, last, end, work);
}

void add_counters(ScanState& state, const ScanCounters& counters) {
  const auto* const from = reinterpret_cast<const uint64_t*>(&counters);
  for (size_t i = 0; i < std::size(state.counters); ++i)
    if (from[i] != 0) state.counters[i].fetch_add(from[i], std::memory_order_relaxed);
}

/// Shapes as they look into a room or portal.
std::span<const ReadyShape> ready_inside(const ScanState& state, const ScanSlice& slice, ReadyShape* ready) {
  for (uint32_t left = slice.shapes; left != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    ready[i] = ready_in_room(state, i, slice.node);
  }
  return {ready, state.shape_count};
}

/// A task, and where the entries of its slices go.
struct RunningTask {
  ScanState& state;
  PvsSink& sink;
  uint32_t slice = 0;
};

/// The slices order[first, last), all of them outside, or one that is not.
void run_slices(RunningTask& task, uint32_t first, uint32_t last, ScanCounters& counters) {
  ScanState& state = task.state;
  const SliceRun run{.slices = state.slices.slices,
                     .masks = state.slices.masks,
                     .numbers = {state.order + first, last - first},
                     .begin =
                         [](void* user, uint32_t number) {
                           auto& to = *static_cast<RunningTask*>(user);
                           to.slice = number;
                           return !to.state.is_cancelled.load(std::memory_order_relaxed);
                         },
                     .end =
                         [](void* user, uint32_t number) {
                           auto& to = *static_cast<RunningTask*>(user);
                           if (!to.state.frame.ordered) return;  // blocks may hold entries of several slices
                           to.sink.flush();
                           to.state.pvs.finish_slice(number);
                         },
                     .user = &task};
  const ScanSlice& slice = state.slices.slices[state.order[first]];
  if (slice.is_interior) {
    ReadyShape ready[kMaxCullShapes];
    state.kernels->scan(state.input, ready_inside(state, slice, ready), run, task.sink, counters);
  } else {
    state.kernels->scan(state.input, {state.outside, state.shape_count}, run, task.sink, counters);
  }
}

/// The slices order[first, last).
void scan_order(ScanState& state, uint32_t first, uint32_t last) {
  const uint64_t begin = steady_now_ns();
  const FloatMode mode;
  ScanCounters counters;
  // The sink writes to what runs, which has the sink.
  RunningTask* running = nullptr;
  PvsSink sink(
      [](void* user, const PvsEntry* entries, uint32_t count) {
        const RunningTask& from = **static_cast<RunningTask**>(user);
        from.state.pvs.write(from.slice, entries, count);
      },
      &running);
  RunningTask self{state, sink};
  running = &self;
  const auto is_interior = [&](uint32_t i) { return state.slices.slices[state.order[i]].is_interior; };
  while (first < last) {
    uint32_t next = first + 1;
    while (!is_interior(first) && next < last && !is_interior(next)) ++next;
    run_slices(self, first, next, counters);
    first = next;
  }
  sink.flush();
  counters.entity_ns = steady_now_ns() - begin;
  add_counters(state, counters);
}

void find_slices(ScanState& state, uint32_t most) {
  state.kernels->find(state.input, {state.outside, state.shape_count}, state.walk, most, state.slices,
                      state.results.counters);
}

/// The node job and each task that was started are parts of a scan; the last one ends it.
void finish_part(ScanState& state) {
  if (state.parts_left.fetch_sub(1, std::memory_order_acq_rel) == 1) state.pvs.end();
}
void run_task(ScanState& state, uint32_t task) {
  scan_order(state, state.tasks[task].first, state.tasks[task].last);
  finish_part(state);
}
template <uint32_t ScanState::*first_task>
void run_tasks(void* context, uint32_t first, uint32_t last) {
  auto& state = *static_cast<ScanState*>(context);
  for (uint32_t i = first; i < last; ++i) run_task(state, state.*first_task + i);
}

/// Of what is started before all is found: the same, so that it is begun in order.
JobPriority early_priority(const ScanState& state) {
  return state.primary < kMaxCullShapes ? JobPriority::high : JobPriority::normal;
}

/// Finds some slices more, and makes tasks of those of which all is known, while others are still looked for.
ScanTask make_early_tasks(ScanState& state) {
  const uint32_t found = state.slices.count, begin = state.slices_with_task;
  find_slices(state, found + kEarlySlices);
  mark_nodes(state, found);
  for (uint32_t i = found; i < state.slices.count; ++i) {
    ScanSlice& slice = state.slices.slices[i];
    if (!is_sure(state, slice)) continue;
    slice.has_task = true;
    slice.sees_primary = state.primary < kMaxCullShapes;
    state.order[state.slices_with_task++] = i;
  }
  const uint32_t first = state.task_count;
  cut_tasks(state, begin, state.slices_with_task, kEarlyTask);
  state.parts_left.fetch_add(state.task_count - first, std::memory_order_relaxed);
  return {first, state.task_count};
}
void start_early_tasks(ScanState& state, uint32_t first, uint32_t last) {
  const auto run = [](void* context, uint32_t task, uint32_t) { run_task(*static_cast<ScanState*>(context), task); };
  for (uint32_t i = first; i < last; ++i)
    state.jobs->run({.function = run, .context = &state, .begin = i, .end = i + 1}, early_priority(state),
                    *state.counter);
}

/// What the node job left, and the tasks.
void finish_node_job(ScanState& state) {
  uint64_t begin = steady_now_ns(), spent = 0;  // without what tasks take that find the queue full
  const FloatMode mode;
  const auto is_cancelled = [&] { return state.is_cancelled.load(std::memory_order_relaxed); };
  // Something for each worker to begin with; all else is cut when it is known how much there is.
  const uint32_t early = std::min(state.jobs->worker_count(), kMaxEarlyTasks - kMostEarlySlices);
  while (early != 0 && state.task_count <= early && !state.frame.ordered && state.walk.depth != 0 && !is_cancelled()) {
    const auto [first, last] = make_early_tasks(state);
    spent += steady_now_ns() - begin;
    start_early_tasks(state, first, last);
    begin = steady_now_ns();
  }
  const uint32_t found = state.slices.count;
  if (!is_cancelled()) find_slices(state, kAllSlices);
  mark_nodes(state, found);
  add_interiors(state);
  add_straddling(state);
  follow_primary(state);
  state.first_late_task = state.task_count;
  make_tasks(state);
  state.results.counters.node_ns += spent + steady_now_ns() - begin;

  // From here on a job may be the last one, and the owner may go on as soon as the counter is done; this one counts.
  const uint32_t first = state.primary_tasks - state.first_late_task, later = state.task_count - state.primary_tasks;
  if (!is_cancelled()) {
    state.parts_left.fetch_add(first + later, std::memory_order_relaxed);
    JobSystem& jobs = *state.jobs;
    JobCounter& counter = *state.counter;
    if (first != 0)
      jobs.parallel_for(first, 1, run_tasks<&ScanState::first_late_task>, &state, JobPriority::high, counter);
    if (later != 0)
      jobs.parallel_for(later, 1, run_tasks<&ScanState::primary_tasks>, &state, JobPriority::normal, counter);
  }
  state.starters.fetch_sub(1, std::memory_order_release);
  finish_part(state);
}

}  // namespace

ReadyShape ready_in_room(const ScanState& state, uint32_t shape, uint32_t node) {
  const Vec3& origin = state.input.lod.camera;
  const CullShape& from = state.shapes[shape];
  ReadyShape out = ready_shape(from, origin);
  use_interior_sphere(out, origin);
  const bool is_cut = (from.flags & kCullClipAndStorePortals) != 0 && node != 0;  // 0: what straddles
  if (is_cut) restrict_to(out, state.sight.quads[from.quad_store][node], origin);
  return out;
}

void run_node_job(ScanState& state) {
  const uint64_t begin = steady_now_ns();
  const FloatMode mode;
  const std::span<const CullShape> shapes(state.shapes, state.shape_count);
  state.primary = find_primary(state);
  state.followers = followers_of(state);
  state.input.primary_bit = state.primary < kMaxCullShapes ? 1u << state.shapes[state.primary].phase : 0;
  clear_sight(state);
  const PortalWalkInput walk{state.graph, &state.table, state.frame.closed_interiors, state.portal_depth};
  for (uint32_t i = 0; i < state.shape_count; ++i) walk_portals(walk, shapes, i, state.sight, state.results);
  finish_walk(walk, shapes, state.sight, state.results);

  state.slices.count = state.slices.mask_count = state.slices_with_task = state.task_count = 0;
  state.parts_left.store(1, std::memory_order_relaxed);
  state.walk.depth = 0;
  if (const uint32_t active = ready_outside(state); active != 0) state.walk.begin(*state.input.hierarchy, active);
  ScanTask early;  // in order nothing is read before all is known
  if (!state.frame.ordered) early = make_early_tasks(state);
  state.results.counters.node_ns = steady_now_ns() - begin;
  const auto finish = [](void* context, uint32_t, uint32_t) { finish_node_job(*static_cast<ScanState*>(context)); };
  // A reader begins with the first task; another thread finds the rest meanwhile.
  const uint32_t second = std::min(early.first + 1, early.last);
  start_early_tasks(state, early.first, second);
  const bool is_all = state.walk.depth == 0 || state.frame.ordered;
  if (is_all) {
    start_early_tasks(state, second, early.last);
    return finish_node_job(state);
  }
  state.starters.fetch_add(1, std::memory_order_relaxed);
  state.jobs->run({.function = finish, .context = &state}, early_priority(state), *state.counter);
  start_early_tasks(state, second, early.last);
  state.starters.fetch_sub(1, std::memory_order_release);
}

}  // namespace meridian
