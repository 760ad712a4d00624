// SPDX-License-Identifier: MIT
// What follows from the walks of all shapes together: the outside, shadows, and shapes that see what another one sees.
//
// Planes that shadows are restricted to are those of what the picture shows of the outside: the four sides of the
// rectangle that the primary shape sees it in, and those of its own planes that do not pass through its camera, near
// and far as a rule. They bound what shadows fall on. Where light comes from is not known here: whoever culls what
// throws shadows lets the planes count that face away from it.
#include <cmath>

#include "meridian/base/assert.h"
#include "meridian/base/geometry.h"
#include "meridian/schemas/ityp_generated.h"
#include "visibility/node_sight.h"
#include "visibility/portal_geometry.h"
#include "visibility/portal_table.h"
#include "visibility/scan_shapes.h"

namespace meridian {
namespace {

/// A plane that is nearer to the camera passes through it. [m]
constexpr double kThroughCamera = 0.001;

class WalkEnd {
 public:
  WalkEnd(const PortalTable& table, std::span<const CullShape> shapes, NodeSight& sight, ScanResults& results)
      : table_(table), shapes_(shapes), sight_(sight), results_(results) {
    for (const CullShape& shape : shapes_) {
      if ((shape.flags & kCullPrimary) != 0) primary_ = &shape;
      if ((shape.flags & kCullCascadeShadows) != 0) cascades_ |= bit_of(shape);
      if ((shape.flags & kCullHeightMap) != 0) height_maps_ |= bit_of(shape);
    }
  }

  void run() {
    if (primary_ != nullptr) see_exterior();
    if (!results_.exterior_visible) hide(height_maps_);
    results_.directional_light = is_lit(start_of_camera());
    results_.room_shadow_quad = shadow_quad();
    // Without a picture nothing is known of what is seen.
    results_.everything_in_shadow = primary_ != nullptr && !results_.exterior_visible &&
                                    results_.room_shadow_quad.is_empty() && !results_.directional_light;
    if (cascades_ == 0 || results_.everything_in_shadow) return;
    widen_cascades();
    results_.room_shadow_quad = shadow_quad();
  }

 private:
  static uint32_t bit_of(const CullShape& shape) { return 1u << shape.phase; }
  bool primary_sees(uint32_t node) const {
    return primary_ != nullptr && (sight_.phases[node] & bit_of(*primary_)) != 0;
  }
  bool has_quads() const { return (primary_->flags & kCullClipAndStorePortals) != 0; }

  uint16_t room_of(const RoomNode* start) const { return start != nullptr ? table_.room_of(*start) : kOutsideRoom; }
  uint16_t start_of_camera() const { return primary_ != nullptr ? room_of(primary_->start) : kOutsideRoom; }

  /// Whether the sun shines into a room.
  bool is_lit(uint16_t room) const {
    const uint32_t flags = table_.rooms()[room].flags;
    if ((flags & static_cast<uint32_t>(schema::RoomFlags::force_directional_light_on)) != 0) return true;
    return (flags & static_cast<uint32_t>(schema::RoomFlags::no_directional_light)) == 0;
  }

  void see_exterior() {
    results_.exterior_visible = primary_sees(0);
    if (!results_.exterior_visible) return;
    results_.exterior_quad = has_quads() ? sight_.quads[primary_->quad_store][0] : kFullScreen;
    if (results_.exterior_quad != kFullScreen && (primary_->flags & kCullUseFrustum) != 0) restrict_shadows();
  }

  void restrict_shadows() {
    const auto keep = [this](const Plane& plane) {
      if (results_.shadow_plane_count < kShadowPlanes) results_.shadow_planes[results_.shadow_plane_count++] = plane;
    };
    ReadyShape ready = ready_shape(*primary_, {});
    const uint32_t own = ready.plane_count;
    restrict_to(ready, results_.exterior_quad, {});
    for (uint32_t i = own; i < ready.plane_count; ++i) keep(ready.planes[i]);
    for (uint32_t i = 0; i < own; ++i) {
      const double distance = distance_from(primary_->planes[i], Double3(primary_->camera));
      if (std::abs(distance) > kThroughCamera) keep(ready.planes[i]);
    }
  }

  void hide(uint32_t phases) {
    if (phases == 0) return;
    for (uint32_t node = 0; node < sight_.node_count; ++node) sight_.phases[node] &= ~phases;
    for (const CullShape& shape : shapes_) {
      if ((phases & bit_of(shape)) == 0 || (shape.flags & kCullClipAndStorePortals) == 0) continue;
      for (uint32_t node = 0; node < sight_.node_count; ++node) sight_.quads[shape.quad_store][node] = {};
    }
  }

  /// Around the rooms in the picture that cascades see and the sun shines into.
  ScreenRect shadow_quad() const {
    ScreenRect out;
    for (uint16_t room = 1; room < table_.rooms().size(); ++room) {
      const uint32_t node = table_.rooms()[room].node;
      if ((sight_.phases[node] & cascades_) == 0 || !primary_sees(node) || !is_lit(room)) continue;
      out = bounds_of(out, has_quads() ? sight_.quads[primary_->quad_store][node] : kFullScreen);
    }
    return out;
  }

  /// Cascades see the room of the camera, whatever they were asked for, and each limbo in the picture.
  void widen_cascades() {
    for (const CullShape& shape : shapes_) {
      if ((shape.flags & kCullCascadeShadows) == 0) continue;
      const uint16_t own = room_of(shape.start);
      const uint16_t room = own != kOutsideRoom ? own : start_of_camera();
      if (room != kOutsideRoom) show(shape, table_.rooms()[room].node);
      for (const TableInterior& interior : table_.interiors()) {
        if (interior.limbo != 0 && primary_sees(interior.limbo)) show(shape, interior.limbo);
      }
    }
  }

  void show(const CullShape& shape, uint32_t node) {
    sight_.phases[node] |= bit_of(shape);
    if ((shape.flags & kCullClipAndStorePortals) != 0) sight_.quads[shape.quad_store][node] = kFullScreen;
  }

  const PortalTable& table_;
  std::span<const CullShape> shapes_;
  NodeSight& sight_;
  ScanResults& results_;
  const CullShape* primary_ = nullptr;
  uint32_t cascades_ = 0, height_maps_ = 0;
};

}  // namespace

void finish_walk(const PortalWalkInput& in, std::span<const CullShape> shapes, NodeSight& sight, ScanResults& results) {
  MERIDIAN_ASSERT(in.table != nullptr, "a walk has a table");
  if (in.table == nullptr) return;
  WalkEnd(*in.table, shapes, sight, results).run();
}

}  // namespace meridian
