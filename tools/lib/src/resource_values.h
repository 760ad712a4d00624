// SPDX-License-Identifier: MIT
#pragma once
/// The values that a resource holds, as the reader makes them of XML: for changing a compiled resource and building it
/// again. What was compiled comes out as the same bytes.

#include "meridian/tools/resource_view.h"
#include "value.h"

namespace meridian::tools {

/// Kept XML is not part of it; it stays in the info section, whose paths remain true as long as no element moves.
TableValue values_of(const LoadedResource& resource);

}  // namespace meridian::tools
