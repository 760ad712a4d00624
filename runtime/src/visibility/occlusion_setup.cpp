// SPDX-License-Identifier: MIT
// From occluders to polygons on the screen, in double precision: the same for all widths.
//
// Edges are planes through the eye. Those of points that stand before it and behind it are right without clipping: a
// polygon is all rays on the inner side of each. Every edge is moved inwards by more than it may be off, and by more
// than an exact picture in double precision may be off. That is a millionth of a pixel, so that hardly ever a pixel is
// lost between two triangles.
#include <algorithm>
#include <cmath>

#include "visibility/occlusion_kernel.h"

namespace meridian::detail {
namespace {

/// By which edges move inwards. [pixels]
constexpr double kInset = 0x1p-20;
/// Sides seen from below this angle, and triangles as narrow, count as seen edge-on. [rad]
constexpr double kEdgeOn = 0x1p-20;

/// A point or direction in homogeneous pixels.
struct Pixel3 {
  double x, y, w;
};
Pixel3 operator+(const Pixel3& a, const Pixel3& b) { return {a.x + b.x, a.y + b.y, a.w + b.w}; }
Pixel3 operator*(const Pixel3& v, double s) { return {v.x * s, v.y * s, v.w * s}; }

struct Line {
  double x, y, at;
};

double sum_of_sizes(const Double3& v) { return std::abs(v.x) + std::abs(v.y) + std::abs(v.z); }

Pixel3 direction(const OcclusionCamera& camera, const Double3& v) {
  return {dot(camera.to_x, v), dot(camera.to_y, v), camera.is_orthographic ? 0 : dot(camera.forward, v)};
}
Pixel3 point(const OcclusionCamera& camera, const Double3& p) {
  const Pixel3 d = direction(camera, p);
  return camera.is_orthographic ? Pixel3{d.x + camera.width * 0.5, d.y + camera.height * 0.5, 1} : d;
}
/// What rounding may add to the value of a line anywhere in the picture: it goes through a point that is a sum of
/// vectors with components of this sum at most, along a vector of that.
double error_of_line(const OcclusionCamera& camera, double sizes_of_point, double sizes_along) {
  const double size = camera.width + camera.height + 1;
  const double at = camera.largest * sizes_of_point + (camera.is_orthographic ? size : 0);
  return 0x1p-46 * at * (camera.largest * sizes_along) * size;
}

/// Gathers edges, and the rows between them.
class Builder {
 public:
  Builder(const OcclusionCamera& camera, OcclusionPrimitive& out) : camera_(camera), out_(out) {
    out_.lefts = out_.rights = out_.plane_count = 0;
    out_.is_limited = false;
    out_.limit = 3.4e38f;
    x_end_ = camera.width;
    y_end_ = camera.height;
  }

  /// The edge through the point `p` along `u`; the polygon is on the side of `v`. `error` bounds what the line's value
  /// may be off anywhere in the picture.
  void edge(const Pixel3& p, const Pixel3& u, const Pixel3& v, double error) {
    Line line{p.y * u.w - p.w * u.y, p.w * u.x - p.x * u.w, p.x * u.y - p.y * u.x};
    if (line.x * v.x + line.y * v.y + line.at * v.w < 0) line = {-line.x, -line.y, -line.at};
    const double inset = camera_.is_strict ? 0.5 + kInset : kInset;
    const double side_x = std::abs(line.x), side_y = std::abs(line.y);
    line.at -= inset * (side_x + side_y) + error;
    is_good_ = is_good_ && std::isfinite(line.at);
    if (side_x > 0x1p-40 * side_y) {
      const double scale = -1 / line.x;
      const OcclusionEdge edge{line.y * scale, line.at * scale};
      is_good_ = is_good_ && std::abs(edge.slope) < 1e100 && std::abs(edge.at) < 1e100;
      if (line.x > 0) {
        out_.edges[out_.lefts++] = edge;
      } else {
        out_.edges[kMaxOcclusionEdges - ++out_.rights] = edge;
      }
    } else if (side_y > 0) {
      line.at -= side_x * camera_.width;
      if (line.y > 0) {
        rows(-line.at / line.y, y_end_);
      } else {
        rows(y_begin_, -line.at / line.y);
      }
    } else {
      is_good_ = is_good_ && line.at >= 0;  // the plane of all that is neither before nor behind the camera
    }
  }

