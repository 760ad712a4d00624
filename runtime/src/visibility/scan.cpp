// SPDX-License-Identifier: MIT
#include "meridian/visibility/scan.h"

#include <algorithm>
#include <thread>

#include "base/block_cutter.h"
#include "base/clock.h"
#include "meridian/base/assert.h"
#include "visibility/scan_state.h"

namespace meridian {
namespace {

constexpr uint64_t kSpinNs = 20000;
constexpr uint32_t kMostEntries = 1u << 26;

struct Sizes {
  uint32_t entries, slices, nodes;
};

ScanState* cut(BlockCutter& cutter, const Sizes& sizes) {
  ScanState* const state = cutter.take<ScanState>(1);
  const uint32_t block_count = PvsStream::block_count(sizes.entries, sizes.slices);
  PvsEntry* const entries = cutter.take<PvsEntry>(sizes.entries);
  auto* const blocks = cutter.take<PvsStream::Block>(block_count);
  auto* const slices = cutter.take<PvsStream::Slice>(sizes.slices);
  auto* const order = cutter.take<uint32_t>(sizes.slices);
  auto* const reading_order = cutter.take<uint32_t>(sizes.slices);
  auto* const list = cutter.take<ScanSlice>(sizes.slices);
  auto* const masks = cutter.take<uint16_t>(size_t{sizes.slices} * kMaxCullShapes);
  auto* const phases = cutter.take<uint32_t>(sizes.nodes);
  ScreenRect* quads[kScreenQuadStores];
  for (ScreenRect*& store : quads) store = cutter.take<ScreenRect>(sizes.nodes);
  if (state == nullptr) return nullptr;
  state->pvs.init({entries, sizes.entries}, {blocks, block_count}, {slices, sizes.slices});
  state->order = order;
  state->reading_order = reading_order;
  state->slices.slices = list;
  state->slices.masks = masks;
  state->sight.phases = phases;
  state->sight.node_count = sizes.nodes;
  std::copy_n(quads, kScreenQuadStores, state->sight.quads);
  return state;
}

Status check(const ScanFrame& frame) {
  if (frame.windows.size() > kMaxCullWindows) return {StatusCode::bad_value, "too many cull windows"};
  if (frame.closed_interiors.size() > kMaxClosedInteriors) return {StatusCode::bad_value, "too many closed interiors"};
  for (const CullWindow& window : frame.windows) {
    const bool is_good = is_finite(window.box.min) && is_finite(window.box.max) && window.min <= window.max;
    if (!is_good) return {StatusCode::bad_value, "a cull window is not finite, or inside out"};
  }
  return check(frame.lod);
}

}  // namespace

Scan::~Scan() {
  MERIDIAN_ASSERT(!is_started(), "a scan is joined before it goes");
  if (is_started()) {
    cancel();
    (void)join();
  }
  if (state_ == nullptr) return;
  const size_t bytes = state_->block_bytes;
  state_->~ScanState();
  memory_->deallocate(state_, bytes, BlockCutter::kAlignment);
}

Status Scan::init(const ScanConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(state_ == nullptr, "a scan is initialised once");
  if (state_ != nullptr) return {StatusCode::in_use, "a scan is initialised once"};
  MERIDIAN_ASSERT(config.graph != nullptr, "a scan has a scene");
  if (config.graph == nullptr) return {StatusCode::bad_value, "a scan has a scene"};
  MERIDIAN_ASSERT(config.graph->root() != nullptr, "the scene of a scan is initialised first");
  if (config.graph->root() == nullptr) return {StatusCode::bad_value, "the scene of a scan is initialised first"};
  if (config.max_entries == 0 || config.portal_depth == 0)
    return {StatusCode::bad_value, "a scan has room for entries, and sees through portals"};
  if (config.max_entries > kMostEntries)
    return {StatusCode::too_large, "too many entries of a scan; detail = most", kMostEntries};
  const auto containers = static_cast<uint32_t>(config.graph->containers().views.size());
  const Sizes sizes{config.max_entries, containers, config.graph->node_capacity()};
  BlockCutter count(nullptr);
  cut(count, sizes);
  memory_.emplace(config.name, config.tracker != nullptr ? *config.tracker : default_memory_tracker(), allocator);
  auto* const block = static_cast<std::byte*>(memory_->allocate(count.used(), BlockCutter::kAlignment));
  if (block == nullptr) return {StatusCode::out_of_memory, "no memory for a scan; detail = bytes", count.used()};
  BlockCutter cutter(block);
  state_ = cut(cutter, sizes);
  state_->block_bytes = count.used();
  state_->graph = config.graph;
  state_->counter = &counter_;
  state_->portal_depth = config.portal_depth;
  if (const Status ready = state_->table.init(*config.graph, *memory_); !ready.ok()) {
    state_->~ScanState();
    memory_->deallocate(block, count.used(), BlockCutter::kAlignment);
    state_ = nullptr;
    return ready;
  }
  config_ = config;
  return {};
}

Status Scan::begin_frame(const ScanFrame& frame) {
  MERIDIAN_ASSERT(state_ != nullptr, "a scan is initialised");
  if (state_ == nullptr) return {StatusCode::bad_value, "a scan is initialised"};
  if (is_started()) return {StatusCode::in_use, "the scan has not been joined"};
  if (const Status usable = check(frame); !usable.ok()) return usable;
  ScanState& state = *state_;
  state.frame = frame;
  std::copy(frame.windows.begin(), frame.windows.end(), state.windows);
  std::copy(frame.closed_interiors.begin(), frame.closed_interiors.end(), state.closed_interiors);
  state.frame.windows = {state.windows, frame.windows.size()};
  state.frame.closed_interiors = {state.closed_interiors, frame.closed_interiors.size()};
  state.shape_count = 0;
  state.has_frame = true;
  config_.graph->pre_scan();
  return {};
}

Status Scan::add(const CullShape& shape) {
  if (is_started()) return {StatusCode::in_use, "the scan has not been joined"};
  if (state_ == nullptr || !state_->has_frame) return {StatusCode::bad_value, "no frame was begun"};
  ScanState& state = *state_;
  if (const Status usable = check(shape); !usable.ok()) return usable;
  if (state.shape_count == kMaxCullShapes) return {StatusCode::out_of_slots, "a scan takes at most 24 shapes"};
  if (shape.start != nullptr && !shape.start->is_in_world())
    return {StatusCode::not_found, "a shape starts in a room that is not in the world"};
  const bool stores = (shape.flags & kCullClipAndStorePortals) != 0;
  for (uint32_t i = 0; i < state.shape_count; ++i) {
    const CullShape& other = state.shapes[i];
    if (other.phase == shape.phase)
      return {StatusCode::bad_value, "two shapes have one phase; detail = phase", other.phase};
    if (stores && (other.flags & kCullClipAndStorePortals) != 0 && other.quad_store == shape.quad_store)
      return {StatusCode::bad_value, "two shapes have one quad store; detail = store", other.quad_store};
    if ((shape.flags & other.flags & kCullPrimary) != 0)
      return {StatusCode::bad_value, "two shapes are the primary one; detail = phase of the first", other.phase};
  }
  state.shapes[state.shape_count++] = shape;
  return {};
}

Status Scan::start(JobSystem& jobs) {
  if (is_started()) return {StatusCode::in_use, "the scan has not been joined"};
  const bool has_frame = state_ != nullptr && state_->has_frame;
  MERIDIAN_ASSERT(has_frame, "a frame is begun before a scan is started");
  if (!has_frame) return {StatusCode::bad_value, "no frame was begun"};
  ScanState& state = *state_;
  CullShape* const end = state.shapes + state.shape_count;  // which is large, and mostly comes in order
  if (!std::is_sorted(state.shapes, end, comes_before)) std::sort(state.shapes, end, comes_before);
  config_.graph->lock();  // before its arrays are looked at: locking makes bounds tight
  jobs_ = &jobs;
  state.jobs = &jobs;
  state.has_frame = false;
  state.kernels = &scan_kernels();
  state.table.update(*config_.graph);

  ScanInput& in = state.input;
  in = {};
  in.containers = &config_.graph->containers();
  in.hierarchy = &config_.graph->hierarchy();
  in.sets = config_.lod_sets;
  in.lod = in.farthest = ready_lod(state.frame.lod);
  for (uint32_t i = 0; i < kLodLevels; ++i) in.farthest.scales[i] = std::max(in.lod.scales[i], in.lod.default_scale);
  in.windows = state.frame.windows;
  std::copy_n(state.frame.occlusion, kScanOcclusionBuffers, in.occlusion);
  for (const OcclusionBuffer* const buffer : in.occlusion) in.has_occlusion = in.has_occlusion || buffer != nullptr;
  in.level_filter = state.frame.level_filter;
  in.stream_filter = state.frame.stream_filter;

  state.results = {};
  state.results.epoch = ++state.epoch;
  state.is_cancelled.store(false, std::memory_order_relaxed);
  state.starters.store(1, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& counter : state.counters) counter.store(0, std::memory_order_relaxed);
  state.pvs.begin(state.epoch, state.frame.ordered);
  jobs.run({.function = [](void* context, uint32_t, uint32_t) { run_node_job(*static_cast<ScanState*>(context)); },
            .context = &state},
           JobPriority::high, counter_);
  return {};
}

bool Scan::next_block(ScanCursor& cursor, std::span<const PvsEntry>& block) {
  const bool has_scan = state_ != nullptr && state_->epoch != 0 && !state_->has_frame;
  MERIDIAN_ASSERT(has_scan, "a scan is started before its blocks are read");
  if (!has_scan) return false;
  ScanState& state = *state_;
  if (cursor.epoch == 0) cursor.epoch = state.epoch;
  MERIDIAN_ASSERT(cursor.epoch == state.epoch, "a cursor is of one scan; the next one takes a new cursor");
  if (cursor.epoch != state.epoch) return false;
  uint64_t spin_end = 0;
  for (;;) {
    uint32_t seen = 0;
    switch (state.pvs.next(cursor.next, cursor.slice, block, seen)) {
      case PvsStream::Next::block:
        return true;
      case PvsStream::Next::end:
        return false;
      case PvsStream::Next::wait:
        break;
    }
    // Asked first: what is started after that is not seen below.
    const bool has_all_jobs = state.starters.load(std::memory_order_acquire) == 0;
    if (state.jobs->try_run_one(counter_)) {
      spin_end = 0;
      continue;
    }
    // All that is left runs on other threads.
    const uint64_t now = steady_now_ns();
    if (spin_end == 0) spin_end = now + kSpinNs;
    if (now < spin_end) continue;
    // Until all are started there may be more to help with, and nobody wakes sleepers for that.
    if (!has_all_jobs) {
      std::this_thread::yield();
      continue;
    }
    state.pvs.sleep(seen);
    spin_end = 0;
  }
}

void Scan::cancel() {
  if (state_ != nullptr) state_->is_cancelled.store(true, std::memory_order_relaxed);
}

Status Scan::join() {
  if (!is_started()) return {StatusCode::not_found, "no scan was started"};
  jobs_->wait(counter_);
  jobs_ = nullptr;
  config_.graph->unlock();
  ScanState& state = *state_;
  results_ = state.results;
  auto* const counters = reinterpret_cast<uint64_t*>(&results_.counters);
  for (size_t i = 0; i < std::size(state.counters); ++i)
    counters[i] += state.counters[i].load(std::memory_order_relaxed);
  results_.cancelled = state.is_cancelled.load(std::memory_order_relaxed);
  results_.needed = state.pvs.needed();
  results_.stored = state.pvs.stored();
  results_.complete = !results_.cancelled && results_.stored == results_.needed;
  if (results_.stored != results_.needed)
    return {StatusCode::out_of_slots, "the entries of a scan do not fit; detail = entries needed", results_.needed};
  return {};
}

std::span<const uint32_t> Scan::node_phases() const {
  if (state_ == nullptr) return {};
  return {state_->sight.phases, state_->sight.node_count};
}

ScreenRect Scan::node_quad(uint32_t store, uint32_t node) const {
  const bool is_there = state_ != nullptr && store < kScreenQuadStores && node < state_->sight.node_count;
  MERIDIAN_ASSERT(is_there, "there is no such quad");
  return is_there ? state_->sight.quads[store][node] : ScreenRect();
}

uint32_t Scan::shape_count() const { return state_ == nullptr ? 0 : state_->shape_count; }

const CullShape& Scan::shape(uint32_t index) const {
  static const CullShape kNone;
  MERIDIAN_ASSERT(index < shape_count(), "there is no such shape");
  return index < shape_count() ? state_->shapes[index] : kNone;
}

}  // namespace meridian
