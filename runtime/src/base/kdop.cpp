// SPDX-License-Identifier: MIT
#include "meridian/base/kdop.h"

#include "meridian/base/assert.h"

namespace meridian {
namespace {

/// The sum of two floats, rounded down and up, whatever their exponents.
struct Rounded {
  float low, high;
};

Rounded exact_sum(float a, float b) {
  const double x = a, y = b;
  const double sum = x + y;
  // What the sum lost: exact, and mostly 0 (Knuth's two-sum).
  const double part = sum - x;
  const double lost = (x - (sum - part)) + (y - part);
  Rounded out{round_down(sum), round_up(sum)};
  if (lost > 0 && double{out.high} == sum) out.high = next_up(out.high);
  if (lost < 0 && double{out.low} == sum) out.low = -next_up(-out.low);
  return out;
}

/// dot(kKdopDirection[direction], p), rounded both ways.
Rounded along(int direction, const Vec3& p) {
  switch (direction) {
    case 0:
      return {p.x, p.x};
    case 1:
      return {p.y, p.y};
    case 2:
      return {p.z, p.z};
    case 3:
      return exact_sum(p.x, p.y);
    case 4:
      return exact_sum(p.x, -p.y);
    case 5:
      return exact_sum(p.x, p.z);
    case 6:
      return exact_sum(p.x, -p.z);
    case 7:
      return exact_sum(p.y, p.z);
    default:
      return exact_sum(p.y, -p.z);
  }
}

}  // namespace

Kdop18 kdop_of(std::span<const Vec3> points) {
  Kdop18 out;
  for (const Vec3& p : points) merge(out, p);
  return out;
}

Kdop18 kdop_of(const Aabb& box) {
  Kdop18 out;
  for (int i = 0; i < 8; ++i)
    merge(out, Vec3{(i & 1) != 0 ? box.max.x : box.min.x, (i & 2) != 0 ? box.max.y : box.min.y,
                    (i & 4) != 0 ? box.max.z : box.min.z});
  return out;
}

void merge(Kdop18& into, const Kdop18& other) {
  for (int i = 0; i < kKdopDirections; ++i) {
    if (other.min[i] < into.min[i]) into.min[i] = other.min[i];
    if (other.max[i] > into.max[i]) into.max[i] = other.max[i];
  }
}

void merge(Kdop18& into, const Vec3& point) {
  MERIDIAN_ASSERT(is_finite(point), "a volume holds finite points");
  for (int i = 0; i < kKdopDirections; ++i) {
    const Rounded at = along(i, point);
    if (at.low < into.min[i]) into.min[i] = at.low;
    if (at.high > into.max[i]) into.max[i] = at.high;
  }
}

bool overlap(const Kdop18& a, const Kdop18& b) {
  bool all = true;
  for (int i = 0; i < kKdopDirections; ++i) all &= a.min[i] <= b.max[i] && b.min[i] <= a.max[i];
  return all;
}

bool contains(const Kdop18& volume, const Vec3& point) {
  bool all = is_finite(point);
  for (int i = 0; i < kKdopDirections; ++i) {
    // A bound is a float, so a sum is not beyond it exactly if the sum, rounded away from the bound's inside, is not.
    const Rounded at = along(i, point);
    all &= volume.min[i] <= at.low && at.high <= volume.max[i];
  }
  return all;
}

bool contains(const Kdop18& outer, const Kdop18& inner) {
  if (inner.is_empty()) return true;
  bool all = true;
  for (int i = 0; i < kKdopDirections; ++i) all &= outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i];
  return all;
}

Aabb bounds_of(const Kdop18& volume) {
  MERIDIAN_ASSERT(!volume.is_empty(), "an empty volume has no bounds");
  return {{volume.min[0], volume.min[1], volume.min[2]}, {volume.max[0], volume.max[1], volume.max[2]}};
}

}  // namespace meridian
