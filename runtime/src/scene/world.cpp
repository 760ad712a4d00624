// SPDX-License-Identifier: MIT
#include "meridian/scene/world.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "entity/finite_transform.h"
#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian {
namespace {

WorldChange change_of(WorldChange::Kind kind, EntityHandle entity) {
  WorldChange out;
  out.kind = kind;
  out.entity = entity;
  return out;
}

}  // namespace

WorldChange add_change(EntityHandle entity) { return change_of(WorldChange::Kind::add, entity); }
WorldChange remove_change(EntityHandle entity) { return change_of(WorldChange::Kind::remove, entity); }
WorldChange update_change(EntityHandle entity) { return change_of(WorldChange::Kind::update, entity); }
WorldChange destroy_change(EntityHandle entity) { return change_of(WorldChange::Kind::destroy, entity); }
WorldChange move_change(EntityHandle entity, const Transform& to) {
  WorldChange out = change_of(WorldChange::Kind::move, entity);
  out.to = to;
  return out;
}
WorldChange alpha_change(EntityHandle entity, uint8_t alpha) {
  WorldChange out = change_of(WorldChange::Kind::alpha, entity);
  out.alpha = alpha;
  return out;
}
WorldChange mask_change(EntityHandle entity, uint16_t mask) {
  WorldChange out = change_of(WorldChange::Kind::mask, entity);
  out.mask = mask;
  return out;
}
WorldChange call_change(void (*function)(World& world, void* user, uint64_t value), void* user, uint64_t value) {
  WorldChange out;
  out.kind = WorldChange::Kind::call;
  out.function = function;
  out.user = user;
  out.value = value;
  return out;
}

World::~World() {
  MERIDIAN_ASSERT(locks_ == 0, "a world is not locked when it ends");
  for (uint32_t i = 0; i < representation_count_; ++i) representations_[i]->world_ = nullptr;
  if (queue_ != nullptr) {
    allocator_->deallocate(queue_, size_t{config_.deferred_changes} * sizeof(WorldChange), alignof(WorldChange));
  }
}

Status World::init(const WorldConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(config.table != nullptr, "a world knows entities by a table");
  MERIDIAN_ASSERT(allocator_ == nullptr, "a world is initialised once");
  if (config.table == nullptr) return {StatusCode::bad_value, "a world knows entities by a table", 0};
  if (allocator_ != nullptr) return {StatusCode::in_use, "a world is initialised once", 0};
  if (!(config.extent > 0 && config.extent <= kMaxWorldExtent)) {
    return {StatusCode::bad_value, "a world reaches up to 65 536 m", 0};
  }
  const size_t bytes = size_t{config.deferred_changes} * sizeof(WorldChange);
  if (bytes > 0) {
    queue_ = static_cast<WorldChange*>(allocator.allocate(bytes, alignof(WorldChange)));
    if (queue_ == nullptr) {
      return {StatusCode::out_of_memory, "no memory for deferred changes; detail = bytes", bytes};
    }
  }
  allocator_ = &allocator;
  config_ = config;
  return {};
}

Status World::add_representation(Representation& representation) {
  if (representation_count_ == kMaxRepresentations) {
    return {StatusCode::out_of_slots, "a world has few representations; detail = most", kMaxRepresentations};
  }
  representations_[representation_count_++] = &representation;
  representation.world_ = this;
  return {};
}

void World::remove_representation(Representation& representation) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    if (representations_[i] != &representation) representations_[kept++] = representations_[i];
  }
  representation_count_ = kept;
  representation.world_ = nullptr;
}

void Representation::leave_world() {
  if (world_ != nullptr) world_->remove_representation(*this);
}

void Representation::tell_unlocked() {
  if (world_ != nullptr) world_->apply_waiting();
}

bool World::is_locked() const {
  if (locks_ > 0) return true;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    if (representations_[i]->is_locked()) return true;
  }
  return false;
}

