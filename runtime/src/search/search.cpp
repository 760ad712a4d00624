// SPDX-License-Identifier: MIT
#include "meridian/search/search.h"

#include <atomic>
#include <bit>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "search/search_kernel.h"

namespace meridian {
namespace {

/// Each module on a line of its own, so that threads that search for different ones are not in each other's way.
struct alignas(64) Counters {
  std::atomic<uint64_t> searches{0}, found{0};
};
Counters g_counters[kSearchModules];

Counters& counters_of(SearchModule module) {
  const auto index = static_cast<uint32_t>(module);
  MERIDIAN_ASSERT(index < kSearchModules, "there is no such module");
  return g_counters[index < kSearchModules ? index : static_cast<uint32_t>(SearchModule::standard)];
}

void count(SearchModule module, uint32_t found) {
  Counters& counters = counters_of(module);
  counters.searches.fetch_add(1, std::memory_order_relaxed);
  counters.found.fetch_add(found, std::memory_order_relaxed);
}

void prepare(const EntityQuery& query, PreparedQuery& out) {
  prepare(query.volume, out.volume);
  out.needed_flags = kContainerUsed | kContainerInWorld;
  out.any_flags = kContainerUsed;
  if (query.movement == Movement::only_static) out.unwanted_flags |= kContainerDynamic;
  if (query.movement == Movement::only_dynamic) out.needed_flags |= kContainerDynamic;
  switch (query.location & kAnywhere) {
    case 0:
      out.any_flags = 0;
      break;
    case kInInterior:
      out.any_flags = kContainerInterior | kContainerStraddling;
      break;
    case kInExterior:
      out.unwanted_flags |= kContainerInterior;  // what straddles stands outside
      break;
    default:
      break;
  }
  if (query.only_spawn_points) {
    out.needed_flags |= kContainerSpawnPoints;
    out.needed_desc_flags |= kDescSpawnPoints;
  }
  if (query.only_visible) {
    out.needed_desc_flags |= kDescActive;
    out.unwanted_desc_flags |= kDescHidden;
  }
  out.types = query.types;
  out.levels = query.levels;
  out.is_filtered = query.types != kAllTypes || (query.levels & kAllLevels) != kAllLevels ||
                    (out.needed_desc_flags | out.unwanted_desc_flags) != 0;
}

void search(const ContainerTable& containers, const BoxHierarchy& hierarchy, const EntityQuery& query,
            SearchSink& sink) {
  const FloatMode mode;
  PreparedQuery prepared;
  prepare(query, prepared);
  if (prepared.any_flags == 0) return;
  search_kernels().search[static_cast<size_t>(query.volume.kind)](containers, hierarchy, prepared, sink);
}

/// A sink that is emptied into a visitor.
struct VisitorSink : SearchSink {
  EntityVisitor visitor = nullptr;
  void* user = nullptr;
  uint32_t calls = 0;
  EntityHandle buffer[kContainerSlots];

  VisitorSink() {
    out = buffer;
    capacity = kContainerSlots;
    take = [](SearchSink& sink) {
      auto& self = static_cast<VisitorSink&>(sink);
      const uint32_t held = self.found;
      self.found = 0;
      for (uint32_t i = 0; i < held; ++i) {
        ++self.calls;
        if (!self.visitor(self.user, self.buffer[i])) return false;
      }
      return true;
    };
  }
};

}  // namespace

uint32_t exact_hits(const SearchVolume& volume, const ContainerView& view, uint32_t first, uint32_t mask) {
  const DescLanes lanes = desc_lanes(view);
  uint32_t out = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
    const uint32_t slot = first + lane;
    const Vec3 centre{lanes.centre_x[slot], lanes.centre_y[slot], lanes.centre_z[slot]};
    const Vec3 half{lanes.half_x[slot], lanes.half_y[slot], lanes.half_z[slot]};
    out |= static_cast<uint32_t>(touches(volume, {centre - half, centre + half})) << lane;
  }
  return out;
}

Status search_scene(const ContainerTable& containers, const BoxHierarchy& hierarchy, const EntityQuery& query,
                    std::span<EntityHandle> out, SearchResult& result) {
  const Status usable = check(query);
  if (!usable.ok()) return usable;
  MERIDIAN_ASSERT(result.stored <= out.size(), "a result counts what is in the array");
  const size_t room = result.stored <= out.size() ? out.size() - result.stored : 0;
  SearchSink sink;
  sink.out = out.data() + (room != 0 ? result.stored : 0);
  sink.capacity = static_cast<uint32_t>(room < UINT32_MAX ? room : UINT32_MAX);
  search(containers, hierarchy, query, sink);
  result.found += sink.found;
  result.stored += sink.found < sink.capacity ? sink.found : sink.capacity;
  count(query.module, sink.found);
  return {};
}

Status visit_scene(const ContainerTable& containers, const BoxHierarchy& hierarchy, const EntityQuery& query,
                   EntityVisitor visitor, void* user, SearchResult& result) {
  MERIDIAN_ASSERT(visitor != nullptr, "somebody must be told");
  const Status usable = check(query);
  if (!usable.ok() || visitor == nullptr) return usable;
  VisitorSink sink;
  sink.visitor = visitor;
  sink.user = user;
  search(containers, hierarchy, query, sink);
  result.found += sink.calls;
  result.stored += sink.calls;
  count(query.module, sink.calls);
  return {};
}

Search::~Search() {
  MERIDIAN_ASSERT(!is_started(), "a search is finished before it goes");
  SearchResult lost;
  if (is_started()) static_cast<void>(finish(lost));
}

Status Search::prepare(const EntityQuery& query) {
  MERIDIAN_ASSERT(!is_started(), "a search is started once, then finished");
  if (is_started()) return {StatusCode::in_use, "the search runs already", 0};
  const Status usable = check(query);
  if (usable.ok()) query_ = query;
  return usable;
}

void Search::run(const ContainerTable& containers, const BoxHierarchy& hierarchy, LockCall unlock, void* scene,
                 JobSystem& jobs, std::span<EntityHandle> out, JobPriority priority) {
  containers_ = &containers;
  hierarchy_ = &hierarchy;
  unlock_ = unlock;
  scene_ = scene;
  out_ = out;
  jobs_ = &jobs;
  const auto job = [](void* context, uint32_t, uint32_t) {
    auto& self = *static_cast<Search*>(context);
    self.result_ = {};
    self.status_ = search_scene(*self.containers_, *self.hierarchy_, self.query_, self.out_, self.result_);
  };
  jobs.run({.function = job, .context = this}, priority, counter_);
}

Status Search::finish(SearchResult& result) {
  result = {};
  MERIDIAN_ASSERT(is_started(), "a search is finished once, after its start");
  if (!is_started()) return {StatusCode::not_found, "no search was started", 0};
  jobs_->wait(counter_);
  jobs_ = nullptr;
  unlock_(scene_);
  result = result_;
  return status_;
}

SearchCounts search_counts(SearchModule module) {
  const Counters& counters = counters_of(module);
  return {counters.searches.load(std::memory_order_relaxed), counters.found.load(std::memory_order_relaxed)};
}

}  // namespace meridian
