// SPDX-License-Identifier: MIT
// Records of LOD sets, and the rows that point at them. Which sets are ready: lod_readiness.cpp.
#include "map/lod_sets.h"

#include <algorithm>
#include <new>

#include "map/resolve.h"
#include "meridian/base/assert.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

size_t block_bytes(size_t header, size_t home, uint32_t capacity) {
  return header + capacity * (home + sizeof(uint32_t));
}

/// Level of what an entity of a level stands for, where no child says so.
constexpr uint8_t level_below(uint32_t level) {
  constexpr uint8_t kBelow[kLodLevels] = {0, 0, 1, 2, 3, 0, 4};
  return level < kLodLevels ? kBelow[level] : uint8_t{0};
}

}  // namespace

Status MapLodSets::make(MapWorld& maps) {
  const MapWorldConfig& config = maps.config_;
  const LodSetConfig table{.capacity = config.lod_sets,
                           .ramp_seconds = config.lod_ramp_seconds,
                           .graph = &config.scene->graph(),
                           .tracker = config.tracker};
  if (const Status s = maps.lod_sets_.init(table, *maps.allocator_); !s.ok()) return s;
  static_assert(sizeof(MapLodSets) % alignof(Home) == 0 && alignof(MapLodSets) >= alignof(Home));
  const size_t bytes = block_bytes(sizeof(MapLodSets), sizeof(Home), config.lod_sets);
  auto* const block = static_cast<std::byte*>(maps.allocator_->allocate(bytes, alignof(MapLodSets)));
  if (block == nullptr) {
    maps.lod_sets_.shutdown();
    return {StatusCode::out_of_memory, "no memory for LOD sets; detail = bytes", bytes};
  }
  auto* const self = ::new (static_cast<void*>(block)) MapLodSets(maps);
  self->homes_ = reinterpret_cast<Home*>(block + sizeof(MapLodSets));
  self->asking_ = reinterpret_cast<uint32_t*>(self->homes_ + config.lod_sets);
  self->hour_ = config.scene->hour();
  maps.lod_ = self;
  return {};
}

void MapLodSets::destroy(MapWorld& maps) {
  if (maps.lod_ == nullptr) return;
  const size_t bytes = block_bytes(sizeof(MapLodSets), sizeof(Home), maps.config_.lod_sets);
  maps.allocator_->deallocate(maps.lod_, bytes, alignof(MapLodSets));
  maps.lod_ = nullptr;
  maps.lod_sets_.shutdown();
}

/// Rows that its link table may ever have, from the file or made here.
uint32_t MapContents::lod_rows() const {
  const bool has_cooked = map_->cooked() != nullptr;
  const size_t cooked = has_cooked ? detail::size_of(map_->cooked()->links()) : 0;
  return static_cast<uint32_t>(std::max(lod_link_bound(*map_), cooked));
}

/// Requires: room for two words a row and one an entity.
void MapContents::take_lod_memory(std::span<std::byte> memory, uint32_t rows) {
  auto* const words = reinterpret_cast<uint32_t*>(memory.data());
  lod_ids_ = {words, rows};
  lod_heads_ = {words + rows, rows};
  lod_next_ = {words + size_t{rows} * 2, entities_.size()};
  std::fill(lod_ids_.begin(), lod_ids_.end(), kNoLodSetId);
}

// --- what happens to maps ------------------------------------------------------------------------------

void MapLodSets::shown(MapContents& map) {
  sync();
  make_records(map);
  resolve(map);
  for (MapContents* child = map.first_child_; child != nullptr; child = child->next_sibling_) resolve(*child);
  judge_all(map);
  if (map.parent_ != nullptr) judge_naming(*map.parent_, map);
}

void MapLodSets::hiding(MapContents& map) {
  sync();
  if (map.parent_ != nullptr) judge_naming(*map.parent_, map, &map);
  for (MapContents* child = map.first_child_; child != nullptr; child = child->next_sibling_) detach(*child);
  release_all(map);
  std::fill(map.lod_ids_.begin(), map.lod_ids_.end(), kNoLodSetId);
}

/// One that is not shown counts too: it says what there is to wait for at its own priority cap.
void MapLodSets::bound(MapContents& child) {
  if (!child.parent_->is_shown_ || make_stale_if_locked()) return;
  sync();
  resolve(child);
  judge_naming(*child.parent_, child);
}

