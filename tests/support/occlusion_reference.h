// SPDX-License-Identifier: MIT
#pragma once
/// What a view sees of occluders by another route than the runtime's: a ray through each sample, in doubles, against
/// each box as three pairs of planes and against each triangle. Nothing of the runtime's but its input.
///
///   const test::OcclusionReference reference(set, view, 64, 32);
///   const double far = reference.distance(31.5, 15.5);           // along the view; kFar where nothing is
///   const bool is_seen = reference.distance_of(reference.box_of(box), 31.5, 15.5) < far;
///
/// A box that contains the camera, grown by the near distance, is not there; nor is a closed mesh that winds around the
/// camera. What lies before the near plane is cut off; a box whose front is cut off there does not show its inside.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "meridian/visibility/occluder_set.h"
#include "meridian/visibility/occlusion_buffer.h"

namespace meridian::test {

struct V3 {
  double x = 0, y = 0, z = 0;
  V3() = default;
  V3(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
  explicit V3(const Vec3& v) : x(v.x), y(v.y), z(v.z) {}
};
inline V3 operator+(const V3& a, const V3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline V3 operator-(const V3& a, const V3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline V3 operator*(const V3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double operator*(const V3& a, const V3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline V3 operator%(const V3& a, const V3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

class OcclusionReference {
 public:
  static constexpr double kFar = std::numeric_limits<double>::infinity();

  OcclusionReference(const OccluderSet& set, const OcclusionView& view, uint32_t width, uint32_t height)
      : view_(view), width_(width), height_(height) {
    for (const Occluder& o : set.all()) {
      if (o.water_only && !view.with_water_only) continue;
      if (o.id.kind == OccluderKind::box) {
        add_box(o.box);
      } else if (view.is_orthographic || !winds_around(o)) {
        for (uint32_t i = 0; i < o.triangle_count; ++i) {
          const auto corner = [&](uint32_t k) { return relative(o.vertices[o.triangles[i * 3 + k]]); };
          triangles_.push_back({corner(0), corner(1), corner(2)});
        }
      }
    }
  }

  /// Of the nearest occluder at a point of the picture, along the view.
  double distance(double px, double py) const {
    const Ray ray = ray_at(px, py);
    double nearest = kFar;
    for (const Box& box : boxes_) {
      const double at = enter(box, ray);
      if (at >= view_.near_distance) nearest = std::min(nearest, at);
    }
    for (const Triangle& t : triangles_) nearest = std::min(nearest, meet(t, ray));
    return nearest;
  }

  /// A box that is tested, made ready for rays.
  struct Box {
    V3 centre, normal[3];
    double reach[3];
  };
  Box box_of(const Aabb& box) const {
    const V3 low = relative(box.min), high = relative(box.max), size = high - low;
    return {(low + high) * 0.5, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {size.x / 2, size.y / 2, size.z / 2}};
  }
  /// Where the box begins at a point of the picture, along the view; kFar where it is not. It is seen where that is
  /// before the occluders.
  double distance_of(const Box& box, double px, double py) const { return enter(box, ray_at(px, py)); }
  /// The nearest corner along the view.
  double nearest_corner(const Aabb& box) const {
    double nearest = kFar;
    for (int i = 0; i < 8; ++i) {
      const Vec3 corner{(i & 1) != 0 ? box.max.x : box.min.x, (i & 2) != 0 ? box.max.y : box.min.y,
                        (i & 4) != 0 ? box.max.z : box.min.z};
      nearest = std::min(nearest, relative(corner) * V3(view_.forward));
    }
    return nearest;
  }

 private:
  struct Ray {
    V3 from, along;  // along has length 1 along the view
  };
  struct Triangle {
    V3 a, b, c;
  };

  V3 relative(const Vec3& p) const { return V3(p) - V3(view_.position); }
  Ray ray_at(double px, double py) const {
    const double x = (px / width_ * 2 - 1) * view_.half_width, y = (1 - py / height_ * 2) * view_.half_height;
    const V3 across = V3(view_.right) * x + V3(view_.up) * y;
    if (view_.is_orthographic) return {across, V3(view_.forward)};
    return {{}, V3(view_.forward) + across};
  }
  void add_box(const OccludingBox& box) {
    const V3 axis[3] = {V3(box.x_axis), V3(box.y_axis), V3(box.z_axis)};
    const double half[3] = {box.half.x, box.half.y, box.half.z};
    Box out{relative(box.centre), {}, {}};
    bool is_around = !view_.is_orthographic;
    for (int k = 0; k < 3; ++k) {
      out.normal[k] = axis[(k + 1) % 3] % axis[(k + 2) % 3];
      out.reach[k] = std::abs(out.normal[k] * axis[k]) * half[k];
      const double grown = out.reach[k] + view_.near_distance * std::sqrt(out.normal[k] * out.normal[k]);
      is_around = is_around && std::abs(out.normal[k] * out.centre) <= grown;
    }
    if (!is_around) boxes_.push_back(out);
  }
  /// Where a ray enters, or kFar. May be behind the camera.
  static double enter(const Box& box, const Ray& ray) {
    double in = -kFar, out = kFar;
    const V3 to = box.centre - ray.from;
    for (int k = 0; k < 3; ++k) {
      const double offset = box.normal[k] * to, speed = box.normal[k] * ray.along;
      if (speed == 0) {
        if (std::abs(offset) > box.reach[k]) return kFar;
        continue;
      }
      const double scale = 1 / speed, middle = offset * scale, reach = std::abs(box.reach[k] * scale);
      in = std::max(in, middle - reach);
      out = std::min(out, middle + reach);
    }
    return in <= out ? in : kFar;
  }
  double meet(const Triangle& t, const Ray& ray) const {
    const V3 u = t.b - t.a, v = t.c - t.a, p = ray.along % v;
    const double det = u * p;
    if (det == 0) return kFar;
    const V3 s = ray.from - t.a, q = s % u;
    const double i = (s * p) / det, j = (ray.along * q) / det, at = (v * q) / det;
    return i >= 0 && j >= 0 && i + j <= 1 && at >= view_.near_distance ? at : kFar;
  }
  /// By the solid angles of its triangles. Source: van Oosterom, Strackee, 1983.
  bool winds_around(const Occluder& mesh) const {
    if (!mesh.is_closed) return false;
    double angle = 0;
    for (uint32_t i = 0; i < mesh.triangle_count; ++i) {
      const auto corner = [&](uint32_t k) { return relative(mesh.vertices[mesh.triangles[i * 3 + k]]); };
      const V3 a = corner(0), b = corner(1), c = corner(2);
      const double la = std::sqrt(a * a), lb = std::sqrt(b * b), lc = std::sqrt(c * c);
      angle += 2 * std::atan2(a * (b % c), la * lb * lc + (a * b) * lc + (b * c) * la + (c * a) * lb);
    }
    return std::abs(angle) > 2 * 3.141592653589793;
  }

  OcclusionView view_;
  double width_, height_;
  std::vector<Box> boxes_;
  std::vector<Triangle> triangles_;
};

}  // namespace meridian::test
