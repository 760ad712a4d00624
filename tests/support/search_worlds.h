// SPDX-License-Identifier: MIT
#pragma once
/// Random worlds to search in, and random volumes that lie where it matters: on corners of boxes, and just beside them.

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "meridian/search/search.h"
#include "support/container_kit.h"
#include "support/volume_oracle.h"

namespace meridian::test {

inline constexpr VolumeKind kAllKinds[] = {VolumeKind::sphere,  VolumeKind::box,          VolumeKind::oriented_box,
                                           VolumeKind::segment, VolumeKind::swept_sphere, VolumeKind::frustum};

/// One draw after the other, never two among the arguments of one call: compilers order those as they like.
class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  bool chance(double p) { return static_cast<double>(random_()) / 4294967296.0 < p; }
  float number(float low, float high) {
    return low + (high - low) * static_cast<float>(static_cast<double>(random_()) / 4294967296.0);
  }
  Vec3 vector(float most) {
    Vec3 out;
    for (float* v : {&out.x, &out.y, &out.z}) *v = number(-most, most);
    return out;
  }

 private:
  std::mt19937 random_;
};

/// Houses and lamps about `middle`; some of no size, some equal, some on a grid so that they touch, a few huge.
inline std::vector<PlacedEntity> random_entities(Dice& dice, uint32_t count, const Vec3& middle, float reach) {
  std::vector<PlacedEntity> out;
  while (out.size() < count) {
    PlacedEntity e;
    e.centre = middle + dice.vector(reach);
    e.centre.z = middle.z + dice.number(-20, 60);
    Vec3 half = dice.vector(8);
    e.half = {std::fabs(half.x), std::fabs(half.y), std::fabs(half.z)};
    switch (dice.below(10)) {
      case 0:
        e.half = {};
        break;
      case 1:
        e.half.z = 0;
        break;
      case 2:
        if (!out.empty()) e = out[dice.below(static_cast<uint32_t>(out.size()))];
        break;
      case 3:
      case 4:  // neighbours share sides
        e.centre = {middle.x + 16 * std::floor(dice.number(-4, 4)), middle.y + 16 * std::floor(dice.number(-4, 4)),
                    middle.z};
        e.half = {8, 8, 8};
        break;
      case 5:
        if (dice.chance(0.1)) e.half = {dice.number(0, 3000), dice.number(0, 3000), dice.number(0, 500)};
        break;
      case 6:
        e.is_used = dice.chance(0.7);
        break;
      default:
        break;
    }
    e.type = static_cast<EntityClass>(dice.below(20));
    e.level = static_cast<uint8_t>(dice.below(7));
    e.flags = static_cast<uint16_t>((dice.chance(0.8) ? kDescActive : 0) | (dice.chance(0.2) ? kDescHidden : 0) |
                                    (dice.chance(0.3) ? kDescSpawnPoints : 0));
    out.push_back(e);
  }
  return out;
}

/// As a descriptor has it: rounded to floats.
inline Aabb box_of(const PlacedEntity& e) { return {e.centre - e.half, e.centre + e.half}; }

/// A place on a corner of an entity's box, or a float beside one, or anywhere.
inline Vec3 random_place(Dice& dice, const std::vector<PlacedEntity>& entities, float reach) {
  const PlacedEntity& e = entities[dice.below(static_cast<uint32_t>(entities.size()))];
  if (dice.chance(0.3)) return e.centre + dice.vector(reach);
  const Aabb box = box_of(e);
  Vec3 out = {dice.chance(0.5) ? box.min.x : box.max.x, dice.chance(0.5) ? box.min.y : box.max.y,
              dice.chance(0.5) ? box.min.z : box.max.z};
  if (dice.chance(0.3)) out.x = std::nextafter(out.x, dice.chance(0.5) ? HUGE_VALF : -HUGE_VALF);
  return out;
}

inline Volume random_volume(Dice& dice, VolumeKind kind, const std::vector<PlacedEntity>& entities, float reach) {
  const Vec3 a = random_place(dice, entities, reach), b = random_place(dice, entities, reach);
  const float radius = dice.chance(0.2) ? 0 : dice.chance(0.5) ? std::fabs(a.x - b.x) : dice.number(0, 60);
  switch (kind) {
    case VolumeKind::sphere:
      return sphere_volume(a, radius);
    case VolumeKind::box:
      return box_volume({min(a, b), max(a, b)});
    case VolumeKind::oriented_box: {
      Volume out;
      out.kind = kind;
      out.a = a;
      for (Vec3& axis : out.axes) axis = dice.vector(dice.chance(0.2) ? 200.f : 20.f);
      if (dice.chance(0.2)) out.axes[dice.below(3)] = {};
      if (dice.chance(0.1)) out.axes[1] = out.axes[0];
      if (dice.chance(0.2)) out.axes[0] = {8, 0, 0}, out.axes[1] = {0, 8, 0}, out.axes[2] = {0, 0, 8};
      return out;
    }
    case VolumeKind::segment:
    case VolumeKind::swept_sphere: {
      Vec3 to = b;
      if (dice.chance(0.2)) to = a;
      if (dice.chance(0.3)) to.x = a.x;
      if (dice.chance(0.3)) to.y = a.y;
      if (dice.chance(0.3)) to.z = a.z;
      return kind == VolumeKind::segment ? segment_volume(a, to) : swept_sphere_volume(a, to, radius);
    }
    case VolumeKind::frustum: {
      Plane planes[kMaxVolumePlanes];
      const uint32_t count = dice.below(kMaxVolumePlanes + 1);
      for (uint32_t i = 0; i < count; ++i) {
        Vec3 n = dice.vector(1);
        if (dice.chance(0.3)) n = {0, dice.chance(0.5) ? 1.f : -1.f, 0};
        const Vec3 through = random_place(dice, entities, reach);
        planes[i] = {n, -(n.x * through.x + n.y * through.y + n.z * through.z)};
      }
      return frustum_volume(planes, count);
    }
  }
  return {};
}

inline bool by_slot(EntityHandle a, EntityHandle b) {
  return a.generation != b.generation ? a.generation < b.generation : a.slot < b.slot;
}

/// All that a query finds, in order of handles. Asks first with no room at all.
template <class Scene>
std::vector<EntityHandle> search_all(const Scene& scene, const EntityQuery& query) {
  SearchResult counted, filled;
  EXPECT_TRUE(search_now(scene, query, {}, counted).ok());
  EXPECT_EQ(counted.stored, 0u);
  std::vector<EntityHandle> out(counted.found);
  EXPECT_TRUE(search_now(scene, query, out, filled).ok());
  EXPECT_EQ(filled.found, counted.found);
  EXPECT_EQ(filled.stored, counted.found);
  std::sort(out.begin(), out.end(), by_slot);
  return out;
}

}  // namespace meridian::test
