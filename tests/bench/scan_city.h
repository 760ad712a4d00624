// SPDX-License-Identifier: MIT
#pragma once
/// What the scan is measured with: a city in maps of 1200, cameras in its streets, a plain loop that does all of what the
/// scan does, and other libraries that are asked for the frusta alone.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "city.h"
#include "meridian/jobs/serial_jobs.h"
#include "meridian/visibility/scan.h"
#include "peers/spatial_peer.h"

namespace meridian::bench {

inline constexpr uint32_t kStreets = 64;                ///< where cameras stand
inline constexpr uint32_t kDriven = 8;                  ///< streets that a camera drives along,
inline constexpr uint32_t kFrames = 64;                 ///< for so many frames each,
inline constexpr float kFrameMetres = 300 / 3.6f / 60;  ///< at 300 km/h and 60 frames a second [m]

/// How the camera moves from frame to frame.
enum class Way {
  drive,  ///< along one street, then the next, as games have it
  jump,   ///< to another street with each frame: what is touched in turn is more than a core's caches hold
};

/// Whole metres, as descriptors have them: drawn up to forty times its size, as props, lamps and houses are.
inline float lod_distance(const Vec3& half) {
  return std::ceil(std::clamp(40 * std::max({half.x, half.y, half.z}), 40.0f, 1000.0f));
}

struct View {
  Vec3 camera{};
  std::vector<CullShape> shapes{};
  std::vector<Aabb> bounds{};  ///< around each shape's planes
};

/// A box of the sun's view: cascades and the like.
inline CullShape sun_box(const Vec3& middle, float half) {
  CullShape shape{.flags = kCullUseFrustum | kCullRenderExterior};
  const Vec3 axes[3] = {{0.8f, 0.6f, 0}, {-0.36f, 0.48f, 0.8f}, {0.48f, -0.64f, 0.6f}};
  for (const Vec3& axis : axes) {
    shape.planes[shape.plane_count++] = {axis, half - dot(axis, middle)};
    shape.planes[shape.plane_count++] = {axis * -1.0f, half + dot(axis, middle)};
  }
  return shape;
}

inline CullShape camera_shape(const Vec3& camera, float heading, float width, float far) {
  CullShape shape{.flags = kCullUseFrustum | kCullRenderExterior, .camera = camera};
  const Vec3 forward{std::sin(heading), std::cos(heading), 0}, right{std::cos(heading), -std::sin(heading), 0};
  set_frustum(
      shape, right, forward, {0, 0, 1},
      {.tan_half_width = width, .tan_half_height = width * 0.5625f, .near_distance = 0.1f, .far_distance = far});
  return shape;
}

inline Aabb bounds_of(const CullShape& shape) {
  const Result<Frustum> frustum = frustum_of_planes(std::span<const Plane, 6>(shape.planes, 6));
  require(frustum.ok(), "not a frustum");
  return frustum.value().bounds;
}

/// The picture, four cascades, a mirror, water and reflections; then the same for other headings.
inline View make_view(const Vec3& camera, float heading, uint32_t shapes) {
  View view{.camera = camera};
  for (uint32_t i = 0; i < shapes; ++i) {
    const float turned = heading + static_cast<float>(i / 8) * 2.1f;
    const Vec3 forward{std::sin(turned), std::cos(turned), 0};
    CullShape shape;
    switch (i % 8) {
      case 0:
        shape = camera_shape(camera, turned, 0.8f, 1500);
        break;
      case 5:
        shape = camera_shape(camera, turned + 3.1f, 0.3f, 200);
        break;
      case 6:
        shape = camera_shape(camera, turned, 0.8f, 500);
        break;
      case 7:
        shape = sun_box(camera, 60);
        break;
      default: {
        const float half = 12.0f * std::pow(2.7f, static_cast<float>(i % 8));
        shape = sun_box(camera + forward * (half * 0.8f), half);
      }
    }
    shape.phase = static_cast<uint8_t>(i);
    shape.visibility = i % 8 == 0 ? VisibilityType::gbuffer : VisibilityType::cascade_shadows;
    if (i == 0) shape.flags |= kCullPrimary;
    view.bounds.push_back(bounds_of(shape));
    view.shapes.push_back(shape);
  }
  return view;
}

/// Descriptors in an array, as a plain loop has them.
struct Plain {
  Vec3 centre, half, pivot;
  float distance;
  EntityHandle entity;
  uint16_t mask;
  uint8_t type, level, alpha;
};

/// A city as the scan has it, as a plain loop has it, and as peers have it.
class ScanCity {
 public:
  ScanCity(uint32_t count, bool is_clustered, bool has_peers) : boxes_(city(count, is_clustered)) {
    std::vector<Plain> plain;
    fill_scene(boxes_, order_, scene_, {.fixed_containers = 16, .descriptors = 8192},
               [](const Aabb&, EntityDesc& desc) { desc.distance = lod_distance(desc.half); });
    for (uint32_t i = 0; i < count; ++i) {
      const Aabb& box = boxes_[order_[i]];
      const Vec3 centre = (box.min + box.max) * 0.5f, half = (box.max - box.min) * 0.5f;
      plain_.push_back({centre, half, centre, lod_distance(half), {1, i}, kAllPhasesMask, 0, 0, 255});
    }
    if (has_peers) {
      peers_.push_back(make_boost_rtree(boxes_));
      peers_.push_back(make_bullet_dbvt(boxes_));
    }
    require(scan_.init({.graph = &scene_, .max_entries = count}).ok(), "no scan");
    require(other_.init({.graph = &scene_, .max_entries = count}).ok(), "no scan");
    for (SerialJobs* const jobs : {&serial_, &other_serial_})
      require(jobs->start({.queue_capacity = 1024}).ok(), "no jobs");
    found_.resize(count);
    out_.resize(count);
    Random random(11);
    for (uint32_t i = 0; i < kStreets; ++i) {
      const Aabb& box = boxes_[random.below(count)];
      cameras_.push_back({box.max.x + 3, box.max.y + 2, box.min.z + 2});
      headings_.push_back(random.between(0.0f, 6.2f));
    }
  }
  ~ScanCity() {
    serial_.shutdown();
    other_serial_.shutdown();
  }
  ScanCity(const ScanCity&) = delete;
  ScanCity& operator=(const ScanCity&) = delete;

