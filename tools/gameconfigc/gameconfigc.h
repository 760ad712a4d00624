// SPDX-License-Identifier: MIT
#pragma once
/// Compiles game configurations (root CGameConfig or a set of them) to .gcfg.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_gameconfigc(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
