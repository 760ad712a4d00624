// SPDX-License-Identifier: MIT
#pragma once
// What a camera sees, frame by frame: a picture of occluders, then one scan for all phases, whose entries are counted
// as they come. A renderer would draw them.

#include <vector>

#include "meridian/meridian.h"
#include "phases.h"

class Sight {
 public:
  /// `occluders`: those of the maps, which MapWorldConfig names too.
  meridian::Status init(meridian::SceneGraph& graph, const meridian::LodSetTable& sets,
                        meridian::OccluderSet& occluders, meridian::Allocator& allocator);
  /// Everything here, on the caller's thread. The scene is locked only inside.
  meridian::Status look(const Camera& camera);

  /// Entities that a phase draws; of kStreaming, asks for. Of the last look.
  uint32_t count(Phase phase) const { return counts_.seen[phase]; }
  /// Those that the picture would show but for an occluder.
  uint32_t occluded() const { return counts_.occluded; }
  double micros() const { return micros_; }

  const Camera& camera() const { return camera_; }
  const meridian::Scan& scan() const { return scan_; }
  const meridian::OccluderSet& occluders() const { return *occluders_; }
  /// Why a phase sees an entity, or does not.
  meridian::VisibilityReason explain(Phase phase, meridian::SceneSlot slot) const;
  meridian::VisibilityReason explain(Phase phase, meridian::EntityHandle entity) const;

 private:
  uint32_t shape_of(Phase phase) const;

  meridian::OccluderSet* occluders_ = nullptr;
  meridian::OcclusionBuffer picture_;
  meridian::Scan scan_;
  meridian::SerialJobs jobs_;
  Camera camera_;
  PhaseCounts counts_;
  double micros_ = 0;
};