  /// The plane of points with the same dot(normal, p) as `at`.
  void plane(const Double3& normal, const Double3& at) {
    const Double3& n = normal;
    const double right = dot(n, camera_.ray_right), down = dot(n, camera_.ray_down), ray = dot(n, camera_.ray_at);
    OcclusionPlane p{};
    if (camera_.is_orthographic) {
      const double scale = 1 / dot(n, camera_.forward);
      p = {right * scale, down * scale, (ray - dot(n, at)) * scale};
    } else {
      const double scale = 1 / dot(n, at);
      p = {right * scale, down * scale, ray * scale};
    }
    const double across = std::abs(p.right), along = std::abs(p.down);
    if (camera_.is_strict) p.at -= 0.5 * (across + along);
    steepest_ = std::max(steepest_, across + along);
    p.at -= 0x1p-30 * ((across * camera_.width + along * camera_.height) + std::abs(p.at));
    is_good_ = is_good_ && across < 1e30 && along < 1e30 && std::abs(p.at) < 1e30;
    out_.planes[out_.plane_count++] = p;
  }

  /// What lies between these heights only. [pixels]
  void rows(double begin, double end) {
    y_begin_ = std::max(y_begin_, begin);
    y_end_ = std::min(y_end_, end);
  }
  /// Of all points that lie before the camera.
  void corner(const Pixel3& at) {
    const double scale = 1 / at.w, x = at.x * scale, y = at.y * scale;
    left_ = std::min(left_, x);
    right_ = std::max(right_, x);
    top_ = std::min(top_, y);
    bottom_ = std::max(bottom_, y);
  }
  void between_corners() {
    const double slack = 1e-6 * (1 + std::abs(top_) + std::abs(bottom_)) + 1e-6 * (std::abs(left_) + std::abs(right_));
    rows(top_ - slack, bottom_ + slack);
    x_begin_ = std::max(x_begin_, left_ - slack);
    x_end_ = std::min(x_end_, right_ + slack);
  }

  /// `distance`: where it begins, along the view.
  bool done(double distance) {
    const bool is_cut = distance < camera_.near_distance;
    const double begin = is_cut ? camera_.near_distance : distance;
    const double nearest = camera_.is_orthographic ? -begin : 1 / begin;
    out_.nearest = round_up(nearest + std::abs(nearest) * 0x1p-40);
    if (!is_good_ || !(y_begin_ < y_end_) || !(x_begin_ < x_end_)) return false;
    out_.x_begin = static_cast<int16_t>(std::floor(x_begin_));
    out_.x_end = static_cast<int16_t>(std::ceil(x_end_));
    // Rows whose centres are between. Edges cut more exactly where they can; this is for those that are level.
    const double first = std::ceil(y_begin_ - 0.5), last = std::floor(y_end_ - 0.5) + 1;
    if (!(first < last) || last <= 0 || first >= camera_.height) return false;
    out_.y_begin = static_cast<int16_t>(std::max(first, 0.0));
    out_.y_end = static_cast<int16_t>(std::min(last, camera_.height));
    return true;
  }
  /// Parts before the near plane are not drawn. Of all planes.
  void limit() {
    double n = camera_.is_orthographic ? -camera_.near_distance : 1 / camera_.near_distance;
    if (camera_.is_strict) n -= steepest_;  // from the farthest point of a pixel, which it holds, to the nearest
    out_.is_limited = true;
    out_.limit = round_down(n - (std::abs(n) * 0x1p-18 + 0x1p-60));
  }