void MapLodSets::unbound(MapContents& child, MapContents& parent) {
  if (!parent.is_shown_ || make_stale_if_locked()) return;
  sync();
  detach(child);
  judge_naming(parent, child);
}

/// Records stay with their parents, so that what is ready stays ready, wherever their rows are now.
void MapLodSets::rebuilt(MapContents& map) {
  map.lod_children_listed_ = false;
  if (!map.is_shown_) return;
  for (MapContents* child = map.first_child_; child != nullptr; child = child->next_sibling_) detach(*child);
  std::fill(map.lod_ids_.begin(), map.lod_ids_.end(), kNoLodSetId);
  uint32_t list = map.first_lod_set_;
  map.first_lod_set_ = kNoLodSetId;
  for (uint32_t id = list; id != kNoLodSetId; id = homes_[id].next) (void)maps_.lod_sets_.set_up(id, kNoLodSetId);
  while (list != kNoLodSetId) {
    const uint32_t id = list;
    Home& home = homes_[id];
    list = home.next;
    const LodLinkRow* const row = find_link(map.links_, false, home.parent_index);
    const bool stays = row != nullptr && map.entity(home.parent_index) != nullptr &&
                       maps_.lod_sets_.place(id, row->pivot, row->distance).ok();
    if (stays) {
      map.lod_ids_[static_cast<size_t>(row - map.links_.data())] = id;
      home.next = map.first_lod_set_;
      map.first_lod_set_ = id;
    } else {
      stop_asking(id);
      (void)maps_.lod_sets_.release(id);
    }
  }
  shown(map);
}

void MapLodSets::left(MapContents& map, uint32_t entity) {
  if (!map.is_shown_) return;
  sync();
  const uint16_t row = child_row(map, entity);
  if (const uint32_t id = id_of(map, entity); id != kNoLodSetId) {
    const auto forget = [&](MapContents& in) {
      std::replace(in.lod_ids_.begin(), in.lod_ids_.end(), id, kNoLodSetId);
      for (uint32_t at = in.first_lod_set_; at != kNoLodSetId; at = homes_[at].next) {
        if (maps_.lod_sets_.find(at)->up == id) (void)maps_.lod_sets_.set_up(at, kNoLodSetId);
      }
    };
    forget(map);
    for (MapContents* child = map.first_child_; child != nullptr; child = child->next_sibling_) forget(*child);
    uint32_t* link = &map.first_lod_set_;
    while (*link != id) link = &homes_[*link].next;
    *link = homes_[id].next;
    release(id);
  }
  if (row < map.links_.size() && map.lod_ids_[row] != kNoLodSetId) judge(map.lod_ids_[row]);
}

// --- under a lock --------------------------------------------------------------------------------------

bool MapLodSets::make_stale_if_locked() {
  if (!is_locked()) return false;
  is_stale_ = true;
  if (is_sync_deferred_) return true;
  const auto later = [](World&, void* self, uint64_t) {
    auto& sets = *static_cast<MapLodSets*>(self);
    sets.is_sync_deferred_ = false;
    sets.sync();
  };
  // Where no more fit, whatever comes next sees to it.
  is_sync_deferred_ = maps_.config_.world->defer(call_change(later, this, 0)).ok();
  return true;
}

/// After binds under a lock: which maps they were about is not kept, so all are looked at.
void MapLodSets::sync() {
  if (!is_stale_ || is_locked()) return;
  is_stale_ = false;
  for (MapContents& map : maps_.contents_) detach(map);
  for (MapContents& map : maps_.contents_) resolve(map);
  for (MapContents& map : maps_.contents_) judge_all(map);
}

// --- records and rows ----------------------------------------------------------------------------------

/// For each parent that is there and has none.
void MapLodSets::make_records(MapContents& map) {
  map.lacks_lod_sets_ = false;
  for (uint32_t row = 0; row < map.links_.size() && !map.links_[row].in_parent; ++row) {
    const LodLinkRow& link = map.links_[row];
    const Entity* const parent = map.entity(link.parent_index);
    if (map.lod_ids_[row] != kNoLodSetId || parent == nullptr) continue;
    const Result<uint32_t> made = maps_.lod_sets_.create(link.pivot, link.distance, level_below(parent->lod().level()));
    if (!made.ok()) {
      map.lacks_lod_sets_ = map.lacks_lod_sets_ || made.status().code == StatusCode::out_of_slots;
      continue;
    }
    const uint32_t id = made.value();
    ::new (static_cast<void*>(homes_ + id)) Home{&map, link.parent_index, map.first_lod_set_, kNone};
    map.first_lod_set_ = id;
    map.lod_ids_[row] = id;
  }
  lacks_records_ = lacks_records_ || map.lacks_lod_sets_;
}

