// SPDX-License-Identifier: MIT
#pragma once
/// What a map needs only while it loads: where it has got to, and scratch memory for it.

#include <new>

#include "map/resolve.h"
#include "meridian/map/map_contents.h"
#include "meridian/map/map_world.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace detail {

/// One block of memory for several arrays of a function: first all are planned, then it is taken, then they are there.
class TempBlock {
 public:
  explicit TempBlock(Allocator& allocator) : allocator_(allocator) {}
  ~TempBlock() {
    if (block_ != nullptr) allocator_.deallocate(block_, bytes_, kAlignment);
  }
  TempBlock(const TempBlock&) = delete;
  TempBlock& operator=(const TempBlock&) = delete;

  template <class T>
  struct Plan {
    size_t offset = 0, count = 0;
  };
  template <class T>
  Plan<T> plan(size_t count) {
    const Plan<T> out{bytes_, count};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): some are arrays of pointers
    bytes_ += (count * sizeof(T) + kAlignment - 1) & ~(kAlignment - 1);
    return out;
  }
  Status take() {
    if (bytes_ == 0) return {};
    block_ = static_cast<std::byte*>(allocator_.allocate(bytes_, kAlignment));
    if (block_ == nullptr) return {StatusCode::out_of_memory, "no scratch memory; detail = bytes", bytes_};
    return {};
  }
  /// The array, with elements T().
  template <class T>
  std::span<T> make(Plan<T> plan) const {
    T* const first = reinterpret_cast<T*>(block_ + plan.offset);
    for (size_t i = 0; i < plan.count; ++i) ::new (static_cast<void*>(first + i)) T();
    return {first, plan.count};
  }
  /// The array, with whatever is in memory. For types that need no more.
  template <class T>
  std::span<T> raw(Plan<T> plan) const {
    return {reinterpret_cast<T*>(block_ + plan.offset), plan.count};
  }
  /// The block is the caller's from now on, to be given back by free().
  std::span<std::byte> release() {
    const std::span<std::byte> out{block_, bytes_};
    block_ = nullptr;
    return out;
  }
  static void free(Allocator& allocator, std::span<std::byte> block) {
    if (block.data() != nullptr) allocator.deallocate(block.data(), block.size(), kAlignment);
  }

 private:
  static constexpr size_t kAlignment = 64;
  Allocator& allocator_;
  std::byte* block_ = nullptr;
  size_t bytes_ = 0;
};

/// Where descriptors of a map become blocks.
struct BlockMemory {
  std::span<EntityDesc> descs;
  std::span<std::byte> scratch, lanes;
  std::span<DescContainer> containers;
  std::span<DescBounds> sub_blocks;
  std::span<uint32_t> slots;

  struct Plan {
    TempBlock::Plan<EntityDesc> descs;
    TempBlock::Plan<std::byte> scratch, lanes;
    TempBlock::Plan<DescContainer> containers;
    TempBlock::Plan<DescBounds> sub_blocks;
    TempBlock::Plan<uint32_t> slots;
  };
  static Plan plan(TempBlock& temp, uint32_t most) {
    const BlockCounts counts = block_counts(most);
    return {temp.plan<EntityDesc>(most),
            temp.plan<std::byte>(counts.scratch_bytes),
            temp.plan<std::byte>(counts.lane_bytes),
            temp.plan<DescContainer>(counts.containers),
            temp.plan<DescBounds>(counts.sub_blocks),
            temp.plan<uint32_t>(most)};
  }
  static BlockMemory of(const TempBlock& temp, const Plan& plan) {
    return {temp.raw(plan.descs),      temp.raw(plan.scratch),    temp.raw(plan.lanes),
            temp.raw(plan.containers), temp.raw(plan.sub_blocks), temp.raw(plan.slots)};
  }
  /// For this many of them. Requires: not more than were planned.
  BlockSpans blocks(uint32_t count) const {
    const BlockCounts counts = block_counts(count);
    return {containers.first(counts.containers), sub_blocks.first(counts.sub_blocks), lanes.first(counts.lane_bytes),
            slots.first(count)};
  }
};

using ExtensionDefs = flatbuffers::Vector<flatbuffers::Offset<schema::Extension>>;
/// Makes definitions [first, last) of the extensions of a map's or interior's entities, whose owners count `entities`.
void add_extensions(const MapWorldConfig& config, ImapSlot slot, const ExtensionDefs* definitions, uint32_t first,
                    uint32_t last, std::span<Entity* const> entities);
