// SPDX-License-Identifier: MIT
#pragma once
/// What makes an entity stand for a whole list of instances: a batch of grass, a list of props. Maps make one entity
/// for each list (map/map_contents.h). Its descriptor has the box of the list, so that searches and scans find it like
/// any other; this extension says which list it is.
///
///   Entity grass(EntityClass::grass_batch);                              // as MapContents::batch gives it
///   if (const EntityBatch* const batch = batch_of(grass)) {
///     use(batch_box(grass, *batch));                                      // as the world's origin is now
///     use(grass.lod().distance);                                          // up to which it is drawn
///     use(batch->list);                                                   // parts().grass_batch(list)
///   }
///
/// Its class is EntityClass::grass_batch or EntityClass::prop_batch, which descriptors show too.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  48 bytes, the map's.
/// Source:  own.

#include <cstdint>

#include "meridian/base/math.h"
#include "meridian/core/extension.h"
#include "meridian/entity/entity.h"

namespace meridian {

/// The runtime's own kind, without a bit in lists: few entities have one, and their class says so.
inline constexpr ExtensionKind kBatchExtension{kMaxExtensionKinds - 1};

struct EntityBatch final : Extension {
  EntityBatch() : Extension(kBatchExtension) {}
  EntityBatch(const EntityBatch&) = delete;
  EntityBatch& operator=(const EntityBatch&) = delete;
  ~EntityBatch() override = default;

  uint32_t list = 0;     ///< index among the map's lists of its kind, as in MapParts
  Vec3 half;             ///< of the box, whose middle is the entity's position [>= 0] [m]
  float fade_start = 0;  ///< of grass: distance at which instances begin to thin out [m]
};

/// The list that an entity stands for, or null: it stands for none.
inline const EntityBatch* batch_of(const Entity& entity) {
  const bool may_be = entity.type() == EntityClass::grass_batch || entity.type() == EntityClass::prop_batch;
  return may_be ? entity.extensions().find<EntityBatch>(kBatchExtension) : nullptr;
}

/// The box around the instances, where the entity is now.
inline Aabb batch_box(const Entity& entity, const EntityBatch& batch) {
  return {entity.position() - batch.half, entity.position() + batch.half};
}

}  // namespace meridian
