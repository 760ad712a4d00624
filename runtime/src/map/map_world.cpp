// SPDX-License-Identifier: MIT
#include "meridian/map/map_world.h"

#include <algorithm>

#include "map/loading.h"
#include "map/lod_sets.h"
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
  if (const Status s = config.archetypes->add_listener({&meaning_changed, this, &meanings_settled}); !s.ok()) {
    config.world->remove_representation(*this);
    return s;
  }
  config_ = config;
  allocator_ = &allocator;
  const Status sets = MapLodSets::make(*this);
  if (!sets.ok()) shutdown();
  return sets;
}

void MapWorld::shutdown() {
  if (allocator_ == nullptr) return;
  while (contents_.used() > 0) {
    MapContents& contents = *contents_.begin();
    if (!unload_map_data(*this, contents).ok()) break;
  }
  config_.archetypes->remove_listener({&meaning_changed, this, &meanings_settled});
  config_.world->remove_representation(*this);
  MapLodSets::destroy(*this);
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
  for (OnceSet* set : {&missing_, &bad_, &waiting_, &counts_, &rebuilt_, &occluders_}) set->clear();
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

// --- those who want to know that maps go ---------------------------------------------------------------

Status MapWorld::add_unload_listener(const MapUnloadListener& listener) {
  MERIDIAN_ASSERT(listener.function != nullptr, "a listener has a function");
  if (listener.function == nullptr) return {StatusCode::bad_value, "a listener has a function", 0};
  MapUnloadListener* const end = unload_listeners_ + unload_listener_count_;
  if (std::find(unload_listeners_, end, listener) != end) return {StatusCode::in_use, "it listens already", 0};
  if (unload_listener_count_ == kMaxUnloadListeners) {
    return {StatusCode::out_of_slots, "too many listen for maps that go; detail = most", kMaxUnloadListeners};
  }
  unload_listeners_[unload_listener_count_++] = listener;
  return {};
}

void MapWorld::remove_unload_listener(const MapUnloadListener& listener) {
  MapUnloadListener* const end = unload_listeners_ + unload_listener_count_;
  MapUnloadListener* const at = std::find(unload_listeners_, end, listener);
  MERIDIAN_ASSERT(at != end, "it listens");
  if (at == end) return;
  std::move(at + 1, end, at);
  unload_listeners_[--unload_listener_count_] = {};
}

/// Goes by a copy: listeners may come and go meanwhile. Those that went are not called any more.
void MapWorld::tell_leaving(MapContents& contents) {
  MapUnloadListener listeners[kMaxUnloadListeners];
  const uint32_t count = unload_listener_count_;
  std::copy_n(unload_listeners_, count, listeners);
  contents.is_leaving_ = true;
  for (uint32_t i = 0; i < count; ++i) {
    const MapUnloadListener& to = listeners[i];
    const MapUnloadListener* const end = unload_listeners_ + unload_listener_count_;
    if (to.slot != kNoImap && to.slot != contents.slot()) continue;
    if (std::find(static_cast<const MapUnloadListener*>(unload_listeners_), end, to) == end) continue;
    to.function(to.user, contents);
  }
  contents.is_leaving_ = false;
}

void MapWorld::destroy(MapContents& contents) {
  contents.unload();
  contents_.destroy(contents);
}

Status MapWorld::replace(MapContents& old, MapContents& now) {
  MERIDIAN_ASSERT(&old != &now && now.is_aside_ && !old.is_aside_, "a version that is aside takes another's place");
  const bool may = &old != &now && now.is_aside_ && !old.is_aside_ && !old.is_loading() && !now.is_loading();
  const Status not_now{StatusCode::in_use, "a map is replaced while none of its versions load, outside the lock", 0,
                       old.name_};
  if (!may || is_busy()) return not_now;
  if (!old.is_given_up_ && old.is_any_told()) tell_leaving(old);
  old.is_given_up_ = true;
  if (is_busy()) return not_now;
  const bool is_shown = old.is_shown_;
  hold_lod_sets();
  (void)old.hide();
  old.go_aside();
  now.come_into_force();
  while (old.first_child_ != nullptr) {
    MapContents& child = *old.first_child_;
    child.unbind_parent();
    if (const Status s = child.bind_parent(now); !s.ok()) {
      log_message(LogLevel::error, child.name(), "map %s: not all of it is right below its new parent: %s",
                  name_text(child.name()).text, s.message);
    }
  }
  std::swap(old.slot_, now.slot_);
  old.tell_slot();
  now.tell_slot();
  const Status shown = is_shown ? now.show() : Status{};
  MERIDIAN_ASSERT(shown.ok(), "outside the lock, a loaded map can be shown");
  release_lod_sets();
  return shown;
}

void MapWorld::move_dependencies(ItypSlot from, ItypSlot to) {
  for (MapContents* m = first_loading_; m != nullptr; m = m->loading_->next) m->move_dependency(from, to);
}

// --- names that mean another archetype -----------------------------------------------------------------

/// Under a lock entities keep what they have until it goes: their type files cannot leave meanwhile.
void MapWorld::meaning_changed(void* user, NameHash name, Archetype* before, Archetype* now) {
  MapWorld& maps = *static_cast<MapWorld*>(user);
  for (MapContents* m = maps.first_loading_; m != nullptr; m = m->loading_->next) m->check_meaning(name);
  if (now == nullptr) {  // entities of the old one wait for another
    if (before->references() > 0) maps.add_changed(name);
    return;
  }
  const bool is_awaited = maps.is_changed(name);
  if (before != nullptr ? before->references() == 0 && !is_awaited : !is_awaited) return;  // as most: nobody is of it
  maps.add_changed(name);
  maps.is_refresh_due_ = true;
}

void MapWorld::meanings_settled(void* user) {
  MapWorld& maps = *static_cast<MapWorld*>(user);
  if (!maps.is_refresh_due_) return;
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
  if (!is_refresh_due_ || config_.scene->graph().is_locked()) return;
  is_refresh_due_ = false;
  bool any_waits = false;
  for (MapContents& contents : contents_) any_waits |= contents.take_archetypes();
  if (changed_count_ > kMaxChanged) {
    if (!any_waits) changed_count_ = 0;
    return;
  }
  // Those that mean nothing stay, until they mean something.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < changed_count_; ++i) {
    if (config_.archetypes->find(changed_[i]) == nullptr) changed_[kept++] = changed_[i];
  }
  changed_count_ = kept;
}

}  // namespace meridian
