// SPDX-License-Identifier: MIT
// What stands in the world, and where: archetypes, maps, transforms. What is done with it: random_scene.cpp.
#include <cmath>

#include "property/random_scene.h"

namespace meridian::test {
namespace {

/// A turn about any axis, and a scale for each of two.
Transform turned(Dice& dice, const Vec3& at, float scale_xy, float scale_z) {
  Real q[4], length = 0;
  for (Real& v : q) {
    v = dice.number(-1, 1);
    length += v * v;
  }
  length = std::sqrt(length);
  for (Real& v : q) v = length > 0 ? v / length : 0.5L;
  const auto [x, y, z, w] = q;
  const auto column = [](Real a, Real b, Real c, float scale, float rest) {
    return Vec4{static_cast<float>(a * scale), static_cast<float>(b * scale), static_cast<float>(c * scale), rest};
  };
  return {column(1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), scale_xy, 0),
          column(2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), scale_xy, scale_xy),
          column(2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), scale_z, scale_z),
          {at.x, at.y, at.z, 1}};
}

}  // namespace

Status RandomScene::init() {
  kit.extent = kMaxWorldExtent;
  kit.scene_capacities = {.streamed_nodes = 8,
                          .interior_nodes = 4,
                          .room_nodes = 8,
                          .portal_nodes = 8,
                          .containers = 64,
                          .fixed_containers = 1,
                          .soa_containers = 64,
                          .lights = 300,
                          .light_updates = 16,
                          .descriptors = 6000};
  kit.archetype_config = {.slots = {20, 200}, .types = 100, .components = 4};
  kit.classes.add<Entity>(kLamp, "lamp", ClassFlag::is_light);
  if (const Status s = kit.init(); !s.ok()) return s;
  if (const Status s = visibility_.init({.capacity = 2000, .tracker = &kit.tracker}, kit.memory); !s.ok()) return s;
  make_archetypes();
  if (const Status s = make_types(kit.archetypes, kRandomTypesSlot, types_); !s.ok()) return s;
  for (uint32_t i = 0; i < kTypes; i += 3) kit.archetypes.find(random_type_name(i))->set_has_spawn_points(true);
  make_maps();
  for (uint32_t i = 0; i < kInteriors; ++i) {
    InteriorNode* const interior = kit.graph.create_interior();
    interior->interior = static_cast<int16_t>(i);
    for (int k = 0; k < 2; ++k) (void)kit.graph.append(*interior, *kit.graph.create_room());
    for (int k = 0; k < 2; ++k) (void)kit.graph.append(*interior, *kit.graph.create_portal());
    if (const Status s = kit.scene.add_interior(*interior); !s.ok()) return s;
    if (const Status s = kit.graph.append(*kit.graph.root(), *interior); !s.ok()) return s;
    interiors_[i] = interior;
  }
  for (int i = 0; i < 30; ++i) add_host();
  return {};
}

// --- what can be placed --------------------------------------------------------------------------------

void RandomScene::make_archetypes() {
  for (uint32_t i = 0; i < kTypes; ++i) {
    ArchetypeTraits t;
    const float size = dice_.number(0.2f, i < 12 ? 6.f : 60.f);
    t.box = {{-size, dice_.number(-size, 0), 0}, {dice_.number(0, size), size, dice_.number(0.1f, size * 2)}};
    if (i == 1) t.box = {{-8, -8, -8}, {8, 8, 8}};                 // sides of neighbours touch
    if (i == 2) t.box = {};                                        // a point
    if (i == 3) t.box = {{-4, -4, 0}, {4, 4, 0}};                  // flat
    if (i == 4) t.box = {{-2000, -2000, -50}, {2000, 2000, 400}};  // P073: larger than whatever asks for it
    if (i == 5) t.box = {{3, 2, 5}, {-3, -2, 1}};                  // inside out
    t.sphere_centre = {0, 0, size / 2};
    t.sphere_radius = size * 2;
    t.lod_distance = dice_.number(20, 300);
    t.entity_class = kMapClasses[i % 3];
    t.is_fragment = i % 7 == 6;
    t.is_timed = i % 5 == 0;
    t.animates = i % 3 == 1;
    types_.push_back({random_type_name(i), t, t.is_timed ? dice_.below(kAllHours + 1) : 0});
  }
}

