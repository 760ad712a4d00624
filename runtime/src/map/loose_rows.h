// SPDX-License-Identifier: MIT
#pragma once
/// Rows of an index for mounts that have none: each map and type file is opened once to learn what it says of itself.
/// Memory: a table while it works, and the rows, which belong to the layer.

#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/map/world_layers.h"

namespace meridian::detail {

class LooseRows {
 public:
  LooseRows(const WorldLayers& layers, ResourceMounts& mounts, MountId mount, Allocator& allocator)
      : layers_(layers), mounts_(mounts), mount_(mount), allocator_(allocator) {}

  /// Fills the loose members of `layer`. Files that cannot be opened are left out with a message.
  /// Errors: out_of_memory.
  Status gather(WorldLayers::Layer& layer);

 private:
  struct Opened;
  bool open(PackKey key, Opened& out);
  Status gather_maps(WorldLayers::Layer& layer, uint32_t count);
  Status gather_types(WorldLayers::Layer& layer, uint32_t count);

  const WorldLayers& layers_;
  ResourceMounts& mounts_;
  MountId mount_;
  Allocator& allocator_;
};

}  // namespace meridian::detail
