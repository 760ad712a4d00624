// SPDX-License-Identifier: MIT
#include "meridian/map/map_world.h"

#include <algorithm>

#include "meridian/base/assert.h"

namespace meridian {

Status MapWorld::init(const MapWorldConfig& config, Allocator& allocator) {
  const bool is_whole = config.world != nullptr && config.scene != nullptr && config.archetypes != nullptr;
  MERIDIAN_ASSERT(is_whole && allocator_ == nullptr, "maps need a world, a scene and archetypes, once");
  if (!is_whole || allocator_ != nullptr) {
    return {StatusCode::bad_value, "maps need a world, a scene and archetypes, once", 0};
  }
  const uint32_t interiors = config.interiors < kMaxInteriors ? config.interiors : kMaxInteriors;
  const PoolConfig maps{.name = "MapDataLoadedNode", .capacity = config.maps, .tracker = config.tracker};
  if (const Status s = contents_.init(maps, allocator); !s.ok()) return s;
  const PoolConfig inst{.name = "InteriorInst", .capacity = interiors, .tracker = config.tracker};
  if (const Status s = interiors_.init(inst, allocator); !s.ok()) return s;
  if (const Status s = config.world->add_representation(*this); !s.ok()) return s;
  if (const Status s = config.archetypes->add_listener({&meaning_changed, this}); !s.ok()) {
    config.world->remove_representation(*this);
    return s;
  }
  config_ = config;
  allocator_ = &allocator;
  return {};
}

void MapWorld::shutdown() {
  if (allocator_ == nullptr) return;
  while (contents_.used() > 0) {
    MapContents& contents = *contents_.begin();
    if (!unload_map_data(*this, contents).ok()) break;
  }
  config_.archetypes->remove_listener({&meaning_changed, this});
  config_.world->remove_representation(*this);
  allocator_ = nullptr;
}

MapContents* MapWorld::find(ImapSlot slot) const {
  for (MapContents& contents : contents_) {
    if (contents.slot() == slot) return &contents;
  }
  return nullptr;
}

Interior* MapWorld::interior(int32_t number) const {
  return number >= 0 && number < static_cast<int32_t>(kMaxInteriors) ? by_number_[number] : nullptr;
}

uint32_t MapWorld::retry_waiting() {
  refresh_archetypes();
  uint32_t left = 0;
  for (Interior& interior : interiors_) {
    if (interior.is_waiting() && !interior.retry()) ++left;
  }
  return left;
}

void MapWorld::reset_messages() {
  said_.clear();
  for (OnceSet* set : {&missing_, &bad_, &waiting_, &counts_, &rebuilt_}) set->clear();
}

void MapWorld::place_all_anew() {
  for (MapContents& contents : contents_) contents.place_anew();
}

InteriorLocation MapWorld::location_of(const Vec3& point) const {
  for (const Interior& interior : interiors_) {
    const InteriorLocation in = interior.location_of(point);
    if (!in.is_outside()) return in;
  }
  return {};
}

// --- names that mean another archetype -----------------------------------------------------------------

/// Under a lock entities keep what they have until it goes: their type files cannot leave meanwhile.
void MapWorld::meaning_changed(void* user, NameHash name, Archetype* before, Archetype* now) {
  MapWorld& maps = *static_cast<MapWorld*>(user);
  if (now == nullptr) {  // entities of the old one wait for another
    if (before->references() > 0) maps.add_changed(name);
    return;
  }
  const bool is_awaited = maps.is_changed(name);
  if (before != nullptr ? before->references() == 0 && !is_awaited : !is_awaited) return;  // as most: nobody is of it
  maps.add_changed(name);
  if (!maps.config_.world->is_locked()) return maps.refresh_archetypes();
  if (maps.is_refresh_deferred_) return;
  const auto refresh = [](World&, void* self, uint64_t) {
    static_cast<MapWorld*>(self)->is_refresh_deferred_ = false;
    static_cast<MapWorld*>(self)->refresh_archetypes();
  };
  maps.is_refresh_deferred_ = maps.config_.world->defer(call_change(refresh, &maps, 0)).ok();
}

bool MapWorld::is_changed(NameHash name) const {
  if (changed_count_ > kMaxChanged) return true;  // there were too many to keep
  return std::find(changed_, changed_ + changed_count_, name) != changed_ + changed_count_;
}

void MapWorld::add_changed(NameHash name) {
  if (is_changed(name)) return;
  if (changed_count_ < kMaxChanged) changed_[changed_count_] = name;
  ++changed_count_;
}

/// Has all entities go on with what their names mean now. One pass over the maps for all names that changed.
void MapWorld::refresh_archetypes() {
  if (changed_count_ == 0 || config_.scene->graph().is_locked()) return;
  for (MapContents& contents : contents_) contents.take_archetypes();
  // Those that mean nothing stay, until they mean something.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < changed_count_ && i < kMaxChanged; ++i) {
    if (config_.archetypes->find(changed_[i]) == nullptr) changed_[kept++] = changed_[i];
  }
  changed_count_ = kept;
}

}  // namespace meridian
