// SPDX-License-Identifier: MIT
// Which LOD sets are ready: all their children are there, and the host has what it takes to draw them.
#include "map/lod_sets.h"
#include "meridian/base/assert.h"
#include "meridian/entity/entity_hours.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

/// The set of a parent, if the linker listed its children. Sets ascend by parent: open_resource checks it.
const schema::LodSet* find_listed(const schema::MapData& map, uint32_t parent_index) {
  const auto* const sets = map.lod_sets();
  uint32_t low = 0, high = detail::size_of(sets);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (sets->Get(middle)->parent_index() < parent_index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < detail::size_of(sets) && sets->Get(low)->parent_index() == parent_index ? sets->Get(low) : nullptr;
}

/// Calls `found` with each set of a map that lists a map which `is_it` knows.
template <class IsIt, class Found>
void for_sets_listing(const schema::MapData& map, const IsIt& is_it, const Found& found) {
  for (uint32_t s = 0; s < detail::size_of(map.lod_sets()); ++s) {
    const schema::LodSet& set = *map.lod_sets()->Get(s);
    for (uint32_t i = 0; i < detail::size_of(set.children()); ++i) {
      if (!is_it(set.children()->Get(i)->map())) continue;
      found(set.parent_index());
      break;
    }
  }
}

/// Children that a map makes at a priority cap. [count]
uint64_t count_at(const schema::LodSetChildren& row, uint8_t cap) {
  const uint32_t counts[] = {row.required(), row.optional_high(), row.optional_medium(), row.optional_low()};
  uint64_t out = 0;
  for (uint32_t priority = 0; priority < 4 && priority <= cap; ++priority) out += counts[priority];
  return out;
}

bool is_named(const MapContents& map, uint32_t name) { return map.name().value == name || map.data().name() == name; }

}  // namespace

// --- asking for it -------------------------------------------------------------------------------------

void MapLodSets::update(float seconds) {
  sync();
  (void)maps_.lod_sets_.update(seconds);  // before others become ready: those begin at 0
  if (lacks_records_ && maps_.lod_sets_.used() < maps_.lod_sets_.capacity()) {
    lacks_records_ = false;
    for (MapContents& map : maps_.contents_) {
      if (map.lacks_lod_sets_) shown(map);
    }
  }
  // What was out of hours counted as ready without being asked for.
  if (const uint32_t hour = maps_.config_.scene->hour(); hour != hour_) {
    hour_ = hour;
    if (maps_.config_.host.is_ready != nullptr) {
      for (MapContents& map : maps_.contents_) judge_all(map);
    }
  }
  for (uint32_t i = asking_count_; i-- > 0;) judge(asking_[i]);  // from the end: see stop_asking
}

void MapLodSets::refresh(const Entity& entity) {
  sync();
  MapContents* const map = maps_.find(entity.imap());
  if (map == nullptr || !map->is_shown_) return;
  const uint32_t index = entity.handle().slot - map->handle(0).slot;
  if (map->entity(index) != &entity) return;  // of an interior
  const uint16_t row = child_row(*map, index);
  if (row < map->links_.size() && map->lod_ids_[row] != kNoLodSetId) judge(map->lod_ids_[row]);
}

void MapLodSets::recount(NameHash name) {
  sync();
  for (MapContents& map : maps_.contents_) {
    if (!map.is_shown_) continue;
    for_sets_listing(
        *map.map_, [&](uint32_t listed) { return listed == name.value; },
        [&](uint32_t parent_index) {
          if (const uint32_t id = id_of(map, parent_index); id != kNoLodSetId) judge(id);
        });
  }
}

/// Which maps it was about is not kept, so all are looked at.
void MapLodSets::let_go() {
  MERIDIAN_ASSERT(held_ > 0, "sets are released as often as they are held");
  if (held_ == 0 || --held_ > 0 || !has_missed_) return;
  has_missed_ = false;
  for (MapContents& map : maps_.contents_) judge_all(map);
}

// --- judging -------------------------------------------------------------------------------------------

/// Whether a row must be there. Maps that stream by themselves must; the host knows which do not.
bool MapLodSets::counts(const MapContents& map, const schema::LodSetChildren& row) const {
  const MapWorldConfig& config = maps_.config_;
  return config.is_counted == nullptr || is_named(map, row.map()) ||
         config.is_counted(config.is_counted_user, NameHash{row.map()});
}

/// The map of a row among those that are bound to the set's map, shown or not. A grass map may carry another one's name,
/// but has no entities.
MapContents* MapLodSets::find_child(const MapContents& map, const schema::LodSetChildren& row) {
  const uint64_t all = count_at(row, 3);
  MapContents* at = map.first_child_;
  while (at != nullptr && (at->is_aside_ || !is_named(*at, row.map()) || at->entity_count() < all)) {
    at = at->next_sibling_;
  }
  return at;
}

