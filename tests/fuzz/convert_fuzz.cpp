// SPDX-License-Identifier: MIT
// Property: conversion by any schema of any bytes gives a status, or a resource that opens by the new schema (or has a
// value that the new schema forbids) and can be read completely.
//
// Input: u32 size of a schema, the schema (0: the built-in one of map data), padding to 16, a resource. The first byte
// of the size's upper half chooses the schema to convert to.

#include <cstdlib>
#include <vector>

#include "fuzz/resource_input.h"
#include "meridian/resource/convert.h"
#include "support/traverse.h"

namespace {

/// Refuses to give more than a fixed amount, so that growth is the limit's business and not the machine's.
class SmallAllocator final : public meridian::Allocator {
 public:
  void* allocate(size_t bytes, size_t) override {
    if (bytes > left_) return nullptr;
    left_ -= bytes;
    return std::malloc(bytes);
  }
  void deallocate(void* pointer, size_t bytes, size_t) override {
    left_ += bytes;
    std::free(pointer);
  }

 private:
  size_t left_ = size_t{64} << 20;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace meridian;
  if (size < 16) return 0;
  uint32_t schema_size;
  std::memcpy(&schema_size, data, sizeof schema_size);
  const uint8_t choice = data[4];
  data += 16;
  size -= 16;
  if (schema_size > size) return 0;
  const BuiltinSchema& builtin = builtin_schemas()[choice % builtin_schemas().size()];
  const auto raw = std::as_bytes(std::span(data, schema_size));
  const std::vector<std::byte> given(raw.begin(), raw.end());
  const std::span<const std::byte> from = given.empty() ? builtin.bfbs : std::span<const std::byte>(given);
  if (!verify_schema(from).ok()) return 0;
  (void)schema_fingerprint(from);
  (void)reads_in_place(builtin.bfbs, from);

  const size_t skip = (schema_size + 15) / 16 * 16;
  if (skip > size) return 0;
  test::AlignedInput input({data + skip, size - skip});
  // The old schema's own identifier, where it has one, so that the payload's is compared with it.
  if (!input.repair(builtin.kind, layout_fingerprint(from))) return 0;
  SmallAllocator allocator;
  for (const std::span<const std::byte> to : {from, builtin.bfbs}) {
    const Result<Converted> converted = convert_resource(input.bytes(), from, to, allocator);
    if (!converted.ok()) continue;
    const Result<Resource> opened = open_resource(converted.value().bytes(), {.schema = to});
    test::require(opened.ok() || opened.status().code == StatusCode::bad_value);
    if (opened.ok()) test::require(test::Traversal(opened.value().payload(), to).run());
  }
  return 0;
}
