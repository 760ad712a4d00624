// SPDX-License-Identifier: MIT
#include "meridian/map/entity_arrays.h"

#include <new>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

constexpr size_t up_to(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

Status EntityArrays::init(const EntityClassRegistry& classes, std::span<const uint32_t, kMaxEntityClasses> counts,
                          size_t extra_bytes, Allocator& allocator) {
  MERIDIAN_ASSERT(block_ == nullptr, "arrays are taken once");
  if (block_ != nullptr) return {StatusCode::in_use, "arrays are taken once", 0};
  size_t rows = 0;
  for (unsigned i = 0; i < kMaxEntityClasses; ++i) {
    if (counts[i] == 0) continue;
    if (!classes.has(static_cast<EntityClass>(i))) {
      return {StatusCode::bad_value, "no such class of entities; detail = its number", i};
    }
    ++rows;
  }
  const size_t more = rows > kMaxRows ? up_to(rows * sizeof(Row), 16) : 0;
  Row planned[kMaxEntityClasses];
  size_t bytes = up_to(extra_bytes, 16) + more, alignment = 16, row = 0;
  for (unsigned i = 0; i < kMaxEntityClasses; ++i) {
    if (counts[i] == 0) continue;
    const EntityClassInfo& info = classes.info(static_cast<EntityClass>(i));
    if (info.alignment > alignment) alignment = info.alignment;
    bytes = up_to(bytes, info.alignment);
    planned[row++] = {static_cast<EntityClass>(i), info.size, counts[i], 0, bytes};
    bytes += size_t{info.size} * counts[i];
  }
  if (bytes == 0) return {};
  block_ = static_cast<std::byte*>(allocator.allocate(bytes, alignment));
  if (block_ == nullptr) return {StatusCode::out_of_memory, "no memory for entities; detail = bytes", bytes};
  allocator_ = &allocator;
  block_bytes_ = bytes;
  alignment_ = alignment;
  extra_bytes_ = extra_bytes;
  more_rows_ = more != 0 ? reinterpret_cast<Row*>(block_ + up_to(extra_bytes, 16)) : nullptr;
  Row* const out = more_rows_ != nullptr ? more_rows_ : rows_;
  for (size_t i = 0; i < row; ++i) ::new (static_cast<void*>(out + i)) Row(planned[i]);
  row_count_ = static_cast<uint32_t>(row);
  return {};
}

void EntityArrays::free() {
  if (block_ != nullptr) allocator_->deallocate(block_, block_bytes_, alignment_);
  block_ = nullptr;
  more_rows_ = last_ = nullptr;
  row_count_ = 0;
  extra_bytes_ = block_bytes_ = 0;
}

EntityArrays::Row* EntityArrays::find(EntityClass type) {
  Row* const rows = more_rows_ != nullptr ? more_rows_ : rows_;
  for (uint32_t i = 0; i < row_count_; ++i) {
    if (rows[i].type == type) return &rows[i];
  }
  return nullptr;
}
const EntityArrays::Row* EntityArrays::find(EntityClass type) const {
  return const_cast<EntityArrays*>(this)->find(type);
}

Entity* EntityArrays::make(const EntityClassRegistry& classes, EntityClass type) {
  Row* const row = last_ != nullptr && last_->type == type ? last_ : find(type);
  last_ = row;
  if (row == nullptr || row->made == row->capacity) return nullptr;
  std::byte* const at = block_ + row->offset + size_t{row->made} * row->stride;
  ++row->made;
  return &classes.construct(type, at);
}

void EntityArrays::unmake(EntityClass type) {
  Row* const row = find(type);
  MERIDIAN_ASSERT(row != nullptr && row->made > 0, "an entity of this class was made");
  if (row != nullptr && row->made > 0) --row->made;
}

std::span<std::byte> EntityArrays::array_of(EntityClass type) const {
  const Row* const row = find(type);
  if (row == nullptr) return {};
  return {block_ + row->offset, size_t{row->made} * row->stride};
}

}  // namespace meridian
