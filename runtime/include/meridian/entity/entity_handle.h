// SPDX-License-Identifier: MIT
#pragma once
/// How everybody but its owner refers to an entity: by a handle that is stale from the moment on that the entity is
/// gone (entity/entity_table.h turns it into the entity).
///
///   EntityHandle seen{};                                  // null
///   if (!seen) seen = EntityHandle{.generation = 3, .slot = 17};
///
/// Entities of a map are a *group*: they come and go together and share one generation. The handle of entity i of a
/// group is that of its first entity with i added to the slot, so that descriptors need only hold i.
///
/// Threads: immutable.

#include "meridian/core/handle.h"

namespace meridian {

class Entity;
using EntityHandle = Handle<Entity>;

/// Entity `index` of the group whose first entity is `first`. Requires: the group has that many.
constexpr EntityHandle entity_of_group(EntityHandle first, uint32_t index) {
  return {first.generation, first.slot + index};
}

}  // namespace meridian