/// All of them. Null definitions: there are none.
inline void add_extensions(const MapWorldConfig& config, ImapSlot slot, const ExtensionDefs* definitions,
                           std::span<Entity* const> entities) {
  add_extensions(config, slot, definitions, 0, size_of(definitions), entities);
}

}  // namespace detail

/// A load is a row of passes, each over the entities or a part of what the map holds. A step goes on where the last one
/// ended: in the middle of a pass, as a rule.
struct MapContents::Loading {
  static constexpr uint8_t kNotMade = 0xFF;
  using Instances = detail::ByOwner<schema::MloInstanceDef>;

  Loading(const ArchetypeStore& store, const EntityClassRegistry& classes)
      : resolver(store, classes, &dependencies, &names) {}

  // --- where it is ---
  uint8_t pass = 0;                   ///< index in the row of passes
  uint32_t at = 0;                    ///< in the pass: what comes next
  bool is_over = false;               ///< the pass is
  uint32_t budget = 0, left = 0;      ///< entities of this step, and those that it may still handle
  bool is_stepping = false;           ///< inside a step: from a hook nobody steps or unloads it
  bool is_stale = false;              ///< what it was made from has changed: it begins anew
  bool hours_differ = false;          ///< the hour changed since entities were told it
  uint32_t container = kNoContainer;  ///< whose slots are told, `slot` the next one
  uint32_t slot = 0;
  uint32_t told = 0;      ///< entities that the host was told of, the first ones
  bool any_over = false;  ///< a LOD parent has more children than it declares
  Instances instances{nullptr};

  /// The next entities of a pass over `end`, as many as the step may still handle.
  struct Piece {
    uint32_t first, last;
  };
  Piece piece(uint32_t end) {
    const uint32_t first = at, some = end - at < left ? end - at : left;
    at += some;
    left -= some;
    is_over = at == end;
    return {first, at};
  }
  /// For what cannot be cut: it fits, or is the first thing in a step.
  bool may_take(uint32_t entities) const { return entities <= left || left == budget; }
  void take(uint32_t entities) { left -= entities < left ? entities : left; }

  // --- what it is made from ---
  uint8_t priority_cap = 3;
  std::span<const ItypSlot> dependencies;
  std::span<ItypSlot> own_dependencies;  ///< the same, to be changed
  std::span<bool> published;             ///< of the dependencies, when it began
  uint32_t hour = 0;
  uint32_t count = 0;        ///< entities of the map
  detail::NameFilter names;  ///< of archetypes that were looked up
  detail::Resolver resolver;
  MapStatistics said;  ///< to be added to all when it is done

  // --- one for each entity ---
  std::span<Archetype*> archetypes;
  std::span<const ArchetypeTraits*> traits;
  std::span<uint8_t> types;  ///< EntityClass, or kNotMade
  std::span<bool> gone;      ///< destroyed while it loads: not to be made again
  std::span<LodParent> parents;

  // --- what was found ---
  uint32_t counts[kMaxEntityClasses] = {};
  bool has_interiors = false;
  bool host_fills = false;  ///< a host fills descriptors itself, or chose another class than the linker knew of
  bool may_use_cooked = false, use_cooked = false;
  bool builds = false;  ///< blocks of the entities, as there are no right ones
  uint64_t fingerprint = kFingerprintStart;
  SceneBlocks blocks;  ///< of the entities

  // --- memory ---
  detail::BlockMemory build;
  uint32_t build_most = 0;  ///< descriptors that `build` has room for
  std::span<std::byte> memory, more_memory;
  MapContents* next = nullptr;  ///< of those that load
};

/// What all entities of a map have in common. On failure the entity is as it was. `is_moved`: the
/// world's origin is.
inline DescStatus MapContents::make_entity(Entity& entity, const schema::EntityDef& definition, Archetype& archetype,
                                           const EntityInit& how, bool is_moved) {
  const ArchetypeTraits& traits = archetype.traits();
  const DescStatus made = init_entity(entity, definition, traits, &archetype, how);
  if (!is_made(made)) return made;
  if (is_moved) move_to_origin(entity, definition, maps_->config_.world->origin());
  if (traits.is_timed) {
    const TimeArchetype* const timed = archetype.as<TimeArchetype>();
    (void)set_hour(entity, true, timed != nullptr ? timed->hours() : kAllHours, maps_->config_.scene->hour());
  }
  if (archetype.has_spawn_points()) entity.set_flags(BaseFlag::spawn_points);
  return made;
}

}  // namespace meridian
