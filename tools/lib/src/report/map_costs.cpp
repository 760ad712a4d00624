// SPDX-License-Identifier: MIT
#include "report/map_costs.h"

#include <algorithm>
#include <cmath>

#include <oneapi/tbb/parallel_for.h>

#include "lint/extents.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::tools {
namespace {

double ground_area(const Bounds& b) {
  const double area = (b.max.x - b.min.x) * (b.max.y - b.min.y);
  return b.empty() || !std::isfinite(area) ? 0 : area;
}

std::string part_text(const LintWorld& world, const LintUnit& unit, const PartBox& part) {
  std::string out = std::string(part.noun) + " " + std::to_string(part.index);
  if (std::string_view(part.array) != "entities") return out;
  const schema::EntityDef& e = *unit.map->entities()->Get(part.index);
  return out + " (" + unit.names.quoted(e.archetype_name()) + "), drawn to " + shown(draw_distance(world, unit, e)) +
         " m";
}

/// Of the parts that touch a side of the whole, the one that most depends on. Others change nothing by going.
void find_widest(const LintWorld& world, MapCost& cost) {
  const MapExtents computed = compute_extents(world, *cost.unit);
  if (computed.parts.size() < 2) return;
  struct Side {
    double most = -Bounds::kNone, second = -Bounds::kNone;
    size_t who = 0;
    void add(double v, size_t i) {
      if (v > most)
        second = most, most = v, who = i;
      else
        second = std::max(second, v);
    }
  };
  Side sides[4];  // -x, +x, -y, +y
  for (size_t i = 0; i < computed.parts.size(); ++i) {
    const Bounds& b = computed.parts[i].streaming;
    if (b.empty()) continue;
    sides[0].add(-b.min.x, i);
    sides[1].add(b.max.x, i);
    sides[2].add(-b.min.y, i);
    sides[3].add(b.max.y, i);
  }
  const auto area_without = [&](size_t without) {
    double reach[4];
    for (int s = 0; s < 4; ++s) reach[s] = sides[s].who == without ? sides[s].second : sides[s].most;
    return std::max(reach[0] + reach[1], 0.0) * std::max(reach[2] + reach[3], 0.0);
  };
  const double whole = area_without(SIZE_MAX);
  if (!std::isfinite(whole)) return;
  for (const Side& side : sides) {
    const double saved = whole - area_without(side.who);
    if (!(saved > cost.area_saved)) continue;
    cost.area_saved = saved;
    cost.widest_part = part_text(world, *cost.unit, computed.parts[side.who]);
  }
}

}  // namespace

std::vector<MapCost> map_costs(const LintWorld& world) {
  std::vector<MapCost> costs;
  for (const auto& unit : world.units())
    if (unit->map != nullptr && !unit->is_shadowed && !unit->is_context) costs.push_back({unit.get(), 0, 0, 0, {}, 0});
  std::sort(costs.begin(), costs.end(), [](const MapCost& a, const MapCost& b) { return a.unit->stem < b.unit->stem; });
  tbb::parallel_for(size_t{0}, costs.size(), [&](size_t i) {
    MapCost& cost = costs[i];
    cost.entities = cost.unit->map->entities() == nullptr ? 0 : cost.unit->map->entities()->size();
    cost.streamed_area = ground_area(declared_streaming_box(*cost.unit->map));
    find_widest(world, cost);
  });
  return costs;
}

}  // namespace meridian::tools
