// SPDX-License-Identifier: MIT
#include "meridian/tools/world_watch.h"

#include <cstdio>
#include <utility>

namespace meridian::tools {

void watch_world(const std::vector<std::string>& roots, FolderWatchOptions options, const WatchRound& round,
                 const ToolIo& io) {
  FolderWatch watch(std::move(options));
  std::vector<std::string> covered = roots;
  do {
    // Twice, because where the sources are may be said by a file that changes while it is read.
    watch.cover(covered);
    if (std::vector<std::string> now = round.prepare(); now != covered) {
      covered = std::move(now);
      watch.cover(covered);
    }
    round.build();
    watch.look();
    round.tell();
  } while (watch.wait(io.cancel));
}

std::string watch_summary(const WorldBuildTotals& totals, int exit_code, uint32_t errors) {
  if (exit_code != kExitDone) return "not built: " + std::to_string(errors) + (errors == 1 ? " error\n" : " errors\n");
  if (totals.nothing_to_do) return "nothing to do\n";
  char text[160];
  std::snprintf(text, sizeof text, "built: %llu written, %llu unchanged, %llu removed in %.2f s\n",
                static_cast<unsigned long long>(totals.written), static_cast<unsigned long long>(totals.unchanged),
                static_cast<unsigned long long>(totals.removed), totals.total_seconds);
  return text;
}

}  // namespace meridian::tools
