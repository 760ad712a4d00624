// SPDX-License-Identifier: MIT
#include "search/search_volume.h"

#include <algorithm>
#include <cmath>

#include "base/double3.h"

namespace meridian {
namespace {

/// As three numbers, so that axes can be counted.
struct Axes {
  double v[3];
  explicit Axes(const Vec3& p) : v{double{p.x}, double{p.y}, double{p.z}} {}
  explicit Axes(const Double3& p) : v{p.x, p.y, p.z} {}
};

/// What doubles lose in a handful of operations, with room to spare.
constexpr double kRounding = 0x1p-44;

double sum_of_sizes(const Double3& v) { return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z); }

SegmentAxis segment_axis(float a, float b, float radius) {
  SegmentAxis out;
  const float length = b - a, inverse = 1 / length;  // 1 / 0 is infinite
  out.is_down = b < a;
  // Grown outwards by the radius: the near side is met that much earlier, the far side left that much later.
  const double grow = out.is_down ? -double{radius} : double{radius};
  const double from = double{a} + grow, to = double{b} - grow;
  out.from = out.is_down ? round_down(from) : round_up(from);
  out.to = out.is_down ? round_up(to) : round_down(to);
  const bool is_usable = is_finite(length) && is_finite(inverse) && is_finite(out.from) && is_finite(out.to);
  if (!is_usable) return {};
  out.inverse = inverse;
  return out;
}

void prepare_segment(const Volume& volume, SearchVolume& out) {
  const float r = volume.kind == VolumeKind::swept_sphere ? volume.radius : 0;
  const Vec3 low = min(volume.a, volume.b), high = max(volume.a, volume.b);
  out.min = {round_down(double{low.x} - r), round_down(double{low.y} - r), round_down(double{low.z} - r)};
  out.max = {round_up(double{high.x} + r), round_up(double{high.y} + r), round_up(double{high.z} + r)};
  out.axes[0] = segment_axis(volume.a.x, volume.b.x, r);
  out.axes[1] = segment_axis(volume.a.y, volume.b.y, r);
  out.axes[2] = segment_axis(volume.a.z, volume.b.z, r);
}

/// One face. Corners of boxes are cut to [min, max] before they are looked at, so they are no further out than that,
/// and the roundings of a plane's formula, four of its largest terms each, are bounded by a constant.
void add_face(const Double3& normal, const Double3& at, SearchVolume& out) {
  const double size = length(normal);
  if (!(size > 0 && std::isfinite(size))) return;  // flat: the other faces and the exact test do without
  const Vec3 n = (normal * (1 / size)).rounded();
  const Axes low(out.min), high(out.max), along(n);
  double reach = 0;
  for (int i = 0; i < 3; ++i) reach += std::fabs(along.v[i]) * std::max(std::fabs(low.v[i]), std::fabs(high.v[i]));
  const double d = -dot(Double3(n), at);
  // The normal as rounded is another direction than the face's: at the box's far end that is 2^-23 of its size.
  const double slack = (reach + std::fabs(d)) * 0x1p-20;
  const float distance = round_up(d + slack);
  if (!is_finite(distance)) return;
  out.planes[out.plane_count++] = {n, distance};
}

void prepare_oriented_box(const Volume& volume, SearchVolume& out) {
  const Double3 centre(volume.a), u(volume.axes[0]), v(volume.axes[1]), w(volume.axes[2]);
  const Double3 half(sum_of_sizes({u.x, v.x, w.x}), sum_of_sizes({u.y, v.y, w.y}), sum_of_sizes({u.z, v.z, w.z}));
  const Double3 low = centre - half, high = centre + half;
  out.min = {round_down(low.x), round_down(low.y), round_down(low.z)};
  out.max = {round_up(high.x), round_up(high.y), round_up(high.z)};
  const Double3 edges[3] = {u, v, w};
  for (int i = 0; i < 3; ++i) {
    Double3 normal = cross(edges[(i + 1) % 3], edges[(i + 2) % 3]);
    if (dot(normal, edges[i]) < 0) normal = normal * -1;
    // Inwards: away from the face at centre + edge, and towards it from the one across.
    add_face(normal * -1, centre + edges[i], out);
    add_face(normal, centre - edges[i], out);
  }
}

/// Whether `axis` keeps the box and the parallelepiped apart. One without length keeps nothing apart.
bool separates(const Double3& axis, const Double3& between, const Double3& half, const Double3 (&edges)[3]) {
  const double box = std::fabs(axis.x) * half.x + std::fabs(axis.y) * half.y + std::fabs(axis.z) * half.z;
  const double other = std::fabs(dot(axis, edges[0])) + std::fabs(dot(axis, edges[1])) + std::fabs(dot(axis, edges[2]));
  const double size = sum_of_sizes(between) + sum_of_sizes(half);
  return std::fabs(dot(axis, between)) > box + other + sum_of_sizes(axis) * size * kRounding;
}

/// Separating axes. What lies between a box and a parallelepiped is a zonotope of six edges, whose faces are spanned by
/// two of them each: so three normals of the box, three of the parallelepiped and nine products are enough. That holds
/// for edges without length too: thicken the box by less than the gap there is, and one of these axes separates still.
bool touches_oriented(const Volume& volume, const Aabb& box) {
  const Double3 low(box.min), high(box.max);
  const Double3 half = (high - low) * 0.5, between = (low + high) * 0.5 - Double3(volume.a);
  const Double3 edges[3] = {Double3(volume.axes[0]), Double3(volume.axes[1]), Double3(volume.axes[2])};
  const Double3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; ++i) {
    if (separates(units[i], between, half, edges)) return false;
    if (separates(cross(edges[i], edges[(i + 1) % 3]), between, half, edges)) return false;
    for (const Double3& edge : edges)
      if (separates(cross(units[i], edge), between, half, edges)) return false;
  }
  return true;
}

