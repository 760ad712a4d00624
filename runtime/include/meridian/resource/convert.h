// SPDX-License-Identifier: MIT
#pragma once
/// Converts a payload that was written by another layout, when its schema is at hand (embedded, supplied, or released).
/// Fields are matched by name, types widened where no value can be lost, missing ones take their defaults. The source
/// is read with every offset checked against the untrusted schema, so this needs no verifier before it.
///
///   Result<Converted> c = convert_resource(bytes, schema_of_file, current_schema, allocator);
///   if (c.ok()) use(open_resource(c.value().bytes()));
///
/// Threads: reentrant. Memory: everything through `allocator`.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"

namespace meridian {

/// A resource in memory that conversion owns, and what was different.
class Converted {
 public:
  Converted() = default;
  Converted(Converted&& other) noexcept;
  Converted& operator=(Converted&& other) noexcept;
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  ~Converted();

  std::span<const std::byte> bytes() const { return {data_, size_}; }  ///< a whole sealed resource, 16-aligned
  /// One line for each difference ("EntityDef.tint_value: added", "CarGen.livery: byte -> int"), '\n' between.
  const char* differences() const { return differences_ ? differences_ : ""; }
  uint32_t difference_count() const { return difference_count_; }

 private:
  friend struct ConvertedAccess;
  Allocator* allocator_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  char* differences_ = nullptr;
  size_t differences_size_ = 0;
  uint32_t difference_count_ = 0;
};

/// Converts the sealed resource `bytes`, written by schema `from`, to schema `to` (both .bfbs bytes).
/// The result is at most 64 times as large as the source (or 1 MiB), and below 2 GiB; memory peaks at three times that.
/// Errors:  as read_sections, bad_checksum, bad_schema (not valid, or `from` is not what the resource was written by),
///          wrong_kind (`to` has another file identifier), bad_structure and bad_value (source), no_conversion (a
///          field's type cannot be matched; `name` says which), too_large, out_of_memory.
Result<Converted> convert_resource(std::span<const std::byte> bytes, std::span<const std::byte> from,
                                   std::span<const std::byte> to, Allocator& allocator = default_allocator());

/// The schema embedded in a resource's info section, or an empty span. The info is verified first.
std::span<const std::byte> embedded_schema(std::span<const std::byte> bytes);

}  // namespace meridian
