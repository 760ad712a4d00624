// SPDX-License-Identifier: MIT
// How the type files of an ArchetypeStore come and go.
#include "meridian/entity/archetype_store.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian {
namespace {

/// Of the list of a type file's archetypes: pointers, which are aligned to their size.
constexpr size_t kEntryBytes = sizeof(void*);

}  // namespace

// --- loading ---

TypesPlacement ArchetypeStore::placement(ItypSlot types) const {
  MERIDIAN_ASSERT(is_loaded(types), "types that are loaded have a place");
  return is_loaded(types) ? types_[types].placement : TypesPlacement{};
}

bool ArchetypeStore::may_change() const {
  MERIDIAN_ASSERT(!is_telling_, "listeners do not load or unload types");
  return !is_telling_;
}

/// Opens each factory once, for all structures that it serves.
template <class Row>
Status ArchetypeStore::open_silos(std::span<const Row> rows, std::span<const KindCount> counts, ItypSlot types) {
  for (size_t i = 0; i < rows.size(); ++i) {
    uint64_t total = 0;
    bool is_first = true;
    for (size_t k = 0; k < rows.size(); ++k) {
      if (rows[k].factory != rows[i].factory) continue;
      is_first = is_first && k >= i;
      for (const KindCount& count : counts) total += count.structure == rows[k].structure ? count.count : 0;
    }
    if (!is_first || total == 0) continue;
    if (total > UINT32_MAX) return {StatusCode::too_large, "too many things of a kind in one type file"};
    if (const Status status = rows[i].open(rows[i].factory, types, static_cast<uint32_t>(total)); !status.ok()) {
      return status;
    }
  }
  return {};
}

void ArchetypeStore::close_silos(ItypSlot types) {
  for (uint32_t i = 0; i < kind_count_; ++i) kinds_[i].close(kinds_[i].factory, types);
  for (uint32_t i = 0; i < effect_count_; ++i) effects_[i].close(effects_[i].factory, types);
}

Status ArchetypeStore::open_types(const TypesPlacement& placement, std::span<const KindCount> kinds,
                                  std::span<const KindCount> effects) {
  MERIDIAN_ASSERT(placement.slot < type_count_, "the slot of a type file is one of the store's");
  if (placement.slot >= type_count_) {
    return {StatusCode::bad_value, "no such slot of a type file; detail = it", placement.slot, placement.file};
  }
  MERIDIAN_ASSERT(!is_loaded(placement.slot), "a slot has one type file at a time");
  if (is_loaded(placement.slot) || !may_change()) {
    return {StatusCode::in_use, "the slot of a type file is in use; detail = it", placement.slot, placement.file};
  }
  uint64_t total = 0;
  for (const KindCount& kind : kinds) {
    total += kind.count;
    if (find_kind(kind.structure) == nullptr) {
      return {StatusCode::not_found, "no factory for archetypes of a structure; detail = its name's hash",
              kind.structure.value, placement.file};
    }
  }
  if (total > UINT32_MAX / kEntryBytes) {
    return {StatusCode::too_large, "too many archetypes in one type file; detail = how many", total, placement.file};
  }
  Types types;
  types.capacity = static_cast<uint32_t>(total);
  if (total != 0) {
    types.list = static_cast<Archetype**>(allocator_->allocate(total * kEntryBytes, kEntryBytes));
    if (types.list == nullptr) {
      return {StatusCode::out_of_memory, "no memory for the archetypes of a type file; detail = how many", total,
              placement.file};
    }
  }
  Status status = open_silos<Kind>({kinds_, kind_count_}, kinds, placement.slot);
  if (status.ok()) status = open_silos<Silo>({effects_, effect_count_}, effects, placement.slot);
  if (!status.ok()) {
    close_silos(placement.slot);
    allocator_->deallocate(types.list, total * kEntryBytes, kEntryBytes);
    status.name = placement.file;
    return status;
  }
  types.placement = placement;
  if (config_.all_types_permanent) types.placement.permanence = Permanence::permanent;
  types.state = TypesState::open;
  types_[placement.slot] = types;
  ++loaded_;
  return {};
}

