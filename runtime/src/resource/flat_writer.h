// SPDX-License-Identifier: MIT
#pragma once
/// Writes a FlatBuffer from its end to its beginning, like FlatBufferBuilder, which conversion cannot use: that one
/// asserts where memory or 2 GiB run out, and both depend on untrusted data here. This one fails and stays failed.
///
/// A Ref is a distance from the end, which does not change when the buffer grows; 0 is null (and what failure returns).
///
/// Threads: reentrant. Memory: one block that doubles, from the allocator.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "meridian/resource/convert.h"
#include "resource/convert_memory.h"

namespace meridian::detail {

/// Finished buffers are as long as a multiple of this, so that distances from the end are distances from the start.
inline constexpr uint32_t kResourceAlign = 16;

class FlatWriter {
 public:
  using Ref = uint32_t;

  FlatWriter(Allocator& allocator, uint64_t limit) : allocator_(allocator), limit_(limit), vtables_(allocator) {}
  FlatWriter(const FlatWriter&) = delete;
  FlatWriter& operator=(const FlatWriter&) = delete;
  ~FlatWriter();

  /// ok, too_large or out_of_memory.
  StatusCode state() const { return state_; }
  uint32_t size() const { return size_; }

  Ref string(const std::byte* text, uint32_t size);
  /// Room for a vector's elements, zeroed; fill them before the next call. Null on failure.
  std::byte* begin_vector(uint32_t count, uint32_t element_size, uint32_t align, Ref& vector);
  Ref vector_of_refs(const Ref* refs, uint32_t count);

  /// A table: begin, add each field once, end. Children must be finished before.
  void begin_table(uint32_t field_count);
  /// Room for an inline field, zeroed; fill it before the next call. Null on failure.
  std::byte* add_inline(uint32_t id, uint32_t size, uint32_t align);
  void add_ref(uint32_t id, Ref ref);
  Ref end_table();

  /// Writes identifier and root offset. The whole is a multiple of 16 long.
  std::span<const std::byte> finish(Ref root, uint32_t identifier);

 private:
  bool reserve(uint64_t bytes);
  std::byte* push(uint32_t bytes);  // zeroed
  bool align(uint64_t upcoming, uint32_t alignment);
  void put_ref(std::byte* at, Ref place, Ref ref);
  std::byte* at(Ref ref) { return data_ + (capacity_ - ref); }

  Allocator& allocator_;
  uint64_t limit_;
  StatusCode state_ = StatusCode::ok;
  std::byte* data_ = nullptr;
  uint32_t capacity_ = 0, size_ = 0;
  ConvertArray<Ref> vtables_;  // distinct ones
  Ref table_end_ = 0;
  uint32_t field_count_ = 0;
  Ref fields_[1024];
};

}  // namespace meridian::detail
