// SPDX-License-Identifier: MIT
// WIDX-1, REL-1: any bytes are refused or open as a world index; what opens keeps its promises: rows are found by their
// names, ranges and slots lie inside, queries find what a look at every box finds.

#include "fuzz/resource_input.h"
#include "support/traverse.h"
#include "support/world_index_maker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace meridian;
  const BuiltinSchema& builtin = *find_builtin_schema(kWorldIndexKind);
  test::AlignedInput input({data, size});
  if (const Result<WorldIndex> opened = open_world_index(input.bytes()); opened.ok())
    test::require(test::use_index(opened.value()));
  if (!input.repair(builtin.kind, builtin.layout_fingerprint)) return 0;
  const Result<Resource> opened = open_resource(input.bytes(), {.kind = kWorldIndexKind});
  if (!opened.ok()) return 0;
  test::require(test::Traversal(opened.value().payload(), builtin.bfbs).run());
  test::require(test::use_index(WorldIndex(opened.value())));
  return 0;
}
