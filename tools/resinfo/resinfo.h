// SPDX-License-Identifier: MIT
#pragma once
/// Looks inside compiled resources: dump, diff, verify, schema, stats; and into packs: list, diff, verify, extract.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_resinfo(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
