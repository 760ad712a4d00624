// SPDX-License-Identifier: MIT
#pragma once
// Where the camera flies.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "meridian/base/math.h"
#include "meridian/stream/world_index.h"

/// Round and round through points, at a constant speed: a closed curve that passes each (Catmull-Rom).
class Path {
 public:
  explicit Path(std::vector<meridian::Vec3> points) : points_(std::move(points)) {
    constexpr int kSteps = 64;  // a piece; between them the curve is taken as straight
    for (size_t i = 0; i < points_.size(); ++i) {
      for (int s = 0; s < kSteps; ++s) {
        const meridian::Vec3 at = curve(i, static_cast<float>(s) / kSteps);
        if (!samples_.empty()) length_ += distance(samples_.back(), at);
        samples_.push_back(at);
        lengths_.push_back(length_);
      }
    }
    length_ += distance(samples_.back(), samples_.front());
  }
  meridian::Vec3 at(double metres) const {
    const double along = std::fmod(metres, length_);
    const size_t next =
        static_cast<size_t>(std::upper_bound(lengths_.begin(), lengths_.end(), along) - lengths_.begin());
    const size_t before = next - 1;
    const double end = next < lengths_.size() ? lengths_[next] : length_;
    const auto part =
        static_cast<float>(end > lengths_[before] ? (along - lengths_[before]) / (end - lengths_[before]) : 0);
    const meridian::Vec3 &a = samples_[before], &b = samples_[next % samples_.size()];
    return a + (b - a) * part;
  }

 private:
  static double distance(const meridian::Vec3& a, const meridian::Vec3& b) {
    const meridian::Vec3 d = b - a;
    return std::sqrt(static_cast<double>(d.x * d.x + d.y * d.y + d.z * d.z));
  }
  meridian::Vec3 curve(size_t i, float t) const {
    const size_t n = points_.size();
    const meridian::Vec3 &a = points_[(i + n - 1) % n], &b = points_[i], &c = points_[(i + 1) % n],
                         &d = points_[(i + 2) % n];
    return (b * 2.0f + (c - a) * t + (a * 2.0f - b * 5.0f + c * 4.0f - d) * (t * t) +
            (b * 3.0f - a - c * 3.0f + d) * (t * t * t)) *
           0.5f;
  }
  std::vector<meridian::Vec3> points_, samples_;
  std::vector<double> lengths_;
  double length_ = 0;
};

/// A figure of eight over the world that the index describes.
inline std::vector<meridian::Vec3> default_path(const meridian::WorldIndex& index, float height) {
  meridian::Aabb all{{1e9f, 1e9f, 1e9f}, {-1e9f, -1e9f, -1e9f}};
  for (const meridian::MapSlot& map : index.maps()) {
    if (map.entities.min.x > map.entities.max.x || map.asset == meridian::BoxAsset::map_low) continue;
    all.min = {std::min(all.min.x, map.entities.min.x), std::min(all.min.y, map.entities.min.y), 0};
    all.max = {std::max(all.max.x, map.entities.max.x), std::max(all.max.y, map.entities.max.y), 0};
  }
  const meridian::Vec3 middle = (all.min + all.max) * 0.5f, half = (all.max - all.min) * 0.45f;
  std::vector<meridian::Vec3> points;
  for (int i = 0; i < 16; ++i) {
    const float angle = static_cast<float>(i) * 6.2831853f / 16;
    points.push_back({middle.x + half.x * std::sin(angle), middle.y + half.y * std::sin(2 * angle), height});
  }
  return points;
}