schema::EntityDef RandomScene::random_definition(uint32_t index, uint32_t count) {
  const uint32_t type = dice_.below(kTypes);
  Vec3 at = middle_ + dice_.vector(kReach);
  at.z = middle_.z + dice_.number(-20, 60);
  if (type == 1)
    at = {middle_.x + 16 * std::floor(dice_.number(-5, 5)), middle_.y + 16 * std::floor(dice_.number(-5, 5)),
          middle_.z};
  float scale_xy = dice_.chance(0.3) ? dice_.number(0.3f, 3) : 1,
        scale_z = dice_.chance(0.3) ? dice_.number(0.3f, 3) : 1;
  if (dice_.chance(0.15)) scale_xy = -scale_xy;  // P074
  if (dice_.chance(0.15)) scale_z = -scale_z;
  if (dice_.chance(0.02)) scale_z = 0;
  schema::Quat rotation(0, 0, 0, 1);
  if (type != 1) {
    float q[4] = {};
    const bool tilted = dice_.chance(0.5);
    for (int i = tilted ? 0 : 2; i < 4; ++i) q[i] = dice_.number(-1, 1);
    if (dice_.chance(0.02)) q[0] = q[1] = q[2] = q[3] = 0;
    rotation = schema::Quat(q[0], q[1], q[2], q[3]);
  }
  uint32_t flags = dice_.chance(0.3) ? 1u : 0u;
  if (dice_.chance(0.1)) flags |= 1u << 21;  // hours do not apply
  // The last tenth stand for others from afar.
  const bool is_lod = index >= count - count / 10;
  int32_t parent = -1;
  if (!is_lod && count >= 20 && dice_.chance(0.3)) {
    parent = static_cast<int32_t>(count - 1 - dice_.below(count / 10));
    if (dice_.chance(0.3)) flags |= 1u << 3;  // of the parent map
  }
  const uint32_t name = dice_.chance(0.02) ? 0xDEAD : random_type_name(type).value;
  const float own_distance = dice_.chance(0.4) ? dice_.number(2, 500) : -1;
  const auto level = is_lod ? schema::LodLevel::LOD : parent >= 0 ? schema::LodLevel::HD : schema::LodLevel::ORPHANHD;
  return {name,
          static_cast<schema::EntityFlags>(flags),
          0u,
          schema::Vec3(at.x, at.y, at.z),
          rotation,
          scale_xy,
          scale_z,
          parent,
          own_distance,
          is_lod && dice_.chance(0.5) ? dice_.number(50, 400) : 0.0f,
          level,
          0u,
          schema::PriorityLevel::REQUIRED,
          255,
          255,
          0u};
}

void RandomScene::make_maps() {
  for (uint32_t m = 0; m < kMaps; ++m) {
    MapMaker maker;
    maker.name = NameHash{0x2000u + m};
    const uint32_t count = m == 0 ? 400 : 20 + dice_.below(130);
    std::vector<const ArchetypeTraits*> archetypes;
    for (uint32_t i = 0; i < count; ++i) {
      maker.entities.push_back(random_definition(i, count));
      const uint32_t type = maker.entities.back().archetype_name() - random_type_name(0).value;
      archetypes.push_back(type < kTypes ? &kit.archetypes.find(random_type_name(type))->traits() : nullptr);
    }
    for (uint32_t i = count - count / 10; i < count; i += 2) maker.lod_sets.push_back({i, dice_.number(50, 700)});
    // Some with blocks that fit, some with blocks of other archetypes, some without.
    if (m % 3 == 1) archetypes[0] = &kit.archetypes.find(random_type_name(9))->traits();
    maps_[m].made = m % 3 == 2 ? maker.finish() : maker.finish(archetypes);
    EXPECT_TRUE(maps_[m].made.status.ok()) << maps_[m].made.status.message << ' ' << maps_[m].made.status.detail;
    maps_[m].entities = maker.entities;
  }
}

Transform RandomScene::random_transform() {
  Vec3 at = now() + dice_.vector(kReach);
  at.z = now().z + dice_.number(-20, 60);
  const auto scale = [&] {
    if (dice_.chance(0.03)) return 0.0f;
    const float size = dice_.chance(0.5) ? 1 : dice_.number(0.1f, 4);
    return dice_.chance(0.2) ? -size : size;
  };
  switch (dice_.below(6)) {
    case 0:  // on planes
      at = now() + Vec3{16 * std::floor(dice_.number(-5, 5)), 16 * std::floor(dice_.number(-5, 5)), 0};
      return {.position = {at.x, at.y, at.z, 1}};
    case 1:
      if (!flat.in_world.empty()) return any_in_world().at;
      break;
    default:
      break;
  }
  const float xy = scale(), z = scale();
  return turned(dice_, at, xy, z);
}

InteriorLocation RandomScene::random_location(bool dynamic) {
  if (dice_.chance(0.6)) return {};
  const uint32_t interior = dice_.below(kInteriors), k = dice_.below(2);
  if (dice_.chance(0.6)) return InteriorLocation::in_room(interior, k);
  uint32_t many = 0;
  for (const Listed& e : flat.in_world) many += straddles(e) ? 1u : 0u;
  return InteriorLocation::at_portal(interior, k, k == 0 && (!dynamic || many < kStraddlingSlots / 2));
}

}  // namespace meridian::test
