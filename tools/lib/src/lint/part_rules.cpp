// SPDX-License-Identifier: MIT
// CAR001, GRS001, TCM001: car generators, grass, time-cycle boxes.
#include <cmath>

#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::tools {
namespace {

constexpr double kShortestSlot = 1, kLongestSlot = 40;  // [m]

void check_cars(LintContext& c) {
  const auto* const cars = c.unit.map->car_generators();
  if (cars == nullptr) return;
  for (uint32_t i = 0; i < cars->size(); ++i) {
    const schema::CarGen& g = *cars->Get(i);
    const double length = std::sqrt(double{g.orient_x()} * g.orient_x() + double{g.orient_y()} * g.orient_y());
    const std::string path = indexed("carGenerators", i), object = "car generator " + std::to_string(i);
    if (length == 0)
      c.report(rules::car_direction, path + ".orientX", object, "orientX and orientY are 0: the slot has no direction");
    else if (length < kShortestSlot || length > kLongestSlot)
      c.report(rules::car_direction, Severity::warning, path + ".orientX", object,
               "the direction vector is the slot's length too: " + shown(length) + " m is no length of a car");
  }
}

void check_grass(LintContext& c) {
  const auto* const grass =
      c.unit.map->instanced_data() == nullptr ? nullptr : c.unit.map->instanced_data()->grass_instance_list();
  if (grass == nullptr) return;
  for (uint32_t i = 0; i < grass->size(); ++i) {
    const schema::GrassInstanceListDef& g = *grass->Get(i);
    const std::string path = "instancedData." + indexed("GrassInstanceList", i),
                      object = "grass batch " + std::to_string(i);
    if (g.instance_list() == nullptr || g.instance_list()->size() == 0) {
      c.report(rules::grass_box, Severity::warning, path + ".InstanceList", object, "has no instances");
      continue;
    }
    if (g.batch_aabb() == nullptr) continue;
    const schema::Vec4 &min = g.batch_aabb()->min(), &max = g.batch_aabb()->max();
    const float lows[] = {min.x(), min.y(), min.z()}, highs[] = {max.x(), max.y(), max.z()};
    for (int axis = 0; axis < 3; ++axis) {
      if (highs[axis] > lows[axis]) continue;
      // A flat lawn is flat on z, and all its instances lie there.
      const bool is_flat = highs[axis] == lows[axis];
      c.report(rules::grass_box, is_flat ? Severity::warning : Severity::error, path + ".BatchAABB", object,
               std::string("the box is ") + (is_flat ? "flat" : "inverted") + " on " + "xyz"[axis] + " (" +
                   shown(static_cast<double>(lows[axis])) + " to " + shown(static_cast<double>(highs[axis])) +
                   "): instance places are fractions of it");
      break;
    }
    const schema::Vec3* const scale = g.scale_range();
    if (scale != nullptr && scale->x() > scale->y())
      c.report(rules::grass_box, Severity::warning, path + ".ScaleRange", object,
               "the smallest scale (" + shown(static_cast<double>(scale->x())) + ") is above the largest (" +
                   shown(static_cast<double>(scale->y())) + ")");
  }
}

void check_time_cycle(LintContext& c) {
  const auto* const boxes = c.unit.map->time_cycle_modifiers();
  if (boxes == nullptr) return;
  for (uint32_t i = 0; i < boxes->size(); ++i) {
    const schema::TimeCycleModifier& m = *boxes->Get(i);
    const std::string path = indexed("timeCycleModifiers", i), object = "time-cycle modifier " + std::to_string(i);
    // 24 is what some tools write for midnight.
    for (const auto& [hour, name] : {std::pair(m.start_hour(), "startHour"), std::pair(m.end_hour(), "endHour")})
      if (hour > 24)
        c.report(rules::time_cycle, path + "." + name, object,
                 std::string(name) + " is " + std::to_string(hour) + "; hours go from 0 to 23");
    const schema::Vec3 &min = m.min_extents(), &max = m.max_extents();
    if (min.x() > max.x() || min.y() > max.y() || min.z() > max.z())
      c.report(rules::time_cycle, path + ".minExtents", object,
               "the smallest corner " + shown_point(min) + " is above the largest " + shown_point(max));
    if (m.percentage() < 0 || m.percentage() > 100)
      c.report(rules::time_cycle, path + ".percentage", object,
               "percentage is " + shown(static_cast<double>(m.percentage())) + "; it goes from 0 to 100");
  }
}

}  // namespace

void lint_map_parts(LintContext& c) {
  check_cars(c);
  check_grass(c);
  check_time_cycle(c);
}

}  // namespace meridian::tools
