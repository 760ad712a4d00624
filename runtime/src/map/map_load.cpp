// SPDX-License-Identifier: MIT
// How a load goes on from step to step, begins anew, and ends. What the passes do: map_load_steps.cpp, map_blocks.cpp.
#include <algorithm>
#include <cstring>

#include "map/loading.h"
#include "map/lod_sets.h"
#include "meridian/base/assert.h"
#include "meridian/map/map_world.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {

using detail::size_of;

Status MapContents::begin(MapWorld& maps, const Resource& resource, const MapPlacement& placement) {
  maps_ = &maps;
  map_ = resource.root<schema::MapData>();
  slot_ = placement.slot;
  name_ = placement.name.value != 0 ? placement.name : NameHash{map_->name()};
  entity_count_ = size_of(map_->entities());
  priority_cap_ = placement.priority_cap;
  is_aside_ = placement.aside;
  const MapParts lists = parts();
  const uint32_t n = entity_count_, lists_count = lists.prop_list_count() + lists.grass_batch_count();
  // Blocks are copied where the linker made them for a world that did not move; most of the time they are right.
  const bool may_copy = map_->cooked() != nullptr && maps.config_.world->origin() == WorldOrigin{};
  const uint32_t built = may_copy ? lists_count : std::max(n, lists_count);
  detail::TempBlock temp(*maps.allocator_);
  const auto plan_loading = temp.plan<Loading>(1);
  const auto plan_archetypes = temp.plan<Archetype*>(n);
  const auto plan_traits = temp.plan<const ArchetypeTraits*>(n);
  const auto plan_types = temp.plan<uint8_t>(n);
  const auto plan_gone = temp.plan<bool>(n), plan_published = temp.plan<bool>(placement.dependencies.size());
  const auto plan_parents = temp.plan<LodParent>(n);
  const auto plan_dependencies = temp.plan<ItypSlot>(placement.dependencies.size());
  const auto plan_build = detail::BlockMemory::plan(temp, built);
  if (const Status s = temp.take(); !s.ok()) return s;
  Loading& in = *::new (static_cast<void*>(temp.raw(plan_loading).data()))
                    Loading(*maps.config_.archetypes, maps.config_.scene->classes());
  in.count = n;
  in.priority_cap = placement.priority_cap;
  in.archetypes = temp.raw(plan_archetypes);
  in.traits = temp.raw(plan_traits);
  in.types = temp.raw(plan_types);
  in.gone = temp.make(plan_gone);
  in.parents = temp.raw(plan_parents);
  in.published = temp.raw(plan_published);
  const std::span<ItypSlot> dependencies = temp.raw(plan_dependencies);
  std::copy(placement.dependencies.begin(), placement.dependencies.end(), dependencies.begin());
  in.dependencies = in.own_dependencies = dependencies;
  in.build = detail::BlockMemory::of(temp, plan_build);
  in.build_most = built;
  in.memory = temp.release();
  in.next = maps.first_loading_;
  loading_ = &in;
  maps.first_loading_ = this;
  if (placement.parent != nullptr) join_parent(*placement.parent);
  return begin_anew();
}

/// Takes back what was made and starts with the first pass.
/// Errors: in_use (locked: what was made may have come to stand in the world).
Status MapContents::begin_anew() {
  Loading& in = *loading_;
  if (group_ || !entities_.empty()) {
    const Status locked{StatusCode::in_use, "the scene is locked: the load begins anew after the unlock", 0, name_};
    const SceneGraph& graph = maps_->config_.scene->graph();
    if (graph.is_locked()) return locked;
    if (is_any_told()) maps_->tell_leaving(*this);
    if (graph.is_locked()) return locked;
    take_back();
  }
  if (in.pass > 0 || in.at > 0) ++maps_->statistics_.restarts;
  in.pass = 0;
  in.at = 0;
  in.is_stale = in.hours_differ = in.any_over = false;
  in.told = 0;
  in.said = {};
  in.instances = Loading::Instances(map_->mlo_instances());
  in.resolver.forget();
  in.names.clear();
  std::fill(std::begin(in.counts), std::end(in.counts), 0u);
  in.has_interiors = in.host_fills = in.may_use_cooked = in.use_cooked = in.builds = false;
  in.fingerprint = kFingerprintStart;
  in.blocks = {};
  in.hour = maps_->config_.scene->hour();
  for (size_t i = 0; i < in.dependencies.size(); ++i) {
    in.published[i] = maps_->config_.archetypes->is_published(in.dependencies[i]);
  }
  return {};
}

