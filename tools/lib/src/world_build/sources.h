// SPDX-License-Identifier: MIT
#pragma once
/// The files below the source folders: found by walking, told apart by content, and not opened again while size, time
/// and inode say that they are what they were.

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/stat.h>

#include "meridian/tools/inputs.h"
#include "world_build/digest.h"

namespace meridian::tools {

struct WorldSource {
  std::string path;      ///< as found: root and what is below it
  std::string relative;  ///< below its root
  int layer = 0;
  uint64_t size = 0, node = 0;
  int64_t time = 0;       ///< time_of
  Digest hash;            ///< of the content, for kinds that are ours
  uint32_t kind = 0;      ///< format by its file identifier; 0: not for this program
  bool is_fresh = false;  ///< opened now, not remembered
};

struct WorldRoot {
  std::string path;
  int layer = 0;
};

/// When a file was last changed in any way [ns]: the inode's time, because everybody can set the content's. Tools that
/// write in place and put the old time back (rsync --inplace -t, archives with fixed times) would go unnoticed by that.
int64_t time_of(const struct stat& status);

using KnownSources = std::unordered_map<std::string, WorldSource>;

/// Walks the roots in order, folders in name order; what begins with a dot, and the folders in `without`, are left out.
/// `known` are the files of the last build, which began at `known_since` [ns]; younger ones are read again, because a
/// file can change twice within one tick of its clock.
std::vector<WorldSource> find_sources(const std::vector<WorldRoot>& roots, const std::vector<std::string>& without,
                                      const KnownSources& known, int64_t known_since,
                                      std::vector<InputProblem>& problems, const std::atomic<bool>* cancel);

}  // namespace meridian::tools