void MapLodSets::release(uint32_t id) {
  stop_asking(id);
  const Status released = maps_.lod_sets_.release(id);
  MERIDIAN_ASSERT(released.ok(), "no set stands below one that goes");
  (void)released;
}

void MapLodSets::release_all(MapContents& map) {
  for (uint32_t id = map.first_lod_set_; id != kNoLodSetId; id = homes_[id].next) {
    (void)maps_.lod_sets_.set_up(id, kNoLodSetId);
  }
  while (map.first_lod_set_ != kNoLodSetId) {
    const uint32_t id = map.first_lod_set_;
    map.first_lod_set_ = homes_[id].next;
    release(id);
  }
  map.lacks_lod_sets_ = false;
}

/// Points rows at the parent map's sets, and the map's own sets at those above them.
void MapLodSets::resolve(MapContents& map) {
  if (!map.is_shown_) return;
  const bool has_parent = map.parent_ != nullptr && map.parent_->is_shown_;
  for (uint32_t row = 0; row < map.links_.size(); ++row) {
    if (!map.links_[row].in_parent) continue;
    map.lod_ids_[row] = has_parent ? id_of(*map.parent_, map.links_[row].parent_index) : kNoLodSetId;
  }
  for (uint32_t row = 0; row < map.links_.size() && !map.links_[row].in_parent; ++row) {
    if (map.lod_ids_[row] == kNoLodSetId) continue;
    const uint16_t up = map.links_[row].up;
    // Those that stand too high above each other are bad data; they are cut.
    (void)maps_.lod_sets_.set_up(map.lod_ids_[row], up < map.links_.size() ? map.lod_ids_[up] : kNoLodSetId);
  }
}

/// No row of the map, and no set of it, leads into another map.
void MapLodSets::detach(MapContents& map) {
  if (!map.is_shown_) return;
  for (uint32_t row = 0; row < map.links_.size(); ++row) {
    if (map.links_[row].in_parent) {
      map.lod_ids_[row] = kNoLodSetId;
    } else if (const uint16_t up = map.links_[row].up;
               map.lod_ids_[row] != kNoLodSetId && up < map.links_.size() && map.links_[up].in_parent) {
      (void)maps_.lod_sets_.set_up(map.lod_ids_[row], kNoLodSetId);
    }
  }
}

/// The set whose parent is that entity of the map, or kNoLodSetId.
uint32_t MapLodSets::id_of(const MapContents& map, uint32_t parent_index) {
  if (!map.is_shown_) return kNoLodSetId;
  const LodLinkRow* const row = find_link(map.links_, false, parent_index);
  return row != nullptr ? map.lod_ids_[static_cast<size_t>(row - map.links_.data())] : kNoLodSetId;
}

/// The row of the set in which an entity is a child, or kNoLodSet. As link_of has it: one that is a parent too goes by
/// its set, whose link up may have been cut.
uint16_t MapLodSets::child_row(const MapContents& map, uint32_t entity) {
  const std::span<const LodLinkRow> links = map.links_;
  if (const LodLinkRow* const own = find_link(links, false, entity)) return own->up;
  const schema::EntityDef& e = *map.map_->entities()->Get(entity);
  if (e.parent_index() < 0) return kNoLodSet;
  const bool in_parent = detail::has_flag(e, schema::EntityFlags::lod_in_parent);
  const LodLinkRow* const row = find_link(links, in_parent, static_cast<uint32_t>(e.parent_index()));
  return row != nullptr ? static_cast<uint16_t>(row - links.data()) : kNoLodSet;
}

/// Chains the children of each row, in the order of the file.
void MapLodSets::list_children(MapContents& map) {
  if (map.lod_children_listed_) return;
  map.lod_children_listed_ = true;
  std::fill(map.lod_heads_.begin(), map.lod_heads_.end(), kNoEntity);
  for (uint32_t i = map.entity_count(); i-- > 0;) {
    const uint16_t row = child_row(map, i);
    if (row >= map.links_.size()) continue;
    map.lod_next_[i] = map.lod_heads_[row];
    map.lod_heads_[row] = i;
  }
}

}  // namespace meridian