/// The squared distance between a box and the point a + t d, as a function of t: convex, and a parabola between the
/// places where the point crosses the plane of a side.
struct DistanceAlong {
  Axes low, high, from, along;

  static double gap(double low, double high, double at) { return at < low ? at - low : at > high ? at - high : 0; }
  double squared(double t) const {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      const double g = gap(low.v[i], high.v[i], from.v[i] + t * along.v[i]);
      sum += g * g;
    }
    return sum;
  }
  /// The lowest point of the parabola that holds at `t`, or `t` if it is flat there.
  double lowest_near(double t) const {
    double slope = 0, bend = 0;
    for (int i = 0; i < 3; ++i) {
      const double at = from.v[i] + t * along.v[i];
      if (at >= low.v[i] && at <= high.v[i]) continue;
      const double side = at < low.v[i] ? low.v[i] : high.v[i];
      slope += (from.v[i] - side) * along.v[i];
      bend += along.v[i] * along.v[i];
    }
    return bend > 0 ? -slope / bend : t;
  }
};

bool touches_swept(const Volume& volume, const Aabb& box) {
  const Double3 a(volume.a), b(volume.b);
  const DistanceAlong distance{Axes(box.min), Axes(box.max), Axes(a), Axes(b - a)};
  const double size = sum_of_sizes(a) + sum_of_sizes(b) + double{volume.radius};
  const double reach = double{volume.radius} + size * kRounding, most = reach * reach;
  // The ends and all crossings, in order.
  double at[8] = {0, 1};
  int count = 2;
  for (int i = 0; i < 3; ++i) {
    if (distance.along.v[i] == 0) continue;
    for (const double side : {distance.low.v[i], distance.high.v[i]}) {
      const double t = (side - distance.from.v[i]) / distance.along.v[i];
      if (!(t > 0 && t < 1)) continue;
      int place = count++;
      for (; at[place - 1] > t; --place) at[place] = at[place - 1];
      at[place] = t;
    }
  }
  if (distance.squared(at[0]) <= most) return true;
  for (int i = 1; i < count; ++i) {
    if (distance.squared(at[i]) <= most) return true;
    const double lowest = distance.lowest_near((at[i - 1] + at[i]) * 0.5);
    if (distance.squared(std::clamp(lowest, at[i - 1], at[i])) <= most) return true;
  }
  return false;
}

}  // namespace

void prepare(const Volume& volume, SearchVolume& out) {
  out.source = &volume;
  switch (volume.kind) {
    case VolumeKind::sphere:
      out.radius_squared = volume.radius * volume.radius;
      break;
    case VolumeKind::box:
      out.min = volume.a;
      out.max = volume.b;
      break;
    case VolumeKind::oriented_box:
      prepare_oriented_box(volume, out);
      break;
    case VolumeKind::segment:
    case VolumeKind::swept_sphere:
      prepare_segment(volume, out);
      break;
    case VolumeKind::frustum:
      out.plane_count = volume.plane_count;
      std::copy(volume.planes, volume.planes + volume.plane_count, out.planes);
      break;
  }
}

bool touches(const SearchVolume& volume, const Aabb& box) {
  return volume.source->kind == VolumeKind::oriented_box ? touches_oriented(*volume.source, box)
                                                         : touches_swept(*volume.source, box);
}

}  // namespace meridian
