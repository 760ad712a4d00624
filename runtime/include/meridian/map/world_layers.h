// SPDX-License-Identifier: MIT
#pragma once
/// The layers of a world: what is mounted, each with its index, the later over the earlier. Says where the version of a
/// resource is that counts, and what is known of a map or type file without loading it.
///
///   WorldLayers layers;
///   Status ready = layers.init({.mounts = &mounts});
///   Result<uint32_t> base = layers.add(mount);                          // reads the mount's index, or its loose maps
///   const MapDefinition town = layers.map(hash_name("town"));
///   if (town) load_soon(town.row->streaming);
///
/// A pack brings an index (an entry of kind WIDX; if there are several, that of the name "world" or else the first).
/// A mount without one - a folder of loose files, sources in development - is looked through: each map is opened once
/// to learn its boxes, parent and archetypes, and its type files are found through all indices by archetype names.
///
/// Threads: main; readers while nothing is added or removed.
/// Memory:  a layer's record in init(); rows of loose files in add().

#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/entity/model_id.h"
#include "meridian/resource/mount.h"
#include "meridian/stream/world_index.h"

namespace meridian {

struct WorldLayersConfig {
  ResourceMounts* mounts = nullptr;  ///< not null; outlives the layers
  uint32_t max_layers = 32;          ///< [1, 256] [count]
};

/// What a layer says of a map. False: no layer knows it.
struct MapDefinition {
  const MapSlot* row = nullptr;
  uint32_t layer = 0;                      ///< place among the layers, 0 the lowest
  std::span<const NameHash> dependencies;  ///< type files
  explicit operator bool() const { return row != nullptr; }
};
struct TypesDefinition {
  const TypesSlot* row = nullptr;
  uint32_t layer = 0;
  std::span<const NameHash> dependencies;
  explicit operator bool() const { return row != nullptr; }
};

class WorldLayers {
 public:
  /// One layer: a mount, and what it says of the world.
  struct Layer {
    MountId mount;
    LayerId id = 0;             ///< rises from layer to layer, never used again
    bool is_leaving = false;    ///< nothing is found in it any more
    bool is_base = false;       ///< its permanent type files are so for good
    PinnedResource pin;         ///< of the index
    std::span<std::byte> copy;  ///< of an index that is not used in place
    WorldIndex index;           ///< empty where there is none
    std::span<MapSlot> loose;   ///< rows of maps without index, by name
    std::span<NameHash> loose_dependencies;
    std::span<uint32_t> loose_lists;   ///< where each row's begin; one more at the end
    std::span<TypesSlot> loose_types;  ///< rows of type files without index, by name
  };

  WorldLayers() = default;
  ~WorldLayers() { clear(); }
  WorldLayers(const WorldLayers&) = delete;
  WorldLayers& operator=(const WorldLayers&) = delete;

  /// Requires: called once. Errors: bad_value, out_of_memory.
  Status init(const WorldLayersConfig& config, Allocator& allocator = default_allocator());
  /// Reads what a mount says of the world, and puts it over all others. `is_base`: it will never be unmounted.
  /// Errors: out_of_slots (max_layers), out_of_memory, not_found (no such mount), what open_world_index says of a
  /// damaged
  ///         index. Loose maps that cannot be opened are left out with a message.
  Result<uint32_t> add(MountId mount, bool is_base = false);
  /// Nothing is found in it any more. Its rows stay until remove().
  void begin_leaving(uint32_t at) { layers_[at].is_leaving = true; }
  void remove(uint32_t at);

  uint32_t count() const { return count_; }
  const Layer& layer(uint32_t at) const { return layers_[at]; }
  /// The place of a mount's layer, or count().
  uint32_t of_mount(MountId mount) const;

  /// What the highest layer that knows it says.
  MapDefinition map(NameHash name) const;
  TypesDefinition types(NameHash name) const;
  /// Of one layer.
  MapDefinition map_in(uint32_t at, NameHash name) const;
  TypesDefinition types_in(uint32_t at, NameHash name) const;
  /// The type file that defines an archetype in the highest index that knows it; 0: none.
  NameHash types_of_archetype(NameHash archetype) const;
  /// Where the version is that counts: in the highest layer that has it, unless a patch above takes it away. Mounts
  /// that are no layers do not count.
  ResourceLocation locate(uint32_t kind, NameHash name) const;

  ResourceMounts& mounts() const { return *config_.mounts; }

 private:
  Status open_index(Layer& layer);
  Status look_through(Layer& layer);
  void clear();
  void free_layer(Layer& layer);

  WorldLayersConfig config_{};
  Allocator* allocator_ = nullptr;
  Layer* layers_ = nullptr;
  uint32_t count_ = 0;
  LayerId next_id_ = 0;
};

}  // namespace meridian
