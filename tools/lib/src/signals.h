// SPDX-License-Identifier: MIT
#pragma once
/// Ctrl-C as a flag, and the temporary files that a second Ctrl-C has to take along.

#include <atomic>
#include <string>

namespace meridian::tools {

/// Installs the handlers (once a process) and gives the flag that they set. A signal that is ignored stays ignored.
const std::atomic<bool>& install_signal_handlers();

/// Names a temporary file for as long as it exists, so that an impatient end of the process removes it.
/// Threads: internal.
class TemporaryFileName {
 public:
  explicit TemporaryFileName(const std::string& path);
  ~TemporaryFileName();
  TemporaryFileName(const TemporaryFileName&) = delete;
  TemporaryFileName& operator=(const TemporaryFileName&) = delete;

 private:
  int slot_ = -1;  ///< none free: then only an orderly end removes the file
};

}  // namespace meridian::tools
