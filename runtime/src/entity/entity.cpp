// SPDX-License-Identifier: MIT
#include "meridian/entity/entity.h"

#include "entity/finite_transform.h"
#include "meridian/entity/archetype.h"
#include "meridian/entity/dynamic_component.h"

namespace meridian {
Entity::~Entity() {
  if (dynamic_ != nullptr) DynamicComponents::forget(*this);
  set_archetype(nullptr);
  MERIDIAN_ASSERT(physics_ == nullptr, "physics of an entity is cleared before it dies");
  MERIDIAN_ASSERT(draw_ == nullptr, "draw data of an entity is cleared before it dies");
  MERIDIAN_ASSERT(container_.is_none(), "an entity leaves its container before it dies");
  MERIDIAN_ASSERT(!handle_, "an entity leaves its table before it dies");
}

void Entity::set_archetype(Archetype* archetype) {
  if (archetype != nullptr) archetype->add_reference();  // first: it may be the same one
  if (archetype_ != nullptr) archetype_->remove_reference();
  archetype_ = archetype;
}

void place(Entity& entity, const Transform& to) {
  const bool is_right = is_finite(to);
  MERIDIAN_ASSERT(is_right, "an entity stands at a finite place");
  if (!is_right) return;
  if (entity.dynamic_ != nullptr) return DynamicComponents::place_dynamic(entity, to);
  entity.set_transform(to);
}

}  // namespace meridian
