// SPDX-License-Identifier: MIT
#pragma once
/// What load_map_data needs only while it loads.

#include <new>

#include "meridian/map/map_contents.h"
#include "meridian/map/map_world.h"
#include "meridian/schemas/imap_generated.h"

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

 private:
  static constexpr size_t kAlignment = 64;
  Allocator& allocator_;
  std::byte* block_ = nullptr;
  size_t bytes_ = 0;
};

using ExtensionDefs = flatbuffers::Vector<flatbuffers::Offset<schema::Extension>>;
/// Makes the extensions of a map's or interior's entities, whose owners count `entities`. Null definitions: there are
/// none.
void add_extensions(const MapWorldConfig& config, ImapSlot slot, const ExtensionDefs* definitions,
                    std::span<Entity* const> entities);

}  // namespace detail

struct MapContents::Loading {
  static constexpr uint8_t kNotMade = 0xFF;

  Loading(const MapPlacement& with, uint32_t entities) : placement(with), count(entities) {}

  const MapPlacement& placement;
  uint32_t count;  ///< entities of the map
  // One for each entity.
  std::span<Archetype*> archetypes;
  std::span<const ArchetypeTraits*> traits;
  std::span<uint8_t> types;  ///< EntityClass, or kNotMade
  std::span<LodParent> parents;
  uint32_t counts[kMaxEntityClasses] = {};
  bool has_interiors = false;
  bool host_fills = false;  ///< a host fills descriptors itself, or chose another class than the linker knew of
  bool use_cooked = false;
};

}  // namespace meridian
