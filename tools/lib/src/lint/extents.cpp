// SPDX-License-Identifier: MIT
#include "lint/extents.h"

#include <cmath>
#include <cstring>

#include "lint/entity_links.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

constexpr double kOccluderStep = 0.25;
constexpr double kOccluderMargin = 100;             // what Sollumz takes; CodeWalker takes none
constexpr double kDistantLightBox = 20;             // CodeWalker
constexpr double kLightRange[] = {450, 950, 2700};  // small, medium, large
constexpr double kDistantRange[] = {450, 300, 2700};

struct Collector {
  MapExtents& out;

  /// `margin`: how much further the streaming box of this part reaches; `agreed`: how much of that all tools take.
  void add(const Bounds& box, double margin, double agreed, const char* noun, const char* array, uint32_t index) {
    if (box.empty()) return;
    out.entities.add(box);
    out.streaming.add(box.grown(margin));
    out.parts.push_back({box, box.grown(agreed), 0, noun, array, index});
  }
};

void add_entities(Collector& to, const LintWorld& world, const LintUnit& unit) {
  const schema::MapData& map = *unit.map;
  if (map.entities() == nullptr) return;
  std::vector<bool> is_interior(map.entities()->size(), false);
  if (map.mlo_instances() != nullptr)
    for (const schema::MloInstanceDef* instance : *map.mlo_instances())
      if (instance->owner() < is_interior.size()) is_interior[instance->owner()] = true;
  for (uint32_t i = 0; i < map.entities()->size(); ++i) {
    const schema::EntityDef& e = *map.entities()->Get(i);
    const ArchetypeRef* const ref = world.find_archetype(e.archetype_name());
    Bounds box;
    if (ref == nullptr) {
      ++to.out.unknown_archetypes;
      box.add(point_of(e.position()));
    } else {
      box = placed_box(point_of(ref->def->bb_min()), point_of(ref->def->bb_max()), e,
                       Turn(e.rotation(), !is_interior[i]));
    }
    const double reach = draw_distance(world, unit, e);
    to.add(box, reach, reach, "entity", "entities", i);
  }
}

void add_occluders(Collector& to, const schema::MapData& map) {
  if (map.box_occluders() != nullptr)
    for (uint32_t i = 0; i < map.box_occluders()->size(); ++i) {
      const schema::BoxOccluder& b = *map.box_occluders()->Get(i);
      const Point centre{b.center_x() / 4.0, b.center_y() / 4.0, b.center_z() / 4.0};
      // The length axis points along (sin, cos).
      const double s = b.sin_z() / 16384.0, k = b.cos_z() / 16384.0;
      const double l = b.length() / 8.0, w = b.width() / 8.0, h = b.height() / 8.0;
      const Point half{std::abs(s) * std::abs(l) + std::abs(k) * std::abs(w),
                       std::abs(k) * std::abs(l) + std::abs(s) * std::abs(w), std::abs(h)};
      Bounds box;
      box.add(centre - half);
      box.add(centre + half);
      to.add(box, kOccluderMargin, 0, "box occluder", "boxOccluders", i);
      to.out.parts.back().slack = kOccluderStep;
    }
  if (map.occlude_models() != nullptr)
    for (uint32_t i = 0; i < map.occlude_models()->size(); ++i) {
      const schema::OccludeModel& m = *map.occlude_models()->Get(i);
      if (m.bmin() == nullptr || m.bmax() == nullptr) continue;
      Bounds box;
      box.add(point_of(*m.bmin()));
      box.add(point_of(*m.bmax()));
      to.add(box, kOccluderMargin, 0, "occluder mesh", "occludeModels", i);
    }
}

void add_grass(Collector& to, const schema::MapData& map) {
  const auto* const grass = map.instanced_data() == nullptr ? nullptr : map.instanced_data()->grass_instance_list();
  if (grass == nullptr) return;
  for (uint32_t i = 0; i < grass->size(); ++i) {
    const schema::GrassInstanceListDef& g = *grass->Get(i);
    if (g.batch_aabb() == nullptr) continue;
    Bounds box;
    box.add(point_of(g.batch_aabb()->min()));
    box.add(point_of(g.batch_aabb()->max()));
    to.add(box, g.lod_dist(), g.lod_dist(), "grass batch", "instancedData.GrassInstanceList", i);
  }
}

void add_small_parts(Collector& to, const schema::MapData& map) {
  if (map.car_generators() != nullptr)
    for (uint32_t i = 0; i < map.car_generators()->size(); ++i) {
      const schema::CarGen& g = *map.car_generators()->Get(i);
      const double length = std::sqrt(double{g.orient_x()} * g.orient_x() + double{g.orient_y()} * g.orient_y());
      const double reach = std::max(length, std::abs(double{g.perpendicular_length()})) / 2;
      Bounds whole, point;
      whole.add(point_of(g.position()));
      point = whole;
      to.out.entities.add(whole.grown(reach));
      to.out.streaming.add(whole.grown(2 * reach));
      to.out.parts.push_back({point, point, 0, "car generator", "carGenerators", i});
    }
  if (map.time_cycle_modifiers() != nullptr)
    for (uint32_t i = 0; i < map.time_cycle_modifiers()->size(); ++i) {
      // One tool counts them, the other does not: they widen the box, and nobody is told.
      const schema::TimeCycleModifier& m = *map.time_cycle_modifiers()->Get(i);
      Bounds box;
      box.add(point_of(m.min_extents()));
      box.add(point_of(m.max_extents()));
      to.out.entities.add(box);
      to.out.streaming.add(box);
    }
}

