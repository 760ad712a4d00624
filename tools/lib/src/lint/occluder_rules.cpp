// SPDX-License-Identifier: MIT
// OCC001 to OCC004: occluders that hide nothing, the wrong thing, or cannot be read.
#include <cmath>

#include "lint/geometry.h"
#include "lint/interior_placement.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

constexpr double kUnit = 0.25;        // metres a step
constexpr double kTrigScale = 16384;  // of sine and cosine

void check_boxes(LintContext& c) {
  const auto* const boxes = c.unit.map->box_occluders();
  if (boxes == nullptr || boxes->size() == 0) return;
  bool all_unit = true;
  for (uint32_t i = 0; i < boxes->size(); ++i) {
    const schema::BoxOccluder& b = *boxes->Get(i);
    const std::string path = indexed("boxOccluders", i), object = "box occluder " + std::to_string(i);
    const struct {
      int16_t value;
      const char* name;
    } sizes[] = {{b.length(), "iLength"}, {b.width(), "iWidth"}, {b.height(), "iHeight"}};
    int zeros = 0;
    for (const auto& size : sizes) {
      zeros += size.value == 0 ? 1 : 0;
      all_unit = all_unit && size.value == 4;
      if (size.value < 0)
        c.report(rules::occluder_size, path + "." + size.name, object,
                 std::string(size.name) + " is " + std::to_string(size.value) + " (" + shown(size.value * kUnit) +
                     " m): a size cannot be negative");
    }
    if (zeros >= 2)
      c.report(rules::occluder_size, Severity::warning, path, object,
               "is flat on " + std::to_string(zeros) + " axes, so that it hides nothing");
    const double s = b.sin_z() / kTrigScale, k = b.cos_z() / kTrigScale;
    const double norm = std::sqrt(s * s + k * k);
    if (std::abs(norm * norm - 1) > 0.01)
      c.report(rules::occluder_orientation, path + ".iSinZ", object,
               "sine and cosine (" + std::to_string(b.sin_z()) + ", " + std::to_string(b.cos_z()) +
                   " of 16384) have length " + shown(norm) + ": orientation is not a unit vector");
  }
  if (all_unit && boxes->size() > 1)
    c.report(rules::occluder_size, Severity::warning, "boxOccluders", "",
             "all " + std::to_string(boxes->size()) + " boxes are 1x1x1 m: their sizes look lost in an export");
}

void check_meshes(LintContext& c) {
  const auto* const models = c.unit.map->occlude_models();
  if (models == nullptr) return;
  for (uint32_t i = 0; i < models->size(); ++i) {
    const schema::OccludeModel& m = *models->Get(i);
    const std::string path = indexed("occludeModels", i), object = "occluder mesh " + std::to_string(i);
    const auto say = [&](const char* member, std::string message) {
      c.report(rules::occluder_mesh, path + member, object, std::move(message));
    };
    const uint32_t held = m.verts() == nullptr ? 0 : m.verts()->size();
    if (m.data_size() != held) {
      say(".dataSize",
          "dataSize is " + std::to_string(m.data_size()) + ", but verts holds " + std::to_string(held) + " bytes");
      continue;
    }
    const uint32_t triangles = m.num_tris() & 0x7FFFu, vertex_bytes = m.num_verts_in_bytes();
    if ((m.num_tris() & 0x8000u) == 0) {
      say(".numTris", "numTris lacks bit 15, which marks vertices of floats; no other kind is known");
      continue;
    }
    if (vertex_bytes % 12 != 0 || vertex_bytes + 3 * triangles != held) {
      say(".numVertsInBytes", std::to_string(vertex_bytes) + " bytes of vertices and " + std::to_string(triangles) +
                                  " triangles need " + std::to_string(vertex_bytes + 3 * triangles) + " bytes, not " +
                                  std::to_string(held));
      continue;
    }
    const uint32_t vertices = vertex_bytes / 12;
    if (vertices > 256) say(".numVertsInBytes", std::to_string(vertices) + " vertices; an index reaches 256");
    for (uint32_t k = 0; k < 3 * triangles; ++k)
      if (const uint32_t index = m.verts()->Get(vertex_bytes + k); index >= vertices) {
        say(".verts", "triangle " + std::to_string(k / 3) + " uses vertex " + std::to_string(index) + " of " +
                          std::to_string(vertices));
        break;
      }
  }
}

