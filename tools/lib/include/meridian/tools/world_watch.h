// SPDX-License-Identifier: MIT
#pragma once
/// `worldc watch`: builds a world again whenever its sources change.

#include <functional>
#include <string>
#include <vector>

#include "meridian/tools/folder_watch.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {

/// One round of a watch. Each is called once a round, in this order.
struct WatchRound {
  /// Reads what says where the sources are; gives the files and folders that the build will look at.
  std::function<std::vector<std::string>()> prepare;
  std::function<void()> build;
  /// Says what came of it. Changes that anybody makes on hearing it lead to another round.
  std::function<void()> tell;
};

/// Runs rounds, one at once and then one for each change, until Ctrl-C. What a round finds wrong does not end it.
/// `roots` is looked at even before the first prepare(). Nothing that changes during a round is missed.
/// Threads: main.
void watch_world(const std::vector<std::string>& roots, FolderWatchOptions options, const WatchRound& round,
                 const ToolIo& io);

/// What one round came to, as a line: "built: 3 written, 12 unchanged, 0 removed in 0.05 s", "nothing to do",
/// "not built: 2 errors".
std::string watch_summary(const WorldBuildTotals& totals, int exit_code, uint32_t errors);

}  // namespace meridian::tools
