// SPDX-License-Identifier: MIT
#include "meridian/base/geometry.h"

#include <algorithm>
#include <cmath>

#include "base/double3.h"
#include "meridian/base/assert.h"

namespace meridian {
namespace {

double clamped(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

Status bad_value(const char* message, uint64_t detail = 0) { return {StatusCode::bad_value, message, detail}; }

/// A symmetric matrix, turned step by step until nothing is left beside its diagonal; `axes` are then its columns.
struct Symmetric3 {
  double m[3][3] = {};
  double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  /// Turns axes p and q so that m[p][q] becomes 0 (Jacobi, 1846).
  void rotate(int p, int q) {
    if (m[p][q] == 0) return;
    const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(t * t + 1), s = t * c;
    const int r = 3 - p - q;
    const double rp = m[r][p], rq = m[r][q];
    m[p][p] -= t * m[p][q];
    m[q][q] += t * m[p][q];
    m[p][q] = m[q][p] = 0;
    m[r][p] = m[p][r] = c * rp - s * rq;
    m[r][q] = m[q][r] = s * rp + c * rq;
    for (auto& row : axes) {
      const double vp = row[p], vq = row[q];
      row[p] = c * vp - s * vq;
      row[q] = s * vp + c * vq;
    }
  }
  /// Converges quadratically: 5 sweeps are usual, and a sweep more does no harm.
  void diagonalize() {
    for (int sweep = 0; sweep < 16 && (m[0][1] != 0 || m[0][2] != 0 || m[1][2] != 0); ++sweep) {
      rotate(0, 1);
      rotate(0, 2);
      rotate(1, 2);
    }
  }
  Double3 axis(int i) const { return {axes[0][i], axes[1][i], axes[2][i]}; }
};

/// Of the two normals the one whose largest component is positive, so that the same points always give the same one.
Double3 upright(const Double3& n) {
  const double ax = std::abs(n.x), ay = std::abs(n.y), az = std::abs(n.z);
  const double largest = az >= ax && az >= ay ? n.z : ay >= ax ? n.y : n.x;
  return largest < 0 ? n * -1.0 : n;
}

Result<Frustum> frustum_of_corners(const Double3 (&corners)[8]) {
  const Status endless = bad_value("the frustum is endless or not finite");
  Frustum out;
  Double3 low = corners[0], high = corners[0];
  for (int i = 0; i < 8; ++i) {
    const Double3& c = corners[i];
    out.corners[i] = c.rounded();
    if (!is_finite(out.corners[i])) return endless;
    low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
    high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
  }
  out.bounds = {{round_down(low.x), round_down(low.y), round_down(low.z)},
                {round_up(high.x), round_up(high.y), round_up(high.z)}};
  if (!is_finite(out.bounds.min) || !is_finite(out.bounds.max)) return endless;
  return out;
}

}  // namespace

Vec3 closest_point(const Aabb& box, const Vec3& point) {
  MERIDIAN_ASSERT(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z, "box is inside out");
  return {std::clamp(point.x, box.min.x, box.max.x), std::clamp(point.y, box.min.y, box.max.y),
          std::clamp(point.z, box.min.z, box.max.z)};
}

float distance_squared(const Aabb& box, const Vec3& point) {
  const Double3 away = Double3(point) - Double3(closest_point(box, point));
  return static_cast<float>(dot(away, away));
}

Aabb bounds_of(std::span<const Vec3> points) {
  MERIDIAN_ASSERT(!points.empty(), "bounds_of needs a point");
  if (points.empty()) return {};
  Aabb box{points[0], points[0]};
  for (const Vec3& p : points) box = {min(box.min, p), max(box.max, p)};
  return box;
}

float signed_distance(const Plane& plane, const Vec3& point) {
  return static_cast<float>(dot(Double3(plane.normal), Double3(point)) + plane.d);
}

Result<PlaneFit> fit_plane(std::span<const Vec3> points) {
  if (points.size() < 3) return Status{StatusCode::too_small, "a plane needs 3 points; detail = points", points.size()};
  Double3 sum;
  double farthest = 0;
  for (const Vec3& p : points) {
    if (!is_finite(p))
      return bad_value("a point is not finite; detail = its index", static_cast<uint64_t>(&p - points.data()));
    sum = sum + Double3(p);
    farthest = std::max({farthest, std::abs(double{p.x}), std::abs(double{p.y}), std::abs(double{p.z})});
  }
  const double count = static_cast<double>(points.size());
  const Double3 centre = sum * (1 / count);

  Symmetric3 scatter;
  auto& m = scatter.m;
  for (const Vec3& p : points) {
    const Double3 v = Double3(p) - centre;
    m[0][0] += v.x * v.x;
    m[1][1] += v.y * v.y;
    m[2][2] += v.z * v.z;
    m[0][1] += v.x * v.y;
    m[0][2] += v.x * v.z;
    m[1][2] += v.y * v.z;
  }
  m[1][0] = m[0][1];
  m[2][0] = m[0][2];
  m[2][1] = m[1][2];
  scatter.diagonalize();

  int order[3] = {0, 1, 2};  // by spread, narrowest first
  if (m[order[1]][order[1]] < m[order[0]][order[0]]) std::swap(order[0], order[1]);
  if (m[order[2]][order[2]] < m[order[1]][order[1]]) std::swap(order[1], order[2]);
  if (m[order[1]][order[1]] < m[order[0]][order[0]]) std::swap(order[0], order[1]);
  const auto spread = [&](int rank) { return std::sqrt(std::max(0.0, m[order[rank]][order[rank]]) / count); };
  const double off = spread(0), narrow = spread(1), wide = spread(2);
  // A coordinate is rounded to 2^-24 of itself: points of a line end up that far beside it.
  constexpr double kRounding = 1.0 / (1 << 23);
  if (narrow <= kNarrow * wide || narrow <= kRounding * farthest)
    return bad_value("points lie on a line; detail = points", points.size());

  const Double3 axis = upright(scatter.axis(order[0]));
  const Double3 normal = axis * (1 / length(axis));
  PlaneFit fit;
  fit.plane = {normal.rounded(), static_cast<float>(-dot(normal, centre))};
  fit.centre = centre.rounded();
  fit.rms_error = static_cast<float>(off);
  fit.flatness = static_cast<float>(clamped(1 - off / narrow, 0, 1));
  return fit;
}

Result<Vec3> barycentric(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& point) {
  if (!is_finite(a) || !is_finite(b) || !is_finite(c) || !is_finite(point))
    return bad_value("a corner or the point is not finite");
  const Double3 ab = Double3(b) - Double3(a), ac = Double3(c) - Double3(a), bc = Double3(c) - Double3(b);
  const Double3 ap = Double3(point) - Double3(a);
  const Double3 normal = cross(ab, ac);  // its length is side * height
  const double longest = std::max({dot(ab, ab), dot(ac, ac), dot(bc, bc)});
  if (length(normal) <= kNarrow * longest) return bad_value("the triangle has no area");
  const double square = dot(normal, normal);
  const double of_b = dot(cross(ap, ac), normal) / square;
  const double of_c = dot(cross(ab, ap), normal) / square;
  return Double3(1 - of_b - of_c, of_b, of_c).rounded();
}

Result<Frustum> frustum_of_view(const Transform& camera, const ViewLens& lens) {
  if (!(lens.tan_half_width > 0 && lens.tan_half_height > 0 && lens.near_distance >= 0 &&
        lens.far_distance > lens.near_distance))
    return bad_value("a view needs an opening, and a far plane beyond the near one");
  const Double3 x(camera.x), y(camera.y), z(camera.z), position(camera.position);
  // Also false for NaN, which then needs no question of its own.
  const double volume = std::abs(dot(cross(x, y), z));
  if (!(volume > kNarrow * length(x) * length(y) * length(z))) return bad_value("the camera's axes span no space");
  Double3 corners[8];
  for (int i = 0; i < 8; ++i) {
    const double depth = (i & 4) != 0 ? lens.far_distance : lens.near_distance;
    const double right = ((i & 1) != 0 ? depth : -depth) * lens.tan_half_width;
    const double up = ((i & 2) != 0 ? depth : -depth) * lens.tan_half_height;
    corners[i] = position + x * right + y * depth + z * up;
  }
  return frustum_of_corners(corners);
}

Result<Frustum> frustum_of_planes(std::span<const Plane, 6> planes) {
  Double3 normal[6];
  double d[6];
  for (size_t i = 0; i < 6; ++i) {
    const Double3 n(planes[i].normal);
    const double l = length(n);
    if (!is_finite(planes[i].normal) || !is_finite(planes[i].d) || l == 0)
      return bad_value("a plane of the frustum is none; detail = plane", i);
    normal[i] = n * (1 / l);
    d[i] = planes[i].d / l;
  }
  Double3 corners[8];
  double scale = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t p = i & 1, q = 2 + (i >> 1 & 1), r = 4 + (i >> 2);
    const Double3 qr = cross(normal[q], normal[r]);
    const double volume = dot(normal[p], qr);
    if (std::abs(volume) < kNarrow) return bad_value("planes of the frustum never meet; detail = corner", i);
    const Double3 sum = qr * d[p] + cross(normal[r], normal[p]) * d[q] + cross(normal[p], normal[q]) * d[r];
    corners[i] = sum * (-1 / volume);
    scale = std::max({scale, std::abs(corners[i].x), std::abs(corners[i].y), std::abs(corners[i].z)});
  }
  // If every corner is inside all six planes, each edge runs between two corners, none of them endlessly, and so the
  // whole is bounded.
  const double slack = scale / (1 << 20);
  for (uint32_t i = 0; i < 8; ++i) {
    for (int p = 0; p < 6; ++p)
      if (dot(normal[p], corners[i]) + d[p] < -slack)
        return bad_value("planes of the frustum meet outside it; detail = corner", i);
  }
  // And it has a volume if it reaches somewhere along each of the three kinds of edges.
  for (const int bit : {1, 2, 4}) {
    double longest = 0;
    for (int i = 0; i < 8; ++i)
      if ((i & bit) == 0) longest = std::max(longest, length(corners[i | bit] - corners[i]));
    if (longest <= slack / 8) return bad_value("the frustum has no volume");
  }
  return frustum_of_corners(corners);
}

namespace {

constexpr double kTurn = 2 * 3.14159265358979323846;

/// An angle within a turn and a half, to a float in (-kPi, kPi].
float nearest_turn(double angle) {
  if (angle > kPi) angle -= kTurn;
  if (angle < -kPi) angle += kTurn;
  const auto rounded = static_cast<float>(angle);
  return rounded == -kPi ? kPi : rounded;
}

}  // namespace

float wrap_angle(float angle) {
  if (angle >= -kPi && angle <= kPi) return angle == -kPi ? kPi : angle;
  // IEEE 754 defines remainder exactly, so it has the same bits everywhere, unlike the rest of libm.
  return nearest_turn(std::remainder(double{angle}, kTurn));
}

float angle_difference(float from, float to) { return nearest_turn(double{wrap_angle(to)} - wrap_angle(from)); }

float lerp_angle(float from, float to, float t) {
  const float start = wrap_angle(from), end = wrap_angle(to);
  if (t == 0 && end == end) return start;
  if (t == 1 && start == start) return end;
  const double angle = start + double{t} * angle_difference(start, end);
  return nearest_turn(std::remainder(angle, kTurn));
}

float clamp_angle(float angle, AngleLimits limits) {
  if (double{limits.high} - limits.low >= kTurn) return wrap_angle(angle);
  const float at = wrap_angle(angle), low = wrap_angle(limits.low), high = wrap_angle(limits.high);
  // How far up from `low`, in [0, a turn).
  const auto up = [&](float a) {
    const double v = double{a} - low;
    return v < 0 ? v + kTurn : v;
  };
  const double arc = up(high), where = up(at);
  if (!(where > arc)) return at == at && arc == arc ? at : at + low + high;
  return kTurn - where <= where - arc ? low : high;
}

}  // namespace meridian