/// The children of a set that one map holds: whether there are any, and whether the host is ready with all of them.
/// False: it is not.
bool MapLodSets::look_at_children(MapContents& in, bool in_parent, uint32_t parent_index, Verdict& verdict,
                                  bool& any) const {
  const LodLinkRow* const row = find_link(in.links_, in_parent, parent_index);
  if (row == nullptr) return true;
  list_children(in);
  const EntityHost& host = maps_.config_.host;
  for (uint32_t i = in.lod_heads_[static_cast<size_t>(row - in.links_.data())]; i != kNoEntity; i = in.lod_next_[i]) {
    const Entity* const child = in.entities_[i];
    if (child == nullptr) continue;  // left out, or gone
    if (!any) verdict.level = child->lod().level();
    any = true;
    const bool is_seen = child->is_visible() && is_active(*child, true);
    if (is_seen && !host.ready(*child)) return false;
  }
  return true;
}

/// A set without children is never ready: its parent would give way to nothing.
MapLodSets::Verdict MapLodSets::look(const Home& home, const MapContents* leaving) const {
  MapContents& map = *home.map;
  Verdict out;
  bool any = false;
  const schema::LodSet* const set = find_listed(*map.map_, home.parent_index);
  if (set == nullptr) {  // nobody linked it: there is what its own map names
    const bool all = look_at_children(map, false, home.parent_index, out, any);
    out.is_complete = any;
    out.is_ready = any && all;
    return out;
  }
  const auto is_there = [&](const MapContents* in) { return in != nullptr && in->is_shown_ && in != leaving; };
  const uint32_t rows = detail::size_of(set->children());
  for (uint32_t i = 0; i < rows; ++i) {
    const schema::LodSetChildren& row = *set->children()->Get(i);
    if (is_named(map, row.map()) || !counts(map, row)) continue;  // this map is there
    const MapContents* const in = find_child(map, row);
    const uint8_t cap = in != nullptr ? in->priority_cap_ : map.priority_cap_;
    if (!is_there(in) && count_at(row, cap) > 0) return out;
  }
  bool all = true;
  for (uint32_t i = 0; i < rows && all; ++i) {  // the first that is not ready says all: there are children
    const schema::LodSetChildren& row = *set->children()->Get(i);
    const bool is_own = is_named(map, row.map());
    if (!is_own && !counts(map, row)) continue;
    MapContents* const in = is_own ? &map : find_child(map, row);
    if (is_there(in)) all = look_at_children(*in, !is_own, home.parent_index, out, any);
  }
  out.is_complete = any;
  out.is_ready = any && all;
  return out;
}

void MapLodSets::judge(uint32_t id, const MapContents* leaving) {
  if (held_ > 0) {
    has_missed_ = true;
    return;
  }
  const Verdict verdict = look(homes_[id], leaving);
  if (verdict.is_ready) (void)maps_.lod_sets_.set_level(id, verdict.level);
  (void)maps_.lod_sets_.set_ready(id, verdict.is_ready);
  if (verdict.is_complete && !verdict.is_ready) {
    ask(id);
  } else {
    stop_asking(id);
  }
}

void MapLodSets::judge_all(MapContents& map) {
  for (uint32_t id = map.first_lod_set_; id != kNoLodSetId; id = homes_[id].next) judge(id);
}

/// The sets of a map that list a child map.
void MapLodSets::judge_naming(MapContents& map, const MapContents& child, const MapContents* leaving) {
  if (!map.is_shown_) return;
  for_sets_listing(
      *map.map_, [&](uint32_t listed) { return is_named(child, listed); },
      [&](uint32_t parent_index) {
        if (const uint32_t id = id_of(map, parent_index); id != kNoLodSetId) judge(id, leaving);
      });
}

void MapLodSets::ask(uint32_t id) {
  if (homes_[id].place != kNone) return;
  homes_[id].place = asking_count_;
  asking_[asking_count_++] = id;
}

/// The last one takes its place.
void MapLodSets::stop_asking(uint32_t id) {
  const uint32_t place = homes_[id].place;
  if (place == kNone) return;
  const uint32_t last = asking_[--asking_count_];
  asking_[place] = last;
  homes_[last].place = place;
  homes_[id].place = kNone;
}

// --- the world's part ----------------------------------------------------------------------------------

Status MapWorld::update_lod_sets(float seconds) {
  MERIDIAN_ASSERT(seconds >= 0, "time passes forwards");
  if (!(seconds >= 0)) return {};
  if (const Status s = check_lod_sets(); !s.ok()) return s;
  lod_->update(seconds);
  return {};
}

Status MapWorld::refresh_lod_set(const Entity& entity) {
  if (const Status s = check_lod_sets(); !s.ok()) return s;
  lod_->refresh(entity);
  return {};
}

Status MapWorld::recount(NameHash map) {
  if (const Status s = check_lod_sets(); !s.ok()) return s;
  lod_->recount(map);
  return {};
}

void MapWorld::hold_lod_sets() { lod_->hold(); }
void MapWorld::release_lod_sets() { lod_->let_go(); }

Status MapWorld::check_lod_sets() const {
  MERIDIAN_ASSERT(lod_ != nullptr, "maps are initialised");
  const bool is_locked = lod_ != nullptr && config_.scene->graph().is_locked();
  MERIDIAN_ASSERT(!is_locked, "LOD sets are not written while the scene is locked");
  if (lod_ != nullptr && !is_locked) return {};
  return {StatusCode::in_use, "the scene is locked: write LOD sets after the unlock", 0};
}

}  // namespace meridian
