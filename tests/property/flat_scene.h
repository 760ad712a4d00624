// SPDX-License-Identifier: MIT
#pragma once
/// A scene as a plain list of what is in it, and what searches of it and its descriptors must be. Boxes come from
/// entities' transforms by arithmetic of its own: all eight corners, in long double. Nothing here looks at a node, a
/// container or a hierarchy to find out what is there.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "meridian/meridian.h"
#include "support/search_worlds.h"

namespace meridian::test {

/// An entity, as whoever made and changed it knows it.
struct Listed {
  Entity* entity = nullptr;
  EntityHandle handle;
  ArchetypeTraits traits;
  uint32_t hours = kAllHours;
  Transform at;
  uint8_t level = 0, alpha = 255;
  uint16_t mask = kAllPhasesMask;
  EntityClass type = EntityClass::building;
  InteriorLocation where;
  EntityLink link;  ///< of one that came with a map
  bool is_light = false, is_dynamic = false, is_hidden = false, ignores_hours = false, has_spawn_points = false;
  bool is_shown = true;                  ///< the node that it stands in is in the world, and not switched off
  uint32_t map = 0xFFFFFFFF, index = 0;  ///< of one that came with a map
  bool is_added_again = false;           ///< taken out of its map's node, and put into the world by itself
};

inline bool is_there(const Listed& e, uint32_t hour) {
  return !e.traits.is_timed || e.ignores_hours || (e.hours >> hour & 1) != 0;
}
inline bool straddles(const Listed& e) { return e.is_dynamic && e.where.is_portal_to_exterior(); }

/// Smallest float that is not below `v`.
inline float float_up(Real v) {
  const auto f = static_cast<float>(v);
  return Real{f} < v ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}

/// The world box as a descriptor has it: the centre to the nearest float, half extents up to what covers both ends.
inline CentredBox box_of_corners(const Transform& at, const Aabb& local) {
  Real low[3], high[3];
  for (int corner = 0; corner < 8; ++corner) {
    const Real x = (corner & 1) != 0 ? local.max.x : local.min.x, y = (corner & 2) != 0 ? local.max.y : local.min.y,
               z = (corner & 4) != 0 ? local.max.z : local.min.z;
    const Real p[3] = {at.x.x * x + at.y.x * y + at.z.x * z, at.x.y * x + at.y.y * y + at.z.y * z,
                       at.x.z * x + at.y.z * y + at.z.z * z};
    for (int i = 0; i < 3; ++i) {
      low[i] = corner == 0 ? p[i] : std::min(low[i], p[i]);
      high[i] = corner == 0 ? p[i] : std::max(high[i], p[i]);
    }
  }
  const Real position[3] = {at.position.x, at.position.y, at.position.z};
  float centre[3], half[3];
  for (int i = 0; i < 3; ++i) {
    const Real middle = position[i] + (low[i] + high[i]) / 2;
    centre[i] = static_cast<float>(middle);
    half[i] = float_up(std::fabs(middle - Real{centre[i]}) + (high[i] - low[i]) / 2);
  }
  return {{centre[0], centre[1], centre[2]}, {half[0], half[1], half[2]}};
}
/// [centre - half, centre + half], each corner rounded to the nearest float.
inline Aabb corners_of(const CentredBox& box) {
  const auto nearest = [](Real v) { return static_cast<float>(v); };
  const Vec3 &c = box.centre, &h = box.half;
  return {{nearest(Real{c.x} - h.x), nearest(Real{c.y} - h.y), nearest(Real{c.z} - h.z)},
          {nearest(Real{c.x} + h.x), nearest(Real{c.y} + h.y), nearest(Real{c.z} + h.z)}};
}

/// At most one float apart on each axis: where a number in double and one in long double lie on two sides of a float.
inline bool are_neighbours(const Vec3& a, const Vec3& b) {
  const auto near = [](float x, float y) { return std::nextafter(x, y) == y; };
  return near(a.x, b.x) && near(a.y, b.y) && near(a.z, b.z);
}

class FlatScene {
 public:
  std::vector<Listed> in_world;  ///< their order means nothing
  uint32_t hour = 12;

  /// The filters of a query, but for its volume.
  bool passes(const EntityQuery& query, const Listed& e) const {
    if (!e.is_shown || (type_bit(e.type) & query.types) == 0 || (query.levels >> e.level & 1) == 0) return false;
    if (query.movement == Movement::only_static && e.is_dynamic) return false;
    if (query.movement == Movement::only_dynamic && !e.is_dynamic) return false;
    const bool inside = !e.where.is_outside() && !e.is_light;
    const uint8_t location = straddles(e) ? kAnywhere : inside ? kInInterior : kInExterior;
    if ((location & query.location) == 0) return false;
    if (query.only_spawn_points && !e.has_spawn_points) return false;
    return !query.only_visible || (!e.is_hidden && is_there(e, hour));
  }

  /// What a search must say about an entity. Where its two boxes are a float apart, both may be right.
  Answer expect(const EntityQuery& query, const Listed& e) {
    if (!passes(query, e)) return Answer::out;
    const Aabb own = corners_of(box_of_corners(e.at, e.traits.box));
    if (is_far(query.volume, own)) return Answer::out;
    const Answer first = answer(query.volume, own);
    const CentredBox runtime = world_box(e.at, e.traits.box);
    const Aabb other = corners_of(runtime);
    if (other == own) return first;
    return answer(query.volume, other) == first ? first : Answer::either;
  }

