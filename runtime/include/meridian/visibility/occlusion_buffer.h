// SPDX-License-Identifier: MIT
#pragma once
/// What a view sees of occluders, drawn on the CPU: a picture of distances, and coarser pictures of it that say for
/// squares of pixels how far one can see there at most. A box that is farther than that everywhere is hidden.
///
///   OcclusionBuffer buffer;
///   if (const Status ready = buffer.init({.width = 512, .height = 256}); !ready.ok()) return ready;
///   const OcclusionView view = occlusion_view(camera_to_world, {.tan_half_width = 1, .tan_half_height = 0.5f});
///   Status drawn = buffer.begin(occluders, view, jobs);      // once a frame
///   draw();                                                  // whatever else there is to do
///   drawn = buffer.finish();
///   if (buffer.is_hidden(room)) std::puts("nobody sees that room");
///
/// Its promise: what is hidden here is not seen in an exact picture of the same occluders with the same pixels. There a
/// pixel shows the nearest occluder that its centre meets. Here every rounding goes the other way: a pixel is covered
/// only if its centre surely is, its distance is rounded up, the rectangle of a tested box is rounded outwards, and the
/// box counts as near as its nearest corner. In a picture with more pixels something may show between the centres; for
/// those `strict` counts only pixels that one box or one triangle covers as a whole, as far as it gets in them.
///
/// What hides nothing: boxes and closed meshes that contain the camera or come nearer to it than the corners of the
/// near plane; what lies in front of the near plane; meshes for water only, unless the view asks for them. An
/// orthographic view has no camera to be inside of. Boxes are drawn as what they are, not as triangles: no pixel is
/// lost between their sides.
///
/// Two views are two buffers, one for the camera and one for shadow cascades, say.
///
/// Threads: main for init, begin and finish. After finish() returned, readers for all that is const.
/// Memory:  one block in init(): 5.5 bytes a pixel, 192 a primitive, 40 an occluder; 2.4 MB for the default sizes.
/// Source:  own. That a small picture of occluders on the CPU pays, and tiles with a farthest distance that drawing is
///          cut short by: Hasselgren, Andersson, Akenine-Moller, "Masked Software Occlusion Culling", HPG 2016. Edges
///          without clipping: Olano, Greer, "Triangle Scan Conversion using 2D Homogeneous Coordinates", 1997.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/geometry.h"
#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/jobs/job_system.h"
#include "meridian/visibility/occluder_set.h"

namespace meridian {

namespace detail {
struct OcclusionCamera;
struct OcclusionPicked;
struct OcclusionPrimitive;
struct OcclusionTile;
struct TestRectangle;
}  // namespace detail

inline constexpr uint32_t kOcclusionTileWidth = 32;    ///< [pixels]
inline constexpr uint32_t kOcclusionTileHeight = 8;    ///< [pixels]
inline constexpr uint32_t kOcclusionStripHeight = 32;  ///< what one job draws [pixels]
inline constexpr uint32_t kMaxOcclusionSize = 4096;    ///< largest width and height [pixels]
inline constexpr uint32_t kMaxOcclusionLevels = 13;

struct OcclusionConfig {
  uint32_t width = 512;        ///< a multiple of kOcclusionTileWidth [pixels]
  uint32_t height = 256;       ///< a multiple of kOcclusionTileHeight [pixels]
  uint32_t occluders = 4096;   ///< in view at once; of more, the set's first [> 0] [count]
  uint32_t primitives = 8192;  ///< boxes, and triangles of meshes, of those; of more, the nearest [> 0] [count]
};

/// What is looked at. Axes have length 1 and are square to each other.
struct OcclusionView {
  Vec3 position{};  ///< of the camera [m]
  Vec3 right{1, 0, 0}, forward{0, 1, 0}, up{0, 0, 1};
  float half_width = 1;        ///< tangent of half the angle of view; orthographic: half the width [> 0] [1, m]
  float half_height = 1;       ///< the same for the height [> 0] [1, m]
  float near_distance = 0.1f;  ///< what is nearer hides nothing and is not hidden; > 0 in perspective [m]
  bool is_orthographic = false;
  bool is_strict = false;
  bool with_water_only = false;  ///< also draws occluders that hide nothing but water
};
/// Of a camera with x to its right that looks along y, z up, as frustum_of_view takes it.
OcclusionView occlusion_view(const Transform& camera, const ViewLens& lens);

/// Up to 32 boxes, one array a number. Arrays need no alignment, and may be read up to the next multiple of 16 boxes;
/// what is there does not matter.
struct OcclusionBoxes {
  const float *centre_x = nullptr, *centre_y = nullptr, *centre_z = nullptr;  ///< [m]
  const float *half_x = nullptr, *half_y = nullptr, *half_z = nullptr;        ///< [>= 0] [m]
};

/// What the last picture was made of. [count]
struct OcclusionStatistics {
  uint32_t in_view = 0;     ///< occluders that the view may see
  uint32_t drawn = 0;       ///< of those, the ones that were drawn
  uint32_t left_out = 0;    ///< no room for them (OcclusionConfig), which is logged once
  uint32_t around = 0;      ///< they contain the camera, or nearly so
  uint32_t primitives = 0;  ///< boxes and triangles that were drawn
};

class OcclusionBuffer {
 public:
  OcclusionBuffer() = default;
  ~OcclusionBuffer();
  OcclusionBuffer(const OcclusionBuffer&) = delete;
  OcclusionBuffer& operator=(const OcclusionBuffer&) = delete;

