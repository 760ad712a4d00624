// SPDX-License-Identifier: MIT
// EXT001, EXT002: the boxes that decide when a map is there.
#include "lint/extents.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

// Tools round boxes and positions in their own ways; a centimetre is no finding.
constexpr double kTolerance = 0.01;

struct Miss {
  double by = 0;
  int axis = 0;
  bool above = false;
};

/// The side on which `inner` sticks out most.
Miss worst_miss(const Bounds& outer, const Bounds& inner, double more_slack = 0) {
  Miss worst;
  for (int axis = 0; axis < 3; ++axis) {
    // Floats are a few hundredths of a metre apart at the border of the world.
    const double slack =
        kTolerance + more_slack + 1e-6 * std::max(std::abs(inner.min[axis]), std::abs(inner.max[axis]));
    const double below = outer.min[axis] - inner.min[axis] - slack, above = inner.max[axis] - outer.max[axis] - slack;
    if (below > worst.by) worst = {below + slack, axis, false};
    if (above > worst.by) worst = {above + slack, axis, true};
  }
  return worst;
}

std::string side(const Miss& m) { return std::string(m.above ? "+" : "-") + "xyz"[m.axis]; }

}  // namespace

void lint_extents(LintContext& c) {
  const schema::MapData& map = *c.unit.map;
  const Bounds declared = declared_entities_box(map), streaming = declared_streaming_box(map);
  for (const auto& [box, name] : {std::pair(declared, "entitiesExtents"), std::pair(streaming, "streamingExtents")})
    for (int axis = 0; axis < 3; ++axis)
      if (box.min[axis] > box.max[axis]) {
        c.report(rules::inverted_extents, std::string(name) + "Min", "",
                 std::string(name) + ": the smallest corner is above the largest on " + "xyz"[axis] + " (" +
                     shown(box.min[axis]) + " > " + shown(box.max[axis]) + ")");
        return;  // all else follows from it
      }
  const Miss outside = worst_miss(streaming, declared);
  if (outside.by > 0)
    c.report(rules::inverted_extents, std::string("streamingExtents") + (outside.above ? "Max" : "Min"), "",
             "entitiesExtents leave streamingExtents by " + shown(outside.by) + " m on " + side(outside));
  const MapExtents computed = compute_extents(c.world, c.unit);
  if (computed.entities.empty()) return;
  const auto check = [&](const Bounds& outer, const std::vector<PartBox>& parts, const char* name, bool streams) {
    // One finding an axis side would drown the rest: the worst part is named, and how many there are.
    Miss worst;
    const PartBox* who = nullptr;
    uint32_t count = 0;
    for (const PartBox& part : parts) {
      const Miss miss = worst_miss(outer, streams ? part.streaming : part.box, part.slack);
      if (miss.by <= 0) continue;
      ++count;
      if (miss.by > worst.by) worst = miss, who = &part;
    }
    if (who == nullptr) return;
    std::string message = std::string(who->noun) + " " + std::to_string(who->index) +
                          (streams ? " is seen from outside " : " leaves ") + name + " by " + shown(worst.by) +
                          " m on " + side(worst);
    if (count > 1) message += ", and " + std::to_string(count - 1) + " more parts do";
    if (computed.unknown_archetypes != 0)
      message += " (" + std::to_string(computed.unknown_archetypes) + " entities have no known archetype)";
    LintFinding& f =
        c.report(rules::extents, std::string(name) + (worst.above ? "Max" : "Min"), "", std::move(message));
    f.related.push_back({&c.unit, indexed(who->array, who->index), "this part"});
    // The box is known only if every part of it is.
    if (computed.unknown_archetypes == 0 && c.world.options().types_are_known) add_extent_fixes(computed, f);
  };
  check(declared, computed.parts, "entitiesExtents", false);
  check(streaming, computed.parts, "streamingExtents", true);
}

}  // namespace meridian::tools