/// Deferred changes are applied while the lock is just gone; nothing else is refused then.
Status World::refuse() const {
  if (!is_locked()) return {};
  MERIDIAN_ASSERT(false, "the world is locked; defer() puts changes off");
  return {StatusCode::in_use, "the world is locked: defer the change; detail = locks", locks_};
}

Status World::check(const Entity& entity) const {
  if (!is_finite(entity.transform())) return {StatusCode::bad_value, "an entity's transform is finite", 0};
  const Vec3 at = entity.position();
  const double x = at.x - origin_.x, y = at.y - origin_.y, z = at.z - origin_.z;
  const double most = static_cast<double>(config_.extent);
  if (std::fabs(x) > most || std::fabs(y) > most || std::fabs(z) > most) {
    return {StatusCode::bad_value, "an entity stands within the world's extent", 0};
  }
  return {};
}

Status World::add(Entity& entity) {
  if (const Status s = refuse(); !s.ok()) return s;
  if (const Status s = check(entity); !s.ok()) return s;
  if (!entity.container().is_none()) return {StatusCode::in_use, "the entity is in the world", entity.handle().slot};
  for (uint32_t i = 0; i < representation_count_; ++i) {
    Representation& to = *representations_[i];
    if (!to.handles(entity.type()) || !to.handles(WorldOperation::add)) continue;
    const Status added = to.add(entity);
    if (added.ok()) continue;
    while (i-- > 0) {
      Representation& from = *representations_[i];
      if (from.handles(entity.type()) && from.handles(WorldOperation::add)) (void)from.remove(entity);
    }
    return added;
  }
  return {};
}

Status World::remove(Entity& entity) {
  if (const Status s = refuse(); !s.ok()) return s;
  Status first;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    Representation& from = *representations_[i];
    if (!from.handles(entity.type()) || !from.handles(WorldOperation::remove)) continue;
    const Status removed = from.remove(entity);
    // Where it was not is less than where it could not be taken out.
    if (!removed.ok() && (first.ok() || first.code == StatusCode::not_found)) first = removed;
  }
  return first;
}

Status World::update(Entity& entity) {
  if (const Status s = refuse(); !s.ok()) return s;
  if (const Status s = check(entity); !s.ok()) return s;
  Status first;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    Representation& to = *representations_[i];
    if (!to.handles(entity.type()) || !to.handles(WorldOperation::update)) continue;
    const Status updated = to.update(entity);
    if (!updated.ok() && first.ok()) first = updated;
  }
  return first;
}

Status World::move(Entity& entity, const Transform& to) {
  if (const Status s = refuse(); !s.ok()) return s;
  if (!is_finite(to)) return {StatusCode::bad_value, "an entity's transform is finite", 0};
  const Transform before = entity.transform();
  place(entity, to);
  const Status updated = update(entity);
  if (!updated.ok()) {
    place(entity, before);
    (void)update(entity);  // those that had followed
  }
  return updated;
}

Status World::destroy(Entity& entity) {
  if (const Status s = refuse(); !s.ok()) return s;
  if (config_.destroy == nullptr) return {StatusCode::in_use, "nobody was named who destroys entities", 0};
  // Asked of all: only the scene leaves its mark on the entity.
  if (const Status removed = remove(entity); !removed.ok() && removed.code != StatusCode::not_found) return removed;
  config_.destroy(config_.user, entity);
  return {};
}

Status World::set_alpha(Entity& entity, uint8_t alpha) {
  if (const Status s = refuse(); !s.ok()) return s;
  const uint8_t before = entity.lod().alpha;
  entity.lod().alpha = alpha;
  const Status updated = update(entity);
  if (!updated.ok()) {
    entity.lod().alpha = before;
    (void)update(entity);
  }
  return updated;
}

Status World::set_visibility_mask(Entity& entity, uint16_t mask) {
  if (const Status s = refuse(); !s.ok()) return s;
  const uint16_t before = entity.visibility_mask();
  entity.set_visibility_mask(mask);
  const Status updated = update(entity);
  if (!updated.ok()) {
    entity.set_visibility_mask(before);
    (void)update(entity);
  }
  return updated;
}

