// SPDX-License-Identifier: MIT
#include "meridian/visibility/occlusion_buffer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "visibility/occlusion_kernel.h"

namespace meridian {

using detail::OcclusionCamera;
using detail::OcclusionPicked;
using detail::OcclusionPrimitive;
using detail::OcclusionTester;

namespace {

constexpr size_t kBufferAlignment = 64;
/// Occluders that one job sets up. [count]
constexpr uint32_t kSetUpGrain = 32;
/// Distances are sorted by so many steps, 16 for each doubling.
constexpr uint32_t kKeys = 512;
/// Behind each level: rows of squares are read four at a time.
constexpr size_t kLevelPadding = 16;

size_t aligned(size_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

size_t level_bytes(uint32_t width, uint32_t height, uint32_t level) {
  const size_t pixels = size_t{detail::level_size(width, level)} * detail::level_size(height, level);
  return aligned((pixels + kLevelPadding) * sizeof(float));
}

/// Grows with the distance; the first octave begins at the near plane.
uint16_t key_of(double distance, double near_distance) {
  const auto past = static_cast<float>(std::max(distance - near_distance, 0.0) + 1.0);
  const uint32_t steps = (std::bit_cast<uint32_t>(past) - std::bit_cast<uint32_t>(1.0f)) >> 19;
  return static_cast<uint16_t>(std::min(steps, kKeys - 1));
}

OcclusionTester tester_of(const OcclusionCamera& camera, const float* const* levels) {
  OcclusionTester t;
  const auto put = [](const Double3& from, float(&to)[3]) {
    const Vec3 v = from.rounded();
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
  };
  put(camera.position, t.position);
  put(camera.to_x, t.to_x);
  put(camera.to_y, t.to_y);
  put(camera.forward, t.to_w);
  t.levels = levels;
  t.width = static_cast<float>(camera.width);
  t.height = static_cast<float>(camera.height);
  t.add_x = camera.is_orthographic ? t.width * 0.5f : 0;
  t.add_y = camera.is_orthographic ? t.height * 0.5f : 0;
  t.largest = round_up(camera.largest + camera.width + camera.height);
  t.near_distance = static_cast<float>(camera.near_distance);
  t.is_orthographic = camera.is_orthographic;
  return t;
}

/// One box as kernels take boxes, with a centre and extents that hold all of it.
struct LoneBox {
  // Kernels read 16 of each.
  float centre[3][16] = {}, half[3][16] = {};

  explicit LoneBox(const Aabb& box) {
    const float min[3] = {box.min.x, box.min.y, box.min.z}, max[3] = {box.max.x, box.max.y, box.max.z};
    for (int i = 0; i < 3; ++i) {
      const double low = min[i], high = max[i];
      const auto middle = static_cast<float>((low + high) * 0.5);
      centre[i][0] = middle;
      half[i][0] = round_up(std::max(high - middle, middle - low));
    }
  }
  OcclusionBoxes boxes() const { return {centre[0], centre[1], centre[2], half[0], half[1], half[2]}; }
};

}  // namespace

OcclusionView occlusion_view(const Transform& camera, const ViewLens& lens) {
  return {.position = {camera.position.x, camera.position.y, camera.position.z},
          .right = {camera.x.x, camera.x.y, camera.x.z},
          .forward = {camera.y.x, camera.y.y, camera.y.z},
          .up = {camera.z.x, camera.z.y, camera.z.z},
          .half_width = lens.tan_half_width,
          .half_height = lens.tan_half_height,
          .near_distance = lens.near_distance};
}

OcclusionBuffer::~OcclusionBuffer() {
  MERIDIAN_ASSERT(!is_begun(), "a picture is finished before its buffer goes");
  if (is_begun()) (void)finish();
  if (block_ != nullptr) allocator_->deallocate(block_, block_bytes_, kBufferAlignment);
}

Status OcclusionBuffer::init(const OcclusionConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "an occlusion buffer is made once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "the occlusion buffer was made before", 0};
  const uint32_t width = config.width, height = config.height;
  if (width > kMaxOcclusionSize || height > kMaxOcclusionSize || config.occluders > 1u << 20 ||
      config.primitives > 1u << 24) {
    return {StatusCode::too_large, "an occlusion buffer beyond its limits", 0};
  }
  if (width == 0 || height == 0 || width % kOcclusionTileWidth != 0 || height % kOcclusionTileHeight != 0 ||
      config.occluders == 0 || config.primitives == 0) {
    return {StatusCode::bad_value, "an occlusion buffer is made of whole tiles, and of at least one", 0};
  }
  // The last level is one square; there are those that strips make in any case.
  uint32_t levels = detail::kStripLevels + 1;
  while (detail::level_size(std::max(width, height), levels - 1) > 1) ++levels;
  size_t bytes = 0;
  size_t level_at[kMaxOcclusionLevels] = {};
  for (uint32_t i = 0; i < levels; ++i) {
    level_at[i] = bytes;
    bytes += level_bytes(width, height, i);
  }
  const size_t tiles = size_t{width / kOcclusionTileWidth} * (height / kOcclusionTileHeight);
  const size_t tiles_at = bytes, primitives_at = tiles_at + aligned(tiles * sizeof(detail::OcclusionTile));
  const size_t picked_at = primitives_at + aligned(config.primitives * sizeof(OcclusionPrimitive));
  const size_t sorted_at = picked_at + aligned(config.occluders * sizeof(OcclusionPicked));
  const size_t camera_at = sorted_at + aligned(config.occluders * sizeof(OcclusionPicked));
  bytes = camera_at + aligned(sizeof(OcclusionCamera));
  void* const block = allocator.allocate(bytes, kBufferAlignment);
  if (block == nullptr) {
    return {StatusCode::out_of_memory, "no memory for an occlusion buffer; detail = bytes", bytes};
  }
  auto* const base = static_cast<std::byte*>(block);
  for (uint32_t i = 0; i < levels; ++i) {
    const size_t count = level_bytes(width, height, i) / sizeof(float);
    levels_[i] = new (base + level_at[i]) float[count];
    std::fill_n(levels_[i], count, kNothing);
  }
  tiles_ = new (base + tiles_at) detail::OcclusionTile[tiles];
  primitives_ = new (base + primitives_at) OcclusionPrimitive[config.primitives];
  picked_ = new (base + picked_at) OcclusionPicked[config.occluders];
  sorted_ = new (base + sorted_at) OcclusionPicked[config.occluders];
  camera_ = new (base + camera_at) OcclusionCamera;
  allocator_ = &allocator;
  block_ = block;
  block_bytes_ = bytes;
  width_ = width;
  height_ = height;
  level_count_ = levels;
  max_occluders_ = config.occluders;
  max_primitives_ = config.primitives;
  return {};
}

// --- drawing -------------------------------------------------------------------------------------------

Status OcclusionBuffer::begin(const OccluderSet& set, const OcclusionView& view, JobSystem& jobs) {
  const bool may = block_ != nullptr && !is_begun();
  MERIDIAN_ASSERT(may, "an occlusion buffer is made, and draws one picture at a time");
  if (!may) return {StatusCode::in_use, "the occlusion buffer was not made, or draws", 0};
  is_ready_ = false;
  statistics_ = {};
  view_ = view;
  if (!detail::is_sound(view)) return {StatusCode::bad_value, "a view for occlusion that shows nothing", 0};
  const FloatMode mode;
  *camera_ = detail::occlusion_camera(view, width_, height_);
  set.hold();
  set_ = &set;
  jobs_ = &jobs;
  pick(set);
  strips_left_.store((height_ + kOcclusionStripHeight - 1) / kOcclusionStripHeight, std::memory_order_relaxed);
  set_up_left_.store(sorted_count_, std::memory_order_relaxed);
  if (sorted_count_ == 0) {
    start_strips();
  } else {
    jobs.parallel_for(sorted_count_, kSetUpGrain, &set_up_job, this, JobPriority::high, counter_);
  }
  return {};
}

/// Which occluders are drawn, the nearest first, and where their primitives go.
void OcclusionBuffer::pick(const OccluderSet& set) {
  uint32_t count = 0;
  uint32_t starts[kKeys + 1] = {};
  const std::span<const Occluder> all = set.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Occluder& occluder = all[i];
    double distance = 0;
    if (occluder.water_only && !camera_->with_water_only) continue;
    if (!detail::is_in_view(*camera_, occluder, distance)) continue;
    ++statistics_.in_view;
    if (count == max_occluders_) continue;
    OcclusionPicked& out = picked_[count++];
    out = {};
    out.occluder = i;
    out.key = key_of(distance, camera_->near_distance);
    ++starts[out.key + 1];
  }
  for (uint32_t i = 1; i <= kKeys; ++i) starts[i] += starts[i - 1];
  for (uint32_t i = 0; i < count; ++i) sorted_[starts[picked_[i].key]++] = picked_[i];
  uint32_t primitives = 0;
  sorted_count_ = 0;
  for (uint32_t i = 0; i < count; ++i) {
    OcclusionPicked& picked = sorted_[i];
    const Occluder& occluder = set[picked.occluder];
    const uint32_t needed = occluder.id.kind == OccluderKind::box ? 1 : occluder.triangle_count;
    if (needed > max_primitives_ - primitives) continue;
    picked.first = primitives;
    primitives += needed;
    sorted_[sorted_count_++] = picked;
  }
  statistics_.left_out = statistics_.in_view - sorted_count_;
  if (statistics_.left_out == 0 || is_full_told_) return;
  is_full_told_ = true;
  log_message(LogLevel::warning, {},
              "occlusion: %u of %u occluders in view are left out: room for %u, with %u primitives",
              statistics_.left_out, statistics_.in_view, max_occluders_, max_primitives_);
}

void OcclusionBuffer::set_up_job(void* self, uint32_t begin, uint32_t end) {
  OcclusionBuffer& buffer = *static_cast<OcclusionBuffer*>(self);
  const FloatMode mode;
  buffer.set_up(begin, end);
  if (buffer.set_up_left_.fetch_sub(end - begin, std::memory_order_acq_rel) == end - begin) buffer.start_strips();
}

void OcclusionBuffer::set_up(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    OcclusionPicked& picked = sorted_[i];
    const Occluder& occluder = (*set_)[picked.occluder];
    const bool is_box = occluder.id.kind == OccluderKind::box;
    picked.is_around = detail::is_around(*camera_, occluder);
    if (picked.is_around) continue;
    const uint32_t count = is_box ? 1 : occluder.triangle_count;
    picked.y_begin = static_cast<int16_t>(height_);
    for (uint32_t j = 0; j < count; ++j) {
      OcclusionPrimitive& out = primitives_[picked.first + picked.count];
      const bool is_seen = is_box ? detail::set_up_box(*camera_, occluder.box, out)
                                  : detail::set_up_triangle(*camera_, occluder, j, out);
      if (!is_seen) continue;
      ++picked.count;
      picked.y_begin = std::min(picked.y_begin, out.y_begin);
      picked.y_end = std::max(picked.y_end, out.y_end);
    }
  }
}

