// SPDX-License-Identifier: MIT
// Boost.Geometry's R-tree, packed.
#include "peers/spatial_peer.h"

#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <iterator>
#include <utility>

namespace meridian::bench {
namespace {

namespace bg = boost::geometry;
namespace bgi = boost::geometry::index;
using Point = bg::model::point<float, 3, bg::cs::cartesian>;
using Box = bg::model::box<Point>;
using Segment = bg::model::segment<Point>;
using Value = std::pair<Box, uint32_t>;

Point point(const Vec3& v) { return {v.x, v.y, v.z}; }

class BoostRtree final : public SpatialPeer {
 public:
  explicit BoostRtree(std::span<const Aabb> boxes) : boxes_(boxes) {
    std::vector<Value> values;
    for (uint32_t i = 0; i < boxes.size(); ++i) values.push_back({{point(boxes[i].min), point(boxes[i].max)}, i});
    tree_ = Tree(values);  // packed: sort-tile-recursive
  }

  uint32_t sphere(const Vec3& centre, float radius, std::vector<uint32_t>& found) override {
    const Vec3 r{radius, radius, radius};
    const auto is_near = [&](const Value& v) { return touches_sphere(boxes_[v.second], centre, radius); };
    return collect(bgi::intersects(Box(point(centre - r), point(centre + r))) && bgi::satisfies(is_near), found);
  }
  uint32_t box(const Aabb& box, std::vector<uint32_t>& found) override {
    return collect(bgi::intersects(Box(point(box.min), point(box.max))), found);
  }
  uint32_t segment(const Vec3& a, const Vec3& b, std::vector<uint32_t>& found) override {
    return collect(bgi::intersects(Segment(point(a), point(b))), found);
  }

  uint32_t frustum(std::span<const Plane> planes, const Aabb& bounds, std::vector<uint32_t>& found) override {
    const auto is_inside = [&](const Value& v) { return touches_frustum(boxes_[v.second], planes); };
    return collect(bgi::intersects(Box(point(bounds.min), point(bounds.max))) && bgi::satisfies(is_inside), found);
  }

 private:
  using Tree = bgi::rtree<Value, bgi::rstar<16>>;

  /// Keeps the index of each value that it is given.
  struct Collect {
    uint32_t** next;
    Collect& operator*() { return *this; }
    Collect& operator++() { return *this; }
    Collect& operator=(const Value& value) {
      *(*next)++ = value.second;
      return *this;
    }
  };

  template <class Predicate>
  uint32_t collect(const Predicate& predicate, std::vector<uint32_t>& found) const {
    uint32_t* next = found.data();
    tree_.query(predicate, Collect{&next});
    return static_cast<uint32_t>(next - found.data());
  }

  std::span<const Aabb> boxes_;
  Tree tree_;
};

}  // namespace

std::unique_ptr<SpatialPeer> make_boost_rtree(std::span<const Aabb> boxes) {
  return std::make_unique<BoostRtree>(boxes);
}

}  // namespace meridian::bench