 private:
  const OcclusionCamera& camera_;
  OcclusionPrimitive& out_;
  double x_begin_ = 0, x_end_ = 0, y_begin_ = 0, y_end_ = 0;
  double steepest_ = 0, left_ = 1e300, right_ = -1e300, top_ = 1e300, bottom_ = -1e300;
  bool is_good_ = true;
};

/// Of the triangle's point that is nearest to the origin. One without area is as far as one of its sides, at most.
/// Source: Ericson, "Real-Time Collision Detection", 2005, 5.1.5.
double distance_squared(const Double3& a, const Double3& b, const Double3& c) {
  const Double3 ab = b - a, ac = c - a, ap = a * -1.0;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return dot(a, a);
  const Double3 bp = b * -1.0;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return dot(b, b);
  const auto from = [](const Double3& p) { return dot(p, p); };
  const auto part = [](double v, double of) { return of != 0 ? v / of : 0; };
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return from(a + ab * part(d1, d1 - d3));
  const Double3 cp = c * -1.0;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return dot(c, c);
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return from(a + ac * part(d2, d2 - d6));
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return from(b + (c - b) * part(d4 - d3, (d4 - d3) + (d5 - d6)));
  const double scale = part(1, va + vb + vc);
  return from(a + ab * (vb * scale) + ac * (vc * scale));
}

/// Whether the ray from the origin along `d` meets the triangle.
bool meets(const Double3& d, const Double3& a, const Double3& b, const Double3& c) {
  const double u = dot(d, cross(c, b)), v = dot(d, cross(a, c)), w = dot(d, cross(b, a));
  const bool is_across = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
  if (!is_across) return false;
  return dot(a * u + b * v + c * w, d) * (u + v + w) > 0;
}

Double3 vertex(const OcclusionCamera& camera, const Occluder& mesh, uint32_t triangle, uint32_t corner) {
  return Double3(mesh.vertices[mesh.triangles[triangle * 3 + corner]]) - camera.position;
}

bool is_around_mesh(const OcclusionCamera& camera, const Occluder& mesh) {
  if (!mesh.is_closed) return false;
  // A ray along an edge may miscount: three that are along nothing that people build.
  const Double3 rays[3] = {{0.83, 0.41, 0.37}, {-0.31, 0.87, -0.43}, {0.29, -0.53, 0.79}};
  uint32_t crossed[3] = {};
  const double limit = camera.near_radius * camera.near_radius * (1 + 1e-9);
  for (uint32_t i = 0; i < mesh.triangle_count; ++i) {
    const Double3 a = vertex(camera, mesh, i, 0), b = vertex(camera, mesh, i, 1), c = vertex(camera, mesh, i, 2);
    if (distance_squared(a, b, c) <= limit) return true;
    for (uint32_t r = 0; r < 3; ++r) crossed[r] += meets(rays[r], a, b, c) ? 1 : 0;
  }
  return (crossed[0] & 1) + (crossed[1] & 1) + (crossed[2] & 1) >= 2;
}

/// A box as the camera sees it.
struct BoxSides {
  Double3 axis[3], reach[3], normal[3], centre;
  double beyond[3][2];  ///< how far the camera is outside the side at the axis' end, and at its start, times length
  double length[3];     ///< of the normals
};
BoxSides sides_of(const OcclusionCamera& camera, const OccludingBox& box) {
  BoxSides out{{Double3(box.x_axis), Double3(box.y_axis), Double3(box.z_axis)}, {}, {}, {}, {}, {}};
  const double half[3] = {box.half.x, box.half.y, box.half.z};
  out.centre = Double3(box.centre) - camera.position;
  for (uint32_t k = 0; k < 3; ++k) {
    out.reach[k] = out.axis[k] * half[k];
    out.normal[k] = cross(out.axis[(k + 1) % 3], out.axis[(k + 2) % 3]);
    const double to = dot(out.normal[k], out.centre), end = dot(out.normal[k], out.reach[k]);
    out.beyond[k][0] = -to - end;
    out.beyond[k][1] = to - end;
    out.length[k] = length(out.normal[k]);
  }
  return out;
}

}  // namespace

bool is_sound(const OcclusionView& view) {
  const bool is_good = is_finite(view.position) && is_finite(view.right) && is_finite(view.forward) &&
                       is_finite(view.up) && is_finite(view.half_width) && is_finite(view.half_height) &&
                       is_finite(view.near_distance);
  const double space = dot(Double3(view.right), cross(Double3(view.forward), Double3(view.up)));
  return is_good && view.half_width > 0 && view.half_height > 0 && std::abs(std::abs(space) - 1) < 0.01 &&
         (view.is_orthographic || view.near_distance > 0);
}

OcclusionCamera occlusion_camera(const OcclusionView& view, uint32_t width, uint32_t height) {
  OcclusionCamera c;
  c.position = Double3(view.position);
  c.right = Double3(view.right);
  c.forward = Double3(view.forward);
  c.up = Double3(view.up);
  c.width = width;
  c.height = height;
  c.half_width = view.half_width;
  c.half_height = view.half_height;
  c.is_orthographic = view.is_orthographic;
  c.is_strict = view.is_strict;
  c.with_water_only = view.with_water_only;
  c.near_distance = view.near_distance;
  c.to_x = c.right * (c.width * 0.5 / c.half_width);
  c.to_y = c.up * (c.height * -0.5 / c.half_height);
  c.ray_right = c.right * (2 * c.half_width / c.width);
  c.ray_down = c.up * (-2 * c.half_height / c.height);
  c.ray_at = c.up * c.half_height - c.right * c.half_width;
  if (!c.is_orthographic) {
    c.to_x = c.to_x + c.forward * (c.width * 0.5);
    c.to_y = c.to_y + c.forward * (c.height * 0.5);
    c.ray_at = c.ray_at + c.forward;
    const double x = c.half_width, y = c.half_height;
    c.near_radius = c.near_distance * std::sqrt(1 + x * x + y * y) * (1 + 1e-6);
    c.slant_x = 1 / std::sqrt(1 + x * x);
    c.slant_y = 1 / std::sqrt(1 + y * y);
  }
  c.largest = 1;
  for (const Double3& v : {c.to_x, c.to_y}) {
    c.largest = std::max({c.largest, std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  }
  return c;
}

bool is_in_view(const OcclusionCamera& camera, const Occluder& occluder, double& distance) {
  const Double3 p = Double3(occluder.centre) - camera.position;
  const double radius = occluder.radius * (1 + 1e-5) + 1e-5;  // axes have length 1, nearly
  const double w = dot(p, camera.forward), x = std::abs(dot(p, camera.right)), y = std::abs(dot(p, camera.up));
  distance = w - radius;
  if (w + radius < camera.near_distance) return false;
  if (camera.is_orthographic) return x - radius < camera.half_width && y - radius < camera.half_height;
  return (x - w * camera.half_width) * camera.slant_x < radius &&
         (y - w * camera.half_height) * camera.slant_y < radius;
}

bool is_around(const OcclusionCamera& camera, const Occluder& occluder) {
  if (camera.is_orthographic) return false;
  const Double3 p = Double3(occluder.centre) - camera.position;
  const double reach = occluder.radius + camera.near_radius;
  // By the sides of a box, a corner may be farther away than a side's plane.
  if (dot(p, p) > 4 * reach * reach) return false;
  if (occluder.id.kind == OccluderKind::mesh) return is_around_mesh(camera, occluder);
  const BoxSides box = sides_of(camera, occluder.box);
  for (uint32_t k = 0; k < 3; ++k) {
    const double limit = camera.near_radius * box.length[k];
    if (box.beyond[k][0] > limit || box.beyond[k][1] > limit) return false;
  }
  return true;
}

// The outline of a box is made of the edges between sides that face the camera and sides that don't: two along each
// axis, but none along an axis where the camera is between both pairs of the other sides. Which side of an edge the box
// is on is said by the front side, which never is edge-on: so a wall without thickness comes out right as well.
bool set_up_box(const OcclusionCamera& camera, const OccludingBox& box, OcclusionPrimitive& out) {
  const BoxSides b = sides_of(camera, box);
  Builder builder(camera, out);
  double front[3];  // the side of each axis that faces the camera: 1, -1, or 0 for neither
  const double far =
      sum_of_sizes(b.centre) + sum_of_sizes(b.reach[0]) + sum_of_sizes(b.reach[1]) + sum_of_sizes(b.reach[2]);
  for (uint32_t k = 0; k < 3; ++k) {
    if (camera.is_orthographic) {
      const double facing = dot(b.normal[k], camera.forward);
      front[k] = facing < -kEdgeOn ? 1 : facing > kEdgeOn ? -1 : 0;
    } else {
      const double edge_on = kEdgeOn * b.length[k] * far;
      front[k] = b.beyond[k][0] > edge_on ? 1 : b.beyond[k][1] > edge_on ? -1 : 0;
    }
    if (front[k] != 0) builder.plane(b.normal[k] * front[k], b.centre + b.reach[k] * front[k]);
  }
  if (out.plane_count == 0) return false;
  const Pixel3 centre = point(camera, b.centre);
  Pixel3 axis[3], reach[3];
  double far_along = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    axis[k] = direction(camera, b.axis[k]);
    reach[k] = direction(camera, b.reach[k]);
    far_along = std::max(far_along, sum_of_sizes(b.axis[k]));
  }
  const double error = error_of_line(camera, far, far_along);
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
    if (front[i] == 0 && front[j] == 0) continue;
    // Two edges, each by the ends of the axes i and j that it is at.
    const bool both = front[i] != 0 && front[j] != 0;
    const double at_i[2] = {front[i] != 0 ? front[i] : 1, both ? -front[i] : front[i] != 0 ? front[i] : -1};
    const double at_j[2] = {both ? -front[j] : front[j] != 0 ? front[j] : 1, front[j] != 0 ? front[j] : -1};
    for (uint32_t edge = 0; edge < 2; ++edge) {
      const Pixel3 p = centre + reach[i] * at_i[edge] + reach[j] * at_j[edge];
      // Along the front side, away from the other one.
      const bool is_front_i = at_i[edge] == front[i];
      builder.edge(p, axis[k], is_front_i ? axis[j] * -at_j[edge] : axis[i] * -at_i[edge], error);
    }
  }
  const double deep = std::abs(dot(b.reach[0], camera.forward)) + std::abs(dot(b.reach[1], camera.forward)) +
                      std::abs(dot(b.reach[2], camera.forward));
  const double distance = dot(b.centre, camera.forward) - deep - 0x1p-44 * far;
  if (camera.is_orthographic || distance > camera.near_distance * 0.5) {
    for (const double z : {-1.0, 1.0}) {
      const Pixel3 at_z = centre + reach[2] * z;
      for (const double y : {-1.0, 1.0}) {
        const Pixel3 at_y = at_z + reach[1] * y;
        builder.corner(at_y + reach[0] * -1.0);
        builder.corner(at_y + reach[0]);
      }
    }
    builder.between_corners();
  }
  // In perspective, what the view shows of a box that is not around the camera is behind the near plane.
  if (camera.is_orthographic && distance < camera.near_distance) builder.limit();
  return builder.done(distance);
}

bool set_up_triangle(const OcclusionCamera& camera, const Occluder& mesh, uint32_t triangle, OcclusionPrimitive& out) {
  const Double3 p[3] = {vertex(camera, mesh, triangle, 0), vertex(camera, mesh, triangle, 1),
                        vertex(camera, mesh, triangle, 2)};
  const double w[3] = {dot(p[0], camera.forward), dot(p[1], camera.forward), dot(p[2], camera.forward)};
  const double far = std::max({sum_of_sizes(p[0]), sum_of_sizes(p[1]), sum_of_sizes(p[2])});
  const double begin = std::min({w[0], w[1], w[2]}) - 0x1p-44 * far, end = std::max({w[0], w[1], w[2]});
  if (end <= camera.near_distance) return false;
  const Double3 side[3] = {p[1] - p[0], p[2] - p[1], p[0] - p[2]};
  const Double3 normal = cross(side[0], side[1]);
  const double size = length(normal);
  double longest = 0;
  for (const Double3& s : side) longest = std::max(longest, dot(s, s));
  if (!(size > kEdgeOn * longest)) return false;
  const double facing = camera.is_orthographic ? dot(normal, camera.forward) : dot(normal, p[0]);
  if (!(std::abs(facing) > kEdgeOn * size * (camera.is_orthographic ? 1 : far))) return false;
  Builder builder(camera, out);
  builder.plane(normal, p[0]);
  const Pixel3 corners[3] = {point(camera, p[0]), point(camera, p[1]), point(camera, p[2])};
  const Pixel3 along[3] = {direction(camera, side[0]), direction(camera, side[1]), direction(camera, side[2])};
  const double error =
      error_of_line(camera, far, std::max({sum_of_sizes(side[0]), sum_of_sizes(side[1]), sum_of_sizes(side[2])}));
  for (uint32_t i = 0; i < 3; ++i) builder.edge(corners[i], along[i], along[(i + 1) % 3], error);
  if (camera.is_orthographic || begin > camera.near_distance * 0.5) {
    for (const Pixel3& at : corners) builder.corner(at);
    builder.between_corners();
  }
  if (begin < camera.near_distance) builder.limit();
  return builder.done(begin);
}

}  // namespace meridian::detail