Status MapContents::step(uint32_t max_entities, MapLoadProgress& out) {
  using Pass = Status (MapContents::*)(Loading&);
  static constexpr Pass kPasses[] = {
      &MapContents::find_archetypes,     &MapContents::check_cooked,   &MapContents::take_arrays,
      &MapContents::make_entities,       &MapContents::make_batches,   &MapContents::make_extensions,
      &MapContents::make_node,           &MapContents::link_entities,  &MapContents::describe_entities,
      &MapContents::build_entity_blocks, &MapContents::place_blocks,   &MapContents::place_batch_blocks,
      &MapContents::tag_containers,      &MapContents::bind_inside,    &MapContents::bind_outside,
      &MapContents::tell_host,           &MapContents::make_interiors,
  };
  Loading& in = *loading_;
  in.budget = in.left = max_entities;
  for (size_t i = 0; i < in.dependencies.size(); ++i) {
    // What a file that is hidden defines becomes available without any name meaning something else.
    if (in.published[i] != maps_->config_.archetypes->is_published(in.dependencies[i])) set_stale();
  }
  in.hours_differ |= in.hour != maps_->config_.scene->hour();
  while (in.pass < std::size(kPasses)) {
    if (in.is_stale) {
      if (const Status s = begin_anew(); !s.ok()) return s;
    }
    in.is_over = false;
    const Pass pass = kPasses[in.pass];  // by itself: GCC 12's sanitizers misread the index inside of the call
    if (const Status s = (this->*pass)(in); !s.ok()) return s;
    if (in.is_stale) continue;
    out.handled = in.budget - in.left;
    if (!in.is_over) return {};
    ++in.pass;
    in.at = 0;
    in.instances = Loading::Instances(map_->mlo_instances());
  }
  out.done = true;
  end_loading();
  if (parent_ != nullptr && !is_aside_) maps_->lod_->bound(*this);
  return {};
}

void MapContents::end_loading() {
  Loading& in = *loading_;
  MapStatistics& all = maps_->statistics_;
  all.missing_archetype += in.said.missing_archetype;
  all.above_cap += in.said.above_cap;
  all.bad_definition += in.said.bad_definition;
  all.blocks_copied += in.said.blocks_copied;
  all.blocks_built += in.said.blocks_built;
  MapContents** link = &maps_->first_loading_;
  while (*link != this) link = &(*link)->loading_->next;
  *link = in.next;
  const std::span<std::byte> memory = in.memory, more = in.more_memory;
  in.~Loading();
  loading_ = nullptr;
  detail::TempBlock::free(*maps_->allocator_, more);
  detail::TempBlock::free(*maps_->allocator_, memory);
}

MapStatistics& MapContents::statistics() { return loading_ != nullptr ? loading_->said : maps_->statistics_; }

// --- what happens between steps ------------------------------------------------------------------------

/// What was made so far does not hold any more.
void MapContents::set_stale() {
  if (loading_->pass > 0 || loading_->at > 0) loading_->is_stale = true;
}

/// A type file that it depends on has another slot.
void MapContents::move_dependency(ItypSlot from, ItypSlot to) {
  Loading& in = *loading_;
  for (ItypSlot& on : in.own_dependencies) {
    if (on != from) continue;
    on = to;
    set_stale();
  }
}

/// A name means another archetype now. Pointers to the old one are not looked at again, but by entities, which hold it.
void MapContents::check_meaning(NameHash name) {
  if (!loading_->is_stale && uses_name(name)) set_stale();
}

bool MapContents::uses_name(NameHash name) const {
  const auto is_among = [&](const auto* definitions) {
    for (uint32_t i = 0; i < size_of(definitions); ++i) {
      if (definitions->Get(i)->archetype_name() == name.value) return true;
    }
    return false;
  };
  if (loading_->names.may_have(name.value)) {
    const bool is_ours = is_among(map_->entities()) ||
                         (map_->instanced_data() != nullptr && is_among(map_->instanced_data()->grass_instance_list()));
    if (is_ours) return true;
  }
  for (const Interior* i = first_interior_; i != nullptr; i = i->next_in_map_) {
    const schema::MloArchetypeDef* const definition = i->definition();
    if (definition == nullptr) continue;
    if (is_among(definition->entities())) return true;
    for (uint32_t s = 0; s < size_of(definition->entity_sets()); ++s) {
      if (is_among(definition->entity_sets()->Get(s)->entities())) return true;
    }
  }
  return false;
}

