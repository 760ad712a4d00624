// SPDX-License-Identifier: MIT
#pragma once
/// Compiles XML of any schema: of a built-in one by its root, or of a .fbs file.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_metac(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
