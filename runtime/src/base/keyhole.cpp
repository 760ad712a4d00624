// SPDX-License-Identifier: MIT
#include "meridian/base/keyhole.h"

#include <algorithm>
#include <cmath>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

/// A point as seen from a centre: `ahead` along the direction, `aside` from it. Everything here is the same on the left
/// and on the right, so aside is never below 0.
struct Folded {
  double ahead, aside, range;

  Folded(Vec2 centre, Vec2 direction, Vec2 point) {
    const double x = double{point.x} - centre.x, y = double{point.y} - centre.y;
    const double dx = direction.x, dy = direction.y;
    const double inverse = 1 / std::sqrt(dx * dx + dy * dy);
    ahead = (x * dx + y * dy) * inverse;
    aside = std::abs(x * dy - y * dx) * inverse;
    range = std::sqrt(x * x + y * y);
  }
  /// All around for -1: what is right behind must not depend on rounding.
  bool within(double cosine) const { return cosine <= -1 || ahead >= cosine * range; }
};

/// Along and across the side of a wedge. Outside the wedge, `across` is the distance from the line through its side;
/// what is certain is kept so whatever is rounded: along is not above the range, and across not below 0 out there.
struct Beside {
  double along, across;

  Beside(const Folded& p, double cosine) {
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    along = std::min(p.ahead * cosine + p.aside * sine, p.range);
    across = p.aside * cosine - p.ahead * sine;
    if (!p.within(cosine)) across = std::max(across, 0.0);
  }
};

double sector_distance(const Folded& p, double inner, double outer, double cosine) {
  if (p.within(cosine)) return std::max({0.0, inner - p.range, p.range - outer});
  // Outside the angle, arcs are nearest at their ends, which are also those of the side.
  const Beside b(p, cosine);
  const double beyond = b.along - std::clamp(b.along, inner, outer);
  return std::sqrt(beyond * beyond + b.across * b.across);
}

bool in_range(float v, float low, float high) { return v >= low && v <= high; }

/// No world reaches so far, and the squares of such distances are still finite.
constexpr float kFarthest = 1e18f;

[[maybe_unused]] bool is_valid(const RingSector& s) {
  return is_finite(s.centre) && is_finite(s.direction) && s.direction != Vec2{} && in_range(s.cos_half_angle, -1, 1) &&
         in_range(s.inner_radius, 0, kFarthest) && in_range(s.outer_radius, s.inner_radius, kFarthest);
}

}  // namespace

bool contains(const RingSector& sector, Vec2 point) {
  MERIDIAN_ASSERT(is_valid(sector), "ring sector out of its ranges");
  const Folded p(sector.centre, sector.direction, point);
  return p.range >= sector.inner_radius && p.range <= sector.outer_radius && p.within(sector.cos_half_angle);
}

float distance(const RingSector& sector, Vec2 point) {
  MERIDIAN_ASSERT(is_valid(sector), "ring sector out of its ranges");
  const Folded p(sector.centre, sector.direction, point);
  return static_cast<float>(sector_distance(p, sector.inner_radius, sector.outer_radius, sector.cos_half_angle));
}

bool touches(const RingSector& sector, Vec2 centre, float radius) {
  MERIDIAN_ASSERT(is_valid(sector), "ring sector out of its ranges");
  const Folded p(sector.centre, sector.direction, centre);
  return sector_distance(p, sector.inner_radius, sector.outer_radius, sector.cos_half_angle) <= radius;
}

bool is_valid(const Keyhole& keyhole) {
  const KeyholeShape& s = keyhole.shape;
  return is_finite(keyhole.centre) && is_finite(keyhole.direction) && keyhole.direction != Vec2{} &&
         in_range(keyhole.cos_half_angle, -1, 1) && in_range(s.inner_radius, 0, kFarthest) &&
         in_range(s.inner_thickness, 0, kFarthest) && in_range(s.outer_radius, s.inner_radius, kFarthest) &&
         in_range(s.outer_thickness, 0, kFarthest) && in_range(s.side_wall_thickness, 0, kFarthest);
}

KeyholeZone zone_of(const Keyhole& keyhole, Vec2 point) {
  MERIDIAN_ASSERT(is_valid(keyhole), "key hole out of its ranges");
  if (!is_finite(point)) return KeyholeZone::outside;
  const KeyholeShape& s = keyhole.shape;
  const Folded p(keyhole.centre, keyhole.direction, point);
  const double far_end = double{s.outer_radius} + s.outer_thickness;
  if (p.range <= s.inner_radius) return KeyholeZone::seen_near;
  if (p.within(keyhole.cos_half_angle)) {
    if (p.range <= s.outer_radius) return KeyholeZone::seen_ahead;
    return p.range <= far_end ? KeyholeZone::outer_ring : KeyholeZone::outside;
  }
  if (p.range <= double{s.inner_radius} + s.inner_thickness) return KeyholeZone::inner_ring;
  const Beside b(p, keyhole.cos_half_angle);
  // Not behind the side's line, where `across` is small again.
  const bool in_wall = b.along >= s.inner_radius && b.across <= s.side_wall_thickness && p.range <= far_end;
  return in_wall ? KeyholeZone::side_wall : KeyholeZone::outside;
}

uint32_t zones_touched(const Keyhole& keyhole, Vec2 centre, float radius) {
  MERIDIAN_ASSERT(is_valid(keyhole) && radius >= 0, "key hole or radius out of its ranges");
  if (!is_finite(centre)) return 0;
  const KeyholeShape& s = keyhole.shape;
  const double cosine = keyhole.cos_half_angle;
  const Folded p(keyhole.centre, keyhole.direction, centre);
  const double far_end = double{s.outer_radius} + s.outer_thickness;
  uint32_t zones = 0;
  const auto touch = [&](KeyholeZone zone, double away) {
    if (away <= radius) zones |= static_cast<uint32_t>(zone);
  };
  touch(KeyholeZone::seen_near, p.range - s.inner_radius);
  touch(KeyholeZone::seen_ahead, sector_distance(p, s.inner_radius, s.outer_radius, cosine));
  touch(KeyholeZone::outer_ring, sector_distance(p, s.outer_radius, far_end, cosine));
  // Outside the angle is within the rest of the turn, looking backwards.
  Folded behind = p;
  behind.ahead = -p.ahead;
  touch(KeyholeZone::inner_ring,
        sector_distance(behind, s.inner_radius, double{s.inner_radius} + s.inner_thickness, -cosine));
  const Beside b(p, cosine);
  const double along = b.along - std::clamp(b.along, double{s.inner_radius}, far_end);
  const double across = b.across - std::clamp(b.across, 0.0, double{s.side_wall_thickness});
  touch(KeyholeZone::side_wall, std::sqrt(along * along + across * across));
  return zones;
}

}  // namespace meridian
