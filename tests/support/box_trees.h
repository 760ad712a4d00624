// SPDX-License-Identifier: MIT
#pragma once
/// Random boxes of every kind, and a tree over them that is made in the plainest way: by x, cut into equal parts.
/// Written apart from the tools' builder.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "meridian/stream/box_tree.h"

namespace meridian::test {

inline bool inside_out(const Aabb& b) { return b.min.x > b.max.x || b.min.y > b.max.y || b.min.z > b.max.z; }

struct PlainTree {
  std::vector<float> bounds;
  std::vector<uint32_t> children, places, outside;
  BoxTree view() const { return {bounds, children, places, outside}; }
};

inline PlainTree plain_tree(std::span<const Aabb> boxes) {
  PlainTree out;
  out.places.assign(boxes.size(), kBoxTreeNone);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < boxes.size(); ++i) (inside_out(boxes[i]) ? out.outside : order).push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return boxes[a].min.x < boxes[b].min.x; });
  struct Part {
    size_t first, last;
  };
  std::vector<Part> nodes;
  if (!order.empty()) nodes.push_back({0, order.size()});
  const float most = std::numeric_limits<float>::max();
  for (size_t node = 0; node < nodes.size(); ++node) {
    const Part part = nodes[node];
    const size_t step = (part.last - part.first + kBoxTreeWidth - 1) / kBoxTreeWidth;
    out.bounds.resize((node + 1) * kBoxTreeFloats);
    for (uint32_t lane = 0; lane < kBoxTreeWidth; ++lane) {
      const size_t first = std::min(part.first + lane * step, part.last), last = std::min(first + step, part.last);
      Aabb box{{most, most, most}, {-most, -most, -most}};
      for (size_t i = first; i < last; ++i) {
        const Aabb& b = boxes[order[i]];
        box.min = {std::min(box.min.x, b.min.x), std::min(box.min.y, b.min.y), std::min(box.min.z, b.min.z)};
        box.max = {std::max(box.max.x, b.max.x), std::max(box.max.y, b.max.y), std::max(box.max.z, b.max.z)};
      }
      const float lanes[] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
      for (size_t k = 0; k < 6; ++k) out.bounds[node * kBoxTreeFloats + k * kBoxTreeWidth + lane] = lanes[k];
      if (first == last) {
        out.children.push_back(kBoxTreeNone);
      } else if (last - first == 1) {
        out.places[order[first]] = static_cast<uint32_t>(out.children.size());
        out.children.push_back(kBoxTreeItem | order[first]);
      } else {
        out.children.push_back(static_cast<uint32_t>(nodes.size()));
        nodes.push_back({first, last});
      }
    }
  }
  return out;
}

/// Boxes as worlds have them and as they should not: small and large ones, flat ones, points, equal ones, on the border
/// of the world and far beyond it, as large as floats go, inside out.
inline std::vector<Aabb> random_boxes(std::mt19937& random, size_t count) {
  const auto number = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
  const auto grid = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4) * 2048; };
  std::vector<Aabb> out;
  while (out.size() < count) {
    Vec3 at{number(-8192, 8192), number(-8192, 8192), number(-100, 500)};
    Vec3 size{number(0, 300), number(0, 300), number(0, 60)};
    switch (random() % 12) {
      case 0:  // on the planes where a grid would be cut
        at = {grid(), grid(), grid()};
        break;
      case 1:
        size = {};
        break;
      case 2:
        size.z = 0;
        break;
      case 3:
        size = {number(0, 20000), number(0, 20000), number(0, 4000)};
        break;
      case 4:
        at = {std::nextafterf(8192, 9000), number(-1, 1) * 1e6f, number(-1, 1) * 1e30f};
        break;
      case 5:
        if (!out.empty()) {
          out.push_back(out[random() % out.size()]);
          continue;
        }
        break;
      case 6:
        if (random() % 8 == 0) {
          const float most = std::numeric_limits<float>::max();
          out.push_back({{-most, -most, -most}, {most, most, most}});
          continue;
        }
        break;
      case 7: {
        const float most = std::numeric_limits<float>::max();
        if (random() % 2 == 0)
          out.push_back({{most, most, most}, {-most, -most, -most}});  // a map without contents
        else
          out.push_back({at, {at.x + size.x, at.y - 1 - size.y, at.z}});
        continue;
      }
      default:
        break;
    }
    out.push_back({at, {at.x + size.x, at.y + size.y, at.z + size.z}});
  }
  return out;
}

// --- brute force: other arithmetic than the tree's ---------------------------------------------------

inline bool boxes_touch(const Aabb& a, const Aabb& b) {
  return !(a.max.x < b.min.x || b.max.x < a.min.x || a.max.y < b.min.y || b.max.y < a.min.y || a.max.z < b.min.z ||
           b.max.z < a.min.z);
}

/// Distance to the nearest point of the box, in long double.
inline long double box_distance(const Aabb& b, const Vec3& p) {
  const auto gap = [](float low, float high, float at) {
    const long double nearest =
        std::clamp(static_cast<long double>(at), static_cast<long double>(low), static_cast<long double>(high));
    return nearest - static_cast<long double>(at);
  };
  const long double x = gap(b.min.x, b.max.x, p.x), y = gap(b.min.y, b.max.y, p.y), z = gap(b.min.z, b.max.z, p.z);
  return std::sqrt(x * x + y * y + z * z);
}

/// Whether the segment touches the box made larger by `margin` on all sides: separating axes, in long double.
inline bool segment_touches(const Aabb& b, const Vec3& from, const Vec3& to, long double margin) {
  using Real = long double;
  const Real p[3] = {from.x, from.y, from.z}, q[3] = {to.x, to.y, to.z};
  const Real low[3] = {b.min.x, b.min.y, b.min.z}, high[3] = {b.max.x, b.max.y, b.max.z};
  Real centre[3], half[3], middle[3], reach[3];
  for (int i = 0; i < 3; ++i) {
    half[i] = (high[i] - low[i]) / 2 + margin;
    centre[i] = (low[i] + high[i]) / 2;
    reach[i] = (q[i] - p[i]) / 2;
    middle[i] = (p[i] + q[i]) / 2 - centre[i];
    if (std::fabs(middle[i]) > half[i] + std::fabs(reach[i])) return false;
  }
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (std::fabs(middle[j] * reach[k] - middle[k] * reach[j]) >
        half[j] * std::fabs(reach[k]) + half[k] * std::fabs(reach[j]))
      return false;
  }
  return true;
}

}  // namespace meridian::test
