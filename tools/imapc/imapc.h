// SPDX-License-Identifier: MIT
#pragma once
/// Compiles map data (IMAP XML, root CMapData) to .imap.

#include <span>

#include "meridian/tools/cli.h"

namespace meridian::tools {

/// Runs the program on arguments (without its name) and returns its exit code. Never throws.
int run_imapc(std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