bool MapContents::is_told_of(uint32_t index) const {
  return is_told_ || (loading_ != nullptr && index < loading_->told);
}

bool MapContents::is_any_told() const { return is_told_ || (loading_ != nullptr && loading_->told > 0); }

// --- for everybody -------------------------------------------------------------------------------------

Result<MapContents*> begin_map_load(MapWorld& maps, const Resource& resource, const MapPlacement& placement) {
  if (resource.kind() != kind_of("IMAP")) {
    return Status{StatusCode::wrong_kind, "not a map; detail = its kind", resource.kind(), placement.name};
  }
  if (maps.find(placement.slot) != nullptr) {
    return Status{StatusCode::in_use, "a map is loaded in this slot; detail = the slot", placement.slot,
                  placement.name};
  }
  if (placement.parent != nullptr && placement.parent->is_loading()) {
    return Status{StatusCode::in_use, "the parent map is loading; detail = its slot", placement.parent->slot(),
                  placement.name};
  }
  maps.refresh_archetypes();  // if there was no room to defer that
  MapContents* const contents = maps.contents_.create();
  if (contents == nullptr) {
    return Status{StatusCode::out_of_slots, "too many maps are loaded; detail = most", maps.contents_.capacity()};
  }
  const Status begun = contents->begin(maps, resource, placement);
  if (begun.ok()) return contents;
  maps.destroy(*contents);
  return begun;
}

Result<MapLoadProgress> step_map_load(MapWorld& maps, MapContents& contents, uint32_t max_entities) {
  MERIDIAN_ASSERT(max_entities > 0, "a step handles an entity at least");
  if (!contents.is_loading()) return MapLoadProgress{0, true};
  MapContents::Loading& in = *contents.loading_;
  MERIDIAN_ASSERT(!in.is_stepping, "a map is not loaded from inside its own load");
  if (in.is_stepping) return Status{StatusCode::in_use, "the map is being loaded", 0, contents.name()};
  in.is_stepping = true;
  MapLoadProgress progress;
  const Status stepped = contents.step(max_entities > 0 ? max_entities : 1, progress);
  if (!progress.done) in.is_stepping = false;
  if (stepped.ok()) return progress;
  if (stepped.code == StatusCode::in_use) return stepped;
  if (contents.is_any_told()) maps.tell_leaving(contents);
  maps.destroy(contents);
  return stepped;
}

Result<MapContents*> load_map_data(MapWorld& maps, const Resource& resource, const MapPlacement& placement) {
  const Result<MapContents*> begun = begin_map_load(maps, resource, placement);
  if (!begun.ok()) return begun;
  MapContents& contents = *begun.value();
  const Result<MapLoadProgress> loaded = step_map_load(maps, contents, UINT32_MAX);
  if (!loaded.ok()) {
    // It had to begin anew while the world was locked: only hooks can bring that about.
    if (loaded.status().code == StatusCode::in_use) maps.destroy(contents);
    return loaded.status();
  }
  if (placement.postponed) return &contents;
  Status shown;
  if (!maps.config_.world->is_locked()) {
    shown = contents.show();
  } else {
    const auto show_it = [](World&, void* self, uint64_t slot) {
      MapContents* const at = static_cast<MapWorld*>(self)->find(static_cast<ImapSlot>(slot));
      if (at != nullptr) (void)at->show();
    };
    // If no more fit, the log says so.
    (void)maps.config_.world->defer(call_change(show_it, &maps, placement.slot));
  }
  if (shown.ok()) return &contents;
  maps.tell_leaving(contents);
  maps.destroy(contents);
  return shown;
}

Status unload_map_data(MapWorld& maps, MapContents& contents) {
  const bool is_busy = contents.is_leaving_ || (contents.is_loading() && contents.loading_->is_stepping);
  MERIDIAN_ASSERT(!is_busy, "a map is not unloaded from inside its own load or unload");
  if (is_busy) return {StatusCode::in_use, "the map is being loaded or unloaded", 0, contents.name()};
  const Status locked{StatusCode::in_use, "the scene is locked: unload after the unlock", 0, contents.name()};
  if (maps.is_busy()) return locked;
  if (contents.is_any_told() && !contents.is_given_up_) maps.tell_leaving(contents);
  if (maps.is_busy()) return locked;
  maps.destroy(contents);
  return {};
}

}  // namespace meridian
