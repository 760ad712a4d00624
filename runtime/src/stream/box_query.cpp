// SPDX-License-Identifier: MIT
#include "stream/box_query.h"

#include <bit>
#include <cmath>
#include <limits>

namespace meridian {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

double component(const Vec3& v, int axis) { return static_cast<double>(axis == 0 ? v.x : axis == 1 ? v.y : v.z); }

/// What is left of a sum when it is rounded. Requires: nothing overflows.
double lost(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}
/// The sum, rounded up or down.
double sum_up(double a, double b) {
  const double sum = a + b;
  return lost(a, b, sum) > 0 ? std::nextafter(sum, HUGE_VAL) : sum;
}
double sum_down(double a, double b) { return -sum_up(-a, -b); }

/// The largest float that is not above `v`, and the smallest that is not below. Of finite floats no other compares
/// differently with them than with `v`.
float float_below(double v) {
  return v >= double{kMostFloat} ? kMostFloat : v < -double{kMostFloat} ? -kInfinite : round_down(v);
}
float float_above(double v) { return -float_below(-v); }

bool overlaps(const BoxQuery& q, const float* box, size_t stride) {
  bool in = true;
  for (size_t i = 0; i < 3; ++i) in = in && box[i * stride] <= q.max[i] && box[(i + 3) * stride] >= q.min[i];
  return in;
}

/// How far a number is outside an interval. Of two terms at most one is above 0.
double gap(double low, double high, double at) {
  const double below = low - at, above = at - high;
  return (below > 0 ? below : 0) + (above > 0 ? above : 0);
}

bool touches_sphere(const BoxQuery& q, const float* box, size_t stride) {
  double d[3];
  for (size_t i = 0; i < 3; ++i) d[i] = gap(double{box[i * stride]}, double{box[(i + 3) * stride]}, q.centre[i]);
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= q.radius_squared;
}

bool touches_segment(const BoxQuery& q, const float* box, size_t stride) {
  if (!overlaps(q, box, stride)) return false;  // decides where an axis is flat, and is exact where slabs round
  double enter = 0, leave = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (q.is_flat[i]) continue;
    const double t0 = (double{box[i * stride]} - q.start_high[i]) * q.inverse[i];
    const double t1 = (double{box[(i + 3) * stride]} - q.start_low[i]) * q.inverse[i];
    const double first = t0 < t1 ? t0 : t1, last = t0 < t1 ? t1 : t0;
    enter = first > enter ? first : enter;
    leave = last < leave ? last : leave;
  }
  // Each t is three roundings, 2^-53 each, away from the truth, and none that counts is above 1.
  constexpr double kRounding = 0x1p-50;
  return enter <= leave + kRounding;
}

}  // namespace

BoxQuery box_query(const Aabb& box) {
  BoxQuery q;
  q.shape = BoxShape::box;
  for (int i = 0; i < 3; ++i) {
    q.min[i] = static_cast<float>(component(box.min, i));
    q.max[i] = static_cast<float>(component(box.max, i));
  }
  return q;
}

BoxQuery sphere_query(const Vec3& centre, double radius) {
  BoxQuery q;
  q.shape = BoxShape::sphere;
  for (int i = 0; i < 3; ++i) {
    q.centre[i] = component(centre, i);
    q.at[i] = static_cast<float>(q.centre[i]);
  }
  q.radius_squared = radius * radius;
  // In floats a square of the distance is within 2^-21 of itself, where nothing is so small that it loses bits.
  constexpr double kSlack = 0x1p-20;
  const double in = q.radius_squared * (1 - kSlack), out = q.radius_squared * (1 + kSlack);
  q.sure_in = in < 0x1p-100 ? -1 : float_below(in);
  q.sure_out = out > double{kMostFloat} ? kInfinite : float_above(out < 0x1p-100 ? 0x1p-100 : out);
  return q;
}

BoxQuery segment_query(const Vec3& a, const Vec3& b, double radius) {
  BoxQuery q;
  q.shape = BoxShape::segment;
  bool is_exact_only = false;
  double most_grown = 0;
  for (int i = 0; i < 3; ++i) {
    const double from = component(a, i), to = component(b, i);
    const double size = to - from, low = from < to ? from : to, high = from < to ? to : from;
    q.min[i] = float_above(sum_down(low, -radius));
    q.max[i] = float_below(sum_up(high, radius));
    q.start_low[i] = sum_down(from, -radius);
    q.start_high[i] = sum_up(from, radius);
    q.is_flat[i] = size == 0;  // differences of floats are far above the smallest doubles
    q.is_down[i] = size < 0;
    q.inverse[i] = q.is_flat[i] ? 0 : 1 / size;
    q.from[i] = static_cast<float>(from);
    q.to[i] = static_cast<float>(to);
    q.is_extent_needed = q.is_extent_needed || q.is_flat[i];
    if (q.is_flat[i]) continue;
    // Beyond that, floats lose bits, or end.
    const double length = std::abs(size), grown = radius / length;
    is_exact_only = is_exact_only || length < 0x1p-60 || length > 0x1p60 || grown > 0x1p16;
    if (is_exact_only) continue;
    q.scale[i] = static_cast<float>(q.inverse[i]);
    q.grown[i] = static_cast<float>(grown);
    most_grown = grown > most_grown ? grown : most_grown;
  }
  q.is_extent_needed = q.is_extent_needed || is_exact_only;
  // Where both ends of the common part are inside [0, 1], floats get each within 2^-22 of (1 + what was grown).
  const auto slack = static_cast<float>(0x1p-19 * (1 + most_grown));
  q.sure_in = is_exact_only ? -kInfinite : 1 - slack;
  q.sure_out = is_exact_only ? kInfinite : 1 + slack;
  return q;
}

bool touches(const BoxQuery& query, const float* min_x, size_t stride) {
  switch (query.shape) {
    case BoxShape::sphere:
      return touches_sphere(query, min_x, stride);
    case BoxShape::segment:
      return touches_segment(query, min_x, stride);
    default:
      return overlaps(query, min_x, stride);
  }
}

uint32_t touched_lanes(const BoxQuery& query, const float* node, uint32_t mask) {
  uint32_t out = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
    out |= static_cast<uint32_t>(touches(query, node + lane, kBoxTreeWidth)) << lane;
  }
  return out;
}

}  // namespace meridian
