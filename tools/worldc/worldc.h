// SPDX-License-Identifier: MIT
#pragma once
/// Builds and checks whole worlds.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_worldc(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