Archetype* ArchetypeStore::create(ItypSlot slot, TypeHash structure, NameHash name, const ArchetypeSource& source) {
  Types* const types = loaded(slot);
  const Kind* const kind = find_kind(structure);
  const bool may_create = types != nullptr && types->state == TypesState::open && kind != nullptr;
  MERIDIAN_ASSERT(may_create, "archetypes are made between opening and publishing, of kinds that have a factory");
  if (!may_create) return nullptr;
  if (name.value == 0) {
    ++left_out_;
    if (nameless_.first(types->placement.file.value)) {
      log_message(LogLevel::warning, types->placement.file, "archetypes without a name in %s are left out",
                  name_text(types->placement.file).text);
    }
    return nullptr;
  }
  const bool is_permanent = types->placement.permanence == Permanence::permanent;
  FreeSlots& slots = is_permanent ? permanent_ : streamed_;
  if (slots.free == 0) {
    ++left_out_;
    if (full_.first(name.value)) {
      log_message(LogLevel::warning, name, "archetype %s of %s is left out: all %u slots for %s archetypes are in use",
                  name_text(name).text, name_text(types->placement.file).text, slots.capacity,
                  is_permanent ? "permanent" : "streamed");
    }
    return nullptr;
  }
  Archetype* const made = types->count < types->capacity ? kind->create(kind->factory, slot) : nullptr;
  MERIDIAN_ASSERT(made != nullptr, "types have no more archetypes of a kind than they were opened for");
  if (made == nullptr) return nullptr;
  Archetype& archetype = *made;
  archetype.set_state(Archetype::kPermanent, types->placement.permanence != Permanence::streamed);
  archetype.name_ = archetype.asset_name_ = name;
  archetype.model_id_ = {slots.take(), slot};
  slots_[archetype.model_id_.archetype] = {made, kNoArchetype, types->placement.layer, kNoArchetype, kNoArchetype};
  types->list[types->count++] = made;
  kind->read(archetype, source);
  if (source.base == nullptr || (source.base->clip_dictionary() == 0 && source.base->physics_dictionary() == 0)) {
    return made;
  }
  if (ArchetypeComponent* const dictionaries = component(archetype)) {
    dictionaries->clip_dictionary = NameHash{source.base->clip_dictionary()};
    dictionaries->physics_dictionary = NameHash{source.base->physics_dictionary()};
  } else if (full_.first(~name.value)) {
    log_message(LogLevel::warning, name, "archetype %s goes without clips and collision", name_text(name).text);
  }
  return made;
}

ArchetypeComponent* ArchetypeStore::component(Archetype& archetype) {
  if (archetype.component_ == nullptr) archetype.component_ = components_.create();
  return archetype.component_;
}

Extension* ArchetypeStore::add_effect(Archetype& archetype, TypeHash structure) {
  if (config_.effects == nullptr) return nullptr;
  Extension* const effect = config_.effects->create(structure, archetype.model_id_.types);
  if (effect != nullptr) archetype.extensions_.add(*effect);
  return effect;
}

Status ArchetypeStore::publish_types(ItypSlot slot) {
  Types* const types = loaded(slot);
  MERIDIAN_ASSERT(types != nullptr && types->state != TypesState::published, "types are opened, then published once");
  if (types == nullptr) return {StatusCode::not_found, "types that are not loaded; detail = their slot", slot};
  if (types->state == TypesState::published || !may_change()) {
    return {StatusCode::in_use, "types are published once; detail = their slot", slot, types->placement.file};
  }
  types->state = TypesState::published;
  for (uint32_t i = 0; i < types->count; ++i) types->list[i]->set_state(Archetype::kPublished, true);
  for (uint32_t i = 0; i < types->count; ++i) stack(*types->list[i]);
  for (uint32_t i = 0; i < types->count; ++i) report_textures(*types->list[i]);
  tell_settled();
  return {};
}

Status ArchetypeStore::replace_types(ItypSlot old, ItypSlot with) {
  Types *const before = loaded(old), *const now = loaded(with);
  if (before == nullptr || before->state != TypesState::published) {
    return {StatusCode::not_found, "types that are not published; detail = their slot", old};
  }
  if (now == nullptr) return {StatusCode::not_found, "types that are not loaded; detail = their slot", with};
  if (now->state != TypesState::open || !may_change()) {
    return {StatusCode::in_use, "only a version that was never in force takes a place; detail = its slot", with,
            now->placement.file};
  }
  const bool is_same_layer = before->placement.layer == now->placement.layer;
  MERIDIAN_ASSERT(is_same_layer, "both versions are of one layer");
  if (!is_same_layer) {
    return {StatusCode::bad_value, "versions of different layers; detail = slot of the new one", with,
            now->placement.file};
  }
  now->state = TypesState::published;
  for (uint32_t i = 0; i < now->count; ++i) now->list[i]->set_state(Archetype::kPublished, true);
  for (uint32_t i = 0; i < now->count; ++i) {
    if (!take_place(*now->list[i], old)) stack(*now->list[i]);
  }
  withdraw(*before);  // what is left of it
  for (uint32_t i = 0; i < now->count; ++i) report_textures(*now->list[i]);
  return {};
}

