// SPDX-License-Identifier: MIT
#pragma once
/// What a render phase wants to see: a volume, from where it is looked at, and what of the world counts. A scan takes
/// up to 24 of them at once (visibility/scan.h).
///
///   CullShape gbuffer{.flags = kCullPrimary | kCullUseFrustum | kCullRenderExterior | kCullRenderInterior |
///                              kCullTraversePortals | kCullClipAndStorePortals | kCullUseOcclusion,
///                     .phase = 0,
///                     .visibility = VisibilityType::gbuffer,
///                     .occlusion_buffer = 0,
///                     .quad_store = 0,
///                     .camera = camera};
///   gbuffer.screen = screen_projection(camera, right, forward, up, lens);
///   set_frustum(gbuffer, right, forward, up, lens);
///   const Status usable = check(gbuffer);
///
/// A box is in the volume if it touches the frustum (kCullUseFrustum) or the sphere (kCullUseSphere), whichever are
/// asked for. A box touches the frustum unless all of it lies outside of one of the planes, so a box of any size, with
/// or without corners inside, is never lost; some that only pass near a corner of the frustum are kept.
///
/// Threads: immutable.
/// Memory:  none.

#include <cstdint>
#include <limits>

#include "meridian/base/geometry.h"
#include "meridian/base/math.h"
#include "meridian/base/status.h"
#include "meridian/scene/entity_desc.h"
#include "meridian/scene/query.h"

namespace meridian {

class RoomNode;

inline constexpr uint32_t kMaxCullShapes = 24;
inline constexpr uint32_t kMaxCullPlanes = 8;
inline constexpr uint32_t kScanOcclusionBuffers = 2;  ///< pictures of occluders: of the camera and of cascades, say
inline constexpr uint32_t kScreenQuadStores = 4;      ///< phases that keep what they see of each room

/// Bits of CullShape::flags.
enum CullFlags : uint32_t {
  kCullPrimary = 1 << 0,         ///< the picture itself; at most one in a scan
  kCullCascadeShadows = 1 << 1,  ///< shadows of the sun; also sees the camera's room and what the primary one sees
  kCullMirror = 1 << 2,       ///< looks into CullShape::mirror; clips and stores portals only if the primary one does
  kCullReflections = 1 << 3,  ///< uses `interior_sphere` inside interiors
  kCullHeightMap = 1 << 4,    ///< nothing is seen unless the primary phase sees the outside
  kCullUseFrustum = 1 << 5,
  kCullUseSphere = 1 << 6,
  kCullRenderExterior = 1 << 7,            ///< the outside and maps
  kCullRenderInterior = 1 << 8,            ///< rooms and portals
  kCullTraversePortals = 1 << 9,           ///< looks through portals
  kCullTraverseDisabledPortals = 1 << 10,  ///< also through those that are switched off or shut
  kCullClipAndStorePortals = 1 << 11,      ///< what is seen through portals is cut to them; needs `quad_store`
  kCullOnlyIfPrimaryRenders = 1 << 12,     ///< only nodes that the primary phase sees
  kCullUseOcclusion = 1 << 13,             ///< tests against `occlusion_buffer`
  kCullOnlyStreamEntities = 1 << 14,       ///< draws nothing, asks for what should be loaded; brings its own `lod`
};

/// How far entities are seen: levels of detail and fading, the same for all phases of a scan. Distances are multiplied
/// by a scale and the zoom; nothing is divided by a depth, so what straddles the camera's plane is as good as all else.
struct LodView {
  Vec3 camera{};                                     ///< distances count from here [m]
  float scales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};  ///< by schema::LodLevel [>= 0]
  float default_scale = 1;                           ///< in nodes that the primary phase does not see [>= 0]
  float grass_scale = 1;                             ///< grass batches also take this [>= 0]
  float zoom = 1;                                    ///< see lod_zoom() [> 0]
  float pre_stream = 0;                              ///< how far beyond the range to ask for loading [>= 0] [m]
};
/// tan(usual / 2) / tan(now / 2): through a lens that magnifies ten times, levels are those of a tenth of the distance.
float lod_zoom(float usual_tan_half_fov, float tan_half_fov);
/// Errors: bad_value for what is not finite or out of its range.
Status check(const LodView& lod);

