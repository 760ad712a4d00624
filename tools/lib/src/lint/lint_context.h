// SPDX-License-Identifier: MIT
#pragma once
/// What each rule function gets: the world, the unit it looks at, and where findings go. One file for each family of
/// rules; lint.cpp calls them all.

#include <cstdio>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meridian/tools/lint.h"

namespace meridian::schema {
struct EntityDef;
}

namespace meridian::tools {

struct LintContext {
  const LintWorld& world;
  const LintUnit& unit;
  std::vector<LintFinding>& out;
  std::unordered_map<uint32_t, std::string_view> suggestions{};  ///< REF001: what an unknown name may have meant

  LintFinding& report(const Rule& rule, Severity severity, std::string path, std::string object, std::string message) {
    return out.emplace_back(
        LintFinding{&rule, severity, std::move(path), std::move(object), std::move(message), {}, {}});
  }
  LintFinding& report(const Rule& rule, std::string path, std::string object, std::string message) {
    return report(rule, rule.severity, std::move(path), std::move(object), std::move(message));
  }
};

/// A number as a message shows it: at most three decimals, no trailing zeros.
inline std::string shown(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  std::string out = text;
  if (out.find('.') != std::string::npos) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

inline std::string indexed(std::string_view array, size_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

/// "(1, 2, 3)"
template <class Vector>
std::string shown_point(const Vector& v) {
  return "(" + shown(v.x()) + ", " + shown(v.y()) + ", " + shown(v.z()) + ")";
}

/// An entity in a map, an interior or an entity set; texts are made only when something is to be said.
struct EntityPlace {
  std::string_view prefix;  ///< of the path: "archetypes[2]."
  std::string_view label;   ///< "archetype 2"; may be empty
  uint32_t index = 0;

  std::string path(std::string_view member = {}) const {
    return std::string(prefix) + indexed("entities", index) + std::string(member);
  }
  std::string object() const {
    return std::string(label) + (label.empty() ? "entity " : ", entity ") + std::to_string(index);
  }
};

/// What one entity says of itself, wherever it stands.
void lint_entity(LintContext& c, const schema::EntityDef& e, const EntityPlace& place);

// map data
void lint_references(LintContext& c);
void lint_lod(LintContext& c);
void lint_entities(LintContext& c);
void lint_extents(LintContext& c);
void lint_map_flags(LintContext& c);
void lint_occluders(LintContext& c);
void lint_lights(LintContext& c);
void lint_map_parts(LintContext& c);  ///< car generators, grass, time-cycle boxes
void lint_interior_instances(LintContext& c);
// type files
void lint_archetypes(LintContext& c);
void lint_interiors(LintContext& c);
// the world
void lint_clashes(LintContext& c);
void lint_shadowed(LintContext& c);  ///< Requires: the unit is shadowed
void lint_overlay(LintContext& c);   ///< Requires: the unit is a map
void lint_manifest(LintContext& c);
void lint_pools(LintContext& c);

}  // namespace meridian::tools
