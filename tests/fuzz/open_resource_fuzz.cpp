// SPDX-License-Identifier: MIT
// Property: any bytes are refused or open, and what opens can be read completely inside its bytes. Both for built-in
// kinds (generated verifier) and for the same bytes as generic metadata (schema-driven check).

#include "fuzz/resource_input.h"
#include "support/traverse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace meridian;
  {
    test::AlignedInput raw({data, size});
    (void)open_resource(raw.bytes());
    (void)read_sections(raw.bytes());
  }
  // Resources of a corpus keep their kind; other inputs are tried as map data.
  const BuiltinSchema* builtin = nullptr;
  if (size >= sizeof(ResourceTrailer)) {
    uint32_t kind;
    std::memcpy(&kind, data + size / 16 * 16 - sizeof(ResourceTrailer) + 4, sizeof kind);
    builtin = find_builtin_schema(kind);
  }
  if (builtin == nullptr) builtin = &builtin_schemas()[size % builtin_schemas().size()];
  test::AlignedInput input({data, size});
  if (!input.repair(builtin->kind, builtin->layout_fingerprint)) return 0;
  for (const std::span<const std::byte> schema : {std::span<const std::byte>(), builtin->bfbs}) {
    const Result<Resource> opened = open_resource(input.bytes(), {.schema = schema});
    if (opened.ok()) test::require(test::Traversal(opened.value().payload(), builtin->bfbs).run());
  }
  return 0;
}
