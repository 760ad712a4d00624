// SPDX-License-Identifier: MIT
// What names mean in an ArchetypeStore, and which archetypes share a drawable dictionary.
#include "meridian/entity/archetype_store.h"

namespace meridian {
namespace {

/// Empties a place of a table with open addressing, and moves what follows up so that all is found without it.
template <class Entry, class Home>
void erase(Entry* entries, uint32_t mask, uint32_t at, Home home) {
  for (uint32_t next = (at + 1) & mask; entries[next].name.value != 0; next = (next + 1) & mask) {
    // Home is as far back as the hole, or further: it may move there.
    if (((next - home(entries[next].name)) & mask) < ((next - at) & mask)) continue;
    entries[at] = entries[next];
    at = next;
  }
  entries[at] = {};
}

}  // namespace

// --- names ---

/// Where the name stands, or else the empty place that it would take.
uint32_t ArchetypeStore::place_of(NameHash name) const {
  uint32_t at = home(name);
  while (names_[at].name != name && names_[at].name.value != 0) at = (at + 1) & name_mask_;
  return at;
}

Archetype* ArchetypeStore::find_for(NameHash name, std::span<const ItypSlot> dependencies) const {
  const Name& entry = names_[place_of(name)];
  if (entry.archetype == nullptr) return nullptr;
  // In the order of cost: the first needs nothing but the entry, the second a small table, the last what may be in no
  // cache.
  bool is_available = false;
  for (const ItypSlot types : dependencies) is_available |= types == entry.types;  // to the end: no branch to guess
  if (is_available || types_[entry.types].placement.permanence != Permanence::streamed) return entry.archetype;
  return is_hidden_one_available(entry, dependencies) ? entry.archetype : nullptr;
}

bool ArchetypeStore::is_hidden_one_available(const Name& entry, std::span<const ItypSlot> dependencies) const {
  for (ArchetypeSlot slot = slots_[entry.top].below; slot != kNoArchetype; slot = slots_[slot].below) {
    if (is_available_to(*slots_[slot].archetype, dependencies)) return true;
  }
  return false;
}

bool ArchetypeStore::is_available_to(const Archetype& archetype, std::span<const ItypSlot> dependencies) {
  if (archetype.is_permanent()) return true;
  for (const ItypSlot types : dependencies) {
    if (archetype.model_id_.types == types) return true;
  }
  return false;
}

/// Puts an archetype among the definitions of its name: before those of lower layers, behind the others. False: its
/// file has the name already.
bool ArchetypeStore::stack(Archetype& archetype) {
  const ModelId id = archetype.model_id_;
  const TypesPlacement& own = types_[id.types].placement;
  Name& entry = names_[place_of(archetype.name_)];
  const Archetype* rival = nullptr;  // what counts in this layer
  ArchetypeSlot above = kNoArchetype, below = entry.top;
  for (; below != kNoArchetype && slots_[below].layer >= own.layer; below = slots_[below].below) {
    const Archetype& other = *slots_[below].archetype;
    if (rival == nullptr && slots_[below].layer == own.layer) rival = &other;
    if (other.model_id_.types == id.types) {
      rival = &other;
      break;
    }
    above = below;
  }
  if (rival != nullptr && twice_.first(archetype.name_.value ^ own.file.value * 0x9E3779B1u)) {
    const bool is_same_file = rival->model_id_.types == id.types;
    log_message(LogLevel::warning, archetype.name_, "archetype %s of %s does not count: %s of the same %s came first",
                name_text(archetype.name_).text, name_text(own.file).text,
                is_same_file ? "one" : name_text(types_[rival->model_id_.types].placement.file).text,
                is_same_file ? "file" : "layer");
  }
  if (rival != nullptr && rival->model_id_.types == id.types) return false;

  slots_[id.archetype].below = below;
  join_dictionary(archetype);
  if (above != kNoArchetype) {
    slots_[above].below = id.archetype;
    return true;
  }
  if (entry.name.value == 0) {
    entry.name = archetype.name_;
    ++name_count_;
  }
  set_meaning(entry, id.archetype);
  return true;
}

/// Puts an archetype where that of an old version stands. False: that has none of the name, or this version has it
/// already.
bool ArchetypeStore::take_place(Archetype& archetype, ItypSlot old) {
  const ModelId id = archetype.model_id_;
  Name& entry = names_[place_of(archetype.name_)];
  ArchetypeSlot above = kNoArchetype, slot = entry.top;
  while (slot != kNoArchetype && slots_[slot].archetype->model_id_.types != old) {
    above = slot;
    slot = slots_[slot].below;
  }
  if (slot == kNoArchetype) return false;
  leave_dictionary(*slots_[slot].archetype);
  slots_[id.archetype].below = slots_[slot].below;
  slots_[slot].below = kNoArchetype;
  join_dictionary(archetype);
  if (above != kNoArchetype) {
    slots_[above].below = id.archetype;
  } else {
    set_meaning(entry, id.archetype);
  }
  return true;
}

void ArchetypeStore::unstack(Archetype& archetype) {
  const ArchetypeSlot own = archetype.model_id_.archetype;
  Name& entry = names_[place_of(archetype.name_)];
  ArchetypeSlot above = kNoArchetype, slot = entry.top;
  while (slot != kNoArchetype && slot != own) {
    above = slot;
    slot = slots_[slot].below;
  }
  if (slot == kNoArchetype) return;  // its file had the name twice
  const ArchetypeSlot below = slots_[own].below;
  slots_[own].below = kNoArchetype;
  leave_dictionary(archetype);
  if (above != kNoArchetype) {
    slots_[above].below = below;
  } else {
    set_meaning(entry, below);
  }
}

/// Makes another definition, or none, the first of a name, and tells the listeners when all is in order.
void ArchetypeStore::set_meaning(Name& entry, ArchetypeSlot top) {
  const NameHash name = entry.name;
  Archetype* const before = entry.archetype;
  Archetype* const now = top != kNoArchetype ? slots_[top].archetype : nullptr;
  if (before != nullptr) before->set_state(Archetype::kInForce, false);
  if (now != nullptr) now->set_state(Archetype::kInForce, true);
  entry.top = top;
  entry.types = now != nullptr ? now->model_id_.types : kNoItyp;
  entry.archetype = now;
  if (now == nullptr) {
    --name_count_;
    erase(names_, name_mask_, static_cast<uint32_t>(&entry - names_), [this](NameHash other) { return home(other); });
  }
  is_telling_ = true;
  for (uint32_t i = 0; i < listener_count_; ++i) listeners_[i].changed(listeners_[i].user, name, before, now);
  is_telling_ = false;
}

void ArchetypeStore::tell_settled() {
  is_telling_ = true;
  for (uint32_t i = 0; i < listener_count_; ++i) {
    if (listeners_[i].settled != nullptr) listeners_[i].settled(listeners_[i].user);
  }
  is_telling_ = false;
}

// --- dictionaries ---

Status ArchetypeStore::resolve_dictionary_entry(Archetype& archetype, std::span<const NameHash> entries) {
  const bool has_dictionary = archetype.drawable_kind() == DrawableKind::drawable_dictionary;
  MERIDIAN_ASSERT(has_dictionary, "the model of the archetype is in a dictionary");
  if (!has_dictionary) {
    return {StatusCode::wrong_kind, "the model of the archetype is in no dictionary", 0, archetype.name_};
  }
  forget_dictionary_entry(archetype);
  size_t entry = 0;
  while (entry < entries.size() && entries[entry] != archetype.asset_name_) ++entry;
  if (entry < entries.size() && entry < kNoDictionaryEntry) {
    archetype.dictionary_entry_ = static_cast<uint8_t>(entry);
    return {};
  }
  archetype.set_state(Archetype::kMissing, true);
  if (missing_.first(archetype.name_.value)) {
    log_message(LogLevel::warning, archetype.name_, "archetype %s has no model: %s is not among the first %u of %s",
                name_text(archetype.name_).text, name_text(archetype.asset_name_).text, uint32_t{kNoDictionaryEntry},
                name_text(archetype.drawable_dictionary_).text);
  }
  return {StatusCode::not_found, "the model is not in its dictionary; detail = entries of that", entries.size(),
          archetype.name_};
}

void ArchetypeStore::forget_dictionary_entry(Archetype& archetype) {
  archetype.dictionary_entry_ = kNoDictionaryEntry;
  archetype.set_state(Archetype::kMissing, false);
}

uint32_t ArchetypeStore::dictionary_place(NameHash name) const {
  uint32_t at = home(name);
  while (dictionaries_[at].name != name && dictionaries_[at].name.value != 0) at = (at + 1) & name_mask_;
  return at;
}

/// Only those that ask for textures are listed, so that the first in force is the one that counts. Those that are not
/// in force keep their places: when they are back, all is as it was.
void ArchetypeStore::join_dictionary(Archetype& archetype) {
  if (archetype.drawable_dictionary_.value == 0 || archetype.texture_dictionary_.value == 0) return;
  const ArchetypeSlot own = archetype.model_id_.archetype;
  Dictionary& dictionary = dictionaries_[dictionary_place(archetype.drawable_dictionary_)];
  slots_[own].previous = dictionary.last;
  if (dictionary.last != kNoArchetype) {
    slots_[dictionary.last].next = own;
  } else {
    dictionary.name = archetype.drawable_dictionary_;
    dictionary.first = own;
  }
  dictionary.last = own;
}

void ArchetypeStore::leave_dictionary(Archetype& archetype) {
  if (archetype.drawable_dictionary_.value == 0 || archetype.texture_dictionary_.value == 0) return;
  Slot& own = slots_[archetype.model_id_.archetype];
  const uint32_t place = dictionary_place(archetype.drawable_dictionary_);
  Dictionary& dictionary = dictionaries_[place];
  (own.previous != kNoArchetype ? slots_[own.previous].next : dictionary.first) = own.next;
  (own.next != kNoArchetype ? slots_[own.next].previous : dictionary.last) = own.previous;
  own.next = own.previous = kNoArchetype;
  if (dictionary.first == kNoArchetype) {
    erase(dictionaries_, name_mask_, place, [this](NameHash other) { return home(other); });
  }
}

ArchetypeSlot ArchetypeStore::first_in_force(const Dictionary& dictionary) const {
  ArchetypeSlot slot = dictionary.first;
  while (slot != kNoArchetype && !slots_[slot].archetype->is_in_force()) slot = slots_[slot].next;
  return slot;
}

NameHash ArchetypeStore::parent_textures(NameHash drawable_dictionary) const {
  if (name_count_ == 0 || drawable_dictionary.value == 0) return {};
  const ArchetypeSlot first = first_in_force(dictionaries_[dictionary_place(drawable_dictionary)]);
  return first != kNoArchetype ? slots_[first].archetype->texture_dictionary_ : NameHash{};
}

void ArchetypeStore::report_textures(const Archetype& archetype) {
  if (!archetype.is_in_force() || archetype.drawable_dictionary_.value == 0) return;
  const NameHash parent = parent_textures(archetype.drawable_dictionary_);
  const NameHash own = archetype.texture_dictionary_;
  if (own.value == 0 || own == parent || !textures_.first(archetype.drawable_dictionary_.value)) return;
  const Dictionary& dictionary = dictionaries_[dictionary_place(archetype.drawable_dictionary_)];
  const Archetype& first = *slots_[first_in_force(dictionary)].archetype;
  log_message(LogLevel::warning, archetype.name_,
              "archetypes %s and %s have their models in the dictionary %s and want different textures for it: %s of "
              "the first counts, not %s",
              name_text(first.name_).text, name_text(archetype.name_).text,
              name_text(archetype.drawable_dictionary_).text, name_text(parent).text, name_text(own).text);
}

}  // namespace meridian
