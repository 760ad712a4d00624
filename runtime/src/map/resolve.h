// SPDX-License-Identifier: MIT
#pragma once
/// From the names in definitions to archetypes and classes, for one map or interior.

#include <cstring>
#include <span>

#include "meridian/entity/archetype_store.h"
#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_class.h"
#include "meridian/entity/entity_hours.h"
#include "meridian/scene/entity_init.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::detail {

/// Names that may be among those that were added; a name that was is never missed.
class NameFilter {
 public:
  void add(uint32_t name) { words_[word(name)] |= bit(name); }
  bool may_have(uint32_t name) const { return (words_[word(name)] & bit(name)) != 0; }
  void clear() { std::memset(words_, 0, sizeof(words_)); }

 private:
  static constexpr uint32_t spread(uint32_t name) { return (name * 0x9E3779B1u) >> 19; }
  static constexpr uint32_t word(uint32_t name) { return spread(name) >> 6; }
  static constexpr uint64_t bit(uint32_t name) { return uint64_t{1} << (spread(name) & 63); }
  uint64_t words_[128] = {};
};

struct Resolved {
  Archetype* archetype = nullptr;  ///< null: not available
  EntityClass type = EntityClass::building;
};

/// Remembers the archetypes that it met: a map places few of them, many times each.
class Resolver {
 public:
  /// Without `dependencies` every archetype is available: interiors have those of their own. `asked` gets the names
  /// that were looked up.
  Resolver(const ArchetypeStore& store, const EntityClassRegistry& classes,
           const std::span<const ItypSlot>* dependencies, NameFilter* asked = nullptr)
      : store_(store), classes_(classes), dependencies_(dependencies), asked_(asked) {}

  Resolved find(uint32_t name) {
    Entry* entry = &entries_[(name * 0x9E3779B1u) >> 24];
    if (entry->name != name && entry->name != 0) entry = &entries_[(entry - entries_) ^ 1];
    if (entry->name != name || name == 0) *entry = {name, look_up(NameHash{name})};
    return entry->resolved;
  }

  /// What names mean may have changed.
  void forget() {
    for (Entry& entry : entries_) entry = {};
  }

 private:
  Resolved look_up(NameHash name) const {
    Resolved out;
    if (asked_ != nullptr) asked_->add(name.value);
    out.archetype = dependencies_ != nullptr ? store_.find_for(name, *dependencies_) : store_.find(name);
    if (out.archetype != nullptr) out.type = class_of(*out.archetype);
    return out;
  }
  EntityClass class_of(const Archetype& archetype) const {
    constexpr TypeHash kStructures[] = {hash_type("CBaseArchetypeDef"), hash_type("CTimeArchetypeDef"),
                                        hash_type("CMloArchetypeDef"), hash_type("CCompositeEntityType")};
    const auto form = static_cast<size_t>(archetype.form());
    return classes_.choose({.by_rule = archetype.traits().entity_class,
                            .name = archetype.name(),
                            .structure = form < 4 ? kStructures[form] : TypeHash{},
                            .flags = archetype.flags()});
  }

  struct Entry {
    uint32_t name = 0;
    Resolved resolved;
  };
  const ArchetypeStore& store_;
  const EntityClassRegistry& classes_;
  const std::span<const ItypSlot>* dependencies_;
  NameFilter* asked_;
  Entry entries_[256];
};

/// Has an entity go on with another archetype of the same name: what follows from archetype and definition is made
/// anew, all else stays. If it could not be made of the new one, it stays of the old one.
inline void take_archetype(Entity& entity, const schema::EntityDef& definition, Archetype& now, const EntityInit& how,
                           uint32_t hour) {
  Entity fresh(entity.type());
  if (!is_made(init_entity(fresh, definition, now.traits(), &now, how))) return;
  entity.set_archetype(&now);
  entity.lod().distance = fresh.lod().distance;
  entity.set_visibility_mask(fresh.visibility_mask());
  entity.set_flags(BaseFlag::is_fragment, fresh.has(BaseFlag::is_fragment));
  if (attached_to(entity) == nullptr) place(entity, fresh.transform());
  if (!now.traits().is_timed) return;
  const TimeArchetype* const timed = now.as<TimeArchetype>();
  (void)set_hour(entity, true, timed != nullptr ? timed->hours() : kAllHours, hour);
}

inline bool has_flag(const schema::EntityDef& e, schema::EntityFlags flag) {
  return (static_cast<uint32_t>(e.flags()) & static_cast<uint32_t>(flag)) != 0;
}

}  // namespace meridian::detail