void OcclusionBuffer::start_strips() {
  const uint32_t strips = (height_ + kOcclusionStripHeight - 1) / kOcclusionStripHeight;
  jobs_->parallel_for(strips, 1, &strip_job, this, JobPriority::high, counter_);
}

void OcclusionBuffer::strip_job(void* self, uint32_t begin, uint32_t end) {
  OcclusionBuffer& buffer = *static_cast<OcclusionBuffer*>(self);
  const FloatMode mode;
  const detail::OcclusionTarget target{.levels = buffer.levels_,
                                       .tiles = buffer.tiles_,
                                       .width = buffer.width_,
                                       .height = buffer.height_,
                                       .primitives = buffer.primitives_,
                                       .picked = buffer.sorted_,
                                       .picked_count = buffer.sorted_count_};
  for (uint32_t strip = begin; strip < end; ++strip) {
    const uint32_t first = strip * kOcclusionStripHeight;
    detail::occlusion_kernels().draw(target, first, std::min(first + kOcclusionStripHeight, buffer.height_));
  }
  if (buffer.strips_left_.fetch_sub(end - begin, std::memory_order_acq_rel) != end - begin) return;
  detail::occlusion_tops(buffer.levels_, buffer.level_count_, buffer.width_, buffer.height_);
}

Status OcclusionBuffer::finish() {
  MERIDIAN_ASSERT(is_begun(), "a picture is begun before it is finished");
  if (!is_begun()) return {StatusCode::in_use, "no picture was begun", 0};
  jobs_->wait(counter_);
  set_->let_go();
  set_ = nullptr;
  jobs_ = nullptr;
  for (uint32_t i = 0; i < sorted_count_; ++i) {
    statistics_.around += sorted_[i].is_around ? 1 : 0;
    statistics_.drawn += sorted_[i].count > 0 ? 1 : 0;
    statistics_.primitives += sorted_[i].count;
  }
  is_ready_ = true;
  return {};
}

