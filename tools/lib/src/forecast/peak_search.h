// SPDX-License-Identifier: MIT
#pragma once
// Where on the map the most is needed at once: exact, by branch and bound over the places where something begins.
//
//   PeakSearch search(boxes, owners);                 // box i makes owners[i] needed wherever it holds the place
//   Peak peak = search.find(weight_of_each_owner);    // an owner counts once however many of its boxes are there
//
// The sum over all boxes that hold a place is largest at a place whose coordinates are lower bounds of some boxes, so
// regions are ranges of those coordinates. A region's sum lies between that of the owners that cover it and that of the
// owners that touch it; the region with the most to hope for is cut next, in the middle of the edges that still
// differ. Source: own; branch and bound.

#include <cstdint>
#include <span>
#include <vector>

#include "bounds.h"

namespace meridian::tools {

struct Peak {
  uint64_t most = 0;   ///< needed at `place`
  uint64_t bound = 0;  ///< nowhere more than this; more than `most` only if the search was given up
  Point place;         ///< a place of that, in the middle of all that need the same
};

/// Threads: immutable once made; find() is reentrant.
class PeakSearch {
 public:
  /// Boxes must not be empty and must be finite. Parallel arrays; boxes of one owner stand together.
  PeakSearch(std::span<const Bounds> boxes, std::span<const uint32_t> owners);

  /// `weights` of each owner. Equal input, equal answer.
  Peak find(std::span<const uint64_t> weights) const;
  /// Owners that are needed at a place, in order.
  std::vector<uint32_t> owners_at(const Point& place) const;

 private:
  struct Range {  // of coordinates: [first, last]
    uint32_t first[3], last[3];
  };
  struct Region;

  Point place_of(const Range& range, std::span<const uint64_t> weights) const;

  std::vector<Bounds> boxes_;
  std::vector<uint32_t> owners_;
  std::vector<double> begins_[3];  // sorted, without duplicates
  std::vector<Range> ranges_;      // of the boxes
};

}  // namespace meridian::tools
