// SPDX-License-Identifier: MIT
#pragma once
/// Builds a sealed resource out of values: the payload by the schema's layout, the info section, the trailer.
/// The same values give the same bytes, always.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "meridian/tools/compile.h"
#include "value.h"

namespace meridian::tools {

struct BuildResult {
  std::vector<uint8_t> bytes;
  uint64_t kept = 0;
  /// If the limit is exceeded: bytes needed (estimate) and the array that needs most of them.
  uint64_t too_large = 0;
  std::string largest_array;
};

/// `names`: distinct by hash (the first spelling of each is stored).
BuildResult build_resource(TableValue& root, const Binding& binding, const std::vector<NameUse>& names,
                           const CompileOptions& options);

/// Info section and trailer for a payload that was made otherwise. Names as above. Empty if a resource cannot be so
/// large.
std::vector<uint8_t> seal_payload(std::span<const std::byte> payload, const std::vector<NameUse>& names,
                                  const Binding& binding, const CompileOptions& options);

/// Only the payload, for resources whose info section is there already. Empty if it would be 2 GiB or nearly so.
std::vector<uint8_t> build_payload(TableValue& root, const Binding& binding);

}  // namespace meridian::tools
