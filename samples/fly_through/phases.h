// SPDX-License-Identifier: MIT
#pragma once
// What a frame looks at: five pictures, and what will be wanted soon. A renderer has more of some of these kinds. Bit i
// of a PvsEntry is phase i.

#include <cstdint>

#include "meridian/visibility/cull_shape.h"
#include "meridian/visibility/occlusion_buffer.h"
#include "meridian/visibility/scan.h"

enum Phase : uint8_t { kGbuffer, kCascades, kReflections, kWater, kMirror, kStreaming };
inline constexpr uint32_t kPhases = 6;
inline constexpr const char* kPhaseNames[kPhases] = {"gbuffer", "cascades", "reflections",
                                                     "water",   "mirror",   "streaming"};

/// A camera that looks where it flies, a little downwards.
struct Camera {
  meridian::Vec3 at, velocity;
  meridian::Vec3 right{1, 0, 0}, forward{0, 1, 0}, up{0, 0, 1};
  meridian::ViewLens lens;
};
Camera camera_in_flight(const meridian::Vec3& at, const meridian::Vec3& velocity);

inline constexpr float kWaterHeight = 0;        ///< [m]
inline constexpr float kCascadeHalf = 150;      ///< half the side of the square that shadows fall on [m]
inline constexpr float kReflectionReach = 100;  ///< radius of the sphere around the camera [m]
inline constexpr float kStreamingReach = 400;   ///< the same, around where the camera will be [m]
inline constexpr float kStreamingAhead = 2;     ///< how soon that is [s]

/// The shapes of all phases, phase i at i.
void make_phases(const Camera& camera, meridian::CullShape (&out)[kPhases]);
/// What occluders are drawn for: the picture itself.
meridian::OcclusionView occlusion_of(const Camera& camera);

/// Begins a frame of `scan` with all phases and starts it; `picture` is what occlusion_of() was drawn into.
meridian::Status start_scan(meridian::Scan& scan, const Camera& camera, const meridian::OcclusionBuffer& picture,
                            meridian::JobSystem& jobs);

/// What a scan gave to each phase: entities that it draws; of kStreaming, asks for.
struct PhaseCounts {
  uint32_t seen[kPhases] = {};
  uint32_t occluded = 0;  ///< that the picture would show but for an occluder
};
/// Reads all blocks of a scan that was started. A renderer would draw them.
PhaseCounts read_scan(meridian::Scan& scan);