/// Separating axes of a box that is turned about z and a convex quad.
bool box_meets_quad(const schema::BoxOccluder& b, const std::array<Point, 4>& quad) {
  const Point centre{b.center_x() * kUnit, b.center_y() * kUnit, b.center_z() * kUnit};
  const double s = b.sin_z() / kTrigScale, k = b.cos_z() / kTrigScale, norm = std::sqrt(s * s + k * k);
  if (norm < 0.5) return false;
  const Point axes[3] = {{s / norm, k / norm, 0}, {k / norm, -s / norm, 0}, {0, 0, 1}};
  const double half[3] = {b.length() * kUnit / 2, b.width() * kUnit / 2, b.height() * kUnit / 2};
  const Point edges[2] = {quad[1] - quad[0], quad[3] - quad[0]};
  std::vector<Point> tests(std::begin(axes), std::end(axes));
  tests.push_back(cross(edges[0], edges[1]));
  for (const Point& a : axes)
    for (const Point& e : edges) tests.push_back(cross(a, e));
  for (const Point& axis : tests) {
    if (length(axis) < 1e-9) continue;
    double reach = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    for (int i = 0; i < 3; ++i) reach += std::abs(dot(axes[i], axis)) * half[i];
    for (const Point& p : quad) {
      const double at = dot(p - centre, axis);
      low = std::min(low, at);
      high = std::max(high, at);
    }
    // Touching is no covering: an occluder may well end at the door frame.
    if (low >= reach - 1e-4 || high <= -reach + 1e-4) {
      // A quad in the plane of the box's middle has low == high == 0: that is inside.
      if (!(low > -reach && high < reach)) return false;
    }
  }
  return true;
}

/// OCC003. Every interior instance of the world is held against every box here, by their boxes first.
void check_doorways(LintContext& c) {
  const auto* const boxes = c.unit.map->box_occluders();
  if (boxes == nullptr || !c.world.options().types_are_known) return;
  Bounds all;
  for (const schema::BoxOccluder* b : *boxes) {
    const Point centre{b->center_x() * kUnit, b->center_y() * kUnit, b->center_z() * kUnit};
    all.add(Bounds{centre, centre}.grown((std::abs(b->length()) + std::abs(b->width()) + std::abs(b->height())) *
                                         kUnit / 2));
  }
  for (const auto& other : c.world.units()) {
    if (other->map == nullptr || other->is_shadowed) continue;
    for (const ExitPortal& portal : exit_portals(c.world, *other)) {
      Bounds around;
      for (const Point& p : portal.corners) around.add(p);
      if (all.min.x > around.max.x || all.max.x < around.min.x || all.min.y > around.max.y || all.max.y < around.min.y)
        continue;
      for (uint32_t i = 0; i < boxes->size(); ++i) {
        const schema::BoxOccluder& b = *boxes->Get(i);
        const Point centre{b.center_x() * kUnit, b.center_y() * kUnit, b.center_z() * kUnit};
        const double reach = (std::abs(b.length()) + std::abs(b.width()) + std::abs(b.height())) * kUnit / 2;
        if (centre.x + reach < around.min.x || centre.x - reach > around.max.x || centre.y + reach < around.min.y ||
            centre.y - reach > around.max.y)
          continue;
        if (!box_meets_quad(b, portal.corners)) continue;
        LintFinding& f =
            c.report(rules::occluder_covers_portal, indexed("boxOccluders", i), "box occluder " + std::to_string(i),
                     "covers exit portal " + std::to_string(portal.index) + " of " + portal.name + " (instance at " +
                         shown_point(portal.instance->position()) + ")");
        f.related.push_back({other.get(), indexed("entities", portal.entity), "the interior's instance"});
      }
    }
  }
}

}  // namespace

void lint_occluders(LintContext& c) {
  check_boxes(c);
  check_meshes(c);
  check_doorways(c);
}

}  // namespace meridian::tools