/// From the world to the picture: for p = (x, y, z, 1), the place is (dot(x, p), dot(y, p)) / dot(w, p); the picture is
/// [-1, 1] on both axes, and dot(w, p) > 0 in front of the camera.
struct ScreenProjection {
  Vec4 x{1, 0, 0, 0}, y{0, 0, 1, 0}, w{0, 1, 0, 0};
  friend constexpr bool operator==(const ScreenProjection&, const ScreenProjection&) = default;
};
/// Of a camera with these axes, each of length 1 and square to the others.
ScreenProjection screen_projection(const Vec3& camera, const Vec3& right, const Vec3& forward, const Vec3& up,
                                   const ViewLens& lens);

/// A rectangle of the picture. Empty if inside out.
struct ScreenRect {
  float min_x = 1, min_y = 1, max_x = -1, max_y = -1;  ///< [-1, 1]
  bool is_empty() const { return !(min_x < max_x && min_y < max_y); }
  friend constexpr bool operator==(const ScreenRect&, const ScreenRect&) = default;
};
inline constexpr ScreenRect kFullScreen{-1, -1, 1, 1};

/// Entities of some classes are not looked at beyond a distance: people, vehicles and objects, as a rule.
struct DistanceCap {
  uint32_t types = 0;                                       ///< union of type_bit
  float distance = std::numeric_limits<float>::infinity();  ///< from the LOD view's camera to the pivot [>= 0] [m]
};

/// From how near to how far entities of a level are looked at, both ends included.
struct LodRange {
  float min = 0;                                       ///< [>= 0] [m]
  float max = std::numeric_limits<float>::infinity();  ///< [>= 0] [m]
};

inline constexpr uint8_t kNoOcclusion = 0xFF;
inline constexpr uint8_t kNoQuadStore = 0xFF;

struct CullShape {
  uint32_t flags = 0;                                   ///< CullFlags
  uint8_t phase = 0;                                    ///< bit in PvsEntry; no two shapes of a scan share it [0, 24)
  VisibilityType visibility = VisibilityType::gbuffer;  ///< bit of the descriptors' mask that is asked for
  uint8_t occlusion_buffer = kNoOcclusion;              ///< which of ScanFrame::occlusion
  uint8_t quad_store = kNoQuadStore;                    ///< of its own, if it clips and stores portals [0, 4)

  uint32_t plane_count = 0;        ///< [0, kMaxCullPlanes]
  Plane planes[kMaxCullPlanes]{};  ///< normals inwards, of any length; of a mirror's those of what it shows
  Vec3 sphere_centre{};            ///< [m]
  float sphere_radius = 0;         ///< [>= 0] [m]
  Vec3 interior_centre{};          ///< of the sphere for reflections inside interiors [m]
  float interior_radius = 0;       ///< 0: the same sphere as outside [>= 0] [m]
  Vec3 camera{};                   ///< where it is looked from; of a mirror the real camera [m]
  ScreenProjection screen{};       ///< for portals; of a mirror that of the real camera
  Plane mirror{};                  ///< of a mirror: the camera is on its positive side

  const RoomNode* start = nullptr;  ///< the room that the camera is in; null: outside

  uint32_t types = kAllTypes;     ///< union of type_bit
  uint32_t levels = kAllLevels;   ///< union of 1u << schema::LodLevel
  uint32_t never_occluded = 0;    ///< union of type_bit: not tested for occlusion
  LodRange ranges[kLodLevels]{};  ///< by schema::LodLevel
  DistanceCap caps[3]{};
  LodView lod{};  ///< of a shape that only streams; others take the scan's
};

/// Adds the six planes of a camera with these axes to a shape without planes.
/// Requires: room for them; a lens as for frustum_of_view (asserted).
void set_frustum(CullShape& shape, const Vec3& right, const Vec3& forward, const Vec3& up, const ViewLens& lens);

/// Errors: bad_value for what is not finite (but ends of ranges and caps), out of its range, without a frustum or a
///         sphere, or of a normal of zero; the message says what.
Status check(const CullShape& shape);

/// Whether `a` is looked at before `b` in a scan: first those that clip and store portals, then those that look through
/// portals, then the others; in each the primary one first, cascades last; then by phase. A strict weak order.
bool comes_before(const CullShape& a, const CullShape& b);

}  // namespace meridian