  /// Compares what a search found with the list. `found` in any order.
  void check(const EntityQuery& query, std::vector<EntityHandle> found) {
    std::sort(found.begin(), found.end(), by_slot);
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << "found twice";
    std::vector<EntityHandle> expected, allowed;
    for (const Listed& e : in_world) {
      const Answer must = expect(query, e);
      if (must == Answer::in) expected.push_back(e.handle);
      if (must != Answer::out) allowed.push_back(e.handle);
    }
    std::sort(expected.begin(), expected.end(), by_slot);
    std::sort(allowed.begin(), allowed.end(), by_slot);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end(), by_slot))
        << "misses one of " << expected.size() << ", found " << found.size();
    EXPECT_TRUE(std::includes(allowed.begin(), allowed.end(), found.begin(), found.end(), by_slot))
        << "found one too many; at most " << allowed.size() << ", found " << found.size();
  }

  /// A descriptor as the scene holds it, against the entity: by the list's own arithmetic, and by describe().
  void check(const EntityDesc& held, const Listed& e) {
    const CentredBox box = box_of_corners(e.at, e.traits.box);
    EXPECT_EQ(held.centre, box.centre);
    if (held.half != box.half) {
      EXPECT_TRUE(are_neighbours(held.half, box.half)) << held.half.x << ' ' << box.half.x;
      ++neighbours;
    }
    ++compared;
    EXPECT_EQ(held.mask, e.mask);
    EXPECT_EQ(held.alpha, e.alpha);
    EXPECT_EQ(held.type, e.type);
    EXPECT_EQ(held.level, e.level);
    const bool timed = e.traits.is_timed && !e.ignores_hours;
    EXPECT_EQ((held.flags & kDescHidden) != 0, e.is_hidden);
    EXPECT_EQ((held.flags & kDescActive) != 0, is_there(e, hour));
    EXPECT_EQ((held.flags & kDescTimed) != 0, timed);
    EXPECT_EQ((held.flags & kDescSpawnPoints) != 0, e.has_spawn_points);

    EntityDesc made;
    EXPECT_TRUE(is_made(describe(*e.entity, e.traits, e.link, made)));
    EXPECT_EQ(held.centre, made.centre);
    EXPECT_EQ(held.half, made.half);
    EXPECT_EQ(Real{held.distance}, std::min<Real>(std::ceil(Real{made.distance}), kMaxDescDistance));
    EXPECT_EQ(held.mask, made.mask);
    EXPECT_EQ(held.lod_set, made.lod_set);
    EXPECT_EQ(held.type, made.type);
    EXPECT_EQ(held.level, made.level);
    EXPECT_EQ(held.alpha, made.alpha);
    EXPECT_EQ(held.flags, made.flags);
    if ((made.flags & kDescLodChild) != 0) {
      EXPECT_EQ(held.pivot, made.pivot);
    } else {  // as an offset of 11 bits from the centre
      const auto close = [](float held_at, float made_at, float centre) {
        const Real size = std::max(std::fabs(Real{made_at}), std::fabs(Real{centre}));
        const Real step = std::fabs(Real{made_at} - centre) * 0x1p-11L + size * 0x1p-23L + 0x1p-24L;
        return std::fabs(Real{held_at} - made_at) <= step;
      };
      EXPECT_TRUE(close(held.pivot.x, made.pivot.x, made.centre.x)) << held.pivot.x << ' ' << made.pivot.x;
      EXPECT_TRUE(close(held.pivot.y, made.pivot.y, made.centre.y)) << held.pivot.y << ' ' << made.pivot.y;
      EXPECT_TRUE(close(held.pivot.z, made.pivot.z, made.centre.z)) << held.pivot.z << ' ' << made.pivot.z;
    }
  }

  uint64_t compared = 0, neighbours = 0;  ///< descriptors, and those whose half extents were a float apart

 private:
  /// Out without a doubt: beyond the box around the volume, by a part in 100 000. Saves most of the time.
  static bool is_far(const Volume& v, const Aabb& box) {
    Point low = point(v.a), high = low;
    if (v.kind == VolumeKind::frustum) return false;
    for (size_t i = 0; i < 3; ++i) {
      const Real to = at(v.b, static_cast<int>(i));
      Real reach = Real{v.radius};
      if (v.kind == VolumeKind::oriented_box) {
        for (const Vec3& axis : v.axes) reach += std::fabs(Real{at(axis, static_cast<int>(i))});
      } else if (v.kind != VolumeKind::sphere) {
        low[i] = std::min(low[i], to);
        high[i] = std::max(high[i], to);
      }
      const Real slack = reach * 1e-5L + std::max(std::fabs(low[i]), std::fabs(high[i])) * 1e-5L + 1e-3L;
      if (Real{at(box.min, static_cast<int>(i))} > high[i] + reach + slack) return true;
      if (Real{at(box.max, static_cast<int>(i))} < low[i] - reach - slack) return true;
    }
    return false;
  }
};

}  // namespace meridian::test
