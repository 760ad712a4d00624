// SPDX-License-Identifier: MIT
// ARC001, ARC002, LOD006 on archetypes.
#include "lint/geometry.h"
#include "lint/lint_context.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {

void lint_archetypes(LintContext& c) {
  const auto* const defs = c.unit.types->archetypes();
  if (defs == nullptr) return;
  std::vector<bool> is_interior(defs->size(), false);
  if (c.unit.types->mlo_archetypes() != nullptr)
    for (const schema::MloArchetypeDef* mlo : *c.unit.types->mlo_archetypes())
      if (mlo->owner() < is_interior.size()) is_interior[mlo->owner()] = true;
  for (uint32_t i = 0; i < defs->size(); ++i) {
    const schema::ArchetypeDef& a = *defs->Get(i);
    const std::string path = indexed("archetypes", i), object = "archetype " + std::to_string(i);
    const std::string name = c.unit.names.quoted(a.name());
    const float d = a.lod_dist();
    if (d <= 0 && d != -1 && d != -2 && d != 0)
      c.report(rules::odd_lod_distance, path + ".lodDist", object,
               name + ": lodDist " + shown(static_cast<double>(d)) + " taken as unset");
    const Point min = point_of(a.bb_min()), max = point_of(a.bb_max()), size = max - min;
    if (size.x < 0 || size.y < 0 || size.z < 0) {
      const char axis = size.x < 0 ? 'x' : size.y < 0 ? 'y' : 'z';
      c.report(rules::archetype_box, path + ".bbMin", object,
               name + ": bbMin is above bbMax on " + axis + ", so that no box is left");
      continue;
    }
    if (size.x == 0 && size.y == 0 && size.z == 0) {
      // Interiors may leave their box to the game.
      if (!is_interior[i] && a.asset_type() != schema::AssetType::ASSETLESS)
        c.report(rules::archetype_box, path + ".bbMin", object,
                 name + ": the box is a point, so that nothing of the model is ever in view");
      continue;
    }
    const Point centre = point_of(a.bs_centre());
    const double radius = static_cast<double>(a.bs_radius());
    double farthest = 0;
    for (int k = 0; k < 8; ++k) {
      const Point corner{k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z};
      farthest = std::max(farthest, length(corner - centre));
    }
    // The sphere may be tighter than the box's corners where the model is round; then it touches the faces at least.
    bool reaches_faces = true;
    for (int axis = 0; axis < 3; ++axis)
      reaches_faces = reaches_faces && centre[axis] + radius >= max[axis] - 0.01 * size[axis] - 1e-3 &&
                      centre[axis] - radius <= min[axis] + 0.01 * size[axis] + 1e-3;
    if (radius < farthest * 0.99 - 1e-3 && !reaches_faces) {
      c.report(
          rules::archetype_sphere, path + ".bsRadius", object,
          name + ": the sphere (r " + shown(radius) + ") misses a corner of the box by " + shown(farthest - radius));
    } else if (const double reach = length((max - min) * 0.5);
               reach > 0 && radius > 4 * (reach + length(centre - (min + max) * 0.5))) {
      c.report(rules::archetype_sphere, path + ".bsRadius", object,
               name + ": the sphere (r " + shown(radius) + ") is far larger than the box (half diagonal " +
                   shown(reach) + ")");
    }
  }
}

}  // namespace meridian::tools