void add_lights(Collector& to, const LintWorld& world, const LintUnit& unit) {
  const auto lights_box = [](const schema::DistantLodLightsSoa& lights) {
    Bounds box;
    if (lights.position() != nullptr)
      for (const schema::FloatXYZ* p : *lights.position()) box.add(point_of(*p));
    return box;
  };
  const auto category = [](const schema::DistantLodLightsSoa& lights) {
    return std::min<size_t>(static_cast<size_t>(lights.category()), 2);
  };
  if (const auto* const own = unit.map->distant_lod_lights_soa())
    if (const Bounds box = lights_box(*own); !box.empty()) {
      to.out.entities.add(box.grown(kDistantLightBox));
      to.out.streaming.add(box.grown(kDistantRange[category(*own)]));
    }
  // Places stand in the parent only.
  const LintUnit* const parent = world.parent_of(unit);
  const auto* const lights = unit.map->lod_lights_soa();
  if (lights == nullptr || lights->hash() == nullptr || parent == nullptr ||
      parent->map->distant_lod_lights_soa() == nullptr)
    return;
  const auto& distant = *parent->map->distant_lod_lights_soa();
  if (const Bounds box = lights_box(distant); !box.empty()) {
    to.out.entities.add(box.grown(kDistantLightBox));
    to.out.streaming.add(box.grown(kLightRange[category(distant)]));
  }
}

Bounds box_of(const schema::Vec3* min, const schema::Vec3* max) {
  Bounds box;
  box.min = min == nullptr ? Point{} : point_of(*min);
  box.max = max == nullptr ? Point{} : point_of(*max);
  return box;
}

}  // namespace

double draw_distance(const LintWorld& world, const LintUnit& unit, const schema::EntityDef& e) {
  if (e.parent_index() >= 0) {
    const LintUnit* const where = lod_in_parent(e) ? world.parent_of(unit) : &unit;
    const auto* const others = where == nullptr ? nullptr : where->map->entities();
    if (others != nullptr && static_cast<uint32_t>(e.parent_index()) < others->size()) {
      const float d = others->Get(static_cast<uint32_t>(e.parent_index()))->child_lod_dist();
      if (d > 0) return static_cast<double>(d);
    }
  }
  return static_cast<double>(own_lod_distance(world, e));
}

MapExtents compute_extents(const LintWorld& world, const LintUnit& unit) {
  MapExtents out;
  Collector to{out};
  add_entities(to, world, unit);
  add_grass(to, *unit.map);
  add_occluders(to, *unit.map);
  add_small_parts(to, *unit.map);
  add_lights(to, world, unit);
  return out;
}

Bounds declared_entities_box(const schema::MapData& map) {
  return box_of(map.entities_extents_min(), map.entities_extents_max());
}

Bounds declared_streaming_box(const schema::MapData& map) {
  return box_of(map.streaming_extents_min(), map.streaming_extents_max());
}

// What differs from a float by the noise of double arithmetic is that float.
static bool is_near_float(double value, float f) {
  return std::abs(static_cast<double>(f) - value) <= 1e-12 * std::max(1.0, std::abs(value));
}

float float_below(double value) {
  const auto f = static_cast<float>(value);
  return static_cast<double>(f) <= value || is_near_float(value, f)
             ? f
             : std::nextafterf(f, -std::numeric_limits<float>::infinity());
}

float float_above(double value) {
  const auto f = static_cast<float>(value);
  return static_cast<double>(f) >= value || is_near_float(value, f)
             ? f
             : std::nextafterf(f, std::numeric_limits<float>::infinity());
}

void add_extent_fixes(const MapExtents& computed, LintFinding& finding) {
  const auto add = [&](const char* name, Point p, bool above) {
    std::string text;
    for (int axis = 0; axis < 3; ++axis) {
      const float f = above ? float_above(p[axis]) : float_below(p[axis]);
      uint32_t bits = 0;
      std::memcpy(&bits, &f, sizeof bits);
      if (axis != 0) text += ' ';
      append_number(text, Scalar::f32, bits);
    }
    finding.fixes.push_back({name, std::move(text)});
  };
  add("entitiesExtentsMin", computed.entities.min, false);
  add("entitiesExtentsMax", computed.entities.max, true);
  add("streamingExtentsMin", computed.streaming.min, false);
  add("streamingExtentsMax", computed.streaming.max, true);
}

}  // namespace meridian::tools
