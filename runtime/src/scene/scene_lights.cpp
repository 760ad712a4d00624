// SPDX-License-Identifier: MIT
// Lights: one list in the order of handles, and changes that are merged into it in one pass.
#include <algorithm>

#include "meridian/base/assert.h"
#include "scene/desc_bounds.h"
#include "scene/scene_records.h"

namespace meridian {

Status SceneGraph::change_light(EntityHandle light, const EntityDesc& desc) {
  if (light_change_count_ == capacities_.light_updates) {
    if (locks_ > 0) {
      return {StatusCode::in_use, "too many changes of lights wait for the unlock; detail = most", light_change_count_};
    }
    if (Status flushed = flush_lights(); !flushed.ok()) return flushed;
    if (capacities_.light_updates == 0) return {StatusCode::out_of_slots, "the scene has no room for lights", 0};
  }
  LightChange& change = light_changes_[light_change_count_];
  change.desc = desc;
  change.desc.handle = detail::light_key(light);
  change.sequence = light_change_count_++;
  return {};
}

Status SceneGraph::set_light(EntityHandle light, const EntityDesc& desc) {
  if (!light) return {StatusCode::bad_value, "a light has a handle", 0};
  if (const Status good = detail::check_desc(desc); !good.ok()) return good;
  // Waiting changes may all be new lights; only merging tells. One that is there already needs no room.
  const auto has_room = [&] {
    return light_count_ + light_change_count_ < capacities_.lights || find_light(light) != nullptr;
  };
  if (!has_room() && light_change_count_ > 0 && locks_ == 0) {
    if (Status flushed = flush_lights(); !flushed.ok()) return flushed;
  }
  if (!has_room()) return {StatusCode::out_of_slots, "too many lights; detail = most", capacities_.lights};
  return change_light(light, desc);
}

Status SceneGraph::remove_light(EntityHandle light) {
  EntityDesc gone;
  gone.distance = 0;
  return change_light(light, gone);
}

/// In the list, or null.
EntityDesc* SceneGraph::find_light(EntityHandle light) const {
  const uint64_t key = detail::light_key(light);
  EntityDesc* const end = lights_ + light_count_;
  EntityDesc* const at =
      std::lower_bound(lights_, end, key, [](const EntityDesc& d, uint64_t k) { return d.handle < k; });
  return at != end && at->handle == key ? at : nullptr;
}

Status SceneGraph::flush_lights() {
  if (light_change_count_ == 0 && !lights_lack_room_) return {};
  if (refuse_if_locked()) return refused();
  std::sort(light_changes_, light_changes_ + light_change_count_, [](const LightChange& a, const LightChange& b) {
    return a.desc.handle != b.desc.handle ? a.desc.handle < b.desc.handle : a.sequence < b.sequence;
  });
  uint32_t out = 0, old = 0;
  for (uint32_t i = 0; i < light_change_count_; ++i) {
    const EntityDesc& change = light_changes_[i].desc;
    if (i + 1 < light_change_count_ && light_changes_[i + 1].desc.handle == change.handle) continue;  // a later one
    while (old < light_count_ && lights_[old].handle < change.handle) merged_[out++] = lights_[old++];
    if (old < light_count_ && lights_[old].handle == change.handle) ++old;
    if (change.distance > 0) merged_[out++] = change;
  }
  while (old < light_count_) merged_[out++] = lights_[old++];
  std::swap(lights_, merged_);
  light_count_ = out;
  light_change_count_ = 0;
  return rewrite_lights();
}

/// Lays the list out in containers anew. Slots of lights are nobody's to keep, so that all of them may move.
Status SceneGraph::rewrite_lights() {
  uint32_t done = 0, container = root_->first_container_;
  Status status;
  for (;;) {
    while (container != kNoContainer && (table_.views[container].flags & kContainerLights) == 0) {
      container = records_[container].next;
    }
    if (done == light_count_) break;
    if (container == kNoContainer) {
      status = make_normal(*root_, kContainerSlots, kContainerLights, container);
      if (!status.ok()) break;
    }
    Record& record = records_[container];
    ContainerView& view = table_.views[container];
    const DescLanes lanes = desc_lanes(view);
    auto* const handles = const_cast<EntityHandle*>(view.handles);
    const uint32_t count = std::min(light_count_ - done, kContainerSlots);
    for (uint32_t i = 0; i < view.capacity; ++i) {
      handles[i] = i < count ? detail::light_handle(lights_[done + i].handle) : EntityHandle{};
      if (i >= count) {
        store_never_visible(lanes, i, kNoEntity);
        continue;
      }
      const EntityDesc& light = lights_[done + i];
      if ((light.flags & kDescSpawnPoints) != 0) view.flags |= kContainerSpawnPoints;
      detail::store_host_desc(lanes, i, light);
    }
    for (uint32_t s = 0; s < kContainerSubBlocks; ++s) {
      const uint32_t from = s * kSubBlockSlots, in_block = count > from ? std::min(count - from, kSubBlockSlots) : 0;
      record.used[s] = in_block == kSubBlockSlots ? ~0u : (1u << in_block) - 1;
      touch(container, from);
    }
    record.count = static_cast<uint16_t>(count);
    view.slots = static_cast<uint16_t>(count);
    tighten_container(container);
    detail::merge(node_bounds_[root_->index_], table_.bounds[container]);
    refresh_view(container);
    done += count;
    container = records_[container].next;
  }
  while (container != kNoContainer) {  // those that are not needed any more
    const uint32_t next = records_[container].next;
    if ((table_.views[container].flags & kContainerLights) != 0) release_container(container);
    container = next;
  }
  lights_lack_room_ = !status.ok();
  return status;
}

}  // namespace meridian
