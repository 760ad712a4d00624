// SPDX-License-Identifier: MIT
#pragma once
// One build at a time in an output folder: the second waits.

#include <string>

#include "meridian/tools/tool_options.h"

namespace meridian::tools {

class OutputLock {
 public:
  OutputLock() = default;
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock();

  /// Waits for the lock on this file, which is made if needed. Returns errno's value; EINTR: the user asked to stop.
  int take(const std::string& path, const ToolIo& io);

 private:
  int fd_ = -1;
};

}  // namespace meridian::tools