// --- deferred changes ----------------------------------------------------------------------------------

Status World::defer(const WorldChange& change) {
  if (!is_applying_ && !is_locked()) return apply(change);
  if (waiting_ == config_.deferred_changes) {
    if (!said_full_) {
      log_message(LogLevel::error, {}, "%u changes of the world wait for its unlock: no more fit", waiting_);
    }
    said_full_ = true;
    return {StatusCode::out_of_slots, "too many changes wait for the unlock; detail = most", waiting_};
  }
  queue_[waiting_++] = change;
  ++statistics_.deferred;
  if (waiting_ > statistics_.most_waiting) statistics_.most_waiting = waiting_;
  return {};
}

Status World::apply(const WorldChange& change) {
  if (change.kind == WorldChange::Kind::call) {
    if (change.function != nullptr) change.function(*this, change.user, change.value);
    return {};
  }
  Entity* const entity = config_.table->get(change.entity);
  if (entity == nullptr) {
    ++statistics_.stale;
    return {StatusCode::not_found, "the entity of a change is gone", change.entity.slot};
  }
  switch (change.kind) {
    case WorldChange::Kind::add:
      return add(*entity);
    case WorldChange::Kind::remove:
      return remove(*entity);
    case WorldChange::Kind::update:
      return update(*entity);
    case WorldChange::Kind::destroy:
      return destroy(*entity);
    case WorldChange::Kind::move:
      return move(*entity, change.to);
    case WorldChange::Kind::alpha:
      return set_alpha(*entity, change.alpha);
    case WorldChange::Kind::mask:
      return set_visibility_mask(*entity, change.mask);
    case WorldChange::Kind::call:
      break;
  }
  return {};
}

void World::lock() {
  if (locks_++ > 0) return;
  for (uint32_t i = 0; i < representation_count_; ++i) representations_[i]->lock();
}

void World::unlock() {
  MERIDIAN_ASSERT(locks_ > 0, "a world is unlocked as often as it was locked");
  if (locks_ > 1) {
    --locks_;
  } else if (locks_ == 1) {
    // The last one goes when all are unlocked: the first of them says so at once.
    for (uint32_t i = 0; i < representation_count_; ++i) representations_[i]->unlock();
    locks_ = 0;
    apply_waiting();
  }
}

void World::apply_waiting() {
  if (is_applying_ || waiting_ == 0 || is_locked()) return;
  // What changes defer in their turn is appended, and applied too.
  is_applying_ = true;
  uint32_t next = 0;
  while (next < waiting_ && !is_locked()) {  // a change may begin a search; the rest waits for its end
    const WorldChange change = queue_[next++];
    const Status done = apply(change);
    if (done.ok() || done.code == StatusCode::not_found) continue;
    ++statistics_.failed;
    log_message(LogLevel::warning, done.name, "a deferred change was refused: %s", done.message);
  }
  std::copy(queue_ + next, queue_ + waiting_, queue_);
  waiting_ -= next;
  is_applying_ = false;
}

void World::pre_scan() {
  if (is_locked()) return;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    if (representations_[i]->handles(WorldOperation::pre_scan)) representations_[i]->pre_scan();
  }
}

Status World::search_now(const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) const {
  result = {};
  if (const Status s = meridian::check(query); !s.ok()) return s;
  for (uint32_t i = 0; i < representation_count_; ++i) {
    if (!representations_[i]->handles(WorldOperation::search)) continue;
    if (const Status s = representations_[i]->search(query, out, result); !s.ok()) return s;
  }
  return {};
}

Status World::rebase(const Vec3& delta) {
  if (const Status s = refuse(); !s.ok()) return s;
  if (!meridian::is_finite(delta)) return {StatusCode::bad_value, "the origin moves by a finite distance", 0};
  origin_ = {origin_.x + delta.x, origin_.y + delta.y, origin_.z + delta.z};
  ++epoch_;
  for (uint32_t i = 0; i < representation_count_; ++i) representations_[i]->rebase(delta, origin_);
  return {};
}

}  // namespace meridian
