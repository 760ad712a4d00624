// SPDX-License-Identifier: MIT
// Occluders of maps that come into the world and leave it.
#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/map/map_world.h"

namespace meridian {

bool MapWorld::is_busy() const {
  return config_.scene->graph().is_locked() || (config_.occluders != nullptr && config_.occluders->is_held());
}

/// What can't be used is left out, and told once for each map. Where the set is full, it says so itself.
void MapWorld::add_occluders(const MapContents& contents) {
  if (config_.occluders == nullptr) return;
  OccluderSet& set = *config_.occluders;
  const MapParts parts = contents.parts();
  const WorldOrigin& origin = config_.world->origin();
  const NameHash name = contents.name();
  const auto leave_out = [&](OccluderKind kind, uint32_t index, const Status& why) {
    if (why.code == StatusCode::out_of_slots || !occluders_.first(name.value)) return;
    log_message(LogLevel::warning, name, "map %s: occluder %s %u is left out: %s", name_text(name).text,
                to_string(kind), index, why.message);
  };
  const std::span<const BoxOccluder> boxes = parts.box_occluders();
  for (uint32_t i = 0; i < boxes.size(); ++i) {
    const Result<OccluderBox> box = occluder_box(boxes[i], origin);
    Status added = box.status();
    if (box.ok()) {
      const OccluderBox& b = box.value();
      added =
          set.add_box({.imap = contents.slot(), .index = i},
                      {.centre = b.centre, .x_axis = b.x_axis, .y_axis = b.y_axis, .z_axis = b.z_axis, .half = b.half});
    }
    if (!added.ok()) leave_out(OccluderKind::box, i, added);
  }
  const uint32_t meshes = parts.occluder_mesh_count();
  for (uint32_t i = 0; i < meshes; ++i) {
    const Result<OccluderMesh> mesh = parts.occluder_mesh(i);
    Status added = mesh.status();
    if (mesh.ok()) {
      const OccluderMesh& m = mesh.value();
      Vec3 vertices[256];
      const uint32_t count = m.vertex_count();
      for (uint32_t v = 0; v < count; ++v) vertices[v] = moved(m.vertex(v), origin);
      const auto* const triangles = reinterpret_cast<const uint8_t*>(m.triangles.data());
      added =
          set.add_mesh({.imap = contents.slot(), .index = i}, {.vertices = {vertices, count},
                                                               .triangles = {triangles, m.triangle_count() * size_t{3}},
                                                               .water_only = m.water_only});
    }
    if (!added.ok()) leave_out(OccluderKind::mesh, i, added);
  }
}

void MapWorld::remove_occluders(const MapContents& contents) {
  if (config_.occluders == nullptr) return;
  const Status removed = config_.occluders->remove_map(contents.slot());
  if (removed.ok()) return;
  // Who moves the origin while a picture is drawn.
  log_message(LogLevel::error, contents.name(), "map %s: its occluders stay where they were: %s",
              name_text(contents.name()).text, removed.message);
}

}  // namespace meridian