  /// Takes the memory. Until the first picture nothing is hidden. `allocator` outlives the buffer.
  /// Requires: called once (asserted; otherwise in_use).
  /// Errors:   bad_value (sizes that are no multiples, 0), too_large (kMaxOcclusionSize), out_of_memory.
  Status init(const OcclusionConfig& config = {}, Allocator& allocator = default_allocator());

  /// Starts a picture: picks occluders here, and has the rest done by jobs of high priority, first for occluders, then
  /// one a strip. The set is held until finish(). The picture depends on the arguments only, not on who ran what when.
  /// Requires: init(); not begun (asserted; otherwise in_use). `set` and `jobs` live until finish().
  /// Errors:   bad_value (a view that is not finite or has no extent). There is no picture then: nothing is hidden.
  Status begin(const OccluderSet& set, const OcclusionView& view, JobSystem& jobs);
  /// Waits, and helps. Then the picture is there. Requires: begun (asserted; otherwise in_use).
  Status finish();
  /// Both.
  Status rasterise(const OccluderSet& set, const OcclusionView& view, JobSystem& jobs);
  bool is_begun() const { return set_ != nullptr; }
  /// There is a picture.
  bool is_ready() const { return is_ready_; }
  /// Forgets the picture: nothing is hidden. Requires: not begun (asserted; otherwise nothing).
  void reset();

  /// Which of the boxes in `mask` are hidden, box i by bit i. Boxes that come nearer than the near plane, lie outside
  /// the view, or are not finite never are.
  /// A box costs one look at 16 squares, whatever its size. Requires: is_begun() is false (asserted; otherwise 0).
  /// Threads: readers.
  uint32_t hidden(const OcclusionBoxes& boxes, uint32_t mask) const;
  bool is_hidden(const Aabb& box) const;

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  const OcclusionView& view() const { return view_; }
  const OcclusionStatistics& statistics() const { return statistics_; }
  /// Row by row from the top: 1 / distance along the view in perspective, -distance in an orthographic view, rounded
  /// down; kNothing where no occluder is. Empty before the first picture.
  static constexpr float kNothing = -3.402823466e38f;
  std::span<const float> nearness() const;
  /// Writes the picture as 8-bit grey, row by row from the top: 0 where nothing is, 55 the farthest pixel, 255 the
  /// nearest, by nearness() evenly. Without a picture, all 0. Errors: too_small (detail = bytes needed).
  Status dump_image(std::span<std::byte> out) const;

 private:
  friend uint32_t occluders_over(const OccluderSet& set, const OcclusionBuffer& buffer, const Aabb& box,
                                 std::span<OccluderId> out);
  static void set_up_job(void* self, uint32_t begin, uint32_t end);
  static void strip_job(void* self, uint32_t begin, uint32_t end);
  void pick(const OccluderSet& set);
  void set_up(uint32_t first, uint32_t last);
  void start_strips();
  bool rectangle_of(const Aabb& box, detail::TestRectangle& out) const;

  Allocator* allocator_ = nullptr;
  void* block_ = nullptr;
  size_t block_bytes_ = 0;
  uint32_t width_ = 0, height_ = 0, max_occluders_ = 0, max_primitives_ = 0;
  float* levels_[kMaxOcclusionLevels] = {};  // the picture, then the farthest of 2 x 2 of the one before
  uint32_t level_count_ = 0;
  detail::OcclusionTile* tiles_ = nullptr;
  detail::OcclusionPrimitive* primitives_ = nullptr;
  detail::OcclusionCamera* camera_ = nullptr;
  detail::OcclusionPicked *picked_ = nullptr, *sorted_ = nullptr;  // in view; those that are drawn, nearest first
  uint32_t sorted_count_ = 0;

  OcclusionView view_;
  OcclusionStatistics statistics_;
  const OccluderSet* set_ = nullptr;
  JobSystem* jobs_ = nullptr;
  JobCounter counter_;
  std::atomic<uint32_t> set_up_left_{0}, strips_left_{0};
  bool is_ready_ = false, is_full_told_ = false;
};

/// Which occluders cover pixels of the box's rectangle and are nearer than the box there: why it is hidden. Looks at
/// each of the set, by the view of the buffer's last picture; for tools. Returns their number and writes as many as
/// there is room for. An occluder that the picture left out for want of room may be among them.
/// Requires: a picture, of which `set` still holds the occluders; otherwise 0.
/// Threads: readers. Memory: none; stack < 8 KiB.
uint32_t occluders_over(const OccluderSet& set, const OcclusionBuffer& buffer, const Aabb& box,
                        std::span<OccluderId> out);

}  // namespace meridian