// --- unloading ---

uint32_t ArchetypeStore::referenced(const Types& types) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < types.count; ++i) count += types.list[i]->references_ != 0 ? 1u : 0u;
  return count;
}

void ArchetypeStore::withdraw(Types& types) {
  types.state = TypesState::withdrawn;
  for (uint32_t i = 0; i < types.count; ++i) {
    types.list[i]->set_state(Archetype::kPublished, false);
    unstack(*types.list[i]);
  }
  tell_settled();
}

void ArchetypeStore::destroy(Types& types) {
  const ItypSlot slot = types.placement.slot;
  FreeSlots& slots = types.placement.permanence == Permanence::permanent ? permanent_ : streamed_;
  for (uint32_t i = 0; i < types.count; ++i) {
    Archetype& archetype = *types.list[i];
    archetype.extensions_.clear();
    if (archetype.component_ != nullptr) components_.destroy(*archetype.component_);
    archetype.component_ = nullptr;
    slots_[archetype.model_id_.archetype] = {};
    slots.give_back(archetype.model_id_.archetype);
  }
  close_silos(slot);
  allocator_->deallocate(types.list, types.capacity * kEntryBytes, kEntryBytes);
  types = {};
  --loaded_;
}

Status ArchetypeStore::withdraw_types(ItypSlot slot) {
  Types* const types = loaded(slot);
  if (types == nullptr || types->state != TypesState::published) {
    return {StatusCode::not_found, "types that are not published; detail = their slot", slot};
  }
  if (!may_change()) return {StatusCode::in_use, "listeners do not withdraw types; detail = their slot", slot};
  if (types->placement.permanence == Permanence::permanent) {
    return {StatusCode::in_use, "permanent types stay; detail = their slot", slot, types->placement.file};
  }
  withdraw(*types);
  return {};
}

Status ArchetypeStore::close_types(ItypSlot slot, bool ends_permanence) {
  Types* const types = loaded(slot);
  if (types == nullptr) return {StatusCode::not_found, "types that are not loaded; detail = their slot", slot};
  const NameHash file = types->placement.file;
  const bool is_published = types->state == TypesState::published;
  if (!may_change()) return {StatusCode::in_use, "listeners do not unload types; detail = their slot", slot, file};
  if (is_published && types->placement.permanence == Permanence::permanent && !ends_permanence) {
    return {StatusCode::in_use, "permanent types stay; detail = their slot", slot, file};
  }
  if (is_protected(slot)) {
    return {StatusCode::in_use, "types are protected; detail = protections that were not taken back",
            types->protections, file};
  }
  uint32_t in_use = referenced(*types);
  if (in_use == 0 && is_published) {
    withdraw(*types);
    in_use = referenced(*types);
    MERIDIAN_ASSERT(in_use == 0, "listeners do not refer to what goes");
  }
  if (in_use != 0) {
    return {StatusCode::in_use, "archetypes of the types are referred to; detail = how many", in_use, file};
  }
  destroy(*types);
  return {};
}

Status ArchetypeStore::close_context(uint32_t context) {
  if (!may_change()) return {StatusCode::in_use, "listeners do not close a context"};
  uint32_t left = 0;
  NameHash file{};
  for (uint32_t slot = 0; slot < type_count_; ++slot) {
    Types& types = types_[slot];
    const TypesPlacement& placement = types.placement;
    const bool ends = placement.permanence == Permanence::in_context && placement.context == context;
    if (types.state == TypesState::none || !ends) continue;
    types.placement.permanence = Permanence::streamed;
    for (uint32_t i = 0; i < types.count; ++i) types.list[i]->set_state(Archetype::kPermanent, false);
    if (types.state == TypesState::open) continue;  // somebody is about to publish them
    const NameHash name = placement.file;
    if (close_types(static_cast<ItypSlot>(slot)).ok()) continue;
    ++left;
    file = name;
  }
  if (left == 0) return {};
  return {StatusCode::in_use, "types of a content context are still in use; detail = how many", left, file};
}

}  // namespace meridian
