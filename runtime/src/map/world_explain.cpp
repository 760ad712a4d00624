// SPDX-License-Identifier: MIT
// The first reason why something of a streaming world is not there.
#include <limits>

#include "meridian/entity/archetype.h"
#include "meridian/map/world_streaming.h"
#include "meridian/scene/entity_desc.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

ExplainReason reason_of(StreamReason reason) {
  switch (reason) {
    case StreamReason::loaded:
      return ExplainReason::present;
    case StreamReason::not_wanted:
      return ExplainReason::not_required;
    case StreamReason::queued:
      return ExplainReason::queued;
    case StreamReason::denied:
      return ExplainReason::denied;
    case StreamReason::reading:
      return ExplainReason::reading;
    case StreamReason::waits_for:
      return ExplainReason::waits_for;
    case StreamReason::to_be_placed:
      return ExplainReason::to_be_placed;
    case StreamReason::blocked:
      return ExplainReason::blocked;
    case StreamReason::leaving:
      return ExplainReason::leaving;
    case StreamReason::failed:
      return ExplainReason::failed;
  }
  return ExplainReason::unknown;
}

/// A set in which it is a child, or one above it, is not ready: a parent stands for it.
bool is_covered(const LodSetTable& sets, const LodPlace& place) {
  const LodSetRecord* at = sets.find(place.set);
  if (at != nullptr && place.is_parent) at = sets.find(at->up);
  for (uint32_t steps = 0; at != nullptr && steps < kMaxLodChain; ++steps) {
    if (!at->is_ready) return true;
    at = sets.find(at->up);
  }
  return false;
}

}  // namespace

Explanation WorldStreaming::explain(StreamIndex index) const {
  const StreamModule* const module = engine_.module_of(index);
  if (module == nullptr) return {};
  const StreamWhy why = engine_.why(index);
  const uint32_t slot = index - module->base();
  const bool has_place = module != &types_;
  Explanation out{.reason = reason_of(why.reason),
                  .subject = module->slot_name(slot),
                  .index = index,
                  .cause_index = why.cause,
                  .denial = why.denial,
                  .distance = has_place ? module->distance(slot) : std::numeric_limits<float>::infinity(),
                  .status = why.status};
  if (const StreamModule* const of = engine_.module_of(why.cause); of != nullptr) {
    out.cause = of->slot_name(why.cause - of->base());
  }
  return out;
}

Explanation WorldStreaming::explain_map(NameHash name) const {
  const uint32_t slot = maps_.find(name);
  if (slot == kNoStreamSlot) return {.reason = ExplainReason::unknown, .subject = name};
  if (maps_.is_in_world(slot)) {
    return {.reason = ExplainReason::present, .subject = name, .index = maps_.index(slot)};
  }
  Explanation out = explain(maps_.index(slot));
  // Why nobody wants it counts for more than that nobody does.
  const auto off = [&](MapOff why, ExplainReason reason) {
    if (!maps_.is_off(slot, why) || engine_.is_kept(maps_.index(slot))) return false;
    out.reason = reason;
    return true;
  };
  if (off(MapOff::undefined, maps_.definition(slot) ? ExplainReason::removed : ExplainReason::unknown) ||
      off(MapOff::swapped_out, ExplainReason::swapped_out) || off(MapOff::group, ExplainReason::group_off) ||
      off(MapOff::manual, ExplainReason::manual)) {
    return out;
  }
  if (out.reason == ExplainReason::present && maps_.is_postponed(slot)) {
    out.reason = ExplainReason::not_swapped_in;
    out.number = groups_.swap_of(slot);
  }
  return out;
}

Explanation WorldStreaming::explain_types(NameHash name) const {
  const StreamIndex index = types_.find_index(name);
  if (index == kNoStream) return {.reason = ExplainReason::unknown, .subject = name};
  return explain(index);
}

Explanation WorldStreaming::explain_archetype(NameHash name) const {
  const ArchetypeStore& archetypes = *config_.maps->config().archetypes;
  if (archetypes.find(name) != nullptr) return {.reason = ExplainReason::present, .subject = name};
  const NameHash file = layers_.types_of_archetype(name);
  if (file.value == 0) return {.reason = ExplainReason::unknown, .subject = name};
  Explanation out = explain_types(file);
  if (out.reason == ExplainReason::present) {
    // The file is there without it: no slot was free, or the index is older than the file.
    out.reason = ExplainReason::archetype_unknown;
  }
  out.subject = name;
  out.cause = file;
  out.cause_index = types_.find_index(file);
  return out;
}

Explanation WorldStreaming::explain_entity(NameHash map, uint32_t entity) const {
  const uint32_t slot = maps_.find(map);
  const MapContents* const contents = slot != kNoStreamSlot ? maps_.contents(slot) : nullptr;
  if (contents == nullptr || !contents->is_shown()) {
    Explanation out = explain_map(map);
    out.inner = out.reason;
    out.reason = ExplainReason::map_absent;
    return out;
  }
  Explanation out{.reason = ExplainReason::present, .subject = map, .index = maps_.index(slot), .number = entity};
  const auto is = [&](ExplainReason reason) {
    out.reason = reason;
    return out;
  };
  if (entity >= contents->entity_count()) {
    out.number = contents->entity_count();
    return is(ExplainReason::no_such_entity);
  }
  const schema::EntityDef& definition = *contents->data().entities()->Get(entity);
  const NameHash archetype{definition.archetype_name()};
  const Entity* const made = contents->entity(entity);
  if (made == nullptr) {
    out.cause = archetype;
    const ArchetypeStore& archetypes = *config_.maps->config().archetypes;
    // Where it should be, whether that is loaded or not.
    const NameHash file = layers_.types_of_archetype(archetype);
    bool is_available = archetypes.find_for(archetype, {}) != nullptr, is_needed = false;
    for (const NameHash types : maps_.definition(slot).dependencies) {
      const auto on = static_cast<ItypSlot>(types_.find(types));
      is_needed = is_needed || types == file;
      is_available = is_available || archetypes.find_for(archetype, std::span(&on, 1)) != nullptr;
    }
    if (!is_available && file.value != 0 && !is_needed) {
      out.cause = file;
      return is(ExplainReason::archetype_elsewhere);
    }
    if (!is_available) return is(ExplainReason::archetype_unknown);
    const auto priority = static_cast<uint32_t>(definition.priority_level());
    const bool is_fixed =
        (static_cast<uint32_t>(definition.flags()) & static_cast<uint32_t>(schema::EntityFlags::is_static)) != 0;
    if (priority > maps_.config().priority_cap && !is_fixed) {
      out.number = maps_.config().priority_cap;
      return is(ExplainReason::above_cap);
    }
    EntityDesc made_now;
    const ArchetypeTraits& traits = archetypes.find(archetype)->traits();
    const DescStatus status = describe_entity(definition, false, &traits, {}, made_now);
    return is(is_made(status) ? ExplainReason::destroyed : ExplainReason::bad_definition);
  }
  if (!made->is_visible()) return is(ExplainReason::hidden);
  if (made->has(BaseFlag::off_hours)) return is(ExplainReason::off_hours);
  if (is_covered(config_.maps->lod_sets(), contents->lod_place(entity))) return is(ExplainReason::lod_parent_shows);
  return out;
}

}  // namespace meridian
