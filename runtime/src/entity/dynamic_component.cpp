// SPDX-License-Identifier: MIT
#include "meridian/entity/dynamic_component.h"
#include "base/double3.h"

#include <cmath>

#include "entity/finite_transform.h"
#include "meridian/entity/transform.h"

namespace meridian {
namespace {

/// The transform without its scale; a column of scale 0 stays as it is.
Transform unscaled(const Transform& t) {
  const auto divided = [](const Vec4& v, float scale, float w) {
    return scale == 0 || scale == 1 ? Vec4{v.x, v.y, v.z, w} : Vec4{v.x / scale, v.y / scale, v.z / scale, w};
  };
  return {divided(t.x, t.scale_xy(), 0), divided(t.y, t.scale_xy(), 1), divided(t.z, t.scale_z(), 1), t.position};
}

/// Makes the columns orthogonal again, as long as their scale says: by Gram and Schmidt, which changes last bits only.
/// Without it, things that are put down and picked up often would shrink or shear: the rounding of a parent's columns
/// goes into the offset of a child and, with the child as a parent, counts twice, four times, and so on.
Transform orthogonal(const Transform& t) {
  Double3 made[3];
  const auto column = [&made](const Vec4& v, unsigned before, float scale) {
    Double3 c(v);
    for (unsigned i = 0; i < before; ++i) {
      const double along = dot(c, made[i]);
      c = c - made[i] * along;
    }
    const double l = length(c);
    made[before] = l > 0 ? Double3{c.x / l, c.y / l, c.z / l} : Double3{0, 0, 0};
    if (!(l > 0)) return v;
    const double s = std::abs(double{scale}) / l;
    return Vec4{static_cast<float>(c.x * s), static_cast<float>(c.y * s), static_cast<float>(c.z * s), v.w};
  };
  Transform out = t;
  out.x = column(t.x, 0, t.scale_xy());
  out.y = column(t.y, 1, t.scale_xy());
  out.z = column(t.z, 2, t.scale_z());
  return out;
}

}  // namespace

Transform attached_transform(const Transform& parent, const Transform& offset) {
  return orthogonal(combine(unscaled(parent), offset));
}

Transform attachment_offset(const Transform& parent, const Transform& world) {
  // The columns of a rotation are its rows turned back.
  const Transform frame = unscaled(parent);
  const auto turned_back = [&](double x, double y, double z, float w) {
    return Vec4{static_cast<float>(frame.x.x * x + frame.x.y * y + frame.x.z * z),
                static_cast<float>(frame.y.x * x + frame.y.y * y + frame.y.z * z),
                static_cast<float>(frame.z.x * x + frame.z.y * y + frame.z.z * z), w};
  };
  const auto direction = [&](const Vec4& v) { return turned_back(v.x, v.y, v.z, v.w); };
  return {direction(world.x), direction(world.y), direction(world.z),
          turned_back(double{world.position.x} - frame.position.x, double{world.position.y} - frame.position.y,
                      double{world.position.z} - frame.position.z, 1)};
}

Entity& attachment_root(Entity& entity) {
  Entity* at = &entity;
  while (Entity* const parent = attached_to(*at)) at = parent;
  return *at;
}

DynamicComponents::~DynamicComponents() {
  for (DynamicComponent& component : pool_) {
    Entity& entity = component.entity();
    entity.flags_.clear(BaseFlag::hidden_by_parent);
    entity.dynamic_ = nullptr;
  }
}

Status DynamicComponents::init(const DynamicComponentsConfig& config, Allocator& allocator) {
  return pool_.init({.name = "fwDynamicEntityComponent", .capacity = config.capacity, .tracker = config.tracker},
                    allocator);
}

// --- components ---

DynamicComponent* DynamicComponents::require(Entity& entity) {
  if (entity.dynamic_ == nullptr) entity.dynamic_ = pool_.create(*this, entity);
  return entity.dynamic_;
}

void DynamicComponents::release_if_empty(Entity& entity) {
  DynamicComponent* const of = entity.dynamic_;
  if (of == nullptr || of->parent_ != nullptr || of->first_child_ != nullptr || of->host_data_ != nullptr) return;
  entity.dynamic_ = nullptr;
  of->owner_->pool_.destroy(*of);
}

void DynamicComponents::link(DynamicComponent& child, DynamicComponent& parent) {
  child.parent_ = parent.entity_;
  child.previous_ = nullptr;
  child.next_ = parent.first_child_;
  if (child.next_ != nullptr) child.next_->dynamic_->previous_ = child.entity_;
  parent.first_child_ = child.entity_;
}

void DynamicComponents::unlink(DynamicComponent& child) {
  if (child.next_ != nullptr) child.next_->dynamic_->previous_ = child.previous_;
  if (child.previous_ != nullptr) {
    child.previous_->dynamic_->next_ = child.next_;
  } else if (child.parent_ != nullptr) {
    child.parent_->dynamic_->first_child_ = child.next_;
  }
  child.parent_ = child.next_ = child.previous_ = nullptr;
}

void DynamicComponents::take_off(DynamicComponent& child) {
  if (listener_.on_detach != nullptr) listener_.on_detach(listener_.user, *child.entity_);
  unlink(child);
  child.constraint_count_ = 0;
  child.offset_ = {};
  child.flags_ = {};
}

DynamicComponent* DynamicComponents::next_below(DynamicComponent& top, DynamicComponent& at, bool skip) {
  if (!skip && at.first_child_ != nullptr) return at.first_child_->dynamic_;
  for (DynamicComponent* up = &at; up != &top; up = up->parent_->dynamic_) {
    if (up->next_ != nullptr) return up->next_->dynamic_;
  }
  return nullptr;
}

// --- what is inherited ---

void DynamicComponents::move_below(DynamicComponent& top) {
  for (DynamicComponent* at = next_below(top, top); at != nullptr; at = next_below(top, *at)) {
    at->entity_->set_transform(attached_transform(at->parent_->transform(), at->offset_));
    if (listener_.on_moved != nullptr) listener_.on_moved(listener_.user, *at->entity_);
  }
}

bool DynamicComponents::inherit(DynamicComponent& of) {
  Entity& entity = *of.entity_;
  const bool before = entity.is_visible();
  const bool hides = of.parent_ != nullptr && !of.flags_.has(AttachFlag::keep_visible) && !of.parent_->is_visible();
  entity.flags_.set(BaseFlag::hidden_by_parent, hides);
  return entity.is_visible() != before;
}

void DynamicComponents::show_below(DynamicComponent& top) {
  DynamicComponent* at = next_below(top, top);
  while (at != nullptr) {
    const bool changed = inherit(*at);
    if (changed && listener_.on_visibility != nullptr) listener_.on_visibility(listener_.user, *at->entity_);
    at = next_below(top, *at, /*skip=*/!changed);
  }
}

void DynamicComponents::visibility_changed(Entity& entity) {
  if (entity.dynamic_ != nullptr) entity.dynamic_->owner_->show_below(*entity.dynamic_);
}

// --- attaching ---

Status DynamicComponents::attach_at(Entity& child, Entity& parent, const Transform& offset, Flags<AttachFlag> flags) {
  const auto is_ours = [this](const Entity& e) { return e.dynamic_ == nullptr || e.dynamic_->owner_ == this; };
  const bool is_right = is_finite(offset) && is_ours(child) && is_ours(parent);
  MERIDIAN_ASSERT(is_right, "entities are attached at a finite offset, by the components that they belong to");
  if (!is_right) return {StatusCode::bad_value, "an offset that is not finite, or another's component"};
  for (const Entity* up = &parent; up != nullptr; up = attached_to(*up)) {
    if (up == &child) return {StatusCode::bad_value, "an entity can't be attached to what hangs on it"};
  }
  DynamicComponent* const to = require(parent);
  DynamicComponent* const of = to != nullptr ? require(child) : nullptr;
  if (of == nullptr) {
    release_if_empty(parent);
    return {StatusCode::out_of_slots, "no room for another component of moving entities; detail = the limit",
            pool_.capacity(), pool_.name_hash()};
  }
  if (Entity* const before = of->parent_) {
    take_off(*of);
    if (before != &parent) release_if_empty(*before);
  }
  link(*of, *to);
  of->offset_ = offset;
  of->flags_ = flags;
  child.set_transform(attached_transform(parent.transform(), offset));
  move_below(*of);
  if (inherit(*of)) show_below(*of);
  return {};
}

Status DynamicComponents::attach(Entity& child, Entity& parent, const AttachConfig& config) {
  return attach_at(child, parent, config.offset, config.flags);
}

Status DynamicComponents::attach_in_place(Entity& child, Entity& parent, Flags<AttachFlag> flags) {
  return attach_at(child, parent, attachment_offset(parent.transform(), child.transform()), flags);
}

bool DynamicComponents::detach(Entity& child) {
  DynamicComponent* const of = child.dynamic_;
  if (of == nullptr || of->parent_ == nullptr) return false;
  Entity& parent = *of->parent_;
  take_off(*of);
  if (inherit(*of)) show_below(*of);
  release_if_empty(child);
  release_if_empty(parent);
  return true;
}

void DynamicComponents::set_offset(Entity& child, const Transform& offset) {
  const bool is_right = attached_to(child) != nullptr && is_finite(offset);
  MERIDIAN_ASSERT(is_right, "what is attached has a finite offset");
  if (!is_right) return;
  DynamicComponent& of = *child.dynamic_;
  of.offset_ = offset;
  child.set_transform(attached_transform(of.parent_->transform(), offset));
  move_below(of);
}

void DynamicComponents::place_dynamic(Entity& entity, const Transform& to) {
  DynamicComponent& of = *entity.dynamic_;
  if (of.parent_ == nullptr) {
    entity.set_transform(to);
    return of.owner_->move_below(of);
  }
  const bool may_move = of.flags_.has(AttachFlag::allow_move);
  MERIDIAN_ASSERT(may_move, "an attached entity moves with what it is attached to");
  if (may_move) of.owner_->set_offset(entity, attachment_offset(of.parent_->transform(), to));
}

Status DynamicComponents::add_constraint(Entity& child, const AttachConstraint& constraint) {
  bool is_right = attached_to(child) != nullptr;
  if (is_right) {
    for (const AttachConstraint& other : child.dynamic_->constraints())
      is_right = is_right && other.id != constraint.id;
  }
  MERIDIAN_ASSERT(is_right, "an attached entity has a constraint of an id once");
  if (!is_right) return {StatusCode::bad_value, "not attached, or a constraint of that id; detail = id", constraint.id};
  DynamicComponent& of = *child.dynamic_;
  if (of.constraint_count_ == kMaxAttachConstraints) {
    return {StatusCode::out_of_slots, "too many constraints of one attachment; detail = the limit",
            kMaxAttachConstraints};
  }
  of.constraints_[of.constraint_count_++] = constraint;
  return {};
}

bool DynamicComponents::remove_constraint(Entity& child, uint64_t id) {
  DynamicComponent* const of = child.dynamic_;
  for (unsigned i = 0; of != nullptr && i < of->constraint_count_; ++i) {
    if (of->constraints_[i].id != id) continue;
    for (unsigned after = i + 1; after < of->constraint_count_; ++after) {
      of->constraints_[after - 1] = of->constraints_[after];
    }
    --of->constraint_count_;
    return true;
  }
  return false;
}

Status DynamicComponents::set_host_data(Entity& entity, void* data) {
  if (data == nullptr) {
    if (entity.dynamic_ == nullptr) return {};
    entity.dynamic_->host_data_ = nullptr;
    release_if_empty(entity);
    return {};
  }
  DynamicComponent* const of = require(entity);
  if (of == nullptr) {
    return {StatusCode::out_of_slots, "no room for another component of moving entities; detail = the limit",
            pool_.capacity(), pool_.name_hash()};
  }
  of->host_data_ = data;
  return {};
}

// --- removing ---

void DynamicComponents::remove(Entity& entity, RemovePolicy policy, const DestroyHook& destroy) {
  DynamicComponent* const top = entity.dynamic_;
  if (top == nullptr) return;
  bool destroys = policy == RemovePolicy::destroy_children;
  MERIDIAN_ASSERT(!destroys || destroy.destroy != nullptr, "somebody destroys what is attached");
  destroys = destroys && destroy.destroy != nullptr;
  if (Entity* const parent = top->parent_) {
    take_off(*top);
    release_if_empty(*parent);
  }
  entity.flags_.clear(BaseFlag::hidden_by_parent);
  top->host_data_ = this;  // keeps the component while the last child goes
  while (top->first_child_ != nullptr) {
    DynamicComponent* at = top->first_child_->dynamic_;
    while (destroys && at->first_child_ != nullptr) at = at->first_child_->dynamic_;
    Entity& child = *at->entity_;
    take_off(*at);
    const bool changed = inherit(*at);
    if (destroys) {
      at->host_data_ = nullptr;
    } else if (changed) {
      if (listener_.on_visibility != nullptr) listener_.on_visibility(listener_.user, child);
      show_below(*at);
    }
    release_if_empty(child);
    if (destroys) destroy.destroy(destroy.user, child);
  }
  top->host_data_ = nullptr;
  release_if_empty(entity);
}

void DynamicComponents::forget(Entity& entity) { entity.dynamic_->owner_->remove(entity); }

}  // namespace meridian
