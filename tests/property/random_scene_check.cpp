// SPDX-License-Identifier: MIT
// How a random scene is compared with its list.
#include <bit>

#include "property/random_scene.h"

namespace meridian::test {
namespace {

void join(DescBounds& into, const DescBounds& more) {
  const bool is_empty =
      std::all_of(std::begin(more.distance), std::end(more.distance), [](uint16_t d) { return d == 0; });
  if (is_empty) return;
  const bool is_first =
      std::all_of(std::begin(into.distance), std::end(into.distance), [](uint16_t d) { return d == 0; });
  if (is_first) {
    into = more;
    return;
  }
  into.box_min = min(into.box_min, more.box_min);
  into.box_max = max(into.box_max, more.box_max);
  into.pivot_min = min(into.pivot_min, more.pivot_min);
  into.pivot_max = max(into.pivot_max, more.pivot_max);
  for (unsigned i = 0; i < kLodLevels; ++i) into.distance[i] = std::max(into.distance[i], more.distance[i]);
  into.masks = static_cast<uint16_t>(into.masks | more.masks);
}

DescBounds bounds_of(const EntityDesc& d) {
  DescBounds out;
  const auto up = [](float a, float b) { return float_up(Real{a} + Real{b}); };
  out.box_max = {up(d.centre.x, d.half.x), up(d.centre.y, d.half.y), up(d.centre.z, d.half.z)};
  out.box_min = {-up(-d.centre.x, d.half.x), -up(-d.centre.y, d.half.y), -up(-d.centre.z, d.half.z)};
  out.pivot_min = out.pivot_max = d.pivot;
  out.distance[d.level] = static_cast<uint16_t>(d.distance);
  out.masks = d.mask;
  return out;
}

}  // namespace

void RandomScene::check() {
  // Whoever owns the world may search without a lock; lights wait for one.
  const bool locks = lights_wait_ || dice_.chance(0.3);
  if (locks) {
    kit.world.lock();
    lights_wait_ = false;
    check_bounds();
  }
  check_descriptors();
  check_searches();
  if (locks) kit.world.unlock();
}

/// A definition's place, by a quaternion that turns unit vectors. Expected only to a float's precision: transform.h
/// has tests of its own.
void RandomScene::check_definition(const schema::EntityDef& d, const Listed& e) const {
  const Transform& at = e.entity->transform();
  const Vec3 expected{static_cast<float>(d.position().x() + origin_[0]),
                      static_cast<float>(d.position().y() + origin_[1]),
                      static_cast<float>(d.position().z() + origin_[2])};
  EXPECT_EQ(e.entity->position(), expected);
  Real q[4] = {-d.rotation().x(), -d.rotation().y(), -d.rotation().z(), d.rotation().w()};
  const Real length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (Real& v : q) v /= length;
  const bool is_full = (static_cast<uint32_t>(d.flags()) & 1) != 0 && (q[0] != 0 || q[1] != 0);
  if (!e.traits.animates && !is_full && std::fabs(q[0]) <= 0.05L && std::fabs(q[1]) <= 0.05L) {  // heading only
    const Real angle = 2 * std::acos(q[3]) * (q[2] > 0 ? 1 : q[2] < 0 ? -1 : 0);
    q[0] = q[1] = 0;
    q[2] = std::sin(angle / 2);
    q[3] = std::cos(angle / 2);
  }
  const Vec4* const columns[] = {&at.x, &at.y, &at.z};
  for (int i = 0; i < 3; ++i) {
    Real v[3] = {}, c[3], out[3];
    v[i] = 1;
    // v + 2w (q x v) + 2 q x (q x v)
    const auto cross = [](const Real* a, const Real* b, Real* to) {
      to[0] = a[1] * b[2] - a[2] * b[1];
      to[1] = a[2] * b[0] - a[0] * b[2];
      to[2] = a[0] * b[1] - a[1] * b[0];
    };
    cross(q, v, c);
    Real cc[3];
    cross(q, c, cc);
    const Real scale = e.traits.is_fragment ? 1 : i == 2 ? d.scale_z() : d.scale_xy();
    for (int k = 0; k < 3; ++k) out[k] = scale * (v[k] + 2 * q[3] * c[k] + 2 * cc[k]);
    const float is[] = {columns[i]->x, columns[i]->y, columns[i]->z};
    for (int k = 0; k < 3; ++k) EXPECT_LE(std::fabs(is[k] - out[k]), 1e-6L * std::fabs(scale)) << i << ' ' << k;
  }
}

void RandomScene::check_descriptors() {
  for (Listed& e : flat.in_world) {  // LOD sets of maps are made anew with their blocks
    if (e.map == kHost || e.is_added_again) continue;
    e.link = link_of(maps_[e.map].made.data(), maps_[e.map].contents->links(), e.index);
  }
  const ContainerTable& table = kit.graph.containers();
  size_t used = 0, lights = 0;
  std::map<std::pair<uint32_t, uint32_t>, SceneSlot> light_slots;
  for (uint32_t c = 0; c < table.views.size(); ++c) {
    const ContainerView& view = table.views[c];
    if ((view.flags & kContainerUsed) == 0) continue;
    for (uint32_t slot = 0; slot < view.capacity; ++slot) {
      const bool is_used = kit.graph.is_used({c, slot});
      EXPECT_EQ(is_used, desc_lanes(view).distance[slot] != 0) << "what cannot be visible is not there";
      if (!is_used) continue;
      ++used;
      EXPECT_LT(slot, view.slots);
      if ((view.flags & kContainerLights) == 0) continue;
      const EntityHandle handle = entity_in(view, slot);
      light_slots[{handle.slot, handle.generation}] = {c, slot};
    }
  }
  for (const Listed& e : flat.in_world) {
    SceneSlot at;
    if (e.is_light) {
      ++lights;
      EXPECT_TRUE(e.entity->container().is_retained());
      if (lights_wait_) continue;
      at = light_slots[{e.handle.slot, e.handle.generation}];
    } else {
      ASSERT_TRUE(e.entity->container().is_in_container());
      at = {e.entity->container().container(), e.entity->container().slot()};
    }
    ASSERT_TRUE(at && kit.graph.is_used(at));
    const ContainerView& view = table.views[at.container];
    EXPECT_EQ(entity_in(view, at.slot), e.handle);
    EXPECT_EQ((view.flags & kContainerInWorld) != 0, e.is_shown);
    flat.check(kit.graph.read(at), e);
    if (::testing::Test::HasFailure()) return;
  }
  if (!lights_wait_) {
    EXPECT_EQ(used, flat.in_world.size());
    EXPECT_EQ(light_slots.size(), lights);
    EXPECT_EQ(kit.graph.light_count(), lights);
  }
}

/// Under a lock blocks are as tight as can be: DESC-3, SG-7.
void RandomScene::check_bounds() {
  const ContainerTable& table = kit.graph.containers();
  std::vector<DescBounds> nodes(kit.graph.node_capacity());
  for (uint32_t c = 0; c < table.views.size(); ++c) {
    const ContainerView& view = table.views[c];
    if ((view.flags & kContainerUsed) == 0) continue;
    DescBounds all;
    for (uint32_t s = 0; s < kContainerSubBlocks; ++s) {
      DescBounds block;
      for (uint32_t i = 0; i < kSubBlockSlots; ++i) {
        const SceneSlot at{c, s * kSubBlockSlots + i};
        if (kit.graph.is_used(at)) join(block, bounds_of(kit.graph.read(at)));
      }
      EXPECT_EQ(table.sub_blocks[c * kContainerSubBlocks + s], block);
      join(all, block);
    }
    EXPECT_EQ(table.bounds[c], all);
    if (kit.graph.node_of(c) != nullptr) join(nodes[kit.graph.node_of(c)->index()], all);
  }
  for (uint32_t n = 0; n < nodes.size(); ++n) EXPECT_EQ(kit.graph.node_bounds()[n], nodes[n]) << "node " << n;
}

Volume RandomScene::random_volume(VolumeKind kind) {
  std::vector<PlacedEntity> near;
  for (int i = 0; i < 6; ++i) {
    PlacedEntity placed;
    if (flat.in_world.empty()) {
      placed.centre = now();
    } else {
      const Listed& e = any_in_world();
      const CentredBox box = box_of_corners(e.at, e.traits.box);
      placed.centre = box.centre;
      placed.half = box.half;
    }
    near.push_back(placed);
  }
  return test::random_volume(dice_, kind, near, kReach);
}

EntityQuery RandomScene::random_query(VolumeKind kind) {
  EntityQuery query;
  query.volume = random_volume(kind);
  if (dice_.chance(0.3)) {
    query.types = 0;
    for (int i = 0; i < 3; ++i)
      query.types |= type_bit(dice_.chance(0.3) ? kLamp : static_cast<EntityClass>(dice_.below(3)));
  }
  if (dice_.chance(0.3))
    query.levels = static_cast<uint8_t>(dice_.chance(0.5)   ? kHdLevels
                                        : dice_.chance(0.5) ? kLodOnlyLevels
                                                            : dice_.below(128));
  if (dice_.chance(0.3)) query.location = static_cast<uint8_t>(dice_.below(4));
  if (dice_.chance(0.3)) query.movement = dice_.chance(0.5) ? Movement::only_static : Movement::only_dynamic;
  query.module = static_cast<SearchModule>(dice_.below(kSearchModules));
  query.only_spawn_points = dice_.chance(0.15);
  query.only_visible = dice_.chance(0.2);
  return query;
}

void RandomScene::check_searches() {
  constexpr EntityHandle kNobody{.generation = 0xABABABAB, .slot = 0xABABABAB};
  for (const VolumeKind kind : kAllKinds) {
    const EntityQuery query = random_query(kind);
    ASSERT_TRUE(meridian::check(query).ok());
    std::vector<EntityHandle> first;
    for (uint32_t w = 0; w < kSimdWidths; ++w) {
      const auto width = static_cast<SimdWidth>(w);
      if (!set_simd_width(width)) continue;
      std::vector<EntityHandle> out(flat.in_world.size() + 8, kNobody);
      SearchResult result;
      EXPECT_TRUE(kit.world.search_now(query, out, result).ok());
      ASSERT_EQ(result.stored, result.found);
      ASSERT_LE(result.found, flat.in_world.size());
      out.resize(result.found);
      if (width == SimdWidth::scalar) {
        first = out;
      } else {
        EXPECT_EQ(out, first) << to_string(width);
      }
      // SRCH-3: both numbers are told, and nothing is written past the end.
      const uint32_t room = dice_.below(result.found + 2);
      std::vector<EntityHandle> part(room + 1, kNobody);
      EXPECT_TRUE(kit.world.search_now(query, std::span(part).first(room), result).ok());
      EXPECT_EQ(result.found, first.size());
      EXPECT_EQ(result.stored, std::min<size_t>(room, first.size()));
      EXPECT_TRUE(std::equal(part.begin(), part.begin() + result.stored, first.begin()));
      EXPECT_EQ(part[room], kNobody);
    }
    (void)set_simd_width(best_simd_width());
    SCOPED_TRACE("volume " + std::to_string(static_cast<int>(kind)) + ", types " + std::to_string(query.types) +
                 ", levels " + std::to_string(query.levels) + ", location " + std::to_string(query.location) +
                 ", movement " + std::to_string(static_cast<int>(query.movement)) +
                 (query.only_spawn_points ? ", spawn points" : "") + (query.only_visible ? ", visible" : ""));
    flat.check(query, first);
    found += first.size();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace meridian::test
