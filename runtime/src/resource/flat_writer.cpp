// SPDX-License-Identifier: MIT
#include "resource/flat_writer.h"

#include "resource/schema_view.h"

namespace meridian::detail {

static_assert(kMaxFields == 1024, "FlatWriter keeps one Ref for each field of a table");

FlatWriter::~FlatWriter() {
  if (data_ != nullptr) allocator_.deallocate(data_, capacity_, kResourceAlignment);
}

bool FlatWriter::reserve(uint64_t bytes) {
  if (state_ != StatusCode::ok) return false;
  const uint64_t needed = size_ + bytes;
  if (needed > limit_) {
    state_ = StatusCode::too_large;
    return false;
  }
  if (needed <= capacity_) return true;
  uint64_t capacity = capacity_ < 4096 ? 4096 : 2 * uint64_t{capacity_};
  if (capacity > limit_) capacity = limit_;
  if (capacity < needed) capacity = needed;
  auto* data = static_cast<std::byte*>(allocator_.allocate(static_cast<size_t>(capacity), kResourceAlignment));
  if (data == nullptr) {
    state_ = StatusCode::out_of_memory;
    return false;
  }
  if (size_ != 0) std::memcpy(data + (capacity - size_), data_ + (capacity_ - size_), size_);
  if (data_ != nullptr) allocator_.deallocate(data_, capacity_, kResourceAlignment);
  data_ = data;
  capacity_ = static_cast<uint32_t>(capacity);
  return true;
}

/// Requires: bytes > 0.
std::byte* FlatWriter::push(uint32_t bytes) {
  if (!reserve(bytes)) return nullptr;
  size_ += bytes;
  std::byte* out = at(size_);
  std::memset(out, 0, bytes);
  return out;
}

/// Fills up so that after `upcoming` more bytes the size is a multiple of `alignment`.
bool FlatWriter::align(uint64_t upcoming, uint32_t alignment) {
  const uint64_t over = (size_ + upcoming) % alignment;
  return over == 0 ? reserve(0) : push(static_cast<uint32_t>(alignment - over)) != nullptr;
}

void FlatWriter::put_ref(std::byte* at, Ref place, Ref ref) {
  const uint32_t distance = place - ref;  // both count from the end: what was written earlier is nearer to it
  std::memcpy(at, &distance, sizeof distance);
}

FlatWriter::Ref FlatWriter::string(const std::byte* text, uint32_t size) {
  // One more byte than the text has: FlatBuffers texts end with a 0 that their length does not count.
  const uint64_t with_end = uint64_t{size} + 1;
  if (!reserve(with_end + 16) || !align(with_end, 4)) return 0;
  std::byte* out = push(static_cast<uint32_t>(with_end));
  if (out == nullptr) return 0;
  if (size != 0) std::memcpy(out, text, size);
  out = push(4);
  if (out == nullptr) return 0;
  std::memcpy(out, &size, sizeof size);
  return size_;
}

std::byte* FlatWriter::begin_vector(uint32_t count, uint32_t element_size, uint32_t alignment, Ref& vector) {
  const uint64_t bytes = uint64_t{count} * element_size;
  vector = 0;
  // Everything at once, so that the pointer to the elements stays valid.
  if (!reserve(bytes + 4 + 2 * kResourceAlign) || !align(bytes, alignment < 4 ? 4 : alignment)) return nullptr;
  if (bytes != 0 && push(static_cast<uint32_t>(bytes)) == nullptr) return nullptr;
  std::byte* length = push(4);
  if (length == nullptr) return nullptr;
  std::memcpy(length, &count, sizeof count);
  vector = size_;
  return length + 4;
}

FlatWriter::Ref FlatWriter::vector_of_refs(const Ref* refs, uint32_t count) {
  Ref vector = 0;
  std::byte* out = begin_vector(count, 4, 4, vector);
  if (out == nullptr) return 0;
  for (uint32_t i = 0; i < count; ++i) put_ref(out + 4 * i, vector - 4 - 4 * i, refs[i]);
  return vector;
}

void FlatWriter::begin_table(uint32_t field_count) {
  table_end_ = size_;
  field_count_ = field_count;
  for (uint32_t i = 0; i < field_count; ++i) fields_[i] = 0;
}

std::byte* FlatWriter::add_inline(uint32_t id, uint32_t size, uint32_t alignment) {
  if (!align(size, alignment)) return nullptr;
  std::byte* out = push(size);
  if (out != nullptr) fields_[id] = size_;
  return out;
}

void FlatWriter::add_ref(uint32_t id, Ref ref) {
  std::byte* out = add_inline(id, 4, 4);
  if (out != nullptr) put_ref(out, size_, ref);
}

FlatWriter::Ref FlatWriter::end_table() {
  if (!align(4, 4) || push(4) == nullptr) return 0;
  const Ref table = size_;
  uint32_t used = field_count_;
  while (used != 0 && fields_[used - 1] == 0) --used;
  uint16_t entries[2 + kMaxFields];
  const uint32_t bytes = 4 + 2 * used;
  entries[0] = static_cast<uint16_t>(bytes);
  entries[1] = static_cast<uint16_t>(table - table_end_);  // verify_schema() bounds a table's size
  for (uint32_t i = 0; i < used; ++i) {
    entries[2 + i] = static_cast<uint16_t>(fields_[i] != 0 ? table - fields_[i] : 0);
  }
  Ref vtable = 0;
  for (size_t i = vtables_.size(); i-- > 0 && vtable == 0;) {
    const std::byte* old = at(vtables_[i]);
    uint16_t old_bytes;
    std::memcpy(&old_bytes, old, sizeof old_bytes);
    if (old_bytes == bytes && std::memcmp(old, entries, bytes) == 0) vtable = vtables_[i];
  }
  if (vtable == 0) {
    std::byte* out = push(bytes);
    if (out == nullptr) return 0;
    std::memcpy(out, entries, bytes);
    vtable = size_;
    // Searching is linear; beyond this many shapes sharing does not pay, and data could make it quadratic.
    constexpr size_t kMaxShared = 64;
    if (vtables_.size() < kMaxShared && !vtables_.append(&vtable, 1)) {
      state_ = StatusCode::out_of_memory;
      return 0;
    }
  }
  const auto distance = static_cast<int32_t>(int64_t{vtable} - int64_t{table});
  std::memcpy(at(table), &distance, sizeof distance);
  return table;
}

std::span<const std::byte> FlatWriter::finish(Ref root, uint32_t identifier) {
  if (!align(8, kResourceAlign)) return {};
  std::byte* out = push(8);
  if (out == nullptr) return {};
  put_ref(out, size_, root);
  std::memcpy(out + 4, &identifier, sizeof identifier);
  return {out, size_};
}

}  // namespace meridian::detail
