// SPDX-License-Identifier: MIT
#include "world_index/box_tree_builder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "bounds.h"

namespace meridian::tools {
namespace {

bool is_inside_out(const Aabb& b) { return b.min.x > b.max.x || b.min.y > b.max.y || b.min.z > b.max.z; }

Bounds bounds_of(const Aabb& b) {
  const auto point = [](const Vec3& v) {
    return Point{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
  };
  Bounds out;
  out.min = point(b.min);
  out.max = point(b.max);
  return out;
}

/// Half of the surface.
double surface(const Bounds& b) {
  const Point size = b.max - b.min;
  return size.x * size.y + size.y * size.z + size.z * size.x;
}

struct Item {
  Bounds box;
  uint32_t index = 0;
};

/// Items [first, last) that become one child: an item, or a node.
struct Range {
  size_t first = 0, last = 0;
  size_t size() const { return last - first; }
};

class Builder {
 public:
  explicit Builder(std::span<const Aabb> boxes) : boxes_(boxes) {
    out_.places.assign(boxes.size(), kBoxTreeNone);
    for (uint32_t i = 0; i < boxes.size(); ++i) {
      if (is_inside_out(boxes[i]))
        out_.outside.push_back(i);
      else
        items_.push_back({bounds_of(boxes[i]), i});
    }
    below_.resize(items_.size());
  }

  BuiltBoxTree build() {
    // First come, first served: nodes are numbered in the order in which they are named.
    std::vector<Range> nodes;
    if (!items_.empty()) nodes.push_back({0, items_.size()});
    for (size_t node = 0; node < nodes.size(); ++node) {
      std::vector<Range> parts;
      cut(nodes[node], full_subtree(nodes[node].size()), parts);
      add_node(parts, nodes);
    }
    return std::move(out_);
  }

 private:
  /// How many items each child of a node over `count` items holds, if it is full.
  static size_t full_subtree(size_t count) {
    size_t size = 1;
    while (size * kBoxTreeWidth < count) size *= kBoxTreeWidth;
    return size;
  }

  /// Cuts a range into parts of `full` items, the last perhaps smaller.
  void cut(Range range, size_t full, std::vector<Range>& parts) {
    if (range.size() <= full) {
      parts.push_back(range);
      return;
    }
    const size_t middle = best_cut(range, full);
    cut({range.first, middle}, full, parts);
    cut({middle, range.last}, full, parts);
  }

  /// Brings the range into the best order, and gives where to cut it.
  size_t best_cut(Range range, size_t full) {
    double best = std::numeric_limits<double>::infinity();
    int best_order = 0;
    size_t best_middle = range.first + full;
    for (int order = 0; order < kOrders; ++order) {
      sort(range, order);
      // From the right what lies behind each place, then from the left what lies before it.
      Bounds right;
      for (size_t i = range.last; i-- > range.first;) {
        right.add(items_[i].box);
        below_[i] = surface(right);
      }
      Bounds left;
      for (size_t i = range.first; i < range.last; ++i) {
        if (i > range.first && (i - range.first) % full == 0) {
          const double cost =
              surface(left) * static_cast<double>(i - range.first) + below_[i] * static_cast<double>(range.last - i);
          if (cost < best) {
            best = cost;
            best_order = order;
            best_middle = i;
          }
        }
        left.add(items_[i].box);
      }
    }
    sort(range, best_order);
    return best_middle;
  }

  static constexpr int kOrders = 4, kBySize = 3;

  static double key(const Item& item, int order) {
    const Point size = item.box.max - item.box.min;
    if (order == kBySize) return std::max({size.x, size.y, size.z});
    return item.box.min[order] + item.box.max[order];  // twice the centre
  }

  void sort(Range range, int order) {
    const auto at = [&](size_t i) { return items_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::sort(at(range.first), at(range.last), [order](const Item& a, const Item& b) {
      const double ka = key(a, order), kb = key(b, order);
      return ka != kb ? ka < kb : a.index < b.index;  // so that one order is the only one
    });
  }

  void add_node(const std::vector<Range>& parts, std::vector<Range>& nodes) {
    constexpr float kMost = std::numeric_limits<float>::max();
    const size_t first_float = out_.bounds.size(), first_child = out_.children.size();
    out_.bounds.resize(first_float + kBoxTreeFloats);
    out_.children.resize(first_child + kBoxTreeWidth, kBoxTreeNone);
    float* const run = out_.bounds.data() + first_float;
    for (size_t lane = 0; lane < kBoxTreeWidth; ++lane) {
      Aabb box{{kMost, kMost, kMost}, {-kMost, -kMost, -kMost}};
      if (lane < parts.size()) {
        box = box_of(parts[lane]);
        out_.children[first_child + lane] = child_of(parts[lane], static_cast<uint32_t>(first_child + lane), nodes);
      }
      const std::array<float, 6> lanes = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
      for (size_t k = 0; k < lanes.size(); ++k) run[k * kBoxTreeWidth + lane] = lanes[k];
    }
  }

  uint32_t child_of(Range part, uint32_t place, std::vector<Range>& nodes) {
    if (part.size() == 1) {
      const uint32_t item = items_[part.first].index;
      out_.places[item] = place;
      return kBoxTreeItem | item;
    }
    nodes.push_back(part);
    return static_cast<uint32_t>(nodes.size() - 1);
  }

  Aabb box_of(Range part) const {
    Bounds all;
    for (size_t i = part.first; i < part.last; ++i) all.add(items_[i].box);
    const auto exact = [](const Point& p) {  // they were floats
      return Vec3{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
    };
    return {exact(all.min), exact(all.max)};
  }

  std::span<const Aabb> boxes_;
  BuiltBoxTree out_;
  std::vector<Item> items_;
  std::vector<double> below_;
};

}  // namespace

BuiltBoxTree build_box_tree(std::span<const Aabb> boxes) { return Builder(boxes).build(); }

}  // namespace meridian::tools
