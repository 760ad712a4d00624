// SPDX-License-Identifier: MIT
#include "forecast/peak_search.h"

#include <algorithm>
#include <queue>

namespace meridian::tools {
namespace {

constexpr uint32_t kMaxRegions = 1u << 18;  // looked at before the search is given up

}  // namespace

/// A part of the map: what surely is needed in all of it, and the boxes that cover only some of it.
struct PeakSearch::Region {
  Range range;
  uint64_t sure = 0, possible = 0;
  uint32_t order = 0;
  std::vector<uint32_t> partial;  // boxes; those of one owner together
};

PeakSearch::PeakSearch(std::span<const Bounds> boxes, std::span<const uint32_t> owners)
    : boxes_(boxes.begin(), boxes.end()), owners_(owners.begin(), owners.end()) {
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double>& begins = begins_[axis];
    begins.reserve(boxes_.size());
    for (const Bounds& b : boxes_) begins.push_back(b.min[axis]);
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  }
  ranges_.resize(boxes_.size());
  for (size_t i = 0; i < boxes_.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const std::vector<double>& begins = begins_[axis];
      const auto index = [&](auto it) { return static_cast<uint32_t>(it - begins.begin()); };
      ranges_[i].first[axis] = index(std::lower_bound(begins.begin(), begins.end(), boxes_[i].min[axis]));
      ranges_[i].last[axis] = index(std::upper_bound(begins.begin(), begins.end(), boxes_[i].max[axis])) - 1;
    }
}

Peak PeakSearch::find(std::span<const uint64_t> weights) const {
  Region all;
  for (int axis = 0; axis < 3; ++axis) {
    all.range.first[axis] = 0;
    all.range.last[axis] = begins_[axis].empty() ? 0 : static_cast<uint32_t>(begins_[axis].size() - 1);
  }
  for (uint32_t i = 0; i < boxes_.size(); ++i)
    if (weights[owners_[i]] != 0) all.partial.push_back(i);
  if (all.partial.empty()) return {};

  uint32_t made = 0;
  // Sorts the boxes of a region into those that cover it, those that cut it, and those outside.
  const auto settle = [&](Region& region) {
    size_t kept = 0;
    region.possible = region.sure;
    for (size_t i = 0; i < region.partial.size();) {
      const uint32_t owner = owners_[region.partial[i]];
      const size_t first_kept = kept;
      bool covers = false;
      for (; i < region.partial.size() && owners_[region.partial[i]] == owner; ++i) {
        const Range& box = ranges_[region.partial[i]];
        bool inside = true, touches = true;
        for (int axis = 0; axis < 3; ++axis) {
          inside = inside && box.first[axis] <= region.range.first[axis] && box.last[axis] >= region.range.last[axis];
          touches = touches && box.first[axis] <= region.range.last[axis] && box.last[axis] >= region.range.first[axis];
        }
        covers = covers || inside;
        if (touches && !covers) region.partial[kept++] = region.partial[i];
      }
      if (covers) kept = first_kept, region.sure += weights[owner];
      if (covers || kept != first_kept) region.possible += weights[owner];
    }
    region.partial.resize(kept);
    region.order = made++;
  };
  const auto less_hopeful = [](const Region& a, const Region& b) {
    return a.possible != b.possible ? a.possible < b.possible : a.order > b.order;
  };
  std::vector<Region> heap;
  settle(all);
  heap.push_back(std::move(all));
  Peak best;
  Range best_range{};
  std::vector<uint32_t> edges;
  while (true) {
    std::pop_heap(heap.begin(), heap.end(), less_hopeful);
    Region region = std::move(heap.back());
    heap.pop_back();
    if (region.sure > best.most) best.most = region.sure, best_range = region.range;
    best.bound = std::max(best.most, region.possible);
    if (region.partial.empty() || region.possible <= best.most || made > kMaxRegions) break;
    // Cut at the middle of the edges on the axis that has most of them.
    int cut_axis = 0;
    uint32_t cut = 0;
    size_t most_edges = 0;
    for (int axis = 0; axis < 3; ++axis) {
      edges.clear();
      const uint32_t first = region.range.first[axis], last = region.range.last[axis];
      for (const uint32_t i : region.partial) {
        if (ranges_[i].first[axis] > first) edges.push_back(ranges_[i].first[axis]);
        if (ranges_[i].last[axis] < last) edges.push_back(ranges_[i].last[axis] + 1);
      }
      if (edges.size() <= most_edges) continue;
      most_edges = edges.size();
      std::nth_element(edges.begin(), edges.begin() + static_cast<ptrdiff_t>(edges.size() / 2), edges.end());
      cut_axis = axis;
      cut = edges[edges.size() / 2];
    }
    Region upper{region.range, region.sure, 0, 0, region.partial};
    upper.range.first[cut_axis] = cut;
    region.range.last[cut_axis] = cut - 1;
    for (Region* half : {&region, &upper}) {
      settle(*half);
      if (half->sure > best.most) best.most = half->sure, best_range = half->range;
      if (half->possible <= best.most && !half->partial.empty()) continue;
      heap.push_back(std::move(*half));
      std::push_heap(heap.begin(), heap.end(), less_hopeful);
    }
    if (heap.empty()) {
      best.bound = best.most;
      break;
    }
  }
  best.place = place_of(best_range, weights);
  return best;
}

/// The middle of what all owners needed in the region share around its first place.
Point PeakSearch::place_of(const Range& range, std::span<const uint64_t> weights) const {
  const Point corner{begins_[0][range.first[0]], begins_[1][range.first[1]], begins_[2][range.first[2]]};
  Bounds common{{-Bounds::kNone, -Bounds::kNone, -Bounds::kNone}, {Bounds::kNone, Bounds::kNone, Bounds::kNone}};
  for (size_t i = 0; i < boxes_.size(); ++i) {
    const Bounds& b = boxes_[i];
    if (weights[owners_[i]] == 0 || !b.meets({corner, corner})) continue;
    common.min = {std::max(common.min.x, b.min.x), std::max(common.min.y, b.min.y), std::max(common.min.z, b.min.z)};
    common.max = {std::min(common.max.x, b.max.x), std::min(common.max.y, b.max.y), std::min(common.max.z, b.max.z)};
  }
  return common.min.x == -Bounds::kNone ? corner : common.centre();
}

std::vector<uint32_t> PeakSearch::owners_at(const Point& place) const {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < boxes_.size(); ++i)
    if (boxes_[i].meets({place, place}) && (out.empty() || out.back() != owners_[i])) out.push_back(owners_[i]);
  return out;
}

}  // namespace meridian::tools