Status OcclusionBuffer::rasterise(const OccluderSet& set, const OcclusionView& view, JobSystem& jobs) {
  if (const Status s = begin(set, view, jobs); !s.ok()) return s;
  return finish();
}

void OcclusionBuffer::reset() {
  MERIDIAN_ASSERT(!is_begun(), "a picture is finished before it is forgotten");
  if (!is_begun()) is_ready_ = false;
}

// --- asking --------------------------------------------------------------------------------------------

uint32_t OcclusionBuffer::hidden(const OcclusionBoxes& boxes, uint32_t mask) const {
  MERIDIAN_ASSERT(!is_begun(), "a picture is finished before it is asked");
  if (!is_ready_ || is_begun()) return 0;
  const OcclusionTester tester = tester_of(*camera_, levels_);
  const detail::OcclusionKernels& kernels = detail::occlusion_kernels();
  uint32_t hidden = 0;
  for (uint32_t first = 0; first < 32; first += 16) {
    const uint32_t part = mask >> first & 0xFFFF;
    if (part == 0) continue;
    const OcclusionBoxes at{boxes.centre_x + first, boxes.centre_y + first, boxes.centre_z + first,
                            boxes.half_x + first,   boxes.half_y + first,   boxes.half_z + first};
    hidden |= kernels.test(tester, at, part) << first;
  }
  return hidden;
}

