// SPDX-License-Identifier: MIT
// LGT001 to LGT003: LOD lights, whose halves stand in two maps.
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "vector_size.h"

namespace meridian::tools {
namespace {

void check_lengths(LintContext& c, const char* element,
                   std::initializer_list<std::pair<const char*, uint32_t>> arrays) {
  const auto [first_name, first] = *arrays.begin();
  std::string others;
  const char* place = nullptr;
  for (const auto& [name, count] : arrays) {
    if (count == first) continue;
    if (place == nullptr) place = name;
    others += (others.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(count);
  }
  if (place == nullptr) return;
  c.report(rules::light_arrays, std::string(element) + "." + place, "",
           std::string(element) + ": the arrays differ in length (" + first_name + " " + std::to_string(first) +
               ", but " + others + ")");
}

void check_pairing(LintContext& c, uint32_t count) {
  if (count == 0 || !c.world.options().maps_are_known) return;
  const LintUnit* const parent = c.world.parent_of(c.unit);
  const std::string said = std::to_string(count) + " LOD lights";
  if (parent == nullptr) {
    c.report(rules::light_pairing, "LODLightsSOA", "",
             said + " have no places: those stand in the parent map's DistantLODLightsSOA, and there is no parent map");
    return;
  }
  const auto* const twin = parent->map->distant_lod_lights_soa();
  const uint32_t places = twin == nullptr ? 0 : size_of(twin->position());
  if (places == count) return;
  LintFinding& f = c.report(rules::light_pairing, "LODLightsSOA", "",
                            said + ", but the parent map '" + parent->stem + "' has " + std::to_string(places) +
                                " distant LOD lights; one belongs to each");
  f.related.push_back({parent, "DistantLODLightsSOA", "the twin"});
}

}  // namespace

void lint_lights(LintContext& c) {
  if (const auto* const l = c.unit.map->lod_lights_soa()) {
    check_lengths(c, "LODLightsSOA",
                  {{"hash", size_of(l->hash())},
                   {"direction", size_of(l->direction())},
                   {"falloff", size_of(l->falloff())},
                   {"falloffExponent", size_of(l->falloff_exponent())},
                   {"timeAndStateFlags", size_of(l->time_and_state_flags())},
                   {"coneInnerAngle", size_of(l->cone_inner_angle())},
                   {"coneOuterAngleOrCapExt", size_of(l->cone_outer_angle_or_cap_ext())},
                   {"coronaIntensity", size_of(l->corona_intensity())}});
    check_pairing(c, size_of(l->hash()));
  }
  if (const auto* const d = c.unit.map->distant_lod_lights_soa()) {
    const uint32_t count = size_of(d->position());
    check_lengths(c, "DistantLODLightsSOA", {{"position", count}, {"RGBI", size_of(d->rgbi())}});
    if (d->num_street_lights() > count)
      c.report(
          rules::light_header, "DistantLODLightsSOA.numStreetLights", "",
          "numStreetLights is " + std::to_string(d->num_street_lights()) + " of " + std::to_string(count) + " lights");
    if (static_cast<uint32_t>(d->category()) > 2)
      c.report(rules::light_header, "DistantLODLightsSOA.category", "",
               "category " + std::to_string(static_cast<uint32_t>(d->category())) +
                   " is none of 0 (small), 1 (medium), 2 (large)");
    if (count != 0 && c.world.options().maps_are_known) {
      bool has_twin = false;
      for (const LintUnit* child : c.world.children_of(c.unit))
        has_twin =
            has_twin || (child->map->lod_lights_soa() != nullptr && size_of(child->map->lod_lights_soa()->hash()) != 0);
      if (!has_twin)
        c.report(rules::light_pairing, Severity::note, "DistantLODLightsSOA", "",
                 std::to_string(count) + " distant LOD lights, but no child map has LOD lights");
    }
  }
}

}  // namespace meridian::tools
