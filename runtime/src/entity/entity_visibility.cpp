// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_visibility.h"

#include "meridian/entity/dynamic_component.h"

namespace meridian {

Status EntityVisibility::init(const EntityVisibilityConfig& config, Allocator& allocator) {
  return holders_.init({.name = "EntityVisibility", .capacity = config.capacity, .tracker = config.tracker}, allocator);
}

Status EntityVisibility::set_visible(Entity& entity, VisibilityModule module, bool is_visible) {
  const auto number = static_cast<unsigned>(module);
  MERIDIAN_ASSERT(number < kVisibilityModules, "no such module");
  if (number >= kVisibilityModules) return {StatusCode::bad_value, "no such module; detail = its number", number};
  Holder* holder = holder_of(entity);
  if (is_visible) {
    if (holder == nullptr) return {};
    holder->modules &= ~(1u << number);
    if (holder->modules == 0) release(entity, *holder);
    return {};
  }
  if (holder == nullptr) {
    holder = static_cast<Holder*>(holders_.create(0));
    if (holder == nullptr) {
      return {StatusCode::out_of_slots, "too many entities are hidden; detail = the limit", holders_.pool().capacity(),
              holders_.pool().name_hash()};
    }
    holder->set_factory(&holders_);
    entity.extensions().add(*holder);
  }
  holder->modules |= 1u << number;
  set_hidden(entity, true);
  return {};
}

void EntityVisibility::show(Entity& entity) {
  if (Holder* const holder = holder_of(entity)) release(entity, *holder);
}

uint32_t EntityVisibility::hidden_by(const Entity& entity) const {
  const Holder* const holder = holder_of(entity);
  return holder != nullptr ? holder->modules : 0;
}

void EntityVisibility::release(Entity& entity, Holder& holder) {
  entity.extensions().destroy(holder);
  set_hidden(entity, false);
}

void EntityVisibility::set_hidden(Entity& entity, bool is_hidden) {
  const bool before = entity.is_visible();
  entity.flags_.set(BaseFlag::hidden, is_hidden);
  if (entity.is_visible() != before) DynamicComponents::visibility_changed(entity);
}

}  // namespace meridian
