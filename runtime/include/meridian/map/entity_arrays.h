// SPDX-License-Identifier: MIT
#pragma once
/// Memory for the entities of a map or an interior: one block with one contiguous array for each class, and room for
/// more in front.
///
///   EntityArrays arrays;
///   uint32_t counts[kMaxEntityClasses] = {};
///   counts[0] = 200;                                                // buildings
///   Status ready = arrays.init(classes, counts, 200 * sizeof(Entity*), allocator);
///   Entity* next = arrays.make(classes, EntityClass::building);     // in order; null when the array is full
///
/// Threads: main. Memory: one block.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/entity/entity_class.h"

namespace meridian {

class EntityArrays {
 public:
  EntityArrays() = default;
  EntityArrays(const EntityArrays&) = delete;
  EntityArrays& operator=(const EntityArrays&) = delete;
  ~EntityArrays() { free(); }

  /// Requires: empty (asserted; otherwise in_use). Errors: out_of_memory (detail = bytes), bad_value (a class that is
  ///           not registered).
  Status init(const EntityClassRegistry& classes, std::span<const uint32_t, kMaxEntityClasses> counts,
              size_t extra_bytes, Allocator& allocator);
  /// Requires: the entities were destroyed.
  void free();

  /// Makes the next entity of a class. Null if its array is full, or it has none.
  Entity* make(const EntityClassRegistry& classes, EntityClass type);
  /// Takes back the last entity of a class, as if it had not been made. Requires: it was destroyed.
  void unmake(EntityClass type);

  /// The bytes in front, 16-aligned.
  std::span<std::byte> extra() const { return {block_, extra_bytes_}; }
  /// The elements that were made.
  std::span<std::byte> array_of(EntityClass type) const;
  size_t bytes() const { return block_bytes_; }

 private:
  struct Row {
    EntityClass type = EntityClass::building;
    uint32_t stride = 0, capacity = 0, made = 0;
    size_t offset = 0;
  };
  Row* find(EntityClass type);
  const Row* find(EntityClass type) const;

  static constexpr uint32_t kMaxRows = 8;  ///< classes of one map; the rows stand here
  std::byte* block_ = nullptr;
  Row* last_ = nullptr;       // that an entity was made in: the next one often is of the same class
  Row* more_rows_ = nullptr;  // in the block, where a map has more classes
  Row rows_[kMaxRows];
  uint32_t row_count_ = 0;
  size_t extra_bytes_ = 0, block_bytes_ = 0, alignment_ = 16;
  Allocator* allocator_ = nullptr;
};

}  // namespace meridian
