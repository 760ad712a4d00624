// SPDX-License-Identifier: MIT
#include "sight.h"

#include <chrono>

using namespace meridian;  // NOLINT(google-build-using-namespace): a program of one purpose

Status Sight::init(SceneGraph& graph, const LodSetTable& sets, OccluderSet& occluders, Allocator& allocator) {
  occluders_ = &occluders;
  if (const Status s = picture_.init({.width = 512, .height = 256}, allocator); !s.ok()) return s;
  if (const Status s = jobs_.start(); !s.ok()) return s;
  return scan_.init({.graph = &graph, .lod_sets = &sets, .max_entries = 1u << 18}, allocator);
}

Status Sight::look(const Camera& camera) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  camera_ = camera;
  if (const Status s = picture_.rasterise(*occluders_, occlusion_of(camera), jobs_); !s.ok()) return s;
  if (const Status s = start_scan(scan_, camera, picture_, jobs_); !s.ok()) return s;
  counts_ = read_scan(scan_);
  const Status joined = scan_.join();
  micros_ = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  return joined;
}

uint32_t Sight::shape_of(Phase phase) const {
  uint32_t at = 0;
  while (at + 1 < scan_.shape_count() && scan_.shape(at).phase != phase) ++at;
  return at;
}

VisibilityReason Sight::explain(Phase phase, SceneSlot slot) const {
  return explain_visibility(scan_, shape_of(phase), slot, occluders_);
}
VisibilityReason Sight::explain(Phase phase, EntityHandle entity) const {
  return explain_visibility(scan_, shape_of(phase), entity, occluders_);
}
