// SPDX-License-Identifier: MIT
#pragma once
// What the stages of one run of worldc share.

#include "meridian/tools/world_build.h"

namespace meridian::tools {

struct BuildRun {
  const WorldBuildOptions& options;
  ToolIo& io;
  Report& report;
  WorldBuildTotals totals;

  /// Whether the user asked to stop; then the exit code says so.
  bool interrupted() {
    if (!io.cancelled()) return false;
    report.raise(kExitInterrupted);
    return true;
  }
};

}  // namespace meridian::tools
