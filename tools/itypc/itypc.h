// SPDX-License-Identifier: MIT
#pragma once
/// Compiles archetype definitions (ITYP XML, root CMapTypes) to .ityp.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_itypc(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