  std::vector<View> views(uint32_t shapes, Way way) const {
    std::vector<View> out;
    if (way == Way::jump) {
      for (uint32_t i = 0; i < kStreets; ++i) out.push_back(make_view(cameras_[i], headings_[i], shapes));
      return out;
    }
    for (uint32_t i = 0; i < kDriven * kFrames; ++i) {
      const uint32_t street = i / kFrames;
      const float heading = headings_[street], driven = static_cast<float>(i % kFrames) * kFrameMetres;
      const Vec3 forward{std::sin(heading), std::cos(heading), 0};
      out.push_back(make_view(cameras_[street] + forward * driven, heading, shapes));
    }
    return out;
  }

  /// Entries that the scan writes.
  uint32_t scan(const View& view, JobSystem& jobs, float scale = 1) {
    start(scan_, view, jobs, scale);
    const uint32_t count = read(scan_);
    require(scan_.join().ok(), "no results");
    return count;
  }

  /// Two scans at once, each by a thread of its own that shares nothing but the world: as much as two threads can do.
  uint32_t scan_twice(const View& view, JobSystem& two) {
    start(scan_, view, serial_, 1);
    start(other_, view, other_serial_, 1);
    JobCounter counter;
    two.run({.function = [](void* user, uint32_t, uint32_t) { read(static_cast<ScanCity*>(user)->other_); },
             .context = this},
            JobPriority::high, counter);
    const uint32_t count = read(scan_);
    two.wait(counter);
    require(scan_.join().ok() && other_.join().ok(), "no results");
    return count;
  }

  /// What a program does that has boxes in an array.
  uint32_t plain(const View& view) {
    uint32_t count = 0;
    const Vec3& camera = view.camera;
    for (const Plain& p : plain_) {
      const float x = p.pivot.x - camera.x, y = p.pivot.y - camera.y, z = p.pivot.z - camera.z;
      const float squared = x * x + y * y + z * z, far = p.distance + kLodFade;
      if (squared > far * far) continue;
      uint32_t phases = 0;
      for (const CullShape& shape : view.shapes) {
        if ((p.mask & visibility_bit(shape.visibility)) == 0) continue;
        bool is_outside = false;
        for (uint32_t i = 0; i < shape.plane_count; ++i) {
          const Vec3& n = shape.planes[i].normal;
          const float near = n.x * p.centre.x + n.y * p.centre.y + n.z * p.centre.z + shape.planes[i].d;
          const float reach = std::fabs(n.x) * p.half.x + std::fabs(n.y) * p.half.y + std::fabs(n.z) * p.half.z;
          if (near + reach < 0) {
            is_outside = true;
            break;
          }
        }
        if (!is_outside) phases |= 1u << shape.phase;
      }
      if (phases == 0) continue;
      const float d = std::sqrt(squared);
      PvsEntry& entry = out_[count++];
      entry.entity = p.entity;
      entry.distance = d;
      entry.visible_phases = phases & 0xFFFFFF;
      entry.alpha = (d <= p.distance ? 255u : static_cast<uint32_t>((far - d) / kLodFade * 255)) & 0xFF;
    }
    return count;
  }

  SpatialPeer* peer(size_t index) { return peers_[index].get(); }
  uint32_t peer_frusta(size_t p, const View& view) {
    uint32_t count = 0;
    for (size_t i = 0; i < view.shapes.size(); ++i) {
      const std::span<const Plane> planes(view.shapes[i].planes, view.shapes[i].plane_count);
      count += peers_[p]->frustum(planes, view.bounds[i], found_);
    }
    return count;
  }

