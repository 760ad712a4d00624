// SPDX-License-Identifier: MIT
// The store's memory, factories and listeners. How type files come and go: archetype_types.cpp. What names mean:
// archetype_names.cpp.
#include "meridian/entity/archetype_store.h"

#include <bit>
#include <new>

namespace meridian {

/// The factories of the known structures.
struct ArchetypeStore::OwnFactories {
  SiloFactory<Archetype> base;
  SiloFactory<TimeArchetype, Archetype> time;
  SiloFactory<InteriorArchetype, Archetype> interior;
  SiloFactory<CompositeArchetype, Archetype> composite;
};

/// Where the parts of the store's block begin. [bytes]
struct ArchetypeStore::Layout {
  uint32_t places = 2;  ///< of names and of dictionaries, a power of two
  size_t dictionaries = 0, slots = 0, types = 0, factories = 0, rings = 0, end = 0;

  explicit Layout(const ArchetypeStoreConfig& config) {
    const uint32_t count = config.slots.permanent + config.slots.streamed;
    places = std::bit_ceil(count * 2 + 2);
    dictionaries = places * sizeof(Name);
    slots = dictionaries + places * sizeof(Dictionary);
    types = slots + count * sizeof(Slot);
    factories = types + config.types * sizeof(Types);
    rings = factories + sizeof(OwnFactories);
    end = rings + count * sizeof(ArchetypeSlot);
  }
  static constexpr size_t kAlignment = 16;
};

ArchetypeSlot ArchetypeStore::FreeSlots::take() {
  if (free == 0) return kNoArchetype;
  const ArchetypeSlot slot = ring[head];
  head = head + 1 == capacity ? 0 : head + 1;
  --free;
  return slot;
}

void ArchetypeStore::FreeSlots::give_back(ArchetypeSlot slot) {
  const uint32_t tail = head + free;
  ring[tail < capacity ? tail : tail - capacity] = slot;
  ++free;
}

Status ArchetypeStore::init(const ArchetypeStoreConfig& config, Allocator& allocator) {
  static_assert(alignof(OwnFactories) == alignof(Types) && sizeof(Slot) % alignof(Types) == 0 &&
                sizeof(Dictionary) % alignof(Slot) == 0 && sizeof(Name) % alignof(Dictionary) == 0);
  MERIDIAN_ASSERT(block_ == nullptr, "an archetype store is initialised once, until it is shut down");
  if (block_ != nullptr) return {StatusCode::in_use, "an archetype store is initialised once, until it is shut down"};
  if (uint64_t{config.slots.permanent} + config.slots.streamed > kMaxModelSlots) {
    return {StatusCode::too_large, "more slots for archetypes than model ids have; detail = permanent slots",
            config.slots.permanent};
  }
  if (config.types == 0 || config.types > kNoItyp) {
    return {StatusCode::too_large, "slots of type files are numbered in 16 bits; detail = their number", config.types};
  }

  const Layout layout(config);
  auto* const block = static_cast<std::byte*>(allocator.allocate(layout.end, Layout::kAlignment));
  if (block == nullptr) {
    return {StatusCode::out_of_memory, "no memory for an archetype store; detail = bytes", layout.end};
  }
  auto* const own = ::new (block + layout.factories) OwnFactories;
  Status status = components_.init(
      {.name = "fwDynamicArchetypeComponent", .capacity = config.components, .tracker = config.tracker}, allocator);
  if (status.ok()) status = own->base.init(config.types, allocator);
  if (status.ok()) status = own->time.init(config.types, allocator);
  if (status.ok()) status = own->interior.init(config.types, allocator);
  if (status.ok()) status = own->composite.init(config.types, allocator);
  if (!status.ok()) {
    own->~OwnFactories();
    components_.shutdown();
    allocator.deallocate(block, layout.end, Layout::kAlignment);
    return status;
  }

  names_ = ::new (block) Name[layout.places];
  dictionaries_ = ::new (block + layout.dictionaries) Dictionary[layout.places];
  name_mask_ = layout.places - 1;
  slot_count_ = config.slots.permanent + config.slots.streamed;
  slots_ = ::new (block + layout.slots) Slot[slot_count_];
  types_ = ::new (block + layout.types) Types[config.types];
  type_count_ = config.types;
  auto* const ring = reinterpret_cast<ArchetypeSlot*>(block + layout.rings);
  for (uint32_t slot = 0; slot < slot_count_; ++slot) ring[slot] = static_cast<ArchetypeSlot>(slot);
  permanent_ = {ring, config.slots.permanent, 0, config.slots.permanent};
  streamed_ = {ring + config.slots.permanent, config.slots.streamed, 0, config.slots.streamed};
  own_ = own;
  config_ = config;
  allocator_ = &allocator;
  block_ = block;
  block_bytes_ = layout.end;
  completed_fence_ = left_out_ = 0;
  set_factory(hash_type("CBaseArchetypeDef"), own->base);
  set_factory(hash_type("CTimeArchetypeDef"), own->time);
  set_factory(hash_type("CMloArchetypeDef"), own->interior);
  set_factory(hash_type("CCompositeEntityType"), own->composite);
  return {};
}

void ArchetypeStore::shutdown() {
  if (block_ == nullptr) return;
  for (uint32_t slot = 0; slot < type_count_; ++slot) {
    Types& types = types_[slot];
    if (types.state == TypesState::none) continue;
    MERIDIAN_ASSERT(referenced(types) == 0, "nobody refers to archetypes of a store that is shut down");
    destroy(types);
  }
  own_->~OwnFactories();
  components_.shutdown();
  allocator_->deallocate(block_, block_bytes_, Layout::kAlignment);
  names_ = &no_name_;
  name_mask_ = slot_count_ = type_count_ = name_count_ = 0;
  kind_count_ = effect_count_ = listener_count_ = 0;
  permanent_ = streamed_ = {};
  block_ = nullptr;
}

// --- factories ---

const ArchetypeStore::Kind* ArchetypeStore::find_kind(TypeHash structure) const {
  for (uint32_t i = 0; i < kind_count_; ++i) {
    if (kinds_[i].structure == structure) return &kinds_[i];
  }
  return nullptr;
}

void ArchetypeStore::set_kind(const Kind& kind) {
  const Kind* const known = find_kind(kind.structure);
  const auto place = static_cast<uint32_t>(known != nullptr ? known - kinds_ : kind_count_);
  const bool may_set =
      block_ != nullptr && loaded_ == 0 && place < kMaxKinds && (known == nullptr || known->form == kind.form);
  MERIDIAN_ASSERT(block_ != nullptr && loaded_ == 0, "factories are set before types are loaded");
  MERIDIAN_ASSERT(place < kMaxKinds, "too many kinds of archetypes");
  MERIDIAN_ASSERT(known == nullptr || known->form == kind.form, "what replaces a kind derives from it");
  if (!may_set) return;
  kinds_[place] = kind;
  if (known == nullptr) ++kind_count_;
}

void ArchetypeStore::add_silo(const Silo& silo) {
  bool is_new = true;
  for (uint32_t i = 0; i < effect_count_; ++i) is_new = is_new && effects_[i].structure != silo.structure;
  MERIDIAN_ASSERT(block_ != nullptr && loaded_ == 0, "factories are set before types are loaded");
  MERIDIAN_ASSERT(is_new, "a structure has one silo");
  MERIDIAN_ASSERT(effect_count_ < kMaxEffectSilos, "too many silos of extensions");
  if (block_ == nullptr || loaded_ != 0 || !is_new || effect_count_ == kMaxEffectSilos) return;
  effects_[effect_count_++] = silo;
}

Status ArchetypeStore::add_listener(ArchetypeListener listener) {
  for (uint32_t i = 0; i < listener_count_; ++i) {
    if (listeners_[i] == listener) return {StatusCode::in_use, "a listener is added once"};
  }
  if (listener_count_ == kMaxListeners) {
    return {StatusCode::out_of_slots, "too many listeners of an archetype store; detail = how many", kMaxListeners};
  }
  listeners_[listener_count_++] = listener;
  return {};
}

void ArchetypeStore::remove_listener(ArchetypeListener listener) {
  uint32_t at = 0;
  while (at < listener_count_ && listeners_[at] != listener) ++at;
  MERIDIAN_ASSERT(at < listener_count_, "only a listener can be removed");
  if (at == listener_count_) return;
  --listener_count_;
  for (; at < listener_count_; ++at) listeners_[at] = listeners_[at + 1];  // the rest in their order
}

// --- protection ---

void ArchetypeStore::protect(const Archetype& archetype) {
  Types* const types = loaded(archetype.model_id_.types);
  MERIDIAN_ASSERT(types != nullptr, "an archetype of this store");
  if (types != nullptr) ++types->protections;
}

void ArchetypeStore::unprotect(const Archetype& archetype, uint64_t fence) {
  Types* const types = loaded(archetype.model_id_.types);
  MERIDIAN_ASSERT(types != nullptr && types->protections != 0, "a protection is taken back once");
  if (types == nullptr || types->protections == 0) return;
  --types->protections;
  // The latest frame stands for all: the types go when the last use is over, whichever frames the others were in.
  if (fence > types->fence) types->fence = fence;
}

void ArchetypeStore::release_fenced(uint64_t completed_fence) {
  if (completed_fence > completed_fence_) completed_fence_ = completed_fence;
}

void ArchetypeStore::reset_messages() {
  full_.clear();
  nameless_.clear();
  twice_.clear();
  textures_.clear();
  missing_.clear();
}

}  // namespace meridian