bool OcclusionBuffer::rectangle_of(const Aabb& box, detail::TestRectangle& out) const {
  const LoneBox centred(box);
  const auto first = [](const float(&of)[3][16]) { return std::to_array<float>({of[0][0], of[1][0], of[2][0]}); };
  const auto centre = first(centred.centre), half = first(centred.half);
  return detail::test_rectangle(tester_of(*camera_, levels_), {centre[0], centre[1], centre[2]},
                                {half[0], half[1], half[2]}, out);
}

bool OcclusionBuffer::is_hidden(const Aabb& box) const {
  const LoneBox centred(box);
  return hidden(centred.boxes(), 1) != 0;
}

std::span<const float> OcclusionBuffer::nearness() const {
  if (!is_ready_) return {};
  return {levels_[0], size_t{width_} * height_};
}

Status OcclusionBuffer::dump_image(std::span<std::byte> out) const {
  const size_t count = size_t{width_} * height_;
  if (out.size() < count) return {StatusCode::too_small, "no room for the picture; detail = bytes needed", count};
  std::fill_n(out.begin(), count, std::byte{0});
  if (!is_ready_) return {};
  float low = 3.4e38f, high = kNothing;
  for (const float v : nearness()) {
    if (v == kNothing) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const double scale = high > low ? 200.0 / (static_cast<double>(high) - low) : 0;
  for (size_t i = 0; i < count; ++i) {
    const float v = levels_[0][i];
    if (v == kNothing) continue;
    const double grey = scale == 0 ? 255 : 55 + (static_cast<double>(v) - low) * scale;
    out[i] = static_cast<std::byte>(static_cast<uint8_t>(grey));
  }
  return {};
}

}  // namespace meridian