  /// All find the same, up to what the scan keeps for the sake of rounding, and the plain loop decides otherwise.
  void check(const std::vector<View>& views) {
    for (size_t v = 0; v < views.size(); v += views.size() / 8 + 1) {  // here and there along a drive
      const View& view = views[v];
      const uint32_t ours = scan(view, serial_), theirs = plain(view);
      require(ours + 8 >= theirs && ours <= theirs + 2 + theirs / 500, "the plain loop finds something else");
      if (peers_.empty()) continue;
      scan(view, serial_, 1e6f);
      uint32_t seen = 0;
      ScanCursor cursor;
      std::span<const PvsEntry> block;
      while (scan_.next_block(cursor, block))
        for (const PvsEntry& entry : block)
          seen += static_cast<uint32_t>(std::popcount(uint32_t{entry.visible_phases}));
      // Peers may first look at the box around a frustum, which leaves out some that no plane does.
      uint32_t in_planes = 0, in_both = 0;
      for (size_t i = 0; i < view.shapes.size(); ++i) {
        const std::span<const Plane> planes(view.shapes[i].planes, view.shapes[i].plane_count);
        for (const Aabb& box : boxes_) {
          if (!touches_frustum(box, planes)) continue;
          ++in_planes;
          in_both += touches_box(box, view.bounds[i]) ? 1 : 0;
        }
      }
      require(seen + 8 >= in_planes && seen <= in_planes + 8 + in_planes / 500,
              "the scan finds something else in frusta");
      for (size_t p = 0; p < peers_.size(); ++p) {
        if (peers_[p] == nullptr) continue;
        const uint32_t peer = peer_frusta(p, view);
        require(peer + 8 >= in_both && peer <= in_planes + 8, "a peer finds something else");
      }
    }
  }

  /// Until the first block can be read.
  double first_block(const View& view) {
    make_frame(scan_, view, 1);
    ScanCursor cursor;
    std::span<const PvsEntry> block;
    const auto begin = std::chrono::steady_clock::now();
    require(scan_.start(serial_).ok(), "no scan");
    const bool has_block = scan_.next_block(cursor, block);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    benchmark::DoNotOptimize(has_block);
    while (scan_.next_block(cursor, block)) continue;
    require(scan_.join().ok(), "no results");
    return taken.count();
  }

  /// Adds a chunk of what moves: all over the city, or all of it about the camera's first street.
  void add_moving(bool is_near) {
    Random random(5);
    for (uint32_t i = 0; i < kDynamicChunk; ++i) {
      const Aabb& box = boxes_[random.below(static_cast<uint32_t>(boxes_.size()))];
      const Vec3 near = cameras_[0] + Vec3{random.between(-400.0f, 400.0f), random.between(-400.0f, 400.0f), 1};
      EntityDesc desc;
      desc.centre = desc.pivot = is_near ? near : (box.min + box.max) * 0.5f;
      desc.half = {2, 2, 1};
      desc.distance = 300;
      desc.mask = kAllPhasesMask;
      desc.flags = kDescActive;
      desc.alpha = 255;
      require(scene_.insert(*scene_.root(), ContainerUse::dynamic, {2, i}, desc).ok(), "no room for what moves");
    }
  }

  SerialJobs& serial() { return serial_; }
  SceneGraph& scene() { return scene_; }

 private:
  static void make_frame(Scan& scan, const View& view, float scale) {
    ScanFrame frame{.lod = {.camera = view.camera}};
    for (float& s : frame.lod.scales) s = scale;
    frame.lod.default_scale = scale;
    require(scan.begin_frame(frame).ok(), "no frame");
    for (const CullShape& shape : view.shapes) require(scan.add(shape).ok(), "no shape");
  }
  static void start(Scan& scan, const View& view, JobSystem& jobs, float scale) {
    make_frame(scan, view, scale);
    require(scan.start(jobs).ok(), "no scan");
  }
  static uint32_t read(Scan& scan) {
    ScanCursor cursor;
    std::span<const PvsEntry> block;
    uint32_t count = 0;
    while (scan.next_block(cursor, block)) count += static_cast<uint32_t>(block.size());
    return count;
  }

  std::vector<Aabb> boxes_;
  std::vector<uint32_t> order_;
  SceneGraph scene_;
  std::vector<Plain> plain_;
  std::vector<std::unique_ptr<SpatialPeer>> peers_;
  std::vector<Vec3> cameras_;
  std::vector<float> headings_;
  Scan scan_, other_;
  SerialJobs serial_, other_serial_;
  std::vector<uint32_t> found_;
  std::vector<PvsEntry> out_;
};

}  // namespace meridian::bench
